/* Chapter 12: tiles.  Operands for the matrix units by ldmatrix, two buffers filled by
 * cp.async, and a tile as the TMA leaves it.  The product with mma is in ch12_matmul.c. */
#include <stdlib.h>

#include "model/model.h"
#include "suites/ch12.h"
#include "suites/each.h"

#define READ "chapters/12-tiles.md"

enum { SIZES = 6, COSTS = 3 };

/* Loads, then stores of a clean, right launch, both at most `most` wavefronts a request. */
static void judge_both(struct verdict *v, const struct evidence *e, double loads, double stores,
                       uint64_t least)
{
  struct count_mark mark = {.which = COUNT_LOADS, .full = loads, .none = 4 * loads,
                            .least_requests = least, .most_wavefronts = 0};
  if (!judge_wavefronts(v, e, mark)) return;
  mark = (struct count_mark){.which = COUNT_STORES, .full = stores, .none = 4 * stores,
                             .least_requests = 1, .most_wavefronts = 0};
  judge_wavefronts(v, e, mark);
}

/* ---- fragments.cu ---------------------------------------------------------------------- */

enum { TILE_ROWS = 32, HALFS = 64, BLOCKS = 8, LANE_WORDS = 4 };

static uint16_t *draw_halfs(struct rng *r, int rows)
{
  uint16_t *in = malloc((size_t)rows * HALFS * 2);
  for (int i = 0; i < rows * HALFS; i++) in[i] = (uint16_t)rng_next(r);
  return in;
}

static int tiles_of(int rows) { return (rows + TILE_ROWS - 1) / TILE_ROWS; }
static size_t words_of(int rows) { return (size_t)tiles_of(rows) * BLOCKS * 32 * LANE_WORDS; }

static void plan_fragments(struct plan *p, struct rng *r, int rows)
{
  uint16_t *in = draw_halfs(r, rows);
  int a = plan_buffer(p, "in", BUFFER_IN, in, (size_t)rows * HALFS * 2);
  int b = plan_buffer(p, "out", BUFFER_OUT, NULL, words_of(rows) * 4);
  plan_launch(p, "fragments", (uint32_t[3]){(uint32_t)tiles_of(rows), 1, 1},
              (uint32_t[3]){32, 1, 1}, 0);
  plan_arg_buffer(p, a);
  plan_arg_buffer(p, b);
  plan_arg_i32(p, rows);
  free(in);
}

/* Word j of lane t of block b: row t / 4 of matrix j, two halfs from column 2 (t mod 4) on.  The
 * matrices of a block are upper left, lower left, upper right, lower right. */
static bool judge_values(struct verdict *v, const struct evidence *e, struct rng *r, int rows,
                         int launch)
{
  uint16_t *in = draw_halfs(r, rows);
  int32_t *want = malloc(words_of(rows) * 4);
  for (size_t i = 0; i < words_of(rows); i++) {
    int j = (int)(i % LANE_WORDS), t = (int)(i / LANE_WORDS % 32);
    int b = (int)(i / LANE_WORDS / 32 % BLOCKS), tile = (int)(i / LANE_WORDS / 32 / BLOCKS);
    int row = tile * TILE_ROWS + b / 4 * 16 + j % 2 * 8 + t / 4;
    int col = b % 4 * 16 + j / 2 * 8 + t % 4 * 2;
    uint32_t pair = 0;
    if (row < rows)
      pair = in[row * HALFS + col] | (uint32_t)in[row * HALFS + col + 1] << 16;
    want[i] = (int32_t)pair;
  }
  bool good = judge_ints(v, e, 2 * launch + 1, want, words_of(rows), 32 * LANE_WORDS);
  if (!good)
    verdict_add(v, "  A row here is a block of 16 x 16, four words for each lane.  Every chunk "
                "needs a place of its own.");
  free(want);
  free(in);
  return good;
}

static int rows_case(struct rng *r, int i)
{
  static const int fixed[] = {32, 1, 31, 33, 64};
  return i < 5 ? fixed[i] : (int)rng_below(r, 150) + 1;
}

static void plan_rows(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_fragments(p, r, rows_case(r, i));
}

static void judge_rows(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!judge_values(v, e, r, rows_case(r, i), i)) return;
  verdict_pass(v, "%d numbers of rows", SIZES);
}

static void plan_full(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_fragments(p, r, each_multiple(r, TILE_ROWS, 1, 5));
}

static void bench_fragments(struct plan *p, struct rng *r, int size)
{
  plan_fragments(p, r, 65536 << size);
}

static void one_full(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  int rows = each_multiple(r, TILE_ROWS, 1, 5);
  if (judge_values(v, e, r, rows, 0))
    judge_both(v, e, 4, 4, (uint64_t)rows / TILE_ROWS * BLOCKS);
}

EACH_TEST(full_tiles, COSTS, 2, plan_full, one_full)

static const struct test fragments_tests[] = {
  {"fragments", 1, plan_rows, judge_rows},
  {"conflict free", 3, plan_full_tiles, judge_full_tiles},
  {0}
};

/* ---- stages.cu ------------------------------------------------------------------------- */

struct sums { int rows, width; };

static void plan_sums(struct plan *p, struct rng *r, struct sums c)
{
  size_t count = (size_t)c.rows * c.width;
  float *in = malloc(count * 4);
  rng_floats(r, in, count, -1, 1);
  int a = plan_buffer(p, "in", BUFFER_IN, in, count * 4);
  int b = plan_buffer(p, "out", BUFFER_OUT, NULL, (size_t)c.width * 4);
  plan_launch(p, "column_sums", (uint32_t[3]){(uint32_t)(c.width + 63) / 64, 1, 1},
              (uint32_t[3]){64, 1, 1}, 0);
  plan_arg_buffer(p, a);
  plan_arg_buffer(p, b);
  plan_arg_i32(p, c.rows);
  plan_arg_i32(p, c.width);
  free(in);
}

static bool judge_sums(struct verdict *v, const struct evidence *e, struct rng *r, struct sums c,
                       int launch)
{
  size_t count = (size_t)c.rows * c.width;
  float *in = malloc(count * 4);
  double *want = calloc((size_t)c.width, sizeof *want);
  rng_floats(r, in, count, -1, 1);
  for (size_t i = 0; i < count; i++) want[i % c.width] += in[i];
  /* rows additions in any order, of at most rows terms of size 1 */
  bool good = judge_floats(v, e, 2 * launch + 1, want, (size_t)c.width, c.width,
                           (double)c.rows * c.rows * 0x1p-24);
  if (!good) verdict_add(v, "  These were %d rows of %d.", c.rows, c.width);
  free(want);
  free(in);
  return good;
}

static struct sums sums_case(struct rng *r, int i)
{
  static const struct sums fixed[] = {{32, 64}, {1, 4}, {33, 68}, {128, 64}, {95, 100}};
  if (i < 5) return fixed[i];
  return (struct sums){(int)rng_below(r, 200) + 1, 4 * ((int)rng_below(r, 40) + 1)};
}

static void plan_any_sums(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_sums(p, r, sums_case(r, i));
}

static void judge_any_sums(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!judge_sums(v, e, r, sums_case(r, i), i)) return;
  verdict_pass(v, "%d sizes", SIZES);
}

static struct sums long_case(struct rng *r)
{
  int rows = each_multiple(r, 32, 4, 8);
  return (struct sums){rows, each_multiple(r, 64, 1, 2)};
}

enum { TWO_BUFFERS = 2 * 32 * 64 * 4 };

static void plan_long(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_sums(p, r, long_case(r));
}

static void bench_sums(struct plan *p, struct rng *r, int size)
{
  plan_sums(p, r, (struct sums){512, 8448 << size});        /* 132 blocks, 264, 528 */
}

/* That the copies overlap the sums cannot be counted; that they are asynchronous, and that there
 * are two buffers for them to be in, can. */
static void one_long(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct sums c = long_case(r);
  if (!judge_sums(v, e, r, c, 0)) return;
  const struct sim_result *l = &e->launches[0];
  uint64_t copied = 0, stored = 0, least = (uint64_t)c.rows * c.width * 4;
  for (size_t i = 0; i < l->nsites; i++) {
    const struct sim_site *s = &l->sites[i];
    if (s->op == MODEL_STORE) stored += s->bytes;
    if (s->op == MODEL_CP_ASYNC) copied += s->bytes;
  }
  if (copied < least) {
    verdict_fail(v, "%s: %llu bytes were copied by cp.async, and the tiles have %llu: call "
                 "begin_tile() for every tile", e->file, (unsigned long long)copied,
                 (unsigned long long)least);
    return;
  }
  if (stored) {
    verdict_fail(v, "%s: %llu bytes still went through registers into shared memory", e->file,
                 (unsigned long long)stored);
    return;
  }
  if (l->static_shared + l->dynamic_shared < TWO_BUFFERS) {
    verdict_fail(v, "%s: %u bytes of shared memory hold one tile; two have to be there, one to "
                 "add up and one to fill", e->file, l->static_shared + l->dynamic_shared);
    return;
  }
  struct count_mark loads = {.which = COUNT_LOADS, .full = 1, .none = 4, .least_requests = (uint64_t)c.rows * c.width / 32,
                             .most_wavefronts = 0};
  judge_wavefronts(v, e, loads);
}

EACH_TEST(long_sums, COSTS, 2, plan_long, one_long)

static const struct test stages_tests[] = {
  {"sums", 1, plan_any_sums, judge_any_sums},
  {"asynchronous", 3, plan_long_sums, judge_long_sums},
  {0}
};

/* ---- tma.cu ---------------------------------------------------------------------------- */

enum { SIDE = 32, TILE_BYTES = SIDE * SIDE * 4, TILES = 5 };

/* `tiles` tiles of 32 x 32 floats, and x; an identity first, whose product shows every place. */
static void draw_tiles(struct rng *r, int tiles, float *a, float *x)
{
  rng_floats(r, a, (size_t)tiles * SIDE * SIDE, -1, 1);
  for (int i = 0; i < SIDE * SIDE; i++) a[i] = i % SIDE == i / SIDE;
  rng_floats(r, x, SIDE, 1, 2);
}

static void plan_tma(struct plan *p, struct rng *r)
{
  static float a[TILES * SIDE * SIDE];
  static unsigned char image[TILES * TILE_BYTES];
  float x[SIDE];
  draw_tiles(r, TILES, a, x);
  for (uint64_t at = 0; at < TILE_BYTES; at++)
    for (int tile = 0; tile < TILES; tile++)
      image[tile * TILE_BYTES + model_tma_swizzle(at, MODEL_TMA_128B)] =
          ((unsigned char *)a)[tile * TILE_BYTES + at];
  int i = plan_buffer(p, "image", BUFFER_IN, image, sizeof image);
  int j = plan_buffer(p, "x", BUFFER_IN, x, sizeof x);
  int k = plan_buffer(p, "y", BUFFER_OUT, NULL, TILES * SIDE * 4);
  plan_launch(p, "rows_times", (uint32_t[3]){TILES, 1, 1}, (uint32_t[3]){32, 1, 1}, 0);
  plan_arg_buffer(p, i);
  plan_arg_buffer(p, j);
  plan_arg_buffer(p, k);
}

static bool judge_tma_values(struct verdict *v, const struct evidence *e, struct rng *r)
{
  static float a[TILES * SIDE * SIDE];
  float x[SIDE];
  double want[TILES * SIDE] = {0};
  draw_tiles(r, TILES, a, x);
  for (int i = 0; i < TILES * SIDE; i++)
    for (int c = 0; c < SIDE; c++) want[i] += (double)a[i * SIDE + c] * x[c];
  if (judge_floats(v, e, 2, want, TILES * SIDE, SIDE, 2 * SIDE * 2 * SIDE * 0x1p-24)) return true;
  verdict_add(v, "  The first tile is the identity, so its y is x: where it is not, the reader "
              "took another chunk.");
  return false;
}

static void judge_tma(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_tma_values(v, e, r)) verdict_pass(v, "%d tiles", TILES);
}

static void judge_tma_wavefronts(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_tma_values(v, e, r)) judge_both(v, e, 4, 4, 8 * TILES);
}

static const struct test tma_tests[] = {
  {"row products", 2, plan_tma, judge_tma},
  {"conflict free", 1, plan_tma, judge_tma_wavefronts},
  {0}
};

/* ---- predictions.txt ------------------------------------------------------------------- */

/* Lane t gives the row at byte step * t + chunk * (t mod 8). */
static uint32_t cost_of_rows(enum model_op op, uint32_t step, uint32_t chunk)
{
  struct access a = {.op = op, .width = 16, .mask = UINT32_MAX};
  for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = step * t + chunk * (t % 8);
  return model_cost(&a).wavefronts;
}

static const char *const prediction_names[] = {
  "rows_of_128", "rows_of_144", "rows_of_64", "swizzled", "all_one_row", "x1", "ldmatrix", "mma",
  "two_buffers", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
#define TRY(n) "try: build/banks wavefronts --op ldmatrix.x4 --expr 't*" #n "'"
  struct prediction rows[] = {
    {"rows_of_128", cost_of_rows(MODEL_LDMATRIX_X4, 128, 0), TRY(128)},
    {"rows_of_144", cost_of_rows(MODEL_LDMATRIX_X4, 144, 0), TRY(144)},
    {"rows_of_64", cost_of_rows(MODEL_LDMATRIX_X4, 64, 0), TRY(64)},
    {"swizzled", cost_of_rows(MODEL_LDMATRIX_X4, 128, 16),
     "try: build/banks wavefronts --op ldmatrix.x4 --expr 't*128+t%8*16'"},
    {"all_one_row", cost_of_rows(MODEL_LDMATRIX_X4, 0, 0),
     "how many different words does each phase ask for?"},
    {"x1", cost_of_rows(MODEL_LDMATRIX_X1, 128, 0), "one phase: which banks has a row?"},
    {"ldmatrix", 4 * 4 * (1 + 64 / 16),
     "a step of a warp: one for a, and one for every 16 columns"},
    {"mma", 64 * 64 * 64 / (16 * 8 * 16), "divide the volumes"},
    {"two_buffers", 2 * 2 * 64 * 128, "buffers, operands, rows, bytes of a row"},
  };
#undef TRY
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

static const struct test predict_tests[] = {
  {"predictions", 3, NULL, judge_predict},
  {0}
};

/* ---- the table ------------------------------------------------------------------------- */

static const char *const predict_hints[] = {
  "A phase is eight rows of 16 bytes.  A row takes four banks: which ones, for each of the eight?",
  "Rows 128 bytes apart begin in one bank.  144 bytes are 36 words: four banks further.  Equal "
  "rows "
  "are one row.",
  "build/banks wavefronts --op ldmatrix.x4 --expr 't*128' tells the first.  A step of a warp "
  "takes "
  "one ldmatrix.x4 for its 16 rows of a, four for the 64 columns, and eight mma.",
  NULL
};

static const char *const fragments_hints[] = {
  "A phase of ldmatrix is eight rows at one chunk.  Their places must differ modulo 8, since "
  "eight "
  "chunks of 16 bytes go once around the banks.",
  "row * 8 + chunk is the same modulo 8 for all rows.  Let the row change the chunk: by something "
  "that differs for eight neighbouring rows, and that keeps a row's chunks within its row.",
  "return row * 8 + (chunk ^ row % 8);",
  NULL
};

static const char *const stages_hints[] = {
  "Begin tile 0 before the loop.  In the loop begin tile i + 1 in the other buffer, then wait for "
  "tile i: for all groups but the newest.",
  "A wait is for a thread's own copies.  The other threads' copies need a barrier after it.  "
  "And a "
  "second barrier has to stand between the last read of a buffer and the next copy into it.",
  "begin_tile(tile[0], in, 0, ...); for (int i = 0; i * 32 < rows; i++) { begin_tile(tile[(i + "
  "1) % "
  "2], in, (i + 1) * 32, ...); wait_but_one(); __syncthreads(); add up tile[i % 2]; "
  "__syncthreads(); }  Past the end begin_tile stores zeros.",
  NULL
};

static const char *const tma_hints[] = {
  "128-byte swizzle: bits 4 to 6 of the byte offset are XORed with bits 7 to 9.  Which are the "
  "chunk, "
  "and which the row?",
  "Bits 4 to 6 are the chunk within 128 bytes, bits 7 to 9 are the row modulo 8.",
  "Chunk c of row t lies at tile[t * 8 + (c ^ t % 8)].",
  NULL
};

static const struct exercise exercises[] = {
  {.id = "12-tiles/predictions", .title = "Predict: rows of matrices, tiles of operands",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .hints = predict_hints,
   .tests = predict_tests, .names = prediction_names},
  {.id = "12-tiles/fragments", .title = "ldmatrix from rows of 128 bytes: 4 instead of 32",
   .kind = EXERCISE_KERNEL, .file = "fragments.cu", .read = READ, .hints = fragments_hints,
   .tests = fragments_tests, .bench = bench_fragments},
  {.id = "12-tiles/matmul", .title = "A 64 x 64 tile with the matrix units",
   .kind = EXERCISE_KERNEL, .file = "matmul.cu", .read = READ, .hints = ch12_matmul_hints,
   .tests = ch12_matmul_tests},
  {.id = "12-tiles/stages", .title = "Two buffers: add up one tile while the next arrives",
   .kind = EXERCISE_KERNEL, .file = "stages.cu", .read = READ, .hints = stages_hints,
   .tests = stages_tests, .bench = bench_sums},
  {.id = "12-tiles/tma", .title = "A tile from the TMA, and a reader that knows (optional)",
   .kind = EXERCISE_KERNEL, .file = "tma.cu", .read = READ, .hints = tma_hints,
   .tests = tma_tests},
  {0}
};

const struct suite suite_ch12 = {"12-tiles", exercises};
