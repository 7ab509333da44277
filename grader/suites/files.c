/* Where the workbook is, and reading students' files without trusting them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites/suite.h"

static bool is_folder(const char *path)
{
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool is_root(const char *path)
{
  char sub[PATH_MAX + 16];
  snprintf(sub, sizeof sub, "%s/exercises", path);
  if (!is_folder(sub)) return false;
  snprintf(sub, sizeof sub, "%s/grader", path);
  return is_folder(sub);
}

static bool upwards(char *path, char *root, size_t size)
{
  for (;;) {
    if (is_root(*path ? path : "/")) {
      snprintf(root, size, "%s", *path ? path : "/");
      return true;
    }
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    *slash = 0;
  }
}

bool suite_root(const char *given, char *root, size_t size, char *why, size_t why_size)
{
  char path[PATH_MAX];
  if (given) {
    snprintf(root, size, "%s", given);
    if (is_root(given)) return true;
    snprintf(why, why_size, "--root %.200s: this folder has no exercises/ and grader/", given);
    return false;
  }
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n > 0) {
    path[n] = 0;
    if (upwards(path, root, size)) return true;
  }
  if (getcwd(path, sizeof path) && upwards(path, root, size)) return true;
  snprintf(path, sizeof path, "%s", BANKS_BUILD);
  if (upwards(path, root, size)) return true;
  snprintf(why, why_size, "the workbook's folder was not found; give it with --root FOLDER");
  return false;
}

bool suite_folder(const char *root, const char *from, char *out, size_t size)
{
  static const char *const own[][2] = {
    {"exercises", "exercises"}, {"solutions", "solutions"}, {"starters", SUITE_STARTERS}};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (!strcmp(from, own[i][0])) {
      snprintf(out, size, "%s/%s", root, own[i][1]);
      return is_folder(out);
    }
  snprintf(out, size, "%s", from);
  return is_folder(out);
}

void suite_chapter(const struct exercise *x, char *out, size_t size)
{
  snprintf(out, size, "%.*s", (int)strcspn(x->id, "/"), x->id);
}

static int open_file(const char *folder, const struct exercise *x)
{
  char chapter[64];
  suite_chapter(x, chapter, sizeof chapter);
  int top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (top < 0) return -1;
  int sub = openat(top, chapter, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  int fd = sub < 0 ? -1 : openat(sub, x->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  int error = errno;
  if (sub >= 0) close(sub);
  close(top);
  errno = error;
  return fd;
}

static char *slurp(int fd, size_t *length)
{
  char *text = malloc(SUITE_FILE_LIMIT + 2);
  size_t n = 0;
  while (text && n <= SUITE_FILE_LIMIT) {
    ssize_t got = read(fd, text + n, SUITE_FILE_LIMIT + 1 - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      free(text);
      return NULL;
    }
    if (got == 0) break;
    n += (size_t)got;
  }
  if (text) text[n] = 0;
  *length = n;
  return text;
}

char *suite_read(const char *folder, const struct exercise *x, size_t *length, bool *missing,
                 char *why, size_t why_size)
{
  struct stat s;
  char *text = NULL;
  const char *wrong = NULL;
  int fd = open_file(folder, x);
  *length = 0;
  *missing = fd < 0 && errno == ENOENT;
  if (fd < 0) {
    wrong = errno == ENOENT ? "is missing"
            : errno == ELOOP || errno == ENOTDIR
              ? "is reached through a symbolic link, which is not accepted"
              : strerror(errno);
  } else if (fstat(fd, &s)) {
    wrong = strerror(errno);
  } else if (!S_ISREG(s.st_mode)) {
    wrong = "is not a regular file";
  } else if (s.st_size > SUITE_FILE_LIMIT) {
    wrong = "is larger than 1 MiB";
  } else if (!(text = slurp(fd, length))) {
    wrong = "cannot be read";
  } else if (*length > SUITE_FILE_LIMIT) {
    wrong = "is larger than 1 MiB";
  } else if (memchr(text, 0, *length)) {
    wrong = "holds a zero byte: it is not a text file";
  }
  if (fd >= 0) close(fd);
  if (!wrong) return text;
  snprintf(why, why_size, "%s %s", x->file, wrong);
  free(text);
  return NULL;
}

/* ---- is this a submission? ----------------------------------------------------------------- */

static bool any_work(const char *folder)
{
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++) {
      char path[PATH_MAX];
      struct stat s;
      snprintf(path, sizeof path, "%s/%s/%s", folder, suites[i]->chapter, x->file);
      if (lstat(path, &s) == 0) return true;
    }
  return false;
}

/* A folder below that holds work: "submissions" for "submissions/ada". */
static bool work_below(const char *folder, char *name, size_t size)
{
  bool found = false;
  struct dirent *d;
  DIR *dir = opendir(folder);
  while (dir && !found && (d = readdir(dir))) {
    char path[PATH_MAX];
    if (*d->d_name == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
    found = any_work(path);
    if (found) snprintf(name, size, "%s", d->d_name);
  }
  if (dir) closedir(dir);
  return found;
}

/* The exercise whose file lies in the folder itself; NULL: none. */
static const struct exercise *work_in(const char *folder)
{
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++) {
      char path[PATH_MAX];
      struct stat s;
      snprintf(path, sizeof path, "%s/%s", folder, x->file);
      if (lstat(path, &s) == 0) return x;
    }
  return NULL;
}

bool suite_holds_work(const char *folder, const char *from, char *why, size_t size)
{
  char name[256];
  if (any_work(folder)) return true;
  int n = snprintf(why, size, "--from %.150s: holds none of the exercises, such as %.150s/%s/%s",
                   from, from, suites[0]->chapter, suites[0]->exercises->file);
  if (n < 0 || (size_t)n >= size) return false;
  const struct exercise *x = work_in(folder);
  if (x)
    snprintf(why + n, size - (size_t)n, "; %s lies in it: give the folder above, if this is a "
             "chapter's", x->file);
  else if (work_below(folder, name, sizeof name))
    snprintf(why + n, size - (size_t)n, "; one level lower some are: --from %.100s/%.60s", from,
             name);
  else return true;                       /* nothing anywhere: an empty submission earns 0 */
  return false;
}
