/* Two barriers are missing: numbers in reverse order, tile by tile.
 *
 * A tile has 256 numbers, the last one of `in` perhaps fewer.  A block has 256 threads and takes
 * every gridDim.x-th tile.  Thread t of a tile of m numbers writes number m - 1 - t to place t.
 *
 * No access below has a conflict.  The result is wrong all the same, or right by luck.
 * Read: chapters/07-order.md, "Before and after".
 */
extern "C" __global__ void reverse_tiles(const int *in, int *out, int n)
{
  // >>> yours
  __shared__ int tile[256];
  int t = threadIdx.x;

  for (int first = blockIdx.x * 256; first < n; first += gridDim.x * 256) {
    int m = n - first < 256 ? n - first : 256;
    if (t < m) tile[t] = in[first + t];
    if (t < m) out[first + t] = tile[m - 1 - t];
  }
  // <<<
}
