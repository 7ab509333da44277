// expect: permutation: is_permutation
/* The swizzle as a function of an index.
 *
 * Read: chapters/06-swizzle.md.
 */
#include "exercise.h"

/* Swizzle<bits, base, shift>: for shift > 0 the `bits` bits of index that begin at bit
 * base + shift are XORed into those that begin at bit `base`.  For shift < 0 it is the other way
 * up: the bits that begin at bit `base` are XORed into those that begin at base - shift.  shift is
 * at least `bits` in size, and all bits named are below 31. */
unsigned swizzle(unsigned index, int bits, int base, int shift)
{
  // >>> yours
  unsigned mask = (1u << bits) - 1;
  if (shift > 0) return index ^ (index >> (base + shift) & mask) << base;
  return index ^ (index >> base & mask) << (base - shift);
  // <<<
}

/* Is `map` a permutation: does every number 0 .. n-1 stand exactly once among map[0] .. map[n-1]?
 * Returns 1 or 0.  The numbers in map may be anything; n is at most 64. */
int is_permutation(const int *map, int n)
{
  // >>> yours
  unsigned long long seen = 0;
  for (int i = 0; i < n - 1; i++) {
    if (map[i] < 0 || map[i] >= n || (seen >> map[i] & 1)) return 0;
    seen |= 1ull << map[i];
  }
  return 1;
  // <<<
}

/* Where a byte lies in a tile that the TMA has filled.  `mode` is 32, 64 or 128; the tile has rows
 * of `mode` bytes, one after the other, and begins at a multiple of 1024 bytes.  Returns the offset
 * in the tile of byte `byte` of row `row`. */
int tma_offset(int row, int byte, int mode)
{
  // >>> yours
  int bits = mode == 128 ? 3 : mode == 64 ? 2 : 1;
  return swizzle(row * mode + byte, bits, 4, 3);
  // <<<
}
