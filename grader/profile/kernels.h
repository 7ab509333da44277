/* A kernel by the name its author has for it: copy, geo::copy, copy<float>, copy<float>(float *, int),
 * or the mangled name itself.  Blanks and the u of 32u do not matter. */
#ifndef KERNELS_H
#define KERNELS_H

#include "ptx/ptx.h"

/* The one that is meant.  NULL: `why` says that there is none, and which is nearest, or that there
 * are several, and which; always with their names as they can be typed. */
struct ptx_function *kernels_find(const struct ptx_module *m, const char *name, char *why,
                                  size_t size);

/* As the source has it, "geo::copy<float>(float*, int)"; the PTX name where that is not known. */
void kernels_name(const struct ptx_function *f, char *to, size_t size);

#endif
