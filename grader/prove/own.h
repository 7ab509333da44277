/* An author's own launch on both: the simulator's counts beside the profiler's, by kind of access
 * and by source line, and the buffers afterwards.
 *
 *   cost       shared memory: wavefronts; global memory: sectors
 *   computed   the profiler's, from the addresses of every access (its Source page)
 *   counter    the profiler's, from the hardware's counters where there is one of that kind
 */
#ifndef OWN_H
#define OWN_H

#include "device/job.h"
#include "profile/profile.h"
#include "profile/request.h"
#include "prove/lines.h"

extern const char *const own_kind_names[PROFILE_CLASSES];

struct own_count {
  uint64_t requests, cost, ideal;            /* the simulator's */
  uint64_t executed, computed, computed_ideal, counter;
  bool has_counter;
  bool loops, fit;             /* atomics that loop; a rule that is only a fit took part */
};

struct own_line {
  char file[64];
  uint32_t line;
  bool global;
  uint64_t requests, cost, executed, computed;
};

struct own_output {            /* a buffer afterwards */
  const struct argument *argument;
  uint64_t elements, differing, first;
  char on_gpu[32], on_simulator[32];         /* the first that differs */
  double relative;             /* the largest difference of floats, relative; 0 for integers */
};

struct own {
  struct own_count kinds[PROFILE_CLASSES];
  struct own_line *lines;
  size_t nlines;
  bool lined;                  /* the profiler's instructions have lines */
  struct own_output outputs[JOB_BUFFERS];
  size_t noutputs;
};

/* The job of a request that was loaded.  False, and a sentence, when a worker can't run it.  Its
 * blocks belong to the request, but for buffers, launches: free those. */
bool own_job(const struct request *q, const char *device, struct job *job, char *why, size_t size);

/* q was run on the simulator; `after` are its buffers' bytes, in order; `gpu` is the GPU's outcome. */
void own_compare(const struct request *q, unsigned char *const *after, const struct outcome *gpu,
                 struct ncu_launch *counted, const struct lines *lines, struct own *out);
void own_free(struct own *o);

/* "equal", or what it is instead: "differs"; "at least", "fit": see proof.c; "counter": the counter
 * alone differs; "ideal": the ideal alone does; "another line". "" where nothing was accessed. */
const char *own_verdict(const struct own *o, enum profile_class k);
bool own_outputs_equal(const struct own *o);
bool own_equal(const struct own *o);         /* every kind, and the outputs */

void own_print(const struct own *o, FILE *to);
/* Rows for a table whose header own_save_header writes; `launch` is the command as typed. */
void own_save_header(FILE *to);
void own_save(const struct own *o, const char *launch, FILE *to);

#endif
