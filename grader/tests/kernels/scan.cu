// Scans of one block each: `sums` gets the block's total.
extern "C" __global__ void blelloch(const int *in, int *out, int *sums, int n)   // exclusive
{
  extern __shared__ int temp[];
  int t = threadIdx.x, size = 2 * blockDim.x, base = blockIdx.x * size;
  temp[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
  temp[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
  int offset = 1;
  for (int d = size >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) {
    sums[blockIdx.x] = temp[size - 1];
    temp[size - 1] = 0;
  }
  for (int d = 1; d < size; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = temp[a];
      temp[a] = temp[b];
      temp[b] += v;
    }
  }
  __syncthreads();
  if (base + 2 * t < n) out[base + 2 * t] = temp[2 * t];
  if (base + 2 * t + 1 < n) out[base + 2 * t + 1] = temp[2 * t + 1];
}

template <typename T> __device__ T warp_scan(T v)
{
  int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    T up = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += up;
  }
  return v;
}

template <typename T> __device__ void block_scan(const T *in, T *out, T *sums, int n)   // inclusive
{
  __shared__ T warps[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  T v = warp_scan(i < n ? in[i] : T(0));
  if (lane == 31) warps[w] = v;
  __syncthreads();
  if (w == 0) {
    T s = lane < (blockDim.x >> 5) ? warps[lane] : T(0);
    warps[lane] = warp_scan(s);
  }
  __syncthreads();
  if (w > 0) v += warps[w - 1];
  if (i < n) out[i] = v;
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v;
}

extern "C" __global__ void scan_shuffle(const int *in, int *out, int *sums, int n)
{
  block_scan(in, out, sums, n);
}

extern "C" __global__ void scan_shuffle_long(const long long *in, long long *out, long long *sums, int n)
{
  block_scan(in, out, sums, n);
}

extern "C" __global__ void hillis(const float *in, float *out, int n)   // double buffered
{
  __shared__ float buffer[2][256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
  buffer[0][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    buffer[1 - from][t] = t >= d ? buffer[from][t] + buffer[from][t - d] : buffer[from][t];
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = buffer[from][t];
}
