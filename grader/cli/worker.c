/* banks worker: runs jobs for the grader, which starts it anew for each test, or for each exercise on
 * a GPU.
 *
 *   banks worker                    one job on the simulator
 *   banks worker --gpu              jobs on the GPU, one after another
 *   banks worker --probe            one line: which GPU there is, or why none
 *   banks worker --launches FILE    the jobs of a file, for a profiler to look at
 *
 * Limits are set here, by our own code, before anything of a student's is looked at. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

/* On the GPU a kernel's printf goes to our standard output: what we have to say moves elsewhere
 * first, so that no kernel can write into it. */
static int move_output(void)
{
  int out = fcntl(1, F_DUPFD_CLOEXEC, 3), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (out >= 0 && nowhere >= 0 && dup2(nowhere, 1) == 1) return out;
  return -1;
}

static int probe(void)
{
  struct device_info info;
  char why[400] = "";
  int out = move_output();
  if (out < 0) return CLI_OURS;
  job_probe(&info, why, sizeof why);
  if (*info.name) dprintf(out, "ok %s\n", info.name);
  else dprintf(out, "no %s\n", why);
  return CLI_OK;
}

static int launches(const char *path)
{
  int in = open(path, O_RDONLY | O_CLOEXEC);
  if (in < 0) {
    fprintf(stderr, "banks worker: %s: %s\n", path, strerror(errno));
    return CLI_USAGE;
  }
  return job_serve(in, -1);
}

int command_worker(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  bool gpu = !strcmp(what, "--gpu");
  limit(RLIMIT_CORE, 0);
  if (argc == 3 && !strcmp(what, "--launches")) return launches(argv[2]);
  if (argc > 2 || (argc == 2 && !gpu && strcmp(what, "--probe")) || (!*what && isatty(0))) {
    fprintf(stderr, "banks worker: the grader starts this itself; there is nothing to type\n");
    return CLI_USAGE;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int out = 1, status;
  if (argc == 1) {                        /* the driver needs files and far more address space */
    limit(RLIMIT_FSIZE, 0);               /* it writes to pipes only */
    limit(RLIMIT_CPU, 120);
#if !defined __SANITIZE_ADDRESS__        /* its shadow memory is address space, too */
    limit(RLIMIT_AS, (rlim_t)6 << 30);
#endif
  } else if (gpu) {
    out = move_output();
  }
  if (argc == 2 && !gpu) status = probe();
  else status = out < 0 ? CLI_OURS : job_serve(0, out);
  fflush(stderr);
  _exit(status);
}
