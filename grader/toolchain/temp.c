/* Temporary folders that do not outlive an interrupted run: SIGINT, SIGTERM and SIGHUP remove those
 * that are open, then end the program as they would have.
 *
 * A handler may call little.  fork, execv and waitpid are allowed in one, so rm does the work. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "toolchain/toolchain.h"

enum { OPEN = 160, PATH = 512 };          /* threads times folders each; more are not remembered */

static struct { atomic_int used; char path[PATH]; } folders[OPEN];   /* 0 free, 1 being set, 2 set */
static pid_t owner;

static void interrupted(int signal_number)
{
  if (getpid() == owner)                  /* a forked judge has none of its own */
    for (int i = 0; i < OPEN; i++) {
      if (atomic_load(&folders[i].used) != 2) continue;
      char *argv[] = {"rm", "-rf", "--", folders[i].path, NULL};
      pid_t child = fork();
      if (child == 0) {
        execv("/bin/rm", argv);
        _exit(127);
      }
      if (child > 0) waitpid(child, NULL, 0);
    }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void toolchain_temp_guard(void)
{
  static const int all[] = {SIGINT, SIGTERM, SIGHUP};
  owner = getpid();
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct sigaction now, set = {.sa_handler = interrupted};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) sigaddset(&set.sa_mask, all[k]);
    if (sigaction(all[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
      sigaction(all[i], &set, NULL);      /* nohup's SIG_IGN stays */
  }
}

bool toolchain_temp(char *folder)
{
  int slot = -1;
  for (int i = 0, none = 0; i < OPEN && slot < 0; i++, none = 0)
    if (atomic_compare_exchange_strong(&folders[i].used, &none, 1)) slot = i;
  bool made = mkdtemp(folder) != NULL;
  if (slot < 0) return made;
  snprintf(folders[slot].path, PATH, "%s", folder);
  atomic_store(&folders[slot].used, made && strlen(folder) < PATH ? 2 : 0);
  return made;
}

void toolchain_temp_done(const char *folder)
{
  for (int i = 0; i < OPEN; i++)
    if (atomic_load(&folders[i].used) == 2 && !strcmp(folders[i].path, folder))
      atomic_store(&folders[i].used, 0);
}
