// Kernels in the ways that authors have: templates, namespaces, overloads, structs by value; a product
// with vectors and register tiles, transposes, an attention tile with ldmatrix and cp.async (swizzled or
// not), and of one block's shared memory a scan, a Fourier transform, a sort, a histogram, a convolution,
// a stencil.  author.ptx is nvcc 13.0's text of this file.
#include <cuda_fp16.h>

// c = alpha a b + beta c in blocks of M x N; each thread has R x C of them.  No edges are cut off.
template <int M, int N, int K, int R, int C>
__global__ void product(int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
{
  __shared__ float as[K][M], bs[K][N];
  int t = threadIdx.x, col = t % (N / C) * C, row = t / (N / C) * R;
  a += blockIdx.y * M * k;
  b += blockIdx.x * N;
  float sum[R][C] = {};
  for (int k0 = 0; k0 < k; k0 += K) {
    int ar = t / (K / 4), ac = t % (K / 4) * 4, br = t / (N / 4), bc = t % (N / 4) * 4;
    float4 v = *reinterpret_cast<const float4 *>(&a[ar * k + k0 + ac]);
    as[ac][ar] = v.x;
    as[ac + 1][ar] = v.y;
    as[ac + 2][ar] = v.z;
    as[ac + 3][ar] = v.w;
    *reinterpret_cast<float4 *>(&bs[br][bc]) =
      *reinterpret_cast<const float4 *>(&b[(k0 + br) * n + bc]);
    __syncthreads();
    for (int i = 0; i < K; i++) {
      float x[R], y[C];
      for (int r = 0; r < R; r++) x[r] = as[i][row + r];
      for (int q = 0; q < C; q++) y[q] = bs[i][col + q];
      for (int r = 0; r < R; r++)
        for (int q = 0; q < C; q++) sum[r][q] += x[r] * y[q];
    }
    __syncthreads();
  }
  for (int r = 0; r < R; r++)
    for (int q = 0; q < C; q += 4) {
      float4 *to = reinterpret_cast<float4 *>(
        &c[(blockIdx.y * M + row + r) * n + blockIdx.x * N + col + q]);
      float4 v = *to;
      v.x = alpha * sum[r][q] + beta * v.x;
      v.y = alpha * sum[r][q + 1] + beta * v.y;
      v.z = alpha * sum[r][q + 2] + beta * v.z;
      v.w = alpha * sum[r][q + 3] + beta * v.w;
      *to = v;
    }
}
template __global__ void product<128, 128, 8, 8, 8>(int, int, float, const float *, const float *,
                                                    float, float *);
template __global__ void product<64, 64, 4, 8, 8>(int, int, float, const float *, const float *,
                                                  float, float *);

namespace linear {
namespace detail {
template <typename T, int Side = 32, int Rows = 8, int Pad = 0>
__global__ void transpose(const T *__restrict__ in, T *__restrict__ out, int w, int h)
{
  __shared__ T tile[Side][Side + Pad];
  int x = blockIdx.x * Side + threadIdx.x, y = blockIdx.y * Side + threadIdx.y;
  for (int j = 0; j < Side; j += Rows)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * Side + threadIdx.x;
  y = blockIdx.x * Side + threadIdx.y;
  for (int j = 0; j < Side; j += Rows)
    if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
}
template __global__ void detail::transpose<float>(const float *, float *, int, int);
template __global__ void detail::transpose<float, 32, 8, 1>(const float *, float *, int, int);
template __global__ void detail::transpose<double>(const double *, double *, int, int);
template __global__ void detail::transpose<unsigned char>(const unsigned char *, unsigned char *, int,
                                                          int);
}

__global__ void copy(const float *in, float *out, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy(const float4 *in, float4 *out, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// ---- a tile of an attention kernel: S = scale Q K^T, 64 x 64 of depth 64 -------------------------

template <bool Swizzle> __device__ int place(int row, int chunk)
{
  return row * 64 + (Swizzle ? chunk ^ (row & 7) : chunk) * 8;
}

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

template <bool Swizzle>
__global__ void attention_tile(const half *__restrict__ q, const half *__restrict__ k,
                               float *__restrict__ s, float scale)
{
  __shared__ __align__(128) half qs[64 * 64], ks[64 * 64];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    *(int4 *)&qs[place<Swizzle>(i / 8, i % 8)] = ((const int4 *)q)[i];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(shared_address(&ks[place<Swizzle>(i / 8, i % 8)])), "l"((const int4 *)k + i));
  }
  asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
  __syncthreads();
  float acc[8][4] = {};
  for (int c = 0; c < 4; c++) {
    unsigned a[4], b[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(&qs[place<Swizzle>(warp * 16 + lane % 16, c * 2 + lane / 16)])));
    for (int n = 0; n < 8; n++) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                   : "=r"(b[0]), "=r"(b[1])
                   : "r"(shared_address(&ks[place<Swizzle>(n * 8 + lane % 8, c * 2 + lane / 8 % 2)])));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                   "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(acc[n][0]), "+f"(acc[n][1]), "+f"(acc[n][2]), "+f"(acc[n][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  for (int n = 0; n < 8; n++)
    for (int e = 0; e < 4; e++)
      s[(warp * 16 + lane / 4 + e / 2 * 8) * 64 + n * 8 + lane % 4 * 2 + e % 2] = acc[n][e] * scale;
}
template __global__ void attention_tile<true>(const half *, const half *, float *, float);
template __global__ void attention_tile<false>(const half *, const half *, float *, float);

// ---- one block's shared memory -------------------------------------------------------------------

struct Image { int w, h; const unsigned char *data; float gain[3]; };

__global__ void histogram(Image image, unsigned *bins)
{
  __shared__ unsigned h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < image.w * image.h; i += gridDim.x * 256)
    atomicAdd(&h[image.data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], h[threadIdx.x]);
}

enum { Radius = 4 };
__constant__ float weights[2 * Radius + 1] = {1, -2, 3, -4, 5, -4, 3, -2, 1};

__global__ void convolve(const float *in, float *out, int n)
{
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  for (int k = t; k < blockDim.x + 2 * Radius; k += blockDim.x) {
    int from = i - t - Radius + k;
    s[k] = from >= 0 && from < n ? in[from] : 0;
  }
  __syncthreads();
  float v = 0;
  for (int k = 0; k <= 2 * Radius; k++) v += weights[k] * s[t + k];
  if (i < n) out[i] = v;
}

__global__ void tree_scan(const int *in, int *out, int n)   // exclusive; n / 2 threads
{
  extern __shared__ int tree[];
  int t = threadIdx.x;
  tree[2 * t] = in[2 * t];
  tree[2 * t + 1] = in[2 * t + 1];
  for (int step = 1; step < n; step *= 2) {
    __syncthreads();
    int right = (t + 1) * step * 2 - 1;
    if (right < n) tree[right] += tree[right - step];
  }
  if (t == 0) tree[n - 1] = 0;
  for (int step = n / 2; step; step /= 2) {
    __syncthreads();
    int right = (t + 1) * step * 2 - 1;
    if (right < n) {
      int left = tree[right - step];
      tree[right - step] = tree[right];
      tree[right] += left;
    }
  }
  __syncthreads();
  out[2 * t] = tree[2 * t];
  out[2 * t + 1] = tree[2 * t + 1];
}

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

__global__ void fourier256(float2 *data)   // radix 4, 64 threads
{
  __shared__ float2 s[256];
  int t = threadIdx.x;
  for (int k = 0; k < 4; k++) s[t + 64 * k] = data[blockIdx.x * 256 + t + 64 * k];
  __syncthreads();
  for (int n = 1; n < 256; n *= 4) {
    float2 v[4];
    int j = t % n, to = t / n * 4 * n + j;
    for (int k = 0; k < 4; k++) {
      float2 x = s[t + 64 * k];
      float c, d, angle = -6.2831853f * j * k / (4 * n);
      __sincosf(angle, &d, &c);
      v[k] = make_float2(x.x * c - x.y * d, x.x * d + x.y * c);
    }
    __syncthreads();
    float2 p = v[0] + v[2], m = v[0] - v[2], q = v[1] + v[3];
    float2 turned = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    s[to] = p + q;
    s[to + n] = m + turned;
    s[to + 2 * n] = p - q;
    s[to + 3 * n] = m - turned;
    __syncthreads();
  }
  for (int k = 0; k < 4; k++) data[blockIdx.x * 256 + t + 64 * k] = s[t + 64 * k];
}

__global__ void sort512(unsigned *data)   // bitonic, 256 threads
{
  __shared__ unsigned s[512];
  int t = threadIdx.x;
  s[t] = data[blockIdx.x * 512 + t];
  s[t + 256] = data[blockIdx.x * 512 + t + 256];
  for (int k = 2; k <= 512; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      __syncthreads();
      int i = 2 * t - (t & (j - 1));
      unsigned a = s[i], b = s[i + j];
      if ((a > b) == ((i & k) == 0)) {
        s[i] = b;
        s[i + j] = a;
      }
    }
  __syncthreads();
  data[blockIdx.x * 512 + t] = s[t];
  data[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void stencil3d(const float *in, float *out, dim3 n, float4 w)
{
  __shared__ float s[10][34];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = blockIdx.x * 32 + tx - 1, y = blockIdx.y * 8 + ty - 1;
  int row = n.x, plane = n.x * n.y;
  for (int z = 1; z + 1 < n.z; z++) {
    const float *p = in + z * plane + y * row + x;
    s[ty][tx] = *p;
    if (tx == 1) s[ty][0] = x ? p[-1] : 0;
    if (tx == 32) s[ty][33] = x + 1 < row ? p[1] : 0;
    if (ty == 1) s[0][tx] = y ? p[-row] : 0;
    if (ty == 8) s[9][tx] = y + 1 < n.y ? p[row] : 0;
    __syncthreads();
    out[z * plane + y * row + x] = w.x * s[ty][tx] + w.y * (s[ty - 1][tx] + s[ty + 1][tx]) +
                                   w.z * (s[ty][tx - 1] + s[ty][tx + 1]) +
                                   w.w * (p[-plane] + p[plane]);
    __syncthreads();
  }
}
