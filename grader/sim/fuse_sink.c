/* Loads that ptxas does behind a branch.
 *
 *     x = s[t];                         if (t >= n) return;
 *     if (t >= n) return;   becomes     x = s[t];
 *     out[t] = x;                       out[t] = x;
 *
 * Found by probing ptxas 13.0 -O3 for sm_90 (grader/tests/fuse/sunk/): a load goes to where a branch
 * leads when all that needs its value is there, branch after branch, as long as nothing that separates
 * loads stands between (a shared store, a barrier, a __syncwarp ...) and there is no other way to that
 * place.  Joined loads go together.  Copies, and the extension of a narrow load, go along; what is
 * computed of a value stays, and keeps its load.
 *
 * A small `if` that the kernel goes on after is done under a predicate, without a branch, and the load
 * stays before it.  How small is known only nearly: between, and for loads that only what follows a
 * loop needs, the load stays and says so.
 */
#include "fuse.h"
#include <stdlib.h>
#include <string.h>

/* In instructions: an `if` up to STAYS is done under a predicate, one from SINKS on is not; loads in
 * it may make that up to twice as many. */
enum { STAYS = 6, SINKS = 9, MOST_MOVES = 64, MOST_COPIES = 64 };

static const char UNSURE[] = "ptxas may do this load only where its value is used, behind a branch";

struct sinking {
  struct fuse *z;
  uint32_t *at;                 /* by instruction: the block it is in, after what has moved */
  uint32_t *group, *next;       /* by instruction: the first of those joined with it; a list of them */
  struct { uint32_t block, next; } *uses;   /* of values, by what is no instruction that reads them */
  uint32_t nuses, uses_cap;
  uint32_t *first_use;          /* by value */
  uint32_t *defs;               /* by register: how often it is written */
  uint32_t copies[MOST_COPIES], ncopies;    /* what goes along */
  uint32_t blocks[MOST_MOVES * 16], nblocks;   /* where the values are needed */
  bool guarded;                 /* all of it only under a guard */
  bool full;                    /* too much to look at, or to be written twice */
};

static bool movable(const struct ptx_inst *i)
{
  return i->op == PTX_LD && i->space == PTX_SHARED && i->guard == PTX_NOREG &&
         !ptx_has(i, PTX_M_VOLATILE) && !ptx_has(i, PTX_M_RELAXED) && !ptx_has(i, PTX_M_ACQUIRE) &&
         !ptx_has(i, PTX_M_MMIO);
}

/* Whether ptxas makes no instruction of i, which reads what was loaded. */
static bool goes_along(const struct ptx_inst *i)
{
  if (i->guard != PTX_NOREG || i->noperands != 2 || i->operands[0].kind != PTX_O_REG ||
      i->operands[1].kind != PTX_O_REG)
    return false;
  if (i->op == PTX_MOV) return true;
  if (i->op != PTX_CVT || i->ntypes != 2) return false;
  enum ptx_type to = (enum ptx_type)i->types[0], from = (enum ptx_type)i->types[1];
  return ptx_type_kind(to) != PTX_FLOAT && ptx_type_kind(from) != PTX_FLOAT &&
         ptx_type_bits(from) < 32 && ptx_type_bits(to) >= ptx_type_bits(from) &&
         ptx_type_bits(to) <= 32;
}

static void note_use(struct sinking *k, uint32_t value, uint32_t block)
{
  if (value == FUSE_NONE || !fuse_grow(k->z, &k->uses, k->nuses, &k->uses_cap, sizeof *k->uses)) return;
  k->uses[k->nuses].block = block;
  k->uses[k->nuses].next = k->first_use[value];
  k->first_use[value] = k->nuses++;
}

/* Phis need a value at the end of the block it comes from; what is written under a guard needs the
 * value before. */
static void find_other_uses(struct sinking *k)
{
  struct fuse *z = k->z;
  uint32_t values = z->nvalues;
  for (uint32_t v = 0; v < values; v++) k->first_use[v] = FUSE_NONE;
  for (uint32_t v = 0; v < values && !z->failed; v++) {
    const struct fuse_value *x = &z->values[v];
    if (!x->live) continue;
    if (x->old != FUSE_NONE) note_use(k, x->old, x->block);
    if (x->args == FUSE_NONE) continue;
    const struct fuse_block *b = &z->blocks[x->block];
    for (uint32_t p = 0; p < b->npred; p++) note_use(k, z->args[x->args + p], z->edges[b->pred + p]);
  }
}

static void need(struct sinking *k, uint32_t block, bool guarded)
{
  k->guarded &= guarded;
  if (k->z->blocks[block].order == FUSE_NONE) return;
  if (k->nblocks && k->blocks[k->nblocks - 1] == block) return;
  if (k->nblocks == sizeof k->blocks / sizeof *k->blocks) k->full = true;
  else k->blocks[k->nblocks++] = block;
}

/* Adds where the results of `inst` are needed; its copies that stand in `block` go along. */
static void gather(struct sinking *k, uint32_t inst, uint32_t block)
{
  const struct fuse *z = k->z;
  for (uint32_t d = z->spans[inst].def; d < z->spans[inst].def_end; d++) {
    const struct fuse_value *v = &z->values[d];
    if (v->inst != inst) continue;
    bool direct = k->first_use[d] != FUSE_NONE;
    for (uint32_t u = k->first_use[d]; u != FUSE_NONE; u = k->uses[u].next) need(k, k->uses[u].block, false);
    for (uint32_t u = 0; u < v->nusers; u++) {
      uint32_t user = z->users[v->users + u];
      if (!fuse_needed(z, user)) continue;
      if (!goes_along(&z->f->insts[user]) || k->at[user] != block) {
        bool effect = z->spans[user].def == z->spans[user].def_end;
        need(k, k->at[user], effect && z->f->insts[user].guard != PTX_NOREG);
        direct = true;
      } else if (k->ncopies == MOST_COPIES) {
        k->full = true;
      } else {
        bool known = false;
        for (uint32_t c = 0; c < k->ncopies; c++) known |= k->copies[c] == user;
        if (known) continue;
        k->copies[k->ncopies++] = user;
        gather(k, user, block);
      }
    }
    /* Written once more further on: there nobody may have put anything else into the register. */
    if (!direct && k->defs[v->reg] > 1) k->full = true;
  }
}

/* ---- where to ------------------------------------------------------------------------------------ */

static bool separated(const struct fuse *z, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++)
    if (fuse_separates(z, i)) return true;
  return false;
}

/* Whether block b does nothing but end the kernel. */
static bool only_ends(const struct fuse *z, uint32_t b)
{
  const struct ptx_inst *i = &z->f->insts[z->blocks[b].first];
  return (i->op == PTX_RET || i->op == PTX_EXIT) && i->guard == PTX_NOREG && z->f->is_entry;
}

static bool ends_kernel(const struct fuse *z, uint32_t b)
{
  const struct ptx_inst *i = &z->f->insts[z->blocks[b].end - 1];
  return ((i->op == PTX_RET || i->op == PTX_EXIT) && i->guard == PTX_NOREG) ||
         (z->blocks[b].nsucc == 1 && only_ends(z, z->edges[z->blocks[b].succ]));
}

enum way { STAY, DOUBT, SINK };

/* Whether block `to` stays a block behind a branch, rather than instructions under a predicate. */
static enum way is_apart(const struct fuse *z, uint32_t from, uint32_t to)
{
  const struct fuse_block *b = &z->blocks[from], *t = &z->blocks[to];
  if (b->nsucc == 1) return SINK;
  if (b->nsucc != 2) return DOUBT;
  uint32_t other = z->edges[b->succ] == to ? z->edges[b->succ + 1] : z->edges[b->succ];
  if (only_ends(z, other)) return SINK;
  if (t->first != b->end && z->blocks[other].npred == 1 && ends_kernel(z, other)) return SINK;
  uint32_t cost = 0, loads = 0;
  for (uint32_t i = t->first; i < t->end; i++) {
    const struct ptx_inst *in = &z->f->insts[i];
    if (in->op == PTX_BAR_WARP) return SINK;
    if (in->op == PTX_BRA || in->op == PTX_RET || in->op == PTX_EXIT || !fuse_needed(z, i)) continue;
    if (in->op == PTX_MOV && in->operands[1].kind != PTX_O_VECTOR && in->operands[0].kind == PTX_O_REG)
      continue;
    loads += in->op == PTX_LD;
    cost++;
  }
  if (cost >= SINKS + 2 * loads) return SINK;
  return cost <= STAYS && t->nsucc == 1 ? STAY : DOUBT;
}

static bool all_needed_in(const struct sinking *k, uint32_t block)
{
  for (uint32_t n = 0; n < k->nblocks; n++)
    if (!fuse_dominates(k->z, block, k->blocks[n])) return false;
  return true;
}

/* Whether to come from block `from` to `to` is to come there first: the only way, or the way into a loop
 * from the block just before it. */
static bool first_way(const struct fuse *z, uint32_t from, uint32_t to)
{
  const struct fuse_block *b = &z->blocks[to];
  if (to == from) return false;
  if (b->npred == 1) return true;
  if (z->blocks[from].end != b->first || b->loop != to) return false;
  for (uint32_t p = 0; p < b->npred; p++) {
    uint32_t other = z->edges[b->pred + p];
    const struct ptx_inst *last = &z->f->insts[z->blocks[other].end - 1];
    if (other != from && (last->op != PTX_BRA || !fuse_dominates(z, to, other))) return false;
  }
  return z->blocks[from].nsucc == 2;
}

/* The block that a load behind instruction `inst` goes to; its own when it stays. */
static uint32_t find_place(const struct sinking *k, uint32_t inst, bool *doubt)
{
  const struct fuse *z = k->z;
  uint32_t at = z->block_of[inst], first = inst + 1;
  for (int moves = 0; moves < MOST_MOVES; moves++) {
    const struct fuse_block *b = &z->blocks[at];
    uint32_t to = FUSE_NONE;
    for (uint32_t s = 0; s < b->nsucc; s++) {
      uint32_t next = z->edges[b->succ + s];
      if (first_way(z, at, next) && all_needed_in(k, next)) to = next;
    }
    if (to == FUSE_NONE || separated(z, first, b->end)) break;
    bool enters = z->blocks[to].npred > 1, same = z->blocks[to].loop == b->loop;
    enum way way = enters ? SINK : same ? is_apart(z, at, to) : DOUBT;
    if (way == DOUBT) *doubt = true;
    if (way != SINK) break;
    at = to;
    if (enters) break;
    first = z->blocks[at].first;
  }
  return at;
}

/* ---- loads that are joined -------------------------------------------------------------------------- */

static void unite(struct sinking *k, uint32_t a, uint32_t b)
{
  uint32_t x = k->group[a], y = k->group[b];
  if (x == y) return;
  if (y < x) {
    uint32_t t = x;
    x = y;
    y = t;
  }
  uint32_t end = x;
  while (k->next[end] != FUSE_NONE) end = k->next[end];
  k->next[end] = y;
  for (uint32_t m = y; m != FUSE_NONE; m = k->next[m]) k->group[m] = x;
}

static void find_groups(struct sinking *k)
{
  const struct fuse *z = k->z;
  for (uint32_t a = 0; a < z->naccess; a++) {
    const struct fuse_access *x = &z->access[a];
    if (x->load && x->issuer != FUSE_NONE) unite(k, x->inst, z->access[x->issuer].inst);
  }
}

/* Whether any load may go anywhere, so that it is worth looking closer. */
static bool any_candidate(struct sinking *k)
{
  const struct fuse *z = k->z;
  for (uint32_t r = 0; r < z->nrpo; r++) {
    const struct fuse_block *b = &z->blocks[z->rpo[r]];
    for (uint32_t i = b->first; i < b->end; i++) {
      if (!movable(&z->f->insts[i]) || !fuse_needed(z, i)) continue;
      bool doubt = false;
      k->nblocks = k->ncopies = 0;
      k->full = false;
      k->guarded = true;
      gather(k, i, z->rpo[r]);
      if (k->full || k->nblocks == 0) continue;
      if (find_place(k, i, &doubt) != z->rpo[r] || doubt || k->guarded) return true;
    }
  }
  return false;
}

static void sink_group(struct sinking *k, uint32_t first, fuse_each_sink *each, void *data)
{
  const struct fuse *z = k->z;
  uint32_t from = z->block_of[first];
  bool doubt = false;
  k->nblocks = k->ncopies = 0;
  k->full = false;
  k->guarded = true;
  for (uint32_t m = first; m != FUSE_NONE; m = k->next[m]) {
    if (!movable(&z->f->insts[m])) return;
    gather(k, m, z->block_of[m]);
  }
  if (k->full || k->nblocks == 0) return;
  uint32_t to = find_place(k, first, &doubt);
  doubt |= k->guarded;
  if (doubt)
    for (uint32_t m = first; m != FUSE_NONE; m = k->next[m])
      each(data, &(struct fuse_sink){.inst = m, .load = true, .to = FUSE_NONE, .note = UNSURE});
  if (to == from) return;
  bool once = z->blocks[to].npred > 1;
  for (uint32_t m = first; m != FUSE_NONE; m = k->next[m])
    if (!fuse_dominates(z, to, z->block_of[m])) {
      k->at[m] = to;
      const struct ptx_operand *o = &z->f->insts[m].operands[1];
      each(data, &(struct fuse_sink){.inst = m, .load = true, .to = z->blocks[to].first,
                                     .once = once, .keep = o->has_reg && k->defs[o->reg] > 1});
    }
  for (uint32_t c = 0; c < k->ncopies; c++)
    if (!fuse_dominates(z, to, z->block_of[k->copies[c]])) {
      k->at[k->copies[c]] = to;
      each(data, &(struct fuse_sink){.inst = k->copies[c], .to = z->blocks[to].first, .once = once});
    }
}

void fuse_sink(struct fuse *z, fuse_each_sink *each, void *data)
{
  uint32_t n = (uint32_t)z->f->ninsts;
  struct sinking k = {.z = z};
  size_t room = 3 * ((size_t)n + 1) + z->nvalues + z->f->nregs + 2;
  uint32_t *space = malloc(room * sizeof *space);
  if (!space) {
    z->failed = "out of memory";
    return;
  }
  k.at = space;
  k.group = space + n + 1;
  k.next = k.group + n + 1;
  k.first_use = k.next + n + 1;
  k.defs = k.first_use + z->nvalues + 1;
  memset(k.defs, 0, z->f->nregs * sizeof *k.defs);
  for (uint32_t v = 0; v < z->nvalues; v++)
    if (z->values[v].inst != FUSE_NONE) k.defs[z->values[v].reg]++;
  for (uint32_t i = 0; i < n; i++) k.at[i] = z->block_of[i], k.group[i] = i, k.next[i] = FUSE_NONE;
  find_other_uses(&k);
  if (!z->failed && any_candidate(&k)) {
    if (!sim_layout_find(z->module, z->f, &z->layout)) z->failed = "out of memory";
    if (!z->failed) fuse_segments(z);
    if (!z->failed) fuse_values(z);
    if (!z->failed) fuse_accesses(z);
    if (!z->failed) fuse_loads(z);
    if (!z->failed) find_groups(&k);
    /* From the last up: what a load is needed for may have moved itself. */
    for (uint32_t r = z->nrpo; r-- > 0 && !z->failed;)
      for (uint32_t i = z->blocks[z->rpo[r]].end; i-- > z->blocks[z->rpo[r]].first;)
        if (movable(&z->f->insts[i]) && k.group[i] == i && fuse_needed(z, i)) sink_group(&k, i, each, data);
  }
  free(space);
  free(k.uses);
}
