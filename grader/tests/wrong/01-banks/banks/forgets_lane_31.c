// expect: words in a bank: distinct_words
// expect: passes: passes(address)
/* Chapter 01: from an address to a bank.
 *
 * Fill in the four functions, in order: each one may use those above it.  Change only what lies
 * between the marks.  After every edit:
 *
 *     make check EX=01-banks/banks
 *
 * Units: an address counts BYTES from the start of shared memory.  A word is 4 bytes.
 * exercise.h comes from the grader; it declares the functions and brings bool and uint32_t.
 */
#include "exercise.h"

/* The word that holds the byte at `address`.
 *   address   bytes
 *   returns   index of a word: word 0 is bytes 0 to 3, word 1 is bytes 4 to 7, ...
 * Example: word_of(8) is 2, and so is word_of(11). */
uint32_t word_of(uint32_t address)
{
  // >>> yours
  return address / 4;
  // <<<
}

/* The bank that holds the byte at `address`.
 *   address   bytes
 *   returns   a bank, 0 to 31
 * Example: bank_of(8) is 2, and so is bank_of(136). */
uint32_t bank_of(uint32_t address)
{
  // >>> yours
  return word_of(address) % 32;
  // <<<
}

/* How many different words of one bank a warp asks for.
 *   address   bytes, one address a lane; every lane reads 4 bytes
 *   bank      0 to 31
 *   returns   the number of different words among those of the 32 lanes that lie in `bank`
 * Example: lanes 0 and 1 at byte 0, lane 2 at byte 128, all others at byte 4:
 *          bank 0 is asked for 2 words (0 and 32), bank 1 for 1, bank 2 for none. */
uint32_t distinct_words(const uint32_t address[32], uint32_t bank)
{
  // >>> yours
  uint32_t words[32], count = 0;
  for (int lane = 0; lane < 31; lane++) {
    if (bank_of(address[lane]) != bank) continue;
    bool seen = false;
    for (uint32_t i = 0; i < count; i++)
      if (words[i] == word_of(address[lane])) seen = true;
    if (!seen) words[count++] = word_of(address[lane]);
  }
  return count;
  // <<<
}

/* The passes a warp needs: the number of different words in its fullest bank.
 *   address   bytes, one address a lane; every lane reads 4 bytes
 *   returns   1 to 32
 * Example: the lanes of the example above: bank 0 is asked for 2 words, so 2. */
uint32_t passes(const uint32_t address[32])
{
  // >>> yours
  uint32_t most = 0;
  for (uint32_t bank = 0; bank < 32; bank++)
    if (distinct_words(address, bank) > most) most = distinct_words(address, bank);
  return most;
  // <<<
}
