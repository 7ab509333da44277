/* What fences and flags order.
 *
 * A thread that fences and then stores to a flag, or updates it atomically, publishes: its accesses
 * before the fence, and all that came before those.  A thread that reads the flag (volatile, ordered
 * or atomically) hears it, and knows it from its next fence or meeting on; at once when the read
 * acquires.  So a fence alone orders nothing, and a flag without fences orders nothing either.
 *
 * Knowledge is a row of ticks, one a thread: accesses of that thread before the tick come before.
 * Rows exist only where there is something to know, and are dropped at each barrier of the block,
 * which orders everything.  What a plain or volatile store published is worked out when it is heard,
 * from the shadow's mark of it (SHADOW_FENCED); atomic updates form a chain, and each flag of one has
 * a row.  Simplified: meetings of a warp after the fence count as before it, when heard later. */
#include <stdlib.h>
#include <string.h>

#include "shadow.h"

enum {
  THREADS = SIM_MAX_WARPS * SIM_LANES,
  ROW = SHADOW_WRITERS * SIM_LANES,
  FLAGS = 512,                 /* with a row; in a table twice as large */
  SLOTS = 2 * FLAGS,
  ROW_COST = 2 * ROW * sizeof(uint32_t)   /* charged for a row that is made or joined */
};

struct order {
  uint32_t *known[THREADS], *heard[THREADS];
  struct flag { uint32_t granule, version; uint32_t *row; } flags[SLOTS];
  uint32_t nflags;
  uint32_t version;            /* grows with each change of a flag's row */
  /* What a thread heard and handed on last: looking again, as those who wait do, is cheap. */
  struct last { uint32_t flag, version, store, stored, handed, fence; } last[THREADS];
  bool full;                   /* more flags than room: from here on fences alone order */
  uint32_t *spare;
};

/* Spare rows are a list, each linked by its first bytes. */
static uint32_t *new_row(struct order *o)
{
  uint32_t *row = o->spare ? o->spare : malloc(ROW * sizeof *row);
  if (!row) abort();
  if (o->spare) memcpy(&o->spare, row, sizeof o->spare);
  memset(row, 0, ROW * sizeof *row);
  return row;
}

static void drop(struct order *o, uint32_t **row)
{
  if (!*row) return;
  memcpy(*row, &o->spare, sizeof o->spare);
  o->spare = *row;
  *row = NULL;
}

static struct order *opened(struct shadow *s)
{
  if (s->order) return s->order;
  s->order = calloc(1, sizeof *s->order);
  if (!s->order) abort();
  memset(s->order->last, 0xff, sizeof s->order->last);
  return s->order;
}

static void join(struct order *o, uint32_t **into, const uint32_t *row)
{
  if (!row) return;
  if (!*into) *into = new_row(o);
  for (int k = 0; k < ROW; k++) (*into)[k] = row[k] > (*into)[k] ? row[k] : (*into)[k];
}

void order_reset(struct shadow *s)
{
  struct order *o = s->order;
  s->fenced = false;
  if (!o) return;
  for (int k = 0; k < THREADS; k++) {
    drop(o, &o->known[k]);
    drop(o, &o->heard[k]);
  }
  for (int k = 0; k < SLOTS; k++) drop(o, &o->flags[k].row);
  memset(o->last, 0xff, sizeof o->last);
  o->nflags = 0;
  o->full = false;
}

void order_close(struct shadow *s)
{
  if (!s->order) return;
  order_reset(s);
  for (uint32_t *row = s->order->spare, *next; row; row = next) {
    memcpy(&next, row, sizeof next);
    free(row);
  }
  free(s->order);
}

/* ---- publishing and hearing ------------------------------------------------------------------- */

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* What thread t published by a store or update after its fence at `bound`. */
static void gather(struct block *b, uint32_t t, uint32_t bound, uint32_t row[ROW])
{
  const struct shadow *s = &b->shadow;
  const struct warp *w = &b->warps[t / SIM_LANES];
  const uint32_t *known = s->order->known[t];
  for (uint32_t v = 0; v < SHADOW_WRITERS; v++)
    for (uint32_t l = 0; l < SIM_LANES; l++) {
      uint32_t tick = s->seen[w->id][v], k = v * SIM_LANES + l;
      if (v == w->id) {
        tick = w->lane_seen ? w->lane_seen[t % SIM_LANES * SIM_LANES + l] : 0;
        if (w->sync_tick > tick) tick = w->sync_tick;
      }
      if (known && known[k] > tick) tick = known[k];
      row[k] = least(tick, bound);
    }
  row[t] = bound;
}

/* What the last store to granule x published; false: nothing. */
static bool published(struct block *b, uint32_t x, uint32_t row[ROW])
{
  const struct shadow *s = &b->shadow;
  uint32_t t = s->writer[x] & SHADOW_THREAD;
  if (!(s->writer[x] & SHADOW_FENCED) || s->wtick[x] < s->epoch || t >= THREADS) return false;
  /* It may have fenced again since: then the store itself bounds what came before. */
  gather(b, t, least(s->fence[t], s->wtick[x]), row);
  return true;
}

/* Flag x, or where it would be; NULL when there is no room for another. */
static struct flag *find_flag(struct order *o, uint32_t x)
{
  uint32_t k = x * 2654435761u % SLOTS;
  while (o->flags[k].row && o->flags[k].granule != x) k = (k + 1) % SLOTS;
  if (!o->flags[k].row && o->nflags == FLAGS) return NULL;
  o->flags[k].granule = x;
  return &o->flags[k];
}

/* Adds to what an update of flag x hands on. */
static void hand_on(struct order *o, uint32_t x, const uint32_t *row)
{
  struct flag *flag = find_flag(o, x);
  if (!flag) {
    o->full = true;
    return;
  }
  if (!flag->row) o->nflags++;
  join(o, &flag->row, row);
  flag->version = ++o->version;
}

void order_hear(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x)
{
  struct shadow *s = &w->block->shadow;
  struct order *o = opened(s);
  uint32_t me = w->id * SIM_LANES + lane, row[ROW];
  uint32_t **to = &o->heard[me];
  const struct flag *flag = find_flag(o, x);
  struct last *last = &o->last[me];
  if ((last->store != x || last->stored != s->wtick[x]) && published(w->block, x, row)) {
    warp_charge(w, ROW_COST);
    join(o, to, row);
    last->store = x;
    last->stored = s->wtick[x];
  }
  if (flag && flag->row && (last->flag != x || last->version != flag->version)) {
    warp_charge(w, ROW_COST);
    join(o, to, flag->row);
    last->flag = x;
    last->version = flag->version;
  }
  if (i->flags & SIM_MEM_ACQUIRE) join(o, &o->known[me], o->heard[me]);
}

void order_update(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x)
{
  struct shadow *s = &w->block->shadow;
  uint32_t me = w->id * SIM_LANES + lane, row[ROW];
  order_hear(w, i, lane, x);
  struct last *last = &s->order->last[me];
  /* The chain goes on from a store, if that was the last write. */
  if (published(w->block, x, row)) hand_on(s->order, x, row);
  if (s->fence[me] < s->epoch || (last->handed == x && last->fence == s->fence[me])) return;
  warp_charge(w, 2 * ROW_COST);
  gather(w->block, me, s->fence[me], row);
  hand_on(s->order, x, row);
  last->handed = x;
  last->fence = s->fence[me];
}

bool order_knows(const struct shadow *s, uint32_t me, uint32_t thread, uint32_t tick)
{
  const struct order *o = s->order;
  if (o->full && s->fence[thread] > tick && s->fence[me] > tick) return true;
  return me < THREADS && o->known[me] && o->known[me][thread] > tick;
}

/* ---- fences and meetings ---------------------------------------------------------------------- */

void shadow_fence(struct warp *w, uint32_t lanes)
{
  struct shadow *s = &w->block->shadow;
  uint32_t tick = ++s->tick;
  s->partial = s->fenced = true;
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint32_t me = w->id * SIM_LANES + first_lane(m);
    s->fence[me] = tick;
    if (!s->order || !s->order->heard[me]) continue;
    warp_charge(w, ROW_COST);
    join(s->order, &s->order->known[me], s->order->heard[me]);
  }
}

/* What `lanes` of w know or have heard, into *row. */
static void collect(struct order *o, const struct warp *w, uint32_t lanes, uint32_t **row)
{
  for (; lanes; lanes &= lanes - 1) {
    uint32_t t = w->id * SIM_LANES + first_lane(lanes);
    join(o, row, o->known[t]);
    join(o, row, o->heard[t]);
  }
}

static void tell(struct order *o, const struct warp *w, uint32_t lanes, const uint32_t *row)
{
  for (; lanes; lanes &= lanes - 1)
    join(o, &o->known[w->id * SIM_LANES + first_lane(lanes)], row);
}

void order_meet(struct warp *w, uint32_t lanes)
{
  struct order *o = w->block->shadow.order;
  uint32_t *row = NULL;
  if (!o || !w->block->shadow.fenced) return;
  collect(o, w, lanes, &row);
  tell(o, w, lanes, row);
  drop(o, &row);
}

void order_barrier(struct block *b, const struct barrier *bar)
{
  struct order *o = b->shadow.order;
  uint32_t *row = NULL;
  if (!o || !b->shadow.fenced) return;
  for (uint32_t k = 0; k < b->nwarps; k++)
    if (bar->warps >> k & 1) collect(o, &b->warps[k], SIM_FULL, &row);
  for (uint32_t k = 0; k < b->nwarps; k++)
    if ((bar->warps >> k & 1) && !bar->arrive_tick[k]) tell(o, &b->warps[k], SIM_FULL, row);
  drop(o, &row);
}
