// expect: cheap: shared memory is not used
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
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = blockIdx.x * 256; i < n && i < blockIdx.x * 256 + 256; i++) sum += in[i];
    out[blockIdx.x] = sum;
  }
  // <<<
}
