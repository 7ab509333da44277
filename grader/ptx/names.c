/* Memory, and the meaning of names.
 *
 * One hash table holds every name of the text, keyed by (scope, label or not, spelling).  A
 * look-up walks the open scopes from the inside; their number is limited, so it costs a constant.
 * The registers of a range, .reg .b32 %r<40>, come to life when first used: declaring a million
 * registers costs nothing, and the function's register file holds only what it touches. */
#include "ptx/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct block {
  struct block *next;
  size_t used, size;
  _Alignas(16) unsigned char bytes[];
};

struct ptx_arena {
  struct block *blocks;
};

void *ptx_alloc(struct reader *r, size_t count, size_t size)
{
  struct ptx_arena **arena = &r->module->arena;
  if (!*arena && !(*arena = calloc(1, sizeof **arena))) ptx_fail(r, r->line, "out of memory");
  if (size && count > SIZE_MAX / 2 / size) ptx_fail(r, r->line, "out of memory");
  size_t bytes = (count * size + 15) & ~(size_t)15;
  struct block *b = (*arena)->blocks;
  if (!b || b->size - b->used < bytes) {
    size_t room = bytes > 1 << 14 ? bytes : 1 << 16;
    struct block *fresh = calloc(1, sizeof *fresh + room);
    if (!fresh) ptx_fail(r, r->line, "out of memory");
    fresh->size = room;
    if (b && room == bytes) {      /* a large one: keep filling the block in use */
      fresh->used = bytes;
      fresh->next = b->next;
      b->next = fresh;
      return fresh->bytes;
    }
    fresh->next = b;
    (*arena)->blocks = b = fresh;
  }
  void *at = b->bytes + b->used;
  b->used += bytes;
  return at;
}

void ptx_arena_free(struct ptx_arena *arena)
{
  if (!arena) return;
  for (struct block *b = arena->blocks, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  free(arena);
}

char *ptx_text(struct reader *r, struct span s)
{
  char *copy = ptx_alloc(r, s.n + 1, 1);
  memcpy(copy, s.s, s.n);
  return copy;
}

void *ptx_vec_grow(struct reader *r, void *at, size_t n, size_t *cap, size_t size)
{
  size_t more = n ? n * 2 : 16;
  void *p = realloc(at, more * size);
  if (!p) ptx_fail(r, r->line, "out of memory");
  *cap = more;
  return p;
}

void *ptx_vec_copy(struct reader *r, const void *at, size_t n, size_t size)
{
  if (!n) return NULL;
  void *copy = ptx_alloc(r, n, size);
  memcpy(copy, at, n * size);
  return copy;
}

struct name {
  struct name *next;
  uint64_t hash;
  struct span text;
  uint32_t scope;
  enum name_kind kind;
  struct entity entity;
};

struct names {
  struct name **buckets;
  size_t nbuckets, count;
  uint64_t seed;                 /* random: a text cannot be written so that all names collide */
};

struct names *ptx_names_new(void)
{
  struct names *n = calloc(1, sizeof *n);
  if (!n) return NULL;
  n->nbuckets = 256;
  n->buckets = calloc(n->nbuckets, sizeof *n->buckets);
  if (!n->buckets) {
    free(n);
    return NULL;
  }
  if (getrandom(&n->seed, sizeof n->seed, 0) != sizeof n->seed) n->seed = (uintptr_t)n;
  return n;
}

void ptx_names_free(struct names *names)
{
  if (!names) return;
  free(names->buckets);          /* the names themselves lie in the arena */
  free(names);
}

uint64_t ptx_hash(struct span s, uint64_t seed)
{
  uint64_t h = seed ^ 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < s.n; i++) {
    h = (h ^ (unsigned char)s.s[i]) * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
  }
  return h ^ h >> 29;
}

static uint64_t key_hash(const struct names *n, uint32_t scope, enum name_kind kind,
                         struct span name)
{
  return ptx_hash(name, n->seed + ((uint64_t)scope << 2 | kind) * 0x2545f4914f6cdd1du);
}

struct entity *ptx_name_in(struct reader *r, uint32_t scope, enum name_kind kind, struct span name)
{
  struct names *n = r->names;
  uint64_t h = key_hash(n, scope, kind, name);
  for (struct name *e = n->buckets[h & (n->nbuckets - 1)]; e; e = e->next)
    if (e->hash == h && e->scope == scope && e->kind == kind && e->text.n == name.n &&
        memcmp(e->text.s, name.s, name.n) == 0)
      return &e->entity;
  return NULL;
}

struct entity *ptx_name_add(struct reader *r, uint32_t scope, enum name_kind kind,
                            struct span name)
{
  struct names *n = r->names;
  if (ptx_name_in(r, scope, kind, name)) return NULL;
  if (n->count == n->nbuckets) {
    struct name **wider = calloc(n->nbuckets * 2, sizeof *wider);
    if (!wider) ptx_fail(r, r->line, "out of memory");
    for (size_t i = 0; i < n->nbuckets; i++)
      for (struct name *e = n->buckets[i], *next; e; e = next) {
        next = e->next;
        size_t to = e->hash & (n->nbuckets * 2 - 1);
        e->next = wider[to];
        wider[to] = e;
      }
    free(n->buckets);
    n->buckets = wider;
    n->nbuckets *= 2;
  }
  struct name *e = ptx_alloc(r, 1, sizeof *e);
  e->hash = key_hash(n, scope, kind, name);
  e->text = name;
  e->scope = scope;
  e->kind = kind;
  e->next = n->buckets[e->hash & (n->nbuckets - 1)];
  n->buckets[e->hash & (n->nbuckets - 1)] = e;
  n->count++;
  return &e->entity;
}

/* %r17 from a range %r<40>, or x15 from x1<10>: any split of the trailing digits may be meant. */
static struct entity *from_range(struct reader *r, uint32_t scope, struct span name)
{
  size_t digits = 0;
  while (digits < name.n - 1 && digits < 9 && name.s[name.n - 1 - digits] >= '0' &&
         name.s[name.n - 1 - digits] <= '9')
    digits++;
  for (size_t k = digits; k > 0; k--) {
    const char *number = name.s + name.n - k;
    if (*number == '0' && k > 1) continue;
    struct span prefix = { name.s, name.n - k };
    struct entity *range = ptx_name_in(r, scope, N_RANGE, prefix);
    if (!range) continue;
    uint32_t value = 0;
    for (size_t i = 0; i < k; i++) value = value * 10 + (uint32_t)(number[i] - '0');
    if (value >= range->count) continue;
    enum ptx_type type = range->type;
    uint32_t vector = range->vector;
    struct entity *e = ptx_name_add(r, scope, N_NAME, name);
    if (vector == 1) {
      e->kind = E_REG;
      e->index = ptx_new_register(r, name, "", type);
    } else {
      static const char *const parts[] = { ".x", ".y", ".z", ".w" };
      e->kind = E_REGS;
      e->count = vector;
      for (uint32_t i = 0; i < vector; i++) {
        uint32_t index = ptx_new_register(r, name, parts[i], type);
        if (!i) e->index = index;
      }
    }
    return e;
  }
  return NULL;
}

struct entity *ptx_name_find(struct reader *r, struct span name)
{
  for (unsigned d = r->depth + 1; d-- > 0;) {
    struct entity *e = ptx_name_in(r, r->scopes[d].id, N_NAME, name);
    if (e) return e;
    if (r->scopes[d].has_ranges && (e = from_range(r, r->scopes[d].id, name))) return e;
  }
  return NULL;
}
