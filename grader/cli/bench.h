/* The kernels of `banks bench`: sizes, inputs, and what the host computes itself to check them. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_size {
  BENCH_ONCE,                  /* some ten thousand warp instructions, for counting the host's */
  BENCH_CORE,                  /* for one core */
  BENCH_THREADS                /* for all of them */
};

enum { BENCH_BUFFERS = 4 };

struct bench_buffer {
  const char *name;
  size_t bytes;
  void *in;                    /* NULL: zeros */
};

struct bench_job {
  char title[48];
  uint32_t grid[3], block[3];
  struct bench_buffer buffers[BENCH_BUFFERS];   /* the last one is the output */
  uint64_t at[BENCH_BUFFERS];  /* device addresses */
  unsigned nbuffers;
  int32_t n;                   /* the parameter after the buffers */
};

struct bench_kernel {
  const char *name;            /* in bench/kernels.cu */
  bool scales;                 /* in the table of host threads */
  bool (*prepare)(struct bench_job *j, enum bench_size size);
  bool (*check)(const struct bench_job *j, const void *out);
};

extern const struct bench_kernel bench_kernels[];
extern const size_t bench_nkernels;

void bench_job_close(struct bench_job *j);

#endif
