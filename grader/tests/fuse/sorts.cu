// Scans, sorts, histograms, stencils and transposes of the kind found in samples.
#include <cuda_fp16.h>
#define K extern "C" __global__ void
K scan_warp(const int *in, int *out)
{
  __shared__ int sums[32];
  int t = threadIdx.x, v = in[t];
  for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (t % 32 >= d) v += u; }
  if (t % 32 == 31) sums[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    int w = sums[t];
    for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, w, d); if (t >= d) w += u; }
    sums[t] = w;
  }
  __syncthreads();
  out[t] = v + (t >= 32 ? sums[t / 32 - 1] : 0);
}
K scan_serial4(const int *in, int *out)
{
  __shared__ int s[4 * 128], sums[128];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[t + 128 * i] = in[t + 128 * i];
  __syncthreads();
  int a = s[4 * t], b = a + s[4 * t + 1], c = b + s[4 * t + 2], d = c + s[4 * t + 3];
  sums[t] = d;
  __syncthreads();
  for (int k = 1; k < 128; k *= 2) {
    int v = t >= k ? sums[t - k] : 0;
    __syncthreads();
    sums[t] += v;
    __syncthreads();
  }
  int base = t ? sums[t - 1] : 0;
  s[4 * t] = a + base; s[4 * t + 1] = b + base; s[4 * t + 2] = c + base; s[4 * t + 3] = d + base;
  __syncthreads();
  for (int i = 0; i < 4; i++) out[t + 128 * i] = s[t + 128 * i];
}
K bitonic_step(int *data, int j, int k)
{
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = data[blockIdx.x * 512 + t];
  __syncthreads();
  int p = t ^ j;
  if (p > t) {
    if ((t & k) == 0) { if (s[t] > s[p]) { int v = s[t]; s[t] = s[p]; s[p] = v; } }
    else { if (s[t] < s[p]) { int v = s[t]; s[t] = s[p]; s[p] = v; } }
  }
  __syncthreads();
  data[blockIdx.x * 512 + t] = s[t];
}
K bitonic_pairs(uint2 *data)
{
  __shared__ unsigned key[512], val[512];
  int t = threadIdx.x;
  key[2 * t] = data[2 * t].x; val[2 * t] = data[2 * t].y;
  key[2 * t + 1] = data[2 * t + 1].x; val[2 * t + 1] = data[2 * t + 1].y;
  __syncthreads();
  if (key[2 * t] > key[2 * t + 1]) {
    unsigned k = key[2 * t], v = val[2 * t];
    key[2 * t] = key[2 * t + 1]; key[2 * t + 1] = k;
    val[2 * t] = val[2 * t + 1]; val[2 * t + 1] = v;
  }
  __syncthreads();
  data[2 * t] = make_uint2(key[2 * t], val[2 * t]);
  data[2 * t + 1] = make_uint2(key[2 * t + 1], val[2 * t + 1]);
}
K odd_even(int *data, int n)
{
  __shared__ int s[512];
  int t = threadIdx.x;
  s[2 * t] = data[2 * t];
  s[2 * t + 1] = data[2 * t + 1];
  for (int i = 0; i < n; i++) {
    __syncthreads();
    int a = 2 * t + (i & 1);
    if (a + 1 < 512) {
      int x = s[a], y = s[a + 1];
      s[a] = min(x, y);
      s[a + 1] = max(x, y);
    }
  }
  __syncthreads();
  data[2 * t] = s[2 * t];
  data[2 * t + 1] = s[2 * t + 1];
}
K hist_u16(const unsigned char *in, unsigned *out, int n)
{
  __shared__ unsigned short h[64][33];
  int t = threadIdx.x;
  for (int i = 0; i < 64; i++) h[i][t] = 0;
  __syncwarp();
  for (int i = t; i < n; i += 32) h[in[i] >> 2][t] += 1;
  __syncwarp();
  for (int r = t; r < 64; r += 32) {
    unsigned sum = 0;
    for (int i = 0; i < 32; i++) sum += h[r][i];
    out[r] = sum;
  }
}
K hist_u8(const unsigned *in, unsigned *out, int n)
{
  __shared__ unsigned char h[64 * 64];
  int t = threadIdx.x;
  for (int i = 0; i < 16; i++) ((unsigned *)h)[t + 64 * i] = 0;
  __syncthreads();
  for (int i = t; i < n; i += 64) {
    unsigned v = in[i];
    h[t + (v >> 2 & 63) * 64]++;
    h[t + (v >> 10 & 63) * 64]++;
    h[t + (v >> 18 & 63) * 64]++;
    h[t + (v >> 26 & 63) * 64]++;
  }
  __syncthreads();
  unsigned sum = 0;
  for (int i = 0; i < 64; i++) sum += h[t * 64 + ((i + t) & 63)];
  atomicAdd(&out[t], sum);
}
K hist_warps(const unsigned *in, unsigned *out, int n)
{
  __shared__ unsigned h[4][64];
  unsigned *mine = h[threadIdx.x / 32];
  for (int i = threadIdx.x; i < 256; i += 128) (&h[0][0])[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 128) atomicAdd(mine + (in[i] & 63), 1u);
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = h[0][threadIdx.x] + h[1][threadIdx.x] + h[2][threadIdx.x] + h[3][threadIdx.x];
}
K stencil_5x5(const float *in, float *out, int pitch)
{
  __shared__ float s[20][36];
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int y = ty; y < 20; y += 16)
    for (int x = tx; x < 36; x += 32) s[y][x] = in[y * pitch + x];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 5; j++)
#pragma unroll
    for (int i = 0; i < 5; i++) sum += s[ty + j][tx + i] * (i * 5 + j);
  out[ty * pitch + tx] = sum;
}
K stencil_regs(const float *in, float *out, int pitch)
{
  __shared__ float s[10][132];
  int tx = threadIdx.x, ty = threadIdx.y;
  *(float4 *)&s[ty][4 * tx] = *(const float4 *)&in[ty * pitch + 4 * tx];
  __syncthreads();
  float r[3][6];
#pragma unroll
  for (int j = 0; j < 3; j++)
#pragma unroll
    for (int i = 0; i < 6; i++) r[j][i] = s[ty + j][4 * tx + i];
  float4 o;
  o.x = r[0][1] + r[1][0] + r[1][2] + r[2][1] - 4 * r[1][1];
  o.y = r[0][2] + r[1][1] + r[1][3] + r[2][2] - 4 * r[1][2];
  o.z = r[0][3] + r[1][2] + r[1][4] + r[2][3] - 4 * r[1][3];
  o.w = r[0][4] + r[1][3] + r[1][5] + r[2][4] - 4 * r[1][4];
  *(float4 *)&out[ty * pitch + 4 * tx] = o;
}
K stencil_life(const unsigned char *in, unsigned char *out, int w, int h)
{
  __shared__ unsigned char s[10][34];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  for (int j = ty; j < 10; j += 8)
    for (int i = tx; i < 34; i += 32) s[j][i] = in[(blockIdx.y * 8 + j + h - 1) % h * w + (blockIdx.x * 32 + i + w - 1) % w];
  __syncthreads();
  int n = s[ty][tx] + s[ty][tx + 1] + s[ty][tx + 2] + s[ty + 1][tx] + s[ty + 1][tx + 2] + s[ty + 2][tx] + s[ty + 2][tx + 1] + s[ty + 2][tx + 2];
  out[y * w + x] = n == 3 || (n == 2 && s[ty + 1][tx + 1]);
}
K stencil_3d(const float *in, float *out, int n, int depth)
{
  __shared__ float s[18][18];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float below = in[y * n + x], here = in[n * n + y * n + x], above;
  for (int z = 1; z < depth - 1; z++) {
    above = in[(z + 1) * n * n + y * n + x];
    s[ty][tx] = here;
    if (tx == 1) { s[ty][0] = in[z * n * n + y * n + x - 1]; s[ty][17] = in[z * n * n + y * n + x + 16]; }
    if (ty == 1) { s[0][tx] = in[z * n * n + (y - 1) * n + x]; s[17][tx] = in[z * n * n + (y + 16) * n + x]; }
    __syncthreads();
    out[z * n * n + y * n + x] = s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + below + above - 6 * here;
    __syncthreads();
    below = here;
    here = above;
  }
}
K transpose_store4(const float *in, float *out, int n)
{
  __shared__ float tile[32][33];
  int tx = threadIdx.x, ty = threadIdx.y;
  float4 v = *(const float4 *)&in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + 4 * tx];
  tile[ty][4 * tx] = v.x; tile[ty][4 * tx + 1] = v.y; tile[ty][4 * tx + 2] = v.z; tile[ty][4 * tx + 3] = v.w;
  __syncthreads();
  v.x = tile[4 * tx][ty]; v.y = tile[4 * tx + 1][ty]; v.z = tile[4 * tx + 2][ty]; v.w = tile[4 * tx + 3][ty];
  *(float4 *)&out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + 4 * tx] = v;
}
K transpose_half2(const __half2 *in, __half2 *out, int n)
{
  __shared__ __half tile[64][66];
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int j = 0; j < 64; j += 8) {
    __half2 v = in[(blockIdx.y * 64 + ty + j) * (n / 2) + blockIdx.x * 32 + tx];
    *(__half2 *)&tile[ty + j][2 * tx] = v;
  }
  __syncthreads();
  for (int j = 0; j < 64; j += 8)
    out[(blockIdx.x * 64 + ty + j) * (n / 2) + blockIdx.y * 32 + tx] = __halves2half2(tile[2 * tx][ty + j], tile[2 * tx + 1][ty + j]);
}
K transpose_u8(const unsigned char *in, unsigned char *out, int n)
{
  __shared__ unsigned char tile[32][36];
  int tx = threadIdx.x, ty = threadIdx.y;
  *(uchar4 *)&tile[ty][4 * tx] = *(const uchar4 *)&in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + 4 * tx];
  __syncthreads();
  uchar4 v;
  v.x = tile[4 * tx][ty]; v.y = tile[4 * tx + 1][ty]; v.z = tile[4 * tx + 2][ty]; v.w = tile[4 * tx + 3][ty];
  *(uchar4 *)&out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + 4 * tx] = v;
}
K radix_split(unsigned *data, int bit)
{
  __shared__ unsigned s[256], pos[256];
  int t = threadIdx.x;
  unsigned v = data[t], b = v >> bit & 1;
  pos[t] = !b;
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    unsigned add = t >= k ? pos[t - k] : 0;
    __syncthreads();
    pos[t] += add;
    __syncthreads();
  }
  unsigned zeros = pos[255], before = t ? pos[t - 1] : 0;
  s[b ? zeros + t - before : before] = v;
  __syncthreads();
  data[t] = s[t];
}
K merge_path(const int *a, const int *b, int *out)
{
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = a[t];
  s[t + 256] = b[t];
  __syncthreads();
  int diag = 2 * t, lo = max(0, diag - 256), hi = min(diag, 256);
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (s[mid] <= s[256 + diag - 1 - mid]) lo = mid + 1;
    else hi = mid;
  }
  int i = lo, j = 256 + diag - lo;
  for (int k = 0; k < 2; k++) {
    bool takeA = j >= 512 || (i < 256 && s[i] <= s[j]);
    out[diag + k] = takeA ? s[i++] : s[j++];
  }
}
