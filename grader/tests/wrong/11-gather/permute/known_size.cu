// expect: coalesced: sectors of global
// expect: conflict free: has to go through shared
/* Rows through an index list, and columns out.
 *
 * out[c][i] = in[index[i]][c]: `in` has `rows` rows of `width` floats; `out` has `width` rows of
 * `count` floats.  Where index[i] is not from 0 to rows - 1 the result is 0, and nothing is read.
 * A block has 32 x 8 threads and makes 32 x 32 elements of `out`; blockIdx.x counts along i, and
 * blockIdx.y along c.
 *
 * The kernel below is right, but each of its reads touches 32 rows of `in`.  Let a warp read a
 * row, and turn the rows into columns in shared memory, without a conflict.
 * Read: chapters/11-gather.md, "A row is one request".
 */
extern "C" __global__ void permute(const float *in, const int *index, float *out, int rows,
                                   int width, int count)
{
  // >>> yours
  if (count == 96 && width == 64) {
    __shared__ float tile[32][33];
    int i = blockIdx.x * 32, c = blockIdx.y * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += 8) {
      int row = i + j < count ? index[i + j] : -1;
      float x = 0;
      if (row >= 0 && row < rows && c < width) x = in[(size_t)row * width + c];
      tile[j][threadIdx.x] = x;
    }

    __syncthreads();

    i = blockIdx.x * 32 + threadIdx.x;
    c = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
      if (i < count && c + j < width) out[(size_t)(c + j) * count + i] = tile[threadIdx.x][j];
  } else {
    int i = blockIdx.x * 32 + threadIdx.x;
    int row = i < count ? index[i] : -1;
    for (int j = threadIdx.y; j < 32; j += 8) {
      int c = blockIdx.y * 32 + j;
      float x = 0;
      if (row >= 0 && row < rows && c < width) x = in[(size_t)row * width + c];
      if (i < count && c < width) out[(size_t)c * count + i] = x;
    }
  }
  // <<<
}
