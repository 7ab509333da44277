/* A tile that is 48 wide, without a pad: out[x][y] = in[y][x].
 *
 * `in` has `height` rows of `width` floats; `out` has `width` rows of `height`.  A block has 256
 * threads and moves one tile of 32 rows and 48 columns, 6144 bytes.  A warp reads a column of 32
 * rows: 16 wavefronts a request.  Make it one, in the same 6144 bytes.
 *
 * `column ^ row` won't do: 32 ^ 31 is 63, and a row has 48 places.
 * Read: chapters/06-swizzle.md, "Forty-eight".
 */
extern "C" __global__ void transpose48(const float *in, float *out, int width, int height)
{
  // >>> yours
  __shared__ float tile[32 * 48];
  int left = blockIdx.x * 48, top = blockIdx.y * 32;

  for (int i = threadIdx.x; i < 32 * 48; i += 256) {
    int row = i / 48, column = i % 48;
    int x = left + column, y = top + row;
    if (x < width && y < height)
      tile[row * 48 + column] = in[y * width + x];
  }

  __syncthreads();

  for (int column = threadIdx.x / 32; column < 48; column += 8) {
    int row = threadIdx.x % 32;
    int x = left + column, y = top + row;
    if (x < width && y < height)
      out[x * height + y] = tile[row * 48 + column];
  }
  // <<<
}
