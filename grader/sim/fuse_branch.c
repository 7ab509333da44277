/* A store that an if repeats.
 *
 *     s[t] = a;                         s[t] = c ? b : a;
 *     if (c) s[t] = b;        becomes
 *
 * ptxas moves the stores of a block and those of the `if` behind it to where both ways meet, when
 * they are the same places in the same order; one of each pair is then issued, by all lanes.  Here
 * the first stays and the one in the `if` is not issued: same lanes, same addresses.
 *
 * Found with small kernels assembled by ptxas 13.0 (sm_90): the stores since the last barrier must be
 * all of them alike; no other shared access and no barrier, fence or __syncwarp may stand between or
 * in the `if`; and the kernel must not end with the block where the ways meet.  Global accesses, and
 * a loop just before, can hinder it; where they might, the stores stay and say so.  A store under a
 * guard is an `if` of its own.
 */
#include "fuse.h"

enum { MOST = 16, CHAIN = 64 };   /* stores that are compared; blocks of a straight line looked at */

static const char UNSURE[] = "ptxas may merge this store with the one of the same place beside it";

struct stores {
  uint32_t access[MOST];
  uint32_t count;
  bool others;                  /* other shared accesses are issued */
  bool spoiled;                 /* after the first of the stores */
  bool separated;               /* a barrier or the like */
  bool global_store, global_load;
  bool earlier;                 /* there are stores before the last barrier */
};

static bool plain_store(const struct fuse *z, const struct fuse_access *a)
{
  const struct ptx_inst *i = &z->f->insts[a->inst];
  return i->op == PTX_ST && !ptx_has(i, PTX_M_VOLATILE) && !ptx_has(i, PTX_M_RELAXED) &&
         !ptx_has(i, PTX_M_RELEASE);
}

/* The first access at instruction `inst` or after it in its block. */
static uint32_t first_access(const struct fuse *z, uint32_t inst)
{
  uint32_t low = 0, high = z->naccess, block = z->block_of[inst];
  uint32_t order = z->blocks[block].order;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    const struct fuse_access *a = &z->access[mid];
    uint32_t o = z->blocks[a->block].order;
    if (o < order || (o == order && a->inst < inst)) low = mid + 1;
    else high = mid;
  }
  return low;
}

/* What [first, end), a part of one block, issues: since its last barrier. */
static void gather(const struct fuse *z, uint32_t first, uint32_t end, struct stores *s)
{
  if (first >= end) return;
  uint32_t a = first_access(z, first);
  for (uint32_t i = first; i < end; i++) {
    const struct ptx_inst *in = &z->f->insts[i];
    bool accesses = false;
    for (; a < z->naccess && z->access[a].inst == i; a++) {
      const struct fuse_access *x = &z->access[a];
      accesses = true;
      if (x->width == 0) continue;
      if (plain_store(z, x) && in->guard == PTX_NOREG && s->count < MOST)
        s->access[s->count++] = a;
      else
        s->others = true, s->spoiled |= s->count > 0;
    }
    if (accesses) continue;
    if (in->op == PTX_ST && in->space != PTX_SHARED) s->global_store = true;
    if (in->op == PTX_LD && in->space == PTX_GLOBAL) s->global_load = true;
    if (in->op == PTX_LD && in->space == PTX_GENERIC) s->others = s->spoiled = true;
    if (fuse_separates(z, i))
      *s = (struct stores){.separated = true, .earlier = s->earlier || s->count};
  }
}

/* What the straight line that ends with block b issues up to instruction `end`. */
static void gather_line(const struct fuse *z, uint32_t b, uint32_t end, struct stores *s)
{
  uint32_t line[CHAIN];
  unsigned n = 0;
  for (line[n++] = b; n < CHAIN && z->blocks[b].chain != b; line[n++] = b)
    b = z->edges[z->blocks[b].pred];
  for (; n > 1; n--) gather(z, z->blocks[line[n - 1]].first, z->blocks[line[n - 1]].end, s);
  gather(z, z->blocks[line[0]].first, end, s);
}

static bool alike(const struct fuse *z, const struct stores *a, const struct stores *b)
{
  if (a->count != b->count || a->count == 0) return false;
  for (uint32_t k = 0; k < a->count; k++) {
    const struct fuse_access *x = &z->access[a->access[k]], *y = &z->access[b->access[k]];
    if (x->base != y->base || x->at != y->at || x->width != y->width) return false;
  }
  return true;
}

static bool ends(const struct ptx_inst *i) { return i->op == PTX_RET || i->op == PTX_EXIT; }

/* Whether something conditional follows `inst` before the kernel ends in a straight line. */
static bool goes_on(const struct fuse *z, uint32_t inst)
{
  uint32_t b = z->block_of[inst];
  for (unsigned n = 0; n < CHAIN; n++) {
    const struct fuse_block *k = &z->blocks[b];
    for (; inst < k->end; inst++) {
      const struct ptx_inst *i = &z->f->insts[inst];
      if (i->guard != PTX_NOREG) return true;
      if (ends(i)) return false;
    }
    if (k->nsucc != 1) return k->nsucc > 1;
    b = z->edges[k->succ];
    if (z->blocks[b].npred > 1) return !ends(&z->f->insts[z->blocks[b].first]);
    inst = z->blocks[b].first;
  }
  return false;
}

/* Whether the straight line of block b begins where a loop is left, and only there. */
static bool after_loop(const struct fuse *z, uint32_t b)
{
  b = z->blocks[b].chain;
  if (z->blocks[b].npred != 1) return false;
  uint32_t from = z->edges[z->blocks[b].pred];
  return z->blocks[from].loop != FUSE_NONE && z->blocks[from].loop != z->blocks[b].loop;
}

static void drop(struct fuse *z, const struct stores *kept, const struct stores *dropped,
                 bool unsure)
{
  for (uint32_t k = 0; k < dropped->count; k++) {
    struct fuse_access *x = &z->access[dropped->access[k]];
    if (unsure) {
      x->note = z->access[kept->access[k]].note = UNSURE;
      continue;
    }
    x->issuer = kept->access[k];
    x->width = 0;
  }
}

/* An `if` without else: from a to b or past it, and from b to where it meets a. */
static bool is_if(const struct fuse *z, uint32_t a, uint32_t b)
{
  const struct fuse_block *from = &z->blocks[a], *in = &z->blocks[b];
  if (from->nsucc != 2 || in->npred != 1 || in->nsucc != 1) return false;
  uint32_t meet = z->edges[in->succ];
  if (z->blocks[meet].npred != 2 || meet == a || meet == b) return false;
  return z->edges[from->succ] == meet || z->edges[from->succ + 1] == meet;
}

static void merge_if(struct fuse *z, uint32_t a, uint32_t b)
{
  struct stores outside = {.count = 0}, inside = {.count = 0};
  gather(z, z->blocks[b].first, z->blocks[b].end, &inside);
  if (inside.count == 0 || inside.others || inside.separated) return;
  gather_line(z, a, z->blocks[a].end, &outside);
  if (outside.spoiled || !alike(z, &outside, &inside)) return;
  if (!goes_on(z, z->blocks[z->edges[z->blocks[b].succ]].first)) return;
  drop(z, &outside, &inside,
       after_loop(z, a) || (inside.global_load && (outside.global_store || outside.earlier)));
}

/* A guarded store right behind the only store of its straight line, of the same place. */
static void merge_guarded(struct fuse *z, uint32_t access)
{
  struct fuse_access *x = &z->access[access];
  const struct ptx_inst *i = &z->f->insts[x->inst];
  if (i->guard == PTX_NOREG || x->width == 0 || !plain_store(z, x)) return;
  struct stores outside = {.count = 0}, inside = {.access = {access}, .count = 1};
  gather_line(z, x->block, x->inst, &outside);
  if (outside.spoiled || !alike(z, &outside, &inside) || !goes_on(z, x->inst + 1)) return;
  drop(z, &outside, &inside, after_loop(z, x->block));
}

void fuse_branches(struct fuse *z)
{
  for (uint32_t a = 0; a < z->naccess; a++) merge_guarded(z, a);
  for (uint32_t r = 0; r < z->nrpo; r++) {
    const struct fuse_block *b = &z->blocks[z->rpo[r]];
    if (b->npred == 1 && is_if(z, z->edges[b->pred], z->rpo[r]))
      merge_if(z, z->edges[b->pred], z->rpo[r]);
  }
}
