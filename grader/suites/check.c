/* Judging in Check: each test a TCase of its own name, forked, under a time limit.
 *
 * Check is only told pass or fail and a short text; points and messages are in memory shared with
 * the forked tests, because Check's own messages are cut at 4096 bytes and carry no points.  What
 * Check says and what the verdicts say must agree, and every test must have run exactly once: any
 * doubt is our fault, `not graded`, never a pass or a failure. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/item.h"

/* What the forked tests see; set before the runner starts, one exercise at a time. */
static struct { struct work *work; struct verdict *verdicts; } now;

static void judge(struct work *w, struct item *it, struct verdict *v)
{
  if (it->ours) {
    v->not_graded = true;
    verdict_fail(v, "%s", it->ours);
  } else if (it->failed) {
    verdict_fail(v, "%s", it->failed);
  } else {
    struct rng r;
    rng_seed(&r, w->seed, it->label);
    it->test->judge(v, &it->evidence, &r);
    if (v->set && !v->not_graded) work_second_judge(w, it, v);
  }
}

START_TEST(one)
{
  struct verdict *v = &now.verdicts[_i];
  judge(now.work, &now.work->items[_i], v);
  if (!v->set) ck_abort_msg("no verdict");
  if (v->not_graded) ck_abort_msg("not graded");
  if (v->share < 1) ck_abort_msg("failed");
}
END_TEST

/* Check reads CK_* variables (which tests to run, time limits, log files); none may come from
 * outside. */
static void scrub_environment(void)
{
  extern char **environ;
  for (size_t i = 0; environ && environ[i];) {
    char name[128];
    size_t length = strcspn(environ[i], "=");
    if (strncmp(environ[i], "CK_", 3) || length >= sizeof name) {
      i++;
      continue;
    }
    memcpy(name, environ[i], length);
    name[length] = 0;
    if (unsetenv(name)) i++;              /* the list moved up: look at this place again */
  }
}

static void doubt(struct verdict *v, const char *why)
{
  v->not_graded = true;
  v->message[sizeof v->message - 1] = 0;
  verdict_fail(v, "%s", why);
}

void work_judge(struct work *w, struct verdict *verdicts)
{
  scrub_environment();
  now.work = w;
  now.verdicts = verdicts;
  Suite *suite = suite_create(w->exercise->id);
  for (size_t i = 0; i < w->nitems; i++) {
    TCase *tc = tcase_create(w->items[i].test->name);
    tcase_set_timeout(tc, w->judge_seconds > 0 ? w->judge_seconds : JUDGE_SECONDS);
    tcase_add_loop_test(tc, one, (int)i, (int)i + 1);
    suite_add_tcase(suite, tc);
  }
  SRunner *runner = srunner_create(suite);
  srunner_set_fork_status(runner, CK_FORK);
  fflush(NULL);                           /* or each fork would print it again */
  srunner_run_all(runner, CK_SILENT);
  int ran = srunner_ntests_run(runner);
  TestResult **results = srunner_results(runner);
  for (size_t i = 0; i < w->nitems; i++) {
    struct verdict *v = &verdicts[i];
    int times = 0;
    enum test_result said = CK_TEST_RESULT_INVALID;
    for (int k = 0; results && k < ran; k++)
      if (!strcmp(tr_tcname(results[k]), w->items[i].test->name)) {
        times++;
        said = (enum test_result)tr_rtype(results[k]);
      }
    bool passed = v->set && !v->not_graded && v->share >= 1;
    if (times != 1) doubt(v, "the test did not run exactly once");
    else if (said == CK_ERROR) doubt(v, "the judge of this test crashed or ran too long");
    else if (!v->set) doubt(v, "the judge of this test came to no verdict");
    else if (said != (passed ? CK_PASS : CK_FAILURE)) doubt(v, "Check and the verdict disagree");
  }
  free(results);
  srunner_free(runner);
}
