/* Options that grade, check, hint and demo share; each command says which of them it takes. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "suites/suite.h"

enum {
  OPTION_FROM = 1, OPTION_JSON = 2, OPTION_SEED = 4, OPTION_JOBS = 8, OPTION_TOOLCHAIN = 16,
  OPTION_DEVICE = 32, OPTION_ROOT = 64, OPTION_ALL = 128,
  OPTION_GRADING = OPTION_FROM | OPTION_JSON | OPTION_SEED | OPTION_JOBS | OPTION_TOOLCHAIN |
                   OPTION_DEVICE | OPTION_ROOT
};

struct cli_options {
  struct grade_options grade;
  char why[WHY_SIZE];
  const char *json;            /* NULL: none */
  bool all;
  const struct exercise *ids[SUITE_MOST];   /* what is left: the exercises named, each once */
  int nids;
};

/* Parses; -1 to go on, else the exit status to return (help was printed, or an error told).
 * `usage` is the text after "usage: banks "; most and least: how many exercises are taken;
 * a name may stand for several (suite_named), unless just one is. */
int cli_parse(int argc, char **argv, unsigned taken, const char *usage, int least, int most,
              struct cli_options *o);

/* A command that does this again for an exercise: "make check EX=...", or "build/banks check ..."
 * where an option make has no name for must come along.  seed 0: without one. */
void cli_again(const struct cli_options *o, const char *id, uint64_t seed, char *out,
               size_t size);

#endif
