/* The exercise contract: what an exercise is, what a test of it may ask for, how it is judged.
 *
 * A chapter has one file here, chNN.c, with a table of exercises; each exercise has a table of
 * named tests with points.  Grading runs in two steps that share no process with student code:
 *
 *   plan    the test says what to run: for a kernel, buffers and launches; for a C exercise,
 *           questions to ask; for predictions, nothing.  Inputs come from the seed it is given.
 *   judge   the test reads the evidence that came back (bytes, counts, faults, answers) and sets
 * a
 *           verdict, comparing with a reference it computes itself in double.
 *
 * judge runs inside a Check test (check.c), forked, under a time limit; plan and judge of one
 * test are called with the same seed and must draw the same numbers.
 *
 * Compare so that NaN fails: a value passes only when it is shown to lie within its bound.
 */
#ifndef SUITE_H
#define SUITE_H

#include "../report/record.h"
#include "../sim/sim.h"

/* ---- randomness: from the seed, the same everywhere ---------------------------------------- */

struct rng { uint64_t s[4]; };
void rng_seed(struct rng *r, uint64_t seed, const char *label);
uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n);             /* 0..n-1, unbiased */
int32_t rng_between(struct rng *r, int32_t lo, int32_t hi);  /* lo..hi, both included */
double rng_uniform(struct rng *r, double lo, double hi);
void rng_floats(struct rng *r, float *out, size_t count, double lo, double hi);

/* ---- what a test asks for ------------------------------------------------------------------ */

enum exercise_kind {
  EXERCISE_KERNEL,             /* a .cu file */
  EXERCISE_NATIVE,             /* a .c file, asked through a driver */
  EXERCISE_PREDICT             /* a .txt file of `name = answer` lines */
};

enum buffer_role { BUFFER_IN, BUFFER_OUT, BUFFER_INOUT };   /* IN is read-only to the kernel */

/* Adds a buffer of `bytes`; its content is `data` (copied), or poison that differs each run when
 * data is NULL.  Returns its index. */
struct plan;
int plan_buffer(struct plan *p, const char *name, enum buffer_role role, const void *data,
                size_t bytes);

/* Adds a launch and its arguments, in the kernel's order. */
void plan_launch(struct plan *p, const char *kernel, const uint32_t grid[3],
                 const uint32_t block[3], uint32_t shared_bytes);
void plan_arg_buffer(struct plan *p, int buffer);
void plan_arg(struct plan *p, const void *value, size_t bytes);   /* i32, f32, ... by its size */
static inline void plan_arg_i32(struct plan *p, int32_t v) { plan_arg(p, &v, 4); }
static inline void plan_arg_f32(struct plan *p, float v) { plan_arg(p, &v, 4); }

/* Warp instructions a launch of this test may execute; default PLAN_STEPS, under a second. */
enum { PLAN_STEPS = 10000000 };
void plan_budget(struct plan *p, uint64_t warp_instructions);

/* C exercises: adds one question, a line of text.  printf-like. */
void plan_ask(struct plan *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- what came back ------------------------------------------------------------------------ */

struct evidence {
  uint64_t seed;               /* the one plan had */
  /* kernels */
  const struct sim_result *launches;       /* one a plan_launch, in order */
  size_t nlaunches;
  const void *const *buffers;              /* contents after the last launch, by index */
  const void *const *before;               /* contents before the first launch: inputs, poison */
  const size_t *buffer_bytes;
  const char *const *buffer_names;
  size_t nbuffers;
  const struct ptx_module *module;         /* files[], for source names of sites and faults */
  /* C exercises: the answer line to each question, NULL where the program gave none */
  const char *const *questions;            /* as plan_ask put them */
  const char *const *answers;
  size_t nanswers;
  const char *ended;           /* NULL, or how the program ended too early, as a sentence */
  /* predictions: text of the file, and the names the exercise asks for (may be NULL) */
  const char *text;
  const char *const *names;
  /* the student's file */
  const char *file;            /* "exercises/04-padding/transpose.cu" */
  const char *source;          /* its text */
};

struct verdict {               /* lives in memory shared with the Check process */
  double share;                /* of the test's points, 0..1; 1 is passed */
  bool set;
  bool not_graded;             /* our fault */
  char message[16384];         /* what to tell; may be long */
};

/* Each adds its text as new lines and sets the share; the smallest share given so far stays, so a
 * pass after a failure is still a failure.  verdict_add only adds text. */
void verdict_pass(struct verdict *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
void verdict_fail(struct verdict *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
void verdict_partial(struct verdict *v, double share, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void verdict_add(struct verdict *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- helpers for judges (judge.c, judge_answers.c, judge_counts.c) ---------------------- */

/* Fails with the fault's file, line, source text, block, thread and advice when a launch faulted
 * or did not complete.  True when all is clean. */
bool judge_clean(struct verdict *v, const struct evidence *e);

/* Compares float results with a reference in double: |got - want| <= bound[i] (or a common
 * bound), NaN-safe.  On failure tells the first mismatches as row and column (`columns` wide),
 * the number of them, expected and got.  True when all agree. */
bool judge_floats(struct verdict *v, const struct evidence *e, int buffer, const double *want,
                  size_t count, size_t columns, double bound);
bool judge_ints(struct verdict *v, const struct evidence *e, int buffer, const int32_t *want,
                size_t count, size_t columns);

/* How a kernel's shared accesses are marked: wavefronts per request over the sites chosen.  Full
 * share at or below `full`, none at or above `none`, linear between.  Fails when there are fewer
 * than `least_requests` (the exercise wants shared memory used) or more wavefronts in all than
 * `most_wavefronts` (0: no limit).  Says which line, the stride, the picture, the rule. */
struct count_mark {
  enum { COUNT_LOADS = 1, COUNT_STORES = 2, COUNT_ATOMICS = 4, COUNT_ALL = 7 } which;
  double full, none;
  uint64_t least_requests, most_wavefronts;
};
bool judge_wavefronts(struct verdict *v, const struct evidence *e, struct count_mark mark);

/* Text of line `line` of the student's file, trimmed and printable; false when there is none. */
bool judge_source(const struct evidence *e, uint32_t line, char *out, size_t size);
/* Is files[file] of the module the student's own? */
bool judge_own_file(const struct evidence *e, uint32_t file);

/* Describes a site as a reader wants it: line, source text, numbers, stride, 32-column
 * picture. */
void judge_describe_site(struct verdict *v, const struct evidence *e, const struct sim_site *s);

/* Describes the line that costs most above its ideal among COUNT_LOADS, ... (a sum of them);
 * false when there is no such access. */
bool judge_describe_worst(struct verdict *v, const struct evidence *e, unsigned which);

/* Value of `name = value` in a prediction file; NULL with a message when missing, repeated or
 * empty. */
const char *judge_prediction(struct verdict *v, const struct evidence *e, const char *name);

/* Marks predictions: the share is the part of the rows that are right.  Wrong or missing ones are
 * told by name with `how`, which says how to find out; the right value is never told. */
struct prediction { const char *name; double want; const char *how; };
bool judge_predictions(struct verdict *v, const struct evidence *e, const struct prediction *rows,
                       size_t count);
/* For predictions: the wavefronts of a load of `width` bytes a lane by lanes 0 .. lanes-1, lane t at
 * word stride * t. */
uint32_t judge_stride_cost(uint32_t stride, uint32_t lanes, uint32_t width);

/* C exercises: compares the answer to question i, one integer, with `want`.  `call` is what the
 * student knows the question as, "bank_of(132)".  False, with the failure told, when it differs
 * or when there is none (the program crashed, ran too long).  */
bool judge_answer_int(struct verdict *v, const struct evidence *e, size_t i, int64_t want,
                      const char *call, ...) __attribute__((format(printf, 5, 6)));

/* The same for one number: |got - want| <= bound, NaN-safe. */
bool judge_answer_near(struct verdict *v, const struct evidence *e, size_t i, double want,
                       double bound, const char *call, ...)
    __attribute__((format(printf, 6, 7)));

/* ---- the tables ---------------------------------------------------------------------------- */

struct test {
  const char *name;            /* "conflict free"; unique in its exercise; [a-z0-9 -] */
  double points;
  void (*plan)(struct plan *p, struct rng *r);
  void (*judge)(struct verdict *v, const struct evidence *e, struct rng *r);
};

struct exercise {
  const char *id;              /* "04-padding/transpose" */
  const char *title;           /* one line for the list */
  enum exercise_kind kind;
  const char *file;            /* "transpose.cu", in exercises/04-padding/ */
  const char *read;            /* where to read: "chapters/04-padding.md" */
  const char *const *hints;    /* three, from a nudge to nearly the answer; NULL-terminated */
  const struct test *tests;    /* ends with a row whose name is NULL */
  const char *driver;          /* NATIVE: the driver's text, see SUITE_DRIVER */
  const char *header;          /* NATIVE: text of "exercise.h", the prototypes; may be NULL */
  const char *const *names;    /* PREDICT: every name asked for, NULL-terminated; may be NULL */
  /* KERNEL: plans a run big enough to time; size is 0, 1 or 2, the largest one well above a card's
   * second-level cache.  NULL: not timed.  Nothing is judged by it. */
  void (*bench)(struct plan *p, struct rng *r, int size);
};

/* The text of a driver around the chapter's
 *     static void answer(const char *question, FILE *out)
 * which reads one question, calls the student's function and prints the answer without a line
 * end. main() is the toolchain's ask.h: what a student prints disturbs nothing, and a crash loses
 * only the answer it happened in. */
#define SUITE_DRIVER(text) \
  "#include <inttypes.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include \"ask.h\"\n" \
  "#include \"exercise.h\"\n#define answer driver_answer\n" text "\n#undef answer\n" \
  "static void ask(const char *question)\n{\n  char *line = NULL;\n  size_t size = 0;\n" \
  "  FILE *out = open_memstream(&line, &size);\n  if (!out) exit(3);\n" \
  "  driver_answer(question, out);\n  fclose(out);\n  answer(\"%s\", line);\n" \
  "  free(line);\n}\n"

struct suite {
  const char *chapter;         /* "04-padding" */
  const struct exercise *exercises;   /* ends with a row whose id is NULL */
};

extern const struct suite *const suites[];   /* suites.c; NULL-terminated, in chapter order */
const struct exercise *suite_find(const char *id);

/* names.c: the exercises meant by what somebody typed: an id, a path to its file, a chapter (all of
 * its exercises), or the beginning of one when that is clear.  Returns their number; 0 and one
 * sentence in `why` when nothing or too much fits. */
enum { SUITE_MOST = 512 };
size_t suite_named(const char *typed, const struct exercise **out, size_t room, char *why,
                   size_t size);
/* The same where just one is wanted; NULL and a sentence otherwise. */
const struct exercise *suite_one(const char *typed, char *why, size_t size);

/* ---- grading (grade.c) --------------------------------------------------------------------- */

struct grade_options {
  const char *root;            /* folder of the workbook; NULL: found from the program's place */
  const char *from;            /* "exercises", "solutions", "starters" or a submission */
  const char *device;          /* "sim", "cuda", "auto" */
  uint64_t seed;               /* 0: a fresh secret one */
  unsigned jobs;               /* exercises prepared at a time; 0: number of cores */
  int toolchain;               /* enum toolchain_kind */
  const struct exercise *const *only;   /* grade_run without an id: these; none: all */
  size_t nonly;
  bool untouched;              /* run tests of an untouched starter, too; it earns nothing still */
  char *why;                   /* NULL, or WHY_SIZE bytes for a sentence when grading failed */
};
enum { WHY_SIZE = 512 };

/* Grades one exercise (or all when id is NULL).  0: graded, whatever the score; 2: no such
 * exercise or folder, `why` says; 3: something was not graded, which is our fault.  Sets SIGPIPE
 * to ignored. */
int grade_run(const struct grade_options *options, const char *id, struct grade_record *out);

/* ---- the workbook's folders (files.c) ------------------------------------------------------ */

/* The folder that holds exercises/ and grader/: `given`, or found upwards from the program or
 * from the current folder.  False, and one sentence in `why`, when there is none. */
bool suite_root(const char *given, char *root, size_t size, char *why, size_t why_size);

/* The starters as they were given out, laid out like exercises/, which the student edits. */
#define SUITE_STARTERS "grader/starters"

/* Where `from` is: "exercises", "solutions" and "starters" (SUITE_STARTERS) under the root, else as
 * it is typed. */
bool suite_folder(const char *root, const char *from, char *out, size_t size);

enum { SUITE_FILE_LIMIT = 1 << 20 };      /* bytes of a student's file */

/* Reads a student's file: a regular file of at most SUITE_FILE_LIMIT bytes, reached through no
 * symbolic link below `folder`, with no zero byte.  NULL and a sentence in `why` otherwise;
 * *missing tells an absent file from a refused one. */
char *suite_read(const char *folder, const struct exercise *x, size_t *length, bool *missing,
                 char *why, size_t why_size);

/* Does a folder hold the file of any exercise, or nothing at all?  Else one sentence says what was expected there and,
 * where that can be seen, which folder was meant. */
bool suite_holds_work(const char *folder, const char *from, char *why, size_t size);

/* "04-padding" of "04-padding/transpose". */
void suite_chapter(const struct exercise *x, char *out, size_t size);

#endif
