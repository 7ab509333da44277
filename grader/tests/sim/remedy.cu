// What a race is told to do about it.  `//* words` on a line: the first fault's text, of the
// kernel before, holds them; `//* n faults`: that many are told.  remedy.ptx is this file compiled.
extern "C" {

__global__ void lock_unfenced(int *out, const int *in, int n)
{
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) continue;
    sum = sum + in[threadIdx.x];
    atomicExch(&lock, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
//* put __threadfence_block() before it is set or given back
//* 1 faults

__global__ void flag_by_another(int *out, const int *in, int n)
{
  __shared__ volatile int flag;
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    s[t] = in[t];
    __threadfence_block();
    if (t == 31) flag = 1;
  } else {
    while (flag == 0) continue;
    __threadfence_block();
    out[t] = s[t % 32];
  }
}
//* the thread that wrote, or one that it has met since (__syncwarp(), __syncthreads()), must fence

__global__ void histogram(int *out, const int *in, int n)
{
  __shared__ int h[16];
  int t = threadIdx.x;
  if (t < 16) h[t] = 0;
  __syncthreads();
  h[in[t] % 16]++;
  __syncthreads();
  out[t] = h[t % 16];
}
//* use an atomic, as atomicAdd()
//* 1 faults

__global__ void one_statement(int *out, const int *in, int n)
{
  __shared__ int any;
  int t = threadIdx.x;
  if (t == 0) any = 0;
  __syncthreads();
  if (in[t] > 3) any = 1;
  __syncthreads();
  out[t] = any;
}
//* Both store in one statement: let one thread do it

// Rounds within a warp come first, those across warps need more.
__global__ void reduction(int *out, const int *in, int n)
{
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
#pragma unroll 1
  for (int k = 64; k; k /= 2)
    if (t < k) s[t] += s[t + k];
  __syncthreads();
  out[t] = s[0];
}
//* two: put __syncthreads() between them
//* 1 faults

__global__ void read_too_soon(int *out, const int *in, int n)
{
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  out[t] = s[(t + 33) % 128];
}
//* reads byte 132 of s before thread (33,0,0) writes it at line 85: put __syncthreads() between
//* 2 faults

// The other halves are never written.
__global__ void never_written(int *out, const int *in, int n)
{
  __shared__ int s[256];
  int t = threadIdx.x;
  s[2 * t] = in[t];
  __syncthreads();
  out[t] = s[2 * t + 1];
}
//* which no thread has written yet: initialise it
//* 1 faults
}
