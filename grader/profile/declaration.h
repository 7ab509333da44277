/* Shared arrays as their source declares them: PTX has only their names and bytes. */
#ifndef DECLARATION_H
#define DECLARATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct declaration {
  unsigned dimensions;         /* float t[20][21]: 2 */
  uint64_t element;            /* bytes of one: 4; 0: of a type that is not built in, unknown */
  uint64_t row;                /* bytes of the last dimension: 84; 0 where there is one dimension only */
  bool built_in;               /* a type of the language or of CUDA */
  bool is_struct;              /* one that the same text declares: a member can be added */
};

/* A type of the language or of CUDA by its name; a float4 has 16 bytes, its scalars 4. */
struct declared_type { unsigned bytes, scalar; bool is_float; };
bool declaration_type(const char *text, size_t length, struct declared_type *type);

/* Looks in C++ text for the shared array of that name in PTX, of `bytes` bytes (0: dynamic).  `flags` are
 * the compiler's, of which -D counts.  False when it is not there, is a plain variable, has sizes that
 * cannot be told, or several of the name differ. */
bool declaration_find(const char *source, const char *symbol, uint64_t bytes,
                      const char *const *flags, size_t nflags, struct declaration *out);

#endif
