/* What a gather from a table in shared memory costs.
 *
 * The table has rows of 4-byte words, `pitch` words apart.  Lane t has an index of its own, and
 * all 32 lanes read the same column: lane t reads word index[t] * pitch + column.
 * Read: chapters/11-gather.md.
 */
#include "exercise.h"

/* Wavefronts of one such load.  (The column does not matter, so it is no parameter.) */
int cost(const int index[32], int pitch)
{
  // >>> yours
  return index[0] > pitch;  /* not yet */
  // <<<
}

/* The expected number of different rows when 32 lanes draw one of `rows` rows each, all equally
 * likely.  With a pitch of 32 that is also the expected number of wavefronts. */
double different(int rows)
{
  // >>> yours
  return rows;  /* not yet */
  // <<<
}

/* The expected wavefronts for any pitch, to within 2%: try many random sets of indices, and take
 * the average of cost().  random_below(n) gives a random number from 0 to n - 1. */
double expected(int rows, int pitch)
{
  // >>> yours
  return random_below(rows) + pitch;  /* not yet */
  // <<<
}
