/* Inside the simulator: what its files share.  sim.h is what others use.
 *
 * A kernel's PTX is lowered once into struct sim_inst: a handler and row references.  A register
 * is a row of 32 lanes: 4 bytes a lane for types of up to 32 bits (narrow ones zero-extended), 8 for
 * 64 bits, 16 for 128; a predicate is one 32-bit mask.  Immediates and constants are rows too, so
 * a handler takes rows only and has no type switch inside.
 *
 * To add instructions: write handlers in an exec_*.c (rows.h has the macros), list them in that
 * file's table of struct sim_form, and name the table in forms.def.
 *
 *   lower.c    ptx_inst -> sim_inst            exec_*.c   handlers and their forms
 *   registers.c    which row a register has
 *   warp.c     lanes, groups, calls            block.c    barriers, one cluster
 *   grid.c     launches, host threads          memory.c   objects, address windows; heap.c: malloc
 *   layout.c   where shared variables lie      order.c    fences and flags
 *   reach.c    what a kernel can reach         skipped.c  barriers that a warp went past
 *   access.c   one warp access, checked        shadow.c   races and first writes in shared memory
 *   count.c    its price                       fault.c    reports
 *   shadow_remote.c   the same of another block's, in a cluster
 *   known.c    which instructions run (known.h)
 *   parallel.c launches on several threads
 *   exec_async.c   cp.async: copies pending until waited for
 *   async.h    mbarriers, and the bulk copies that complete on them
 */
#ifndef SIM_INTERNAL_H
#define SIM_INTERNAL_H

#include <stdarg.h>
#include <stdio.h>

#include "sim.h"

enum { SIM_LANES = 32, SIM_BARRIERS = 16, SIM_MAX_WARPS = 32, SIM_MAX_CLUSTER = 16 };
#define SIM_FULL 0xffffffffu
#define SIM_NO_LIMIT 0xfffffffeu
#define SIM_NO_SITE UINT32_MAX

/* Element types of rows.  A row is read as float here and as integer there. */
typedef uint8_t u8_row __attribute__((may_alias));
typedef uint32_t u32_row __attribute__((may_alias));
typedef int32_t s32_row __attribute__((may_alias));
typedef uint64_t u64_row __attribute__((may_alias));
typedef int64_t s64_row __attribute__((may_alias));
typedef float f32_row __attribute__((may_alias));
typedef double f64_row __attribute__((may_alias));

/* A row reference: a byte offset whose low two bits name the base it counts from. */
typedef uint32_t sim_ref;
enum { SIM_IN_FRAME, SIM_IN_CONST, SIM_IN_WARP, SIM_IN_BLOCK, SIM_BASES };

/* Address windows of the generic space.  A shared address is an offset: the first kilobyte belongs
 * to the system, as on compute capability 9.0. */
#define SIM_SHARED_WINDOW 0x0000700000000000ull
#define SIM_LOCAL_WINDOW 0x0000710000000000ull
#define SIM_PARAM_WINDOW 0x0000720000000000ull
#define SIM_GLOBAL_WINDOW 0x00007f0000000000ull
#define SIM_HEAP_WINDOW 0x0000800000000000ull
#define SIM_HEAP_END 0x0001000000000000ull
#define SIM_WINDOW_BYTES 0x0000010000000000ull
#define SIM_FUNCTION_WINDOW 0x0000600000000000ull   /* + 16 * index: addresses of functions */
enum { SIM_SHARED_BASE = 1024 };
/* Where in the system's kilobyte the part lies that cooperative groups use: 288 bytes at least, at
 * %reserved_smem_offset_1.  The driver tells where; any place in whole rows of banks costs the same. */
enum { SIM_RESERVED_GROUPS = 512 };
/* mapa gives the shared memory of the cluster's block r the addresses from (r + 1) << this. */
enum { SIM_CLUSTER_SHIFT = 24 };

struct warp;
struct sim_inst;
typedef void sim_handler(struct warp *w, const struct sim_inst *i, uint32_t exec);

/* How the joined access of an instruction is counted (from sim_plan). */
struct sim_issue {
  uint32_t width;              /* 0: silent */
  int32_t delta;
  enum sim_lanes lanes;
  uint32_t second;             /* width of a second access of the same instruction; 0: none */
  int32_t second_delta;
};

struct sim_inst {
  sim_handler *run;
  uint32_t guard;              /* predicate's offset in the frame; 0: none */
  uint32_t flip;               /* all ones for @!p */
  sim_ref d, a, b, c, e;       /* destination and sources; memory: a is the address */
  uint32_t target;             /* branch target */
  uint32_t site;
  uint64_t imm;                /* address offset, truth table, flags ... by handler */
  sim_ref more[8];             /* elements of a vector; second destinations */
  uint16_t flags;              /* SIM_MEM_... */
  uint8_t space, width, elements;
  uint8_t op;                  /* enum model_op, for memory */
  uint8_t small[3];            /* by handler */
  struct sim_issue issue;
  const struct ptx_symbol *origin;   /* shared variable its address comes from; NULL: not known */
  uint32_t low, high;          /* shared offsets it may touch, set at launch */
  const struct ptx_inst *ptx;
  uint32_t file, line;         /* source: the author's, see ptx/loc.c */
  uint32_t from;               /* the PTX instruction it is, or a copy of in an unrolled loop */
  struct sim_func *func;
  const void *extra;           /* calls, tables */
};

enum {                         /* sim_inst.flags of memory instructions */
  SIM_MEM_ORDERED = 1,         /* relaxed, acquire, release: no race with its like */
  SIM_MEM_VOLATILE = 2,
  SIM_MEM_WIDE_ADDRESS = 4,    /* 64-bit address register */
  SIM_MEM_UNSURE = 8,          /* ptxas may do better than the plan */
  SIM_MEM_COMMUTES = 16,       /* an atomic that gives the same in any order */
  SIM_MEM_ACQUIRE = 32,
  SIM_MEM_RELEASE = 64,
  SIM_MEM_POLL = 128,          /* its value decides whether the loop it stands in goes on: waits.c */
  SIM_MEM_CHECKED = 256        /* a load whose value a compare-and-swap checks */
};

struct sim_func {
  struct ptx_function *ptx;    /* what runs: the source, or that with loops unrolled */
  struct ptx_function *source;
  struct sim_unrolled *unrolled;   /* NULL: no loop is */
  uint32_t index;
  struct sim_inst *insts;      /* one more than in PTX: running off the end returns */
  uint32_t ninsts;
  const char **notes;          /* by instruction: why its counts may differ, or NULL; NULL: no notes */
  uint32_t frame_bytes;        /* rows of its registers */
  uint32_t filled_bytes;       /* of them, first, those that may be read before they are written */
  uint32_t local_bytes;        /* a lane: parameters, .param and .local variables */
  sim_ref *regs;               /* offset of each register */
  struct skipped *skipped;     /* its barriers, and the code behind them; NULL: none */
};

/* ---- memory.c ------------------------------------------------------------------------------ */

struct sim_object {            /* a buffer, a module-scope variable, or a block of the heap */
  uint64_t base, size;
  uint8_t *host;               /* NULL: freed, it had `was` bytes */
  uint64_t was;
  char name[64];
  bool read_only, module, heap;
};

struct heap {                  /* heap.c: blocks by rising base; a pointer to one stays good */
  struct sim_object **blocks;
  size_t n, room, freed;
  uint64_t next;               /* the next one's base at the least; 0: none yet */
};

struct sim_fix {               /* a constant row that holds a shared address, set at launch */
  uint32_t at, bits;
  const struct ptx_symbol *symbol;
  uint64_t add;
};

struct sim {
  struct sim_options options;
  struct ptx_module *module;
  struct sim_func *funcs;
  size_t nfuncs;
  uint32_t nsites;
  struct sim_inst **sites;     /* the instruction of each site */
  struct sim_object *objects;  /* by rising base */
  size_t nobjects;
  struct heap heap;
  uint64_t next_base, used;    /* bytes of host memory */
  uint8_t *params;             /* of the running launch; objects[0] */
  uint8_t *consts;             /* the pool of constant rows */
  size_t nconsts, consts_room;
  struct sim_fix *fixes;
  size_t nfixes;
};

struct sim_object *memory_add(struct sim *sim, uint64_t bytes, const char *name);
struct sim_object *memory_find(const struct sim *sim, uint64_t address);
/* The last one that starts at or before the address; NULL when there is none. */
struct sim_object *memory_find_base(const struct sim *sim, uint64_t address);
/* The object nearest to an address that lies in none; NULL when there are no objects. */
struct sim_object *memory_nearest(const struct sim *sim, uint64_t address);
enum { MEMORY_CALLED = 80 };   /* an object as a sentence calls it: a buffer's name in quotes */
const char *memory_called(const struct sim_object *o, char out[MEMORY_CALLED]);
void memory_drop_module(struct sim *sim);
/* The shared variable at an offset, and a name as a reader knows it (_ZZ4gemmE2As: As). */
const struct ptx_symbol *memory_shared_symbol(const struct sim *sim, uint64_t offset);
void memory_plain_name(const char *name, char *out, size_t size);
bool memory_load_module(struct sim *sim, struct ptx_error *error);

/* heap.c: malloc and free in a kernel.  The same of the heap's blocks alone; an end to all of them. */
struct sim_object *heap_before(const struct sim *sim, uint64_t address);
struct sim_object *heap_nearest(const struct sim *sim, uint64_t address);
void heap_close(struct sim *sim);
bool heap_same(const struct sim *a, const struct sim *b);

/* layout.c: gives every shared symbol that `entry` can reach its offset (in symbol->offset, from the
 * start of the window, first one at SIM_SHARED_BASE).  Others get offset 0.  Returns the bytes of
 * static ones. */
uint32_t sim_shared_layout(const struct ptx_module *module, const struct ptx_function *entry,
                           uint32_t *dynamic_at);

/* ---- shadow.c ---------------------------------------------------------------------------------- */

/* Who may have written shared memory: a warp, or the engine of bulk copies. */
enum { SHADOW_ENGINE = SIM_MAX_WARPS, SHADOW_WRITERS };

/* What is known of each granule (1, 2 or 4 bytes) of shared memory.  Time is a tick that grows at
 * every synchronisation; a tick before block_start means never, so nothing is cleared. */
struct shadow {
  unsigned shift;              /* log2 of the granule */
  uint32_t granules;
  uint32_t *wtick, *writer;    /* last write: when; SHADOW_THREAD, SHADOW_ATOMIC and the site */
  uint32_t *rtick, *rset;      /* last read: when; lanes of rwarp, or warps */
  uint32_t *rwarp;             /* the one warp that read, or SHADOW_MANY */
  uint32_t tick, block_start, epoch;
  uint32_t cluster_start;      /* the last barrier of the cluster */
  uint32_t proxy;              /* the last fence.proxy.async of any thread, or the block's start */
  bool partial;                /* a fence or a meeting of a part happened in this block */
  bool fenced;                 /* a fence, since the last barrier of all */
  bool exact;                  /* each reader is kept: see shadow_reads.c */
  struct reads *reads;
  struct noted *noted;         /* reads since the last barrier that no granule's words have yet */
  uint32_t nnoted;
  struct order *order;         /* what fences and flags order; made at first use */
  uint32_t *polled;            /* when somebody last polled the granule; made at first use */
  uint32_t seen[SIM_MAX_WARPS][SHADOW_WRITERS];  /* [w][v]: w comes after v's accesses before */
  uint32_t fence[SHADOW_WRITERS * SIM_LANES];    /* tick of each thread's last fence */
};
#define SHADOW_MANY 0xffffffffu
/* Fields of `writer`.  Sites count from 1; 0: not known. */
enum {
  SHADOW_THREAD = 0x7ff,
  SHADOW_ATOMIC = 0x800,
  SHADOW_FENCED = 0x1000,      /* a store by a thread that had fenced since the last barrier */
  SHADOW_SITE = 13             /* the lowest bit of the site */
};
#define SHADOW_PENDING 0xffffffffu /* wtick: a cp.async by `writer` that has not been waited for */

/* ---- counting ------------------------------------------------------------------------------------ */

enum sim_class { CLASS_OTHER, CLASS_UNIT, CLASS_UNIFORM };

struct site_side {             /* one instruction, in one kind of memory */
  uint64_t requests, wavefronts, ideal, sectors, bytes;
  bool exact;
  enum model_op op;
  uint32_t width;
  uint32_t worst_cost;
  uint32_t worst_warp;
  uint64_t worst_block;        /* linear */
  struct access worst;
};

enum {
  SITE_WAYS = 8,               /* patterns of a site: warps mostly repeat their own */
  SITE_SHARE = SIM_MAX_WARPS / SITE_WAYS   /* warps that share one */
};

/* What a warp read at a site since the last barrier, in shared memory: where a race came from. */
struct reading {
  uint32_t when;               /* tick of the last one */
  uint32_t at;                 /* its place, with the pattern's lanes; READ_APART: not like that */
  bool folded;                 /* earlier ones, or all of them, are in ... */
  uint32_t low, high, lanes;   /* ... these bounds */
};
#define READ_APART UINT32_MAX

/* Where the lanes of an access lie, as distances from the first active one, and what follows. */
struct pattern {
  int32_t rel[SIM_LANES] __attribute__((aligned(64)));
  uint32_t mask;               /* 0: none seen yet */
  int32_t least, most;         /* of rel over active lanes */
  uint32_t ragged;             /* or of all rel: alignment */
  enum sim_class shape;
  uint8_t units, uniforms;     /* bit g: lanes 8g .. 8g + 7 lie side by side, at one place */
  uint32_t low;                /* address of the first lane, mod 4 or (global) 32, when priced */
  enum { UNPRICED, PRICED_SHARED, PRICED_GLOBAL } priced;
  bool silent;                 /* another instruction issues for it */
  bool again;                  /* met more than once: worth a list of its words */
  uint64_t times;              /* met since `cost` was last added up */
  struct model_cost cost, second;   /* second: of the same instruction, see sim_issue */
  struct words *words;         /* shared memory: see shadow_words.c; made when met again */
  uint32_t noted;              /* the epoch in which it was last put into shadow.noted */
  bool read;                   /* there are readings */
  struct reading readings[SITE_SHARE];   /* of the warps that use the pattern */
};

struct site {
  struct pattern *patterns[SITE_WAYS];
  const struct sim_object *object;
  struct site_side *sides[2];  /* shared, global; made at first use */
};

/* ---- running ---------------------------------------------------------------------------------- */

/* Those up to GROUP_WARP_SYNC run their instruction again, with lanes that came meanwhile. */
enum group_state {
  GROUP_RUN, GROUP_PHASE, GROUP_WARP_SYNC, GROUP_WARP_BARRIER, GROUP_BARRIER, GROUP_CLUSTER
};

struct frame {
  struct sim_func *func;
  struct frame *parent;
  const struct sim_inst *call; /* in the parent */
  uint32_t depth, return_pc;
  uint32_t lanes;              /* in it, or in frames it called */
  uint32_t local_base;
  uint8_t *regs;
};

struct group {                 /* lanes at one place */
  struct frame *frame;
  uint32_t pc, mask;
  enum group_state state;
  uint32_t yields;             /* times it was made to wait for the others */
  uint32_t stamp;
  uint32_t barrier, expected;
  const struct sim_inst *at;   /* what it waits in */
};

struct async_copy {            /* what one lane's cp.async has still to write */
  uint32_t at;                 /* byte of shared memory, from SIM_SHARED_BASE */
  uint32_t group, serial;
  uint8_t lane, bytes;
  uint8_t data[16];
};
struct async {
  struct async_copy *copies;   /* in order of issue */
  size_t n, room;
  uint32_t serial;             /* copies issued in this block */
  uint32_t group[SIM_LANES];   /* the open group of each lane: commits so far */
};

struct warp {
  uint8_t *base[SIM_BASES];
  struct frame *frame;
  uint32_t active, pc, limit;  /* the running group; stops where pc >= limit */
  uint32_t yields;
  uint32_t live;               /* lanes not exited */
  uint32_t started;            /* lanes that exist */
  uint32_t carry;              /* condition code of add.cc, a bit a lane */
  uint32_t id;
  uint32_t stamp;              /* changes when lanes exit or meet */
  uint32_t owing;              /* lanes that were elsewhere when others of the warp came to ... */
  const struct sim_inst *owed; /* ... this barrier, which all of the warp must run together, */
  uint32_t waited;             /* where this lane waited ... */
  size_t owed_at;              /* ... when that many faults were known */
  uint64_t passed;             /* barriers whose code behind it has come to: skipped.c */
  uint32_t sync_tick;          /* all live lanes met then */
  uint32_t polled;             /* tick when a lane last looked whether a flag or lock has changed */
  uint32_t spins;              /* atomics and volatile loads in this slice */
  uint32_t polls;              /* looks of a loop that waits in this turn */
  uint64_t in_slice;           /* steps of the slice, which goes on over turns cut short by polling */
  uint32_t *lane_seen;         /* [lane][lane], when partial masks were used */
  uint64_t steps, lane_steps, clock;
  struct group groups[SIM_LANES];
  unsigned ngroups;
  struct block *block;
  struct runner *runner;
  uint8_t *specials;           /* tid rows; SIM_IN_WARP */
  uint8_t *local;              /* [lane][local_room] */
  uint32_t local_room;
  uint32_t depth_bytes;        /* of frames, for the stack limit */
  struct async async;
  uint32_t released;           /* lanes whose wait for an mbarrier ends with `false` */
  uint32_t due;                /* lanes that arrived at the cluster's barrier and have still to wait */
  uint32_t arrived;            /* of them: those of the phase that is not complete */
};

struct barrier {
  uint32_t arrived;            /* threads */
  uint32_t expected;           /* 0: all of the block */
  uint32_t warps;              /* that arrived */
  uint32_t arrive_tick[SIM_MAX_WARPS];
  uint32_t votes, yes;         /* bar.red */
  const struct sim_inst *at;   /* where the first one came to it */
};

struct block {
  struct cluster *cluster;
  uint32_t rank;               /* in it */
  uint32_t index[3];
  uint64_t linear;
  uint32_t nthreads, nwarps;
  uint32_t live;               /* threads not exited */
  size_t faults_before;        /* known when it started */
  bool parted;                 /* its threads have met at different barriers */
  struct warp *warps;
  struct barrier barriers[SIM_BARRIERS];
  struct bulk *bulk;           /* mbarriers and bulk copies: async.h; made at first use */
  uint32_t events;             /* of its mbarriers */
  uint32_t releases;           /* since the last of them */
  uint8_t *shared;             /* from SIM_SHARED_BASE */
  uint32_t shared_bytes;
  uint32_t reserved_at;        /* where in `shared` the system's kilobyte lies; 0: kernel has no use for it */
  struct shadow shadow;
  uint8_t *specials;           /* ctaid, ntid ... rows; SIM_IN_BLOCK */
};

struct cluster {               /* blocks that run together; mostly one */
  struct block *blocks;        /* by rank */
  uint32_t n, dim[3];
  bool arrivals;               /* somebody has come to its barrier in this phase */
};

struct fault_note {            /* a fault with its place in the order */
  struct sim_fault fault;
  const struct sim_inst *inst;
  uint64_t block;
  uint32_t tick;               /* of its block's shadow */
  unsigned rank;               /* how much its remedy orders: see fault_ranked */
};

/* One host thread.  Aligned, so that no cache line belongs to two. */
struct __attribute__((aligned(128))) runner {
  struct sim *sim;
  const struct sim_launch *launch;
  struct sim_func *entry;
  const bool *reached;         /* [function]: whether the launch may run it */
  uint32_t shared_bytes;       /* a block */
  unsigned shift;              /* log2 of a granule of the shadow */
  bool exact;                  /* threads are ordered one by one: see struct shadow */
  bool reserved;               /* the kernel asks where the system's kilobyte lies */
  struct cluster cluster;
  struct site *sites;
  struct fault_note *faults;
  size_t nfaults, faults_room;
  uint64_t faults_dropped, unwritten;
  bool stop;                   /* a fatal fault, in block stop_block */
  struct sim_totals totals;
  uint64_t fuel;               /* steps the launch may still take */
  uint64_t held;               /* bytes of frames and of local memory, spare ones too */
  char *printed;
  size_t nprinted, printed_room;
  bool printed_cut;
  struct frame ***spare;       /* [function]: frames to use again */
  uint32_t *nspare, *spare_room;
  struct sim_parallel *parallel;   /* other threads run blocks too; NULL: in order */
  uint8_t **partial;           /* [object]: what this thread reduced; parallel.c */
};

static inline uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }
static inline unsigned first_lane(uint32_t mask) { return (unsigned)__builtin_ctz(mask); }
#define SIM_ROW(type, ref) ((type *)(w->base[(ref) & 3] + ((ref) & ~3u)))

/* ---- warp.c ---------------------------------------------------------------------------------- */
bool frame_enter(struct warp *w, struct sim_func *f, const struct sim_inst *call, uint32_t mask);
void warp_start(struct warp *w, uint32_t lanes);
/* Runs until every group waits or ended, or `slice` steps were taken.  Returns the steps. */
uint64_t warp_run(struct warp *w, uint64_t slice);
void warp_jump(struct warp *w, uint32_t taken, uint32_t target);
void warp_exit(struct warp *w, uint32_t lanes);
void warp_return(struct warp *w, uint32_t lanes, const struct sim_inst *i);   /* to the caller */
/* Takes `lanes` out of the running group, to wait in `state`; they go on at `pc`. */
struct group *warp_park(struct warp *w, uint32_t lanes, enum group_state state, uint32_t pc,
                        const struct sim_inst *i);
static inline void warp_reschedule(struct warp *w) { w->limit = 0; }
/* A loop that waits looked: after a few looks the other warps get their turn. */
enum { POLL_TURN = 16 };
static inline void warp_polled(struct warp *w, const struct sim_inst *i)
{
  if (i->flags & SIM_MEM_POLL && ++w->polls >= POLL_TURN) warp_reschedule(w);
}
/* Takes from the launch's budget what an instruction costs the host beyond a step: `bytes` it looked
 * at, moved or filled, of which a few are free.  So the budget also bounds the time. */
void warp_charge(struct warp *w, uint64_t bytes);
/* Adds to what the runner holds; false when that would be more than memory_limit. */
bool warp_hold(struct warp *w, uint64_t bytes);
/* For a *.sync instruction with a row of member masks: the lanes of one mask whose members have all
 * come.  Call until 0; lanes that must wait are parked at this instruction. */
uint32_t warp_meet(struct warp *w, const struct sim_inst *i, uint32_t *exec,
                   const u32_row *members, uint32_t *member);
/* Orders memory accesses of these lanes (all of a *.sync's members). */
void warp_order(struct warp *w, uint32_t lanes);
bool warp_done(const struct warp *w);
/* For .sync.aligned instructions (exec_matrix.c): true when all 32 lanes are here; else they wait, or
 * the warp is not whole and that is a fault. */
bool warp_whole(struct warp *w, const struct sim_inst *i, uint32_t exec);
void warp_drop_frames(struct warp *w, struct frame *fr);   /* of a launch that stopped */

/* ---- block.c ------------------------------------------------------------------------------------ */
void cluster_run(struct runner *t);
void block_lanes_exited(struct block *b);
void block_waiter(const struct block *b, const struct barrier *bar, uint32_t thread[3]);   /* at it */
sim_handler exec_bar_sync, exec_bar_arrive, exec_bar_red;

/* ---- skipped.c: a barrier opens; did a warp go past it? ------------------------------------- */
void lower_skipped(struct sim_func *f);
bool skipped_whole(const struct sim_inst *i);   /* all threads must come to it: __syncthreads() */
void skipped_open(struct block *b, const struct barrier *bar);

/* ---- exec_cluster.c ------------------------------------------------------------------------------ */
/* Lanes arrived, or ended: is the phase of the cluster's barrier complete? */
void cluster_check(struct cluster *c);
/* The block whose shared memory an offset of w's lies in; *at becomes the offset there. */
static inline struct block *cluster_block(const struct warp *w, uint64_t *at)
{
  struct cluster *c = w->block->cluster;
  uint64_t rank = *at >> SIM_CLUSTER_SHIFT;
  if (c->n < 2 || !rank || rank > c->n) return w->block;
  *at &= (1u << SIM_CLUSTER_SHIFT) - 1;
  return &c->blocks[rank - 1];
}

/* ---- access.c: one warp access ------------------------------------------------------------------ */

struct span {                  /* lanes of an access that lie in one object */
  uint8_t *base;               /* host address of the first lane */
  const int32_t *rel;          /* others from it */
  enum sim_class shape;        /* of all 32 lanes when the mask is full */
  uint8_t units, uniforms;     /* bit g: lanes 8g .. 8g + 7, if all are there, lie so */
  bool shared;
  uint32_t offset;             /* shared: SIM_SHARED_BASE + where base lies in block->shared */
};

enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC };

/* One step of an access by `left` lanes: checks bounds, alignment, permission, races and counts
 * it (once).  Returns the lanes that lie in span->base's object, 0 after a fatal fault.  `fresh` is
 * true in the first call of an instruction. */
uint32_t access_span(struct warp *w, const struct sim_inst *i, uint32_t left, bool fresh,
                     enum access_kind kind, struct span *span);
/* Whether bytes from a shared address on lie where the instruction may touch them. */
static inline bool access_inside(const struct sim_inst *i, uint64_t at, uint32_t bytes)
{
  return at >= i->low && at <= i->high && bytes <= i->high - at;
}
/* The host bytes of one lane's string or buffer at a generic address; NULL when not mapped. */
uint8_t *access_host(struct warp *w, unsigned lane, uint64_t address, uint64_t *room);

/* ---- shadow.c ------------------------------------------------------------------------------------ */
bool shadow_open(struct shadow *s, uint32_t bytes, unsigned shift);
void shadow_close(struct shadow *s);
void shadow_block(struct block *b);                      /* a new block starts */
void shadow_barrier(struct block *b, struct barrier *bar, bool all);
/* An access by the lanes of p->mask: lane l at offset + p->rel[l]. */
void shadow_access(struct warp *w, const struct sim_inst *i, struct pattern *p, uint32_t offset,
                   enum access_kind kind);
/* The same for a read whose pattern was met before; false: it must be looked at as above. */
bool words_read(struct warp *w, const struct sim_inst *i, struct pattern *p, uint32_t offset);
/* Puts the reads of this interval into the granules' words: before a pattern of them changes. */
void shadow_settle(struct block *b);
void shadow_proxy(struct block *b);                     /* fence.proxy.async */
void shadow_copied(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t at,
                   uint32_t bytes);              /* a bulk copy takes them out: were they fenced? */
void shadow_fence(struct warp *w, uint32_t lanes);      /* order.c */
void order_meet(struct warp *w, uint32_t lanes);        /* order.c: a *.sync of these lanes */
/* The same by lanes of another block of the cluster than b, in whose shared memory it is. */
void shadow_remote(struct warp *w, const struct sim_inst *i, struct block *b,
                   const struct pattern *p, uint32_t offset, enum access_kind kind);
void shadow_meet(struct shadow *s);                     /* all threads have come: of a block, a cluster */
/* A pattern's lanes are about to change: keeps what was read with them as bounds. */
void shadow_relearn(struct pattern *p, uint32_t width);

/* Marks the bytes that a copy of `thread`, issued by `i`, will write, or has now written. */
void shadow_pending(struct block *b, uint32_t at, uint32_t bytes, uint32_t thread,
                    const struct sim_inst *i);
void shadow_landed(struct block *b, uint32_t at, uint32_t bytes, uint32_t thread);
/* Whether the last write of byte `at` comes before w's lane now; else *thread wrote it. */
bool shadow_follows(const struct warp *w, unsigned lane, uint32_t at, uint32_t *thread);
void shadow_forget(struct block *b, uint32_t at, uint32_t bytes);   /* as if never written */

/* ---- exec_async.c: cp.async --------------------------------------------------------------------- */
/* Completes the copies of `lanes`, but for those of their `keep` most recent committed groups and,
 * unless `open`, of the group not yet committed. */
void async_land(struct warp *w, uint32_t lanes, uint32_t keep, bool open);
/* The same of one lane's copies with a serial below `before`. */
void async_land_before(struct warp *w, unsigned lane, uint32_t before);
void async_start(struct warp *w);    /* of a block: forgets what the last one left pending */

/* ---- grid.c, parallel.c ------------------------------------------------------------------------ */
/* Makes the memory of a runner whose first members, to `exact`, are set.  False: there is none. */
bool runner_open(struct runner *t);
void runner_close(struct runner *t);
void runner_cluster(struct runner *t, uint64_t linear);
/* Runs all blocks on up to n threads, whose runners are not open yet.  Returns how many took part,
 * open now.  0: it could have mattered, or it cannot be; memory is as before, runners are closed.
 * `reached`: the functions that may run, by index. */
unsigned parallel_run(struct sim *sim, struct runner *threads, unsigned n, uint64_t blocks,
                      const bool *reached);
/* Before the lanes of a pattern, at `at + rel`, touch an object: the host's bytes to take for those at
 * `at`.  NULL: stop, blocks depend on each other. */
uint8_t *parallel_access(struct warp *w, const struct sim_inst *i, const struct sim_object *o,
                         uint64_t at, const struct pattern *p, uint32_t width,
                         enum access_kind kind);

/* ---- exec_atomic.c: reductions, SIM_MEM_COMMUTES ------------------------------------------------- */
/* A number not 0, the same for those that commute with each other. */
uint32_t atomic_reduction(const struct sim_inst *i);
void atomic_neutral(const struct sim_inst *i, uint8_t *to, uint64_t bytes);   /* fills with it */
void atomic_merge(const struct sim_inst *i, uint8_t *to, const uint8_t *from, uint64_t bytes);

/* ---- count.c ------------------------------------------------------------------------------------ */
/* An access whose price is not known yet, or not for this place. */
void count_new(struct warp *w, const struct sim_inst *i, struct site *s, struct pattern *p,
               uint64_t first, bool shared);
static inline void count_access(struct warp *w, const struct sim_inst *i, struct site *s,
                                struct pattern *p, uint64_t first, bool shared)
{
  uint32_t low = shared ? ((uint32_t)first + (uint32_t)i->issue.delta) & 3 : first & 31;
  if (p->priced == (shared ? PRICED_SHARED : PRICED_GLOBAL) && p->low == low) p->times++;
  else count_new(w, i, s, p, first, shared);
}
/* Adds up what a pattern was met; before it changes.  settle: all of them, before counts are read. */
void count_fold(const struct sim_inst *i, struct site *s, struct pattern *p);
void count_settle(struct runner *t);
/* Adds one access whose price is known to a site's side. */
void count_add(struct warp *w, const struct sim_inst *i, struct site_side *side, uint32_t mask,
               uint64_t first, const int32_t *rel, const struct model_cost *cost, bool shared);
struct site_side *count_side(struct warp *w, const struct sim_inst *i, bool shared);
struct model_cost count_price(enum model_op op, uint32_t width, uint32_t mask, uint32_t first,
                              const int32_t *rel);

/* ---- fault.c ----------------------------------------------------------------------------------- */
/* Records a fault of `lane`.  Returns it to be filled further, NULL when this instruction has had
 * one of the kind (then counted) or the limit is reached. */
struct sim_fault *fault_note(struct warp *w, const struct sim_inst *i, unsigned lane,
                             enum sim_fault_kind kind, bool fatal, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
bool fault_same_place(const struct sim_inst *a, const struct sim_inst *b);   /* or copies of one */
/* The same for a race, not fatal, whose remedy orders more the higher its rank: of one cause, what helps
 * most is told.  So it also returns a fault with a lower rank that this instruction has had. */
struct sim_fault *fault_ranked(struct warp *w, const struct sim_inst *i, unsigned lane,
                               enum sim_fault_kind kind, unsigned rank);
void fault_join(struct runner *t);   /* makes one of those at the same two lines, in one object */
/* Moves the last fault noted up to place `at`: it began to happen then. */
void fault_began(struct runner *t, size_t at);
void fault_thread(const struct block *b, uint32_t thread, uint32_t out[3]);

/* ---- heap.c, printf.c ----------------------------------------------------------------------------------- */
sim_handler exec_malloc, exec_aligned_malloc, exec_free;
sim_handler exec_vprintf, exec_assertfail;

/* ---- exec_control.c: arguments of calls that have no body ---------------------------------- */
sim_handler exec_ret;
uint64_t call_argument(struct warp *w, const struct sim_inst *i, unsigned lane, unsigned k);
void call_result(struct warp *w, const struct sim_inst *i, unsigned lane, uint64_t v);

/* ---- lower.c ------------------------------------------------------------------------------------ */
struct lowering {
  struct sim *sim;
  struct sim_func *func;
  const struct ptx_inst *in;
  struct sim_inst *out;
  struct ptx_error *error;
  bool failed;
};
typedef void sim_lower(struct lowering *l);

/* One form of an instruction: matched when op, first type (0: any), second type (0: any) and the
 * modifiers agree: all of `mods` are there, and no others. */
struct sim_form {
  uint16_t op;
  uint8_t type, type2;
  uint16_t mods[4];            /* enum ptx_mod + 1; 0 ends */
  sim_handler *run;
  sim_lower *lower;            /* NULL: d a b c e are the operands in order.  A form with its own
                                  lowering matches with more modifiers than `mods`, too, and
                                  judges them itself (lower_only) */
  uint8_t narrow, wide;        /* bit k: operand k is of 32, of 64 bits whatever the type */
  const char *why;             /* not NULL: it is not run, for this reason */
};
bool lower_module(struct sim *sim, const struct ptx_function *kernel, struct ptx_error *error);
void lower_free(struct sim *sim);
/* registers.c: regs, frame_bytes, filled_bytes. */
void lower_registers(struct sim_func *f, bool share_rows);
/* reach.c: a flag a function of the module, whether `kernel` can reach it; NULL: from every one.  The
 * kernel may be the copy that unroll.c makes.  The caller frees. */
bool *reach_from(const struct ptx_module *m, const struct ptx_function *kernel);
/* Shared addresses into their rows; bounds of accesses. */
void lower_launch(struct sim *sim, uint32_t shared_bytes);
/* origin.c: which shared variable each access's address comes from. */
void lower_origins(struct sim_func *f);
/* waits.c: which accesses poll, and which loads are checked by a compare-and-swap. */
void lower_waits(struct sim_func *f);
bool lower_orders_apart(const struct sim *sim, const bool *reached);
void lower_refuse(struct lowering *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
sim_ref lower_source(struct lowering *l, const struct ptx_operand *o, unsigned bits);
sim_ref lower_dest(struct lowering *l, const struct ptx_operand *o, unsigned bits);   /* 0: any */
unsigned lower_bits(struct lowering *l, const struct ptx_operand *o);   /* of its register */
sim_ref lower_const(struct lowering *l, uint64_t value, unsigned bits);
void lower_guard(struct lowering *l);
sim_ref lower_pred(struct lowering *l, const struct ptx_operand *o, uint32_t *flip);
void lower_address(struct lowering *l, const struct ptx_operand *o);    /* a, imm, wide flag */
/* Space, width, order, address and site of a memory access with `elements` of types[0]. */
void lower_memory(struct lowering *l, const struct ptx_operand *address, unsigned elements);
bool lower_only(struct lowering *l, const uint16_t *allowed);   /* PTX_M_... + 1, 0 ends */
unsigned lower_type_bits(const struct lowering *l, unsigned k);
uint32_t lower_site(struct lowering *l);
bool lower_entry_param(const struct lowering *l, const struct ptx_symbol *s);
const struct ptx_operand *lower_element(const struct lowering *l, const struct ptx_operand *o,
                                        unsigned k);

sim_lower lower_minmax_three;            /* exec_pair.c */
sim_lower lower_st;                      /* exec_memory.c */

/* exec_atomic.c: reductions of runs of memory, element by element.  atomic_op: the operation an
 * instruction names, from 1 on; 0: it does not go with the type. */
unsigned atomic_op(const struct ptx_inst *in, enum ptx_type type);
void atomic_elements(unsigned op, enum ptx_type type, uint8_t *to, const uint8_t *from,
                     uint32_t bytes);

/* Rows of special registers, in struct warp's and struct block's pages. */
enum { SIM_SPECIAL_ROW = 128 };
bool special_ref(enum ptx_special s, sim_ref *ref, unsigned *bits);     /* false: run time */
void special_fill_warp(struct warp *w);
void special_fill_block(struct block *b);
enum { SPECIAL_WARP_ROWS = 4, SPECIAL_BLOCK_ROWS = 32 };

#endif
