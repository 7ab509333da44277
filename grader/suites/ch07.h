/* Chapter 07: which pieces of code are races, in ch07_races.c; ch07.c has the kernels. */
#ifndef CH07_H
#define CH07_H

#include "suites/suite.h"

extern const struct test ch07_races[];
extern const char *const ch07_names[];

#endif
