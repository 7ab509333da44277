// expect: coalesced: are not coalesced
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
  __shared__ float tile[32][33];
  int lane = threadIdx.x, warp = threadIdx.y, first = blockIdx.x * 32;
  float part = 0.0f;

  for (int top = 0; top < rows; top += 32) {
    for (int c = warp; c < 32; c += 8) {   /* lanes are rows here: the columns of in, scattered */
      bool inside = top + lane < rows && first + c < columns;
      tile[lane][c] = inside ? in[(top + lane) * columns + first + c] : 0.0f;
    }
    __syncthreads();
    if (warp == 0)
      for (int r = 0; r < 32; r++) part += tile[r][lane];
    __syncthreads();
  }
  if (warp == 0 && first + lane < columns) out[first + lane] = part;
  // <<<
}
