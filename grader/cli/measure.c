/* banks measure: what this machine's GPU takes for the accesses and kernels of the book. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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
    const struct exercise *x = suite_find(o->exercise);
    if (!x || !x->bench) {
      fprintf(stderr, x ? "banks: %s is not timed\n"
                        : "banks: there is no exercise '%s'; `banks list` names them\n",
              o->exercise);
      return CLI_USAGE;
    }
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

static bool run_sets(struct gpu *g, const struct options *o, const char *root)
{
  char path[600];
  struct compiled c;
  bool all = true;
  snprintf(path, sizeof path, "%.500s/plots/record/measure.cu", root);
  toolchain_cuda(path, "measure.cu", TOOLCHAIN_NVCC, &c);
  if (!c.ok) {
    fprintf(stderr, "banks: plots/record/measure.cu: %s\n", c.summary);
    compiled_free(&c);
    return false;
  }
  for (const struct measure_set *s = measure_sets; s->name; s++) {
    if (o->only && strcmp(o->only, s->name)) continue;
    double begin = seconds();
    *g->why = 0;
    bool good = gpu_load(g, c.code, c.code_size) && s->run(g);
    all &= good;
    printf("  %-12s %5.1f s%s%s\n", s->name, seconds() - begin, good ? "" : "  failed: ",
           good ? "" : g->why);
    fflush(stdout);
    if (good || !*g->device->broken) continue;
    gpu_close(g);                         /* a dead context: the next table gets a new one */
    if (!gpu_open(g)) break;
  }
  compiled_free(&c);
  return all;
}

int command_measure(int argc, char **argv)
{
  struct options o;
  struct gpu g = {0};
  char root[512], why[256];
  int status = parse(argc, argv, &o);
  if (status >= 0) return status;
  if (!suite_root(o.root, root, sizeof root, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    return CLI_USAGE;
  }
  if (!gpu_open(&g)) {
    fprintf(stderr, "banks: nothing to measure: %s. Recorded tables are in plots/data\n", g.why);
    return CLI_OURS;
  }
  if (mkdir(o.out, 0755) && errno != EEXIST) {
    fprintf(stderr, "banks: --out %s: %s\n", o.out, strerror(errno));
    gpu_close(&g);
    return CLI_USAGE;
  }
  g.folder = o.out;
  printf("%s, driver %s, %s -> %s\n", g.info.name, g.info.driver, g.toolkit, o.out);
  bool good = true;
  if (!o.only || strcmp(o.only, "exercises")) good = run_sets(&g, &o, root);
  if (g.device && (!o.only || !strcmp(o.only, "exercises"))) {
    double begin = seconds();
    *g.why = 0;
    bool timed = measure_exercises(&g, root, o.froms, o.exercise);
    printf("  %-12s %5.1f s%s%s\n", "exercises", seconds() - begin, timed ? "" : "  failed: ",
           timed ? "" : g.why);
    good &= timed;
  }
  gpu_close(&g);
  return good ? CLI_OK : CLI_OURS;
}
