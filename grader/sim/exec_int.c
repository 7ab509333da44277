/* Integer arithmetic.  Wrapping is done on unsigned types; division by zero gives all ones and
 * leaves the dividend as remainder, as the hardware's routine does. */
#include "rows.h"

OP2(add_16, u16, u16, u16, (uint16_t)(a + b))
OP2(add_32, u32, u32, u32, a + b)
OP2(add_64, u64, u64, u64, a + b)
OP2(sub_16, u16, u16, u16, (uint16_t)(a - b))
OP2(sub_32, u32, u32, u32, a - b)
OP2(sub_64, u64, u64, u64, a - b)

static inline uint32_t sat_s32(int64_t v)
{
  return (uint32_t)(int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}
OP2(add_sat_s32, u32, s32, s32, sat_s32((int64_t)a + b))
OP2(sub_sat_s32, u32, s32, s32, sat_s32((int64_t)a - b))
OP2(add_sat_u32, u32, u32, u32, a + b < a ? UINT32_MAX : a + b)
OP2(sub_sat_u32, u32, u32, u32, a < b ? 0 : a - b)

/* Two halves or four bytes at once. */
#define HALVES(f) ((uint32_t)(uint16_t)(f(a, b, 0)) | (uint32_t)(uint16_t)(f(a, b, 16)) << 16)
#define H_ADD(a, b, s) (((a) >> (s)) + ((b) >> (s)))
#define H_SUB(a, b, s) (((a) >> (s)) - ((b) >> (s)))
OP2(add_16x2, u32, u32, u32, HALVES(H_ADD))
OP2(sub_16x2, u32, u32, u32, HALVES(H_SUB))
#define U16_OF(x, s) ((uint16_t)((x) >> (s)))
#define S16_OF(x, s) ((int16_t)((x) >> (s)))
#define MIN_OF(x, y) ((x) < (y) ? (x) : (y))
#define MAX_OF(x, y) ((x) > (y) ? (x) : (y))
#define H_MINU(a, b, s) MIN_OF(U16_OF(a, s), U16_OF(b, s))
#define H_MINS(a, b, s) MIN_OF(S16_OF(a, s), S16_OF(b, s))
#define H_MAXU(a, b, s) MAX_OF(U16_OF(a, s), U16_OF(b, s))
#define H_MAXS(a, b, s) MAX_OF(S16_OF(a, s), S16_OF(b, s))
#define H_MINR(a, b, s) MAX_OF(H_MINS(a, b, s), 0)
#define H_MAXR(a, b, s) MAX_OF(H_MAXS(a, b, s), 0)
OP2(min_u16x2, u32, u32, u32, HALVES(H_MINU))
OP2(min_s16x2, u32, u32, u32, HALVES(H_MINS))
OP2(max_u16x2, u32, u32, u32, HALVES(H_MAXU))
OP2(max_s16x2, u32, u32, u32, HALVES(H_MAXS))
OP2(min_relu_s16x2, u32, u32, u32, HALVES(H_MINR))
OP2(max_relu_s16x2, u32, u32, u32, HALVES(H_MAXR))

/* ---- products -------------------------------------------------------------------------------- */

static inline uint64_t hi_u64(uint64_t a, uint64_t b)
{
  return (uint64_t)((unsigned __int128)a * b >> 64);
}
static inline uint64_t hi_s64(int64_t a, int64_t b) { return (uint64_t)((__int128)a * b >> 64); }

OP2(mul_lo_16, u16, u16, u16, (uint16_t)((uint32_t)a * b))
OP2(mul_lo_32, u32, u32, u32, a * b)
OP2(mul_lo_64, u64, u64, u64, a * b)
OP2(mul_hi_u16, u16, u16, u16, (uint16_t)((uint32_t)a * b >> 16))
OP2(mul_hi_s16, u16, s16, s16, (uint16_t)((uint32_t)((int32_t)a * b) >> 16))
OP2(mul_hi_u32, u32, u32, u32, (uint32_t)((uint64_t)a * b >> 32))
OP2(mul_hi_s32, u32, s32, s32, (uint32_t)((uint64_t)((int64_t)a * b) >> 32))
OP2(mul_hi_u64, u64, u64, u64, hi_u64(a, b))
OP2(mul_hi_s64, u64, s64, s64, hi_s64(a, b))
OP2(mul_wide_u16, u32, u16, u16, (uint32_t)a * b)
OP2(mul_wide_s16, u32, s16, s16, (uint32_t)((int32_t)a * b))
OP2(mul_wide_u32, u64, u32, u32, (uint64_t)a * b)
OP2(mul_wide_s32, u64, s32, s32, (uint64_t)((int64_t)a * b))

OP3(mad_lo_16, u16, u16, u16, u16, (uint16_t)((uint32_t)a * b + c))
OP3(mad_lo_32, u32, u32, u32, u32, a * b + c)
OP3(mad_lo_64, u64, u64, u64, u64, a * b + c)
OP3(mad_hi_u16, u16, u16, u16, u16, (uint16_t)(((uint32_t)a * b >> 16) + c))
OP3(mad_hi_s16, u16, s16, s16, u16, (uint16_t)(((uint32_t)((int32_t)a * b) >> 16) + c))
OP3(mad_hi_u32, u32, u32, u32, u32, (uint32_t)((uint64_t)a * b >> 32) + c)
OP3(mad_hi_s32, u32, s32, s32, u32, (uint32_t)((uint64_t)((int64_t)a * b) >> 32) + c)
OP3(mad_hi_u64, u64, u64, u64, u64, hi_u64(a, b) + c)
OP3(mad_hi_s64, u64, s64, s64, u64, hi_s64(a, b) + c)
OP3(mad_hi_sat_s32, u32, s32, s32, s32, sat_s32(((int64_t)a * b >> 32) + c))
OP3(mad_wide_u16, u32, u16, u16, u32, (uint32_t)a * b + c)
OP3(mad_wide_s16, u32, s16, s16, u32, (uint32_t)((int32_t)a * b) + c)
OP3(mad_wide_u32, u64, u32, u32, u64, (uint64_t)a * b + c)
OP3(mad_wide_s32, u64, s32, s32, u64, (uint64_t)((int64_t)a * b) + c)

/* The low 24 bits; signed: extended from bit 23. */
static inline int64_t low24(int32_t v) { return (int32_t)((uint32_t)v << 8) >> 8; }
OP2(mul24_lo_u32, u32, u32, u32, (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff)))
OP2(mul24_hi_u32, u32, u32, u32, (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 16))
OP2(mul24_lo_s32, u32, s32, s32, (uint32_t)(low24(a) * low24(b)))
OP2(mul24_hi_s32, u32, s32, s32, (uint32_t)((uint64_t)(low24(a) * low24(b)) >> 16))
OP3(mad24_lo_u32, u32, u32, u32, u32, (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff)) + c)
OP3(mad24_hi_u32, u32, u32, u32, u32,
    (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 16) + c)
OP3(mad24_lo_s32, u32, s32, s32, u32, (uint32_t)(low24(a) * low24(b)) + c)
OP3(mad24_hi_s32, u32, s32, s32, u32, (uint32_t)((uint64_t)(low24(a) * low24(b)) >> 16) + c)
OP3(mad24_hi_sat_s32, u32, s32, s32, s32, sat_s32((int32_t)((low24(a) * low24(b)) >> 16) + (int64_t)c))

/* ---- quotients, absolute values ----------------------------------------------------------------- */

OP2(div_u16, u16, u16, u16, b ? a / b : UINT16_MAX)
OP2(div_u32, u32, u32, u32, b ? a / b : UINT32_MAX)
OP2(div_u64, u64, u64, u64, b ? a / b : UINT64_MAX)
OP2(div_s16, u16, s16, s16, (uint16_t)(b ? a / b : -1))
OP2(div_s32, u32, s32, s32, b == -1 ? 0u - (uint32_t)a : b ? (uint32_t)(a / b) : UINT32_MAX)
OP2(div_s64, u64, s64, s64, b == -1 ? 0u - (uint64_t)a : b ? (uint64_t)(a / b) : UINT64_MAX)
OP2(rem_u16, u16, u16, u16, b ? a % b : a)
OP2(rem_u32, u32, u32, u32, b ? a % b : a)
OP2(rem_u64, u64, u64, u64, b ? a % b : a)
OP2(rem_s16, u16, s16, s16, (uint16_t)(b == -1 ? 0 : b ? a % b : a))
OP2(rem_s32, u32, s32, s32, (uint32_t)(b == -1 ? 0 : b ? a % b : a))
OP2(rem_s64, u64, s64, s64, (uint64_t)(b == -1 ? 0 : b ? a % b : a))

OP1(abs_s16, u16, s16, (uint16_t)(a < 0 ? -a : a))
OP1(abs_s32, u32, s32, a < 0 ? 0u - (uint32_t)a : (uint32_t)a)
OP1(abs_s64, u64, s64, a < 0 ? 0u - (uint64_t)a : (uint64_t)a)
OP1(neg_16, u16, u16, (uint16_t)-a)
OP1(neg_32, u32, u32, 0u - a)
OP1(neg_64, u64, u64, 0u - a)

#define LESS(name, T, U)                                                                       \
  OP2(min_##name, U, T, T, (T_##U)(a < b ? a : b))                                             \
  OP2(max_##name, U, T, T, (T_##U)(a > b ? a : b))                                             \
  OP3(sad_##name, U, T, T, U, (T_##U)(c + (a > b ? (T_##U)a - (T_##U)b : (T_##U)b - (T_##U)a)))
LESS(u16, u16, u16)
LESS(s16, s16, u16)
LESS(u32, u32, u32)
LESS(s32, s32, u32)
LESS(u64, u64, u64)
LESS(s64, s64, u64)
OP2(min_relu_s32, u32, s32, s32, (uint32_t)MAX_OF(MIN_OF(a, b), 0))
OP2(max_relu_s32, u32, s32, s32, (uint32_t)MAX_OF(MAX_OF(a, b), 0))

/* ---- dot products ----------------------------------------------------------------------------------- */

#define BYTE_U(x, n) ((int32_t)(uint8_t)((x) >> (8 * (n))))
#define BYTE_S(x, n) ((int32_t)(int8_t)((x) >> (8 * (n))))
#define HALF_U(x, n) ((int32_t)(uint16_t)((x) >> (16 * (n))))
#define HALF_S(x, n) ((int32_t)(int16_t)((x) >> (16 * (n))))
#define DOT4(A, B)                                                                             \
  (uint32_t)(A(a, 0) * B(b, 0) + A(a, 1) * B(b, 1) + A(a, 2) * B(b, 2) + A(a, 3) * B(b, 3)) + c
#define DOT2(A, B, at) (uint32_t)(A(a, 0) * B(b, at)) + (uint32_t)(A(a, 1) * B(b, (at) + 1)) + c
OP3(dp4a_uu, u32, u32, u32, u32, DOT4(BYTE_U, BYTE_U))
OP3(dp4a_us, u32, u32, u32, u32, DOT4(BYTE_U, BYTE_S))
OP3(dp4a_su, u32, u32, u32, u32, DOT4(BYTE_S, BYTE_U))
OP3(dp4a_ss, u32, u32, u32, u32, DOT4(BYTE_S, BYTE_S))
OP3(dp2a_lo_uu, u32, u32, u32, u32, DOT2(HALF_U, BYTE_U, 0))
OP3(dp2a_lo_us, u32, u32, u32, u32, DOT2(HALF_U, BYTE_S, 0))
OP3(dp2a_lo_su, u32, u32, u32, u32, DOT2(HALF_S, BYTE_U, 0))
OP3(dp2a_lo_ss, u32, u32, u32, u32, DOT2(HALF_S, BYTE_S, 0))
OP3(dp2a_hi_uu, u32, u32, u32, u32, DOT2(HALF_U, BYTE_U, 2))
OP3(dp2a_hi_us, u32, u32, u32, u32, DOT2(HALF_U, BYTE_S, 2))
OP3(dp2a_hi_su, u32, u32, u32, u32, DOT2(HALF_S, BYTE_U, 2))
OP3(dp2a_hi_ss, u32, u32, u32, u32, DOT2(HALF_S, BYTE_S, 2))

/* ---- carry ---------------------------------------------------------------------------------------------- */

/* add.cc, addc, sub.cc, subc, mad.cc, madc: the carry of each lane is a bit of w->carry.  small[0]:
 * 0 add, 1 subtract, 2 low product, 3 high product unsigned, 4 signed; small[1]: takes the carry
 * in; small[2]: sets it.  As ptxas has it, a - b is a + ~b + 1: sub's flag is 1 where nothing was
 * borrowed, and subc takes one away where the flag is 0.  That shows where the two kinds are mixed,
 * as nvcc does in its division of 128-bit integers. */
#define CARRY(name, R, W, HU, HS)                                                              \
  HANDLER(name)                                                                                \
  {                                                                                            \
    R *d = SIM_ROW(R, i->d);                                                                    \
    const R *ar = SIM_ROW(R, i->a), *br = SIM_ROW(R, i->b), *cr = SIM_ROW(R, i->c);               \
    for (uint32_t m = exec; m; m &= m - 1) {                                                    \
      unsigned l = first_lane(m);                                                               \
      W x = ar[l], y = br[l], in = i->small[1] ? w->carry >> l & 1 : 0, r, out;                   \
      if (i->small[0] == 1) {                                                                   \
        W borrow = i->small[1] && !in;                                                          \
        r = x - y - borrow;                                                                     \
        out = x > y || (x == y && !borrow);                                                     \
      } else {                                                                                 \
        if (i->small[0] >= 2) {                                                                 \
          x = i->small[0] == 2 ? x * y : i->small[0] == 3 ? (HU) : (HS);                          \
          y = cr[l];                                                                            \
        }                                                                                      \
        r = x + y + in;                                                                         \
        out = r < x || (in && r == x);                                                          \
      }                                                                                        \
      d[l] = r;                                                                                 \
      if (i->small[2]) w->carry = (w->carry & ~(1u << l)) | (uint32_t)out << l;                   \
    }                                                                                          \
  }
CARRY(carry_32, u32_row, uint32_t, (uint32_t)((uint64_t)x * y >> 32),
      (uint32_t)((uint64_t)((int64_t)(int32_t)x * (int32_t)y) >> 32))
CARRY(carry_64, u64_row, uint64_t, hi_u64(x, y), hi_s64((int64_t)x, (int64_t)y))

static void lower_carry(struct lowering *l)
{
  static const uint16_t allowed[] = {M(CC), M(LO), M(HI), 0};
  const struct ptx_inst *in = l->in;
  unsigned bits = lower_type_bits(l, 0);
  bool product = in->op == PTX_MAD || in->op == PTX_MADC;
  if (!lower_only(l, allowed)) return;
  struct sim_inst *s = l->out;
  s->small[0] = in->op == PTX_SUB || in->op == PTX_SUBC ? 1
                : !product                              ? 0
                : ptx_has(in, PTX_M_LO)                 ? 2
                : ptx_type_kind(in->types[0]) == PTX_SIGNED ? 4 : 3;
  s->small[1] = in->op == PTX_ADDC || in->op == PTX_SUBC || in->op == PTX_MADC;
  s->small[2] = ptx_has(in, PTX_M_CC);
  s->d = lower_dest(l, &in->operands[0], bits);
  s->a = lower_source(l, &in->operands[1], bits);
  s->b = lower_source(l, &in->operands[2], bits);
  if (product) s->c = lower_source(l, &in->operands[3], bits);
  s->run = bits == 64 ? carry_64 : carry_32;
}

/* The .cc forms of add, sub and mad have rows of their own below. */
#define CC(op, t) {PTX_##op, PTX_T_##t, 0, {M(CC)}, NULL, lower_carry, 0, 0, NULL}

#define EACH(op, sfx, ...)                                                                     \
  FORM(op, U16, sfx##_16, ##__VA_ARGS__), FORM(op, S16, sfx##_16, ##__VA_ARGS__),              \
      FORM(op, U32, sfx##_32, ##__VA_ARGS__), FORM(op, S32, sfx##_32, ##__VA_ARGS__),          \
      FORM(op, U64, sfx##_64, ##__VA_ARGS__), FORM(op, S64, sfx##_64, ##__VA_ARGS__)
#define TYPED(op, sfx, ...)                                                                    \
  FORM(op, U16, sfx##_u16, ##__VA_ARGS__), FORM(op, S16, sfx##_s16, ##__VA_ARGS__),            \
      FORM(op, U32, sfx##_u32, ##__VA_ARGS__), FORM(op, S32, sfx##_s32, ##__VA_ARGS__),        \
      FORM(op, U64, sfx##_u64, ##__VA_ARGS__), FORM(op, S64, sfx##_s64, ##__VA_ARGS__)
#define DOT(op, sfx, ...)                                                                      \
  {PTX_##op, PTX_T_U32, PTX_T_U32, {__VA_ARGS__}, sfx##_uu, NULL, 0, 0, NULL},                        \
      {PTX_##op, PTX_T_U32, PTX_T_S32, {__VA_ARGS__}, sfx##_us, NULL, 0, 0, NULL},                    \
      {PTX_##op, PTX_T_S32, PTX_T_U32, {__VA_ARGS__}, sfx##_su, NULL, 0, 0, NULL},                    \
      {PTX_##op, PTX_T_S32, PTX_T_S32, {__VA_ARGS__}, sfx##_ss, NULL, 0, 0, NULL}

const struct sim_form sim_forms_int[] = {
    EACH(ADD, add, 0),
    FORM(ADD, S32, add_sat_s32, M(SAT)),
    FORM(ADD, U32, add_sat_u32, M(SAT)),
    FORM(ADD, U16X2, add_16x2, 0),
    FORM(ADD, S16X2, add_16x2, 0),
    EACH(SUB, sub, 0),
    FORM(SUB, S32, sub_sat_s32, M(SAT)),
    FORM(SUB, U32, sub_sat_u32, M(SAT)),
    FORM(SUB, U16X2, sub_16x2, 0),
    FORM(SUB, S16X2, sub_16x2, 0),
    EACH(MUL, mul_lo, M(LO)),
    TYPED(MUL, mul_hi, M(HI)),
    FORM_SIZED(MUL, U16, mul_wide_u16, 1, 0, M(WIDE)),
    FORM_SIZED(MUL, S16, mul_wide_s16, 1, 0, M(WIDE)),
    FORM_SIZED(MUL, U32, mul_wide_u32, 0, 1, M(WIDE)),
    FORM_SIZED(MUL, S32, mul_wide_s32, 0, 1, M(WIDE)),
    EACH(MAD, mad_lo, M(LO)),
    TYPED(MAD, mad_hi, M(HI)),
    FORM(MAD, S32, mad_hi_sat_s32, M(HI), M(SAT)),
    FORM_SIZED(MAD, U16, mad_wide_u16, 9, 0, M(WIDE)),
    FORM_SIZED(MAD, S16, mad_wide_s16, 9, 0, M(WIDE)),
    FORM_SIZED(MAD, U32, mad_wide_u32, 0, 9, M(WIDE)),
    FORM_SIZED(MAD, S32, mad_wide_s32, 0, 9, M(WIDE)),
    FORM(MUL24, U32, mul24_lo_u32, M(LO)),
    FORM(MUL24, U32, mul24_hi_u32, M(HI)),
    FORM(MUL24, S32, mul24_lo_s32, M(LO)),
    FORM(MUL24, S32, mul24_hi_s32, M(HI)),
    FORM(MAD24, U32, mad24_lo_u32, M(LO)),
    FORM(MAD24, U32, mad24_hi_u32, M(HI)),
    FORM(MAD24, S32, mad24_lo_s32, M(LO)),
    FORM(MAD24, S32, mad24_hi_s32, M(HI)),
    FORM(MAD24, S32, mad24_hi_sat_s32, M(HI), M(SAT)),
    TYPED(DIV, div, 0),
    TYPED(REM, rem, 0),
    FORM(ABS, S16, abs_s16, 0),
    FORM(ABS, S32, abs_s32, 0),
    FORM(ABS, S64, abs_s64, 0),
    FORM(NEG, S16, neg_16, 0),
    FORM(NEG, S32, neg_32, 0),
    FORM(NEG, S64, neg_64, 0),
    TYPED(MIN, min, 0),
    TYPED(MAX, max, 0),
    TYPED(SAD, sad, 0),
    FORM(MIN, U16X2, min_u16x2, 0),
    FORM(MIN, S16X2, min_s16x2, 0),
    FORM(MIN, S16X2, min_relu_s16x2, M(RELU)),
    FORM(MIN, S32, min_relu_s32, M(RELU)),
    FORM(MAX, U16X2, max_u16x2, 0),
    FORM(MAX, S16X2, max_s16x2, 0),
    FORM(MAX, S16X2, max_relu_s16x2, M(RELU)),
    FORM(MAX, S32, max_relu_s32, M(RELU)),
    DOT(DP4A, dp4a, 0),
    DOT(DP2A, dp2a_lo, M(LO)),
    DOT(DP2A, dp2a_hi, M(HI)),
    FORM_ANY(ADDC, lower_carry),
    FORM_ANY(SUBC, lower_carry),
    FORM_ANY(MADC, lower_carry),
    CC(ADD, U32), CC(ADD, S32), CC(ADD, U64), CC(ADD, S64), CC(ADD, B32), CC(ADD, B64),
    CC(SUB, U32), CC(SUB, S32), CC(SUB, U64), CC(SUB, S64), CC(SUB, B32), CC(SUB, B64),
    CC(MAD, U32), CC(MAD, S32), CC(MAD, U64), CC(MAD, S64),
    {.op = PTX_OPS},
};
