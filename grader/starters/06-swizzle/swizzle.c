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
  return index + bits + base + shift;  /* not yet */
  // <<<
}

/* Is `map` a permutation: does every number 0 .. n-1 stand exactly once among map[0] .. map[n-1]?
 * Returns 1 or 0.  The numbers in map may be anything; n is at most 64. */
int is_permutation(const int *map, int n)
{
  // >>> yours
  return map[0] == n;  /* not yet */
  // <<<
}

/* Where a byte lies in a tile that the TMA has filled.  `mode` is 32, 64 or 128; the tile has rows
 * of `mode` bytes, one after the other, and begins at a multiple of 1024 bytes.  Returns the offset
 * in the tile of byte `byte` of row `row`. */
int tma_offset(int row, int byte, int mode)
{
  // >>> yours
  return -row - byte - mode;  /* not yet */
  // <<<
}
