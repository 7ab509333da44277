/* See predict.h. */
#include "model/predict.h"

#include <math.h>

enum { SCHEDULERS = 4, WARP = 32, BARRIER_CYCLES = 40 };
static const double overlap = 1.8;

static double least(double a, double b) { return a < b ? a : b; }

static uint32_t resident_blocks(const struct predict_card *c, const struct predict_kernel *k)
{
  double n = c->max_blocks;
  if (k->threads) n = least(n, floor(c->max_threads / k->threads));
  n = least(n, floor(c->shared_bytes / (k->shared_bytes + c->reserved_bytes)));
  return n < 1 ? 1 : (uint32_t)n;
}

struct predict_time predict_kernel(const struct predict_card *c, const struct predict_kernel *k)
{
  struct predict_time t = {.start = c->start_us, .tail = 1};
  t.resident = k->resident ? k->resident : resident_blocks(c, k);
  if (!k->blocks) {
    t.us = t.start;
    return t;
  }
  double per_sm = ceil((double)k->blocks / c->sms);      /* blocks of the busiest SM */
  double share = per_sm / (double)k->blocks;             /* of all work that is on it */
  double warps = ceil((double)k->threads / WARP), cycle = 1e-3 / c->ghz;   /* microseconds */
  t.tail = share * c->sms;

  /* What fits the L2 need not come from DRAM twice, but the tables start from a flushed one. */
  t.terms[PREDICT_MEMORY] = (double)k->memory_bytes / c->copy_gbs * 1e-3;
  double more = (double)k->sectors * 32 - (double)k->memory_bytes;   /* a copy passes the L2, too */
  t.terms[PREDICT_SECTORS] = more > 0 ? more / c->l2_gbs * 1e-3 : 0;

  /* A global request moves its data through the same 128 bytes a cycle. */
  double lines = (double)k->sectors / 4;
  double global = lines > (double)k->global_requests ? lines : (double)k->global_requests;
  t.terms[PREDICT_SHARED] = ((double)k->wavefronts + global + (double)k->loop_wavefronts * c->loop) *
                            share * cycle;
  t.terms[PREDICT_ISSUE] = (double)k->warp_instructions * share / SCHEDULERS * cycle;

  double barriers = warps > 0 ? (double)k->barriers / ((double)k->blocks * warps) : 0;
  double rounds = per_sm / least(t.resident, per_sm);
  t.terms[PREDICT_WAITING] = rounds * (c->latency_ns * 1e-3 + barriers * BARRIER_CYCLES * cycle);

  double sum = 0;
  for (int i = 0; i < PREDICT_TERMS; i++) {
    sum += pow(t.terms[i], overlap);
    if (t.terms[i] > t.terms[t.limit]) t.limit = (enum predict_term)i;
  }
  t.us = t.start + pow(sum, 1 / overlap);
  return t;
}

const char *predict_term_name(enum predict_term t)
{
  static const char *const names[] = {"memory", "sectors", "shared", "issue", "waiting"};
  return t < PREDICT_TERMS ? names[t] : "?";
}
