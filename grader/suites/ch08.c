/* Chapter 08: reductions.  A ladder: the tree whose neighbours stand apart, the tree whose
 * neighbours are neighbours, rows of partial sums, shuffles; and a column sum cured by exchanging
 * its loops.
 *
 * The numbers are such that their sums are exact in any order, so results are compared exactly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "suites/budget.h"
#include "suites/each.h"
#include "suites/moves.h"

#define READ "chapters/08-reductions.md"

enum { CASES = 6, COSTS = 3, BLOCK = 256 };

/* ---- sequential.cu and shuffle.cu: the sum of a block --------------------------------- */

static int blocks_of(int count, int extra)
{
  return (count + BLOCK - 1) / BLOCK + extra;
}

/* A buffer of no bytes has no address, so a sum over nothing still gets one float. */
static float *draw(struct rng *r, int count)
{
  float *in = malloc(sizeof(float) * (size_t)(count ? count : 1));
  exact_floats(r, in, (size_t)(count ? count : 1));
  return in;
}

static void plan_sum(struct plan *p, struct rng *r, int count, int extra)
{
  float *in = draw(r, count);
  int from = plan_buffer(p, "in", BUFFER_IN, in, sizeof(float) * (size_t)(count ? count : 1));
  int to = plan_buffer(p, "out", BUFFER_OUT, NULL, sizeof(float) * blocks_of(count, extra));
  plan_launch(p, "sum", (uint32_t[3]){blocks_of(count, extra), 1, 1}, (uint32_t[3]){BLOCK, 1, 1},
              0);
  plan_arg_buffer(p, from);
  plan_arg_buffer(p, to);
  plan_arg_i32(p, count);
  free(in);
}

static bool judge_sum(struct verdict *v, const struct evidence *e, struct rng *r, int count,
                      int extra, int out)
{
  int blocks = blocks_of(count, extra);
  float *in = draw(r, count);
  double *want = calloc(blocks, sizeof *want);
  for (int i = 0; i < count; i++) want[i / BLOCK] += in[i];
  bool good = judge_floats(v, e, out, want, blocks, 1, 0);
  if (!good) verdict_add(v, "  %d numbers for %d blocks of %d threads", count, blocks, BLOCK);
  free(want);
  free(in);
  return good;
}

struct sum { int count, extra; };

static struct sum sum_size(struct rng *r, int i)
{
  static const struct sum fixed[] = {{1, 0}, {255, 0}, {257, 0}, {0, 1}, {1000, 1}};
  return i < 5 ? fixed[i] : (struct sum){(int)rng_below(r, 2000) + 1, 0};
}

static void plan_one(struct plan *p, struct rng *r) { plan_sum(p, r, BLOCK, 0); }

static void judge_one(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_sum(v, e, r, BLOCK, 0, 1))
    verdict_pass(v, "256 numbers, to the last bit");
}

static void plan_sums(struct plan *p, struct rng *r)
{
  for (int i = 0; i < CASES; i++) {
    struct sum s = sum_size(r, i);
    plan_sum(p, r, s.count, s.extra);
  }
}

static void judge_sums(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < CASES; i++) {
    struct sum s = sum_size(r, i);
    if (!judge_sum(v, e, r, s.count, s.extra, 2 * i + 1)) return;
  }
  verdict_pass(v, "%d counts, to the last bit", CASES);
}

static void plan_ragged(struct plan *p, struct rng *r) { plan_sum(p, r, 300, 1); }

static void judge_faults(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  if (judge_clean(v, e))
    verdict_pass(v, "no race, nothing outside the buffers, every barrier met");
}

enum { MOST_BLOCKS = 6 };

static void plan_spent(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_sum(p, r, each_multiple(r, BLOCK, 1, MOST_BLOCKS), 0);
}

/* Full and none are wavefronts a block. */
static void judge_spent(struct verdict *v, const struct evidence *e, struct rng *r, uint64_t least,
                        double full, double none)
{
  int count = each_multiple(r, BLOCK, 1, MOST_BLOCKS), blocks = count / BLOCK;
  char work[40];
  snprintf(work, sizeof work, "%d block%s of 256 numbers", blocks, blocks > 1 ? "s" : "");
  if (!judge_sum(v, e, r, count, 0, 1)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, blocks * least, blocks * full, blocks * none,
                                        work});
}

/* 8 stores to begin with, 12 steps of a warp with two reads and a write, and the last read. */
static void one_tree(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  judge_spent(v, e, r, 9, 48, 135);
}

/* A number a warp, written and read; none for what the tree spends. */
static void one_shuffled(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  judge_spent(v, e, r, 2, 18, 45);
}

EACH_TEST(tree, COSTS, 2, plan_spent, one_tree)
EACH_TEST(shuffled, COSTS, 2, plan_spent, one_shuffled)

static void bench_sequential(struct plan *p, struct rng *r, int size)
{
  plan_sum(p, r, 1 << (20 + 2 * size), 0);
}

static const struct test sequential_tests[] = {
  {"one block", 0.5, plan_one, judge_one},
  {"any size", 0.5, plan_sums, judge_sums},
  {"no faults", 0.5, plan_ragged, judge_faults},
  {"few wavefronts", 3.5, plan_tree, judge_tree},
  {0}
};

static void bench_shuffle(struct plan *p, struct rng *r, int size)
{
  plan_sum(p, r, 1 << (20 + 2 * size), 0);
}

static const struct test shuffle_tests[] = {
  {"one block", 0.5, plan_one, judge_one},
  {"any size", 0.5, plan_sums, judge_sums},
  {"no faults", 0.5, plan_ragged, judge_faults},
  {"few wavefronts", 4.5, plan_shuffled, judge_shuffled},
  {0}
};

/* ---- partials.cu and columns.cu: sums of rows and columns ----------------------------- */

struct matrix { int rows, columns; };

static size_t count_of(struct matrix m) { return (size_t)m.rows * m.columns; }

static void plan_matrix(struct plan *p, struct rng *r, const char *kernel, struct matrix m,
                        int sums, int extra)
{
  float *in = draw(r, (int)count_of(m));
  int from = plan_buffer(p, "in", BUFFER_IN, in, sizeof(float) * count_of(m));
  int to = plan_buffer(p, "out", BUFFER_OUT, NULL, sizeof(float) * sums);
  plan_launch(p, kernel, (uint32_t[3]){(sums + 31) / 32 + extra, 1, 1}, (uint32_t[3]){32, 8, 1},
              0);
  plan_arg_buffer(p, from);
  plan_arg_buffer(p, to);
  plan_arg_i32(p, m.rows);
  plan_arg_i32(p, m.columns);
  free(in);
}

static bool judge_matrix(struct verdict *v, const struct evidence *e, struct rng *r,
                         struct matrix m, bool columns, int out)
{
  int sums = columns ? m.columns : m.rows;
  float *in = draw(r, (int)count_of(m));
  double *want = calloc(sums, sizeof *want);
  for (int y = 0; y < m.rows; y++)
    for (int x = 0; x < m.columns; x++)
      want[columns ? x : y] += in[(size_t)y * m.columns + x];
  bool good = judge_floats(v, e, out, want, sums, 1, 0);
  if (!good) verdict_add(v, "  the input had %d rows of %d.", m.rows, m.columns);
  free(want);
  free(in);
  return good;
}

static struct matrix matrix_size(struct rng *r, int i)
{
  static const struct matrix fixed[] = {{1, 1}, {33, 31}, {31, 100}, {70, 33}, {5, 257}};
  if (i < 5) return fixed[i];
  int rows = (int)rng_below(r, 90) + 2;
  return (struct matrix){rows, (int)rng_below(r, 90) + 2};
}

static const struct matrix even = {32, 32}, ragged = {37, 45};

/* Whole tiles of 32 x 32; never the same number of them. */
static struct matrix spent_size(struct rng *r)
{
  int rows = each_multiple(r, 32, 2, 4);
  return (struct matrix){rows, each_multiple(r, 32, 2, 4)};
}

#define MATRIX(name, kernel, columns_)                                                           \
  static void plan_##name##_even(struct plan *p, struct rng *r)                                  \
  {                                                                                              \
    plan_matrix(p, r, kernel, even, 32, 0);                                                      \
  }                                                                                              \
  static void judge_##name##_even(struct verdict *v, const struct evidence *e, struct rng *r)    \
  {                                                                                              \
    if (judge_clean(v, e) && judge_matrix(v, e, r, even, columns_, 1))                           \
      verdict_pass(v, "32 x 32, to the last bit");                                               \
  }                                                                                              \
  static void plan_##name##_any(struct plan *p, struct rng *r)                                   \
  {                                                                                              \
    for (int i = 0; i < CASES; i++) {                                                            \
      struct matrix m = matrix_size(r, i);                                                       \
      plan_matrix(p, r, kernel, m, columns_ ? m.columns : m.rows, 0);                            \
    }                                                                                            \
  }                                                                                              \
  static void judge_##name##_any(struct verdict *v, const struct evidence *e, struct rng *r)     \
  {                                                                                              \
    if (!judge_clean(v, e)) return;                                                              \
    for (int i = 0; i < CASES; i++)                                                              \
      if (!judge_matrix(v, e, r, matrix_size(r, i), columns_, 2 * i + 1)) return;                \
    verdict_pass(v, "%d sizes, to the last bit", CASES);                                         \
  }                                                                                              \
  static void plan_##name##_ragged(struct plan *p, struct rng *r)                                \
  {                                                                                              \
    plan_matrix(p, r, kernel, ragged, columns_ ? ragged.columns : ragged.rows, 1);               \
  }                                                                                              \
  static void plan_##name##_spent(struct plan *p, struct rng *r, int i)                          \
  {                                                                                              \
    (void)i;                                                                                     \
    struct matrix m = spent_size(r);                                                          \
    plan_matrix(p, r, kernel, m, columns_ ? m.columns : m.rows, 0);                              \
  }
MATRIX(rows, "row_sums", false)
MATRIX(columns, "column_sums", true)
#undef MATRIX

/* A block of 32 rows: 32 wavefronts to write the partials, 32 to read them; the column walk of
 * pitch 32 reads float4s at 32 wavefronts each, 256 in all. */
static void one_partials(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct matrix m = spent_size(r);
  int blocks = m.rows / 32;
  char work[40];
  snprintf(work, sizeof work, "%d blocks of 32 rows", blocks);
  if (!judge_matrix(v, e, r, m, false, 1)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, (uint64_t)blocks * 33, blocks * 68.0,
                                        blocks * 288.0, work});
}

/* A tile written and read by rows costs 64, by columns 32 + 1024.  A kernel that needs no tile
 * spends less, and may. */
static void one_columns(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct matrix m = spent_size(r);
  int tiles = m.rows / 32 * (m.columns / 32);
  char work[40];
  snprintf(work, sizeof work, "%d tiles of 32 x 32", tiles);
  if (!judge_matrix(v, e, r, m, true, 1)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, 0, tiles * 72.0, tiles * 520.0, work});
}

static void one_coalesced(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct matrix m = spent_size(r);
  if (!judge_matrix(v, e, r, m, true, 1)) return;
  double reads = moves_sectors(v, e, MOVES_READS, count_of(m));
  double writes = moves_sectors(v, e, MOVES_WRITES, m.columns);
  if (reads >= 1 && writes >= 1)
    verdict_pass(v, "4 sectors for every 32 numbers, in and out");
}

EACH_TEST(partials, COSTS, 2, plan_rows_spent, one_partials)
EACH_TEST(columns, COSTS, 2, plan_columns_spent, one_columns)
EACH_TEST(coalesced, COSTS, 2, plan_columns_spent, one_coalesced)

static void bench_partials(struct plan *p, struct rng *r, int size)
{
  struct matrix m = {1 << (12 + 2 * size), 256};
  plan_matrix(p, r, "row_sums", m, m.rows, 0);
}

static const struct test partials_tests[] = {
  {"32 rows", 0.5, plan_rows_even, judge_rows_even},
  {"any size", 0.5, plan_rows_any, judge_rows_any},
  {"no faults", 0.5, plan_rows_ragged, judge_faults},
  {"few wavefronts", 3.5, plan_partials, judge_partials},
  {0}
};

static void bench_columns(struct plan *p, struct rng *r, int size)
{
  struct matrix m = {256, 1 << (12 + 2 * size)};
  plan_matrix(p, r, "column_sums", m, m.columns, 0);
}

static const struct test columns_tests[] = {
  {"one tile", 0.5, plan_columns_even, judge_columns_even},
  {"any size", 0.5, plan_columns_any, judge_columns_any},
  {"no faults", 0.5, plan_columns_ragged, judge_faults},
  {"coalesced", 1.5, plan_coalesced, judge_coalesced},
  {"few wavefronts", 3, plan_columns, judge_columns},
  {0}
};

/* ---- predictions.txt ------------------------------------------------------------------ */

/* One access of every step of a tree of 256: all wavefronts, with the adders' stride. */
static uint32_t cost_of_tree(bool interleaved, uint32_t *requests)
{
  uint32_t sum = 0;
  *requests = 0;
  for (uint32_t adders = 128; adders > 0; adders /= 2)
    for (uint32_t left = adders; left > 0; left -= left < 32 ? left : 32, ++*requests)
      sum += judge_stride_cost(interleaved ? BLOCK / adders : 1, left < 32 ? left : 32, 4);
  return sum;
}

static const char *const prediction_names[] = {
  "step_1", "step_8", "step_32", "tree_requests", "tree_wavefronts", "awake_requests",
  "partials_float4", "partials_34", "shuffle_wavefronts", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  uint32_t requests, interleaved = cost_of_tree(true, &requests);
  uint32_t awake = 5 * 8 + 4 + 2 + 1;
  struct prediction rows[] = {
    {"step_1", judge_stride_cost(2, 32, 4), "try: build/banks wavefronts --stride 2"},
    {"step_8", judge_stride_cost(16, 16, 4),
     "16 adders are left; try: build/banks wavefronts --stride 16 --mask ffff"},
    {"step_32", judge_stride_cost(64, 4, 4), "how many lanes still add?"},
    {"tree_requests", requests, "128 adders are four warps, 64 are two, 32 to 1 are one"},
    {"tree_wavefronts", interleaved, "add up requests times wavefronts, step by step: section 2"},
    {"awake_requests", awake, "a warp sends a request as long as one of its threads adds"},
    {"partials_float4", judge_stride_cost(32, 32, 16),
     "try: build/banks wavefronts --width 16 --expr '128*t'"},
    {"partials_34", judge_stride_cost(34, 32, 8),
     "try: build/banks wavefronts --width 8 --expr '136*t'"},
    {"shuffle_wavefronts", 8 + 1, "a store by each of eight warps, and one read of all eight"},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

static const struct test predict_tests[] = {
  {"predictions", 3, NULL, judge_predict},
  {0}
};

/* ---- the table ------------------------------------------------------------------------- */

static const struct exercise exercises[] = {
  {.id = "08-reductions/predictions", .title = "Predict: what a tree costs",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .tests = predict_tests,
   .names = prediction_names,
   .hints = (const char *const[]){
     "In step s of the first tree thread t adds words 2 * s * t and 2 * s * t + s.  That is a "
     "stride of 2 * s, for 128 / s threads.",
     "A warp whose threads are all idle sends no request.  In the tree with `t % (2 * step) == 0` "
     "a warp of 32 stays awake as long as one multiple of 2 * step is among its threads.",
     "Requests of one access in the first tree: 4, 2, 1, 1, 1, 1, 1, 1.  Their wavefronts: 2, 4, "
     "8, 8, 8, 4, 2, 1.  For the float4s ask build/banks wavefronts --width 16 --expr '128*t'.",
     NULL}},
  {.id = "08-reductions/sequential", .title = "Rung 1: the tree, neighbours by neighbours",
   .kind = EXERCISE_KERNEL, .file = "sequential.cu", .read = READ, .tests = sequential_tests,
   .bench = bench_sequential,
   .hints = (const char *const[]){
     "Any pairing gives the same sum.  Which pairing lets thread t read word t?",
     "Let the first half of the numbers take up the second half: s[t] += s[t + 128] for t < 128.  "
     "What is left to be added then?  Repeat with half as many.",
     "for (int step = 128; step > 0; step /= 2) { if (t < step) s[t] += s[t + step]; "
     "__syncthreads(); } - with the barrier outside the if.",
     NULL}},
  {.id = "08-reductions/partials", .title = "Rung 2: rows of 32 partial sums",
   .kind = EXERCISE_KERNEL, .file = "partials.cu", .read = READ, .tests = partials_tests,
   .bench = bench_partials,
   .hints = (const char *const[]){
     "Lane t reads partial[t][k]: which words, which bank?  It is the column of chapter 04.",
     "There are three cures.  Change the pitch, so that the rows begin in different banks; or let "
     "lane t begin its walk at another k; or let lane t own something other than a row.",
     "__shared__ float partial[32][33]; and nothing else.  Or keep 32 and read partial[lane][(k + "
     "lane) % 32].",
     NULL}},
  {.id = "08-reductions/shuffle", .title = "Rung 3: shuffles avoid the banks",
   .kind = EXERCISE_KERNEL, .file = "shuffle.cu", .read = READ, .tests = shuffle_tests,
   .bench = bench_shuffle,
   .hints = (const char *const[]){
     "x += __shfl_down_sync(0xffffffff, x, 16) adds to lane t what lane t + 16 has.  What do 16, "
     "8, 4, 2, 1, one after the other, leave in lane 0?",
     "Eight warps leave eight numbers: lane 0 of each writes one to shared memory.  After one "
     "barrier the first warp reads them and shuffles again.  Every lane of a warp has to come to "
     "a shuffle.",
     "float x = i < count ? in[i] : 0.0f; for (int d = 16; d > 0; d /= 2) x += "
     "__shfl_down_sync(0xffffffff, x, d); if (lane == 0) s[warp] = x; __syncthreads(); then warp "
     "0: x = lane < 8 ? s[lane] : 0.0f; and the same with d = 4, 2, 1.",
     NULL}},
  {.id = "08-reductions/columns", .title = "Column sums: exchange the loops",
   .kind = EXERCISE_KERNEL, .file = "columns.cu", .read = READ, .tests = columns_tests,
   .bench = bench_columns,
   .hints = (const char *const[]){
     "Two indices, row and column.  One belongs to the lanes, the other to a loop.  Whose turn is "
     "it?",
     "Let lane t own column t of the block, and let a loop go over the rows.  Then a read of the "
     "tile, or of `in` itself, is a row: neighbours by neighbours.",
     "Warp w adds rows w, w + 8, ... of column first + lane in a register, straight from `in`.  It "
     "leaves part in tile[w][lane].  After a barrier warp 0 adds tile[0..7][lane] and writes out.",
     NULL}},
  {0}
};

const struct suite suite_ch08 = {"08-reductions", exercises};
