/* Inside the race check: what its files share.
 *
 *   shadow.c         what happened to each granule; is this access in order?
 *   shadow_words.c   patterns of lanes met again: the quick way
 *   shadow_reads.c   who read a granule, exactly where that matters
 *   shadow_remote.c  accesses by other blocks of a cluster
 *   shadow_tell.c    the faults' words
 *   order.c          what fences and flags order
 */
#ifndef SHADOW_H
#define SHADOW_H

#include "internal.h"

/* An access that came before: whose, and by which instruction; NULL: not known. */
struct earlier {
  uint32_t thread;
  const struct sim_inst *inst;
};

/* The site of an instruction, as `writer` holds it, and back. */
static inline uint32_t site_word(const struct sim_inst *i)
{
  uint32_t site = i->site + 1;
  return site >> (32 - SHADOW_SITE) ? 0 : site << SHADOW_SITE;
}
static inline const struct sim_inst *site_inst(const struct warp *w, uint32_t word)
{
  uint32_t site = word >> SHADOW_SITE;
  return site ? w->runner->sim->sites[site - 1] : NULL;
}

/* ---- granules ---------------------------------------------------------------------------------- */

/* A warp that reads, and when. */
struct reader {
  uint32_t warp, tick, sync;   /* sync: its sync_tick then */
};

/* Notes that the lanes of `set` read granule x; not where readers are kept one by one. */
static inline void note_set(struct shadow *s, struct reader r, uint32_t x, uint32_t set)
{
  uint32_t rtick = s->rtick[x], rwarp = s->rwarp[x], rset = s->rset[x];
  bool fresh = rtick < s->epoch;
  if (fresh | (rwarp == r.warp)) {
    s->rset[x] = (fresh | (rtick < r.sync)) ? set : rset | set;
    s->rwarp[x] = r.warp;
  } else {
    s->rset[x] = (rwarp == SHADOW_MANY ? rset : 1u << rwarp) | 1u << r.warp;
    s->rwarp[x] = SHADOW_MANY;
  }
  s->rtick[x] = r.tick;
}

/* What a lane of a wide access touches. */
typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));

static inline four all_four(uint32_t v) { return (four){v, v, v, v}; }
static inline bool any(four v) { return (v[0] | v[1]) | (v[2] | v[3]); }
static inline four *at_four(uint32_t *state, uint32_t x) { return (four *)(state + x); }

/* One of them was written in this interval, or never. */
static inline bool unsafe_to_read(const struct shadow *s, uint32_t x)
{
  four since = *at_four(s->wtick, x) - s->block_start;
  return any((four)(since >= all_four(s->epoch - s->block_start)));
}

/* One of them was touched in this interval. */
static inline bool unsafe_to_write(const struct shadow *s, uint32_t x)
{
  four epoch = all_four(s->epoch);
  return any((four)(*at_four(s->wtick, x) >= epoch) | (four)(*at_four(s->rtick, x) >= epoch));
}

/* note_set for four at once. */
static inline void note_four(struct shadow *s, struct reader r, uint32_t x, four set)
{
  four *rtick = at_four(s->rtick, x), *rset = at_four(s->rset, x), *rwarp = at_four(s->rwarp, x);
  four rt = *rtick, rs = *rset, rw = *rwarp, me = all_four(r.warp);
  four fresh = (four)(rt < all_four(s->epoch)), mine = (four)(rw == me), take = fresh | mine;
  four stale = fresh | (mine & (four)(rt < all_four(r.sync)));
  four many = (four)(rw == all_four(SHADOW_MANY));
  four warps = (many & rs) | (~many & (all_four(1) << (rw & 31))) | 1u << r.warp;
  *rset = (take & (set | (rs & ~stale))) | (~take & warps);
  *rwarp = (take & me) | (~take & all_four(SHADOW_MANY));
  *rtick = all_four(r.tick);
}

static inline void write_four(struct shadow *s, uint32_t x, uint32_t tick, four writer)
{
  *at_four(s->wtick, x) = all_four(tick);
  *at_four(s->writer, x) = writer;
}

/* ---- the files ---------------------------------------------------------------------------------- */

/* shadow.c.  Whether an access of `thread` at `tick` comes before one of w's `lane` now. */
bool shadow_ordered(const struct warp *w, unsigned lane, uint32_t tick, uint32_t thread);
/* Whether two accesses that nothing orders are no race all the same: `i` now, `by` before. */
bool shadow_excused(const struct shadow *s, uint32_t x, const struct sim_inst *i,
                    const struct sim_inst *by);

/* One granule, looked at closely: the quick pass found something. */
void shadow_examine(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x,
                    enum access_kind kind, bool atomic);
/* The lanes of `set` read granule x now. */
void shadow_note(struct warp *w, const struct sim_inst *i, uint32_t x, uint32_t set);

/* shadow_words.c.  An access whose pattern was met before; false: it is none for that. */
bool words_open(struct shadow *s);   /* false: no memory */
bool words_access(struct warp *w, const struct sim_inst *i, struct pattern *p, uint32_t offset,
                  enum access_kind kind);

/* shadow_reads.c.  note: the lanes of `set` read granule x now. */
void reads_note(struct warp *w, const struct sim_inst *i, uint32_t x, uint32_t set);
/* Makes a pattern's last reading part of its bounds. */
void reads_fold(const struct pattern *p, struct reading *r, uint32_t width);
/* Recalls that a warp read there, for the case that a race has to be told. */
void reads_recall(const struct shadow *s, const struct sim_inst *i, struct pattern *p,
                  struct reader r, uint32_t offset);
/* A reader of granule x that is not ordered before w's lane, which writes it. */
bool reads_unordered(const struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x,
                     struct earlier *found);
void reads_close(struct shadow *s);

/* shadow_tell.c */
void tell_race(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
               struct earlier other, bool other_writes, uint32_t byte);
void tell_pending(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
                  struct earlier copy, uint32_t byte);
/* Of block b's memory. */
void tell_never_written(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t byte,
                        const struct block *b);
/* w's lane touches block b's memory, after a thread of b: by.inst NULL: not known which. */
void tell_remote(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
                 const struct block *b, struct earlier by, bool written, uint32_t byte);
/* A bulk copy reads what a thread has written, without fence.proxy.async between. */
void tell_unfenced(struct warp *w, const struct sim_inst *i, unsigned lane, struct earlier by,
                   uint32_t byte);
void tell_same_instruction(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t thread,
                           uint32_t byte);

/* order.c.  A lane looks at a flag, granule x: hears what was published by it; updates it
 * atomically: hears, and hands on. */
void order_hear(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x);
void order_update(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x);
/* Whether `me` knows that accesses of `thread` at `tick` come before.  There must be s->order. */
bool order_knows(const struct shadow *s, uint32_t me, uint32_t thread, uint32_t tick);
void order_barrier(struct block *b, const struct barrier *bar);   /* of a part of the block */
void order_reset(struct shadow *s);      /* at a barrier of all, which orders everything */
void order_close(struct shadow *s);

#endif
