/* banks prove: the simulator's wavefronts beside a GPU's counters.
 *
 * The tests of every exercise run on the simulator; then the same launches run once more in one
 * worker under Nsight Compute, and the two are compared by kernel and by source line (prove/).
 * With --record the profiler's tables stay; --replay compares with such tables, anywhere. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/prove_own.h"
#include "prove/count.h"
#include "prove/proof.h"

enum { FROMS = 4, IDS = 200, MOST_LAUNCHES = 4, SECONDS = 400 };

static const char usage[] =
  "usage: banks prove EXERCISE...|--all [--from DIR]... [--save FILE]\n"
  "       banks prove FILE KERNEL --grid X[,Y[,Z]] --block X[,Y[,Z]] ARGUMENT...\n"
  "       banks prove --list FILE\n"
  "  Counts the wavefronts of the exercises' kernels with Nsight Compute on the GPU and prints them\n"
  "  beside the simulator's, by kernel and source line.\n"
  "  --all          every kernel exercise\n"
  "  --from DIR     exercises (the default), solutions or a submission; may be given again\n"
  "  --save FILE    the table, tab separated\n"
  "  --record DIR   keep the profiler's tables in DIR\n"
  "  --replay DIR   compare with tables kept earlier: needs no GPU\n"
  "  --most N       launches of a test that are counted; default 4\n"
  "  --seconds N    time for the profiler; default 400\n"
  "  --seed N       draw the same inputs as an earlier run\n"
  "  --root DIR     the workbook's folder, when it is not found by itself\n"
  "The second form is of your own kernel, typed as for `banks profile`: its counts by kind and line,\n"
  "and its buffers afterwards, on the GPU and on the simulator.  In the third FILE has such a\n"
  "command line (without `banks prove`) in each row.  --save, --record, --replay, --seconds as above.\n";

struct options {
  const char *froms[FROMS], *ids[IDS], *save, *record, *replay, *root;
  size_t nfroms, nids;
  uint64_t seed;
  unsigned most, seconds;
  bool all;
};

static bool number(const char *text, uint64_t *to)
{
  char *end;
  errno = 0;
  *to = strtoull(text, &end, 10);
  return !errno && end != text && !*end && *text != '-' && *to > 0;
}

static int parse(int argc, char **argv, struct options *o)
{
  uint64_t n;
  *o = (struct options){.seed = 20261129, .most = MOST_LAUNCHES, .seconds = SECONDS};
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    const char **text = !strcmp(arg, "--save") ? &o->save : !strcmp(arg, "--record") ? &o->record
                        : !strcmp(arg, "--replay") ? &o->replay
                        : !strcmp(arg, "--root") ? &o->root
                        : !strcmp(arg, "--from") && o->nfroms < FROMS ? &o->froms[o->nfroms] : NULL;
    bool counted = !strcmp(arg, "--most") || !strcmp(arg, "--seconds") || !strcmp(arg, "--seed");
    if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      fputs(usage, stdout);
      return CLI_OK;
    } else if (!strcmp(arg, "--all")) {
      o->all = true;
    } else if (text && value && *value) {
      *text = value;
      if (!strcmp(arg, "--from")) o->nfroms++;
      i++;
    } else if (counted && value && number(value, &n)) {
      if (!strcmp(arg, "--seed")) o->seed = n;
      else *(!strcmp(arg, "--most") ? &o->most : &o->seconds) = n < 100000 ? (unsigned)n : 100000;
      i++;
    } else if (*arg != '-' && o->nids < IDS) {
      char unknown[WHY_SIZE];
      const struct exercise *x = suite_one(arg, unknown, sizeof unknown);
      if (!x || x->kind != EXERCISE_KERNEL) {
        if (x) fprintf(stderr, "banks: %s has no kernel to count\n", x->id);
        else fprintf(stderr, "banks: %s\n", unknown);
        return CLI_USAGE;
      }
      o->ids[o->nids++] = x->id;
    } else {
      fprintf(stderr, "banks: prove: '%s' is not understood; `banks prove --help`\n", arg);
      return CLI_USAGE;
    }
  }
  if (!o->nfroms) o->froms[o->nfroms++] = "exercises";
  if (o->all == (o->nids > 0)) {
    fprintf(stderr, "banks: prove needs the name of an exercise, or --all\n");
    return CLI_USAGE;
  }
  return -1;
}

/* ---- what is launched ---------------------------------------------------------------------- */

struct launches {
  struct work *works;
  size_t nworks;
  struct grade_options options[FROMS];
  struct proof_launch *list;
  size_t n, skipped;
};

static bool selected(const struct options *o, const struct exercise *x)
{
  if (x->kind != EXERCISE_KERNEL) return false;
  for (size_t i = 0; i < o->nids; i++)
    if (!strcmp(o->ids[i], x->id)) return true;
  return o->all;
}

static void *need(void *p)
{
  if (p) return p;
  fprintf(stderr, "banks: out of memory\n");
  exit(CLI_OURS);
}

/* Tests of one exercise often share a plan: its launches are counted once. */
static bool planned_before(const struct work *w, size_t i)
{
  for (size_t k = 0; k < i; k++)
    if (w->items[k].test->plan == w->items[i].test->plan) return true;
  return false;
}

static void add_item(struct launches *l, struct work *w, struct item *it, const struct options *o)
{
  const struct outcome *out = &it->outcome;
  if (it->ours || it->failed || out->end != JOB_RAN) {
    fprintf(stderr, "banks: %s/%s, %s: left out: %s\n", w->options->from, w->exercise->id,
            it->test->name, it->ours ? it->ours : it->failed ? it->failed : "it did not run");
    l->skipped++;
    return;
  }
  for (size_t i = 0; i < out->nlaunches && i < o->most; i++) {
    const struct sim_result *r = &out->launches[i];
    if (!count_harmless(r)) {
      fprintf(stderr, "banks: %s/%s, %s: left out from launch %zu on: %s\n", w->options->from,
              w->exercise->id, it->test->name, i + 1,
              r->nfaults ? r->faults[0].text : "it did not complete");
      l->skipped++;
      break;
    }
    l->list = need(realloc(l->list, (l->n + 1) * sizeof *l->list));
    l->list[l->n++] = (struct proof_launch){w, it, i, it->plan->job.launches[i].kernel};
    it->plan->job.nlaunches = i + 1;      /* the GPU makes just these */
  }
}

static int prepare(const struct options *o, char *root, struct launches *l)
{
  static char folders[FROMS][512];
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  size_t most = 0;
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++) most++;
  l->works = need(calloc(most * o->nfroms + 1, sizeof *l->works));
  for (size_t f = 0; f < o->nfroms; f++) {
    l->options[f] = (struct grade_options){.root = root, .from = o->froms[f], .device = "sim",
                                               .untouched = true};
    if (!suite_folder(root, o->froms[f], folders[f], sizeof folders[f])) {
      fprintf(stderr, "banks: --from %s: there is no such folder\n", o->froms[f]);
      return CLI_USAGE;
    }
    for (size_t i = 0; suites[i]; i++)
      for (const struct exercise *x = suites[i]->exercises; x->id; x++) {
        if (!selected(o, x)) continue;
        struct work *w = &l->works[l->nworks++];
        work_init(w, x, &l->options[f], o->seed);
        w->root = root;
        w->folder = folders[f];
        w->sim_threads = 1;
      }
  }
  works_prepare(l->works, l->nworks, cores > 1 ? (unsigned)cores : 1);
  for (size_t i = 0; i < l->nworks; i++)
    for (size_t k = 0; k < l->works[i].nitems; k++)
      if (!planned_before(&l->works[i], k)) add_item(l, &l->works[i], &l->works[i].items[k], o);
  if (l->n) return -1;
  fprintf(stderr, "banks: there is no launch to count\n");
  return CLI_FAILED;
}

/* ---- the profiler -------------------------------------------------------------------------- */

static int profile(struct launches *l, const struct options *o, const char *folder)
{
  char jobs[600], name[128];
  if (!count_possible(name, sizeof name)) return CLI_OURS;
  snprintf(jobs, sizeof jobs, "%s/launches.bin", folder);
  FILE *f = fopen(jobs, "we");
  bool good = f != NULL;
  for (size_t i = 0; good && i < l->n; i++) {
    if (i && l->list[i].item == l->list[i - 1].item) continue;   /* one job an item */
    struct job job = l->list[i].item->plan->job;
    job.ptx = (unsigned char *)l->list[i].work->compiled.code;
    job.ptx_size = l->list[i].work->compiled.code_size;
    if (job.nlaunches > o->most) job.nlaunches = o->most;
    snprintf(job.device, sizeof job.device, "cuda");
    good = job_write(&job, f);
  }
  if (f && fclose(f)) good = false;
  if (!good) {
    fprintf(stderr, "banks: %s: %s\n", jobs, strerror(errno));
    return CLI_OURS;
  }
  return count_launches(folder, l->n, o->seconds) ? -1 : CLI_OURS;
}

/* The list of launches beside the tables: a replay must make the same ones. */
static bool list_launches(const struct launches *l, const struct options *o, const char *folder,
                          bool writing)
{
  char path[600], mine[512], theirs[512];
  snprintf(path, sizeof path, "%s/launches.txt", folder);
  FILE *f = fopen(path, writing ? "we" : "re");
  if (!f) {
    fprintf(stderr, "banks: %s: %s\n", path, strerror(errno));
    return false;
  }
  for (size_t i = 0; i <= l->n; i++) {
    const struct proof_launch *k = &l->list[i];
    if (i == l->n) snprintf(mine, sizeof mine, "seed %llu\n", (unsigned long long)o->seed);
    else snprintf(mine, sizeof mine, "%s\t%s\t%s\t%zu\t%s\n", k->work->options->from,
                  k->work->exercise->id, k->item->test->name, k->index, k->kernel);
    if (writing) {
      fputs(mine, f);
    } else if (!fgets(theirs, sizeof theirs, f) || strcmp(mine, theirs)) {
      fprintf(stderr, "banks: %s was recorded of other launches: line %zu is not '%.*s'. Give the "
              "same exercises, --from, --most and --seed\n", path, i + 1,
              (int)strcspn(mine, "\n"), mine);
      fclose(f);
      return false;
    }
  }
  return fclose(f) == 0;
}

/* ---- the command --------------------------------------------------------------------------- */

static bool read_tables(const struct launches *l, const char *folder, struct ncu_report *r)
{
  const char **kernels = need(calloc(l->n + 1, sizeof *kernels));
  for (size_t i = 0; i < l->n; i++) kernels[i] = l->list[i].kernel;
  bool good = count_tables(folder, kernels, l->n, r);
  free(kernels);
  return good;
}

static bool save(const struct proof *p, const struct options *o)
{
  char name[128], why[400], date[32];
  time_t now = time(NULL);
  FILE *f = fopen(o->save, "we");
  if (!f) {
    fprintf(stderr, "banks: --save %s: %s\n", o->save, strerror(errno));
    return false;
  }
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
  if (o->replay) snprintf(name, sizeof name, "replayed from %.100s", o->replay);
  else job_gpu(name, sizeof name, why, sizeof why);
  fprintf(f, "# Wavefronts of the exercises' kernels: the simulator's and the profiler's.\n"
          "# %s; %s %s; %s\n", name, "nvcc", toolchain_find()->nvcc_version, date);
  proof_save(p, f);
  return fclose(f) == 0;
}

int command_prove(int argc, char **argv)
{
  struct options o;
  struct launches l = {0};
  struct ncu_report report = {0};
  struct proof proof;
  char root[512], why[256], own[] = "/tmp/banks-prove-XXXXXX";
  if (prove_own_meant(argc - 1, argv + 1)) return prove_own(argc - 1, argv + 1);
  int status = parse(argc, argv, &o);
  if (status >= 0) return status;
  if (!suite_root(o.root, root, sizeof root, why, sizeof why)) {
    fprintf(stderr, "banks: %s\n", why);
    return CLI_USAGE;
  }
  status = prepare(&o, root, &l);
  const char *folder = o.replay ? o.replay : o.record;
  if (status < 0 && o.record && !o.replay && mkdir(o.record, 0755) && errno != EEXIST) {
    fprintf(stderr, "banks: --record %s: %s\n", o.record, strerror(errno));
    status = CLI_USAGE;
  }
  if (status < 0 && !folder) folder = mkdtemp(own);
  if (status < 0 && !folder) status = CLI_OURS;
  if (status < 0 && !list_launches(&l, &o, folder, !o.replay)) status = CLI_USAGE;
  if (status < 0 && !o.replay) status = profile(&l, &o, folder);
  if (status < 0 && !read_tables(&l, folder, &report)) status = CLI_OURS;
  if (status < 0) {
    proof_make(l.list, l.n, &report, 90, &proof);
    proof_print(&proof, stdout);
    status = proof_equal(&proof) ? CLI_OK : CLI_FAILED;
    if (o.save && !save(&proof, &o)) status = CLI_OURS;
    proof_free(&proof);
  }
  if (folder == own) count_tidy(folder, status == CLI_OURS);
  ncu_free(&report);
  for (size_t i = 0; i < l.nworks; i++) work_free(&l.works[i]);
  free(l.works);
  free(l.list);
  return status;
}
