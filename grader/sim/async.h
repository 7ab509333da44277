/* mbarriers, and the bulk copies that complete on them: what exec_mbarrier.c, exec_bulk.c,
 * exec_tensor.c and block.c share.
 *
 * An mbarrier is kept beside shared memory, by its offset: its 64 bits are opaque to a program.
 * Copies are kept with the block until their completion is observed, which is the latest moment
 * the hardware allows.  Whoever waits parks (GROUP_PHASE) until something happens to an mbarrier of
 * the block (`events`); a wait that nothing can end is a fault. */
#ifndef SIM_ASYNC_H
#define SIM_ASYNC_H

#include "internal.h"

enum { MBARRIER_BYTES = 8, MBARRIER_MOST = (1 << 20) - 1 };

struct deferred {              /* cp.async.mbarrier.arrive: an arrival after a lane's copies */
  uint32_t warp, lane;
  uint32_t before;             /* of the warp's copies, by serial */
};

struct mbarrier {
  uint32_t at;                 /* from SIM_SHARED_BASE */
  const struct sim_inst *init;
  uint32_t expected, pending;  /* arrivals of a phase; those missing in this one */
  uint32_t phase;              /* phases completed */
  int64_t tx;                  /* bytes expected less bytes that have come */
  int64_t coming;              /* bytes of copies that have not landed */
  uint32_t joining[SHADOW_WRITERS], done[SHADOW_WRITERS];   /* ticks released to waiters */
  struct deferred *deferred;
  size_t ndeferred, deferred_room;
};

struct bulk_copy {
  const struct sim_inst *inst;
  struct warp *warp;
  unsigned lane;
  bool store;                  /* shared to global, in a bulk group; else to shared, an mbarrier */
  bool read;                   /* store: the source is no longer needed */
  uint32_t barrier, group;
  uint32_t at, bytes;          /* shared side, from SIM_SHARED_BASE */
  uint32_t swizzle;            /* enum model_tma */
  uint8_t *data;               /* in order of the tile */
  unsigned reduce;             /* store: 0, or how it is reduced: atomic_elements() */
  enum ptx_type type;
  const struct box *box;       /* store of a box: where it goes; else `to` */
  uint64_t to;
};

struct bulk {
  struct mbarrier *bars;
  size_t nbars, bars_room;
  uint32_t *bar_at;            /* of each eight bytes of shared memory: its mbarrier, from 1; 0: none */
  struct bulk_copy *copies;    /* in order of issue */
  size_t ncopies, copies_room;
  size_t held;                 /* bytes of all copies */
  size_t ndeferred;            /* of all mbarriers */
  uint32_t group[SIM_MAX_WARPS * SIM_LANES];   /* the open bulk group of each thread */
};

/* The offset (from SIM_SHARED_BASE) of `bytes` at a lane's shared or generic address; false after a
 * fault.  `what` names it in messages. */
bool bulk_shared(struct warp *w, const struct sim_inst *i, unsigned lane, uint64_t address,
                 uint32_t bytes, uint32_t align, const char *what, uint32_t *at);
/* The value of an address row with `add`. */
uint64_t bulk_address(struct warp *w, sim_ref row, bool wide, uint64_t add, unsigned lane);

/* The initialised barrier at a lane's address, in its own block or in another one of the cluster, *b;
 * NULL after a fault.  b is NULL: it must be its own block's. */
struct mbarrier *mbarrier_find(struct warp *w, const struct sim_inst *i, unsigned lane,
                               uint64_t address, struct block **b);
/* w has stored `bytes` of what barrier m of block b expects. */
void mbarrier_stored(struct warp *w, struct block *b, struct mbarrier *m, uint32_t bytes);
/* Has everything happened to it that can have happened: copies landed, the phase completed. */
void mbarrier_settle(struct block *b, struct mbarrier *m);
void bulk_land(struct block *b, uint32_t barrier);      /* exec_bulk.c */
void bulk_start(struct block *b);                       /* of a block */
void bulk_close(struct block *b);
void bulk_end(struct block *b);                         /* of a block that ran to its end */

/* block.c: nothing can run.  Ends waits with `false`, as a time limit does; false: that has been
 * tried too often. */
bool mbarrier_release(struct block *b);
void mbarrier_stuck(struct block *b, struct warp *w, const struct group *g, char *text,
                    size_t size);

#endif
