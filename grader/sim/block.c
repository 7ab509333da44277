/* The blocks of a cluster - mostly one: their warps take turns until each waits at a barrier or has
 * ended.
 *
 * Barriers count threads, as the hardware does since compute capability 7.0: a barrier opens when
 * all threads of the block that have not exited (or the number it names) have arrived.  The lanes
 * of a warp come to an aligned one (bar, barrier.aligned: __syncthreads) together: those that are
 * early wait in front of it for the rest of their warp, which may still be on its way from code
 * laid out further down.  When no warp can go on and some thread still waits, the block is stuck,
 * and the fault names both places. */
#include <stdlib.h>
#include <string.h>

#include "async.h"

enum { TURN = 20000 };

static uint32_t popcount(uint32_t m) { return (uint32_t)__builtin_popcount(m); }

static void open_barrier(struct block *b, uint32_t id)
{
  struct barrier *bar = &b->barriers[id];
  bool all = bar->arrived >= b->live;
  if (!bar->expected && !b->parted && skipped_whole(bar->at)) skipped_open(b, bar);
  shadow_barrier(b, bar, all);
  for (uint32_t k = 0; k < b->nwarps; k++) {
    if (!(bar->warps >> k & 1)) continue;
    struct warp *w = &b->warps[k];
    for (unsigned g = 0; g < w->ngroups; g++) {
      struct group *group = &w->groups[g];
      if (group->state != GROUP_BARRIER || group->barrier != id) continue;
      group->state = GROUP_RUN;
      const struct sim_inst *i = group->at;
      if (i->run == exec_bar_red) {
        uint32_t yes = bar->yes, votes = bar->votes;
        uint8_t *row = group->frame->regs + (i->d & ~3u);
        if (i->small[0] == 0) {
          for (uint32_t m = group->mask; m; m &= m - 1) ((u32_row *)row)[first_lane(m)] = yes;
        } else {
          bool value = i->small[0] == 1 ? yes == votes : yes != 0;
          u32_row *p = (u32_row *)row;
          *p = (*p & ~group->mask) | (value ? group->mask : 0);
        }
      }
    }
    /* Groups that may now join, or be lower than the running one. */
    warp_reschedule(w);
  }
  memset(bar, 0, sizeof *bar);
}

static void check_barrier(struct block *b, uint32_t id)
{
  struct barrier *bar = &b->barriers[id];
  if (!bar->arrived) return;
  if (bar->arrived >= (bar->expected ? bar->expected : b->live)) open_barrier(b, id);
}

void block_lanes_exited(struct block *b)
{
  for (uint32_t id = 0; id < SIM_BARRIERS; id++)
    if (b->barriers[id].arrived && !b->barriers[id].expected) check_barrier(b, id);
  cluster_check(b->cluster);
}

/* Whether lanes at pc do nothing more than end: an early return, which counts as arriving. */
static bool leaving(const struct frame *fr, uint32_t pc)
{
  for (int hops = 0; hops < 8 && !fr->parent; hops++) {
    if (pc >= fr->func->ninsts) return true;
    const struct ptx_inst *in = fr->func->insts[pc].ptx;
    if (in->guard != PTX_NOREG) return false;
    if (in->op == PTX_RET || in->op == PTX_EXIT) return true;
    if (in->op != PTX_BRA) return false;
    pc = fr->func->insts[pc].target;
  }
  return false;
}

/* Lanes came to an aligned barrier while others of their warp were elsewhere.  Those may still come,
 * or be on their way out; if they end any other way, warp_exit says so. */
static void note_absent(struct warp *w, const struct sim_inst *i, uint32_t lanes)
{
  uint32_t absent = w->active;
  for (unsigned g = 0; g < w->ngroups; g++) {
    const struct group *group = &w->groups[g];
    if (group->state != GROUP_RUN && group->at == i) continue;
    if (!leaving(group->frame, group->pc)) absent |= group->mask;
  }
  if (absent & ~w->owing) {
    w->owed = i;
    w->waited = first_lane(lanes);
    w->owed_at = w->runner->nfaults;
  }
  w->owing = (w->owing & ~lanes) | absent;
}

void block_waiter(const struct block *b, const struct barrier *bar, uint32_t thread[3])
{
  const struct warp *w = &b->warps[first_lane(bar->warps)];
  fault_thread(b, w->id * SIM_LANES + first_lane(w->live ? w->live : w->started), thread);
}

/* Threads of the block wait at another barrier than this.  The hardware has one counter for both, and
 * lets them go on; CUDA has not. */
static void note_parted(struct warp *w, const struct sim_inst *i, unsigned lane,
                        const struct barrier *bar)
{
  w->block->parted = true;
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_BARRIER, false, "barrier");
  if (!f) return;
  uint32_t *t = f->thread, *o = f->other_thread;
  block_waiter(w->block, bar, o);
  f->other_line = bar->at->line;
  snprintf(f->text, sizeof f->text,
           "thread (%u,%u,%u) comes to this barrier while thread (%u,%u,%u) waits at another one, at "
           "line %u. Every thread of the block must reach the same barrier: move it out of the `if` or "
           "loop that not all of them enter", t[0], t[1], t[2], o[0], o[1], o[2], f->other_line);
}

/* Lanes of one barrier number and thread count. */
static void arrive(struct warp *w, const struct sim_inst *i, uint32_t lanes, uint32_t id,
                   uint32_t expected, bool wait, uint32_t yes)
{
  struct block *b = w->block;
  unsigned lane = first_lane(lanes);
  if (id >= SIM_BARRIERS) {
    fault_note(w, i, lane, SIM_FAULT_BARRIER, true, "there is no barrier %u: they are 0 to 15", id);
    return;
  }
  if (expected % 32 || expected > (b->nthreads + 31) / 32 * 32) {
    fault_note(w, i, lane, SIM_FAULT_BARRIER, true,
               "a barrier of %u threads: the number must be a multiple of 32, and the block has %u",
               expected, b->nthreads);
    return;
  }
  struct barrier *bar = &b->barriers[id];
  if (bar->arrived && bar->expected != expected) {
    fault_note(w, i, lane, SIM_FAULT_BARRIER, true,
               "barrier %u is used with %u threads here while others wait at it for %u", id,
               expected ? expected : b->nthreads, bar->expected ? bar->expected : b->nthreads);
    return;
  }
  if (!bar->arrived) bar->at = i;
  else if (skipped_whole(i) && skipped_whole(bar->at) && !fault_same_place(i, bar->at))
    note_parted(w, i, lane, bar);
  bar->expected = expected;
  /* With a count, a warp arrives as 32 threads even when its last lanes do not exist. */
  bar->arrived += expected && lanes == w->live && w->live == w->started ? SIM_LANES
                                                                        : popcount(lanes);
  bar->votes += popcount(lanes);
  bar->yes += popcount(yes & lanes);
  bar->warps |= 1u << w->id;
  w->runner->totals.barriers++;
  if (wait) {
    struct group *g = warp_park(w, lanes, GROUP_BARRIER, w->pc, i);
    g->barrier = id;
    g->expected = expected;
    w->owing &= ~lanes;
    bar->arrive_tick[w->id] = 0;
  } else {
    bar->arrive_tick[w->id] = ++b->shadow.tick;
  }
  check_barrier(b, id);
}

/* a: number of the barrier; b: threads, when small[1]; c: predicate of bar.red, flip in imm;
 * small[2]: aligned. */
static void arrive_all(struct warp *w, const struct sim_inst *i, uint32_t exec, bool wait,
                       uint32_t yes)
{
  if (i->small[2] && (w->live & ~exec)) {
    warp_park(w, exec, GROUP_WARP_SYNC, w->pc - 1, i);
    note_absent(w, i, exec);
    return;
  }
  const u32_row *ids = SIM_ROW(u32_row, i->a);
  const u32_row *counts = SIM_ROW(u32_row, i->b);
  while (exec && !w->runner->stop) {
    unsigned lane = first_lane(exec);
    uint32_t id = ids[lane], count = i->small[1] ? counts[lane] : 0, same = 0;
    for (uint32_t m = exec; m; m &= m - 1) {
      unsigned l = first_lane(m);
      if (ids[l] == id && (!i->small[1] || counts[l] == count)) same |= 1u << l;
    }
    exec &= ~same;
    if (i->small[2] && exec) {
      fault_note(w, i, first_lane(exec), SIM_FAULT_BARRIER, true,
                 "lanes of one warp name different barriers here (%u and %u): a warp comes to one "
                 "barrier, as a whole", id, ids[first_lane(exec)]);
      return;
    }
    if (i->small[1] && !count) {
      fault_note(w, i, lane, SIM_FAULT_BARRIER, true, "a barrier of no threads");
      return;
    }
    arrive(w, i, same, id, count, wait, yes);
  }
}

void exec_bar_sync(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  arrive_all(w, i, exec, true, 0);
}

void exec_bar_arrive(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  arrive_all(w, i, exec, false, 0);
}

void exec_bar_red(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  arrive_all(w, i, exec, true, *SIM_ROW(u32_row, i->c) ^ (uint32_t)i->imm);
}

/* ---- the block is stuck ------------------------------------------------------------------------- */

static bool at_barrier(const struct group *g)
{
  sim_handler *run = g->at->run;
  return run == exec_bar_sync || run == exec_bar_arrive || run == exec_bar_red;
}

static const char *waiting_at(const struct group *g)
{
  switch (g->state) {
  case GROUP_BARRIER: return "a barrier of the block";
  case GROUP_WARP_BARRIER: return "__syncwarp";
  case GROUP_PHASE: return "an mbarrier";
  case GROUP_CLUSTER: return "a barrier of the cluster";
  default: return at_barrier(g) ? "a barrier of the block" : "a warp-wide instruction";
  }
}

/* In order of lanes, not of parking, so that no text depends on how groups were parked. */
static const struct group *next_group(const struct warp *w, const struct group *after)
{
  unsigned from = after ? first_lane(after->mask) : 0;
  const struct group *best = NULL;
  for (unsigned g = 0; g < w->ngroups; g++) {
    const struct group *group = &w->groups[g];
    if (after && (group == after || first_lane(group->mask) < from)) continue;
    if (!best || first_lane(group->mask) < first_lane(best->mask)) best = group;
  }
  return best;
}

static void also_waits(struct block *b, struct sim_fault *f, const struct warp *w,
                       const struct group *g)
{
  fault_thread(b, w->id * SIM_LANES + first_lane(g->mask), f->other_thread);
  f->other_line = g->at->line;
  size_t n = strlen(f->text);
  snprintf(f->text + n, sizeof f->text - n, ". Thread (%u,%u,%u) waits at line %u, at %s",
           f->other_thread[0], f->other_thread[1], f->other_thread[2], f->other_line,
           waiting_at(g));
}

/* The first group that waits at a barrier for the rest of its warp; or that waits at another
 * instruction of the warp, which then is what keeps the rest from the barrier. */
static const struct group *parted(struct block *b, struct warp **whose)
{
  const struct group *found = NULL;
  for (uint32_t k = 0; k < b->nwarps; k++) {
    struct warp *w = &b->warps[k];
    for (const struct group *g = next_group(w, NULL); g; g = next_group(w, g)) {
      if (g->state == GROUP_BARRIER || g->state == GROUP_CLUSTER || (found && at_barrier(g))) continue;
      *whose = w;
      found = g;
      if (!at_barrier(g)) return g;
    }
  }
  return found;
}

static void stuck_apart(struct block *b, struct warp *w, const struct group *here)
{
  struct sim_fault *f =
      fault_note(w, here->at, first_lane(here->mask), SIM_FAULT_BARRIER, true,
                 "%u of the %u threads of warp %u wait at this barrier and the others do not come: "
                 "all threads of a warp must reach one barrier together. Move it out of the `if` "
                 "or loop in which they part", popcount(here->mask), popcount(w->live), w->id);
  if (!f) return;
  for (const struct group *g = next_group(w, NULL); g; g = next_group(w, g))
    if (g != here) {
      also_waits(b, f, w, g);
      return;
    }
}

static void stuck(struct block *b)
{
  struct warp *first = NULL, *second = NULL;
  const struct group *g1 = parted(b, &first), *g2 = NULL;
  if (g1 && at_barrier(g1)) {
    stuck_apart(b, first, g1);
    return;
  }
  for (uint32_t k = 0; k < b->nwarps && !g1; k++) {
    first = &b->warps[k];
    g1 = next_group(first, NULL);
  }
  if (!g1) return;
  for (uint32_t k = 0; k < b->nwarps && !g2; k++) {
    second = &b->warps[k];
    for (g2 = next_group(second, NULL); g2; g2 = next_group(second, g2))
      if (g2 != g1 && (g2->at != g1->at || g2->barrier != g1->barrier)) break;
  }
  struct sim_fault *f;
  if (g1->state == GROUP_PHASE) {
    char text[400];
    mbarrier_stuck(b, first, g1, text, sizeof text);
    f = fault_note(first, g1->at, first_lane(g1->mask), SIM_FAULT_BARRIER, true, "%s", text);
  } else if (g1->state == GROUP_BARRIER) {
    const struct barrier *bar = &b->barriers[g1->barrier];
    f = fault_note(first, g1->at, first_lane(g1->mask), SIM_FAULT_BARRIER, true,
                   "%u threads wait at this barrier for %u others that never come. Every thread "
                   "of the block must reach the same barrier: move it out of the `if` or loop that "
                   "not all of them enter", bar->arrived,
                   (bar->expected ? bar->expected : b->live) - bar->arrived);
  } else if (g1->state == GROUP_CLUSTER) {
    f = fault_note(first, g1->at, first_lane(g1->mask), SIM_FAULT_BARRIER, true,
                   "threads wait at this barrier of the cluster for others that never come. Every thread "
                   "of every block of the cluster must arrive at it (cluster.sync())");
  } else {
    f = fault_note(first, g1->at, first_lane(g1->mask), SIM_FAULT_BARRIER, true,
                   "%u lanes wait here, at %s, for lanes of the member mask that never come",
                   popcount(g1->mask), waiting_at(g1));
  }
  if (f && g2) also_waits(b, f, second, g2);
}

/* What no thread has written yet.  Besides the poison: bits all unlike, and what is least or largest as an
 * integer, a float, two halves. */
static void fill_shared(struct block *b, const struct sim_options *o)
{
  static const uint32_t fills[SIM_FILLS + 1] = {
      0, 0, 0, 0xffffffff, 0x80000000, 0x7fffffff, 0x7bff7bff, 0xfbfffbff};
  if (!o->shared_fill) memset(b->shared, (int)(0xa5 ^ (o->seed & 0x5a)), b->shared_bytes);
  for (uint32_t at = 0; o->shared_fill && at < b->shared_bytes; at += 4) {
    uint32_t v = o->shared_fill == 1 ? (at + 1) * 2654435761u ^ ((uint32_t)b->linear + 1) * 40503u
                                     : fills[o->shared_fill];
    memcpy(b->shared + at, &v, 4);   /* there is room behind the end */
  }
}

static void start(struct block *b)
{
  const struct sim_options *o = &b->warps[0].runner->sim->options;
  b->live = b->nthreads;
  b->parted = false;
  b->faults_before = b->warps[0].runner->nfaults;
  memset(b->barriers, 0, sizeof b->barriers);
  warp_charge(b->warps, b->shared_bytes);
  fill_shared(b, o);
  if (b->reserved_at) memset(b->shared + b->reserved_at, 0, SIM_SHARED_BASE);
  shadow_block(b);
  bulk_start(b);
  special_fill_block(b);
  for (uint32_t k = 0; k < b->nwarps; k++) {
    uint32_t threads = b->nthreads - k * SIM_LANES;
    warp_start(&b->warps[k], threads >= SIM_LANES ? SIM_FULL : (1u << threads) - 1);
  }
}

/* A turn for each warp.  False: all have ended. */
static bool turn(struct block *b, bool *moved)
{
  const struct runner *t = b->warps[0].runner;
  bool going = false, alone = b->nwarps == 1 && b->cluster->n == 1;
  for (uint32_t k = 0; k < b->nwarps && !t->stop; k++) {
    struct warp *w = &b->warps[k];
    if (warp_done(w)) continue;
    going = true;
    if (warp_run(w, alone ? UINT64_MAX : TURN)) *moved = true;
  }
  return going;
}

/* A block that waits for others of its cluster is not what keeps it. */
static struct block *stuck_block(struct cluster *c)
{
  struct block *found = NULL;
  for (uint32_t k = 0; k < c->n; k++)
    for (uint32_t n = 0; n < c->blocks[k].nwarps; n++) {
      const struct warp *w = &c->blocks[k].warps[n];
      for (unsigned g = 0; g < w->ngroups; g++) {
        if (w->groups[g].state != GROUP_CLUSTER) return &c->blocks[k];
        if (!found) found = &c->blocks[k];
      }
    }
  return found;
}

void cluster_run(struct runner *t)
{
  struct cluster *c = &t->cluster;
  c->arrivals = false;
  for (uint32_t k = 0; k < c->n; k++) start(&c->blocks[k]);
  bool going = true;
  while (going && !t->stop) {
    bool moved = false;
    going = false;
    for (uint32_t k = 0; k < c->n; k++) going |= turn(&c->blocks[k], &moved);
    if (!going || moved || t->stop) continue;
    bool released = false;
    for (uint32_t k = 0; k < c->n; k++) released |= mbarrier_release(&c->blocks[k]);
    if (released) continue;
    stuck(stuck_block(c));
    break;
  }
  for (uint32_t k = 0; k < c->n; k++) {
    struct block *b = &c->blocks[k];
    if (!t->stop) bulk_end(b);
    for (uint32_t n = 0; n < b->nwarps; n++) {
      t->totals.warp_instructions += b->warps[n].steps;
      t->totals.thread_instructions += b->warps[n].lane_steps;
    }
    t->totals.warps += b->nwarps;
  }
  t->totals.blocks += c->n;
}
