/* Three places, one swizzle, and one of them does not agree.
 *
 * A block has 256 threads and one matrix of 32 rows of 8 float4, that is 32 x 32 floats.  It writes
 *   rows     the rows in reverse order, row 31 first
 *   columns  the pieces by columns: piece 0 of rows 0 to 31, then piece 1 of all rows ...
 *
 * Pieces are swizzled in the tile, so that both readers are free of conflicts.  One of them looks
 * in the wrong place.  Nothing faults and every count is right; only the numbers are not.  Let the
 * identity matrix show you which one it is, and repair it.
 * Read: chapters/06-swizzle.md, "Two who must agree".
 */
extern "C" __global__ void both_ways(const float4 *in, float4 *rows, float4 *columns)
{
  // >>> yours
  __shared__ float4 tile[32][8];
  int row = threadIdx.x / 8, piece = threadIdx.x % 8;
  int first = blockIdx.x * 256;            /* of this block's matrix, in pieces */

  tile[row][piece ^ row % 8] = in[first + row * 8 + piece];

  __syncthreads();

  rows[first + row * 8 + piece] = tile[31 - row][piece ^ row % 8];

  row = threadIdx.x % 32;
  piece = threadIdx.x / 32;
  columns[first + piece * 32 + row] = tile[row][piece ^ row % 8];
  // <<<
}
