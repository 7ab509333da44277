/* Precedence climbing that computes as it reads.  Text is evaluated anew for every lane: 32
 * readings of a short line cost nothing, and no tree needs to be kept.  Unlike C, overflow,
 * division by zero and impossible shifts are errors with a place, never undefined. */
#include "expr.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { NESTING = 100 };   /* parentheses and unary operators deep: keeps the C stack small */

struct reader {
  const char *text, *p;
  int64_t t;
  unsigned depth;
  bool skip;              /* inside a part that is not chosen */
  char *why;
  size_t size;
  jmp_buf fail;
};

__attribute__((noreturn))
static void fail(struct reader *r, const char *at, const char *what)
{
  snprintf(r->why, r->size, "column %zu: %s", (size_t)(at - r->text) + 1, what);
  longjmp(r->fail, 1);
}

__attribute__((noreturn))
static void fail_value(struct reader *r, const char *at, const char *what)
{
  snprintf(r->why, r->size, "column %zu: %s for t = %lld", (size_t)(at - r->text) + 1, what,
           (long long)r->t);
  longjmp(r->fail, 1);
}

static void spaces(struct reader *r)
{
  while (isspace((unsigned char)*r->p)) r->p++;
}

enum op { OR, AND, BIT_OR, BIT_XOR, BIT_AND, EQ, NE, LE, GE, LT, GT, SHL, SHR, ADD, SUB, MUL, DIV,
          MOD, NONE };

/* Longer spellings stand before their beginnings. */
static const struct { const char *text; enum op op; int level; } ops[] = {
  {"||", OR, 1}, {"&&", AND, 2}, {"|", BIT_OR, 3}, {"^", BIT_XOR, 4}, {"&", BIT_AND, 5},
  {"==", EQ, 6}, {"!=", NE, 6}, {"<<", SHL, 8}, {">>", SHR, 8}, {"<=", LE, 7}, {">=", GE, 7},
  {"<", LT, 7}, {">", GT, 7}, {"+", ADD, 9}, {"-", SUB, 9}, {"*", MUL, 10}, {"/", DIV, 10},
  {"%", MOD, 10},
};

static int64_t apply(struct reader *r, enum op op, int64_t a, int64_t b, const char *at)
{
  int64_t v = 0;
  if (r->skip) return 0;
  switch (op) {
  case ADD:
    if (__builtin_add_overflow(a, b, &v)) fail_value(r, at, "'+' overflows 64 bits");
    break;
  case SUB:
    if (__builtin_sub_overflow(a, b, &v)) fail_value(r, at, "'-' overflows 64 bits");
    break;
  case MUL:
    if (__builtin_mul_overflow(a, b, &v)) fail_value(r, at, "'*' overflows 64 bits");
    break;
  case DIV: case MOD:
    if (b == 0) fail_value(r, at, "division by zero");
    if (b == -1 && a == INT64_MIN) fail_value(r, at, "division overflows 64 bits");
    v = op == DIV ? a / b : a % b;
    break;
  case SHL:
    if (b < 0 || b > 63) fail_value(r, at, "shift by a count outside 0..63");
    if (a < 0 || (b > 0 && a > INT64_MAX >> b)) fail_value(r, at, "'<<' overflows 64 bits");
    v = (int64_t)((uint64_t)a << b);
    break;
  case SHR:
    if (b < 0 || b > 63) fail_value(r, at, "shift by a count outside 0..63");
    v = a >> b;
    break;
  case BIT_OR: v = a | b; break;
  case BIT_XOR: v = a ^ b; break;
  case BIT_AND: v = a & b; break;
  case EQ: v = a == b; break;
  case NE: v = a != b; break;
  case LT: v = a < b; break;
  case LE: v = a <= b; break;
  case GT: v = a > b; break;
  case GE: v = a >= b; break;
  case OR: v = a || b; break;
  case AND: v = a && b; break;
  case NONE: break;
  }
  return v;
}

static int64_t choice(struct reader *r);

static int64_t number(struct reader *r)
{
  const char *from = r->p;
  unsigned base = 10;
  uint64_t v = 0;
  if (*r->p == '0') base = 8;
  if (*r->p == '0' && (r->p[1] == 'x' || r->p[1] == 'X')) {
    base = 16;
    r->p += 2;
    if (!isxdigit((unsigned char)*r->p)) fail(r, r->p, "expected a hexadecimal digit after 0x");
  }
  for (; isalnum((unsigned char)*r->p); r->p++) {
    int c = tolower((unsigned char)*r->p);
    unsigned digit = (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
    if (digit >= base)
      fail(r, r->p, base == 8 ? "not an octal digit (a number starting with 0 is octal, as in C)"
                              : "not a digit; write * between a number and t");
    if (v > ((uint64_t)INT64_MAX - digit) / base) fail(r, from, "number too large for 64 bits");
    v = v * base + digit;
  }
  return (int64_t)v;
}

static int64_t unary(struct reader *r)
{
  int64_t v;
  if (++r->depth > NESTING) fail(r, r->p, "nested too deeply (100 levels at most)");
  spaces(r);
  const char *at = r->p;
  if (*at == '-' || *at == '+' || *at == '~' || (*at == '!' && at[1] != '=')) {
    r->p++;
    v = unary(r);
    if (*at == '-') v = apply(r, SUB, 0, v, at);
    else if (*at == '~') v = ~v;
    else if (*at == '!') v = !v;
  } else if (*at == '(') {
    r->p++;
    v = choice(r);
    spaces(r);
    if (*r->p != ')') {
      fail(r, r->p, *r->p ? "expected an operator or ')'"
                          : "the expression ends before a ')' that is still missing");
    }
    r->p++;
  } else if (isdigit((unsigned char)*at)) {
    v = number(r);
  } else if (*at == 't' && !isalnum((unsigned char)at[1]) && at[1] != '_') {
    r->p++;
    v = r->t;
  } else if (isalpha((unsigned char)*at) || *at == '_') {
    fail(r, at, "unknown name; t, the lane, is the only one");
  } else {
    fail(r, at, *at ? "expected a number, t, '(' or - ~ ! here" : "the expression ends too early");
  }
  r->depth--;
  return v;
}

static enum op peek(const struct reader *r, int *level, size_t *length)
{
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    size_t n = strlen(ops[i].text);
    if (strncmp(r->p, ops[i].text, n)) continue;
    *level = ops[i].level;
    *length = n;
    return ops[i].op;
  }
  return NONE;
}

static int64_t binary(struct reader *r, int lowest)
{
  int64_t v = unary(r);
  for (;;) {
    int level;
    size_t length;
    bool skip = r->skip;
    spaces(r);
    const char *at = r->p;
    enum op op = peek(r, &level, &length);
    if (op == NONE || level < lowest) return v;
    r->p += length;
    if ((op == OR && v) || (op == AND && !v)) r->skip = true;
    int64_t right = binary(r, level + 1);
    r->skip = skip;
    v = apply(r, op, v, right, at);
  }
}

static int64_t choice(struct reader *r)
{
  int64_t condition = binary(r, 1), yes, no;
  bool skip = r->skip;
  spaces(r);
  if (*r->p != '?') return condition;
  if (++r->depth > NESTING) fail(r, r->p, "nested too deeply (100 levels at most)");
  r->p++;
  r->skip = skip || !condition;
  yes = choice(r);
  spaces(r);
  if (*r->p != ':') fail(r, r->p, "expected ':' to go with '?'");
  r->p++;
  r->skip = skip || condition;
  no = choice(r);
  r->skip = skip;
  r->depth--;
  return condition ? yes : no;
}

bool expr_eval(const char *text, int64_t t, int64_t *value, char *why, size_t size)
{
  struct reader r = {.text = text, .p = text, .t = t, .why = why, .size = size};
  if (setjmp(r.fail)) return false;
  *value = choice(&r);
  spaces(&r);
  if (*r.p == ')') fail(&r, r.p, "this ')' closes nothing");
  if (*r.p == '=') fail(&r, r.p, "'=' assigns; compare with '=='");
  if (*r.p) fail(&r, r.p, "expected an operator or the end");
  return true;
}
