/* banks grade: every exercise (or some), then the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "report/report.h"

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

static void tell_next(const struct cli_options *o, const struct grade_record *r)
{
  enum { NEXT = 3 };
  size_t told = 0;
  char again[1024];
  for (size_t i = 0; i < r->nexercises && told < NEXT; i++) {
    if (report_finished(&r->exercises[i])) continue;
    cli_again(o, r->exercises[i].id, 0, again, sizeof again);
    printf("%s %s\n", told++ ? "     " : "\nnext:", again);
  }
  if (told == 0) printf("\nAll done.\n");
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
  o.grade.only = o.ids;
  o.grade.nonly = (size_t)o.nids;
  if (o.json && !report_json_ready(o.json, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    return CLI_USAGE;
  }
  status = grade_run(&o.grade, NULL, &record);
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
    tell_next(&o, &record);
    report_setting(stdout, &record);
  }
  tell_not_graded(&record);
  if (o.json && !report_json(&record, o.json, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    status = CLI_USAGE;
  }
  record_free(&record);
  return status;
}
