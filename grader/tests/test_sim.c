/* The simulator on whole kernels: values, counts and faults.
 *
 * The kernels are CUDA files in tests/sim/ with their PTX beside them, so that no compiler is needed
 * here.  What a line must give stands on the line: `//! race` a fault, `//= 2 64 2` requests,
 * wavefronts and ideal.  A kernel is also run with 1, 2 and 4 host threads and all results must
 * agree. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static const struct { const char *kernel; unsigned threads; } faulty[] = {
    {"reduce_block", 256}, {"reduce_unsynced", 256}, {"missing_barrier", 256},
    {"write_after_read", 256}, {"write_after_read_synced", 256}, {"warp_sync_none", 32},
    {"warp_sync_each", 32}, {"warp_sync_halves", 32}, {"warp_sync_wrong_half", 32},
    {"shuffle_orders", 32}, {"same_value", 64}, {"different_values", 64},
    {"bytes_of_a_word", 256}, {"some_bytes_never_written", 32}, {"never_written", 64},
    {"atomics_only", 256}, {"atomic_and_plain", 256}, {"past_the_end", 32},
    {"before_the_start", 32}, {"null_pointer", 1}, {"past_shared", 160}, {"past_one_array", 256},
    {"past_local", 32}, {"misaligned", 32}, {"read_only", 32}, {"two_barriers", 32},
    {"shuffle_of_half", 32}, {"not_a_member", 32}, {"early_return", 256}, {"endless", 32},
    {"barrier_in_if", 64}, {"barrier_in_whole_warps", 64}, {"barrier_in_loop", 64},
    {"lock_in_a_warp", 64}, {"lock_spun", 64}, {"wait_for_a_warp", 64}, {"stops_itself", 32},
    {"blocks_copy", 32}, {"blocks_in_place", 32}, {"blocks_same_word", 32}, {"blocks_chain", 32},
    {"blocks_float_sum", 64}, {"blocks_one_faults", 32}, {"asserts", 32}, {"recursion", 32}, {"named_barriers", 128}, {"named_barrier_one_way", 128},
    {"wide_same_value", 64}, {"wide_different_values", 64}, {"wide_write_after_read", 256},
};

START_TEST(faults)
{
  struct fixture x;
  struct ran r;
  const char *kernel = faulty[_i].kernel;
  fixture_open(&x, "faults");
  fixture_run(&r, &x, kernel, !strncmp(kernel, "blocks_", 7) ? 5 : 1, faulty[_i].threads, 0, 1);
  fixture_faults(&x, kernel, &r);
  fixture_done(&r);
  fixture_close(&x);
}
END_TEST

/* What the kernels without a fault compute. */
START_TEST(values)
{
  struct fixture x;
  struct ran r;
  fixture_open(&x, "faults");
  fixture_run(&r, &x, "reduce_block", 3, 256, 0, 1);
  for (int b = 0; b < 3; b++) ck_assert_int_eq(r.out[b], 256 * 257 / 2);
  fixture_done(&r);
  fixture_run(&r, &x, "warp_sync_halves", 1, 32, 0, 1);
  for (int t = 0; t < 32; t++) ck_assert_int_eq(r.out[t], (t ^ 15) + 1);
  fixture_done(&r);
  fixture_run(&r, &x, "lock_spun", 1, 64, 0, 1);
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 64 * 65 / 2);
  fixture_done(&r);
  fixture_run(&r, &x, "lock_in_a_warp", 1, 64, 0, 1);
  for (int t = 0; t < 64; t++) ck_assert_int_eq(r.out[t], 64 * 65 / 2);
  fixture_done(&r);
  fixture_run(&r, &x, "named_barriers", 1, 128, 0, 1);
  for (int t = 64; t < 128; t++) ck_assert_int_eq(r.out[t], 3 * (127 - t + 1) + 3);
  fixture_done(&r);
  fixture_run(&r, &x, "blocks_same_word", 5, 32, 0, 4);
  for (int t = 0; t < 32; t++) ck_assert_int_eq(r.out[t], 5);
  fixture_done(&r);
  fixture_run(&r, &x, "blocks_chain", 5, 32, 0, 4);
  for (int t = 0; t < 5 * 32; t++) ck_assert_int_eq(r.out[t], t / 32);
  fixture_done(&r);
  fixture_run(&r, &x, "blocks_copy", 5, 32, 0, 4);
  for (int t = 0; t < 5 * 32; t++) ck_assert_int_eq(r.out[t], 2 * (t + 1));
  fixture_done(&r);
  fixture_close(&x);
}
END_TEST

/* ---- counts ----------------------------------------------------------------------------------------- */

static const struct { const char *kernel; unsigned shared; } counted[] = {
    {"strides", 16384}, {"wide", 1024}, {"atomics", 0}, {"generic", 0}};

START_TEST(counts)
{
  struct fixture x;
  struct ran r;
  fixture_open(&x, "counts");
  const char *kernel = counted[_i].kernel;
  unsigned start = fixture_start(&x, kernel), end = fixture_end(&x, start), told = 0;
  fixture_run(&r, &x, kernel, 1, 64, counted[_i].shared, 1);
  ck_assert_msg(r.result.completed && !r.result.nfaults, "%s: %s", kernel,
                r.result.nfaults ? r.result.faults[0].text : "");
  if (!strcmp(kernel, "generic")) start -= 3;
  for (unsigned line = start; line < end; line++) {
    unsigned want[3], have[3] = {0};
    const char *mark = strstr(x.line[line], "//= ");
    if (!mark || (strstr(x.line[line], "fetch") && strcmp(kernel, "generic"))) continue;
    ck_assert_int_eq(sscanf(mark + 4, "%u %u %u", &want[0], &want[1], &want[2]), 3);
    for (size_t s = 0; s < r.result.nsites; s++) {
      const struct sim_site *site = &r.result.sites[s];
      if (site->line != line) continue;
      have[0] += (unsigned)site->requests;
      have[1] += (unsigned)(site->wavefronts + site->sectors);
      have[2] += (unsigned)site->ideal;
    }
    ck_assert_msg(!memcmp(want, have, sizeof want), "%s line %u: %u %u %u, not %u %u %u", kernel,
                  line, have[0], have[1], have[2], want[0], want[1], want[2]);
    told++;
  }
  ck_assert_uint_ge(told, 1);
  fixture_done(&r);
  fixture_close(&x);
}
END_TEST

/* ---- the same on any number of threads ------------------------------------------------------------------ */

START_TEST(threads)
{
  struct fixture x;
  struct ran one, more;
  fixture_open(&x, "faults");
  const char *kernel = faulty[_i].kernel;
  fixture_run(&one, &x, kernel, 5, faulty[_i].threads, 0, 1);
  for (unsigned n = 2; n <= 4; n *= 2) {
    fixture_run(&more, &x, kernel, 5, faulty[_i].threads, 0, n);
    fixture_same(kernel, n, &one, &more);
    fixture_done(&more);
  }
  fixture_done(&one);
  fixture_close(&x);
}
END_TEST

Suite *suite_sim(void)
{
  Suite *s = suite_create("sim");
  TCase *t = tcase_create("kernels");
  int n = sizeof faulty / sizeof *faulty;
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, faults, 0, n);
  tcase_add_test(t, values);
  tcase_add_loop_test(t, counts, 0, sizeof counted / sizeof *counted);
  tcase_add_loop_test(t, threads, 0, n);
  suite_add_tcase(s, t);
  return s;
}
