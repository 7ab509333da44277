/* A matrix product with the matrix units: c = a * b^T, halfs in, floats out.
 *
 * a is m x k, b is n x k, both with rows of k halfs, k a multiple of 8; c is m x n.  A block of
 * 128 threads makes a tile of 64 x 64 of c, and its four warps 16 rows of it each.  In steps of
 * 64 along k, a tile of each operand is copied to shared memory: 64 rows of 8 chunks of 16
 * bytes; what lies outside is zero.
 *
 * Write the place of a chunk, and the product of two tiles.
 * Read: chapters/12-tiles.md, "Sixteen by eight by sixteen".
 */
#include <cuda_fp16.h>

/* Lanes 0-7 give the addresses of the 8 rows of matrix 0, lanes 8-15 of matrix 1, and so on. */
__device__ void ldmatrix_x4(unsigned r[4], const uint4 *row)
{
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

/* acc += a * b^T: a is 16 x 16 (four matrices: upper left, lower left, upper right, lower right),
 * b is 8 x 16 (left, right), acc is 16 x 8. */
__device__ void mma(float acc[4], const unsigned a[4], unsigned left, unsigned right)
{
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(left), "r"(right));
}

/* The place of chunk 0..7 of row 0..63 in a tile: an index of uint4. */
__device__ int place(int row, int chunk)
{
  // >>> yours
  return row * 8 + chunk;
  // <<<
}

/* Copies 64 rows from row `first` on, halfs k0 .. k0 + 63 of each. */
__device__ void fill(uint4 *tile, const half *from, int rows, int k, int first, int k0)
{
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    int row = first + i / 8, col = k0 + i % 8 * 8;
    uint4 v = make_uint4(0, 0, 0, 0);
    if (row < rows && col < k) v = *(const uint4 *)&from[(size_t)row * k + col];
    tile[place(i / 8, i % 8)] = v;
  }
}

extern "C" __global__ void matmul(const half *a, const half *b, float *c, int m, int n, int k)
{
  __shared__ uint4 tile_a[64 * 8], tile_b[64 * 8];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float acc[8][4] = {};              /* acc[j]: rows of this warp, columns 8 j to 8 j + 7 */

  for (int k0 = 0; k0 < k; k0 += 64) {
    fill(tile_a, a, m, k, row0, k0);
    fill(tile_b, b, n, k, col0, k0);
    __syncthreads();
    for (int step = 0; step < 4; step++) {        /* 16 halfs of k: chunks 2 step, 2 step + 1 */
      // >>> yours
      acc[0][0] += step + lane + warp;  /* not yet */
      // <<<
    }
    __syncthreads();
  }

  for (int j = 0; j < 8; j++)                     /* lane t holds row t / 4, columns 2 (t mod 4) */
    for (int i = 0; i < 4; i++) {                 /* and + 1, then the same eight rows below */
      int row = row0 + warp * 16 + lane / 4 + i / 2 * 8;
      int col = col0 + j * 8 + lane % 4 * 2 + i % 2;
      if (row < m && col < n) c[(size_t)row * n + col] = acc[j][i];
    }
}
