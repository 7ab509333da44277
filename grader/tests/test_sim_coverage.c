/* Nothing is silently unknown: every form of every row of ptx/ops.def is written down with every
 * type and every modifier it allows (sim/known.h), read and loaded.  The simulator refuses it, with
 * the instruction, its line and a reason; or it runs, here, to the end of a small kernel.  What runs
 * is tested for its values elsewhere: in a row of the value tables, or in the file named below. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "sim/known.h"
#include "sim/tensormap.h"
#include "sim_values.h"

/* Run, and tested by more than a row: where, and a text that stands there. */
static const struct elsewhere { enum ptx_op op; const char *file, *text; } elsewhere[] = {
#define ELSEWHERE(op, file, text) {PTX_##op, "grader/tests/" file, text},
#include "sim/elsewhere.def"
#undef ELSEWHERE
  {PTX_OPS, "", ""}
};

/* Instructions that end the small kernel with a fault of this kind, and why. */
static const struct { enum ptx_op op; enum sim_fault_kind kind; const char *with; } faulty[] = {
    {PTX_TRAP, SIM_FAULT_TRAP, ""},
    {PTX_MBARRIER_INVAL, SIM_FAULT_UNINITIALISED, ""},   /* 32 lanes end it: the second finds none */
    {PTX_BARRIER_CLUSTER, SIM_FAULT_BARRIER, ".wait"},    /* nobody has arrived */
};

enum { MEMORY = 1 << 16 };

static unsigned rank_of(const struct ptx_spelling *s)
{
  for (unsigned k = 0; k < PTX_SPELL_GROUPS; k++)
    if (s->mods[k] != PTX_MODS && ptx_mod_text(s->mods[k])[1] == 'd' && !ptx_mod_text(s->mods[k])[2])
      return (unsigned)(*ptx_mod_text(s->mods[k]) - '0');
  return 1;
}

/* Runs the kernel; a fault is named in `wrong`. */
static void run(const struct sim_known_answer *a, char *wrong, size_t size)
{
  struct ptx_error error;
  struct ptx_module *m = ptx_read(a->kernel, strlen(a->kernel), &error);
  struct sim_options options = {.threads = 1, .no_checks = true, .step_budget = 10000};
  struct sim *sim = sim_open(&options);
  ck_assert_msg(m && sim_load(sim, m, &error), "%s: %s", a->instruction, error.text);
  struct sim_tensor map;
  struct { uint64_t memory, tensor, gap[2]; uint8_t in[64]; } params = {
      .memory = sim_alloc(sim, MEMORY, "memory", false),
      .tensor = sim_alloc(sim, sizeof map, "tensor", true)};
  uint64_t dims[5] = {4, 4, 2, 2, 2};
  uint32_t box[5] = {4, 4, 2, 2, 2};
  char why[160];
  ck_assert_msg(sim_tensor_map(&map, SIM_TENSOR_U32, rank_of(a->spelling), params.memory, dims, NULL,
                               box, MODEL_TMA_NONE, false, why, sizeof why), "%s", why);
  memcpy(sim_host(sim, params.tensor, sizeof map), &map, sizeof map);
  struct sim_launch launch = {.kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1},
                              .params = &params, .param_bytes = sizeof params};
  struct sim_result r;
  bool clean = sim_launch(sim, &launch, &r);
  enum sim_fault_kind kind = r.nfaults ? r.faults[0].kind : SIM_FAULT_NONE, allowed = SIM_FAULT_NONE;
  for (size_t k = 0; k < sizeof faulty / sizeof *faulty; k++)
    if (faulty[k].op == a->spelling->op && strstr(a->instruction, faulty[k].with)) allowed = faulty[k].kind;
  ck_assert_msg(clean == (r.nfaults == 0), "%s: faults and answer differ", a->instruction);
  if ((kind != allowed || (!kind && !r.completed)) && strlen(wrong) + 400 < size)
    snprintf(wrong + strlen(wrong), size - strlen(wrong), "\n  %s: %s", a->instruction,
             kind ? r.faults[0].text : allowed ? "no fault" : "did not end");
  sim_result_free(&r);
  sim_close(sim);
  ptx_free(m);
}

static bool tested(enum ptx_op op)
{
  static const struct value_table *const tables[] = {&values_int,     &values_bits,    &values_float,
                                                     &values_compare, &values_convert, &values_move,
                                                     &values_warp,    &values_atomic,
                                                     &values_pair,    &values_video};
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

static struct {
  char wrong[350000];
  size_t runs, refused;
  bool op_runs;
} seen;

static void look(void *user, const struct sim_known_answer *a)
{
  size_t n = strlen(seen.wrong);
  const char *bad = NULL;
  (void)user;
  if (a->known == SIM_KNOWN_UNREADABLE) {
    bad = "cannot be read";
  } else if (a->known == SIM_KNOWN_REFUSED) {
    seen.refused++;
    if (a->line != SIM_KNOWN_LINE) bad = "is refused with another line";
    else if (strncmp(a->text, a->instruction, 40 < strlen(a->instruction) ? 40 : strlen(a->instruction)))
      bad = "is refused without its name";
    else if (a->why == a->text || strlen(a->why) < 8) bad = "is refused without a reason";
  } else {
    seen.runs++;
    seen.op_runs = true;
    run(a, seen.wrong, sizeof seen.wrong);
  }
  if (bad && n + 200 < sizeof seen.wrong)
    snprintf(seen.wrong + n, sizeof seen.wrong - n, "\n  %s %s: %s", a->instruction, bad, a->text);
}

START_TEST(every_spelling)
{
  for (int o = 0; o < PTX_OPS; o++) {
    enum ptx_op op = (enum ptx_op)o;
    seen.op_runs = false;
    for (unsigned f = 0; f < ptx_form_count(op); f++) sim_known_each(op, f, look, NULL);
    if (seen.op_runs && !tested(op) && strlen(seen.wrong) + 200 < sizeof seen.wrong)
      snprintf(seen.wrong + strlen(seen.wrong), sizeof seen.wrong - strlen(seen.wrong),
               "\n  %s: runs, but no value table and no row of sim/elsewhere.def names it",
               ptx_op_text(op));
  }
  if (*seen.wrong) fprintf(stderr, "%s\n", seen.wrong);
  for (unsigned k = 0; k < PTX_SPECIALS; k++) {
    struct sim_known_answer a;
    sim_known_special((enum ptx_special)k, &a);
    look(NULL, &a);
  }
  ck_assert_msg(!*seen.wrong, "%.3000s", seen.wrong);
  ck_assert_uint_gt(seen.runs, 5000);
  ck_assert_uint_gt(seen.refused, 100);
}
END_TEST

/* chapters/instructions.md is what the program prints. */
START_TEST(page)
{
  char *printed, *file = run_read("chapters/instructions.md", NULL);
  const char *argv[] = {NULL, "instructions", NULL};
  ck_assert_int_eq(run_banks(&printed, argv), 0);
  ck_assert_msg(file != NULL, "chapters/instructions.md cannot be read");
  const char *a = printed, *b = file;
  for (unsigned line = 1; *a || *b; line++) {
    size_t na = strcspn(a, "\n"), nb = strcspn(b, "\n");
    ck_assert_msg(na == nb && !strncmp(a, b, na),
                  "chapters/instructions.md, line %u: build/banks instructions prints another: "
                  "%.*s\nbuild/banks instructions > chapters/instructions.md", line, (int)na, a);
    a += na + (a[na] == '\n');
    b += nb + (b[nb] == '\n');
  }
  free(printed);
  free(file);
}
END_TEST

Suite *suite_sim_coverage(void)
{
  Suite *s = suite_create("sim_coverage");
  TCase *t = tcase_create("coverage");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, every_spelling);
  tcase_add_test(t, page);
  suite_add_tcase(s, t);
  return s;
}
