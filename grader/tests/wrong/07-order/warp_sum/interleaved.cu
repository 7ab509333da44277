// expect: conflict free: wavefronts per shared
/* An old reduction: its last warp relies on lanes running in step.
 *
 * A block of 256 threads adds up 256 numbers, the last block fewer; out[block] is the sum.  The code
 * is from a time when a warp was thought to run as one, and `volatile` was thought to be enough.
 * Repair the last part.  Sums of ints wrap around.
 * Read: chapters/07-order.md, "Lockstep is over".
 */
extern "C" __global__ void block_sums(const int *in, int *out, int n)
{
  // >>> yours
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();

  for (int step = 1; step < 256; step *= 2) {
    if (t < 128 / step) s[2 * step * t] += s[2 * step * t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
  // <<<
}
