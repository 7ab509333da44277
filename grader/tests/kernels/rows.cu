#include <cfloat>
// Softmax and layernorm of rows: one warp a row, one block a row, and the online form.
template <typename F, typename Op> __device__ F warp_all(F v, Op op)
{
  for (int d = 16; d; d /= 2) v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
struct Add { template <typename F> __device__ F operator()(F a, F b) const { return a + b; } };
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };

template <typename F, typename Op> __device__ F block_all(F v, Op op, F zero)
{
  __shared__ F warps[32];
  v = warp_all(v, op);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? warps[threadIdx.x % 32] : zero;
  return warp_all(v, op);
}

extern "C" __global__ void softmax_block(const float *__restrict__ in, float *__restrict__ out, int cols)
{
  const float *x = in + (size_t)blockIdx.x * cols;
  float *y = out + (size_t)blockIdx.x * cols, most = -FLT_MAX, sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) most = fmaxf(most, x[c]);
  most = block_all(most, Max(), -FLT_MAX);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += y[c] = __expf(x[c] - most);
  sum = block_all(sum, Add(), 0.f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] /= sum;
}

extern "C" __global__ void softmax_online(const float *in, float *out, int rows, int cols)
{
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float m = -INFINITY, d = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    float v = in[row * cols + c], next = fmaxf(m, v);
    d = d * expf(m - next) + expf(v - next);
    m = next;
  }
  for (int s = 16; s; s /= 2) {
    float m2 = __shfl_xor_sync(~0u, m, s), d2 = __shfl_xor_sync(~0u, d, s), next = fmaxf(m, m2);
    d = (m == -INFINITY ? 0 : d * expf(m - next)) + (m2 == -INFINITY ? 0 : d2 * expf(m2 - next));
    m = next;
  }
  for (int c = threadIdx.x; c < cols; c += 32) out[row * cols + c] = expf(in[row * cols + c] - m) / d;
}

extern "C" __global__ void layernorm(const float *in, const float *gain, const float *bias, float *out,
                                     int cols, float eps)
{
  extern __shared__ float row[];
  float sum = 0, square = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += row[c] = in[(size_t)blockIdx.x * cols + c];
  float mean = block_all(sum, Add(), 0.f) / cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float d = row[c] - mean;
    square += d * d;
  }
  float scale = rsqrtf(block_all(square, Add(), 0.f) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[(size_t)blockIdx.x * cols + c] = (row[c] - mean) * scale * gain[c] + bias[c];
}

// gelu and friends: the math library.
extern "C" __global__ void functions(const float *in, float *out, double *wide, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  float *o = out + 12 * i;
  o[0] = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  o[1] = erff(x);
  o[2] = sinf(x * 1000);
  o[3] = cosf(x);
  o[4] = logf(fabsf(x) + 0.01f);
  o[5] = powf(fabsf(x), 1.7f);
  o[6] = sqrtf(fabsf(x));
  o[7] = 1 / (1 + expf(-x));
  o[8] = atan2f(x, 0.3f);
  o[9] = fmodf(x, 0.37f);
  o[10] = cbrtf(x);
  o[11] = log1pf(x * x);
  double d = x;
  double *w = wide + 6 * i;
  w[0] = exp(d);
  w[1] = sin(d * 100);
  w[2] = log(d * d + 0.5);
  w[3] = sqrt(d * d + 1) / (d + 20);
  w[4] = pow(d * d + 0.1, 0.3);
  w[5] = lgamma(d * d + 1.5);
}
