/* Warps that wait for others, and an atomic that ptxas does once a warp.  As profile.cu: kept as PTX. */
extern "C" __global__ void handoff(int *out)
{
  __shared__ volatile int flag;
  __shared__ volatile int data[32];
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    while (flag == 0) continue;
    __threadfence_block();
    out[threadIdx.x - 32] = data[threadIdx.x - 32];
  } else {
    for (int k = 0; k < out[64]; k++) data[threadIdx.x] = k;
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x == 0) flag = 1;
  }
}

extern "C" __global__ void lock(int *word, int *out)
{
  while (atomicCAS(word, 0, 1) != 0) continue;
  out[0] += 1;
  __threadfence();
  atomicExch(word, 0);
}

extern "C" __global__ void once(const int *in, int *out)
{
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  out[threadIdx.x] = atomicAdd(&sum, in[threadIdx.x]);
}
