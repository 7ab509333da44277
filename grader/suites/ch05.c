/* Chapter 05: widths.  What 8, 16 and 2 bytes a lane cost, and which pitches are legal for them;
 * the kernels move floats by fours, halves by twos, and structures by their members. */
#include <stdlib.h>

#include "suites/ch05.h"
#include "suites/each.h"
#include "suites/moves.h"

#define READ "chapters/05-widths.md"

enum { SIZES = 6, COSTS = 3 };
struct size { int rows, columns; };

static size_t count_of(struct size s) { return (size_t)s.rows * s.columns; }

static uint32_t blocks(int n, int a_block) { return (uint32_t)((n + a_block - 1) / a_block); }

static uint32_t *draw_words(struct rng *r, size_t count)
{
  uint32_t *bits = malloc(count * 4);
  moves_fill(r, bits, count);
  return bits;
}

/* A buffer of `in` and one of `out` a launch: the results have odd numbers. */
static int out_of(int launch) { return 2 * launch + 1; }

static void plan_case(struct plan *p, const char *kernel, const void *in, size_t in_bytes,
                      size_t out_bytes, const uint32_t grid[3], uint32_t threads)
{
  int from = plan_buffer(p, "in", BUFFER_IN, in, in_bytes);
  int to = plan_buffer(p, "out", BUFFER_OUT, NULL, out_bytes);
  plan_launch(p, kernel, grid, (uint32_t[3]){threads, 1, 1}, 0);
  plan_arg_buffer(p, from);
  plan_arg_buffer(p, to);
}

static void judge_faults(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  if (judge_clean(v, e))
    verdict_pass(v, "no race, nothing misaligned, nothing outside the buffers");
}

/* Shared accesses of one way all move 16 bytes a lane; the first line that does not is told. */
static bool judge_vectors(struct verdict *v, const struct evidence *e, enum model_op op)
{
  const struct sim_result *l = &e->launches[0];
  bool any = false;
  for (size_t i = 0; i < l->nsites; i++) {
    const struct sim_site *s = &l->sites[i];
    if (s->op != op || !s->requests) continue;
    any = true;
    if (s->width == 16) continue;
    verdict_fail(v, "%s: shared memory is to be %s 16 bytes at a time here, and a line %s %u",
                 e->file, op == MODEL_LOAD ? "read" : "written",
                 op == MODEL_LOAD ? "reads" : "writes", s->width);
    judge_describe_site(v, e, s);
    verdict_add(v, "  the wavefronts are the same, but there are four times the instructions");
    return false;
  }
  if (!any) verdict_fail(v, "%s: shared memory is not used at all", e->file);
  return any;
}

/* Both ways of a launch at one wavefront for every 32 words. */
static void judge_cost(struct verdict *v, const struct evidence *e, uint64_t reads,
                       uint64_t writes)
{
  double one = moves_wavefronts(v, e, MOVES_READS, reads, 4);
  double two = moves_wavefronts(v, e, MOVES_WRITES, writes, 4);
  if (one == 1 && two == 1) verdict_pass(v, "one wavefront for every 32 words, in and out");
}

static void judge_coalesced(struct verdict *v, const struct evidence *e, uint64_t words)
{
  double one = moves_sectors(v, e, MOVES_READS, words);
  double two = moves_sectors(v, e, MOVES_WRITES, words);
  if (one == 1 && two == 1) verdict_pass(v, "every sector is used in full, in and out");
}

/* ---- transpose4.cu ------------------------------------------------------------------------- */

static const struct size tile4 = {32, 32};
static const struct size edges4[] = {{4, 4}, {36, 28}, {28, 36}};

static struct size size4(struct rng *r, int i)
{
  static const struct size fixed[] = {{4, 8}, {36, 64}, {64, 20}, {4, 100}};
  if (i < 4) return fixed[i];
  int rows = 4 * ((int)rng_below(r, 24) + 1);
  return (struct size){rows, 4 * ((int)rng_below(r, 24) + 1)};
}

static void plan_4(struct plan *p, struct rng *r, struct size s)
{
  uint32_t *in = draw_words(r, count_of(s));
  plan_case(p, "transpose4", in, count_of(s) * 4, count_of(s) * 4,
            (uint32_t[3]){blocks(s.columns, 32), blocks(s.rows, 32), 1}, 256);
  plan_arg_i32(p, s.columns);
  plan_arg_i32(p, s.rows);
  free(in);
}

static bool values_4(struct verdict *v, const struct evidence *e, struct rng *r, struct size s,
                     int out)
{
  uint32_t *in = draw_words(r, count_of(s)), *want = malloc(count_of(s) * 4);
  for (int y = 0; y < s.rows; y++)
    for (int x = 0; x < s.columns; x++)
      want[(size_t)x * s.rows + y] = in[(size_t)y * s.columns + x];
  bool good = moves_values(v, e, out, want, in, count_of(s), s.rows);
  if (!good) verdict_add(v, "  the input had %d rows of %d.", s.rows, s.columns);
  free(want);
  free(in);
  return good;
}

static void plan_4_tile(struct plan *p, struct rng *r) { plan_4(p, r, tile4); }

/* Whole tiles, another number of them in every launch. */
static struct size cost4(struct rng *r)
{
  int rows = each_multiple(r, 32, 1, 3);
  return (struct size){rows, each_multiple(r, 32, 1, 4)};
}

static void plan_4_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_4(p, r, cost4(r));
}

static void plan_4_sizes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_4(p, r, size4(r, i));
}

static void plan_4_edges(struct plan *p, struct rng *r)
{
  for (size_t i = 0; i < sizeof edges4 / sizeof *edges4; i++) plan_4(p, r, edges4[i]);
}

static void judge_4_tile(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_4(v, e, r, tile4, 1)) verdict_pass(v, "32 x 32, bit by bit");
}

static void judge_4_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_4(v, e, r, size4(r, i), out_of(i))) return;
  verdict_pass(v, "%d sizes, bit by bit", SIZES);
}

static void one_4_vectors(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  if (values_4(v, e, r, cost4(r), 1) && judge_vectors(v, e, MODEL_STORE))
    verdict_pass(v, "the tile is written 16 bytes at a time");
}

static void one_4_coalesced(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct size s = cost4(r);
  if (values_4(v, e, r, s, 1)) judge_coalesced(v, e, count_of(s));
}

static void one_4_free(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct size s = cost4(r);
  if (values_4(v, e, r, s, 1)) judge_cost(v, e, count_of(s), count_of(s));
}

EACH_TEST(4_vectors, COSTS, 2, plan_4_cost, one_4_vectors)
EACH_TEST(4_coalesced, COSTS, 2, plan_4_cost, one_4_coalesced)
EACH_TEST(4_free, COSTS, 2, plan_4_cost, one_4_free)

static void bench_transpose4(struct plan *p, struct rng *r, int size)
{
  plan_4(p, r, (struct size){1024 << size, 1024 << size});
}

static const struct test transpose4_tests[] = {
  {"one tile", 0.25, plan_4_tile, judge_4_tile},
  {"any size", 0.5, plan_4_sizes, judge_4_sizes},
  {"no faults", 0.25, plan_4_edges, judge_faults},
  {"vectors", 0.5, plan_4_vectors, judge_4_vectors},
  {"coalesced", 0.5, plan_4_coalesced, judge_4_coalesced},
  {"conflict free", 3, plan_4_free, judge_4_free},
  {0}
};

/* ---- misaligned.cu ------------------------------------------------------------------------- */

enum { ROW = 64 };
static const struct size one_block = {64, ROW};

static struct size row_case(struct rng *r, int i)
{
  static const int fixed[] = {1, 63, 65, 100};
  return (struct size){i < 4 ? fixed[i] : (int)rng_below(r, 200) + 1, ROW};
}

static int32_t *draw_ints(struct rng *r, size_t count)
{
  int32_t *in = malloc(count * 4);
  for (size_t i = 0; i < count; i++) in[i] = (int32_t)rng_next(r);
  return in;
}

static void plan_rows(struct plan *p, struct rng *r, struct size s)
{
  int32_t *in = draw_ints(r, count_of(s));
  plan_case(p, "row_sums", in, count_of(s) * 4, (size_t)s.rows * 4,
            (uint32_t[3]){blocks(s.rows, 64), 1, 1}, 64);
  plan_arg_i32(p, s.rows);
  free(in);
}

static bool values_rows(struct verdict *v, const struct evidence *e, struct rng *r, struct size s,
                        int out)
{
  int32_t *in = draw_ints(r, count_of(s)), *want = malloc((size_t)s.rows * 4);
  for (int y = 0; y < s.rows; y++) {
    uint32_t sum = 0;
    for (int x = 0; x < ROW; x++) sum += (uint32_t)in[y * ROW + x];
    want[y] = (int32_t)sum;
  }
  bool good = judge_ints(v, e, out, want, s.rows, 1);
  if (!good) verdict_add(v, "  there were %d rows.", s.rows);
  free(want);
  free(in);
  return good;
}

static void plan_rows_block(struct plan *p, struct rng *r) { plan_rows(p, r, one_block); }

/* Whole warps, so that a block may be half full. */
static struct size cost_rows(struct rng *r)
{
  return (struct size){each_multiple(r, 32, 1, 7), ROW};
}

static void plan_rows_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_rows(p, r, cost_rows(r));
}

static void plan_rows_sizes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_rows(p, r, row_case(r, i));
}

static void judge_rows_block(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_rows(v, e, r, one_block, 1)) verdict_pass(v, "64 rows");
}

static void judge_rows_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_rows(v, e, r, row_case(r, i), out_of(i))) return;
  verdict_pass(v, "%d numbers of rows", SIZES);
}

static void one_rows_vectors(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  if (values_rows(v, e, r, cost_rows(r), 1) && judge_vectors(v, e, MODEL_LOAD))
    verdict_pass(v, "the rows are read 16 bytes at a time");
}

static void one_rows_free(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct size s = cost_rows(r);
  if (values_rows(v, e, r, s, 1)) judge_cost(v, e, count_of(s), count_of(s));
}

EACH_TEST(rows_vectors, COSTS, 2, plan_rows_cost, one_rows_vectors)
EACH_TEST(rows_free, COSTS, 2, plan_rows_cost, one_rows_free)

static void bench_misaligned(struct plan *p, struct rng *r, int size)
{
  plan_rows(p, r, (struct size){1 << (14 + 2 * size), ROW});
}

static const struct test misaligned_tests[] = {
  {"one block", 0.5, plan_rows_block, judge_rows_block},
  {"any number", 1, plan_rows_sizes, judge_rows_sizes},
  {"vectors", 1, plan_rows_vectors, judge_rows_vectors},
  {"conflict free", 1.5, plan_rows_free, judge_rows_free},
  {0}
};

/* ---- particles.cu -------------------------------------------------------------------------- */

enum { PLANES = 8, CHARGE = 7, GROUP = 128, NEAR = 8 };

static int particle_case(struct rng *r, int i)
{
  static const int fixed[] = {1, 7, 128, 129};
  return i < 4 ? fixed[i] : (int)rng_below(r, 400) + 2;
}

static float *draw_particles(struct rng *r, int n)
{
  float *in = malloc((size_t)n * PLANES * 4);
  rng_floats(r, in, (size_t)n * PLANES, -1, 1);
  return in;
}

static void plan_pulls(struct plan *p, struct rng *r, int n)
{
  float *in = draw_particles(r, n);
  plan_case(p, "pulls", in, (size_t)n * PLANES * 4, (size_t)n * 4,
            (uint32_t[3]){blocks(n, GROUP), 1, 1}, GROUP);
  plan_arg_i32(p, n);
  free(in);
}

static bool values_pulls(struct verdict *v, const struct evidence *e, struct rng *r, int n,
                         int out)
{
  float *in = draw_particles(r, n);
  double *want = calloc(n, sizeof *want);
  for (int i = 0; i < n; i++) {
    int first = i / GROUP * GROUP;
    for (int k = 1; k <= NEAR; k++) {
      int j = first + (i - first + k) % GROUP;
      if (j < n) want[i] += (double)in[CHARGE * n + j] * ((double)in[j] - in[i]);
    }
  }
  /* Eight products of at most 2, each rounded three times, in any order: 8 * 2 * 10 units. */
  bool good = judge_floats(v, e, out, want, n, 1, 160 * 0x1p-24);
  if (!good) verdict_add(v, "  there were %d particles.", n);
  free(want);
  free(in);
  return good;
}

static void plan_pulls_block(struct plan *p, struct rng *r) { plan_pulls(p, r, GROUP); }

static void plan_pulls_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_pulls(p, r, each_multiple(r, GROUP, 1, 5));
}

static void plan_pulls_sizes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_pulls(p, r, particle_case(r, i));
}

static void plan_pulls_edges(struct plan *p, struct rng *r)
{
  (void)r;
  plan_pulls(p, r, 1);
  plan_pulls(p, r, 131);
}

static void judge_pulls_block(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_pulls(v, e, r, GROUP, 1)) verdict_pass(v, "128 particles");
}

static void judge_pulls_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_pulls(v, e, r, particle_case(r, i), out_of(i))) return;
  verdict_pass(v, "%d numbers of particles", SIZES);
}

/* Two words of eight others are needed, and whoever reads his own x from shared memory too is not
 * punished.  All eight members may be written, but no wavefront more. */
static void one_pulls_free(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  uint64_t n = (uint64_t)each_multiple(r, GROUP, 1, 5);
  if (!values_pulls(v, e, r, (int)n, 1)) return;
  double reads = moves_cost(v, e, MOVES_READS, 2 * NEAR * n, (2 * NEAR + 1) * n, 1, 4);
  double writes = moves_cost(v, e, MOVES_WRITES, 2 * n, PLANES * n, 1, 4);
  if (reads == 1 && writes == 1) verdict_pass(v, "one wavefront for every 32 words, in and out");
}

EACH_TEST(pulls_free, COSTS, 2, plan_pulls_cost, one_pulls_free)

static void bench_particles(struct plan *p, struct rng *r, int size)
{
  plan_pulls(p, r, 1 << (17 + 2 * size));
}

static const struct test particles_tests[] = {
  {"one block", 0.25, plan_pulls_block, judge_pulls_block},
  {"any number", 0.5, plan_pulls_sizes, judge_pulls_sizes},
  {"no faults", 0.25, plan_pulls_edges, judge_faults},
  {"conflict free", 3, plan_pulls_free, judge_pulls_free},
  {0}
};

/* ---- halves.cu ----------------------------------------------------------------------------- */

static const struct size tile_halves = {32, 64};

static struct size halves_case(struct rng *r, int i)
{
  static const struct size fixed[] = {{1, 2}, {33, 66}, {64, 30}, {7, 130}};
  if (i < 4) return fixed[i];
  int rows = (int)rng_below(r, 80) + 1;
  return (struct size){rows, 2 * ((int)rng_below(r, 80) + 1)};
}

static uint16_t *draw_halves(struct rng *r, size_t count)
{
  uint16_t *in = malloc(count * 2);
  for (size_t i = 0; i < count; i++) in[i] = (uint16_t)rng_next(r);
  return in;
}

static void plan_halves(struct plan *p, struct rng *r, struct size s)
{
  uint16_t *in = draw_halves(r, count_of(s));
  plan_case(p, "transpose_halves", in, count_of(s) * 2, count_of(s) * 2,
            (uint32_t[3]){blocks(s.columns, 64), blocks(s.rows, 32), 1}, 256);
  plan_arg_i32(p, s.columns);
  plan_arg_i32(p, s.rows);
  free(in);
}

static bool values_halves(struct verdict *v, const struct evidence *e, struct rng *r,
                          struct size s, int out)
{
  uint16_t *in = draw_halves(r, count_of(s));
  const uint16_t *got = e->buffers[out];
  size_t wrong = 0, first = 0;
  for (size_t i = count_of(s); i-- > 0;) {
    size_t x = i / s.rows, y = i % s.rows;
    if (got[i] == in[y * s.columns + x]) continue;
    wrong++;
    first = i;
  }
  if (wrong) {
    size_t x = first / s.rows, y = first % s.rows;
    verdict_fail(v, "%s: %zu of %zu halves of out are wrong", e->file, wrong, count_of(s));
    verdict_add(
        v, "  row %zu, column %zu: expected 0x%04x, got 0x%04x; the input had %d rows of %d", x,
        y, in[y * s.columns + x], got[first], s.rows, s.columns);
  }
  free(in);
  return wrong == 0;
}

static void plan_halves_tile(struct plan *p, struct rng *r) { plan_halves(p, r, tile_halves); }

static struct size cost_halves(struct rng *r)
{
  int rows = each_multiple(r, 32, 1, 3);
  return (struct size){rows, each_multiple(r, 64, 1, 3)};
}

static void plan_halves_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_halves(p, r, cost_halves(r));
}

static void plan_halves_sizes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_halves(p, r, halves_case(r, i));
}

static void plan_halves_edges(struct plan *p, struct rng *r)
{
  plan_halves(p, r, (struct size){1, 2});
  plan_halves(p, r, (struct size){35, 66});
}

static void judge_halves_tile(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_halves(v, e, r, tile_halves, 1))
    verdict_pass(v, "32 rows of 64 halves, bit by bit");
}

static void judge_halves_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_halves(v, e, r, halves_case(r, i), out_of(i))) return;
  verdict_pass(v, "%d sizes, bit by bit", SIZES);
}

static void one_halves_coalesced(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct size s = cost_halves(r);
  if (values_halves(v, e, r, s, 1)) judge_coalesced(v, e, count_of(s) / 2);
}

/* A read takes one half a lane, so half as many words as lanes; a write takes a whole word. */
static void one_halves_free(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct size s = cost_halves(r);
  uint64_t halves = count_of(s);
  if (!values_halves(v, e, r, s, 1)) return;
  double reads = moves_cost(v, e, MOVES_READS, halves / 2, halves, 1, 4);
  double writes = moves_cost(v, e, MOVES_WRITES, halves / 2, halves / 2, 1, 4);
  if (reads == 1 && writes == 1)
    verdict_pass(v, "one wavefront for every 32 words written and every 32 halves read");
}

EACH_TEST(halves_coalesced, COSTS, 2, plan_halves_cost, one_halves_coalesced)
EACH_TEST(halves_free, COSTS, 2, plan_halves_cost, one_halves_free)

static void bench_halves(struct plan *p, struct rng *r, int size)
{
  plan_halves(p, r, (struct size){1024 << size, 1024 << size});
}

static const struct test halves_tests[] = {
  {"one tile", 0.25, plan_halves_tile, judge_halves_tile},
  {"any size", 0.5, plan_halves_sizes, judge_halves_sizes},
  {"no faults", 0.25, plan_halves_edges, judge_faults},
  {"coalesced", 0.5, plan_halves_coalesced, judge_halves_coalesced},
  {"conflict free", 3, plan_halves_free, judge_halves_free},
  {0}
};

/* ---- the table ----------------------------------------------------------------------------- */

static const char *const predict_hints[] = {
  "A wavefront brings at most 32 words.  How many words does the whole warp ask for?",
  "16 bytes a lane: eight lanes form a phase, and each takes four banks in a row.  2 bytes and "
  "1: turn the byte into a word first, byte / 4, then take the bank.",
  "Let the program tell you: build/banks wavefronts --op load --width 16 --expr 't*36*4', and "
  "the same with --width 2 or 1 and your pitch in bytes.",
  NULL
};

static const char *const phases_hints[] = {
  "A wavefront brings 128 bytes.  How many lanes of `width` bytes is that?  Never more than 32.",
  "phases: go through the groups of lanes, and count those with a bit of the mask.  column: "
  "count words a bank in each phase, take the fullest bank, and add the phases up.",
  "With lanes = width <= 4 ? 32 : 128 / width.  Misaligned is pitch % width != 0, since lane 1 "
  "is at byte pitch.  legal_pitch: start at row_bytes and add width until column() gives 1, 2 "
  "or 4.",
  NULL
};

static const char *const transpose4_hints[] = {
  "A pitch must keep each row on a multiple of 16 bytes.  Which pitches from 32 to 48 may you "
  "choose from at all?",
  "Lane t reads word (4 * chunk + i) * pitch + row.  With pitch 36 a step of chunk moves 4 * "
  "36 = 144 words, which is 16 banks: two chunks fit side by side, with 16 rows each.",
  "Pitch 36, and for the second half: lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = "
  "warp / 4 * 16 + lane / 2, chunk = warp % 4 * 2 + lane % 2.",
  NULL
};

static const char *const misaligned_hints[] = {
  "Row 1 begins at byte 4 * 65.  Is that a multiple of 16?",
  "The pitch has to be a multiple of 4 words.  In pieces of 16 bytes it is then a whole "
  "number; eight lanes of a phase meet eight different places when that number is odd.",
  "64 words are 16 pieces.  17 pieces are 68 words: int tile[64][68].",
  NULL
};

static const char *const particles_hints[] = {
  "Lane t reads member x of particle t + k.  How many words apart are two lanes?  What does "
  "that stride cost?",
  "Two cures: keep each member in an array of its own, or make the structure an odd number of "
  "words long.  The first is the usual one, and needs less memory here.",
  "__shared__ float x[128], charge[128];  Only these two are ever read from shared memory.",
  NULL
};

static const char *const halves_hints[] = {
  "Write down the byte, the word and the bank of tile[t][0] for lanes 0 to 3.",
  "The rows are written as words, so they must begin at multiples of 4 bytes: an even number "
  "of halves.  And the column is free when the pitch is an odd number of words.",
  "64 halves are 32 words; 33 words are 66 halves: unsigned short tile[32][66].",
  NULL
};

static const char phases_header[] =
  "int phases(int width, unsigned mask);\n"
  "int column(int width, int pitch);\n"
  "int legal_pitch(int row_bytes, int width);\n";

static const char phases_driver[] = SUITE_DRIVER(
  "static void answer(const char *q, FILE *out)\n{\n  int a, b;\n  unsigned mask;\n"
  "  if (sscanf(q, \"phases %d %u\", &a, &mask) == 2) fprintf(out, \"%d\", phases(a, mask));\n"
  "  if (sscanf(q, \"column %d %d\", &a, &b) == 2) fprintf(out, \"%d\", column(a, b));\n"
  "  if (sscanf(q, \"pitch %d %d\", &a, &b) == 2) fprintf(out, \"%d\", legal_pitch(b, a));\n}\n");

static const struct exercise exercises[] = {
  {.id = "05-widths/predictions", .title = "Predict: vectors, halves, bytes, structures",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .hints = predict_hints,
   .tests = ch05_predictions, .names = ch05_names},
  {.id = "05-widths/phases", .title = "Phases and totals of any width",
   .kind = EXERCISE_NATIVE, .file = "phases.c", .read = READ, .hints = phases_hints,
   .tests = ch05_phases, .driver = phases_driver, .header = phases_header},
  {.id = "05-widths/misaligned", .title = "Repair a kernel that faults since it was padded",
   .kind = EXERCISE_KERNEL, .file = "misaligned.cu", .read = READ, .hints = misaligned_hints,
   .tests = misaligned_tests, .bench = bench_misaligned},
  {.id = "05-widths/transpose4", .title = "A transpose by float4, with a legal pitch",
   .kind = EXERCISE_KERNEL, .file = "transpose4.cu", .read = READ, .hints = transpose4_hints,
   .tests = transpose4_tests, .bench = bench_transpose4},
  {.id = "05-widths/halves", .title = "A column of halves",
   .kind = EXERCISE_KERNEL, .file = "halves.cu", .read = READ, .hints = halves_hints,
   .tests = halves_tests, .bench = bench_halves},
  {.id = "05-widths/particles", .title = "From an array of structures to one of its members",
   .kind = EXERCISE_KERNEL, .file = "particles.cu", .read = READ, .hints = particles_hints,
   .tests = particles_tests, .bench = bench_particles},
  {0}
};

const struct suite suite_ch05 = {"05-widths", exercises};
