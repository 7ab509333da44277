// expect: conflict free: 4224 bytes
// expect: dense: 4224 bytes
/* The transpose without a pad: out[x][y] = in[y][x].
 *
 * `in` has `height` rows of `width` floats; `out` has `width` rows of `height`.  A block has
 * 32 x 8 threads and moves one tile of 32 x 32 elements.  The tile takes 4096 bytes, and not one
 * more: no pad.  Its columns are read with 32 wavefronts a request.  Make it one.
 * Read: chapters/06-swizzle.md, "The column, moved by its row".
 */
extern "C" __global__ void transpose_dense(const float *in, float *out, int width, int height)
{
  // >>> yours
  __shared__ float tile[32][33];

  int x = blockIdx.x * 32 + threadIdx.x;   /* column of in */
  int y = blockIdx.y * 32 + threadIdx.y;   /* row of in */
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
