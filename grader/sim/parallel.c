/* A launch on several host threads, when that cannot change what it gives.
 *
 * Blocks run in order on one thread give the reference result.  Threads may take blocks as they
 * come only if no block can tell.  First by the code that the kernel can reach: no fences or
 * ordered accesses outside shared memory, nothing printed, no bulk copies, and of atomics outside
 * shared memory only integer sums, minima, maxima and bits whose result is not used; no clusters of
 * several blocks.  Then while
 * running, by buffer:
 *
 *   only read             by anyone
 *   only reduced          each thread sums up in a copy of its own; they are merged at the end
 *   only written          each word belongs to the block that writes it first
 *   read and written      each word belongs to the block that touches it first
 *
 * Anything else is a conflict, and so is any fault or a spent budget.  After a conflict the words
 * written are put back as they were.  Was it the first sign that a buffer is read and written, the
 * blocks start again with that known; else they run in order.  So what comes out is the same for
 * every number of threads, and what it costs is a copy of each word written, made at its first
 * store.
 *
 * Threads share nothing that is written often: each opens its own runner in its own memory, and
 * takes several neighbouring blocks at a time, so that neighbouring words are mostly claimed by
 * one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

enum { READ = 1, WRITTEN = 2, REDUCED = 4, MOST_THREADS = 64, ATTEMPTS = 3, MOST_AT_A_TIME = 64 };
enum { CHUNK = 32, CHUNK_BYTES = 4 * CHUNK };   /* words claimed in one go */
#define SPLIT UINT32_MAX                        /* a chunk of several blocks */
#define MOST_PARTIAL (64u << 20)                /* bytes of reduced buffers, of all threads */

struct watch {                 /* of one object */
  int flags;
  bool owned;                  /* read and written: reading claims a word, too */
  uint32_t reduction;          /* which one; 0: none yet */
  const struct sim_inst *reduced_by;
  uint64_t *claims;            /* a chunk: block + 1 << 32 | the words it claimed, or SPLIT << 32 */
  uint32_t *owners;            /* of the words of split chunks: block + 1 */
  uint8_t *before;             /* the bytes of claimed words at the start */
};

struct sim_parallel {
  struct watch *watch;         /* by object */
  uint64_t blocks, at_a_time;
  pthread_mutex_t lock;
  uint64_t next __attribute__((aligned(128)));
  int conflict, hopeless __attribute__((aligned(128)));
};

/* ---- by the code ------------------------------------------------------------------------------ */

static bool starts(const char *text, const char *with)
{
  return !strncmp(text, with, strlen(with));
}

static bool blind_inst(const struct sim_inst *i)
{
  static const char *const never[] = {"cp.async.bulk", "cp.reduce", "multimem", "st.async",
                                      "red.async", "st.bulk", "tensormap", "discard", "sust",
                                      "sured"};
  const struct ptx_inst *in = i->ptx;
  const char *name = ptx_op_text((enum ptx_op)in->op);
  for (size_t k = 0; k < sizeof never / sizeof *never; k++)
    if (starts(name, never[k])) return false;
  if (in->op == PTX_CALL)
    for (unsigned o = 0; o < in->noperands; o++)
      if (in->operands[o].kind == PTX_O_FUNCTION && !in->operands[o].function->has_body)
        return false;
  bool outside = in->space != PTX_SHARED;
  if (in->op == PTX_ATOM || in->op == PTX_RED) return !outside || (i->flags & SIM_MEM_COMMUTES);
  if (in->op == PTX_MEMBAR) return ptx_has(in, PTX_M_CTA);
  if (in->op == PTX_FENCE) return ptx_has(in, PTX_M_CTA) || ptx_has(in, PTX_M_CLUSTER);
  if (in->op == PTX_LD || in->op == PTX_ST)
    return !outside || !(ptx_has(in, PTX_M_VOLATILE) || ptx_has(in, PTX_M_RELAXED) ||
                         ptx_has(in, PTX_M_ACQUIRE) || ptx_has(in, PTX_M_RELEASE) ||
                         ptx_has(in, PTX_M_MMIO));
  return true;
}

static bool blind(const struct sim *sim, const bool *reached)
{
  for (size_t f = 0; f < sim->nfuncs; f++)
    for (size_t k = 0; reached[f] && k < sim->funcs[f].ninsts; k++)
      if (!blind_inst(&sim->funcs[f].insts[k])) return false;
  return true;
}

/* ---- while running ----------------------------------------------------------------------------- */

static void conflict(struct runner *t)
{
  __atomic_store_n(&t->parallel->conflict, 1, __ATOMIC_RELAXED);
  t->stop = true;
}

/* Zeros, of which only what is touched takes memory. */
static void *zeros(size_t bytes)
{
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static size_t chunks_of(const struct sim_object *o)
{
  return (o->size + CHUNK_BYTES) / CHUNK_BYTES;
}

static bool first_claim(struct sim_parallel *p, const struct sim_object *o, struct watch *v)
{
  pthread_mutex_lock(&p->lock);
  if (!v->claims) {
    v->claims = zeros(chunks_of(o) * sizeof *v->claims);
    v->owners = zeros(chunks_of(o) * CHUNK * sizeof *v->owners);
    v->before = zeros(chunks_of(o) * CHUNK_BYTES);
  }
  bool ok = v->claims && v->owners && v->before;
  pthread_mutex_unlock(&p->lock);
  return ok;
}

static void forget_claims(const struct sim_object *o, struct watch *v)
{
  if (v->claims) munmap(v->claims, chunks_of(o) * sizeof *v->claims);
  if (v->owners) munmap(v->owners, chunks_of(o) * CHUNK * sizeof *v->owners);
  if (v->before) munmap(v->before, chunks_of(o) * CHUNK_BYTES);
  v->claims = NULL;
  v->owners = NULL;
  v->before = NULL;
}

/* Copies words of a chunk; the object may end within the last one. */
static void copy_words(uint8_t *to, const uint8_t *from, uint64_t size, uint64_t chunk,
                       uint32_t words)
{
  uint64_t at = chunk * CHUNK_BYTES;
  if (words == UINT32_MAX && size - at >= CHUNK_BYTES) {
    memcpy(to + at, from + at, CHUNK_BYTES);
    return;
  }
  for (; words; words &= words - 1) {
    uint64_t word = at + 4 * first_lane(words);
    memcpy(to + word, from + word, size - word < 4 ? size - word : 4);
  }
}

/* Words of a chunk become block `me`'s.  *fresh: those that were nobody's. */
static bool claim(struct watch *v, uint64_t chunk, uint32_t words, uint32_t me, uint32_t *fresh)
{
  uint64_t *claim = &v->claims[chunk], now = __atomic_load_n(claim, __ATOMIC_ACQUIRE);
  uint32_t *owners = v->owners + chunk * CHUNK;
  for (;;) {
    uint32_t owner = (uint32_t)(now >> 32), have = (uint32_t)now;
    uint64_t next;
    if (owner == SPLIT) break;
    if (owner == me || !owner) {
      *fresh = words & ~have;
      if (!*fresh) return true;
      next = (uint64_t)me << 32 | have | words;
    } else {
      if (have & words) return false;
      /* These words are the other's for good, so it does no harm if two threads write this. */
      for (uint32_t m = have; m; m &= m - 1)
        __atomic_store_n(&owners[first_lane(m)], owner, __ATOMIC_RELAXED);
      next = (uint64_t)SPLIT << 32;
    }
    if (__atomic_compare_exchange_n(claim, &now, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      if (next >> 32 != SPLIT) return true;
      break;
    }
  }
  *fresh = 0;
  for (; words; words &= words - 1) {
    unsigned k = first_lane(words);
    uint32_t owner = __atomic_load_n(&owners[k], __ATOMIC_RELAXED);
    if (owner == me) continue;
    if (owner || !__atomic_compare_exchange_n(&owners[k], &owner, me, false, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED))
      return false;
    *fresh |= 1u << k;
  }
  return true;
}

static bool claim_chunk(const struct sim_object *o, struct watch *v, uint64_t chunk, uint32_t words,
                        uint32_t me)
{
  uint32_t fresh = 0;
  if (!claim(v, chunk, words, me, &fresh)) return false;
  copy_words(v->before, o->host, o->size, chunk, fresh);
  return true;
}

/* The words from byte `offset` on. */
static bool claim_row(const struct sim_object *o, struct watch *v, uint64_t offset, uint32_t bytes,
                      uint32_t me)
{
  uint64_t word = offset / 4, end = (offset + bytes + 3) / 4;
  while (word < end) {
    uint64_t chunk = word / CHUNK;
    uint32_t first = (uint32_t)(word % CHUNK);
    uint32_t n = end - word < CHUNK - first ? (uint32_t)(end - word) : CHUNK - first;
    if (!claim_chunk(o, v, chunk, (n == 32 ? ~0u : (1u << n) - 1) << first, me)) return false;
    word += n;
  }
  return true;
}

/* The words of all lanes, those of one chunk together. */
static bool claim_lanes(const struct sim_object *o, struct watch *v, uint64_t offset,
                        const int32_t *rel, uint32_t lanes, uint32_t width, uint32_t me)
{
  uint64_t chunk = 0;
  uint32_t words = 0;
  for (; lanes; lanes &= lanes - 1) {
    uint64_t at = offset + (uint64_t)(int64_t)rel[first_lane(lanes)];
    for (uint64_t word = at / 4; word <= (at + width - 1) / 4; word++) {
      if (words && word / CHUNK != chunk) {
        if (!claim_chunk(o, v, chunk, words, me)) return false;
        words = 0;
      }
      chunk = word / CHUNK;
      words |= 1u << word % CHUNK;
    }
  }
  return !words || claim_chunk(o, v, chunk, words, me);
}

static bool first_partial(struct runner *t, size_t object, const struct sim_inst *i)
{
  struct sim_parallel *p = t->parallel;
  struct watch *v = &p->watch[object];
  uint64_t size = t->sim->objects[object].size;
  uint32_t mine = atomic_reduction(i);
  pthread_mutex_lock(&p->lock);
  if (!v->reduction) {
    v->reduction = mine;
    v->reduced_by = i;
  }
  bool ok = v->reduction == mine && size * t->sim->options.threads <= MOST_PARTIAL;
  pthread_mutex_unlock(&p->lock);
  if (!t->partial) t->partial = calloc(t->sim->nobjects, sizeof *t->partial);
  if (!ok || !t->partial) return false;
  t->partial[object] = aligned_alloc(64, (size + 64) / 64 * 64);
  if (t->partial[object]) atomic_neutral(i, t->partial[object], size);
  return t->partial[object] != NULL;
}

/* Where this thread reduces: its own bytes in place of the object's. */
static uint8_t *partial(struct runner *t, const struct sim_object *o, uint64_t at,
                        const struct sim_inst *i)
{
  size_t object = (size_t)(o - t->sim->objects);
  if (!t->partial || !t->partial[object]) {
    if (!first_partial(t, object, i)) return NULL;
  } else if (t->parallel->watch[object].reduction != atomic_reduction(i)) {
    return NULL;
  }
  return t->partial[object] + (at - o->base);
}

uint8_t *parallel_access(struct warp *w, const struct sim_inst *i, const struct sim_object *o,
                         uint64_t at, const struct pattern *p, uint32_t width,
                         enum access_kind kind)
{
  struct runner *t = w->runner;
  if (o->heap) {               /* of an earlier launch: one that asks for memory runs in order */
    __atomic_store_n(&t->parallel->hopeless, 1, __ATOMIC_RELAXED);
    conflict(t);
    return NULL;
  }
  struct watch *v = &t->parallel->watch[o - t->sim->objects];
  int flag = kind == ACCESS_ATOMIC ? REDUCED : kind == ACCESS_STORE || v->owned ? WRITTEN : READ;
  int flags = __atomic_load_n(&v->flags, __ATOMIC_ACQUIRE);
  uint8_t *host = o->host + (at - o->base);
  uint32_t me = (uint32_t)w->block->linear + 1;
  if (!(flags & flag)) {
    if (flag == WRITTEN && !first_claim(t->parallel, o, v)) {
      __atomic_store_n(&t->parallel->hopeless, 1, __ATOMIC_RELAXED);
      host = NULL;
    }
    flags = __atomic_fetch_or(&v->flags, flag, __ATOMIC_ACQ_REL) | flag;
  }
  if (flags & (flags - 1)) host = NULL;
  else if (flag == REDUCED) host = partial(t, o, at, i);
  else if (flag == WRITTEN && host &&
           !(p->shape == CLASS_UNIT
                 ? claim_row(o, v, at - o->base, SIM_LANES * width, me)
                 : claim_lanes(o, v, at - o->base, p->rel, p->mask, width, me)))
    host = NULL;
  if (!host) conflict(t);
  return host;
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void *work(void *argument)
{
  struct runner *t = argument;
  struct sim_parallel *p = t->parallel;
  if (!runner_open(t)) {
    __atomic_store_n(&p->hopeless, 1, __ATOMIC_RELAXED);
    conflict(t);
    return NULL;
  }
  while (!t->stop && !__atomic_load_n(&p->conflict, __ATOMIC_RELAXED)) {
    uint64_t at = __atomic_fetch_add(&p->next, p->at_a_time, __ATOMIC_RELAXED);
    if (at >= p->blocks) break;
    uint64_t end = p->blocks - at < p->at_a_time ? p->blocks : at + p->at_a_time;
    for (; at < end && !t->stop; at++) runner_cluster(t, at);
    if (t->nfaults) {
      __atomic_store_n(&p->hopeless, 1, __ATOMIC_RELAXED);
      conflict(t);
    }
  }
  return NULL;
}

static void put_back(const struct sim_object *o, const struct watch *v)
{
  if (!v->claims || !v->owners || !v->before) return;
  for (uint64_t c = 0; c < chunks_of(o); c++) {
    uint32_t words = (uint32_t)v->claims[c];
    if (v->claims[c] >> 32 == SPLIT)
      for (unsigned k = 0; k < CHUNK; k++)
        words |= (uint32_t)(v->owners[c * CHUNK + k] != 0) << k;
    if (words) copy_words(o->host, v->before, o->size, c, words);
  }
}

/* One attempt.  Returns the threads that took part, 0 after a conflict. */
static unsigned attempt(struct sim_parallel *p, struct sim *sim, struct runner *threads, unsigned n)
{
  pthread_t id[MOST_THREADS];
  unsigned started = 1;
  p->next = 0;
  p->conflict = 0;
  for (unsigned k = 0; k < n; k++) threads[k].parallel = p;
  while (started < n && !pthread_create(&id[started], NULL, work, &threads[started])) started++;
  work(&threads[0]);
  for (unsigned k = 1; k < started; k++) pthread_join(id[k], NULL);
  uint64_t steps = 0;
  for (unsigned k = 0; k < n; k++) {
    threads[k].parallel = NULL;
    steps += threads[k].totals.warp_instructions;
  }
  if (steps > sim->options.step_budget) p->conflict = p->hopeless = 1;
  for (size_t o = 0; o < sim->nobjects; o++) {
    struct watch *v = &p->watch[o];
    if (p->conflict) put_back(&sim->objects[o], v);
    for (unsigned k = 0; k < started; k++) {
      if (!threads[k].partial || !threads[k].partial[o]) continue;
      if (!p->conflict)
        atomic_merge(v->reduced_by, sim->objects[o].host, threads[k].partial[o],
                     sim->objects[o].size);
      free(threads[k].partial[o]);
    }
    forget_claims(&sim->objects[o], v);
  }
  for (unsigned k = 0; k < started; k++) {
    free(threads[k].partial);
    threads[k].partial = NULL;
    if (p->conflict) runner_close(&threads[k]);
  }
  return p->conflict ? 0 : started;
}

unsigned parallel_run(struct sim *sim, struct runner *threads, unsigned n, uint64_t blocks,
                      const bool *reached)
{
  if (n < 2 || blocks >= SPLIT - 1 || threads[0].cluster.n > 1 || !blind(sim, reached)) return 0;
  if (n > MOST_THREADS) n = MOST_THREADS;
  struct sim_parallel p = {.blocks = blocks, .at_a_time = blocks / n / 32,
                           .lock = PTHREAD_MUTEX_INITIALIZER};
  if (p.at_a_time < 1) p.at_a_time = 1;
  if (p.at_a_time > MOST_AT_A_TIME) p.at_a_time = MOST_AT_A_TIME;
  p.watch = calloc(sim->nobjects, sizeof *p.watch);
  if (!p.watch) return 0;
  unsigned done = 0;
  bool again = true;
  for (int k = 0; k < ATTEMPTS && again && !done; k++) {
    done = attempt(&p, sim, threads, n);
    again = false;
    for (size_t o = 0; o < sim->nobjects; o++) {
      struct watch *v = &p.watch[o];
      bool learnt = !v->owned && v->flags == (READ | WRITTEN);
      again |= learnt && !p.hopeless;
      *v = (struct watch){.owned = v->owned || learnt};
    }
  }
  free(p.watch);
  pthread_mutex_destroy(&p.lock);
  return done;
}
