/* Chapter 06: tests that ask for answers, in ch06_answers.c; ch06.c has the kernels. */
#ifndef CH06_H
#define CH06_H

#include "model/model.h"
#include "suites/suite.h"

extern const struct test ch06_swizzle[], ch06_smallest[], ch06_predictions[];
extern const char ch06_swizzle_header[], ch06_swizzle_driver[];
extern const char ch06_smallest_header[], ch06_smallest_driver[];
extern const char *const ch06_names[];

#endif
