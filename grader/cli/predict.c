/* banks predict: the time of the exercises' kernels on a described card, from the simulator's counts
 * (model/predict.h), beside measured times where there are some. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "model/predict.h"
#include "suites/plan.h"
#include "toolchain/toolchain.h"

enum { SIZES = 3, FROMS = 4, IDS = 200, CARDS = 16, SECONDS = 110 };

static const char usage[] =
  "usage: banks predict EXERCISE...|--all [--from DIR]... [--card NAME] [--size 0|1|2]\n"
  "                     [--against FILE] [--save FILE] [--speedups FILE] [--root DIR]\n"
  "  Simulates the kernels at the sizes they are timed at and predicts their time.\n"
  "  --from DIR      default: exercises and solutions, whose ratio is the speed-up\n"
  "  --card NAME     a row of plots/data/cards.tsv; default H200\n"
  "  --against FILE  an exercises.tsv that `banks measure` wrote, to compare with\n"
  "  --save FILE     the times, tab separated\n"
  "  --speedups FILE the ratios of the first folder's times to the second's\n";

struct options {
  const char *froms[FROMS], *ids[IDS], *card, *against, *save, *speedups, *root;
  size_t nfroms, nids;
  int size;                    /* -1: all */
  bool all;
};

static int parse(int argc, char **argv, struct options *o)
{
  *o = (struct options){.card = "H200", .size = -1};
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i], *size = NULL;
    const char **to = !strcmp(arg, "--card") ? &o->card : !strcmp(arg, "--against") ? &o->against
                      : !strcmp(arg, "--save") ? &o->save : !strcmp(arg, "--root") ? &o->root
                      : !strcmp(arg, "--speedups") ? &o->speedups
                      : !strcmp(arg, "--size") ? &size
                      : !strcmp(arg, "--from") && o->nfroms < FROMS ? &o->froms[o->nfroms] : NULL;
    if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      fputs(usage, stdout);
      return CLI_OK;
    } else if (!strcmp(arg, "--all")) {
      o->all = true;
    } else if (to && i + 1 < argc && *argv[i + 1]) {
      *to = argv[++i];
      if (!strcmp(arg, "--from")) o->nfroms++;
      if (size && (strlen(size) != 1 || *size < '0' || *size >= '0' + SIZES)) {
        fprintf(stderr, "banks: --size '%s': expected 0, 1 or 2\n", size);
        return CLI_USAGE;
      }
      if (size) o->size = *size - '0';
    } else if (*arg != '-' && o->nids < IDS) {
      char unknown[WHY_SIZE];
      const struct exercise *x = suite_one(arg, unknown, sizeof unknown);
      if (!x || !x->bench) {
        if (x) fprintf(stderr, "banks: %s is not timed\n", x->id);
        else fprintf(stderr, "banks: %s\n", unknown);
        return CLI_USAGE;
      }
      o->ids[o->nids++] = x->id;
    } else {
      fprintf(stderr, "banks: predict: '%s' is not understood; `banks predict --help`\n", arg);
      return CLI_USAGE;
    }
  }
  if (!o->nfroms) o->froms[o->nfroms++] = "exercises", o->froms[o->nfroms++] = "solutions";
  if (o->all != (o->nids > 0)) return -1;
  fprintf(stderr, "banks: predict needs the name of an exercise, or --all\n");
  return CLI_USAGE;
}

/* ---- tables -------------------------------------------------------------------------------- */

static size_t split(char *line, char *fields[], size_t most)
{
  size_t n = 0;
  line[strcspn(line, "\n")] = 0;
  for (char *p = line; p && n < most;) fields[n++] = strsep(&p, "\t");
  return n;
}

static bool read_card(const char *root, const char *name, struct predict_card *c)
{
  char path[600], line[512], *f[16], known[256] = "";
  size_t told = 0;
  snprintf(path, sizeof path, "%.500s/plots/data/cards.tsv", root);
  FILE *in = fopen(path, "re");
  if (!in) {
    fprintf(stderr, "banks: %s: %s\n", path, strerror(errno));
    return false;
  }
  bool found = false;
  for (int number = 1; fgets(line, sizeof line, in); number++) {
    if (*line == '#' || !strncmp(line, "name\t", 5)) continue;
    if (split(line, f, 16) != 14) {
      fprintf(stderr, "banks: %s:%d: expected 14 columns\n", path, number);
      fclose(in);
      return false;
    }
    if (told < sizeof known - 20)
      told += (size_t)snprintf(known + told, sizeof known - told, "%s%.15s", told ? ", " : "", f[0]);
    if (strcasecmp(f[0], name)) continue;
    found = true;
    *c = (struct predict_card){.sms = atof(f[1]), .ghz = atof(f[2]), .copy_gbs = atof(f[3]),
                               .l2_mib = atof(f[4]), .l2_gbs = atof(f[5]), .start_us = atof(f[6]),
                               .latency_ns = atof(f[7]), .loop = atof(f[8]),
                               .shared_bytes = atof(f[9]), .reserved_bytes = atof(f[10]),
                               .max_threads = atof(f[11]), .max_blocks = atof(f[12]),
                               .measured = !strcmp(f[13], "measured")};
    snprintf(c->name, sizeof c->name, "%s", f[0]);
    snprintf(c->source, sizeof c->source, "%s", f[13]);
  }
  fclose(in);
  if (found && c->sms > 0 && c->ghz > 0 && c->copy_gbs > 0 && c->l2_gbs > 0) return true;
  fprintf(stderr, found ? "banks: %s: the row of %s has a figure that is not above 0\n"
                        : "banks: %s has no card %s; it has: %s\n", path, name, known);
  return false;
}

/* The measured milliseconds of a row of exercises.tsv; 0 when there is none. */
static double measured(const char *path, const char *from, const char *id, int size,
                       uint32_t *resident)
{
  char line[512], *f[16];
  double ms = 0;
  FILE *in = path ? fopen(path, "re") : NULL;
  while (in && fgets(line, sizeof line, in)) {
    if (*line == '#' || split(line, f, 16) < 10) continue;
    if (strcmp(f[0], from) || strcmp(f[1], id) || atoi(f[2]) != size) continue;
    ms = atof(f[4]);
    *resident = (uint32_t)atoi(f[8]);
  }
  if (in) fclose(in);
  return ms;
}

/* ---- counting ------------------------------------------------------------------------------ */

struct row {
  const char *from, *id;
  int size;
  struct predict_kernel k;     /* sums of its launches, except what a block has */
  struct predict_time t;
  double predicted, measured;  /* microseconds; measured 0: not */
};

static bool count(const struct exercise *x, const struct compiled *c, int size, struct row *row,
                  const struct predict_card *card)
{
  struct rng r;
  struct outcome o;
  struct plan *p = plan_new(1, x->id);
  rng_seed(&r, 1, x->id);
  x->bench(p, &r, size);
  struct job *job = &p->job;
  snprintf(job->device, sizeof job->device, "sim");
  job->options = (struct sim_options){.no_checks = true};
  job->ptx = (unsigned char *)c->code;
  job->ptx_size = c->code_size;
  for (size_t i = 0; i < job->nbuffers; i++) job->buffers[i].returned = false;
  job_run(job, SECONDS, &o);
  job->ptx = NULL;
  bool good = o.end == JOB_RAN && o.nlaunches == job->nlaunches;
  for (size_t i = 0; good && i < o.nlaunches; i++) {
    const struct sim_result *s = &o.launches[i];
    const struct sim_totals *t = &s->totals;
    const struct job_launch *l = &job->launches[i];
    if (s->nfaults || !s->completed) {
      fprintf(stderr, "banks: %s/%s: %s\n", row->from, x->id,
              s->nfaults ? s->faults[0].text : "it did not complete");
      good = false;
      break;
    }
    struct predict_kernel k = {
      .blocks = t->blocks, .threads = l->block[0] * l->block[1] * l->block[2],
      .shared_bytes = s->static_shared + s->dynamic_shared, .resident = row->k.resident,
      .sectors = t->global_load.sectors + t->global_store.sectors + t->global_atomic.sectors,
      .global_requests = t->global_load.requests + t->global_store.requests +
                         t->global_atomic.requests,
      .wavefronts = t->shared_load.wavefronts + t->shared_store.wavefronts +
                    t->shared_atomic.wavefronts,
      .warp_instructions = t->warp_instructions, .barriers = t->barriers};
    for (size_t n = 0; n < s->nsites; n++)
      if (s->sites[n].op == MODEL_ATOM_LOOP || s->sites[n].op == MODEL_ATOM_LOOP64)
        k.loop_wavefronts += s->sites[n].wavefronts;
    k.wavefronts -= k.loop_wavefronts;
    /* A launch reads and writes what it names, each once at least. */
    for (uint32_t a = 0; a < l->nargs; a++)
      if (l->args[a].buffer != JOB_VALUE)
        k.memory_bytes += job->buffers[l->args[a].buffer].bytes *
                          (p->roles[l->args[a].buffer] == BUFFER_INOUT ? 2 : 1);
    row->t = predict_kernel(card, &k);
    row->predicted += row->t.us;
    k.wavefronts += row->k.wavefronts;
    k.loop_wavefronts += row->k.loop_wavefronts;
    row->k = k;
  }
  if (o.end != JOB_RAN)
    fprintf(stderr, "banks: %s/%s at size %d: %s\n", row->from, x->id, size,
            o.end == JOB_SLOW ? "the simulation took too long" : o.why);
  outcome_free(&o);
  plan_free(p);
  return good;
}

/* ---- telling ------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_row(const struct row *r)
{
  printf("  %-10s %-26s %4d %10.1f us", r->from, r->id, r->size, r->predicted);
  if (r->measured > 0)
    printf("  measured %10.1f us  %+5.0f %%", r->measured,
           100 * (r->predicted / r->measured - 1));
  printf("   by %s", predict_term_name(r->t.limit));
  for (int i = 0; i < PREDICT_TERMS; i++)
    printf("%s%s %.1f", i ? ", " : " (", predict_term_name((enum predict_term)i), r->t.terms[i]);
  printf(")\n");
}

/* Speed-ups from the first folder to the second. */
static void print_speedups(const struct row *rows, size_t n, const struct options *o, FILE *save)
{
  double errors[IDS * SIZES];
  size_t count = 0;
  if (o->nfroms < 2) return;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n && count < IDS * SIZES; k++) {
      const struct row *a = &rows[i], *b = &rows[k];
      if (strcmp(a->from, o->froms[0]) || strcmp(b->from, o->froms[1]) || strcmp(a->id, b->id) ||
          a->size != b->size)
        continue;
      double predicted = a->predicted / b->predicted, got = 0;
      if (a->measured > 0 && b->measured > 0) got = a->measured / b->measured;
      printf("  %-26s %4d  speed-up %6.2f", a->id, a->size, predicted);
      if (got > 0) printf("  measured %6.2f  %+5.0f %%", got, 100 * (predicted / got - 1));
      printf("\n");
      if (save) fprintf(save, "%s\t%d\t%.4f\t%.4f\n", a->id, a->size, predicted, got);
      if (got > 0) errors[count++] = fabs(predicted / got - 1);
    }
  if (!count) return;
  qsort(errors, count, sizeof *errors, ascending);
  printf("speed-ups: median error %.0f %%, worst %.0f %%, of %zu\n", 100 * errors[count / 2],
         100 * errors[count - 1], count);
}

static bool selected(const struct options *o, const struct exercise *x)
{
  if (!x->bench) return false;
  for (size_t i = 0; i < o->nids; i++)
    if (!strcmp(o->ids[i], x->id)) return true;
  return o->all;
}

static bool one(const struct options *o, const char *folder, const char *from,
                const struct exercise *x, const struct predict_card *card, struct row *rows,
                size_t *n)
{
  char path[800];
  struct compiled c;
  snprintf(path, sizeof path, "%.500s/%.*s/%.100s", folder, (int)strcspn(x->id, "/"), x->id,
           x->file);
  toolchain_cuda(path, x->file, TOOLCHAIN_AUTO, &c);
  bool good = c.ok;
  if (!good) fprintf(stderr, "banks: %s/%s: %s\n", from, x->id, c.summary);
  for (int size = 0; good && size < SIZES; size++) {
    if (o->size >= 0 && size != o->size) continue;
    struct row *row = &rows[*n];
    *row = (struct row){.from = from, .id = x->id, .size = size};
    row->measured = 1000 * measured(o->against, from, x->id, size, &row->k.resident);
    if ((good = count(x, &c, size, row, card))) {
      print_row(row);
      fflush(stdout);
      ++*n;
    }
  }
  compiled_free(&c);
  return good;
}

static bool open_to(const char *path, const char *option, FILE **f)
{
  if (!path || (*f = fopen(path, "we"))) return true;
  fprintf(stderr, "banks: %s %s: %s\n", option, path, strerror(errno));
  return false;
}

static void save_rows(const struct row *rows, size_t n, const struct predict_card *c, FILE *to)
{
  fprintf(to, "# Times of the exercises' kernels, predicted for %s; measured_us 0: not measured.\n"
          "from\texercise\tsize\tpredicted_us\tmeasured_us\tlimit", c->name);
  for (int i = 0; i < PREDICT_TERMS; i++)
    fprintf(to, "\t%s_us", predict_term_name((enum predict_term)i));
  for (size_t k = 0; k < n; k++) {
    const struct row *r = &rows[k];
    fprintf(to, "\n%s\t%s\t%d\t%.2f\t%.2f\t%s", r->from, r->id, r->size, r->predicted,
            r->measured, predict_term_name(r->t.limit));
    for (int i = 0; i < PREDICT_TERMS; i++) fprintf(to, "\t%.2f", r->t.terms[i]);
  }
  fprintf(to, "\n");
}

int command_predict(int argc, char **argv)
{
  struct options o;
  struct predict_card card;
  char root[512], folder[512], why[256];
  int status = parse(argc, argv, &o);
  if (status >= 0) return status;
  if (!suite_root(o.root, root, sizeof root, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    return CLI_USAGE;
  }
  if (!read_card(root, o.card, &card)) return CLI_USAGE;
  FILE *against = o.against ? fopen(o.against, "re") : NULL;
  if (o.against && !against) {
    fprintf(stderr, "banks: --against %s: %s\n", o.against, strerror(errno));
    return CLI_USAGE;
  }
  if (against) fclose(against);
  FILE *save = NULL, *ratios = NULL;
  if (!open_to(o.save, "--save", &save) || !open_to(o.speedups, "--speedups", &ratios)) {
    if (save) fclose(save);
    return CLI_USAGE;
  }
  struct row *rows = calloc(IDS * SIZES * FROMS, sizeof *rows);
  size_t n = 0;
  bool good = rows != NULL;
  printf("on %s (%s)\n", card.name, card.source);
  for (size_t f = 0; rows && f < o.nfroms; f++) {
    if (!suite_folder(root, o.froms[f], folder, sizeof folder)) {
      fprintf(stderr, "banks: --from %s: there is no such folder\n", o.froms[f]);
      free(rows);
      if (save) fclose(save);
      if (ratios) fclose(ratios);
      return CLI_USAGE;
    }
    for (size_t i = 0; suites[i]; i++)
      for (const struct exercise *x = suites[i]->exercises; x->id; x++)
        if (selected(&o, x)) good &= one(&o, folder, o.froms[f], x, &card, rows, &n);
  }
  if (save && rows) save_rows(rows, n, &card, save);
  if (ratios)
    fprintf(ratios, "# Speed-ups of %s to %s predicted for %s; measured 0: not.\n"
            "exercise\tsize\tpredicted\tmeasured\n", o.froms[0], o.froms[o.nfroms > 1], card.name);
  if (rows) print_speedups(rows, n, &o, ratios);
  if (save && fclose(save)) good = false;
  if (ratios && fclose(ratios)) good = false;
  free(rows);
  return good ? CLI_OK : CLI_FAILED;
}
