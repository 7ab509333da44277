/* What a worker is asked to do and what it answers: a job and its outcome, as frames over pipes.
 *
 *   grader                                        worker (`banks worker`, started for one job)
 *     job_run: job -> frame  ---- stdin ---->       job_serve: opens a device, loads the PTX,
 *     frame -> outcome, checked <-- stdout ----      uploads, launches, downloads
 *
 * A frame is FRAME_MAGIC, the length of what follows (both 64 bits), then the fields of job.c.
 * The worker judges nothing and knows nothing of exercises; the grader believes no length in a
 * frame.
 */
#ifndef JOB_H
#define JOB_H

#include <stdio.h>

#include "device/codec.h"
#include "device/device.h"

enum {
  JOB_BUFFERS = 64, JOB_LAUNCHES = 64, JOB_ARGS = 32, JOB_ARG_BYTES = 256, JOB_INSIDE = 8,
  JOB_KERNEL = 256
};
#define FRAME_MAGIC UINT64_C(0x3032736b6e616233)
#define FRAME_LIMIT (UINT64_C(1) << 30)

struct job_buffer {
  char name[32];
  bool read_only, returned;    /* returned: its bytes come back with the outcome */
  unsigned char *data;         /* content before the first launch */
  size_t bytes;
};

struct job_arg {
  uint32_t buffer;             /* index of a buffer, or JOB_VALUE */
  uint32_t bytes;              /* 8 for a buffer's address */
  unsigned char value[JOB_ARG_BYTES];
  struct { uint32_t at, buffer; } inside[JOB_INSIDE];   /* a struct's pointers */
  uint32_t ninside;
};
#define JOB_VALUE ((uint32_t)JOB_BUFFERS)

struct job_launch {
  char kernel[JOB_KERNEL];  /* as ptx_find_entry takes it */
  uint32_t grid[3], block[3], shared_bytes;
  struct job_arg args[JOB_ARGS];
  uint32_t nargs;
};

struct job {
  char device[16];             /* "sim" */
  struct sim_options options;
  unsigned char *ptx;          /* text */
  size_t ptx_size;
  struct job_buffer *buffers;
  size_t nbuffers;
  struct job_launch *launches;
  size_t nlaunches;
};

enum job_end {
  JOB_RAN,                     /* all launches, or all up to one that faulted */
  JOB_REFUSED,                 /* the device does not take this code: `why` names the line */
  JOB_SLOW,                    /* the worker was stopped at its time limit */
  JOB_OURS                     /* no such device, worker crashed, broken frame: `why` says */
};

struct outcome {
  enum job_end end;
  char why[512];
  uint32_t why_line;           /* JOB_REFUSED: source line, 0 when unknown */
  char device[160];            /* for the report */
  char **files;                /* the module's, by index; entries may be NULL */
  size_t nfiles;
  struct sim_result *launches;
  size_t nlaunches;
  double *milliseconds;        /* one a launch, 0 where the device does not time */
  unsigned char **buffers;     /* by index of the job; NULL where not returned */
  size_t nbuffers;
};

/* ---- job.c: the fields of a frame; the same functions write and read ----------------------- */

void job_code(struct codec *c, struct job *job);
/* Reading checks against the job: numbers of launches and buffers, sizes, indices. */
void outcome_code(struct codec *c, struct outcome *o, const struct job *job);
void job_free(struct job *job);
void outcome_free(struct outcome *o);

/* ---- worker.c: the worker's side ----------------------------------------------------------- */

/* Reads jobs from `in` until it ends, runs each, writes its outcome to `out` (-1: nowhere; then
 * the first job that does not run ends it).  0, or 3 when that failed. */
int job_serve(int in, int out);
/* Packs a launch's arguments as the kernel declares them; params is `room` long, JOB_ARGS *
 * JOB_ARG_BYTES * 2 will do.  False, and `text` for a student, when the signature differs. */
bool job_lay_out(const struct ptx_module *module, const struct job_launch *l,
                 const uint64_t *addresses, unsigned char *params, size_t room, size_t *bytes,
                 char *text, size_t size);
/* What GPU there is: its name is "" when there is none, and `why` says so. */
void job_probe(struct device_info *info, char *why, size_t size);
/* Runs a job in this process. */
void job_execute(struct job *job, struct outcome *o);

/* ---- spawn.c: the grader's side ------------------------------------------------------------ */

/* Runs a job in a fresh worker process for at most `seconds`.  A worker that crashes or answers
 * with a broken frame is our fault and tried once more.  May be called from several threads. */
void job_run(const struct job *job, double seconds, struct outcome *o);

/* A worker that runs one job after another, for a device that takes long to open.  It is ended,
 * and the next job gets a new one, after anything but a clean run. */
struct job_session;
struct job_session *job_session_new(void);
void job_session_run(struct job_session *s, const struct job *job, double seconds,
                     struct outcome *o);
void job_session_end(struct job_session *s);

/* Writes the frame of a job to a file; banks worker --launches runs a file of them. */
bool job_write(const struct job *job, FILE *to);

/* An outcome of `job` to a file and back: false when that fails, or is no outcome of that job. */
bool outcome_write(const struct outcome *o, const struct job *job, FILE *to);
bool outcome_read(struct outcome *o, const struct job *job, FILE *from);

/* The name of the GPU a worker finds ("NVIDIA H200"); false and a sentence in `why` when it finds
 * none.  Asked once a process. */
bool job_gpu(char *name, size_t name_size, char *why, size_t size);

#endif
