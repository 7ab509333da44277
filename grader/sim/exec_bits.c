/* Logic, shifts, and bit fields.  Shifts past the width give 0, or the sign. */
#include "rows.h"

OP2(and_32, u32, u32, u32, a & b)
OP2(and_64, u64, u64, u64, a & b)
OP2(or_32, u32, u32, u32, a | b)
OP2(or_64, u64, u64, u64, a | b)
OP2(xor_32, u32, u32, u32, a ^ b)
OP2(xor_64, u64, u64, u64, a ^ b)
OP1(not_16, u16, u16, (uint16_t)~a)
OP1(not_32, u32, u32, ~a)
OP1(not_64, u64, u64, ~a)
OP1(cnot_16, u16, u16, a == 0)
OP1(cnot_32, u32, u32, a == 0)
OP1(cnot_64, u64, u64, a == 0)

/* Predicates are masks: one word for all lanes. */
HANDLER(and_pred)
{
  row_set_pred(w, i->d, exec, *SIM_ROW(u32_row, i->a) & *SIM_ROW(u32_row, i->b));
}
HANDLER(or_pred)
{
  row_set_pred(w, i->d, exec, *SIM_ROW(u32_row, i->a) | *SIM_ROW(u32_row, i->b));
}
HANDLER(xor_pred)
{
  row_set_pred(w, i->d, exec, *SIM_ROW(u32_row, i->a) ^ *SIM_ROW(u32_row, i->b));
}
HANDLER(not_pred) { row_set_pred(w, i->d, exec, ~*SIM_ROW(u32_row, i->a)); }

OP2(shl_16, u16, u16, u32, b < 16 ? (uint16_t)((uint32_t)a << (b & 15)) : 0)
OP2(shl_32, u32, u32, u32, b < 32 ? a << (b & 31) : 0)
OP2(shl_64, u64, u64, u32, b < 64 ? a << (b & 63) : 0)
OP2(shr_u16, u16, u16, u32, b < 16 ? a >> (b & 15) : 0)
OP2(shr_u32, u32, u32, u32, b < 32 ? a >> (b & 31) : 0)
OP2(shr_u64, u64, u64, u32, b < 64 ? a >> (b & 63) : 0)
OP2(shr_s16, u16, s16, u32, (uint16_t)(a >> (b < 15 ? b : 15)))
OP2(shr_s32, u32, s32, u32, (uint32_t)(a >> (b < 31 ? b : 31)))
OP2(shr_s64, u64, s64, u32, (uint64_t)(a >> (b < 63 ? b : 63)))

/* b:a is 64 bits, b the high half; .l keeps the high half of the shifted pair, .r the low one. */
static inline uint32_t funnel_l(uint32_t a, uint32_t b, uint32_t n)
{
  return (uint32_t)((((uint64_t)b << 32 | a) << n) >> 32);
}
static inline uint32_t funnel_r(uint32_t a, uint32_t b, uint32_t n)
{
  return (uint32_t)(((uint64_t)b << 32 | a) >> n);
}
OP3(shf_l_wrap, u32, u32, u32, u32, funnel_l(a, b, c & 31))
OP3(shf_l_clamp, u32, u32, u32, u32, c < 32 ? funnel_l(a, b, c) : a)
OP3(shf_r_wrap, u32, u32, u32, u32, funnel_r(a, b, c & 31))
OP3(shf_r_clamp, u32, u32, u32, u32, c < 32 ? funnel_r(a, b, c) : b)

/* ---- counting bits --------------------------------------------------------------------------------- */

OP1(popc_32, u32, u32, (uint32_t)__builtin_popcount(a))
OP1(popc_64, u32, u64, (uint32_t)__builtin_popcountll(a))
OP1(clz_32, u32, u32, a ? (uint32_t)__builtin_clz(a) : 32)
OP1(clz_64, u32, u64, a ? (uint32_t)__builtin_clzll(a) : 64)

static inline uint32_t reverse32(uint32_t v)
{
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(v);
}
OP1(brev_32, u32, u32, reverse32(a))
OP1(brev_64, u64, u64, (uint64_t)reverse32((uint32_t)a) << 32 | reverse32((uint32_t)(a >> 32)))

/* Signed: the highest bit that differs from the sign.  shiftamt: how far left it must go. */
static inline uint32_t find64(uint64_t v, uint32_t width, bool amount)
{
  if (!v) return UINT32_MAX;
  uint32_t at = 63 - (uint32_t)__builtin_clzll(v);
  return amount ? width - 1 - at : at;
}
OP1(bfind_u32, u32, u32, find64(a, 32, false))
OP1(bfind_u64, u32, u64, find64(a, 64, false))
OP1(bfind_s32, u32, s32, find64((uint32_t)(a < 0 ? ~a : a), 32, false))
OP1(bfind_s64, u32, s64, find64((uint64_t)(a < 0 ? ~a : a), 64, false))
OP1(bfind_amt_u32, u32, u32, find64(a, 32, true))
OP1(bfind_amt_u64, u32, u64, find64(a, 64, true))
OP1(bfind_amt_s32, u32, s32, find64((uint32_t)(a < 0 ? ~a : a), 32, true))
OP1(bfind_amt_s64, u32, s64, find64((uint64_t)(a < 0 ? ~a : a), 64, true))

/* The c-th set bit of a, from bit b upwards (c > 0) or downwards (c < 0); c = 0: bit b itself. */
static inline uint32_t nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
  if (base > 31) return UINT32_MAX;
  if (offset == 0) return mask >> base & 1 ? base : UINT32_MAX;
  int32_t step = offset > 0 ? 1 : -1;
  int64_t count = offset > 0 ? offset : -(int64_t)offset;
  for (int32_t at = (int32_t)base; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && --count == 0) return (uint32_t)at;
  return UINT32_MAX;
}
OP3(fns_32, u32, u32, u32, s32, nth_set(a, b, c))

/* ---- fields ----------------------------------------------------------------------------------------- */

/* Position and length are the low bytes of b and c; what lies past the top is the sign, or 0. */
static inline uint64_t field(uint64_t a, uint32_t pos, uint32_t len, unsigned bits, bool is_signed)
{
  pos &= 0xff;
  len &= 0xff;
  if (!len) return 0;
  uint64_t top = pos + len > bits ? bits : pos + len;
  uint64_t v = pos < bits ? a >> pos : 0;
  uint32_t got = top > pos ? (uint32_t)top - pos : 0;
  if (got < 64) v &= (1ull << got) - 1;
  if (!is_signed) return v;
  uint32_t sign_at = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
  if (!(a >> sign_at & 1)) return v;
  return got < 64 ? v | ~0ull << got : v;
}
OP3(bfe_u32, u32, u32, u32, u32, (uint32_t)field(a, b, c, 32, false))
OP3(bfe_s32, u32, u32, u32, u32, (uint32_t)field(a, b, c, 32, true))
OP3(bfe_u64, u64, u64, u32, u32, field(a, b, c, 64, false))
OP3(bfe_s64, u64, u64, u32, u32, field(a, b, c, 64, true))

static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits)
{
  pos &= 0xff;
  len &= 0xff;
  if (pos >= bits || !len) return b;
  uint64_t mask = (len >= 64 ? ~0ull : (1ull << len) - 1) << pos;
  return (b & ~mask) | (a << pos & mask);
}
OP4(bfi_32, u32, u32, u32, u32, u32, (uint32_t)insert(a, b, c, e, 32))
OP4(bfi_64, u64, u64, u64, u32, u32, insert(a, b, c, e, 64))

/* b ones from bit a; clamped, positions past 31 are empty. */
static inline uint32_t ones(uint32_t at, uint32_t n)
{
  if (at > 31) return 0;
  return (n > 31 ? UINT32_MAX : (1u << n) - 1) << at;
}
OP2(bmsk_clamp, u32, u32, u32, ones(a, b))
OP2(bmsk_wrap, u32, u32, u32, ones(a & 31, b & 31))
static inline uint32_t extend(uint32_t v, uint32_t n, bool is_signed)
{
  if (n > 31) return v;
  if (!n) return 0;
  uint32_t low = v & ((1u << n) - 1);
  return is_signed && (low >> (n - 1) & 1) ? low | ~0u << n : low;
}
OP2(szext_clamp_u32, u32, u32, u32, extend(a, b, false))
OP2(szext_clamp_s32, u32, u32, u32, extend(a, b, true))
OP2(szext_wrap_u32, u32, u32, u32, extend(a, b & 31, false))
OP2(szext_wrap_s32, u32, u32, u32, extend(a, b & 31, true))

/* ---- three inputs ----------------------------------------------------------------------------------- */

static inline uint32_t table3(uint32_t a, uint32_t b, uint32_t c, uint32_t lut)
{
  uint32_t r = 0;
  if (lut & 0x01) r |= ~a & ~b & ~c;
  if (lut & 0x02) r |= ~a & ~b & c;
  if (lut & 0x04) r |= ~a & b & ~c;
  if (lut & 0x08) r |= ~a & b & c;
  if (lut & 0x10) r |= a & ~b & ~c;
  if (lut & 0x20) r |= a & ~b & c;
  if (lut & 0x40) r |= a & b & ~c;
  if (lut & 0x80) r |= a & b & c;
  return r;
}
OP3(lop3_32, u32, u32, u32, u32, table3(a, b, c, (uint32_t)i->imm))

/* lop3.and/or d|p, ..., q: p = (result != 0) op q. */
HANDLER(lop3_pred)
{
  const u32_row *ar = SIM_ROW(u32_row, i->a), *br = SIM_ROW(u32_row, i->b);
  const u32_row *cr = SIM_ROW(u32_row, i->c);
  u32_row *d = SIM_ROW(u32_row, i->d);
  uint32_t set = 0, q = *SIM_ROW(u32_row, i->e) ^ i->target;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    d[l] = table3(ar[l], br[l], cr[l], (uint32_t)i->imm);
    set |= (uint32_t)(d[l] != 0) << l;
  }
  row_set_pred(w, i->more[0], exec, i->small[0] ? set | q : set & q);
}

static void lower_lop3(struct lowering *l)
{
  static const uint16_t allowed[] = {M(AND), M(OR), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  if (!lower_only(l, allowed)) return;
  s->d = lower_dest(l, &in->operands[0], 32);
  s->a = lower_source(l, &in->operands[1], 32);
  s->b = lower_source(l, &in->operands[2], 32);
  s->c = lower_source(l, &in->operands[3], 32);
  s->imm = in->operands[4].imm & 0xff;
  s->run = lop3_32;
  if (!ptx_has(in, PTX_M_AND) && !ptx_has(in, PTX_M_OR)) return;
  if (in->operands[0].reg2 == PTX_NOREG) {
    lower_refuse(l, "the predicate destination is missing");
    return;
  }
  s->run = lop3_pred;
  s->small[0] = ptx_has(in, PTX_M_OR);
  s->more[0] = l->func->regs[in->operands[0].reg2];
  s->e = lower_pred(l, &in->operands[5], &s->target);
}

/* prmt: four selectors of four bits; the top one spreads the byte's sign. */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t sel)
{
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (int n = 0; n < 4; n++) {
    uint32_t s = sel >> (4 * n);
    uint32_t v = (uint32_t)(bytes >> (8 * (s & 7))) & 0xff;
    if (s & 8) v = v & 0x80 ? 0xff : 0;
    r |= v << (8 * n);
  }
  return r;
}
static inline uint32_t pick4(const uint8_t order[4][4], uint32_t c)
{
  const uint8_t *o = order[c & 3];
  return (uint32_t)(o[0] | o[1] << 4 | o[2] << 8 | o[3] << 12);
}
static const uint8_t f4e[4][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
static const uint8_t b4e[4][4] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}};
static const uint8_t rc8[4][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
static const uint8_t ecl[4][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
static const uint8_t ecr[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
static const uint8_t rc16[4][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
OP3(prmt_32, u32, u32, u32, u32, permute(a, b, c))
OP3(prmt_f4e, u32, u32, u32, u32, permute(a, b, pick4(f4e, c)))
OP3(prmt_b4e, u32, u32, u32, u32, permute(a, b, pick4(b4e, c)))
OP3(prmt_rc8, u32, u32, u32, u32, permute(a, b, pick4(rc8, c)))
OP3(prmt_ecl, u32, u32, u32, u32, permute(a, b, pick4(ecl, c)))
OP3(prmt_ecr, u32, u32, u32, u32, permute(a, b, pick4(ecr, c)))
OP3(prmt_rc16, u32, u32, u32, u32, permute(a, b, pick4(rc16, c)))

#define LOGIC(op, sfx)                                                                         \
  FORM(op, PRED, sfx##_pred, 0), FORM(op, B16, sfx##_32, 0), FORM(op, B32, sfx##_32, 0),        \
      FORM(op, B64, sfx##_64, 0)
#define SHIFT(op, type, run) FORM_SIZED(op, type, run, 4, 0, 0)

const struct sim_form sim_forms_bits[] = {
    LOGIC(AND, and),
    LOGIC(OR, or),
    LOGIC(XOR, xor),
    FORM(NOT, PRED, not_pred, 0),
    FORM(NOT, B16, not_16, 0),
    FORM(NOT, B32, not_32, 0),
    FORM(NOT, B64, not_64, 0),
    FORM(CNOT, B16, cnot_16, 0),
    FORM(CNOT, B32, cnot_32, 0),
    FORM(CNOT, B64, cnot_64, 0),
    SHIFT(SHL, B16, shl_16),
    SHIFT(SHL, B32, shl_32),
    SHIFT(SHL, B64, shl_64),
    SHIFT(SHR, B16, shr_u16),
    SHIFT(SHR, B32, shr_u32),
    SHIFT(SHR, B64, shr_u64),
    SHIFT(SHR, U16, shr_u16),
    SHIFT(SHR, U32, shr_u32),
    SHIFT(SHR, U64, shr_u64),
    SHIFT(SHR, S16, shr_s16),
    SHIFT(SHR, S32, shr_s32),
    SHIFT(SHR, S64, shr_s64),
    FORM(SHF, B32, shf_l_wrap, M(L), M(WRAP)),
    FORM(SHF, B32, shf_l_clamp, M(L), M(CLAMP)),
    FORM(SHF, B32, shf_r_wrap, M(R), M(WRAP)),
    FORM(SHF, B32, shf_r_clamp, M(R), M(CLAMP)),
    FORM(POPC, B32, popc_32, 0),
    FORM_SIZED(POPC, B64, popc_64, 1, 0, 0),
    FORM(CLZ, B32, clz_32, 0),
    FORM_SIZED(CLZ, B64, clz_64, 1, 0, 0),
    FORM(BREV, B32, brev_32, 0),
    FORM(BREV, B64, brev_64, 0),
    FORM(BFIND, U32, bfind_u32, 0),
    FORM(BFIND, S32, bfind_s32, 0),
    FORM_SIZED(BFIND, U64, bfind_u64, 1, 0, 0),
    FORM_SIZED(BFIND, S64, bfind_s64, 1, 0, 0),
    FORM(BFIND, U32, bfind_amt_u32, M(SHIFTAMT)),
    FORM(BFIND, S32, bfind_amt_s32, M(SHIFTAMT)),
    FORM_SIZED(BFIND, U64, bfind_amt_u64, 1, 0, M(SHIFTAMT)),
    FORM_SIZED(BFIND, S64, bfind_amt_s64, 1, 0, M(SHIFTAMT)),
    FORM(FNS, B32, fns_32, 0),
    FORM(BFE, U32, bfe_u32, 0),
    FORM(BFE, S32, bfe_s32, 0),
    FORM_SIZED(BFE, U64, bfe_u64, 12, 0, 0),
    FORM_SIZED(BFE, S64, bfe_s64, 12, 0, 0),
    FORM(BFI, B32, bfi_32, 0),
    FORM_SIZED(BFI, B64, bfi_64, 24, 0, 0),
    FORM(BMSK, B32, bmsk_clamp, M(CLAMP)),
    FORM(BMSK, B32, bmsk_wrap, M(WRAP)),
    FORM(SZEXT, U32, szext_clamp_u32, M(CLAMP)),
    FORM(SZEXT, S32, szext_clamp_s32, M(CLAMP)),
    FORM(SZEXT, U32, szext_wrap_u32, M(WRAP)),
    FORM(SZEXT, S32, szext_wrap_s32, M(WRAP)),
    FORM_ANY(LOP3, lower_lop3),
    FORM(PRMT, B32, prmt_32, 0),
    FORM(PRMT, B32, prmt_f4e, M(F4E)),
    FORM(PRMT, B32, prmt_b4e, M(B4E)),
    FORM(PRMT, B32, prmt_rc8, M(RC8)),
    FORM(PRMT, B32, prmt_ecl, M(ECL)),
    FORM(PRMT, B32, prmt_ecr, M(ECR)),
    FORM(PRMT, B32, prmt_rc16, M(RC16)),
    {.op = PTX_OPS},
};
