/* Arithmetic on f16, bf16 and their pairs.
 *
 * A row of pairs is 64 halves side by side, and so is a row of single ones (their upper halves are
 * zero and stay so).  Each operation makes floats that round to the right half: f16 sums and
 * products rounded to float first cannot go wrong (24 bits are twice 11 and two more); an fma, and
 * bf16 products near float's own subnormals, can, and are rounded to odd instead (narrow.h).  A NaN
 * result is 0x7fff. */
#include <stdlib.h>
#include <string.h>

#include "narrow.h"
#include "rows.h"

enum { HALVES = 2 * SIM_LANES };
enum { H_FTZ = 1, H_SAT = 2, H_RELU = 4, H_SINGLE = 8, H_NAN = 16, H_XORSIGN = 32 };   /* small[0] */

typedef void half_op(const float *a, const float *b, const float *c, float *r, bool bf,
                     unsigned flags);

#define EACH(k) for (int k = 0; k < HALVES; k++)

static inline void flush(uint16_t *h)
{
  EACH(k) h[k] = h[k] & 0x7c00 ? h[k] : h[k] & 0x8000;
}

static inline void load(struct warp *w, sim_ref ref, bool bf, unsigned flags, float *f)
{
  uint16_t h[HALVES];
  memcpy(h, SIM_ROW(u8_row, ref), sizeof h);
  if (flags & H_FTZ && !bf) flush(h);
  if (bf) bf16_row(h, f, HALVES);
  else f16_row(h, f, HALVES);
}

static inline void store(struct warp *w, const struct sim_inst *i, uint32_t exec, uint16_t *h)
{
  uint32_t words[SIM_LANES];
  memcpy(words, h, sizeof words);
  uint32_t keep = i->small[0] & H_SINGLE ? 0xffff : SIM_FULL;
  u32_row *d_ = SIM_ROW(u32_row, i->d);
  LANES_OF(u32, uint32_t r = words[l] & keep)
}

static inline void run(struct warp *w, const struct sim_inst *i, uint32_t exec, half_op *op,
                       unsigned sources, bool bf)
{
  unsigned flags = i->small[0];
  float a[HALVES], b[HALVES], c[HALVES], r[HALVES];
  uint16_t h[HALVES];
  load(w, i->a, bf, flags, a);
  if (sources > 1) load(w, i->b, bf, flags, b);
  if (sources > 2) load(w, i->c, bf, flags, c);
  op(a, b, c, r, bf, flags);
  if (flags & H_SAT) EACH(k) r[k] = r[k] > 0 ? r[k] < 1 ? r[k] : 1 : 0;
  if (flags & H_RELU) EACH(k) r[k] = r[k] > 0 || r[k] != r[k] ? r[k] : 0;
  if (bf) EACH(k) h[k] = float_bf16(r[k]);
  else row_f16(r, h, HALVES);
  if (flags & H_FTZ && !bf) flush(h);
  store(w, i, exec, h);
}

#define UNUSED (void)a, (void)b, (void)c, (void)bf, (void)flags

static inline void op_add(const float *a, const float *b, const float *c, float *r, bool bf,
                          unsigned flags)
{
  UNUSED;
  EACH(k) r[k] = a[k] + b[k];
}
static inline void op_sub(const float *a, const float *b, const float *c, float *r, bool bf,
                          unsigned flags)
{
  UNUSED;
  EACH(k) r[k] = a[k] - b[k];
}
static inline void op_mul(const float *a, const float *b, const float *c, float *r, bool bf,
                          unsigned flags)
{
  UNUSED;
  if (bf) EACH(k) r[k] = round_odd((double)a[k] * b[k]);
  else EACH(k) r[k] = a[k] * b[k];
}

/* The sum and what its rounding lost (Knuth); then the last bit is made odd.  The products are
 * exact: 22 bits in float, 16 bits in double. */
static inline float once_f16(float a, float b, float c)
{
  float p = a * b, s = p + c, v = s - p, lost = (p - (s - v)) + (c - v);
  uint32_t u = narrow_bits(s), even = ~u & 1;
  uint32_t up = (lost > 0) & even, down = (lost < 0) & even;
  uint32_t neg = u >> 31;
  return narrow_float(u + (neg ? down - up : up - down));
}
static inline float once_bf16(float a, float b, float c)
{
  double p = (double)a * b, s = p + c, v = s - p, lost = (p - (s - v)) + (c - v);
  uint64_t u;
  memcpy(&u, &s, 8);
  uint64_t even = ~u & 1, up = (lost > 0) & even, down = (lost < 0) & even;
  u += u >> 63 ? down - up : up - down;
  memcpy(&s, &u, 8);
  return round_odd(s);
}
static inline void op_fma(const float *a, const float *b, const float *c, float *r, bool bf,
                          unsigned flags)
{
  UNUSED;
  if (bf) EACH(k) r[k] = once_bf16(a[k], b[k], c[k]);
  else EACH(k) r[k] = once_f16(a[k], b[k], c[k]);
}

static inline float lesser(float a, float b)
{
  if (a != a) return b;
  if (b != b) return a;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static inline void extreme(const float *a, const float *b, float *r, unsigned flags, bool max)
{
  EACH(k)
  {
    float x = a[k], y = b[k];
    uint32_t sign = (narrow_bits(x) ^ narrow_bits(y)) & 0x80000000u;
    if (flags & H_XORSIGN) x = fabsf(x), y = fabsf(y);
    float z = max ? -lesser(-x, -y) : lesser(x, y);
    if (flags & H_NAN && (x != x || y != y)) z = NAN;
    if (flags & H_XORSIGN) z = narrow_float((narrow_bits(z) & 0x7fffffffu) | sign);
    r[k] = z;
  }
}
static inline void op_min(const float *a, const float *b, const float *c, float *r, bool bf,
                          unsigned flags)
{
  UNUSED;
  extreme(a, b, r, flags, false);
}
static inline void op_max(const float *a, const float *b, const float *c, float *r, bool bf,
                          unsigned flags)
{
  UNUSED;
  extreme(a, b, r, flags, true);
}
/* Approximate on the hardware; here rounded once, or nearly: inside every stated error. */
static inline void op_ex2(const float *a, const float *b, const float *c, float *r, bool bf,
                          unsigned flags)
{
  UNUSED;
  EACH(k) r[k] = round_odd(exp2((double)a[k]));
}
static inline void op_tanh(const float *a, const float *b, const float *c, float *r, bool bf,
                           unsigned flags)
{
  UNUSED;
  EACH(k) r[k] = round_odd(tanh((double)a[k]));
}

#define BOTH(op, sources)                                                                      \
  HANDLER(op##_f16) { run(w, i, exec, op_##op, sources, false); }                                \
  HANDLER(op##_bf16) { run(w, i, exec, op_##op, sources, true); }
BOTH(add, 2) BOTH(sub, 2) BOTH(mul, 2) BOTH(fma, 3) BOTH(min, 2) BOTH(max, 2) BOTH(ex2, 1)
BOTH(tanh, 1)

/* Signs: bits only.  imm: what is cleared, target: what is flipped. */
HANDLER(sign_bits)
{
  uint16_t h[HALVES];
  memcpy(h, SIM_ROW(u8_row, i->a), sizeof h);
  if (i->small[0] & H_FTZ) flush(h);
  EACH(k) h[k] = (uint16_t)((h[k] & ~i->imm) ^ i->target);
  store(w, i, exec, h);
}

static const struct { uint16_t op; sim_handler *f16, *bf16; } ops[] = {
    {PTX_ADD, add_f16, add_bf16},   {PTX_SUB, sub_f16, sub_bf16}, {PTX_MUL, mul_f16, mul_bf16},
    {PTX_FMA, fma_f16, fma_bf16}, {PTX_MIN, min_f16, min_bf16}, {PTX_MAX, max_f16, max_bf16},
    {PTX_EX2, ex2_f16, ex2_bf16},   {PTX_TANH, tanh_f16, tanh_bf16},
    {PTX_NEG, sign_bits, sign_bits}, {PTX_ABS, sign_bits, sign_bits},
};

static bool is_bf16(unsigned type) { return type == PTX_T_BF16 || type == PTX_T_BF16X2; }

static void lower_half(struct lowering *l)
{
  static const uint16_t allowed[] = {M(RN), M(FTZ), M(SAT), M(RELU), M(NAN_PROPAGATE), M(XORSIGN),
                                     M(ABS), M(APPROX), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned type = in->types[0], bits = lower_type_bits(l, 0);
  if (!lower_only(l, allowed)) return;
  sim_ref *const to[] = {&s->d, &s->a, &s->b, &s->c};
  for (unsigned k = 0; k < in->noperands && k < 4; k++)
    *to[k] = k ? lower_source(l, &in->operands[k], bits) : lower_dest(l, &in->operands[k], bits);
  s->small[0] = (uint8_t)((ptx_has(in, PTX_M_FTZ) ? H_FTZ : 0) | (ptx_has(in, PTX_M_SAT) ? H_SAT : 0) |
                          (ptx_has(in, PTX_M_RELU) ? H_RELU : 0) | (bits == 16 ? H_SINGLE : 0) |
                          (ptx_has(in, PTX_M_NAN_PROPAGATE) ? H_NAN : 0) |
                          (ptx_has(in, PTX_M_XORSIGN) ? H_XORSIGN : 0));
  s->imm = in->op == PTX_ABS ? 0x8000 : 0;
  s->target = in->op == PTX_NEG ? 0x8000 : 0;
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
    if (ops[k].op == in->op) s->run = is_bf16(type) ? ops[k].bf16 : ops[k].f16;
}

/* ---- comparisons ------------------------------------------------------------------------------ */

static const struct relation { uint16_t mod; bool less, equal, more, nan; } relations[] = {
    {PTX_M_EQ, 0, 1, 0, 0},  {PTX_M_NE, 1, 0, 1, 0},  {PTX_M_LT, 1, 0, 0, 0},
    {PTX_M_LE, 1, 1, 0, 0},  {PTX_M_GT, 0, 0, 1, 0},  {PTX_M_GE, 0, 1, 1, 0},
    {PTX_M_EQU, 0, 1, 0, 1}, {PTX_M_NEU, 1, 0, 1, 1}, {PTX_M_LTU, 1, 0, 0, 1},
    {PTX_M_LEU, 1, 1, 0, 1}, {PTX_M_GTU, 0, 0, 1, 1}, {PTX_M_GEU, 0, 1, 1, 1},
    {PTX_M_NUM, 1, 1, 1, 0}, {PTX_M_NAN, 0, 0, 0, 1},
};

/* Lanes where it holds: [0] of the lower halves, [1] of the upper ones.  target: which relation;
 * small[1]: bf16; small[2]: 0 none, 1 and, 2 or, 3 xor with predicate c, flipped by imm. */
static void compare(struct warp *w, const struct sim_inst *i, uint32_t holds[2])
{
  const struct relation *t = &relations[i->target];
  float a[HALVES], b[HALVES];
  load(w, i->a, i->small[1], i->small[0], a);
  load(w, i->b, i->small[1], i->small[0], b);
  holds[0] = holds[1] = 0;
  EACH(k)
  {
    bool yes = a[k] < b[k] ? t->less : a[k] == b[k] ? t->equal : a[k] > b[k] ? t->more : t->nan;
    holds[k % 2] |= (uint32_t)yes << k / 2;
  }
}
static uint32_t combine(struct warp *w, const struct sim_inst *i, uint32_t t)
{
  if (!i->small[2]) return t;
  uint32_t c = *SIM_ROW(u32_row, i->c) ^ (uint32_t)i->imm;
  return i->small[2] == 1 ? t & c : i->small[2] == 2 ? t | c : t ^ c;
}

/* p|q: of a pair the two halves, of a single one the opposite. */
HANDLER(setp_half)
{
  uint32_t h[2];
  compare(w, i, h);
  uint32_t p = combine(w, i, h[0]), q = combine(w, i, i->small[0] & H_SINGLE ? ~h[0] : h[1]);
  row_set_pred(w, i->d, exec, p);
  if (i->elements > 1) row_set_pred(w, i->e, exec, q);
}

/* width: bytes of a half's result, 2 or 4; `more[0]`: what stands for true. */
HANDLER(set_half)
{
  uint32_t h[2], one = i->more[0];
  compare(w, i, h);
  h[0] = combine(w, i, h[0]);
  h[1] = combine(w, i, h[1]);
  bool single = i->small[0] & H_SINGLE;
  u32_row *d_ = SIM_ROW(u32_row, i->d);
  LANES_OF(u32, uint32_t r = (h[0] >> l & 1 ? one : 0) | (!single && h[1] >> l & 1 ? one << 16 : 0))
}

static void lower_compare(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  bool set = in->op == PTX_SET;
  unsigned type = in->types[set ? 1 : 0], bits = ptx_type_bits((enum ptx_type)type);
  for (unsigned k = 0; k < sizeof relations / sizeof *relations; k++)
    if (ptx_has(in, (enum ptx_mod)relations[k].mod)) s->target = k;
  s->small[0] = (uint8_t)((ptx_has(in, PTX_M_FTZ) ? H_FTZ : 0) | (bits == 16 ? H_SINGLE : 0));
  s->small[1] = is_bf16(type);
  s->a = lower_source(l, &in->operands[1], bits);
  s->b = lower_source(l, &in->operands[2], bits);
  if (in->noperands > 3) {
    uint32_t flip;
    s->small[2] = ptx_has(in, PTX_M_AND) ? 1 : ptx_has(in, PTX_M_OR) ? 2 : 3;
    s->c = lower_pred(l, &in->operands[3], &flip);
    s->imm = flip;
  }
  if (!set) {
    s->d = lower_dest(l, &in->operands[0], 1);
    if (in->operands[0].reg2 != PTX_NOREG) {
      s->elements = 2;
      s->e = l->func->regs[in->operands[0].reg2];
    }
    s->run = setp_half;
    return;
  }
  unsigned to = in->types[0];
  s->d = lower_dest(l, &in->operands[0], ptx_type_bits((enum ptx_type)to));
  switch (to) {
  case PTX_T_F16: case PTX_T_F16X2: s->more[0] = 0x3c00; break;
  case PTX_T_BF16: case PTX_T_BF16X2: s->more[0] = 0x3f80; break;
  case PTX_T_U16: case PTX_T_S16: s->more[0] = 0xffff; break;
  case PTX_T_U32: case PTX_T_S32: s->more[0] = bits == 16 ? 0xffffffffu : 0xffff; break;
  default: lower_refuse(l, "the simulator does not run it with this result type"); return;
  }
  s->run = set_half;
}

#define HALF(op) \
  FORM_TYPE(op, F16, lower_half), FORM_TYPE(op, F16X2, lower_half), \
  FORM_TYPE(op, BF16, lower_half), FORM_TYPE(op, BF16X2, lower_half)
#define OOB(type) \
  {PTX_FMA, PTX_T_##type, 0, {M(OOB)}, NULL, NULL, 0, 0, \
   "the NaN that tensors out of bounds are filled with (.oob) is not simulated"}
#define SECOND(op, type, lower) {PTX_##op, 0, PTX_T_##type, {0}, NULL, lower, 0, 0, NULL}

const struct sim_form sim_forms_half[] = {
    OOB(F16), OOB(F16X2), OOB(BF16), OOB(BF16X2),
    HALF(ADD), HALF(SUB), HALF(MUL), HALF(FMA), HALF(MIN), HALF(MAX), HALF(EX2), HALF(TANH),
    HALF(NEG), HALF(ABS),
    FORM_TYPE(SETP, F16, lower_compare), FORM_TYPE(SETP, F16X2, lower_compare),
    FORM_TYPE(SETP, BF16, lower_compare), FORM_TYPE(SETP, BF16X2, lower_compare),
    SECOND(SET, F16, lower_compare), SECOND(SET, F16X2, lower_compare),
    SECOND(SET, BF16, lower_compare), SECOND(SET, BF16X2, lower_compare),
    {.op = PTX_OPS},
};
