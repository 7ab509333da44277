/* banks hint: the next hint of an exercise, one more each time.
 *
 * How many were given is kept in .progress/ in the workbook's folder, a small file an
 * exercise. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/options.h"

static void place(char *out, size_t size, const char *root, const char *id)
{
  int start = snprintf(out, size, "%s/.progress/", root);
  snprintf(out + start, size - (size_t)start, "%s", id);
  for (char *s = out + start; *s; s++)
    if (*s == '/') *s = '-';
}

static unsigned given_before(const char *path)
{
  unsigned n = 0;
  FILE *f = fopen(path, "re");
  if (!f) return 0;
  if (fscanf(f, "hints %u", &n) != 1) n = 0;
  fclose(f);
  return n;
}

static bool remember(const char *root, const char *path, unsigned n)
{
  char folder[1024];
  snprintf(folder, sizeof folder, "%s/.progress", root);
  if (mkdir(folder, 0777) && errno != EEXIST) return false;
  FILE *f = fopen(path, "we");
  if (!f) return false;
  fprintf(f, "hints %u\n", n);
  return fclose(f) == 0;
}

int command_hint(int argc, char **argv)
{
  struct cli_options o;
  char root[512], path[800];
  int status =
    cli_parse(argc, argv, OPTION_ALL | OPTION_ROOT, "hint EXERCISE [--all]", 1, 1, &o);
  if (status >= 0) return status;
  const struct exercise *x = o.ids[0];
  unsigned count = 0;
  while (x->hints && x->hints[count]) count++;
  if (o.all) {
    for (unsigned i = 0; i < count; i++) printf("hint %u of %u: %s\n", i + 1, count, x->hints[i]);
    return CLI_OK;
  }
  if (!suite_root(o.grade.root, root, sizeof root, o.why, sizeof o.why)) {
    fprintf(stderr, "banks: %s\n", o.why);
    return CLI_USAGE;
  }
  place(path, sizeof path, root, x->id);
  unsigned n = given_before(path);
  if (n >= count) {
    printf("There are no more hints for %s. All again: build/banks hint %s --all\n"
           "The chapter: %s. A solution to read: solutions/%.*s/%s\n", x->id, x->id,
           x->read ? x->read : "chapters/", (int)strcspn(x->id, "/"), x->id, x->file);
    return CLI_OK;
  }
  printf("hint %u of %u: %s\n", n + 1, count, x->hints[n]);
  if (!remember(root, path, n + 1)) {
    fprintf(stderr, "banks: %s: cannot remember that this hint was given: %s\n", path,
            strerror(errno));
    return CLI_OURS;
  }
  return CLI_OK;
}
