// What kernels of a course use, in one kernel: both compilers must take it, and ptxas both texts.
#include <assert.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int counter;

template <int N> __device__ __forceinline__ float sum_of(const float *a)
{
  float s = 0.0f;
#pragma unroll
  for (int i = 0; i < N; i++) s += a[i];
  return s;
}

extern "C" __global__ void __launch_bounds__(256)
everything(float *out, const float4 *__restrict__ in, unsigned long long *wide, double *d, int n,
           half2 *h)
{
  extern __shared__ float dynamic[];
  __shared__ __align__(16) float tile[32][33];
  dim3 pair(1, 2);
  uint3 thread = threadIdx;
  dim3 block = blockDim;
  const unsigned all = 0xffffffffu;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(n > 0);
  float4 v = in[i];
  float2 w = make_float2(v.x, v.y);
  tile[threadIdx.y][threadIdx.x] = v.x + w.y + pair.y + thread.z + block.y + gridDim.x + warpSize;
  dynamic[i] = v.y;
  __syncthreads();
  int votes = __syncthreads_count(v.x > 0) + __syncthreads_or(i) + __syncthreads_and(i);
  float s = v.z;
  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(all, s, o);
  s += __shfl_xor_sync(all, s, 1) + __shfl_sync(all, s, 0) + __shfl_up_sync(all, s, 1, 16);
  double dd = __shfl_down_sync(all, *d, 1);
  unsigned m = __ballot_sync(all, i & 1) | __activemask() | __match_any_sync(all, i);
  m += __any_sync(all, i > 3) + __all_sync(all, i > 3) + __reduce_add_sync(all, m);
  __syncwarp();
  atomicAdd(&counter, 1);
  atomicAdd(&out[1], s);
  atomicAdd(d, dd);
  atomicAdd(wide, 5ull);
  atomicMax(&counter, 3);
  atomicMin((unsigned *)&counter, 9u);
  atomicCAS(wide, 1ull, 2ull);
  atomicAdd((int *)&tile[0][0], 1);
  atomicAdd(&tile[0][1], 1.0f);
  atomicInc((unsigned *)&counter, 7u);
  votes += atomicExch(&counter, 3);
  out[i] = expf(s) + logf(v.w) + powf(v.x, v.y) + sinf(v.x) + cosf(v.y) + tanhf(v.z) +
           rsqrtf(v.x) + sqrtf(fabsf(v.y)) + fminf(v.x, v.y) + min(i, n) + max(1.0f, v.x) +
           floorf(v.x) + ceilf(v.y) + __expf(v.x) + __logf(v.y) + exp2f(v.y) + log2f(v.y) +
           log1pf(v.x) + expm1f(v.y) + fmodf(v.x, v.y) + __ldg(&out[2]) + __popc(m) + __clz(i) +
           __ffs(i) + __brev(m) + __fdividef(v.x, v.y) + fmaf(v.x, v.y, v.z) + abs(i) +
           tile[threadIdx.x][threadIdx.y] + weights[i & 3] + sum_of<4>((const float *)in) + votes +
           isnan(s) + isinf(s) + roundf(s) + rintf(s) + truncf(s) + __mulhi(i, n) +
           __float_as_int(s) + __int_as_float(i) + INFINITY + dynamic[i ^ 1];
  h[i] = __hfma2(h[i], h[i], __float2half2_rn(1.0f)) + h[i + 1];
  half q = __float2half(v.x);
  q = q * q + __hadd(q, q) - __hmul(q, __int2half_rn(n));
  out[i] += __half2float(q) + (float)clock64() + __low2float(h[i]) + __half22float2(h[i]).y;
  if (i == 0) printf("%d %f\n", i, s);
  unsigned at = (unsigned)__cvta_generic_to_shared(&tile[0][0]), r0, r1, r2, r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at));
  out[i] += r0 + r1 + r2 + r3 + __uint_as_float(r1);
  __threadfence();
  if (n == 77) __trap();
}
