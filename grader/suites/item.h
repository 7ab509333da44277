/* One test on its way through the grader: planned, run, judged.  Shared by prepare.c, check.c and
 * grade.c. */
#ifndef ITEM_H
#define ITEM_H

#include "suites/plan.h"
#include "toolchain/toolchain.h"

/* Seconds of wall time for one test, and for all tests of an exercise together, so that staying
 * just below each limit buys nothing.  An honest exercise takes less than one. */
enum { TEST_SECONDS = 20, ASK_SECONDS = 4, ASK_SLOW_SECONDS = 1, EXERCISE_SECONDS = 30, JUDGE_SECONDS = 60 };

struct item {
  const struct test *test;
  char label[128];             /* "04-padding/transpose/conflict free": whose numbers it draws */
  struct plan *plan;
  struct outcome outcome;      /* kernels */
  struct outcome gpu;          /* the same job on the GPU, if it ran there: see second.c */
  bool on_gpu;
  struct sandbox_result ran;   /* C exercises */
  char **answers;
  struct evidence evidence;
  struct ptx_module module;    /* only files[]: the grader itself never reads a student's PTX */
  const void **buffers, **before;
  const char **names;
  size_t *bytes;
  char *failed;                /* settled before any judge: the student's doing (missing, ...) */
  char *ours;                  /* not graded: our fault */
};

/* One exercise: its file and its tests. */
struct work {
  const struct exercise *exercise;
  const struct grade_options *options;
  const char *root, *folder;   /* folder: where `from` is */
  uint64_t seed;
  unsigned sim_threads;
  char path[512];              /* as messages call it: "exercises/04-padding/transpose.cu" */
  char *source;
  size_t source_size;
  bool same_as_starter;
  char note[160];              /* "changed outside the marks: line 12"; "": nothing to note */
  bool slow;                   /* a test met its time limit: the others get less */
  char compiler[64], device[160];
  struct compiled compiled;    /* kept while the tests live: prove runs the code once more */
  struct job_session *gpu;     /* the exercise's worker on the GPU; NULL: not used */
  struct item *items;
  size_t nitems;
  double began;                /* when its first test did, CLOCK_MONOTONIC */
  double judge_seconds;        /* 0: JUDGE_SECONDS */
};

/* grade.c: a work ready to be prepared; the caller sets root, folder and sim_threads. */
void work_init(struct work *w, const struct exercise *x, const struct grade_options *o,
               uint64_t seed);

/* prepare.c: reads, compiles and runs all tests of an exercise; leaves evidence or a reason. */
void work_prepare(struct work *w);
void works_prepare(struct work *works, size_t n, unsigned jobs);   /* side by side (grade.c) */
void work_free(struct work *w);

/* marks.c: is `text` other than the starter outside the marks?  Then `out` says where. */
bool marks_changed(const char *starter, const char *text, char *out, size_t size);

/* second.c: the GPU's word on a test the simulator's evidence was judged by. */
void work_second_run(struct work *w, struct item *it, double seconds);
void work_second_judge(const struct work *w, const struct item *it, struct verdict *v);

/* check.c: judges all items of an exercise in Check and checks that Check did so: every test ran
 * once and Check's result agrees with the verdict, else the verdict is `not_graded`. */
void work_judge(struct work *w, struct verdict *verdicts);

#endif
