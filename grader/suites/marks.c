/* Did a student change what lies outside the marks `>>> yours` and `<<<`?  Nothing is taken off for
 * it, but it is told: the tests call what stands there. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/item.h"

struct lines {
  struct { const char *text; size_t length, number; } *rows;
  size_t n;
};

/* The lines outside the marks, the marks' own lines among them. */
static struct lines outside(const char *text)
{
  struct lines l = {calloc(strlen(text) + 1, sizeof *l.rows), 0};
  bool inside = false;
  for (size_t number = 1; l.rows && *text; number++) {
    size_t all = strcspn(text, "\n"), n = all;
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\r' || text[n - 1] == '\t')) n--;
    bool opens = memmem(text, n, ">>> yours", 9) != NULL;
    bool closes = !opens && memmem(text, n, "<<<", 3) && strspn(text, " \t/#*<") >= n;
    if (closes) inside = false;
    if (!inside) {
      l.rows[l.n].text = text;
      l.rows[l.n].length = n;
      l.rows[l.n++].number = number;
    }
    if (opens) inside = true;
    text += all + (text[all] == '\n');
  }
  while (l.n && l.rows[l.n - 1].length == 0) l.n--;   /* empty lines at the end */
  return l;
}

static bool same(const struct lines *a, size_t i, const struct lines *b, size_t k)
{
  return a->rows[i].length == b->rows[k].length &&
         !memcmp(a->rows[i].text, b->rows[k].text, a->rows[i].length);
}

bool marks_changed(const char *starter, const char *text, char *out, size_t size)
{
  struct lines a = outside(starter), b = outside(text);
  size_t first = 0, tail = 0, least = a.n < b.n ? a.n : b.n;
  while (first < least && same(&a, first, &b, first)) first++;
  while (tail < least - first && same(&a, a.n - 1 - tail, &b, b.n - 1 - tail)) tail++;
  bool changed = a.rows && b.rows && (first < a.n || first < b.n);
  if (changed && b.n == first + tail)
    snprintf(out, size, "changed outside the marks: lines of the starter are gone before line %zu",
             first < b.n ? b.rows[first].number : b.n ? b.rows[b.n - 1].number + 1 : 1);
  else if (changed && b.n - tail == first + 1)
    snprintf(out, size, "changed outside the marks: line %zu", b.rows[first].number);
  else if (changed)
    snprintf(out, size, "changed outside the marks: lines %zu to %zu", b.rows[first].number,
             b.rows[b.n - 1 - tail].number);
  free(a.rows), free(b.rows);
  return changed;
}
