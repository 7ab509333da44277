/* One interface, two devices: the simulator and a real GPU.
 *
 * A device takes PTX text and launches, and gives back bytes, counts (simulator) or times (GPU) and
 * faults.  It never judges.  It lives in the worker process (worker.c), which the grader starts
 * anew for each exercise and talks to in frames over pipes; so whatever a kernel does to its
 * device ends with the worker.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "../sim/sim.h"

struct device;

struct device_info {
  char name[128];              /* "simulator" or the card's name */
  char driver[64];             /* GPU only */
  unsigned capability;         /* 90 */
  unsigned sms;
  uint64_t clock_khz;
  bool counts;                 /* results carry wavefront counts */
  bool times;                  /* results carry times */
};

struct device_ops {
  const char *name;            /* "sim", "cuda" */
  /* NULL when there is no such device here; `why` then says so in a sentence. */
  struct device *(*open)(const struct sim_options *options, char *why, size_t size);
  void (*info)(struct device *d, struct device_info *info);
  bool (*load)(struct device *d, const char *ptx, size_t length, struct ptx_error *error);
  uint64_t (*alloc)(struct device *d, size_t bytes, const char *name, bool read_only);
  bool (*upload)(struct device *d, uint64_t address, const void *from, size_t bytes);
  bool (*launch)(struct device *d, const struct sim_launch *launch, struct sim_result *result,
                 double *milliseconds);
  bool (*download)(struct device *d, uint64_t address, void *to, size_t bytes);
  void (*close)(struct device *d);
  /* Why results of this device cannot be had any more, "" while they can.  NULL: it never breaks.
   * A fault of the kernel's is in the result instead; after it the device may be broken, too. */
  const char *(*broken)(struct device *d);
};

extern const struct device_ops device_sim;
extern const struct device_ops device_cuda;

#endif
