/* Barriers that a warp of the block went past.
 *
 * A barrier of the block waits for the threads that have not exited.  A warp that left early counts as
 * arrived, which is common and works; so a warp that skipped the barrier, did what comes after it and
 * then ended would go unnoticed as well.  CUDA calls that undefined, and what the barrier was to order
 * is not ordered.
 *
 * The two differ in where the warp went.  For each such barrier the kernel is searched for the last
 * access of memory that all ways from the barrier to the kernel's end come by, also some way around the
 * barrier or out of a loop that it stands in, and from which none leads back to it: that is code behind
 * the barrier, and an early `return` does not come by there.  The access gets a handler that notes for
 * the warp what it has passed.  When a barrier opens without a warp that has passed it, it was skipped.
 *
 * Not found: a barrier in a function that is called, one without an access behind it on all ways, and
 * those after the first MOST of a kernel. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { MOST = 64 };            /* bits of warp.passed */

struct skipped {
  uint32_t nbarriers, npasses;
  uint32_t barriers[MOST];     /* instructions; a barrier's place here is its bit */
  struct pass { uint32_t at; uint64_t barriers; sim_handler *run; } passes[MOST];
};

static void exec_pass(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  const struct pass *p = i->func->skipped->passes;
  while (p->at != (uint32_t)(i - i->func->insts)) p++;
  w->passed |= p->barriers;
  p->run(w, i, exec);
}

/* ---- where control goes ------------------------------------------------------------------------- */

/* Nodes are instructions, and ninsts: the function has ended. */
struct flow {
  uint32_t n;
  uint32_t *first, *to;        /* k's successors: to[first[k]] up to to[first[k + 1]] */
  uint32_t *seen, stamp;       /* [node]: the search that came there last */
  uint32_t *stack, *from, *way, *place;
  uint32_t *around;            /* [node]: not 0: one can come there without the barrier looked at */
};

/* Stores k's successors, unless `to` is NULL.  Returns how many. */
static uint32_t successors(const struct sim_func *f, uint32_t k, uint32_t *to)
{
  const struct ptx_inst *in = &f->ptx->insts[k];
  bool falls = in->guard != PTX_NOREG;
  uint32_t n = 0;
  switch (in->op) {
  case PTX_BRA:
    if (to) to[n] = f->insts[k].target;
    n++;
    break;
  case PTX_BRX_IDX: {
    const struct ptx_table *t = &f->ptx->tables[f->insts[k].imm];
    for (size_t e = 0; e < t->count; e++, n++)
      if (to) to[n] = t->targets[e];
    break;
  }
  case PTX_RET: case PTX_EXIT:
    if (to) to[n] = f->ninsts;
    n++;
    break;
  case PTX_TRAP: break;
  default: falls = true;
  }
  if (falls && to) to[n] = k + 1;
  return n + falls;
}

static void open_flow(struct flow *z, const struct sim_func *f)
{
  uint32_t edges = 0, n = z->n = f->ninsts;
  z->stamp = 0;
  z->first = calloc((size_t)(n + 2) * 7, sizeof *z->first);
  if (!z->first) abort();
  z->seen = z->first + (n + 2);
  z->stack = z->seen + (n + 2);
  z->from = z->stack + (n + 2);
  z->way = z->from + (n + 2);
  z->place = z->way + (n + 2);
  z->around = z->place + (n + 2);
  for (uint32_t k = 0; k < n; k++) {
    z->first[k] = edges;
    edges += successors(f, k, NULL);
  }
  z->first[n] = z->first[n + 1] = edges;
  z->to = malloc((edges + 1) * sizeof *z->to);
  if (!z->to) abort();
  for (uint32_t k = 0; k < n; k++) successors(f, k, z->to + z->first[k]);
}

static void close_flow(struct flow *z)
{
  free(z->first);
  free(z->to);
}

/* Whether one can come from a to b in a step or more; then z->from leads back. */
static bool leads(struct flow *z, uint32_t a, uint32_t b)
{
  uint32_t top = 0;
  z->stamp++;
  z->stack[top++] = a;
  while (top) {
    uint32_t k = z->stack[--top];
    for (uint32_t e = z->first[k]; e < z->first[k + 1]; e++) {
      uint32_t to = z->to[e];
      if (z->seen[to] == z->stamp) continue;
      z->seen[to] = z->stamp;
      z->from[to] = k;
      if (to == b) return true;
      z->stack[top++] = to;
    }
  }
  return false;
}

/* Fills z->around for barrier a. */
static void go_around(struct flow *z, uint32_t a)
{
  uint32_t top = 0;
  memset(z->around, 0, (size_t)(z->n + 2) * sizeof *z->around);
  z->around[a] = 1;            /* no way on from there */
  if (a) z->stack[top++] = 0;
  z->around[0] = 1;
  while (top) {
    uint32_t k = z->stack[--top];
    for (uint32_t e = z->first[k]; e < z->first[k + 1]; e++) {
      if (z->around[z->to[e]]) continue;
      z->around[z->to[e]] = 1;
      z->stack[top++] = z->to[e];
    }
  }
}

/* Leaves in z->way what all ways from a to the end come by, in order.  Returns how many.  A node of one
 * way is on all of them when no detour that starts before it ends behind it. */
static uint32_t common(struct flow *z, uint32_t a)
{
  if (!leads(z, a, z->n)) return 0;
  uint32_t length = 0, found = 0, farthest = 0;
  for (uint32_t k = z->n; k != a; k = z->from[k]) length++;
  memset(z->place, 0, (size_t)(z->n + 2) * sizeof *z->place);
  for (uint32_t k = z->n, at = length; k != a; k = z->from[k]) {
    z->way[at - 1] = k;
    z->place[k] = at--;
  }
  z->stamp++;
  z->seen[a] = z->stamp;
  for (uint32_t at = 0; at < length; at++) {
    uint32_t on = at ? z->way[at - 1] : a, top = 0;
    if (at && farthest <= at) z->way[found++] = on;   /* found < at: that place is read */
    z->stack[top++] = on;
    while (top) {
      uint32_t k = z->stack[--top];
      for (uint32_t e = z->first[k]; e < z->first[k + 1]; e++) {
        uint32_t to = z->to[e];
        if (z->place[to]) {
          if (z->place[to] > farthest) farthest = z->place[to];
        } else if (z->seen[to] != z->stamp) {
          z->seen[to] = z->stamp;
          z->stack[top++] = to;
        }
      }
    }
  }
  return found;
}

/* ---- the kernel ------------------------------------------------------------------------------- */

/* A barrier of all threads, for compiled __syncthreads(). */
static bool whole(const struct sim_inst *i)
{
  return (i->run == exec_bar_sync || i->run == exec_bar_red) && i->small[2] && !i->small[1];
}

/* An access that the author wrote behind the barrier.  What a compiler merged out of several places
 * has no line. */
static bool marks(const struct sim_inst *i, const struct sim_inst *barrier)
{
  return i->site != SIM_NO_SITE && i->ptx->guard == PTX_NOREG && (i->line || !barrier->line);
}

static void add_pass(struct sim_func *f, uint32_t at, uint32_t barrier)
{
  struct skipped *s = f->skipped;
  uint32_t k = 0;
  while (k < s->npasses && s->passes[k].at != at) k++;
  if (k == s->npasses) s->passes[s->npasses++].at = at;
  s->passes[k].barriers |= 1ull << s->nbarriers;
  s->barriers[s->nbarriers++] = barrier;
}

void lower_skipped(struct sim_func *f)
{
  struct flow z = {0};
  for (uint32_t k = 0; f->source->is_entry && k < f->ninsts; k++) {
    if (!whole(&f->insts[k])) continue;
    if (!z.n) {
      open_flow(&z, f);
      f->skipped = calloc(1, sizeof *f->skipped);
      if (!f->skipped) abort();
    }
    if (f->skipped->nbarriers == MOST) break;
    go_around(&z, k);
    uint32_t n = z.around[z.n] || leads(&z, k, k) ? common(&z, k) : 0;
    while (n && !marks(&f->insts[z.way[n - 1]], &f->insts[k])) n--;
    if (!n || leads(&z, z.way[n - 1], k)) continue;
    if (z.around[z.way[n - 1]] || leads(&z, k, k)) add_pass(f, z.way[n - 1], k);
  }
  if (z.n) close_flow(&z);
  for (uint32_t k = 0; f->skipped && k < f->skipped->npasses; k++) {
    struct pass *p = &f->skipped->passes[k];
    p->run = f->insts[p->at].run;
    f->insts[p->at].run = exec_pass;
  }
}

/* ---- the block ---------------------------------------------------------------------------------- */

bool skipped_whole(const struct sim_inst *i) { return whole(i); }

void skipped_open(struct block *b, const struct barrier *bar)
{
  const struct sim_inst *i = bar->at;
  const struct skipped *s = i->func->skipped;
  uint32_t bit = 0, at = (uint32_t)(i - i->func->insts);
  while (s && bit < s->nbarriers && s->barriers[bit] != at) bit++;
  if (!s || bit == s->nbarriers) return;
  for (uint32_t k = 0; k < b->nwarps; k++) {
    struct warp *w = &b->warps[k];
    if ((bar->warps >> k & 1) || !(w->passed >> bit & 1)) continue;
    struct sim_fault *f = fault_note(w, i, 0, SIM_FAULT_BARRIER, false, "barrier");
    if (!f) return;
    uint32_t *t = f->thread, *o = f->other_thread;
    block_waiter(b, bar, o);
    f->other_line = f->line;
    snprintf(f->text, sizeof f->text,
             "thread (%u,%u,%u) went past this barrier to the code behind it, while thread (%u,%u,%u) "
             "waited. Every thread of the block must reach the same barrier, as often as the others: "
             "move it out of the `if` or loop that not all of them enter", t[0], t[1], t[2], o[0],
             o[1], o[2]);
    fault_began(b->warps->runner, b->faults_before);   /* other faults follow from it */
    return;
  }
}
