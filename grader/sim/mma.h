/* What mma and wmma share: a product of fragments. */
#ifndef SIM_MMA_H
#define SIM_MMA_H

#include "narrow.h"

enum mma_part { MMA_A, MMA_B, MMA_C, MMA_D };

struct mma {
  uint8_t m, n;
  uint16_t k;
  uint8_t dtype, atype, btype, ctype;   /* enum ptx_type */
  bool saturate, exclusive;             /* .satfinite; b1: xor instead of and */
  sim_ref d[8], a[8], b[8], c[8];
};

/* Registers of a part that hold different elements. */
unsigned mma_regs(const struct mma *m, enum mma_part part);
void mma_run(struct warp *w, const struct mma *m);
/* The rows of a part's `have` registers; false after a refusal. */
bool mma_operand(struct lowering *l, const struct mma *m, enum mma_part part, unsigned have,
                 const struct ptx_operand *o, sim_ref regs[8]);
char mma_family(unsigned type);           /* types that go together; 0: no type of A or B */
bool mma_types_fit(const struct mma *m);

sim_lower lower_mma_quad;        /* exec_mma_quad.c: m8n8k4 on f16 */

#endif
