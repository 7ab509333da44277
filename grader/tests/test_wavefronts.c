/* banks wavefronts and banks lab through the program itself: what they print and refuse. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/expr.h"
#include "report/picture.h"

/* Runs "$BANKS arguments" in a shell; output and errors together.  Returns the exit status. */
static int run(const char *arguments, char *output, size_t size)
{
  char command[2048];
  const char *banks = getenv("BANKS");
  ck_assert_msg(banks != NULL, "BANKS must name the program");
  snprintf(command, sizeof command, "{ %s %s; } 2>&1", banks, arguments);
  FILE *p = popen(command, "r");
  ck_assert_ptr_nonnull(p);
  size_t n = fread(output, 1, size - 1, p);
  output[n] = 0;
  while (fgetc(p) != EOF) {}
  int status = pclose(p);
  ck_assert(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* ---- answers: exit status and a part of what is printed ---------------------------------- */

static const struct { const char *arguments; int status; const char *part; } answers[] = {
  {"wavefronts --op load --width 4 --stride 34", 0, "\nwavefronts  2\nideal       1\n"},
  {"wavefronts --stride=33", 0, "\nwavefronts  1\n"},
  {"wavefronts --stride 34", 0, "136 bytes from lane to lane = 34 words; gcd(34, 32) = 2"},
  {"wavefronts --stride 34", 0, "\n  2 16    17    18    19 "},
  {"wavefronts --expr '(t*33+5)*4'", 0, "\nwavefronts  1\n"},
  {"wavefronts --expr 't<16 ? t*128 : 0x80*(t&15)'", 0, "\nwavefronts  16\n"},
  {"wavefronts --expr 't ? 64/t/64*4 : 0'", 0, "\nwavefronts  1\n"},
  {"wavefronts --width 16 --stride 0", 0, "\nwavefronts  2\nideal       2\n"},
  {"wavefronts --width 16 --stride 0", 0, "pair merge"},
  {"wavefronts 0 128 256", 0, "lanes 0-2 want 3 different words"},
  {"wavefronts --mask 5 0 128 0x100", 0, "\nwavefronts  2\n"},
  {"wavefronts --mask 0 --stride 1", 0, "\nwavefronts  0\n"},
  {"wavefronts --op ldmatrix.x4 --expr 't*16'", 0, "\nwavefronts  4\n"},
  {"wavefronts --op atom.add.u32 --expr 0", 0, "\nwavefronts  32\n"},
  {"wavefronts --op red.add.u32.one --expr 0", 0, "\nwavefronts  1\n"},
  {"wavefronts --op atom.add.f64 --expr 0", 0, "\nwavefronts  128\n"},
  {"wavefronts --op cp.async.4 --expr t*4", 0, "\nwavefronts  about 4\n"},
  {"wavefronts --op global.load --stride 8", 0, "\nsectors     32\n"},
  {"wavefronts --help", 0, "--tsv FILE"},
  {"wavefronts --tsv - < /dev/null", 2, "line 1: expected a header"},
  {"wavefronts --tsv /nowhere/x.tsv", 2, "/nowhere/x.tsv: No such file"},
  {"wavefronts --tsv - --mask 1 < /dev/null", 2, "leave the other options out"},
  {"wavefronts", 2, "no addresses"},
  {"wavefronts --stride 1 0 4", 2, "not several"},
  {"wavefronts --stride x", 2, "found 'x'"},
  {"wavefronts --stride", 2, "needs a value"},
  {"wavefronts --stride 1 --stride 2", 2, "twice"},
  {"wavefronts --strid 1", 2, "unknown option '--strid'"},
  {"wavefronts --width 3 --stride 1", 2, "1, 2, 4, 8 or 16"},
  {"wavefronts --width 8 --op atom.add.u32 --stride 1", 2, "expected 4"},
  {"wavefronts --op lood --stride 1", 2, "found 'lood'"},
  {"wavefronts --mask xyz --stride 1", 2, "found 'xyz'"},
  {"wavefronts --mask 100000000 --stride 1", 2, "32 bits"},
  {"wavefronts --mask f 0 4 8", 2, "lane 3 takes part but has no address"},
  {"wavefronts --width 8 0 4", 2, "lane 1: expected a multiple of the width, 8"},
  {"wavefronts 0 4 8x", 2, "address 3 (lane 2)"},
  {"wavefronts 18446744073709551616", 2, "expected a byte address"},
  {"wavefronts $(seq 0 32)", 2, "'32' is number 33"},
  {"wavefronts --expr 't*4 - 8'", 2, "t = 0 gives -8"},
  {"wavefronts --expr '100/(3-t)'", 2, "column 4: division by zero for t = 3"},
  {"wavefronts --expr '(t*4'", 2, "column 5: the expression ends before a ')'"},
  {"wavefronts --expr 't*4)'", 2, "column 4: this ')' closes nothing"},
  {"wavefronts --expr 'x*4'", 2, "column 1: unknown name"},
  {"wavefronts --expr ''", 2, "column 1: the expression ends too early"},

  {"lab --script 'predict 8'", 0, "Right: the period is m / gcd(s, m) = 8 / gcd(3, 8)"},
  {"lab --script 'step 6; predict 8'", 0, "Wrong: the period is m / gcd(s, m) = 8 / gcd(6, 8)"},
  {"lab --script 'step 6; step; step; step; step'", 0, "  @  .  #  .  #  .  #  .\n4 of 8"},
  {"lab --script 'modulus 32; step 33; step'", 0, "0 + 33 = 1 mod 32"},
  {"lab --script 'step; reset'", 0, "1 of 8 visited after 0 steps"},
  {"lab --script 'step 34'", 0, "34 words uses 32 / gcd(34, 32) = 16 banks"},
  {"lab --script 'step 0; predict 1'", 0, "Right"},
  {"lab < /dev/null", 0, "With 32 banks: stride 3 words"},
  {"lab --script 'modulus 33'", 2, "from 1 to 32, found '33'"},
  {"lab --script 'modulus'", 2, "needs a number"},
  {"lab --script 'step -1'", 2, "found '-1'"},
  {"lab --script 'step 1 2'", 2, "found '2' after it"},
  {"lab --script 'jump'", 2, "there is no command 'jump'"},
  {"lab --scrip 'x'", 2, "found '--scrip'"},
};

START_TEST(answer)
{
  char output[65536];
  int status = run(answers[_i].arguments, output, sizeof output);
  ck_assert_msg(status == answers[_i].status, "banks %s: exit status %d, not %d:\n%s",
                answers[_i].arguments, status, answers[_i].status, output);
  ck_assert_msg(strstr(output, answers[_i].part) != NULL, "banks %s: no '%s' in:\n%s",
                answers[_i].arguments, answers[_i].part, output);
  if (status != 2) return;
  char *error = strstr(output, "banks ");   /* one line on standard error, nothing after it */
  ck_assert(error != NULL && strchr(error, '\n') == error + strlen(error) - 1);
}
END_TEST

START_TEST(prediction_is_not_given_away)
{
  char output[4096];
  ck_assert_int_eq(run("lab --script 'step; step; step'", output, sizeof output), 0);
  ck_assert(!strstr(output, "period") && !strstr(output, "gcd(3, 8)"));
}
END_TEST

START_TEST(json)
{
  char output[65536];
  ck_assert_int_eq(run("wavefronts --json --width 8 --stride 16 --mask ff0f", output,
                       sizeof output), 0);
  json_t *root = json_loads(output, 0, NULL);
  ck_assert_ptr_nonnull(root);
  ck_assert_int_eq(json_integer_value(json_object_get(root, "wavefronts")), 12);
  ck_assert_int_eq(json_integer_value(json_object_get(root, "ideal")), 1);
  ck_assert_int_eq(json_integer_value(json_object_get(root, "stride_bytes")), 128);
  ck_assert_str_eq(json_string_value(json_object_get(root, "mask")), "0000ff0f");
  ck_assert_uint_eq(json_array_size(json_object_get(root, "banks")), 32);
  ck_assert_uint_eq(json_array_size(json_array_get(json_object_get(root, "banks"), 1)), 12);
  ck_assert(json_is_null(json_array_get(json_object_get(root, "addresses"), 4)));
  json_decref(root);
}
END_TEST

/* ---- rows -------------------------------------------------------------------------------- */

#define HEAD "id\\top\\twidth\\tmask\\tlane0\\tlane1\\n"

static const struct { const char *rows; int status; const char *output; } tables[] = {
  {HEAD "a\\tload\\t4\\t3\\t0\\t128\\n", 0, "a\t2\n"},
  {HEAD "a\\tload\\t4\\t3\\t0\\t128", 0, "a\t2\n"},
  {HEAD, 0, ""},
  {"lane1\\tnote\\tmask\\tlane0\\tid\\twidth\\top\\r\\n128\\tx\\t0x1\\t\\t7\\t4\\tload\\r\\n", 2,
   "line 2, column lane0: expected a byte address (the lane is active), found nothing\n"},
  {"lane1\\tnote\\tmask\\tlane0\\tid\\twidth\\top\\r\\n"
   "128\\tx\\t0x2\\t\\t7\\t4\\tload\\r\\n\\r\\n",
   0, "7\t1\n"},
  {HEAD "a\\tload\\t4\\t0\\t\\t\\nb\\tglobal.load\\t16\\t3\\t16\\t0x20\\n", 0, "a\t0\nb\t2\n"},
  {"op\\twidth\\tmask\\n", 2, "line 1, column id: expected a header"},
  {"id\\tid\\top\\twidth\\tmask\\n", 2, "line 1, column id: expected one column"},
  {HEAD "a\\tload\\t4\\t3\\t0\\t4\\n\\nb\\tlod\\t4\\t3\\t0\\t4\\n", 2,
   "line 4, column op: expected"},
  {HEAD "a\\tload\\t5\\t3\\t0\\t5\\n", 2, "line 2, column width: expected width must be 1, 2"},
  {HEAD "a\\tload\\t\\t3\\t0\\t5\\n", 2, "line 2, column width: expected the bytes a lane moves"},
  {HEAD "a\\tldmatrix.x1\\t4\\t3\\t0\\t16\\n", 2, "column width: expected 16, the width of ldm"},
  {HEAD "a\\tload\\t4\\tgg\\t0\\t4\\n", 2, "line 2, column mask: expected the active lanes"},
  {HEAD "a\\tload\\t4\\t\\t0\\t4\\n", 2, "line 2, column mask: expected"},
  {HEAD "a\\tload\\t4\\t3\\t0\\t-4\\n", 2, "line 2, column lane1: expected a byte address"},
  {HEAD "a\\tload\\t8\\t3\\t0\\t4\\n", 2,
   "line 2, column lane1: expected a multiple of the width"},
  {HEAD "a\\tload\\t4\\t7\\t0\\t4\\n", 2, "line 2, column lane2: expected a byte address"},
  {HEAD "a\\tload\\t4\\t3\\t0\\t4\\t9\\n", 2, "line 2, column 7: expected the end of the row"},
  {HEAD "\\tload\\t4\\t3\\t0\\t4\\n", 2, "line 2, column id: expected a name"},
};

START_TEST(table)
{
  char path[] = "/tmp/banks-rows-XXXXXX", command[2048], output[4096];
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  close(file);
  snprintf(command, sizeof command, "printf '%s' > %s", tables[_i].rows, path);
  ck_assert_int_eq(system(command), 0);
  for (int standard = 0; standard < 2; standard++) {
    snprintf(command, sizeof command, "wavefronts --tsv %s%s", standard ? "- < " : "", path);
    int status = run(command, output, sizeof output);
    ck_assert_msg(status == tables[_i].status, "%s: status %d: %s", tables[_i].rows, status,
                  output);
    if (status == 0) ck_assert_str_eq(output, tables[_i].output);
    else ck_assert_msg(strstr(output, tables[_i].output) != NULL, "%s", output);
  }
  unlink(path);
}
END_TEST

/* The recorded rows, with the answer cut out of the file that holds it. */
START_TEST(recorded_rows_through_the_program)
{
  char output[4096];
  ck_assert_int_eq(run("wavefronts --tsv plots/data/h200/accesses.tsv | paste - "
                       "plots/data/h200/accesses.tsv > /dev/null", output, sizeof output), 0);
  ck_assert_int_eq(run("wavefronts --tsv plots/data/h200/accesses.tsv > /tmp/banks-got.$$; "
                       "tail -n +2 plots/data/h200/accesses.tsv | cut -f1,3,6 > "
                       "/tmp/banks-want.$$; paste /tmp/banks-got.$$ /tmp/banks-want.$$ | "
                       "awk '$4 !~ /64$|async.[48]$/ {n++; if ($1 != $3 || $2 != $5) print} "
                       "END {print n, NR}'; rm -f /tmp/banks-got.$$ /tmp/banks-want.$$", output,
                       sizeof output), 0);
  ck_assert_str_eq(output, "2220 2252\n");
}
END_TEST

START_TEST(fast)
{
  char output[4096];
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  ck_assert_int_eq(run("wavefronts --tsv plots/data/h200/accesses.tsv > /dev/null && "
                       "awk 'NR==1 {print; next} {row[NR]=$0} END {for (k=0; k<45; k++) "
                       "for (i=2; i<=NR; i++) print row[i]}' plots/data/h200/accesses.tsv | "
                       "$BANKS wavefronts --tsv - | wc -l", output, sizeof output), 0);
  clock_gettime(CLOCK_MONOTONIC, &to);
  ck_assert_str_eq(output, "101340\n");
  ck_assert_int_lt(to.tv_sec - from.tv_sec, 10);   /* well under 1 s when nothing else runs */
}
END_TEST

/* ---- expressions against the C compiler -------------------------------------------------- */

#define SAME(e) {#e, (long long)(e)}

#pragma GCC diagnostic push   /* C's own precedence is the point here */
#pragma GCC diagnostic ignored "-Wparentheses"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wshift-op-parentheses"
#pragma clang diagnostic ignored "-Wbitwise-op-parentheses"
#pragma clang diagnostic ignored "-Wlogical-op-parentheses"
#endif
START_TEST(expressions)
{
  const long long t = 13;
  const struct { const char *text; long long value; } same[] = {
    SAME(t), SAME(t + 2 * 3), SAME((t + 2) * 3), SAME(100 - t - 1), SAME(100 / t / 2),
    SAME(-t % 4), SAME(t << 2 >> 1), SAME(1 << 2 + 1), SAME((t & 6) == 4), SAME(t & 6 == 4),
    SAME(t ^ 5 | 2 & 3), SAME(~t + !t + !!t), SAME(-(-t)), SAME(t < 5 ? 1 : t < 15 ? 2 : 3),
    SAME(t > 3 && t < 9 || t == 13), {"t && 0 && 1 / 0", 0}, {"t || 1 / 0", 1}, SAME(0x1F + 017),
    SAME(t >= 13), SAME(t <= 12), SAME(t != 13), SAME(-7 >> 1), {"t ? 1 : 1 / 0", 1},
  };
  char why[160];
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    int64_t v = 0;
    ck_assert_msg(expr_eval(same[i].text, t, &v, why, sizeof why), "%s: %s", same[i].text, why);
    ck_assert_msg(v == same[i].value, "%s: %lld, C says %lld", same[i].text, (long long)v,
                  same[i].value);
  }
  static const struct { const char *text, *why; } wrong[] = {
    {"t+", "column 3: the expression ends"}, {"t 4", "column 3: expected an operator"},
    {"4t", "column 2: not a digit"}, {"08", "column 2: not an octal"}, {"0x", "column 3"},
    {"t%0", "column 2: division by zero for t = 13"}, {"1<<64", "column 2: shift"},
    {"9223372036854775807+t", "column 20: '+' overflows"}, {"1<<62<<1", "'<<' overflows"},
    {"9223372036854775808", "column 1: number too large"}, {"t?1", "column 4: expected ':'"},
    {"t=4", "column 2: '=' assigns"}, {"t++", "column 4"}, {"(1,2)", "column 3"},
    {"-(-9223372036854775807-1)", "'-' overflows"}, {"(-9223372036854775807-1)/-1", "overflows"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    int64_t v;
    ck_assert_msg(!expr_eval(wrong[i].text, t, &v, why, sizeof why), "%s", wrong[i].text);
    ck_assert_msg(strstr(why, wrong[i].why) != NULL, "%s: %s", wrong[i].text, why);
  }
  char deep[100001];
  memset(deep, '(', 100000);
  deep[100000] = 0;
  int64_t v;
  ck_assert(!expr_eval(deep, t, &v, why, sizeof why));
  ck_assert_ptr_nonnull(strstr(why, "nested too deeply"));
}
END_TEST

#pragma GCC diagnostic pop

/* ---- pictures ---------------------------------------------------------------------------- */

START_TEST(pictures_stay_narrow)
{
  char picture[PICTURE_SIZE], small[100];
  for (unsigned op = 0; op < MODEL_OPS; op++)
    for (unsigned i = 0; i < 6; i++) {
      struct access a = {.op = (enum model_op)op, .width = i % 2 ? 16 : 4, .mask = ~0u};
      for (uint64_t t = 0; t < 32; t++) a.addr[t] = t * (i < 2 ? 4096 : i < 4 ? 36 : 0) & ~15ull;
      size_t n = picture_access(picture, sizeof picture, &a, 0);
      ck_assert(n > 0 && n < sizeof picture && n == strlen(picture) && picture[n - 1] == '\n');
      for (char *p = picture; *p; p += strcspn(p, "\n") + 1)
        ck_assert_msg(strcspn(p, "\n") <= PICTURE_WIDTH, "%.120s", p);
      ck_assert_uint_eq(picture_access(small, sizeof small, &a, 0), n);
      ck_assert(!strncmp(small, picture, sizeof small - 1) && strlen(small) < sizeof small);
    }
  struct access a = {.op = MODEL_LOAD, .width = 4, .mask = ~0u};
  for (uint64_t t = 0; t < 32; t++) a.addr[t] = t * 128;
  picture_access(picture, sizeof picture, &a, 4);
  ck_assert_ptr_nonnull(strstr(picture, "and 28 more wavefronts\n"
                                         "bank 0 is the fullest: lanes 0-31"));
  a.width = 8;
  picture_phase(picture, sizeof picture, &a, 1, 1);
  ck_assert_ptr_nonnull(strstr(picture, "phase 2 of 2, lanes 16-31:"));
  ck_assert_ptr_nonnull(strstr(picture, "\n  1 16 16  . "));
  ck_assert_str_eq(picture_lanes(small, sizeof small, 0x80000037), "0-2, 4, 5, 31");
  ck_assert_str_eq(picture_lanes(small, sizeof small, 0), "none");
}
END_TEST

Suite *suite_wavefronts(void)
{
  Suite *s = suite_create("wavefronts");
  TCase *t = tcase_create("wavefronts");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, answer, 0, sizeof answers / sizeof *answers);
  tcase_add_test(t, prediction_is_not_given_away);
  tcase_add_test(t, json);
  tcase_add_loop_test(t, table, 0, sizeof tables / sizeof *tables);
  tcase_add_test(t, recorded_rows_through_the_program);
  tcase_add_test(t, fast);
  tcase_add_test(t, expressions);
  tcase_add_test(t, pictures_stay_narrow);
  suite_add_tcase(s, t);
  return s;
}
