/* mma.sync of every shape and type against a product of plain matrices.
 *
 * Where an element lies is written here type by type, as the PTX ISA does in its figures: which row
 * and column element i of a lane has.  One test goes another way: ldmatrix fills the fragments, as
 * kernels do, and no layout is named. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tile.h"

enum type { F16, BF16, TF32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, F32, S32 };
static const struct { const char *name; unsigned bits; } types[] = {
    {"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f64", 64}, {"e4m3", 8}, {"e5m2", 8}, {"s8", 8},
    {"u8", 8}, {"s4", 4}, {"u4", 4}, {"b1", 1}, {"f32", 32}, {"s32", 32}};

static const struct mma_case {
  unsigned m, n, k;
  enum type a, b, c, d;
  const char *tail;            /* before the types */
} cases[] = {
    {16, 8, 8, F16, F16, F32, F32, ""},    {16, 8, 8, F16, F16, F16, F16, ""},
    {16, 8, 16, F16, F16, F32, F32, ""},   {16, 8, 16, F16, F16, F16, F16, ""},
    {16, 8, 8, BF16, BF16, F32, F32, ""},  {16, 8, 16, BF16, BF16, F32, F32, ""},
    {16, 8, 4, TF32, TF32, F32, F32, ""},  {16, 8, 8, TF32, TF32, F32, F32, ""},
    {8, 8, 4, F64, F64, F64, F64, ""},     {16, 8, 4, F64, F64, F64, F64, ""},
    {16, 8, 8, F64, F64, F64, F64, ""},    {16, 8, 16, F64, F64, F64, F64, ""},
    {16, 8, 32, E4M3, E4M3, F32, F32, ""}, {16, 8, 32, E5M2, E5M2, F32, F32, ""},
    {16, 8, 32, E4M3, E5M2, F32, F32, ""}, {8, 8, 16, S8, S8, S32, S32, ""},
    {16, 8, 16, S8, S8, S32, S32, ""},     {16, 8, 16, U8, S8, S32, S32, ""},
    {16, 8, 32, S8, S8, S32, S32, ""},     {16, 8, 32, S8, U8, S32, S32, ".satfinite"},
    {16, 8, 32, U8, U8, S32, S32, ""},     {8, 8, 32, S4, U4, S32, S32, ""},
    {16, 8, 32, S4, S4, S32, S32, ""},     {16, 8, 64, U4, S4, S32, S32, ""},
    {16, 8, 64, S4, S4, S32, S32, ".satfinite"}, {8, 8, 128, B1, B1, S32, S32, ".xor.popc"},
    {16, 8, 128, B1, B1, S32, S32, ".and.popc"}, {16, 8, 256, B1, B1, S32, S32, ".xor.popc"},
    {16, 8, 256, B1, B1, S32, S32, ".and.popc"},
};

/* Element i of lane l of A: its row and its k. */
static void place_a(const struct mma_case *c, unsigned i, unsigned l, unsigned *row, unsigned *k)
{
  unsigned g = l >> 2, t = l & 3;
  bool low = true;   /* row g, not g + 8 */
  switch (types[c->a].bits) {
  case 64:
    low = i % 2 == 0;
    if (c->m == 8) low = true, *k = t;
    else *k = i / 2 * 4 + t;
    break;
  case 32:
    low = i == 0 || i == 2;
    *k = i < 2 ? t : t + 4;
    break;
  case 16:
    low = c->k == 8 ? i < 2 : i < 2 || (i >= 4 && i < 6);
    *k = 2 * t + (i & 1) + (i >= 4 ? 8 : 0);
    break;
  case 8:
    low = c->m == 8 || i < 4 || (i >= 8 && i < 12);
    *k = 4 * t + (i & 3) + (i >= 8 ? 16 : 0);
    break;
  case 4:
    low = c->m == 8 || i < 8 || (i >= 16 && i < 24);
    *k = 8 * t + (i & 7) + (i >= 16 ? 32 : 0);
    break;
  default:
    low = c->m == 8 || i < 32 || (i >= 64 && i < 96);
    *k = 32 * t + (i & 31) + (i >= 64 ? 128 : 0);
    break;
  }
  *row = low ? g : g + 8;
}

static void place_b(const struct mma_case *c, unsigned i, unsigned l, unsigned *k, unsigned *col)
{
  unsigned g = l >> 2, t = l & 3;
  *col = g;
  switch (types[c->a].bits) {
  case 64: case 32: *k = t + 4 * i; break;
  case 16: *k = i < 2 ? 2 * t + i : 2 * t + (i & 1) + 8; break;
  case 8: *k = i < 4 ? 4 * t + i : 4 * t + (i & 3) + 16; break;
  case 4: *k = i < 8 ? 8 * t + i : 8 * t + (i & 7) + 32; break;
  default: *k = i < 32 ? 32 * t + i : 32 * t + (i & 31) + 128; break;
  }
}

static void place_c(unsigned i, unsigned l, unsigned *row, unsigned *col)
{
  *row = (l >> 2) + (i < 2 ? 0 : 8);
  *col = 2 * (l & 3) + (i & 1);
}

/* ---- numbers by hand ------------------------------------------------------------------------- */

/* The value of an encoding with `e` exponent and `m` mantissa bits. */
static double decode(uint64_t v, unsigned e, unsigned m)
{
  double sign = v >> (e + m) & 1 ? -1 : 1;
  unsigned x = v >> m & ((1u << e) - 1);
  uint64_t f = v & ((1ull << m) - 1);
  int bias = (1 << (e - 1)) - 1;
  return sign * (x ? ldexp((double)(f | 1ull << m), (int)x - bias - (int)m)
                   : ldexp((double)f, 1 - bias - (int)m));
}

static double value_of(enum type t, uint64_t v)
{
  double d;
  switch (t) {
  case F16: return decode(v, 5, 10);
  case BF16: return decode(v, 8, 7);
  case TF32: return decode(v >> 13, 8, 10);
  case F32: return decode(v, 8, 23);
  case E4M3: return decode(v, 4, 3);
  case E5M2: return decode(v, 5, 2);
  case F64: memcpy(&d, &v, 8); return d;
  case S8: return (int8_t)v;
  case S4: return v & 8 ? (double)(v & 7) - 8 : (double)(v & 7);
  case S32: return (int32_t)v;
  default: return (double)v;
  }
}

/* A random element: with `whole` a small whole number, else any finite one near 1. */
static uint64_t random_element(enum type t, bool whole, uint64_t *seed)
{
  uint32_t r = tile_random(seed);
  double d = whole ? (double)(r % 7) - 3 : 0;
  switch (t) {
  case F64: {
    if (!whole) d = (double)(int32_t)r * 0x1p-31 * 1.1;
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
  }
  case F32: case TF32: {
    float f = whole ? (float)d : (float)(int32_t)r * 0x1p-31f;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
  }
  case BF16: {
    float f = whole ? (float)d : (float)(int32_t)r * 0x1p-31f;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u >> 16;
  }
  case F16: {
    static const uint16_t small[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    return whole ? small[r % 7] : (r & 0x83ff) | (13 + (r >> 28) % 4) << 10;
  }
  case E4M3: {
    static const uint8_t small[] = {0xc4, 0xc0, 0xb8, 0, 0x38, 0x40, 0x44};
    return whole ? small[r % 7] : (r & 0x87) | (5 + (r >> 28) % 4) << 3;
  }
  case E5M2: {
    static const uint8_t small[] = {0xc2, 0xc0, 0xbc, 0, 0x3c, 0x40, 0x42};
    return whole ? small[r % 7] : (r & 0x83) | (13 + (r >> 28) % 4) << 2;
  }
  case S32: return whole ? (uint32_t)(int32_t)d : r;
  default: return r & ((1ull << types[t].bits) - 1);
  }
}

/* ---- running one ------------------------------------------------------------------------------ */

enum { FRAGMENT = 256 };   /* bytes of a lane in the data: A, B at 128, C at 192 */

static unsigned words_of(unsigned elements, enum type t)
{
  return elements * types[t].bits / 32 / 32;   /* of all lanes; registers, two for f64 */
}

static size_t list(char *out, size_t room, const char *reg, unsigned first, unsigned n)
{
  size_t at = (size_t)snprintf(out, room, "{");
  for (unsigned k = 0; k < n; k++)
    at += (size_t)snprintf(out + at, room - at, "%s%s%u", k ? ", " : "", reg, first + k);
  return at + (size_t)snprintf(out + at, room - at, "}");
}

static void make_body(const struct mma_case *c, char *body, size_t room)
{
  unsigned wide = c->a == F64 ? 2 : 1, at[4] = {0, 128, 192, 0}, first[4] = {0, 8, 16, 24};
  unsigned n[4] = {words_of(c->m * c->k, c->a) / wide, words_of(c->k * c->n, c->b) / wide,
                   words_of(c->m * c->n, c->c) / wide, words_of(c->m * c->n, c->d) / wide};
  const char *reg = wide == 2 ? "%fd" : "%r";
  unsigned base = wide == 2 ? 0 : 50;
  size_t z = (size_t)snprintf(body, room, "mul.wide.u32 %%rd20, %%r0, %d;\n"
                                          "add.s64 %%rd20, %%rd20, %%rd3;\n", FRAGMENT);
  for (unsigned p = 0; p < 3; p++)
    for (unsigned k = 0; k < n[p]; k++)
      z += (size_t)snprintf(body + z, room - z, "ld.global.%s %s%u, [%%rd20+%u];\n",
                            wide == 2 ? "f64" : "u32", reg, base + first[p] + k,
                            at[p] + 4 * wide * k);
  z += (size_t)snprintf(body + z, room - z, "mma.sync.aligned.m%un%uk%u.row.col%s.%s.%s.%s.%s%s ",
                        c->m, c->n, c->k, strstr(c->tail, "sat") ? ".satfinite" : "",
                        types[c->d].name, types[c->a].name, types[c->b].name, types[c->c].name,
                        strstr(c->tail, "popc") ? c->tail : "");
  static const unsigned order[] = {3, 0, 1, 2};
  for (unsigned k = 0; k < 4; k++) {
    z += list(body + z, room - z, reg, base + first[order[k]], n[order[k]]);
    z += (size_t)snprintf(body + z, room - z, k < 3 ? ", " : ";\n");
  }
  for (unsigned k = 0; k < n[3]; k++) {
    unsigned to = 30 + wide * k, from = base + first[3] + k;
    z += wide == 2 ? (size_t)snprintf(body + z, room - z, "mov.b64 {%%r%u, %%r%u}, %%fd%u;\n", to,
                                      to + 1, from)
                   : (size_t)snprintf(body + z, room - z, "mov.u32 %%r%u, %%r%u;\n", to, from);
  }
}

static void put(uint8_t *lane, unsigned i, unsigned bits, uint64_t v)
{
  if (bits >= 8) {
    memcpy(lane + i * bits / 8, &v, bits / 8);
  } else {
    lane[i * bits / 8] |= (uint8_t)(v << i * bits % 8);
  }
}

static double a[16][256], b[256][8], cc[16][8];

static void fill(const struct mma_case *c, struct tile *t, bool whole, uint64_t *seed)
{
  uint64_t bits_c[16][8] = {{0}};
  memset(t->data, 0, 32 * FRAGMENT);
  for (unsigned r = 0; r < c->m; r++)
    for (unsigned n = 0; n < c->n; n++) {
      bits_c[r][n] = random_element(c->c, whole, seed);
      if (strstr(c->tail, "sat")) bits_c[r][n] = n % 2 ? 0x7fffff00 : 0x80000100;
      cc[r][n] = value_of(c->c, bits_c[r][n]);
    }
  for (unsigned l = 0; l < 32; l++) {
    uint8_t *lane = t->data + l * FRAGMENT;
    unsigned x, y;
    for (unsigned i = 0; i < c->m * c->k / 32; i++) {
      uint64_t v = random_element(c->a, whole, seed);
      place_a(c, i, l, &x, &y);
      a[x][y] = value_of(c->a, v);
      put(lane, i, types[c->a].bits, v);
    }
    for (unsigned i = 0; i < c->k * c->n / 32; i++) {
      uint64_t v = random_element(c->b, whole, seed);
      place_b(c, i, l, &x, &y);
      b[x][y] = value_of(c->b, v);
      put(lane + 128, i, types[c->b].bits, v);
    }
    for (unsigned i = 0; i < c->m * c->n / 32; i++) {
      place_c(i, l, &x, &y);
      put(lane + 192, i, types[c->c].bits, bits_c[x][y]);
    }
  }
}

static double expect(const struct mma_case *c, unsigned r, unsigned n, double *size)
{
  double sum = cc[r][n];
  *size = fabs(sum);
  for (unsigned k = 0; k < c->k; k++) {
    double x = a[r][k], y = b[k][n];
    double p = strstr(c->tail, "xor") ? x != y : x * y;
    sum += p;
    *size += fabs(p);
  }
  if (strstr(c->tail, "sat")) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  else if (c->d == S32) sum = (int32_t)(uint32_t)(int64_t)sum;
  return sum;
}

START_TEST(products)
{
  const struct mma_case *c = &cases[_i];
  char body[6000];
  make_body(c, body, sizeof body);
  struct tile t;
  ck_assert_msg(tile_open(&t, body, 32, 0, true), "%s", t.error.text);
  uint64_t seed = 100 + (uint64_t)_i;
  int clamped = 0;
  for (int round = 0; round < 6; round++) {
    bool whole = round % 2 == 0;
    fill(c, &t, whole, &seed);
    ck_assert_msg(tile_run(&t), "%s", t.result.nfaults ? t.result.faults->text : "");
    for (unsigned l = 0; l < 32; l++)
      for (unsigned i = 0; i < c->m * c->n / 32; i++) {
        unsigned r, n;
        place_c(i, l, &r, &n);
        uint64_t v = 0;
        memcpy(&v, (uint8_t *)t.out[l] + i * types[c->d].bits / 8, types[c->d].bits / 8);
        double size, want = expect(c, r, n, &size), got = value_of(c->d, v);
        double ulp = c->d == F64 ? 0x1p-50 : c->d == F16 ? 0x1p-10 : 0x1p-23;
        bool ok = whole || c->d == S32 ? got == want : fabs(got - want) <= ulp * (fabs(want) + 1e-6)
                                                                           + size * 0x1p-48;
        ck_assert_msg(ok, "%s.%s m%un%uk%u, row %u column %u: %.17g, not %.17g", types[c->a].name,
                      types[c->b].name, c->m, c->n, c->k, r, n, got, want);
        clamped += c->d == S32 && (want == INT32_MAX || want == INT32_MIN);
      }
  }
  if (strstr(c->tail, "sat")) ck_assert_int_gt(clamped, 0);
  tile_close(&t);
}
END_TEST

/* A and B in shared memory, row after row; ldmatrix and .trans, as kernels load them. */
START_TEST(product_through_ldmatrix)
{
  struct tile t;
  bool ok = tile_open(
      &t, "and.b32 %r50, %r0, 15;\nmul.lo.u32 %r50, %r50, 48;\nshr.u32 %r51, %r0, 4;\n"
          "mad.lo.u32 %r50, %r51, 16, %r50;\nadd.u32 %r50, %r50, %r1;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r60, %r61, %r62, %r63}, [%r50];\n"
          "and.b32 %r52, %r0, 15;\nmad.lo.u32 %r52, %r52, 16, %r1;\n"
          "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r64, %r65}, [%r52+1024];\n"
          "mov.f32 %f1, 0f00000000;\n"
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2,%f3,%f4,%f5}, "
          "{%r60,%r61,%r62,%r63}, {%r64,%r65}, {%f1,%f1,%f1,%f1};\n"
          "mov.b32 %r30, %f2;\nmov.b32 %r31, %f3;\nmov.b32 %r32, %f4;\nmov.b32 %r33, %f5;\n",
      32, 2048, true);
  ck_assert_msg(ok, "%s", t.error.text);
  double x[16][16], y[16][8];
  uint64_t seed = 5;
  for (unsigned r = 0; r < 16; r++)
    for (unsigned k = 0; k < 16; k++) {
      uint16_t v = (uint16_t)random_element(F16, true, &seed);
      memcpy(t.data + r * 48 + 2 * k, &v, 2);
      x[r][k] = value_of(F16, v);
      v = (uint16_t)random_element(F16, true, &seed);
      if (k < 8) {
        memcpy(t.data + 1024 + r * 16 + 2 * k, &v, 2);
        y[r][k] = value_of(F16, v);
      }
    }
  ck_assert_msg(tile_run(&t), "%s", t.result.nfaults ? t.result.faults->text : "");
  for (unsigned l = 0; l < 32; l++)
    for (unsigned i = 0; i < 4; i++) {
      unsigned r, n;
      place_c(i, l, &r, &n);
      double want = 0;
      for (unsigned k = 0; k < 16; k++) want += x[r][k] * y[k][n];
      float got;
      memcpy(&got, &t.out[l][i], 4);
      ck_assert_double_eq(got, want);
    }
  tile_close(&t);
}
END_TEST

START_TEST(refused)
{
  static const struct { const char *body, *part; } bad[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r30,%r31,%r32,%r33}, {%r10,%r11}, "
       "{%r12,%r13}, {%r14,%r15,%r16,%r17};", "A of this shape and type is in 4 registers, not 2"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%r30,%r31,%r32,%r33}, "
       "{%r10,%r11,%r12,%r13}, {%r12,%r13}, {%r14,%r15,%r16,%r17};", "do not go together"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    struct tile t;
    ck_assert(!tile_open(&t, bad[k].body, 32, 0, true));
    ck_assert_msg(strstr(t.error.text, bad[k].part), "%s", t.error.text);
    tile_close(&t);
  }
}
END_TEST

/* ---- wmma ----------------------------------------------------------------------------------------- */

static const struct wmma_case {
  const char *shape;
  unsigned m, n, k;
  enum type ab, cd;
  unsigned a_regs, b_regs;     /* as nvcuda::wmma has them */
} wmmas[] = {
    {"m16n16k16", 16, 16, 16, F16, F32, 8, 8}, {"m16n16k16", 16, 16, 16, F16, F16, 8, 8},
    {"m32n8k16", 32, 8, 16, F16, F32, 8, 8},   {"m8n32k16", 8, 32, 16, F16, F32, 8, 8},
    {"m16n16k16", 16, 16, 16, BF16, F32, 4, 4}, {"m32n8k16", 32, 8, 16, BF16, F32, 8, 2},
    {"m16n16k8", 16, 16, 8, TF32, F32, 4, 4},  {"m16n16k16", 16, 16, 16, S8, S32, 2, 2},
    {"m8n32k16", 8, 32, 16, U8, S32, 1, 4},    {"m8n8k4", 8, 8, 4, F64, F64, 1, 1},
};
enum { WA = 0, WB = 8192, WC = 16384, WD = 24576 };

static double wa[32][16], wb[16][32], wc[32][32];

/* Line after line, `pitch` elements apart; by columns when `col`. */
static void put_tile(uint8_t *at, enum type type, bool col, unsigned pitch, unsigned r, unsigned c,
                     uint64_t v)
{
  put(at, (col ? c * pitch + r : r * pitch + c), types[type].bits, v);
}

START_TEST(wmma_products)
{
  const struct wmma_case *c = &wmmas[_i / 8];
  bool acol = _i & 1, bcol = _i >> 1 & 1, dcol = _i >> 2 & 1, wide = c->ab == F64;
  const char *reg = wide ? "%fd" : "%r", *ab = types[c->ab].name, *cd = types[c->cd].name;
  unsigned nc = c->m * c->n / 32 / (c->cd == F16 ? 2 : 1), base = wide ? 0 : 50;
  unsigned pa = (acol ? c->m : c->k) + 16, pb = (bcol ? c->k : c->n) + 16, pd = dcol ? c->m : c->n;
  char body[4000], list_a[100], list_b[100], list_c[100];
  list(list_a, sizeof list_a, reg, base, c->a_regs);
  list(list_b, sizeof list_b, reg, base + 10, c->b_regs);
  list(list_c, sizeof list_c, reg, base + 20, nc);
  size_t z = (size_t)snprintf(
      body, sizeof body,
      "mov.u32 %%r100, %u;\n"
      "wmma.load.a.sync.aligned.%s.%s.shared.%s %s, [%%r1], %u;\n"
      "wmma.load.b.sync.aligned.%s.%s.shared.%s %s, [%%r1+%d], %%r100;\n"
      "wmma.load.c.sync.aligned.%s.%s.shared.%s %s, [%%r1+%d], %u;\n", pb, acol ? "col" : "row",
      c->shape, ab, list_a, pa, bcol ? "col" : "row", c->shape, ab, list_b, WB, dcol ? "col" : "row",
      c->shape, cd, list_c, WC, pd);
  char kinds[60];
  if (c->ab == F16) snprintf(kinds, sizeof kinds, "%s.%s", cd, cd);
  else snprintf(kinds, sizeof kinds, "%s.%s.%s.%s", cd, ab, ab, cd);
  z += (size_t)snprintf(body + z, sizeof body - z,
                        "wmma.mma.sync.aligned.%s.%s.%s.%s%s %s, %s, %s, %s;\n"
                        "wmma.store.d.sync.aligned.%s.%s.shared.%s [%%r1+%d], %s, %u;\n"
                        "bar.warp.sync -1;\nmad.lo.u32 %%r101, %%r0, 64, %%r1;\n", acol ? "col" : "row",
                        bcol ? "col" : "row", c->shape, wide ? "rn." : "", kinds, list_c, list_a, list_b,
                        list_c, dcol ? "col" : "row", c->shape, cd, WD, list_c, pd);
  unsigned bytes = c->m * c->n * types[c->cd].bits / 8;
  z += (size_t)snprintf(body + z, sizeof body - z, "setp.lt.u32 %%p9, %%r0, %u;\n", bytes / 64);
  for (unsigned k = 0; k < TILE_WORDS; k++)
    z += (size_t)snprintf(body + z, sizeof body - z, "@%%p9 ld.shared.u32 %%r%u, [%%r101+%u];\n", 30 + k,
                          WD + 4 * k);
  struct tile t;
  ck_assert_msg(tile_open(&t, body, 32, WD, true), "%s", t.error.text);
  uint64_t seed = 1000 + (uint64_t)_i;
  memset(t.data, 0, WD);
  for (unsigned r = 0; r < 32; r++)
    for (unsigned k = 0; k < 32; k++) {
      uint64_t v = random_element(c->ab, true, &seed);
      if (r < c->m && k < c->k) {
        put_tile(t.data + WA, c->ab, acol, pa, r, k, v);
        wa[r][k] = value_of(c->ab, v);
      }
      v = random_element(c->ab, true, &seed);
      if (r < c->k && k < c->n) {
        put_tile(t.data + WB, c->ab, bcol, pb, r, k, v);
        wb[r][k] = value_of(c->ab, v);
      }
      v = random_element(c->cd, true, &seed);
      if (r < c->m && k < c->n) {
        put_tile(t.data + WC, c->cd, dcol, pd, r, k, v);
        wc[r][k] = value_of(c->cd, v);
      }
    }
  ck_assert_msg(tile_run(&t), "%s", t.result.nfaults ? t.result.faults->text : "");
  for (unsigned r = 0; r < c->m; r++)
    for (unsigned n = 0; n < c->n; n++) {
      double want = wc[r][n];
      for (unsigned k = 0; k < c->k; k++) want += wa[r][k] * wb[k][n];
      uint64_t v = 0;
      size_t size = types[c->cd].bits / 8;
      memcpy(&v, (uint8_t *)t.out + (dcol ? n * pd + r : r * pd + n) * size, size);
      ck_assert_msg(value_of(c->cd, v) == want, "%s %s, row %u column %u: %g, not %g", c->shape, ab, r, n,
                    value_of(c->cd, v), want);
    }
  tile_close(&t);
}
END_TEST

/* Accesses as ptxas makes them for sm_90: read off its machine code for these tiles. */
START_TEST(wmma_counts)
{
  static const struct { const char *body; enum model_op op; unsigned width, requests, wavefronts; } rows[] = {
      {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r50,%r51,%r52,%r53,%r54,%r55,%r56,%r57}, [%r1], "
       "40;", MODEL_LDMATRIX_X4, 16, 1, 4},
      {"wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {%r50,%r51,%r52,%r53,%r54,%r55,%r56,%r57}, [%r1], "
       "64;", MODEL_LDMATRIX_X4, 16, 1, 32},
      {"wmma.load.a.sync.aligned.row.m32n8k16.shared.f16 {%r50,%r51,%r52,%r53,%r54,%r55,%r56,%r57}, [%r1], "
       "40;", MODEL_LDMATRIX_X4, 16, 2, 8},
      {"wmma.load.b.sync.aligned.row.m32n8k16.shared.f16 {%r50,%r51,%r52,%r53,%r54,%r55,%r56,%r57}, [%r1], "
       "40;", MODEL_LDMATRIX_X2, 16, 1, 2},
      {"wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%r50,%r51}, [%r1], 48;", MODEL_LDMATRIX_X2, 16,
       1, 2},
      {"wmma.load.a.sync.aligned.col.m16n16k16.shared.s8 {%r50,%r51}, [%r1], 48;", MODEL_LOAD, 1, 8, 16},
      {"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%r50,%r51,%r52,%r53,%r54,%r55,%r56,%r57}, "
       "[%r1], 40;", MODEL_LOAD, 8, 4, 8},
      {"wmma.load.c.sync.aligned.col.m16n16k16.shared.f32 {%r50,%r51,%r52,%r53,%r54,%r55,%r56,%r57}, "
       "[%r1], 40;", MODEL_LOAD, 4, 8, 16},
      {"wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {%r50,%r51,%r52,%r53}, [%r1], 40;", MODEL_LOAD, 4,
       4, 4},
      {"wmma.load.c.sync.aligned.col.m16n16k16.shared.f16 {%r50,%r51,%r52,%r53}, [%r1], 40;", MODEL_LOAD, 4,
       4, 4},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    struct tile t;
    ck_assert_msg(tile_open(&t, rows[k].body, 32, 8192, true), "%s", t.error.text);
    ck_assert_msg(tile_run(&t), "%s", t.result.nfaults ? t.result.faults->text : "");
    const struct sim_site *s = tile_site(&t, rows[k].op);
    ck_assert_msg(s->width == rows[k].width && s->requests == rows[k].requests &&
                      s->wavefronts == rows[k].wavefronts, "%s\n%u bytes, %llu requests, %llu wavefronts",
                  rows[k].body, s->width, (unsigned long long)s->requests,
                  (unsigned long long)s->wavefronts);
    tile_close(&t);
  }
}
END_TEST

Suite *suite_sim_mma(void)
{
  Suite *s = suite_create("sim_mma");
  TCase *c = tcase_create("mma");
  tcase_add_loop_test(c, products, 0, sizeof cases / sizeof *cases);
  tcase_add_test(c, product_through_ldmatrix);
  tcase_add_test(c, refused);
  tcase_add_loop_test(c, wmma_products, 0, 8 * sizeof wmmas / sizeof *wmmas);
  tcase_add_test(c, wmma_counts);
  suite_add_tcase(s, c);
  return s;
}
