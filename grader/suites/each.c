/* Several launches, judged one by one: see each.h. */
#include <stdlib.h>
#include <string.h>

#include "suites/each.h"

void each_plan(const struct each *each, struct plan *p, struct rng *r)
{
  for (int i = 0; i < each->launches; i++) {
    struct rng own;
    rng_seed(&own, rng_next(r), "launch");
    each->plan(p, &own, i);
  }
}

/* What came back of launch i; false, and our fault, when it is not there. */
static bool part_of(const struct evidence *e, const struct each *each, size_t i,
                    struct evidence *one)
{
  size_t buffers = (size_t)each->buffers, first = i * buffers;
  if (i >= e->nlaunches || first + buffers > e->nbuffers) return false;
  *one = *e;
  one->launches = e->launches + i;
  one->nlaunches = 1;
  one->buffers = e->buffers + first;
  one->before = e->before + first;
  one->buffer_bytes = e->buffer_bytes + first;
  one->buffer_names = e->buffer_names + first;
  one->nbuffers = buffers;
  return true;
}

void each_judge(const struct each *each, struct verdict *v, const struct evidence *e,
                struct rng *r)
{
  if (!judge_clean(v, e)) return;         /* on hardware a fault spoils the launches after it */
  struct verdict *worst = calloc(1, sizeof *worst), *now = calloc(1, sizeof *now);
  bool all = worst && now;
  for (int i = 0; all && i < each->launches; i++) {
    struct rng own;
    struct evidence one;
    rng_seed(&own, rng_next(r), "launch");
    memset(now, 0, sizeof *now);
    all = part_of(e, each, (size_t)i, &one);
    if (all) each->judge(now, &one, &own, i);
    all = all && now->set && !now->not_graded;
    if (i == 0 || now->share < worst->share) *worst = *now;
  }
  if (all) {
    *v = *worst;
    if (v->share >= 1)
      verdict_add(v, "  so it is at each of %d sizes", each->launches);
  }
  free(worst);
  free(now);
}

int each_multiple(struct rng *r, int step, int lo, int hi)
{
  return step * (int)rng_between(r, lo, hi);
}

int each_ragged(struct rng *r, int step, int lo, int hi)
{
  return each_multiple(r, step, lo, hi) + 1 + (int)rng_below(r, (uint32_t)step - 1);
}
