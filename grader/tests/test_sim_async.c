/* The simulator on barriers that part of a warp reaches, and on asynchronous copies.
 *
 * Kernels are in tests/sim/ with their faults on their lines (fixture.h).  Everything is run with 1, 2
 * and 4 host threads, which must agree. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "profile/arguments.h"
#include "sim/tensormap.h"

enum { GRID = 3 };

static const struct { const char *file, *kernel; unsigned threads; } cases[] = {
    {"meet", "in_a_branch", 64}, {"meet", "in_each_arm", 64},  {"meet", "in_a_loop", 64},
    {"meet", "by_warps", 64},    {"meet", "returned", 64},     {"meet", "from_afar", 128},
    {"meet", "not_aligned", 64}, {"meet", "lanes_differ", 64}, {"meet", "skipped", 64},
    {"meet", "once_more", 64},   {"meet", "out_early", 128},   {"meet", "counted", 128},
    {"async", "arrive_wait", 64}, {"async", "arrive_no_wait", 64}, {"async", "no_init", 64},
    {"async", "init_unsynced", 64}, {"async", "too_many", 64}, {"async", "never_complete", 64},
    {"async", "parities", 64}, {"async", "states", 64}, {"async", "copy_in", 64},
    {"async", "copy_unwaited", 64}, {"async", "copy_one_waits", 64},
    {"async", "copy_half_waits", 64}, {"async", "too_few_bytes", 64}, {"async", "past_array", 64},
    {"async", "odd_address", 64}, {"async", "pipeline", 64}, {"async", "pipeline_hasty", 64},
    {"async", "copy_out", 64}, {"async", "copy_out_hasty", 64},
    {"async", "copy_out_unfenced", 64}, {"async", "async_arrivals", 64},
    {"async", "cluster", 64},    {"async", "family", 64},      {"async", "after_inval", 64},
};

START_TEST(faults)
{
  const char *kernel = cases[_i].kernel;
  struct fixture x;
  struct ran one, more;
  fixture_open(&x, cases[_i].file);
  fixture_run(&one, &x, kernel, GRID, cases[_i].threads, 0, 1);
  fixture_faults(&x, kernel, &one);
  for (unsigned n = 2; n <= 4; n *= 2) {
    fixture_run(&more, &x, kernel, GRID, cases[_i].threads, 0, n);
    fixture_same(kernel, n, &one, &more);
    fixture_done(&more);
  }
  fixture_done(&one);
  fixture_close(&x);
}
END_TEST

/* Where the others are is told: thread 37 (of warp 1) waits after the branch. */
START_TEST(both_places)
{
  struct fixture x;
  struct ran r;
  fixture_open(&x, "meet");
  fixture_run(&r, &x, "in_a_branch", GRID, 64, 0, 1);
  const struct sim_fault *f = &r.result.faults[0];
  ck_assert_uint_eq(f->thread[0], 32);
  ck_assert_uint_eq(f->other_thread[0], 37);
  ck_assert_uint_eq(f->other_line, f->line + 3);
  ck_assert(f->fatal && !r.result.completed);
  fixture_done(&r);
  fixture_close(&x);
}
END_TEST

START_TEST(values)
{
  struct fixture x;
  struct ran r;
  fixture_open(&x, "meet");
  fixture_run(&r, &x, "not_aligned", GRID, 64, 0, 1);
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], t < 37 ? t + 2 : 2 * t + 5);
  fixture_done(&r);
  fixture_run(&r, &x, "returned", GRID, 64, 0, 1);
  for (int t = 0; t < 37; t++) ck_assert_int_eq(r.out[t], 2 * (t + 1));
  fixture_done(&r);
  fixture_close(&x);
}
END_TEST

/* Runs a kernel of async.cu that is clean; out is compared with in[k] = k + 1 by the caller. */
static void run_clean(struct ran *r, const struct fixture *x, const char *kernel)
{
  fixture_run(r, x, kernel, GRID, 64, 0, 1);
  ck_assert_msg(r->result.completed && !r->result.nfaults, "%s", kernel);
}

START_TEST(async_values)
{
  struct fixture x;
  struct ran r;
  fixture_open(&x, "async");
  run_clean(&r, &x, "arrive_wait");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 64 - t);
  fixture_done(&r);
  run_clean(&r, &x, "parities");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 101);
  fixture_done(&r);
  run_clean(&r, &x, "states");   /* what the others had left, in the order of arrival */
  int pending = 0;
  for (int t = 0; t < 64; t++) pending += r.out[t];
  ck_assert_int_eq(pending, 64 * 65 / 2);
  fixture_done(&r);
  run_clean(&r, &x, "copy_in");
  for (int k = 0; k < 256; k++) ck_assert_int_eq(r.out[k], 256 - k);
  fixture_done(&r);
  run_clean(&r, &x, "pipeline");
  for (int t = 0; t < 32; t++) {
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += 64 * k + t + 1 + 64 * k + t + 33;
    ck_assert_int_eq(r.out[t], sum);
  }
  fixture_done(&r);
  run_clean(&r, &x, "copy_out");
  for (int k = 0; k < 64 * GRID; k++) ck_assert_int_eq(r.out[k], 3 * (k % 64 + 1));
  fixture_done(&r);
  run_clean(&r, &x, "async_arrivals");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 256 - t);
  fixture_done(&r);
  run_clean(&r, &x, "family");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 101);
  fixture_done(&r);
  run_clean(&r, &x, "cluster");
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 64 - t);
  fixture_done(&r);
  fixture_close(&x);
}
END_TEST

/* 1024 bytes: 32 sectors, 8 rows of the banks, a block. */
START_TEST(bulk_counts)
{
  struct fixture x;
  struct ran r;
  fixture_open(&x, "async");
  run_clean(&r, &x, "copy_in");
  unsigned seen = 0;
  for (size_t k = 0; k < r.result.nsites; k++) {
    const struct sim_site *s = &r.result.sites[k];
    if (s->bytes != 1024 * GRID || s->op == MODEL_GLOBAL_STORE || s->op == MODEL_LOAD) continue;
    seen++;
    if (s->op == MODEL_GLOBAL_LOAD) {
      ck_assert_uint_eq(s->sectors, 32 * GRID);
    } else {
      ck_assert_uint_eq(s->wavefronts, 8 * GRID);
      ck_assert_uint_eq(s->requests, GRID);
      ck_assert(!s->exact);
    }
  }
  ck_assert_uint_eq(seen, 2);
  fixture_done(&r);
  fixture_close(&x);
}
END_TEST

/* ---- tensors ----------------------------------------------------------------------------------- */

struct device { struct sim *sim; struct ptx_module *module; struct fixture x; };

static void device_open(struct device *d, const char *name)
{
  struct sim_options o = {.threads = 1, .warp_budget = 3000000};
  struct ptx_error e;
  fixture_open(&d->x, name);
  d->sim = sim_open(&o);
  d->module = ptx_read(d->x.ptx, d->x.ptx_bytes, &e);
  ck_assert_msg(d->module != NULL, "line %u: %s", e.line, e.text);
  ck_assert_msg(sim_load(d->sim, d->module, &e), "line %u: %s", e.line, e.text);
}

static void device_close(struct device *d)
{
  sim_close(d->sim);
  ptx_free(d->module);
  fixture_close(&d->x);
}

enum { WIDE = 80, HIGH = 20 };   /* floats of the tensor; a box is 32 x 16 of them */

/* A box with the 128-byte swizzle, half of it outside: chunk c of row r lies at c ^ (r % 8). */
START_TEST(tensor_in)
{
  static const int corners[][2] = {{0, 0}, {32, 4}, {60, 10}, {-7, -3}};
  static const enum model_tma modes[] = {MODEL_TMA_NONE, MODEL_TMA_128B};
  int x = corners[_i / 2][0], y = corners[_i / 2][1];
  struct device d;
  device_open(&d, "tensor");
  uint64_t in = sim_alloc(d.sim, WIDE * HIGH * 4, "in", true);
  uint64_t out = sim_alloc(d.sim, 32 * 16 * 4, "out", false);
  int *a = sim_host(d.sim, in, WIDE * HIGH * 4);
  for (int k = 0; k < WIDE * HIGH; k++) a[k] = k + 1;
  struct { struct sim_tensor map; uint64_t out; int x, y, bytes; } p = {
      .out = out, .x = x, .y = y, .bytes = 32 * 16 * 4};
  char why[200];
  ck_assert_msg(sim_tensor_map(&p.map, SIM_TENSOR_S32, 2, in, (uint64_t[]){WIDE, HIGH}, NULL,
                               (uint32_t[]){32, 16}, modes[_i % 2], false, why, sizeof why),
                "%s", why);
  struct sim_launch l = {.kernel = "box_in", .grid = {1, 1, 1}, .block = {64, 1, 1}, .params = &p,
                         .param_bytes = 148};
  struct sim_result r;
  ck_assert_msg(sim_launch(d.sim, &l, &r), "%s", r.nfaults ? r.faults[0].text : "");
  const int *b = sim_host(d.sim, out, 32 * 16 * 4);
  for (int row = 0; row < 16; row++)
    for (int c = 0; c < 32; c++) {
      bool inside = x + c >= 0 && x + c < WIDE && y + row >= 0 && y + row < HIGH;
      int want = inside ? a[(y + row) * WIDE + x + c] : 0;
      int chunk = _i % 2 ? c / 4 ^ row % 8 : c / 4;
      ck_assert_int_eq(b[row * 32 + chunk * 4 + c % 4], want);
    }
  sim_result_free(&r);
  device_close(&d);
}
END_TEST

/* Three dimensions of halves, padded strides, the 64-byte swizzle, in and out again, cut off. */
START_TEST(tensor_through)
{
  struct device d;
  device_open(&d, "tensor");
  enum { BYTES = 2 * 6 * 48 * 2 };   /* [2][6][48] of which 40 columns are the tensor's */
  uint64_t in = sim_alloc(d.sim, BYTES, "in", true), out = sim_alloc(d.sim, BYTES, "out", false);
  uint16_t *a = sim_host(d.sim, in, BYTES), *b = sim_host(d.sim, out, BYTES);
  for (int k = 0; k < BYTES / 2; k++) a[k] = (uint16_t)(k + 1), b[k] = 9999;
  struct { struct sim_tensor from, to; int bytes; } p = {.bytes = 32 * 4 * 1 * 2};
  char why[200];
  const uint64_t dims[] = {40, 5, 2}, strides[] = {96, 576};
  const uint32_t box[] = {32, 4, 1};
  ck_assert(sim_tensor_map(&p.from, SIM_TENSOR_F16, 3, in, dims, strides, box, MODEL_TMA_64B, false,
                           why, sizeof why));
  ck_assert(sim_tensor_map(&p.to, SIM_TENSOR_F16, 3, out, (uint64_t[]){34, 4, 2}, strides, box,
                           MODEL_TMA_64B, false, why, sizeof why));
  struct sim_launch l = {.kernel = "box_through", .grid = {1, 1, 1}, .block = {32, 1, 1},
                         .params = &p, .param_bytes = 260};
  struct sim_result r;
  ck_assert_msg(sim_launch(d.sim, &l, &r), "%s", r.nfaults ? r.faults[0].text : "");
  for (int z = 0; z < 2; z++)
    for (int y = 0; y < 6; y++)
      for (int x = 0; x < 48; x++) {
        bool moved = z == 0 && y >= 1 && y < 4 && x >= 4 && x < 34;
        int want = moved ? a[(6 + y - 1) * 48 + x - 4] : 9999;
        ck_assert_int_eq(b[(z * 6 + y) * 48 + x], want);
      }
  sim_result_free(&r);
  /* What is no map is a fault that says so. */
  memset(&p.from, 0, sizeof p.from);
  ck_assert(!sim_launch(d.sim, &l, &r));
  ck_assert_msg(strstr(r.faults[0].text, "no tensor map"), "%s", r.faults[0].text);
  sim_result_free(&r);
  device_close(&d);
}
END_TEST

START_TEST(tensor_map_rules)
{
  struct sim_tensor m;
  char why[200];
  const uint64_t dims[] = {64, 64};
#define MAKE(address, strides, x, swizzle)                                                       \
  sim_tensor_map(&m, SIM_TENSOR_F32, 2, address, dims, strides, (uint32_t[]){x, 8}, swizzle, false, \
                 why, sizeof why)
  ck_assert(MAKE(4096, NULL, 32, MODEL_TMA_128B));
  ck_assert_uint_eq(sim_tensor_box_bytes(&m), 1024);
  ck_assert(!MAKE(4104, NULL, 32, MODEL_TMA_128B));
  ck_assert(!MAKE(4096, NULL, 64, MODEL_TMA_128B));   /* 256 bytes a row */
  ck_assert(!MAKE(4096, NULL, 6, MODEL_TMA_NONE));    /* 24 bytes a row */
  ck_assert(!MAKE(4096, NULL, 260, MODEL_TMA_NONE));
  ck_assert(!MAKE(4096, ((uint64_t[]){260}), 32, MODEL_TMA_NONE));
}
END_TEST

/* What banks profile takes for a tensor map: sides as C writes them, the outermost first. */
START_TEST(tensor_argument)
{
  struct argument a;
  struct device d;
  char why[600];
  ck_assert_msg(argument_parse("tma:f16[6,40]=iota/box=4,32/swizzle=64B", &a, why, sizeof why), "%s",
                why);
  ck_assert_uint_eq(a.bytes, 480);
  ck_assert_uint_eq(a.data[2] | a.data[3] << 8, 0x3c00);
  ck_assert(a.tensor.rank == 2 && a.tensor.dims[0] == 40 && a.tensor.dims[1] == 6);
  ck_assert(a.tensor.box[0] == 32 && a.tensor.box[1] == 4 && a.tensor.strides[0] == 80);
  ck_assert(a.tensor.swizzle == MODEL_TMA_64B);
  device_open(&d, "tensor");
  const struct ptx_function *k = ptx_find_entry(d.module, "box_in");
  struct argument five[5] = {a};
  for (int n = 1; n < 5; n++) ck_assert(argument_parse(n == 1 ? "i32[4]" : "i32:1", &five[n], why, 600));
  ck_assert_msg(arguments_check(k, five, 5, NULL, why, sizeof why), "%s", why);
  struct argument swap = five[0];
  five[0] = five[1], five[1] = swap;
  ck_assert(!arguments_check(k, five, 5, NULL, why, sizeof why));
  for (int n = 0; n < 5; n++) argument_free(&five[n]);
  device_close(&d);
  static const char *const bad[] = {"tma:f16[6,40]", "tma:f16[6,40]/box=4", "tma:f16[6,40]/box=4,40/swizzle=64B",
                                    "tma:f16[6,44]/box=4,32", "tma:i8[16]/box=16"};
  for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
    ck_assert_msg(!argument_parse(bad[n], &a, why, sizeof why), "%s", bad[n]);
    ck_assert(strlen(why) > 20);
    argument_free(&a);
  }
}
END_TEST

Suite *suite_sim_async(void)
{
  Suite *s = suite_create("sim_async");
  TCase *t = tcase_create("kernels");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, faults, 0, sizeof cases / sizeof *cases);
  tcase_add_test(t, both_places);
  tcase_add_test(t, values);
  tcase_add_test(t, async_values);
  tcase_add_test(t, bulk_counts);
  tcase_add_loop_test(t, tensor_in, 0, 8);
  tcase_add_test(t, tensor_through);
  tcase_add_test(t, tensor_map_rules);
  tcase_add_test(t, tensor_argument);
  suite_add_tcase(s, t);
  return s;
}
