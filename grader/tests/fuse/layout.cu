// Arrays of structs, narrow elements, several arrays in one block of dynamic memory.
#include <cuda_fp16.h>
struct P4 { float x, y, z, w; };
struct P3 { float x, y, z; };
extern "C" __global__ void aos4(const P4 *in, float *out)
{
  __shared__ P4 s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  P4 p = s[t ^ 1];
  out[t] = p.x + p.y * 2 + p.z * 3 + p.w * 4;
}
extern "C" __global__ void aos4_aligned(const float *in, float *out)
{
  __shared__ __align__(16) P4 s[128];
  int t = threadIdx.x;
  s[t].x = in[4 * t]; s[t].y = in[4 * t + 1]; s[t].z = in[4 * t + 2]; s[t].w = in[4 * t + 3];
  __syncthreads();
  P4 p = s[t ^ 1];
  out[t] = p.x + p.y * 2 + p.w * 4;
}
extern "C" __global__ void aos3(const float *in, float *out)
{
  __shared__ P3 s[128];
  int t = threadIdx.x;
  s[t].x = in[3 * t]; s[t].y = in[3 * t + 1]; s[t].z = in[3 * t + 2];
  __syncthreads();
  P3 p = s[127 - t];
  out[t] = p.x * p.y + p.z;
}
extern "C" __global__ void soa4(const float *in, float *out)
{
  __shared__ float s[4][128];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[i][t] = in[4 * t + i];
  __syncthreads();
  out[t] = s[0][t ^ 1] + s[1][t ^ 1] * 2 + s[2][t ^ 1] * 3 + s[3][t ^ 1] * 4;
}
extern "C" __global__ void bytes(const unsigned char *in, int *out)
{
  __shared__ unsigned char s[1024];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[4 * t + i] = in[4 * t + i];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += s[4 * (t ^ 3) + i] << i;
  out[t] = sum;
}
extern "C" __global__ void chars4(const char4 *in, int *out)
{
  __shared__ char4 s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  char4 c = s[255 - t];
  out[t] = c.x + 2 * c.y + 3 * c.z + 4 * c.w;
}
extern "C" __global__ void ushorts(const unsigned short *in, int *out)
{
  __shared__ unsigned short s[1024];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[4 * t + i] = in[4 * t + i];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += s[4 * (t ^ 3) + i] << i;
  out[t] = sum;
}
extern "C" __global__ void shorts(const short *in, int *out)
{
  __shared__ __align__(16) short s[1024];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[4 * t + i] = in[4 * t + i];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += s[4 * (t ^ 3) + i] << i;
  out[t] = sum;
}
extern "C" __global__ void halves(const __half *in, __half *out)
{
  __shared__ __half s[64][40];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[t / 8][t % 8 * 4 + i] = in[4 * t + i];
  __syncthreads();
  __half sum = s[t / 8][t % 8 * 4];
  for (int i = 1; i < 4; i++) sum = __hadd(sum, s[t / 8][t % 8 * 4 + i]);
  out[t] = sum;
}
extern "C" __global__ void half2s(const __half2 *in, __half2 *out)
{
  __shared__ __half2 s[64][20];
  int t = threadIdx.x;
  for (int i = 0; i < 2; i++) s[t / 8][t % 8 * 2 + i] = in[2 * t + i];
  __syncthreads();
  out[t] = __hmul2(s[t / 8][t % 8 * 2], s[t / 8][t % 8 * 2 + 1]);
}
extern "C" __global__ void half_floats(const __half *in, float *out)
{
  __shared__ __half s[2048];
  int t = threadIdx.x;
  for (int i = 0; i < 8; i++) s[8 * t + i] = in[8 * t + i];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += __half2float(s[8 * (t ^ 5) + i]) * i;
  out[t] = sum;
}
extern "C" __global__ void split_dynamic(const float *in, float *out, int n)
{
  extern __shared__ float pool[];
  float *a = pool, *b = pool + n, *c = b + n;
  int t = threadIdx.x;
  a[t] = in[t]; b[t] = in[t + n]; c[t] = in[t + 2 * n];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 4; i++) sum += a[4 * (t % 8) + i] * b[4 * (t % 8) + i] + c[4 * (t % 8) + i];
  out[t] = sum;
}
extern "C" __global__ void split_fixed(const float *in, float *out)
{
  extern __shared__ char raw[];
  float *a = (float *)raw, *b = (float *)(raw + 1024);
  int *c = (int *)(raw + 2052);
  int t = threadIdx.x;
  a[t] = in[t]; b[t] = in[t + 256]; c[t] = t;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 4; i++) sum += a[4 * (t & 7) + i] * b[4 * (t & 7) + i] + c[4 * (t & 7) + i];
  out[t] = sum;
}
extern "C" __global__ void doubles(const double *in, double *out)
{
  __shared__ double s[32][18];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[t / 4][t % 4 * 4 + i] = in[4 * t + i];
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += s[t % 32][t / 32 * 4 + i] * i;
  out[t] = sum;
}
