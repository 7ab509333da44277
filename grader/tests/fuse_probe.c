/* Small random kernels that tempt ptxas to join shared accesses.
 *
 * A probe has one to three shared arrays of odd alignments, some bases (array + thread * pitch,
 * array + unknown, a constant address), and a few dozen statements around them: loads and stores
 * of 1 to 16 bytes at small offsets, barriers, atomics, votes, global traffic, branches, loops.
 * What was loaded is folded into an accumulator unless the load is meant to be dead.  The text
 * depends on the seed alone, so counts recorded for a seed stay true.
 */
#include "fuse_probe.h"
#include <stdbool.h>

struct probe {
  FILE *out;
  uint64_t state;
  unsigned registers, labels;     /* next free number of %v and $L */
  unsigned bases, depth;
  unsigned align[4];              /* of array i */
  unsigned most[4];               /* widest access through base i that can be aligned */
  unsigned span;                  /* offsets lie below this */
  bool narrow;                    /* also 8- and 16-bit accesses */
};

static uint32_t draw(struct probe *p, uint32_t below)
{
  p->state = p->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((p->state >> 33) * below >> 31);
}

static bool chance(struct probe *p, unsigned percent) { return draw(p, 100) < percent; }

/* Where an access of `bytes` goes: [base + offset], aligned as far as the base allows. */
static void address(struct probe *p, unsigned bytes)
{
  /* A constant address that is misaligned is nonsense, which ptxas may treat as it likes. */
  unsigned base = draw(p, p->bases), offset = draw(p, p->span / bytes) * bytes;
  for (int tries = 0; tries < 8 && bytes > p->most[base]; tries++) base = draw(p, p->bases);
  fprintf(p->out, "[%%a%u+%u]", base, offset);
}

static void fold(struct probe *p, unsigned v, const char *how)
{
  fprintf(p->out, "  %s %%v%u, %%v%u, %%acc; mov.b32 %%acc, %%v%u;\n", how, p->registers, v,
          p->registers);
  p->registers++;
}

static void load(struct probe *p)
{
  static const char *const types[] = {"u32", "f32", "b32", "s32"};
  unsigned v = p->registers;
  bool dead = chance(p, 6);
  if (p->narrow && chance(p, 40)) {
    if (chance(p, 30)) {
      fprintf(p->out, "  ld.shared.%s %%v%u, ", chance(p, 50) ? "u8" : "s8", v);
      p->registers++;
      address(p, 1);
      fprintf(p->out, ";\n");
      if (!dead) fold(p, v, "add.s32");
      return;
    }
    fprintf(p->out, "  ld.shared.%s %%h%u, ", chance(p, 50) ? "u16" : "b16", v);
    p->registers++;
    address(p, 2);
    fprintf(p->out, ";\n");
    unsigned w = p->registers++;
    if (dead) return;
    switch (draw(p, 4)) {
    case 0: fprintf(p->out, "  cvt.u32.u16 %%v%u, %%h%u;\n", w, v); break;
    case 1: fprintf(p->out, "  cvt.s32.s16 %%v%u, %%h%u;\n", w, v); break;
    case 2: fprintf(p->out, "  cvt.f32.f16 %%v%u, %%h%u;\n", w, v); break;
    default: fprintf(p->out, "  mov.b32 %%v%u, {%%h%u, %%h%u};\n", w, v, v); break;
    }
    fold(p, w, "add.s32");
    return;
  }
  unsigned count = chance(p, 80) ? 1 : chance(p, 60) ? 2 : 4;
  p->registers += count;
  if (count == 1) {
    fprintf(p->out, "  ld.shared.%s %%v%u, ", types[draw(p, 4)], v);
  } else {
    fprintf(p->out, "  ld.shared.v%u.%s {%%v%u, %%v%u", count, types[draw(p, 4)], v, v + 1);
    if (count == 4) fprintf(p->out, ", %%v%u, %%v%u", v + 2, v + 3);
    fprintf(p->out, "}, ");
  }
  address(p, 4 * count);
  fprintf(p->out, ";\n");
  if (!dead)
    for (unsigned i = 0; i < count; i++)
      if (count == 1 || chance(p, 85)) fold(p, v + i, chance(p, 50) ? "add.s32" : "sub.s32");
}

static void store(struct probe *p)
{
  unsigned v = p->registers;
  if (p->narrow && chance(p, 30)) {
    bool byte = chance(p, 40);
    p->registers++;
    fprintf(p->out, "  cvt.u16.u32 %%h%u, %%x%u;\n  st.shared.%s ", v, draw(p, 8), byte ? "u8" : "u16");
    address(p, byte ? 1 : 2);
    fprintf(p->out, ", %%h%u;\n", v);
    return;
  }
  unsigned count = chance(p, 85) ? 1 : chance(p, 60) ? 2 : 4;
  if (count == 1) {
    fprintf(p->out, "  st.shared.%s ", chance(p, 50) ? "u32" : "f32");
    address(p, 4);
    fprintf(p->out, ", %%x%u;\n", draw(p, 8));
  } else {
    fprintf(p->out, "  st.shared.v%u.u32 ", count);
    address(p, 4 * count);
    for (unsigned i = 0; i < count; i++)
      fprintf(p->out, "%s%%x%u", i ? ", " : ", {", draw(p, 8));
    fprintf(p->out, "};\n");
  }
}

static void statements(struct probe *p, unsigned count);

static void between(struct probe *p)
{
  unsigned v = p->registers;
  switch (draw(p, 9)) {
  case 0:
  case 1:
    fprintf(p->out, p->depth ? "  bar.warp.sync -1;\n" : "  bar.sync 0;\n");
    break;
  case 2:
    fprintf(p->out, "  membar.cta;\n");
    break;
  case 3:
    p->registers++;
    fprintf(p->out, "  atom.shared.add.u32 %%v%u, ", v);
    address(p, 4);
    fprintf(p->out, ", %%x1;\n");
    fold(p, v, "add.s32");
    break;
  case 4:
    fprintf(p->out, "  st.global.u32 [%%rd2+%u], %%acc;\n", 4 * draw(p, 8));
    break;
  case 5:
    p->registers++;
    fprintf(p->out, "  ld.global.u32 %%v%u, [%%rd1+%u];\n", v, 4 * draw(p, 8) + 64);
    fold(p, v, "add.s32");
    break;
  case 6:
    p->registers++;
    fprintf(p->out, "  shfl.sync.bfly.b32 %%v%u, %%acc, 1, 31, -1;\n", v);
    fold(p, v, "add.s32");
    break;
  default:
    if (p->depth < 2) {
      unsigned label = p->labels++;
      bool loop = chance(p, 30), other = chance(p, 30);
      p->depth++;
      if (loop) {
        fprintf(p->out, "  mov.u32 %%i%u, 0;\n$L%u:\n  .pragma \"nounroll\";\n", label, label);
        statements(p, 1 + draw(p, 4));
        fprintf(p->out, "  add.s32 %%i%u, %%i%u, 1;\n  setp.lt.s32 %%p%u, %%i%u, %%n;\n"
                        "  @%%p%u bra $L%u;\n", label, label, label, label, label, label);
      } else {
        fprintf(p->out, "  setp.gt.s32 %%p%u, %%n, %u;\n  @%%p%u bra $L%u;\n", label,
                draw(p, 1000), label, label);
        statements(p, 1 + draw(p, 4));
        if (other) {
          fprintf(p->out, "  bra.uni $E%u;\n$L%u:\n", label, label);
          statements(p, 1 + draw(p, 4));
          fprintf(p->out, "$E%u:\n", label);
        } else {
          fprintf(p->out, "$L%u:\n", label);
        }
      }
      p->depth--;
    }
  }
}

static void statements(struct probe *p, unsigned count)
{
  /* Runs of one kind make groups likely. */
  while (count--) {
    unsigned kind = draw(p, 100), run = 1 + draw(p, 5);
    if (kind < 50)
      while (run--) load(p);
    else if (kind < 80)
      while (run--) store(p);
    else
      between(p);
  }
}

void fuse_probe_head(FILE *out)
{
  fprintf(out, ".version 8.0\n.target sm_90\n.address_size 64\n"
               ".extern .shared .align 16 .b8 dynamic[];\n");
}

void fuse_probe(FILE *out, uint32_t seed)
{
  struct probe p = {.out = out, .state = seed * 0x9e3779b97f4a7c15u + 12345, .registers = 0};
  for (int i = 0; i < 4; i++) draw(&p, 2);
  fprintf(out, ".visible .entry probe_%u(.param .u64 in, .param .u64 out, .param .u32 count)\n{\n"
               "  .reg .pred %%p<64>; .reg .b16 %%h<2000>; .reg .b32 %%v<2000>, %%x<8>, %%a<4>,"
               " %%i<64>, %%t<8>, %%acc, %%n;\n  .reg .b64 %%rd<8>;\n", seed);
  unsigned arrays = 1 + draw(&p, 3);
  for (unsigned i = 0; i < arrays; i++) {
    fprintf(out, "  .shared .align %u .b8 s%u", p.align[i] = 4u << draw(&p, 3), i);
    fprintf(out, "[%u];\n", 4 * (1000 + draw(&p, 40)));
  }
  fprintf(out, "  ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out]; ld.param.u32 %%n, [count];\n"
               "  cvta.to.global.u64 %%rd1, %%rd1; cvta.to.global.u64 %%rd2, %%rd2;\n"
               "  mov.u32 %%t0, %%tid.x; mul.wide.u32 %%rd3, %%t0, 64;\n"
               "  add.s64 %%rd1, %%rd1, %%rd3; add.s64 %%rd2, %%rd2, %%rd3; mov.u32 %%acc, 0;\n");
  for (int i = 0; i < 8; i++) fprintf(out, "  ld.global.u32 %%x%d, [%%rd1+%d];\n", i, 4 * i);
  p.bases = 1 + draw(&p, 3);
  p.span = 16u << draw(&p, 3);
  p.narrow = chance(&p, 30);
  for (unsigned i = 0; i < p.bases; i++) {
    /* No two bases are the same sum: compilers would have made them one register. */
    static const unsigned pitches[3][8] = {
      {4, 8, 16, 16, 32, 12, 20, 64}, {24, 48, 80, 80, 96, 28, 36, 128}, {40, 112, 160, 160, 44, 52, 56, 60}};
    unsigned pitch = pitches[i][draw(&p, 8)], array = draw(&p, arrays);
    p.most[i] = 16;
    switch (draw(&p, 6)) {
    case 0: /* a constant address */
      p.most[i] = p.align[array];
      fprintf(out, "  mov.u32 %%a%u, s%u; add.s32 %%a%u, %%a%u, %u;\n", i, array, i, i,
              16 * i + 64 * draw(&p, 3));
      break;
    case 1: /* an unknown word */
      fprintf(out, "  mov.u32 %%t1, s%u; mul.lo.s32 %%t2, %%n, %u; add.s32 %%a%u, %%t1, %%t2;\n",
              array, 8 * i + 4, i);
      break;
    case 2: /* dynamic shared memory */
      fprintf(out, "  mov.u32 %%t1, dynamic; mad.lo.s32 %%a%u, %%t0, %u, %%t1;\n", i, pitch);
      break;
    default:
      fprintf(out, "  mov.u32 %%t1, s%u; mul.lo.s32 %%t2, %%t0, %u; add.s32 %%a%u, %%t2, %%t1;\n",
              array, pitch, i);
    }
  }
  statements(&p, 4 + draw(&p, 10));
  fprintf(out, "  st.global.u32 [%%rd2+60], %%acc;\n  ret;\n}\n");
}
