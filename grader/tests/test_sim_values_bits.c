/* Logic, shifts and bit fields, bit by bit as the PTX ISA's pseudo-code does it. */
#include "sim_values.h"

REF(and, a & b)
REF(or, a | b)
REF(xor, a ^ b)
REF(not, ~a)
REF(cnot_16, ZX(a, 16) == 0)
REF(cnot_32, ZX(a, 32) == 0)
REF(cnot_64, a == 0)
REF(and_imm, a & 0xfffffffffffffff0u)

/* Shift counts are 32-bit and unsigned; n or more shift everything out. */
static uint64_t left(uint64_t v, uint64_t by, unsigned n) { return ZX(by, 32) >= n ? 0 : v << by; }
static uint64_t right(uint64_t v, uint64_t by, unsigned n)
{
  return ZX(by, 32) >= n ? 0 : ZX(v, n) >> by;
}
static uint64_t right_signed(uint64_t v, uint64_t by, unsigned n)
{
  return (uint64_t)(SX(v, n) >> (ZX(by, 32) >= n ? 63 : by));
}
REF(shl_16, left(a, b, 16))
REF(shl_32, left(a, b, 32))
REF(shl_64, left(a, b, 64))
REF(shr_16, right(a, b, 16))
REF(shr_32, right(a, b, 32))
REF(shr_64, right(a, b, 64))
REF(shr_s16, right_signed(a, b, 16))
REF(shr_s32, right_signed(a, b, 32))
REF(shr_s64, right_signed(a, b, 64))

/* shf: the text of the ISA. */
static uint32_t funnel(uint32_t a, uint32_t b, uint32_t c, bool is_left, bool wrap)
{
  uint32_t n = wrap ? c & 31 : c < 32 ? c : 32;
  if (is_left) return n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
  return n == 0 ? a : n == 32 ? b : b << (32 - n) | a >> n;
}
REF(shf_l_wrap, funnel((uint32_t)a, (uint32_t)b, (uint32_t)c, true, true))
REF(shf_l_clamp, funnel((uint32_t)a, (uint32_t)b, (uint32_t)c, true, false))
REF(shf_r_wrap, funnel((uint32_t)a, (uint32_t)b, (uint32_t)c, false, true))
REF(shf_r_clamp, funnel((uint32_t)a, (uint32_t)b, (uint32_t)c, false, false))

static unsigned count(uint64_t v)
{
  unsigned n = 0;
  for (; v; v &= v - 1) n++;
  return n;
}
REF(popc_32, count(ZX(a, 32)))
REF(popc_64, count(a))
static unsigned leading(uint64_t v, unsigned n)
{
  unsigned zeros = 0;
  while (zeros < n && !(v >> (n - 1 - zeros) & 1)) zeros++;
  return zeros;
}
REF(clz_32, leading(a, 32))
REF(clz_64, leading(a, 64))
static uint64_t mirrored(uint64_t v, unsigned n)
{
  uint64_t r = 0;
  for (unsigned k = 0; k < n; k++) r |= (v >> k & 1) << (n - 1 - k);
  return r;
}
REF(brev_32, mirrored(a, 32))
REF(brev_64, mirrored(a, 64))

static uint64_t find(uint64_t v, unsigned n, bool is_signed, bool amount)
{
  if (is_signed && (v >> (n - 1) & 1)) v = ~v;
  for (int k = (int)n - 1; k >= 0; k--)
    if (v >> k & 1) return amount ? n - 1 - (unsigned)k : (unsigned)k;
  return 0xffffffff;
}
#define FIND(sfx, n, s)                                                                        \
  REF(bfind_##sfx, find(a, n, s, false))                                                        \
  REF(bfind_amt_##sfx, find(a, n, s, true))
FIND(u32, 32, false)
FIND(s32, 32, true)
FIND(u64, 64, false)
FIND(s64, 64, true)

static void fns(struct lane_values *v)
{
  uint32_t mask = (uint32_t)v->a, base = (uint32_t)v->b;
  int32_t offset = (int32_t)(uint32_t)v->c;
  if (base > 31) {             /* must be in 0..31 */
    v->skip = true;
    return;
  }
  v->d = 0xffffffff;
  if (offset == 0) {
    if (mask >> base & 1) v->d = base;
    return;
  }
  int pos = (int)base, step = offset > 0 ? 1 : -1;
  int64_t left = (offset > 0 ? (int64_t)offset : -(int64_t)offset) - 1;
  for (; pos >= 0 && pos < 32; pos += step) {
    if (!(mask >> pos & 1)) continue;
    if (left == 0) {
      v->d = (uint64_t)pos;
      return;
    }
    left--;
  }
}

static uint64_t extract(uint64_t a, uint64_t b, uint64_t c, unsigned n, bool is_signed)
{
  unsigned pos = b & 0xff, len = c & 0xff, msb = n - 1;
  unsigned last = pos + len - 1 < msb ? pos + len - 1 : msb;
  uint64_t sign = !is_signed || len == 0 ? 0 : a >> last & 1, d = 0;
  for (unsigned k = 0; k <= msb; k++)
    d |= (k < len && pos + k <= msb ? a >> (pos + k) & 1 : sign) << k;
  return d;
}
REF(bfe_u32, extract(a, b, c, 32, false))
REF(bfe_s32, extract(a, b, c, 32, true))
REF(bfe_u64, extract(a, b, c, 64, false))
REF(bfe_s64, extract(a, b, c, 64, true))

static uint64_t put(uint64_t a, uint64_t f, uint64_t c, uint64_t d, unsigned n)
{
  unsigned pos = c & 0xff, len = d & 0xff;
  for (unsigned k = 0; k < len && pos + k <= n - 1; k++)
    f = (f & ~(1ull << (pos + k))) | (a >> k & 1) << (pos + k);
  return f;
}
REF(bfi_32, put(a, b, c, e, 32))
REF(bfi_64, put(a, b, c, e, 64))

static uint64_t mask_of(uint32_t a, uint32_t b, bool clamp)
{
  uint32_t from = clamp ? a : a & 31, length = clamp ? b : b & 31, r = 0;
  for (unsigned k = 0; k < 32; k++)
    if (k >= from && (uint64_t)k < (uint64_t)from + length) r |= 1u << k;
  return r;
}
REF(bmsk_clamp, mask_of((uint32_t)a, (uint32_t)b, true))
REF(bmsk_wrap, mask_of((uint32_t)a, (uint32_t)b, false))

/* szext: b = 0 gives 0; .clamp: b past 31 leaves a as it is. */
static uint64_t extended(uint64_t a, uint64_t b, bool is_signed, bool clamp)
{
  unsigned n = clamp ? (ZX(b, 32) > 32 ? 32 : (unsigned)b) : (unsigned)(b & 31);
  if (n == 0) return 0;
  return is_signed ? (uint64_t)SX(a, n) : ZX(a, n);
}
REF(szext_clamp_u32, extended(a, b, false, true))
REF(szext_clamp_s32, extended(a, b, true, true))
REF(szext_wrap_u32, extended(a, b, false, false))
REF(szext_wrap_s32, extended(a, b, true, false))

/* The table is what the function gives for a = 0xf0, b = 0xcc, c = 0xaa. */
static uint32_t by_table(uint64_t a, uint64_t b, uint64_t c, unsigned lut)
{
  uint32_t r = 0;
  for (unsigned k = 0; k < 32; k++)
    r |= (lut >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
  return r;
}
#define LUT(n) REF(lop3_##n, by_table(a, b, c, 0x##n))
LUT(00) LUT(ff) LUT(80) LUT(fe) LUT(96) LUT(e8) LUT(ca) LUT(01) LUT(3c) LUT(f0) LUT(cc) LUT(aa)
LUT(1a) LUT(57) LUT(2d) LUT(b4)
static void lop3_and(struct lane_values *v)
{
  v->d = by_table(v->a, v->b, v->c, 0x88);
  v->q = (uint32_t)v->d != 0 && v->e;
}
static void lop3_or_not(struct lane_values *v)
{
  v->d = by_table(v->a, v->b, v->c, 0x80);
  v->q = (uint32_t)v->d != 0 || !v->e;
}

/* prmt: bytes 7..0 of b:a; the mode's table as the ISA prints it, d.b3 first. */
static uint64_t permuted(uint64_t a, uint64_t b, uint64_t c, const char *table)
{
  uint64_t all = ZX(b, 32) << 32 | ZX(a, 32), r = 0;
  for (unsigned k = 0; k < 4; k++) {
    unsigned from = table ? (unsigned)(table[4 * (c & 3) + 3 - k] - '0') : c >> (4 * k) & 7;
    uint64_t byte = all >> (8 * from) & 0xff;
    if (!table && (c >> (4 * k) & 8)) byte = byte >> 7 ? 0xff : 0;
    r |= byte << (8 * k);
  }
  return r;
}
REF(prmt, permuted(a, b, c, NULL))
REF(prmt_f4e, permuted(a, b, c, "3210" "4321" "5432" "6543"))
REF(prmt_b4e, permuted(a, b, c, "5670" "6701" "7012" "0123"))
REF(prmt_rc8, permuted(a, b, c, "0000" "1111" "2222" "3333"))
REF(prmt_ecl, permuted(a, b, c, "3210" "3211" "3222" "3333"))
REF(prmt_ecr, permuted(a, b, c, "0000" "1110" "2210" "3210"))
REF(prmt_rc16, permuted(a, b, c, "1010" "3232" "1010" "3232"))
REF(prmt_imm, permuted(a, b, 0x5410, NULL))
REF(shl_3, a << 3)
REF(zero, 0)
REF(sign_16, SX(a, 16) >> 15)

#define LOGIC(op, ref)                                                                         \
  {"p=pp", op ".pred D,A,B", ref}, {"h=hh", op ".b16 D,A,B", ref},                               \
  {"w=ww", op ".b32 D,A,B", ref}, {"l=ll", op ".b64 D,A,B", ref}
#define LUT_ROW(n) {"w=www", "lop3.b32 D,A,B,C,0x" #n, lop3_##n}

static const struct value_row rows[] = {
    LOGIC("and", and), LOGIC("or", or), LOGIC("xor", xor),
    {"p=p", "not.pred D,A", not}, {"h=h", "not.b16 D,A", not},
    {"w=w", "not.b32 D,A", not}, {"l=l", "not.b64 D,A", not},
    {"h=h", "cnot.b16 D,A", cnot_16}, {"w=w", "cnot.b32 D,A", cnot_32},
    {"l=l", "cnot.b64 D,A", cnot_64},
    {"h=h", "and.b16 D,A,-16", and_imm}, {"w=w", "and.b32 D,A,-16", and_imm},
    {"l=l", "and.b64 D,A,-16", and_imm},
    {"h=hs", "shl.b16 D,A,B", shl_16}, {"w=ws", "shl.b32 D,A,B", shl_32},
    {"l=ls", "shl.b64 D,A,B", shl_64}, {"h=hs", "shr.b16 D,A,B", shr_16},
    {"w=ws", "shr.b32 D,A,B", shr_32}, {"l=ls", "shr.b64 D,A,B", shr_64},
    {"h=hs", "shr.u16 D,A,B", shr_16}, {"w=ws", "shr.u32 D,A,B", shr_32},
    {"l=ls", "shr.u64 D,A,B", shr_64}, {"h=hs", "shr.s16 D,A,B", shr_s16},
    {"w=ws", "shr.s32 D,A,B", shr_s32}, {"l=ls", "shr.s64 D,A,B", shr_s64},
    {"w=w", "shl.b32 D,A,3", shl_3}, {"l=l", "shl.b64 D,A,3", shl_3}, {"h=h", "shl.b16 D,A,3", shl_3},
    {"w=w", "shr.u32 D,A,32", zero}, {"h=h", "shr.s16 D,A,40", sign_16},
    {"w=wws", "shf.l.wrap.b32 D,A,B,C", shf_l_wrap},
    {"w=wws", "shf.l.clamp.b32 D,A,B,C", shf_l_clamp},
    {"w=wws", "shf.r.wrap.b32 D,A,B,C", shf_r_wrap},
    {"w=wws", "shf.r.clamp.b32 D,A,B,C", shf_r_clamp},
    {"w=w", "popc.b32 D,A", popc_32}, {"w=l", "popc.b64 D,A", popc_64},
    {"w=w", "clz.b32 D,A", clz_32}, {"w=l", "clz.b64 D,A", clz_64},
    {"w=w", "brev.b32 D,A", brev_32}, {"l=l", "brev.b64 D,A", brev_64},
    {"w=w", "bfind.u32 D,A", bfind_u32}, {"w=w", "bfind.s32 D,A", bfind_s32},
    {"w=l", "bfind.u64 D,A", bfind_u64}, {"w=l", "bfind.s64 D,A", bfind_s64},
    {"w=w", "bfind.shiftamt.u32 D,A", bfind_amt_u32},
    {"w=w", "bfind.shiftamt.s32 D,A", bfind_amt_s32},
    {"w=l", "bfind.shiftamt.u64 D,A", bfind_amt_u64},
    {"w=l", "bfind.shiftamt.s64 D,A", bfind_amt_s64},
    {"w=wsz", "fns.b32 D,A,B,C", fns},
    {"w=wss", "bfe.u32 D,A,B,C", bfe_u32}, {"w=wss", "bfe.s32 D,A,B,C", bfe_s32},
    {"l=lss", "bfe.u64 D,A,B,C", bfe_u64}, {"l=lss", "bfe.s64 D,A,B,C", bfe_s64},
    {"w=wwss", "bfi.b32 D,A,B,C,E", bfi_32}, {"l=llss", "bfi.b64 D,A,B,C,E", bfi_64},
    {"w=ss", "bmsk.clamp.b32 D,A,B", bmsk_clamp}, {"w=ss", "bmsk.wrap.b32 D,A,B", bmsk_wrap},
    {"w=ws", "szext.clamp.u32 D,A,B", szext_clamp_u32},
    {"w=ws", "szext.clamp.s32 D,A,B", szext_clamp_s32},
    {"w=ws", "szext.wrap.u32 D,A,B", szext_wrap_u32},
    {"w=ws", "szext.wrap.s32 D,A,B", szext_wrap_s32},
    LUT_ROW(00), LUT_ROW(ff), LUT_ROW(80), LUT_ROW(fe), LUT_ROW(96), LUT_ROW(e8), LUT_ROW(ca),
    LUT_ROW(01), LUT_ROW(3c), LUT_ROW(f0), LUT_ROW(cc), LUT_ROW(aa), LUT_ROW(1a), LUT_ROW(57),
    LUT_ROW(2d), LUT_ROW(b4),
    {"wp=wwwp", "lop3.and.b32 D|Q,A,B,C,0x88,E", lop3_and},
    {"wp=wwwp", "lop3.or.b32 D|Q,A,B,C,0x80,!E", lop3_or_not},
    {"w=www", "prmt.b32 D,A,B,C", prmt}, {"w=wws", "prmt.b32.f4e D,A,B,C", prmt_f4e},
    {"w=wws", "prmt.b32.b4e D,A,B,C", prmt_b4e}, {"w=wws", "prmt.b32.rc8 D,A,B,C", prmt_rc8},
    {"w=wws", "prmt.b32.ecl D,A,B,C", prmt_ecl}, {"w=wws", "prmt.b32.ecr D,A,B,C", prmt_ecr},
    {"w=wws", "prmt.b32.rc16 D,A,B,C", prmt_rc16}, {"w=ww", "prmt.b32 D,A,B,0x5410", prmt_imm},
};
const struct value_table values_bits = {"bits", rows, sizeof rows / sizeof *rows};
