/* Which accesses wait for others, as far as the program's text shows it.
 *
 * A load or an atomic polls when its value, alone or with others, decides whether the loop around it
 * goes round again, and the loop stores to no memory that could be the same:
 *
 *     while (*(volatile int *)&flag == 0) continue;
 *     while (atomicCAS(&lock, 0, 1) != 0) continue;
 *
 * A load is checked when its value goes, through moves only, into the compared operand of an
 * atom.cas: what it read may be old by then, and the atom.cas finds out.
 *
 * Both are looked for in the order of the text: a loop is a branch back, and the instructions from
 * its target to it. */
#include <stdlib.h>

#include "internal.h"

enum { LONGEST = 256 };        /* instructions of a loop that waits */

static bool is_set(const uint8_t *regs, uint32_t reg) { return reg != PTX_NOREG && regs[reg]; }

static bool marked(const struct ptx_function *p, const struct ptx_operand *o, const uint8_t *regs)
{
  if (o->kind == PTX_O_REG) return is_set(regs, o->reg);
  if (o->kind == PTX_O_ADDRESS) return o->has_reg && is_set(regs, o->reg);
  if (o->kind == PTX_O_VECTOR || o->kind == PTX_O_PARAMS)
    for (uint32_t e = 0; e < o->count; e++)
      if (marked(p, &p->pool[o->first + e], regs)) return true;
  return false;
}

static bool mark(const struct ptx_function *p, const struct ptx_operand *o, uint8_t *regs)
{
  bool changed = false;
  if (o->kind == PTX_O_REG) {
    changed = !is_set(regs, o->reg) || (o->reg2 != PTX_NOREG && !regs[o->reg2]);
    regs[o->reg] = 1;
    if (o->reg2 != PTX_NOREG) regs[o->reg2] = 1;
  }
  if (o->kind == PTX_O_VECTOR)
    for (uint32_t e = 0; e < o->count; e++) changed |= mark(p, &p->pool[o->first + e], regs);
  return changed;
}

/* ---- checked ------------------------------------------------------------------------------------ */

static void find_checked(struct sim_func *f, uint8_t *regs)
{
  const struct ptx_function *p = f->ptx;
  bool any = false;
  for (uint32_t k = 0; k < f->ninsts; k++) {
    const struct ptx_inst *in = &p->insts[k];
    if (in->op == PTX_ATOM && ptx_has(in, PTX_M_CAS) && in->noperands > 2)
      any |= mark(p, &in->operands[2], regs);
  }
  for (bool changed = any; changed;) {
    changed = false;
    for (uint32_t k = 0; k < f->ninsts; k++) {
      const struct ptx_inst *in = &p->insts[k];
      if (in->op == PTX_MOV && in->noperands == 2 && marked(p, &in->operands[0], regs))
        changed |= mark(p, &in->operands[1], regs);
    }
  }
  for (uint32_t k = 0; any && k < f->ninsts; k++)
    if (p->insts[k].op == PTX_LD && f->insts[k].site != SIM_NO_SITE &&
        f->insts[k].elements == 1 && marked(p, &p->insts[k].operands[0], regs))
      f->insts[k].flags |= SIM_MEM_CHECKED;
}

/* ---- polling ------------------------------------------------------------------------------------ */

static bool polls(const struct sim_inst *i)
{
  if (i->site == SIM_NO_SITE) return false;
  bool global = i->space == PTX_GLOBAL;
  if (!global && i->space != PTX_SHARED && i->space != PTX_GENERIC) return false;
  /* In global memory a counter that deals out work looks like a poll: a lock does not. */
  if (i->ptx->op == PTX_ATOM)
    return !global || ptx_has(i->ptx, PTX_M_CAS) || ptx_has(i->ptx, PTX_M_EXCH);
  return i->ptx->op == PTX_LD && i->flags & (SIM_MEM_VOLATILE | SIM_MEM_ORDERED);
}

/* Whether a loop's store may go where the load looks. */
static bool may_store(const struct sim_inst *load, const struct sim_inst *i)
{
  if (i->ptx->op == PTX_BAR || i->ptx->op == PTX_BARRIER || i->ptx->op == PTX_CALL) return true;
  if (i->ptx->op != PTX_ST) return false;
  if (i->space != load->space && i->space != PTX_GENERIC && load->space != PTX_GENERIC) return false;
  if (i->space == PTX_LOCAL) return false;
  return !load->origin || !i->origin || load->origin == i->origin;
}

/* Whether the value of instruction k decides a branch of the loop [first, last]. */
static bool decides(const struct sim_func *f, uint32_t k, uint32_t first, uint32_t last, uint8_t *regs)
{
  const struct ptx_function *p = f->ptx;
  for (size_t r = 0; r < p->nregs; r++) regs[r] = 0;
  mark(p, &p->insts[k].operands[0], regs);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = first; n <= last; n++) {
      const struct ptx_inst *in = &p->insts[n];
      if (in->op == PTX_BRA && is_set(regs, in->guard)) return true;
      if (f->insts[n].site != SIM_NO_SITE || !in->noperands) continue;
      bool reads = is_set(regs, in->guard);
      for (unsigned o = 1; o < in->noperands; o++) reads |= marked(p, &in->operands[o], regs);
      if (reads) changed |= mark(p, &in->operands[0], regs);
    }
  }
  return false;
}

static void find_polls(struct sim_func *f, uint32_t first, uint32_t last, uint8_t *regs)
{
  for (uint32_t k = first; k <= last; k++) {
    struct sim_inst *i = &f->insts[k];
    if (!polls(i) || i->flags & SIM_MEM_POLL) continue;
    bool stores = false;
    for (uint32_t n = first; n <= last && i->ptx->op == PTX_LD; n++)
      stores |= may_store(i, &f->insts[n]);
    if (!stores && decides(f, k, first, last, regs)) i->flags |= SIM_MEM_POLL;
  }
}

/* The first look before a loop that was turned round stands on the same line: its own, of a header,
 * not that of the author's call, on which there may be other loads. */
static void find_first_looks(struct sim_func *f)
{
  for (uint32_t k = 0; k < f->ninsts; k++) {
    const struct sim_inst *i = &f->insts[k];
    if (!(i->flags & SIM_MEM_POLL) || i->ptx->op != PTX_LD) continue;
    for (uint32_t n = k > LONGEST ? k - LONGEST : 0; n < k; n++) {
      struct sim_inst *j = &f->insts[n];
      if (polls(j) && j->ptx->op == PTX_LD && i->ptx->source_line && j->width == i->width &&
          j->ptx->source_line == i->ptx->source_line && j->ptx->file == i->ptx->file)
        j->flags |= SIM_MEM_POLL;
    }
  }
}

void lower_waits(struct sim_func *f)
{
  uint8_t *regs = NULL;
  bool polled = false;
  for (uint32_t k = 0; k < f->ninsts; k++) {
    polled |= polls(&f->insts[k]);
    if (f->insts[k].ptx->op == PTX_ATOM || polls(&f->insts[k])) {
      regs = calloc(f->ptx->nregs + 1, 1);
      if (!regs) abort();
      break;
    }
  }
  if (!regs) return;
  find_checked(f, regs);
  for (uint32_t k = 0; k < f->ninsts && polled; k++) {
    const struct sim_inst *i = &f->insts[k];
    if (i->ptx->op == PTX_BRA && i->target <= k && k - i->target < LONGEST)
      find_polls(f, i->target, k, regs);
  }
  find_first_looks(f);
  free(regs);
}

/* Whether something in the functions reached orders threads one by one: then each reader is kept. */
bool lower_orders_apart(const struct sim *sim, const bool *reached)
{
  for (size_t f = 0; f < sim->nfuncs; f++)
    for (uint32_t k = 0; reached[f] && k < sim->funcs[f].ninsts; k++) {
      const struct sim_inst *i = &sim->funcs[f].insts[k];
      uint32_t apart = SIM_MEM_ACQUIRE | SIM_MEM_RELEASE | SIM_MEM_VOLATILE;
      if (i->space != PTX_GLOBAL) apart |= SIM_MEM_POLL;
      if (i->flags & apart && i->site != SIM_NO_SITE) return true;
      switch (i->ptx->op) {
      case PTX_FENCE: case PTX_MEMBAR: case PTX_MBARRIER_INIT: return true;
      case PTX_BAR: case PTX_BARRIER: case PTX_BARRIER_CLUSTER:
        if (i->small[1] || i->run == exec_bar_arrive) return true;
        break;
      default: break;
      }
    }
  return false;
}
