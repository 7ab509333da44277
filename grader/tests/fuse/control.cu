// Several arrays, hand-carved memory, volatile and atomics between accesses, control flow, device
// functions, pointers that lose their space.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void
K several(const float *in, float *out)
{
  __shared__ float a[128], b[132], c[3];
  __shared__ double d[64];
  __shared__ char e[5];
  int t = threadIdx.x;
  a[t] = in[t]; b[t] = in[t + 128];
  if (t < 64) d[t] = in[t] * 2.0;
  if (t < 3) c[t] = in[t];
  if (t < 5) e[t] = t;
  __syncthreads();
  out[t] = a[127 - t] + b[t] + c[0] + c[1] + c[2] + (float)d[t / 2] + e[0] + e[4];
}
K carved(const float *in, float *out, int n)
{
  extern __shared__ unsigned char raw[];
  float4 *v = reinterpret_cast<float4 *>(raw);
  float *f = reinterpret_cast<float *>(raw + 16 * 64);
  unsigned short *h = reinterpret_cast<unsigned short *>(f + 64);
  int t = threadIdx.x;
  v[t] = reinterpret_cast<const float4 *>(in)[t];
  f[t] = in[t + n];
  h[t] = t;
  __syncthreads();
  float4 a = v[63 - t];
  out[t] = a.x + a.w + f[t ^ 1] + f[(t ^ 1) + 2] + h[t ^ 2];
}
K carved_runtime(const float *in, float *out, int rows, int cols)
{
  extern __shared__ __align__(16) float pool[];
  float *tile = pool, *sums = tile + rows * cols;
  int t = threadIdx.x;
  for (int r = 0; r < rows; r++) tile[r * cols + t] = in[r * cols + t];
  __syncthreads();
  float sum = 0;
  for (int c = 0; c < 4; c++) sum += tile[t * cols + c];
  sums[t] = sum;
  __syncthreads();
  if (t == 0) out[0] = sums[0] + sums[1] + sums[2] + sums[3];
}
K volatile_tail(const float *in, float *out)
{
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[t] + in[t + 256];
  __syncthreads();
  if (t < 128) s[t] += s[t + 128];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    volatile float *v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
K volatile_flag(const float4 *in, float4 *out)
{
  __shared__ float4 s[64];
  __shared__ volatile int ready;
  int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  s[t] = in[t];
  __threadfence_block();
  if (t == 63) ready = 1;
  __syncthreads();
  float4 a = s[63 - t];
  if (ready) a.x += s[t].x;
  out[t] = a;
}
K atomics_between(const int *in, int *out)
{
  __shared__ int s[256], count;
  int t = threadIdx.x;
  if (t == 0) count = 0;
  s[t] = in[t];
  __syncthreads();
  int a = s[4 * (t & 63)], b = s[4 * (t & 63) + 1];
  int at = atomicAdd(&count, 1);
  int c = s[4 * (t & 63) + 2], d = s[4 * (t & 63) + 3];
  out[at & 255] = a + b + c + d;
}
K warp_sync_steps(const float *in, float *out)
{
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncwarp();
  float v = s[t];
  if (t < 16) { v += s[t + 16]; }
  __syncwarp();
  if (t < 16) s[t] = v;
  __syncwarp();
  if (t < 8) s[t] += s[t + 8];
  __syncwarp();
  if (t < 4) s[t] += s[t + 4];
  __syncwarp();
  if (t == 0) out[0] = s[0] + s[1] + s[2] + s[3];
}
K specialised(const float4 *in, float *out, int n)
{
  __shared__ float4 buf[2][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = 0; i < n; i++) {
    if (warp == 0) buf[i & 1][lane] = in[i * 32 + lane];
    __syncthreads();
    if (warp == 1) {
      float4 v = buf[i & 1][lane];
      sum += v.x * v.y + v.z * v.w;
    } else if (warp == 2) {
      sum += buf[i & 1][lane ^ 1].x;
    }
  }
  out[threadIdx.x] = sum;
}
K early_return(const float *in, float *out, int n)
{
  __shared__ float s[260];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (i >= n) return;
  float a = s[t] + s[t + 1];
  if (a < 0) { out[i] = 0; return; }
  out[i] = a + s[t + 2] + s[t + 3];
}
K early_return_quad(const float *in, float *out, int n)
{
  __shared__ float s[1024];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[t + 256 * i] = in[t + 256 * i];
  __syncthreads();
  float a = s[4 * t];
  if (a < 0) { out[t] = a; return; }
  float b = s[4 * t + 1];
  if (b > n) return;
  out[t] = a + b + s[4 * t + 2] + s[4 * t + 3];
}
K switch_op(const float *in, float *out, int op)
{
  __shared__ float s[512];
  int t = threadIdx.x;
  s[2 * t] = in[2 * t]; s[2 * t + 1] = in[2 * t + 1];
  __syncthreads();
  float r;
  switch (op) {
  case 0: r = s[2 * t] + s[2 * t + 1]; break;
  case 1: r = s[2 * t] * s[2 * t + 1]; break;
  case 2: r = s[2 * t] - s[t]; break;
  case 3: r = fmaxf(s[2 * t], s[2 * t + 1]); break;
  case 4: r = s[t]; break;
  default: r = 0;
  }
  out[t] = r;
}
__device__ __noinline__ float dot4(const float *a, const float *b)
{
  float sum = 0;
  for (int i = 0; i < 4; i++) sum += a[i] * b[i];
  return sum;
}
K noinline_dot(const float *in, float *out)
{
  __shared__ __align__(16) float a[512], b[512];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) { a[t + 128 * i] = in[t + 128 * i]; b[t + 128 * i] = in[t + 128 * i + 512]; }
  __syncthreads();
  out[t] = dot4(a + 4 * t, b + 4 * t);
}
__device__ __noinline__ void put(float *s, int i, float v) { s[i] = v; s[i + 1] = -v; }
K noinline_put(const float *in, float *out)
{
  __shared__ float s[512];
  int t = threadIdx.x;
  put(s, 2 * t, in[t]);
  __syncthreads();
  out[t] = s[2 * (t ^ 1)] + s[2 * (t ^ 1) + 1];
}
__device__ __noinline__ int twice(int x) { return x * x + 3; }
K noinline_between(const int *in, int *out)
{
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  int a = s[2 * (t & 127)];
  int b = twice(a);
  out[t] = b + s[2 * (t & 127) + 1] + s[2 * (t & 127)];
}
__device__ float fold(const float *p, int n) { float v = 0; for (int i = 0; i < n; i++) v += p[i]; return v; }
K generic_inline(const float *in, float *out)
{
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = fold(&s[t & ~3], 4);
}
K generic_choice(const float *in, float *out, int n)
{
  __shared__ float a[256], b[256];
  int t = threadIdx.x;
  a[t] = in[t]; b[t] = in[t + 256];
  __syncthreads();
  float *p = n & 1 ? a : b;
  out[t] = p[2 * (t & 127)] + p[2 * (t & 127) + 1];
}
K generic_swap(const float *in, float *out, int n)
{
  __shared__ float a[256], b[256];
  float *from = a, *to = b;
  int t = threadIdx.x;
  from[t] = in[t];
  for (int i = 0; i < n; i++) {
    __syncthreads();
    to[t] = from[t] + from[t ^ 1];
    float *x = from; from = to; to = x;
  }
  __syncthreads();
  out[t] = from[255 - t];
}
K groups_reduce(const int *in, int *out)
{
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  __shared__ int s[8];
  int v = cg::reduce(warp, in[block.thread_rank()], cg::plus<int>());
  if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = v;
  block.sync();
  if (block.thread_rank() == 0) {
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += s[i];
    out[blockIdx.x] = sum;
  }
}
__device__ int reduce_sum(cg::thread_group g, int *temp, int val)
{
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val;
    g.sync();
    if (lane < i) val += temp[lane + i];
    g.sync();
  }
  return val;
}
K groups_generic(const int *in, int *out)
{
  extern __shared__ int temp[];
  auto g = cg::this_thread_block();
  int sum = reduce_sum(g, temp, in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (g.thread_rank() == 0) atomicAdd(out, sum);
}
K groups_tile16(const float *in, float *out)
{
  __shared__ float s[256];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, b = t & ~15;
  s[t] = in[t];
  tile.sync();
  float v = s[b + (15 - tile.thread_rank())] + s[b];
  tile.sync();
  s[t] = v;
  tile.sync();
  out[t] = s[b] + s[b + 1] + s[b + 2] + s[b + 3];
}
K two_arms(const float *in, float *out, int n)
{
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[t];
  s[t + 256] = in[t + 256];
  __syncthreads();
  float r;
  if (in[t + n] > 0) { r = s[t] * 2; out[t + 256] = r; }
  else { r = s[t] - s[t + 1]; out[t + 512] = s[511 - t]; }
  out[t] = r;
}
K softmax_online(const float *in, float *out, int n)
{
  __shared__ float m[32], d[32];
  int t = threadIdx.x;
  float mx = -1e30f, sum = 0;
  for (int i = t; i < n; i += blockDim.x) {
    float v = in[blockIdx.x * n + i], nm = fmaxf(mx, v);
    sum = sum * __expf(mx - nm) + __expf(v - nm);
    mx = nm;
  }
  for (int k = 16; k; k /= 2) {
    float om = __shfl_xor_sync(~0u, mx, k), os = __shfl_xor_sync(~0u, sum, k), nm = fmaxf(mx, om);
    sum = sum * __expf(mx - nm) + os * __expf(om - nm);
    mx = nm;
  }
  if (t % 32 == 0) { m[t / 32] = mx; d[t / 32] = sum; }
  __syncthreads();
  mx = m[0]; sum = d[0];
  for (int i = 1; i < 4; i++) {
    float nm = fmaxf(mx, m[i]);
    sum = sum * __expf(mx - nm) + d[i] * __expf(m[i] - nm);
    mx = nm;
  }
  for (int i = t; i < n; i += blockDim.x) out[blockIdx.x * n + i] = __expf(in[blockIdx.x * n + i] - mx) / sum;
}
K layernorm(const float4 *in, float4 *out, int n)
{
  __shared__ float2 part[8];
  __shared__ float mean, rstd;
  int t = threadIdx.x;
  float4 v = in[blockIdx.x * 256 + t];
  float s = v.x + v.y + v.z + v.w, q = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  for (int k = 16; k; k /= 2) { s += __shfl_down_sync(~0u, s, k); q += __shfl_down_sync(~0u, q, k); }
  if (t % 32 == 0) part[t / 32] = make_float2(s, q);
  __syncthreads();
  if (t == 0) {
    s = q = 0;
    for (int i = 0; i < 8; i++) { s += part[i].x; q += part[i].y; }
    mean = s / n;
    rstd = rsqrtf(q / n - mean * mean + 1e-5f);
  }
  __syncthreads();
  v.x = (v.x - mean) * rstd; v.y = (v.y - mean) * rstd; v.z = (v.z - mean) * rstd; v.w = (v.w - mean) * rstd;
  out[blockIdx.x * 256 + t] = v;
}
K queue(const int *in, int *out, int n)
{
  __shared__ int items[256], head;
  int t = threadIdx.x;
  if (t == 0) head = 0;
  __syncthreads();
  int v = in[t];
  if (v > n) items[atomicAdd(&head, 1)] = v;
  __syncthreads();
  for (int i = t; i < head; i += blockDim.x) out[i] = items[i] + items[i ^ 1];
}
K flash_row(const float *q, const float *k, float *out, int n)
{
  __shared__ float ks[32][64];
  int t = threadIdx.x;
  float qr[64], acc = 0;
  for (int i = 0; i < 64; i++) qr[i] = q[t * 64 + i];
  for (int j = 0; j < n; j += 32) {
    for (int i = 0; i < 64; i++) ks[t][i] = k[(j + t) * 64 + i];
    __syncthreads();
    for (int r = 0; r < 32; r++) {
      float d = 0;
#pragma unroll
      for (int i = 0; i < 64; i++) d += qr[i] * ks[r][i];
      acc += __expf(d);
    }
    __syncthreads();
  }
  out[t] = acc;
}
