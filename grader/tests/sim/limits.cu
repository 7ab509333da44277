// Kernels that ask for more than there is: `//! KIND` on the line that must be named.  Those without end
// run with a budget.  -> limits.ptx
#include <cstdio>
typedef unsigned u32;
typedef unsigned char u8;

static __device__ __forceinline__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
#define DO(text, ...) asm volatile(text ::__VA_ARGS__ : "memory")
#define COPY(to, from) DO("cp.async.cg.shared.global [%0], [%1], 16;", "r"(at(to)), "l"(from))
#define COMMIT() DO("cp.async.commit_group;")
#define INIT(bar, n) DO("mbarrier.init.shared.b64 [%0], %1;", "r"(at(bar)), "r"(n))
#define ARRIVE(bar) DO("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }", "r"(at(bar)))
#define LATER(bar) DO("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];", "r"(at(bar)))
#define STORE(to, from, n) \
  DO("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;", "l"(to), "r"(at(from)), "r"(n))

extern "C" {

// ---- clean: memory must not grow with the grid, nor with n

__global__ void one_turn(int *out, const int *in, int n)
{
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[(blockIdx.x * 256 + threadIdx.x) % 4096] = s[255 - threadIdx.x];
}

__global__ void many_turns(int *out, const int *in, int n)
{
  __shared__ int a[256], b[256];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; k++) {
    a[t] = in[(t + k) % 1024];
    b[t * 5 % 256] = k;
    __syncthreads();
    sum += a[(t + k) % 256];
    sum ^= b[(t * 3 + k) % 256];
    sum += in[(t * 7 + k * 11) % 1024];
    sum ^= atomicAdd(&out[64 + t], k);
    __syncthreads();
    atomicAdd(&a[t & k & 255], 1);
    atomicMax(&out[1024 + (t + k) % 1024], sum);
    __syncthreads();
  }
  out[t % 64] = 1;
}

__global__ void printf_flood(int *out, const int *in, int n)
{
  for (int k = 0; k < n; k++) printf("%500d %s\n", k, "and so on, and so on, and so on");
}

// ---- without end

__global__ void barriers_for_ever(int *out, const int *in, int n)
{
  for (;;) __syncthreads();  //! budget
}

__global__ void waits_for_nobody(int *out, const int *in, int n)
{
  while (atomicCAS(&out[1], 7, 8) != 7) continue;  //! budget
}

__global__ void fences_for_ever(int *out, const int *in, int n)
{
  __shared__ int flag[64];
  flag[threadIdx.x] = 0;
  for (;;) {
    __threadfence_block();  //! budget
    atomicAdd(&flag[threadIdx.x], 1);  //! budget
  }
}

__global__ void prints_nothing(int *out, const int *in, int n)
{
  const char *none = "";
  for (;;) printf("%s%s%s%s%s%s%s%s", none, none, none, none, none, none, none, none);  //! budget
}

__device__ __noinline__ int there(int n, const int *in);
__device__ __noinline__ int here(int n, const int *in)
{
  int a[200];
  for (int k = 0; k < 200; k++) a[k] = in[k] + n;
  return a[n & 127] + there(n + 1, in) + a[n & 63];  //! memory stack
}
__device__ __noinline__ int there(int n, const int *in)
{
  return in[n & 1023] == 0 ? 1 : here(n + 1, in) * 3 + n;  //! memory stack
}
__global__ void back_and_forth(int *out, const int *in, int n)
{
  out[threadIdx.x] = here(threadIdx.x, in);
}

__global__ void many_races(int *out, const int *in, int n)
{
  __shared__ int s[128];
  volatile int *v = s;
  int id = threadIdx.x;
  for (int k = 0;; k++) {
#define RACE(at) v[at] = id; v[(at + 1) & 127] += k;
#define RACES(at) RACE(at) RACE(at + 1) RACE(at + 2) RACE(at + 3) RACE(at + 4) RACE(at + 5) RACE(at + 6)
    RACES(0) RACES(8) RACES(16) RACES(24) RACES(32) RACES(40) RACES(48) RACES(56)  //! budget
  }
}

// ---- copies and mbarriers

__global__ void copies_never_waited_for(int *out, const int *in, int n)
{
  __shared__ __align__(16) int s[64 * 4];
  for (;;) {
    COPY(&s[4 * threadIdx.x], &in[4 * threadIdx.x]);  //! memory
    COMMIT();
  }
}

__global__ void groups_kept_open(int *out, const int *in, int n)
{
  __shared__ __align__(16) int s[64 * 4];
  for (int k = 0; k < 2000; k++) COPY(&s[4 * threadIdx.x], &in[4 * threadIdx.x]);
  COMMIT();
  for (;;) DO("cp.async.wait_group 1000000;");  //! budget
}

__global__ void bulk_never_waited_for(int *out, const int *in, int n)
{
  __shared__ __align__(16) int s[64 * 4];
  for (int k = 0; k < 4; k++) s[4 * threadIdx.x + k] = k;
  __syncthreads();
  for (;;) STORE(out, s, 1024);  //! memory
}

__global__ void bulk_for_ever(int *out, const int *in, int n)
{
  __shared__ __align__(16) int s[64 * 64];
  for (int k = 0; k < 64; k++) s[64 * k + threadIdx.x] = k;
  __syncthreads();
  for (;;) {
    STORE(out, s, 16384);  //! budget
    DO("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");  //! budget
  }
}

__global__ void many_mbarriers(int *out, const int *in, int n)
{
  __shared__ unsigned long long bar[6000];
  for (int k = threadIdx.x; k < 6000; k += 64) INIT(&bar[k], 1000000);
  __syncthreads();
  for (int k = threadIdx.x;; k = (k + 64) % 6000) ARRIVE(&bar[k]);  //! budget
}

__global__ void arrivals_put_off(int *out, const int *in, int n)
{
  __shared__ unsigned long long bar[2000];
  for (int b = threadIdx.x; b < 2000; b += 64) INIT(&bar[b], 1000000);
  __syncthreads();
  for (int b = 0; b < n; b++) {
    for (int k = 0; k < 500; k++) LATER(&bar[b]);
    __syncthreads();
    if (b % 2) ARRIVE(&bar[b]);
    else if (threadIdx.x == 0) INIT(&bar[b], 1000000);
    __syncthreads();
  }
}

__global__ void everybody_reads_all(int *out, const int *in, int n)
{
  __shared__ u8 s[40000];
  int sum = 0;
  for (int k = threadIdx.x; k < 40000; k += 1024) s[k] = (u8)k;
  __syncthreads();
  __threadfence_block();
  for (int k = 0; k < 40000; k++) sum += s[(k * 31 + threadIdx.x) % 40000];  //! memory
  out[threadIdx.x] = sum;
}

}
