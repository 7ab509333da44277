/* banks grade: every exercise (or some), then the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "report/report.h"

/* Adds the one exercise of `more` to `sum`; what they have in common stays. */
static bool append(struct grade_record *sum, struct grade_record *more)
{
  struct exercise_record *all =
    realloc(sum->exercises, (sum->nexercises + more->nexercises) * sizeof *all);
  if (!all) return false;
  memcpy(all + sum->nexercises, more->exercises, more->nexercises * sizeof *all);
  sum->exercises = all;
  sum->nexercises += more->nexercises;
  sum->score += more->score;
  sum->max_score += more->max_score;
  if (*more->toolchain) memcpy(sum->toolchain, more->toolchain, sizeof sum->toolchain);
  free(more->exercises);
  return true;
}

static void tell_not_graded(const struct grade_record *r)
{
  fflush(stdout);                         /* the table first */
  for (size_t i = 0; i < r->nexercises; i++)
    for (size_t k = 0; k < r->exercises[i].ntests; k++) {
      const struct test_record *t = &r->exercises[i].tests[k];
      if (t->status != TEST_NOT_GRADED) continue;
      fprintf(stderr, "banks: %s, %s: %s\n", r->exercises[i].id, t->name, t->message);
      break;                              /* one reason an exercise */
    }
}

int command_grade(int argc, char **argv)
{
  struct cli_options o;
  struct grade_record record;
  char why[WHY_SIZE];
  int status = cli_parse(argc, argv, OPTION_GRADING,
                         "grade [EXERCISE...] [--from DIR] [--json FILE] [--seed N] [--jobs N] "
                         "[--toolchain nvcc|clang|auto] [--device sim|cuda|auto] [--root DIR]",
                         0, 1000, &o);
  if (status >= 0) return status;
  status = grade_run(&o.grade, o.nids ? o.ids[0] : NULL, &record);
  for (int i = 1; i < o.nids && status != CLI_USAGE; i++) {
    struct grade_record more;
    o.grade.seed = record.seed;
    int s = grade_run(&o.grade, o.ids[i], &more);
    if (s > status) status = s;
    if (s != CLI_USAGE && !append(&record, &more)) status = CLI_OURS;
  }
  if (status == CLI_USAGE) {
    fprintf(stderr, "banks: %s\n", o.why);
    return CLI_USAGE;
  }
  if (record.nexercises == 0) {
    fprintf(stderr, "banks: this build has no exercises\n");
    record_free(&record);
    return CLI_OURS;
  }
  if (!o.json || strcmp(o.json, "-")) {
    report_table(stdout, &record);
    report_setting(stdout, &record);
  }
  tell_not_graded(&record);
  if (o.json && !report_json(&record, o.json, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    status = CLI_OURS;
  }
  record_free(&record);
  return status;
}
