/* Verdicts, and the two questions every kernel test asks first: did it run cleanly, and are the
 * values right?  Comparisons are written so that only a value shown to be within its bound
 * passes. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/suite.h"

/* ---- verdicts ----------------------------------------------------------------------------- */

static void add(struct verdict *v, const char *format, va_list ap)
{
  size_t used = strnlen(v->message, sizeof v->message - 1);
  if (used && used < sizeof v->message - 1) v->message[used++] = '\n';
  vsnprintf(v->message + used, sizeof v->message - used, format, ap);
}

static void settle(struct verdict *v, double share)
{
  if (!(share >= 0)) share = 0;           /* NaN earns nothing */
  if (share > 1) share = 1;
  if (!v->set || share < v->share) v->share = share;
  v->set = true;
}

void verdict_pass(struct verdict *v, const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  add(v, format, ap);
  va_end(ap);
  settle(v, 1);
}

void verdict_fail(struct verdict *v, const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  add(v, format, ap);
  va_end(ap);
  settle(v, 0);
}

void verdict_partial(struct verdict *v, double share, const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  add(v, format, ap);
  va_end(ap);
  settle(v, share);
}

void verdict_add(struct verdict *v, const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  add(v, format, ap);
  va_end(ap);
}

/* ---- the student's source ----------------------------------------------------------------- */

bool judge_source(const struct evidence *e, uint32_t line, char *out, size_t size)
{
  const char *s = e->source;
  if (!s || line == 0 || size == 0) return false;
  for (uint32_t i = 1; i < line; i++) {
    s = strchr(s, '\n');
    if (!s++) return false;
  }
  size_t length = strcspn(s, "\r\n"), n = 0;
  while (length && (*s == ' ' || *s == '\t')) s++, length--;
  for (size_t i = 0; i < length && n < size - 1; i++) {
    unsigned char c = (unsigned char)s[i];
    out[n++] = c == '\t' ? ' ' : c < 32 || c == 127 ? '?' : (char)c;
  }
  out[n] = 0;
  return true;
}

static const char *base(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool judge_own_file(const struct evidence *e, uint32_t file)
{
  return e->module && file < e->module->nfiles && e->module->files[file] && e->file &&
         !strcmp(base(e->module->files[file]), base(e->file));
}

static void add_line(struct verdict *v, const struct evidence *e, uint32_t line)
{
  char text[200];
  if (judge_source(e, line, text, sizeof text)) verdict_add(v, "  %5u | %s", line, text);
}

/* ---- clean? ------------------------------------------------------------------------------- */

static void tell_fault(struct verdict *v, const struct evidence *e, const struct sim_fault *f)
{
  bool own = f->line && judge_own_file(e, f->file);
  char where[300], who[160], other[120] = "";
  if (own) snprintf(where, sizeof where, "%s%s:%u", f->near ? "near " : "", e->file, f->line);
  else snprintf(where, sizeof where, "%s", e->file);
  bool launch = f->kind == SIM_FAULT_LAUNCH || f->kind == SIM_FAULT_MEMORY;
  snprintf(who, sizeof who, ", block (%u,%u,%u), thread (%u,%u,%u)", f->block[0], f->block[1],
           f->block[2], f->thread[0], f->thread[1], f->thread[2]);
  verdict_fail(v, "%s: %s%s", where, sim_fault_name(f->kind), launch ? "" : who);
  if (own) add_line(v, e, f->line);
  verdict_add(v, "  %s", f->text);
  if (f->kind == SIM_FAULT_RACE || f->kind == SIM_FAULT_BARRIER) {
    bool elsewhere = f->other_line && f->other_line != f->line && own;
    if (elsewhere) snprintf(other, sizeof other, " at line %u", f->other_line);
    verdict_add(v, "  the other: thread (%u,%u,%u)%s", f->other_thread[0], f->other_thread[1],
                f->other_thread[2], other);
    if (elsewhere) add_line(v, e, f->other_line);
  }
  if (f->count > 1)
    verdict_add(v, "  this line did so %" PRIu64 " times; the first is shown", f->count);
}

bool judge_clean(struct verdict *v, const struct evidence *e)
{
  enum { TOLD = 3 };                      /* more would hide the first */
  bool clean = true;
  if (e->nlaunches == 0) {                /* never a pass, and not the student's doing */
    verdict_fail(v, "no launch came back");
    v->not_graded = true;
    return false;
  }
  for (size_t i = 0; i < e->nlaunches; i++) {
    const struct sim_result *r = &e->launches[i];
    for (size_t k = 0; k < r->nfaults && k < TOLD; k++) tell_fault(v, e, &r->faults[k]);
    if (r->nfaults > TOLD)
      verdict_add(v, "and %zu more fault%s of other lines", r->nfaults - TOLD,
                  r->nfaults - TOLD == 1 ? "" : "s");
    if (r->nfaults == 0 && !r->completed)
      verdict_fail(v, "%s: the kernel did not run to its end", e->file);
    if (r->nfaults || !r->completed) {
      clean = false;
      break;                              /* later launches suffer from the first */
    }
  }
  return clean;
}

/* ---- values ------------------------------------------------------------------------------- */

enum { SHOWN = 4 };

struct mismatch {
  size_t wrong, unwritten, nan, first_row, columns;
};

/* Room of the buffer, or a verdict of our own fault. */
static bool holds(struct verdict *v, const struct evidence *e, int buffer, size_t bytes)
{
  if (buffer >= 0 && (size_t)buffer < e->nbuffers && e->buffers[buffer] &&
      e->buffer_bytes[buffer] >= bytes)
    return true;
  verdict_fail(v, "the test compares more than came back");
  v->not_graded = true;
  return false;
}

static void place(const struct evidence *e, int buffer, size_t i, size_t columns, char *out,
                  size_t size)
{
  const char *name = e->buffer_names ? e->buffer_names[buffer] : "result";
  if (columns > 1 && columns != SIZE_MAX)
    snprintf(out, size, "%s, row %zu, column %zu", name, i / columns, i % columns);
  else
    snprintf(out, size, "%s[%zu]", name, i);
}

static bool untouched(const struct evidence *e, int buffer, size_t at, size_t bytes)
{
  const char *now = e->buffers[buffer], *before = e->before ? e->before[buffer] : NULL;
  return before && !memcmp(before + at, now + at, bytes);
}

static void summarise(struct verdict *v, const struct evidence *e, int buffer,
                      const struct mismatch *m, size_t count)
{
  verdict_fail(v, "%s: %zu of %zu values of %s are wrong%s", e->file, m->wrong, count,
               e->buffer_names ? e->buffer_names[buffer] : "the result",
               m->unwritten == m->wrong ? ": they were never written"
               : m->nan == m->wrong     ? ": they are not numbers (NaN)"
                                        : "");
  if (m->unwritten && m->unwritten != m->wrong)
    verdict_add(v, "  %zu of them were never written", m->unwritten);
}

bool judge_floats(struct verdict *v, const struct evidence *e, int buffer, const double *want,
                  size_t count, size_t columns, double bound)
{
  if (!holds(v, e, buffer, count * sizeof(float))) return false;
  const float *got = e->buffers[buffer];
  struct mismatch m = {0};
  size_t shown[SHOWN];
  for (size_t i = 0; i < count; i++) {
    if (fabs((double)got[i] - want[i]) <= bound) continue;
    if (isinf(want[i]) && (double)got[i] == want[i]) continue;   /* inf - inf is NaN */
    if (m.wrong < SHOWN) shown[m.wrong] = i;
    m.wrong++;
    m.nan += isnan(got[i]);
    m.unwritten += untouched(e, buffer, i * sizeof(float), sizeof(float));
  }
  if (m.wrong == 0) return true;
  summarise(v, e, buffer, &m, count);
  for (size_t k = 0; k < m.wrong && k < SHOWN; k++) {
    char where[96];
    place(e, buffer, shown[k], columns, where, sizeof where);
    if (untouched(e, buffer, shown[k] * sizeof(float), sizeof(float)))
      verdict_add(v, "  %s: expected %.9g, never written", where, want[shown[k]]);
    else
      verdict_add(v, "  %s: expected %.9g, got %.9g", where, want[shown[k]], got[shown[k]]);
  }
  if (bound > 0) verdict_add(v, "  a difference of up to %.3g is accepted", bound);
  return false;
}

bool judge_ints(struct verdict *v, const struct evidence *e, int buffer, const int32_t *want,
                size_t count, size_t columns)
{
  if (!holds(v, e, buffer, count * sizeof(int32_t))) return false;
  const int32_t *got = e->buffers[buffer];
  struct mismatch m = {0};
  size_t shown[SHOWN];
  for (size_t i = 0; i < count; i++) {
    if (got[i] == want[i]) continue;
    if (m.wrong < SHOWN) shown[m.wrong] = i;
    m.wrong++;
    m.unwritten += untouched(e, buffer, i * sizeof(int32_t), sizeof(int32_t));
  }
  if (m.wrong == 0) return true;
  summarise(v, e, buffer, &m, count);
  for (size_t k = 0; k < m.wrong && k < SHOWN; k++) {
    char where[96];
    place(e, buffer, shown[k], columns, where, sizeof where);
    if (untouched(e, buffer, shown[k] * sizeof(int32_t), sizeof(int32_t)))
      verdict_add(v, "  %s: expected %" PRId32 ", never written", where, want[shown[k]]);
    else
      verdict_add(v, "  %s: expected %" PRId32 ", got %" PRId32, where, want[shown[k]],
                  got[shown[k]]);
  }
  return false;
}
