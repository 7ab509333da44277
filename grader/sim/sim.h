/* The simulator: runs a decoded PTX module warp by warp, on the CPU, and counts.
 *
 * One `struct sim` is one device: a memory with named buffers and at most one loaded module.  A
 * launch runs every block of the grid, each warp in steps of one instruction for all its active
 * lanes; every memory instruction is turned into a struct access and priced by model/.  Nothing
 * a kernel does can harm the host: each access is checked against the buffer or array it falls
 * in, and each launch has a budget of steps.
 *
 * Results (values, counts, faults and their order) are the same on every run and with any number
 * of host threads.
 *
 *   lower.c    ptx_inst -> sim_inst: handler, row offsets, immediates as constant rows
 *   exec*.c    the handlers, one family a file; registers are rows of 32 lanes
 *   warp.c     lanes, program counters, reconvergence (lowest pc first), budget, rotation
 *   block.c    shared memory, barriers, warps of a cluster's blocks, mostly one
 *   grid.c     blocks over host threads; merges counts and faults in block order
 *   memory.c   buffers, address windows, bounds; layout.c shared variables
 *   shadow.c   races and first writes of shared memory
 *   count.c    accesses -> requests, wavefronts, ideal, sectors by instruction
 *   fuse.c     which neighbouring shared accesses ptxas joins (static, before the first launch)
 *   printf.c   vprintf; heap.c: malloc and free
 */
#ifndef SIM_H
#define SIM_H

#include "../model/model.h"
#include "../ptx/ptx.h"

struct sim;

enum { SIM_FILLS = 7 };

struct sim_options {
  unsigned threads;            /* host threads; 0: all */
  uint64_t step_budget;        /* warp instructions a launch may execute; 0: the default (4e9).  Those
                                  that cost the host far more than others count as several */
  uint64_t warp_budget;        /* warp instructions one warp may execute; 0: the default (2e8) */
  uint64_t memory_limit;       /* bytes of host memory for buffers, and as many for the frames and
                                  local memory of the blocks a host thread runs; 0: 2 GiB */
  size_t printf_limit;         /* bytes of device printf kept a launch; 0: 64 KiB */
  size_t fault_limit;          /* faults kept a launch, each site once; 0: 32 */
  uint64_t seed;               /* poison for shared memory, locals, registers never written */
  unsigned shared_fill;        /* 0: shared memory holds that poison at first; 1 ... SIM_FILLS: something
                                  else, unlike it and each other */
  uint32_t shared_limit;       /* bytes of shared memory a block may ask for; 0: 232448 (H200) */
  bool no_checks;              /* bench only: skip race and first-write checks */
  bool no_fuse;                /* count PTX as written, without ptxas' joining */
  bool no_sharing;             /* a row for each register: slower, to compare with */
  bool no_patterns;            /* every access priced, checked and moved as if it were its
                                  instruction's first: slower, to compare with */
};

enum sim_fault_kind {
  SIM_FAULT_NONE,
  SIM_FAULT_BOUNDS,            /* outside every buffer or array, or past the one it started in */
  SIM_FAULT_ALIGNMENT,
  SIM_FAULT_READ_ONLY,         /* a store to a buffer that is input only, or to constant memory */
  SIM_FAULT_UNINITIALISED,     /* shared memory read before any thread wrote it */
  SIM_FAULT_RACE,              /* two threads, one word, one barrier interval, a write among them */
  SIM_FAULT_BARRIER,           /* not all threads reach a barrier, or what waits never ends */
  SIM_FAULT_BUDGET,            /* endless loop, or too much work */
  SIM_FAULT_TRAP,              /* trap, assert */
  SIM_FAULT_STACK,             /* recursion too deep, local memory exhausted */
  SIM_FAULT_UNSUPPORTED,       /* an instruction the simulator does not run */
  SIM_FAULT_LAUNCH,            /* block too large, too much shared memory, bad arguments */
  SIM_FAULT_HEAP,              /* free of what malloc did not give, or twice */
  SIM_FAULT_MEMORY             /* memory_limit reached */
};

/* A fault: what happened, where in the source, to whom.  Reported once an instruction. */
struct sim_fault {
  enum sim_fault_kind kind;
  bool fatal;                  /* the launch stopped here; false: recorded and went on */
  uint32_t file, line;         /* index into module->files, source line; line 0: unknown */
  bool near;                   /* the line is one near it: ptx/loc.c */
  uint32_t ptx_line;
  uint32_t block[3], thread[3];
  uint32_t other_thread[3];    /* RACE: the other thread; BARRIER: one that waits elsewhere */
  uint32_t other_line;         /* RACE: the other access's source line; BARRIER: where it waits */
  uint64_t address;            /* byte offset in the buffer or array it belongs to or is nearest */
  uint32_t width;
  uint64_t count;              /* times this instruction faulted so */
  char object[64];             /* the array or buffer: "tile", "out", "shared memory" */
  char text[512];              /* one or two sentences: what happened and what to do */
};

/* What one instruction did over the launch.  Only instructions that touched memory have one. */
struct sim_site {
  uint32_t function, inst;     /* indices into the module */
  uint32_t file, line;         /* source */
  bool near;                   /* the line is one near it: ptx/loc.c */
  uint32_t ptx_line;
  enum model_op op;            /* LOAD, STORE, ...; GLOBAL_LOAD, GLOBAL_STORE */
  uint32_t width;              /* bytes a lane, after joining */
  uint64_t requests;           /* warp accesses issued */
  uint64_t wavefronts, ideal;  /* shared */
  uint64_t sectors;            /* global */
  uint64_t bytes;              /* moved by active lanes */
  bool exact;
  const char *note;            /* how ptxas makes it, or may make it otherwise; NULL: as written */
  bool polled;                 /* how often depends on when other threads come: waits.c */
  uint32_t worst_wavefronts;   /* or sectors, for global */
  struct access worst;         /* the first access that cost that */
  uint32_t worst_block[3], worst_warp;
};

struct sim_totals {            /* sums over sites by class; ldmatrix counts as a shared load */
  uint64_t warp_instructions;  /* executed, by warps: an instruction for one lane counts one */
  uint64_t thread_instructions;
  struct { uint64_t requests, wavefronts, ideal; } shared_load, shared_store, shared_atomic;
  struct { uint64_t requests, sectors; } global_load, global_store, global_atomic;
  uint64_t barriers;           /* block-wide barriers, counted once a warp */
  uint64_t blocks, warps;
};

struct sim_result {
  struct sim_totals totals;
  struct sim_site *sites;      /* in order of (function, inst) */
  size_t nsites;
  struct sim_fault *faults;    /* in order of block, then of happening */
  size_t nfaults;
  uint64_t faults_dropped;
  uint64_t unwritten;          /* of the faults, counted each: reads of shared memory never written */
  char *printed;               /* device printf, NUL-terminated, capped */
  bool printed_cut;
  bool completed;              /* every thread of every block ran to its end */
  unsigned host_threads;       /* that ran it: 1 where blocks depend on each other's order */
  uint32_t static_shared;      /* bytes of shared memory a block: static and dynamic */
  uint32_t dynamic_shared;
};

struct sim_launch {
  const char *kernel;          /* as ptx_find_entry takes it */
  uint32_t grid[3], block[3];
  uint32_t cluster[3];         /* blocks of a cluster; all 0: as the kernel says */
  uint32_t shared_bytes;       /* dynamic */
  const void *params;          /* packed as the kernel's parameter list */
  size_t param_bytes;
};

/* Whether two addresses lie in different blocks of malloc: blocks are so far apart that one that is
 * overrun does not reach another. */
bool sim_heap_apart(uint64_t a, uint64_t b);

struct sim *sim_open(const struct sim_options *options);
void sim_close(struct sim *sim);

/* Loads a module: lays out globals, lowers every function.  The module must outlive the sim.
 * False with `error` filled in when an instruction is unknown to the simulator or memory ends.
 * Loading again replaces the module and resets its globals; buffers stay. */
bool sim_load(struct sim *sim, struct ptx_module *module, struct ptx_error *error);
/* The same for one kernel of the module: what that kernel cannot reach may be unknown. */
bool sim_load_for(struct sim *sim, struct ptx_module *module, const struct ptx_function *kernel,
                  struct ptx_error *error);

/* A buffer of exactly `bytes`; the returned device address is aligned to 256 and has guard space
 * around it that faults.  `name` is used in messages.  0 when the memory limit is reached.  */
uint64_t sim_alloc(struct sim *sim, size_t bytes, const char *name, bool read_only);
void *sim_host(struct sim *sim, uint64_t address, size_t bytes);   /* NULL outside a buffer */
void sim_free_all(struct sim *sim);
/* Whether two devices that were given the same module and buffers hold the same bytes. */
bool sim_same_memory(const struct sim *a, const struct sim *b);

/* Address of a module-scope .global or .const variable, for cudaMemcpyToSymbol-like use. */
uint64_t sim_symbol(struct sim *sim, const char *name, size_t *bytes);

/* Runs a launch to its end or its first fatal fault.  Always fills `result`; false when a fault was
 * found (nfaults > 0).  Free with sim_result_free. */
bool sim_launch(struct sim *sim, const struct sim_launch *launch, struct sim_result *result);
void sim_result_free(struct sim_result *result);

const char *sim_fault_name(enum sim_fault_kind kind);

/* What the simulator will count for each shared access of a function, before any run: used by
 * profile and by the test against the disassembler. */
enum sim_lanes {
  SIM_LANES_ALL,               /* the active lanes */
  SIM_LANES_ONE,               /* one of them for all: an atomic at an address they share */
  SIM_LANES_ONE_IF_ALL         /* the same when all 32 are active, else each for itself */
};

/* An instruction that moves a vector of which the middle is not needed may have two rows. */
struct sim_plan {
  uint32_t inst;               /* the instruction that issues it */
  enum model_op op;
  uint32_t width;              /* bytes a lane of the issued access; 0: issues nothing (joined) */
  int32_t delta;               /* bytes added to this instruction's own addresses */
  uint32_t issuer;             /* the instruction that issues for it, when joined; itself when it
                                   issues; UINT32_MAX when nothing is: dead, or known already */
  enum sim_lanes lanes;
  bool generic;                /* may be to any space: where it is shared it is counted as written */
  const char *reason;          /* a note when ptxas may do better here, else NULL */
};
size_t sim_plan(const struct ptx_module *module, const struct ptx_function *function,
                struct sim_plan **plan);   /* malloc'ed; the caller frees */

/* layout.c: where the shared variables a function uses, itself or by what it calls, lie; sorted by
 * address of the symbol. */
struct sim_place {
  struct ptx_symbol *symbol;
  uint32_t offset;             /* from the start of the window of shared addresses */
};
struct sim_layout {
  struct sim_place *places;    /* free() it */
  size_t nplaces;
  uint32_t bytes;              /* of variables that are not dynamic */
  uint32_t dynamic_at;         /* the offset of dynamic ones */
};
/* False when out of memory. */
bool sim_layout_find(const struct ptx_module *module, const struct ptx_function *function,
                     struct sim_layout *layout);
/* A variable's offset; UINT32_MAX when the function does not use it. */
uint32_t sim_layout_at(const struct sim_layout *layout, const struct ptx_symbol *symbol);

/* A function as ptxas rewrites it, its loops unrolled and loads done behind a branch: what runs, and what
 * a plan is made for.  It shares all but instructions, registers, labels and tables with the function it
 * is made of, which must outlive it.  NULL when nothing is rewritten, or memory ends. */
struct sim_unrolled {
  struct ptx_function function;
  uint32_t *from;              /* by instruction: the one it is a copy of, or was made for */
  const char **notes;          /* by instruction: what ptxas may do otherwise, where that would count;
                                   NULL: nowhere */
};
struct sim_unrolled *sim_unroll(const struct ptx_module *module,
                                const struct ptx_function *function);
void sim_unrolled_free(struct sim_unrolled *u);

#endif
