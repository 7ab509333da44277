/* A kernel that faults after somebody padded it: row sums of 64 ints.
 *
 * `in` has `rows` rows of 64 ints, read as int4: 16 of them a row.  A block has 64 threads and
 * copies 64 rows into shared memory; then thread t adds up row t, four numbers at a time.
 * `out` gets one sum a row.  Sums of ints wrap around.
 *
 * With a pitch of 64 ints the sums cost 32 wavefronts a request.  So the pitch was made 65, and
 * now the kernel faults.  Repair it, with the 16-byte reads kept and no conflict.
 * Read: chapters/05-widths.md, "Thirty-three faults".
 */
extern "C" __global__ void row_sums(const int4 *in, int *out, int rows)
{
  // >>> yours
  __shared__ __align__(16) int tile[64][65];
  int first = blockIdx.x * 64;             /* the block's first row */

  for (int i = threadIdx.x; i < 64 * 16; i += 64) {
    int *to = tile[i / 16];
    if (first + i / 16 < rows)
      ((int4 *)to)[i % 16] = in[first * 16 + i];
  }

  __syncthreads();

  const int *mine = tile[threadIdx.x];
  if (first + threadIdx.x < rows) {
    int sum = 0;
    for (int k = 0; k < 16; k++) {
      int4 v = ((const int4 *)mine)[k];
      sum += v.x + v.y + v.z + v.w;
    }
    out[first + threadIdx.x] = sum;
  }
  // <<<
}
