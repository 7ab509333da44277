/* Reading what Nsight Compute says about each line of a kernel.
 *
 * A report of its Source page is comma-separated text.  `header` is the line with the names of the
 * columns, `row` a line below it: one machine instruction.  Given is
 *
 *     int cell(const char *header, const char *row, const char *name, char *text, int size);
 *
 * which copies the cell of the column called `name` into text (at most size - 1 characters,
 * without its quotes) and returns 1; without such a column it returns 0, and text is "".
 * Read: chapters/13-measuring.md, "The Source page".
 */
#include <stdio.h>
#include <string.h>
#include "exercise.h"

/* The number in a cell.  Large ones have commas: "1,056" is 1056.  "-" and "" are 0. */
long number(const char *text)
{
  // >>> yours
  return text[0];  /* not yet */
  // <<<
}

/* Of one instruction: warp requests, the wavefronts they took, and the wavefronts they would take
 * without a conflict.  The columns are called "Instructions Executed", "L1 Wavefronts Shared", and
 * "L1 Wavefronts Shared Ideal". */
struct line read_line(const char *header, const char *row)
{
  struct line line = {0, 0, 0};
  // >>> yours
  (void)header, (void)row;  /* not yet */
  // <<<
  return line;
}

/* Wavefronts per request; 0 when there was no request. */
double ratio(struct line line)
{
  // >>> yours
  return line.wavefronts;  /* not yet */
  // <<<
}

/* NO_SHARED: it moved nothing in shared memory.  CONFLICT: it took more wavefronts than it had to.
 * WIDE: it took no more than it had to, but more than one a request.  FREE: one a request. */
enum verdict verdict(struct line line)
{
  // >>> yours
  return line.wavefronts ? FREE : WIDE;  /* not yet */
  // <<<
}

/* The row to mend first: the one that wastes most wavefronts in all.  Returns its number, 0 for
 * rows[0] (of equals the first), or -1 when no row wastes any. */
int worst(const char *header, const char *const rows[], int count)
{
  // >>> yours
  return header && rows ? count : 0;  /* not yet */
  // <<<
}
