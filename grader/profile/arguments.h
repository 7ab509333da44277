/* The kernel's arguments as `banks profile` takes them, one text each, in the kernel's order:
 *
 *   i32:256  f32:0.5  u64:1<<20        scalars: i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64
 *   f32[65536]                         a buffer of zeros; the count may be 1024*1024+32
 *   f32[65536]=uniform[:SEED]          floats in [-1, 1), integers over their whole range
 *   i32[4096]=below:256[:SEED]         integers (or whole floats) from 0 to 255
 *   i32[4096]=iota[:STEP[:FIRST]]      0 1 2 ..., or FIRST, FIRST+STEP, ...
 *   f32[16]=0.5                        one value everywhere
 *   f32[]=@in.bin    f32[100]=@in.bin  raw little-endian bytes of a file
 *   f32[65536]>out.bin                 written there after the launch; combines with the above
 *   {i32:4,f32[16]=uniform,{...}}      a struct by value, laid out as C does; a buffer in it is a
 *                                      pointer
 *   f32x3:0.5  u8x3:1:2:3              an array, most of all in a struct: one value, or each
 *   f32v4:0.5                          a vector as CUDA has it, float4: an array with its alignment
 *   tma:f16[64,128]=uniform/box=64,64/swizzle=128B
 *                                      a tensor map (const __grid_constant__ CUtensorMap) of a
 *                                      buffer: 64 rows of 128; the swizzle is none 32B 64B 128B
 */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "profile/signature.h"
#include "profile/values.h"
#include "sim/sim.h"
#include "sim/tensormap.h"

struct argument {
  char *text;                  /* as given */
  char label[100];             /* "argument 2 (out)", "field 3 of argument 1"; by arguments_check */
  bool is_buffer;
  const struct value_type *type;             /* NULL: a struct */
  uint64_t count;              /* elements: of the buffer; of an array or vector */
  uint8_t *data;               /* their bytes */
  size_t bytes;                /* of `data`; of a struct, with its padding */
  size_t size, align;          /* what it takes among the parameters or in its struct */
  struct argument *fields;     /* of a struct */
  size_t nfields, at;          /* at: where a field lies in its struct */
  char *save;                  /* file to write, or NULL */
  uint64_t address;            /* on the device, once given out */
  struct sim_tensor tensor;    /* rank 0: none; its address is set when packed */
};

/* Parses one argument; false with one sentence in `why`. */
bool argument_parse(const char *text, struct argument *a, char *why, size_t size);
void argument_free(struct argument *a);

/* All buffers, those in structs too, in order; returns their number, at most `most` in `out`. */
size_t arguments_buffers(struct argument *a, size_t n, struct argument **out, size_t most);

/* Checks arguments against the parameters of `kernel` and labels them; false with one sentence in
 * `why` that shows both.  `names` are the parameters' as the source has them, or NULL. */
bool arguments_check(const struct ptx_function *kernel, struct argument *a, size_t n,
                     const struct signature *names, char *why, size_t size);

/* The bytes an argument takes, `a->size` of them: values, and the buffers' addresses. */
void argument_put(const struct argument *a, uint8_t *to);
/* All of them, packed as the kernel wants.  `params` is malloc'ed; false when memory ends. */
bool arguments_pack(const struct ptx_function *kernel, const struct argument *a, size_t n,
                    uint8_t **params, size_t *bytes);

#endif
