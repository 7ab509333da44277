/* What the two files of chapter 12's suite share. */
#ifndef CH12_H
#define CH12_H

#include "suites/suite.h"

extern const struct test ch12_matmul_tests[];
extern const char *const ch12_matmul_hints[];

#endif
