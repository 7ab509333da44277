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
  if (o.json && !report_json_ready(o.json, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    return CLI_USAGE;
  }
  o.grade.untouched = true;               /* the tests' messages are what a student starts from */
  status = grade_run(&o.grade, o.ids[0]->id, &record);
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
    if (!passed && status != CLI_OURS) {
      char again[1024];
      cli_again(&o, x->id, record.seed, again, sizeof again);
      printf("next: make hint EX=%s\n      read %s\n      again with these inputs: %s\n", x->id,
             about->read ? about->read : "chapters/", again);
    }
  }
  if (o.json && !report_json(&record, o.json, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    record_free(&record);
    return CLI_USAGE;
  }
  record_free(&record);
  return status == CLI_OURS ? CLI_OURS : passed ? CLI_OK : CLI_FAILED;
}
