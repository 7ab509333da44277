/* Chapter 05: the exercise in C and the predictions. */
#include <inttypes.h>
#include <stdio.h>

#include "suites/ch05.h"
#include "suites/quiz.h"

/* ---- phases.c ------------------------------------------------------------------------------ */

enum { QUESTIONS = 92 };
struct shape { int width, a, b; uint32_t mask; };

static const int widths[] = {1, 2, 4, 8, 16};

/* The model asked: a load whose lanes read different addresses, so that nothing is merged. */
static struct access shape_access(int width, int pitch, uint32_t mask)
{
  struct access a = {.op = MODEL_STORE, .width = (uint32_t)width, .mask = mask};
  for (int t = 0; t < MODEL_LANES; t++) a.addr[t] = (uint64_t)t * pitch;
  return a;
}

static int64_t want_phases(const void *q)
{
  const struct shape *s = q;
  struct access a = shape_access(s->width, s->width, s->mask);
  return model_cost(&a).phases;
}

static int64_t want_column(const void *q)
{
  const struct shape *s = q;
  if (s->a % s->width) return -1;
  struct access a = shape_access(s->width, s->a, UINT32_MAX);
  return model_cost(&a).wavefronts;
}

static int64_t want_pitch(const void *q)
{
  const struct shape *s = q;
  return model_pitch((uint32_t)s->a, (uint32_t)s->width, MODEL_LANES);
}

static void call_phases(const void *q, char *text, size_t size)
{
  const struct shape *s = q;
  snprintf(text, size, "phases(%d, 0x%08x)", s->width, s->mask);
}

static void call_column(const void *q, char *text, size_t size)
{
  const struct shape *s = q;
  snprintf(text, size, "column(%d, %d)", s->width, s->a);
}

static void call_pitch(const void *q, char *text, size_t size)
{
  const struct shape *s = q;
  snprintf(text, size, "legal_pitch(%d, %d)", s->a, s->width);
}

static void show_column(struct prose *p, const void *q)
{
  const struct shape *s = q;
  if (s->a % s->width)
    prose_add(p, "  lane 1 is at byte %d, which is no multiple of %d: that access faults", s->a,
              s->width);
  else
    prose_add(p, "  try: build/banks wavefronts --op load --width %d --expr 't*%d'", s->width,
              s->a);
}

static void show_pitch(struct prose *p, const void *q)
{
  const struct shape *s = q;
  prose_add(p, "  a pitch must be a multiple of %d, at least %d, and cost %d wavefronts a column",
            s->width, s->a, s->width <= 4 ? 1 : s->width / 4);
}

/* Lanes counted, not words: the answer of whoever forgets that bytes share a word. */
static int64_t lanes_counted(const void *q)
{
  const struct shape *s = q;
  uint32_t most = 0, count[MODEL_BANKS] = {0};
  if (s->a % s->width) return -1;
  for (int t = 0; t < MODEL_LANES; t++)
    for (int at = t * s->a; at < t * s->a + s->width; at += MODEL_WORD) {
      uint32_t n = ++count[at / MODEL_WORD % MODEL_BANKS];
      if (n > most) most = n;
    }
  return most;
}

/* The dearest phase alone: all phases of a column cost the same. */
static int64_t dearest(const void *q)
{
  const struct shape *s = q;
  int64_t all = want_column(q);
  return all < 0 || s->width <= 4 ? all : all / (s->width / 4);
}

static const struct idea column_ideas[] = {
  {lanes_counted, "count lanes: lanes that want the same word are served together"},
  {dearest, "take the dearest phase: all phases take their turn, so add them up"},
  {NULL, NULL}
};

static struct shape phase_question(struct rng *r, int i)
{
  static const uint32_t masks[] = {UINT32_MAX, 1, 0x80000000, 0x00010001, 0x01010101, 0xff00};
  uint32_t random = (uint32_t)rng_next(r) & (uint32_t)rng_next(r) & (uint32_t)rng_next(r);
  if (i >= QUESTIONS - 32)                /* one lane alone, each in its turn */
    return (struct shape){.width = widths[2 + random % 3], .mask = 1u << (i - (QUESTIONS - 32))};
  return (struct shape){.width = widths[i % 5], .mask = i < 30 ? masks[i / 5] : random};
}

static struct shape column_question(struct rng *r, int i)
{
  int width = widths[i % 5], steps = i < 25 ? 1 << i / 5 : (int)rng_below(r, 60) + 1;
  int pitch = width * steps;
  if (width > 1 && i >= 50) pitch += 1 + (int)rng_below(r, (uint32_t)width - 1);
  return (struct shape){.width = width, .a = pitch};
}

static struct shape pitch_question(struct rng *r, int i)
{
  int width = widths[i % 5], steps = i < 25 ? 32 >> i / 5 : (int)rng_below(r, 60) + 1;
  return (struct shape){.width = width, .a = width * steps};
}

#define QUIZ(name, question, format, first, second, want, call, show, ideas)                      \
  static void plan_##name(struct plan *p, struct rng *r)                                          \
  {                                                                                               \
    for (int i = 0; i < QUESTIONS; i++) {                                                         \
      struct shape s = question(r, i);                                                            \
      plan_ask(p, #name format, first, second);                                                   \
    }                                                                                             \
  }                                                                                               \
  static void judge_##name(struct verdict *v, const struct evidence *e, struct rng *r)            \
  {                                                                                               \
    struct shape s[QUESTIONS];                                                                    \
    for (int i = 0; i < QUESTIONS; i++) s[i] = question(r, i);                                    \
    judge_quiz(v, e, &(struct quiz){s, sizeof *s, QUESTIONS, want, call, show, ideas});           \
  }

QUIZ(phases, phase_question, " %d %u", s.width, s.mask, want_phases, call_phases, NULL, NULL)
QUIZ(column, column_question, " %d %d", s.width, s.a, want_column, call_column, show_column,
     column_ideas)
QUIZ(pitch, pitch_question, " %d %d", s.width, s.a, want_pitch, call_pitch, show_pitch, NULL)

const struct test ch05_phases[] = {
  {"phases", 1, plan_phases, judge_phases},
  {"columns", 1.5, plan_column, judge_column},
  {"pitches", 1.5, plan_pitch, judge_pitch},
  {0}
};

/* ---- predictions.txt ----------------------------------------------------------------------- */

static uint32_t cost_of(enum model_op op, int width, int pitch, bool excess)
{
  struct access a = shape_access(width, pitch, UINT32_MAX);
  a.op = op;
  struct model_cost cost = model_cost(&a);
  return excess ? cost.wavefronts - cost.ideal : cost.wavefronts;
}

static uint32_t aligned_lanes(int pitch, int width)
{
  uint32_t count = 0;
  for (int t = 0; t < MODEL_LANES; t++) count += t * pitch % width == 0;
  return count;
}

const char *const ch05_names[] = {
  "float4_row", "float4_excess", "double_row", "chunk_32", "chunk_36", "chunk_40", "aligned_33",
  "half_32", "half_34", "half_36", "char_32", "char_36", "struct_8", "struct_9", "array", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
#define TRY(width, expr) \
  "try: build/banks wavefronts --op load --width " #width " --expr '" #expr "'"
  struct prediction rows[] = {
      {"float4_row", cost_of(MODEL_LOAD, 16, 16, false), TRY(16, t * 16)},
      {"float4_excess", cost_of(MODEL_LOAD, 16, 16, true),
       "what does the same picture call excess?"},
      {"double_row", cost_of(MODEL_STORE, 8, 8, false),
       "two words a lane, 32 words a wavefront"},
      {"chunk_32", cost_of(MODEL_LOAD, 16, 4 * 32, false), TRY(16, t * 32 * 4)},
      {"chunk_36", cost_of(MODEL_LOAD, 16, 4 * 36, false), TRY(16, t * 36 * 4)},
      {"chunk_40", cost_of(MODEL_LOAD, 16, 4 * 40, false), TRY(16, t * 40 * 4)},
      {"aligned_33", aligned_lanes(4 * 33, 16),
       "lane t is at byte 132 * t: when does 16 divide it?"},
      {"half_32", cost_of(MODEL_LOAD, 2, 2 * 32, false), TRY(2, t * 32 * 2)},
      {"half_34", cost_of(MODEL_LOAD, 2, 2 * 34, false), TRY(2, t * 34 * 2)},
      {"half_36", cost_of(MODEL_LOAD, 2, 2 * 36, false), TRY(2, t * 36 * 2)},
      {"char_32", cost_of(MODEL_LOAD, 1, 32, false), TRY(1, t * 32)},
      {"char_36", cost_of(MODEL_LOAD, 1, 36, false), TRY(1, t * 36)},
      {"struct_8", cost_of(MODEL_LOAD, 4, 4 * 8, false), TRY(4, t * 8 * 4)},
      {"struct_9", cost_of(MODEL_LOAD, 4, 4 * 9, false), TRY(4, t * 9 * 4)},
      {"array", cost_of(MODEL_LOAD, 4, 4, false), TRY(4, t * 4)},
  };
#undef TRY
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

const struct test ch05_predictions[] = {
  {"predictions", 3, NULL, judge_predict},
  {0}
};
