/* The framework: frames, Check as the judge's cage, students' files, records, and the
 * commands. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/report.h"
#include "run.h"
#include "suites/item.h"

/* ---- frames -------------------------------------------------------------------------------- */

static struct job_buffer buffers[] = {{.name = "in", .read_only = true, .bytes = 8},
                                      {.name = "out", .returned = true, .bytes = 16}};
static struct job_launch launches[2];
static struct job job = {.device = "sim", .buffers = buffers, .nbuffers = 2,
                         .launches = launches, .nlaunches = 2};

/* The bytes of an outcome with one of everything. */
static struct codec outcome_frame(void)
{
  static char *files[] = {"", "t.cu"};
  static struct sim_site sites[2];
  static struct sim_fault faults[1];
  static struct sim_result results[2];
  static unsigned char out[16] = "0123456789abcde", *back[] = {NULL, out};
  static double milliseconds[2] = {0.5, 0};
  for (int i = 0; i < 2; i++)
    sites[i] = (struct sim_site){.file = 1, .line = 7, .op = MODEL_LOAD, .width = 4, .requests = 3,
                                 .wavefronts = 96, .ideal = 3, .exact = true};
  faults[0] = (struct sim_fault){.kind = SIM_FAULT_RACE, .file = 1, .line = 9, .count = 2,
                                 .object = "tile", .text = "two threads"};
  results[0] = (struct sim_result){.sites = sites, .nsites = 2, .printed = "hello",
                                   .completed = true, .totals.warps = 5};
  results[1] = (struct sim_result){.faults = faults, .nfaults = 1};
  struct outcome o = {.end = JOB_RAN, .device = "sim", .files = files, .nfiles = 2,
                      .launches = results, .nlaunches = 2, .milliseconds = milliseconds,
                      .buffers = back, .nbuffers = 2};
  struct codec c = {.writing = true};
  outcome_code(&c, &o, &job);
  ck_assert(!c.bad);
  return c;
}

static bool decode(const struct codec *frame, size_t size, struct outcome *o)
{
  /* a block of its own size, so that the sanitizer sees a read past the end */
  unsigned char *copy = malloc(size ? size : 1);
  memcpy(copy, frame->data, size);
  struct codec c = {.data = copy, .size = size};
  memset(o, 0, sizeof *o);
  outcome_code(&c, o, &job);
  free(copy);
  return codec_done(&c);
}

START_TEST(frames_come_back_as_they_went)
{
  struct codec frame = outcome_frame(), again = {.writing = true};
  struct outcome o;
  ck_assert(decode(&frame, frame.size, &o));
  ck_assert_str_eq(o.files[1], "t.cu");
  ck_assert_str_eq(o.launches[0].printed, "hello");
  ck_assert_uint_eq(o.launches[0].sites[1].wavefronts, 96);
  ck_assert_str_eq(o.launches[1].faults[0].text, "two threads");
  ck_assert_ptr_null(o.buffers[0]);
  ck_assert_int_eq(memcmp(o.buffers[1], "0123456789abcde", 16), 0);
  outcome_code(&again, &o, &job);
  outcome_free(&o);
  free(again.data), free(frame.data);
}
END_TEST

START_TEST(short_frames_are_refused)
{
  struct codec frame = outcome_frame();
  for (size_t n = 0; n < frame.size; n++) {
    struct outcome o;
    ck_assert_msg(!decode(&frame, n, &o), "%zu of %zu bytes were enough", n, frame.size);
    outcome_free(&o);
  }
  free(frame.data);
}
END_TEST

START_TEST(garbled_frames_do_no_harm)
{
  struct codec frame = outcome_frame();
  unsigned char *keep = malloc(frame.size);
  struct rng r;
  size_t refused = 0;
  memcpy(keep, frame.data, frame.size);
  rng_seed(&r, 1, "fuzz");
  for (int i = 0; i < 20000; i++) {
    struct outcome o;
    for (uint32_t k = 1 + rng_below(&r, 4); k; k--) {
      static const unsigned char nasty[] = {0, 1, 0x7f, 0x80, 0xff};
      frame.data[rng_below(&r, (uint32_t)frame.size)] = nasty[rng_below(&r, 5)];
    }
    bool good = decode(&frame, frame.size, &o);
    refused += !good;
    if (good) {
      ck_assert_uint_le(o.nlaunches, job.nlaunches);
      for (size_t k = 0; k < o.nlaunches; k++)
        for (size_t s = 0; s < o.launches[k].nsites; s++)
          ck_assert(o.launches[k].sites[s].file <= o.nfiles &&
                    o.launches[k].sites[s].op < MODEL_OPS);
    }
    outcome_free(&o);
    memcpy(frame.data, keep, frame.size);
  }
  ck_assert_uint_gt(refused, 1000);
  free(frame.data), free(keep);
}
END_TEST

START_TEST(an_unknown_device_is_our_fault)
{
  struct job j = {.device = "abacus", .ptx = (unsigned char *)"", .ptx_size = 0};
  struct outcome o;
  job_run(&j, 10, &o);
  ck_assert_int_eq(o.end, JOB_OURS);
  ck_assert_msg(strstr(o.why, "abacus") != NULL, "%s", o.why);
  outcome_free(&o);
}
END_TEST

/* Whatever comes in, the worker ends by itself and says nothing on its output. */
START_TEST(the_worker_refuses_garbage)
{
  static const uint64_t huge[] = {FRAME_MAGIC, UINT64_MAX}, empty[] = {FRAME_MAGIC, 0};
  const void *jobs[] = {"", "hello", huge, empty};
  static const size_t sizes[] = {0, 5, 16, 16};
  const char *banks = getenv("BANKS") ? getenv("BANKS") : "build/banks";
  for (size_t i = 0; i < 4; i++) {
    int in[2], status;
    ck_assert(pipe(in) == 0);
    pid_t pid = fork();
    if (pid == 0) {
      int null = open("/dev/null", O_RDWR);
      dup2(in[0], 0), dup2(null, 1), dup2(null, 2);
      close(in[1]);
      execl(banks, banks, "worker", NULL);
      _exit(127);
    }
    ck_assert_int_eq(write(in[1], jobs[i], sizes[i]), (ssize_t)sizes[i]);
    close(in[0]), close(in[1]);
    ck_assert(waitpid(pid, &status, 0) == pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  }
}
END_TEST

/* ---- Check as the cage --------------------------------------------------------------------- */

static void pass(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)e, (void)r;
  verdict_pass(v, "good");
}
static void flunk(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)e, (void)r;
  for (int i = 0; i < 300; i++) verdict_fail(v, "a message past Check's limit of 4096 bytes");
}
static void half(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)e, (void)r;
  verdict_partial(v, 0.5, "half");
}
static void crash(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)e, (void)r;
  verdict_pass(v, "good, but then it crashes");
  raise(SIGKILL);
}
static void silent(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)v, (void)e, (void)r;
}
static void leaves(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)v, (void)e, (void)r;
  _exit(0);                               /* Check alone would call this a pass */
}
static void hangs(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)e, (void)r;
  verdict_pass(v, "good, but it does not end");
  for (;;) pause();
}

static const struct test toys[] = {
  {"pass", 2, NULL, pass}, {"fail", 1, NULL, flunk}, {"half", 3, NULL, half},
  {"crash", 1, NULL, crash}, {"silent", 1, NULL, silent}, {"leaves", 1, NULL, leaves},
  {"hangs", 1, NULL, hangs}, {"settled", 1, NULL, pass}, {"ours", 1, NULL, pass}, {0}};
static const struct exercise toy = {.id = "99-toys/toy", .kind = EXERCISE_PREDICT, .tests = toys};

START_TEST(only_what_was_judged_counts)
{
  enum { TOYS = 9 };
  struct item items[TOYS] = {0};
  struct work w = {.exercise = &toy, .items = items, .nitems = TOYS, .judge_seconds = 1};
  for (int i = 0; i < TOYS; i++) items[i].test = &toys[i];
  items[7].failed = "no file";
  items[8].ours = "no compiler";
  setenv("CK_RUN_CASE", "pass", 1);       /* none of these may change what is judged */
  setenv("CK_FORK", "no", 1);
  setenv("CK_DEFAULT_TIMEOUT", "0", 1);
  struct verdict *v = mmap(NULL, TOYS * sizeof *v, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  work_judge(&w, v);
  ck_assert(v[0].set && !v[0].not_graded && v[0].share == 1);
  ck_assert(v[1].set && !v[1].not_graded && v[1].share == 0 && strlen(v[1].message) > 8000);
  ck_assert(v[2].set && !v[2].not_graded && v[2].share == 0.5);
  for (int i = 3; i <= 6; i++)
    ck_assert_msg(v[i].not_graded && v[i].share == 0, "%s: share %g", toys[i].name, v[i].share);
  ck_assert(v[7].set && !v[7].not_graded && v[7].share == 0);
  ck_assert_str_eq(v[7].message, "no file");
  ck_assert(v[8].not_graded);
}
END_TEST

/* ---- students' files ----------------------------------------------------------------------- */

static char top[64], why[256];
static bool missing;

static void setup_files(void)
{
  char path[128];
  run_folder(top);
  snprintf(path, sizeof path, "%s/99-toys", top);
  ck_assert(mkdir(path, 0700) == 0);
}
static void teardown_files(void) { run_remove(top); }

static char *read_toy(const char *file)
{
  const struct exercise x = {.id = "99-toys/toy", .file = file};
  size_t size;
  return suite_read(top, &x, &size, &missing, why, sizeof why);
}

static void at(char out[128], const char *file) { snprintf(out, 128, "%s/99-toys/%s", top, file); }

static void refused(const char *file, const char *text)
{
  char *s = read_toy(file);
  ck_assert_msg(!s && !missing && strstr(why, text), "%s: %s", file, s ? "accepted" : why);
}

START_TEST(files_that_are_none_are_refused)
{
  char path[128], other[128];
  at(path, "good.c");
  run_write(path, "int x;\n", 7);
  char *s = read_toy("good.c");
  ck_assert_ptr_nonnull(s);
  ck_assert_str_eq(s, "int x;\n");
  free(s);
  ck_assert(!read_toy("none.c") && missing);
  at(path, "link.c");
  ck_assert(symlink("/etc/passwd", path) == 0);
  refused("link.c", "symbolic link");
  at(path, "fifo.c");
  ck_assert(mkfifo(path, 0600) == 0);
  refused("fifo.c", "not a regular file");  /* and does not wait for a writer */
  at(path, "folder.c");
  ck_assert(mkdir(path, 0700) == 0);
  refused("folder.c", "not a regular file");
  at(path, "huge.c");
  run_write(path, "", 0);
  ck_assert(truncate(path, (off_t)1 << 40) == 0);
  refused("huge.c", "larger");
  at(path, "zero.c");
  run_write(path, "int\0x;", 6);
  refused("zero.c", "zero byte");
  at(path, "empty.c");
  run_write(path, "", 0);
  s = read_toy("empty.c");
  ck_assert(s && !*s);
  free(s);
  snprintf(path, sizeof path, "%s/99-toys", top);   /* the chapter's folder as a link */
  snprintf(other, sizeof other, "%s/elsewhere", top);
  ck_assert(rename(path, other) == 0 && symlink("elsewhere", path) == 0);
  refused("good.c", "symbolic link");
}
END_TEST

/* ---- text and JSON ------------------------------------------------------------------------- */

START_TEST(text_is_printable_utf8)
{
  static const struct { const char *from, *to; } rows[] = {
    {"plain\ntext\ttab", "plain\ntext tab"},
    {"\x1b[31mred", "?[31mred"},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xc3(", "?("}, {"\xc0\xaf", "??"}, {"\xed\xa0\x80", "???"}, {"\xf5\x80\x80\x80", "????"},
    {"\xe2\x80\xae", "???"}, {"\xc2\x9b" "1m", "??1m"}, {"\xe2\x82", "??"}, {"\x7f", "?"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *s = record_text(rows[i].from);
    ck_assert_str_eq(s, rows[i].to);
    free(s);
  }
}
END_TEST

static double number(json_t *o, const char *key)
{
  json_t *n = json_object_get(o, key);
  ck_assert_msg(json_is_number(n), "%s is no number", key);
  return json_number_value(n);
}
static const char *string(json_t *o, const char *key)
{
  json_t *s = json_object_get(o, key);
  ck_assert_msg(json_is_string(s), "%s is no text", key);
  return json_string_value(s);
}

static json_t *grade_json(const char *from, const char *id, const char *seed, int *status)
{
  const char *argv[] = {NULL, "grade", "--from", from, "--json", "-", "--seed", seed, id, NULL};
  char *text;
  *status = run_banks(&text, argv);
  json_t *top = json_loads(text, 0, NULL);
  ck_assert_msg(top != NULL, "no JSON: %.500s", text);
  free(text);
  return top;
}

static const char *some_exercise(enum exercise_kind kind)
{
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++)
      if (x->kind == kind) return x->id;
  return NULL;
}

START_TEST(json_has_the_documented_shape)
{
  int status;
  json_t *result = grade_json("starters", some_exercise(EXERCISE_PREDICT), "5", &status);
  ck_assert_int_eq(status, 0);
  string(result, "device");
  ck_assert_str_eq(string(result, "seed"), "5");
  json_t *exercises = json_object_get(result, "exercises"), *x, *t;
  ck_assert_uint_eq(json_array_size(exercises), 1);
  double score = 0, most = 0;
  size_t i, k;
  json_array_foreach(exercises, i, x) {
    double sum = 0, all = 0;
    string(x, "id");
    json_array_foreach(json_object_get(x, "tests"), k, t) {
      const char *s = string(t, "status");
      double n = number(t, "score"), m = number(t, "max_score");
      string(t, "name"), string(t, "message");
      ck_assert(!strcmp(s, "passed") || !strcmp(s, "failed") || !strcmp(s, "not_graded"));
      ck_assert(n >= 0 && n <= m && (strcmp(s, "passed") || n == m));
      sum += n, all += m;
    }
    ck_assert(k > 0 && fabs(sum - number(x, "score")) < 1e-9 && all == number(x, "max_score"));
    score += sum, most += all;
  }
  ck_assert(fabs(score - number(result, "score")) < 1e-9 && most == number(result, "max_score"));
  json_decref(result);
}
END_TEST

START_TEST(one_seed_one_result)
{
  int status;
  json_t *a = grade_json("starters", some_exercise(EXERCISE_NATIVE), "77", &status);
  json_t *b = grade_json("starters", some_exercise(EXERCISE_NATIVE), "77", &status);
  ck_assert(json_equal(a, b));
  json_decref(a), json_decref(b);
}
END_TEST

START_TEST(json_is_written_whole_or_not_at_all)
{
  struct grade_record r = {.device = "sim", .seed = UINT64_MAX};
  char path[128];
  snprintf(path, sizeof path, "%s/result.json", top);
  ck_assert_msg(report_json(&r, path, why, sizeof why), "%s", why);
  json_t *back = json_load_file(path, 0, NULL);
  ck_assert_str_eq(string(back, "seed"), "18446744073709551615");
  json_decref(back);
  snprintf(path, sizeof path, "%s/none/result.json", top);
  ck_assert(!report_json(&r, path, why, sizeof why) && strstr(why, "none/result.json"));
  char *list;
  const char *argv[] = {"/bin/ls", top, NULL};
  ck_assert_int_eq(run_banks(&list, argv), 0);
  ck_assert_str_eq(list, "99-toys\nresult.json\n");   /* no temporary file stays */
  free(list);
}
END_TEST

/* ---- commands ------------------------------------------------------------------------------ */

static void says(int want, const char *text, const char *const *argv)
{
  char *out;
  int status = run_banks(&out, argv);
  ck_assert_msg(status == want && strstr(out, text), "'%s %s' gave %d: %.600s", argv[1],
                argv[2] ? argv[2] : "", status, out);
  free(out);
}
#define SAYS(want, text, ...) says(want, text, (const char *const[]){NULL, __VA_ARGS__, NULL})

START_TEST(exit_statuses_and_usage)
{
  const char *id = some_exercise(EXERCISE_PREDICT);
  SAYS(2, "there is no exercise 'nonsense'", "check", "nonsense");
  SAYS(2, "name an exercise", "check");
  SAYS(2, "unknown option '--frm'", "grade", "--frm", "x");
  SAYS(2, "expected a whole number", "grade", "--seed", "-1");
  SAYS(2, "expected nvcc, clang or auto", "grade", "--toolchain", "icc");
  SAYS(2, "sim, cuda or auto", "grade", "--device", "gpu");
  SAYS(2, "no such folder", "check", id, "--from", "/nonexistent");
  SAYS(2, "no exercises/", "check", id, "--root", "/tmp");
  SAYS(0, "usage: banks grade", "grade", "--help");
  SAYS(1, "next: make hint", "check", id, "--from", "starters");
  SAYS(0, "passed", "check", id, "--from", "solutions");
  SAYS(0, "make check EX=", "grade", id, "--from", "starters");   /* graded, whatever the score */
  SAYS(0, id, "list");
}
END_TEST

/* Nothing handed in, and the starter handed in: no points, and it is said which. */
START_TEST(empty_and_untouched_submissions)
{
  const char *id = some_exercise(EXERCISE_PREDICT);
  const struct exercise *x = suite_find(id);
  char chapter[64], path[256], from[256], file[300];
  suite_chapter(x, chapter, sizeof chapter);
  SAYS(1, "is missing: no points for it", "check", id, "--from", top);
  SAYS(0, "0.0 / ", "grade", "--from", top);
  snprintf(path, sizeof path, "%s/%s", top, chapter);
  ck_assert(mkdir(path, 0700) == 0);
  snprintf(file, sizeof file, "%s/%s", path, x->file);
  snprintf(from, sizeof from, SUITE_STARTERS "/%s/%s", chapter, x->file);
  size_t size;
  char *text = run_read(from, &size);
  run_write(file, text, size);
  free(text);
  SAYS(1, "identical to the starter", "check", id, "--from", top);
}
END_TEST

START_TEST(hints_come_one_by_one)
{
  const char *id = some_exercise(EXERCISE_PREDICT);
  char path[128];
  snprintf(path, sizeof path, "%s/exercises", top);
  ck_assert(mkdir(path, 0700) == 0);
  snprintf(path, sizeof path, "%s/grader", top);
  ck_assert(mkdir(path, 0700) == 0);
  SAYS(0, "hint 1 of 3: ", "hint", id, "--root", top);
  SAYS(0, "hint 2 of 3: ", "hint", id, "--root", top);
  SAYS(0, "hint 3 of 3: ", "hint", id, "--root", top);
  SAYS(0, "no more hints", "hint", id, "--root", top);
  SAYS(0, "hint 1 of 3: ", "hint", id, "--root", top, "--all");
}
END_TEST

Suite *suite_grade(void)
{
  Suite *s = suite_create("grade");
  const struct { const char *name; const TTest *test; bool files; } all[] = {
    {"frames", frames_come_back_as_they_went, false},
    {"frames", short_frames_are_refused, false},
    {"frames", garbled_frames_do_no_harm, false},
    {"worker", an_unknown_device_is_our_fault, false},
    {"worker", the_worker_refuses_garbage, false},
    {"check", only_what_was_judged_counts, false},
    {"files", files_that_are_none_are_refused, true},
    {"text", text_is_printable_utf8, false},
    {"json", json_has_the_documented_shape, false},
    {"json", one_seed_one_result, false},
    {"json", json_is_written_whole_or_not_at_all, true},
    {"commands", exit_statuses_and_usage, false},
    {"commands", empty_and_untouched_submissions, true},
    {"commands", hints_come_one_by_one, true},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    TCase *tc = tcase_create(all[i].name);
    tcase_set_timeout(tc, 60);
    if (all[i].files) tcase_add_checked_fixture(tc, setup_files, teardown_files);
    tcase_add_test(tc, all[i].test);
    suite_add_tcase(s, tc);
  }
  return s;
}
