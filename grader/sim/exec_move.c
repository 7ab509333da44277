/* mov (with packing, unpacking and addresses), cvta, isspacep, and special registers that are read
 * at run time. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"

OP1(mov_32, u32, u32, a)
OP1(mov_64, u64, u64, a)
HANDLER(mov_pred) { row_set_pred(w, i->d, exec, *SIM_ROW(u32_row, i->a) ^ (uint32_t)i->imm); }
HANDLER(mov_128)
{
  u64_row *d = SIM_ROW(u64_row, i->d);
  const u64_row *a = SIM_ROW(u64_row, i->a);
  for (int l = 0; l < 2 * SIM_LANES; l++) d[l] = exec >> (l / 2) & 1 ? a[l] : d[l];
}

/* The address of a variable of the running frame: local_base + imm, generic when small[0]. */
HANDLER(mov_local)
{
  uint64_t at = w->frame->local_base + i->imm;
  if (i->small[1] == 64) {
    u64_row *d_ = SIM_ROW(u64_row, i->d);
    LANES_OF(u64, uint64_t r = at)
  } else {
    u32_row *d_ = SIM_ROW(u32_row, i->d);
    LANES_OF(u32, uint32_t r = (uint32_t)at)
  }
}

/* ---- packing --------------------------------------------------------------------------------------- */

/* d = {a0, a1, ...}: elements of small[0] bits, small[1] of them, d of small[2] bits (up to 128). */
HANDLER(mov_pack)
{
  unsigned each = i->small[0] / 8, n = i->small[1], whole = i->small[2] / 8;
  unsigned from = each > 4 ? 8 : 4, to = whole > 8 ? 16 : whole > 4 ? 8 : 4;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint8_t v[16] = {0};
    for (unsigned k = 0; k < n; k++)
      memcpy(v + k * each, SIM_ROW(u8_row, i->more[k]) + l * from, each);
    memcpy(SIM_ROW(u8_row, i->d) + l * to, v, to);
  }
}

HANDLER(mov_unpack)
{
  unsigned each = i->small[0] / 8, n = i->small[1], whole = i->small[2] / 8;
  unsigned to = each > 4 ? 8 : 4, from = whole > 8 ? 16 : whole > 4 ? 8 : 4;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint8_t v[16] = {0};
    memcpy(v, SIM_ROW(u8_row, i->a) + l * from, from);
    for (unsigned k = 0; k < n; k++) {
      uint64_t e = 0;
      memcpy(&e, v + k * each, each);
      memcpy(SIM_ROW(u8_row, i->more[k]) + l * to, &e, to);
    }
  }
}

/* ---- registers read at run time ------------------------------------------------------------------- */

/* Time is counted in instructions of the warp: the same on every run. */
HANDLER(mov_clock)
{
  uint64_t now = w->clock += 16;
  now += w->steps;
  if (i->small[0] == 64) {
    u64_row *d_ = SIM_ROW(u64_row, i->d);
    LANES_OF(u64, uint64_t r = now)
  } else {
    u32_row *d_ = SIM_ROW(u32_row, i->d);
    LANES_OF(u32, uint32_t r = (uint32_t)(now >> i->imm))
  }
}
HANDLER(mov_one)
{
  u64_row *d_ = SIM_ROW(u64_row, i->d);
  LANES_OF(u64, uint64_t r = i->imm)
}

HANDLER(activemask)
{
  u32_row *d_ = SIM_ROW(u32_row, i->d);
  LANES_OF(u32, uint32_t r = exec)
}

static bool lower_special(struct lowering *l, const struct ptx_operand *o)
{
  struct sim_inst *s = l->out;
  switch (o->imm) {
  case PTX_S_CLOCK: case PTX_S_GLOBALTIMER_LO: s->imm = 0; s->small[0] = 32; break;
  case PTX_S_CLOCK_HI: case PTX_S_GLOBALTIMER_HI: s->imm = 32; s->small[0] = 32; break;
  case PTX_S_CLOCK64: case PTX_S_GLOBALTIMER: s->small[0] = 64; break;
  case PTX_S_GRIDID: case PTX_S_CURRENT_GRAPH_EXEC:   /* no graph: 0 */
    s->imm = o->imm == PTX_S_GRIDID;
    s->d = lower_dest(l, &l->in->operands[0], 64);
    s->run = mov_one;
    return true;
  case PTX_S_IS_EXPLICIT_CLUSTER:
    s->d = lower_dest(l, &l->in->operands[0], 1);
    s->a = lower_const(l, l->func->ptx->cluster[0] != 0, 1);
    s->run = mov_pred;
    return true;
  default: return false;
  }
  s->d = lower_dest(l, &l->in->operands[0], s->small[0]);
  s->run = mov_clock;
  return true;
}

static void lower_vector(struct lowering *l, const struct ptx_operand *vector,
                         const struct ptx_operand *scalar, bool pack)
{
  struct sim_inst *s = l->out;
  unsigned whole = lower_type_bits(l, 0);
  if (vector->count < 2 || vector->count > 8 || whole % vector->count) {
    lower_refuse(l, "a vector of that length does not fit the type");
    return;
  }
  unsigned each = whole / vector->count;
  s->small[0] = (uint8_t)each;
  s->small[1] = (uint8_t)vector->count;
  s->small[2] = (uint8_t)whole;
  for (unsigned k = 0; k < vector->count; k++) {
    const struct ptx_operand *e = lower_element(l, vector, k);
    s->more[k] = pack ? lower_source(l, e, each) : lower_dest(l, e, each);
  }
  if (pack) s->d = lower_dest(l, scalar, whole);
  else s->a = lower_source(l, scalar, whole);
  s->run = pack ? mov_pack : mov_unpack;
}

static bool frame_symbol(const struct lowering *l, const struct ptx_operand *o)
{
  if (o->kind != PTX_O_SYMBOL) return false;
  if (o->symbol->space == PTX_LOCAL) return true;
  return o->symbol->space == PTX_PARAM && !lower_entry_param(l, o->symbol);
}

static void lower_mov(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  const struct ptx_operand *d = &in->operands[0], *a = &in->operands[1];
  struct sim_inst *s = l->out;
  unsigned bits = lower_type_bits(l, 0);
  if (d->kind == PTX_O_VECTOR && a->kind == PTX_O_VECTOR) {
    lower_refuse(l, "a vector on both sides");
  } else if (d->kind == PTX_O_VECTOR) {
    lower_vector(l, d, a, false);
  } else if (a->kind == PTX_O_VECTOR) {
    lower_vector(l, a, d, true);
  } else if (a->kind == PTX_O_SPECIAL && lower_special(l, a)) {
    return;
  } else if (frame_symbol(l, a)) {
    s->imm = a->symbol->offset + a->imm;
    s->small[1] = (uint8_t)bits;
    s->d = lower_dest(l, d, bits);
    s->run = mov_local;
  } else if (in->types[0] == PTX_T_PRED) {
    uint32_t flip;
    s->a = lower_pred(l, a, &flip);
    s->imm = flip;
    s->d = lower_dest(l, d, 1);
    s->run = mov_pred;
  } else {
    s->d = lower_dest(l, d, bits);
    s->a = lower_source(l, a, bits);
    s->run = bits > 64 ? mov_128 : bits > 32 ? mov_64 : mov_32;
  }
}

/* ---- address spaces ------------------------------------------------------------------------------ */

OP2(add_window, u64, u64, u64, a + b)
OP2(sub_window, u64, u64, u64, a - b)

static enum ptx_space named_space(const struct ptx_inst *in)
{
  if (ptx_has(in, PTX_M_SHARED) || ptx_has(in, PTX_M_SHARED_CTA) || ptx_has(in, PTX_M_SHARED_CLUSTER))
    return PTX_SHARED;
  if (ptx_has(in, PTX_M_LOCAL)) return PTX_LOCAL;
  if (ptx_has(in, PTX_M_PARAM) || ptx_has(in, PTX_M_PARAM_ENTRY)) return PTX_PARAM;
  if (ptx_has(in, PTX_M_CONST)) return PTX_CONST;
  return PTX_GLOBAL;
}

/* Parameters of an entry have their generic address from the start; those of a function are local. */
static uint64_t window_of(const struct lowering *l, enum ptx_space s)
{
  if (s == PTX_SHARED) return SIM_SHARED_WINDOW;
  if (s == PTX_LOCAL || (s == PTX_PARAM && !l->func->ptx->is_entry)) return SIM_LOCAL_WINDOW;
  return 0;
}

static void lower_cvta(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  const struct ptx_operand *a = &in->operands[1];
  struct sim_inst *s = l->out;
  uint64_t window = window_of(l, named_space(in));
  if (lower_type_bits(l, 0) != 64) {
    lower_refuse(l, "addresses of 32 bits are not simulated");
    return;
  }
  s->d = lower_dest(l, &in->operands[0], 64);
  if (frame_symbol(l, a)) {
    s->imm = a->symbol->offset + a->imm + window;
    s->small[1] = 64;
    s->run = mov_local;
    return;
  }
  s->a = lower_source(l, a, 64);
  s->b = lower_const(l, window, 64);
  s->run = !window ? mov_64 : ptx_has(in, PTX_M_TO) ? sub_window : add_window;
}

HANDLER(isspacep)
{
  const u64_row *a = SIM_ROW(u64_row, i->a);
  uint32_t set = 0;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    bool in = false;
    switch (i->small[0]) {
    case PTX_SHARED: in = a[l] - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES; break;
    case PTX_LOCAL: in = a[l] - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES; break;
    case PTX_PARAM: in = a[l] - SIM_PARAM_WINDOW < SIM_WINDOW_BYTES; break;
    default: {
      const struct sim_object *o = memory_find(w->runner->sim, a[l]);
      bool constant = o && o->module && o->read_only;
      in = a[l] >= SIM_GLOBAL_WINDOW && constant == (i->small[0] == PTX_CONST);
    }
    }
    set |= (uint32_t)in << l;
  }
  row_set_pred(w, i->d, exec, set);
}

static void lower_isspacep(struct lowering *l)
{
  l->out->small[0] = (uint8_t)named_space(l->in);
  l->out->d = lower_dest(l, &l->in->operands[0], 1);
  l->out->a = lower_source(l, &l->in->operands[1], 64);
  l->out->run = isspacep;
}

static void lower_activemask(struct lowering *l)
{
  l->out->d = lower_dest(l, &l->in->operands[0], 32);
  l->out->run = activemask;
}

const struct sim_form sim_forms_move[] = {
    FORM_ANY(MOV, lower_mov),
    FORM_ANY(CVTA, lower_cvta),
    FORM_ANY(ISSPACEP, lower_isspacep),
    FORM_ANY(ACTIVEMASK, lower_activemask),
    {.op = PTX_OPS},
};
