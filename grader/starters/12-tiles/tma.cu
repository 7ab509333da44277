/* A tile as the TMA leaves it, and a reader that knows.  (Optional.)
 *
 * The TMA can copy a tile of 32 rows of 32 floats, 128 bytes each, with its 128-byte swizzle.  The
 * tile then is dense, but the 16-byte chunks of a row are in another order.  `image` has `tiles`
 * such tiles, byte for byte as they lie in shared memory after the copy; making one needs the
 * host, so the grader does it.  A block is one warp.
 *
 * Lane t takes row t of the tile and multiplies it with x: y[32 * tile + t] is the sum of
 * row[c] * x[c].  The kernel below takes the chunks as if they were in order.
 * Read: chapters/12-tiles.md, "A tile from the TMA".
 */
extern "C" __global__ void rows_times(const float4 *image, const float *x, float *y)
{
  __shared__ __align__(1024) float4 tile[32 * 8];
  int t = threadIdx.x;
  for (int i = t; i < 32 * 8; i += 32) tile[i] = image[blockIdx.x * 256 + i];
  __syncwarp();

  float sum = 0;
  for (int chunk = 0; chunk < 8; chunk++) {
    // >>> yours
    float4 v = tile[t * 8 + chunk];
    // <<<
    sum += v.x * x[4 * chunk] + v.y * x[4 * chunk + 1] + v.z * x[4 * chunk + 2] +
           v.w * x[4 * chunk + 3];
  }
  y[blockIdx.x * 32 + t] = sum;
}
