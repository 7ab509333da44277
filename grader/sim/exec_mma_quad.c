/* mma.m8n8k4 on f16, Volta's: four products of 8x4 by 4x8 at once, one by each pair of quads (lanes
 * 4q..4q+3 and 16+4q..16+4q+3).
 *
 * With h = 1 for lanes from 16 on and t = lane mod 4, element i of a lane is
 *   A by rows     (t + 4h, i)        A by columns  (i + 4h, t)
 *   B by rows     (t, i + 4h)        B by columns  (i, t + 4h)
 *   f16 C and D   (t + 4h, i)
 *   f32 C and D   ((t mod 2) + (i & 2) + 4h, (i & 4) + (t & 2) + (i & 1))
 * as the PTX ISA draws it.  Sums are exact in double, rounded once: see exec_mma.c.  */
#include <stdlib.h>
#include <string.h>

#include "mma.h"
#include "rows.h"

struct quad {
  bool a_cols, b_cols, c_f32, d_f32;
  sim_ref d[8], a[2], b[2], c[8];
};
struct at { unsigned row, col; };

static struct at of_a(bool cols, unsigned l, unsigned i)
{
  unsigned t = l % 4, h = l / 16 * 4;
  return cols ? (struct at){i + h, t} : (struct at){t + h, i};
}
static struct at of_b(bool cols, unsigned l, unsigned i)
{
  unsigned t = l % 4, h = l / 16 * 4;
  return cols ? (struct at){i, t + h} : (struct at){t, i + h};
}
static struct at of_c(bool wide, unsigned l, unsigned i)
{
  unsigned t = l % 4, h = l / 16 * 4;
  if (!wide) return (struct at){t + h, i};
  return (struct at){(t & 1) + (i & 2) + h, (i & 4) + (t & 2) + (i & 1)};
}

static double half_in(struct warp *w, const sim_ref *regs, unsigned l, unsigned i)
{
  return f16_float((uint16_t)(SIM_ROW(u32_row, regs[i / 2])[l] >> 16 * (i % 2)));
}

HANDLER(mma_quad)
{
  if (!warp_whole(w, i, exec)) return;
  const struct quad *m = i->extra;
  double a[4][8][4], b[4][4][8], c[4][8][8];
  for (unsigned l = 0; l < SIM_LANES; l++) {
    unsigned q = l / 4 % 4;
    for (unsigned k = 0; k < 4; k++) {
      struct at x = of_a(m->a_cols, l, k), y = of_b(m->b_cols, l, k);
      a[q][x.row][x.col] = half_in(w, m->a, l, k);
      b[q][y.row][y.col] = half_in(w, m->b, l, k);
    }
    for (unsigned k = 0; k < 8; k++) {
      struct at z = of_c(m->c_f32, l, k);
      c[q][z.row][z.col] = m->c_f32 ? SIM_ROW(f32_row, m->c[k])[l] : half_in(w, m->c, l, k);
    }
  }
  for (unsigned l = 0; l < SIM_LANES; l++) {
    unsigned q = l / 4 % 4;
    for (unsigned k = 0; k < 8; k++) {
      struct at z = of_c(m->d_f32, l, k);
      double sum = c[q][z.row][z.col];
      for (unsigned n = 0; n < 4; n++) sum += a[q][z.row][n] * b[q][n][z.col];
      if (m->d_f32) {
        float f = (float)sum;
        SIM_ROW(u32_row, m->d[k])[l] = f != f ? 0x7fffffffu : narrow_bits(f);
      } else {
        uint32_t *d = (uint32_t *)(void *)&SIM_ROW(u32_row, m->d[k / 2])[l];
        uint32_t keep = k % 2 ? *d & 0xffff : 0;
        *d = keep | (uint32_t)double_f16(sum) << 16 * (k % 2);
      }
    }
  }
}

static bool registers(struct lowering *l, const char *name, const struct ptx_operand *o, unsigned n,
                      bool result, sim_ref *to)
{
  unsigned have = o->kind == PTX_O_VECTOR ? o->count : 1;
  if (have != n) {
    lower_refuse(l, "%s of this shape and type is in %u registers, not %u", name, n, have);
    return false;
  }
  for (unsigned k = 0; k < n; k++) {
    const struct ptx_operand *e = lower_element(l, o, k);
    to[k] = result ? lower_dest(l, e, 32) : lower_source(l, e, 32);
  }
  return !l->failed;
}

/* .row.col, in this order, and modifiers are a set: the text tells which came first. */
static bool by_columns(const struct ptx_inst *in, unsigned which)
{
  const char *at = strstr(in->mnemonic, ".m8n8k4") + 7;
  return !strncmp(at + 4 * which, ".col", 4);
}

void lower_mma_quad(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct quad *m = calloc(1, sizeof *m);
  if (!m) abort();
  l->out->extra = m;
  l->out->run = mma_quad;
  m->a_cols = by_columns(in, 0);
  m->b_cols = by_columns(in, 1);
  m->d_f32 = in->types[0] == PTX_T_F32;
  m->c_f32 = in->types[3] == PTX_T_F32;
  if (m->c_f32 && !m->d_f32) {
    lower_refuse(l, "a sum of f32 does not become one of f16");
    return;
  }
  if (!registers(l, "D", &in->operands[0], m->d_f32 ? 8 : 4, true, m->d) ||
      !registers(l, "A", &in->operands[1], 2, false, m->a) ||
      !registers(l, "B", &in->operands[2], 2, false, m->b))
    return;
  registers(l, "C", &in->operands[3], m->c_f32 ? 8 : 4, false, m->c);
}
