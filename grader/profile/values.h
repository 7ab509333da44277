/* Element types of arguments, their values as text and as bytes, and what fills a buffer.
 *
 * Whole numbers may be expressions of + - * / % << >> ( ), in decimal or as 0x...: 256*256+1. */
#ifndef VALUES_H
#define VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_kind { VALUE_SIGNED, VALUE_UNSIGNED, VALUE_FLOAT };

struct value_type {
  const char *name;              /* "f32" */
  unsigned width;                /* bytes */
  enum value_kind kind;
  unsigned exponent, mantissa;   /* of a float, in bits */
};

#define VALUE_TYPES "i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64"

const struct value_type *value_type(const char *text, size_t length);   /* NULL: none of them */

/* The whole of `length` characters as a whole number that is not negative. */
bool value_whole(const char *text, size_t length, uint64_t *n);

/* The whole of `text` as a value of the type.  False, and what was expected in `why`. */
bool value_read(const struct value_type *t, const char *text, uint8_t *to, char *why, size_t size);
void value_show(const struct value_type *t, const void *from, char *to, size_t size);
bool value_float(const struct value_type *t, const void *from, double *v);   /* false: no float */

/* Fills `count` elements: "uniform:7", "below:256", "iota:4", "0.5".  False: why not. */
bool value_fill(const struct value_type *t, const char *how, uint8_t *to, uint64_t count, char *why,
                size_t size);

#endif
