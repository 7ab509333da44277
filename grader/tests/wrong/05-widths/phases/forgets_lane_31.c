// expect: phases: phases(
/* Phases and totals of any width.
 *
 * Read: chapters/05-widths.md.
 */
#include "exercise.h"

/* How many phases serve one access of a warp?  A lane moves `width` bytes: 1, 2, 4, 8 or 16.  Bit t
 * of `mask` says that lane t takes part; a phase in which no lane does costs nothing.  No lanes read
 * equal addresses here, so phases are not joined. */
int phases(int width, unsigned mask)
{
  // >>> yours
  int lanes = width <= 4 ? 32 : 128 / width, count = 0;
  for (int first = 0; first < 32; first += lanes) {
    unsigned phase = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
    count += ((mask & 0x7fffffff) >> first & phase) != 0;
  }
  return count;
  // <<<
}

/* Lane t of a full warp loads `width` bytes from byte t * pitch; `pitch` is at least `width`.
 * Returns the wavefronts, or -1 when some lane's address is not a multiple of `width`. */
int column(int width, int pitch)
{
  // >>> yours
  if (pitch % width) return -1;
  int lanes = width <= 4 ? 32 : 128 / width, total = 0;
  for (int first = 0; first < 32; first += lanes) {
    int words[32] = {0}, most = 0, last = -1;
    for (int t = first; t < first + lanes; t++)
      for (int at = t * pitch; at < t * pitch + width; at += 4) {
        int word = at / 4;
        if (word == last) continue;        /* the words only grow, so equal ones are neighbours */
        last = word;
        if (++words[word % 32] > most) most = words[word % 32];
      }
    total += most;
  }
  return total;
  // <<<
}

/* Rows of `row_bytes` bytes are read by columns of `width` bytes, a multiple of which row_bytes is.
 * Returns the smallest legal pitch, in bytes, with which column() costs as little as it can. */
int legal_pitch(int row_bytes, int width)
{
  // >>> yours
  int best = width <= 4 ? 1 : width / 4;
  int pitch = row_bytes;
  while (column(width, pitch) != best) pitch += width;
  return pitch;
  // <<<
}
