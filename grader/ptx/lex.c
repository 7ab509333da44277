/* Characters -> tokens.  One token is looked ahead; r->token is the next one.
 *
 * Two habits of PTX shape this file.  A dot belongs to the word before it (add.rn.f32, %tid.x)
 * but begins a word of its own after a blank (.reg .b32).  And lines mean nothing, except for
 * counting: even .loc ends where its tokens end. */
#include "ptx/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_start(int c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
static bool is_part(int c) { return is_start(c) || is_digit(c); }

static int hex_value(int c)
{
  if (is_digit(c)) return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int peek(const struct reader *r, size_t ahead)
{
  return (size_t)(r->end - r->at) > ahead ? (unsigned char)r->at[ahead] : -1;
}

static void skip_blanks(struct reader *r)
{
  for (;;) {
    int c = peek(r, 0);
    if (c == '\n') {
      r->line++;
      r->at++;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      r->at++;
    } else if (c == '/' && peek(r, 1) == '/') {
      const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
      r->at = stop ? stop : r->end;
    } else if (c == '/' && peek(r, 1) == '*') {
      uint32_t from = r->line;
      for (r->at += 2; !(peek(r, 0) == '*' && peek(r, 1) == '/'); r->at++) {
        if (r->at >= r->end) ptx_fail(r, from, "this comment is never closed by */");
        r->line += *r->at == '\n';
      }
      r->at += 2;
    } else {
      return;
    }
  }
}

/* name, name.name, name::name */
static void scan_word(struct reader *r, bool dots)
{
  for (;;) {
    while (is_part(peek(r, 0))) r->at++;
    if (dots && peek(r, 0) == '.' && is_part(peek(r, 1)) && peek(r, 1) != '%') {
      r->at++;
    } else if (peek(r, 0) == ':' && peek(r, 1) == ':' && is_part(peek(r, 2))) {
      r->at += 2;
    } else {
      return;
    }
  }
}

static void scan_float_bits(struct reader *r, struct token *t, unsigned digits)
{
  uint64_t bits = 0;
  unsigned seen = 0;
  for (r->at += 2; seen < digits && hex_value(peek(r, 0)) >= 0; r->at++, seen++)
    bits = bits << 4 | (unsigned)hex_value(peek(r, 0));
  if (seen < digits || is_part(peek(r, 0)))
    ptx_fail(r, r->line, "a float written as 0%c needs exactly %u hexadecimal digits",
             digits == 8 ? 'f' : 'd', digits);
  t->kind = T_FLOAT;
  t->value = bits;
  t->float_bytes = digits / 2;
}

static void scan_decimal_float(struct reader *r, struct token *t)
{
  char copy[64];
  size_t n = 0;
  while (n < sizeof copy - 1) {
    int c = peek(r, 0);
    bool sign = (c == '+' || c == '-') && n && (copy[n - 1] | 0x20) == 'e';
    if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !sign) break;
    copy[n++] = (char)c;
    r->at++;
  }
  copy[n] = 0;
  char *stop;
  double d = strtod(copy, &stop);
  if (*stop || is_part(peek(r, 0)))
    ptx_fail(r, r->line, "'%s' is not a number", copy);
  memcpy(&t->value, &d, 8);
  t->kind = T_FLOAT;
  t->float_bytes = 8;
}

static void scan_number(struct reader *r, struct token *t)
{
  int second = peek(r, 1) | 0x20;
  unsigned base = 10;
  if (peek(r, 0) == '0' && second == 'f') { scan_float_bits(r, t, 8); return; }
  if (peek(r, 0) == '0' && second == 'd') { scan_float_bits(r, t, 16); return; }
  const char *p = r->at;
  while (p < r->end && is_digit(*p)) p++;
  bool hex = peek(r, 0) == '0' && second == 'x';
  if (!hex && p < r->end && (*p == '.' || (*p | 0x20) == 'e')) {
    scan_decimal_float(r, t);
    return;
  }
  if (hex) {
    base = 16;
    r->at += 2;
  } else if (peek(r, 0) == '0' && second == 'b') {
    base = 2;
    r->at += 2;
  } else if (peek(r, 0) == '0') {
    base = 8;
  }
  unsigned digits = 0;
  t->kind = T_INT;
  for (int v; (v = hex_value(peek(r, 0))) >= 0 && (unsigned)v < base; r->at++, digits++) {
    if (t->value > (UINT64_MAX - (unsigned)v) / base)
      ptx_fail(r, r->line, "this number needs more than 64 bits");
    t->value = t->value * base + (unsigned)v;
  }
  if (peek(r, 0) == 'U') {
    t->is_unsigned = true;
    r->at++;
  }
  if (!digits || is_part(peek(r, 0)))
    ptx_fail(r, r->line, "'%.*s%c' is not a number: base %u was expected",
             (int)(r->at - t->text.s), t->text.s, peek(r, 0) > 32 ? peek(r, 0) : ' ', base);
  if (t->value > INT64_MAX) t->is_unsigned = true;
}

void ptx_next(struct reader *r)
{
  skip_blanks(r);
  struct token *t = &r->token;
  *t = (struct token){ .line = r->line, .text = { r->at, 0 } };
  int c = peek(r, 0);
  if (c < 0) {
    t->kind = T_END;
    return;
  }
  if (is_digit(c) || (c == '.' && is_digit(peek(r, 1)))) {
    scan_number(r, t);
  } else if (is_start(c) && (c != '%' || is_part(peek(r, 1)))) {
    scan_word(r, true);
    t->kind = T_WORD;
  } else if (c == '.' && is_start(peek(r, 1))) {
    r->at++;
    scan_word(r, false);
    t->kind = T_DOT;
  } else if (c == '"') {
    const char *from = ++r->at;
    while (peek(r, 0) != '"') {
      if (r->at >= r->end || *r->at == '\n')
        ptx_fail(r, r->line, "this string is never closed by a quote");
      r->at += *r->at == '\\' && r->at + 1 < r->end && r->at[1] != '\n' ? 2 : 1;
    }
    t->kind = T_STRING;
    t->text = (struct span){ from, (size_t)(r->at - from) };
    r->at++;
    return;
  } else {
    static const char pairs[][3] = { "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };
    t->kind = T_CHAR;
    t->punct = c;
    r->at++;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
      if (c == pairs[i][0] && peek(r, 0) == pairs[i][1]) {
        t->punct = PAIR(c, pairs[i][1]);
        r->at++;
        break;
      }
  }
  t->text.n = (size_t)(r->at - t->text.s);
}

bool ptx_is(const struct reader *r, int punct)
{
  return r->token.kind == T_CHAR && r->token.punct == punct;
}

bool ptx_accept(struct reader *r, int punct)
{
  if (!ptx_is(r, punct)) return false;
  ptx_next(r);
  return true;
}

/* The token as a message shows it: clipped, and nothing in it that could disturb a terminal. */
const char *ptx_shown(const struct token *t, char buffer[64])
{
  if (t->kind == T_END) return "the end of the text";
  size_t n = 0;
  buffer[n++] = '\'';
  for (size_t i = 0; i < t->text.n && n < 56; i++) {
    unsigned char c = (unsigned char)t->text.s[i];
    buffer[n++] = c < 32 || c > 126 ? '?' : (char)c;
  }
  if (n >= 56) n += (size_t)sprintf(buffer + n, "...");
  buffer[n++] = '\'';
  buffer[n] = 0;
  return buffer;
}

void ptx_expect(struct reader *r, int punct, const char *where)
{
  char shown[64];
  if (!ptx_accept(r, punct))
    ptx_fail(r, r->token.line, "expected '%c' %s, found %s", punct, where,
             ptx_shown(&r->token, shown));
}

bool ptx_equal(struct span s, const char *text)
{
  return strlen(text) == s.n && memcmp(s.s, text, s.n) == 0;
}

bool ptx_is_dot(const struct reader *r, const char *directive)
{
  return r->token.kind == T_DOT && ptx_equal(r->token.text, directive);
}

bool ptx_accept_dot(struct reader *r, const char *directive)
{
  if (!ptx_is_dot(r, directive)) return false;
  ptx_next(r);
  return true;
}

struct span ptx_word(struct reader *r, const char *what)
{
  char shown[64];
  if (r->token.kind != T_WORD)
    ptx_fail(r, r->token.line, "expected %s, found %s", what, ptx_shown(&r->token, shown));
  struct span s = r->token.text;
  ptx_next(r);
  return s;
}

uint64_t ptx_int(struct reader *r, const char *what, uint64_t most)
{
  char shown[64];
  if (r->token.kind != T_INT)
    ptx_fail(r, r->token.line, "expected %s, found %s", what, ptx_shown(&r->token, shown));
  uint64_t v = r->token.value;
  if (v > most)
    ptx_fail(r, r->token.line, "%s is %llu, more than %llu", what, (unsigned long long)v,
             (unsigned long long)most);
  ptx_next(r);
  return v;
}

/* .section name { ... }: debug information, in a syntax of its own; braces do not nest in it. */
void ptx_skip_section(struct reader *r)
{
  uint32_t from = r->token.line;
  while (!ptx_is(r, '{')) {
    if (r->token.kind == T_END) ptx_fail(r, from, "this .section has no { ... }");
    ptx_next(r);
  }
  for (;; ptx_next(r)) {
    if (r->token.kind == T_END) ptx_fail(r, from, "this .section is never closed by }");
    if (ptx_is(r, '}')) break;
  }
  ptx_next(r);
}
