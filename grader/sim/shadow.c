/* What happened to each word of shared memory: first writes, and races.
 *
 * Time is a tick that grows at every synchronisation.  An access is remembered with its tick and
 * thread (for reads: the set of lanes, or of warps).  Two accesses of different threads, one of
 * them a write, are a race unless something orders them:
 *
 *   a barrier of the whole block between them       tick before s->epoch
 *   a *.sync of both lanes, in one warp             tick before w->sync_tick, or lane_seen
 *   a barrier of a subset, in two warps             s->seen
 *   a fence in both threads after the first         s->fence (so lock-protected data is no race)
 *
 * Accesses of one instruction are one tick but are not ordered: two lanes that store different
 * values to one word race.  Lanes of a warp are not ordered by running in step either: a
 * reduction without __syncwarp is a race.  `volatile` orders nothing; relaxed, acquire and release
 * accesses and atomics do not race with each other.
 *
 * Where a kernel has accesses narrower than a word, a granule is a byte (or a half), so that
 * neighbours in one word do not disturb each other.  Ticks only grow, over blocks as well: "before
 * block_start" is never, and nothing needs clearing. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"

bool shadow_open(struct shadow *s, uint32_t bytes, unsigned shift)
{
  uint32_t n = (bytes >> shift) + 64;
  memset(s, 0, sizeof *s);
  s->shift = shift;
  s->granules = n;
  uint32_t *all = calloc((size_t)n * 5, sizeof *all);
  if (!all) return false;
  s->wtick = all;
  s->wthread = all + n;
  s->rtick = all + 2 * (size_t)n;
  s->rset = all + 3 * (size_t)n;
  s->rwarp = all + 4 * (size_t)n;
  s->tick = 1;
  return true;
}

void shadow_close(struct shadow *s)
{
  free(s->wtick);
  memset(s, 0, sizeof *s);
}

void shadow_block(struct shadow *s)
{
  if (s->tick > UINT32_MAX / 2) {
    memset(s->wtick, 0, (size_t)s->granules * 5 * sizeof *s->wtick);
    s->tick = 1;
  }
  s->block_start = s->epoch = ++s->tick;
  s->partial = false;
  memset(s->seen, 0, sizeof s->seen);
  memset(s->fence, 0, sizeof s->fence);
}

void shadow_barrier(struct block *b, struct barrier *bar, bool all)
{
  struct shadow *s = &b->shadow;
  uint32_t tick = ++s->tick;
  if (all) {
    bool arrivals = false;
    for (uint32_t k = 0; k < b->nwarps; k++) arrivals |= (bar->warps >> k & 1) && bar->arrive_tick[k];
    if (!arrivals) {
      s->epoch = tick;
      return;
    }
  }
  s->partial = true;
  uint32_t joined[SIM_MAX_WARPS] = {0};
  for (uint32_t p = 0; p < b->nwarps; p++) {
    if (!(bar->warps >> p & 1)) continue;
    for (uint32_t v = 0; v < b->nwarps; v++)
      if (s->seen[p][v] > joined[v]) joined[v] = s->seen[p][v];
    uint32_t mine = bar->arrive_tick[p] ? bar->arrive_tick[p] : tick;
    if (mine > joined[p]) joined[p] = mine;
  }
  for (uint32_t p = 0; p < b->nwarps; p++)
    if ((bar->warps >> p & 1) && !bar->arrive_tick[p])
      memcpy(s->seen[p], joined, sizeof joined);
}

void shadow_fence(struct warp *w, uint32_t lanes)
{
  struct shadow *s = &w->block->shadow;
  uint32_t tick = ++s->tick;
  for (uint32_t m = lanes; m; m &= m - 1) s->fence[w->id * SIM_LANES + first_lane(m)] = tick;
}

/* Whether an access of `thread` at `tick` comes before one of w's `lane` now. */
static bool ordered(const struct warp *w, unsigned lane, uint32_t tick, uint32_t thread)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t me = w->id * SIM_LANES + lane;
  if (thread == me || tick < s->epoch) return true;
  if (s->fence[thread] > tick && s->fence[me] > tick) return true;
  if (thread / SIM_LANES != w->id) return s->seen[w->id][thread / SIM_LANES] > tick;
  if (tick < w->sync_tick) return true;
  return w->lane_seen && w->lane_seen[lane * SIM_LANES + thread % SIM_LANES] > tick;
}

static void report_race(struct warp *w, const struct sim_inst *i, unsigned lane,
                        enum access_kind kind, uint32_t other, bool other_writes,
                        uint32_t byte)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_RACE, false, "race");
  if (!f) return;
  uint32_t *t = f->thread, *o = f->other_thread;
  fault_thread(w->block, other, o);
  snprintf(f->object, sizeof f->object, "shared memory");
  f->address = byte;
  f->width = i->width;
  bool same_warp = other / SIM_LANES == w->id;
  snprintf(f->text, sizeof f->text,
           "thread (%u,%u,%u) %s byte %u of shared memory, which thread (%u,%u,%u) %s, and nothing "
           "orders the two: put %s between them",
           t[0], t[1], t[2],
           kind == ACCESS_LOAD ? "reads" : kind == ACCESS_STORE ? "writes" : "updates", byte, o[0],
           o[1], o[2], other_writes ? "wrote" : "read",
           same_warp ? "__syncwarp() or __syncthreads()" : "__syncthreads()");
}

/* A reader of granule x that is not ordered before w's lane; UINT32_MAX when there is none. */
static uint32_t unordered_reader(const struct warp *w, unsigned lane, uint32_t x)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t tick = s->rtick[x], set = s->rset[x];
  if (tick < s->epoch) return UINT32_MAX;
  if (s->rwarp[x] != SHADOW_MANY) {
    for (uint32_t m = set; m; m &= m - 1) {
      uint32_t thread = s->rwarp[x] * SIM_LANES + first_lane(m);
      if (!ordered(w, lane, tick, thread)) return thread;
    }
    return UINT32_MAX;
  }
  for (uint32_t m = set; m; m &= m - 1) {
    uint32_t warp = first_lane(m);
    if (warp == w->id) continue;
    /* Which lane of that warp is not kept; its first one stands for it. */
    if (!ordered(w, lane, tick, warp * SIM_LANES)) return warp * SIM_LANES;
  }
  return UINT32_MAX;
}

/* One granule, looked at closely: the quick pass found something. */
static void examine(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x,
                    enum access_kind kind, bool atomic)
{
  struct shadow *s = &w->block->shadow;
  uint32_t byte = x << s->shift, wtick = s->wtick[x], writer = s->wthread[x];
  if (wtick < s->block_start) {
    if (kind != ACCESS_STORE) {
      struct sim_fault *f =
          fault_note(w, i, lane, SIM_FAULT_UNINITIALISED, false,
                     "reads byte %u of shared memory, which no thread has written yet: initialise it "
                     "and put __syncthreads() before the read", byte);
      if (f) {
        snprintf(f->object, sizeof f->object, "shared memory");
        f->address = byte;
        f->width = i->width;
      }
    }
  } else {
    uint32_t thread = writer & 0xffff;
    bool both = atomic && (writer & SHADOW_ATOMIC);
    if (!both && !ordered(w, lane, wtick, thread)) {
      report_race(w, i, lane, kind, thread, true, byte);
      return;
    }
  }
  if (kind != ACCESS_LOAD) {
    uint32_t reader = unordered_reader(w, lane, x);
    if (reader != UINT32_MAX) report_race(w, i, lane, kind, reader, false, byte);
  }
}

/* Lanes of one store that hit one granule with different values. */
static void same_instruction(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_RACE, false, "race");
  if (!f) return;
  struct shadow *s = &w->block->shadow;
  uint32_t *t = f->thread, *o = f->other_thread;
  fault_thread(w->block, s->wthread[x] & 0xffff, o);
  snprintf(f->object, sizeof f->object, "shared memory");
  f->address = x << s->shift;
  f->width = i->width;
  f->other_line = f->line;
  snprintf(f->text, sizeof f->text,
           "threads (%u,%u,%u) and (%u,%u,%u) store different values to byte %u of shared memory in "
           "one instruction: which one wins is undefined",
           o[0], o[1], o[2], t[0], t[1], t[2], x << s->shift);
}

/* ---- reads ------------------------------------------------------------------------------------ */

static void read_lanes(struct warp *w, const struct sim_inst *i, uint32_t mask, uint32_t offset,
                       const int32_t *rel, uint32_t each, bool ordered_op)
{
  struct shadow *s = &w->block->shadow;
  uint32_t start = s->block_start, span = s->epoch - start;
  uint32_t tick = s->tick, epoch = s->epoch, sync = w->sync_tick, me = w->id, warp = 1u << me;
  uint32_t hot = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++, x++) {
      hot |= (uint32_t)(s->wtick[x] - start >= span) << l;
      if (ordered_op) continue;   /* reads of one kind with atomics: recorded as no plain read */
      uint32_t rtick = s->rtick[x], rwarp = s->rwarp[x], rset = s->rset[x];
      bool fresh = rtick < epoch, mine = rwarp == me;
      if (fresh | mine) {
        s->rset[x] = (fresh | (rtick < sync)) ? 1u << l : rset | 1u << l;
        s->rwarp[x] = me;
      } else {
        s->rset[x] = (rwarp == SHADOW_MANY ? rset : 1u << rwarp) | warp;
        s->rwarp[x] = SHADOW_MANY;
      }
      s->rtick[x] = tick;
    }
  }
  for (; hot; hot &= hot - 1) {
    unsigned l = first_lane(hot);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++) examine(w, i, l, x + k, ACCESS_LOAD, ordered_op);
  }
}

/* All lanes, lane l on granule x + l. */
static bool read_unit(struct warp *w, uint32_t x)
{
  struct shadow *s = &w->block->shadow;
  uint32_t start = s->block_start, span = s->epoch - start;
  uint32_t tick = s->tick, epoch = s->epoch, sync = w->sync_tick, me = w->id, warp = 1u << me;
  const uint32_t *wtick = s->wtick + x;
  uint32_t *rtick = s->rtick + x, *rset = s->rset + x, *rwarp = s->rwarp + x;
  uint32_t hot = 0;
  for (int l = 0; l < SIM_LANES; l++) hot |= wtick[l] - start >= span ? 1 : 0;
  if (hot) return false;
  LANE_LOOP {
    uint32_t rt = rtick[l], rw = rwarp[l], rs = rset[l], bit = 1u << l;
    uint32_t fresh = rt < epoch ? ~0u : 0, mine = rw == me ? ~0u : 0;
    uint32_t stale = fresh | (mine & (rt < sync ? ~0u : 0));
    uint32_t own = bit | (rs & ~stale);
    uint32_t many = (rw == SHADOW_MANY ? rs : 1u << (rw & 31)) | warp;
    uint32_t take = fresh | mine;
    rset[l] = (own & take) | (many & ~take);
    rwarp[l] = (me & take) | (SHADOW_MANY & ~take);
    rtick[l] = tick;
  }
  return true;
}

/* All lanes on one granule. */
static bool read_uniform(struct warp *w, uint32_t x)
{
  struct shadow *s = &w->block->shadow;
  if (s->wtick[x] - s->block_start >= s->epoch - s->block_start) return false;
  uint32_t rtick = s->rtick[x], rwarp = s->rwarp[x], me = w->id;
  if (rtick < s->epoch || rwarp == me) {
    s->rset[x] = SIM_FULL;
    s->rwarp[x] = me;
  } else {
    s->rset[x] = (rwarp == SHADOW_MANY ? s->rset[x] : 1u << rwarp) | 1u << me;
    s->rwarp[x] = SHADOW_MANY;
  }
  s->rtick[x] = s->tick;
  return true;
}

/* ---- writes ----------------------------------------------------------------------------------- */

/* The value lane l stores at granule k of its access, to compare lanes of one instruction. */
static uint64_t stored(struct warp *w, const struct sim_inst *i, unsigned l, uint32_t k)
{
  uint8_t bytes[32] = {0};
  uint32_t each = i->width / i->elements;
  for (uint32_t e = 0; e < i->elements && e < 8; e++) {
    uint32_t row = i->small[0] ? i->small[0] : each <= 4 ? 4 : each;
    memcpy(bytes + e * each, SIM_ROW(u8_row, i->more[e]) + l * row, each);
  }
  uint64_t v = 0;
  uint32_t shift = w->block->shadow.shift;
  memcpy(&v, bytes + (k << shift), (size_t)1 << shift);
  return v;
}

static void write_lanes(struct warp *w, const struct sim_inst *i, uint32_t mask, uint32_t offset,
                        const int32_t *rel, uint32_t each, enum access_kind kind, bool atomic)
{
  struct shadow *s = &w->block->shadow;
  uint32_t tick = s->tick, epoch = s->epoch, start = s->block_start;
  uint32_t base = w->id * SIM_LANES;
  uint32_t hot = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++, x++)
      hot |= (uint32_t)((s->wtick[x] >= epoch) | (s->rtick[x] >= epoch) |
                        ((kind == ACCESS_ATOMIC) & (s->wtick[x] < start))) << l;
  }
  for (uint32_t m = hot; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++) examine(w, i, l, x + k, kind, atomic);
  }
  /* Meetings inside the instruction: the lanes' own marks show them, as no lane has stored before
   * with this tick unless it is in this instruction: hence a tick of its own. */
  if (kind == ACCESS_STORE && !atomic) {
    tick = ++s->tick;
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = first_lane(m);
      uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
      for (uint32_t k = 0; k < each; k++) {
        uint32_t other = s->wthread[x + k] & 31;
        if (s->wtick[x + k] == tick && other != l &&
            stored(w, i, other, k) != stored(w, i, l, k))
          same_instruction(w, i, l, x + k);
        s->wtick[x + k] = tick;
        s->wthread[x + k] = base + l;
      }
    }
    return;
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++) {
      s->wtick[x + k] = tick;
      s->wthread[x + k] = (base + l) | SHADOW_ATOMIC;
    }
  }
}

static bool write_unit(struct warp *w, uint32_t x)
{
  struct shadow *s = &w->block->shadow;
  uint32_t *wtick = s->wtick + x, *wthread = s->wthread + x, *rtick = s->rtick + x;
  uint32_t epoch = s->epoch, hot = 0;
  for (int l = 0; l < SIM_LANES; l++) hot |= (wtick[l] >= epoch) | (rtick[l] >= epoch);
  if (hot) return false;
  uint32_t tick = s->tick, base = w->id * SIM_LANES;
  LANE_LOOP {
    wtick[l] = tick;
    wthread[l] = base + (uint32_t)l;
  }
  return true;
}

void shadow_access(struct warp *w, const struct sim_inst *i, uint32_t mask, uint32_t offset,
                   const int32_t *rel, enum sim_class shape, uint32_t width,
                   enum access_kind kind)
{
  struct shadow *s = &w->block->shadow;
  uint32_t each = width >> s->shift;
  bool atomic = kind == ACCESS_ATOMIC || (i->flags & SIM_MEM_ORDERED);
  if (each == 1 && !atomic) {
    uint32_t x = offset >> s->shift;
    if (kind == ACCESS_LOAD) {
      if (shape == CLASS_UNIT && read_unit(w, x)) return;
      if (shape == CLASS_UNIFORM && read_uniform(w, x)) return;
    } else if (shape == CLASS_UNIT && write_unit(w, x)) {
      return;
    }
  }
  if (kind == ACCESS_LOAD) read_lanes(w, i, mask, offset, rel, each, atomic);
  else write_lanes(w, i, mask, offset, rel, each, kind, atomic);
}
