/* The exercise contract, for every exercise of the tables: hints, marks, starter, solution on
 * each compiler, and every catalogued wrong answer with the message it must get.
 *
 * A wrong answer is a file in grader/tests/wrong/NN-name/EXERCISE/ whose first lines are
 *     // expect: TEST NAME: text its message must hold
 * and starter.expect there holds `TEST NAME: text` lines for the starter.  Expectations are
 * exact: tests that are named must not pass, all others must.  `*` stands for all tests not
 * named. grader/tests/hostile/ is laid out like wrong/.
 * EX=04-padding/transpose in the environment runs one exercise only.
 */
#define _GNU_SOURCE
#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"
#include "suites/suite.h"
#include "toolchain/toolchain.h"

enum { MOST = 32 };

/* ---- complaints: all of an exercise's are gathered, then the test fails with them ---------- */

static char complaints[3900];             /* Check cuts at 4096 */

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
  size_t n = strlen(complaints);
  va_list ap;
  va_start(ap, format);
  vsnprintf(complaints + n, sizeof complaints - n, format, ap);
  va_end(ap);
  n = strlen(complaints);
  if (n + 1 < sizeof complaints) strcpy(complaints + n, "\n");
}

static void settle(void) { ck_assert_msg(!*complaints, "\n%s", complaints); }

static const struct exercise *exercise_at(int n)
{
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++)
      if (n-- == 0) return x;
  return NULL;
}

static bool chosen(const struct exercise *x)
{
  const char *ex = getenv("EX");
  return !ex || !*ex || !strcmp(ex, x->id);
}

static void file_of(const struct exercise *x, const char *top, char *out, size_t size)
{
  snprintf(out, size, "%s/%.*s/%s", top, (int)strcspn(x->id, "/"), x->id, x->file);
}

/* ---- expectations -------------------------------------------------------------------------- */

struct expectation { char test[64], text[256]; };

static bool expectation_parse(const char *line, size_t length, struct expectation *e)
{
  char text[400];
  snprintf(text, sizeof text, "%.*s", (int)length, line);
  char *colon = strstr(text, ": ");
  if (!colon) return false;
  *colon = 0;
  snprintf(e->test, sizeof e->test, "%.63s", text);
  snprintf(e->text, sizeof e->text, "%.255s", colon + 2);
  for (size_t n = strlen(e->text); n && isspace((unsigned char)e->text[n - 1]);) e->text[--n] = 0;
  return *e->test && *e->text;
}

/* Leading `// expect: ` lines of a wrong answer. */
static size_t expectations_of(const char *text, struct expectation *out)
{
  size_t n = 0;
  while (n < MOST) {
    size_t skip = !strncmp(text, "// expect: ", 11) ? 11
                  : !strncmp(text, "# expect: ", 10) ? 10 : 0;
    size_t length = strcspn(text, "\n");
    if (!skip || !expectation_parse(text + skip, length - skip, &out[n])) break;
    n++;
    text += length + (text[length] == '\n');
  }
  return n;
}

static size_t expectations_of_starter(const char *text, const char *path, struct expectation *out)
{
  size_t n = 0;
  for (; *text && n < MOST;) {
    size_t length = strcspn(text, "\n");
    if (length && *text != '#') {
      if (expectation_parse(text, length, &out[n])) n++;
      else complain("%s: not `TEST NAME: text`: %.*s", path, (int)length, text);
    }
    text += length + (text[length] == '\n');
  }
  return n;
}

/* `part` in `whole`, where any run of blanks equals any other. */
static bool holds(const char *whole, const char *part)
{
  for (; *whole; whole++) {
    const char *w = whole, *p = part;
    while (*p) {
      if (isspace((unsigned char)*p)) {
        if (!isspace((unsigned char)*w)) break;
        while (isspace((unsigned char)*w)) w++;
        while (isspace((unsigned char)*p)) p++;
      } else if (*w++ != *p++) {
        p--;
        break;
      }
    }
    if (!*p) return true;
  }
  return false;
}

static const struct expectation *expected(const struct expectation *e, size_t n, const char *test)
{
  const struct expectation *any = NULL;
  for (size_t i = 0; i < n; i++) {
    if (!strcmp(e[i].test, test)) return &e[i];
    if (!strcmp(e[i].test, "*")) any = &e[i];
  }
  return any;
}

/* Compares a grade in JSON with what was expected; `what` names the graded file. */
static void compare(const char *what, const char *text, const struct expectation *e, size_t n)
{
  json_error_t error;
  json_t *top = json_loads(text, 0, &error);
  json_t *exercise = json_array_get(json_object_get(top, "exercises"), 0);
  json_t *tests = json_object_get(exercise, "tests"), *test;
  size_t at, seen = json_array_size(tests);
  if (seen == 0) complain("%s: no result: %.300s", what, text);
  json_array_foreach(tests, at, test) {
    const char *name = json_string_value(json_object_get(test, "name"));
    const char *status = json_string_value(json_object_get(test, "status"));
    const char *message = json_string_value(json_object_get(test, "message"));
    const struct expectation *want = expected(e, n, name);
    if (!want && strcmp(status, "passed"))
      complain("%s: '%s' was to pass, but %s: %.500s", what, name, status, message);
    if (want && strcmp(status, "failed"))
      complain("%s: '%s' was to fail, but %s: %.300s", what, name, status, message);
    if (want && !strcmp(status, "failed") && !holds(message, want->text))
      complain("%s: '%s' failed without '%s': %.700s", what, name, want->text, message);
  }
  for (size_t i = 0; i < n; i++) {
    bool known = !strcmp(e[i].test, "*");
    json_array_foreach(tests, at, test)
      known |= !strcmp(e[i].test, json_string_value(json_object_get(test, "name")));
    if (!known && seen) complain("%s: there is no test '%s'", what, e[i].test);
  }
  json_decref(top);
}

/* ---- grading several files, two at a time -------------------------------------------------- */

struct trial {
  char what[200], from[96];
  struct expectation expect[MOST];
  size_t nexpect;
  const char *toolchain, *seed;
  struct run run;
};

static void start(struct trial *t, const struct exercise *x)
{
  const char *argv[] = {NULL, "check", x->id, "--from", t->from, "--json", "-", "--toolchain",
                        t->toolchain ? t->toolchain : "auto", t->seed ? "--seed" : NULL, t->seed,
                        NULL};
  t->run = run_start(argv);
}

static void finish(struct trial *t)
{
  char *text;
  run_finish(&t->run, &text);
  compare(t->what, text, t->expect, t->nexpect);
  free(text);
}

static void run_trials(struct trial *t, size_t n, const struct exercise *x)
{
  for (size_t i = 0; i < n + 1; i++) {
    if (i < n) start(&t[i], x);
    if (i > 0) finish(&t[i - 1]);
  }
}

/* ---- the tests ----------------------------------------------------------------------------- */

START_TEST(shape)
{
  const struct exercise *x = exercise_at(_i);
  if (!chosen(x)) return;
  char base[64];
  const char *last = strchr(x->id, '/');
  ck_assert_msg(last != NULL, "%s is no NN-name/exercise", x->id);
  snprintf(base, sizeof base, "%.*s", (int)strcspn(x->file, "."), x->file);
  if (strcmp(base, last + 1)) complain("%s: its file is called %s", x->id, x->file);
  if (!x->title || !*x->title) complain("%s has no title", x->id);
  size_t hints = 0;
  while (x->hints && x->hints[hints]) {
    if (strlen(x->hints[hints]) < 20) complain("%s: hint %zu is too short", x->id, hints + 1);
    hints++;
  }
  if (hints != 3) complain("%s: %zu hints instead of 3", x->id, hints);
  if (!x->read || access(x->read, R_OK)) complain("%s: read: no %s", x->id, x->read);
  for (const struct test *t = x->tests; t->name; t++) {
    if (!(t->points > 0)) complain("%s, %s: no points", x->id, t->name);
    if (strspn(t->name, "abcdefghijklmnopqrstuvwxyz0123456789 -") != strlen(t->name))
      complain("%s: test name '%s'", x->id, t->name);
    for (const struct test *u = x->tests; u < t; u++)
      if (!strcmp(u->name, t->name)) complain("%s: two tests are called %s", x->id, t->name);
    if (!t->judge || (x->kind != EXERCISE_PREDICT && !t->plan))
      complain("%s, %s: no plan or no judge", x->id, t->name);
  }
  if (!x->tests->name) complain("%s has no tests", x->id);
  settle();
}
END_TEST

/* The starters are kept twice: in exercises/, where a student edits them, and in grader/starters/,
 * which nothing changes.  In a clean clone (CI=true) both are the same. */
START_TEST(starters_are_kept)
{
  const struct exercise *x = exercise_at(_i);
  if (!chosen(x)) return;
  char path[256], edited[256];
  file_of(x, SUITE_STARTERS, path, sizeof path);
  file_of(x, "exercises", edited, sizeof edited);
  size_t kept, given;
  char *a = run_read(path, &kept);
  ck_assert_msg(a != NULL, "%s is missing: copy %s there", path, edited);
  const char *ci = getenv("CI");
  if (ci && !strcmp(ci, "true")) {
    char *b = run_read(edited, &given);
    ck_assert_msg(b && kept == given && !memcmp(a, b, kept), "%s and %s differ: copy the one that "
                  "was changed", path, edited);
    free(b);
  }
  free(a);
}
END_TEST

/* What is outside the marks, line by line; NULL when marks do not pair. */
static char *outside(const char *text, size_t *pairs)
{
  char *out = malloc(strlen(text) + 1), *o = out;
  bool inside = false;
  *pairs = 0;
  while (*text) {
    size_t length = strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
    bool opens = memmem(text, length, ">>> yours", 9) != NULL;
    bool closes = memmem(text, length, "<<<", 3) != NULL && !opens &&
                  strspn(text, " \t/#*<\r\n") >= length;   /* not a launch in a comment */
    if ((opens && inside) || (closes && !inside)) {
      free(out);
      return NULL;
    }
    if (closes) inside = false;
    if (!inside) o = mempcpy(o, text, length);
    if (opens) inside = true;
    *pairs += opens;
    text += length;
  }
  *o = 0;
  if (!inside) return out;
  free(out);
  return NULL;
}

START_TEST(marks)
{
  const struct exercise *x = exercise_at(_i);
  if (!chosen(x)) return;
  char path[256], solved[256];
  file_of(x, SUITE_STARTERS, path, sizeof path);
  file_of(x, "solutions", solved, sizeof solved);
  char *a = run_read(path, NULL), *b = run_read(solved, NULL);
  ck_assert_msg(a != NULL, "%s is missing", path);
  ck_assert_msg(b != NULL, "%s is missing", solved);
  size_t pairs_a, pairs_b;
  char *rest_a = outside(a, &pairs_a), *rest_b = outside(b, &pairs_b);
  ck_assert_msg(rest_a && rest_b, "%s: marks `>>> yours` and `<<<` do not pair", x->id);
  ck_assert_msg(pairs_a > 0 && pairs_a == pairs_b, "%s: %zu and %zu marks", x->id, pairs_a,
                pairs_b);
  ck_assert_msg(strcmp(a, b) != 0, "%s: starter and solution are equal", x->id);
  size_t line = 1;
  for (size_t i = 0; rest_a[i] || rest_b[i]; i++) {
    ck_assert_msg(rest_a[i] == rest_b[i], "%s: starter and solution differ outside the marks, at "
                  "line %zu of what is outside: %.60s", x->id, line, rest_b + i);
    line += rest_a[i] == '\n';
  }
  free(a), free(b), free(rest_a), free(rest_b);
}
END_TEST

static bool have_compiler(const char *name)
{
  char command[64];
  snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
  return system(command) == 0;
}

/* The starter fails as its starter.expect says, the solution gets full marks on both compilers
 * and, with inputs nobody has seen, once more. */
START_TEST(starter_and_solution)
{
  const struct exercise *x = exercise_at(_i);
  if (!chosen(x)) return;
  struct trial *t = calloc(4, sizeof *t);
  size_t n = 0;
  char path[300];
  snprintf(path, sizeof path, "grader/tests/wrong/%s/starter.expect", x->id);
  char *text = run_read(path, NULL);
  if (text) {
    t[n].nexpect = expectations_of_starter(text, path, t[n].expect);
    t[n].seed = "1";
    strcpy(t[n].from, "starters");
    snprintf(t[n].what, sizeof t[n].what, "starter of %s", x->id);
    if (t[n].nexpect == 0) complain("%s: expects nothing", path);
    n++;
  } else {
    complain("%s is missing", path);
  }
  static const char *const compilers[] = {"nvcc", "clang"};
  if (x->kind == EXERCISE_KERNEL) {
    for (size_t i = 0; i < 2; i++) {
      if (!have_compiler(compilers[i])) continue;
      t[n].toolchain = compilers[i];
      t[n].seed = "2";
      snprintf(t[n].what, sizeof t[n].what, "solution of %s with %s", x->id, compilers[i]);
      strcpy(t[n++].from, "solutions");
    }
  }
  snprintf(t[n].what, sizeof t[n].what, "solution of %s", x->id);
  strcpy(t[n++].from, "solutions");
  run_trials(t, n, x);
  free(text);
  free(t);
  settle();
}
END_TEST

static int wrong_answer(const struct dirent *d)
{
  const char *dot = strrchr(d->d_name, '.');
  return dot && *d->d_name != '.' &&
         (!strcmp(dot, ".cu") || !strcmp(dot, ".c") || !strcmp(dot, ".txt"));
}

/* Grades every file of a folder as the exercise's and compares.  `least`: how many there must
 * be. */
static void grade_folder(const struct exercise *x, const char *kind, int least, bool expects)
{
  char folder[200], top[64];
  struct dirent **names;
  snprintf(folder, sizeof folder, "grader/tests/%s/%s", kind, x->id);
  int n = scandir(folder, &names, wrong_answer, alphasort);
  bool none = n < 0;
  if (none) n = 0;
  if (n < least) complain("%s: %d wrong answers, at least %d are wanted", folder, n, least);
  run_folder(top);
  struct trial *t = calloc((size_t)n + 1, sizeof *t);
  for (int i = 0; i < n; i++) {
    char path[600], to[800];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
    char *text = run_read(path, &size);
    ck_assert_ptr_nonnull(text);
    snprintf(t[i].from, sizeof t[i].from, "%s/%d", top, i);
    snprintf(t[i].what, sizeof t[i].what, "%s, %.80s", x->id, names[i]->d_name);
    t[i].nexpect = expectations_of(text, t[i].expect);
    t[i].seed = "3";
    if (expects && t[i].nexpect == 0) complain("%s does not begin with an `expect: ` line", path);
    ck_assert(mkdir(t[i].from, 0700) == 0);
    snprintf(to, sizeof to, "%s/%.*s", t[i].from, (int)strcspn(x->id, "/"), x->id);
    ck_assert(mkdir(to, 0700) == 0);
    file_of(x, t[i].from, to, sizeof to);
    run_write(to, text, size);
    free(text);
    free(names[i]);
  }
  if (!none) free(names);
  run_trials(t, (size_t)n, x);
  free(t);
  run_remove(top);
  settle();
}

START_TEST(wrong_answers)
{
  const struct exercise *x = exercise_at(_i);
  if (chosen(x)) grade_folder(x, "wrong", strcmp(x->id, "03") < 0 ? 2 : 3, true);
}
END_TEST

/* Hostile files, numbered as in the corpus they come from.  One without `expect: ` lines does
 * something that must have no effect, and gets full marks. */
START_TEST(hostile_files)
{
  const struct exercise *x = exercise_at(_i);
  if (chosen(x)) grade_folder(x, "hostile", 0, false);
}
END_TEST

Suite *suite_contract(void)
{
  Suite *s = suite_create("contract");
  int n = 0;
  while (exercise_at(n)) n++;
  const struct { const char *name; const TTest *test; double seconds; } cases[] = {
    {"shape", shape, 5},
    {"starters", starters_are_kept, 5},
    {"marks", marks, 5},
    {"starter and solution", starter_and_solution, 120},
    {"wrong answers", wrong_answers, 240},
    {"hostile files", hostile_files, 240},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TCase *tc = tcase_create(cases[i].name);
    tcase_set_timeout(tc, cases[i].seconds);
    if (n) tcase_add_loop_test(tc, cases[i].test, 0, n);
    suite_add_tcase(s, tc);
  }
  return s;
}
