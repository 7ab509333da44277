/* A launch from one row of words, as `banks profile` takes them, run in this process. */
#ifndef TEST_TYPED_H
#define TEST_TYPED_H

#include "profile/profile.h"
#include "profile/request.h"

/* Parsed and loaded, or the test fails.  One at a time: the row's copy is static. */
struct request *typed(const char *row);
/* Run, too, and its lines in `p`.  End with typed_end. */
struct request *typed_profile(const char *row, struct profile *p);
void typed_end(struct request *q, struct profile *p);

/* The rows of a list of launches, without comments; each is malloc'ed, and the array. */
char **typed_rows(const char *path, size_t *n);

#endif
