/* Nothing is silently unknown: of every instruction in ops.def, one of each type is written down
 * from its row, read and loaded.  Either the simulator refuses it, with the instruction and its line
 * in the message, or a test runs it: a row of the value tables, or the file named below. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "sim_values.h"

/* Run, and tested by more than a row: where, and a text that stands there. */
static const struct elsewhere { enum ptx_op op; const char *file, *text; } elsewhere[] = {
#define ELSEWHERE(op, file, text) {PTX_##op, "grader/tests/" file, text},
#include "sim/elsewhere.def"
#undef ELSEWHERE
  {PTX_OPS, "", ""}
};

/* Instructions whose operands the row does not tell enough of. */
static const struct { enum ptx_op op; const char *text; } written[] = {
    {PTX_BRA, "bra lab"}, {PTX_BRX_IDX, "brx.idx %w0, table"}, {PTX_CALL, "call fn"},
    {PTX_MOV, "mov.u32 %w0, %w1"}, {PTX_CVT, "cvt.u32.u64 %w0, %l0"},
    {PTX_MMA, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%w0, %w1}, "
              "{%w2}, {%f4, %f5, %f6, %f7}"},
};

/* ---- an instruction from its row ------------------------------------------------------------- */

struct words { char at[64][260]; unsigned n; };

static struct words split(const char *text, char by)
{
  struct words w = {.n = 0};
  while (*text && w.n < 64) {
    size_t n = strcspn(text, (char[]){by, 0});
    if (n && n < 260) {
      memcpy(w.at[w.n], text, n);
      w.at[w.n++][n] = 0;
    }
    text += n + (text[n] == by);
  }
  return w;
}

/* The types a column allows: sets by name are spelt out. */
static struct words types_of(const char *column)
{
  char all[600] = "";
  struct words names = split(column, '|');
  for (unsigned k = 0; k < names.n; k++) {
    const char *t = names.at[k];
    if (!strcmp(t, "int")) t = "u16|u32|u64|s16|s32|s64";
    else if (!strcmp(t, "bits")) t = "b16|b32|b64";
    else if (!strcmp(t, "plain")) t = "u8|s8|u16|s16|u32|s32|u64|s64|b8|b16|b32|b64|f32|f64|b128";
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s|", t);
  }
  return split(all, '|');
}

static const char classes[] = "wlhfdpq";

static void operand(char *out, size_t size, const char *token, char class, unsigned k)
{
  if (!strcmp(token, "p")) snprintf(out, size, "%%p%u", k);
  else if (!strcmp(token, "p|q")) snprintf(out, size, "%%p%u", k);
  else if (!strcmp(token, "d|p")) snprintf(out, size, "%%%c%u|%%p0", class, k);
  else if (!strcmp(token, "s")) snprintf(out, size, "%%p%u", k);
  else if (!strcmp(token, "#")) snprintf(out, size, "8");
  else if (!strcmp(token, "[t]")) snprintf(out, size, "[%%l%u, {%%w1}]", k);
  else if (token[0] == '[') snprintf(out, size, "[%%l%u]", k);
  else if (token[0] == '{') snprintf(out, size, "{%%%c1, %%%c2}", class, class);
  else snprintf(out, size, "%%%c%u", class, k);
}

/* Try number `attempt`: operands as wide as the type first, then of other classes. */
static void instruction(char *out, size_t size, enum ptx_op op, const struct ptx_form *form,
                        const char *type, unsigned attempt)
{
  size_t n = (size_t)snprintf(out, size, "%s", ptx_op_text(op));
  struct words groups = split(form->mods, ' '), columns = split(form->types, ' ');
  for (unsigned k = 0; k < groups.n && strcmp(form->mods, "*"); k++) {
    if (groups.at[k][strlen(groups.at[k]) - 1] != '!') continue;
    size_t length = strcspn(groups.at[k], "|!");
    n += (size_t)snprintf(out + n, size - n, ".%.*s", (int)length, groups.at[k]);
  }
  for (unsigned k = 0; k < columns.n && strcmp(form->types, "*"); k++) {
    if (columns.at[k][strlen(columns.at[k]) - 1] == '?') continue;
    n += (size_t)snprintf(out + n, size - n, ".%s", k ? types_of(columns.at[k]).at[0] : type);
  }
  unsigned bits = 32;
  for (unsigned t = 1; t < PTX_TYPES; t++)
    if (!strcmp(ptx_type_text((enum ptx_type)t), type)) bits = ptx_type_bits((enum ptx_type)t);
  char own = bits == 1 ? 'p' : bits <= 16 ? 'h' : bits == 64 ? 'l' : bits == 128 ? 'q' : 'w';
  struct words shape = split(form->shape, ' ');
  unsigned digits = attempt;
  for (unsigned k = 0, said = 0; k < shape.n; k++) {
    bool dots = !strcmp(shape.at[k], "...");
    char last = shape.at[k][strlen(shape.at[k]) - 1];
    if (last == '?') continue;
    for (unsigned r = 0; r < (dots ? 3u : 1u); r++) {
      char one[60], class = attempt == 0 ? own : classes[digits % 7];
      if (attempt) digits /= 7;
      operand(one, sizeof one, dots ? "a" : shape.at[k], class, said);
      n += (size_t)snprintf(out + n, size - n, "%s%s", said++ ? ", " : " ", one);
    }
  }
}

enum { LINE = 8 };
static const char *const frame =
    ".version 8.8\n.target sm_100a\n.address_size 64\n"
    ".func fn() { ret; }\n.visible .entry k()\n"
    "{ .reg .b16 %%h<9>; .reg .b32 %%w<9>; .reg .b64 %%l<9>; .reg .f32 %%f<9>; .reg .f64 %%d<9>;\n"
    ".reg .pred %%p<9>; .reg .b128 %%q<9>; table: .branchtargets lab;\n%s;\nlab: ret;\n}\n";

enum outcome { UNREADABLE, REFUSED, RUNS };

/* Reads and loads it.  A refusal must name the instruction and its line. */
static enum outcome try(enum ptx_op op, const char *instruction)
{
  char text[2000];
  struct ptx_error error = {0};
  int n = snprintf(text, sizeof text, frame, instruction);
  struct ptx_module *m = ptx_read(text, (size_t)n, &error);
  if (!m) return UNREADABLE;
  struct sim_options options = {.threads = 1};
  struct sim *sim = sim_open(&options);
  bool ok = sim_load(sim, m, &error);
  sim_close(sim);
  ptx_free(m);
  if (ok) return RUNS;
  ck_assert_msg(error.line == LINE, "%s: refused with line %u, not %d", instruction, error.line, LINE);
  ck_assert_msg(strstr(error.text, ptx_op_text(op)) && strstr(error.text, ": "),
                "%s: refused without its name: %s", instruction, error.text);
  return REFUSED;
}

static bool tested(enum ptx_op op)
{
  static const struct value_table *const tables[] = {&values_int,     &values_bits,    &values_float,
                                                     &values_compare, &values_convert, &values_move,
                                                     &values_warp,    &values_atomic};
  const char *name = ptx_op_text(op);
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
    if (sim_values_has(tables[k]->rows, tables[k]->count, name)) return true;
  struct value_table memory = values_memory();
  if (sim_values_has(memory.rows, memory.count, name)) return true;
  for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++) {
    if (elsewhere[k].op != op) continue;
    char *text = run_read(elsewhere[k].file, NULL);
    ck_assert_msg(text != NULL, "%s cannot be read", elsewhere[k].file);
    ck_assert_msg(strstr(text, elsewhere[k].text) != NULL, "%s: there is no '%s' in it any more",
                  elsewhere[k].file, elsewhere[k].text);
    free(text);
    return true;
  }
  return false;
}

START_TEST(every_op)
{
  char wrong[6000] = "";
  unsigned refused = 0, run = 0;
  for (int o = 0; o < PTX_OPS; o++) {
    enum ptx_op op = (enum ptx_op)o;
    bool readable = false, runs = false;
    for (size_t k = 0; k < sizeof written / sizeof *written; k++) {
      if (written[k].op != op) continue;
      enum outcome r = try(op, written[k].text);
      readable |= r != UNREADABLE;
      runs |= r == RUNS;
    }
    for (unsigned f = 0; f < ptx_form_count(op); f++) {
      struct ptx_form form = ptx_form(op, f);
      struct words columns = split(form.types, ' ');
      struct words types = types_of(columns.n && strcmp(form.types, "*") ? columns.at[0] : "b32");
      for (unsigned t = 0; t < types.n; t++) {
        char text[400];
        enum outcome r = UNREADABLE;
        for (unsigned attempt = 0; attempt < 120 && r == UNREADABLE; attempt++) {
          instruction(text, sizeof text, op, &form, types.at[t], attempt);
          r = try(op, text);
        }
        readable |= r != UNREADABLE;
        runs |= r == RUNS;
      }
    }
    refused += !runs;
    run += runs;
    const char *bad = !readable ? "could not be written down from its row"
                      : runs && !tested(op) ? "runs, but no value table and no row of sim/elsewhere.def names it" : NULL;
    size_t n = strlen(wrong);
    if (bad) snprintf(wrong + n, sizeof wrong - n, "\n  %s: %s", ptx_op_text(op), bad);
  }
  ck_assert_msg(!*wrong, "%s", wrong);
  ck_assert_uint_gt(run, 90);
  ck_assert_uint_gt(refused, 20);
}
END_TEST

Suite *suite_sim_coverage(void)
{
  Suite *s = suite_create("sim_coverage");
  TCase *t = tcase_create("coverage");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, every_op);
  suite_add_tcase(s, t);
  return s;
}
