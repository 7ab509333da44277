// expect: *: uninitialised
/* All threads add into one cell.
 *
 * A block of 256 threads adds up 256 numbers, the last block fewer; out[block] is the sum.  Below,
 * every thread loads the cell, adds, and stores it: additions get lost.  An atomic makes it right,
 * but the floats of 32 lanes then enter the cell one by one.  Make it right, and cheap: at most 8
 * wavefronts of shared memory for every 32 numbers.
 * Read: chapters/07-order.md, "One cell".
 */
extern "C" __global__ void cell_sums(const float *in, float *out, int n)
{
  // >>> yours
  __shared__ float part[8];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;

  float sum = i < n ? in[i] : 0;
  for (int half = 16; half > 0; half /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, half);
  if (t % 32 == 0) part[t / 32] = sum;     /* a warp, a cell */

  if (t == 0) {
    float total = 0;
    for (int warp = 0; warp < 8; warp++) total += part[warp];
    out[blockIdx.x] = total;
  }
  // <<<
}
