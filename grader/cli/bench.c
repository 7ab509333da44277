/* banks bench: how fast the simulator is, in warp instructions a second.
 *
 * Every kernel's results are checked, so that a fast wrong simulator shows.  Counting and all
 * checks are on.  First on one core; then on 1, 2, 4 ... host threads, with larger sizes, so that
 * starting a thread is short against a launch, and with counts, faults and output bytes compared
 * with those of one thread.  Time differs from run to run; the host's instructions for a fixed
 * small piece of work do not, so a change to the simulator is judged by these. */
#include <errno.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "device/device.h"

__asm__(".section .rodata\n"
        "bench_ptx: .incbin \"grader/cli/bench/kernels.ptx\"\n"
        "bench_ptx_end: .byte 0\n"
        ".previous\n");
extern const char bench_ptx[], bench_ptx_end[];

enum { MOST_THREADS = 64 };

struct options {
  unsigned repeat, threads;
  bool no_checks;
  const char *once;
};

/* ---- one run of one kernel ---------------------------------------------------------------------- */

struct outcome {
  double best, cpu;            /* seconds of a launch, and of all cores together: the least */
  long long host;              /* the host's instructions in user space, -1: not counted */
  struct sim_result result;    /* of the last launch */
  void *out;                   /* and what it wrote */
  size_t bytes;
};

static double seconds(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A counter of this thread's instructions; -1 and errno where there is none. */
static int counter_open(void)
{
  struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE, .size = sizeof a,
                              .config = PERF_COUNT_HW_INSTRUCTIONS, .disabled = 1,
                              .exclude_kernel = 1, .exclude_hv = 1};
  return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

static void outcome_close(struct outcome *o)
{
  sim_result_free(&o->result);
  free(o->out);
  *o = (struct outcome){.out = NULL};
}

/* The parameter list: pointers, then one int. */
static size_t pack(uint8_t *out, const struct bench_job *j)
{
  memcpy(out, j->at, 8 * j->nbuffers);
  memcpy(out + 8 * j->nbuffers, &j->n, 4);
  return 8 * j->nbuffers + 4;
}

static bool launches(struct device *d, const struct bench_kernel *k, struct bench_job *j,
                     unsigned repeat, struct outcome *o)
{
  uint8_t raw[64];
  struct sim_launch l = {.kernel = k->name, .params = raw};
  memcpy(l.grid, j->grid, sizeof l.grid);
  memcpy(l.block, j->block, sizeof l.block);
  for (unsigned b = 0; b < j->nbuffers; b++) {
    const struct bench_buffer *buffer = &j->buffers[b];
    j->at[b] = device_sim.alloc(d, buffer->bytes, buffer->name, buffer->in != NULL);
    if (!j->at[b]) return false;
    if (buffer->in) device_sim.upload(d, j->at[b], buffer->in, buffer->bytes);
  }
  l.param_bytes = pack(raw, j);
  const unsigned last = j->nbuffers - 1;   /* the output: zero before each launch */
  o->bytes = j->buffers[last].bytes;
  o->best = o->cpu = 1e30;
  o->host = -1;
  o->out = calloc(1, o->bytes);
  int counter = counter_open();
  bool ok = o->out != NULL;
  for (unsigned r = 0; ok && r < repeat; r++) {
    double ms, start, start_cpu;
    long long host = 0;
    sim_result_free(&o->result);
    memset(o->out, 0, o->bytes);
    device_sim.upload(d, j->at[last], o->out, o->bytes);
    if (counter >= 0) ioctl(counter, PERF_EVENT_IOC_RESET, 0);
    if (counter >= 0) ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
    start = seconds(CLOCK_MONOTONIC);
    start_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    ok = device_sim.launch(d, &l, &o->result, &ms);
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
    double took = seconds(CLOCK_MONOTONIC) - start;
    if (counter >= 0) ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
    if (counter >= 0 && read(counter, &host, sizeof host) == sizeof host) o->host = host;
    if (took < o->best) o->best = took;
    if (cpu < o->cpu) o->cpu = cpu;
    if (!ok)
      fprintf(stderr, "banks bench: %s: %s\n", k->name,
              o->result.nfaults ? o->result.faults[0].text : "?");
  }
  if (counter >= 0) close(counter);
  return ok && device_sim.download(d, j->at[last], o->out, o->bytes);
}

/* Opens a simulator, runs the job and closes it.  `check`: the results against the host's own. */
static bool run(const struct options *q, const struct bench_kernel *k, struct bench_job *j,
                unsigned threads, unsigned repeat, bool check, struct outcome *o)
{
  struct sim_options options = {.threads = threads, .no_checks = q->no_checks};
  struct ptx_error error;
  char why[200] = "";
  *o = (struct outcome){.out = NULL};
  struct device *d = device_sim.open(&options, why, sizeof why);
  if (!d) {
    fprintf(stderr, "banks bench: %s\n", why);
    return false;
  }
  bool ok = device_sim.load(d, bench_ptx, (size_t)(bench_ptx_end - bench_ptx), &error);
  if (!ok) fprintf(stderr, "banks bench: line %u: %s\n", error.line, error.text);
  ok = ok && launches(d, k, j, repeat, o);
  if (ok && check && !k->check(j, o->out)) {
    fprintf(stderr, "banks bench: %s gave a wrong result\n", k->name);
    ok = false;
  }
  device_sim.close(d);
  return ok;
}

static bool same_sites(const struct sim_result *a, const struct sim_result *b)
{
  if (a->nsites != b->nsites) return false;
  for (size_t k = 0; k < a->nsites; k++) {
    const struct sim_site *x = &a->sites[k], *y = &b->sites[k];
    if (x->function != y->function || x->inst != y->inst || x->op != y->op ||
        x->width != y->width || x->requests != y->requests || x->wavefronts != y->wavefronts || x->ideal != y->ideal ||
        x->sectors != y->sectors || x->bytes != y->bytes || x->exact != y->exact ||
        x->worst_wavefronts != y->worst_wavefronts || x->worst_warp != y->worst_warp ||
        memcmp(x->worst_block, y->worst_block, sizeof x->worst_block) ||
        x->worst.mask != y->worst.mask ||
        memcmp(x->worst.addr, y->worst.addr, sizeof x->worst.addr))
      return false;
  }
  return true;
}

/* What differs between two outcomes; NULL: nothing. */
static const char *difference(const struct outcome *a, const struct outcome *b)
{
  if (memcmp(&a->result.totals, &b->result.totals, sizeof a->result.totals)) return "totals";
  if (!same_sites(&a->result, &b->result)) return "counts of an instruction";
  if (a->result.nfaults != b->result.nfaults) return "faults";
  if (a->result.completed != b->result.completed) return "ending";
  return a->bytes != b->bytes || memcmp(a->out, b->out, a->bytes) ? "output bytes" : NULL;
}

/* ---- tables -------------------------------------------------------------------------------------- */

/* Million warp instructions a second. */
static double speed(const struct outcome *o, double time)
{
  return (double)o->result.totals.warp_instructions / time / 1e6;
}

static bool one_core(const struct options *q, const struct bench_kernel *k)
{
  struct bench_job j = {.n = 0};
  struct outcome o, small;
  bool ok = k->prepare(&j, BENCH_CORE) && run(q, k, &j, 1, q->repeat, true, &o);
  bench_job_close(&j);
  if (!ok) return false;
  printf("%-28s %10llu %8.1f %8.1f", j.title, (unsigned long long)o.result.totals.warp_instructions,
         1e3 * o.cpu, speed(&o, o.cpu));
  outcome_close(&o);
  ok = k->prepare(&j, BENCH_ONCE) && run(q, k, &j, 1, 1, true, &small);
  bench_job_close(&j);
  if (ok && small.host >= 0)
    printf(" %12.1f", (double)small.host / (double)small.result.totals.warp_instructions);
  printf("\n");
  if (ok) outcome_close(&small);
  return ok;
}

/* 1, 2, 4 ... and the last. */
static unsigned next_threads(unsigned n, unsigned last)
{
  return 2 * n > last && n < last ? last : 2 * n;
}

static bool many_threads(const struct options *q, const struct bench_kernel *k)
{
  struct bench_job j = {.n = 0};
  struct outcome one = {.out = NULL}, more = {.out = NULL};
  bool ok = k->prepare(&j, BENCH_THREADS);
  for (unsigned n = 1; ok && n <= q->threads; n = next_threads(n, q->threads)) {
    struct outcome *o = n == 1 ? &one : &more;
    ok = run(q, k, &j, n, q->repeat, n == 1, o);
    if (!ok) break;
    const char *what = difference(&one, o);
    if (what) {
      printf("\n");
      fflush(stdout);
      fprintf(stderr, "banks bench: %s: with %u threads the %s differ from one thread's\n", k->name,
              n, what);
      ok = false;
    } else {
      if (n == 1) printf("%-28s", j.title);
      printf(" %7.1f %5.2f%c", speed(o, o->best), one.best / o->best,
             o->result.host_threads == n ? ' ' : '*');
      fflush(stdout);
    }
    if (n > 1) outcome_close(&more);
  }
  if (ok) printf("\n");
  outcome_close(&one);
  bench_job_close(&j);
  return ok;
}

static bool tables(const struct options *q)
{
  int counter = counter_open();
  int why = errno;
  printf("On one core, with counting and all checks, the best of %u:\n"
         "%-28s %10s %8s %8s%s\n", q->repeat, "", "warp inst.", "ms", "M/s",
         counter >= 0 ? "  host inst. each" : "");
  for (size_t k = 0; k < bench_nkernels; k++)
    if (!one_core(q, &bench_kernels[k])) return false;
  if (counter >= 0) {
    close(counter);
  } else {
    printf("The host's instructions cannot be counted here (%s).  Where valgrind is there,\n"
           "  valgrind --tool=callgrind --toggle-collect=sim_launch "
           "--callgrind-out-file=/dev/null \\\n"
           "    build/banks bench --once KERNEL\ncounts them (\"Collected\").\n",
           strerror(why));
  }
  if (q->threads < 2) return true;
  printf("\nOn host threads, larger sizes: M/s, and how many times one thread's.  Counts, faults "
         "and bytes\nare the same, or this ends with an error.  *: ran in order, as its blocks "
         "depend on each other.\n%-28s", "threads");
  for (unsigned n = 1; n <= q->threads; n = next_threads(n, q->threads)) printf(" %7u %6s", n, "");
  printf("\n");
  for (size_t k = 0; k < bench_nkernels; k++)
    if (bench_kernels[k].scales && !many_threads(q, &bench_kernels[k])) return false;
  return true;
}

/* A fixed small piece of work, for counting the host's instructions. */
static int once(const struct options *q)
{
  for (size_t k = 0; k < bench_nkernels; k++) {
    if (strcmp(bench_kernels[k].name, q->once)) continue;
    struct bench_job j = {.n = 0};
    struct outcome o;
    bool ok = bench_kernels[k].prepare(&j, BENCH_ONCE) &&
              run(q, &bench_kernels[k], &j, 1, 1, true, &o);
    bench_job_close(&j);
    if (!ok) return CLI_OURS;
    printf("warp instructions: %llu\n", (unsigned long long)o.result.totals.warp_instructions);
    if (o.host >= 0)
      printf("host instructions: %lld, %.1f a warp instruction\n", o.host,
             (double)o.host / (double)o.result.totals.warp_instructions);
    else printf("host instructions: not counted here\n");
    outcome_close(&o);
    return CLI_OK;
  }
  fprintf(stderr, "banks bench: --once takes one of:");
  for (size_t k = 0; k < bench_nkernels; k++) fprintf(stderr, " %s", bench_kernels[k].name);
  fprintf(stderr, "\n");
  return CLI_USAGE;
}

/* A number from 1 to `most`; 0 after saying what is wrong. */
static unsigned number(const char *option, const char *text, long most)
{
  char *end;
  long n = strtol(text, &end, 10);
  if (end != text && !*end && n >= 1 && n <= most) return (unsigned)n;
  fprintf(stderr, "banks bench: --%s takes a number from 1 to %ld, not '%s'\n", option, most, text);
  return 0;
}

int command_bench(int argc, char **argv)
{
  static const struct option options[] = {{"no-checks", no_argument, NULL, 'n'},
                                          {"repeat", required_argument, NULL, 'r'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"once", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  struct options q = {.repeat = 3,
                      .threads = cores > MOST_THREADS ? MOST_THREADS : (unsigned)cores};
  int c;
  while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
    if (c == 'n') {
      q.no_checks = true;
    } else if (c == 'r') {
      if (!(q.repeat = number("repeat", optarg, 100))) return CLI_USAGE;
    } else if (c == 't') {
      if (!(q.threads = number("threads", optarg, MOST_THREADS))) return CLI_USAGE;
    } else if (c == 'o') {
      q.once = optarg;
    } else {
      fprintf(c == 'h' ? stdout : stderr,
              "usage: banks bench [--threads N] [--repeat N] [--no-checks] [--once KERNEL]\n"
              "Warp instructions a second of the simulator: on one core, then on 1, 2, 4 ... N host\n"
              "threads (all there are), the best of N (3) runs.  --once: one small run, for counting\n"
              "the host's instructions.\n"
              "M/s are millions of warp instructions a second; one counts once, whatever lanes take\n"
              "part.  Accesses are counted and all checks are on; --no-checks leaves races and first\n"
              "writes out.  The aims are 50 M/s for the ALU loop, and 25 M/s for the transpose and\n"
              "the matrix product, on one core of a current x86-64 server (AVX2) that does nothing\n"
              "else.\n");
      return c == 'h' ? CLI_OK : CLI_USAGE;
    }
  }
  if (optind < argc) {
    fprintf(stderr, "banks bench: it takes no argument '%s'\n", argv[optind]);
    return CLI_USAGE;
  }
  if (q.once) return once(&q);
  return tables(&q) ? CLI_OK : CLI_OURS;
}
