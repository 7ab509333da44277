/* Rows for the rules that are not settled: 64-bit shared atomics and cp.async of 4 and 8 bytes.
 *
 * One warp, one access a launch, meant to run under Nsight Compute (see unsettled.sh).  Every
 * launch prints one line: number, operation, width, global pattern, mask, 32 byte addresses; the
 * profiler's Source page then gives the wavefronts of each machine instruction of that launch.
 */
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda_runtime.h>

enum Op { ADD_U64, ADD_F64, MIN_U64, EXCH_B64, CAS_B64, RED_U64, RED_F64, CP4, CP8, ADD_F32, OPS };
static const char *names[OPS] = {"atom.add.u64", "atom.add.f64", "atom.min.u64", "atom.exch.b64",
                                 "atom.cas.b64", "red.add.u64", "red.add.f64", "cp.async.4",
                                 "cp.async.8", "atom.add.f32"};
static const int widths[OPS] = {8, 8, 8, 8, 8, 8, 8, 4, 8, 4};

struct Row { uint32_t mask; uint32_t addr[32]; uint32_t global[32]; };

template <int OP> __global__ void probe(Row row, const char *in, unsigned long long *out)
{
  extern __shared__ __align__(1024) unsigned char s[];
  unsigned t = threadIdx.x;
  for (unsigned i = t; i < 16384 / 4; i += 32) ((unsigned *)s)[i] = 0;
  __syncthreads();
  uint32_t a = (uint32_t)__cvta_generic_to_shared(s) + row.addr[t];
  unsigned long long r = 0;
  if (row.mask >> t & 1) {
    if (OP == ADD_U64) asm volatile("atom.shared.add.u64 %0, [%1], %2;" : "=l"(r) : "r"(a), "l"(t + 3ull));
    if (OP == ADD_F64) { double d; asm volatile("atom.shared.add.f64 %0, [%1], %2;" : "=d"(d) : "r"(a), "d"(t + 3.0)); r = (unsigned long long)d; }
    if (OP == MIN_U64) asm volatile("atom.shared.min.u64 %0, [%1], %2;" : "=l"(r) : "r"(a), "l"(t + 3ull));
    if (OP == EXCH_B64) asm volatile("atom.shared.exch.b64 %0, [%1], %2;" : "=l"(r) : "r"(a), "l"(t + 3ull));
    if (OP == CAS_B64) asm volatile("atom.shared.cas.b64 %0, [%1], %2, %3;" : "=l"(r) : "r"(a), "l"(0ull), "l"(t + 3ull));
    if (OP == RED_U64) asm volatile("red.shared.add.u64 [%0], %1;" :: "r"(a), "l"(t + 3ull));
    if (OP == RED_F64) asm volatile("red.shared.add.f64 [%0], %1;" :: "r"(a), "d"(t + 3.0));
    if (OP == ADD_F32) { float d; asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=f"(d) : "r"(a), "f"(t + 3.0f)); r = (unsigned long long)d; }
    if (OP == CP4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a), "l"(in + row.global[t]));
    if (OP == CP8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(a), "l"(in + row.global[t]));
  }
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  out[t] = r + *(unsigned long long *)(s + t * 8);
}

static uint32_t state = 12345;
static uint32_t below(uint32_t n) { state = state * 1664525u + 1013904223u; return (uint64_t)(state >> 8) * n >> 24; }

static void run(int op, const Row &row, const char *in, unsigned long long *out, const char *kind, const char *gkind)
{
  static int number;
  printf("%d\t%s\t%s\t%s\t%d\t%08x", number++, kind, gkind, names[op], widths[op], row.mask);
  for (int t = 0; t < 32; t++) printf("\t%u", row.addr[t]);
  printf("\n");
#define CASE(o) case o: probe<o><<<1, 32, 16384>>>(row, in, out); break;
  switch (op) { CASE(ADD_U64) CASE(ADD_F64) CASE(MIN_U64) CASE(EXCH_B64) CASE(CAS_B64) CASE(RED_U64)
                CASE(RED_F64) CASE(CP4) CASE(CP8) CASE(ADD_F32) }
  if (cudaDeviceSynchronize() != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError())); exit(1); }
}

int main()
{
  char *in; unsigned long long *out;
  cudaMalloc(&in, 1 << 20); cudaMemset(in, 1, 1 << 20); cudaMalloc(&out, 4096);
  printf("number\tclass\tglobal\top\twidth\tmask");
  for (int t = 0; t < 32; t++) printf("\tlane%d", t);
  printf("\n");
  for (int op = 0; op < OPS; op++) {
    uint32_t w = widths[op], unit = w;
    bool copy = op == CP4 || op == CP8;
    for (int g = 0; g < (copy ? 4 : 1); g++) {
      const char *gk[] = {"contiguous", "uniform", "sector", "line"};
      auto fill = [&](Row &r) {
        for (int t = 0; t < 32; t++)
          r.global[t] = g == 0 ? t * w : g == 1 ? 0 : g == 2 ? t * 32 : t * 128;
      };
      auto go = [&](uint32_t mask, const char *kind, auto f) {
        Row r; r.mask = mask; fill(r);
        for (int t = 0; t < 32; t++) r.addr[t] = f(t);
        run(op, r, in, out, kind, copy ? gk[g] : "-");
      };
      for (uint32_t s : {0u, 1u, 2u, 3u, 4u, 8u, 16u, 32u}) go(~0u, "stride", [&](int t) { return t * s * unit % 16384; });
      go(1, "one", [&](int t) { return t * unit; });
      go(3, "two-same", [&](int t) { return 0; });
      go(3, "two-near", [&](int t) { return t * unit; });
      go(3, "two-bank", [&](int t) { return t * 128; });
      go(0x10001, "far-same", [&](int t) { return 0; });
      go(0x10001, "far-near", [&](int t) { return (t / 16) * unit; });
      go(0x10001, "far-bank", [&](int t) { return (t / 16) * 128; });
      go(0xffff, "half-stride1", [&](int t) { return t * unit; });
      go(0xffff, "half-uniform", [&](int t) { return 0; });
      go(0xffff, "half-stride2", [&](int t) { return t * 2 * unit; });
      go(~0u, "pairs", [&](int t) { return t / 2 * unit; });
      go(~0u, "pairs2", [&](int t) { return (t & ~2) * unit; });
      go(~0u, "quads", [&](int t) { return t / 4 * unit; });
      go(~0u, "and3", [&](int t) { return (t & 3) * unit; });
      go(~0u, "and15", [&](int t) { return (t & 15) * unit; });
      for (int k = 0; k < (copy ? 8 : op == ADD_F32 ? 4 : 20); k++) {
        uint32_t mask = k % 3 == 0 ? ~0u : below(1 << 16) << 16 | below(1 << 16), range = 1u << (1 + k % 9);
        go(mask | 1, "random", [&](int t) { return below(range) * unit % 16384; });
      }
    }
  }
  return 0;
}
