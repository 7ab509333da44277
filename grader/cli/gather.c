/* banks gather: the expected wavefronts of a random gather, by the pitch of the table. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/rows.h"
#include "model/model.h"

static const char usage[] =
  "usage: banks gather [--rows N] [--pitch WORDS]\n"
  "\n"
  "Each of 32 lanes draws one of N rows (default 64) of a table in shared memory, and all read\n"
  "the same column of it.  Prints the expected wavefronts for rows WORDS words apart (default: "
  "some\n"
  "pitches from 32 to 48).\n";

static int complain(const char *option, const char *value)
{
  fprintf(stderr, "banks gather: %s: expected a whole number from 1 to 100000, found '%s'; see "
          "--help\n", option, value ? value : "nothing");
  return CLI_USAGE;
}

static void print_row(uint32_t rows, uint32_t pitch)
{
  printf("%u rows, pitch %u: %.1f wavefronts expected\n", rows, pitch,
         model_gather_expected(rows, pitch));
}

int command_gather(int argc, char **argv)
{
  uint64_t rows = 64, pitch = 0;
  int i = 1;
  while (i < argc) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      fputs(usage, stdout);
      return CLI_OK;
    }
    uint64_t *to = NULL;
    if (!strcmp(argv[i], "--rows")) to = &rows;
    if (!strcmp(argv[i], "--pitch")) to = &pitch;
    if (!to) {
      fprintf(stderr, "banks gather: unknown argument '%s'; see --help\n", argv[i]);
      return CLI_USAGE;
    }
    const char *value = argv[i + 1];
    if (!value || !rows_address(value, strlen(value), to) || *to < 1 || *to > 100000)
      return complain(argv[i], value);
    i += 2;
  }
  static const uint32_t some[] = {32, 33, 34, 36, 40, 48};
  if (pitch) print_row((uint32_t)rows, (uint32_t)pitch);
  else for (size_t i = 0; i < sizeof some / sizeof *some; i++) print_row((uint32_t)rows, some[i]);
  return CLI_OK;
}
