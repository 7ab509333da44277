/* Printing a result record: for people on a terminal (terminal.c), for programs as JSON
 * (json.c). */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "report/record.h"

/* record.c: a copy of `text` as printable UTF-8: broken sequences and control characters other
 * than line ends become '?'.  Never NULL. */
char *record_text(const char *text);

/* The table of `banks grade`: a line an exercise, the sums. */
void report_table(FILE *to, const struct grade_record *r);

bool report_finished(const struct exercise_record *x);   /* every test passed */

/* One exercise: every test, with the whole message where it did not pass; of a passed test its
 * first line, or all when `whole`. */
void report_exercise(FILE *to, const struct exercise_record *x, bool whole);

/* "with seed 17 on sim, nvcc 13.0": how to get the same numbers again. */
void report_setting(FILE *to, const struct grade_record *r);

/* Writes JSON to `path` ("-": standard output), through a temporary file beside it so that no
 * reader ever sees half of it.  False, and a sentence in `why`, when that fails. */
bool report_json(const struct grade_record *r, const char *path, char *why, size_t size);

/* Can a result be written to `path`?  Asked before grading, so that no work is lost. */
bool report_json_ready(const char *path, char *why, size_t size);

#endif
