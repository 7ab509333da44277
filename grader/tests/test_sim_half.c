/* f16, bf16 and 8-bit numbers against a reference that rounds by search: of all numbers of a format,
 * the one nearest to the exact result, which is kept as a 128-bit integer or a double. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tile.h"

enum { THREADS = 1024, FIVE = 5 };

struct format { const char *name; unsigned e, m; unsigned most; bool infinite; };
static const struct format f16 = {"f16", 5, 10, 0x7bff, true}, bf16 = {"bf16", 8, 7, 0x7f7f, true},
                           e4m3 = {"e4m3", 4, 3, 0x7e, false}, e5m2 = {"e5m2", 5, 2, 0x7b, true};

static double value(const struct format *f, unsigned v)
{
  double sign = v >> (f->e + f->m) & 1 ? -1 : 1;
  unsigned code = v & ((1u << (f->e + f->m)) - 1), x = code >> f->m, frac = code & ((1u << f->m) - 1);
  int bias = (1 << (f->e - 1)) - 1;
  if (code > f->most) return f->infinite && code == f->most + 1 ? sign * INFINITY : NAN;
  return sign * (x ? ldexp((double)(frac | 1u << f->m), (int)x - bias - (int)f->m)
                   : ldexp((double)frac, 1 - bias - (int)f->m));
}

static bool nan_of(const struct format *f, unsigned v) { return isnan(value(f, v)); }

/* The nearest code to |x| = high + low exactly (both doubles); ties to even.  One step past the
 * largest number, as if the format went on, is infinity. */
static unsigned nearest(const struct format *f, double x)
{
  unsigned low = 0, high = f->most + 1;
  if (isnan(x)) return UINT32_MAX;
  unsigned sign = signbit(x) ? 1u << (f->e + f->m) : 0;
  x = fabs(x);
  double top = 2 * value(f, f->most) - value(f, f->most - 1);
  while (high - low > 1) {
    unsigned mid = (low + high) / 2;
    if (value(f, mid) <= x) low = mid;
    else high = mid;
  }
  double a = value(f, low), b = low == f->most ? top : value(f, low + 1);
  double below = x - a, above = b - x;   /* exact where it matters: neighbours are close */
  unsigned code = x >= b || above < below || (above == below && low % 2) ? low + 1 : low;
  if (code > f->most && !f->infinite) code = f->most;
  return code | sign;
}

/* A code's value in units of 2^-unit; below a unit 0, and cut at 2^120: neither is near an x. */
static __int128 units(const struct format *f, unsigned code, int unit)
{
  double top = 2 * value(f, f->most) - value(f, f->most - 1);
  double v = ldexp(code > f->most ? top : value(f, code), unit);
  return v > 0x1p120 ? (__int128)1 << 120 : (__int128)v;
}

/* The same for x in units of 2^-unit. */
static unsigned nearest_exact(const struct format *f, __int128 x, int unit, bool negative_zero)
{
  unsigned sign = x < 0 || (x == 0 && negative_zero) ? 1u << (f->e + f->m) : 0;
  __int128 ax = x < 0 ? -x : x;
  unsigned low = 0, high = f->most + 1;
  if (!x) return sign;
  while (high - low > 1) {
    unsigned mid = (low + high) / 2;
    if (units(f, mid, unit) <= ax) low = mid;
    else high = mid;
  }
  __int128 below = ax - units(f, low, unit), above = units(f, low + 1, unit) - ax;
  unsigned code = above < below || (above == below && low % 2) ? low + 1 : low;
  return code | sign;
}

static void open_ok(struct tile *t, const char *body)
{
  bool ok = tile_open(t, body, THREADS, 0, false);
  ck_assert_msg(ok, "line %u: %s\n%s", t->error.line, t->error.text, body);
}
static void run_ok(struct tile *t)
{
  ck_assert_msg(tile_run(t), "%s", t->result.nfaults ? t->result.faults->text : "");
}

/* A body of `n` lines; each %1 becomes the k-th output, %2 %3 %4 inputs k, k+5, k+10. */
static char *repeat(const char *line, unsigned n, bool unary)
{
  static char body[8000];
  size_t z = 0;
  for (unsigned k = 0; k < n; k++)
    for (const char *c = line; *c; c++) {
      if (*c != '@') {
        body[z++] = *c;
        continue;
      }
      unsigned which = (unsigned)(*++c - '0');
      unsigned reg = which == 1 ? 30 + k : unary ? 10 + k : 10 + k + FIVE * (which - 2);
      z += (size_t)snprintf(body + z, sizeof body - z, "%%r%u", reg);
    }
  body[z] = 0;
  return body;
}

/* ---- every half there is ------------------------------------------------------------------------ */

typedef bool unary_ok(unsigned a, unsigned got, unsigned which);

static bool ok_neg(unsigned a, unsigned got, unsigned w) { (void)w; return got == (a ^ 0x8000); }
static bool ok_abs(unsigned a, unsigned got, unsigned w) { (void)w; return got == (a & 0x7fff); }
static bool near(const struct format *f, double want, unsigned got, unsigned a)
{
  if (nan_of(f, a)) return got == 0x7fff;
  int away = (int)got - (int)nearest(f, want);
  return away >= -1 && away <= 1;
}
static bool ok_ex2(unsigned a, unsigned got, unsigned w)
{
  (void)w;
  return near(&f16, exp2(value(&f16, a)), got, a);
}
static bool ok_tanh(unsigned a, unsigned got, unsigned w)
{
  (void)w;
  return near(&f16, tanh(value(&f16, a)), got, a);
}
static bool ok_tanh_bf(unsigned a, unsigned got, unsigned w)
{
  (void)w;
  return near(&bf16, tanh(value(&bf16, a)), got, a);
}
static bool ok_flushed(unsigned a, unsigned got, unsigned w)
{
  (void)w;
  return got == ((a & 0x7c00 ? a : a & 0x8000) ^ 0x8000);
}

static const struct { const char *line; unary_ok *ok; } unary[] = {
    {"neg.f16x2 @1, @2;\n", ok_neg},          {"neg.bf16x2 @1, @2;\n", ok_neg},
    {"neg.ftz.f16x2 @1, @2;\n", ok_flushed},  {"abs.f16x2 @1, @2;\n", ok_abs},
    {"ex2.approx.f16x2 @1, @2;\n", ok_ex2},   {"tanh.approx.f16x2 @1, @2;\n", ok_tanh},
    {"tanh.approx.bf16x2 @1, @2;\n", ok_tanh_bf},
    /* one at a time, upper halves through a register of 16 bits */
    {"{ .reg .b16 l, h; mov.b32 {l, h}, @2; neg.f16 l, l; neg.bf16 h, h; mov.b32 @1, {l, h}; }\n",
     ok_neg},
    {"{ .reg .b16 l, h; mov.b32 {l, h}, @2; tanh.approx.f16 l, l; tanh.approx.f16 h, h;\n"
     "mov.b32 @1, {l, h}; }\n", ok_tanh},
};

START_TEST(every_half)
{
  struct tile t;
  open_ok(&t, repeat(unary[_i].line, TILE_WORDS, true));
  for (unsigned part = 0; part < 2; part++) {
    for (unsigned k = 0; k < THREADS * TILE_WORDS; k++) {
      uint32_t first = part * 0x8000 + 2 * k;
      t.in[k / TILE_WORDS][k % TILE_WORDS] = first | (first + 1) << 16;
    }
    run_ok(&t);
    for (unsigned k = 0; k < THREADS * TILE_WORDS * 2; k++) {
      unsigned a = part * 0x8000 + k;
      unsigned got = (uint16_t)(t.out[k / 2 / TILE_WORDS][k / 2 % TILE_WORDS] >> 16 * (k % 2));
      ck_assert_msg(unary[_i].ok(a, got, 0), "%s of 0x%04x: 0x%04x", unary[_i].line, a, got);
    }
  }
  tile_close(&t);
}
END_TEST

/* To float, and to integers, of every half: d32(low half) in one word. */
static bool int_ok(double x, uint32_t got, double (*round)(double), double least, double most)
{
  if (isnan(x)) return got == 0;
  x = round(x);
  return (double)(int32_t)got == (x < least ? least : x > most ? most : x);
}

START_TEST(every_half_widened)
{
  static const char *const lines[] = {
      "cvt.f32.f16 f, l;", "cvt.f32.bf16 f, l;", "cvt.rni.s32.f16 @1, l;", "cvt.rzi.s32.bf16 @1, l;",
      "cvt.rmi.s8.f16 @1, l;", "cvt.rpi.u32.f16 @1, l;", "cvt.f64.f16 d, l; cvt.rn.f32.f64 f, d;"};
  char line[300];
  bool is_int = strstr(lines[_i], "@1") != NULL;
  snprintf(line, sizeof line, "{ .reg .b16 l, h; .reg .f32 f; .reg .f64 d; mov.b32 {l, h}, @2; %s %s }\n",
           lines[_i], is_int ? "" : "mov.b32 @1, f;");
  const struct format *f = strstr(lines[_i], "bf16") ? &bf16 : &f16;
  struct tile t;
  open_ok(&t, repeat(line, TILE_WORDS, true));
  for (unsigned part = 0; part < 4; part++) {
    for (unsigned k = 0; k < THREADS * TILE_WORDS; k++)
      t.in[k / TILE_WORDS][k % TILE_WORDS] = (part << 14) + k;
    run_ok(&t);
    for (unsigned k = 0; k < THREADS * TILE_WORDS; k++) {
      unsigned a = (part << 14) + k;
      uint32_t got = t.out[k / TILE_WORDS][k % TILE_WORDS];
      double x = value(f, a);
      float y;
      memcpy(&y, &got, 4);
      bool ok;
      switch (_i) {
      case 2: ok = int_ok(x, got, nearbyint, INT32_MIN, INT32_MAX); break;
      case 3: ok = int_ok(x, got, trunc, INT32_MIN, INT32_MAX); break;
      case 4: ok = int_ok(x, got, floor, -128, 127); break;
      case 5: ok = isnan(x) ? got == 0 : got == (x < 0 ? 0 : isinf(x) ? UINT32_MAX : (uint32_t)ceil(x)); break;
      default: ok = isnan(x) ? isnan(y) : y == x && !signbit(y) == !signbit(x); break;
      }
      ck_assert_msg(ok, "%s of 0x%04x (%g): 0x%08x", lines[_i], a, x, got);
    }
  }
  tile_close(&t);
}
END_TEST

/* ---- pairs of random halves --------------------------------------------------------------------- */

enum op { ADD, SUB, MUL, FMA, FMA_RELU, ADD_SAT, MIN, MAX, MIN_NAN, MAX_XOR };
static const struct { const char *name; enum op op; unsigned sources; bool bf_too; } binary[] = {
    {"add.rn", ADD, 2, 1},  {"sub", SUB, 2, 1},      {"mul.rn", MUL, 2, 1},     {"fma.rn", FMA, 3, 1},
    {"fma.rn.relu", FMA_RELU, 3, 1}, {"add.sat", ADD_SAT, 2, 0}, {"min", MIN, 2, 1}, {"max", MAX, 2, 1},
    {"min.NaN", MIN_NAN, 2, 1}, {"max.xorsign.abs", MAX_XOR, 2, 1},
};

static unsigned pick(const struct format *f, uint64_t *seed, bool near_one)
{
  uint32_t r = tile_random(seed);
  if (f == &bf16 && near_one)   /* exponents from -20 to 20, as the exact integers allow */
    return (r & 0x807f) | (107 + (r >> 16) % 40) << 7;
  static const uint16_t odd[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 1, 0x8001, 0x3ff, 0x400, 0x7bff};
  static const uint16_t odd_bf[] = {0, 0x8000, 0x7f80, 0xff80, 0x7fc0, 1, 0x8001, 0x7f, 0x80, 0x7f7f};
  if (r >> 28 == 0) return f == &f16 ? odd[r % 10] : odd_bf[r % 10];
  return r & 0xffff;
}

static unsigned want_of(const struct format *f, enum op op, unsigned a, unsigned b, unsigned c)
{
  double x = value(f, a), y = value(f, b), z = value(f, c);
  double plain = op == ADD || op == ADD_SAT ? x + y : op == SUB ? x - y : op == MUL ? x * y
                                                                      : fma(x, y, z);
  if (op >= MIN) {
    double p = op == MAX_XOR ? fabs(x) : x, q = op == MAX_XOR ? fabs(y) : y, r;
    bool want_max = op == MAX || op == MAX_XOR;
    if (op == MIN_NAN && (isnan(p) || isnan(q))) return UINT32_MAX;
    if (isnan(p) || isnan(q)) r = isnan(p) ? q : p;
    else if (p == q) r = signbit(p) == want_max ? q : p;
    else r = (p < q) != want_max ? p : q;
    if (isnan(r)) return UINT32_MAX;
    if (op == MAX_XOR) r = copysign(r, (a ^ b) >> 15 ? -1 : 1);
    return nearest(f, r);
  }
  unsigned code;
  if (isnan(plain)) code = UINT32_MAX;
  else if (isinf(x) || isinf(y) || ((op == FMA || op == FMA_RELU) && isinf(z))) code = nearest(f, plain);
  else if (op == MUL) code = nearest(f, plain);   /* exact: at most 22 bits */
  else {
    int unit = f == &f16 ? 24 : 40;   /* inputs are whole in 2^-24, or bf16 near one in 2^-40 */
    __int128 i = (__int128)ldexp(x, unit), j = (__int128)ldexp(y, unit), k = (__int128)ldexp(z, unit);
    bool minus = signbit(plain) != 0;
    code = op == FMA || op == FMA_RELU ? nearest_exact(f, i * j + k * ((__int128)1 << unit), 2 * unit, minus)
           : nearest_exact(f, op == SUB ? i - j : i + j, unit, minus);
  }
  if (op == FMA_RELU && code != UINT32_MAX && code >> 15) return 0;
  if (op == ADD_SAT) {
    double r = code == UINT32_MAX ? 0 : value(f, code);
    return r > 0 ? r < 1 ? code : nearest(f, 1) : 0;
  }
  return code;
}

START_TEST(random_halves)
{
  for (unsigned bf = 0; bf <= binary[_i].bf_too; bf++)
    for (unsigned single = 0; single < 2; single++) {
      const struct format *f = bf ? &bf16 : &f16;
      char line[300];
      const char *const args = binary[_i].sources == 3 ? "@1, @2, @3, @4" : "@1, @2, @3";
      if (!single) snprintf(line, sizeof line, "%s.%sx2 %s;\n", binary[_i].name, f->name, args);
      else
        snprintf(line, sizeof line,
                 "{ .reg .b16 a, b, c, d, e, f; mov.b32 {a, d}, @2; mov.b32 {b, e}, @3;\n"
                 "mov.b32 {c, f}, @4; %s.%s a, a, b%s; %s.%s d, d, e%s; mov.b32 @1, {a, d}; }\n",
                 binary[_i].name, f->name, binary[_i].sources == 3 ? ", c" : "", binary[_i].name, f->name,
                 binary[_i].sources == 3 ? ", f" : "");
      struct tile t;
      uint64_t seed = 7 + (uint64_t)_i;
      open_ok(&t, repeat(line, FIVE, false));
      for (int round = 0; round < (single ? 1 : 4); round++) {
        bool exact = binary[_i].op != MUL && binary[_i].op < MIN;
        for (unsigned k = 0; k < THREADS * TILE_WORDS; k++)
          t.in[k / TILE_WORDS][k % TILE_WORDS] = pick(f, &seed, exact) | pick(f, &seed, exact) << 16;
        run_ok(&t);
        for (unsigned k = 0; k < THREADS * FIVE * 2; k++) {
          const uint32_t *in = t.in[k / 2 / FIVE];
          unsigned at = k / 2 % FIVE, shift = 16 * (k % 2), v[3];
          for (unsigned s = 0; s < 3; s++) v[s] = (uint16_t)(in[at + FIVE * s] >> shift);
          unsigned got = (uint16_t)(t.out[k / 2 / FIVE][at] >> shift);
          unsigned want = want_of(f, binary[_i].op, v[0], v[1], v[2]);
          if (want == UINT32_MAX) want = 0x7fff;
          ck_assert_msg(got == want, "%s.%s of 0x%04x 0x%04x 0x%04x (%g %g %g): 0x%04x (%g), not 0x%04x",
                        binary[_i].name, f->name, v[0], v[1], v[2], value(f, v[0]), value(f, v[1]),
                        value(f, v[2]), got, value(f, got), want);
        }
      }
      tile_close(&t);
    }
}
END_TEST

/* Products that float itself would round to a tie. */
START_TEST(bf16_products_near_zero)
{
  struct tile t;
  open_ok(&t, repeat("mul.rn.bf16x2 @1, @2, @3;\n", FIVE, false));
  uint64_t seed = 3;
  for (unsigned k = 0; k < THREADS; k++)
    for (unsigned j = 0; j < FIVE; j++) {   /* exponents that add up to about -133 */
      uint32_t r = tile_random(&seed), e = 20 + r % 60;
      t.in[k][j] = (r >> 8 & 0x7f) | e << 7;
      t.in[k][j + FIVE] = (r >> 16 & 0x7f) | (127 - 7 - (e - 0) + (r >> 24) % 12) << 7;
    }
  run_ok(&t);
  int subnormal = 0;
  for (unsigned k = 0; k < THREADS; k++)
    for (unsigned j = 0; j < FIVE; j++) {
      unsigned a = t.in[k][j] & 0xffff, b = t.in[k][j + FIVE] & 0xffff, got = t.out[k][j] & 0xffff;
      ck_assert_uint_eq(got, nearest(&bf16, value(&bf16, a) * value(&bf16, b)));
      subnormal += got && !(got & 0x7f80);
    }
  ck_assert_int_gt(subnormal, 500);
  tile_close(&t);
}
END_TEST

/* ---- comparisons -------------------------------------------------------------------------------- */

START_TEST(comparisons)
{
  static const struct { const char *op; bool less, equal, more, nan; } ops[] = {
      {"eq", 0, 1, 0, 0}, {"ne", 1, 0, 1, 0}, {"lt", 1, 0, 0, 0}, {"ge", 0, 1, 1, 0},
      {"gtu", 0, 0, 1, 1}, {"neu", 1, 0, 1, 1}, {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}};
  for (unsigned bf = 0; bf < 2; bf++) {
    const struct format *f = bf ? &bf16 : &f16;
    unsigned one = bf ? 0x3f80 : 0x3c00;
    char line[400];
    snprintf(line, sizeof line,
             "set.%s.%sx2.%sx2 %%r30, %%r10, %%r11;\nset.%s.u32.%sx2 %%r31, %%r10, %%r11;\n"
             "setp.%s.%sx2 %%p1|%%p2, %%r10, %%r11;\nselp.u32 %%r32, 1, 0, %%p1;\n"
             "selp.u32 %%r33, 1, 0, %%p2;\n"
             "mov.b32 {%%rs1, %%rs2}, %%r10;\nmov.b32 {%%rs3, %%rs4}, %%r11;\n"
             "setp.%s.%s %%p3|%%p4, %%rs1, %%rs3;\nselp.u32 %%r34, 1, 0, %%p3;\n"
             "selp.u32 %%r35, 1, 0, %%p4;\n", ops[_i].op, f->name, f->name, ops[_i].op, f->name, ops[_i].op,
             f->name, ops[_i].op, f->name);
    struct tile t;
    open_ok(&t, line);
    uint64_t seed = 11;
    for (unsigned k = 0; k < THREADS; k++)
      for (unsigned j = 0; j < 2; j++) {
        t.in[k][j] = pick(f, &seed, false) | pick(f, &seed, false) << 16;
        if (j && k % 5 == 0) t.in[k][1] = t.in[k][0];
      }
    run_ok(&t);
    for (unsigned k = 0; k < THREADS; k++) {
      bool holds[2];
      for (unsigned h = 0; h < 2; h++) {
        double x = value(f, (uint16_t)(t.in[k][0] >> 16 * h)), y = value(f, (uint16_t)(t.in[k][1] >> 16 * h));
        holds[h] = x < y ? ops[_i].less : x == y ? ops[_i].equal : x > y ? ops[_i].more : ops[_i].nan;
      }
      ck_assert_uint_eq(t.out[k][0], (holds[0] ? one : 0) | (holds[1] ? one << 16 : 0));
      ck_assert_uint_eq(t.out[k][1], (holds[0] ? 0xffff : 0) | (holds[1] ? 0xffff0000u : 0));
      ck_assert_uint_eq(t.out[k][2], holds[0]);
      ck_assert_uint_eq(t.out[k][3], holds[1]);
      ck_assert_uint_eq(t.out[k][4], holds[0]);
      ck_assert_uint_eq(t.out[k][5], !holds[0]);
    }
    tile_close(&t);
  }
}
END_TEST

/* ---- from float ------------------------------------------------------------------------------- */

static float float_of(uint32_t u)
{
  float f;
  memcpy(&f, &u, 4);
  return f;
}

/* Word k and word k + 5: the upper and the lower element. */
static const struct { const char *line; const struct format *f; bool relu; } narrowing[] = {
    {"cvt.rn.f16x2.f32 @1, @2, @3;\n", &f16, 0},
    {"cvt.rn.bf16x2.f32 @1, @2, @3;\n", &bf16, 0},
    {"cvt.rn.relu.f16x2.f32 @1, @2, @3;\n", &f16, 1},
    {"cvt.rn.relu.bf16x2.f32 @1, @2, @3;\n", &bf16, 1},
    {"{ .reg .b16 l, h; cvt.rn.f16.f32 h, @2; cvt.rn.f16.f32 l, @3; mov.b32 @1, {l, h}; }\n", &f16, 0},
    {"{ .reg .b16 l, h; cvt.rn.bf16.f32 h, @2; cvt.rn.bf16.f32 l, @3; mov.b32 @1, {l, h}; }\n", &bf16, 0},
    {"{ .reg .b16 l, h; .reg .f64 a, b; cvt.f64.f32 a, @2; cvt.f64.f32 b, @3; cvt.rn.f16.f64 h, a;\n"
     "cvt.rn.f16.f64 l, b; mov.b32 @1, {l, h}; }\n", &f16, 0},
    {"{ .reg .b16 l; cvt.rn.satfinite.e4m3x2.f32 l, @2, @3; cvt.u32.u16 @1, l; }\n", &e4m3, 0},
    {"{ .reg .b16 l; cvt.rn.satfinite.e5m2x2.f32 l, @2, @3; cvt.u32.u16 @1, l; }\n", &e5m2, 0},
    {"{ .reg .b16 l; cvt.rn.satfinite.relu.e4m3x2.f32 l, @2, @3; cvt.u32.u16 @1, l; }\n", &e4m3, 1},
};

START_TEST(narrowed_floats)
{
  const struct format *f = narrowing[_i].f;
  unsigned bits = 1 + f->e + f->m, nan = bits == 16 ? 0x7fff : 0x7f;
  struct tile t;
  open_ok(&t, repeat(narrowing[_i].line, FIVE, false));
  static const uint32_t edges[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 1, 0x80000001,
                                   0x477fefff, 0x477ff000, 0x7f7fffff, 0x43e00000, 0x43e80000, 0x43e80001,
                                   0x7f7f8000, 0x7f7f7fff, 0x33000000, 0x33000001, 0x477ff001};
  uint64_t seed = 21;
  for (unsigned k = 0; k < THREADS; k++)
    for (unsigned j = 0; j < 2 * FIVE; j++) {
      uint32_t r = tile_random(&seed), e = 127 - (1u << (f->e - 1)) - f->m - 2;
      uint32_t near_it = (r & 0x807fffff) | (e + tile_random(&seed) % ((1u << f->e) + f->m + 4)) << 23;
      if (f->e == 8) near_it = r;
      /* half of them lie on a tie, or beside one */
      unsigned cut = 22 - f->m;
      if (r >> 9 & 1) near_it = (near_it & ~((1u << cut) - 1)) | 1u << cut | (r >> 10 & 1);
      t.in[k][j] = k < 18 ? edges[(k + j) % 18] : near_it;
    }
  run_ok(&t);
  for (unsigned k = 0; k < THREADS; k++)
    for (unsigned j = 0; j < FIVE; j++)
      for (unsigned h = 0; h < 2; h++) {
        float x = float_of(t.in[k][h ? j : j + FIVE]);
        unsigned got = t.out[k][j] >> bits * h & ((1u << bits) - 1), want = nearest(f, x);
        if (want == UINT32_MAX) want = nan;
        else if (bits == 8 && (want & 0x7f) > f->most) want = (want & 0x80) | f->most;
        if (narrowing[_i].relu && want >> (bits - 1)) want = 0;
        ck_assert_msg(got == want, "%s of %a: 0x%x, not 0x%x", narrowing[_i].line, (double)x, got, want);
      }
  tile_close(&t);
}
END_TEST

START_TEST(single_conversions)
{
  static const struct { const char *line; uint32_t in, out; } rows[] = {
      {"cvt.rna.tf32.f32 @1, @2;\n", 0x3f801000, 0x3f802000},    /* a tie goes away from zero */
      {"cvt.rna.tf32.f32 @1, @2;\n", 0x3f800fff, 0x3f800000},
      {"cvt.rn.tf32.f32 @1, @2;\n", 0x3f801000, 0x3f800000},
      {"cvt.rz.tf32.f32 @1, @2;\n", 0xbf801fff, 0xbf800000},
      {"cvt.rna.tf32.f32 @1, @2;\n", 0x7fffffff, 0x7fffffff},
      {"cvt.rna.tf32.f32 @1, @2;\n", 0x7f7fffff, 0x7f800000},
      {"cvt.rz.f16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x477fffff, 0x7bff},
      {"cvt.rp.f16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x00000001, 0x0001},
      {"cvt.rm.f16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x80000001, 0x8001},
      {"cvt.rp.ftz.f16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x00000001, 0x0000},
      {"cvt.rm.f16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x47800000, 0x7bff},
      {"cvt.rp.f16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x47800000, 0x7c00},
      {"cvt.rn.sat.f16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x40000000, 0x3c00},
      {"cvt.rz.bf16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x3fffffff, 0x3fff},
      {"cvt.rn.satfinite.bf16.f32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x7f800000, 0x7f7f},
      {"cvt.rn.f16.s32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", (uint32_t)-2049, 0xe800},
      {"cvt.rn.f16.u32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 65520, 0x7c00},
      {"cvt.rn.bf16.s32 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 257, 0x4380},
      {"cvt.rn.f16x2.e4m3x2 @1, %rs1;\n", 0, 0},
      {"cvt.u16.u32 %rs1, @2; cvt.rn.f16x2.e4m3x2 @1, %rs1;\n", 0x7f01, 0x7fff1800},
      {"cvt.u16.u32 %rs1, @2; cvt.rn.f16x2.e5m2x2 @1, %rs1;\n", 0xfc3c, 0xfc003c00},
      {"cvt.rn.satfinite.e4m3x2.f16x2 %rs1, @2; cvt.u32.u16 @1, %rs1;\n", 0x7c003c00, 0x7e38},
      {"cvt.u16.u32 %rs1, @2; cvt.rni.f16.f16 %rs1, %rs1; cvt.u32.u16 @1, %rs1;\n", 0x4100, 0x4000},
      {"cvt.u16.u32 %rs1, @2; cvt.rn.bf16.f16 %rs1, %rs1; cvt.u32.u16 @1, %rs1;\n", 0x3c08, 0x3f81},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (!rows[k].out && !rows[k].in) continue;
    struct tile t;
    open_ok(&t, repeat(rows[k].line, 1, true));
    for (unsigned l = 0; l < THREADS; l++) t.in[l][0] = rows[k].in;
    run_ok(&t);
    ck_assert_msg(t.out[37][0] == rows[k].out, "%s of 0x%08x: 0x%08x, not 0x%08x", rows[k].line,
                  rows[k].in, t.out[37][0], rows[k].out);
    tile_close(&t);
  }
}
END_TEST

/* ---- atomics, and integers in pieces ------------------------------------------------------------ */

/* 1,024 threads add to words of shared memory, four to a word; sums of small whole numbers are exact. */
START_TEST(atomic_halves)
{
  static const char *const lines[] = {
      "red.shared.add.noftz.f16x2 [%r50], %r10;", "atom.shared.add.noftz.f16x2 %r31, [%r50], %r10;",
      "red.shared.add.noftz.bf16x2 [%r50], %r10;",
      "atom.shared.add.noftz.f16 %rs5, [%r50], %rs1;\natom.shared.add.noftz.f16 %rs6, [%r50+2], %rs2;"};
  const struct format *f = _i == 2 ? &bf16 : &f16;
  char body[600];
  snprintf(body, sizeof body, "and.b32 %%r50, %%r0, 255;\nmad.lo.u32 %%r50, %%r50, 4, %%r1;\n"
           "mov.b32 {%%rs1, %%rs2}, %%r10;\n%s\nbar.sync 0;\nld.shared.u32 %%r30, [%%r50];\n", lines[_i]);
  struct tile t;
  ck_assert_msg(tile_open(&t, body, THREADS, 1024, true), "%s", t.error.text);
  memset(t.data, 0, 1024);
  for (unsigned k = 0; k < THREADS; k++)
    t.in[k][0] = nearest(f, (double)(k % 13)) | nearest(f, -(double)(k % 7)) << 16;
  run_ok(&t);
  for (unsigned k = 0; k < THREADS; k++) {
    double low = 0, high = 0;
    for (unsigned j = k % 256; j < THREADS; j += 256) low += j % 13, high -= j % 7;
    ck_assert(value(f, (uint16_t)t.out[k][0]) == low && value(f, t.out[k][0] >> 16) == high);
  }
  if (_i < 3) ck_assert_uint_eq(tile_site(&t, MODEL_ATOM_LOOP)->requests, 32);
  tile_close(&t);
}
END_TEST

static int piece(uint32_t v, unsigned k, unsigned n, bool is_signed)
{
  if (n == 4) return is_signed ? (int8_t)(v >> 8 * k) : (int)(v >> 8 * k & 0xff);
  return is_signed ? (int16_t)(v >> 16 * k) : (int)(v >> 16 * k & 0xffff);
}
static int v_add(int a, int b) { return a + b; }
static int v_sub(int a, int b) { return a - b; }
static int v_abs(int a, int b) { return abs(a - b); }
static int v_min(int a, int b) { return a < b ? a : b; }
static int v_max(int a, int b) { return a > b ? a : b; }
static int v_mean(int a, int b) { return (int)floor((a + b + (a + b >= 0)) / 2.0); }
static int v_gt(int a, int b) { return a > b; }

static const struct { const char *line; int (*f)(int, int); int n, sign, sat, add; } videos[] = {
    {"vabsdiff4.u32.u32.u32 @1, @2, @3, @2;\n", v_abs, 4, 0, 0, 0},
    {"vabsdiff4.u32.u32.u32.add @1, @2, @3, @4;\n", v_abs, 4, 0, 0, 1},
    {"vabsdiff4.s32.s32.s32.add @1, @2, @3, @4;\n", v_abs, 4, 1, 0, 1},
    {"vadd4.s32.s32.s32.sat @1, @2, @3, @4;\n", v_add, 4, 1, 1, 0},
    {"vsub4.u32.u32.u32.sat @1, @2, @3, @4;\n", v_sub, 4, 0, 1, 0},
    {"vavrg4.u32.u32.u32 @1, @2, @3, @4;\n", v_mean, 4, 0, 0, 0},
    {"vmin4.s32.s32.s32 @1, @2, @3, @4;\n", v_min, 4, 1, 0, 0},
    {"vmax4.u32.u32.u32 @1, @2, @3, @4;\n", v_max, 4, 0, 0, 0},
    {"vset4.u32.u32.gt.add @1, @2, @3, @4;\n", v_gt, 4, 0, 0, 1},
    {"vadd2.u32.u32.u32 @1, @2, @3, @4;\n", v_add, 2, 0, 0, 0},
    {"vsub2.s32.s32.s32.sat @1, @2, @3, @4;\n", v_sub, 2, 1, 1, 0},
    {"vavrg2.s32.s32.s32 @1, @2, @3, @4;\n", v_mean, 2, 1, 0, 0},
    {"vabsdiff2.u32.u32.u32.add @1, @2, @3, @4;\n", v_abs, 2, 0, 0, 1},
    {"vmin2.u32.u32.u32 @1, @2, @3, @4;\n", v_min, 2, 0, 0, 0},
    {"vmax2.s32.s32.s32 @1, @2, @3, @4;\n", v_max, 2, 1, 0, 0},
    {"vset2.u32.u32.gt @1, @2, @3, @4;\n", v_gt, 2, 0, 0, 0},
};

START_TEST(video)
{
  struct tile t;
  open_ok(&t, repeat(videos[_i].line, FIVE, false));
  uint64_t seed = 31;
  for (unsigned k = 0; k < THREADS * TILE_WORDS; k++) {
    uint32_t r = tile_random(&seed);
    t.in[k / TILE_WORDS][k % TILE_WORDS] = k % 3 ? r : r & 0x80ff7f01;
  }
  run_ok(&t);
  unsigned n = (unsigned)videos[_i].n, bits = 32 / n;
  for (unsigned k = 0; k < THREADS; k++)
    for (unsigned j = 0; j < FIVE; j++) {
      uint32_t sum = t.in[k][j + 2 * FIVE], packed = 0;
      for (unsigned e = 0; e < n; e++) {
        int r = videos[_i].f(piece(t.in[k][j], e, n, videos[_i].sign),
                             piece(t.in[k][j + FIVE], e, n, videos[_i].sign));
        int most = videos[_i].sign ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
        int least = videos[_i].sign ? -most - 1 : 0;
        if (videos[_i].sat) r = r < least ? least : r > most ? most : r;
        sum += (uint32_t)r;
        packed |= ((uint32_t)r & ((1u << bits) - 1)) << bits * e;
      }
      ck_assert_msg(t.out[k][j] == (videos[_i].add ? sum : packed), "%s of %08x %08x: %08x", videos[_i].line,
                    t.in[k][j], t.in[k][j + FIVE], t.out[k][j]);
    }
  tile_close(&t);
}
END_TEST

/* Hints change nothing: the values around them come through. */
START_TEST(hints)
{
  struct tile t;
  open_ok(&t, "createpolicy.fractional.L2::evict_last.b64 %rd20, 1.0;\ndiscard.global.L2 [%rd2], 128;\n"
              "ld.global.L2::cache_hint.u32 %r30, [%rd1], %rd20;\n");
  for (unsigned k = 0; k < THREADS; k++) t.in[k][0] = 3 * k;
  run_ok(&t);
  for (unsigned k = 0; k < THREADS; k++) ck_assert_uint_eq(t.out[k][0], 3 * k);
  tile_close(&t);
}
END_TEST

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

Suite *suite_sim_half(void)
{
  Suite *s = suite_create("sim_half");
  TCase *c = tcase_create("half");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, every_half, 0, COUNT(unary));
  tcase_add_loop_test(c, every_half_widened, 0, 7);
  tcase_add_loop_test(c, random_halves, 0, COUNT(binary));
  tcase_add_test(c, bf16_products_near_zero);
  tcase_add_loop_test(c, comparisons, 0, 8);
  tcase_add_loop_test(c, narrowed_floats, 0, COUNT(narrowing));
  tcase_add_test(c, single_conversions);
  tcase_add_loop_test(c, atomic_halves, 0, 4);
  tcase_add_loop_test(c, video, 0, COUNT(videos));
  tcase_add_test(c, hints);
  suite_add_tcase(s, c);
  return s;
}
