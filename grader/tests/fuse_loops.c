/* Small random loops that ptxas unrolls or leaves: the same text for the same seed.
 *
 * A loop has one to six statements (shared and global traffic, arithmetic of some length, an `if`, a
 * barrier, an atomic, a remainder), a pointer into shared memory that steps by a constant, and a counter:
 * up or down, signed, unsigned or of 64 bits, from a constant, a parameter or the thread's number to a
 * constant or a parameter, or stepping in a way that nothing unrolls.
 */
#include "fuse_probe.h"

struct loop {
  FILE *out;
  uint64_t state;
  unsigned labels, seed;
};

static uint32_t draw(struct loop *p, uint32_t below)
{
  p->state = p->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((p->state >> 33) * below >> 31);
}

static void repeat(struct loop *p, const char *text, unsigned n)
{
  while (n--) fputs(text, p->out);
}

static void statement(struct loop *p)
{
  static const int offsets[] = {0, 4, 8, 12, 16, 256, 1024, 20};
  int at = offsets[draw(p, 8)];
  FILE *f = p->out;
  switch (draw(p, draw(p, 2) ? 10 : 19)) {
  case 0: case 1: case 2: case 3: case 4:
    fprintf(f, "  ld.shared.f32 %%f2, [%%a+%d]; add.f32 %%f1, %%f1, %%f2;\n", at);
    break;
  case 5: case 6:
    repeat(p, "  xor.b32 %x, %x, %n; add.s32 %x, %x, %m;\n", 1 + 2 * draw(p, 3));
    break;
  case 7: case 8:
    repeat(p, "  fma.rn.f32 %f1, %f1, %f1, %f8;\n", 1 + 4 * draw(p, 4));
    break;
  case 9: fprintf(f, "  st.shared.f32 [%%a+%d], %%f1;\n", at); break;
  case 10: fprintf(f, "  ld.shared.f32 %%f2, [s+%d]; add.f32 %%f1, %%f1, %%f2;\n", at); break;
  case 11:
    fprintf(f, "  ld.shared.v2.f32 {%%f2, %%f3}, [%%a+%d]; add.f32 %%f1, %%f1, %%f2;"
               " mul.f32 %%f1, %%f1, %%f3;\n", at / 8 * 8);
    break;
  case 12: fputs("  ex2.approx.ftz.f32 %f1, %f1;\n", f); break;
  case 13: case 14:
    fputs("  ld.global.f32 %f2, [%rd1]; add.f32 %f1, %f1, %f2; add.s64 %rd1, %rd1, 128;\n", f);
    break;
  case 15: fputs("  st.global.f32 [%rd2], %f1; add.s64 %rd2, %rd2, 128;\n", f); break;
  case 16: fputs("  bar.sync 0;\n", f); break;
  case 17: fputs("  red.shared.add.u32 [%a], %x;\n", f); break;
  default:
    fprintf(f, "  setp.gt.f32 %%p1, %%f1, 0f40000000; @%%p1 bra $X_%u_%u;\n", p->seed, p->labels);
    fprintf(f, "  st.shared.f32 [%%a+%d], %%f1;\n$X_%u_%u:\n", at, p->seed, p->labels++);
  }
}

void fuse_loop_probe(FILE *out, uint32_t seed)
{
  static const int strides[] = {4, 8, 16, 64, 128, 512, 1024}, pitches[] = {4, 16, 32, 128},
                   firsts[] = {0, 0, 4, 8, 16}, steps[] = {1, 1, 2, 4, 32, 128, 256},
                   known[] = {2, 3, 5, 8, 12, 16, 20, 32, 60, 100};
  static const char *const starts[] = {"0", "%t", "%m"};
  struct loop p = {out, seed * 0x9e3779b97f4a7c15u + 77, 0, seed};
  for (int i = 0; i < 4; i++) draw(&p, 2);
  int stride = strides[draw(&p, 7)], step = steps[draw(&p, 7)], pitch = pitches[draw(&p, 4)];
  const char *start = starts[draw(&p, 3)];
  fprintf(out, ".visible .entry probe_%u(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m)\n"
               "{\n  .reg .pred %%p<4>; .reg .b32 %%a, %%i, %%t, %%n, %%m, %%x; .reg .f32 %%f<10>;\n"
               "  .reg .b64 %%rd<8>; .shared .align 16 .b8 s[16384];\n", seed);
  fprintf(out, "  ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out]; ld.param.u32 %%n, [n];\n"
               "  ld.param.u32 %%m, [m]; cvta.to.global.u64 %%rd1, %%rd1; cvta.to.global.u64 %%rd2, %%rd2;\n"
               "  mov.u32 %%t, %%tid.x; mul.wide.u32 %%rd3, %%t, 4; add.s64 %%rd1, %%rd1, %%rd3;\n"
               "  add.s64 %%rd2, %%rd2, %%rd3; mov.f32 %%f1, 0f00000000; mov.f32 %%f8, 0f3f800000;\n"
               "  mov.u32 %%x, %%t; mov.u32 %%a, s; mad.lo.s32 %%a, %%t, %d, %%a; add.s32 %%a, %%a, %d;\n",
          pitch, firsts[draw(&p, 5)]);
  static const struct { const char *start, *test; int sign; } forms[] = {
    {NULL, "add.s32 %%i, %%i, %d; setp.lt.s32 %%p0, %%i, %%n;", 1},
    {NULL, "add.s32 %%i, %%i, %d; setp.lt.s32 %%p0, %%i, %%n;", 1},
    {NULL, "add.s32 %%i, %%i, %d; setp.le.s32 %%p0, %%i, %%n;", 1},
    {NULL, "add.s32 %%i, %%i, %d; setp.lt.u32 %%p0, %%i, %%n;", 1},
    {NULL, "add.s32 %%i, %%i, %d; setp.ne.s32 %%p0, %%i, %%n;", 1},
    {"%n", "add.s32 %%i, %%i, %d; setp.ne.s32 %%p0, %%i, 0;", -1},
    {"%n", "add.s32 %%i, %%i, %d; setp.gt.s32 %%p0, %%i, 3;", -1},
    {NULL, "cvt.s64.s32 %%rd4, %%i; add.s32 %%i, %%i, %d; setp.lt.s32 %%p0, %%i, %%n;", 1},
    {NULL, "add.s32 %%i, %%i, %%m; setp.lt.s32 %%p0, %%i, %%n; // %d\n", 1},
    {"1", "shl.b32 %%i, %%i, 1; setp.lt.s32 %%p0, %%i, %%n; // %d\n", 1},
    {"0", "add.s32 %%i, %%i, 1; setp.ne.s32 %%p0, %%i, %d;", 0},
    {"0", "add.s32 %%i, %%i, 1; setp.lt.u32 %%p0, %%i, %d;", 0},
  };
  unsigned form = draw(&p, 12);
  fprintf(out, "  mov.u32 %%i, %s;\n$L_%u:\n", forms[form].start ? forms[form].start : start, seed);
  for (unsigned n = 1 + draw(&p, 6); n; n--) statement(&p);
  fprintf(out, "  add.s32 %%a, %%a, %d; ", stride);
  /* One of the formats above, all with one %d. */
  const char *test = forms[form].test;
  int number = forms[form].sign ? forms[form].sign * step : known[draw(&p, 10)];
  for (; *test; test++) {
    if (test[0] == '%' && test[1] == 'd') fprintf(out, "%d", number), test++;
    else if (test[0] == '%') fputc(*++test, out);
    else fputc(*test, out);
  }
  if (draw(&p, 5)) fprintf(out, "\n  @%%p0 bra $L_%u;\n", seed);
  else fprintf(out, "\n  @!%%p0 bra $E_%u;\n  bra $L_%u;\n$E_%u:\n", seed, seed, seed);
  fprintf(out, "  cvt.rn.f32.u32 %%f9, %%x; add.f32 %%f1, %%f1, %%f9; st.global.f32 [%%rd2], %%f1;\n"
               "  ret;\n}\n");
}
