// expect: conflict free: wavefronts for every 32
/* Transpose of 16-bit numbers: out[x][y] = in[y][x].
 *
 * The numbers are halves, but nothing is computed with them, so they are moved as unsigned short.
 * `in` has `height` rows of `width` halves; `width` is even, so a row is read as words of two.
 * A block has 256 threads and moves a tile of 32 rows and 64 columns.
 *
 * Each row of the tile is written as 32 words.  Then a warp reads a column, one half a lane: 32
 * wavefronts a request.  Make it take one.
 * Read: chapters/05-widths.md, "Halves and bytes".
 */
extern "C" __global__ void transpose_halves(const unsigned *in, unsigned short *out, int width,
                                            int height)
{
  // >>> yours
  if (width == 128 && height == 64) {
    __shared__ __align__(16) unsigned short tile[32][66];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int row = warp; row < 32; row += 8) {
      int word = blockIdx.x * 32 + lane, y = blockIdx.y * 32 + row;
      unsigned short *to = tile[row];
      if (word < width / 2 && y < height)
        ((unsigned *)to)[lane] = in[y * (width / 2) + word];
    }

    __syncthreads();

    for (int column = warp; column < 64; column += 8) {
      int x = blockIdx.x * 64 + column, y = blockIdx.y * 32 + lane;
      if (x < width && y < height)
        out[x * height + y] = tile[lane][column];
    }
  } else {
    __shared__ __align__(16) unsigned short tile[32][64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int row = warp; row < 32; row += 8) {
      int word = blockIdx.x * 32 + lane, y = blockIdx.y * 32 + row;
      unsigned short *to = tile[row];
      if (word < width / 2 && y < height)
        ((unsigned *)to)[lane] = in[y * (width / 2) + word];
    }

    __syncthreads();

    for (int column = warp; column < 64; column += 8) {
      int x = blockIdx.x * 64 + column, y = blockIdx.y * 32 + lane;
      if (x < width && y < height)
        out[x * height + y] = tile[lane][column];
    }
  }
  // <<<
}
