/* Runs of stores within a straight line of code.
 *
 * Consecutive stores to one aligned chunk (four elements, 16 bytes, or what can be proven) are
 * issued together at the last of them: all of it, or aligned halves; never three of four.  Any
 * other shared access, a second store to an element, or another chunk ends the run.  A store that
 * the next one repeats, same place and width, is not issued.
 */
#include "fuse.h"

struct run {
  struct fuse *z;
  uint32_t member[4];           /* by element: access, or FUSE_NONE */
  uint32_t count, elements;     /* present; in the chunk */
  uint32_t base, at, bytes;
  uint32_t before;              /* the store issued just before this run, or FUSE_NONE */
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
    struct fuse_access *a = &r->z->access[issued[first]];
    struct fuse_access *b = r->before == FUSE_NONE ? NULL : &r->z->access[r->before];
    if (b && b->base == a->base && b->at == a->at && b->width == a->width) {
      b->width = 0;
      b->issuer = FUSE_NONE;
    }
    r->before = issued[first];
    issued[first] = issued[n - 1];
  }
  start(r);
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
  struct run r = {.z = z, .before = FUSE_NONE};
  uint32_t chain = FUSE_NONE, a = 0;
  start(&r);
  for (uint32_t k = 0; k < z->nrpo; k++) {
    const struct fuse_block *b = &z->blocks[z->rpo[k]];
    if (b->chain != chain) {
      finish(&r);
      r.before = FUSE_NONE;
    }
    chain = b->chain;
    for (uint32_t i = b->first; i < b->end; i++) {
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
        r.before = FUSE_NONE;
      }
    }
  }
  finish(&r);
}
