/* Chapter 12's product with the matrix units (matmul.cu): halfs in, floats out. */
#include <math.h>
#include <stdlib.h>

#include "suites/ch12.h"
#include "suites/each.h"

enum { SIZES = 6 };

struct product { int m, n, k; };

/* A random half: zero, or of a size from 2^-5 to 2; its bits, and its value. */
static uint16_t draw_half(struct rng *r, double *value)
{
  uint32_t random = (uint32_t)rng_next(r), exponent = 10 + (random >> 20) % 6;
  uint32_t mantissa = random & 0x3ff, sign = random >> 31;
  bool zero = (random >> 12 & 15) == 0;
  *value = zero ? 0 : (sign ? -1 : 1) * ldexp(1 + mantissa / 1024.0, (int)exponent - 15);
  return zero ? 0 : (uint16_t)(sign << 15 | exponent << 10 | mantissa);
}

static void draw_matrix(struct rng *r, size_t count, uint16_t **bits, double **values)
{
  *bits = malloc(count * sizeof **bits);
  *values = malloc(count * sizeof **values);
  for (size_t i = 0; i < count; i++) (*bits)[i] = draw_half(r, &(*values)[i]);
}

static void plan_product(struct plan *p, struct rng *r, struct product c)
{
  uint16_t *a, *b;
  double *x, *y;
  draw_matrix(r, (size_t)c.m * c.k, &a, &x);
  draw_matrix(r, (size_t)c.n * c.k, &b, &y);
  int ia = plan_buffer(p, "a", BUFFER_IN, a, (size_t)c.m * c.k * 2);
  int ib = plan_buffer(p, "b", BUFFER_IN, b, (size_t)c.n * c.k * 2);
  int ic = plan_buffer(p, "c", BUFFER_OUT, NULL, (size_t)c.m * c.n * 4);
  plan_launch(p, "matmul", (uint32_t[3]){(uint32_t)(c.n + 63) / 64, (uint32_t)(c.m + 63) / 64, 1},
              (uint32_t[3]){128, 1, 1}, 0);
  plan_arg_buffer(p, ia);
  plan_arg_buffer(p, ib);
  plan_arg_buffer(p, ic);
  plan_arg_i32(p, c.m);
  plan_arg_i32(p, c.n);
  plan_arg_i32(p, c.k);
  free(a);
  free(b);
  free(x);
  free(y);
}

static bool judge_product(struct verdict *v, const struct evidence *e, struct rng *r,
                          struct product c, int launch)
{
  uint16_t *a, *b;
  double *x, *y, *want = calloc((size_t)c.m * c.n, sizeof *want), largest = 0;
  draw_matrix(r, (size_t)c.m * c.k, &a, &x);
  draw_matrix(r, (size_t)c.n * c.k, &b, &y);
  for (int i = 0; i < c.m; i++)
    for (int j = 0; j < c.n; j++) {
      double size = 0;
      for (int l = 0; l < c.k; l++) {
        double term = x[(size_t)i * c.k + l] * y[(size_t)j * c.k + l];
        want[(size_t)i * c.n + j] += term;
        size += fabs(term);
      }
      largest = fmax(largest, size);
    }
  /* products of halfs are exact in a float; each of k additions is rounded, or cut off */
  bool good = judge_floats(v, e, 3 * launch + 2, want, (size_t)c.m * c.n, c.n,
                           (c.k + 2) * 0x1p-23 * largest);
  if (!good) verdict_add(v, "  These were %d x %d and %d x %d.", c.m, c.k, c.n, c.k);
  free(a);
  free(b);
  free(x);
  free(y);
  free(want);
  return good;
}

static struct product product_case(struct rng *r, int i)
{
  static const struct product fixed[] = {{64, 64, 64}, {1, 1, 8}, {17, 65, 72}, {70, 9, 136}};
  if (i < 4) return fixed[i];
  int m = (int)rng_below(r, 90) + 1, n = (int)rng_below(r, 90) + 1;
  return (struct product){m, n, 8 * ((int)rng_below(r, 20) + 1)};
}

static const struct product one_tile = {64, 64, 64};

static void plan_one_tile(struct plan *p, struct rng *r) { plan_product(p, r, one_tile); }

static void judge_one_tile(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (judge_clean(v, e) && judge_product(v, e, r, one_tile, 0)) verdict_pass(v, "64 x 64 x 64");
}

static void plan_products(struct plan *p, struct rng *r)
{
  for (int i = 0; i < SIZES; i++) plan_product(p, r, product_case(r, i));
}

static void judge_products(struct verdict *v, const struct evidence *e, struct rng *r)
{
  if (!judge_clean(v, e)) return;
  for (int i = 0; i < SIZES; i++)
    if (!judge_product(v, e, r, product_case(r, i), i)) return;
  verdict_pass(v, "%d products", SIZES);
}

/* Whole tiles, one or two each way. */
static struct product cost_case(struct rng *r)
{
  int m = each_multiple(r, 64, 1, 2), n = each_multiple(r, 64, 1, 2);
  return (struct product){m, n, each_multiple(r, 64, 1, 2)};
}

static void plan_whole(struct plan *p, struct rng *r, int i)
{
  (void)i;
  plan_product(p, r, cost_case(r));
}

/* Besides conflicts, loads in all: 80 ldmatrix of 4 wavefronts do for 64 x 64 x 64, and 128
 * fetch each operand of each mma anew. */
static void one_cost(struct verdict *v, const struct evidence *e, struct rng *r, int i)
{
  (void)i;
  struct product c = cost_case(r);
  uint64_t tiles = (uint64_t)(c.m / 64) * (uint64_t)(c.n / 64) * (uint64_t)(c.k / 64);
  if (!judge_product(v, e, r, c, 0)) return;
  struct count_mark loads = {.which = COUNT_LOADS, .full = 4, .none = 16, .least_requests = 40 * tiles,
                             .most_wavefronts = tiles * 80 * 4 * 5 / 4};
  struct count_mark stores = {.which = COUNT_STORES, .full = 4, .none = 16, .least_requests = 32 * tiles,
                              .most_wavefronts = 0};
  if (judge_wavefronts(v, e, loads)) judge_wavefronts(v, e, stores);
}

EACH_TEST(cost, 3, 3, plan_whole, one_cost)

const struct test ch12_matmul_tests[] = {
  {"one tile", 2, plan_one_tile, judge_one_tile},
  {"any size", 2, plan_products, judge_products},
  {"conflict free", 4, plan_cost, judge_cost},
  {0}
};

const char *const ch12_matmul_hints[] = {
  "place() is that of the exercise before.  A step of a warp: its 16 rows of a with one "
  "ldmatrix_x4, "
  "then 64 columns with four of them, two mma for each.",
  "For a the four matrices are upper left, lower left, upper right, lower right: lane t gives row "
  "16 * warp + t % 16, chunk 2 * step + t / 16.  For b let them be left and right of eight "
  "columns, "
  "then left and right of the next eight: row t / 16 * 8 + t % 8, chunk 2 * step + t / 8 % 2.",
  "for (int j = 0; j < 8; j += 2) { ldmatrix_x4(fb, &tile_b[place(j * 8 + lane / 16 * 8 + lane "
  "% 8, "
  "2 * step + lane / 8 % 2)]); mma(acc[j], fa, fb[0], fb[1]); mma(acc[j + 1], fa, fb[2], "
  "fb[3]); }",
  NULL
};
