// Clusters of several blocks.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define KERNEL(n) extern "C" __global__ void __cluster_dims__(n)

// Each block's row, turned round through the next block's memory.
KERNEL(4) cluster_next(const int *in, int *out, int n)
{
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  const int *next = cluster.map_shared_rank(row, (cluster.block_rank() + 1) % cluster.num_blocks());
  int v = next[63 - threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// A histogram whose bins are spread over the blocks of the cluster.
KERNEL(2) cluster_histogram(const int *in, int *out, int n)
{
  __shared__ int bins[32];
  auto cluster = cg::this_cluster();
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = in[i] & 63;
    atomicAdd(cluster.map_shared_rank(bins, bin / 32) + bin % 32, 1);
  }
  cluster.sync();
  if (threadIdx.x < 32) atomicAdd(&out[cluster.block_rank() * 32 + threadIdx.x], bins[threadIdx.x]);
}

// Values pushed into the other block, and 32-bit addresses; arriving apart from waiting.
KERNEL(2) cluster_push(const int *in, int *out, int n)
{
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  unsigned there, at = (unsigned)__cvta_generic_to_shared(&row[threadIdx.x]);
  cluster.sync();
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(cluster.block_rank() ^ 1));
  asm volatile("st.shared::cluster.s32 [%0], %1;" :: "r"(there), "r"(in[blockIdx.x * 64 + threadIdx.x]) : "memory");
  auto token = cluster.barrier_arrive();
  int rank;
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(there));
  cluster.barrier_wait(std::move(token));
  out[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x] * 10 + rank;
}

extern "C" __global__ void __cluster_dims__(2, 2, 1) cluster_names(const int *in, int *out, int n)
{
  auto c = cg::this_cluster();
  int b = blockIdx.x + gridDim.x * blockIdx.y;
  if (threadIdx.x == 0) out[b] = c.block_rank() + 10 * c.num_blocks() + 100 * c.block_index().x +
    1000 * c.block_index().y + 10000 * cg::this_grid().cluster_rank() + 1000000 * c.dim_blocks().y;
}

KERNEL(2) wrong_no_sync(const int *in, int *out, int n)
{
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  row[threadIdx.x] = 0;
  cluster.sync();
  row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  out[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(row, cluster.block_rank() ^ 1)[threadIdx.x];
  cluster.sync();
}
KERNEL(2) wrong_never(const int *in, int *out, int n)
{
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  out[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(row, cluster.block_rank() ^ 1)[threadIdx.x];
  row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
}
KERNEL(2) wrong_ends(const int *in, int *out, int n)
{
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(row, cluster.block_rank() ^ 1)[threadIdx.x];
}
KERNEL(2) wrong_past(const int *in, int *out, int n)
{
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(row, cluster.block_rank() ^ 1)[threadIdx.x + n];
  cluster.sync();
}
KERNEL(2) wrong_rank(const int *in, int *out, int n)
{
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  row[threadIdx.x] = in[threadIdx.x];
  cluster.sync();
  out[threadIdx.x] = cluster.map_shared_rank(row, 1 + n)[threadIdx.x];
  cluster.sync();
}
KERNEL(2) wrong_one_block(const int *in, int *out, int n)
{
  if (blockIdx.x == 1 && threadIdx.x < 32) asm volatile("barrier.sync 1, 64;");
  cg::this_cluster().sync();
}
KERNEL(2) wrong_no_wait(const int *in, int *out, int n)
{
  if (threadIdx.x) asm volatile("barrier.cluster.arrive; barrier.cluster.wait;");
  else asm volatile("bar.warp.sync 3;");
}
KERNEL(2) wrong_wait(const int *in, int *out, int n) { asm volatile("barrier.cluster.wait.aligned;"); }
KERNEL(2) wrong_twice(const int *in, int *out, int n)
{
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
}
