/* mma.sync: D = A * B + C on the fragments of a warp.
 *
 * With g = lane / 4 and t = lane mod 4, a 32-bit register of A holds E neighbouring elements of one
 * row (E = 32 / bits of the type): row g + 8 (r mod M/8), from column 4E (r div M/8) + t E on, for
 * register r.  B is the same with columns for rows.  An accumulator register holds one element, row
 * g + 8 (s mod M/8), column 8 (s div M/8) + 2 t + (r mod 2) with s = r div 2; f16 accumulators hold
 * two neighbours.  All shapes follow from that, those of wmma too (see exec_wmma.c).
 *
 * Arithmetic: products of f16, bf16, tf32 and fp8 are exact in double, and summed there in rising
 * order of k, starting from C; the sum is rounded once to D's type.  Tensor cores align a few
 * products at a time and cut bits off (and fp8 sums keep fewer bits), so their last bits can
 * differ; whatever is exact in 24 bits is equal.  f64 is a chain of fma in order of k, as on the
 * hardware.  Integers wrap, or with .satfinite the exact sum is clamped. */
#include <stdlib.h>
#include <string.h>

#include "mma.h"
#include "rows.h"

enum { MOST = 32 * 32 };       /* elements of A or B that are not single bits */

static unsigned bits_of_type(unsigned type)
{
  return type == PTX_T_TF32 ? 32 : ptx_type_bits((enum ptx_type)type);
}

unsigned mma_regs(const struct mma *m, enum mma_part part)
{
  unsigned rows = part == MMA_B ? m->n : m->m;
  if (part == MMA_A || part == MMA_B) {
    unsigned type = part == MMA_A ? m->atype : m->btype;
    unsigned each = type == PTX_T_F64 ? 4 : 128 / bits_of_type(type);   /* k of four lanes */
    return rows / 8 * (m->k / each);
  }
  unsigned type = part == MMA_C ? m->ctype : m->dtype;
  return m->m * m->n / SIM_LANES / (type == PTX_T_F16 ? 2 : 1);
}

/* ---- fragments to matrices ------------------------------------------------------------------- */

/* The values of one register of all lanes, in order: lanes 4g..4g+3 hold neighbours of one row. */
static void values(struct warp *w, sim_ref ref, unsigned type, double *out)
{
  float f[4 * SIM_LANES];
  const uint8_t *bytes = SIM_ROW(u8_row, ref);
  const u32_row *words = SIM_ROW(u32_row, ref);
  uint16_t halves[2 * SIM_LANES];
  unsigned n = 4 * SIM_LANES;
  switch (type) {
  case PTX_T_F64:
    memcpy(out, SIM_ROW(u8_row, ref), SIM_LANES * sizeof *out);
    return;
  case PTX_T_F16:
    n = 2 * SIM_LANES;
    memcpy(halves, words, sizeof halves);
    f16_row(halves, f, n);
    break;
  case PTX_T_BF16:
    n = 2 * SIM_LANES;
    memcpy(halves, words, sizeof halves);
    bf16_row(halves, f, n);
    break;
  case PTX_T_TF32:   /* the low 13 bits are not looked at */
    n = SIM_LANES;
    for (unsigned k = 0; k < n; k++) f[k] = narrow_float(words[k] & 0xffffe000u);
    break;
  case PTX_T_E4M3:
    for (unsigned k = 0; k < n; k++) f[k] = e4m3_float(bytes[k]);
    break;
  default:
    for (unsigned k = 0; k < n; k++) f[k] = e5m2_float(bytes[k]);
    break;
  }
  for (unsigned k = 0; k < n; k++) out[k] = f[k];
}

static void integers(struct warp *w, sim_ref ref, unsigned type, int32_t *out)
{
  const uint8_t *bytes = SIM_ROW(u8_row, ref);
  for (unsigned k = 0; k < 4 * SIM_LANES; k++) {
    unsigned v = bytes[k];
    switch (type) {
    case PTX_T_S8: out[k] = (int8_t)v; break;
    case PTX_T_U8: out[k] = (int32_t)v; break;
    case PTX_T_S4:
      out[2 * k] = (int32_t)((v & 15) ^ 8) - 8;
      out[2 * k + 1] = (int32_t)(v >> 4 ^ 8) - 8;
      break;
    default:
      out[2 * k] = (int32_t)(v & 15);
      out[2 * k + 1] = (int32_t)(v >> 4);
      break;
    }
  }
}

/* Functions of a shape are fast where it is constant: see run_float. */
#define INLINE static inline __attribute__((always_inline))
struct dims { unsigned m, n, k, each; };   /* each: elements of a row that four lanes hold */

static struct dims dims_of(const struct mma *m)
{
  unsigned each = m->atype == PTX_T_F64 ? 4 : 128 / bits_of_type(m->atype);
  return (struct dims){m->m, m->n, m->k, each};
}

/* to[row][k] */
#define GATHER_A(name, T, read)                                                                 \
  INLINE void name(struct warp *w, const struct mma *m, struct dims q, T *to)                    \
  {                                                                                            \
    unsigned blocks = q.m / 8;                                                                  \
    T v[8 * SIM_LANES];                                                                         \
    for (unsigned r = 0; r < blocks * (q.k / q.each); r++) {                                    \
      read(w, m->a[r], m->atype, v);                                                            \
      T *at = to + r % blocks * 8 * q.k + r / blocks * q.each;                                  \
      for (unsigned g = 0; g < 8; g++)                                                          \
        for (unsigned e = 0; e < q.each; e++) at[g * q.k + e] = v[g * q.each + e];               \
    }                                                                                          \
  }
GATHER_A(gather_a, double, values)
GATHER_A(gather_a_int, int32_t, integers)

/* to[k][column].  B's fragments follow columns: register r is column block r div (K / each). */
#define GATHER_B(name, T, read)                                                                 \
  INLINE void name(struct warp *w, const struct mma *m, struct dims q, T *to)                    \
  {                                                                                            \
    unsigned blocks = q.k / q.each;                                                             \
    T v[8 * SIM_LANES];                                                                         \
    for (unsigned r = 0; r < q.n / 8 * blocks; r++) {                                           \
      read(w, m->b[r], m->btype, v);                                                            \
      T *at = to + r % blocks * q.each * q.n + r / blocks * 8;                                  \
      for (unsigned e = 0; e < q.each; e++)                                                     \
        for (unsigned g = 0; g < 8; g++) at[e * q.n + g] = v[g * q.each + e];                    \
    }                                                                                          \
  }
GATHER_B(gather_b, double, values)
GATHER_B(gather_b_int, int32_t, integers)

/* An accumulator's registers 2s and 2s + 1 (one register of two halves) are a block of 8 x 8: */
INLINE unsigned block_at(struct dims q, unsigned s)
{
  unsigned blocks = q.m / 8;
  return s % blocks * 8 * q.n + s / blocks * 8;
}
/* ... of which lane l has this element and the next. */
INLINE unsigned lane_at(struct dims q, unsigned l) { return l / 4 * q.n + l % 4 * 2; }

INLINE void read_c(struct warp *w, const struct mma *m, struct dims q, double *acc)
{
  for (unsigned s = 0; s < q.m * q.n / 64; s++) {
    double *to = acc + block_at(q, s);
    if (m->ctype == PTX_T_F64) {
      const f64_row *x = SIM_ROW(f64_row, m->c[2 * s]), *y = SIM_ROW(f64_row, m->c[2 * s + 1]);
      for (unsigned l = 0; l < SIM_LANES; l++) {
        to[lane_at(q, l)] = x[l];
        to[lane_at(q, l) + 1] = y[l];
      }
    } else if (m->ctype == PTX_T_F32) {
      const f32_row *x = SIM_ROW(f32_row, m->c[2 * s]), *y = SIM_ROW(f32_row, m->c[2 * s + 1]);
      for (unsigned l = 0; l < SIM_LANES; l++) {
        to[lane_at(q, l)] = x[l];
        to[lane_at(q, l) + 1] = y[l];
      }
    } else {
      const u32_row *x = SIM_ROW(u32_row, m->c[s]);
      for (unsigned l = 0; l < SIM_LANES; l++) {
        to[lane_at(q, l)] = f16_float((uint16_t)x[l]);
        to[lane_at(q, l) + 1] = f16_float((uint16_t)(x[l] >> 16));
      }
    }
  }
}

INLINE uint32_t f32_result(double x)
{
  float f = (float)x;
  return f != f ? 0x7fffffffu : narrow_bits(f);
}

INLINE void write_d(struct warp *w, const struct mma *m, struct dims q, const double *acc)
{
  for (unsigned s = 0; s < q.m * q.n / 64; s++) {
    const double *from = acc + block_at(q, s);
    if (m->dtype == PTX_T_F64) {
      f64_row *x = SIM_ROW(f64_row, m->d[2 * s]), *y = SIM_ROW(f64_row, m->d[2 * s + 1]);
      for (unsigned l = 0; l < SIM_LANES; l++) {
        x[l] = from[lane_at(q, l)];
        y[l] = from[lane_at(q, l) + 1];
      }
    } else if (m->dtype == PTX_T_F32) {
      u32_row *x = SIM_ROW(u32_row, m->d[2 * s]), *y = SIM_ROW(u32_row, m->d[2 * s + 1]);
      for (unsigned l = 0; l < SIM_LANES; l++) {
        x[l] = f32_result(from[lane_at(q, l)]);
        y[l] = f32_result(from[lane_at(q, l) + 1]);
      }
    } else {
      u32_row *x = SIM_ROW(u32_row, m->d[s]);
      for (unsigned l = 0; l < SIM_LANES; l++)
        x[l] = double_f16(from[lane_at(q, l)]) |
               (uint32_t)double_f16(from[lane_at(q, l) + 1]) << 16;
    }
  }
}

/* ---- products --------------------------------------------------------------------------------- */

/* Eight columns at a time, so that a row of sums stays in registers. */
INLINE void multiply(struct dims q, const double *a, const double *b, double *acc)
{
  for (unsigned i = 0; i < q.m; i++)
    for (unsigned n0 = 0; n0 < q.n; n0 += 8) {
      double sum[8];
      memcpy(sum, acc + i * q.n + n0, sizeof sum);
      for (unsigned k = 0; k < q.k; k++) {
        double x = a[i * q.k + k];
        const double *y = b + k * q.n + n0;
        for (unsigned c = 0; c < 8; c++) sum[c] = __builtin_fma(x, y[c], sum[c]);
      }
      memcpy(acc + i * q.n + n0, sum, sizeof sum);
    }
}

INLINE void product(struct warp *w, const struct mma *m, struct dims q)
{
  double a[MOST], b[MOST], acc[MOST];
  gather_a(w, m, q, a);
  gather_b(w, m, q, b);
  read_c(w, m, q, acc);
  multiply(q, a, b, acc);
  write_d(w, m, q, acc);
}

/* The frequent shapes of f16, bf16 and tf32 are compiled each for itself. */
static void run_float(struct warp *w, const struct mma *m)
{
  struct dims q = dims_of(m);
#define SHAPE(m_, n_, k_, each_)                                                                \
  if (q.m == m_ && q.n == n_ && q.k == k_ && q.each == each_) {                                  \
    product(w, m, (struct dims){m_, n_, k_, each_});                                            \
    return;                                                                                    \
  }
  SHAPE(16, 8, 16, 8)
  SHAPE(16, 8, 8, 8)
  SHAPE(16, 8, 8, 4)
  SHAPE(16, 16, 16, 8)
  product(w, m, q);
}

static void finish_int(struct warp *w, const struct mma *m, struct dims q, const int64_t *sum)
{
  uint32_t out[8][SIM_LANES];
  unsigned n = mma_regs(m, MMA_D);
  for (unsigned r = 0; r < n; r++) {
    const s32_row *c = SIM_ROW(s32_row, m->c[r]);
    const int64_t *from = sum + block_at(q, r / 2) + r % 2;
    for (unsigned l = 0; l < SIM_LANES; l++) {
      int64_t v = from[lane_at(q, l)] + c[l];
      if (m->saturate) v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
      out[r][l] = (uint32_t)v;
    }
  }
  for (unsigned r = 0; r < n; r++) memcpy(SIM_ROW(u32_row, m->d[r]), out[r], sizeof out[r]);
}

INLINE void product_int(struct warp *w, const struct mma *m, struct dims q)
{
  int32_t a[16 * 64], b[64 * 16];
  int64_t sum[MOST];
  gather_a_int(w, m, q, a);
  gather_b_int(w, m, q, b);
  for (unsigned i = 0; i < q.m; i++)
    for (unsigned n0 = 0; n0 < q.n; n0 += 8) {
      int32_t part[8] = {0};   /* 64 products of at most 2^16 */
      for (unsigned k = 0; k < q.k; k++)
        for (unsigned c = 0; c < 8; c++) part[c] += a[i * q.k + k] * b[k * q.n + n0 + c];
      for (unsigned c = 0; c < 8; c++) sum[i * q.n + n0 + c] = part[c];
    }
  finish_int(w, m, q, sum);
}

static void run_int(struct warp *w, const struct mma *m)
{
  struct dims q = dims_of(m);
  if (q.m == 16 && q.n == 8 && q.k == 32 && q.each == 16)
    product_int(w, m, (struct dims){16, 8, 32, 16});
  else product_int(w, m, q);
}

/* Single bits: words of 32 instead of elements, four lanes to 128 bits of a row. */
static void run_bits(struct warp *w, const struct mma *m)
{
  int64_t sum[MOST] = {0};
  unsigned words = m->k / 32, blocks = m->m / 8;
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned j = 0; j < m->n; j++)
      for (unsigned k = 0; k < words; k++) {
        uint32_t a = SIM_ROW(u32_row, m->a[k / 4 * blocks + i / 8])[i % 8 * 4 + k % 4];
        uint32_t b = SIM_ROW(u32_row, m->b[k / 4])[j * 4 + k % 4];
        sum[i * m->n + j] += __builtin_popcount(m->exclusive ? a ^ b : a & b);
      }
  finish_int(w, m, dims_of(m), sum);
}

void mma_run(struct warp *w, const struct mma *m)
{
  switch (m->atype) {
  case PTX_T_B1: run_bits(w, m); break;
  case PTX_T_S8: case PTX_T_U8: case PTX_T_S4: case PTX_T_U4: run_int(w, m); break;
  default: run_float(w, m); break;
  }
}

HANDLER(mma)
{
  if (warp_whole(w, i, exec)) mma_run(w, i->extra);
}

/* ---- lowering ------------------------------------------------------------------------------- */

bool mma_operand(struct lowering *l, const struct mma *m, enum mma_part part, unsigned have,
                 const struct ptx_operand *o, sim_ref regs[8])
{
  static const char *const names[] = {"A", "B", "C", "D"};
  unsigned type = part == MMA_A   ? m->atype
                  : part == MMA_B ? m->btype
                  : part == MMA_C ? m->ctype : m->dtype;
  unsigned count = o->kind == PTX_O_VECTOR ? o->count : 1;
  if (count != have || have > 8) {
    lower_refuse(l, "%s of this shape and type is in %u register%s, not %u", names[part], have,
                 have == 1 ? "" : "s", count);
    return false;
  }
  unsigned bits = type == PTX_T_F64 ? 64 : 32;
  for (unsigned k = 0; k < have; k++) {
    const struct ptx_operand *e = lower_element(l, o, k);
    regs[k] = part == MMA_D ? lower_dest(l, e, bits) : lower_source(l, e, bits);
  }
  return !l->failed;
}

/* Shapes by the types of A; all but the first two have A in rows and B in columns only. */
static const struct shape { uint16_t mod; uint8_t m, n; uint16_t k; const char *types; } shapes[] = {
    {PTX_M_M8N8K4, 8, 8, 4, "d"},     {PTX_M_M16N8K4, 16, 8, 4, "td"},
    {PTX_M_M16N8K8, 16, 8, 8, "hbtd"}, {PTX_M_M16N8K16, 16, 8, 16, "hbdi8"},
    {PTX_M_M8N8K16, 8, 8, 16, "i"},   {PTX_M_M16N8K32, 16, 8, 32, "i48"},
    {PTX_M_M8N8K32, 8, 8, 32, "4"},   {PTX_M_M16N8K64, 16, 8, 64, "4"},
    {PTX_M_M8N8K128, 8, 8, 128, "1"}, {PTX_M_M16N8K128, 16, 8, 128, "1"},
    {PTX_M_M16N8K256, 16, 8, 256, "1"},
};

char mma_family(unsigned type)
{
  switch (type) {
  case PTX_T_F64: return 'd';
  case PTX_T_F16: return 'h';
  case PTX_T_BF16: return 'b';
  case PTX_T_TF32: return 't';
  case PTX_T_S8: case PTX_T_U8: return 'i';
  case PTX_T_S4: case PTX_T_U4: return '4';
  case PTX_T_E4M3: case PTX_T_E5M2: return '8';
  case PTX_T_B1: return '1';
  default: return 0;
  }
}

bool mma_types_fit(const struct mma *m)
{
  char a = mma_family(m->atype), b = mma_family(m->btype);
  if (!a || a != b) return false;
  unsigned c = m->ctype, d = m->dtype;
  bool half = c == PTX_T_F16 || c == PTX_T_F32, half_d = d == PTX_T_F16 || d == PTX_T_F32;
  switch (a) {
  case 'd': return c == PTX_T_F64 && d == PTX_T_F64;
  case 'h': return half && half_d;
  case 'b': case 't': return c == PTX_T_F32 && d == PTX_T_F32;
  case '8': return half && c == d;
  default: return c == PTX_T_S32 && d == PTX_T_S32;
  }
}

static void lower_mma(struct lowering *l)
{
  static const uint16_t allowed[] = {
      M(SYNC), M(ROW), M(COL), M(SATFINITE), M(XOR), M(AND), M(POPC), M(M8N8K4), M(M16N8K4),
      M(M16N8K8), M(M16N8K16), M(M8N8K16), M(M16N8K32), M(M8N8K32), M(M16N8K64), M(M8N8K128),
      M(M16N8K128), M(M16N8K256), 0};
  const struct ptx_inst *in = l->in;
  if (!lower_only(l, allowed)) return;
  if (ptx_has(in, PTX_M_M8N8K4) && in->types[1] == PTX_T_F16) {
    lower_mma_quad(l);
    return;
  }
  const struct shape *s = NULL;
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    if (ptx_has(in, (enum ptx_mod)shapes[k].mod)) s = &shapes[k];
  struct mma *m = calloc(1, sizeof *m);
  if (!m) abort();
  l->out->extra = m;
  l->out->run = mma;
  *m = (struct mma){.m = s ? s->m : 0, .n = s ? s->n : 0, .k = s ? s->k : 0,
                    .dtype = in->types[0], .atype = in->types[1], .btype = in->types[2],
                    .ctype = in->types[3], .saturate = ptx_has(in, PTX_M_SATFINITE),
                    .exclusive = ptx_has(in, PTX_M_XOR)};
  char family = in->ntypes == 4 ? mma_family(m->atype) : 0;
  if (!s || in->noperands != 4 || !family || !strchr(s->types, family) || !mma_types_fit(m)) {
    lower_refuse(l, "compute capability 9.0 has no mma of this shape and these types that the "
                    "simulator runs");
    return;
  }
  static const enum mma_part order[] = {MMA_D, MMA_A, MMA_B, MMA_C};
  sim_ref *const regs[] = {m->d, m->a, m->b, m->c};
  for (unsigned k = 0; k < 4; k++)
    if (!mma_operand(l, m, order[k], mma_regs(m, order[k]), &in->operands[k], regs[k])) return;
}

const struct sim_form sim_forms_mma[] = {
    FORM_ANY(MMA, lower_mma),
    {.op = PTX_OPS},
};
