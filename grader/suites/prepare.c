/* From a student's file to evidence: read it, compile it, run each test's plan in a process of
 * its own, gather what came back.  Nothing here judges; what cannot be run is settled with a
 * reason. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "suites/item.h"

#define MEMORY_LIMIT (UINT64_C(1) << 30)

__attribute__((format(printf, 1, 2))) static char *text(const char *format, ...)
{
  char *s = NULL;
  va_list ap;
  va_start(ap, format);
  if (vasprintf(&s, format, ap) < 0) s = NULL;
  va_end(ap);
  if (s) return s;
  fprintf(stderr, "banks: out of memory\n");
  exit(3);
}

static void settle_all(struct work *w, bool ours, const char *message)
{
  for (size_t i = 0; i < w->nitems; i++) {
    char **to = ours ? &w->items[i].ours : &w->items[i].failed;
    free(*to);
    *to = text("%s", message);
  }
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Equal but for white space: an editor that only opened and saved a file did nothing to it. */
static bool same_text(const char *a, const char *b)
{
  for (;; a++, b++) {
    while (isspace((unsigned char)*a)) a++;
    while (isspace((unsigned char)*b)) b++;
    if (*a != *b || !*a) return *a == *b;
  }
}

/* An untouched starter earns nothing, wherever it is handed in from.  Only `--from starters`, which
 * names the starters themselves, judges them. */
static void compare_with_starter(struct work *w)
{
  char starters[600], why[256];
  bool missing;
  size_t size;
  snprintf(starters, sizeof starters, "%s/" SUITE_STARTERS, w->root);
  char *starter = suite_read(starters, w->exercise, &size, &missing, why, sizeof why);
  w->same_as_starter =
    starter && strcmp(w->options->from, "starters") && same_text(starter, w->source);
  if (starter && !w->same_as_starter)
    marks_changed(starter, w->source, w->note, sizeof w->note);
  free(starter);
}

static bool read_file(struct work *w)
{
  char why[256];
  bool missing;
  snprintf(w->path, sizeof w->path, "%s/%.*s/%s", w->options->from,
           (int)strcspn(w->exercise->id, "/"), w->exercise->id, w->exercise->file);
  w->source = suite_read(w->folder, w->exercise, &w->source_size, &missing, why, sizeof why);
  if (!w->source) {
    bool own = !strcmp(w->options->from, "exercises");
    char *message =
      missing && own ? text("%s is missing: no points for it\n  `make reset EX=%s` brings the "
                            "starter back", w->path, w->exercise->id)
      : missing ? text("%s is missing: no points for it", w->path)
                : text("%s: %s", w->path, why);
    settle_all(w, false, message);
    free(message);
    return false;
  }
  compare_with_starter(w);
  if (!w->same_as_starter || w->options->untouched) return true;
  settle_all(w, false, "");               /* grade.c says why */
  return false;
}

/* The compiler gets a copy of exactly the bytes that were read, under the name the student
 * knows. */
static bool copy_out(const struct work *w, char folder[64], char *path, size_t size)
{
  snprintf(folder, 64, "/tmp/banks-XXXXXX");
  if (!toolchain_temp(folder)) return false;
  snprintf(path, size, "%s/%s", folder, w->exercise->file);
  FILE *f = fopen(path, "wxe");
  bool mark = w->source_size >= 3 && !memcmp(w->source, "\xef\xbb\xbf", 3);
  size_t skip = mark ? 3 : 0, n = w->source_size - skip;
  bool ok = f && fwrite(w->source + skip, 1, n, f) == n;
  if (f && fclose(f)) ok = false;
  return ok;
}

/* ---- compiling ----------------------------------------------------------------------------- */

static void add(char **message, const char *line)
{
  char *longer = text("%s\n%s", *message, line);
  free(*message);
  *message = longer;
}

static char *diagnostics(const struct work *w, const struct compiled *c)
{
  enum { TOLD = 6 };
  char *message = text("%s does not compile%s%s%s", w->path, *c->compiler ? " (" : "", c->compiler,
                       *c->compiler ? ")" : "");
  size_t errors = 0, told = 0;
  for (size_t i = 0; i < c->ndiagnostics; i++) errors += c->diagnostics[i].error;
  for (size_t i = 0; i < c->ndiagnostics && told < TOLD; i++) {
    const struct diagnostic *d = &c->diagnostics[i];
    if (errors && !d->error) continue;    /* warnings would hide what has to be mended first */
    char *line = d->line ? text("%s:%u: %s: %s", w->path, d->line, d->error ? "error" : "warning",
                                d->text)
                         : text("%s: %s: %s", w->path, d->error ? "error" : "warning", d->text);
    add(&message, line);
    free(line);
    if (d->line && *d->source) {
      line = text("  %5u | %s", d->line, d->source + strspn(d->source, " \t"));
      add(&message, line);
      free(line);
    }
    told++;
  }
  if (told == 0 && *c->summary) add(&message, c->summary);
  if (errors > told) {
    char *line = text("and %zu more error%s", errors - told, errors - told == 1 ? "" : "s");
    add(&message, line);
    free(line);
  }
  return message;
}

static bool compile(struct work *w, struct compiled *c)
{
  char folder[64] = "", path[256] = "";
  const struct exercise *x = w->exercise;
  memset(c, 0, sizeof *c);
  if (!copy_out(w, folder, path, sizeof path)) {
    char *message = text("no room in /tmp to compile %s: %s", x->file, strerror(errno));
    settle_all(w, true, message);
    free(message);
  } else if (x->kind == EXERCISE_KERNEL) {
    toolchain_cuda(path, x->file, (enum toolchain_kind)w->options->toolchain, c);
  } else {
    toolchain_c(path, x->file, x->driver, x->header, c);
  }
  if (*path) unlink(path);
  if (*folder) rmdir(folder), toolchain_temp_done(folder);
  snprintf(w->compiler, sizeof w->compiler, "%s", c->compiler);
  if (w->items[0].ours) return false;
  if (c->our_fault) {
    settle_all(w, true, *c->summary ? c->summary : "the compiler could not be run");
    return false;
  }
  if (c->ok) return true;
  char *message = diagnostics(w, c);
  settle_all(w, false, "does not compile, so this test could not run");
  free(w->items[0].failed);
  w->items[0].failed = message;
  return false;
}

/* ---- running ------------------------------------------------------------------------------- */

static void *need(void *p)
{
  if (p) return p;
  fprintf(stderr, "banks: out of memory\n");
  exit(3);
}

static void kernel_evidence(struct item *it)
{
  struct evidence *e = &it->evidence;
  const struct job *job = &it->plan->job;
  size_t n = job->nbuffers;
  it->module.files = it->outcome.files;
  it->module.nfiles = it->outcome.nfiles;
  it->buffers = need(calloc(n + 1, sizeof *it->buffers));
  it->before = need(calloc(n + 1, sizeof *it->before));
  it->names = need(calloc(n + 1, sizeof *it->names));
  it->bytes = need(calloc(n + 1, sizeof *it->bytes));
  for (size_t i = 0; i < n; i++) {
    it->before[i] = job->buffers[i].data;
    it->buffers[i] = job->buffers[i].returned ? it->outcome.buffers[i] : job->buffers[i].data;
    it->names[i] = job->buffers[i].name;
    it->bytes[i] = job->buffers[i].bytes;
  }
  e->launches = it->outcome.launches;
  e->nlaunches = it->outcome.nlaunches;
  e->buffers = it->buffers;
  e->before = it->before;
  e->buffer_bytes = it->bytes;
  e->buffer_names = it->names;
  e->nbuffers = n;
  e->module = &it->module;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a test may take: its own limit, or what the tests before it left of the exercise's. */
static double seconds_left(const struct work *w, double own)
{
  double left = w->began + EXERCISE_SECONDS - now();
  return left >= own ? own : left > 1 ? (double)(int)left : left;   /* whole ones read better */
}

static void run_kernel(struct work *w, struct item *it, const struct compiled *c)
{
  struct job *job = &it->plan->job;
  snprintf(job->device, sizeof job->device, "sim");   /* marks are the simulator's, always */
  job->options = (struct sim_options){
    .threads = w->sim_threads, .step_budget = job->options.step_budget,
    .warp_budget = job->options.step_budget / 2, .memory_limit = MEMORY_LIMIT,
    .seed = w->seed ^ 0x5eed};
  job->ptx = (unsigned char *)c->code;
  job->ptx_size = c->code_size;
  job_run(job, seconds_left(w, TEST_SECONDS), &it->outcome);
  if (w->options->device && !strcmp(w->options->device, "cuda"))
    work_second_run(w, it, TEST_SECONDS);
  job->ptx = NULL;                        /* it is the compiler's, and job_free would free it */
  const struct outcome *o = &it->outcome;
  if (*o->device && !*w->device) snprintf(w->device, sizeof w->device, "%s", o->device);
  switch (o->end) {
  case JOB_RAN: kernel_evidence(it); break;
  case JOB_REFUSED:
    it->failed = o->why_line ? text("%s:%u: %s", w->path, o->why_line, o->why)
                             : text("%s: %s", w->path, o->why);
    break;
  case JOB_SLOW:
    it->failed = text("%s: stopped at the time limit (%d s a test, %d s an exercise): an endless "
                      "loop, or far more work than the exercise needs", w->path, TEST_SECONDS,
                      EXERCISE_SECONDS);
    break;
  case JOB_OURS: it->ours = text("%s", o->why); break;
  }
}

/* One line a question comes back, an empty one for none. */
static void split_answers(struct item *it, const char *answers)
{
  struct evidence *e = &it->evidence;
  size_t n = it->plan->nquestions;
  it->answers = need(calloc(n + 1, sizeof *it->answers));
  for (size_t i = 0; i < n; i++) {
    size_t length = strcspn(answers, "\n");
    if (length) it->answers[i] = text("%.*s", (int)length, answers);
    answers += length + (answers[length] == '\n');
  }
  e->nanswers = n;
  e->answers = (const char *const *)it->answers;
  e->questions = (const char *const *)it->plan->questions;
}

static void run_native(struct work *w, struct item *it, const struct compiled *c)
{
  char *questions = NULL;
  size_t size = 0;
  FILE *f = need(open_memstream(&questions, &size));
  for (size_t i = 0; i < it->plan->nquestions; i++) fprintf(f, "%s\n", it->plan->questions[i]);
  fclose(f);
  toolchain_ask(c, questions, seconds_left(w, w->slow ? ASK_SLOW_SECONDS : ASK_SECONDS), &it->ran);
  free(questions);
  const struct sandbox_result *r = &it->ran;
  w->slow |= r->end == SANDBOX_TIMED_OUT;   /* an endless loop is one in every test */
  if (r->end == SANDBOX_FAILED) {
    it->ours = text("%s", *r->why ? r->why : "the sandbox could not run the program");
    return;
  }
  split_answers(it, r->result ? r->result : "");
  if (*r->why) it->evidence.ended = r->why;
}

static void run_test(struct work *w, struct item *it, const struct compiled *c)
{
  const struct exercise *x = w->exercise;
  struct rng r;
  rng_seed(&r, w->seed, it->label);
  it->plan = plan_new(w->seed, it->label);
  if (it->test->plan) it->test->plan(it->plan, &r);
  it->evidence.seed = w->seed;
  it->evidence.file = w->path;
  it->evidence.source = w->source;
  it->evidence.text = w->source;
  it->evidence.names = x->names;
  size_t asked = x->kind == EXERCISE_KERNEL ? it->plan->job.nlaunches : it->plan->nquestions;
  if (*it->plan->error)
    it->ours = text("the test asks for something impossible: %s", it->plan->error);
  else if (x->kind != EXERCISE_PREDICT && asked == 0)
    it->ours = text("the test asks for nothing");
  else if (x->kind != EXERCISE_PREDICT && seconds_left(w, TEST_SECONDS) < 0.1)
    it->failed = text("%s: not run: the tests before it used up the %d s of the exercise", w->path,
                      EXERCISE_SECONDS);
  else if (x->kind == EXERCISE_KERNEL) run_kernel(w, it, c);
  else if (x->kind == EXERCISE_NATIVE) run_native(w, it, c);
}

void work_prepare(struct work *w)
{
  const struct exercise *x = w->exercise;
  if (!read_file(w)) return;
  if (x->kind != EXERCISE_PREDICT && !compile(w, &w->compiled)) return;
  w->began = now();
  for (size_t i = 0; i < w->nitems; i++) run_test(w, &w->items[i], &w->compiled);
  job_session_end(w->gpu);
  w->gpu = NULL;
}

void work_free(struct work *w)
{
  for (size_t i = 0; i < w->nitems; i++) {
    struct item *it = &w->items[i];
    for (size_t k = 0; it->plan && it->answers && k < it->plan->nquestions; k++)
      free(it->answers[k]);
    free(it->answers);
    if (w->exercise->kind == EXERCISE_NATIVE && it->plan) sandbox_result_free(&it->ran);
    outcome_free(&it->outcome);
    outcome_free(&it->gpu);
    plan_free(it->plan);
    free(it->buffers);
    free(it->before);
    free(it->names);
    free(it->bytes);
    free(it->failed);
    free(it->ours);
  }
  compiled_free(&w->compiled);
  free(w->items);
  free(w->source);
}
