// Reductions, scans and softmax: barriers between neighbours, loops with halving strides.
extern "C" __global__ void reduce_interleaved(const float *in, float *out)
{
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    if (t % (2 * k) == 0) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void reduce_strided(const float *in, float *out)
{
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    int i = 2 * k * t;
    if (i < 256) s[i] += s[i + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void reduce_sequential(const float *in, float *out)
{
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t] + in[blockIdx.x * 512 + t + 256];
  __syncthreads();
#pragma unroll
  for (int k = 128; k > 32; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t < 32) {
    float v = s[t] + s[t + 32];
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
    if (t == 0) out[blockIdx.x] = v;
  }
}
extern "C" __global__ void reduce_warps(const float *in, float *out, int n)
{
  __shared__ float s[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += s[i];
    out[blockIdx.x] = sum;
  }
}
extern "C" __global__ void scan_hillis(const int *in, int *out)
{
  __shared__ int s[2][256];
  int t = threadIdx.x, at = 0;
  s[0][t] = in[t];
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    s[at ^ 1][t] = t >= k ? s[at][t] + s[at][t - k] : s[at][t];
    at ^= 1;
    __syncthreads();
  }
  out[t] = s[at][t];
}
extern "C" __global__ void scan_blelloch(const int *in, int *out)
{
  __shared__ int s[512];
  int t = threadIdx.x, k = 1;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  for (int d = 256; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) s[k * (2 * t + 2) - 1] += s[k * (2 * t + 1) - 1];
    k *= 2;
  }
  if (t == 0) s[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    k /= 2;
    __syncthreads();
    if (t < d) {
      int i = k * (2 * t + 1) - 1, j = k * (2 * t + 2) - 1, x = s[i];
      s[i] = s[j];
      s[j] += x;
    }
  }
  __syncthreads();
  out[2 * t] = s[2 * t];
  out[2 * t + 1] = s[2 * t + 1];
}
extern "C" __global__ void scan_padded(const int *in, int *out)
{
  __shared__ int s[512 + 16];
#define P(i) ((i) + ((i) >> 5))
  int t = threadIdx.x, k = 1;
  s[P(2 * t)] = in[2 * t];
  s[P(2 * t + 1)] = in[2 * t + 1];
  for (int d = 256; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) s[P(k * (2 * t + 2) - 1)] += s[P(k * (2 * t + 1) - 1)];
    k *= 2;
  }
  __syncthreads();
  out[2 * t] = s[P(2 * t)];
  out[2 * t + 1] = s[P(2 * t + 1)];
}
extern "C" __global__ void softmax_rows(const float *in, float *out, int n)
{
  extern __shared__ float row[];
  __shared__ float part[32];
  float top = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    row[i] = in[blockIdx.x * n + i];
    top = fmaxf(top, row[i]);
  }
  for (int k = 16; k; k /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, k));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = top;
  __syncthreads();
  for (int i = 0; i < 8; i++) top = fmaxf(top, part[i]);
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i] = __expf(row[i] - top);
  for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 8; i++) sum += part[i];
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = row[i] / sum;
}
