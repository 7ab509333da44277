/* Lanes, their program counters, and calls.
 *
 * The lanes of a warp that stand at one instruction of one frame are a group.  One group runs; the
 * others are parked.  The group to run is the one in the deepest call and, there, at the lowest
 * program counter: code laid out in order then meets again where its paths join, without a
 * control-flow graph.  The running group need only watch for the next parked group above it.
 *
 * That order starves a lane that holds a lock when the others spin below it.  So a slice of steps
 * ends with the running group yielding: groups that yielded less come first.  The slice is long
 * unless the group does what spinning code does (atomics, volatile loads), so that ordinary loops
 * are never torn apart.  A warp whose loop polls what another warp will write gives up its turn
 * after a few looks, and goes on from there in its next: its slice, and with it who of its lanes
 * comes first, is as if it had gone on. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum {
  SLICE = 1 << 22, SPIN_SLICE = 20000, SPIN_SHARE = 64,
  MAX_DEPTH = 2000, MAX_FRAME_BYTES = 64 << 20, MAX_LOCAL = 512 << 10
};

/* ---- frames ---------------------------------------------------------------------------------- */

/* memory_limit is for what is held what it is for buffers.  Spare frames go before the answer is no,
 * so that it does not depend on the blocks before. */
bool warp_hold(struct warp *w, uint64_t bytes)
{
  struct runner *t = w->runner;
  uint64_t limit = t->sim->options.memory_limit;
  if (bytes > limit) return false;
  for (size_t f = 0; t->held > limit - bytes && f < t->sim->nfuncs; f++)
    while (t->nspare[f]) {
      free(t->spare[f][--t->nspare[f]]);
      t->held -= t->sim->funcs[f].frame_bytes;
    }
  if (t->held > limit - bytes) return false;
  t->held += bytes;
  return true;
}

void warp_charge(struct warp *w, uint64_t bytes)
{
  enum { FREE_BYTES = 4 << 10, STEP_BYTES = 512 };
  struct runner *t = w->runner;
  uint64_t steps = bytes > FREE_BYTES ? (bytes - FREE_BYTES) / STEP_BYTES : 0;
  t->fuel -= steps < t->fuel ? steps : t->fuel;
  if (!t->fuel) warp_reschedule(w);
}

static struct frame *frame_new(struct warp *w, struct sim_func *f)
{
  struct runner *t = w->runner;
  struct frame *fr;
  if (t->nspare[f->index]) {
    fr = t->spare[f->index][--t->nspare[f->index]];
  } else {
    size_t head = (sizeof *fr + 63) / 64 * 64;
    if (!warp_hold(w, f->frame_bytes)) return NULL;
    fr = aligned_alloc(64, head + f->frame_bytes);
    if (!fr) {
      t->held -= f->frame_bytes;
      return NULL;
    }
    fr->regs = (uint8_t *)fr + head;
    memset(fr->regs, 0xcd, f->frame_bytes);
  }
  /* A register read before it is written has the same value on every run. */
  memset(fr->regs, 0xcd, f->filled_bytes);
  return fr;
}

static void frame_drop(struct warp *w, struct frame *fr)
{
  struct runner *t = w->runner;
  uint32_t k = fr->func->index;
  w->depth_bytes -= fr->func->frame_bytes;
  if (t->nspare[k] == t->spare_room[k]) {
    uint32_t room = t->spare_room[k] ? 2 * t->spare_room[k] : 8;
    struct frame **more = realloc(t->spare[k], room * sizeof *more);
    if (!more) {
      t->held -= fr->func->frame_bytes;
      free(fr);
      return;
    }
    t->spare[k] = more;
    t->spare_room[k] = room;
  }
  t->spare[k][t->nspare[k]++] = fr;
}

/* Room for `bytes` of local memory a lane. */
static bool local_reserve(struct warp *w, uint32_t bytes)
{
  if (bytes <= w->local_room) return true;
  uint32_t room = w->local_room ? w->local_room : 256;
  while (room < bytes) room *= 2;
  if (room > MAX_LOCAL) return false;
  uint64_t grows = (uint64_t)(room - w->local_room) * SIM_LANES;
  if (!warp_hold(w, grows)) return false;
  uint8_t *more = malloc((size_t)room * SIM_LANES);
  if (!more) {
    w->runner->held -= grows;
    return false;
  }
  memset(more, 0xcd, (size_t)room * SIM_LANES);
  for (int l = 0; w->local && l < SIM_LANES; l++)
    memcpy(more + (size_t)l * room, w->local + (size_t)l * w->local_room, w->local_room);
  free(w->local);
  w->local = more;
  w->local_room = room;
  return true;
}

static void run_in(struct warp *w, struct frame *fr)
{
  w->frame = fr;
  w->base[SIM_IN_FRAME] = fr->regs;
}

/* The lanes of `mask`, which are all of the running group, go into a new frame of f. */
bool frame_enter(struct warp *w, struct sim_func *f, const struct sim_inst *call, uint32_t mask)
{
  struct frame *parent = w->frame;
  uint32_t local = parent ? parent->local_base + parent->func->local_bytes : 0;
  uint32_t depth = parent ? parent->depth + 1 : 0;
  struct frame *fr = NULL;
  if (depth < MAX_DEPTH && w->depth_bytes + f->frame_bytes <= MAX_FRAME_BYTES &&
      local_reserve(w, local + f->local_bytes + 64))
    fr = frame_new(w, f);
  if (!fr) {
    const struct sim_inst *at = call ? call : f->insts;
    bool too_local = local + f->local_bytes + 64 > MAX_LOCAL;
    bool too_deep = depth >= MAX_DEPTH || w->depth_bytes + f->frame_bytes > MAX_FRAME_BYTES;
    if (!too_local && (!depth || !too_deep))
      fault_note(w, at, first_lane(mask), SIM_FAULT_MEMORY, true,
                 "the registers and local arrays of a block take more than %llu bytes of the "
                 "host's memory", (unsigned long long)w->runner->sim->options.memory_limit);
    else if (depth)
      fault_note(w, at, first_lane(mask), SIM_FAULT_STACK, true,
                 "%u calls deep, a thread ran out of stack here. Is there a case in which the "
                 "recursion ends?", depth);
    else
      fault_note(w, at, first_lane(mask), SIM_FAULT_STACK, true,
                 "a thread needs %u bytes of local memory; at most %u are there", f->local_bytes,
                 (unsigned)MAX_LOCAL);
    return false;
  }
  w->depth_bytes += f->frame_bytes;
  uint8_t *regs = fr->regs;
  *fr = (struct frame){.func = f, .parent = parent, .call = call, .depth = depth,
                       .return_pc = w->pc, .lanes = mask, .local_base = local, .regs = regs};
  warp_charge(w, f->frame_bytes + (parent ? 0 : (uint64_t)f->local_bytes * SIM_LANES));
  for (int l = 0; f->local_bytes && !parent && l < SIM_LANES; l++)
    memset(w->local + (size_t)l * w->local_room, 0xcd, f->local_bytes);
  run_in(w, fr);
  w->pc = 0;
  return true;
}

/* ---- groups ------------------------------------------------------------------------------------ */

/* Whether a should run before b; both can run. */
static bool sooner(const struct group *a, const struct group *b)
{
  if (a->yields != b->yields) return a->yields < b->yields;
  if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
  if (a->frame != b->frame) return first_lane(a->frame->lanes) < first_lane(b->frame->lanes);
  return a->pc < b->pc;
}

static bool can_run(const struct warp *w, const struct group *g)
{
  return g->state == GROUP_RUN ||
         (g->state == GROUP_PHASE && g->stamp != w->block->events) || (g->state == GROUP_WARP_SYNC && g->stamp != w->stamp);
}

static void set_limit(struct warp *w)
{
  w->limit = SIM_NO_LIMIT;
  for (unsigned k = 0; k < w->ngroups; k++) {
    struct group *g = &w->groups[k];
    if (g->frame == w->frame && g->state <= GROUP_WARP_SYNC && g->pc > w->pc && g->pc < w->limit)
      w->limit = g->pc;
  }
}

static struct group *push(struct warp *w, uint32_t mask, uint32_t pc)
{
  struct group *g = &w->groups[w->ngroups++];
  *g = (struct group){.frame = w->frame, .pc = pc, .mask = mask, .yields = w->yields};
  return g;
}

/* Makes the best group the running one, joined by those at the same place.  False: none can run. */
static bool pick(struct warp *w)
{
  if (w->active) {
    push(w, w->active, w->pc);
    w->active = 0;
  }
  struct group *best = NULL;
  for (unsigned k = 0; k < w->ngroups; k++)
    if (can_run(w, &w->groups[k]) && (!best || sooner(&w->groups[k], best))) best = &w->groups[k];
  if (!best) return false;
  struct frame *frame = best->frame;
  uint32_t pc = best->pc, yields = best->yields, mask = 0, joined = 0;
  for (unsigned k = 0; k < w->ngroups;) {
    struct group *g = &w->groups[k];
    if (g->frame == frame && g->pc == pc && g->state <= GROUP_WARP_SYNC) {
      mask |= g->mask;
      if (g->yields < yields) yields = g->yields;
      joined++;
      *g = w->groups[--w->ngroups];
    } else {
      k++;
    }
  }
  if (joined > 1) w->stamp++;
  if (!w->ngroups) yields = 0;
  run_in(w, frame);
  w->active = mask;
  w->pc = pc;
  w->yields = yields;
  set_limit(w);
  return true;
}

struct group *warp_park(struct warp *w, uint32_t lanes, enum group_state state, uint32_t pc,
                        const struct sim_inst *i)
{
  struct group *g = push(w, lanes, pc);
  g->state = state;
  g->at = i;
  g->stamp = w->stamp;
  w->active &= ~lanes;
  if (!w->active) warp_reschedule(w);
  else set_limit(w);
  return g;
}

/* `taken` lanes of the running group go to target, the others on. */
void warp_jump(struct warp *w, uint32_t taken, uint32_t target)
{
  uint32_t rest = w->active & ~taken;
  if (rest && target == w->pc) return;
  if (!rest) {
    bool back = target < w->pc;
    w->pc = target;
    if (!back) return;   /* past the limit: the loop stops there by itself */
  } else if (target < w->pc) {
    push(w, rest, w->pc);
    w->active = taken;
    w->pc = target;
  } else {
    push(w, taken, target);
    w->active = rest;
  }
  set_limit(w);
  for (unsigned k = 0; k < w->ngroups; k++)   /* somebody stands here already */
    if (w->groups[k].frame == w->frame && w->groups[k].pc == w->pc &&
        w->groups[k].state <= GROUP_WARP_SYNC)
      warp_reschedule(w);
}

void warp_exit(struct warp *w, uint32_t lanes)
{
  for (struct frame *f = w->frame; f;) {
    struct frame *parent = f->parent;
    f->lanes &= ~lanes;
    if (!f->lanes) frame_drop(w, f);
    f = parent;
  }
  if (lanes & w->owing) {
    unsigned lane = first_lane(lanes & w->owing);
    struct sim_fault *f = fault_note(w, w->owed, lane, SIM_FAULT_BARRIER, false, "barrier");
    if (f) {
      uint32_t *t = f->thread;
      fault_thread(w->block, w->id * SIM_LANES + w->waited, f->other_thread);
      f->other_line = f->line;
      snprintf(f->text, sizeof f->text,
               "thread (%u,%u,%u) ends without having come to this barrier, where threads of its "
               "warp waited. Every thread of the block must reach the same barrier: move it out of "
               "the `if` or loop that not all of them enter", t[0], t[1], t[2]);
      fault_began(w->runner, w->owed_at);
    }
    w->owing &= ~lanes;
  }
  w->active &= ~lanes;
  w->live &= ~lanes;
  w->stamp++;
  if (!w->active) warp_reschedule(w);
  w->block->live -= (uint32_t)__builtin_popcount(lanes);
  block_lanes_exited(w->block);
}

void warp_return(struct warp *w, uint32_t lanes, const struct sim_inst *i)
{
  struct frame *fr = w->frame;
  (void)i;
  struct group *g = push(w, lanes, fr->return_pc);
  g->frame = fr->parent;
  w->active &= ~lanes;
  fr->lanes &= ~lanes;
  if (!fr->lanes) frame_drop(w, fr);
  warp_reschedule(w);
}

/* A frame is marked by an empty lane set once it is on the spare list. */
void warp_drop_frames(struct warp *w, struct frame *fr)
{
  while (fr && fr->lanes) {
    struct frame *parent = fr->parent;
    fr->lanes = 0;
    frame_drop(w, fr);
    fr = parent;
  }
}

bool warp_done(const struct warp *w) { return !w->live; }

void warp_start(struct warp *w, uint32_t lanes)
{
  w->frame = NULL;
  w->active = w->live = w->started = lanes;
  w->pc = 0;
  w->limit = SIM_NO_LIMIT;
  w->ngroups = 0;
  w->released = w->due = w->arrived = 0;
  w->owing = 0;
  w->passed = 0;
  w->yields = w->stamp = w->carry = w->sync_tick = w->spins = w->polls = w->polled = 0;
  w->steps = w->lane_steps = w->clock = w->in_slice = 0;
  w->depth_bytes = 0;
  free(w->lane_seen);
  w->lane_seen = NULL;
  async_start(w);
  frame_enter(w, w->runner->entry, NULL, lanes);
}

/* ---- *.sync ------------------------------------------------------------------------------------- */

uint32_t warp_meet(struct warp *w, const struct sim_inst *i, uint32_t *exec,
                   const u32_row *members, uint32_t *member)
{
  uint32_t waiting = 0, found = 0, left = *exec;
  while (left && !found) {
    unsigned lane = first_lane(left);
    uint32_t mask = members[lane], same = 0;
    for (uint32_t m = left; m; m &= m - 1)
      if (members[first_lane(m)] == mask) same |= 1u << first_lane(m);
    left &= ~same;
    uint32_t strangers = same & ~mask;
    if (strangers) {
      fault_note(w, i, first_lane(strangers), SIM_FAULT_BARRIER, true,
                 "lane %u runs this with the member mask 0x%08x, in which it is not named",
                 first_lane(strangers), mask);
      *exec = 0;
      return 0;
    }
    if (mask & w->live & ~same) {
      waiting |= same;
    } else {
      found = same;
      *member = mask;
    }
  }
  if (waiting) warp_park(w, waiting, GROUP_WARP_SYNC, w->pc - 1, i);
  *exec = left;
  if (found) warp_order(w, found);
  return found;
}

void warp_order(struct warp *w, uint32_t lanes)
{
  struct shadow *s = &w->block->shadow;
  uint32_t tick = ++s->tick;
  if (s->fenced) order_meet(w, lanes);
  if (!(w->live & ~lanes)) {
    w->sync_tick = tick;
    return;
  }
  s->partial = true;
  if (!w->lane_seen) w->lane_seen = calloc(SIM_LANES * SIM_LANES, sizeof *w->lane_seen);
  if (!w->lane_seen) abort();
  uint32_t joined[SIM_LANES] = {0};
  for (uint32_t m = lanes; m; m &= m - 1) {
    const uint32_t *seen = w->lane_seen + first_lane(m) * SIM_LANES;
    for (int l = 0; l < SIM_LANES; l++)
      if (seen[l] > joined[l]) joined[l] = seen[l];
  }
  for (uint32_t m = lanes; m; m &= m - 1) joined[first_lane(m)] = tick;
  for (uint32_t m = lanes; m; m &= m - 1)
    memcpy(w->lane_seen + first_lane(m) * SIM_LANES, joined, sizeof joined);
}

/* ---- the loop ------------------------------------------------------------------------------------- */

static const char one_after_another[] =
    ". Here blocks run one after another: if this one waits for a later one, it waits for ever, "
    "though a GPU that holds both would go on";

static void out_of_budget(struct warp *w, uint64_t limit, const char *whose)
{
  const struct sim_inst *i = &w->frame->func->insts[w->pc];
  const uint32_t *grid = w->runner->launch->grid;
  const struct cluster *c = w->block->cluster;
  bool later = w->block->linear + c->n < (uint64_t)grid[0] * grid[1] * grid[2];
  fault_note(w, i, first_lane(w->active ? w->active : w->live), SIM_FAULT_BUDGET, true,
             "still running here after %llu instructions of %s: an endless loop? Check that "
             "every thread can reach the loop's end, and that no thread waits for one that "
             "cannot run%s", (unsigned long long)limit, whose,
             later && w->spins ? one_after_another : "");
}

/* Steps of one group until something must be decided.  Returns how many. */
static uint64_t run_group(struct warp *w, uint64_t fuel)
{
  const uint64_t start = fuel;
  const struct sim_inst *insts = w->frame->func->insts;
  uint64_t lanes = 0;
  do {
    const struct sim_inst *i = &insts[w->pc++];
    uint32_t exec = w->active;
    if (i->guard) exec &= *(u32_row *)(w->base[SIM_IN_FRAME] + i->guard) ^ i->flip;
    lanes += (uint64_t)__builtin_popcount(exec);
    fuel--;
    if (exec) i->run(w, i, exec);
  } while (w->pc < w->limit && fuel);
  w->lane_steps += lanes;
  return start - fuel;
}

uint64_t warp_run(struct warp *w, uint64_t slice)
{
  struct runner *t = w->runner;
  uint64_t warp_budget = t->sim->options.warp_budget, done = 0;
  while (!t->stop) {
    if (w->pc >= w->limit || !w->active) {
      if (!pick(w)) break;
    }
    uint64_t fuel = w->ngroups || slice < SLICE ? SPIN_SLICE : SLICE;
    if (fuel > warp_budget - w->steps) fuel = warp_budget - w->steps;
    if (fuel > t->fuel) fuel = t->fuel;
    if (!fuel) {
      if (t->fuel) out_of_budget(w, warp_budget, "one warp");
      else out_of_budget(w, t->sim->options.step_budget, "the launch (costly ones count more)");
      break;
    }
    uint64_t steps = run_group(w, fuel);
    w->steps += steps;
    t->fuel -= steps < t->fuel ? steps : t->fuel;   /* a call may have taken more */
    done += steps;
    w->in_slice += steps;
    /* Spinning: others in the warp, then other warps, get their turn. */
    bool spinning = w->spins * SPIN_SHARE > w->in_slice;
    if (w->in_slice >= (spinning ? SPIN_SLICE : SLICE)) {
      w->in_slice = 0;
      w->spins = 0;
      if (w->ngroups) {
        w->yields++;
        warp_reschedule(w);
      }
      if (done >= slice) break;
    }
    if (w->polls >= POLL_TURN) {
      w->polls = 0;
      if (slice != UINT64_MAX) break;
    }
  }
  return done;
}
