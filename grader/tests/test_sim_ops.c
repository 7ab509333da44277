/* Every instruction the simulator knows, against plain C, on edge values and random ones.
 *
 * A kernel is written for each instruction: thread t loads a[t], b[t], c[t], runs it and stores the
 * result; once for all lanes and once under a predicate that differs from lane to lane, which must
 * leave the other lanes' results alone.  sim/ops.def lists instructions with their meaning;
 * arithmetic in all rounding modes, conversions and comparisons are made in loops below.  The meaning is
 * found another way than the simulator finds it: bit by bit, or in 128-bit numbers. */
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { N = 2048, THREADS = 256, MOST = 700, TEXT = 1 << 20 };

/* ---- helpers the meanings use ---------------------------------------------------------------- */

#define U16(x) ((uint16_t)(x))
#define S16(x) ((int16_t)(x))
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))
#define P(x) ((x) >> 7 & 1)
static float F(uint64_t x)
{
  uint32_t u = (uint32_t)x;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static double D(uint64_t x)
{
  double d;
  memcpy(&d, &x, 8);
  return d;
}
static uint64_t of_float(float f)
{
  uint32_t u;
  memcpy(&u, &f, 4);
  return isnan(f) ? 0x7fffffff : u;
}
static uint64_t of_double(double d)
{
  uint64_t u;
  memcpy(&u, &d, 8);
  return u;
}
static uint64_t clamp_s32(__int128 v)
{
  return (uint64_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}
static uint64_t high_product(uint64_t a, uint64_t b)   /* by schoolbook halves */
{
  uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
  uint64_t mid = ah * bl + (al * bl >> 32), low = (uint32_t)mid + al * bh;
  return ah * bh + (mid >> 32) + (low >> 32);
}
static int64_t sign_from(uint64_t v, unsigned bit)
{
  uint64_t m = 1ull << bit;
  v &= 2 * m - 1;
  return (int64_t)((v ^ m) - m);
}
static uint64_t count_ones(uint64_t v)
{
  unsigned n = 0;
  for (int k = 0; k < 64; k++) n += v >> k & 1;
  return n;
}
static uint64_t leading(uint64_t v, int bits)
{
  int n = 0;
  while (n < bits && !(v >> (bits - 1 - n) & 1)) n++;
  return (uint64_t)n;
}
static uint64_t unsign(uint64_t v, int bits)   /* bits that differ from the sign */
{
  uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;
  return v >> (bits - 1) & 1 ? ~v & all : v;
}
static bool leading_sign(uint64_t v, int bits) { return unsign(v, bits) != 0; }
static uint64_t leading_sign_zeros(uint64_t v, int bits) { return leading(unsign(v, bits), bits); }
static uint64_t mirror(uint64_t v, int bits)
{
  uint64_t r = 0;
  for (int k = 0; k < bits; k++) r |= (v >> k & 1) << (bits - 1 - k);
  return r;
}
static uint64_t bfe_by_bits(uint64_t a, uint64_t b, uint64_t c, unsigned bits, bool is_signed)
{
  unsigned pos = b & 255, len = c & 255, msb = bits - 1;
  uint64_t r = 0;
  unsigned top = pos + len - 1 < msb ? pos + len - 1 : msb;
  uint64_t sign = !is_signed || len == 0 ? 0 : a >> top & 1;
  for (unsigned k = 0; k < bits; k++)
    r |= (k < len && pos + k <= msb ? a >> (pos + k) & 1 : sign) << k;
  return r;
}
static uint64_t bfi_by_bits(uint64_t a, uint64_t b, uint64_t c, uint64_t e, unsigned bits)
{
  unsigned pos = c & 255, len = e & 255;
  for (unsigned k = 0; k < len && pos + k < bits; k++)
    b = (b & ~(1ull << (pos + k))) | (k < 64 ? a >> k & 1 : 0) << (pos + k);
  return b;
}
static uint64_t nth(uint64_t mask, uint64_t base, int64_t offset)
{
  if (base > 31) return ~0ull;
  if (!offset) return mask >> base & 1 ? base : ~0ull;
  for (int64_t at = (int64_t)base, left = llabs(offset); at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
    if ((mask >> at & 1) && --left == 0) return (uint64_t)at;
  return ~0ull;
}
static uint64_t bits_run(uint64_t at, uint64_t n)
{
  uint64_t r = 0;
  for (uint64_t k = 0; k < n && k + at < 32; k++) r |= 1ull << (k + at);
  return r;
}
static uint64_t dot(uint64_t a, uint64_t b, int n, bool sa, bool sb, int bits)
{
  int64_t sum = 0;
  for (int k = 0; k < n; k++) {
    uint64_t x = a >> (bits * k), y = b >> (8 * k);
    int64_t u = sa ? sign_from(x, (unsigned)bits - 1) : (int64_t)(x & ((1u << bits) - 1));
    sum += u * (sb ? sign_from(y, 7) : (int64_t)(y & 255));
  }
  return (uint64_t)sum;
}
static uint64_t lut_by_bits(uint64_t a, uint64_t b, uint64_t c, unsigned lut)
{
  uint64_t r = 0;
  for (int k = 0; k < 32; k++)
    r |= (uint64_t)(lut >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k;
  return r;
}
static uint64_t prmt_by_bytes(uint64_t a, uint64_t b, uint64_t c)
{
  uint8_t from[8], to[4];
  for (int k = 0; k < 8; k++) from[k] = (uint8_t)((k < 4 ? a : b) >> (8 * (k % 4)));
  for (int k = 0; k < 4; k++) {
    unsigned sel = c >> (4 * k) & 15;
    to[k] = sel < 8 ? from[sel] : from[sel - 8] >= 128 ? 255 : 0;
  }
  return to[0] | (uint64_t)to[1] << 8 | (uint64_t)to[2] << 16 | (uint64_t)to[3] << 24;
}
static uint64_t flush(uint64_t f) { return (f & 0x7f800000) ? f : f & 0x80000000; }
static uint64_t min_max(uint64_t a, uint64_t b, bool max, bool nan)
{
  bool na = isnan(F(a)), nb = isnan(F(b));
  if (na && nb) return 0x7fffffff;
  if (na || nb) return nan ? 0x7fffffff : na ? b : a;
  if (F(a) == F(b)) return max ? a & b : a | b;
  return (F(a) > F(b)) == max ? a : b;
}
static uint64_t xor_sign(uint64_t r, uint64_t sign)
{
  return r == 0x7fffffff ? r : (r & 0x7fffffff) | (sign & 0x80000000);
}

/* ---- rounding, done by hand in 128-bit floats ------------------------------------------------------ */

typedef __float128 quad;
enum { RN, RZ, RM, RP };

/* From the nearest float and the sign of what was lost. */
static float directed(float r, quad lost, int mode, bool zero_is_negative)
{
  if (isnan(r)) return r;
  bool up = false, down = false;
  if (r == 0 && lost == 0) return mode == RM && zero_is_negative ? -0.0f : r;
  quad exact = isinf(r) ? (quad)r : (quad)r + lost;
  if (mode == RP) up = lost > 0;
  if (mode == RM) down = lost < 0;
  if (mode == RZ && exact > 0) down = lost < 0;
  if (mode == RZ && exact < 0) up = lost > 0;
  return up ? nextafterf(r, INFINITY) : down ? nextafterf(r, -INFINITY) : r;
}
static double directed_d(double r, quad lost, int mode, bool zero_is_negative)
{
  if (isnan(r)) return r;
  if (r == 0 && lost == 0) return mode == RM && zero_is_negative ? -0.0 : r;
  bool up = mode == RP && lost > 0, down = mode == RM && lost < 0;
  bool positive = isinf(r) ? r > 0 : (quad)r + lost > 0;
  if (mode == RZ && positive) down = lost < 0;
  if (mode == RZ && !positive) up = lost > 0;
  return up ? nextafter(r, INFINITY) : down ? nextafter(r, -INFINITY) : r;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

struct row;
typedef uint64_t meaning(const struct row *r, uint64_t a, uint64_t b, uint64_t c);
struct row {
  char text[240];
  char d, a, b, c;             /* kinds of registers */
  meaning *want;
  int p[6];                    /* for the meaning */
  double tolerance;            /* approximate: relative, or absolute below 1 (f32) */
};

static struct row rows[MOST];
static unsigned nrows;

static struct row *add(const char *d, const char *a, const char *b, const char *c, meaning *want)
{
  ck_assert_uint_lt(nrows, MOST);
  struct row *r = &rows[nrows++];
  memset(r, 0, sizeof *r);
  r->d = *d;
  r->a = *a;
  r->b = *b;
  r->c = *c;
  r->want = want;
  return r;
}

/* One function for all rows of ops.def: the row's number picks the expression. */
static uint64_t of_table(const struct row *r, uint64_t a, uint64_t b, uint64_t c)
{
  switch (r->p[0]) {
#define OP(text, d, a, b, c, expr) case __LINE__: return (uint64_t)(expr);
#include "sim/ops.def"
#undef OP
  }
  ck_abort();
  return 0;
}

static void rows_of_table(void)
{
  struct row *r;
#define OP(t, d, a, b, c, expr)                                                                \
  r = add(#d, #a, #b, #c, of_table);                                                            \
  snprintf(r->text, sizeof r->text, "%s", t);                                                    \
  r->p[0] = __LINE__;
#include "sim/ops.def"
#undef OP
}

/* p: op, mode, ftz, sat */
enum { ADD, SUB, MUL, DIV, FMA, RCP, SQRT };

static uint64_t want_f32(const struct row *r, uint64_t a, uint64_t b, uint64_t c)
{
  if (r->p[2]) a = flush(a), b = flush(b), c = flush(c);
  float x = F(a), y = F(b), z = F(c), v = 0;
  quad lost = 0;
  bool negative_zero = false;
  switch (r->p[0]) {
  case ADD: v = x + y; lost = fabs((double)x) > fabs((double)y) ? ((quad)x - v) + y : ((quad)y - v) + x; negative_zero = !(x == 0 && y == 0 && !signbit(x) && !signbit(y)); break;
  case SUB: v = x - y; lost = fabs((double)x) > fabs((double)y) ? ((quad)x - v) - y : (-(quad)y - v) + x; negative_zero = !(x == 0 && y == 0 && !signbit(x) && signbit(y)); break;
  case MUL: v = x * y; lost = (quad)x * y - v; negative_zero = signbit(v); break;
  case DIV: v = x / y; lost = isfinite(v) && y != 0 ? ((quad)x - (quad)v * y) / y : isfinite(x) && isfinite(y) && y != 0 ? (v > 0 ? -1 : 1) : 0; negative_zero = signbit(v); break;
  case RCP: v = 1 / x; lost = isfinite(v) && x != 0 && isfinite(x) ? (1 - (quad)v * x) / x : isfinite(x) && x != 0 ? (v > 0 ? -1 : 1) : 0; negative_zero = signbit(v); break;
  case SQRT: v = sqrtf(x); lost = isfinite(v) && v != 0 ? ((quad)x - (quad)v * v) / v : 0; negative_zero = signbit(v); break;
  case FMA: {
    v = fmaf(x, y, z);
    quad p = (quad)x * y;
    lost = fabsl((long double)p) > fabsf(z) ? (p - v) + z : ((quad)z - v) + p;
    negative_zero = !(p == 0 && z == 0 && !signbit((double)p) && !signbit(z)) ;
    break;
  }
  }
  if (isinf(v) && lost != lost) lost = 0;   /* an infinite operand: exact */
  if (r->p[1]) v = directed(v, lost, r->p[1], negative_zero);
  uint64_t u = of_float(v);
  if (r->p[2]) u = flush(u);
  if (r->p[3]) u = isnan(F(u)) || F(u) <= 0 ? 0 : F(u) > 1 ? 0x3f800000 : u;
  return u;
}

static uint64_t want_f64(const struct row *r, uint64_t a, uint64_t b, uint64_t c)
{
  double x = D(a), y = D(b), z = D(c), v = 0;
  quad lost = 0;
  bool negative_zero = false;
  switch (r->p[0]) {
  case ADD: v = x + y; lost = fabs((double)x) > fabs((double)y) ? ((quad)x - v) + y : ((quad)y - v) + x; negative_zero = !(x == 0 && y == 0 && !signbit(x) && !signbit(y)); break;
  case SUB: v = x - y; lost = fabs((double)x) > fabs((double)y) ? ((quad)x - v) - y : (-(quad)y - v) + x; negative_zero = !(x == 0 && y == 0 && !signbit(x) && signbit(y)); break;
  case MUL: v = x * y; lost = (quad)x * y - v; negative_zero = signbit(v); break;
  case DIV: v = x / y; break;
  case RCP: v = 1 / x; break;
  case SQRT: v = sqrt(x); break;
  case FMA: v = fma(x, y, z); break;
  }
  if (isinf(v) && lost != lost) lost = 0;
  if (r->p[1]) v = directed_d(v, lost, r->p[1], negative_zero);
  return of_double(v);
}

static void rows_of_arithmetic(void)
{
  static const char *const names[] = {"add", "sub", "mul", "div", "fma", "rcp", "sqrt"};
  static const char *const modes[] = {"rn", "rz", "rm", "rp"};
  for (int op = ADD; op <= SQRT; op++)
    for (int mode = 0; mode < 4; mode++) {
      bool one = op >= RCP, three = op == FMA;
      const char *args = one ? "%d, %a" : three ? "%d, %a, %b, %c" : "%d, %a, %b";
      for (int ftz = 0; ftz < 2; ftz++)
        for (int sat = 0; sat < 2; sat++) {
          if (sat && (op == DIV || one)) continue;
          struct row *r = add("f", "f", one ? "-" : "f", three ? "f" : "-", want_f32);
          snprintf(r->text, sizeof r->text, "%s.%s%s%s.f32 %s;", names[op], modes[mode],
                   ftz ? ".ftz" : "", sat ? ".sat" : "", args);
          memcpy(r->p, (int[]){op, mode, ftz, sat}, 4 * sizeof(int));
        }
      /* Exactness of f64 quotients, roots and fma is the host's; its directed sums are ours. */
      if (mode && (op >= DIV)) continue;
      struct row *r = add("d", "d", one ? "-" : "d", three ? "d" : "-", want_f64);
      snprintf(r->text, sizeof r->text, "%s.%s.f64 %s;", names[op], modes[mode], args);
      memcpy(r->p, (int[]){op, mode}, 2 * sizeof(int));
    }
}

/* Approximate functions: the true value in double, and how far from it PTX allows. */
static uint64_t want_approx(const struct row *r, uint64_t a, uint64_t b, uint64_t c)
{
  (void)c;
  if (r->p[1]) a = flush(a), b = flush(b);
  double x = F(a), y = F(b), v = 0;
  switch (r->p[0]) {
  case 0: v = 1 / x; break;
  case 1: v = sqrt(x); break;
  case 2: v = 1 / sqrt(x); break;
  case 3: v = sin(x); break;
  case 4: v = cos(x); break;
  case 5: v = log2(x); break;
  case 6: v = exp2(x); break;
  case 7: v = x / y; break;
  case 8: v = tanh(x); break;
  case 9: v = fabs(y) > 0x1p126 && !isinf(y) ? (isinf(x) || isnan(x) ? (double)NAN : copysign(0, x * copysign(1, y))) : x / y; break;
  }
  uint64_t u = of_float((float)v);
  return r->p[1] ? flush(u) : u;
}
static void rows_of_approximations(void)
{
  static const struct { const char *text; int f, two; double tolerance; } t[] = {
      {"rcp.approx", 0, 0, 0x1p-23}, {"sqrt.approx", 1, 0, 0x1p-22}, {"rsqrt.approx", 2, 0, 0x1p-22},
      {"sin.approx", 3, 0, 0x1p-20}, {"cos.approx", 4, 0, 0x1p-20}, {"lg2.approx", 5, 0, 0x1p-22},
      {"ex2.approx", 6, 0, 0x1p-22}, {"div.full", 7, 1, 0x1p-22}, {"tanh.approx", 8, 0, 0x1p-11},
      {"div.approx", 9, 1, 0x1p-22}};
  for (size_t k = 0; k < sizeof t / sizeof *t; k++)
    for (int ftz = 0; ftz < 2; ftz++) {
      if (ftz && t[k].f == 8) continue;
      struct row *r = add("f", "f", t[k].two ? "f" : "-", "-", want_approx);
      snprintf(r->text, sizeof r->text, "%s%s.f32 %%d, %%a%s;", t[k].text, ftz ? ".ftz" : "",
               t[k].two ? ", %b" : "");
      r->p[0] = t[k].f;
      r->p[1] = ftz;
      r->tolerance = t[k].tolerance;
    }
}

/* setp.  p: comparison, type */
static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                       "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs"};
static uint64_t want_compare(const struct row *r, uint64_t a, uint64_t b, uint64_t c)
{
  int order;                   /* -1 0 1, 2: unordered */
  (void)c;
#define ORDER(x, y) ((x) < (y) ? -1 : (x) > (y) ? 1 : (x) == (y) ? 0 : 2)
  switch (r->p[1]) {
  case 'u': case 'b': order = ORDER(a, b); break;
  case 'h': order = ORDER(S16(a), S16(b)); break;
  case 's': order = ORDER(S32(a), S32(b)); break;
  case 'q': order = ORDER(S64(a), S64(b)); break;
  case 'f': order = ORDER(F(a), F(b)); break;
  default: order = ORDER(D(a), D(b)); break;
  }
  /* Bits of less, equal, greater, unordered that satisfy each. */
  static const uint8_t sets[] = {2, 5, 1, 3, 4, 6, 10, 13, 9, 11, 12, 14, 7, 8, 1, 3, 4, 6};
  return sets[r->p[0]] >> (order + 1) & 1;
}
static void rows_of_comparisons(void)
{
  static const struct { const char *type, *reg; int as; } t[] = {
      {"u16", "h", 'u'}, {"s16", "h", 'h'}, {"b16", "h", 'b'}, {"u32", "r", 'u'}, {"s32", "r", 's'},
      {"b32", "r", 'b'}, {"u64", "q", 'u'}, {"s64", "q", 'q'}, {"f32", "f", 'f'}, {"f64", "d", 'd'}};
  for (size_t k = 0; k < sizeof t / sizeof *t; k++)
    for (int op = 0; op < 18; op++) {
      bool is_float = t[k].as == 'f' || t[k].as == 'd';
      if (op >= 6 && op < 14 && !is_float) continue;
      if (op >= 14 && t[k].as != 'u') continue;
      if (op >= 2 && t[k].as == 'b') continue;
      struct row *r = add("r", t[k].reg, t[k].reg, "-", want_compare);
      snprintf(r->text, sizeof r->text,
               "{ .reg .pred %%t; setp.%s.%s %%t, %%a, %%b; selp.u32 %%d, 1, 0, %%t; }", compares[op],
               t[k].type);
      r->p[0] = op;
      r->p[1] = t[k].as;
    }
}

/* cvt.  p: index of to, of from, rounding (0-3 rn.., 4-7 rni.., 8 none), sat, ftz */
static const struct { const char *name, *reg; int bits, is_float, is_signed; } types[] = {
    {"u8", "h", 8, 0, 0}, {"s8", "h", 8, 0, 1}, {"u16", "h", 16, 0, 0}, {"s16", "h", 16, 0, 1},
    {"u32", "r", 32, 0, 0}, {"s32", "r", 32, 0, 1}, {"u64", "q", 64, 0, 0}, {"s64", "q", 64, 0, 1},
    {"f32", "f", 32, 1, 1}, {"f64", "d", 64, 1, 1}};

static quad whole(quad x, int mode)   /* x rounded to an integer; |x| < 2^100 */
{
  __int128 t = (__int128)x;           /* towards zero */
  quad rest = x - (quad)t;
  if (mode == RZ || rest == 0) return (quad)t;
  if (mode == RM) return (quad)(rest < 0 ? t - 1 : t);
  if (mode == RP) return (quad)(rest > 0 ? t + 1 : t);
  quad size = rest < 0 ? -rest : rest;
  int step = rest < 0 ? -1 : 1;
  if (size > (quad)0.5 || (size == (quad)0.5 && (t & 1))) return (quad)(t + step);
  return (quad)t;
}
static uint64_t want_cvt(const struct row *r, uint64_t a, uint64_t b, uint64_t c)
{
  (void)b, (void)c;
  int to = r->p[0], from = r->p[1], mode = r->p[2], bits = types[to].bits;
  __int128 least = types[to].is_signed ? -((__int128)1 << (bits - 1)) : 0;
  __int128 most = ((__int128)1 << (bits - types[to].is_signed)) - 1;
  uint64_t cut = bits == 64 ? ~0ull : (1ull << bits) - 1;
  if (!types[from].is_float) {
    uint64_t raw = types[from].bits == 64 ? a : a & ((1ull << types[from].bits) - 1);
    __int128 v = types[from].is_signed ? sign_from(raw, (unsigned)types[from].bits - 1) : (__int128)raw;
    if (!types[to].is_float) {
      if (r->p[3]) v = v < least ? least : v > most ? most : v;
      uint64_t u = (uint64_t)v & cut;
      /* An 8-bit result is extended to its 16-bit register. */
      return bits == 8 && types[to].is_signed ? (uint64_t)sign_from(u, 7) & 0xffff : u;
    }
    if (r->p[3]) return bits == 32 ? (v > 0 ? 0x3f800000 : 0) : v > 0 ? 0x3ff0000000000000 : 0;
    if (bits == 32) {
      float f = (float)(quad)v;
      return of_float(directed(f, (quad)v - (quad)f, mode, false));
    }
    double d = (double)(quad)v;
    return of_double(directed_d(d, (quad)v - (quad)d, mode, false));
  }
  if (r->p[4] && types[from].bits == 32) a = flush(a);
  double x = types[from].bits == 32 ? (double)F(a) : D(a);
  if (!types[to].is_float) {
    if (isnan(x)) return types[from].bits == 64 || bits == 64
        ? (bits == 8 && types[to].is_signed ? 0xff80 : 1ull << (bits - 1)) : 0;
    __int128 v = x >= 0x1p90 ? most : x <= -0x1p90 ? least : (__int128)whole(x, mode - 4);
    v = v < least ? least : v > most ? most : v;
    uint64_t u = (uint64_t)v & cut;
    return bits == 8 && types[to].is_signed ? (uint64_t)sign_from(u, 7) & 0xffff : u;
  }
  if (mode >= 4 && mode < 8 && isfinite(x) && fabs(x) < 0x1p60)
    x = copysign((double)whole(x, mode - 4), x);
  if (r->p[3]) x = !(x > 0) ? 0 : x > 1 ? 1 : x;
  if (bits == 64) return of_double(x);
  float f = (float)x;
  if (mode < 4 && isfinite(x)) f = directed(f, (quad)x - (quad)f, mode, signbit(x));
  uint64_t u = of_float(f);
  return r->p[4] ? flush(u) : u;
}
static void rows_of_conversions(void)
{
  static const char *const modes[] = {".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi", ""};
  for (int to = 0; to < 10; to++)
    for (int from = 0; from < 10; from++)
      for (int mode = 0; mode < 9; mode++)
        for (int sat = 0; sat < 2; sat++)
          for (int ftz = 0; ftz < 2; ftz++) {
            bool tf = types[to].is_float, ff = types[from].is_float;
            bool narrows = tf && ff && types[to].bits < types[from].bits, same = to == from;
            if (!tf && !ff && mode != 8) continue;
            if (tf && !ff && mode >= 4) continue;
            if (!tf && ff && (mode < 4 || mode == 8)) continue;
            if (tf && ff && (narrows ? mode >= 4 : same ? mode < 4 : mode != 8)) continue;
            if (ftz && types[to].bits * tf != 32 && types[from].bits * ff != 32) continue;
            if (sat && (ff && !tf)) continue;
            if ((sat || ftz) && !tf && !ff && (ftz || to == from)) continue;
            if (mode && mode < 4 && (sat || ftz)) continue;   /* enough */
            struct row *r = add(types[to].reg, types[from].reg, "-", "-", want_cvt);
            snprintf(r->text, sizeof r->text, "cvt%s%s%s.%s.%s %%d, %%a;", modes[mode],
                     ftz ? ".ftz" : "", sat ? ".sat" : "", types[to].name, types[from].name);
            memcpy(r->p, (int[]){to, from, mode, sat, ftz}, 5 * sizeof(int));
          }
}

/* ---- inputs --------------------------------------------------------------------------------------------- */

static uint64_t state = 0x9e3779b97f4a7c15;
static uint64_t random64(void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static uint64_t edge(char kind, unsigned k)
{
  static const uint64_t ints[] = {0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256,
                                  0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
                                  0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
                                  0x100000000, 0xffffffff00000001};
  static const uint32_t floats[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                    0x7fc00000, 0xffc00001, 0x7f800001, 1, 0x80000001, 0x7fffff,
                                    0x800000, 0x807fffff, 0x7f7fffff, 0xff7fffff, 0x3f000000,
                                    0x3fc00000, 0x40200000, 0xc0200000, 0x4f000000, 0xcf000000,
                                    0x4f800000, 0x5f000000, 0x5f800000, 0x34000000, 0x4effffff,
                                    0x7f000000, 0x00ffffff};
  if (kind == 'f') return floats[k % (sizeof floats / 4)];
  if (kind == 'd') {
    static const uint64_t doubles[] = {0x7ff8000000000000, 1, 0x8000000000000001, 0xfffffffffffff,
                                       0x7fefffffffffffff, 0x10000000000000, 0x41dfffffffc00000,
                                       0x41efffffffe00000, 0x43e0000000000000, 0x43f0000000000000,
                                       0x47efffffe0000000, 0x47efffffefffffff, 0x36a0000000000000,
                                       0x3690000000000001, 0x3fe0000000000000, 0x4004000000000000};
    k %= 16 + sizeof floats / 4;
    return k < 16 ? doubles[k] : of_double((double)F(floats[k - 16]));
  }
  return ints[k % (sizeof ints / 8)];
}

static uint64_t input(char kind, unsigned t, unsigned which)
{
  uint64_t r = random64();
  unsigned e = which == 0 ? t % 32 : which == 1 ? t / 32 % 32 : t * 7 % 31;
  if (t < 1024) r = edge(kind, e);
  else if (kind == 'f' && t % 2) r = of_float((float)((double)(int64_t)r * 0x1p-56));
  else if (kind == 'f' && t % 8 == 0) r &= 0x807fffff;
  else if (kind == 'd' && t % 2) r = of_double((double)(int64_t)r * (t % 4 == 1 ? 0x1p-56 : 0x1p-20));
  else if (kind != 'f' && kind != 'd' && t % 3 == 0) r &= 63;
  else if (kind != 'f' && kind != 'd' && t % 3 == 1) r = (uint64_t)((int64_t)r >> (r & 63));
  return kind == 'h' ? r & 0xffff : kind == 'r' || kind == 'f' ? r & 0xffffffff : r;
}

/* ---- kernels --------------------------------------------------------------------------------------------- */

static char text[TEXT];
static size_t ntext;
static void emit(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void emit(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  ntext += (size_t)vsnprintf(text + ntext, TEXT - ntext, format, args);
  va_end(args);
  ck_assert_uint_lt(ntext, TEXT);
}

static const char *bits_of_kind(char k)
{
  return k == 'h' ? "b16" : k == 'r' || k == 'f' ? "b32" : "b64";
}

static void emit_inst(const struct row *r)
{
  for (const char *s = r->text; *s; s++) {
    if (*s != '%') {
      emit("%c", *s);
      continue;
    }
    s++;
    if (*s == 'p' && (s[1] == ';' || s[1] == ',')) emit("%%p1");
    else emit("%%%c0", *s);
  }
}

static void emit_kernel(const struct row *r, unsigned k, bool guarded)
{
  emit(".visible .entry k%u%s(.param .u64 in, .param .u64 out) {\n", k, guarded ? "g" : "");
  emit(".reg .pred %%p<4>; .reg .b32 %%i<8>; .reg .b64 %%x<8>;\n");
  emit(".reg .%s %%d0;\n", bits_of_kind(r->d));
  const char kinds[] = {r->a, r->b, r->c};
  for (int n = 0; n < 3; n++)
    if (kinds[n] != '-') emit(".reg .%s %%%c0;\n", bits_of_kind(kinds[n]), 'a' + n);
  emit("mov.u32 %%i0, %%tid.x; mov.u32 %%i1, %%ctaid.x; mad.lo.u32 %%i0, %%i1, %u, %%i0;\n", THREADS);
  emit("ld.param.u64 %%x0, [in]; ld.param.u64 %%x1, [out];\n");
  emit("mul.wide.u32 %%x2, %%i0, 32; add.u64 %%x0, %%x0, %%x2; mul.wide.u32 %%x2, %%i0, 8; "
       "add.u64 %%x1, %%x1, %%x2;\n");
  for (int n = 0; n < 3; n++)
    if (kinds[n] != '-')
      emit("ld.global.%s %%%c0, [%%x0+%d];\n", bits_of_kind(kinds[n]), 'a' + n, 8 * n);
  emit("ld.global.u32 %%i2, [%%x0+16]; and.b32 %%i2, %%i2, 128; setp.ne.u32 %%p1, %%i2, 0;\n");
  emit("ld.global.u32 %%i3, [%%x0+24]; setp.ne.u32 %%p2, %%i3, 0;\n");
  emit("mov.%s %%d0, 77;\n", bits_of_kind(r->d));
  if (guarded) emit("@!%%p2 bra skip;\n");
  emit_inst(r);
  emit("\n%sst.global.%s [%%x1], %%d0;\nret;\n}\n", guarded ? "skip: " : "", bits_of_kind(r->d));
}

static bool close_enough(const struct row *r, uint64_t got, uint64_t want)
{
  if (r->d == 'd' && isnan(D(got)) && isnan(D(want))) return true;
  if (r->tolerance == 0) return got == want;
  float g = F(got), v = F(want);
  if (isnan(g) || isnan(v) || isinf(g) || isinf(v)) return got == want;
  return fabs((double)g - v) <= r->tolerance * fmax(1e-6, fabs(v)) ||
         fabs((double)g - v) <= r->tolerance * 0x1p-2;
}

static void run_rows(void)
{
  struct sim_options o = {.threads = 1};
  struct ptx_error e;
  ntext = 0;
  emit(".version 8.0\n.target sm_90\n.address_size 64\n");
  for (unsigned k = 0; k < nrows; k++)
    for (int g = 0; g < 2; g++) emit_kernel(&rows[k], k, g);
  struct ptx_module *m = ptx_read(text, ntext, &e);
  ck_assert_msg(m != NULL, "line %u: %s", e.line, e.text);
  struct sim *sim = sim_open(&o);
  ck_assert_msg(sim_load(sim, m, &e), "%s", e.text);
  uint64_t in = sim_alloc(sim, 32 * N, "in", true), out = sim_alloc(sim, 8 * N, "out", false);
  uint64_t *host_in = sim_host(sim, in, 32 * N), *host_out = sim_host(sim, out, 8 * N);
  for (unsigned k = 0; k < nrows; k++) {
    const struct row *r = &rows[k];
    uint64_t cut = r->d == 'h' ? 0xffff : r->d == 'r' || r->d == 'f' ? 0xffffffff : ~0ull;
    for (unsigned t = 0; t < N; t++) {
      host_in[4 * t] = input(r->a, t, 0);
      host_in[4 * t + 1] = input(r->b, t, 1);
      host_in[4 * t + 2] = input(r->c == '-' ? 'r' : r->c, t, 2);
      host_in[4 * t + 3] = random64() & 1;
    }
    for (int g = 0; g < 2; g++) {
      char name[24];
      snprintf(name, sizeof name, "k%u%s", k, g ? "g" : "");
      uint64_t params[2] = {in, out};
      struct sim_launch l = {.kernel = name, .grid = {N / THREADS, 1, 1}, .block = {THREADS, 1, 1},
                             .params = params, .param_bytes = 16};
      struct sim_result result;
      memset(host_out, 0, 8 * N);
      bool ok = sim_launch(sim, &l, &result);
      ck_assert_msg(ok, "%s: %s", r->text, result.nfaults ? result.faults[0].text : "?");
      sim_result_free(&result);
      for (unsigned t = 0; t < N; t++) {
        uint64_t a = host_in[4 * t], b = host_in[4 * t + 1], c = host_in[4 * t + 2];
        uint64_t want = g && !host_in[4 * t + 3] ? 77 : r->want(r, a, b, c) & cut;
        ck_assert_msg(close_enough(r, host_out[t], want) || (g && want == host_out[t]),
                      "%s%s: a %llx b %llx c %llx: got %llx, want %llx", r->text, g ? " (some lanes)" : "",
                      (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
                      (unsigned long long)host_out[t], (unsigned long long)want);
      }
    }
  }
  sim_close(sim);
  ptx_free(m);
}

static void (*const families[])(void) = {rows_of_table, rows_of_arithmetic, rows_of_approximations,
                                         rows_of_comparisons, rows_of_conversions};

START_TEST(family)
{
  nrows = 0;
  families[_i]();
  ck_assert_uint_gt(nrows, 10);
  run_rows();
}
END_TEST

Suite *suite_sim_ops(void)
{
  Suite *s = suite_create("sim_ops");
  TCase *t = tcase_create("values");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, family, 0, sizeof families / sizeof *families);
  suite_add_tcase(s, t);
  return s;
}
