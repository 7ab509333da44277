/* The kernel's arguments as `banks profile` takes them, one text each, in the kernel's order:
 *
 *   i32:256  f32:0.5  u64:7            scalars: i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64
 *   f32[65536]                         a buffer of zeros; the count may be a product, 1024*1024
 *   f32[65536]=uniform[:SEED]          floats in [-1, 1), integers over their whole range
 *   i32[4096]=below:256[:SEED]         integers (or whole floats) from 0 to 255
 *   i32[4096]=iota   f32[16]=0.5       0, 1, 2 ...; one value everywhere
 *   f32[]=@in.bin    f32[100]=@in.bin  raw little-endian bytes of a file
 *   f32[65536]>out.bin                 written there after the launch; combines with the above
 *   {i32:4,f32:0.5}                    a struct by value, laid out as C does
 *   tma:f16[64,128]=uniform/box=64,64/swizzle=128B
 *                                      a tensor map (const __grid_constant__ CUtensorMap) of a
 *                                      buffer: 64 rows of 128; the swizzle is none 32B 64B 128B
 */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "sim/sim.h"
#include "sim/tensormap.h"

struct argument {
  const char *text;            /* as given */
  bool is_buffer;
  const char *type;            /* "f32" */
  unsigned width;              /* bytes of an element */
  uint64_t count;
  uint8_t *data;               /* the buffer's bytes, or the scalar's or struct's */
  size_t bytes, align;
  char *save;                  /* file to write, or NULL */
  uint64_t address;            /* on the device, once given out */
  struct sim_tensor tensor;    /* rank 0: none; its address is set when packed */
};

/* Parses one argument; false with one sentence in `why`. */
bool argument_parse(const char *text, struct argument *a, char *why, size_t size);
void argument_free(struct argument *a);

/* Checks arguments against the parameters of `kernel` and packs them (buffers must have their
 * address); false with one sentence in `why` that shows both.  `params` is malloc'ed. */
bool arguments_check(const struct ptx_function *kernel, const struct argument *a, size_t n,
                     char *why, size_t size);
bool arguments_pack(const struct ptx_function *kernel, const struct argument *a, size_t n,
                    uint8_t **params, size_t *bytes);

#endif
