/* Who read a granule of shared memory.
 *
 * Mostly the shadow's own words do: one warp's lanes, or a set of warps, and one tick.  That is exact
 * where barriers of the block and whole warps are all that orders.  In a launch with fences, flags,
 * named barriers or mbarriers (s->exact) readers of one granule can come before a writer one by one,
 * so each is kept: in a list, with its tick and site.
 *
 * Without lists a reader's line is recalled: each site knows what each warp last read there, and the
 * bounds of what it read since the barrier. */
#include <stdlib.h>
#include <string.h>

#include "shadow.h"

/* ---- lists ------------------------------------------------------------------------------------ */

struct read {
  uint32_t tick, lanes, warp;
  const struct sim_inst *inst;
};

struct reads {                 /* of one granule; no thread is in it twice */
  struct read *list;
  uint32_t n, room;
};

void reads_close(struct shadow *s)
{
  for (uint32_t x = 0; s->reads && x < s->granules; x++) free(s->reads[x].list);
  free(s->reads);
  s->reads = NULL;
}

/* Whether an earlier read need not be kept, as whoever comes after w's lanes comes after it. */
static bool passed(const struct warp *w, const struct read *r)
{
  const struct shadow *s = &w->block->shadow;
  return r->tick < s->epoch ||
         (r->warp == w->id ? r->tick < w->sync_tick : s->seen[w->id][r->warp] > r->tick);
}

void reads_note(struct warp *w, const struct sim_inst *i, uint32_t x, uint32_t set)
{
  struct shadow *s = &w->block->shadow;
  if (!s->reads) s->reads = calloc(s->granules, sizeof *s->reads);
  if (!s->reads) abort();
  struct reads *all = &s->reads[x];
  uint32_t n = 0;
  warp_charge(w, all->n * sizeof *all->list);
  for (uint32_t k = 0; k < all->n; k++) {
    struct read r = all->list[k];
    if (passed(w, &r)) continue;
    if (r.warp == w->id) r.lanes &= ~set;
    if (r.lanes) all->list[n++] = r;
  }
  all->n = n;
  s->rtick[x] = s->tick;
  s->rwarp[x] = SHADOW_MANY;   /* never harmless: look into the list */
  struct read *last = n ? &all->list[n - 1] : NULL;
  if (last && last->warp == w->id && last->tick == s->tick && last->inst == i) {
    last->lanes |= set;
    return;
  }
  if (n == all->room) {
    uint32_t room = n ? 2 * n : 4;
    if (!warp_hold(w, (room - all->room) * sizeof *all->list)) {
      fault_note(w, i, first_lane(set), SIM_FAULT_MEMORY, true,
                 "who read which byte of shared memory takes more than %llu bytes of the host's memory: "
                 "put __syncthreads() between the reads, or let fewer threads read the same",
                 (unsigned long long)w->runner->sim->options.memory_limit);
      return;
    }
    all->room = room;
    all->list = realloc(all->list, all->room * sizeof *all->list);
    if (!all->list) abort();
  }
  all->list[all->n++] = (struct read){s->tick, set, w->id, i};
}

static bool listed(const struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x,
                   struct earlier *found)
{
  const struct shadow *s = &w->block->shadow;
  for (uint32_t k = 0; s->reads && k < s->reads[x].n; k++) {
    const struct read *r = &s->reads[x].list[k];
    if (r->tick < s->epoch || shadow_excused(s, x, i, r->inst)) continue;
    for (uint32_t m = r->lanes; m; m &= m - 1) {
      uint32_t thread = r->warp * SIM_LANES + first_lane(m);
      if (shadow_ordered(w, lane, r->tick, thread)) continue;
      *found = (struct earlier){thread, r->inst};
      return true;
    }
  }
  return false;
}

/* ---- recalling -------------------------------------------------------------------------------- */

/* Makes the last reading part of the bounds. */
void reads_fold(const struct pattern *p, struct reading *r, uint32_t width)
{
  if (r->at == READ_APART) return;
  uint32_t low = r->at + (uint32_t)p->least, high = r->at + (uint32_t)p->most + width;
  r->low = r->folded && r->low < low ? r->low : low;
  r->high = r->folded && r->high > high ? r->high : high;
  r->lanes = (r->folded ? r->lanes : 0) | p->mask;
  r->folded = true;
}

void reads_recall(const struct shadow *s, const struct sim_inst *i, struct pattern *p,
                  struct reader by, uint32_t offset)
{
  struct reading *r = &p->readings[by.warp / SITE_WAYS];
  if (r->when < s->epoch) r->folded = false;
  else reads_fold(p, r, i->width);
  r->when = by.tick;
  r->at = offset;
  p->read = true;
}

void shadow_relearn(struct pattern *p, uint32_t width)
{
  for (int k = 0; k < SITE_SHARE; k++) {
    reads_fold(p, &p->readings[k], width);
    p->readings[k].at = READ_APART;
  }
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
      if (!(exact || within) || shadow_ordered(w, lane, r->when, thread)) continue;
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

/* ---- both ------------------------------------------------------------------------------------- */

bool reads_unordered(const struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t x,
                     struct earlier *found)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t tick = s->rtick[x], v = s->rwarp[x];
  if (tick < s->epoch) return false;
  if (s->exact) return listed(w, i, lane, x, found);
  for (uint32_t m = s->rset[x]; m; m &= m - 1) {
    /* Which lane of one of many warps is not kept: its first one stands for it. */
    uint32_t thread = v == SHADOW_MANY ? first_lane(m) * SIM_LANES : v * SIM_LANES + first_lane(m);
    if ((v == SHADOW_MANY && first_lane(m) == w->id) || shadow_ordered(w, lane, tick, thread))
      continue;
    *found = (struct earlier){thread, NULL};
    recall_read(w, lane, x, thread / SIM_LANES, v == SHADOW_MANY ? SIM_FULL : m, found);
    return true;
  }
  return false;
}
