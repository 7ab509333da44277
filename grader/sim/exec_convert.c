/* cvt between integers, f32 and f64.
 *
 * The usual conversions have a loop of their own.  All others go lane by lane through one function:
 * the source is read into an exact value (a 128-bit integer or a double), rounded, saturated and
 * written as the destination's type, extended to its register.  Float to integer saturates; NaN
 * becomes 0, or only the top bit where a 64-bit type takes part. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

/* Same bits, or fewer, or extended by the source's sign: the destination's sign does not matter. */
#define TO(S)                                                                            \
  OP1(cvt_16_##S, u16, S, (uint16_t)a) OP1(cvt_32_##S, u32, S, (uint32_t)a)                      \
  OP1(cvt_64_##S, u64, S, (uint64_t)a)
TO(u8) TO(s8) TO(u16) TO(s16) TO(u32) TO(s32) TO(u64) TO(s64)

/* In range the host's conversion; the bounds are floats, exactly. */
static inline uint32_t f32_to_s32(float a)
{
  float c = a < -2147483648.0f ? -2147483648.0f : a;
  int32_t v = c >= 2147483648.0f || c != c ? 0 : (int32_t)c;
  return a >= 2147483648.0f ? 0x7fffffffu : (uint32_t)v;
}
static inline uint32_t f32_to_u32(float a)
{
  float c = a > 0 ? a : 0;
  return c >= 4294967296.0f ? UINT32_MAX : (uint32_t)c;
}
OP1(cvt_rzi_s32_f32, u32, f32, f32_to_s32(a))
OP1(cvt_rzi_u32_f32, u32, f32, f32_to_u32(a))
OP1(cvt_rn_f32_s32, f32, s32, (float)a)
OP1(cvt_rn_f32_u32, f32, u32, (float)a)
OP1(cvt_rn_f32_s16, f32, s16, (float)a)
OP1(cvt_rn_f32_u16, f32, u16, (float)a)
OP1(cvt_rn_f32_u8, f32, u8, (float)a)
OP1(cvt_rn_f64_s32, f64, s32, (double)a)
OP1(cvt_rn_f64_u32, f64, u32, (double)a)
OP1(cvt_f64_f32, f64, f32, (double)a)
static inline float canon(float r)
{
  uint32_t u = 0x7fffffffu;
  if (r != r) memcpy(&r, &u, 4);
  return r;
}
OP1(cvt_rn_f32_f64, f32, f64, canon((float)a))

/* ---- any other ------------------------------------------------------------------------------------ */

enum round { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP, ROUND_NONE };

struct kind { uint8_t bits; bool is_float, is_signed; };

static struct kind kind_of(enum ptx_type t)
{
  return (struct kind){(uint8_t)ptx_type_bits(t), ptx_type_kind(t) == PTX_FLOAT,
                       ptx_type_kind(t) == PTX_SIGNED};
}

static double round_to_integer(double x, enum round r)
{
  switch (r) {
  case ROUND_RN: return nearbyint(x);   /* the host rounds to nearest here */
  case ROUND_RZ: return trunc(x);
  case ROUND_RM: return floor(x);
  case ROUND_RP: return ceil(x);
  default: return x;
  }
}

static __int128 most(struct kind k)
{
  return ((__int128)1 << (k.bits - (k.is_signed ? 1 : 0))) - 1;
}
static __int128 least(struct kind k) { return k.is_signed ? -((__int128)1 << (k.bits - 1)) : 0; }

static uint64_t extend(__int128 v, struct kind k)
{
  if (k.bits == 64) return (uint64_t)v;
  uint64_t low = (uint64_t)v & ((1ull << k.bits) - 1);
  return k.is_signed && (low >> (k.bits - 1) & 1) ? low | ~0ull << k.bits : low;
}

static float flush32(float f)
{
  return fpclassify(f) == FP_SUBNORMAL ? copysignf(0, f) : f;
}

/* A double from an integer, or a float from either, in rounding mode r: the host's own conversion
 * with its mode set; volatile keeps it between the calls. */
static const int host_round[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};

static uint64_t to_float(__int128 integer, double x, bool from_float, bool is_signed, unsigned bits,
                         enum round r)
{
  uint64_t out = 0;
  int before = fegetround();
  fesetround(host_round[r]);
  /* A large unsigned value is halved with its last bit kept sticky: the host converts signed ones
   * in one instruction, which obeys the mode. */
  bool large = !from_float && !is_signed && (uint64_t)integer >> 63;
  uint64_t half = (uint64_t)integer >> 1 | ((uint64_t)integer & 1);
  volatile int64_t si = large ? (int64_t)half : (int64_t)integer;
  volatile double vx = x;
  if (bits == 32) {
    volatile float f = from_float ? (float)vx : (float)si;
    float g = canon(large ? 2 * f : f);
    memcpy(&out, &g, 4);
  } else {
    volatile double d = from_float ? vx : (double)si;
    double g = large ? 2 * d : d;
    memcpy(&out, &g, 8);
  }
  fesetround(before);
  return out;
}

struct plan { struct kind to, from; enum round round; bool integral, flush, sat; };

static uint64_t convert(uint64_t raw, const struct plan *p)
{
  if (!p->from.is_float) {
    __int128 v = p->from.is_signed ? (__int128)(int64_t)extend((__int128)raw, p->from)
                                   : (__int128)extend((__int128)raw, p->from);
    if (p->to.is_float) {
      uint64_t r = to_float(v, 0, false, p->from.is_signed, p->to.bits, p->round);
      if (p->sat) {
        double one = v <= 0 ? 0 : 1;
        return to_float(0, one, true, true, p->to.bits, ROUND_RN);
      }
      return r;
    }
    if (p->sat) {
      if (v > most(p->to)) v = most(p->to);
      if (v < least(p->to)) v = least(p->to);
    }
    return extend(v, p->to);
  }
  double x;
  if (p->from.bits == 32) {
    float f;
    memcpy(&f, &raw, 4);
    if (p->flush) f = flush32(f);
    x = f;
  } else {
    memcpy(&x, &raw, 8);
  }
  if (!p->to.is_float) {
    if (isnan(x)) {
      bool zero = p->from.bits != 64 && p->to.bits != 64;
      return zero ? 0 : extend((__int128)1 << (p->to.bits - 1), p->to);
    }
    x = round_to_integer(x, p->round);
    __int128 v = x >= 0x1p64 ? (__int128)1 << 65 : x <= -0x1p64 ? -((__int128)1 << 65) : (__int128)x;
    if (v > most(p->to)) v = most(p->to);
    if (v < least(p->to)) v = least(p->to);
    return extend(v, p->to);
  }
  if (p->integral) x = round_to_integer(x, p->round);
  if (p->sat) x = x > 0 ? x < 1 ? x : 1 : 0;
  uint64_t r = to_float(0, x, true, true, p->to.bits, p->integral ? ROUND_RN : p->round);
  if (p->flush && p->to.bits == 32) {
    float f;
    memcpy(&f, &r, 4);
    f = flush32(f);
    r = 0;
    memcpy(&r, &f, 4);
  }
  return r;
}

/* small: bits of the source's and the destination's register. */
HANDLER(cvt_slow)
{
  const struct plan *p = i->extra;
  bool wide_a = i->small[0] > 32, wide_d = i->small[1] > 32;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint64_t raw = wide_a ? SIM_ROW(u64_row, i->a)[l] : SIM_ROW(u32_row, i->a)[l];
    uint64_t v = convert(raw, p);
    if (wide_d) SIM_ROW(u64_row, i->d)[l] = v;
    else SIM_ROW(u32_row, i->d)[l] = i->small[1] == 32 ? (uint32_t)v : (uint32_t)v & ((1u << i->small[1]) - 1);
  }
}

static const struct fast { uint8_t to, from; uint16_t mod; sim_handler *run; } fast[] = {
    {PTX_T_S32, PTX_T_F32, M(RZI), cvt_rzi_s32_f32}, {PTX_T_U32, PTX_T_F32, M(RZI), cvt_rzi_u32_f32},
    {PTX_T_F32, PTX_T_S32, M(RN), cvt_rn_f32_s32},   {PTX_T_F32, PTX_T_U32, M(RN), cvt_rn_f32_u32},
    {PTX_T_F32, PTX_T_S16, M(RN), cvt_rn_f32_s16},   {PTX_T_F32, PTX_T_U16, M(RN), cvt_rn_f32_u16},
    {PTX_T_F32, PTX_T_U8, M(RN), cvt_rn_f32_u8},     {PTX_T_F64, PTX_T_S32, M(RN), cvt_rn_f64_s32},
    {PTX_T_F64, PTX_T_U32, M(RN), cvt_rn_f64_u32},   {PTX_T_F64, PTX_T_F32, 0, cvt_f64_f32},
    {PTX_T_F32, PTX_T_F64, M(RN), cvt_rn_f32_f64},
};
static const struct { uint8_t from; sim_handler *run[3]; } ints[] = {
#define INTS(T, S) {PTX_T_##T, {cvt_16_##S, cvt_32_##S, cvt_64_##S}}
    INTS(U8, u8), INTS(S8, s8), INTS(U16, u16), INTS(S16, s16), INTS(U32, u32), INTS(S32, s32),
    INTS(U64, u64), INTS(S64, s64),
};

static void lower_cvt(struct lowering *l)
{
  static const uint16_t allowed[] = {M(RN), M(RZ), M(RM), M(RP), M(RNI), M(RZI), M(RMI), M(RPI),
                                     M(FTZ), M(SAT), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  enum ptx_type to = (enum ptx_type)in->types[0], from = (enum ptx_type)in->types[1];
  struct plan p = {.to = kind_of(to), .from = kind_of(from), .round = ROUND_NONE,
                   .flush = ptx_has(in, PTX_M_FTZ), .sat = ptx_has(in, PTX_M_SAT)};
  if (!lower_only(l, allowed)) return;
  if (in->noperands != 2 || (p.to.is_float && to != PTX_T_F32 && to != PTX_T_F64) ||
      (p.from.is_float && from != PTX_T_F32 && from != PTX_T_F64)) {
    lower_refuse(l, "the simulator does not run this conversion");
    return;
  }
  static const struct { uint16_t mod, integral; enum round r; } rounds[] = {
      {PTX_M_RN, 0, ROUND_RN}, {PTX_M_RZ, 0, ROUND_RZ}, {PTX_M_RM, 0, ROUND_RM},
      {PTX_M_RP, 0, ROUND_RP}, {PTX_M_RNI, 1, ROUND_RN}, {PTX_M_RZI, 1, ROUND_RZ},
      {PTX_M_RMI, 1, ROUND_RM}, {PTX_M_RPI, 1, ROUND_RP}};
  for (unsigned k = 0; k < 8; k++)
    if (ptx_has(in, (enum ptx_mod)rounds[k].mod)) {
      p.round = rounds[k].r;
      p.integral = rounds[k].integral;
    }
  /* Registers may be wider than the types. */
  const struct ptx_operand *d = &in->operands[0], *a = &in->operands[1];
  unsigned dbits = d->kind == PTX_O_REG ? lower_bits(l, d) : p.to.bits;
  unsigned abits = a->kind == PTX_O_REG ? lower_bits(l, a) : p.from.bits;
  if (dbits < p.to.bits || abits < p.from.bits) {
    lower_refuse(l, "a register is narrower than its type");
    return;
  }
  s->d = lower_dest(l, d, 0);
  s->a = lower_source(l, a, abits);
  bool as_wide = dbits == p.to.bits && (abits > 32) == (p.from.bits > 32);
  if (as_wide && !p.sat && !p.flush) {
    uint16_t mod = 0;
    for (unsigned k = 0; k < 8; k++)
      if (ptx_has(in, (enum ptx_mod)rounds[k].mod)) mod = (uint16_t)(rounds[k].mod + 1);
    for (size_t k = 0; k < sizeof fast / sizeof *fast; k++)
      if (fast[k].to == to && fast[k].from == from && fast[k].mod == mod) {
        s->run = fast[k].run;
        return;
      }
    if (!p.to.is_float && !p.from.is_float && p.to.bits >= 16)
      for (size_t k = 0; k < sizeof ints / sizeof *ints; k++)
        if (ints[k].from == from) {
          s->run = ints[k].run[p.to.bits == 16 ? 0 : p.to.bits == 32 ? 1 : 2];
          return;
        }
  }
  struct plan *keep = malloc(sizeof *keep);
  if (!keep) abort();
  *keep = p;
  s->extra = keep;
  s->small[0] = (uint8_t)abits;
  s->small[1] = (uint8_t)dbits;
  s->run = cvt_slow;
}

/* ---- cvt.pack -------------------------------------------------------------------------------------- */

/* b saturated to small[0] bits, a above it, and above both the low bits of c (0 without one). */
static inline uint32_t pack(int32_t a, int32_t b, uint32_t c, unsigned bits, bool is_signed)
{
  int32_t most = (int32_t)((1u << (bits - is_signed)) - 1), least = is_signed ? -most - 1 : 0;
  uint32_t low = (1u << bits) - 1;
  a = a > most ? most : a < least ? least : a;
  b = b > most ? most : b < least ? least : b;
  return ((uint32_t)b & low) | ((uint32_t)a & low) << bits | (bits < 16 ? c << 2 * (bits & 15) : 0);
}
OP3(cvt_pack, u32, s32, s32, u32, pack(a, b, c, i->small[0], i->small[1]))

static void lower_pack(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned bits = lower_type_bits(l, 0);
  bool three = in->noperands > 3;
  if (three == (bits == 16)) {
    lower_refuse(l, bits == 16 ? "it packs 16-bit results from two sources"
                               : "it needs a third source, which fills the rest of the result");
    return;
  }
  s->small[0] = (uint8_t)bits;
  s->small[1] = ptx_type_kind((enum ptx_type)in->types[0]) == PTX_SIGNED;
  s->d = lower_dest(l, &in->operands[0], 32);
  s->a = lower_source(l, &in->operands[1], 32);
  s->b = lower_source(l, &in->operands[2], 32);
  s->c = three ? lower_source(l, &in->operands[3], 32) : lower_const(l, 0, 32);
  s->run = cvt_pack;
}

const struct sim_form sim_forms_convert[] = {
    FORM_ANY(CVT, lower_cvt),
    FORM_ANY(CVT_PACK, lower_pack),
    {.op = PTX_OPS},
};
