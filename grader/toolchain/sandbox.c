/* Runs one command where it can harm nothing, and always comes back.
 *
 * The command runs under bubblewrap: its own user, mount, process, network and IPC namespaces, a
 * file system made of read-only binds and small private tmpfs, no environment but PATH.  Its
 * process namespace dies with its first process, so one SIGKILL ends whatever the command started.
 * Where bubblewrap is missing or namespaces are forbidden, Landlock (where the kernel has it)
 * takes the place of the mounts, and root becomes nobody.  Both have the same resource limits and
 * the same filter of system calls (confine.c): no sockets, no tracing, and for programs of
 * students no new processes at all, because RLIMIT_NPROC does not bind root.
 *
 * In both, a supervisor process of ours stands between: it adopts what the command leaves behind,
 * kills it, and ends only when nothing is left.
 *
 * Reading is by poll with one deadline.  End of file is never waited for: a descriptor that some
 * process still holds means nothing once the command has ended and the rest has been killed.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "toolchain.h"

enum { ARGS = 256, STREAMS = 3 };

enum sandbox_choice sandbox_choice = SANDBOX_BEST;

static struct {
  bool bubblewrap, proc;       /* works; can mount /proc inside */
  char bwrap[512];
  char kind[320];
} machine;
static pthread_once_t probed = PTHREAD_ONCE_INIT;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- streams with a cap ------------------------------------------------------------------------- */

struct stream {
  int fd;
  char *text;
  size_t size, room;
  uint64_t cap;
  bool over;
};

static void stream_read(struct stream *s)
{
  static const size_t piece = 65536;
  while (s->fd >= 0) {
    if (s->room - s->size < piece + 1) {
      char *more = realloc(s->text, s->room * 2 + piece + 1);
      if (!more) return;
      s->text = more;
      s->room = s->room * 2 + piece + 1;
    }
    ssize_t n = read(s->fd, s->text + s->size, piece);
    if (n > 0) {
      s->size += (size_t)n;
      if (s->size > s->cap) {
        s->size = s->cap;
        s->over = true;
      }
      if ((size_t)n < piece) return;   /* the deadline is looked at between pieces */
      return;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    close(s->fd);
    s->fd = -1;
  }
}

static void stream_finish(struct stream *s, char **text, size_t *size)
{
  if (s->fd >= 0) close(s->fd);
  if (!s->text) s->text = malloc(1);
  if (s->text) s->text[s->size] = 0;
  *text = s->text;
  *size = s->size;
}

/* ---- files of the job ------------------------------------------------------------------------------ */

static bool write_all(int fd, const void *data, size_t size)
{
  for (const char *p = data; size > 0;) {
    ssize_t n = write(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

static bool copy_file(int to, const char *from)
{
  char piece[65536];
  int fd = open(from, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n;
  while ((n = read(fd, piece, sizeof piece)) > 0)
    if (!write_all(to, piece, (size_t)n)) break;
  close(fd);
  return n == 0;
}

static bool place_each(const struct sandbox_job *job, const char *folder)
{
  for (size_t i = 0; i < job->nfiles; i++) {
    const struct sandbox_file *f = &job->files[i];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, f->inside);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
      *slash = 0;
      mkdir(path, 0755);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    if (fd < 0) return false;
    bool ok = f->from ? copy_file(fd, f->from) : write_all(fd, f->data, f->size);
    if (close(fd) != 0 || !ok) return false;
  }
  return true;
}

/* A program cannot be started while anybody has it open for writing, and a process forked by another
 * thread meanwhile - a supervisor, a compiler - would have it open, too.  So a process of its own
 * writes the files: nobody inherits from that. */
static bool place_files(const struct sandbox_job *job, const char *folder)
{
  int status;
  pid_t child = job->nfiles ? fork() : 0;
  if (!job->nfiles || child < 0) return child == 0;
  if (child == 0) _exit(!place_each(job, folder));
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return status == 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
  (void)st, (void)type, (void)ftw;
  remove(path);
  return 0;
}

static void read_result(const char *folder, const char *name, struct stream *s)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat st;
  if (fd < 0) return;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return;
  }
  s->fd = fd;
  while (s->fd >= 0 && !s->over) stream_read(s);
}

/* ---- the command line of bubblewrap --------------------------------------------------------------- */

struct args {
  const char *v[ARGS];
  size_t n;
  bool full;
};

static void arg(struct args *a, const char *text)
{
  if (a->n + 1 < ARGS) a->v[a->n++] = text;
  else a->full = true;
}

#define args(a, ...)                                                                             \
  do {                                                                                           \
    const char *const list_[] = {__VA_ARGS__};                                                   \
    for (size_t i_ = 0; i_ < sizeof list_ / sizeof *list_; i_++) arg(a, list_[i_]);              \
  } while (0)

/* Folders that programs need, visible where they exist: as links where the system has links. */
static void bind_system(struct args *a, char links[][512])
{
  static const char *const folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
  args(a, "--ro-bind", "/usr", "/usr");
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    struct stat st;
    if (lstat(folders[i], &st) != 0) continue;
    ssize_t n = S_ISLNK(st.st_mode) ? readlink(folders[i], links[i], 511) : -1;
    if (n > 0) {
      links[i][n] = 0;
      args(a, "--symlink", links[i], folders[i]);
    } else {
      args(a, "--ro-bind", folders[i], folders[i]);
    }
  }
  args(a, "--ro-bind-try", "/etc/alternatives", "/etc/alternatives");
  args(a, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache");
  args(a, "--ro-bind-try", "/etc/nvcc.profile", "/etc/nvcc.profile");   /* of the system's nvcc */
}

struct prepared {              /* all that the child needs, made before the fork */
  const struct sandbox_job *job;
  const char *folder;
  const char *const *argv;
  struct confine confine;
  int in, out, err, result, filter, status;   /* descriptors of the child's side, or -1 */
};

enum { FILTER_FD = 10, STATUS_FD = 11 };

/* Runs in the child; only calls that are safe after a fork.  Does not return. */
static void become(const struct prepared *p)
{
  int from[6] = {p->in, p->out, p->err, p->result, p->filter, p->status};
  static const int to[6] = {0, 1, 2, 3, FILTER_FD, STATUS_FD};
  for (int i = 0; i < 6; i++)            /* first out of the way of the numbers wanted */
    if (from[i] >= 0) from[i] = fcntl(from[i], F_DUPFD, 32);
  for (int i = 0; i < 6; i++)
    if (from[i] >= 0) dup2(from[i], to[i]);
  confine_close(p->result >= 0 ? 4 : 3, FILTER_FD - 1);
  confine_close(p->status >= 0 ? STATUS_FD + 1 : p->filter >= 0 ? FILTER_FD + 1 : FILTER_FD, -1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  for (int s = 1; s < 65; s++) signal(s, SIG_DFL);
  confine_limits(p->job);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  char temporary[600] = "TMPDIR=/tmp";
  if (p->filter < 0) {                   /* no bubblewrap: here is the command itself */
    static const char refused[] = "cannot confine the command\n";
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", p->folder);
    setsid();
    if (chdir(p->folder) != 0 || !confine_apply(&p->confine)) {
      if (write(2, refused, sizeof refused - 1) < 0) _exit(126);
      _exit(126);
    }
  }
  char *environment[] = {(char *)p->confine.path, (char *)"LC_ALL=C", temporary, NULL};
  execve(p->argv[0], (char *const *)p->argv, environment);
  _exit(127);
}

/* ---- running ------------------------------------------------------------------------------------------ */

struct ended {                 /* how the command ended, told by the supervisor */
  bool known;
  int status;                  /* as of waitpid */
  uint64_t peak;               /* bytes of the largest process, 0 when it cannot be told */
};

/* The memory of a process counts from its fork, where it is a copy of ours. */
static uint64_t peak_of(const struct rusage *u, bool forked_here, uint64_t ours)
{
  uint64_t peak = (uint64_t)u->ru_maxrss * 1024;
  return forked_here && peak <= ours ? 0 : peak;
}

/* A process that adopts orphans, so that it can kill all of them.  It ends when the command does, or
 * when the other end of `control` is closed. */
static void supervise(const struct prepared *p, int control, int report)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  uint64_t ours = (uint64_t)usage.ru_maxrss * 1024 + (8u << 20);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  setsid();
  pid_t child = fork();
  if (child == 0) become(p);
  const int given[] = {p->in, p->out, p->err, p->result, p->status};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    if (given[i] >= 0) close(given[i]);
  struct ended e = {child < 0, 127 << 8, 0};
  int gone = child > 0 ? (int)syscall(SYS_pidfd_open, child, 0) : -1;
  while (!e.known) {
    int status;
    pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid > 0) {
      uint64_t peak = peak_of(&usage, pid == child, ours);
      if (peak > e.peak) e.peak = peak;
      if (pid == child) e.known = true, e.status = status;
      continue;
    }
    struct pollfd on[2] = {{control, POLLIN, 0}, {gone, POLLIN, 0}};
    poll(on, 2, gone < 0 ? 2 : 1000);
    if (on[0].revents) break;
  }
  if (child > 0 && !e.known) kill(child, SIGKILL);
  uint64_t peak = child > 0 ? confine_kill_children(e.known ? 0 : child) : 0;
  if (peak > e.peak) e.peak = peak;
  if (write(report, &e, sizeof e) < 0) _exit(1);
  _exit(0);
}

static void classify(const struct sandbox_job *job, struct sandbox_result *r, bool stopped,
                     bool over, int code, int signal_number, uint64_t peak)
{
  if (over) r->end = SANDBOX_OUTPUT;
  else if (stopped || signal_number == SIGXCPU) r->end = SANDBOX_TIMED_OUT;
  else if (signal_number) r->end = SANDBOX_SIGNALLED;
  else r->end = SANDBOX_EXITED;
  r->status = signal_number ? signal_number : code;
  bool odd = r->end == SANDBOX_SIGNALLED || (r->end == SANDBOX_EXITED && code != 0);
  if (odd && peak > job->memory_bytes / 10 * 8) r->end = SANDBOX_MEMORY;
  /* A refused allocation leaves no trace in the peak, but a compiler says it. */
  if (odd && job->processes > 1 &&
      (strstr(r->err, "out of memory") || strstr(r->err, "virtual memory exhausted") ||
       strstr(r->err, "bad_alloc") || strstr(r->err, "Cannot allocate memory")))
    r->end = SANDBOX_MEMORY;
}

static void failed(struct sandbox_result *r, const char *what)
{
  r->end = SANDBOX_FAILED;
  snprintf(r->why, sizeof r->why, "%s (%s)", what, strerror(errno));
}

static int input_of(const struct sandbox_job *job)
{
  if (job->input_size == 0) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (!write_all(fd, job->input, job->input_size) || lseek(fd, 0, SEEK_SET) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

static int nonblocking(int fd)
{
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

/* Fills the arguments that put `job` into bubblewrap. */
static void wrap(struct args *a, const struct prepared *p, char links[][512], char size[32])
{
  const struct sandbox_job *job = p->job;
  bool program = job->processes <= 1;
  args(a, machine.bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--json-status-fd",
       "11", "--seccomp", "10", "--uid", "65534", "--gid", "65534", "--hostname", "banks");
  bind_system(a, links);
  for (const char *const *f = job->readable; f && *f; f++)
    if (**f && strncmp(*f, "/usr/", 5) != 0) args(a, "--ro-bind-try", *f, *f);
  args(a, "--dev-bind", "/dev/null", "/dev/null");
  if (program) args(a, "--dev-bind", "/dev/zero", "/dev/zero", "--dev-bind", "/dev/urandom",
                    "/dev/urandom");
  if (machine.proc && !program) args(a, "--proc", "/proc");
  snprintf(size, 32, "%llu", (unsigned long long)(program ? 65536 : 512u << 20));
  args(a, "--size", size, "--tmpfs", "/tmp");
  if (program) args(a, "--remount-ro", "/tmp");
  args(a, job->result_file ? "--bind" : "--ro-bind", p->folder, "/w", "--chdir", "/w");
  args(a, "--remount-ro", "/", "--");
  for (const char *const *v = job->argv; *v; v++) arg(a, *v);
  arg(a, NULL);
}

/* Reads the streams until the supervisor ends; true when it had to be stopped first. */
static bool collect(const struct sandbox_job *job, struct stream *s, pid_t pid, double start,
                    int control)
{
  int gone = (int)syscall(SYS_pidfd_open, pid, 0);
  double deadline = start + job->wall_seconds, patience = deadline + 0.9;
  bool stopped = false;
  for (;;) {
    struct pollfd p[STREAMS + 1] = {{gone, POLLIN, 0}};
    for (int i = 0; i < STREAMS; i++) p[i + 1] = (struct pollfd){s[i].fd, POLLIN, 0};
    double left = (stopped ? patience : deadline) - now();
    int ms = left <= 0 ? 0 : left > 1 ? 1000 : (int)(left * 1000) + 1;
    poll(p, STREAMS + 1, gone < 0 && ms > 2 ? 2 : ms);
    for (int i = 0; i < STREAMS; i++)
      if (p[i + 1].revents) stream_read(&s[i]);
    if (waitpid(pid, NULL, WNOHANG) != 0) break;
    if (!stopped && (s[2].over || now() >= deadline)) {
      stopped = true;
      close(control);          /* the supervisor kills all and ends */
      patience = now() + 0.9;
    } else if (stopped && now() >= patience) {
      kill(pid, SIGKILL);      /* its children die with it */
    }
  }
  if (!stopped) close(control);
  if (gone >= 0) close(gone);
  return stopped;
}

static void run_in(const struct sandbox_job *job, struct sandbox_result *r, bool wrapped,
                   const char *folder)
{
  enum { IN, OUT, ERR, RES, STAT, ENDED, CONTROL, PIPES };
  int pipes[PIPES][2];
  for (int i = 0; i < PIPES; i++) pipes[i][0] = pipes[i][1] = -1;
  struct args a = {.n = 0};
  char links[6][512], size[32];
  struct prepared p = {job, folder, job->argv, {.nfilter = 0}, -1, -1, -1, -1, -1, -1};
  struct stream s[STREAMS];
  for (int i = 0; i < STREAMS; i++) s[i] = (struct stream){.fd = -1, .cap = job->output_bytes};
  double start = now();
  confine_prepare(&p.confine, job, folder, !wrapped);
  bool ok = (pipes[IN][0] = input_of(job)) >= 0;
  for (int i = OUT; i < PIPES; i++)
    if (i != RES || job->answers) ok = ok && pipe2(pipes[i], O_CLOEXEC) == 0;
  if (ok && wrapped) ok = (p.filter = confine_filter_file(&p.confine)) >= 0;
  if (!ok) {
    failed(r, "out of descriptors; close some or raise `ulimit -n`");
    goto done;
  }
  p.in = pipes[IN][0], p.out = pipes[OUT][1], p.err = pipes[ERR][1], p.result = pipes[RES][1];
  if (wrapped) {
    p.status = pipes[STAT][1];
    wrap(&a, &p, links, size);
    p.argv = a.v;
    if (a.full) {
      errno = E2BIG;
      failed(r, "cannot set up the sandbox");
      goto done;
    }
  }
  pid_t pid = fork();
  if (pid == 0) {
    for (int i = OUT; i < PIPES; i++) {   /* our own ends: an open one would hide an end of file */
      int theirs = i == CONTROL ? 1 : 0;
      if (pipes[i][theirs] >= 0) close(pipes[i][theirs]);
    }
    supervise(&p, pipes[CONTROL][0], pipes[ENDED][1]);
  }
  if (pid < 0) {
    failed(r, "cannot start a process; too many are running");
    goto done;
  }
  for (int i = IN; i < PIPES; i++) {
    int *theirs = &pipes[i][i == IN || i == CONTROL ? 0 : 1];
    if (*theirs >= 0) close(*theirs);
    *theirs = -1;
  }
  for (int i = 0; i < STREAMS; i++)
    if (pipes[OUT + i][0] >= 0) {
      s[i].fd = nonblocking(pipes[OUT + i][0]);
      pipes[OUT + i][0] = -1;
    }
  bool stopped = collect(job, s, pid, start, pipes[CONTROL][1]);
  pipes[CONTROL][1] = -1;
  for (int i = 0; i < STREAMS; i++)      /* what was written before the end is in the pipe */
    for (int piece = 0; piece < 32 && s[i].fd >= 0; piece++) stream_read(&s[i]);
  if (job->result_file && !stopped) read_result(folder, job->result_file, &s[2]);
  bool over = s[2].over;
  stream_finish(&s[0], &r->out, &r->out_size);
  stream_finish(&s[1], &r->err, &r->err_size);
  stream_finish(&s[2], &r->result, &r->result_size);
  r->wall_seconds = now() - start;

  struct ended e = {false, 0, 0};
  ssize_t told = read(nonblocking(pipes[ENDED][0]), &e, sizeof e);
  if (told != sizeof e) e = (struct ended){false, 0, 0};
  if (!stopped && !e.known) {
    failed(r, "the sandbox's supervisor died");
    goto done;
  }
  int code = WIFEXITED(e.status) ? WEXITSTATUS(e.status) : 0, number = 0;
  if (wrapped) {
    /* The line "exit-code" is there only when the command was really started, and the command
     * cannot forge it: it does not have this descriptor.  bubblewrap tells a signal as 128 + its
     * number, and so cannot tell it from such an exit status. */
    char line[1024];
    ssize_t n = read(nonblocking(pipes[STAT][0]), line, sizeof line - 1);
    line[n > 0 ? n : 0] = 0;
    const char *found = strstr(line, "\"exit-code\": ");
    if (!found && !stopped) {
      r->end = SANDBOX_FAILED;
      snprintf(r->why, sizeof r->why, "bubblewrap failed: %.200s", r->err);
      goto done;
    }
    code = found ? atoi(found + 13) : 0;
    if (code > 128 && code <= 128 + SIGSYS) number = code - 128;
  } else {
    if (WIFSIGNALED(e.status)) number = WTERMSIG(e.status);
    if ((code == 126 || code == 127) && *job->argv[0] == '/' && access(job->argv[0], X_OK) != 0) {
      failed(r, "cannot run the command");
      goto done;
    }
  }
  classify(job, r, stopped && !over, over, code, number, e.peak);
done:
  for (int i = 0; i < PIPES; i++)
    for (int k = 0; k < 2; k++)
      if (pipes[i][k] >= 0) close(pipes[i][k]);
  if (p.filter >= 0) close(p.filter);
  if (!r->out) stream_finish(&s[0], &r->out, &r->out_size);
  if (!r->err) stream_finish(&s[1], &r->err, &r->err_size);
  if (!r->result) stream_finish(&s[2], &r->result, &r->result_size);
}

static void run_job(const struct sandbox_job *job, struct sandbox_result *r, bool wrapped)
{
  const char *base = getenv("TMPDIR");
  char folder[512];
  memset(r, 0, sizeof *r);
  snprintf(folder, sizeof folder, "%s/banks-XXXXXX", base && *base == '/' ? base : "/tmp");
  if (!toolchain_temp(folder)) {
    failed(r, "cannot make a temporary folder; set TMPDIR to one that can be written");
  } else if (!place_files(job, folder) || !confine_give(folder, !wrapped)) {
    failed(r, "cannot write to the temporary folder; is the disk full?");
  } else {
    run_in(job, r, wrapped, folder);
  }
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
  toolchain_temp_done(folder);
  if (!r->out) r->out = calloc(1, 1);
  if (!r->err) r->err = calloc(1, 1);
  if (!r->result) r->result = calloc(1, 1);
}

/* ---- what works on this machine --------------------------------------------------------------------- */

static void probe(void)
{
  static const char *const argv[] = {"/usr/bin/env", NULL};
  const struct sandbox_job job = {.argv = argv, .wall_seconds = 10, .cpu_seconds = 5,
                                  .memory_bytes = 1u << 30, .output_bytes = 4096, .processes = 8};
  char why[160] = "it is not installed: apt-get install bubblewrap";
  if (toolchain_which("bwrap", machine.bwrap, sizeof machine.bwrap)) {
    for (int proc = 1; proc >= 0 && !machine.bubblewrap; proc--) {
      struct sandbox_result r;
      machine.proc = proc;
      run_job(&job, &r, true);
      machine.bubblewrap = r.end == SANDBOX_EXITED && r.status == 0;
      if (!machine.bubblewrap) snprintf(why, sizeof why, "%.150s", r.end == SANDBOX_FAILED ? r.why
                                        : "its test run failed");
      sandbox_result_free(&r);
    }
  }
  for (char *c = why; *c; c++)
    if (*c == '\n') *c = ' ';
  if (machine.bubblewrap)
    snprintf(machine.kind, sizeof machine.kind, "bubblewrap");
  else
    snprintf(machine.kind, sizeof machine.kind, "limits only%s (bubblewrap does not work: %s)",
             confine_landlock() ? " and Landlock" : "", why);
}

const char *sandbox_kind(void)
{
  pthread_once(&probed, probe);
  return machine.kind;
}

void sandbox_run(const struct sandbox_job *job, struct sandbox_result *result)
{
  pthread_once(&probed, probe);
  run_job(job, result, machine.bubblewrap && sandbox_choice == SANDBOX_BEST);
}

void sandbox_result_free(struct sandbox_result *result)
{
  free(result->out);
  free(result->err);
  free(result->result);
  memset(result, 0, sizeof *result);
}
