/* Inside exec_bulk.c and exec_tensor.c: issuing a copy between global and shared memory. */
#ifndef SIM_BULK_H
#define SIM_BULK_H

#include "async.h"

struct bulk_form {             /* sim_inst.extra; the instruction's own address is the shared one */
  struct sim_inst global;      /* counts the other side; its addresses go into the row `_` receives */
  bool store;
  unsigned reduce;             /* not 0: a reduction, see atomic_elements(); of what type */
  enum ptx_type type;          /* a box: PTX_NOTYPE, its map tells */
  sim_ref far, bar;            /* global address or tensor map; mbarrier */
  bool far_wide, bar_wide;
  uint64_t far_add, bar_add;
  uint32_t rank;
  sim_ref at[5];               /* coordinates of a box */
};

struct bulk_form *bulk_lower(struct lowering *l, bool store, const struct ptx_operand *shared,
                             const struct ptx_operand *far, const struct ptx_operand *bar);
/* Room for a copy of `bytes`, its data included; NULL after a fault. */
struct bulk_copy *bulk_push(struct warp *w, const struct sim_inst *i, unsigned lane,
                            uint32_t bytes);
void bulk_touch(struct warp *w, const struct sim_inst *i, const struct bulk_copy *c);
void bulk_gather(const struct block *b, const struct bulk_copy *c, uint8_t *out);
void bulk_count_shared(struct warp *w, const struct sim_inst *i, uint32_t at, uint32_t bytes);
/* Addresses of 16 bytes each, 32 to a request. */
void bulk_count_global(struct warp *w, const struct sim_inst *g, const uint64_t *from, uint32_t n);
/* To memory, or reduced into what is there. */
void bulk_put(const struct bulk_copy *c, uint8_t *to, const uint8_t *from, uint32_t bytes);
/* The reduction an instruction asks for; refuses it where there is none. */
void bulk_lower_reduce(struct lowering *l, struct bulk_form *form);
void box_store(const struct bulk_copy *c, const uint8_t *data);   /* exec_tensor.c */

#endif
