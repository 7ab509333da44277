/* One warp access: where its lanes point, whether they may, what it costs.
 *
 * Most instructions see the same pattern of lanes again and again, moved by a constant: a site keeps
 * the last pattern (each lane's distance from the first active one) with what was worked out for
 * it: extent, alignment, shape, price.  A pattern met again costs one comparison of two rows.
 *
 * Lanes of one access may lie in several objects (generic addresses; two buffers): the caller then
 * moves data span by span, and counting takes all lanes of a kind of memory as one access. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"

static const char *verb(enum access_kind k)
{
  return k == ACCESS_LOAD ? "reads" : k == ACCESS_STORE ? "writes" : "updates";
}

/* ---- faults -------------------------------------------------------------------------------------- */

static void name_object(struct sim_fault *f, const char *name, uint64_t offset, uint32_t width)
{
  snprintf(f->object, sizeof f->object, "%s", name);
  f->address = offset;
  f->width = width;
}

static void fault_shared(struct warp *w, const struct sim_inst *i, unsigned lane,
                         enum access_kind kind, uint64_t at)
{
  struct block *b = w->block;
  struct sim_fault *f;
  char name[64] = "shared memory";
  if (i->origin) memory_plain_name(i->origin->name, name, sizeof name);
  int64_t offset = (int64_t)(at - i->low);
  uint32_t bytes = i->high - i->low;
  if (!b->shared_bytes)
    f = fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                   "%s shared memory, but the launch gives the block none", verb(kind));
  else if (offset < 0)
    f = fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                   "%s %u bytes %llu before the start of %s: a negative index?",
                   verb(kind), i->width, 0 - (unsigned long long)offset, name);
  else
    f = fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                   "%s %u bytes at byte %lld of %s, which has %u bytes: check the index against the "
                   "array's size", verb(kind), i->width, (long long)offset, name, bytes);
  if (f) name_object(f, name, (uint64_t)offset, i->width);
}

static void fault_global(struct warp *w, const struct sim_inst *i, unsigned lane,
                         enum access_kind kind, uint64_t at)
{
  struct sim_object *o = memory_nearest(w->runner->sim, at);
  char name[MEMORY_CALLED];
  struct sim_fault *f;
  if (at < 0x10000) {
    f = fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                   "%s %u bytes at address %llu: a null pointer", verb(kind), i->width,
                   (unsigned long long)at);
    if (f) name_object(f, "null", at, i->width);
  } else if (!o) {
    f = fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                   "%s %u bytes at 0x%llx, where there is no memory", verb(kind), i->width,
                   (unsigned long long)at);
    if (f) name_object(f, "no object", at, i->width);
  } else if (o->heap && !o->host) {
    f = fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                   "%s %u bytes at byte %llu of a block of %llu bytes that was freed before, by free or "
                   "delete", verb(kind), i->width, (unsigned long long)(at - o->base),
                   (unsigned long long)o->was);
    if (f) name_object(f, o->name, at - o->base, i->width);
  } else if (at < o->base) {
    f = fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                   "%s %u bytes %llu before the start of %s: a negative index?", verb(kind),
                   i->width, (unsigned long long)(o->base - at), memory_called(o, name));
    if (f) name_object(f, o->name, at - o->base, i->width);
  } else {
    uint64_t offset = at - o->base, past = offset + i->width - o->size;
    f = fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                   "%s %u bytes at byte %llu of %s, which has %llu bytes: it reaches %llu past the end. "
                   "Check the index against the size", verb(kind), i->width, (unsigned long long)offset,
                   memory_called(o, name), (unsigned long long)o->size, (unsigned long long)past);
    if (f) name_object(f, o->name, offset, i->width);
  }
}

static void fault_alignment(struct warp *w, const struct sim_inst *i, unsigned lane,
                            enum access_kind kind, uint64_t at)
{
  const struct sim_object *o = memory_find(w->runner->sim, at);
  char where[128] = "an address", name[MEMORY_CALLED];
  if (o)
    snprintf(where, sizeof where, "byte %llu of %s", (unsigned long long)(at - o->base),
             memory_called(o, name));
  struct sim_fault *f =
      fault_note(w, i, lane, SIM_FAULT_ALIGNMENT, true,
                 "%s %u bytes at %s, which is no multiple of %u (0x%llx): wide accesses must "
                 "be aligned to their width", verb(kind), i->width, where, i->width, (unsigned long long)at);
  if (!f) return;
  f->address = at;
  f->width = i->width;
  if (o) name_object(f, o->name, at - o->base, i->width);
}

static void fault_read_only(struct warp *w, const struct sim_inst *i, unsigned lane,
                            enum access_kind kind, const struct sim_object *o, uint64_t at)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_READ_ONLY, true,
                                   "%s '%s' at byte %llu, which is input only", verb(kind), o->name,
                                   (unsigned long long)(at - o->base));
  if (f) name_object(f, o->name, at - o->base, i->width);
}

static void fault_local(struct warp *w, const struct sim_inst *i, unsigned lane,
                        enum access_kind kind, uint64_t at, uint32_t top)
{
  struct sim_fault *f =
      fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
                 "%s %u bytes at byte %lld of the thread's own memory, which has %u bytes: an index "
                 "past the end of a local array?", verb(kind), i->width, (long long)at, top);
  if (f) name_object(f, "local memory", at, i->width);
}

static void fault_ended(struct warp *w, const struct sim_inst *i, unsigned lane,
                        enum access_kind kind, const struct block *b)
{
  fault_note(w, i, lane, SIM_FAULT_RACE, true,
             "%s shared memory of block %u of the cluster, which has ended: a block must stay as long as "
             "others use its memory. Put cluster.sync() at the end of the kernel", verb(kind), b->rank);
}

/* ---- addresses ------------------------------------------------------------------------------------- */

static void addresses(struct warp *w, const struct sim_inst *i, uint64_t out[SIM_LANES])
{
  if (i->flags & SIM_MEM_WIDE_ADDRESS) {
    const u64_row *a = SIM_ROW(u64_row, i->a);
    for (int l = 0; l < SIM_LANES; l++) out[l] = a[l] + i->imm;
  } else {
    const u32_row *a = SIM_ROW(u32_row, i->a);
    for (int l = 0; l < SIM_LANES; l++) out[l] = (uint32_t)(a[l] + (uint32_t)i->imm);
  }
}

/* Whether the lanes have the site's pattern. */
static bool same32(const struct pattern *s, const u32_row *a, uint32_t a0, uint32_t mask)
{
  uint32_t differ = 0;
  if (mask == SIM_FULL) {
    for (int l = 0; l < SIM_LANES; l++) differ |= (a[l] - a0) ^ (uint32_t)s->rel[l];
  } else {
    for (int l = 0; l < SIM_LANES; l++)
      differ |= ((a[l] - a0) ^ (uint32_t)s->rel[l]) & -(mask >> l & 1);
  }
  return !differ;
}

static bool same64(const struct pattern *s, const u64_row *a, uint64_t a0, uint32_t mask)
{
  uint64_t differ = 0;
  if (mask == SIM_FULL) {
    for (int l = 0; l < SIM_LANES; l++) differ |= (a[l] - a0) ^ (uint64_t)(int64_t)s->rel[l];
  } else {
    for (int l = 0; l < SIM_LANES; l++)
      differ |= ((a[l] - a0) ^ (uint64_t)(int64_t)s->rel[l]) & -(uint64_t)(mask >> l & 1);
  }
  return !differ;
}

/* What a pattern that is met again is worth finding out: how groups of eight lanes lie. */
static void learn_more(struct pattern *s, uint32_t width)
{
  for (unsigned g = 0; g < SIM_LANES / 8; g++) {
    const int32_t *rel = s->rel + 8 * g;
    uint32_t apart = 0, ahead = 0;
    for (unsigned l = 0; l < 8; l++) {
      apart |= (uint32_t)(rel[l] - rel[0]);
      ahead |= (uint32_t)(rel[l] - rel[0]) ^ l * width;
    }
    s->units |= (uint8_t)(!ahead << g);
    s->uniforms |= (uint8_t)(!apart << g);
  }
  s->again = true;
}

/* The site's pattern, met a second time. */
static void meet_again(struct warp *w, const struct sim_inst *i, struct pattern *s)
{
  if (!w->runner->sim->options.no_patterns) {
    learn_more(s, i->width);
    return;
  }
  count_fold(i, &w->runner->sites[i->site], s);
  s->priced = UNPRICED;
}

/* Works a new pattern out.  False when lanes are too far apart to be one span. */
static bool learn(struct pattern *s, const uint64_t *a, uint64_t a0, uint32_t mask, uint32_t width)
{
  int64_t least = 0, most = 0;
  uint32_t ragged = 0, stride = 0, spread = 0;
  s->priced = UNPRICED;
  s->again = false;
  s->mask = 0;
  if (s->read) shadow_relearn(s, width);
  free(s->words);
  s->words = NULL;
  for (int l = 0; l < SIM_LANES; l++) {
    int64_t rel = mask >> l & 1 ? (int64_t)(a[l] - a0) : 0;
    least = rel < least ? rel : least;
    most = rel > most ? rel : most;
    ragged |= (uint32_t)rel;
    stride |= (uint32_t)rel ^ (uint32_t)l * width;
    spread |= (uint32_t)rel;
    s->rel[l] = (int32_t)rel;
  }
  if (least < INT32_MIN || most > INT32_MAX) return false;
  s->mask = mask;
  s->least = (int32_t)least;
  s->most = (int32_t)most;
  s->ragged = ragged;
  s->units = s->uniforms = 0;
  s->shape = mask != SIM_FULL ? CLASS_OTHER
             : !stride        ? CLASS_UNIT
             : !spread        ? CLASS_UNIFORM
                              : CLASS_OTHER;
  return true;
}

/* ---- one lane at a time: what a span cannot hold ------------------------------------------------------ */

enum place { PLACE_SHARED, PLACE_RESERVED, PLACE_LOCAL, PLACE_GLOBAL };

/* A shared address: in the block's own memory or another one's.  The system's kilobyte is memory like any
 * other to an access that may have got there by asking for its place: in a kernel that does, where the
 * address does not come from a variable. */
static enum place shared_place(const struct warp *w, const struct sim_inst *i, uint64_t *at,
                               struct block **b)
{
  *b = cluster_block(w, at);
  bool reserved = w->block->reserved_at && !i->origin && *at + i->width <= SIM_SHARED_BASE;
  return reserved ? PLACE_RESERVED : PLACE_SHARED;
}

static enum place place_of(const struct warp *w, const struct sim_inst *i, uint64_t *at,
                           struct block **b)
{
  *b = w->block;
  if (i->space == PTX_SHARED) return shared_place(w, i, at, b);
  if (i->space == PTX_LOCAL || i->space == PTX_PARAM) return PLACE_LOCAL;
  if (i->space != PTX_GENERIC) return PLACE_GLOBAL;
  if (*at - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) {
    *at -= SIM_SHARED_WINDOW;
    return shared_place(w, i, at, b);
  }
  if (*at - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES) {
    *at -= SIM_LOCAL_WINDOW;
    return PLACE_LOCAL;
  }
  return PLACE_GLOBAL;
}

static uint32_t local_top(const struct warp *w)
{
  return w->frame->local_base + w->frame->func->local_bytes;
}

static __thread struct pattern scratch;   /* of a span that its caller reads at once */

/* Counts an access whose lanes are in several places. */
static void count_apart(struct warp *w, const struct sim_inst *i, uint32_t mask,
                        const uint64_t *a)
{
  for (int shared = 0; shared < 2; shared++) {
    struct pattern apart = {.mask = 0};
    uint64_t first = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = first_lane(m);
      uint64_t at = a[l];
      struct block *b;
      enum place p = place_of(w, i, &at, &b);
      if (p == PLACE_LOCAL || (p <= PLACE_RESERVED) != shared) continue;
      /* What another block's memory costs was not measured. */
      if (b != w->block) count_side(w, i, true)->exact = false;
      /* Equal offsets in different blocks are different words, of one bank. */
      if (shared) at += (uint64_t)b->rank << SIM_CLUSTER_SHIFT;
      if (!apart.mask) first = at;
      apart.mask |= 1u << l;
      int64_t rel = (int64_t)(at - first);
      /* Too far for 32 bits: another far place will do, at the same offset in its sector. */
      apart.rel[l] = rel == (int32_t)rel ? (int32_t)rel
                     : (int32_t)(0x40000000u | ((uint32_t)(rel >> 5) & 0xffffff) << 5 |
                                 ((uint32_t)rel & 31));
    }
    if (!apart.mask) continue;
    struct site *s = &w->runner->sites[i->site];
    count_access(w, i, s, &apart, first, shared);
    count_fold(i, s, &apart);
  }
}

static uint32_t span_apart(struct warp *w, const struct sim_inst *i, uint32_t left, bool fresh,
                           enum access_kind kind, struct span *span)
{
  struct runner *t = w->runner;
  uint64_t a[SIM_LANES];
  addresses(w, i, a);
  unsigned lane = first_lane(left);
  uint64_t at = a[lane];
  struct block *b, *its;
  enum place place = place_of(w, i, &at, &b);
  if (at & (i->width - 1)) {
    fault_alignment(w, i, lane, kind, at);
    return 0;
  }
  const struct sim_object *o = NULL;
  uint32_t top = 0;
  switch (place) {
  case PLACE_SHARED:
    if (!access_inside(i, at, i->width)) {
      fault_shared(w, i, lane, kind, at);
      return 0;
    }
    if (b != w->block && !b->live) {
      fault_ended(w, i, lane, kind, b);
      return 0;
    }
    span->base = b->shared + (at - SIM_SHARED_BASE);
    break;
  case PLACE_RESERVED:
    span->base = b->shared + b->reserved_at + at;
    break;
  case PLACE_LOCAL:
    top = local_top(w);
    if (at > top || i->width > top - at) {
      fault_local(w, i, lane, kind, at, top);
      return 0;
    }
    span->base = w->local + (size_t)lane * w->local_room + at;
    break;
  case PLACE_GLOBAL:
    o = memory_find(t->sim, at);
    if (!o || i->width > o->size - (at - o->base)) {
      fault_global(w, i, lane, kind, at);
      return 0;
    }
    if (kind != ACCESS_LOAD && o->read_only) {
      fault_read_only(w, i, lane, kind, o, at);
      return 0;
    }
    span->base = o->host + (at - o->base);
    if (o->heap) count_side(w, i, false)->exact = false;
    break;
  }
  uint32_t now = 0;
  for (uint32_t m = left; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint64_t other = a[l];
    if (place_of(w, i, &other, &its) != place || its != b || (other & (i->width - 1))) continue;
    if (place == PLACE_SHARED && !access_inside(i, other, i->width)) continue;
    if (place == PLACE_LOCAL && (other > top || i->width > top - other)) continue;
    if (place == PLACE_GLOBAL &&
        (other < o->base || other - o->base > o->size || i->width > o->size - (other - o->base)))
      continue;
    int64_t rel = (int64_t)(other - at);
    if (place == PLACE_LOCAL) rel += ((int64_t)l - (int64_t)lane) * (int64_t)w->local_room;
    if (rel != (int32_t)rel) continue;
    scratch.rel[l] = (int32_t)rel;
    now |= 1u << l;
  }
  scratch.mask = now;
  scratch.again = false;
  scratch.shape = CLASS_OTHER;
  if (o && t->parallel) {
    span->base = parallel_access(w, i, o, at, &scratch, i->width, kind);
    if (!span->base) {
      warp_reschedule(w);
      return 0;
    }
  }
  span->rel = scratch.rel;
  span->shape = CLASS_OTHER;
  span->units = span->uniforms = 0;
  span->shared = place <= PLACE_RESERVED;
  span->offset = span->shared ? SIM_SHARED_BASE + (uint32_t)(span->base - b->shared) : 0;
  if (fresh && place != PLACE_LOCAL && i->site != SIM_NO_SITE) count_apart(w, i, left, a);
  if (span->shared && !t->sim->options.no_checks) {
    if (b == w->block) shadow_access(w, i, &scratch, span->offset - SIM_SHARED_BASE, kind);
    else shadow_remote(w, i, b, &scratch, span->offset - SIM_SHARED_BASE, kind);
  }
  return now;
}

/* ---- the usual way ------------------------------------------------------------------------------------- */

static inline uint32_t span_shared(struct warp *w, const struct sim_inst *i, struct pattern *s,
                            enum access_kind kind, uint32_t first, struct span *span)
{
  struct block *b = w->block;
  uint32_t offset = first - SIM_SHARED_BASE;
  if ((first | s->ragged) & (i->width - 1u)) return 0;
  if ((int64_t)first + s->least < i->low || (int64_t)first + s->most + i->width > i->high) return 0;
  span->base = b->shared + offset;
  span->rel = s->rel;
  span->shape = s->shape;
  span->units = s->units;
  span->uniforms = s->uniforms;
  span->shared = true;
  span->offset = first;
  count_access(w, i, &w->runner->sites[i->site], s, first, true);
  if (!w->runner->sim->options.no_checks &&
      !(kind == ACCESS_LOAD && words_read(w, i, s, offset)))
    shadow_access(w, i, s, offset, kind);
  return s->mask;
}

static inline uint32_t span_global(struct warp *w, const struct sim_inst *i, struct pattern *s,
                            enum access_kind kind, uint64_t first, struct span *span)
{
  if ((first | s->ragged) & (i->width - 1u)) return 0;
  struct site *site = &w->runner->sites[i->site];
  const struct sim_object *o = site->object;
  uint64_t lo = first + (uint64_t)(int64_t)s->least;
  uint64_t bytes = (uint64_t)((int64_t)s->most - s->least) + i->width;
  if (!o || lo < o->base || lo - o->base > o->size || bytes > o->size - (lo - o->base)) {
    o = memory_find(w->runner->sim, lo);
    if (!o || bytes > o->size - (lo - o->base)) return 0;
    site->object = o;
    if (o->heap) count_side(w, i, false)->exact = false;
  }
  if (kind != ACCESS_LOAD && o->read_only) return 0;
  span->base = o->host + (first - o->base);
  if (w->runner->parallel) {
    span->base = parallel_access(w, i, o, first, s, i->width, kind);
    if (!span->base) return 0;
  }
  span->rel = s->rel;
  span->shape = s->shape;
  span->units = s->units;
  span->uniforms = s->uniforms;
  span->shared = false;
  if (i->space != PTX_CONST && first >= SIM_GLOBAL_WINDOW) count_access(w, i, site, s, first, false);
  return s->mask;
}

static struct pattern *pattern_of(struct warp *w, const struct sim_inst *i)
{
  struct pattern **way = &w->runner->sites[i->site].patterns[w->id % SITE_WAYS];
  if (!*way) {
    *way = aligned_alloc(64, (sizeof **way + 63) / 64 * 64);
    if (!*way) abort();
    memset(*way, 0, sizeof **way);
  }
  return *way;
}

uint32_t access_span(struct warp *w, const struct sim_inst *i, uint32_t left, bool fresh,
                     enum access_kind kind, struct span *span)
{
  if (!fresh || i->site == SIM_NO_SITE) return span_apart(w, i, left, fresh, kind, span);
  struct pattern *s = pattern_of(w, i);
  unsigned lane = first_lane(left);
  uint64_t first;
  bool same;
  if (i->flags & SIM_MEM_WIDE_ADDRESS) {
    const u64_row *a = SIM_ROW(u64_row, i->a);
    first = a[lane] + i->imm;
    same = s->mask == left && same64(s, a, a[lane], left);
  } else {
    const u32_row *a = SIM_ROW(u32_row, i->a);
    first = (uint32_t)(a[lane] + (uint32_t)i->imm);
    same = s->mask == left && same32(s, a, a[lane], left);
  }
  if (same) {
    if (!s->again) meet_again(w, i, s);
  } else {
    uint64_t all[SIM_LANES];
    addresses(w, i, all);
    if (s->noted == w->block->shadow.epoch) shadow_settle(w->block);
    count_fold(i, &w->runner->sites[i->site], s);
    if (!learn(s, all, first, left, i->width))
      return span_apart(w, i, left, fresh, kind, span);
  }
  uint32_t now = 0;
  if (i->space == PTX_SHARED) {
    if (first <= UINT32_MAX) now = span_shared(w, i, s, kind, (uint32_t)first, span);
  } else if (i->space == PTX_GENERIC && first - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) {
    uint64_t offset = first - SIM_SHARED_WINDOW;
    if (offset <= UINT32_MAX) now = span_shared(w, i, s, kind, (uint32_t)offset, span);
  } else if (i->space == PTX_GENERIC && first - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES) {
    now = 0;
  } else {
    now = span_global(w, i, s, kind, first, span);
  }
  /* Anything unusual, a fault included, is looked at lane by lane. */
  return now ? now : span_apart(w, i, left, fresh, kind, span);
}

uint8_t *access_host(struct warp *w, unsigned lane, uint64_t at, uint64_t *room)
{
  if (at - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) {
    at -= SIM_SHARED_WINDOW;
    const struct block *b = cluster_block(w, &at);
    at -= SIM_SHARED_BASE;
    if (at >= b->shared_bytes) return NULL;
    *room = b->shared_bytes - at;
    return b->shared + at;
  }
  if (at - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES) {
    at -= SIM_LOCAL_WINDOW;
    if (at >= local_top(w)) return NULL;
    *room = local_top(w) - at;
    return w->local + (size_t)lane * w->local_room + at;
  }
  const struct sim_object *o = memory_find(w->runner->sim, at);
  if (!o) return NULL;
  *room = o->size - (at - o->base);
  return o->host + (at - o->base);
}
