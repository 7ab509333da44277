/* The simulator on whole kernels: values, counts and faults.
 *
 * The kernels are CUDA files in tests/sim/ with their PTX beside them, so that no compiler is needed
 * here.  What a line must give stands on the line: `//! race` a fault, `//= 2 64 2` requests,
 * wavefronts and ideal.  A kernel is also run with 1, 2 and 4 host threads and all results must
 * agree. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { INTS = 4096, LINES = 1000 };

struct fixture {
  char *source, *ptx;
  size_t ptx_bytes;
  const char *line[LINES];
  unsigned lines;
};

static char *slurp(const char *path, size_t *size)
{
  FILE *f = fopen(path, "r");
  ck_assert_msg(f != NULL, "%s is missing: run the tests from the repository's top", path);
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(*size + 1);
  ck_assert(text && fread(text, 1, *size, f) == *size);
  text[*size] = 0;
  fclose(f);
  return text;
}

static void fixture_open(struct fixture *x, const char *name)
{
  char path[200];
  size_t size;
  memset(x, 0, sizeof *x);
  snprintf(path, sizeof path, "grader/tests/sim/%s.cu", name);
  x->source = slurp(path, &size);
  snprintf(path, sizeof path, "grader/tests/sim/%s.ptx", name);
  x->ptx = slurp(path, &x->ptx_bytes);
  for (char *at = x->source; at && x->lines < LINES - 1;) {
    x->line[++x->lines] = at;
    at = strchr(at, '\n');
    if (at) *at++ = 0;
  }
}

static void fixture_close(struct fixture *x)
{
  free(x->source);
  free(x->ptx);
}

/* First line of the kernel or 0; its last line is before the next one. */
static unsigned kernel_start(const struct fixture *x, const char *kernel)
{
  char head[100];
  snprintf(head, sizeof head, "void %s(", kernel);
  for (unsigned k = 1; k <= x->lines; k++)
    if (strstr(x->line[k], "__global__") && strstr(x->line[k], head)) return k;
  ck_abort_msg("no kernel %s", kernel);
  return 0;
}

static unsigned kernel_end(const struct fixture *x, unsigned start)
{
  while (++start <= x->lines && !strstr(x->line[start], "__global__")) continue;
  return start;
}

struct run {
  struct sim *sim;
  struct ptx_module *module;
  struct sim_result result;
  int out[INTS];
  uint64_t out_at;
};

static void run_kernel(struct run *r, const struct fixture *x, const char *kernel, unsigned grid,
                       unsigned threads, unsigned shared, unsigned host_threads)
{
  struct sim_options o = {.threads = host_threads, .warp_budget = 3000000, .no_fuse = true};
  struct ptx_error e;
  memset(r, 0, sizeof *r);
  r->sim = sim_open(&o);
  r->module = ptx_read(x->ptx, x->ptx_bytes, &e);
  ck_assert_msg(r->module != NULL, "line %u: %s", e.line, e.text);
  ck_assert_msg(sim_load(r->sim, r->module, &e), "line %u: %s", e.line, e.text);
  uint64_t out = sim_alloc(r->sim, sizeof r->out, "out", false);
  uint64_t in = sim_alloc(r->sim, 1024 * sizeof(int), "in", true);
  ck_assert(out && in);
  int *host = sim_host(r->sim, in, 1024 * sizeof(int));
  for (int k = 0; k < 1024; k++) host[k] = k + 1;
  r->out_at = out;
  struct { uint64_t out, in; int n; } __attribute__((packed)) params = {out, in, 1024};
  struct sim_launch l = {.kernel = kernel, .grid = {grid, 1, 1}, .block = {threads, 1, 1},
                         .shared_bytes = shared, .params = &params, .param_bytes = 20};
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

/* ---- faults ------------------------------------------------------------------------------------- */

static const struct { const char *word; enum sim_fault_kind kind; bool fatal; } kinds[] = {
    {"bounds", SIM_FAULT_BOUNDS, true},       {"alignment", SIM_FAULT_ALIGNMENT, true},
    {"read-only", SIM_FAULT_READ_ONLY, true}, {"uninitialised", SIM_FAULT_UNINITIALISED, false},
    {"race", SIM_FAULT_RACE, false},          {"barrier", SIM_FAULT_BARRIER, true},
    {"budget", SIM_FAULT_BUDGET, true},       {"trap", SIM_FAULT_TRAP, true},
    {"stack", SIM_FAULT_STACK, true},         {"divergent", SIM_FAULT_BARRIER, false},
};

static bool promised(const char *line, const char *word)
{
  const char *mark = strstr(line, "//! ");
  return mark && strstr(mark, word);
}

/* `race -2`: the other access stands two lines above.  0: this line does not say. */
static unsigned other_line(const struct fixture *x, unsigned line)
{
  const char *mark = strstr(x->line[line], "//! "), *race = mark ? strstr(mark, "race ") : NULL;
  return race ? (unsigned)((int)line + atoi(race + 5)) : 0;
}

static const struct { const char *kernel; unsigned threads; } faulty[] = {
    {"reduce_block", 256}, {"reduce_unsynced", 256}, {"missing_barrier", 256},
    {"write_after_read", 256}, {"write_after_read_synced", 256}, {"warp_sync_none", 32},
    {"warp_sync_each", 32}, {"warp_sync_halves", 32}, {"warp_sync_wrong_half", 32},
    {"shuffle_orders", 32}, {"same_value", 64}, {"different_values", 64},
    {"bytes_of_a_word", 256}, {"some_bytes_never_written", 32}, {"never_written", 64},
    {"atomics_only", 256}, {"atomic_and_plain", 256}, {"past_the_end", 32},
    {"before_the_start", 32}, {"null_pointer", 1}, {"past_shared", 160}, {"past_one_array", 256},
    {"past_local", 32}, {"misaligned", 32}, {"read_only", 32}, {"two_barriers", 32},
    {"shuffle_of_half", 32}, {"not_a_member", 32}, {"early_return", 256}, {"endless", 32},
    {"barrier_in_if", 64}, {"barrier_in_whole_warps", 64}, {"barrier_in_loop", 64},
    {"lock_in_a_warp", 64}, {"lock_spun", 64}, {"wait_for_a_warp", 64}, {"stops_itself", 32},
    {"blocks_copy", 32}, {"blocks_in_place", 32}, {"blocks_same_word", 32}, {"blocks_chain", 32},
    {"blocks_float_sum", 64}, {"blocks_one_faults", 32}, {"asserts", 32}, {"recursion", 32}, {"named_barriers", 128}, {"named_barrier_one_way", 128},
};

START_TEST(faults)
{
  struct fixture x;
  struct run r;
  fixture_open(&x, "faults");
  const char *kernel = faulty[_i].kernel;
  unsigned start = kernel_start(&x, kernel), end = kernel_end(&x, start);
  run_kernel(&r, &x, kernel, !strncmp(kernel, "blocks_", 7) ? 5 : 1, faulty[_i].threads, 0, 1);
  bool fatal = false;
  for (size_t f = 0; f < r.result.nfaults; f++) {
    const struct sim_fault *g = &r.result.faults[f];
    const char *word = "nothing known";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      if (kinds[k].kind == g->kind && kinds[k].fatal == g->fatal) {
        word = kinds[k].word;
      }
    fatal |= g->fatal;
    ck_assert_msg(g->line > 0 && g->line <= x.lines && promised(x.line[g->line], word),
                  "%s: not expected: line %u: %s: %s", kernel, g->line, word, g->text);
    ck_assert(g->count >= 1 && *g->text);
    unsigned other = g->kind == SIM_FAULT_RACE ? other_line(&x, g->line) : 0;
    if (g->kind == SIM_FAULT_RACE)
      ck_assert_msg(other == g->other_line, "%s: line %u races with line %u, not with %u: %s",
                    kernel, g->line, other, g->other_line, g->text);
  }
  for (unsigned line = start - 1; line < end; line++) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      if (!promised(x.line[line], kinds[k].word)) continue;
      /* The helper of `recursion` stands above it. */
      if (line < start && strcmp(kernel, "recursion")) continue;
      if (line >= end - 3 && strstr(x.line[line], "deeper") && strcmp(kernel, "recursion")) continue;
      bool found = false;
      for (size_t f = 0; f < r.result.nfaults; f++)
        found |= r.result.faults[f].kind == kinds[k].kind && r.result.faults[f].line == line;
      ck_assert_msg(found, "%s: line %u was to give: %s", kernel, line, kinds[k].word);
    }
  }
  ck_assert_msg(r.result.completed == !fatal, "%s: completed %d", kernel, r.result.completed);
  run_close(&r);
  fixture_close(&x);
}
END_TEST

/* What the kernels without a fault compute. */
START_TEST(values)
{
  struct fixture x;
  struct run r;
  fixture_open(&x, "faults");
  run_kernel(&r, &x, "reduce_block", 3, 256, 0, 1);
  for (int b = 0; b < 3; b++) ck_assert_int_eq(r.out[b], 256 * 257 / 2);
  run_close(&r);
  run_kernel(&r, &x, "warp_sync_halves", 1, 32, 0, 1);
  for (int t = 0; t < 32; t++) ck_assert_int_eq(r.out[t], (t ^ 15) + 1);
  run_close(&r);
  run_kernel(&r, &x, "lock_spun", 1, 64, 0, 1);
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 64 * 65 / 2);
  run_close(&r);
  run_kernel(&r, &x, "lock_in_a_warp", 1, 64, 0, 1);
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 64 * 65 / 2);
  run_close(&r);
  run_kernel(&r, &x, "named_barriers", 1, 128, 0, 1);
  for (int t = 64; t < 128; t++) ck_assert_int_eq(r.out[t], 3 * (127 - t + 1) + 3);
  run_close(&r);
  run_kernel(&r, &x, "blocks_same_word", 5, 32, 0, 4);
  for (int t = 0; t < 32; t++) ck_assert_int_eq(r.out[t], 5);
  run_close(&r);
  run_kernel(&r, &x, "blocks_chain", 5, 32, 0, 4);
  for (int t = 0; t < 5 * 32; t++) ck_assert_int_eq(r.out[t], t / 32);
  run_close(&r);
  run_kernel(&r, &x, "blocks_copy", 5, 32, 0, 4);
  for (int t = 0; t < 5 * 32; t++) ck_assert_int_eq(r.out[t], 2 * (t + 1));
  run_close(&r);
  fixture_close(&x);
}
END_TEST

/* ---- counts ----------------------------------------------------------------------------------------- */

static const struct { const char *kernel; unsigned shared; } counted[] = {
    {"strides", 16384}, {"wide", 1024}, {"atomics", 0}, {"generic", 0}};

START_TEST(counts)
{
  struct fixture x;
  struct run r;
  fixture_open(&x, "counts");
  const char *kernel = counted[_i].kernel;
  unsigned start = kernel_start(&x, kernel), end = kernel_end(&x, start), told = 0;
  run_kernel(&r, &x, kernel, 1, 64, counted[_i].shared, 1);
  ck_assert_msg(r.result.completed && !r.result.nfaults, "%s: %s", kernel,
                r.result.nfaults ? r.result.faults[0].text : "");
  if (!strcmp(kernel, "generic")) start -= 3;
  for (unsigned line = start; line < end; line++) {
    unsigned want[3], have[3] = {0};
    const char *mark = strstr(x.line[line], "//= ");
    if (!mark || (strstr(x.line[line], "fetch") && strcmp(kernel, "generic"))) continue;
    ck_assert_int_eq(sscanf(mark + 4, "%u %u %u", &want[0], &want[1], &want[2]), 3);
    for (size_t s = 0; s < r.result.nsites; s++) {
      const struct sim_site *site = &r.result.sites[s];
      if (site->line != line) continue;
      have[0] += (unsigned)site->requests;
      have[1] += (unsigned)(site->wavefronts + site->sectors);
      have[2] += (unsigned)site->ideal;
    }
    ck_assert_msg(!memcmp(want, have, sizeof want), "%s line %u: %u %u %u, not %u %u %u", kernel,
                  line, have[0], have[1], have[2], want[0], want[1], want[2]);
    told++;
  }
  ck_assert_uint_ge(told, 1);
  run_close(&r);
  fixture_close(&x);
}
END_TEST

/* ---- the same on any number of threads ------------------------------------------------------------------ */

START_TEST(threads)
{
  struct fixture x;
  struct run one, more;
  fixture_open(&x, "faults");
  const char *kernel = faulty[_i].kernel;
  run_kernel(&one, &x, kernel, 5, faulty[_i].threads, 0, 1);
  for (unsigned n = 2; n <= 4; n *= 2) {
    run_kernel(&more, &x, kernel, 5, faulty[_i].threads, 0, n);
    const struct sim_result *a = &one.result, *b = &more.result;
    ck_assert_msg(a->nfaults == b->nfaults && a->nsites == b->nsites &&
                      a->completed == b->completed,
                  "%s: %u threads", kernel, n);
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
  fixture_close(&x);
}
END_TEST

Suite *suite_sim(void)
{
  Suite *s = suite_create("sim");
  TCase *t = tcase_create("kernels");
  int n = sizeof faulty / sizeof *faulty;
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, faults, 0, n);
  tcase_add_test(t, values);
  tcase_add_loop_test(t, counts, 0, sizeof counted / sizeof *counted);
  tcase_add_loop_test(t, threads, 0, n);
  suite_add_tcase(s, t);
  return s;
}
