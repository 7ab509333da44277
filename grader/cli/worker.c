/* banks worker: runs one job for the grader, which starts it anew for each test.
 *
 * Limits are set here, by our own code, before anything of a student's is looked at. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "device/job.h"

static void limit(int what, rlim_t value)
{
  struct rlimit l = {value, value};
  setrlimit(what, &l);                    /* a lower limit that already holds is as good */
}

int command_worker(int argc, char **argv)
{
  (void)argv;
  if (argc != 1 || isatty(0)) {
    fprintf(stderr, "banks worker: the grader starts this itself; there is nothing to type\n");
    return CLI_USAGE;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);                 /* it writes to pipes only */
  limit(RLIMIT_CPU, 120);
#if !defined __SANITIZE_ADDRESS__        /* its shadow memory is address space, too */
  limit(RLIMIT_AS, (rlim_t)6 << 30);
#endif
  int status = job_serve(0, 1);
  fflush(stderr);
  _exit(status);
}
