// expect: any size: never written
// expect: coalesced: never written
// expect: conflict free: never written
/* Transpose through shared memory: out[x][y] = in[y][x].
 *
 * `in` has `height` rows of `width` floats; `out` has `width` rows of `height`.  A block has
 * 32 x 8 threads and moves one tile of 32 x 32 elements; there are enough blocks to cover `in`,
 * and at the right and lower edge a tile may be only partly full.
 *
 * The kernel below is right, and its reads and writes of global memory are coalesced.  But the
 * column read of the tile takes 32 wavefronts a request.  Make it take one.
 * Read: chapters/04-padding.md.
 */
extern "C" __global__ void transpose(const float *in, float *out, int width, int height)
{
  // >>> yours
  __shared__ float tile[32][33];   /* 33 is odd: a column is spread over all 32 banks */

  int x = blockIdx.x * 32 + threadIdx.x;   /* column of in */
  int y = blockIdx.y * 32 + threadIdx.y;   /* row of in */
  if (x >= width) return;                  /* gone, and missing in the second half */
  for (int j = 0; j < 32; j += 8) {
    if (x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  }

  __syncthreads();

  x = blockIdx.y * 32 + threadIdx.x;       /* column of out */
  y = blockIdx.x * 32 + threadIdx.y;       /* row of out */
  for (int j = 0; j < 32; j += 8) {
    if (x < height && y + j < width)
      out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
  // <<<
}
