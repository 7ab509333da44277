/* What a test's plan is made of; suite.h has the calls that fill it. */
#ifndef PLAN_H
#define PLAN_H

#include "device/job.h"
#include "suites/suite.h"

enum { PLAN_BUFFER_BYTES = 256 << 20 };   /* of all buffers of a test */

struct plan {
  struct job job;              /* kernels: buffers and launches */
  enum buffer_role roles[JOB_BUFFERS];
  size_t bytes;
  char **questions;            /* C exercises */
  size_t nquestions;
  struct rng poison;           /* its own stream, so that poison does not move a test's numbers */
  char error[160];             /* the suite asked for something impossible: our fault */
};

struct plan *plan_new(uint64_t seed, const char *label);
void plan_free(struct plan *p);

#endif
