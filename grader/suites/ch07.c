/* Chapter 07: order.  Kernels whose accesses are free of conflicts and still wrong: the simulator
 * judges races and barriers, and the suite the values.  ch07_races.c has the predictions. */
#include <inttypes.h>
#include <stdlib.h>

#include "suites/ch07.h"
#include "suites/each.h"
#include "suites/moves.h"

#define READ "chapters/07-order.md"

enum { SIZES = 6, COSTS = 3, WARP = 32 };

/* A case of any kernel here: n numbers, blocks of `threads`, `grid` of them (0: enough), and one
 * more number for those that take one. */
struct work { int n, grid, steps; };

static int32_t *draw(struct rng *r, int n, int range)
{
  int32_t *in = malloc((size_t)n * 4);
  for (int i = 0; i < n; i++)
    in[i] = range ? rng_between(r, -range, range) : (int32_t)rng_next(r);
  return in;
}

static int blocks(int n, int threads) { return (n + threads - 1) / threads; }

static int out_of(int launch) { return 2 * launch + 1; }

static void plan_work(struct plan *p, const char *kernel, const void *in, struct work w, int outs,
                      int threads)
{
  int from = plan_buffer(p, "in", BUFFER_IN, in, (size_t)w.n * 4);
  int to = plan_buffer(p, "out", BUFFER_OUT, NULL, (size_t)outs * 4);
  uint32_t grid = (uint32_t)(w.grid ? w.grid : blocks(w.n, threads));
  plan_launch(p, kernel, (uint32_t[3]){grid, 1, 1}, (uint32_t[3]){(uint32_t)threads, 1, 1}, 0);
  plan_arg_buffer(p, from);
  plan_arg_buffer(p, to);
  plan_arg_i32(p, w.n);
}

/* Sizes that are no multiples of a block, the last two new each time. */
static int any_number(struct rng *r, int i)
{
  static const int fixed[] = {1, 33, 255, 300};
  return i < 4 ? fixed[i] : (int)rng_below(r, 700) + 2;
}

static bool judge_numbers(struct verdict *v, const struct evidence *e, int out,
                          const int32_t *want, int count, struct work w)
{
  bool good = judge_ints(v, e, out, want, (size_t)count, 1);
  if (!good) verdict_add(v, "  there were %d numbers.", w.n);
  return good;
}

/* Barriers of launch 0: all of the points at `enough` for each warp, none at `twice` of it. */
static void judge_barriers(struct verdict *v, const struct evidence *e, uint64_t warps,
                           uint64_t enough, uint64_t none)
{
  uint64_t got = (e->launches[0].totals.barriers + warps - 1) / warps;
  if (got <= enough) {
    verdict_pass(v, "%" PRIu64 " barriers", got);
    return;
  }
  double share = got >= none ? 0 : (double)(none - got) / (double)(none - enough);
  verdict_partial(v, share, "%s: every thread waits at %" PRIu64 " barriers where %" PRIu64
                  " are enough", e->file, got, enough);
}

static bool judge_shared_used(struct verdict *v, const struct evidence *e)
{
  const struct sim_totals *t = &e->launches[0].totals;
  if (t->shared_load.requests && t->shared_store.requests + t->shared_atomic.requests) return true;
  verdict_fail(v, "%s: shared memory is not used, and this exercise is about its order", e->file);
  return false;
}

/* ---- barriers.cu: tiles in reverse order --------------------------------------------------- */

enum { TILE = 256 };

static const struct work one_tile = {TILE, 1, 0}, several_tiles = {6 * TILE, 2, 0};

static void plan_reverse(struct plan *p, struct rng *r, struct work w)
{
  int32_t *in = draw(r, w.n, 0);
  plan_work(p, "reverse_tiles", in, w, w.n, TILE);
  free(in);
}

static bool values_reverse(struct verdict *v, const struct evidence *e, struct rng *r,
                           struct work w, int out)
{
  int32_t *in = draw(r, w.n, 0), *want = malloc((size_t)w.n * 4);
  for (int i = 0; i < w.n; i++) {
    int first = i / TILE * TILE, m = w.n - first < TILE ? w.n - first : TILE;
    want[i] = in[first + m - 1 - (i - first)];
  }
  bool good = judge_numbers(v, e, out, want, w.n, w);
  free(want);
  free(in);
  return good;
}

static struct work reverse_case(struct rng *r, int i)
{
  return (struct work){any_number(r, i) + (i % 2) * 2 * TILE, 1 + i % 3, 0};
}

static void plan_reverse_one(struct plan *p, struct rng *r) { plan_reverse(p, r, one_tile); }
static void plan_reverse_several(struct plan *p, struct rng *r)
{
  plan_reverse(p, r, several_tiles);
}

static void plan_reverse_any(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_reverse(p, r, reverse_case(r, i));
}

static void judge_reverse_one(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_reverse(v, e, r, one_tile, 1)) verdict_pass(v, "256 numbers");
}

static void judge_reverse_several(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_reverse(v, e, r, several_tiles, 1))
    verdict_pass(v, "six tiles, two blocks");
}

static void judge_reverse_any(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_reverse(v, e, r, reverse_case(r, i), out_of(i))) return;
  verdict_pass(v, "%d cases", SIZES);
}

/* Some blocks, and as many tiles for each. */
static struct work reverse_cost(struct rng *r, int *tiles)
{
  int grid = rng_between(r, 1, 3);
  *tiles = rng_between(r, 2, 5);
  return (struct work){*tiles * grid * TILE, grid, 0};
}

static void plan_reverse_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  int tiles;
  plan_reverse(p, r, reverse_cost(r, &tiles));
}

static void one_reverse_barriers(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  int tiles;
  struct work w = reverse_cost(r, &tiles);
  if (values_reverse(v, e, r, w, 1) && judge_shared_used(v, e))
    judge_barriers(v, e, (uint64_t)w.grid * TILE / WARP, 2u * tiles, 4u * tiles);
}

EACH_TEST(reverse_barriers, COSTS, 2, plan_reverse_cost, one_reverse_barriers)

static void bench_barriers(struct plan *p, struct rng *r, int size)
{
  plan_reverse(p, r, (struct work){.n = 1 << (20 + 2 * size)});
}

static const struct test barriers_tests[] = {
  {"one tile", 1, plan_reverse_one, judge_reverse_one},
  {"several tiles", 1, plan_reverse_several, judge_reverse_several},
  {"any number", 1, plan_reverse_any, judge_reverse_any},
  {"few barriers", 1, plan_reverse_barriers, judge_reverse_barriers},
  {0}
};

/* ---- branch.cu: 128 numbers put in order by counting --------------------------------------- */

enum { SORT = 128, FEW = 5 };

static const struct work whole_blocks = {2 * SORT, 0, 0}, part_block = {SORT + 37, 0, 0};

static void plan_sort(struct plan *p, struct rng *r, struct work w, int range)
{
  int32_t *in = draw(r, w.n, range);
  plan_work(p, "sort_blocks", in, w, blocks(w.n, SORT) * SORT, SORT);
  free(in);
}

static int by_value(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static bool values_sort(struct verdict *v, const struct evidence *e, struct rng *r, struct work w,
                        int range, int out)
{
  int count = blocks(w.n, SORT) * SORT;
  int32_t *in = draw(r, w.n, range), *want = malloc((size_t)count * 4);
  for (int first = 0; first < count; first += SORT) {
    int m = w.n - first < SORT ? w.n - first : SORT;
    qsort(in + first, (size_t)m, 4, by_value);
    for (int t = 0; t < SORT; t++) want[first + t] = in[first + (t < m ? t : m - 1)];
  }
  bool good = judge_numbers(v, e, out, want, count, w);
  free(want);
  free(in);
  return good;
}

static void plan_sort_whole(struct plan *p, struct rng *r) { plan_sort(p, r, whole_blocks, 0); }
static void plan_sort_part(struct plan *p, struct rng *r) { plan_sort(p, r, part_block, 0); }
static void plan_sort_equal(struct plan *p, struct rng *r) { plan_sort(p, r, whole_blocks, FEW); }

static void plan_sort_any(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_sort(p, r, (struct work){any_number(r, i), 0, 0}, 0);
}

static void judge_sort_whole(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_sort(v, e, r, whole_blocks, 0, 1))
    verdict_pass(v, "two whole blocks");
}

static void judge_sort_part(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_sort(v, e, r, part_block, 0, 1) && judge_shared_used(v, e))
    verdict_pass(v, "a block of 37 numbers, every barrier met");
}

static void judge_sort_equal(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_sort(v, e, r, whole_blocks, FEW, 1))
    verdict_pass(v, "numbers that are equal");
}

static void judge_sort_any(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_sort(v, e, r, (struct work){any_number(r, i), 0, 0}, 0, out_of(i))) return;
  verdict_pass(v, "%d cases", SIZES);
}

static void bench_branch(struct plan *p, struct rng *r, int size)
{
  plan_sort(p, r, (struct work){.n = 1 << (18 + 2 * size)}, 0);
}

static const struct test branch_tests[] = {
  {"whole blocks", 0.25, plan_sort_whole, judge_sort_whole},
  {"equal numbers", 0.25, plan_sort_equal, judge_sort_equal},
  {"part of a block", 1.75, plan_sort_part, judge_sort_part},
  {"any number", 1.75, plan_sort_any, judge_sort_any},
  {0}
};

/* ---- stencil.cu ---------------------------------------------------------------------------- */

enum { RING = 256 };

static const struct work one_step = {RING + 40, 0, 1}, no_step = {300, 0, 0};

static void plan_smooth(struct plan *p, struct rng *r, struct work w)
{
  int32_t *in = draw(r, w.n, 0);
  plan_work(p, "smooth", in, w, w.n, RING);
  plan_arg_i32(p, w.steps);
  free(in);
}

static bool values_smooth(struct verdict *v, const struct evidence *e, struct rng *r,
                          struct work w, int out)
{
  int32_t *in = draw(r, w.n, 0), *want = malloc((size_t)w.n * 4);
  for (int first = 0; first < w.n; first += RING) {
    uint32_t now[RING], next[RING];
    int m = w.n - first < RING ? w.n - first : RING;
    for (int t = 0; t < m; t++) now[t] = (uint32_t)in[first + t];
    for (int step = 0; step < w.steps; step++) {
      for (int t = 0; t < m; t++) next[t] = now[(t + m - 1) % m] + 2 * now[t] + now[(t + 1) % m];
      for (int t = 0; t < m; t++) now[t] = next[t];
    }
    for (int t = 0; t < m; t++) want[first + t] = (int32_t)now[t];
  }
  bool good = judge_numbers(v, e, out, want, w.n, w);
  if (!good) verdict_add(v, "  and %d steps.", w.steps);
  free(want);
  free(in);
  return good;
}

static void plan_smooth_one(struct plan *p, struct rng *r) { plan_smooth(p, r, one_step); }

static struct work smooth_case(struct rng *r, int i)
{
  int n = any_number(r, i);
  return (struct work){n, 0, (int)rng_below(r, 7) + 1};
}

static void plan_smooth_any(struct plan *p, struct rng *r)
{
  plan_smooth(p, r, no_step);
  for (int i = 0; i < SIZES; i++) plan_smooth(p, r, smooth_case(r, i));
}

static void judge_smooth_one(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_smooth(v, e, r, one_step, 1)) verdict_pass(v, "one step");
}

static void judge_smooth_any(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e) || !values_smooth(v, e, r, no_step, 1)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_smooth(v, e, r, smooth_case(r, i), out_of(i + 1))) return;
  verdict_pass(v, "%d cases, and no step at all", SIZES);
}

static struct work smooth_cost(struct rng *r)
{
  int n = each_multiple(r, RING, 1, 3);
  return (struct work){n, 0, rng_between(r, 6, 14)};
}

static void plan_smooth_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_smooth(p, r, smooth_cost(r));
}

static void one_smooth_barriers(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct work w = smooth_cost(r);
  if (values_smooth(v, e, r, w, 1) && judge_shared_used(v, e))
    judge_barriers(v, e, (uint64_t)w.n / WARP, w.steps + 1u, 2u * w.steps);
}

EACH_TEST(smooth_barriers, COSTS, 2, plan_smooth_cost, one_smooth_barriers)

static void bench_stencil(struct plan *p, struct rng *r, int size)
{
  plan_smooth(p, r, (struct work){.n = 1 << (18 + 2 * size), .steps = 8});
}

static const struct test stencil_tests[] = {
  {"one step", 1, plan_smooth_one, judge_smooth_one},
  {"any number", 2, plan_smooth_any, judge_smooth_any},
  {"one barrier a step", 2, plan_smooth_barriers, judge_smooth_barriers},
  {0}
};

/* ---- warp_sum.cu --------------------------------------------------------------------------- */

enum { SUM = 256 };

static const struct work one_sum = {SUM, 0, 0};

/* Whole blocks, another number of them in every launch. */
static struct work sums_cost(struct rng *r) { return (struct work){each_multiple(r, SUM, 1, 6), 0, 0}; }

static void plan_sums(struct plan *p, struct rng *r, struct work w)
{
  int32_t *in = draw(r, w.n, 0);
  plan_work(p, "block_sums", in, w, blocks(w.n, SUM), SUM);
  free(in);
}

static bool values_sums(struct verdict *v, const struct evidence *e, struct rng *r, struct work w,
                        int out)
{
  int count = blocks(w.n, SUM);
  int32_t *in = draw(r, w.n, 0), *want = malloc((size_t)count * 4);
  for (int b = 0; b < count; b++) {
    uint32_t sum = 0;
    for (int i = b * SUM; i < w.n && i < (b + 1) * SUM; i++) sum += (uint32_t)in[i];
    want[b] = (int32_t)sum;
  }
  bool good = judge_numbers(v, e, out, want, count, w);
  free(want);
  free(in);
  return good;
}

static void plan_sums_one(struct plan *p, struct rng *r) { plan_sums(p, r, one_sum); }

static void plan_sums_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_sums(p, r, sums_cost(r));
}

static void plan_sums_any(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_sums(p, r, (struct work){any_number(r, i), 0, 0});
}

static void judge_sums_one(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_sums(v, e, r, one_sum, 1)) verdict_pass(v, "256 numbers");
}

static void judge_sums_any(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_sums(v, e, r, (struct work){any_number(r, i), 0, 0}, out_of(i))) return;
  verdict_pass(v, "%d cases", SIZES);
}

static void one_sums_free(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct work w = sums_cost(r);
  if (values_sums(v, e, r, w, 1) && judge_shared_used(v, e))
    judge_wavefronts(v, e, (struct count_mark){.which = COUNT_ALL, .full = 1, .none = 2,
                                               .least_requests = (uint64_t)w.n / WARP});
}

EACH_TEST(sums_free, COSTS, 2, plan_sums_cost, one_sums_free)

static void bench_warp_sum(struct plan *p, struct rng *r, int size)
{
  plan_sums(p, r, (struct work){.n = 1 << (20 + 2 * size)});
}

static const struct test warp_sum_tests[] = {
  {"one block", 1.5, plan_sums_one, judge_sums_one},
  {"any number", 1.5, plan_sums_any, judge_sums_any},
  {"conflict free", 1, plan_sums_free, judge_sums_free},
  {0}
};

/* ---- one_cell.cu --------------------------------------------------------------------------- */

/* Multiples of 1/64 below 2: their sums of 256 are exact in any order. */
static float *draw_cells(struct rng *r, int n)
{
  float *in = malloc((size_t)n * 4);
  for (int i = 0; i < n; i++) in[i] = (float)rng_between(r, -127, 127) / 64;
  return in;
}

static void plan_cells(struct plan *p, struct rng *r, struct work w)
{
  float *in = draw_cells(r, w.n);
  plan_work(p, "cell_sums", in, w, blocks(w.n, SUM), SUM);
  free(in);
}

static bool values_cells(struct verdict *v, const struct evidence *e, struct rng *r, struct work w,
                         int out)
{
  int count = blocks(w.n, SUM);
  float *in = draw_cells(r, w.n);
  double *want = calloc((size_t)count, sizeof *want);
  for (int i = 0; i < w.n; i++) want[i / SUM] += in[i];
  bool good = judge_floats(v, e, out, want, (size_t)count, 1, 0);
  if (!good) verdict_add(v, "  there were %d numbers.", w.n);
  free(want);
  free(in);
  return good;
}

static void plan_cells_one(struct plan *p, struct rng *r) { plan_cells(p, r, one_sum); }

static void plan_cells_cost(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_cells(p, r, sums_cost(r));
}

static void plan_cells_any(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_cells(p, r, (struct work){any_number(r, i), 0, 0});
}

static void judge_cells_one(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && values_cells(v, e, r, one_sum, 1)) verdict_pass(v, "256 numbers");
}

static void judge_cells_any(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!values_cells(v, e, r, (struct work){any_number(r, i), 0, 0}, out_of(i))) return;
  verdict_pass(v, "%d cases", SIZES);
}

static void one_cells_cheap(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  enum { FULL = 8, NONE = 32 };
  (void)i;
  struct work w = sums_cost(r);
  if (!values_cells(v, e, r, w, 1) || !judge_shared_used(v, e)) return;
  const struct sim_result *l = &e->launches[0];
  const struct sim_totals *t = &l->totals;
  double cost = (double)(t->shared_load.wavefronts + t->shared_store.wavefronts +
                         t->shared_atomic.wavefronts) * WARP / w.n;
  if (cost <= FULL) {
    verdict_pass(v, "%.1f wavefronts for every 32 numbers", cost);
    return;
  }
  verdict_partial(v, cost >= NONE ? 0 : (NONE - cost) / (NONE - FULL),
                  "%s: %.1f wavefronts for every 32 numbers; %d or fewer give full points, %d or "
                  "more none", e->file, cost, FULL, NONE);
  const struct sim_site *worst = NULL;
  for (size_t i = 0; i < l->nsites; i++)
    if (!worst || l->sites[i].wavefronts > worst->wavefronts) worst = &l->sites[i];
  if (worst) judge_describe_site(v, e, worst);
}

EACH_TEST(cells_cheap, COSTS, 2, plan_cells_cost, one_cells_cheap)

static void bench_one_cell(struct plan *p, struct rng *r, int size)
{
  plan_cells(p, r, (struct work){.n = 1 << (18 + 2 * size)});
}

static const struct test one_cell_tests[] = {
  {"one block", 1, plan_cells_one, judge_cells_one},
  {"any number", 1, plan_cells_any, judge_cells_any},
  {"cheap", 2, plan_cells_cheap, judge_cells_cheap},
  {0}
};

/* ---- the table ----------------------------------------------------------------------------- */

static const char *const races_hints[] = {
  "For each piece of code find one word that two threads touch.  If there is none, there is no "
  "race.",
  "Two threads on one word, at least one of them writing: then something must stand between "
  "them.  __syncthreads() orders all threads of the block, __syncwarp() those of one warp, an "
  "atomic only itself against other atomics.",
  "Draw two columns, thread 0 and thread 63 (or 0 and 1).  Thread 0 may be at its last line "
  "before the other has begun, unless a barrier forbids it.  Does any result depend on that?",
  NULL
};

static const char *const barriers_hints[] = {
  "Thread 0 reads a word that thread 255 writes.  What makes sure that it has been written?",
  "There are two such pairs: written before it is read, and read before the *next* tile "
  "overwrites it.  Each needs a barrier.",
  "__syncthreads(); after the store into tile, and another after the store into out.  All "
  "threads reach them: they stand outside the two ifs.",
  NULL
};

static const char *const branch_hints[] = {
  "In a block of 37 numbers, which threads reach the first barrier?  And which barrier do the "
  "others come to first?",
  "The branch is about the numbers, not about the barrier.  End the branch before the barrier "
  "and begin it again after.",
  "if (t < m) number[t] = in[first + t]; then __syncthreads(); then if (t < m) { count, store "
  "}; then the second __syncthreads(), as it is.",
  NULL
};

static const char *const stencil_hints[] = {
  "With one buffer each word is read by three threads and written by one, in the same step.",
  "Read from one buffer, write into the other, wait, change roles.  The barrier of a step "
  "separates the writes of this step from the reads of the next, and these reads from the "
  "writes after them.",
  "int ring[2][256]; in a step: from = ring[step % 2], to = ring[(step + 1) % 2]; one barrier "
  "at the end of the step.  The result lies in ring[steps % 2].",
  NULL
};

static const char *const warp_sum_hints[] = {
  "Lanes 0 to 31 all run v[t] += v[t + 16].  Lane 0 reads word 16.  Who writes it?",
  "Each step has a read and a write of different lanes: it needs a __syncwarp() between the "
  "two, and one after.  Or leave shared memory: a shuffle reads and writes at one moment.",
  "int sum = s[t] + s[t + 32]; for (half = 16; half > 0; half /= 2) sum += "
  "__shfl_down_sync(0xffffffff, sum, half);  Then thread 0 writes sum.",
  NULL
};

static const char *const one_cell_hints[] = {
  "total += x is three steps: load, add, store.  What happens when two threads load before "
  "either has stored?",
  "First let each warp add up its own 32 numbers, without the cell.  Chapter 07 shows two "
  "ways: a tree, or shuffles.  Then eight sums are left.",
  "Shuffle as in warp_sum; lane 0 of each warp writes part[t / 32]; a barrier; thread 0 adds "
  "the eight parts.  Threads without a number add 0, and take part in the shuffle.",
  NULL
};

static const struct exercise exercises[] = {
  {.id = "07-order/races", .title = "Race or no race?",
   .kind = EXERCISE_PREDICT, .file = "races.txt", .read = READ, .hints = races_hints,
   .tests = ch07_races, .names = ch07_names},
  {.id = "07-order/barriers", .title = "Two barriers are missing",
   .kind = EXERCISE_KERNEL, .file = "barriers.cu", .read = READ, .hints = barriers_hints,
   .tests = barriers_tests, .bench = bench_barriers},
  {.id = "07-order/branch", .title = "A barrier in a branch",
   .kind = EXERCISE_KERNEL, .file = "branch.cu", .read = READ, .hints = branch_hints,
   .tests = branch_tests, .bench = bench_branch},
  {.id = "07-order/stencil", .title = "A stencil in two buffers",
   .kind = EXERCISE_KERNEL, .file = "stencil.cu", .read = READ, .hints = stencil_hints,
   .tests = stencil_tests, .bench = bench_stencil},
  {.id = "07-order/warp_sum", .title = "A reduction that relies on lockstep",
   .kind = EXERCISE_KERNEL, .file = "warp_sum.cu", .read = READ, .hints = warp_sum_hints,
   .tests = warp_sum_tests, .bench = bench_warp_sum},
  {.id = "07-order/one_cell", .title = "All threads add into one cell",
   .kind = EXERCISE_KERNEL, .file = "one_cell.cu", .read = READ, .hints = one_cell_hints,
   .tests = one_cell_tests, .bench = bench_one_cell},
  {0}
};

const struct suite suite_ch07 = {"07-order", exercises};
