/* Where a kernel's shared variables lie, as ptxas places them: those that the kernel, or what it may
 * call, names; at their alignment, in order of declaration; extern arrays after them, all at one
 * place.  Launches and the joining of accesses ask here, so they agree. */
#include <stdlib.h>

#include "internal.h"

struct candidate {
  struct ptx_symbol *symbol;
  size_t rank;                 /* in order of declaration */
  bool used;
};

struct reach {
  const struct ptx_module *module;
  const struct ptx_function **functions;   /* in the order they were reached; module->nfunctions fit */
  size_t nfunctions;
  bool all;                    /* an indirect call was met: it may go anywhere */
  struct candidate *vars;      /* by address of the symbol */
  size_t nvars;
};

static int by_symbol(const void *a, const void *b)
{
  uintptr_t x = (uintptr_t)((const struct candidate *)a)->symbol;
  uintptr_t y = (uintptr_t)((const struct candidate *)b)->symbol;
  return x < y ? -1 : x > y;
}

static int by_line(const void *a, const void *b)
{
  const struct candidate *x = a, *y = b;
  if (x->symbol->line != y->symbol->line) return x->symbol->line < y->symbol->line ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_place(const void *a, const void *b)
{
  uintptr_t x = (uintptr_t)((const struct sim_place *)a)->symbol;
  uintptr_t y = (uintptr_t)((const struct sim_place *)b)->symbol;
  return x < y ? -1 : x > y;
}

static int is_place(const void *symbol, const void *place)
{
  uintptr_t x = (uintptr_t)symbol, y = (uintptr_t)((const struct sim_place *)place)->symbol;
  return x < y ? -1 : x > y;
}

static void reach_function(struct reach *r, const struct ptx_function *f)
{
  if (!f || !f->has_body) return;
  for (size_t k = 0; k < r->nfunctions; k++)
    if (r->functions[k] == f) return;
  r->functions[r->nfunctions++] = f;
}

static void reach_operand(struct reach *r, const struct ptx_operand *o)
{
  reach_function(r, o->function);
  if (!o->symbol || o->symbol->space != PTX_SHARED || !r->nvars) return;
  struct candidate key = {.symbol = o->symbol}, *c;
  c = bsearch(&key, r->vars, r->nvars, sizeof key, by_symbol);
  if (c) c->used = true;
}

static void reach_all(struct reach *r, const struct ptx_function *f)
{
  for (size_t k = 0; k < f->ninsts; k++) {
    const struct ptx_inst *in = &f->insts[k];
    for (unsigned o = 0; o < in->noperands; o++) reach_operand(r, &in->operands[o]);
    bool direct = in->op != PTX_CALL || in->operands[0].kind == PTX_O_FUNCTION ||
                  (in->noperands > 1 && in->operands[1].kind == PTX_O_FUNCTION);
    if (direct || r->all) continue;
    r->all = true;
    for (size_t g = 0; g < r->module->nfunctions; g++)
      if (!r->module->functions[g]->is_entry) reach_function(r, r->module->functions[g]);
  }
  for (size_t k = 0; k < f->npool; k++) reach_operand(r, &f->pool[k]);
}

/* Adds the shared ones of a list to v, where there is one.  Returns how many they are. */
static size_t add_shared(struct candidate *v, size_t rank, struct ptx_symbol **list, size_t n)
{
  size_t count = 0;
  for (size_t k = 0; k < n; k++) {
    if (list[k]->space != PTX_SHARED) continue;
    if (v) v[rank + count] = (struct candidate){list[k], rank + count, false};
    count++;
  }
  return count;
}

static size_t all_shared(const struct ptx_module *m, struct candidate *v)
{
  size_t n = add_shared(v, 0, m->symbols, m->nsymbols);
  for (size_t f = 0; f < m->nfunctions; f++)
    n += add_shared(v, n, m->functions[f]->symbols, m->functions[f]->nsymbols);
  return n;
}

/* Places the variables, which stand in order of declaration. */
static void place_all(struct sim_layout *l, const struct candidate *v)
{
  uint64_t at = SIM_SHARED_BASE, align = 16;
  for (size_t k = 0; k < l->nplaces; k++) {
    struct ptx_symbol *s = v[k].symbol;
    if (s->is_extern && s->bytes == 0) {
      if (s->align > align) align = s->align;
      continue;
    }
    at = round_up(at, s->align ? s->align : 1);
    l->places[k] = (struct sim_place){s, (uint32_t)at};
    at += s->bytes;
    if (at > UINT32_MAX / 2) at = UINT32_MAX / 2;   /* the launch refuses it */
  }
  l->bytes = (uint32_t)at - SIM_SHARED_BASE;
  l->dynamic_at = (uint32_t)round_up(at, align);
  for (size_t k = 0; k < l->nplaces; k++)
    if (!l->places[k].symbol) l->places[k] = (struct sim_place){v[k].symbol, l->dynamic_at};
}

bool sim_layout_find(const struct ptx_module *m, const struct ptx_function *f, struct sim_layout *l)
{
  struct reach r = {.module = m, .nvars = all_shared(m, NULL)};
  r.functions = malloc((m->nfunctions + 1) * sizeof *r.functions);
  r.vars = malloc((r.nvars + 1) * sizeof *r.vars);
  *l = (struct sim_layout){.places = calloc(r.nvars + 1, sizeof *l->places)};
  bool ok = r.functions && r.vars && l->places;
  if (ok) {
    all_shared(m, r.vars);
    qsort(r.vars, r.nvars, sizeof *r.vars, by_symbol);
    reach_function(&r, f);
    for (size_t n = 0; n < r.nfunctions; n++) reach_all(&r, r.functions[n]);
    for (size_t k = 0; k < r.nvars; k++)
      if (r.vars[k].used) r.vars[l->nplaces++] = r.vars[k];
    qsort(r.vars, l->nplaces, sizeof *r.vars, by_line);
    place_all(l, r.vars);
    qsort(l->places, l->nplaces, sizeof *l->places, by_place);
  } else {
    free(l->places);
    l->places = NULL;
  }
  free(r.functions);
  free(r.vars);
  return ok;
}

uint32_t sim_layout_at(const struct sim_layout *l, const struct ptx_symbol *symbol)
{
  const struct sim_place *p =
      l->nplaces ? bsearch(symbol, l->places, l->nplaces, sizeof *p, is_place) : NULL;
  return p ? p->offset : UINT32_MAX;
}

/* Forgets where the last launch had them. */
static void forget(struct ptx_symbol **list, size_t n)
{
  for (size_t k = 0; k < n; k++)
    if (list[k]->space == PTX_SHARED) list[k]->offset = 0;
}

uint32_t sim_shared_layout(const struct ptx_module *m, const struct ptx_function *entry,
                           uint32_t *dynamic_at)
{
  struct sim_layout l;
  if (!sim_layout_find(m, entry, &l)) abort();
  forget(m->symbols, m->nsymbols);
  for (size_t f = 0; f < m->nfunctions; f++)
    forget(m->functions[f]->symbols, m->functions[f]->nsymbols);
  for (size_t k = 0; k < l.nplaces; k++)
    l.places[k].symbol->offset = l.places[k].offset;
  *dynamic_at = l.dynamic_at;
  free(l.places);
  return l.bytes;
}
