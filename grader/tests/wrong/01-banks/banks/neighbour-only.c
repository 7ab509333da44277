// expect: shared words count once: look only at the lane before
// expect: passes: use a distinct_words that looks only at the lane before
#include "exercise.h"

uint32_t word_of(uint32_t address)
{
  // >>> yours
  return address / 4;
  // <<<
}

uint32_t bank_of(uint32_t address)
{
  // >>> yours
  return word_of(address) % 32;
  // <<<
}

uint32_t distinct_words(const uint32_t address[32], uint32_t bank)
{
  // >>> yours
  uint32_t words[32], count = 0;
  for (int lane = 0; lane < 32; lane++) {
    if (bank_of(address[lane]) != bank) continue;
    bool seen = false;
    for (uint32_t i = count ? count - 1 : 0; i < count; i++)
      if (words[i] == word_of(address[lane])) seen = true;
    if (!seen) words[count++] = word_of(address[lane]);
  }
  return count;
  // <<<
}

uint32_t passes(const uint32_t address[32])
{
  // >>> yours
  uint32_t most = 0;
  for (uint32_t bank = 0; bank < 32; bank++)
    if (distinct_words(address, bank) > most) most = distinct_words(address, bank);
  return most;
  // <<<
}
