// Kernels for the simulator's own tests.  `//! KIND` on a line: the fault that line must get, and
// no other in its kernel; `race -2`: with the line two above.  The rest must be clean.  -> faults.ptx
#include <cassert>
#include <cstdio>
typedef unsigned u32;

extern "C" {

__global__ void reduce_block(int *out, const int *in, int n)
{
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_unsynced(int *out, const int *in, int n)
{
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2)
    if (t < d) s[t] += s[t + d];  //! race +0
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void missing_barrier(int *out, const int *in, int n)
{
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];                //! race +1
  out[t] = s[(t + 32) % 256];  //! uninitialised race -1
}

__global__ void write_after_read(int *out, const int *in, int n)
{
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  int v = s[(t + 1) % 256];  //! race +1
  s[t] = v + 1;              //! race -1
  __syncthreads();
  out[t] = s[t];
}

__global__ void write_after_read_synced(int *out, const int *in, int n)
{
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  int v = s[(t + 1) % 256];
  __syncthreads();
  s[t] = v + 1;
  __syncthreads();
  out[t] = s[t] + s[255 - t];
}

__global__ void warp_sync_none(int *out, const int *in, int n)
{
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = 0;
  int v = s[t + 16];  //! race -2
  out[t] = v;
}

__global__ void warp_sync_each(int *out, const int *in, int n)
{
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = 0;
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    int v = s[t + d];
    __syncwarp();
    s[t] = s[t] + v;
    __syncwarp();
  }
  out[t] = s[0];
}

__global__ void warp_sync_halves(int *out, const int *in, int n)
{
  __shared__ volatile int s[32];
  int t = threadIdx.x;
  u32 mask = t < 16 ? 0xffffu : 0xffff0000u;
  s[t] = in[t];
  __syncwarp(mask);
  out[t] = s[t ^ 15];
}

__global__ void warp_sync_wrong_half(int *out, const int *in, int n)
{
  __shared__ volatile int s[32];
  int t = threadIdx.x;
  u32 mask = t < 16 ? 0xffffu : 0xffff0000u;
  s[t] = in[t];
  __syncwarp(mask);
  out[t] = s[t ^ 16];  //! race -2
}

__global__ void shuffle_orders(int *out, const int *in, int n)
{
  __shared__ volatile int s[32];
  int t = threadIdx.x;
  s[t] = in[t];
  int v = __shfl_xor_sync(~0u, t, 1);
  out[t] = s[v];
}

__global__ void same_value(int *out, const int *in, int n)
{
  __shared__ int s[1];
  s[0] = 7;
  __syncthreads();
  out[threadIdx.x] = s[0];
}

__global__ void different_values(int *out, const int *in, int n)
{
  __shared__ int s[1];
  s[0] = threadIdx.x;  //! race +0
  __syncthreads();
  out[threadIdx.x] = s[0];
}

__global__ void bytes_of_a_word(int *out, const int *in, int n)
{
  __shared__ unsigned char s[256];
  int t = threadIdx.x;
  s[t] = t;
  s[t] += 1;
  __syncthreads();
  out[t] = s[255 - t];
}

__global__ void some_bytes_never_written(int *out, const int *in, int n)
{
  __shared__ __align__(4) unsigned char s[128];
  int t = threadIdx.x;
  if (t < 32) s[4 * t] = s[4 * t + 1] = s[4 * t + 2] = t;
  __syncthreads();
  if (t < 32) out[t] = ((volatile int *)s)[t];  //! uninitialised
}

__global__ void never_written(int *out, const int *in, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 32) s[t] = t;
  __syncthreads();
  if (t < 64) out[t] = s[t];  //! uninitialised
}

__global__ void atomics_only(int *out, const int *in, int n)
{
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = s;
}

__global__ void atomic_and_plain(int *out, const int *in, int n)
{
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, in[threadIdx.x]);          //! race +1
  out[threadIdx.x] = s;  //! race -1
}

__global__ void past_the_end(int *out, const int *in, int n)
{
  out[threadIdx.x] = in[threadIdx.x + n];  //! bounds
}

__global__ void before_the_start(int *out, const int *in, int n)
{
  out[(int)threadIdx.x - 4] = 1;  //! bounds
}

__global__ void null_pointer(int *out, const int *in, int n)
{
  int *p = (int *)(size_t)(n - 1024);
  *p = 1;  //! bounds
}

__global__ void past_shared(int *out, const int *in, int n)
{
  __shared__ int s[128];
  s[threadIdx.x] = in[threadIdx.x];  //! bounds
  __syncthreads();
  out[threadIdx.x] = s[0];
}

__global__ void past_one_array(int *out, const int *in, int n)
{
  __shared__ int a[128], b[256];
  a[threadIdx.x] = in[threadIdx.x];  //! bounds
  b[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = a[5] + b[threadIdx.x ^ 1];
}

__global__ void past_local(int *out, const int *in, int n)
{
  int v[8];
  for (int k = 0; k < 8; k++) v[k] = in[k];
  v[in[0] + (int)threadIdx.x] = 2;  //! bounds
  out[threadIdx.x] = v[in[1] & 7];
}

__global__ void misaligned(int *out, const int *in, int n)
{
  int2 v = *(const int2 *)(in + 1);  //! alignment
  out[threadIdx.x] = v.x + v.y;
}

__global__ void read_only(int *out, const int *in, int n)
{
  ((int *)in)[threadIdx.x] = 1;  //! read-only
}

__global__ void two_barriers(int *out, const int *in, int n)
{
  if (threadIdx.x < 16)
    asm volatile("bar.sync 1;");  //! barrier
  else
    asm volatile("bar.sync 2;");
  out[threadIdx.x] = 1;
}

__global__ void shuffle_of_half(int *out, const int *in, int n)
{
  int v = threadIdx.x;
  if (threadIdx.x < 16) v = __shfl_xor_sync(~0u, v, 1);  //! barrier
  else __syncthreads();
  out[threadIdx.x] = v;
}

__global__ void not_a_member(int *out, const int *in, int n)
{
  out[threadIdx.x] = __shfl_sync(0xffffu, (int)threadIdx.x, 0);  //! barrier
}

__global__ void early_return(int *out, const int *in, int n)
{
  if (threadIdx.x >= 100) return;
  __shared__ int s[256];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[99 - threadIdx.x];
}

__global__ void barrier_in_if(int *out, const int *in, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 48) {
    s[t] = in[t];
    __syncthreads();  //! divergent
    if (t < 24) out[t] = s[47 - t];
  }
  out[t + 64] = 1;
}

__global__ void barrier_in_whole_warps(int *out, const int *in, int n)
{
  if (threadIdx.x < 32) __syncthreads();  //! divergent
  out[threadIdx.x] = 1;
}

__global__ void barrier_in_loop(int *out, const int *in, int n)
{
  for (int k = 0; k < 1 + (int)threadIdx.x / 32; k++) {
    __syncthreads();
    out[threadIdx.x] = k;
  }
}

__global__ void endless(int *out, const int *in, int n)
{
  volatile int *p = out;
  while (*p == 0)  //! budget
    ;
}

__global__ void lock_in_a_warp(int *out, const int *in, int n)
{
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence_block();
      *(volatile int *)&sum = *(volatile int *)&sum + in[threadIdx.x];
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}

// The textbook lock that a warp in lockstep can never pass; independent lanes do.
__global__ void lock_spun(int *out, const int *in, int n)
{
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  while (atomicCAS(&lock, 0, 1) != 0)
    ;
  __threadfence_block();
  *(volatile int *)&sum = *(volatile int *)&sum + in[threadIdx.x];
  __threadfence_block();
  atomicExch(&lock, 0);
  __syncthreads();
  out[threadIdx.x] = sum;
}

__global__ void wait_for_a_warp(int *out, const int *in, int n)
{
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    while (atomicAdd(&flag, 0) == 0)
      ;
    out[threadIdx.x] = 1;
  } else if (threadIdx.x == 32) {
    atomicExch(&flag, 1);
  }
}

__global__ void stops_itself(int *out, const int *in, int n)
{
  if (threadIdx.x == 3) __trap();  //! trap
}

__global__ void asserts(int *out, const int *in, int n)
{
  assert(in[threadIdx.x] < 5);  //! trap
}

__device__ __noinline__ int deeper(int n, const int *in)
{
  return in[0] > 1000 ? n : 1 + deeper(n + 1, in) * in[1];  //! stack
}
__global__ void recursion(int *out, const int *in, int n)
{
  out[threadIdx.x] = deeper(threadIdx.x, in);
}

__global__ void named_barriers(int *out, const int *in, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 64) {
    for (int k = 0; k < 3; k++) {
      s[t] = in[t] + k;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
    }
  } else if (t < 128) {
    int sum = 0;
    for (int k = 0; k < 3; k++) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += ((volatile int *)s)[127 - t];
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
    out[t] = sum;
  }
}

__global__ void named_barrier_one_way(int *out, const int *in, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 64) {
    for (int k = 0; k < 3; k++) {
      s[t] = in[t] + k;  //! race +7
      asm volatile("bar.sync 1, 128;" ::: "memory");
    }
  } else if (t < 128) {
    int sum = 0;
    for (int k = 0; k < 3; k++) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += ((volatile int *)s)[127 - t];  //! race -7
    }
    out[t] = sum;
  }
}

// Kernels whose blocks depend on each other, or not: with any number of host threads they must give
// what they give in order.
__global__ void blocks_copy(int *out, const int *in, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i % 1024];
}

__global__ void blocks_in_place(int *out, const int *in, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] += in[i % 1024];
}

__global__ void blocks_same_word(int *out, const int *in, int n)
{
  out[threadIdx.x] = blockIdx.x + 1;
}

__global__ void blocks_chain(int *out, const int *in, int n)
{
  if (blockIdx.x > 0) out[blockIdx.x * 32 + threadIdx.x] = out[blockIdx.x * 32 - 32 + threadIdx.x] + 1;
}

__global__ void blocks_float_sum(int *out, const int *in, int n)
{
  atomicAdd((float *)out, 1.0f / (1 + in[threadIdx.x] * (blockIdx.x + 1)));
}

__global__ void blocks_one_faults(int *out, const int *in, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x == 3) i = 5000;
  out[i] = i;  //! bounds
}

__global__ void wide_same_value(int *out, const int *in, int n)
{
  __shared__ int4 s[64];
  int t = threadIdx.x;
  s[t / 2] = make_int4(1, 2, 3, t / 2);
  __syncthreads();
  out[t] = s[t / 2].w;
}

__global__ void wide_different_values(int *out, const int *in, int n)
{
  __shared__ int4 s[64];
  int t = threadIdx.x;
  s[t / 2] = make_int4(1, 2, t, 3);  //! race +0
  __syncthreads();
  out[t] = s[t / 2].z;
}

__global__ void wide_write_after_read(int *out, const int *in, int n)
{
  __shared__ int4 s[256];
  int t = threadIdx.x;
  s[t] = make_int4(0, 0, 0, 0);
  __syncthreads();
  for (int k = 0; k < 3; k++) {
    s[t * 3 % 256] = make_int4(1, 2, t, 3);    //! race +1
    int4 v = s[(t * 3 + 3 * 64) % 256];        //! race -1
    out[t] = v.x + v.z;
    __syncthreads();
  }
}
}
