/* What a launch may take: memory for buffers and resident blocks, whatever the grid and however long it
 * runs; and for kernels that ask for more than there is, or never end, a fault that names the line,
 * within the budget of steps, of memory, and so of time.
 *
 * Kernels are in tests/sim/limits.cu (fixture.h).  Each runs in a process of its own, whose peak of
 * memory and time of the processor are taken. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

enum { BUDGET = 2000000, LIMIT = 64 << 20, MEGABYTE = 1 << 20 };

struct taken {
  long peak;                   /* bytes of memory at most, of which `before` already at the start */
  long before;
  double seconds;              /* of the processor */
  struct sim_fault fault;      /* the last one: the one that stopped it */
  size_t nfaults;
  bool printed_cut;
  size_t printed;
  uint64_t steps;
};

/* Not under the sanitizer, which keeps what was freed. */
static long peak(void)
{
#ifdef __SANITIZE_ADDRESS__
  return 0;
#endif
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_maxrss * 1024;
}

static double seconds(void)
{
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void run(const struct fixture *x, const char *kernel, unsigned grid, unsigned threads, int n,
                unsigned host_threads, uint64_t budget, struct taken *t)
{
  struct sim_options o = {.threads = host_threads, .step_budget = budget, .memory_limit = LIMIT};
  struct ptx_error e;
  struct sim *sim = sim_open(&o);
  struct ptx_module *m = ptx_read(x->ptx, x->ptx_bytes, &e);
  if (!m || !sim_load_for(sim, m, ptx_find_entry(m, kernel), &e)) {
    snprintf(t->fault.text, sizeof t->fault.text, "%s", e.text);
    return;
  }
  struct { uint64_t out, in; int n; } __attribute__((packed)) params = {
      sim_alloc(sim, 4 * INTS, "out", false), sim_alloc(sim, 4096, "in", true), n};
  int *in = sim_host(sim, params.in, 4096);
  for (int k = 0; k < 1024; k++) in[k] = k + 1;
  struct sim_launch l = {.kernel = kernel, .grid = {grid, 1, 1}, .block = {threads, 1, 1},
                         .params = &params, .param_bytes = 20};
  struct sim_result r;
  t->before = peak();
  double start = seconds();
  sim_launch(sim, &l, &r);
  t->seconds = seconds() - start;
  t->peak = peak();
  t->nfaults = r.nfaults;
  t->printed_cut = r.printed_cut;
  t->printed = strlen(r.printed);
  t->steps = r.totals.warp_instructions;
  if (r.nfaults) t->fault = r.faults[r.nfaults - 1];
  sim_result_free(&r);
  sim_close(sim);
  ptx_free(m);
}

/* The same in a child. */
static struct taken take(const struct fixture *x, const char *kernel, unsigned grid,
                         unsigned threads, int n, unsigned host_threads, uint64_t budget)
{
  struct taken t = {0};
  int ends[2], status = -1;
  ck_assert_int_eq(pipe(ends), 0);
  pid_t child = fork();
  ck_assert(child >= 0);
  if (child == 0) {
    run(x, kernel, grid, threads, n, host_threads, budget, &t);
    _exit(write(ends[1], &t, sizeof t) == sizeof t ? 0 : 1);
  }
  close(ends[1]);
  size_t got = 0;
  for (ssize_t k; (k = read(ends[0], (char *)&t + got, sizeof t - got)) > 0;) got += (size_t)k;
  close(ends[0]);
  waitpid(child, &status, 0);
  ck_assert_msg(status == 0 && got == sizeof t, "%s: the child ended with status %d", kernel, status);
  return t;
}

/* ---- clean kernels ------------------------------------------------------------------------------ */

static const struct { const char *kernel; unsigned grid, more_grid; int n, more_n; } growing[] = {
    {"one_turn", 16, 100000, 0, 0}, {"many_turns", 1, 1, 10, 20000}, {"many_turns", 2, 2000, 10, 10},
    {"printf_flood", 1, 1, 100, 3000}};

/* Blocks and steps a thousand times as many take not even a few megabytes more. */
START_TEST(memory_does_not_grow)
{
  struct fixture x;
  fixture_open(&x, "limits");
  const char *kernel = growing[_i].kernel;
  for (unsigned threads = 1; threads <= 4; threads += 3) {
    struct taken a = take(&x, kernel, growing[_i].grid, 256, growing[_i].n, threads, 0);
    struct taken b = take(&x, kernel, growing[_i].more_grid, 256, growing[_i].more_n, threads, 0);
    ck_assert_msg(!a.nfaults && !b.nfaults, "%s: %s%s", kernel, a.fault.text, b.fault.text);
    ck_assert_msg(b.steps > 25 * a.steps, "%s: %llu and %llu steps", kernel,
                  (unsigned long long)a.steps, (unsigned long long)b.steps);
    ck_assert_msg(b.peak - b.before <= a.peak - a.before + 6 * MEGABYTE,
                  "%s: %ld bytes for %llu steps, %ld for %llu", kernel, a.peak - a.before,
                  (unsigned long long)a.steps, b.peak - b.before, (unsigned long long)b.steps);
    ck_assert(b.printed <= 64 << 10 && b.printed_cut == !strcmp(kernel, "printf_flood"));
  }
  fixture_close(&x);
}
END_TEST

/* ---- hostile ones -------------------------------------------------------------------------------- */

static const struct { enum sim_fault_kind kind; const char *word; } words[] = {
    {SIM_FAULT_BUDGET, "budget"}, {SIM_FAULT_MEMORY, "memory"}, {SIM_FAULT_STACK, "stack"}};

static const struct { const char *kernel; unsigned threads; } hostile[] = {
    {"barriers_for_ever", 1024}, {"waits_for_nobody", 64}, {"fences_for_ever", 64},
    {"prints_nothing", 64}, {"back_and_forth", 1024}, {"many_races", 1024},
    {"copies_never_waited_for", 64}, {"groups_kept_open", 32}, {"bulk_never_waited_for", 64},
    {"bulk_for_ever", 64}, {"many_mbarriers", 64}, {"everybody_reads_all", 1024}};

START_TEST(ends)
{
  struct fixture x;
  fixture_open(&x, "limits");
  const char *kernel = hostile[_i].kernel, *word = "nothing known";
  struct taken t = take(&x, kernel, 3, hostile[_i].threads, 1, 1, BUDGET);
  const struct sim_fault *f = &t.fault;
  if (getenv("LIMITS_SHOW"))
    fprintf(stderr, "%s: %llu steps, %.3f s, %ld MB, line %u: %s\n", kernel,
            (unsigned long long)t.steps, t.seconds, (t.peak - t.before) / MEGABYTE, f->line, f->text);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (words[k].kind == f->kind) word = words[k].word;
  ck_assert_msg(t.nfaults && f->fatal, "%s: it ended, after %llu steps", kernel,
                (unsigned long long)t.steps);
  const char *mark = f->line && f->line <= x.lines ? strstr(x.line[f->line], "//! ") : NULL;
  ck_assert_msg(mark && strstr(mark, word), "%s: line %u: %s: %s", kernel, f->line, word, f->text);
  ck_assert_msg(t.steps <= BUDGET, "%s: %llu steps", kernel, (unsigned long long)t.steps);
  ck_assert_msg(t.seconds < 20, "%s: %.1f s", kernel, t.seconds);
  ck_assert_msg(t.peak - t.before < 3L * LIMIT, "%s: %ld bytes", kernel, t.peak - t.before);
  fixture_close(&x);
}
END_TEST

/* Arrivals that wait for copies are given back mbarrier by mbarrier. */
START_TEST(arrivals_are_given_back)
{
  struct fixture x;
  fixture_open(&x, "limits");
  struct taken few = take(&x, "arrivals_put_off", 1, 64, 20, 1, 0);
  struct taken all = take(&x, "arrivals_put_off", 1, 64, 2000, 1, 0);
  ck_assert_msg(!few.nfaults && !all.nfaults, "%s%s", few.fault.text, all.fault.text);
  ck_assert_msg(all.peak - all.before <= few.peak - few.before + 32 * MEGABYTE, "%ld and %ld bytes",
                few.peak - few.before, all.peak - all.before);
  fixture_close(&x);
}
END_TEST

Suite *suite_limits(void)
{
  Suite *s = suite_create("limits");
  TCase *t = tcase_create("memory");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, memory_does_not_grow, 0, sizeof growing / sizeof *growing);
  tcase_add_test(t, arrivals_are_given_back);
  suite_add_tcase(s, t);
  t = tcase_create("hostile");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, ends, 0, sizeof hostile / sizeof *hostile);
  suite_add_tcase(s, t);
  return s;
}
