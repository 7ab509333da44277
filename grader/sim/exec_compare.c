/* setp, set, selp, slct.  A comparison makes a mask of lanes; set and setp use it alike. */
#include <stdlib.h>

#include "rows.h"

typedef uint32_t compare_fn(struct warp *w, const struct sim_inst *i);

#define COMPARE(name, T, expr)                                                                 \
  static uint32_t cmp_##name(struct warp *w, const struct sim_inst *i)                          \
  {                                                                                            \
    const R_##T *a_ = SIM_ROW(R_##T, i->a), *b_ = SIM_ROW(R_##T, i->b);                           \
    uint32_t bits[SIM_LANES], all = 0;                                                          \
    LANE_LOOP { T_##T a = (T_##T)a_[l]; T_##T b = (T_##T)b_[l]; bits[l] = (expr) ? 1u << l : 0; }   \
    for (int l = 0; l < SIM_LANES; l++) all |= bits[l];                                         \
    return all;                                                                                \
  }
#define ORDERED(T)                                                                             \
  COMPARE(eq_##T, T, a == b) COMPARE(ne_##T, T, a != b) COMPARE(lt_##T, T, a < b)               \
  COMPARE(le_##T, T, a <= b) COMPARE(gt_##T, T, a > b) COMPARE(ge_##T, T, a >= b)
ORDERED(u16) ORDERED(s16) ORDERED(u32) ORDERED(s32) ORDERED(u64) ORDERED(s64)
/* Floats: eq .. ge are false with a NaN, equ .. geu true. */
#define FLOATS(T)                                                                              \
  COMPARE(eq_##T, T, a == b) COMPARE(ne_##T, T, (a < b) | (a > b)) COMPARE(lt_##T, T, a < b)    \
  COMPARE(le_##T, T, a <= b) COMPARE(gt_##T, T, a > b) COMPARE(ge_##T, T, a >= b)               \
  COMPARE(equ_##T, T, !((a < b) | (a > b))) COMPARE(neu_##T, T, a != b)                         \
  COMPARE(ltu_##T, T, !(a >= b)) COMPARE(leu_##T, T, !(a > b)) COMPARE(gtu_##T, T, !(a <= b))   \
  COMPARE(geu_##T, T, !(a < b)) COMPARE(num_##T, T, (a == a) & (b == b))                        \
  COMPARE(nan_##T, T, (a != a) | (b != b))
FLOATS(f32) FLOATS(f64)

/* Each comparison as a handler of its own for the plain setp. */
#define SETP(name)                                                                             \
  HANDLER(setp_##name) { row_set_pred(w, i->d, exec, cmp_##name(w, i)); }
#define SETP6(T) SETP(eq_##T) SETP(ne_##T) SETP(lt_##T) SETP(le_##T) SETP(gt_##T) SETP(ge_##T)
SETP6(u16) SETP6(s16) SETP6(u32) SETP6(s32) SETP6(u64) SETP6(s64)
#define SETP14(T)                                                                              \
  SETP6(T) SETP(equ_##T) SETP(neu_##T) SETP(ltu_##T) SETP(leu_##T) SETP(gtu_##T) SETP(geu_##T)  \
  SETP(num_##T) SETP(nan_##T)
SETP14(f32) SETP14(f64)

struct compare { uint16_t mod; uint8_t kind, bits; compare_fn *test; sim_handler *setp; };
#define ROW6(T, kind, bits)                                                                    \
  {PTX_M_EQ, kind, bits, cmp_eq_##T, setp_eq_##T}, {PTX_M_NE, kind, bits, cmp_ne_##T, setp_ne_##T}, \
  {PTX_M_LT, kind, bits, cmp_lt_##T, setp_lt_##T}, {PTX_M_LE, kind, bits, cmp_le_##T, setp_le_##T}, \
  {PTX_M_GT, kind, bits, cmp_gt_##T, setp_gt_##T}, {PTX_M_GE, kind, bits, cmp_ge_##T, setp_ge_##T}
#define ROWU(T, bits)                                                                          \
  {PTX_M_LO, PTX_UNSIGNED, bits, cmp_lt_##T, setp_lt_##T},                                       \
  {PTX_M_LS, PTX_UNSIGNED, bits, cmp_le_##T, setp_le_##T},                                       \
  {PTX_M_HI, PTX_UNSIGNED, bits, cmp_gt_##T, setp_gt_##T},                                       \
  {PTX_M_HS, PTX_UNSIGNED, bits, cmp_ge_##T, setp_ge_##T}
#define ROW14(T, bits)                                                                         \
  ROW6(T, PTX_FLOAT, bits), {PTX_M_EQU, PTX_FLOAT, bits, cmp_equ_##T, setp_equ_##T},            \
  {PTX_M_NEU, PTX_FLOAT, bits, cmp_neu_##T, setp_neu_##T},                                       \
  {PTX_M_LTU, PTX_FLOAT, bits, cmp_ltu_##T, setp_ltu_##T},                                       \
  {PTX_M_LEU, PTX_FLOAT, bits, cmp_leu_##T, setp_leu_##T},                                       \
  {PTX_M_GTU, PTX_FLOAT, bits, cmp_gtu_##T, setp_gtu_##T},                                       \
  {PTX_M_GEU, PTX_FLOAT, bits, cmp_geu_##T, setp_geu_##T},                                       \
  {PTX_M_NUM, PTX_FLOAT, bits, cmp_num_##T, setp_num_##T},                                       \
  {PTX_M_NAN, PTX_FLOAT, bits, cmp_nan_##T, setp_nan_##T}
static const struct compare compares[] = {
    ROW6(u16, PTX_UNSIGNED, 16), ROW6(s16, PTX_SIGNED, 16), ROW6(u32, PTX_UNSIGNED, 32),
    ROW6(s32, PTX_SIGNED, 32), ROW6(u64, PTX_UNSIGNED, 64), ROW6(s64, PTX_SIGNED, 64),
    ROWU(u16, 16), ROWU(u32, 32), ROWU(u64, 64), ROW14(f32, 32), ROW14(f64, 64),
};

static const struct compare *find(struct lowering *l, enum ptx_type type)
{
  enum ptx_kind kind = ptx_type_kind(type);
  unsigned bits = ptx_type_bits(type);
  if (kind == PTX_BITS) kind = PTX_UNSIGNED;
  for (size_t k = 0; k < sizeof compares / sizeof *compares; k++)
    if (compares[k].kind == kind && compares[k].bits == bits &&
        ptx_has(l->in, (enum ptx_mod)compares[k].mod))
      return &compares[k];
  return NULL;
}

/* With .ftz the operands are flushed into rows of their own first. */
static uint32_t test(struct warp *w, const struct sim_inst *i)
{
  const struct compare *c = i->extra ? *(const struct compare *const *)i->extra : NULL;
  if (!(i->flags & 1)) return c->test(w, i);
  uint32_t flushed[2][SIM_LANES] __attribute__((aligned(64)));
  const u32_row *a = SIM_ROW(u32_row, i->a), *b = SIM_ROW(u32_row, i->b);
  LANE_LOOP {
    flushed[0][l] = a[l] & 0x7f800000u ? a[l] : a[l] & 0x80000000u;
    flushed[1][l] = b[l] & 0x7f800000u ? b[l] : b[l] & 0x80000000u;
  }
  struct sim_inst copy = *i;
  uint8_t *keep = w->base[SIM_IN_BLOCK];
  w->base[SIM_IN_BLOCK] = (uint8_t *)flushed;
  copy.a = 0 | SIM_IN_BLOCK;
  copy.b = 128 | SIM_IN_BLOCK;
  uint32_t r = c->test(w, &copy);
  w->base[SIM_IN_BLOCK] = keep;
  return r;
}

/* small[0]: 0 none, 1 and, 2 or, 3 xor with predicate c, flipped by target. */
static uint32_t combine(struct warp *w, const struct sim_inst *i, uint32_t t)
{
  if (!i->small[0]) return t;
  uint32_t c = *SIM_ROW(u32_row, i->c) ^ i->target;
  return i->small[0] == 1 ? t & c : i->small[0] == 2 ? t | c : t ^ c;
}

HANDLER(setp_slow)
{
  uint32_t t = test(w, i);
  uint32_t p = combine(w, i, t), q = combine(w, i, ~t);
  row_set_pred(w, i->d, exec, p);
  if (i->small[1]) row_set_pred(w, i->e, exec, q);
}

/* set: all ones, or 1.0f. */
HANDLER(set_slow)
{
  uint32_t t = combine(w, i, test(w, i));
  u32_row *d_ = SIM_ROW(u32_row, i->d);
  uint32_t one = (uint32_t)i->imm;
  LANES_OF(u32, uint32_t r = t >> l & 1 ? one : 0)
}

static void lower_compare(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  bool set = in->op == PTX_SET;
  enum ptx_type type = (enum ptx_type)in->types[set ? 1 : 0];
  unsigned bits = ptx_type_bits(type);
  const struct compare *c = find(l, type);
  if (!c) {
    lower_refuse(l, "the simulator does not run this comparison");
    return;
  }
  s->d = lower_dest(l, &in->operands[0], set ? ptx_type_bits((enum ptx_type)in->types[0]) : 1);
  s->a = lower_source(l, &in->operands[1], bits);
  s->b = lower_source(l, &in->operands[2], bits);
  bool flush = ptx_has(in, PTX_M_FTZ) && bits == 32;
  bool second = !set && in->operands[0].reg2 != PTX_NOREG && in->operands[0].kind == PTX_O_REG;
  bool combined = in->noperands > 3;
  if (!set && !flush && !second && !combined) {
    s->run = c->setp;
    return;
  }
  const struct compare **keep = malloc(sizeof *keep);
  if (!keep) abort();
  *keep = c;
  s->extra = keep;
  s->flags = flush;
  s->small[1] = second;
  if (second) s->e = l->func->regs[in->operands[0].reg2];
  if (combined) {
    s->small[0] = ptx_has(in, PTX_M_AND) ? 1 : ptx_has(in, PTX_M_OR) ? 2 : 3;
    s->c = lower_pred(l, &in->operands[3], &s->target);
  }
  s->run = set ? set_slow : setp_slow;
  if (set) {
    enum ptx_type to = (enum ptx_type)in->types[0];
    if (to == PTX_T_F32) s->imm = 0x3f800000;
    else if (to == PTX_T_U32 || to == PTX_T_S32) s->imm = 0xffffffff;
    else if (to == PTX_T_U16) s->imm = 0xffff;
    else if (to == PTX_T_F16) s->imm = 0x3c00;
    else if (to == PTX_T_BF16) s->imm = 0x3f80;
    else lower_refuse(l, "the simulator does not run it with this result type");
  }
}

/* ---- selection ----------------------------------------------------------------------------------------- */

HANDLER(selp_32)
{
  u32_row *d_ = SIM_ROW(u32_row, i->d);
  const u32_row *a_ = SIM_ROW(u32_row, i->a), *b_ = SIM_ROW(u32_row, i->b);
  uint32_t p = *SIM_ROW(u32_row, i->c);
  LANES_OF(u32, uint32_t a = a_[l]; uint32_t b = b_[l]; uint32_t r = p >> l & 1 ? a : b)
}
HANDLER(selp_64)
{
  u64_row *d_ = SIM_ROW(u64_row, i->d);
  const u64_row *a_ = SIM_ROW(u64_row, i->a), *b_ = SIM_ROW(u64_row, i->b);
  uint32_t p = *SIM_ROW(u32_row, i->c);
  LANES_OF(u64, uint64_t a = a_[l]; uint64_t b = b_[l]; uint64_t r = p >> l & 1 ? a : b)
}

static void lower_selp(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned bits = lower_type_bits(l, 0);
  uint32_t flip;
  s->d = lower_dest(l, &in->operands[0], bits);
  s->a = lower_source(l, &in->operands[1], bits);
  s->b = lower_source(l, &in->operands[2], bits);
  s->c = lower_pred(l, &in->operands[3], &flip);
  if (flip) {
    sim_ref a = s->a;
    s->a = s->b;
    s->b = a;
  }
  s->run = bits > 32 ? selp_64 : selp_32;
}

OP3(slct_s32_32, u32, u32, u32, s32, c >= 0 ? a : b)
OP3(slct_s32_64, u64, u64, u64, s32, c >= 0 ? a : b)
OP3(slct_f32_32, u32, u32, u32, f32, c >= 0 ? a : b)   /* NaN: b; -0 counts as 0 */
OP3(slct_f32_64, u64, u64, u64, f32, c >= 0 ? a : b)
static inline bool not_below(float c)   /* after flushing: a subnormal counts as 0 */
{
  return c >= 0 || (c < 0 && c > -0x1p-126f);
}
OP3(slct_ftz_32, u32, u32, u32, f32, not_below(c) ? a : b)
OP3(slct_ftz_64, u64, u64, u64, f32, not_below(c) ? a : b)

static void lower_slct(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned bits = lower_type_bits(l, 0);
  s->d = lower_dest(l, &in->operands[0], bits);
  s->a = lower_source(l, &in->operands[1], bits);
  s->b = lower_source(l, &in->operands[2], bits);
  s->c = lower_source(l, &in->operands[3], 32);
  bool wide = bits > 32, flush = ptx_has(in, PTX_M_FTZ);
  if (in->types[1] == PTX_T_F32)
    s->run = flush ? (wide ? slct_ftz_64 : slct_ftz_32) : wide ? slct_f32_64 : slct_f32_32;
  else s->run = wide ? slct_s32_64 : slct_s32_32;
}

const struct sim_form sim_forms_compare[] = {
    FORM_ANY(SETP, lower_compare),
    FORM_ANY(SET, lower_compare),
    FORM_ANY(SELP, lower_selp),
    FORM_ANY(SLCT, lower_slct),
    {.op = PTX_OPS},
};
