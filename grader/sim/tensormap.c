/* Making a tensor map: the rules of cuTensorMapEncodeTiled. */
#include "tensormap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint8_t element_bytes[SIM_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};

static bool wrong(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool wrong(char *why, size_t size, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(why, size, format, args);
  va_end(args);
  return false;
}

bool sim_tensor_map(struct sim_tensor *map, enum sim_tensor_type type, unsigned rank,
                    uint64_t address, const uint64_t *dims, const uint64_t *strides,
                    const uint32_t *box, enum model_tma swizzle, bool nan_fill, char *why,
                    size_t size)
{
  static const unsigned spans[] = {0, 32, 64, 128};
  memset(map, 0, sizeof *map);
  if ((unsigned)type >= SIM_TENSOR_TYPES) return wrong(why, size, "an unknown element type");
  if (!rank || rank > SIM_TENSOR_RANK) return wrong(why, size, "a tensor has 1 to 5 dimensions");
  if ((unsigned)swizzle > MODEL_TMA_128B) return wrong(why, size, "an unknown swizzle");
  if (nan_fill && type != SIM_TENSOR_BF16 && (type < SIM_TENSOR_F16 || type > SIM_TENSOR_F64))
    return wrong(why, size, "only floats can be filled with NaN");
  if (address % 16) return wrong(why, size, "the tensor's address must be a multiple of 16");
  uint32_t element = element_bytes[type];
  uint64_t stride = element;
  for (unsigned k = 0; k < rank; k++) {
    if (!dims[k] || dims[k] > UINT64_C(1) << 32)
      return wrong(why, size, "dimension %u must be 1 to 2^32", k);
    if (!box[k] || box[k] > 256) return wrong(why, size, "the box must have 1 to 256 elements in "
                                                         "dimension %u, not %u", k, box[k]);
    if (k) {
      stride = strides ? strides[k - 1] : stride * dims[k - 1];
      if (stride % 16 || stride >= UINT64_C(1) << 40)
        return wrong(why, size, "a stride of %llu bytes (dimension %u): it must be a multiple of 16 "
                     "below 2^40", (unsigned long long)stride, k);
      map->strides[k - 1] = stride;
    }
    map->dims[k] = dims[k];
    map->box[k] = (uint16_t)box[k];
  }
  uint32_t inner = box[0] * element;
  if (inner % 16)
    return wrong(why, size, "a row of the box has %u bytes: they must be a multiple of 16", inner);
  if (swizzle && inner > spans[swizzle])
    return wrong(why, size, "a row of the box has %u bytes; with the swizzle of %u bytes it has at "
                 "most %u", inner, spans[swizzle], spans[swizzle]);
  map->magic = SIM_TENSOR_MAGIC;
  map->rank = (uint8_t)rank;
  map->type = (uint8_t)type;
  map->element = (uint8_t)element;
  map->address = address;
  map->swizzle = (uint8_t)swizzle;
  map->fill = nan_fill;
  return true;
}

uint32_t sim_tensor_box_bytes(const struct sim_tensor *map)
{
  uint64_t n = map->element;
  for (unsigned k = 0; k < map->rank; k++) n *= map->box[k];
  return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}
