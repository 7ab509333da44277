/* Which row of a frame each register has.
 *
 * Compiled PTX names a new register for nearly every value, and an unrolled loop does so in every
 * copy: with a row each, a frame is hundreds of kilobytes that every access misses.  Registers that
 * are never needed at the same time share a row here, by linear scan (Poletto and Sarkar 1999) over
 * the instructions as written: a register is kept from the first place to the last where it is
 * written, read or live.
 *
 * Lanes have program counters of their own, but each lane touches its own element of a row only, in
 * the order of its own way through the code; so what holds for one thread holds for every lane.
 * An instruction's destinations share no row with its sources: rows alias exactly or not at all,
 * as before, and an instruction that runs again for late lanes finds its sources.
 *
 * A register that may be read before it is written has a row of its own among the first ones, which
 * are filled when the frame is entered, so that it has the same value on every run.  All others need
 * no filling. */
#include <stdlib.h>

#include "fuse.h"
#include "internal.h"

enum { ROW_SIZES = 4, SINK_BYTES = 512 };
static const uint32_t row_sizes[ROW_SIZES] = {4, 128, 256, 512};
enum { MOST_WORDS = 1 << 20, MOST_WORK = 1 << 28 };   /* of sets, kept and looked at: past that,
                                                         each register has a row of its own */
static uint32_t round_row(uint32_t at) { return (at + 63) / 64 * 64; }

static unsigned size_class(const struct ptx_function *p, uint32_t reg)
{
  unsigned bits = ptx_type_bits(p->regs[reg].type);
  return bits == 1 ? 0 : bits <= 32 ? 1 : bits <= 64 ? 2 : 3;
}

#define NEVER UINT32_MAX
struct life {
  uint32_t first, last;        /* instructions; NEVER: it is not named */
  uint32_t seen;               /* the block that has last written it, whole, before this place */
  uint32_t across;             /* its number among those that some block reads before it writes */
  bool own;                    /* may be read before it is written */
};

struct lives {
  const struct fuse *z;
  struct life *life;
  uint32_t block, inst;        /* where the walk is */
  bool writes;                 /* at what the instruction writes */
  uint32_t nacross, words;     /* words: of a set of them */
  uint64_t *gen, *kill, *in;   /* [block][words] */
};

static bool guarded(const struct lives *v) { return v->z->f->insts[v->inst].guard != PTX_NOREG; }

static void widen(struct life *l, uint32_t inst)
{
  if (l->first == NEVER || inst < l->first) l->first = inst;
  if (l->last == NEVER || inst > l->last) l->last = inst;
}

/* A guarded write keeps what the other lanes had: it is a read as well. */
static void note_place(void *data, uint32_t reg, bool written)
{
  struct lives *v = data;
  if (reg >= v->z->f->nregs || written != v->writes) return;
  struct life *l = &v->life[reg];
  widen(l, v->inst);
  if (written && !guarded(v)) l->seen = v->block;
  else if (l->seen != v->block && l->across == NEVER) l->across = v->nacross++;
}

static void note_sets(void *data, uint32_t reg, bool written)
{
  struct lives *v = data;
  if (reg >= v->z->f->nregs || written != v->writes) return;
  uint32_t a = v->life[reg].across;
  if (a == NEVER) return;
  size_t at = (size_t)v->block * v->words + a / 64;
  uint64_t bit = 1ull << a % 64;
  if (written && !guarded(v)) v->kill[at] |= bit;
  else if (!(v->kill[at] & bit)) v->gen[at] |= bit;
}

/* Each instruction in the order of the code: what it reads, then what it writes. */
static void walk(struct lives *v, fuse_visit *visit)
{
  const struct ptx_function *f = v->z->f;
  for (v->block = 0; v->block < v->z->nblocks; v->block++)
    for (v->inst = v->z->blocks[v->block].first; v->inst < v->z->blocks[v->block].end; v->inst++) {
      v->writes = false;
      fuse_registers(f, &f->insts[v->inst], visit, v);
      v->writes = true;
      fuse_registers(f, &f->insts[v->inst], visit, v);
    }
}

/* live-in = gen | (live-out & ~kill), until nothing changes.  False: too much work. */
static bool flow_back(struct lives *v)
{
  const struct fuse *z = v->z;
  uint64_t work = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = z->nblocks; b-- > 0;) {
      const struct fuse_block *k = &z->blocks[b];
      work += (uint64_t)v->words * (k->nsucc + 1);
      if (work > MOST_WORK) return false;
      for (uint32_t n = 0; n < v->words; n++) {
        size_t at = (size_t)b * v->words + n;
        uint64_t out = 0;
        for (uint32_t s = 0; s < k->nsucc; s++)
          out |= v->in[(size_t)z->edges[k->succ + s] * v->words + n];
        uint64_t in = v->gen[at] | (out & ~v->kill[at]);
        changed |= in != v->in[at];
        v->in[at] = in;
      }
    }
  }
  return true;
}

/* What lives across blocks lives from the start of each block it is live into, and to the end of those
 * before it. */
static void stretch(struct lives *v, const uint32_t *reg_of)
{
  const struct fuse *z = v->z;
  for (uint32_t b = 0; b < z->nblocks; b++) {
    const struct fuse_block *k = &z->blocks[b];
    for (uint32_t n = 0; n < v->words; n++)
      for (uint64_t m = v->in[(size_t)b * v->words + n]; m; m &= m - 1) {
        struct life *l = &v->life[reg_of[64 * n + (uint32_t)__builtin_ctzll(m)]];
        widen(l, k->first);
        for (uint32_t p = 0; p < k->npred; p++) widen(l, z->blocks[z->edges[k->pred + p]].end - 1);
        if (b == 0) l->own = true;
      }
  }
}

/* False: there are too many to find out. */
static bool find_lives(struct lives *v)
{
  const struct fuse *z = v->z;
  for (uint32_t r = 0; r < z->f->nregs; r++)
    v->life[r] = (struct life){NEVER, NEVER, NEVER, NEVER, false};
  walk(v, note_place);
  v->words = (v->nacross + 63) / 64;
  size_t words = (size_t)z->nblocks * v->words;
  if (words > MOST_WORDS) return false;
  uint32_t *reg_of = malloc((v->nacross + 1) * sizeof *reg_of);
  v->gen = calloc(3 * words + 1, sizeof *v->gen);
  bool ok = reg_of && v->gen;
  if (ok) {
    v->kill = v->gen + words;
    v->in = v->kill + words;
    walk(v, note_sets);
    ok = flow_back(v);
  }
  for (uint32_t r = 0; ok && r < z->f->nregs; r++)
    if (v->life[r].across != NEVER) reg_of[v->life[r].across] = r;
  if (ok) stretch(v, reg_of);
  free(v->gen);
  free(reg_of);
  return ok;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Registers in lists: by the instruction where their lives begin, or end. */
struct lists {
  uint32_t *first, *next;      /* by instruction; by register */
};

static bool lists_make(struct lists *s, uint32_t ninsts, uint32_t nregs)
{
  s->first = malloc((ninsts + 1) * sizeof *s->first);
  s->next = malloc((nregs + 1) * sizeof *s->next);
  for (uint32_t k = 0; s->first && k < ninsts; k++) s->first[k] = NEVER;
  return s->first && s->next;
}

static void lists_add(struct lists *s, uint32_t inst, uint32_t reg)
{
  s->next[reg] = s->first[inst];
  s->first[inst] = reg;
}

static void lists_free(struct lists *s)
{
  free(s->first);
  free(s->next);
}

/* Gives the registers that share rows a number each, of a row of their size; the one freed last is
 * taken first, as it is the nearest in the host's cache. */
static bool share(const struct ptx_function *p, const struct life *life, uint32_t *slot,
                  uint32_t nslots[ROW_SIZES])
{
  struct lists begin = {NULL, NULL}, end = {NULL, NULL};
  uint32_t *spare = malloc((p->nregs + 1) * ROW_SIZES * sizeof *spare), nspare[ROW_SIZES] = {0};
  bool ok = lists_make(&begin, (uint32_t)p->ninsts, (uint32_t)p->nregs) && spare &&
            lists_make(&end, (uint32_t)p->ninsts, (uint32_t)p->nregs);
  for (uint32_t r = (uint32_t)p->nregs; ok && r-- > 0;) {
    if (life[r].first == NEVER || life[r].own) continue;
    lists_add(&begin, life[r].first, r);
    lists_add(&end, life[r].last, r);
  }
  for (uint32_t i = 0; ok && i < p->ninsts; i++) {
    for (uint32_t r = begin.first[i]; r != NEVER; r = begin.next[r]) {
      unsigned c = size_class(p, r);
      slot[r] = nspare[c] ? spare[c * (p->nregs + 1) + --nspare[c]] : nslots[c]++;
    }
    for (uint32_t r = end.first[i]; r != NEVER; r = end.next[r]) {
      unsigned c = size_class(p, r);
      spare[c * (p->nregs + 1) + nspare[c]++] = slot[r];
    }
  }
  lists_free(&begin);
  lists_free(&end);
  free(spare);
  return ok;
}

void lower_registers(struct sim_func *f, bool share_rows)
{
  const struct ptx_function *p = f->ptx;
  struct fuse z = {.f = p};
  uint32_t *slot = malloc((p->nregs + 1) * sizeof *slot), nslots[ROW_SIZES] = {0};
  struct lives v = {.z = &z, .life = malloc((p->nregs + 1) * sizeof *v.life)};
  f->regs = calloc(p->nregs + 1, sizeof *f->regs);
  if (!slot || !v.life || !f->regs) abort();
  share_rows = share_rows && p->ninsts && fuse_blocks(&z) && find_lives(&v) &&
               share(p, v.life, slot, nslots);
  fuse_free(&z);
  uint32_t next = SINK_BYTES;   /* what `_` receives */
  for (unsigned c = 0; c < ROW_SIZES; c++) {
    next = round_row(next);
    for (uint32_t r = 0; r < p->nregs; r++) {
      if (size_class(p, r) != c || (share_rows && !v.life[r].own)) continue;
      f->regs[r] = next;
      next += row_sizes[c];
    }
  }
  f->filled_bytes = round_row(next);
  for (unsigned c = 0; share_rows && c < ROW_SIZES; c++) {
    next = round_row(next);
    for (uint32_t r = 0; r < p->nregs; r++)
      if (size_class(p, r) == c && v.life[r].first != NEVER && !v.life[r].own)
        f->regs[r] = next + slot[r] * row_sizes[c];
    next += nslots[c] * row_sizes[c];
  }
  f->frame_bytes = round_row(next);
  free(slot);
  free(v.life);
}
