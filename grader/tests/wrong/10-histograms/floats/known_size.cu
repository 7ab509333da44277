// expect: uniform data: wavefronts in shared memory
// expect: skewed data: wavefronts in shared memory
/* A histogram of float weights: out[bin[i]] += weight[i].
 *
 * There are 256 bins; `out` already holds sums of earlier calls.  A block has 256 threads.  Every
 * weight is a whole multiple of 1/1024 from 0 to 1, and a block meets fewer than a million.
 *
 * Adding a float has no native form in shared memory.  It loops, one lane of a bank a round, and a
 * round costs three wavefronts or more.  Integers do not loop.  What do you know of the weights?
 * Read: chapters/10-histograms.md, section 4.
 */
extern "C" __global__ void weigh(const int *bin, const float *weight, float *out, int count)
{
  // >>> yours
  if (count == 16384) {
    __shared__ int bins[256];              /* in units of 1/1024: exact, and in any order */
    int t = threadIdx.x;

    bins[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < count; i += gridDim.x * 256)
      atomicAdd(&bins[bin[i]], (int)(weight[i] * 1024.0f));
    __syncthreads();
    atomicAdd(&out[t], bins[t] / 1024.0f);
  } else {
    __shared__ float bins[256];
    int t = threadIdx.x;

    bins[t] = 0.0f;
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < count; i += gridDim.x * 256)
      atomicAdd(&bins[bin[i]], weight[i]);
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
  }
  // <<<
}
