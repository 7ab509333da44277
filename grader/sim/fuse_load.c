/* Which loads meet, and what is issued for them.
 *
 * Loads of one version, base and element size fall into chunks of four elements (two of 8 bytes).
 * The first load of a chunk that dominates later ones leads them.  Three or four elements present:
 * one access of the whole chunk, which reads one too many for three; two that are an aligned pair:
 * one of double width; else each element once.  The chunk has to be aligned as far as can be proven.
 * Loads of a chunk that the store just before them wrote to are not all so free: see overlapped() and
 * stays_pair().  A load of just what the store before it wrote issues nothing, nor does an equal load.
 */
#include "fuse.h"
#include <stdlib.h>
#include <string.h>

#define BESIDE "loads beside what the store before them wrote"

enum { LEADERS = 64 };          /* leaders looked at for a load; more is never met in practice */

struct chunk {
  uint32_t version, base, number, bytes;
  uint32_t leader;              /* the first access; others through fuse_access.next */
  uint32_t last;
  uint32_t next;                /* hash chain */
};

struct loads {
  struct fuse *z;
  struct chunk *chunks;
  uint32_t nchunks, chunks_cap;
  uint32_t *hash, hash_size;
  uint32_t *first;              /* by instruction: its first access */
};

static bool before(const struct fuse *z, uint32_t a, uint32_t b)
{
  return fuse_dominates(z, z->access[a].block, z->access[b].block);   /* a < b in the list */
}

/* The first access of the store that made the version a load reads; FUSE_NONE when no store did, or
 * one that ptxas keeps its hands off. */
static uint32_t store_before(const struct loads *l, const struct fuse_access *load)
{
  const struct fuse *z = l->z;
  if (load->version == 0 || load->version > z->f->ninsts) return FUSE_NONE;
  uint32_t store = load->version - 1;
  const struct ptx_inst *i = &z->f->insts[store];
  if (i->op != PTX_ST || i->guard != PTX_NOREG || ptx_has(i, PTX_M_VOLATILE)) return FUSE_NONE;
  return l->first[store];
}

/* Whether that store writes any of the bytes [from, from + n) at the load's base. */
static bool stored(const struct loads *l, const struct fuse_access *load, uint32_t from, uint32_t n)
{
  const struct fuse *z = l->z;
  uint32_t a = store_before(l, load), inst = a == FUSE_NONE ? 0 : z->access[a].inst;
  for (; a < z->naccess && z->access[a].inst == inst; a++) {
    const struct fuse_access *s = &z->access[a];
    if (s->base == load->base && s->bytes == load->bytes &&
        (s->offset - from < n || from - s->offset < s->bytes))
      return true;
  }
  return false;
}

/* Whether a load gets the very value the store before it wrote. */
static bool forwarded(const struct loads *l, const struct fuse_access *load)
{
  const struct fuse *z = l->z;
  uint32_t a = store_before(l, load), inst = a == FUSE_NONE ? 0 : z->access[a].inst;
  for (; a < z->naccess && z->access[a].inst == inst; a++) {
    const struct fuse_access *s = &z->access[a];
    if (!s->load && s->base == load->base && s->offset == load->offset && s->bytes == load->bytes &&
        s->unit == load->unit && !s->halves &&
        (!s->unit || (s->start == load->start && s->vector == load->vector)))
      return true;
  }
  return false;
}

/* What is left of a vector of which a part was just written makes no pair with a load before it. */
static bool overlapped(const struct loads *l, const uint32_t *list, uint32_t n)
{
  const struct fuse *z = l->z;
  for (uint32_t i = 1; i < n && i < 4; i++) {
    const struct fuse_access *a = &z->access[list[i]];
    if (a->vector > 1 && !a->unit && a->inst != z->access[list[0]].inst &&
        stored(l, a, a->start, a->vector * a->bytes))
      return true;
  }
  return false;
}

static bool same_kind(const struct fuse *z, uint32_t a, uint32_t b)
{
  const struct ptx_inst *x = &z->f->insts[z->access[a].inst], *y = &z->f->insts[z->access[b].inst];
  if (x->op != y->op) return false;
  if (x->op == PTX_LDMATRIX) return !memcmp(x->mods, y->mods, sizeof x->mods);
  bool whole = z->access[a].vector == 0 || z->access[b].vector == 0;
  if (whole && (x->vector != y->vector || x->types[0] != y->types[0])) return false;
  if (z->access[a].bytes > 2) return true;
  return (ptx_type_kind(x->types[0]) == PTX_SIGNED) == (ptx_type_kind(y->types[0]) == PTX_SIGNED);
}

static void join(struct fuse *z, uint32_t a, uint32_t leader)
{
  z->access[a].issuer = leader;
  z->access[a].width = 0;
}

static void issue(struct fuse *z, uint32_t leader, uint32_t at, uint32_t width)
{
  z->access[leader].issuer = leader;
  z->access[leader].at = at;
  z->access[leader].width = width;
}

/* Of three elements of four, where the store before them wrote the fourth: a whole vector of two
 * among them stays what it is. */
static bool stays_pair(const struct loads *l, const uint32_t *list, uint32_t n, uint32_t at,
                       uint32_t present)
{
  const struct fuse *z = l->z;
  uint32_t bytes = z->access[list[0]].bytes, hole = 0;
  while (present >> hole & 1) hole++;
  if (!stored(l, &z->access[list[0]], at + hole * bytes, bytes)) return false;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < i; k++)
      if (z->access[list[i]].inst == z->access[list[k]].inst && z->access[list[i]].vector == 2)
        return true;
  return false;
}

/* Splits a led list into aligned parts of `span` bytes until a part can be issued as one. */
static void form(struct loads *l, uint32_t *list, uint32_t n, uint32_t elements)
{
  struct fuse *z = l->z;
  if (n == 0) return;
  const struct fuse_access *first = &z->access[list[0]];
  uint32_t bytes = first->bytes, span = bytes * elements;
  uint32_t from = first->unit ? first->start : 0, at = from + (first->offset - from) / span * span;
  uint32_t present = 0, most = 4;
  for (uint32_t i = 0; i < n; i++)
    if (before(z, list[0], list[i])) {
      present |= 1u << (z->access[list[i]].offset - at) / bytes;
      if (z->access[list[i]].most < most) most = z->access[list[i]].most;
    }
  unsigned count = (unsigned)__builtin_popcount(present);
  if (elements > 1 && most >= elements && count >= (elements == 4 ? 3u : 2u) &&
      (elements != 4 || count != 3 || n > 4 || !stays_pair(l, list, n, at, present)) &&
      (elements != 2 || !overlapped(l, list, n))) {
    uint32_t leader = list[0], rest = 0;
    for (uint32_t i = 0; i < n; i++) {
      if (before(z, leader, list[i])) join(z, list[i], leader);
      else list[rest++] = list[i];
    }
    issue(z, leader, at, span);
    if (rest) form(l, list, rest, elements);
    return;
  }
  if (elements == 1) return;
  /* Halves, each in its order; the lower half is moved to the front. */
  uint32_t *half = malloc(2 * (size_t)n * sizeof *half), low = 0, high = 0;
  if (!half) {
    z->failed = "out of memory";
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (z->access[list[i]].offset - at < span / 2) half[low++] = list[i];
    else half[n + high++] = list[i];
  }
  form(l, half, low, elements / 2);
  form(l, half + n, high, elements / 2);
  free(half);
}

/* The group an access belongs to, whose leader dominates it; else a new one that it leads. */
static void collect(struct loads *l, uint32_t a, bool equal)
{
  struct fuse *z = l->z;
  struct fuse_access *x = &z->access[a];
  uint32_t span = equal ? 1 : x->bytes * (x->bytes == 8 ? 2 : 4);
  struct chunk want = {x->version, x->base, x->offset / span, x->bytes, a, a, FUSE_NONE};
  if (x->unit) {                /* an unsplit vector meets only its like */
    want.bytes |= (uint32_t)x->vector << 8;
    want.number = equal ? x->offset : x->start;
  }
  uint32_t h = (want.version * 0x9e3779b1u ^ want.base * 0x85ebca6bu ^ want.number * 0xc2b2ae35u ^
                want.bytes) & (l->hash_size - 1);
  unsigned looked = 0;
  for (uint32_t c = l->hash[h]; c != FUSE_NONE && looked < LEADERS; c = l->chunks[c].next) {
    struct chunk *k = &l->chunks[c];
    if (k->version != want.version || k->base != want.base || k->number != want.number ||
        k->bytes != want.bytes)
      continue;
    looked++;
    if (!before(z, k->leader, a) || (equal && !same_kind(z, k->leader, a))) continue;
    if (equal) {
      join(z, a, k->leader);
      struct fuse_access *leader = &z->access[k->leader];
      leader->joins &= x->joins;                /* all that is done with it counts */
      leader->halves = x->halves && leader->halves ? x->halves | leader->halves : 0;
    } else {
      z->access[k->last].next = a;
      k->last = a;
    }
    return;
  }
  if (!fuse_grow(z, &l->chunks, l->nchunks, &l->chunks_cap, sizeof *l->chunks)) return;
  want.next = l->hash[h];
  l->chunks[l->nchunks] = want;
  l->hash[h] = l->nchunks++;
}

void fuse_loads(struct fuse *z)
{
  struct loads l = {.z = z, .hash_size = 64};
  while (l.hash_size < z->naccess) l.hash_size *= 2;
  uint32_t *first = malloc((z->f->ninsts + 1) * sizeof *first);
  uint32_t *list = malloc((z->naccess + 1) * sizeof *list);
  l.hash = malloc(l.hash_size * sizeof *l.hash);
  l.first = first;
  if (!first || !list || !l.hash) z->failed = "out of memory";
  if (!z->failed) {
    memset(l.hash, 0xff, l.hash_size * sizeof *l.hash);
    memset(first, 0xff, (z->f->ninsts + 1) * sizeof *first);   /* some write and have no access */
    for (uint32_t a = z->naccess; a-- > 0;) first[z->access[a].inst] = a;
  }
  for (uint32_t a = 0; a < z->naccess && !z->failed; a++) {
    struct fuse_access *x = &z->access[a];
    if (!x->load || !x->once || x->issuer == FUSE_NONE) continue;
    if (forwarded(&l, x)) {
      x->issuer = FUSE_NONE;
      x->width = 0;
      continue;
    }
    collect(&l, a, true);
  }
  l.nchunks = 0;
  if (!z->failed) memset(l.hash, 0xff, l.hash_size * sizeof *l.hash);
  for (uint32_t a = 0; a < z->naccess && !z->failed; a++) {
    const struct fuse_access *x = &z->access[a];
    if (x->load && x->joins && x->width) collect(&l, a, false);
  }
  for (uint32_t c = 0; c < l.nchunks && !z->failed; c++) {
    uint32_t n = 0;
    for (uint32_t a = l.chunks[c].leader; a != FUSE_NONE; a = z->access[a].next) list[n++] = a;
    const struct fuse_access *x = &z->access[list[0]];
    uint32_t span = x->bytes * (x->bytes == 8 ? 2 : 4);
    bool vector = x->vector > 1 && stored(&l, x, x->start, x->vector * x->bytes);
    if (vector || (n > 1 && stored(&l, x, x->offset / span * span, span)))
      for (uint32_t i = 0; i < n; i++) z->access[list[i]].note = BESIDE;
    form(&l, list, n, z->access[list[0]].bytes == 8 ? 2 : 4);
  }
  for (uint32_t a = 0; a < z->naccess; a++) {   /* a word by itself of which one half will do */
    struct fuse_access *x = &z->access[a];
    if (!x->load || x->width != 4 || (x->halves != 0x3 && x->halves != 0xc)) continue;
    x->width = 2;
    x->at = x->offset + (x->halves == 0xc ? 2 : 0);
  }
  free(first);
  free(list);
  free(l.hash);
  free(l.chunks);
}
