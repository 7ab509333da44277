/* atom and red, every operation and type, in shared and global memory, by their space and by generic
 * addresses.  D is the old value, Q the memory afterwards; for red, D is the memory. */
#include "sim_values.h"

typedef uint64_t update(uint64_t old, uint64_t b, uint64_t c);

#define ATOM(name, expr)                                                                       \
  static uint64_t new_##name(uint64_t old, uint64_t b, uint64_t c)                              \
  {                                                                                            \
    (void)old, (void)c;                                                                        \
    return (uint64_t)(expr);                                                                   \
  }                                                                                            \
  static void atom_##name(struct lane_values *v)                                               \
  {                                                                                            \
    v->d = v->was_q;                                                                            \
    v->q = new_##name(v->was_q, v->a, v->b);                                                    \
  }                                                                                            \
  __attribute__((unused)) static void red_##name(struct lane_values *v)                         \
  {                                                                                            \
    v->d = new_##name(v->was_d, v->a, v->b);                                                    \
  }
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MOST(x, y) ((x) > (y) ? (x) : (y))
ATOM(and, old & b)
ATOM(or, old | b)
ATOM(xor, old ^ b)
ATOM(add, old + b)
ATOM(exch, b)
ATOM(cas_16, ZX(old, 16) == ZX(b, 16) ? c : old)
ATOM(cas_32, ZX(old, 32) == ZX(b, 32) ? c : old)
ATOM(cas_64, old == b ? c : old)
ATOM(inc, ZX(old, 32) >= ZX(b, 32) ? 0 : old + 1)
ATOM(dec, ZX(old, 32) == 0 || ZX(old, 32) > ZX(b, 32) ? b : old - 1)
ATOM(min_u32, LEAST(ZX(old, 32), ZX(b, 32)))
ATOM(max_u32, MOST(ZX(old, 32), ZX(b, 32)))
ATOM(min_s32, LEAST(SX(old, 32), SX(b, 32)))
ATOM(max_s32, MOST(SX(old, 32), SX(b, 32)))
ATOM(min_u64, LEAST(old, b))
ATOM(max_u64, MOST(old, b))
ATOM(min_s64, LEAST((int64_t)old, (int64_t)b))
ATOM(max_s64, MOST((int64_t)old, (int64_t)b))

/* In shared memory f32 sums keep subnormals; in global memory they are flushed, operands and sum. */
static uint64_t sum32(uint64_t a, uint64_t b, bool ftz)
{
  return exact_round(exact_add(exact_f32((uint32_t)a, ftz), exact_f32((uint32_t)b, ftz), EXACT_RN), 4,
                     EXACT_RN, ftz);
}
static uint64_t sum64(uint64_t a, uint64_t b)
{
  return exact_round(exact_add(exact_f64(a), exact_f64(b), EXACT_RN), 8, EXACT_RN, false);
}
static bool is_nan64(uint64_t u) { return (u & ~(1ull << 63)) > 0x7ff0000000000000; }
ATOM(add_f32, sum32(old, b, false))
ATOM(add_f32_ftz, sum32(old, b, true))
static void atom_add_f64(struct lane_values *v)
{
  v->d = v->was_q;
  v->q = sum64(v->was_q, v->a);
  v->skip = is_nan64(v->q);    /* any NaN */
}
static void red_add_f64(struct lane_values *v)
{
  v->d = sum64(v->was_d, v->a);
  v->any_nan = is_nan64(v->d);
}

/* Where: space, address. */
#define IN(S, at, w, t, op, fn)                                                                \
  {w w "=" w, "!st" S "." t " [" at "],Q; atom" S "." op " D,[" at "],A; !ld" S "." t " Q,[" at "]", \
   atom_##fn}
#define RED_IN(S, at, w, t, op, fn)                                                            \
  {w "=" w, "!st" S "." t " [" at "],D; red" S "." op " [" at "],A; !ld" S "." t " D,[" at "]",      \
   red_##fn}
#define CAS_IN(S, at, w, t, op, fn)                                                            \
  {w w "=" w w, "!st" S "." t " [" at "],Q; atom" S "." op " D,[" at "],A,B; !ld" S "." t " Q,[" at "]", \
   atom_##fn}
#define PLACES(X, w, t, op, fn)                                                                \
  X(".shared", "%sm", w, t, op, fn), X(".global", "%gm", w, t, op, fn), X("", "%sg", w, t, op, fn), \
      X("", "%gm", w, t, op, fn)
#define BOTH(w, t, op, fn) PLACES(IN, w, t, op, fn), PLACES(RED_IN, w, t, op, fn)

/* cas that succeeds: compares with what is there (D holds it, too). */
static void atom_cas_hit(struct lane_values *v)
{
  v->d = v->was_q;
  v->q = v->b;
}
static void unused_result(struct lane_values *v)
{
  v->d = v->was_d + 1;
}

static const struct value_row rows[] = {
    BOTH("w", "b32", "and.b32", and), BOTH("w", "b32", "or.b32", or), BOTH("w", "b32", "xor.b32", xor),
    BOTH("l", "b64", "and.b64", and), BOTH("l", "b64", "or.b64", or), BOTH("l", "b64", "xor.b64", xor),
    BOTH("w", "b32", "add.u32", add), BOTH("w", "b32", "add.s32", add), BOTH("l", "b64", "add.u64", add),
    BOTH("w", "b32", "inc.u32", inc), BOTH("w", "b32", "dec.u32", dec),
    BOTH("w", "b32", "min.u32", min_u32), BOTH("w", "b32", "max.u32", max_u32),
    BOTH("w", "b32", "min.s32", min_s32), BOTH("w", "b32", "max.s32", max_s32),
    BOTH("l", "b64", "min.u64", min_u64), BOTH("l", "b64", "max.u64", max_u64),
    BOTH("l", "b64", "min.s64", min_s64), BOTH("l", "b64", "max.s64", max_s64),
    PLACES(IN, "w", "b32", "exch.b32", exch), PLACES(IN, "l", "b64", "exch.b64", exch),
    PLACES(CAS_IN, "h", "b16", "cas.b16", cas_16), PLACES(CAS_IN, "w", "b32", "cas.b32", cas_32),
    PLACES(CAS_IN, "l", "b64", "cas.b64", cas_64),
    {"ww=ww", "!st.shared.b32 [%sm],Q; atom.shared.cas.b32 D,[%sm],Q,B; !ld.shared.b32 Q,[%sm]",
     atom_cas_hit},
    {"ll=ll", "!st.shared.b64 [%sm],Q; atom.shared.cas.b64 D,[%sm],Q,B; !ld.shared.b64 Q,[%sm]",
     atom_cas_hit},
    IN(".shared", "%sm", "f", "f32", "add.f32", add_f32),
    RED_IN(".shared", "%sm", "f", "f32", "add.f32", add_f32),
    IN(".global", "%gm", "f", "f32", "add.f32", add_f32_ftz),
    RED_IN(".global", "%gm", "f", "f32", "add.f32", add_f32_ftz),
    IN("", "%sg", "f", "f32", "add.f32", add_f32), RED_IN("", "%gm", "f", "f32", "add.f32", add_f32_ftz),
    BOTH("d", "f64", "add.f64", add_f64),
    {"w=w", "!st.shared.b32 [%sm],D; atom.shared.add.u32 _,[%sm],1; !ld.shared.b32 D,[%sm]",
     unused_result},
    {"w=w", "!st.global.b32 [%gm],D; red.relaxed.gpu.global.add.u32 [%gm],1; !ld.global.b32 D,[%gm]",
     unused_result},
};
const struct value_table values_atomic = {"atomic", rows, sizeof rows / sizeof *rows};
