/* Which shared variable an address comes from.
 *
 * A register's origin is the variable whose address flows into it, whatever the path: through mov,
 * cvta, arithmetic, selections.  One pass joins all assignments of a register, so a register that may
 * hold addresses of two variables has no origin.  With it, an index that runs out of one array into
 * the next is a fault although the bytes exist.  What comes from memory or a call has no origin. */
#include <stdlib.h>

#include "internal.h"

static const struct ptx_symbol many;

static const struct ptx_symbol *join(const struct ptx_symbol *a, const struct ptx_symbol *b)
{
  return !a ? b : !b || a == b ? a : &many;
}

/* Ops that may make an address from an address. */
static bool carries(unsigned op)
{
  switch (op) {
  case PTX_MOV: case PTX_CVTA: case PTX_CVT: case PTX_ADD: case PTX_SUB: case PTX_MAD:
  case PTX_SELP: case PTX_OR: case PTX_XOR: case PTX_AND: case PTX_MIN: case PTX_MAX:
  case PTX_LOP3: case PTX_MAPA: case PTX_SHFL: case PTX_BFI:
    return true;
  default:
    return false;
  }
}

static const struct ptx_symbol *of_operand(const struct ptx_operand *o,
                                           const struct ptx_symbol *const *regs)
{
  if (o->symbol) return o->symbol->space == PTX_SHARED ? o->symbol : NULL;
  if (o->kind == PTX_O_REG || (o->kind == PTX_O_ADDRESS && o->has_reg)) return regs[o->reg];
  return NULL;
}

void lower_origins(struct sim_func *f)
{
  const struct ptx_function *p = f->ptx;
  const struct ptx_symbol **regs = calloc(p->nregs + 1, sizeof *regs);
  if (!regs) abort();
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = 0; k < p->ninsts; k++) {
      const struct ptx_inst *in = &p->insts[k];
      if (!carries(in->op) || in->operands[0].kind != PTX_O_REG) continue;
      const struct ptx_symbol *was = regs[in->operands[0].reg], *now = was;
      for (unsigned o = 1; o < in->noperands; o++) now = join(now, of_operand(&in->operands[o], regs));
      if (now != was) {
        regs[in->operands[0].reg] = now;
        changed = true;
      }
    }
  }
  for (uint32_t k = 0; k < f->ninsts; k++) {
    const struct ptx_inst *in = &p->insts[k];
    if (f->insts[k].site == SIM_NO_SITE) continue;
    const struct ptx_symbol *from = NULL;
    /* A bulk copy's third address is its mbarrier. */
    bool bulk = in->op == PTX_CP_ASYNC_BULK || in->op == PTX_CP_ASYNC_BULK_TENSOR;
    for (unsigned o = 0; o < in->noperands && !(bulk && o == 2); o++)
      if (in->operands[o].kind == PTX_O_ADDRESS) from = join(from, of_operand(&in->operands[o], regs));
    if (from != &many) f->insts[k].origin = from;
  }
  free(regs);
}
