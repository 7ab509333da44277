/* banks prove on an author's own kernel, without a GPU: a recording is made here - the worker's answer
 * by the simulator, the profiler's tables written out as version 2025.3 writes them, with the counts
 * that the kernel has by hand - and replayed; then it is damaged. */
#define _GNU_SOURCE
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prove/own.h"
#include "tests/run.h"
#include "tests/typed.h"

#define PTX "grader/tests/profile/profile.ptx"
#define ROW PTX " transpose --grid 2,2 --block 32,32 f32[4096]=iota f32[4096] i32:64 i32:64"
#define SCALED PTX " scaled --grid 1 --block 32 f32[32]=iota {i32:32,f32:2}"

void test_prove_own(Suite *s);

static char folder[64];

static void setup(void) { run_folder(folder); }
static void teardown(void) { run_remove(folder); }

static void in_folder(const char *name, const void *data, size_t size)
{
  char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  run_write(path, data, size);
}

/* The worker's answers to these launches, as a GPU that computes right would give them; `broken` is
 * the launch whose last buffer gets another byte, -1 none. */
static void record_outcomes(const char *const *rows, int n, int broken)
{
  char path[200], why[300];
  snprintf(path, sizeof path, "%s/outcomes.bin", folder);
  FILE *f = fopen(path, "we");
  for (int i = 0; i < n; i++) {
    struct request *q = typed(rows[i]);
    struct job job;
    struct outcome o;
    ck_assert_msg(own_job(q, "sim", &job, why, sizeof why), "%s", why);
    job_execute(&job, &o);
    ck_assert_int_eq(o.end, JOB_RAN);
    ck_assert_uint_eq(o.nbuffers, job.nbuffers);
    if (i == broken) o.buffers[job.nbuffers - 1][7 * 4 + 3] ^= 0x80;   /* a sign */
    ck_assert(outcome_write(&o, &job, f));
    outcome_free(&o);
    free(job.buffers);
    free(job.launches);
    request_free(q);
  }
  fclose(f);
}

static const char head[] =
  "\"Address\",\"Source\",\"Instructions Executed\",\"L1 Conflicts Shared N-Way\","
  "\"L1 Wavefronts Shared\",\"L1 Wavefronts Shared Ideal\",\"L2 Theoretical Sectors Global\","
  "\"L2 Theoretical Sectors Global Ideal\"\n";

/* The two pages; %u: wavefronts of the transpose's loads. */
static const char pages[] =
  "\"Kernel Name\",\"transpose(const float *, float *, int, int)\",\n%s"
  "\"0x10\",\"      LDG.E R2, desc[UR4][R2.64]\",\"128\",\"0\",\"0\",\"0\",\"512\",\"512\"\n"
  "\"0x20\",\"      STS [R7], R2\",\"128\",\"1\",\"128\",\"128\",\"0\",\"0\"\n"
  "\"0x30\",\"      LDS R9, [R8]\",\"128\",\"32\",\"%u\",\"128\",\"0\",\"0\"\n"
  "\"0x40\",\"      STG.E desc[UR4][R4.64], R9\",\"128\",\"0\",\"0\",\"0\",\"512\",\"512\"\n"
  "\"Kernel Name\",\"scaled(float *, scale)\",\n%s"
  "\"0x10\",\"      LDG.E R2, desc[UR4][R2.64]\",\"1\",\"0\",\"0\",\"0\",\"4\",\"4\"\n"
  "\"0x20\",\"      STG.E desc[UR4][R4.64], R9\",\"1\",\"0\",\"0\",\"0\",\"4\",\"4\"\n";
static const char raw[] =
  "==PROF== Connected to process 479\n"
  "\"ID\",\"Kernel Name\",\"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum\","
  "\"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum\","
  "\"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\","
  "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\","
  "\"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum\","
  "\"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum\"\n"
  "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"\n"
  "\"0\",\"transpose(const float *, float *, int, int)\",\"4,096\",\"128\",\"128\",\"%u\",\"128\","
  "\"512\"\n"
  "\"1\",\"scaled(float *, scale)\",\"0\",\"0\",\"1\",\"4\",\"1\",\"4\"\n";

static void record_tables(unsigned wavefronts, unsigned sectors)
{
  char text[4000];
  int n = snprintf(text, sizeof text, pages, head, wavefronts, head);
  in_folder("source.csv", text, (size_t)n);
  n = snprintf(text, sizeof text, raw, sectors);
  in_folder("raw.csv", text, (size_t)n);
}

static const char list[] = "# two launches\n" ROW "\n\n" SCALED "\n";
static const char *const rows[] = {ROW, SCALED};

static void record(unsigned wavefronts, unsigned sectors, int broken)
{
  in_folder("list", list, sizeof list - 1);
  in_folder("launches.txt", ROW "\n" SCALED "\n", strlen(ROW "\n" SCALED "\n"));
  record_outcomes(rows, 2, broken);
  record_tables(wavefronts, sectors);
}

/* Replays the folder's list; the status and what was said. */
static int replay(char **out)
{
  char path[100], save[100];
  snprintf(path, sizeof path, "%s/list", folder);
  snprintf(save, sizeof save, "%s/table", folder);
  return run_banks(out, (const char *[]){NULL, "prove", "--list", path, "--replay", folder, "--save",
                                         save, NULL});
}

static void says(const char *out, const char *text)
{
  char one[4000];                       /* any run of blanks is one */
  size_t n = 0;
  for (const char *p = out; *p && n < sizeof one - 1; p++)
    if (*p != ' ' || n == 0 || one[n - 1] != ' ') one[n++] = *p;
  one[n] = 0;
  ck_assert_msg(strstr(one, text) != NULL, "'%s' is not in:\n%s", text, one);
}

START_TEST(equal_on_both)
{
  char *out, path[100];
  record(4096, 512, -1);
  int status = replay(&out);
  ck_assert_msg(status == 0, "status %d:\n%s", status, out);
  says(out, "shared load 128 4096 128 128 4096 4096 128 equal");
  says(out, "global store 128 512 512 128 512 512 512 equal");
  says(out, "buffers afterwards: equal on both (2, 32768 bytes)");
  says(out, "2 of 2 launches equal");
  free(out);
  snprintf(path, sizeof path, "%s/table", folder);
  out = run_read(path, NULL);
  says(out, "shared_load\t128\t128\t4096\t4096\t4096\t128\t128\tequal\t" ROW "\n");
  says(out, "buffers\t8192\t0\t-\t-\t-\t-\t-\tequal\t" ROW "\n");
  free(out);
}
END_TEST

START_TEST(a_difference_is_told)
{
  char *out;
  record(4095, 512, -1);
  ck_assert_int_eq(replay(&out), 1);
  says(out, "shared load 128 4096 128 128 4095 4096 128 <- differs");
  says(out, "1 of 2 launches equal");
  free(out);
  record(4096, 513, -1);                   /* the hardware's counter alone */
  ck_assert_int_eq(replay(&out), 1);
  says(out, "global load 128 512 512 128 512 513 512 <- counter");
  free(out);
  record(4096, 512, 0);                    /* element 7 of 4096 is 0 * 64 + 7's transposed: 448 */
  ck_assert_int_eq(replay(&out), 1);
  says(out, "argument 2 (out) ('f32[4096]') differs in 1 of 4096 elements; the first is 7: -448 on "
       "the GPU, 448 on the simulator; at most 2 apart, relative");
  free(out);
}
END_TEST

START_TEST(another_recording_is_refused)
{
  char *out;
  record(4096, 512, -1);
  in_folder("launches.txt", ROW " \n", strlen(ROW " \n"));
  ck_assert_int_eq(replay(&out), 2);
  says(out, "was recorded of other launches");
  free(out);
  record(4096, 512, -1);
  in_folder("launches.txt", SCALED "\n", strlen(SCALED "\n"));   /* the first was left out then */
  ck_assert_int_eq(replay(&out), 2);
  says(out, "it was not counted then");
  says(out, "is not what a GPU answered");
  free(out);
  record(4096, 512, -1);
  in_folder("list", "x.ptx k --grid 1\n", 17);
  ck_assert_int_eq(replay(&out), 2);
  says(out, "--grid and --block are needed");
  says(out, "this was row 1 of");
  free(out);
  in_folder("list", PTX " past_the_end --grid 1 --block 32 i32[32]\n",
            strlen(PTX " past_the_end --grid 1 --block 32 i32[32]\n"));
  in_folder("launches.txt", "", 0);
  ck_assert_int_eq(replay(&out), 1);       /* not let loose on the GPU */
  says(out, "left out");
  says(out, "there is no launch to count");
  free(out);
}
END_TEST

/* Pointers in a struct reach the kernel through a worker as well as directly. */
START_TEST(pointers_in_structs)
{
  struct request *q = typed("grader/tests/kernels/styles.ptx struct_by_value --grid 3 --block 128 "
                                 "{i32:300,f32:0.5,{f64:1.25,f32:2,i8:3},{f64:-4.5,f32:0.5,i8:-7},"
                                 "f32[300]=uniform,u8x3:9:200:31} f32[300]");
  struct job job, read = {0};
  struct outcome o;
  char why[300], path[100];
  ck_assert_msg(own_job(q, "sim", &job, why, sizeof why), "%s", why);
  snprintf(path, sizeof path, "%s/job", folder);
  FILE *f = fopen(path, "w+e");
  ck_assert(job_write(&job, f));           /* through a frame, as to a worker */
  rewind(f);
  uint64_t frame[2];
  ck_assert_uint_eq(fread(frame, sizeof frame, 1, f), 1);
  struct codec c = {.size = frame[1], .data = malloc(frame[1])};
  ck_assert_uint_eq(fread(c.data, 1, c.size, f), c.size);
  job_code(&c, &read);
  ck_assert(codec_done(&c));
  job_execute(&read, &o);
  ck_assert_int_eq(o.end, JOB_RAN);
  ck_assert_uint_eq(o.launches[0].nfaults, 0);
  ck_assert_int_eq(request_run(q), 0);
  ck_assert_uint_eq(q->nbuffers, 2);
  for (int k = 0; k < 2; k++)
    ck_assert_mem_eq(o.buffers[k], sim_host(q->sim, q->buffers[k]->address, 1200), 1200);
  const float *table = (const float *)(const void *)o.buffers[0], *got = (const float *)(const void *)o.buffers[1];
  for (int i = 0; i < 300; i++) {          /* as the kernel says, of what was typed */
    double want = table[i] * 0.5 + (i & 1 ? -4.5 + 0.5 * -7 : 1.25 + 2 * 3) +
                  (double[]){9, 200, 31}[i % 3];
    ck_assert_msg(got[i] > want - 1e-3 && got[i] < want + 1e-3, "[%d]: %g, not %g", i, got[i], want);
  }
  fclose(f);
  free(c.data);
  outcome_free(&o);
  job_free(&read);
  free(job.buffers);
  free(job.launches);
  request_free(q);
}
END_TEST

/* ---- the recorded table --------------------------------------------------------------------- */

enum { PARTS = 4, COLUMNS = 10 };
enum column { KIND, REQUESTS, EXECUTED, COST, COMPUTED, COUNTER, IDEAL, COMPUTED_IDEAL, VERDICT, LAUNCH };

static uint64_t at(const char *field) { return strtoull(field, NULL, 10); }

/* One row against today's sums: an equal one stays so, and what differed may only have become equal. */
static void check_row(char *const *f, const struct own_count *today)
{
  bool equal = !strcmp(f[VERDICT], "equal");
  ck_assert_msg(!equal || at(f[COST]) == at(f[COMPUTED]), "%s is no equal row: %s", f[KIND], f[LAUNCH]);
  if (equal || !strcmp(f[VERDICT], "ideal"))
    ck_assert_msg(today->cost == at(f[COMPUTED]), "%s costs %lu, and %s on the GPU: %s", f[KIND],
                  (unsigned long)today->cost, f[COMPUTED], f[LAUNCH]);
  else
    ck_assert_msg(today->cost == at(f[COST]) || today->cost == at(f[COMPUTED]),
                  "%s costs %lu, neither %s nor the GPU's %s: %s", f[KIND],
                  (unsigned long)today->cost, f[COST], f[COMPUTED], f[LAUNCH]);
  if (equal && *f[IDEAL] != '-')
    ck_assert_msg(today->ideal == at(f[COMPUTED_IDEAL]), "%s: ideal %lu, and %s on the GPU: %s", f[KIND],
                  (unsigned long)today->ideal, f[COMPUTED_IDEAL], f[LAUNCH]);
}

START_TEST(the_recorded_kernels)
{
  size_t n, launches = 0, equal = 0, rows_checked = 0;
  char **table = typed_rows("plots/data/h200/kernels.tsv", &n), *last = "";
  struct own own;
  for (size_t i = 1; i < n; i++) {         /* behind the names of the columns */
    char *f[COLUMNS], *rest = table[i];
    for (int k = 0; k < COLUMNS; k++) ck_assert_ptr_nonnull((f[k] = strsep(&rest, "\t")));
    ck_assert_ptr_null(rest);
    if (strcmp(last, f[LAUNCH])) {
      last = f[LAUNCH];
      if (launches++ % PARTS == (size_t)_i) {
        struct profile p;
        struct request *q = typed_profile(last, &p);
        struct outcome none = {0};
        struct ncu_launch nothing = {0};
        own_compare(q, NULL, &none, &nothing, NULL, &own);
        typed_end(q, &p);
      }
    }
    if ((launches - 1) % PARTS != (size_t)_i || !strcmp(f[KIND], "buffers")) continue;
    int k = 0;
    while (k < PROFILE_CLASSES && strcmp(own_kind_names[k], f[KIND])) k++;
    ck_assert_int_lt(k, PROFILE_CLASSES);
    check_row(f, &own.kinds[k]);
    rows_checked++;
    equal += !strcmp(f[VERDICT], "equal");
  }
  ck_assert_uint_gt(launches, 50);
  ck_assert_msg(equal * 10 > rows_checked * 9, "only %zu of %zu rows are equal", equal, rows_checked);
  for (size_t i = 0; i < n; i++) free(table[i]);
  free(table);
}
END_TEST

static const char listing[] =
  ".text.transpose:\n"
  "\t//## File \"/x/profile.cu\", line 8\n"
  "        /*0010*/ LDG.E R2, desc[UR4][R2.64] ;\n"
  "        /*0020*/ STS [R7], R2 ;\n"
  "\t//## File \"/x/profile.cu\", line %u\n"
  "        /*0030*/ LDS R9, [R8] ;\n"
  "        /*0040*/ STG.E desc[UR4][R4.64], R9 ;\n";

START_TEST(by_line)
{
  record(4096, 512, -1);
  for (unsigned line = 12; line <= 13; line++) {
    struct request *q = typed(ROW);
    char path[200], why[300] = "", text[700], *out = NULL;
    const char *const kernels[] = {"transpose", "scaled"};
    struct ncu_report report;
    struct lines lines;
    struct outcome gpu = {0};
    struct own own;
    size_t size;
    snprintf(path, sizeof path, "%s/source.csv", folder);
    FILE *source = fopen(path, "re");
    snprintf(path, sizeof path, "%s/raw.csv", folder);
    FILE *counters = fopen(path, "re");
    ck_assert_msg(ncu_read(source, counters, kernels, 2, &report, why, sizeof why), "%s", why);
    fclose(source), fclose(counters);
    snprintf(text, sizeof text, listing, line);
    lines_parse(text, &lines);
    ck_assert_int_eq(request_run(q), 0);
    own_compare(q, NULL, &gpu, &report.launches[0], &lines, &own);
    ck_assert(own.lined);
    FILE *f = open_memstream(&out, &size);
    own_print(&own, f);
    fclose(f);
    if (line == 12) {
      says(out, "profile.cu:12 shared 128 4096 128 4096 equal");
      says(out, "profile.cu:8 global 128 512 128 512 equal");
    } else {                               /* the sum is right, the line is not */
      says(out, "profile.cu:12 shared 128 4096 0 0 <- another line");
      says(out, "profile.cu:13 shared 0 0 128 4096 <- another line");
    }
    free(out);
    own_free(&own);
    lines_free(&lines);
    ncu_free(&report);
    request_free(q);
  }
}
END_TEST

START_TEST(kinds_of_instructions)
{
  static const struct { const char *opcode; enum ncu_kind kind; } known[] = {
    {"LDS.128", NCU_SHARED_LOAD}, {"LDSM.16.M88.4", NCU_SHARED_LOAD}, {"STS.U8", NCU_SHARED_STORE},
    {"ATOMS.POPC.INC.32", NCU_SHARED_ATOMIC}, {"LDGSTS.E.BYPASS.128", NCU_COPY},
    {"LDG.E.64.CONSTANT", NCU_GLOBAL_LOAD}, {"STG.E", NCU_GLOBAL_STORE},
    {"REDG.E.ADD.STRONG.GPU", NCU_GLOBAL_ATOMIC}, {"ATOMG.E.ADD", NCU_GLOBAL_ATOMIC},
    {"RED.E.ADD", NCU_GLOBAL_ATOMIC}, {"LDC", NCU_OTHER}, {"LDL", NCU_OTHER}, {"LD.E", NCU_GLOBAL_LOAD},
    {"REDUX.SUM", NCU_OTHER}, {"STL", NCU_OTHER}, {"ATOM.E.ADD", NCU_GLOBAL_ATOMIC}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    ck_assert_msg(ncu_kind(known[i].opcode) == known[i].kind, "%s", known[i].opcode);
}
END_TEST

void test_prove_own(Suite *s)
{
  TCase *t = tcase_create("own kernels");
  tcase_set_timeout(t, 30);
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, equal_on_both);
  tcase_add_test(t, a_difference_is_told);
  tcase_add_test(t, another_recording_is_refused);
  tcase_add_test(t, pointers_in_structs);
  tcase_add_test(t, by_line);
  tcase_add_test(t, kinds_of_instructions);
  tcase_add_loop_test(t, the_recorded_kernels, 0, PARTS);
  suite_add_tcase(s, t);
}
