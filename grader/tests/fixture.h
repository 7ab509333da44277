/* Kernels with what they must give written on their lines.
 *
 * tests/sim/NAME.cu, with its PTX beside it so that no compiler is needed.  `//! race` on a line is a
 * fault it must get, `//! race -2` one with the line two above; a kernel gets no others.  Each takes
 * (int *out, const int *in, int n): INTS words, 1, 2, 3 ... in 1024 words, 1024. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "sim/sim.h"

enum { INTS = 4096, LINES = 1000 };

struct fixture {
  char *source, *ptx;
  size_t ptx_bytes;
  const char *line[LINES];
  unsigned lines;
};

struct ran {
  struct sim *sim;
  struct ptx_module *module;
  struct sim_result result;
  int out[INTS];
  uint64_t out_at;
};

void fixture_open(struct fixture *x, const char *name);
void fixture_close(struct fixture *x);
/* The first line of a kernel, and the first of the next one. */
unsigned fixture_start(const struct fixture *x, const char *kernel);
unsigned fixture_end(const struct fixture *x, unsigned start);
void fixture_run(struct ran *r, const struct fixture *x, const char *kernel, unsigned grid,
                 unsigned threads, unsigned shared, unsigned host_threads);
void fixture_done(struct ran *r);
/* Fails unless the kernel got the faults that its lines promise. */
void fixture_faults(const struct fixture *x, const char *kernel, const struct ran *r);
/* Fails unless both runs gave the same; `n` host threads in the second. */
void fixture_same(const char *kernel, unsigned n, const struct ran *one, const struct ran *more);

#endif
