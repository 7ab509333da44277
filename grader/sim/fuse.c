/* sim_plan(): which shared accesses ptxas issues for a function, and how wide.
 *
 * PTX is not what runs: ptxas (13.0, -O3, sm_90) joins neighbouring shared accesses, does equal
 * loads once and drops what is not needed.  The rules here were found by comparing PTX with the
 * machine code made of it; grader/tests/test_fuse.c repeats that comparison.  Where the analysis
 * is given up (tangled control flow, no memory) every access is issued as written, with a reason;
 * single accesses of which ptxas is known to think twice carry one as well.
 *
 * Not reproduced, and said so in the plan: functions it does in place, whose generic accesses it then
 * knows to be shared; now and then loads of a chunk that the store just before them wrote to, and which
 * of several stores to one place it does.  Not reproduced and not noticed: what both arms of an if, or the
 * last pass of a loop, have loaded and it therefore doesn't load again after it; now and then a load that
 * an `if` repeats; sums in which what was loaded cancels out.
 *
 * Other versions and targets, tried with the same kernels: 12.8 for sm_90 and 13.0 for sm_100 and
 * sm_120 make the same of all of them.  13.0 for sm_80 and sm_89 differs on about one kernel in
 * twenty: it doesn't look into functions it calls, extends some 16-bit loads that sm_90 joins (there
 * is no 16-bit minimum), takes the alignment of "constant - 2t" for known, and peels other loops.
 */
#include "fuse.h"
#include <stdlib.h>
#include <string.h>

/* ---- the plan -------------------------------------------------------------------------------------------- */

static bool matrix_x(const struct ptx_inst *i, enum ptx_mod m) { return ptx_has(i, m); }

static enum model_op atomic_op(const struct fuse *z, uint32_t inst)
{
  const struct ptx_inst *i = &z->f->insts[inst];
  enum ptx_type type = i->types[0];
  unsigned bits = ptx_type_bits(type);
  if (ptx_has(i, PTX_M_CAS)) return MODEL_ATOM_CAS;
  if (ptx_type_kind(type) == PTX_FLOAT || bits == 16)
    return bits == 64 ? MODEL_ATOM_LOOP64 : MODEL_ATOM_LOOP;
  if (bits == 64) return MODEL_ATOM_LOOP64;
  /* + 1 (or inc without a bound) whose old value nobody wants has a form of its own. */
  const struct ptx_operand *by = &i->operands[i->op == PTX_ATOM ? 2 : 1];
  bool wanted = false;
  if (i->op == PTX_ATOM && i->operands[0].kind == PTX_O_REG) {
    uint32_t v = z->failed ? FUSE_NONE : fuse_written(z, inst, i->operands[0].reg);
    wanted = v == FUSE_NONE || z->values[v].live;
  }
  uint64_t k = 0;
  bool known = by->kind == PTX_O_IMM;
  if (known) k = by->imm;
  if (by->kind == PTX_O_REG && !z->failed) {
    uint32_t v = fuse_read(z, inst, by->reg);
    known = v != FUSE_NONE && z->values[v].base == 0;
    if (known) k = z->values[v].constant;
  }
  if (!wanted && known && type == PTX_T_U32 &&
      ((ptx_has(i, PTX_M_ADD) && (uint32_t)k == 1) ||
       (ptx_has(i, PTX_M_INC) && (uint32_t)k == UINT32_MAX)))
    return MODEL_ATOM_ONE;
  return MODEL_ATOM_NATIVE;
}

static enum model_op op_of(const struct fuse *z, uint32_t inst)
{
  const struct ptx_inst *i = &z->f->insts[inst];
  switch (i->op) {
  case PTX_LD: return MODEL_LOAD;
  case PTX_ST: return MODEL_STORE;
  case PTX_CP_ASYNC: return MODEL_CP_ASYNC;
  case PTX_LDMATRIX:
    return matrix_x(i, PTX_M_X4) ? MODEL_LDMATRIX_X4
           : matrix_x(i, PTX_M_X2) ? MODEL_LDMATRIX_X2 : MODEL_LDMATRIX_X1;
  case PTX_STMATRIX:
    return matrix_x(i, PTX_M_X4) ? MODEL_STMATRIX_X4
           : matrix_x(i, PTX_M_X2) ? MODEL_STMATRIX_X2 : MODEL_STMATRIX_X1;
  default: return atomic_op(z, inst);
  }
}

/* As written: every instruction that names shared memory issues its own access. */
static void write_as_is(struct fuse *z)
{
  const struct ptx_function *f = z->f;
  z->naccess = 0;
  for (uint32_t i = 0; i < f->ninsts; i++) {
    const struct ptx_inst *in = &f->insts[i];
    unsigned bytes = in->ntypes ? ptx_type_bits(in->types[0]) / 8 * (in->vector ? in->vector : 1) : 0;
    switch (in->op) {
    case PTX_LDMATRIX: case PTX_STMATRIX: bytes = 16; break;
    case PTX_CP_ASYNC: bytes = (unsigned)in->operands[2].imm; break;
    case PTX_LD: case PTX_ST: case PTX_ATOM: case PTX_RED:
      if (in->space == PTX_SHARED) break;
      continue;
    default: continue;
    }
    if (!fuse_grow(z, &z->access, z->naccess, &z->access_cap, sizeof *z->access)) return;
    z->access[z->naccess] = (struct fuse_access){.inst = i, .issuer = z->naccess, .width = bytes};
    if (in->silent) z->access[z->naccess].issuer = FUSE_NONE, z->access[z->naccess].width = 0;
    z->naccess++;
  }
}

static int by_inst(const void *a, const void *b)
{
  const struct sim_plan *x = a, *y = b;
  if (x->inst != y->inst) return x->inst < y->inst ? -1 : 1;
  return x->delta < y->delta ? -1 : x->delta > y->delta;
}

static const char CALLED[] =
    "ptxas does small functions where they are called, and then knows more of their addresses";

/* Accesses that may be to any space: ptxas joins none of them. */
static size_t add_generic(const struct fuse *z, struct sim_plan *out, size_t n)
{
  uint32_t a = 0;
  for (uint32_t r = 0; r < (z->failed ? 0 : z->nrpo); r++)
    for (uint32_t i = z->blocks[z->rpo[r]].first; i < z->blocks[z->rpo[r]].end; i++) {
      const struct ptx_inst *in = &z->f->insts[i];
      bool planned = a < z->naccess && z->access[a].inst == i, load = in->op == PTX_LD;
      while (a < z->naccess && z->access[a].inst == i) a++;
      if (planned || in->space != PTX_GENERIC || !(load || in->op == PTX_ST) || in->ntypes == 0 ||
          !fuse_needed(z, i))
        continue;
      unsigned bytes = ptx_type_bits(in->types[0]) / 8 * (in->vector ? in->vector : 1);
      out[n++] = (struct sim_plan){.inst = i, .op = load ? MODEL_LOAD : MODEL_STORE, .issuer = i,
                                   .width = bytes, .generic = true};
    }
  return n;
}

static size_t write_plan(const struct fuse *z, struct sim_plan **plan)
{
  struct sim_plan *out = malloc(((size_t)z->naccess + z->f->ninsts + 1) * sizeof *out);
  size_t n = 0;
  for (uint32_t a = 0; out && a < z->naccess;) {
    uint32_t end = a, inst = z->access[a].inst, issued = 0;
    for (; end < z->naccess && z->access[end].inst == inst; end++) issued += z->access[end].width != 0;
    for (uint32_t k = a; k < end; k++) {
      const struct fuse_access *x = &z->access[k];
      if (x->width == 0 && (issued || k > a)) continue;
      struct sim_plan *p = &out[n++];
      *p = (struct sim_plan){.inst = inst, .op = op_of(z, inst), .width = x->width,
                             .delta = (int32_t)(x->at - x->start), .issuer = inst,
                             .lanes = z->failed ? SIM_LANES_ALL : fuse_lanes(z, inst),
                             .reason = z->failed ? z->failed : x->note};
      if (x->width == 0) {
        p->delta = 0;
        const struct fuse_access *by = x;       /* an equal load may itself be part of another */
        while (by->issuer != FUSE_NONE && by->width == 0) by = &z->access[by->issuer];
        p->issuer = by->issuer == FUSE_NONE ? UINT32_MAX : by->inst;
      }
    }
    a = end;
  }
  if (out) n = add_generic(z, out, n);
  if (out && !z->f->is_entry)
    for (size_t k = 0; k < n; k++)
      if (!out[k].reason) out[k].reason = CALLED;
  if (out) qsort(out, n, sizeof *out, by_inst);
  *plan = out;
  return out ? n : 0;
}

void fuse_free(struct fuse *z)
{
  free(z->layout.places);
  free(z->blocks);
  free(z->block_of);
  free(z->edges);
  free(z->rpo);
  free(z->values);
  free(z->args);
  free(z->uses);
  free(z->spans);
  free(z->users);
  free(z->bases);
  free(z->atoms);
  free(z->base_hash);
  free(z->atom_hash);
  free(z->access);
  free(z->segment);
  free(z->version);
}

size_t sim_plan(const struct ptx_module *module, const struct ptx_function *f, struct sim_plan **plan)
{
  struct fuse z = {.module = module, .f = f};
  *plan = NULL;
  if (f->ninsts == 0) return 0;
  if (!sim_layout_find(module, f, &z.layout)) z.failed = "out of memory";
  if (!z.failed) fuse_flow(&z);
  if (!z.failed) fuse_live(&z);
  if (!z.failed) fuse_uniform(&z);
  if (!z.failed) fuse_segments(&z);
  if (!z.failed) fuse_values(&z);
  if (!z.failed) fuse_accesses(&z);
  if (!z.failed) fuse_loads(&z);
  if (!z.failed) fuse_stores(&z);
  if (!z.failed) fuse_branches(&z);
  if (z.failed) write_as_is(&z);
  size_t n = write_plan(&z, plan);
  fuse_free(&z);
  return n;
}
