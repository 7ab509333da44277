/* What would make an access cheaper.  Every cure is tried on the 32 addresses with the model
 * before it is named, so what is said is true of the access shown - not of the whole kernel:
 * the other accesses of the same array have to be looked at again after the change. */
#include "profile/profile.h"

#include <inttypes.h>
#include <string.h>

static const char *plural(unsigned n) { return n == 1 ? "" : "s"; }

static unsigned cost(const struct access *a) { return model_cost(a).wavefronts; }

/* The access as it would be with rows of `pitch` bytes made `pad` bytes longer. */
static struct access padded(const struct access *a, uint64_t base, uint64_t pitch, uint64_t pad)
{
  struct access b = *a;
  for (unsigned t = 0; t < MODEL_LANES; t++)
    if (a->mask >> t & 1) b.addr[t] += (a->addr[t] - base) / pitch * pad;
  return b;
}

/* The access with the chunk of a row XORed by the row's number. */
static struct access swizzled(const struct access *a, uint64_t base, uint64_t pitch, unsigned chunk)
{
  struct access b = *a;
  uint64_t chunks = pitch / chunk;
  for (unsigned t = 0; t < MODEL_LANES; t++) {
    if (!(a->mask >> t & 1)) continue;
    uint64_t at = a->addr[t] - base, row = at / pitch, in = at % pitch;
    b.addr[t] = base + row * pitch + (in / chunk ^ row % chunks) * chunk + in % chunk;
  }
  return b;
}

/* Neighbouring lanes on neighbouring elements: what swapping the loops gives. */
static struct access in_a_row(const struct access *a, uint64_t base)
{
  struct access b = *a;
  for (unsigned t = 0; t < MODEL_LANES; t++) b.addr[t] = base + t * a->width;
  return b;
}

static uint64_t lowest(const struct access *a)
{
  uint64_t low = UINT64_MAX;
  for (unsigned t = 0; t < MODEL_LANES; t++)
    if ((a->mask >> t & 1) && a->addr[t] < low) low = a->addr[t];
  return low;
}

/* A row's length that the addresses may have: the constant stride, else the distance that most
 * often separates a lane from the next one, where that is longer than an element. */
static uint64_t likely_pitch(const struct access *a)
{
  int64_t stride;
  if (model_stride_find(a, &stride)) return (uint64_t)(stride < 0 ? -stride : stride);
  uint64_t best = 0;
  unsigned most = 0;
  for (unsigned t = 1; t < MODEL_LANES; t++) {
    if (!(a->mask >> t & 1) || !(a->mask >> (t - 1) & 1)) continue;
    int64_t d = (int64_t)(a->addr[t] - a->addr[t - 1]);
    uint64_t step = (uint64_t)(d < 0 ? -d : d);
    unsigned times = 0;
    for (unsigned k = 1; k < MODEL_LANES; k++) {
      int64_t e = (int64_t)(a->addr[k] - a->addr[k - 1]);
      times += (uint64_t)(e < 0 ? -e : e) == step;
    }
    if (step > a->width && times > most) {
      most = times;
      best = step;
    }
  }
  return most >= 3 ? best : 0;
}

/* Rows that several neighbouring lanes share, as of a tile 16 wide: lanes in steps of one element,
 * and every `lanes` lanes a jump by the pitch.  False when the addresses aren't so. */
static bool short_rows(const struct access *a, unsigned *lanes, uint64_t *pitch)
{
  if (a->mask != UINT32_MAX) return false;
  unsigned n = 1;
  while (n < MODEL_LANES && a->addr[n] == a->addr[0] + n * a->width) n++;
  if (n < 2 || n > MODEL_LANES / 2 || a->addr[n] <= a->addr[n - 1]) return false;
  *lanes = n;
  *pitch = a->addr[n] - a->addr[0];
  for (unsigned t = 0; t < MODEL_LANES; t++)
    if (a->addr[t] != a->addr[0] + t / n * *pitch + t % n * a->width) return false;
  return true;
}

/* Another distance between such rows: the nearest of the cheapest. */
static size_t advise_short_rows(const struct access *a, unsigned lanes, uint64_t pitch, char *out,
                                size_t size)
{
  unsigned unit = a->width < MODEL_WORD ? MODEL_WORD : a->width, best = cost(a);
  uint64_t to = 0, away = 0;
  for (uint64_t p = lanes * a->width; p <= pitch + 128; p++) {
    if (p % unit) continue;
    struct access b = *a;
    for (unsigned t = 0; t < MODEL_LANES; t++)
      b.addr[t] = a->addr[0] + t / lanes * p + t % lanes * a->width;
    unsigned c = cost(&b);
    uint64_t d = p > pitch ? p - pitch : pitch - p;
    if (c > best || (c == best && (!to || d >= away))) continue;
    best = c, to = p, away = d;
  }
  if (!to) return 0;
  return (size_t)snprintf(out, size, "%u lanes share a row, and the rows are %" PRIu64 " bytes "
                          "apart (%" PRIu64 " elements): %" PRIu64 " bytes (%" PRIu64 " elements) "
                          "give %u wavefront%s", lanes, pitch, pitch / a->width, to, to / a->width,
                          best, plural(best));
}

static bool power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

static unsigned most_on_one_address(const struct access *a)
{
  unsigned most = 0;
  for (unsigned t = 0; t < MODEL_LANES; t++) {
    unsigned n = 0;
    for (unsigned k = 0; k < MODEL_LANES; k++)
      n += (a->mask >> t & 1) && (a->mask >> k & 1) && a->addr[t] == a->addr[k];
    if (n > most) most = n;
  }
  return most;
}

/* Do the lanes together move one run of bytes, in whatever order? */
static bool one_run(const struct access *a)
{
  uint64_t low = lowest(a);
  uint32_t seen = 0;
  for (unsigned t = 0; t < MODEL_LANES; t++) {
    if (!(a->mask >> t & 1)) continue;
    uint64_t at = (a->addr[t] - low) / a->width;
    if ((a->addr[t] - low) % a->width || at >= MODEL_LANES) return false;
    seen |= 1u << at;
  }
  return (seen & (seen + 1)) == 0;           /* ones from the lowest bit on */
}

static void advise_global(const struct access *a, const struct model_cost *c, bool atomic, char *out,
                          size_t size)
{
  uint64_t begin = lowest(a) / MODEL_SECTOR * MODEL_SECTOR;
  unsigned same = most_on_one_address(a);
  int64_t stride;
  struct access row = in_a_row(a, begin), moved = *a;
  for (unsigned t = 0; t < MODEL_LANES; t++) moved.addr[t] -= lowest(a) - begin;
  unsigned together = model_cost(&row).sectors, aligned = model_cost(&moved).sectors;
  if (atomic) {
    if (same > 1 || c->sectors > c->ideal)
      snprintf(out, size, "add up in shared memory or with shuffles first, then make one global "
               "atomic a block for each address");
  } else if (one_run(a)) {
    if (aligned < c->sectors)
      snprintf(out, size, "neighbouring elements already, but they begin %" PRIu64 " bytes into a "
               "sector: rows that begin at a multiple of %d bytes give %u sector%s",
               lowest(a) - begin, MODEL_SECTOR, aligned, plural(aligned));
  } else if (c->sectors > c->ideal && together < c->sectors) {
    if (model_stride_find(a, &stride))
      snprintf(out, size, "neighbouring lanes are %" PRId64 " bytes apart; let them take "
               "neighbouring elements (swap the loops, or turn the tile in shared memory): %u "
               "sector%s", stride, together, plural(together));
    else
      snprintf(out, size, "let neighbouring lanes take neighbouring elements, through shared memory "
               "when the order has to change: %u sector%s", together, plural(together));
  }
}

static void advise_atomic(const struct access *a, const struct model_cost *c, char *out,
                          size_t size)
{
  unsigned same = most_on_one_address(a);
  if (same > 1 && a->op != MODEL_ATOM_ONE)
    snprintf(out, size, "contention, not a layout: %u lanes update one address; give each warp or "
             "lane its own copy, or add up with shuffles first%s", same,
             a->op == MODEL_ATOM_LOOP || a->op == MODEL_ATOM_LOOP64
               ? " (this type has no native atomic and loops)" : "");
  else if (c->wavefronts > c->ideal)
    snprintf(out, size, "lanes update different words of one bank: spread the counters so that "
             "words used together lie in different banks");
}

void profile_advise(const struct access *a, enum profile_class class, char *out, size_t size)
{
  struct model_cost c = model_cost(a);
  *out = 0;
  if (a->op == MODEL_GLOBAL_LOAD || a->op == MODEL_GLOBAL_STORE) {
    advise_global(a, &c, class == PROFILE_GLOBAL_ATOMIC, out, size);
    return;
  }
  if (c.wavefronts <= c.ideal) return;
  if (a->op >= MODEL_ATOM_NATIVE && a->op <= MODEL_ATOM_LOOP64) {
    advise_atomic(a, &c, out, size);
    return;
  }
  unsigned unit = a->width < MODEL_WORD ? MODEL_WORD : a->width;
  uint64_t base = lowest(a), pitch = likely_pitch(a);
  size_t used = 0;
  unsigned best = c.wavefronts, lanes;
  uint64_t apart;
  if (short_rows(a, &lanes, &apart)) {     /* neighbours are in a row already */
    advise_short_rows(a, lanes, apart, out, size);
    return;
  }
  if (pitch > a->width) {
    uint64_t pad = 0;
    for (uint64_t k = unit; k <= 4 * unit || k <= 32; k += unit) {
      struct access b = padded(a, base, pitch, k);
      if (cost(&b) < best) {
        best = cost(&b);
        pad = k;
      }
    }
    if (pad)
      used += (size_t)snprintf(out, size, "pad the rows from %" PRIu64 " to %" PRIu64
                               " bytes (%" PRIu64 " to %" PRIu64 " elements): %u wavefront%s",
                               pitch, pitch + pad, pitch / a->width, (pitch + pad) / a->width, best,
                               best == 1 ? "" : "s");
    if (power_of_two(pitch) && pitch >= 2 * unit && used < size) {
      struct access b = swizzled(a, base, pitch, unit);
      if (cost(&b) < c.wavefronts)
        used += (size_t)snprintf(out + used, size - used, "%sXOR the column by the row "
                                 "(column ^ row %% %" PRIu64 ", in units of %u bytes): %u",
                                 used ? "; or " : "", pitch / unit, unit, cost(&b));
    }
  }
  struct access row = in_a_row(a, base / 128 * 128);
  if (!used && !pitch) {
    snprintf(out, size, "the addresses follow no pattern, so no padding cures it; lanes that take "
             "neighbouring elements pay %u wavefront%s", cost(&row), plural(cost(&row)));
    return;
  }
  if (used < size && cost(&row) < c.wavefronts)
    snprintf(out + used, size - used, "%slet neighbouring lanes take neighbouring elements (swap "
             "the loops): %u", used ? "; or " : "", cost(&row));
}
