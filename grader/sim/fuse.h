/* Inside sim_plan(): what the parts of the joining analysis share.
 *
 *   fuse_flow.c    blocks, dominators, one value a definition (static single assignment)
 *   fuse_value.c   values as sums of coefficient x atom + constant, and their trailing zeros
 *   fuse_live.c    which values anyone needs
 *   fuse_uniform.c which values all lanes share
 *   fuse_access.c  the shared accesses, element by element; versions of shared memory
 *   fuse_load.c    which loads meet, and the wider loads made of them
 *   fuse_store.c   runs of stores within a block
 *   fuse_branch.c  a store that an `if` repeats
 *   fuse_loop.c    which loops ptxas unrolls; unroll.c does it
 *   fuse_sink.c    which loads ptxas does behind a branch; unroll.c does it too
 *   fuse.c         sim_plan(): runs them in turn, writes the plan
 *
 * All sizes are bounded by a small multiple of the function's length, except the number of values,
 * which has a cap: past it the plan is "as written" and says so.
 */
#ifndef FUSE_H
#define FUSE_H

#include "sim.h"

#define FUSE_NONE UINT32_MAX

struct fuse_block {
  uint32_t first, end;          /* instructions [first, end) */
  uint32_t succ, nsucc;         /* ranges of fuse->edges */
  uint32_t pred, npred;
  uint32_t order;               /* place in reverse postorder; FUSE_NONE: never reached */
  uint32_t idom;                /* block; its own number for the entry */
  uint32_t in, out;             /* nested numbers in the dominator tree */
  uint32_t phi, nphi;           /* range of values that are phis of this block */
  uint32_t chain;               /* the block that begins the straight line this one is part of */
  uint32_t loop;                /* innermost loop: its header; FUSE_NONE: in no loop */
  uint32_t outer;               /* of a header: the header of the loop around its own */
};

/* One definition of a register, by an instruction or by control flow that meets (a phi). */
struct fuse_value {
  uint32_t inst;                /* FUSE_NONE: a phi, or a register never written */
  uint32_t reg;
  uint32_t block;
  uint32_t args;                /* phi: first of its block's npred values in fuse->args */
  uint32_t old;                 /* written under a guard: the value it had before, else FUSE_NONE */
  uint32_t base, constant;      /* the value is fuse->bases[base] + constant (mod 2^32) */
  uint32_t root;                /* the value this one is plus a constant; itself */
  uint8_t proven;               /* of a root: zeros that vectors counted from it prove to loads */
  uint32_t users, nusers;       /* range of fuse->users: the instructions that read it */
  uint8_t zeros;                /* bits known to be zero at the low end, 32: all */
  uint8_t bits;                 /* no more than this many low bits can be set */
  bool live;
  bool divergent;               /* may differ between the lanes of a warp */
  bool shared;                  /* an address known to point into shared memory */
  bool defined;                 /* base and constant are filled in */
};

struct fuse_use {
  uint32_t reg, value;
};

struct fuse_span {
  uint32_t use, use_end, def, def_end;
};

enum { FUSE_TERMS = 8 };

struct fuse_base {
  uint32_t nterms;
  struct { uint32_t atom, factor; } term[FUSE_TERMS];   /* by atom, ascending */
  uint32_t next;                /* hash chain */
  uint8_t proven;               /* trailing zeros that wide accesses prove */
};

/* Something an address can be made of that is not a sum. */
struct fuse_atom {
  uint64_t key[6];              /* what makes two of them equal */
  const struct ptx_symbol *symbol;
  uint32_t value;               /* whose trailing zeros count; FUSE_NONE: none known */
  uint32_t next;
};

/* One element of a shared load or store that may join, or the whole of any other shared access. */
struct fuse_access {
  uint32_t inst, block;
  uint32_t base, offset;        /* the address is bases[base] + offset, in bytes */
  uint32_t root;
  uint32_t start;               /* offset of the whole instruction's address */
  uint32_t bytes;               /* of the element, or of the whole */
  uint8_t zeros;                /* low bits of the base known to be zero */
  uint8_t vector;               /* elements the instruction moves */
  uint8_t most;                 /* elements it may be joined to: 1, 2 or 4 */
  uint8_t halves;               /* a word of two 16-bit elements: its bytes that are needed; else 0 */
  bool unit;                    /* a vector that can't be split: joins only its own elements */
  uint32_t version;             /* loads: equal numbers, equal contents of shared memory */
  uint32_t issuer;              /* the access that issues for it; itself when it issues;
                                   FUSE_NONE when nothing needs to be issued */
  uint32_t width;               /* bytes it issues; 0 when it doesn't */
  uint32_t at;                  /* offset of what it issues */
  uint32_t next;                /* in a list of fuse_load.c */
  const char *note;             /* ptxas may do otherwise here, and how; or NULL */
  bool load;
  bool once;                    /* loads: an equal one before it will do */
  bool joins;                   /* may become part of a wider access */
};

struct fuse {
  const struct ptx_module *module;
  const struct ptx_function *f;
  const char *failed;           /* why the analysis was given up */
  struct fuse_block *blocks;
  uint32_t nblocks;
  uint32_t *block_of;           /* by instruction */
  uint32_t *segment;            /* by instruction: stretches of code that ptxas keeps in one block */
  uint32_t *edges, nedges;      /* successors, then predecessors, then each successor edge's place
                                   among its target's predecessors */
  uint32_t *rpo, nrpo;          /* blocks in reverse postorder */
  struct fuse_value *values;
  uint32_t nvalues, values_cap;
  uint32_t *args, nargs, args_cap;
  struct fuse_use *uses;        /* registers read */
  uint32_t nuses, uses_cap;
  struct fuse_span *spans;      /* by instruction: its range of uses and of values */
  uint32_t *users;
  struct fuse_base *bases;
  uint32_t nbases, bases_cap;
  struct fuse_atom *atoms;
  uint32_t natoms, atoms_cap;
  uint32_t *base_hash, *atom_hash;
  uint32_t hash_size;
  struct fuse_access *access;   /* in reverse postorder of blocks, then as written */
  uint32_t naccess, access_cap;
  struct sim_layout layout;     /* where the shared variables lie */
  uint32_t *version;            /* by block: of shared memory, when the block is entered */
};

/* Grows *array to hold one more of `size` bytes; false, with failed set, when it can't. */
bool fuse_grow(struct fuse *z, void *array, uint32_t count, uint32_t *cap, size_t size);

/* flow */
typedef void fuse_visit(void *data, uint32_t reg, bool written);
void fuse_registers(const struct ptx_function *f, const struct ptx_inst *i, fuse_visit *visit,
                    void *data);
bool fuse_blocks(struct fuse *z);     /* blocks and edges alone; fuse_flow begins with it */
void fuse_flow(struct fuse *z);
void fuse_segments(struct fuse *z);   /* needs fuse_live and fuse_uniform */
bool fuse_dominates(const struct fuse *z, uint32_t a, uint32_t b);      /* blocks */
bool fuse_leaves(const struct fuse *z, uint32_t a, uint32_t b); /* b is not in the innermost loop of a */
uint32_t fuse_read(const struct fuse *z, uint32_t inst, uint32_t reg);  /* the value it reads */
uint32_t fuse_written(const struct fuse *z, uint32_t inst, uint32_t reg);

/* live, uniform */
void fuse_live(struct fuse *z);
bool fuse_needed(const struct fuse *z, uint32_t inst);   /* it has an effect, or its result is needed */
void fuse_uniform(struct fuse *z);
enum sim_lanes fuse_lanes(const struct fuse *z, uint32_t inst);

/* value */
bool fuse_pure(const struct ptx_inst *i);
void fuse_values(struct fuse *z);
struct fuse_address {
  uint32_t base, constant;
  unsigned zeros;               /* low bits of the base known to be zero; 32: all */
  uint32_t root;                /* of the register's value; FUSE_NONE when there is none */
  bool shared;                  /* known to be shared though written as generic */
};
struct fuse_address fuse_address(struct fuse *z, uint32_t inst, const struct ptx_operand *o);

/* access: the list of accesses, and what is proven about their bases */
void fuse_accesses(struct fuse *z);
bool fuse_separates(const struct fuse *z, uint32_t inst);
bool fuse_splits(const struct ptx_inst *i);

/* load, store, branch: in this order */
void fuse_loads(struct fuse *z);
void fuse_stores(struct fuse *z);
void fuse_branches(struct fuse *z);

/* loop: calls `each` for every loop that ptxas unrolls, or may; needs flow, live, uniform, values.
 * With `flip`, what is unsure is decided the other way. */
struct fuse_loop {
  uint32_t header;              /* block */
  uint32_t first, end;          /* instructions [first, end), the last of them the branch */
  uint32_t entry;               /* which of the header's entries comes from the loop's end */
  uint32_t compare;             /* the setp */
  uint32_t counter, phi;        /* register; its value at the top */
  const struct ptx_operand *bound;
  enum ptx_mod order;           /* it goes on while counter LT, LE, GT, GE, NE bound */
  uint32_t bits;
  bool is_unsigned;
  int32_t step;
  uint32_t factor;              /* passes at a time; 1: left as it is */
  uint32_t before;              /* passes before the loop */
  bool counted;                 /* the number of passes is known */
  bool whole;                   /* `factor` passes and no loop */
  bool branches;                /* a pass is more than one block */
  bool unsure;                  /* ptxas may decide otherwise */
  bool divergent;               /* lanes of a warp may take different numbers of passes */
};
typedef void fuse_each_loop(void *data, const struct fuse_loop *loop);
void fuse_unroll(struct fuse *z, bool flip, fuse_each_loop *each, void *data);

/* loop: calls `each` for every loop that asks at its top and that ptxas turns round, so that it asks
 * at its end; needs flow. */
struct fuse_turn {
  uint32_t first, body, end;    /* instructions: [first, body) ask, the last of them leaves the loop;
                                   the last of [body, end) goes back */
};
typedef void fuse_each_turn(void *data, const struct fuse_turn *turn);
void fuse_turns(struct fuse *z, fuse_each_turn *each, void *data);

/* sink: calls `each` for every load that ptxas does further on than written, and for the copies that go
 * along; needs flow, live and uniform. */
struct fuse_sink {
  uint32_t inst;
  uint32_t to;                  /* right before this instruction; FUSE_NONE: it stays, but see `note` */
  bool load;                    /* no copy */
  bool once;                    /* who comes to `to` by a branch, a loop's next pass, does not do it */
  bool keep;                    /* of a load: its address register is written again elsewhere */
  const char *note;
};
typedef void fuse_each_sink(void *data, const struct fuse_sink *s);
void fuse_sink(struct fuse *z, fuse_each_sink *each, void *data);

/* Frees all that the analysis has made. */
void fuse_free(struct fuse *z);

#endif
