// Tiles whose accesses meet in banks, each with the layouts that might cure it as template arguments, so
// that what `banks profile` advises can be done: `Pitch` elements a row, or `Divide` (0: none) for columns
// XORed by row / Divide.  layouts.ptx is nvcc 13.0's text of this file.
#include <cuda_fp16.h>
#include <mma.h>

// A warp covers two rows of 16 of a tile that is 20 wide: shorter rows would be out of bounds.
template <int Pitch> __global__ void window(const float *in, float *out)
{
  __shared__ float halo[20][Pitch];
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 400; i += 256) halo[i / 20][i % 20] = in[i];
  __syncthreads();
  float sum = 0;
  for (int row = 0; row < 5; row++)
    for (int column = 0; column < 5; column++) sum += halo[threadIdx.y + row][threadIdx.x + column];
  out[threadIdx.y * 16 + threadIdx.x] = sum;
}

// Every other row down a column: lanes lie two rows apart, and a row has 32 elements, not 64.
template <int Pitch, int Divide> __global__ void every_other(const half2 *in, half2 *out)
{
  __shared__ half2 pairs[64][Pitch];
  int lane = threadIdx.x;
  for (int row = threadIdx.y; row < 64; row += 8)
    pairs[row][Divide ? lane ^ row / (Divide ? Divide : 1) % 32 : lane] = in[row * 32 + lane];
  __syncthreads();
  for (int column = threadIdx.y; column < 32; column += 8) {
    int row = 2 * lane;
    out[column * 32 + lane] = pairs[row][Divide ? column ^ row / (Divide ? Divide : 1) % 32 : column];
  }
}

// Written by four neighbours, read down columns, four rows from lane to lane.
template <int Pad, int Divide> __global__ void by_fours(const float4 *in, float *out)
{
  __shared__ float tile[64][64 + Pad];
  int x = threadIdx.x, y = threadIdx.y;
  for (int row = y; row < 64; row += 16) {
    float4 v = in[row * 16 + x];
    float *to = &tile[row][4 * (Divide ? x ^ row / (Divide ? Divide : 1) % 16 : x)];
    to[0] = v.x; to[1] = v.y; to[2] = v.z; to[3] = v.w;
  }
  __syncthreads();
  for (int column = y; column < 64; column += 16) {
    int row = 4 * x, at = Divide ? (column / 4 ^ row / (Divide ? Divide : 1) % 16) * 4 + column % 4 : column;
    out[column * 16 + x] = tile[row][at];
  }
}

struct plain { float x, y, z, w; };
struct padded { float x, y, z, w, unused; };
__global__ void records_plain(const float *in, float *out)
{
  __shared__ plain list[128];
  int t = threadIdx.x;
  list[t].x = in[t];
  list[t].z = 2 * in[t];
  __syncthreads();
  int next = (t + 1) % 128;
  out[t] = list[next].x + list[next].z;
}

__global__ void records_padded(const float *in, float *out)
{
  __shared__ padded list[128];
  int t = threadIdx.x;
  list[t].x = in[t];
  list[t].z = 2 * in[t];
  __syncthreads();
  int next = (t + 1) % 128;
  out[t] = list[next].x + list[next].z;
}

// Lanes of each phase have a wavefront to themselves already, and no rows change that.
__global__ void two_of_three(const int *in, int *out)
{
  __shared__ __align__(16) int wide[8][12];
  int t = threadIdx.x;
  wide[t / 8][t % 8] = in[t];
  __syncthreads();
  if (t < 24 && t % 3 < 2) {
    int4 v = *(int4 *)&wide[t / 3][t % 3 * 4];
    *(int4 *)&out[t / 3 * 8 + t % 3 * 4] = v;
  }
}

// A bulk copy lays its tile out.
__global__ void copied(const float *in, float *out)
{
  __shared__ __align__(128) float tile[32][32];
  __shared__ unsigned long long bar;
  unsigned at = (unsigned)__cvta_generic_to_shared(tile), b = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(b) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];"
                 ::"r"(at), "l"(in), "r"(b) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nwait: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra wait;\n}"
               ::"r"(b) : "memory");
  out[threadIdx.x] = tile[threadIdx.x][3];
}

// A matrix is loaded with one distance between rows.
__global__ void fragments(const half *in, float *out)
{
  using namespace nvcuda;
  __shared__ __align__(32) half a[16 * 16];
  for (int i = threadIdx.x; i < 256; i += 32) a[i] = in[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  wmma::fill_fragment(right, __float2half(1));
  wmma::load_matrix_sync(left, a, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

// One sum for all: contention, at 3 wavefronts a round.
__global__ void one_sum(const float *in, float *out)
{
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = 0; i < 4; i++) atomicAdd(&sum, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = sum;
}

template __global__ void window<20>(const float *, float *);
template __global__ void window<48>(const float *, float *);
template __global__ void every_other<32, 0>(const half2 *, half2 *);
template __global__ void every_other<33, 0>(const half2 *, half2 *);
template __global__ void every_other<32, 2>(const half2 *, half2 *);
template __global__ void by_fours<0, 0>(const float4 *, float *);
template __global__ void by_fours<1, 0>(const float4 *, float *);
template __global__ void by_fours<0, 4>(const float4 *, float *);
