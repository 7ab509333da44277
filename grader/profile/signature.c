/* See signature.h.
 *
 * This reads what a person would: `__global__ ... name ( ... )`, comments left out, parameters parted
 * at commas outside of any bracket.  It compiles nothing, so it is only ever used for words in
 * messages. */
#include "profile/signature.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

char *signature_stripped(const char *s)
{
  char *out = malloc(strlen(s) + 2), *to = out;
  if (!out) return NULL;
  while (*s) {
    if (s[0] == '/' && s[1] == '/') {
      s += strcspn(s, "\n");
    } else if (s[0] == '/' && s[1] == '*') {
      const char *end = strstr(s + 2, "*/");
      s = end ? end + 2 : s + strlen(s);
      if (to > out && to[-1] != ' ') *to++ = ' ';
    } else if (*s == '"') {
      for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1]) s++;
      if (*s) s++;
    } else if (isspace((unsigned char)*s)) {
      if (to > out && to[-1] != ' ') *to++ = ' ';
      s++;
    } else {
      *to++ = *s++;
    }
  }
  *to = 0;
  return out;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Behind the bracket that closes the one at `p`; NULL when none does. */
static const char *behind(const char *p)
{
  int depth = 0;
  for (; *p; p++) {
    if (strchr("([{", *p)) depth++;
    if (strchr(")]}", *p) && --depth == 0) return p + 1;
  }
  return NULL;
}

static void copy(char *to, size_t size, const char *from, size_t n)
{
  if (n >= size) n = size - 1;
  memcpy(to, from, n);
  to[n] = 0;
}

/* "const float *__restrict__ in = 0" -> text without the default, name "in". */
static void parameter(struct signature *s, const char *from, const char *to)
{
  const char *equal = memchr(from, '=', (size_t)(to - from));
  if (equal) to = equal;
  while (from < to && *from == ' ') from++;
  while (to > from && to[-1] == ' ') to--;
  copy(s->params[s->n].text, sizeof s->params[s->n].text, from, (size_t)(to - from));
  const char *end = to;
  while (end > from && !is_word(end[-1])) end--;   /* "int a[4]" has a bracket behind its name */
  const char *bracket = memchr(from, '[', (size_t)(to - from));
  if (bracket) for (end = bracket; end > from && !is_word(end[-1]);) end--;
  const char *begin = end;
  while (begin > from && is_word(begin[-1])) begin--;
  copy(s->params[s->n].name, sizeof s->params[s->n].name, begin, (size_t)(end - begin));
  s->n++;
}

/* The list in brackets at `p`. */
static bool parameters(const char *p, struct signature *s)
{
  const char *end = behind(p), *from = p + 1;
  int depth = 0;
  s->n = 0;
  if (!end) return false;
  for (const char *q = p + 1; q < end; q++) {
    if (strchr("([{<", *q)) depth++;
    if (strchr(")]}>", *q) && q + 1 < end) depth--;
    if ((*q != ',' || depth) && q + 1 < end) continue;
    const char *a = from;
    while (a < q && *a == ' ') a++;
    if (a < q && s->n == SIGNATURE_MOST) return false;
    if (a < q && !(q - a == 4 && !strncmp(a, "void", 4))) parameter(s, from, q);
    from = q + 1;
  }
  return true;
}

/* "const struct scale s": the braces of struct scale, where it is declared once. */
static void fields_of(const char *source, const char *parameter, char *out, size_t size)
{
  char type[80];
  const char *end = parameter + strlen(parameter), *found = NULL;
  *out = 0;
  if (strpbrk(parameter, "*&<[")) return;
  while (end > parameter && is_word(end[-1])) end--;
  while (end > parameter && end[-1] == ' ') end--;
  const char *begin = end;
  while (begin > parameter && is_word(begin[-1])) begin--;
  copy(type, sizeof type, begin, (size_t)(end - begin));
  size_t n = strlen(type);
  for (const char *p = source; n && (p = strstr(p, type)); p += n) {
    const char *open = p + n + (p[n] == ' '), *head = p;
    if (is_word(p[n]) || (p > source && is_word(p[-1])) || *open != '{') continue;
    while (head > source && !strchr(";{}", head[-1])) head--;
    const char *word = strstr(head, "struct");
    if (!word || word > p || found) return;
    found = open;
  }
  const char *close = found ? behind(found) : NULL;
  if (close && (size_t)(close - found) < size) copy(out, size, found + 1, (size_t)(close - found - 2));
}

bool signature_find(const char *source, const char *kernel, size_t n, struct signature *out)
{
  char *text = source ? signature_stripped(source) : NULL;
  size_t length = strlen(kernel);
  bool found = false, differ = false;
  struct signature *one = malloc(sizeof *one);
  for (const char *g = text; one && g && (g = strstr(g, "__global__")); g++) {
    const char *p = g + 10, *end = p + strcspn(p, ";{}");
    for (; p < end; p++) {
      if (*p == '(') {                     /* __launch_bounds__(256) */
        const char *after = behind(p);
        p = after && after < end ? after - 1 : end;
        continue;
      }
      if (is_word(p[-1]) || strncmp(p, kernel, length) || is_word(p[length])) continue;
      const char *open = p + length + (p[length] == ' ');
      if (*open != '(' || !parameters(open, one) || one->n != n) continue;
      for (size_t i = 0; found && i < n; i++) differ |= strcmp(one->params[i].name, out->params[i].name) != 0;
      *out = *one;
      for (size_t i = 0; i < n; i++)
        fields_of(text, out->params[i].text, out->params[i].fields, sizeof out->params[i].fields);
      found = true;
      break;
    }
  }
  free(one);
  free(text);
  return found && !differ;
}
