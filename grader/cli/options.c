/* See options.h. */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "toolchain/toolchain.h"

static const struct {
  const char *name;
  unsigned bit;
  const char *value, *meaning;
} table[] = {
  {"--from", OPTION_FROM, "DIR", "grade this folder: exercises, solutions, or a submission"},
  {"--json", OPTION_JSON, "FILE", "write the result as JSON, too; -: to standard output, alone"},
  {"--seed", OPTION_SEED, "N", "draw the same inputs as an earlier run"},
  {"--jobs", OPTION_JOBS, "N", "exercises prepared at a time; default: the number of cores"},
  {"--toolchain", OPTION_TOOLCHAIN, "WHICH", "nvcc, clang or auto"},
  {"--device", OPTION_DEVICE, "WHICH", "sim, cuda (the simulator and the GPU, compared) or auto"},
  {"--root", OPTION_ROOT, "DIR", "the workbook's folder, when it is not found by itself"},
  {"--all", OPTION_ALL, NULL, "all at once"},
};

static void help(unsigned taken, const char *usage)
{
  printf("usage: banks %s\n", usage);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].bit & taken)
      printf("  %-11s %-6s %s\n", table[i].name, table[i].value ? table[i].value : "",
             table[i].meaning);
}

static bool number(const char *text, uint64_t most, uint64_t *out)
{
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 0);
  if (errno || end == text || *end || strchr(text, '-') || n == 0 || n > most) return false;
  *out = n;
  return true;
}

static const char *set(struct cli_options *o, unsigned bit, const char *value)
{
  struct grade_options *g = &o->grade;
  uint64_t n;
  switch (bit) {
  case OPTION_FROM: g->from = value; return *value ? NULL : "the name of a folder";
  case OPTION_JSON: o->json = value; return *value ? NULL : "the name of a file, or -";
  case OPTION_ROOT: g->root = value; return *value ? NULL : "the name of a folder";
  case OPTION_SEED:
    if (!number(value, UINT64_MAX, &n)) return "a whole number from 1";
    g->seed = n;
    return NULL;
  case OPTION_JOBS:
    if (!number(value, 64, &n)) return "a whole number from 1 to 64";
    g->jobs = (unsigned)n;
    return NULL;
  case OPTION_TOOLCHAIN:
    g->toolchain = !strcmp(value, "nvcc") ? TOOLCHAIN_NVCC
                   : !strcmp(value, "clang") ? TOOLCHAIN_CLANG : TOOLCHAIN_AUTO;
    return g->toolchain || !strcmp(value, "auto") ? NULL : "nvcc, clang or auto";
  case OPTION_DEVICE:
    g->device = value;
    return !strcmp(value, "sim") || !strcmp(value, "cuda") || !strcmp(value, "auto")
             ? NULL : "sim, cuda or auto";
  }
  return NULL;
}

int cli_parse(int argc, char **argv, unsigned taken, const char *usage, int least, int most,
              struct cli_options *o)
{
  memset(o, 0, sizeof *o);
  o->grade.from = "exercises";
  o->grade.device = "auto";
  o->grade.why = o->why;
  o->ids = argv;                          /* ids move to the front of argv */
  for (int i = 1; i < argc; i++) {
    char *arg = argv[i];
    if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      help(taken, usage);
      return CLI_OK;
    }
    if (arg[0] != '-') {
      if (!suite_find(arg)) {
        fprintf(stderr, "banks: there is no exercise '%s'; `banks list` names them\n", arg);
        return CLI_USAGE;
      }
      o->ids[o->nids++] = arg;
      continue;
    }
    size_t length = strcspn(arg, "="), k = 0;
    while (k < sizeof table / sizeof *table &&
           !((table[k].bit & taken) && strlen(table[k].name) == length &&
             !strncmp(arg, table[k].name, length)))
      k++;
    if (k == sizeof table / sizeof *table) {
      fprintf(stderr, "banks: unknown option '%s'; usage: banks %s\n", arg, usage);
      return CLI_USAGE;
    }
    if (!table[k].value) {
      o->all = true;
      continue;
    }
    const char *value = arg[length] == '=' ? arg + length + 1 : i + 1 < argc ? argv[++i] : "";
    const char *wanted = set(o, table[k].bit, value);
    if (wanted) {
      fprintf(stderr, "banks: %s '%s': expected %s\n", table[k].name, value, wanted);
      return CLI_USAGE;
    }
  }
  if (o->nids < least || o->nids > most) {
    fprintf(stderr, "banks: %s; usage: banks %s\n",
            o->nids < least ? "name an exercise, as `banks list` does" : "too many exercises",
            usage);
    return CLI_USAGE;
  }
  return -1;
}
