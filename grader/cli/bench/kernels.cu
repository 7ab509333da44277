// What `banks bench` runs.  kernels.ptx is this file compiled:
//   nvcc -ptx -arch=sm_90 grader/cli/bench/kernels.cu -o grader/cli/bench/kernels.ptx
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

extern "C" {

__global__ void alu(unsigned *out, int rounds)
{
  unsigned a = threadIdx.x, b = blockIdx.x + 1, c = 7;
  float f = a, g = b;
  for (int k = 0; k < rounds; k++) {
    a = a * 1664525u + b;
    b = b ^ (a >> 7);
    c = c + (b & a);
    f = f * 0.5f + g;
    g = 1.5f - f * 0.25f;   // both settle: no denormals, which some hosts are slow on
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + (unsigned)(f + g);
}

__global__ void transpose(const float *in, float *out, int n)
{
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void gemm(const float *a, const float *b, float *c, int n)
{
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int t = 0; t < n / 16; t++) {
    as[ty][tx] = a[row * n + t * 16 + tx];
    bs[ty][tx] = b[(t * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

__global__ void histogram(const unsigned char *in, unsigned *out, int n)
{
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// The table of other kinds.

__global__ void shuffle(const unsigned *in, unsigned *out, int n)
{
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    unsigned v = in[i];
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) out[i / 32] = v;
  }
}

// c = a b^T of halves, 64 x 64 a block of four warps: ldmatrix and mma.sync
__global__ void tensor(const __half *a, const __half *b, float *c, int n)
{
  __shared__ __half as[64][24], bs[64][24];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int row = blockIdx.y * 64, col = blockIdx.x * 64;
  float d[8][4] = {};
  for (int k = 0; k < n; k += 16) {
    int r = t / 2, h = t % 2 * 8;
    *(uint4 *)&as[r][h] = *(const uint4 *)&a[(row + r) * n + k + h];
    *(uint4 *)&bs[r][h] = *(const uint4 *)&b[(col + r) * n + k + h];
    __syncthreads();
    unsigned x[4], y[2];
    unsigned at = (unsigned)__cvta_generic_to_shared(&as[warp * 16 + lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at));
    for (int j = 0; j < 8; j++) {
      at = (unsigned)__cvta_generic_to_shared(&bs[j * 8 + lane % 8][lane / 8 % 2 * 8]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                   : "=r"(y[0]), "=r"(y[1]) : "r"(at));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                   "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; j++)
    for (int k = 0; k < 4; k++)
      c[(row + warp * 16 + lane / 4 + k / 2 * 8) * n + col + j * 8 + lane % 4 * 2 + k % 2] = d[j][k];
}

// n tiles of 256 uint4 a block, the next on its way while one is summed
__global__ void pipeline(const uint4 *in, unsigned *out, int n)
{
  __shared__ uint4 tile[2][256];
  int t = threadIdx.x;
  const uint4 *from = in + (size_t)blockIdx.x * n * 256;
  unsigned sum = 0;
  __pipeline_memcpy_async(&tile[0][t], &from[t], 16);
  __pipeline_commit();
  for (int k = 0; k < n; k++) {
    if (k + 1 < n) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &from[(k + 1) * 256 + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    uint4 v = tile[k % 2][255 - t];
    sum = sum * 3 + v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = sum;
}

// scattered reads, of global and of shared memory
__global__ void gather(const unsigned *in, const unsigned *index, unsigned *out, int n)
{
  __shared__ unsigned table[1024];
  for (int i = threadIdx.x; i < 1024; i += 256) table[i] = in[i] ^ i;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    unsigned at = index[i];
    out[i] = in[at] + table[at % 1024];
  }
}

// lanes that part at every step
__global__ void diverge(const unsigned *in, unsigned *out, int n)
{
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  unsigned v = in[i], steps = 0;
  while (v != 1) {
    if (v & 1) v = 3 * v + 1;
    else v >>= 1;
    steps++;
    if (steps % 8 == 0 && (v & 2)) steps += __popc(v);
  }
  out[i] = steps;
}

// a lock-free float sum, and atomics whose results are used
__global__ void atomics(const unsigned *in, unsigned *out, int n)
{
  __shared__ float sums[32];
  __shared__ unsigned places[32];
  if (threadIdx.x < 32) sums[threadIdx.x] = 0, places[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    unsigned v = in[i] % 32;
    atomicAdd(&sums[v], 1.0f);
    unsigned place = atomicAdd(&places[v], 1);
    if (place == 7) atomicMax(&out[32], v + place);
  }
  __syncthreads();
  if (threadIdx.x < 32)
    atomicAdd(&out[threadIdx.x], (unsigned)sums[threadIdx.x] + places[threadIdx.x]);
}
}
