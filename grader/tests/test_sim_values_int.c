/* Integer arithmetic, as the PTX ISA words it. */
#include "sim_values.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

REF(add, a + b)
REF(sub, a - b)
REF(mul_lo, a * b)
REF(mad_lo, a * b + c)
REF(neg, 0 - a)

static int64_t clamped(s128 v, int64_t least, int64_t most)
{
  return (int64_t)(v < least ? least : v > most ? most : v);
}
#define SIGNED_MOST(n) ((int64_t)((1ull << ((n) - 1)) - 1))
REF(add_sat_s32, clamped((s128)SX(a, 32) + SX(b, 32), INT32_MIN, INT32_MAX))
REF(sub_sat_s32, clamped((s128)SX(a, 32) - SX(b, 32), INT32_MIN, INT32_MAX))

/* Parts of a word, each on its own. */
#define LO(x) ZX(x, 16)
#define HI(x) ZX((x) >> 16, 16)
#define PAIR(f, g) (ZX(f, 16) | ZX(g, 16) << 16)
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MOST(x, y) ((x) > (y) ? (x) : (y))
REF(add_16x2, PAIR(LO(a) + LO(b), HI(a) + HI(b)))
REF(sub_16x2, PAIR(LO(a) - LO(b), HI(a) - HI(b)))
REF(min_u16x2, PAIR(LEAST(LO(a), LO(b)), LEAST(HI(a), HI(b))))
REF(max_u16x2, PAIR(MOST(LO(a), LO(b)), MOST(HI(a), HI(b))))
#define SLO(x) SX(x, 16)
#define SHI(x) SX((x) >> 16, 16)
REF(min_s16x2, PAIR(LEAST(SLO(a), SLO(b)), LEAST(SHI(a), SHI(b))))
REF(max_s16x2, PAIR(MOST(SLO(a), SLO(b)), MOST(SHI(a), SHI(b))))
REF(min_relu_s16x2, PAIR(MOST(0, LEAST(SLO(a), SLO(b))), MOST(0, LEAST(SHI(a), SHI(b)))))
REF(max_relu_s16x2, PAIR(MOST(0, MOST(SLO(a), SLO(b))), MOST(0, MOST(SHI(a), SHI(b)))))
REF(min_relu_s32, MOST(0, LEAST(SX(a, 32), SX(b, 32))))
REF(max_relu_s32, MOST(0, MOST(SX(a, 32), SX(b, 32))))

/* For one type: n bits, X extends to 64 bits (X64 to 128). */
#define TYPED(T, n, X, wide)                                                                   \
  REF(mul_hi_##T, ((wide)X(a, n) * (wide)X(b, n)) >> (n))                                       \
  REF(mad_hi_##T, (((wide)X(a, n) * (wide)X(b, n)) >> (n)) + c)                                 \
  REF(min_##T, LEAST(X(a, n), X(b, n)))                                                         \
  REF(max_##T, MOST(X(a, n), X(b, n)))                                                          \
  REF(sad_##T, c + (X(a, n) < X(b, n) ? b - a : a - b))                                         \
  static void div_##T(struct lane_values *v)                                                   \
  {                                                                                            \
    v->skip = ZX(v->b, n) == 0;   /* machine-specific */                                        \
    if (!v->skip) v->d = (uint64_t)((wide)X(v->a, n) / (wide)X(v->b, n));                        \
  }                                                                                            \
  static void rem_##T(struct lane_values *v)                                                   \
  {                                                                                            \
    v->skip = ZX(v->b, n) == 0;                                                                 \
    if (!v->skip) v->d = (uint64_t)((wide)X(v->a, n) % (wide)X(v->b, n));                        \
  }
TYPED(u16, 16, ZX, u128)
TYPED(s16, 16, SX, s128)
TYPED(u32, 32, ZX, u128)
TYPED(s32, 32, SX, s128)
TYPED(u64, 64, ZX, u128)
TYPED(s64, 64, SX, s128)

#define WIDE(T, n, X, wide)                                                                    \
  REF(mul_wide_##T, (wide)X(a, n) * (wide)X(b, n))                                              \
  REF(mad_wide_##T, (wide)X(a, n) * (wide)X(b, n) + c)
WIDE(u16, 16, ZX, u128)
WIDE(s16, 16, SX, s128)
WIDE(u32, 32, ZX, u128)
WIDE(s32, 32, SX, s128)

REF(mad_hi_sat_s32, clamped(((s128)SX(a, 32) * SX(b, 32) >> 32) + SX(c, 32), INT32_MIN, INT32_MAX))
REF(mul24_lo_u32, ZX(a, 24) * ZX(b, 24))
REF(mul24_hi_u32, ZX(a, 24) * ZX(b, 24) >> 16)
REF(mul24_lo_s32, SX(a, 24) * SX(b, 24))
REF(mul24_hi_s32, SX(a, 24) * SX(b, 24) >> 16)
REF(mad24_lo_u32, ZX(a, 24) * ZX(b, 24) + c)
REF(mad24_hi_u32, (ZX(a, 24) * ZX(b, 24) >> 16) + c)
REF(mad24_lo_s32, (uint64_t)(SX(a, 24) * SX(b, 24)) + c)
REF(mad24_hi_s32, (uint64_t)(SX(a, 24) * SX(b, 24) >> 16) + c)
REF(mad24_hi_sat_s32, clamped((s128)SX(SX(a, 24) * SX(b, 24) >> 16, 32) + SX(c, 32), INT32_MIN,
                              INT32_MAX))
REF(abs_s16, SX(a, 16) < 0 ? 0 - a : a)
REF(abs_s32, SX(a, 32) < 0 ? 0 - a : a)
REF(abs_s64, SX(a, 64) < 0 ? 0 - a : a)

/* ---- dot products: four bytes; two halves with the low or high two bytes ------------------------- */

static uint64_t dot(uint64_t a, uint64_t b, unsigned parts, unsigned width, bool sa, bool sb)
{
  uint64_t sum = 0;
  for (unsigned k = 0; k < parts; k++) {
    uint64_t x = a >> (k * width), y = b >> (8 * k);
    sum += (sa ? (uint64_t)SX(x, width) : ZX(x, width)) * (sb ? (uint64_t)SX(y, 8) : ZX(y, 8));
  }
  return sum;
}
#define DOTS(sfx, sa, sb)                                                                      \
  REF(dp4a_##sfx, dot(a, b, 4, 8, sa, sb) + c)                                                  \
  REF(dp2a_lo_##sfx, dot(a, b, 2, 16, sa, sb) + c)                                              \
  REF(dp2a_hi_##sfx, dot(a, b >> 16, 2, 16, sa, sb) + c)
DOTS(uu, false, false)
DOTS(us, false, true)
DOTS(su, true, false)
DOTS(ss, true, true)

/* ---- carry chains: the pair as one number of twice the width ---------------------------------------- */

#define CHAIN(name, n, expr)                                                                   \
  static void name(struct lane_values *v)                                                      \
  {                                                                                            \
    u128 a = ZX(v->a, n), b = ZX(v->b, n), c = ZX(v->c, n), e = ZX(v->e, n);                      \
    u128 x = c << (n) | a, y = e << (n) | b, r = (expr);                                        \
    (void)x, (void)y;                                                                           \
    v->d = (uint64_t)r;                                                                         \
    v->q = (uint64_t)(r >> (n));                                                                \
  }
CHAIN(add_chain_32, 32, x + y)
CHAIN(add_chain_64, 64, x + y)
CHAIN(sub_chain_32, 32, x - y)
CHAIN(sub_chain_64, 64, x - y)
CHAIN(mad_chain_u32, 32, a * b + (e << 32 | c))
CHAIN(mad_chain_u64, 64, a * b + (e << 64 | c))
CHAIN(mad_chain_s32, 32, (u128)((s128)SX(a, 32) * SX(b, 32)) + (e << 32 | c))
CHAIN(mad_chain_s64, 64, (u128)((s128)(int64_t)a * (int64_t)b) + (e << 64 | c))
/* The carry flag itself, through addc of zeros and subc. */
CHAIN(carry_out_32, 32, (u128)(x + y) >> 64)
static void add_flag(struct lane_values *v)
{
  v->d = v->a + v->b;
  v->q = (v->d >> 32) + 0;
}
/* sub's flag is that of a + ~b + 1, and subc adds ~b and the flag (ptxas on sm_90). */
static void sub_flag(struct lane_values *v)
{
  v->d = ZX(v->a - v->b, 32);
  v->q = ZX(v->a, 32) >= ZX(v->b, 32);
}
static void sub_sub_flag(struct lane_values *v)
{
  uint64_t a = ZX(v->a, 32), b = ZX(v->b, 32), c = ZX(v->c, 32), e = ZX(v->e, 32);
  v->d = 0;
  v->q = (c << 32 | a) >= (e << 32 | b);
}
static void add_sub_flag(struct lane_values *v)
{
  uint64_t carry = (ZX(v->a, 32) + ZX(v->b, 32)) >> 32;
  v->d = ZX(v->a + v->b, 32);
  v->q = ZX(v->c + ZX(~v->e, 32) + carry, 32);
}
static void mad_hi_flag(struct lane_values *v)
{
  uint64_t r = ZX((u128)ZX(v->a, 32) * ZX(v->b, 32) >> 32, 32) + ZX(v->c, 32);
  v->d = r;
  v->q = r >> 32;
}
/* Three words; the middle one takes and gives. */
static void long_sum(struct lane_values *v)
{
  u128 x = (u128)v->a << 64 | v->b, y = (u128)v->b << 64 | v->c;
  x += y;
  v->d = (uint64_t)x;
  v->q = (uint64_t)(x >> 64);
}
/* An instruction without .cc leaves the flag as it was. */
static void flag_stays(struct lane_values *v)
{
  v->d = v->c + 1;
  v->q = ZX(v->a, 32) + ZX(v->b, 32) > UINT32_MAX;
}

#define EACH(op, ref)                                                                          \
  {"h=hh", op "u16 D,A,B", ref}, {"h=hh", op "s16 D,A,B", ref}, {"w=ww", op "u32 D,A,B", ref},   \
  {"w=ww", op "s32 D,A,B", ref}, {"l=ll", op "u64 D,A,B", ref}, {"l=ll", op "s64 D,A,B", ref}
#define EACH_TYPED(op, ref)                                                                    \
  {"h=hh", op "u16 D,A,B", ref##_u16}, {"h=hh", op "s16 D,A,B", ref##_s16},                      \
  {"w=ww", op "u32 D,A,B", ref##_u32}, {"w=ww", op "s32 D,A,B", ref##_s32},                      \
  {"l=ll", op "u64 D,A,B", ref##_u64}, {"l=ll", op "s64 D,A,B", ref##_s64}
#define EACH3_TYPED(op, ref)                                                                   \
  {"h=hhh", op "u16 D,A,B,C", ref##_u16}, {"h=hhh", op "s16 D,A,B,C", ref##_s16},                \
  {"w=www", op "u32 D,A,B,C", ref##_u32}, {"w=www", op "s32 D,A,B,C", ref##_s32},                \
  {"l=lll", op "u64 D,A,B,C", ref##_u64}, {"l=lll", op "s64 D,A,B,C", ref##_s64}
#define DOT_ROWS(op, ref)                                                                      \
  {"w=www", op "u32.u32 D,A,B,C", ref##_uu}, {"w=www", op "u32.s32 D,A,B,C", ref##_us},          \
  {"w=www", op "s32.u32 D,A,B,C", ref##_su}, {"w=www", op "s32.s32 D,A,B,C", ref##_ss}

REF(add_minus_5, a + (uint64_t)-5)
REF(mul_hi_minus_3, (s128)SX(a, 32) * -3 >> 32)
REF(div_minus_7, SX(a, 32) / -7)
REF(div_big, ZX(a, 32) / 0x80000001u)
REF(min_minus_1_s16, LEAST(SX(a, 16), -1))
REF(min_65535_u16, ZX(a, 16))
REF(max_minus_2_s64, MOST((int64_t)a, -2))
REF(wide_minus_9, SX(a, 16) * -9)
REF(sub_from, 1000 - a)

static const struct value_row rows[] = {
    EACH("add.", add), EACH("sub.", sub), EACH("mul.lo.", mul_lo),
    {"w=ww", "add.sat.s32 D,A,B", add_sat_s32},
    {"w=ww", "sub.sat.s32 D,A,B", sub_sat_s32},
    {"w=ww", "add.u16x2 D,A,B", add_16x2},
    {"w=ww", "add.s16x2 D,A,B", add_16x2},
    {"w=ww", "sub.u16x2 D,A,B", sub_16x2},
    {"w=ww", "sub.s16x2 D,A,B", sub_16x2},
    EACH_TYPED("mul.hi.", mul_hi),
    {"w=hh", "mul.wide.u16 D,A,B", mul_wide_u16},
    {"w=hh", "mul.wide.s16 D,A,B", mul_wide_s16},
    {"l=ww", "mul.wide.u32 D,A,B", mul_wide_u32},
    {"l=ww", "mul.wide.s32 D,A,B", mul_wide_s32},
    {"h=hhh", "mad.lo.u16 D,A,B,C", mad_lo}, {"h=hhh", "mad.lo.s16 D,A,B,C", mad_lo},
    {"w=www", "mad.lo.u32 D,A,B,C", mad_lo}, {"w=www", "mad.lo.s32 D,A,B,C", mad_lo},
    {"l=lll", "mad.lo.u64 D,A,B,C", mad_lo}, {"l=lll", "mad.lo.s64 D,A,B,C", mad_lo},
    EACH3_TYPED("mad.hi.", mad_hi),
    {"w=www", "mad.hi.sat.s32 D,A,B,C", mad_hi_sat_s32},
    {"w=hhw", "mad.wide.u16 D,A,B,C", mad_wide_u16},
    {"w=hhw", "mad.wide.s16 D,A,B,C", mad_wide_s16},
    {"l=wwl", "mad.wide.u32 D,A,B,C", mad_wide_u32},
    {"l=wwl", "mad.wide.s32 D,A,B,C", mad_wide_s32},
    {"w=ww", "mul24.lo.u32 D,A,B", mul24_lo_u32}, {"w=ww", "mul24.hi.u32 D,A,B", mul24_hi_u32},
    {"w=ww", "mul24.lo.s32 D,A,B", mul24_lo_s32}, {"w=ww", "mul24.hi.s32 D,A,B", mul24_hi_s32},
    {"w=www", "mad24.lo.u32 D,A,B,C", mad24_lo_u32},
    {"w=www", "mad24.hi.u32 D,A,B,C", mad24_hi_u32},
    {"w=www", "mad24.lo.s32 D,A,B,C", mad24_lo_s32},
    {"w=www", "mad24.hi.s32 D,A,B,C", mad24_hi_s32},
    {"w=www", "mad24.hi.sat.s32 D,A,B,C", mad24_hi_sat_s32},
    EACH3_TYPED("sad.", sad),
    EACH_TYPED("div.", div), EACH_TYPED("rem.", rem),
    {"w=zz", "div.s32 D,A,B", div_s32}, {"w=zz", "rem.s32 D,A,B", rem_s32},
    {"h=h", "abs.s16 D,A", abs_s16}, {"w=w", "abs.s32 D,A", abs_s32},
    {"l=l", "abs.s64 D,A", abs_s64},
    {"h=h", "neg.s16 D,A", neg}, {"w=w", "neg.s32 D,A", neg}, {"l=l", "neg.s64 D,A", neg},
    EACH_TYPED("min.", min), EACH_TYPED("max.", max),
    {"w=ww", "min.u16x2 D,A,B", min_u16x2}, {"w=ww", "max.u16x2 D,A,B", max_u16x2},
    {"w=ww", "min.s16x2 D,A,B", min_s16x2}, {"w=ww", "max.s16x2 D,A,B", max_s16x2},
    {"w=ww", "min.s16x2.relu D,A,B", min_relu_s16x2},
    {"w=ww", "max.s16x2.relu D,A,B", max_relu_s16x2},
    {"w=ww", "min.relu.s32 D,A,B", min_relu_s32}, {"w=ww", "max.relu.s32 D,A,B", max_relu_s32},
    DOT_ROWS("dp4a.", dp4a), DOT_ROWS("dp2a.lo.", dp2a_lo), DOT_ROWS("dp2a.hi.", dp2a_hi),
    {"ww=wwww", "add.cc.u32 D,A,B; addc.u32 Q,C,E", add_chain_32},
    {"ww=wwww", "add.cc.s32 D,A,B; addc.s32 Q,C,E", add_chain_32},
    {"ww=wwww", "add.cc.b32 D,A,B; addc.b32 Q,C,E", add_chain_32},
    {"ll=llll", "add.cc.u64 D,A,B; addc.u64 Q,C,E", add_chain_64},
    {"ll=llll", "add.cc.s64 D,A,B; addc.s64 Q,C,E", add_chain_64},
    {"ww=wwww", "sub.cc.u32 D,A,B; subc.u32 Q,C,E", sub_chain_32},
    {"ww=wwww", "sub.cc.s32 D,A,B; subc.s32 Q,C,E", sub_chain_32},
    {"ll=llll", "sub.cc.u64 D,A,B; subc.u64 Q,C,E", sub_chain_64},
    {"ll=llll", "sub.cc.s64 D,A,B; subc.s64 Q,C,E", sub_chain_64},
    {"ww=wwww", "mad.lo.cc.u32 D,A,B,C; madc.hi.u32 Q,A,B,E", mad_chain_u32},
    {"ww=wwww", "mad.lo.cc.s32 D,A,B,C; madc.hi.s32 Q,A,B,E", mad_chain_s32},
    {"ll=llll", "mad.lo.cc.u64 D,A,B,C; madc.hi.u64 Q,A,B,E", mad_chain_u64},
    {"ll=llll", "mad.lo.cc.s64 D,A,B,C; madc.hi.s64 Q,A,B,E", mad_chain_s64},
    {"ww=wwww", "add.cc.u32 D,A,B; addc.cc.u32 Q,C,E; addc.u32 D,0,0; mov.u32 Q,0", carry_out_32},
    {"ww=ww", "add.cc.u32 D,A,B; addc.u32 Q,0,0", add_flag},
    {"ww=ww", "sub.cc.u32 D,A,B; addc.u32 Q,0,0", sub_flag},
    {"ww=wwww", "sub.cc.u32 D,A,B; subc.cc.u32 D,C,E; addc.u32 Q,0,0; mov.u32 D,0", sub_sub_flag},
    {"ww=wwww", "add.cc.u32 D,A,B; subc.u32 Q,C,E", add_sub_flag},
    {"ww=www", "mad.hi.cc.u32 D,A,B,C; addc.u32 Q,0,0", mad_hi_flag},
    {"ww=www", "mul.hi.u32 Q,A,B; add.cc.u32 D,0,0; madc.hi.cc.u32 D,A,B,C; addc.u32 Q,0,0",
     mad_hi_flag},
    {"ll=lll", ".reg .b32 al,ah,bl,bh,cl,ch,t,u,v,w; mov.b64 {al,ah},A; mov.b64 {bl,bh},B; "
               "mov.b64 {cl,ch},C; add.cc.u32 t,bl,cl; addc.cc.u32 u,bh,ch; addc.cc.u32 v,al,bl; "
               "addc.u32 w,ah,bh; mov.b64 D,{t,u}; mov.b64 Q,{v,w}", long_sum},
    {"ww=www", "add.cc.u32 D,A,B; add.u32 D,C,1; addc.u32 Q,0,0", flag_stays},
    /* immediates */
    {"h=h", "add.s16 D,A,-5", add_minus_5}, {"w=w", "add.s32 D,A,-5", add_minus_5},
    {"l=l", "add.s64 D,A,-5", add_minus_5}, {"w=w", "mul.hi.s32 D,A,-3", mul_hi_minus_3},
    {"w=w", "div.s32 D,A,-7", div_minus_7}, {"w=w", "div.u32 D,A,0x80000001", div_big},
    {"h=h", "min.s16 D,A,-1", min_minus_1_s16}, {"h=h", "min.u16 D,A,-1", min_65535_u16},
    {"l=l", "max.s64 D,A,-2", max_minus_2_s64}, {"w=h", "mul.wide.s16 D,A,-9", wide_minus_9},
    {"w=w", "sub.u32 D,1000,A", sub_from}, {"l=l", "sub.u64 D,1000,A", sub_from},
    {"h=h", "sub.u16 D,1000,A", sub_from},
};
const struct value_table values_int = {"int", rows, sizeof rows / sizeof *rows};
