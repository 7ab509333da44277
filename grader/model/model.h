/* The reference model: what one warp access to memory costs.
 *
 * A warp's memory instruction is one value, struct access: the operation, the bytes each lane
 * moves, which lanes take part, and their 32 addresses.  Everything here is a pure function of
 * it: no state, no input, no output.  The simulator emits these values, the recorded hardware
 * rows in plots/data are made of them, the command line takes them, pictures are drawn of them.
 *
 * Words used:  word = byte address / 4;  bank = word mod 32;  a wavefront is one pass over the 32
 * banks;  ideal is what the access would cost without conflicts;  a phase is a group of lanes
 * the hardware serves together.  All addresses and widths are bytes.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_LANES = 32, MODEL_BANKS = 32, MODEL_WORD = 4, MODEL_SECTOR = 32 };

/* What kind of access, as far as cost goes.  Names of operations ("load", "atom.add.u32.one",
 * "ldmatrix.x4.trans") map to these through model_op_parse. */
enum model_op {
  MODEL_LOAD,
  MODEL_STORE,
  MODEL_LDMATRIX_X1,
  MODEL_LDMATRIX_X2,
  MODEL_LDMATRIX_X4,
  MODEL_STMATRIX_X1,
  MODEL_STMATRIX_X2,
  MODEL_STMATRIX_X4,
  MODEL_ATOM_NATIVE,   /* 32-bit integer add, min, max, and, or, xor, exch, inc, dec */
  MODEL_ATOM_ONE,      /* add of the constant 1, result unused: ATOMS.POPC.INC */
  MODEL_ATOM_CAS,      /* compare and swap, 32 bits (64 by width) */
  MODEL_ATOM_LOOP,     /* no native form: f32, f16x2, bf16x2 add ... on 32 bits */
  MODEL_ATOM_LOOP64,   /* 64-bit atomics that loop (add.u64, add.f64, min.s64 ...) */
  MODEL_CP_ASYNC,      /* the shared side of cp.async, by width 4, 8 or 16 */
  MODEL_GLOBAL_LOAD,
  MODEL_GLOBAL_STORE,
  MODEL_OPS
};

struct access {
  enum model_op op;
  uint32_t width;      /* bytes a lane: 1 2 4 8 16; ldmatrix and stmatrix: 16 a row */
  uint32_t mask;       /* bit t set: lane t takes part */
  uint32_t line;       /* source line, 0 when there is none; the model does not read it */
  uint64_t addr[MODEL_LANES];
};

/* Which rule decided the cost; model_rule_text() explains it to a reader. */
enum model_rule {
  MODEL_RULE_WORDS,        /* 1, 2 or 4 bytes: distinct words in the fullest bank */
  MODEL_RULE_PHASES,       /* 8 or 16 bytes: the sum over 2 or 4 phases */
  MODEL_RULE_MERGED,       /* wide load whose lanes pair up: phases joined two by two */
  MODEL_RULE_ROWS,         /* ldmatrix, stmatrix: a phase is 8 rows of 16 bytes */
  MODEL_RULE_ATOM_LANES,   /* native atomic: lanes, not words, in the fullest bank */
  MODEL_RULE_ATOM_WORDS,   /* +1 without result: as a store */
  MODEL_RULE_ATOM_CAS,
  MODEL_RULE_ATOM_ROUNDS,  /* a loop of load and compare-and-swap */
  MODEL_RULE_ASYNC,
  MODEL_RULE_SECTORS,
  MODEL_RULE_NOTHING       /* no active lane */
};

struct model_cost {
  uint32_t wavefronts;     /* shared only: 0 for global accesses */
  uint32_t ideal;          /* wavefronts (global: sectors) the same bytes would cost at best */
  uint32_t sectors;        /* global only: distinct 32-byte sectors */
  uint32_t phases;         /* phases with an active lane */
  bool exact;              /* false: the rule is a fit, some recorded rows differ: say "about" */
  enum model_rule rule;
};

/* ---- cost.c: wavefronts, ideal, sectors -------------------------------------------------- */

/* The cost of one access.  Never fails; an impossible width is the caller's error (see
 * model_access_check).  Rules 1 to 11 of the recorded hardware. */
struct model_cost model_cost(const struct access *a);

/* The lanes whose addresses count: the mask, or for ldmatrix and stmatrix (unless the mask is
 * empty) the first 8, 16 or 32 lanes, which hold the row addresses. */
uint32_t model_lanes(const struct access *a);

/* How many neighbouring lanes are served together: 32, 16 or 8, doubled by the pair merge.  Phase
 * p holds the lanes p*n .. p*n+n-1. */
uint32_t model_phase_lanes(const struct access *a);

/* cp.async with its global side known: from[t] is the global byte address lane t copies from.  Each
 * wavefront serves the lanes that are lowest both in their shared banks and in the same 32
 * columns of 128 bytes on the global side.  Recorded (plots/data/h200/async.tsv): exact when
 * neighbouring lanes copy neighbouring elements, when all copy one, and when each has a line of
 * its own; a fit, exact = false, in between.  model_cost alone takes the copies of 4 and 8 bytes
 * to come from 16 bytes apart, as the older rows were drawn. */
struct model_cost model_cost_async(const struct access *a, const uint64_t from[MODEL_LANES]);

/* NULL when the access is one the hardware could make, else a sentence that says what is wrong
 * (width, alignment).  The text is static. */
const char *model_access_check(const struct access *a);

/* ---- names.c: operations and rules by name ------------------------------------------------ */

/* "load", "store", "ldmatrix.x4.trans", "atom.min.s32", "red.add.u32.one", "cp.async.16",
 * "global.load" ...  Any PTX atomic spelling is understood.  False when unknown. */
bool model_op_parse(const char *name, enum model_op *op, uint32_t *width /* 0: any */);
const char *model_op_name(enum model_op op);
const char *model_rule_text(enum model_rule rule);   /* one or two sentences for a reader */

/* ---- banks.c: words, banks, strides, pitches ----------------------------------------------- */

uint32_t model_word_of(uint64_t addr);   /* byte address -> word index */
uint32_t model_bank_of(uint64_t addr);   /* byte address -> bank, 0..31 */
uint32_t model_gcd(uint32_t a, uint32_t b);

/* Wavefronts of a 4-byte access in which lane t touches word s*t: gcd(s, 32); 1 for s = 0. */
uint32_t model_stride_degree(uint32_t stride_words);

/* The constant byte distance from lane to lane: lane t at base + t * stride, for every lane that
 * takes part.  False when there is none, or fewer than two lanes. */
bool model_stride_find(const struct access *a, int64_t *stride_bytes);

/* Which lanes meet in each bank: lanes[b] is the mask of active lanes with a byte in bank b. */
void model_bank_lanes(const struct access *a, uint32_t lanes[MODEL_BANKS]);

/* The smallest row pitch in bytes, >= row_bytes and a multiple of width, with which a column of
 * `rows` elements of `width` bytes (lane t at t*pitch) costs its ideal. */
uint32_t model_pitch(uint32_t row_bytes, uint32_t width, uint32_t rows);

/* Blocks that fit one SM, given shared bytes a block (each block also pays `reserved`). */
uint32_t model_resident_blocks(uint32_t block_bytes, uint32_t sm_bytes, uint32_t reserved);

/* ---- gather.c: random indices --------------------------------------------------------------- */

/* The expected wavefronts of a 4-byte load in which each lane draws one of `rows` rows at random,
 * all equally likely, and reads one and the same column; rows are `pitch` words apart.  Exact. */
double model_gather_expected(uint32_t rows, uint32_t pitch);

/* ---- swizzle.c --------------------------------------------------------------------------- */

/* CuTe's Swizzle<B,M,S> on an index: bits [M+S, M+S+B) are XORed into bits [M, M+B); for
 * negative S, bits [M, M+B) into bits [M-S, M-S+B).  The unit of the index is the caller's
 * (elements or bytes). */
uint64_t model_swizzle(uint64_t index, unsigned b, unsigned m, int s);

enum model_tma { MODEL_TMA_NONE, MODEL_TMA_32B, MODEL_TMA_64B, MODEL_TMA_128B };
/* Byte offset in a TMA-filled tile -> where that byte lies (tile base aligned to the pattern). */
uint64_t model_tma_swizzle(uint64_t offset, enum model_tma mode);

#endif
