/* cp.async.bulk: one thread copies a run of bytes between global and shared memory.
 *
 * Into shared memory: the source is read at once; the bytes land when the phase of the copy's
 * mbarrier completes, and until then every access to them is a fault.  Out of shared memory: source
 * and destination wait until the thread waits for the copy's group; a source that has changed by
 * then is a fault, since the hardware may have read either.
 *
 * A reduction (cp.reduce.async.bulk) is a copy out of shared memory whose bytes are added to those
 * in global memory, or combined with them another way, when it is waited for.
 *
 * Counted: sectors, as accesses of 16 bytes a lane; and for shared memory a wavefront for each 128
 * bytes, which is a floor and not a measurement (exact = false). */
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "bulk.h"
#include "rows.h"

enum { CHUNK = 16, MOST_COPIES = 1 << 14, MOST_HELD = 64 << 20 };
enum { BULK_COST = 16 };       /* bytes charged for each that is copied, checked and counted */

static bool checks(const struct warp *w) { return !w->runner->sim->options.no_checks; }

uint64_t bulk_address(struct warp *w, sim_ref row, bool wide, uint64_t add, unsigned lane)
{
  if (wide) return SIM_ROW(u64_row, row)[lane] + add;
  return (uint32_t)(SIM_ROW(u32_row, row)[lane] + (uint32_t)add);
}

bool bulk_shared(struct warp *w, const struct sim_inst *i, unsigned lane, uint64_t address,
                 uint32_t bytes, uint32_t align, const char *what, uint32_t *at)
{
  if (address - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) address -= SIM_SHARED_WINDOW;
  if (address < SIM_SHARED_BASE || address - SIM_SHARED_BASE > w->block->shared_bytes ||
      bytes > w->block->shared_bytes - (address - SIM_SHARED_BASE)) {
    fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
               "%s of %u bytes at 0x%llx, which is not in the block's own shared memory (it has %u bytes): "
               "pass __cvta_generic_to_shared(pointer)", what, bytes, (unsigned long long)address,
               w->block->shared_bytes);
    return false;
  }
  if (address % align) {
    fault_note(w, i, lane, SIM_FAULT_ALIGNMENT, true,
               "%s at shared address 0x%llx, which is no multiple of %u: declare the array "
               "__align__(%u)", what, (unsigned long long)address, align, align);
    return false;
  }
  *at = (uint32_t)address - SIM_SHARED_BASE;
  return true;
}

/* ---- copies of a block ------------------------------------------------------------------------ */

struct bulk_copy *bulk_push(struct warp *w, const struct sim_inst *i, unsigned lane,
                            uint32_t bytes)
{
  struct block *b = w->block;
  if (!b->bulk) b->bulk = calloc(1, sizeof *b->bulk);
  struct bulk *k = b->bulk;
  if (!k) abort();
  if (k->ncopies >= MOST_COPIES || k->held + bytes > MOST_HELD) {
    fault_note(w, i, lane, SIM_FAULT_MEMORY, true,
               "%zu bulk copies are on their way: wait for them in the loop", k->ncopies);
    return NULL;
  }
  if (k->ncopies == k->copies_room) {
    k->copies_room = k->copies_room ? 2 * k->copies_room : 16;
    k->copies = realloc(k->copies, k->copies_room * sizeof *k->copies);
    if (!k->copies) abort();
  }
  struct bulk_copy *c = &k->copies[k->ncopies++];
  k->held += bytes;
  warp_charge(w, (uint64_t)bytes * BULK_COST);
  *c = (struct bulk_copy){.inst = i, .warp = w, .lane = lane, .bytes = bytes,
                          .data = malloc(bytes), .group = k->group[w->id * SIM_LANES + lane]};
  if (!c->data) abort();
  return c;
}

/* Where 16 bytes of a tile lie. */
static uint32_t placed(const struct bulk_copy *c, uint32_t offset)
{
  uint64_t base = c->at + SIM_SHARED_BASE;
  return (uint32_t)(model_tma_swizzle(base + offset, (enum model_tma)c->swizzle) - SIM_SHARED_BASE);
}

void bulk_gather(const struct block *b, const struct bulk_copy *c, uint8_t *out)
{
  for (uint32_t k = 0; k < c->bytes; k += CHUNK) memcpy(out + k, b->shared + placed(c, k), CHUNK);
}

/* The bytes of a copy into shared memory arrive. */
static void land_load(struct block *b, struct bulk_copy *c)
{
  for (uint32_t k = 0; k < c->bytes; k += CHUNK) memcpy(b->shared + placed(c, k), c->data + k, CHUNK);
  if (checks(c->warp)) shadow_landed(b, c->at, c->bytes, SHADOW_ENGINE * SIM_LANES);
  b->bulk->held -= c->bytes;
  free(c->data);
}

void bulk_put(const struct bulk_copy *c, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  if (c->reduce) atomic_elements(c->reduce, c->type, to, from, bytes);
  else memcpy(to, from, bytes);
}

static void land_store(struct block *b, struct bulk_copy *c)
{
  uint8_t *now = malloc(c->bytes);
  if (!now) abort();
  bulk_gather(b, c, now);
  if (checks(c->warp) && memcmp(now, c->data, c->bytes))
    fault_note(c->warp, c->inst, c->lane, SIM_FAULT_RACE, false,
               "the %u bytes this copy takes from shared memory were changed before it was waited "
               "for: cp.async.bulk.commit_group and wait_group.read must stand before they are "
               "written again", c->bytes);
  if (c->box) {
    box_store(c, now);
  } else {
    const struct sim_object *o = memory_find(c->warp->runner->sim, c->to);
    bulk_put(c, o->host + (c->to - o->base), now, c->bytes);
  }
  b->bulk->held -= c->bytes;
  free(now);
  free(c->data);
  free((void *)(uintptr_t)c->box);
}

void bulk_land(struct block *b, uint32_t barrier)
{
  struct bulk *k = b->bulk;
  size_t kept = 0;
  b->shadow.tick++;
  if (k->ncopies) warp_charge(k->copies->warp, k->ncopies * sizeof *k->copies);
  for (size_t n = 0; n < k->ncopies; n++) {
    struct bulk_copy *c = &k->copies[n];
    if (!c->store && c->barrier == barrier) land_load(b, c);
    else k->copies[kept++] = *c;
  }
  k->ncopies = kept;
}

/* Stores of a thread, but for its `keep` latest groups and the open one; of all threads: NULL. */
static void land_stores(struct block *b, const struct warp *w, unsigned lane, uint32_t keep)
{
  struct bulk *k = b->bulk;
  size_t kept = 0;
  if (k->ncopies) warp_charge(k->copies->warp, k->ncopies * sizeof *k->copies);
  for (size_t n = 0; n < k->ncopies; n++) {
    struct bulk_copy *c = &k->copies[n];
    bool due = c->store && (!w || (c->warp == w && c->lane == lane &&
                                   (uint64_t)c->group + keep < k->group[w->id * SIM_LANES + lane]));
    if (due) land_store(b, c);
    else k->copies[kept++] = *c;
  }
  k->ncopies = kept;
}

void bulk_end(struct block *b)
{
  if (b->bulk) land_stores(b, NULL, 0, 0);
}

void bulk_start(struct block *b)
{
  struct bulk *k = b->bulk;
  b->events = b->releases = 0;
  if (!k) return;
  for (size_t n = 0; n < k->ncopies; n++) {
    if (!k->copies[n].store && checks(k->copies[n].warp))
      shadow_forget(b, k->copies[n].at, k->copies[n].bytes);
    free(k->copies[n].data);
    free((void *)(uintptr_t)k->copies[n].box);
  }
  for (size_t n = 0; n < k->nbars; n++) {
    free(k->bars[n].deferred);
    k->bar_at[k->bars[n].at / MBARRIER_BYTES] = 0;
  }
  k->ncopies = k->nbars = k->ndeferred = k->held = 0;
  memset(k->group, 0, sizeof k->group);
}

void bulk_close(struct block *b)
{
  if (!b->bulk) return;
  struct bulk *k = b->bulk;
  for (size_t n = 0; n < k->ncopies; n++) {
    free(k->copies[n].data);
    free((void *)(uintptr_t)k->copies[n].box);
  }
  for (size_t n = 0; n < k->nbars; n++) free(k->bars[n].deferred);
  free(k->copies);
  free(k->bars);
  free(k->bar_at);
  free(k);
  b->bulk = NULL;
}

/* ---- issuing ------------------------------------------------------------------------------------- */

/* Looks at every chunk as an access of the issuing lane, and marks what a load will fill. */
void bulk_touch(struct warp *w, const struct sim_inst *i, const struct bulk_copy *c)
{
  if (!checks(w)) return;
  static const struct pattern blank;
  struct pattern p = blank;
  p.mask = 1u << c->lane;
  for (uint32_t k = 0; k < c->bytes; k += CHUNK)
    shadow_access(w, i, &p, c->at + k, c->store ? ACCESS_LOAD : ACCESS_STORE);
  if (c->store) shadow_copied(w, i, c->lane, c->at, c->bytes);
  else shadow_pending(w->block, c->at, c->bytes, SHADOW_ENGINE * SIM_LANES, i);
}

void bulk_count_shared(struct warp *w, const struct sim_inst *i, uint32_t at, uint32_t bytes)
{
  static const int32_t zeros[SIM_LANES];
  struct site_side *side = count_side(w, i, true);
  uint32_t n = (bytes + 127) / 128;
  struct model_cost cost = {.wavefronts = n, .ideal = n, .phases = 1};
  side->exact = false;
  count_add(w, i, side, 1, (uint64_t)at + SIM_SHARED_BASE, zeros, &cost, true);
  side->bytes += bytes - side->width;
}

/* Runs of whole sixteens: `lanes` addresses a request, in the row `_` receives. */
void bulk_count_global(struct warp *w, const struct sim_inst *g, const uint64_t *from, uint32_t n)
{
  struct span s;
  for (uint32_t k = 0; k < n; k += SIM_LANES) {
    uint32_t lanes = n - k < SIM_LANES ? n - k : SIM_LANES;
    uint32_t left = lanes == SIM_LANES ? SIM_FULL : (1u << lanes) - 1;
    memcpy(SIM_ROW(u64_row, g->a), from + k, lanes * sizeof *from);
    bool fresh = true;
    while (left) {
      uint32_t now = access_span(w, g, left, fresh,
                                 g->op == MODEL_LOAD ? ACCESS_LOAD : ACCESS_STORE, &s);
      if (!now) return;
      left &= ~now;
      fresh = false;
    }
  }
}

static const struct sim_object *global_run(struct warp *w, const struct sim_inst *i, unsigned lane,
                                           uint64_t at, uint32_t bytes, bool store)
{
  const struct sim_object *o = memory_find(w->runner->sim, at);
  const struct sim_object *near = o ? o : memory_nearest(w->runner->sim, at);
  if (at % CHUNK) {
    fault_note(w, i, lane, SIM_FAULT_ALIGNMENT, true,
               "a bulk copy at global address 0x%llx, which is no multiple of 16",
               (unsigned long long)at);
    return NULL;
  }
  if (!o || bytes > o->size - (at - o->base)) {
    char name[MEMORY_CALLED];
    fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
               "a bulk copy %s %u bytes at byte %lld of %s, which has %llu bytes: the number of "
               "bytes is bytes, not elements", store ? "writes" : "reads", bytes,
               near ? (long long)(at - near->base) : (long long)at,
               near ? memory_called(near, name) : "nothing",
               near ? (unsigned long long)near->size : 0ull);
    return NULL;
  }
  if (store && o->read_only) {
    fault_note(w, i, lane, SIM_FAULT_READ_ONLY, true, "a bulk copy writes '%s', which is input only",
               o->name);
    return NULL;
  }
  return o;
}

static bool copy_lane(struct warp *w, const struct sim_inst *i, unsigned lane)
{
  const struct bulk_form *form = i->extra;
  uint32_t bytes = SIM_ROW(u32_row, i->b)[lane], at;
  uint64_t far = bulk_address(w, form->far, form->far_wide, form->far_add, lane);
  if (bytes % CHUNK) {
    fault_note(w, i, lane, SIM_FAULT_ALIGNMENT, true,
               "a bulk copy of %u bytes: the number must be a multiple of 16", bytes);
    return false;
  }
  if (!bytes) return true;
  if (!bulk_shared(w, i, lane, bulk_address(w, i->a, i->flags & SIM_MEM_WIDE_ADDRESS, i->imm, lane),
                   bytes, CHUNK, "a bulk copy", &at))
    return false;
  if (!access_inside(i, (uint64_t)at + SIM_SHARED_BASE, bytes)) {
    fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
               "a bulk copy of %u bytes at byte %lld of an array that has %u: the number of bytes is "
               "bytes, not elements", bytes, (long long)at + SIM_SHARED_BASE - i->low,
               i->high - i->low);
    return false;
  }
  const struct sim_object *o = global_run(w, i, lane, far, bytes, form->store);
  struct mbarrier *m = NULL;
  if (!o) return false;
  if (!form->store) {
    m = mbarrier_find(w, i, lane, bulk_address(w, form->bar, form->bar_wide, form->bar_add, lane), NULL);
    if (!m) return false;
  }
  struct bulk_copy *c = bulk_push(w, i, lane, bytes);
  if (!c) return false;
  c->store = form->store;
  c->at = at;
  c->to = far;
  c->reduce = form->reduce;
  c->type = form->type;
  bulk_touch(w, i, c);
  if (form->store) {
    bulk_gather(w->block, c, c->data);
  } else {
    c->barrier = m->at;
    memcpy(c->data, o->host + (far - o->base), bytes);
    m->coming += bytes;
    w->block->events++;
    w->block->releases = 0;
  }
  uint64_t *from = malloc(bytes / CHUNK * sizeof *from);
  if (!from) abort();
  for (uint32_t k = 0; k < bytes / CHUNK; k++) from[k] = far + k * CHUNK;
  bulk_count_global(w, &form->global, from, bytes / CHUNK);
  free(from);
  bulk_count_shared(w, i, at, bytes);
  return true;
}

HANDLER(bulk_copy)
{
  for (; exec; exec &= exec - 1)
    if (!copy_lane(w, i, first_lane(exec))) return;
}

HANDLER(bulk_commit)
{
  (void)i;
  struct bulk *k = w->block->bulk;
  for (; k && exec; exec &= exec - 1) k->group[w->id * SIM_LANES + first_lane(exec)]++;
}

HANDLER(bulk_wait)
{
  for (; w->block->bulk && exec; exec &= exec - 1)
    land_stores(w->block, w, first_lane(exec), (uint32_t)i->imm);
}

/* ---- lowering -------------------------------------------------------------------------------------- */

static void far_address(struct lowering *l, const struct ptx_operand *o, sim_ref *row, bool *wide,
                        uint64_t *add)
{
  struct sim_inst *s = l->out, other = {0};
  l->out = &other;
  lower_address(l, o);
  l->out = s;
  *row = other.a;
  *wide = other.flags & SIM_MEM_WIDE_ADDRESS;
  *add = other.imm;
}

struct bulk_form *bulk_lower(struct lowering *l, bool store, const struct ptx_operand *shared,
                             const struct ptx_operand *far, const struct ptx_operand *bar)
{
  struct sim_inst *s = l->out;
  struct bulk_form *form = calloc(1, sizeof *form);
  if (!form) abort();
  s->extra = form;
  form->store = store;
  s->space = PTX_SHARED;
  s->width = CHUNK;
  s->elements = 1;
  s->op = store ? MODEL_LOAD : MODEL_STORE;
  s->issue.width = CHUNK;
  lower_address(l, shared);
  s->site = lower_site(l);
  if (far) far_address(l, far, &form->far, &form->far_wide, &form->far_add);
  if (bar) far_address(l, bar, &form->bar, &form->bar_wide, &form->bar_add);
  form->global = (struct sim_inst){.ptx = l->in, .func = l->func, .file = s->file, .line = s->line,
                                   .space = PTX_GLOBAL, .elements = 1, .width = CHUNK,
                                   .op = store ? MODEL_STORE : MODEL_LOAD,
                                   .issue = {.width = CHUNK}, .flags = SIM_MEM_WIDE_ADDRESS};
  l->out = &form->global;
  form->global.site = lower_site(l);
  l->out = s;
  return form;
}

static void lower_bulk(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  const struct ptx_operand *o = in->operands;
  bool store = ptx_has(in, PTX_M_BULK_GROUP);
  if (ptx_has(in, PTX_M_MULTICAST_CLUSTER) || ptx_has(in, PTX_M_CP_MASK)) {
    lower_refuse(l, "copies to several blocks of a cluster, and with a mask, are not simulated");
  } else if (ptx_has(in, PTX_M_IGNORE_OOB)) {
    lower_refuse(l, "copies that ignore bytes out of bounds are not simulated");
  } else if (!ptx_has(in, PTX_M_GLOBAL)) {
    lower_refuse(l, "bulk copies between blocks of a cluster are not simulated");
  } else if (!store && (in->noperands < 4 || o[3].kind != PTX_O_ADDRESS)) {
    lower_refuse(l, "the mbarrier is missing");
  } else {
    bulk_lower(l, store, &o[store], &o[!store], store ? NULL : &o[3]);
    l->out->b = lower_source(l, &o[2], 32);
    l->out->run = bulk_copy;
  }
}
void bulk_lower_reduce(struct lowering *l, struct bulk_form *form)
{
  const struct ptx_inst *in = l->in;
  form->type = in->ntypes ? (enum ptx_type)in->types[0] : PTX_NOTYPE;
  form->reduce = atomic_op(in, in->ntypes ? form->type : PTX_T_U32);
  if (!in->ntypes && !form->reduce) form->reduce = atomic_op(in, PTX_T_B32);
  if (!form->reduce) lower_refuse(l, "this operation does not go with this type");
}

/* Reductions of a run of shared memory into global memory.  They are counted as the copies are:
 * that is analogy, not a measurement (exact = false, see bulk_count_shared). */
static void lower_bulk_reduce(struct lowering *l)
{
  const struct ptx_operand *o = l->in->operands;
  if (!ptx_has(l->in, PTX_M_GLOBAL)) {
    lower_refuse(l, "bulk reductions between blocks of a cluster are not simulated");
    return;
  }
  struct bulk_form *form = bulk_lower(l, true, &o[1], &o[0], NULL);
  l->out->b = lower_source(l, &o[2], 32);
  l->out->run = bulk_copy;
  bulk_lower_reduce(l, form);
}
static void lower_bulk_commit(struct lowering *l) { l->out->run = bulk_commit; }
static void lower_bulk_wait(struct lowering *l)
{
  const struct ptx_operand *n = &l->in->operands[0];
  if (n->kind != PTX_O_IMM) lower_refuse(l, "the number of groups must be a constant");
  l->out->imm = n->imm > 0x7fffffff ? 0x7fffffff : n->imm;
  l->out->run = bulk_wait;
}

const struct sim_form sim_forms_bulk[] = {
    FORM_ANY(CP_ASYNC_BULK, lower_bulk),
    FORM_ANY(CP_REDUCE_ASYNC_BULK, lower_bulk_reduce),
    FORM_ANY(CP_ASYNC_BULK_COMMIT_GROUP, lower_bulk_commit),
    FORM_ANY(CP_ASYNC_BULK_WAIT_GROUP, lower_bulk_wait),
    {.op = PTX_OPS},
};
