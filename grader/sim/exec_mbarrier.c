/* mbarrier.*: barriers in shared memory that count arrivals and bytes, phase by phase.
 *
 * A phase is complete when no arrival is missing and the bytes expected have come; the next one
 * starts at once.  A thread that sees a phase complete comes after what the arriving threads did
 * before they arrived.  (For the race check the whole warp of an arriving thread counts as
 * arrived.)  Bytes come from bulk copies, which land when somebody looks at the barrier.
 *
 * test_wait and try_wait wait here; they answer false only when nothing else in the block can run. */
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "rows.h"

enum { RELEASES = 64, MOST_DEFERRED = 1 << 16 };
enum { ARRIVE_EXPECT = 1, ARRIVE_DROP = 2, ARRIVE_NO_COMPLETE = 4 };   /* small[1] */

static bool checks(const struct warp *w) { return !w->runner->sim->options.no_checks; }

static void event(struct block *b)
{
  b->events++;
  b->releases = 0;
}

/* ---- barriers of a block -------------------------------------------------------------------- */

static struct mbarrier *lookup(struct block *b, uint32_t at)
{
  struct bulk *k = b->bulk;
  bool there = k && k->bar_at && at < b->shared_bytes && at % MBARRIER_BYTES == 0;
  uint32_t n = there ? k->bar_at[at / MBARRIER_BYTES] : 0;
  return n ? &k->bars[n - 1] : NULL;
}

static uint64_t address_of(struct warp *w, const struct sim_inst *i, unsigned lane)
{
  return bulk_address(w, i->a, i->flags & SIM_MEM_WIDE_ADDRESS, i->imm, lane);
}

struct mbarrier *mbarrier_find(struct warp *w, const struct sim_inst *i, unsigned lane,
                               uint64_t address, struct block **whose)
{
  uint32_t at, thread;
  if (address - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) address -= SIM_SHARED_WINDOW;
  struct block *b = whose ? cluster_block(w, &address) : w->block;
  if (whose) *whose = b;
  if (!bulk_shared(w, i, lane, address, MBARRIER_BYTES, MBARRIER_BYTES, "mbarrier", &at))
    return NULL;
  if (!b->live) {
    fault_note(w, i, lane, SIM_FAULT_RACE, true,
               "uses an mbarrier of block %u of the cluster, which has ended: put cluster.sync() at the end "
               "of the kernel", b->rank);
    return NULL;
  }
  struct mbarrier *m = lookup(b, at);
  if (!m) {
    fault_note(w, i, lane, SIM_FAULT_UNINITIALISED, true,
               "there is no initialised mbarrier at byte %u of %s: one thread must run "
               "mbarrier.init (or init(&bar, count)) first, and %s must follow", at,
               b == w->block ? "shared memory" : "the other block's shared memory",
               b == w->block ? "__syncthreads()" : "cluster.sync()");
    return NULL;
  }
  if (b == w->block && checks(w) && !shadow_follows(w, lane, at, &thread)) {
    struct sim_fault *f =
        fault_note(w, i, lane, SIM_FAULT_RACE, false,
                   "uses the mbarrier at byte %u of shared memory, which another thread initialised, "
                   "and nothing orders the two: put __syncthreads() after mbarrier.init", at);
    if (f) {
      fault_thread(w->block, thread, f->other_thread);
      if (m->init->file == f->file) f->other_line = m->init->line;
    }
  }
  return m;
}

static void complete(struct block *b, struct mbarrier *m)
{
  m->phase++;
  m->pending = m->expected;
  memcpy(m->done, m->joining, sizeof m->done);
  event(b);
}

/* What w did comes before whoever sees the phase complete.  A warp of another block may have seen
 * anything that b's threads did until now. */
static void join(struct block *b, struct mbarrier *m, const struct warp *w)
{
  struct shadow *s = &b->shadow;
  if (w->block != b) {
    uint32_t tick = ++s->tick;
    for (uint32_t v = 0; v < SHADOW_WRITERS; v++) m->joining[v] = tick;
    s->partial = true;
    return;
  }
  for (uint32_t v = 0; v < SHADOW_WRITERS; v++)
    if (s->seen[w->id][v] > m->joining[v]) m->joining[v] = s->seen[w->id][v];
  m->joining[w->id] = ++s->tick;
  s->partial = true;
}

void mbarrier_settle(struct block *b, struct mbarrier *m)
{
  while (m->ndeferred) {
    struct deferred d = m->deferred[--m->ndeferred];
    b->bulk->ndeferred--;
    struct warp *w = &b->warps[d.warp];
    async_land_before(w, d.lane, d.before);
    join(b, m, w);
    if (m->pending) m->pending--;
    event(b);
    if (m->ndeferred) continue;
    free(m->deferred);           /* thousands of mbarriers may each have had many, one by one */
    m->deferred = NULL;
    m->deferred_room = 0;
  }
  if (m->pending || m->tx != m->coming) return;
  if (m->coming) {
    bulk_land(b, m->at);
    m->tx -= m->coming;
    m->coming = 0;
    struct shadow *s = &b->shadow;
    m->joining[SHADOW_ENGINE] = ++s->tick;
    s->partial = true;
  }
  complete(b, m);
}

/* Waiters of these lanes come after the last completed phase. */
static void acquire(struct warp *w, const struct mbarrier *m, uint32_t lanes)
{
  struct shadow *s = &w->block->shadow;
  for (uint32_t v = 0; v < SHADOW_WRITERS; v++)
    if (m->done[v] > s->seen[w->id][v]) s->seen[w->id][v] = m->done[v];
  uint32_t own = m->done[w->id];
  if (!(w->live & ~lanes)) {
    if (own > w->sync_tick) w->sync_tick = own;
    return;
  }
  if (!w->lane_seen) w->lane_seen = calloc(SIM_LANES * SIM_LANES, sizeof *w->lane_seen);
  if (!w->lane_seen) abort();
  for (; lanes; lanes &= lanes - 1)
    for (uint32_t l = 0; l < SIM_LANES; l++) {
      uint32_t *seen = &w->lane_seen[first_lane(lanes) * SIM_LANES + l];
      if (own > *seen) *seen = own;
    }
}

/* ---- init, inval ------------------------------------------------------------------------------- */

HANDLER(mbarrier_init)
{
  struct block *b = w->block;
  if (!b->bulk) b->bulk = calloc(1, sizeof *b->bulk);
  struct bulk *k = b->bulk;
  if (!k) abort();
  if (!k->bar_at) k->bar_at = calloc(b->shared_bytes / MBARRIER_BYTES + 1, sizeof *k->bar_at);
  if (!k->bar_at) abort();
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned lane = first_lane(m);
    uint32_t at, count = SIM_ROW(u32_row, i->b)[lane];
    if (!bulk_shared(w, i, lane, address_of(w, i, lane), MBARRIER_BYTES, MBARRIER_BYTES, "mbarrier",
                     &at))
      return;
    if (!count || count > MBARRIER_MOST) {
      fault_note(w, i, lane, SIM_FAULT_BARRIER, true,
                 "an mbarrier for %u arrivals: the count must be 1 to %d", count, MBARRIER_MOST);
      return;
    }
    struct mbarrier *bar = lookup(b, at);
    if (!bar) {
      if (k->nbars == k->bars_room) {
        k->bars_room = k->bars_room ? 2 * k->bars_room : 8;
        k->bars = realloc(k->bars, k->bars_room * sizeof *k->bars);
        if (!k->bars) abort();
      }
      bar = &k->bars[k->nbars++];
      k->bar_at[at / MBARRIER_BYTES] = (uint32_t)k->nbars;
      memset(bar, 0, sizeof *bar);
    }
    k->ndeferred -= bar->ndeferred;
    free(bar->deferred);
    *bar = (struct mbarrier){.at = at, .init = i, .expected = count, .pending = count};
    if (checks(w)) {
      b->shadow.tick++;
      shadow_pending(b, at, MBARRIER_BYTES, w->id * SIM_LANES + lane, i);
      shadow_landed(b, at, MBARRIER_BYTES, w->id * SIM_LANES + lane);
    }
  }
  event(b);
}

HANDLER(mbarrier_inval)
{
  struct bulk *k = w->block->bulk;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned lane = first_lane(m);
    struct mbarrier *bar = mbarrier_find(w, i, lane, address_of(w, i, lane), NULL);
    if (!bar) return;
    k->ndeferred -= bar->ndeferred;
    free(bar->deferred);
    if (checks(w)) shadow_forget(w->block, bar->at, MBARRIER_BYTES);
    k->bar_at[bar->at / MBARRIER_BYTES] = 0;
    *bar = k->bars[--k->nbars];
    if (bar != &k->bars[k->nbars])
      k->bar_at[bar->at / MBARRIER_BYTES] = (uint32_t)(bar - k->bars) + 1;
  }
  event(w->block);
}

/* ---- arriving ------------------------------------------------------------------------------------ */

static bool expect(struct warp *w, const struct sim_inst *i, unsigned lane, struct mbarrier *m,
                   int64_t bytes)
{
  m->tx += bytes;
  if (m->tx <= MBARRIER_MOST && m->tx >= -MBARRIER_MOST) return true;
  fault_note(w, i, lane, SIM_FAULT_BARRIER, true,
             "the bytes this mbarrier expects become %lld: they must stay within %d either way",
             (long long)m->tx, MBARRIER_MOST);
  return false;
}

static uint64_t state_of(const struct mbarrier *m) { return (uint64_t)m->phase << 32 | m->pending; }

HANDLER(mbarrier_arrive)
{
  const unsigned how = i->small[1];
  u64_row *d = SIM_ROW(u64_row, i->d);
  for (uint32_t lanes = exec; lanes; lanes &= lanes - 1) {
    unsigned lane = first_lane(lanes);
    struct block *b;
    struct mbarrier *m = mbarrier_find(w, i, lane, address_of(w, i, lane), &b);
    if (!m) return;
    mbarrier_settle(b, m);
    uint32_t operand = i->small[2] ? SIM_ROW(u32_row, i->b)[lane] : 1;
    uint32_t count = how & ARRIVE_EXPECT ? 1 : operand;
    d[lane] = state_of(m);
    if (how & ARRIVE_EXPECT && !expect(w, i, lane, m, operand)) return;
    if (!count || count > m->pending) {
      fault_note(w, i, lane, SIM_FAULT_BARRIER, true,
                 "%u arrivals at an mbarrier that lacks %u of %u in this phase: more threads arrive "
                 "than it was initialised for, or one arrives twice before the phase is over",
                 count, m->pending, m->expected);
      return;
    }
    if (how & ARRIVE_DROP) m->expected -= count < m->expected ? count : m->expected;
    m->pending -= count;
    join(b, m, w);
    if (!m->pending && m->tx == 0 && !m->coming && !m->ndeferred) {
      if (how & ARRIVE_NO_COMPLETE) {
        fault_note(w, i, lane, SIM_FAULT_BARRIER, true,
                   "this arrival is marked noComplete and completes the phase");
        return;
      }
      complete(b, m);
    }
    event(b);
  }
}

/* small[1]: the sign. */
HANDLER(mbarrier_tx)
{
  for (uint32_t lanes = exec; lanes; lanes &= lanes - 1) {
    unsigned lane = first_lane(lanes);
    struct block *b;
    struct mbarrier *m = mbarrier_find(w, i, lane, address_of(w, i, lane), &b);
    if (!m) return;
    mbarrier_settle(b, m);
    int64_t bytes = SIM_ROW(u32_row, i->b)[lane];
    if (!expect(w, i, lane, m, i->small[1] ? -bytes : bytes)) return;
    if (!m->pending && !m->tx && !m->coming) complete(b, m);
    event(b);
  }
}

void mbarrier_stored(struct warp *w, struct block *b, struct mbarrier *m, uint32_t bytes)
{
  mbarrier_settle(b, m);
  join(b, m, w);
  m->tx -= bytes;
  if (!m->pending && !m->tx && !m->coming && !m->ndeferred) complete(b, m);
  event(b);
}

/* An arrival when the lane's cp.async so far are done: small[1]: it was counted at the start. */
HANDLER(async_arrive)
{
  for (uint32_t lanes = exec; lanes; lanes &= lanes - 1) {
    unsigned lane = first_lane(lanes);
    struct mbarrier *m = mbarrier_find(w, i, lane, address_of(w, i, lane), NULL);
    if (!m) return;
    if (!i->small[1]) m->pending++;
    if (++w->block->bulk->ndeferred > MOST_DEFERRED) {
      fault_note(w, i, lane, SIM_FAULT_MEMORY, true,
                 "%d arrivals wait for copies: wait for the phase in the loop", MOST_DEFERRED);
      return;
    }
    if (m->ndeferred >= m->pending) {
      fault_note(w, i, lane, SIM_FAULT_BARRIER, true,
                 "more arrivals than this mbarrier was initialised for: it lacks %u of %u",
                 m->pending, m->expected);
      return;
    }
    if (m->ndeferred == m->deferred_room) {
      m->deferred_room = m->deferred_room ? 2 * m->deferred_room : 32;
      m->deferred = realloc(m->deferred, m->deferred_room * sizeof *m->deferred);
      if (!m->deferred) abort();
    }
    m->deferred[m->ndeferred++] =
        (struct deferred){.warp = w->id, .lane = lane, .before = w->async.serial};
  }
  event(w->block);
}

HANDLER(mbarrier_pending_count)
{
  const u64_row *a = SIM_ROW(u64_row, i->a);
  u32_row *d = SIM_ROW(u32_row, i->d);
  for (uint32_t m = exec; m; m &= m - 1) d[first_lane(m)] = (uint32_t)a[first_lane(m)];
}

/* ---- waiting --------------------------------------------------------------------------------------- */

/* small[1]: b is a parity, else a state. */
static bool passed(struct warp *w, const struct sim_inst *i, unsigned lane,
                   const struct mbarrier *m)
{
  if (i->small[1]) return (m->phase & 1) != (SIM_ROW(u32_row, i->b)[lane] & 1);
  return (uint32_t)(SIM_ROW(u64_row, i->b)[lane] >> 32) != m->phase;
}

HANDLER(mbarrier_wait)
{
  uint32_t done = 0;
  for (uint32_t lanes = exec; lanes; lanes &= lanes - 1) {
    unsigned lane = first_lane(lanes);
    struct mbarrier *m = mbarrier_find(w, i, lane, address_of(w, i, lane), NULL);
    if (!m) return;
    mbarrier_settle(w->block, m);
    if (passed(w, i, lane, m)) done |= 1u << lane;
  }
  for (uint32_t lanes = done; lanes;) {
    unsigned lane = first_lane(lanes);
    uint64_t address = address_of(w, i, lane);
    uint32_t same = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
      if (address_of(w, i, first_lane(m)) == address) same |= 1u << first_lane(m);
    lanes &= ~same;
    const struct mbarrier *m = mbarrier_find(w, i, lane, address, NULL);
    if (!m) return;
    acquire(w, m, same);
  }
  uint32_t refused = exec & ~done & w->released;
  w->released &= ~exec;
  row_set_pred(w, i->d, done | refused, done);
  if (refused) w->spins += 1000;
  uint32_t wait = exec & ~done & ~refused;
  if (wait) {
    struct group *g = warp_park(w, wait, GROUP_PHASE, w->pc - 1, i);
    g->stamp = w->block->events;
  }
}

bool mbarrier_release(struct block *b)
{
  if (b->releases >= RELEASES) return false;
  bool any = false;
  for (uint32_t k = 0; k < b->nwarps; k++) {
    struct warp *w = &b->warps[k];
    for (unsigned g = 0; g < w->ngroups; g++)
      if (w->groups[g].state == GROUP_PHASE) {
        w->groups[g].state = GROUP_RUN;
        w->released |= w->groups[g].mask;
        any = true;
      }
  }
  b->releases++;
  return any;
}

void mbarrier_stuck(struct block *b, struct warp *w, const struct group *g, char *text,
                    size_t size)
{
  (void)b;
  uint8_t *frame = w->base[SIM_IN_FRAME];
  w->base[SIM_IN_FRAME] = g->frame->regs;
  unsigned lane = first_lane(g->mask);
  uint64_t at = address_of(w, g->at, lane);
  w->base[SIM_IN_FRAME] = frame;
  if (at - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) at -= SIM_SHARED_WINDOW;
  const struct mbarrier *m = lookup(b, (uint32_t)at - SIM_SHARED_BASE);
  if (!m) {
    snprintf(text, size, "waits for an mbarrier that is gone");
    return;
  }
  char arrivals[96] = "all arrivals have come", bytes[128] = "";
  if (m->pending)
    snprintf(arrivals, sizeof arrivals, "%u of %u arrivals are missing", m->pending, m->expected);
  if (m->tx > 0)
    snprintf(bytes, sizeof bytes,
             ", and of the %lld bytes it still waits for, copies under way bring %lld",
             (long long)m->tx, (long long)m->coming);
  else if (m->tx < 0)
    snprintf(bytes, sizeof bytes, ", and copies have brought %lld bytes more than it was to expect",
             -(long long)m->tx);
  snprintf(text, size,
           "waits for a phase of the mbarrier at byte %u of shared memory that never completes: "
           "%s%s.%s%s",
           m->at, arrivals, bytes,
           m->pending ? " Do all threads it was initialised for arrive?" : "",
           m->tx ? " Is expect_tx what the copies bring?" : "");
}

/* ---- lowering ------------------------------------------------------------------------------------- */

static void lower_bar(struct lowering *l, unsigned operand, sim_handler *run)
{
  lower_address(l, &l->in->operands[operand]);
  l->out->space = l->in->space;
  l->out->run = run;
}
static void lower_init(struct lowering *l)
{
  lower_bar(l, 0, mbarrier_init);
  l->out->b = lower_source(l, &l->in->operands[1], 32);
}
static void lower_inval(struct lowering *l) { lower_bar(l, 0, mbarrier_inval); }
static void lower_arrive(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  lower_bar(l, 1, mbarrier_arrive);
  s->d = lower_dest(l, &in->operands[0], 64);
  s->small[1] = (uint8_t)((ptx_has(in, PTX_M_EXPECT_TX) ? ARRIVE_EXPECT : 0) |
                          (in->op == PTX_MBARRIER_ARRIVE_DROP ? ARRIVE_DROP : 0) |
                          (ptx_has(in, PTX_M_NOCOMPLETE) ? ARRIVE_NO_COMPLETE : 0));
  s->small[2] = in->noperands > 2;
  if (s->small[2]) s->b = lower_source(l, &in->operands[2], 32);
}
static void lower_tx(struct lowering *l)
{
  lower_bar(l, 0, mbarrier_tx);
  l->out->small[1] = l->in->op == PTX_MBARRIER_COMPLETE_TX;
  l->out->b = lower_source(l, &l->in->operands[1], 32);
}
static void lower_wait(struct lowering *l)
{
  struct sim_inst *s = l->out;
  lower_bar(l, 1, mbarrier_wait);
  s->d = lower_dest(l, &l->in->operands[0], 1);
  s->small[1] = ptx_has(l->in, PTX_M_PARITY);
  s->b = lower_source(l, &l->in->operands[2], s->small[1] ? 32 : 64);
}
static void lower_pending(struct lowering *l)
{
  l->out->d = lower_dest(l, &l->in->operands[0], 32);
  l->out->a = lower_source(l, &l->in->operands[1], 64);
  l->out->run = mbarrier_pending_count;
}
static void lower_async_arrive(struct lowering *l)
{
  lower_bar(l, 0, async_arrive);
  l->out->small[1] = ptx_has(l->in, PTX_M_NOINC);
}

const struct sim_form sim_forms_mbarrier[] = {
    FORM_ANY(MBARRIER_INIT, lower_init),
    FORM_ANY(MBARRIER_INVAL, lower_inval),
    FORM_ANY(MBARRIER_ARRIVE, lower_arrive),
    FORM_ANY(MBARRIER_ARRIVE_DROP, lower_arrive),
    FORM_ANY(MBARRIER_EXPECT_TX, lower_tx),
    FORM_ANY(MBARRIER_COMPLETE_TX, lower_tx),
    FORM_ANY(MBARRIER_TEST_WAIT, lower_wait),
    FORM_ANY(MBARRIER_TRY_WAIT, lower_wait),
    FORM_ANY(MBARRIER_PENDING_COUNT, lower_pending),
    FORM_ANY(CP_ASYNC_MBARRIER_ARRIVE, lower_async_arrive),
    {.op = PTX_OPS},
};
