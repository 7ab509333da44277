/* Jumps, calls, barriers of the block, and the ends of a thread. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"

HANDLER(bra)
{
  if (exec == w->active && !w->ngroups) w->pc = i->target;
  else warp_jump(w, exec, i->target);
}

/* Tables of jump targets: each set of lanes with one target jumps alone. */
HANDLER(brx)
{
  const struct ptx_table *t = &w->frame->func->ptx->tables[i->imm];
  const u32_row *a = SIM_ROW(u32_row, i->a);
  uint32_t next = w->pc;
  while (exec) {
    unsigned lane = first_lane(exec);
    uint32_t index = a[lane], same = 0;
    if (index >= t->count) {
      fault_note(w, i, lane, SIM_FAULT_BOUNDS, true, "jumps to entry %u of a table of %zu", index,
                 t->count);
      return;
    }
    for (uint32_t m = exec; m; m &= m - 1)
      if (a[first_lane(m)] == index) same |= 1u << first_lane(m);
    exec &= ~same;
    if (same == w->active) {
      w->pc = t->targets[index];
    } else {
      warp_park(w, same, GROUP_RUN, t->targets[index], i);
    }
  }
  if (w->pc != next || w->ngroups) warp_reschedule(w);
}

static void lower_bra(struct lowering *l)
{
  l->out->target = (uint32_t)l->in->operands[0].imm;
  l->out->run = bra;
}
static void lower_brx(struct lowering *l)
{
  l->out->a = lower_source(l, &l->in->operands[0], 32);
  l->out->imm = l->in->operands[1].imm;
  l->out->run = brx;
}

/* ---- calls ------------------------------------------------------------------------------------------- */

/* An argument or a return value, as the caller sees it. */
struct passed {
  bool in_frame;               /* a .param variable at `at`; else a row */
  uint32_t at, bytes;
  sim_ref row;
};
struct call {
  struct sim_func *callee;     /* NULL: by address in a */
  uint32_t nargs, nreturns;
  struct passed slots[];       /* arguments, then return values */
};

static uint8_t *lane_memory(const struct warp *w, unsigned lane)
{
  return w->local + (size_t)lane * w->local_room;
}

static void copy_passed(struct warp *w, const struct passed *p, uint32_t caller, uint32_t callee,
                        const struct ptx_symbol *s, uint32_t lanes, bool in)
{
  uint32_t bytes = p->bytes < s->bytes ? p->bytes : (uint32_t)s->bytes;
  for (; lanes; lanes &= lanes - 1) {
    unsigned l = first_lane(lanes);
    uint8_t *there = lane_memory(w, l) + callee + s->offset, *here;
    if (p->in_frame) here = lane_memory(w, l) + caller + p->at;
    else here = SIM_ROW(u8_row, p->row) + l * (p->bytes > 4 ? 8 : 4);
    if (in) memcpy(there, here, bytes);
    else memcpy(here, there, bytes);
  }
}

HANDLER(call)
{
  const struct call *c = i->extra;
  struct sim_func *f = c->callee;
  uint32_t lanes = exec;
  if (!f) {
    const u64_row *a = SIM_ROW(u64_row, i->a);
    unsigned lane = first_lane(exec);
    uint64_t at = a[lane] - SIM_FUNCTION_WINDOW, index = at / 16;
    struct sim *sim = w->runner->sim;
    if (at % 16 || index >= sim->nfuncs || !w->runner->reached[index] ||
        !sim->funcs[index].insts || sim->funcs[index].ptx->is_entry) {
      fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                 "calls 0x%llx, which is not the address of a function", (unsigned long long)a[lane]);
      return;
    }
    f = &sim->funcs[index];
    if (f->ptx->nparams != c->nargs || f->ptx->nreturns != c->nreturns) {
      fault_note(w, i, lane, SIM_FAULT_TRAP, true,
                 "calls '%s' with %u arguments; it takes %zu", f->ptx->name, c->nargs,
                 f->ptx->nparams);
      return;
    }
    lanes = 0;
    for (uint32_t m = exec; m; m &= m - 1)
      if (a[first_lane(m)] == a[lane]) lanes |= 1u << first_lane(m);
  }
  uint32_t later = exec & ~lanes, past = w->active & ~exec;
  if (later) warp_park(w, later, GROUP_RUN, w->pc - 1, i);   /* they call something else */
  if (past) warp_park(w, past, GROUP_RUN, w->pc, i);
  uint32_t caller = w->frame->local_base;
  struct frame *from = w->frame;
  if (!frame_enter(w, f, i, lanes)) return;
  uint8_t *regs = w->base[SIM_IN_FRAME];
  w->base[SIM_IN_FRAME] = from->regs;
  for (uint32_t k = 0; k < c->nargs; k++)
    copy_passed(w, &c->slots[k], caller, w->frame->local_base, f->ptx->params[k], lanes, true);
  w->base[SIM_IN_FRAME] = regs;
  warp_reschedule(w);
}

void exec_ret(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  struct frame *fr = w->frame;
  if (!fr->parent) {
    warp_exit(w, exec);
    return;
  }
  const struct call *c = fr->call->extra;
  const struct sim_func *f = fr->func;
  w->base[SIM_IN_FRAME] = fr->parent->regs;
  for (uint32_t k = 0; k < c->nreturns && k < f->ptx->nreturns; k++)
    copy_passed(w, &c->slots[c->nargs + k], fr->parent->local_base, fr->local_base,
                f->ptx->returns[k], exec, false);
  w->base[SIM_IN_FRAME] = fr->regs;
  warp_return(w, exec, i);
}

static void lower_passed(struct lowering *l, const struct ptx_operand *o, struct passed *p,
                         const struct ptx_symbol *formal)
{
  if (o->kind == PTX_O_SYMBOL && o->symbol->space == PTX_PARAM) {
    p->in_frame = true;
    p->at = (uint32_t)o->symbol->offset;
    p->bytes = (uint32_t)o->symbol->bytes;
    return;
  }
  unsigned bits = lower_bits(l, o);
  if (!bits) bits = formal ? ptx_type_bits(formal->type) : 32;
  p->bytes = bits / 8;
  p->row = lower_source(l, o, bits);
}

/* Functions that the system gives a kernel. */
static const struct { const char *name; sim_handler *run; } given[] = {
    {"vprintf", exec_vprintf}, {"__assertfail", exec_assertfail}, {"malloc", exec_malloc},
    {"__cuda_syscall_aligned_malloc", exec_aligned_malloc}, {"free", exec_free},
};

static void lower_call(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  const struct ptx_function *caller = l->func->ptx;
  struct sim *sim = l->sim;
  const struct ptx_operand *target = NULL, *args = NULL, *returns = NULL;
  const struct ptx_function *formal = NULL;
  for (unsigned k = 0; k < in->noperands; k++) {
    const struct ptx_operand *o = &in->operands[k];
    if (o->kind == PTX_O_PARAMS && !target) returns = o;
    else if (o->kind == PTX_O_PARAMS) args = o;
    else if (o->kind == PTX_O_FUNCTION || o->kind == PTX_O_REG) target = target ? target : o;
    else if (o->kind == PTX_O_TABLE) formal = caller->tables[o->imm].prototype;
  }
  if (!target) {
    lower_refuse(l, "the function to call is missing");
    return;
  }
  uint32_t na = args ? args->count : 0, nr = returns ? returns->count : 0;
  struct call *c = calloc(1, sizeof *c + (na + nr) * sizeof *c->slots);
  if (!c) abort();
  l->out->extra = c;
  c->nargs = na;
  c->nreturns = nr;
  l->out->run = call;
  if (target->kind == PTX_O_FUNCTION) {
    formal = target->function;
    for (size_t k = 0; k < sim->nfuncs; k++)
      if (sim->funcs[k].source == formal) c->callee = &sim->funcs[k];
    if (!formal->has_body) {
      l->out->run = NULL;
      for (size_t k = 0; k < sizeof given / sizeof *given; k++)
        if (!strcmp(formal->name, given[k].name)) l->out->run = given[k].run;
      if (!strncmp(formal->name, "__cudaCDP", 9) || !strncmp(formal->name, "cuda", 4)) {
        lower_refuse(l, "kernels that launch kernels, or call the CUDA runtime otherwise, are not simulated");
        return;
      }
      if (!l->out->run) {
        lower_refuse(l, "the function '%s' is declared but not here, and the simulator has no "
                        "stand-in for it", formal->name);
        return;
      }
    } else if (formal->nparams != na || formal->nreturns != nr) {
      lower_refuse(l, "'%s' takes %zu arguments", formal->name, formal->nparams);
      return;
    }
  } else {
    l->out->a = lower_source(l, target, 64);
  }
  for (uint32_t k = 0; k < na; k++)
    lower_passed(l, &caller->pool[args->first + k], &c->slots[k],
                 formal && k < formal->nparams ? formal->params[k] : NULL);
  for (uint32_t k = 0; k < nr; k++)
    lower_passed(l, &caller->pool[returns->first + k], &c->slots[na + k],
                 formal && k < formal->nreturns ? formal->returns[k] : NULL);
}

uint64_t call_argument(struct warp *w, const struct sim_inst *i, unsigned lane, unsigned k)
{
  const struct call *c = i->extra;
  uint64_t v = 0;
  if (k >= c->nargs) return 0;
  const struct passed *p = &c->slots[k];
  uint32_t bytes = p->bytes < 8 ? p->bytes : 8;
  if (p->in_frame) memcpy(&v, lane_memory(w, lane) + w->frame->local_base + p->at, bytes);
  else memcpy(&v, SIM_ROW(u8_row, p->row) + lane * (p->bytes > 4 ? 8 : 4), bytes);
  return v;
}

void call_result(struct warp *w, const struct sim_inst *i, unsigned lane, uint64_t v)
{
  const struct call *c = i->extra;
  if (!c->nreturns) return;
  const struct passed *p = &c->slots[c->nargs];
  uint32_t bytes = p->bytes < 8 ? p->bytes : 8;
  if (p->in_frame) memcpy(lane_memory(w, lane) + w->frame->local_base + p->at, &v, bytes);
  else memcpy(SIM_ROW(u8_row, p->row) + lane * (p->bytes > 4 ? 8 : 4), &v, bytes);
}

/* ---- ends -------------------------------------------------------------------------------------------- */

HANDLER(exec_exit)
{
  (void)i;
  warp_exit(w, exec);
}
HANDLER(trap)
{
  fault_note(w, i, first_lane(exec), SIM_FAULT_TRAP, true,
             "the kernel stopped itself here (trap): __trap(), or a failed check of the compiler's");
}
HANDLER(nanosleep)
{
  (void)i;
  (void)exec;
  w->clock += 1000;
  w->spins += 1000;   /* sleeping threads wait for others */
}
HANDLER(nothing)
{
  (void)w;
  (void)i;
  (void)exec;
}

static void lower_ret(struct lowering *l) { l->out->run = exec_ret; }
static void lower_exit(struct lowering *l) { l->out->run = exec_exit; }
static void lower_trap(struct lowering *l) { l->out->run = trap; }
static void lower_nothing(struct lowering *l) { l->out->run = nothing; }
static void lower_nanosleep(struct lowering *l) { l->out->run = nanosleep; }

/* ---- barriers of the block ------------------------------------------------------------------------------ */

static void lower_bar(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned at = 0;
  bool red = ptx_has(in, PTX_M_RED);
  if (red) {
    s->small[0] = ptx_has(in, PTX_M_POPC) ? 0 : ptx_has(in, PTX_M_AND) ? 1 : 2;
    s->d = lower_dest(l, &in->operands[at++], s->small[0] ? 1 : 32);
  }
  s->a = in->noperands > at ? lower_source(l, &in->operands[at], 32) : lower_const(l, 0, 32);
  at++;
  unsigned last = in->noperands - (red ? 1 : 0);
  s->small[1] = in->noperands > at && at < last;
  if (s->small[1]) s->b = lower_source(l, &in->operands[at], 32);
  if (red) {
    uint32_t flip;
    s->c = lower_pred(l, &in->operands[in->noperands - 1], &flip);
    s->imm = flip;
  }
  s->small[2] = in->op == PTX_BAR || ptx_has(in, PTX_M_ALIGNED);
  s->run = red ? exec_bar_red : ptx_has(in, PTX_M_ARRIVE) ? exec_bar_arrive : exec_bar_sync;
}

const struct sim_form sim_forms_control[] = {
    FORM_ANY(BRA, lower_bra),
    FORM_ANY(BRX_IDX, lower_brx),
    FORM_ANY(CALL, lower_call),
    FORM_ANY(RET, lower_ret),
    FORM_ANY(EXIT, lower_exit),
    FORM_ANY(TRAP, lower_trap),
    FORM_ANY(BRKPT, lower_nothing),
    FORM_ANY(PMEVENT, lower_nothing),
    FORM_ANY(NANOSLEEP, lower_nanosleep),
    FORM_ANY(SETMAXNREG, lower_nothing),
    FORM_ANY(GRIDDEPCONTROL, lower_nothing),
    FORM_ANY(BAR, lower_bar),
    FORM_ANY(BARRIER, lower_bar),
    {.op = PTX_OPS},
};
