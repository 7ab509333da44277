/* How long a kernel takes on a card, from what the simulator counted.
 *
 * A kernel uses several things at once, and each alone would take some time:
 *
 *   memory    bytes that must come from or go to DRAM / the card's copy bandwidth
 *   sectors   32-byte sectors beyond those bytes, which only the second-level cache serves / its
 *             bandwidth
 *   shared    wavefronts of the busiest SM, shared and global ones, one a cycle;
 *             atomics that loop cost more, `loop` cycles a wavefront
 *   issue     warp instructions of the busiest SM, four a cycle
 *   waiting   a block waits once for memory and at each barrier; an SM runs `resident` blocks at a
 *             time, so it waits blocks / resident times
 *
 * They overlap, but not wholly: a block cannot store before it has loaded.  So the kernel takes
 * more than the largest and less than the sum:
 *
 *   time = start + (memory^1.8 + sectors^1.8 + shared^1.8 + issue^1.8 + waiting^1.8)^(1/1.8)
 *
 * 1.8 was fitted once, to the twelve recorded transposes of plots/data/h200/transpose.tsv, which
 * it gives to 4 %.  What this leaves out is told in chapter 13: instruction latency beyond memory
 * and barriers, registers, writes of parts of a sector, clocks that fall under load.
 */
#ifndef PREDICT_H
#define PREDICT_H

#include <stdbool.h>
#include <stdint.h>

struct predict_card {
  char name[48];
  double sms, ghz;
  double copy_gbs;             /* device-to-device copy, bytes read and written, when it is long */
  double l2_mib, l2_gbs;
  double start_us;             /* of any kernel or copy: launch, ramp up and drain */
  double latency_ns;           /* of DRAM under load, once a block */
  double loop;                 /* cycles a wavefront of atomics that loop */
  double shared_bytes, reserved_bytes;   /* of an SM; a block pays the second in addition */
  double max_threads, max_blocks;        /* of an SM */
  bool measured;               /* else from data sheets */
  char source[96];
};

struct predict_kernel {        /* one launch */
  uint64_t blocks;
  uint32_t threads, shared_bytes;        /* of a block */
  uint32_t resident;           /* blocks that fit an SM, when known; 0: from the two above */
  uint64_t memory_bytes;       /* that must move at least: what is read once and written once */
  uint64_t sectors;            /* global, in and out */
  uint64_t wavefronts;         /* shared, without those of atomics that loop */
  uint64_t loop_wavefronts;
  uint64_t global_requests;
  uint64_t warp_instructions;
  uint64_t barriers;           /* counted once a warp */
};

enum predict_term {
  PREDICT_MEMORY, PREDICT_SECTORS, PREDICT_SHARED, PREDICT_ISSUE, PREDICT_WAITING, PREDICT_TERMS
};

struct predict_time {
  double us;                   /* microseconds, the whole */
  double start;
  double terms[PREDICT_TERMS]; /* each alone, microseconds */
  enum predict_term limit;     /* the largest */
  uint32_t resident;
  double tail;                 /* blocks of the busiest SM / the average: 1 is even */
};

struct predict_time predict_kernel(const struct predict_card *card, const struct predict_kernel *k);
const char *predict_term_name(enum predict_term t);

#endif
