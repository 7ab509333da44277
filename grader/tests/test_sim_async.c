/* The simulator on barriers that part of a warp reaches, and on asynchronous copies.
 *
 * Kernels are in tests/sim/ with their PTX beside them.  `//! barrier` on a line is the fault that
 * line must get; a kernel without such a line must be clean.  Everything is run with 1, 2 and 4 host
 * threads, which must agree. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { INTS = 4096, GRID = 3 };

static char *slurp(const char *name, const char *kind)
{
  char path[200];
  snprintf(path, sizeof path, "grader/tests/sim/%s.%s", name, kind);
  FILE *f = fopen(path, "r");
  ck_assert_msg(f != NULL, "%s is missing: run the tests from the repository's top", path);
  fseek(f, 0, SEEK_END);
  size_t size = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(size + 1);
  ck_assert(text && fread(text, 1, size, f) == size);
  text[size] = 0;
  fclose(f);
  return text;
}

struct run {
  struct sim *sim;
  struct ptx_module *module;
  struct sim_result result;
  int out[INTS];
};

static void run_kernel(struct run *r, const char *ptx, const char *kernel, unsigned threads,
                       unsigned host_threads)
{
  struct sim_options o = {.threads = host_threads, .warp_budget = 3000000};
  struct ptx_error e;
  memset(r, 0, sizeof *r);
  r->sim = sim_open(&o);
  r->module = ptx_read(ptx, strlen(ptx), &e);
  ck_assert_msg(r->module != NULL, "line %u: %s", e.line, e.text);
  ck_assert_msg(sim_load(r->sim, r->module, &e), "line %u: %s", e.line, e.text);
  uint64_t out = sim_alloc(r->sim, sizeof r->out, "out", false);
  uint64_t in = sim_alloc(r->sim, 1024 * sizeof(int), "in", true);
  int *host = sim_host(r->sim, in, 1024 * sizeof(int));
  for (int k = 0; k < 1024; k++) host[k] = k + 1;
  struct { uint64_t out, in; int n; } __attribute__((packed)) params = {out, in, 1024};
  struct sim_launch l = {.kernel = kernel, .grid = {GRID, 1, 1}, .block = {threads, 1, 1},
                         .params = &params, .param_bytes = 20};
  bool ok = sim_launch(r->sim, &l, &r->result);
  ck_assert_int_eq(ok, r->result.nfaults == 0);
  memcpy(r->out, sim_host(r->sim, out, sizeof r->out), sizeof r->out);
}

static void run_close(struct run *r)
{
  sim_result_free(&r->result);
  sim_close(r->sim);
  ptx_free(r->module);
}

static const struct { const char *word; enum sim_fault_kind kind; } kinds[] = {
    {"bounds", SIM_FAULT_BOUNDS}, {"alignment", SIM_FAULT_ALIGNMENT}, {"race", SIM_FAULT_RACE},
    {"barrier", SIM_FAULT_BARRIER}, {"uninitialised", SIM_FAULT_UNINITIALISED},
};

/* The line of `source` that promises a fault inside the kernel, and the kind; 0: none does. */
static unsigned promise(const char *source, const char *kernel, enum sim_fault_kind *kind)
{
  char head[100];
  snprintf(head, sizeof head, "void %s(", kernel);
  const char *start = strstr(source, head);
  ck_assert_msg(start != NULL, "no kernel %s", kernel);
  const char *end = strstr(start, "__global__"), *mark = strstr(start, "//! ");
  if (!mark || (end && mark > end)) return 0;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (!strncmp(mark + 4, kinds[k].word, strlen(kinds[k].word))) *kind = kinds[k].kind;
  unsigned line = 1;
  for (const char *at = source; at < mark; at++) line += *at == '\n';
  return line;
}

static const struct { const char *file, *kernel; unsigned threads; } cases[] = {
    {"meet", "in_a_branch", 64}, {"meet", "in_each_arm", 64},  {"meet", "in_a_loop", 64},
    {"meet", "by_warps", 64},    {"meet", "returned", 64},     {"meet", "from_afar", 128},
    {"meet", "not_aligned", 64}, {"meet", "lanes_differ", 64},
    {"async", "arrive_wait", 64}, {"async", "arrive_no_wait", 64}, {"async", "no_init", 64},
    {"async", "init_unsynced", 64}, {"async", "too_many", 64}, {"async", "never_complete", 64},
    {"async", "parities", 64}, {"async", "states", 64}, {"async", "copy_in", 64},
    {"async", "copy_unwaited", 64}, {"async", "copy_one_waits", 64},
    {"async", "copy_half_waits", 64}, {"async", "too_few_bytes", 64}, {"async", "past_array", 64},
    {"async", "odd_address", 64}, {"async", "pipeline", 64}, {"async", "pipeline_hasty", 64},
    {"async", "copy_out", 64}, {"async", "copy_out_hasty", 64}, {"async", "async_arrivals", 64},
    {"async", "cluster", 64},    {"async", "family", 64},      {"async", "after_inval", 64},
};

START_TEST(faults)
{
  const char *kernel = cases[_i].kernel;
  char *source = slurp(cases[_i].file, "cu"), *ptx = slurp(cases[_i].file, "ptx");
  enum sim_fault_kind kind = SIM_FAULT_NONE;
  unsigned line = promise(source, kernel, &kind);
  struct run one, more;
  run_kernel(&one, ptx, kernel, cases[_i].threads, 1);
  const struct sim_result *a = &one.result;
  if (line) {
    ck_assert_msg(a->nfaults > 0, "%s: line %u was to fault", kernel, line);
    ck_assert_msg(a->faults[0].line == line && a->faults[0].kind == kind, "%s: line %u: %s", kernel,
                  a->faults[0].line, a->faults[0].text);
  } else {
    ck_assert_msg(a->completed && !a->nfaults, "%s: line %u: %s", kernel, a->faults[0].line,
                  a->faults[0].text);
  }
  for (unsigned n = 2; n <= 4; n *= 2) {
    run_kernel(&more, ptx, kernel, cases[_i].threads, n);
    const struct sim_result *b = &more.result;
    ck_assert_msg(a->nfaults == b->nfaults && a->nsites == b->nsites, "%s: %u threads", kernel, n);
    ck_assert_msg(!memcmp(&a->totals, &b->totals, sizeof a->totals), "%s: totals", kernel);
    for (size_t k = 0; k < a->nfaults; k++)
      ck_assert_msg(!memcmp(&a->faults[k], &b->faults[k], sizeof *a->faults), "%s: %s\n%s", kernel,
                    a->faults[k].text, b->faults[k].text);
    for (size_t k = 0; k < a->nsites; k++)
      ck_assert_msg(!memcmp(&a->sites[k], &b->sites[k], sizeof *a->sites), "%s: site %zu", kernel, k);
    ck_assert_msg(!memcmp(one.out, more.out, sizeof one.out), "%s: values", kernel);
    run_close(&more);
  }
  run_close(&one);
  free(source);
  free(ptx);
}
END_TEST

/* Where the others are is told: thread 37 (of warp 1) waits after the branch. */
START_TEST(both_places)
{
  char *ptx = slurp("meet", "ptx");
  struct run r;
  run_kernel(&r, ptx, "in_a_branch", 64, 1);
  const struct sim_fault *f = &r.result.faults[0];
  ck_assert_uint_eq(f->thread[0], 32);
  ck_assert_uint_eq(f->other_thread[0], 37);
  ck_assert_uint_eq(f->other_line, f->line + 3);
  ck_assert(f->fatal && !r.result.completed);
  run_close(&r);
  free(ptx);
}
END_TEST

START_TEST(values)
{
  char *ptx = slurp("meet", "ptx");
  struct run r;
  run_kernel(&r, ptx, "not_aligned", 64, 1);
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], t < 37 ? t + 2 : 2 * t + 5);
  run_close(&r);
  run_kernel(&r, ptx, "returned", 64, 1);
  for (int t = 0; t < 37; t++) ck_assert_int_eq(r.out[t], 2 * (t + 1));
  run_close(&r);
  free(ptx);
}
END_TEST

/* Runs a kernel of async.cu that is clean; out is compared with in[k] = k + 1 by the caller. */
static void run_clean(struct run *r, const char *ptx, const char *kernel)
{
  run_kernel(r, ptx, kernel, 64, 1);
  ck_assert_msg(r->result.completed && !r->result.nfaults, "%s", kernel);
}

START_TEST(async_values)
{
  char *ptx = slurp("async", "ptx");
  struct run r;
  run_clean(&r, ptx, "arrive_wait");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 64 - t);
  run_close(&r);
  run_clean(&r, ptx, "parities");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 101);
  run_close(&r);
  run_clean(&r, ptx, "states");   /* what the others had left, in the order of arrival */
  int pending = 0;
  for (int t = 0; t < 64; t++) pending += r.out[t];
  ck_assert_int_eq(pending, 64 * 65 / 2);
  run_close(&r);
  run_clean(&r, ptx, "copy_in");
  for (int k = 0; k < 256; k++) ck_assert_int_eq(r.out[k], 256 - k);
  run_close(&r);
  run_clean(&r, ptx, "pipeline");
  for (int t = 0; t < 32; t++) {
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += 64 * k + t + 1 + 64 * k + t + 33;
    ck_assert_int_eq(r.out[t], sum);
  }
  run_close(&r);
  run_clean(&r, ptx, "copy_out");
  for (int k = 0; k < 64 * GRID; k++) ck_assert_int_eq(r.out[k], 3 * (k % 64 + 1));
  run_close(&r);
  run_clean(&r, ptx, "async_arrivals");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 256 - t);
  run_close(&r);
  run_clean(&r, ptx, "family");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 101);
  run_close(&r);
  run_clean(&r, ptx, "cluster");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 64 - t);
  run_close(&r);
  free(ptx);
}
END_TEST

/* 1024 bytes: 32 sectors, 8 rows of the banks, a block. */
START_TEST(bulk_counts)
{
  char *ptx = slurp("async", "ptx");
  struct run r;
  run_clean(&r, ptx, "copy_in");
  unsigned seen = 0;
  for (size_t k = 0; k < r.result.nsites; k++) {
    const struct sim_site *s = &r.result.sites[k];
    if (s->bytes != 1024 * GRID || s->op == MODEL_GLOBAL_STORE || s->op == MODEL_LOAD) continue;
    seen++;
    if (s->op == MODEL_GLOBAL_LOAD) {
      ck_assert_uint_eq(s->sectors, 32 * GRID);
    } else {
      ck_assert_uint_eq(s->wavefronts, 8 * GRID);
      ck_assert_uint_eq(s->requests, GRID);
      ck_assert(!s->exact);
    }
  }
  ck_assert_uint_eq(seen, 2);
  run_close(&r);
  free(ptx);
}
END_TEST

Suite *suite_sim_async(void)
{
  Suite *s = suite_create("sim_async");
  TCase *t = tcase_create("kernels");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, faults, 0, sizeof cases / sizeof *cases);
  tcase_add_test(t, both_places);
  tcase_add_test(t, values);
  tcase_add_test(t, async_values);
  tcase_add_test(t, bulk_counts);
  suite_add_tcase(s, t);
  return s;
}
