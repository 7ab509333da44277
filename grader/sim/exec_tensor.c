/* cp.async.bulk.tensor in tile mode: one thread copies a box of a tensor (the TMA).
 *
 * The box lies dense in shared memory, innermost dimension first, each 16 bytes moved to where the
 * swizzle of the map puts their address.  What is outside the tensor is filled on the way in (and
 * counts among the bytes the mbarrier expects) and left out on the way out. */
#include <stdlib.h>
#include <string.h>

#include "bulk.h"
#include "rows.h"
#include "tensormap.h"

enum { CHUNK = 16, TILE_ALIGN = 128 };

struct box {
  struct sim_tensor map;
  int32_t at[SIM_TENSOR_RANK];
};

/* Calls row(context, address, offset in the tile, bytes) for what of each row is in the tensor. */
typedef void box_row(void *context, uint64_t address, uint32_t offset, uint32_t bytes);
static void walk(const struct box *x, box_row *row, void *context)
{
  const struct sim_tensor *m = &x->map;
  uint32_t rows = 1, inner = (uint32_t)m->box[0] * m->element;
  for (unsigned k = 1; k < m->rank; k++) rows *= m->box[k];
  int64_t from = x->at[0] < 0 ? -(int64_t)x->at[0] : 0;
  int64_t to = (int64_t)m->dims[0] - x->at[0];
  if (to > m->box[0]) to = m->box[0];
  if (from >= to) return;
  for (uint32_t r = 0; r < rows; r++) {
    uint64_t address = m->address;
    uint32_t left = r;
    bool inside = true;
    for (unsigned k = 1; k < m->rank; k++) {
      int64_t c = (int64_t)x->at[k] + left % m->box[k];
      left /= m->box[k];
      inside &= c >= 0 && c < (int64_t)m->dims[k];
      address += (uint64_t)c * m->strides[k - 1];
    }
    if (inside)
      row(context, address + (uint64_t)(x->at[0] + from) * m->element,
          r * inner + (uint32_t)from * m->element, (uint32_t)(to - from) * m->element);
  }
}

struct moving {
  const struct sim_object *object;
  uint8_t *tile;               /* in; out when `store` */
  bool store;
  const struct bulk_copy *copy;    /* store */
  uint64_t *touched;           /* sixteens of global memory */
  uint32_t n;
};

static void move_row(void *context, uint64_t address, uint32_t offset, uint32_t bytes)
{
  struct moving *v = context;
  uint8_t *host = v->object->host + (address - v->object->base);
  if (v->store) bulk_put(v->copy, host, v->tile + offset, bytes);
  else memcpy(v->tile + offset, host, bytes);
}

static void list_row(void *context, uint64_t address, uint32_t offset, uint32_t bytes)
{
  struct moving *v = context;
  uint64_t end = v->object->base + v->object->size;
  (void)offset;
  for (uint64_t a = address / CHUNK * CHUNK; a < address + bytes && a + CHUNK <= end; a += CHUNK)
    v->touched[v->n++] = a;
}

void box_store(const struct bulk_copy *c, const uint8_t *data)
{
  struct moving v = {.object = memory_find(c->warp->runner->sim, c->to), .store = true, .copy = c};
  v.tile = (uint8_t *)(uintptr_t)data;
  walk(c->box, move_row, &v);
}

static void fill(const struct sim_tensor *m, uint8_t *tile, uint32_t bytes)
{
  memset(tile, m->fill ? 0xff : 0, bytes);   /* all ones is a NaN of each float type */
}

/* The map at a lane's address, made by sim_tensor_map and pointing at memory that is all there. */
static bool sound(const struct sim_tensor *m)
{
  struct sim_tensor again;
  char why[160];
  uint32_t box[SIM_TENSOR_RANK];
  for (int k = 0; k < SIM_TENSOR_RANK; k++) box[k] = m->box[k];
  return m->magic == SIM_TENSOR_MAGIC &&
         sim_tensor_map(&again, (enum sim_tensor_type)m->type, m->rank, m->address, m->dims,
                        m->strides, box, (enum model_tma)m->swizzle, m->fill, why, sizeof why) &&
         !memcmp(m, &again, sizeof again);
}

static const struct sim_object *read_map(struct warp *w, const struct sim_inst *i, unsigned lane,
                                         const struct bulk_form *form, struct sim_tensor *m)
{
  uint64_t room = 0, at = bulk_address(w, form->far, form->far_wide, form->far_add, lane);
  const uint8_t *bytes = access_host(w, lane, at, &room);
  if (!bytes || room < sizeof *m || at % SIM_TENSOR_ALIGN ||
      (memcpy(m, bytes, sizeof *m), !sound(m))) {
    fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
               "there is no tensor map at 0x%llx: pass it as `const __grid_constant__ CUtensorMap`, and "
               "give the kernel one (`tma:` of banks profile)", (unsigned long long)at);
    return NULL;
  }
  if (m->rank != form->rank) {
    fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
               "a copy of a box of %u dimensions, and the tensor map has %u", form->rank, m->rank);
    return NULL;
  }
  const struct sim_object *o = memory_find(w->runner->sim, m->address);
  unsigned __int128 last = m->dims[0] * m->element;
  for (unsigned k = 1; k < m->rank; k++) last += (unsigned __int128)(m->dims[k] - 1) * m->strides[k - 1];
  if (!o || last > o->size - (m->address - o->base)) {
    fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
               "the tensor map describes %llu bytes, and %s has %llu", (unsigned long long)last,
               o ? o->name : "nothing", o ? (unsigned long long)o->size : 0ull);
    return NULL;
  }
  if (form->store && o->read_only) {
    fault_note(w, i, lane, SIM_FAULT_READ_ONLY, true, "a bulk copy writes '%s', which is input only",
               o->name);
    return NULL;
  }
  return o;
}

/* In the order of enum sim_tensor_type. */
static const enum ptx_type types[SIM_TENSOR_TYPES] = {
    PTX_NOTYPE, PTX_NOTYPE, PTX_T_U32, PTX_T_S32, PTX_T_U64, PTX_T_S64, PTX_T_F16, PTX_T_F32,
    PTX_T_F64, PTX_T_BF16};

/* Bitwise operations take the integers as bits. */
static unsigned reduced_by(const struct ptx_inst *in, enum ptx_type type)
{
  unsigned op = atomic_op(in, type);
  if (op || ptx_type_kind(type) == PTX_FLOAT || !type) return op;
  return atomic_op(in, ptx_type_bits(type) == 64 ? PTX_T_B64 : PTX_T_B32);
}

static bool tensor_lane(struct warp *w, const struct sim_inst *i, unsigned lane)
{
  const struct bulk_form *form = i->extra;
  struct box *x = calloc(1, sizeof *x);
  if (!x) abort();
  const struct sim_object *o = read_map(w, i, lane, form, &x->map);
  uint32_t bytes = o ? sim_tensor_box_bytes(&x->map) : 0, at = 0;
  struct mbarrier *m = NULL;
  bool ok = o != NULL;
  unsigned reduce = ok && form->reduce ? reduced_by(i->ptx, types[x->map.type]) : 0;
  if (ok && form->reduce && !reduce) {
    fault_note(w, i, lane, SIM_FAULT_LAUNCH, true,
               "this reduction does not go with the type of the tensor map's elements");
    ok = false;
  }
  if (ok)
    ok = bulk_shared(w, i, lane,
                     bulk_address(w, i->a, i->flags & SIM_MEM_WIDE_ADDRESS, i->imm, lane), bytes,
                     TILE_ALIGN, "a box", &at);
  if (ok && !access_inside(i, (uint64_t)at + SIM_SHARED_BASE, bytes)) {
    fault_note(w, i, lane, SIM_FAULT_BOUNDS, true,
               "a box of %u bytes at byte %lld of an array that has %u", bytes,
               (long long)at + SIM_SHARED_BASE - i->low, i->high - i->low);
    ok = false;
  }
  if (ok && !form->store) {
    m = mbarrier_find(w, i, lane, bulk_address(w, form->bar, form->bar_wide, form->bar_add, lane), NULL);
    ok = m != NULL;
  }
  struct bulk_copy *c = ok ? bulk_push(w, i, lane, bytes) : NULL;
  if (!c) {
    free(x);
    return false;
  }
  for (unsigned k = 0; k < form->rank; k++) x->at[k] = SIM_ROW(s32_row, form->at[k])[lane];
  c->store = form->store;
  c->at = at;
  c->to = x->map.address;
  c->swizzle = x->map.swizzle;
  c->reduce = reduce;
  c->type = types[x->map.type];
  bulk_touch(w, i, c);
  struct moving v = {.object = o, .tile = c->data,
                     .touched = malloc((bytes / CHUNK + bytes / x->map.element + 2) * 8)};
  if (!v.touched) abort();
  walk(x, list_row, &v);
  if (form->store) {
    bulk_gather(w->block, c, c->data);
    c->box = x;
  } else {
    fill(&x->map, c->data, bytes);
    walk(x, move_row, &v);
    c->barrier = m->at;
    m->coming += bytes;
    w->block->events++;
    w->block->releases = 0;
  }
  bulk_count_global(w, &form->global, v.touched, v.n);
  free(v.touched);
  if (!form->store) free(x);
  bulk_count_shared(w, i, at, bytes);
  return true;
}

HANDLER(tensor_copy)
{
  for (; exec; exec &= exec - 1)
    if (!tensor_lane(w, i, first_lane(exec))) return;
}

static void lower_box(struct lowering *l)
{
  static const uint16_t ranks[] = {PTX_M_1D, PTX_M_2D, PTX_M_3D, PTX_M_4D, PTX_M_5D};
  const struct ptx_inst *in = l->in;
  const struct ptx_operand *o = in->operands;
  bool store = ptx_has(in, PTX_M_BULK_GROUP);
  const struct ptx_operand *map = &o[!store];
  uint32_t rank = 0;
  for (unsigned k = 0; k < 5; k++)
    if (ptx_has(in, (enum ptx_mod)ranks[k])) rank = k + 1;
  if (map->kind != PTX_O_ADDRESS || map->count != rank ||
      (!store && (in->noperands < 3 || o[2].kind != PTX_O_ADDRESS))) {
    lower_refuse(l, "a tensor map with %u coordinates and, on the way in, an mbarrier are expected",
                 rank);
    return;
  }
  struct bulk_form *form = bulk_lower(l, store, &o[store], map, store ? NULL : &o[2]);
  form->rank = rank;
  for (unsigned k = 0; k < rank; k++)
    form->at[k] = lower_source(l, &l->func->ptx->pool[map->first + k], 32);
  l->out->run = tensor_copy;
}

static void lower_tensor(struct lowering *l)
{
  static const uint16_t allowed[] = {M(1D), M(2D), M(3D), M(4D), M(5D), M(SHARED_CLUSTER),
                                     M(SHARED_CTA), M(GLOBAL), M(TILE), M(BULK_GROUP),
                                     M(MBARRIER_COMPLETE_TX_BYTES), M(L2_CACHE_HINT),
                                     M(CTA_GROUP_1), 0};
  if (lower_only(l, allowed)) lower_box(l);
}

/* [map], [shared]: reduced when waited for; counted as the copy is, by analogy. */
static void lower_tensor_reduce(struct lowering *l)
{
  static const uint16_t allowed[] = {
      M(1D), M(2D), M(3D), M(4D), M(5D), M(GLOBAL), M(SHARED_CTA), M(TILE), M(BULK_GROUP),
      M(L2_CACHE_HINT), M(ADD), M(MIN), M(MAX), M(INC), M(DEC), M(AND), M(OR), M(XOR), 0};
  if (!lower_only(l, allowed)) return;
  lower_box(l);
  if (!l->failed) bulk_lower_reduce(l, (struct bulk_form *)(uintptr_t)l->out->extra);
}

/* A prefetch moves nothing that can be seen; the map is not looked at. */
HANDLER(prefetch)
{
  (void)w;
  (void)i;
  (void)exec;
}
static void lower_prefetch(struct lowering *l)
{
  static const uint16_t allowed[] = {M(1D), M(2D), M(3D), M(4D), M(5D), M(L2), M(GLOBAL), M(TILE),
                                     M(L2_CACHE_HINT), M(IM2COL), M(IM2COL_W), M(IM2COL_W_128),
                                     M(TILE_GATHER4), 0};
  if (lower_only(l, allowed)) l->out->run = prefetch;
}

const struct sim_form sim_forms_tensor[] = {
    FORM_ANY(CP_REDUCE_ASYNC_BULK_TENSOR, lower_tensor_reduce),
    FORM_ANY(CP_ASYNC_BULK_PREFETCH_TENSOR, lower_prefetch),
    FORM_ANY(CP_ASYNC_BULK_TENSOR, lower_tensor),
    {.op = PTX_OPS},
};
