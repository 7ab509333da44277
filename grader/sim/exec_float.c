/* f32 and f64 arithmetic.
 *
 * Round to nearest is the host's own arithmetic, vectorised; other rounding modes and .sat go
 * lane by lane with the host's rounding mode changed around each handler.  A NaN result of an f32
 * operation is 0x7fffffff.  Approximate functions are computed in double and rounded once, which is
 * inside every error bound PTX states. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "narrow.h"
#include "rows.h"

static inline float canon(float r) { return narrow_float(r != r ? 0x7fffffffu : narrow_bits(r)); }
static inline float ftz(float x)
{
  uint32_t u = narrow_bits(x);
  return narrow_float((u & 0x7f800000u) ? u : u & 0x80000000u);
}

#define ARITH2(op, expr32, expr64)                                                             \
  OP2(op##_f32, f32, f32, f32, canon(expr32))                                                  \
  HANDLER(op##_ftz_f32)                                                                        \
  {                                                                                            \
    f32_row *d_ = SIM_ROW(f32_row, i->d);                                                        \
    const f32_row *a_ = SIM_ROW(f32_row, i->a), *b_ = SIM_ROW(f32_row, i->b);                     \
    LANES_OF(f32, float a = ftz(a_[l]); float b = ftz(b_[l]); float r = ftz(canon(expr32)))       \
  }                                                                                            \
  OP2(op##_f64, f64, f64, f64, expr64)
ARITH2(add, a + b, a + b)
ARITH2(sub, a - b, a - b)
ARITH2(mul, a * b, a * b)
ARITH2(div, a / b, a / b)

OP3(fma_f32, f32, f32, f32, f32, canon(__builtin_fmaf(a, b, c)))
OP3(fma_f64, f64, f64, f64, f64, __builtin_fma(a, b, c))
HANDLER(fma_ftz_f32)
{
  f32_row *d_ = SIM_ROW(f32_row, i->d);
  const f32_row *a_ = SIM_ROW(f32_row, i->a), *b_ = SIM_ROW(f32_row, i->b);
  const f32_row *c_ = SIM_ROW(f32_row, i->c);
  LANES_OF(f32, float a = ftz(a_[l]); float b = ftz(b_[l]); float c = ftz(c_[l]);
           float r = ftz(canon(__builtin_fmaf(a, b, c))))
}
OP1(rcp_f32, f32, f32, canon(1.0f / a))
OP1(rcp_f64, f64, f64, 1.0 / a)
OP1(sqrt_f32, f32, f32, canon(__builtin_sqrtf(a)))
OP1(sqrt_f64, f64, f64, __builtin_sqrt(a))
OP1(rcp_ftz_f32, f32, f32, ftz(canon(1.0f / ftz(a))))
OP1(sqrt_ftz_f32, f32, f32, ftz(canon(__builtin_sqrtf(ftz(a)))))

/* ---- other roundings, and .sat -------------------------------------------------------------------- */

enum round { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP };
static const int host_round[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/* volatile keeps the arithmetic between the two calls of fesetround. */
#define SLOW(name, T, R, expr, after)                                                          \
  HANDLER(name)                                                                                \
  {                                                                                            \
    R *d_ = SIM_ROW(R, i->d);                                                                    \
    const R *a_ = SIM_ROW(R, i->a), *b_ = SIM_ROW(R, i->b), *c_ = SIM_ROW(R, i->c);               \
    bool flush = i->small[1], sat = i->small[2];                                                \
    int before = fegetround();                                                                  \
    fesetround(host_round[i->small[0]]);                                                        \
    for (uint32_t m = exec; m; m &= m - 1) {                                                    \
      unsigned l = first_lane(m);                                                               \
      volatile T a = a_[l], b = b_[l], c = c_[l], r;                                             \
      (void)c, (void)b, (void)flush, (void)sat;                                                 \
      if (sizeof(T) == 4 && flush) a = (T)ftz((float)a), b = (T)ftz((float)b), c = (T)ftz((float)c); \
      r = (expr);                                                                               \
      T v = r;                                                                                  \
      after;                                                                                   \
      d_[l] = v;                                                                                \
    }                                                                                          \
    fesetround(before);                                                                        \
  }
static inline float finish(float v, bool flush, bool sat)
{
  v = canon(v);
  if (flush) v = ftz(v);
  if (sat) v = v > 0 ? v < 1 ? v : 1 : 0;   /* NaN: 0 */
  return v;
}
#define SLOW_BOTH(op, expr32, expr64)                                                          \
  SLOW(op##_slow_f32, float, f32_row, expr32, v = finish(v, flush, sat))                         \
  SLOW(op##_slow_f64, double, f64_row, expr64, (void)0)
SLOW_BOTH(add, a + b, a + b)
SLOW_BOTH(sub, a - b, a - b)
SLOW_BOTH(mul, a * b, a * b)
SLOW_BOTH(div, a / b, a / b)
SLOW_BOTH(fma, fmaf(a, b, c), fma(a, b, c))
SLOW_BOTH(rcp, 1.0f / a, 1.0 / a)
SLOW_BOTH(sqrt, sqrtf(a), sqrt(a))

/* ---- approximate ------------------------------------------------------------------------------------- */

/* |b| in (2^126, 2^128): the reciprocal is flushed, so the quotient is 0, or NaN for an infinite a. */
static inline float div_approx(float a, float b)
{
  float m = fabsf(b);
  if (m > 0x1p126f && m <= 3.402823466e38f) return isinf(a) || a != a ? NAN : copysignf(0, a * copysignf(1, b));
  return a / b;
}
#define APPROX(name, expr)                                                                     \
  OP1(name##_f32, f32, f32, canon((float)(expr)))                                               \
  OP1(name##_ftz_f32, f32, f32, (a = ftz(a), ftz(canon((float)(expr)))))
OP2(div_approx_f32, f32, f32, f32, canon(div_approx(a, b)))
OP2(div_approx_ftz_f32, f32, f32, f32, ftz(canon(div_approx(ftz(a), ftz(b)))))
APPROX(rsqrt, 1.0 / sqrt((double)a))
APPROX(sin, sin((double)a))
APPROX(cos, cos((double)a))
APPROX(lg2, log2((double)a))
APPROX(ex2, exp2((double)a))
APPROX(tanh, tanh((double)a))

/* The f64 ones look at the high half of a and give a result whose low half is zero. */
static inline double high_half(double x)
{
  uint64_t u;
  memcpy(&u, &x, 8);
  if ((u & 0x7ff0000000000000u) == 0) u &= 0x8000000000000000u;   /* .ftz */
  if (x == x) u &= 0xffffffff00000000u;
  memcpy(&x, &u, 8);
  return x;
}
OP1(rcp_approx_f64, f64, f64, high_half(1.0 / high_half(a)))
OP1(rsqrt_ftz_f64, f64, f64, high_half(1.0 / sqrt(high_half(a))))
OP1(rsqrt_f64, f64, f64, 1.0 / sqrt(a))

/* ---- min, max, signs -------------------------------------------------------------------------------- */

/* Of two, the one that is not NaN; -0 is less than +0. */
static inline float min_f(float a, float b)
{
  float m = a < b ? a : b < a ? b : narrow_float(narrow_bits(a) | narrow_bits(b));
  return a != a ? b : b != b ? a : m;
}
static inline float max_f(float a, float b)
{
  float m = a > b ? a : b > a ? b : narrow_float(narrow_bits(a) & narrow_bits(b));
  return a != a ? b : b != b ? a : m;
}
static inline double min_d(double a, double b)
{
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return signbit(a) ? a : b;
  return a < b ? a : b;
}
static inline double max_d(double a, double b)
{
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return signbit(a) ? b : a;
  return a > b ? a : b;
}
OP2(min_f32, f32, f32, f32, canon(min_f(a, b)))
OP2(max_f32, f32, f32, f32, canon(max_f(a, b)))
OP2(min_f64, f64, f64, f64, min_d(a, b))
OP2(max_f64, f64, f64, f64, max_d(a, b))

/* small: 0 max, 1 ftz, 2 NaN; imm: 1 abs, 2 xorsign. */
HANDLER(minmax_slow_f32)
{
  f32_row *d = SIM_ROW(f32_row, i->d);
  const f32_row *ar = SIM_ROW(f32_row, i->a), *br = SIM_ROW(f32_row, i->b);
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    float a = ar[l], b = br[l];
    if (i->small[1]) a = ftz(a), b = ftz(b);
    uint32_t sign = (narrow_bits(a) ^ narrow_bits(b)) & 0x80000000u;
    if (i->imm & 1) a = fabsf(a), b = fabsf(b);
    float r = i->small[2] && (a != a || b != b) ? NAN : i->small[0] ? max_f(a, b) : min_f(a, b);
    if ((i->imm & 2) && r == r) r = narrow_float((narrow_bits(r) & 0x7fffffffu) | sign);
    d[l] = canon(r);
  }
}

OP1(abs_f32, u32, u32, a & 0x7fffffffu)
OP1(neg_f32, u32, u32, a ^ 0x80000000u)
OP1(abs_ftz_f32, f32, f32, narrow_float(narrow_bits(ftz(a)) & 0x7fffffffu))
OP1(neg_ftz_f32, f32, f32, narrow_float(narrow_bits(ftz(a)) ^ 0x80000000u))
OP1(abs_f64, u64, u64, a & 0x7fffffffffffffffu)
OP1(neg_f64, u64, u64, a ^ 0x8000000000000000u)
OP2(copysign_f32, u32, u32, u32, (b & 0x7fffffffu) | (a & 0x80000000u))
OP2(copysign_f64, u64, u64, u64, (b & 0x7fffffffffffffffu) | (a & 0x8000000000000000u))

static bool test_class(double x, bool subnormal, unsigned m)
{
  switch (m) {
  case PTX_M_FINITE: return isfinite(x);
  case PTX_M_INFINITE: return isinf(x);
  case PTX_M_NUMBER: return !isnan(x);
  case PTX_M_NOTANUMBER: return isnan(x);
  case PTX_M_NORMAL: return isfinite(x) && !subnormal;   /* zeros, too */
  default: return subnormal;
  }
}
HANDLER(testp)
{
  uint32_t set = 0;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    double x = i->small[0] ? SIM_ROW(f64_row, i->a)[l] : (double)SIM_ROW(f32_row, i->a)[l];
    bool sub = i->small[0] ? fpclassify(x) == FP_SUBNORMAL
                           : fpclassify(SIM_ROW(f32_row, i->a)[l]) == FP_SUBNORMAL;
    set |= (uint32_t)test_class(x, sub, (unsigned)i->imm) << l;
  }
  row_set_pred(w, i->d, exec, set);
}

static void lower_testp(struct lowering *l)
{
  static const uint16_t kinds[] = {PTX_M_FINITE, PTX_M_INFINITE, PTX_M_NUMBER,
                                   PTX_M_NOTANUMBER, PTX_M_NORMAL, PTX_M_SUBNORMAL};
  unsigned bits = lower_type_bits(l, 0);
  l->out->d = lower_dest(l, &l->in->operands[0], 1);
  l->out->a = lower_source(l, &l->in->operands[1], bits);
  l->out->small[0] = bits == 64;
  for (unsigned k = 0; k < 6; k++)
    if (ptx_has(l->in, (enum ptx_mod)kinds[k])) l->out->imm = kinds[k];
  l->out->run = testp;
}

/* ---- which handler ------------------------------------------------------------------------------------ */

static const struct family {
  uint16_t op;
  sim_handler *rn, *rn_ftz, *slow, *rn64, *slow64, *approx, *approx_ftz;
} families[] = {
    {PTX_ADD, add_f32, add_ftz_f32, add_slow_f32, add_f64, add_slow_f64, NULL, NULL},
    {PTX_SUB, sub_f32, sub_ftz_f32, sub_slow_f32, sub_f64, sub_slow_f64, NULL, NULL},
    {PTX_MUL, mul_f32, mul_ftz_f32, mul_slow_f32, mul_f64, mul_slow_f64, NULL, NULL},
    {PTX_DIV, div_f32, div_ftz_f32, div_slow_f32, div_f64, div_slow_f64, div_approx_f32,
     div_approx_ftz_f32},
    {PTX_FMA, fma_f32, fma_ftz_f32, fma_slow_f32, fma_f64, fma_slow_f64, NULL, NULL},
    {PTX_MAD, fma_f32, fma_ftz_f32, fma_slow_f32, fma_f64, fma_slow_f64, NULL, NULL},
    {PTX_RCP, rcp_f32, rcp_ftz_f32, rcp_slow_f32, rcp_f64, rcp_slow_f64, rcp_f32, rcp_ftz_f32},
    {PTX_SQRT, sqrt_f32, sqrt_ftz_f32, sqrt_slow_f32, sqrt_f64, sqrt_slow_f64, sqrt_f32,
     sqrt_ftz_f32},
    {PTX_RSQRT, NULL, NULL, NULL, NULL, NULL, rsqrt_f32, rsqrt_ftz_f32},
    {PTX_SIN, NULL, NULL, NULL, NULL, NULL, sin_f32, sin_ftz_f32},
    {PTX_COS, NULL, NULL, NULL, NULL, NULL, cos_f32, cos_ftz_f32},
    {PTX_LG2, NULL, NULL, NULL, NULL, NULL, lg2_f32, lg2_ftz_f32},
    {PTX_EX2, NULL, NULL, NULL, NULL, NULL, ex2_f32, ex2_ftz_f32},
    {PTX_TANH, NULL, NULL, NULL, NULL, NULL, tanh_f32, tanh_ftz_f32},
};

static void lower_float(struct lowering *l)
{
  static const uint16_t allowed[] = {M(RN), M(RZ), M(RM), M(RP), M(FTZ), M(SAT), M(APPROX),
                                     M(FULL), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned bits = lower_type_bits(l, 0);
  const struct family *f = families;
  while (f->op != in->op) f++;
  if (!lower_only(l, allowed)) return;
  sim_ref *const to[] = {&s->d, &s->a, &s->b, &s->c};
  for (unsigned k = 0; k < in->noperands; k++)
    *to[k] = k ? lower_source(l, &in->operands[k], bits) : lower_dest(l, &in->operands[k], bits);
  bool flush = ptx_has(in, PTX_M_FTZ), sat = ptx_has(in, PTX_M_SAT);
  enum round round = ptx_has(in, PTX_M_RZ)   ? ROUND_RZ
                     : ptx_has(in, PTX_M_RM) ? ROUND_RM
                     : ptx_has(in, PTX_M_RP) ? ROUND_RP : ROUND_RN;
  s->small[0] = (uint8_t)round;
  s->small[1] = flush;
  s->small[2] = sat;
  if (ptx_has(in, PTX_M_FULL)) s->run = flush ? f->rn_ftz : f->rn;
  else if (ptx_has(in, PTX_M_APPROX) && bits == 32) s->run = flush ? f->approx_ftz : f->approx;
  else if (ptx_has(in, PTX_M_APPROX))
    s->run = in->op == PTX_RCP     ? rcp_approx_f64
             : in->op == PTX_RSQRT ? (flush ? rsqrt_ftz_f64 : rsqrt_f64) : NULL;
  else if (bits == 32) s->run = sat || round ? f->slow : flush ? f->rn_ftz : f->rn;
  else s->run = round ? f->slow64 : f->rn64;
  if (!s->run) lower_refuse(l, "the simulator does not run this form of it");
}

static void lower_minmax(struct lowering *l)
{
  static const uint16_t allowed[] = {M(FTZ), M(NAN_PROPAGATE), M(XORSIGN), M(ABS), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  if (!lower_only(l, allowed)) return;
  if (in->noperands == 4) {
    lower_minmax_three(l);
    return;
  }
  bool max = in->op == PTX_MAX;
  s->d = lower_dest(l, &in->operands[0], 32);
  s->a = lower_source(l, &in->operands[1], 32);
  s->b = lower_source(l, &in->operands[2], 32);
  s->small[0] = max;
  s->small[1] = ptx_has(in, PTX_M_FTZ);
  s->small[2] = ptx_has(in, PTX_M_NAN_PROPAGATE);
  s->imm = ptx_has(in, PTX_M_ABS) | ptx_has(in, PTX_M_XORSIGN) << 1;
  s->run = s->small[1] || s->small[2] || s->imm ? minmax_slow_f32 : max ? max_f32 : min_f32;
}

#define FLOAT(op) FORM_TYPE(op, F32, lower_float), FORM_TYPE(op, F64, lower_float)

const struct sim_form sim_forms_float[] = {
    FLOAT(ADD), FLOAT(SUB), FLOAT(MUL), FLOAT(DIV), FLOAT(FMA), FLOAT(MAD), FLOAT(RCP),
    FLOAT(SQRT), FLOAT(RSQRT),
    FORM_TYPE(SIN, F32, lower_float),
    FORM_TYPE(COS, F32, lower_float),
    FORM_TYPE(LG2, F32, lower_float),
    FORM_TYPE(EX2, F32, lower_float),
    FORM_TYPE(TANH, F32, lower_float),
    FORM_TYPE(MIN, F32, lower_minmax),
    FORM_TYPE(MAX, F32, lower_minmax),
    FORM(MIN, F64, min_f64, 0),
    FORM(MAX, F64, max_f64, 0),
    FORM(ABS, F32, abs_f32, 0),
    FORM(ABS, F32, abs_ftz_f32, M(FTZ)),
    FORM(ABS, F64, abs_f64, 0),
    FORM(NEG, F32, neg_f32, 0),
    FORM(NEG, F32, neg_ftz_f32, M(FTZ)),
    FORM(NEG, F64, neg_f64, 0),
    FORM(COPYSIGN, F32, copysign_f32, 0),
    FORM(COPYSIGN, F64, copysign_f64, 0),
    FORM_TYPE(TESTP, F32, lower_testp),
    FORM_TYPE(TESTP, F64, lower_testp),
    {.op = PTX_OPS},
};
