/* The sandbox, the compilers, and the corpus of hostile files in tests/hostile.
 *
 * Each file of the corpus says in its first lines what must come of it:
 *   // verdict: OK | CE compile error | RE ended early | WA wrong answers | TO time limit
 *   // clang:   the verdict with clang, where it differs from nvcc's
 *   // limits:  the verdict without bubblewrap, where it differs
 *   // says:    words that the report must contain
 * In the C files an attack that succeeds gives a wrong answer: OK means that it was refused. */
#define _GNU_SOURCE
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/run.h"
#include "toolchain/source.h"
#include "toolchain/toolchain.h"

static const char corpus[] = "grader/tests/hostile";

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what a file expects ---------------------------------------------------------------------- */

struct expected {
  char verdict[8], clang[8], limits[8], says[200];
};

static void read_expected(const char *path, struct expected *e)
{
  static const struct { const char *key; size_t offset, size; } keys[] = {
    {"// verdict: ", offsetof(struct expected, verdict), sizeof e->verdict},
    {"// clang: ", offsetof(struct expected, clang), sizeof e->clang},
    {"// limits: ", offsetof(struct expected, limits), sizeof e->limits},
    {"// says: ", offsetof(struct expected, says), sizeof e->says}};
  char line[512];
  FILE *f = fopen(path, "r");
  ck_assert_msg(f != NULL, "%s", path);
  memset(e, 0, sizeof *e);
  while (fgets(line, sizeof line, f) && !strncmp(line, "// ", 3))
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
      if (!strncmp(line, keys[i].key, strlen(keys[i].key)))
        snprintf((char *)e + keys[i].offset, keys[i].size, "%.*s",
                 (int)strcspn(line + strlen(keys[i].key), "\n"), line + strlen(keys[i].key));
  fclose(f);
  ck_assert_msg(*e->verdict, "%s says no verdict", path);
}

/* ---- what must hold whatever a file did ------------------------------------------------------------ */

static void check_text(const char *path, const char *text)
{
  static const char *const never[] = {"root:", "/bin/", "/tmp", "/w/", "driver.c", "cuda_for_clang"};
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    ck_assert_msg(*c >= 32 && *c != 127, "%s: control byte in: %s", path, text);
  for (size_t i = 0; i < sizeof never / sizeof *never; i++)
    ck_assert_msg(!strstr(text, never[i]) || strstr(text, "No such file") ||
                  strstr(text, "cannot open"), "%s: '%s' in: %s", path, never[i], text);
}

static void check_report(const char *path, const char *name, const struct compiled *c)
{
  check_text(path, c->summary);
  ck_assert_msg(!c->our_fault, "%s: %s", path, c->summary);
  ck_assert_msg(c->ok == (c->code != NULL) && c->ok == !*c->summary, "%s: %s", path, c->summary);
  for (size_t i = 0; i < c->ndiagnostics; i++) {
    check_text(path, c->diagnostics[i].text);
    check_text(path, c->diagnostics[i].source);
    ck_assert_str_eq(c->diagnostics[i].file, name);
  }
}

/* This process adopts whatever a run leaves behind: nothing. */
static void check_nothing_left(const char *path)
{
  pid_t left = waitpid(-1, NULL, WNOHANG);
  ck_assert_msg(left == -1 && errno == ECHILD, "%s left a process behind", path);
}

/* ---- C exercises ------------------------------------------------------------------------------------- */

static const char driver[] =
    "#include \"ask.h\"\n#include \"exercise.h\"\n"
    "static void ask(const char *question)\n{\n  unsigned address;\n"
    "  if (sscanf(question, \"bank_of %u\", &address) == 1) answer(\"%u\", bank_of(address));\n}\n";
static const char header[] = "#include <stdint.h>\n/* The bank of a byte address. */\n"
                             "unsigned bank_of(unsigned address);\n";

static const char *verdict_of(const struct compiled *c)
{
  return c->our_fault ? "not graded" : c->ok ? "OK" : c->timed_out || c->too_large ? "TO" : "CE";
}

static void one_program(const char *name)
{
  char path[300];
  const char *verdict;
  struct expected e;
  struct compiled c;
  struct sandbox_result r = {.why = ""};
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  snprintf(path, sizeof path, "%s/%s", corpus, name);
  read_expected(path, &e);
  toolchain_c(path, name, driver, header, &c);
  check_report(path, name, &c);
  verdict = verdict_of(&c);
  if (c.ok) {
    double start = now();
    double seconds = !strcmp(e.verdict, "TO") ? 0.4 : 2;
    toolchain_ask(&c, "bank_of 4\nbank_of 128\nbank_of 132\n", seconds, &r);
    ck_assert_msg(now() - start < seconds + 1.5, "%s: %g s", path, now() - start);
    check_text(path, r.why);
    verdict = r.end == SANDBOX_FAILED ? "not graded" : r.end == SANDBOX_TIMED_OUT && *r.why ? "TO"
              : *r.why ? "RE" : strcmp(r.result, "1\n0\n1\n") ? "WA" : "OK";
    ck_assert_msg(r.out_size <= 4u << 20 && r.err_size <= 4u << 20, "%s", path);
    check_nothing_left(path);
  }
  const char *want = sandbox_choice == SANDBOX_LIMITS_ONLY && *e.limits ? e.limits : e.verdict;
  ck_assert_msg(!strcmp(verdict, want), "%s: %s instead of %s\n%s%s\n%s%s", path, verdict, want,
                c.summary, r.why, r.result ? r.result : "", r.err ? r.err : "");
  ck_assert_msg(strstr(c.summary, e.says) || strstr(r.why, e.says), "%s: '%s' is not in: %s%s",
                path, e.says, c.summary, r.why);
  sandbox_result_free(&r);
  compiled_free(&c);
}

/* The corpus, one test a file. */
static char names[256][64];
static int programs_n, kernels_n;   /* names[0..programs_n) end in .c, the kernels follow */

static void read_corpus(void)
{
  struct dirent **all;
  int n = scandir(corpus, &all, NULL, alphasort), count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < n && count < 256; i++) {
      const char *dot = strrchr(all[i]->d_name, '.');
      if (dot && !strcmp(dot, pass ? ".cu" : ".c"))
        snprintf(names[count++], sizeof names[0], "%.63s", all[i]->d_name);
    }
    *(pass ? &kernels_n : &programs_n) = pass ? count - programs_n : count;
  }
  for (int i = 0; i < n; i++) free(all[i]);
  if (n >= 0) free(all);
}

START_TEST(programs)
{
  sandbox_choice = _i % 2 ? SANDBOX_LIMITS_ONLY : SANDBOX_BEST;
  one_program(names[_i / 2]);
}
END_TEST

START_TEST(corpus_is_whole)
{
  ck_assert_int_gt(programs_n, 50);
  ck_assert_int_gt(kernels_n, 18);
}
END_TEST

/* ---- kernels ------------------------------------------------------------------------------------------ */

static enum toolchain_kind compiler;

static void one_kernel(const char *name)
{
  char path[300];
  struct expected e;
  struct compiled c;
  snprintf(path, sizeof path, "%s/%s", corpus, name);
  read_expected(path, &e);
  bool clang = compiler == TOOLCHAIN_CLANG;
  const char *want = clang && *e.clang ? e.clang
                     : sandbox_choice == SANDBOX_LIMITS_ONLY && *e.limits ? e.limits : e.verdict;
  double start = now();
  toolchain_seconds = strcmp(want, "TO") ? 30 : 1.5;
  toolchain_cuda(path, name, compiler, &c);
  if (!strcmp(want, "TO")) ck_assert_msg(now() - start < 5, "%s: %g s", path, now() - start);
  check_report(path, name, &c);
  ck_assert_msg(!strcmp(verdict_of(&c), want), "%s: %s instead of %s\n%s", path, verdict_of(&c),
                want, c.summary);
  ck_assert_msg(strcmp(want, e.verdict) || strstr(c.summary, e.says), "%s: '%s' is not in: %s",
                path, e.says, c.summary);
  if (c.ok) {
    ck_assert_msg(strstr(c.code, name), "%s: no .file", path);
    ck_assert_msg(!strstr(c.code, "/w/") && !strstr(c.code, "grader.c\""), "%s: .file", path);
  }
  compiled_free(&c);
}

START_TEST(kernels)
{
  const struct toolchain_found *found = toolchain_find();
  compiler = _i % 2 ? TOOLCHAIN_CLANG : TOOLCHAIN_NVCC;
  if (*(_i % 2 ? found->clang : found->nvcc)) one_kernel(names[programs_n + _i / 2]);
}
END_TEST

START_TEST(kernels_with_limits_only)
{
  sandbox_choice = SANDBOX_LIMITS_ONLY;
  static const char *const some[] = {"plain.cu", "include_file.cu", "include_digraph.cu",
                                     "include_macro.cu", "include_string.cu", "include_device.cu",
                                     "include_pipe.cu", "forged_error.cu", "macro_bomb.cu"};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) one_kernel(some[i]);
}
END_TEST

/* ptxas judges what clang made of our header. */
START_TEST(everything)
{
  const struct toolchain_found *found = toolchain_find();
  struct compiled c;
  struct sandbox_result r;
  if (!*(_i ? found->clang : found->nvcc)) return;
  toolchain_cuda("grader/tests/everything.cu", "everything.cu",
                 _i ? TOOLCHAIN_CLANG : TOOLCHAIN_NVCC, &c);
  ck_assert_msg(c.ok, "%s", c.summary);
  for (size_t i = 0; i < c.ndiagnostics; i++)
    ck_assert_msg(!c.diagnostics[i].error, "%s", c.diagnostics[i].text);
  ck_assert_ptr_nonnull(strstr(c.code, "everything.cu\""));
  if (*found->nvcc) {
    char ptxas[600];
    snprintf(ptxas, sizeof ptxas, "%s/bin/ptxas", found->nvcc_root);
    const char *argv[] = {ptxas, "-arch=sm_90", "-o", "out", "in.ptx", NULL};
    const char *readable[] = {found->nvcc_root, NULL};
    struct sandbox_file f = {"in.ptx", NULL, c.code, c.code_size};
    struct sandbox_job job = {.argv = argv, .files = &f, .nfiles = 1, .readable = readable,
                              .result_file = "out", .wall_seconds = 60, .cpu_seconds = 60,
                              .memory_bytes = 4ull << 30, .output_bytes = 1 << 24,
                              .processes = 8};
    sandbox_run(&job, &r);
    ck_assert_msg(r.end == SANDBOX_EXITED && r.status == 0, "%s%s%s", r.out, r.err, r.why);
    sandbox_result_free(&r);
  }
  compiled_free(&c);
}
END_TEST

/* Compilers under other names, by links from a folder that the sandbox does not show. */
START_TEST(compilers_elsewhere)
{
  const struct toolchain_found *found = toolchain_find();
  const struct { const char *name, *at; } links[] = {{"clang-23", found->clang}, {"cc", found->cc},
                                                     {"bwrap", "/usr/bin/bwrap"}};
  char home[64], path[100], *out;
  if (!*found->clang) return;
  run_folder(home);
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    snprintf(path, sizeof path, "%s/%s", home, links[i].name);
    ck_assert_int_eq(symlink(links[i].at, path), 0);
  }
  setenv("PATH", home, 1);
  static const char *const kernel[] = {NULL, "check", "04-padding/transpose", "--from",
                                       "solutions", "--toolchain", "clang", NULL};
  static const char *const program[] = {NULL, "check", "01-banks/banks", "--from", "solutions",
                                        NULL};
  ck_assert_msg(run_banks(&out, kernel) == 0, "%s", out);
  free(out);
  ck_assert_msg(run_banks(&out, program) == 0, "%s", out);
  free(out);
  run_remove(home);
}
END_TEST

START_TEST(memory_cap)
{
  struct compiled c;
  sandbox_choice = _i ? SANDBOX_LIMITS_ONLY : SANDBOX_BEST;
  toolchain_memory = 200u << 20;
  toolchain_cuda("grader/tests/hostile/macro_bomb.cu", "m.cu", TOOLCHAIN_AUTO, &c);
  ck_assert_msg(c.too_large && strstr(c.summary, "more than 200 MiB of memory"), "%s", c.summary);
  compiled_free(&c);
}
END_TEST

/* ---- files that git would not keep -------------------------------------------------------------------- */

static char folder[] = "/tmp/banks-test-XXXXXX";

static void write_file(char path[300], const char *name, const char *text, size_t size)
{
  snprintf(path, 300, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(text, 1, size, f), size);
  fclose(f);
}

static void expect(const char *path, const char *name, const char *verdict, const char *says)
{
  struct compiled c;
  toolchain_cuda(path, name, TOOLCHAIN_AUTO, &c);
  check_text(path, c.summary);
  ck_assert_msg(!strcmp(verdict_of(&c), verdict), "%s: %s: %s", name, verdict_of(&c), c.summary);
  ck_assert_msg(strstr(c.summary, says), "%s: %s", name, c.summary);
  compiled_free(&c);
}

START_TEST(odd_files)
{
  static const char good[] = "__global__ void k(float *p) { *p = 1; }\n";
  static const char crlf[] = "#define TWO 1 + \\\r\n  1\r\n__global__ void k(float *p)\r\n{\r\n  "
                             "*p = TWO;\r\n}\r\n";
  static const char bad[] = "\xef\xbb\xbf// one\r\n__global__ void k(float *p)\r\n{ *p = q; }\r\n";
  static const char *const odd[] = {"a b.cu", "-o.cu", "new\nline.cu", "..cu", "quo\"te.cu",
                                      "$(x).cu", ";.cu", "k.txt", "k"};
  char path[300], link[300];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    write_file(path, odd[i], good, sizeof good - 1);
    expect(path, odd[i], "OK", "");
  }
  write_file(path, "crlf.cu", crlf, sizeof crlf - 1);
  expect(path, "crlf.cu", "OK", "");
  write_file(path, "bom.cu", bad, sizeof bad - 1);
  expect(path, "bom.cu", "CE", "line 3: ");
  expect(path, "new\nline.cu", "CE", "new\\x0aline.cu does not compile; line 3");
  write_file(path, "nul.cu", "// one\nint a;\0\n", 15);
  expect(path, "nul.cu", "CE", "zero byte in line 2");
  write_file(path, "empty.cu", "", 0);
  expect(path, "empty.cu", "CE", "is empty");
  write_file(path, "blank.cu", " \n\n", 3);
  expect(path, "blank.cu", "CE", "is empty");
  write_file(path, "huge.cu", good, sizeof good - 1);
  ck_assert_int_eq(truncate(path, 100 << 20), 0);
  expect(path, "huge.cu", "TO", "is 100 MiB long; the most is 1 MiB");
  snprintf(link, sizeof link, "%s/link.cu", folder);
  ck_assert_int_eq(symlink("/etc/passwd", link), 0);
  expect(link, "link.cu", "CE", "is a symbolic link");
  snprintf(path, sizeof path, "%s/pipe.cu", folder);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  expect(path, "pipe.cu", "CE", "is not a plain file");
  expect(folder, "folder.cu", "CE", "is not a plain file");
  expect("/dev/zero", "zero.cu", "CE", "is not a plain file");
  snprintf(path, sizeof path, "%s/absent.cu", folder);
  expect(path, "absent.cu", "CE", "is missing");
  snprintf(path, sizeof path, "rm -r %s", folder);
  ck_assert_int_eq(system(path), 0);
}
END_TEST

/* ---- the sandbox itself ------------------------------------------------------------------------------------ */

static void shell(const char *script, struct sandbox_job job, struct sandbox_result *r)
{
  const char *argv[] = {"/bin/sh", "-c", script, NULL};
  job.argv = argv;
  if (job.wall_seconds == 0) job.wall_seconds = 5;
  job.cpu_seconds = 5;
  if (job.memory_bytes == 0) job.memory_bytes = 1u << 30;
  if (job.output_bytes == 0) job.output_bytes = 100000;
  job.processes = 32;
  sandbox_run(&job, r);
}

START_TEST(sandbox_basics)
{
  sandbox_choice = _i ? SANDBOX_LIMITS_ONLY : SANDBOX_BEST;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sandbox_result r;
  struct sandbox_file f = {"in/a.txt", NULL, "hello\n", 6};
  setenv("BANKS_TEST_SECRET", "1", 1);
  shell("cat; cat in/a.txt; env | sort; echo no >&2; exit 7",
        (struct sandbox_job){.files = &f, .nfiles = 1, .input = "in\n", .input_size = 3}, &r);
  ck_assert_msg(r.end == SANDBOX_EXITED && r.status == 7, "%d %d %s", r.end, r.status, r.err);
  ck_assert_msg(!strncmp(r.out, "in\nhello\n", 9), "%s", r.out);
  ck_assert_ptr_nonnull(strstr(r.out, "PATH="));
  ck_assert_ptr_null(strstr(r.out, "SECRET"));
  ck_assert_ptr_null(strstr(r.out, "HOME="));
  ck_assert_str_eq(r.err, "no\n");
  sandbox_result_free(&r);

  shell("echo made > result; sleep 30 & sleep 30 & exit 0",
        (struct sandbox_job){.result_file = "result"}, &r);   /* the rest holds our pipes */
  ck_assert_int_eq(r.end, SANDBOX_EXITED);
  ck_assert_str_eq(r.result, "made\n");
  ck_assert_msg(r.wall_seconds < 1, "%g", r.wall_seconds);
  check_nothing_left("a script with children");
  sandbox_result_free(&r);

  shell("(setsid sleep 30 &) ; (setsid sleep 30 &) ; trap '' TERM INT; sleep 30; sleep 30",
        (struct sandbox_job){.wall_seconds = 0.3}, &r);
  ck_assert_int_eq(r.end, SANDBOX_TIMED_OUT);
  ck_assert_msg(r.wall_seconds < 1.3, "%g", r.wall_seconds);
  check_nothing_left("a script with sessions");
  sandbox_result_free(&r);

  shell("yes | head -c 3000000; head -c 300000 /usr/bin/env > result",
        (struct sandbox_job){.result_file = "result"}, &r);
  ck_assert_msg(r.end == SANDBOX_EXITED || r.end == SANDBOX_OUTPUT, "%d", r.end);
  ck_assert_uint_eq(r.out_size, 100000);
  sandbox_result_free(&r);

  shell("ln -s /etc/passwd result", (struct sandbox_job){.result_file = "result"}, &r);
  ck_assert_msg(r.end == SANDBOX_EXITED && r.status == 0, "%s", r.err);
  ck_assert_uint_eq(r.result_size, 0);
  sandbox_result_free(&r);

  shell("kill -SEGV $$", (struct sandbox_job){0}, &r);
  ck_assert_int_eq(r.end, SANDBOX_SIGNALLED);
  ck_assert_int_eq(r.status, 11);
  sandbox_result_free(&r);

  static const char *const none[] = {"", NULL};   /* the root of a compiler that is in /usr */
  shell("true", (struct sandbox_job){.readable = none}, &r);
  ck_assert_msg(r.end == SANDBOX_EXITED && r.status == 0, "%s%s", r.err, r.why);
  sandbox_result_free(&r);

  const char *absent[] = {"/nonexistent", NULL};
  struct sandbox_job job = {.argv = absent, .wall_seconds = 1, .cpu_seconds = 1,
                            .memory_bytes = 1u << 30, .output_bytes = 100, .processes = 4};
  sandbox_run(&job, &r);
  ck_assert_int_eq(r.end, SANDBOX_FAILED);
  ck_assert_msg(*r.why, "no reason");
  sandbox_result_free(&r);
}
END_TEST

#ifdef __SANITIZE_ADDRESS__   /* whose malloc does not survive a fork by one of many threads */
enum { AT_ONCE = 1, RUNS = 60 };
#else
enum { AT_ONCE = 6, RUNS = 60 };
#endif

static void *run_copies(void *unused)
{
  static const struct sandbox_file f = {"in/copy", "/bin/true", NULL, 0};
  (void)unused;
  for (int n = 0; n < RUNS; n++) {
    struct sandbox_result r;
    shell("exec in/copy", (struct sandbox_job){.files = &f, .nfiles = 1, .wall_seconds = 60}, &r);
    bool ok = r.end == SANDBOX_EXITED && r.status == 0;
    if (!ok) fprintf(stderr, "run %d: %d %d %s%s\n", n, (int)r.end, r.status, r.err, r.why);
    sandbox_result_free(&r);
    if (!ok) return (void *)1;
  }
  return NULL;
}

/* Programs that are written while other threads start theirs: none may be found busy. */
START_TEST(many_at_once)
{
  sandbox_choice = _i ? SANDBOX_LIMITS_ONLY : SANDBOX_BEST;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pthread_t t[AT_ONCE];
  void *failed = NULL, *one;
  for (int k = 0; k < AT_ONCE; k++) ck_assert_int_eq(pthread_create(&t[k], NULL, run_copies, NULL), 0);
  for (int k = 0; k < AT_ONCE; k++) {
    ck_assert_int_eq(pthread_join(t[k], &one), 0);
    if (one) failed = one;
  }
  ck_assert_msg(!failed, "a program could not be started");
}
END_TEST

/* ---- text --------------------------------------------------------------------------------------------------- */

START_TEST(line_directives)
{
  static const struct { const char *text, *blanked; } cases[] = {
    {"#line 1 \"x\"\nint a;\n", "           \nint a;\n"},
    {" # 12 \"x\"\n", "         \n"},
    {"#li\\\nne 4\nb\n", "   \\\n    \nb\n"},
    {"%:line 4\n", "        \n"},
    {"/*\n#line 3\n*/ # /* */ line 3\n", "/*\n#line 3\n*/               \n"},
    {"// \\\n#line 3\n#line 4\n", "// \\\n#line 3\n       \n"},
    {"\"\\\"\\\n#line 3\"\n", "\"\\\"\\\n#line 3\"\n"},
    {"R\"a(\n#line 3\n)\" )a\"\n#line 5\n", "R\"a(\n#line 3\n)\" )a\"\n       \n"},
    {"int n = 1'000;\n#line 5\n", "int n = 1'000;\n       \n"},
    {"#define S #line\n#liner\n#if 1\n", "#define S #line\n#liner\n#if 1\n"},
    {"a #line 3\n", "a #line 3\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = strdup(cases[i].text);
    source_blank_lines(text);
    ck_assert_str_eq(text, cases[i].blanked);
    free(text);
  }
}
END_TEST

START_TEST(diagnostics)
{
  static const char said[] =
      "k.cu(2): error: identifier \"q\" is undefined\n    *p = q;\n         ^\n"
      "k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
      "k.cu:1:7: fatal error: foo.h: No such file or directory\n"
      "/usr/include/secret.h(3): error: identifier \"hidden\" is undefined\n"
      "In file included from k.cu:1:\nother.h:1:1: error: hidden\n"
      "xk.cu(2): error: hidden\nk.cu(99): error: beyond the end\nk.cu(2): note: no\n"
      "k.cu:2:3: warning: a\x1b[1mb\xff\n";
  struct compiled c = {0};
  diagnose(said, "k.cu", "name.cu", "one\ntwo\tx\nthree\n", &c);
  ck_assert_uint_eq(c.ndiagnostics, 4);
  ck_assert_str_eq(c.diagnostics[0].file, "name.cu");
  ck_assert_str_eq(c.diagnostics[0].text, "identifier \"q\" is undefined");
  ck_assert_str_eq(c.diagnostics[0].source, "two x");
  ck_assert(c.diagnostics[0].error && c.diagnostics[0].line == 2);
  ck_assert(!c.diagnostics[1].error && c.diagnostics[1].line == 3);
  ck_assert(c.diagnostics[2].error && c.diagnostics[2].line == 1 && c.diagnostics[2].column == 7);
  ck_assert_str_eq(c.diagnostics[3].text, "a\\x1b[1mb\\xff");
  compiled_free(&c);
}
END_TEST

START_TEST(printable)
{
  char to[16];
  diagnose_printable(to, sizeof to, "\xc3\xa4\xe2\x80\xae", 5);   /* a letter; right-to-left */
  ck_assert_str_eq(to, "\xc3\xa4\\xe2\\x80...");
  diagnose_printable(to, sizeof to, "0123456789abcdefgh", 18);
  ck_assert_str_eq(to, "0123456789ab...");
  diagnose_printable(to, sizeof to, "", 0);
  ck_assert_str_eq(to, "");
}
END_TEST

static void look_around(void) { toolchain_find(); }   /* once, not in each forked test */

Suite *suite_toolchain(void)
{
  read_corpus();
  const struct { const char *name; const TTest *test; int times; double seconds; } all[] = {
    {"printable", printable, 1, 10}, {"diagnostics", diagnostics, 1, 10},
    {"line directives", line_directives, 1, 10}, {"sandbox", sandbox_basics, 2, 60},
    {"at once", many_at_once, 2, 120}, {"odd files", odd_files, 1, 120}, {"corpus", corpus_is_whole, 1, 10},
    {"memory", memory_cap, 2, 60}, {"everything", everything, 2, 60},
    {"elsewhere", compilers_elsewhere, 1, 60},
    {"programs", programs, 2 * programs_n, 60}, {"kernels", kernels, 2 * kernels_n, 60},
    {"kernels, limits only", kernels_with_limits_only, 1, 120}};
  Suite *s = suite_create("toolchain");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    TCase *c = tcase_create(all[i].name);
    tcase_add_unchecked_fixture(c, look_around, NULL);
    tcase_set_timeout(c, all[i].seconds);
    tcase_add_loop_test(c, all[i].test, 0, all[i].times);
    suite_add_tcase(s, c);
  }
  return s;
}
