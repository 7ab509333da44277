/* banks bench: how fast the simulator is, in warp instructions a second of one core.
 *
 * Four kernels with their results checked, so that a fast wrong simulator shows: arithmetic only, a
 * transpose, a tiled matrix product, a histogram.  Counting and all checks are on. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "device/device.h"

__asm__(".section .rodata\n"
        "bench_ptx: .incbin \"grader/cli/bench/kernels.ptx\"\n"
        "bench_ptx_end: .byte 0\n"
        ".previous\n");
extern const char bench_ptx[], bench_ptx_end[];

enum { SIDE = 1024, PRODUCT = 256, ITEMS = 1 << 20, ROUNDS = 40000 };

struct bench {
  struct device *device;
  unsigned repeat;
  struct sim_options options;
};

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs a launch and prints its line.  False when it faults. */
static bool measure(struct bench *b, const char *what, const struct sim_launch *launch)
{
  double best = 1e30, ms;
  uint64_t count = 0;
  for (unsigned k = 0; k < b->repeat; k++) {
    struct sim_result r;
    double start = seconds();
    bool ok = device_sim.launch(b->device, launch, &r, &ms);
    double took = seconds() - start;
    if (took < best) best = took;
    count = r.totals.warp_instructions;
    if (!ok) fprintf(stderr, "banks bench: %s: %s\n", what, r.nfaults ? r.faults[0].text : "?");
    sim_result_free(&r);
    if (!ok) return false;
  }
  printf("%-28s %10llu warp instructions %8.1f ms %8.1f M/s\n", what, (unsigned long long)count,
         1e3 * best, (double)count / best / 1e6);
  return true;
}

static uint64_t buffer(struct bench *b, const char *name, const void *data, size_t bytes)
{
  uint64_t at = device_sim.alloc(b->device, bytes, name, data != NULL);
  if (at && data) device_sim.upload(b->device, at, data, bytes);
  return at;
}

struct params { uint64_t p[3]; int32_t n; };

/* Packs `count` pointers and one int as a parameter list. */
static size_t pack(uint8_t *out, const struct params *p, unsigned count)
{
  memcpy(out, p->p, 8 * count);
  memcpy(out + 8 * count, &p->n, 4);
  return 8 * count + 4;
}

static bool bench_alu(struct bench *b)
{
  uint8_t raw[32];
  struct params p = {{buffer(b, "out", NULL, 4 * 128 * 4)}, ROUNDS};
  struct sim_launch l = {.kernel = "alu", .grid = {4, 1, 1}, .block = {128, 1, 1}, .params = raw};
  l.param_bytes = pack(raw, &p, 1);
  return measure(b, "arithmetic loop", &l);
}

static bool bench_transpose(struct bench *b)
{
  size_t n = SIDE, bytes = n * n * sizeof(float);
  float *in = malloc(bytes), *out = malloc(bytes);
  uint8_t raw[32];
  bool ok = in && out;
  for (size_t k = 0; ok && k < n * n; k++) in[k] = (float)k;
  if (ok) {
    struct params p = {{buffer(b, "in", in, bytes), buffer(b, "out", NULL, bytes)}, SIDE};
    struct sim_launch l = {.kernel = "transpose", .grid = {SIDE / 32, SIDE / 32, 1},
                           .block = {32, 8, 1}, .params = raw};
    l.param_bytes = pack(raw, &p, 2);
    ok = measure(b, "transpose 1024 x 1024", &l) && device_sim.download(b->device, p.p[1], out, bytes);
    for (size_t k = 0; ok && k < n * n; k++) ok = out[k] == in[k % n * n + k / n];
  }
  free(in);
  free(out);
  return ok;
}

static bool bench_gemm(struct bench *b)
{
  size_t n = PRODUCT, bytes = n * n * sizeof(float);
  float *x = malloc(bytes), *y = malloc(bytes), *z = malloc(bytes);
  uint8_t raw[32];
  bool ok = x && y && z;
  for (size_t k = 0; ok && k < n * n; k++) x[k] = (float)(k % 7), y[k] = (float)(k % 5);
  if (ok) {
    struct params p = {{buffer(b, "a", x, bytes), buffer(b, "b", y, bytes),
                        buffer(b, "c", NULL, bytes)}, PRODUCT};
    struct sim_launch l = {.kernel = "gemm", .grid = {PRODUCT / 16, PRODUCT / 16, 1},
                           .block = {16, 16, 1}, .params = raw};
    l.param_bytes = pack(raw, &p, 3);
    ok = measure(b, "tiled product 256^3", &l) && device_sim.download(b->device, p.p[2], z, bytes);
    for (size_t r = 0; ok && r < n; r++)
      for (size_t c = 0; c < n; c++) {
        float sum = 0;   /* small integers: exact in any order */
        for (size_t k = 0; k < n; k++) sum += x[r * n + k] * y[k * n + c];
        ok &= z[r * n + c] == sum;
      }
  }
  free(x);
  free(y);
  free(z);
  return ok;
}

static bool bench_histogram(struct bench *b)
{
  uint8_t *in = malloc(ITEMS), raw[32];
  uint32_t want[256] = {0}, got[256], state = 1;
  bool ok = in != NULL;
  for (size_t k = 0; ok && k < ITEMS; k++) {
    state = state * 1664525 + 1013904223;
    in[k] = (uint8_t)(state >> 24);
    want[in[k]] += b->repeat;   /* launches add to the same bins */
  }
  if (ok) {
    struct params p = {{buffer(b, "in", in, ITEMS), buffer(b, "out", NULL, sizeof got)}, ITEMS};
    struct sim_launch l = {.kernel = "histogram", .grid = {64, 1, 1}, .block = {256, 1, 1},
                           .params = raw};
    l.param_bytes = pack(raw, &p, 2);
    ok = measure(b, "histogram of 2^20 bytes", &l) &&
         device_sim.download(b->device, p.p[1], got, sizeof got) && !memcmp(want, got, sizeof got);
  }
  free(in);
  return ok;
}

int command_bench(int argc, char **argv)
{
  static const struct option options[] = {{"no-checks", no_argument, NULL, 'n'},
                                          {"repeat", required_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  struct bench b = {.repeat = 3, .options = {.threads = 1}};
  int c;
  while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
    if (c == 'n') {
      b.options.no_checks = true;
    } else if (c == 'r') {
      char *end;
      long n = strtol(optarg, &end, 10);
      if (*end || n < 1 || n > 100) {
        fprintf(stderr, "banks bench: --repeat takes a number from 1 to 100, not '%s'\n", optarg);
        return CLI_USAGE;
      }
      b.repeat = (unsigned)n;
    } else {
      fprintf(c == 'h' ? stdout : stderr,
              "usage: banks bench [--repeat N] [--no-checks]\n"
              "Warp instructions a second of the simulator on one core, the best of N (3) runs.\n");
      return c == 'h' ? CLI_OK : CLI_USAGE;
    }
  }
  if (optind < argc) {
    fprintf(stderr, "banks bench: it takes no argument '%s'\n", argv[optind]);
    return CLI_USAGE;
  }
  static bool (*const all[])(struct bench *) = {bench_alu, bench_transpose, bench_gemm,
                                                bench_histogram};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    char why[200] = "";
    struct ptx_error error;
    b.device = device_sim.open(&b.options, why, sizeof why);
    if (!b.device) {
      fprintf(stderr, "banks bench: %s\n", why);
      return CLI_OURS;
    }
    bool ok = device_sim.load(b.device, bench_ptx, (size_t)(bench_ptx_end - bench_ptx), &error);
    if (!ok) fprintf(stderr, "banks bench: line %u: %s\n", error.line, error.text);
    ok = ok && all[k](&b);
    device_sim.close(b.device);
    if (!ok) {
      fprintf(stderr, "banks bench: a kernel gave a wrong result\n");
      return CLI_OURS;
    }
  }
  return CLI_OK;
}
