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
  __shared__ int bins[256];
  int t = threadIdx.x;

  bins[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + t; i < count; i += gridDim.x * 256)
    atomicAdd(&bins[bin[i]], weight[i]);
  __syncthreads();
  atomicAdd(&out[t], bins[t]);
  // <<<
}
