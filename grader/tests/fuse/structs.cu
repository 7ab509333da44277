// Structs of several sizes, interleaved complex numbers, casts, packed rows.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define K extern "C" __global__ void
struct S8 { int key; float value; };
struct S12 { float x, y, z; };
struct S16 { int id; float w; unsigned short a, b; int next; };
struct S24 { double mass; float x, y, z; int kind; };
struct S20 { float v[5]; };
struct __align__(16) S32 { float pos[3], radius; int link[4]; };
K struct8(const S8 *in, float *out)
{
  __shared__ S8 s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  S8 a = s[(t * 7) & 255];
  out[t] = a.key * a.value;
}
K struct8_half(const S8 *in, float *out)
{
  __shared__ S8 s[256];
  int t = threadIdx.x;
  s[t].key = in[t].key;
  s[t].value = in[t].value + 1;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 4; i++) sum += s[(t + i) & 255].value;
  out[t] = sum;
}
K struct12(const S12 *in, S12 *out)
{
  __shared__ S12 s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  S12 a = s[t], b = s[(t + 1) & 127];
  a.x += b.x; a.y -= b.y; a.z *= b.z;
  out[t] = a;
}
K struct12_four(const S12 *in, float *out)
{
  __shared__ S12 s[512];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) s[4 * t + i] = in[4 * t + i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) { S12 p = s[4 * (t ^ 1) + i]; sum += p.x * p.x + p.y * p.y + p.z * p.z; }
  out[t] = sum;
}
K struct16(const S16 *in, int *out)
{
  __shared__ S16 s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  int at = t, sum = 0;
  for (int i = 0; i < 5; i++) { sum += s[at].a - s[at].b + s[at].id; at = s[at].next & 127; }
  out[t] = sum;
}
K struct24(const S24 *in, double *out)
{
  __shared__ S24 s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  double e = 0;
  for (int i = 0; i < 128; i++) {
    float dx = s[i].x - s[t].x, dy = s[i].y - s[t].y, dz = s[i].z - s[t].z;
    e += s[i].mass / (1e-3 + dx * dx + dy * dy + dz * dz);
  }
  out[t] = e;
}
K struct20(const S20 *in, S20 *out)
{
  __shared__ S20 s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  S20 r;
  for (int i = 0; i < 5; i++) r.v[i] = s[t].v[i] + s[63 - t].v[4 - i];
  out[t] = r;
}
K struct32(const S32 *in, float *out)
{
  __shared__ S32 s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  float d = 0;
  for (int i = 0; i < 4; i++) {
    const S32 &o = s[s[t].link[i] & 63];
    d += o.pos[0] - s[t].pos[0] + o.pos[1] - s[t].pos[1] + o.radius;
  }
  out[t] = d;
}
K complex_fft(float2 *data)
{
  __shared__ float re[256], im[256];
  int t = threadIdx.x;
  float2 a = data[t], b = data[t + 128];
  re[2 * t] = a.x + b.x; im[2 * t] = a.y + b.y;
  re[2 * t + 1] = a.x - b.x; im[2 * t + 1] = a.y - b.y;
  __syncthreads();
  data[t] = make_float2(re[t], im[t]);
  data[t + 128] = make_float2(re[t + 128], im[t + 128]);
}
K complex_interleaved(const float *in, float *out)
{
  __shared__ float s[512];
  int t = threadIdx.x;
  s[2 * t] = in[t];
  s[2 * t + 1] = in[t + 256];
  __syncthreads();
  float re = s[2 * (t ^ 8)], im = s[2 * (t ^ 8) + 1];
  out[2 * t] = re * re - im * im;
  out[2 * t + 1] = 2 * re * im;
}
K complex_radix4(const float2 *in, float2 *out)
{
  __shared__ float2 s[4 * 68];
  int t = threadIdx.x;
  float2 v[4];
  for (int i = 0; i < 4; i++) v[i] = in[t + 64 * i];
  for (int i = 0; i < 4; i++) s[i + 4 * t] = make_float2(v[0].x + v[i].x, v[0].y - v[i].y);
  __syncthreads();
  for (int i = 0; i < 4; i++) v[i] = s[t + 64 * i];
  for (int i = 0; i < 4; i++) out[4 * t + i] = v[i ^ 1];
}
K cast_int2(const int *in, int *out)
{
  __shared__ int s[1024];
  int t = threadIdx.x;
  *(int2 *)&s[2 * t] = *(const int2 *)&in[2 * t];
  __syncthreads();
  int2 a = *(int2 *)&s[2 * (t ^ 1)];
  out[t] = a.x + a.y + s[2 * t];
}
K cast_float3(const float *in, float *out)
{
  __shared__ float s[3 * 256];
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++) s[t + 256 * i] = in[t + 256 * i];
  __syncthreads();
  float3 v = reinterpret_cast<float3 *>(s)[t];
  out[t] = v.x + 2 * v.y + 3 * v.z;
}
K cast_float4_scalar(const float4 *in, float *out)
{
  __shared__ float s[1024];
  int t = threadIdx.x;
  reinterpret_cast<float4 *>(s)[t] = in[t];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 4; i++) sum += s[t + 256 * i];
  out[t] = sum;
}
K cast_mixed(const float4 *in, float *out, int k)
{
  __shared__ __align__(16) float s[1024];
  int t = threadIdx.x;
  ((float4 *)s)[t] = in[t];
  __syncthreads();
  float2 lo = ((float2 *)s)[2 * (t ^ k)];
  float hi = s[4 * (t ^ k) + 3];
  out[t] = lo.x + lo.y + hi;
}
K rows_u8(const unsigned char *in, unsigned char *out, int pitch)
{
  __shared__ unsigned char s[18][64];
  int tx = threadIdx.x, ty = threadIdx.y;
  s[ty][tx] = in[ty * pitch + tx];
  __syncthreads();
  if (tx > 0 && tx < 63 && ty > 0 && ty < 17) {
    int v = 0;
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) v += s[ty + j][tx + i];
    out[ty * pitch + tx] = v / 9;
  }
}
K rows_u8_words(const unsigned *in, unsigned *out)
{
  __shared__ unsigned char s[1024];
  int t = threadIdx.x;
  ((unsigned *)s)[t] = in[t];
  __syncthreads();
  unsigned v = s[4 * t + 3] | s[4 * t + 2] << 8 | s[4 * t + 1] << 16 | s[4 * t] << 24;
  out[t] = v;
}
K rows_u16(const unsigned short *in, unsigned short *out)
{
  __shared__ unsigned short s[512];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  unsigned short a = s[2 * (t & 255)], b = s[2 * (t & 255) + 1];
  out[t] = a > b ? a : b;
}
K rows_half(const __half *in, __half *out)
{
  __shared__ __half s[1024];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  __half m = s[8 * (t & 127)];
  for (int i = 1; i < 8; i++) m = __hmax(m, s[8 * (t & 127) + i]);
  out[t] = m;
}
K rows_bf16(const __nv_bfloat16 *in, float *out)
{
  __shared__ __nv_bfloat16 s[64][72];
  int t = threadIdx.x;
  for (int i = 0; i < 64; i++) s[i][t] = in[i * 64 + t];
  __syncthreads();
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < 64; i++) sum += __bfloat162float(s[t][i]);
  out[t] = sum;
}
K rows_bf162(const __nv_bfloat162 *in, float2 *out)
{
  __shared__ __nv_bfloat162 s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  float2 a = __bfloat1622float2(s[(2 * t) & 255]), b = __bfloat1622float2(s[(2 * t + 1) & 255]);
  out[t] = make_float2(a.x + b.x, a.y + b.y);
}
K rows_half8(const uint4 *in, __half *out)
{
  __shared__ __half s[128 * 8];
  int t = threadIdx.x;
  *(uint4 *)&s[8 * t] = in[t];
  __syncthreads();
  __half sum = s[t];
  for (int i = 1; i < 8; i++) sum += s[t + 128 * i];
  out[t] = sum;
}
K rgb_planes(const uchar3 *in, uchar3 *out)
{
  __shared__ uchar3 s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  uchar3 a = s[255 - t];
  out[t] = make_uchar3(a.z, a.y, a.x);
}
K rgba(const uchar4 *in, unsigned char *out)
{
  __shared__ uchar4 s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  uchar4 a = s[t ^ 1];
  out[t] = (a.x * 77 + a.y * 150 + a.z * 29) >> 8;
}
