// Barriers that part of a warp reaches.  `//! barrier`: the line that must be named; kernels
// without one must be clean.  meet.ptx is this file compiled.
extern "C" {

__global__ void in_a_branch(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  if (t < 37) {
    out[t] = in[t];
    __syncthreads();  //! barrier
    out[t] += in[t];
  }
  __syncthreads();
  out[t + 64] = 1;
}

__global__ void in_each_arm(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  if (t < 37) {
    out[t] = in[t];
    __syncthreads();  //! barrier
    out[t] += in[t];
  } else {
    out[t] = 2 * in[t];
    __syncthreads();
    out[t] += 3;
  }
}

__global__ void in_a_loop(int *out, const int *in, int n)
{
  int t = threadIdx.x, sum = 0;
#pragma unroll 1
  for (int k = 0; k < (63 - t) / 16; k++) {
    sum += in[k];
    __syncthreads();  //! barrier
  }
  out[t] = sum;
  __syncthreads();
  out[t + 64] = sum;
}

// The hardware counts whole warps, wherever they come from; CUDA wants one barrier.
__global__ void by_warps(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  if (t < 32) {
    out[t] = in[t];
    __syncthreads();
    out[t] += out[t + 32];
  } else {
    out[t] = 2 * in[t];
    __syncthreads();  //! divergent
    out[t + 64] = out[t - 32];
  }
}

// Threads that have returned are not waited for.
__global__ void returned(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  if (t >= 37) return;
  out[t] = in[t];
  __syncthreads();
  out[t] += in[t];
}

// Lanes that come from afar meet in front of the barrier.
__global__ void from_afar(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  int v = in[t];
  for (int k = 0; k < t % 7; k++) v = v % 2 ? 3 * v + 1 : v / 2;
  if (v == 3) v = in[v + n - 1024];
  __syncthreads();
  out[t] = v;
}

// barrier.sync without .aligned counts threads.
__global__ void not_aligned(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  if (t < 37) {
    out[t] = in[t];
    asm volatile("barrier.sync 0;" ::: "memory");
    out[t] += 1;
  } else {
    out[t] = 2 * in[t];
    asm volatile("barrier.sync 0;" ::: "memory");
    out[t] += 3;
  }
}

__global__ void lanes_differ(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  asm volatile("bar.sync %0, 32;" ::"r"(t / 16) : "memory");  //! barrier
  out[t] = t;
}

// A warp that skips a barrier and does what comes after it has no early way out.
__global__ void skipped(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  if (t >= 32) {
    __syncthreads();  //! divergent
    out[t + 64] = in[t];
  }
  out[t + 128] = 2;
  if (in[t] == n) return;
  out[t] = 1;
}

__global__ void once_more(int *out, const int *in, int n)
{
  int t = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 2 + t / 32; k++) __syncthreads();  //! divergent
  out[t] = 1;
}

// Early ways out, which do something of their own; and a barrier that a loop comes by again.
__global__ void out_early(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  if (t >= 96) {
    out[t] = -1;
    return;
  }
#pragma unroll 1
  for (int k = 0; k < 3; k++) {
    if (t / 32 == k + 1) {
      out[t] = k;
      return;
    }
    __syncthreads();
    out[t + 128] = in[t];
  }
  out[t] = in[t];
}

__global__ void counted(int *out, const int *in, int n)
{
  int t = threadIdx.x;
  if (t < 32) {
    out[t] = in[t];
    asm volatile("bar.sync 0, 64;" ::: "memory");
    out[t] += in[t];
  } else if (t < 64) {
    asm volatile("bar.sync 0, 64;" ::: "memory");
    out[t] = 3;
  }
}

}
