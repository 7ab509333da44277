/* What happened to each word of shared memory: first writes, and races.
 *
 * Time is a tick that grows at every synchronisation.  An access is remembered with its tick and
 * thread (for reads: the set of lanes, or of warps).  Two accesses of different threads, one of
 * them a write, are a race unless something orders them:
 *
 *   a barrier of the whole block between them       tick before s->epoch
 *   a *.sync of both lanes, in one warp             tick before w->sync_tick, or lane_seen
 *   a barrier of a subset, or an mbarrier           s->seen
 *   a fence, a flag that was set and seen, a fence  order.c
 *
 * Accesses of one instruction are one tick but are not ordered: two lanes that store different
 * values to one word race.  Lanes of a warp are not ordered by running in step either: a
 * reduction without __syncwarp is a race.  `volatile` orders nothing.
 *
 * What nothing orders and is no race all the same, in accesses of one width (shadow_excused):
 *   relaxed, acquire and release accesses and atomics, with each other;
 *   a read whose value alone decides whether its loop goes round again (SIM_MEM_POLL), and what it
 *     waits for;
 *   a volatile read, or one whose value a compare-and-swap checks, with an atomic: the usual way
 *     into a loop of atomicCAS.  A plain read of what others add to is a race: a missing barrier;
 *   volatile writes and atomics of a flag, that is of a place somebody polls.
 * PTX goes further and calls no two volatile accesses of one word a data race; but nobody knows which
 * comes first, and without a loop that waits, that is a bug.
 *
 * Where a kernel has accesses narrower than a word, a granule is a byte (or a half), so that
 * neighbours in one word do not disturb each other.  Ticks only grow, over blocks as well: "before
 * block_start" is never, and nothing needs clearing. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "shadow.h"

bool shadow_open(struct shadow *s, uint32_t bytes, unsigned shift)
{
  uint32_t n = (bytes >> shift) + 64;
  memset(s, 0, sizeof *s);
  s->shift = shift;
  s->granules = n;
  uint32_t *all = s->wtick = calloc((size_t)n * 5, sizeof *all);
  if (!all || !words_open(s)) return false;
  s->writer = all + n;
  s->rtick = all + 2 * (size_t)n;
  s->rset = all + 3 * (size_t)n;
  s->rwarp = all + 4 * (size_t)n;
  s->tick = 1;
  return true;
}

void shadow_close(struct shadow *s)
{
  order_close(s);
  reads_close(s);
  free(s->polled);
  free(s->noted);
  free(s->wtick);
  memset(s, 0, sizeof *s);
}

static void mark(struct block *b, uint32_t at, uint32_t bytes, uint32_t tick, uint32_t writer)
{
  struct shadow *s = &b->shadow;
  uint32_t x = at >> s->shift, last = (at + bytes - 1) >> s->shift;
  for (; x + 3 <= last; x += 4) write_four(s, x, tick, all_four(writer));
  for (; x <= last; x++) {
    s->wtick[x] = tick;
    s->writer[x] = writer;
  }
}

void shadow_block(struct block *b)
{
  struct shadow *s = &b->shadow;
  if (s->tick > UINT32_MAX / 2) {
    memset(s->wtick, 0, (size_t)s->granules * 5 * sizeof *s->wtick);
    if (s->polled) memset(s->polled, 0, (size_t)s->granules * sizeof *s->polled);
    reads_close(s);
    s->tick = 1;
  }
  s->block_start = s->epoch = s->proxy = ++s->tick;
  s->nnoted = 0;
  /* The system has written its own before any thread ran. */
  if (b->reserved_at) mark(b, b->reserved_at, SIM_SHARED_BASE, s->tick, 0);
  if (b->reserved_at || b->cluster->n > 1) s->epoch = ++s->tick;
  s->cluster_start = s->epoch;
  order_reset(s);
  s->partial = false;
  memset(s->seen, 0, sizeof s->seen);
  memset(s->fence, 0, sizeof s->fence);
}

void shadow_meet(struct shadow *s)
{
  s->epoch = ++s->tick;
  s->nnoted = 0;
  order_reset(s);
}

void shadow_barrier(struct block *b, struct barrier *bar, bool all)
{
  struct shadow *s = &b->shadow;
  uint32_t tick = ++s->tick;
  if (all) {
    bool arrivals = false;
    for (uint32_t k = 0; k < b->nwarps; k++) arrivals |= (bar->warps >> k & 1) && bar->arrive_tick[k];
    if (!arrivals) {
      shadow_meet(s);
      return;
    }
  }
  s->partial = true;
  uint32_t joined[SHADOW_WRITERS] = {0};
  for (uint32_t p = 0; p < b->nwarps; p++) {
    if (!(bar->warps >> p & 1)) continue;
    for (uint32_t v = 0; v < SHADOW_WRITERS; v++)
      if (s->seen[p][v] > joined[v]) joined[v] = s->seen[p][v];
    uint32_t mine = bar->arrive_tick[p] ? bar->arrive_tick[p] : tick;
    if (mine > joined[p]) joined[p] = mine;
  }
  for (uint32_t p = 0; p < b->nwarps; p++)
    if ((bar->warps >> p & 1) && !bar->arrive_tick[p])
      memcpy(s->seen[p], joined, sizeof joined);
  order_barrier(b, bar);
}

bool shadow_ordered(const struct warp *w, unsigned lane, uint32_t tick, uint32_t thread)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t me = w->id * SIM_LANES + lane;
  if (thread == me || tick < s->epoch) return true;
  if (s->order && order_knows(s, me, thread, tick)) return true;
  if (thread / SIM_LANES != w->id) return s->seen[w->id][thread / SIM_LANES] > tick;
  if (tick < w->sync_tick) return true;
  return w->lane_seen && w->lane_seen[lane * SIM_LANES + thread % SIM_LANES] > tick;
}

static bool updates(const struct sim_inst *i)
{
  return i->ptx->op == PTX_ATOM || i->ptx->op == PTX_RED;
}

bool shadow_excused(const struct shadow *s, uint32_t x, const struct sim_inst *i,
                    const struct sim_inst *by)
{
  enum { STRONG = SIM_MEM_VOLATILE | SIM_MEM_ORDERED };
  if (!by || by->width != i->width || i->width > 8) return false;
  bool now = updates(i), before = updates(by);
  if (i->ptx->op == PTX_LD || by->ptx->op == PTX_LD) {
    const struct sim_inst *read = i->ptx->op == PTX_LD ? i : by, *write = read == i ? by : i;
    if (read->flags & SIM_MEM_POLL) return true;
    return (read->flags & (SIM_MEM_VOLATILE | SIM_MEM_CHECKED)) &&
           (updates(write) || (write->flags & SIM_MEM_ORDERED));
  }
  if (!(now || i->flags & STRONG) || !(before || by->flags & STRONG)) return false;
  if (s->polled && s->polled[x] >= s->block_start) return true;
  return (now && i->flags & SIM_MEM_POLL) || (before && by->flags & SIM_MEM_POLL);
}

static struct earlier last_writer(const struct warp *w, uint32_t x)
{
  uint32_t word = w->block->shadow.writer[x];
  return (struct earlier){word & SHADOW_THREAD, site_inst(w, word)};
}

void shadow_examine(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x,
                    enum access_kind kind, bool atomic)
{
  struct shadow *s = &w->block->shadow;
  uint32_t byte = x << s->shift, wtick = s->wtick[x], writer = s->writer[x];
  if (wtick == SHADOW_PENDING) {
    tell_pending(w, i, lane, kind, last_writer(w, x), byte);
    return;
  }
  if (wtick < s->block_start) {
    if (kind != ACCESS_STORE) tell_never_written(w, i, lane, byte, w->block);
  } else {
    bool both = atomic && (writer & SHADOW_ATOMIC);
    if (!both && !shadow_ordered(w, lane, wtick, writer & SHADOW_THREAD) &&
        !shadow_excused(s, x, i, site_inst(w, writer))) {
      tell_race(w, i, lane, kind, last_writer(w, x), true, byte);
      return;
    }
  }
  struct earlier other;
  if (kind != ACCESS_LOAD && s->rtick[x] >= s->epoch && reads_unordered(w, i, lane, x, &other))
    tell_race(w, i, lane, kind, other, false, byte);
}

/* ---- reads ------------------------------------------------------------------------------------ */

/* Earlier readers that come before all of `set`'s lanes need not be kept: whoever comes after these
 * lanes comes after them.  Only fences and meetings of a part order threads inside an interval. */
static void forget_ordered(struct warp *w, uint32_t x, uint32_t set)
{
  struct shadow *s = &w->block->shadow;
  uint32_t v = s->rwarp[x], keep = 0;
  if (s->rtick[x] < s->epoch || v == SHADOW_MANY) return;
  for (uint32_t m = s->rset[x]; m; m &= m - 1) {
    bool before = true;
    for (uint32_t n = set; n && before; n &= n - 1)
      before = shadow_ordered(w, first_lane(n), s->rtick[x], v * SIM_LANES + first_lane(m));
    if (!before) keep |= 1u << first_lane(m);
  }
  s->rset[x] = keep;
  if (!keep) s->rtick[x] = 0;
}

void shadow_note(struct warp *w, const struct sim_inst *i, uint32_t x, uint32_t set)
{
  struct shadow *s = &w->block->shadow;
  if (s->exact) {
    reads_note(w, i, x, set);
    return;
  }
  if (s->partial) forget_ordered(w, x, set);
  note_set(s, (struct reader){w->id, s->tick, w->sync_tick}, x, set);
}

/* Somebody waits for granule x to change. */
static void note_polled(struct warp *w, uint32_t x)
{
  struct shadow *s = &w->block->shadow;
  if (!s->polled) s->polled = calloc(s->granules, sizeof *s->polled);
  if (!s->polled) abort();
  s->polled[x] = w->polled = s->tick;
}

static void read_lanes(struct warp *w, const struct sim_inst *i, const struct pattern *p,
                       uint32_t offset, uint32_t each, bool ordered_op)
{
  struct shadow *s = &w->block->shadow;
  uint32_t start = s->block_start, span = s->epoch - start;
  const struct reader me = {w->id, s->tick, w->sync_tick};
  uint32_t hot = 0;
  /* Ordered reads are no plain reads: writes ordered like them do not race with them. */
  bool note = !ordered_op && !(i->flags & (SIM_MEM_POLL | SIM_MEM_CHECKED));
  bool fours = each % 4 == 0 && note && !s->partial && !s->exact;
  for (uint32_t m = p->mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)p->rel[l]) >> s->shift;
    if (i->flags & SIM_MEM_POLL) note_polled(w, x);
    for (uint32_t k = 0; fours && k < each; k += 4, x += 4) {
      hot |= (uint32_t)unsafe_to_read(s, x) << l;
      note_four(s, me, x, all_four(1u << l));
    }
    for (uint32_t k = 0; !fours && k < each; k++, x++) {
      hot |= (uint32_t)(s->wtick[x] - start >= span) << l;
      if (note) shadow_note(w, i, x, 1u << l);
    }
  }
  for (; hot; hot &= hot - 1) {
    unsigned l = first_lane(hot);
    uint32_t x = (offset + (uint32_t)p->rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++) shadow_examine(w, i, l, x + k, ACCESS_LOAD, ordered_op);
  }
  if (!s->fenced || !(i->flags & (SIM_MEM_ORDERED | SIM_MEM_VOLATILE))) return;
  for (uint32_t m = p->mask; m; m &= m - 1)
    order_hear(w, i, first_lane(m), (offset + (uint32_t)p->rel[first_lane(m)]) >> s->shift);
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

/* What a store says of the thread's fence, if it has made one since the last barrier. */
static uint32_t published(const struct shadow *s, uint32_t thread)
{
  return s->fenced && s->fence[thread] >= s->epoch ? SHADOW_FENCED : 0;
}

/* Whether there is nothing to say of an atomic: each granule was last written before this interval,
 * or in it by an atomic, and nobody has read it in this interval. */
static bool quiet_atomic(const struct shadow *s, const struct pattern *p, uint32_t offset,
                         uint32_t each)
{
  const uint32_t start = s->block_start, epoch = s->epoch, span = epoch - start, mask = p->mask;
  uint32_t loud = 0;
  for (uint32_t k = 0; k < each; k++)
    for (uint32_t l = 0; l < SIM_LANES; l++) {
      uint32_t on = -(mask >> l & 1), x = ((offset + ((uint32_t)p->rel[l] & on)) >> s->shift) + k;
      uint32_t wtick = s->wtick[x], atomic = s->writer[x] & SHADOW_ATOMIC;
      loud |= (wtick - start >= span) & (wtick < epoch || !atomic);
      loud |= s->rtick[x] >= epoch;
    }
  return !loud;
}

static void write_lanes(struct warp *w, const struct sim_inst *i, const struct pattern *p,
                        uint32_t offset, uint32_t each, enum access_kind kind, bool atomic)
{
  const int32_t *rel = p->rel;
  const uint32_t mask = p->mask;
  struct shadow *s = &w->block->shadow;
  uint32_t tick = s->tick, epoch = s->epoch, start = s->block_start;
  uint32_t base = w->id * SIM_LANES + site_word(i);
  uint32_t hot = 0;
  if (i->flags & SIM_MEM_POLL) w->polled = tick;
  const bool fenced = s->fenced, fours = kind == ACCESS_STORE && each % 4 == 0;
  bool quiet = kind == ACCESS_ATOMIC && quiet_atomic(s, p, offset, each);
  for (uint32_t m = quiet ? 0 : mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    for (uint32_t k = 0; fours && k < each; k += 4, x += 4)
      hot |= (uint32_t)unsafe_to_write(s, x) << l;
    for (uint32_t k = 0; !fours && k < each; k++, x++)
      hot |= (uint32_t)((s->wtick[x] >= epoch) | (s->rtick[x] >= epoch) |
                        ((kind == ACCESS_ATOMIC) & (s->wtick[x] < start))) << l;
  }
  for (uint32_t m = hot; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++) shadow_examine(w, i, l, x + k, kind, atomic);
  }
  /* Meetings inside the instruction: the lanes' own marks show them, as no lane has stored before
   * with this tick unless it is in this instruction: hence a tick of its own. */
  if (kind == ACCESS_STORE && !atomic) {
    tick = ++s->tick;
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = first_lane(m);
      uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift, k = 0;
      uint32_t word = base + l + published(s, w->id * SIM_LANES + l);
      for (; fours && k < each; k += 4) {
        if (any((four)(*at_four(s->wtick, x + k) == all_four(tick)))) break;
        write_four(s, x + k, tick, all_four(word));
      }
      for (; k < each; k++) {
        uint32_t other = s->writer[x + k] % SIM_LANES;
        if (s->wtick[x + k] == tick && other != l &&
            stored(w, i, other, k) != stored(w, i, l, k))
          tell_same_instruction(w, i, l, s->writer[x + k] & SHADOW_THREAD, (x + k) << s->shift);
        s->wtick[x + k] = tick;
        s->writer[x + k] = word;
      }
    }
    return;
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    uint32_t word = (base + l) | SHADOW_ATOMIC;
    if (fenced && kind == ACCESS_ATOMIC) order_update(w, i, l, x);
    else if (fenced) word |= published(s, w->id * SIM_LANES + l);
    for (uint32_t k = 0; k < each; k++) {
      s->wtick[x + k] = tick;
      s->writer[x + k] = word;
    }
  }
}

void shadow_access(struct warp *w, const struct sim_inst *i, struct pattern *p, uint32_t offset,
                   enum access_kind kind)
{
  struct shadow *s = &w->block->shadow;
  bool atomic = kind == ACCESS_ATOMIC || (i->flags & SIM_MEM_ORDERED);
  bool plain = !atomic && !(i->flags & (SIM_MEM_POLL | SIM_MEM_CHECKED)) && !s->fenced;
  if (plain && p->again && words_access(w, i, p, offset, kind)) return;
  shadow_settle(w->block);
  if (kind == ACCESS_LOAD && !atomic)
    reads_recall(s, i, p, (struct reader){w->id, s->tick, w->sync_tick}, offset);
  if (i->flags & SIM_MEM_RELEASE) shadow_fence(w, p->mask);
  uint32_t each = i->width >> s->shift;
  if (kind == ACCESS_LOAD) read_lanes(w, i, p, offset, each, atomic);
  else write_lanes(w, i, p, offset, each, kind, atomic);
}

void shadow_pending(struct block *b, uint32_t at, uint32_t bytes, uint32_t thread,
                    const struct sim_inst *i)
{
  mark(b, at, bytes, SHADOW_PENDING, thread | site_word(i));
}

void shadow_landed(struct block *b, uint32_t at, uint32_t bytes, uint32_t thread)
{
  uint32_t before = b->shadow.writer[at >> b->shadow.shift];   /* as marked when pending */
  mark(b, at, bytes, b->shadow.tick, thread | (before >> SHADOW_SITE << SHADOW_SITE));
}

/* Bulk copies read shared memory through a proxy of their own.  Any thread's fence will do, as long as
 * it comes after the write: the barrier that must stand there, too, is looked for elsewhere. */
void shadow_proxy(struct block *b) { b->shadow.proxy = ++b->shadow.tick; }

void shadow_copied(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t at,
                   uint32_t bytes)
{
  const struct shadow *s = &w->block->shadow;
  for (uint32_t x = at >> s->shift; x << s->shift < at + bytes; x++) {
    struct earlier by = last_writer(w, x);
    if (s->wtick[x] == SHADOW_PENDING || s->wtick[x] < s->proxy ||
        by.thread / SIM_LANES == SHADOW_ENGINE)
      continue;
    tell_unfenced(w, i, lane, by, x << s->shift);
    return;
  }
}

bool shadow_follows(const struct warp *w, unsigned lane, uint32_t at, uint32_t *thread)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t x = at >> s->shift;
  *thread = s->writer[x] & SHADOW_THREAD;
  if (s->wtick[x] == SHADOW_PENDING || s->wtick[x] < s->block_start) return true;
  return shadow_ordered(w, lane, s->wtick[x], *thread);
}

void shadow_forget(struct block *b, uint32_t at, uint32_t bytes) { mark(b, at, bytes, 0, 0); }
