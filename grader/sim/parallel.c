/* A launch on several host threads, when that cannot change what it gives.
 *
 * Blocks run in order on one thread give the reference result.  Threads may take blocks as they come
 * only if no block can tell.  First by the code: no atomics, fences or ordered accesses outside
 * shared memory, nothing printed, no bulk copies.  Then while running: a buffer that is both read and
 * written, or a word written by two blocks, is a conflict, and so is any fault or a spent
 * budget.  After a conflict the buffers are put back as they were and the launch is run in order.  So
 * what comes out is the same for every number of threads, and what it costs is a copy of the buffers
 * written, made at the first store to each. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { READ = 1, WRITTEN = 2, MOST_THREADS = 64 };

struct watch {                 /* of one object */
  int flags;
  uint8_t *before;             /* its bytes at the start */
  uint32_t *owner;             /* block + 1 that wrote each word */
};

struct sim_parallel {
  struct watch *watch;         /* by object */
  uint64_t next, blocks;
  int conflict;
  pthread_mutex_t lock;
};

/* ---- by the code ------------------------------------------------------------------------------ */

static bool starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

static bool blind_inst(const struct ptx_inst *in)
{
  static const char *const never[] = {"cp.async.bulk", "cp.reduce", "multimem", "st.async", "red.async",
                                      "st.bulk", "tensormap", "discard", "sust", "sured"};
  const char *name = ptx_op_text((enum ptx_op)in->op);
  for (size_t k = 0; k < sizeof never / sizeof *never; k++)
    if (starts(name, never[k])) return false;
  if (in->op == PTX_CALL)
    for (unsigned o = 0; o < in->noperands; o++)
      if (in->operands[o].kind == PTX_O_FUNCTION && !in->operands[o].function->has_body)
        return false;
  bool outside = in->space != PTX_SHARED;
  if (in->op == PTX_ATOM || in->op == PTX_RED) return !outside;
  if (in->op == PTX_MEMBAR) return ptx_has(in, PTX_M_CTA);
  if (in->op == PTX_FENCE) return ptx_has(in, PTX_M_CTA) || ptx_has(in, PTX_M_CLUSTER);
  if (in->op == PTX_LD || in->op == PTX_ST)
    return !outside || !(ptx_has(in, PTX_M_VOLATILE) || ptx_has(in, PTX_M_RELAXED) ||
                         ptx_has(in, PTX_M_ACQUIRE) || ptx_has(in, PTX_M_RELEASE) ||
                         ptx_has(in, PTX_M_MMIO));
  return true;
}

static bool blind_module(const struct ptx_module *m)
{
  for (size_t f = 0; f < m->nfunctions; f++)
    for (size_t k = 0; k < m->functions[f]->ninsts; k++)
      if (!blind_inst(&m->functions[f]->insts[k])) return false;
  return true;
}

/* ---- while running ----------------------------------------------------------------------------- */

static void conflict(struct runner *t)
{
  __atomic_store_n(&t->parallel->conflict, 1, __ATOMIC_RELAXED);
  t->stop = true;
}

static bool first_store(struct runner *t, const struct sim_object *o, struct watch *v)
{
  struct sim_parallel *p = t->parallel;
  bool ok = true;
  pthread_mutex_lock(&p->lock);
  if (!v->before) {
    v->before = malloc(o->size ? o->size : 1);
    v->owner = calloc(o->size / 4 + 1, sizeof *v->owner);
    ok = v->before && v->owner;
    if (ok) memcpy(v->before, o->host, o->size);
  }
  pthread_mutex_unlock(&p->lock);
  return ok;
}

bool parallel_access(struct warp *w, const struct sim_object *o, uint64_t at, const int32_t *rel,
                     uint32_t lanes, uint32_t width, enum access_kind kind)
{
  struct runner *t = w->runner;
  struct watch *v = &t->parallel->watch[o - t->sim->objects];
  int flag = kind == ACCESS_LOAD ? READ : WRITTEN;
  int flags = __atomic_load_n(&v->flags, __ATOMIC_ACQUIRE);
  if (!(flags & flag)) {
    if (flag == WRITTEN && !first_store(t, o, v)) {
      conflict(t);
      return false;
    }
    flags = __atomic_fetch_or(&v->flags, flag, __ATOMIC_ACQ_REL) | flag;
  }
  if (flags == (READ | WRITTEN)) {
    conflict(t);
    return false;
  }
  if (flag == READ) return true;
  uint32_t mine = (uint32_t)t->block.linear + 1;
  for (; lanes; lanes &= lanes - 1) {
    uint64_t offset = at - o->base + (uint64_t)(int64_t)rel[first_lane(lanes)];
    for (uint64_t word = offset / 4; word <= (offset + width - 1) / 4; word++) {
      uint32_t owner = __atomic_load_n(&v->owner[word], __ATOMIC_RELAXED);
      if (owner == mine) continue;
      if (owner || !__atomic_compare_exchange_n(&v->owner[word], &owner, mine, false,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        conflict(t);
        return false;
      }
    }
  }
  return true;
}

static void *work(void *argument)
{
  struct runner *t = argument;
  struct sim_parallel *p = t->parallel;
  while (!t->stop && !__atomic_load_n(&p->conflict, __ATOMIC_RELAXED)) {
    uint64_t at = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED);
    if (at >= p->blocks) break;
    runner_block(t, at);
    if (t->nfaults) conflict(t);
  }
  return NULL;
}

bool parallel_run(struct sim *sim, struct runner *threads, unsigned n, uint64_t blocks)
{
  if (n < 2 || blocks >= UINT32_MAX || !blind_module(sim->module)) return false;
  struct sim_parallel p = {.blocks = blocks, .lock = PTHREAD_MUTEX_INITIALIZER};
  p.watch = calloc(sim->nobjects, sizeof *p.watch);
  if (!p.watch) return false;
  pthread_t id[MOST_THREADS];
  unsigned started = 1;
  for (unsigned k = 0; k < n; k++) threads[k].parallel = &p;
  while (started < n && started < MOST_THREADS &&
         !pthread_create(&id[started], NULL, work, &threads[started]))
    started++;
  work(&threads[0]);
  for (unsigned k = 1; k < started; k++) pthread_join(id[k], NULL);
  uint64_t steps = 0;
  for (unsigned k = 0; k < n; k++) {
    threads[k].parallel = NULL;
    steps += threads[k].totals.warp_instructions;
  }
  bool ok = !p.conflict && steps <= sim->options.step_budget;
  for (size_t k = 0; k < sim->nobjects; k++) {
    if (!ok && p.watch[k].before)
      memcpy(sim->objects[k].host, p.watch[k].before, sim->objects[k].size);
    free(p.watch[k].before);
    free(p.watch[k].owner);
  }
  free(p.watch);
  pthread_mutex_destroy(&p.lock);
  return ok;
}
