// Transposes through tiles of several pitches, a swizzle, and wide elements.
template <int P> __device__ void tile_body(const float *in, float *out, int n)
{
  __shared__ float tile[32][P];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_32(const float *in, float *out, int n) { tile_body<32>(in, out, n); }
extern "C" __global__ void transpose_33(const float *in, float *out, int n) { tile_body<33>(in, out, n); }
extern "C" __global__ void transpose_34(const float *in, float *out, int n) { tile_body<34>(in, out, n); }
extern "C" __global__ void transpose_36(const float *in, float *out, int n) { tile_body<36>(in, out, n); }
extern "C" __global__ void transpose_xor(const float *in, float *out, int n)
{
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.x ^ (threadIdx.y + j)];
}
extern "C" __global__ void transpose_float4(const float4 *in, float4 *out, int n)
{
  __shared__ float tile[64][64];
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int j = 0; j < 64; j += 16) {
    float4 v = in[(blockIdx.y * 64 + ty + j) * (n / 4) + blockIdx.x * 16 + tx];
    int r = ty + j, c = (tx ^ (r / 4 % 16)) * 4;
    *(float4 *)&tile[r][c] = v;
  }
  __syncthreads();
  for (int j = 0; j < 64; j += 16) {
    int r = ty + j;
    float4 v;
    v.x = tile[tx * 4 + 0][((r / 4) ^ tx) * 4 + r % 4];
    v.y = tile[tx * 4 + 1][((r / 4) ^ tx) * 4 + r % 4];
    v.z = tile[tx * 4 + 2][((r / 4) ^ tx) * 4 + r % 4];
    v.w = tile[tx * 4 + 3][((r / 4) ^ tx) * 4 + r % 4];
    out[(blockIdx.x * 64 + r) * (n / 4) + blockIdx.y * 16 + tx] = v;
  }
}
extern "C" __global__ void transpose_double(const double *in, double *out, int n)
{
  __shared__ double tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_rows4(const float *in, float *out, int n)
{
  __shared__ float tile[32][36];
  int tx = threadIdx.x, ty = threadIdx.y * 4;
  for (int j = 0; j < 4; j++) tile[tx][ty + j] = in[(blockIdx.y * 32 + ty + j) * n + blockIdx.x * 32 + tx];
  __syncthreads();
  for (int j = 0; j < 4; j++) out[(blockIdx.x * 32 + ty + j) * n + blockIdx.y * 32 + tx] = tile[ty + j][tx];
}
