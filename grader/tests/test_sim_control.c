/* Tangled control flow: functions of sim/control.h run on the simulator, each lane against the same
 * function compiled for the host; and small texts for what nvcc does not write. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "sim/control.h"
#include "sim_values.h"

enum { BLOCKS = 9, THREADS = 100, N = 850 };

static const struct control { const char *kernel; unsigned (*host)(unsigned x, unsigned i); } controls[] = {
#define CONTROL(name) {"run_" #name, name},
    CONTROLS
#undef CONTROL
};

START_TEST(control)
{
  const struct control *c = &controls[_i];
  size_t size;
  char *text = run_read("grader/tests/sim/control.ptx", &size);
  ck_assert_ptr_nonnull(text);
  struct loaded l = sim_values_load(text);
  uint64_t params[3] = {sim_alloc(l.sim, 4 * N, "in", true), sim_alloc(l.sim, 4 * N, "out", false), N};
  uint32_t *in = sim_host(l.sim, params[0], 4 * N), *out = sim_host(l.sim, params[1], 4 * N);
  sim_values_seed((uint64_t)_i + 3);
  for (unsigned i = 0; i < N; i++) in[i] = (uint32_t)sim_values_random();
  struct sim_launch launch = {.kernel = c->kernel, .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1},
                              .params = params, .param_bytes = 20};
  struct sim_result result;
  bool ok = sim_launch(l.sim, &launch, &result);
  ck_assert_msg(ok, "%s: %s", c->kernel, result.nfaults ? result.faults[0].text : "failed");
  sim_result_free(&result);
  for (unsigned i = 0; i < N; i++)
    ck_assert_msg(out[i] == c->host(in[i], i), "%s: thread %u, x = %08x: %08x, on the host %08x",
                  c->kernel, i, in[i], out[i], c->host(in[i], i));
  sim_values_close(&l);
  free(text);
}
END_TEST

/* ---- one kernel of PTX, one word a thread ------------------------------------------------------ */

enum { WORDS = 96 };
/* Runs a body that leaves its result in %r1; %r0 is the thread of one block of 96. */
static void run_body(const char *functions, const char *body, uint32_t out[WORDS])
{
  char text[6000];
  snprintf(text, sizeof text,
           ".version 8.0\n.target sm_90\n.address_size 64\n%s\n"
           ".global .align 16 .b8 cell[64]; .shared .align 16 .b8 place[64];\n"
           ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %%r<20>; .reg .b64 %%d<20>; "
           ".reg .pred %%p<8>; .reg .b64 %%o;\nld.param.u64 %%o,[out]; mov.u32 %%r0,%%tid.x; "
           "mul.wide.u32 %%d0,%%r0,4; add.u64 %%o,%%o,%%d0; mov.u32 %%r1,0;\n%s\n"
           "st.global.u32 [%%o],%%r1; ret;\n}\n", functions, body);
  struct loaded l = sim_values_load(text);
  uint64_t at = sim_alloc(l.sim, 4 * WORDS, "out", false);
  sim_values_run(&l, "k", 1, WORDS, &at, 1);
  memcpy(out, sim_host(l.sim, at, 4 * WORDS), 4 * WORDS);
  sim_values_close(&l);
}

#define EXPECT(functions, body, expr)                                                          \
  do {                                                                                         \
    uint32_t out_[WORDS];                                                                       \
    run_body(functions, body, out_);                                                            \
    for (uint32_t i = 0; i < WORDS; i++)                                                        \
      ck_assert_msg(out_[i] == (uint32_t)(expr), "thread %u: %x, not %x: %s", i, out_[i],       \
                    (uint32_t)(expr), body);                                                    \
  } while (0)

START_TEST(jumps)
{
  /* A table with a guard: lanes that do not jump go on; entries used twice. */
  EXPECT("", "table: .branchtargets a, b, a, c; and.b32 %r2,%r0,3; setp.lt.u32 %p1,%r0,50;\n"
             "@%p1 brx.idx %r2,table; mov.u32 %r1,9; bra done;\na: add.u32 %r1,%r1,1; bra.uni done;\n"
             "b: add.u32 %r1,%r1,2;\nc: add.u32 %r1,%r1,4;\ndone:",
         i >= 50 ? 9 : i % 4 == 1 ? 6 : i % 4 == 3 ? 4 : 1);
  /* Lanes that leave early (their word is written first), in three ways. */
  EXPECT("", "mov.u32 %r1,7; st.global.u32 [%o],%r1; setp.lt.u32 %p1,%r0,10; @%p1 exit;\n"
             "setp.gt.u32 %p2,%r0,90; @%p2 ret; brkpt; pmevent 1; nanosleep.u32 20; add.u32 %r1,%r1,1;",
         i < 10 || i > 90 ? 7 : 8);
  /* A loop whose lanes leave one by one, then meet in a shuffle. */
  EXPECT("", "mov.u32 %r2,%laneid;\nmore: add.u32 %r1,%r1,3; sub.u32 %r2,%r2,1; "
             "setp.ge.s32 %p1,%r2,0; @%p1 bra more;\nshfl.sync.bfly.b32 %r1,%r1,31,31,-1;",
         3 * (32 - i % 32));
  /* bar.warp lets lanes of two branches meet. */
  EXPECT("", "setp.lt.u32 %p1,%r0,40; @%p1 bra low; mov.u32 %r1,5; bar.warp.sync -1; bra join;\n"
             "low: mov.u32 %r1,6; bar.warp.sync -1;\njoin: add.u32 %r1,%r1,1;", i < 40 ? 7 : 6);
}
END_TEST

START_TEST(traps)
{
  struct loaded l = sim_values_load(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .b32 r; .reg .pred p1;\n"
      "mov.u32 r,%tid.x; setp.eq.u32 p1,r,37;\n@p1 trap;\nret; }\n");
  struct sim_launch launch = {.kernel = "k", .grid = {1, 1, 1}, .block = {64, 1, 1}};
  struct sim_result result;
  ck_assert(!sim_launch(l.sim, &launch, &result));
  ck_assert(!result.completed);
  ck_assert_uint_eq(result.nfaults, 1);
  ck_assert_int_eq(result.faults[0].kind, SIM_FAULT_TRAP);
  ck_assert_uint_eq(result.faults[0].thread[0], 37);
  ck_assert_uint_eq(result.faults[0].ptx_line, 6);
  sim_result_free(&result);
  sim_values_close(&l);
}
END_TEST

START_TEST(calls)
{
  /* A call under a guard leaves the other lanes alone; a call in a call. */
  EXPECT(".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 t; ld.param.u32 t,[x]; add.u32 t,t,t; "
         "st.param.u32 [r],t; ret; }\n"
         ".func (.param .b32 r) four(.param .b32 x) { .reg .b32 t; .param .b32 in,out; "
         "ld.param.u32 t,[x]; st.param.u32 [in],t; call (out),twice,(in); ld.param.u32 t,[out]; "
         "st.param.u32 [in],t; call (out),twice,(in); ld.param.u32 t,[out]; st.param.u32 [r],t; ret; }\n",
         "setp.gt.u32 %p1,%r0,20; mov.u32 %r1,1; .param .b32 x,y; st.param.u32 [x],%r0;\n"
         "@%p1 call (y),four,(x); @%p1 ld.param.u32 %r1,[y];", i > 20 ? 4 * i : 1);
  /* By address, chosen by lane; a .param array both ways. */
  EXPECT(".func (.param .align 4 .b8 r[8]) swap(.param .align 4 .b8 a[8]) { .reg .b32 x,y; "
         "ld.param.u32 x,[a]; ld.param.u32 y,[a+4]; st.param.u32 [r],y; st.param.u32 [r+4],x; ret; }\n"
         ".func (.param .align 4 .b8 r[8]) keep(.param .align 4 .b8 a[8]) { .reg .b32 x,y; "
         "ld.param.v2.u32 {x,y},[a]; st.param.v2.u32 [r],{x,y}; ret; }\n",
         "proto: .callprototype (.param .align 4 .b8 _[8]) _ (.param .align 4 .b8 _[8]);\n"
         "and.b32 %r2,%r0,1; setp.eq.u32 %p1,%r2,0; mov.u64 %d1,swap; mov.u64 %d2,keep; "
         "selp.b64 %d3,%d1,%d2,%p1;\n{ .param .align 4 .b8 a[8]; .param .align 4 .b8 r[8]; "
         "st.param.u32 [a],%r0; st.param.u32 [a+4],1000; call (r),%d3,(a),proto; "
         "ld.param.u32 %r3,[r]; ld.param.u32 %r4,[r+4]; }\nmad.lo.u32 %r1,%r3,3,%r4;",
         i % 2 == 0 ? 3000 + i : 3 * i + 1000);
}
END_TEST

START_TEST(barriers)
{
  const char *vote = "and.b32 %r2,%r0,3; setp.eq.u32 %p1,%r2,0;";
  char body[500];
  snprintf(body, sizeof body, "%s bar.red.popc.u32 %%r1,0,%%p1;", vote);
  EXPECT("", body, 24);
  snprintf(body, sizeof body, "%s barrier.red.popc.aligned.u32 %%r1,1,!%%p1;", vote);
  EXPECT("", body, 72);
  snprintf(body, sizeof body, "%s bar.red.or.pred %%p2,2,%%p1; selp.u32 %%r1,5,6,%%p2;", vote);
  EXPECT("", body, 5);
  snprintf(body, sizeof body, "%s barrier.cta.red.and.pred %%p2,3,%%p1; selp.u32 %%r1,5,6,%%p2;", vote);
  EXPECT("", body, 6);
  /* 32 threads give, 64 take: bar.arrive and bar.sync of a subset. */
  EXPECT("", "setp.lt.u32 %p1,%r0,32; @%p1 bra give; bar.sync 4,96; ld.shared.u32 %r1,[place]; "
             "bra done;\ngive: setp.eq.u32 %p2,%r0,0; mov.u32 %r3,77; @%p2 st.shared.u32 [place],%r3; "
             "membar.cta; bar.arrive 4,96; mov.u32 %r1,1;\ndone:", i < 32 ? 1 : 77);
  /* Fences, hints and clusters of one block change no value. */
  EXPECT("", "mov.u32 %r1,3; membar.gl; membar.sys; fence.acq_rel.gpu; fence.sc.sys; "
             "membar.proxy.alias; fence.proxy.alias; fence.proxy.async; prefetch.global.L1 [%o]; "
             "prefetchu.L1 [%o]; applypriority.global.L2::evict_normal [cell],128; "
             "griddepcontrol.wait; griddepcontrol.launch_dependents; setmaxnreg.inc.sync.aligned.u32 64; "
             "mov.u32 %r2,place; mapa.shared::cluster.u32 %r3,%r2,0; setp.eq.u32 %p1,%r2,%r3; "
             "@%p1 add.u32 %r1,%r1,1;", 4);
}
END_TEST

START_TEST(addresses)
{
  EXPECT("", "mov.u32 %r2,place; cvt.u64.u32 %d1,%r2; cvta.shared.u64 %d2,%d1; cvta.to.shared.u64 "
             "%d3,%d2; setp.eq.u64 %p1,%d1,%d3; isspacep.shared %p2,%d2; isspacep.global %p3,%d2; "
             "isspacep.local %p4,%d2; selp.u32 %r3,1,0,%p1; @%p2 add.u32 %r3,%r3,2; "
             "@%p3 add.u32 %r3,%r3,4; @%p4 add.u32 %r3,%r3,8; isspacep.global %p5,%o; "
             "@%p5 add.u32 %r3,%r3,16; mov.u32 %r1,%r3;", 19);
  EXPECT(".const .align 8 .b8 table[16] = {1,2,3,4,5,6,7,8,0xff,0xfe,0xfd,0xfc,0xfb,0xfa,0xf9,0xf8};",
         "and.b32 %r2,%r0,15; cvt.u64.u32 %d1,%r2; mov.u64 %d2,table; add.u64 %d2,%d2,%d1; "
         "ld.const.s8 %r3,[%d2]; cvta.const.u64 %d3,%d2; ld.u8 %r4,[%d3]; ld.const.u32 %r5,[table+12]; "
         "isspacep.const %p1,%d3; selp.u32 %r6,1,0,%p1; shl.b32 %r4,%r4,8; xor.b32 %r1,%r3,%r4; "
         "xor.b32 %r1,%r1,%r5; add.u32 %r1,%r1,%r6;",
         ((uint32_t)(i % 16 < 8 ? (int)(i % 16) + 1 : 7 - (int)(i % 16)) ^
          (i % 16 < 8 ? i % 16 + 1 : 263 - i % 16) << 8 ^ 0xf8f9fafbu) + 1);
  EXPECT(".global .align 4 .b8 words[8] = {1,0,0,0,2,1,0,0};", "ldu.global.v2.u32 {%r2,%r3},[words]; "
         "add.u32 %r1,%r2,%r3;", 259);
}
END_TEST

/* ---- atomics on one word: any order of the lanes is right ------------------------------------------- */

static int by_value(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

START_TEST(contended)
{
  static const char *const at[] = {"shared", "global"};
  for (unsigned k = 0; k < 2; k++) {
    const char *clear = k ? "" : "setp.eq.u32 %p1,%r0,0; mov.u32 %r2,0; @%p1 st.shared.u32 [place],%r2; "
                                 "bar.sync 0;";
    const char *cell = k ? "cell" : "place";
    char body[900];
    uint32_t out[WORDS], seen[WORDS];
    /* add: sorted, each old value is the one before plus what its thread added. */
    snprintf(body, sizeof body, "%s mad.lo.u32 %%r3,%%r0,7,1; atom.%s.add.u32 %%r1,[%s],%%r3;", clear,
             at[k], cell);
    run_body("", body, out);
    memcpy(seen, out, sizeof out);
    qsort(seen, WORDS, 4, by_value);
    ck_assert_uint_eq(seen[0], 0);
    for (unsigned i = 0; i < WORDS; i++) {
      uint32_t *found = bsearch(&out[i], seen, WORDS, 4, by_value);
      uint32_t after = out[i] + 7 * i + 1;
      if (found == seen + WORDS - 1) ck_assert_uint_eq(after, 7 * 95 * 96 / 2 + 96);
      else ck_assert_uint_eq(found[1], after);
    }
    /* inc with a limit of 10: values 0 to 10 in turn. */
    snprintf(body, sizeof body, "%s atom.%s.inc.u32 %%r1,[%s],10;", clear, at[k], cell);
    run_body("", body, out);
    unsigned times[11] = {0};
    for (unsigned i = 0; i < WORDS; i++) {
      ck_assert_uint_le(out[i], 10);
      times[out[i]]++;
    }
    for (unsigned v = 0; v < 11; v++) ck_assert_uint_eq(times[v], WORDS / 11 + (v < WORDS % 11));
    /* exch: every value but the last is given to one thread. */
    snprintf(body, sizeof body, "%s add.u32 %%r3,%%r0,1; atom.%s.exch.b32 %%r1,[%s],%%r3;", clear,
             at[k], cell);
    run_body("", body, out);
    qsort(out, WORDS, 4, by_value);
    for (unsigned i = 1; i < WORDS; i++) ck_assert_uint_lt(out[i - 1], out[i]);
    ck_assert_uint_eq(out[0], 0);
    ck_assert_uint_le(out[WORDS - 1], WORDS);
    /* cas in a loop: a sum without add; each lane tries until it wins. */
    snprintf(body, sizeof body,
             "%s ld.relaxed.gpu.%s.u32 %%r4,[%s];\nagain: add.u32 %%r5,%%r4,3; mov.u32 %%r6,%%r4; "
             "atom.%s.cas.b32 %%r4,[%s],%%r6,%%r5; setp.ne.u32 %%p2,%%r4,%%r6; @%%p2 bra again; "
             "bar.sync 1; ld.volatile.%s.u32 %%r1,[%s];", clear, at[k], cell, at[k], cell, at[k], cell);
    EXPECT("", body, 3 * WORDS);
    /* cas as a lock that lanes of one warp fight for, and plain stores under it. */
    snprintf(body, sizeof body,
             "%s\nspin: atom.%s.cas.b32 %%r4,[%s],0,1; setp.ne.u32 %%p2,%%r4,0; @%%p2 bra spin; "
             "ld.volatile.global.u32 %%r5,[cell+32]; add.u32 %%r5,%%r5,%%r0; "
             "st.volatile.global.u32 [cell+32],%%r5; membar.gl; atom.%s.exch.b32 %%r4,[%s],0; "
             "bar.sync 1; ld.volatile.global.u32 %%r1,[cell+32];", clear, at[k], cell, at[k], cell);
    EXPECT("", body, 95 * 96 / 2);
    snprintf(body, sizeof body,
             "%s sub.u32 %%r3,40,%%r0; red.%s.max.s32 [%s],%%r3; bar.sync 1; ld.%s.u32 %%r1,[%s];",
             clear, at[k], cell, at[k], cell);
    EXPECT("", body, 40);
    snprintf(body, sizeof body,
             "%s sub.u32 %%r3,40,%%r0; red.%s.min.s32 [%s],%%r3; bar.sync 1; ld.%s.u32 %%r1,[%s];",
             clear, at[k], cell, at[k], cell);
    EXPECT("", body, -55);
  }
}
END_TEST

Suite *suite_sim_control(void)
{
  Suite *s = suite_create("sim_control");
  TCase *t = tcase_create("control");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, control, 0, sizeof controls / sizeof *controls);
  tcase_add_test(t, jumps);
  tcase_add_test(t, traps);
  tcase_add_test(t, calls);
  tcase_add_test(t, barriers);
  tcase_add_test(t, addresses);
  tcase_add_test(t, contended);
  suite_add_tcase(s, t);
  return s;
}
