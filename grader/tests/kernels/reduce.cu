// The ladder of reductions; each writes one sum a block.
template <int Step> __device__ void ladder(const float *in, float *out, int n)
{
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x * (Step >= 3 ? 2 : 1) + t;
  s[t] = i < n ? in[i] : 0;
  if (Step >= 3 && i + blockDim.x < n) s[t] += in[i + blockDim.x];
  __syncthreads();
  if (Step == 0)
    for (int d = 1; d < blockDim.x; d *= 2) {
      if (t % (2 * d) == 0) s[t] += s[t + d];
      __syncthreads();
    }
  else if (Step == 1)
    for (int d = 1; d < blockDim.x; d *= 2) {
      int k = 2 * d * t;
      if (k < blockDim.x) s[k] += s[k + d];
      __syncthreads();
    }
  else
    for (int d = blockDim.x / 2; d > (Step >= 4 ? 32 : 0); d /= 2) {
      if (t < d) s[t] += s[t + d];
      __syncthreads();
    }
  if (Step == 4 && t < 32) {   // warp synchronous
    volatile float *v = s;
    float x = v[t] + v[t + 32];
    v[t] = x; __syncwarp();
#pragma unroll
    for (int d = 16; d; d /= 2) {
      if (t < d) x = v[t] + v[t + d];
      __syncwarp();
      if (t < d) v[t] = x;
      __syncwarp();
    }
  }
  if (Step == 5 && t < 32) {
    float x = s[t] + s[t + 32];
    for (int d = 16; d; d /= 2) x += __shfl_down_sync(~0u, x, d);
    if (t == 0) s[0] = x;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
#define STEP(k) extern "C" __global__ void reduce##k(const float *in, float *out, int n) { ladder<k>(in, out, n); }
STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5)

// A grid-wide sum: the last block to finish adds up.
__device__ unsigned finished;
extern "C" __global__ void reduce_last(const int *in, long long *part, long long *out, int n)
{
  __shared__ long long s;
  __shared__ bool last;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  mine = __reduce_add_sync(~0u, mine);
  if (threadIdx.x % 32 == 0) atomicAdd((unsigned long long *)&s, (unsigned long long)(long long)mine);
  __syncthreads();
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s;
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    long long sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += ((volatile long long *)part)[b];
    *out = sum;
  }
}
