/* The smallest swizzle for a tile.
 *
 * A tile has 32 rows of `row_bytes` bytes without a pad.  A warp reads a column of elements of `width`
 * bytes: lane t takes the one in row t.  Both are powers of two, width is 4, 8 or 16, and a row has
 * at least two elements.  Offsets are in bytes, so the base of the swizzle is log2(width): a whole
 * element moves.
 * Read: chapters/06-swizzle.md, "The smallest".
 */
#include "exercise.h"

/* The fewest bits with which Swizzle<bits, log2(width), shift> makes every column free. */
int swizzle_bits(int row_bytes, int width)
{
  // >>> yours
  return row_bytes - width;  /* not yet */
  // <<<
}

/* The shift that goes with it. */
int swizzle_shift(int row_bytes, int width)
{
  // >>> yours
  return row_bytes + width;  /* not yet */
  // <<<
}
