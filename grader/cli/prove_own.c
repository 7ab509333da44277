/* See prove_own.h.
 *
 * Every launch runs on the simulator first; one that faults there is not let loose on the GPU.  Then
 * it runs on the GPU in a worker, for the buffers' bytes afterwards, and those that ended well run
 * once more in one worker under Nsight Compute.  With --record the folder keeps, beside the
 * profiler's tables (prove/count.h), launches.txt, the launches that were counted, and
 * outcomes.bin, what the worker answered to each; --replay reads them again. */
#define _GNU_SOURCE
#include "cli/prove_own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "prove/count.h"
#include "prove/own.h"

enum { SECONDS = 400, LAUNCH_SECONDS = 60, CAPABILITY = 90, WORDS = 128 };

struct options {
  const char *list, *save, *record, *replay;
  unsigned seconds;
};

struct launch {
  char *text, *words;          /* as typed, blanks between the words; a copy that was cut up */
  struct request q;
  unsigned char *after[JOB_BUFFERS];
  struct job job;
  struct outcome gpu;
  bool good;                   /* counted, or to be */
};

static void *need(void *p)
{
  if (p) return p;
  fprintf(stderr, "banks: out of memory\n");
  exit(CLI_OURS);
}

/* ---- what is asked -------------------------------------------------------------------------- */

static bool is_source(const char *word)
{
  size_t n = strlen(word);
  return (n > 3 && !strcmp(word + n - 3, ".cu")) || (n > 4 && !strcmp(word + n - 4, ".ptx"));
}

bool prove_own_meant(int argc, char **argv)
{
  for (int i = 0; i < argc; i++)
    if (!strcmp(argv[i], "--list") || !strcmp(argv[i], "--grid") ||
        !strncmp(argv[i], "--grid=", 7))
      return true;
  /* A kernel's name after a file: an exercise's path may end so, too, but stands alone. */
  for (int i = 0; i + 1 < argc; i++)
    if (is_source(argv[i]) && argv[i + 1][0] != '-' && !strchr(argv[i + 1], '/')) return true;
  return false;
}

/* Takes prove's own options out of the words; returns how many are left, -1 after telling why. */
static int take_options(int argc, char **argv, struct options *o)
{
  static const char *const names[] = {"--list", "--save", "--record", "--replay", "--seconds"};
  const char *seconds = NULL, **values[] = {&o->list, &o->save, &o->record, &o->replay, &seconds};
  int left = 0;
  *o = (struct options){.seconds = SECONDS};
  for (int i = 0; i < argc; i++) {
    size_t k = 0, length = strcspn(argv[i], "=");
    while (k < 5 && !(strlen(names[k]) == length && !strncmp(argv[i], names[k], length))) k++;
    if (k == 5) {
      argv[left++] = argv[i];
      continue;
    }
    const char *value = argv[i][length] ? argv[i] + length + 1 : i + 1 < argc ? argv[++i] : "";
    if (!*value) {
      fprintf(stderr, "banks prove: %s: its value is missing\n", names[k]);
      return -1;
    }
    *values[k] = value;
  }
  char *end = NULL;
  unsigned long n = seconds ? strtoul(seconds, &end, 10) : SECONDS;
  if (seconds && (*end || n == 0 || n > 100000 || *seconds == '-')) {
    fprintf(stderr, "banks prove: --seconds: expected a number from 1, found '%s'\n", seconds);
    return -1;
  }
  o->seconds = (unsigned)n;
  if (o->record && o->replay) {
    fprintf(stderr, "banks prove: --record and --replay exclude each other\n");
    return -1;
  }
  return left;
}

/* The words of the command line, as a row of a list would have them. */
static int begin(struct launch *l, int argc, char **argv)
{
  size_t size = 1;
  for (int i = 0; i < argc; i++) size += strlen(argv[i]) + 3;
  l->text = need(calloc(size, 1));
  for (int i = 0; i < argc; i++) {
    const char *quote = strchr(argv[i], ' ') ? "'" : "";
    sprintf(l->text + strlen(l->text), "%s%s%s%s", i ? " " : "", quote, argv[i], quote);
  }
  return request_parse(argc, argv, "prove", &l->q);
}

static int begin_row(struct launch *l, const char *row)
{
  char *words[WORDS];
  l->text = need(strdup(row));
  for (size_t n = strlen(row); n && strchr(" \t\r\n", row[n - 1]); n--) l->text[n - 1] = 0;
  for (char *p = l->text; *p; p++)
    if (*p == '\t') *p = ' ';               /* it becomes a field of a table */
  l->words = need(strdup(row));
  int n = request_words(l->words, words, WORDS);
  if (n >= 0) return request_parse(n, words, "prove", &l->q);
  fprintf(stderr, "banks prove: a row has more than %d words\n", WORDS);
  return CLI_USAGE;
}

static struct launch *more(struct launch **list, size_t *n)
{
  *list = need(realloc(*list, (*n + 1) * sizeof **list));
  memset(&(*list)[*n], 0, sizeof **list);
  return &(*list)[(*n)++];
}

/* A row is a command line without `banks prove`; `#` begins a comment. */
static int read_list(const char *path, struct launch **list, size_t *n)
{
  FILE *f = fopen(path, "re");
  char *line = NULL;
  size_t room = 0;
  int status = 0;
  if (!f) {
    fprintf(stderr, "banks prove: %s: %s\n", path, strerror(errno));
    return CLI_USAGE;
  }
  for (unsigned at = 1; status == 0 && getline(&line, &room, f) > 0; at++) {
    const char *row = line + strspn(line, " \t\r\n");
    if (!*row || *row == '#') continue;
    status = begin_row(more(list, n), row);
    if (status) fprintf(stderr, "banks prove: this was row %u of %s\n", at, path);
  }
  free(line);
  fclose(f);
  if (status == 0 && *n == 0) {
    fprintf(stderr, "banks prove: %s has no row\n", path);
    status = CLI_USAGE;
  }
  return status;
}

/* ---- the simulator, the GPU ----------------------------------------------------------------- */

static void leave_out(struct launch *l, const char *why)
{
  fprintf(stderr, "banks prove: left out: %s: %s\n", l->text, why);
  l->good = false;
}

/* 0 also where the launch is left out. */
static int simulate(struct launch *l)
{
  char why[300];
  struct request *q = &l->q;
  int status = request_load(q);
  if (status == 0) status = request_run(q);
  if (status) {
    fprintf(stderr, "banks prove: this was %s\n", l->text);
    return status;
  }
  for (size_t k = 0; k < q->nbuffers && k < JOB_BUFFERS; k++) {
    const struct argument *a = q->buffers[k];
    l->after[k] = need(malloc(a->bytes + 1));
    if (a->bytes) memcpy(l->after[k], sim_host(q->sim, a->address, a->bytes), a->bytes);
  }
  sim_close(q->sim);
  q->sim = NULL;
  l->good = true;
  if (!count_harmless(&q->result))
    leave_out(l, q->result.nfaults ? q->result.faults[0].text : "it did not complete");
  else if (!own_job(q, "cuda", &l->job, why, sizeof why))
    leave_out(l, why);
  return 0;
}

static void on_gpu(struct launch *list, size_t n)
{
  struct job_session *session = job_session_new();
  for (size_t i = 0; i < n; i++) {
    struct launch *l = &list[i];
    if (!l->good) continue;
    job_session_run(session, &l->job, LAUNCH_SECONDS, &l->gpu);
    const struct outcome *o = &l->gpu;
    if (o->end != JOB_RAN)
      leave_out(l, *o->why ? o->why : "the GPU did not end it in time");
    else if (o->nlaunches != 1 || o->launches[0].nfaults || !o->launches[0].completed)
      leave_out(l, o->nlaunches && o->launches[0].nfaults ? o->launches[0].faults[0].text
                   : "it did not complete on the GPU");
  }
  job_session_end(session);
}

/* ---- the folder ----------------------------------------------------------------------------- */

static FILE *open_in(const char *folder, const char *name, const char *mode)
{
  char path[600];
  snprintf(path, sizeof path, "%.500s/%s", folder, name);
  FILE *f = fopen(path, mode);
  if (!f) fprintf(stderr, "banks prove: %s: %s\n", path, strerror(errno));
  return f;
}

static bool write_folder(struct launch *list, size_t n, const char *folder)
{
  FILE *names = open_in(folder, "launches.txt", "we"), *jobs = open_in(folder, "launches.bin", "we");
  FILE *outcomes = open_in(folder, "outcomes.bin", "we");
  bool good = names && jobs && outcomes;
  for (size_t i = 0; good && i < n; i++) {
    if (!list[i].good) continue;
    good = fprintf(names, "%s\n", list[i].text) > 0 && job_write(&list[i].job, jobs) &&
           outcome_write(&list[i].gpu, &list[i].job, outcomes);
  }
  FILE *const files[] = {names, jobs, outcomes};
  for (int i = 0; i < 3; i++)
    if (files[i] && fclose(files[i])) good = false;
  if (!good) fprintf(stderr, "banks prove: %s could not be written\n", folder);
  return good;
}

/* What was recorded must be among these launches, in their order. */
static bool read_folder(struct launch *list, size_t n, const char *folder)
{
  FILE *names = open_in(folder, "launches.txt", "re"), *outcomes = open_in(folder, "outcomes.bin", "re");
  char *line = NULL;
  size_t room = 0, at = 0;
  bool good = names && outcomes;
  while (good && getline(&line, &room, names) > 0) {
    line[strcspn(line, "\n")] = 0;
    while (at < n && !(list[at].good && !strcmp(list[at].text, line))) {
      if (list[at].good) leave_out(&list[at], "it was not counted then");
      at++;
    }
    if (at == n) {
      fprintf(stderr, "banks prove: %s was recorded of other launches: '%s' is not asked now\n",
              folder, line);
      good = false;
    } else if (!outcome_read(&list[at].gpu, &list[at].job, outcomes)) {
      fprintf(stderr, "banks prove: %s/outcomes.bin is not what a GPU answered to '%s'\n", folder,
              line);
      good = false;
    } else {
      at++;
    }
  }
  for (; good && at < n; at++)
    if (list[at].good) leave_out(&list[at], "it was not counted then");
  free(line);
  if (names) fclose(names);
  if (outcomes) fclose(outcomes);
  return good;
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* The name as the profiler shows it, without what surrounds it in the mangled one. */
static void plain(const struct launch *l, char *to, size_t size)
{
  const char *name = l->q.kernel;
  size_t length;
  if (!ptx_plain_name(l->q.entry->name, &name, &length)) length = strlen(name);
  snprintf(to, size, "%.*s", (int)length, name);
}

static FILE *open_save(const struct options *o, const char *gpu)
{
  char date[32];
  time_t now = time(NULL);
  FILE *f = fopen(o->save, "we");
  if (!f) {
    fprintf(stderr, "banks prove: --save %s: %s\n", o->save, strerror(errno));
    return NULL;
  }
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
  fprintf(f, "# Whole kernels: the simulator's counts (requests, cost, ideal) and Nsight Compute's.\n"
          "# cost: wavefronts or sectors; computed: the profiler's, from addresses; counter: the "
          "hardware's.\n# buffers: their elements, how many differ between GPU and simulator.\n"
          "# %s%.100s; %s\n", o->replay ? "replayed from " : "", o->replay ? o->replay : gpu, date);
  own_save_header(f);
  return f;
}

static int compare(struct launch *list, size_t n, const struct options *o, const char *folder,
                   const char *gpu)
{
  size_t counted = 0, equal = 0, at = 0;
  struct ncu_report report = {0};
  char (*names)[256] = need(calloc(n + 1, sizeof *names));
  const char **kernels = need(calloc(n + 1, sizeof *kernels));
  for (size_t i = 0; i < n; i++)
    if (list[i].good) {
      plain(&list[i], names[counted], sizeof *names);
      kernels[counted] = names[counted];
      counted++;
    }
  bool good = count_tables(folder, kernels, counted, &report);
  FILE *save = good && o->save ? open_save(o, gpu) : NULL;
  struct lines lines = {0};
  const char *file = NULL;
  for (size_t i = 0; good && i < n; i++) {
    struct launch *l = &list[i];
    struct own own;
    if (!l->good) continue;
    if (!file || strcmp(file, l->q.file) || l->q.nflags) {
      bool first = !file;
      lines_free(&lines);
      lines_of(l->q.ptx, l->q.ptx_size, CAPABILITY, &lines);
      file = l->q.file;
      if (*lines.why && first) fprintf(stderr, "banks prove: %s\n", lines.why);
    }
    own_compare(&l->q, l->after, &l->gpu, &report.launches[at++], &lines, &own);
    printf("%s\n", l->text);
    own_print(&own, stdout);
    if (save) own_save(&own, l->text, save);
    equal += own_equal(&own);
    own_free(&own);
  }
  lines_free(&lines);
  ncu_free(&report);
  free(names);
  free(kernels);
  if (save && fclose(save)) good = false;
  if (!good || (o->save && !save)) return CLI_OURS;
  printf("%zu of %zu launches equal in every count and in every buffer", equal, counted);
  if (counted < n) printf("; %zu left out", n - counted);
  printf("\n");
  return equal == n ? CLI_OK : CLI_FAILED;
}

static int prove(struct launch *list, size_t n, const struct options *o)
{
  char gpu[128] = "", own[] = "/tmp/banks-prove-XXXXXX";
  const char *folder = o->replay ? o->replay : o->record;
  size_t good = 0;
  if (!o->replay && !count_possible(gpu, sizeof gpu)) return CLI_OURS;
  if (o->record && mkdir(o->record, 0755) && errno != EEXIST) {
    fprintf(stderr, "banks prove: --record %s: %s\n", o->record, strerror(errno));
    return CLI_USAGE;
  }
  if (!folder && !(folder = mkdtemp(own))) return CLI_OURS;
  int status = CLI_OURS;
  if (!o->replay) on_gpu(list, n);
  if (o->replay && !read_folder(list, n, folder)) return CLI_USAGE;
  for (size_t i = 0; i < n; i++) good += list[i].good;
  if (!good) {
    fprintf(stderr, "banks prove: there is no launch to count\n");
    status = CLI_FAILED;
  } else if (o->replay ||
             (write_folder(list, n, folder) && count_launches(folder, good, o->seconds))) {
    status = compare(list, n, o, folder, gpu);
  }
  if (folder == own) count_tidy(folder, status == CLI_OURS);
  return status;
}

static void end(struct launch *l)
{
  for (size_t k = 0; k < JOB_BUFFERS; k++) free(l->after[k]);
  free(l->job.buffers);        /* their bytes are the request's */
  free(l->job.launches);
  outcome_free(&l->gpu);
  request_free(&l->q);
  free(l->text);
  free(l->words);
}

int prove_own(int argc, char **argv)
{
  struct options o;
  struct launch *list = NULL;
  size_t n = 0;
  int words = take_options(argc, argv, &o), status = CLI_USAGE;
  if (words < 0) return CLI_USAGE;
  if (o.list && words)
    fprintf(stderr, "banks prove: with --list the launches stand in the file; '%s' does not "
            "belong here\n", argv[0]);
  else if (o.list)
    status = read_list(o.list, &list, &n);
  else
    status = begin(more(&list, &n), words, argv);
  for (size_t i = 0; status == 0 && i < n; i++) status = simulate(&list[i]);
  if (status == 0) status = prove(list, n, &o);
  for (size_t i = 0; i < n; i++) end(&list[i]);
  free(list);
  return status;
}
