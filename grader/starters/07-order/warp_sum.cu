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

  for (int half = 128; half > 32; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }

  if (t < 32) {
    volatile int *v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
  // <<<
}
