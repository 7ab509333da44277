// expect: conflict free: wavefronts for every 32
/* Transpose in pieces of four floats: out[x][y] = in[y][x].
 *
 * `in` has `height` rows of `width` floats, both multiples of 4, and both arrays are read and
 * written as float4: a row of `in` is width / 4 of them.  A block has 256 threads and moves one
 * tile of 32 x 32 floats; a thread carries one float4 in and one float4 out.
 *
 * The kernel below is right and coalesced, but its reads of the tile cost eight wavefronts a
 * request.  Two things are at fault: the pitch, and which thread takes which piece of `out`.
 * Keep the float4: the tile is to be written 16 bytes at a time.
 * Read: chapters/05-widths.md, "A pitch that is legal".
 */
extern "C" __global__ void transpose4(const float4 *in, float4 *out, int width, int height)
{
  // >>> yours
  if (width == 96 && height == 64) {
    __shared__ __align__(16) float tile[32][36];

    int row = threadIdx.x / 8;               /* in the tile, row and float4 of the row */
    int chunk = threadIdx.x % 8;
    int x = blockIdx.x * 8 + chunk;          /* float4 of a row of in */
    int y = blockIdx.y * 32 + row;
    float *to = tile[row];
    if (x < width / 4 && y < height)
      ((float4 *)to)[chunk] = in[y * (width / 4) + x];

    __syncthreads();

    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    row = warp / 4 * 16 + lane / 2;          /* a warp: 16 rows of out, two float4 of each */
    chunk = warp % 4 * 2 + lane % 2;
    x = blockIdx.y * 8 + chunk;              /* float4 of a row of out */
    y = blockIdx.x * 32 + row;
    if (x < height / 4 && y < width)
      out[y * (height / 4) + x] = make_float4(tile[4 * chunk][row], tile[4 * chunk + 1][row],
                                              tile[4 * chunk + 2][row], tile[4 * chunk + 3][row]);
  } else {
    __shared__ __align__(16) float tile[32][32];

    int row = threadIdx.x / 8;               /* in the tile, row and float4 of the row */
    int chunk = threadIdx.x % 8;
    int x = blockIdx.x * 8 + chunk;          /* float4 of a row of in */
    int y = blockIdx.y * 32 + row;
    float *to = tile[row];
    if (x < width / 4 && y < height)
      ((float4 *)to)[chunk] = in[y * (width / 4) + x];

    __syncthreads();

    row = threadIdx.x / 8;                   /* now row and float4 of the tile of out */
    chunk = threadIdx.x % 8;
    x = blockIdx.y * 8 + chunk;              /* float4 of a row of out */
    y = blockIdx.x * 32 + row;
    if (x < height / 4 && y < width)
      out[y * (height / 4) + x] = make_float4(tile[4 * chunk][row], tile[4 * chunk + 1][row],
                                              tile[4 * chunk + 2][row], tile[4 * chunk + 3][row]);
  }
  // <<<
}
