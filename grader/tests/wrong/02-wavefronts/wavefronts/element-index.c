// expect: 1 and 2 bytes: take the bank from the element
// expect: 8 bytes: take the bank from the element's index
// expect: 16 bytes: take the bank from the element's index
// expect: stores never merge: take the bank from the element's index
// expect: pair merge: take the bank from the element's index
// expect: recorded hardware rows: take the bank from the element's index
#include "exercise.h"

// >>> yours
static uint32_t fullest_bank(uint32_t width, uint32_t mask, const uint32_t address[32],
                             uint32_t first, uint32_t lanes)
{
  uint32_t seen[32 * 4], nseen = 0, in_bank[32] = {0}, most = 0;
  uint32_t words = width ? 1 : 0;         for (uint32_t lane = first; lane < first + lanes; lane++) {
    if (!(mask >> lane & 1)) continue;
    for (uint32_t k = 0; k < words; k++) {
      uint32_t word = address[lane] / width + k;
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

uint32_t wavefronts(enum kind kind, uint32_t width, uint32_t mask, const uint32_t address[32])
{
  // >>> yours
  uint32_t lanes = width <= 4 ? 32 : 128 / width;     if (kind == LOAD && width > 4 &&
      (partners_agree(mask, address, 1) || partners_agree(mask, address, 2)))
    lanes *= 2;
  uint32_t sum = 0;
  for (uint32_t first = 0; first < 32; first += lanes)
    sum += fullest_bank(width, mask, address, first, lanes);
  return sum;
  // <<<
}
