/* cvt to and from f16, bf16, tf32, and the formats of 8, 6 and 4 bits, single and packed.  Six bits
 * stand in eight; formats of six and four bits have neither infinity nor NaN.
 *
 * The conversions that kernels live by have loops of their own.  All others go lane by lane: the
 * source becomes a long double, which holds every integer of 64 bits and every double, and is
 * rounded once into the format. */
#include <stdlib.h>
#include <string.h>

#include "narrow.h"
#include "rows.h"

enum rounding { TO_NEAREST, TO_ZERO, TO_MINUS, TO_PLUS, TIES_AWAY };

/* A float format of `bits`: exponent bits, mantissa bits (stored), the code of the largest finite
 * number, of infinity (0: none), of NaN; unused bits below. */
struct format { uint8_t type, bits, ebits, mbits, shift; uint32_t most, infinity, nan; };
static const struct format formats[] = {
    {PTX_T_F16, 16, 5, 10, 0, 0x7bff, 0x7c00, 0x7fff},
    {PTX_T_BF16, 16, 8, 7, 0, 0x7f7f, 0x7f80, 0x7fff},
    {PTX_T_TF32, 32, 8, 10, 13, 0x3fbff, 0x3fc00, 0x3ffff},
    {PTX_T_E4M3, 8, 4, 3, 0, 0x7e, 0, 0x7f},
    {PTX_T_E5M2, 8, 5, 2, 0, 0x7b, 0x7c, 0x7f},
    {PTX_T_E3M2, 8, 3, 2, 0, 0x1f, 0, 0x1f},
    {PTX_T_E2M3, 8, 2, 3, 0, 0x1f, 0, 0x1f},
    {PTX_T_E2M1, 4, 2, 1, 0, 0x07, 0, 0x07},
};

static const struct format *format_of(unsigned type)
{
  switch (type) {
  case PTX_T_F16X2: type = PTX_T_F16; break;
  case PTX_T_BF16X2: type = PTX_T_BF16; break;
  case PTX_T_E4M3X2: type = PTX_T_E4M3; break;
  case PTX_T_E5M2X2: type = PTX_T_E5M2; break;
  case PTX_T_E3M2X2: type = PTX_T_E3M2; break;
  case PTX_T_E2M3X2: type = PTX_T_E2M3; break;
  case PTX_T_E2M1X2: type = PTX_T_E2M1; break;
  default: break;
  }
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
    if (formats[k].type == type) return &formats[k];
  return NULL;
}

static uint32_t encode(long double x, const struct format *f, enum rounding r, bool satfinite)
{
  uint32_t sign = signbit(x) ? 1u << (f->ebits + f->mbits) : 0, code;
  if (isnan(x)) return f->nan << f->shift | ((1u << f->shift) - 1);
  long double ax = fabsl(x);
  bool away = (r == TO_PLUS && !sign) || (r == TO_MINUS && sign);
  bool past = isinf(ax);
  if (past) {
    code = f->most + 1;
    r = TO_NEAREST;
  } else {
    int least = 2 - (1 << (f->ebits - 1)), e = ax > 0 ? ilogbl(ax) : least;
    if (e < least) e = least;
    long double n = ldexpl(ax, f->mbits - e), whole = floorl(n), rest = n - whole;
    if (e > 1 << (f->ebits - 1)) {   /* far outside: any number past the largest */
      code = f->most + 1;
    } else {
      bool odd = fmodl(whole, 2) != 0;
      bool up = r == TO_NEAREST  ? rest > 0.5L || (rest == 0.5L && odd)
                : r == TIES_AWAY ? rest >= 0.5L
                                 : rest > 0 && away;
      uint32_t steps = (uint32_t)whole + up, one = 1u << f->mbits;
      code = steps < one ? steps : ((uint32_t)(e - least + 1) << f->mbits) + (steps - one);
    }
    past = code > f->most;
  }
  if (past) {
    bool largest = satfinite || !f->infinity || r == TO_ZERO ||
                   (!away && (r == TO_PLUS || r == TO_MINUS));
    code = largest ? f->most : f->infinity;
  }
  return (code | sign) << f->shift;
}

/* Sign, exponent, mantissa: a format that has numbers only. */
static float small_float(uint32_t v, unsigned ebits, unsigned mbits)
{
  int e = (int)(v >> mbits & ((1u << ebits) - 1)), bias = (1 << (ebits - 1)) - 1;
  float m = (float)(v & ((1u << mbits) - 1)), one = (float)(1u << mbits);
  float x = ldexpf(e ? one + m : m, (e ? e : 1) - bias - (int)mbits);
  return v >> (ebits + mbits) & 1 ? -x : x;
}

static float decode(uint32_t v, unsigned type)
{
  switch (type) {
  case PTX_T_E3M2: return small_float(v, 3, 2);
  case PTX_T_E2M3: return small_float(v, 2, 3);
  case PTX_T_E2M1: return small_float(v, 2, 1);
  case PTX_T_F16: return f16_float((uint16_t)v);
  case PTX_T_BF16: return bf16_float((uint16_t)v);
  case PTX_T_E4M3: return e4m3_float((uint8_t)v);
  default: return e5m2_float((uint8_t)v);
  }
}

/* ---- one value ---------------------------------------------------------------------------------- */

struct plan {
  const struct format *to, *from;      /* NULL: to_type, from_type are plain */
  uint8_t to_type, from_type;
  enum rounding round;
  bool integral, flush, sat, relu, satfinite;
};

static long double read_plain(uint64_t raw, unsigned type)
{
  unsigned bits = ptx_type_bits((enum ptx_type)type);
  if (type == PTX_T_F32) return narrow_float((uint32_t)raw);
  if (type == PTX_T_F64) {
    double d;
    memcpy(&d, &raw, 8);
    return d;
  }
  if (ptx_type_kind((enum ptx_type)type) != PTX_SIGNED)
    return bits == 64 ? (long double)raw : (long double)(raw & ((1ull << bits) - 1));
  return (long double)((int64_t)(raw << (64 - bits)) >> (64 - bits));
}

static long double integral(long double x, enum rounding r)
{
  switch (r) {
  case TO_ZERO: return truncl(x);
  case TO_MINUS: return floorl(x);
  case TO_PLUS: return ceill(x);
  default: return rintl(x);   /* the host rounds to nearest, ties to even */
  }
}

static uint64_t write_integer(long double x, unsigned type)
{
  unsigned bits = ptx_type_bits((enum ptx_type)type);
  bool is_signed = ptx_type_kind((enum ptx_type)type) == PTX_SIGNED;
  if (isnan(x)) return bits == 64 ? 1ull << 63 : 0;
  long double most = ldexpl(1, (int)bits - is_signed) - 1, least = is_signed ? -most - 1 : 0;
  if (x > most) x = most;
  if (x < least) x = least;
  return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t convert(uint64_t raw, const struct plan *p)
{
  long double x = p->from ? decode((uint32_t)raw, p->from->type) : read_plain(raw, p->from_type);
  if (p->flush && p->from_type == PTX_T_F32 && fabsl(x) < 0x1p-126L) x = copysignl(0, x);
  if (p->integral) x = integral(x, p->round);
  if (p->sat) x = x > 0 ? x < 1 ? x : 1 : 0;
  if (p->relu) x = x > 0 || isnan(x) ? x : 0;
  if (p->to) return encode(x, p->to, p->round, p->satfinite);
  if (p->to_type == PTX_T_F32) {   /* exact: the source is narrower */
    float f = (float)x;
    return f != f ? 0x7fffffffu : narrow_bits(f);
  }
  if (p->to_type == PTX_T_F64) {
    double d = (double)x;
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
  }
  return write_integer(x, p->to_type);
}

static uint64_t element(struct warp *w, sim_ref ref, unsigned bits, unsigned l)
{
  return bits > 32 ? SIM_ROW(u64_row, ref)[l] : SIM_ROW(u32_row, ref)[l];
}

/* small: bits of the source's and the destination's register. */
HANDLER(cvt_single)
{
  const struct plan *p = i->extra;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint64_t v = convert(element(w, i->a, i->small[0], l), p);
    unsigned bits = i->small[1];
    if (bits > 32) SIM_ROW(u64_row, i->d)[l] = v;
    else SIM_ROW(u32_row, i->d)[l] = bits == 32 ? (uint32_t)v : (uint32_t)v & ((1u << bits) - 1);
  }
}

/* d = {a, b}: a is the upper half.  From two f32 rows. */
HANDLER(cvt_two)
{
  const struct plan *p = i->extra;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t high = (uint32_t)convert(SIM_ROW(u32_row, i->a)[l], p);
    uint32_t low = (uint32_t)convert(SIM_ROW(u32_row, i->b)[l], p);
    SIM_ROW(u32_row, i->d)[l] = low | high << p->to->bits;
  }
}

/* Both elements of a pair; a is a register of two. */
HANDLER(cvt_pair)
{
  const struct plan *p = i->extra;
  unsigned from = p->from->bits, to = p->to->bits;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint32_t v = SIM_ROW(u32_row, i->a)[l], mask = (1u << from) - 1;
    uint32_t low = (uint32_t)convert(v & mask, p), high = (uint32_t)convert(v >> from & mask, p);
    SIM_ROW(u32_row, i->d)[l] = low | high << to;
  }
}

/* ---- the usual ones -------------------------------------------------------------------------- */

OP1(cvt_f32_bf16, u32, u16, (uint32_t)a << 16)
OP1(cvt_bf16_f32, u16, f32, float_bf16(a))
OP2(cvt_bf16x2_f32, u32, f32, f32, float_bf16(b) | (uint32_t)float_bf16(a) << 16)
static void halves_of(struct warp *w, sim_ref ref, uint16_t h[SIM_LANES])
{
  float f[SIM_LANES];
  memcpy(f, SIM_ROW(u8_row, ref), sizeof f);
  row_f16(f, h, SIM_LANES);
}
HANDLER(cvt_f32_f16)
{
  uint16_t h[SIM_LANES];
  float f[SIM_LANES];
  const u32_row *a_ = SIM_ROW(u32_row, i->a);
  f32_row *d_ = SIM_ROW(f32_row, i->d);
  for (int l = 0; l < SIM_LANES; l++) h[l] = (uint16_t)a_[l];
  f16_row(h, f, SIM_LANES);
  LANES_OF(f32, float r = f[l] == f[l] ? f[l] : narrow_float(0x7fffffffu))
}
HANDLER(cvt_f16_f32)
{
  uint16_t h[SIM_LANES];
  u32_row *d_ = SIM_ROW(u32_row, i->d);
  halves_of(w, i->a, h);
  LANES_OF(u32, uint32_t r = h[l])
}
HANDLER(cvt_f16x2_f32)
{
  uint16_t high[SIM_LANES], low[SIM_LANES];
  u32_row *d_ = SIM_ROW(u32_row, i->d);
  halves_of(w, i->a, high);
  halves_of(w, i->b, low);
  LANES_OF(u32, uint32_t r = low[l] | (uint32_t)high[l] << 16)
}

static const struct { uint8_t to, from; bool rn; sim_handler *run; } fast[] = {
    {PTX_T_F32, PTX_T_F16, false, cvt_f32_f16},     {PTX_T_F32, PTX_T_BF16, false, cvt_f32_bf16},
    {PTX_T_F16, PTX_T_F32, true, cvt_f16_f32},      {PTX_T_BF16, PTX_T_F32, true, cvt_bf16_f32},
    {PTX_T_F16X2, PTX_T_F32, true, cvt_f16x2_f32}, {PTX_T_BF16X2, PTX_T_F32, true, cvt_bf16x2_f32},
};

/* ---- lowering -------------------------------------------------------------------------------- */

static void read_mods(const struct ptx_inst *in, struct plan *p)
{
  static const struct { uint16_t mod; bool integral; enum rounding r; } rounds[] = {
      {PTX_M_RN, 0, TO_NEAREST},  {PTX_M_RZ, 0, TO_ZERO},  {PTX_M_RM, 0, TO_MINUS},
      {PTX_M_RP, 0, TO_PLUS},     {PTX_M_RNA, 0, TIES_AWAY}, {PTX_M_RNI, 1, TO_NEAREST},
      {PTX_M_RZI, 1, TO_ZERO},    {PTX_M_RMI, 1, TO_MINUS}, {PTX_M_RPI, 1, TO_PLUS}};
  for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++)
    if (ptx_has(in, (enum ptx_mod)rounds[k].mod)) {
      p->round = rounds[k].r;
      p->integral = rounds[k].integral;
    }
  p->flush = ptx_has(in, PTX_M_FTZ);
  p->sat = ptx_has(in, PTX_M_SAT);
  p->relu = ptx_has(in, PTX_M_RELU);
  p->satfinite = ptx_has(in, PTX_M_SATFINITE);
}

static bool is_pair(unsigned type)
{
  return type == PTX_T_F16X2 || type == PTX_T_BF16X2 || type == PTX_T_E4M3X2 || type == PTX_T_E5M2X2 ||
         type == PTX_T_E3M2X2 || type == PTX_T_E2M3X2 || type == PTX_T_E2M1X2;
}

static void lower_cvt(struct lowering *l)
{
  static const uint16_t allowed[] = {M(RN), M(RZ), M(RM), M(RP), M(RNA), M(RNI), M(RZI), M(RMI),
                                     M(RPI), M(FTZ), M(SAT), M(RELU), M(SATFINITE), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned to = in->types[0], from = in->types[1];
  struct plan p = {.to = format_of(to), .from = format_of(from), .to_type = (uint8_t)to,
                   .from_type = (uint8_t)from};
  if (ptx_has(in, PTX_M_RS)) {
    lower_refuse(l, "stochastic rounding is not simulated");
    return;
  }
  if (!lower_only(l, allowed)) return;
  read_mods(in, &p);
  bool pair = is_pair(to), plain = !p.flush && !p.sat && !p.relu && !p.satfinite;
  if ((pair != (in->noperands == 3) && !is_pair(from)) || (is_pair(from) && in->noperands != 2) ||
      (pair && from != PTX_T_F32 && !is_pair(from))) {
    lower_refuse(l, "the simulator does not run this conversion");
    return;
  }
  unsigned to_bits = ptx_type_bits((enum ptx_type)to), from_bits = ptx_type_bits((enum ptx_type)from);
  const struct ptx_operand *d = &in->operands[0], *a = &in->operands[1];
  unsigned dbits = !pair && d->kind == PTX_O_REG ? lower_bits(l, d) : to_bits;
  unsigned abits = !pair && a->kind == PTX_O_REG ? lower_bits(l, a) : from_bits;
  if (dbits < to_bits || abits < from_bits) {
    lower_refuse(l, "a register is narrower than its type");
    return;
  }
  s->d = lower_dest(l, d, dbits);
  s->a = lower_source(l, a, abits);
  if (in->noperands == 3) s->b = lower_source(l, &in->operands[2], from_bits);
  if (l->failed) return;
  for (size_t k = 0; plain && k < sizeof fast / sizeof *fast; k++)
    if (fast[k].to == to && fast[k].from == from && fast[k].rn == ptx_has(in, PTX_M_RN) &&
        !p.integral && (!fast[k].rn || p.round == TO_NEAREST) && dbits == to_bits &&
        abits == from_bits) {
      s->run = fast[k].run;
      return;
    }
  struct plan *keep = malloc(sizeof *keep);
  if (!keep) abort();
  *keep = p;
  s->extra = keep;
  s->small[0] = (uint8_t)abits;
  s->small[1] = (uint8_t)dbits;
  s->run = !pair ? cvt_single : is_pair(from) ? cvt_pair : cvt_two;
}

#define FROM(type) {PTX_CVT, 0, PTX_T_##type, {0}, NULL, lower_cvt, 0, 0, NULL}

#define PTX_T_0 0
#define NOT(to, from, because) {.op = PTX_CVT, .type = PTX_T_##to, .type2 = PTX_T_##from, .why = because}
#define STOCHASTIC(to) NOT(to, F32, "stochastic rounding is not simulated")
#define SCALE(to, from) NOT(to, from, "scales of eight bits (ue8m0) are not simulated")

const struct sim_form sim_forms_narrow[] = {
    SCALE(UE8M0X2, 0), SCALE(0, UE8M0X2), STOCHASTIC(E4M3X4), STOCHASTIC(E5M2X4),
    STOCHASTIC(E2M1X4), STOCHASTIC(E2M3X4), STOCHASTIC(E3M2X4),
    FORM_TYPE(CVT, F16, lower_cvt), FORM_TYPE(CVT, BF16, lower_cvt), FORM_TYPE(CVT, TF32, lower_cvt),
    FORM_TYPE(CVT, F16X2, lower_cvt), FORM_TYPE(CVT, BF16X2, lower_cvt),
    FORM_TYPE(CVT, E4M3X2, lower_cvt), FORM_TYPE(CVT, E5M2X2, lower_cvt),
    FORM_TYPE(CVT, E3M2X2, lower_cvt), FORM_TYPE(CVT, E2M3X2, lower_cvt),
    FORM_TYPE(CVT, E2M1X2, lower_cvt),
    FROM(F16), FROM(BF16),
    {.op = PTX_OPS},
};
