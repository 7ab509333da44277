/* Judging kernels that move data through shared memory: every bit must arrive, every element must
 * pass through shared memory, and neither side may pay for more than it moves.
 *
 * The costs here are absolute: wavefronts and sectors over the words that have to move, not over
 * the accesses made.  So accesses added for show make the result worse, never better, and a
 * kernel that moves four words a lane is marked as fairly as one that moves one.
 */
#ifndef MOVES_H
#define MOVES_H

#include "suites/suite.h"

enum moves_way { MOVES_READS, MOVES_WRITES };

/* Random float bits: mostly ordinary numbers, one in eight a zero of either sign, a subnormal
 * number, an infinity, or a NaN with a payload of its own. */
void moves_fill(struct rng *r, uint32_t *bits, size_t count);

/* Compares buffer `out` bit by bit with `want`; `columns` is its row length.  `in` is what the
 * kernel was given (count words, may be NULL): when `out` is a plain copy of it, the message says
 * so.  False with a message when a bit differs. */
bool moves_values(struct verdict *v, const struct evidence *e, int out, const uint32_t *want,
                  const uint32_t *in, size_t count, size_t columns);

/* Marks one way of launch 0 through shared memory, where `words` 4-byte words have to go: full
 * share at one wavefront for every 32 words, none at `none` or more.  Fails when fewer words
 * than that went through shared memory.  Returns the share; on less than 1 the verdict has the
 * message, else it is untouched. */
double moves_wavefronts(struct verdict *v, const struct evidence *e, enum moves_way way,
                        uint64_t words, double none);

/* The same with room: fails below `least` words moved, and counts wavefronts for every 32 of
 * `words`, with full share at `full` and none at `none`. */
double moves_cost(struct verdict *v, const struct evidence *e, enum moves_way way, uint64_t least,
                  uint64_t words, double full, double none);

/* The same for global memory: one 32-byte sector for every 8 words, none of the share at twice as
 * many. */
double moves_sectors(struct verdict *v, const struct evidence *e, enum moves_way way,
                     uint64_t words);

#endif
