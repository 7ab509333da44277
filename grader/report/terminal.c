/* The record for a person: a table with bars, or one exercise with its messages, and always the
 * next command to type. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "report/report.h"

static const char *status_mark(const struct exercise_record *x, const struct test_record *t)
{
  if (x->same_as_starter && t->status == TEST_FAILED) return "not begun";
  if (t->status == TEST_PASSED) return "passed";
  if (t->status == TEST_NOT_GRADED) return "NOT GRADED";
  return t->score > 0 ? "partly" : "failed";
}

bool report_finished(const struct exercise_record *x)
{
  for (size_t i = 0; i < x->ntests; i++)
    if (x->tests[i].status != TEST_PASSED) return false;
  return x->ntests > 0;
}

static void bar(FILE *to, double share)
{
  enum { WIDTH = 20 };
  int full = (int)(share * WIDTH + 1e-9);   /* rounded down: a full bar means all points */
  fputc('[', to);
  for (int i = 0; i < WIDTH; i++) fputc(i < full ? '#' : '.', to);
  fputc(']', to);
}

static double share_of(double score, double max) { return max > 0 ? score / max : 0; }

/* A line of a message, broken between words where it is too long.  Source text stays whole: it is
 * to be found again. */
static void line_out(FILE *to, const char *s, size_t n)
{
  enum { INDENT = 6, WIDTH = 100 };
  size_t deep = INDENT + strspn(s, " ");
  bool source = memmem(s, n, " | ", 3) && strspn(s, " 0123456789") > 2;
  fprintf(to, "%*s", INDENT, "");
  bool long_one = n > WIDTH && !source;   /* pictures are as wide as that */
  for (size_t room = WIDTH - INDENT; n > room && long_one; room = WIDTH - deep - 2) {
    size_t cut = room;
    while (cut > room / 2 && s[cut] != ' ') cut--;
    if (s[cut] != ' ') break;             /* one long word */
    fprintf(to, "%.*s\n%*s", (int)cut, s, (int)deep + 2, "");
    n -= cut + 1;
    s += cut + 1;
  }
  fprintf(to, "%.*s\n", (int)n, s);
}

static void indented(FILE *to, const char *text, size_t lines)
{
  for (const char *s = text; *s && lines--;) {
    size_t n = strcspn(s, "\n");
    line_out(to, s, n);
    s += n + (s[n] == '\n');
  }
}

void report_setting(FILE *to, const struct grade_record *r)
{
  fprintf(to, "seed %llu, device %s%s%s\n", (unsigned long long)r->seed, r->device,
          *r->toolchain ? ", compiler " : "", r->toolchain);
}

void report_table(FILE *to, const struct grade_record *r)
{
  size_t width = 8;
  for (size_t i = 0; i < r->nexercises; i++)
    if (strlen(r->exercises[i].id) > width) width = strlen(r->exercises[i].id);
  for (size_t i = 0; i < r->nexercises; i++) {
    const struct exercise_record *x = &r->exercises[i];
    size_t passed = 0;
    for (size_t k = 0; k < x->ntests; k++) passed += x->tests[k].status == TEST_PASSED;
    fprintf(to, "  %-*s  ", (int)width, x->id);
    bar(to, share_of(x->score, x->max_score));
    fprintf(to, " %6.1f / %-5.4g %zu of %zu tests%s\n", x->score, x->max_score, passed, x->ntests,
            x->not_graded ? "  NOT GRADED: our fault" : x->same_as_starter ? "  not begun yet" : "");
    if (*x->note) fprintf(to, "    note: %s\n", x->note);
  }
  fprintf(to, "  %-*s  ", (int)width, "total");
  bar(to, share_of(r->score, r->max_score));
  fprintf(to, " %6.1f / %.4g\n", r->score, r->max_score);
}

/* What the student's own code printed, so marked in every line that it cannot pass for ours. */
static void tell_printed(FILE *to, const struct exercise_record *x, size_t test)
{
  enum { LINES = 8, COLUMNS = 80 };
  const char *s = x->tests[test].printed;
  if (!s) return;
  for (size_t k = 0; k < test; k++)
    if (x->tests[k].printed && !strcmp(x->tests[k].printed, s)) {
      fprintf(to, "      your code printed the same as in '%s'\n", x->tests[k].name);
      return;
    }
  fprintf(to, "      your code printed:\n");
  for (size_t line = 0; *s; line++) {
    size_t n = strcspn(s, "\n");
    bool last = strncmp(s, "... a flood", 11) == 0 && !s[n];
    if (line < LINES || last)
      fprintf(to, "        printed> %.*s%s\n", n > COLUMNS ? COLUMNS : (int)n, s,
              n > COLUMNS ? "..." : "");
    else if (line == LINES)
      fprintf(to, "        printed> ...\n");
    s += n + (s[n] == '\n');
  }
}

void report_exercise(FILE *to, const struct exercise_record *x, bool whole)
{
  fprintf(to, "%s: %.4g of %.4g points\n", x->id, x->score, x->max_score);
  if (*x->note) fprintf(to, "  note: %s\n", x->note);
  for (size_t i = 0; i < x->ntests; i++) {
    const struct test_record *t = &x->tests[i];
    fprintf(to, "\n  %-10s %s: %.4g of %.4g\n", status_mark(x, t), t->name, t->score, t->max_score);
    indented(to, t->message, t->status == TEST_PASSED && !whole ? 1 : SIZE_MAX);
    tell_printed(to, x, i);
  }
}
