/* What a launch spends in all; see budget.h. */
#include "suites/budget.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static unsigned class_of(enum model_op op)
{
  switch (op) {
  case MODEL_GLOBAL_LOAD: case MODEL_GLOBAL_STORE: case MODEL_OPS:
    return 0;
  case MODEL_LOAD: case MODEL_LDMATRIX_X1: case MODEL_LDMATRIX_X2: case MODEL_LDMATRIX_X4:
    return COUNT_LOADS;
  case MODEL_ATOM_NATIVE: case MODEL_ATOM_ONE: case MODEL_ATOM_CAS: case MODEL_ATOM_LOOP:
  case MODEL_ATOM_LOOP64:
    return COUNT_ATOMICS;
  default:
    return COUNT_STORES;
  }
}

static double linear(double value, double full, double none)
{
  double share = value <= full ? 1 : (none - value) / (none - full);
  return share > 0 ? share : 0;
}

static const struct sim_result *launch_of(struct verdict *v, const struct evidence *e, size_t i)
{
  if (i < e->nlaunches) return &e->launches[i];
  verdict_fail(v, "launch %zu did not come back", i);
  v->not_graded = true;
  return NULL;
}

double judge_budget(struct verdict *v, const struct evidence *e, size_t launch, struct budget b)
{
  const struct sim_result *l = launch_of(v, e, launch);
  if (!l) return 0;
  uint64_t requests = 0, wavefronts = 0, ideal = 0;
  bool exact = true;
  struct evidence one = *e;      /* this launch alone, for the line that is told */
  one.launches = l;
  one.nlaunches = 1;
  for (size_t i = 0; i < l->nsites; i++) {
    const struct sim_site *s = &l->sites[i];
    if (!(class_of(s->op) & b.which)) continue;
    requests += s->requests;
    wavefronts += s->wavefronts;
    ideal += s->ideal;
    exact &= s->exact;
  }
  if (requests < b.least) {
    verdict_fail(v, "%s: %" PRIu64 " requests to shared memory for %s; this exercise is done "
                 "through shared memory and needs at least %" PRIu64, e->file, requests, b.work,
                 b.least);
    return 0;
  }
  double share = linear((double)wavefronts, b.full, b.none);
  if (share >= 1) {
    verdict_pass(v, "%" PRIu64 " wavefronts in %" PRIu64 " shared requests for %s", wavefronts,
                 requests, b.work);
    return 1;
  }
  verdict_partial(v, share, "%s: %s%" PRIu64 " wavefronts in shared memory for %s; %.0f or fewer "
                  "give full points, %.0f or more give none", e->file, exact ? "" : "at least ",
                  wavefronts, b.work, b.full, b.none);
  if (wavefronts == ideal)
    verdict_add(v, "  none of its %" PRIu64 " requests has a conflict: there are too many of them",
                requests);
  judge_describe_worst(v, &one, b.which);
  return share;
}

double judge_reads(struct verdict *v, const struct evidence *e, size_t launch, double full,
                   double none, const char *work)
{
  const struct sim_result *l = launch_of(v, e, launch);
  if (!l) return 0;
  uint64_t sectors = l->totals.global_load.sectors;
  double share = linear((double)sectors, full, none);
  if (share >= 1) {
    verdict_pass(v, "%" PRIu64 " sectors of global memory read for %s", sectors, work);
    return 1;
  }
  verdict_partial(v, share, "%s: %" PRIu64 " sectors of 32 bytes are read from global memory for "
                  "%s; %.0f or fewer give full points, %.0f or more give none", e->file, sectors,
                  work, full, none);
  return share;
}

/* NaN where NaN is wanted, the same infinity, or a difference shown to be small enough. */
static bool near(double got, double want, double bound)
{
  if (isnan(want)) return isnan(got);
  if (isinf(want)) return got == want;
  return fabs(got - want) <= bound;
}

bool judge_near(struct verdict *v, const struct evidence *e, int buffer, const double *want,
                const double *bound, size_t count, size_t columns)
{
  enum { SHOWN = 4 };
  if ((size_t)buffer >= e->nbuffers || !e->buffers[buffer] ||
      e->buffer_bytes[buffer] < count * sizeof(float)) {
    verdict_fail(v, "the test compares more than came back");
    v->not_graded = true;
    return false;
  }
  const float *got = e->buffers[buffer];
  size_t wrong = 0, nan = 0;
  for (size_t i = 0; i < count; i++) {
    if (near(got[i], want[i], bound[i])) continue;
    wrong++;
    nan += isnan(got[i]) && !isnan(want[i]);
  }
  if (!wrong) return true;
  const char *name = e->buffer_names[buffer];
  verdict_fail(v, "%s: %zu of %zu values of %s are wrong%s", e->file, wrong, count, name,
               nan == wrong ? ": they are not numbers (NaN)" : "");
  if (nan && nan != wrong) verdict_add(v, "  %zu of them are not numbers (NaN)", nan);
  for (size_t i = 0, shown = 0; i < count && shown < SHOWN; i++) {
    if (near(got[i], want[i], bound[i])) continue;
    shown++;
    verdict_add(v, "  %s, row %zu, column %zu: expected %.9g, got %.9g (up to %.2g off is "
                "accepted)", name, i / columns, i % columns, want[i], got[i], isnan(bound[i]) ? 0 : bound[i]);
  }
  return false;
}

void exact_floats(struct rng *r, float *out, size_t count)
{
  for (size_t i = 0; i < count; i++) out[i] = (float)rng_between(r, -4096, 4096) / 512.0f;
}
