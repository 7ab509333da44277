/* Runs of stores within a straight line of code.
 *
 * Consecutive stores to one aligned chunk (four elements, 16 bytes, or what can be proven) are
 * issued together at the last of them: all of it, or aligned halves; never three of four.  Any
 * other shared access, a second store to an element, or another chunk ends the run.
 *
 * A store that the next one repeats, same place and width, is not issued; but only the last stores
 * to a place are looked at: where another one to it stands further down the same straight line, with
 * whatever between, those before it all stay.
 */
#include "fuse.h"
#include <stdlib.h>

#define SEVERAL "which of several stores to one place stays, and joins"

struct issued {
  uint32_t access;
  bool follows;                 /* the one before it in the list, with nothing of shared memory between */
};

struct run {
  struct fuse *z;
  uint32_t member[4];           /* by element: access, or FUSE_NONE */
  uint32_t count, elements;     /* present; in the chunk */
  uint32_t base, at, bytes;
  bool follows;                 /* nothing else stands between the store issued before and this run */
  struct issued *list;          /* issued by the straight line so far */
  uint32_t nlist, list_cap;
};

static void start(struct run *r)
{
  for (int e = 0; e < 4; e++) r->member[e] = FUSE_NONE;
  r->count = 0;
}

/* Joins elements [from, from + n) of the run as wide as they allow; adds what issues to `issued`. */
static void join(struct run *r, uint32_t from, uint32_t n, uint32_t issued[4], unsigned *nissued)
{
  struct fuse *z = r->z;
  uint32_t last = 0, present = 0;
  for (uint32_t e = from; e < from + n; e++)
    if (r->member[e] != FUSE_NONE) {
      present++;
      if (r->member[e] > last) last = r->member[e];
    }
  if (present == 0) return;
  if (present < n) {
    join(r, from, n / 2, issued, nissued);
    join(r, from + n / 2, n / 2, issued, nissued);
    return;
  }
  for (uint32_t e = from; e < from + n; e++) {
    z->access[r->member[e]].issuer = last;
    z->access[r->member[e]].width = 0;
  }
  z->access[last].at = r->at + from * r->bytes;
  z->access[last].width = n * r->bytes;
  issued[(*nissued)++] = last;
}

/* A run that began with a vector takes only vectors like it; with anything else among them all are
 * left as written. */
static bool mixed(const struct run *r)
{
  uint32_t first = FUSE_NONE;
  for (uint32_t e = 0; e < r->elements; e++)
    if (r->member[e] < first) first = r->member[e];
  unsigned vector = r->z->access[first].vector;
  for (uint32_t e = 0; e < r->elements; e++)
    if (r->member[e] != FUSE_NONE && r->z->access[r->member[e]].vector != vector) return vector > 1;
  return false;
}

static void finish(struct run *r)
{
  uint32_t issued[4];
  unsigned n = 0;
  if (r->count && mixed(r)) {
    for (uint32_t e = 0, vector; e < r->elements; e += vector) {
      vector = r->member[e] == FUSE_NONE ? 1 : r->z->access[r->member[e]].vector;
      join(r, e, vector, issued, &n);
    }
  } else if (r->count) {
    join(r, 0, r->elements, issued, &n);
  }
  for (; n > 0; n--) {          /* in the order they are issued */
    unsigned first = 0;
    for (unsigned i = 1; i < n; i++)
      if (issued[i] < issued[first]) first = i;
    if (fuse_grow(r->z, &r->list, r->nlist, &r->list_cap, sizeof *r->list))
      r->list[r->nlist++] = (struct issued){issued[first], r->follows};
    r->follows = true;
    issued[first] = issued[n - 1];
  }
  start(r);
}

static bool same_place(const struct fuse_access *a, const struct fuse_access *b)
{
  return a->base == b->base && a->at == b->at && a->width == b->width;
}

/* The list at the end of a straight line, from its last store up. */
static void drop_repeats(struct run *r)
{
  struct fuse *z = r->z;
  uint32_t next = FUSE_NONE;    /* the store kept below */
  bool follows = false;         /* ... and nothing between */
  finish(r);
  r->follows = false;
  if (r->nlist < 2) {
    r->nlist = 0;
    return;
  }
  uint32_t size = 4;
  while (size < 2 * r->nlist) size *= 2;
  uint32_t *seen = calloc(size, sizeof *seen);   /* hash of the places: number in the list + 1 */
  if (!seen) z->failed = "out of memory";
  uint32_t line = r->nlist - 1; /* the last store with nothing but stores between it and here */
  for (uint32_t i = r->nlist; !z->failed && i-- > 0;) {
    struct fuse_access *a = &z->access[r->list[i].access];
    uint32_t h = a->base * 0x9e3779b1u ^ a->at * 0x85ebca6bu ^ a->width;
    h = (h ^ h >> 15) * 0x7feb352du;
    h = (h ^ h >> 16) & (size - 1);
    while (seen[h] && !same_place(&z->access[r->list[seen[h] - 1].access], a))
      h = (h + 1) & (size - 1);
    /* One after another: what ptxas makes of those is not always known. */
    if (seen[h] && seen[h] - 1 <= line) a->note = z->access[r->list[seen[h] - 1].access].note = SEVERAL;
    bool repeated = seen[h] && seen[h] - 1 == next && follows;
    follows = r->list[i].follows;
    if (!follows) line = i ? i - 1 : 0;
    if (repeated) {
      a->width = 0;
      a->issuer = FUSE_NONE;
      continue;
    }
    if (!seen[h]) {
      seen[h] = i + 1;
      next = i;
    } else {
      next = FUSE_NONE;         /* a place seen before: those above stay */
    }
  }
  free(seen);
  r->nlist = 0;
}

static void add(struct run *r, uint32_t access)
{
  const struct fuse_access *a = &r->z->access[access];
  uint32_t elements = a->most, at = a->offset / (elements * a->bytes) * elements * a->bytes;
  uint32_t e = (a->offset - at) / a->bytes;
  if (r->count && (r->base != a->base || r->at != at || r->bytes != a->bytes ||
                   r->elements != elements || r->member[e] != FUSE_NONE))
    finish(r);
  r->base = a->base;
  r->at = at;
  r->bytes = a->bytes;
  r->elements = elements;
  r->member[e] = access;
  r->count++;
}

/* Whether a store, one element of it or more, writes what the run has already; a vector's elements
 * then all begin a new run. */
static bool repeats(const struct run *r, uint32_t access, uint32_t inst)
{
  for (uint32_t a = access; r->count && a < r->z->naccess && r->z->access[a].inst == inst; a++) {
    const struct fuse_access *x = &r->z->access[a];
    if (x->load || !x->joins || x->base != r->base || x->bytes != r->bytes) continue;
    uint32_t e = (x->offset - r->at) / r->bytes;
    if (e < r->elements && r->member[e] != FUSE_NONE) return true;
  }
  return false;
}

void fuse_stores(struct fuse *z)
{
  struct run r = {.z = z};
  uint32_t segment = FUSE_NONE, a = 0;
  start(&r);
  for (uint32_t k = 0; k < z->nrpo; k++) {
    const struct fuse_block *b = &z->blocks[z->rpo[k]];
    for (uint32_t i = b->first; i < b->end; i++) {
      if (z->segment[i] != segment) drop_repeats(&r);
      segment = z->segment[i];
      bool joins = false, other = false;
      if (repeats(&r, a, i)) finish(&r);
      for (; a < z->naccess && z->access[a].inst == i; a++) {
        if (!z->access[a].load && z->access[a].joins) {
          add(&r, a);
          joins = true;
        } else if (z->access[a].width) {
          other = true;
        }
      }
      const struct ptx_inst *in = &z->f->insts[i];
      if (in->op == PTX_LD && in->space == PTX_GENERIC) other = true;
      if (other || (!joins && fuse_separates(z, i))) {
        finish(&r);
        r.follows = false;
      }
    }
  }
  drop_repeats(&r);
  free(r.list);
}
