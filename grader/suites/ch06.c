/* Chapter 06: swizzles.  Kernels whose tiles take no byte for a pad; ch06_answers.c has the
 * rest. */
#include <stdlib.h>

#include "suites/ch06.h"
#include "suites/each.h"
#include "suites/moves.h"

#define READ "chapters/06-swizzle.md"

enum { SIZES = 6, EDGES = 3, COSTS = 3 };
struct size { int rows, columns; };

static size_t count_of(struct size s) { return (size_t)s.rows * s.columns; }

static uint32_t blocks(int n, int a_block) { return (uint32_t)((n + a_block - 1) / a_block); }

/* A block has `bytes` of shared memory and not one more. */
static bool judge_bytes(struct verdict *v, const struct evidence *e, uint32_t bytes)
{
  uint32_t got = e->launches[0].static_shared;
  if (got > 0 && got <= bytes) return true;
  if (got == 0) verdict_fail(v, "%s: shared memory is not used", e->file);
  else
    verdict_fail(
        v, "%s: a block takes %u bytes of shared memory, and %u hold the tile: no pad here",
        e->file, got, bytes);
  return false;
}

/* ---- two transposes, dense.cu and tile48.cu ------------------------------------------------ */

struct transpose {
  const char *kernel;
  int width, height;           /* of the tile, in columns and rows */
  uint32_t threads[3];
  struct size tile;
};

static const struct transpose dense = {
  "transpose_dense", 32, 32, {32, 8, 1}, {32, 32}
};
static const struct transpose forty_eight = {
  "transpose48", 48, 32, {256, 1, 1}, {32, 48}
};

static const struct size edges[EDGES] = {{1, 1}, {33, 49}, {31, 97}};

static struct size any_size(struct rng *r, int i)
{
  static const struct size fixed[] = {{1, 1}, {17, 50}, {64, 47}, {1, 70}};
  if (i < 4) return fixed[i];
  int rows = (int)rng_below(r, 90) + 2;
  return (struct size){rows, (int)rng_below(r, 110) + 2};
}

static uint32_t *draw(struct rng *r, struct size s)
{
  uint32_t *bits = malloc(count_of(s) * 4);
  moves_fill(r, bits, count_of(s));
  return bits;
}

static void plan_transpose(struct plan *p, struct rng *r, const struct transpose *t, struct size s)
{
  uint32_t *bits = draw(r, s);
  int in = plan_buffer(p, "in", BUFFER_IN, bits, count_of(s) * 4);
  int out = plan_buffer(p, "out", BUFFER_OUT, NULL, count_of(s) * 4);
  plan_launch(p, t->kernel,
              (uint32_t[3]){blocks(s.columns, t->width), blocks(s.rows, t->height), 1}, t->threads,
              0);
  plan_arg_buffer(p, in);
  plan_arg_buffer(p, out);
  plan_arg_i32(p, s.columns);
  plan_arg_i32(p, s.rows);
  free(bits);
}

static bool values(struct verdict *v, const struct evidence *e, struct rng *r, struct size s,
                   int out)
{
  uint32_t *in = draw(r, s), *want = malloc(count_of(s) * 4);
  for (int y = 0; y < s.rows; y++)
    for (int x = 0; x < s.columns; x++)
      want[(size_t)x * s.rows + y] = in[(size_t)y * s.columns + x];
  bool good = moves_values(v, e, out, want, in, count_of(s), s.rows);
  if (!good) verdict_add(v, "  the input had %d rows of %d.", s.rows, s.columns);
  free(want);
  free(in);
  return good;
}

static void judge_tile(struct verdict *v, const struct evidence *e, struct rng *r, struct size s)
{
  if (judge_clean(v, e) && values(v, e, r, s, 1))
    verdict_pass(v, "%d x %d, bit by bit", s.rows, s.columns);
}

static void judge_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values(v, e, r, any_size(r, i), 2 * i + 1)) return;
  verdict_pass(v, "%d sizes, bit by bit", SIZES);
}

static void judge_edges(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < EDGES; i++)
    if (!values(v, e, r, edges[i], 2 * i + 1)) return;
  verdict_pass(v, "no race, nothing outside the buffers");
}

/* Whole tiles, some number of them each way. */
static struct size cost_size(struct rng *r, const struct transpose *t)
{
  int rows = each_multiple(r, t->height, 1, 3);
  return (struct size){rows, each_multiple(r, t->width, 1, 3)};
}

/* A pad would make it easy: the wavefronts only count when the tile is dense. */
static void judge_cost(struct verdict *v, const struct evidence *e, struct rng *r,
                       const struct transpose *t)
{
  struct size s = cost_size(r, t);
  uint64_t words = count_of(s);
  if (!values(v, e, r, s, 1)) return;
  double one = moves_wavefronts(v, e, MOVES_READS, words, 4);
  double two = moves_wavefronts(v, e, MOVES_WRITES, words, 4);
  if (!judge_bytes(v, e, (uint32_t)(t->width * t->height * 4))) return;
  if (one == 1 && two == 1) verdict_pass(v, "one wavefront for every 32 words, in and out");
}

static void judge_no_pad(struct verdict *v, const struct evidence *e, struct rng *r,
                         const struct transpose *t)
{
  uint32_t bytes = (uint32_t)(t->width * t->height * 4);
  if (judge_clean(v, e) && values(v, e, r, t->tile, 1) && judge_bytes(v, e, bytes))
    verdict_pass(v, "%u bytes, all of them the tile's", bytes);
}

/* The five tests of either transpose; both are asked the same. */
#define TRANSPOSE_TESTS(name, t)                                                                  \
  static void plan_##name##_tile(struct plan *p, struct rng *r)                                   \
  {                                                                                               \
    plan_transpose(p, r, &t, t.tile);                                                             \
  }                                                                                               \
  static void plan_##name##_one(struct plan *p, struct rng *r, int i)                             \
  {                                                                                               \
    (void)i;                                                                                      \
    plan_transpose(p, r, &t, cost_size(r, &t));                                                   \
  }                                                                                               \
  static void plan_##name##_sizes(struct plan *p, struct rng *r)                                  \
  {                                                                                               \
    for (int i = 0; i < SIZES; i++) plan_transpose(p, r, &t, any_size(r, i));                     \
  }                                                                                               \
  static void plan_##name##_edges(struct plan *p, struct rng *r)                                  \
  {                                                                                               \
    for (int i = 0; i < EDGES; i++) plan_transpose(p, r, &t, edges[i]);                           \
  }                                                                                               \
  static void judge_##name##_tile(struct verdict *v, const struct evidence *e, struct rng *r)     \
  {                                                                                               \
    judge_tile(v, e, r, t.tile);                                                                  \
  }                                                                                               \
  static void judge_##name##_pad(struct verdict *v, const struct evidence *e, struct rng *r)      \
  {                                                                                               \
    judge_no_pad(v, e, r, &t);                                                                    \
  }                                                                                               \
  static void judge_##name##_one(struct verdict *v, const struct evidence *e, struct rng *r, int i)\
  {                                                                                               \
    (void)i;                                                                                      \
    judge_cost(v, e, r, &t);                                                                      \
  }                                                                                               \
  EACH_TEST(name##_free, COSTS, 2, plan_##name##_one, judge_##name##_one)                         \
  static const struct test name##_tests[] = {                                                     \
    {"one tile", 0.25, plan_##name##_tile, judge_##name##_tile},                                  \
    {"any size", 0.25, plan_##name##_sizes, judge_sizes},                                         \
    {"no faults", 0.25, plan_##name##_edges, judge_edges},                                        \
    {"dense", 0.25, plan_##name##_tile, judge_##name##_pad},                                      \
    {"conflict free", 3.5, plan_##name##_free, judge_##name##_free},                              \
    {0}                                                                                           \
  };

TRANSPOSE_TESTS(dense, dense)
TRANSPOSE_TESTS(wide, forty_eight)

/* ---- mismatch.cu --------------------------------------------------------------------------- */

enum { SIDE = 32, PIECES = 8, MATRIX = SIDE * SIDE, MATRICES = 3, MOST = 5, ROWS = 1, COLUMNS = 2 };

static void plan_both_ways(struct plan *p, const void *in, int matrices)
{
  size_t bytes = (size_t)matrices * MATRIX * 4;
  int buffer = plan_buffer(p, "in", BUFFER_IN, in, bytes);
  int rows = plan_buffer(p, "rows", BUFFER_OUT, NULL, bytes);
  int columns = plan_buffer(p, "columns", BUFFER_OUT, NULL, bytes);
  plan_launch(p, "both_ways", (uint32_t[3]){(uint32_t)matrices, 1, 1}, (uint32_t[3]){256, 1, 1},
              0);
  plan_arg_buffer(p, buffer);
  plan_arg_buffer(p, rows);
  plan_arg_buffer(p, columns);
}

static void plan_random(struct plan *p, struct rng *r)
{
  uint32_t *in = draw(r, (struct size){MATRICES * SIDE, SIDE});
  plan_both_ways(p, in, MATRICES);
  free(in);
}

static void plan_identity(struct plan *p, struct rng *r)
{
  (void)r;
  float in[MATRIX] = {0};
  for (int i = 0; i < SIDE; i++) in[i * SIDE + i] = 1;
  plan_both_ways(p, in, 1);
}

/* Where word `word` of piece `piece` of row `row` belongs in either result. */
static size_t place_of(int which, int row, int piece, int word)
{
  if (which == ROWS) return (size_t)(SIDE - 1 - row) * SIDE + 4 * piece + word;
  return ((size_t)piece * SIDE + row) * 4 + word;
}

static bool values_ways(struct verdict *v, const struct evidence *e, struct rng *r, int which,
                        int matrices)
{
  struct size s = {matrices * SIDE, SIDE};
  uint32_t *in = draw(r, s), *want = malloc(count_of(s) * 4);
  for (int i = 0; i < matrices * MATRIX; i++) {
    int at = i % MATRIX, row = at / SIDE, column = at % SIDE;
    want[i - at + place_of(which, row, column / 4, column % 4)] = in[i];
  }
  bool good = moves_values(v, e, which, want, NULL, count_of(s), which == ROWS ? SIDE : 4);
  free(want);
  free(in);
  return good;
}

static void judge_way(struct verdict *v, const struct evidence *e, struct rng *r, int which)
{
  if (judge_clean(v, e) && values_ways(v, e, r, which, MATRICES))
    verdict_pass(v, "%d matrices, bit by bit", MATRICES);
}

static void judge_ways_rows(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_way(v, e, r, ROWS);
}

static void judge_ways_columns(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_way(v, e, r, COLUMNS);
}

/* Row i of the identity has its one in piece i / 4.  Where a result shows it tells which piece was
 * taken for which. */
static void judge_identity(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  if (!judge_clean(v, e)) return;
  for (int which = ROWS; which <= COLUMNS; which++) {
    const float *got = e->buffers[which];
    for (int i = SIDE - 1; i >= 0; i--) {
      int piece = i / 4, found = -1;
      for (int k = 0; k < PIECES; k++)
        if (got[place_of(which, i, k, i % 4)] == 1) found = k;
      if (found == piece) continue;
      verdict_fail(v, "%s: %s is not the identity: row %d has its 1 in piece %d", e->file,
                   e->buffer_names[which], i, piece);
      if (found >= 0) {
        verdict_add(v, "  %s shows it in piece %d: piece %d lies where piece %d is looked for",
                    e->buffer_names[which], found, piece, found);
        verdict_add(v, "  the writer XORed row %% 8, which is %d; this reader XORed %d", i % 8,
                    i % 8 ^ piece ^ found);
      } else {
        verdict_add(v, "  %s does not show it at all", e->buffer_names[which]);
      }
      return;
    }
  }
  for (int which = ROWS; which <= COLUMNS; which++)
    for (int i = 0; i < MATRIX; i++) {
      const float *got = e->buffers[which];
      int row = i / SIDE, column = i % SIDE;
      float is = got[place_of(which, row, column / 4, column % 4)];
      if (is == (row == column)) continue;
      verdict_fail(v, "%s: %s has %g where the identity has %d", e->file, e->buffer_names[which],
                   is, row == column);
      return;
    }
  verdict_pass(v, "the identity comes back, by rows and by columns");
}

static void plan_some(struct plan *p, struct rng *r, int i)
{
  (void)i;
  int matrices = rng_between(r, 1, MOST);
  uint32_t *in = draw(r, (struct size){matrices * SIDE, SIDE});
  plan_both_ways(p, in, matrices);
  free(in);
}

static void one_ways_free(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  int matrices = rng_between(r, 1, MOST);
  uint64_t words = (uint64_t)matrices * MATRIX;
  struct rng again = *r;
  if (!values_ways(v, e, r, ROWS, matrices) || !values_ways(v, e, &again, COLUMNS, matrices) ||
      !judge_bytes(v, e, MATRIX * 4))
    return;
  double one = moves_wavefronts(v, e, MOVES_READS, 2 * words, 4);
  double two = moves_wavefronts(v, e, MOVES_WRITES, words, 4);
  if (one == 1 && two == 1) verdict_pass(v, "one wavefront for every 32 words, in and out");
}

EACH_TEST(ways_free, COSTS, 3, plan_some, one_ways_free)

static void bench_mismatch(struct plan *p, struct rng *r, int size)
{
  int matrices = 256 << 2 * size;
  uint32_t *in = draw(r, (struct size){matrices * SIDE, SIDE});
  plan_both_ways(p, in, matrices);
  free(in);
}

static void bench_dense(struct plan *p, struct rng *r, int size)
{
  plan_transpose(p, r, &dense, (struct size){1024 << size, 1024 << size});
}

static void bench_wide(struct plan *p, struct rng *r, int size)
{
  plan_transpose(p, r, &forty_eight, (struct size){1024 << size, 1152 << size});
}

static const struct test mismatch_tests[] = {
  {"rows", 1, plan_random, judge_ways_rows},
  {"columns", 0.5, plan_random, judge_ways_columns},
  {"identity", 1, plan_identity, judge_identity},
  {"conflict free", 1.5, plan_ways_free, judge_ways_free},
  {0}
};

/* ---- the table ----------------------------------------------------------------------------- */

static const char *const predict_hints[] = {
  "Write down the banks of lanes 0 to 3, and say whether two lanes can ever agree.",
  "t ^ 7 takes 32 different values for 32 lanes, t % 8 only eight.  48 * t is a multiple of "
  "16: its bank is 0 or 16, by turns.",
  "Let the program tell you, with ^ in --expr: build/banks wavefronts --op load --width 4 "
  "--expr '(32*t+(7^t%8))*4'.  For the TMA take the dense offset apart: bits 4 to 6, and bits "
  "7 to 9.",
  NULL
};

static const char *const swizzle_hints[] = {
  "Three steps: cut the bits out (shift down, then mask), shift them to where they go, XOR.",
  "mask = (1u << bits) - 1.  For the TMA: all modes work on the offset in the dense tile.  A "
  "piece has 16 bytes, so base is 4; lines of 128 bytes are counted, so shift is 3; only the "
  "number of bits depends on the mode.",
  "index ^ (index >> (base + shift) & mask) << base, and for shift < 0: index ^ (index >> base "
  "& mask) << (base - shift).  TMA: bits 1, 2, 3 for 32, 64, 128.  Permutation: keep a set of "
  "seen numbers; one that is out of range or seen before settles it.",
  NULL
};

static const char *const smallest_hints[] = {
  "How many lanes are in a phase?  How many different places do they meet without a swizzle?  "
  "Each bit doubles that number.",
  "A phase has 128 / width lanes.  Rows of 128 bytes or more meet one place, shorter rows 128 "
  "/ row_bytes.  The bits XORed in must be those in which the colliding rows differ: for long "
  "rows the lowest bits of the row number, for short rows those of the line of 128 bytes.",
  "bits = log2(min(row_bytes, 128) / width), shift = log2(max(row_bytes, 128) / width).",
  NULL
};

static const char *const dense_hints[] = {
  "Keep the tile 32 wide.  Let element (row, column) lie in its own row, but at another column "
  "that depends on the row.",
  "column ^ row takes 32 different values when the row runs from 0 to 31.  Use it for the "
  "write and for the read, each time with the row and the column of the tile.",
  "Write tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)]; read "
  "tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x].",
  NULL
};

static const char *const tile48_hints[] = {
  "48 is three times 16.  A XOR of the lowest four bits of the column stays within its 16.",
  "Row r begins at bank 0 or 16, by turns.  So two neighbouring rows may use the same XOR, and "
  "32 rows need 16 different ones.",
  "column ^ row / 2 % 16, in the write and in the read.  (In C, / and % bind tighter than ^.)",
  NULL
};

static const char *const mismatch_hints[] = {
  "Run the grader and read what it says about the identity matrix.  Which of the two results "
  "is right?",
  "The writer XORs the row of the *tile*.  Which row of the tile does the wrong reader read?",
  "It reads row 31 - row, so it has to undo that row: tile[31 - row][piece ^ (31 - row) % 8].",
  NULL
};

static const struct exercise exercises[] = {
  {.id = "06-swizzle/predictions", .title = "Predict: what a XOR does to banks",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .hints = predict_hints,
   .tests = ch06_predictions, .names = ch06_names},
  {.id = "06-swizzle/dense", .title = "The transpose without a pad",
   .kind = EXERCISE_KERNEL, .file = "dense.cu", .read = READ, .hints = dense_hints,
   .tests = dense_tests, .bench = bench_dense},
  {.id = "06-swizzle/tile48", .title = "A tile that is 48 wide",
   .kind = EXERCISE_KERNEL, .file = "tile48.cu", .read = READ, .hints = tile48_hints,
   .tests = wide_tests, .bench = bench_wide},
  {.id = "06-swizzle/mismatch", .title = "Find the reader that does not agree",
   .kind = EXERCISE_KERNEL, .file = "mismatch.cu", .read = READ, .hints = mismatch_hints,
   .tests = mismatch_tests, .bench = bench_mismatch},
  {.id = "06-swizzle/swizzle", .title = "Swizzle<B,M,S>, permutations, and what the TMA does",
   .kind = EXERCISE_NATIVE, .file = "swizzle.c", .read = READ, .hints = swizzle_hints,
   .tests = ch06_swizzle, .driver = ch06_swizzle_driver, .header = ch06_swizzle_header},
  {.id = "06-swizzle/smallest", .title = "The smallest swizzle for a tile",
   .kind = EXERCISE_NATIVE, .file = "smallest.c", .read = READ, .hints = smallest_hints,
   .tests = ch06_smallest, .driver = ch06_smallest_driver, .header = ch06_smallest_header},
  {0}
};

const struct suite suite_ch06 = {"06-swizzle", exercises};
