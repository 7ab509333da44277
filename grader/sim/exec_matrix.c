/* ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16-bit elements between shared memory and a
 * warp's registers.
 *
 * A matrix is eight rows of 16 bytes; matrix j takes its row addresses from lanes 8j..8j+7.  In
 * registers lane t holds elements 2(t mod 4) and 2(t mod 4)+1 of row t/4, or with .trans those of
 * column t/4.  To memory an instruction is thus one 16-byte access by the lanes that give rows:
 * it is checked and priced as such, and the lane that gives an address is the one that reads or
 * writes the row.  The instruction keeps the warp together but orders no memory accesses: data that
 * other lanes stored needs __syncwarp or __syncthreads before it. */
#include <string.h>

#include "rows.h"

/* Whether all lanes of the warp are here, for .sync.aligned instructions.  Lanes that are still to
 * come are waited for; a warp that is not whole is a fault. */
bool warp_whole(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  if (exec == SIM_FULL) return true;
  if (w->live != SIM_FULL) {
    fault_note(w, i, first_lane(exec), SIM_FAULT_BARRIER, true,
               "%s needs all 32 lanes of the warp, but only %d are there: %s",
               ptx_op_text((enum ptx_op)i->ptx->op), __builtin_popcount(w->live),
               w->started == SIM_FULL ? "the others have returned"
                                      : "the block's threads are no multiple of 32");
    return false;
  }
  warp_park(w, exec, GROUP_WARP_SYNC, w->pc - 1, i);
  return false;
}

enum { ROW = 16, MATRIX_ROWS = 8 };
static const uint32_t row_lanes[] = {0, 0xff, 0xffff, 0, SIM_FULL};

static void not_shared(struct warp *w, const struct sim_inst *i, uint32_t lanes)
{
  fault_note(w, i, first_lane(lanes), SIM_FAULT_BOUNDS, true,
             "%s takes addresses of shared memory, and this one is not: pass "
             "__cvta_generic_to_shared(pointer), or a pointer into a __shared__ array",
             ptx_op_text((enum ptx_op)i->ptx->op));
}

/* Moves `n` matrices of rows from shared memory (a load) or into it: false after a fault. */
static bool move_rows(struct warp *w, const struct sim_inst *i, enum access_kind kind, unsigned n,
                      uint8_t *rows)
{
  struct span s;
  bool fresh = true;
  for (uint32_t left = row_lanes[n]; left;) {
    uint32_t now = access_span(w, i, left, fresh, kind, &s);
    if (!now) return false;
    if (!s.shared) {
      not_shared(w, i, now);
      return false;
    }
    left &= ~now;
    fresh = false;
    for (; now; now &= now - 1) {
      unsigned l = first_lane(now);
      uint8_t *at = s.base + s.rel[l];
      if (kind == ACCESS_LOAD) memcpy(rows + l * ROW, at, ROW);
      else memcpy(at, rows + l * ROW, ROW);
    }
  }
  return true;
}

/* What lane t holds of matrix rows: elements (r, c) and (r, c + 1), or (c, r) and (c + 1, r). */
static inline uint32_t pick(uint16_t m[MATRIX_ROWS][8], unsigned t, bool trans)
{
  unsigned r = t / 4, c = t % 4 * 2;
  return trans ? m[c][r] | (uint32_t)m[c + 1][r] << 16 : m[r][c] | (uint32_t)m[r][c + 1] << 16;
}

/* more: a register a matrix; small[1] of them; small[2]: .trans. */
HANDLER(ldmatrix)
{
  if (!warp_whole(w, i, exec)) return;
  uint16_t rows[4][MATRIX_ROWS][8];
  unsigned n = i->small[1];
  if (!move_rows(w, i, ACCESS_LOAD, n, (uint8_t *)rows)) return;
  for (unsigned k = 0; k < n; k++) {
    u32_row *d = SIM_ROW(u32_row, i->more[k]);
    for (unsigned t = 0; t < SIM_LANES; t++) d[t] = pick(rows[k], t, i->small[2]);
  }
}

/* The rows are put together in the row `_` receives, where shadow_access looks for what lanes
 * store.  Sources: d b c e. */
HANDLER(stmatrix)
{
  if (!warp_whole(w, i, exec)) return;
  const sim_ref from[4] = {i->d, i->b, i->c, i->e};
  unsigned n = i->small[1];
  uint16_t rows[4][MATRIX_ROWS][8];
  for (unsigned k = 0; k < n; k++) {
    const u32_row *a = SIM_ROW(u32_row, from[k]);
    for (unsigned t = 0; t < SIM_LANES; t++) {
      unsigned r = t / 4, c = t % 4 * 2;
      for (unsigned h = 0; h < 2; h++) {
        uint16_t v = (uint16_t)(a[t] >> 16 * h);
        if (i->small[2]) rows[k][c + h][r] = v;
        else rows[k][r][c + h] = v;
      }
    }
  }
  uint8_t *out = SIM_ROW(uint8_t, i->more[0]);
  memcpy(out, rows, n * sizeof rows[0]);
  move_rows(w, i, ACCESS_STORE, n, out);
}

HANDLER(movmatrix)
{
  if (!warp_whole(w, i, exec)) return;
  uint16_t m[MATRIX_ROWS][8];
  const u32_row *a = SIM_ROW(u32_row, i->a);
  u32_row *d = SIM_ROW(u32_row, i->d);
  for (unsigned t = 0; t < SIM_LANES; t++) memcpy(&m[t / 4][t % 4 * 2], &a[t], 4);
  for (unsigned t = 0; t < SIM_LANES; t++) d[t] = pick(m, t, true);
}

/* ---- lowering ------------------------------------------------------------------------------- */

static unsigned matrices(struct lowering *l, const struct ptx_operand *v)
{
  static const uint16_t allowed[] = {M(SYNC), M(M8N8), M(X1), M(X2), M(X4), M(TRANS), M(SHARED),
                                     M(SHARED_CTA), 0};
  const struct ptx_inst *in = l->in;
  unsigned n = ptx_has(in, PTX_M_X4) ? 4 : ptx_has(in, PTX_M_X2) ? 2 : 1;
  if (!ptx_has(in, PTX_M_M8N8) || in->types[0] != PTX_T_B16) {
    lower_refuse(l, "only 8x8 matrices of 16-bit elements (.m8n8, .b16) exist on compute "
                    "capability 9.0");
    return 0;
  }
  if (!lower_only(l, allowed)) return 0;
  unsigned have = v->kind == PTX_O_VECTOR ? v->count : 1;
  if (have != n) {
    lower_refuse(l, ".x%u takes %u register%s, not %u", n, n, n > 1 ? "s" : "", have);
    return 0;
  }
  return n;
}

static void lower_rows(struct lowering *l, const struct ptx_operand *address, unsigned n, bool load)
{
  struct sim_inst *s = l->out;
  lower_memory(l, address, 1);
  s->width = ROW;
  s->elements = 1;
  s->small[0] = ROW;   /* bytes of a lane in the row stored */
  s->small[1] = (uint8_t)n;
  s->small[2] = ptx_has(l->in, PTX_M_TRANS);
  s->op = (uint8_t)((load ? MODEL_LDMATRIX_X1 : MODEL_STMATRIX_X1) + (n == 4 ? 2 : n - 1));
}

static void lower_ldmatrix(struct lowering *l)
{
  const struct ptx_operand *d = &l->in->operands[0];
  unsigned n = matrices(l, d);
  for (unsigned k = 0; k < n; k++) l->out->more[k] = lower_dest(l, lower_element(l, d, k), 32);
  if (l->failed) return;
  lower_rows(l, &l->in->operands[1], n, true);
  l->out->run = ldmatrix;
}

static void lower_stmatrix(struct lowering *l)
{
  struct sim_inst *s = l->out;
  const struct ptx_operand *v = &l->in->operands[1];
  sim_ref *const to[4] = {&s->d, &s->b, &s->c, &s->e};
  unsigned n = matrices(l, v);
  for (unsigned k = 0; k < n; k++) *to[k] = lower_source(l, lower_element(l, v, k), 32);
  if (l->failed) return;
  lower_rows(l, &l->in->operands[0], n, false);
  s->run = stmatrix;
}

static void lower_movmatrix(struct lowering *l)
{
  l->out->d = lower_dest(l, &l->in->operands[0], 32);
  l->out->a = lower_source(l, &l->in->operands[1], 32);
  l->out->run = movmatrix;
}

const struct sim_form sim_forms_matrix[] = {
    FORM_ANY(LDMATRIX, lower_ldmatrix),
    FORM_ANY(STMATRIX, lower_stmatrix),
    FORM_ANY(MOVMATRIX, lower_movmatrix),
    {.op = PTX_OPS},
};
