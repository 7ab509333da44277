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

// The size of a cluster is the launch's affair.
extern "C" __global__ void cluster_launched(const int *in, int *out, int n)
{
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  int sum = 0;
  for (unsigned r = 0; r < cluster.num_blocks(); r++) sum += cluster.map_shared_rank(row, r)[threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// A row sent to the other block, which waits for its bytes; then the sender is told that it was read.
struct mailbox { unsigned long long full, empty; int row[64]; };
__device__ void set_up(mailbox &box)
{
  unsigned full = (unsigned)__cvta_generic_to_shared(&box.full);
  unsigned empty = (unsigned)__cvta_generic_to_shared(&box.empty);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(full) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" :: "r"(empty) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cg::this_cluster().sync();
}
__device__ unsigned other(const void *p)
{
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there)
      : "r"((unsigned)__cvta_generic_to_shared(p)), "r"(cg::this_cluster().block_rank() ^ 1));
  return there;
}
__device__ void expect(unsigned long long &bar, int bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"((unsigned)__cvta_generic_to_shared(&bar)), "r"(bytes) : "memory");
}
__device__ void wait(unsigned long long &bar, int parity)
{
  asm volatile("{\n.reg .pred p;\nmore: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra more;\n}" :: "r"((unsigned)__cvta_generic_to_shared(&bar)), "r"(parity) : "memory");
}
__device__ void send(mailbox &box, int v)
{
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];"
               :: "r"(other(&box.row[threadIdx.x])), "r"(v), "r"(other(&box.full)) : "memory");
}
__device__ void told(mailbox &box)
{
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(other(&box.empty))
               : "memory");
}

KERNEL(2) cluster_mail(const int *in, int *out, int n)
{
  __shared__ mailbox box;
  int rank = cg::this_cluster().block_rank(), sum = 0;
  set_up(box);
  for (int round = 0; round < n; round++) {
    if (round) wait(box.empty, round - 1 & 1);
    if (threadIdx.x == 0) expect(box.full, sizeof box.row);
    send(box, in[(blockIdx.x * 64 + threadIdx.x + round) % (64 * gridDim.x)]);
    wait(box.full, round & 1);
    sum = 3 * sum + box.row[63 - threadIdx.x] + rank;
    told(box);
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  cg::this_cluster().sync();
}

// One warp writes and the other reads; a block between them passes it on.
KERNEL(2) cluster_relay(const int *in, int *out, int n)
{
  __shared__ mailbox box;
  set_up(box);
  bool first = cg::this_cluster().block_rank() == 0;
  if (first && threadIdx.x < 32) box.row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncwarp();
  if (first && threadIdx.x >= 32) {
    wait(box.full, 0);
    out[blockIdx.x * 64 + threadIdx.x - 32] = box.row[threadIdx.x - 32];
  } else if (threadIdx.x == (first ? 0 : 32)) {   // of another warp than the writer's
    if (!first) wait(box.full, 0);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(other(&box.full))
                 : "memory");
  }
  cg::this_cluster().sync();
}

// The row is read before it has come.
KERNEL(2) wrong_mail(const int *in, int *out, int n)
{
  __shared__ mailbox box;
  set_up(box);
  if (threadIdx.x == 0) expect(box.full, sizeof box.row);
  out[blockIdx.x * 64 + threadIdx.x] = box.row[63 - threadIdx.x];
  send(box, in[threadIdx.x]);
  wait(box.full, 0);
  cg::this_cluster().sync();
}
KERNEL(2) wrong_bytes(const int *in, int *out, int n)
{
  __shared__ mailbox box;
  set_up(box);
  if (threadIdx.x == 0) expect(box.full, sizeof box.row + 4);
  send(box, in[threadIdx.x]);
  wait(box.full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = box.row[63 - threadIdx.x];
  cg::this_cluster().sync();
}
KERNEL(2) wrong_no_box(const int *in, int *out, int n)
{
  __shared__ mailbox box;
  send(box, in[threadIdx.x]);
  cg::this_cluster().sync();
  out[threadIdx.x] = 1;
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
KERNEL(2) wrong_copy(const int *in, int *out, int n)
{
  __shared__ int row[64];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.wait_all;"
               :: "r"(other(&row[threadIdx.x])), "l"(__cvta_generic_to_global(in + threadIdx.x)) : "memory");
  cg::this_cluster().sync();
  out[threadIdx.x] = row[threadIdx.x];
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
