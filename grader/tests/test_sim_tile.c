/* Matrices between shared memory and registers, and asynchronous copies. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tile.h"

static void open_ok(struct tile *t, const char *body, uint32_t threads, uint32_t fill)
{
  bool ok = tile_open(t, body, threads, fill, true);
  ck_assert_msg(ok, "line %u: %s", t->error.line, t->error.text);
}

static void run_ok(struct tile *t)
{
  bool ok = tile_run(t);
  ck_assert_msg(ok, "%s", t->result.nfaults ? t->result.faults->text : "no fault, but false");
}

static void run_faults(struct tile *t, enum sim_fault_kind kind, const char *part)
{
  ck_assert_msg(!tile_run(t), "no fault; expected '%s'", part);
  const struct sim_fault *f = tile_fault(t);
  ck_assert_msg(f->kind == kind && strstr(f->text, part), "%s: %s\nnot %s: %s",
                sim_fault_name(f->kind), f->text, sim_fault_name(kind), part);
}

/* ---- ldmatrix, stmatrix, movmatrix -------------------------------------------------------------- */

static uint16_t half_at(const uint8_t *data, uint32_t row, unsigned c)
{
  uint16_t v;
  memcpy(&v, data + row + 2 * c, 2);
  return v;
}

/* Input word 0 of a lane is the row it gives. */
static void check_ldmatrix(unsigned n, bool trans)
{
  static const char *const regs[] = {"", "{%r30}", "{%r30, %r31}", "", "{%r30, %r31, %r32, %r33}"};
  char body[300];
  snprintf(body, sizeof body,
           "add.u32 %%r50, %%r1, %%r10;\nldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 %s, [%%r50];", n,
           trans ? ".trans" : "", regs[n]);
  struct tile t;
  uint64_t seed = 1 + n;
  open_ok(&t, body, 32, 8192);
  for (int k = 0; k < 8192; k++) t.data[k] = (uint8_t)tile_random(&seed);
  for (int round = 0; round < 5; round++) {
    for (int l = 0; l < 32; l++) t.in[l][0] = round ? tile_random(&seed) % 512 * 16 : (uint32_t)l * 144;
    run_ok(&t);
    for (unsigned k = 0; k < n; k++)
      for (unsigned l = 0; l < 32; l++) {
        /* Lane l, element e: row l / 4, column 2 (l mod 4) + e of matrix k, or the two exchanged. */
        for (unsigned e = 0; e < 2; e++) {
          unsigned r = l / 4, c = 2 * (l % 4) + e, row = trans ? c : r, col = trans ? r : c;
          uint16_t want = half_at(t.data, t.in[8 * k + row][0], col);
          ck_assert_uint_eq((uint16_t)(t.out[l][k] >> 16 * e), want);
        }
      }
    const struct sim_site *s =
        tile_site(&t, (enum model_op)(MODEL_LDMATRIX_X1 + (n == 4 ? 2 : n - 1)));
    ck_assert_uint_eq(s->requests, 1);
    ck_assert_uint_eq(s->bytes, n * 128);
    if (!round) ck_assert_uint_eq(s->wavefronts, n);   /* a pitch of 36 words: no conflict */
  }
  tile_close(&t);
}

START_TEST(ldmatrix_is_its_definition)
{
  for (unsigned n = 1; n <= 4; n *= 2) check_ldmatrix(n, false), check_ldmatrix(n, true);
}
END_TEST

/* What stmatrix stores, ldmatrix loads, and the bytes lie where they should. */
START_TEST(stmatrix_is_its_definition)
{
  for (unsigned trans = 0; trans < 2; trans++) {
    char body[500];
    snprintf(body, sizeof body,
             "mad.lo.u32 %%r50, %%r0, 144, %%r1;\n"
             "stmatrix.sync.aligned.m8n8.x4%s.shared.b16 [%%r50], {%%r10, %%r11, %%r12, %%r13};\n"
             "bar.warp.sync -1;\n"
             "ld.shared.v4.u32 {%%r30, %%r31, %%r32, %%r33}, [%%r50];\n"
             "ldmatrix.sync.aligned.m8n8.x4%s.b16 {%%r34, %%r35, %%r36, %%r37}, [%%rd20];",
             trans ? ".trans" : "", trans ? ".trans" : "");
    char all[700];
    snprintf(all, sizeof all, "mad.lo.u32 %%r50, %%r0, 144, %%r1;\ncvt.u64.u32 %%rd21, %%r50;\n"
             "cvta.shared.u64 %%rd20, %%rd21;\n%s", body);
    struct tile t;
    uint64_t seed = 9;
    open_ok(&t, all, 32, 0);
    for (int l = 0; l < 32; l++)
      for (int k = 0; k < 4; k++) t.in[l][k] = tile_random(&seed);
    run_ok(&t);
    for (unsigned k = 0; k < 4; k++)
      for (unsigned l = 0; l < 32; l++) {
        ck_assert_uint_eq(t.out[l][4 + k], t.in[l][k]);
        for (unsigned e = 0; e < 2; e++) {
          unsigned r = l / 4, c = 2 * (l % 4) + e, row = trans ? c : r, col = trans ? r : c;
          uint16_t got = (uint16_t)(t.out[8 * k + row][col / 2] >> 16 * (col % 2));
          ck_assert_uint_eq(got, (uint16_t)(t.in[l][k] >> 16 * e));
        }
      }
    ck_assert_uint_eq(tile_site(&t, MODEL_STMATRIX_X4)->wavefronts, 4);
    tile_close(&t);
  }
}
END_TEST

START_TEST(movmatrix_transposes)
{
  struct tile t;
  open_ok(&t, "movmatrix.sync.aligned.m8n8.trans.b16 %r30, %r10;", 32, 0);
  for (unsigned l = 0; l < 32; l++)   /* element (r, c) is 8 r + c */
    t.in[l][0] = (8 * (l / 4) + 2 * (l % 4)) | (8 * (l / 4) + 2 * (l % 4) + 1) << 16;
  run_ok(&t);
  for (unsigned l = 0; l < 32; l++) {
    unsigned r = l / 4, c = 2 * (l % 4);
    ck_assert_uint_eq(t.out[l][0], (8 * c + r) | (8 * (c + 1) + r) << 16);
  }
  tile_close(&t);
}
END_TEST

START_TEST(matrix_faults)
{
  static const char load[] = "add.u32 %r50, %r1, %r10;\n"
                             "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r30, %r31}, [%r50];";
  struct tile t;
  open_ok(&t, load, 32, 8192);
  for (uint32_t l = 0; l < 32; l++) t.in[l][0] = l < 16 ? 16 * l : 1u << 30;
  run_ok(&t);   /* lanes 16 to 31 give no row */
  t.in[15][0] = 8;
  run_faults(&t, SIM_FAULT_ALIGNMENT, "16 bytes");
  t.in[15][0] = TILE_DATA - 8 + 8;
  run_faults(&t, SIM_FAULT_BOUNDS, "index");
  t.in[15][0] = 8192;
  run_faults(&t, SIM_FAULT_UNINITIALISED, "no thread has written");
  tile_close(&t);
  open_ok(&t, load, 24, 8192);
  run_faults(&t, SIM_FAULT_BARRIER, "all 32 lanes");
  tile_close(&t);
  open_ok(&t, "setp.lt.u32 %p1, %r0, 9;\n@%p1 ret;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, "
              "[%r1];", 32, 8192);
  run_faults(&t, SIM_FAULT_BARRIER, "have returned");
  tile_close(&t);
  open_ok(&t, "ldmatrix.sync.aligned.m8n8.x1.b16 {%r30}, [%rd3];", 32, 0);
  run_faults(&t, SIM_FAULT_BOUNDS, "addresses of shared memory");
  tile_close(&t);
  /* Data of another lane, with no barrier between. */
  open_ok(&t, "shl.b32 %r50, %r0, 4;\nadd.u32 %r50, %r50, %r1;\nxor.b32 %r51, %r50, 16;\n"
              "st.shared.v4.u32 [%r50], {%r10, %r11, %r12, %r13};\n"
              "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30, %r31, %r32, %r33}, [%r51];", 32, 0);
  run_faults(&t, SIM_FAULT_RACE, "__syncwarp");
  tile_close(&t);
  ck_assert(!tile_open(&t, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30, %r31}, [%r1];", 32, 0,
                       true));
  ck_assert_msg(strstr(t.error.text, "takes 4 registers, not 2"), "%s", t.error.text);
  tile_close(&t);
}
END_TEST

/* Rows that the hardware counted, as kernels. */
START_TEST(recorded_matrix_rows)
{
  static const struct { const char *name; enum model_op op; const char *body; } ops[] = {
      {"ldmatrix.x1", MODEL_LDMATRIX_X1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r50];"},
      {"ldmatrix.x2", MODEL_LDMATRIX_X2,
       "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r30, %r31}, [%r50];"},
      {"ldmatrix.x4", MODEL_LDMATRIX_X4,
       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30, %r31, %r32, %r33}, [%r50];"},
      {"ldmatrix.x4.trans", MODEL_LDMATRIX_X4,
       "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r30, %r31, %r32, %r33}, [%r50];"},
      {"stmatrix.x1", MODEL_STMATRIX_X1, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r50], {%r10};"},
      {"stmatrix.x2", MODEL_STMATRIX_X2,
       "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r50], {%r10, %r11};"},
      {"stmatrix.x4", MODEL_STMATRIX_X4,
       "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r50], {%r10, %r11, %r12, %r13};"},
      {"cp.async.16", MODEL_CP_ASYNC,
       "cp.async.cg.shared.global [%r50], [%rd3], 16;\ncp.async.wait_all;"},
  };
  int rows = 0;
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    char body[300], line[2000];
    snprintf(body, sizeof body, "add.u32 %%r50, %%r1, %%r10;\n%s", ops[k].body);
    struct tile t;
    bool ok = tile_open(&t, body, 32, 0, false);
    ck_assert_msg(ok, "%s", t.error.text);
    FILE *f = fopen("plots/data/h200/accesses.tsv", "r");
    ck_assert(f != NULL);
    while (fgets(line, sizeof line, f)) {
      char *field[40];
      unsigned n = 0;
      for (char *at = line; at && n < 40; n++) {
        field[n] = at;
        at = strchr(at, '\t');
        if (at) *at++ = 0;
      }
      if (n < 40 || strcmp(field[2], ops[k].name) || strcmp(field[4], "ffffffff")) continue;
      for (int l = 0; l < 32; l++) t.in[l][0] = (uint32_t)atoi(field[8 + l]);
      run_ok(&t);
      const struct sim_site *s = tile_site(&t, ops[k].op);
      ck_assert_msg(s->wavefronts == (unsigned)atoi(field[5]) && s->ideal == (unsigned)atoi(field[6]),
                    "row %s %s: %llu wavefronts, ideal %llu; recorded %s, %s", field[0], field[2],
                    (unsigned long long)s->wavefronts, (unsigned long long)s->ideal, field[5], field[6]);
      rows++;
    }
    fclose(f);
    tile_close(&t);
  }
  ck_assert_int_ge(rows, 7 * 27);
}
END_TEST

/* ---- cp.async ----------------------------------------------------------------------------------- */

#define COPY "shl.b32 %r50, %r0, 4;\nadd.u32 %r51, %r50, %r1;\ncvt.u64.u32 %rd10, %r50;\n" \
             "add.s64 %rd10, %rd10, %rd3;\ncp.async.cg.shared.global [%r51], [%rd10], 16;\n"
#define READ "ld.shared.v4.u32 {%r30, %r31, %r32, %r33}, [%r51];\n"
#define READ_NEXT "xor.b32 %r52, %r50, 16;\nadd.u32 %r52, %r52, %r1;\n" \
                  "ld.shared.v4.u32 {%r30, %r31, %r32, %r33}, [%r52];\n"

static void fill_data(struct tile *t)
{
  uint64_t seed = 77;
  for (int k = 0; k < TILE_DATA; k++) t->data[k] = (uint8_t)tile_random(&seed);
}

START_TEST(copies_arrive)
{
  static const char *const waits[] = {
      COPY "cp.async.wait_all;\n" READ,
      COPY "cp.async.commit_group;\ncp.async.wait_group 0;\n" READ,
      COPY "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n" READ_NEXT,
      /* The oldest of two groups is enough. */
      COPY "cp.async.commit_group;\ncp.async.ca.shared.global [%r51+8192], [%rd10], 8;\n"
           "cp.async.commit_group;\ncp.async.wait_group 1;\n" READ};
  for (size_t k = 0; k < sizeof waits / sizeof *waits; k++) {
    struct tile t;
    open_ok(&t, waits[k], 64, 0);
    fill_data(&t);
    run_ok(&t);
    for (uint32_t l = 0; l < 64; l++)
      ck_assert(!memcmp(t.out[l], t.data + 16 * (k == 2 ? l ^ 1 : l), 16));
    for (size_t s = 0; s < t.result.nsites; s++)
      if (t.result.sites[s].op == MODEL_CP_ASYNC && t.result.sites[s].width == 16) {
        ck_assert_uint_eq(t.result.sites[s].requests, 2);
        ck_assert_uint_eq(t.result.sites[s].wavefronts, 8);
      }
    tile_close(&t);
  }
}
END_TEST

START_TEST(copies_not_waited_for)
{
  static const struct { const char *body; enum sim_fault_kind kind; const char *part; } bad[] = {
      {COPY READ, SIM_FAULT_UNINITIALISED, "own cp.async has still to fill"},
      {COPY "bar.sync 0;\n" READ_NEXT, SIM_FAULT_RACE, "must wait for its copy"},
      {COPY "cp.async.wait_all;\n" READ_NEXT, SIM_FAULT_RACE, "__syncwarp"},
      {COPY "cp.async.wait_group 0;\n" READ, SIM_FAULT_UNINITIALISED, "own cp.async"},
      {COPY "cp.async.commit_group;\ncp.async.wait_group 1;\n" READ, SIM_FAULT_UNINITIALISED,
       "own cp.async"},
      {COPY "st.shared.u32 [%r51], %r0;\ncp.async.wait_all;\n", SIM_FAULT_RACE, "writes byte"},
      /* Somebody may still read what the copy writes over. */
      {"shl.b32 %r50, %r0, 4;\nadd.u32 %r51, %r50, %r1;\nst.shared.v4.u32 [%r51], {%r0,%r0,%r0,%r0};\n"
       "bar.sync 0;\n" READ_NEXT COPY "cp.async.wait_all;\n", SIM_FAULT_RACE, "nothing orders"},
      /* In the second round of a loop, where the pattern of lanes is known. */
      {"mov.u32 %r60, 0;\nshl.b32 %r50, %r0, 4;\nadd.u32 %r51, %r50, %r1;\n"
       "R:\nst.shared.v4.u32 [%r51], {%r0,%r0,%r0,%r0};\n" COPY
       "add.u32 %r60, %r60, 1;\nsetp.lt.u32 %p1, %r60, 2;\n@%p1 bra R;\n", SIM_FAULT_RACE, "writes byte"},
      {"mov.u32 %r60, 0;\nshl.b32 %r50, %r0, 4;\nadd.u32 %r51, %r50, %r1;\n"
       "st.shared.v4.u32 [%r51], {%r0,%r0,%r0,%r0};\nR:\n" READ COPY
       "add.u32 %r60, %r60, 1;\nsetp.lt.u32 %p1, %r60, 2;\n@%p1 bra R;\n", SIM_FAULT_UNINITIALISED,
       "own cp.async"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    struct tile t;
    open_ok(&t, bad[k].body, 64, 0);
    run_faults(&t, bad[k].kind, bad[k].part);
    tile_close(&t);
  }
}
END_TEST

/* Until the wait, memory holds what was there before. */
START_TEST(copies_pending_leave_memory_alone)
{
  struct tile t;
  bool ok = tile_open(&t, "shl.b32 %r50, %r0, 4;\nadd.u32 %r51, %r50, %r1;\n"
                      "st.shared.u32 [%r51], %r10;\n" COPY
                      "cp.async.commit_group;\nld.shared.u32 %r34, [%r51];\n"
                      "cp.async.wait_group 0;\n" READ, 32, 0, false);
  ck_assert_msg(ok, "%s", t.error.text);
  fill_data(&t);
  for (int l = 0; l < 32; l++) t.in[l][0] = 4711;
  run_ok(&t);
  ck_assert_uint_eq(t.out[3][4], 4711);
  ck_assert(!memcmp(t.out[3], t.data + 48, 16));
  tile_close(&t);
}
END_TEST

START_TEST(copies_of_part_of_the_source)
{
  /* Input word 0: the bytes each lane reads; the rest is zeros, and is not looked at. */
  struct tile t;
  open_ok(&t, "shl.b32 %r50, %r0, 4;\nadd.u32 %r51, %r50, %r1;\ncvt.u64.u32 %rd10, %r11;\n"
              "add.s64 %rd10, %rd10, %rd3;\n"
              "cp.async.cg.shared.global [%r51], [%rd10], 16, %r10;\ncp.async.wait_all;\n" READ, 32, 0);
  fill_data(&t);
  for (uint32_t l = 0; l < 32; l++) {
    t.in[l][0] = l % 17;
    t.in[l][1] = l % 17 ? 16 * l : 1u << 20;
  }
  run_ok(&t);
  for (uint32_t l = 0; l < 32; l++) {
    uint8_t want[16] = {0};
    memcpy(want, t.data + 16 * l, l % 17);
    ck_assert(!memcmp(t.out[l], want, 16));
  }
  ck_assert_uint_eq(tile_site(&t, MODEL_CP_ASYNC)->requests, 1);
  t.in[5][1] = TILE_DATA - 0 + 16;
  run_faults(&t, SIM_FAULT_BOUNDS, "past the end");
  tile_close(&t);
  open_ok(&t, "setp.lt.u32 %p1, %r0, 7;\nshl.b32 %r50, %r0, 2;\nadd.u32 %r51, %r50, %r1;\n"
              "cvt.u64.u32 %rd10, %r50;\nadd.s64 %rd10, %rd10, %rd3;\nmov.b64 %rd11, 0;\n"
              "cp.async.ca.shared.global.L2::cache_hint.L2::128B [%r51], [%rd10], 4, %p1, %rd11;\n"
              "cp.async.wait_all;\nld.shared.u32 %r30, [%r51];\n", 32, 0);
  fill_data(&t);
  run_ok(&t);
  for (uint32_t l = 0; l < 32; l++) {
    uint32_t want = 0;
    if (l >= 7) memcpy(&want, t.data + 4 * l, 4);
    ck_assert_uint_eq(t.out[l][0], want);
  }
  tile_close(&t);
}
END_TEST

Suite *suite_sim_tile(void)
{
  Suite *s = suite_create("sim_tile");
  TCase *c = tcase_create("matrices");
  tcase_add_test(c, ldmatrix_is_its_definition);
  tcase_add_test(c, stmatrix_is_its_definition);
  tcase_add_test(c, movmatrix_transposes);
  tcase_add_test(c, matrix_faults);
  tcase_add_test(c, recorded_matrix_rows);
  suite_add_tcase(s, c);
  c = tcase_create("copies");
  tcase_add_test(c, copies_arrive);
  tcase_add_test(c, copies_not_waited_for);
  tcase_add_test(c, copies_pending_leave_memory_alone);
  tcase_add_test(c, copies_of_part_of_the_source);
  suite_add_tcase(s, c);
  return s;
}
