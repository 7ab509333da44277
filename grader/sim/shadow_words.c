/* Accesses of shared memory whose lanes lie as they did before, which is most of them.
 *
 * A pattern's granules are listed once, each with the lanes on it: then a broadcast is one look, and a
 * row of granules a vector loop.
 *
 * A read is checked at once (was the granule written, and before this interval?), but only a write
 * that comes later in the interval asks who read.  So reads are kept as patterns in a list, and put
 * into the granules' words when somebody is to look there: mostly a barrier comes first, and
 * nobody does. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "shadow.h"

#ifdef __clang__
#define WORD_LOOP(n) \
  _Pragma("clang loop vectorize(assume_safety)") for (uint32_t k = 0; k < (n); k++)
#else
#define WORD_LOOP(n) _Pragma("GCC ivdep") for (uint32_t k = 0; k < (n); k++)
#endif

/* ---- the granules of a pattern ----------------------------------------------------------------- */

/* The granules a pattern touches, each once, with the lanes on it: broadcasts become one look, and
 * neighbouring granules one vector loop. */
enum { MOST_WORDS = 4 * SIM_LANES };
struct words {
  uint32_t n;                  /* 0: too many, or a granule with several storing lanes */
  bool row;                    /* granule k is the k-th after the first */
  bool fours;                  /* four after four, each four neighbours */
  bool single;                 /* one lane each */
  uint32_t at[MOST_WORDS];     /* from the first lane's granule; may be negative, modulo 2^32 */
  uint32_t lanes[MOST_WORDS];
  uint32_t lane[MOST_WORDS];   /* a lane of it */
};

static struct words *list_words(const struct pattern *p, unsigned shift, uint32_t width)
{
  const uint32_t each = width >> shift;
  uint8_t known[256] = {0};   /* a hash table of places in the list + 1 */
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
      uint32_t slot = x * 2654435761u >> 24, e;
      while ((e = known[slot]) != 0 && v->at[e - 1] != x) slot = (slot + 1) % 256;
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
      known[slot] = (uint8_t)v->n;
    }
  }
  v->row = true;
  v->fours = v->n % 4 == 0;
  for (uint32_t k = 0; k < v->n; k++) {
    v->row &= v->at[k] == v->at[0] + k;
    v->fours &= v->at[k] == v->at[k & ~3u] + k % 4;
  }
  return v;
}

/* ---- reads ------------------------------------------------------------------------------------ */

struct noted {                 /* a read that is in no granule's words yet */
  const struct sim_inst *inst;
  struct pattern *pattern;
  struct reader by;
  uint32_t offset;
};

static void note_words(struct shadow *s, const struct words *v, struct reader by, uint32_t first)
{
  const uint32_t n = v->n, epoch = s->epoch, me = by.warp, sync = by.sync, warp = 1u << me;
  if (!v->row && v->fours) {
    for (uint32_t k = 0; k < n; k += 4)
      note_four(s, by, first + v->at[k], *(const four *)&v->lanes[k]);
    return;
  }
  if (!v->row || n < 4) {
    for (uint32_t k = 0; k < n; k++) note_set(s, by, first + v->at[k], v->lanes[k]);
    return;
  }
  uint32_t x = first + v->at[0];
  const uint32_t *lanes = v->lanes;
  uint32_t *rtick = s->rtick + x, *rset = s->rset + x, *rwarp = s->rwarp + x;
  WORD_LOOP(n) {
    uint32_t rt = rtick[k], rw = rwarp[k], rs = rset[k];
    uint32_t fresh = rt < epoch ? ~0u : 0, mine = rw == me ? ~0u : 0;
    uint32_t stale = fresh | (mine & (rt < sync ? ~0u : 0));
    uint32_t own = lanes[k] | (rs & ~stale);
    uint32_t many = (rw == SHADOW_MANY ? rs : 1u << (rw & 31)) | warp;
    uint32_t take = fresh | mine;
    rset[k] = (own & take) | (many & ~take);
    rwarp[k] = (me & take) | (SHADOW_MANY & ~take);
    rtick[k] = by.tick;
  }
}

enum { MOST_NOTED = 2048 };

bool words_open(struct shadow *s)
{
  s->noted = malloc(MOST_NOTED * sizeof *s->noted);
  return s->noted;
}

void shadow_settle(struct block *b)
{
  struct shadow *s = &b->shadow;
  for (uint32_t k = 0; k < s->nnoted; k++) {
    const struct noted *r = &s->noted[k];
    reads_recall(s, r->inst, r->pattern, r->by, r->offset);
    note_words(s, r->pattern->words, r->by, r->offset >> s->shift);
  }
  s->nnoted = 0;
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
  for (; lanes; lanes &= lanes - 1) shadow_examine(w, i, first_lane(lanes), x, ACCESS_LOAD, false);
}

/* Whether a granule was written in this interval, or never. */
static inline bool any_fresh(const struct shadow *s, const struct words *v, uint32_t first)
{
  const uint32_t start = s->block_start, span = s->epoch - start, n = v->n;
  const uint32_t *wtick = s->wtick + first, *at = v->at;
  uint32_t fresh = 0;
  if (n <= 4 || !v->row) {
    for (uint32_t k = 0; k < n; k++) fresh |= wtick[(int32_t)at[k]] - start >= span;
  } else if (n == SIM_LANES) {
    wtick += (int32_t)at[0];
    for (uint32_t k = 0; k < SIM_LANES; k++) fresh |= wtick[k] - start >= span;
  } else {
    wtick += (int32_t)at[0];
    for (uint32_t k = 0; k < n; k++) fresh |= wtick[k] - start >= span;
  }
  return fresh;
}

/* The granules for which the quick look does not do. */
static inline void look_at_reads(struct warp *w, const struct sim_inst *i, const struct words *v,
                                 uint32_t first)
{
  const struct shadow *s = &w->block->shadow;
  const uint32_t start = s->block_start, span = s->epoch - start;
  if (!any_fresh(s, v, first)) return;
  for (uint32_t k = 0; k < v->n; k++)
    if (s->wtick[first + v->at[k]] - start >= span)
      examine_read(w, i, first + v->at[k], v->lanes[k]);
}

/* Where readers are kept one by one, or a part of the block has met. */
static void read_words(struct warp *w, const struct sim_inst *i, struct pattern *p,
                       uint32_t offset)
{
  struct shadow *s = &w->block->shadow;
  const struct words *v = p->words;
  const uint32_t first = offset >> s->shift;
  reads_recall(s, i, p, (struct reader){w->id, s->tick, w->sync_tick}, offset);
  look_at_reads(w, i, v, first);
  for (uint32_t k = 0; k < v->n; k++) shadow_note(w, i, first + v->at[k], v->lanes[k]);
}

bool words_read(struct warp *w, const struct sim_inst *i, struct pattern *p, uint32_t offset)
{
  enum { NOT_PLAIN = SIM_MEM_ORDERED | SIM_MEM_POLL | SIM_MEM_CHECKED };
  struct shadow *s = &w->block->shadow;
  const struct words *v = p->words;
  if (!v || !v->n || s->partial | s->exact | s->fenced || (i->flags & NOT_PLAIN)) return false;
  if (s->nnoted == MOST_NOTED) shadow_settle(w->block);
  uint32_t first = offset >> s->shift;
  look_at_reads(w, i, v, first);
  s->noted[s->nnoted++] = (struct noted){i, p, {w->id, s->tick, w->sync_tick}, offset};
  p->noted = s->epoch;
  return true;
}

/* ---- writes ----------------------------------------------------------------------------------- */

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
  if (!v->row && v->fours) {
    for (uint32_t k = 0; k < n; k += 4) {
      uint32_t x = first + v->at[k];
      for (uint32_t e = 0; unsafe_to_write(s, x) && e < 4; e++)
        if (((s->wtick[x + e] >= epoch) | (s->rtick[x + e] >= epoch)) &&
            !harmless(w, x + e, v->lane[k + e]))
          shadow_examine(w, i, v->lane[k + e], x + e, ACCESS_STORE, false);
      write_four(s, x, tick, *(const four *)&v->lane[k] + base);
    }
    return;
  }
  if (!v->row || n < 4) {
    for (uint32_t k = 0; k < n; k++) {
      uint32_t x = first + v->at[k];
      if (((s->wtick[x] >= epoch) | (s->rtick[x] >= epoch)) && !harmless(w, x, v->lane[k]))
        shadow_examine(w, i, v->lane[k], x, ACCESS_STORE, false);
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
      shadow_examine(w, i, lane[k], x + k, ACCESS_STORE, false);
  WORD_LOOP(n) {
    wtick[k] = tick;
    writer[k] = base + lane[k];
  }
}

bool words_access(struct warp *w, const struct sim_inst *i, struct pattern *p, uint32_t offset,
                  enum access_kind kind)
{
  if (!p->words) p->words = list_words(p, w->block->shadow.shift, i->width);
  if (!p->words->n) return false;
  if (kind == ACCESS_LOAD) {
    if (words_read(w, i, p, offset)) return true;
    shadow_settle(w->block);
    read_words(w, i, p, offset);
  } else {
    if (!p->words->single) return false;
    shadow_settle(w->block);
    write_words(w, i, p->words, offset >> w->block->shadow.shift);
  }
  return true;
}
