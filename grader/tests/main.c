/* The grader's own tests: every Check suite of tests.def in one runner.
 * Arguments name suites to run; none: all.  Ends with Check's closing line. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define TEST_SUITE(name) Suite *suite_##name(void);
#include "tests.def"
#undef TEST_SUITE

static const struct { const char *name; Suite *(*make)(void); } all[] = {
#define TEST_SUITE(name) {#name, suite_##name},
#include "tests.def"
#undef TEST_SUITE
};

int main(int argc, char **argv)
{
  /* Tests that grade in this process start this program as their worker. */
  if (argc > 1 && !strcmp(argv[1], "worker")) return command_worker(argc - 1, argv + 1);
  SRunner *runner = srunner_create(NULL);
  size_t chosen = 0, count = sizeof all / sizeof *all;
  for (size_t i = 0; i < count; i++) {
    bool take = argc < 2;
    for (int a = 1; a < argc; a++) take |= !strcmp(argv[a], all[i].name);
    if (take) {
      srunner_add_suite(runner, all[i].make());
      chosen++;
    }
  }
  if (chosen == 0 || (argc > 1 && chosen != (size_t)argc - 1)) {
    fprintf(stderr, "banks-tests: unknown suite; there are:");
    for (size_t i = 0; i < count; i++) fprintf(stderr, " %s", all[i].name);
    fprintf(stderr, "\n");
    return 2;
  }
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
  srunner_free(runner);
  return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
