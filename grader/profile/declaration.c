/* See declaration.h.
 *
 * This reads what a person would: `__shared__ TYPE name[ROWS][COLUMNS]`, with the numbers that #define,
 * constexpr and -D give.  The array's bytes are known from PTX, so what was read is checked against them,
 * and one name left over - a template's parameter - is the only value with which they come out. */
#include "profile/declaration.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/signature.h"
#include "profile/values.h"
#include "ptx/ptx.h"

enum { DIMENSIONS = 4, SIZE_TEXT = 200, NAME = 128, LARGEST_UNKNOWN = 4096, DEEPEST = 8 };

struct text {
  const char *raw, *plain;     /* as it is; without comments, in one line */
  const char *const *flags;
  size_t nflags;
  bool expand;                 /* take names by what they are defined as */
};

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool begins_word(char c) { return isalpha((unsigned char)c) || c == '_'; }

/* The next place of a whole word, or NULL. */
static const char *find_word(const char *in, const char *from, const char *word)
{
  size_t n = strlen(word);
  for (const char *p = from; (p = strstr(p, word)); p++)
    if ((p == in || !is_word(p[-1])) && !is_word(p[n])) return p;
  return NULL;
}

/* ---- numbers by name ------------------------------------------------------------------------ */

/* Keeps a definition; two that differ are none. */
static void keep(char *found, const char *from, size_t n, bool *differ)
{
  char one[SIZE_TEXT];
  while (n && isspace((unsigned char)*from)) from++, n--;
  while (n && isspace((unsigned char)from[n - 1])) n--;
  snprintf(one, sizeof one, "%.*s", (int)(n < SIZE_TEXT ? n : SIZE_TEXT - 1), from);
  *differ |= *found && strcmp(found, one);
  strcpy(found, one);
}

static bool definition(const struct text *t, const char *name, char found[SIZE_TEXT])
{
  bool differ = false;
  size_t n = strlen(name);
  *found = 0;
  for (size_t i = 0; i < t->nflags; i++) {
    const char *f = t->flags[i];
    if (!strncmp(f, "-D", 2) && !strncmp(f + 2, name, n) && f[2 + n] == '=') {
      snprintf(found, SIZE_TEXT, "%s", f + 3 + n);
      return true;
    }
  }
  for (const char *p = t->raw; (p = find_word(t->raw, p, name)); p += n) {
    const char *line = p;
    while (line > t->raw && line[-1] != '\n') line--;
    line += strspn(line, " \t");
    if (*line != '#' || strncmp(line + 1 + strspn(line + 1, " \t"), "define", 6) || p[n] == '(') continue;
    const char *word = line + 1 + strspn(line + 1, " \t") + 6;
    if (word + strspn(word, " \t") != p) continue;
    size_t length = strcspn(p + n, "\n");
    const char *comment = strstr(p + n, "//"), *other = strstr(p + n, "/*");
    if (comment && comment < p + n + length) length = (size_t)(comment - p - n);
    if (other && other < p + n + length) length = (size_t)(other - p - n);
    keep(found, p + n, length, &differ);
  }
  for (const char *p = t->plain; (p = find_word(t->plain, p, name)); p += n) {
    const char *value = p + n + strspn(p + n, " "), *begin = p;
    if (*value != '=' || value[1] == '=') continue;
    while (begin > t->plain && !strchr(";{}()", begin[-1])) begin--;
    const char *is = find_word(t->plain, begin, "constexpr"), *too = find_word(t->plain, begin, "const");
    if (!(is && is < p) && !(too && too < p)) continue;
    keep(found, value + 1, strcspn(value + 1, ",;}"), &differ);
  }
  return *found && !differ;
}

/* Appends the text with each name as it is defined, in brackets; false when it is too long. */
static bool expand(const struct text *t, const char *from, unsigned depth, char out[SIZE_TEXT])
{
  char name[NAME], means[SIZE_TEXT];
  if (depth > DEEPEST) return false;
  for (const char *p = from; *p;) {
    size_t used = strlen(out), length = 0;
    while (is_word(p[length])) length++;
    if (used + length + 4 > SIZE_TEXT || length >= NAME) return false;
    snprintf(name, sizeof name, "%.*s", (int)length, p);
    if (length && begins_word(*p) && t->expand && definition(t, name, means)) {
      strcat(out, "(");
      if (!expand(t, means, depth + 1, out) || strlen(out) + 2 > SIZE_TEXT) return false;
      strcat(out, ")");
    } else {
      if (!length) length = 1;
      if (!isspace((unsigned char)*p)) strncat(out, p, length);
    }
    p += length;
  }
  return true;
}

/* A number: the one name that is in it, `unknown`, is `value`.  False when another is, too, or it is no
 * number. */
static bool evaluate(const char *from, char unknown[NAME], uint64_t value, uint64_t *n)
{
  char all[4 * SIZE_TEXT], name[NAME];
  size_t used = 0;
  for (const char *p = from; *p;) {
    size_t length = 0;
    while (is_word(p[length])) length++;
    if (used + length + 24 > sizeof all || length >= NAME) return false;
    if (!length) {
      all[used++] = *p++;
      continue;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, p);
    if (begins_word(*p)) {
      if (*unknown && strcmp(unknown, name)) return false;
      strcpy(unknown, name);
      used += (size_t)snprintf(all + used, sizeof all - used, "%llu", (unsigned long long)value);
    } else {
      size_t digits = strcspn(name, "uUlL");                 /* 32u */
      memcpy(all + used, name, digits);
      used += digits;
    }
    p += length;
  }
  all[used] = 0;
  return value_whole(all, used, n);
}

/* ---- types ---------------------------------------------------------------------------------- */

static const struct { const char *name; unsigned bytes, scalar; bool is_float; } types[] = {
  {"char", 1, 1, false}, {"signed char", 1, 1, false}, {"unsigned char", 1, 1, false},
  {"bool", 1, 1, false}, {"int8_t", 1, 1, false}, {"uint8_t", 1, 1, false},
  {"uchar", 1, 1, false}, {"std::byte", 1, 1, false}, {"__nv_fp8_e4m3", 1, 1, false},
  {"__nv_fp8_e5m2", 1, 1, false}, {"short", 2, 2, false}, {"unsigned short", 2, 2, false},
  {"int16_t", 2, 2, false}, {"uint16_t", 2, 2, false}, {"half", 2, 2, true},
  {"__half", 2, 2, true}, {"__nv_bfloat16", 2, 2, true}, {"nv_bfloat16", 2, 2, true},
  {"char2", 2, 1, false}, {"uchar2", 2, 1, false}, {"ushort", 2, 2, false}, {"int", 4, 4, false},
  {"unsigned", 4, 4, false}, {"unsigned int", 4, 4, false}, {"int32_t", 4, 4, false},
  {"uint32_t", 4, 4, false}, {"uint", 4, 4, false}, {"float", 4, 4, true}, {"half2", 4, 2, true},
  {"__half2", 4, 2, true}, {"__nv_bfloat162", 4, 2, true}, {"nv_bfloat162", 4, 2, true},
  {"char4", 4, 1, false}, {"uchar4", 4, 1, false}, {"short2", 4, 2, false},
  {"ushort2", 4, 2, false}, {"long", 8, 8, false}, {"unsigned long", 8, 8, false},
  {"long long", 8, 8, false}, {"unsigned long long", 8, 8, false}, {"int64_t", 8, 8, false},
  {"uint64_t", 8, 8, false}, {"size_t", 8, 8, false}, {"double", 8, 8, true},
  {"float2", 8, 4, true}, {"int2", 8, 4, false}, {"uint2", 8, 4, false}, {"short4", 8, 2, false},
  {"ushort4", 8, 2, false}, {"float3", 12, 4, true}, {"int3", 12, 4, false},
  {"uint3", 12, 4, false}, {"float4", 16, 4, true}, {"int4", 16, 4, false},
  {"uint4", 16, 4, false}, {"double2", 16, 8, true}, {"longlong2", 16, 8, false},
  {"ulonglong2", 16, 8, false},
};

/* The type's text without what does not tell its size. */
bool declaration_type(const char *from, size_t length, struct declared_type *type)
{
  static const char *const skipped[] = {"static", "const", "volatile", "extern"};
  char name[NAME] = "";
  for (const char *p = from, *end = from + length; p < end;) {
    size_t n = strcspn(p, " "), k = 0, used = strlen(name);
    if (p + n > end) n = (size_t)(end - p);
    while (k < 4 && !(strlen(skipped[k]) == n && !strncmp(skipped[k], p, n))) k++;
    if (k == 4 && n && used + n + 2 < NAME)
      snprintf(name + used, sizeof name - used, "%s%.*s", used ? " " : "", (int)n, p);
    p += n;
    p += strspn(p, " ");
  }
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (!strcmp(types[k].name, name)) {
      *type = (struct declared_type){types[k].bytes, types[k].scalar, types[k].is_float};
      return true;
    }
  return false;
}

static unsigned type_bytes(const char *from, size_t length)
{
  struct declared_type t;
  return declaration_type(from, length, &t) ? t.bytes : 0;
}

/* ---- a declaration -------------------------------------------------------------------------- */

/* The sizes in brackets at p, each a text. */
static unsigned brackets(const char *p, char sizes[DIMENSIONS][SIZE_TEXT])
{
  unsigned n = 0;
  for (p += strspn(p, " "); *p == '['; p += strspn(p, " ")) {
    int depth = 0;
    size_t length = 0;
    for (; p[length]; length++) {
      depth += p[length] == '[';
      if (p[length] == ']' && --depth == 0) break;
    }
    if (!p[length] || n == DIMENSIONS || length > SIZE_TEXT) return 0;
    snprintf(sizes[n++], SIZE_TEXT, "%.*s", (int)length - 1, p + 1);
    p += length + 1;
  }
  return n;
}

static bool all_sizes(char sizes[DIMENSIONS][SIZE_TEXT], unsigned n, char unknown[NAME], uint64_t value,
                      uint64_t out[DIMENSIONS], uint64_t *product)
{
  *product = 1;
  for (unsigned k = 0; k < n; k++) {
    if (!evaluate(sizes[k], unknown, value, &out[k]) || out[k] > UINT32_MAX) return false;
    *product *= out[k];
    if (*product > UINT32_MAX) return false;
  }
  return true;
}

static bool resolve(const struct text *t, char written[DIMENSIONS][SIZE_TEXT], unsigned n, unsigned type,
                    uint64_t bytes, struct declaration *d)
{
  char unknown[NAME] = "", sizes[DIMENSIONS][SIZE_TEXT];
  uint64_t size[DIMENSIONS], product;
  *d = (struct declaration){.dimensions = n, .element = type, .built_in = type != 0};
  if (n == 1 && (type || !bytes)) return true;               /* its length is what PTX says */
  for (unsigned k = 0; k < n; k++) {
    *sizes[k] = 0;
    if (!expand(t, written[k], 0, sizes[k])) return false;
  }
  if (!bytes || !all_sizes(sizes, n, unknown, 1, size, &product)) return false;
  if (!*unknown) {
    if (!type && product) d->element = bytes / product;
    if (!product || product * d->element != bytes) return false;
  } else {
    unsigned solutions = 0;
    for (uint64_t v = 0; type && v <= LARGEST_UNKNOWN; v++) {
      uint64_t with[DIMENSIONS];
      if (!all_sizes(sizes, n, unknown, v, with, &product) || product * type != bytes) continue;
      memcpy(size, with, sizeof size);
      solutions++;
    }
    if (solutions != 1) return false;
  }
  if (n > 1) d->row = size[n - 1] * d->element;
  return true;
}

/* Whether the last word of the type's text is a struct of this source. */
static bool is_struct(const struct text *t, const char *from, const char *end)
{
  char word[NAME + 8];
  while (end > from && !is_word(end[-1])) end--;
  const char *begin = end;
  while (begin > from && is_word(begin[-1])) begin--;
  int n = (int)(end - begin);
  return n > 0 && n < NAME && snprintf(word, sizeof word, "struct %.*s", n, begin) > 0 &&
         find_word(t->plain, t->plain, word);
}

/* From behind `__shared__` up to the semicolon: the declarator of that name. */
static bool declarator(struct text *t, const char *from, const char *name, uint64_t bytes,
                       struct declaration *d)
{
  char statement[1000], sizes[DIMENSIONS][SIZE_TEXT];
  size_t used = 0, length = strcspn(from, ";{");
  if (from[length] != ';') return false;       /* a struct's members are not read */
  for (size_t k = 0; k < length && used + 1 < sizeof statement;) {
    size_t word = !strncmp(from + k, "__align__", 9) ? 9 : !strncmp(from + k, "alignas", 7) ? 7 : 0;
    if (word) {
      k += word + strcspn(from + k + word, ")") + 1;
      continue;
    }
    statement[used++] = from[k++];
  }
  statement[used] = 0;
  const char *at = find_word(statement, statement, name);
  if (!at) return false;
  unsigned n = brackets(at + strlen(name), sizes);
  if (!n) return false;
  const char *end = statement + strcspn(statement, "[,=;");   /* of the first name */
  while (end > statement && !is_word(end[-1])) end--;
  while (end > statement && is_word(end[-1])) end--;
  unsigned type = type_bytes(statement + strspn(statement, " "),
                             (size_t)(end - statement) - strspn(statement, " "));
  t->expand = true;
  bool ok = resolve(t, sizes, n, type, bytes, d);
  t->expand = false;                           /* defined otherwise where it was compiled */
  ok = ok || resolve(t, sizes, n, type, bytes, d);
  d->is_struct = ok && !type && is_struct(t, statement, end);
  return ok;
}

/* "_ZZ4convE1t" -> "t", in "conv"; other names as they are, in no function. */
static void plain_names(const char *symbol, char name[NAME], char function[NAME])
{
  const char *plain;
  size_t length;
  char mangled[1000];
  *function = 0;
  snprintf(name, NAME, "%s", symbol);
  if (strncmp(symbol, "_ZZ", 3)) {
    if (ptx_plain_name(symbol, &plain, &length)) snprintf(name, NAME, "%.*s", (int)length, plain);
    return;
  }
  for (const char *p = symbol; (p = strchr(p, 'E')); p++) {
    char *end;
    unsigned long n = isdigit((unsigned char)p[1]) ? strtoul(p + 1, &end, 10) : 0;
    if (n && strlen(end) >= n && (!end[n] || end[n] == '_')) snprintf(name, NAME, "%.*s", (int)n, end);
  }
  snprintf(mangled, sizeof mangled, "_Z%s", symbol + 3);
  if (ptx_plain_name(mangled, &plain, &length)) snprintf(function, NAME, "%.*s", (int)length, plain);
}

/* Whether the function that the place lies in is called so. */
static bool is_in(const char *text, const char *place, const char *function)
{
  const char *last = text;
  for (const char *p = text; (p = strstr(p, "__")) && p < place; p += 2)
    if (!strncmp(p, "__global__", 10) || !strncmp(p, "__device__", 10)) last = p;
  const char *at = find_word(text, last, function);
  return at && at < place;
}

bool declaration_find(const char *source, const char *symbol, uint64_t bytes,
                      const char *const *flags, size_t nflags, struct declaration *out)
{
  char name[NAME], function[NAME];
  char *plain = signature_stripped(source);
  struct text t = {source, plain, flags, nflags, true};
  bool found = false, differ = false, inside = false;
  plain_names(symbol, name, function);
  for (const char *p = plain; p && (p = strstr(p, "__shared__")); p += 10) {
    struct declaration d;
    if (!declarator(&t, p + 10, name, bytes, &d)) continue;
    bool here = *function && is_in(plain, p, function);
    if (here && !inside) found = differ = false;             /* better than those elsewhere */
    if (here < inside) continue;
    inside = here;
    differ |= found && (out->row != d.row || out->element != d.element || out->dimensions != d.dimensions);
    *out = d;
    found = true;
  }
  free(plain);
  return found && !differ;
}
