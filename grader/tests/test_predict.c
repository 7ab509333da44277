/* Predicted times against the recorded transposes, and what the formula must do at its ends. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/predict.h"

static const struct predict_card h200 = {
  .name = "H200", .sms = 132, .ghz = 1.98, .copy_gbs = 4261, .l2_gbs = 5500, .start_us = 5.5,
  .latency_ns = 600, .loop = 5, .shared_bytes = 233472, .reserved_bytes = 1024,
  .max_threads = 2048, .max_blocks = 32};

/* An n x n transpose by 32 x 8 threads: 8 accesses of global and 8 of shared memory a warp and tile,
 * the column ones `ways` wavefronts; about 60 instructions a warp. */
static struct predict_kernel transpose(uint64_t n, uint64_t ways, uint32_t bytes)
{
  uint64_t rows = n * n / 32;
  return (struct predict_kernel){.blocks = rows / 32, .threads = 256, .shared_bytes = bytes,
                                 .memory_bytes = 8 * n * n, .sectors = n * n / 4,
                                 .wavefronts = rows * (1 + ways), .global_requests = 2 * rows,
                                 .warp_instructions = rows * 15, .barriers = rows / 4};
}

START_TEST(recorded_transposes_are_predicted)
{
  char line[256], name[64];
  double at[2], worst = 0, worst_ratio = 0, copy[2] = {0, 0};
  int found = 0;
  FILE *f = fopen("plots/data/h200/transpose.tsv", "r");
  ck_assert(f != NULL);
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "%63s %lf %lf", name, &at[0], &at[1]) != 3) continue;
    if (!strcmp(name, "copy")) copy[0] = at[0], copy[1] = at[1];
    uint32_t pitch = 0;
    if (sscanf(name, "pitch_%u", &pitch) != 1 && !strcmp(name, "xor")) pitch = 33;
    if (!pitch) continue;                 /* naive: outside the model; wide: other tiles */
    uint64_t ways = 1;
    while (ways < 32 && pitch % (2 * ways) == 0) ways *= 2;
    for (int i = 0; i < 2; i++) {
      uint64_t n = i ? 16384 : 4096;
      struct predict_kernel k = transpose(n, ways, 32 * pitch * 4);
      struct predict_time t = predict_kernel(&h200, &k);
      double want = (double)(8 * n * n) / at[i] * 1e-3;
      double error = fabs(t.us / want - 1);
      double ratio = t.us / ((double)(8 * n * n) / copy[i] * 1e-3);   /* to the copy */
      double ratio_error = fabs(ratio / (copy[i] / at[i]) - 1);
      if (error > worst) worst = error;
      if (ratio_error > worst_ratio) worst_ratio = ratio_error;
      found++;
    }
  }
  fclose(f);
  ck_assert_int_eq(found, 12);
  printf("predict: 12 recorded transposes, worst error %.1f %%\n", 100 * worst);
  ck_assert_msg(worst < 0.06, "%.3f", worst);
  ck_assert_msg(worst_ratio < 0.06, "%.3f", worst_ratio);
}
END_TEST

START_TEST(each_cause_shows_as_its_term)
{
  struct predict_kernel k = transpose(4096, 1, 4224);
  ck_assert_int_eq(predict_kernel(&h200, &k).limit, PREDICT_MEMORY);
  k.wavefronts *= 30;
  ck_assert_int_eq(predict_kernel(&h200, &k).limit, PREDICT_SHARED);
  k = transpose(4096, 1, 4224);
  k.loop_wavefronts = 8 * k.wavefronts;
  ck_assert_int_eq(predict_kernel(&h200, &k).limit, PREDICT_SHARED);
  k = transpose(4096, 1, 4224);
  k.warp_instructions *= 30;
  ck_assert_int_eq(predict_kernel(&h200, &k).limit, PREDICT_ISSUE);
  k = transpose(4096, 1, 200000);         /* one block an SM: it waits */
  struct predict_time t = predict_kernel(&h200, &k);
  ck_assert_int_eq(t.limit, PREDICT_WAITING);
  ck_assert_uint_eq(t.resident, 1);
  k = transpose(4096, 1, 4224);
  k.sectors *= 8;
  ck_assert_int_eq(predict_kernel(&h200, &k).limit, PREDICT_SECTORS);
}
END_TEST

START_TEST(the_whole_lies_between_its_largest_part_and_the_sum)
{
  for (uint64_t ways = 1; ways <= 32; ways *= 2) {
    struct predict_kernel k = transpose(2048, ways, 4224);
    struct predict_time t = predict_kernel(&h200, &k);
    double sum = 0;
    for (int i = 0; i < PREDICT_TERMS; i++) sum += t.terms[i];
    ck_assert(t.us >= t.start + t.terms[t.limit] && t.us <= t.start + sum);
  }
}
END_TEST

START_TEST(few_blocks_have_a_tail)
{
  struct predict_kernel k = {.blocks = 133, .threads = 256, .wavefronts = 133000};
  struct predict_time t = predict_kernel(&h200, &k);
  ck_assert_double_eq_tol(t.tail, 2 * 132 / 133.0, 1e-9);
  ck_assert_double_eq_tol(t.terms[PREDICT_SHARED], 2000 / 1980.0, 1e-9);
  k.blocks = 0;
  ck_assert_double_eq(predict_kernel(&h200, &k).us, 5.5);
}
END_TEST

Suite *suite_predict(void)
{
  Suite *s = suite_create("predict");
  TCase *t = tcase_create("times");
  tcase_add_test(t, recorded_transposes_are_predicted);
  tcase_add_test(t, each_cause_shows_as_its_term);
  tcase_add_test(t, the_whole_lies_between_its_largest_part_and_the_sum);
  tcase_add_test(t, few_blocks_have_a_tail);
  suite_add_tcase(s, t);
  return s;
}
