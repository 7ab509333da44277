/* cvt between all integers, f32 and f64, with every rounding, .sat and .ftz; cvt.pack.
 *
 * A destination wider than its type is filled by its sign or by zeros; a source wider than its type
 * is cut. */
#include "sim_values.h"

static __int128 least_of(unsigned n, bool is_signed) { return is_signed ? -((__int128)1 << (n - 1)) : 0; }
static __int128 most_of(unsigned n, bool is_signed)
{
  return ((__int128)1 << (is_signed ? n - 1 : n)) - 1;
}
static __int128 value_of(uint64_t a, unsigned n, bool is_signed)
{
  return is_signed ? (__int128)SX(a, n) : (__int128)ZX(a, n);
}
static uint64_t filled(__int128 v, unsigned n, bool is_signed)
{
  return is_signed ? (uint64_t)SX((uint64_t)v, n) : ZX((uint64_t)v, n);
}

/* ---- integers to integers ---------------------------------------------------------------------- */

#define II(T, n, s, S, m, t)                                                                   \
  REF(cvt_##T##_##S, filled(value_of(a, m, t), n, s))                                           \
  REF(sat_##T##_##S, filled(exact_clamp(exact_integer(value_of(a, m, t)), least_of(n, s),         \
                                        most_of(n, s)), n, s))
#define FROM_ALL(T, n, s)                                                                      \
  II(T, n, s, u8, 8, false) II(T, n, s, s8, 8, true) II(T, n, s, u16, 16, false)                \
  II(T, n, s, s16, 16, true) II(T, n, s, u32, 32, false) II(T, n, s, s32, 32, true)             \
  II(T, n, s, u64, 64, false) II(T, n, s, s64, 64, true)
FROM_ALL(u8, 8, false) FROM_ALL(s8, 8, true) FROM_ALL(u16, 16, false) FROM_ALL(s16, 16, true)
FROM_ALL(u32, 32, false) FROM_ALL(s32, 32, true) FROM_ALL(u64, 64, false) FROM_ALL(s64, 64, true)

#define II_ROW(T, w, S, x)                                                                     \
  {w "=" x, "cvt." #T "." #S " D,A", cvt_##T##_##S},                                             \
  {w "=" x, "cvt.sat." #T "." #S " D,A", sat_##T##_##S}
/* Bytes live in 16-bit registers here, and in 32-bit ones below. */
#define ROWS_TO(T, w)                                                                          \
  II_ROW(T, w, u8, "h"), II_ROW(T, w, s8, "h"), II_ROW(T, w, u16, "h"), II_ROW(T, w, s16, "h"),  \
  II_ROW(T, w, u32, "w"), II_ROW(T, w, s32, "w"), II_ROW(T, w, u64, "l"), II_ROW(T, w, s64, "l")

/* ---- integers and floats ------------------------------------------------------------------------- */

static uint64_t to_float(uint64_t a, unsigned m, bool t, unsigned bytes, enum exact_mode mode)
{
  return exact_round(exact_integer(value_of(a, m, t)), bytes, mode, false);
}
static uint64_t to_float_sat(uint64_t a, unsigned m, bool t, unsigned bytes)
{
  __int128 v = value_of(a, m, t);
  return exact_round(exact_integer(v <= 0 ? 0 : 1), bytes, EXACT_RN, false);
}
/* NaN: 0, or where 64 bits take part only the top bit. */
static uint64_t to_int(struct exact x, unsigned n, bool s, bool from_double, enum exact_mode mode)
{
  if (x.kind == EXACT_NAN) {
    bool zero = !from_double && n != 64;
    return zero ? 0 : filled((__int128)1 << (n - 1), n, s);
  }
  return filled(exact_clamp(exact_integral(x, mode), least_of(n, s), most_of(n, s)), n, s);
}

#define FLOATS_MODE(T, n, s, M)                                                                \
  REF(f32_##T##_##M, to_float(a, n, s, 4, EXACT_##M))                                           \
  REF(f64_##T##_##M, to_float(a, n, s, 8, EXACT_##M))                                           \
  REF(T##_f32_##M, to_int(exact_f32((uint32_t)a, false), n, s, false, EXACT_##M))               \
  REF(T##_ftz_##M, to_int(exact_f32((uint32_t)a, true), n, s, false, EXACT_##M))                \
  REF(T##_f64_##M, to_int(exact_f64(a), n, s, true, EXACT_##M))
#define FLOATS(T, n, s)                                                                        \
  FLOATS_MODE(T, n, s, RN) FLOATS_MODE(T, n, s, RZ) FLOATS_MODE(T, n, s, RM)                    \
  FLOATS_MODE(T, n, s, RP) REF(f32_##T##_sat, to_float_sat(a, n, s, 4))                          \
  REF(f64_##T##_sat, to_float_sat(a, n, s, 8))
FLOATS(u8, 8, false) FLOATS(s8, 8, true) FLOATS(u16, 16, false) FLOATS(s16, 16, true)
FLOATS(u32, 32, false) FLOATS(s32, 32, true) FLOATS(u64, 64, false) FLOATS(s64, 64, true)

#define FLOAT_MODE_ROWS(T, w, r, M)                                                            \
  {"f=" w, "cvt." r ".f32." #T " D,A", f32_##T##_##M},                                           \
  {"d=" w, "cvt." r ".f64." #T " D,A", f64_##T##_##M},                                           \
  {w "=i", "cvt." r "i." #T ".f32 D,A", T##_f32_##M},                                            \
  {w "=f", "cvt." r "i.ftz." #T ".f32 D,A", T##_ftz_##M},                                        \
  {w "=i", "cvt." r "i.sat." #T ".f32 D,A", T##_f32_##M},                                        \
  {w "=j", "cvt." r "i." #T ".f64 D,A", T##_f64_##M}
#define FLOAT_ROWS(T, w)                                                                       \
  FLOAT_MODE_ROWS(T, w, "rn", RN), FLOAT_MODE_ROWS(T, w, "rz", RZ),                              \
  FLOAT_MODE_ROWS(T, w, "rm", RM), FLOAT_MODE_ROWS(T, w, "rp", RP),                              \
  {"f=" w, "cvt.rn.sat.f32." #T " D,A", f32_##T##_sat},                                          \
  {"d=" w, "cvt.rn.sat.f64." #T " D,A", f64_##T##_sat}

/* ---- floats to floats ------------------------------------------------------------------------------- */

static uint64_t saturated(uint64_t bits, unsigned bytes)
{
  uint64_t one = bytes == 4 ? 0x3f800000 : 0x3ff0000000000000;
  uint64_t inf = bytes == 4 ? 0x7f800000 : 0x7ff0000000000000;
  if (bits >> (8 * bytes - 1) || bits > inf) return 0;
  return bits > one ? one : bits;
}
enum { INTEGRAL = 1, FTZ = 2, SAT = 4 };
static void float_float(struct lane_values *v, unsigned from, unsigned to, enum exact_mode mode,
                        unsigned how)
{
  struct exact x = from == 4 ? exact_f32((uint32_t)v->a, how & FTZ) : exact_f64(v->a);
  if (how & INTEGRAL) x = exact_integral(x, mode);
  v->d = exact_round(x, to, mode, to == 4 && (how & FTZ));
  if (how & SAT) v->d = saturated(v->d, to);
  else v->any_nan = x.kind == EXACT_NAN;
}
#define FF(name, from, to, mode, how)                                                          \
  static void name(struct lane_values *v) { float_float(v, from, to, EXACT_##mode, how); }
#define FF_MODE(M)                                                                             \
  FF(narrow_##M, 8, 4, M, 0) FF(narrow_ftz_##M, 8, 4, M, FTZ) FF(narrow_sat_##M, 8, 4, M, SAT)  \
  FF(whole32_##M, 4, 4, M, INTEGRAL) FF(whole32_ftz_##M, 4, 4, M, INTEGRAL | FTZ)               \
  FF(whole32_sat_##M, 4, 4, M, INTEGRAL | SAT) FF(whole64_##M, 8, 8, M, INTEGRAL)               \
  FF(whole64_sat_##M, 8, 8, M, INTEGRAL | SAT)
FF_MODE(RN) FF_MODE(RZ) FF_MODE(RM) FF_MODE(RP)
FF(widen, 4, 8, RN, 0) FF(widen_ftz, 4, 8, RN, FTZ) FF(widen_sat, 4, 8, RN, SAT)
FF(same32_sat, 4, 4, RN, SAT) FF(same32_ftz, 4, 4, RN, FTZ) FF(same32_both, 4, 4, RN, FTZ | SAT)
FF(same64_sat, 8, 8, RN, SAT)
#define FF_ROWS(r, M)                                                                          \
  {"f=d", "cvt." r ".f32.f64 D,A", narrow_##M}, {"f=d", "cvt." r ".ftz.f32.f64 D,A", narrow_ftz_##M}, \
  {"f=d", "cvt." r ".sat.f32.f64 D,A", narrow_sat_##M},                                         \
  {"f=i", "cvt." r "i.f32.f32 D,A", whole32_##M},                                                \
  {"f=f", "cvt." r "i.ftz.f32.f32 D,A", whole32_ftz_##M},                                        \
  {"f=f", "cvt." r "i.sat.f32.f32 D,A", whole32_sat_##M},                                        \
  {"d=j", "cvt." r "i.f64.f64 D,A", whole64_##M},                                                \
  {"d=d", "cvt." r "i.sat.f64.f64 D,A", whole64_sat_##M}

/* ---- cvt.pack: b below a, saturated; what is above them comes from c ---------------------------------- */

static uint64_t packed(uint64_t a, uint64_t b, uint64_t c, unsigned n, bool s)
{
  uint64_t x = (uint64_t)exact_clamp(exact_integer(SX(a, 32)), least_of(n, s), most_of(n, s));
  uint64_t y = (uint64_t)exact_clamp(exact_integer(SX(b, 32)), least_of(n, s), most_of(n, s));
  return ZX(y, n) | ZX(x, n) << n | (n == 16 ? 0 : c << (2 * n));
}
REF(pack_u16, packed(a, b, 0, 16, false))
REF(pack_s16, packed(a, b, 0, 16, true))
REF(pack_u8, packed(a, b, c, 8, false))
REF(pack_s8, packed(a, b, c, 8, true))
REF(pack_u4, packed(a, b, c, 4, false))
REF(pack_s4, packed(a, b, c, 4, true))
REF(pack_u2, packed(a, b, c, 2, false))
REF(pack_s2, packed(a, b, c, 2, true))

static const struct value_row rows[] = {
    ROWS_TO(u8, "h"), ROWS_TO(s8, "h"), ROWS_TO(u16, "h"), ROWS_TO(s16, "h"), ROWS_TO(u32, "w"),
    ROWS_TO(s32, "w"), ROWS_TO(u64, "l"), ROWS_TO(s64, "l"),
    ROWS_TO(u8, "w"), ROWS_TO(s8, "w"), ROWS_TO(u16, "w"), ROWS_TO(s16, "w"), ROWS_TO(u32, "l"),
    ROWS_TO(s32, "l"), ROWS_TO(s8, "l"),
    II_ROW(u8, "w", s8, "w"), II_ROW(s8, "w", u8, "w"), II_ROW(s32, "w", s8, "w"),
    II_ROW(u32, "w", u8, "w"), II_ROW(s32, "w", s16, "w"), II_ROW(u64, "l", u8, "w"),
    II_ROW(s64, "l", s16, "w"), II_ROW(u16, "h", s8, "w"), II_ROW(s64, "l", s32, "l"),
    II_ROW(u32, "w", u16, "l"), II_ROW(s32, "w", s8, "l"),
    FLOAT_ROWS(u8, "w"), FLOAT_ROWS(s8, "w"), FLOAT_ROWS(u16, "h"), FLOAT_ROWS(s16, "h"),
    FLOAT_ROWS(u16, "w"), FLOAT_ROWS(u8, "h"),
    FLOAT_ROWS(u32, "w"), FLOAT_ROWS(s32, "w"), FLOAT_ROWS(u64, "l"), FLOAT_ROWS(s64, "l"),
    FF_ROWS("rn", RN), FF_ROWS("rz", RZ), FF_ROWS("rm", RM), FF_ROWS("rp", RP),
    {"d=f", "cvt.f64.f32 D,A", widen}, {"d=f", "cvt.ftz.f64.f32 D,A", widen_ftz},
    {"d=f", "cvt.sat.f64.f32 D,A", widen_sat}, {"f=f", "cvt.sat.f32.f32 D,A", same32_sat},
    {"f=f", "cvt.ftz.f32.f32 D,A", same32_ftz}, {"f=f", "cvt.ftz.sat.f32.f32 D,A", same32_both},
    {"d=d", "cvt.sat.f64.f64 D,A", same64_sat},
    {"w=zz", "cvt.pack.sat.u16.s32 D,A,B", pack_u16}, {"w=ww", "cvt.pack.sat.s16.s32 D,A,B", pack_s16},
    {"w=www", "cvt.pack.sat.u8.s32.b32 D,A,B,C", pack_u8},
    {"w=www", "cvt.pack.sat.s8.s32.b32 D,A,B,C", pack_s8},
    {"w=zzw", "cvt.pack.sat.u4.s32.b32 D,A,B,C", pack_u4},
    {"w=zzw", "cvt.pack.sat.s4.s32.b32 D,A,B,C", pack_s4},
    {"w=zzw", "cvt.pack.sat.u2.s32.b32 D,A,B,C", pack_u2},
    {"w=zzw", "cvt.pack.sat.s2.s32.b32 D,A,B,C", pack_s2},
};
const struct value_table values_convert = {"convert", rows, sizeof rows / sizeof *rows};
