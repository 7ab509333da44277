/* banks demo: the transpose of chapter 04 as a student gets it and as it is solved, both graded,
 * with their pictures: 32 wavefronts a request, then 1. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "report/report.h"

#define SHOWN "04-padding/transpose"

static int show(struct cli_options *o, const char *from, const char *title)
{
  struct grade_record record;
  o->grade.from = from;
  int status = grade_run(&o->grade, SHOWN, &record);
  if (status == CLI_USAGE) {
    fprintf(stderr, "banks: %s\n", o->why);
    return CLI_USAGE;
  }
  printf("======== %s ========\n", title);
  report_exercise(stdout, &record.exercises[0], true);
  printf("\n");
  report_setting(stdout, &record);
  printf("\n");
  o->grade.seed = record.seed;            /* the same inputs for both */
  record_free(&record);
  return status;
}

int command_demo(int argc, char **argv)
{
  struct cli_options o;
  int status = cli_parse(argc, argv, OPTION_SEED | OPTION_TOOLCHAIN | OPTION_DEVICE | OPTION_ROOT,
                         "demo [--seed N] [--toolchain nvcc|clang|auto]", 0, 0, &o);
  if (status >= 0) return status;
  status = show(&o, "starters", "the starter: exercises/" SHOWN " as it was given out");
  if (status == CLI_OK) status = show(&o, "solutions", "the solution: solutions/" SHOWN);
  if (status == CLI_OK)
    printf("Now you: make check EX=" SHOWN ", and read chapters/04-padding.md\n");
  return status;
}
