/* One result record, whatever it is printed as: terminal, JSON, JUnit XML, CSV.  */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum test_status { TEST_FAILED, TEST_PASSED, TEST_NOT_GRADED };

struct test_record {
  char name[64];
  enum test_status status;     /* passed: full points.  Partial credit is failed with score > 0 */
  double score, max_score;
  char *message;               /* several lines of text, never NULL; printable UTF-8 only */
  char *printed;               /* what the student's code printed, its beginning; NULL: nothing */
};

struct exercise_record {
  char id[64];                 /* "04-padding/transpose" */
  double score, max_score;
  struct test_record *tests;
  size_t ntests;
  bool not_graded;             /* some test was not graded: our fault, said in its message */
  bool same_as_starter;
  char note[160];              /* "changed outside the marks: line 12"; no points depend on it */
};

struct grade_record {
  char device[160];            /* "sim" or "cuda (NVIDIA H200, ...)" */
  char toolchain[64];
  uint64_t seed;
  double score, max_score;
  struct exercise_record *exercises;
  size_t nexercises;
};

void record_free(struct grade_record *r);

#endif
