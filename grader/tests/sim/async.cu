// mbarriers and bulk copies; faults on their lines as fixture.h tells, `//! invalid` for an mbarrier that is
// none.  async.ptx is this file compiled.
typedef unsigned u32;
typedef unsigned long long u64;

static __device__ __forceinline__ u32 at(const void *p)
{
  return (u32)__cvta_generic_to_shared(p);
}
#define INIT(bar, n) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(&bar)), "r"(n) : "memory")
#define ARRIVE(bar) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(&bar)) : "memory")
#define EXPECT(bar, n) asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(at(&bar)), "r"(n) : "memory")
#define WAIT(bar, parity) \
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(at(&bar)), "r"(parity) : "memory")
#define TEST(bar, parity, d) \
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(d) : "r"(at(&bar)), "r"(parity) : "memory")
#define LOAD(to, from, n, bar) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(n), "r"(at(&bar)) : "memory")
#define STORE(to, from, n) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(n) : "memory")
#define COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define DRAIN() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define SETUP(n)                       \
  __shared__ u64 bar;                  \
  int t = threadIdx.x;                 \
  if (t == 0) INIT(bar, n);            \
  __syncthreads()

extern "C" {

// Two warps hand numbers over twice; orders accesses as a barrier does.
__global__ void arrive_wait(int *out, const int *in, int n)
{
  __shared__ int s[64];
  SETUP(64);
  s[t] = in[t];
  ARRIVE(bar);
  WAIT(bar, 0);
  int v = s[63 - t];
  ARRIVE(bar);
  WAIT(bar, 1);
  s[t] = v;
  out[t] = v;
}

// The second write is not waited for.
__global__ void arrive_no_wait(int *out, const int *in, int n)
{
  __shared__ int s[64];
  SETUP(64);
  s[t] = in[t];  //! race 2
  ARRIVE(bar);
  out[t] = s[63 - t];  //! uninitialised, race -2
}

__global__ void no_init(int *out, const int *in, int n)
{
  __shared__ u64 bar;
  ARRIVE(bar);  //! invalid
  out[0] = 1;
}

__global__ void init_unsynced(int *out, const int *in, int n)
{
  __shared__ u64 bar;
  if (threadIdx.x == 0) INIT(bar, 64);
  __syncwarp();
  ARRIVE(bar);  //! race -2
  WAIT(bar, 0);  //! race -3
}

__global__ void too_many(int *out, const int *in, int n)
{
  SETUP(63);
  if (t < 62) ARRIVE(bar);
  __syncthreads();
  if (t < 62) out[t] = t;
  if (t >= 61) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0], 2; }" ::"r"(at(&bar)) : "memory");  //! barrier
}

__global__ void never_complete(int *out, const int *in, int n)
{
  SETUP(65);
  ARRIVE(bar);
  WAIT(bar, 0);  //! barrier
  out[t] = t;
}

// What has not happened yet is false; waiting for the phase before the first one is no wait.
__global__ void parities(int *out, const int *in, int n)
{
  SETUP(64);
  u32 a, b, c;
  TEST(bar, 1, a);
  TEST(bar, 0, b);
  __syncthreads();
  ARRIVE(bar);
  WAIT(bar, 0);
  TEST(bar, 0, c);
  out[t] = a + 10 * b + 100 * c;
}

__global__ void states(int *out, const int *in, int n)
{
  SETUP(64);
  u32 pending;
  asm volatile("{ .reg .b64 s; .reg .pred p; mbarrier.arrive.shared.b64 s, [%1];\n"
               "mbarrier.pending_count.b64 %0, s;\n"
               "W: mbarrier.try_wait.shared.b64 p, [%1], s; @!p bra W; }" : "=r"(pending) : "r"(at(&bar)) : "memory");
  out[t] = pending;
}

__global__ void copy_in(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[256];
  SETUP(1);
  if (t == 0) {
    EXPECT(bar, 1024);
    LOAD(s, in, 1024, bar);
  }
  WAIT(bar, 0);
  for (int k = t; k < 256; k += 64) out[k] = s[255 - k];
}

__global__ void copy_unwaited(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[256];
  SETUP(1);
  if (t == 0) {
    EXPECT(bar, 1024);
    LOAD(s, in, 1024, bar);
  }
  __syncthreads();
  out[t] = s[t];  //! uninitialised, race -3
  WAIT(bar, 0);
}

// Warp 0 waits, then meets warp 1.
__global__ void copy_one_waits(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[256];
  SETUP(1);
  if (t == 0) {
    EXPECT(bar, 1024);
    LOAD(s, in, 1024, bar);
  }
  if (t < 32) WAIT(bar, 0);
  __syncthreads();
  out[t] = s[t];
}

// Warp 1 is told that the data are there, by something that orders nothing.
__global__ void copy_half_waits(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[256];
  __shared__ volatile int told;
  SETUP(1);
  if (t == 0) {
    told = 0;
    EXPECT(bar, 1024);
    LOAD(s, in, 1024, bar);
  }
  __syncthreads();
  if (t < 32) {
    WAIT(bar, 0);
    if (t == 0) atomicAdd((int *)&told, 1);
  } else {
    while (atomicAdd((int *)&told, 0) == 0) continue;
  }
  out[t] = s[t];  //! race -9
}

__global__ void too_few_bytes(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[256];
  SETUP(1);
  if (t == 0) {
    EXPECT(bar, 256);
    LOAD(s, in, 1024, bar);
  }
  WAIT(bar, 0);  //! barrier
  out[t] = s[t];
}

__global__ void past_array(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[64];
  __shared__ int other[256];
  SETUP(1);
  other[t] = 1;
  if (t == 0) {
    EXPECT(bar, 1024);
    LOAD(s, in, 1024, bar);  //! bounds
  }
  WAIT(bar, 0);
  out[t] = s[t] + other[63 - t];
}

__global__ void odd_address(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[256];
  SETUP(1);
  if (t == 0) {
    EXPECT(bar, 512);
    LOAD(s, in + 1, 512, bar);  //! alignment
  }
  WAIT(bar, 0);
  out[t] = s[t];
}

// Two stages, four tiles; the stages are used again.
__global__ void pipeline(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[2][64];
  __shared__ u64 full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0)
    for (int k = 0; k < 2; k++) {
      INIT(full[k], 1);
      INIT(empty[k], 32);
    }
  __syncthreads();
  if (t >= 32) {
    if (t == 32)
#pragma unroll 1
      for (int k = 0; k < 8; k++) {
        WAIT(empty[k % 2], (k / 2 + 1) % 2);
        EXPECT(full[k % 2], 256);
        LOAD(s[k % 2], in + 64 * k, 256, full[k % 2]);
      }
  } else {
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 8; k++) {
      WAIT(full[k % 2], k / 2 % 2);
      sum += s[k % 2][t] + s[k % 2][t + 32];
      ARRIVE(empty[k % 2]);
    }
    out[t] = sum;
  }
}

// The producer does not wait for its readers.
__global__ void pipeline_hasty(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[64];
  SETUP(1);
  if (t == 0) {
    EXPECT(bar, 256);
    LOAD(s, in, 256, bar);
  }
  WAIT(bar, 0);  //! barrier
  int sum = s[t];
  if (t == 0) {
    EXPECT(bar, 256);
    LOAD(s, in + 64, 256, bar);  //! race -3
  }
  WAIT(bar, 1);
  out[t] = sum + s[t];
}

__global__ void copy_out(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[64];
  int t = threadIdx.x;
  s[t] = in[t] * 3;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    STORE(out + 64 * blockIdx.x, s, 256);
    COMMIT();
    DRAIN();
  }
  __syncthreads();
  s[t] = 0;
}

__global__ void copy_out_hasty(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[64];
  int t = threadIdx.x;
  s[t] = in[t] * 3; asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    STORE(out + 64 * blockIdx.x, s, 256);  //! race
    COMMIT();
  }
  __syncthreads();
  s[t] = 0;
}

// 16-byte copies of all threads, which arrive when they are done.
__global__ void async_arrivals(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[256];
  SETUP(64);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at(s + 4 * t)), "l"(in + 4 * t) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at(&bar)) : "memory");
  WAIT(bar, 0);
  out[t] = s[255 - t];
}

// A cluster of one block.
__global__ void cluster(int *out, const int *in, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x;
  u32 there, rank;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(at(s + t)));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(there));
  s[t] = in[t];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  out[t] = s[63 - t] + rank + (int)(there - at(s + t));
}

// The rest of the family: one thread drops out, bytes are told by hand, a barrier ends its life.
__global__ void family(int *out, const int *in, int n)
{
  SETUP(2);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], 256;" ::"l"(in) : "memory");
  u32 phase0, still, phase1;
  if (t == 1) asm volatile("{ .reg .b64 s; mbarrier.arrive_drop.shared.b64 s, [%0]; }" ::"r"(at(&bar)) : "memory");
  if (t == 0) ARRIVE(bar);
  WAIT(bar, 0);
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], 100;" ::"r"(at(&bar)) : "memory");
    ARRIVE(bar);
  }
  __syncthreads();
  TEST(bar, 0, phase0);
  TEST(bar, 1, still);
  __syncthreads();
  if (t == 33) asm volatile("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 100;" ::"r"(at(&bar)) : "memory");
  __syncthreads();
  TEST(bar, 1, phase1);
  out[t] = phase0 + 10 * still + 100 * phase1;
  __syncthreads();
  if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at(&bar)) : "memory");
}

__global__ void after_inval(int *out, const int *in, int n)
{
  SETUP(64);
  if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at(&bar)) : "memory");
  __syncthreads();
  ARRIVE(bar);  //! invalid
}

__global__ void copy_out_unfenced(int *out, const int *in, int n)
{
  __shared__ __align__(128) int s[64];
  int t = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  s[t] = in[t] * 3;
  __syncthreads();
  if (t == 0) {
    STORE(out + 64 * blockIdx.x, s, 256);  //! race -3
    COMMIT();
    DRAIN();
  }
}
}
