// expect: any size: bad synchronisation
// expect: no faults: bad synchronisation
/* Rung 3: most of the sum without banks.
 *
 * The task of rung 1: out[b] is the sum of the 256 numbers of block b, or of as many as there are.
 * The tree below has no conflicts, and still spends 45 wavefronts a block, because every step
 * goes through shared memory.  A warp can add up its 32 numbers with shuffles, which touch no bank,
 * and leave one number.  Then one warp adds up the eight that are left.  9 wavefronts will do; 18
 * give full points.  Read: chapters/08-reductions.md, section 5.
 */
extern "C" __global__ void sum(const float *in, float *out, int count)
{
  // >>> yours
  __shared__ float s[8];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  int warp = t / 32, lane = t % 32;

  float x = 0.0f;
  if (i < count) {                       /* lanes past the end do not come to the shuffle */
    x = in[i];
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
  }
  if (lane == 0) s[warp] = x;            /* one number a warp */
  __syncthreads();

  if (warp == 0) {
    x = lane < 8 ? s[lane] : 0.0f;
    for (int d = 4; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (lane == 0) out[blockIdx.x] = x;
  }
  // <<<
}
