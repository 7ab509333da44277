/* The PTX reader against text it was not written from: what nvcc 13 and clang 14 emit, and a text
 * of rare grammar that ptxas accepts (grader/tests/ptx).  Then errors word by word, print and read
 * again, texts cut and damaged at every place, and texts made to cost much. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ptx/ptx.h"

#define FIXTURES "grader/tests/ptx/"

/* ---- helpers ------------------------------------------------------------------------------ */

static char *read_file(const char *name, size_t *length)
{
  char path[512];
  snprintf(path, sizeof path, FIXTURES "%s", name);
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s cannot be read (tests run from the repository's root)", path);
  char *text = malloc(1 << 20);
  *length = fread(text, 1, (1 << 20) - 1, f);
  text[*length] = 0;
  fclose(f);
  return text;
}

static struct ptx_module *must_read(const char *text, size_t length, const char *name)
{
  struct ptx_error e;
  struct ptx_module *m = ptx_read(text, length, &e);
  ck_assert_msg(m != NULL, "%s:%u: %s", name, e.line, e.text);
  return m;
}

static struct ptx_module *fixture(const char *name)
{
  size_t length;
  char *text = read_file(name, &length);
  struct ptx_module *m = must_read(text, length, name);
  free(text);      /* nothing in the module may point into the text */
  return m;
}

/* Every *.ptx of the folder; returns how many. */
static unsigned each_fixture(void (*use)(const char *name, char *text, size_t length))
{
  unsigned n = 0;
  DIR *d = opendir(FIXTURES);
  ck_assert_msg(d != NULL, FIXTURES " cannot be read");
  for (struct dirent *e; (e = readdir(d));) {
    size_t length, k = strlen(e->d_name);
    if (k < 4 || strcmp(e->d_name + k - 4, ".ptx")) continue;
    char *text = read_file(e->d_name, &length);
    use(e->d_name, text, length);
    free(text);
    n++;
  }
  closedir(d);
  return n;
}

static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n";

/* A module with one entry `k` around the body, whose first line is line 6. */
static char *around(const char *body)
{
  static const char before[] = ".visible .entry k(.param .u64 a, .param .u32 n) {\n"
    ".reg .pred p, q; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; "
    ".reg .f32 %f<9>; .reg .f64 %e<9>; .reg .b128 %x;\n";
  char *text = malloc(strlen(body) + 512);
  sprintf(text, "%s%s%s\n}\n", head, before, body);
  return text;
}

static const struct ptx_inst *inst(const struct ptx_function *f, const char *text)
{
  char line[4096];
  for (size_t i = 0; i < f->ninsts; i++) {
    ptx_print(f, &f->insts[i], line, sizeof line);
    if (!strcmp(line, text)) return &f->insts[i];
  }
  ck_abort_msg("%s has no '%s'", f->name, text);
}

static uint64_t le(const uint8_t *p, unsigned bytes)
{
  uint64_t v = 0;
  while (bytes-- > 0) v = v << 8 | p[bytes];
  return v;
}

/* ---- what the grammar means --------------------------------------------------------------- */

START_TEST(test_module)
{
  struct ptx_module *m = fixture("grammar.ptx");
  ck_assert_uint_eq(m->version_major, 8);
  ck_assert_uint_eq(m->version_minor, 3);
  ck_assert_uint_eq(m->target, 90);
  ck_assert_str_eq(m->files[1], "corners of grammar.cu");
  ck_assert_uint_eq(m->nfunctions, 4);
  struct ptx_function *k = ptx_find_function(m, "corners");
  ck_assert(k && k->is_entry && k->has_body);
  ck_assert_uint_eq(k->nparams, 3);
  ck_assert_uint_eq(k->params[1]->offset, 8);
  ck_assert_uint_eq(k->params[1]->bytes, 24);
  ck_assert_uint_eq(k->params[2]->offset, 32);
  ck_assert_uint_eq(k->maxntid[0], 256);
  ck_assert_uint_eq(k->maxntid[1], 2);
  ck_assert_uint_eq(k->maxntid[2], 1);
  ck_assert_ptr_eq(k->params[0]->function, k);
  ck_assert_ptr_eq(ptx_find_entry(m, "corners"), k);
  ck_assert_ptr_null(ptx_find_entry(m, "odd"));
  ptx_free(m);
}
END_TEST

START_TEST(test_initialisers)
{
  struct ptx_module *m = fixture("grammar.ptx");
  struct ptx_symbol *s = ptx_find_symbol(m, "grid");
  static const uint32_t grid[] = { 1, 2, 0, 4, 5, 6 };
  ck_assert_uint_eq(s->bytes, 24);
  ck_assert_mem_eq(s->init, grid, 24);
  s = ptx_find_symbol(m, "weights");
  static const float weights[] = { 1.5f, 2, 3, -2 };
  ck_assert_uint_eq(s->bytes, 16);
  ck_assert_mem_eq(s->init, weights, 16);
  s = ptx_find_symbol(m, "pointers");
  ck_assert_uint_eq(s->nrelocs, 4);
  ck_assert_ptr_eq(s->relocs[1].symbol, ptx_find_symbol(m, "grid"));
  ck_assert_uint_eq(s->relocs[1].at, 8);
  ck_assert_uint_eq(s->relocs[1].addend, 8);
  ck_assert(!s->relocs[1].generic && s->relocs[2].generic);
  s = ptx_find_symbol(m, "packed");
  ck_assert_uint_eq(s->nrelocs, 1);
  ck_assert_uint_eq(s->relocs[0].at, 8);
  ck_assert_uint_eq(le(s->init, 2), 0x201);
  s = ptx_find_symbol(m, "quad");
  ck_assert_uint_eq(s->bytes, 16);
  ck_assert_uint_eq(s->align, 16);
  s = ptx_find_symbol(m, "large");
  ck_assert_uint_eq(s->bytes, 1u << 30);
  ck_assert_ptr_null(s->init);
  s = ptx_find_symbol(m, "computed");
  ck_assert_uint_eq(le(s->init, 4), 28);
  ck_assert_uint_eq(le(s->init + 4, 4), 30);
  s = ptx_find_symbol(m, "dynamic");
  ck_assert(s->is_extern && s->bytes == 0 && s->space == PTX_SHARED && s->align == 16);
  s = ptx_find_symbol(m, "negative");
  ck_assert_int_eq((int64_t)le(s->init, 8), -5);
  ptx_free(m);
}
END_TEST

START_TEST(test_scopes)
{
  struct ptx_module *m = fixture("grammar.ptx");
  struct ptx_function *k = ptx_find_function(m, "corners");
  /* The inner %r1 and temp are other registers than the outer ones of those names. */
  const struct ptx_inst *outer = inst(k, "mov.u32 %r1, %tid.x;");
  const struct ptx_inst *inner = inst(k, "mov.u32 %r1, 3;");
  ck_assert_uint_ne(outer->operands[0].reg, inner->operands[0].reg);
  const struct ptx_inst *laneid = inst(k, "mov.u32 temp, %laneid;");
  const struct ptx_inst *copy = inst(k, "mov.u32 temp, %r1;");
  ck_assert_uint_ne(laneid->operands[0].reg, copy->operands[0].reg);
  ck_assert_uint_eq(copy->operands[1].reg, inner->operands[0].reg);
  /* Two labels `again`, each for the branch beside it; `skip` lies outside. */
  unsigned seen = 0;
  for (size_t i = 1; i < k->ninsts; i++) {
    char line[256];
    ptx_print(k, &k->insts[i], line, sizeof line);
    if (strcmp(line, "@done bra again;")) continue;
    ck_assert_uint_eq(k->insts[i].operands[0].imm, i - 1);
    seen++;
  }
  ck_assert_uint_eq(seen, 2);
  const struct ptx_inst *skip = inst(k, "@!%p1 bra.uni skip;");
  ck_assert_uint_eq(k->insts[skip->operands[0].imm].op, PTX_ATOM);
  ck_assert(skip->guard_negated);
  /* A range of registers costs what is used of it. */
  ck_assert_uint_lt(k->nregs, 90);
  /* Calls of a function declared earlier and defined later reach its body. */
  struct ptx_function *even = ptx_find_function(m, "even"), *odd = ptx_find_function(m, "odd");
  ck_assert_ptr_eq(inst(even, "call.uni (b), odd, (a);")->operands[1].function, odd);
  ck_assert(odd->has_body && odd->ninsts == 10);
  ptx_free(m);
}
END_TEST

START_TEST(test_operands)
{
  struct ptx_module *m = fixture("grammar.ptx");
  struct ptx_function *k = ptx_find_function(m, "corners");
  const struct ptx_inst *i = inst(k, "ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%d2+-16];");
  ck_assert_uint_eq(i->line, 86);
  ck_assert_uint_eq(i->source_line, 7);
  ck_assert_uint_eq(i->file, 1);
  ck_assert_uint_eq(i->space, PTX_GLOBAL);
  ck_assert_uint_eq(i->vector, 4);
  ck_assert_int_eq((int64_t)i->operands[1].imm, -16);
  ck_assert_uint_eq(i->operands[0].count, 4);
  i = inst(k, "setp.gt.and.s32 %p3, %r1, 5, !%p1;");
  ck_assert(ptx_has(i, PTX_M_GT) && ptx_has(i, PTX_M_AND) && !ptx_has(i, PTX_M_LT));
  ck_assert(i->operands[3].negated);
  i = inst(k, "shfl.sync.bfly.b32 %r16|%p5, %r1, 1, 31, -1;");
  ck_assert_uint_eq(i->op, PTX_SHFL);
  ck_assert_str_eq(k->regs[i->operands[0].reg2].name, "%p5");
  i = inst(k, "mov.f32 %f3, 0fBBA3D70A;");    /* -0.5e-2, at the width of its instruction */
  ck_assert_uint_eq(i->operands[1].imm_float, 4);
  i = inst(k, "vadd.s32.u32.s32 %r18, %r1.b0, %r2.h1;");
  ck_assert_uint_eq(i->operands[1].part, 1);
  ck_assert_uint_eq(i->operands[2].part, 6);
  i = inst(k, "mov.u32 %r7, 19;");            /* (1 << 4) + 3 * 2 - 7 % 4 */
  i = inst(k, "mov.u32 %r3, 15;");            /* octal 017 */
  i = inst(k, "brx.idx %r1, targets;");
  const struct ptx_table *t = &k->tables[i->operands[1].imm];
  ck_assert_uint_eq(t->count, 3);
  ck_assert_uint_eq(k->insts[t->targets[1]].op, PTX_EXIT);
  i = inst(k, "call (b), %d5, (a), prototype;");
  ck_assert_uint_eq(i->noperands, 4);
  t = &k->tables[i->operands[3].imm];
  ck_assert_uint_eq(t->prototype->nparams, 1);
  ck_assert_uint_eq(t->prototype->nreturns, 1);
  /* `two: @q exit;` ends the text of the function: a ret follows. */
  ck_assert_uint_eq(k->insts[k->ninsts - 1].op, PTX_RET);
  ptx_free(m);
}
END_TEST

START_TEST(test_nvcc)
{
  struct ptx_module *m = fixture("nvcc-sm75.ptx");
  ck_assert_uint_eq(m->target, 75);
  struct ptx_function *f = ptx_find_entry(m, "transpose");
  ck_assert(f && f->nparams == 3);
  ck_assert_str_eq(f->name, "_ZN3geo9transposeILi33EEEvPfPKfi");
  ck_assert_ptr_eq(ptx_find_entry(m, "_Z4pickPii"), ptx_find_entry(m, "pick"));
  ck_assert_ptr_null(ptx_find_entry(m, "geo"));
  /* A line of an inlined function, and of its call. */
  f = ptx_find_entry(m, "reduce");
  unsigned inlined = 0;
  for (size_t i = 0; i < f->ninsts; i++)
    inlined += f->insts[i].op == PTX_SHFL && f->insts[i].author_line == 5;
  ck_assert_uint_eq(inlined, 5);
  ptx_free(m);

  m = fixture("nvcc-sm90-calls.ptx");
  ck_assert_ptr_nonnull(ptx_find_entry(m, "reduce"));
  ck_assert_ptr_nonnull(ptx_find_function(m, "vprintf"));
  ck_assert(!ptx_find_function(m, "vprintf")->has_body);
  struct ptx_symbol *s = ptx_find_symbol(m, "coef");
  static const float coef[] = { 1, 2.5f, 3, 4 };
  ck_assert_mem_eq(s->init, coef, 16);
  s = ptx_find_symbol(m, "table");
  ck_assert_uint_eq(s->nrelocs, 2);
  ck_assert_str_eq(s->relocs[0].function->name, "_Z3fibi");
  ptx_free(m);

  m = fixture("nvcc-sm90a-asm.ptx");
  f = ptx_find_entry(m, "k");
  const struct ptx_inst *tma = NULL;
  for (size_t i = 0; i < f->ninsts && !tma; i++)
    if (f->insts[i].op == PTX_CP_ASYNC_BULK_TENSOR) tma = &f->insts[i];
  ck_assert_ptr_nonnull(tma);
  ck_assert_uint_eq(tma->operands[1].count, 2);
  ck_assert(ptx_has(tma, PTX_M_GLOBAL) && tma->space == PTX_SHARED && ptx_has(tma, PTX_M_2D));
  ptx_free(m);
}
END_TEST

START_TEST(test_same_name_twice)
{
  char *text = malloc(4096);
  sprintf(text, "%s.entry _Z4copyPf() { ret; }\n.entry _Z4copyPd() { ret; }\n"
                ".entry _ZN1a4lastIfLi3EE3runEv() { ret; }\n.entry _ZL5quietv() { ret; }\n"
                ".entry _ZN12_GLOBAL__N_14anonEv() { ret; }", head);
  struct ptx_module *m = must_read(text, strlen(text), "names");
  ck_assert_ptr_null(ptx_find_entry(m, "copy"));
  ck_assert_ptr_nonnull(ptx_find_entry(m, "_Z4copyPd"));
  ck_assert_ptr_nonnull(ptx_find_entry(m, "quiet"));
  ck_assert_ptr_nonnull(ptx_find_entry(m, "anon"));
  ck_assert_ptr_null(ptx_find_entry(m, "cop"));
  ptx_free(m);
  free(text);
}
END_TEST

START_TEST(test_line_ends)
{
  static const char text[] = "\xef\xbb\xbf.version 7.0\r\n.target sm_80, debug\r\n"
                             ".address_size 64\r\n"
                             ".entry k()\r\n{\r\nret;\r\n}";
  struct ptx_module *m = must_read(text, sizeof text - 1, "crlf");
  ck_assert_uint_eq(m->functions[0]->insts[0].line, 6);
  ptx_free(m);
}
END_TEST

/* ---- print, read again -------------------------------------------------------------------- */

static bool same_operand(const struct ptx_function *f, const struct ptx_operand *a,
                         const struct ptx_function *g, const struct ptx_operand *b)
{
  if (a->kind != b->kind || a->negated != b->negated || a->part != b->part ||
      a->has_reg != b->has_reg || a->imm_float != b->imm_float || a->imm != b->imm ||
      a->reg != b->reg || a->reg2 != b->reg2 || a->count != b->count || !a->symbol != !b->symbol)
    return false;
  if (a->symbol && strcmp(a->symbol->name, b->symbol->name)) return false;
  if (a->function && strcmp(a->function->name, b->function->name)) return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!same_operand(f, &f->pool[a->first + i], g, &g->pool[b->first + i])) return false;
  return true;
}

static bool same_inst(const struct ptx_function *f, const struct ptx_inst *a,
                      const struct ptx_function *g, const struct ptx_inst *b)
{
  if (a->op != b->op || a->space != b->space || a->vector != b->vector || a->ntypes != b->ntypes ||
      a->noperands != b->noperands || a->guard != b->guard || a->line != b->line ||
      a->guard_negated != b->guard_negated || memcmp(a->types, b->types, sizeof a->types) ||
      memcmp(a->mods, b->mods, sizeof a->mods) || a->source_line != b->source_line)
    return false;
  for (unsigned k = 0; k < a->noperands; k++)
    if (!same_operand(f, &a->operands[k], g, &b->operands[k])) return false;
  return true;
}

struct place {
  const struct ptx_function *f;
  const struct ptx_inst *i;
};

static int by_line(const void *a, const void *b)
{
  const struct place *x = a, *y = b;
  if (x->i->line != y->i->line) return x->i->line < y->i->line ? -1 : 1;
  return x->i < y->i ? -1 : 1;
}

static unsigned replaced;

/* Puts each printed instruction in the place of the one it was read from, then reads that text. */
static void reread(const char *name, char *text, size_t length)
{
  struct ptx_module *m = must_read(text, length, name);
  struct place *places = NULL;
  size_t n = 0;
  for (size_t k = 0; k < m->nfunctions; k++) {
    const struct ptx_function *f = m->functions[k];
    places = realloc(places, (n + f->ninsts + 1) * sizeof *places);
    for (size_t i = 0; i < f->ninsts; i++) places[n++] = (struct place){ f, &f->insts[i] };
  }
  qsort(places, n, sizeof *places, by_line);
  char *out = malloc(length * 3 + 4096), *to = out;
  const char *from = text, *at = text;
  uint32_t line = 1;
  for (size_t k = 0; k < n; k++) {
    for (; line < places[k].i->line; line++) at = strchr(at, '\n') + 1;
    if (at < from) at = from;
    const char *start = strstr(at, places[k].i->mnemonic), *stop = NULL;
    const char *end_of_line = strchr(at, '\n');
    if (!start || start > end_of_line) continue;      /* a ret that the reader added */
    stop = strchr(start, ';');
    if (places[k].i->guard != PTX_NOREG)
      while (*start != '@') start--;
    memcpy(to, from, (size_t)(start - from));
    to += start - from;
    int printed = ptx_print(places[k].f, places[k].i, to, length);
    ck_assert_int_lt(printed, (int)length);
    to += printed;
    for (const char *p = start; p < stop; p++)
      if (*p == '\n') *to++ = '\n';
    from = stop + 1;
    replaced++;
  }
  strcpy(to, from);
  struct ptx_module *again = must_read(out, strlen(out), name);
  ck_assert_uint_eq(again->nfunctions, m->nfunctions);
  for (size_t k = 0; k < m->nfunctions; k++) {
    const struct ptx_function *f = m->functions[k], *g = again->functions[k];
    ck_assert_uint_eq(f->ninsts, g->ninsts);
    for (size_t i = 0; i < f->ninsts; i++) {
      char was[4096], is[4096];
      ptx_print(f, &f->insts[i], was, sizeof was);
      ptx_print(g, &g->insts[i], is, sizeof is);
      ck_assert_str_eq(was, is);
      ck_assert_msg(same_inst(f, &f->insts[i], g, &g->insts[i]), "%s:%u: %s", name,
                    f->insts[i].line, was);
    }
  }
  ptx_free(again);
  ptx_free(m);
  free(places);
  free(out);
}

START_TEST(test_print)
{
  replaced = 0;
  ck_assert_uint_ge(each_fixture(reread), 9);
  ck_assert_uint_gt(replaced, 1500);

  struct ptx_module *m = fixture("grammar.ptx");
  const struct ptx_function *k = ptx_find_function(m, "corners");
  char little[8];
  int wanted = ptx_print(k, &k->insts[0], little, sizeof little);
  ck_assert_int_eq(wanted, (int)strlen("ld.param.u64 %d1, [data];"));
  ck_assert_str_eq(little, "ld.para");
  ptx_free(m);
}
END_TEST

/* ---- damage ------------------------------------------------------------------------------- */

/* Cut anywhere, a text is read or refused with a line inside it; never more. */
static void cut(const char *name, char *text, size_t length)
{
  size_t step = length < 9000 ? 1 : 7;
  (void)name;
  for (size_t n = 0; n < length; n += step) {
    struct ptx_error e;
    char *exact = malloc(n ? n : 1);      /* so that a sanitizer sees a read past the end */
    memcpy(exact, text, n);
    struct ptx_module *m = ptx_read(exact, n, &e);
    free(exact);
    if (!m) {
      ck_assert_uint_ge(e.line, 1);
      ck_assert_uint_gt(strlen(e.text), 5);
    }
    ptx_free(m);
  }
}

START_TEST(test_cut) { ck_assert_uint_ge(each_fixture(cut), 9); }
END_TEST

static uint64_t random_state;
static uint32_t roll(uint32_t below)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % below);
}

static void damage(const char *name, char *text, size_t length)
{
  static const char bytes[] = "{}[]()<>,;:@!%|.-+0x9_ \n\"\\/*\xff\0r";
  (void)name;
  random_state = 32;
  for (unsigned round = 0; round < 300; round++) {
    char *copy = malloc(length);
    memcpy(copy, text, length);
    for (unsigned k = 0, n = 1 + roll(4); k < n; k++) {
      size_t at = roll((uint32_t)length);
      size_t span = roll(40), from = roll((uint32_t)length);
      if (roll(2)) copy[at] = bytes[roll(sizeof bytes)];
      else if (at + span < length && from + span < length) memmove(copy + at, copy + from, span);
    }
    struct ptx_error e;
    struct ptx_module *m = ptx_read(copy, length, &e);
    for (size_t f = 0; m && f < m->nfunctions; f++)
      for (size_t i = 0; i < m->functions[f]->ninsts; i++) {
        char line[300];
        ptx_print(m->functions[f], &m->functions[f]->insts[i], line, sizeof line);
      }
    ptx_free(m);
    free(copy);
  }
}

START_TEST(test_damage) { ck_assert_uint_ge(each_fixture(damage), 9); }
END_TEST

/* ---- errors ------------------------------------------------------------------------------- */

/* A body (its first line is line 6 of the text), the line of the error, and its text. */
static const struct {
  const char *body;
  uint32_t line;
  const char *text;
} refused[] = {
#define FORMS_OF_BRA "'bra' has too few operands; its operands are: L"
  { "frob.u32 %r1, %r2;", 6, "'frob.u32' is no PTX instruction" },
  { "\n\nadd.u32 %r1, %r2, %r9;", 8, "'%r9' is not declared here" },
  { "add.u32 %r1, %r2;", 6, "'add.u32' has too few operands; its operands are: d a b" },
  { "add.u32 %r1, %r2, %r3, %r4;", 6,
    "'add.u32': operand 4, %r4, cannot stand there; its operands are: d a b" },
  { "add.u32 p, %r1, %r2;", 6,
    "'add.u32': operand 1, p, cannot stand there; its operands are: d a b" },
  { "add.u32 %r1, %r2, %tid.x;", 6,
    "'add.u32': operand 3, %tid.x, cannot stand there; its operands are: d a b" },
  { "setp.lt.u32 %r1, %r2, %r3;", 6,
    "'setp.lt.u32': operand 1, %r1, cannot stand there; its operands are: p|q a b" },
  { "ld.global.v4.f32 {%f1, %f2}, [%d1];", 6,
    "'ld.global.v4.f32': operand 1, {%f1, %f2}, cannot stand there; its operands are: dv [a] b?" },
  { "ld.shared.u32 %r1, %r2;", 6,
    "'ld.shared.u32': operand 2, %r2, cannot stand there; its operands are: dv [a] b?" },
  { "add.u64 %d1, %d2, %r1;", 6, "'add.u64': %r1 is .b32; 64 bits are needed" },
  { "ld.global.u64 %r1, [%d1];", 6, "'ld.global.u64': %r1 is .b32; at least 64 bits are needed" },
  { "cvt.u32.u64 %r1, %r2;", 6, "'cvt.u32.u64': %r2 is .b32; at least 64 bits are needed" },
  { "mov.b64 %d1, {%r1, %h1};", 6, "'mov.b64': 2 elements of 16 bits are not 64 bits" },
  { "popc.u32 %r1, %r2;", 6,
    "'popc.u32': these modifiers and types do not go together; accepted: popc.b32|b64" },
  { "mul24.u32 %r1, %r2, %r3;", 6,
    "'mul24.u32': these modifiers and types do not go together; accepted: mul24.lo|hi.u32|s32" },
  { "rcp.approx.f33 %f1, %f2;", 6,
    "'rcp.approx.f33': '.f33' is no modifier or type of PTX; accepted: "
    "rcp.approx|rn|rz|rm|rp{.ftz}.f32 or rcp.rn|rz|rm|rp.f64 or rcp.approx.ftz.f64" },
  { "bra;", 6, FORMS_OF_BRA },
  { "bra nowhere;", 6, "there is no label 'nowhere' in this function" },
  { "{ here: ret; }\nbra here;", 7, "there is no label 'here' in this function" },
  { "here: ret;\nhere: ret;", 7, "label 'here' stands twice in this scope" },
  { ".reg .b32 %x;", 6, "'%x' is declared twice in this scope" },
  { ".reg .b32 %many<4000000000>;", 6,
    "the number of registers is 4000000000, more than 1048576" },
  { ".reg .b32 %a<1000000>, %b<1000000>;", 6, "more than 1048576 registers in one function" },
  { ".reg .b3 %a;", 6, "expected the type of a register, found '.b3'" },
  { "@%r1 ret;", 6, "the guard '%r1' is no predicate" },
  { "mov.u32 %r1, -%r2;", 6, "expected a number, found '%r2'" },
  { "mov.u32 %r1, 18446744073709551616;", 6, "this number needs more than 64 bits" },
  { "mov.u32 %r1, 089;", 6, "'08' is not a number: base 8 was expected" },
  { "mov.f32 %f1, 0f3F8;", 6, "a float written as 0f needs exactly 8 hexadecimal digits" },
  { "mov.f32 %f1, 1;", 6, "'mov.f32' needs a float literal (0f3F800000, 1.0), not an integer" },
  { "mov.u32 %r1, 0f3F800000;", 6, "'mov.u32' cannot take a float literal of 32 bits" },
  { "mov.u32 %r1, 1 / 0;", 6, "division by zero in a constant expression" },
  { "add.u32 %r1, %r2, %r3\nret;", 7, "expected ';' after 'add.u32', found 'ret'" },
  { "ld.global.u32 %r1, [%h1];", 6, "'%h1' is too narrow for an address" },
  { "ld.global.u32 %r1, [p];", 6, "'p' is too narrow for an address" },
  { "ld.global.u32 %r1, [%d1;", 6, "expected ']' after the address, found ';'" },
  { "not.b32 %r1, !p;", 6, "'not.b32': operand 2, !p, cannot stand there; its operands are: d a" },
  { "and.pred p, q, !%r1;", 6, "'!' stands before a predicate only" },
  { "call k;", 6, "'k' takes 2 arguments and gives 0 results; the call has 0 and 0" },
  { "call %d1, (%r1);", 6, "a call through a register needs a prototype or a list of targets" },
  { ".loc 5 9 1\nret;", 6, ".loc names file 5, which no .file declares" },
  { ".shared .b32 s[2] = {1};", 6, "only .global and .const variables can be initialised" },
  { ".shared .align 3 .b32 s;", 6, "an alignment is a power of two, not 3" },
  { ".shared .b32 s[];", 6, "'s' has neither an extent nor an initialiser" },
  { ".shared .b64 s[4294967296][4294967296];", 6, "this array has more than 2^63 bytes" },
  { ".frob 3;", 6, "'.frob' is no directive of a function's body" },
  { "ret; /* never closed", 6, "this comment is never closed by */" },
  { ".pragma \"never closed;", 6, "this string is never closed by a quote" },
  { "} .visible .entry k(.param .u64 a, .param .u32 n) { ret;", 6,
    "'k' is defined twice, first on line 4" },
  { "} .visible .entry k() { ret;", 6,
    "'k' was declared with 2 parameters and 0 results on line 4" },
  { "} .global .b8 x[2] = {1, 2, 3}; .entry z() {", 6,
    "the initialiser of 'x' is longer than the variable" },
  { "} .global .b32 x = nothing; .entry z() {", 6,
    "'nothing' is no variable or function declared above" },
  { "} .global .b8 y; .global .b32 x = y; .entry z() {", 6,
    "the address of a variable needs an element of 8 bytes, not 4" },
  { "} .global .b8 y; .global .b8 x[9] = {0xFF(y), 3}; .entry z() {", 6,
    "an address given in bytes has only 1 of 8" },
  { "} .global .b8 x[4][1099511627776] = {{1}, {2}}; .entry z() {", 6,
    "the initialiser of 'x' has too many zeros in it" },
  { "} .func f(.reg .u32 a) { ret;", 6,
    "parameters in registers are not supported; declare them .param" },
};

START_TEST(test_refused)
{
  struct ptx_error e;
  char *text = around(refused[_i].body);
  struct ptx_module *m = ptx_read(text, strlen(text), &e);
  free(text);
  ck_assert_msg(m == NULL, "'%s' was read", refused[_i].body);
  ck_assert_str_eq(e.text, refused[_i].text);
  ck_assert_uint_eq(e.line, refused[_i].line);
}
END_TEST

START_TEST(test_refused_text)
{
  struct ptx_error e;
  ck_assert_ptr_null(ptx_read("", 0, &e));
  ck_assert_str_eq(e.text, "PTX begins with .version; this does not");
  ck_assert_ptr_null(ptx_read(head, strlen(".version 8.0\n"), &e));
  ck_assert_str_eq(e.text, "there is no .target");
  static const char old[] = ".version 7.0\n.target sm_70\n.address_size 32\n";
  ck_assert_ptr_null(ptx_read(old, strlen(old), &e));
  ck_assert_str_eq(e.text, "only 64-bit addresses are supported: compile with -m64");
  ck_assert_uint_eq(e.line, 3);
  /* The message names the student's file and line, also where .file comes last. */
  char *text = malloc(4096);
  sprintf(text, "%s.entry k() {\n.loc 1 42 7\nfrob;\n}\n.file\t1 \"kernel.cu\"\n", head);
  ck_assert_ptr_null(ptx_read(text, strlen(text), &e));
  ck_assert_uint_eq(e.source_line, 42);
  ck_assert_str_eq(e.source_file, "kernel.cu");
  /* Nothing of the text can disturb a terminal. */
  sprintf(text, "%s.entry k() {\n\x1b[31m\n}\n", head);
  ck_assert_ptr_null(ptx_read(text, strlen(text), &e));
  ck_assert_str_eq(e.text, "expected an instruction, found '?'");
  free(text);
}
END_TEST

/* ---- accepted and refused as ptxas does --------------------------------------------------- */

/* Each was given to ptxas (CUDA 13.0, sm_90a) and accepted. */
static const char *const accepted[] = {
#include "ptx/accepted.inc"
};

START_TEST(test_accepted)
{
  char *text = around(accepted[_i]);
  struct ptx_module *m = must_read(text, strlen(text), accepted[_i]);
  ptx_free(m);
  free(text);
}
END_TEST

/* ---- texts made to cost much -------------------------------------------------------------- */

static long peak_kib(void)
{
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_maxrss;
}

START_TEST(test_cheap)
{
  long before = peak_kib();
  char *text = around(".shared .b8 s[1099511627776]; .local .b8 t[9223372036854775807];\n"
                      ".reg .b32 %big<1000000>; mov.u32 %big999999, 1;");
  struct ptx_module *m = must_read(text, strlen(text), "huge arrays");
  ck_assert_uint_eq(m->functions[0]->symbols[0]->bytes, 1099511627776u);
  ck_assert_uint_lt(m->functions[0]->nregs, 20);
  ptx_free(m);
  free(text);
  ck_assert_int_lt(peak_kib() - before, 4096);
}
END_TEST

START_TEST(test_deep)
{
  static const struct {
    const char *once, *often;
  } opening[] = {
    { "", "{" }, { "mov.u32 %r1, ", "(" }, { "mov.u32 %r1, ", "~" }, { "mov.b32 %r1, ", "{" },
    { "mov.u32 %r1, ", "1?" }, { "mov.u32 %r1, ", "1?2:" }, { "ld.u32 %r1, ", "[%d1, " },
    { "} .global .b8 x[9] = ", "{" },
  };
  char *body = malloc(1 << 20);
  for (size_t k = 0; k < sizeof opening / sizeof *opening; k++) {
    struct ptx_error e;
    char *to = stpcpy(body, opening[k].once);
    for (int i = 0; i < 100000; i++) to = stpcpy(to, opening[k].often);
    char *text = around(body);
    struct ptx_module *m = ptx_read(text, strlen(text), &e);
    ck_assert_msg(m == NULL, "%s", opening[k].often);
    ck_assert_msg(strstr(e.text, "deep") != NULL, "%s: %s", opening[k].often, e.text);
    free(text);
  }
  free(body);
}
END_TEST

static double seconds_to_read(unsigned lines)
{
  char *body = malloc((size_t)lines * 96 + 64), *to = body;
  for (unsigned i = 0; i < lines; i++)
    to += sprintf(to, "L%u: .reg .b32 z%u; mov.u32 z%u, %u; @p bra L%u;\n", i, i, i, i,
                  lines - 1 - i);
  char *text = around(body);
  struct rusage from, until;
  getrusage(RUSAGE_SELF, &from);
  struct ptx_module *m = must_read(text, strlen(text), "many lines");
  getrusage(RUSAGE_SELF, &until);
  ptx_free(m);
  free(text);
  free(body);
  return (double)(until.ru_utime.tv_sec - from.ru_utime.tv_sec) +
         (double)(until.ru_utime.tv_usec - from.ru_utime.tv_usec) / 1e6;
}

START_TEST(test_linear)
{
  /* Sixteen times the text; a quadratic reader would take 256 times as long. */
  double small = seconds_to_read(4000), large = seconds_to_read(64000);
  ck_assert_msg(large < 80 * small + 0.2, "%.3f s, then %.3f s", small, large);
}
END_TEST

/* ---- the tables --------------------------------------------------------------------------- */

START_TEST(test_tables)
{
  ck_assert_str_eq(ptx_op_text(PTX_CP_ASYNC_BULK_TENSOR), "cp.async.bulk.tensor");
  ck_assert_str_eq(ptx_mod_text(PTX_M_SHARED_CTA), "shared::cta");
  ck_assert_str_eq(ptx_type_text(PTX_T_F16X2), "f16x2");
  ck_assert_uint_eq(ptx_type_bits(PTX_T_F16X2), 32);
  ck_assert_uint_eq(ptx_type_bits(PTX_T_PRED), 1);
  ck_assert_int_eq(ptx_type_kind(PTX_T_S64), PTX_SIGNED);
  ck_assert_str_eq(ptx_special_text(PTX_S_LANEMASK_LT), "%lanemask_lt");
  for (unsigned i = 0; i < PTX_OPS; i++) {
    ck_assert_uint_ge(ptx_form_count((enum ptx_op)i), 1);
    ck_assert_uint_gt(strlen(ptx_op_meaning((enum ptx_op)i)), 5);
    for (unsigned k = i + 1; k < PTX_OPS; k++)
      ck_assert_str_ne(ptx_op_text((enum ptx_op)i), ptx_op_text((enum ptx_op)k));
  }
}
END_TEST

START_TEST(test_page)
{
  char command[512], line[8192];
  const char *banks = getenv("BANKS");
  ck_assert_msg(banks != NULL, "BANKS must name the program");
  snprintf(command, sizeof command, "'%s' instructions", banks);
  FILE *f = popen(command, "r");
  unsigned rows = 0;
  while (fgets(line, sizeof line, f)) {
    unsigned bars = 0;
    for (const char *p = line; *p; p++) bars += *p == '|' && (p == line || p[-1] != '\\');
    if (*line == '|') ck_assert_msg(bars == 7 || (bars == 3 && rows > PTX_OPS), "%s", line);
    rows += *line == '|';
  }
  ck_assert_int_eq(pclose(f), 0);
  ck_assert_uint_gt(rows, PTX_OPS);
}
END_TEST

Suite *suite_ptx(void)
{
  Suite *s = suite_create("ptx");
  TCase *meaning = tcase_create("meaning"), *damage_case = tcase_create("damage");
  TCase *errors = tcase_create("errors"), *cost = tcase_create("cost");
  tcase_add_test(meaning, test_module);
  tcase_add_test(meaning, test_initialisers);
  tcase_add_test(meaning, test_scopes);
  tcase_add_test(meaning, test_operands);
  tcase_add_test(meaning, test_nvcc);
  tcase_add_test(meaning, test_same_name_twice);
  tcase_add_test(meaning, test_line_ends);
  tcase_add_test(meaning, test_print);
  tcase_add_test(meaning, test_tables);
  tcase_add_test(meaning, test_page);
  tcase_add_loop_test(meaning, test_accepted, 0, (int)(sizeof accepted / sizeof *accepted));
  suite_add_tcase(s, meaning);
  tcase_set_timeout(damage_case, 120);
  tcase_add_test(damage_case, test_cut);
  tcase_add_test(damage_case, test_damage);
  suite_add_tcase(s, damage_case);
  tcase_add_loop_test(errors, test_refused, 0, (int)(sizeof refused / sizeof *refused));
  tcase_add_test(errors, test_refused_text);
  suite_add_tcase(s, errors);
  tcase_set_timeout(cost, 120);
  tcase_add_test(cost, test_cheap);
  tcase_add_test(cost, test_deep);
  tcase_add_test(cost, test_linear);
  suite_add_tcase(s, cost);
  return s;
}
