/* Judging a kernel by what it spends in all, and float results by a bound of their own each.
 *
 * A reduction can be free of conflicts and still dear, because it asks often; a histogram can be
 * cheap for one input and dear for the next.  So these chapters set a budget of wavefronts for a
 * launch, which no number of cheap requests can dilute. */
#ifndef BUDGET_H
#define BUDGET_H

#include "suites/suite.h"

struct budget {
  unsigned which;        /* what counts: COUNT_LOADS | COUNT_STORES | COUNT_ATOMICS */
  uint64_t least;        /* requests there must be at least; 0: shared memory is not asked for */
  double full, none;     /* wavefronts: full share at `full` or fewer, none at `none` or more */
  const char *work;      /* for the message: "3 blocks of 256 numbers" */
};

/* Counts the shared accesses of launch `launch`.  Sets the verdict; the share. */
double judge_budget(struct verdict *v, const struct evidence *e, size_t launch, struct budget b);

/* The 32-byte sectors that launch `launch` reads from global memory, against a budget, likewise. */
double judge_reads(struct verdict *v, const struct evidence *e, size_t launch, double full,
                   double none, const char *work);

/* Compares float results: value i must lie within bound[i] of want[i], and be NaN where want is.
 * Otherwise as judge_floats. */
bool judge_near(struct verdict *v, const struct evidence *e, int buffer, const double *want,
                const double *bound, size_t count, size_t columns);

/* Floats whose sums are exact in any order: multiples of 1/512 from -8 to 8, while fewer than 4,096
 * of them are added. */
void exact_floats(struct rng *r, float *out, size_t count);

#endif
