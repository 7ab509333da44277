/* `banks profile`: where a kernel's wavefronts go, by source line, with what would cure them.
 *
 *   arguments.c   the command line's arguments -> buffers and packed parameters
 *   advise.c      what would make an access cheaper, found by trying it on the model
 *   request.c     the launch as typed, and its run; settle.c: reads of unwritten memory that did not matter
 *   lines.c       sites of one run joined by source line, worst first
 *   print.c       the table, the pictures, the faults; json.c: the same as JSON
 */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdio.h>

#include "sim/sim.h"

/* Where a line's counts go in the totals. */
enum profile_class {
  PROFILE_SHARED_LOAD, PROFILE_SHARED_STORE, PROFILE_SHARED_ATOMIC,
  PROFILE_GLOBAL_LOAD, PROFILE_GLOBAL_STORE, PROFILE_GLOBAL_ATOMIC, PROFILE_CLASSES
};

/* Of a site of a run of that module: a global atomic is priced as a load or store, the instruction
 * tells. */
enum profile_class profile_class(const struct ptx_module *m, const struct sim_site *s);

/* What one source line did with one kind of access. */
struct profile_line {
  enum profile_class class;
  struct sim_site sum;         /* counts added up; worst: the worst request of all */
  char file[256];              /* as the compiler named it; "" when unknown */
  const char *operation;       /* "shared load", "global store" ... */
  char source[200];            /* the line's text, "" when the file cannot be read */
  uint64_t excess;             /* wavefronts, or sectors, above the ideal */
  bool has_stride;
  int64_t stride;              /* bytes between neighbouring lanes of the worst request */
  char advice[400];            /* a sentence, "" when there is nothing to say */
  char note[200];              /* why the compiler may do better than counted here, or "" */
};

struct profile {
  const char *kernel;
  const struct ptx_module *module;
  const struct sim_result *result;
  const struct sim_fault *notes;   /* what looked like a fault and was none */
  size_t nnotes;
  struct profile_line *lines;  /* worst first; those that only poll last */
  size_t nlines;
  bool unsure[PROFILE_CLASSES];    /* totals that hold counts which are not exact */
  bool polled;                     /* some line polls: so is the number of instructions */
};

/* Joins the sites of `result`.  `ptx_name` and `ptx` are the PTX file and its text: its lines stand in
 * for source lines where the compiler gave none.  False when memory ends. */
bool profile_lines(struct profile *p, const char *ptx_name, const char *ptx);
void profile_free(struct profile *p);
/* The text of a source file as the compiler named it, else as it lies beside the PTX file; malloc'ed,
 * NULL when it is in neither place. */
char *profile_source(const char *name, const char *ptx_name);

void profile_print(FILE *to, const struct profile *p, unsigned pictures);
/* Writes JSON to `to`; false when that fails. */
bool profile_json(FILE *to, const struct profile *p);

/* One sentence on how to make this access cheaper that is true of it: each cure was tried on the
 * model and gives the cost it names.  Empty when it costs its ideal. */
void profile_advise(const struct access *a, enum profile_class class, char *out, size_t size);


#endif
