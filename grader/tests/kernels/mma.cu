#include <cuda_fp16.h>
// C (m x n, float) = A (m x k, half, by rows) B (k x n, half, by rows) on tensor cores: 32 x 32 of C a
// block of four warps; k a multiple of 16, m and n any.  Fragments by ldmatrix from padded rows.
extern "C" __global__ void __launch_bounds__(128)
gemm_mma(const __half *__restrict__ a, const __half *__restrict__ b, float *__restrict__ c, int m, int n,
         int k)
{
  __shared__ __align__(16) __half as[32][24], bs[16][40];
  int t = threadIdx.x, lane = t % 32, w = t / 32, m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
  int wm = w / 2 * 16, wn = w % 2 * 16;
  float d[2][4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = t; i < 512; i += 128) {
      int r = i / 16, kk = i % 16, kb = i / 32, cc = i % 32;
      as[r][kk] = m0 + r < m ? a[(m0 + r) * k + k0 + kk] : __half(0.f);
      bs[kb][cc] = n0 + cc < n ? b[(k0 + kb) * n + n0 + cc] : __half(0.f);
    }
    __syncthreads();
    unsigned x[4], y[4];
    unsigned pa = __cvta_generic_to_shared(&as[wm + lane % 16][lane / 16 * 8]);
    unsigned pb = __cvta_generic_to_shared(&bs[lane % 16][wn + lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(pb));
    for (int h = 0; h < 2; h++)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                   "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(d[h][0]), "+f"(d[h][1]), "+f"(d[h][2]), "+f"(d[h][3])
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * h]), "r"(y[2 * h + 1]));
    __syncthreads();
  }
  for (int h = 0; h < 2; h++)
    for (int e = 0; e < 4; e++) {
      int r = m0 + wm + lane / 4 + e / 2 * 8, q = n0 + wn + h * 8 + lane % 4 * 2 + e % 2;
      if (r < m && q < n) c[r * n + q] = d[h][e];
    }
}

// Half arithmetic: y = a x + y in pairs, exp and a dot product in float.
extern "C" __global__ void half_axpy(const __half2 *x, __half2 *y, float *dot, float a, int pairs)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  __half2 v = __hfma2(__float2half2_rn(a), x[i], y[i]);
  float2 f = __half22float2(v), g = __half22float2(x[i]);
  y[i] = v;
  dot[i] = f.x * g.x + f.y * g.y + __half2float(__hmul(__low2half(v), __high2half(v)));
}
