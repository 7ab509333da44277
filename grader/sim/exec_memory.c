/* ld and st in every space; fences and hints.
 *
 * Elements are loaded as their type and stored into the register's row; where all lanes lie side by
 * side or on one address, a row moves at once.  Parameters of a kernel are the same for every lane
 * and need no access at all; those of a function, and .local variables, live in the lane's own
 * memory and are not counted. */
#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <string.h>

#include "rows.h"

typedef uint8_t m_u8 __attribute__((may_alias));
typedef int8_t m_s8 __attribute__((may_alias));
typedef uint16_t m_u16 __attribute__((may_alias));
typedef int16_t m_s16 __attribute__((may_alias));
typedef uint32_t m_u32 __attribute__((may_alias));
typedef int32_t m_s32 __attribute__((may_alias));
typedef uint64_t m_u64 __attribute__((may_alias));

/* Element k of each lane's vector: from the span into row d. */
typedef void mover(uint8_t *row, const struct span *s, uint32_t lanes, uint32_t at,
                   uint32_t stride);

/* Eight lanes that lie anyhow. */
#define EACH_OF_8(M, R, narrow, to, from, rel)                                                  \
  for (int l_ = 0; l_ < 8; l_++) (to)[l_] = (R)narrow(*(const M *)((from) + (rel)[l_]))
#ifdef __AVX2__
#define WORDS_OF_8(M, R, narrow, to, from, rel)                                                 \
  _mm256_storeu_si256((__m256i *)(to), _mm256_i32gather_epi32(                                   \
      (const int *)(from), _mm256_loadu_si256((const __m256i *)(rel)), 1))
#define PAIRS_OF_8(M, R, narrow, to, from, rel)                                                 \
  for (int h_ = 0; h_ < 8; h_ += 4)                                                             \
    _mm256_storeu_si256((__m256i *)((to) + h_), _mm256_i32gather_epi64(                          \
        (const long long *)(from), _mm_loadu_si128((const __m128i *)((rel) + h_)), 1))
#else
#define WORDS_OF_8 EACH_OF_8
#define PAIRS_OF_8 EACH_OF_8
#endif

#define LOADER(name, M, R, narrow, GATHER)                                                     \
  static inline void name(uint8_t *row, const struct span *s, uint32_t lanes, uint32_t at,       \
                          uint32_t stride)                                                     \
  {                                                                                            \
    R *d = (R *)row;                                                                            \
    const uint8_t *base = s->base + at;                                                         \
    if (lanes == SIM_FULL && s->shape == CLASS_UNIT && stride == sizeof(M)) {                   \
      LANE_LOOP d[l] = (R)narrow(((const M *)base)[l]);                                          \
    } else if (lanes == SIM_FULL && s->shape == CLASS_UNIFORM) {                                \
      R v = (R)narrow(*(const M *)base);                                                        \
      LANE_LOOP d[l] = v;                                                                       \
    } else if (lanes == SIM_FULL && s->units == 0xf && stride == sizeof(M)) {                   \
      for (int g = 0; g < SIM_LANES; g += 8) {                                                  \
        const M *from = (const M *)(base + s->rel[g]);                                          \
        ROW_LOOP(8) d[g + l] = (R)narrow(from[l]);                                              \
      }                                                                                        \
    } else if (lanes == SIM_FULL && s->uniforms == 0xf) {                                       \
      for (int g = 0; g < SIM_LANES; g += 8) {                                                  \
        R v = (R)narrow(*(const M *)(base + s->rel[g]));                                        \
        ROW_LOOP(8) d[g + l] = v;                                                               \
      }                                                                                        \
    } else if (lanes == SIM_FULL) {                                                             \
      for (int g = 0; g < SIM_LANES; g += 8) GATHER(M, R, narrow, d + g, base, s->rel + g);      \
    } else {                                                                                   \
      for (; lanes; lanes &= lanes - 1) {                                                       \
        unsigned l = first_lane(lanes);                                                         \
        d[l] = (R)narrow(*(const M *)(base + s->rel[l]));                                        \
      }                                                                                        \
    }                                                                                          \
  }
LOADER(load_u8, m_u8, u32_row, (uint32_t), EACH_OF_8)
LOADER(load_s8_16, m_s8, u32_row, (uint16_t), EACH_OF_8)
LOADER(load_s8_32, m_s8, u32_row, (uint32_t)(int32_t), EACH_OF_8)
LOADER(load_s8_64, m_s8, u64_row, (uint64_t)(int64_t), EACH_OF_8)
LOADER(load_u8_64, m_u8, u64_row, (uint64_t), EACH_OF_8)
LOADER(load_u16, m_u16, u32_row, (uint32_t), EACH_OF_8)
LOADER(load_s16_32, m_s16, u32_row, (uint32_t)(int32_t), EACH_OF_8)
LOADER(load_s16_64, m_s16, u64_row, (uint64_t)(int64_t), EACH_OF_8)
LOADER(load_u16_64, m_u16, u64_row, (uint64_t), EACH_OF_8)
LOADER(load_32, m_u32, u32_row, (uint32_t), WORDS_OF_8)
LOADER(load_u32_64, m_u32, u64_row, (uint64_t), EACH_OF_8)
LOADER(load_s32_64, m_s32, u64_row, (uint64_t)(int64_t), EACH_OF_8)
LOADER(load_64, m_u64, u64_row, (uint64_t), PAIRS_OF_8)

static void load_128(uint8_t *row, const struct span *s, uint32_t lanes, uint32_t at,
                     uint32_t stride)
{
  (void)stride;
  for (; lanes; lanes &= lanes - 1) {
    unsigned l = first_lane(lanes);
    memcpy(row + 16 * l, s->base + at + s->rel[l], 16);
  }
}

#define STORER(name, M, R)                                                                     \
  static inline void name(uint8_t *row, const struct span *s, uint32_t lanes, uint32_t at,       \
                          uint32_t stride)                                                     \
  {                                                                                            \
    const R *a = (const R *)row;                                                                \
    uint8_t *base = s->base + at;                                                               \
    if (lanes == SIM_FULL && s->shape == CLASS_UNIT && stride == sizeof(M)) {                   \
      LANE_LOOP((M *)base)[l] = (M)a[l];                                                         \
      return;                                                                                  \
    }                                                                                          \
    for (unsigned g = 0; g < SIM_LANES / 8; g++, lanes >>= 8, a += 8) {                         \
      const int32_t *rel = s->rel + 8 * g;                                                      \
      if ((lanes & 0xff) == 0xff && (s->units >> g & 1) && stride == sizeof(M)) {               \
        M *to = (M *)(base + rel[0]);                                                           \
        ROW_LOOP(8) to[l] = (M)a[l];                                                            \
      } else {                                                                                 \
        for (uint32_t m = lanes & 0xff; m; m &= m - 1)                                          \
          *(M *)(base + rel[first_lane(m)]) = (M)a[first_lane(m)];                              \
      }                                                                                        \
    }                                                                                          \
  }
STORER(store_8, m_u8, u32_row)
STORER(store_16, m_u16, u32_row)
STORER(store_32, m_u32, u32_row)
STORER(store_64, m_u64, u64_row)
STORER(store_8_64, m_u8, u64_row)
STORER(store_16_64, m_u16, u64_row)
STORER(store_32_64, m_u32, u64_row)

static void store_128(uint8_t *row, const struct span *s, uint32_t lanes, uint32_t at,
                      uint32_t stride)
{
  (void)stride;
  for (; lanes; lanes &= lanes - 1) {
    unsigned l = first_lane(lanes);
    memcpy(s->base + at + s->rel[l], row + 16 * l, 16);
  }
}

/* ---- handlers ------------------------------------------------------------------------------------ */

static inline void run_load(struct warp *w, const struct sim_inst *i, uint32_t exec, mover *move)
{
  struct span s;
  bool fresh = true;
  uint32_t each = i->elements == 1 ? i->width : i->width / i->elements;
  while (exec) {
    uint32_t now = access_span(w, i, exec, fresh, ACCESS_LOAD, &s);
    if (!now) return;
    if (i->elements == 1) {
      move(SIM_ROW(uint8_t, i->d), &s, now, 0, each);
    } else {
      /* The base register may be a destination: it is not read again in this span, but might be
       * in the next one, so lanes keep apart. */
      for (uint32_t k = 0; k < i->elements; k++)
        move(SIM_ROW(uint8_t, i->more[k]), &s, now, k * each, i->width);
    }
    exec &= ~now;
    fresh = false;
  }
}

static inline void run_store(struct warp *w, const struct sim_inst *i, uint32_t exec, mover *move)
{
  struct span s;
  bool fresh = true;
  uint32_t each = i->elements == 1 ? i->width : i->width / i->elements;
  while (exec) {
    uint32_t now = access_span(w, i, exec, fresh, ACCESS_STORE, &s);
    if (!now) return;
    for (uint32_t k = 0; k < i->elements; k++)
      move(SIM_ROW(uint8_t, i->more[k]), &s, now, k * each, i->width);
    exec &= ~now;
    fresh = false;
  }
}

#define LD(name) HANDLER(ld_##name) { run_load(w, i, exec, load_##name); }
LD(u8) LD(s8_16) LD(s8_32) LD(s8_64) LD(u8_64) LD(u16) LD(s16_32) LD(s16_64) LD(u16_64) LD(32)
LD(u32_64) LD(s32_64) LD(64) LD(128)
#define ST(name) HANDLER(st_##name) { run_store(w, i, exec, store_##name); }
ST(8) ST(16) ST(32) ST(64) ST(8_64) ST(16_64) ST(32_64) ST(128)

/* A volatile load may be what a spinning thread looks at. */
#define SPIN(name)                                                                             \
  HANDLER(ldv_##name) { w->spins++; warp_polled(w, i); run_load(w, i, exec, load_##name); }
SPIN(u8) SPIN(s8_16) SPIN(s8_32) SPIN(s8_64) SPIN(u8_64) SPIN(u16) SPIN(s16_32) SPIN(s16_64)
SPIN(u16_64) SPIN(32) SPIN(u32_64) SPIN(s32_64) SPIN(64) SPIN(128)

static const struct load_row {
  uint8_t bytes, is_signed, row;   /* of the register: 16 (or less), 32, 64, 128 bits */
  sim_handler *run, *spin;
  mover *move;
} loads[] = {
#define ROW(b, s, r, n) {b, s, r, ld_##n, ldv_##n, load_##n}
    ROW(1, 0, 16, u8), ROW(1, 0, 32, u8), ROW(1, 0, 64, u8_64), ROW(1, 1, 16, s8_16),
    ROW(1, 1, 32, s8_32), ROW(1, 1, 64, s8_64), ROW(2, 0, 16, u16), ROW(2, 0, 32, u16),
    ROW(2, 0, 64, u16_64), ROW(2, 1, 16, u16), ROW(2, 1, 32, s16_32), ROW(2, 1, 64, s16_64),
    ROW(4, 0, 32, 32), ROW(4, 1, 32, 32), ROW(4, 0, 64, u32_64), ROW(4, 1, 64, s32_64),
    ROW(8, 0, 64, 64), ROW(8, 1, 64, 64), ROW(16, 0, 128, 128),
};
static const struct store_row { uint8_t bytes, row; sim_handler *run; mover *move; } stores[] = {
    {1, 32, st_8, store_8}, {2, 32, st_16, store_16}, {4, 32, st_32, store_32},
    {8, 64, st_64, store_64}, {1, 64, st_8_64, store_8_64}, {2, 64, st_16_64, store_16_64},
    {4, 64, st_32_64, store_32_64}, {16, 128, st_128, store_128},
};

/* ---- parameters ------------------------------------------------------------------------------------- */

/* A kernel's parameter: the same bytes for all lanes. */
HANDLER(ld_param)
{
  const struct load_row *r = &loads[i->small[0]];
  static const int32_t zeros[SIM_LANES];
  struct span s = {.base = (uint8_t *)(uintptr_t)w->runner->launch->params + i->imm, .rel = zeros,
                   .shape = CLASS_UNIFORM};
  uint8_t copy[16];
  uint32_t each = i->width / i->elements;
  for (uint32_t k = 0; k < i->elements; k++) {
    memcpy(copy, s.base + k * each, each);   /* a launch's parameters need not be aligned */
    struct span one = {.base = copy, .rel = zeros, .shape = CLASS_UNIFORM};
    r->move(SIM_ROW(uint8_t, i->more[k]), &one, exec, 0, each);
  }
}

/* A variable of the running frame: no check is needed at run time. */
static void frame_span(struct warp *w, const struct sim_inst *i, int32_t rel[SIM_LANES],
                       struct span *s)
{
  for (int l = 0; l < SIM_LANES; l++) rel[l] = (int32_t)((uint32_t)l * w->local_room);
  *s = (struct span){.base = w->local + w->frame->local_base + i->imm, .rel = rel};
}
HANDLER(ld_frame)
{
  int32_t rel[SIM_LANES];
  struct span s;
  frame_span(w, i, rel, &s);
  uint32_t each = i->width / i->elements;
  for (uint32_t k = 0; k < i->elements; k++)
    loads[i->small[0]].move(SIM_ROW(uint8_t, i->more[k]), &s, exec, k * each, i->width);
}
HANDLER(st_frame)
{
  int32_t rel[SIM_LANES];
  struct span s;
  frame_span(w, i, rel, &s);
  uint32_t each = i->width / i->elements;
  for (uint32_t k = 0; k < i->elements; k++)
    stores[i->small[0]].move(SIM_ROW(uint8_t, i->more[k]), &s, exec, k * each, i->width);
}

/* ---- lowering --------------------------------------------------------------------------------------- */

/* `b`-typed and unsigned loads extend by zeros. */
static int find_load(unsigned bytes, bool is_signed, unsigned reg_bits)
{
  unsigned row = reg_bits <= 16 ? 16 : reg_bits;
  for (size_t k = 0; k < sizeof loads / sizeof *loads; k++)
    if (loads[k].bytes == bytes && loads[k].is_signed == is_signed && loads[k].row == row)
      return (int)k;
  return -1;
}
static int find_store(unsigned bytes, unsigned reg_bits)
{
  unsigned row = reg_bits <= 32 ? 32 : reg_bits;
  for (size_t k = 0; k < sizeof stores / sizeof *stores; k++)
    if (stores[k].bytes == bytes && stores[k].row == row) return (int)k;
  return -1;
}

/* Space, width, order: what ld, st and atom share. */
void lower_memory(struct lowering *l, const struct ptx_operand *address, unsigned elements)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  s->space = in->space;
  s->elements = (uint8_t)elements;
  s->width = (uint8_t)(lower_type_bits(l, 0) * elements / 8);
  if (ptx_has(in, PTX_M_RELAXED) || ptx_has(in, PTX_M_ACQUIRE) || ptx_has(in, PTX_M_RELEASE) ||
      ptx_has(in, PTX_M_MMIO))
    s->flags |= SIM_MEM_ORDERED;
  bool both = ptx_has(in, PTX_M_ACQ_REL);
  if (both || ptx_has(in, PTX_M_ACQUIRE)) s->flags |= SIM_MEM_ACQUIRE;
  if (both || ptx_has(in, PTX_M_RELEASE)) s->flags |= SIM_MEM_RELEASE;
  if (ptx_has(in, PTX_M_VOLATILE)) s->flags |= SIM_MEM_VOLATILE;
  if (s->width == 32 && s->space == PTX_GENERIC) s->space = PTX_GLOBAL;   /* where they exist */
  if (!s->width || s->width > (s->space == PTX_GLOBAL && in->op != PTX_LDU ? 32 : 16))
    lower_refuse(l, "an access of more than 16 bytes a lane (32 in global memory)");
  if (s->space == PTX_PARAM) s->space = l->func->ptx->is_entry ? PTX_CONST : PTX_LOCAL;
  if (!l->failed) lower_address(l, address);
  if (s->space != PTX_LOCAL) s->site = lower_site(l);
}

/* [symbol + n] of the frame or of the kernel's parameters, inside its bounds. */
static bool static_place(struct lowering *l, const struct ptx_operand *o, bool *entry,
                         uint32_t width)
{
  const struct ptx_symbol *s = o->symbol;
  if (!s || o->has_reg || (s->space != PTX_PARAM && s->space != PTX_LOCAL)) return false;
  uint64_t at = o->imm;
  if (at > s->bytes || width > s->bytes - at) {
    lower_refuse(l, "the access passes the end of '%s', which has %llu bytes", s->name,
                 (unsigned long long)s->bytes);
    return true;
  }
  *entry = lower_entry_param(l, s);
  l->out->imm = s->offset + at;
  return true;
}

static unsigned elements_of(const struct ptx_operand *o)
{
  return o->kind == PTX_O_VECTOR ? o->count : 1;
}

static void lower_ld(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  const struct ptx_operand *d = &in->operands[0];
  unsigned n = elements_of(d), bytes = lower_type_bits(l, 0) / 8, row = 0;
  if (n > 8) {
    lower_refuse(l, "too many elements");
    return;
  }
  bool is_signed = ptx_type_kind((enum ptx_type)in->types[0]) == PTX_SIGNED;
  for (unsigned k = 0; k < n; k++) {
    const struct ptx_operand *e = lower_element(l, d, k);
    unsigned bits = e->kind == PTX_O_SINK ? 0 : lower_bits(l, e);
    if (bits && row && bits != row) lower_refuse(l, "destinations of different sizes");
    if (bits) row = bits;
    s->more[k] = lower_dest(l, e, 0);
  }
  if (!row) row = bytes * 8 < 16 ? 16 : bytes * 8;
  if (l->failed) return;
  s->d = s->more[0];
  int found = find_load(bytes, is_signed, row);
  if (found < 0) {
    lower_refuse(l, "a value of %u bytes cannot be loaded into a register of %u bits", bytes, row);
    return;
  }
  bool entry = false;
  if (in->space == PTX_PARAM || in->space == PTX_LOCAL) {
    s->elements = (uint8_t)n;
    s->width = (uint8_t)(bytes * n);
    s->small[0] = (uint8_t)found;
    if (static_place(l, &in->operands[1], &entry, bytes * n)) {
      s->run = entry ? ld_param : ld_frame;
      return;
    }
  }
  lower_memory(l, &in->operands[1], n);
  s->op = MODEL_LOAD;
  bool spin = ptx_has(in, PTX_M_VOLATILE) || (s->flags & SIM_MEM_ORDERED);
  s->run = spin ? loads[found].spin : loads[found].run;
}

void lower_st(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  const struct ptx_operand *v = &in->operands[1];
  unsigned n = elements_of(v), bytes = lower_type_bits(l, 0) / 8, row = 0;
  if (n > 8) {
    lower_refuse(l, "too many elements");
    return;
  }
  for (unsigned k = 0; k < n; k++) {
    const struct ptx_operand *e = lower_element(l, v, k);
    unsigned bits = e->kind == PTX_O_REG ? lower_bits(l, e) : 0;
    if (bits > 64 || bits > row) row = bits;
  }
  if (row < 8 * bytes) row = 8 * bytes;
  if (row <= 32) row = 32;
  for (unsigned k = 0; k < n; k++) s->more[k] = lower_source(l, lower_element(l, v, k), row);
  s->b = s->more[0];
  if (l->failed) return;
  int found = find_store(bytes, row);
  if (found < 0) {
    lower_refuse(l, "a value of %u bytes cannot be stored from a register of %u bits", bytes, row);
    return;
  }
  bool entry = false;
  if (in->space == PTX_PARAM || in->space == PTX_LOCAL) {
    s->elements = (uint8_t)n;
    s->width = (uint8_t)(bytes * n);
    s->small[0] = (uint8_t)found;
    if (static_place(l, &in->operands[0], &entry, bytes * n)) {
      if (entry) lower_refuse(l, "a kernel's parameter cannot be written");
      s->run = st_frame;
      return;
    }
  }
  lower_memory(l, &in->operands[0], n);
  s->op = MODEL_STORE;
  s->small[0] = (uint8_t)(row / 8);   /* bytes of a lane in the rows stored */
  s->run = stores[found].run;
}

/* Accesses complete in order here; a fence matters to the race check only. */
HANDLER(fence)
{
  (void)i;
  if (!w->runner->sim->options.no_checks) shadow_fence(w, exec);
}
/* Between what threads write and copies that read it: fence.proxy.async. */
HANDLER(proxy_fence)
{
  (void)i;
  (void)exec;
  shadow_proxy(w->block);
}
HANDLER(nothing)
{
  (void)w;
  (void)i;
  (void)exec;
}
static void lower_fence(struct lowering *l) { l->out->run = fence; }
static void lower_proxy(struct lowering *l) { l->out->run = proxy_fence; }
static void lower_nothing(struct lowering *l) { l->out->run = nothing; }

/* A cache policy means nothing here; the register gets a value that is the same on every run. */
HANDLER(policy)
{
  u64_row *d_ = SIM_ROW(u64_row, i->d);
  LANES_OF(u64, uint64_t r = 0)
}
static void lower_policy(struct lowering *l)
{
  l->out->d = lower_dest(l, &l->in->operands[0], 64);
  l->out->run = policy;
}

const struct sim_form sim_forms_memory[] = {
    FORM_ANY(LD, lower_ld),
    FORM_ANY(LDU, lower_ld),
    FORM_ANY(ST, lower_st),
    FORM_ANY(MEMBAR, lower_fence),
    FORM_ANY(FENCE, lower_fence),
    FORM_ANY(MEMBAR_PROXY, lower_proxy),
    FORM_ANY(FENCE_PROXY, lower_proxy),
    FORM_ANY(PREFETCH, lower_nothing),
    FORM_ANY(PREFETCHU, lower_nothing),
    FORM_ANY(APPLYPRIORITY, lower_nothing),
    FORM_ANY(DISCARD, lower_nothing),
    FORM_ANY(CREATEPOLICY, lower_policy),
    {.op = PTX_OPS},
};
