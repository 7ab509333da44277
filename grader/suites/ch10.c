/* Chapter 10: histograms.  What an update costs, by its kind and by the data; privatised counts,
 * weights added up by the lanes of a bin, floats in fixed point, and a column of bins for each lane.
 *
 * Budgets come from the data: what the same updates cost by the rule to be reached, and by the
 * rule that the starter pays. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "suites/budget.h"
#include "suites/each.h"
#include "suites/quiz.h"

#define READ "chapters/10-histograms.md"

/* ---- updates.c: the cost of an update ---------------------------------------------------- */

enum update { COUNT, WEIGH, ADD_FLOAT };
static const enum model_op op_of[] = {MODEL_ATOM_ONE, MODEL_ATOM_NATIVE, MODEL_ATOM_LOOP};
static const char *const update_names[] = {"COUNT", "WEIGH", "ADD_FLOAT"};

struct ask { enum update kind; int bin[32]; };

static struct access access_of(const int bin[32], enum model_op op)
{
  struct access a = {.op = op, .width = 4};
  for (int t = 0; t < MODEL_LANES; t++)
    if (bin[t] >= 0) {
      a.mask |= 1u << t;
      a.addr[t] = 4ull * bin[t];
    }
  return a;
}

static int64_t cost_as(const struct ask *k, enum model_op op)
{
  struct access a = access_of(k->bin, op);
  return model_cost(&a).wavefronts;
}

static int64_t want(const void *q)
{
  const struct ask *k = q;
  return cost_as(k, op_of[k->kind]);
}

/* The lanes of the fullest bin, or of the fullest bank. */
static int64_t most_lanes(const struct ask *k, int modulus)
{
  int most = 0;
  for (int t = 0; t < 32; t++) {
    int n = 0;
    for (int u = 0; u < 32; u++)
      n += k->bin[t] >= 0 && k->bin[u] >= 0 && k->bin[t] % modulus == k->bin[u] % modulus;
    if (n > most) most = n;
  }
  return most;
}

static int64_t by_words(const void *q) { return cost_as(q, MODEL_ATOM_ONE); }
static int64_t by_lanes(const void *q) { return cost_as(q, MODEL_ATOM_NATIVE); }

static int64_t of_same_bin(const void *q)
{
  const struct ask *k = q;
  return most_lanes(k, 1 << 20) * (k->kind == ADD_FLOAT ? 3 : 1);
}

static int64_t three_a_round(const void *q)
{
  const struct ask *k = q;
  return k->kind == ADD_FLOAT ? 3 * by_lanes(q) : want(q);
}

/* A loop in which every bin, not every bank, finishes a lane a round. */
static int64_t bins_finish(const void *q)
{
  struct ask k = *(const struct ask *)q;
  if (k.kind != ADD_FLOAT) return want(q);
  int64_t sum = 0, load;
  while ((load = by_words(&k)) > 0) {
    sum += load + 2;
    struct ask before = k;
    for (int t = 0; t < 32; t++) {
      bool first = true;
      for (int u = 0; u < t; u++) first &= before.bin[u] != before.bin[t];
      if (first) k.bin[t] = -1;
    }
  }
  return sum;
}

static int64_t counts_as_weights(const void *q)
{
  return ((const struct ask *)q)->kind == COUNT ? by_lanes(q) : want(q);
}

static const struct idea ideas[] = {
  {three_a_round, "take every round for three wavefronts: three is what a round costs when the "
                  "load needs one, but the load may have a conflict"},
  {bins_finish, "let every bin finish a lane in a round: a bank does, and two bins of one bank "
                "have to take turns"},
  {counts_as_weights, "count lanes where the lanes of a word are added up first"},
  {of_same_bin, "count the lanes of the same bin: what decides is the bank, and other bins are "
                "in it too"},
  {by_words, "cost everything as if equal addresses were added up first: only the constant 1 "
             "with its result unused is"},
  {by_lanes, "give each lane a turn of its own in every kind of update"},
  {0}};

static void call(const void *q, char *text, size_t size)
{
  const struct ask *k = q;
  snprintf(text, size, "cost(%s, bin)", update_names[k->kind]);
}

static void show(struct prose *p, const void *q)
{
  const struct ask *k = q;
  static const char *const names[] = {"red.add.u32.one", "atom.add.u32", "atom.add.f32"};
  prose_add(p, "  bins of lanes 0 to 31:");
  uint32_t mask = 0;
  for (int t = 0; t < 32; t++) {
    prose_add(p, " %d", k->bin[t]);
    if (k->bin[t] >= 0) mask |= 1u << t;
  }
  prose_add(p, "\n  see it: build/banks wavefronts --op %s --width 4", names[k->kind]);
  if (mask != UINT32_MAX) prose_add(p, " --mask %08" PRIx32, mask);
  for (int t = 0; t < 32; t++) prose_add(p, " %d", k->bin[t] >= 0 ? 4 * k->bin[t] : 0);
}

enum { QUESTIONS = 40 };

/* The first ones are chosen, the others drawn: some bins shared, some banks shared. */
static void draw_bins(struct rng *r, int i, bool asleep, struct ask *k)
{
  int hot = (int)rng_below(r, 256), kinds = 1 + (int)rng_below(r, 40);
  int few[40];
  for (int j = 0; j < 40; j++) few[j] = (int)rng_below(r, i % 2 ? 256 : 100);
  for (int t = 0; t < 32; t++) {
    int any = few[rng_below(r, kinds)];
    k->bin[t] = i == 0   ? hot
                : i == 1 ? 32 * t
                : i == 2 ? t
                : i == 3 ? 33 * t
                : i == 4 ? 32 * (t % 2)
                         : any;
    if (asleep && i && i != 5 && rng_below(r, 2 + i / 3 % 3) == 0) k->bin[t] = -1;
    if (asleep && i == 0) k->bin[t] = -1;
    if (asleep && i == 5) k->bin[t] = t == 17 ? hot : -1;
  }
}

#define UPDATES(name, kind_, asleep)                                                             \
  static void make_##name(struct rng *r, struct ask *k)                                          \
  {                                                                                              \
    for (int i = 0; i < QUESTIONS; i++) {                                                        \
      k[i].kind = kind_;                                                                         \
      draw_bins(r, i, asleep, &k[i]);                                                            \
    }                                                                                            \
  }                                                                                              \
  static void plan_##name(struct plan *p, struct rng *r)                                         \
  {                                                                                              \
    struct ask k[QUESTIONS];                                                                     \
    make_##name(r, k);                                                                           \
    plan_updates(p, k);                                                                          \
  }                                                                                              \
  static void judge_##name(struct verdict *v, const struct evidence *e, struct rng *r)           \
  {                                                                                              \
    struct ask k[QUESTIONS];                                                                     \
    make_##name(r, k);                                                                           \
    judge_quiz(v, e, &(struct quiz){k, sizeof *k, QUESTIONS, want, call, show, ideas});          \
  }

static void plan_updates(struct plan *p, const struct ask *k)
{
  for (int i = 0; i < QUESTIONS; i++) {
    char text[512], *end = text;
    for (int t = 0; t < 32; t++) end += sprintf(end, " %d", k[i].bin[t]);
    plan_ask(p, "%d%s", k[i].kind, text);
  }
}

UPDATES(count, COUNT, false)
UPDATES(weigh, WEIGH, false)
UPDATES(float, ADD_FLOAT, false)
UPDATES(asleep, i % 3, true)
#undef UPDATES

static const struct test updates_tests[] = {
  {"count", 1, plan_count, judge_count},
  {"weigh", 1, plan_weigh, judge_weigh},
  {"add float", 1.5, plan_float, judge_float},
  {"sleeping lanes", 1, plan_asleep, judge_asleep},
  {0}
};

static const char updates_header[] =
  "#include <stdbool.h>\n"
  "enum update { COUNT, WEIGH, ADD_FLOAT };\n"
  "int cost(enum update kind, const int bin[32]);\n";

static const char updates_driver[] = SUITE_DRIVER(
  "static void answer(const char *q, FILE *out)\n{\n  int bin[32];\n  char *next;\n"
  "  int kind = (int)strtol(q, &next, 10);\n"
  "  for (int t = 0; t < 32; t++) bin[t] = (int)strtol(next, &next, 10);\n"
  "  fprintf(out, \"%d\", cost((enum update)kind, bin));\n}\n");

/* ---- data ------------------------------------------------------------------------------------ */

enum shape { UNIFORM, SKEWED, ONE_BANK };
enum weights { ONES, INTEGERS, FLOATS };

struct data { int count, bins; enum shape shape; enum weights weights; };

/* SKEWED: nine in ten in one bin.  Float weights are multiples of 1/1024 from 0 to 1. */
struct drawn { int *bin; uint32_t *weight, *before; };

static uint32_t bits_of(float f)
{
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

static float float_of(uint32_t bits)
{
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

static struct drawn draw(struct rng *r, struct data d)
{
  struct drawn n = {malloc(4 * d.count), malloc(4 * d.count), malloc(4 * d.bins)};
  int hot = (int)rng_below(r, d.bins);
  for (int i = 0; i < d.count; i++) {
    int any = (int)rng_below(r, d.bins), turns = d.bins / 32;
    n.bin[i] = d.shape == ONE_BANK                     ? hot % 32 + any % turns * 32
               : d.shape == SKEWED && rng_below(r, 10) ? hot
                                                       : any;
    n.weight[i] = d.weights == FLOATS ? bits_of((float)rng_below(r, 1025) / 1024)
                                      : (uint32_t)rng_between(r, 2, 99);
  }
  for (int b = 0; b < d.bins; b++) {
    uint32_t some = rng_below(r, 50);
    n.before[b] = d.weights == FLOATS ? bits_of((float)some) : some;
  }
  return n;
}

static void free_drawn(struct drawn n)
{
  free(n.bin);
  free(n.weight);
  free(n.before);
}

static void plan_data(struct plan *p, struct rng *r, struct data d, int blocks)
{
  struct drawn n = draw(r, d);
  int bin = plan_buffer(p, d.weights == ONES ? "in" : "bin", BUFFER_IN, n.bin, 4 * d.count);
  int weight = d.weights == ONES
                   ? 0 : plan_buffer(p, "weight", BUFFER_IN, n.weight, 4 * d.count);
  int out = plan_buffer(p, "out", BUFFER_INOUT, n.before, 4 * d.bins);
  uint32_t threads = d.bins == 64 ? 32 : 256;      /* lanes.cu: a block is a warp */
  plan_launch(p, d.weights == ONES ? "histogram" : "weigh", (uint32_t[3]){blocks, 1, 1},
              (uint32_t[3]){threads, 1, 1}, 0);
  plan_arg_buffer(p, bin);
  if (d.weights != ONES) plan_arg_buffer(p, weight);
  plan_arg_buffer(p, out);
  plan_arg_i32(p, d.count);
  free_drawn(n);
}

/* Compares buffer `out`; when `spent` is given, tells what the updates cost by each kind, with
 * warps that take 32 neighbours at a time. */
static bool judge_data(struct verdict *v, const struct evidence *e, struct rng *r, struct data d,
                       int out, uint64_t spent[3])
{
  struct drawn n = draw(r, d);
  double *sums = calloc(d.bins, sizeof *sums);
  int32_t *whole = calloc(d.bins, sizeof *whole);
  for (int b = 0; b < d.bins; b++)
    sums[b] = d.weights == FLOATS ? float_of(n.before[b]) : n.before[b];
  for (int i = 0; i < d.count; i++)
    sums[n.bin[i]] += d.weights == ONES ? 1 : d.weights == INTEGERS ? n.weight[i]
                                                                    : float_of(n.weight[i]);
  for (int b = 0; b < d.bins; b++) whole[b] = (int32_t)sums[b];
  bool good = d.weights == FLOATS ? judge_floats(v, e, out, sums, d.bins, 1, 0)
                                  : judge_ints(v, e, out, whole, d.bins, 1);
  if (!good) verdict_add(v, "  there were %d numbers for %d bins.", d.count, d.bins);
  for (int k = 0; spent && k < 3; k++) {
    spent[k] = 0;
    for (int i = 0; i + 32 <= d.count; i += 32) {
      struct access a = access_of(n.bin + i, op_of[k]);
      spent[k] += model_cost(&a).wavefronts;
    }
  }
  free(whole);
  free(sums);
  free_drawn(n);
  return good;
}

enum { BLOCKS = 4, CASES = 6, COSTS = 2 };

static struct data some(struct rng *r, int i, int bins, enum weights weights)
{
  static const int fixed[] = {1, 31, 33, 256, 1000};
  int count = i < 5 ? fixed[i] : (int)rng_below(r, 2500) + 1;
  return (struct data){count, bins, i % 3, weights};
}

#define ANY_SIZE(name, bins, weights, buffers)                                                   \
  static void plan_##name##_any(struct plan *p, struct rng *r)                                   \
  {                                                                                              \
    for (int i = 0; i < CASES; i++) plan_data(p, r, some(r, i, bins, weights), 1 + i % 3);       \
  }                                                                                              \
  static void judge_##name##_any(struct verdict *v, const struct evidence *e, struct rng *r)     \
  {                                                                                              \
    if (!judge_clean(v, e)) return;                                                              \
    for (int i = 0; i < CASES; i++)                                                              \
      if (!judge_data(v, e, r, some(r, i, bins, weights), buffers * i + buffers - 1, NULL))      \
        return;                                                                                  \
    verdict_pass(v, "%d counts of numbers, three kinds of data", CASES);                         \
  }
ANY_SIZE(counts, 256, ONES, 2)
ANY_SIZE(weights, 256, INTEGERS, 3)
ANY_SIZE(floats, 256, FLOATS, 3)
ANY_SIZE(lanes, 64, FLOATS, 3)
#undef ANY_SIZE

static const struct data counts_uniform = {4096, 256, UNIFORM, ONES};
static const struct data weights_uniform = {4096, 256, UNIFORM, INTEGERS};

static void plan_counts_uniform(struct plan *p, struct rng *r)
{
  plan_data(p, r, counts_uniform, BLOCKS);
}

static void plan_weights_uniform(struct plan *p, struct rng *r)
{
  plan_data(p, r, weights_uniform, BLOCKS);
}

/* Data whose cost is counted: some numbers of whole warps, then several times as many.  Nobody
 * knows how many. */
static struct data drawn_data(struct rng *r, int i, struct data d)
{
  d.count = i == 0 ? each_multiple(r, 32, 64, 128) : each_multiple(r, 32, 300, 400);
  return d;
}

#define DATA(name, bins, shape, weights)                                                         \
  static const struct data name = {0, bins, shape, weights};                                     \
  static void data_##name(struct plan *p, struct rng *r, int i)                                  \
  {                                                                                              \
    plan_data(p, r, drawn_data(r, i, name), BLOCKS);                                             \
  }
DATA(counts_skewed, 256, SKEWED, ONES)
DATA(weights_skewed, 256, SKEWED, INTEGERS)
DATA(floats_uniform, 256, UNIFORM, FLOATS)
DATA(floats_skewed, 256, SKEWED, FLOATS)
DATA(lanes_uniform, 64, UNIFORM, FLOATS)
DATA(lanes_skewed, 64, SKEWED, FLOATS)
DATA(lanes_bank, 64, ONE_BANK, FLOATS)
#undef DATA

/* ---- privatised.cu ------------------------------------------------------------------------- */

static void judge_counts_uniform(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_data(v, e, r, counts_uniform, 1, NULL))
    verdict_pass(v, "4,096 numbers in 4 blocks");
}

/* Eight warps of four blocks add 32 sums each. */
static void one_global(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  struct data d = drawn_data(r, i, counts_skewed);
  if (!judge_data(v, e, r, d, 1, NULL)) return;
  double requests = (double)e->launches[0].totals.global_atomic.requests;
  double full = BLOCKS * 8 + 8, none = d.count / 32;
  if (requests <= full) {
    verdict_pass(v, "%.0f atomics of a warp in global memory for %d numbers", requests, d.count);
    return;
  }
  verdict_partial(v, requests < none ? (none - requests) / (none - full) : 0,
                  "%s: warps sent %.0f atomics to global memory for %d numbers in %d blocks; %.0f "
                  "or fewer give full points, %.0f or more give none", e->file, requests, d.count,
                  BLOCKS, full, none);
}

/* What every block spends besides its updates: 256 bins cleared and read back, and some room. */
enum { FIXED = 32 };

static void one_counts_spent(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  uint64_t spent[3];
  char work[60];
  struct data d = drawn_data(r, i, counts_skewed);
  snprintf(work, sizeof work, "%d numbers, nine in ten of them equal", d.count);
  if (!judge_data(v, e, r, d, 1, spent)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, d.count / 32,
                                        spent[COUNT] * 1.05 + BLOCKS * FIXED, spent[WEIGH] * 0.8,
                                        work});
}

EACH_TEST(global, COSTS, 2, data_counts_skewed, one_global)
EACH_TEST(counts_spent, COSTS, 2, data_counts_skewed, one_counts_spent)

static void bench_privatised(struct plan *p, struct rng *r, int size)
{
  plan_data(p, r, (struct data){1 << (18 + 2 * size), 256, SKEWED, ONES}, 528);
}

static const struct test privatised_tests[] = {
  {"uniform", 0.5, plan_counts_uniform, judge_counts_uniform},
  {"any size", 0.5, plan_counts_any, judge_counts_any},
  {"few global updates", 1.5, plan_global, judge_global},
  {"few wavefronts", 1.5, plan_counts_spent, judge_counts_spent},
  {0}
};

/* ---- weighted.cu ----------------------------------------------------------------------------- */

static void judge_weights_uniform(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_data(v, e, r, weights_uniform, 2, NULL))
    verdict_pass(v, "4,096 weights in 4 blocks");
}

/* Full when an update costs what counting does, none when it costs more than half of rule 5. */
static void one_weights_spent(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  uint64_t spent[3];
  char work[60];
  struct data d = drawn_data(r, i, weights_skewed);
  snprintf(work, sizeof work, "%d weights, nine in ten for one bin", d.count);
  if (!judge_data(v, e, r, d, 2, spent)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, d.count / 32,
                                        spent[COUNT] * 1.1 + BLOCKS * FIXED, spent[WEIGH] * 0.6,
                                        work});
}

EACH_TEST(weights_spent, COSTS, 3, data_weights_skewed, one_weights_spent)

static void bench_weighted(struct plan *p, struct rng *r, int size)
{
  plan_data(p, r, (struct data){1 << (18 + 2 * size), 256, SKEWED, INTEGERS}, 528);
}

static const struct test weighted_tests[] = {
  {"uniform", 0.5, plan_weights_uniform, judge_weights_uniform},
  {"any size", 0.5, plan_weights_any, judge_weights_any},
  {"few wavefronts", 3.5, plan_weights_spent, judge_weights_spent},
  {0}
};

/* ---- floats.cu ------------------------------------------------------------------------------- */

static void judge_floats_spent(struct verdict *v, const struct evidence *e, struct rng *r,
                               struct data d, const char *data)
{
  uint64_t spent[3];
  char work[60];
  snprintf(work, sizeof work, "%d weights %s", d.count, data);
  if (!judge_data(v, e, r, d, 2, spent)) return;
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, d.count / 32,
                                        spent[WEIGH] * 1.05 + BLOCKS * FIXED,
                                        spent[ADD_FLOAT] * 0.8, work});
}

static void one_floats_uniform(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  judge_floats_spent(v, e, r, drawn_data(r, i, floats_uniform), "over 256 bins");
}

static void one_floats_skewed(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  judge_floats_spent(v, e, r, drawn_data(r, i, floats_skewed), "nine in ten for one bin");
}

EACH_TEST(floats_uniform, COSTS, 3, data_floats_uniform, one_floats_uniform)
EACH_TEST(floats_skewed, COSTS, 3, data_floats_skewed, one_floats_skewed)

static void bench_floats(struct plan *p, struct rng *r, int size)
{
  plan_data(p, r, (struct data){1 << (18 + 2 * size), 256, UNIFORM, FLOATS}, 528);
}

static const struct test floats_tests[] = {
  {"any size", 0.5, plan_floats_any, judge_floats_any},
  {"uniform data", 1, plan_floats_uniform, judge_floats_uniform},
  {"skewed data", 2, plan_floats_skewed, judge_floats_skewed},
  {0}
};

/* ---- lanes.cu -------------------------------------------------------------------------------- */

/* A read and a write for 32 weights, 64 wavefronts to clear the columns of a block and 64 to read
 * them back; the same for any data. */
static void judge_lanes(struct verdict *v, const struct evidence *e, struct rng *r, struct data d,
                        const char *data)
{
  char work[60];
  snprintf(work, sizeof work, "%d weights %s", d.count, data);
  if (!judge_data(v, e, r, d, 2, NULL)) return;
  double enough = 2 * (d.count / 32) + BLOCKS * (64 + 64);
  judge_budget(v, e, 0, (struct budget){COUNT_ALL, d.count / 32, enough * 1.1, enough * 2, work});
}

static void one_lanes_uniform(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  judge_lanes(v, e, r, drawn_data(r, i, lanes_uniform), "over 64 bins");
}

static void one_lanes_skewed(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  judge_lanes(v, e, r, drawn_data(r, i, lanes_skewed), "nine in ten for one bin");
}

static void one_lanes_bank(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  judge_lanes(v, e, r, drawn_data(r, i, lanes_bank), "for two bins of one bank");
}

EACH_TEST(lanes_uniform, COSTS, 3, data_lanes_uniform, one_lanes_uniform)
EACH_TEST(lanes_skewed, COSTS, 3, data_lanes_skewed, one_lanes_skewed)
EACH_TEST(lanes_bank, COSTS, 3, data_lanes_bank, one_lanes_bank)

static void bench_lanes(struct plan *p, struct rng *r, int size)
{
  plan_data(p, r, (struct data){1 << (18 + 2 * size), 64, SKEWED, FLOATS}, 1056);
}

static const struct test lanes_tests[] = {
  {"any size", 0.5, plan_lanes_any, judge_lanes_any},
  {"uniform data", 1.5, plan_lanes_uniform, judge_lanes_uniform},
  {"skewed data", 1.5, plan_lanes_skewed, judge_lanes_skewed},
  {"one bank", 1, plan_lanes_bank, judge_lanes_bank},
  {0}
};

/* ---- predictions.txt ------------------------------------------------------------------------- */

static uint32_t cost_of(enum model_op op, int step)
{
  int bin[32];
  for (int t = 0; t < 32; t++) bin[t] = step ? step * t : 7;
  struct access a = access_of(bin, op);
  return model_cost(&a).wavefronts;
}

static const char *const prediction_names[] = {
  "same_one", "same_used", "same_weight", "same_float", "bank_one", "bank_weight", "column_weight",
  "column_bytes", "column_blocks", "direct_requests", "flush_requests", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
#define TRY(op, expr) "try: build/banks wavefronts --op " op " --width 4 --expr '" expr "'"
  struct prediction rows[] = {
    {"same_one", cost_of(MODEL_ATOM_ONE, 0), TRY("red.add.u32.one", "28")},
    {"same_used", cost_of(MODEL_ATOM_NATIVE, 0), TRY("atom.add.u32", "28")},
    {"same_weight", cost_of(MODEL_ATOM_NATIVE, 0), TRY("red.add.u32", "28")},
    {"same_float", cost_of(MODEL_ATOM_LOOP, 0), TRY("atom.add.f32", "28")},
    {"bank_one", cost_of(MODEL_ATOM_ONE, 32), TRY("red.add.u32.one", "128*t")},
    {"bank_weight", cost_of(MODEL_ATOM_NATIVE, 32), TRY("red.add.u32", "128*t")},
    {"column_weight", cost_of(MODEL_ATOM_NATIVE, 33), "which bank is h[b][t] in, whatever b is?"},
    {"column_bytes", sizeof(int[256][32]), "256 bins of 32 ints"},
    {"column_blocks", model_resident_blocks(sizeof(int[256][32]), 233472, 1024),
     "as in chapter 04: whole blocks of array and reserve"},
    {"direct_requests", 256 / 32, "a request is a warp's"},
    {"flush_requests", 256 / 32, "256 sums are added by 256 threads"},
  };
#undef TRY
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

static const struct test predict_tests[] = {
  {"predictions", 3, NULL, judge_predict},
  {0}
};

/* ---- the table ------------------------------------------------------------------------------- */

static const struct exercise exercises[] = {
  {.id = "10-histograms/predictions", .title = "Predict: contention is not conflict",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .tests = predict_tests,
   .names = prediction_names,
   .hints = (const char *const[]){
     "First the kind of update: the constant 1 with an unused result, another integer, or a "
     "float.  Then who shares a word, and who a bank.",
     "Where lanes of a word are not added up first, each lane needs its own turn in its bank.  A "
     "float round costs the load and 2 more.",
     "Ask: build/banks wavefronts --op red.add.u32.one --width 4 --expr '28', and the same with "
     "atom.add.u32 and atom.add.f32.  A block of 256 threads has eight warps.",
     NULL}},
  {.id = "10-histograms/updates", .title = "What an update costs",
   .kind = EXERCISE_NATIVE, .file = "updates.c", .read = READ, .tests = updates_tests,
   .header = updates_header, .driver = updates_driver,
   .hints = (const char *const[]){
     "COUNT is the rule of chapter 01: different bins in the fullest bank.  WEIGH counts lanes "
     "instead.",
     "Keep a mask of the lanes that still wait.  For ADD_FLOAT repeat: add words(bin, waiting) + "
     "2; then go through the lanes from 0 up, and finish a waiting lane if its bank has finished "
     "none in this round.",
     "unsigned busy = 0, done = 0; for each waiting lane t, lowest first: if bit bin[t] % 32 of "
     "busy is clear, set it, and set bit t of done.  After the round waiting &= ~done.",
     NULL}},
  {.id = "10-histograms/privatised", .title = "Count in shared memory",
   .kind = EXERCISE_KERNEL, .file = "privatised.cu", .read = READ, .tests = privatised_tests,
   .bench = bench_privatised,
   .hints = (const char *const[]){
     "Each block needs 256 counters of its own.  What has to happen before the first count, and "
     "what before the counts are read?",
     "Clear, barrier, count, barrier, add to out.  Keep the constant 1, and do not use what "
     "atomicAdd returns.",
     "__shared__ int bins[256]; bins[threadIdx.x] = 0; __syncthreads(); the loop with "
     "atomicAdd(&bins[in[i]], 1); __syncthreads(); atomicAdd(&out[threadIdx.x], "
     "bins[threadIdx.x]);",
     NULL}},
  {.id = "10-histograms/weighted", .title = "Weights: add up before you send",
   .kind = EXERCISE_KERNEL, .file = "weighted.cu", .read = READ, .tests = weighted_tests,
   .bench = bench_weighted,
   .hints = (const char *const[]){
     "The cost is the lanes in the fullest bank.  When 29 lanes hold the same bin, one of them "
     "could speak for all.",
     "__match_any_sync tells a lane who holds its bin, __reduce_add_sync adds up their weights, "
     "and the lowest of them sends the sum.  Let the 32 lanes of a warp go round the loop "
     "together, and take __ballot_sync(0xffffffff, i < count) for the mask of those that have a "
     "number.",
     "unsigned same = __match_any_sync(here, bin[i]); int all = __reduce_add_sync(same, "
     "weight[i]); if (lane == __ffs(same) - 1) atomicAdd(&bins[bin[i]], all); with `here` from "
     "the ballot, and all of it inside if (i < count).",
     NULL}},
  {.id = "10-histograms/floats", .title = "Floats loop: count in fixed point",
   .kind = EXERCISE_KERNEL, .file = "floats.cu", .read = READ, .tests = floats_tests,
   .bench = bench_floats,
   .hints = (const char *const[]){
     "weight * 1024 is a whole number, without rounding.",
     "Let the bins be ints in units of 1/1024.  Divide once, at the end, and in float.",
     "__shared__ int bins[256]; atomicAdd(&bins[bin[i]], (int)(weight[i] * 1024.0f)); and at the "
     "end atomicAdd(&out[t], bins[t] / 1024.0f);",
     NULL}},
  {.id = "10-histograms/lanes", .title = "One column of bins a lane",
   .kind = EXERCISE_KERNEL, .file = "lanes.cu", .read = READ, .tests = lanes_tests,
   .bench = bench_lanes,
   .hints = (const char *const[]){
     "Lane t has to stay in bank t.  Which index has to come last in a two-dimensional array?",
     "float bins[64][32]: bin b of lane t is word 32 * b + t.  Each lane clears its own column.  "
     "At the end lane t adds up bin t, then bin t + 32; if all lanes begin at column 0, where do "
     "they meet?",
     "bins[bin[i]][lane] += weight[i]; __syncwarp(); then for b = lane and lane + 32: for k = 0 "
     "to 31, all += bins[b][(lane + k) % 32]; atomicAdd(&out[b], all);",
     NULL}},
  {0}
};

const struct suite suite_ch10 = {"10-histograms", exercises};
