/* banks instructions: the PTX the reader knows, as a page of markdown made from ptx/ops.def. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "ptx/ptx.h"

/* A table cell: | would end it, and * would be taken for emphasis. */
static void cell(const char *text)
{
  if (!*text) printf(" ");
  for (; *text; text++) printf(strchr("|*_<", *text) ? "\\%c" : "%c", *text);
}

int command_instructions(int argc, char **argv)
{
  if (argc > 1) {
    fprintf(stderr, "banks instructions: takes no arguments, not '%s'\n", argv[1]);
    return CLI_USAGE;
  }
  printf("# PTX instructions\n\n"
         "Operands: `d` destination, `p` predicate, `a` `b` `c` sources, `s` source predicate,\n"
         "`v` or a vector, `[a]` address, `[t]` tensor with coordinates, `#` immediate, `L` label,\n"
         "`?` may be left out, `...` any. Modifiers: one of each group at most; `!` one is\n"
         "needed; `*` any.\n\n"
         "| instruction | operands | modifiers | types | meaning |\n|---|---|---|---|---|\n");
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
      cell(i ? "" : ptx_op_meaning((enum ptx_op)op));
      printf(" |\n");
    }
  return CLI_OK;
}
