/* Declarations: registers, variables with their initialisers, parameters. */
#include "ptx/internal.h"

#include <stdio.h>
#include <string.h>

static struct scope *scope(struct reader *r) { return &r->scopes[r->depth]; }

static _Noreturn void declared_twice(struct reader *r, uint32_t line, struct span name)
{
  ptx_fail(r, line, "'%.*s' is declared twice in this scope", name.n > 80 ? 80 : (int)name.n,
           name.s);
}

uint32_t ptx_new_register(struct reader *r, struct span name, const char *suffix,
                          enum ptx_type type)
{
  if (r->regs.n >= PTX_MAX_REGISTERS)
    ptx_fail(r, r->token.line, "more than %d registers in one function", PTX_MAX_REGISTERS);
  char *text = ptx_alloc(r, name.n + strlen(suffix) + 1, 1);
  memcpy(text, name.s, name.n);
  strcpy(text + name.n, suffix);
  struct ptx_reg *reg = vec_push(r, r->regs);
  *reg = (struct ptx_reg){ text, type };
  return (uint32_t)(r->regs.n - 1);
}

/* .v2 .v4 .v8 -> 2, 4, 8; else 0 */
static uint32_t vector_of(struct span s)
{
  if (ptx_equal(s, ".v2")) return 2;
  if (ptx_equal(s, ".v4")) return 4;
  return ptx_equal(s, ".v8") ? 8 : 0;
}

static enum ptx_type type_here(struct reader *r)
{
  struct span s = r->token.text;
  if (r->token.kind != T_DOT) return PTX_NOTYPE;
  return ptx_type_of((struct span){ s.s + 1, s.n - 1 });
}

/* .reg .b32 %r<40>, %x;   the directive has been taken */
void ptx_read_registers(struct reader *r)
{
  static const char *const parts[] = { ".x", ".y", ".z", ".w" };
  char shown[64];
  uint32_t vector = 1;
  if (!r->depth) ptx_fail(r, r->token.line, "registers are declared inside a function");
  if (r->token.kind == T_DOT && vector_of(r->token.text)) {
    vector = vector_of(r->token.text);
    if (vector > 4) ptx_fail(r, r->token.line, "a register vector has 2 or 4 elements");
    ptx_next(r);
  }
  enum ptx_type type = type_here(r);
  if (type == PTX_NOTYPE || (ptx_type_bits(type) < 8 && type != PTX_T_PRED))
    ptx_fail(r, r->token.line, "expected the type of a register, found %s",
             ptx_shown(&r->token, shown));
  ptx_next(r);
  do {
    uint32_t line = r->token.line, count = 0;
    struct span name = ptx_word(r, "the name of a register");
    bool range = ptx_accept(r, '<');
    if (range) {
      count = (uint32_t)ptx_int(r, "the number of registers", PTX_MAX_REGISTERS);
      ptx_expect(r, '>', "after the number of registers");
    }
    r->declared_registers += (range ? count : 1) * vector;
    if (r->declared_registers > PTX_MAX_REGISTERS)
      ptx_fail(r, line, "more than %d registers in one function", PTX_MAX_REGISTERS);
    struct entity *e = ptx_name_add(r, scope(r)->id, range ? N_RANGE : N_NAME, name);
    if (!e) declared_twice(r, line, name);
    if (range) {
      *e = (struct entity){ .kind = E_RANGE, .count = count, .type = type, .vector = vector };
      scope(r)->has_ranges = true;
    } else if (vector == 1) {
      e->kind = E_REG;
      e->index = ptx_new_register(r, name, "", type);
    } else {
      e->kind = E_REGS;
      e->count = vector;
      for (uint32_t i = 0; i < vector; i++) {
        uint32_t index = ptx_new_register(r, name, parts[i], type);
        if (!i) e->index = index;
      }
    }
  } while (ptx_accept(r, ','));
  ptx_expect(r, ';', "after .reg");
}

/* .attribute(.managed) and the like: known, and of no meaning to a single launch. */
static void skip_attribute(struct reader *r)
{
  uint32_t line = r->token.line;
  ptx_expect(r, '(', "after .attribute");
  for (unsigned depth = 1; depth; ptx_next(r)) {
    if (r->token.kind == T_END) ptx_fail(r, line, "this .attribute is never closed by )");
    depth += ptx_is(r, '(');
    depth -= ptx_is(r, ')');
  }
}

/* What stands between the state space and the name.  Returns the bytes of one element. */
static uint64_t read_type(struct reader *r, struct ptx_symbol *s)
{
  char shown[64];
  uint32_t vector = 1, line = r->token.line;
  for (; r->token.kind == T_DOT; ) {
    enum ptx_type type = type_here(r);
    if (ptx_accept_dot(r, ".align")) {
      uint64_t align = ptx_int(r, "an alignment", 1 << 20);
      if (!align || (align & (align - 1)))
        ptx_fail(r, line, "an alignment is a power of two, not %llu", (unsigned long long)align);
      if (!s->align || s->type == PTX_NOTYPE || align > s->align) s->align = (uint32_t)align;
    } else if (ptx_accept_dot(r, ".attribute")) {
      skip_attribute(r);
    } else if (ptx_accept_dot(r, ".ptr")) {
      if (!ptx_accept_dot(r, ".global") && !ptx_accept_dot(r, ".shared") &&
          !ptx_accept_dot(r, ".const"))
        ptx_accept_dot(r, ".local");
      if (ptx_accept_dot(r, ".align")) ptx_int(r, "an alignment", 1 << 20);
    } else if (vector_of(r->token.text)) {
      vector = vector_of(r->token.text);
      ptx_next(r);
    } else if (type != PTX_NOTYPE && s->type == PTX_NOTYPE) {
      s->type = type;
      ptx_next(r);
    } else {
      ptx_fail(r, r->token.line, "%s cannot stand in a declaration of a variable",
               ptx_shown(&r->token, shown));
    }
  }
  if (s->type == PTX_NOTYPE)
    ptx_fail(r, r->token.line, "expected a type, found %s", ptx_shown(&r->token, shown));
  if (ptx_type_bits(s->type) < 8)
    ptx_fail(r, line, "a variable cannot be of type .%s", ptx_type_text(s->type));
  uint64_t bytes = (uint64_t)ptx_type_bits(s->type) / 8 * vector;
  if (!s->align) s->align = (uint32_t)bytes;
  return bytes;
}

enum { DIMENSIONS = 16 };

struct extents {
  uint64_t size[DIMENSIONS + 1];   /* [k]: bytes of what k subscripts leave; [n]: of an element */
  unsigned n;
  bool open;                       /* the first extent was left out */
};

static void read_extents(struct reader *r, uint64_t element, struct extents *x)
{
  uint64_t count[DIMENSIONS];
  uint32_t line = r->token.line;
  x->n = 0;
  x->open = false;
  while (ptx_accept(r, '[')) {
    if (x->n == DIMENSIONS) ptx_fail(r, line, "more than %d dimensions", DIMENSIONS);
    if (ptx_accept(r, ']')) {
      if (x->n) ptx_fail(r, line, "only the first extent of an array can be left out");
      x->open = true;
      count[x->n++] = 0;
      continue;
    }
    uint64_t v;
    if (ptx_expression(r, &v)) ptx_fail(r, line, "the extent of an array is not an integer");
    ptx_expect(r, ']', "after the extent");
    count[x->n++] = v;
  }
  x->size[x->n] = element;
  for (unsigned k = x->n; k-- > 0;) {
    if (count[k] && x->size[k + 1] > (uint64_t)INT64_MAX / count[k])
      ptx_fail(r, line, "this array has more than 2^63 bytes");
    x->size[k] = x->size[k + 1] * count[k];
  }
}

/* An initialiser being read. */
struct init {
  struct ptx_symbol *symbol;
  struct extents x;
  unsigned scalar;                 /* bytes of a scalar */
  unsigned masked;                 /* bytes of an address given so far by 0xFF(symbol) ... */
};

static uint8_t *init_place(struct reader *r, struct init *in, uint64_t at, uint64_t bytes)
{
  uint64_t end = at + bytes;
  if (!in->x.open && end > in->symbol->bytes)
    ptx_fail(r, r->token.line, "the initialiser of '%.80s' is longer than the variable",
             in->symbol->name);
  while (r->bytes.n < end) {
    if (!r->init_budget--)
      ptx_fail(r, r->token.line, "the initialiser of '%.80s' has too many zeros in it",
               in->symbol->name);
    *vec_push(r, r->bytes) = 0;
  }
  return r->bytes.at + at;
}

static struct ptx_reloc read_address(struct reader *r)
{
  struct ptx_reloc reloc = { 0 };
  uint32_t line = r->token.line;
  struct span name = ptx_word(r, "the name of a variable or function");
  reloc.generic = ptx_equal(name, "generic") && ptx_accept(r, '(');
  if (reloc.generic) name = ptx_word(r, "the name of a variable or function");
  struct entity *e = ptx_name_find(r, name);
  if (e && e->kind == E_SYMBOL) reloc.symbol = e->symbol;
  else if (e && e->kind == E_FUNCTION) reloc.function = e->function;
  else
    ptx_fail(r, line, "'%.*s' is no variable or function declared above",
             name.n > 80 ? 80 : (int)name.n, name.s);
  if (reloc.generic) ptx_expect(r, ')', "after generic(");
  if (ptx_accept(r, '+') || ptx_is(r, '-')) {
    if (ptx_expression(r, &reloc.addend)) ptx_fail(r, line, "an offset is an integer");
  }
  return reloc;
}

static void init_scalar(struct reader *r, struct init *in, uint64_t at)
{
  uint32_t line = r->token.line;
  enum ptx_type type = in->symbol->type;
  unsigned bytes = in->scalar;
  if (r->token.kind == T_WORD && !ptx_equal(r->token.text, "WARP_SZ")) {
    struct ptx_reloc reloc = read_address(r);
    if (bytes != 8)
      ptx_fail(r, line, "the address of a variable needs an element of 8 bytes, not %u", bytes);
    reloc.at = at;
    init_place(r, in, at, 8);
    *vec_push(r, r->relocs) = reloc;
    return;
  }
  uint64_t value;
  uint8_t is_float = ptx_expression(r, &value);
  if (!is_float && ptx_accept(r, '(')) {    /* 0xFF00(symbol): one byte of an address */
    struct ptx_reloc reloc = read_address(r);
    ptx_expect(r, ')', "after the masked address");
    if (bytes != 1 || value != (uint64_t)0xff << in->masked * 8)
      ptx_fail(r, line, "an address in bytes is 0xFF(x), 0xFF00(x), ... in order, eight of them");
    reloc.at = at - in->masked;
    struct ptx_reloc *last = r->relocs.n ? &r->relocs.at[r->relocs.n - 1] : NULL;
    if (!in->masked) *vec_push(r, r->relocs) = reloc;
    else if (!last || last->at != reloc.at || last->symbol != reloc.symbol ||
             last->function != reloc.function || last->addend != reloc.addend)
      ptx_fail(r, line, "the bytes of two addresses are mixed");
    init_place(r, in, at, 1);
    in->masked = (in->masked + 1) & 7;
    return;
  }
  if (in->masked) ptx_fail(r, line, "an address given in bytes has only %u of 8", in->masked);
  bool float_type = ptx_type_kind(type) == PTX_FLOAT;
  if (is_float && !float_type && is_float != bytes)
    ptx_fail(r, line, "a float of %u bytes for an element of type .%s", is_float,
             ptx_type_text(type));
  if (float_type && (bytes == 4 || bytes == 8)) {
    double d;
    float f;
    uint32_t low = (uint32_t)value;
    if (!is_float) {
      d = (double)(int64_t)value;
    } else if (is_float == 4) {
      memcpy(&f, &low, 4);
      d = f;
    } else {
      memcpy(&d, &value, 8);
    }
    f = (float)d;
    if (bytes == 8) memcpy(&value, &d, 8);
    else if (is_float != 4) memcpy(&value, &f, 4);
  }
  uint8_t *p = init_place(r, in, at, bytes);
  for (unsigned i = 0; i < bytes; i++) p[i] = i < 8 ? (uint8_t)(value >> 8 * i) : 0;
}

/* { ... } that fills what `level` subscripts leave, from byte `at` on; flat lists are welcome. */
static void init_list(struct reader *r, struct init *in, unsigned level, uint64_t at)
{
  uint64_t start = at;
  uint32_t line = r->token.line;
  if (level > in->x.n)
    ptx_fail(r, line, "the braces of this initialiser are nested too deeply for the variable");
  ptx_expect(r, '{', "of the initialiser");
  while (!ptx_accept(r, '}')) {
    if (ptx_is(r, '{')) {
      uint64_t slot = in->x.size[level < in->x.n ? level + 1 : level];
      if (slot) at = start + (at - start + slot - 1) / slot * slot;
      init_list(r, in, level + 1, at);
      at += slot;
      if (at > INT64_MAX) ptx_fail(r, line, "this initialiser is longer than 2^63 bytes");
    } else {
      init_scalar(r, in, at);
      at += in->scalar;
    }
    if (!ptx_accept(r, ',') && !ptx_is(r, '}'))
      ptx_expect(r, '}', "or ',' in the initialiser");
  }
}

static void read_init(struct reader *r, struct ptx_symbol *s, const struct extents *x)
{
  struct init in = { .symbol = s, .x = *x, .scalar = ptx_type_bits(s->type) / 8 };
  uint32_t line = r->token.line;
  if (ptx_type_kind(s->type) == PTX_OPAQUE) {   /* { addr_mode_0 = wrap, ... } */
    for (unsigned depth = 0;; ptx_next(r)) {
      if (r->token.kind == T_END) ptx_fail(r, line, "this initialiser is never closed by }");
      depth += ptx_is(r, '{');
      if (ptx_is(r, '}') && --depth == 0) break;
      if (!depth) ptx_fail(r, line, "expected '{' of the initialiser");
    }
    ptx_next(r);
    return;
  }
  r->bytes.n = 0;
  r->relocs.n = 0;
  if (ptx_is(r, '{')) init_list(r, &in, 0, 0);
  else init_scalar(r, &in, 0);
  if (in.masked) ptx_fail(r, line, "an address given in bytes has only %u of 8", in.masked);
  if (x->open) {
    uint64_t row = x->size[1];
    s->bytes = row ? (r->bytes.n + row - 1) / row * row : 0;
  }
  if (s->bytes > r->bytes.n && s->bytes - r->bytes.n <= r->init_budget)
    init_place(r, &in, s->bytes - 1, 1);
  s->init_bytes = r->bytes.n;
  s->init = ptx_vec_copy(r, r->bytes.at, r->bytes.n, 1);
  s->nrelocs = r->relocs.n;
  s->relocs = ptx_vec_copy(r, r->relocs.at, r->relocs.n, sizeof *r->relocs.at);
}

void ptx_read_variables(struct reader *r, enum ptx_space space, bool is_extern)
{
  struct ptx_symbol model = { .space = space, .is_extern = is_extern };
  bool local = r->depth && space != PTX_GLOBAL && space != PTX_CONST;
  uint64_t element = read_type(r, &model);
  do {
    uint32_t line = r->token.line;
    struct extents x;
    struct span name = ptx_word(r, "the name of a variable");
    struct entity *e = ptx_name_in(r, scope(r)->id, N_NAME, name);
    struct ptx_symbol *s;
    bool again = e && e->kind == E_SYMBOL && (e->symbol->is_extern || is_extern);
    if (e && !again) declared_twice(r, line, name);
    if (again && e->symbol->space != space)
      ptx_fail(r, line, "'%s' was declared in another state space on line %u", e->symbol->name,
               e->symbol->line);
    if (!e) {
      s = ptx_alloc(r, 1, sizeof *s);
      e = ptx_name_add(r, scope(r)->id, N_NAME, name);
      e->kind = E_SYMBOL;
      e->symbol = s;
      if (local) *vec_push(r, r->symbols) = s;
      else *vec_push(r, r->module_symbols) = s;
    } else {
      s = e->symbol;
    }
    struct ptx_symbol fresh = model;
    read_extents(r, element, &x);
    fresh.name = s->name ? s->name : ptx_text(r, name);
    fresh.bytes = x.open ? 0 : x.size[0];
    fresh.function = local ? r->function : NULL;
    fresh.line = line;
    bool initialised = ptx_accept(r, '=');
    if (initialised && space != PTX_GLOBAL && space != PTX_CONST)
      ptx_fail(r, line, "only .global and .const variables can be initialised");
    /* An extern after the definition adds nothing. */
    if (!(again && is_extern && s->name)) *s = fresh;
    if (initialised) read_init(r, s, &x);
    if (x.open && !initialised && !is_extern)
      ptx_fail(r, line, "'%s' has neither an extent nor an initialiser", s->name);
  } while (ptx_accept(r, ','));
  ptx_expect(r, ';', "after the declaration of a variable");
}

/* One parameter of a function; .param has not been taken.  A prototype may call it _. */
struct ptx_symbol *ptx_read_parameter(struct reader *r, bool prototype)
{
  char shown[64];
  struct ptx_symbol *s = ptx_alloc(r, 1, sizeof *s);
  struct extents x;
  s->space = PTX_PARAM;
  s->line = r->token.line;
  s->function = r->function;
  if (ptx_is_dot(r, ".reg"))
    ptx_fail(r, s->line, "parameters in registers are not supported; declare them .param");
  if (!ptx_accept_dot(r, ".param"))
    ptx_fail(r, s->line, "expected a .param, found %s", ptx_shown(&r->token, shown));
  uint64_t element = read_type(r, s);
  struct span name = ptx_word(r, "the name of a parameter");
  s->name = ptx_text(r, name);
  read_extents(r, element, &x);
  s->bytes = x.open ? 0 : x.size[0];
  if (prototype || ptx_equal(name, "_")) return s;
  struct entity *e = ptx_name_add(r, scope(r)->id, N_NAME, name);
  if (!e) declared_twice(r, s->line, name);
  e->kind = E_SYMBOL;
  e->symbol = s;
  return s;
}
