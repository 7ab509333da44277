// Tiles of several warps: their barriers lie in the shared memory that the system keeps for itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <int SIZE> __device__ void tile_sums(const int *in, int *out, int n)
{
  __shared__ cg::block_tile_memory<256> memory;
  __shared__ int row[256];
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<SIZE>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  row[threadIdx.x] = v;
  tile.sync();
  int far = row[tile.meta_group_rank() * SIZE + SIZE - 1 - tile.thread_rank()];
  int sum = cg::reduce(tile, v, cg::plus<int>());
  bool seven = tile.any(v == 7);
  if (i < n) out[i] = sum * 1000 + far * 10 + seven;
}

extern "C" __global__ void tile_sums64(const int *in, int *out, int n) { tile_sums<64>(in, out, n); }
extern "C" __global__ void tile_sums128(const int *in, int *out, int n) { tile_sums<128>(in, out, n); }

// The same exchange without the tile's barrier: a race, whatever barriers it has elsewhere.
extern "C" __global__ void tile_no_sync(const int *in, int *out, int n)
{
  __shared__ int row[256];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  tile.sync();
  row[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = row[threadIdx.x ^ 32];
}

// It reads before the others of the tile are done.
extern "C" __global__ void tile_late_sync(const int *in, int *out, int n)
{
  __shared__ int row[256];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  row[threadIdx.x] = 0;
  __syncthreads();
  row[threadIdx.x] = in[threadIdx.x];
  int far = row[threadIdx.x ^ 32];
  tile.sync();
  out[threadIdx.x] = far;
}

// Asks for the kilobyte, and goes wrong elsewhere: before an array of its own.
extern "C" __global__ void tile_before(const int *in, int *out, int n)
{
  __shared__ int row[256];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  row[threadIdx.x] = in[threadIdx.x];
  tile.sync();
  out[threadIdx.x] = row[(int)threadIdx.x - n];
}

// The same by an address of which nothing is known, and no tile of several warps.
extern "C" __global__ void tile_outside(const int *in, int *out, int n)
{
  __shared__ int row[256];
  row[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  unsigned at = (unsigned)__cvta_generic_to_shared(row) * n - 4 * n;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(n) : "r"(at));
  out[threadIdx.x] = n;
}
