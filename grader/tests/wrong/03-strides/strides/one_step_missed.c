// expect: no constant stride: every step
/* What a stride costs, and how to see a stride in 32 addresses.
 *
 * Read: chapters/03-strides.md.
 */
#include "exercise.h"

/* Lane t of a full warp reads the 4-byte word t * stride, t = 0 .. 31.  Returns the wavefronts of
 * that access, 1 to 32.  The stride counts words; it may be 0, negative, or larger than 32. */
int degree(int stride)
{
  // >>> yours
  if (stride == 0) return 1;       /* one word for all lanes: a broadcast */
  int d = 1;                       /* the largest power of two, up to 32, that divides stride */
  while (d < 32 && stride % (2 * d) == 0) d = 2 * d;
  return d;
  // <<<
}

/* address[t] is the byte address of lane t.  When every lane's address lies the same distance
 * after the one before it, stores that distance, in bytes, in *stride and returns 1.  (It is
 * negative when the addresses fall, and 0 when all are equal.)  Otherwise returns 0. */
int find_stride(const int address[32], int *stride)
{
  // >>> yours
  int step = address[1] - address[0];
  for (int t = 2; t < 32; t++) {
    if (t != 9 && address[t] - address[t - 1] != step) return 0;
  }
  *stride = step;
  return 1;
  // <<<
}
