/* banks measure: what this machine's GPU takes for the accesses and kernels of the book.
 *
 * A process of its own measures; when a kernel breaks its context, the next one goes on behind
 * that kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "measure/measure.h"
#include "toolchain/toolchain.h"

static const char usage[] =
  "usage: banks measure --out DIR [--only TABLE] [--exercise ID] [--from DIR]... [--root DIR]\n"
  "  Measures the GPU of this machine and writes tables to DIR (a folder of plots/data, for\n"
  "  make plots). Takes a few minutes.\n"
  "  --only TABLE     one table; the names are those of the files: strides, pitches, exercises ...\n"
  "  --exercise ID    exercises.tsv of this exercise only\n"
  "  --from DIR       whose kernels; default: exercises and solutions\n";

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct options {
  const char *out, *only, *exercise, *root, *froms[5];
  size_t nfroms;
};

static int parse(int argc, char **argv, struct options *o)
{
  memset(o, 0, sizeof *o);
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      fputs(usage, stdout);
      return CLI_OK;
    }
    const char **to = !strcmp(arg, "--out") ? &o->out : !strcmp(arg, "--only") ? &o->only
                      : !strcmp(arg, "--exercise") ? &o->exercise
                      : !strcmp(arg, "--root") ? &o->root
                      : !strcmp(arg, "--from") && o->nfroms < 4 ? &o->froms[o->nfroms++] : NULL;
    if (!to || i + 1 == argc || !*argv[i + 1]) {
      fprintf(stderr, "banks: measure: '%s' is not understood; `banks measure --help`\n", arg);
      return CLI_USAGE;
    }
    *to = argv[++i];
  }
  if (!o->nfroms) o->froms[o->nfroms++] = "exercises", o->froms[o->nfroms++] = "solutions";
  if (o->exercise) {
    char unknown[WHY_SIZE];
    const struct exercise *x = suite_one(o->exercise, unknown, sizeof unknown);
    if (!x || !x->bench) {
      if (x) fprintf(stderr, "banks: %s is not timed\n", x->id);
      else fprintf(stderr, "banks: %s\n", unknown);
      return CLI_USAGE;
    }
    o->exercise = x->id;
    o->only = "exercises";
  }
  bool known = !o->only || !strcmp(o->only, "exercises");
  for (const struct measure_set *s = measure_sets; s->name; s++)
    known |= o->only && !strcmp(o->only, s->name);
  if (o->out && known) return -1;
  if (!o->out) fprintf(stderr, "banks: measure needs --out DIR, the folder for its tables\n");
  else fprintf(stderr, "banks: there is no table '%s'\n", o->only);
  return CLI_USAGE;
}

/* What a process that measures shares with the one that started it: how far it came. */
struct progress { int set, exercise; bool failed, opened; char why[400]; };

static void run_sets(struct gpu *g, const struct options *o, const char *root,
                     volatile struct progress *p)
{
  char path[600];
  struct compiled c;
  int n = 0;
  snprintf(path, sizeof path, "%.500s/plots/record/measure.cu", root);
  toolchain_cuda(path, "measure.cu", TOOLCHAIN_NVCC, &c);
  if (!c.ok) {
    fprintf(stderr, "banks: plots/record/measure.cu: %s\n", c.summary);
    p->failed = true;
  }
  for (const struct measure_set *s = measure_sets; c.ok && s->name; s++) {
    if ((o->only && strcmp(o->only, s->name)) || n++ < p->set) continue;
    double begin = seconds();
    p->set = n;
    *g->why = 0;
    bool good = gpu_load(g, c.code, c.code_size) && s->run(g);
    if (!good) p->failed = true;
    printf("  %-12s %5.1f s%s%s\n", s->name, seconds() - begin, good ? "" : "  failed: ",
           good ? "" : g->why);
    fflush(stdout);
    if (*g->device->broken) _exit(CLI_FAILED);   /* the driver serves this process no more */
    gpu_free_buffers(g);
  }
  compiled_free(&c);
  p->set = 1000;
}

static void run_exercises(struct gpu *g, const struct options *o, const char *root,
                          volatile struct progress *p)
{
  double begin = seconds();
  *g->why = 0;
  bool good = measure_exercises(g, root, o->froms, o->exercise, &p->exercise);
  printf("  %-12s %5.1f s%s%s\n", "exercises", seconds() - begin, good ? "" : "  failed: ",
         good ? "" : g->why);
  fflush(stdout);
  if (!good) _exit(CLI_FAILED);
  p->exercise = -1;
}

/* In a process of its own, from where the last one came to. */
static void measure(const struct options *o, const char *root, struct progress *p)
{
  struct gpu g = {.folder = o->out};
  if (!gpu_open(&g)) {
    snprintf(p->why, sizeof p->why, "%s", g.why);
    _exit(CLI_OURS);
  }
  if (!p->opened)
    printf("%s, driver %s, %s -> %s\n", g.info.name, g.info.driver, g.toolkit, o->out);
  p->opened = true;
  fflush(stdout);
  bool exercises = !o->only || !strcmp(o->only, "exercises");
  if ((!o->only || !exercises) && p->set < 1000) run_sets(&g, o, root, p);
  if (exercises) run_exercises(&g, o, root, p);
  gpu_close(&g);
  _exit(CLI_OK);
}

int command_measure(int argc, char **argv)
{
  enum { TRIES = 100 };
  struct options o;
  char root[512], why[256];
  int status = parse(argc, argv, &o);
  if (status >= 0) return status;
  if (!suite_root(o.root, root, sizeof root, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    return CLI_USAGE;
  }
  if (mkdir(o.out, 0755) && errno != EEXIST) {
    fprintf(stderr, "banks: --out %s: %s\n", o.out, strerror(errno));
    return CLI_USAGE;
  }
  struct progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                            0);
  if (p == MAP_FAILED) return CLI_OURS;
  for (int i = 0; i < TRIES; i++) {
    int set = p->set, exercise = p->exercise;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) measure(&o, root, p);
    if (child < 0 || waitpid(child, &status, 0) != child) return CLI_OURS;
    if (WIFEXITED(status) && WEXITSTATUS(status) == CLI_OK) return p->failed ? CLI_OURS : CLI_OK;
    p->failed = true;
    if (p->set == set && p->exercise == exercise) break;   /* it would fail there again */
  }
  if (!p->opened) {
    fprintf(stderr, "banks: nothing to measure: %s. Recorded tables are in plots/data\n", p->why);
    rmdir(o.out);                         /* if it is empty */
  }
  return CLI_OURS;
}
