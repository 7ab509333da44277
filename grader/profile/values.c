/* See values.h. */
#include "profile/values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct value_type types[] = {
  {"i8", 1, VALUE_SIGNED, 0, 0},    {"u8", 1, VALUE_UNSIGNED, 0, 0},
  {"i16", 2, VALUE_SIGNED, 0, 0},   {"u16", 2, VALUE_UNSIGNED, 0, 0},
  {"f16", 2, VALUE_FLOAT, 5, 10},   {"bf16", 2, VALUE_FLOAT, 8, 7},
  {"i32", 4, VALUE_SIGNED, 0, 0},   {"u32", 4, VALUE_UNSIGNED, 0, 0},
  {"f32", 4, VALUE_FLOAT, 8, 23},   {"i64", 8, VALUE_SIGNED, 0, 0},
  {"u64", 8, VALUE_UNSIGNED, 0, 0}, {"f64", 8, VALUE_FLOAT, 11, 52},
};

const struct value_type *value_type(const char *text, size_t length)
{
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strlen(types[i].name) == length && !strncmp(types[i].name, text, length))
      return &types[i];
  return NULL;
}

/* ---- whole numbers -------------------------------------------------------------------------- */

typedef __int128 number;
struct cursor { const char *at, *end; unsigned depth; };
enum { DEEPEST = 64 };

static bool sum(struct cursor *c, number *n);
static bool shift(struct cursor *c, number *n);

static bool primary(struct cursor *c, number *n)
{
  if (c->at < c->end && *c->at == '-') {
    c->at++;
    if (++c->depth > DEEPEST || !primary(c, n)) return false;
    c->depth--;
    *n = -*n;
    return true;
  }
  if (c->at < c->end && *c->at == '(') {
    c->at++;
    if (++c->depth > DEEPEST || !shift(c, n) || c->at == c->end || *c->at != ')') return false;
    c->depth--;
    c->at++;
    return true;
  }
  unsigned base = 10;
  if (c->end - c->at > 2 && c->at[0] == '0' && (c->at[1] == 'x' || c->at[1] == 'X')) {
    base = 16;
    c->at += 2;
  }
  const char *first = c->at;
  for (*n = 0; c->at < c->end; c->at++) {
    char d = *c->at | 32;
    unsigned v = d >= '0' && d <= '9' ? (unsigned)(d - '0')
                 : base == 16 && d >= 'a' && d <= 'f' ? (unsigned)(d - 'a' + 10) : 16;
    if (*c->at < '0' || v >= base) break;
    *n = *n * base + v;
    if (*n > UINT64_MAX) return false;
  }
  return c->at > first;
}

static bool product(struct cursor *c, number *n)
{
  if (!primary(c, n)) return false;
  while (c->at < c->end && (*c->at == '*' || *c->at == '/' || *c->at == '%')) {
    char op = *c->at++;
    number m;
    if (!primary(c, &m) || (op != '*' && m == 0)) return false;
    if (op == '*' && __builtin_mul_overflow(*n, m, n)) return false;
    if (op == '/') *n /= m;
    if (op == '%') *n %= m;
  }
  return true;
}

static bool sum(struct cursor *c, number *n)
{
  if (!product(c, n)) return false;
  while (c->at < c->end && (*c->at == '+' || *c->at == '-')) {
    char op = *c->at++;
    number m;
    if (!product(c, &m)) return false;
    if (op == '+' ? __builtin_add_overflow(*n, m, n) : __builtin_sub_overflow(*n, m, n))
      return false;
  }
  return true;
}

static bool shift(struct cursor *c, number *n)
{
  if (!sum(c, n)) return false;
  while (c->end - c->at > 1 && (*c->at == '<' || *c->at == '>') && c->at[1] == *c->at) {
    bool left = *c->at == '<';
    number m;
    c->at += 2;
    if (!sum(c, &m) || m < 0 || m > 63) return false;
    if (!left) *n >>= (int)m;
    else if (__builtin_mul_overflow(*n, (number)1 << (int)m, n)) return false;
  }
  return true;
}

static bool whole(const char *text, size_t length, number *n)
{
  struct cursor c = {text, text + length, 0};
  return shift(&c, n) && c.at == c.end;
}

bool value_whole(const char *text, size_t length, uint64_t *n)
{
  number v;
  if (!whole(text, length, &v) || v < 0 || v > UINT64_MAX) return false;
  *n = (uint64_t)v;
  return true;
}

/* ---- values --------------------------------------------------------------------------------- */

/* A double rounded to nearest even into a small float of the given shape. */
static uint16_t small_float(double v, unsigned exponent, unsigned mantissa)
{
  int bias = (1 << (exponent - 1)) - 1, most = (1 << exponent) - 1;
  uint16_t sign = (uint16_t)(signbit(v) ? 1u << (exponent + mantissa) : 0);
  if (isnan(v)) return (uint16_t)(sign | most << mantissa | 1 << (mantissa - 1));
  v = fabs(v);
  int e;
  frexp(v, &e);                              /* v = f * 2^e, 0.5 <= f < 1 */
  int scale = v == 0 || e - 1 < 1 - bias ? 1 - bias : e - 1;
  double units = isinf(v) ? INFINITY : nearbyint(ldexp(v, (int)mantissa - scale));
  if (isinf(units) || scale > bias) return (uint16_t)(sign | most << mantissa);
  uint32_t bits = (uint32_t)units;           /* with the hidden bit, when normal */
  bits += (uint32_t)(scale + bias - 1) << mantissa;
  if (bits >> mantissa >= (uint32_t)most) return (uint16_t)(sign | most << mantissa);
  return (uint16_t)(sign | bits);
}

static void store(const struct value_type *t, uint8_t *to, double v, int64_t n)
{
  float f = (float)v;
  uint16_t h;
  if (t->kind != VALUE_FLOAT) memcpy(to, &n, t->width);
  else if (t->width == 8) memcpy(to, &v, 8);
  else if (t->width == 4) memcpy(to, &f, 4);
  else {
    h = small_float(v, t->exponent, t->mantissa);
    memcpy(to, &h, 2);
  }
}

bool value_read(const struct value_type *t, const char *text, uint8_t *to, char *why, size_t size)
{
  number n;
  char *end;
  if (t->kind == VALUE_FLOAT) {
    double v = strtod(text, &end);
    if (end != text && !*end) {
      store(t, to, v, 0);
      return true;
    }
    if (whole(text, strlen(text), &n)) {
      store(t, to, (double)n, 0);
      return true;
    }
    snprintf(why, size, "'%s' is no number; %s takes one like 0.5, -2 or 1e-3", text, t->name);
    return false;
  }
  unsigned bits = 8 * t->width;
  number least = t->kind == VALUE_SIGNED ? -((number)1 << (bits - 1)) : 0;
  number most = ((number)1 << (t->kind == VALUE_SIGNED ? bits - 1 : bits)) - 1;
  bool read = whole(text, strlen(text), &n);
  /* The bits of a signed value may be given as such: i32:0xffffffff. */
  bool as_bits = read && !strncmp(text, "0x", 2) && n > 0 && n <= ((number)1 << bits) - 1;
  if (read && ((n >= least && n <= most) || as_bits)) {
    store(t, to, 0, (int64_t)(uint64_t)n);
    return true;
  }
  snprintf(why, size, "'%s' is no whole number%s; %s takes %s%" PRIu64 " to %" PRIu64, text,
           read ? " of that size" : "", t->name, least ? "-" : "", (uint64_t)-least,
           (uint64_t)most);
  return false;
}

bool value_float(const struct value_type *t, const void *from, double *v)
{
  float f;
  uint16_t h;
  if (t->kind != VALUE_FLOAT) return false;
  if (t->width == 8) {
    memcpy(v, from, 8);
  } else if (t->width == 4) {
    memcpy(&f, from, 4);
    *v = f;
  } else {
    memcpy(&h, from, 2);
    int e = h >> t->mantissa & ((1 << t->exponent) - 1), m = h & ((1 << t->mantissa) - 1);
    int bias = (1 << (t->exponent - 1)) - 1;
    if (e == 2 * bias + 1) *v = m ? NAN : INFINITY;
    else *v = ldexp(e ? m + (1 << t->mantissa) : m, (e ? e : 1) - bias - (int)t->mantissa);
    if (h >> 15) *v = -*v;
  }
  return true;
}

void value_show(const struct value_type *t, const void *from, char *to, size_t size)
{
  uint64_t bits = 0;
  double v;
  if (value_float(t, from, &v)) {
    snprintf(to, size, "%.9g", v);
    return;
  }
  memcpy(&bits, from, t->width);
  unsigned unused = 64 - 8 * t->width;
  if (t->kind == VALUE_SIGNED)
    snprintf(to, size, "%" PRId64, (int64_t)(bits << unused) >> unused);
  else
    snprintf(to, size, "%" PRIu64, bits);
}

/* ---- filling -------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *s)            /* splitmix64 */
{
  uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

enum way { UNIFORM, BELOW, IOTA };

/* The words a buffer may be filled by, and the numbers after them. */
static const struct { const char *word; enum way way; unsigned least, most; const char *form; }
    ways[] = {
  {"uniform", UNIFORM, 0, 1, "=uniform or =uniform:SEED"},
  {"below", BELOW, 1, 2, "=below:LIMIT or =below:LIMIT:SEED"},
  {"iota", IOTA, 0, 2, "=iota, =iota:STEP or =iota:STEP:FIRST"},
};

bool value_fill(const struct value_type *t, const char *how, uint8_t *to, uint64_t count, char *why,
                size_t size)
{
  size_t word = strcspn(how, ":"), k = 0, n = sizeof ways / sizeof *ways;
  while (k < n && !(strlen(ways[k].word) == word && !strncmp(how, ways[k].word, word))) k++;
  if (k == n) {
    uint8_t v[8];
    if (!value_read(t, how, v, why, size)) {
      size_t used = strlen(why);
      if (used < size)
        snprintf(why + used, size - used, "; or uniform, uniform:SEED, below:LIMIT, iota, "
                 "iota:STEP or @file");
      return false;
    }
    for (uint64_t i = 0; i < count; i++) memcpy(to + i * t->width, v, t->width);
    return true;
  }
  uint64_t given[2] = {0, 0};
  unsigned numbers = 0;
  bool good = true;
  for (const char *p = how + word; *p && good; numbers++) {
    size_t length = strcspn(p + 1, ":");
    good = numbers < ways[k].most && value_whole(p + 1, length, &given[numbers]);
    p += 1 + length;
  }
  enum way way = ways[k].way;
  if (!good || numbers < ways[k].least || (way == BELOW && given[0] == 0)) {
    snprintf(why, size, "expected %s with whole numbers%s", ways[k].form,
             way == BELOW ? ", LIMIT at least 1" : "");
    return false;
  }
  uint64_t seed = 1, step = way == IOTA && numbers ? given[0] : 1;
  if (numbers == (way == BELOW ? 2 : 1)) seed = given[numbers - 1];
  uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + 1;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t x = way == IOTA ? i * step + given[1] : next(&state);
    double v = (double)x;
    if (way == UNIFORM) v = (double)(x >> 11) * 0x1p-52 - 1;
    if (way == BELOW) {
      x = (uint64_t)(((unsigned __int128)x * given[0]) >> 64);
      v = (double)x;
    }
    store(t, to + i * t->width, v, (int64_t)x);
  }
  return true;
}
