/* A kernel of tests/kernels/ run whole, with 1, 2 and 4 host threads and with a
 * row for each register: what test_kernels*.c share.
 *
 *   struct launch l = launch_of("gemm", "gemm_tiled");
 *   launch_in(&l, a, sizeof a);  unsigned c = launch_out(&l, NULL, bytes);  launch_int(&l, n);
 *   launch_run(&l, (uint32_t[3]){4, 4, 1}, (uint32_t[3]){16, 16, 1}, 0);
 *   float *result = l.arg[c].result;
 *   launch_close(&l);
 *
 * The run must end without a fault; buffers, totals and what was printed must be the same with any
 * number of host threads, or the test fails. */
#ifndef TEST_LAUNCH_H
#define TEST_LAUNCH_H

#include "sim/sim.h"

enum { LAUNCH_ARGS = 16 };

struct launch {
  const char *file, *kernel;
  struct ptx_module *module;
  struct {
    void *data, *result;       /* before and after; of a scalar only `data` */
    size_t bytes;
    bool buffer, read_only;
  } arg[LAUNCH_ARGS];
  unsigned nargs;
  struct { const char *symbol; const void *data; size_t bytes; } constant;  /* set before the run */
  /* A buffer of its own whose address goes `offset` bytes into a parameter that is a struct. */
  struct { unsigned parameter; size_t offset; const void *data; size_t bytes; } inside;
  struct sim_result result;    /* of one host thread */
};

/* "" or the ending of another compiler's or target's text of the same kernels: "-clang". */
extern const char *launch_variant;

struct launch launch_of(const char *file, const char *kernel);   /* file: "gemm" */
unsigned launch_in(struct launch *l, const void *data, size_t bytes);
/* The buffer holds `data` before; NULL: bytes that are no sensible value of any type. */
unsigned launch_out(struct launch *l, const void *data, size_t bytes);
void launch_int(struct launch *l, int32_t v);
void launch_float(struct launch *l, float v);
void launch_bytes(struct launch *l, const void *v, size_t bytes);   /* any scalar, structs too */
void launch_run(struct launch *l, const uint32_t grid[3], const uint32_t block[3], uint32_t shared);
/* The same for one-dimensional launches. */
void launch_run1(struct launch *l, uint32_t grid, uint32_t block, uint32_t shared);
void launch_close(struct launch *l);

/* |got - want| <= bound, shown to be: a NaN fails. */
void launch_close_to(const struct launch *l, size_t at, double got, double want, double bound);

uint32_t launch_random(void);                  /* one stream, the same in every test */
float launch_random_float(void);               /* in [-1, 1), a multiple of 2^-23 */

#endif
