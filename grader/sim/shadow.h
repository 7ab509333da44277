/* Inside the race check: what its files share.
 *
 *   shadow.c         what happened to each granule; is this access in order?
 *   shadow_reads.c   who read a granule, exactly where that matters
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

/* shadow.c: whether an access of `thread` at `tick` comes before one of w's `lane` now. */
bool shadow_ordered(const struct warp *w, unsigned lane, uint32_t tick, uint32_t thread);
/* Whether two accesses that nothing orders are no race all the same: `i` now, `by` before. */
bool shadow_excused(const struct shadow *s, uint32_t x, const struct sim_inst *i,
                    const struct sim_inst *by);

/* shadow_reads.c.  note: the lanes of `set` read granule x now. */
void reads_note(struct warp *w, const struct sim_inst *i, uint32_t x, uint32_t set);
/* Makes a pattern's last reading part of its bounds. */
void reads_fold(const struct pattern *p, struct reading *r, uint32_t width);
/* A reader of granule x that is not ordered before w's lane, which writes it. */
bool reads_unordered(const struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x,
                     struct earlier *found);
void reads_close(struct shadow *s);

/* shadow_tell.c */
void tell_race(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
               struct earlier other, bool other_writes, uint32_t byte);
void tell_pending(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
                  struct earlier copy, uint32_t byte);
void tell_never_written(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t byte);
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
