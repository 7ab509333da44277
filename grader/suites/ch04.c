/* Chapter 04: padding.  The transpose, whose conflict is on the read; the planes, whose conflict
 * is on the write and asks for another pad; which pitch to choose, and what it costs. */
#include <stdlib.h>

#include "model/model.h"
#include "suites/each.h"
#include "suites/moves.h"

#define READ "chapters/04-padding.md"

/* A case of either kernel: rows x columns of `in` as it lies in memory.  `extra` blocks are
 * launched in each direction beyond those that cover it. */
struct size { int rows, columns, extra; };

static size_t count_of(struct size s) { return (size_t)s.rows * s.columns; }

static uint32_t *draw(struct rng *r, struct size s)
{
  uint32_t *bits = malloc(count_of(s) * 4);
  moves_fill(r, bits, count_of(s));
  return bits;
}

/* What both kernels compute on the whole: `out` is `in` with rows and columns exchanged. */
static bool judge_values(struct verdict *v, const struct evidence *e, struct rng *r,
                         struct size s, int out)
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

/* 32 times the requests each way that a warp of 32 neighbours makes: as many as the words where
 * all tiles are full. */
struct way_words { uint64_t reads, writes; };

/* Reads and writes of one right launch: the lower share counts, and both sides are told.  A tile
 * that is not full may be moved in some other way than the one that is counted here, so it gets
 * some room. */
static void judge_ways(struct verdict *v, const struct evidence *e, struct rng *r, struct size s,
                       struct way_words w)
{
  uint64_t words = count_of(s), each[] = {w.reads, w.writes};
  if (!judge_values(v, e, r, s, 1)) return;
  double least = 1;
  for (enum moves_way way = MOVES_READS; way <= MOVES_WRITES; way++) {
    double full = each[way] == words ? 1 : 1.25;
    double share = moves_cost(v, e, way, words, each[way], full, 2);
    if (share < least) least = share;
  }
  if (least < 1) {
    verdict_add(v, "  the input had %d rows of %d.", s.rows, s.columns);
    return;
  }
  verdict_pass(v, "one wavefront for every 32 words, in and out");
  judge_describe_worst(v, e, COUNT_LOADS);      /* what it looks like when it is right */
}

/* Pieces of a row that begin in the middle of a sector touch one more than they fill. */
static void judge_sectors(struct verdict *v, const struct evidence *e, struct rng *r, struct size s)
{
  uint64_t words = count_of(s);
  if (!judge_values(v, e, r, s, 1)) return;
  uint64_t in = (uint64_t)s.rows * ((s.columns + 31) / 32), out = (uint64_t)s.columns * ((s.rows + 31) / 32);
  bool full = s.rows % 32 == 0 && s.columns % 32 == 0;
  double reads = moves_sectors(v, e, MOVES_READS, full ? words : words + 16 * in);
  double writes = moves_sectors(v, e, MOVES_WRITES, full ? words : words + 16 * out);
  if (reads == 1 && writes == 1) verdict_pass(v, "4 sectors for every 32 elements, in and out");
}

/* ---- transpose.cu ----------------------------------------------------------------------- */

static void plan_transpose(struct plan *p, struct rng *r, struct size s)
{
  uint32_t *bits = draw(r, s);
  int in = plan_buffer(p, "in", BUFFER_IN, bits, count_of(s) * 4);
  int out = plan_buffer(p, "out", BUFFER_OUT, NULL, count_of(s) * 4);
  uint32_t grid[3] = {(s.columns + 31) / 32 + s.extra, (s.rows + 31) / 32 + s.extra, 1};
  plan_launch(p, "transpose", grid, (uint32_t[3]){32, 8, 1}, 0);
  plan_arg_buffer(p, in);
  plan_arg_buffer(p, out);
  plan_arg_i32(p, s.columns);
  plan_arg_i32(p, s.rows);
  free(bits);
}

enum { SIZES = 8, EDGES = 4 };

static const struct size square = {64, 64, 0};

enum { COSTS = 3 };

/* Full tiles, other full tiles, and tiles that are not full; no two the same. */
static struct size transpose_cost(struct rng *r, int i)
{
  if (i == 1) {
    int rows = each_ragged(r, 32, 1, 2);
    return (struct size){rows, each_ragged(r, 32, 1, 2), 0};
  }
  int rows = each_multiple(r, 32, 1, 3);
  return (struct size){rows, each_multiple(r, 32, 1, 3), 0};
}

static void plan_transpose_cost(struct plan *p, struct rng *r, int i)
{
  plan_transpose(p, r, transpose_cost(r, i));
}

/* Requests of 32 threads for each way: as many as there are pieces of rows, or of columns, of 32
 * and fewer.  A piece costs as much as a full one. */
static struct way_words transpose_words(struct size s)
{
  uint64_t down = (uint64_t)(s.rows + 31) / 32 * s.columns;
  return (struct way_words){32 * down, (uint64_t)(s.columns + 31) / 32 * 32 * s.rows};
}
static const struct size edges[EDGES] = {{1, 1, 1}, {31, 33, 1}, {33, 31, 2}, {8, 65, 1}};

/* Squares, and sizes that are not square and no multiple of 32; the last two differ each time. */
static struct size transpose_size(struct rng *r, int i)
{
  static const struct size fixed[] = {
    {1, 1, 0}, {17, 33, 0}, {64, 100, 0}, {1, 70, 0}, {96, 32, 0}, {40, 40, 0}
  };
  if (i < 6) return fixed[i];
  int rows = (int)rng_below(r, 90) + 2;
  return (struct size){rows, (int)rng_below(r, 90) + 2, 0};
}

static void plan_square(struct plan *p, struct rng *r) { plan_transpose(p, r, square); }

static void bench_transpose(struct plan *p, struct rng *r, int size)
{
  plan_transpose(p, r, (struct size){1024 << size, 1024 << size, 0});
}

static void judge_square(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_values(v, e, r, square, 1))
    verdict_pass(v, "64 x 64, bit by bit");
}

static void plan_transpose_sizes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_transpose(p, r, transpose_size(r, i));
}

/* Which size it was that a launch broke on; and when it was no square one, what that suggests. */
static void tell_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  bool squares = false, others = false;
  struct size first = {0, 0, 0};
  for (int i = 0; i < SIZES && (size_t)i < e->nlaunches; i++) {
    struct size s = transpose_size(r, i);
    free(draw(r, s));                    /* the numbers between two sizes */
    if (e->launches[i].completed && !e->launches[i].nfaults) continue;
    if (!squares && !others) first = s;
    *(s.rows == s.columns ? &squares : &others) = true;
  }
  if (!squares && !others) return;
  verdict_add(v, "  the input had %d rows of %d.", first.rows, first.columns);
  if (!squares)
    verdict_add(v, "  Squares are no trouble, only inputs with width != height: is x or y compared "
                "with the wrong one of the two?  x runs over columns of in first, over columns of "
                "out, which are height, afterwards.");
}

static void judge_transpose_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) {
    tell_sizes(v, e, r);
    return;
  }
  for (int i = 0; i < SIZES; i++)
    if (!judge_values(v, e, r, transpose_size(r, i), 2 * i + 1)) return;
  verdict_pass(v, "%d sizes, bit by bit", SIZES);
}

static void plan_transpose_edges(struct plan *p, struct rng *r)
{
  for (int i = 0; i < EDGES; i++) plan_transpose(p, r, edges[i]);
}

static void judge_faults(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  if (judge_clean(v, e))
    verdict_pass(v, "no race, nothing outside the buffers, every barrier met");
}

static void one_transpose_sectors(struct verdict *v, const struct evidence *e, struct rng *r,
                                  int i)
{
  judge_sectors(v, e, r, transpose_cost(r, i));
}

static void one_transpose_ways(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  struct size s = transpose_cost(r, i);
  judge_ways(v, e, r, s, transpose_words(s));
}

EACH_TEST(transpose_sectors, COSTS, 2, plan_transpose_cost, one_transpose_sectors)
EACH_TEST(transpose_ways, COSTS, 2, plan_transpose_cost, one_transpose_ways)

/* The starter is right and coalesced, so what it already does earns little. */
static const struct test transpose_tests[] = {
  {"square", 0.5, plan_square, judge_square},
  {"any size", 1, plan_transpose_sizes, judge_transpose_sizes},
  {"no faults", 0.5, plan_transpose_edges, judge_faults},
  {"coalesced", 1, plan_transpose_sectors, judge_transpose_sectors},
  {"conflict free", 7, plan_transpose_ways, judge_transpose_ways},
  {0}
};

/* ---- planes.cu -------------------------------------------------------------------------- */

enum { CHANNELS = 8 };

static void plan_planes(struct plan *p, struct rng *r, struct size s)
{
  uint32_t *bits = draw(r, s);
  int in = plan_buffer(p, "in", BUFFER_IN, bits, count_of(s) * 4);
  int out = plan_buffer(p, "out", BUFFER_OUT, NULL, count_of(s) * 4);
  plan_launch(p, "planes", (uint32_t[3]){(s.rows + 31) / 32 + s.extra, 1, 1},
              (uint32_t[3]){256, 1, 1}, 0);
  plan_arg_buffer(p, in);
  plan_arg_buffer(p, out);
  plan_arg_i32(p, s.rows);
  free(bits);
}

static const struct size full_planes = {128, CHANNELS, 0};
static const struct size planes_edges[EDGES] = {
  {1, CHANNELS, 1}, {31, CHANNELS, 2}, {33, CHANNELS, 1}, {97, CHANNELS, 1}
};

static struct size planes_size(struct rng *r, int i)
{
  static const int fixed[] = {1, 32, 33, 63, 100};
  return (struct size){i < 5 ? fixed[i] : (int)rng_below(r, 200) + 2, CHANNELS, 0};
}

static void plan_full(struct plan *p, struct rng *r) { plan_planes(p, r, full_planes); }

static void bench_planes(struct plan *p, struct rng *r, int size)
{
  plan_planes(p, r, (struct size){1 << (17 + 2 * size), CHANNELS, 0});
}

static void judge_full(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_values(v, e, r, full_planes, 1))
    verdict_pass(v, "128 pixels, bit by bit");
}

static void plan_planes_sizes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_planes(p, r, planes_size(r, i));
}

static void judge_planes_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!judge_values(v, e, r, planes_size(r, i), 2 * i + 1)) return;
  verdict_pass(v, "%d numbers of pixels, bit by bit", SIZES);
}

static void plan_planes_edges(struct plan *p, struct rng *r)
{
  for (int i = 0; i < EDGES; i++) plan_planes(p, r, planes_edges[i]);
}

static struct size planes_cost(struct rng *r, int i)
{
  return (struct size){i == 1 ? each_ragged(r, 32, 1, 6) : each_multiple(r, 32, 1, 8), CHANNELS, 0};
}

static void plan_planes_cost(struct plan *p, struct rng *r, int i)
{
  plan_planes(p, r, planes_cost(r, i));
}

static void one_planes_sectors(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  struct size s = planes_cost(r, i);
  if (!judge_values(v, e, r, s, 1)) return;
  uint64_t words = count_of(s), pieces = (uint64_t)CHANNELS * ((s.rows + 31) / 32);
  double reads = moves_sectors(v, e, MOVES_READS, words);
  double writes = moves_sectors(v, e, MOVES_WRITES, s.rows % 32 ? words + 16 * pieces : words);
  if (reads == 1 && writes == 1) verdict_pass(v, "4 sectors for every 32 elements, in and out");
}

/* A block of fewer than 32 pixels writes four pixels a request, and reads a piece of a plane. */
static void one_planes_ways(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  struct size s = planes_cost(r, i);
  uint64_t reads = (uint64_t)(s.rows + 31) / 32 * 32 * CHANNELS;
  judge_ways(v, e, r, s, (struct way_words){reads, (uint64_t)(s.rows + 3) / 4 * 32});
}

EACH_TEST(planes_sectors, COSTS, 2, plan_planes_cost, one_planes_sectors)
EACH_TEST(planes_ways, COSTS, 2, plan_planes_cost, one_planes_ways)

static const struct test planes_tests[] = {
  {"full blocks", 0.5, plan_full, judge_full},
  {"any number", 0.5, plan_planes_sizes, judge_planes_sizes},
  {"no faults", 0.5, plan_planes_edges, judge_faults},
  {"coalesced", 0.5, plan_planes_sectors, judge_planes_sectors},
  {"conflict free", 4, plan_planes_ways, judge_planes_ways},
  {0}
};

/* ---- padding.c -------------------------------------------------------------------------- */

enum { QUESTIONS = 60 };
struct tile { int width, rows; };

static struct tile full_tile(struct rng *r, int i)
{
  static const int rows[] = {32, 64, 33, 256};
  int width = i < 40 ? i + 1 : (int)rng_below(r, 2000) + 1;
  return (struct tile){width, rows[i % 4]};
}

static struct tile short_tile(struct rng *r, int i)
{
  static const struct tile fixed[] = {
    {32, 16}, {34, 16}, {32, 1}, {36, 8}, {40, 4}, {64, 2}, {48, 3}
  };
  if (i < 7) return fixed[i];
  int width = 2 * ((int)rng_below(r, 200) + 1);
  return (struct tile){width, (int)rng_below(r, 31) + 1};
}

static void plan_tiles(struct plan *p, struct rng *r, struct tile (*tile)(struct rng *, int))
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct tile t = tile(r, i);
    plan_ask(p, "pitch %d %d", t.width, t.rows);
  }
}

static void judge_tiles(struct verdict *v, const struct evidence *e, struct rng *r,
                        struct tile (*tile)(struct rng *, int))
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct tile t = tile(r, i);
    int want = (int)model_pitch(4 * t.width, 4, t.rows < 32 ? t.rows : 32) / 4;
    if (judge_answer_int(v, e, i, want, "pitch(%d, %d)", t.width, t.rows)) continue;
    if (t.rows < 32)
      verdict_add(v, "  Only %d lanes take part: they need %d different banks, not 32.", t.rows,
                  t.rows);
    else
      verdict_add(v, "  A column of pitch p meets 32 / gcd(p, 32) banks, and it needs all 32: the "
                  "pitch is the first one from %d on that is odd.\n  try: build/banks wavefronts "
                  "--op load --width 4 --stride %d", t.width, t.width);
    return;
  }
  verdict_pass(v, "%d tiles", QUESTIONS);
}

static void plan_pitch_full(struct plan *p, struct rng *r) { plan_tiles(p, r, full_tile); }
static void plan_pitch_short(struct plan *p, struct rng *r) { plan_tiles(p, r, short_tile); }

static void judge_pitch_full(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_tiles(v, e, r, full_tile);
}

static void judge_pitch_short(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_tiles(v, e, r, short_tile);
}

struct block { int block, sm, reserved; };

static struct block draw_block(struct rng *r, int i)
{
  static const struct block fixed[] = {
    {4096, 233472, 1024}, {57344, 233472, 1024}, {57792, 233472, 1024}, {232448, 233472, 1024},
    {232449, 233472, 1024}, {0, 233472, 1024}, {48 * 1024, 98304, 0}, {65536, 65536, 1},
  };
  if (i < 8) return fixed[i];
  return (struct block){(int)rng_below(r, 60000) + 1, 233472, (int)rng_below(r, 3) * 1024};
}

static void plan_resident(struct plan *p, struct rng *r)
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct block b = draw_block(r, i);
    plan_ask(p, "resident %d %d %d", b.block, b.sm, b.reserved);
  }
}

static void judge_resident(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct block b = draw_block(r, i);
    int64_t want = model_resident_blocks(b.block, b.sm, b.reserved);
    if (!judge_answer_int(v, e, i, want, "resident(%d, %d, %d)", b.block, b.sm, b.reserved)) {
      verdict_add(v, "  Every block takes its own bytes and the reserved ones, and only whole "
                  "blocks run.");
      return;
    }
  }
  verdict_pass(v, "%d blocks", QUESTIONS);
}

static const struct test padding_tests[] = {
  {"pitch of a full column", 1.5, plan_pitch_full, judge_pitch_full},
  {"pitch of a short column", 1.5, plan_pitch_short, judge_pitch_short},
  {"resident blocks", 1, plan_resident, judge_resident},
  {0}
};

/* ---- predictions.txt -------------------------------------------------------------------- */

/* Lane t at element column_step * t of rows `pitch` wide: a column when the step is the pitch. */
static uint32_t cost_of_step(enum model_op op, uint32_t step, uint32_t width)
{
  struct access a = {.op = op, .width = width, .mask = UINT32_MAX};
  for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = (uint64_t)width * step * t;
  struct model_cost cost = model_cost(&a);
  return op == MODEL_GLOBAL_LOAD ? cost.sectors : cost.wavefronts;
}

/* A warp of the planes kernel writes 8 channels of 4 pixels. */
static uint32_t cost_of_planes(uint32_t pitch)
{
  struct access a = {.op = MODEL_STORE, .width = 4, .mask = UINT32_MAX};
  for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = 4ull * (t % 8 * pitch + t / 8);
  return model_cost(&a).wavefronts;
}

static const char *const prediction_names[] = {
  "row_33", "bytes_33", "column_32", "column_33", "column_34", "column_36", "column_40",
  "double_33", "planes_33", "global_column", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
#define TRY(n) "try: build/banks wavefronts --op load --width 4 --stride " #n
  struct prediction rows[] = {
    {"row_33", cost_of_step(MODEL_LOAD, 1, 4), "the lanes of a row are neighbours in any pitch"},
    {"bytes_33", sizeof(float[32][33]), "rows times pitch times 4 bytes"},
    {"column_32", cost_of_step(MODEL_LOAD, 32, 4), TRY(32)},
    {"column_33", cost_of_step(MODEL_LOAD, 33, 4), TRY(33)},
    {"column_34", cost_of_step(MODEL_LOAD, 34, 4), TRY(34)},
    {"column_36", cost_of_step(MODEL_LOAD, 36, 4), TRY(36)},
    {"column_40", cost_of_step(MODEL_LOAD, 40, 4), TRY(40)},
    {"double_33", cost_of_step(MODEL_LOAD, 33, 8),
     "try: build/banks wavefronts --op load --width 8 --expr 't*33*8'"},
    {"planes_33", cost_of_planes(33),
     "try: build/banks wavefronts --op store --width 4 --expr '(t%8*33+t/8)*4'"},
    {"global_column", cost_of_step(MODEL_GLOBAL_LOAD, 4097, 4),
     "a sector is 32 bytes; how far apart are the lanes?"},
  };
#undef TRY
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

static const struct test predict_tests[] = {
  {"predictions", 4, NULL, judge_predict},
  {0}
};

/* ---- the table -------------------------------------------------------------------------- */

static const char *const transpose_hints[] = {
  "Lane t reads tile[t][column].  Write down its word for a pitch of 32, then that word's bank.",
  "The column read has the pitch as its stride, so it costs gcd(pitch, 32) wavefronts.  The row "
  "write does not care about the pitch.  Which pitches have a gcd of 1 with 32?",
  "Only the declaration changes: __shared__ float tile[32][33];",
  NULL
};

static const char *const planes_hints[] = {
  "Write down channel, pixel, word and bank for lanes 0, 1, 7, 8 and 31 of the first warp.",
  "A warp writes four neighbouring pixels of eight channels.  The pixels of one channel take four "
  "neighbouring banks.  Where must the next channel begin?  (33 is not the answer here.)",
  "The pitch has to be 4 modulo 32, or another odd multiple of 4, so that the eight channels "
  "begin at eight different multiples of 4: __shared__ float plane[8][36];",
  NULL
};

static const char *const padding_hints[] = {
  "How many different banks does a column of pitch p meet?  It is 32 / gcd(p, 32).",
  "A column of fewer rows needs fewer banks, so a pitch that is even may do.  For the blocks: "
  "whole numbers divide downwards in C, which is what is wanted.",
  "pitch: try p = width, width + 1, ... until 32 / gcd(p, 32) is at least the number of lanes, "
  "which is rows but at most 32.  resident: sm_bytes / (block_bytes + reserved).",
  NULL
};

static const char *const predict_hints[] = {
  "A column read has the pitch as its stride.  A row read has stride 1, whatever the pitch.",
  "The 8-byte access is served in two phases of 16 lanes, and each lane takes two banks.  For the "
  "planes write down (channel + pixel) modulo 32 for channels 0 to 7 and pixels 0 to 3.",
  "Ask: build/banks wavefronts --op load --width 4 --stride 34, or --expr '(t%8*33+t/8)*4'.  "
  "Global memory: 32 lanes more than 32 bytes apart touch 32 sectors, padded or not.",
  NULL
};

static const char padding_header[] =
  "int pitch(int width, int rows);\n"
  "int resident(int block_bytes, int sm_bytes, int reserved);\n";

static const char padding_driver[] = SUITE_DRIVER(
  "static void answer(const char *q, FILE *out)\n{\n  int a, b, c;\n"
  "  if (sscanf(q, \"pitch %d %d\", &a, &b) == 2) fprintf(out, \"%d\", pitch(a, b));\n"
  "  if (sscanf(q, \"resident %d %d %d\", &a, &b, &c) == 3)\n"
  "    fprintf(out, \"%d\", resident(a, b, c));\n}\n");

static const struct exercise exercises[] = {
  {.id = "04-padding/predictions", .title = "Predict: what a pad does",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .hints = predict_hints,
   .tests = predict_tests, .names = prediction_names},
  {.id = "04-padding/transpose", .title = "The transpose, free of conflicts",
   .kind = EXERCISE_KERNEL, .file = "transpose.cu", .read = READ, .hints = transpose_hints,
   .tests = transpose_tests, .bench = bench_transpose},
  {.id = "04-padding/planes", .title = "Pixels into planes: the conflict is on the write",
   .kind = EXERCISE_KERNEL, .file = "planes.cu", .read = READ, .hints = planes_hints,
   .tests = planes_tests, .bench = bench_planes},
  {.id = "04-padding/padding", .title = "The smallest pitch, and what it costs",
   .kind = EXERCISE_NATIVE, .file = "padding.c", .read = READ, .hints = padding_hints,
   .tests = padding_tests, .driver = padding_driver, .header = padding_header},
  {0}
};

const struct suite suite_ch04 = {"04-padding", exercises};
