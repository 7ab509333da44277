/* The tables of `banks measure`, one function each.  See measure.h.
 *
 * Cycles: one block of four warps repeats one access; the difference of a long and a short run,
 * best of four, divided by the accesses between them, so that beginning and end drop out. */
#include "measure/measure.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 8, LONG = 40, BEST_OF = 4, AGAIN = 16, WARPS = 4, CLOCK_SHARED = 40960 };

/* ---- cycles of one access ------------------------------------------------------------------ */

struct clocks { uint64_t offsets, cycles, sink; };

static bool clocks_open(struct gpu *g, struct clocks *c)
{
  c->offsets = gpu_buffer(g, 33 * 4, NULL);
  c->cycles = gpu_buffer(g, 8, NULL);
  c->sink = gpu_buffer(g, 128 * 4, NULL);
  return c->offsets && c->cycles && c->sink;
}

static bool cycles_of(struct gpu *g, const struct clocks *c, const char *kernel,
                      const struct access *a, uint32_t value, double *cycles)
{
  uint32_t offsets[33];
  struct gpu_call call = {.kernel = kernel, .grid = {1, 1, 1}, .block = {32 * WARPS, 1, 1},
                          .shared = CLOCK_SHARED, .naddresses = 3, .nvalues = 1,
                          .addresses = {c->offsets, c->cycles, c->sink}};
  int64_t best[2] = {INT64_MAX, INT64_MAX}, took;
  for (int t = 0; t < MODEL_LANES; t++) offsets[t] = (uint32_t)a->addr[t];
  offsets[32] = value;
  if (!device_cuda.upload(g->device, c->offsets, offsets, sizeof offsets)) return false;
  for (int i = 0; i < BEST_OF; i++)
    for (int longer = 0; longer < 2; longer++) {
      call.values[0] = longer ? LONG : SHORT;
      if (!gpu_run(g, &call) || !device_cuda.download(g->device, c->cycles, &took, 8)) return false;
      if (took < best[longer]) best[longer] = took;
    }
  *cycles = (double)(best[1] - best[0]) / ((LONG - SHORT) * AGAIN * WARPS);
  return true;
}

static struct access strided(enum model_op op, uint32_t width, uint32_t stride_bytes)
{
  struct access a = {.op = op, .width = width, .mask = UINT32_MAX};
  for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = (uint64_t)t * stride_bytes;
  return a;
}

static bool stride_rows(struct gpu *g, FILE *f, uint32_t width, uint32_t most)
{
  struct clocks c;
  bool good = clocks_open(g, &c);
  for (int store = 0; good && store < 2; store++)
    for (uint32_t stride = 0; good && stride <= most; stride++) {
      struct access a = strided(store ? MODEL_STORE : MODEL_LOAD, width, stride * width);
      struct model_cost cost = model_cost(&a);
      char kernel[32];
      double cycles;
      snprintf(kernel, sizeof kernel, "clock_%s_%u", store ? "store" : "load", width);
      good = cycles_of(g, &c, kernel, &a, 0, &cycles);
      if (good)
        fprintf(f, "%s\t%u\t%u\t%u\t%u\t%.3f\n", store ? "store" : "load", width, stride,
                cost.wavefronts, cost.ideal, cycles);
    }
  gpu_free_buffers(g);
  return good;
}

static bool strides(struct gpu *g)
{
  FILE *f = gpu_table(g, "strides.tsv", "Cycles of a 4-byte access of four warps, lane t at word "
                      "stride * t, beside its predicted wavefronts.",
                      "op\twidth\tstride\twavefronts\tideal\tcycles");
  bool good = f && stride_rows(g, f, 4, 64);
  return f && gpu_table_end(g, f) && good;
}

static bool widths(struct gpu *g)
{
  FILE *f = gpu_table(g, "widths.tsv", "The same for 8 and 16 bytes a lane, lane t at element "
                      "stride * t.", "op\twidth\tstride\twavefronts\tideal\tcycles");
  bool good = f && stride_rows(g, f, 8, 32) && stride_rows(g, f, 16, 32);
  return f && gpu_table_end(g, f) && good;
}

static bool updates(struct gpu *g)
{
  static const struct { const char *kernel, *name; enum model_op op; uint32_t value; } kinds[] = {
    {"clock_add_one", "add 1", MODEL_ATOM_ONE, 0},
    {"clock_add_int", "add weight", MODEL_ATOM_NATIVE, 3},
    {"clock_add_float", "add float", MODEL_ATOM_LOOP, 0x3f800000},
    {"clock_cas", "compare and swap", MODEL_ATOM_CAS, 7},
  };
  static const uint32_t counters[] = {1, 2, 4, 8, 16, 32};
  FILE *f = gpu_table(g, "updates.tsv", "Cycles of a shared atomic of four warps whose lanes share "
                      "`counters` counters: neighbouring ones, or all in one bank.",
                      "kind\tcounters\tplace\twavefronts\tcycles");
  struct clocks c;
  bool good = f && clocks_open(g, &c);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t i = 0; good && i < 2 * sizeof counters / sizeof *counters; i++) {
      uint32_t n = counters[i / 2], apart = i % 2 ? 128 : 4;
      struct access a = strided(kinds[k].op, 4, 0);
      double cycles;
      for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = t % n * apart;
      good = cycles_of(g, &c, kinds[k].kernel, &a, kinds[k].value, &cycles);
      if (good)
        fprintf(f, "%s\t%u\t%s\t%u\t%.3f\n", kinds[k].name, n, i % 2 ? "one bank" : "neighbours",
                model_cost(&a).wavefronts, cycles);
    }
  gpu_free_buffers(g);
  return f && gpu_table_end(g, f) && good;
}

static bool matrices(struct gpu *g)
{
  static const char *const layouts[] = {"rows of 128 bytes", "padded to 144", "swizzled"};
  FILE *f = gpu_table(g, "ldmatrix.tsv", "Cycles of ldmatrix.x4 of four warps: four 8 x 8 tiles of "
                      "halves side by side in eight rows.", "layout\twavefronts\tideal\tcycles");
  struct clocks c;
  bool good = f && clocks_open(g, &c);
  for (uint32_t layout = 0; good && layout < 3; layout++) {
    struct access a = {.op = MODEL_LDMATRIX_X4, .width = 16, .mask = UINT32_MAX};
    for (uint32_t t = 0; t < MODEL_LANES; t++) {
      uint32_t row = t % 8, chunk = t / 8;
      a.addr[t] = row * (layout == 1 ? 144 : 128) + 16 * (layout == 2 ? chunk ^ row : chunk);
    }
    struct model_cost cost = model_cost(&a);
    double cycles;
    good = cycles_of(g, &c, "clock_ldmatrix", &a, 0, &cycles);
    if (good)
      fprintf(f, "%s\t%u\t%u\t%.3f\n", layouts[layout], cost.wavefronts, cost.ideal, cycles);
  }
  gpu_free_buffers(g);
  return f && gpu_table_end(g, f) && good;
}

/* ---- whole kernels ------------------------------------------------------------------------- */

static double gigabytes(uint64_t bytes, double milliseconds)
{
  return milliseconds > 0 ? (double)bytes / milliseconds / 1e6 : 0;
}

static struct gpu_call tiles(const char *kernel, uint64_t in, uint64_t out, int n)
{
  uint32_t blocks = (uint32_t)n / 32;
  return (struct gpu_call){.kernel = kernel, .grid = {blocks, blocks, 1}, .block = {32, 8, 1},
                           .naddresses = 2, .nvalues = 1, .addresses = {in, out}, .values = {n}};
}

static bool pitches(struct gpu *g)
{
  enum { N = 4096 };
  FILE *f = gpu_table(g, "pitches.tsv", "Transposes of 4096 x 4096 floats by the row pitch of their "
                      "32-row tile; GB/s count bytes read and written; medians, and quartiles.",
                      "kernel\tpitch\tms\tlow\thigh\tgbs\tcopy_gbs\tresident\tregisters");
  uint64_t bytes = (uint64_t)N * N * 4, in = 0, out = 0;
  bool good = f && (in = gpu_buffer(g, bytes, NULL)) && (out = gpu_buffer(g, bytes, NULL));
  for (int pitch = 29; good && pitch <= 48; pitch++) {
    char name[32];
    struct cuda_time t;
    if (pitch == 29) snprintf(name, sizeof name, "transpose_naive");
    else if (pitch == 30) snprintf(name, sizeof name, "copy_tiles");
    else if (pitch == 31) snprintf(name, sizeof name, "transpose_xor");
    else snprintf(name, sizeof name, "transpose_%d", pitch);
    struct gpu_call call = tiles(name, in, out, N);
    good = gpu_time(g, &call, 2 * bytes, &t);
    if (good)
      fprintf(f, "%s\t%d\t%.5f\t%.5f\t%.5f\t%.0f\t%.0f\t%u\t%u\n", name,
              pitch < 32 ? pitch == 31 ? 32 : 0 : pitch, t.median, t.low, t.high,
              gigabytes(2 * bytes, t.median), gigabytes(2 * bytes, t.copy_median), t.resident,
              t.registers);
  }
  gpu_free_buffers(g);
  return f && gpu_table_end(g, f) && good;
}

static bool residents(struct gpu *g)
{
  static const char *const kernels[] = {"transpose_32", "transpose_33", "transpose_xor"};
  static const uint32_t extra[] = {0, 22000, 26000, 32000, 40000, 52000, 70000, 108000, 200000};
  enum { N = 4096 };
  FILE *f = gpu_table(g, "residents.tsv", "Transposes of 4096 x 4096 floats with shared memory asked "
                      "for and not used, so that fewer blocks of 256 threads fit one SM.",
                      "kernel\textra_bytes\tresident\tms\tgbs\tcopy_gbs");
  uint64_t bytes = (uint64_t)N * N * 4, in = 0, out = 0;
  bool good = f && (in = gpu_buffer(g, bytes, NULL)) && (out = gpu_buffer(g, bytes, NULL));
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; good && i < sizeof extra / sizeof *extra; i++) {
      struct cuda_time t;
      struct gpu_call call = tiles(kernels[k], in, out, N);
      call.shared = extra[i];
      good = gpu_time(g, &call, 2 * bytes, &t);
      if (good)
        fprintf(f, "%s\t%u\t%u\t%.5f\t%.0f\t%.0f\n", kernels[k], extra[i], t.resident, t.median,
                gigabytes(2 * bytes, t.median), gigabytes(2 * bytes, t.copy_median));
    }
  gpu_free_buffers(g);
  return f && gpu_table_end(g, f) && good;
}

static bool sums(struct gpu *g)
{
  static const struct { const char *kernel, *what; uint32_t elements; } steps[] = {
    {"reduce_modulo", "modulo", 256}, {"reduce_strided", "strided", 256},
    {"reduce_halves", "halves", 256}, {"reduce_two", "two a thread", 512},
    {"reduce_shuffle", "shuffles", 512}, {"reduce_wide", "float4", 0},
  };
  enum { N = 1 << 26 };
  FILE *f = gpu_table(g, "sums.tsv", "Six versions of one sum over 2^26 floats; GB/s count bytes "
                      "read.", "kernel\tstep\tms\tlow\thigh\tgbs\tcopy_gbs");
  uint64_t bytes = (uint64_t)N * 4, in = 0, out = 0;
  bool good = f && (in = gpu_buffer(g, bytes, NULL)) && (out = gpu_buffer(g, N / 256 * 4, NULL)) &&
              g->device->cu->set(in, 0, bytes, NULL) == CU_OK;
  for (size_t i = 0; good && i < sizeof steps / sizeof *steps; i++) {
    struct cuda_time t;
    uint32_t blocks = steps[i].elements ? N / steps[i].elements : g->info.sms * 8;
    struct gpu_call call = {.kernel = steps[i].kernel, .grid = {blocks, 1, 1}, .block = {256, 1, 1},
                            .naddresses = 2, .nvalues = 1, .addresses = {in, out}, .values = {N}};
    good = gpu_time(g, &call, bytes, &t);
    if (good)
      fprintf(f, "%s\t%s\t%.5f\t%.5f\t%.5f\t%.0f\t%.0f\n", steps[i].kernel, steps[i].what, t.median,
              t.low, t.high, gigabytes(bytes, t.median), gigabytes(bytes, t.copy_median));
  }
  gpu_free_buffers(g);
  return f && gpu_table_end(g, f) && good;
}

static bool histograms(struct gpu *g)
{
  static const char *const kinds[] = {"one", "weight", "float", "warp", "lane"};
  enum { N = 1 << 25 };
  FILE *f = gpu_table(g, "histograms.tsv", "Histograms of 2^25 bytes spread evenly over 2^bits of "
                      "256 bins, by the kind of update; GB/s count bytes read.",
                      "kind\tbits\tms\tlow\thigh\tgbs");
  unsigned char *data = malloc(N);
  uint64_t in = 0, out = 0;
  unsigned samples = g->samples;
  bool good = f && data && (in = gpu_buffer(g, N, NULL)) && (out = gpu_buffer(g, 1024, NULL));
  for (int bits = 0; good && bits <= 8; bits++) {
    struct rng r;
    rng_seed(&r, (uint64_t)bits, "histograms");
    for (size_t i = 0; i < N; i += 8) {
      uint64_t mask = ((UINT64_C(1) << bits) - 1) * UINT64_C(0x0101010101010101);
      uint64_t x = rng_next(&r) & mask;   /* neighbouring bins: of different banks, up to 32 */
      memcpy(data + i, &x, 8);
    }
    good = device_cuda.upload(g->device, in, data, N);
    for (size_t k = 0; good && k < sizeof kinds / sizeof *kinds; k++) {
      char kernel[32];
      struct cuda_time t;
      snprintf(kernel, sizeof kernel, "histogram_%s", kinds[k]);
      struct gpu_call call = {.kernel = kernel, .grid = {g->info.sms * 6, 1, 1},
                              .block = {256, 1, 1}, .naddresses = 2, .nvalues = 2,
                              .addresses = {in, out}, .values = {N, 3}};
      g->samples = !strcmp(kinds[k], "float") && bits < 4 ? 5 : samples;   /* it can take long */
      good = gpu_time(g, &call, 0, &t);
      if (good)
        fprintf(f, "%s\t%d\t%.5f\t%.5f\t%.5f\t%.0f\n", kinds[k], bits, t.median, t.low, t.high,
                gigabytes(N, t.median));
    }
  }
  g->samples = samples;
  free(data);
  gpu_free_buffers(g);
  return f && gpu_table_end(g, f) && good;
}

static bool gathers(struct gpu *g)
{
  enum { N = 1 << 25, FIRST = 8, LAST = 17 };
  FILE *f = gpu_table(g, "gathers.tsv", "2^25 random rows of a table of 256 rows of 8 floats in "
                      "shared memory, by row pitch in words; pitch 0: stored by columns.",
                      "pitch\tms\tlow\thigh\tgbs\tcopy_gbs");
  unsigned char *codes = malloc(N);
  uint64_t in = 0, book = 0, out = 0;
  struct rng r;
  rng_seed(&r, 1, "gathers");
  for (size_t i = 0; codes && i < N; i += 8) {
    uint64_t x = rng_next(&r);
    memcpy(codes + i, &x, 8);
  }
  bool good = f && codes && (in = gpu_buffer(g, N, codes)) && (book = gpu_buffer(g, 8192, NULL)) &&
              (out = gpu_buffer(g, (size_t)N * 4, NULL));
  for (int pitch = FIRST - 1; good && pitch <= LAST; pitch++) {
    char kernel[32];
    struct cuda_time t;
    if (pitch < FIRST) snprintf(kernel, sizeof kernel, "gather_columns");
    else snprintf(kernel, sizeof kernel, "gather_%d", pitch);
    struct gpu_call call = {.kernel = kernel, .grid = {g->info.sms * 8, 1, 1}, .block = {256, 1, 1},
                            .naddresses = 3, .nvalues = 1, .addresses = {in, book, out},
                            .values = {N}};
    uint64_t bytes = (uint64_t)N * 5;
    good = gpu_time(g, &call, bytes, &t);
    if (good)
      fprintf(f, "%d\t%.5f\t%.5f\t%.5f\t%.0f\t%.0f\n", pitch < FIRST ? 0 : pitch, t.median, t.low,
              t.high, gigabytes(bytes, t.median), gigabytes(bytes, t.copy_median));
  }
  free(codes);
  gpu_free_buffers(g);
  return f && gpu_table_end(g, f) && good;
}

static bool copies(struct gpu *g)
{
  FILE *f = gpu_table(g, "copies.tsv", "Device-to-device copies; bytes and GB/s count bytes read and "
                      "written.", "bytes\tms\tgbs");
  bool good = f != NULL;
  for (uint64_t bytes = 8192; good && bytes <= UINT64_C(1) << 31; bytes *= 4) {
    double t = cuda_time_copy(g->device, bytes, g->samples);
    if ((good = t > 0)) fprintf(f, "%llu\t%.5f\t%.0f\n", (unsigned long long)bytes, t,
                                gigabytes(bytes, t));
  }
  if (f && !good && !*g->why) snprintf(g->why, sizeof g->why, "a copy could not be timed");
  return f && gpu_table_end(g, f) && good;
}

const struct measure_set measure_sets[] = {
  {"strides", strides}, {"widths", widths}, {"updates", updates}, {"ldmatrix", matrices},
  {"copies", copies}, {"pitches", pitches}, {"residents", residents}, {"sums", sums},
  {"gathers", gathers}, {"histograms", histograms}, {0}
};
