/* Quizzes: see quiz.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/quiz.h"

void prose_add(struct prose *p, const char *format, ...)
{
  size_t room = sizeof p->text - p->used;
  va_list ap;
  va_start(ap, format);
  int length = vsnprintf(p->text + p->used, room, format, ap);
  va_end(ap);
  if (length > 0) p->used += (size_t)length < room ? (size_t)length : room - 1;
}

/* True and the value when the line is one integer and nothing else. */
static bool read_answer(const char *line, int64_t *value)
{
  if (!line) return false;
  char *end;
  errno = 0;
  *value = strtoll(line, &end, 10);
  return end != line && !*end && !errno;
}

static const void *at(const struct quiz *q, size_t i)
{
  return (const char *)q->questions + i * q->size;
}

/* The idea that yields the most of all answers, right ones too, and the wrong one to question
 * `first`, which is shown; *found counts the wrong ones it yields.  Ideas often agree on what is
 * wrong and differ on the rest. */
static const struct idea *likely(const struct quiz *q, const struct evidence *e, size_t first,
                                 size_t *found)
{
  const struct idea *best = NULL;
  size_t most = 0;
  *found = 0;
  for (const struct idea *idea = q->ideas; idea && idea->text; idea++) {
    size_t hits = 0, agree = 0;
    int64_t shown;
    if (!read_answer(e->answers[first], &shown) || shown != idea->value(at(q, first))) continue;
    for (size_t i = 0; i < q->count; i++) {
      int64_t got;
      if (!read_answer(e->answers[i], &got) || got != idea->value(at(q, i))) continue;
      agree++;
      hits += got != q->want(at(q, i));
    }
    if (!hits || agree <= most) continue;
    most = agree;
    *found = hits;
    best = idea;
  }
  return best;
}

/* "0 4 8-11": the lanes of a mask. */
void prose_lanes(struct prose *p, uint32_t mask)
{
  for (int t = 0; t < 32; t++) {
    if (!(mask >> t & 1)) continue;
    int last = t;
    while (last < 31 && (mask >> (last + 1) & 1)) last++;
    if (last == t)
      prose_add(p, " %d", t);
    else
      prose_add(p, " %d-%d", t, last);
    t = last;
  }
}

void judge_quiz(struct verdict *v, const struct evidence *e, const struct quiz *q)
{
  size_t wrong = 0, first = 0, zeros = 0;
  for (size_t i = 0; i < q->count; i++) {
    int64_t got, want = q->want(at(q, i));
    bool read = i < e->nanswers && read_answer(e->answers[i], &got);
    if (read && got == 0) zeros++;
    if (read && got == want) continue;
    if (!wrong++) first = i;
    if (!read) break; /* the program ended here, or wrote no number */
  }
  if (!wrong) {
    verdict_pass(v, "%zu questions, all answered right", q->count);
    return;
  }

  char call[256];
  int64_t got;
  q->call(at(q, first), call, sizeof call);
  if (judge_answer_int(v, e, first, q->want(at(q, first)), "%s", call)) {
    verdict_fail(v, "%s: the answer is not a plain decimal number", call);
    return;
  }
  if (first >= e->nanswers || !read_answer(e->answers[first], &got)) return;
  if (zeros == q->count) {
    verdict_add(v, "  every answer was 0: write your own lines between the marks");
    return;
  }
  struct prose prose = {0};
  if (q->show) {
    q->show(&prose, at(q, first));
    verdict_add(v, "%s", prose.text);
  }
  if (e->nanswers < q->count) return;
  size_t hits;
  const struct idea *idea = likely(q, e, first, &hits);
  verdict_add(v, "  %zu of %zu questions were answered wrong; the first is shown", wrong,
              q->count);
  if (!idea || 2 * hits < wrong) return;
  char most[48];
  snprintf(most, sizeof most, "%zu of them are", hits);
  verdict_add(v, "  %s what you get when you %s",
              hits < wrong ? most
              : wrong == 1 ? "it is"
                           : "all of them are",
              idea->text);
}
