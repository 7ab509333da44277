/* Which instructions the simulator runs: asked of the simulator itself.
 *
 * Each form of ptx/ops.def is spelt in every way it allows (ptx/spell.h), put into a small kernel,
 * read and loaded, so the answer comes from the tables that run kernels and from nowhere else. */
#ifndef SIM_KNOWN_H
#define SIM_KNOWN_H

#include "../ptx/spell.h"
#include "sim.h"

enum sim_known { SIM_KNOWN_RUNS, SIM_KNOWN_REFUSED, SIM_KNOWN_UNREADABLE };

enum { SIM_KNOWN_KERNEL = 4096, SIM_KNOWN_LINE = 17 };   /* the instruction stands on that line */

struct sim_known_answer {
  const struct ptx_spelling *spelling;
  enum sim_known known;
  char instruction[400];       /* as written */
  char kernel[SIM_KNOWN_KERNEL];
  uint32_t line;               /* REFUSED: the line the message names */
  char text[512];              /* the whole message */
  const char *why;             /* what of it follows the instruction */
};
typedef void sim_known_user(void *user, const struct sim_known_answer *answer);

/* The same of a special register: read by mov. */
void sim_known_special(enum ptx_special s, struct sim_known_answer *answer);

/* All spellings of a form, one after the other. */
void sim_known_each(enum ptx_op op, unsigned form, sim_known_user *use, void *user);

#endif
