/* A test of several launches of the same kind, whose sizes are drawn from the seed.
 *
 * A count at one size that never changes can be had by asking for that size in the kernel.  So a
 * count is taken at sizes nobody can know, and the worst of them decides.
 */
#ifndef EACH_H
#define EACH_H

#include "suites/suite.h"

struct each {
  int launches;
  int buffers;                 /* of each launch: those of launch i follow those of launch i - 1 */
  /* Plans launch i, or judges it: `e` holds this launch and its buffers as if they were all there
   * are.  Both get the same numbers from r, which no other launch draws from. */
  void (*plan)(struct plan *p, struct rng *r, int i);
  void (*judge)(struct verdict *v, const struct evidence *e, struct rng *r, int i);
};

void each_plan(const struct each *each, struct plan *p, struct rng *r);

/* Judges all launches and keeps the verdict of the worst one; of several equally good ones that
 * of the first.  Says how many sizes there were. */
void each_judge(const struct each *each, struct verdict *v, const struct evidence *e,
                struct rng *r);

/* plan_NAME and judge_NAME of a test. */
#define EACH_TEST(name, launches, buffers, plan_one, judge_one)                                  \
  static const struct each each_##name = {launches, buffers, plan_one, judge_one};               \
  static void plan_##name(struct plan *p, struct rng *r) { each_plan(&each_##name, p, r); }      \
  static void judge_##name(struct verdict *v, const struct evidence *e, struct rng *r)           \
  {                                                                                              \
    each_judge(&each_##name, v, e, r);                                                           \
  }

/* A multiple of `step` from `lo` steps to `hi` steps. */
int each_multiple(struct rng *r, int step, int lo, int hi);

/* The same, and 1 to step - 1 more: no multiple of `step`. */
int each_ragged(struct rng *r, int step, int lo, int hi);

#endif
