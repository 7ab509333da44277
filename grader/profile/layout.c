/* What an array's accesses cost when its elements lie elsewhere.
 *
 * A change of layout moves all accesses of the array, so all are moved and priced: of each
 * instruction the worst request.  An access that the profile joined of several is taken apart
 * again where it no longer stays together. */
#include "profile/profile.h"

static uint64_t moved(const struct profile_array *a, const struct profile_layout *l,
                      uint64_t address)
{
  uint64_t at = address - a->base, row = at / l->row, in = at % l->row;
  if (l->chunk)
    in = (in / l->chunk ^ row / l->divide % (l->row / l->chunk)) * l->chunk + in % l->chunk;
  return a->base + row * l->pitch + in;
}

/* The access with its lanes moved, each `width` bytes from `from` on; false when that tears
 * one. */
static bool move(const struct profile_array *a, const struct profile_layout *l,
                 const struct access *access, uint32_t from, uint32_t width, struct access *out)
{
  uint32_t lanes = model_lanes(access);
  *out = *access;
  out->width = width;
  for (unsigned t = 0; t < MODEL_LANES; t++) {
    if (!(lanes >> t & 1)) continue;
    uint64_t at = access->addr[t] + from, unit = l->chunk ? l->chunk : l->row;
    if ((at - a->base) % unit + width > unit) return false;
    out->addr[t] = moved(a, l, at);
    if (out->addr[t] % width) return false;
  }
  return true;
}

static bool cost(const struct profile_array *a, const struct profile_layout *l,
                 const struct access *access, uint32_t own, unsigned *wavefronts)
{
  struct access b;
  if (!l || move(a, l, access, 0, access->width, &b)) {
    *wavefronts = model_cost(l ? &b : access).wavefronts;
    return true;
  }
  *wavefronts = 0;
  if (own >= access->width || access->width % own) return false;
  for (uint32_t from = 0; from < access->width; from += own) {
    if (!move(a, l, access, from, own, &b)) return false;
    *wavefronts += model_cost(&b).wavefronts;
  }
  return true;
}

bool profile_layout_price(const struct profile_array *a, const struct profile_layout *l,
                          const struct access *mine, struct profile_price *out)
{
  uint32_t own = mine->width;
  uint64_t most = 0;
  *out = (struct profile_price){0};
  if (l && l->pitch > l->row &&
      (a->bytes + l->row - 1) / l->row * (l->pitch - l->row) > a->room)
    return false;
  if (l && l->chunk && a->bytes % l->row) return false;
  for (size_t k = 0; k < a->nuses; k++) {
    const struct sim_site *s = a->uses[k].site;
    unsigned before, after;
    if (&s->worst == mine || (s->line && s->line == mine->line && s->width == mine->width))
      own = a->uses[k].own;
    if (!cost(a, NULL, &s->worst, a->uses[k].own, &before)) return false;
    if (!cost(a, l, &s->worst, a->uses[k].own, &after)) return false;
    out->all += s->requests * after;
    if (after > before && s->requests > most) {
      most = s->requests;
      out->worse = s;
      out->was = before;
      out->becomes = after;
    }
  }
  return cost(a, l, mine, own, &out->mine);
}
