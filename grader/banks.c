/* banks: learn, grade and predict shared-memory bank conflicts.  One table of sub-commands. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "toolchain/toolchain.h"

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} commands[] = {
#define COMMAND(name, summary) {#name, command_##name, summary},
#include "cli/commands.def"
#undef COMMAND
};

static void usage(FILE *to)
{
  fprintf(to, "usage: banks COMMAND [ARGUMENTS]\n\n");
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (*commands[i].summary)   /* commands without one are for the program itself */
      fprintf(to, "  %-12s %s\n", commands[i].name, commands[i].summary);
  fprintf(to, "\nbanks COMMAND --help explains one.\n");
}

int main(int argc, char **argv)
{
  if (argc < 2) {
    usage(stderr);
    return CLI_USAGE;
  }
  if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
    printf("banks " BANKS_VERSION "\n");
    return CLI_OK;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    usage(stdout);
    return CLI_OK;
  }
  if (strcmp(argv[1], "worker")) toolchain_temp_guard();
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 1, argv + 1);
  fprintf(stderr, "banks: there is no command '%s'; `banks help` lists them\n", argv[1]);
  return CLI_USAGE;
}
