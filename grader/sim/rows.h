/* Macros that make handlers.  OP1..OP3(name, D, A, B, C, expression of a, b, c): for each lane the
 * expression, stored as type D.  Type names are u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 b: T_x is the
 * type an expression sees, R_x the row's element, N_x how a result is narrowed into it.
 *
 * Two loops: all lanes, and some.  Rows alias exactly or not at all, so `ivdep` holds. */
#ifndef SIM_ROWS_H
#define SIM_ROWS_H

#include "internal.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"   /* divisions stay scalar: not a mistake */
#define ROW_LOOP(n) _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < (n); l++)
#else
#define ROW_LOOP(n) _Pragma("GCC ivdep") for (int l = 0; l < (n); l++)
#endif
#define LANE_LOOP ROW_LOOP(SIM_LANES)

#define T_u8 uint8_t
#define T_s8 int8_t
#define T_u16 uint16_t
#define T_s16 int16_t
#define T_u32 uint32_t
#define T_s32 int32_t
#define T_u64 uint64_t
#define T_s64 int64_t
#define T_f32 float
#define T_f64 double
#define R_u8 u32_row
#define R_s8 u32_row
#define R_u16 u32_row
#define R_s16 u32_row
#define R_u32 u32_row
#define R_s32 u32_row
#define R_u64 u64_row
#define R_s64 u64_row
#define R_f32 f32_row
#define R_f64 f64_row
#define N_u8 (uint8_t)
#define N_s8 (uint8_t)
#define N_u16 (uint16_t)
#define N_s16 (uint16_t)
#define N_u32 (uint32_t)
#define N_s32 (uint32_t)
#define N_u64 (uint64_t)
#define N_s64 (uint64_t)
#define N_f32 (float)
#define N_f64 (double)

#define HANDLER(name) static void name(struct warp *w, const struct sim_inst *i, uint32_t exec)

#define LANES_OF(D, compute)                                                                   \
  if (exec == SIM_FULL) {                                                                      \
    LANE_LOOP { compute; d_[l] = N_##D(r); }                                                    \
  } else {                                                                                     \
    LANE_LOOP { compute; R_##D keep_ = d_[l]; d_[l] = exec >> l & 1 ? (R_##D)N_##D(r) : keep_; } \
  }

#define OP1(name, D, A, expr)                                                                  \
  HANDLER(name)                                                                                \
  {                                                                                            \
    R_##D *d_ = SIM_ROW(R_##D, i->d);                                                            \
    const R_##A *a_ = SIM_ROW(R_##A, i->a);                                                      \
    LANES_OF(D, T_##A a = (T_##A)a_[l]; T_##D r = (expr))                                         \
  }
#define OP2(name, D, A, B, expr)                                                               \
  HANDLER(name)                                                                                \
  {                                                                                            \
    R_##D *d_ = SIM_ROW(R_##D, i->d);                                                            \
    const R_##A *a_ = SIM_ROW(R_##A, i->a);                                                      \
    const R_##B *b_ = SIM_ROW(R_##B, i->b);                                                      \
    LANES_OF(D, T_##A a = (T_##A)a_[l]; T_##B b = (T_##B)b_[l]; T_##D r = (expr))                  \
  }
#define OP3(name, D, A, B, C, expr)                                                            \
  HANDLER(name)                                                                                \
  {                                                                                            \
    R_##D *d_ = SIM_ROW(R_##D, i->d);                                                            \
    const R_##A *a_ = SIM_ROW(R_##A, i->a);                                                      \
    const R_##B *b_ = SIM_ROW(R_##B, i->b);                                                      \
    const R_##C *c_ = SIM_ROW(R_##C, i->c);                                                      \
    LANES_OF(D, T_##A a = (T_##A)a_[l]; T_##B b = (T_##B)b_[l]; T_##C c = (T_##C)c_[l];             \
             T_##D r = (expr))                                                                 \
  }
#define OP4(name, D, A, B, C, E, expr)                                                         \
  HANDLER(name)                                                                                \
  {                                                                                            \
    R_##D *d_ = SIM_ROW(R_##D, i->d);                                                            \
    const R_##A *a_ = SIM_ROW(R_##A, i->a);                                                      \
    const R_##B *b_ = SIM_ROW(R_##B, i->b);                                                      \
    const R_##C *c_ = SIM_ROW(R_##C, i->c);                                                      \
    const R_##E *e_ = SIM_ROW(R_##E, i->e);                                                      \
    LANES_OF(D, T_##A a = (T_##A)a_[l]; T_##B b = (T_##B)b_[l]; T_##C c = (T_##C)c_[l];             \
             T_##E e = (T_##E)e_[l]; T_##D r = (expr))                                            \
  }

/* The mask of lanes where `expr` holds; a loop the compiler turns into compares and a movemask. */
#define MASK_OF(out, expr)                                                                     \
  do {                                                                                         \
    uint32_t bits_[SIM_LANES];                                                                  \
    LANE_LOOP bits_[l] = (expr) ? 1u << l : 0;                                                  \
    uint32_t all_ = 0;                                                                         \
    for (int l = 0; l < SIM_LANES; l++) all_ |= bits_[l];                                       \
    (out) = all_;                                                                              \
  } while (0)

/* Writes the lanes of `exec` of a predicate. */
static inline void row_set_pred(struct warp *w, sim_ref d, uint32_t exec, uint32_t value)
{
  u32_row *p = SIM_ROW(u32_row, d);
  *p = (*p & ~exec) | (value & exec);
}

/* A form in a table; M(...) lists its modifiers. */
#define M(x) (PTX_M_##x + 1)
#define FORM(op, type, run, ...) {PTX_##op, PTX_T_##type, 0, {__VA_ARGS__}, run, NULL, 0, 0, NULL}
#define FORM_SIZED(op, type, run, narrow, wide, ...) \
  {PTX_##op, PTX_T_##type, 0, {__VA_ARGS__}, run, NULL, narrow, wide, NULL}
#define FORM_ANY(op, lower) {PTX_##op, 0, 0, {0}, NULL, lower, 0, 0, NULL}
#define FORM_TYPE(op, type, lower) {PTX_##op, PTX_T_##type, 0, {0}, NULL, lower, 0, 0, NULL}

#endif
