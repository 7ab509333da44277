/* The simulator's counts beside the profiler's, by exercise, kernel and source line. */
#ifndef PROOF_H
#define PROOF_H

#include "prove/lines.h"
#include "suites/item.h"

/* One launch that was made on both. */
struct proof_launch {
  struct work *work;
  struct item *item;
  size_t index;                /* among the item's launches */
  const char *kernel;          /* as the test calls it */
};

struct proof_row {             /* sums over the launches of one kernel of one file */
  const char *from, *id, *kernel;
  uint32_t line;               /* 0: the whole kernel */
  char file[128];
  uint64_t requests, wavefronts;             /* the simulator's */
  uint64_t executed, counted;                /* the profiler's */
  uint64_t loads, stores, raw_loads, raw_stores;   /* whole kernel: by class, and the counters */
  bool loops;                  /* atomics that loop: their loads are loads to the profiler */
  bool exact;                  /* false: a rule that is only a fit took part */
  bool lined;                  /* whole kernel: the lines were found, too */
  size_t launches;
};

struct proof {
  struct proof_row *rows;
  size_t nrows;
};

void proof_make(const struct proof_launch *launches, size_t n, struct ncu_report *r,
                unsigned capability, struct proof *out);

/* "equal", "differs" or why a difference is none of the hardware's: see proof.c. */
const char *proof_verdict(const struct proof *p, const struct proof_row *row);

void proof_print(const struct proof *p, FILE *to);
void proof_save(const struct proof *p, FILE *to);   /* tab separated, with a header line */
bool proof_equal(const struct proof *p);            /* all whole kernels are */
void proof_free(struct proof *p);

#endif
