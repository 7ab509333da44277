/* banks reset: puts starters back into exercises/.
 *
 * Nothing a student wrote is ever lost: what is in the way is kept beside it as FILE.orig-1,
 * FILE.orig-2, ..., the first number that is free. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"

enum { MOST_KEPT = 9999 };

/* Moves `path` out of the way; *kept is its number, 0 when there was nothing.  renameat2 never
 * overwrites; a link and an unlink do the same where the file system does not know it. */
static bool keep(const char *path, int *kept)
{
  char to[900];
  struct stat s;
  *kept = 0;
  if (lstat(path, &s)) return errno == ENOENT;
  for (int n = 1; n <= MOST_KEPT; n++) {
    snprintf(to, sizeof to, "%s.orig-%d", path, n);
    bool moved = renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_NOREPLACE) == 0;
    if (!moved && (errno == EINVAL || errno == ENOSYS))
      moved = link(path, to) == 0 && unlink(path) == 0;
    if (moved) {
      *kept = n;
      return true;
    }
    if (errno != EEXIST) return false;
  }
  return false;
}

static bool write_new(const char *path, const char *text, size_t size)
{
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  bool ok = f && fwrite(text, 1, size, f) == size;
  if (f && fclose(f)) ok = false;
  return ok;
}

static int reset(const char *root, const struct exercise *x)
{
  char chapter[64], folder[600], path[800], why[256];
  size_t size, now_size;
  bool missing;
  int kept, status = CLI_OURS;
  suite_chapter(x, chapter, sizeof chapter);
  snprintf(folder, sizeof folder, "%s/" SUITE_STARTERS, root);
  char *starter = suite_read(folder, x, &size, &missing, why, sizeof why);
  if (!starter) {
    fprintf(stderr, "banks: " SUITE_STARTERS "/%s: %s; get the workbook's folder anew\n", chapter,
            why);
    return CLI_OURS;
  }
  snprintf(folder, sizeof folder, "%s/exercises", root);
  char *now = suite_read(folder, x, &now_size, &missing, why, sizeof why);
  snprintf(folder, sizeof folder, "%s/exercises/%s", root, chapter);
  snprintf(path, sizeof path, "%s/%s", folder, x->file);
  if (now && now_size == size && !memcmp(now, starter, size)) {
    printf("exercises/%s/%s is the starter already\n", chapter, x->file);
    status = CLI_OK;
  } else if ((mkdir(folder, 0777) && errno != EEXIST) || !keep(path, &kept) ||
             !write_new(path, starter, size)) {
    fprintf(stderr, "banks: exercises/%s/%s: the starter cannot be put back: %s\n", chapter,
            x->file, strerror(errno));
  } else {
    printf("exercises/%s/%s is the starter again", chapter, x->file);
    if (kept) printf("; what was there is now %s.orig-%d", x->file, kept);
    printf("\n");
    status = CLI_OK;
  }
  free(now);
  free(starter);
  return status;
}

int command_reset(int argc, char **argv)
{
  struct cli_options o;
  char root[512];
  int status = cli_parse(argc, argv, OPTION_ALL | OPTION_ROOT, "reset EXERCISE...|--all", 0, 1000,
                         &o);
  if (status >= 0) return status;
  if (o.all == (o.nids > 0)) {
    fprintf(stderr, "banks: name the exercises to reset (make reset EX=04-padding/transpose), or "
            "--all\n");
    return CLI_USAGE;
  }
  if (!suite_root(o.grade.root, root, sizeof root, o.why, sizeof o.why)) {
    fprintf(stderr, "banks: %s\n", o.why);
    return CLI_USAGE;
  }
  status = CLI_OK;
  for (size_t i = 0; o.all && suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++) {
      int s = reset(root, x);
      if (s > status) status = s;
    }
  for (int i = 0; i < o.nids; i++) {
    int s = reset(root, o.ids[i]);
    if (s > status) status = s;
  }
  return status;
}
