/* Volta's mma.m8n8k4 on f16 and wmma on four and one bit, against C.  Where the elements lie is written
 * here from the matrix to the lane, in the simulator from the lane to the matrix. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "sim_values.h"

enum { WORDS = 32 * 32 };

static void run(const char *body, const char *shared, uint32_t in[WORDS], uint32_t out[WORDS])
{
  char text[4000];
  snprintf(text, sizeof text,
           ".version 8.0\n.target sm_90\n.address_size 64\n%s\n"
           ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%i, %%o, %%l, %%m, %%a, %%b, %%c;\n"
           ".reg .b32 %%r<40>, %%t; .reg .pred %%p; ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out];\n"
           "mov.u32 %%t,%%tid.x; mul.wide.u32 %%l,%%t,64; add.u64 %%m,%%o,%%l; add.u64 %%l,%%i,%%l;\n"
           "%s\nret;\n}\n", shared, body);
  struct loaded l = sim_values_load(text);
  uint64_t params[2] = {sim_alloc(l.sim, 4 * WORDS, "in", true), sim_alloc(l.sim, 4 * WORDS, "out", false)};
  memcpy(sim_host(l.sim, params[0], 4 * WORDS), in, 4 * WORDS);
  memset(sim_host(l.sim, params[1], 4 * WORDS), 0xcd, 4 * WORDS);
  sim_values_run(&l, "k", 1, 32, params, 2);
  memcpy(out, sim_host(l.sim, params[1], 4 * WORDS), 4 * WORDS);
  sim_values_close(&l);
}

/* ---- m8n8k4 -------------------------------------------------------------------------------------------- */

/* Whole numbers from -9 to 9 as f16, and sums of their products as f16 or f32. */
static uint32_t float_of(int v, unsigned ebits, unsigned mbits)
{
  uint32_t m = (uint32_t)(v < 0 ? -v : v), e = 0;
  if (!v) return 0;
  while (m >> (e + 1)) e++;
  return (uint32_t)(v < 0) << (ebits + mbits) | (e + (1u << (ebits - 1)) - 1) << mbits |
         ((m << mbits >> e) & ((1u << mbits) - 1));
}
static uint32_t half_of(int v) { return float_of(v, 5, 10); }

/* The input of a lane: words 0 and 1 A, 2 and 3 B, 4 to 11 C; lanes have 16 words. */
static void put_half(uint32_t *words, unsigned i, int v) { words[i / 2] |= half_of(v) << 16 * (i % 2); }

struct spot { unsigned lane, i; };
static struct spot spot_of_c(bool wide, unsigned q, unsigned r, unsigned n)
{
  unsigned lane = 4 * q + (r < 4 ? 0 : 16), r4 = r % 4;
  if (!wide) return (struct spot){lane + r4, n};
  return (struct spot){lane + (n / 2 % 2) * 2 + r4 % 2, n / 4 * 4 + r4 / 2 * 2 + n % 2};
}

START_TEST(quads)
{
  bool a_cols = _i & 1, b_cols = _i & 2, c_wide = _i & 4, d_wide = _i & 8;
  if (c_wide && !d_wide) return;   /* there is none */
  uint32_t in[WORDS] = {0}, out[WORDS];
  int a[4][8][4], b[4][4][8], c[4][8][8];
  sim_values_seed((uint64_t)_i + 11);
  for (unsigned q = 0; q < 4; q++) {
    for (unsigned r = 0; r < 8; r++)
      for (unsigned k = 0; k < 4; k++) {
        a[q][r][k] = (int)(sim_values_random() % 19) - 9;
        b[q][k][r] = (int)(sim_values_random() % 19) - 9;
        unsigned la = 4 * q + (r < 4 ? 0 : 16) + (a_cols ? k : r % 4), ia = a_cols ? r % 4 : k;
        unsigned lb = 4 * q + (r < 4 ? 0 : 16) + (b_cols ? r % 4 : k), ib = b_cols ? k : r % 4;
        put_half(&in[16 * la], ia, a[q][r][k]);
        put_half(&in[16 * lb + 2], ib, b[q][k][r]);
      }
    for (unsigned r = 0; r < 8; r++)
      for (unsigned n = 0; n < 8; n++) {
        c[q][r][n] = (int)(sim_values_random() % 101) - 50;
        struct spot s = spot_of_c(c_wide, q, r, n);
        if (c_wide) in[16 * s.lane + 4 + s.i] = float_of(c[q][r][n], 8, 23);
        else put_half(&in[16 * s.lane + 4], s.i, c[q][r][n]);
      }
  }
  char body[1500];
  const char *d8 = "{%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}", *d4 = "{%r20,%r21,%r22,%r23}";
  snprintf(body, sizeof body,
           "ld.global.v4.b32 {%%r0,%%r1,%%r2,%%r3},[%%l]; ld.global.v4.b32 {%%r4,%%r5,%%r6,%%r7},[%%l+16];\n"
           "ld.global.v4.b32 {%%r8,%%r9,%%r10,%%r11},[%%l+32];\n"
           "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s %s, {%%r0,%%r1}, {%%r2,%%r3}, %s;\n"
           "st.global.v4.b32 [%%m],%s; %s", a_cols ? "col" : "row", b_cols ? "col" : "row",
           d_wide ? "f32" : "f16", c_wide ? "f32" : "f16", d_wide ? d8 : d4,
           c_wide ? "{%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}" : "{%r4,%r5,%r6,%r7}", d4,
           d_wide ? "st.global.v4.b32 [%m+16],{%r24,%r25,%r26,%r27};" : "");
  run(body, "", in, out);
  for (unsigned q = 0; q < 4; q++)
    for (unsigned r = 0; r < 8; r++)
      for (unsigned n = 0; n < 8; n++) {
        int sum = c[q][r][n];
        for (unsigned k = 0; k < 4; k++) sum += a[q][r][k] * b[q][k][n];
        struct spot s = spot_of_c(d_wide, q, r, n);
        uint32_t got = d_wide ? out[16 * s.lane + s.i]
                              : out[16 * s.lane + s.i / 2] >> 16 * (s.i % 2) & 0xffff;
        uint32_t want = d_wide ? float_of(sum, 8, 23) : half_of(sum);
        ck_assert_msg(got == want, "pair %u, (%u, %u): %x, not %x", q, r, n, got, want);
      }
}
END_TEST

/* ---- wmma on few bits ---------------------------------------------------------------------------------- */

/* A: rows of `k` elements, 64 bytes apart; B the same by columns, from byte 1024 on; C from 2048. */
static int element(const uint32_t *in, unsigned byte, unsigned line, unsigned at, unsigned bits,
                   bool is_signed)
{
  uint32_t v = in[byte / 4 + 16 * line + at * bits / 32] >> at * bits % 32 & ((1u << bits) - 1);
  return is_signed ? (int)SX(v, bits) : (int)v;
}

START_TEST(few_bits)
{
  static const struct { const char *shape, *a, *b, *op; unsigned bits, k; bool as, bs; } cases[] = {
      {"m8n8k32", "s4", "s4", "", 4, 32, true, true}, {"m8n8k32", "u4", "u4", "", 4, 32, false, false},
      {"m8n8k128", "b1", "b1", "xor.popc.", 1, 128, false, false},
      {"m8n8k128", "b1", "b1", "and.popc.", 1, 128, false, false}};
  unsigned bits = cases[_i / 2].bits, k = cases[_i / 2].k;
  bool shared = _i % 2;        /* A comes from shared memory */
  uint32_t in[WORDS], out[WORDS];
  sim_values_seed((uint64_t)_i + 3);
  for (unsigned n = 0; n < WORDS; n++) in[n] = (uint32_t)sim_values_random();
  char body[2000];
  snprintf(body, sizeof body,
           "add.u64 %%b,%%i,1024; add.u64 %%c,%%i,2048; mov.u64 %%a,%s; %s\n"
           "mov.u32 %%r30,%u; mov.u32 %%r31,16;\n"
           "wmma.load.a.sync.aligned.row.%s%s.%s {%%r0},[%%a],%%r30;\n"
           "wmma.load.b.sync.aligned.col.%s.global.%s {%%r1},[%%b],%%r30;\n"
           "wmma.load.c.sync.aligned.row.%s.global.s32 {%%r2,%%r3},[%%c],%%r31;\n"
           "wmma.mma.%ssync.aligned.row.col.%s.s32.%s.%s.s32 {%%r4,%%r5},{%%r0},{%%r1},{%%r2,%%r3};\n"
           "wmma.store.d.sync.aligned.row.%s.global.s32 [%%o],{%%r4,%%r5},%%r31;",
           shared ? "tile" : "%i",
           shared ? "shl.b32 %r10,%t,4; mov.u32 %r11,tile; add.u32 %r11,%r11,%r10; cvt.u64.u32 %l,%r10; "
                    "add.u64 %l,%i,%l; ld.global.v4.b32 {%r12,%r13,%r14,%r15},[%l]; "
                    "st.shared.v4.b32 [%r11],{%r12,%r13,%r14,%r15}; bar.sync 0;" : "",
           512 / bits, cases[_i / 2].shape, shared ? ".shared" : ".global", cases[_i / 2].a,
           cases[_i / 2].shape, cases[_i / 2].b, cases[_i / 2].shape, cases[_i / 2].op,
           cases[_i / 2].shape, cases[_i / 2].a, cases[_i / 2].b, cases[_i / 2].shape);
  run(body, ".shared .align 16 .b8 tile[512];", in, out);
  for (unsigned r = 0; r < 8; r++)
    for (unsigned n = 0; n < 8; n++) {
      uint32_t sum = in[512 + 16 * r + n];
      for (unsigned j = 0; j < k; j++) {
        int a = element(in, 0, r, j, bits, cases[_i / 2].as);
        int b = element(in, 1024, n, j, bits, cases[_i / 2].bs);
        sum += (uint32_t)(bits == 4 ? a * b : *cases[_i / 2].op == 'x' ? a ^ b : a & b);
      }
      ck_assert_msg(out[16 * r + n] == sum, "(%u, %u): %x, not %x", r, n, out[16 * r + n], sum);
    }
}
END_TEST

Suite *suite_sim_mma_small(void)
{
  Suite *s = suite_create("sim_mma_small");
  TCase *t = tcase_create("mma");
  tcase_add_loop_test(t, quads, 0, 16);
  tcase_add_loop_test(t, few_bits, 0, 8);
  suite_add_tcase(s, t);
  return s;
}
