/* What sandbox.c and confine.c share: limits, the filter of system calls, Landlock. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <linux/filter.h>
#include <sys/types.h>

#include "toolchain.h"

enum { CONFINE_RULES = 160, CONFINE_FOLDERS = 24 };

struct confine {
  struct sock_filter filter[CONFINE_RULES];
  unsigned nfilter;
  char path[1024];             /* "PATH=..." for the command */
  const char *readable[CONFINE_FOLDERS];   /* Landlock: read and run what is under these */
  unsigned nreadable;
  const char *folder;          /* and write here, if */
  bool writes;
};

/* Builds the filter, PATH and the folder lists.  `alone`: without namespaces around it, so the
 * command may send signals only to itself. */
void confine_prepare(struct confine *c, const struct sandbox_job *job, const char *folder,
                     bool alone);
int confine_filter_file(const struct confine *c);   /* the filter in a file, for bubblewrap */

/* Makes a job's folder usable by the one who will run it. */
bool confine_give(const char *folder, bool alone);

/* In the child, after the fork. */
void confine_limits(const struct sandbox_job *job);
bool confine_apply(const struct confine *c);        /* user, Landlock, filter; then exec */
void confine_close(int first, int last);            /* last -1: all from first on */

bool confine_landlock(void);                        /* the kernel has it */
/* Kills all children, and theirs as they come to us, until there are none.  Returns the peak memory
 * of the largest in bytes, not counting `apart`. */
uint64_t confine_kill_children(pid_t apart);

#endif
