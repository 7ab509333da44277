/* Measuring a GPU: tables of cycles and times for the plots.
 *
 *   gpu.c     the card, with the kernels of plots/record/measure.cu loaded; launches and times
 *   sets.c    the tables, one function each
 *   kernels.c times of the exercises' kernels, beside what the simulator counts in them
 *
 * `banks measure` runs this in its own process: it judges nothing.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdio.h>

#include "device/cuda.h"
#include "suites/plan.h"

struct gpu {
  struct device *device;
  struct device_info info;
  char toolkit[64], date[32];
  const char *folder;          /* where the tables go */
  char why[512];               /* the first thing that went wrong */
  unsigned samples;
};

/* Opens the card and loads PTX.  False with `why` set. */
bool gpu_open(struct gpu *g);
bool gpu_load(struct gpu *g, const char *ptx, size_t length);
void gpu_close(struct gpu *g);

/* A table of the folder, with what was measured, on what, when, and its columns. */
FILE *gpu_table(struct gpu *g, const char *name, const char *what, const char *columns);
FILE *gpu_table_again(struct gpu *g, const char *name);   /* to go on in one */
bool gpu_table_end(struct gpu *g, FILE *f);

/* A buffer without guard bands' cost in time; content from `from` when it is not NULL. */
uint64_t gpu_buffer(struct gpu *g, size_t bytes, const void *from);
void gpu_free_buffers(struct gpu *g);

/* A launch with `naddresses` addresses, then `nvalues` ints as parameters. */
struct gpu_call {
  const char *kernel;
  uint32_t grid[3], block[3], shared;
  uint64_t addresses[4];
  int values[4];
  unsigned naddresses, nvalues;
};
bool gpu_run(struct gpu *g, const struct gpu_call *c);     /* once, waited for */
bool gpu_time(struct gpu *g, const struct gpu_call *c, uint64_t copy_bytes, struct cuda_time *t);

/* The tables.  False with `why` set; those already written stay. */
struct measure_set {
  const char *name;
  bool (*run)(struct gpu *g);
};
extern const struct measure_set measure_sets[];   /* ends with a row whose name is NULL */

/* Times the exercises' kernels of the folders in froms[]: exercises.tsv.  id: one only, or NULL.
 * *at counts those begun, and as many are passed over: after a kernel's fault the driver serves
 * this process no more, and a new one goes on behind it. */
bool measure_exercises(struct gpu *g, const char *root, const char *const *froms, const char *id,
                       volatile int *at);

#endif
