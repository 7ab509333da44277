/* banks instructions: the PTX the reader knows and what of it the simulator runs, as a page of
 * markdown made from ptx/ops.def and from the simulator's answers (sim/known.h).
 *
 * What a form's refused spellings have in common is found here: a modifier that is refused with all
 * types, a type that is refused with all modifiers, and what is then left, one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "sim/known.h"

/* A table cell: | would end it, and * would be taken for emphasis. */
static void cell(const char *text)
{
  if (!*text) printf(" ");
  for (; *text; text++) printf(strchr("|*_<", *text) ? "\\%c" : "%c", *text);
}

/* ---- the spellings of one form ---------------------------------------------------------------- */

struct one {
  enum ptx_type types[PTX_TYPES_MAX];
  enum ptx_mod extra;
  bool runs, told;
  char why[200];
};
struct all {
  struct one *at;
  size_t n, room;
};

static void collect(void *user, const struct sim_known_answer *a)
{
  struct all *all = user;
  if (all->n == all->room) {
    all->room = all->room ? 2 * all->room : 64;
    all->at = realloc(all->at, all->room * sizeof *all->at);
    if (!all->at) abort();
  }
  struct one *o = &all->at[all->n++];
  *o = (struct one){.extra = a->spelling->extra, .runs = a->known == SIM_KNOWN_RUNS};
  memcpy(o->types, a->spelling->types, sizeof o->types);
  snprintf(o->why, sizeof o->why, "%s", a->why);
}

/* What spellings may have in common: a modifier, the type of a column, or all types. */
enum trait { TRAIT_EXTRA, TRAIT_TYPE, TRAIT_TYPES = TRAIT_TYPE + PTX_TYPES_MAX, TRAIT_ALL, TRAITS };

static bool same(const struct one *a, const struct one *b, unsigned trait)
{
  if (trait == TRAIT_EXTRA) return a->extra == b->extra;
  if (trait < TRAIT_TYPES) return a->types[trait - TRAIT_TYPE] == b->types[trait - TRAIT_TYPE];
  return !memcmp(a->types, b->types, sizeof a->types) &&
         (trait == TRAIT_TYPES || a->extra == b->extra);
}

/* Whether all that share the trait with this one are refused for the same reason. */
static bool common(const struct all *all, const struct one *o, unsigned trait)
{
  if (trait == TRAIT_EXTRA && o->extra == PTX_MODS) return false;
  if (trait >= TRAIT_TYPE && trait <= TRAIT_TYPES && !o->types[0]) return false;
  if (trait < TRAIT_TYPES && trait >= TRAIT_TYPE && !o->types[trait - TRAIT_TYPE]) return false;
  for (size_t k = 0; k < all->n; k++)
    if (same(&all->at[k], o, trait) && (all->at[k].runs || strcmp(all->at[k].why, o->why)) &&
        !(all->at[k].told && !all->at[k].runs))
      return false;
  return true;
}

static void tell(const struct one *o, unsigned trait)
{
  printf("`");
  if (trait == TRAIT_EXTRA || trait == TRAIT_ALL) {
    if (o->extra != PTX_MODS) printf(".%s", ptx_mod_text(o->extra));
  }
  for (unsigned k = 0; trait != TRAIT_EXTRA && k < PTX_TYPES_MAX; k++)
    if (o->types[k] && (trait >= TRAIT_TYPES || trait == TRAIT_TYPE + k))
      printf(".%s", ptx_type_text(o->types[k]));
  printf("`");
}

/* All that is refused for one reason, said as shortly as it can be. */
static void tell_reason(struct all *all, const char *why)
{
  const char *between = "";
  for (unsigned trait = 0; trait < TRAITS; trait++)
    for (size_t k = 0; k < all->n; k++) {
      struct one *o = &all->at[k];
      if (o->runs || o->told || strcmp(o->why, why) || (trait < TRAIT_ALL && !common(all, o, trait)))
        continue;
      printf("%s", between);
      between = ", ";
      bool bare = trait == TRAIT_ALL && o->extra == PTX_MODS && !o->types[0];
      if (bare) printf("alone");
      else tell(o, trait);
      for (size_t n = 0; n < all->n; n++)
        if (same(&all->at[n], o, trait) && !strcmp(all->at[n].why, why)) all->at[n].told = true;
    }
  printf(": ");
  cell(why);
}

static void tell_form(enum ptx_op op, unsigned form)
{
  struct all all = {0};
  sim_known_each(op, form, collect, &all);
  size_t refused = 0, alike = 0;
  for (size_t k = 0; k < all.n; k++) {
    refused += !all.at[k].runs;
    alike += !all.at[k].runs && !strcmp(all.at[k].why, all.at[0].why);
  }
  if (!refused) {
    printf("yes");
  } else if (alike == all.n) {
    printf("no: ");
    cell(all.at[0].why);
  } else {
    const char *between = refused == all.n ? "no; " : "yes, but not ";
    for (size_t k = 0; k < all.n; k++) {
      if (all.at[k].runs || all.at[k].told) continue;
      printf("%s", between);
      between = "; ";
      tell_reason(&all, all.at[k].why);
    }
  }
  free(all.at);
}

int command_instructions(int argc, char **argv)
{
  if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
    printf("usage: banks instructions\n"
           "  prints every PTX instruction that is read, and what the simulator runs of it, as markdown\n");
    return CLI_OK;
  }
  if (argc > 1) {
    fprintf(stderr, "banks instructions: takes no arguments, not '%s'\n", argv[1]);
    return CLI_USAGE;
  }
  printf("# PTX instructions\n\n"
         "Every instruction that can be read, and whether the simulator runs it. This page is what\n"
         "`banks instructions` prints; what stands under *runs* are the simulator's own answers, with\n"
         "every type of a row and every modifier. What it does not run it refuses when the kernel is\n"
         "loaded, with the line and the reason given here. Nothing is left out silently.\n\n"
         "Operands: `d` destination, `p` predicate, `a` `b` `c` `e` sources, `s` source predicate,\n"
         "`v` or a vector, `{a}` a vector, `[a]` address, `[t]` tensor with coordinates, `#`\n"
         "immediate, `L` label, `F` function, `T` table, `x` any, `?` may be left out, `...` any\n"
         "number. Modifiers: one of each group at most; `!` one is needed; `*` any. The types `int`\n"
         "are `u16` to `s64`, `bits` are `b16` to `b64`.\n\n"
         "| instruction | operands | modifiers | types | runs | meaning |\n|---|---|---|---|---|---|\n");
  for (unsigned op = 0; op < PTX_OPS; op++)
    for (unsigned i = 0; i < ptx_form_count((enum ptx_op)op); i++) {
      struct ptx_form f = ptx_form((enum ptx_op)op, i);
      printf("| %s | ", i ? "" : ptx_op_text((enum ptx_op)op));
      cell(f.shape);
      printf(" | ");
      cell(f.mods);
      printf(" | ");
      cell(f.types);
      printf(" | ");
      tell_form((enum ptx_op)op, i);
      printf(" | ");
      cell(i ? "" : ptx_op_meaning((enum ptx_op)op));
      printf(" |\n");
    }
  printf("\n## Special registers\n\n| register | runs |\n|---|---|\n");
  for (unsigned k = 0; k < PTX_SPECIALS; k++) {
    struct sim_known_answer a;
    sim_known_special((enum ptx_special)k, &a);
    printf("| ");
    cell(ptx_special_text((enum ptx_special)k));
    printf(" | ");
    if (a.known != SIM_KNOWN_RUNS) printf("no: ");
    cell(a.known == SIM_KNOWN_RUNS ? "yes" : a.why);
    printf(" |\n");
  }
  return CLI_OK;
}
