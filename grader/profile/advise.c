/* What would make an access cheaper.
 *
 * A cure is named only where it was tried with the model: the lanes of this access moved, and with them the
 * worst request of every other access of the array, which pays less as a whole.  Rows are those that the
 * array has, and only grow, by whole elements.  Where its rows are not known nothing is said of them. */
#include "profile/profile.h"

#include <inttypes.h>
#include <string.h>

static const char *plural(unsigned n) { return n == 1 ? "" : "s"; }

static unsigned cost(const struct access *a) { return model_cost(a).wavefronts; }

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

/* ---- other places for an array's elements ----------------------------------------------------- */

struct cure {
  struct profile_layout layout;
  struct profile_price price;
  bool found;
};

/* Keeps a layout that is cheaper for this access and for the array than what is kept; the first of equals. */
static void consider(const struct profile_array *array, const struct access *a,
                     const struct profile_price *now, struct profile_layout layout, struct cure *best)
{
  struct profile_price with;
  if (!profile_layout_price(array, &layout, a, &with)) return;
  if (with.mine >= now->mine || with.all >= now->all) return;
  if (best->found && with.all >= best->price.all) return;
  *best = (struct cure){layout, with, true};
}

/* Longer rows: by whole elements, up to those that lie in the same banks again. */
static void consider_pads(const struct profile_array *array, const struct access *a,
                          const struct profile_price *now, uint64_t row, struct cure *best)
{
  for (uint64_t pad = array->element; pad <= MODEL_BANKS * MODEL_WORD; pad += array->element)
    consider(array, a, now, (struct profile_layout){row, row + pad, 0, 1}, best);
}

static void consider_xors(const struct profile_array *array, const struct access *a,
                          const struct profile_price *now, uint64_t row, struct cure *best)
{
  uint64_t unit = array->element < MODEL_WORD ? MODEL_WORD : array->element;
  if (!power_of_two(row) || !power_of_two(array->element) || array->strided) return;
  for (uint32_t divide = 1; divide <= 8; divide *= 2)
    for (uint64_t chunk = unit; 2 * chunk <= row && chunk <= 16; chunk *= 2)
      consider(array, a, now, (struct profile_layout){row, row, (uint32_t)chunk, divide}, best);
}

static size_t say_worse(const struct profile_price *p, char *out, size_t size, size_t used)
{
  if (!p->worse || used >= size) return used;
  return used + (size_t)snprintf(out + used, size - used, p->worse->line ? " (line %u then costs %u, not %u)"
                                 : " (PTX line %u then costs %u, not %u)",
                                 p->worse->line ? p->worse->line : p->worse->ptx_line, p->becomes, p->was);
}

static size_t say_pad(const struct profile_array *array, const struct cure *c, char *out, size_t size)
{
  uint64_t row = c->layout.row, pitch = c->layout.pitch, e = array->element;
  size_t used;
  if (array->rows == PROFILE_ROWS_RECORDS)
    used = (size_t)snprintf(out, size, "pad each struct from %" PRIu64 " to %" PRIu64 " bytes: %u wavefront%s",
                            row, pitch, c->price.mine, plural(c->price.mine));
  else
    used = (size_t)snprintf(out, size, "pad the rows from %" PRIu64 " to %" PRIu64 " bytes (%" PRIu64 " to %"
                            PRIu64 " elements of %" PRIu64 " byte%s): %u wavefront%s", row, pitch, row / e,
                            pitch / e, e, plural((unsigned)e), c->price.mine, plural(c->price.mine));
  if (array->rows == PROFILE_ROWS_NONE && used < size)
    used += (size_t)snprintf(out + used, size - used, ", element i at i + i / %" PRIu64, row / e);
  if (array->rows == PROFILE_ROWS_NONE && used < size && pitch > row + e)
    used += (size_t)snprintf(out + used, size - used, " * %" PRIu64, (pitch - row) / e);
  return say_worse(&c->price, out, size, used);
}

static size_t say_xor(const struct cure *c, char *out, size_t size, size_t used)
{
  char by[40] = "row";
  if (used >= size) return used;
  if (c->layout.divide > 1) snprintf(by, sizeof by, "row / %u", c->layout.divide);
  used += (size_t)snprintf(out + used, size - used, "%sXOR the column by the row (column ^ %s %% %" PRIu64
                           ", in units of %u bytes): %u", used ? "; or " : "", by,
                           c->layout.row / c->layout.chunk, c->layout.chunk, c->price.mine);
  if (c->layout.row != c->layout.pitch) return used;
  return say_worse(&c->price, out, size, used);
}

/* What other places for the elements give; the length of what was said. */
static size_t advise_layout(const struct access *a, const struct profile_array *array, char *out,
                            size_t size)
{
  struct profile_price now;
  struct cure pad = {.found = false}, swizzle = {.found = false};
  struct lattice l;
  uint64_t rows[2] = {array->row, 0};
  if (array->rows == PROFILE_ROWS_NONE) {    /* any length will do: what the addresses suggest */
    rows[0] = likely_pitch(a);
    if (find_lattice(a, &l)) rows[1] = (uint64_t)(l.outer > l.inner ? l.outer : l.inner);
  }
  if (!array->element || !profile_layout_price(array, NULL, a, &now)) return 0;
  for (int k = 0; k < 2; k++) {
    bool records = array->rows == PROFILE_ROWS_RECORDS;
    if (!rows[k] || rows[k] % array->element || (rows[k] == array->element && !records)) continue;
    if (array->rows == PROFILE_ROWS_NONE && rows[k] > array->bytes / 2) continue;
    consider_pads(array, a, &now, rows[k], &pad);
    if (!records) consider_xors(array, a, &now, rows[k], &swizzle);
  }
  size_t used = pad.found ? say_pad(array, &pad, out, size) : 0;
  return swizzle.found ? say_xor(&swizzle, out, size, used) : used;
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

bool profile_own_blocks(const struct access *a)
{
  bool apart = false;
  for (unsigned t = 1; t < MODEL_LANES; t++)
    apart |= (a->mask >> t & a->mask >> (t - 1) & 1) && sim_heap_apart(a->addr[t], a->addr[t - 1]);
  return apart;
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
  } else if (profile_own_blocks(a)) {
    if (c->sectors > c->ideal)
      snprintf(out, size, "each lane has a block of malloc of its own, and what lies in different blocks is "
               "in different sectors: one block for the warp, lanes on neighbouring elements of it: %u "
               "sector%s", together, plural(together));
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
    snprintf(out, size, "contention, not a layout: %u lanes update one address; add up in registers or "
             "with shuffles first and make one atomic a warp, or give each lane its own copy%s", same,
             a->op == MODEL_ATOM_LOOP || a->op == MODEL_ATOM_LOOP64
               ? " (this type has no native atomic and loops)" : "");
  else if (c->wavefronts > c->ideal)
    snprintf(out, size, "lanes update different words of one bank; with a copy of the counters for "
             "each lane, at counter * %d + lane, they never meet", MODEL_LANES);
}

static bool is_matrix(enum model_op op) { return op >= MODEL_LDMATRIX_X1 && op <= MODEL_STMATRIX_X4; }

static void advise_shared(const struct access *a, const struct model_cost *c,
                          const struct profile_array *array, char *out, size_t size)
{
  enum profile_rows rows = array ? array->rows : PROFILE_ROWS_UNKNOWN;
  bool tried = rows != PROFILE_ROWS_UNKNOWN && rows != PROFILE_ROWS_FIXED;
  struct access row = in_a_row(a, lowest(a) / 128 * 128);
  unsigned together = cost(&row);
  bool helps = !is_matrix(a->op) && together < c->wavefronts;
  struct lattice l;
  bool pattern = rows == PROFILE_ROWS_DECLARED || likely_pitch(a) || find_lattice(a, &l);
  size_t used = tried ? advise_layout(a, array, out, size) : 0;
  if (rows == PROFILE_ROWS_FIXED)
    used = (size_t)snprintf(out, size, "the rows stay as they are: a bulk copy or wgmma lays this array out");
  if (!used && helps && !pattern) {
    snprintf(out, size, "the addresses follow no pattern, so no padding cures it; lanes that take "
             "neighbouring elements pay %u wavefront%s", together, plural(together));
  } else if (used < size && helps) {
    snprintf(out + used, size - used, "%slet neighbouring lanes take neighbouring elements (swap "
             "the loops): %u", used ? "; or " : "", together);
  } else if (!used && c->wavefronts == c->phases) {
    snprintf(out, size, "each phase takes one wavefront already; the %d active lanes would need %u if they "
             "were neighbours", __builtin_popcount(a->mask), c->ideal);
  } else if (!used) {
    snprintf(out, size, tried ? "longer rows and XORed columns were tried: neither makes the array's accesses "
             "cheaper as a whole" : "the array's rows are not known, so no other layout was tried");
  }
}

void profile_advise(const struct access *a, enum profile_class class,
                    const struct profile_array *array, char *out, size_t size)
{
  struct model_cost c = model_cost(a);
  *out = 0;
  if (a->op == MODEL_GLOBAL_LOAD || a->op == MODEL_GLOBAL_STORE)
    advise_global(a, &c, class == PROFILE_GLOBAL_ATOMIC, out, size);
  else if (a->op >= MODEL_ATOM_NATIVE && a->op <= MODEL_ATOM_LOOP64)
    advise_atomic(a, &c, out, size);
  else if (c.wavefronts > c.ideal)
    advise_shared(a, &c, array, out, size);
}
