/* See count.h. */
#define _GNU_SOURCE
#include "prove/count.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/job.h"
#include "toolchain/toolchain.h"

static bool find_ncu(char *path, size_t size)
{
  static const char *const places[] = {
    "/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu",
    "/usr/local/cuda*/nsight-compute-*/ncu"};
  if (toolchain_which("ncu", path, size)) return true;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    glob_t g;
    bool found = glob(places[i], 0, NULL, &g) == 0 && g.gl_pathc > 0;
    if (found) snprintf(path, size, "%s", g.gl_pathv[g.gl_pathc - 1]);
    globfree(&g);
    if (found && access(path, X_OK) == 0) return true;
  }
  return false;
}

/* Runs a program with its output in `to` (its errors in `errors`).  0 when it ended well. */
static int run(const char *const *argv, const char *to, const char *errors, unsigned seconds)
{
  extern char **environ;
  posix_spawn_file_actions_t a;
  pid_t pid;
  int status = -1;
  posix_spawn_file_actions_init(&a);
  posix_spawn_file_actions_addopen(&a, 1, to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&a, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0644);
  int error = posix_spawnp(&pid, argv[0], &a, NULL, (char *const *)argv, environ);
  posix_spawn_file_actions_destroy(&a);
  if (error) return -1;
  for (unsigned tenth = 0; waitpid(pid, &status, WNOHANG) == 0; tenth++) {
    if (tenth >= seconds * 10) {
      kill(pid, SIGTERM);
      sleep(1);
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return -2;
    }
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool holds(const char *path, const char *text, char *last, size_t size)
{
  FILE *f = fopen(path, "re");
  char line[1024];
  bool found = false;
  *last = 0;
  while (f && fgets(line, sizeof line, f)) {
    found |= strstr(line, text) != NULL;
    if (strstr(line, "==ERROR==") || strncmp(line, "banks", 5) == 0) {
      line[strcspn(line, "\n")] = 0;
      snprintf(last, size, "%.400s", line);
    }
  }
  if (f) fclose(f);
  return found;
}

static bool explain(const char *log, const char *output, int status)
{
  char last[512], other[512];
  if (holds(log, "ERR_NVGPUCTRPERM", last, sizeof last) ||
      holds(output, "ERR_NVGPUCTRPERM", other, sizeof other)) {
    fprintf(stderr,
            "banks: this user may not read the GPU's counters. Either run `banks prove` as root; or, "
            "in a container, start it with --cap-add=SYS_ADMIN (CAP_PERFMON from driver 565 on); or "
            "let an administrator put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
            "/etc/modprobe.d/nvidia.conf and restart. Marks and times do not need this.\n");
    return false;
  }
  if (!*last) holds(output, "", last, sizeof last);
  fprintf(stderr, "banks: Nsight Compute %s. %s\n  its log: %s\n",
          status == -2 ? "took too long (--seconds, --most)" : "did not count the launches",
          *last ? last : "It gave no reason", log);
  return false;
}

bool count_possible(char *name, size_t size)
{
  char why[400], ncu[512];
  if (!job_gpu(name, size, why, sizeof why)) {
    fprintf(stderr, "banks: there is no GPU to count on: %s. --replay DIR compares with recorded "
            "tables\n", why);
    return false;
  }
  if (find_ncu(ncu, sizeof ncu)) return true;
  fprintf(stderr, "banks: Nsight Compute (ncu) is not here. It comes with the CUDA Toolkit "
          "(package nsight-compute-*); put ncu into PATH\n");
  return false;
}

bool count_launches(const char *folder, size_t n, unsigned seconds)
{
  char ncu[512], self[512], jobs[600], report[600], log[600], output[600], raw[600], source[600];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0 || !find_ncu(ncu, sizeof ncu)) return false;
  self[length] = 0;
  snprintf(jobs, sizeof jobs, "%s/launches.bin", folder);
  snprintf(report, sizeof report, "%s/report.ncu-rep", folder);
  snprintf(log, sizeof log, "%s/log.txt", folder);
  snprintf(output, sizeof output, "%s/output.txt", folder);
  snprintf(raw, sizeof raw, "%s/raw.csv", folder);
  snprintf(source, sizeof source, "%s/source.csv", folder);
  unlink(log);
  const char *const count[] = {
    ncu, "--clock-control", "none", "--section", "SourceCounters", "--metrics",
    NCU_LOADS "," NCU_STORES "," NCU_GLOBAL_METRICS, "-f", "-o", report, self, "worker",
    "--launches", jobs, NULL};
  const char *const as_raw[] = {ncu, "-i", report, "--page", "raw", "--csv", NULL};
  const char *const as_source[] = {ncu, "-i", report, "--page", "source", "--csv",
                                   "--print-source", "sass", NULL};
  fprintf(stderr, "banks: counting %zu launches\n", n);
  int status = run(count, output, log, seconds);
  unlink(jobs);
  if (status == 0) status = run(as_raw, raw, log, seconds);
  if (status == 0) status = run(as_source, source, log, seconds);
  return status == 0 || explain(log, output, status);
}

bool count_tables(const char *folder, const char *const *kernels, size_t n, struct ncu_report *r)
{
  char path[600], why[512] = "";
  snprintf(path, sizeof path, "%s/source.csv", folder);
  FILE *source = fopen(path, "re");
  snprintf(path, sizeof path, "%s/raw.csv", folder);
  FILE *raw = fopen(path, "re");
  bool good = source && raw && ncu_read(source, raw, kernels, n, r, why, sizeof why);
  if (!source || !raw)
    fprintf(stderr, "banks: %s: source.csv or raw.csv cannot be read: %s\n", folder,
            strerror(errno));
  else if (!good)
    fprintf(stderr, "banks: %s: %s\n", folder, why);
  if (source) fclose(source);
  if (raw) fclose(raw);
  return good;
}

bool count_harmless(const struct sim_result *r)
{
  for (size_t i = 0; i < r->nfaults; i++)
    if (r->faults[i].fatal || (r->faults[i].kind != SIM_FAULT_RACE &&
                               r->faults[i].kind != SIM_FAULT_UNINITIALISED))
      return false;
  return r->completed;
}

void count_tidy(const char *folder, bool failed)
{
  static const char *const files[] = {"report.ncu-rep", "log.txt", "output.txt", "raw.csv",
                                      "source.csv", "launches.txt", "launches.bin", "outcomes.bin"};
  char path[600];
  snprintf(path, sizeof path, "%.500s/log.txt", folder);
  if (failed && access(path, F_OK) == 0) return;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "%.500s/%s", folder, files[i]);
    unlink(path);
  }
  rmdir(folder);
}
