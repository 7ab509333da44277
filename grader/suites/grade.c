/* Grading: prepare exercises side by side, judge them one after another, make one record.
 *
 * Preparing (compilers, workers) is where the time goes and runs in threads, one exercise each at
 * a time; judging forks under Check and runs when all threads are gone. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "report/report.h"
#include "suites/item.h"

struct batch {
  struct work *works;
  size_t n;
  atomic_size_t next;
};

static void *prepare_some(void *arg)
{
  struct batch *b = arg;
  for (size_t i; (i = atomic_fetch_add(&b->next, 1)) < b->n;) work_prepare(&b->works[i]);
  return NULL;
}

static void prepare_all(struct batch *b, unsigned jobs)
{
  pthread_t threads[64];
  unsigned started = 0;
  if (jobs > b->n) jobs = (unsigned)b->n;
  while (started + 1 < jobs && started < 64 &&
         pthread_create(&threads[started], NULL, prepare_some, b) == 0)
    started++;
  prepare_some(b);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

void works_prepare(struct work *works, size_t n, unsigned jobs)
{
  struct batch b = {.works = works, .n = n};
  signal(SIGPIPE, SIG_IGN);               /* a worker that dies must not take us along */
  prepare_all(&b, jobs);
}

static void *need(void *p)
{
  if (p) return p;
  fprintf(stderr, "banks: out of memory\n");
  exit(3);
}

void work_init(struct work *w, const struct exercise *x, const struct grade_options *o,
               uint64_t seed)
{
  memset(w, 0, sizeof *w);
  w->exercise = x;
  w->options = o;
  w->seed = seed;
  for (const struct test *t = x->tests; t->name; t++) w->nitems++;
  w->items = need(calloc(w->nitems + 1, sizeof *w->items));
  for (size_t i = 0; i < w->nitems; i++) {
    w->items[i].test = &x->tests[i];
    snprintf(w->items[i].label, sizeof w->items[i].label, "%s/%s", x->id, x->tests[i].name);
  }
}

/* An untouched starter: no points, and why; below it what the test said, if it ran. */
static void not_begun(const struct work *w, struct verdict *v)
{
  static struct verdict ran;              /* too large for the stack */
  ran = *v;
  memset(v, 0, sizeof *v);
  verdict_fail(v, "not begun yet: %s is identical to the starter", w->path);
  if (*ran.message) verdict_add(v, "%s%s", ran.share >= 1 ? "the starter passes this test: " : "",
                                ran.message);
}

/* Points come in hundredths, so that sums are the same everywhere. */
static double points(double share, double max)
{
  return share >= 1 ? max : (double)(long)(share * max * 100 + 0.5) / 100;
}

/* The beginning of what the student's code printed in a test; NULL: nothing. */
static char *printed(const struct item *it)
{
  enum { KEPT = 2000, FLOOD = 1 << 20 };
  const char *all = it->ran.out;
  size_t size = it->ran.out_size;
  bool cut = size >= FLOOD;
  for (size_t i = 0; i < it->outcome.nlaunches && !(all && *all); i++) {
    all = it->outcome.launches[i].printed;
    size = all ? strlen(all) : 0;
    cut = it->outcome.launches[i].printed_cut;
  }
  if (!all || !*all) return NULL;
  char *text = NULL;
  need(asprintf(&text, "%.*s%s", KEPT, all,
                cut ? "\n... a flood: most of it was thrown away" : size > KEPT ? "\n..." : "") < 0
         ? NULL : text);
  char *safe = record_text(text);
  free(text);
  return safe;
}

static void record_exercise(struct exercise_record *to, const struct work *w,
                            struct verdict *verdicts)
{
  snprintf(to->id, sizeof to->id, "%s", w->exercise->id);
  to->same_as_starter = w->same_as_starter;
  snprintf(to->note, sizeof to->note, "%s", w->note);
  to->tests = need(calloc(w->nitems + 1, sizeof *to->tests));
  to->ntests = w->nitems;
  for (size_t i = 0; i < w->nitems; i++) {
    struct test_record *t = &to->tests[i];
    struct verdict *v = &verdicts[i];
    v->message[sizeof v->message - 1] = 0;
    if (w->same_as_starter && !v->not_graded) not_begun(w, v);
    snprintf(t->name, sizeof t->name, "%s", w->items[i].test->name);
    t->max_score = w->items[i].test->points;
    t->printed = printed(&w->items[i]);
    if (v->not_graded) {
      t->status = TEST_NOT_GRADED;
      to->not_graded = true;
      char *text = NULL;
      need(asprintf(&text, "not graded, which is our fault and not yours: %s", v->message) < 0
             ? NULL : text);
      t->message = record_text(text);
      free(text);
    } else {
      t->status = v->share >= 1 ? TEST_PASSED : TEST_FAILED;
      t->score = points(v->share, t->max_score);
      t->message = record_text(v->message);
    }
    to->score += t->score;
    to->max_score += t->max_score;
  }
}

static bool judge_exercise(struct exercise_record *to, struct work *w)
{
  size_t bytes = (w->nitems + 1) * sizeof(struct verdict);
  struct verdict *verdicts =
    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (verdicts == MAP_FAILED) need(NULL);
  work_judge(w, verdicts);
  record_exercise(to, w, verdicts);
  munmap(verdicts, bytes);
  return !to->not_graded;
}

static int usage(const struct grade_options *o, const char *format, const char *what)
{
  if (o->why) snprintf(o->why, WHY_SIZE, format, what);
  return 2;
}

static bool wanted(const struct grade_options *o, const char *id, const struct exercise *x)
{
  if (id) return !strcmp(id, x->id);
  for (size_t i = 0; i < o->nonly; i++)
    if (o->only[i] == x) return true;
  return o->nonly == 0;
}

int grade_run(const struct grade_options *given, const char *id, struct grade_record *out)
{
  struct grade_options o = *given;
  char root[512], folder[512], why[256];
  memset(out, 0, sizeof *out);
  if (!o.from) o.from = "exercises";
  if (id && !suite_find(id))
    return usage(&o, "there is no exercise '%.100s'; `banks list` names them", id);
  if (!suite_root(o.root, root, sizeof root, why, sizeof why)) return usage(&o, "%s", why);
  if (!suite_folder(root, o.from, folder, sizeof folder))
    return usage(&o, "--from %.200s: there is no such folder", o.from);
  bool own = !strcmp(o.from, "exercises");  /* may be deleted: each says how to get it back */
  if (!own && !suite_holds_work(folder, o.from, o.why ? o.why : why, o.why ? WHY_SIZE : sizeof why))
    return 2;
  char gpu[128], no_gpu[400];
  const char *device = o.device ? o.device : "auto";
  bool found = strcmp(device, "sim") != 0 && job_gpu(gpu, sizeof gpu, no_gpu, sizeof no_gpu);
  if (!found && !strcmp(device, "cuda"))
    return usage(&o, "--device cuda: %.390s; --device sim grades everywhere", no_gpu);
  o.device = found ? "cuda" : "sim";
  signal(SIGPIPE, SIG_IGN);               /* a worker that dies must not take the grader along */
  uint64_t seed = o.seed;
  while (seed == 0)
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = 0;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (cores < 1) cores = 1;
  unsigned jobs = o.jobs ? o.jobs : (unsigned)cores;

  struct batch b = {0};
  size_t most = 0;
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++) most++;
  b.works = need(calloc(most + 1, sizeof *b.works));
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++)
      if (wanted(&o, id, x)) work_init(&b.works[b.n++], x, &o, seed);
  for (size_t i = 0; i < b.n; i++) {
    b.works[i].root = root;
    b.works[i].folder = folder;
    b.works[i].sim_threads = b.n == 1 ? (unsigned)cores : 1;   /* results do not depend on it */
  }
  prepare_all(&b, jobs);

  bool all = true;
  snprintf(out->device, sizeof out->device, "%s", o.device);
  out->seed = seed;
  out->exercises = need(calloc(b.n + 1, sizeof *out->exercises));
  out->nexercises = b.n;
  for (size_t i = 0; i < b.n; i++) {
    struct work *w = &b.works[i];
    all &= judge_exercise(&out->exercises[i], w);
    out->score += out->exercises[i].score;
    out->max_score += out->exercises[i].max_score;
    if (*w->device) snprintf(out->device, sizeof out->device, "%s", w->device);
    if (*w->compiler && w->exercise->kind == EXERCISE_KERNEL)
      snprintf(out->toolchain, sizeof out->toolchain, "%s", w->compiler);
    work_free(w);
  }
  free(b.works);
  return all ? 0 : 3;
}
