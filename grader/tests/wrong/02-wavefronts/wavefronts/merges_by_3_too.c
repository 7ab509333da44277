// expect: pair merge: phases not joined
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
/* The most different words in one bank, over the active lanes first .. first + lanes - 1. */
static uint32_t fullest_bank(uint32_t width, uint32_t mask, const uint32_t address[32],
                             uint32_t first, uint32_t lanes)
{
  uint32_t seen[32 * 4], nseen = 0, in_bank[32] = {0}, most = 0;
  uint32_t words = width < 4 ? 1 : width / 4;       /* words a lane touches */
  for (uint32_t lane = first; lane < first + lanes; lane++) {
    if (!(mask >> lane & 1)) continue;
    for (uint32_t k = 0; k < words; k++) {
      uint32_t word = address[lane] / 4 + k;
      bool known = false;
      for (uint32_t i = 0; i < nseen; i++)
        if (seen[i] == word) known = true;
      if (known) continue;
      seen[nseen++] = word;
      if (++in_bank[word % 32] > most) most = in_bank[word % 32];
    }
  }
  return most;
}

/* Does every active lane's partner lane ^ distance sleep, or read the same address? */
static bool partners_agree(uint32_t mask, const uint32_t address[32], uint32_t distance)
{
  for (uint32_t lane = 0; lane < 32; lane++) {
    uint32_t partner = lane ^ distance;
    if ((mask >> lane & 1) && (mask >> partner & 1) && address[lane] != address[partner])
      return false;
  }
  return true;
}
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
  uint32_t lanes = width <= 4 ? 32 : 128 / width;   /* lanes served together: one phase */
  if (kind == LOAD && width > 4 &&
      (partners_agree(mask, address, 1) || partners_agree(mask, address, 2) ||
       partners_agree(mask, address, 3)))
    lanes *= 2;
  uint32_t sum = 0;
  for (uint32_t first = 0; first < 32; first += lanes)
    sum += fullest_bank(width, mask, address, first, lanes);
  return sum;
  // <<<
}
