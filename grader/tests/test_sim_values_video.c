/* The video instructions on one value, with parts of registers; integers on bytes and halves with
 * .sat and .relu; set into halves; conversions to and from numbers of six and four bits.  Written from
 * the PTX ISA's description, in whole numbers. */
#include <math.h>
#include <string.h>

#include "sim_values.h"

/* ---- one value --------------------------------------------------------------------------------------- */

enum { VADD, VSUB, VABSDIFF, VMIN, VMAX, VSHL, VSHR, VSET_LT, VSET_EQ };
enum { PLUS = 1, LEAST, MOST };
/* What a row says: operation, signs of d a b, .sat, .wrap, second operation, parts of d a b (0 all,
 * 1-4 bytes, 5-6 halves). */
#define SAY(op, ds, as, bs, sat, wrap, two, dp, ap, bp)                                        \
  (op | ds << 4 | as << 5 | bs << 6 | sat << 7 | wrap << 8 | two << 9 | dp << 11 | ap << 14 | bp << 17)

static int64_t cut(uint64_t v, int part, bool is_signed)
{
  static const unsigned low[] = {0, 0, 8, 16, 24, 0, 16}, bits[] = {32, 8, 8, 8, 8, 16, 16};
  uint64_t e = (v >> low[part]) & ((1ull << bits[part]) - 1);
  return is_signed ? SX(e, bits[part]) : (int64_t)e;
}

static void scalar(struct lane_values *v)
{
  int say = v->arg, dp = say >> 11 & 7;
  bool ds = say >> 4 & 1;
  __int128 a = cut(v->a, say >> 14 & 7, say >> 5 & 1), b = cut(v->b, say >> 17 & 7, say >> 6 & 1), t = 0;
  __int128 by = say >> 8 & 1 ? b % 32 : b < 32 ? b : 32;
  switch (say & 15) {
  case VADD: t = a + b; break;
  case VSUB: t = a - b; break;
  case VABSDIFF: t = a > b ? a - b : b - a; break;
  case VMIN: t = a > b ? b : a; break;
  case VMAX: t = a > b ? a : b; break;
  case VSHL: t = a; for (int k = 0; k < by; k++) t += t; break;
  case VSHR: t = a; for (int k = 0; k < by; k++) t = (t - (t & 1)) / 2; break;
  case VSET_LT: t = a < b; break;
  case VSET_EQ: t = a == b; break;
  }
  unsigned bits = dp == 0 ? 32 : dp < 5 ? 8 : 16;
  __int128 top = ds ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1;
  if (say >> 7 & 1) t = t > top ? top : t < (ds ? -top - 1 : 0) ? (ds ? -top - 1 : 0) : t;
  uint32_t r = (uint32_t)t, c = (uint32_t)v->c;
  bool more = ds ? (int32_t)r > (int32_t)c : r > c;
  switch (say >> 9 & 3) {
  case PLUS: r += c; break;
  case LEAST: r = more ? c : r; break;
  case MOST: r = more ? r : c; break;
  }
  if (dp) {
    unsigned at = dp < 5 ? 8 * (unsigned)(dp - 1) : 16 * (unsigned)(dp - 5);
    uint32_t hole = bits == 8 ? 0xff : 0xffff;
    r = (c & ~(hole << at)) | (r & hole) << at;
  }
  v->d = r;
}
static void multiply(struct lane_values *v)   /* arg: a signed, b signed, .sat, .po, scale */
{
  int say = v->arg;
  bool as = say & 1, bs = say >> 1 & 1, is_signed = as || bs;
  __int128 t = (__int128)cut(v->a, 0, as) * cut(v->b, 0, bs) + cut(v->c, 0, is_signed) + (say >> 3 & 1);
  int scale = say >> 4;
  for (int k = 0; k < scale; k++) t = (t - (t & 1)) / 2;
  if (say >> 2 & 1) {
    __int128 top = is_signed ? INT32_MAX : UINT32_MAX, low = is_signed ? INT32_MIN : 0;
    t = t > top ? top : t < low ? low : t;
  }
  v->d = (uint32_t)t;
}

/* ---- bytes and halves ---------------------------------------------------------------------------------- */

/* arg: VADD, VSUB, VMIN, VMAX; 16 signed; 32 .sat; 64 .relu; 128 halves. */
static void packed(struct lane_values *v)
{
  unsigned bits = v->arg & 128 ? 16 : 8;
  bool is_signed = v->arg & 16;
  v->d = 0;
  for (unsigned k = 0; k < 32; k += bits) {
    int64_t a = (int64_t)(v->a >> k & ((1u << bits) - 1)), b = (int64_t)(v->b >> k & ((1u << bits) - 1));
    if (is_signed) a = SX(a, bits), b = SX(b, bits);
    int64_t t = (v->arg & 15) == VADD   ? a + b
                : (v->arg & 15) == VSUB ? a - b
                : (v->arg & 15) == VMIN ? (a < b ? a : b) : a < b ? b : a;
    int64_t top = (1 << (bits - is_signed)) - 1, low = is_signed ? -top - 1 : 0;
    if (v->arg & 64 && t < 0) t = 0;
    if (v->arg & 32) t = t > top ? top : t < low ? low : t;
    v->d |= (ZX(t, bits)) << k;
  }
}

/* ---- set ----------------------------------------------------------------------------------------------- */

static double number(uint64_t bits)
{
  uint32_t u = (uint32_t)bits;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
REF(set_f16_s32, SX(a, 32) < SX(b, 32) ? 0x3c00 : 0)
REF(set_bf16_u64, a > b ? 0x3f80 : 0)
REF(set_f16_b16, ZX(a, 16) != ZX(b, 16) ? 0x3c00 : 0)
REF(set_bf16_f32, number(a) >= number(b) ? 0x3f80 : 0)
REF(set_f16_f32_num, !isnan(number(a)) && !isnan(number(b)) && c ? 0x3c00 : 0)

/* ---- six and four bits ----------------------------------------------------------------------------------- */

/* The numbers a format has, one by one: arg is exponent bits, mantissa bits. */
static double small(unsigned code, int ebits, int mbits)
{
  unsigned m = code & ((1u << mbits) - 1), e = code >> mbits & ((1u << ebits) - 1);
  int bias = (1 << (ebits - 1)) - 1;
  double x = e ? (1 + m / (double)(1 << mbits)) * pow(2, (int)e - bias)
               : m / (double)(1 << mbits) * pow(2, 1 - bias);
  return code >> (ebits + mbits) & 1 ? -x : x;
}
/* The code of the nearest number, of two the even one; NaN gives the largest. */
static unsigned nearest(double x, int ebits, int mbits, bool relu)
{
  unsigned last = (1u << (ebits + mbits)) - 1, best = 0, sign = signbit(x) ? last + 1 : 0;
  if (isnan(x)) return last;
  if (relu && signbit(x)) return 0;
  x = fabs(x);
  if (x >= small(last, ebits, mbits)) return last | sign;
  for (unsigned c = 1; c <= last; c++) {
    double was = fabs(small(best, ebits, mbits) - x), now = fabs(small(c, ebits, mbits) - x);
    if (now < was || (now == was && !(c & 1))) best = c;
  }
  return best | sign;
}
static void to_small(struct lane_values *v)
{
  int e = v->arg & 7, m = v->arg >> 3 & 7;
  unsigned shift = e + m + 1 > 4 ? 8 : 4;
  bool relu = v->arg >> 6;
  v->d = nearest(number(v->a), e, m, relu) << shift | nearest(number(v->b), e, m, relu);
}
static uint64_t half_bits(double x)   /* exact: every such number is an f16 */
{
  int e;
  uint64_t sign = signbit(x) ? 0x8000 : 0;
  if (x == 0) return sign;
  double f = frexp(fabs(x), &e);
  return sign | (uint64_t)(e + 14) << 10 | (uint64_t)((f * 2 - 1) * 1024);
}
static void from_small(struct lane_values *v)
{
  int e = v->arg & 7, m = v->arg >> 3 & 7;
  unsigned shift = e + m + 1 > 4 ? 8 : 4, mask = (2u << (e + m)) - 1;
  uint64_t low = half_bits(small((unsigned)v->a & mask, e, m));
  uint64_t high = half_bits(small((unsigned)(v->a >> shift) & mask, e, m));
  if (v->arg >> 6) low = low >> 15 ? 0 : low, high = high >> 15 ? 0 : high;
  v->d = low | high << 16;
}
#define SMALL(name, e, m)                                                                      \
  {"h=uu", "cvt.rn.satfinite." name ".f32 D,A,B", to_small, e | m << 3},                         \
      {"h=ff", "cvt.rn.satfinite." name ".f32 D,A,B", to_small, e | m << 3},                     \
      {"h=uf", "cvt.rn.relu.satfinite." name ".f32 D,A,B", to_small, e | m << 3 | 64},           \
      {"w=h", "cvt.rn.f16x2." name " D,A", from_small, e | m << 3},                              \
      {"w=h", "cvt.rn.relu.f16x2." name " D,A", from_small, e | m << 3 | 64}

#define WORDS(op, o)                                                                           \
  {"w=ww", op ".u32.u32.u32 D,A,B", scalar, SAY(o, 0, 0, 0, 0, 0, 0, 0, 0, 0)},                  \
      {"w=ww", op ".s32.s32.u32.sat D,A,B", scalar, SAY(o, 1, 1, 0, 1, 0, 0, 0, 0, 0)},          \
      {"w=ww", op ".u32.s32.s32.sat D,A.h1,B.b2", scalar, SAY(o, 0, 1, 1, 1, 0, 0, 0, 6, 3)},    \
      {"w=www", op ".s32.u32.s32.add D,A.b0,B,C", scalar, SAY(o, 1, 0, 1, 0, 0, PLUS, 0, 1, 0)}, \
      {"w=www", op ".u32.u32.s32.min D,A,B.h0,C", scalar, SAY(o, 0, 0, 1, 0, 0, LEAST, 0, 0, 5)}, \
      {"w=www", op ".s32.s32.s32.sat.max D,A,B,C", scalar, SAY(o, 1, 1, 1, 1, 0, MOST, 0, 0, 0)}, \
      {"w=www", op ".s32.s32.u32.sat D.b1,A,B.b3,C", scalar, SAY(o, 1, 1, 0, 1, 0, 0, 2, 0, 4)}, \
      {"w=www", op ".u32.u32.u32 D.h1,A.h0,B,C", scalar, SAY(o, 0, 0, 0, 0, 0, 0, 6, 5, 0)}
#define SHIFTS(op, o)                                                                          \
  {"w=ws", op ".u32.u32.u32.clamp D,A,B", scalar, SAY(o, 0, 0, 0, 0, 0, 0, 0, 0, 0)},            \
      {"w=ws", op ".s32.s32.u32.wrap D,A,B", scalar, SAY(o, 1, 1, 0, 0, 1, 0, 0, 0, 0)},         \
      {"w=ws", op ".s32.s32.u32.sat.clamp D,A.h1,B", scalar, SAY(o, 1, 1, 0, 1, 0, 0, 0, 6, 0)}, \
      {"w=wsw", op ".u32.s32.u32.wrap.add D,A.b3,B.b0,C", scalar, SAY(o, 0, 1, 0, 0, 1, PLUS, 0, 4, 1)}, \
      {"w=wsw", op ".u32.u32.u32.sat.clamp D.b2,A,B,C", scalar, SAY(o, 0, 0, 0, 1, 0, 0, 3, 0, 0)}
#define PACKED(op, o)                                                                          \
  {"w=ww", op ".u8x4 D,A,B", packed, o}, {"w=ww", op ".s8x4 D,A,B", packed, o | 16}
#define PACKED_SAT(op, o)                                                                      \
  {"w=ww", op ".sat.u8x4 D,A,B", packed, o | 32}, {"w=ww", op ".sat.s8x4 D,A,B", packed, o | 48}, \
      {"w=ww", op ".sat.u16x2 D,A,B", packed, o | 160}, {"w=ww", op ".sat.s16x2 D,A,B", packed, o | 176}

static const struct value_row rows[] = {
    WORDS("vadd", VADD), WORDS("vsub", VSUB), WORDS("vabsdiff", VABSDIFF), WORDS("vmin", VMIN),
    WORDS("vmax", VMAX), SHIFTS("vshl", VSHL), SHIFTS("vshr", VSHR),
    {"w=ww", "vset.s32.u32.lt D,A,B", scalar, SAY(VSET_LT, 0, 1, 0, 0, 0, 0, 0, 0, 0)},
    {"w=www", "vset.u32.u32.lt.add D,A.b1,B.b2,C", scalar, SAY(VSET_LT, 0, 0, 0, 0, 0, PLUS, 0, 2, 3)},
    {"w=www", "vset.u32.s32.eq D.h0,A.b1,B.b1,C", scalar, SAY(VSET_EQ, 0, 0, 1, 0, 0, 0, 5, 2, 2)},
    {"w=www", "vmad.u32.u32.u32 D,A,B,C", multiply, 0},
    {"w=www", "vmad.s32.s32.u32 D,A,B,C", multiply, 1},
    {"w=www", "vmad.s32.u32.s32.sat D,A,B,C", multiply, 2 | 4},
    {"w=www", "vmad.u32.u32.u32.sat.shr7 D,A,B,C", multiply, 4 | 7 << 4},
    {"w=zww", "vmad.s32.s32.s32.po.sat.shr15 D,A,B,C", multiply, 3 | 4 | 8 | 15 << 4},
    PACKED("add", VADD), PACKED("sub", VSUB), PACKED("min", VMIN), PACKED("max", VMAX),
    PACKED_SAT("add", VADD), PACKED_SAT("sub", VSUB),
    {"w=ww", "min.relu.s8x4 D,A,B", packed, VMIN | 16 | 64},
    {"w=ww", "max.relu.s8x4 D,A,B", packed, VMAX | 16 | 64},
    {"h=ww", "set.lt.f16.s32 D,A,B", set_f16_s32}, {"h=ll", "set.hi.bf16.u64 D,A,B", set_bf16_u64},
    {"h=hh", "set.ne.f16.b16 D,A,B", set_f16_b16}, {"h=ff", "set.ge.bf16.f32 D,A,B", set_bf16_f32},
    {"h=ffp", "set.num.and.f16.f32 D,A,B,C", set_f16_f32_num},
    SMALL("e3m2x2", 3, 2), SMALL("e2m3x2", 2, 3),
    {"w=uu", ".reg .b8 x; cvt.rn.satfinite.e2m1x2.f32 x,A,B; cvt.u32.u8 D,x", to_small, 2 | 1 << 3},
    {"w=fu", ".reg .b8 x; cvt.rn.relu.satfinite.e2m1x2.f32 x,A,B; cvt.u32.u8 D,x", to_small,
     2 | 1 << 3 | 64},
    {"w=w", ".reg .b8 x; cvt.u8.u32 x,A; cvt.rn.f16x2.e2m1x2 D,x", from_small, 2 | 1 << 3},
};
const struct value_table values_video = {"video", rows, sizeof rows / sizeof *rows};
