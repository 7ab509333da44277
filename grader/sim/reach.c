/* Which functions a kernel can reach: those it calls and those they call; and, where one of them calls
 * through a pointer, every function whose address is taken anywhere in the module - in an instruction
 * of any function, or in an initialised variable, like a table of virtual functions - since the
 * pointer may come from another kernel.
 *
 * ptxas (13.0) gives a kernel the shared variables of the same functions, as its section
 * .nv.shared.KERNEL shows: all whose address is taken, whatever prototype or .calltargets the call
 * names, and even if none but a function without callers takes it.  It does so too when a function
 * reached only names another one, or a variable that holds or leads to one, without a call.  A
 * kernel's own address does not count, and functions that are called directly add themselves alone.
 * (Of several kernels that name one table and don't call, it does so for some, by their order;
 * here for all.)
 *
 * A file of many kernels may hold one that is not simulated; it is no reason to refuse another. */
#include <stdlib.h>

#include "internal.h"

struct reach {
  const struct ptx_module *module;
  const void **met;            /* a hash set of functions, by their names, and of variables */
  size_t room;                 /* a power of two */
  const struct ptx_function **functions;   /* in the order they were met */
  const struct ptx_symbol **symbols;       /* variables that hold addresses */
  size_t nfunctions, nsymbols;
  bool pointers;               /* any function whose address is taken may be called */
};

static size_t place_of(const struct reach *r, const void *key)
{
  size_t at = ((uintptr_t)key >> 3) * 0x9e3779b97f4a7c15u >> 20 & (r->room - 1);
  while (r->met[at] && r->met[at] != key) at = (at + 1) & (r->room - 1);
  return at;
}

static bool is_new(struct reach *r, const void *key)
{
  size_t at = place_of(r, key);
  if (r->met[at]) return false;
  r->met[at] = key;
  return true;
}

/* A copy with loops unrolled shares its source's name: they are one. */
static void reach_function(struct reach *r, const struct ptx_function *f)
{
  if (is_new(r, f->name)) r->functions[r->nfunctions++] = f;
}

static void name_function(struct reach *r, const struct ptx_function *f)
{
  if (f && !f->is_entry) r->pointers = true;
}

static void name_symbol(struct reach *r, const struct ptx_symbol *s)
{
  if (s && s->nrelocs && is_new(r, s)) r->symbols[r->nsymbols++] = s;
}

static void look_into(struct reach *r, const struct ptx_function *f)
{
  for (size_t k = 0; k < f->ninsts; k++) {
    const struct ptx_inst *in = &f->insts[k];
    for (unsigned o = 0; o < in->noperands; o++) {
      const struct ptx_operand *x = &in->operands[o];
      name_symbol(r, x->symbol);
      if (in->op != PTX_CALL) name_function(r, x->function);
      else if (x->function) reach_function(r, x->function);
      else if (x->kind == PTX_O_REG) r->pointers = true;
    }
  }
  for (size_t k = 0; k < f->npool; k++) {
    name_symbol(r, f->pool[k].symbol);
    name_function(r, f->pool[k].function);
  }
}

/* ---- functions whose address is taken ----------------------------------------------------------- */

static void take_function(struct reach *r, const struct ptx_function *f)
{
  if (f && !f->is_entry) reach_function(r, f);
}

static void take_symbols(struct reach *r, struct ptx_symbol **list, size_t n)
{
  for (size_t k = 0; k < n; k++)
    for (size_t o = 0; o < list[k]->nrelocs; o++) take_function(r, list[k]->relocs[o].function);
}

static void take_all(struct reach *r)
{
  const struct ptx_module *m = r->module;
  take_symbols(r, m->symbols, m->nsymbols);
  for (size_t n = 0; n < m->nfunctions; n++) {
    const struct ptx_function *f = m->functions[n];
    take_symbols(r, f->symbols, f->nsymbols);
    for (size_t k = 0; k < f->ninsts; k++)
      for (unsigned o = 0; f->insts[k].op != PTX_CALL && o < f->insts[k].noperands; o++)
        take_function(r, f->insts[k].operands[o].function);
    for (size_t k = 0; k < f->npool; k++) take_function(r, f->pool[k].function);
  }
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static size_t holders(struct ptx_symbol **list, size_t n)
{
  size_t count = 0;
  for (size_t k = 0; k < n; k++) count += list[k]->nrelocs != 0;
  return count;
}

bool *reach_from(const struct ptx_module *m, const struct ptx_function *kernel)
{
  struct reach r = {.module = m};
  size_t symbols = holders(m->symbols, m->nsymbols);
  for (size_t k = 0; k < m->nfunctions; k++)
    symbols += holders(m->functions[k]->symbols, m->functions[k]->nsymbols);
  for (r.room = 16; r.room < 2 * (m->nfunctions + symbols + 1);) r.room *= 2;
  bool *reached = calloc(m->nfunctions + 1, sizeof *reached);
  r.met = calloc(r.room, sizeof *r.met);
  r.functions = calloc(m->nfunctions + 1, sizeof *r.functions);
  r.symbols = calloc(symbols + 1, sizeof *r.symbols);
  if (!reached || !r.met || !r.functions || !r.symbols) abort();

  if (kernel) reach_function(&r, kernel);
  for (size_t k = 0; !kernel && k < m->nfunctions; k++) reach_function(&r, m->functions[k]);
  bool taken = false;
  for (size_t f = 0, s = 0; f < r.nfunctions || s < r.nsymbols;) {
    if (f < r.nfunctions) {
      look_into(&r, r.functions[f++]);
    } else {
      const struct ptx_symbol *holder = r.symbols[s++];
      for (size_t k = 0; k < holder->nrelocs; k++) {
        name_function(&r, holder->relocs[k].function);
        name_symbol(&r, holder->relocs[k].symbol);
      }
    }
    if (r.pointers && !taken) take_all(&r);
    taken = r.pointers;
  }
  for (size_t k = 0; k < m->nfunctions; k++)
    reached[k] = r.met[place_of(&r, m->functions[k]->name)] != NULL;
  free(r.met);
  free(r.functions);
  free(r.symbols);
  return reached;
}
