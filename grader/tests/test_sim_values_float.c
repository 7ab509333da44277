/* f32 and f64 arithmetic: correctly rounded forms bit by bit against exact.c, approximate ones
 * within the error the PTX ISA states. */
#include <math.h>
#include <string.h>

#include "sim_values.h"

enum op { ADD, SUB, MUL, DIV, FMA, RCP, SQRT };

static struct exact compute(enum op op, struct exact a, struct exact b, struct exact c,
                            enum exact_mode mode)
{
  switch (op) {
  case ADD: return exact_add(a, b, mode);
  case SUB: return exact_add(a, exact_neg(b), mode);
  case MUL: return exact_mul(a, b);
  case DIV: return exact_div(a, b);
  case FMA: return exact_add(exact_mul(a, b), c, mode);
  case RCP: return exact_div(exact_integer(1), a);
  default: return exact_sqrt(a);
  }
}

/* .sat: NaN gives +0; otherwise between 0 and 1. */
static uint64_t saturated(uint64_t bits)
{
  if ((bits & 0x7fffffff) > 0x7f800000 || bits >> 31) return 0;
  return bits > 0x3f800000 ? 0x3f800000 : bits;
}

static void f32_op(struct lane_values *v, enum op op, enum exact_mode mode, bool ftz, bool sat)
{
  struct exact r = compute(op, exact_f32((uint32_t)v->a, ftz), exact_f32((uint32_t)v->b, ftz),
                           exact_f32((uint32_t)v->c, ftz), mode);
  v->d = exact_round(r, 4, mode, ftz);
  if (sat) v->d = saturated(v->d);
}
static void f64_op(struct lane_values *v, enum op op, enum exact_mode mode)
{
  struct exact r = compute(op, exact_f64(v->a), exact_f64(v->b), exact_f64(v->c), mode);
  v->d = exact_round(r, 8, mode, false);
  v->any_nan = r.kind == EXACT_NAN;
}

#define F32(op, mode, sfx, ftz, sat)                                                           \
  static void op##_##mode##sfx(struct lane_values *v) { f32_op(v, op, EXACT_##mode, ftz, sat); }
#define F64(op, mode)                                                                          \
  static void op##_##mode##_64(struct lane_values *v) { f64_op(v, op, EXACT_##mode); }
#define MODE(op, mode) F32(op, mode, , false, false) F32(op, mode, _ftz, true, false) F64(op, mode)
#define MODES(op) MODE(op, RN) MODE(op, RZ) MODE(op, RM) MODE(op, RP)
#define SATS(op, mode) F32(op, mode, _sat, false, true) F32(op, mode, _ftz_sat, true, true)
#define ALL_SATS(op) SATS(op, RN) SATS(op, RZ) SATS(op, RM) SATS(op, RP)
MODES(ADD) MODES(SUB) MODES(MUL) MODES(DIV) MODES(FMA) MODES(RCP) MODES(SQRT)
ALL_SATS(ADD) ALL_SATS(SUB) ALL_SATS(MUL) ALL_SATS(FMA)

#define ROWS2(name, op, m, M)                                                                  \
  {"f=ff", name m "f32 D,A,B", op##_##M}, {"f=ff", name m "ftz.f32 D,A,B", op##_##M##_ftz},      \
  {"d=dd", name m "f64 D,A,B", op##_##M##_64}
#define SAT2(name, op, m, M)                                                                   \
  {"f=ff", name m "sat.f32 D,A,B", op##_##M##_sat},                                             \
  {"f=ff", name m "ftz.sat.f32 D,A,B", op##_##M##_ftz_sat}
#define OP2(name, op)                                                                          \
  ROWS2(name, op, "", RN), SAT2(name, op, "", RN), ROWS2(name, op, "rn.", RN),                   \
  SAT2(name, op, "rn.", RN), ROWS2(name, op, "rz.", RZ), SAT2(name, op, "rz.", RZ),              \
  ROWS2(name, op, "rm.", RM), SAT2(name, op, "rm.", RM), ROWS2(name, op, "rp.", RP),             \
  SAT2(name, op, "rp.", RP)
#define ROWS3(name, op, m, M)                                                                  \
  {"f=fff", name m "f32 D,A,B,C", op##_##M},                                                    \
  {"f=fff", name m "ftz.f32 D,A,B,C", op##_##M##_ftz},                                          \
  {"f=fff", name m "sat.f32 D,A,B,C", op##_##M##_sat},                                          \
  {"f=fff", name m "ftz.sat.f32 D,A,B,C", op##_##M##_ftz_sat},                                  \
  {"d=ddd", name m "f64 D,A,B,C", op##_##M##_64}
#define OP3(name, op)                                                                          \
  ROWS3(name, op, "rn.", RN), ROWS3(name, op, "rz.", RZ), ROWS3(name, op, "rm.", RM),            \
  ROWS3(name, op, "rp.", RP)
#define ROWS1(name, op, m, M)                                                                  \
  {"f=f", name m "f32 D,A", op##_##M}, {"f=f", name m "ftz.f32 D,A", op##_##M##_ftz},            \
  {"d=d", name m "f64 D,A", op##_##M##_64}
#define OP1(name, op)                                                                          \
  ROWS1(name, op, "rn.", RN), ROWS1(name, op, "rz.", RZ), ROWS1(name, op, "rm.", RM),            \
  ROWS1(name, op, "rp.", RP)

/* ---- approximations ---------------------------------------------------------------------------- */

static float f32_of(uint64_t bits)
{
  uint32_t u = (uint32_t)bits;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static double f64_of(uint64_t bits)
{
  double d;
  memcpy(&d, &bits, 8);
  return d;
}
static float flushed(float f) { return fpclassify(f) == FP_SUBNORMAL ? copysignf(0, f) : f; }

/* D within `err` of x; where x is not a finite number, or zero, D must be just that. */
static void within(struct lane_values *v, double x, double err, bool ftz)
{
  float nearest = (float)x;
  uint32_t bits;
  memcpy(&bits, &nearest, 4);
  v->d = x != x ? 0x7fffffff : bits;
  if (x != x || isinf(x) || x == 0) return;
  v->ranged = true;
  v->low = x - err;
  v->high = x + err;
  if (v->high > 3.4028234e38) v->high = INFINITY;   /* may round past the largest */
  if (v->low < -3.4028234e38) v->low = -INFINITY;
  if (ftz && fabs(x) < 0x1.000002p-126) {           /* flushed, or the smallest normal */
    if (v->low > 0) v->low = 0;
    if (v->high < 0) v->high = 0;
  }
}
static double ulp(double x)
{
  int e;
  frexp(x, &e);
  return ldexp(1, (e < -125 ? -125 : e) - 24);
}

#define APPROX_AS(name, flush, value, error)                                                   \
  static void name(struct lane_values *v)                                                      \
  {                                                                                            \
    float f = f32_of(v->a);                                                                     \
    double a = flush ? flushed(f) : f, x = (value);                                             \
    within(v, x, (error), flush);                                                               \
  }
#define APPROX(name, value, error)                                                             \
  APPROX_AS(name, false, value, error) APPROX_AS(name##_ftz, true, value, error)
#define WAVE_ERROR(a) (fabs(a) <= 2 * M_PI ? exp2(-20.5) : exp2(-14.7))   /* to 100 pi */
APPROX(rcp_approx, 1 / a, ulp(x))
APPROX(sqrt_approx, sqrt(a), fabs(x) * 0x1p-23)
APPROX(rsqrt_approx, 1 / sqrt(a), fabs(x) * exp2(-22.9))
APPROX(sin_approx, sin(a), WAVE_ERROR(a))
APPROX(cos_approx, cos(a), WAVE_ERROR(a))
APPROX(lg2_approx, log2(a), a > 0.5 && a < 2 ? 0x1p-22 : fabs(x) * 0x1p-22)
APPROX(ex2_approx, exp2(a), x * 0x1p-22 + 0x1p-149)
APPROX_AS(tanh_approx, false, tanh(a), fabs(x) * 0x1p-11 + 0x1p-149)

/* Full-range sines: |result| at most 1, NaN for infinities and NaN. */
static void wave(struct lane_values *v)
{
  float a = f32_of(v->a);
  v->d = 0x7fffffff;
  if (a != a || isinf(a)) return;
  v->ranged = true;
  v->low = -1;
  v->high = 1;
}

static void quotient(struct lane_values *v, bool ftz, bool full)
{
  float fa = f32_of(v->a), fb = f32_of(v->b);
  double a = ftz ? flushed(fa) : fa, b = ftz ? flushed(fb) : fb, x = a / b;
  if (!full && fabs(b) > 0x1p126 && !isinf(b) && b == b) {
    if (a == a && !isinf(a)) {
      v->ranged = true;        /* a zero of either sign */
      return;
    }
    v->d = 0x7fffffff;
    return;
  }
  within(v, x, 2 * ulp(x), ftz);
}
static void div_approx(struct lane_values *v) { quotient(v, false, false); }
static void div_approx_ftz(struct lane_values *v) { quotient(v, true, false); }
static void div_full(struct lane_values *v) { quotient(v, false, true); }
static void div_full_ftz(struct lane_values *v) { quotient(v, true, true); }

/* rcp.approx.ftz.f64 and rsqrt.approx(.ftz).f64: relative error 2^-20 (no bound is stated for the
 * last); subnormals count as zeros with .ftz, and the low word of the result is zero. */
static void wide_approx(struct lane_values *v, double a, double x)
{
  (void)a;
  memcpy(&v->d, &x, 8);
  v->any_nan = x != x;
  if (x != x || isinf(x) || x == 0) return;
  v->ranged = true;
  v->low = x - fabs(x) * 0x1p-20;
  v->high = x + fabs(x) * 0x1p-20;
  if (fabs(x) < 0x1p-1021) {   /* the result is flushed */
    if (v->low > 0) v->low = 0;
    if (v->high < 0) v->high = 0;
  }
}
static double flushed64(uint64_t bits)
{
  double a = f64_of(bits);
  return fpclassify(a) == FP_SUBNORMAL ? copysign(0, a) : a;
}
static void rcp_approx_64(struct lane_values *v)
{
  double a = flushed64(v->a);
  wide_approx(v, a, 1 / a);
}
static void rsqrt_approx_ftz_64(struct lane_values *v)
{
  double a = flushed64(v->a);
  wide_approx(v, a, 1 / sqrt(a));
}
static void rsqrt_approx_64(struct lane_values *v)
{
  double a = f64_of(v->a);
  wide_approx(v, a, 1 / sqrt(a));
}

/* ---- minimum, maximum, signs -------------------------------------------------------------------- */

static bool nan32(uint64_t u) { return (u & 0x7fffffff) > 0x7f800000; }
static bool nan64(uint64_t u) { return (u & ~(1ull << 63)) > 0x7ff0000000000000; }
static uint64_t flush_bits(uint64_t u) { return u & 0x7f800000 ? u : u & 0x80000000; }

/* Bits in order: negative ones reversed, so -0 comes just before +0. */
static int64_t order32(uint64_t u) { return u >> 31 ? -(int64_t)(u & 0x7fffffff) - 1 : (int64_t)u; }
static int64_t order64(uint64_t u)
{
  return u >> 63 ? -1 - (int64_t)(u & ~(1ull << 63)) : (int64_t)u;
}

enum { NAN_WINS = 1, FTZ = 2, XORSIGN = 4, WANT_MAX = 8 };
static void extreme32(struct lane_values *v, unsigned how)
{
  uint64_t a = (uint32_t)v->a, b = (uint32_t)v->b;
  if (how & FTZ) a = flush_bits(a), b = flush_bits(b);
  uint64_t sign = (a ^ b) & 0x80000000;
  if (how & XORSIGN) a &= 0x7fffffff, b &= 0x7fffffff;
  if ((nan32(a) && nan32(b)) || ((how & NAN_WINS) && (nan32(a) || nan32(b)))) {
    v->d = 0x7fffffff;
    return;
  }
  bool first = nan32(b) || (!nan32(a) && ((how & WANT_MAX) ? order32(a) >= order32(b)
                                                           : order32(a) <= order32(b)));
  v->d = first ? a : b;
  if (how & XORSIGN) v->d = (v->d & 0x7fffffff) | sign;
}
#define EXTREME(name, how)                                                                     \
  static void min##name(struct lane_values *v) { extreme32(v, how); }                           \
  static void max##name(struct lane_values *v) { extreme32(v, (how) | WANT_MAX); }
EXTREME(, 0)
EXTREME(_ftz, FTZ)
EXTREME(_nan, NAN_WINS)
EXTREME(_ftz_nan, FTZ | NAN_WINS)
EXTREME(_xor, XORSIGN)
EXTREME(_all, FTZ | NAN_WINS | XORSIGN)
static void extreme64(struct lane_values *v, bool max)
{
  uint64_t a = v->a, b = v->b;
  v->any_nan = nan64(a) && nan64(b);
  bool first = nan64(b) || (!nan64(a) && (max ? order64(a) >= order64(b) : order64(a) <= order64(b)));
  v->d = first ? a : b;
}
static void min_64(struct lane_values *v) { extreme64(v, false); }
static void max_64(struct lane_values *v) { extreme64(v, true); }

/* For abs and neg a NaN stays some NaN. */
static void sign32(struct lane_values *v, bool ftz, bool abs)
{
  uint64_t a = ftz ? flush_bits((uint32_t)v->a) : (uint32_t)v->a;
  v->any_nan = nan32(a);
  v->d = abs ? a & 0x7fffffff : a ^ 0x80000000;
}
static void abs_32(struct lane_values *v) { sign32(v, false, true); }
static void abs_ftz(struct lane_values *v) { sign32(v, true, true); }
static void neg_32(struct lane_values *v) { sign32(v, false, false); }
static void neg_ftz(struct lane_values *v) { sign32(v, true, false); }
static void abs_64(struct lane_values *v)
{
  v->any_nan = nan64(v->a);
  v->d = v->a & ~(1ull << 63);
}
static void neg_64(struct lane_values *v)
{
  v->any_nan = nan64(v->a);
  v->d = v->a ^ 1ull << 63;
}
REF(copysign_32, (b & 0x7fffffff) | (a & 0x80000000))
REF(copysign_64, (b & ~(1ull << 63)) | (a & 1ull << 63))

/* testp: zeros count as normal. */
static int class_of(uint64_t u, bool wide)
{
  uint64_t mag = wide ? u & ~(1ull << 63) : u & 0x7fffffff;
  uint64_t inf = wide ? 0x7ff0000000000000 : 0x7f800000, least = wide ? 1ull << 52 : 1u << 23;
  return mag > inf ? 3 : mag == inf ? 2 : mag == 0 || mag >= least ? 0 : 1;   /* 1: subnormal */
}
#define TESTP(n, wide)                                                                         \
  REF(finite_##n, class_of(a, wide) < 2)                                                        \
  REF(infinite_##n, class_of(a, wide) == 2)                                                     \
  REF(number_##n, class_of(a, wide) < 3)                                                        \
  REF(notanumber_##n, class_of(a, wide) == 3)                                                   \
  REF(normal_##n, class_of(a, wide) == 0)                                                       \
  REF(subnormal_##n, class_of(a, wide) == 1)
TESTP(32, false)
TESTP(64, true)
#define TESTP_ROW(name)                                                                        \
  {"p=f", "testp." #name ".f32 D,A", name##_32}, {"p=d", "testp." #name ".f64 D,A", name##_64}

/* Immediates: a decimal is a double, taken as f32 where that is the type. */
static void add_tenth(struct lane_values *v)
{
  v->b = 0x3dcccccd;
  f32_op(v, ADD, EXACT_RN, false, false);
}
static void mul_tenth_64(struct lane_values *v)
{
  v->b = 0x3fb999999999999a;
  f64_op(v, MUL, EXACT_RN);
}

static const struct value_row rows[] = {
    OP2("add.", ADD), OP2("sub.", SUB), OP2("mul.", MUL),
    OP3("fma.", FMA), OP3("mad.", FMA),
    ROWS2("div.", DIV, "rn.", RN), ROWS2("div.", DIV, "rz.", RZ), ROWS2("div.", DIV, "rm.", RM),
    ROWS2("div.", DIV, "rp.", RP),
    OP1("rcp.", RCP), OP1("sqrt.", SQRT),
    {"f=ff", "div.approx.f32 D,A,B", div_approx},
    {"f=ff", "div.approx.ftz.f32 D,A,B", div_approx_ftz},
    {"f=ff", "div.full.f32 D,A,B", div_full}, {"f=ff", "div.full.ftz.f32 D,A,B", div_full_ftz},
    {"f=f", "rcp.approx.f32 D,A", rcp_approx}, {"f=f", "rcp.approx.ftz.f32 D,A", rcp_approx_ftz},
    {"f=f", "sqrt.approx.f32 D,A", sqrt_approx},
    {"f=f", "sqrt.approx.ftz.f32 D,A", sqrt_approx_ftz},
    {"f=f", "rsqrt.approx.f32 D,A", rsqrt_approx},
    {"f=f", "rsqrt.approx.ftz.f32 D,A", rsqrt_approx_ftz},
    {"f=u", "sin.approx.f32 D,A", sin_approx}, {"f=u", "sin.approx.ftz.f32 D,A", sin_approx_ftz},
    {"f=u", "cos.approx.f32 D,A", cos_approx}, {"f=u", "cos.approx.ftz.f32 D,A", cos_approx_ftz},
    {"f=f", "sin.approx.f32 D,A", wave}, {"f=f", "cos.approx.ftz.f32 D,A", wave},
    {"f=f", "lg2.approx.f32 D,A", lg2_approx}, {"f=f", "lg2.approx.ftz.f32 D,A", lg2_approx_ftz},
    {"f=f", "ex2.approx.f32 D,A", ex2_approx}, {"f=f", "ex2.approx.ftz.f32 D,A", ex2_approx_ftz},
    {"f=u", "ex2.approx.f32 D,A", ex2_approx}, {"f=u", "ex2.approx.ftz.f32 D,A", ex2_approx_ftz},
    {"f=f", "tanh.approx.f32 D,A", tanh_approx}, {"f=u", "tanh.approx.f32 D,A", tanh_approx},
    {"d=d", "rcp.approx.ftz.f64 D,A", rcp_approx_64},
    {"d=d", "rsqrt.approx.ftz.f64 D,A", rsqrt_approx_ftz_64},
    {"d=d", "rsqrt.approx.f64 D,A", rsqrt_approx_64},
    {"f=ff", "min.f32 D,A,B", min}, {"f=ff", "max.f32 D,A,B", max},
    {"f=ff", "min.ftz.f32 D,A,B", min_ftz}, {"f=ff", "max.ftz.f32 D,A,B", max_ftz},
    {"f=ff", "min.NaN.f32 D,A,B", min_nan}, {"f=ff", "max.NaN.f32 D,A,B", max_nan},
    {"f=ff", "min.ftz.NaN.f32 D,A,B", min_ftz_nan}, {"f=ff", "max.ftz.NaN.f32 D,A,B", max_ftz_nan},
    {"f=ff", "min.xorsign.abs.f32 D,A,B", min_xor}, {"f=ff", "max.xorsign.abs.f32 D,A,B", max_xor},
    {"f=ff", "min.ftz.NaN.xorsign.abs.f32 D,A,B", min_all},
    {"f=ff", "max.ftz.NaN.xorsign.abs.f32 D,A,B", max_all},
    {"d=dd", "min.f64 D,A,B", min_64}, {"d=dd", "max.f64 D,A,B", max_64},
    {"f=f", "abs.f32 D,A", abs_32}, {"f=f", "abs.ftz.f32 D,A", abs_ftz},
    {"f=f", "neg.f32 D,A", neg_32}, {"f=f", "neg.ftz.f32 D,A", neg_ftz},
    {"d=d", "abs.f64 D,A", abs_64}, {"d=d", "neg.f64 D,A", neg_64},
    {"f=ff", "copysign.f32 D,A,B", copysign_32}, {"d=dd", "copysign.f64 D,A,B", copysign_64},
    TESTP_ROW(finite), TESTP_ROW(infinite), TESTP_ROW(number), TESTP_ROW(notanumber),
    TESTP_ROW(normal), TESTP_ROW(subnormal),
    {"f=f", "add.f32 D,A,0f3DCCCCCD", add_tenth}, {"f=f", "add.f32 D,A,0.1", add_tenth},
    {"d=d", "mul.f64 D,A,0.1", mul_tenth_64}, {"d=d", "mul.f64 D,A,0d3FB999999999999A", mul_tenth_64},
};
const struct value_table values_float = {"float", rows, sizeof rows / sizeof *rows};
