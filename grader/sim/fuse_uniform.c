/* Which values are the same in all lanes of a warp, as ptxas sees it.
 *
 * It matters for one thing: a shared atomic at an address that all lanes share is done by one lane
 * for all of them (an add, wanted or not; min, max, and, or, xor when nobody wants the old value).
 * Everything is uniform until shown to differ: thread and lane numbers do, results of atomics and
 * calls, what is computed or loaded through such values, and phis where lanes come by different
 * ways or leave a loop at different times.
 */
#include "fuse.h"
#include <stdlib.h>

static bool special_differs(uint64_t special)
{
  switch (special) {
  case PTX_S_TID_X: case PTX_S_TID_Y: case PTX_S_TID_Z: case PTX_S_LANEID: case PTX_S_LANEMASK_EQ:
  case PTX_S_LANEMASK_LE: case PTX_S_LANEMASK_LT: case PTX_S_LANEMASK_GE: case PTX_S_LANEMASK_GT:
    return true;
  default:
    return false;
  }
}

static bool reads_divergent(const struct fuse *z, uint32_t inst)
{
  for (uint32_t u = z->spans[inst].use; u < z->spans[inst].use_end; u++)
    if (z->values[z->uses[u].value].divergent) return true;
  return false;
}

static bool result_differs(const struct fuse *z, uint32_t inst)
{
  const struct ptx_inst *i = &z->f->insts[inst];
  for (unsigned o = 1; o < i->noperands; o++)
    if (i->operands[o].kind == PTX_O_SPECIAL && special_differs(i->operands[o].imm)) return true;
  switch (i->op) {
  case PTX_ATOM: case PTX_CALL: case PTX_LDMATRIX: case PTX_ELECT: case PTX_MATCH: case PTX_ALLOCA:
    return true;
  case PTX_LD:
    if (i->space == PTX_LOCAL || (i->space == PTX_PARAM && !z->f->is_entry)) return true;
    break;
  case PTX_VOTE: case PTX_REDUX: case PTX_BAR: case PTX_BARRIER: case PTX_ACTIVEMASK:
    return false;
  case PTX_SHFL:                /* one source lane for all: uniform */
    if (ptx_has(i, PTX_M_IDX)) {
      const struct ptx_operand *lane = &i->operands[2];
      uint32_t v = lane->kind == PTX_O_REG ? fuse_read(z, inst, lane->reg) : FUSE_NONE;
      return v != FUSE_NONE && z->values[v].divergent;
    }
    break;
  default:
    break;
  }
  return reads_divergent(z, inst);
}

static bool branch_differs(const struct fuse *z, uint32_t block)
{
  const struct fuse_block *b = &z->blocks[block];
  const struct ptx_inst *i = &z->f->insts[b->end - 1];
  return b->nsucc > 1 && (i->op == PTX_BRA || i->op == PTX_BRX_IDX || i->op == PTX_RET ||
                          i->op == PTX_EXIT) && reads_divergent(z, b->end - 1);
}

/* Whether lanes may come to b's beginning apart: its dominator's branch, or a way out of the loop
 * that b heads. */
static bool meets_apart(const struct fuse *z, uint32_t b, const uint8_t *apart)
{
  return apart[b] || (b != z->blocks[b].idom && branch_differs(z, z->blocks[b].idom));
}

/* Marks the headers of the loops that are left by a branch that differs. */
static bool mark_loops(const struct fuse *z, uint8_t *apart)
{
  bool changed = false;
  for (uint32_t r = 0; r < z->nrpo; r++) {
    const struct fuse_block *b = &z->blocks[z->rpo[r]];
    if (b->loop == FUSE_NONE || !branch_differs(z, z->rpo[r])) continue;
    for (uint32_t s = 0; s < b->nsucc; s++) {
      uint32_t to = z->blocks[z->edges[b->succ + s]].loop, out = b->loop;
      for (int depth = 0; out != FUSE_NONE && out != to && depth < 100; depth++) {
        if (!apart[out]) apart[out] = 1, changed = true;
        out = z->blocks[out].outer;
      }
    }
  }
  return changed;
}

void fuse_uniform(struct fuse *z)
{
  uint8_t *apart = calloc(z->nblocks + 1, 1);
  if (!apart) {
    z->failed = "out of memory";
    return;
  }
  bool changed = true;
  for (int round = 0; changed && round < 100; round++) {
    changed = mark_loops(z, apart);
    for (uint32_t r = 0; r < z->nrpo; r++) {
      const struct fuse_block *b = &z->blocks[z->rpo[r]];
      bool differs = b->nphi && meets_apart(z, z->rpo[r], apart);
      for (uint32_t k = 0; k < b->nphi; k++) {
        struct fuse_value *phi = &z->values[b->phi + k];
        bool divergent = differs;
        for (uint32_t p = 0; p < b->npred && !divergent; p++) {
          uint32_t a = z->args[phi->args + p];
          divergent = a != FUSE_NONE && z->values[a].divergent;
        }
        if (divergent && !phi->divergent) phi->divergent = changed = true;
      }
      for (uint32_t i = b->first; i < b->end; i++) {
        if (z->spans[i].def == z->spans[i].def_end || !result_differs(z, i)) continue;
        for (uint32_t d = z->spans[i].def; d < z->spans[i].def_end; d++)
          if (z->values[d].inst == i && !z->values[d].divergent)
            z->values[d].divergent = changed = true;
      }
    }
  }
  for (uint32_t v = 0; changed && v < z->nvalues; v++) z->values[v].divergent = true;
  free(apart);
}

/* Which lanes carry out a 32-bit integer atomic in shared memory. */
enum sim_lanes fuse_lanes(const struct fuse *z, uint32_t inst)
{
  const struct ptx_inst *i = &z->f->insts[inst];
  bool atom = i->op == PTX_ATOM;
  const struct ptx_operand *at = &i->operands[atom ? 1 : 0], *by = &i->operands[atom ? 2 : 1];
  if ((!atom && i->op != PTX_RED) || i->space != PTX_SHARED || i->ntypes == 0) return SIM_LANES_ALL;
  if (ptx_type_kind(i->types[0]) == PTX_FLOAT || ptx_type_bits(i->types[0]) != 32)
    return SIM_LANES_ALL;
  bool add = ptx_has(i, PTX_M_ADD), logic = ptx_has(i, PTX_M_MIN) || ptx_has(i, PTX_M_MAX) ||
                                            ptx_has(i, PTX_M_AND) || ptx_has(i, PTX_M_OR) ||
                                            ptx_has(i, PTX_M_XOR);
  if (at->has_reg) {
    uint32_t v = fuse_read(z, inst, at->reg);
    if (v == FUSE_NONE || z->values[v].divergent) return SIM_LANES_ALL;
  }
  bool wanted = false;
  if (atom && i->operands[0].kind == PTX_O_REG) {
    uint32_t v = fuse_written(z, inst, i->operands[0].reg);
    wanted = v == FUSE_NONE || z->values[v].live;
  }
  if (!add && (!logic || wanted)) return SIM_LANES_ALL;
  uint32_t v = by->kind == PTX_O_REG ? fuse_read(z, inst, by->reg) : FUSE_NONE;
  bool differs = (v != FUSE_NONE && z->values[v].divergent) ||
                 (by->kind == PTX_O_SPECIAL && special_differs(by->imm));
  return wanted && differs ? SIM_LANES_ONE_IF_ALL : SIM_LANES_ONE;
}
