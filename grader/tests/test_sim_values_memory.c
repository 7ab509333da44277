/* ld and st of every type, vector length and register width in every space: the bytes are what
 * memcpy makes of them, and what is narrower than its register is extended as its type says. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_values.h"

static const struct type { const char *text; unsigned bytes; bool is_signed, is_float; } types[] = {
    {"b8", 1, false, false},  {"u8", 1, false, false},  {"s8", 1, true, false},
    {"b16", 2, false, false}, {"u16", 2, false, false}, {"s16", 2, true, false},
    {"b32", 4, false, false}, {"u32", 4, false, false}, {"s32", 4, true, false},
    {"f32", 4, false, true},  {"b64", 8, false, false}, {"u64", 8, false, false},
    {"s64", 8, true, false},  {"f64", 8, false, true}};
static const struct reg { char letter; unsigned bits; bool is_float; } regs[] = {
    {'h', 16, false}, {'w', 32, false}, {'l', 64, false}, {'f', 32, true}, {'d', 64, true}};
static const struct place { const char *space, *at; } places[] = {
    {".shared", "%sm"}, {".global", "%gm"}, {".local", "%lm"}, {"", "%sg"}, {"", "%gm"}, {"", "%lg"},
    {".volatile.shared", "%sm"}, {".relaxed.gpu.global", "%gm"}};

/* arg: type index, elements << 8, register bits << 16. */
static uint64_t element(const uint8_t *at, const struct type *t, unsigned k)
{
  uint64_t v = 0;
  memcpy(&v, at + k * t->bytes, t->bytes);
  return t->is_signed ? (uint64_t)SX(v, 8 * t->bytes) : v;
}
/* D is the first element and Q the last. */
static void load(struct lane_values *v)
{
  uint8_t bytes[16];
  memcpy(bytes, &v->a, 8);
  memcpy(bytes + 8, &v->b, 8);
  const struct type *t = &types[v->arg & 255];
  v->d = element(bytes, t, 0);
  v->q = element(bytes, t, (v->arg >> 8 & 255) - 1u);
}
/* Elements are A, B, C, E; memory was D, Q. */
static void store(struct lane_values *v)
{
  uint8_t bytes[16];
  const uint64_t from[] = {v->a, v->b, v->c, v->e};
  memcpy(bytes, &v->was_d, 8);
  memcpy(bytes + 8, &v->was_q, 8);
  unsigned each = types[v->arg & 255].bytes;
  for (unsigned k = 0; k < (v->arg >> 8 & 255u); k++) memcpy(bytes + k * each, &from[k], each);
  memcpy(&v->d, bytes, 8);
  memcpy(&v->q, bytes + 8, 8);
}

static struct value_row *rows;
static size_t count, room;

static void add_row(const char *sig, const char *text, reference *ref, int arg)
{
  if (count == room) rows = realloc(rows, (room = 2 * room + 64) * sizeof *rows);
  ck_assert_ptr_nonnull(rows);
  rows[count++] = (struct value_row){strdup(sig), strdup(text), ref, arg};
}

static void add_rows(const struct place *p, unsigned type, const struct reg *r, unsigned n)
{
  const struct type *t = &types[type];
  static const char *const into[] = {"D", "D", "{D,Q}", NULL, "{D,_,_,Q}"};
  static const char *const from[] = {"A", "A", "{A,B}", NULL, "{A,B,C,E}"};
  const char *v = n == 1 ? "" : n == 2 ? ".v2" : ".v4";
  char sig[16], text[300];
  int arg = (int)(type | n << 8);
  /* spaces without ordering for the plain accesses around it */
  const char *plain = strstr(p->space, "shared") ? ".shared" : strstr(p->space, "global") ? ".global"
                      : p->space;
  snprintf(sig, sizeof sig, "%c%c=ll", r->letter, r->letter);
  if (n == 1) strcpy(sig + 1, "=ll");
  snprintf(text, sizeof text, "!st%s.v2.b64 [%s],{A,B}; ld%s%s.%s %s,[%s]", plain, p->at, p->space, v,
           t->text, into[n], p->at);
  add_row(sig, text, load, arg);
  char in[5] = {r->letter, r->letter, r->letter, r->letter, 0};
  in[n] = 0;
  snprintf(sig, sizeof sig, "ll=%s", in);
  snprintf(text, sizeof text, "!st%s.v2.b64 [%s],{D,Q}; st%s%s.%s [%s],%s; !ld%s.v2.b64 {D,Q},[%s]",
           plain, p->at, p->space, v, t->text, p->at, from[n], plain, p->at);
  add_row(sig, text, store, arg);
}

struct value_table values_memory(void)
{
  if (!rows)
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
      for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t r = 0; r < sizeof regs / sizeof *regs; r++)
          for (unsigned n = 1; n <= 4; n *= 2) {
            if (n * types[t].bytes > 16 || regs[r].bits < 8 * types[t].bytes) continue;
            bool bits = types[t].text[0] == 'b';
            if (regs[r].is_float && !bits && !types[t].is_float) continue;
            if (regs[r].is_float && regs[r].bits != 8 * types[t].bytes) continue;
            if (types[t].is_float && regs[r].bits != 8 * types[t].bytes) continue;
            add_rows(&places[p], t, &regs[r], n);
          }
  return (struct value_table){"memory", rows, count};
}
