/* The names people type for exercises: an id, a path to its file, a chapter, or the beginning of
 * one of them.  What is meant must be clear; else the error says what could have been. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "suites/suite.h"

enum { NAME = 128, SUGGESTED = 3 };

/* "exercises/04-padding/transpose.cu", "./04-padding/transpose/" -> "04-padding/transpose" */
static void bare(const char *typed, char out[NAME])
{
  static const char *const tops[] = {"./", "exercises/", "solutions/", SUITE_STARTERS "/"};
  const char *inside = strstr(typed, "/exercises/");
  if (inside) typed = inside + 1;
  for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
    if (!strncmp(typed, tops[i], strlen(tops[i]))) typed += strlen(tops[i]);
  snprintf(out, NAME, "%s", typed);
  for (size_t n = strlen(out); n && out[n - 1] == '/';) out[--n] = 0;
  char *slash = strrchr(out, '/'), *dot = strrchr(slash ? slash : out, '.');
  if (dot && (!strcmp(dot, ".cu") || !strcmp(dot, ".c") || !strcmp(dot, ".txt"))) *dot = 0;
}

static const char *last(const struct exercise *x) { return strchr(x->id, '/') + 1; }

static bool begins(const char *whole, const char *part)
{
  return *part && !strncmp(whole, part, strlen(part));
}

/* Ways a name may fit, the best first; only the best that fits anything counts. */
enum fit { FIT_ID, FIT_CHAPTER, FIT_LAST, FIT_CHAPTER_BEGIN, FIT_ID_BEGIN, FIT_LAST_BEGIN, FITS };

static bool fits(enum fit how, const struct suite *s, const struct exercise *x, const char *name)
{
  switch (how) {
  case FIT_ID: return !strcmp(x->id, name);
  case FIT_CHAPTER: return !strcmp(s->chapter, name);
  case FIT_LAST: return !strcmp(last(x), name);
  case FIT_CHAPTER_BEGIN: return !strchr(name, '/') && begins(s->chapter, name);
  case FIT_ID_BEGIN: return begins(x->id, name);
  case FIT_LAST_BEGIN: return begins(last(x), name);
  default: return false;
  }
}

/* Letters to add, drop or change (Levenshtein). */
static unsigned distance(const char *a, const char *b)
{
  unsigned row[NAME + 1];
  size_t n = strnlen(b, NAME);
  for (size_t k = 0; k <= n; k++) row[k] = (unsigned)k;
  for (size_t i = 0; a[i]; i++) {
    unsigned corner = row[0];
    row[0] = (unsigned)i + 1;
    for (size_t k = 1; k <= n; k++) {
      unsigned best = corner + (a[i] != b[k - 1]);
      if (row[k] + 1 < best) best = row[k] + 1;
      if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
      corner = row[k];
      row[k] = best;
    }
  }
  return row[n];
}

static const struct exercise *nearest(const char *name)
{
  const struct exercise *found = NULL;
  unsigned least = 4;                     /* farther off is another name, not a slip */
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++) {
      unsigned d = distance(name, x->id), e = distance(name, last(x));
      if (!strchr(name, '/') && e < d) d = e;
      if (d < least && 2 * d < strlen(name)) least = d, found = x;
    }
  return found;
}

size_t suite_named(const char *typed, const struct exercise **out, size_t room, char *why,
                   size_t size)
{
  char name[NAME];
  bare(typed, name);
  for (enum fit how = FIT_ID; *name && how < FITS; how++) {
    size_t n = 0, chapters = 0;
    for (size_t i = 0; suites[i]; i++) {
      size_t before = n;
      for (const struct exercise *x = suites[i]->exercises; x->id; x++)
        if (fits(how, suites[i], x, name) && n < room) out[n++] = x;
      chapters += n > before;
    }
    bool chapter = how == FIT_CHAPTER || how == FIT_CHAPTER_BEGIN;
    if (n == 1 || (chapter && chapters == 1)) return n;
    if (n == 0) continue;
    snprintf(why, size, "'%.100s' could be", typed);
    for (size_t i = 0; i < n && i < SUGGESTED; i++) {
      size_t used = strlen(why);
      snprintf(why + used, size - used, "%s %s", i ? "," : "", out[i]->id);
    }
    if (n > SUGGESTED) {
      size_t used = strlen(why);
      snprintf(why + used, size - used, ", and %zu more", n - SUGGESTED);
    }
    return 0;
  }
  const struct exercise *x = nearest(name);
  if (x) snprintf(why, size, "there is no exercise '%.100s'; did you mean %s?", typed, x->id);
  else snprintf(why, size, "there is no exercise '%.100s'; `make list` names them", typed);
  return 0;
}

const struct exercise *suite_one(const char *typed, char *why, size_t size)
{
  const struct exercise *found[SUITE_MOST];
  size_t n = suite_named(typed, found, SUITE_MOST, why, size);
  if (n == 1) return found[0];
  if (n > 1)
    snprintf(why, size, "'%.100s' is a chapter of %zu exercises: name one of them, such as %s, or "
             "grade all of them: make grade EX=%.100s", typed, n, found[0]->id, typed);
  return NULL;
}
