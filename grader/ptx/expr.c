/* Constant expressions: 64-bit integers, signed unless an operand is unsigned, and floats, which
 * know only signs and the four operations.  Precedences are those of C. */
#include "ptx/internal.h"

#include <string.h>

struct value {
  uint8_t float_bytes;   /* 0: an integer */
  bool is_unsigned;
  uint64_t bits;
};

static double as_double(struct value v)
{
  double d;
  float f;
  uint32_t low = (uint32_t)v.bits;
  if (v.float_bytes == 4) {
    memcpy(&f, &low, 4);
    return f;
  }
  if (v.float_bytes == 8) {
    memcpy(&d, &v.bits, 8);
    return d;
  }
  return v.is_unsigned ? (double)v.bits : (double)(int64_t)v.bits;
}

static struct value from_double(double d)
{
  struct value v = { .float_bytes = 8 };
  memcpy(&v.bits, &d, 8);
  return v;
}

static struct value binary(struct reader *r, struct token at, unsigned depth, int above);

static struct value unary(struct reader *r, unsigned depth)
{
  struct token t = r->token;
  char shown[64];
  if (depth > PTX_MAX_DEPTH) ptx_fail(r, t.line, "this expression is nested too deeply");
  if (t.kind == T_INT || t.kind == T_FLOAT) {
    ptx_next(r);
    return (struct value){ t.float_bytes, t.is_unsigned, t.value };
  }
  if (t.kind == T_WORD && ptx_equal(t.text, "WARP_SZ")) {
    ptx_next(r);
    return (struct value){ .bits = 32 };
  }
  if (ptx_accept(r, '+')) return unary(r, depth + 1);
  if (ptx_accept(r, '-')) {
    struct value v = unary(r, depth + 1);
    if (v.float_bytes) v.bits ^= (uint64_t)1 << (v.float_bytes * 8 - 1);
    else v.bits = 0 - v.bits;
    return v;
  }
  if (ptx_accept(r, '~')) {
    struct value v = unary(r, depth + 1);
    if (v.float_bytes) ptx_fail(r, t.line, "'~' of a float");
    v.bits = ~v.bits;
    return v;
  }
  if (ptx_accept(r, '!')) {
    struct value v = unary(r, depth + 1);
    return (struct value){ .bits = as_double(v) == 0 };
  }
  if (ptx_accept(r, '(')) {
    if (r->token.kind == T_DOT) {
      bool is_unsigned = ptx_is_dot(r, ".u64");
      if (!is_unsigned && !ptx_is_dot(r, ".s64"))
        ptx_fail(r, t.line, "a cast is (.s64) or (.u64), found %s", ptx_shown(&r->token, shown));
      ptx_next(r);
      ptx_expect(r, ')', "after the cast");
      struct value v = unary(r, depth + 1);
      if (v.float_bytes) ptx_fail(r, t.line, "a float cannot be cast to an integer here");
      v.is_unsigned = is_unsigned;
      return v;
    }
    struct value v = binary(r, t, depth + 1, 0);
    ptx_expect(r, ')', "to close the expression");
    return v;
  }
  ptx_fail(r, t.line, "expected a number, found %s", ptx_shown(&t, shown));
}

static int precedence(const struct reader *r)
{
  if (r->token.kind != T_CHAR) return 0;
  switch (r->token.punct) {
  case '*': case '/': case '%': return 11;
  case '+': case '-': return 10;
  case PAIR('<', '<'): case PAIR('>', '>'): return 9;
  case '<': case '>': case PAIR('<', '='): case PAIR('>', '='): return 8;
  case PAIR('=', '='): case PAIR('!', '='): return 7;
  case '&': return 6;
  case '^': return 5;
  case '|': return 4;
  case PAIR('&', '&'): return 3;
  case PAIR('|', '|'): return 2;
  case '?': return 1;
  }
  return 0;
}

static struct value apply(struct reader *r, uint32_t line, int op, struct value a, struct value b)
{
  if (a.float_bytes || b.float_bytes) {
    double x = as_double(a), y = as_double(b);
    switch (op) {
    case '*': return from_double(x * y);
    case '/': return from_double(x / y);
    case '+': return from_double(x + y);
    case '-': return from_double(x - y);
    }
    ptx_fail(r, line, "floats in a constant expression know only + - * /");
  }
  bool u = a.is_unsigned || b.is_unsigned;
  int64_t x = (int64_t)a.bits, y = (int64_t)b.bits;
  struct value v = { .is_unsigned = u };
  struct value truth = { 0 };
  switch (op) {
  case '*': v.bits = a.bits * b.bits; return v;
  case '/': case '%':
    if (!b.bits) ptx_fail(r, line, "division by zero in a constant expression");
    if (u) v.bits = op == '/' ? a.bits / b.bits : a.bits % b.bits;
    else if (y == -1) v.bits = op == '/' ? 0 - a.bits : 0;
    else v.bits = (uint64_t)(op == '/' ? x / y : x % y);
    return v;
  case '+': v.bits = a.bits + b.bits; return v;
  case '-': v.bits = a.bits - b.bits; return v;
  case PAIR('<', '<'):
    v.is_unsigned = a.is_unsigned;
    v.bits = b.bits > 63 ? 0 : a.bits << b.bits;
    return v;
  case PAIR('>', '>'):
    v.is_unsigned = a.is_unsigned;
    if (a.is_unsigned) v.bits = b.bits > 63 ? 0 : a.bits >> b.bits;
    else v.bits = (uint64_t)(x >> (b.bits > 63 ? 63 : b.bits));
    return v;
  case '<': truth.bits = u ? a.bits < b.bits : x < y; return truth;
  case '>': truth.bits = u ? a.bits > b.bits : x > y; return truth;
  case PAIR('<', '='): truth.bits = u ? a.bits <= b.bits : x <= y; return truth;
  case PAIR('>', '='): truth.bits = u ? a.bits >= b.bits : x >= y; return truth;
  case PAIR('=', '='): truth.bits = a.bits == b.bits; return truth;
  case PAIR('!', '='): truth.bits = a.bits != b.bits; return truth;
  case '&': v.bits = a.bits & b.bits; return v;
  case '^': v.bits = a.bits ^ b.bits; return v;
  case '|': v.bits = a.bits | b.bits; return v;
  case PAIR('&', '&'): truth.bits = a.bits && b.bits; return truth;
  case PAIR('|', '|'): truth.bits = a.bits || b.bits; return truth;
  }
  return v;
}

static struct value binary(struct reader *r, struct token at, unsigned depth, int above)
{
  struct value v = unary(r, depth);
  for (int p; (p = precedence(r)) > above;) {
    int op = r->token.punct;
    ptx_next(r);
    if (op == '?') {
      struct value yes = binary(r, at, depth + 1, 0);
      ptx_expect(r, ':', "of the conditional expression");
      struct value no = binary(r, at, depth + 1, 0);
      v = as_double(v) != 0 ? yes : no;
    } else {
      v = apply(r, at.line, op, v, binary(r, at, depth + 1, p));
    }
  }
  return v;
}

uint8_t ptx_expression(struct reader *r, uint64_t *value)
{
  struct value v = binary(r, r->token, 0, 0);
  *value = v.bits;
  return v.float_bytes;
}

uint8_t ptx_term(struct reader *r, uint64_t *value)
{
  struct value v = unary(r, 0);
  *value = v.bits;
  return v.float_bytes;
}
