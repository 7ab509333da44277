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

/* ---- arithmetic only ------------------------------------------------------------------ */

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
      g = __builtin_fmaf(f, -0.25f, 1.5f);
    }
    if (got[t] != a + b + c + (unsigned)(f + g)) return false;
  }
  return true;
}

/* ---- transpose ------------------------------------------------------------------------ */

static bool prepare_transpose(struct bench_job *j, enum bench_size size)
{
  static const uint32_t side[] = {256, 1024, 4000};
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

/* ---- tiled product -------------------------------------------------------------------- */

static bool prepare_gemm(struct bench_job *j, enum bench_size size)
{
  static const uint32_t side[] = {64, 256, 512};
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

/* ---- histogram ------------------------------------------------------------------------ */

static bool prepare_histogram(struct bench_job *j, enum bench_size size)
{
  static const int bits[] = {16, 20, 24};
  static const uint32_t blocks[] = {8, 64, 1024};
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

/* ---- other kinds ---------------------------------------------------------------------- */

static uint32_t random_next(uint32_t *state)
{
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

static uint32_t *random_input(struct bench_job *j, const char *name, size_t n, uint32_t below)
{
  uint32_t *in = input(j, name, n * sizeof *in), state = 7;
  for (size_t k = 0; in && k < n; k++) in[k] = random_next(&state) % below;
  return in;
}

static bool prepare_shuffle(struct bench_job *j, enum bench_size size)
{
  uint32_t blocks = size == BENCH_ONCE ? 1 : 32;
  shape(j, blocks, 1, 256, 1);
  j->n = size == BENCH_ONCE ? 1 << 14 : 1 << 19;
  snprintf(j->title, sizeof j->title, "shuffle reduction");
  bool ok = random_input(j, "in", (size_t)j->n, 1u << 20) != NULL;
  output(j, (size_t)j->n / 32 * 4);
  return ok;
}

static bool check_shuffle(const struct bench_job *j, const void *out)
{
  const uint32_t *in = j->buffers[0].in, *got = out;
  for (int32_t w = 0; w < j->n / 32; w++) {
    uint32_t sum = 0;
    for (int l = 0; l < 32; l++) sum += in[32 * w + l];
    if (got[w] != sum) return false;
  }
  return true;
}

/* Halves of small integers: 0 to 3. */
static uint16_t small_half(uint32_t k)
{
  static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200};
  return halves[k % 4];
}
static uint32_t tensor_a(uint32_t r, uint32_t c) { return (r * 3 + c) % 4; }
static uint32_t tensor_b(uint32_t r, uint32_t c) { return (r + c / 3) % 4; }

static bool prepare_tensor(struct bench_job *j, enum bench_size size)
{
  uint32_t n = size == BENCH_ONCE ? 128 : 256;
  shape(j, n / 64, n / 64, 128, 1);
  j->n = (int32_t)n;
  snprintf(j->title, sizeof j->title, "ldmatrix and mma, %u^3", n);
  uint16_t *a = input(j, "a", (size_t)n * n * 2), *b = input(j, "b", (size_t)n * n * 2);
  output(j, (size_t)n * n * 4);
  for (uint32_t k = 0; a && b && k < n * n; k++) {
    a[k] = small_half(tensor_a(k / n, k % n));
    b[k] = small_half(tensor_b(k / n, k % n));
  }
  return a && b;
}

static bool check_tensor(const struct bench_job *j, const void *out)
{
  const float *got = out;
  uint32_t n = (uint32_t)j->n;
  for (uint32_t at = 0; at < n * n; at += 5) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < n; k++) sum += tensor_a(at / n, k) * tensor_b(at % n, k);
    if (got[at] != (float)sum) return false;
  }
  return true;
}

static bool prepare_pipeline(struct bench_job *j, enum bench_size size)
{
  uint32_t blocks = size == BENCH_ONCE ? 1 : 32;
  const int32_t tiles = 64;
  shape(j, blocks, 1, 256, 1);
  j->n = tiles;
  snprintf(j->title, sizeof j->title, "cp.async pipeline");
  bool ok = random_input(j, "in", (size_t)blocks * (size_t)tiles * 1024, 1u << 20) != NULL;
  output(j, (size_t)blocks * 256 * 4);
  return ok;
}

static bool check_pipeline(const struct bench_job *j, const void *out)
{
  const uint32_t *got = out, *in = j->buffers[0].in;
  for (uint32_t t = 0; t < j->grid[0] * 256; t++) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < (uint32_t)j->n; k++) {
      const uint32_t *v = in + (((size_t)(t / 256) * (uint32_t)j->n + k) * 256 + 255 - t % 256) * 4;
      sum = sum * 3 + v[0] + v[1] + v[2] + v[3];
    }
    if (got[t] != sum) return false;
  }
  return true;
}

enum { TABLE = 1 << 16 };

static bool prepare_gather(struct bench_job *j, enum bench_size size)
{
  shape(j, size == BENCH_ONCE ? 1 : 32, 1, 256, 1);
  j->n = size == BENCH_ONCE ? 1 << 14 : 1 << 18;
  snprintf(j->title, sizeof j->title, "scattered gather");
  bool ok = random_input(j, "in", TABLE, 1u << 20) && random_input(j, "index", (size_t)j->n, TABLE);
  output(j, (size_t)j->n * 4);
  return ok;
}

static bool check_gather(const struct bench_job *j, const void *out)
{
  const uint32_t *in = j->buffers[0].in, *index = j->buffers[1].in, *got = out;
  for (int32_t k = 0; k < j->n; k++) {
    uint32_t low = index[k] % 1024;
    if (got[k] != in[index[k]] + (in[low] ^ low)) return false;
  }
  return true;
}

static bool prepare_diverge(struct bench_job *j, enum bench_size size)
{
  uint32_t blocks = size == BENCH_ONCE ? 1 : 64;
  shape(j, blocks, 1, 256, 1);
  j->n = (int32_t)blocks * 256;
  snprintf(j->title, sizeof j->title, "lanes that part");
  uint32_t *in = random_input(j, "in", (size_t)j->n, 10000);
  for (int32_t k = 0; in && k < j->n; k++) in[k]++;
  output(j, (size_t)j->n * 4);
  return in != NULL;
}

static bool check_diverge(const struct bench_job *j, const void *out)
{
  const uint32_t *in = j->buffers[0].in, *got = out;
  for (int32_t k = 0; k < j->n; k++) {
    uint32_t v = in[k], steps = 0;
    while (v != 1) {
      v = v & 1 ? 3 * v + 1 : v >> 1;
      steps++;
      if (steps % 8 == 0 && (v & 2)) steps += (uint32_t)__builtin_popcount(v);
    }
    if (got[k] != steps) return false;
  }
  return true;
}

static bool prepare_atomics(struct bench_job *j, enum bench_size size)
{
  shape(j, size == BENCH_ONCE ? 1 : 16, 1, 256, 1);
  j->n = size == BENCH_ONCE ? 1 << 14 : 1 << 18;
  snprintf(j->title, sizeof j->title, "float and returning atomics");
  bool ok = random_input(j, "in", (size_t)j->n, 1u << 20) != NULL;
  output(j, 33 * 4);
  return ok;
}

static bool check_atomics(const struct bench_job *j, const void *out)
{
  const uint32_t *in = j->buffers[0].in, *got = out;
  uint32_t want[33] = {0};
  for (int32_t k = 0; k < j->n; k++) want[in[k] % 32] += 2;
  want[32] = 31 + 7;   /* every bin is hit eight times in some block */
  return !memcmp(want, got, sizeof want);
}

const struct bench_kernel bench_kernels[] = {
    {"alu", true, prepare_alu, check_alu},
    {"transpose", true, prepare_transpose, check_transpose},
    {"gemm", true, prepare_gemm, check_gemm},
    {"histogram", true, prepare_histogram, check_histogram},
    {"shuffle", false, prepare_shuffle, check_shuffle},
    {"tensor", false, prepare_tensor, check_tensor},
    {"pipeline", false, prepare_pipeline, check_pipeline},
    {"gather", false, prepare_gather, check_gather},
    {"diverge", false, prepare_diverge, check_diverge},
    {"atomics", false, prepare_atomics, check_atomics},
};
const size_t bench_nkernels = sizeof bench_kernels / sizeof *bench_kernels;
