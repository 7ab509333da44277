/* Tables of instructions with reference functions, run on the simulator and compared bit by bit.
 *
 * A row names its registers: "w=ws" means D is 32 bits wide, A takes 32-bit values and B shift counts;
 * a second letter before '=' is Q.  The text uses D Q A B C E.  Letters, and what values they get:
 *   h w l   16, 32, 64 bits     f d   f32, f64     p    a predicate
 *   s       32 bits, mostly below 80               z    32 bits, small in magnitude
 *   F       two f32 in 64 bits
 *   i j     f32, f64 near the ends of integer types and near halves
 *   u       f32 between -100 and 100               m    32 bits, 0 to 3
 *   k K     32, 64 bits, nearly always the same
 * Every row runs under the full mask, under a guard that differs by warp (other lanes keep what D
 * held; a statement that begins with ! runs in all lanes), and where D and A have one width and one
 * statement is all, with D being A.  The text may use %M, the mask of the lanes that run it, and 16
 * bytes of memory of its own at %sm (shared), %gm (global), %lm (local), %sg and %lg (generic). */
#ifndef TEST_SIM_VALUES_H
#define TEST_SIM_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exact.h"
#include "sim/sim.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"   /* most rows leave arg out */

struct lane_values {
  uint64_t a, b, c, e;         /* inputs: bits, zero-extended */
  uint64_t was_d, was_q;       /* what D and Q held */
  unsigned lane;
  uint32_t active;             /* lanes of the warp that run it */
  const uint64_t *wa, *wb, *wc;    /* a, b, c of the warp's lanes */
  int arg;                     /* of the row */
  uint64_t d, q;               /* to be filled in; bits past the width do not count */
  bool skip;                   /* PTX defines no result */
  bool any_nan;                /* any NaN of D's width will do */
  bool ranged;                 /* D is a float from low to high, ends included */
  double low, high;
};
typedef void reference(struct lane_values *v);

struct value_row {
  const char *sig, *text;
  reference *ref;
  int arg;
};

/* All rows in one kernel.  Fails the running test with the first wrong lane of each wrong row. */
void sim_values_check(const struct value_row *rows, size_t count);

struct value_table {
  const char *name;
  const struct value_row *rows;
  size_t count;
};
extern const struct value_table values_int, values_bits, values_float, values_compare,
    values_convert, values_move, values_warp, values_atomic, values_pair, values_video;
struct value_table values_memory(void);   /* ld and st of all types, made at the first call */

/* Whether a row of a table has this instruction: the mnemonic's first parts are `op`. */
bool sim_values_has(const struct value_row *rows, size_t count, const char *op);

/* Loads a PTX text into a new simulator; fails the test, with the error, when it cannot. */
struct loaded {
  struct ptx_module *module;
  struct sim *sim;
};
struct loaded sim_values_load(const char *text);
void sim_values_close(struct loaded *l);
/* Runs it; fails the test when there was a fault. */
void sim_values_run(struct loaded *l, const char *kernel, unsigned blocks, unsigned threads,
                    const uint64_t *params, size_t nparams);

uint64_t sim_values_random(void);      /* the same sequence in every run */
void sim_values_seed(uint64_t seed);
uint64_t sim_values_input(char letter);

#define SX(x, n) ((int64_t)((uint64_t)(x) << (64 - (n))) >> (64 - (n)))
#define ZX(x, n) ((uint64_t)(x) << (64 - (n)) >> (64 - (n)))
/* A reference: an expression of a, b, c, e. */
#define REF(name, expr)                                                                        \
  static void name(struct lane_values *v)                                                      \
  {                                                                                            \
    uint64_t a = v->a, b = v->b, c = v->c, e = v->e;                                            \
    (void)a, (void)b, (void)c, (void)e;                                                         \
    v->d = (uint64_t)(expr);                                                                    \
  }

#endif
