/* XOR swizzles: a bijection on indices that takes some higher bits (the row) and XORs them into
 * lower ones (the place within the row). */
#include "model.h"

uint64_t model_swizzle(uint64_t index, unsigned b, unsigned m, int s)
{
  /* CuTe's Swizzle reads its source bits above the target for S > 0 and below it for S < 0. */
  unsigned distance = s < 0 ? 0u - (unsigned)s : (unsigned)s;
  if (m >= 64 || distance >= 64 || m + distance >= 64) return index;   /* no such bits */
  uint64_t bits = b >= 64 ? UINT64_MAX : (UINT64_C(1) << b) - 1;
  if (s >= 0) return index ^ ((index & (bits << m << distance)) >> distance);
  return index ^ ((index & (bits << m)) << distance);
}

uint64_t model_tma_swizzle(uint64_t offset, enum model_tma mode)
{
  /* The unit is a chunk of 16 bytes (bits 4 and up); a row of the pattern is 128 bytes, so its
   * number starts at bit 7.  A narrower mode mixes in fewer bits of it. */
  static const unsigned row_bits[] = {
    [MODEL_TMA_NONE] = 0, [MODEL_TMA_32B] = 1, [MODEL_TMA_64B] = 2, [MODEL_TMA_128B] = 3,
  };
  return model_swizzle(offset, row_bits[mode], 4, 3);
}
