/* Time on the GPU: CUDA events, a flushed second-level cache, medians of a fixed number of samples.
 *
 * Each sample is: overwrite a buffer twice the size of the L2, event, launch, event; then again
 * with a plain copy in place of the launch.  Kernel and copy take turns, so a clock that drifts
 * moves both. */
#include "device/cuda.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_SAMPLES = 101 };

static bool check(struct device *d, cu_result r, char *why, size_t size)
{
  if (r == CU_OK) return true;
  cuda_api_error(d->cu, r, why, size);
  return false;
}

static bool room(struct device *d, cu_address *at, size_t *have, size_t want, char *why,
                 size_t size)
{
  if (*have >= want) return true;
  if (*at) d->cu->free(*at);
  *at = 0;
  *have = 0;
  if (!check(d, d->cu->alloc(at, want), why, size)) return false;
  *have = want;
  return check(d, d->cu->set(*at, 1, want, NULL), why, size);
}

static bool scratch(struct device *d, size_t half, char *why, size_t size)
{
  size_t flush = d->l2_bytes ? 2 * d->l2_bytes : (size_t)128 << 20, from = d->copy_bytes;
  return room(d, &d->flush, &d->flush_bytes, flush, why, size) &&
         room(d, &d->copy_from, &from, half, why, size) &&
         room(d, &d->copy_to, &d->copy_bytes, half, why, size);
}

static int ascending(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* One sample: of the launch, or of the copy when f is NULL. */
static bool sample(struct device *d, cu_function f, const struct sim_launch *l, size_t half,
                   cu_event from, cu_event to, float *milliseconds, char *why, size_t size)
{
  const struct cuda_api *cu = d->cu;
  return check(d, cu->set(d->flush, 0x5a, d->flush_bytes, NULL), why, size) &&
         check(d, cu->event_record(from, NULL), why, size) &&
         check(d, f ? cuda_start(d, f, l) : cu->copy(d->copy_to, d->copy_from, half, NULL), why,
               size) &&
         check(d, cu->event_record(to, NULL), why, size) &&
         check(d, cu->synchronize(), why, size) &&
         check(d, cu->event_elapsed(milliseconds, from, to), why, size);
}

static bool samples_of(struct device *d, cu_function f, const struct sim_launch *l, size_t half,
                       unsigned n, float *times, float *copies, char *why, size_t size)
{
  cu_event from = NULL, to = NULL;
  float ignored;
  bool good = check(d, d->cu->event_create(&from, 0), why, size) &&
              check(d, d->cu->event_create(&to, 0), why, size);
  for (unsigned i = 0; good && f && i < CUDA_WARM_UPS; i++)
    good = sample(d, f, l, half, from, to, &ignored, why, size);
  for (unsigned i = 0; good && i < n; i++)
    good = (!f || sample(d, f, l, half, from, to, &times[i], why, size)) &&
           (!half || sample(d, NULL, NULL, half, from, to, &copies[i], why, size));
  if (from) d->cu->event_destroy(from);
  if (to) d->cu->event_destroy(to);
  return good;
}

bool cuda_time(struct device *d, const struct sim_launch *l, uint64_t copy_bytes, unsigned samples,
               struct cuda_time *t, char *why, size_t size)
{
  float times[MOST_SAMPLES], copies[MOST_SAMPLES];
  size_t half = (size_t)(copy_bytes / 2);
  int value = 0;
  *t = (struct cuda_time){0};
  if (samples < 1) samples = 1;
  if (samples > MOST_SAMPLES) samples = MOST_SAMPLES;
  cu_function f = cuda_function(d, l, why, size);
  if (!f || !scratch(d, half, why, size) ||
      !samples_of(d, f, l, half, samples, times, copies, why, size)) {
    if (f) snprintf(d->broken, sizeof d->broken, "timing failed: %.200s", why);
    return false;
  }
  qsort(times, samples, sizeof *times, ascending);
  t->median = times[samples / 2];
  t->low = times[samples / 4];
  t->high = times[samples - 1 - samples / 4];
  t->samples = samples;
  if (half) {
    qsort(copies, samples, sizeof *copies, ascending);
    t->copy_median = copies[samples / 2];
  }
  unsigned threads = l->block[0] * l->block[1] * l->block[2];
  if (d->cu->occupancy(&value, f, (int)threads, l->shared_bytes) == CU_OK)
    t->resident = (unsigned)value;
  if (d->cu->function_attribute(&value, CU_FUNCTION_REGISTERS, f) == CU_OK)
    t->registers = (unsigned)value;
  return true;
}

double cuda_time_copy(struct device *d, uint64_t bytes, unsigned samples)
{
  float copies[MOST_SAMPLES];
  char why[256];
  size_t half = (size_t)(bytes / 2);
  if (samples < 1 || samples > MOST_SAMPLES) samples = CUDA_SAMPLES;
  if (!half || !scratch(d, half, why, sizeof why) ||
      !samples_of(d, NULL, NULL, half, samples, NULL, copies, why, sizeof why))
    return 0;
  qsort(copies, samples, sizeof *copies, ascending);
  return copies[samples / 2];
}
