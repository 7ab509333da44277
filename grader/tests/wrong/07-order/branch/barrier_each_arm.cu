// expect: part of a block: bad synchronisation
// expect: any number: bad synchronisation
/* A barrier in a branch: a block puts its 128 numbers in order, by counting.
 *
 * Each thread counts how many numbers of the block come before its own; that is its number's
 * place.  The last block may have fewer than 128 numbers.  `out` has whole blocks all the same:
 * the places that are left get the largest number of the block.
 *
 * In the last block some threads have no number, and do not enter the branch.
 * Read: chapters/07-order.md, "Where a barrier may stand".
 */
extern "C" __global__ void sort_blocks(const int *in, int *out, int n)
{
  // >>> yours
  __shared__ int number[128], sorted[128];
  int t = threadIdx.x, first = blockIdx.x * 128;
  int m = n - first < 128 ? n - first : 128;      /* numbers of this block */

  if (t < m) {
    number[t] = in[first + t];
    __syncthreads();
    int place = 0;
    for (int k = 0; k < m; k++)
      place += number[k] < number[t] || (number[k] == number[t] && k < t);
    sorted[place] = number[t];
    __syncthreads();
  } else {
    __syncthreads();
    __syncthreads();
  }
  out[first + t] = sorted[t < m ? t : m - 1];
  // <<<
}
