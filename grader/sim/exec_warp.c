/* What lanes do together: shuffles, votes, matches, reductions, __syncwarp.  Inputs of all lanes are
 * gathered before any result is written. */
#include <math.h>
#include <string.h>

#include "rows.h"

/* ---- shfl ------------------------------------------------------------------------------------- */

enum shuffle { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };

/* Where lane reads from, and whether that is inside its segment.  c: clamp in bits 0-4, the segment
 * mask in bits 8-12. */
static inline unsigned source(enum shuffle mode, unsigned lane, uint32_t b, uint32_t c, bool *in)
{
  uint32_t seg = c >> 8 & 31, clamp = c & 31;
  uint32_t last = (lane & seg) | (clamp & ~seg), first = lane & seg;
  b &= 31;
  int32_t j = 0;
  switch (mode) {
  case SHFL_UP: j = (int32_t)lane - (int32_t)b; *in = j >= (int32_t)last; break;
  case SHFL_DOWN: j = (int32_t)(lane + b); *in = j <= (int32_t)last; break;
  case SHFL_BFLY: j = (int32_t)(lane ^ b); *in = j <= (int32_t)last; break;
  default: j = (int32_t)(first | (b & ~seg)); *in = j <= (int32_t)last; break;
  }
  return *in ? (unsigned)j : lane;
}

/* A lane that is not in the group has no value to give: one's own is taken, as the result is
 * undefined. */
static void shuffle(struct warp *w, const struct sim_inst *i, uint32_t lanes)
{
  const u32_row *a = SIM_ROW(u32_row, i->a), *b = SIM_ROW(u32_row, i->b);
  const u32_row *c = SIM_ROW(u32_row, i->c);
  uint32_t from[SIM_LANES], inside = 0, values[SIM_LANES];
  enum shuffle mode = (enum shuffle)i->small[0];
  memcpy(values, a, sizeof values);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    bool in;
    unsigned j = source(mode, l, b[l], c[l], &in);
    from[l] = lanes >> j & 1 ? j : l;
    inside |= (uint32_t)in << l;
  }
  u32_row *d_ = SIM_ROW(u32_row, i->d);
  if (lanes == SIM_FULL) {
    for (int l = 0; l < SIM_LANES; l++) d_[l] = values[from[l]];
  } else {
    for (uint32_t m = lanes; m; m &= m - 1) {
      unsigned l = first_lane(m);
      d_[l] = values[from[l]];
    }
  }
  if (i->small[1]) row_set_pred(w, i->more[0], lanes, inside);
}

/* Runs `run` for each set of lanes whose members have all come. */
#define MEET(name, members, run)                                                               \
  HANDLER(name)                                                                                \
  {                                                                                            \
    const u32_row *m_ = (members);                                                              \
    uint32_t member = 0, now;                                                                   \
    uint32_t ahead = exec;                                                                      \
    while ((now = warp_meet(w, i, &ahead, m_, &member)) != 0) run(w, i, now);                     \
    (void)member;                                                                              \
  }
MEET(shfl_sync, SIM_ROW(u32_row, i->e), shuffle)
HANDLER(shfl_old) { shuffle(w, i, exec); }

static void lower_shfl(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  const struct ptx_operand *d = &in->operands[0];
  bool sync = ptx_has(in, PTX_M_SYNC);
  s->small[0] = ptx_has(in, PTX_M_UP)     ? SHFL_UP
                : ptx_has(in, PTX_M_DOWN) ? SHFL_DOWN
                : ptx_has(in, PTX_M_BFLY) ? SHFL_BFLY : SHFL_IDX;
  s->d = lower_dest(l, d, 32);
  s->small[1] = d->reg2 != PTX_NOREG && d->kind == PTX_O_REG;
  if (s->small[1]) s->more[0] = l->func->regs[d->reg2];
  s->a = lower_source(l, &in->operands[1], 32);
  s->b = lower_source(l, &in->operands[2], 32);
  s->c = lower_source(l, &in->operands[3], 32);
  if (sync) s->e = lower_source(l, &in->operands[4], 32);
  s->run = sync ? shfl_sync : shfl_old;
}

/* ---- vote --------------------------------------------------------------------------------------- */

enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static void vote(struct warp *w, const struct sim_inst *i, uint32_t lanes)
{
  uint32_t p = (*SIM_ROW(u32_row, i->a) ^ (uint32_t)i->imm) & lanes;
  if (i->small[0] == VOTE_BALLOT) {
    u32_row *d = SIM_ROW(u32_row, i->d);
    for (uint32_t m = lanes; m; m &= m - 1) d[first_lane(m)] = p;
    return;
  }
  bool yes = i->small[0] == VOTE_ALL   ? p == lanes
             : i->small[0] == VOTE_ANY ? p != 0 : p == 0 || p == lanes;
  row_set_pred(w, i->d, lanes, yes ? SIM_FULL : 0);
}
MEET(vote_sync, SIM_ROW(u32_row, i->b), vote)
HANDLER(vote_old) { vote(w, i, exec); }

static void lower_vote(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  bool sync = ptx_has(in, PTX_M_SYNC), ballot = ptx_has(in, PTX_M_BALLOT);
  uint32_t flip;
  s->small[0] = ballot                    ? VOTE_BALLOT
                : ptx_has(in, PTX_M_ALL) ? VOTE_ALL
                : ptx_has(in, PTX_M_ANY) ? VOTE_ANY : VOTE_UNI;
  s->d = lower_dest(l, &in->operands[0], ballot ? 32 : 1);
  s->a = lower_pred(l, &in->operands[1], &flip);
  s->imm = flip;
  if (sync) s->b = lower_source(l, &in->operands[2], 32);
  s->run = sync ? vote_sync : vote_old;
}

/* ---- match -------------------------------------------------------------------------------------- */

static uint64_t value_of(struct warp *w, const struct sim_inst *i, unsigned l)
{
  return i->small[0] == 64 ? SIM_ROW(u64_row, i->a)[l] : SIM_ROW(u32_row, i->a)[l];
}

static void match(struct warp *w, const struct sim_inst *i, uint32_t lanes)
{
  uint64_t v[SIM_LANES];
  u32_row *d = SIM_ROW(u32_row, i->d);
  bool same = true;
  for (unsigned l = 0; l < SIM_LANES; l++) v[l] = value_of(w, i, l);
  for (uint32_t m = lanes; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t peers = 0;
    for (uint32_t n = lanes; n; n &= n - 1)
      if (v[first_lane(n)] == v[l]) peers |= 1u << first_lane(n);
    same &= peers == lanes;
    if (i->small[1]) d[l] = peers;
  }
  if (i->small[1]) return;   /* .any */
  for (uint32_t m = lanes; m; m &= m - 1) d[first_lane(m)] = same ? lanes : 0;
  if (i->small[2]) row_set_pred(w, i->more[0], lanes, same ? SIM_FULL : 0);
}
MEET(match_sync, SIM_ROW(u32_row, i->b), match)

static void lower_match(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  const struct ptx_operand *d = &in->operands[0];
  s->small[0] = (uint8_t)lower_type_bits(l, 0);
  s->small[1] = ptx_has(in, PTX_M_ANY);
  s->small[2] = d->kind == PTX_O_REG && d->reg2 != PTX_NOREG;
  if (s->small[2]) s->more[0] = l->func->regs[d->reg2];
  s->d = lower_dest(l, d, 32);
  s->a = lower_source(l, &in->operands[1], s->small[0]);
  s->b = lower_source(l, &in->operands[2], 32);
  s->run = match_sync;
}

/* ---- redux ---------------------------------------------------------------------------------------- */

enum redux { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };

static void redux(struct warp *w, const struct sim_inst *i, uint32_t lanes)
{
  const u32_row *a = SIM_ROW(u32_row, i->a);
  u32_row *d = SIM_ROW(u32_row, i->d);
  uint32_t r = a[first_lane(lanes)];
  bool is_signed = i->small[1];
  for (uint32_t m = lanes & (lanes - 1); m; m &= m - 1) {
    uint32_t v = a[first_lane(m)];
    bool less = is_signed ? (int32_t)v < (int32_t)r : v < r;
    switch (i->small[0]) {
    case REDUX_ADD: r += v; break;
    case REDUX_MIN: r = less ? v : r; break;
    case REDUX_MAX: r = less || v == r ? r : v; break;
    case REDUX_AND: r &= v; break;
    case REDUX_OR: r |= v; break;
    default: r ^= v; break;
    }
  }
  for (uint32_t m = lanes; m; m &= m - 1) d[first_lane(m)] = r;
}
MEET(redux_sync, SIM_ROW(u32_row, i->b), redux)

/* min and max of floats.  small[0]: max; small[1]: 1 .abs | 2 .NaN.  -0 is less than +0. */
static void redux_float(struct warp *w, const struct sim_inst *i, uint32_t lanes)
{
  const f32_row *a = SIM_ROW(f32_row, i->a);
  u32_row *d = SIM_ROW(u32_row, i->d);
  float r = NAN;
  bool poisoned = false;
  for (uint32_t m = lanes; m; m &= m - 1) {
    float v = a[first_lane(m)];
    if (i->small[1] & 1) v = fabsf(v);
    if (v != v) poisoned = i->small[1] & 2;
    else if (r != r) r = v;
    else if (((v < r) || (v == r && signbit(v))) != (bool)i->small[0]) r = v;
    if (poisoned) break;
  }
  uint32_t bits = 0x7fffffffu;
  if (!poisoned && r == r) memcpy(&bits, &r, 4);
  for (uint32_t m = lanes; m; m &= m - 1) d[first_lane(m)] = bits;
}
MEET(redux_float_sync, SIM_ROW(u32_row, i->b), redux_float)

static void lower_redux(struct lowering *l)
{
  static const uint16_t ops[] = {PTX_M_ADD, PTX_M_MIN, PTX_M_MAX, PTX_M_AND, PTX_M_OR, PTX_M_XOR};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  bool is_float = in->types[0] == PTX_T_F32;
  for (unsigned k = 0; k < 6; k++)
    if (ptx_has(in, (enum ptx_mod)ops[k])) s->small[0] = (uint8_t)k;
  s->small[1] = ptx_type_kind((enum ptx_type)in->types[0]) == PTX_SIGNED;
  if (is_float) {
    s->small[0] = ptx_has(in, PTX_M_MAX);
    s->small[1] = (uint8_t)(ptx_has(in, PTX_M_ABS) | ptx_has(in, PTX_M_NAN_PROPAGATE) << 1);
  }
  s->d = lower_dest(l, &in->operands[0], 32);
  s->a = lower_source(l, &in->operands[1], 32);
  s->b = lower_source(l, &in->operands[2], 32);
  s->run = is_float ? redux_float_sync : redux_sync;
}

/* ---- elect ---------------------------------------------------------------------------------------- */

static void elect(struct warp *w, const struct sim_inst *i, uint32_t lanes)
{
  unsigned leader = first_lane(lanes);
  if (i->small[1]) {
    u32_row *d = SIM_ROW(u32_row, i->d);
    for (uint32_t m = lanes; m; m &= m - 1) d[first_lane(m)] = leader;
  }
  if (i->small[2]) row_set_pred(w, i->more[0], lanes, 1u << leader);
}
MEET(elect_sync, SIM_ROW(u32_row, i->a), elect)

static void lower_elect(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  const struct ptx_operand *d = &in->operands[0];
  s->small[1] = d->kind == PTX_O_REG;
  s->small[2] = d->reg2 != PTX_NOREG;
  s->d = lower_dest(l, d, 32);
  if (s->small[2]) s->more[0] = l->func->regs[d->reg2];
  s->a = lower_source(l, &in->operands[1], 32);
  s->run = elect_sync;
}

/* ---- bar.warp.sync ------------------------------------------------------------------------------------ */

/* Lanes may meet at different bar.warp.sync instructions. */
HANDLER(bar_warp)
{
  const u32_row *members = SIM_ROW(u32_row, i->a);
  while (exec) {
    unsigned lane = first_lane(exec);
    uint32_t mask = members[lane], same = 0, here;
    for (uint32_t m = exec; m; m &= m - 1)
      if (members[first_lane(m)] == mask) same |= 1u << first_lane(m);
    exec &= ~same;
    if (same & ~mask) {
      lane = first_lane(same & ~mask);
      fault_note(w, i, lane, SIM_FAULT_BARRIER, true,
                 "lane %u runs __syncwarp with the mask 0x%08x, in which it is not named", lane,
                 mask);
      return;
    }
    here = same;
    for (unsigned g = 0; g < w->ngroups; g++)
      if (w->groups[g].state == GROUP_WARP_BARRIER && w->groups[g].barrier == mask)
        here |= w->groups[g].mask;
    if (mask & w->live & ~here) {
      warp_park(w, same, GROUP_WARP_BARRIER, w->pc, i)->barrier = mask;
      continue;
    }
    bool others = false;
    for (unsigned g = 0; g < w->ngroups; g++)
      if (w->groups[g].state == GROUP_WARP_BARRIER && w->groups[g].barrier == mask) {
        w->groups[g].state = GROUP_RUN;
        others = true;
      }
    warp_order(w, here);
    if (others) warp_reschedule(w);
  }
}

static void lower_bar_warp(struct lowering *l)
{
  l->out->a = lower_source(l, &l->in->operands[0], 32);
  l->out->run = bar_warp;
}

const struct sim_form sim_forms_warp[] = {
    FORM_ANY(SHFL, lower_shfl),
    FORM_ANY(VOTE, lower_vote),
    FORM_ANY(MATCH, lower_match),
    FORM_ANY(REDUX, lower_redux),
    FORM_ANY(ELECT, lower_elect),
    FORM_ANY(BAR_WARP, lower_bar_warp),
    {.op = PTX_OPS},
};
