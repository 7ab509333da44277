/* Where a kernel's shared variables lie, as ptxas places them: those that the kernel, or what it can
 * reach (reach.c), names; at their alignment, in order of declaration; extern arrays after them, all
 * at one place.  Launches and the joining of accesses ask here, so they agree. */
#include <stdlib.h>

#include "internal.h"

struct candidate {
  struct ptx_symbol *symbol;
  size_t rank;                 /* in order of declaration */
  bool used;
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

/* Marks the variables that operands name. */
static void use_operands(struct candidate *vars, size_t n, const struct ptx_operand *o, size_t count)
{
  for (size_t k = 0; k < count; k++) {
    if (!o[k].symbol || o[k].symbol->space != PTX_SHARED) continue;
    struct candidate key = {.symbol = o[k].symbol}, *c;
    c = bsearch(&key, vars, n, sizeof key, by_symbol);
    if (c) c->used = true;
  }
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
  size_t n = all_shared(m, NULL);
  struct candidate *vars = malloc((n + 1) * sizeof *vars);
  *l = (struct sim_layout){.places = calloc(n + 1, sizeof *l->places)};
  if (!vars || !l->places) {
    free(vars);
    free(l->places);
    l->places = NULL;
    return false;
  }
  all_shared(m, vars);
  qsort(vars, n, sizeof *vars, by_symbol);
  bool *reached = n ? reach_from(m, f) : NULL;
  for (size_t k = 0; n && k < m->nfunctions; k++) {
    const struct ptx_function *g = m->functions[k];
    if (!reached[k]) continue;
    for (size_t i = 0; i < g->ninsts; i++)
      use_operands(vars, n, g->insts[i].operands, g->insts[i].noperands);
    use_operands(vars, n, g->pool, g->npool);
  }
  free(reached);
  for (size_t k = 0; k < n; k++)
    if (vars[k].used) vars[l->nplaces++] = vars[k];
  qsort(vars, l->nplaces, sizeof *vars, by_line);
  place_all(l, vars);
  qsort(l->places, l->nplaces, sizeof *l->places, by_place);
  free(vars);
  return true;
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
