/* f32 arithmetic on pairs (.f32x2) and with sources of 16 bits (add.f32.f16, fma.f32.bf16), and min and
 * max of three.
 *
 * Sources are spread into rows of 64 floats, both halves of a pair or one value a lane, the
 * operation runs over all of them in the rounding asked for, and the results are packed again.  NaN
 * and .ftz are those of the f32 operations (exec_float.c). */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "narrow.h"
#include "rows.h"

enum { MANY = 2 * SIM_LANES };
enum source { FROM_F32, FROM_PAIR, FROM_F16, FROM_BF16 };
enum operation { DO_ADD, DO_SUB, DO_MUL, DO_FMA };

static const int host_round[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static inline float flushed(float x)
{
  uint32_t u = narrow_bits(x);
  return narrow_float(u & 0x7f800000u ? u : u & 0x80000000u);
}

static void spread(struct warp *w, sim_ref ref, enum source from, float out[MANY])
{
  const u32_row *row = SIM_ROW(u32_row, ref);
  switch (from) {
  case FROM_PAIR: memcpy(out, SIM_ROW(u8_row, ref), MANY * sizeof *out); return;
  case FROM_F32: memcpy(out, row, SIM_LANES * sizeof *out); return;
  case FROM_F16:
    for (int l = 0; l < SIM_LANES; l++) out[l] = f16_float((uint16_t)row[l]);
    return;
  case FROM_BF16:
    for (int l = 0; l < SIM_LANES; l++) out[l] = bf16_float((uint16_t)row[l]);
    return;
  }
}

/* Not inlined: the rounding mode of the host must be in force for all of it. */
static __attribute__((noinline)) void work(enum operation op, const float *a, const float *b,
                                           const float *c, float *r, int n)
{
  switch (op) {
  case DO_ADD: for (int k = 0; k < n; k++) r[k] = a[k] + b[k]; break;
  case DO_SUB: for (int k = 0; k < n; k++) r[k] = a[k] - b[k]; break;
  case DO_MUL: for (int k = 0; k < n; k++) r[k] = a[k] * b[k]; break;
  case DO_FMA: for (int k = 0; k < n; k++) r[k] = __builtin_fmaf(a[k], b[k], c[k]); break;
  }
}

/* target: enum operation; small[0]: rounding; small[1]: 1 .ftz | 2 .sat | 4 a pair; small[2]: what
 * a (and b of an fma) is; the last source is of D's type. */
HANDLER(spread_f32)
{
  float a[MANY], b[MANY], c[MANY] = {0}, r[MANY];
  enum operation op = (enum operation)i->target;
  enum source narrow = (enum source)i->small[2];
  bool pair = i->small[1] & 4, flush = i->small[1] & 1, sat = i->small[1] & 2;
  int n = pair ? MANY : SIM_LANES, before = fegetround();
  spread(w, i->a, narrow, a);
  spread(w, i->b, op == DO_FMA || pair ? narrow : FROM_F32, b);
  if (op == DO_FMA) spread(w, i->c, pair ? FROM_PAIR : FROM_F32, c);
  for (int k = 0; flush && k < n; k++) a[k] = flushed(a[k]), b[k] = flushed(b[k]), c[k] = flushed(c[k]);
  if (i->small[0]) fesetround(host_round[i->small[0]]);
  work(op, a, b, c, r, n);
  if (i->small[0]) fesetround(before);
  for (int k = 0; k < n; k++) {
    if (r[k] != r[k]) r[k] = narrow_float(0x7fffffffu);
    if (flush) r[k] = flushed(r[k]);
    if (sat) r[k] = r[k] > 0 ? r[k] < 1 ? r[k] : 1 : 0;
  }
  unsigned each = pair ? 2 : 1;
  f32_row *d = SIM_ROW(f32_row, i->d);
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    for (unsigned k = 0; k < each; k++) d[each * l + k] = r[each * l + k];
  }
}

static void lower_spread(struct lowering *l)
{
  static const uint16_t allowed[] = {M(RN), M(RZ), M(RM), M(RP), M(FTZ), M(SAT), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  if (!lower_only(l, allowed)) return;
  bool pair = in->types[0] == PTX_T_F32X2;
  s->target = in->op == PTX_ADD ? DO_ADD : in->op == PTX_SUB ? DO_SUB
              : in->op == PTX_MUL ? DO_MUL : DO_FMA;
  s->small[0] = (uint8_t)(ptx_has(in, PTX_M_RZ) ? 1 : ptx_has(in, PTX_M_RM) ? 2
                          : ptx_has(in, PTX_M_RP) ? 3 : 0);
  s->small[1] = (uint8_t)(ptx_has(in, PTX_M_FTZ) | ptx_has(in, PTX_M_SAT) << 1 | pair << 2);
  s->small[2] = pair ? FROM_PAIR : in->types[1] == PTX_T_F16 ? FROM_F16 : FROM_BF16;
  unsigned whole = pair ? 64 : 32, narrow = pair ? 64 : 16, last = in->noperands - 1u;
  sim_ref *const to[] = {&s->d, &s->a, &s->b, &s->c};
  s->d = lower_dest(l, &in->operands[0], whole);
  for (unsigned k = 1; k <= last && !l->failed; k++)
    *to[k] = lower_source(l, &in->operands[k], k == last ? whole : narrow);
  s->run = spread_f32;
}

/* ---- three sources -------------------------------------------------------------------------------- */

/* small[0]: max; small[1]: 1 .ftz | 2 .NaN | 4 .abs.  -0 is less than +0. */
static inline float pick(float a, float b, const struct sim_inst *i)
{
  if (a != a || b != b) {
    if (i->small[1] & 2) return NAN;
    return a != a ? b : a;
  }
  bool a_less = a < b || (a == b && signbit(a));
  return a_less != (bool)i->small[0] ? a : b;
}
HANDLER(minmax_three)
{
  const f32_row *from[3] = {SIM_ROW(f32_row, i->a), SIM_ROW(f32_row, i->b), SIM_ROW(f32_row, i->c)};
  u32_row *d = SIM_ROW(u32_row, i->d);
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    float v[3];
    for (int k = 0; k < 3; k++) {
      v[k] = i->small[1] & 1 ? flushed(from[k][l]) : from[k][l];
      if (i->small[1] & 4) v[k] = fabsf(v[k]);
    }
    float r = pick(pick(v[0], v[1], i), v[2], i);
    d[l] = r != r ? 0x7fffffffu : narrow_bits(r);
  }
}

void lower_minmax_three(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  s->small[0] = in->op == PTX_MAX;
  s->small[1] = (uint8_t)(ptx_has(in, PTX_M_FTZ) | ptx_has(in, PTX_M_NAN_PROPAGATE) << 1 |
                          ptx_has(in, PTX_M_ABS) << 2);
  s->d = lower_dest(l, &in->operands[0], 32);
  s->a = lower_source(l, &in->operands[1], 32);
  s->b = lower_source(l, &in->operands[2], 32);
  s->c = lower_source(l, &in->operands[3], 32);
  s->run = minmax_three;
}

#define MIXED(op, type) {PTX_##op, PTX_T_F32, PTX_T_##type, {0}, NULL, lower_spread, 0, 0, NULL}

const struct sim_form sim_forms_pair[] = {
    FORM_TYPE(ADD, F32X2, lower_spread), FORM_TYPE(SUB, F32X2, lower_spread),
    FORM_TYPE(MUL, F32X2, lower_spread), FORM_TYPE(FMA, F32X2, lower_spread),
    MIXED(ADD, F16), MIXED(ADD, BF16), MIXED(SUB, F16), MIXED(SUB, BF16), MIXED(FMA, F16),
    MIXED(FMA, BF16),
    {.op = PTX_OPS},
};
