/* What addresses are made of, and how far they are known to be aligned.
 *
 * A value is a sum of coefficient x atom plus a constant, all mod 2^32, which is where shared
 * addresses live; so 64-bit forms and sign extensions add nothing.  An atom is whatever isn't a sum:
 * a special register, a parameter, a variable's place, a phi, or a pure operation, where two equal
 * operations on equal operands are one atom.  Sums are numbered: equal number, equal base.
 *
 * Alignment is kept as trailing zero bits alone, as ptxas does: a value known to be 4 mod 8 counts
 * as a multiple of 4.  Phis start from the best and fall until nothing changes.
 */
#include "fuse.h"
#include <stdlib.h>
#include <string.h>

enum { ATOM_VALUE = 1, ATOM_SYMBOL, ATOM_SPECIAL, ATOM_PARAM, ATOM_OP };

/* ---- tables ----------------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t h, uint64_t v)
{
  h = (h ^ (uint32_t)v) * 0x9e3779b1u;
  h = (h ^ (uint32_t)(v >> 32) ^ h >> 15) * 0x85ebca6bu;
  return h ^ h >> 13;
}

static uint32_t find_atom(struct fuse *z, const uint64_t key[6], const struct ptx_symbol *symbol,
                          uint32_t value)
{
  uint32_t h = 1;
  for (int i = 0; i < 6; i++) h = mix(h, key[i]);
  h &= z->hash_size - 1;
  for (uint32_t a = z->atom_hash[h]; a != FUSE_NONE; a = z->atoms[a].next)
    if (!memcmp(z->atoms[a].key, key, sizeof z->atoms[a].key)) return a;
  if (!fuse_grow(z, &z->atoms, z->natoms, &z->atoms_cap, sizeof *z->atoms)) return 0;
  struct fuse_atom *a = &z->atoms[z->natoms];
  memcpy(a->key, key, sizeof a->key);
  a->symbol = symbol;
  a->value = value;
  a->next = z->atom_hash[h];
  return z->atom_hash[h] = z->natoms++;
}

static uint32_t find_base(struct fuse *z, const struct fuse_base *want)
{
  uint32_t h = 7;
  for (uint32_t t = 0; t < want->nterms; t++)
    h = mix(h, (uint64_t)want->term[t].factor << 32 | want->term[t].atom);
  h &= z->hash_size - 1;
  for (uint32_t b = z->base_hash[h]; b != FUSE_NONE; b = z->bases[b].next)
    if (z->bases[b].nterms == want->nterms &&
        !memcmp(z->bases[b].term, want->term, want->nterms * sizeof *want->term))
      return b;
  if (!fuse_grow(z, &z->bases, z->nbases, &z->bases_cap, sizeof *z->bases)) return 0;
  z->bases[z->nbases] = *want;
  z->bases[z->nbases].next = z->base_hash[h];
  z->bases[z->nbases].proven = 0;
  return z->base_hash[h] = z->nbases++;
}

/* ---- sums ------------------------------------------------------------------------------------------- */

struct sum {
  uint32_t base, constant;
  bool ok;                      /* false: more terms than are kept */
};

static struct sum constant(uint64_t k) { return (struct sum){0, (uint32_t)k, true}; }

static struct sum one_atom(struct fuse *z, uint32_t atom)
{
  struct fuse_base b = {.nterms = 1};
  b.term[0].atom = atom;
  b.term[0].factor = 1;
  return (struct sum){find_base(z, &b), 0, true};
}

/* a + factor * b */
static struct sum add_scaled(struct fuse *z, struct sum a, uint32_t factor, struct sum b)
{
  struct fuse_base out = {.nterms = 0}, x = z->bases[a.base], y = z->bases[b.base];
  struct sum sum = {0, a.constant + factor * b.constant, a.ok && b.ok};
  uint32_t i = 0, j = 0;
  while (sum.ok && (i < x.nterms || j < y.nterms)) {
    uint32_t atom, k = 0;
    if (j == y.nterms || (i < x.nterms && x.term[i].atom <= y.term[j].atom)) atom = x.term[i].atom;
    else atom = y.term[j].atom;
    if (i < x.nterms && x.term[i].atom == atom) k += x.term[i++].factor;
    if (j < y.nterms && y.term[j].atom == atom) k += factor * y.term[j++].factor;
    if (k == 0) continue;
    if (out.nterms == FUSE_TERMS) {
      sum.ok = false;
      break;
    }
    out.term[out.nterms].atom = atom;
    out.term[out.nterms++].factor = k;
  }
  if (sum.ok) sum.base = find_base(z, &out);
  return sum;
}

static struct sum symbol_sum(struct fuse *z, const struct ptx_symbol *symbol, uint64_t offset)
{
  uint64_t key[6] = {(uint64_t)ATOM_SYMBOL << 56, (uintptr_t)symbol};
  struct sum s = one_atom(z, find_atom(z, key, symbol, FUSE_NONE));
  s.constant = (uint32_t)offset;
  return s;
}

static struct sum value_sum(const struct fuse *z, uint32_t v)
{
  return (struct sum){z->values[v].base, z->values[v].constant, true};
}

static struct sum opaque(struct fuse *z, uint32_t v)
{
  uint64_t key[6] = {(uint64_t)ATOM_VALUE << 56, v};
  return one_atom(z, find_atom(z, key, NULL, v));
}

/* A source operand as a sum; one that is no integer (a vector, a label) is not ok. */
static struct sum source(struct fuse *z, uint32_t inst, const struct ptx_operand *o)
{
  switch (o->kind) {
  case PTX_O_REG: {
    uint32_t v = fuse_read(z, inst, o->reg);
    if (v == FUSE_NONE || o->negated || o->reg2 != PTX_NOREG) break;
    if (!z->values[v].defined) break;
    return value_sum(z, v);
  }
  case PTX_O_IMM:
    return constant(o->imm);
  case PTX_O_SYMBOL:
    return symbol_sum(z, o->symbol, o->imm);
  case PTX_O_SPECIAL: {
    if (o->imm == PTX_S_CLOCK || o->imm == PTX_S_CLOCK_HI || o->imm >= PTX_S_GLOBALTIMER_LO) break;
    uint64_t key[6] = {(uint64_t)ATOM_SPECIAL << 56, o->imm};
    return one_atom(z, find_atom(z, key, NULL, FUSE_NONE));
  }
  default:
    break;
  }
  return (struct sum){0, 0, false};
}

/* ---- which operations are pure, and equal when their operands are ------------------------------------- */

bool fuse_pure(const struct ptx_inst *i)
{
  switch (i->op) {
  case PTX_ADD: case PTX_SUB: case PTX_MUL: case PTX_MAD: case PTX_MUL24: case PTX_MAD24:
  case PTX_SAD: case PTX_DIV: case PTX_REM: case PTX_ABS: case PTX_NEG: case PTX_MIN: case PTX_MAX:
  case PTX_POPC: case PTX_CLZ: case PTX_BFIND: case PTX_FNS: case PTX_BREV: case PTX_BFE:
  case PTX_BFI: case PTX_BMSK: case PTX_SZEXT: case PTX_DP4A: case PTX_DP2A: case PTX_FMA:
  case PTX_RCP: case PTX_SQRT: case PTX_RSQRT: case PTX_SIN: case PTX_COS: case PTX_LG2: case PTX_EX2:
  case PTX_TANH: case PTX_TESTP: case PTX_COPYSIGN: case PTX_SET: case PTX_SETP: case PTX_SELP:
  case PTX_SLCT: case PTX_AND: case PTX_OR: case PTX_XOR: case PTX_NOT: case PTX_CNOT: case PTX_LOP3:
  case PTX_SHF: case PTX_SHL: case PTX_SHR: case PTX_MOV: case PTX_PRMT: case PTX_CVT: case PTX_CVTA:
  case PTX_ISSPACEP: case PTX_MAPA:
    return !ptx_has(i, PTX_M_CC);
  default:
    return false;
  }
}

/* The atom of a pure operation, shared by equal ones; else the value's own. */
static struct sum operation(struct fuse *z, uint32_t v)
{
  const struct fuse_value *value = &z->values[v];
  const struct ptx_inst *i = &z->f->insts[value->inst];
  uint64_t key[6] = {(uint64_t)ATOM_OP << 56 | (uint64_t)i->op << 32};
  if (!fuse_pure(i) || i->noperands < 2 || i->noperands > 5 || i->operands[0].kind != PTX_O_REG ||
      i->operands[0].reg2 != PTX_NOREG)
    return opaque(z, v);
  for (unsigned t = 0; t < PTX_TYPES_MAX; t++) key[0] ^= (uint64_t)i->types[t] << 8 * t;
  for (unsigned m = 0; m < PTX_MOD_WORDS; m++) key[1] = key[1] * 0x100000001b3u ^ i->mods[m];
  for (unsigned o = 1; o < i->noperands; o++) {
    struct sum s = source(z, value->inst, &i->operands[o]);
    if (!s.ok) return opaque(z, v);
    key[1 + o] = (uint64_t)s.base << 32 | s.constant;
    if (i->operands[o].kind == PTX_O_IMM)
      key[1] = key[1] * 31 ^ i->operands[o].imm >> 32 ^ (uint64_t)i->operands[o].imm_float << 40;
  }
  return one_atom(z, find_atom(z, key, NULL, v));
}

/* ---- trailing zeros ----------------------------------------------------------------------------------- */

static uint8_t zeros_of(uint64_t k)
{
  return (uint32_t)k == 0 ? 32 : (uint8_t)__builtin_ctz((uint32_t)k);
}

static uint8_t smaller(unsigned a, unsigned b) { return (uint8_t)(a < b ? a : b); }

static uint8_t symbol_zeros(const struct fuse *z, const struct ptx_symbol *symbol)
{
  if (symbol->space == PTX_SHARED) {
    uint32_t place = sim_layout_at(&z->layout, symbol);
    if (place != FUSE_NONE) return zeros_of(place);
  }
  return symbol->align ? zeros_of(symbol->align) : 0;
}

static uint8_t source_zeros(const struct fuse *z, uint32_t inst, const struct ptx_operand *o)
{
  switch (o->kind) {
  case PTX_O_REG: {
    uint32_t v = fuse_read(z, inst, o->reg);
    return v == FUSE_NONE ? 0 : z->values[v].zeros;
  }
  case PTX_O_IMM: return zeros_of(o->imm);
  case PTX_O_SYMBOL: return smaller(symbol_zeros(z, o->symbol), zeros_of(o->imm));
  default: return 0;
  }
}

static bool integer(const struct ptx_inst *i)
{
  enum ptx_type t = i->ntypes ? i->types[0] : PTX_NOTYPE;
  enum ptx_kind k = t == PTX_NOTYPE ? PTX_FLOAT : ptx_type_kind(t);
  return k == PTX_BITS || k == PTX_UNSIGNED || k == PTX_SIGNED;
}

static uint8_t operation_zeros(const struct fuse *z, uint32_t v)
{
  const struct fuse_value *value = &z->values[v];
  const struct ptx_inst *i = &z->f->insts[value->inst];
  uint8_t s[5] = {0};
  if (!integer(i) && i->op != PTX_CVTA) return 0;
  for (unsigned o = 1; o < i->noperands && o < 5; o++)
    s[o] = source_zeros(z, value->inst, &i->operands[o]);
  switch (i->op) {
  case PTX_MOV:
    return i->operands[1].kind == PTX_O_VECTOR ? 0 : s[1];
  case PTX_CVTA: case PTX_NEG:
    return s[1];
  case PTX_CVT: {
    enum ptx_kind from = i->ntypes > 1 ? ptx_type_kind(i->types[1]) : PTX_FLOAT;
    return from == PTX_UNSIGNED || from == PTX_SIGNED || from == PTX_BITS ? s[1] : 0;
  }
  case PTX_ADD: case PTX_SUB: case PTX_OR: case PTX_XOR: case PTX_SELP:
    return smaller(s[1], s[2]);
  case PTX_AND:
    return s[1] > s[2] ? s[1] : s[2];
  case PTX_MUL:
    return ptx_has(i, PTX_M_HI) ? 0 : smaller(s[1] + s[2], 32);
  case PTX_MAD:
    return ptx_has(i, PTX_M_HI) ? 0 : smaller(smaller(s[1] + s[2], 32), s[3]);
  case PTX_SHL:
    if (i->operands[2].kind == PTX_O_IMM) return i->operands[2].imm > 32 ? 32
                                               : smaller(s[1] + i->operands[2].imm, 32);
    return s[1];
  default:
    return 0;
  }
}

/* For each value made by adding constants to another: that other, and their sum.  ptxas sees such a
 * chain as one addition. */
struct chain {
  uint32_t from, sum;
};

static struct chain *find_chains(const struct fuse *z)
{
  struct chain *chains = malloc(((size_t)z->nvalues + 1) * sizeof *chains);
  for (uint32_t v = 0; chains && v < z->nvalues; v++) chains[v] = (struct chain){v, 0};
  for (uint32_t r = 0; chains && r < z->nrpo; r++) {
    const struct fuse_block *b = &z->blocks[z->rpo[r]];
    for (uint32_t i = b->first; i < b->end; i++) {
      const struct ptx_inst *in = &z->f->insts[i];
      if (in->op != PTX_ADD || in->guard != PTX_NOREG || in->operands[1].kind != PTX_O_REG ||
          in->operands[2].kind != PTX_O_IMM)
        continue;
      uint32_t v = fuse_written(z, i, in->operands[0].reg), x = fuse_read(z, i, in->operands[1].reg);
      if (v == FUSE_NONE || x == FUSE_NONE) continue;
      chains[v] = (struct chain){chains[x].from, chains[x].sum + (uint32_t)in->operands[2].imm};
    }
  }
  return chains;
}

/* Values that meet, and those that they meet in, are one register to ptxas, and so what is known of
 * one is known of all: of loops one after another with one pointer the smallest step counts. */
static uint32_t *find_webs(const struct fuse *z)
{
  uint32_t *web = malloc(((size_t)z->nvalues + 1) * sizeof *web);
  for (uint32_t v = 0; web && v < z->nvalues; v++) web[v] = v;
#define ROOT(v)                                                                                    \
  while (web[v] != v) v = web[v] = web[web[v]]
  for (uint32_t p = 0; web && p < z->nvalues; p++) {
    const struct fuse_value *phi = &z->values[p];
    if (phi->args == FUSE_NONE || !phi->live) continue;
    for (uint32_t e = 0; e < z->blocks[phi->block].npred; e++) {
      uint32_t a = z->args[phi->args + e], b = p;
      if (a == FUSE_NONE) continue;
      ROOT(a);
      ROOT(b);
      web[a] = b;
    }
  }
  for (uint32_t v = 0; web && v < z->nvalues; v++) {
    uint32_t r = v;
    ROOT(r);
    web[v] = r;
  }
#undef ROOT
  return web;
}

/* The phis of a web to the smallest of what meets in any of them. */
static bool level(struct fuse *z, const uint32_t *web, uint8_t *least)
{
  bool changed = false;
  memset(least, 32, z->nvalues);
  for (int turn = 0; turn < 2; turn++)
    for (uint32_t p = 0; p < z->nvalues; p++) {
      struct fuse_value *phi = &z->values[p];
      if (phi->args == FUSE_NONE || !phi->live) continue;
      if (turn) {
        if (least[web[p]] < phi->zeros) phi->zeros = least[web[p]], changed = true;
        continue;
      }
      for (uint32_t e = 0; e < z->blocks[phi->block].npred; e++) {
        uint32_t a = z->args[phi->args + e];
        if (a != FUSE_NONE && z->values[a].zeros < least[web[p]]) least[web[p]] = z->values[a].zeros;
      }
    }
  return changed;
}

static void find_zeros(struct fuse *z)
{
  struct chain *chains = find_chains(z);
  uint32_t *web = find_webs(z);
  uint8_t *least = malloc((size_t)z->nvalues + 1);
  if (!chains || !web || !least) {
    z->failed = "out of memory";
    free(chains);
    free(web);
    free(least);
    return;
  }
  for (uint32_t v = 0; v < z->nvalues; v++) {
    struct fuse_value *value = &z->values[v];
    value->zeros = value->args != FUSE_NONE || value->inst != FUSE_NONE ? 32 : 0;
  }
  bool changed = true;
  for (int round = 0; changed && round < 64; round++) {
    changed = false;
    for (uint32_t r = 0; r < z->nrpo; r++) {
      const struct fuse_block *b = &z->blocks[z->rpo[r]];
      for (uint32_t k = 0; k < b->nphi; k++) {
        struct fuse_value *phi = &z->values[b->phi + k];
        uint8_t zeros = phi->zeros;
        for (uint32_t p = 0; p < b->npred && zeros; p++) {
          uint32_t a = z->args[phi->args + p];
          if (a != FUSE_NONE) zeros = smaller(zeros, z->values[a].zeros);
        }
        if (zeros != phi->zeros) phi->zeros = zeros, changed = true;
      }
      for (uint32_t i = b->first; i < b->end; i++)
        for (uint32_t d = z->spans[i].def; d < z->spans[i].def_end; d++) {
          struct fuse_value *value = &z->values[d];
          if (value->inst != i) continue;
          uint8_t zeros = operation_zeros(z, d);
          if (chains[d].from != d) {
            uint8_t whole = smaller(z->values[chains[d].from].zeros, zeros_of(chains[d].sum));
            if (whole > zeros) zeros = whole;
          }
          if (value->old != FUSE_NONE) zeros = smaller(zeros, z->values[value->old].zeros);
          if (zeros < value->zeros) value->zeros = zeros, changed = true;
        }
    }
    changed |= level(z, web, least);
  }
  free(chains);
  free(web);
  free(least);
  if (changed)                  /* never seen; nothing is known then */
    for (uint32_t v = 0; v < z->nvalues; v++) z->values[v].zeros = 0;
}

/* ---- values as sums ------------------------------------------------------------------------------------ */

static unsigned width(const struct ptx_inst *i, unsigned type)
{
  return i->ntypes > type ? ptx_type_bits(i->types[type]) : 0;
}

/* The constant a sum is, when it is one. */
static bool is_constant(struct sum s) { return s.ok && s.base == 0; }

/* Whether v, a constant added to another value, is a register of its own to whoever uses it in another
 * block.  ptxas has counted addresses from where they begin before it unrolls a loop whose number of
 * passes is not known; after that it looks within blocks only.  So it is with what leaves a loop. */
static bool unfolded(const struct fuse *z, uint32_t v)
{
  const struct fuse_value *value = &z->values[v];
  if (value->inst == FUSE_NONE) return false;
  const struct ptx_inst *i = &z->f->insts[value->inst];
  if (i->unfolded) return true;
  if (i->op != PTX_ADD || i->operands[1].kind != PTX_O_REG || i->operands[2].kind != PTX_O_IMM) return false;
  uint32_t x = fuse_read(z, value->inst, i->operands[1].reg);
  uint32_t from = x == FUSE_NONE ? FUSE_NONE : z->blocks[z->values[x].block].loop;
  return from != FUSE_NONE && fuse_leaves(z, z->values[x].block, value->block);
}

static struct sum define(struct fuse *z, uint32_t v)
{
  const struct fuse_value *value = &z->values[v];
  uint32_t inst = value->inst;
  const struct ptx_inst *i = &z->f->insts[inst];
  struct sum none = {0, 0, false}, s[4] = {none, none, none, none}, out = none;
  if (i->guard != PTX_NOREG || unfolded(z, v)) return opaque(z, v);
  if (i->op == PTX_LD && i->space == PTX_PARAM && i->vector <= 1 && z->f->is_entry &&
      !i->operands[1].has_reg) {
    uint64_t key[6] = {(uint64_t)ATOM_PARAM << 56 | i->types[0], (uintptr_t)i->operands[1].symbol,
                       i->operands[1].imm};
    return one_atom(z, find_atom(z, key, NULL, v));
  }
  if (!fuse_pure(i)) return opaque(z, v);
  if (i->op == PTX_CVTA) {
    out = source(z, inst, &i->operands[1]);
    return out.ok ? out : opaque(z, v);
  }
  unsigned bits = width(i, 0);
  if (!integer(i) || bits < 32 || ptx_has(i, PTX_M_SAT)) return operation(z, v);
  for (unsigned o = 1; o < i->noperands && o < 4; o++) s[o] = source(z, inst, &i->operands[o]);
  switch (i->op) {
  case PTX_MOV:
    out = s[1];
    break;
  case PTX_CVT:
    if (width(i, 1) >= 32 && ptx_type_kind(i->types[1]) != PTX_FLOAT) out = s[1];
    break;
  case PTX_ADD:
    out = add_scaled(z, s[1], 1, s[2]);
    break;
  case PTX_SUB:                 /* of a constant; a negated variable is not seen through */
    if (is_constant(s[2])) out = add_scaled(z, s[1], UINT32_MAX, s[2]);
    break;
  case PTX_MUL: case PTX_MAD:
    if (ptx_has(i, PTX_M_HI) || (ptx_has(i, PTX_M_WIDE) && bits < 32)) break;
    if (is_constant(s[2])) out = add_scaled(z, constant(0), s[2].constant, s[1]);
    else if (is_constant(s[1])) out = add_scaled(z, constant(0), s[1].constant, s[2]);
    else if (i->op == PTX_MAD) {   /* the product is an atom of its own */
      uint64_t key[6] = {(uint64_t)ATOM_OP << 56 | (uint64_t)PTX_MUL << 32, 0,
                         (uint64_t)s[1].base << 32 | s[1].constant,
                         (uint64_t)s[2].base << 32 | s[2].constant};
      if (s[1].ok && s[2].ok) out = one_atom(z, find_atom(z, key, NULL, FUSE_NONE));
    }
    if (i->op == PTX_MAD && out.ok) out = add_scaled(z, out, 1, s[3]);
    break;
  case PTX_SHL:
    if (is_constant(s[2]))
      out = add_scaled(z, constant(0), s[2].constant < 32 ? 1u << s[2].constant : 0, s[1]);
    break;
  case PTX_OR:
    for (int a = 1; a <= 2 && !out.ok; a++) {
      struct sum k = s[3 - a];
      unsigned zeros = source_zeros(z, inst, &i->operands[a]);
      if (is_constant(k) && s[a].ok && (zeros >= 32 || k.constant >> zeros == 0))
        out = add_scaled(z, s[a], 1, k);
    }
    break;
  default:
    break;
  }
  return out.ok ? out : operation(z, v);
}

/* The register that an address is counted from: constants added on the way are part of the access. */
static uint32_t root_of(const struct fuse *z, uint32_t v)
{
  const struct fuse_value *value = &z->values[v];
  const struct ptx_inst *i = &z->f->insts[value->inst];
  const struct fuse_span *span = &z->spans[value->inst];
  if (i->guard != PTX_NOREG || span->use_end == span->use || i->operands[0].kind != PTX_O_REG)
    return v;
  if (i->op != PTX_MOV && i->op != PTX_CVT && i->op != PTX_CVTA && i->op != PTX_ADD &&
      i->op != PTX_SUB)
    return v;
  for (uint32_t u = span->use; u < span->use_end; u++) {
    const struct fuse_value *from = &z->values[z->uses[u].value];
    if (from->defined && from->base == value->base && from->base != 0) return from->root;
  }
  return v;
}

static bool points_to_shared(const struct fuse *z, const struct fuse_value *v)
{
  const struct ptx_inst *i = &z->f->insts[v->inst];
  bool shared = i->op == PTX_CVTA && !ptx_has(i, PTX_M_TO) &&
                (ptx_has(i, PTX_M_SHARED) || ptx_has(i, PTX_M_SHARED_CTA));
  if (i->op == PTX_ADD || i->op == PTX_SUB || i->op == PTX_MOV || i->op == PTX_MAD ||
      i->op == PTX_OR || i->op == PTX_CVTA)
    for (uint32_t u = z->spans[v->inst].use; u < z->spans[v->inst].use_end; u++)
      shared |= z->values[z->uses[u].value].shared;
  return shared && i->guard == PTX_NOREG;
}

void fuse_values(struct fuse *z)
{
  z->hash_size = 64;
  while (z->hash_size < 2 * z->nvalues && z->hash_size < 1u << 24) z->hash_size *= 2;
  z->base_hash = malloc(z->hash_size * sizeof *z->base_hash);
  z->atom_hash = malloc(z->hash_size * sizeof *z->atom_hash);
  if (!z->base_hash || !z->atom_hash) {
    z->failed = "out of memory";
    return;
  }
  memset(z->base_hash, 0xff, z->hash_size * sizeof *z->base_hash);
  memset(z->atom_hash, 0xff, z->hash_size * sizeof *z->atom_hash);
  find_zeros(z);
  struct fuse_base nothing = {.nterms = 0};
  find_base(z, &nothing);                       /* number 0: constants */
  for (uint32_t v = 0; v < z->nvalues && !z->failed; v++) {
    struct fuse_value *value = &z->values[v];
    if (value->inst != FUSE_NONE) continue;
    struct sum s = opaque(z, v);
    value->base = s.base;
    value->constant = s.constant;
    value->root = v;
    value->defined = true;
  }
  for (uint32_t r = 0; r < z->nrpo && !z->failed; r++) {
    const struct fuse_block *b = &z->blocks[z->rpo[r]];
    for (uint32_t k = 0; k < b->nphi; k++) {
      struct fuse_value *phi = &z->values[b->phi + k];
      phi->shared = true;
      for (uint32_t p = 0; p < b->npred; p++) {
        uint32_t a = z->args[phi->args + p];    /* an argument from further down is trusted */
        if (a != FUSE_NONE && z->values[a].defined && !z->values[a].shared) phi->shared = false;
      }
    }
    for (uint32_t i = b->first; i < b->end && !z->failed; i++)
      for (uint32_t d = z->spans[i].def; d < z->spans[i].def_end; d++) {
        if (z->values[d].inst != i) continue;
        struct sum s = define(z, d);
        struct fuse_value *value = &z->values[d];
        value->base = s.base;
        value->constant = s.constant;
        value->shared = points_to_shared(z, value);
        value->root = root_of(z, d);
        value->defined = true;
      }
  }
}

/* Low bits of a base known to be zero: those that all its terms have. */
static uint8_t base_zeros(const struct fuse *z, uint32_t base)
{
  const struct fuse_base *b = &z->bases[base];
  unsigned zeros = 32;
  for (uint32_t t = 0; t < b->nterms; t++) {
    const struct fuse_atom *a = &z->atoms[b->term[t].atom];
    unsigned of = a->symbol ? symbol_zeros(z, a->symbol)
                  : a->value != FUSE_NONE ? z->values[a->value].zeros : 0;
    zeros = smaller(zeros, of + zeros_of(b->term[t].factor));
  }
  return (uint8_t)zeros;
}

/* A value to an instruction that uses it as an address: steps of its own block it sees through. */
static struct sum within_block(struct fuse *z, uint32_t inst, uint32_t v)
{
  uint64_t steps = 0;
  for (int depth = 0; depth < 1000; depth++) {
    const struct fuse_value *value = &z->values[v];
    if (value->inst == FUSE_NONE || value->block != z->block_of[inst]) break;
    const struct ptx_inst *i = &z->f->insts[value->inst];
    if (i->op != PTX_ADD || i->guard != PTX_NOREG || i->operands[1].kind != PTX_O_REG ||
        i->operands[2].kind != PTX_O_IMM)
      break;
    uint32_t x = fuse_read(z, value->inst, i->operands[1].reg);
    if (x == FUSE_NONE || !z->values[x].defined) break;
    steps += i->operands[2].imm;
    v = x;
  }
  return add_scaled(z, constant(steps), 1, value_sum(z, v));
}

struct fuse_address fuse_address(struct fuse *z, uint32_t inst, const struct ptx_operand *o)
{
  struct sum s = constant(o->imm);
  bool shared = false;
  unsigned zeros = 32;
  uint32_t root = FUSE_NONE;
  if (o->has_reg) {
    uint32_t v = fuse_read(z, inst, o->reg);
    s = add_scaled(z, s, 1, within_block(z, inst, v));
    shared = z->values[v].shared;
    root = z->values[v].root;
    /* What is known is the register's alignment; the base differs from it by a constant. */
    zeros = smaller(z->values[v].zeros, zeros_of(z->values[v].constant));
    uint8_t more = smaller(z->values[root].zeros, zeros_of(z->values[root].constant));
    if (more > zeros) zeros = more;
    more = base_zeros(z, s.base);
    if (more > zeros) zeros = more;
  } else if (o->symbol) {
    s = symbol_sum(z, o->symbol, o->imm);
  }
  /* A variable's place without anything variable is absolute: such addresses join across variables. */
  if (z->bases[s.base].nterms == 1 && z->bases[s.base].term[0].factor == 1) {
    const struct ptx_symbol *symbol = z->atoms[z->bases[s.base].term[0].atom].symbol;
    bool shared = symbol && symbol->space == PTX_SHARED;
    uint32_t place = shared ? sim_layout_at(&z->layout, symbol) : FUSE_NONE;
    if (place != FUSE_NONE) s = constant(place + s.constant);
  }
  if (s.base == 0) zeros = 32;
  return (struct fuse_address){s.base, s.constant, zeros, root, shared};
}
