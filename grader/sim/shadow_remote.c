/* Accesses to the shared memory of another block of the cluster.
 *
 * A block's shadow knows its own threads only.  Of the others' accesses it learns what they wrote, so
 * that it is no longer "never written"; and where the cluster's barriers are all that orders (no fences,
 * flags or mbarriers in the kernel), an access to what the block itself has written, or in case of a
 * store read, since the last of them is a race.  Two other blocks that meet in a third one's memory are
 * not told. */
#include "shadow.h"

/* As if written before this interval: nothing is a race with it. */
static void mark_written(struct shadow *s, uint32_t x)
{
  s->wtick[x] = s->block_start;
  s->writer[x] = SHADOW_ENGINE * SIM_LANES;
}

static bool remote(const struct shadow *s, uint32_t x)
{
  return (s->writer[x] & SHADOW_THREAD) / SIM_LANES == SHADOW_ENGINE;
}

void shadow_remote(struct warp *w, const struct sim_inst *i, struct block *b,
                   const struct pattern *p, uint32_t offset, enum access_kind kind)
{
  struct shadow *s = &b->shadow;
  const uint32_t each = i->width >> s->shift;
  bool plain = !w->runner->exact && kind != ACCESS_ATOMIC && !(i->flags & SIM_MEM_ORDERED);
  for (uint32_t m = p->mask; m; m &= m - 1) {
    unsigned lane = first_lane(m);
    uint32_t x = (offset + (uint32_t)p->rel[lane]) >> s->shift;
    for (uint32_t k = 0; k < each; k++, x++) {
      uint32_t byte = x << s->shift, wtick = s->wtick[x];
      if (wtick == SHADOW_PENDING) continue;
      if (kind != ACCESS_STORE && wtick < s->block_start) tell_never_written(w, i, lane, byte, b);
      struct earlier by = {s->writer[x] & SHADOW_THREAD, site_inst(w, s->writer[x])};
      bool written = wtick >= s->cluster_start && !remote(s, x);
      bool read = kind == ACCESS_STORE && s->rtick[x] >= s->cluster_start;
      if (read && !written) by = (struct earlier){0};
      if (plain && (written || read)) tell_remote(w, i, lane, kind, b, by, written, byte);
      if (kind != ACCESS_LOAD) mark_written(s, x);
    }
  }
}
