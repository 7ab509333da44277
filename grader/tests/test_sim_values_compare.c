/* setp and set with every comparison, type and combination; selp and slct. */
#include "sim_values.h"

/* Of two values: which of the relations hold. */
enum { LESS = 1, EQUAL = 2, MORE = 4, UNORDERED = 8 };

static unsigned relation_int(uint64_t a, uint64_t b, unsigned n, bool is_signed)
{
  if (is_signed) return SX(a, n) < SX(b, n) ? LESS : SX(a, n) > SX(b, n) ? MORE : EQUAL;
  return ZX(a, n) < ZX(b, n) ? LESS : ZX(a, n) > ZX(b, n) ? MORE : EQUAL;
}

/* Sign and magnitude, as bits. */
static unsigned relation_float(uint64_t a, uint64_t b, unsigned n, bool ftz)
{
  uint64_t top = 1ull << (n - 1), inf = n == 32 ? 0x7f800000 : 0x7ff0000000000000;
  a = ZX(a, n);
  b = ZX(b, n);
  uint64_t ma = a & ~top, mb = b & ~top;
  if (ma > inf || mb > inf) return UNORDERED;
  if (ftz && !(a & inf)) ma = 0;
  if (ftz && !(b & inf)) mb = 0;
  int64_t x = a & top ? -(int64_t)ma : (int64_t)ma, y = b & top ? -(int64_t)mb : (int64_t)mb;
  return x < y ? LESS : x > y ? MORE : EQUAL;
}

#define RELATION(T, expr)                                                                      \
  static unsigned relation_##T(const struct lane_values *v) { uint64_t a = v->a, b = v->b; return expr; }
RELATION(u16, relation_int(a, b, 16, false))
RELATION(s16, relation_int(a, b, 16, true))
RELATION(u32, relation_int(a, b, 32, false))
RELATION(s32, relation_int(a, b, 32, true))
RELATION(u64, relation_int(a, b, 64, false))
RELATION(s64, relation_int(a, b, 64, true))
RELATION(f32, relation_float(a, b, 32, false))
RELATION(f64, relation_float(a, b, 64, false))
RELATION(ftz, relation_float(a, b, 32, true))

/* The relations each comparison is true for. */
enum {
  eq = EQUAL, ne = LESS | MORE, lt = LESS, le = LESS | EQUAL, gt = MORE, ge = MORE | EQUAL,
  lo = lt, ls = le, hi = gt, hs = ge,
  equ = eq | UNORDERED, neu = ne | UNORDERED, ltu = lt | UNORDERED, leu = le | UNORDERED,
  gtu = gt | UNORDERED, geu = ge | UNORDERED, num = LESS | EQUAL | MORE, nan_ = UNORDERED
};

/* Plain, with a second destination, combined in all ways, and set to each type. */
#define COMPARE(cmp, T)                                                                        \
  static bool is_##cmp##_##T(const struct lane_values *v) { return (relation_##T(v) & cmp) != 0; } \
  static void plain_##cmp##_##T(struct lane_values *v)                                          \
  {                                                                                            \
    v->d = is_##cmp##_##T(v);                                                                   \
    v->q = !v->d;                                                                               \
  }                                                                                            \
  static void and_##cmp##_##T(struct lane_values *v)                                            \
  {                                                                                            \
    v->d = is_##cmp##_##T(v) && v->c;                                                           \
    v->q = !is_##cmp##_##T(v) && v->c;                                                          \
  }                                                                                            \
  static void or_##cmp##_##T(struct lane_values *v)                                             \
  {                                                                                            \
    v->d = is_##cmp##_##T(v) || !v->c;   /* written !C */                                       \
    v->q = !is_##cmp##_##T(v) || !v->c;                                                         \
  }                                                                                            \
  static void xor_##cmp##_##T(struct lane_values *v)                                            \
  {                                                                                            \
    v->d = is_##cmp##_##T(v) != (v->c != 0);                                                    \
    v->q = !is_##cmp##_##T(v) != (v->c != 0);                                                   \
  }                                                                                            \
  static void ones_##cmp##_##T(struct lane_values *v) { v->d = is_##cmp##_##T(v) ? ~0ull : 0; }  \
  static void one_##cmp##_##T(struct lane_values *v)                                            \
  {                                                                                            \
    v->d = is_##cmp##_##T(v) && v->c ? 0x3f800000 : 0;                                          \
  }
#define SIX(T) COMPARE(eq, T) COMPARE(ne, T) COMPARE(lt, T) COMPARE(le, T) COMPARE(gt, T) COMPARE(ge, T)
#define FOUR(T) COMPARE(lo, T) COMPARE(ls, T) COMPARE(hi, T) COMPARE(hs, T)
#define FOURTEEN(T)                                                                            \
  SIX(T) COMPARE(equ, T) COMPARE(neu, T) COMPARE(ltu, T) COMPARE(leu, T) COMPARE(gtu, T)        \
  COMPARE(geu, T) COMPARE(num, T) COMPARE(nan_, T)
SIX(u16) SIX(s16) SIX(u32) SIX(s32) SIX(u64) SIX(s64)
FOUR(u16) FOUR(u32) FOUR(u64)
FOURTEEN(f32) FOURTEEN(f64) FOURTEEN(ftz)

#define ROWS(cmp, text, T, type, w)                                                            \
  {"p=" w w, "setp." text "." type " D,A,B", plain_##cmp##_##T},                                 \
  {"pp=" w w, "setp." text "." type " D|Q,A,B", plain_##cmp##_##T},                              \
  {"pp=" w w "p", "setp." text ".and." type " D|Q,A,B,C", and_##cmp##_##T},                      \
  {"pp=" w w "p", "setp." text ".or." type " D|Q,A,B,!C", or_##cmp##_##T},                       \
  {"pp=" w w "p", "setp." text ".xor." type " D|Q,A,B,C", xor_##cmp##_##T},                      \
  {"w=" w w, "set." text ".u32." type " D,A,B", ones_##cmp##_##T},                               \
  {"w=" w w, "set." text ".s32." type " D,A,B", ones_##cmp##_##T},                               \
  {"f=" w w "p", "set." text ".and.f32." type " D,A,B,C", one_##cmp##_##T}
#define SIX_ROWS(T, type, w)                                                                   \
  ROWS(eq, "eq", T, type, w), ROWS(ne, "ne", T, type, w), ROWS(lt, "lt", T, type, w),           \
  ROWS(le, "le", T, type, w), ROWS(gt, "gt", T, type, w), ROWS(ge, "ge", T, type, w)
#define FOUR_ROWS(T, type, w)                                                                  \
  ROWS(lo, "lo", T, type, w), ROWS(ls, "ls", T, type, w), ROWS(hi, "hi", T, type, w),           \
  ROWS(hs, "hs", T, type, w)
#define FOURTEEN_ROWS(T, ftz, type, w)                                                         \
  ROWS(eq, "eq" ftz, T, type, w), ROWS(ne, "ne" ftz, T, type, w), ROWS(lt, "lt" ftz, T, type, w), \
  ROWS(le, "le" ftz, T, type, w), ROWS(gt, "gt" ftz, T, type, w), ROWS(ge, "ge" ftz, T, type, w), \
  ROWS(equ, "equ" ftz, T, type, w), ROWS(neu, "neu" ftz, T, type, w),                           \
  ROWS(ltu, "ltu" ftz, T, type, w), ROWS(leu, "leu" ftz, T, type, w),                           \
  ROWS(gtu, "gtu" ftz, T, type, w), ROWS(geu, "geu" ftz, T, type, w),                           \
  ROWS(num, "num" ftz, T, type, w), ROWS(nan_, "nan" ftz, T, type, w)

REF(selp, c ? a : b)
REF(selp_not, c ? b : a)
REF(selp_imm, c ? (uint64_t)-1 : 7)
REF(slct_s32, SX(c, 32) >= 0 ? a : b)
/* c >= 0 as a float: NaN no, -0 yes; with .ftz subnormals are zeros. */
static bool not_below(uint64_t c, bool ftz)
{
  return (relation_float(c, 0, 32, ftz) & (EQUAL | MORE)) != 0;
}
REF(slct_f32, not_below(c, false) ? a : b)
REF(slct_ftz, not_below(c, true) ? a : b)

#define SELECT(type, w)                                                                        \
  {w "=" w w "p", "selp." type " D,A,B,C", selp}, {w "=" w w "p", "selp." type " D,A,B,!C", selp_not}, \
  {w "=" w w "w", "slct." type ".s32 D,A,B,C", slct_s32},                                       \
  {w "=" w w "f", "slct." type ".f32 D,A,B,C", slct_f32},                                       \
  {w "=" w w "f", "slct.ftz." type ".f32 D,A,B,C", slct_ftz}

REF(above_minus_2, SX(a, 32) > -2)
REF(above_minus_2_16, SX(a, 16) > -2)
REF(below_minus_2_u, ZX(a, 32) < 0xfffffffe)
static void less_than_one(struct lane_values *v)
{
  v->d = (relation_float(v->a, 0x3f800000, 32, false) & LESS) != 0;
}

static const struct value_row rows[] = {
    SIX_ROWS(u16, "u16", "h"), SIX_ROWS(s16, "s16", "h"), SIX_ROWS(u32, "u32", "w"),
    SIX_ROWS(s32, "s32", "w"), SIX_ROWS(u64, "u64", "l"), SIX_ROWS(s64, "s64", "l"),
    FOUR_ROWS(u16, "u16", "h"), FOUR_ROWS(u32, "u32", "w"), FOUR_ROWS(u64, "u64", "l"),
    ROWS(eq, "eq", u16, "b16", "h"), ROWS(ne, "ne", u16, "b16", "h"),
    ROWS(eq, "eq", u32, "b32", "w"), ROWS(ne, "ne", u32, "b32", "w"),
    ROWS(eq, "eq", u64, "b64", "l"), ROWS(ne, "ne", u64, "b64", "l"),
    FOURTEEN_ROWS(f32, "", "f32", "f"), FOURTEEN_ROWS(ftz, ".ftz", "f32", "f"),
    FOURTEEN_ROWS(f64, "", "f64", "d"),
    SELECT("b16", "h"), SELECT("b32", "w"), SELECT("b64", "l"), SELECT("u16", "h"),
    SELECT("s16", "h"), SELECT("u32", "w"), SELECT("s32", "w"), SELECT("u64", "l"),
    SELECT("s64", "l"), SELECT("f32", "f"), SELECT("f64", "d"),
    {"w=wwp", "selp.b32 D,-1,7,C", selp_imm}, {"l=llp", "selp.b64 D,-1,7,C", selp_imm},
    {"h=hhp", "selp.b16 D,-1,7,C", selp_imm},
    {"p=w", "setp.gt.s32 D,A,-2", above_minus_2}, {"p=h", "setp.gt.s16 D,A,-2", above_minus_2_16},
    {"p=w", "setp.lt.u32 D,A,-2", below_minus_2_u},
    {"p=f", "setp.lt.f32 D,A,0f3F800000", less_than_one}, {"p=f", "setp.lt.f32 D,A,1.0", less_than_one},
};
const struct value_table values_compare = {"compare", rows, sizeof rows / sizeof *rows};
