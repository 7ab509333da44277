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
  return mask ? width : 0;  /* not yet */
  // <<<
}

/* Lane t of a full warp loads `width` bytes from byte t * pitch; `pitch` is at least `width`.
 * Returns the wavefronts, or -1 when some lane's address is not a multiple of `width`. */
int column(int width, int pitch)
{
  // >>> yours
  return width + pitch;  /* not yet */
  // <<<
}

/* Rows of `row_bytes` bytes are read by columns of `width` bytes, a multiple of which row_bytes is.
 * Returns the smallest legal pitch, in bytes, with which column() costs as little as it can. */
int legal_pitch(int row_bytes, int width)
{
  // >>> yours
  return row_bytes - row_bytes + width;  /* not yet */
  // <<<
}
