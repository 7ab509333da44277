/* Chapter 09: rows.  A scratch indexed the wrong way, softmax that survives large logits, and layer
 * norm with two passes and with one.
 *
 * Bounds grow with the number of roundings and with what is lost by subtracting the mean; they are
 * far below what the unstable forms get wrong. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/model.h"
#include "suites/budget.h"
#include "suites/each.h"
#include "suites/moves.h"

#define READ "chapters/09-rows.md"

static const double unit = 0x1p-24;      /* half the distance from 1 to the next float */

struct size { int rows, columns; };

static size_t count_of(struct size s) { return (size_t)s.rows * s.columns; }

/* ---- scratch.cu ------------------------------------------------------------------------ */

enum { WIDTH = 64, COSTS = 3 };

static void plan_center(struct plan *p, struct rng *r, int rows, int extra)
{
  size_t count = (size_t)rows * WIDTH;
  float *in = malloc(count * sizeof *in);
  exact_floats(r, in, count);
  int from = plan_buffer(p, "in", BUFFER_IN, in, count * sizeof *in);
  int to = plan_buffer(p, "out", BUFFER_OUT, NULL, count * sizeof *in);
  plan_launch(p, "center", (uint32_t[3]){(rows + 31) / 32 + extra, 1, 1},
              (uint32_t[3]){32, 4, 1}, 0);
  plan_arg_buffer(p, from);
  plan_arg_buffer(p, to);
  plan_arg_i32(p, rows);
  free(in);
}

static bool judge_center(struct verdict *v, const struct evidence *e, struct rng *r, int rows,
                         int out)
{
  size_t count = (size_t)rows * WIDTH;
  float *in = malloc(count * sizeof *in);
  double *want = malloc(count * sizeof *want);
  exact_floats(r, in, count);
  for (int y = 0; y < rows; y++) {
    double sum = 0;
    for (int x = 0; x < WIDTH; x++) sum += in[y * WIDTH + x];
    for (int x = 0; x < WIDTH; x++) want[y * WIDTH + x] = in[y * WIDTH + x] - sum / WIDTH;
  }
  bool good = judge_floats(v, e, out, want, count, WIDTH, 0);
  if (!good) verdict_add(v, "  the input had %d rows of %d.", rows, WIDTH);
  free(want);
  free(in);
  return good;
}

static void plan_full(struct plan *p, struct rng *r) { plan_center(p, r, 32, 0); }

static void judge_full(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_center(v, e, r, 32, 1))
    verdict_pass(v, "32 rows, to the last bit");
}

enum { ROWS_CASES = 5 };

static int rows_of(struct rng *r, int i)
{
  static const int fixed[] = {1, 31, 33, 70};
  return i < 4 ? fixed[i] : (int)rng_below(r, 120) + 2;
}

static void plan_center_any(struct plan *p, struct rng *r)
{
  for (int i = 0; i < ROWS_CASES; i++) plan_center(p, r, rows_of(r, i), i == 2);
}

static void judge_center_any(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < ROWS_CASES; i++)
    if (!judge_center(v, e, r, rows_of(r, i), 2 * i + 1)) return;
  verdict_pass(v, "%d numbers of rows, to the last bit", ROWS_CASES);
}

/* Whole blocks of 32 rows; never the same number of them. */
static int spent_rows(struct rng *r) { return each_multiple(r, 32, 1, 4); }

static void plan_center_rows(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_center(p, r, spent_rows(r), 0);
}

static void one_center_coalesced(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  int rows = spent_rows(r);
  if (!judge_center(v, e, r, rows, 1)) return;
  double reads = moves_sectors(v, e, MOVES_READS, (uint64_t)rows * WIDTH);
  double writes = moves_sectors(v, e, MOVES_WRITES, (uint64_t)rows * WIDTH);
  if (reads >= 1 && writes >= 1) verdict_pass(v, "4 sectors for every 32 numbers, in and out");
}

/* A block writes 32 rows with 64 wavefronts, reads them twice for as many, and reads the means.
 * The column walk reads 16 float4s at 32 wavefronts each.  A kernel without a scratch spends
 * nothing. */
static void one_center_spent(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  int rows = spent_rows(r), blocks = rows / 32;
  char work[40];
  snprintf(work, sizeof work, "%d block%s of 32 rows", blocks, blocks > 1 ? "s" : "");
  if (!judge_center(v, e, r, rows, 1)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, 0, blocks * 280.0, blocks * 640.0, work});
}

EACH_TEST(center_coalesced, COSTS, 2, plan_center_rows, one_center_coalesced)
EACH_TEST(center_spent, COSTS, 2, plan_center_rows, one_center_spent)

static void bench_scratch(struct plan *p, struct rng *r, int size)
{
  plan_center(p, r, 1 << (14 + 2 * size), 0);
}

static const struct test scratch_tests[] = {
  {"32 rows", 0.5, plan_full, judge_full},
  {"any size", 0.5, plan_center_any, judge_center_any},
  {"coalesced", 0.5, plan_center_coalesced, judge_center_coalesced},
  {"few wavefronts", 3.5, plan_center_spent, judge_center_spent},
  {0}
};

/* ---- softmax.cu ------------------------------------------------------------------------ */

enum content { ORDINARY, LARGE, EQUAL, SPECIAL };

/* Logits.  LARGE: rows around +1000, around -1000, and from -1000 to 1000.  SPECIAL, row by row:
 * a NaN; a +infinity; only -infinity; some -infinity; ordinary. */
static void draw_logits(struct rng *r, float *in, struct size s, enum content what)
{
  for (int y = 0; y < s.rows; y++) {
    float *row = in + (size_t)y * s.columns;
    double base = y % 3 == 0 ? 1000 : y % 3 == 1 ? -1000 : 0, spread = y % 3 == 2 ? 1000 : 5;
    float all = (float)(rng_uniform(r, 200, 1000) * (y % 2 ? -1 : 1));
    for (int x = 0; x < s.columns; x++)
      row[x] = what == LARGE   ? (float)rng_uniform(r, base - spread, base + spread)
               : what == EQUAL ? all
                               : (float)rng_uniform(r, -5, 5);
    if (what != SPECIAL) continue;
    int at = (int)rng_below(r, s.columns);
    if (y % 5 == 0) row[at] = NAN;
    if (y % 5 == 1) row[at] = INFINITY;
    if (y % 5 == 2)
      for (int x = 0; x < s.columns; x++) row[x] = -INFINITY;
    if (y % 5 == 3)
      for (int x = 0; x < s.columns; x++)
        if (x != at && rng_below(r, 2)) row[x] = -INFINITY;
  }
}

static void plan_softmax(struct plan *p, struct rng *r, struct size s, enum content what)
{
  float *in = malloc(count_of(s) * sizeof *in);
  draw_logits(r, in, s, what);
  int from = plan_buffer(p, "in", BUFFER_IN, in, count_of(s) * sizeof *in);
  int to = plan_buffer(p, "out", BUFFER_OUT, NULL, count_of(s) * sizeof *in);
  plan_launch(p, "softmax", (uint32_t[3]){s.rows, 1, 1}, (uint32_t[3]){128, 1, 1}, 0);
  plan_arg_buffer(p, from);
  plan_arg_buffer(p, to);
  plan_arg_i32(p, s.columns);
  free(in);
}

/* One row in double.  The policy falls out of IEEE arithmetic, with a maximum that keeps a NaN. */
static void softmax_row(const float *in, double *want, double *bound, int columns)
{
  double most = -INFINITY, sum = 0;
  for (int x = 0; x < columns; x++)
    if (!(in[x] <= most)) most = isnan(most) ? most : in[x];
  for (int x = 0; x < columns; x++) sum += exp(in[x] - most);
  for (int x = 0; x < columns; x++) {
    double d = in[x] - most;
    want[x] = exp(d) / sum;
    double roundings = 64 + columns / 16.0 + (d > -200 ? -2 * d : 0);
    bound[x] = want[x] * roundings * unit + FLT_MIN;
  }
}

static bool judge_softmax(struct verdict *v, const struct evidence *e, struct rng *r,
                          struct size s, enum content what, int out)
{
  float *in = malloc(count_of(s) * sizeof *in);
  double *want = malloc(2 * count_of(s) * sizeof *want), *bound = want + count_of(s);
  draw_logits(r, in, s, what);
  for (int y = 0; y < s.rows; y++) {
    size_t at = (size_t)y * s.columns;
    softmax_row(in + at, want + at, bound + at, s.columns);
  }
  bool good = judge_near(v, e, out, want, bound, count_of(s), s.columns);
  if (!good) verdict_add(v, "  the input had %d rows of %d.", s.rows, s.columns);
  free(want);
  free(in);
  return good;
}

static const struct size even = {4, 256}, large = {6, 200}, equal = {3, 200}, special = {10, 150},
                         single = {3, 1};

#define SOFTMAX(name, size, what, text)                                                          \
  static void plan_soft_##name(struct plan *p, struct rng *r) { plan_softmax(p, r, size, what); } \
  static void judge_soft_##name(struct verdict *v, const struct evidence *e, struct rng *r)      \
  {                                                                                              \
    if (judge_clean(v, e) && judge_softmax(v, e, r, size, what, 1)) verdict_pass(v, text);       \
  }
SOFTMAX(even, even, ORDINARY, "4 rows of 256")
SOFTMAX(large, large, LARGE, "logits up to 1000 and down to -1000")
SOFTMAX(equal, equal, EQUAL, "equal logits share evenly")
SOFTMAX(single, single, LARGE, "one element gives 1")
SOFTMAX(special, special, SPECIAL, "10 rows with NaN and infinities, as the policy says")
#undef SOFTMAX

enum { WIDTHS = 5 };

static struct size wide(struct rng *r, int i, int limit)
{
  static const int fixed[] = {1, 31, 129, 500};
  int columns = i < 4 ? fixed[i] : (int)rng_below(r, limit) + 2;
  return (struct size){i + 1, columns};
}

static void plan_soft_any(struct plan *p, struct rng *r)
{
  for (int i = 0; i < WIDTHS; i++) plan_softmax(p, r, wide(r, i, 900), ORDINARY);
}

static void judge_soft_any(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < WIDTHS; i++)
    if (!judge_softmax(v, e, r, wide(r, i, 900), ORDINARY, 2 * i + 1)) return;
  verdict_pass(v, "%d widths of rows", WIDTHS);
}

/* What is spent on a row does not depend on its width, unless by much. */
static struct size soft_size(struct rng *r)
{
  int rows = rng_between(r, 1, 4);
  return (struct size){rows, rng_between(r, 385, 512)};
}

static void plan_soft_rows(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_softmax(p, r, soft_size(r), LARGE);
}

/* Two trees of 128: 4 stores, 8 steps of a warp with two reads and a write, 4 last reads. */
static void one_soft_spent(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct size s = soft_size(r);
  char work[40];
  snprintf(work, sizeof work, "%d row%s of %d", s.rows, s.rows > 1 ? "s" : "", s.columns);
  if (!judge_softmax(v, e, r, s, LARGE, 1)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, (uint64_t)s.rows * 5, s.rows * 72.0,
                                        s.rows * 150.0, work});
}

EACH_TEST(soft_spent, COSTS, 2, plan_soft_rows, one_soft_spent)

static void bench_softmax(struct plan *p, struct rng *r, int size)
{
  plan_softmax(p, r, (struct size){1024 << 2 * size, 1024}, LARGE);
}

static const struct test softmax_tests[] = {
  {"ordinary", 0.5, plan_soft_even, judge_soft_even},
  {"any size", 0.5, plan_soft_any, judge_soft_any},
  {"large logits", 1.5, plan_soft_large, judge_soft_large},
  {"equal values", 0.5, plan_soft_equal, judge_soft_equal},
  {"one element", 0.5, plan_soft_single, judge_soft_single},
  {"infinities and nan", 1, plan_soft_special, judge_soft_special},
  {"few wavefronts", 2, plan_soft_spent, judge_soft_spent},
  {0}
};

/* ---- two_pass.cu and one_pass.cu: layer norm -------------------------------------------- */

struct norm { float *in, *gamma, *beta, eps; };

/* LARGE: rows with a mean of thousands and a spread of 1.  SPECIAL: a NaN in every second row. */
static struct norm draw_norm(struct rng *r, struct size s, enum content what)
{
  struct norm n = {malloc(count_of(s) * 4), malloc(s.columns * 4), malloc(s.columns * 4),
                   what == EQUAL ? 1e-5f : (float)rng_uniform(r, 0.01, 0.5)};
  rng_floats(r, n.gamma, s.columns, 0.5, 2);
  rng_floats(r, n.beta, s.columns, -1, 1);
  for (int y = 0; y < s.rows; y++) {
    float *row = n.in + (size_t)y * s.columns;
    double mean = what == LARGE || what == EQUAL ? rng_uniform(r, 5000, 20000) : 0;
    if (what == EQUAL) mean = rng_uniform(r, 500, 1500);
    if (y % 2) mean = -mean;
    for (int x = 0; x < s.columns; x++)
      row[x] = (float)(what == EQUAL ? mean : mean + rng_uniform(r, -2, 2));
    if (what == SPECIAL && y % 2 == 0) row[s.columns / 2] = NAN;
  }
  return n;
}

static void free_norm(struct norm n)
{
  free(n.in);
  free(n.gamma);
  free(n.beta);
}

enum { NORM_BUFFERS = 4, NORM_OUT = 3 };

static void plan_norm(struct plan *p, struct rng *r, struct size s, enum content what)
{
  struct norm n = draw_norm(r, s, what);
  int buffers[NORM_BUFFERS] = {
    plan_buffer(p, "in", BUFFER_IN, n.in, count_of(s) * 4),
    plan_buffer(p, "gamma", BUFFER_IN, n.gamma, s.columns * 4),
    plan_buffer(p, "beta", BUFFER_IN, n.beta, s.columns * 4),
    plan_buffer(p, "out", BUFFER_OUT, NULL, count_of(s) * 4),
  };
  plan_launch(p, "layer_norm", (uint32_t[3]){s.rows, 1, 1}, (uint32_t[3]){128, 1, 1}, 0);
  for (int i = 0; i < NORM_BUFFERS; i++) plan_arg_buffer(p, buffers[i]);
  plan_arg_i32(p, s.columns);
  plan_arg_f32(p, n.eps);
  free_norm(n);
}

/* The mean is known to a few units of the largest element, and every result is off by that much
 * of a standard deviation: more than the roundings of the rest. */
static void norm_row(const struct norm *n, const float *in, double *want, double *bound,
                     int columns)
{
  double sum = 0, squares = 0, most = 0;
  for (int x = 0; x < columns; x++) {
    sum += in[x];
    if (fabs(in[x]) > most) most = fabs(in[x]);
  }
  double mean = sum / columns;
  for (int x = 0; x < columns; x++) squares += (in[x] - mean) * (in[x] - mean);
  double deviation = sqrt(squares / columns + (double)n->eps);
  double roundings = 64 + columns / 16.0;
  for (int x = 0; x < columns; x++) {
    double y = (in[x] - mean) / deviation;
    want[x] = y * n->gamma[x] + n->beta[x];
    double scale = most > deviation ? most / deviation : 1;
    double of_norm = roundings * scale * (1 + fabs(y)) * fabs(n->gamma[x]);
    bound[x] = unit * (of_norm + 4 * fabs(n->beta[x]));
  }
}

static bool judge_norm(struct verdict *v, const struct evidence *e, struct rng *r, struct size s,
                       enum content what, int out)
{
  struct norm n = draw_norm(r, s, what);
  double *want = malloc(2 * count_of(s) * sizeof *want), *bound = want + count_of(s);
  for (int y = 0; y < s.rows; y++) {
    size_t at = (size_t)y * s.columns;
    norm_row(&n, n.in + at, want + at, bound + at, s.columns);
  }
  bool good = judge_near(v, e, out, want, bound, count_of(s), s.columns);
  if (!good)
    verdict_add(v, "  the input had %d rows of %d, eps is %g.", s.rows, s.columns, n.eps);
  free(want);
  free_norm(n);
  return good;
}

static const struct size norm_large = {4, 1000}, norm_equal = {16, 777}, norm_special = {4, 200};

#define NORM(name, size, what, text)                                                             \
  static void plan_norm_##name(struct plan *p, struct rng *r) { plan_norm(p, r, size, what); }   \
  static void judge_norm_##name(struct verdict *v, const struct evidence *e, struct rng *r)      \
  {                                                                                              \
    if (judge_clean(v, e) && judge_norm(v, e, r, size, what, NORM_OUT)) verdict_pass(v, text);   \
  }
NORM(large, norm_large, LARGE, "means up to 20,000, a spread of 2")
NORM(equal, norm_equal, EQUAL, "equal values give beta")
NORM(special, norm_special, SPECIAL, "a NaN makes its row NaN, and no other")
#undef NORM

static void plan_norm_any(struct plan *p, struct rng *r)
{
  for (int i = 0; i < WIDTHS; i++) plan_norm(p, r, wide(r, i, 1000), ORDINARY);
}

static void judge_norm_any(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < WIDTHS; i++)
    if (!judge_norm(v, e, r, wide(r, i, 1000), ORDINARY, NORM_BUFFERS * i + NORM_OUT)) return;
  verdict_pass(v, "%d widths of rows", WIDTHS);
}

/* Rows of nearly 1024, in whole sectors: 8 elements for each of the 128 threads. */
static struct size norm_size(struct rng *r)
{
  int rows = rng_between(r, 1, 3);
  return (struct size){rows, each_multiple(r, 8, 115, 128)};
}

static void plan_norm_rows(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_norm(p, r, norm_size(r), ORDINARY);
}

/* A row of 1024 is written and read with 32 wavefronts, up to three times, and block_sum takes 12.
 * With lanes 8 words apart the reads alone take 256. */
static void one_norm_spent(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct size s = norm_size(r);
  char work[40];
  snprintf(work, sizeof work, "%d row%s of %d", s.rows, s.rows > 1 ? "s" : "", s.columns);
  if (!judge_norm(v, e, r, s, ORDINARY, NORM_OUT)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, (uint64_t)s.rows * 8, s.rows * 160.0,
                                        s.rows * 300.0, work});
}

/* `times` readings of a row, and one of gamma and beta each: 128 sectors for 1024 floats. */
static void judge_norm_reads(struct verdict *v, const struct evidence *e, struct rng *r, int times)
{
  struct size s = norm_size(r);
  double row = s.columns / 8;
  char work[40];
  snprintf(work, sizeof work, "%d row%s of %d", s.rows, s.rows > 1 ? "s" : "", s.columns);
  if (!judge_norm(v, e, r, s, ORDINARY, NORM_OUT)) return;
  judge_reads(v, e, 0, s.rows * (row * (times + 2) + 32), s.rows * row * (times + 3), work);
}

static void one_norm_once(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  judge_norm_reads(v, e, r, 1);
}

static void one_norm_twice(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  judge_norm_reads(v, e, r, 2);
}

EACH_TEST(norm_spent, COSTS, NORM_BUFFERS, plan_norm_rows, one_norm_spent)
EACH_TEST(norm_once, COSTS, NORM_BUFFERS, plan_norm_rows, one_norm_once)
EACH_TEST(norm_twice, COSTS, NORM_BUFFERS, plan_norm_rows, one_norm_twice)

static void bench_two_pass(struct plan *p, struct rng *r, int size)
{
  plan_norm(p, r, (struct size){1024 << 2 * size, 1024}, LARGE);
}

static const struct test two_pass_tests[] = {
  {"any size", 0.5, plan_norm_any, judge_norm_any},
  {"large mean", 1.5, plan_norm_large, judge_norm_large},
  {"equal values", 0.5, plan_norm_equal, judge_norm_equal},
  {"nan", 0.5, plan_norm_special, judge_norm_special},
  {"read once", 0.5, plan_norm_once, judge_norm_once},
  {"few wavefronts", 2.5, plan_norm_spent, judge_norm_spent},
  {0}
};

static void bench_one_pass(struct plan *p, struct rng *r, int size)
{
  plan_norm(p, r, (struct size){1024 << 2 * size, 1024}, LARGE);
}

static const struct test one_pass_tests[] = {
  {"any size", 0.5, plan_norm_any, judge_norm_any},
  {"large mean", 3, plan_norm_large, judge_norm_large},
  {"equal values", 0.5, plan_norm_equal, judge_norm_equal},
  {"nan", 0.5, plan_norm_special, judge_norm_special},
  {"one pass", 0.5, plan_norm_twice, judge_norm_twice},
  {0}
};

/* ---- predictions.txt -------------------------------------------------------------------- */

/* The variance of 4096 and 4097 as floats give it when every operation is rounded. */
static double naive_variance(void)
{
  volatile float a = 4096, b = 4097, aa = a * a, bb = b * b, squares = aa + bb, sum = a + b;
  volatile float mean = sum / 2, mean2 = mean * mean, of_squares = squares / 2;
  volatile float variance = of_squares - mean2;
  return variance;
}

static double largest_exp(void)
{
  int x = 0;
  while (exp(x + 1) <= FLT_MAX) x++;
  return x;
}

static const char *const prediction_names[] = {
  "column_64", "column_65", "column_72", "float4_64", "largest_exp", "naive_variance",
  "true_variance", "softmax_reads", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  struct prediction rows[] = {
    {"column_64", judge_stride_cost(64, 32, 4), "try: build/banks wavefronts --stride 64"},
    {"column_65", judge_stride_cost(65, 32, 4), "try: build/banks wavefronts --stride 65"},
    {"column_72", judge_stride_cost(72, 32, 4), "try: build/banks wavefronts --stride 72"},
    {"float4_64", judge_stride_cost(64, 32, 16),
     "try: build/banks wavefronts --width 16 --expr '256*t'"},
    {"largest_exp", largest_exp(), "the natural logarithm of the largest float, rounded down"},
    {"naive_variance", 100 * naive_variance(),
     "a float has 24 binary digits: what becomes of 4097 * 4097 = 16,785,409?"},
    {"true_variance", 25, "how far is each of the two from their mean?"},
    {"softmax_reads", 3, "the sum needs the maximum, and the result needs the sum"},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

static const struct test predict_tests[] = {
  {"predictions", 2.5, NULL, judge_predict},
  {0}
};

/* ---- the table -------------------------------------------------------------------------- */

static const struct exercise exercises[] = {
  {.id = "09-rows/predictions", .title = "Predict: rows, columns and lost digits",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .tests = predict_tests,
   .names = prediction_names,
   .hints = (const char *const[]){
     "The reads are columns of chapter 04; a wide one is counted in phases of eight lanes.",
     "Floats hold 24 binary digits: whole numbers above 16,777,216 lose their last one.  Round "
     "4097 * 4097, then go on.",
     "exp(88) is 1.65e38 and exp(89) is 4.49e38.  4097 * 4097 becomes 16,785,408, the mean of the "
     "squares 16,781,312; 4096.5 * 4096.5 = 16,781,312.25 becomes the same.",
     NULL}},
  {.id = "09-rows/scratch", .title = "A row scratch indexed the wrong way",
   .kind = EXERCISE_KERNEL, .file = "scratch.cu", .read = READ, .tests = scratch_tests,
   .bench = bench_scratch,
   .hints = (const char *const[]){
     "Lane t reads scratch[t][c].  Its stride is the pitch, 64.",
     "Cure the layout: another pitch.  Or cure the order: let a warp own a row, so that its lanes "
     "are columns, and let shuffles add them up.",
     "__shared__ float scratch[32][65]; and nothing else.  Or: each warp takes rows threadIdx.y, "
     "+ 4, ... , x = scratch[r][lane] + scratch[r][lane + 32], then five shuffles.",
     NULL}},
  {.id = "09-rows/softmax", .title = "Softmax that survives large logits",
   .kind = EXERCISE_KERNEL, .file = "softmax.cu", .read = READ, .tests = softmax_tests,
   .bench = bench_softmax,
   .hints = (const char *const[]){
     "exp(x - m) / sum of exp(x - m) is the same for any m.  Which m makes the largest exponent 0?",
     "Find the row's maximum with a tree first, and start each thread's maximum at -INFINITY, not "
     "at 0.  The array is then used a second time: who may still be reading s[0]?  For the "
     "wavefronts take the tree of chapter 08.",
     "most = s[0]; __syncthreads(); then sum += expf(x[c] - most), s[t] = sum, the second tree, "
     "and y[c] = expf(x[c] - most) / s[0].  Both trees: for (int step = 64; step > 0; step /= 2).",
     NULL}},
  {.id = "09-rows/two_pass", .title = "Layer norm in two passes",
   .kind = EXERCISE_KERNEL, .file = "two_pass.cu", .read = READ, .tests = two_pass_tests,
   .bench = bench_two_pass,
   .hints = (const char *const[]){
     "The row is in shared memory: a second look at it is cheap.  What can the second pass use "
     "that the first did not know yet?",
     "First the sum and the mean, then the sum of (row[c] - mean) * (row[c] - mean).  And let "
     "thread t take elements t, t + 128, t + 256 ...: at each step neighbours are neighbours.",
     "for (int c = t; c < columns; c += 128) sum += row[c]; mean = block_sum(sum) / columns; then "
     "the same loop with the squares of row[c] - mean, and variance = block_sum(squares) / "
     "columns.",
     NULL}},
  {.id = "09-rows/one_pass", .title = "Layer norm in one pass",
   .kind = EXERCISE_KERNEL, .file = "one_pass.cu", .read = READ, .tests = one_pass_tests,
   .bench = bench_one_pass,
   .hints = (const char *const[]){
     "The variance does not change when the same number is taken from all elements.  Which number "
     "is near the mean, and known before the first pass?",
     "shift = x[0].  Add up d = x[c] - shift and d * d.  The variance is the mean of d * d minus "
     "the square of the mean of d; the mean is shift plus the mean of d.",
     "float off = block_sum(sum) / columns; float variance = block_sum(squares) / columns - off * "
     "off; and y[c] = (x[c] - shift - off) * scale * gamma[c] + beta[c].",
     NULL}},
  {0}
};

const struct suite suite_ch09 = {"09-rows", exercises};
