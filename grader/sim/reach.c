/* Which functions a kernel can reach: those it calls, those whose address it can see - in an
 * instruction, or in an initialised variable, like a table of virtual functions - and theirs.
 *
 * A file of many kernels may hold one that is not simulated; it is no reason to refuse another. */
#include <stdlib.h>

#include "internal.h"

struct reach {
  const struct ptx_module *module;
  bool *seen;
  struct ptx_function **todo;
  size_t ntodo;
  const struct ptx_symbol **symbols;   /* looked into */
  size_t nsymbols, room;
};

static void reach_function(struct reach *r, const struct ptx_function *f)
{
  for (size_t k = 0; k < r->module->nfunctions; k++) {
    if (r->module->functions[k] != f || r->seen[k]) continue;
    r->seen[k] = true;
    r->todo[r->ntodo++] = r->module->functions[k];
  }
}

static void reach_symbol(struct reach *r, const struct ptx_symbol *s)
{
  if (!s || !s->nrelocs) return;
  for (size_t k = 0; k < r->nsymbols; k++)
    if (r->symbols[k] == s) return;
  if (r->nsymbols == r->room) {
    r->room = r->room ? 2 * r->room : 16;
    const struct ptx_symbol **more = realloc(r->symbols, r->room * sizeof *more);
    if (!more) abort();
    r->symbols = more;
  }
  r->symbols[r->nsymbols++] = s;
}

static void reach_operand(struct reach *r, const struct ptx_function *f,
                          const struct ptx_operand *o)
{
  if (o->function) reach_function(r, o->function);
  reach_symbol(r, o->symbol);
  if (o->kind != PTX_O_TABLE || o->imm >= f->ntables) return;
  const struct ptx_table *t = &f->tables[o->imm];
  for (size_t k = 0; t->functions && k < t->count; k++)
    if (t->functions[k]) reach_function(r, t->functions[k]);
}

bool *reach_from(const struct ptx_module *m, const struct ptx_function *kernel)
{
  struct reach r = {.module = m, .seen = calloc(m->nfunctions + 1, sizeof *r.seen),
                    .todo = calloc(m->nfunctions + 1, sizeof *r.todo)};
  if (!r.seen || !r.todo) abort();
  if (kernel) reach_function(&r, kernel);
  for (size_t k = 0; !kernel && k < m->nfunctions; k++) reach_function(&r, m->functions[k]);
  for (size_t done = 0, looked = 0; done < r.ntodo || looked < r.nsymbols;) {
    if (done < r.ntodo) {
      const struct ptx_function *f = r.todo[done++];
      for (size_t k = 0; k < f->ninsts; k++)
        for (unsigned o = 0; o < f->insts[k].noperands; o++)
          reach_operand(&r, f, &f->insts[k].operands[o]);
      for (size_t k = 0; k < f->npool; k++) reach_operand(&r, f, &f->pool[k]);
      continue;
    }
    const struct ptx_symbol *s = r.symbols[looked++];
    for (size_t k = 0; k < s->nrelocs; k++) {
      if (s->relocs[k].function) reach_function(&r, s->relocs[k].function);
      reach_symbol(&r, s->relocs[k].symbol);
    }
  }
  free(r.todo);
  free(r.symbols);
  return r.seen;
}
