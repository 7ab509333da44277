/* Kernels of courses and papers, run whole: values against plain C in double, sizes that fit no
 * tile, no fault, and the same with 1, 2 and 4 host threads (launch.h).
 *
 * tests/kernels/NAME.cu holds them; NAME.ptx was made by nvcc 13.0 in that folder:
 *   nvcc -ptx -arch=sm_90 -lineinfo --extended-lambda NAME.cu -o NAME.ptx
 * with paths taken off the .file lines and the toolkit's headers named <header.h>, and off philox.ptx the tables of a generator it has no use
 * for.  NAME-clang.ptx is from clang 14 as the grader calls it, NAME-debug.ptx made with -G in
 * -lineinfo's place, NAME-sm120.ptx with -arch=sm_120.  Habits of code (structs, recursion,
 * pointers, printf) are in test_kernels_styles.c, the toolkit's libraries in
 * test_kernels_library.c (tiles.ptx without -lineinfo: it is long). */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/launch.h"

void test_kernels_styles(Suite *s);
void test_kernels_library(Suite *s);

static float *floats(size_t n)
{
  float *a = malloc((n + 1) * sizeof *a);
  for (size_t i = 0; i < n; i++) a[i] = launch_random_float();
  return a;
}

static int *ints(size_t n, unsigned below, int first)
{
  int *a = malloc((n + 1) * sizeof *a);
  for (size_t i = 0; i < n; i++) a[i] = (int)(launch_random() % below) + first;
  return a;
}

static uint32_t blocks(int n, int each) { return (uint32_t)((n + each - 1) / each); }

/* ---- matrix products ---------------------------------------------------------------------------- */

static const struct { int m, n, k; } sizes[] = {{1, 1, 1}, {17, 33, 19}, {64, 64, 8}, {70, 65, 41}};

static void gemm(const char *kernel, int tile, uint32_t bx, uint32_t by, bool wide, int m, int n,
                 int k)
{
  struct launch l = launch_of("gemm", kernel);
  size_t na = (size_t)(m * k), nb = (size_t)(k * n), nc = (size_t)(m * n), w = wide ? 8 : 4;
  float *a = floats(na), *b = floats(nb);
  double *a2 = malloc(na * 8), *b2 = malloc(nb * 8);
  for (size_t i = 0; i < na; i++) a2[i] = a[i];
  for (size_t i = 0; i < nb; i++) b2[i] = b[i];
  launch_in(&l, wide ? (void *)a2 : a, na * w);
  launch_in(&l, wide ? (void *)b2 : b, nb * w);
  unsigned c = launch_out(&l, NULL, nc * w);
  launch_int(&l, m), launch_int(&l, n), launch_int(&l, k);
  launch_run(&l, (uint32_t[3]){blocks(n, tile), blocks(m, tile), 1}, (uint32_t[3]){bx, by, 1}, 0);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double want = 0, size = 0;
      size_t at = (size_t)(i * n + j);
      for (int x = 0; x < k; x++) {
        want += a2[i * k + x] * b2[x * n + j];
        size += fabs(a2[i * k + x] * b2[x * n + j]);
      }
      double got = wide ? ((double *)l.arg[c].result)[at] : ((float *)l.arg[c].result)[at];
      launch_close_to(&l, at, got, want, k * size * (wide ? DBL_EPSILON : FLT_EPSILON));
    }
  free(a), free(b), free(a2), free(b2);
  launch_close(&l);
}

START_TEST(products)
{
  int m = sizes[_i].m, n = sizes[_i].n, k = sizes[_i].k;
  gemm("gemm_tiled", 16, 16, 16, false, m, n, k);
  gemm("gemm_double", 8, 8, 8, true, m, n, k);
  gemm("gemm_register", 64, 256, 1, false, m, n, k);
}
END_TEST

/* ---- scans --------------------------------------------------------------------------------------- */

static void scan_int(const char *kernel, int per_block, uint32_t threads, bool inclusive, int n)
{
  struct launch l = launch_of("scan", kernel);
  uint32_t grid = blocks(n, per_block);
  int *in = ints((size_t)n, 2001, -1000);
  launch_in(&l, in, (size_t)n * 4);
  unsigned out = launch_out(&l, NULL, (size_t)n * 4), sums = launch_out(&l, NULL, grid * 4);
  launch_int(&l, n);
  launch_run1(&l, grid, threads, inclusive ? 0 : (uint32_t)per_block * 4);
  const int *got = l.arg[out].result, *sum = l.arg[sums].result;
  for (int i = 0, total = 0; i < n; i++) {
    if (i % per_block == 0) total = 0;
    ck_assert_msg(got[i] == total + (inclusive ? in[i] : 0), "%s n %d [%d]", kernel, n, i);
    total += in[i];
    if (i % per_block == per_block - 1 || i == n - 1) ck_assert_int_eq(sum[i / per_block], total);
  }
  free(in);
  launch_close(&l);
}

START_TEST(scans)
{
  static const int n[] = {1, 31, 256, 257, 1000};
  for (int k = 0; k < 5; k++) {
    scan_int("blelloch", 256, 128, false, n[k]);
    scan_int("scan_shuffle", 96, 96, true, n[k]);
  }
  struct launch l = launch_of("scan", "scan_shuffle_long");
  uint64_t in[500], total = 0;   /* sums wrap */
  for (int i = 0; i < 500; i++)
    in[i] = (uint64_t)((int64_t)launch_random() * (int32_t)launch_random());
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, NULL, sizeof in);
  launch_out(&l, NULL, 8);
  launch_int(&l, 500);
  launch_run1(&l, 1, 512, 0);
  for (int i = 0; i < 500; i++) ck_assert(((uint64_t *)l.arg[out].result)[i] == (total += in[i]));
  launch_close(&l);

  l = launch_of("scan", "hillis");
  float *f = floats(700);
  launch_in(&l, f, 2800);
  out = launch_out(&l, NULL, 2800);
  launch_int(&l, 700);
  launch_run1(&l, 3, 256, 0);
  double sum = 0, size = 0;
  for (size_t i = 0; i < 700; i++) {
    if (i % 256 == 0) sum = size = 0;
    sum += f[i], size += fabs(f[i]);
    launch_close_to(&l, i, ((float *)l.arg[out].result)[i], sum, 10 * size * FLT_EPSILON);
  }
  free(f);
  launch_close(&l);
}
END_TEST

/* ---- sorts ---------------------------------------------------------------------------------------- */

static int by_int(const void *a, const void *b)
{
  return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

START_TEST(sorts)
{
  enum { N = 700 };
  struct launch l;
  unsigned key[N];
  for (int i = 0; i < N; i++) key[i] = launch_random() & 0xffff;
  for (int shift = 0; shift < 16; shift += 4) {      /* four passes sort each block's stretch */
    l = launch_of("sort", "radix_pass");
    launch_in(&l, key, sizeof key);
    unsigned out = launch_out(&l, NULL, sizeof key);
    launch_int(&l, N), launch_int(&l, shift);
    launch_run1(&l, 3, 256, 0);
    const unsigned *got = l.arg[out].result;
    for (int b = 0; b < N; b += 256) {               /* stable: by counting */
      int at = b;
      for (unsigned d = 0; d < 16; d++)
        for (int i = b; i < N && i < b + 256; i++)
          if ((key[i] >> shift & 15) == d) ck_assert_uint_eq(got[at++], key[i]);
    }
    memcpy(key, got, sizeof key);
    launch_close(&l);
  }
  for (int i = 1; i < N; i++) ck_assert(i % 256 == 0 || key[i - 1] <= key[i]);

  static const uint32_t threads[] = {32, 96, 512};
  for (int k = 0; k < 3; k++) {
    l = launch_of("sort", "bitonic");
    int *in = ints(N, 1000, -500);
    unsigned data = launch_out(&l, in, N * 4);
    launch_int(&l, N);
    launch_run1(&l, 2, threads[k], 0);
    qsort(in, 512, 4, by_int);
    qsort(in + 512, N - 512, 4, by_int);
    ck_assert_mem_eq(in, l.arg[data].result, N * 4);
    free(in);
    launch_close(&l);
  }

  l = launch_of("sort", "warp_sort");
  float keys[5][32];
  uint16_t values[5][32];
  for (int r = 0; r < 5; r++)
    for (int c = 0; c < 32; c++) keys[r][c] = (float)(launch_random() % 20), values[r][c] = (uint16_t)c;
  unsigned k = launch_out(&l, keys, sizeof keys), v = launch_out(&l, values, sizeof values);
  launch_int(&l, 5);
  launch_run(&l, (uint32_t[3]){2, 1, 1}, (uint32_t[3]){32, 4, 1}, 0);
  const float *gk = l.arg[k].result;
  const uint16_t *gv = l.arg[v].result;
  for (int i = 0; i < 160; i++) {
    ck_assert(gk[i] == keys[i / 32][gv[i]]);
    if (i % 32) ck_assert(gk[i - 1] < gk[i] || (gk[i - 1] == gk[i] && gv[i - 1] < gv[i]));
  }
  launch_close(&l);
}
END_TEST

/* ---- histograms ------------------------------------------------------------------------------------ */

static const struct { const char *kernel; uint32_t grid, threads, shared; int bins; } forms[] = {
    {"histogram_global", 3, 100, 0, 256}, {"histogram_shared", 3, 96, 0, 256},
    {"histogram_warps", 2, 128, 4 * 257 * 4, 256}, {"histogram_match", 3, 100, 0, 256},
    {"histogram_bytes", 1, 64, 0, 64}};

START_TEST(histograms)
{
  static const int sizes[] = {0, 1, 77, 5003};
  for (int s = 0; s < 4; s++) {
    int n = sizes[s];
    uint8_t *in = malloc((size_t)n + 1);
    unsigned want[256] = {0}, zero[256] = {0};
    for (int i = 0; i < n; i++) {
      in[i] = (uint8_t)(launch_random() >> (i & 1 ? 24 : 28));
      want[forms[_i].bins == 64 ? in[i] >> 2 : in[i]]++;
    }
    struct launch l = launch_of("histogram", forms[_i].kernel);
    size_t bytes = (size_t)forms[_i].bins * 4;
    launch_in(&l, in, (size_t)n);
    unsigned bins = launch_out(&l, zero, bytes);
    launch_int(&l, n);
    launch_run1(&l, forms[_i].grid, forms[_i].threads, forms[_i].shared);
    ck_assert_mem_eq(l.arg[bins].result, want, bytes);
    launch_close(&l);
    free(in);
  }
}
END_TEST

/* ---- rows ----------------------------------------------------------------------------------------- */

static void softmax(const char *kernel, bool online, int rows, int cols)
{
  struct launch l = launch_of("rows", kernel);
  size_t n = (size_t)(rows * cols);
  float *in = floats(n);
  for (size_t i = 0; i < n; i++) in[i] *= 20;
  launch_in(&l, in, n * 4);
  unsigned out = launch_out(&l, NULL, n * 4);
  if (online) launch_int(&l, rows);
  launch_int(&l, cols);
  if (online) launch_run(&l, (uint32_t[3]){blocks(rows, 4), 1, 1}, (uint32_t[3]){32, 4, 1}, 0);
  else launch_run1(&l, (uint32_t)rows, 96, 0);
  for (size_t i = 0; i < n; i++) {
    const float *row = in + i / (size_t)cols * (size_t)cols;
    double most = -INFINITY, sum = 0;
    for (int c = 0; c < cols; c++) most = fmax(most, row[c]);
    for (int c = 0; c < cols; c++) sum += exp(row[c] - most);
    double want = exp(in[i] - most) / sum;
    /* exp of a difference of up to 40, itself rounded: 40 units, and the sum's. */
    launch_close_to(&l, i, ((float *)l.arg[out].result)[i], want, want * (120 + cols) * FLT_EPSILON);
  }
  free(in);
  launch_close(&l);
}

START_TEST(softmax_rows)
{
  static const int cols[] = {1, 33, 200};
  for (int k = 0; k < 3; k++) {
    softmax("softmax_block", false, 3, cols[k]);
    softmax("softmax_online", true, 6, cols[k]);
  }
}
END_TEST

START_TEST(layernorm_rows)
{
  static const int widths[] = {1, 45, 300};
  for (int k = 0; k < 3; k++) {
    int cols = widths[k], rows = 3;
    struct launch l = launch_of("rows", "layernorm");
    size_t n = (size_t)(rows * cols), w = (size_t)cols * 4;
    float *in = floats(n), *gain = floats((size_t)cols), *bias = floats((size_t)cols);
    launch_in(&l, in, n * 4), launch_in(&l, gain, w), launch_in(&l, bias, w);
    unsigned out = launch_out(&l, NULL, n * 4);
    launch_int(&l, cols), launch_float(&l, 1e-3f);
    launch_run1(&l, (uint32_t)rows, 64, (uint32_t)w);
    for (size_t i = 0; i < n; i++) {
      const float *row = in + i / (size_t)cols * (size_t)cols;
      double mean = 0, square = 0;
      for (int c = 0; c < cols; c++) mean += row[c] / (double)cols;
      for (int c = 0; c < cols; c++) square += (row[c] - mean) * (row[c] - mean) / cols;
      double scale = 1 / sqrt(square + 1e-3f), g = gain[i % (size_t)cols], b = bias[i % (size_t)cols];
      launch_close_to(&l, i, ((float *)l.arg[out].result)[i], (in[i] - mean) * scale * g + b,
                      (cols + 16) * (2 * scale * fabs(g) + fabs(b)) * FLT_EPSILON);
    }
    free(in), free(gain), free(bias);
    launch_close(&l);
  }
}
END_TEST

/* The mathematical library as nvcc puts it into PTX; bounds are a few units in the last place. */
START_TEST(library)
{
  enum { N = 131 };
  struct launch l = launch_of("rows", "functions");
  float in[N];
  for (int i = 0; i < N; i++) in[i] = launch_random_float() * (i % 3 ? 1 : 9);
  in[0] = 0;
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, NULL, N * 12 * 4), wide = launch_out(&l, NULL, N * 6 * 8);
  launch_int(&l, N);
  launch_run1(&l, 3, 64, 0);
  for (int i = 0; i < N; i++) {
    double x = in[i], q = fabs(in[i]);
    float x1000 = in[i] * 1000.f, log_of = fabsf(in[i]) + 0.01f;
    double want[12] = {0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))), erf(x),
                       sin(x1000), cos(x), log(log_of), pow(q, (double)1.7f), sqrt(q),
                       1 / (1 + exp(-x)), atan2(x, (double)0.3f), fmod(x, (double)0.37f), cbrt(x),
                       log1p(x * x)};
    for (int k = 0; k < 12; k++)
      launch_close_to(&l, (size_t)(12 * i + k), ((float *)l.arg[out].result)[12 * i + k], want[k],
                      (k ? fabs(want[k]) : fabs(x) + 1) * 8 * FLT_EPSILON + 1e-7);
    double w[6] = {exp(x), sin(x * 100), log(x * x + 0.5), sqrt(x * x + 1) / (x + 20),
                   pow(x * x + 0.1, 0.3), lgamma(x * x + 1.5)};
    for (int k = 0; k < 6; k++)
      launch_close_to(&l, (size_t)(6 * i + k), ((double *)l.arg[wide].result)[6 * i + k], w[k],
                      (fabs(w[k]) + 0.1) * 16 * DBL_EPSILON);
  }
  launch_close(&l);
}
END_TEST

/* ---- neighbours --------------------------------------------------------------------------------- */

static int clamp(int v, int most) { return v < 0 ? 0 : v > most ? most : v; }

START_TEST(stencils)
{
  static const struct { int w, h; } sizes[] = {{1, 1}, {32, 8}, {67, 21}};
  static const float weight[7] = {0.05f, -0.1f, 0.2f, 0.7f, 0.2f, -0.1f, 0.05f};
  for (int k = 0; k < 3; k++) {
    int w = sizes[k].w, h = sizes[k].h;
    size_t n = (size_t)(w * h);
    struct launch l = launch_of("grid", "stencil");
    float *in = floats(n);
    launch_in(&l, in, n * 4);
    unsigned out = launch_out(&l, NULL, n * 4);
    launch_int(&l, w), launch_int(&l, h);
    l.constant.symbol = "weight", l.constant.data = weight, l.constant.bytes = sizeof weight;
    launch_run(&l, (uint32_t[3]){blocks(w, 32), blocks(h, 8), 1}, (uint32_t[3]){32, 8, 1}, 0);
    for (int i = 0; i < w * h; i++) {
      int x = i % w, y = i / w;
      double want = (double)weight[3] * in[i];
      for (int d = -3; d <= 3; d++)
        if (d) want += weight[d + 3] * ((double)in[y * w + clamp(x + d, w - 1)] +
                                        in[clamp(y + d, h - 1) * w + x]);
      launch_close_to(&l, (size_t)i, ((float *)l.arg[out].result)[i], want, 13 * 2.2 * FLT_EPSILON);
    }
    free(in);
    launch_close(&l);
  }
}
END_TEST

START_TEST(life)
{
  static const struct { int w, h; } sizes[] = {{3, 3}, {16, 16}, {37, 21}};
  for (int k = 0; k < 3; k++) {
    int w = sizes[k].w, h = sizes[k].h;
    size_t n = (size_t)(w * h);
    uint8_t *in = malloc(n);
    for (size_t i = 0; i < n; i++) in[i] = launch_random() >> 31;
    struct launch l = launch_of("grid", "life");
    launch_in(&l, in, n);
    unsigned out = launch_out(&l, NULL, n);
    launch_int(&l, w), launch_int(&l, h);
    launch_run(&l, (uint32_t[3]){blocks(w, 16), blocks(h, 16), 1}, (uint32_t[3]){16, 16, 1}, 0);
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        int around = 0;
        for (int d = 0; d < 9; d++)
          if (d != 4) around += in[(y + d / 3 - 1 + h) % h * w + (x + d % 3 - 1 + w) % w];
        int want = around == 3 || (around == 2 && in[y * w + x]);
        ck_assert_int_eq(((uint8_t *)l.arg[out].result)[y * w + x], want);
      }
    free(in);
    launch_close(&l);
  }
}
END_TEST

START_TEST(bodies)
{
  enum { N = 150 };
  struct launch l = launch_of("grid", "nbody");
  float body[N][4];
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 4; k++) body[i][k] = launch_random_float() * 3 + (k == 3 ? 3 : 0);
  launch_in(&l, body, sizeof body);
  unsigned force = launch_out(&l, NULL, N * 12);
  launch_int(&l, N), launch_float(&l, 0.25f);
  launch_run1(&l, 3, 64, 64 * 16);
  for (int i = 0; i < N; i++) {
    double f[3] = {0}, size = 0;
    for (int j = 0; j < N; j++) {
      double d[3], r2 = 0.25;
      for (int k = 0; k < 3; k++) d[k] = (double)body[j][k] - body[i][k], r2 += d[k] * d[k];
      for (int k = 0; k < 3; k++) f[k] += body[j][3] * d[k] / (r2 * sqrt(r2));
      size += body[j][3] / r2;
    }
    for (int k = 0; k < 3; k++)
      launch_close_to(&l, (size_t)(3 * i + k), ((float *)l.arg[force].result)[3 * i + k], f[k],
                      N * size * FLT_EPSILON);
  }
  launch_close(&l);

  l = launch_of("grid", "mandelbrot");
  enum { W = 45, H = 13, MOST = 90 };
  double x0 = -2.1, y0 = -1.1, step = 0.07;
  unsigned out = launch_out(&l, NULL, W * H * 4);
  launch_int(&l, W), launch_int(&l, H);
  launch_bytes(&l, &x0, 8), launch_bytes(&l, &y0, 8), launch_bytes(&l, &step, 8);
  launch_int(&l, MOST);
  launch_run(&l, (uint32_t[3]){3, 2, 1}, (uint32_t[3]){16, 8, 1}, 0);
  for (int i = 0; i < W * H; i++) {
    double cx = fma(i % W, step, x0), cy = fma(i / W, step, y0), x = 0, y = 0;
    int k = 0;
    while (k < MOST && fma(x, x, y * y) < 4) {   /* as nvcc contracts it */
      double t = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = t;
      k++;
    }
    ck_assert_msg(((int *)l.arg[out].result)[i] == k, "mandelbrot [%d]: %d, not %d", i,
                  ((int *)l.arg[out].result)[i], k);
  }
  launch_close(&l);
}
END_TEST

/* ---- sparse rows, experts -------------------------------------------------------------------------- */

START_TEST(sparse)
{
  enum { ROWS = 77, COLS = 50 };
  int start[ROWS + 1] = {0}, col[ROWS * COLS];
  float value[ROWS * COLS], x[COLS];
  double value2[ROWS * COLS], x2[COLS];
  for (int c = 0; c < COLS; c++) x2[c] = x[c] = launch_random_float();
  for (int r = 0; r < ROWS; r++) {
    int n = r == 40 ? COLS : (int)(launch_random() % 7);   /* some rows are empty, one is full */
    for (int j = 0; j < n; j++) {
      int at = start[r] + j;
      col[at] = n == COLS ? j : (int)(launch_random() % COLS);
      value2[at] = value[at] = launch_random_float();
    }
    start[r + 1] = start[r] + n;
  }
  size_t n = (size_t)start[ROWS];
  for (int wide = 0; wide < 2; wide++) {
    struct launch l = launch_of("sparse", wide ? "csr_warp" : "csr_thread");
    size_t w = wide ? 8 : 4;
    launch_int(&l, ROWS);
    launch_in(&l, start, sizeof start), launch_in(&l, col, n * 4);
    launch_in(&l, wide ? (void *)value2 : value, n * w);
    launch_in(&l, wide ? (void *)x2 : x, COLS * w);
    unsigned y = launch_out(&l, NULL, ROWS * w);
    launch_run1(&l, wide ? blocks(ROWS, 3) : blocks(ROWS, 64), wide ? 96 : 64, 0);
    for (int r = 0; r < ROWS; r++) {
      double want = 0;
      for (int j = start[r]; j < start[r + 1]; j++) want += value2[j] * x2[col[j]];
      double got = wide ? ((double *)l.arg[y].result)[r] : ((float *)l.arg[y].result)[r];
      launch_close_to(&l, (size_t)r, got, want, COLS * COLS * (wide ? DBL_EPSILON : FLT_EPSILON));
    }
    launch_close(&l);
  }
}
END_TEST

START_TEST(experts)
{
  enum { TOKENS = 45, EXPERTS = 11, QUADS = 9 };
  struct launch l = launch_of("sparse", "route");
  float *logits = floats(TOKENS * EXPERTS);
  for (int i = 0; i < EXPERTS; i++) logits[i] = 1;         /* ties: the lower ones */
  int load[EXPERTS] = {0}, want[TOKENS * 2], zero[EXPERTS] = {0}, cursor[EXPERTS] = {0};
  launch_in(&l, logits, TOKENS * EXPERTS * 4);
  unsigned choice = launch_out(&l, NULL, sizeof want), weight = launch_out(&l, NULL, TOKENS * 8);
  unsigned loads = launch_out(&l, zero, sizeof zero);
  launch_int(&l, TOKENS), launch_int(&l, EXPERTS);
  launch_run1(&l, 12, 128, 0);
  for (int t = 0; t < TOKENS; t++) {
    const float *row = logits + t * EXPERTS;
    int one = 0, two = -1;
    for (int e = 1; e < EXPERTS; e++) if (row[e] > row[one]) one = e;
    for (int e = 0; e < EXPERTS; e++) if (e != one && (two < 0 || row[e] > row[two])) two = e;
    want[2 * t] = one, want[2 * t + 1] = two;
    load[one]++, load[two]++;
    launch_close_to(&l, (size_t)t, ((float *)l.arg[weight].result)[2 * t],
                    1 / (1 + exp((double)row[two] - row[one])), 8 * FLT_EPSILON);
  }
  ck_assert_mem_eq(l.arg[choice].result, want, sizeof want);
  ck_assert_mem_eq(l.arg[loads].result, load, sizeof load);
  launch_close(&l);

  for (int e = 1; e < EXPERTS; e++) cursor[e] = cursor[e - 1] + load[e - 1];
  l = launch_of("sparse", "permute");
  float *in = floats(TOKENS * QUADS * 4);
  launch_in(&l, in, TOKENS * QUADS * 16), launch_in(&l, want, sizeof want);
  unsigned end = launch_out(&l, cursor, sizeof cursor);
  unsigned out = launch_out(&l, NULL, 2 * TOKENS * QUADS * 16), from = launch_out(&l, NULL, sizeof want);
  launch_int(&l, 2 * TOKENS), launch_int(&l, QUADS);
  launch_run1(&l, 2 * TOKENS, 32, 0);
  const int *source = l.arg[from].result;
  for (int e = 0; e < EXPERTS; e++) {
    ck_assert_int_eq(((int *)l.arg[end].result)[e], cursor[e] + load[e]);
    for (int s = cursor[e]; s < cursor[e] + load[e]; s++) {
      ck_assert_int_lt((unsigned)source[s], TOKENS);
      ck_assert(want[2 * source[s]] == e || want[2 * source[s] + 1] == e);
      ck_assert_mem_eq((float *)l.arg[out].result + s * QUADS * 4, in + source[s] * QUADS * 4, QUADS * 16);
    }
  }
  free(in), free(logits);
  launch_close(&l);
}
END_TEST

/* ---- reductions ------------------------------------------------------------------------------------ */

START_TEST(ladder)
{
  static const char *const step[] = {"reduce0", "reduce1", "reduce2", "reduce3", "reduce4", "reduce5"};
  static const int n[] = {1, 100, 128, 1000};
  for (int k = 0; k < 4; k++) {
    struct launch l = launch_of("reduce", step[_i]);
    int per = _i >= 3 ? 256 : 128;
    uint32_t grid = blocks(n[k], per);
    float *in = floats((size_t)n[k]);
    launch_in(&l, in, (size_t)n[k] * 4);
    unsigned out = launch_out(&l, NULL, grid * 4);
    launch_int(&l, n[k]);
    launch_run1(&l, grid, 128, 512);
    for (uint32_t b = 0; b < grid; b++) {
      double sum = 0, size = 0;
      for (int i = (int)b * per; i < n[k] && i < ((int)b + 1) * per; i++) sum += in[i], size += fabs(in[i]);
      launch_close_to(&l, b, ((float *)l.arg[out].result)[b], sum, 9 * size * FLT_EPSILON);
    }
    free(in);
    launch_close(&l);
  }
}
END_TEST

START_TEST(last_block)
{
  struct launch l = launch_of("reduce", "reduce_last");
  int *in = ints(3000, 2000000, -1000000);
  long long want = 0;
  for (int i = 0; i < 3000; i++) want += in[i];
  launch_in(&l, in, 12000);
  launch_out(&l, NULL, 7 * 8);
  unsigned out = launch_out(&l, NULL, 8);
  launch_int(&l, 3000);
  launch_run1(&l, 7, 96, 0);
  ck_assert(*(long long *)l.arg[out].result == want);
  free(in);
  launch_close(&l);
}
END_TEST

/* One file by older and newer compilers: nvcc 11.8 (sm_80), NVRTC 12.4 (sm_75), clang 22. */
START_TEST(other_compilers)
{
  static const char *const by[] = {"-cuda11", "-cuda12", "-clang22"};
  static const int n[] = {31, 257, 1000};
  launch_variant = by[_i];
  for (int k = 0; k < 3; k++) {
    scan_int("blelloch", 256, 128, false, n[k]);
    scan_int("scan_shuffle", 96, 96, true, n[k]);
  }
  launch_variant = "";
}
END_TEST

static void by_clang(void) { launch_variant = "-clang"; }
static void by_nvcc(void) { launch_variant = ""; }

Suite *suite_kernels(void)
{
  Suite *s = suite_create("kernels");
  TCase *t = tcase_create("algorithms");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, products, 0, sizeof sizes / sizeof *sizes);
  tcase_add_test(t, scans);
  tcase_add_test(t, sorts);
  tcase_add_loop_test(t, histograms, 0, sizeof forms / sizeof *forms);
  tcase_add_test(t, softmax_rows);
  tcase_add_test(t, layernorm_rows);
  tcase_add_test(t, library);
  tcase_add_test(t, stencils);
  tcase_add_test(t, life);
  tcase_add_test(t, bodies);
  tcase_add_test(t, sparse);
  tcase_add_test(t, experts);
  tcase_add_loop_test(t, ladder, 0, 6);
  tcase_add_test(t, last_block);
  tcase_add_loop_test(t, other_compilers, 0, 3);
  suite_add_tcase(s, t);

  t = tcase_create("clang");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, by_clang, by_nvcc);
  tcase_add_loop_test(t, products, 0, sizeof sizes / sizeof *sizes);
  tcase_add_test(t, scans);
  tcase_add_test(t, sorts);
  tcase_add_loop_test(t, histograms, 0, sizeof forms / sizeof *forms);
  tcase_add_test(t, stencils);
  tcase_add_test(t, life);
  tcase_add_test(t, bodies);
  tcase_add_test(t, sparse);
  tcase_add_test(t, experts);
  tcase_add_loop_test(t, ladder, 0, 6);
  tcase_add_test(t, last_block);
  suite_add_tcase(s, t);
  test_kernels_styles(s);
  test_kernels_library(s);
  return s;
}
