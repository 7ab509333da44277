/* Words, banks, strides and pitches. */
#include "model.h"

#include <string.h>

uint32_t model_word_of(uint64_t addr)
{
  return (uint32_t)(addr / MODEL_WORD);
}

uint32_t model_bank_of(uint64_t addr)
{
  return (uint32_t)(addr / MODEL_WORD % MODEL_BANKS);
}

uint32_t model_gcd(uint32_t a, uint32_t b)
{
  while (b) {
    uint32_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

uint32_t model_stride_degree(uint32_t stride_words)
{
  /* 32 / g banks are visited, each by g lanes; for s = 0 all lanes share one word. */
  return stride_words == 0 ? 1 : model_gcd(stride_words, MODEL_BANKS);
}

bool model_stride_find(const struct access *a, int64_t *stride_bytes)
{
  uint32_t mask = model_lanes(a);
  if ((mask & (mask - 1)) == 0) return false;   /* fewer than two lanes */
  unsigned first = (unsigned)__builtin_ctz(mask);
  unsigned next = (unsigned)__builtin_ctz(mask & (mask - 1));
  int64_t distance = (int64_t)(a->addr[next] - a->addr[first]);
  if (distance % (int64_t)(next - first)) return false;
  int64_t stride = distance / (int64_t)(next - first);
  for (uint32_t left = mask; left; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    if (a->addr[lane] != a->addr[first] + (uint64_t)stride * (lane - first)) return false;
  }
  *stride_bytes = stride;
  return true;
}

void model_bank_lanes(const struct access *a, uint32_t lanes[MODEL_BANKS])
{
  memset(lanes, 0, MODEL_BANKS * sizeof *lanes);
  for (uint32_t left = model_lanes(a); left; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint64_t addr = a->addr[lane];
    unsigned words = (unsigned)(addr % MODEL_WORD + (a->width ? a->width : 1) - 1) / MODEL_WORD;
    for (unsigned w = 0; w <= words && w < MODEL_BANKS; w++)
      lanes[(model_bank_of(addr) + w) % MODEL_BANKS] |= 1u << lane;
  }
}

uint32_t model_pitch(uint32_t row_bytes, uint32_t width, uint32_t rows)
{
  struct access a = {.op = MODEL_LOAD, .width = width};
  if (width == 0 || width > 16) return row_bytes;
  uint64_t pitch = ((uint64_t)(row_bytes > width ? row_bytes : width) + width - 1) / width * width;
  if (rows > MODEL_LANES) rows = MODEL_LANES;   /* one warp reads at most 32 rows at a time */
  a.mask = rows == MODEL_LANES ? UINT32_MAX : (1u << rows) - 1;
  for (;; pitch += width) {   /* ends: an odd number of 4-, 8- or 16-byte units is conflict-free */
    for (unsigned t = 0; t < MODEL_LANES; t++) a.addr[t] = t * pitch;
    struct model_cost c = model_cost(&a);
    if (c.wavefronts == c.ideal) return (uint32_t)pitch;
  }
}

uint32_t model_resident_blocks(uint32_t block_bytes, uint32_t sm_bytes, uint32_t reserved)
{
  uint64_t each = (uint64_t)block_bytes + reserved;
  return each ? (uint32_t)(sm_bytes / each) : UINT32_MAX;   /* shared memory sets no limit */
}
