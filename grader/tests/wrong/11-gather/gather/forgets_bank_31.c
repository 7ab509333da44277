// expect: cost of a gather: cost(
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
  int words[32] = {0}, most = 0;             /* distinct words in each bank */
  for (int t = 0; t < 32; t++) {
    int seen = 0;                            /* an earlier lane has this word already */
    for (int u = 0; u < t; u++) seen |= index[u] == index[t];
    int bank = index[t] * pitch % 32;
    if (bank < 31 && !seen && ++words[bank] > most) most = words[bank];
  }
  return most;
  // <<<
}

/* The expected number of different rows when 32 lanes draw one of `rows` rows each, all equally
 * likely.  With a pitch of 32 that is also the expected number of wavefronts. */
double different(int rows)
{
  // >>> yours
  double missed = 1;                         /* chance that nobody draws a given row */
  for (int t = 0; t < 32; t++) missed *= 1 - 1.0 / rows;
  return rows * (1 - missed);
  // <<<
}

/* The expected wavefronts for any pitch, to within 2%: try many random sets of indices, and take
 * the average of cost().  random_below(n) gives a random number from 0 to n - 1. */
double expected(int rows, int pitch)
{
  // >>> yours
  enum { TRIES = 20000 };
  long sum = 0;
  for (int i = 0; i < TRIES; i++) {
    int index[32];
    for (int t = 0; t < 32; t++) index[t] = random_below(rows);
    sum += cost(index, pitch);
  }
  return (double)sum / TRIES;
  // <<<
}
