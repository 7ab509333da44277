/* The sub-commands of banks, one file each; commands.def is their table.
 *
 * A command gets its own name as argv[0] and returns an exit status: */
#ifndef CLI_H
#define CLI_H

#define BANKS_VERSION "1.0"

enum {
  CLI_OK = 0,      /* done; `grade`: graded, whatever the score */
  CLI_FAILED = 1,  /* `check`: not all passed; `profile`: a fault in the kernel */
  CLI_USAGE = 2,   /* bad input: one line on standard error says which and what to do */
  CLI_OURS = 3     /* our fault, or the machine's */
};

#define COMMAND(name, summary) int command_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

#endif
