/* What the two files of chapter 11's suite share. */
#ifndef CH11_H
#define CH11_H

#include "suites/suite.h"

/* Marks the global accesses of launch 0 of one kind: full share up to 1.3 times `best` sectors,
 * which leaves room for reading indices, none from 3 times on.  Returns the share; below 1 the
 * verdict has the message. */
double ch11_sectors(struct verdict *v, const struct evidence *e, enum model_op op, uint64_t best);

extern const struct test ch11_place_tests[], ch11_combine_tests[];
extern const char *const ch11_place_hints[], *const ch11_combine_hints[];
void ch11_bench_combine(struct plan *p, struct rng *r, int size);

#endif
