/* Floating-point results rounded once, by integer arithmetic alone: see exact.h. */
#include "exact.h"

typedef unsigned __int128 wide;

static int length_of(wide m)
{
  uint64_t hi = (uint64_t)(m >> 64), lo = (uint64_t)m;
  return hi ? 128 - __builtin_clzll(hi) : lo ? 64 - __builtin_clzll(lo) : 0;
}

static struct exact of_bits(uint64_t bits, int p, int field, int least)
{
  uint64_t frac = bits & ((1ull << (p - 1)) - 1);
  int biased = (int)(bits >> (p - 1) & ((1u << field) - 1));
  struct exact r = {.neg = bits >> (p - 1 + field) & 1};
  if (biased == (1 << field) - 1) {
    r.kind = frac ? EXACT_NAN : EXACT_INF;
  } else {
    r.m = biased ? frac | 1ull << (p - 1) : frac;
    r.e = least + (biased ? biased - 1 : 0);
  }
  return r;
}

struct exact exact_f32(uint32_t bits, bool ftz)
{
  struct exact r = of_bits(bits, 24, 8, -149);
  if (ftz && r.kind == EXACT_NUMBER && r.m < 1u << 23) r.m = 0;
  return r;
}
struct exact exact_f64(uint64_t bits) { return of_bits(bits, 53, 11, -1074); }
struct exact exact_integer(__int128 v)
{
  return (struct exact){.neg = v < 0, .m = v < 0 ? -(wide)v : (wide)v};
}

struct exact exact_neg(struct exact a)
{
  a.neg = !a.neg;
  return a;
}

/* Moves the highest bit to place `top`; only for m whose lost bits are none. */
static struct exact aligned(struct exact a, int top)
{
  int by = top + 1 - length_of(a.m);
  a.m = by >= 0 ? a.m << by : a.m >> -by;
  a.e -= by;
  return a;
}

struct exact exact_add(struct exact a, struct exact b, enum exact_mode mode)
{
  if (a.kind == EXACT_NAN || b.kind == EXACT_NAN) return (struct exact){.kind = EXACT_NAN};
  if (a.kind == EXACT_INF && b.kind == EXACT_INF && a.neg != b.neg)
    return (struct exact){.kind = EXACT_NAN};
  if (a.kind == EXACT_INF) return a;
  if (b.kind == EXACT_INF) return b;
  if (!a.m && !b.m)
    return (struct exact){.neg = a.neg == b.neg ? a.neg : mode == EXACT_RM};
  if (!a.m) return b;
  if (!b.m) return a;
  a = aligned(a, 125);
  b = aligned(b, 125);
  if (a.e < b.e || (a.e == b.e && a.m < b.m)) {
    struct exact t = a;
    a = b;
    b = t;
  }
  int by = a.e - b.e;
  wide low = by > 127 ? 0 : b.m >> by;
  bool lost = by > 127 || low << by != b.m;
  if (a.neg == b.neg) {
    a.m += low;
  } else {
    a.m -= low + lost;         /* what was lost lies between this and the next */
    if (!a.m) a.neg = mode == EXACT_RM;
  }
  a.sticky = lost;
  return a;
}

struct exact exact_mul(struct exact a, struct exact b)
{
  struct exact r = {.neg = a.neg != b.neg, .e = a.e + b.e};
  if (a.kind == EXACT_NAN || b.kind == EXACT_NAN) r.kind = EXACT_NAN;
  else if (a.kind == EXACT_INF) r.kind = b.kind == EXACT_NUMBER && !b.m ? EXACT_NAN : EXACT_INF;
  else if (b.kind == EXACT_INF) r.kind = !a.m ? EXACT_NAN : EXACT_INF;
  else r.m = a.m * b.m;
  return r;
}

struct exact exact_div(struct exact a, struct exact b)
{
  struct exact r = {.neg = a.neg != b.neg};
  if (a.kind == EXACT_NAN || b.kind == EXACT_NAN) r.kind = EXACT_NAN;
  else if (a.kind == EXACT_INF) r.kind = b.kind == EXACT_INF ? EXACT_NAN : EXACT_INF;
  else if (b.kind == EXACT_INF) r.m = 0;
  else if (!b.m) r.kind = a.m ? EXACT_INF : EXACT_NAN;
  else if (a.m) {
    a = aligned(a, 127);       /* over 64 bits: a quotient of 64 or 65 */
    b = aligned(b, 63);
    r.m = a.m / b.m;
    r.sticky = a.m % b.m != 0;
    r.e = a.e - b.e;
  }
  return r;
}

struct exact exact_sqrt(struct exact a)
{
  if (a.kind == EXACT_NAN || (a.neg && (a.m || a.kind == EXACT_INF)))
    return (struct exact){.kind = EXACT_NAN};
  if (a.kind == EXACT_INF || !a.m) return a;
  a = aligned(a, 125);
  if (a.e & 1) a.m <<= 1, a.e--;
  wide root = 0;
  for (int bit = 63; bit >= 0; bit--) {
    wide with = root | (wide)1 << bit;
    if (with * with <= a.m) root = with;
  }
  return (struct exact){.m = root, .e = a.e / 2, .sticky = root * root != a.m};
}

/* Whether a magnitude with `half` and `rest` below its last place goes up. */
static bool goes_up(bool neg, bool odd, bool half, bool rest, enum exact_mode mode)
{
  switch (mode) {
  case EXACT_RN: return half && (rest || odd);
  case EXACT_RM: return neg && (half || rest);
  case EXACT_RP: return !neg && (half || rest);
  default: return false;
  }
}

/* m * 2^e in units of 2^unit. */
static wide in_units(struct exact a, int unit, enum exact_mode mode)
{
  int by = unit - a.e;
  if (by <= 0) return a.m << -by;
  wide kept = by > 127 ? 0 : a.m >> by;
  bool half = by <= 128 && (a.m >> (by - 1) & 1);
  bool rest = a.sticky;
  if (by > 128) rest |= a.m != 0;
  else if (by > 1) rest |= (a.m & (((wide)1 << (by - 1)) - 1)) != 0;
  return kept + goes_up(a.neg, kept & 1, half, rest, mode);
}

uint64_t exact_round(struct exact a, unsigned bytes, enum exact_mode mode, bool ftz)
{
  int p = bytes == 4 ? 24 : 53, least = bytes == 4 ? -149 : -1074;
  uint64_t sign = (uint64_t)a.neg << (8 * bytes - 1), one = 1ull << (p - 1);
  uint64_t inf = bytes == 4 ? 0x7f800000u : 0x7ff0000000000000u;
  if (a.kind == EXACT_NAN) return bytes == 4 ? 0x7fffffffu : 0x7ff8000000000000u;
  if (a.kind == EXACT_INF) return sign | inf;
  if (!a.m) return sign;
  int unit = a.e + length_of(a.m) - p;
  if (unit < least) unit = least;
  wide kept = in_units(a, unit, mode);
  uint64_t r;
  if (kept < one) {
    r = ftz ? 0 : (uint64_t)kept;
  } else {
    int biased = unit - least + 1;
    bool over = biased > (bytes == 4 ? 254 : 2046);
    r = over ? inf : ((uint64_t)biased << (p - 1)) + (uint64_t)kept - one;
    if (r >= inf)
      r = mode == EXACT_RN || (mode == EXACT_RM && a.neg) || (mode == EXACT_RP && !a.neg) ? inf
                                                                                       : inf - 1;
  }
  return sign | r;
}

struct exact exact_integral(struct exact a, enum exact_mode mode)
{
  if (a.kind != EXACT_NUMBER || !a.m || a.e >= 0) return a;
  a.m = in_units(a, 0, mode);
  a.e = 0;
  a.sticky = false;
  return a;
}

__int128 exact_clamp(struct exact a, __int128 least, __int128 most)
{
  if (a.kind == EXACT_INF || length_of(a.m) + a.e > 100) return a.neg ? least : most;
  __int128 v = (__int128)(a.e >= 0 ? a.m << a.e : a.m);
  if (a.neg) v = -v;
  return v < least ? least : v > most ? most : v;
}
