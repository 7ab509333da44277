/* Device memory: buffers and module-scope variables, each at an address of its own with a wide gap
 * after it, so that an address names its object or, when it lies in a gap, the one it ran out of.
 * Addresses only grow; the array of objects stays sorted.  Constant memory is flat memory that may
 * not be written: the same addresses, so cvta has nothing to do.
 *
 * A module's variable gets its bytes at load.  How shared variables lie is decided per kernel, in
 * layout.c. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { ALIGN = 256, GAP = 1 << 20 };

struct sim_object *memory_add(struct sim *sim, uint64_t bytes, const char *name)
{
  uint64_t limit = sim->options.memory_limit;
  if (bytes > limit || sim->used > limit - bytes) return NULL;
  if (sim->next_base > SIM_HEAP_WINDOW - GAP || bytes > SIM_HEAP_WINDOW - GAP - sim->next_base) return NULL;
  struct sim_object *more =
      realloc(sim->objects, (sim->nobjects + 1) * sizeof *sim->objects);
  if (!more) return NULL;
  sim->objects = more;
  uint8_t *host = calloc(1, bytes ? bytes : 1);
  if (!host) return NULL;
  struct sim_object *o = &sim->objects[sim->nobjects++];
  *o = (struct sim_object){.base = sim->next_base, .size = bytes, .host = host};
  size_t n = strlen(name);
  if (n >= sizeof o->name) n = sizeof o->name - 1;
  memcpy(o->name, name, n);
  sim->used += bytes;
  sim->next_base = round_up(o->base + bytes + (bytes > GAP ? bytes : GAP), ALIGN);
  return o;
}

struct sim_object *memory_find_base(const struct sim *sim, uint64_t address)
{
  if (address >= SIM_HEAP_WINDOW && sim->heap.n) return heap_before(sim, address);
  size_t lo = 0, hi = sim->nobjects;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (sim->objects[mid].base <= address) lo = mid + 1;
    else hi = mid;
  }
  return lo ? &sim->objects[lo - 1] : NULL;
}

struct sim_object *memory_find(const struct sim *sim, uint64_t address)
{
  struct sim_object *o = memory_find_base(sim, address);
  return o && address - o->base < o->size ? o : NULL;
}

struct sim_object *memory_nearest(const struct sim *sim, uint64_t address)
{
  if (!sim->nobjects || address < SIM_GLOBAL_WINDOW / 2) return NULL;
  if (address >= SIM_HEAP_WINDOW && sim->heap.n) return heap_nearest(sim, address);
  struct sim_object *o = memory_find_base(sim, address);
  if (!o) return &sim->objects[0];
  struct sim_object *next = o + 1;
  if (next < sim->objects + sim->nobjects &&
      next->base - address < address - (o->base + o->size))
    return next;
  return o;
}

/* The first object is the kernel's parameters, which stay. */
static void drop(struct sim *sim, bool module)
{
  size_t kept = 1;
  for (size_t k = 1; k < sim->nobjects; k++) {
    struct sim_object *o = &sim->objects[k];
    if (o->module == module) {
      sim->used -= o->size;
      free(o->host);
    } else {
      sim->objects[kept++] = *o;
    }
  }
  sim->nobjects = kept;
}

const char *memory_called(const struct sim_object *o, char out[MEMORY_CALLED])
{
  snprintf(out, MEMORY_CALLED, o->heap ? "%s" : "'%s'", o->name);
  return out;
}

void memory_drop_module(struct sim *sim) { drop(sim, true); }
void sim_free_all(struct sim *sim)
{
  drop(sim, false);
  heap_close(sim);
}

uint64_t sim_alloc(struct sim *sim, size_t bytes, const char *name, bool read_only)
{
  struct sim_object *o = memory_add(sim, bytes, name ? name : "buffer");
  if (!o) return 0;
  o->read_only = read_only;
  return o->base;
}

void *sim_host(struct sim *sim, uint64_t address, size_t bytes)
{
  struct sim_object *o = memory_find_base(sim, address);
  if (!o || address - o->base > o->size || bytes > o->size - (address - o->base)) return NULL;
  return o->host + (address - o->base);
}

bool sim_same_memory(const struct sim *a, const struct sim *b)
{
  bool same = a->nobjects == b->nobjects;
  for (size_t k = 0; same && k < a->nobjects; k++) {
    const struct sim_object *x = &a->objects[k], *y = &b->objects[k];
    same = x->base == y->base && x->size == y->size && !memcmp(x->host, y->host, x->size);
  }
  return same && heap_same(a, b);
}

uint64_t sim_symbol(struct sim *sim, const char *name, size_t *bytes)
{
  struct ptx_symbol *s = sim->module ? ptx_find_symbol(sim->module, name) : NULL;
  if (!s || (s->space != PTX_GLOBAL && s->space != PTX_CONST)) return 0;
  if (bytes) *bytes = s->bytes;
  return s->offset;
}

static bool place(struct sim *sim, struct ptx_symbol *s, struct ptx_error *error)
{
  if (s->space != PTX_GLOBAL && s->space != PTX_CONST) return true;
  if (s->is_extern && s->bytes == 0) {
    error->line = s->line;
    snprintf(error->text, sizeof error->text,
             "the variable '%s' is declared extern and no module defines it", s->name);
    return false;
  }
  char name[64];
  memory_plain_name(s->name, name, sizeof name);
  struct sim_object *o = memory_add(sim, s->bytes, name);
  if (!o) {
    error->line = s->line;
    snprintf(error->text, sizeof error->text,
             "no room for the variable '%s' of %llu bytes: the limit is %llu bytes in all", s->name,
             (unsigned long long)s->bytes, (unsigned long long)sim->options.memory_limit);
    return false;
  }
  o->module = true;
  o->read_only = s->space == PTX_CONST;
  s->offset = o->base;
  if (s->init) memcpy(o->host, s->init, s->init_bytes < s->bytes ? s->init_bytes : s->bytes);
  return true;
}

/* Addresses inside initialisers, once every variable has its place. */
static void relocate(struct sim *sim, struct ptx_symbol *s)
{
  if (s->space != PTX_GLOBAL && s->space != PTX_CONST) return;
  for (size_t k = 0; k < s->nrelocs; k++) {
    const struct ptx_reloc *r = &s->relocs[k];
    uint64_t value = r->addend;
    if (r->symbol) value += r->symbol->offset;
    for (size_t f = 0; r->function && f < sim->module->nfunctions; f++)
      if (sim->module->functions[f] == r->function) value += SIM_FUNCTION_WINDOW + 16 * f;
    uint8_t *at = sim_host(sim, s->offset + r->at, 8);
    if (at) memcpy(at, &value, 8);
  }
}

static void better(const struct ptx_symbol *s, uint64_t offset, const struct ptx_symbol **best)
{
  if (s->space != PTX_SHARED || !s->offset || s->offset > offset) return;
  if (s->bytes && offset - s->offset >= s->bytes) return;
  if (!*best || s->offset > (*best)->offset) *best = s;
}

const struct ptx_symbol *memory_shared_symbol(const struct sim *sim, uint64_t offset)
{
  const struct ptx_module *m = sim->module;
  const struct ptx_symbol *best = NULL;
  for (size_t k = 0; k < m->nsymbols; k++) better(m->symbols[k], offset, &best);
  for (size_t f = 0; f < m->nfunctions; f++)
    for (size_t k = 0; k < m->functions[f]->nsymbols; k++)
      better(m->functions[f]->symbols[k], offset, &best);
  return best;
}

/* A local static of C++ is _ZZ function E length name; anything else stays as it is. */
void memory_plain_name(const char *name, char *out, size_t size)
{
  const char *plain = name;
  size_t n = strlen(name);
  if (!strncmp(name, "_ZZ", 3)) {
    for (const char *e = name; (e = strchr(e, 'E')) != NULL; e++) {
      char *rest;
      unsigned long length = strtoul(e + 1, &rest, 10);
      if (rest > e + 1 && length && length <= strlen(rest)) {
        plain = rest;
        n = length;
      }
    }
  }
  if (n >= size) n = size - 1;
  memcpy(out, plain, n);
  out[n] = 0;
}

bool memory_load_module(struct sim *sim, struct ptx_error *error)
{
  struct ptx_module *m = sim->module;
  for (size_t k = 0; k < m->nsymbols; k++)
    if (!place(sim, m->symbols[k], error)) return false;
  for (size_t f = 0; f < m->nfunctions; f++)
    for (size_t k = 0; k < m->functions[f]->nsymbols; k++)
      if (!place(sim, m->functions[f]->symbols[k], error)) return false;
  for (size_t k = 0; k < m->nsymbols; k++) relocate(sim, m->symbols[k]);
  for (size_t f = 0; f < m->nfunctions; f++)
    for (size_t k = 0; k < m->functions[f]->nsymbols; k++)
      relocate(sim, m->functions[f]->symbols[k]);
  return true;
}
