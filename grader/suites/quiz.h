/* A quiz: many questions with one integer answer each, judged together.
 *
 * One wrong answer says that something is wrong; many say what.  A quiz therefore carries
 * ideas, the wrong rules that students bring with them, as functions of the question.  The idea
 * that agrees best with all the answers is named in the failure, next to the first question
 * that went wrong. */
#ifndef QUIZ_H
#define QUIZ_H

#include "suites/suite.h"

/* Text that grows piece by piece: one line of a verdict or several. */
struct prose {
  char text[8192];
  size_t used;
};
void prose_add(struct prose *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void prose_lanes(struct prose *p, uint32_t mask); /* " 0 4 8-11" */

struct idea {
  int64_t (*value)(const void *question); /* what a believer of it answers */
  const char *text; /* completes "your answers are what you get when you ..." */
};

struct quiz {
  const void *questions; /* `count` values of `size` bytes, in the order they were asked */
  size_t size, count;
  int64_t (*want)(const void *question);
  void (*call)(const void *question, char *text, size_t size); /* "bank_of(132)" */
  void (*show)(struct prose *p, const void *question);         /* the derivation; NULL: none */
  const struct idea *ideas; /* ends with a row whose text is NULL */
};

/* Passes when every answer is the wanted one.  Otherwise fails with the first wrong question,
 * the answer, the expected one, the derivation, the number of wrong ones and the likely idea.
 */
void judge_quiz(struct verdict *v, const struct evidence *e, const struct quiz *q);

#endif
