// What orders threads besides barriers: flags, locks, tickets, fences, named barriers, mbarriers,
// tiles.  Each correct kernel has a broken twin.  `//! race -3` on a line: it races with the line
// three above; kernels without such a line must be clean.  order.ptx is this file compiled.
#include <cooperative_groups.h>
typedef unsigned u32;

#define PEEK(x) (*(volatile int *)&(x))
#define FENCE() __threadfence_block()
__device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
#define INIT(bar, n) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(&bar)), "r"(n) : "memory")
#define ARRIVE(bar) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(&bar)) : "memory")
#define WAIT(bar, parity) \
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(at(&bar)), "r"(parity) : "memory")

extern "C" {

// The usual way into a loop of atomicCAS: the first look is plain, and may be old.
__global__ void cas_max(int *out, const int *in, int n)
{
  __shared__ int best;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  int old = best, assumed;
  do {
    assumed = old;
    old = atomicCAS(&best, assumed, max(assumed, in[threadIdx.x]));
  } while (old != assumed);
  __syncthreads();
  out[threadIdx.x] = best;
}

__global__ void cas_max_read_early(int *out, const int *in, int n)
{
  __shared__ int best;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  int old = best, assumed;
  do {
    assumed = old;
    old = atomicCAS(&best, assumed, max(assumed, in[threadIdx.x]));  //! race +2
  } while (old != assumed);
  out[threadIdx.x] = best;  //! race -2
}

__device__ double add_double(double *to, double v)
{
  unsigned long long *p = (unsigned long long *)to, old = *p, assumed;
  do {
    assumed = old;
    old = atomicCAS(p, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void cas_add_double(int *out, const int *in, int n)
{
  __shared__ double sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  add_double(&sum, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = (int)sum;
}

__global__ void plain_max(int *out, const int *in, int n)
{
  __shared__ int best;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  if (in[threadIdx.x] > best)  //! race +1
    best = in[threadIdx.x];    //! race -1
  __syncthreads();
  out[threadIdx.x] = best;
}

// The barrier between adding and reading.
__global__ void counts(int *out, const int *in, int n)
{
  __shared__ int h[32];
  int t = threadIdx.x;
  if (t < 32) h[t] = 0;
  __syncthreads();
  atomicAdd(&h[in[t] % 32], in[t] % 3);
  __syncthreads();
  out[t] = h[t % 32];
}

__global__ void counts_read_early(int *out, const int *in, int n)
{
  __shared__ int h[32];
  int t = threadIdx.x;
  if (t < 32) h[t] = 0;
  __syncthreads();
  atomicAdd(&h[in[t] % 32], in[t] % 3);  //! race +1
  out[t] = h[t % 32];                    //! race -1
}

// A look at a counter that atomics move on: old is good enough.
__global__ void queue(int *out, const int *in, int n)
{
  __shared__ int head;
  if (threadIdx.x == 0) head = 0;
  __syncthreads();
  while (PEEK(head) < 300) {
    int k = atomicAdd(&head, 1);
    if (k < 300) out[k] = in[k] + 1;
  }
}

// A fence alone orders nothing.
__global__ void fence_for_a_barrier(int *out, const int *in, int n)
{
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  s[t] = in[t];         //! race +2
  FENCE();
  out[t] = s[127 - t];  //! race -2
}

__global__ void flag_set(int *out, const int *in, int n)
{
  __shared__ int s[32], flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    s[t] = in[t];
    __syncwarp();
    if (t == 0) {
      FENCE();
      PEEK(flag) = 1;
    }
  } else {
    while (PEEK(flag) == 0) continue;
    FENCE();
    out[t] = s[t % 32];
  }
}

__global__ void flag_not_released(int *out, const int *in, int n)
{
  __shared__ int s[32], flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    s[t] = in[t];
    __syncwarp();
    if (t == 0) PEEK(flag) = 1;
  } else {
    while (PEEK(flag) == 0) continue;
    FENCE();
    out[t] = s[t % 32];  //! race -6
  }
}

__global__ void flag_not_acquired(int *out, const int *in, int n)
{
  __shared__ int s[32], flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    s[t] = in[t];
    __syncwarp();
    if (t == 0) {
      FENCE();
      PEEK(flag) = 1;
    }
  } else {
    while (PEEK(flag) == 0) continue;
    out[t] = PEEK(s[t % 32]);  //! race -8
  }
}

__global__ void flag_too_early(int *out, const int *in, int n)
{
  __shared__ int s, flag;
  int t = threadIdx.x;
  if (t == 0) flag = s = 0;
  __syncthreads();
  if (t < 32) {
    if (t == 0) {
      FENCE();
      PEEK(flag) = 1;
      PEEK(s) = in[0];
    }
  } else {
    while (PEEK(flag) == 0) continue;
    FENCE();
    out[t] = PEEK(s);  //! race -5
  }
}

// One thread waits, and its warp goes on with it.
__global__ void flag_for_a_warp(int *out, const int *in, int n)
{
  __shared__ int s[32], flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    s[t] = in[t];
    __syncwarp();
    FENCE();
    if (t == 0) atomicExch(&flag, 1);
  } else {
    if (t % 32 == 0)
      while (PEEK(flag) == 0) continue;
    FENCE();
    __syncwarp();
    out[t] = s[t % 32];
  }
}

__global__ void release_acquire(int *out, const int *in, int n)
{
  __shared__ int s, flag;
  int t = threadIdx.x, seen = 0;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 0) {
    s = in[5];
    asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at(&flag)) : "memory");
  } else if (t >= 32) {
    while (!seen) asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at(&flag)) : "memory");
    out[t] = s;
  }
}

__global__ void release_relaxed(int *out, const int *in, int n)
{
  __shared__ int s, flag;
  int t = threadIdx.x, seen = 0;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 0) {
    s = in[5];
    asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at(&flag)) : "memory");
  } else if (t >= 32) {
    while (!seen) asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at(&flag)) : "memory");
    out[t] = s;  //! race -4
  }
}

// The flag goes back and forth.
__global__ void hand_back(int *out, const int *in, int n)
{
  __shared__ int s, flag;
  int t = threadIdx.x, sum = 0;
  if (t == 0) flag = 0;
  __syncthreads();
  for (int k = 0; k < 4; k++) {
    if (t == 0) {
      while (PEEK(flag) != 0) continue;
      FENCE();
      s = in[k];
      FENCE();
      PEEK(flag) = 1;
    } else if (t == 32) {
      while (PEEK(flag) == 0) continue;
      FENCE();
      sum += s;
      FENCE();
      PEEK(flag) = 0;
    }
  }
  if (t == 32) out[0] = sum;
}

// Many readers, who count themselves out; then the word is used again.
__global__ void counted_out(int *out, const int *in, int n)
{
  __shared__ int s, flag, done;
  int t = threadIdx.x;
  if (t == 0) flag = done = 0;
  __syncthreads();
  if (t == 0) {
    s = in[3];
    FENCE();
    PEEK(flag) = 1;
    while (PEEK(done) != 96) continue;
    FENCE();
    s = 0;
  } else if (t >= 32) {
    while (PEEK(flag) == 0) continue;
    FENCE();
    out[t] = s;
    FENCE();
    atomicAdd(&done, 1);
  }
}

__global__ void not_counted_out(int *out, const int *in, int n)
{
  __shared__ int s, flag, done;
  int t = threadIdx.x;
  if (t == 0) flag = done = 0;
  __syncthreads();
  if (t == 0) {
    s = in[3];
    FENCE();
    PEEK(flag) = 1;
    s = 0;
  } else if (t >= 32) {
    while (PEEK(flag) == 0) continue;
    FENCE();
    out[t] = s;  //! race -4
    FENCE();
    atomicAdd(&done, 1);
  }
}

__global__ void lock_let_go(int *out, const int *in, int n)
{
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 16 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) continue;
    FENCE();
    sum += in[threadIdx.x];
    FENCE();
    PEEK(lock) = 0;
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}

__global__ void lock_unfenced(int *out, const int *in, int n)
{
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 16 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) continue;
    PEEK(sum) = PEEK(sum) + in[threadIdx.x];  //! race 0
    atomicExch(&lock, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}

__global__ void two_locks(int *out, const int *in, int n)
{
  __shared__ int lock[2], sum;
  if (threadIdx.x < 2) lock[threadIdx.x] = sum = 0;
  __syncthreads();
  int *mine = &lock[threadIdx.x / 32 % 2];
  if (threadIdx.x % 16 == 0) {
    while (atomicCAS(mine, 0, 1) != 0) continue;
    FENCE();
    PEEK(sum) = PEEK(sum) + in[threadIdx.x];  //! race 0
    FENCE();
    atomicExch(mine, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}

// The last warp to draw a ticket adds up what the others left.
__global__ void last_ticket(int *out, const int *in, int n)
{
  __shared__ int part[32], count;
  int t = threadIdx.x, warp = t / 32, ticket = 0;
  if (t == 0) count = 0;
  __syncthreads();
  int v = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) {
    part[warp] = v;
    FENCE();
    ticket = atomicAdd(&count, 1);
  }
  ticket = __shfl_sync(~0u, ticket, 0);
  if (ticket == blockDim.x / 32 - 1) {
    FENCE();
    v = t % 32 < blockDim.x / 32 ? part[t % 32] : 0;
    v = __reduce_add_sync(~0u, v);
    if (t % 32 == 0) out[0] = v;
  }
}

__global__ void last_ticket_unfenced(int *out, const int *in, int n)
{
  __shared__ int part[32], count;
  int t = threadIdx.x, warp = t / 32, ticket = 0;
  if (t == 0) count = 0;
  __syncthreads();
  int v = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) {
    PEEK(part[warp]) = v;
    ticket = atomicAdd(&count, 1);
  }
  ticket = __shfl_sync(~0u, ticket, 0);
  if (ticket == blockDim.x / 32 - 1) {
    v = t % 32 < blockDim.x / 32 ? PEEK(part[t % 32]) : 0;  //! race -5
    v = __reduce_add_sync(~0u, v);
    if (t % 32 == 0) out[0] = v;
  }
}

// A scan over warps that looks back: first with flag and value in one word, then in two.
__global__ void look_back(int *out, const int *in, int n)
{
  __shared__ int state[32];
  int t = threadIdx.x, warp = t / 32;
  if (t < 32) state[t] = 0;
  __syncthreads();
  int v = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) {
    PEEK(state[warp]) = 1 << 30 | v;
    int before = 0;
    for (int k = warp - 1; k >= 0; k--) {
      int s;
      while ((s = PEEK(state[k])) == 0) continue;
      before += s & 0xffffff;
      if (s >> 29 & 1) break;
    }
    PEEK(state[warp]) = 3 << 29 | (before + v);
    out[warp] = before;
  }
}

__global__ void look_back_two(int *out, const int *in, int n)
{
  __shared__ int flag[32], value[32];
  int t = threadIdx.x, warp = t / 32;
  if (t < 32) flag[t] = 0;
  __syncthreads();
  int v = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) {
    int before = 0;
    if (warp > 0) {
      while (PEEK(flag[warp - 1]) == 0) continue;
      FENCE();
      before = value[warp - 1];
    }
    value[warp] = before + v;
    FENCE();
    PEEK(flag[warp]) = 1;
    out[warp] = before;
  }
}

__global__ void look_back_unfenced(int *out, const int *in, int n)
{
  __shared__ int flag[32], value[32];
  int t = threadIdx.x, warp = t / 32;
  if (t < 32) flag[t] = 0;
  __syncthreads();
  int v = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) {
    int before = 0;
    if (warp > 0) {
      while (PEEK(flag[warp - 1]) == 0) continue;
      before = PEEK(value[warp - 1]);  //! race +2
    }
    PEEK(value[warp]) = before + v;
    PEEK(flag[warp]) = 1;
    out[warp] = before;
  }
}

// Two warps read every word that two others write again.
__global__ void named_readers(int *out, const int *in, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 3; k++)
    if (t < 64) {
      s[t] = in[t] + k;
      asm volatile("bar.sync 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      for (int j = 0; j < 64; j++) sum += s[j];
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  if (t >= 64) out[t] = sum;
}

__global__ void named_readers_too_few(int *out, const int *in, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 3; k++)
    if (t < 64) {
      s[t] = in[t] + k;  //! race +5
      asm volatile("bar.sync 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 96;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      for (int j = 0; j < 64; j++) sum += s[j];
      if (t < 96) asm volatile("bar.arrive 2, 96;" ::: "memory");
    }
  if (t >= 64) out[t] = sum;
}

// The same with mbarriers: full and empty.
__global__ void full_and_empty(int *out, const int *in, int n)
{
  __shared__ unsigned long long full, empty;
  __shared__ int s[32];
  int t = threadIdx.x, sum = 0;
  if (t == 0) {
    INIT(full, 32);
    INIT(empty, 96);
  }
  __syncthreads();
  for (int k = 0; k < 3; k++)
    if (t < 32) {
      if (k) WAIT(empty, (k + 1) % 2);
      s[t] = in[t] + k;
      ARRIVE(full);
    } else {
      WAIT(full, k % 2);
      for (int j = 0; j < 32; j++) sum += s[j];
      ARRIVE(empty);
    }
  if (t >= 32) out[t] = sum;
}

__global__ void full_only(int *out, const int *in, int n)
{
  __shared__ unsigned long long full;
  __shared__ int s[32];
  int t = threadIdx.x, sum = 0;
  if (t == 0) INIT(full, 32);
  __syncthreads();
  if (t < 32) {
    s[t] = in[t];
    ARRIVE(full);
    s[t] = in[t] + 1;
  } else {
    WAIT(full, 0);
    for (int j = 0; j < 32; j++) sum += s[j];  //! race -3
    out[t] = sum;
  }
}

__global__ void tiles(int *out, const int *in, int n)
{
  __shared__ int s[128];
  int t = threadIdx.x;
  auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
  s[t] = in[t];
  tile.sync();
  int v = s[t ^ 7];
  tile.sync();
  s[t] = v + 1;
  tile.sync();
  out[t] = s[t ^ 3];
}

__global__ void tiles_crossed(int *out, const int *in, int n)
{
  __shared__ int s[128];
  int t = threadIdx.x;
  auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
  s[t] = in[t];
  tile.sync();
  out[t] = s[t ^ 8];  //! race -2
}

__global__ void copies_in_groups(int *out, const int *in, int n)
{
  __shared__ int s[2][128];
  int t = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&s[k][t])), "l"(in + 128 * k + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  int v = s[0][127 - t];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[t] = v + s[1][127 - t];
}

__global__ void copies_one_group_early(int *out, const int *in, int n)
{
  __shared__ int s[2][128];
  int t = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&s[k][t])), "l"(in + 128 * k + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  out[t] = s[0][127 - t] + s[1][127 - t];  //! race -5
}

__global__ void cluster_barrier(int *out, const int *in, int n)
{
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[t] = s[127 - t];
}

__global__ void cluster_not_waited(int *out, const int *in, int n)
{
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  s[t] = in[t];  //! race +2
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  out[t] = s[127 - t];  //! race -2
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
}
