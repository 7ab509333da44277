/* Recorded hardware rows, inside the program: plots/data/h200/accesses.tsv, ids a...., and
 * merge.tsv, ids d.... */
#ifndef RECORDED_H
#define RECORDED_H

#include "model/model.h"

struct recorded {
  char id[16];          /* "a0084" */
  struct access access; /* loads and stores of 1 to 16 bytes */
  uint32_t wavefronts;  /* what the hardware counted */
  double cycles;        /* an access, four warps issuing back to back; 0: not timed */
};

/* The shared loads and stores among the rows, in file order; *count of them.  Lives as long as
 * the program.  NULL when out of memory. */
const struct recorded *recorded_rows(size_t *count);

#endif
