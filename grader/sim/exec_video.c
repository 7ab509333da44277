/* The video instructions on two halves or four bytes: what __vabsdiffu4, __vsadu4 and their like
 * compile to where the hardware has no other form.
 *
 * Each element of a and of b is taken as its type, the operation done without loss, and the result
 * wrapped (or with .sat clamped) into the result's type; with .add the elements' results are added
 * up, and c to them. */
#include <stdlib.h>

#include "rows.h"

enum video { V_ADD, V_SUB, V_AVRG, V_ABSDIFF, V_MIN, V_MAX, V_SET };

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

static int32_t work(enum video op, unsigned relation, int32_t a, int32_t b)
{
  int32_t sum = a + b;
  switch (op) {
  case V_ADD: return sum;
  case V_SUB: return a - b;
  case V_AVRG: return (sum + (sum >= 0)) >> 1;   /* rounds halves away from zero */
  case V_ABSDIFF: return a < b ? b - a : a - b;
  case V_MIN: return a < b ? a : b;
  case V_MAX: return a > b ? a : b;
  case V_SET: break;
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
      int32_t r = work(op, (unsigned)i->imm, element(a[l], k, bits, i->flags & 1),
                       element(b[l], k, bits, i->flags & 2));
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

const struct sim_form sim_forms_video[] = {
    FORM_ANY(VADD2, lower_video),  FORM_ANY(VSUB2, lower_video),  FORM_ANY(VAVRG2, lower_video),
    FORM_ANY(VABSDIFF2, lower_video), FORM_ANY(VMIN2, lower_video), FORM_ANY(VMAX2, lower_video),
    FORM_ANY(VSET2, lower_video),  FORM_ANY(VADD4, lower_video),  FORM_ANY(VSUB4, lower_video),
    FORM_ANY(VAVRG4, lower_video), FORM_ANY(VABSDIFF4, lower_video), FORM_ANY(VMIN4, lower_video),
    FORM_ANY(VMAX4, lower_video),  FORM_ANY(VSET4, lower_video),
    {.op = PTX_OPS},
};
