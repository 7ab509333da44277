/* The judges' helpers on evidence made by hand: what passes, what fails, and what is said. */
#define _GNU_SOURCE
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/plan.h"

static struct verdict v;

static void has(const char *part)
{
  ck_assert_msg(strstr(v.message, part) != NULL, "no '%s' in:\n%s", part, v.message);
}
static void has_not(const char *part)
{
  ck_assert_msg(strstr(v.message, part) == NULL, "'%s' in:\n%s", part, v.message);
}
static void clear(void) { memset(&v, 0, sizeof v); }

/* ---- numbers ------------------------------------------------------------------------------- */

START_TEST(random_numbers_are_the_published_ones)
{
  /* first outputs of xoshiro256** from the state 1, 2, 3, 4 */
  static const uint64_t want[] = {11520, 0, 1509978240, 1215971899390074240};
  struct rng r = {{1, 2, 3, 4}};
  for (int i = 0; i < 4; i++) ck_assert_uint_eq(rng_next(&r), want[i]);
}
END_TEST

START_TEST(random_numbers_follow_seed_and_label)
{
  struct rng a, b;
  rng_seed(&a, 7, "x"), rng_seed(&b, 7, "x");
  ck_assert_uint_eq(rng_next(&a), rng_next(&b));
  rng_seed(&b, 7, "y");
  ck_assert_uint_ne(rng_next(&a), rng_next(&b));
  rng_seed(&b, 8, "x"), rng_seed(&a, 7, "x");
  ck_assert_uint_ne(rng_next(&a), rng_next(&b));
  size_t seen[10] = {0};
  for (int i = 0; i < 10000; i++) {
    seen[rng_below(&a, 10)]++;
    int32_t x = rng_between(&a, -2, 3);
    double d = rng_uniform(&a, -1, 2);
    ck_assert(x >= -2 && x <= 3 && d >= -1 && d < 2);
  }
  for (int i = 0; i < 10; i++) ck_assert(seen[i] > 850 && seen[i] < 1150);
}
END_TEST

START_TEST(poison_differs_and_holds_nans)
{
  size_t n = 4096;
  struct plan *a = plan_new(1, "t"), *b = plan_new(2, "t"), *c = plan_new(1, "t");
  for (int i = 0; i < 3; i++)
    plan_buffer(i == 0 ? a : i == 1 ? b : c, "out", BUFFER_OUT, NULL, n * 4);
  ck_assert(memcmp(a->job.buffers[0].data, b->job.buffers[0].data, n * 4) != 0);
  ck_assert(memcmp(a->job.buffers[0].data, c->job.buffers[0].data, n * 4) == 0);
  size_t nans = 0;
  for (size_t i = 0; i < n; i++) nans += isnan(((float *)a->job.buffers[0].data)[i]);
  ck_assert(nans > n / 8 && nans < n * 7 / 8);
  plan_free(a), plan_free(b), plan_free(c);
}
END_TEST

START_TEST(impossible_plans_are_told)
{
  struct plan *p = plan_new(1, "t");
  plan_arg_i32(p, 1);
  ck_assert_str_ne(p->error, "");
  plan_free(p);
  p = plan_new(1, "t");
  plan_launch(p, "k", (uint32_t[]){1, 1, 1}, (uint32_t[]){32, 1, 1}, 0);
  ck_assert_str_eq(p->error, "");
  plan_arg_buffer(p, 0);
  ck_assert_str_ne(p->error, "");
  plan_free(p);
  p = plan_new(1, "t");
  plan_ask(p, "two\nlines");
  ck_assert_str_ne(p->error, "");
  plan_free(p);
}
END_TEST

/* ---- verdicts ------------------------------------------------------------------------------ */

START_TEST(the_smallest_share_stays)
{
  clear();
  verdict_fail(&v, "no");
  verdict_pass(&v, "yes");
  ck_assert(v.set && v.share == 0);
  clear();
  verdict_pass(&v, "yes");
  ck_assert(v.share == 1);
  verdict_partial(&v, 0.25, "some");
  ck_assert(v.share == 0.25);
  clear();
  verdict_partial(&v, NAN, "odd");
  ck_assert(v.set && v.share == 0);
  clear();
  verdict_partial(&v, 7, "much");
  ck_assert(v.share == 1);
}
END_TEST

START_TEST(messages_never_overflow)
{
  clear();
  for (int i = 0; i < 5000; i++) verdict_add(&v, "a line that is long enough to fill the room");
  ck_assert_uint_lt(strlen(v.message), sizeof v.message);
  ck_assert(!v.set && !v.not_graded);
}
END_TEST

/* ---- values -------------------------------------------------------------------------------- */

enum { N = 6 };
static float got[N], before[N];
static double want[N];
static struct evidence values(void)
{
  static const void *now[1], *old[1];
  static const char *names[] = {"out"};
  static size_t bytes[] = {sizeof got};
  now[0] = got, old[0] = before;
  for (int i = 0; i < N; i++) got[i] = (float)(want[i] = i + 0.5), before[i] = -9;
  return (struct evidence){.buffers = now, .before = old, .buffer_bytes = bytes,
                           .buffer_names = names, .nbuffers = 1, .file = "f.cu"};
}

START_TEST(floats_pass_only_when_shown_to_be_near)
{
  struct evidence e = values();
  clear();
  ck_assert(judge_floats(&v, &e, 0, want, N, 3, 0) && !v.set);
  got[4] = NAN;
  ck_assert(!judge_floats(&v, &e, 0, want, N, 3, INFINITY));
  has("row 1, column 1: expected 4.5, got ");
  has("1 of 6 values of out are wrong: they are not numbers");
  clear();
  e = values();
  ck_assert(!judge_floats(&v, &e, 0, want, N, 3, NAN));   /* no bound shows nothing */
  clear();
  e = values();
  want[2] = 2.5 + 1e-3;
  ck_assert(judge_floats(&v, &e, 0, want, N, 3, 1.001e-3));
  ck_assert(!judge_floats(&v, &e, 0, want, N, 3, 0.999e-3));
  clear();
  e = values();
  want[0] = INFINITY, got[0] = INFINITY;
  ck_assert(judge_floats(&v, &e, 0, want, N, 3, 0));
  got[0] = -INFINITY;
  ck_assert(!judge_floats(&v, &e, 0, want, N, 3, 1e300));
  clear();
  e = values();
  want[0] = 0, got[0] = -0.0f;
  ck_assert(judge_floats(&v, &e, 0, want, N, 3, 0));
  want[0] = NAN, got[0] = NAN;                            /* a NaN reference shows nothing */
  ck_assert(!judge_floats(&v, &e, 0, want, N, 3, 0));
}
END_TEST

START_TEST(untouched_results_are_named)
{
  struct evidence e = values();
  clear();
  got[3] = before[3];
  ck_assert(!judge_floats(&v, &e, 0, want, N, 1, 0));
  has("out[3]: expected 3.5, never written");
  clear();
  ck_assert(!judge_floats(&v, &e, 0, want, N + 1, 1, 0));   /* more than came back: our fault */
  ck_assert(v.not_graded);
  clear();
  ck_assert(!judge_floats(&v, &e, 1, want, N, 1, 0) && v.not_graded);
}
END_TEST

START_TEST(ints_are_compared_exactly)
{
  int32_t have[] = {1, 2, INT32_MIN}, should[] = {1, 2, INT32_MAX};
  const void *now[] = {have};
  size_t bytes[] = {sizeof have};
  struct evidence e = {.buffers = now, .buffer_bytes = bytes, .nbuffers = 1, .file = "f.cu"};
  clear();
  ck_assert(judge_ints(&v, &e, 0, should, 2, 1) && !v.set);
  ck_assert(!judge_ints(&v, &e, 0, should, 3, 1));
  has("[2]: expected 2147483647, got -2147483648");
}
END_TEST

/* ---- faults -------------------------------------------------------------------------------- */

START_TEST(faults_name_the_line_and_the_thread)
{
  struct sim_fault fault = {.kind = SIM_FAULT_RACE, .fatal = true, .file = 1, .line = 2,
                            .block = {1, 2, 0}, .thread = {31, 7, 0}, .other_thread = {0, 1, 0},
                            .other_line = 3, .count = 5, .text = "What to do."};
  struct sim_result r = {.faults = &fault, .nfaults = 1};
  char *files[] = {"", "/tmp/x/t.cu", "/usr/include/other.h"};
  struct ptx_module module = {.files = files, .nfiles = 3};
  struct evidence e = {.launches = &r, .nlaunches = 1, .module = &module,
                       .file = "exercises/04-padding/t.cu",
                       .source = "one\n  tile[x] = 1;\nthree\n"};
  clear();
  ck_assert(!judge_clean(&v, &e) && v.set && v.share == 0 && !v.not_graded);
  has("exercises/04-padding/t.cu:2: ");
  has("2 | tile[x] = 1;");
  has("block (1,2,0), thread (31,7,0)");
  has("thread (0,1,0) at line 3");
  has("3 | three");
  has("What to do.");
  has("5 times");
  fault.file = 2;                         /* another file's lines are never shown */
  clear();
  ck_assert(!judge_clean(&v, &e));
  has_not("tile[x]");
  has_not(":2:");
  r.nfaults = 0;                          /* no fault, but no end either */
  clear();
  ck_assert(!judge_clean(&v, &e) && v.share == 0);
  r.completed = true;
  clear();
  ck_assert(judge_clean(&v, &e) && !v.set);
  e.nlaunches = 0;                        /* nothing ran */
  clear();
  ck_assert(!judge_clean(&v, &e) && v.not_graded);
}
END_TEST

/* ---- counts -------------------------------------------------------------------------------- */

static struct sim_site site(uint32_t line, enum model_op op, uint64_t requests, uint32_t stride)
{
  struct sim_site s = {.file = 1, .line = line, .op = op, .width = 4, .requests = requests,
                       .exact = true};
  s.worst = (struct access){.op = op, .width = 4, .mask = ~0u};
  for (uint32_t t = 0; t < 32; t++) s.worst.addr[t] = t * stride * 4;
  struct model_cost c = model_cost(&s.worst);
  s.worst_wavefronts = c.wavefronts;
  s.wavefronts = requests * c.wavefronts;
  s.ideal = requests * c.ideal;
  return s;
}

START_TEST(wavefronts_are_marked_between_full_and_none)
{
  struct sim_site sites[] = {site(1, MODEL_STORE, 10, 1), site(2, MODEL_LOAD, 10, 32),
                             site(3, MODEL_GLOBAL_LOAD, 10, 1)};
  struct sim_result r = {.sites = sites, .nsites = 3, .completed = true};
  char *files[] = {"", "t.cu"};
  struct ptx_module module = {.files = files, .nfiles = 2};
  struct evidence e = {.launches = &r, .nlaunches = 1, .module = &module, .file = "x/t.cu",
                       .source = "write\nread\nglobal\n"};
  struct count_mark mark = {.which = COUNT_LOADS, .full = 1, .none = 32};
  clear();
  ck_assert(!judge_wavefronts(&v, &e, mark) && v.share == 0);
  has("x/t.cu:2: 32.0 wavefronts per request where 1 is ideal");
  has("2 | read");
  has("128 bytes (32 words) apart");
  has("bank 0");                          /* the picture */
  clear();
  mark.which = COUNT_STORES;
  ck_assert(judge_wavefronts(&v, &e, mark) && v.share == 1);
  clear();
  mark.which = COUNT_ALL;                 /* (10 + 320) / 20 = 16.5, half way from 1 to 32 */
  ck_assert(!judge_wavefronts(&v, &e, mark));
  ck_assert_double_eq_tol(v.share, 0.5, 1e-12);
  has("x/t.cu:2:");
  clear();
  mark.none = 16.5;
  ck_assert(!judge_wavefronts(&v, &e, mark) && v.share == 0);
  clear();
  mark.which = COUNT_ATOMICS;             /* none at all is no success */
  ck_assert(!judge_wavefronts(&v, &e, mark) && v.share == 0);
  has("shared memory");
  clear();
  mark = (struct count_mark){.which = COUNT_STORES, .full = 1, .none = 2, .least_requests = 11};
  ck_assert(!judge_wavefronts(&v, &e, mark) && v.share == 0);
  clear();
  mark.least_requests = 10, mark.most_wavefronts = 9;     /* cheap accesses do not dilute */
  ck_assert(!judge_wavefronts(&v, &e, mark) && v.share == 0);
  has("10 wavefronts in all");
}
END_TEST

/* ---- answers and predictions --------------------------------------------------------------- */

START_TEST(answers_must_be_whole_numbers)
{
  const char *answers[] = {"7", "7 ", "x", "9223372036854775808", NULL, "\x1b[2J"};
  struct evidence e = {.answers = answers, .nanswers = 6, .file = "b.c", .ended = "it crashed"};
  clear();
  ck_assert(judge_answer_int(&v, &e, 0, 7, "f(%d)", 1) && !v.set);
  ck_assert(!judge_answer_int(&v, &e, 0, 8, "f(%d)", 1));
  has("b.c: f(1): expected 8, got 7");
  for (size_t i = 1; i < 7; i++) {
    clear();
    ck_assert(!judge_answer_int(&v, &e, i, 7, "f(%d)", 1) && v.share == 0 && v.set);
    ck_assert(!strchr(v.message, '\x1b'));
    if (i == 4 || i == 6) has("it crashed");
  }
}
END_TEST

START_TEST(predictions_are_read_as_people_write_them)
{
  static const char *const names[] = {"a", "b", "c", NULL};
  static const struct prediction rows[] = {
    {"a", 2, "try A"}, {"b", 16, "try B"}, {"c", 0.5, "try C"}};
  struct evidence e = {.names = names,
                       .text = "\xef\xbb\xbf# hello\r\na = 2 # two\r\nb=16\r\n c = 5e-1"};
  clear();
  ck_assert(judge_predictions(&v, &e, rows, 3) && v.share == 1);
  e.text = "a = 3\nb = ?\nd = 1\nnonsense\n";
  clear();
  ck_assert(!judge_predictions(&v, &e, rows, 3) && v.set && v.share == 0);
  has("a: 3 is not it; try A");
  has("b: not answered yet");
  has("c: there is no line");
  has("line 3: no question is called 'd'");
  has("line 4: 'nonsense' is not of the form");
  has_not("16");                          /* the right answer is never told */
  e.text = "a = 2\na = 2\nb = nan\nc = 1/2\n";
  clear();
  ck_assert(!judge_predictions(&v, &e, rows, 3) && v.share == 0);
  has("a: answered more than once");
  has("'1/2' is not a number");
  e.text = "a = 2\nb = 16\nc =\n";
  clear();
  ck_assert(!judge_predictions(&v, &e, rows, 3));
  ck_assert_double_eq_tol(v.share, 2.0 / 3, 1e-12);
  clear();
  ck_assert_str_eq(judge_prediction(&v, &e, "b"), "16");
  ck_assert_ptr_null(judge_prediction(&v, &e, "c"));
  ck_assert(v.set && v.share == 0);
  clear();
  ck_assert(!judge_predictions(&v, &e, rows, 0) && !v.set);   /* nothing asked is no pass */
}
END_TEST

Suite *suite_judge(void)
{
  Suite *s = suite_create("judge");
  const struct { const char *name; const TTest *test; } all[] = {
    {"numbers", random_numbers_are_the_published_ones},
    {"numbers", random_numbers_follow_seed_and_label},
    {"numbers", poison_differs_and_holds_nans},
    {"numbers", impossible_plans_are_told},
    {"verdicts", the_smallest_share_stays},
    {"verdicts", messages_never_overflow},
    {"values", floats_pass_only_when_shown_to_be_near},
    {"values", untouched_results_are_named},
    {"values", ints_are_compared_exactly},
    {"faults", faults_name_the_line_and_the_thread},
    {"counts", wavefronts_are_marked_between_full_and_none},
    {"answers", answers_must_be_whole_numbers},
    {"predictions", predictions_are_read_as_people_write_them},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    TCase *tc = tcase_create(all[i].name);
    tcase_add_test(tc, all[i].test);
    suite_add_tcase(s, tc);
  }
  return s;
}
