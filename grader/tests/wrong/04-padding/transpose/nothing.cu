// expect: square: 4096 of them were never written
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
  (void)in, (void)out, (void)width, (void)height;
  // <<<
}
