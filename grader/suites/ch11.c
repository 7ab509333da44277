/* Chapter 11: gather.  What random indices cost by pitch; the tokens of a mixture of experts,
 * from counting to combining; rows that are staged in shared memory; a codebook that no codes
 * can make slow.  The tokens are in ch11_tokens.c. */
#include <stdio.h>
#include <stdlib.h>

#include "model/model.h"
#include "suites/ch11.h"
#include "suites/each.h"
#include "suites/moves.h"

#define READ "chapters/11-gather.md"

/* ---- gather.c --------------------------------------------------------------------------- */

enum { CHOSEN = 60, SETS = CHOSEN + 32 };

/* The i-th set of indices and its pitch: repeated ones, neighbours, rows that meet in a bank. */
static int draw_set(struct rng *r, int i, int index[32])
{
  static const int pitches[] = {32, 33, 34, 36, 40, 31, 1, 64, 65, 48};
  if (i >= CHOSEN) {                      /* one bank and one lane decide, each in its turn */
    int bank = i - CHOSEN, lane = (bank + 1 + (int)rng_below(r, 31)) % 32;
    for (int t = 0; t < 32; t++) index[t] = t;
    index[lane] = bank + 32;
    return 33;
  }
  int pitch = i < 30 ? pitches[i % 10] : (int)rng_below(r, 130) + 1;
  int rows = i % 3 == 0 ? 8 : i % 3 == 1 ? 64 : 1000;
  for (int t = 0; t < 32; t++) index[t] = (int)rng_below(r, (uint32_t)rows);
  if (i == 10) for (int t = 0; t < 32; t++) index[t] = 5;
  if (i == 11) for (int t = 0; t < 32; t++) index[t] = t;
  if (i == 21) for (int t = 0; t < 32; t++) index[t] = 32 * t;
  return pitch;
}

static int cost_of(const int index[32], int pitch)
{
  struct access a = {.op = MODEL_LOAD, .width = 4, .mask = UINT32_MAX};
  for (int t = 0; t < 32; t++) a.addr[t] = 4ull * (uint32_t)index[t] * (uint32_t)pitch;
  return (int)model_cost(&a).wavefronts;
}

static void plan_cost(struct plan *p, struct rng *r)
{
  for (int i = 0, index[32]; i < SETS; i++) {
    char text[32 * 12], *end = text;
    int pitch = draw_set(r, i, index);
    for (int t = 0; t < 32; t++) end += sprintf(end, " %d", index[t]);
    plan_ask(p, "cost %d%s", pitch, text);
  }
}

static void judge_cost(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0, index[32]; i < SETS; i++) {
    int pitch = draw_set(r, i, index), distinct = 0;
    if (judge_answer_int(v, e, i, cost_of(index, pitch), "cost({%d, %d, %d, ...}, %d)", index[0],
                         index[1], index[2], pitch))
      continue;
    for (int t = 0; t < 32; t++) {
      bool seen = false;
      for (int u = 0; u < t; u++) seen |= index[u] == index[t];
      distinct += !seen;
    }
    verdict_add(v, "  These 32 indices name %d different rows; lanes with the same one share a "
                "word.", distinct);
    return;
  }
  verdict_pass(v, "%d sets of indices", SETS);
}

enum { TABLES = 10 };

static int draw_rows(struct rng *r, int i)
{
  static const int fixed[] = {64, 1, 2, 32, 256, 100000};
  return i < 6 ? fixed[i] : (int)rng_below(r, 500) + 2;
}

static void plan_different(struct plan *p, struct rng *r)
{
  for (int i = 0; i < TABLES; i++) plan_ask(p, "different %d", draw_rows(r, i));
}

static void judge_different(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0; i < TABLES; i++) {
    int rows = draw_rows(r, i);
    double want = model_gather_expected((uint32_t)rows, 32);
    if (!judge_answer_near(v, e, i, want, 1e-4 * want, "different(%d)", rows)) {
      verdict_add(v, "  How likely is it that none of 32 lanes draws row 0?");
      return;
    }
  }
  verdict_pass(v, "%d tables", TABLES);
}

static int draw_table(struct rng *r, int i, int *rows)
{
  static const int pitches[] = {32, 33, 34, 40, 1, 48};
  *rows = i < 6 ? 64 : (int)rng_below(r, 300) + 8;
  return i < 6 ? pitches[i] : (int)rng_below(r, 80) + 1;
}

static void plan_expected(struct plan *p, struct rng *r)
{
  for (int i = 0, rows; i < TABLES; i++) {
    int pitch = draw_table(r, i, &rows);
    plan_ask(p, "expected %d %d", rows, pitch);
  }
}

static void judge_expected(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0, rows; i < TABLES; i++) {
    int pitch = draw_table(r, i, &rows);
    double want = model_gather_expected((uint32_t)rows, (uint32_t)pitch);
    if (!judge_answer_near(v, e, i, want, 0.02 * want, "expected(%d, %d)", rows, pitch)) return;
  }
  verdict_pass(v, "%d tables, to within 2%%", TABLES);
}

static const struct test gather_tests[] = {
  {"cost of a gather", 1.5, plan_cost, judge_cost},
  {"different rows", 1, plan_different, judge_different},
  {"expected by pitch", 1.5, plan_expected, judge_expected},
  {0}
};

enum { CASES = 6, COSTS = 3 };

/* ---- permute.cu ------------------------------------------------------------------------- */

struct rows { int rows, width, count; bool valid; };

static void draw_permute(struct rng *r, struct rows c, uint32_t *in, int *index)
{
  moves_fill(r, in, (size_t)c.rows * c.width);
  for (int i = 0; i < c.count; i++) {
    index[i] = (int)rng_below(r, (uint32_t)c.rows);
    int kind = (int)rng_below(r, 6);
    if (c.valid) continue;
    if (kind == 0) index[i] = -1 - (int)rng_below(r, 100);
    if (kind == 1) index[i] = c.rows + (int)rng_below(r, 100);
  }
}

static void plan_permute(struct plan *p, struct rng *r, struct rows c)
{
  uint32_t *in = malloc((size_t)c.rows * c.width * 4);
  int *index = malloc((size_t)c.count * 4);
  draw_permute(r, c, in, index);
  int a = plan_buffer(p, "in", BUFFER_IN, in, (size_t)c.rows * c.width * 4);
  int b = plan_buffer(p, "index", BUFFER_IN, index, (size_t)c.count * 4);
  int o = plan_buffer(p, "out", BUFFER_OUT, NULL, (size_t)c.count * c.width * 4);
  plan_launch(p, "permute", (uint32_t[3]){(c.count + 31) / 32, (c.width + 31) / 32, 1},
              (uint32_t[3]){32, 8, 1}, 0);
  plan_arg_buffer(p, a);
  plan_arg_buffer(p, b);
  plan_arg_buffer(p, o);
  plan_arg_i32(p, c.rows);
  plan_arg_i32(p, c.width);
  plan_arg_i32(p, c.count);
  free(in);
  free(index);
}

static bool judge_permute(struct verdict *v, const struct evidence *e, struct rng *r,
                          struct rows c, int launch)
{
  uint32_t *in = malloc((size_t)c.rows * c.width * 4);
  uint32_t *want = calloc((size_t)c.count * c.width, 4);
  int *index = malloc((size_t)c.count * 4);
  draw_permute(r, c, in, index);
  for (int i = 0; i < c.count; i++)
    for (int x = 0; x < c.width; x++)
      if (index[i] >= 0 && index[i] < c.rows)
        want[(size_t)x * c.count + i] = in[(size_t)index[i] * c.width + x];
  bool good = moves_values(v, e, 3 * launch + 2, want, NULL, (size_t)c.count * c.width, c.count);
  if (!good)
    verdict_add(v, "  These were %d indices into %d rows of %d.", c.count, c.rows, c.width);
  free(in);
  free(want);
  free(index);
  return good;
}

static struct rows permute_case(struct rng *r, int i)
{
  static const struct rows fixed[] = {
    {1, 1, 1, true}, {5, 33, 70, true}, {40, 64, 31, false}, {9, 7, 65, false},
  };
  if (i < 4) return fixed[i];
  int rows = (int)rng_below(r, 60) + 1, width = (int)rng_below(r, 90) + 1;
  return (struct rows){rows, width, (int)rng_below(r, 90) + 1, false};
}

static void plan_permute_sizes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < CASES; i++) plan_permute(p, r, permute_case(r, i));
}

static void judge_permute_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < CASES; i++)
    if (!judge_permute(v, e, r, permute_case(r, i), i)) return;
  verdict_pass(v, "%d sizes, bit by bit", CASES);
}

/* Whole tiles of the result, some rows of a table. */
static struct rows cost_rows(struct rng *r)
{
  int rows = rng_between(r, 20, 90), width = each_multiple(r, 32, 1, 3);
  return (struct rows){rows, width, each_multiple(r, 32, 1, 4), true};
}

static void plan_permute_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_permute(p, r, cost_rows(r));
}

static void one_permute_sectors(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct rows c = cost_rows(r);
  uint64_t best = (uint64_t)c.count * c.width / 8;
  if (!judge_permute(v, e, r, c, 0)) return;
  if (ch11_sectors(v, e, MODEL_GLOBAL_LOAD, best) == 1 &&
      ch11_sectors(v, e, MODEL_GLOBAL_STORE, best) == 1)
    verdict_pass(v, "4 sectors for every 32 elements, in and out");
}

static void one_permute_free(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct rows c = cost_rows(r);
  uint64_t words = (uint64_t)c.count * c.width;
  if (!judge_permute(v, e, r, c, 0)) return;
  if (moves_wavefronts(v, e, MOVES_WRITES, words, 2) == 1 &&
      moves_wavefronts(v, e, MOVES_READS, words, 2) == 1)
    verdict_pass(v, "one wavefront for every 32 words, in and out");
}

EACH_TEST(permute_sectors, COSTS, 3, plan_permute_cost, one_permute_sectors)
EACH_TEST(permute_free, COSTS, 3, plan_permute_cost, one_permute_free)

static void bench_permute(struct plan *p, struct rng *r, int size)
{
  plan_permute(p, r, (struct rows){1024 << size, 1024, 1024 << size, true});
}

static const struct test permute_tests[] = {
  {"any rows", 1, plan_permute_sizes, judge_permute_sizes},
  {"coalesced", 1, plan_permute_sectors, judge_permute_sectors},
  {"conflict free", 2, plan_permute_free, judge_permute_free},
  {0}
};

/* ---- codebook.cu ------------------------------------------------------------------------ */

enum { ENTRIES = 64, ENTRY = 8 };
struct codes { int count; enum { RANDOM, INVALID, SAME_BANK, CLOSE } kind; };

static void draw_codes(struct rng *r, struct codes c, uint32_t *book, int *code)
{
  moves_fill(r, book, ENTRIES * ENTRY);
  for (int i = 0; i < c.count; i++) {
    code[i] = (int)rng_below(r, ENTRIES);
    if (c.kind == SAME_BANK) code[i] = i * 4 % ENTRIES;
    if (c.kind == CLOSE) code[i] = (i + (int)rng_below(r, 3)) % ENTRIES;
    if (c.kind == INVALID && rng_below(r, 4) == 0)
      code[i] = rng_below(r, 2) ? ENTRIES + (int)rng_below(r, 1000) : -1 - (int)rng_below(r, 50);
  }
}

static void plan_codebook(struct plan *p, struct rng *r, struct codes c)
{
  uint32_t book[ENTRIES * ENTRY];
  int *code = malloc((size_t)c.count * 4);
  draw_codes(r, c, book, code);
  int b = plan_buffer(p, "book", BUFFER_IN, book, sizeof book);
  int i = plan_buffer(p, "code", BUFFER_IN, code, (size_t)c.count * 4);
  int o = plan_buffer(p, "out", BUFFER_OUT, NULL, (size_t)c.count * ENTRY * 4);
  plan_launch(p, "codebook", (uint32_t[3]){(c.count + 255) / 256, 1, 1},
              (uint32_t[3]){256, 1, 1}, 0);
  plan_arg_buffer(p, b);
  plan_arg_buffer(p, i);
  plan_arg_buffer(p, o);
  plan_arg_i32(p, c.count);
  free(code);
}

static bool judge_codebook(struct verdict *v, const struct evidence *e, struct rng *r,
                           struct codes c, int launch)
{
  uint32_t book[ENTRIES * ENTRY], *want = calloc((size_t)c.count * ENTRY, 4);
  int *code = malloc((size_t)c.count * 4);
  draw_codes(r, c, book, code);
  for (int i = 0; i < c.count * ENTRY; i++)
    if (code[i / ENTRY] >= 0 && code[i / ENTRY] < ENTRIES)
      want[i] = book[code[i / ENTRY] * ENTRY + i % ENTRY];
  bool good = moves_values(v, e, 3 * launch + 2, want, NULL, (size_t)c.count * ENTRY, ENTRY);
  if (!good) verdict_add(v, "  These were %d codes.", c.count);
  free(want);
  free(code);
  return good;
}

static struct codes codes_case(struct rng *r, int i)
{
  static const int fixed[] = {1, 31, 256, 257};
  return (struct codes){i < 4 ? fixed[i] : (int)rng_below(r, 600) + 1, i % 2 ? INVALID : RANDOM};
}

static void plan_codes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < CASES; i++) plan_codebook(p, r, codes_case(r, i));
}

static void judge_codes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < CASES; i++)
    if (!judge_codebook(v, e, r, codes_case(r, i), i)) return;
  verdict_pass(v, "%d lists of codes, bit by bit", CASES);
}

/* Whole blocks, another number of them in every launch. */
static struct codes cost_codes(struct rng *r, int kind)
{
  return (struct codes){each_multiple(r, 256, 1, 5), kind};
}

static void plan_random(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_codebook(p, r, cost_codes(r, RANDOM));
}

static void plan_bad(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_codebook(p, r, cost_codes(r, SAME_BANK));
}

static void judge_free(struct verdict *v, const struct evidence *e, struct rng *r, int kind)
{
  struct codes c = cost_codes(r, kind);
  if (!judge_codebook(v, e, r, c, 0)) return;
  uint64_t words = (uint64_t)c.count * ENTRY;
  if (ch11_sectors(v, e, MODEL_GLOBAL_STORE, words / 8) == 1 &&
      moves_wavefronts(v, e, MOVES_READS, words, 1.8) == 1) {
    verdict_pass(v, "one wavefront for every 32 floats");
    judge_describe_worst(v, e, COUNT_LOADS);
  }
}

static void one_random(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  judge_free(v, e, r, RANDOM);
}

static void one_bad(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  judge_free(v, e, r, SAME_BANK);
}

EACH_TEST(random_codes, COSTS, 3, plan_random, one_random)
EACH_TEST(bad_codes, COSTS, 3, plan_bad, one_bad)

static void bench_codebook(struct plan *p, struct rng *r, int size)
{
  plan_codebook(p, r, (struct codes){1 << (16 + 2 * size), RANDOM});
}

static const struct test codebook_tests[] = {
  {"any codes", 1, plan_codes, judge_codes},
  {"random codes", 1.5, plan_random_codes, judge_random_codes},
  {"the worst codes", 1.5, plan_bad_codes, judge_bad_codes},
  {0}
};

/* ---- predictions.txt -------------------------------------------------------------------- */

static uint32_t cost_by(int (*index)(int), int pitch)
{
  int list[32];
  for (int t = 0; t < 32; t++) list[t] = index(t);
  return (uint32_t)cost_of(list, pitch);
}

static int index_same(int t) { return 17 + 0 * t; }
static int index_own(int t) { return t; }
static int index_apart(int t) { return t < 16 ? t : t + 16; }

static uint32_t sectors_of(uint64_t bytes)
{
  struct access a = {.op = MODEL_GLOBAL_LOAD, .width = 4, .mask = UINT32_MAX};
  for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = t * bytes;
  return model_cost(&a).sectors;
}

static const char *const prediction_names[] = {
  "lane_a_row", "warp_a_row", "all_same", "all_different", "padded", "two_apart", "worst_padded",
  "slot_of_last", "dropped", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  /* experts 2 0 2 1 2 0 2 3, capacity 3: expert 0 keeps 2, 1 keeps 1, 2 keeps 3 of 4 */
  struct prediction rows[] = {
    {"lane_a_row", sectors_of(4096), "how many rows, and how many sectors of each?"},
    {"warp_a_row", sectors_of(4), "32 neighbouring floats are 128 bytes"},
    {"all_same", cost_by(index_same, 32), "how many words do the lanes ask for?"},
    {"all_different", cost_by(index_own, 32), "in which bank is word 32 * index + 5?"},
    {"padded", cost_by(index_own, 33), "in which bank is word 33 * index + 5?"},
    {"two_apart", cost_by(index_apart, 33), "which bank does row 32 share with row 0?"},
    {"worst_padded", 64 / MODEL_BANKS, "how many of the 64 rows begin in one bank?"},
    {"slot_of_last", 2 + 1 + 3, "count the slots of experts 0, 1 and 2"},
    {"dropped", 4 - 3, "which expert has more tokens than its capacity?"},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

static const struct test predict_tests[] = {
  {"predictions", 2, NULL, judge_predict},
  {0}
};

/* ---- the table -------------------------------------------------------------------------- */

static const char *const gather_hints[] = {
  "cost: chapter 02's rule.  Lanes with one index read one word.  The fullest bank decides, and "
  "it "
  "counts different words.",
  "A given row is missed by one lane with chance 1 - 1/rows, and by all 32 with that to the "
  "power "
  "of 32.  So it is drawn with chance 1 minus that; now there are `rows` such rows.",
  "expected: 20,000 times, fill index[32] with random_below(rows) and add up cost(index, "
  "pitch).  "
  "Divide as doubles.",
  NULL
};

static const char *const predict_hints[] = {
  "For every line write down what lanes 0, 1 and 2 read, and in which bank or sector that is.",
  "With pitch 33 row i begins in bank i mod 32.  Rows 0 and 32 share a bank; so do 1 and 33.",
  "build/banks wavefronts --op load --width 4 --expr '(t*33+5)*4' answers the shared ones.  For "
  "the "
  "slots write a table: expert, tokens wanted, tokens kept, first slot.",
  NULL
};

static const char *const permute_hints[] = {
  "Chapter 04's transpose, with one change: which row of `in` row j of the tile comes from.",
  "In the first half a warp has one i (from threadIdx.y) and 32 columns (from threadIdx.x).  "
  "Store "
  "into tile[j][threadIdx.x]; a missing row stores 0.  After the barrier the roles change.",
  "__shared__ float tile[32][33]; row = index[blockIdx.x * 32 + j] when that is below count; "
  "then "
  "out[(c + j) * count + i] = tile[threadIdx.x][j] with i = blockIdx.x * 32 + threadIdx.x.",
  NULL
};

static const char *const codebook_hints[] = {
  "Entry c begins at word 8 * c: in bank 0, 8, 16 or 24.  Two of a warp's four codes often "
  "begin in "
  "the same one.  No pad helps, since the codes may be any four of the 64.",
  "Lanes 0 to 7 decode the first code, 8 to 15 the second, and so on.  Give each of these four "
  "groups its own eight banks: then they cannot meet.  That takes a copy of the book for each "
  "group.",
  "__shared__ float table[64][4][8]; fill table[c][g][k] with book[c * 8 + k] for all four g; "
  "read "
  "table[c][threadIdx.x / 8 % 4][k].  Word 32 * c + lane is in bank `lane`.",
  NULL
};

static const char gather_header[] =
  "int random_below(int n);      /* given: a random number from 0 to n - 1 */\n"
  "int cost(const int index[32], int pitch);\n"
  "double different(int rows);\n"
  "double expected(int rows, int pitch);\n";

static const char gather_driver[] = SUITE_DRIVER(
  "int random_below(int n)\n{\n"
  "  static uint64_t s = 88172645463325252u;\n"
  "  s ^= s << 13; s ^= s >> 7; s ^= s << 17;\n"
  "  return n > 0 ? (int)((s >> 16) % (uint64_t)n) : 0;\n}\n"
  "static void answer(const char *q, FILE *out)\n{\n"
  "  int a, b, n = 0, skip, index[32];\n"
  "  if (sscanf(q, \"cost %d%n\", &a, &skip) == 1) {\n"
  "    for (q += skip; n < 32 && sscanf(q, \"%d%n\", &index[n], &skip) == 1; n++) q += skip;\n"
  "    if (n == 32) fprintf(out, \"%d\", cost(index, a));\n"
  "  } else if (sscanf(q, \"different %d\", &a) == 1) fprintf(out, \"%.12g\", different(a));\n"
  "  else if (sscanf(q, \"expected %d %d\", &a, &b) == 2)\n"
  "    fprintf(out, \"%.12g\", expected(a, b));\n}\n");

static const struct exercise exercises[] = {
  {.id = "11-gather/predictions", .title = "Predict: indices, sectors, slots",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .hints = predict_hints,
   .tests = predict_tests, .names = prediction_names},
  {.id = "11-gather/gather", .title = "What a random gather costs, by pitch",
   .kind = EXERCISE_NATIVE, .file = "gather.c", .read = READ, .hints = gather_hints,
   .tests = gather_tests, .driver = gather_driver, .header = gather_header},
  {.id = "11-gather/place", .title = "A slot for every token: count, sum up, place",
   .kind = EXERCISE_KERNEL, .file = "place.cu", .read = READ, .hints = ch11_place_hints,
   .tests = ch11_place_tests},
  {.id = "11-gather/permute", .title = "Rows through an index list, and columns out",
   .kind = EXERCISE_KERNEL, .file = "permute.cu", .read = READ, .hints = permute_hints,
   .tests = permute_tests, .bench = bench_permute},
  {.id = "11-gather/combine", .title = "Weighted rows back to their tokens",
   .kind = EXERCISE_KERNEL, .file = "combine.cu", .read = READ, .hints = ch11_combine_hints,
   .tests = ch11_combine_tests, .bench = ch11_bench_combine},
  {.id = "11-gather/codebook", .title = "A codebook that no codes make slow",
   .kind = EXERCISE_KERNEL, .file = "codebook.cu", .read = READ, .hints = codebook_hints,
   .tests = codebook_tests, .bench = bench_codebook},
  {0}
};

const struct suite suite_ch11 = {"11-gather", exercises};
