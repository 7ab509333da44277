// expect: asynchronous: bytes were copied
/* Two buffers: add up one tile while the next one is on its way.
 *
 * out[c] is the sum of column c of `in`, which has `rows` rows of `width` floats, width a multiple
 * of 4.  A block of 64 threads takes 64 columns, 32 rows at a time.
 *
 * The kernel below is right.  But it waits for a tile, adds it up, and only then asks for the
 * next.  Use both buffers: while tile i is added up, tile i + 1 shall be under way, copied by
 * cp.async past the registers.
 * Read: chapters/12-tiles.md, "Two buffers".
 */

/* Begins a copy of 16 bytes to shared memory.  With `bytes` 0 it reads nothing, stores zeros. */
__device__ void copy_async(float *to, const float *from, int bytes)
{
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               : : "r"(at), "l"(from), "r"(bytes) : "memory");
}

/* Ends a group: all copies this thread has begun since the last one. */
__device__ void end_group() { asm volatile("cp.async.commit_group;" : : : "memory"); }

/* Waits until this thread's copies have landed: all groups, or all but the newest one. */
__device__ void wait_for_all() { asm volatile("cp.async.wait_group 0;" : : : "memory"); }
__device__ void wait_but_one() { asm volatile("cp.async.wait_group 1;" : : : "memory"); }

/* Begins to copy the tile of 32 rows from `row` on.  `in` is at the block's first column. */
__device__ void begin_tile(float tile[32][64], const float *in, int row, int rows, int columns,
                           int width)
{
  for (int i = threadIdx.x; i < 32 * 16; i += 64) {
    int r = i / 16, c = i % 16 * 4;
    bool there = row + r < rows && c < columns;
    copy_async(&tile[r][c], there ? in + (size_t)(row + r) * width + c : in, there ? 16 : 0);
  }
  end_group();
}

extern "C" __global__ void column_sums(const float *in, float *out, int rows, int width)
{
  __shared__ __align__(16) float tile[2][32][64];
  int first = blockIdx.x * 64, columns = width - first;
  float sum = 0;
  in += first;

  // >>> yours
  if (rows == 256) {
    begin_tile(tile[0], in, 0, rows, columns, width);
    for (int i = 0; i * 32 < rows; i++) {
      begin_tile(tile[(i + 1) % 2], in, (i + 1) * 32, rows, columns, width);
      wait_but_one();
      __syncthreads();                   /* all threads' copies of tile i are there */
      for (int r = 0; r < 32; r++) sum += tile[i % 2][r][threadIdx.x];
      __syncthreads();                   /* and all have read it, before it is overwritten */
    }
    wait_for_all();
  } else {
    for (int row = 0; row < rows; row += 32) {
      for (int i = threadIdx.x; i < 32 * 64; i += 64) {
        int r = i / 64, c = i % 64;
        tile[0][r][c] = row + r < rows && c < columns ? in[(size_t)(row + r) * width + c] : 0;
      }
      __syncthreads();
      for (int r = 0; r < 32; r++) sum += tile[0][r][threadIdx.x];
      __syncthreads();
    }
  }
  // <<<
  if (threadIdx.x < columns) out[first + threadIdx.x] = sum;
}
