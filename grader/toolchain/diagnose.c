/* Compiler output -> the diagnostics of the student's own file.
 *
 * Three spellings are read:  name(12): error: text      EDG, that is nvcc
 *                            name:12:5: error: text     gcc and clang
 *                            ld: undefined reference to `name', multiple definition of `name'
 * Only lines about the student's file are kept, and the source line shown is taken from the
 * student's text, never from the output: so no other file's content can be part of a report.
 * What a student makes a compiler say (#error, #warning, names) is text, made printable; the verdict
 * is the compiler's exit status. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain.h"

enum { MOST = 50 };

static size_t utf8_length(const unsigned char *s, size_t left)
{
  size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
             : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
  if (n == 0 || n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (n == 2 && s[0] == 0xc2 && s[1] < 0xa0) return 0;             /* C1 controls */
  if (n == 3 && s[0] == 0xe0 && s[1] < 0xa0) return 0;             /* overlong */
  if (n == 3 && s[0] == 0xed && s[1] >= 0xa0) return 0;            /* surrogates */
  if (n == 3 && s[0] == 0xe2 && s[1] == 0x80 && ((s[2] >= 0x8b && s[2] <= 0x8f) ||
      (s[2] >= 0xa8 && s[2] <= 0xae))) return 0;                   /* separators, direction */
  if (n == 3 && s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf) return 0;
  if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
  return n;
}

void diagnose_printable(char *to, size_t size, const char *from, size_t length)
{
  const unsigned char *s = (const unsigned char *)from;
  size_t n = 0, i = 0;
  while (i < length) {
    size_t take = utf8_length(s + i, length - i);
    char piece[8];
    if (take == 1 && s[i] == '\t') memcpy(piece, " ", 2);
    else if (take == 0 || (take == 1 && (s[i] < 0x20 || s[i] == 0x7f)))
      snprintf(piece, sizeof piece, "\\x%02x", s[i]), take = 1;
    else memcpy(piece, s + i, take), piece[take] = 0;
    size_t add = strlen(piece);
    if (n + add + 4 > size) {
      if (n + 4 <= size) memcpy(to + n, "...", 3), n += 3;
      break;
    }
    memcpy(to + n, piece, add);
    n += add;
    i += take;
  }
  if (size) to[n < size ? n : size - 1] = 0;
}

static void source_line(const char *source, unsigned line, char *to, size_t size)
{
  *to = 0;
  for (unsigned i = 1; source && i < line; i++) {
    source = strchr(source, '\n');
    if (source) source++;
  }
  if (source) diagnose_printable(to, size, source, strcspn(source, "\n"));
}

static struct diagnostic *add(struct compiled *out)
{
  if (out->ndiagnostics >= MOST) return NULL;
  struct diagnostic *more = realloc(out->diagnostics, (out->ndiagnostics + 1) * sizeof *more);
  if (!more) return NULL;
  out->diagnostics = more;
  memset(&more[out->ndiagnostics], 0, sizeof *more);
  return &more[out->ndiagnostics++];
}

static bool number(const char **p, unsigned *value)
{
  char *end;
  if (!isdigit((unsigned char)**p)) return false;
  unsigned long v = strtoul(*p, &end, 10);
  *value = v > 99999999 ? 99999999 : (unsigned)v;
  *p = end;
  return true;
}

/* The severity at p: 'e', 'w' or 0; moves p behind it to the text. */
static char severity(const char **p)
{
  static const struct { const char *word; char kind; } words[] = {
    {"fatal error", 'e'}, {"catastrophic error", 'e'}, {"internal error", 'e'}, {"error", 'e'},
    {"warning", 'w'}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i].word);
    if (strncmp(*p, words[i].word, n) != 0) continue;
    const char *q = *p + n;
    if (*q == ' ' && q[1] == '#') q += strcspn(q, ":\n");   /* "error #20-D: ..." */
    if (*q != ':') return 0;
    *p = q + 1 + (q[1] == ' ');
    return words[i].kind;
  }
  return 0;
}

/* Reads "file(12): error: ..." or "file:12:5: error: ..."; the file must be exactly `file`. */
static char parse(const char *line, const char *file, unsigned *at, unsigned *column,
                  const char **text)
{
  size_t n = strlen(file);
  const char *p = line;
  if (strncmp(p, file, n) != 0) return 0;
  p += n;
  *column = 0;
  if (*p == '(') {
    p++;
    if (!number(&p, at) || strncmp(p, "): ", 3) != 0) return 0;
    p += 3;
  } else if (*p == ':') {
    p++;
    if (!number(&p, at) || *p++ != ':') return 0;
    if (number(&p, column) && *p++ != ':') return 0;
    while (*p == ' ') p++;
  } else {
    return 0;
  }
  *text = p;
  return severity(text);
}

void diagnose(const char *text, const char *file, const char *name, const char *source,
              struct compiled *out)
{
  unsigned lines = 1;
  for (const char *c = source; c && *c; c++) lines += *c == '\n';
  for (const char *line = text, *next; *line; line = next) {
    size_t length = strcspn(line, "\n");
    next = line + length + (line[length] == '\n');
    const char *said;
    unsigned at, column;
    char kind = parse(line, file, &at, &column, &said);
    if (!kind || said > line + length || at > lines) continue;
    struct diagnostic *d = add(out);
    if (!d) return;
    diagnose_printable(d->file, sizeof d->file, name, strlen(name));
    diagnose_printable(d->text, sizeof d->text, said, (size_t)(line + length - said));
    source_line(source, at, d->source, sizeof d->source);
    d->line = at;
    d->column = column;
    d->error = kind == 'e';
  }
}
