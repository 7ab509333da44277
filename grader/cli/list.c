/* banks list: every exercise with its points, its file and its title; the points of a chapter. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/options.h"

static bool named(const struct cli_options *o, const struct exercise *x)
{
  for (int i = 0; i < o->nids; i++)
    if (o->ids[i] == x) return true;
  return o->nids == 0;
}

int command_list(int argc, char **argv)
{
  struct cli_options o;
  int status = cli_parse(argc, argv, 0, "list [EXERCISE or CHAPTER...]", 0, SUITE_MOST, &o);
  if (status >= 0) return status;
  double all = 0;
  unsigned exercises = 0;
  for (size_t i = 0; suites[i]; i++) {
    double sum = 0;
    unsigned count = 0;
    for (const struct exercise *x = suites[i]->exercises; x->id; x++) {
      if (!named(&o, x)) continue;
      double points = 0;
      char chapter[64];
      suite_chapter(x, chapter, sizeof chapter);
      for (const struct test *t = x->tests; t->name; t++) points += t->points;
      printf("%-26s %4.4g points  %s\n%-26s              exercises/%s/%s\n", x->id, points,
             x->title, "", chapter, x->file);
      sum += points;
      count++;
    }
    if (count == 0) continue;
    printf("chapter %s: %u exercises, points: %g\n\n", suites[i]->chapter, count, sum);
    all += sum;
    exercises += count;
  }
  if (o.nids == 0)
    printf("all chapters: %u exercises, points: %g\n", exercises, all);
  return CLI_OK;
}
