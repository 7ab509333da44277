/* What a test's plan is made of; suite.h has the calls that fill it. */
#ifndef PLAN_H
#define PLAN_H

#include "suites/suite.h"

enum { PLAN_BUFFERS = 64, PLAN_LAUNCHES = 64, PLAN_ARGS = 32, PLAN_ARG_BYTES = 64 };
enum { PLAN_BUFFER_BYTES = 256 << 20 };   /* of all buffers of a test */

struct plan_buffer {
  char name[32];
  enum buffer_role role;
  unsigned char *data;         /* content before the first launch */
  size_t bytes;
};

struct plan_arg {
  int buffer;                  /* index, or -1: a value */
  uint32_t bytes;              /* 8 for a buffer's address */
  unsigned char value[PLAN_ARG_BYTES];
};

struct plan_launch {
  char kernel[64];
  uint32_t grid[3], block[3], shared_bytes;
  struct plan_arg args[PLAN_ARGS];
  uint32_t nargs;
};

struct plan {
  struct plan_buffer buffers[PLAN_BUFFERS];
  size_t nbuffers, bytes;
  struct plan_launch *launches;
  size_t nlaunches;
  char **questions;
  size_t nquestions;
  struct rng poison;           /* its own stream, so that poison does not move a test's numbers */
  char error[160];             /* the suite asked for something impossible: our fault */
};

struct plan *plan_new(uint64_t seed, const char *label);
void plan_free(struct plan *p);

#endif
