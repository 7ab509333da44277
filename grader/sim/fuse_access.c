/* The shared accesses of a function, element by element, and the versions of shared memory.
 *
 * Two loads may be served by one access when shared memory can't have changed between them.  As in
 * ptxas that is not a question of addresses: any shared store, atomic, barrier or fence makes a new
 * version, paths with different versions meet in a new one, and so does leaving a loop unless
 * nothing at all has happened since the function was entered.
 */
#include "fuse.h"
#include <stdlib.h>
#include <string.h>

static bool plain(const struct ptx_inst *i)
{
  return i->guard == PTX_NOREG && !ptx_has(i, PTX_M_VOLATILE) && !ptx_has(i, PTX_M_RELAXED) &&
         !ptx_has(i, PTX_M_ACQUIRE) && !ptx_has(i, PTX_M_RELEASE) && !ptx_has(i, PTX_M_MMIO);
}

/* Divisions and roots that ptxas carries out by calling a routine of its own: a call like any other
 * to it, though no memory is touched, and even where nobody needs the result.  A division of 32-bit
 * numbers is none: of unsigned ones it is plain code, of signed ones see fuse_splits(). */
static bool calls_routine(const struct ptx_inst *i)
{
  enum ptx_type type = i->ntypes ? i->types[0] : PTX_NOTYPE;
  bool exact = type != PTX_NOTYPE && ptx_type_kind(type) == PTX_FLOAT &&
               !ptx_has(i, PTX_M_APPROX) && !ptx_has(i, PTX_M_FULL);
  bool whole = type != PTX_NOTYPE && ptx_type_kind(type) != PTX_FLOAT && ptx_type_bits(type) != 32;
  switch (i->op) {
  case PTX_DIV: case PTX_REM:
    return exact || whole;
  case PTX_RCP: case PTX_SQRT:
    return exact && i->operands[1].kind != PTX_O_IMM;
  case PTX_RSQRT:
    return type == PTX_T_F64 && !ptx_has(i, PTX_M_FTZ);
  default:
    return false;
  }
}

/* Instructions that ptxas turns into more than one block, though loads pass them. */
bool fuse_splits(const struct ptx_inst *i)
{
  switch (i->op) {
  case PTX_DIV: case PTX_REM: return i->ntypes && i->types[0] == PTX_T_S32;
  case PTX_FNS: case PTX_CP_ASYNC_COMMIT_GROUP: return true;
  default: return calls_routine(i);
  }
}

bool fuse_separates(const struct fuse *z, uint32_t inst)
{
  const struct ptx_inst *i = &z->f->insts[inst];
  if (calls_routine(i)) return true;
  bool shared = i->space == PTX_SHARED || i->space == PTX_GENERIC;
  switch (i->op) {
  case PTX_ST: case PTX_ATOM: case PTX_RED:
    return shared;
  case PTX_LD:
    return shared && !plain(i) && i->guard == PTX_NOREG;
  case PTX_LDU: case PTX_SHFL: case PTX_VOTE: case PTX_MATCH: case PTX_REDUX: case PTX_ACTIVEMASK:
  case PTX_ELECT: case PTX_LDMATRIX: case PTX_PREFETCH: case PTX_PREFETCHU: case PTX_MOVMATRIX:
  case PTX_MMA: case PTX_MMA_SP: case PTX_WMMA_MMA: case PTX_WMMA_LOAD:
  case PTX_CP_ASYNC_COMMIT_GROUP:
  case PTX_TEX: case PTX_TLD4: case PTX_TXQ: case PTX_SULD: case PTX_SUST: case PTX_SUQ:
    return false;
  case PTX_BAR: case PTX_BAR_WARP: case PTX_BARRIER: case PTX_BARRIER_CLUSTER: case PTX_MEMBAR:
  case PTX_MEMBAR_PROXY: case PTX_FENCE: case PTX_FENCE_PROXY: case PTX_FENCE_MBARRIER_INIT:
  case PTX_STMATRIX: case PTX_CALL: case PTX_WMMA_STORE: case PTX_NANOSLEEP:
    return true;
  default:
    /* Asynchronous copies, mbarriers, matrix groups: all of them order shared memory. */
    return i->op >= PTX_ST_ASYNC && i->op != PTX_BRA && i->op != PTX_BRX_IDX &&
           i->op != PTX_RET && i->op != PTX_EXIT && i->op != PTX_TRAP;
  }
}

/* Static single assignment for one variable, the contents of shared memory.  A block is entered with
 * its immediate dominator's last version, unless paths with different versions meet there, or one
 * leaves a loop: then with a version of its own.  (A function with no separator has one version.) */
static void find_versions(struct fuse *z)
{
  uint32_t nb = z->nblocks, own = 1 + (uint32_t)z->f->ninsts;
  uint32_t *last = calloc(nb + 1, sizeof *last);      /* by block: its last separator + 1, or 0 */
  uint8_t *meets = calloc(nb + 1, 1);                 /* by block: gets a version of its own */
  bool any = false;
  z->version = calloc(nb + 1, sizeof *z->version);
  if (!last || !meets || !z->version) z->failed = "out of memory";
  for (uint32_t b = 0; !z->failed && b < nb; b++)
    for (uint32_t i = z->blocks[b].first; i < z->blocks[b].end; i++)
      if (fuse_separates(z, i)) last[b] = i + 1, any = true;
  uint32_t *version = z->version;
  for (uint32_t r = 0; !z->failed && r < z->nrpo; r++) {
    uint32_t b = z->rpo[r];
    for (uint32_t p = 0; p < z->blocks[b].npred; p++) {
      uint32_t from = z->edges[z->blocks[b].pred + p];
      if (any && z->blocks[from].order != FUSE_NONE && fuse_leaves(z, from, b)) version[b] = own + b;
    }
  }
  bool changed = !z->failed;
  for (int round = 0; changed; round++) {
    changed = false;
    for (uint32_t r = 1; r < z->nrpo; r++) {
      uint32_t b = z->rpo[r], d = z->blocks[b].idom;
      if (version[b] != own + b) version[b] = last[d] ? last[d] : version[d];
    }
    for (uint32_t r = 0; r < z->nrpo; r++) {
      uint32_t b = z->rpo[r];
      if (version[b] == own + b) continue;
      for (uint32_t p = 0; p < z->blocks[b].npred; p++) {
        uint32_t from = z->edges[z->blocks[b].pred + p];
        if (z->blocks[from].order == FUSE_NONE) continue;
        /* Past many rounds every meeting counts as one of different versions. */
        if ((last[from] ? last[from] : version[from]) == version[b] && round < 50) continue;
        if (round >= 50 && z->blocks[b].npred < 2) continue;
        meets[b] = 1;                             /* after this round, so that it sees one state */
        changed = true;
        break;
      }
    }
    for (uint32_t b = 0; changed && b < nb; b++)
      if (meets[b]) version[b] = own + b;
  }
  free(last);
  free(meets);
}

/* ---- accesses ---------------------------------------------------------------------------------------- */

static struct fuse_access *new_access(struct fuse *z, uint32_t inst)
{
  if (!fuse_grow(z, &z->access, z->naccess, &z->access_cap, sizeof *z->access)) return NULL;
  struct fuse_access *a = &z->access[z->naccess];
  *a = (struct fuse_access){.inst = inst, .block = z->block_of[inst], .issuer = z->naccess,
                            .next = FUSE_NONE};
  z->naccess++;
  return a;
}

static void raise(uint8_t *zeros, uint32_t offset, unsigned width)
{
  if (width > 1 && offset % width == 0 && *zeros < __builtin_ctz(width))
    *zeros = (uint8_t)__builtin_ctz(width);
}

/* A wide access proves the register it counts from to be a multiple of its width, wherever that
 * register is used; but only from the stretch of code that computed it, so that one implies the
 * other.  ptxas learns it twice.  First vectors tell, also those of which little is needed, but
 * only loads from the same register hear it, and vectors nothing is known about stay whole.  Later
 * equal registers have become one, and what is still a wide access tells everyone. */
static void prove(struct fuse *z, uint32_t inst, struct fuse_address at, unsigned first, unsigned later)
{
  if (at.root == FUSE_NONE || z->f->insts[inst].guard != PTX_NOREG) return;
  struct fuse_value *root = &z->values[at.root];
  uint32_t made = root->inst != FUSE_NONE ? root->inst
                  : root->args != FUSE_NONE ? z->blocks[root->block].first : 0;
  if (z->segment[made] != z->segment[inst]) return;
  raise(&root->proven, at.constant - root->constant, first);
  if (root->constant % 16 == 0) raise(&z->bases[at.base].proven, at.constant, later);
}

static unsigned known_zeros(const struct fuse *z, const struct fuse_access *a, bool early)
{
  unsigned zeros = a->zeros;
  if ((a->load || early) && a->root != FUSE_NONE && z->values[a->root].constant % 16 == 0 &&
      z->values[a->root].proven > zeros)
    zeros = z->values[a->root].proven;
  if (!early && z->bases[a->base].proven > zeros) zeros = z->bases[a->base].proven;
  return zeros;
}

static unsigned elements(unsigned zeros, unsigned bytes)
{
  unsigned most = bytes == 8 ? 2 : 4;
  while (most > 1 && (zeros > 4 ? 16u : 1u << zeros) < most * bytes) most /= 2;
  return most;
}

/* How far each access may be joined, once all proofs are in; vectors that can't be split. */
static void find_most(struct fuse *z)
{
  for (uint32_t a = 0, end; a < z->naccess; a = end) {
    struct fuse_access *x = &z->access[a];
    for (end = a + 1; end < z->naccess && z->access[end].inst == x->inst;) end++;
    if (x->vector == 0 || x->bytes > 8) continue;     /* no load or store by elements */
    unsigned most = elements(known_zeros(z, x, false), x->bytes), whole = x->vector * x->bytes;
    bool unit = x->vector > 1 && (elements(known_zeros(z, x, true), x->bytes) < x->vector ||
                                  x->start % whole);
    if (unit && !x->load) {
      x->width = whole;
      x->at = x->start;
    }
    for (uint32_t k = a; k < end; k++) {
      struct fuse_access *e = &z->access[k];
      e->unit = unit;
      e->most = (uint8_t)(unit ? x->vector : most);
      if (unit && !x->load) {
        e->joins = false;
        e->issuer = a;
        if (k > a) e->width = 0;
      }
    }
  }
}

/* Whether ptxas reads a 16-bit value with the extension of its load: then it stays a load of 16 bits
 * of its own.  `is_signed` is the load's type; and, min, max, neg, the low product, conversions to
 * float, packing and storing need no extension, and comparisons and wide products only their own. */
static bool extends(const struct fuse *z, uint32_t value, bool is_signed, int depth)
{
  const struct fuse_value *v = &z->values[value];
  for (uint32_t u = 0; u < v->nusers; u++) {
    uint32_t inst = z->users[v->users + u];
    const struct ptx_inst *i = &z->f->insts[inst];
    unsigned type = i->ntypes ? i->types[i->ntypes - 1] : PTX_NOTYPE;
    enum ptx_kind kind = type ? ptx_type_kind(type) : PTX_FLOAT;
    bool same = (kind == PTX_SIGNED) == is_signed;
    if (type == PTX_T_BF16 && i->op == PTX_CVT) return true;   /* the upper half of a float */
    if (kind == PTX_FLOAT || ptx_type_bits(type) != 16) continue;
    switch (i->op) {
    case PTX_CVT:
      if (same && ptx_type_kind(i->types[0]) != PTX_FLOAT && ptx_type_bits(i->types[0]) >= 32)
        return true;
      break;
    case PTX_MUL: case PTX_MAD:
      if (same && (ptx_has(i, PTX_M_WIDE) || ptx_has(i, PTX_M_HI))) return true;
      break;
    case PTX_DIV: case PTX_REM: case PTX_SHR: case PTX_SETP: case PTX_SET:
      if (same) return true;
      break;
    case PTX_SUB:
      if (i->operands[1].kind == PTX_O_REG && i->operands[1].reg == v->reg) return true;
      break;
    case PTX_ADD: case PTX_OR: case PTX_XOR: case PTX_SHL: case PTX_NOT:
      return true;
    case PTX_MOV: {
      const struct ptx_operand *to = &i->operands[0];
      uint32_t copy = to->kind == PTX_O_REG ? fuse_written(z, inst, to->reg) : FUSE_NONE;
      if (copy != FUSE_NONE && depth < 8 && extends(z, copy, is_signed, depth + 1)) return true;
      break;
    }
    default:
      break;
    }
  }
  return false;
}

static void add_whole(struct fuse *z, uint32_t inst, struct fuse_address at, uint32_t bytes,
                      bool load)
{
  struct fuse_access *a = new_access(z, inst);
  if (!a) return;
  a->base = at.base;
  a->root = at.root;
  a->offset = a->start = a->at = at.constant;
  a->bytes = a->width = bytes;
  a->load = load;
  a->once = load && plain(&z->f->insts[inst]);
  if (z->f->insts[inst].op == PTX_LD || z->f->insts[inst].op == PTX_ST)
    prove(z, inst, at, bytes, bytes);
}

/* A vector load that says which of its bytes are used (nvcc fills gaps in vectors that way) stays one
 * access of its own when what is needed makes one.  False when it doesn't. */
static bool add_masked(struct fuse *z, uint32_t inst, struct fuse_address at, unsigned needed,
                       unsigned count, unsigned bytes)
{
  unsigned first = 0, n = (unsigned)__builtin_popcount(needed);
  if (count == 4 && n >= 3) n = 4;
  else if (n == 2 && (needed == 0x3 || needed == 0xc)) first = needed == 0xc ? 2 : 0;
  else return false;
  struct fuse_access *a = new_access(z, inst);
  if (!a) return true;
  a->base = at.base;
  a->root = at.root;
  a->start = at.constant;
  a->offset = a->at = at.constant + first * bytes;
  a->bytes = a->width = n * bytes;
  a->load = true;
  return true;
}

/* A load or store in shared memory: element by element, or whole where it can't be split.  Vectors of
 * narrow elements are vectors of words to ptxas (two bytes: one of 16 bits). */
static void add_elements(struct fuse *z, uint32_t inst, struct fuse_address at, uint32_t version)
{
  const struct ptx_inst *i = &z->f->insts[inst];
  bool load = i->op == PTX_LD, narrow = i->vector > 1 && ptx_type_bits(i->types[0]) < 32;
  unsigned parts = i->vector ? i->vector : 1, part = ptx_type_bits(i->types[0]) / 8;
  unsigned bytes = !narrow ? part : parts * part < 4 ? parts * part : 4;
  unsigned count = bytes ? parts * part / bytes : 0;
  const struct ptx_operand *data = &i->operands[load ? 0 : 1];
  if (i->silent) {                      /* done further on */
    struct fuse_access *a = new_access(z, inst);
    if (a) a->load = true, a->issuer = FUSE_NONE;
    return;
  }
  uint32_t values[8] = {0};
  uint8_t live[8] = {0};                /* by element: its bytes that are needed */
  bool used = false, split = plain(i) && bytes >= 1 && bytes <= 8 && parts <= 8;
  for (unsigned e = 0; load && e < parts && e < 8; e++) {
    const struct ptx_operand *o = data->kind == PTX_O_VECTOR && e < data->count
                                      ? &z->f->pool[data->first + e] : data;
    values[e] = o->kind == PTX_O_REG ? fuse_written(z, inst, o->reg) : FUSE_NONE;
    if (values[e] == FUSE_NONE || !z->values[values[e]].live) continue;
    used = true;
    if (split) live[e * part / bytes] |= (uint8_t)(((1u << part) - 1) << e * part % bytes);
  }
  if (load && !used && (split || i->guard != PTX_NOREG) && !ptx_has(i, PTX_M_VOLATILE)) {
    struct fuse_access *a = new_access(z, inst);    /* dead: nothing is issued */
    if (a) a->load = true, a->issuer = FUSE_NONE;
    return;
  }
  if (!split) {
    add_whole(z, inst, at, parts * part, load);
    return;
  }
  unsigned needed = 0;
  for (unsigned e = 0; e < count; e++) needed |= (load && live[e] ? 1u : 0) << e;
  if (load && i->masked && add_masked(z, inst, at, needed, count, bytes)) return;
  needed = 0;
  for (unsigned e = 0; e < count; e++) {
    if (load && !live[e]) continue;
    struct fuse_access *a = new_access(z, inst);
    if (!a) return;
    a->base = at.base;
    a->root = at.root;
    a->zeros = (uint8_t)at.zeros;
    a->start = at.constant;
    a->offset = a->at = at.constant + e * bytes;
    a->bytes = a->width = bytes;
    a->vector = (uint8_t)count;
    a->most = 1;
    a->version = version;
    a->load = load;
    a->once = load;
    a->joins = bytes > 1;
    a->halves = part == 2 && bytes == 4 ? load ? live[e] : 0xf : 0;
    if (load && bytes == 2)                         /* into a wider register, or as good as that */
      a->joins = !narrow && ptx_type_bits(z->f->regs[z->values[values[e]].reg].type) == 16 &&
                 !extends(z, values[e], ptx_type_kind(i->types[0]) == PTX_SIGNED, 0);
    needed++;
  }
  /* Stores are joined after loads have shed what is dead. */
  prove(z, inst, at, count * bytes, (needed == count || needed == 3 ? count : 1) * bytes);
}

void fuse_accesses(struct fuse *z)
{
  find_versions(z);
  for (uint32_t r = 0; r < z->nrpo && !z->failed; r++) {
    const struct fuse_block *b = &z->blocks[z->rpo[r]];
    uint32_t version = z->version[z->rpo[r]];
    for (uint32_t inst = b->first; inst < b->end && !z->failed; inst++) {
      const struct ptx_inst *i = &z->f->insts[inst];
      const struct ptx_operand *o = i->op == PTX_LD || i->op == PTX_ATOM || i->op == PTX_LDMATRIX
                                        ? &i->operands[1] : &i->operands[0];
      bool separates = fuse_separates(z, inst);
      switch (i->op) {
      case PTX_LD: case PTX_ST: case PTX_ATOM: case PTX_RED: case PTX_LDMATRIX: case PTX_STMATRIX:
      case PTX_CP_ASYNC: {
        if (o->kind != PTX_O_ADDRESS) break;
        struct fuse_address at = fuse_address(z, inst, o);
        bool matrix = i->op == PTX_LDMATRIX || i->op == PTX_STMATRIX;
        if (i->space != PTX_SHARED && !(i->space == PTX_GENERIC && at.shared) && !matrix &&
            i->op != PTX_CP_ASYNC)
          break;
        if (i->op == PTX_LD || i->op == PTX_ST) add_elements(z, inst, at, version);
        else if (matrix) add_whole(z, inst, at, 16, i->op == PTX_LDMATRIX);
        else if (i->op == PTX_CP_ASYNC) add_whole(z, inst, at, (uint32_t)i->operands[2].imm, false);
        else add_whole(z, inst, at, ptx_type_bits(i->types[0]) / 8, false);
        if (z->naccess) z->access[z->naccess - 1].version = version;
        break;
      }
      default:
        break;
      }
      if (separates) version = inst + 1;
    }
  }
  if (!z->failed) find_most(z);
}
