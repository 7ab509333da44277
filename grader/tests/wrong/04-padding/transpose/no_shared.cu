// expect: coalesced: writes of global memory are not coalesced
// expect: conflict free: has to go through shared memory
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
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    if (x < width && y + j < height) out[x * height + y + j] = in[(y + j) * width + x];
  }
  // <<<
}
