/* The shared arrays of a launch: where each lies, what rows it has, and every access to it.
 *
 * Advice on a layout is only as true as what is known of the array.  Its rows and elements are
 * those of its declaration in the source, checked against the bytes that PTX has; without the
 * source nothing is known.  Memory that a bulk copy or wgmma reads or writes has the layout
 * that those demand. */
#include <stdlib.h>
#include <string.h>

#include "profile/declaration.h"
#include "profile/profile.h"

enum {
  STATIC_MOST = 49152,
  SHARED_MOST = 232448
}; /* bytes a block: declared; with dynamic ones */

const struct profile_array *profile_array_of(const struct profile_array *a, size_t n,
                                             const struct access *access)
{
  uint32_t lanes = model_lanes(access);
  for (size_t k = 0; k < n && lanes; k++) {
    unsigned inside = 0, all = 0;
    for (unsigned t = 0; t < MODEL_LANES; t++) {
      if (!(lanes >> t & 1)) continue;
      all++;
      inside += access->addr[t] >= a[k].base && access->addr[t] - a[k].base < a[k].bytes;
    }
    if (inside == all) return &a[k];
  }
  return NULL;
}

static const struct ptx_inst *inst_of(const struct profile *p, const struct sim_site *s)
{
  return &p->module->functions[s->function]->insts[s->inst];
}

static bool is_shared(const struct sim_site *s)
{
  return s->requests && s->op != MODEL_GLOBAL_LOAD && s->op != MODEL_GLOBAL_STORE;
}

/* Bytes a lane of the instruction itself, and of one of its elements. */
static uint32_t own_width(const struct ptx_inst *i, const struct sim_site *s, uint32_t *element)
{
  *element = s->width;
  if (strncmp(i->mnemonic, "ld.", 3) && strncmp(i->mnemonic, "st.", 3)) {
    if (s->op >= MODEL_LDMATRIX_X1 && s->op <= MODEL_STMATRIX_X4) *element = 2;
    return s->width < 16 && strstr(i->mnemonic, "wmma") ? 16 : s->width;
  }
  if (i->ntypes) *element = ptx_type_bits((enum ptx_type)i->types[i->ntypes - 1]) / 8;
  uint32_t own = *element * (i->vector ? i->vector : 1);
  return own && own < s->width ? own : s->width;
}

static bool uses_wgmma(const struct profile *p)
{
  for (size_t i = 0; i < p->entry->ninsts; i++)
    if (!strncmp(p->entry->insts[i].mnemonic, "wgmma", 5)) return true;
  return false;
}

/* The declaration in one of the files that the accesses come from. */
static void declared(const struct profile *p, struct profile_array *a, const char *name,
                     bool dynamic, uint64_t narrowest, const char *(*source)(void *, uint32_t),
                     void *user)
{
  struct declaration d;
  bool found = false;
  for (size_t k = 0; k < a->nuses && !found; k++) {
    const char *text = source(user, a->uses[k].site->file);
    found =
        text && declaration_find(text, name, dynamic ? 0 : a->bytes, p->flags, p->nflags, &d);
  }
  if (!found) return;
  a->row = d.row;
  a->element = d.element;
  if (d.row) {
    a->rows = PROFILE_ROWS_DECLARED;
  } else if (d.is_struct && d.element && !dynamic) {
    a->rows = PROFILE_ROWS_RECORDS;
    a->row = d.element;
    a->element = narrowest;
  } else if (d.built_in) {
    a->rows = PROFILE_ROWS_NONE;
    if (narrowest > a->element) a->element = narrowest; /* bytes that hold something else */
  }
}

struct profile_array *profile_arrays(const struct profile *p,
                                     const char *(*source)(void *, uint32_t), void *user,
                                     size_t *n)
{
  const struct sim_result *r = p->result;
  struct sim_layout l;
  *n = 0;
  if (!sim_layout_find(p->module, p->entry, &l)) return NULL;
  struct profile_array *arrays = calloc(l.nplaces + 1, sizeof *arrays);
  bool fixed = uses_wgmma(p), memory = arrays != NULL;
  for (size_t k = 0; memory && k < l.nplaces; k++) {
    bool dynamic = l.places[k].symbol->bytes == 0;
    struct profile_array *a = &arrays[*n];
    uint64_t all = (uint64_t)r->static_shared + r->dynamic_shared,
             most = dynamic || all > STATIC_MOST ? SHARED_MOST : STATIC_MOST;
    *a =
        (struct profile_array){.base = l.places[k].offset,
                               .bytes = dynamic ? r->dynamic_shared : l.places[k].symbol->bytes,
                               .room = all < most ? most - all : 0};
    uint32_t narrowest = UINT32_MAX, element;
    a->uses = calloc(r->nsites + 1, sizeof *a->uses);
    memory = a->uses != NULL;
    bool bulk = fixed, whole = true;
    for (size_t i = 0; memory && i < r->nsites; i++) {
      const struct sim_site *s = &r->sites[i];
      if (!is_shared(s)) continue;
      if (!profile_array_of(a, 1, &s->worst)) {
        for (unsigned t = 0; t < MODEL_LANES; t++) /* one access to two arrays: hands off */
          if (model_lanes(&s->worst) >> t & 1)
            whole &= s->worst.addr[t] < a->base || s->worst.addr[t] - a->base >= a->bytes;
        continue;
      }
      const struct ptx_inst *inst = inst_of(p, s);
      a->uses[a->nuses].site = s;
      a->uses[a->nuses++].own = own_width(inst, s, &element);
      if (element < narrowest) narrowest = element;
      a->strided |= !strncmp(inst->mnemonic, "wmma", 4);
      bulk |= strstr(inst->mnemonic, "async.bulk") != NULL;
    }
    if (!memory || !a->nuses) {
      free(a->uses);
      continue;
    }
    ++*n;
    if (bulk)
      a->rows = PROFILE_ROWS_FIXED;
    else if (whole)
      declared(p, a, l.places[k].symbol->name, dynamic, narrowest, source, user);
  }
  free(l.places);
  if (memory) return arrays;
  profile_arrays_free(arrays, *n);
  return NULL;
}

void profile_arrays_free(struct profile_array *a, size_t n)
{
  for (size_t k = 0; k < n; k++) free(a[k].uses);
  free(a);
}
