/* Reading the profiler's tables: cuts of real ones (the source page of two launches of the recorded
 * 64-bit atomics, each twice, as version 2025.3 writes it) and damaged copies of them. */
#define _GNU_SOURCE
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "prove/lines.h"
#include "tests/run.h"

void test_prove_own(Suite *s);   /* test_prove_own.c */

static char why[512];
static struct ncu_report report;
static const char *const two[] = {"probe", "probe", "probe", "probe"};

static bool read_texts(const char *source, const char *raw, size_t n)
{
  FILE *s = fmemopen((void *)source, strlen(source), "r"), *r = fmemopen((void *)raw, strlen(raw), "r");
  *why = 0;
  bool good = ncu_read(s, r, two, n, &report, why, sizeof why);
  fclose(s);
  fclose(r);
  return good;
}

static char *source, *raw;

static void setup(void)
{
  size_t size;
  source = run_read("grader/tests/ncu/source.csv", &size);
  raw = run_read("grader/tests/ncu/raw.csv", &size);
  ck_assert(source && raw);
}

static void teardown(void)
{
  ncu_free(&report);
  free(source);
  free(raw);
}

START_TEST(fields_are_split_as_csv_is)
{
  char line[] = "\"a,b\",\"say \"\"x\"\"\",,7\n", *f[8];
  ck_assert_uint_eq(ncu_fields(line, f, 8), 4);
  ck_assert_str_eq(f[0], "a,b");
  ck_assert_str_eq(f[1], "say \"x\"");
  ck_assert_str_eq(f[2], "");
  ck_assert_str_eq(f[3], "7");
}
END_TEST

START_TEST(a_recorded_page_gives_what_the_recording_says)
{
  ck_assert_msg(read_texts(source, raw, 2), "%s", why);
  ck_assert_uint_eq(report.nlaunches, 2);
  /* rows c0000 and c0001 of plots/data/h200/atomics64.tsv: 128 and 6, load and atomic together */
  static const uint64_t want[] = {128, 6};
  for (int i = 0; i < 2; i++) {
    uint64_t sum = 0;
    const struct ncu_launch *l = &report.launches[i];
    for (size_t k = 0; k < l->ninsts; k++)
      if (!strcmp(l->insts[k].opcode, "ATOMS.CAST.SPIN.64") ||
          (!strcmp(l->insts[k].opcode, "LDS.64") && k + 1 < l->ninsts))
        sum += l->insts[k].wavefronts;
    ck_assert_uint_eq(sum, want[i]);
  }
  ck_assert_uint_eq(report.launches[0].loads, 1034);   /* "1,034"; the launch of fill is passed over */
  ck_assert_uint_eq(report.launches[1].loads, 4);
  ck_assert_uint_eq(report.launches[1].stores, 128);
}
END_TEST

START_TEST(pages_with_each_launch_once_are_read_too)
{
  ck_assert(read_texts(source, "", 4) == false);   /* four launches, no raw page */
  ck_assert_msg(strstr(why, "raw page has 0"), "%s", why);
}
END_TEST

static void must_fail(const char *s, const char *r, size_t n, const char *text)
{
  ck_assert(!read_texts(s, r, n));
  ck_assert_msg(strstr(why, text) != NULL, "'%s' lacks '%s'", why, text);
}

START_TEST(other_tables_are_refused)
{
  must_fail(source, raw, 3, "saw 4 launches, 3 were made");
  must_fail("", raw, 2, "saw 0 launches");
  char *copy = strdup(source), *at = strstr(copy, "L1 Wavefronts Shared\"");
  memcpy(at, "L9", 2);
  must_fail(copy, raw, 2, "no column");
  free(copy);
  copy = strdup(raw);
  at = strstr(copy, "op_st.sum");
  memcpy(at, "op_xx", 5);
  must_fail(source, copy, 2, "op_st.sum");
  free(copy);
  copy = strdup(source);                  /* one copy of a launch differs from the other */
  at = strstr(copy, "\"ATOMS") ? copy : copy;
  at = strstr(copy, "ATOMS.CAST");
  at = strstr(at, "\"Atomic\",\"64\",\"0\",\"3\",\"");
  ck_assert(at != NULL);
  at += strlen("\"Atomic\",\"64\",\"0\",\"3\",\"0\",\"");
  *at = *at == '1' ? '2' : '1';
  must_fail(copy, raw, 2, "differ");
  free(copy);
}
END_TEST

static const char listing[] =
  ".text.copy:\n"
  "\t//## File \"/x/a.cu\", line 4\n"
  "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
  "\t//## File \"/x/a.cu\", line 7 inlined at \"/x/a.cu\", line 20\n"
  "        /*0010*/              @!P4 LDS.64 R4, [R3] ;\n"
  ".L_x_0:\n"
  "        /*0020*/                   NOP;\n"
  "\t.section\t.debug\n"
  "        /*0000*/ 	.byte 0x1\n";

START_TEST(lines_come_from_the_listing)
{
  struct lines l;
  lines_parse(listing, &l);
  ck_assert_uint_eq(l.nkernels, 1);
  ck_assert_uint_eq(l.kernels[0].ninsts, 3);
  struct ncu_inst i = {.index = 1, .opcode = "LDS.64"};
  struct ncu_launch launch = {.insts = &i, .ninsts = 1, .instructions = 3};
  ck_assert(lines_give(&l, "copy", &launch));
  ck_assert_uint_eq(i.line, 7);
  i.index = 0;                            /* another instruction there: another compiler's code */
  i.line = 0;
  ck_assert(!lines_give(&l, "copy", &launch));
  launch.instructions = 4;
  ck_assert(!lines_give(&l, "copy", &launch) && i.line == 0);
  lines_free(&l);
}
END_TEST

Suite *suite_prove(void)
{
  Suite *s = suite_create("prove");
  TCase *t = tcase_create("tables");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, fields_are_split_as_csv_is);
  tcase_add_test(t, a_recorded_page_gives_what_the_recording_says);
  tcase_add_test(t, pages_with_each_launch_once_are_read_too);
  tcase_add_test(t, other_tables_are_refused);
  tcase_add_test(t, lines_come_from_the_listing);
  suite_add_tcase(s, t);
  test_prove_own(s);
  return s;
}
