/* Chapter 03: strides.  What a stride costs, the stride seen in addresses, and a kernel whose
 * lanes walk 32 words apart until the order of their work changes. */
#include <stdio.h>
#include <stdlib.h>

#include "model/model.h"
#include "suites/each.h"
#include "suites/moves.h"

#define READ "chapters/03-strides.md"

/* ---- strides.c -------------------------------------------------------------------------- */

static int large_stride(struct rng *r, int i)
{
  return (int)(rng_below(r, 100000) + 1) * 4 - i % 4;
}

static void plan_degree(struct plan *p, struct rng *r)
{
  for (int s = 1; s <= 64; s++) plan_ask(p, "degree %d", s);
  for (int i = 0; i < 32; i++) plan_ask(p, "degree %d", large_stride(r, i));
}

static void judge_degree(struct verdict *v, const struct evidence *e, struct rng *r)
{
  size_t n = 0;
  for (int s = 1; s <= 64; s++, n++)
    if (!judge_answer_int(v, e, n, model_stride_degree(s), "degree(%d)", s)) return;
  for (int i = 0; i < 32; i++, n++) {
    int s = large_stride(r, i);
    if (!judge_answer_int(v, e, n, model_stride_degree(s), "degree(%d)", s)) return;
  }
  verdict_pass(v, "%zu strides above 0", n);
}

static void plan_below(struct plan *p, struct rng *r)
{
  (void)r;
  for (int s = 0; s >= -64; s--) plan_ask(p, "degree %d", s);
}

static void judge_below(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  for (int s = 0; s >= -64; s--) {
    if (judge_answer_int(v, e, -s, model_stride_degree(-s), "degree(%d)", s)) continue;
    if (s == 0)
      verdict_add(v, "  With stride 0 all lanes read one word.  What does one word cost?");
    else
      verdict_add(v, "  A falling stride meets the same banks as the rising one.");
    return;
  }
  verdict_pass(v, "0 and 64 negative strides");
}

static int draw_line(struct rng *r, int i, int address[32])
{
  static const int strides[] = {4, 128, 132, 0, -4, 8, -128, 1, 2, 136, -132, 16};
  int count = sizeof strides / sizeof *strides;
  int stride = i < count ? strides[i] : rng_between(r, -4000, 4000);
  int first = rng_between(r, 130000, 260000);
  for (int t = 0; t < 32; t++) address[t] = first + t * stride;
  return stride;
}

/* Not a line, or every fourth one: lane i alone lies off it, for each of the 32 lanes; then all
 * lanes from 1, 2, ... 31 on, so that one step alone is another.  Returns what to tell, NULL for a
 * line. */
enum { ALONE = 32, STEPS = 31, NONE = ALONE + STEPS + (ALONE + STEPS) / 3 };

static const char *draw_broken(struct rng *r, int i, int address[32], int *lane)
{
  draw_line(r, i % 40, address);
  int off = rng_between(r, 1, 64) * (rng_below(r, 2) ? 4 : -4), which = i / 4 * 3 + i % 4;
  if (i % 4 == 3) return NULL;
  *lane = which < ALONE ? which : which - ALONE + 1;
  for (int t = *lane; t < (which < ALONE ? *lane + 1 : 32); t++) address[t] += off;
  return which < ALONE ? "is off the line: every lane has to be looked at"
                       : "is where the step is another one: every step has to be looked at";
}

static void ask_addresses(struct plan *p, const char *what, const int a[32])
{
  char text[32 * 12], *end = text;
  for (int t = 0; t < MODEL_LANES; t++) end += sprintf(end, " %d", a[t]);
  plan_ask(p, "%s%s", what, text);
}

enum { SETS = 24 };

static void plan_constant(struct plan *p, struct rng *r)
{
  for (int i = 0, a[32]; i < SETS; i++) {
    draw_line(r, i, a);
    ask_addresses(p, "found", a);
    ask_addresses(p, "stride", a);
  }
}

static void judge_constant(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0, a[32]; i < SETS; i++) {
    int stride = draw_line(r, i, a);
    if (!judge_answer_int(v, e, 2 * i, 1, "find_stride() of %d, %d, %d, ... %d", a[0], a[1], a[2],
                          a[31])) {
      verdict_add(v, "  Every lane lies %d bytes after the one before it.", stride);
      return;
    }
    if (!judge_answer_int(v, e, 2 * i + 1, stride, "*stride for %d, %d, %d, ... %d", a[0], a[1],
                          a[2], a[31])) {
      verdict_add(v, "  The stride is in bytes, with its sign.");
      return;
    }
  }
  verdict_pass(v, "%d sets of addresses", SETS);
}

/* One set in four is constant, so that "never" is no answer. */
static void plan_none(struct plan *p, struct rng *r)
{
  for (int i = 0, a[32], lane; i < NONE; i++) {
    draw_broken(r, i, a, &lane);
    ask_addresses(p, "found", a);
  }
}

static void judge_none(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0, a[32], lane = 0; i < NONE; i++) {
    const char *why = draw_broken(r, i, a, &lane);
    if (judge_answer_int(v, e, i, why == NULL, "find_stride() of %d, %d, %d, ... %d", a[0], a[1],
                         a[2], a[31]))
      continue;
    if (why) verdict_add(v, "  Lane %d %s.", lane, why);
    return;
  }
  verdict_pass(v, "%d sets of addresses", NONE);
}

static const struct test strides_tests[] = {
  {"degree", 2, plan_degree, judge_degree},
  {"zero and below", 1, plan_below, judge_below},
  {"constant stride", 1, plan_constant, judge_constant},
  {"no constant stride", 1, plan_none, judge_none},
  {0}
};

/* ---- predictions.txt -------------------------------------------------------------------- */

static uint32_t banks_of_stride(uint32_t words)
{
  struct access a = {.op = MODEL_LOAD, .width = 4, .mask = UINT32_MAX};
  uint32_t lanes[MODEL_BANKS], banks = 0;
  for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = 4ull * words * t;
  model_bank_lanes(&a, lanes);
  for (int b = 0; b < MODEL_BANKS; b++) banks += lanes[b] != 0;
  return banks;
}

/* Steps until 0, step, 2 * step ... comes back to 0 modulo `modulus`. */
static uint32_t period(uint32_t modulus, uint32_t step)
{
  uint32_t n = 1;
  for (uint32_t at = step % modulus; at != 0; at = (at + step) % modulus) n++;
  return n;
}

static const char *const prediction_names[] = {
  "stride_3", "stride_12", "stride_31", "stride_48", "stride_64", "stride_0",
  "banks_12", "eight_lanes", "period_6", "period_5", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
#define TRY(n) "try: build/banks wavefronts --op load --width 4 --stride " #n
  struct prediction rows[] = {
    {"stride_3", judge_stride_cost(3, 32, 4), TRY(3)},
    {"stride_12", judge_stride_cost(12, 32, 4), TRY(12)},
    {"stride_31", judge_stride_cost(31, 32, 4), TRY(31)},
    {"stride_48", judge_stride_cost(48, 32, 4), TRY(48)},
    {"stride_64", judge_stride_cost(64, 32, 4), TRY(64)},
    {"stride_0", judge_stride_cost(0, 32, 4), TRY(0)},
    {"banks_12", banks_of_stride(12), "how many banks does the picture of stride 12 use?"},
    {"eight_lanes", judge_stride_cost(32, 8, 4), "a lane that takes no part asks for no word"},
    {"period_6", period(8, 6), "try: make lab, modulus 8, step 6"},
    {"period_5", period(8, 5), "try: make lab, modulus 8, step 5"},
  };
#undef TRY
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

static const struct test predict_tests[] = {
  {"predictions", 3, NULL, judge_predict},
  {0}
};

/* ---- reorder.cu ------------------------------------------------------------------------- */

struct runs { int runs, length; };

static uint32_t *draw_runs(struct rng *r, struct runs c)
{
  size_t count = (size_t)c.runs * c.length;
  uint32_t *in = malloc(count * 4);
  for (size_t i = 0; i < count; i++) in[i] = (uint32_t)rng_next(r);
  return in;
}

static void plan_runs(struct plan *p, struct rng *r, struct runs c)
{
  uint32_t *data = draw_runs(r, c);
  int in = plan_buffer(p, "in", BUFFER_IN, data, (size_t)c.runs * c.length * 4);
  int out = plan_buffer(p, "out", BUFFER_OUT, NULL, (size_t)c.runs * 4);
  plan_launch(p, "run_sums", (uint32_t[3]){(c.runs + 63) / 64, 1, 1}, (uint32_t[3]){64, 1, 1},
              64 * c.length * 4);
  plan_arg_buffer(p, in);
  plan_arg_buffer(p, out);
  plan_arg_i32(p, c.runs);
  plan_arg_i32(p, c.length);
  free(data);
}

static bool judge_runs(struct verdict *v, const struct evidence *e, struct rng *r, struct runs c,
                       int out)
{
  uint32_t *in = draw_runs(r, c);
  int32_t *want = malloc((size_t)c.runs * 4);
  for (int i = 0; i < c.runs; i++) {
    uint32_t sum = 0;                    /* ints wrap around, so any order gives these bits */
    for (int k = 0; k < c.length; k++) sum += in[i * c.length + k];
    want[i] = (int32_t)sum;
  }
  bool good = judge_ints(v, e, out, want, c.runs, c.runs);
  if (!good) verdict_add(v, "  These were %d runs of %d elements.", c.runs, c.length);
  free(want);
  free(in);
  return good;
}

static const struct runs block_case = {64, 32};

static void plan_block(struct plan *p, struct rng *r) { plan_runs(p, r, block_case); }

static void judge_block(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_runs(v, e, r, block_case, 1)) verdict_pass(v, "64 runs of 32");
}

enum { SIZES = 6 };

static struct runs size_case(struct rng *r, int i)
{
  static const struct runs fixed[] = {{1, 32}, {33, 32}, {65, 96}, {100, 64}};
  if (i < 4) return fixed[i];
  return (struct runs){(int)rng_below(r, 150) + 1, 32 * ((int)rng_below(r, 4) + 1)};
}

static void plan_sizes(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_runs(p, r, size_case(r, i));
}

static void judge_sizes(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!judge_runs(v, e, r, size_case(r, i), 2 * i + 1)) return;
  verdict_pass(v, "%d sizes", SIZES);
}

enum { COSTS = 3 };

/* Full blocks, blocks that are not, and a longer run: never the same sizes twice. */
static struct runs cost_case(struct rng *r, int i)
{
  int runs = i == 1 ? each_ragged(r, 32, 1, 4) : each_multiple(r, 64, 1, 3);
  return (struct runs){runs, each_multiple(r, 32, 1 + i / 2, 4)};
}

static void plan_cost_case(struct plan *p, struct rng *r, int i)
{
  plan_runs(p, r, cost_case(r, i));
}

static void bench_runs(struct plan *p, struct rng *r, int size)
{
  plan_runs(p, r, (struct runs){1 << (14 + 2 * size), 64});
}

static void judge_coalesced_case(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  struct runs c = cost_case(r, i);
  if (!judge_runs(v, e, r, c, 1)) return;
  if (moves_sectors(v, e, MOVES_READS, (uint64_t)c.runs * c.length) == 1 &&
      moves_sectors(v, e, MOVES_WRITES, (uint64_t)(c.runs + 7) / 8 * 8) == 1)
    verdict_pass(v, "4 sectors a request");
}

/* A warp of fewer than 32 runs costs as much as a full one. */
static void judge_cost_case(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  struct runs c = cost_case(r, i);
  uint64_t words = (uint64_t)c.runs * c.length, reads = (uint64_t)(c.runs + 31) / 32 * 32 * c.length;
  if (!judge_runs(v, e, r, c, 1)) return;
  if (moves_wavefronts(v, e, MOVES_WRITES, words, 2) == 1 &&
      moves_cost(v, e, MOVES_READS, words, reads, 1, 4) == 1)
    verdict_pass(v, "one wavefront for every 32 words, in and out");
  else
    verdict_add(v, "  These were %d runs of %d elements.", c.runs, c.length);
}

EACH_TEST(coalesced, COSTS, 2, plan_cost_case, judge_coalesced_case)
EACH_TEST(cost, COSTS, 2, plan_cost_case, judge_cost_case)

static const struct test reorder_tests[] = {
  {"one block", 0.5, plan_block, judge_block},
  {"any size", 1, plan_sizes, judge_sizes},
  {"coalesced", 0.5, plan_coalesced, judge_coalesced},
  {"conflict free", 6, plan_cost, judge_cost},
  {0}
};

/* ---- the table -------------------------------------------------------------------------- */

static const char *const strides_hints[] = {
  "Only one number matters: how many different banks the 32 lanes meet.  32 lanes over that many "
  "banks is the cost.  Write the banks of stride 12 down until they repeat.",
  "The banks of stride s repeat after 32 / gcd(s, 32) lanes.  gcd(s, 32) can only be 1, 2, 4, 8, "
  "16 or 32.  One stride is an exception: when all lanes read the same word there is no conflict.",
  "degree: return 1 for stride 0; else start with d = 1 and double it while d < 32 and "
  "stride % (2 * d) == 0.  find_stride: take address[1] - address[0], then compare it with "
  "address[t] - address[t - 1] for every t from 2 to 31.",
  NULL
};

static const char *const predict_hints[] = {
  "Write the banks of the first few lanes: 0, s, 2s, ... modulo 32.  When do they come back to 0?",
  "Cost of a full warp: gcd(s, 32), except for stride 0.  Banks used: 32 / gcd(s, 32).  A period "
  "modulo 8 is 8 / gcd(step, 8).",
  "Let the program tell you: `build/banks wavefronts --op load --width 4 --stride 12`, and "
  "`make lab`.  For the eight lanes count the words that meet in one bank.",
  NULL
};

static const char *const reorder_hints[] = {
  "At step k lane t reads word t * length + k.  length is a multiple of 32.  In which bank is "
  "that?  Now let the lanes be at different places of their runs.",
  "A sum of ints has the same value in any order.  So lane t need not begin at element 0 of its "
  "run.  If it begins at element t, the banks of a warp are t, t + 1, ... all different.",
  "Begin with `int at = thread % 32;` and, `length` times, do: sum += run[at]; then move `at` on "
  "by one, back to 0 when it reaches length.",
  NULL
};

static const char strides_header[] =
  "int degree(int stride);\n"
  "int find_stride(const int address[32], int *stride);\n";

static const char strides_driver[] = SUITE_DRIVER(
  "static void answer(const char *q, FILE *out)\n{\n"
  "  int s, a[32], n = 0, skip;\n  char what[16];\n"
  "  if (sscanf(q, \"degree %d\", &s) == 1) { fprintf(out, \"%d\", degree(s)); return; }\n"
  "  if (sscanf(q, \"%15s%n\", what, &skip) != 1) return;\n"
  "  for (q += skip; n < 32 && sscanf(q, \"%d%n\", &a[n], &skip) == 1; n++) q += skip;\n"
  "  if (n < 32) return;\n"
  "  int stride = -99999, found = find_stride(a, &stride);\n"
  "  fprintf(out, \"%d\", what[0] == 'f' ? found != 0 : stride);\n}\n");

static const struct exercise exercises[] = {
  {.id = "03-strides/strides", .title = "What a stride costs, and the stride in 32 addresses",
   .kind = EXERCISE_NATIVE, .file = "strides.c", .read = READ, .hints = strides_hints,
   .tests = strides_tests, .driver = strides_driver, .header = strides_header},
  {.id = "03-strides/predictions", .title = "Predict: strides and periods",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .hints = predict_hints,
   .tests = predict_tests, .names = prediction_names},
  {.id = "03-strides/reorder", .title = "The same data, read in another order",
   .kind = EXERCISE_KERNEL, .file = "reorder.cu", .read = READ, .hints = reorder_hints,
   .tests = reorder_tests, .bench = bench_runs},
  {0}
};

const struct suite suite_ch03 = {"03-strides", exercises};
