/* Operands for the matrix units: ldmatrix from rows of 128 bytes.
 *
 * `in` has `rows` rows of 64 halfs, 128 bytes each, seen here as 8 chunks of 16 bytes.  A block is
 * one warp and takes 32 rows; rows past the end count as zeros.  It copies them into shared
 * memory, chunk by chunk, and fetches the 8 blocks of 16 x 16 halfs with ldmatrix.  What lane t
 * gets of block b goes to out[block][b][t], 4 words of two halfs.
 *
 * The kernel below is right, but every ldmatrix costs 32 wavefronts.  Say where a chunk is kept,
 * so that it costs 4.  The tile must not grow.
 * Read: chapters/12-tiles.md, "Chunks that step aside".
 */

/* Lanes 0-7 give the addresses of the 8 rows of matrix 0, lanes 8-15 of matrix 1, and so on. */
__device__ void ldmatrix_x4(unsigned r[4], const uint4 *row)
{
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

/* The place of chunk 0..7 of a row in the tile: an index of uint4, 0 .. 255, each used once. */
__device__ int place(int row, int chunk)
{
  // >>> yours
  return row * 8 + chunk;
  // <<<
}

extern "C" __global__ void fragments(const uint4 *in, uint4 *out, int rows)
{
  __shared__ uint4 tile[32 * 8];
  int lane = threadIdx.x, first = blockIdx.x * 32;

  for (int i = lane; i < 32 * 8; i += 32) {
    int row = i / 8, chunk = i % 8;
    uint4 v = make_uint4(0, 0, 0, 0);
    if (first + row < rows) v = in[(first + row) * 8 + chunk];
    tile[place(row, chunk)] = v;
  }
  __syncwarp();

  for (int b = 0; b < 8; b++) {                   /* blocks: 2 down, 4 across */
    int row = b / 4 * 16 + lane % 16;             /* matrices 0 and 1: the left chunk, */
    int chunk = b % 4 * 2 + lane / 16;            /* 2 and 3: the right one */
    unsigned r[4];
    ldmatrix_x4(r, &tile[place(row, chunk)]);
    out[(blockIdx.x * 8 + b) * 32 + lane] = make_uint4(r[0], r[1], r[2], r[3]);
  }
}
