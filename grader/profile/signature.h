/* The parameters of a kernel as its source names them: PTX has only their sizes. */
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

enum { SIGNATURE_MOST = 64 };

struct signature {
  size_t n;
  struct {
    char text[80], name[40];   /* "const float *in", "in" */
    char fields[300];          /* of a struct by value: what stands in its braces; "": not found */
  } params[SIGNATURE_MOST];
};

/* Looks in C++ text for the __global__ function of that plain name with `n` parameters.  False when
 * it is not there, is written by a macro, or when several with as many parameters differ. */
bool signature_find(const char *source, const char *kernel, size_t n, struct signature *out);

/* C++ text with comments and strings left out, every run of blanks one blank; malloc'ed, or NULL. */
char *signature_stripped(const char *source);

#endif
