/* The video instructions on two halves or four bytes: what __vabsdiffu4, __vsadu4 and their like
 * compile to where the hardware has no other form; those on one value, which may be a byte or a half
 * of a register; and integer arithmetic on halves and bytes with .sat or .relu.
 *
 * Each element of a and of b is taken as its type, the operation done without loss, and the result
 * wrapped (or with .sat clamped) into the result's type; with .add the elements' results are added
 * up, and c to them. */
#include <stdlib.h>

#include "rows.h"

enum video { V_ADD, V_SUB, V_AVRG, V_ABSDIFF, V_MIN, V_MAX, V_SET, V_SHL, V_SHR, V_MAD };

static const struct video_row { uint16_t op; enum video video; uint8_t elements; } videos[] = {
    {PTX_VADD2, V_ADD, 2}, {PTX_VSUB2, V_SUB, 2}, {PTX_VAVRG2, V_AVRG, 2},
    {PTX_VABSDIFF2, V_ABSDIFF, 2}, {PTX_VMIN2, V_MIN, 2}, {PTX_VMAX2, V_MAX, 2}, {PTX_VSET2, V_SET, 2},
    {PTX_VADD4, V_ADD, 4}, {PTX_VSUB4, V_SUB, 4}, {PTX_VAVRG4, V_AVRG, 4},
    {PTX_VABSDIFF4, V_ABSDIFF, 4}, {PTX_VMIN4, V_MIN, 4}, {PTX_VMAX4, V_MAX, 4}, {PTX_VSET4, V_SET, 4},
};

static int32_t element(uint32_t v, unsigned k, unsigned bits, bool is_signed)
{
  uint32_t e = v << (32 - bits * (k + 1));
  return is_signed ? (int32_t)e >> (32 - bits) : (int32_t)(e >> (32 - bits));
}

/* The operation, in as many bits as its result needs: all but the shifts, of values of 33 bits. */
static int64_t lossless(enum video op, unsigned relation, int64_t a, int64_t b)
{
  int64_t sum = a + b;
  switch (op) {
  case V_ADD: return sum;
  case V_SUB: return a - b;
  case V_AVRG: return (sum + (sum >= 0)) >> 1;   /* rounds halves away from zero */
  case V_ABSDIFF: return a < b ? b - a : a - b;
  case V_MIN: return a < b ? a : b;
  case V_MAX: return a > b ? a : b;
  default: break;
  }
  switch (relation) {
  case PTX_M_EQ: return a == b;
  case PTX_M_NE: return a != b;
  case PTX_M_LT: return a < b;
  case PTX_M_LE: return a <= b;
  case PTX_M_GT: return a > b;
  default: return a >= b;
  }
}

/* small: enum video, elements, 1 .sat | 2 .add; flags: 1 a, 2 b, 4 d signed; imm: relation. */
HANDLER(video)
{
  enum video op = (enum video)i->small[0];
  unsigned n = i->small[1], bits = 32 / n;
  const u32_row *a = SIM_ROW(u32_row, i->a), *b = SIM_ROW(u32_row, i->b), *c = SIM_ROW(u32_row, i->c);
  u32_row *d = SIM_ROW(u32_row, i->d);
  bool d_signed = i->flags & 4;
  int32_t most = d_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  int32_t least = d_signed ? -most - 1 : 0;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t packed = 0, sum = c[l];
    for (unsigned k = 0; k < n; k++) {
      int32_t r = (int32_t)lossless(op, (unsigned)i->imm, element(a[l], k, bits, i->flags & 1),
                                    element(b[l], k, bits, i->flags & 2));
      if (i->small[2] & 4 && r < 0) r = 0;
      if (i->small[2] & 1) r = r < least ? least : r > most ? most : r;
      sum += (uint32_t)r;
      packed |= ((uint32_t)r & (uint32_t)((1ull << bits) - 1)) << bits * k;
    }
    d[l] = i->small[2] & 2 ? sum : packed;
  }
}

static void lower_video(struct lowering *l)
{
  static const uint16_t allowed[] = {M(SAT), M(ADD), M(EQ), M(NE), M(LT), M(LE), M(GT), M(GE), 0};
  static const uint16_t relations[] = {PTX_M_EQ, PTX_M_NE, PTX_M_LT, PTX_M_LE, PTX_M_GT, PTX_M_GE};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  if (!lower_only(l, allowed)) return;
  const struct video_row *v = videos;
  while (v->op != in->op) v++;
  unsigned types = v->video == V_SET ? 2 : 3, first = types == 3 ? 1 : 0;
  bool plain = in->ntypes == types && in->noperands >= 3 && in->noperands <= 4;
  for (unsigned k = 0; plain && k < types; k++)
    plain = in->types[k] == PTX_T_U32 || in->types[k] == PTX_T_S32;
  for (unsigned k = 0; plain && k < in->noperands; k++) plain = !in->operands[k].part;
  if (!plain) {
    lower_refuse(l, "the simulator runs video instructions on whole registers of u32 and s32 only");
    return;
  }
  for (unsigned k = 0; k < 6; k++)
    if (ptx_has(in, (enum ptx_mod)relations[k])) s->imm = relations[k];
  s->small[0] = (uint8_t)v->video;
  s->small[1] = v->elements;
  s->small[2] = (uint8_t)(ptx_has(in, PTX_M_SAT) | ptx_has(in, PTX_M_ADD) << 1);
  s->flags = (uint8_t)((in->types[first] == PTX_T_S32) | (in->types[first + 1] == PTX_T_S32) << 1 |
                       (first && in->types[0] == PTX_T_S32) << 2);
  s->d = lower_dest(l, &in->operands[0], 32);
  s->a = lower_source(l, &in->operands[1], 32);
  s->b = lower_source(l, &in->operands[2], 32);
  s->c = in->noperands > 3 ? lower_source(l, &in->operands[3], 32) : lower_const(l, 0, 32);
  s->run = video;
}

/* add, sub, min and max of halves and bytes, where there is no loop of its own (exec_int.c). */
static void lower_packed(struct lowering *l)
{
  static const uint16_t allowed[] = {M(SAT), M(RELU), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  if (!lower_only(l, allowed)) return;
  bool is_signed = ptx_type_kind((enum ptx_type)in->types[0]) == PTX_SIGNED;
  s->small[0] = (uint8_t)(in->op == PTX_ADD ? V_ADD : in->op == PTX_SUB ? V_SUB
                          : in->op == PTX_MIN ? V_MIN : V_MAX);
  s->small[1] = in->types[0] == PTX_T_U8X4 || in->types[0] == PTX_T_S8X4 ? 4 : 2;
  s->small[2] = (uint8_t)(ptx_has(in, PTX_M_SAT) | ptx_has(in, PTX_M_RELU) << 2);
  s->flags = is_signed ? 7 : 0;
  s->d = lower_dest(l, &in->operands[0], 32);
  s->a = lower_source(l, &in->operands[1], 32);
  s->b = lower_source(l, &in->operands[2], 32);
  s->c = lower_const(l, 0, 32);
  s->run = video;
}

/* ---- one value ------------------------------------------------------------------------------------ */

/* A part of a register: 0 all of it, 1 to 4 .b0 to .b3, 5 and 6 .h0 and .h1. */
static unsigned part_bits(unsigned part) { return !part ? 32 : part < 5 ? 8 : 16; }
static unsigned part_shift(unsigned part) { return !part ? 0 : part < 5 ? 8 * (part - 1) : 16 * (part - 5); }

static int64_t part_of(uint32_t v, unsigned part, bool is_signed)
{
  unsigned bits = part_bits(part);
  uint32_t e = v >> part_shift(part) << (32 - bits);
  return is_signed ? (int32_t)e >> (32 - bits) : (int64_t)(e >> (32 - bits));
}

struct scalar {
  enum video op;
  unsigned relation, a_part, b_part, d_part;
  bool a_signed, b_signed, d_signed, sat, wrap, plus_one;
  unsigned scale;
  enum { ALONE, PLUS, LEAST, MOST } second;   /* with c */
};

static __int128 clamped(__int128 v, unsigned bits, bool is_signed)
{
  __int128 most = ((__int128)1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
  return v < least ? least : v > most ? most : v;
}

static uint32_t scalar_one(const struct scalar *v, uint32_t ra, uint32_t rb, uint32_t c)
{
  int64_t a = part_of(ra, v->a_part, v->a_signed), b = part_of(rb, v->b_part, v->b_signed);
  unsigned by = v->wrap ? (unsigned)b & 31 : b > 32 ? 32 : (unsigned)b;
  if (v->op == V_MAD) {
    bool is_signed = v->a_signed || v->b_signed;
    __int128 r = (__int128)a * b + part_of(c, 0, is_signed) + v->plus_one;
    r >>= v->scale;
    return (uint32_t)(v->sat ? clamped(r, 32, is_signed) : r);
  }
  unsigned bits = part_bits(v->d_part);
  __int128 r = v->op == V_SHL   ? a * ((__int128)1 << by)
               : v->op == V_SHR ? a >> by
                                : lossless(v->op, v->relation, a, b);
  if (v->sat) r = clamped(r, bits, v->d_signed);
  uint32_t t = (uint32_t)r;
  bool less = v->d_signed ? (int32_t)t < (int32_t)c : t < c;
  switch (v->second) {
  case PLUS: return t + c;
  case LEAST: return less ? t : c;
  case MOST: return less ? c : t;
  case ALONE: break;
  }
  if (!v->d_part) return t;
  uint32_t mask = (uint32_t)((1ull << bits) - 1) << part_shift(v->d_part);
  return (c & ~mask) | (t << part_shift(v->d_part) & mask);
}

HANDLER(video_scalar)
{
  const u32_row *a = SIM_ROW(u32_row, i->a), *b = SIM_ROW(u32_row, i->b), *c = SIM_ROW(u32_row, i->c);
  u32_row *d = SIM_ROW(u32_row, i->d);
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    d[l] = scalar_one(i->extra, a[l], b[l], c[l]);
  }
}

static void lower_scalar(struct lowering *l)
{
  static const struct { uint16_t op; enum video video; } ops[] = {
      {PTX_VADD, V_ADD}, {PTX_VSUB, V_SUB}, {PTX_VABSDIFF, V_ABSDIFF}, {PTX_VMIN, V_MIN},
      {PTX_VMAX, V_MAX}, {PTX_VSHL, V_SHL}, {PTX_VSHR, V_SHR}, {PTX_VMAD, V_MAD}, {PTX_VSET, V_SET}};
  static const uint16_t relations[] = {PTX_M_EQ, PTX_M_NE, PTX_M_LT, PTX_M_LE, PTX_M_GT, PTX_M_GE};
  const struct ptx_inst *in = l->in;
  const struct ptx_operand *o = in->operands;
  struct sim_inst *s = l->out;
  struct scalar *v = calloc(1, sizeof *v);
  if (!v) abort();
  s->extra = v;
  for (unsigned k = 0; k < sizeof ops / sizeof *ops; k++)
    if (ops[k].op == in->op) v->op = ops[k].video;
  for (unsigned k = 0; k < 6; k++)
    if (ptx_has(in, (enum ptx_mod)relations[k])) v->relation = relations[k];
  unsigned first = v->op == V_SET ? 0 : 1;
  v->d_signed = first && in->types[0] == PTX_T_S32;
  v->a_signed = in->types[first] == PTX_T_S32;
  v->b_signed = in->types[first + 1] == PTX_T_S32;
  v->d_part = o[0].part;
  v->a_part = o[1].part;
  v->b_part = o[2].part;
  v->sat = ptx_has(in, PTX_M_SAT);
  v->wrap = ptx_has(in, PTX_M_WRAP);
  v->plus_one = ptx_has(in, PTX_M_PO);
  v->scale = ptx_has(in, PTX_M_SHR7) ? 7 : ptx_has(in, PTX_M_SHR15) ? 15 : 0;
  v->second = v->op == V_MAD             ? ALONE
              : ptx_has(in, PTX_M_ADD) ? PLUS
              : ptx_has(in, PTX_M_MIN) ? LEAST : ptx_has(in, PTX_M_MAX) ? MOST : ALONE;
  bool takes_c = v->op == V_MAD || v->second != ALONE || v->d_part;
  if (takes_c != (in->noperands == 4)) {
    lower_refuse(l, takes_c ? "a third source is missing" : "it has no use for a third source");
    return;
  }
  s->d = lower_dest(l, &o[0], 32);
  s->a = lower_source(l, &o[1], 32);
  s->b = lower_source(l, &o[2], 32);
  s->c = takes_c ? lower_source(l, &o[3], 32) : lower_const(l, 0, 32);
  s->run = video_scalar;
}

const struct sim_form sim_forms_video[] = {
    FORM_ANY(VADD, lower_scalar), FORM_ANY(VSUB, lower_scalar), FORM_ANY(VABSDIFF, lower_scalar),
    FORM_ANY(VMIN, lower_scalar), FORM_ANY(VMAX, lower_scalar), FORM_ANY(VSHL, lower_scalar),
    FORM_ANY(VSHR, lower_scalar), FORM_ANY(VMAD, lower_scalar), FORM_ANY(VSET, lower_scalar),
#define PACKED(op)                                                                             \
  FORM_TYPE(op, U8X4, lower_packed), FORM_TYPE(op, S8X4, lower_packed),                         \
      FORM_TYPE(op, U16X2, lower_packed), FORM_TYPE(op, S16X2, lower_packed)
    PACKED(ADD), PACKED(SUB), PACKED(MIN), PACKED(MAX),
    FORM_ANY(VADD2, lower_video),  FORM_ANY(VSUB2, lower_video),  FORM_ANY(VAVRG2, lower_video),
    FORM_ANY(VABSDIFF2, lower_video), FORM_ANY(VMIN2, lower_video), FORM_ANY(VMAX2, lower_video),
    FORM_ANY(VSET2, lower_video),  FORM_ANY(VADD4, lower_video),  FORM_ANY(VSUB4, lower_video),
    FORM_ANY(VAVRG4, lower_video), FORM_ANY(VABSDIFF4, lower_video), FORM_ANY(VMIN4, lower_video),
    FORM_ANY(VMAX4, lower_video),  FORM_ANY(VSET4, lower_video),
    {.op = PTX_OPS},
};
