#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void group_reduce(const int *in, int *sum, int *most, int n)
{
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  auto quad = cg::tiled_partition<4>(tile);
  int i = block.group_index().x * block.size() + block.thread_rank();
  int v = i < n ? in[i] : 0;
  int q = cg::reduce(quad, v, cg::greater<int>());
  if (quad.thread_rank() == 0) most[i / 4] = q;
  v = cg::reduce(tile, v, cg::plus<int>());
  __shared__ int part[32];
  if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = v;
  block.sync();
  if (tile.meta_group_rank() == 0) {
    int p = tile.thread_rank() < tile.meta_group_size() ? part[tile.thread_rank()] : 0;
    for (int d = tile.size() / 2; d; d /= 2) p += tile.shfl_down(p, d);
    if (block.thread_rank() == 0) sum[block.group_index().x] = p;
  }
}

// Keeps the positive ones, in any order: aggregated through a coalesced group.
extern "C" __global__ void group_filter(const float *in, float *out, int *count, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) {
    auto g = cg::coalesced_threads();
    int at = 0;
    if (g.thread_rank() == 0) at = atomicAdd(count, (int)g.size());
    out[g.shfl(at, 0) + g.thread_rank()] = in[i];
  }
}

extern "C" __global__ void group_scan(const float *in, float *out, int *label, int n)
{
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0;
  float s = cg::inclusive_scan(tile, v);
  auto same = cg::labeled_partition(cg::coalesced_threads(), (int)(threadIdx.x % 3));
  if (i < n) out[i] = s, label[i] = (int)(same.size() * 100 + same.thread_rank());
}
