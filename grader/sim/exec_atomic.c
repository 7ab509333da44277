/* atom and red on 16, 32 and 64 bits: lanes in order, one after the other, so results are the same on
 * every run.
 *
 * What one costs in shared memory depends on how ptxas will write it: adding the constant 1 with no
 * use of the result becomes a population count, the other 32-bit integer operations are native,
 * float additions and 64-bit operations loop. */
#include <stdlib.h>
#include <string.h>

#include "narrow.h"
#include "rows.h"

enum atom { ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_CAS, ATOM_EXCH, ATOM_ADD, ATOM_INC, ATOM_DEC,
            ATOM_MIN, ATOM_MAX };

static float as_f32(uint64_t v)
{
  float f;
  uint32_t u = (uint32_t)v;
  memcpy(&f, &u, 4);
  return f;
}
static uint64_t f32_bits(float f)
{
  uint32_t u = 0x7fffffffu;
  if (f == f) memcpy(&u, &f, 4);
  return u;
}
static double as_f64(uint64_t v)
{
  double d;
  memcpy(&d, &v, 8);
  return d;
}
static uint64_t f64_bits(double d)
{
  uint64_t u;
  memcpy(&u, &d, 8);
  return u;
}

/* f32 sums in global memory flush subnormal operands and results; in shared memory they don't. */
static uint64_t flushed(uint64_t v) { return v & 0x7f800000u ? v : v & 0x80000000u; }
static uint64_t add_f32_global(uint64_t a, uint64_t b)
{
  return flushed(f32_bits(as_f32(flushed(a)) + as_f32(flushed(b))));
}

/* The new value.  Types: kind and bytes; 32-bit values are zero-extended. */
static inline __attribute__((always_inline)) uint64_t apply(enum atom op, enum ptx_kind kind,
                                                            unsigned bytes, uint64_t old,
                                                            uint64_t b, uint64_t c)
{
  bool wide = bytes == 8;
  if (kind == PTX_FLOAT && op == ATOM_ADD)
    return wide ? f64_bits(as_f64(old) + as_f64(b)) : f32_bits(as_f32(old) + as_f32(b));
  int64_t so = wide ? (int64_t)old : (int32_t)(uint32_t)old;
  int64_t sb = wide ? (int64_t)b : (int32_t)(uint32_t)b;
  switch (op) {
  case ATOM_AND: return old & b;
  case ATOM_OR: return old | b;
  case ATOM_XOR: return old ^ b;
  case ATOM_CAS: return old == b ? c : old;
  case ATOM_EXCH: return b;
  case ATOM_ADD: return old + b;
  case ATOM_INC: return old >= b ? 0 : old + 1;
  case ATOM_DEC: return old == 0 || old > b ? b : old - 1;
  case ATOM_MIN: return kind == PTX_SIGNED ? (so < sb ? old : b) : (old < b ? old : b);
  case ATOM_MAX: return kind == PTX_SIGNED ? (so > sb ? old : b) : (old > b ? old : b);
  }
  return old;
}

/* The lanes of one span, in order.  With op and kind constant, a loop of few instructions. */
static inline __attribute__((always_inline)) void
each_lane(struct warp *w, const struct sim_inst *i, uint32_t lanes, const struct span *s,
          enum atom op, enum ptx_kind kind, unsigned bytes)
{
  bool narrow = bytes <= 4, wanted = i->small[1];
  const int32_t *rel = s->rel;
  uint8_t *base = s->base;
  for (; lanes; lanes &= lanes - 1) {
    unsigned l = first_lane(lanes);
    uint8_t *at = base + rel[l];
    uint64_t old = 0, b, c, next;
    memcpy(&old, at, bytes);
    b = narrow ? SIM_ROW(u32_row, i->b)[l] : SIM_ROW(u64_row, i->b)[l];
    c = narrow ? SIM_ROW(u32_row, i->c)[l] : SIM_ROW(u64_row, i->c)[l];
    if (bytes == 4 && kind == PTX_FLOAT && op == ATOM_ADD && !s->shared)
      next = add_f32_global(old, b);
    else next = apply(op, kind, bytes, old, b, c);
    memcpy(at, &next, bytes);
    if (!wanted) continue;
    if (narrow) SIM_ROW(u32_row, i->d)[l] = (uint32_t)old;
    else SIM_ROW(u64_row, i->d)[l] = old;
  }
}

/* imm2 (target): enum atom; small[0]: kind; small[1]: its result is used. */
static inline __attribute__((always_inline)) void
run_atom(struct warp *w, const struct sim_inst *i, uint32_t exec, unsigned bytes)
{
  struct span s;
  bool fresh = true;
  enum ptx_kind kind = (enum ptx_kind)i->small[0];
  w->spins++;
  warp_polled(w, i);
  while (exec) {
    uint32_t now = access_span(w, i, exec, fresh, ACCESS_ATOMIC, &s);
    if (!now) return;
#define ONE_KIND(op) case op: each_lane(w, i, now, &s, op, PTX_UNSIGNED, bytes); break
#define KINDS(op, other)                                                                       \
  case op:                                                                                     \
    if (kind == other) each_lane(w, i, now, &s, op, other, bytes);                              \
    else each_lane(w, i, now, &s, op, PTX_UNSIGNED, bytes);                                     \
    break
    switch ((enum atom)i->target) {
    ONE_KIND(ATOM_AND);
    ONE_KIND(ATOM_OR);
    ONE_KIND(ATOM_XOR);
    ONE_KIND(ATOM_CAS);
    ONE_KIND(ATOM_EXCH);
    ONE_KIND(ATOM_INC);
    ONE_KIND(ATOM_DEC);
    KINDS(ATOM_ADD, PTX_FLOAT);
    KINDS(ATOM_MIN, PTX_SIGNED);
    KINDS(ATOM_MAX, PTX_SIGNED);
    }
    exec &= ~now;
    fresh = false;
  }
}
HANDLER(atom_16) { run_atom(w, i, exec, 2); }
HANDLER(atom_32) { run_atom(w, i, exec, 4); }
HANDLER(atom_64) { run_atom(w, i, exec, 8); }

/* 128 bits: exchange and compare-and-swap. */
HANDLER(atom_128)
{
  struct span s;
  bool fresh = true;
  w->spins++;
  warp_polled(w, i);
  while (exec) {
    uint32_t now = access_span(w, i, exec, fresh, ACCESS_ATOMIC, &s);
    if (!now) return;
    for (uint32_t m = now; m; m &= m - 1) {
      unsigned l = first_lane(m);
      uint8_t *at = s.base + s.rel[l], old[16];
      memcpy(old, at, 16);
      if (i->target == ATOM_EXCH) memcpy(at, SIM_ROW(u8_row, i->b) + 16 * l, 16);
      else if (!memcmp(old, SIM_ROW(u8_row, i->b) + 16 * l, 16))
        memcpy(at, SIM_ROW(u8_row, i->c) + 16 * l, 16);
      if (i->small[1]) memcpy(SIM_ROW(u8_row, i->d) + 16 * l, old, 16);
    }
    exec &= ~now;
    fresh = false;
  }
}

/* Halves, single or in pairs: small[2] says how many and of which kind. */
enum { PAIR = 1, BF16 = 2 };

static uint16_t add_half(uint16_t a, uint16_t b, bool bf)
{
  return bf ? float_bf16(bf16_float(a) + bf16_float(b)) : float_f16(f16_float(a) + f16_float(b));
}

HANDLER(atom_half)
{
  struct span s;
  bool fresh = true, bf = i->small[2] & BF16;
  unsigned n = i->small[2] & PAIR ? 2 : 1;
  w->spins++;
  warp_polled(w, i);
  while (exec) {
    uint32_t now = access_span(w, i, exec, fresh, ACCESS_ATOMIC, &s);
    if (!now) return;
    for (uint32_t m = now; m; m &= m - 1) {
      unsigned l = first_lane(m);
      uint16_t h[2] = {0, 0}, b[2];
      memcpy(h, s.base + s.rel[l], 2 * n);
      memcpy(b, SIM_ROW(u8_row, i->b) + 4 * l, 4);
      uint32_t old = h[0] | (uint32_t)h[1] << 16;
      for (unsigned k = 0; k < n; k++) h[k] = add_half(h[k], b[k], bf);
      memcpy(s.base + s.rel[l], h, 2 * n);
      if (i->small[1]) SIM_ROW(u32_row, i->d)[l] = old;
    }
    exec &= ~now;
    fresh = false;
  }
}

/* ---- reductions: on several host threads, parallel.c --------------------------------------------------- */

uint32_t atomic_reduction(const struct sim_inst *i)
{
  enum atom op = (enum atom)i->target;
  bool sign = (op == ATOM_MIN || op == ATOM_MAX) && i->small[0] == PTX_SIGNED;
  return 1u << 31 | (uint32_t)i->width << 16 | (uint32_t)sign << 8 | (uint32_t)op;
}

void atomic_neutral(const struct sim_inst *i, uint8_t *to, uint64_t bytes)
{
  bool sign = i->small[0] == PTX_SIGNED;
  uint64_t most = i->width == 8 ? UINT64_MAX : UINT32_MAX, v = 0;
  if (i->target == ATOM_AND) v = most;
  if (i->target == ATOM_MIN) v = sign ? most >> 1 : most;
  if (i->target == ATOM_MAX) v = sign ? (most >> 1) + 1 : 0;
  for (uint64_t at = 0; at + i->width <= bytes; at += i->width) memcpy(to + at, &v, i->width);
}

void atomic_merge(const struct sim_inst *i, uint8_t *to, const uint8_t *from, uint64_t bytes)
{
  for (uint64_t at = 0; at + i->width <= bytes; at += i->width) {
    uint64_t a = 0, b = 0;
    memcpy(&a, to + at, i->width);
    memcpy(&b, from + at, i->width);
    a = apply((enum atom)i->target, (enum ptx_kind)i->small[0], i->width, a, b, b);
    memcpy(to + at, &a, i->width);
  }
}

static bool commutes(const struct ptx_inst *in, enum atom op)
{
  return (op == ATOM_ADD || op == ATOM_AND || op == ATOM_OR || op == ATOM_XOR || op == ATOM_MIN ||
          op == ATOM_MAX) &&
         !ptx_has(in, PTX_M_ACQUIRE) && !ptx_has(in, PTX_M_RELEASE) && !ptx_has(in, PTX_M_ACQ_REL);
}

/* Vectors, of global memory only: every element by itself.  small[2] as above; extra: the rows. */
struct vector { sim_ref d[8], b[8]; };

static uint16_t half_of(enum atom op, uint16_t a, uint16_t b, bool bf)
{
  if (op == ATOM_ADD) return add_half(a, b, bf);
  float x = bf ? bf16_float(a) : f16_float(a), y = bf ? bf16_float(b) : f16_float(b);
  if (x != x || y != y) return x == x ? a : y == y ? b : 0x7fff;
  bool less = x < y || (x == y && signbit(x));   /* -0 is less than +0 */
  return less == (op == ATOM_MIN) ? a : b;
}

static uint32_t element_of(const struct sim_inst *i, uint32_t old, uint32_t b)
{
  enum atom op = (enum atom)i->target;
  bool bf = i->small[2] & BF16;
  if (i->small[0] == PTX_T_F32) return (uint32_t)add_f32_global(old, b);
  uint32_t low = half_of(op, (uint16_t)old, (uint16_t)b, bf);
  if (!(i->small[2] & PAIR)) return low;
  return low | (uint32_t)half_of(op, (uint16_t)(old >> 16), (uint16_t)(b >> 16), bf) << 16;
}

HANDLER(atom_vector)
{
  const struct vector *v = i->extra;
  unsigned each = i->width / i->elements;
  struct span s;
  bool fresh = true;
  w->spins++;
  warp_polled(w, i);
  while (exec) {
    uint32_t now = access_span(w, i, exec, fresh, ACCESS_ATOMIC, &s);
    if (!now) return;
    for (uint32_t m = now; m; m &= m - 1) {
      unsigned l = first_lane(m);
      uint32_t old[8] = {0};
      for (unsigned k = 0; k < i->elements; k++) {
        uint8_t *at = s.base + s.rel[l] + k * each;
        memcpy(&old[k], at, each);
        uint32_t next = element_of(i, old[k], SIM_ROW(u32_row, v->b[k])[l]);
        memcpy(at, &next, each);
      }
      for (unsigned k = 0; i->small[1] && k < i->elements; k++)
        SIM_ROW(u32_row, v->d[k])[l] = old[k];   /* after all: a source may be a destination */
    }
    exec &= ~now;
    fresh = false;
  }
}

/* ---- lowering ------------------------------------------------------------------------------------------ */

/* Whether the first operand of `in` is read and not written. */
static bool first_is_source(const struct ptx_inst *in)
{
  bool red = in->ntypes != 0;   /* bar.red has a type; the others have not */
  return in->op == PTX_ST || in->op == PTX_RED || in->op == PTX_NANOSLEEP ||
         in->op == PTX_BRX_IDX || ((in->op == PTX_BAR || in->op == PTX_BARRIER) && !red);
}

/* Whether register r is read anywhere in the function. */
static bool is_read(const struct ptx_function *f, uint32_t r)
{
  for (size_t k = 0; k < f->ninsts; k++) {
    const struct ptx_inst *in = &f->insts[k];
    if (in->guard == r) return true;
    bool stores = first_is_source(in);
    for (unsigned o = 0; o < in->noperands; o++) {
      const struct ptx_operand *p = &in->operands[o];
      bool dest = o == 0 && !stores && p->kind == PTX_O_REG;
      if (!dest && (p->kind == PTX_O_REG || (p->kind == PTX_O_ADDRESS && p->has_reg)) && p->reg == r)
        return true;
      bool several = p->kind == PTX_O_VECTOR && (o > 0 || stores);
      if (several || p->kind == PTX_O_PARAMS || p->kind == PTX_O_ADDRESS)
        for (uint32_t e = 0; e < p->count; e++)
          if (f->pool[p->first + e].kind == PTX_O_REG && f->pool[p->first + e].reg == r) return true;
    }
  }
  return false;
}

/* Whether an operand is the constant 1: an immediate, or a register that is only ever set to it. */
static bool is_one(const struct ptx_function *f, const struct ptx_operand *o)
{
  if (o->kind == PTX_O_IMM) return o->imm == 1;
  if (o->kind != PTX_O_REG) return false;
  bool set = false;
  for (size_t k = 0; k < f->ninsts; k++) {
    const struct ptx_inst *in = &f->insts[k];
    if (!in->noperands) continue;
    const struct ptx_operand *d = &in->operands[0];
    bool writes = d->kind == PTX_O_REG && (d->reg == o->reg || d->reg2 == o->reg) &&
                  in->op != PTX_ST && in->op != PTX_RED;
    if (d->kind == PTX_O_VECTOR)
      for (uint32_t e = 0; e < d->count; e++)
        writes |= f->pool[d->first + e].kind == PTX_O_REG && f->pool[d->first + e].reg == o->reg;
    if (!writes) continue;
    if (in->op != PTX_MOV || in->operands[1].kind != PTX_O_IMM || in->operands[1].imm != 1)
      return false;
    set = true;
  }
  return set;
}

static const struct { uint16_t mod; enum atom op; } atoms[] = {
    {PTX_M_AND, ATOM_AND}, {PTX_M_OR, ATOM_OR}, {PTX_M_XOR, ATOM_XOR}, {PTX_M_CAS, ATOM_CAS},
    {PTX_M_EXCH, ATOM_EXCH}, {PTX_M_ADD, ATOM_ADD}, {PTX_M_INC, ATOM_INC},
    {PTX_M_DEC, ATOM_DEC}, {PTX_M_MIN, ATOM_MIN}, {PTX_M_MAX, ATOM_MAX}};

static enum atom named(const struct ptx_inst *in)
{
  enum atom op = ATOM_ADD;
  for (unsigned k = 0; k < sizeof atoms / sizeof *atoms; k++)
    if (ptx_has(in, (enum ptx_mod)atoms[k].mod)) op = atoms[k].op;
  return op;
}

unsigned atomic_op(const struct ptx_inst *in, enum ptx_type type)
{
  enum atom op = named(in);
  bool small = op == ATOM_MIN || op == ATOM_MAX, fits = false;
  switch (type) {
  case PTX_T_F16: case PTX_T_BF16: fits = op == ATOM_ADD || small; break;
  case PTX_T_F32: case PTX_T_F64: fits = op == ATOM_ADD; break;
  case PTX_T_U32: fits = op == ATOM_ADD || op == ATOM_INC || op == ATOM_DEC || small; break;
  case PTX_T_S32: case PTX_T_U64: case PTX_T_S64: fits = op == ATOM_ADD || small; break;
  case PTX_T_B32: case PTX_T_B64: fits = op == ATOM_AND || op == ATOM_OR || op == ATOM_XOR; break;
  default: break;
  }
  return fits ? op + 1u : 0;
}

void atomic_elements(unsigned op1, enum ptx_type type, uint8_t *to, const uint8_t *from,
                     uint32_t bytes)
{
  enum atom op = (enum atom)(op1 - 1);
  unsigned width = ptx_type_bits(type) / 8;
  for (uint32_t at = 0; at + width <= bytes; at += width) {
    uint64_t a = 0, b = 0;
    memcpy(&a, to + at, width);
    memcpy(&b, from + at, width);
    if (width == 2) a = half_of(op, (uint16_t)a, (uint16_t)b, type == PTX_T_BF16);
    else if (type == PTX_T_F32) a = add_f32_global(a, b);
    else a = apply(op, ptx_type_kind(type), width, a, b, b);
    memcpy(to + at, &a, width);
  }
}

static void lower_vector(struct lowering *l, enum atom op, enum ptx_type type, unsigned kind)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned at = in->op == PTX_ATOM ? 1 : 0, bits = ptx_type_bits(type);
  const struct ptx_operand *d = &in->operands[0], *b = &in->operands[at + 1];
  struct vector *v = calloc(1, sizeof *v);
  if (!v) abort();
  s->extra = v;
  for (unsigned k = 0; k < in->vector && !l->failed; k++) {
    if (at) v->d[k] = lower_dest(l, lower_element(l, d, k), bits);
    v->b[k] = lower_source(l, lower_element(l, b, k), bits);
  }
  if (l->failed) return;
  lower_memory(l, &in->operands[at], in->vector);
  s->space = PTX_GLOBAL;       /* there are no others of shared memory */
  s->target = op;
  s->small[0] = (uint8_t)type;
  s->small[1] = at && d->kind == PTX_O_VECTOR;
  s->small[2] = (uint8_t)kind;
  s->op = MODEL_ATOM_NATIVE;
  s->run = atom_vector;
}

static void lower_atom(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  enum ptx_type type = (enum ptx_type)in->types[0];
  unsigned bits = ptx_type_bits(type), at = in->op == PTX_ATOM ? 1 : 0;
  enum atom op = named(in);
  bool is_float = ptx_type_kind(type) == PTX_FLOAT;
  bool pair = type == PTX_T_F16X2 || type == PTX_T_BF16X2, bf = type == PTX_T_BF16 || type == PTX_T_BF16X2;
  bool half = pair || bf || type == PTX_T_F16;
  if (in->vector > 1) {
    lower_vector(l, op, type, (pair ? PAIR : 0) | (bf ? BF16 : 0));
    return;
  }
  if (in->operands[0].kind == PTX_O_VECTOR ||
      (is_float && !half && type != PTX_T_F32 && type != PTX_T_F64) || (half && op != ATOM_ADD) ||
      (is_float && op != ATOM_ADD && op != ATOM_EXCH) || bits < 16 ||
      (bits == 128 && op != ATOM_CAS && op != ATOM_EXCH)) {
    lower_refuse(l, "the simulator does not run this atomic");
    return;
  }
  bool wanted = at && in->operands[0].kind == PTX_O_REG;
  bool used = wanted && is_read(l->func->ptx, in->operands[0].reg);
  s->small[0] = (uint8_t)(is_float ? PTX_FLOAT : ptx_type_kind(type));
  s->small[1] = used;
  s->target = op;
  if (at) s->d = lower_dest(l, &in->operands[0], wanted ? bits : 0);
  const struct ptx_operand *b = &in->operands[at + 1];
  s->b = s->c = lower_source(l, b, bits);
  if (op == ATOM_CAS) s->c = lower_source(l, &in->operands[at + 2], bits);
  if (l->failed) return;
  lower_memory(l, &in->operands[at], 1);
  bool one = op == ATOM_ADD && bits == 32 && !is_float && !used && is_one(l->func->ptx, b);
  s->op = op == ATOM_CAS && bits <= 64 ? MODEL_ATOM_CAS
          : one                        ? MODEL_ATOM_ONE
          : bits >= 64                 ? MODEL_ATOM_LOOP64
          : is_float && op == ATOM_ADD ? MODEL_ATOM_LOOP
          : bits == 16                 ? MODEL_ATOM_LOOP : MODEL_ATOM_NATIVE;
  s->small[2] = (uint8_t)((pair ? PAIR : 0) | (bf ? BF16 : 0));
  if (!used && !is_float && !half && (bits == 32 || bits == 64) && commutes(in, op))
    s->flags |= SIM_MEM_COMMUTES;
  if (half) s->run = atom_half;
  if (!s->run)
    s->run = bits == 128 ? atom_128 : bits == 64 ? atom_64 : bits == 16 ? atom_16 : atom_32;
}

const struct sim_form sim_forms_atomic[] = {
    FORM_ANY(ATOM, lower_atom),
    FORM_ANY(RED, lower_atom),
    {.op = PTX_OPS},
};
