/* Chapter 11's tokens: a slot for each (place.cu), and their rows back again (combine.cu). */
#include <math.h>
#include <stdlib.h>

#include "suites/ch11.h"
#include "suites/each.h"

/* ---- sectors: the data, and the index lists beside it ----------------------------------- */

double ch11_sectors(struct verdict *v, const struct evidence *e, enum model_op op, uint64_t best)
{
  const struct sim_result *l = &e->launches[0];
  const struct sim_site *worst = NULL;
  uint64_t count = 0;
  for (size_t i = 0; i < l->nsites; i++) {
    const struct sim_site *s = &l->sites[i];
    if (s->op != op) continue;
    count += s->sectors;
    if (!worst || s->sectors > worst->sectors) worst = s;
  }
  double share = (3 - (double)count / (double)best) / (3 - 1.3);
  if (share >= 1) return 1;
  if (share < 0) share = 0;
  verdict_partial(v, share, "%s: %s touch %llu sectors of global memory, and %llu would do",
                  e->file, op == MODEL_GLOBAL_LOAD ? "reads" : "writes",
                  (unsigned long long)count, (unsigned long long)best);
  char source[200];
  if (worst && judge_own_file(e, worst->file) &&
      judge_source(e, worst->line, source, sizeof source)) {
    verdict_add(v, "%s:%u: %.1f sectors per request", e->file, worst->line,
                (double)worst->sectors / (double)worst->requests);
    verdict_add(v, "  %5u | %s", worst->line, source);
  }
  verdict_add(v, "  let the lanes of a warp take neighbours in one row");
  return share;
}

/* ---- place.cu --------------------------------------------------------------------------- */

struct tokens { int tokens, experts, capacity; enum { ANY, VALID, HOT } kind; };

static void draw_experts(struct rng *r, struct tokens c, int *expert)
{
  for (int i = 0; i < c.tokens; i++) {
    int skewed = (int)rng_below(r, 3) ? (int)rng_below(r, (uint32_t)c.experts) : 0;
    int other = rng_below(r, 2) ? c.experts + (int)rng_below(r, 3) : -1 - (int)rng_below(r, 40);
    bool bad = rng_below(r, 8) == 0;
    expert[i] = c.kind == HOT ? c.experts / 2 : c.kind == ANY && bad ? other : skewed;
  }
}

static void plan_place(struct plan *p, struct rng *r, struct tokens c)
{
  int *expert = calloc((size_t)c.tokens + 1, sizeof *expert);
  size_t bytes = 4 * (size_t)(c.tokens ? c.tokens : 1);       /* no tokens: still a buffer */
  draw_experts(r, c, expert);
  int in = plan_buffer(p, "expert", BUFFER_IN, expert, bytes);
  int position = plan_buffer(p, "position", BUFFER_OUT, NULL, bytes);
  int start = plan_buffer(p, "start", BUFFER_OUT, NULL, 4 * ((size_t)c.experts + 1));
  plan_launch(p, "place", (uint32_t[3]){1, 1, 1}, (uint32_t[3]){256, 1, 1}, 0);
  plan_arg_buffer(p, in);
  plan_arg_buffer(p, position);
  plan_arg_buffer(p, start);
  plan_arg_i32(p, c.tokens);
  plan_arg_i32(p, c.experts);
  plan_arg_i32(p, c.capacity);
  free(expert);
}

enum { START = 1, POSITION = 2 };

static bool judge_place(struct verdict *v, const struct evidence *e, struct rng *r,
                        struct tokens c, int launch, int what)
{
  int *expert = calloc((size_t)c.tokens + 1, sizeof *expert);
  int32_t *position = calloc((size_t)c.tokens + 1, sizeof *position);
  int32_t start[33] = {0}, seen[32] = {0};
  draw_experts(r, c, expert);
  for (int i = 0; i < c.tokens; i++)
    if (expert[i] >= 0 && expert[i] < c.experts) seen[expert[i]]++;
  for (int x = 0; x < c.experts; x++) {
    start[x + 1] = start[x] + (seen[x] < c.capacity ? seen[x] : c.capacity);
    seen[x] = 0;
  }
  for (int i = 0; i < c.tokens; i++) {
    int x = expert[i];
    bool valid = x >= 0 && x < c.experts;
    position[i] = valid && seen[x] < c.capacity ? start[x] + seen[x] : -1;
    if (valid) seen[x]++;
  }
  bool good = true;
  if (what & START) good = judge_ints(v, e, 3 * launch + 2, start, c.experts + 1, c.experts + 1);
  if (good && (what & POSITION) && c.tokens)
    good = judge_ints(v, e, 3 * launch + 1, position, c.tokens, c.tokens);
  if (!good)
    verdict_add(v, "  These were %d tokens for %d experts with a capacity of %d.", c.tokens,
                c.experts, c.capacity);
  free(expert);
  free(position);
  return good;
}

enum { CASES = 6 };

static struct tokens case_of(struct rng *r, int i, bool drops)
{
  static const struct tokens fixed[] = {
    {8, 4, 0, VALID}, {1, 1, 0, VALID}, {256, 32, 0, VALID}, {300, 7, 0, VALID}, {0, 3, 0, VALID},
  };
  struct tokens c = i < 5 ? fixed[i] : (struct tokens){(int)rng_below(r, 1000) + 40,
                                                       (int)rng_below(r, 32) + 1, 0, VALID};
  c.capacity = drops ? c.tokens / (c.experts + 1) : 100000;
  if (drops) c.kind = ANY;
  return c;
}

static void plan_cases(struct plan *p, struct rng *r, bool drops)
{
  for (int i = 0; i < CASES; i++) plan_place(p, r, case_of(r, i, drops));
}

static void judge_cases(struct verdict *v, const struct evidence *e, struct rng *r, bool drops,
                        int what)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < CASES; i++)
    if (!judge_place(v, e, r, case_of(r, i, drops), i, what)) return;
  verdict_pass(v, "%d lists of tokens", CASES);
}

static void plan_fits(struct plan *p, struct rng *r) { plan_cases(p, r, false); }
static void plan_drops(struct plan *p, struct rng *r) { plan_cases(p, r, true); }

static void judge_start(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_cases(v, e, r, false, START);
}

static void judge_positions(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_cases(v, e, r, false, START | POSITION);
}

static void judge_drops(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_cases(v, e, r, true, START | POSITION);
}

enum { COSTS = 3 };

/* Whole chunks for each of the eight warps, and an expert that takes most of them. */
static struct tokens hot(struct rng *r)
{
  int tokens = each_multiple(r, 256, 2, 5), experts = rng_between(r, 5, 32);
  return (struct tokens){tokens, experts, tokens / 2 + (int)rng_below(r, (uint32_t)tokens / 2),
                         HOT};
}

static void plan_hot(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_place(p, r, hot(r));
}

static void one_hot(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct tokens c = hot(r);
  if (!judge_place(v, e, r, c, 0, START | POSITION)) return;
  uint64_t steps = (uint64_t)c.tokens / 32;
  judge_wavefronts(v, e, (struct count_mark){.which = COUNT_ALL, .full = 1.05, .none = 4,
                                             .least_requests = steps,
                                             .most_wavefronts = 144 + 8 * steps});
}

EACH_TEST(hot_expert, COSTS, 3, plan_hot, one_hot)

const struct test ch11_place_tests[] = {
  {"first slots", 1, plan_fits, judge_start},
  {"positions", 2, plan_fits, judge_positions},
  {"dropped tokens", 1, plan_drops, judge_drops},
  {"one hot expert", 1, plan_hot_expert, judge_hot_expert},
  {0}
};

const char *const ch11_place_hints[] = {
  "Step 2 has two sums: down the warps (how many tokens of expert e do earlier warps have?), and "
  "across the experts (how many slots do earlier experts use?).  The second takes min(sum, "
  "capacity) of each.",
  "Across the experts: lane e holds what expert e keeps, and a prefix sum with __shfl_up_sync "
  "over "
  "1, 2, 4, 8, 16 lanes gives the end of its slots.  In step 3, __match_any_sync gives the lanes "
  "with my expert; the lower ones among them come before me.",
  "rank = count[warp][e] + __popc(same & ((1u << lane) - 1)).  Then, between two __syncwarp(), "
  "the "
  "lowest lane of each group alone adds __popc(same) to count[warp][e].  With no valid expert, "
  "or "
  "rank >= capacity: position -1.",
  NULL
};

/* ---- combine.cu ------------------------------------------------------------------------- */

struct mix { int tokens, width; bool drops; };

/* Every position is taken at most once; slots nobody has hold NaN. */
static void draw_mix(struct rng *r, struct mix c, float *y, int *position, float *weight)
{
  int slots = 2 * c.tokens + 3;
  int *order = malloc((size_t)slots * sizeof *order);
  for (int i = 0; i < slots; i++) order[i] = i;
  for (int i = slots - 1; i > 0; i--) {
    int k = (int)rng_below(r, (uint32_t)i + 1), swap = order[i];
    order[i] = order[k];
    order[k] = swap;
  }
  for (size_t i = 0; i < (size_t)slots * c.width; i++) y[i] = NAN;
  for (int i = 0; i < 2 * c.tokens; i++) {
    position[i] = c.drops && rng_below(r, 3) == 0 ? -1 : order[i];
    weight[i] = (float)rng_uniform(r, 0, 1);
    if (position[i] >= 0) rng_floats(r, y + (size_t)position[i] * c.width, c.width, -1, 1);
  }
  if (c.drops && c.tokens > 2) position[2] = position[3] = -1;    /* a token with nothing */
  free(order);
}

struct drawn { float *y, *weight; int *position; size_t words; };

static struct drawn new_mix(struct rng *r, struct mix c)
{
  struct drawn d = {.words = (size_t)(2 * c.tokens + 3) * c.width};
  d.y = malloc(d.words * 4);
  d.weight = malloc((size_t)c.tokens * 8);
  d.position = malloc((size_t)c.tokens * 8);
  draw_mix(r, c, d.y, d.position, d.weight);
  return d;
}

static void free_mix(struct drawn d)
{
  free(d.y);
  free(d.weight);
  free(d.position);
}

static void plan_combine(struct plan *p, struct rng *r, struct mix c)
{
  struct drawn d = new_mix(r, c);
  int y = plan_buffer(p, "y", BUFFER_IN, d.y, d.words * 4);
  int position = plan_buffer(p, "position", BUFFER_IN, d.position, (size_t)c.tokens * 8);
  int weight = plan_buffer(p, "weight", BUFFER_IN, d.weight, (size_t)c.tokens * 8);
  int out = plan_buffer(p, "out", BUFFER_OUT, NULL, (size_t)c.tokens * c.width * 4);
  plan_launch(p, "combine", (uint32_t[3]){(c.tokens + 7) / 8, 1, 1}, (uint32_t[3]){256, 1, 1}, 0);
  plan_arg_buffer(p, y);
  plan_arg_buffer(p, position);
  plan_arg_buffer(p, weight);
  plan_arg_buffer(p, out);
  plan_arg_i32(p, c.tokens);
  plan_arg_i32(p, c.width);
  free_mix(d);
}

static bool judge_combine(struct verdict *v, const struct evidence *e, struct rng *r,
                          struct mix c, int launch)
{
  struct drawn d = new_mix(r, c);
  double *want = calloc((size_t)c.tokens * c.width, sizeof *want);
  for (int i = 0; i < 2 * c.tokens; i++)
    for (int x = 0; x < c.width && d.position[i] >= 0; x++)
      want[(size_t)(i / 2) * c.width + x] +=
          (double)d.weight[i] * d.y[(size_t)d.position[i] * c.width + x];
  /* two products and a sum below 2: each is rounded once */
  bool good = judge_floats(v, e, 4 * launch + 3, want, (size_t)c.tokens * c.width, c.width,
                           4 * 2 * 0x1p-24);
  if (!good) verdict_add(v, "  These were %d tokens of %d floats.", c.tokens, c.width);
  free(want);
  free_mix(d);
  return good;
}

static struct mix combine_case(struct rng *r, int i, bool drops)
{
  static const struct mix fixed[] = {
    {1, 1, false}, {3, 32, false}, {9, 33, false}, {40, 5, false}
  };
  struct mix c = i < 4 ? fixed[i] : (struct mix){(int)rng_below(r, 60) + 1,
                                                 (int)rng_below(r, 100) + 1, false};
  c.drops = drops;
  return c;
}

static void plan_mixes(struct plan *p, struct rng *r, bool drops)
{
  for (int i = 0; i < CASES; i++) plan_combine(p, r, combine_case(r, i, drops));
}

static void judge_mixes(struct verdict *v, const struct evidence *e, struct rng *r, bool drops)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < CASES; i++)
    if (!judge_combine(v, e, r, combine_case(r, i, drops), i)) return;
  verdict_pass(v, "%d sizes", CASES);
}

static void plan_all_there(struct plan *p, struct rng *r) { plan_mixes(p, r, false); }
static void plan_some_dropped(struct plan *p, struct rng *r) { plan_mixes(p, r, true); }

static void judge_all_there(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_mixes(v, e, r, false);
}

static void judge_some_dropped(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_mixes(v, e, r, true);
}

/* Whole rows of sectors. */
static struct mix wide(struct rng *r)
{
  int tokens = rng_between(r, 40, 80);
  return (struct mix){tokens, each_multiple(r, 32, 5, 9), false};
}

static void plan_wide(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_combine(p, r, wide(r));
}

void ch11_bench_combine(struct plan *p, struct rng *r, int size)
{
  plan_combine(p, r, (struct mix){2048 << size, 1024, false});
}

static void one_wide(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct mix c = wide(r);
  uint64_t best = (uint64_t)c.tokens * c.width / 8;
  if (!judge_combine(v, e, r, c, 0)) return;
  if (ch11_sectors(v, e, MODEL_GLOBAL_LOAD, 2 * best) == 1 &&
      ch11_sectors(v, e, MODEL_GLOBAL_STORE, best) == 1)
    verdict_pass(v, "4 sectors for every 32 elements, in and out");
}

EACH_TEST(wide_rows, COSTS, 4, plan_wide, one_wide)

const struct test ch11_combine_tests[] = {
  {"two experts", 0.5, plan_all_there, judge_all_there},
  {"dropped", 0.5, plan_some_dropped, judge_some_dropped},
  {"coalesced", 2, plan_wide_rows, judge_wide_rows},
  {0}
};

const char *const ch11_combine_hints[] = {
  "Which threads read neighbouring floats of one row of y?  They should be one warp.",
  "A token for a warp: i = blockIdx.x * 8 + threadIdx.x / 32.  There are enough blocks for that.",
  "All lanes read the two positions and weights; then c runs from threadIdx.x % 32 in steps of "
  "32.",
  NULL
};
