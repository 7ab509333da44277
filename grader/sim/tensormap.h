/* The 128 bytes of a tensor map, as the simulator lays them out.
 *
 * CUtensorMap is opaque: a program passes it on (`const __grid_constant__ CUtensorMap map`, or a
 * pointer to one) and never looks inside.  Here it is the struct below, made by sim_tensor_map with
 * the checks that cuTensorMapEncodeTiled makes.  Tile mode, no interleaving, element strides of 1.
 *
 *   byte   0  magic          8  address of element 0    16  dims[5], innermost first
 *          4  rank           56 strides[4] in bytes, of dimensions 1 to 4
 *          5  type           88 box[5], elements        98  swizzle (enum model_tma)
 *          6  bytes of an element                       99  fill: 0 zeros, 1 NaN */
#ifndef SIM_TENSORMAP_H
#define SIM_TENSORMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../model/model.h"

enum { SIM_TENSOR_RANK = 5, SIM_TENSOR_BYTES = 128, SIM_TENSOR_ALIGN = 64 };
#define SIM_TENSOR_MAGIC UINT32_C(0x324d5442)

/* In the order of CUtensorMapDataType. */
enum sim_tensor_type {
  SIM_TENSOR_U8, SIM_TENSOR_U16, SIM_TENSOR_U32, SIM_TENSOR_S32, SIM_TENSOR_U64, SIM_TENSOR_S64,
  SIM_TENSOR_F16, SIM_TENSOR_F32, SIM_TENSOR_F64, SIM_TENSOR_BF16, SIM_TENSOR_TYPES
};

struct sim_tensor {
  uint32_t magic;
  uint8_t rank, type, element, unused;
  uint64_t address;
  uint64_t dims[SIM_TENSOR_RANK];
  uint64_t strides[SIM_TENSOR_RANK - 1];
  uint16_t box[SIM_TENSOR_RANK];
  uint8_t swizzle, fill;
  uint8_t rest[28];
};
_Static_assert(sizeof(struct sim_tensor) == SIM_TENSOR_BYTES, "a tensor map has 128 bytes");

/* Fills `map`.  `strides` NULL: the tensor is dense.  False with one sentence in `why`. */
bool sim_tensor_map(struct sim_tensor *map, enum sim_tensor_type type, unsigned rank,
                    uint64_t address, const uint64_t *dims, const uint64_t *strides,
                    const uint32_t *box, enum model_tma swizzle, bool nan_fill, char *why,
                    size_t size);
/* The bytes of a box: what a copy brings. */
uint32_t sim_tensor_box_bytes(const struct sim_tensor *map);

#endif
