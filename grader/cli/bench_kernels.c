/* What `banks bench` runs: one row a kernel of bench/kernels.cu. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"

void bench_job_close(struct bench_job *j)
{
  for (unsigned k = 0; k < j->nbuffers; k++) free(j->buffers[k].in);
  for (unsigned k = 0; k < j->nbuffers; k++) j->buffers[k].in = NULL;
}

static void shape(struct bench_job *j, uint32_t gx, uint32_t gy, uint32_t bx, uint32_t by)
{
  *j = (struct bench_job){.grid = {gx, gy, 1}, .block = {bx, by, 1}};
}

/* The next parameter: a buffer with bytes to be filled in. */
static void *input(struct bench_job *j, const char *name, size_t bytes)
{
  void *in = malloc(bytes);
  j->buffers[j->nbuffers++] = (struct bench_buffer){.name = name, .bytes = bytes, .in = in};
  return in;
}

static void output(struct bench_job *j, size_t bytes)
{
  j->buffers[j->nbuffers++] = (struct bench_buffer){.name = "out", .bytes = bytes};
}

/* ---- arithmetic only ----------------------------------------------------------------------------- */

static bool prepare_alu(struct bench_job *j, enum bench_size size)
{
  static const uint32_t blocks[] = {1, 4, 128};
  static const int32_t rounds[] = {500, 40000, 10000};
  shape(j, blocks[size], 1, 128, 1);
  j->n = rounds[size];
  output(j, (size_t)blocks[size] * 128 * 4);
  snprintf(j->title, sizeof j->title, "arithmetic loop");
  return true;
}

static bool check_alu(const struct bench_job *j, const void *out)
{
  const uint32_t *got = out;
  for (uint32_t t = 0; t < j->grid[0] * 128; t += 77) {
    uint32_t a = t % 128, b = t / 128 + 1, c = 7;
    float f = (float)a, g = (float)b;
    for (int k = 0; k < j->n; k++) {   /* as nvcc contracts it */
      a = a * 1664525u + b;
      b = b ^ (a >> 7);
      c = c + (b & a);
      f = __builtin_fmaf(f, 0.5f, g);
      g = __builtin_fmaf(f, -0.25f, g);
    }
    if (got[t] != a + b + c + (unsigned)(f + g)) return false;
  }
  return true;
}

/* ---- transpose ------------------------------------------------------------------------------------- */

static bool prepare_transpose(struct bench_job *j, enum bench_size size)
{
  static const uint32_t side[] = {64, 1024, 4000};
  size_t n = side[size];
  shape(j, side[size] / 32, side[size] / 32, 32, 8);
  j->n = (int32_t)n;
  float *in = input(j, "in", n * n * sizeof *in);
  output(j, n * n * sizeof *in);
  for (size_t k = 0; in && k < n * n; k++) in[k] = (float)k;
  snprintf(j->title, sizeof j->title, "transpose %zu x %zu", n, n);
  return in != NULL;
}

static bool check_transpose(const struct bench_job *j, const void *out)
{
  const float *in = j->buffers[0].in, *got = out;
  size_t n = (size_t)j->n;
  for (size_t k = 0; k < n * n; k++)
    if (got[k] != in[k % n * n + k / n]) return false;
  return true;
}

/* ---- tiled product ------------------------------------------------------------------------------- */

static bool prepare_gemm(struct bench_job *j, enum bench_size size)
{
  static const uint32_t side[] = {32, 256, 512};
  size_t n = side[size], bytes = n * n * sizeof(float);
  shape(j, side[size] / 16, side[size] / 16, 16, 16);
  j->n = (int32_t)n;
  float *a = input(j, "a", bytes), *b = input(j, "b", bytes);
  output(j, bytes);
  for (size_t k = 0; a && b && k < n * n; k++) a[k] = (float)(k % 7), b[k] = (float)(k % 5);
  snprintf(j->title, sizeof j->title, "tiled product %zu^3", n);
  return a && b;
}

static bool check_gemm(const struct bench_job *j, const void *out)
{
  const float *a = j->buffers[0].in, *b = j->buffers[1].in, *got = out;
  size_t n = (size_t)j->n;
  float row[512];
  for (size_t r = 0; r < n; r++) {   /* small integers: exact in any order */
    memset(row, 0, sizeof row);
    for (size_t k = 0; k < n; k++)
      for (size_t c = 0; c < n; c++) row[c] += a[r * n + k] * b[k * n + c];
    if (memcmp(row, got + r * n, n * sizeof *row)) return false;
  }
  return true;
}

/* ---- histogram ------------------------------------------------------------------------------------- */

static bool prepare_histogram(struct bench_job *j, enum bench_size size)
{
  static const int bits[] = {14, 20, 24};
  static const uint32_t blocks[] = {4, 64, 1024};
  size_t n = (size_t)1 << bits[size];
  shape(j, blocks[size], 1, 256, 1);
  j->n = (int32_t)n;
  uint8_t *in = input(j, "in", n);
  output(j, 256 * sizeof(uint32_t));
  uint32_t state = 1;
  for (size_t k = 0; in && k < n; k++) {
    state = state * 1664525 + 1013904223;
    in[k] = (uint8_t)(state >> 24);
  }
  snprintf(j->title, sizeof j->title, "histogram of 2^%d bytes", bits[size]);
  return in != NULL;
}

static bool check_histogram(const struct bench_job *j, const void *out)
{
  const uint8_t *in = j->buffers[0].in;
  uint32_t want[256] = {0};
  for (int32_t k = 0; k < j->n; k++) want[in[k]]++;
  return !memcmp(want, out, sizeof want);
}

const struct bench_kernel bench_kernels[] = {
    {"alu", true, prepare_alu, check_alu},
    {"transpose", true, prepare_transpose, check_transpose},
    {"gemm", true, prepare_gemm, check_gemm},
    {"histogram", true, prepare_histogram, check_histogram},
};
const size_t bench_nkernels = sizeof bench_kernels / sizeof *bench_kernels;
