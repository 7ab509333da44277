/* See run.h. */
#define _GNU_SOURCE
#include "run.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct run run_start(const char *const *argv)
{
  struct run r;
  int out[2];
  char *args[32];
  size_t n = 0;
  for (args[n++] = (char *)argv[0]; n < 31 && argv[n]; n++) args[n] = (char *)argv[n];
  args[n] = NULL;
  if (!args[0]) args[0] = getenv("BANKS") ? getenv("BANKS") : "build/banks";
  ck_assert(pipe2(out, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t a;
  posix_spawn_file_actions_init(&a);
  posix_spawn_file_actions_addopen(&a, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&a, out[1], 1);
  posix_spawn_file_actions_adddup2(&a, out[1], 2);
  int error = posix_spawn(&r.pid, args[0], &a, NULL, args, environ);
  posix_spawn_file_actions_destroy(&a);
  close(out[1]);
  ck_assert_msg(error == 0, "%s: %s", args[0], strerror(error));
  r.fd = out[0];
  return r;
}

int run_finish(struct run *r, char **out)
{
  size_t n = 0, room = 1 << 16;
  char *text = malloc(room + 1);
  for (;;) {
    if (n == room) text = realloc(text, (room *= 2) + 1);
    ck_assert_ptr_nonnull(text);
    ssize_t got = read(r->fd, text + n, room - n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    n += (size_t)got;
  }
  text[n] = 0;
  close(r->fd);
  int status;
  while (waitpid(r->pid, &status, 0) < 0) ck_assert_int_eq(errno, EINTR);
  if (out) *out = text;
  else free(text);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int run_banks(char **out, const char *const *argv)
{
  struct run r = run_start(argv);
  return run_finish(&r, out);
}

void run_folder(char path[64])
{
  snprintf(path, 64, "/tmp/banks-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f)
{
  (void)s, (void)type, (void)f;
  return remove(path);
}

void run_remove(const char *path)
{
  ck_assert(strncmp(path, "/tmp/banks-test-", 16) == 0);
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char *run_read(const char *path, size_t *size)
{
  FILE *f = fopen(path, "re");
  if (!f) return NULL;
  size_t n = 0, room = 1 << 16, got;
  char *text = malloc(room + 1);
  while (text && (got = fread(text + n, 1, room - n, f)) > 0)
    if ((n += got) == room) text = realloc(text, (room *= 2) + 1);
  ck_assert_ptr_nonnull(text);
  fclose(f);
  text[n] = 0;
  if (size) *size = n;
  return text;
}

void run_write(const char *path, const void *data, size_t size)
{
  FILE *f = fopen(path, "we");
  ck_assert_msg(f && fwrite(data, 1, size, f) == size && fclose(f) == 0, "%s: %s", path,
                strerror(errno));
}
