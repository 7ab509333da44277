/* Small random kernels that tempt ptxas to join shared accesses; the same text for the same seed. */
#ifndef FUSE_PROBE_H
#define FUSE_PROBE_H

#include <stdint.h>
#include <stdio.h>

void fuse_probe_head(FILE *out);                /* .version, .target */
void fuse_probe(FILE *out, uint32_t seed);      /* one entry, named probe_SEED */
void fuse_loop_probe(FILE *out, uint32_t seed); /* the same, of loops: fuse_loops.c */

#endif
