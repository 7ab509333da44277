/* Files as authors have them: many kernels, of which some are beyond the simulator; and PTX of
 * other compilers (tests/kernels holds more of it). */
#define _GNU_SOURCE
#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
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

/* A grid is made of whole clusters, of at most 16 blocks. */
START_TEST(clusters)
{
  static const struct { const char *dims; uint32_t grid[3]; bool runs; } each_grid[] = {
      {"1, 1, 1", {3, 1, 1}, true}, {"2, 1, 1", {4, 1, 1}, true}, {"2, 1, 1", {3, 1, 1}, false},
      {"4", {8, 3, 1}, true}, {"1, 1, 2", {1, 1, 3}, false}, {"2, 4, 2", {2, 4, 4}, true},
      {"2, 3, 3", {2, 3, 3}, false}, {"4294967295, 2, 1", {2, 2, 1}, false}};
  for (size_t k = 0; k < sizeof each_grid / sizeof *each_grid; k++) {
    char text[200];
    struct ptx_error e;
    struct sim_result r;
    snprintf(text, sizeof text, ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".entry k() .explicitcluster .reqnctapercluster %s\n{ ret; }\n", each_grid[k].dims);
    struct ptx_module *m = ptx_read(text, strlen(text), &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    struct sim *sim = sim_open(&(struct sim_options){.threads = 1});
    ck_assert_msg(sim_load(sim, m, &e), "%s", e.text);
    struct sim_launch l = {.kernel = "k", .block = {32, 1, 1}, .params = ""};
    memcpy(l.grid, each_grid[k].grid, sizeof l.grid);
    ck_assert_msg(sim_launch(sim, &l, &r) == each_grid[k].runs, "%s", each_grid[k].dims);
    uint64_t blocks = (uint64_t)l.grid[0] * l.grid[1] * l.grid[2];
    if (each_grid[k].runs) ck_assert_uint_eq(r.totals.blocks, blocks);
    else ck_assert_msg(strstr(r.faults->text, "clusters of") != NULL, "%s", r.faults->text);
    sim_result_free(&r);
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

/* What a kernel may call through a pointer that another one made, and the shared variables of it: as many
 * bytes as ptxas 13.0 gives `k` (ptxas -v), each in a file of its own. */
static const char pointed_at[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".func (.param .b32 o) listed(.param .b32 i);\n"
    ".global .align 8 .u64 list[2] = {listed, 0};\n"
    ".global .align 8 .u64 lists[1] = {list};\n.global .align 8 .u64 data[1] = {7};\n"
    ".func (.param .b32 o) listed(.param .b32 i)\n{\n.reg .b32 %r; .shared .b32 b[200];\n"
    "ld.param.u32 %r, [i]; st.shared.u32 [b+796], %r; bar.sync 0; ld.shared.u32 %r, [b+796];\n"
    "add.u32 %r, %r, 100; st.param.b32 [o], %r; ret;\n}\n"
    ".func (.param .b32 o) named(.param .b32 i)\n{\n.reg .b32 %r; .shared .b32 c[400];\n"
    "ld.param.u32 %r, [i]; st.shared.u32 [c+1596], %r; bar.sync 0; ld.shared.u32 %r, [c+1596];\n"
    "add.u32 %r, %r, 200; st.param.b32 [o], %r; ret;\n}\n"
    ".func (.param .b32 o) direct(.param .b32 i)\n{\n.reg .b32 %r; .shared .b32 d[800];\n"
    "ld.param.u32 %r, [i]; st.shared.u32 [d], %r; bar.sync 0; ld.shared.u32 %r, [d];\n"
    "st.param.b32 [o], %r; ret;\n}\n"
    ".func (.param .b32 o) through(.param .b32 i, .param .b64 f)\n{\n.reg .b32 %r; .reg .b64 %p;\n"
    ".param .b32 a; .param .b32 q; ld.param.u32 %r, [i]; ld.param.u64 %p, [f];\n"
    "st.param.b32 [a], %r; P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "call (q), %p, (a), P; ld.param.b32 %r, [q]; st.param.b32 [o], %r; ret;\n}\n"
    ".func without_callers()\n{\n.reg .b64 %p; mov.u64 %p, named; st.global.u64 [data], %p; ret;\n}\n"
    ".visible .entry other()\n{\n.reg .b32 %r; .shared .b32 e[1600];\n"
    "mov.u32 %r, %tid.x; st.shared.u32 [e], %r; bar.sync 0; ld.shared.u32 %r, [e];\n"
    "st.global.u32 [data], %r; ret;\n}\n";
static const char gives[] =
    ".visible .entry k(.param .u64 out, .param .u64 f)\n{\n.reg .b64 %o, %p;\n"
    "ld.param.u64 %o, [out]; mov.u64 %p, named; st.global.u64 [%o], %p; ret;\n}\n";
static const char takes[] =
    ".visible .entry k(.param .u64 out, .param .u64 f)\n{\n.reg .b32 %r; .reg .b64 %o, %p;\n"
    ".param .b32 a; .param .b64 g; .param .b32 q;\n"
    "ld.param.u64 %o, [out]; ld.param.u64 %p, [f]; st.param.b32 [a], 5; st.param.b64 [g], %p;\n";
static const char stores[] = "ld.param.b32 %r, [q]; st.global.u32 [%o], %r; ret;\n}\n";
static const char shows[] = "st.global.u64 [%o], %p; ret;\n}\n";

static const struct { const char *does, *rest; uint32_t bytes, gives; } reaches[] = {
    {"P: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (q), %p, (a), P;\n", stores, 2400, 205},
    {"T: .calltargets listed;\ncall (q), %p, (a), T;\n", stores, 2400, 205},
    {"call (q), through, (a, g);\n", stores, 2400, 205},
    {"mov.u64 %p, listed;\n", shows, 2400, 0},
    {"mov.u64 %p, list;\n", shows, 2400, 0},
    {"mov.u64 %p, lists;\n", shows, 2400, 0},
    {"ld.global.u64 %p, [list];\n", shows, 2400, 0},
    {"call (q), listed, (a);\n", stores, 800, 105},
    {"call (q), direct, (a);\n", stores, 3200, 5},
    {"mov.u64 %p, other;\n", shows, 0, 0},
    {"mov.u64 %p, data;\n", shows, 0, 0}};

static uint64_t run_pointed(const char *kernel, uint64_t pointer, uint32_t *bytes, char *fault)
{
  struct ptx_error e;
  struct sim_result r;
  char text[4000];
  snprintf(text, sizeof text, "%s%s", pointed_at, kernel);
  struct ptx_module *m = ptx_read(text, strlen(text), &e);
  ck_assert_msg(m != NULL, "line %u: %s", e.line, e.text);
  struct sim *sim = sim_open(&(struct sim_options){.threads = 1});
  uint64_t params[2] = {sim_alloc(sim, 8, "out", false), pointer}, out;
  ck_assert_msg(sim_load_for(sim, m, ptx_find_entry(m, "k"), &e), "%s", e.text);
  memset(sim_host(sim, params[0], 8), 0, 8);
  struct sim_launch l = {.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params,
                         .param_bytes = sizeof params};
  bool clean = sim_launch(sim, &l, &r);
  ck_assert_msg(clean == !fault, "%s", clean ? "clean" : r.faults[0].text);
  if (fault) snprintf(fault, sizeof r.faults[0].text, "%s", r.faults[0].text);
  memcpy(&out, sim_host(sim, params[0], 8), 8);
  *bytes = r.static_shared;
  sim_result_free(&r);
  sim_close(sim);
  ptx_free(m);
  return out;
}

START_TEST(through_a_pointer)
{
  char kernel[1000];
  uint32_t bytes;
  uint64_t named = run_pointed(gives, 0, &bytes, NULL);
  snprintf(kernel, sizeof kernel, "%s%s%s", takes, reaches[_i].does, reaches[_i].rest);
  uint64_t out = run_pointed(kernel, named, &bytes, NULL);
  ck_assert_msg(bytes == reaches[_i].bytes, "%s: %u bytes, ptxas has %u", reaches[_i].does, bytes,
                reaches[_i].bytes);
  if (reaches[_i].rest == stores) ck_assert_uint_eq(out, reaches[_i].gives);
}
END_TEST

/* A kernel's address, that of a function which nobody takes, and what is none are not called. */
START_TEST(not_a_pointer)
{
  char kernel[1000], fault[512];
  uint32_t bytes;
  uint64_t named = run_pointed(gives, 0, &bytes, NULL);
  const uint64_t wrong[] = {0, 1, named + 1, named + 16, named + 5 * 16, named + (1 << 20)};
  snprintf(kernel, sizeof kernel, "%s%s%s", takes, reaches[0].does, stores);
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    run_pointed(kernel, wrong[k], &bytes, fault);
    ck_assert_msg(strstr(fault, "not the address of a function"), "%zu: %s", k, fault);
  }
}
END_TEST

/* What is refused is told at the author's own line, also where a header inlined there has it. */
START_TEST(refused_line)
{
  static const struct { const char *call, *why; } calls[] = {
      {"__cudaCDP2GetParameterBufferV2", "launch kernels"}, {"cudaGetDevice", "launch kernels"},
      {"elsewhere", "no stand-in"}};
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    char text[500];
    struct ptx_error e;
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func %s();\n"
             ".visible .entry k()\n{\n.loc 1 7 3\n.loc 2 99 5, function_name $f, inlined_at 1 8 3\n"
             "call.uni %s, ();\nret;\n}\n.file 1 \"own.cu\"\n.file 2 \"<header.h>\"\n"
             ".section .debug_str\n{\n$f:\n.b8 102,0\n}\n", calls[k].call, calls[k].call);
    struct ptx_module *m = ptx_read(text, strlen(text), &e);
    ck_assert_msg(m != NULL, "line %u: %s", e.line, e.text);
    struct sim *sim = sim_open(&(struct sim_options){.threads = 1});
    ck_assert(!sim_load(sim, m, &e));
    ck_assert_str_eq(e.source_file, "own.cu");
    ck_assert_uint_eq(e.source_line, 8);
    ck_assert_msg(strstr(e.text, calls[k].why) != NULL, "%s", e.text);
    sim_close(sim);
    ptx_free(m);
  }
}
END_TEST

/* PTX that is kept names files, not places on the machine that made it; a toolkit's as <name>. */
static unsigned kept;

static int names_no_place(const char *path, const struct stat *st, int type, struct FTW *where)
{
  size_t length = strlen(path);
  (void)st, (void)where;
  if (type != FTW_F || length < 4 || strcmp(path + length - 4, ".ptx")) return 0;
  FILE *f = fopen(path, "re");
  char *line = NULL;
  size_t room = 0;
  ck_assert_msg(f != NULL, "%s", path);
  while (getline(&line, &room, f) > 0) {
    ck_assert_msg(!strstr(line, "\"/"), "%s names a place on one machine: %s", path, line);
    const char *point = line[strspn(line, " \t")] == '.' && strstr(line, ".file") ? strrchr(line, '.') : "";
    ck_assert_msg(strncmp(point, ".h", 2) && strncmp(point, ".cuh", 4) && strncmp(point, ".inl", 4) ?
                    true : strstr(line, ">\"") != NULL, "%s does not mark a system header: %s", path, line);
  }
  free(line);
  fclose(f);
  kept++;
  return 0;
}

START_TEST(no_machine)
{
  ck_assert_int_eq(nftw("grader", names_no_place, 16, FTW_PHYS), 0);
  ck_assert_msg(kept > 50, "%u files: run the tests from the repository's top", kept);
}
END_TEST

Suite *suite_compat(void)
{
  Suite *s = suite_create("compat");
  TCase *t = tcase_create("files");
  tcase_add_test(t, one_of_many);
  tcase_add_test(t, no_end);
  tcase_add_test(t, no_machine);
  tcase_add_test(t, clusters);
  tcase_add_test(t, refused_line);
  tcase_add_loop_test(t, handed_over, 0, sizeof handed / sizeof *handed);
  tcase_add_loop_test(t, through_a_pointer, 0, sizeof reaches / sizeof *reaches);
  tcase_add_test(t, not_a_pointer);
  suite_add_tcase(s, t);
  return s;
}
