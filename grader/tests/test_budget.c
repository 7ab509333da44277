/* Budgets of a launch and bounds of single values, on evidence made by hand. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "suites/budget.h"

static struct verdict v;

/* Two launches; the second has 4 loads of 8 wavefronts, 2 stores of 1, 1 atomic of 32, and global
 * reads. */
static struct evidence evidence(void)
{
  static struct sim_site sites[] = {
    {.op = MODEL_LOAD, .width = 4, .requests = 4, .wavefronts = 32, .ideal = 4, .exact = true},
    {.op = MODEL_STORE, .width = 4, .requests = 2, .wavefronts = 2, .ideal = 2, .exact = true},
    {.op = MODEL_ATOM_NATIVE, .width = 4, .requests = 1, .wavefronts = 32, .ideal = 1,
     .exact = true},
    {.op = MODEL_GLOBAL_LOAD, .width = 4, .requests = 9, .sectors = 36, .exact = true},
  };
  static struct sim_result launches[2];
  launches[1] = (struct sim_result){.sites = sites, .nsites = 4, .completed = true};
  launches[1].totals.global_load.sectors = 36;
  memset(&v, 0, sizeof v);
  return (struct evidence){.launches = launches, .nlaunches = 2, .file = "x.cu", .source = ""};
}

static double budget(unsigned which, uint64_t least, double full, double none)
{
  struct evidence e = evidence();
  return judge_budget(&v, &e, 1, (struct budget){which, least, full, none, "some work"});
}

START_TEST(wavefronts_of_the_chosen_kinds_are_added_up)
{
  ck_assert_double_eq(budget(COUNT_ALL, 0, 66, 100), 1);
  ck_assert(v.set && v.share == 1);
  ck_assert_double_eq(budget(COUNT_ALL, 0, 65, 67), 0.5);
  ck_assert(v.share == 0.5);
  ck_assert_double_eq(budget(COUNT_ALL, 0, 10, 66), 0);
  ck_assert(v.set && v.share == 0);
  ck_assert_double_eq(budget(COUNT_STORES, 0, 2, 4), 1);
  ck_assert_double_eq(budget(COUNT_LOADS, 0, 31, 33), 0.5);
  ck_assert_double_eq(budget(COUNT_ATOMICS, 0, 16, 48), 0.5);
}
END_TEST

START_TEST(too_few_requests_fail_however_cheap)
{
  ck_assert_double_eq(budget(COUNT_ALL, 7, 1000, 2000), 1);
  ck_assert_double_eq(budget(COUNT_ALL, 8, 1000, 2000), 0);
  ck_assert(v.set && v.share == 0);
  ck_assert(strstr(v.message, "7 requests") && strstr(v.message, "at least 8"));
}
END_TEST

START_TEST(a_launch_that_is_missing_is_not_graded)
{
  struct evidence e = evidence();
  judge_budget(&v, &e, 2, (struct budget){COUNT_ALL, 0, 1, 2, "w"});
  ck_assert(v.not_graded && v.share == 0);
}
END_TEST

START_TEST(sectors_read_have_a_budget)
{
  struct evidence e = evidence();
  ck_assert_double_eq(judge_reads(&v, &e, 1, 36, 72, "w"), 1);
  ck_assert_double_eq(judge_reads(&v, &e, 1, 24, 48, "w"), 0.5);
  ck_assert_double_eq(judge_reads(&v, &e, 1, 10, 36, "w"), 0);
}
END_TEST

/* One value against what is wanted. */
static bool near(float got, double want, double bound)
{
  const void *buffers[] = {&got};
  size_t bytes[] = {sizeof got};
  const char *names[] = {"out"};
  struct evidence e = evidence();
  e.buffers = buffers;
  e.buffer_bytes = bytes;
  e.buffer_names = names;
  e.nbuffers = 1;
  return judge_near(&v, &e, 0, &want, &bound, 1, 1);
}

START_TEST(nothing_passes_that_is_not_shown_to_be_near)
{
  ck_assert(near(1, 1.5, 0.5));
  ck_assert(!near(1, 1.5, 0.25));
  ck_assert(v.set && v.share == 0);
  ck_assert(!near(NAN, 1, 1e30));
  ck_assert(strstr(v.message, "not numbers"));
  ck_assert(!near(1, NAN, 1e30));
  ck_assert(near(NAN, NAN, 0));
  ck_assert(!near(1, 1, NAN));
  ck_assert(near(INFINITY, INFINITY, 0));
  ck_assert(!near(-INFINITY, INFINITY, 0));
  ck_assert(!near(INFINITY, 1, 1e30));
  ck_assert(!near(3e38f, INFINITY, INFINITY));
}
END_TEST

START_TEST(exact_floats_add_up_in_any_order)
{
  enum { COUNT = 4095 };
  static float x[COUNT];
  struct rng r;
  rng_seed(&r, 3, "exact");
  exact_floats(&r, x, COUNT);
  float up = 0, down = 0;
  double want = 0;
  for (int i = 0; i < COUNT; i++) {
    up += fabsf(x[i]);
    down += fabsf(x[COUNT - 1 - i]);
    want += fabs(x[i]);
  }
  ck_assert(up == want && down == want);
}
END_TEST

Suite *suite_budget(void)
{
  Suite *s = suite_create("budget");
  TCase *c = tcase_create("budget");
  tcase_add_test(c, wavefronts_of_the_chosen_kinds_are_added_up);
  tcase_add_test(c, too_few_requests_fail_however_cheap);
  tcase_add_test(c, a_launch_that_is_missing_is_not_graded);
  tcase_add_test(c, sectors_read_have_a_budget);
  tcase_add_test(c, nothing_passes_that_is_not_shown_to_be_near);
  tcase_add_test(c, exact_floats_add_up_in_any_order);
  suite_add_tcase(s, c);
  return s;
}
