/* Which values anyone needs, and which instructions ptxas keeps in one block.
 *
 * What has an effect is needed (stores, branches, barriers, atomics), and so is what it reads, and so
 * on backwards.  A load whose result nobody needs is not issued.
 */
#include "fuse.h"
#include <stdlib.h>

static bool removable(const struct ptx_inst *i)
{
  if (i->op == PTX_LD)
    return !ptx_has(i, PTX_M_VOLATILE) && !ptx_has(i, PTX_M_RELAXED) &&
           !ptx_has(i, PTX_M_ACQUIRE) && !ptx_has(i, PTX_M_MMIO);
  switch (i->op) {
  case PTX_SHFL: case PTX_VOTE: case PTX_MATCH: case PTX_REDUX: case PTX_ACTIVEMASK:
  case PTX_LDMATRIX: case PTX_MMA:
    return true;
  default:
    break;
  }
  return fuse_pure(i) || i->op == PTX_ADDC || i->op == PTX_SUBC ||
         i->op == PTX_MADC || i->op == PTX_LDU || ptx_has(i, PTX_M_CC);
}

void fuse_live(struct fuse *z)
{
  uint32_t *stack = malloc((z->nvalues + 1) * sizeof *stack), depth = 0;
  uint8_t *needed = calloc(z->f->ninsts + 1, 1);
  if (!stack || !needed) z->failed = "out of memory";
#define NEED(v)                                                                                    \
  do {                                                                                             \
    uint32_t need_ = (v);                                                                          \
    if (need_ != FUSE_NONE && !z->values[need_].live) {                                            \
      z->values[need_].live = true;                                                                \
      stack[depth++] = need_;                                                                      \
    }                                                                                              \
  } while (0)
  for (uint32_t r = 0; r < z->nrpo && !z->failed; r++)
    for (uint32_t i = z->blocks[z->rpo[r]].first; i < z->blocks[z->rpo[r]].end; i++) {
      if (removable(&z->f->insts[i])) continue;
      needed[i] = 1;
      for (uint32_t u = z->spans[i].use; u < z->spans[i].use_end; u++) NEED(z->uses[u].value);
    }
  while (depth && !z->failed) {
    const struct fuse_value *v = &z->values[stack[--depth]];
    NEED(v->old);
    if (v->inst != FUSE_NONE) {
      if (!needed[v->inst])
        for (uint32_t u = z->spans[v->inst].use; u < z->spans[v->inst].use_end; u++)
          NEED(z->uses[u].value);
      needed[v->inst] = 1;
    } else if (v->args != FUSE_NONE) {
      for (uint32_t p = 0; p < z->blocks[v->block].npred; p++) NEED(z->args[v->args + p]);
    }
  }
#undef NEED
  free(stack);
  free(needed);
}

/* Whether an instruction does anything, or someone needs what it computes. */
bool fuse_needed(const struct fuse *z, uint32_t inst)
{
  const struct fuse_span *s = &z->spans[inst];
  if (s->def == s->def_end || !(fuse_pure(&z->f->insts[inst]) || z->f->insts[inst].op == PTX_LD))
    return true;
  for (uint32_t d = s->def; d < s->def_end; d++)
    if (z->values[d].inst != inst || z->values[d].live) return true;
  return false;
}

/* Instructions that ptxas turns into more than one block. */
static bool splits(const struct fuse *z, uint32_t inst)
{
  const struct ptx_inst *i = &z->f->insts[inst];
  switch (i->op) {
  case PTX_MEMBAR: case PTX_FENCE: case PTX_CALL: return true;
  case PTX_ATOM: case PTX_RED:
    return i->space != PTX_GLOBAL && i->ntypes &&
           (ptx_type_kind(i->types[0]) == PTX_FLOAT || ptx_type_bits(i->types[0]) != 32 ||
            fuse_lanes(z, inst) == SIM_LANES_ONE_IF_ALL);
  default: return fuse_splits(i);
  }
}

/* Segments: straight lines, cut where ptxas cuts them. */
void fuse_segments(struct fuse *z)
{
  z->segment = calloc(z->f->ninsts + 1, sizeof *z->segment);
  if (!z->segment) {
    z->failed = "out of memory";
    return;
  }
  uint32_t chain = FUSE_NONE, segment = 0;
  for (uint32_t r = 0; r < z->nrpo; r++) {
    const struct fuse_block *b = &z->blocks[z->rpo[r]];
    if (b->chain != chain) segment++;
    chain = b->chain;
    for (uint32_t i = b->first; i < b->end; i++) {
      z->segment[i] = segment;
      if (splits(z, i)) segment++;
    }
  }
}
