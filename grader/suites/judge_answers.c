/* Judging what is text: answers of a C exercise's program, and prediction files. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "suites/suite.h"

/* ---- C exercises -------------------------------------------------------------------------- */

/* For messages: student text cut short, printable, quoted by the caller. */
static void printable(const char *from, char *out, size_t size)
{
  size_t n = 0;
  for (; *from && n < size - 1; from++) {
    unsigned char c = (unsigned char)*from;
    out[n++] = c < 32 || c >= 127 ? '?' : (char)c;
  }
  out[n] = 0;
}

/* The answer to question i; NULL, and the failure told, when there is none. */
static const char *given(struct verdict *v, const struct evidence *e, size_t i, const char *what)
{
  const char *answer = i < e->nanswers ? e->answers[i] : NULL;
  if (!answer)
    verdict_fail(v, "%s: %s gave no answer; %s", e->file, what,
                 e->ended ? e->ended : "the program answered fewer questions than it was asked");
  return answer;
}

bool judge_answer_int(struct verdict *v, const struct evidence *e, size_t i, int64_t want,
                      const char *call, ...)
{
  char what[512], got[64];
  va_list ap;
  va_start(ap, call);
  vsnprintf(what, sizeof what, call, ap);
  va_end(ap);
  const char *answer = given(v, e, i, what);
  if (!answer) return false;
  char *end;
  errno = 0;
  long long value = strtoll(answer, &end, 10);
  if (errno || end == answer || *end) {
    printable(answer, got, sizeof got);
    verdict_fail(v, "%s: %s answered '%s', which is no whole number", e->file, what, got);
    return false;
  }
  if (value == want) return true;
  verdict_fail(v, "%s: %s: expected %" PRId64 ", got %lld", e->file, what, want, value);
  return false;
}

bool judge_answer_near(struct verdict *v, const struct evidence *e, size_t i, double want,
                       double bound, const char *call, ...)
{
  char what[512], got[64];
  va_list ap;
  va_start(ap, call);
  vsnprintf(what, sizeof what, call, ap);
  va_end(ap);
  const char *answer = given(v, e, i, what);
  if (!answer) return false;
  char *end;
  double value = strtod(answer, &end);
  if (end != answer && !*end && fabs(value - want) <= bound) return true;
  printable(answer, got, sizeof got);
  verdict_fail(v, "%s: %s: expected %.6g, within %.3g, got %s", e->file, what, want, bound, got);
  return false;
}

/* ---- predictions -------------------------------------------------------------------------- */

/* One `name = value` line: comments and blanks gone.  Returns the text after it, NULL at the
 * end. */
struct line { char name[64], value[64]; unsigned number; bool bad; };

static void trim(char *text)
{
  for (size_t n = strlen(text); n && isspace((unsigned char)text[n - 1]);) text[--n] = 0;
}

static const char *next_line(const char *s, struct line *l)
{
  for (; s && *s;) {
    size_t length = strcspn(s, "\r\n");
    const char *next = s + length;
    if (*next == '\r') next++;
    if (*next == '\n') next++;
    l->number++;
    char text[256];
    size_t n = length < sizeof text - 1 ? length : sizeof text - 1;
    memcpy(text, s, n);
    text[n] = 0;
    s = next;
    text[strcspn(text, "#")] = 0;
    char *p = text;
    if (!strncmp(p, "\xef\xbb\xbf", 3)) p += 3;     /* a byte order mark, as some editors write */
    while (isspace((unsigned char)*p)) p++;
    if (!*p) continue;
    char *equal = strchr(p, '=');
    l->bad = !equal;
    if (equal) *equal = 0;
    snprintf(l->name, sizeof l->name, "%.63s", p);
    trim(l->name);
    p = equal ? equal + 1 : p + strlen(p);
    while (isspace((unsigned char)*p)) p++;
    snprintf(l->value, sizeof l->value, "%.63s", p);
    trim(l->value);
    return s;
  }
  return NULL;
}

/* Lines no question asks for: most often a misspelt name. */
static void tell_unknown(struct verdict *v, const struct evidence *e)
{
  struct line l = {0};
  char shown[64];
  for (const char *s = e->text; (s = next_line(s, &l));) {
    printable(l.name, shown, sizeof shown);
    bool known = false;
    for (size_t i = 0; e->names && e->names[i]; i++) known |= !strcmp(e->names[i], l.name);
    if (l.bad)
      verdict_add(v, "  line %u: '%s' is not of the form `name = value`", l.number, shown);
    else if (e->names && !known)
      verdict_add(v, "  line %u: no question is called '%s'", l.number, shown);
  }
}

/* The value of a name; NULL, and `state` says why. */
enum state { ANSWERED, MISSING, EMPTY, REPEATED };
static enum state find(const struct evidence *e, const char *name, char *value, size_t size)
{
  struct line l = {0};
  enum state state = MISSING;
  for (const char *s = e->text; (s = next_line(s, &l));) {
    if (l.bad || strcmp(l.name, name)) continue;
    if (state != MISSING) return REPEATED;
    bool empty = !*l.value || strspn(l.value, "?") == strlen(l.value);
    state = empty ? EMPTY : ANSWERED;
    snprintf(value, size, "%s", l.value);
  }
  return state;
}

static void tell_state(struct verdict *v, const char *name, enum state state)
{
  if (state == EMPTY) verdict_fail(v, "%s: not answered yet", name);
  if (state == MISSING) verdict_fail(v, "%s: there is no line `%s = ...`", name, name);
  if (state == REPEATED) verdict_fail(v, "%s: answered more than once; keep one line", name);
}

const char *judge_prediction(struct verdict *v, const struct evidence *e, const char *name)
{
  static char value[64];                  /* a judge runs alone in its process */
  enum state state = find(e, name, value, sizeof value);
  if (state == ANSWERED) return value;
  tell_state(v, name, state);
  if (state == MISSING) tell_unknown(v, e);
  return NULL;
}

uint32_t judge_stride_cost(uint32_t stride, uint32_t lanes, uint32_t width)
{
  struct access a = {.op = MODEL_LOAD, .width = width,
                     .mask = lanes < MODEL_LANES ? (1u << lanes) - 1 : UINT32_MAX};
  for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = 4ull * stride * t;
  return model_cost(&a).wavefronts;
}

bool judge_predictions(struct verdict *v, const struct evidence *e, const struct prediction *rows,
                       size_t count)
{
  size_t right = 0, open = 0;
  for (size_t i = 0; i < count; i++) {
    char value[64], shown[64], *end;
    enum state state = find(e, rows[i].name, value, sizeof value);
    open += state == EMPTY;
    if (state != ANSWERED) {
      static const char *const said[] = {[MISSING] = "there is no line with this name",
                                         [EMPTY] = "not answered yet",
                                         [REPEATED] = "answered more than once; keep one line"};
      verdict_add(v, "%s: %s", rows[i].name, said[state]);
      continue;
    }
    double got = strtod(value, &end);
    if (end == value || *end) {
      printable(value, shown, sizeof shown);
      verdict_add(v, "%s: '%s' is not a number", rows[i].name, shown);
    } else if (fabs(got - rows[i].want) <= 1e-9 * fmax(1, fabs(rows[i].want))) {
      right++;
    } else {
      printable(value, shown, sizeof shown);
      verdict_add(v, "%s: %s is not it; %s", rows[i].name, shown, rows[i].how);
    }
  }
  if (count == 0) return false;           /* no verdict: not graded */
  if (right == count) {
    verdict_pass(v, "all %zu right", count);
    return true;
  }
  tell_unknown(v, e);
  verdict_partial(v, (double)right / (double)count, "%zu of %zu right%s", right, count,
                  open == count ? ": write your predictions into the file first" : "");
  return false;
}
