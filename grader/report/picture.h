/* Pictures in text of what one warp access does to the 32 banks; for the terminal and for
 * failure messages.  No line is wider than 100 columns, every line ends with a newline. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stddef.h>

#include "model/model.h"

enum { PICTURE_WIDTH = 100, PICTURE_SIZE = 8192 };   /* PICTURE_SIZE bytes hold any picture */

/* Draws all phases of a shared access.  Below a row with the numbers of the banks, each row is
 * one wavefront of a phase and each cell the lane served there, so lanes that stand below each
 * other in one column of a phase collide.  "7+" says that more lanes share lane 7's word for free.
 * At most max_rows rows are drawn of a phase (0: all); a line says how many were left out.  A
 * global access is drawn as its lines of 128 bytes with their four sectors.
 *
 * Writes at most size bytes with the closing NUL; returns the length of the whole text, as
 * snprintf does. */
size_t picture_access(char *out, size_t size, const struct access *a, unsigned max_rows);

/* The same for one phase: 0 is that of the lowest lanes.  See model_phase_lanes. */
size_t picture_phase(char *out, size_t size, const struct access *a, unsigned phase,
                     unsigned max_rows);

/* Lanes as ranges: "0-3, 8, 16-31"; "none" for an empty mask.  Returns out. */
char *picture_lanes(char *out, size_t size, uint32_t mask);

#endif
