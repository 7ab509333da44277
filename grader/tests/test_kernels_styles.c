/* Kernels in the habits of public code: structs by value, recursion, pointers to functions, virtual
 * functions, local arrays, switches, constants, inline PTX, printf, 64-bit atomics, cooperative
 * groups, the toolkit's own block primitives and its counter-based generator.  See test_kernels.c. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/launch.h"

void test_kernels_styles(Suite *s);

enum { N = 300 };

START_TEST(struct_by_value)
{
  struct vec { double x; float y; char tag; };
  struct config { int n; float scale; struct vec v[2]; uint64_t table; unsigned char flags[3]; };
  struct launch l = launch_of("styles", "struct_by_value");
  struct config c = {N, 0.5f, {{1.25, 2, 3}, {-4.5, 0.5f, -7}}, 0, {9, 200, 31}};
  float table[N];
  for (int i = 0; i < N; i++) table[i] = launch_random_float();
  launch_bytes(&l, &c, sizeof c);
  unsigned out = launch_out(&l, NULL, sizeof table);
  l.inside.parameter = 0, l.inside.offset = offsetof(struct config, table);
  l.inside.data = table, l.inside.bytes = sizeof table;
  launch_run1(&l, 3, 128, 0);
  for (int i = 0; i < N; i++) {
    const struct vec *v = &c.v[i & 1];
    launch_close_to(&l, (size_t)i, ((float *)l.arg[out].result)[i],
                    table[i] * 0.5 + v->x + v->y * v->tag + c.flags[i % 3], 4 * 220 * FLT_EPSILON);
  }
  launch_close(&l);
}
END_TEST

static int ackermann(int m, int n)
{
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

START_TEST(recursive)
{
  static const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
  struct launch l = launch_of("styles", "recursive");
  unsigned out = launch_out(&l, NULL, 64 * 4);
  launch_run1(&l, 1, 64, 0);
  for (int t = 0; t < 64; t++)
    ck_assert_int_eq(((int *)l.arg[out].result)[t], t & 1 ? fibonacci[t % 13] : ackermann(2, t % 5));
  launch_close(&l);
}
END_TEST

static int by_int(const void *a, const void *b)
{
  return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

START_TEST(local_sort)
{
  enum { THREADS = 80, EACH = 23 };
  struct launch l = launch_of("styles", "local_sort");
  int in[THREADS * EACH];
  for (int i = 0; i < THREADS * EACH; i++) in[i] = (int)(launch_random() % 50) - 25;
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, NULL, sizeof in);
  launch_int(&l, EACH);
  launch_run1(&l, 2, THREADS / 2, 0);
  for (int t = 0; t < THREADS; t++) qsort(in + t * EACH, EACH, 4, by_int);
  ck_assert_mem_eq(in, l.arg[out].result, sizeof in);
  launch_close(&l);
}
END_TEST

START_TEST(pointers)
{
  for (int virtual = 0; virtual < 2; virtual++) {
    struct launch l = launch_of("styles", virtual ? "virtual_functions" : "function_pointers");
    float in[N];
    for (int i = 0; i < N; i++) in[i] = launch_random_float();
    launch_in(&l, in, sizeof in);
    unsigned out = launch_out(&l, NULL, sizeof in);
    launch_int(&l, N);
    launch_run1(&l, 4, 96, 0);
    for (int i = 0; i < N; i++) {
      double x = in[i], one[4] = {x + 3, x - 3, x * 3, x * x * x};
      double want = virtual ? (i % 3 ? x * x : 3 * x * x) : one[(i * 7 + i / 5) & 3];
      launch_close_to(&l, (size_t)i, ((float *)l.arg[out].result)[i], want, 8 * FLT_EPSILON);
    }
    launch_close(&l);
  }
}
END_TEST

static uint32_t reverse(uint32_t v)
{
  uint32_t r = 0;
  for (int k = 0; k < 32; k++) r |= (v >> k & 1) << (31 - k);
  return r;
}

static int one_case(int v)
{
  uint32_t u = (uint32_t)v;
  uint64_t both = (uint64_t)~u << 32 | u;
  switch (v & 15) {
  case 0: return (int)(u * 3);
  case 1: return v ^ 0x55;
  case 2:
  case 3: return v >> 2;
  case 4: return v == 0 ? 32 : __builtin_clz(u);
  case 5: return v / 7;
  case 6: return v % 7;
  case 7: return (int)reverse(u);
  case 8: return ~v;
  case 9: {   /* the nibbles of 0x3715 from the low one pick bytes of `both` */
    uint32_t r = 0;
    for (int k = 0; k < 4; k++) r |= (uint32_t)(both >> 8 * (0x3715 >> 4 * k & 7) & 255) << 8 * k;
    return (int)r;
  }
  case 10: return (int)((int64_t)v * v >> 32);
  case 11: return (int)(both << (u >> 4 & 31) >> 32);
  default: return (int)-u;
  }
}

START_TEST(switches)
{
  struct launch l = launch_of("styles", "switches");
  int in[N], before[N];
  for (int i = 0; i < N; i++) in[i] = (int)launch_random(), before[i] = i;
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, before, sizeof in);
  launch_int(&l, N);
  launch_run1(&l, 4, 96, 0);
  for (int i = 0; i < N; i++)
    ck_assert_msg(((int *)l.arg[out].result)[i] == ((in[i] & 15) == 12 ? i : one_case(in[i])),
                  "case %d", in[i] & 15);
  launch_close(&l);
}
END_TEST

START_TEST(constants)
{
  static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29}, b[] = {1, -2, 3};
  struct launch l = launch_of("styles", "constants");
  float x[45];
  for (int i = 0; i < 45; i++) x[i] = launch_random_float() * 100;
  unsigned out = launch_out(&l, NULL, sizeof x);
  launch_in(&l, x, sizeof x);
  launch_int(&l, 45);
  launch_run1(&l, 1, 64, 0);
  for (int i = 0; i < 45; i++)
    ck_assert_int_eq(((int *)l.arg[out].result)[i],
                     primes[i % 10] + b[i % 3] + "pdq"[i % 3] + (int)x[i] + 5);
  launch_close(&l);
}
END_TEST

START_TEST(inline_ptx)
{
  enum { T = 64 };
  struct launch l = launch_of("styles", "inline_ptx");
  uint32_t in[2 * T];
  for (int i = 0; i < 2 * T; i++) in[i] = launch_random();
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, NULL, sizeof in), wide = launch_out(&l, NULL, T * 8);
  launch_run1(&l, 1, T, 0);
  for (unsigned t = 0; t < T; t++) {
    uint32_t a = in[t], b = in[t + T], s = a >> t % 32 & 127, dot = s;
    for (int k = 0; k < 32; k += 8) dot += (a >> k & 255) * (b >> k & 255);
    ck_assert_uint_eq(((uint32_t *)l.arg[out].result)[t], (a < b ? a : b) ^ a ^ s);
    ck_assert_uint_eq(((uint32_t *)l.arg[out].result)[t + T], dot);
    ck_assert_uint_eq(((uint64_t *)l.arg[wide].result)[t], (uint64_t)a * b + s);
  }
  launch_close(&l);
}
END_TEST

START_TEST(prints)
{
  struct launch l = launch_of("styles", "prints");
  char want[2000] = "";
  size_t n = 0;
  launch_int(&l, 20);
  launch_in(&l, "unused", 7);
  launch_run1(&l, 3, 8, 0);
  for (int i = 0; i < 20; i++)
    n += (size_t)snprintf(want + n, sizeof want - n, "%s %d of %5.2f, %llx %c%%\n", "thread", i, i / 4.0,
                          1ull << (i + 30), 'a' + i);
  ck_assert_str_eq(l.result.printed, want);
  launch_close(&l);
}
END_TEST

START_TEST(long_atomics)
{
  struct launch l = launch_of("styles", "long_atomics");
  int64_t in[N], low = INT64_MAX, high = INT64_MIN;
  uint64_t sum = 5, two[2] = {7, 1}, five = 5;
  double total = 0, zero = 0;
  for (int i = 0; i < N; i++) in[i] = (int64_t)((uint64_t)launch_random() << 32 | launch_random());
  launch_in(&l, in, sizeof in);
  unsigned at = launch_out(&l, &five, 8);
  launch_out(&l, &low, 8), launch_out(&l, &high, 8), launch_out(&l, two, 16), launch_out(&l, &zero, 8);
  launch_int(&l, N);
  launch_run1(&l, 5, 64, 0);
  for (int i = 0; i < N; i++) {
    sum += (uint64_t)in[i], two[0] ^= (uint64_t)in[i], two[1] *= 2 * (uint64_t)i + 1;
    if (in[i] < low) low = in[i];
    if (in[i] > high) high = in[i];
    total += (double)(in[i] & 1023);
  }
  ck_assert_uint_eq(*(uint64_t *)l.arg[at].result, sum);
  ck_assert_int_eq(*(int64_t *)l.arg[at + 1].result, low);
  ck_assert_int_eq(*(int64_t *)l.arg[at + 2].result, high);
  ck_assert_mem_eq(l.arg[at + 3].result, two, 16);
  ck_assert(*(double *)l.arg[at + 4].result == total);
  launch_close(&l);
}
END_TEST

START_TEST(parted)
{
  for (int n = 8; n <= 40; n += 32) {
    struct launch l = launch_of("styles", "parted");
    float in[40];
    for (int i = 0; i < n; i++) in[i] = launch_random_float();
    launch_in(&l, in, (size_t)n * 4);
    unsigned out = launch_out(&l, NULL, (size_t)n * 8);
    launch_int(&l, n);
    launch_run1(&l, 1, 64, (uint32_t)n * 15);
    for (int t = 0; t < n; t++)
      launch_close_to(&l, (size_t)t, ((double *)l.arg[out].result)[t],
                      in[n - 1 - t] * 2.0 + in[t * 7 % n] + t * 3 % n * ((t + 1) % n & 15),
                      600 * 3 * FLT_EPSILON);
    launch_close(&l);
  }
}
END_TEST

START_TEST(templates)
{
  enum { T = 50 };
  struct launch l = launch_of("styles", "matrix_power");
  uint32_t in[T][9];
  for (int i = 0; i < T * 9; i++) in[i / 9][i % 9] = launch_random();
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, NULL, sizeof in);
  launch_int(&l, 13);
  launch_run1(&l, 2, T / 2, 0);
  for (int t = 0; t < T; t++) {
    uint32_t r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, next[9];
    for (int e = 0; e < 13; e++) {
      for (int k = 0; k < 9; k++)
        next[k] = r[k / 3 * 3] * in[t][k % 3] + r[k / 3 * 3 + 1] * in[t][3 + k % 3] +
                  r[k / 3 * 3 + 2] * in[t][6 + k % 3];
      memcpy(r, next, sizeof r);
    }
    ck_assert_mem_eq((uint32_t *)l.arg[out].result + 9 * t, r, sizeof r);
  }
  launch_close(&l);

  l = launch_of("styles", "lambdas");
  int v[N];
  for (int i = 0; i < N; i++) v[i] = (int)(launch_random() >> 8);
  launch_in(&l, v, sizeof v);
  out = launch_out(&l, NULL, sizeof v);
  launch_int(&l, N), launch_int(&l, 11);
  launch_run1(&l, 2, 64, 0);
  for (int i = 0; i < N; i++)
    ck_assert_uint_eq(((uint32_t *)l.arg[out].result)[i], (uint32_t)v[i] * 11u + N);
  launch_close(&l);
}
END_TEST

/* ---- cooperative groups ----------------------------------------------------------------------------- */

START_TEST(groups)
{
  struct launch l = launch_of("groups", "group_reduce");
  int in[N];
  for (int i = 0; i < N; i++) in[i] = (int)(launch_random() % 2000) - 1000;
  launch_in(&l, in, sizeof in);
  unsigned sum = launch_out(&l, NULL, 4 * 4), most = launch_out(&l, NULL, 96 * 4);
  launch_int(&l, N);
  launch_run1(&l, 4, 96, 0);
  for (int b = 0; b < 4; b++) {
    int want = 0;
    for (int i = 96 * b; i < N && i < 96 * b + 96; i++) want += in[i];
    ck_assert_int_eq(((int *)l.arg[sum].result)[b], want);
  }
  for (int q = 0; q < 96; q++) {
    int want = INT32_MIN;
    for (int i = 4 * q; i < 4 * q + 4; i++) want = (i < N ? in[i] : 0) > want ? (i < N ? in[i] : 0) : want;
    ck_assert_int_eq(((int *)l.arg[most].result)[q], want);
  }
  launch_close(&l);
}
END_TEST

static int by_float(const void *a, const void *b)
{
  return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

START_TEST(group_filter)
{
  struct launch l = launch_of("groups", "group_filter");
  float in[N], want[N];
  int n = 0, zero = 0;
  for (int i = 0; i < N; i++) if ((in[i] = launch_random_float()) > 0) want[n++] = in[i];
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, NULL, (size_t)n * 4), count = launch_out(&l, &zero, 4);
  launch_int(&l, N);
  launch_run1(&l, 4, 80, 0);
  ck_assert_int_eq(*(int *)l.arg[count].result, n);
  qsort(l.arg[out].result, (size_t)n, 4, by_float);
  qsort(want, (size_t)n, 4, by_float);
  ck_assert_mem_eq(l.arg[out].result, want, (size_t)n * 4);
  launch_close(&l);
}
END_TEST

START_TEST(group_scan)
{
  struct launch l = launch_of("groups", "group_scan");
  float in[N];
  for (int i = 0; i < N; i++) in[i] = launch_random_float();
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, NULL, sizeof in), label = launch_out(&l, NULL, sizeof in);
  launch_int(&l, N);
  launch_run1(&l, 5, 64, 0);
  for (int i = 0; i < N; i++) {
    double want = 0, size = 0;
    for (int j = i & ~15; j <= i; j++) want += in[j], size += fabs(in[j]);
    launch_close_to(&l, (size_t)i, ((float *)l.arg[out].result)[i], want, 6 * size * FLT_EPSILON);
    int t = i % 64, first = t & ~31, members = 0, rank = 0;
    for (int u = first; u < first + 32; u++)
      if (u % 3 == t % 3) members++, rank += u < t;
    ck_assert_int_eq(((int *)l.arg[label].result)[i], members * 100 + rank);
  }
  launch_close(&l);
}
END_TEST

/* ---- the toolkit's block primitives, its generator ---------------------------------------------------- */

START_TEST(block_primitives)
{
  struct launch l = launch_of("block", "block_reduce");
  float in[N];
  int v[1000];
  for (int i = 0; i < N; i++) in[i] = launch_random_float();
  launch_in(&l, in, sizeof in);
  unsigned out = launch_out(&l, NULL, 12);
  launch_int(&l, N);
  launch_run1(&l, 3, 128, 0);
  for (int b = 0; b < 3; b++) {
    double sum = 0, size = 0;
    for (int i = 128 * b; i < N && i < 128 * b + 128; i++) sum += in[i], size += fabs(in[i]);
    launch_close_to(&l, (size_t)b, ((float *)l.arg[out].result)[b], sum, 8 * size * FLT_EPSILON);
  }
  launch_close(&l);

  l = launch_of("block", "block_scan");
  for (int i = 0; i < 1000; i++) v[i] = (int)launch_random() >> 16;
  launch_in(&l, v, sizeof v);
  out = launch_out(&l, NULL, sizeof v);
  launch_int(&l, 1000);
  launch_run1(&l, 2, 128, 0);
  for (int i = 0, sum = 0; i < 1000; i++) {
    if (i % 512 == 0) sum = 0;
    ck_assert_int_eq(((int *)l.arg[out].result)[i], sum);
    sum += v[i];
  }
  launch_close(&l);
}
END_TEST

struct pair { uint32_t key; int value; };

static int by_pair(const void *a, const void *b)
{
  const struct pair *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->value - y->value;
}

START_TEST(block_sort)
{
  struct launch l = launch_of("block", "block_sort");
  struct pair p[1024];
  uint32_t keys[1024];
  int values[1024];
  for (int i = 0; i < 1024; i++) {
    keys[i] = p[i].key = i < 512 ? launch_random() : launch_random() % 50;   /* stable */
    values[i] = p[i].value = i;
  }
  unsigned k = launch_out(&l, keys, sizeof keys), v = launch_out(&l, values, sizeof values);
  launch_run1(&l, 2, 128, 0);
  qsort(p, 512, sizeof *p, by_pair);
  qsort(p + 512, 512, sizeof *p, by_pair);
  for (int i = 0; i < 1024; i++) {
    ck_assert_uint_eq(((uint32_t *)l.arg[k].result)[i], p[i].key);
    ck_assert_int_eq(((int *)l.arg[v].result)[i], p[i].value);
  }
  launch_close(&l);
}
END_TEST

/* Philox 4x32, ten rounds: Salmon and others, 2011. */
static void philox_block(const uint32_t counter[4], uint64_t seed, uint32_t out[4])
{
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32), c[4];
  memcpy(c, counter, sizeof c);
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)0xd2511f53u * c[0], b = (uint64_t)0xcd9e8d57u * c[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                        (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
    memcpy(c, next, sizeof c);
    k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
  }
  memcpy(out, c, sizeof c);
}

START_TEST(philox)
{
  uint64_t seed = 0x123456789abcdefu;
  struct launch l = launch_of("philox", "philox");
  unsigned out = launch_out(&l, NULL, N * 24), uniform = launch_out(&l, NULL, N * 4);
  unsigned normal = launch_out(&l, NULL, N * 8);
  launch_bytes(&l, &seed, 8), launch_int(&l, N);
  launch_run1(&l, 5, 64, 0);
  for (uint32_t i = 0; i < N; i++) {
    uint32_t r[12];   /* the thread is the subsequence: the counter's high half */
    for (uint32_t b = 0; b < 3; b++) philox_block((uint32_t[4]){b, 0, i, 0}, seed, r + 4 * b);
    ck_assert_mem_eq((uint32_t *)l.arg[out].result + 6 * i, r, 24);
    double unit = 1 / 4294967296.0;
    launch_close_to(&l, i, ((float *)l.arg[uniform].result)[i], r[6] * unit + unit / 2, FLT_EPSILON);
    /* Box and Muller. */
    double u = r[7] * unit + unit / 2, v = (r[8] * unit + unit / 2) * 2 * acos(-1);
    double radius = sqrt(-2 * log(u));
    const float *z = (float *)l.arg[normal].result + 2 * i;
    launch_close_to(&l, i, z[0], radius * sin(v), radius * 2e-6 + 1e-6);
    launch_close_to(&l, i, z[1], radius * cos(v), radius * 2e-6 + 1e-6);
  }
  launch_close(&l);
}
END_TEST

/* The product on tensor cores, and halves. */
static uint16_t half_of(int n, double *value)   /* n / 16, exact as a half: |n| <= 2048 */
{
  unsigned sign = n < 0, m = (unsigned)(n < 0 ? -n : n), e = 0;
  *value = n / 16.0;
  if (m == 0) return 0;
  while (m >> (e + 1)) e++;
  return (uint16_t)(sign << 15 | (e - 4 + 15) << 10 | ((m << 10 >> e) & 1023));
}

START_TEST(tensor_product)
{
  static const struct { int m, n, k; } sizes[] = {{1, 1, 16}, {32, 32, 16}, {45, 70, 48}};
  for (int z = 0; z < 3; z++) {
    int m = sizes[z].m, n = sizes[z].n, k = sizes[z].k;
    struct launch l = launch_of("mma", "gemm_mma");
    uint16_t a[45 * 48], b[48 * 70];
    double a2[45 * 48], b2[48 * 70];
    for (int i = 0; i < m * k; i++) a[i] = half_of((int)(launch_random() % 400) - 200, &a2[i]);
    for (int i = 0; i < k * n; i++) b[i] = half_of((int)(launch_random() % 400) - 200, &b2[i]);
    launch_in(&l, a, (size_t)(m * k) * 2), launch_in(&l, b, (size_t)(k * n) * 2);
    unsigned c = launch_out(&l, NULL, (size_t)(m * n) * 4);
    launch_int(&l, m), launch_int(&l, n), launch_int(&l, k);
    launch_run(&l, (uint32_t[3]){(uint32_t)(n + 31) / 32, (uint32_t)(m + 31) / 32, 1},
               (uint32_t[3]){128, 1, 1}, 0);
    for (int i = 0; i < m * n; i++) {
      double want = 0;
      for (int x = 0; x < k; x++) want += a2[i / n * k + x] * b2[x * n + i % n];
      /* All terms are multiples of 2^-8 and the sums below 2^14: exact in any order. */
      launch_close_to(&l, (size_t)i, ((float *)l.arg[c].result)[i], want, 0);
    }
    launch_close(&l);
  }
}
END_TEST

START_TEST(half_pairs)
{
  enum { PAIRS = 70 };
  struct launch l = launch_of("mma", "half_axpy");
  uint16_t x[PAIRS * 2], y[PAIRS * 2], r[PAIRS * 2];
  double x2[PAIRS * 2], want[PAIRS * 2], y2;
  for (int i = 0; i < 2 * PAIRS; i++) {
    int nx = (int)(launch_random() % 128) - 64, ny = (int)(launch_random() % 128) - 64;
    x[i] = half_of(nx, &x2[i]), y[i] = half_of(ny, &y2);
    r[i] = half_of(3 * nx + ny, &want[i]);          /* exact */
  }
  launch_in(&l, x, sizeof x);
  unsigned out = launch_out(&l, y, sizeof y), dot = launch_out(&l, NULL, PAIRS * 4);
  launch_float(&l, 3), launch_int(&l, PAIRS);
  launch_run1(&l, 3, 32, 0);
  ck_assert_mem_eq(l.arg[out].result, r, sizeof r);
  for (int i = 0; i < PAIRS; i++) {
    double p = want[2 * i] * want[2 * i + 1];       /* rounded to half: 2^-11 of it */
    launch_close_to(&l, (size_t)i, ((float *)l.arg[dot].result)[i],
                    want[2 * i] * x2[2 * i] + want[2 * i + 1] * x2[2 * i + 1] + p,
                    fabs(p) / 2048 + 1e-3);
  }
  launch_close(&l);
}
END_TEST

static void unoptimised(void) { launch_variant = "-debug"; }
static void other_target(void) { launch_variant = "-sm120"; }
static void usual(void) { launch_variant = ""; }

void test_kernels_styles(Suite *s)
{
  TCase *t = tcase_create("styles");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, struct_by_value);
  tcase_add_test(t, recursive);
  tcase_add_test(t, local_sort);
  tcase_add_test(t, pointers);
  tcase_add_test(t, switches);
  tcase_add_test(t, constants);
  tcase_add_test(t, inline_ptx);
  tcase_add_test(t, prints);
  tcase_add_test(t, long_atomics);
  tcase_add_test(t, parted);
  tcase_add_test(t, templates);
  tcase_add_test(t, groups);
  tcase_add_test(t, group_filter);
  tcase_add_test(t, group_scan);
  tcase_add_test(t, block_primitives);
  tcase_add_test(t, block_sort);
  tcase_add_test(t, philox);
  tcase_add_test(t, tensor_product);
  tcase_add_test(t, half_pairs);
  suite_add_tcase(s, t);

  t = tcase_create("nvcc -G");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, unoptimised, usual);
  tcase_add_test(t, struct_by_value);
  tcase_add_test(t, recursive);
  tcase_add_test(t, local_sort);
  tcase_add_test(t, pointers);
  tcase_add_test(t, switches);
  tcase_add_test(t, constants);
  tcase_add_test(t, inline_ptx);
  tcase_add_test(t, prints);
  tcase_add_test(t, long_atomics);
  tcase_add_test(t, templates);
  suite_add_tcase(s, t);

  t = tcase_create("compute capability 12.0");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, other_target, usual);
  tcase_add_test(t, groups);
  tcase_add_test(t, group_filter);
  tcase_add_test(t, group_scan);
  suite_add_tcase(s, t);
}
