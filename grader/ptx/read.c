/* The module: directives, functions, and the walk over their bodies. */
#define _GNU_SOURCE
#include "ptx/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ptx_fail(struct reader *r, uint32_t line, const char *format, ...)
{
  struct ptx_error *e = r->error;
  if (e) {
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    for (char *p = e->text; *p; p++)
      if ((unsigned char)*p < 32 || (unsigned char)*p > 126) *p = '?';
    e->line = line;
    e->source_line = r->author.line;
    snprintf(e->source_file, sizeof e->source_file, "%s",
             r->author.line && r->author.file < r->files.n && r->files.at[r->author.file].name
               ? r->files.at[r->author.file].name : "");
    for (char *p = e->source_file; *p; p++)
      if ((unsigned char)*p < 32 || *p == 127) *p = '?';
  }
  longjmp(r->failed, 1);
}

static void open_scope(struct reader *r)
{
  if (r->depth >= PTX_MAX_DEPTH) ptx_fail(r, r->token.line, "{ } are nested too deeply");
  r->depth++;
  r->scopes[r->depth] = (struct scope){ .id = r->next_scope++, .first_branch = r->branches.n };
}

static void close_scope(struct reader *r)
{
  ptx_resolve_labels(r);
  r->depth--;
}

static void read_pragma(struct reader *r)
{
  char shown[64];
  do {
    if (r->token.kind != T_STRING)
      ptx_fail(r, r->token.line, "expected a string after .pragma, found %s",
               ptx_shown(&r->token, shown));
    static const char mask[] = "used_bytes_mask";
    if (r->token.text.n >= sizeof mask - 1 && !memcmp(r->token.text.s, mask, sizeof mask - 1))
      r->masked = true;
    struct span text = r->token.text;
    if (ptx_equal(text, "nounroll")) {
      if (!r->function) r->nounroll_module = true;
      else if (!r->in_body) r->nounroll_function = true;
      else r->nounroll_next = true;
    }
    ptx_next(r);
  } while (ptx_accept(r, ','));
  ptx_expect(r, ';', "after .pragma");
}

/* Directives that may stand anywhere. */
static bool read_common(struct reader *r)
{
  if (ptx_accept_dot(r, ".loc")) ptx_read_loc(r);
  else if (ptx_accept_dot(r, ".file")) ptx_read_file(r);
  else if (ptx_accept_dot(r, ".pragma")) read_pragma(r);
  else if (ptx_accept_dot(r, ".section")) ptx_skip_section(r);
  else return false;
  return true;
}

static enum ptx_space space_here(const struct reader *r)
{
  if (ptx_is_dot(r, ".global")) return PTX_GLOBAL;
  if (ptx_is_dot(r, ".const")) return PTX_CONST;
  if (ptx_is_dot(r, ".shared") || ptx_is_dot(r, ".shared::cta")) return PTX_SHARED;
  if (ptx_is_dot(r, ".local")) return PTX_LOCAL;
  if (ptx_is_dot(r, ".param")) return PTX_PARAM;
  return PTX_GENERIC;
}

/* ( .param .. , .param .. ): into *list, with their places one after another. */
static size_t read_parameters(struct reader *r, struct ptx_symbol ***list, bool prototype)
{
  uint64_t at = 0;
  r->params.n = 0;
  ptx_expect(r, '(', "before the parameters");
  if (!ptx_is(r, ')')) {
    do {
      struct ptx_symbol *s = ptx_read_parameter(r, prototype);
      at = (at + s->align - 1) & ~(uint64_t)(s->align - 1);
      s->offset = at;
      if (s->bytes > UINT32_MAX || at + s->bytes > UINT32_MAX)
        ptx_fail(r, s->line, "the parameters have more than 4 GiB");
      at += s->bytes;
      *vec_push(r, r->params) = s;
    } while (ptx_accept(r, ','));
  }
  ptx_expect(r, ')', "after the parameters");
  *list = ptx_vec_copy(r, r->params.at, r->params.n, sizeof **list);
  return r->params.n;
}

static void read_three(struct reader *r, uint32_t out[3])
{
  out[0] = out[1] = out[2] = 1;
  unsigned n = 0;
  do {
    if (n == 3) ptx_fail(r, r->token.line, "more than three dimensions");
    out[n++] = (uint32_t)ptx_int(r, "a dimension", UINT32_MAX);
  } while (ptx_accept(r, ','));
}

/* What stands between the parameters and the body. */
static void read_bounds(struct reader *r, struct ptx_function *f)
{
  static const char *const one_number[] = { ".maxnreg", ".minnctapersm", ".maxnctapersm",
                                            ".maxclusterrank", ".abi_preserve",
                                            ".abi_preserve_control" };
  char shown[64];
  while (r->token.kind == T_DOT) {
    bool known = false;
    for (size_t i = 0; i < sizeof one_number / sizeof *one_number && !known; i++)
      if (ptx_accept_dot(r, one_number[i])) {
        ptx_int(r, one_number[i], UINT32_MAX);
        known = true;
      }
    if (known) continue;
    if (ptx_accept_dot(r, ".maxntid")) read_three(r, f->maxntid);
    else if (ptx_accept_dot(r, ".reqntid")) read_three(r, f->reqntid);
    else if (ptx_accept_dot(r, ".reqnctapercluster")) read_three(r, f->cluster);
    else if (ptx_accept_dot(r, ".noreturn")) f->noreturn = true;
    else if (ptx_accept_dot(r, ".explicitcluster") || ptx_accept_dot(r, ".unified") ||
             ptx_accept_dot(r, ".blocksareclusters")) continue;
    else if (!read_common(r))
      ptx_fail(r, r->token.line, "%s is no directive of a function",
               ptx_shown(&r->token, shown));
  }
}

void ptx_read_prototype(struct reader *r, struct ptx_function *f)
{
  if (ptx_is(r, '(')) f->nreturns = read_parameters(r, &f->returns, true);
  ptx_word(r, "_ in the prototype");
  if (ptx_is(r, '(')) f->nparams = read_parameters(r, &f->params, true);
  read_bounds(r, f);
}

/* Statements up to the } of the body; scopes inside are opened and closed on the way. */
static void read_body(struct reader *r)
{
  char shown[64];
  unsigned base = r->depth;
  for (;;) {
    enum ptx_space space = space_here(r);
    uint32_t line = r->token.line;
    if (r->token.kind == T_END) {
      ptx_fail(r, line, "the text ends inside function '%.80s'", r->function->name);
    } else if (ptx_accept(r, '{')) {
      open_scope(r);
    } else if (ptx_is(r, '}')) {
      if (r->depth == base) return;
      close_scope(r);
      ptx_next(r);
    } else if (ptx_accept(r, ';')) {
    } else if (space != PTX_GENERIC) {
      ptx_next(r);
      ptx_read_variables(r, space, false);
    } else if (ptx_accept_dot(r, ".reg")) {
      ptx_read_registers(r);
    } else if (r->token.kind == T_DOT) {
      if (!read_common(r))
        ptx_fail(r, line, "%s is no directive of a function's body", ptx_shown(&r->token, shown));
    } else if (ptx_is(r, '@')) {
      ptx_read_instruction(r);
    } else if (r->token.kind == T_WORD) {
      const char *p = r->at;
      while (p < r->end && (*p == ' ' || *p == '\t')) p++;
      if (p == r->end || *p != ':') {
        ptx_read_instruction(r);
        continue;
      }
      struct span name = r->token.text;
      ptx_next(r);
      ptx_next(r);
      if (ptx_is_dot(r, ".branchtargets") || ptx_is_dot(r, ".calltargets") ||
          ptx_is_dot(r, ".callprototype")) {
        ptx_read_table(r, name, line);
        continue;
      }
      struct entity *e = ptx_name_add(r, r->scopes[r->depth].id, N_LABEL, name);
      if (!e)
        ptx_fail(r, line, "label '%.*s' stands twice in this scope",
                 name.n > 80 ? 80 : (int)name.n, name.s);
      e->kind = E_LABEL;
      e->index = (uint32_t)r->insts.n;
      e->count = (uint32_t)r->labels.n;
      *vec_push(r, r->labels) = (struct ptx_label){ ptx_text(r, name), e->index };
    } else {
      ptx_fail(r, line, "expected an instruction, found %s", ptx_shown(&r->token, shown));
    }
  }
}

/* The body of a function again, from its beginning, to the } that ends it. */
static void skip_body(struct reader *r)
{
  for (unsigned depth = 0; depth > 0 || !ptx_is(r, '}'); ptx_next(r)) {
    if (r->token.kind == T_END)
      ptx_fail(r, r->token.line, "the text ends inside function '%.80s'", r->function->name);
    if (ptx_is(r, '{')) depth++;
    if (ptx_is(r, '}')) depth--;
  }
}

/* Control must not run past the last instruction. */
static void end_with_ret(struct reader *r)
{
  bool open = !r->insts.n || (r->labels.n && r->labels.at[r->labels.n - 1].at == r->insts.n);
  if (!open) {
    const struct ptx_inst *last = &r->insts.at[r->insts.n - 1];
    open = last->guard != PTX_NOREG || (last->op != PTX_RET && last->op != PTX_EXIT &&
                                        last->op != PTX_BRA && last->op != PTX_TRAP);
  }
  if (!open) return;
  static const struct span ret = { "ret", 3 };
  struct ptx_inst i = { .op = PTX_RET, .guard = PTX_NOREG, .vector = 1, .line = r->token.line };
  i.mnemonic = ptx_mnemonic(r, ret, i.line)->text;
  *vec_push(r, r->insts) = i;
}

/* Reads a body; where that fails, the function has none but says why. */
static void try_body(struct reader *r)
{
  struct ptx_function *f = r->function;
  const char *const at = r->at;
  const uint32_t line = r->line;
  const struct token token = r->token;
  const unsigned depth = r->depth;
  jmp_buf outer;
  memcpy(&outer, &r->failed, sizeof outer);
  if (!setjmp(r->failed)) {
    read_body(r);
    end_with_ret(r);
    close_scope(r);
    memcpy(&r->failed, &outer, sizeof outer);
    return;
  }
  memcpy(&r->failed, &outer, sizeof outer);
  f->refused = ptx_alloc(r, 1, sizeof *f->refused);
  *f->refused = *r->error;
  r->at = at;
  r->line = line;
  r->token = token;
  r->depth = depth - 1;
  r->regs.n = r->insts.n = r->pool.n = r->labels.n = r->tables.n = r->symbols.n = 0;
  r->branches.n = 0;
  skip_body(r);
}

#define TAKE(field, count, list) \
  (f->count = r->list.n, f->field = ptx_vec_copy(r, r->list.at, r->list.n, sizeof *r->list.at))

static void read_function(struct reader *r, bool is_entry)
{
  struct ptx_function *f = ptx_alloc(r, 1, sizeof *f);
  r->function = f;
  r->regs.n = r->insts.n = r->pool.n = r->labels.n = r->tables.n = r->symbols.n = 0;
  r->branches.n = 0;
  r->declared_registers = 0;
  ptx_loc_start(r);
  r->in_body = r->nounroll_function = r->nounroll_next = false;
  open_scope(r);
  f->is_entry = is_entry;
  f->line = r->token.line;
  while (ptx_accept_dot(r, ".attribute")) {
    while (!ptx_accept(r, ')')) {
      if (r->token.kind == T_END) ptx_fail(r, f->line, "this .attribute is never closed by )");
      ptx_next(r);
    }
  }
  if (!is_entry && ptx_is(r, '(')) f->nreturns = read_parameters(r, &f->returns, false);
  f->line = r->token.line;
  struct span name = ptx_word(r, "the name of a function");
  f->name = ptx_text(r, name);
  if (ptx_is(r, '(')) f->nparams = read_parameters(r, &f->params, false);
  read_bounds(r, f);

  struct entity *e = ptx_name_in(r, r->scopes[0].id, N_NAME, name);
  struct ptx_function *known = NULL;
  if (e) {
    known = e->kind == E_FUNCTION ? e->function : NULL;
    if (!known || known->is_entry != is_entry)
      ptx_fail(r, f->line, "'%.80s' was declared above as something else", f->name);
    if (known->nparams != f->nparams || known->nreturns != f->nreturns)
      ptx_fail(r, f->line, "'%.80s' was declared with %zu parameters and %zu results on line %u",
               f->name, known->nparams, known->nreturns, known->line);
  } else {
    e = ptx_name_add(r, r->scopes[0].id, N_NAME, name);
    e->kind = E_FUNCTION;
    e->function = f;
    *vec_push(r, r->functions) = f;
  }
  if (ptx_accept(r, '{')) {
    if (known && known->has_body)
      ptx_fail(r, f->line, "'%.80s' is defined twice, first on line %u", f->name, known->line);
    f->has_body = true;
    if (known) {     /* earlier calls point at the declaration: it becomes the definition */
      f->noreturn |= known->noreturn;
      *known = *f;
      for (size_t i = 0; i < f->nparams; i++) f->params[i]->function = known;
      for (size_t i = 0; i < f->nreturns; i++) f->returns[i]->function = known;
      r->function = f = known;
    }
    r->in_body = true;
    if (r->some) {
      try_body(r);
    } else {
      read_body(r);
      end_with_ret(r);
      close_scope(r);
    }
    TAKE(regs, nregs, regs);
    TAKE(insts, ninsts, insts);
    TAKE(pool, npool, pool);
    TAKE(labels, nlabels, labels);
    TAKE(tables, ntables, tables);
    TAKE(symbols, nsymbols, symbols);
    ptx_loc_start(r);
    r->function = NULL;
    ptx_next(r);
  } else {
    close_scope(r);
    r->function = NULL;
    ptx_expect(r, ';', "or '{' after the head of a function");
  }
}

/* .alias name, function; */
static void read_alias(struct reader *r)
{
  for (int i = 0; i < 2; i++) {
    uint32_t line = r->token.line;
    struct span name = ptx_word(r, "a function");
    struct entity *e = ptx_name_find(r, name);
    if (!e || e->kind != E_FUNCTION)
      ptx_fail(r, line, "'%.*s' is no function declared above", name.n > 80 ? 80 : (int)name.n,
               name.s);
    *vec_push(r, r->aliases) = e->function;
    if (!i) ptx_expect(r, ',', "between the two names of .alias");
  }
  ptx_expect(r, ';', "after .alias");
}

static void read_version(struct reader *r)
{
  char copy[16];
  unsigned major, minor;
  struct span s = r->token.text;
  if (!ptx_accept_dot(r, ".version"))
    ptx_fail(r, r->token.line, "PTX begins with .version; this does not");
  s = r->token.text;
  snprintf(copy, sizeof copy, "%.*s", s.n > 15 ? 15 : (int)s.n, s.s);
  if (r->token.kind != T_FLOAT || sscanf(copy, "%u.%u", &major, &minor) != 2)
    ptx_fail(r, r->token.line, "expected a version such as 8.0 after .version");
  r->module->version_major = major;
  r->module->version_minor = minor;
  ptx_next(r);
}

static void read_target(struct reader *r)
{
  do {
    char copy[32];
    unsigned sm;
    uint32_t line = r->token.line;
    struct span s = ptx_word(r, "a target such as sm_90");
    snprintf(copy, sizeof copy, "%.*s", s.n > 31 ? 31 : (int)s.n, s.s);
    if (sscanf(copy, "sm_%5u", &sm) == 1) r->module->target = sm;
    else if (strcmp(copy, "debug") && strcmp(copy, "texmode_unified") &&
             strcmp(copy, "texmode_independent") && strcmp(copy, "map_f64_to_f32"))
      ptx_fail(r, line, "'%s' is no target", copy);
  } while (ptx_accept(r, ','));
}

static void read_module(struct reader *r)
{
  char shown[64];
  ptx_next(r);
  while (read_common(r)) {}
  read_version(r);
  while (r->token.kind != T_END) {
    bool is_extern = false;
    uint32_t line = r->token.line;
    if (ptx_accept(r, ';') || read_common(r)) continue;
    if (ptx_accept_dot(r, ".target")) {
      read_target(r);
      continue;
    }
    if (ptx_accept_dot(r, ".address_size")) {
      r->module->address_size = (unsigned)ptx_int(r, "the size of an address", 64);
      if (r->module->address_size != 64)
        ptx_fail(r, line, "only 64-bit addresses are supported: compile with -m64");
      continue;
    }
    if (ptx_accept_dot(r, ".alias")) {
      read_alias(r);
      continue;
    }
    for (;;) {
      if (ptx_accept_dot(r, ".extern")) is_extern = true;
      else if (!ptx_accept_dot(r, ".visible") && !ptx_accept_dot(r, ".weak") &&
               !ptx_accept_dot(r, ".common")) break;
    }
    enum ptx_space space = space_here(r);
    if (ptx_accept_dot(r, ".entry")) read_function(r, true);
    else if (ptx_accept_dot(r, ".func")) read_function(r, false);
    else if (space != PTX_GENERIC && space != PTX_PARAM) {
      ptx_next(r);
      ptx_read_variables(r, space, is_extern);
    } else if (ptx_is_dot(r, ".reg")) {
      ptx_fail(r, line, "registers are declared inside a function");
    } else {
      ptx_fail(r, line, "expected a directive, found %s", ptx_shown(&r->token, shown));
    }
  }
  if (!r->module->target) ptx_fail(r, r->token.line, "there is no .target");
  for (size_t i = 0; i + 1 < r->aliases.n; i += 2) {
    struct ptx_function *alias = r->aliases.at[i], *of = r->aliases.at[i + 1];
    if (!of->has_body || alias->has_body)
      ptx_fail(r, r->token.line,
               ".alias '%.80s' of '%.80s': the second must have a body, the first none",
               alias->name, of->name);
    char *name = alias->name;
    *alias = *of;
    alias->name = name;
  }
  if (r->max_loc_file && (r->max_loc_file >= r->files.n || !r->files.at[r->max_loc_file].name))
    ptx_fail(r, r->max_loc_line, ".loc names file %u, which no .file declares", r->max_loc_file);
}

static void reader_free(struct reader *r)
{
  free(r->regs.at);
  free(r->insts.at);
  free(r->pool.at);
  free(r->labels.at);
  free(r->tables.at);
  free(r->symbols.at);
  free(r->branches.at);
  free(r->params.at);
  free(r->relocs.at);
  free(r->bytes.at);
  free(r->callees.at);
  free(r->module_symbols.at);
  free(r->functions.at);
  free(r->files.at);
  free(r->places);
  free(r->aliases.at);
  ptx_names_free(r->names);
  free(r);
}

static struct ptx_module *read_text(const char *text, size_t length, bool some,
                                    struct ptx_error *error)
{
  ptx_rows_ready();
  struct ptx_module *m = calloc(1, sizeof *m);
  struct reader *r = calloc(1, sizeof *r);
  struct names *names = ptx_names_new();
  *error = (struct ptx_error){ .line = 1, .text = "out of memory" };
  if (!m || !r || !names) {
    free(m);
    free(r);
    ptx_names_free(names);
    return NULL;
  }
  r->text = r->at = text;
  r->end = text + length;
  r->line = 1;
  r->module = m;
  r->error = error;
  r->some = some;
  r->names = names;
  r->next_scope = 1;
  r->init_budget = (uint64_t)length * 16 + 65536;
  if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) r->at += 3;
  m->address_size = 64;
  if (setjmp(r->failed)) {
    reader_free(r);
    ptx_free(m);
    return NULL;
  }
  ptx_files_ahead(r);
  ptx_loc_start(r);
  read_module(r);
  m->files = ptx_alloc(r, r->files.n, sizeof *m->files);
  for (size_t i = 0; i < r->files.n; i++)
    m->files[i] = r->files.at[i].name ? r->files.at[i].name : ptx_text(r, (struct span){ "", 0 });
  m->nfiles = r->files.n;
  m->symbols = ptx_vec_copy(r, r->module_symbols.at, r->module_symbols.n, sizeof *m->symbols);
  m->nsymbols = r->module_symbols.n;
  m->functions = ptx_vec_copy(r, r->functions.at, r->functions.n, sizeof *m->functions);
  m->nfunctions = r->functions.n;
  *error = (struct ptx_error){ 0 };
  reader_free(r);
  return m;
}

struct ptx_module *ptx_read(const char *text, size_t length, struct ptx_error *error)
{
  struct ptx_error unasked;
  return read_text(text, length, false, error ? error : &unasked);
}

struct ptx_module *ptx_read_some(const char *text, size_t length, struct ptx_error *error)
{
  struct ptx_error unasked;
  return read_text(text, length, true, error ? error : &unasked);
}

void ptx_free(struct ptx_module *module)
{
  if (!module) return;
  ptx_arena_free(module->arena);
  free(module);
}
