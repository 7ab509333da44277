/* The device heap: malloc, free, new and delete in a kernel.
 *
 * A block is an object like a buffer: at an address of its own with a wide gap after it, so that every
 * access outside it is told.  Addresses only grow and a block that was freed is remembered, empty, so
 * that its use is told as well; when very many are, the oldest story ends and its address is nowhere.
 * A block that is not freed stays for later launches of the device.  Contents are the poison of
 * whatever was never written.
 *
 * Blocks come out of the budget of buffers, memory_limit, with what it takes to keep them; malloc then
 * gives NULL.  A GPU's heap has 8 MiB unless the host asks for more, and where a block lies in a sector
 * is its affair: the sectors of an access to a block are not exact. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { GAP = 64 << 10, KEEPING = 256, MOST_FREED = 1 << 16 };

bool sim_heap_apart(uint64_t a, uint64_t b)
{
  return a >= SIM_HEAP_WINDOW && b >= SIM_HEAP_WINDOW && (a > b ? a - b : b - a) >= GAP;
}

/* The place in the list of the first block that starts after the address. */
static size_t place_after(const struct heap *h, uint64_t address)
{
  size_t lo = 0, hi = h->n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (h->blocks[mid]->base <= address) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

struct sim_object *heap_before(const struct sim *sim, uint64_t address)
{
  size_t k = place_after(&sim->heap, address);
  return k ? sim->heap.blocks[k - 1] : NULL;
}

struct sim_object *heap_nearest(const struct sim *sim, uint64_t address)
{
  size_t k = place_after(&sim->heap, address);
  struct sim_object *o = k ? sim->heap.blocks[k - 1] : NULL;
  struct sim_object *next = k < sim->heap.n ? sim->heap.blocks[k] : NULL;
  if (!o || !next) return o ? o : next;
  return next->base - address < address - (o->base + o->size) ? next : o;
}

/* A new block; its address, or 0.  Filling it takes time, which the launch's budget pays. */
static uint64_t take(struct warp *w, uint64_t bytes, uint64_t align)
{
  struct sim *sim = w->runner->sim;
  struct heap *h = &sim->heap;
  uint64_t limit = sim->options.memory_limit;
  if (bytes > limit || sim->used + KEEPING > limit - bytes) return 0;
  uint64_t base = round_up(h->next ? h->next : SIM_HEAP_WINDOW + GAP, align);
  if (base + bytes > SIM_HEAP_END) return 0;
  if (h->n == h->room) {
    size_t room = h->room ? 2 * h->room : 64;
    struct sim_object **more = realloc(h->blocks, room * sizeof *more);
    if (!more) return 0;
    h->blocks = more;
    h->room = room;
  }
  struct sim_object *o = calloc(1, sizeof *o);
  uint8_t *host = malloc(bytes + 1);
  if (!o || !host) {
    free(o);
    free(host);
    return 0;
  }
  memset(host, (int)(0xa5 ^ (sim->options.seed & 0x5a)), bytes);
  *o = (struct sim_object){.base = base, .size = bytes, .host = host, .heap = true};
  snprintf(o->name, sizeof o->name, "a block of malloc");
  h->blocks[h->n++] = o;
  h->next = base + bytes + (bytes > GAP ? bytes : GAP);
  sim->used += bytes + KEEPING;
  warp_charge(w, bytes);
  return base;
}

/* Ends the story of freed blocks; sites may know them. */
static void forget_freed(struct runner *t)
{
  struct heap *h = &t->sim->heap;
  size_t kept = 0;
  for (uint32_t s = 0; s < t->sim->nsites; s++) t->sites[s].object = NULL;
  for (size_t k = 0; k < h->n; k++) {
    if (h->blocks[k]->host) h->blocks[kept++] = h->blocks[k];
    else free(h->blocks[k]);
  }
  h->n = kept;
  h->freed = 0;
}

static void give_back(struct runner *t, struct sim_object *o)
{
  struct heap *h = &t->sim->heap;
  t->sim->used -= o->size + KEEPING;
  free(o->host);
  o->host = NULL;
  o->was = o->size;
  o->size = 0;
  snprintf(o->name, sizeof o->name, "a block that was freed");
  if (++h->freed > MOST_FREED) forget_freed(t);
}

void heap_close(struct sim *sim)
{
  struct heap *h = &sim->heap;
  for (size_t k = 0; k < h->n; k++) {
    if (h->blocks[k]->host) sim->used -= h->blocks[k]->size + KEEPING;
    free(h->blocks[k]->host);
    free(h->blocks[k]);
  }
  free(h->blocks);
  *h = (struct heap){.next = h->next};
}

bool heap_same(const struct sim *a, const struct sim *b)
{
  const struct heap *g = &a->heap, *h = &b->heap;
  bool same = g->n == h->n;
  for (size_t k = 0; same && k < g->n; k++) {
    const struct sim_object *x = g->blocks[k], *y = h->blocks[k];
    same = x->base == y->base && x->size == y->size && !memcmp(x->host, y->host, x->size);
  }
  return same;
}

/* ---- calls ------------------------------------------------------------------------------------- */

void exec_malloc(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    call_result(w, i, l, take(w, call_argument(w, i, l, 0), 16));
  }
}

void exec_aligned_malloc(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint64_t align = call_argument(w, i, l, 1);
    bool power = align && !(align & (align - 1)) && align <= 1 << 20;
    call_result(w, i, l, power ? take(w, call_argument(w, i, l, 0),
                                      align < 16 ? 16 : align) : 0);
  }
}

void exec_free(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint64_t at = call_argument(w, i, l, 0);
    if (!at) continue;
    struct sim_object *o = memory_find_base(w->runner->sim, at);
    if (o && o->heap && o->base == at && o->host) {
      give_back(w->runner, o);
      continue;
    }
    unsigned long long offset = o ? at - o->base : 0;
    if (o && o->heap && !o->host && at - o->base <= o->was)
      fault_note(w, i, l, SIM_FAULT_HEAP, true,
                 "frees 0x%llx, which was freed before: each block of malloc or new is freed once",
                 (unsigned long long)at);
    else if (o && offset <= o->size)
      fault_note(w, i, l, SIM_FAULT_HEAP, true,
                 "frees byte %llu of %s%s%s: free and delete take what malloc or new gave in a kernel",
                 offset, o->heap ? "" : "'", o->name, o->heap ? "" : "'");
    else
      fault_note(w, i, l, SIM_FAULT_HEAP, true,
                 "frees 0x%llx, which neither malloc nor new gave in a kernel", (unsigned long long)at);
    return;
  }
}
