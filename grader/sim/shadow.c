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

#ifdef __clang__
#define WORD_LOOP(n) \
  _Pragma("clang loop vectorize(assume_safety)") for (uint32_t k = 0; k < (n); k++)
#else
#define WORD_LOOP(n) _Pragma("GCC ivdep") for (uint32_t k = 0; k < (n); k++)
#endif

bool shadow_open(struct shadow *s, uint32_t bytes, unsigned shift)
{
  uint32_t n = (bytes >> shift) + 64;
  memset(s, 0, sizeof *s);
  s->shift = shift;
  s->granules = n;
  uint32_t *all = calloc((size_t)n * 5, sizeof *all);
  if (!all) return false;
  s->wtick = all;
  s->writer = all + n;
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
}

void shadow_fence(struct warp *w, uint32_t lanes)
{
  struct shadow *s = &w->block->shadow;
  uint32_t tick = ++s->tick;
  s->partial = true;
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

/* The variable a byte lies in, for messages; *byte becomes its offset there. */
static void name_of(const struct warp *w, uint32_t *byte, char name[64])
{
  const struct ptx_symbol *s =
      memory_shared_symbol(w->runner->sim, (uint64_t)*byte + SIM_SHARED_BASE);
  snprintf(name, 64, "shared memory");
  if (!s) return;
  memory_plain_name(s->name, name, 64);
  *byte -= (uint32_t)s->offset - SIM_SHARED_BASE;
}

static const char *does(enum access_kind kind)
{
  return kind == ACCESS_LOAD ? "reads" : kind == ACCESS_STORE ? "writes" : "updates";
}

/* An access that came before: whose, and by which instruction; NULL: not known. */
struct earlier {
  uint32_t thread;
  const struct sim_inst *inst;
};

/* The site of an instruction, as `writer` holds it. */
static inline uint32_t site_word(const struct sim_inst *i)
{
  uint32_t site = i->site + 1;
  return site >> (32 - SHADOW_SITE) ? 0 : site << SHADOW_SITE;
}

static const struct sim_inst *site_inst(const struct warp *w, uint32_t word)
{
  uint32_t site = word >> SHADOW_SITE;
  return site ? w->runner->sim->sites[site - 1] : NULL;
}

static struct earlier last_writer(const struct warp *w, uint32_t x)
{
  uint32_t word = w->block->shadow.writer[x];
  return (struct earlier){word & SHADOW_THREAD, site_inst(w, word)};
}

/* Notes where the other access of a fault stands, and says it: " at line 12". */
static void name_line(struct sim_fault *f, const struct sim_inst *other, char out[32])
{
  *out = 0;
  if (!other || !other->line || other->file != f->file) return;
  f->other_line = other->line;
  if (f->other_line != f->line) snprintf(out, 32, " at line %u", f->other_line);
}

static void report_race(struct warp *w, const struct sim_inst *i, unsigned lane,
                        enum access_kind kind, struct earlier other, bool other_writes,
                        uint32_t byte)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_RACE, false, "race");
  if (!f) return;
  uint32_t *t = f->thread, *o = f->other_thread;
  char line[32];
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  name_line(f, other.inst, line);
  if (other.thread / SIM_LANES == SHADOW_ENGINE) {
    snprintf(f->text, sizeof f->text,
             "thread (%u,%u,%u) %s byte %u of %s, which a bulk copy filled, and this thread has not "
             "waited for it: each thread waits for the phase of the copy's mbarrier "
             "(mbarrier.try_wait) before it touches the data", t[0], t[1], t[2], does(kind), byte,
             f->object);
    return;
  }
  fault_thread(w->block, other.thread, o);
  bool same_warp = other.thread / SIM_LANES == w->id;
  snprintf(f->text, sizeof f->text,
           "thread (%u,%u,%u) %s byte %u of %s, which thread (%u,%u,%u) %s%s, and nothing orders the "
           "two: put %s between them", t[0], t[1], t[2], does(kind), byte, f->object, o[0], o[1],
           o[2], other_writes ? "wrote" : "read", line,
           same_warp ? "__syncwarp() or __syncthreads()" : "__syncthreads()");
}

static void report_pending(struct warp *w, const struct sim_inst *i, unsigned lane,
                           enum access_kind kind, struct earlier copy, uint32_t byte)
{
  bool engine = copy.thread / SIM_LANES == SHADOW_ENGINE;
  bool own = copy.thread == w->id * SIM_LANES + lane || engine;
  struct sim_fault *f =
      fault_note(w, i, lane, own && kind == ACCESS_LOAD ? SIM_FAULT_UNINITIALISED : SIM_FAULT_RACE,
                 false, "pending");
  if (!f) return;
  char line[32];
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  name_line(f, copy.inst, line);
  uint32_t *o = f->other_thread;
  if (!engine) fault_thread(w->block, copy.thread, o);
  if (engine)
    snprintf(f->text, sizeof f->text,
             "%s byte %u of %s, which a bulk copy%s has still to fill: wait for the phase of its "
             "mbarrier first (mbarrier.try_wait)", does(kind), byte, f->object, line);
  else if (own)
    snprintf(f->text, sizeof f->text,
             "%s byte %u of %s, which this thread's own cp.async%s has still to fill: wait for the "
             "copy first (__pipeline_wait_prior, cp.async.wait_group or wait_all)", does(kind), byte,
             f->object, line);
  else
    snprintf(f->text, sizeof f->text,
             "%s byte %u of %s, which a cp.async of thread (%u,%u,%u)%s has still to fill: that "
             "thread must wait for its copy (__pipeline_wait_prior, cp.async.wait_group or "
             "wait_all), and after the wait __syncthreads() must stand before this access",
             does(kind), byte, f->object, o[0], o[1], o[2], line);
}

/* Whether lane l of the last reading, for which the pattern is right, touched granule x. */
static bool touched(const struct shadow *s, const struct pattern *p, const struct reading *r,
                    unsigned l, uint32_t width, uint32_t x)
{
  if (r->at == READ_APART || !(p->mask >> l & 1)) return false;
  uint32_t first = (r->at + (uint32_t)p->rel[l]) >> s->shift;
  return x - first < (width >> s->shift);
}

/* Which of `lanes` of warp v read granule x, and where, not before w's lane: the latest such read
 * that a site has last made; else the line where alone it can have been.  At first *found is a
 * thread that may stand for the others. */
static void recall_read(const struct warp *w, unsigned lane, uint32_t x, uint32_t v, uint32_t lanes,
                        struct earlier *found)
{
  const struct runner *t = w->runner;
  const struct shadow *s = &w->block->shadow;
  const struct sim_inst *maybe = NULL;
  uint32_t latest = 0, byte = x << s->shift;
  bool several = false;
  for (uint32_t k = 0; k < t->sim->nsites; k++) {
    const struct pattern *p = t->sites[k].patterns[v % SITE_WAYS];
    const struct sim_inst *i = t->sim->sites[k];
    const struct reading *r = p ? &p->readings[v / SITE_WAYS] : NULL;
    if (!r || r->when < s->epoch) continue;
    for (uint32_t m = lanes; m; m &= m - 1) {
      unsigned l = first_lane(m);
      uint32_t thread = v * SIM_LANES + l;
      bool exact = touched(s, p, r, l, i->width, x);
      bool within = r->folded && (r->lanes >> l & 1) && byte >= r->low && byte < r->high;
      if (!(exact || within) || ordered(w, lane, r->when, thread)) continue;
      if (maybe && maybe->line != i->line) several = true;
      maybe = i;
      if (!exact || r->when < latest) continue;
      latest = r->when;
      *found = (struct earlier){thread, i};
      break;
    }
  }
  if (!latest && !several) found->inst = maybe;
}

/* A reader of granule x that is not ordered before w's lane. */
static bool unordered_reader(const struct warp *w, unsigned lane, uint32_t x, struct earlier *found)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t tick = s->rtick[x], set = s->rset[x], v = s->rwarp[x];
  if (tick < s->epoch) return false;
  for (uint32_t m = set; m; m &= m - 1) {
    /* Which lane of one of many warps is not kept: its first one stands for it. */
    uint32_t thread = v == SHADOW_MANY ? first_lane(m) * SIM_LANES : v * SIM_LANES + first_lane(m);
    if ((v == SHADOW_MANY && first_lane(m) == w->id) || ordered(w, lane, tick, thread)) continue;
    *found = (struct earlier){thread, NULL};
    recall_read(w, lane, x, thread / SIM_LANES, v == SHADOW_MANY ? SIM_FULL : m, found);
    return true;
  }
  return false;
}

/* One granule, looked at closely: the quick pass found something. */
static void examine(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x,
                    enum access_kind kind, bool atomic)
{
  struct shadow *s = &w->block->shadow;
  uint32_t byte = x << s->shift, wtick = s->wtick[x], writer = s->writer[x];
  if (wtick == SHADOW_PENDING) {
    report_pending(w, i, lane, kind, last_writer(w, x), byte);
    return;
  }
  if (wtick < s->block_start) {
    if (kind != ACCESS_STORE) {
      char name[64];
      name_of(w, &byte, name);
      struct sim_fault *f =
          fault_note(w, i, lane, SIM_FAULT_UNINITIALISED, false,
                     "reads byte %u of %s, which no thread has written yet: initialise it and put "
                     "__syncthreads() before the read", byte, name);
      if (f) {
        snprintf(f->object, sizeof f->object, "%s", name);
        f->address = byte;
        f->width = i->width;
      }
    }
  } else {
    bool both = atomic && (writer & SHADOW_ATOMIC);
    if (!both && !ordered(w, lane, wtick, writer & SHADOW_THREAD)) {
      report_race(w, i, lane, kind, last_writer(w, x), true, byte);
      return;
    }
  }
  struct earlier other;
  if (kind != ACCESS_LOAD && unordered_reader(w, lane, x, &other))
    report_race(w, i, lane, kind, other, false, byte);
}

/* Lanes of one store that hit one granule with different values. */
static void same_instruction(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_RACE, false, "race");
  if (!f) return;
  struct shadow *s = &w->block->shadow;
  uint32_t *t = f->thread, *o = f->other_thread;
  fault_thread(w->block, s->writer[x] & SHADOW_THREAD, o);
  uint32_t byte = x << s->shift;
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  f->other_line = f->line;
  snprintf(f->text, sizeof f->text,
           "threads (%u,%u,%u) and (%u,%u,%u) store different values to byte %u of %s in one "
           "instruction: which one wins is undefined",
           o[0], o[1], o[2], t[0], t[1], t[2], byte, f->object);
}

/* ---- a pattern met again ---------------------------------------------------------------------- */

/* The granules a pattern touches, each once, with the lanes on it: broadcasts become one look, and
 * neighbouring granules one vector loop. */
enum { MOST_WORDS = 4 * SIM_LANES };
struct words {
  uint32_t n;                  /* 0: too many, or a granule with several storing lanes */
  bool row;                    /* granule k is the k-th after the first */
  bool single;                 /* one lane each */
  uint32_t at[MOST_WORDS];     /* from the first lane's granule; may be negative, modulo 2^32 */
  uint32_t lanes[MOST_WORDS];
  uint32_t lane[MOST_WORDS];   /* a lane of it */
};

static struct words *list_words(const struct pattern *p, unsigned shift, uint32_t each)
{
  struct words *v = malloc(sizeof *v);
  if (!v) abort();
  v->n = 0;
  if ((p->ragged | (uint32_t)p->least) & ((1u << shift) - 1)) return v;
  v->single = true;
  /* In rising order, when the lanes rise: then a row is found. */
  for (uint32_t m = p->mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (uint32_t)(p->rel[l] >> shift);
    for (uint32_t k = 0; k < each; k++, x++) {
      uint32_t e = v->n;
      while (e > 0 && v->at[e - 1] != x) e--;
      if (e > 0) {
        v->lanes[e - 1] |= 1u << l;
        v->single = false;
        continue;
      }
      if (v->n == MOST_WORDS) {
        v->n = 0;
        return v;
      }
      v->at[v->n] = x;
      v->lanes[v->n] = 1u << l;
      v->lane[v->n++] = l;
    }
  }
  v->row = true;
  for (uint32_t k = 0; k < v->n; k++) v->row &= v->at[k] == v->at[0] + k;
  return v;
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
      before = ordered(w, first_lane(n), s->rtick[x], v * SIM_LANES + first_lane(m));
    if (!before) keep |= 1u << first_lane(m);
  }
  s->rset[x] = keep;
  if (!keep) s->rtick[x] = 0;
}

/* Notes that the lanes of `set` read granule x now. */
static inline void note_read(struct warp *w, uint32_t x, uint32_t set)
{
  struct shadow *s = &w->block->shadow;
  if (s->partial) forget_ordered(w, x, set);
  uint32_t me = w->id, sync = w->sync_tick;
  uint32_t rtick = s->rtick[x], rwarp = s->rwarp[x], rset = s->rset[x];
  bool fresh = rtick < s->epoch;
  if (fresh | (rwarp == me)) {
    s->rset[x] = (fresh | (rtick < sync)) ? set : rset | set;
    s->rwarp[x] = me;
  } else {
    s->rset[x] = (rwarp == SHADOW_MANY ? rset : 1u << rwarp) | 1u << me;
    s->rwarp[x] = SHADOW_MANY;
  }
  s->rtick[x] = s->tick;
}

/* Makes the last reading part of the bounds. */
static void fold(const struct pattern *p, struct reading *r, uint32_t width)
{
  if (r->at == READ_APART) return;
  uint32_t low = r->at + (uint32_t)p->least, high = r->at + (uint32_t)p->most + width;
  r->low = r->folded && r->low < low ? r->low : low;
  r->high = r->folded && r->high > high ? r->high : high;
  r->lanes = (r->folded ? r->lanes : 0) | p->mask;
  r->folded = true;
}

void shadow_relearn(struct pattern *p, uint32_t width)
{
  for (int k = 0; k < SITE_SHARE; k++) {
    fold(p, &p->readings[k], width);
    p->readings[k].at = READ_APART;
  }
}

/* Notes where a warp read, for the case that a race has to be told. */
static inline void note_reading(struct warp *w, const struct sim_inst *i, struct pattern *p,
                                uint32_t offset)
{
  struct reading *r = &p->readings[w->id / SITE_WAYS];
  if (r->when < w->block->shadow.epoch) r->folded = false;
  else fold(p, r, i->width);
  r->when = w->block->shadow.tick;
  r->at = offset;
  p->read = true;
}

static void read_lanes(struct warp *w, const struct sim_inst *i, const struct pattern *p,
                       uint32_t offset, uint32_t each, bool ordered_op)
{
  struct shadow *s = &w->block->shadow;
  uint32_t start = s->block_start, span = s->epoch - start;
  uint32_t hot = 0;
  for (uint32_t m = p->mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)p->rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++, x++) {
      hot |= (uint32_t)(s->wtick[x] - start >= span) << l;
      /* Ordered reads are no plain reads: writes ordered like them do not race with them. */
      if (!ordered_op) note_read(w, x, 1u << l);
    }
  }
  for (; hot; hot &= hot - 1) {
    unsigned l = first_lane(hot);
    uint32_t x = (offset + (uint32_t)p->rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++) examine(w, i, l, x + k, ACCESS_LOAD, ordered_op);
  }
}

/* A granule written in this interval, or never, and now read by `lanes`. */
static void examine_read(struct warp *w, const struct sim_inst *i, uint32_t x, uint32_t lanes)
{
  struct shadow *s = &w->block->shadow;
  uint32_t writer = s->writer[x] & SHADOW_THREAD;
  if (s->wtick[x] != SHADOW_PENDING && s->wtick[x] >= s->block_start &&
      writer / SIM_LANES == w->id &&
      (s->wtick[x] < w->sync_tick || lanes == 1u << writer % SIM_LANES))
    return;
  for (; lanes; lanes &= lanes - 1) examine(w, i, first_lane(lanes), x, ACCESS_LOAD, false);
}

static void read_words(struct warp *w, const struct sim_inst *i, const struct words *v,
                       uint32_t first)
{
  struct shadow *s = &w->block->shadow;
  const uint32_t start = s->block_start, span = s->epoch - start, n = v->n, me = w->id;
  const uint32_t sync = w->sync_tick;
  if (!v->row || n < 4 || s->partial) {
    for (uint32_t k = 0; k < n; k++) {
      uint32_t x = first + v->at[k];
      if (s->wtick[x] - start >= span) examine_read(w, i, x, v->lanes[k]);
      note_read(w, x, v->lanes[k]);
    }
    return;
  }
  uint32_t x = first + v->at[0], hot = 0;
  const uint32_t tick = s->tick, epoch = s->epoch, warp = 1u << me;
  const uint32_t *wtick = s->wtick + x, *lanes = v->lanes;
  uint32_t *rtick = s->rtick + x, *rset = s->rset + x, *rwarp = s->rwarp + x;
  for (uint32_t k = 0; k < n; k++) hot |= wtick[k] - start >= span ? 1 : 0;
  for (uint32_t k = 0; hot && k < n; k++)
    if (wtick[k] - start >= span) examine_read(w, i, x + k, lanes[k]);
  WORD_LOOP(n) {
    uint32_t rt = rtick[k], rw = rwarp[k], rs = rset[k];
    uint32_t fresh = rt < epoch ? ~0u : 0, mine = rw == me ? ~0u : 0;
    uint32_t stale = fresh | (mine & (rt < sync ? ~0u : 0));
    uint32_t own = lanes[k] | (rs & ~stale);
    uint32_t many = (rw == SHADOW_MANY ? rs : 1u << (rw & 31)) | warp;
    uint32_t take = fresh | mine;
    rset[k] = (own & take) | (many & ~take);
    rwarp[k] = (me & take) | (SHADOW_MANY & ~take);
    rtick[k] = tick;
  }
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

static void write_lanes(struct warp *w, const struct sim_inst *i, const struct pattern *p,
                        uint32_t offset, uint32_t each, enum access_kind kind, bool atomic)
{
  const int32_t *rel = p->rel;
  const uint32_t mask = p->mask;
  struct shadow *s = &w->block->shadow;
  uint32_t tick = s->tick, epoch = s->epoch, start = s->block_start;
  uint32_t base = w->id * SIM_LANES + site_word(i);
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
        uint32_t other = s->writer[x + k] % SIM_LANES;
        if (s->wtick[x + k] == tick && other != l &&
            stored(w, i, other, k) != stored(w, i, l, k))
          same_instruction(w, i, l, x + k);
        s->wtick[x + k] = tick;
        s->writer[x + k] = base + l;
      }
    }
    return;
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t x = (offset + (uint32_t)rel[l]) >> s->shift;
    for (uint32_t k = 0; k < each; k++) {
      s->wtick[x + k] = tick;
      s->writer[x + k] = (base + l) | SHADOW_ATOMIC;
    }
  }
}

/* A granule that was touched in this interval, and now one lane stores to it: nothing to say when
 * that lane alone did, or when its warp has met since. */
static bool harmless(const struct warp *w, uint32_t x, uint32_t lane)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t writer = s->writer[x] & SHADOW_THREAD, me = w->id * SIM_LANES + lane;
  if (s->wtick[x] == SHADOW_PENDING) return false;
  bool w_ok = s->wtick[x] < s->epoch || writer == me ||
              (writer / SIM_LANES == w->id && s->wtick[x] < w->sync_tick);
  bool r_ok = s->rtick[x] < s->epoch ||
              (s->rwarp[x] == w->id && (s->rtick[x] < w->sync_tick || s->rset[x] == 1u << lane));
  return w_ok && r_ok;
}

static void write_words(struct warp *w, const struct sim_inst *i, const struct words *v,
                        uint32_t first)
{
  struct shadow *s = &w->block->shadow;
  const uint32_t epoch = s->epoch, n = v->n, tick = s->tick;
  const uint32_t base = w->id * SIM_LANES + site_word(i);
  if (!v->row || n < 4) {
    for (uint32_t k = 0; k < n; k++) {
      uint32_t x = first + v->at[k];
      if (((s->wtick[x] >= epoch) | (s->rtick[x] >= epoch)) && !harmless(w, x, v->lane[k]))
        examine(w, i, v->lane[k], x, ACCESS_STORE, false);
      s->wtick[x] = tick;
      s->writer[x] = base + v->lane[k];
    }
    return;
  }
  uint32_t x = first + v->at[0], hot = 0;
  uint32_t *wtick = s->wtick + x, *writer = s->writer + x;
  const uint32_t *rtick = s->rtick + x, *lane = v->lane;
  for (uint32_t k = 0; k < n; k++) hot |= (wtick[k] >= epoch) | (rtick[k] >= epoch);
  for (uint32_t k = 0; hot && k < n; k++)
    if (((wtick[k] >= epoch) | (rtick[k] >= epoch)) && !harmless(w, x + k, lane[k]))
      examine(w, i, lane[k], x + k, ACCESS_STORE, false);
  WORD_LOOP(n) {
    wtick[k] = tick;
    writer[k] = base + lane[k];
  }
}

void shadow_access(struct warp *w, const struct sim_inst *i, struct pattern *p, uint32_t offset,
                   enum access_kind kind)
{
  struct shadow *s = &w->block->shadow;
  uint32_t each = i->width >> s->shift;
  bool atomic = kind == ACCESS_ATOMIC || (i->flags & SIM_MEM_ORDERED);
  if (kind == ACCESS_LOAD && !atomic) note_reading(w, i, p, offset);
  if (p->again && !atomic) {
    if (!p->words) p->words = list_words(p, s->shift, each);
    if (p->words->n && kind == ACCESS_LOAD) {
      read_words(w, i, p->words, offset >> s->shift);
      return;
    }
    if (p->words->n && p->words->single) {
      write_words(w, i, p->words, offset >> s->shift);
      return;
    }
  }
  if (kind == ACCESS_LOAD) read_lanes(w, i, p, offset, each, atomic);
  else write_lanes(w, i, p, offset, each, kind, atomic);
}

static void mark(struct block *b, uint32_t at, uint32_t bytes, uint32_t tick, uint32_t writer)
{
  struct shadow *s = &b->shadow;
  uint32_t last = (at + bytes - 1) >> s->shift;
  for (uint32_t x = at >> s->shift; x <= last; x++) {
    s->wtick[x] = tick;
    s->writer[x] = writer;
  }
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

bool shadow_follows(const struct warp *w, unsigned lane, uint32_t at, uint32_t *thread)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t x = at >> s->shift;
  *thread = s->writer[x] & SHADOW_THREAD;
  if (s->wtick[x] == SHADOW_PENDING || s->wtick[x] < s->block_start) return true;
  return ordered(w, lane, s->wtick[x], *thread);
}

void shadow_forget(struct block *b, uint32_t at, uint32_t bytes) { mark(b, at, bytes, 0, 0); }
