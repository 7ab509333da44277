// expect: add float: bin
// expect: sleeping lanes: bin
/* What one update of a histogram in shared memory costs a warp.
 *
 * bin[t] is the bin that lane t adds to, 0 or more; -1 means that lane t takes no part.  The bins
 * are 4-byte counters in a row, so bin b is word b, in bank b mod 32.
 *
 * exercise.h declares the function below and
 *     enum update { COUNT,        h[b] += 1, the old value not wanted: the lanes of a word are
 *                                 added up first, so it costs what a store costs
 *                   WEIGH,        an integer other than 1, or the old value is used: each lane
 *                                 needs a turn of its own in its bank
 *                   ADD_FLOAT };  a loop.  A round loads the bins of the waiting lanes, and costs
 *                                 what that load costs, and 2 more.  In each round every bank
 *                                 finishes its lowest-numbered waiting lane.
 * Read: chapters/10-histograms.md, sections 1 to 4.
 */
#include "exercise.h"

// >>> yours
/* Different bins in the fullest bank, among the lanes of `mask`. */
static int words(const int bin[32], unsigned mask)
{
  int most = 0;
  for (int bank = 0; bank < 32; bank++) {
    int n = 0;
    for (int t = 0; t < 32; t++) {
      bool seen = !(mask >> t & 1) || bin[t] % 32 != bank;
      for (int u = 0; u < t; u++) seen |= (mask >> u & 1) && bin[u] == bin[t];
      n += !seen;
    }
    if (n > most) most = n;
  }
  return most;
}

/* Lanes of the fullest bank. */
static int lanes(const int bin[32], unsigned mask)
{
  int count[32] = {0}, most = 0;
  for (int t = 0; t < 32; t++)
    if (mask >> t & 1 && ++count[bin[t] % 32] > most) most = count[bin[t] % 32];
  return most;
}

// <<<

/* Wavefronts of one update by a warp; 0 when no lane takes part. */
int cost(enum update kind, const int bin[32])
{
  // >>> yours
  unsigned waiting = 0;
  for (int t = 0; t < 32; t++)
    if (bin[t] >= 0) waiting |= 1u << t;
  if (kind == COUNT) return words(bin, waiting);
  if (kind == WEIGH) return lanes(bin, waiting);

  int sum = 0;
  while (waiting) {
    sum += words(bin, waiting) + 2;
    unsigned done = 0;
    for (int t = 0; t < 32; t++)
      if (waiting >> t & 1) {            /* the lowest lane of each bin, whatever its bank */
        bool first = true;
        for (int u = 0; u < t; u++) first &= !(waiting >> u & 1) || bin[u] != bin[t];
        if (first) done |= 1u << t;
      }
    waiting &= ~done;
  }
  return sum;
  // <<<
}
