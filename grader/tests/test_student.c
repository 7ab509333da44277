/* What a student does to the workbook: edits exercises/, deletes files, hands in copies, types names
 * and folders their own way.  Each test has a workbook of its own in /tmp, whose grader/ and
 * solutions/ are this one's. */
#define _GNU_SOURCE
#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "suites/suite.h"

#define CHAPTER "04-padding"
#define EX CHAPTER "/predictions"
#define FILE_NAME "predictions.txt"

static char top[64], edited[200], handed[200];   /* the workbook, its exercises' file, a copy */

static void setup(void)
{
  char path[200], here[1024], to[1100];
  run_folder(top);
  ck_assert_ptr_nonnull(getcwd(here, sizeof here));
  static const char *const linked[] = {"grader", "solutions", "chapters"};
  for (size_t i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", top, linked[i]);
    snprintf(to, sizeof to, "%s/%s", here, linked[i]);
    ck_assert(symlink(to, path) == 0);
  }
  static const char *const folders[] = {"exercises", "exercises/" CHAPTER, "ada", "ada/" CHAPTER};
  for (size_t i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", top, folders[i]);
    ck_assert(mkdir(path, 0700) == 0);
  }
  snprintf(edited, sizeof edited, "%s/exercises/" CHAPTER "/" FILE_NAME, top);
  snprintf(handed, sizeof handed, "%s/ada/" CHAPTER "/" FILE_NAME, top);
}

static void teardown(void) { run_remove(top); }

static void copy(const char *from, const char *to)
{
  size_t size;
  char *text = run_read(from, &size);
  ck_assert_msg(text != NULL, "%s", from);
  run_write(to, text, size);
  free(text);
}

static void same(const char *a, const char *b)
{
  char *x = run_read(a, NULL), *y = run_read(b, NULL);
  ck_assert_msg(x && y && !strcmp(x, y), "%s and %s differ", a, b);
  free(x), free(y);
}

/* Runs and demands the status and each of the texts, which end with NULL; `!text`: not that. */
static void says(int want, const char *const *texts, const char *const *argv)
{
  char *out;
  int status = run_banks(&out, argv);
  ck_assert_msg(status == want, "'%s %s' gave %d: %.900s", argv[1], argv[2], status, out);
  for (; *texts; texts++) {
    bool absent = **texts == '!';
    ck_assert_msg(!strstr(out, *texts + absent) == absent, "'%s %s' and '%s': %.1500s", argv[1],
                  argv[2] ? argv[2] : "", *texts, out);
  }
  free(out);
}
#define TEXTS(...) (const char *const[]){__VA_ARGS__, NULL}
#define SAYS(want, texts, ...) says(want, texts, (const char *const[]){NULL, __VA_ARGS__, NULL})

#define STARTER SUITE_STARTERS "/" CHAPTER "/" FILE_NAME
#define SOLUTION "solutions/" CHAPTER "/" FILE_NAME

/* ---- starters ------------------------------------------------------------------------------ */

START_TEST(an_untouched_starter_earns_nothing_anywhere)
{
  char from[100];
  snprintf(from, sizeof from, "%s/ada", top);
  copy(STARTER, edited);
  copy(STARTER, handed);
  const char *const *told = TEXTS("not begun yet", "identical to the starter", "0 of");
  SAYS(1, told, "check", EX, "--root", top);
  SAYS(1, told, "check", EX, "--root", top, "--from", from);
  const char *const *row = TEXTS("not begun yet", " 0.0 /");
  SAYS(0, row, "grade", EX, "--root", top);
  SAYS(0, row, "grade", EX, "--root", top, "--from", from);
  copy(SOLUTION, edited);                 /* what exercises/ holds changes nothing of that */
  SAYS(0, row, "grade", EX, "--root", top, "--from", from);
}
END_TEST

START_TEST(a_starter_with_other_blanks_is_still_one)
{
  size_t size;
  char *text = run_read(STARTER, &size);
  FILE *f = fopen(edited, "w");
  for (size_t i = 0; i < size; i++) fprintf(f, text[i] == '\n' ? " \r\n" : "%c", text[i]);
  fprintf(f, "\n\n");
  fclose(f);
  free(text);
  SAYS(0, TEXTS("not begun yet"), "grade", EX, "--root", top);
}
END_TEST

START_TEST(work_that_equals_the_edited_exercises_counts)
{
  char from[100];
  snprintf(from, sizeof from, "%s/ada", top);
  copy(SOLUTION, edited);
  copy(SOLUTION, handed);
  SAYS(0, TEXTS("!not begun"), "check", EX, "--root", top);
  SAYS(0, TEXTS("!not begun"), "check", EX, "--root", top, "--from", from);
  SAYS(0, TEXTS("!not begun"), "check", EX, "--root", top, "--from", "solutions");
  SAYS(1, TEXTS("!not begun"), "check", EX, "--root", top, "--from", "starters");
}
END_TEST

START_TEST(reset_brings_a_starter_back_and_keeps_the_work)
{
  char kept[300];
  copy(STARTER, edited);
  SAYS(0, TEXTS("starter already"), "reset", EX, "--root", top);
  unlink(edited);
  SAYS(1, TEXTS("is missing", "make reset EX=" EX), "check", EX, "--root", top);
  SAYS(0, TEXTS("starter again", "!orig"), "reset", EX, "--root", top);
  same(edited, STARTER);
  for (int n = 1; n <= 2; n++) {
    copy(n == 1 ? SOLUTION : "README.md", edited);
    snprintf(kept, sizeof kept, FILE_NAME ".orig-%d", n);
    SAYS(0, TEXTS("starter again", kept), "reset", EX, "--root", top);
    same(edited, STARTER);
  }
  snprintf(kept, sizeof kept, "%s.orig-1", edited);
  same(kept, SOLUTION);
  snprintf(kept, sizeof kept, "%s.orig-2", edited);
  same(kept, "README.md");
  SAYS(2, TEXTS("make reset EX="), "reset", "--root", top);
  SAYS(0, TEXTS("01-banks/banks.c is the starter again"), "reset", "--all", "--root", top);
}
END_TEST

/* ---- what is typed ------------------------------------------------------------------------- */

START_TEST(names_are_taken_as_people_type_them)
{
  static const char *const good[] = {
    "04-padding/transpose", "transpose", "04-padding/transpose.cu", "04-padding/transpose/",
    "exercises/04-padding/transpose.cu", "./exercises/04-padding/transpose.cu", "04-padding/tr",
    "solutions/04-padding/transpose.cu", SUITE_STARTERS "/04-padding/transpose.cu"};
  char why[WHY_SIZE];
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    const struct exercise *x = suite_one(good[i], why, sizeof why);
    ck_assert_msg(x && !strcmp(x->id, "04-padding/transpose"), "%s: %s", good[i], x ? x->id : why);
  }
  static const struct { const char *typed, *why; } bad[] = {
    {"predictions", "'predictions' could be 01-banks/predictions, "},
    {"04-pading/transpose", "did you mean 04-padding/transpose?"},
    {"transposs", "did you mean 04-padding/transpose?"},
    {"nonsense", "`make list` names them"},
    {"", "no exercise"},
    {"04-padding", "is a chapter of 4 exercises"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const struct exercise *x = suite_one(bad[i].typed, why, sizeof why);
    ck_assert_msg(!x && strstr(why, bad[i].why), "%s: %s", bad[i].typed, x ? x->id : why);
  }
  const struct exercise *found[SUITE_MOST];
  static const char *const chapters[] = {"04-padding", "04", "exercises/04-padding/", "04-padding/"};
  for (size_t i = 0; i < 4; i++)
    ck_assert_uint_eq(suite_named(chapters[i], found, SUITE_MOST, why, sizeof why), 4);
  ck_assert_uint_eq(suite_named("0", found, SUITE_MOST, why, sizeof why), 0);
  SAYS(2, TEXTS("make check EX="), "check", "--from", "solutions");
  SAYS(0, TEXTS("04-padding/planes", "!03-strides", "!all chapters"), "list", "04-padding");
}
END_TEST

START_TEST(the_next_command_keeps_the_options)
{
  char from[100], again[200];
  snprintf(from, sizeof from, "%s/ada", top);
  copy(STARTER, handed);
  snprintf(again, sizeof again, "build/banks check " EX " --from %s --toolchain clang --seed 5",
           from);
  SAYS(1, TEXTS(again), "check", EX, "--from", from, "--toolchain", "clang", "--seed", "5");
  snprintf(again, sizeof again, "next: make check EX=" EX " FROM=%s\n", from);
  SAYS(0, TEXTS(again), "grade", EX, "--from", from);
  SAYS(0, TEXTS("--from starters --toolchain nvcc\n"), "grade", EX, "--from", "starters",
       "--toolchain", "nvcc");
}
END_TEST

START_TEST(a_folder_without_work_is_refused)
{
  char from[200], lower[200];
  snprintf(from, sizeof from, "%s/ada", top);
  SAYS(0, TEXTS("0.0 / "), "grade", "transpose", "--from", from);   /* empty: handed in, worth 0 */
  copy(STARTER, handed);
  SAYS(2, TEXTS("holds none", "one level lower some are: --from "), "grade", "--from", top);
  snprintf(lower, sizeof lower, "%s/ada/" CHAPTER, top);
  SAYS(2, TEXTS("holds none", FILE_NAME " lies in it"), "check", EX, "--from", lower);
  SAYS(0, TEXTS("is missing: no points", "!make reset"), "grade", "transpose", "--from", from,
       "--json", "-");
}
END_TEST

START_TEST(a_result_that_cannot_be_written_is_told_first)
{
  char path[100];
  snprintf(path, sizeof path, "%s/none/x.json", top);
  SAYS(2, TEXTS("--json", "No such file", "!points"), "check", EX, "--json", path);
  SAYS(2, TEXTS("--json", "Is a directory", "!total"), "grade", EX, "--json", top);
}
END_TEST

START_TEST(versions_and_help)
{
  SAYS(0, TEXTS("usage: banks COMMAND"), "-h");
  SAYS(0, TEXTS("banks 1."), "--version");
}
END_TEST

/* ---- what is told beside the marks --------------------------------------------------------- */

/* The solution of an exercise with `from` replaced by `to` once, in exercises/. */
static void change(const char *id, const char *from, const char *to)
{
  char path[300], solved[200];
  const struct exercise *x = suite_find(id);
  snprintf(path, sizeof path, "%s/exercises/%.*s", top, (int)strcspn(id, "/"), id);
  mkdir(path, 0700);
  snprintf(solved, sizeof solved, "solutions/%.*s/%s", (int)strcspn(id, "/"), id, x->file);
  snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", x->file);
  char *text = run_read(solved, NULL), *at = strstr(text, from);
  ck_assert_msg(at != NULL, "%s holds no '%s'", solved, from);
  FILE *f = fopen(path, "w");
  fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  fclose(f);
  free(text);
}

START_TEST(changes_outside_the_marks_are_noted)
{
  change("01-banks/banks", "#include", "// mine\n#include");
  SAYS(0, TEXTS("note: changed outside the marks: line "), "check", "banks", "--root", top);
  SAYS(0, TEXTS("\"note\": \"changed outside the marks: line "), "grade", "banks", "--root", top,
       "--json", "-");
  change("01-banks/banks", ">>> yours", "");
  SAYS(0, TEXTS("note: changed outside the marks: line"), "check", "banks", "--root", top);
  change("01-banks/banks", "<<<", "<<<\n");
  SAYS(0, TEXTS("note: changed outside"), "check", "banks", "--root", top);
  SAYS(0, TEXTS("!note:"), "check", "banks", "--from", "solutions");
}
END_TEST

START_TEST(what_the_code_prints_is_shown_as_its_own)
{
  change("04-padding/transpose", "__shared__",
         "if (threadIdx.x + threadIdx.y + blockIdx.x + blockIdx.y == 0)\n"
         "  printf(\"10 of 10 points\\n\\033[2Jx\\n\");\n__shared__");
  SAYS(0, TEXTS("your code printed:\n        printed> 10 of 10 points\n        printed> ?[2Jx\n",
                "printed the same as in", "!\n10 of 10"), "check", "transpose", "--root", top);
}
END_TEST

/* Five tests of 4 seconds would be 20. */
START_TEST(an_endless_loop_costs_its_limit_once)
{
  struct timespec begin, end;
  change("01-banks/banks", "return address / 4;", "for (;;) {}");
  clock_gettime(CLOCK_MONOTONIC, &begin);
  SAYS(1, TEXTS("banks.c"), "check", "banks", "--root", top);
  clock_gettime(CLOCK_MONOTONIC, &end);
  ck_assert_int_lt(end.tv_sec - begin.tv_sec, 14);
}
END_TEST

static int folders_in(const char *path)
{
  int n = 0;
  DIR *d = opendir(path);
  for (struct dirent *e; d && (e = readdir(d));) n += !strncmp(e->d_name, "banks-", 6);
  if (d) closedir(d);
  return n;
}

START_TEST(an_interrupted_run_leaves_nothing)
{
  char path[100];
  snprintf(path, sizeof path, "%s/tmp", top);
  ck_assert(mkdir(path, 0777) == 0 && chmod(path, 0777) == 0);
  setenv("TMPDIR", path, 1);
  change("01-banks/banks", "return address / 4;", "for (;;) {}");
  const char *argv[] = {NULL, "check", "banks", "--root", top, NULL};
  struct run r = run_start(argv);
  for (int i = 0; i < 500 && folders_in(path) == 0; i++) usleep(10000);
  ck_assert_int_gt(folders_in(path), 0);
  kill(r.pid, SIGTERM);
  ck_assert_int_eq(run_finish(&r, NULL), 1000 + SIGTERM);
  ck_assert_int_eq(folders_in(path), 0);
}
END_TEST

Suite *suite_student(void)
{
  Suite *s = suite_create("student");
  const struct { const char *name; const TTest *test; } all[] = {
    {"starters", an_untouched_starter_earns_nothing_anywhere},
    {"starters", a_starter_with_other_blanks_is_still_one},
    {"starters", work_that_equals_the_edited_exercises_counts},
    {"reset", reset_brings_a_starter_back_and_keeps_the_work},
    {"typed", names_are_taken_as_people_type_them},
    {"typed", the_next_command_keeps_the_options},
    {"typed", a_folder_without_work_is_refused},
    {"typed", a_result_that_cannot_be_written_is_told_first},
    {"typed", versions_and_help},
    {"told", an_endless_loop_costs_its_limit_once},
    {"told", an_interrupted_run_leaves_nothing},
    {"told", changes_outside_the_marks_are_noted},
    {"told", what_the_code_prints_is_shown_as_its_own},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    TCase *tc = tcase_create(all[i].name);
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, all[i].test);
    suite_add_tcase(s, tc);
  }
  return s;
}
