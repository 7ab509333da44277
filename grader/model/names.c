/* Operations and rules by name.
 *
 * A name is a list of parts between dots, as PTX writes instructions: the first part says what
 * kind, every other part must be one we know, in any order.  What an atomic costs is decided by
 * its operation and type together, so those two are collected and looked up at the end. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum part {
  PART_NONE,      /* changes nothing about the cost: .relaxed .cta .noftz .trans ... */
  PART_SHARED, PART_GLOBAL,
  PART_TYPE,      /* value: bytes, kind 'i' integer or bits, 'f' float */
  PART_VECTOR,    /* value: elements */
  PART_MATRICES,  /* value: 1, 2, 4 */
  PART_ATOMIC,    /* value: enum family */
  PART_ONE,
  PART_SIZE       /* value: bytes, cp.async */
};

enum family { FAMILY_ADD = 1, FAMILY_SELECT, FAMILY_EXCH, FAMILY_CAS };

static const struct word {
  const char *text;
  uint8_t part, value;
  char kind;
} words[] = {
  {"shared", PART_SHARED, 0, 0}, {"shared::cta", PART_SHARED, 0, 0},
  {"shared::cluster", PART_SHARED, 0, 0}, {"global", PART_GLOBAL, 0, 0},
  {"u8", PART_TYPE, 1, 'i'}, {"s8", PART_TYPE, 1, 'i'}, {"b8", PART_TYPE, 1, 'i'},
  {"u16", PART_TYPE, 2, 'i'}, {"s16", PART_TYPE, 2, 'i'}, {"b16", PART_TYPE, 2, 'i'},
  {"u32", PART_TYPE, 4, 'i'}, {"s32", PART_TYPE, 4, 'i'}, {"b32", PART_TYPE, 4, 'i'},
  {"u64", PART_TYPE, 8, 'i'}, {"s64", PART_TYPE, 8, 'i'}, {"b64", PART_TYPE, 8, 'i'},
  {"b128", PART_TYPE, 16, 'i'},
  {"f16", PART_TYPE, 2, 'f'}, {"bf16", PART_TYPE, 2, 'f'}, {"f16x2", PART_TYPE, 4, 'f'},
  {"bf16x2", PART_TYPE, 4, 'f'}, {"f32", PART_TYPE, 4, 'f'}, {"f64", PART_TYPE, 8, 'f'},
  {"v2", PART_VECTOR, 2, 0}, {"v4", PART_VECTOR, 4, 0}, {"v8", PART_VECTOR, 8, 0},
  {"x1", PART_MATRICES, 1, 0}, {"x2", PART_MATRICES, 2, 0}, {"x4", PART_MATRICES, 4, 0},
  {"add", PART_ATOMIC, FAMILY_ADD, 0}, {"inc", PART_ATOMIC, FAMILY_SELECT, 0},
  {"dec", PART_ATOMIC, FAMILY_SELECT, 0}, {"min", PART_ATOMIC, FAMILY_SELECT, 0},
  {"max", PART_ATOMIC, FAMILY_SELECT, 0}, {"and", PART_ATOMIC, FAMILY_SELECT, 0},
  {"or", PART_ATOMIC, FAMILY_SELECT, 0}, {"xor", PART_ATOMIC, FAMILY_SELECT, 0},
  {"exch", PART_ATOMIC, FAMILY_EXCH, 0}, {"cas", PART_ATOMIC, FAMILY_CAS, 0},
  {"one", PART_ONE, 0, 0},
  {"4", PART_SIZE, 4, 0}, {"8", PART_SIZE, 8, 0}, {"16", PART_SIZE, 16, 0},
  {"trans", PART_NONE, 0, 0}, {"sync", PART_NONE, 0, 0}, {"aligned", PART_NONE, 0, 0},
  {"m8n8", PART_NONE, 0, 0}, {"relaxed", PART_NONE, 0, 0}, {"acquire", PART_NONE, 0, 0},
  {"release", PART_NONE, 0, 0}, {"acq_rel", PART_NONE, 0, 0}, {"volatile", PART_NONE, 0, 0},
  {"weak", PART_NONE, 0, 0}, {"cta", PART_NONE, 0, 0}, {"cluster", PART_NONE, 0, 0},
  {"gpu", PART_NONE, 0, 0}, {"sys", PART_NONE, 0, 0}, {"noftz", PART_NONE, 0, 0},
  {"nc", PART_NONE, 0, 0}, {"ca", PART_NONE, 0, 0}, {"cg", PART_NONE, 0, 0},
  {"cs", PART_NONE, 0, 0}, {"wb", PART_NONE, 0, 0}, {"wt", PART_NONE, 0, 0},
};

struct parts {
  unsigned bytes, vector, matrices, family, size;
  char kind;
  bool shared, global, one;
};

static bool read_parts(const char *text, struct parts *p)
{
  memset(p, 0, sizeof *p);
  while (*text) {
    if (*text++ != '.') return false;
    size_t length = strcspn(text, "."), i = 0, count = sizeof words / sizeof *words;
    while (i < count && (strlen(words[i].text) != length || memcmp(words[i].text, text, length)))
      i++;
    if (i == count) return false;
    const struct word *w = &words[i];
    unsigned *once = NULL;   /* a part that may be given one time */
    switch ((enum part)w->part) {
    case PART_NONE: break;
    case PART_SHARED: p->shared = true; break;
    case PART_GLOBAL: p->global = true; break;
    case PART_ONE: p->one = true; break;
    case PART_TYPE: once = &p->bytes; p->kind = w->kind; break;
    case PART_VECTOR: once = &p->vector; break;
    case PART_MATRICES: once = &p->matrices; break;
    case PART_ATOMIC: once = &p->family; break;
    case PART_SIZE: once = &p->size; break;
    }
    if (once && *once) return false;
    if (once) *once = w->value;
    text += length;
  }
  return !(p->shared && p->global);
}

static bool atomic(const struct parts *p, bool has_result, enum model_op *op)
{
  if (!p->family || !p->bytes || p->global || p->vector || p->matrices || p->size) return false;
  if (p->family == FAMILY_CAS || p->family == FAMILY_EXCH) {
    if (!has_result || p->bytes < 2 || p->kind != 'i' || p->one) return false;
    *op = p->family == FAMILY_CAS ? MODEL_ATOM_CAS : MODEL_ATOM_NATIVE;
    return p->family == FAMILY_CAS || p->bytes >= 4;
  }
  if (p->bytes == 8) {
    *op = MODEL_ATOM_LOOP64;
  } else if (p->kind == 'f') {
    *op = MODEL_ATOM_LOOP;
  } else if (p->bytes == 4) {
    /* A result that is used needs each lane's own old value, so only red counts by popcount. */
    *op = p->one && p->family == FAMILY_ADD && !has_result ? MODEL_ATOM_ONE : MODEL_ATOM_NATIVE;
  } else {
    return false;
  }
  return !p->one || p->family == FAMILY_ADD;
}

/* The rest of `name` after `head`, when the head ends at a dot or at the end. */
static const char *after(const char *name, const char *head)
{
  size_t n = strlen(head);
  return !strncmp(name, head, n) && (name[n] == '.' || !name[n]) ? name + n : NULL;
}

bool model_op_parse(const char *name, enum model_op *op, uint32_t *width)
{
  static const struct head {
    const char *text;
    enum { PLAIN, MATRIX, ATOM, RED, ASYNC } shape;
    enum model_op shared, global;
  } heads[] = {
    {"load", PLAIN, MODEL_LOAD, MODEL_GLOBAL_LOAD}, {"ld", PLAIN, MODEL_LOAD, MODEL_GLOBAL_LOAD},
    {"store", PLAIN, MODEL_STORE, MODEL_GLOBAL_STORE},
    {"st", PLAIN, MODEL_STORE, MODEL_GLOBAL_STORE},
    {"global.load", PLAIN, MODEL_GLOBAL_LOAD, MODEL_GLOBAL_LOAD},
    {"global.store", PLAIN, MODEL_GLOBAL_STORE, MODEL_GLOBAL_STORE},
    {"shared.load", PLAIN, MODEL_LOAD, MODEL_LOAD},
    {"shared.store", PLAIN, MODEL_STORE, MODEL_STORE},
    {"ldmatrix", MATRIX, MODEL_LDMATRIX_X1, 0}, {"stmatrix", MATRIX, MODEL_STMATRIX_X1, 0},
    {"atom", ATOM, 0, 0}, {"red", RED, 0, 0}, {"cp.async", ASYNC, MODEL_CP_ASYNC, 0},
  };
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    const struct head *h = &heads[i];
    const char *rest = after(name, h->text);
    struct parts p;
    if (!rest) continue;
    if (h->shape == ASYNC) {   /* names both spaces; the shared side is what we price */
      const char *both = after(rest, ".ca") ? ".ca" : after(rest, ".cg") ? ".cg" : "";
      rest += strlen(both);
      if (after(rest, ".shared.global")) rest += strlen(".shared.global");
    }
    if (!read_parts(rest, &p)) return false;
    switch (h->shape) {
    case PLAIN:
      if (p.matrices || p.family || p.size || p.one || (p.vector && !p.bytes)) return false;
      *op = p.global ? h->global : h->shared;
      *width = p.bytes * (p.vector ? p.vector : 1);
      return *width <= 16;
    case MATRIX:
      if (!p.matrices || p.family || p.size || p.one || p.vector || p.global) return false;
      *op = (enum model_op)(h->shared + (p.matrices == 4 ? 2 : p.matrices - 1));
      *width = 16;
      return true;
    case ATOM: case RED:
      *width = p.bytes;
      return atomic(&p, h->shape == ATOM, op);
    case ASYNC:
      if (p.matrices || p.family || p.one || p.vector || p.bytes || p.global) return false;
      *op = h->shared;
      *width = p.size;
      return true;
    }
  }
  return false;
}

const char *model_op_name(enum model_op op)
{
  static const char *const names[MODEL_OPS] = {
    [MODEL_LOAD] = "load", [MODEL_STORE] = "store",
    [MODEL_LDMATRIX_X1] = "ldmatrix.x1", [MODEL_LDMATRIX_X2] = "ldmatrix.x2",
    [MODEL_LDMATRIX_X4] = "ldmatrix.x4", [MODEL_STMATRIX_X1] = "stmatrix.x1",
    [MODEL_STMATRIX_X2] = "stmatrix.x2", [MODEL_STMATRIX_X4] = "stmatrix.x4",
    [MODEL_ATOM_NATIVE] = "atom.add.u32", [MODEL_ATOM_ONE] = "red.add.u32.one",
    [MODEL_ATOM_CAS] = "atom.cas.b32", [MODEL_ATOM_LOOP] = "atom.add.f32",
    [MODEL_ATOM_LOOP64] = "atom.add.f64", [MODEL_CP_ASYNC] = "cp.async",
    [MODEL_GLOBAL_LOAD] = "global.load", [MODEL_GLOBAL_STORE] = "global.store",
  };
  return (unsigned)op < MODEL_OPS ? names[op] : "unknown";
}

const char *model_rule_text(enum model_rule rule)
{
  switch (rule) {
  case MODEL_RULE_WORDS:
    return "1, 2 or 4 bytes a lane: all 32 lanes are served together, and the bank with the most "
           "distinct words decides. Lanes on the same word share it for free.";
  case MODEL_RULE_PHASES:
    return "8 or 16 bytes a lane: 16 or 8 neighbouring lanes at a time form a phase, and the "
           "fullest bank of each phase is added up. Lanes of different phases never collide.";
  case MODEL_RULE_MERGED:
    return "Wide load with pair merge: in the whole warp every active lane t reads what lane t^1 "
           "reads (or all do with t^2; an inactive partner counts as equal), so phases are joined "
           "two by two. Stores never do this.";
  case MODEL_RULE_ROWS:
    return "ldmatrix or stmatrix: each group of 8 row addresses of 16 bytes is a phase; the "
           "fullest bank of each phase is added up.";
  case MODEL_RULE_ATOM_LANES:
    return "Atomic with a native form: each lane needs its own turn, so the bank with the most "
           "lanes decides, also when they share one word.";
  case MODEL_RULE_ATOM_WORDS:
    return "Adding 1 without using the result: the hardware adds up the lanes of a word first, "
           "so it costs what a store costs - the most distinct words in one bank.";
  case MODEL_RULE_ATOM_CAS:
    return "Compare-and-swap: each lane needs its own turn and a turn takes two wavefronts, so "
           "twice the most lanes in one bank.";
  case MODEL_RULE_ATOM_ROUNDS:
    return "No native form: a loop of load and compare-and-swap. In each round every bank "
           "finishes its lowest waiting lane; a round costs the load of the waiting lanes plus 2 "
           "a phase. Other warps on the same addresses make it more.";
  case MODEL_RULE_ASYNC:
    return "cp.async: 8 neighbouring lanes form a phase, and lanes are counted, not words: equal "
           "addresses do not merge. Below 16 bytes a lane it costs at least 4 wavefronts.";
  case MODEL_RULE_SECTORS:
    return "Global memory: what is moved are sectors of 32 bytes; the distinct sectors that "
           "active lanes touch are counted.";
  case MODEL_RULE_NOTHING:
    return "No lane takes part, so nothing is moved.";
  }
  return "unknown rule";
}
