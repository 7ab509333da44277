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
  const char *const *readable; /* absolute folders also visible, NULL-terminated; "" is none */
  const void *input;           /* to its standard input */
  size_t input_size;
  const char *result_file;     /* read back from the working folder after it ended; may be NULL */
  double wall_seconds;         /* limits; all apply to the whole process tree */
  double cpu_seconds;
  uint64_t memory_bytes;
  uint64_t output_bytes;       /* of standard output, standard error and result, each: what the
                                  first two print beyond it is dropped, a larger result ends
                                  the job */
  unsigned processes;          /* 1: the command can start neither a process nor a thread, and
                                  sees its files read-only; more: as many as it likes */
  bool answers;                /* `result` is what it writes to descriptor 3, not a file */
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
  char why[512];               /* SANDBOX_FAILED: what is wrong and what to do; after
                                  toolchain_ask also how the program ended too early, or "" */
};

/* Runs the job to its end.  Never blocks past wall_seconds (plus a second), whatever the command
 * does with processes, descriptors or signals.  No network, no home folder, no /dev beyond null
 * (a program also sees zero and urandom), a small private /tmp, environment of PATH only. */
void sandbox_run(const struct sandbox_job *job, struct sandbox_result *result);
void sandbox_result_free(struct sandbox_result *result);

/* "bubblewrap" or "limits only (bubblewrap is missing: ...)", for the report. */
const char *sandbox_kind(void);

/* The system's own choice, or one of the two for tests; affects runs that begin later. */
enum sandbox_choice { SANDBOX_BEST, SANDBOX_LIMITS_ONLY };
extern enum sandbox_choice sandbox_choice;

/* mkdtemp whose folder an interrupted run removes, once toolchain_temp_guard was called; say when it
 * was removed (temp.c). */
void toolchain_temp_guard(void);
bool toolchain_temp(char *folder);
void toolchain_temp_done(const char *folder);

/* ---- compilers ---------------------------------------------------------------------------- */

/* What there is, found once a process (find.c).  Paths are "" where there is none. */
struct toolchain_found {
  char nvcc[512], nvcc_version[32], nvcc_root[512];   /* "13.0"; root: the toolkit's folder */
  char clang[512], clang_version[32], clang_root[512];   /* "" too when it cannot make PTX */
  char cc[512], cc_version[64], cc_root[512];            /* roots are "" for what is in /usr */
  char why_not_clang[128];
};
const struct toolchain_found *toolchain_find(void);
bool toolchain_which(const char *program, char *path, size_t size);   /* in PATH */

/* Seconds and bytes one compiler run may take.  Tests lower them. */
extern double toolchain_seconds;
extern uint64_t toolchain_memory;

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

/* Reads compiler output (of nvcc, gcc, clang or ld) and appends to `out` the diagnostics whose file
 * is `file`, under the name `name`; `source` is the student's text, from which the source lines
 * are taken, so no other file's text can come along (diagnose.c). */
void diagnose(const char *text, const char *file, const char *name, const char *source,
              struct compiled *out);
/* Copies text made printable: escapes control bytes and broken UTF-8, cuts with "..." */
void diagnose_printable(char *to, size_t size, const char *from, size_t length);

/* ---- native C exercises --------------------------------------------------------------------- */

/* The driver of a C exercise is text in its suite.  ask.h (in this folder, embedded in the program)
 * gives it main(), which reads all questions first and calls ask() once for each; the driver
 * answers with answer(), printf-like, once or in pieces:
 *
 *   #include "ask.h"
 *   #include "exercise.h"           // the `header` text: unsigned bank_of(unsigned address);
 *   static void ask(const char *question)
 *   {
 *     unsigned address;
 *     if (sscanf(question, "bank_of %u", &address) == 1)
 *       answer("%u", bank_of(address));
 *   }
 *
 * Answers carry the number of their question and are written at once, so what the student's code
 * prints, or a crash in a later question, does not disturb them. */

/* Runs a program made by toolchain_c in the sandbox and gives it `questions` (lines).  In `answers`,
 * `result` holds one line a question, in order, "" for none; `why` is "" when all were answered,
 * else a sentence on how the program ended ("your program called exit on question 5: ..."). */
void toolchain_ask(const struct compiled *program, const char *questions, double seconds,
                   struct sandbox_result *answers);

/* The answer to question i (from 0) as malloc'ed text; NULL when there is none. */
char *toolchain_answer(const struct sandbox_result *answers, size_t i);

#endif
