/* The GPU behind device.h, and what only a GPU can do: time. */
#ifndef CUDA_H
#define CUDA_H

#include "device/cuda_api.h"
#include "device/device.h"

/* A launch timed with CUDA events: warmed up, the second-level cache overwritten before every
 * sample, a fixed number of samples, and between them a device-to-device copy that reads and
 * writes `copy_bytes` in all, so that both saw the same clocks. */
struct cuda_time {
  double median, low, high;    /* milliseconds; low and high: the quartiles */
  double copy_median;          /* of the copy, 0 when there was none */
  unsigned samples;
  unsigned resident;           /* blocks that fit one SM, as the driver says */
  unsigned registers;          /* a thread */
};
enum { CUDA_WARM_UPS = 3, CUDA_SAMPLES = 15 };

/* False when the launch failed: `why` says how.  The device is then of no more use. */
bool cuda_time(struct device *d, const struct sim_launch *launch, uint64_t copy_bytes,
               unsigned samples, struct cuda_time *t, char *why, size_t size);

/* Milliseconds of a copy of `bytes` read and written in all, alone; 0 when it failed. */
double cuda_time_copy(struct device *d, uint64_t bytes, unsigned samples);

/* ---- inside the device (cuda.c, cuda_time.c) ------------------------------------------------ */

enum { CUDA_BUFFERS = 256 };

struct cuda_buffer {
  char name[64];
  cu_address base;             /* of the allocation: guard, content, guard */
  size_t bytes;
  bool read_only;
  uint64_t hash;               /* of a read-only buffer's content when it was uploaded */
};

struct device {
  const struct cuda_api *cu;
  cu_device ordinal;
  cu_context context;
  cu_module module;
  struct ptx_module *ptx;      /* for names: what a person calls a kernel -> what the PTX does */
  struct cuda_buffer buffers[CUDA_BUFFERS];
  size_t nbuffers;
  unsigned char *guard;        /* the pattern of the guard bands */
  struct device_info info;
  size_t l2_bytes;
  cu_address flush, copy_from, copy_to;
  size_t flush_bytes, copy_bytes;
  char broken[256];            /* why the device cannot be used any more, "" while it can */
};

/* The function of a launch, made ready for its dynamic shared memory.  NULL when there is none, or
 * when it asks for too much; `why` says which. */
cu_function cuda_function(struct device *d, const struct sim_launch *l, char *why, size_t size);
cu_result cuda_start(struct device *d, cu_function f, const struct sim_launch *l);

#endif
