// Register-tiled products: what ptxas makes of rows of A and columns of B in shared memory.
#define T 16
extern "C" __global__ void gemm_plain(const float *A, const float *B, float *C, int n)
{
  __shared__ float a[T][T], b[T][T];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    a[ty][tx] = A[row * n + k + tx];
    b[ty][tx] = B[(k + ty) * n + col];
    __syncthreads();
    for (int i = 0; i < T; i++) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}
extern "C" __global__ void gemm_pitch17(const float *A, const float *B, float *C, int n)
{
  __shared__ float a[T][T + 1], b[T][T + 1];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    a[ty][tx] = A[row * n + k + tx];
    b[ty][tx] = B[(k + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; i++) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}
extern "C" __global__ void gemm_4x4(const float *A, const float *B, float *C, int n)
{
  __shared__ float a[8][64], b[8][64];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  float acc[4][4] = {};
  for (int k = 0; k < n; k += 8) {
    for (int i = t; i < 512; i += 256) {
      a[i / 64][i % 64] = A[(blockIdx.y * 64 + i % 64) * n + k + i / 64];
      b[i / 64][i % 64] = B[(k + i / 64) * n + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 8; p++) {
      float x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; i++) { x[i] = a[p][ty * 4 + i]; y[i] = b[p][tx * 4 + i]; }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      C[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4 + j] = acc[i][j];
}
extern "C" __global__ void gemm_8x8(const float *A, const float *B, float *C, int n)
{
  __shared__ float a[8][128], b[8][132];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, t = threadIdx.x;
  float acc[8][8] = {};
  for (int k = 0; k < n; k += 8) {
    float4 v = *(const float4 *)&A[(blockIdx.y * 128 + t / 2) * n + k + t % 2 * 4];
    a[t % 2 * 4 + 0][t / 2] = v.x;
    a[t % 2 * 4 + 1][t / 2] = v.y;
    a[t % 2 * 4 + 2][t / 2] = v.z;
    a[t % 2 * 4 + 3][t / 2] = v.w;
    *(float4 *)&b[t / 32][t % 32 * 4] = *(const float4 *)&B[(k + t / 32) * n + blockIdx.x * 128 + t % 32 * 4];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 8; p++) {
      float x[8], y[8];
      for (int i = 0; i < 8; i++) x[i] = a[p][ty * 8 + i];
      for (int i = 0; i < 4; i++) { y[i] = b[p][tx * 4 + i]; y[i + 4] = b[p][64 + tx * 4 + i]; }
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) acc[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      C[(blockIdx.y * 128 + ty * 8 + i) * n + blockIdx.x * 128 + tx * 8 + j] = acc[i][j];
}
extern "C" __global__ void gemm_double_buffer(const float *A, const float *B, float *C, int n)
{
  __shared__ float a[2][T][T], b[2][T][T];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0;
  int at = 0;
  a[0][ty][tx] = A[row * n + tx];
  b[0][ty][tx] = B[ty * n + col];
  __syncthreads();
  for (int k = T; k < n; k += T) {
    float x = A[row * n + k + tx], y = B[(k + ty) * n + col];
#pragma unroll
    for (int i = 0; i < T; i++) sum += a[at][ty][i] * b[at][i][tx];
    at ^= 1;
    a[at][ty][tx] = x;
    b[at][ty][tx] = y;
    __syncthreads();
  }
  for (int i = 0; i < T; i++) sum += a[at][ty][i] * b[at][i][tx];
  C[row * n + col] = sum;
}
