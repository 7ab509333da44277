// Products in several tile shapes: what course notes and blog posts write.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define K extern "C" __global__ void
template <int BM, int BN, int BK, int TM>
__device__ void gemm_1d(const float *A, const float *B, float *C, int M, int N, int Kd)
{
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
  A += blockIdx.y * BM * Kd;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const unsigned innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK;
  const unsigned innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
  float threadResults[TM] = {0.0};
  for (unsigned bk = 0; bk < Kd; bk += BK) {
    As[innerRowA * BK + innerColA] = A[innerRowA * Kd + innerColA];
    Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (unsigned dot = 0; dot < BK; ++dot) {
      float tmpB = Bs[dot * BN + threadCol];
      for (unsigned r = 0; r < TM; ++r) threadResults[r] += As[(threadRow * TM + r) * BK + dot] * tmpB;
    }
    __syncthreads();
  }
  for (unsigned r = 0; r < TM; ++r) C[(threadRow * TM + r) * N + threadCol] = threadResults[r];
}
K tile_1d_64(const float *A, const float *B, float *C, int M, int N, int Kd) { gemm_1d<64, 64, 8, 8>(A, B, C, M, N, Kd); }
K tile_1d_32(const float *A, const float *B, float *C, int M, int N, int Kd) { gemm_1d<32, 32, 4, 4>(A, B, C, M, N, Kd); }
template <int BM, int BN, int BK, int TM, int TN>
__device__ void gemm_2d(const float *A, const float *B, float *C, int M, int N, int Kd)
{
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const int threads = BM * BN / (TM * TN);
  const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  A += blockIdx.y * BM * Kd;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const int innerRowA = threadIdx.x / BK, innerColA = threadIdx.x % BK, strideA = threads / BK;
  const int innerRowB = threadIdx.x / BN, innerColB = threadIdx.x % BN, strideB = threads / BN;
  float threadResults[TM * TN] = {0.0}, regM[TM] = {0.0}, regN[TN] = {0.0};
  for (int bk = 0; bk < Kd; bk += BK) {
    for (int o = 0; o < BM; o += strideA) As[(innerRowA + o) * BK + innerColA] = A[(innerRowA + o) * Kd + innerColA];
    for (int o = 0; o < BK; o += strideB) Bs[(innerRowB + o) * BN + innerColB] = B[(innerRowB + o) * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (int dot = 0; dot < BK; ++dot) {
      for (int i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dot];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dot * BN + threadCol * TN + i];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) threadResults[i * TN + j] += regM[i] * regN[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) C[(threadRow * TM + i) * N + threadCol * TN + j] = threadResults[i * TN + j];
}
K tile_2d_64(const float *A, const float *B, float *C, int M, int N, int Kd) { gemm_2d<64, 64, 8, 4, 4>(A, B, C, M, N, Kd); }
K tile_2d_128x64(const float *A, const float *B, float *C, int M, int N, int Kd) { gemm_2d<128, 64, 8, 8, 4>(A, B, C, M, N, Kd); }
K tile_2d_48(const float *A, const float *B, float *C, int M, int N, int Kd) { gemm_2d<48, 48, 16, 3, 3>(A, B, C, M, N, Kd); }
template <int BM, int BN, int BK, int TM, int TN>
__device__ void gemm_vec(float *A, float *B, float *C, int M, int N, int Kd)
{
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  A += blockIdx.y * BM * Kd;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const unsigned innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
  const unsigned innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
  float threadResults[TM * TN] = {0.0}, regM[TM] = {0.0}, regN[TN] = {0.0};
  for (unsigned bk = 0; bk < Kd; bk += BK) {
    float4 tmp = reinterpret_cast<float4 *>(&A[innerRowA * Kd + innerColA * 4])[0];
    As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
    reinterpret_cast<float4 *>(&Bs[innerRowB * BN + innerColB * 4])[0] =
        reinterpret_cast<float4 *>(&B[innerRowB * N + innerColB * 4])[0];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (unsigned dot = 0; dot < BK; ++dot) {
      for (unsigned i = 0; i < TM; ++i) regM[i] = As[dot * BM + threadRow * TM + i];
      for (unsigned i = 0; i < TN; ++i) regN[i] = Bs[dot * BN + threadCol * TN + i];
      for (unsigned i = 0; i < TM; ++i)
        for (unsigned j = 0; j < TN; ++j) threadResults[i * TN + j] += regM[i] * regN[j];
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < TM; i += 1)
    for (unsigned j = 0; j < TN; j += 4) {
      float4 tmp = reinterpret_cast<float4 *>(&C[(threadRow * TM + i) * N + threadCol * TN + j])[0];
      tmp.x += threadResults[i * TN + j];
      tmp.y += threadResults[i * TN + j + 1];
      tmp.z += threadResults[i * TN + j + 2];
      tmp.w += threadResults[i * TN + j + 3];
      reinterpret_cast<float4 *>(&C[(threadRow * TM + i) * N + threadCol * TN + j])[0] = tmp;
    }
}
K tile_vec_64(float *A, float *B, float *C, int M, int N, int Kd) { gemm_vec<64, 64, 8, 4, 8>(A, B, C, M, N, Kd); }
K tile_vec_128(float *A, float *B, float *C, int M, int N, int Kd) { gemm_vec<128, 128, 16, 8, 4>(A, B, C, M, N, Kd); }
K tile_half2(const __half *A, const __half *B, __half *C, int n)
{
  __shared__ __half a[32][40], b[32][40];
  int tx = threadIdx.x, ty = threadIdx.y;
  __half2 acc[2] = {__float2half2_rn(0), __float2half2_rn(0)};
  for (int k = 0; k < n; k += 32) {
    *(__half2 *)&a[ty * 2][tx * 2] = *(const __half2 *)&A[(blockIdx.y * 32 + ty * 2) * n + k + tx * 2];
    *(__half2 *)&a[ty * 2 + 1][tx * 2] = *(const __half2 *)&A[(blockIdx.y * 32 + ty * 2 + 1) * n + k + tx * 2];
    *(__half2 *)&b[ty * 2][tx * 2] = *(const __half2 *)&B[(k + ty * 2) * n + blockIdx.x * 32 + tx * 2];
    *(__half2 *)&b[ty * 2 + 1][tx * 2] = *(const __half2 *)&B[(k + ty * 2 + 1) * n + blockIdx.x * 32 + tx * 2];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; i++) {
      __half2 y = *(__half2 *)&b[i][tx * 2];
      acc[0] = __hfma2(__half2half2(a[ty * 2][i]), y, acc[0]);
      acc[1] = __hfma2(__half2half2(a[ty * 2 + 1][i]), y, acc[1]);
    }
    __syncthreads();
  }
  *(__half2 *)&C[(blockIdx.y * 32 + ty * 2) * n + blockIdx.x * 32 + tx * 2] = acc[0];
  *(__half2 *)&C[(blockIdx.y * 32 + ty * 2 + 1) * n + blockIdx.x * 32 + tx * 2] = acc[1];
}
K tile_int8(const int *A, const int *B, int *C, int n)
{
  __shared__ int a[16][17], b[16][17];
  int tx = threadIdx.x, ty = threadIdx.y, sum = 0;
  for (int k = 0; k < n / 4; k += 16) {
    a[ty][tx] = A[(blockIdx.y * 16 + ty) * (n / 4) + k + tx];
    b[tx][ty] = B[(blockIdx.x * 16 + ty) * (n / 4) + k + tx];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) sum = __dp4a(a[ty][i], b[i][tx], sum);
    __syncthreads();
  }
  C[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = sum;
}
K tile_double(const double *A, const double *B, double *C, int n)
{
  __shared__ double a[16][16], b[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  double sum = 0;
  for (int k = 0; k < n; k += 16) {
    a[ty][tx] = A[(blockIdx.y * 16 + ty) * n + k + tx];
    b[ty][tx] = B[(k + ty) * n + blockIdx.x * 16 + tx];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  C[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = sum;
}
K tile_bf16(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int n)
{
  __shared__ __nv_bfloat16 a[16][18], b[16][18];
  int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    a[ty][tx] = A[(blockIdx.y * 16 + ty) * n + k + tx];
    b[ty][tx] = B[(k + ty) * n + blockIdx.x * 16 + tx];
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += __bfloat162float(a[ty][i]) * __bfloat162float(b[i][tx]);
    __syncthreads();
  }
  C[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = sum;
}
K tile_complex(const float2 *A, const float2 *B, float2 *C, int n)
{
  __shared__ float2 a[16][16], b[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  float re = 0, im = 0;
  for (int k = 0; k < n; k += 16) {
    a[ty][tx] = A[(blockIdx.y * 16 + ty) * n + k + tx];
    b[ty][tx] = B[(k + ty) * n + blockIdx.x * 16 + tx];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) {
      re += a[ty][i].x * b[i][tx].x - a[ty][i].y * b[i][tx].y;
      im += a[ty][i].x * b[i][tx].y + a[ty][i].y * b[i][tx].x;
    }
    __syncthreads();
  }
  C[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = make_float2(re, im);
}
K tile_runtime_k(const float *A, const float *B, float *C, int n, int m, int kd)
{
  __shared__ float a[32][32], b[32][33];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float sum = 0;
  for (int t = 0; t < (kd + 31) / 32; t++) {
    a[ty][tx] = row < n && t * 32 + tx < kd ? A[row * kd + t * 32 + tx] : 0.f;
    b[ty][tx] = t * 32 + ty < kd && col < m ? B[(t * 32 + ty) * m + col] : 0.f;
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  if (row < n && col < m) C[row * m + col] = sum;
}
