/* sim_unroll(): a function with its loops unrolled and its loads moved as ptxas does.
 *
 * Unrolled loops matter to counts twice.  Accesses of neighbouring passes join.  And where lanes of a
 * warp take different numbers of passes, four passes at a time part the lanes at other places than
 * one at a time.  So the loop is rewritten and the copy runs; that the values are the same does not
 * rest on any rule about ptxas, only on the rewriting here, which is exact for every bound.
 *
 * The number of passes not known: with `more(k)` for "k more passes follow the next one",
 *
 *         first = true                     (a loop's first pass is not asked for; where the
 *                                           bound has no sign: first = it goes on, else pass)
 *         if (!more(3)) goto two
 *   four: pass pass pass pass
 *         if (more(3)) goto four
 *         first = false
 *   two:  if (more(1)) { pass pass; first = false }
 *   one:  if (first || it goes on) pass    (where it goes on until equal: the loop as it was)
 *
 * A loop that asks at its top is turned round before: its test is written once more at its end.
 *
 * A load that ptxas does further on, behind a branch, is written once more there; the copy counts.  The
 * first one still runs, silently: what is wrong with it is wrong with the program as written.
 */
#include "fuse.h"
#include <stdlib.h>
#include <string.h>

enum { PASSES = 4, GROWTH = 8, GROWTH_BASE = 20000 };

struct moved {
  struct fuse_sink is;
  uint32_t address;                   /* a copy of the load's address register; PTX_NOREG: none */
};

struct rewrite {
  const struct ptx_module *module;
  const struct ptx_function *f;       /* what is being rewritten */
  struct ptx_inst *insts;
  uint32_t *from, *target;            /* target: a branch's, in f; FUSE_NONE: set already */
  uint8_t *unsure;
  uint32_t n, cap, limit;
  struct ptx_reg *regs;
  size_t nregs;
  struct fuse_loop *loops;
  uint32_t nloops, loops_cap;
  struct fuse_turn *turns;
  uint32_t nturns, turns_cap;
  struct moved *moved;                /* by where to, then as written */
  uint32_t nmoved, moved_cap;
  bool failed, again;                 /* again: loops around what is whole now may follow */
};

/* ---- writing instructions ------------------------------------------------------------------------ */

static void put(struct rewrite *w, struct ptx_inst i, uint32_t from, uint32_t target)
{
  if (w->failed) return;
  if (w->n == w->cap) {
    uint32_t cap = w->cap ? 2 * w->cap : 256;
    struct ptx_inst *insts = realloc(w->insts, cap * sizeof *insts);
    if (insts) w->insts = insts;
    uint32_t *more = realloc(w->from, cap * sizeof *more);
    if (more) w->from = more;
    uint32_t *targets = realloc(w->target, cap * sizeof *targets);
    if (targets) w->target = targets;
    if (!insts || !more || !targets) {
      w->failed = true;
      return;
    }
    w->cap = cap;
  }
  w->insts[w->n] = i;
  w->from[w->n] = from;
  w->target[w->n++] = target;
}

static uint32_t add_register(struct rewrite *w, enum ptx_type type)
{
  static char name[] = "%unrolled";
  struct ptx_reg *more = realloc(w->regs, (w->nregs + 1) * sizeof *more);
  if (!more) {
    w->failed = true;
    return 0;
  }
  w->regs = more;
  w->regs[w->nregs] = (struct ptx_reg){name, type};
  return (uint32_t)w->nregs++;
}

static struct ptx_operand reg(uint32_t r)
{
  return (struct ptx_operand){.kind = PTX_O_REG, .reg = r, .reg2 = PTX_NOREG};
}

static struct ptx_operand imm(uint64_t k)
{
  return (struct ptx_operand){.kind = PTX_O_IMM, .reg = PTX_NOREG, .reg2 = PTX_NOREG, .imm = k};
}

struct maker {
  struct rewrite *w;
  uint32_t at;                        /* the instruction all is made for */
  const struct fuse_loop *l;
  uint32_t first, test, left;         /* registers: the first pass is to come, a test, passes left */
};

static void make(struct maker *m, enum ptx_op op, const char *text, enum ptx_type type,
                 const enum ptx_mod mods[2], const struct ptx_operand *operands, unsigned n)
{
  struct ptx_inst i = m->w->f->insts[m->at];
  i.op = (uint16_t)op;
  i.space = PTX_GENERIC;
  i.vector = 1;
  i.ntypes = type != PTX_NOTYPE;
  memset(i.types, 0, sizeof i.types);
  i.types[0] = (uint8_t)type;
  memset(i.mods, 0, sizeof i.mods);
  for (int k = 0; k < 2; k++)
    if (mods[k] != PTX_MODS) i.mods[mods[k] / 64] |= 1ull << mods[k] % 64;
  i.guard = PTX_NOREG;
  i.guard_negated = i.nounroll = i.masked = false;
  i.mnemonic = text;
  i.noperands = (uint8_t)n;
  memset(i.operands, 0, sizeof i.operands);
  memcpy(i.operands, operands, n * sizeof *operands);
  put(m->w, i, m->at, FUSE_NONE);
}

static const enum ptx_mod none[2] = {PTX_MODS, PTX_MODS};

static void make_first(struct maker *m, bool is)
{
  const enum ptx_mod mods[2] = {is ? PTX_M_EQ : PTX_M_NE, PTX_MODS};
  const struct ptx_operand o[3] = {reg(m->first), imm(0), imm(0)};
  make(m, PTX_SETP, is ? "setp.eq.u32" : "setp.ne.u32", PTX_T_U32, mods, o, 3);
}

/* A branch; its target is an instruction of the rewritten function, to be set when it is known. */
static uint32_t make_branch(struct maker *m, uint32_t test, bool when)
{
  const struct ptx_operand o[1] = {{.kind = PTX_O_LABEL, .reg = PTX_NOREG, .reg2 = PTX_NOREG}};
  make(m, PTX_BRA, "bra", PTX_NOTYPE, none, o, 1);
  if (m->w->failed) return 0;
  m->w->insts[m->w->n - 1].guard = test;
  m->w->insts[m->w->n - 1].guard_negated = !when;
  return m->w->n - 1;
}

static void set_target(struct rewrite *w, uint32_t branch, uint32_t to)
{
  if (!w->failed) w->insts[branch].operands[0].imm = to;
}

static enum ptx_type type_of(const struct fuse_loop *l, bool is_unsigned)
{
  if (l->bits == 64) return is_unsigned ? PTX_T_U64 : PTX_T_S64;
  return is_unsigned ? PTX_T_U32 : PTX_T_S32;
}

/* to = it goes on */
static void make_goes_on(struct maker *m, uint32_t to)
{
  const struct fuse_loop *l = m->l;
  const enum ptx_mod mods[2] = {l->order, PTX_MODS};
  const struct ptx_operand o[3] = {reg(to), reg(l->counter), *l->bound};
  make(m, PTX_SETP, "setp", type_of(l, l->is_unsigned), mods, o, 3);
}

/* test = k more passes follow the next one.  What is left to the bound is compared with k steps; it
 * can't be more than a number of that width once the counter is known to be on the near side. */
static void make_more(struct maker *m, uint32_t k)
{
  const struct fuse_loop *l = m->l;
  bool up = l->step > 0, until = l->order == PTX_M_NE;
  uint64_t way = (uint64_t)(up ? l->step : -(int64_t)l->step) * k;
  const struct ptx_operand d[3] = {reg(m->left), up ? *l->bound : reg(l->counter),
                                   up ? reg(l->counter) : *l->bound};
  if (!until) make_goes_on(m, m->test);
  make(m, PTX_SUB, "sub", type_of(l, true), none, d, 3);
  bool equal_too = l->order == PTX_M_LE || l->order == PTX_M_GE;
  const enum ptx_mod mods[2] = {equal_too ? PTX_M_GE : PTX_M_GT, until ? PTX_MODS : PTX_M_AND};
  const struct ptx_operand o[4] = {reg(m->test), reg(m->left), imm(way), reg(m->test)};
  make(m, PTX_SETP, "setp", type_of(l, !until), mods, o, until ? 3 : 4);
}

/* ---- passes ------------------------------------------------------------------------------------------ */

static void put_pass(struct rewrite *w, const struct fuse_loop *l, bool mark)
{
  uint32_t base = w->n;
  for (uint32_t k = l->first; k + 1 < l->end; k++) {
    struct ptx_inst i = w->f->insts[k];
    if (k == l->first && mark) i.nounroll = true;
    i.unfolded |= !l->counted && l->branches && i.op == PTX_ADD && i.operands[1].kind == PTX_O_REG &&
                  i.operands[2].kind == PTX_O_IMM && i.operands[0].reg == i.operands[1].reg;
    if (i.op == PTX_BRA) i.operands[0].imm = base + (i.operands[0].imm - l->first);
    put(w, i, k, FUSE_NONE);
  }
}

/* The loop's own branch, back to `top`. */
static void put_branch(struct rewrite *w, const struct fuse_loop *l, uint32_t top)
{
  struct ptx_inst i = w->f->insts[l->end - 1];
  i.operands[0].imm = top;
  put(w, i, l->end - 1, FUSE_NONE);
}

static void put_known(struct rewrite *w, const struct fuse_loop *l)
{
  if (l->whole) w->again = true;
  for (uint32_t k = 0; k < l->before; k++) put_pass(w, l, false);
  uint32_t top = w->n;
  for (uint32_t k = 0; k < l->factor; k++) put_pass(w, l, !l->whole && k == 0);
  if (!l->whole) put_branch(w, l, top);
}

static void put_unknown(struct rewrite *w, const struct fuse_loop *l)
{
  struct maker m = {w, l->compare, l, add_register(w, PTX_T_PRED), add_register(w, PTX_T_PRED),
                    add_register(w, l->bits == 64 ? PTX_T_B64 : PTX_T_B32)};
  if (l->is_unsigned && l->order != PTX_M_NE) {
    make_goes_on(&m, m.first);
    uint32_t on = make_branch(&m, m.first, true);
    put_pass(w, l, false);
    set_target(w, on, w->n);
  } else {
    make_first(&m, true);
  }
  make_more(&m, PASSES - 1);
  uint32_t skip = make_branch(&m, m.test, false), four = w->n;
  for (int k = 0; k < PASSES; k++) put_pass(w, l, k == 0);
  make_more(&m, PASSES - 1);
  set_target(w, make_branch(&m, m.test, true), four);
  make_first(&m, false);
  set_target(w, skip, w->n);
  make_more(&m, 1);
  skip = make_branch(&m, m.test, false);
  put_pass(w, l, false);
  put_pass(w, l, false);
  make_first(&m, false);
  set_target(w, skip, w->n);
  const enum ptx_mod mods[2] = {PTX_MODS, PTX_MODS};
  const struct ptx_operand o[3] = {reg(m.test), reg(m.test), reg(m.first)};
  make_goes_on(&m, m.test);
  make(&m, PTX_OR, "or.pred", PTX_T_PRED, mods, o, 3);
  skip = make_branch(&m, m.test, false);
  uint32_t one = w->n;
  put_pass(w, l, l->order == PTX_M_NE);
  if (l->order == PTX_M_NE) put_branch(w, l, one);
  set_target(w, skip, w->n);
}

/* ---- moved loads ------------------------------------------------------------------------------------ */

static void note_moved(void *data, const struct fuse_sink *s)
{
  struct rewrite *w = data;
  if (w->nmoved == w->moved_cap) {
    uint32_t cap = w->moved_cap ? 2 * w->moved_cap : 16;
    struct moved *more = realloc(w->moved, cap * sizeof *more);
    if (!more) {
      w->failed = true;
      return;
    }
    w->moved = more;
    w->moved_cap = cap;
  }
  w->moved[w->nmoved++] = (struct moved){*s, PTX_NOREG};
}

static int by_place(const void *a, const void *b)
{
  const struct fuse_sink *x = &((const struct moved *)a)->is, *y = &((const struct moved *)b)->is;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  return x->inst < y->inst ? -1 : x->inst > y->inst;
}

/* What has moved to right before instruction `to`; *next: the first not yet put there. */
static void put_moved(struct rewrite *w, uint32_t to, uint32_t *next)
{
  for (; *next < w->nmoved && w->moved[*next].is.to == to; ++*next) {
    const struct moved *m = &w->moved[*next];
    struct ptx_inst i = w->f->insts[m->is.inst];
    if (m->address != PTX_NOREG) i.operands[1].reg = m->address;
    put(w, i, m->is.inst, FUSE_NONE);
  }
}

/* Instruction `inst` as it is; a load that moves, silent and with its address kept. */
static void put_written(struct rewrite *w, uint32_t inst, struct moved *m)
{
  struct ptx_inst i = w->f->insts[inst];
  if (m && m->is.keep) {
    struct maker maker = {.w = w, .at = inst};
    uint32_t from = i.operands[1].reg, bits = ptx_type_bits(w->f->regs[from].type);
    enum ptx_type type = bits == 64 ? PTX_T_B64 : PTX_T_B32;
    m->address = add_register(w, type);
    const struct ptx_operand o[2] = {reg(m->address), reg(from)};
    make(&maker, PTX_MOV, "mov", type, none, o, 2);
  }
  i.silent |= m != NULL;
  put(w, i, inst, i.op == PTX_BRA ? (uint32_t)i.operands[0].imm : FUSE_NONE);
}

/* ---- loops that ask at their top ---------------------------------------------------------------- */

static void note_turn(void *data, const struct fuse_turn *t)
{
  struct rewrite *w = data;
  if (w->nturns == w->turns_cap) {
    uint32_t cap = w->turns_cap ? 2 * w->turns_cap : 16;
    struct fuse_turn *more = realloc(w->turns, cap * sizeof *more);
    if (!more) {
      w->failed = true;
      return;
    }
    w->turns = more;
    w->turns_cap = cap;
  }
  w->turns[w->nturns++] = *t;
}

/* The test, the loop without it, the test the other way round; to where the loop is left for. */
static void put_turned(struct rewrite *w, const struct fuse_turn *t, uint32_t *where)
{
  const struct ptx_inst *insts = w->f->insts;
  uint32_t out = (uint32_t)insts[t->body - 1].operands[0].imm, top = 0;
  for (uint32_t k = t->first; k + 1 < t->end; k++) {
    struct ptx_inst i = insts[k];
    where[k] = w->n;
    if (k == t->body) {
      top = w->n;
      i.nounroll |= insts[t->first].nounroll || insts[t->body - 1].guard_negated;
    }
    put(w, i, k, i.op == PTX_BRA ? (uint32_t)i.operands[0].imm : FUSE_NONE);
  }
  where[t->end - 1] = w->n;                    /* who goes on comes to the second test */
  for (uint32_t k = t->first; k < t->body; k++) {
    struct ptx_inst i = insts[k];
    if (k == t->body - 1) {
      i.operands[0].imm = top;
      i.guard_negated = !i.guard_negated;
    }
    put(w, i, k, FUSE_NONE);
  }
  if (out == t->end) return;
  struct ptx_inst leave = insts[t->end - 1];
  put(w, leave, t->end - 1, out);
}

static void note_loop(void *data, const struct fuse_loop *l)
{
  struct rewrite *w = data;
  if (w->nloops == w->loops_cap) {
    uint32_t cap = w->loops_cap ? 2 * w->loops_cap : 16;
    struct fuse_loop *more = realloc(w->loops, cap * sizeof *more);
    if (!more) {
      w->failed = true;
      return;
    }
    w->loops = more;
    w->loops_cap = cap;
  }
  w->loops[w->nloops++] = *l;
}

/* ---- a round of it ------------------------------------------------------------------------------------ */

static void find_turns(struct rewrite *w)
{
  struct fuse z = {.module = w->module, .f = w->f};
  fuse_flow(&z);
  if (!z.failed) fuse_turns(&z, note_turn, w);
  fuse_free(&z);
}

static void find_loops(struct rewrite *w, bool flip)
{
  struct fuse z = {.module = w->module, .f = w->f};
  fuse_flow(&z);
  if (!z.failed) fuse_live(&z);
  if (!z.failed) fuse_uniform(&z);
  if (!z.failed) fuse_values(&z);
  if (!z.failed) fuse_unroll(&z, flip, note_loop, w);
  if (z.failed) w->nloops = 0;
  fuse_free(&z);
}

static void find_moved(struct rewrite *w)
{
  struct fuse z = {.module = w->module, .f = w->f};
  fuse_flow(&z);
  if (!z.failed) fuse_live(&z);
  if (!z.failed) fuse_uniform(&z);
  if (!z.failed) fuse_sink(&z, note_moved, w);
  if (z.failed) w->nmoved = 0;
  fuse_free(&z);
  if (w->nmoved) qsort(w->moved, w->nmoved, sizeof *w->moved, by_place);
}

/* Branches, labels and tables to where their targets have gone. */
static bool retarget(struct rewrite *w, const uint32_t *where, struct ptx_function *out)
{
  const struct ptx_function *f = w->f;
  for (uint32_t k = 0; k < w->n; k++)
    if (w->target[k] != FUSE_NONE) w->insts[k].operands[0].imm = where[w->target[k]];
  out->labels = malloc((f->nlabels + 1) * sizeof *out->labels);
  out->tables = calloc(f->ntables + 1, sizeof *out->tables);
  if (!out->labels || !out->tables) return false;
  for (size_t k = 0; k < f->nlabels; k++) {
    out->labels[k] = f->labels[k];
    out->labels[k].at = where[f->labels[k].at];
  }
  for (size_t t = 0; t < f->ntables; t++) {
    out->tables[t] = f->tables[t];
    if (!f->tables[t].targets) continue;
    uint32_t *to = malloc((f->tables[t].count + 1) * sizeof *to);
    out->tables[t].targets = to;
    if (!to) return false;
    for (size_t k = 0; k < f->tables[t].count; k++) to[k] = where[f->tables[t].targets[k]];
  }
  return true;
}

static uint64_t size_of(const struct fuse_loop *l)
{
  uint64_t passes = l->counted ? l->factor + l->before : PASSES + 3;
  return passes * (l->end - l->first) + 24;
}

/* The function with this round's loops rewritten.  NULL when memory ends, and when there are none and
 * it isn't wanted `always`. */
static struct sim_unrolled *round_of(struct rewrite *w, bool always)
{
  uint32_t n = (uint32_t)w->f->ninsts;
  uint32_t *where = malloc((n + 1) * sizeof *where);
  struct sim_unrolled *u = calloc(1, sizeof *u);
  w->regs = malloc((w->f->nregs + 1) * sizeof *w->regs);
  w->nregs = w->f->nregs;
  struct moved **moves = calloc(n + 1, sizeof *moves);
  uint32_t done = 0, next = 0;
  if (!where || !u || !w->regs || !moves) w->failed = true;
  for (uint32_t k = 0; !w->failed && k < w->nmoved; k++)
    if (w->moved[k].is.load && w->moved[k].is.to != FUSE_NONE) moves[w->moved[k].is.inst] = &w->moved[k];
  if (!w->failed) memcpy(w->regs, w->f->regs, w->nregs * sizeof *w->regs);
  for (uint32_t k = 0, l = 0, t = 0; k < n && !w->failed;) {
    while (t < w->nturns && w->turns[t].first < k) t++;
    if (t < w->nturns && w->turns[t].first == k) {
      put_turned(w, &w->turns[t], where);
      k = w->turns[t].end;
      done++;
      continue;
    }
    while (l < w->nloops && w->loops[l].first < k) l++;
    const struct fuse_loop *loop = l < w->nloops && w->loops[l].first == k ? &w->loops[l] : NULL;
    if (loop && (loop->factor > 1 || loop->whole) && w->n + size_of(loop) + (n - k) <= w->limit) {
      for (; k < loop->end; k++) where[k] = w->n;
      if (loop->counted) put_known(w, loop);
      else put_unknown(w, loop);
      done++;
      continue;
    }
    bool once = next < w->nmoved && w->moved[next].is.to == k && w->moved[next].is.once;
    where[k] = w->n;
    put_moved(w, k, &next);
    if (once) where[k] = w->n;
    put_written(w, k, moves[k]);
    k++;
  }
  if (!w->failed) {
    where[n] = w->n;
    u->function = *w->f;
    u->function.insts = w->insts;
    u->function.ninsts = w->n;
    u->function.regs = w->regs;
    u->function.nregs = w->nregs;
    u->from = w->from;
    u->function.labels = NULL;
    u->function.tables = NULL;
    if (!retarget(w, where, &u->function)) w->failed = true;
  } else {
    free(w->insts);
    free(w->from);
    free(w->regs);
  }
  free(where);
  free(moves);
  free(w->target);
  if (!w->failed && (done || always)) return u;
  if (u && u->from) sim_unrolled_free(u);
  else free(u);
  return NULL;
}

void sim_unrolled_free(struct sim_unrolled *u)
{
  if (!u) return;
  for (size_t t = 0; u->function.tables && t < u->function.ntables; t++)
    free(u->function.tables[t].targets);
  free(u->function.tables);
  free(u->function.labels);
  free(u->function.insts);
  free(u->function.regs);
  free(u->from);
  free(u->notes);
  free(u);
}

/* `next` was made of `u`, and that of the function as loaded. */
static struct sim_unrolled *compose(struct sim_unrolled *u, struct sim_unrolled *next)
{
  for (uint32_t k = 0; u && k < next->function.ninsts; k++) next->from[k] = u->from[next->from[k]];
  sim_unrolled_free(u);
  return next;
}

/* Whether a branch goes back without a condition: else no loop asks at its top. */
static bool goes_back(const struct ptx_function *f)
{
  for (uint32_t k = 0; k < f->ninsts; k++)
    if (f->insts[k].op == PTX_BRA && f->insts[k].guard == PTX_NOREG && f->insts[k].operands[0].imm <= k)
      return true;
  return false;
}

static struct sim_unrolled *turn_loops(const struct ptx_module *module, const struct ptx_function *f)
{
  struct rewrite w = {.module = module, .f = f, .limit = UINT32_MAX};
  if (!goes_back(f)) return NULL;
  find_turns(&w);
  struct sim_unrolled *u = w.nturns && !w.failed ? round_of(&w, false) : NULL;
  free(w.turns);
  return u;
}

/* All rounds.  *unsure: a loop was decided that ptxas may decide otherwise.  `parts` marks the
 * instructions of those where that parts the lanes of a warp elsewhere. */
static struct sim_unrolled *unroll(const struct ptx_module *module, const struct ptx_function *f,
                                   bool flip, bool *unsure, uint8_t *parts)
{
  struct sim_unrolled *u = turn_loops(module, f);
  for (int round = 0; round < 4; round++) {
    struct rewrite w = {.module = module, .f = u ? &u->function : f,
                        .limit = GROWTH * (uint32_t)f->ninsts + GROWTH_BASE};
    find_loops(&w, flip);
    for (uint32_t l = 0; l < w.nloops; l++) {
      *unsure |= w.loops[l].unsure;
      if (w.loops[l].unsure && w.loops[l].divergent)
        for (uint32_t k = w.loops[l].first; k < w.loops[l].end; k++) parts[u ? u->from[k] : k] = 1;
    }
    struct sim_unrolled *next = w.nloops && !w.failed ? round_of(&w, false) : NULL;
    free(w.loops);
    if (!next) break;
    u = compose(u, next);
    if (!w.again) break;
  }
  return u;
}

/* The function, u or where that is NULL f itself, with loads moved; u where none is. */
static struct sim_unrolled *move_loads(const struct ptx_module *module, const struct ptx_function *f,
                                       struct sim_unrolled *u)
{
  struct rewrite w = {.module = module, .f = u ? &u->function : f, .limit = UINT32_MAX};
  find_moved(&w);
  struct sim_unrolled *next = w.nmoved && !w.failed ? round_of(&w, true) : NULL;
  if (next) {
    next->notes = calloc(next->function.ninsts + 1, sizeof *next->notes);
    for (uint32_t k = 0; next->notes && k < next->function.ninsts; k++) {
      uint32_t of = next->from[k];
      if (u && u->notes) next->notes[k] = u->notes[of];
      for (uint32_t m = w.nmoved; m-- > 0 && w.moved[m].is.to == FUSE_NONE;)
        if (w.moved[m].is.inst == of) next->notes[k] = w.moved[m].is.note;
    }
    u = compose(u, next);
  }
  free(w.moved);
  return u;
}

/* ---- where it would count to decide otherwise ---------------------------------------------------------- */

/* For each instruction of f what its copies issue, as one number: 0 nothing; MIXED where they differ. */
enum { MIXED = 1 };

static uint32_t *effects(const struct ptx_module *module, const struct ptx_function *f,
                         const struct sim_unrolled *u)
{
  uint32_t *of = calloc(f->ninsts + 1, sizeof *of);
  struct sim_plan *plan = NULL;
  size_t n = of ? sim_plan(module, u ? &u->function : f, &plan) : 0, end;
  for (size_t k = 0; k < n; k = end) {
    uint32_t inst = plan[k].inst, is = 7;
    for (end = k; end < n && plan[end].inst == inst; end++)
      is = (is ^ plan[end].width ^ (uint32_t)plan[end].op << 8) * 0x9e3779b1u + 2;
    uint32_t *o = &of[u ? u->from[inst] : inst];
    *o = *o == 0 || *o == is ? is : MIXED;
  }
  free(plan);
  return of;
}

static struct sim_unrolled *as_it_is(const struct ptx_module *module, const struct ptx_function *f)
{
  struct rewrite w = {.module = module, .f = f, .limit = UINT32_MAX};
  return round_of(&w, true);
}

struct sim_unrolled *sim_unroll(const struct ptx_module *module, const struct ptx_function *f)
{
  bool unsure = false, ignored = false, any = false;
  if (f->ninsts == 0 || f->ninsts > PTX_MAX_INSTS) return NULL;
  uint8_t *marks = calloc(f->ninsts + 1, 1), *other = calloc(f->ninsts + 1, 1);
  if (!marks || !other) {
    free(marks);
    free(other);
    return NULL;
  }
  struct sim_unrolled *u = unroll(module, f, false, &unsure, marks);
  if (unsure) {
    struct sim_unrolled *v = unroll(module, f, true, &ignored, other);
    uint32_t *a = effects(module, f, u), *b = effects(module, f, v);
    for (size_t k = 0; a && b && k < f->ninsts; k++) {
      marks[k] |= a[k] != b[k] || a[k] == MIXED;
      any |= marks[k] && a[k];
    }
    free(a);
    free(b);
    sim_unrolled_free(v);
    if (any && !u) u = as_it_is(module, f);
    if (any && u) u->notes = calloc(u->function.ninsts + 1, sizeof *u->notes);
    for (size_t k = 0; any && u && u->notes && k < u->function.ninsts; k++)
      if (marks[u->from[k]]) u->notes[k] = "ptxas may unroll this loop otherwise";
  }
  free(marks);
  free(other);
  return move_loads(module, f, u);
}
