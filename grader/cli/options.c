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

/* Adds the exercises meant by `typed`; false with the error told. */
static bool take(struct cli_options *o, const char *typed, bool one)
{
  const struct exercise *found[SUITE_MOST];
  size_t n = one ? (found[0] = suite_one(typed, o->why, sizeof o->why)) != NULL
                 : suite_named(typed, found, SUITE_MOST, o->why, sizeof o->why);
  if (n == 0) fprintf(stderr, "banks: %s\n", o->why);
  for (size_t i = 0; i < n; i++) {
    bool twice = false;
    for (int k = 0; k < o->nids; k++) twice |= o->ids[k] == found[i];
    if (!twice && o->nids < SUITE_MOST) o->ids[o->nids++] = found[i];
  }
  return n > 0;
}

/* Adds ` name value`, quoted for a shell where it must be. */
static void with(char *out, size_t size, const char *name, const char *value)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  size_t n = strlen(out);
  bool quote = strspn(value, plain) != strlen(value);
  n += (size_t)snprintf(out + n, size - n, " %s %s", name, quote ? "'" : "");
  for (; *value && n + 8 < size; value++) {
    if (*value == '\'') n += (size_t)snprintf(out + n, size - n, "'\\''");
    else out[n++] = *value, out[n] = 0;
  }
  if (quote) snprintf(out + n, size - n, "'");
}

void cli_again(const struct cli_options *o, const char *id, uint64_t seed, char *out, size_t size)
{
  const struct grade_options *g = &o->grade;
  bool other = strcmp(g->from, "exercises") != 0, more = seed || g->toolchain || g->root;
  more |= strcmp(g->device, "auto") != 0 || (other && strpbrk(g->from, " '$#\\") != NULL);
  if (!more) {
    snprintf(out, size, "make check EX=%s%s%s", id, other ? " FROM=" : "", other ? g->from : "");
    return;
  }
  snprintf(out, size, "build/banks check %s", id);
  if (other) with(out, size, "--from", g->from);
  if (g->toolchain) with(out, size, "--toolchain", g->toolchain == TOOLCHAIN_NVCC ? "nvcc" : "clang");
  if (strcmp(g->device, "auto")) with(out, size, "--device", g->device);
  if (g->root) with(out, size, "--root", g->root);
  size_t n = strlen(out);
  if (seed) snprintf(out + n, size - n, " --seed %llu", (unsigned long long)seed);
}

int cli_parse(int argc, char **argv, unsigned taken, const char *usage, int least, int most,
              struct cli_options *o)
{
  memset(o, 0, sizeof *o);
  o->grade.from = "exercises";
  o->grade.device = "auto";
  o->grade.why = o->why;
  for (int i = 1; i < argc; i++) {
    char *arg = argv[i];
    if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      help(taken, usage);
      return CLI_OK;
    }
    if (arg[0] != '-') {
      if (!take(o, arg, most == 1)) return CLI_USAGE;
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
    if (o->nids < least)
      fprintf(stderr, "banks: name an exercise, as `make list` does: "
              "make %s EX=04-padding/transpose\n", argv[0]);
    else
      fprintf(stderr, "banks: too many exercises; usage: banks %s\n", usage);
    return CLI_USAGE;
  }
  return -1;
}
