/* Chapter 02: the wavefronts of one warp access to shared memory.
 *
 * Write wavefronts().  Change only what lies between the marks; helpers of your own go into the
 * first pair.  The tests follow the sections of the chapter, so points come one rule at a time:
 *
 *     make check EX=02-wavefronts/wavefronts
 *
 * Units: addresses and widths are BYTES.  A word is 4 bytes; bank = word mod 32.
 * exercise.h comes from the grader; it declares
 *     enum kind { LOAD, STORE };
 * and the function below, and brings bool and uint32_t.
 */
#include "exercise.h"

// >>> yours
// <<<

/* The passes over the banks that one access of a warp costs.
 *   kind      LOAD or STORE
 *   width     bytes a lane moves: 1, 2, 4, 8 or 16
 *   mask      bit t is set when lane t takes part; 0xffffffff: all of them
 *   address   bytes, one address a lane, each a multiple of width; that of a lane that takes no
 *             part means nothing
 *   returns   wavefronts; 0 when no lane takes part
 * Example: a LOAD of 4 bytes, mask 0xffffffff, lane t at byte 8*t: words 0, 2, 4 ... 62.  Words 0
 *          and 32 share bank 0, words 2 and 34 share bank 2, and so on: 2. */
uint32_t wavefronts(enum kind kind, uint32_t width, uint32_t mask, const uint32_t address[32])
{
  // >>> yours
  (void)kind;
  (void)width;
  (void)mask;
  (void)address;
  return 0;
  // <<<
}
