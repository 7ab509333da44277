/* What a cure will bring, before you write it.
 *
 *     struct gpu { double gbs; int sms; double ghz; };
 *     struct kernel { double bytes, wavefronts, ideal; };
 *
 * A card copies `gbs` GB (of 10^9 bytes) a second, counting bytes read and bytes written; it has
 * `sms` multiprocessors at `ghz` GHz, and each serves one wavefront a cycle.  A kernel moves
 * `bytes` bytes of global memory and takes `wavefronts` wavefronts; without conflicts it would
 * take `ideal`.
 * Read: chapters/13-measuring.md, "The larger of two times".
 */
#include "exercise.h"

/* Milliseconds: the larger of the time for the bytes and the time for the wavefronts. */
double milliseconds(struct gpu gpu, struct kernel kernel)
{
  // >>> yours
  return gpu.gbs + kernel.bytes;  /* not yet */
  // <<<
}

/* How many times faster the kernel gets when all its conflicts are gone. */
double speedup(struct gpu gpu, struct kernel kernel)
{
  // >>> yours
  return milliseconds(gpu, kernel);  /* not yet */
  // <<<
}

/* Of three kernels the one whose cure brings most: 0, 1 or 2 (of equals the first).  -1 when none
 * gets at least 1.05 times as fast: then no cure is worth the work. */
int which(struct gpu gpu, const struct kernel kernel[3])
{
  // >>> yours
  return gpu.sms && kernel ? 3 : 0;  /* not yet */
  // <<<
}
