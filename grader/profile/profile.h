/* `banks profile`: where a kernel's wavefronts go, by source line, with what would cure them.
 *
 *   arguments.c   the command line's arguments -> buffers and packed parameters
 *   arrays.c      the shared arrays of a launch with all accesses of each; declaration.c: their rows
 *   layout.c      an array's accesses, priced with other rows
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
  uint64_t spare;              /* what work on this line may save: the excess, or more where atomics
                                  that loop meet: a round for each is their ideal */
  char advice[400];            /* a sentence, "" when there is nothing to say */
  char note[200];              /* why the compiler may do better than counted here, or "" */
};

/* A shared array and all that the launch did with it. */
enum profile_rows {
  PROFILE_ROWS_UNKNOWN,        /* its declaration is not known: nothing is said of its layout */
  PROFILE_ROWS_NONE,           /* one dimension: an index may be mapped to any other */
  PROFILE_ROWS_DECLARED,
  PROFILE_ROWS_RECORDS,        /* one dimension of structs: each is a row */
  PROFILE_ROWS_FIXED           /* a bulk copy or a matrix unit lays it out */
};

struct profile_use {
  const struct sim_site *site;
  uint32_t own;                /* bytes a lane of the instruction itself; the site's width when none joined it */
};

struct profile_array {
  uint64_t base, bytes;        /* where it lies, as the accesses have it */
  enum profile_rows rows;
  uint64_t row, element;       /* bytes; row: 0 where none is declared */
  uint64_t room;               /* bytes by which it may grow, at most */
  bool strided;                /* wmma takes a distance between rows, so no row can be XORed */
  struct profile_use *uses;
  size_t nuses;
};

struct profile {
  const char *kernel;
  const struct ptx_module *module;
  const struct ptx_function *entry;
  const char *const *flags;    /* the compiler's; -D may tell an array's size */
  size_t nflags;
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
/* The same of what was refused: {"error": ..., "status": ...}. */
bool profile_json_error(FILE *to, const char *error, int status);

/* arrays.c: the shared arrays of the launch that was accessed; malloc'ed, `*n` of them.  `source` gives a
 * file's text by its number in the module, or NULL.  NULL when memory ends. */
struct profile_array *profile_arrays(const struct profile *p,
                                     const char *(*source)(void *user, uint32_t file), void *user,
                                     size_t *n);
void profile_arrays_free(struct profile_array *a, size_t n);
/* The array that all lanes of an access to shared memory lie in, or NULL. */
const struct profile_array *profile_array_of(const struct profile_array *a, size_t n,
                                             const struct access *access);

/* layout.c: another place for each byte of an array: rows of `row` bytes become `pitch` long, and where
 * `chunk` is not 0, the chunks of a row are XORed by its number / divide. */
struct profile_layout { uint64_t row, pitch; uint32_t chunk, divide; };
struct profile_price {
  unsigned mine;               /* wavefronts of the access asked for */
  uint64_t all;                /* of all requests of the array, each like the worst of its instruction */
  const struct sim_site *worse;   /* one that costs more than it did: the most often made, or NULL */
  unsigned was, becomes;       /* what that one costs */
};
/* NULL for `l`: as it is.  False when the array cannot be laid out so: an access would be torn or
 * misaligned, or there is no room. */
bool profile_layout_price(const struct profile_array *a, const struct profile_layout *l,
                          const struct access *mine, struct profile_price *out);

/* Whether neighbouring lanes of an access to global memory are in blocks of malloc of their own: how far
 * apart those lie is the simulator's affair. */
bool profile_own_blocks(const struct access *a);

/* One sentence on how to make this access cheaper.  Each cure was tried on the model, with this access and
 * with the worst requests of all others of `array` (NULL: not known), and gives the cost it names.  Never
 * empty where it costs more than its ideal, nor where atomics meet on one address. */
void profile_advise(const struct access *a, enum profile_class class,
                    const struct profile_array *array, char *out, size_t size);

#endif
