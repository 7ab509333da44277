/* banks check: one exercise, each test with its points and what its failure says. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "report/report.h"

int command_check(int argc, char **argv)
{
  struct cli_options o;
  struct grade_record record;
  char why[WHY_SIZE];
  int status = cli_parse(argc, argv, OPTION_GRADING,
                         "check EXERCISE [--from DIR] [--json FILE] [--seed N] "
                         "[--toolchain nvcc|clang|auto] [--device sim|cuda|auto] [--root DIR]",
                         1, 1, &o);
  if (status >= 0) return status;
  o.grade.untouched = true;               /* the tests' messages are what a student starts from */
  status = grade_run(&o.grade, o.ids[0], &record);
  if (status == CLI_USAGE) {
    fprintf(stderr, "banks: %s\n", o.why);
    return CLI_USAGE;
  }
  const struct exercise_record *x = &record.exercises[0];
  const struct exercise *about = suite_find(x->id);
  bool passed = x->ntests > 0;
  for (size_t i = 0; i < x->ntests; i++) passed &= x->tests[i].status == TEST_PASSED;
  if (!o.json || strcmp(o.json, "-")) {
    report_exercise(stdout, x, false);
    printf("\n");
    report_setting(stdout, &record);
    if (!passed && status != CLI_OURS)
      printf("next: make hint EX=%s    read: %s    again with these inputs: "
             "build/banks check %s --seed %llu\n", x->id, about->read ? about->read : "chapters/",
             x->id, (unsigned long long)record.seed);
  }
  if (o.json && !report_json(&record, o.json, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    status = CLI_OURS;
  }
  record_free(&record);
  return status == CLI_OURS ? CLI_OURS : passed ? CLI_OK : CLI_FAILED;
}
