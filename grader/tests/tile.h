/* One warp running a few lines of PTX: what the tests of matrices, copies and halves share. */
#ifndef TEST_TILE_H
#define TEST_TILE_H

#include "sim/sim.h"

enum { TILE_WORDS = 16, TILE_DATA = 65536 };   /* words of a lane in and out; bytes of shared */

struct tile {
  struct sim *sim;
  struct ptx_module *module;
  uint32_t (*in)[TILE_WORDS], (*out)[TILE_WORDS];
  uint8_t *data;               /* what shared memory holds at the start, when filled */
  uint32_t threads, fill;      /* bytes of shared memory filled from data */
  uint64_t at[3];
  struct sim_result result;
  struct ptx_error error;
};

/* Opens a kernel whose body is `body`.  There: %r0 the thread, %rd1 and %rd2 its 64 bytes of input
 * and of output, %rd3 the data, %r1 the address of 64 KiB of shared memory, of which t->fill bytes
 * hold the data; %r10..%r25 the input words, %r30..%r45 are stored as the output words afterwards.
 * %rs, %f, %fd, %p and %q registers are free, %r50 on and %rd10 on too.  False: t->error says why. */
bool tile_open(struct tile *t, const char *body, uint32_t threads, uint32_t fill, bool checks);
bool tile_run(struct tile *t);            /* sim_launch's answer; frees the result before */
void tile_close(struct tile *t);
const struct sim_fault *tile_fault(const struct tile *t);   /* the first, or NULL */
/* The one site of that op; aborts the test when there is none or several. */
const struct sim_site *tile_site(const struct tile *t, enum model_op op);

uint32_t tile_random(uint64_t *state);

#endif
