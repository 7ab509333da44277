/* Which compilers this machine has: looked for once, asked for their version in the sandbox. */
#define _GNU_SOURCE
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolchain.h"

static struct toolchain_found found;
static pthread_once_t searched = PTHREAD_ONCE_INIT;

static bool runnable(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool toolchain_which(const char *program, char *path, size_t size)
{
  const char *all = getenv("PATH");
  if (!all || !*all) all = "/usr/local/bin:/usr/bin:/bin";
  while (*all) {
    size_t n = strcspn(all, ":");
    /* A relative folder in PATH would mean another program in each working folder. */
    if (*all == '/' && snprintf(path, size, "%.*s/%s", (int)n, all, program) < (int)size &&
        runnable(path))
      return true;
    all += n + (all[n] == ':');
  }
  *path = 0;
  return false;
}

/* Runs `program --version` and gives its text; NULL when it does not run. */
static char *version_text(const char *program, const char *root)
{
  const char *argv[] = {program, "--version", NULL}, *readable[] = {root, NULL};
  struct sandbox_job job = {.argv = argv, .readable = *root ? readable : NULL,
                            .wall_seconds = 20, .cpu_seconds = 10, .memory_bytes = 4ull << 30,
                            .output_bytes = 8192, .processes = 16};
  struct sandbox_result r;
  sandbox_run(&job, &r);
  char *text = r.end == SANDBOX_EXITED && r.status == 0 ? strdup(r.out) : NULL;
  sandbox_result_free(&r);
  return text;
}

/* The number after `word`: "release 13.0, V13.0.88" -> "13.0". */
static void number_after(const char *text, const char *word, char *to, size_t size)
{
  const char *at = text ? strstr(text, word) : NULL;
  size_t n = 0;
  if (at)
    for (at += strlen(word); n + 1 < size && (isdigit((unsigned char)*at) || *at == '.'); at++)
      to[n++] = *at;
  to[n] = 0;
}

/* The folder to make visible for a program outside /usr: two above it, but never the whole disk. */
static void root_of(const char *program, char *root, size_t size)
{
  char real[4096];
  *root = 0;
  if (!realpath(program, real)) return;
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(real, '/');
    if (slash) *slash = 0;
  }
  if (*real && strlen(real) < size && strcmp(real, "/usr")) snprintf(root, size, "%.*s", (int)size - 1, real);
}

static bool try_nvcc(const char *path)
{
  if (!runnable(path)) return false;
  char root[512], real[4096];
  root_of(path, root, sizeof root);
  char *text = realpath(path, real) ? version_text(real, root) : NULL;
  char version[32];
  number_after(text, "release ", version, sizeof version);
  free(text);
  if (!*version || strlen(real) >= sizeof found.nvcc) return false;
  memcpy(found.nvcc, real, strlen(real) + 1);
  memcpy(found.nvcc_root, root, sizeof root);
  memcpy(found.nvcc_version, version, sizeof version);
  return true;
}

static void find_nvcc(void)
{
  static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
  char path[4096];
  if (toolchain_which("nvcc", path, sizeof path) && try_nvcc(path)) return;
  for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
    const char *home = getenv(homes[i]);
    if (!home || *home != '/') continue;
    snprintf(path, sizeof path, "%s/bin/nvcc", home);
    if (try_nvcc(path)) return;
  }
  try_nvcc("/usr/local/cuda/bin/nvcc");
}

/* Asks the program at `path` for its version: under its own name, which decides what it is where it
 * is a link (ccache), else under its real one, since a link may lie where the sandbox cannot see.
 * What answered goes to `name`, its folder to `root`. */
static char *ask_version(const char *path, char name[512], char root[512])
{
  char real[4096], *text;
  root_of(path, root, 512);
  snprintf(name, 512, "%s", path);
  if ((text = version_text(path, root))) return text;
  if (realpath(path, real) && strlen(real) < 512 && strcmp(real, path) != 0 &&
      (text = version_text(real, root))) {
    memcpy(name, real, strlen(real) + 1);
    return text;
  }
  *name = 0;
  return NULL;
}

static bool try_clang(const char *name)
{
  char path[512];
  if (!toolchain_which(name, path, sizeof path)) return false;
  char *text = ask_version(path, found.clang, found.clang_root);
  number_after(text, "clang version ", found.clang_version, sizeof found.clang_version);
  free(text);
  if (!*found.clang_version) *found.clang = 0;
  return *found.clang;
}

enum { OLDEST_CLANG = 13, NEWEST_CLANG = 40 };

static void find_clang(void)
{
  bool there = try_clang("clang");
  for (int v = NEWEST_CLANG; !there && v >= OLDEST_CLANG; v--) {
    char name[16];
    snprintf(name, sizeof name, "clang-%d", v);
    there = try_clang(name);
  }
  if (there && atoi(found.clang_version) < OLDEST_CLANG) {
    snprintf(found.why_not_clang, sizeof found.why_not_clang, "clang %s is too old; %d or newer",
             found.clang_version, OLDEST_CLANG);
    *found.clang = *found.clang_version = 0;
  }
}

static void find_cc(void)
{
  static const char *const names[] = {"gcc", "cc", "clang"};
  for (size_t i = 0; i < sizeof names / sizeof *names && !*found.cc; i++) {
    char path[512];
    if (!toolchain_which(names[i], path, sizeof path)) continue;
    char *text = ask_version(path, found.cc, found.cc_root);
    if (!text) continue;
    text[strcspn(text, "\n")] = 0;
    diagnose_printable(found.cc_version, sizeof found.cc_version, text, strlen(text));
    free(text);
  }
}

static void find_all(void)
{
  find_nvcc();
  find_clang();
  find_cc();
}

const struct toolchain_found *toolchain_find(void)
{
  pthread_once(&searched, find_all);
  return &found;
}
