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
  double memory = kernel.bytes / (gpu.gbs * 1e6);
  double shared = kernel.wavefronts / (gpu.sms * gpu.ghz * 1e6);
  return memory > shared ? memory : shared;
  // <<<
}

/* How many times faster the kernel gets when all its conflicts are gone. */
double speedup(struct gpu gpu, struct kernel kernel)
{
  // >>> yours
  struct kernel cured = kernel;
  cured.wavefronts = kernel.ideal;
  return milliseconds(gpu, kernel) / milliseconds(gpu, cured);
  // <<<
}

/* Of three kernels the one whose cure brings most: 0, 1 or 2 (of equals the first).  -1 when none
 * gets at least 1.05 times as fast: then no cure is worth the work. */
int which(struct gpu gpu, const struct kernel kernel[3])
{
  // >>> yours
  int best = -1;
  double most = 1.05;
  for (int i = 0; i < 3; i++) {
    double gain = speedup(gpu, kernel[i]);
    if (gain > most || (best < 0 && gain == most)) {
      most = gain;
      best = i;
    }
  }
  return best;
  // <<<
}
