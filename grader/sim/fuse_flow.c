/* Blocks, dominators, and one value for each definition of a register.
 *
 * Most registers of compiled PTX are written once: their value is that instruction.  The others
 * get phis where their definitions meet, on the iterated dominance frontier, and are renamed along
 * the dominator tree (Cytron et al. 1991; dominators after Cooper, Harvey and Kennedy 2001).  Nothing
 * here recurses: a function may be one chain of a million blocks.
 */
#include "fuse.h"
#include <stdlib.h>
#include <string.h>

enum { VALUES_PER_INST = 64, EDGES_PER_INST = 8 };   /* caps, far above what compilers write */

bool fuse_grow(struct fuse *z, void *array, uint32_t count, uint32_t *cap, size_t size)
{
  void **p = array;
  if (count < *cap) return true;
  uint32_t want = *cap ? 2 * *cap : 64;
  void *more = want > *cap ? realloc(*p, want * size) : NULL;
  if (!more) {
    z->failed = "out of memory";
    return false;
  }
  *p = more;
  *cap = want;
  return true;
}

/* ---- which registers an instruction reads and writes ---------------------------------------- */

/* The first operand's role, from the instruction's row: d or p is a destination. */
static const char *const shapes[PTX_OPS] = {
#define PTX_OP(name, text, shape, mods, types, meaning) [PTX_##name] = shape,
#include "../ptx/ops.def"
#undef PTX_OP
};

static void visit_operand(const struct ptx_function *f, const struct ptx_operand *o, bool written,
                          fuse_visit *visit, void *data)
{
  switch (o->kind) {
  case PTX_O_REG: case PTX_O_SINK:   /* _|%p has a second one */
    if (o->reg != PTX_NOREG) visit(data, o->reg, written);
    if (o->reg2 != PTX_NOREG) visit(data, o->reg2, written);
    break;
  case PTX_O_ADDRESS:
    if (o->has_reg) visit(data, o->reg, false);
    break;
  default:
    break;
  }
  if (o->kind == PTX_O_VECTOR || o->kind == PTX_O_PARAMS || o->kind == PTX_O_ADDRESS)
    for (uint32_t i = 0; i < o->count; i++) {
      const struct ptx_operand *e = &f->pool[o->first + i];
      if (e->kind == PTX_O_REG && e->reg != PTX_NOREG) visit(data, e->reg, written);
      if (e->kind == PTX_O_ADDRESS && e->has_reg) visit(data, e->reg, false);
    }
}

void fuse_registers(const struct ptx_function *f, const struct ptx_inst *i, fuse_visit *visit,
                    void *data)
{
  const char *shape = shapes[i->op];
  bool writes = shape[0] == 'd' || shape[0] == 'p' || !strncmp(shape, "(d)", 3);
  bool both = false;                    /* the destination is read as well, or we can't tell */
  if (i->op == PTX_BAR || i->op == PTX_BARRIER) writes = ptx_has(i, PTX_M_RED);
  if (i->op == PTX_CALL) writes = i->noperands > 0 && i->operands[0].kind == PTX_O_PARAMS;
  if (!strncmp(shape, "...", 3)) writes = both = true;
  if (i->op == PTX_WGMMA_MMA_ASYNC) both = true;
  if (i->guard != PTX_NOREG) visit(data, i->guard, false);
  for (unsigned n = 0; n < i->noperands; n++) {
    bool written = n == 0 && writes;
    if (!written || both) visit_operand(f, &i->operands[n], false, visit, data);
    if (written) visit_operand(f, &i->operands[n], true, visit, data);
  }
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static bool ends_block(const struct ptx_inst *i)
{
  switch (i->op) {
  case PTX_BRA: case PTX_BRX_IDX: case PTX_RET: case PTX_EXIT: case PTX_TRAP: return true;
  default: return false;
  }
}

/* Calls `each` for every place control may go from the end of a block. */
static uint32_t successors(struct fuse *z, uint32_t b, uint32_t *to)
{
  const struct ptx_function *f = z->f;
  const struct fuse_block *k = &z->blocks[b];
  const struct ptx_inst *last = &f->insts[k->end - 1];
  uint32_t n = 0;
  bool falls = !ends_block(last) || last->guard != PTX_NOREG;
  if (last->op == PTX_BRA && last->operands[0].imm < f->ninsts) {
    if (to) to[n] = z->block_of[last->operands[0].imm];
    n++;
  }
  if (last->op == PTX_BRX_IDX)
    for (unsigned o = 0; o < last->noperands; o++)
      if (last->operands[o].kind == PTX_O_TABLE && last->operands[o].imm < f->ntables) {
        const struct ptx_table *t = &f->tables[last->operands[o].imm];
        for (size_t i = 0; t->targets && i < t->count; i++) {
          if (t->targets[i] >= f->ninsts) continue;
          if (to) to[n] = z->block_of[t->targets[i]];
          n++;
        }
      }
  if (falls && k->end < f->ninsts) {
    if (to) to[n] = z->block_of[k->end];
    n++;
  }
  return n;
}

static void find_blocks(struct fuse *z)
{
  const struct ptx_function *f = z->f;
  uint32_t n = (uint32_t)f->ninsts;
  uint8_t *leads = calloc(n + 1, 1);
  z->block_of = malloc((n + 1) * sizeof *z->block_of);
  if (!leads || !z->block_of) {
    free(leads);
    z->failed = "out of memory";
    return;
  }
  leads[0] = 1;
  for (uint32_t i = 0; i < n; i++) {
    const struct ptx_inst *in = &f->insts[i];
    if (!ends_block(in)) continue;
    leads[i + 1] = 1;
    if (in->op == PTX_BRA && in->operands[0].imm < n) leads[in->operands[0].imm] = 1;
  }
  for (size_t t = 0; t < f->ntables; t++)
    for (size_t i = 0; f->tables[t].targets && i < f->tables[t].count; i++)
      if (f->tables[t].targets[i] < n) leads[f->tables[t].targets[i]] = 1;
  for (uint32_t i = 0; i < n; i++) z->nblocks += leads[i];
  z->blocks = calloc(z->nblocks + 1, sizeof *z->blocks);
  uint32_t b = 0;
  for (uint32_t i = 0; z->blocks && i < n; i++) {
    if (leads[i]) z->blocks[b++].first = i;
    z->blocks[b - 1].end = i + 1;
    z->block_of[i] = b - 1;
  }
  free(leads);
  if (!z->blocks) z->failed = "out of memory";
}

static void find_edges(struct fuse *z)
{
  uint64_t total = 0, limit = (uint64_t)EDGES_PER_INST * z->f->ninsts + 4096;
  for (uint32_t b = 0; b < z->nblocks && total <= limit; b++) {
    z->blocks[b].nsucc = successors(z, b, NULL);
    z->blocks[b].succ = (uint32_t)total;
    total += z->blocks[b].nsucc;
  }
  if (total > limit) {
    z->failed = "too many branch targets";
    return;
  }
  z->nedges = (uint32_t)total;
  z->edges = malloc((3 * total + 1) * sizeof *z->edges);
  if (!z->edges) {
    z->failed = "out of memory";
    return;
  }
  for (uint32_t b = 0; b < z->nblocks; b++) {
    successors(z, b, z->edges + z->blocks[b].succ);
    for (uint32_t s = 0; s < z->blocks[b].nsucc; s++)
      z->blocks[z->edges[z->blocks[b].succ + s]].npred++;
  }
  uint32_t at = (uint32_t)total;
  for (uint32_t b = 0; b < z->nblocks; b++) {
    z->blocks[b].pred = at;
    at += z->blocks[b].npred;
    z->blocks[b].npred = 0;
  }
  for (uint32_t b = 0; b < z->nblocks; b++)
    for (uint32_t s = 0; s < z->blocks[b].nsucc; s++) {
      uint32_t e = z->blocks[b].succ + s;
      struct fuse_block *t = &z->blocks[z->edges[e]];
      z->edges[2 * total + e] = t->npred;         /* which of its entries this edge is */
      z->edges[t->pred + t->npred++] = b;
    }
}

static void find_order(struct fuse *z)
{
  uint32_t n = z->nblocks, depth = 0, post = 0;
  uint32_t *stack = malloc(2 * (n + 1) * sizeof *stack), *next = stack ? stack + n + 1 : NULL;
  z->rpo = malloc((n + 1) * sizeof *z->rpo);
  if (!stack || !z->rpo) {
    free(stack);
    z->failed = "out of memory";
    return;
  }
  for (uint32_t b = 0; b < n; b++) z->blocks[b].order = z->blocks[b].idom = FUSE_NONE;
  stack[depth] = 0;
  next[depth++] = 0;
  z->blocks[0].order = 0;
  while (depth) {
    struct fuse_block *b = &z->blocks[stack[depth - 1]];
    if (next[depth - 1] < b->nsucc) {
      uint32_t s = z->edges[b->succ + next[depth - 1]++];
      if (z->blocks[s].order == FUSE_NONE) {
        z->blocks[s].order = 0;
        stack[depth] = s;
        next[depth++] = 0;
      }
    } else {
      z->rpo[post++] = stack[--depth];
    }
  }
  free(stack);
  z->nrpo = post;
  for (uint32_t i = 0; i < post / 2; i++) {
    uint32_t t = z->rpo[i];
    z->rpo[i] = z->rpo[post - 1 - i];
    z->rpo[post - 1 - i] = t;
  }
  for (uint32_t i = 0; i < post; i++) z->blocks[z->rpo[i]].order = i;
}

/* ---- dominators ---------------------------------------------------------------------------------- */

static uint32_t meet(const struct fuse *z, uint32_t a, uint32_t b, uint64_t *steps)
{
  while (a != b) {
    while (z->blocks[a].order > z->blocks[b].order) a = z->blocks[a].idom, ++*steps;
    while (z->blocks[b].order > z->blocks[a].order) b = z->blocks[b].idom, ++*steps;
  }
  return a;
}

static void find_dominators(struct fuse *z)
{
  struct fuse_block *blocks = z->blocks;
  uint64_t steps = 0, limit = 2000 * (uint64_t)z->nblocks + 1000000;
  blocks[0].idom = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 1; i < z->nrpo; i++) {
      struct fuse_block *b = &blocks[z->rpo[i]];
      uint32_t idom = FUSE_NONE;
      for (uint32_t p = 0; p < b->npred; p++) {
        uint32_t from = z->edges[b->pred + p];
        if (blocks[from].idom == FUSE_NONE) continue;
        idom = idom == FUSE_NONE ? from : meet(z, from, idom, &steps);
        if (steps > limit) {
          z->failed = "the control flow is too tangled";
          return;
        }
      }
      if (idom != b->idom) b->idom = idom, changed = true;
    }
  }
  /* Children before their parents in reverse postorder: sizes up, then numbers down. */
  uint32_t *size = calloc(z->nblocks + 1, sizeof *size);
  if (!size) {
    z->failed = "out of memory";
    return;
  }
  for (uint32_t i = z->nrpo; i-- > 1;) {
    size[z->rpo[i]]++;
    size[blocks[z->rpo[i]].idom] += size[z->rpo[i]];
  }
  blocks[0].in = 0;
  blocks[0].out = size[0];
  uint32_t *used = calloc(z->nblocks + 1, sizeof *used);
  for (uint32_t i = 1; used && i < z->nrpo; i++) {
    struct fuse_block *b = &blocks[z->rpo[i]], *d = &blocks[b->idom];
    b->in = d->in + 1 + used[b->idom];
    used[b->idom] += size[z->rpo[i]];
    b->out = b->in + size[z->rpo[i]] - 1;
  }
  if (!used) z->failed = "out of memory";
  free(used);
  free(size);
}

bool fuse_dominates(const struct fuse *z, uint32_t a, uint32_t b)
{
  return z->blocks[a].in <= z->blocks[b].in && z->blocks[b].out <= z->blocks[a].out;
}

/* Whether going from p to b leaves the innermost loop around p. */
bool fuse_leaves(const struct fuse *z, uint32_t p, uint32_t b)
{
  uint32_t header = z->blocks[p].loop;
  if (header == FUSE_NONE) return false;
  uint32_t l = z->blocks[b].loop;
  for (int depth = 0; l != FUSE_NONE && depth < 1000; depth++) {
    if (l == header) return false;
    l = z->blocks[l].outer;
  }
  return true;
}

/* Straight lines: a block entered only from the end of one that goes nowhere else continues it. */
static void find_chains(struct fuse *z)
{
  for (uint32_t i = 0; i < z->nrpo; i++) {
    struct fuse_block *b = &z->blocks[z->rpo[i]];
    b->chain = z->rpo[i];
    if (i > 0 && b->npred == 1) {
      const struct fuse_block *p = &z->blocks[z->edges[b->pred]];
      if (p->nsucc == 1) b->chain = p->chain;
    }
  }
}

/* The innermost loop around each block.  Headers from the last to the first, so inner loops come
 * first; a block keeps its first mark, and a walk passes over a marked loop in one step. */
static void find_loops(struct fuse *z)
{
  struct fuse_block *blocks = z->blocks;
  uint32_t *stack = malloc(((size_t)z->nblocks + 1) * sizeof *stack);
  if (!stack) {
    z->failed = "out of memory";
    return;
  }
  uint64_t steps = 0;
  for (uint32_t b = 0; b < z->nblocks; b++) blocks[b].loop = blocks[b].outer = FUSE_NONE;
  for (uint32_t i = z->nrpo; i-- > 0 && !z->failed;) {
    if (steps > 1000 * (uint64_t)z->nblocks + 1000000) z->failed = "loops are nested too deeply";
    uint32_t h = z->rpo[i], depth = 0;
    for (uint32_t p = 0; p < blocks[h].npred; p++) {
      uint32_t from = z->edges[blocks[h].pred + p];
      if (blocks[from].order == FUSE_NONE || !fuse_dominates(z, h, from)) continue;
      if (blocks[h].loop == FUSE_NONE) blocks[h].loop = h;
      stack[0] = from;
      depth = 1;
      while (depth) {
        uint32_t b = stack[--depth], top = b;
        if (blocks[b].loop != FUSE_NONE) {
          for (top = blocks[b].loop; top != h && blocks[top].outer != FUSE_NONE; steps++)
            top = blocks[top].outer;
          if (top == h) continue;
          blocks[top].outer = h;
        } else {
          blocks[b].loop = h;
        }
        for (uint32_t q = 0; q < blocks[top].npred; q++) {
          uint32_t before = z->edges[blocks[top].pred + q];
          if (blocks[before].order == FUSE_NONE || !fuse_dominates(z, h, before)) continue;
          if (depth < z->nblocks) stack[depth++] = before;
        }
      }
    }
  }
  free(stack);
}

/* ---- values ---------------------------------------------------------------------------------------- */

struct numbering {
  struct fuse *z;
  uint32_t inst, block;
  uint32_t *defs;               /* by register: how often written */
  uint32_t *current;            /* by register: its value at this point of the walk */
  struct { uint32_t reg, value; } *undo;
  uint32_t nundo, undo_cap;
  struct { uint32_t block, next; } *where;   /* blocks that write a register: a list for each */
  uint32_t nwhere, where_cap;
  uint32_t *first;              /* by register: its list in `where` */
};

static uint32_t new_value(struct fuse *z, uint32_t inst, uint32_t reg, uint32_t block)
{
  if (z->nvalues >= (uint64_t)VALUES_PER_INST * z->f->ninsts + 65536) {
    z->failed = "too many values meet";
    return FUSE_NONE;
  }
  if (!fuse_grow(z, &z->values, z->nvalues, &z->values_cap, sizeof *z->values)) return FUSE_NONE;
  z->values[z->nvalues] = (struct fuse_value){.inst = inst, .reg = reg, .block = block,
                                              .args = FUSE_NONE, .old = FUSE_NONE};
  return z->nvalues++;
}

static void count_definition(void *data, uint32_t reg, bool written)
{
  struct numbering *n = data;
  if (written && reg < n->z->f->nregs) n->defs[reg]++;
}

static void note_where(void *data, uint32_t reg, bool written)
{
  struct numbering *n = data;
  if (!written || n->z->failed || reg >= n->z->f->nregs || n->defs[reg] < 2) return;
  if (n->first[reg] != FUSE_NONE && n->where[n->first[reg]].block == n->block) return;
  if (!fuse_grow(n->z, &n->where, n->nwhere, &n->where_cap, sizeof *n->where)) return;
  n->where[n->nwhere].block = n->block;
  n->where[n->nwhere].next = n->first[reg];
  n->first[reg] = n->nwhere++;
}

static void set_current(struct numbering *n, uint32_t reg, uint32_t value)
{
  struct fuse *z = n->z;
  if (!fuse_grow(z, &n->undo, n->nundo, &n->undo_cap, sizeof *n->undo)) return;
  n->undo[n->nundo].reg = reg;
  n->undo[n->nundo++].value = n->current[reg];
  n->current[reg] = value;
}

/* The value a register has here; one that was never written gets a value of its own. */
static uint32_t value_here(struct numbering *n, uint32_t reg)
{
  if (n->current[reg] == FUSE_NONE)   /* kept: undone nowhere, as it holds for all paths here */
    n->current[reg] = new_value(n->z, FUSE_NONE, reg, 0);
  return n->current[reg];
}

static void note_read(void *data, uint32_t reg, bool written)
{
  struct numbering *n = data;
  struct fuse *z = n->z;
  if (written || z->failed || reg >= z->f->nregs) return;
  if (!fuse_grow(z, &z->uses, z->nuses, &z->uses_cap, sizeof *z->uses)) return;
  uint32_t value = value_here(n, reg);
  z->uses[z->nuses++] = (struct fuse_use){reg, value};
}

static void note_write(void *data, uint32_t reg, bool written)
{
  struct numbering *n = data;
  struct fuse *z = n->z;
  if (!written || z->failed || reg >= z->f->nregs) return;
  uint32_t old = FUSE_NONE;
  if (z->f->insts[n->inst].guard != PTX_NOREG && n->defs[reg] > 1) old = value_here(n, reg);
  uint32_t value = new_value(z, n->inst, reg, n->block);
  if (z->failed) return;
  z->values[value].old = old;
  set_current(n, reg, value);
}

/* Phis for registers written more than once. */
static void place_phis(struct fuse *z, struct numbering *n)
{
  struct fuse_block *blocks = z->blocks;
  uint32_t nregs = (uint32_t)z->f->nregs, nb = z->nblocks;
  /* Dominance frontiers, flat. */
  uint32_t *head = malloc((nb + 1) * sizeof *head), *mark = calloc(nb + 1, sizeof *mark);
  struct { uint32_t block, next; } *front = NULL;
  uint32_t nfront = 0, front_cap = 0;
  uint32_t *first = n->first = malloc((nregs + 1) * sizeof *first);
  uint32_t *work = malloc((nb + 1) * sizeof *work);
  struct { uint32_t block, reg; } *phis = NULL;
  uint32_t nphis = 0, phis_cap = 0;
  if (!head || !mark || !first || !work) z->failed = "out of memory";
  for (uint32_t b = 0; !z->failed && b < nb; b++) head[b] = FUSE_NONE;
  for (uint32_t r = 0; !z->failed && r < nregs; r++) first[r] = FUSE_NONE;
  uint64_t steps = 0;
  for (uint32_t i = 0; !z->failed && i < z->nrpo; i++) {
    uint32_t b = z->rpo[i];
    if (blocks[b].npred < 2) continue;
    for (uint32_t p = 0; p < blocks[b].npred && !z->failed; p++) {
      uint32_t run = z->edges[blocks[b].pred + p];
      if (blocks[run].order == FUSE_NONE) continue;
      while (run != blocks[b].idom && !z->failed) {
        if (head[run] == FUSE_NONE || front[head[run]].block != b) {
          if (!fuse_grow(z, &front, nfront, &front_cap, sizeof *front)) break;
          front[nfront].block = b;
          front[nfront].next = head[run];
          head[run] = nfront++;
        }
        if (++steps > 64 * (uint64_t)z->f->ninsts + 1000000)
          z->failed = "the control flow is too tangled";
        if (run == blocks[run].idom) break;
        run = blocks[run].idom;
      }
    }
  }
  for (uint32_t i = 0; !z->failed && i < z->nrpo; i++) {
    const struct fuse_block *b = &blocks[z->rpo[i]];
    n->block = z->rpo[i];
    for (uint32_t k = b->first; k < b->end && !z->failed; k++)
      fuse_registers(z->f, &z->f->insts[k], note_where, n);
  }
  uint32_t stamp = 0;
  for (uint32_t r = 0; !z->failed && r < nregs; r++) {
    if (first[r] == FUSE_NONE) continue;
    uint32_t nwork = 0;
    stamp++;
    for (uint32_t w = first[r]; w != FUSE_NONE; w = n->where[w].next) {
      uint32_t at = n->where[w].block;
      for (;;) {
        for (uint32_t e = head[at]; e != FUSE_NONE; e = front[e].next) {
          uint32_t to = front[e].block;
          if (mark[to] == stamp) continue;
          mark[to] = stamp;
          if (!fuse_grow(z, &phis, nphis, &phis_cap, sizeof *phis)) break;
          phis[nphis].block = to;
          phis[nphis++].reg = r;
          work[nwork++] = to;
          if (nphis > (uint64_t)VALUES_PER_INST / 2 * z->f->ninsts + 32768) {
            z->failed = "too many values meet";
            break;
          }
        }
        if (z->failed || nwork == 0) break;
        at = work[--nwork];
      }
    }
  }
  /* By block: count, then place. */
  for (uint32_t p = 0; !z->failed && p < nphis; p++) blocks[phis[p].block].nphi++;
  uint32_t at = 0;
  for (uint32_t b = 0; !z->failed && b < nb; b++) {
    blocks[b].phi = at;
    at += blocks[b].nphi;
    blocks[b].nphi = 0;
  }
  for (uint32_t p = 0; !z->failed && p < nphis; p++) new_value(z, FUSE_NONE, 0, 0);
  uint64_t nargs = 0;
  for (uint32_t p = 0; !z->failed && p < nphis; p++) {
    struct fuse_block *b = &blocks[phis[p].block];
    struct fuse_value *v = &z->values[b->phi + b->nphi++];
    v->reg = phis[p].reg;
    v->block = phis[p].block;
    v->args = (uint32_t)nargs;
    nargs += b->npred;
    if (nargs > (uint64_t)VALUES_PER_INST * z->f->ninsts + 65536) z->failed = "too many values meet";
  }
  if (!z->failed) {
    z->nargs = (uint32_t)nargs;
    z->args = malloc((nargs + 1) * sizeof *z->args);
    if (!z->args) z->failed = "out of memory";
    for (uint64_t a = 0; z->args && a < nargs; a++) z->args[a] = FUSE_NONE;
  }
  free(head);
  free(mark);
  free(front);
  free(n->where);
  free(first);
  free(work);
  free(phis);
}

static void fill_phis(struct numbering *n, uint32_t from)
{
  struct fuse *z = n->z;
  const struct fuse_block *b = &z->blocks[from];
  for (uint32_t s = 0; s < b->nsucc; s++) {
    const struct fuse_block *to = &z->blocks[z->edges[b->succ + s]];
    uint32_t entry = z->edges[2 * z->nedges + b->succ + s];
    for (uint32_t k = 0; k < to->nphi && !z->failed; k++) {
      uint32_t value = value_here(n, z->values[to->phi + k].reg);
      z->args[z->values[to->phi + k].args + entry] = value;
    }
  }
}

/* Walks the dominator tree, giving every register read or written its value. */
static void rename_values(struct fuse *z, struct numbering *n)
{
  uint32_t nb = z->nblocks;
  uint32_t *child = malloc(4 * ((size_t)nb + 1) * sizeof *child);
  if (!child) {
    z->failed = "out of memory";
    return;
  }
  uint32_t *sibling = child + nb + 1, *stack = sibling + nb + 1, *undo_to = stack + nb + 1;
  for (uint32_t b = 0; b < nb; b++) child[b] = sibling[b] = FUSE_NONE;
  for (uint32_t i = z->nrpo; i-- > 1;) {
    uint32_t b = z->rpo[i], d = z->blocks[b].idom;
    sibling[b] = child[d];
    child[d] = b;
  }
  uint32_t depth = 0;
  bool entering = true;
  stack[0] = 0;
  while (!z->failed) {
    uint32_t at = stack[depth];
    const struct fuse_block *b = &z->blocks[at];
    if (entering) {
      undo_to[depth] = n->nundo;
      n->block = at;
      for (uint32_t k = 0; k < b->nphi; k++) set_current(n, z->values[b->phi + k].reg, b->phi + k);
      for (uint32_t k = b->first; k < b->end && !z->failed; k++) {
        struct fuse_span *span = &z->spans[n->inst = k];
        span->use = z->nuses;
        fuse_registers(z->f, &z->f->insts[k], note_read, n);
        span->use_end = z->nuses;
        span->def = z->nvalues;
        fuse_registers(z->f, &z->f->insts[k], note_write, n);
        span->def_end = z->nvalues;
      }
      if (!z->failed) fill_phis(n, at);
      if (child[at] != FUSE_NONE) {
        stack[++depth] = child[at];
        continue;
      }
    }
    while (n->nundo > undo_to[depth]) {
      n->nundo--;
      n->current[n->undo[n->nundo].reg] = n->undo[n->nundo].value;
    }
    if (depth == 0) break;
    entering = sibling[at] != FUSE_NONE;
    if (entering) stack[depth] = sibling[at];
    else depth--;
  }
  free(child);
}

uint32_t fuse_read(const struct fuse *z, uint32_t inst, uint32_t reg)
{
  for (uint32_t u = z->spans[inst].use; u < z->spans[inst].use_end; u++)
    if (z->uses[u].reg == reg) return z->uses[u].value;
  return FUSE_NONE;
}

uint32_t fuse_written(const struct fuse *z, uint32_t inst, uint32_t reg)
{
  for (uint32_t d = z->spans[inst].def; d < z->spans[inst].def_end; d++)
    if (z->values[d].inst == inst && z->values[d].reg == reg) return d;
  return FUSE_NONE;
}

/* Who reads each value, as one list by value. */
static void find_users(struct fuse *z)
{
  z->users = malloc((z->nuses + 1) * sizeof *z->users);
  if (!z->users) {
    z->failed = "out of memory";
    return;
  }
  for (uint32_t u = 0; u < z->nuses; u++) z->values[z->uses[u].value].nusers++;
  uint32_t at = 0;
  for (uint32_t v = 0; v < z->nvalues; v++) {
    z->values[v].users = at;
    at += z->values[v].nusers;
    z->values[v].nusers = 0;
  }
  for (uint32_t i = 0; i < z->f->ninsts; i++)
    for (uint32_t u = z->spans[i].use; u < z->spans[i].use_end; u++) {
      struct fuse_value *v = &z->values[z->uses[u].value];
      z->users[v->users + v->nusers++] = i;
    }
}

bool fuse_blocks(struct fuse *z)
{
  find_blocks(z);
  if (!z->failed) find_edges(z);
  return !z->failed;
}

void fuse_flow(struct fuse *z)
{
  if (fuse_blocks(z)) find_order(z);
  if (!z->failed) find_dominators(z);
  if (z->failed) return;
  find_chains(z);
  find_loops(z);
  struct numbering n = {.z = z};
  n.defs = calloc(z->f->nregs + 1, sizeof *n.defs);
  n.current = malloc((z->f->nregs + 1) * sizeof *n.current);
  z->spans = calloc(z->f->ninsts + 1, sizeof *z->spans);
  if (!n.defs || !n.current || !z->spans) z->failed = "out of memory";
  if (!z->failed) {
    memset(n.current, 0xff, z->f->nregs * sizeof *n.current);
    for (uint32_t i = 0; i < z->nrpo; i++)
      for (uint32_t k = z->blocks[z->rpo[i]].first; k < z->blocks[z->rpo[i]].end; k++)
        fuse_registers(z->f, &z->f->insts[k], count_definition, &n);
    place_phis(z, &n);
    if (!z->failed) rename_values(z, &n);
    if (!z->failed) find_users(z);
  }
  free(n.defs);
  free(n.current);
  free(n.undo);
}
