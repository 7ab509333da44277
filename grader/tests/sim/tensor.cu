// Boxes of tensors.  tensor.ptx is this file compiled; test_sim_async.c makes the maps.
typedef unsigned u32;
typedef unsigned long long u64;
struct __align__(64) Map { char opaque[128]; };

static __device__ __forceinline__ u32 at(const void *p)
{
  return (u32)__cvta_generic_to_shared(p);
}
#define WAIT(bar, parity) \
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(at(&bar)), "r"(parity) : "memory")

extern "C" {

// A box at (x, y), as it lies in shared memory.
__global__ void box_in(const __grid_constant__ Map map, int *out, int x, int y, int bytes)
{
  __shared__ __align__(1024) int s[1024];
  __shared__ u64 bar;
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(at(&bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(at(s)), "l"(&map), "r"(x), "r"(y), "r"(at(&bar)) : "memory");
  }
  __syncthreads();
  WAIT(bar, 0);
  for (int k = t; k < bytes / 4; k += 64) out[k] = s[k];
}

// The box at (0, 0, 1) moves to (4, 1, 0).
__global__ void box_through(const __grid_constant__ Map from, const __grid_constant__ Map to, int bytes)
{
  __shared__ __align__(1024) int s[1024];
  __shared__ u64 bar;
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(at(&bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(at(s)), "l"(&from), "r"(0), "r"(0), "r"(1), "r"(at(&bar)) : "memory");
    WAIT(bar, 0);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];"
                 ::"l"(&to), "r"(4), "r"(1), "r"(0), "r"(at(s)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

}
