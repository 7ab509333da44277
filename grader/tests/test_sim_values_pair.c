/* What compute capability 9.0 and 10.0 added to f32: pairs, sources of 16 bits, min and max of three
 * and across lanes, atomics on vectors, accesses of 32 bytes.  Sums are exact.c's. */
#include <math.h>
#include <string.h>

#include "sim_values.h"

/* ---- pairs and mixed types ------------------------------------------------------------------- */

enum op { ADD, SUB, MUL, FMA };
enum flags { FTZ = 1, SAT = 2, BF = 4, F16 = 8 };

static struct exact half(uint64_t bits, bool bf)
{
  bits &= 0xffff;
  if (bf) return exact_f32((uint32_t)bits << 16, false);
  uint32_t e = bits >> 10 & 31, m = bits & 0x3ff, sign = (uint32_t)(bits & 0x8000) << 16;
  if (e == 31) return exact_f32(sign | 0x7f800000u | m << 13, false);
  struct exact x = exact_integer(e ? (__int128)(m | 0x400) : m);
  if (!x.m) return exact_f32(sign, false);
  x.e += (int)(e ? e : 1) - 25;
  x.neg = sign != 0;
  return x;
}

static uint64_t f32_of(enum op op, struct exact a, struct exact b, struct exact c,
                       enum exact_mode mode, unsigned flags)
{
  struct exact r = op == ADD   ? exact_add(a, b, mode)
                   : op == SUB ? exact_add(a, exact_neg(b), mode)
                   : op == MUL ? exact_mul(a, b) : exact_add(exact_mul(a, b), c, mode);
  uint64_t bits = exact_round(r, 4, mode, flags & FTZ);
  if (!(flags & SAT)) return bits;
  if ((bits & 0x7fffffff) > 0x7f800000 || bits >> 31) return 0;
  return bits > 0x3f800000 ? 0x3f800000 : bits;
}

/* arg: op, mode * 4, flags * 16. */
static void pair(struct lane_values *v)
{
  enum exact_mode mode = (enum exact_mode)(v->arg / 4 % 4);
  unsigned flags = (unsigned)v->arg / 16;
  v->d = 0;
  for (unsigned k = 0; k < 64; k += 32)
    v->d |= f32_of((enum op)(v->arg % 4), exact_f32((uint32_t)(v->a >> k), flags & FTZ),
                   exact_f32((uint32_t)(v->b >> k), flags & FTZ),
                   exact_f32((uint32_t)(v->c >> k), flags & FTZ), mode, flags) << k;
}
static void mixed(struct lane_values *v)
{
  enum op op = (enum op)(v->arg % 4);
  enum exact_mode mode = (enum exact_mode)(v->arg / 4 % 4);
  unsigned flags = (unsigned)v->arg / 16;
  struct exact a = half(v->a, flags & BF);
  struct exact b = op == FMA ? half(v->b, flags & BF) : exact_f32((uint32_t)v->b, false);
  v->d = f32_of(op, a, b, exact_f32((uint32_t)v->c, false), mode, flags);
}
#define ARG(op, mode, flags) (op + EXACT_##mode * 4 + (flags) * 16)
#define PAIRS(m, M)                                                                            \
  {"F=FF", "add." m "f32x2 D,A,B", pair, ARG(ADD, M, 0)},                                       \
      {"F=FF", "sub." m "f32x2 D,A,B", pair, ARG(SUB, M, 0)},                                   \
      {"F=FF", "mul." m "ftz.f32x2 D,A,B", pair, ARG(MUL, M, FTZ)},                             \
      {"F=FFF", "fma." m "f32x2 D,A,B,C", pair, ARG(FMA, M, 0)},                                \
      {"F=FFF", "fma." m "ftz.f32x2 D,A,B,C", pair, ARG(FMA, M, FTZ)}
#define MIXED(m, M, t, F)                                                                      \
  {"f=hf", "add." m t " D,A,B", mixed, ARG(ADD, M, F)},                                         \
      {"f=hf", "sub." m t " D,A,B", mixed, ARG(SUB, M, F)},                                     \
      {"f=hf", "add." m "sat." t " D,A,B", mixed, ARG(ADD, M, F | SAT)}
#define MIXED3(m, M, t, F)                                                                     \
  MIXED(m, M, t, F),                                                                            \
      {"f=hhf", "fma." m t " D,A,B,C", mixed, ARG(FMA, M, F)},                                  \
      {"f=hhf", "fma." m "sat." t " D,A,B,C", mixed, ARG(FMA, M, F | SAT)}
#define MIXED_BOTH(m, M) MIXED3(m, M, "f32.f16", F16), MIXED3(m, M, "f32.bf16", BF)

/* ---- min and max ----------------------------------------------------------------------------------- */

/* Order of f32 bits with -0 below +0; NaN apart. */
static int64_t order(uint32_t u) { return u >> 31 ? -(int64_t)(u & 0x7fffffff) - 1 : (int64_t)u; }
static bool is_nan(uint32_t u) { return (u & 0x7fffffff) > 0x7f800000; }

enum pick { MOST = 1, ABS = 2, KEEP_NAN = 4, FLUSH = 8 };
static uint32_t best(const uint32_t *values, unsigned n, int how)
{
  bool found = false;
  uint32_t r = 0x7fffffff;
  for (unsigned k = 0; k < n; k++) {
    uint32_t u = values[k];
    if (how & FLUSH && !(u & 0x7f800000)) u &= 0x80000000;
    if (how & ABS) u &= 0x7fffffff;
    if (is_nan(u)) {
      if (how & KEEP_NAN) return 0x7fffffff;
    } else if (!found || (how & MOST ? order(u) > order(r) : order(u) < order(r))) {
      r = u;
      found = true;
    }
  }
  return r;
}
static void three(struct lane_values *v)
{
  uint32_t all[3] = {(uint32_t)v->a, (uint32_t)v->b, (uint32_t)v->c};
  v->d = best(all, 3, v->arg);
}
static void across(struct lane_values *v)
{
  uint32_t all[32];
  unsigned n = 0;
  for (unsigned l = 0; l < 32; l++)
    if (v->active >> l & 1) all[n++] = (uint32_t)v->wa[l];
  v->d = best(all, n, v->arg);
}

/* ---- atomics on vectors ---------------------------------------------------------------------------- */

static double of_half(uint16_t h, bool bf)
{
  if (bf) {
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
  }
  int e = h >> 10 & 31;
  double m = h & 0x3ff, x = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(m + 1024, e - 25) : ldexp(m, -24);
  return h >> 15 ? -x : x;
}
/* To nearest, by the spacing of the format's numbers at x. */
static uint16_t to_half(double x, bool bf)
{
  int mbits = bf ? 7 : 10, least = bf ? -126 : -14, e;
  uint16_t sign = signbit(x) ? 0x8000 : 0, top = bf ? 0x7f80 : 0x7c00;
  if (isnan(x)) return 0x7fff;
  if (isinf(x)) return sign | top;
  if (x == 0) return sign;
  frexp(x, &e);
  e = e - 1 < least ? least : e - 1;
  double steps = nearbyint(ldexp(fabs(x), mbits - e));
  double code = steps + (double)(e - least) * (1 << mbits);   /* carries go up by themselves */
  return sign | (code >= top ? top : (uint16_t)code);
}
static uint16_t half_op(int op, uint16_t a, uint16_t b, bool bf)
{
  double x = of_half(a, bf), y = of_half(b, bf);
  if (op == ADD) return to_half(x + y, bf);
  if (isnan(x) || isnan(y)) return isnan(x) ? isnan(y) ? 0x7fff : b : a;
  bool a_first = x < y || (x == y && signbit(x));
  return a_first == (op == SUB) ? a : b;                      /* SUB stands for min, MUL for max */
}
/* Elements of 16 or 32 bits in 64: arg as above. */
static uint64_t vector(uint64_t old, uint64_t b, int arg)
{
  uint64_t r = 0;
  unsigned flags = (unsigned)arg / 16;
  for (unsigned k = 0; k < 64; k += flags ? 16 : 32)
    if (flags)
      r |= (uint64_t)half_op(arg % 4, (uint16_t)(old >> k), (uint16_t)(b >> k), flags & BF) << k;
    else r |= f32_of(ADD, exact_f32((uint32_t)(old >> k), true), exact_f32((uint32_t)(b >> k), true),
                     exact_f32(0, false), EXACT_RN, FTZ) << k;   /* global memory flushes */
  return r;
}
static void atom_vector(struct lane_values *v)
{
  v->d = v->was_q;
  v->q = vector(v->was_q, v->a, v->arg);
}
static void red_vector(struct lane_values *v) { v->d = vector(v->was_d, v->a, v->arg); }

#define ATOM(regs, vec, op, fn)                                                                \
  {"ll=l", "!st.global.b64 [%gm],Q; " regs " mov.b64 " vec ",A; atom.global." op " " vec ",[%gm]," vec \
           "; mov.b64 D," vec "; !ld.global.b64 Q,[%gm]", atom_vector, fn},                     \
  {"l=l", "!st.global.b64 [%gm],D; " regs " mov.b64 " vec ",A; red.relaxed.gpu.global." op " [%gm]," vec \
          "; !ld.global.b64 D,[%gm]", red_vector, fn}
#define WORDS ".reg .b32 x,y;", "{x,y}"
#define HALVES ".reg .b16 x,y,z,t;", "{x,y,z,t}"
#define ATOM_(list, op, fn) ATOM_2(list, op, fn)
#define ATOM_2(regs, vec, op, fn) ATOM(regs, vec, op, fn)

/* The upper half of a vector of 16 bytes: D the old one, Q the new; C lies below, B is added to it. */
static const char long_f32[] =
    "!st.global.v2.b64 [%gm],{C,Q}; .reg .b32 x,y,z,t; mov.b64 {x,y},B; mov.b64 {z,t},A; "
    "atom.global.add.v4.f32 {x,y,z,t},[%gm],{x,y,z,t}; mov.b64 D,{z,t}; !ld.global.b64 Q,[%gm+8]";
static const char long_f16[] =
    "!st.global.v2.b64 [%gm],{C,Q}; .reg .b16 x<8>; mov.b64 {x0,x1,x2,x3},B; "
    "mov.b64 {x4,x5,x6,x7},A; atom.global.max.noftz.v8.f16 {x0,x1,x2,x3,x4,x5,x6,x7},[%gm],"
    "{x0,x1,x2,x3,x4,x5,x6,x7}; mov.b64 D,{x4,x5,x6,x7}; !ld.global.b64 Q,[%gm+8]";

/* ---- 32 bytes ------------------------------------------------------------------------------------ */

/* In the next lane's 16 bytes as well: even lanes only, and those by themselves. */
static void xor_all(struct lane_values *v)
{
  v->d = (v->a ^ v->b) + v->c;
  v->skip = v->lane & 1;
}
static const char wide[] =
    ".reg .pred e; .reg .b64 x,y,z,t; !and.b32 %r7,%r0,1; !setp.eq.u32 e,%r7,0; "
    "!@e st.global.v4.b64 [%gm],{A,B,C,A}; "
    "!@e ld.global.v4.b64 {x,y,z,t},[%gm]; !@e ld.global.v8.b32 {_,_,_,_,_,_,_,_},[%gm]; "
    "xor.b64 D,t,y; add.u64 D,D,z";

static const struct value_row rows[] = {
    PAIRS("rn.", RN), PAIRS("rz.", RZ), PAIRS("rm.", RM), PAIRS("rp.", RP),
    {"F=FF", "add.f32x2 D,A,B", pair, ARG(ADD, RN, 0)},
    {"F=FF", "mul.f32x2 D,A,B", pair, ARG(MUL, RN, 0)},
    MIXED("", RN, "f32.f16", F16), MIXED("", RN, "f32.bf16", BF), MIXED_BOTH("rn.", RN), MIXED_BOTH("rz.", RZ), MIXED_BOTH("rm.", RM),
    MIXED_BOTH("rp.", RP),
#define THREE(name, f)                                                                         \
  {"f=fff", name ".f32 D,A,B,C", three, f}, {"f=fff", name ".NaN.f32 D,A,B,C", three, f | KEEP_NAN}, \
      {"f=fff", name ".abs.f32 D,A,B,C", three, f | ABS},                                       \
      {"f=fff", name ".ftz.NaN.abs.f32 D,A,B,C", three, f | ABS | KEEP_NAN | FLUSH},             \
      {"f=fff", name ".ftz.f32 D,A,B,C", three, f | FLUSH}
    THREE("min", 0), THREE("max", MOST),
#define ACROSS(name, f)                                                                        \
  {"f=f", name ".f32 D,A,%M", across, f}, {"f=f", name ".NaN.f32 D,A,%M", across, f | KEEP_NAN}, \
      {"f=f", name ".abs.f32 D,A,%M", across, f | ABS},                                         \
      {"f=u", name ".abs.NaN.f32 D,A,%M", across, f | ABS | KEEP_NAN},                           \
      {"f=u", name ".f32 D,A,%M", across, f}
    ACROSS("redux.sync.min", 0), ACROSS("redux.sync.max", MOST),
    ATOM_(WORDS, "add.v2.f32", 0),
    ATOM_(WORDS, "add.noftz.v2.f16x2", ADD + 16 * F16),
    ATOM_(WORDS, "min.noftz.v2.f16x2", SUB + 16 * F16),
    ATOM_(WORDS, "max.noftz.v2.bf16x2", MUL + 16 * BF),
    ATOM_(HALVES, "add.noftz.v4.f16", ADD + 16 * F16),
    ATOM_(HALVES, "add.noftz.v4.bf16", ADD + 16 * BF),
    ATOM_(HALVES, "min.noftz.v4.bf16", SUB + 16 * BF),
    ATOM_(HALVES, "max.noftz.v4.f16", MUL + 16 * F16),
    {"ll=lll", long_f32, atom_vector, 0}, {"ll=lll", long_f16, atom_vector, MUL + 16 * F16},
    {"l=lll", wide, xor_all},
};
const struct value_table values_pair = {"pair", rows, sizeof rows / sizeof *rows};
