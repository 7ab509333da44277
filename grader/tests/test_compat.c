/* Files as authors have them: many kernels, of which some are beyond the simulator; and PTX of
 * other compilers (tests/kernels holds more of it). */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"
#include "sim/sim.h"

/* What a file may hold, and what each kernel must get: NULL runs, else why not. */
static const char many[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".func later();\n"
    ".global .align 8 .u64 table[1] = {behind};\n"
    ".global .align 8 .u64 tables[1] = {table};\n"
    ".visible .entry good(.param .u64 out)\n{\n.reg .b64 %p; .reg .b32 %r;\n"
    "ld.param.u64 %p, [out];\n{ call behind_good, (); }\n"
    "mov.u32 %r, 7; st.global.u32 [%p], %r;\nret;\n}\n"
    ".visible .entry unread(.param .u64 out)\n{\n.reg .b32 %r<9>;\nlab: { .reg .b32 %x; }\n"
    "frobnicate.v4.b32 {%r1, %r2, %r3, %r4}, [{%r1}]; bra nowhere;\n{ bra lab; }\nret;\n}\n"
    ".visible .entry unrun(.param .u64 out)\n{\n.reg .b32 %r;\nmov.u32 %r, %envreg2;\nret;\n}\n"
    ".visible .entry calls(.param .u64 out)\n{\ncall later, ();\nret;\n}\n"
    ".visible .entry sees(.param .u64 out)\n{\n.reg .b64 %p;\nmov.u64 %p, tables;\nret;\n}\n"
    ".func later()\n{\ncall last, ();\nret;\n}\n"
    ".func behind_good()\n{\nret;\n}\n"
    ".func last()\n{\nwobble.s32 %r1;\nret;\n}\n"
    ".func behind()\n{\ntwaddle.s32 1;\nret;\n}\n"
    ".visible .entry after(.param .u64 out)\n{\nret;\n}\n";

static const struct { const char *kernel, *why; } each[] = {
    {"good", NULL}, {"unread", "frobnicate"}, {"unrun", "envreg2"}, {"calls", "wobble"},
    {"sees", "twaddle"}, {"after", NULL}};

/* Declarations stand before their use. */
static const char *text_of(void)
{
  static char text[sizeof many + 100];
  const char *at = strstr(many, ".func later();\n");
  snprintf(text, sizeof text, "%.*s.func last();\n.func behind();\n.func behind_good();\n%s",
           (int)(at - many), many, at);
  return text;
}

START_TEST(one_of_many)
{
  const char *text = text_of();
  struct ptx_error e;
  ck_assert_ptr_null(ptx_read(text, strlen(text), &e));
  ck_assert_msg(strstr(e.text, "frobnicate"), "%s", e.text);
  struct ptx_module *m = ptx_read_some(text, strlen(text), &e);
  ck_assert_msg(m != NULL, "line %u: %s", e.line, e.text);
  for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
    struct sim_options o = {.threads = 1};
    struct sim *sim = sim_open(&o);
    const struct ptx_function *f = ptx_find_entry(m, each[k].kernel);
    ck_assert_msg(f != NULL, "%s", each[k].kernel);
    uint64_t out = sim_alloc(sim, 4, "out", false);
    bool loaded = sim_load_for(sim, m, f, &e);
    if (each[k].why) {
      ck_assert_msg(!loaded && strstr(e.text, each[k].why), "%s: %d %s", each[k].kernel, loaded,
                    e.text);
      ck_assert_msg(e.line > 3, "%s: line %u", each[k].kernel, e.line);
    } else {
      ck_assert_msg(loaded, "%s: %s", each[k].kernel, e.text);
      struct sim_launch l = {.kernel = f->name, .grid = {1, 1, 1}, .block = {1, 1, 1},
                             .params = &out, .param_bytes = 8};
      struct sim_result r;
      ck_assert(sim_launch(sim, &l, &r));
      if (k == 0) ck_assert_int_eq(*(int *)sim_host(sim, out, 4), 7);
      sim_result_free(&r);
    }
    sim_close(sim);
  }
  struct sim *sim = sim_open(&(struct sim_options){.threads = 1});
  ck_assert(!sim_load(sim, m, &e));   /* all of it cannot */
  sim_close(sim);
  ptx_free(m);
}
END_TEST

/* What cannot be skipped is still an error. */
START_TEST(no_end)
{
  static const char *const ends[] = {"{ frob.b32 %r; ", "{ frob.b32 {%r; } ", "{ frob.b32 /* ; }\n"};
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    char text[200];
    struct ptx_error e;
    snprintf(text, sizeof text, ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n%s",
             ends[k]);
    ck_assert_ptr_null(ptx_read_some(text, strlen(text), &e));
    ck_assert(e.line >= 5 && *e.text);
  }
}
END_TEST

/* Blocks run one by one: a kernel that asks for clusters would read its own block's memory. */
START_TEST(clusters)
{
  static const char *const dims[] = {"1, 1, 1", "2, 1, 1", "4", "1, 1, 2"};
  for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
    char text[200];
    struct ptx_error e;
    snprintf(text, sizeof text, ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".entry k() .explicitcluster .reqnctapercluster %s\n{ ret; }\n", dims[k]);
    struct ptx_module *m = ptx_read(text, strlen(text), &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    struct sim *sim = sim_open(&(struct sim_options){.threads = 1});
    ck_assert_msg(sim_load(sim, m, &e) == (k == 0), "%s", dims[k]);
    if (k) ck_assert_msg(e.line == 4 && strstr(e.text, "clusters of"), "%s", e.text);
    sim_close(sim);
    ptx_free(m);
  }
}
END_TEST

/* One warp hands a word to another through a flag, by release and acquire, as cuda::latch does: in
 * order, and only with both. */
static const struct { const char *give, *take; bool race; } handed[] = {
    {"st.release.cta.shared.u32 [flag], 1", "ld.acquire.cta.shared.u32 %f, [flag]", false},
    {"red.release.cta.shared.add.u32 [flag], 1", "ld.acquire.cta.shared.u32 %f, [flag]", false},
    {"atom.acq_rel.cta.shared.add.u32 %f, [flag], 1",
     "atom.acquire.cta.shared.add.u32 %f, [flag], 0", false},
    {"st.relaxed.cta.shared.u32 [flag], 1", "ld.acquire.cta.shared.u32 %f, [flag]", true},
    {"st.release.cta.shared.u32 [flag], 1", "ld.relaxed.cta.shared.u32 %f, [flag]", true}};

START_TEST(handed_over)
{
  char text[1500];
  struct ptx_error e;
  struct sim_result r;
  snprintf(text, sizeof text,
           ".version 8.0\n.target sm_80\n.address_size 64\n.shared .b32 data; .shared .b32 flag;\n"
           ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %%t, %%f, %%v; .reg .pred %%p, %%q;\n"
           ".reg .b64 %%o; ld.param.u64 %%o, [out];\n"
           "mov.u32 %%t, %%tid.x; setp.eq.u32 %%p, %%t, 0; setp.eq.u32 %%q, %%t, 32;\n"
           "@%%p st.shared.u32 [flag], 0; bar.sync 0; @%%q bra take; @!%%p ret;\n"
           "st.shared.u32 [data], 42; %s; ret;\n"
           "take: %s; setp.eq.u32 %%p, %%f, 0; @%%p bra take;\n"
           "ld.shared.u32 %%v, [data]; st.global.u32 [%%o], %%v; ret;\n}\n",
           handed[_i].give, handed[_i].take);
  struct ptx_module *m = ptx_read(text, strlen(text), &e);
  ck_assert_msg(m != NULL, "line %u: %s", e.line, e.text);
  struct sim *sim = sim_open(&(struct sim_options){.threads = 1});
  uint64_t out = sim_alloc(sim, 4, "out", false);
  ck_assert_msg(sim_load(sim, m, &e), "%s", e.text);
  struct sim_launch l = {.kernel = "k", .grid = {1, 1, 1}, .block = {64, 1, 1}, .params = &out,
                         .param_bytes = 8};
  bool clean = sim_launch(sim, &l, &r);
  ck_assert_int_eq(*(int *)sim_host(sim, out, 4), 42);
  ck_assert_msg(clean != handed[_i].race, "%s; %s: %s", handed[_i].give, handed[_i].take,
                clean ? "clean" : r.faults[0].text);
  if (!clean) ck_assert_int_eq(r.faults[0].kind, SIM_FAULT_RACE);
  sim_result_free(&r);
  sim_close(sim);
  ptx_free(m);
}
END_TEST

Suite *suite_compat(void)
{
  Suite *s = suite_create("compat");
  TCase *t = tcase_create("files");
  tcase_add_test(t, one_of_many);
  tcase_add_test(t, no_end);
  tcase_add_test(t, clusters);
  tcase_add_loop_test(t, handed_over, 0, sizeof handed / sizeof *handed);
  suite_add_tcase(s, t);
  return s;
}
