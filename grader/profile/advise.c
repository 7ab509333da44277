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
 * often separates a lane from the next one, where that is longer than an element and so for half of them. */
static uint64_t likely_pitch(const struct access *a)
{
  int64_t stride;
  if (model_stride_find(a, &stride)) return (uint64_t)(stride < 0 ? -stride : stride);
  uint64_t best = 0;
  unsigned most = 0, pairs = 0;
  for (unsigned t = 1; t < MODEL_LANES; t++) {
    if (!(a->mask >> t & 1) || !(a->mask >> (t - 1) & 1)) continue;
    pairs++;
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
  return most >= 3 && 2 * most >= pairs ? best : 0;
}

/* Two steps: `inner` bytes from lane to lane within groups of `lanes`, `outer` from group to group.
 * False when the addresses aren't so, or a single step explains them. */
struct lattice {
  unsigned lanes;
  int64_t inner, outer;
};

static uint64_t at(const struct lattice *l, uint64_t base, unsigned t)
{
  return base + (uint64_t)(t % l->lanes * l->inner + t / l->lanes * l->outer);
}

static bool find_lattice(const struct access *a, struct lattice *l)
{
  if (a->mask != UINT32_MAX) return false;
  for (unsigned n = MODEL_LANES / 2; n >= 2; n /= 2) {
    *l = (struct lattice){n, (int64_t)(a->addr[1] - a->addr[0]), (int64_t)(a->addr[n] - a->addr[0])};
    unsigned t = 0;
    while (t < MODEL_LANES && a->addr[t] == at(l, a->addr[0], t)) t++;
    if (t == MODEL_LANES && l->inner > 0 && l->outer > 0 && l->outer != l->inner * n) return true;
  }
  return false;
}

static bool power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

/* Adds what XOR gives, where it gives something; returns the new length. */
static size_t advise_xor(const struct access *a, uint64_t base, uint64_t pitch, char *out, size_t size,
                         size_t used)
{
  unsigned unit = a->width < MODEL_WORD ? MODEL_WORD : a->width;
  if (!power_of_two(pitch) || pitch < 2 * unit || pitch > 64 * unit || used >= size) return used;
  struct access b = swizzled(a, base, pitch, unit);
  if (cost(&b) >= cost(a)) return used;
  return used + (size_t)snprintf(out + used, size - used, "%sXOR the column by the row (column ^ row "
                                 "%% %" PRIu64 ", in units of %u bytes): %u", used ? "; or " : "",
                                 pitch / unit, unit, cost(&b));
}

/* Another distance between the rows: the longer step is one from row to row.  The nearest of the
 * cheapest. */
static void advise_lattice(const struct access *a, const struct lattice *l, char *out, size_t size)
{
  unsigned unit = a->width < MODEL_WORD ? MODEL_WORD : a->width, best = cost(a);
  bool rows = l->outer > l->inner;           /* a group lies along a row, else across rows */
  uint64_t step = (uint64_t)(rows ? l->outer : l->inner), to = 0, away = 0;
  uint64_t least = rows ? (uint64_t)l->inner * l->lanes
                        : (uint64_t)l->outer * (MODEL_LANES / l->lanes);
  for (uint64_t p = least; p <= step + 128; p++) {
    if (p % unit) continue;
    struct lattice with = *l;
    *(rows ? &with.outer : &with.inner) = (int64_t)p;
    struct access b = *a;
    for (unsigned t = 0; t < MODEL_LANES; t++) b.addr[t] = at(&with, a->addr[0], t);
    unsigned c = cost(&b);
    uint64_t d = p > step ? p - step : step - p;
    if (c > best || (c == best && (!to || d > away || (d == away && p < to)))) continue;
    best = c, to = p, away = d;
  }
  if (!to) return;
  if (rows && l->inner == (int64_t)a->width)
    snprintf(out, size, "%u lanes share a row, and the rows are %" PRIu64 " bytes apart (%" PRIu64
             " elements): ", l->lanes, step, step / a->width);
  else
    snprintf(out, size, "%u lanes %s, and the rows are %" PRIu64 " bytes apart (%" PRIu64
             " elements): ", l->lanes, rows ? "share a row with gaps" : "go across rows", step,
             step / a->width);
  size_t used = strlen(out);
  used += (size_t)snprintf(out + used, size - used, "%" PRIu64 " bytes (%" PRIu64 " elements) give %u "
                           "wavefront%s", to, to / a->width, best, plural(best));
  if (!rows) advise_xor(a, lowest(a), step, out, size, used);
}

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
    snprintf(out, size, "lanes update different words of one bank; with a copy of the counters for "
             "each lane, at counter * %d + lane, they never meet", MODEL_LANES);
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
  unsigned best = c.wavefronts;
  struct lattice lattice;
  if (find_lattice(a, &lattice)) {           /* neighbours are in rows already */
    advise_lattice(a, &lattice, out, size);
    if (*out) return;
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
                               " bytes (%" PRIu64 " to %" PRIu64 " elements of %u bytes): %u wavefront%s",
                               pitch, pitch + pad, pitch / a->width, (pitch + pad) / a->width,
                               a->width, best, plural(best));
    used = advise_xor(a, base, pitch, out, size, used);
  }
  struct access row = in_a_row(a, base / 128 * 128);
  if (!used && !pitch) {
    snprintf(out, size, "the addresses follow no pattern, so no padding cures it; lanes that take "
             "neighbouring elements pay %u wavefront%s", cost(&row), plural(cost(&row)));
    return;
  }
  bool matrix = a->op >= MODEL_LDMATRIX_X1 && a->op <= MODEL_STMATRIX_X4;   /* rows are given */
  if (used < size && !matrix && cost(&row) < c.wavefronts)
    snprintf(out + used, size - used, "%slet neighbouring lanes take neighbouring elements (swap "
             "the loops): %u", used ? "; or " : "", cost(&row));
}
