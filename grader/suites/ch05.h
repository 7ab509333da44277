/* Chapter 05: tests that ask for answers, in ch05_answers.c; ch05.c has the kernels. */
#ifndef CH05_H
#define CH05_H

#include "suites/suite.h"

extern const struct test ch05_phases[], ch05_predictions[];
extern const char *const ch05_names[];

#endif
