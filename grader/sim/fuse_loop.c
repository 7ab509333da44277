/* Which loops ptxas unrolls itself, and how.
 *
 * Found by probing ptxas 13.0 -O3 for sm_90.  A loop is unrolled when it holds no other loop, is left
 * in one place only, at its end, and counts: a register steps by a constant and is compared, after the
 * step, with something that the loop does not change.  "nounroll" forbids it, and so do fences, calls,
 * what becomes a call (correctly rounded division and square root), leaving the kernel from within, a
 * barrier in a loop of more than one block, and where lanes may take different numbers of passes all
 * that the lanes of a warp do together: barriers, shuffles, votes, atomics.
 *
 * A loop that asks at its top, "@p bra out" and at the end "bra top", is turned round first, so that it
 * asks at its end; but with "@!p bra out" it is not unrolled then.  "@p bra out; bra top" at the end of a
 * loop stays as it is.
 *
 * What a pass costs is counted in instructions, memory counts twice.  The number of passes not known:
 * four at a time, then two, then one, when a pass costs no more than 22, 5 more for each shared load
 * (up to 100), 51 where it reads global memory.  Known: all of them, or where that is too much, as many
 * at a time as 350 allows, those left over going first; at least 4, and of one block only.
 */
#include "fuse.h"
#include <stdlib.h>
#include <string.h>

enum {
  PASS_COST = 22, SHARED_COST = 5, GLOBAL_COST = 51, MOST_COST = 100, NEAR = 2,
  PART_COST = 350, FULL_COST = 1300, LARGE_PASS = 44, FULL_LARGE = 500, NEVER_FULL = 2700, TRIPS_MOST = 1 << 20
};

struct body {                   /* what a pass is made of */
  uint32_t cost, steps;         /* in instructions; those of them that only count */
  uint32_t shared_loads;
  uint32_t blocks;
  bool global, barrier, forbidden;
  bool together;                /* something that the lanes of a warp do together */
  bool rough;                   /* instructions whose cost is not known well */
};

static bool is_memory(const struct ptx_inst *i)
{
  return i->op == PTX_LD || i->op == PTX_ST || i->op == PTX_LDU || i->op == PTX_LDMATRIX ||
         i->op == PTX_STMATRIX;
}

static bool is_together(const struct ptx_inst *i)
{
  switch (i->op) {
  case PTX_BAR: case PTX_BARRIER: case PTX_BAR_WARP: case PTX_SHFL: case PTX_VOTE: case PTX_MATCH:
  case PTX_REDUX: case PTX_ACTIVEMASK: case PTX_ELECT: case PTX_LDMATRIX: case PTX_STMATRIX:
  case PTX_ATOM: case PTX_RED: case PTX_NANOSLEEP: case PTX_MMA: case PTX_MMA_SP: case PTX_MOVMATRIX:
  case PTX_WMMA_LOAD: case PTX_WMMA_STORE: case PTX_WMMA_MMA:
    return true;
  default:
    return i->op >= PTX_ST_ASYNC && i->op != PTX_BRA && i->op != PTX_CP_ASYNC;
  }
}

static void add_division(const struct ptx_inst *i, struct body *b)
{
  enum ptx_type type = (enum ptx_type)i->types[0];
  b->rough = true;
  if (ptx_type_kind(type) == PTX_FLOAT) {
    bool quick = ptx_has(i, PTX_M_APPROX) || ptx_has(i, PTX_M_FULL);
    if (!quick) b->forbidden = true;
    b->cost += 8;
  } else if (ptx_type_bits(type) > 32) {
    b->forbidden = true;
  } else {
    b->cost += (i->op == PTX_REM ? 18 : 21) + (ptx_type_kind(type) == PTX_SIGNED ? 6 : 0);
  }
}

/* A plain copy is free, and so is what a copy makes of a constant. */
static bool is_free(const struct ptx_inst *i)
{
  return i->op == PTX_MOV && (i->operands[1].kind == PTX_O_REG || i->operands[1].kind == PTX_O_IMM ||
                              i->operands[1].kind == PTX_O_SYMBOL);
}

static void add_cost(const struct fuse *z, uint32_t inst, struct body *b)
{
  const struct ptx_inst *i = &z->f->insts[inst];
  bool exact = !ptx_has(i, PTX_M_APPROX) && !ptx_has(i, PTX_M_FULL);
  if (!fuse_needed(z, inst)) return;
  if (i->guard != PTX_NOREG && i->op != PTX_BRA) b->cost++;
  b->together |= is_together(i);
  switch (i->op) {
  case PTX_MEMBAR: case PTX_FENCE: case PTX_FENCE_PROXY: case PTX_CALL: case PTX_RET: case PTX_EXIT:
  case PTX_TRAP: case PTX_BRX_IDX:
    b->forbidden = true;
    return;
  case PTX_BAR: case PTX_BARRIER: case PTX_BAR_WARP:
    b->barrier = true;
    b->cost++;
    return;
  case PTX_DIV: case PTX_REM:
    add_division(i, b);
    return;
  case PTX_SQRT: case PTX_RCP:
    if (exact) b->forbidden = true;
    b->cost += ptx_has(i, PTX_M_FTZ) ? 1 : 7;
    return;
  case PTX_EX2: case PTX_LG2: case PTX_RSQRT:
    b->cost += ptx_has(i, PTX_M_FTZ) ? 1 : 6;
    return;
  case PTX_ATOM: case PTX_RED:
    b->cost += 10;
    b->rough = true;
    if (i->space == PTX_GLOBAL && i->op == PTX_ATOM) b->global = true;
    return;
  default:
    break;
  }
  if (is_free(i)) return;
  b->cost += is_memory(i) ? 2 : 1;
  if (i->op >= PTX_ST_ASYNC && i->op != PTX_BRA) b->rough = true;   /* not probed one by one */
  if (i->op == PTX_LD && (i->space == PTX_GLOBAL || i->space == PTX_GENERIC)) b->global = true;
  if ((i->op == PTX_LD && i->space == PTX_SHARED) || i->op == PTX_LDMATRIX) b->shared_loads++;
  if (i->op == PTX_ADD && i->operands[1].kind == PTX_O_REG && i->operands[2].kind == PTX_O_IMM &&
      i->operands[0].reg == i->operands[1].reg)
    b->steps++;
}

/* ---- the shape of a loop ----------------------------------------------------------------------------- */

/* Whether the loop that h heads is one stretch of code, entered at its top and left at its end by one
 * branch; and which.  false: it isn't, and ptxas leaves it alone. */
static bool find_shape(const struct fuse *z, uint32_t h, struct fuse_loop *l, struct body *body)
{
  const struct fuse_block *blocks = z->blocks;
  uint32_t b = h, latch = FUSE_NONE;
  for (uint32_t p = 0; p < blocks[h].npred; p++) {
    uint32_t from = z->edges[blocks[h].pred + p];
    if (blocks[from].order == FUSE_NONE || !fuse_dominates(z, h, from)) continue;
    if (latch != FUSE_NONE) return false;
    latch = from;
    l->entry = p;
  }
  if (latch == FUSE_NONE || latch < h) return false;
  /* "@p bra out; bra top" at the end is another form, which ptxas leaves alone. */
  const struct ptx_inst *last = &z->f->insts[blocks[latch].end - 1];
  if (last->op != PTX_BRA || last->guard == PTX_NOREG) return false;
  for (b = h; b <= latch; b++) {
    if (blocks[b].loop != h || blocks[b].order == FUSE_NONE) return false;
    for (uint32_t s = 0; b != latch && s < blocks[b].nsucc; s++) {
      uint32_t to = z->edges[blocks[b].succ + s];
      if (to <= h || to > latch) return false;
    }
  }
  l->first = blocks[h].first;
  l->end = blocks[latch].end;
  l->header = h;
  for (b = h; b <= latch; b++) {
    body->blocks++;
    for (uint32_t i = blocks[b].first; i < blocks[b].end; i++) add_cost(z, i, body);
  }
  return true;
}

/* ---- what it counts ------------------------------------------------------------------------------------ */

static bool invariant(const struct fuse *z, const struct fuse_loop *l, uint32_t inst,
                      const struct ptx_operand *o)
{
  if (o->kind == PTX_O_IMM || o->kind == PTX_O_SPECIAL) return true;
  if (o->kind != PTX_O_REG || o->negated || o->reg2 != PTX_NOREG) return false;
  uint32_t v = fuse_read(z, inst, o->reg);
  if (v == FUSE_NONE) return false;
  bool written = z->values[v].inst != FUSE_NONE || z->values[v].args != FUSE_NONE;
  uint32_t at = z->blocks[z->values[v].block].first;
  return !written || at < l->first || at >= l->end;
}

/* v = phi + step, exactly: sums are kept mod 2^32, so 64 bits are followed by hand. */
static bool steps_exactly(const struct fuse *z, uint32_t v, uint32_t phi, int32_t step)
{
  for (int depth = 0; depth < 8; depth++) {
    const struct fuse_value *value = &z->values[v];
    if (value->inst == FUSE_NONE) return false;
    const struct ptx_inst *i = &z->f->insts[value->inst];
    const struct ptx_operand *from = &i->operands[1], *by = &i->operands[2];
    if (i->guard != PTX_NOREG || from->kind != PTX_O_REG) return false;
    uint32_t x = fuse_read(z, value->inst, from->reg);
    if (i->op == PTX_MOV) {
      v = x;
      continue;
    }
    return i->op == PTX_ADD && x == phi && by->kind == PTX_O_IMM &&
           (int64_t)by->imm == (int64_t)step;
  }
  return false;
}

static const struct { uint16_t mod, swapped, inverse, plain; } orders[] = {
  {PTX_M_LT, PTX_M_GT, PTX_M_GE, PTX_M_LT}, {PTX_M_GT, PTX_M_LT, PTX_M_LE, PTX_M_GT},
  {PTX_M_LE, PTX_M_GE, PTX_M_GT, PTX_M_LE}, {PTX_M_GE, PTX_M_LE, PTX_M_LT, PTX_M_GE},
  {PTX_M_LO, PTX_M_GT, PTX_M_GE, PTX_M_LT}, {PTX_M_HI, PTX_M_LT, PTX_M_LE, PTX_M_GT},
  {PTX_M_LS, PTX_M_GE, PTX_M_GT, PTX_M_LE}, {PTX_M_HS, PTX_M_LE, PTX_M_LT, PTX_M_GE},
  {PTX_M_NE, PTX_M_NE, PTX_M_EQ, PTX_M_NE}, {PTX_M_EQ, PTX_M_EQ, PTX_M_NE, PTX_M_EQ},
};
enum { ORDERS = sizeof orders / sizeof *orders };

/* The comparison that keeps the loop going, as LT, GT, LE, GE, NE or EQ of the counter with the
 * bound; PTX_MODS when it is none of them. */
static enum ptx_mod find_order(const struct ptx_inst *test, bool swap, bool invert)
{
  enum ptx_mod mod = PTX_MODS;
  for (int k = 0; k < ORDERS && mod == PTX_MODS; k++)
    if (ptx_has(test, (enum ptx_mod)orders[k].mod))
      mod = (enum ptx_mod)(swap ? orders[k].swapped : orders[k].plain);
  for (int k = 0; k < ORDERS && invert; k++)
    if (orders[k].mod == mod) return (enum ptx_mod)orders[k].inverse;
  return mod;
}

static bool find_counter(const struct fuse *z, struct fuse_loop *l)
{
  const struct ptx_inst *branch = &z->f->insts[l->end - 1];
  const struct fuse_block *h = &z->blocks[l->header];
  uint32_t p = fuse_read(z, l->end - 1, branch->guard);
  if (p == FUSE_NONE || z->values[p].inst == FUSE_NONE) return false;
  uint32_t at = z->values[p].inst;
  const struct ptx_inst *test = &z->f->insts[at];
  if (test->op != PTX_SETP || test->noperands != 3 || test->guard != PTX_NOREG || at < l->first ||
      at >= l->end || test->operands[0].reg != z->values[p].reg || test->ntypes != 1)
    return false;
  enum ptx_kind kind = ptx_type_kind((enum ptx_type)test->types[0]);
  l->bits = ptx_type_bits((enum ptx_type)test->types[0]);
  if ((kind != PTX_SIGNED && kind != PTX_UNSIGNED && kind != PTX_BITS) || l->bits < 32 ||
      l->bits > 64)
    return false;
  bool swap = invariant(z, l, at, &test->operands[1]);
  const struct ptx_operand *counter = &test->operands[swap ? 2 : 1];
  l->bound = &test->operands[swap ? 1 : 2];
  if (counter->kind != PTX_O_REG || !invariant(z, l, at, l->bound)) return false;
  l->order = find_order(test, swap, branch->guard_negated);
  if (l->order == PTX_MODS || l->order == PTX_M_EQ) return false;
  l->is_unsigned = kind != PTX_SIGNED || ptx_has(test, PTX_M_LO) || ptx_has(test, PTX_M_LS) ||
                   ptx_has(test, PTX_M_HI) || ptx_has(test, PTX_M_HS);
  l->compare = at;
  uint32_t v = fuse_read(z, at, counter->reg);
  for (uint32_t k = 0; k < h->nphi; k++) {
    const struct fuse_value *phi = &z->values[h->phi + k];
    uint32_t latch = z->args[phi->args + l->entry];
    if (latch == FUSE_NONE || v == FUSE_NONE || !z->values[v].defined || v == h->phi + k) continue;
    int32_t step = (int32_t)(z->values[v].constant - phi->constant);
    if (z->values[v].base != phi->base || z->values[latch].base != phi->base || step == 0 ||
        z->values[latch].constant != z->values[v].constant)
      continue;
    if (l->bits == 64 && (!steps_exactly(z, v, h->phi + k, step) ||
                          (latch != v && !steps_exactly(z, latch, h->phi + k, step))))
      continue;
    if (step < -(1 << 24) || step > 1 << 24) continue;
    if ((l->order == PTX_M_LT || l->order == PTX_M_LE) && step < 0) return false;
    if ((l->order == PTX_M_GT || l->order == PTX_M_GE) && step > 0) return false;
    l->counter = phi->reg;
    l->step = step;
    l->phi = h->phi + k;
    return true;
  }
  return false;
}

/* ---- how often it runs ------------------------------------------------------------------------------- */

static bool constant_of(const struct fuse *z, uint32_t v, uint32_t *k)
{
  if (v == FUSE_NONE || !z->values[v].defined || z->values[v].base != 0) return false;
  *k = z->values[v].constant;
  return true;
}

/* The number of passes, when it is known; else 0. */
static uint32_t find_trips(const struct fuse *z, const struct fuse_loop *l)
{
  const struct fuse_value *phi = &z->values[l->phi];
  uint32_t from = 0, bound = 0, k;
  bool any = false;
  for (uint32_t p = 0; p < z->blocks[l->header].npred; p++) {
    if (p == l->entry) continue;
    if (!constant_of(z, z->args[phi->args + p], &k) || (any && k != from)) return 0;
    from = k;
    any = true;
  }
  if (!any) return 0;
  if (l->bound->kind == PTX_O_IMM) bound = (uint32_t)l->bound->imm;
  else if (l->bound->kind != PTX_O_REG ||
           !constant_of(z, fuse_read(z, l->compare, l->bound->reg), &bound))
    return 0;
  if (l->bits == 64 && l->bound->kind == PTX_O_IMM &&
      (int64_t)l->bound->imm != (int64_t)(int32_t)bound)
    return 0;
  if ((l->bits == 64 || l->is_unsigned) && ((int32_t)from < 0 || (int32_t)bound < 0)) return 0;
  int64_t step = l->step, way = (int64_t)(int32_t)bound - (int32_t)from, trips;
  if (step < 0) step = -step, way = -way;
  switch (l->order) {
  case PTX_M_NE:
    if (way <= 0 || way % step) return 0;
    trips = way / step;
    break;
  case PTX_M_LT: case PTX_M_GT:
    trips = way <= 0 ? 1 : (way + step - 1) / step;
    break;
  default:
    trips = way < 0 ? 1 : way / step + 1;
  }
  if (l->is_unsigned && l->step < 0 && l->order != PTX_M_NE &&
      (int32_t)from + trips * l->step < 0)
    return 0;
  return trips > 0 && trips < TRIPS_MOST ? (uint32_t)trips : 0;
}

/* As many passes at a time as are not too much; those left over go first. */
static void plan_part(struct fuse_loop *l, uint32_t pass, uint32_t trips)
{
  uint32_t most = PART_COST / pass;
  for (uint32_t f = most; f >= 4; f--)
    if (f + trips % f <= most) {
      l->factor = f;
      l->before = trips % f;
      return;
    }
}

static void plan_known(struct fuse_loop *l, const struct body *b, uint32_t trips, bool flip)
{
  uint32_t pass = b->cost > b->steps + 2 ? b->cost - b->steps - 2 : 1;
  uint64_t all = (uint64_t)trips * pass;
  l->counted = true;
  l->unsure = trips > 1 && all > PART_COST && all < NEVER_FULL;
  l->whole = (all <= (pass < LARGE_PASS ? FULL_COST : FULL_LARGE)) != (flip && l->unsure);
  l->factor = trips;
  if (!l->whole) l->factor = 1;
  if (!l->whole && b->blocks == 1) plan_part(l, pass, trips);
}

static void plan_unknown(struct fuse_loop *l, const struct body *b, bool flip)
{
  uint32_t limit = PASS_COST + SHARED_COST * b->shared_loads;
  if (b->global && limit < GLOBAL_COST) limit = GLOBAL_COST;
  if (limit > MOST_COST) limit = MOST_COST;
  uint32_t near = b->rough ? b->cost / 4 : NEAR;
  l->unsure = b->cost + near > limit && b->cost < limit + near;
  if ((b->cost <= limit) != (flip && l->unsure)) l->factor = 4;
}

/* ---- loops that ask at their top ---------------------------------------------------------------- */

static bool find_turn(const struct fuse *z, uint32_t h, struct fuse_turn *t)
{
  const struct fuse_block *blocks = z->blocks, *b = &blocks[h];
  const struct ptx_inst *leave = &z->f->insts[b->end - 1];
  uint32_t latch = FUSE_NONE;
  if (leave->op != PTX_BRA || leave->guard == PTX_NOREG || b->nsucc != 2) return false;
  for (uint32_t p = 0; p < b->npred; p++) {
    uint32_t from = z->edges[b->pred + p];
    if (blocks[from].order == FUSE_NONE || !fuse_dominates(z, h, from)) continue;
    if (latch != FUSE_NONE) return false;
    latch = from;
  }
  if (latch == FUSE_NONE || latch <= h) return false;
  const struct ptx_inst *back = &z->f->insts[blocks[latch].end - 1];
  *t = (struct fuse_turn){b->first, b->end, blocks[latch].end};
  if (back->op != PTX_BRA || back->guard != PTX_NOREG || t->end - t->body < 2) return false;
  for (uint32_t k = h; k <= latch; k++) {
    if (blocks[k].loop != h || blocks[k].order == FUSE_NONE) return false;
    for (uint32_t s = 0; k != latch && s < blocks[k].nsucc; s++) {
      uint32_t to = z->edges[blocks[k].succ + s];
      bool within = to > h && to <= latch;
      if (within == (k == h && s == 0)) return false;   /* a branch's target comes first */
    }
  }
  return true;
}

void fuse_turns(struct fuse *z, fuse_each_turn *each, void *data)
{
  struct fuse_turn t;
  for (uint32_t h = 0; h < z->nblocks; h++)
    if (z->blocks[h].loop == h && find_turn(z, h, &t)) each(data, &t);
}

/* ---- which ----------------------------------------------------------------------------------------- */

/* With `flip`, what is unsure is decided the other way. */
void fuse_unroll(struct fuse *z, bool flip, fuse_each_loop *each, void *data)
{
  uint8_t *outer = calloc(z->nblocks + 1, 1);
  if (!outer) {
    z->failed = "out of memory";
    return;
  }
  for (uint32_t b = 0; b < z->nblocks; b++)
    if (z->blocks[b].loop == b && z->blocks[b].outer != FUSE_NONE) outer[z->blocks[b].outer] = 1;
  for (uint32_t h = 0; h < z->nblocks; h++) {
    if (z->blocks[h].loop != h || outer[h]) continue;
    if (z->f->insts[z->blocks[h].first].nounroll) continue;
    struct fuse_loop l = {.factor = 1};
    struct body body = {0};
    if (!find_shape(z, h, &l, &body) || body.forbidden || (body.barrier && body.blocks > 1)) continue;
    if (!find_counter(z, &l)) continue;
    uint32_t trips = find_trips(z, &l);
    const struct fuse_value *bound = NULL;
    if (l.bound->kind == PTX_O_REG) bound = &z->values[fuse_read(z, l.compare, l.bound->reg)];
    l.branches = body.blocks > 1;
    l.divergent = !trips && (z->values[l.phi].divergent || (bound && bound->divergent) ||
                             l.bound->kind == PTX_O_SPECIAL);
    if (l.divergent && body.together) continue;
    if (trips) plan_known(&l, &body, trips, flip);
    else plan_unknown(&l, &body, flip);
    l.unsure |= l.divergent && body.blocks > 1;   /* not all of these are; why is not known */
    if (l.factor > 1 || l.whole || l.unsure) each(data, &l);
  }
  free(outer);
}
