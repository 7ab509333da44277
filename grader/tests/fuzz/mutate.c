/* Changes to PTX text that leave most of it PTX, so that a fuzzer gets past the reader's first
 * complaint: whole lines moved, doubled, taken away or brought from another input; a word changed
 * for another of its kind; and a new instruction written from a row of ops.def.  One time in eight
 * libFuzzer's own change of bytes.
 *
 * All words come from ops.def, mods.def and specials.def, so a new row is fuzzed when it is there.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed);

enum { TEXT = 1 << 17 };

static const char *const immediates[] = {
  "0", "1", "-1", "2", "3", "7", "8", "15", "16", "31", "32", "33", "63", "64", "65", "127", "128",
  "255", "256", "1023", "1024", "4095", "4096", "32767", "32768", "65535", "65536", "0xffffffff",
  "0x7fffffff", "-2147483648", "4294967296", "0x7fffffffffffffff", "0xffffffffffffffff",
  "-9223372036854775808", "0x8000000000000000", "16777216", "232448", "1000000000", "0x5410",
  "0f00000000", "0f80000000", "0f3F800000", "0f7F800000", "0fFF800000", "0f7FC00000",
  "0f00000001", "0f7F7FFFFF", "0f4F000000", "0d0000000000000000", "0d7FF0000000000000",
  "0d7FF8000000000000", "0d43E0000000000000", "1.5", "18446744073709551616", "0U", "4U", "0b101",
  "(1<<31)", "WARP_SZ",
};

static const char *const lines[] = {
  "bar.sync 0;", "bar.warp.sync -1;", "ret;", "exit;", "trap;", "membar.gl;",
  ".shared .align 16 .b8 fuzz_tile[4096];", ".local .align 8 .b8 fuzz_stack[64];",
  ".extern .shared .align 16 .b8 fuzz_dynamic[];", ".global .align 8 .u64 fuzz_word = 7;",
  ".reg .b32 %fuzz<4>;", ".reg .pred %fuzzp<2>;", "{", "}", "fuzz_label:", "bra fuzz_label;",
  "@%p1 bra fuzz_label;", ".pragma \"nounroll\";", ".maxntid 64, 1, 1", ".reqntid 48",
  "mov.u64 %rd1, fuzz_tile;", "mov.u32 %r1, %tid.x;", "mov.u32 %r2, %laneid;",
  "cvta.to.global.u64 %rd1, %rd1;", "mov.u32 %r1, fuzz_tile;",
};

/* ---- chance ------------------------------------------------------------------------------- */

static uint64_t state;

static unsigned below(unsigned n)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return n ? (unsigned)((state >> 16) % n) : 0;
}

#define ANY(array) ((array)[below(sizeof(array) / sizeof *(array))])

/* ---- a text that changes ------------------------------------------------------------------ */

struct text {
  char s[TEXT];
  size_t n;
};

static struct text now, piece;

/* What stands at [at, at + gone) becomes the `n` bytes of s. */
static void replace(struct text *t, size_t at, size_t gone, const char *s, size_t n)
{
  if (t->n - gone + n > TEXT) return;
  memmove(t->s + at + n, t->s + at + gone, t->n - at - gone);
  memcpy(t->s + at, s, n);
  t->n = t->n - gone + n;
}

static void add(struct text *t, const char *s) { replace(t, t->n, 0, s, strlen(s)); }

static size_t line_start(const char *s, size_t at)
{
  while (at > 0 && s[at - 1] != '\n') at--;
  return at;
}

static size_t line_end(const char *s, size_t n, size_t at)
{
  while (at < n && s[at] != '\n') at++;
  return at < n ? at + 1 : n;
}

/* One to four lines, chosen anywhere. */
static void some_lines(const char *s, size_t n, size_t *from, size_t *to)
{
  *from = line_start(s, below((unsigned)n));
  *to = *from;
  for (unsigned i = below(4) ? 1 : 1 + below(4); i > 0; i--) *to = line_end(s, n, *to);
}

/* ---- words -------------------------------------------------------------------------------- */

static bool wordy(char c) { return isalnum((unsigned char)c) || strchr("_$%.", c) != NULL; }

/* A word of the text that starts with `first` ('%' register, '0' number, '.' modifier, 'a' name),
 * or any word when that is 0.  A modifier is the part from its dot to the next. */
static bool some_word(const struct text *t, char first, size_t *from, size_t *to)
{
  for (unsigned tries = 64; tries > 0 && t->n > 0; tries--) {
    size_t a = below((unsigned)t->n);
    if (!wordy(t->s[a])) continue;
    if (first == '.') {
      while (a > 0 && wordy(t->s[a]) && t->s[a] != '.') a--;
      if (t->s[a] != '.') continue;
      size_t b = a + 1;
      while (b < t->n && wordy(t->s[b]) && t->s[b] != '.') b++;
      *from = a, *to = b;
      return true;
    }
    while (a > 0 && wordy(t->s[a - 1])) a--;
    char c = t->s[a];
    char kind = isdigit((unsigned char)c) ? '0' : c == '%' || c == '.' ? c : 'a';
    if (first && kind != first) continue;
    size_t b = a + 1;
    while (b < t->n && wordy(t->s[b])) b++;
    *from = a, *to = b;
    return true;
  }
  return false;
}

/* A register the text has, of the width or kind asked for if one is soon found. */
static void add_register(struct text *t, enum ptx_type type, bool pred)
{
  unsigned bits = type ? ptx_type_bits(type) : 32;
  bool real = type && ptx_type_kind(type) == PTX_FLOAT && bits > 16 && below(3);
  const char *want = pred ? "%p" : bits == 64 ? real ? "%fd" : "%rd" : bits == 32 ? real ? "%f" : "%r"
                     : bits <= 16 ? "%rs" : "%rq";
  size_t from, to, w = strlen(want);
  for (unsigned tries = 24; tries > 0; tries--) {
    if (!some_word(&now, '%', &from, &to)) break;
    bool has = to - from > w && !memcmp(now.s + from, want, w) &&
               isdigit((unsigned char)now.s[from + w]);
    if (!has) continue;
    replace(t, t->n, 0, now.s + from, to - from);
    return;
  }
  char name[16];
  snprintf(name, sizeof name, "%s%u", want, 1 + below(4));
  add(t, name);
}

/* ---- an instruction from its row ---------------------------------------------------------- */

/* The alternatives of `group` (a|b|c, perhaps with ! or ? behind): one of them. */
static size_t alternative(const char *group, size_t n, const char **chosen)
{
  while (n > 0 && strchr("!?", group[n - 1])) n--;
  unsigned count = 1;
  for (size_t i = 0; i < n; i++) count += group[i] == '|';
  unsigned take = below(count);
  size_t a = 0;
  while (take > 0)
    if (group[a++] == '|') take--;
  size_t b = a;
  while (b < n && group[b] != '|') b++;
  *chosen = group + a;
  return b - a;
}

static enum ptx_type type_called(const char *s, size_t n)
{
  for (unsigned i = 1; i < PTX_TYPES; i++) {
    const char *text = ptx_type_text((enum ptx_type)i);
    if (strlen(text) - (*text == '.') == n && !memcmp(text + (*text == '.'), s, n))
      return (enum ptx_type)i;
  }
  return PTX_NOTYPE;
}

static enum ptx_type add_type(struct text *t, const char *group, size_t n)
{
  static const char *const ints[] = { "u16", "u32", "u64", "s16", "s32", "s64" };
  static const char *const bits[] = { "b16", "b32", "b64" };
  static const char *const plain[] = { "b8", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s32",
                                       "f32", "f64", "b128" };
  const char *s;
  size_t len = alternative(group, n, &s);
  if (len == 3 && !memcmp(s, "int", 3)) s = ANY(ints), len = strlen(s);
  else if (len == 4 && !memcmp(s, "bits", 4)) s = ANY(bits), len = strlen(s);
  else if (len == 5 && !memcmp(s, "plain", 5)) s = ANY(plain), len = strlen(s);
  else if (len == 1 && *s == '*') s = ANY(plain), len = strlen(s);
  add(t, ".");
  replace(t, t->n, 0, s, len);
  return type_called(s, len);
}

static void add_address(struct text *t)
{
  size_t from, to;
  switch (below(8)) {
  case 0:
    add(t, ANY(immediates));
    break;
  case 1:
    add(t, "fuzz_tile");
    break;
  case 2:
    if (some_word(&now, 'a', &from, &to)) replace(t, t->n, 0, now.s + from, to - from);
    break;
  case 3:
    add_register(t, PTX_NOTYPE, false);
    break;
  default:
    add_register(t, type_called("u64", 3), false);
  }
  if (below(2)) {
    add(t, "+");
    add(t, ANY(immediates));
  }
}

static void add_source(struct text *t, enum ptx_type type)
{
  if (below(4)) add_register(t, type, type && ptx_type_bits(type) == 1);
  else if (below(3)) add(t, ANY(immediates));
  else {
    const char *s = ptx_special_text((enum ptx_special)below(PTX_SPECIALS));
    if (*s != '%') add(t, "%");
    add(t, s);
  }
}

static void add_vector(struct text *t, enum ptx_type type, unsigned n)
{
  add(t, "{");
  for (unsigned i = 0; i < n; i++) {
    if (i) add(t, ", ");
    if (below(12)) add_register(t, type, false);
    else add(t, below(2) ? "_" : ANY(immediates));
  }
  add(t, "}");
}

static void add_operand(struct text *t, const char *s, size_t n, enum ptx_type type,
                        unsigned vector)
{
  size_t from, to;
  if (memchr(s, '?', n) && below(3) == 0) return;
  if (t->n && t->s[t->n - 1] != ' ') add(t, ", ");
  if (*s == '[') {
    add(t, "[");
    add_address(t);
    if (s[1] == 't') {
      add(t, ", ");
      add_vector(t, type_called("s32", 3), 1 + below(5));
    }
    add(t, "]");
  } else if (*s == '{' || (vector > 1 && n > 1 && s[1] == 'v')) {
    add_vector(t, type, vector > 1 ? vector : 1 + below(8));
  } else if (*s == '(') {
    add(t, "(");
    if (below(2)) add_source(t, type);
    add(t, ")");
  } else if (*s == '#') {
    add(t, ANY(immediates));
  } else if (strchr("LFT", *s)) {
    if (some_word(&now, 'a', &from, &to)) replace(t, t->n, 0, now.s + from, to - from);
    else add(t, "fuzz_label");
  } else if (*s == 'p' || *s == 's') {
    if (*s == 's' && below(4) == 0) add(t, "!");
    add_register(t, PTX_NOTYPE, true);
    if (n > 2 && s[1] == '|' && below(2)) {
      add(t, "|");
      add_register(t, PTX_NOTYPE, true);
    }
  } else if (*s == 'd') {
    add_register(t, type, type && ptx_type_bits(type) == 1);
    if (n > 2 && s[1] == '|' && below(2)) {
      add(t, "|");
      add_register(t, PTX_NOTYPE, true);
    }
  } else {
    add_source(t, type);
  }
}

/* The next word of a list separated by spaces; false at its end. */
static bool next(const char **at, const char **s, size_t *n)
{
  *at += strspn(*at, " ");
  *s = *at;
  *n = strcspn(*at, " ");
  *at += *n;
  return *n > 0;
}

static void write_instruction(struct text *t)
{
  enum ptx_op op = (enum ptx_op)below(PTX_OPS);
  struct ptx_form form = ptx_form(op, below(ptx_form_count(op)));
  enum ptx_type types[8] = { PTX_NOTYPE };
  unsigned ntypes = 0, vector = 1;
  const char *at, *s, *word;
  size_t n;
  t->n = 0;
  if (below(5) == 0) {
    add(t, below(2) ? "@" : "@!");
    add_register(t, PTX_NOTYPE, true);
    add(t, " ");
  }
  add(t, ptx_op_text(op));
  at = form.mods;
  while (next(&at, &s, &n)) {
    if (s[n - 1] != '!' && below(2)) continue;
    size_t len = alternative(s, n, &word);
    if (*word == '*') word = ptx_mod_text((enum ptx_mod)below(PTX_MODS)), len = strlen(word);
    add(t, ".");
    replace(t, t->n, 0, word, len);
    if (len == 2 && word[0] == 'v' && isdigit((unsigned char)word[1])) vector = word[1] - '0';
  }
  at = form.types;
  while (ntypes < 8 && next(&at, &s, &n)) {
    if (s[n - 1] == '?' && below(2)) continue;
    types[ntypes++] = add_type(t, s, n);
  }
  add(t, " ");
  at = form.shape;
  unsigned place = 0;
  while (next(&at, &s, &n)) {
    /* With several types the first is the destination's, the last that of what follows. */
    unsigned of = ntypes == 0 ? 0 : place == 0 ? 0 : place < ntypes ? place : ntypes - 1;
    unsigned repeat = n > 3 && !memcmp(s + n - 3, "...", 3) ? below(4) : 1;
    while (repeat-- > 0) add_operand(t, s, n, types[of], vector);
    place++;
  }
  add(t, ";\n");
}

/* ---- changes ------------------------------------------------------------------------------ */

static void change_word(void)
{
  size_t from, to, a, b;
  char name[64];
  const char *word = NULL;
  switch (below(6)) {
  case 0:
    if (!some_word(&now, '.', &from, &to)) return;
    snprintf(name, sizeof name, ".%s", below(2) ? ptx_mod_text((enum ptx_mod)below(PTX_MODS))
                                        : ptx_type_text((enum ptx_type)(1 + below(PTX_TYPES - 1))));
    word = name;
    break;
  case 1:
    if (!some_word(&now, '0', &from, &to)) return;
    word = ANY(immediates);
    break;
  case 2:     /* a register for a register, a name for a name */
  case 3:
    if (!some_word(&now, 0, &from, &to)) return;
    char c = now.s[from];
    if (!some_word(&now, isdigit((unsigned char)c) ? '0' : c == '%' || c == '.' ? c : 'a', &a, &b))
      return;
    piece.n = 0;
    replace(&piece, 0, 0, now.s + a, b - a);
    replace(&now, from, to - from, piece.s, piece.n);
    return;
  case 4:
    if (!some_word(&now, 'a', &from, &to)) return;
    a = from;
    while (a < to && now.s[a] != '.') a++;
    to = a;
    word = ptx_op_text((enum ptx_op)below(PTX_OPS));
    break;
  default:
    if (!some_word(&now, '%', &from, &to)) return;
    if (below(2)) {
      word = ANY(immediates);
    } else {
      const char *s = ptx_special_text((enum ptx_special)below(PTX_SPECIALS));
      snprintf(name, sizeof name, "%s%s", *s == '%' ? "" : "%", s);
      word = name;
    }
  }
  replace(&now, from, to - from, word, strlen(word));
}

static void change_lines(void)
{
  size_t from, to, at;
  some_lines(now.s, now.n, &from, &to);
  switch (below(4)) {
  case 0:
    replace(&now, from, to - from, "", 0);
    break;
  case 1:
  case 2:     /* moved or doubled */
    piece.n = 0;
    replace(&piece, 0, 0, now.s + from, to - from);
    if (below(2)) replace(&now, from, to - from, "", 0);
    at = now.n ? line_start(now.s, below((unsigned)now.n)) : 0;
    replace(&now, at, 0, piece.s, piece.n);
    break;
  default:
    piece.n = 0;
    add(&piece, ANY(lines));
    add(&piece, "\n");
    replace(&now, from, 0, piece.s, piece.n);
  }
}

static void new_instruction(void)
{
  write_instruction(&piece);
  size_t from = line_start(now.s, below((unsigned)now.n)), gone = 0;
  if (below(2)) gone = line_end(now.s, now.n, from) - from;
  replace(&now, from, gone, piece.s, piece.n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
  state = seed * 0x9e3779b97f4a7c15ull | 1;
  if (size == 0 || size > TEXT / 2 || below(8) == 0) return LLVMFuzzerMutate(data, size, max);
  memcpy(now.s, data, size);
  now.n = size;
  for (unsigned i = 1 + below(3); i > 0 && now.n > 0; i--) {
    switch (below(5)) {
    case 0:
    case 1:
      new_instruction();
      break;
    case 2:
      change_lines();
      break;
    default:
      change_word();
    }
  }
  if (now.n > max) now.n = max;
  memcpy(data, now.s, now.n);
  return now.n;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed)
{
  state = seed * 0x9e3779b97f4a7c15ull | 1;
  if (na > TEXT / 2 || nb > TEXT / 2) return 0;
  now.n = 0;
  replace(&now, 0, 0, (const char *)a, na);
  if (na && nb) {
    size_t from, to, at = line_start(now.s, below((unsigned)na));
    some_lines((const char *)b, nb, &from, &to);
    replace(&now, at, 0, (const char *)b + from, to - from);
  }
  if (now.n > max) now.n = max;
  memcpy(out, now.s, now.n);
  return now.n;
}
