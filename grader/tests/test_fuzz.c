/* What the fuzzers found (`make fuzz`), again: each text of fuzz/finds was once read outside,
 * hung, leaked or grew without bound.  Run with SANITIZE=1 this says most; plain it still shows
 * crashes, hangs and budgets not kept. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "ptx/ptx.h"
#include "run.h"
#include "sim/sim.h"

#define FINDS "grader/tests/fuzz/finds"

enum { MAX_FINDS = 256 };

static char *finds[MAX_FINDS];
static int nfinds;

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_finds(void)
{
  DIR *d = opendir(FINDS);
  for (struct dirent *e; d && (e = readdir(d)) && nfinds < MAX_FINDS;) {
    size_t n = strlen(e->d_name);
    if (n > 4 && !strcmp(e->d_name + n - 4, ".ptx")) finds[nfinds++] = strdup(e->d_name);
  }
  if (d) closedir(d);
  qsort(finds, (size_t)nfinds, sizeof *finds, by_name);
}

START_TEST(find_is_survived)
{
  ck_assert_msg(nfinds > 0, "nothing in " FINDS " (tests run from the repository's root)");
  char path[512];
  size_t length;
  snprintf(path, sizeof path, FINDS "/%s", finds[_i]);
  char *text = run_read(path, &length);
  ck_assert_msg(text != NULL, "%s cannot be read", path);
  feed_ptx(text, length);
  feed_sim(text, length);
  free(text);
}
END_TEST

/* ---- modules that ask for much ------------------------------------------------------------- */

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

static struct sim_fault hostile(const char *text, uint64_t grid, uint32_t block, uint64_t budget,
                                struct sim_totals *totals)
{
  struct ptx_error error;
  struct ptx_module *m = ptx_read(text, strlen(text), &error);
  ck_assert_msg(m != NULL, "line %u: %s", error.line, error.text);
  struct sim_options options = { .threads = 1, .step_budget = budget, .memory_limit = 64 << 20 };
  struct sim *sim = sim_open(&options);
  ck_assert_msg(sim_load(sim, m, &error), "%s", error.text);
  struct sim_launch l = { .kernel = "k", .grid = { (uint32_t)grid, 1, 1 },
                          .block = { block, 1, 1 } };
  struct sim_result r;
  ck_assert(!sim_launch(sim, &l, &r));
  struct sim_fault f = r.faults[r.nfaults - 1];
  *totals = r.totals;
  sim_result_free(&r);
  sim_close(sim);
  ptx_free(m);
  return f;
}

START_TEST(local_memory_has_a_limit)
{
  struct sim_totals t;
  struct sim_fault f = hostile(HEAD ".visible .entry k() {\n.local .align 8 .b8 a[500000];\n"
                               ".reg .b64 %rd<2>;\nmov.u64 %rd1, a;\nret;\n}\n", 1, 1024,
                               1000000, &t);
  ck_assert_int_eq(f.kind, SIM_FAULT_MEMORY);
}
END_TEST

START_TEST(frames_are_paid_from_the_budget)
{
  struct sim_totals t;
  struct sim_fault f = hostile(HEAD ".visible .entry k() {\n.local .align 8 .b8 a[500000];\n"
                               ".reg .b64 %rd<2>;\nmov.u64 %rd1, a;\nret;\n}\n", 2147483647, 32,
                               1000000, &t);
  ck_assert_int_eq(f.kind, SIM_FAULT_BUDGET);
  ck_assert_msg(t.blocks < 100, "%llu blocks filled 16 MB each", (unsigned long long)t.blocks);
}
END_TEST

START_TEST(empty_blocks_end_with_the_budget)
{
  struct sim_totals t;
  struct sim_fault f = hostile(HEAD ".visible .entry k() {\nret;\n}\n", 2147483647, 1024, 100000,
                               &t);
  ck_assert_int_eq(f.kind, SIM_FAULT_BUDGET);
}
END_TEST

/* Bits above the block's own shared memory name another block of a cluster, where there is one: here
 * they are just far outside. */
START_TEST(far_shared_addresses_are_outside)
{
  struct sim_totals t;
  struct sim_fault f = hostile(HEAD ".visible .entry k() {\n.shared .align 4 .b8 s[128];\n"
                               ".reg .b32 %r<3>;\nmov.u32 %r1, s;\nadd.u32 %r2, %r1, 16777216;\n"
                               "st.shared.u32 [%r2], %r1;\nret;\n}\n", 1, 1, 1000, &t);
  ck_assert_int_eq(f.kind, SIM_FAULT_BOUNDS);
  ck_assert_msg(strstr(f.text, "byte 16777216 of s"), "%s", f.text);
}
END_TEST

Suite *suite_fuzz(void)
{
  Suite *s = suite_create("fuzz");
  TCase *t = tcase_create("finds");
  list_finds();
  tcase_add_loop_test(t, find_is_survived, 0, nfinds ? nfinds : 1);
  suite_add_tcase(s, t);
  t = tcase_create("hostile");
  tcase_add_test(t, local_memory_has_a_limit);
  tcase_add_test(t, frames_are_paid_from_the_budget);
  tcase_add_test(t, empty_blocks_end_with_the_budget);
  tcase_add_test(t, far_shared_addresses_are_outside);
  suite_add_tcase(s, t);
  return s;
}
