/* Finds and runs compilers over a student's file, in a sandbox, and turns what they say into the
 * student's own lines.
 *
 *   find.c       which nvcc, clang and cc there are (doctor prints it)
 *   sandbox.c    runs one command: namespaces through bubblewrap where it works, limits always
 *   compile.c    .cu -> PTX (nvcc; clang where there is no CUDA Toolkit), .c -> program
 *   diagnose.c   compiler output -> diagnostics of the student's file only
 *   cuda_for_clang.h   what clang needs in place of the toolkit's headers
 */
#ifndef TOOLCHAIN_H
#define TOOLCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sandbox ------------------------------------------------------------------------------ */

struct sandbox_file {          /* made visible read-only at `inside`, with this content or from a path */
  const char *inside;          /* relative to the working folder of the command */
  const char *from;            /* path outside; NULL: use data */
  const void *data;
  size_t size;
};

struct sandbox_job {
  const char *const *argv;     /* absolute program, NULL-terminated */
  const struct sandbox_file *files;
  size_t nfiles;
  const char *const *readable; /* absolute folders also visible, NULL-terminated (toolkit, /usr) */
  const void *input;           /* to its standard input */
  size_t input_size;
  const char *result_file;     /* read back from the working folder after it ended; may be NULL */
  double wall_seconds;         /* limits; all apply to the whole process tree */
  double cpu_seconds;
  uint64_t memory_bytes;
  uint64_t output_bytes;       /* of standard output, standard error and result, each */
  unsigned processes;
};

enum sandbox_end {
  SANDBOX_EXITED, SANDBOX_SIGNALLED, SANDBOX_TIMED_OUT, SANDBOX_MEMORY, SANDBOX_OUTPUT,
  SANDBOX_FAILED               /* the sandbox itself could not run it: our fault */
};

struct sandbox_result {
  enum sandbox_end end;
  int status;                  /* exit status or signal number */
  char *out, *err, *result;    /* malloc'ed, NUL-terminated, never NULL after a run */
  size_t out_size, err_size, result_size;
  double wall_seconds;
  char why[256];               /* SANDBOX_FAILED: what is wrong and what to do */
};

/* Runs the job to its end.  Never blocks past wall_seconds (plus a second), whatever the command
 * does with processes, descriptors or signals.  No network, no home folder, no /dev beyond null
 * and zero and urandom, a small private /tmp, environment of PATH only. */
void sandbox_run(const struct sandbox_job *job, struct sandbox_result *result);
void sandbox_result_free(struct sandbox_result *result);

/* "bubblewrap" or "limits only (bubblewrap is missing: ...)", for the report. */
const char *sandbox_kind(void);

/* ---- compilers ---------------------------------------------------------------------------- */

enum toolchain_kind { TOOLCHAIN_AUTO, TOOLCHAIN_NVCC, TOOLCHAIN_CLANG };

struct diagnostic {
  char file[128];              /* the student's file as they know it, "transpose.cu" */
  unsigned line, column;
  bool error;                  /* else a warning */
  char text[512];              /* made printable */
  char source[256];            /* the source line, made printable */
};

struct compiled {
  bool ok;
  char *code;                  /* PTX text, or the program's bytes */
  size_t code_size;
  struct diagnostic *diagnostics;
  size_t ndiagnostics;
  bool timed_out, too_large;   /* the compiler met a limit: the student's doing */
  bool our_fault;              /* no compiler, sandbox broken: never the student's */
  char summary[512];           /* one sentence for the report */
  char compiler[64];           /* "nvcc 13.0" */
};

/* .cu -> PTX of sm_90 with .loc lines.  `path` is the student's file; `name` what messages call it.
 * Device code only: no host code of the student's ever runs. */
void toolchain_cuda(const char *path, const char *name, enum toolchain_kind kind,
                    struct compiled *out);

/* A C exercise: the student's .c and our driver (given as text) -> one program. */
void toolchain_c(const char *path, const char *name, const char *driver, const char *header,
                 struct compiled *out);

void compiled_free(struct compiled *c);

/* ---- native C exercises --------------------------------------------------------------------- */

/* Runs a program made by toolchain_c in the sandbox, gives it `questions` (lines) on standard
 * input, returns its answers (lines on descriptor 3, which only the driver knows to write).  */
void toolchain_ask(const struct compiled *program, const char *questions, double seconds,
                   struct sandbox_result *answers);

#endif
