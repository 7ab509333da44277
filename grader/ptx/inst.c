/* One instruction: guard, mnemonic, operands.  Names are looked up as they come; labels, which may
 * stand further down, are noted and found when their scope closes. */
#include "ptx/internal.h"

#include <stdio.h>
#include <string.h>

enum { ELEMENTS = 256, NESTED = 3 };

static struct ptx_operand operand_new(enum ptx_operand_kind kind)
{
  return (struct ptx_operand){ .kind = kind, .reg = PTX_NOREG, .reg2 = PTX_NOREG };
}

static int clip(struct span s) { return s.n > 80 ? 80 : (int)s.n; }

static uint32_t find_register(struct reader *r, struct span name, uint32_t line)
{
  struct entity *e = ptx_name_find(r, name);
  if (!e) ptx_fail(r, line, "'%.*s' is not declared here", clip(name), name.s);
  if (e->kind != E_REG) ptx_fail(r, line, "'%.*s' is no register", clip(name), name.s);
  return e->index;
}

static void to_pool(struct reader *r, struct ptx_operand *o, const struct ptx_operand *elements,
                    uint32_t n)
{
  o->first = (uint32_t)r->pool.n;
  o->count = n;
  for (uint32_t i = 0; i < n; i++) *vec_push(r, r->pool) = elements[i];
}

/* name.x of a vector register, name.b0 of a video instruction */
static bool with_suffix(struct reader *r, struct span name, struct ptx_operand *o)
{
  static const char *const parts[] = { "b0", "b1", "b2", "b3", "h0", "h1" };
  size_t dot = name.n;
  while (dot > 0 && name.s[dot - 1] != '.') dot--;
  if (dot < 2) return false;
  struct span suffix = { name.s + dot, name.n - dot };
  struct entity *e = ptx_name_find(r, (struct span){ name.s, dot - 1 });
  if (!e) return false;
  o->kind = PTX_O_REG;
  if (e->kind == E_REGS && suffix.n == 1) {
    static const char order[] = "xyzwrgba";
    const char *at = memchr(order, *suffix.s, 8);
    uint32_t part = at ? (uint32_t)(at - order) % 4 : 4;
    if (part >= e->count) return false;
    o->reg = e->index + part;
    return true;
  }
  if (e->kind != E_REG) return false;
  o->reg = e->index;
  for (uint8_t i = 0; i < 6; i++)
    if (ptx_equal(suffix, parts[i])) {
      o->part = i + 1;
      return true;
    }
  return false;
}

static struct ptx_operand named_operand(struct reader *r)
{
  struct ptx_operand o = operand_new(PTX_O_NONE);
  uint32_t line = r->token.line;
  struct span name = ptx_word(r, "an operand");
  struct entity *e = ptx_name_find(r, name);
  int special = e ? -1 : ptx_special_of(name);
  if (ptx_equal(name, "_")) {
    o.kind = PTX_O_SINK;
  } else if (special >= 0) {
    o.kind = PTX_O_SPECIAL;
    o.imm = (uint64_t)special;
  } else if (!e) {
    if (!with_suffix(r, name, &o))
      ptx_fail(r, line, "'%.*s' is not declared here", clip(name), name.s);
  } else {
    switch (e->kind) {
    case E_REG:
      o.kind = PTX_O_REG;
      o.reg = e->index;
      break;
    case E_REGS: {
      struct ptx_operand parts[4];
      o.kind = PTX_O_VECTOR;
      for (uint32_t i = 0; i < e->count; i++) {
        parts[i] = operand_new(PTX_O_REG);
        parts[i].reg = e->index + i;
      }
      to_pool(r, &o, parts, e->count);
      break;
    }
    case E_SYMBOL:
      o.kind = PTX_O_SYMBOL;
      o.symbol = e->symbol;
      if (ptx_accept(r, '+') || ptx_is(r, '-')) {
        if (ptx_expression(r, &o.imm)) ptx_fail(r, line, "an offset is an integer");
      }
      break;
    case E_FUNCTION:
      o.kind = PTX_O_FUNCTION;
      o.function = e->function;
      break;
    case E_TABLE:
      o.kind = PTX_O_TABLE;
      o.imm = e->index;
      break;
    default: ptx_fail(r, line, "'%.*s' is no operand", clip(name), name.s);
    }
  }
  if ((o.kind == PTX_O_REG || o.kind == PTX_O_SINK) && ptx_accept(r, '|')) {
    line = r->token.line;
    struct span second = ptx_word(r, "the second predicate after '|'");
    if (!ptx_equal(second, "_")) o.reg2 = find_register(r, second, line);
  }
  return o;
}

static struct ptx_operand operand(struct reader *r, unsigned depth);

/* Elements up to the closing character, which is taken. */
static void elements(struct reader *r, struct ptx_operand *o, int close, unsigned depth)
{
  struct ptx_operand list[ELEMENTS];
  uint32_t n = 0, line = r->token.line;
  if (depth > NESTED) ptx_fail(r, line, "operands are nested too deeply");
  if (!ptx_is(r, close)) {
    do {
      if (n == ELEMENTS) ptx_fail(r, line, "more than %d elements in one operand", ELEMENTS);
      list[n++] = operand(r, depth + 1);
    } while (ptx_accept(r, ','));
  }
  ptx_expect(r, close, "or ',' after an element");
  /* A lone vector stands for its elements: [map, {x, y}]. */
  if (close == ']' && n == 1 && list[0].kind == PTX_O_VECTOR) {
    o->first = list[0].first;
    o->count = list[0].count;
  } else {
    to_pool(r, o, list, n);
  }
}

static struct ptx_operand address(struct reader *r, unsigned depth)
{
  struct ptx_operand o = operand_new(PTX_O_ADDRESS);
  uint32_t line = r->token.line;
  bool based = r->token.kind == T_WORD && !ptx_equal(r->token.text, "WARP_SZ");
  if (based) {
    struct span name = ptx_word(r, "an address");
    struct entity *e = ptx_name_find(r, name);
    struct ptx_operand part = operand_new(PTX_O_NONE);
    if (e && e->kind == E_REG) {
      o.has_reg = true;
      o.reg = e->index;
    } else if (e && e->kind == E_SYMBOL) {
      o.symbol = e->symbol;
    } else if (!e && with_suffix(r, name, &part) && !part.part) {
      o.has_reg = true;
      o.reg = part.reg;
    } else if (!e) {
      ptx_fail(r, line, "'%.*s' is not declared here", clip(name), name.s);
    } else {
      ptx_fail(r, line, "'%.*s' is no address", clip(name), name.s);
    }
    if (o.has_reg && (r->regs.at[o.reg].type == PTX_T_PRED ||
                      ptx_type_bits(r->regs.at[o.reg].type) < 32))
      ptx_fail(r, line, "'%.*s' is too narrow for an address", clip(name), name.s);
  }
  if (!based || ptx_accept(r, '+') || ptx_is(r, '-')) {
    if (ptx_expression(r, &o.imm)) ptx_fail(r, line, "an address offset is an integer");
  }
  if (ptx_accept(r, ',')) elements(r, &o, ']', depth);
  else ptx_expect(r, ']', "after the address");
  return o;
}

static struct ptx_operand operand(struct reader *r, unsigned depth)
{
  struct ptx_operand o;
  if (ptx_accept(r, '{')) {
    o = operand_new(PTX_O_VECTOR);
    elements(r, &o, '}', depth);
    return o;
  }
  if (ptx_accept(r, '[')) return address(r, depth);
  if (ptx_accept(r, '!')) {
    uint32_t line = r->token.line;
    o = named_operand(r);
    if (o.kind != PTX_O_REG || r->regs.at[o.reg].type != PTX_T_PRED)
      ptx_fail(r, line, "'!' stands before a predicate only");
    o.negated = true;
    return o;
  }
  if (r->token.kind == T_WORD && !ptx_equal(r->token.text, "WARP_SZ")) return named_operand(r);
  o = operand_new(PTX_O_IMM);
  o.imm_float = ptx_expression(r, &o.imm);
  return o;
}

/* Instructions whose every source has the instruction's type, so that an integer literal where the
 * type is a float (or the reverse) is a mistake. */
static bool sources_have_its_type(enum ptx_op op)
{
  switch (op) {
  case PTX_ADD: case PTX_SUB: case PTX_MUL: case PTX_MAD: case PTX_FMA: case PTX_DIV: case PTX_MIN:
  case PTX_MAX: case PTX_ABS: case PTX_NEG: case PTX_RCP: case PTX_SQRT: case PTX_RSQRT:
  case PTX_SIN: case PTX_COS: case PTX_LG2: case PTX_EX2: case PTX_TANH: case PTX_SETP:
  case PTX_SET: case PTX_SELP: case PTX_MOV: case PTX_COPYSIGN:
    return true;
  default: return false;
  }
}

/* A float literal is brought to the width of the instruction's type. */
static void fix_literal(struct reader *r, const struct mnemonic *m, uint32_t line,
                        struct ptx_operand *o, unsigned place)
{
  if (o->kind != PTX_O_IMM || !m->ntypes || m->op == PTX_CREATEPOLICY) return;
  enum ptx_type type = m->types[m->ntypes - 1];
  if (m->op == PTX_SLCT && place < 3) type = m->types[0];
  if ((m->op == PTX_SETP || m->op == PTX_SET || m->op == PTX_SELP) && place == 3) return;
  bool wide = type == PTX_T_F64, narrow = type == PTX_T_F32;
  if (!o->imm_float) {
    if ((wide || narrow) && sources_have_its_type(m->op))
      ptx_fail(r, line, "'%.80s' needs a float literal (0f3F800000, 1.0), not an integer",
               m->text);
    return;
  }
  if (wide && o->imm_float == 4) {
    uint32_t low = (uint32_t)o->imm;
    float f;
    memcpy(&f, &low, 4);
    double d = f;
    memcpy(&o->imm, &d, 8);
    o->imm_float = 8;
  } else if (narrow && o->imm_float == 8) {
    double d;
    memcpy(&d, &o->imm, 8);
    float f = (float)d;
    uint32_t low;
    memcpy(&low, &f, 4);
    o->imm = low;
    o->imm_float = 4;
  } else if (!wide && !narrow &&
             (ptx_type_kind(type) != PTX_BITS || ptx_type_bits(type) != o->imm_float * 8u)) {
    ptx_fail(r, line, "'%.80s' cannot take a float literal of %u bits", m->text, o->imm_float * 8);
  }
}

static void add_branch(struct reader *r, bool in_table, uint32_t index, uint32_t slot)
{
  uint32_t line = r->token.line;
  struct span name = ptx_word(r, "a label");
  *vec_push(r, r->branches) = (struct branch){ name, line, in_table, index, slot };
}

void ptx_resolve_labels(struct reader *r)
{
  struct scope *s = &r->scopes[r->depth];
  size_t kept = s->first_branch;
  for (size_t i = s->first_branch; i < r->branches.n; i++) {
    struct branch b = r->branches.at[i];
    struct entity *e = ptx_name_in(r, s->id, N_LABEL, b.name);
    if (!e) {
      if (r->depth == 1)
        ptx_fail(r, b.line, "there is no label '%.*s' in this function", clip(b.name), b.name.s);
      r->branches.at[kept++] = b;          /* for the scope outside */
    } else if (b.in_table) {
      r->tables.at[b.index].targets[b.slot] = e->index;
    } else {
      r->insts.at[b.index].operands[b.slot].imm = e->index;
      r->insts.at[b.index].operands[b.slot].first = e->count;
    }
  }
  r->branches.n = kept;
}

static void read_call(struct reader *r, struct ptx_inst *i)
{
  char shown[64];
  uint32_t line = r->token.line;
  struct ptx_operand results = operand_new(PTX_O_PARAMS), args = operand_new(PTX_O_PARAMS);
  struct ptx_operand target, table = operand_new(PTX_O_NONE);
  if (ptx_accept(r, '(')) {
    elements(r, &results, ')', 0);
    ptx_expect(r, ',', "after the results of the call");
  }
  target = named_operand(r);
  if (target.kind != PTX_O_FUNCTION && target.kind != PTX_O_REG)
    ptx_fail(r, line, "a call needs a function, or a register with a prototype");
  if (ptx_accept(r, ',')) {
    bool list = ptx_accept(r, '(');
    if (list) elements(r, &args, ')', 0);
    if (!list || ptx_accept(r, ',')) table = named_operand(r);
  }
  if (!ptx_is(r, ';'))
    ptx_fail(r, r->token.line, "expected ';' after the call, found %s",
             ptx_shown(&r->token, shown));
  bool indirect = target.kind == PTX_O_REG;
  if (indirect != (table.kind == PTX_O_TABLE))
    ptx_fail(r, line, indirect ? "a call through a register needs a prototype or a list of targets"
                               : "a call of a function takes no prototype");
  const struct ptx_function *f = target.function;
  if (f && (f->nparams != args.count || f->nreturns != results.count))
    ptx_fail(r, line, "'%.80s' takes %zu arguments and gives %zu results; the call has %u and %u",
             f->name, f->nparams, f->nreturns, args.count, results.count);
  i->operands[0] = results;
  i->operands[1] = target;
  i->operands[2] = args;
  i->operands[3] = table;
  i->noperands = indirect ? 4 : 3;
}

void ptx_read_instruction(struct reader *r)
{
  struct ptx_inst i = { .guard = PTX_NOREG, .line = r->token.line };
  char shown[64];
  if (ptx_accept(r, '@')) {
    i.guard_negated = ptx_accept(r, '!');
    uint32_t line = r->token.line;
    i.guard = find_register(r, ptx_word(r, "the guard predicate after '@'"), line);
    if (r->regs.at[i.guard].type != PTX_T_PRED)
      ptx_fail(r, line, "the guard '%.80s' is no predicate", r->regs.at[i.guard].name);
  }
  i.line = r->token.line;
  struct span text = ptx_word(r, "an instruction");
  struct mnemonic *m = ptx_mnemonic(r, text, i.line);
  i.op = (uint16_t)m->op;
  i.space = m->space;
  i.vector = m->vector;
  i.ntypes = m->ntypes;
  i.mnemonic = m->text;
  memcpy(i.types, m->types, sizeof i.types);
  memcpy(i.mods, m->mods, sizeof i.mods);
  i.file = r->loc.line ? r->loc.file : 0;
  i.source_line = r->loc.line;
  i.masked = r->masked;
  r->masked = false;
  i.source_column = r->loc.column;
  i.author_file = r->author.file;
  i.author_line = r->author.line;
  i.near = r->author.near;
  i.nounroll = r->nounroll_module || r->nounroll_function || r->nounroll_next;
  r->nounroll_next = false;

  if (++r->total_insts > PTX_MAX_INSTS)
    ptx_fail(r, i.line, "more than %d instructions", PTX_MAX_INSTS);
  if (m->op == PTX_CALL) {
    read_call(r, &i);
  } else if (m->op == PTX_BRA && r->token.kind == T_WORD) {
    i.operands[0] = operand_new(PTX_O_LABEL);
    i.noperands = 1;
    add_branch(r, false, (uint32_t)r->insts.n, 0);
  } else if (!ptx_is(r, ';')) {
    do {
      if (i.noperands == PTX_OPERANDS)
        ptx_fail(r, i.line, "'%.80s' has more than %d operands", m->text, PTX_OPERANDS);
      i.operands[i.noperands++] = operand(r, 0);
    } while (ptx_accept(r, ','));
  }
  if (!ptx_is(r, ';'))
    ptx_fail(r, r->token.line, "expected ';' after '%.80s', found %s", m->text,
             ptx_shown(&r->token, shown));
  if (m->op != PTX_CALL) ptx_check_operands(r, m, &i);
  for (unsigned k = 0; k < i.noperands; k++) {
    struct ptx_operand *o = &i.operands[k];
    fix_literal(r, m, i.line, o, k);
    if (o->kind == PTX_O_VECTOR)
      for (uint32_t e = 0; e < o->count; e++)
        fix_literal(r, m, i.line, &r->pool.at[o->first + e], k);
  }
  for (unsigned k = i.noperands; k < PTX_OPERANDS; k++) i.operands[k] = operand_new(PTX_O_NONE);
  *vec_push(r, r->insts) = i;
  ptx_next(r);     /* the ; last, so that its line is not yet the next instruction's */
}

/* name: .branchtargets a, b;   .calltargets f, g;   .callprototype (..) _ (..); */
void ptx_read_table(struct reader *r, struct span name, uint32_t line)
{
  struct ptx_table t = { .name = ptx_text(r, name) };
  uint32_t index = (uint32_t)r->tables.n;
  struct entity *e = ptx_name_add(r, r->scopes[r->depth].id, N_NAME, name);
  if (!e) ptx_fail(r, line, "'%.*s' is declared twice in this scope", clip(name), name.s);
  e->kind = E_TABLE;
  e->index = index;
  if (ptx_accept_dot(r, ".branchtargets")) {
    do {
      add_branch(r, true, index, (uint32_t)t.count++);
    } while (ptx_accept(r, ','));
    t.targets = ptx_alloc(r, t.count, sizeof *t.targets);
  } else if (ptx_accept_dot(r, ".calltargets")) {
    r->callees.n = 0;
    do {
      uint32_t at = r->token.line;
      struct span f = ptx_word(r, "a function");
      struct entity *callee = ptx_name_find(r, f);
      if (!callee || callee->kind != E_FUNCTION)
        ptx_fail(r, at, "'%.*s' is no function declared above", clip(f), f.s);
      *vec_push(r, r->callees) = callee->function;
    } while (ptx_accept(r, ','));
    t.count = r->callees.n;
    t.functions = ptx_vec_copy(r, r->callees.at, t.count, sizeof *t.functions);
  } else {
    ptx_next(r);
    t.prototype = ptx_alloc(r, 1, sizeof *t.prototype);
    t.prototype->name = t.name;
    t.prototype->line = line;
    ptx_read_prototype(r, t.prototype);
  }
  ptx_expect(r, ';', "after the table");
  *vec_push(r, r->tables) = t;
}
