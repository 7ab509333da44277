/* The tables of ops.def and mods.def made ready: text -> row, and each row's forms as bit sets.
 * Compiled once for the process; afterwards read only. */
#include "ptx/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 20, SHAPE = 10, WORDS_SIZE = 2048 };

struct row {
  const char *text, *shape, *mods, *types, *meaning;
  uint16_t first_form, nforms;
};

static struct row rows[] = {
#define PTX_OP(name, text, shape, mods, types, meaning) \
  { text, shape, mods, types, meaning, 0, 0 },
#include "ptx/ops.def"
#undef PTX_OP
};

struct form_text {
  uint16_t op;
  const char *shape, *mods, *types;
};

static const struct form_text form_texts[] = {
#define PTX_OP(name, text, shape, mods, types, meaning) { PTX_##name, shape, mods, types },
#define PTX_FORM(name, shape, mods, types) { PTX_##name, shape, mods, types },
#include "ptx/ops.def"
#undef PTX_OP
};

struct group {
  uint64_t mods[PTX_MOD_WORDS];
  bool required;
};

struct form {
  const struct form_text *text;
  bool any_mods, any_types;
  unsigned ngroups, ntypes, nshape;
  struct group groups[GROUPS];
  uint64_t types[PTX_TYPES_MAX];
  bool optional_type[PTX_TYPES_MAX];
  char shape[SHAPE][8];
  bool optional[SHAPE], rest;
};


static struct form forms[sizeof form_texts / sizeof *form_texts];

static const char *const mod_texts[] = {
#define PTX_MOD(name, text) text,
#define PTX_TYPE(name, text, bits, kind)
#include "ptx/mods.def"
#undef PTX_MOD
#undef PTX_TYPE
};

static const struct {
  const char *text;
  uint16_t bits;
  uint8_t kind;
} types[] = {
  { "", 0, PTX_BITS },
#define PTX_MOD(name, text)
#define PTX_TYPE(name, text, bits, kind) { text, bits, kind },
#include "ptx/mods.def"
#undef PTX_MOD
#undef PTX_TYPE
};

static const char *const special_texts[] = {
#define PTX_SPECIAL(name, text, type) text,
#include "ptx/specials.def"
#undef PTX_SPECIAL
};

_Static_assert(PTX_MODS <= PTX_MOD_WORDS * 64, "PTX_MOD_WORDS is too small");
_Static_assert(PTX_TYPES <= 64, "a set of types no longer fits 64 bits");

/* One open-addressed table for all fixed words. */
enum word_kind { W_NONE, W_OP, W_MOD, W_TYPE, W_SPECIAL };

static struct word {
  const char *text;
  uint16_t index;
  uint8_t kind;
} words[WORDS_SIZE];

static void word_add(const char *text, enum word_kind kind, unsigned index)
{
  struct span s = { text, strlen(text) };
  size_t i = ptx_hash(s, kind) % WORDS_SIZE;
  while (words[i].text) i = (i + 1) % WORDS_SIZE;
  words[i] = (struct word){ text, (uint16_t)index, kind };
}

static int word_find(struct span s, enum word_kind kind)
{
  for (size_t i = ptx_hash(s, kind) % WORDS_SIZE; words[i].text; i = (i + 1) % WORDS_SIZE)
    if (words[i].kind == kind && ptx_equal(s, words[i].text)) return words[i].index;
  return -1;
}

enum ptx_mod ptx_mod_of(struct span s)
{
  int i = word_find(s, W_MOD);
  return i < 0 ? PTX_MODS : (enum ptx_mod)i;
}

enum ptx_type ptx_type_of(struct span s)
{
  int i = word_find(s, W_TYPE);
  return i < 0 ? PTX_NOTYPE : (enum ptx_type)i;
}

int ptx_special_of(struct span s) { return word_find(s, W_SPECIAL); }

/* The next word of a row's text, up to one of `stops`; false at the end. */
static bool next_word(const char **at, const char *stops, struct span *s)
{
  *at += strspn(*at, stops);
  s->s = *at;
  s->n = strcspn(*at, stops);
  *at += s->n;
  return s->n > 0;
}

static void broken_row(const struct form_text *t, struct span s)
{
  fprintf(stderr, "ops.def: row %s: '%.*s'\n", rows[t->op].text, (int)s.n, s.s);
  abort();
}

static uint64_t type_set(const struct form_text *t, struct span column)
{
  static const struct {
    const char *name, *members;
  } sets[] = {
    { "int", "u16|u32|u64|s16|s32|s64" },
    { "bits", "b16|b32|b64" },
    { "plain", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64|b128|f16|f16x2|bf16|bf16x2" },
  };
  uint64_t set = 0;
  const char *at = column.s, *end = column.s + column.n;
  for (struct span s; at < end && next_word(&at, "| ?", &s) && s.s < end;) {
    bool found = false;
    for (size_t i = 0; i < sizeof sets / sizeof *sets && !found; i++)
      if (ptx_equal(s, sets[i].name)) {
        struct span members = { sets[i].members, strlen(sets[i].members) };
        set |= type_set(t, members);
        found = true;
      }
    enum ptx_type type = ptx_type_of(s);
    if (!found && type == PTX_NOTYPE) broken_row(t, s);
    if (!found) set |= (uint64_t)1 << type;
  }
  return set;
}

static void compile_form(struct form *f, const struct form_text *t)
{
  struct span s, m;
  f->text = t;
  f->any_mods = !strcmp(t->mods, "*");
  f->any_types = !strcmp(t->types, "*");
  for (const char *at = t->mods; !f->any_mods && next_word(&at, " ", &s); f->ngroups++) {
    if (f->ngroups == GROUPS) broken_row(t, s);
    struct group *g = &f->groups[f->ngroups];
    g->required = s.s[s.n - 1] == '!';
    for (const char *in = s.s; in < s.s + s.n && next_word(&in, "|! ", &m) && m.s < s.s + s.n;) {
      enum ptx_mod mod = ptx_mod_of(m);
      if (mod == PTX_MODS) broken_row(t, m);
      g->mods[mod / 64] |= (uint64_t)1 << mod % 64;
    }
  }
  for (const char *at = t->types; !f->any_types && next_word(&at, " ", &s); f->ntypes++) {
    if (f->ntypes == PTX_TYPES_MAX) broken_row(t, s);
    f->types[f->ntypes] = type_set(t, s);
    f->optional_type[f->ntypes] = s.s[s.n - 1] == '?';
  }
  for (const char *at = t->shape; next_word(&at, " ", &s);) {
    if (ptx_equal(s, "...")) {
      f->rest = true;
      continue;
    }
    if (f->nshape == SHAPE || s.n > 7) broken_row(t, s);
    f->optional[f->nshape] = s.s[s.n - 1] == '?';
    memcpy(f->shape[f->nshape], s.s, s.n - f->optional[f->nshape]);
    f->nshape++;
  }
}

static void compile(void)
{
  for (unsigned i = 0; i < PTX_OPS; i++) word_add(rows[i].text, W_OP, i);
  for (unsigned i = 0; i < PTX_MODS; i++) word_add(mod_texts[i], W_MOD, i);
  for (unsigned i = 1; i < PTX_TYPES; i++) word_add(types[i].text, W_TYPE, i);
  for (unsigned i = 0; i < PTX_SPECIALS; i++) word_add(special_texts[i], W_SPECIAL, i);
  for (size_t i = 0; i < sizeof form_texts / sizeof *form_texts; i++) {
    struct row *row = &rows[form_texts[i].op];
    if (!row->nforms++) row->first_form = (uint16_t)i;
    compile_form(&forms[i], &form_texts[i]);
  }
}

void ptx_rows_ready(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, compile);
}

const char *ptx_op_text(enum ptx_op op) { return (unsigned)op < PTX_OPS ? rows[op].text : "?"; }
const char *ptx_mod_text(enum ptx_mod m) { return (unsigned)m < PTX_MODS ? mod_texts[m] : "?"; }
const char *ptx_type_text(enum ptx_type t)
{
  return (unsigned)t < PTX_TYPES ? types[t].text : "?";
}
unsigned ptx_type_bits(enum ptx_type t) { return (unsigned)t < PTX_TYPES ? types[t].bits : 0; }
enum ptx_kind ptx_type_kind(enum ptx_type t)
{
  return (unsigned)t < PTX_TYPES ? (enum ptx_kind)types[t].kind : PTX_BITS;
}

/* Whether a form allows these modifiers, in the order written, and these types. */
static bool mods_fit(const struct form *f, const uint16_t *mods, unsigned n)
{
  uint32_t taken = 0;
  if (f->any_mods) return true;
  for (unsigned i = 0; i < n; i++) {
    unsigned g = 0;
    while (g < f->ngroups &&
           (taken >> g & 1 || !(f->groups[g].mods[mods[i] / 64] >> (mods[i] % 64) & 1)))
      g++;
    if (g == f->ngroups) return false;
    taken |= 1u << g;
  }
  for (unsigned g = 0; g < f->ngroups; g++)
    if (f->groups[g].required && !(taken >> g & 1)) return false;
  return true;
}

static bool types_fit(const struct form *f, const struct mnemonic *m)
{
  unsigned at = 0;
  if (f->any_types) return true;
  for (unsigned i = 0; i < f->ntypes; i++) {
    if (at < m->ntypes && f->types[i] >> m->types[at] & 1) at++;
    else if (!f->optional_type[i]) return false;
  }
  return at == m->ntypes;
}

struct text {
  char *at;
  size_t left;
};

static void put(struct text *t, const char *s, size_t n)
{
  if (n >= t->left) n = t->left - 1;
  memcpy(t->at, s, n);
  t->at += n;
  t->left -= n;
  *t->at = 0;
}

/* The forms of a row as the manual writes them: add{.sat}.s32 or add{.rn|.rz}.f32 */
static void describe_forms(enum ptx_op op, char *out, size_t size)
{
  struct text t = { out, size };
  for (unsigned i = 0; i < rows[op].nforms; i++) {
    const struct form *f = &forms[rows[op].first_form + i];
    struct span s;
    bool seen = false;
    for (unsigned j = 0; j < i; j++) {
      const struct form *g = &forms[rows[op].first_form + j];
      seen |= !strcmp(g->text->mods, f->text->mods) && !strcmp(g->text->types, f->text->types);
    }
    if (seen) continue;
    if (i) put(&t, " or ", 4);
    put(&t, rows[op].text, strlen(rows[op].text));
    for (const char *at = f->text->mods; next_word(&at, " ", &s);) {
      bool required = s.s[s.n - 1] == '!' || f->any_mods;
      put(&t, required ? "." : "{.", required ? 1 : 2);
      put(&t, s.s, s.n - (s.s[s.n - 1] == '!'));
      if (!required) put(&t, "}", 1);
    }
    for (const char *at = f->text->types; next_word(&at, " ", &s);) {
      put(&t, ".", 1);
      put(&t, s.s, s.n);
    }
  }
  if (t.left == 1 && size > 4) strcpy(out + size - 4, "...");
}

static enum ptx_space space_of(enum ptx_mod m)
{
  switch (m) {
  case PTX_M_CONST: return PTX_CONST;
  case PTX_M_GLOBAL: return PTX_GLOBAL;
  case PTX_M_LOCAL: return PTX_LOCAL;
  case PTX_M_PARAM: case PTX_M_PARAM_ENTRY: case PTX_M_PARAM_FUNC: return PTX_PARAM;
  case PTX_M_SHARED: case PTX_M_SHARED_CTA: case PTX_M_SHARED_CLUSTER: return PTX_SHARED;
  default: return PTX_GENERIC;
  }
}

/* .m64n128k16: the shapes of wgmma are too many for a row each; the text keeps the numbers. */
static bool is_wgmma_shape(struct span s)
{
  unsigned n, k;
  int used = 0;
  char copy[16] = "";
  if (s.n >= sizeof copy) return false;
  memcpy(copy, s.s, s.n);
  return sscanf(copy, "m64n%3uk%3u%n", &n, &k, &used) == 2 && used == (int)s.n;
}

static int find_op(struct span text, size_t *used)
{
  size_t ends[8], n = 0;
  for (size_t i = 1; i < text.n && n < 7; i++)
    if (text.s[i] == '.') ends[n++] = i;
  if (n < 7) ends[n++] = text.n;
  while (n-- > 0) {
    int op = word_find((struct span){ text.s, ends[n] }, W_OP);
    *used = ends[n];
    if (op >= 0) return op;
  }
  return -1;
}

struct mnemonic *ptx_mnemonic(struct reader *r, struct span text, uint32_t line)
{
  struct mnemonic **bucket = &r->mnemonics[ptx_hash(text, 0) & 255];
  for (struct mnemonic *m = *bucket; m; m = m->next)
    if (ptx_equal(text, m->text)) return m;

  char accepted[380];
  size_t used;
  int clip = text.n > 80 ? 80 : (int)text.n;
  int op = find_op(text, &used);
  if (op < 0) ptx_fail(r, line, "'%.*s' is no PTX instruction", clip, text.s);
  struct mnemonic *m = ptx_alloc(r, 1, sizeof *m);
  m->text = ptx_text(r, text);
  m->op = (enum ptx_op)op;
  m->vector = 1;
  uint16_t mods[32];
  unsigned nmods = 0;
  for (const char *at = m->text + used; *at;) {
    struct span s;
    if (!next_word(&at, ".", &s)) break;
    enum ptx_mod mod = ptx_mod_of(s);
    enum ptx_type type = ptx_type_of(s);
    if (mod == PTX_MODS && is_wgmma_shape(s)) mod = PTX_M_M64;
    if (mod == PTX_MODS && type == PTX_NOTYPE) {
      describe_forms(m->op, accepted, sizeof accepted);
      ptx_fail(r, line, "'%.*s': '.%.*s' is no modifier or type of PTX; accepted: %s", clip,
               text.s, s.n > 40 ? 40 : (int)s.n, s.s, accepted);
    }
    if (mod != PTX_MODS) {
      if (nmods == 32) ptx_fail(r, line, "'%.*s' has too many modifiers", clip, text.s);
      mods[nmods++] = (uint16_t)mod;
      m->mods[mod / 64] |= (uint64_t)1 << mod % 64;
      if (!m->space) m->space = (uint8_t)space_of(mod);
      if (mod == PTX_M_V2) m->vector = 2;
      if (mod == PTX_M_V4) m->vector = 4;
      if (mod == PTX_M_V8) m->vector = 8;
    } else {
      if (m->ntypes == PTX_TYPES_MAX)
        ptx_fail(r, line, "'%.*s' has more than %d types", clip, text.s, PTX_TYPES_MAX);
      m->types[m->ntypes++] = (uint8_t)type;
    }
  }
  for (unsigned i = 0; i < rows[op].nforms; i++) {
    const struct form *f = &forms[rows[op].first_form + i];
    if (mods_fit(f, mods, nmods) && types_fit(f, m)) m->forms |= 1u << i;
  }
  if (!m->forms) {
    describe_forms(m->op, accepted, sizeof accepted);
    ptx_fail(r, line, "'%.*s': these modifiers and types do not go together; accepted: %s", clip,
             text.s, accepted);
  }
  m->next = *bucket;
  *bucket = m;
  return m;
}

static bool is_pred(const struct reader *r, uint32_t reg)
{
  return reg < r->regs.n && r->regs.at[reg].type == PTX_T_PRED;
}

/* Whether an operand may stand at this place of the shape. */
static bool fits(const struct reader *r, const struct mnemonic *m, const char *shape,
                 const struct ptx_operand *o)
{
  bool pred = m->ntypes && m->types[0] == PTX_T_PRED &&
              (m->op == PTX_MOV || m->op == PTX_AND || m->op == PTX_OR || m->op == PTX_XOR ||
               m->op == PTX_NOT);
  bool address_taker = m->op == PTX_MOV || m->op == PTX_CVTA || m->op == PTX_ISSPACEP ||
                       m->op == PTX_MAPA || m->op == PTX_GETCTARANK;
  bool reg = o->kind == PTX_O_REG, sink = o->kind == PTX_O_SINK;
  bool second = reg || sink ? o->reg2 != PTX_NOREG : false;
  bool one = (reg && is_pred(r, o->reg) == pred && !o->negated) || sink;
  if (!strcmp(shape, "x")) return true;
  if (!strcmp(shape, "#")) return o->kind == PTX_O_IMM && !o->imm_float;
  if (!strcmp(shape, "[a]") || !strcmp(shape, "[b]") || !strcmp(shape, "[c]"))
    return o->kind == PTX_O_ADDRESS && !o->count;
  if (!strcmp(shape, "[t]")) return o->kind == PTX_O_ADDRESS && o->count;
  if (!strcmp(shape, "L")) return o->kind == PTX_O_LABEL;
  if (!strcmp(shape, "T")) return o->kind == PTX_O_TABLE;
  if (!strcmp(shape, "F")) return o->kind == PTX_O_FUNCTION || (reg && !is_pred(r, o->reg));
  if (!strcmp(shape, "(d)") || !strcmp(shape, "(a)")) return o->kind == PTX_O_PARAMS;
  if (!strcmp(shape, "p")) return ((reg && is_pred(r, o->reg) && !o->negated) || sink) && !second;
  if (!strcmp(shape, "s")) return (reg && is_pred(r, o->reg) && !second) || o->kind == PTX_O_IMM;
  if (!strcmp(shape, "p|q"))
    return ((reg && is_pred(r, o->reg) && !o->negated) || sink) &&
           (!second || is_pred(r, o->reg2));
  if (!strcmp(shape, "d|p"))
    return ((reg && !is_pred(r, o->reg)) || sink) && (!second || is_pred(r, o->reg2));
  if (!strcmp(shape, "d")) return one && !second;
  if (o->kind == PTX_O_VECTOR) {
    bool wanted = m->vector == 1 || o->count == m->vector;
    for (uint32_t i = 0; wanted && i < o->count; i++) {
      const struct ptx_operand *e = &r->pool.at[o->first + i];
      bool value = e->kind == PTX_O_REG || e->kind == PTX_O_SINK ||
                   (e->kind == PTX_O_IMM && strcmp(shape, "dv"));
      wanted = value && !(e->kind == PTX_O_REG && is_pred(r, e->reg) != pred);
    }
    return wanted && (!strcmp(shape, "dv") || !strcmp(shape, "av") || shape[0] == '{');
  }
  if (shape[0] == '{' || (m->vector > 1 && strstr(shape, "v"))) return false;
  if (!strcmp(shape, "dv")) return one && !second;
  /* The rest are sources: a b c e av. */
  if (reg) return one && !second;
  if (o->kind == PTX_O_SPECIAL) return m->op == PTX_MOV || m->op == PTX_CVT;
  if (o->kind == PTX_O_SYMBOL || o->kind == PTX_O_FUNCTION) return address_taker;
  return o->kind == PTX_O_IMM;
}

/* The operands against a shape.  Optional ones may be left out; a place already tried is not
 * tried again, since no shape has two ways to go on. */
static bool shape_fits(const struct reader *r, const struct mnemonic *m, const struct form *f,
                       const struct ptx_inst *inst, unsigned *bad)
{
  unsigned at = 0;
  for (unsigned i = 0; i < f->nshape; i++) {
    if (at < inst->noperands && fits(r, m, f->shape[i], &inst->operands[at])) {
      at++;
    } else if (!f->optional[i]) {
      *bad = at;
      return false;
    }
  }
  *bad = at;
  return f->rest || at == inst->noperands;
}

/* How wide the registers of an instruction are: all as wide as its type, or at least that wide (an
 * eight-bit load fills a wider register).  Instructions of mixed widths are not in this table. */
enum width { W_ANY, W_EQUAL, W_AT_LEAST };

static enum width width_rule(const struct mnemonic *m, unsigned place)
{
  if (m->op == PTX_CVT && place < 2) return W_AT_LEAST;
  if (m->ntypes != 1) return W_ANY;
  switch (m->op) {
  case PTX_ADD: case PTX_SUB: case PTX_FMA: case PTX_DIV: case PTX_REM: case PTX_MIN: case PTX_MAX:
  case PTX_ABS: case PTX_NEG: case PTX_SAD: case PTX_AND: case PTX_OR: case PTX_XOR: case PTX_NOT:
  case PTX_CNOT: case PTX_MOV: case PTX_RCP: case PTX_SQRT: case PTX_RSQRT: case PTX_SIN:
  case PTX_COS: case PTX_LG2: case PTX_EX2: case PTX_TANH: case PTX_BREV: case PTX_PRMT:
  case PTX_LOP3: case PTX_SHF: case PTX_ADDC: case PTX_SUBC: case PTX_COPYSIGN:
    return W_EQUAL;
  case PTX_MUL: case PTX_MAD:
    return m->mods[PTX_M_WIDE / 64] >> (PTX_M_WIDE % 64) & 1 ? W_ANY : W_EQUAL;
  case PTX_SHL: case PTX_SHR: case PTX_SELP: return place < 2 ? W_EQUAL : W_ANY;
  case PTX_SETP: return place == 1 || place == 2 ? W_EQUAL : W_ANY;
  case PTX_LD: case PTX_LDU: return place == 0 ? W_AT_LEAST : W_ANY;
  case PTX_ST: return place == 1 ? W_AT_LEAST : W_ANY;
  default: return W_ANY;
  }
}

static void check_width(struct reader *r, const struct mnemonic *m, const struct ptx_inst *inst,
                        unsigned place, const struct ptx_operand *o)
{
  enum width rule = width_rule(m, place);
  if (o->kind != PTX_O_REG || rule == W_ANY || is_pred(r, o->reg)) return;
  const struct ptx_reg *reg = &r->regs.at[o->reg];
  unsigned has = types[reg->type].bits;
  unsigned needs = types[m->types[m->op == PTX_CVT ? place : 0]].bits;
  if (rule == W_EQUAL ? has == needs : has >= needs) return;
  ptx_fail(r, inst->line, "'%.80s': %.80s is .%s; %s%u bits are needed", m->text, reg->name,
           types[reg->type].text, rule == W_EQUAL ? "" : "at least ", needs);
}

static void check_widths(struct reader *r, const struct mnemonic *m, const struct ptx_inst *inst)
{
  for (unsigned k = 0; k < inst->noperands; k++) {
    const struct ptx_operand *o = &inst->operands[k];
    check_width(r, m, inst, k, o);
    if (o->kind != PTX_O_VECTOR) continue;
    unsigned bits = 0;
    for (uint32_t i = 0; i < o->count; i++) {
      const struct ptx_operand *e = &r->pool.at[o->first + i];
      if (m->op != PTX_MOV) check_width(r, m, inst, k, e);
      else if (e->kind == PTX_O_REG) bits = types[r->regs.at[e->reg].type].bits;
    }
    if (m->op == PTX_MOV && bits && bits * o->count != types[m->types[0]].bits)
      ptx_fail(r, inst->line, "'%.80s': %u elements of %u bits are not %u bits", m->text, o->count,
               bits, types[m->types[0]].bits);
  }
}

void ptx_check_operands(struct reader *r, const struct mnemonic *m, const struct ptx_inst *inst)
{
  unsigned bad = 0, furthest = 0;
  const char *shape = "";
  bool shapeless = true;
  for (unsigned i = 0; i < rows[m->op].nforms; i++) {
    const struct form *f = &forms[rows[m->op].first_form + i];
    if (!(m->forms >> i & 1)) continue;
    if (shape_fits(r, m, f, inst, &bad)) {
      check_widths(r, m, inst);
      return;
    }
    if (shapeless || bad > furthest) {
      shape = f->text->shape;
      furthest = bad;
      shapeless = false;
    }
  }
  int clip = strlen(m->text) > 80 ? 80 : (int)strlen(m->text);
  if (furthest >= inst->noperands)
    ptx_fail(r, inst->line, "'%.*s' has too few operands; its operands are: %s", clip, m->text,
             *shape ? shape : "none");
  char found[128];
  struct ptx_function f = { .regs = r->regs.at, .nregs = r->regs.n, .pool = r->pool.at,
                            .npool = r->pool.n, .tables = r->tables.at, .ntables = r->tables.n };
  ptx_print_operand(&f, &inst->operands[furthest], found, sizeof found);
  ptx_fail(r, inst->line, "'%.*s': operand %u, %s, cannot stand there; its operands are: %s", clip,
           m->text, furthest + 1, found, *shape ? shape : "none");
}

/* The docs page's view of the table. */
unsigned ptx_form_count(enum ptx_op op)
{
  ptx_rows_ready();
  return rows[op].nforms;
}

struct ptx_form ptx_form(enum ptx_op op, unsigned i)
{
  const struct form_text *t = &form_texts[rows[op].first_form + i];
  return (struct ptx_form){ t->shape, t->mods, t->types };
}

uint64_t ptx_form_types(enum ptx_op op, unsigned i, unsigned column, bool *optional)
{
  ptx_rows_ready();
  const struct form *f = &forms[rows[op].first_form + i];
  if (f->any_types || column >= f->ntypes) return 0;
  *optional = f->optional_type[column];
  return f->types[column];
}

const char *ptx_special_text(enum ptx_special s)
{
  return (unsigned)s < PTX_SPECIALS ? special_texts[s] : "?";
}

const char *ptx_op_meaning(enum ptx_op op) { return rows[op].meaning; }
