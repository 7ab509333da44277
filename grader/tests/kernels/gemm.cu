// Matrix products: C = A B, A m x k, B k x n, all row by row, any sizes.
template <int T, typename F>
__device__ void tiled(const F *__restrict__ a, const F *__restrict__ b, F *__restrict__ c, int m,
                      int n, int k)
{
  __shared__ F as[T][T + 1], bs[T][T + 1];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  F sum = 0;
  for (int t = 0; t < k; t += T) {
    as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + col] : 0;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < T; j++) sum += as[threadIdx.y][j] * bs[j][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

extern "C" __global__ void gemm_tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
  tiled<16, float>(a, b, c, m, n, k);
}

extern "C" __global__ void gemm_double(const double *a, const double *b, double *c, int m, int n, int k)
{
  tiled<8, double>(a, b, c, m, n, k);
}

// 64 x 64 of C a block of 256 threads, 4 x 4 a thread, operands from shared memory as float4.
extern "C" __global__ void __launch_bounds__(256)
gemm_register(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m,
              int n, int k)
{
  __shared__ __align__(16) float as[8][64], bs[8][64];
  int t = threadIdx.x, tx = t % 16, ty = t / 16, m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 8) {
    for (int i = t; i < 512; i += 256) {
      int r = i / 8, kk = i % 8;
      as[kk][r] = m0 + r < m && k0 + kk < k ? a[(m0 + r) * k + k0 + kk] : 0;
      int cc = i % 64, kb = i / 64;
      bs[kb][cc] = n0 + cc < n && k0 + kb < k ? b[(k0 + kb) * n + n0 + cc] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 8; kk++) {
      float4 x = *(const float4 *)&as[kk][4 * ty], y = *(const float4 *)&bs[kk][4 * tx];
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] = fmaf(xs[i], ys[j], acc[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      if (m0 + 4 * ty + i < m && n0 + 4 * tx + j < n)
        c[(m0 + 4 * ty + i) * n + n0 + 4 * tx + j] = acc[i][j];
}
