/* The parts of the sandbox that need no namespaces: resource limits, a filter of system calls,
 * Landlock, and killing a process's descendants one by one until there are none. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"

#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the sandbox knows x86-64 and AArch64; add this machine's AUDIT_ARCH_ constant"
#endif

/* Nobody's kernel exercise needs these.  Newer calls by number: the headers may be older. */
static const unsigned refused[] = {
  SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_socket, SYS_bpf,
  SYS_perf_event_open, SYS_userfaultfd, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_mount,
  SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_swapon, SYS_swapoff,
  SYS_reboot, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_acct,
  SYS_quotactl, SYS_personality, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_sethostname,
  SYS_settimeofday, SYS_clock_settime, SYS_shmget, SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open,
  424 /* pidfd_send_signal */, 425 /* io_uring_setup */, 426, 427, 434 /* pidfd_open */,
  438 /* pidfd_getfd */, 440 /* process_madvise */,
};

/* Also refused to a student's program: new processes and threads, memory outside its limit. */
static const unsigned refused_programs[] = {
#ifdef SYS_fork
  SYS_fork, SYS_vfork,
#endif
  SYS_clone, SYS_memfd_create, SYS_prlimit64, SYS_setrlimit, SYS_io_setup,
  447 /* memfd_secret */,
};

static void rule(struct confine *c, struct sock_filter r)
{
  if (c->nfilter < CONFINE_RULES) c->filter[c->nfilter++] = r;
}

#define LOAD(field) \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define IF(op, value, yes, no) BPF_JUMP(BPF_JMP | BPF_K | op, value, yes, no)
#define RET(what) BPF_STMT(BPF_RET | BPF_K, what)

static void refuse(struct confine *c, unsigned call, unsigned error)
{
  rule(c, (struct sock_filter)IF(BPF_JEQ, call, 0, 1));
  rule(c, (struct sock_filter)RET(SECCOMP_RET_ERRNO | error));
}

static void folder(struct confine *c, const char *path)
{
  if (c->nreadable < CONFINE_FOLDERS) c->readable[c->nreadable++] = path;
}

void confine_prepare(struct confine *c, const struct sandbox_job *job, const char *work,
                     bool alone)
{
  bool program = job->processes <= 1;
  rule(c, (struct sock_filter)LOAD(arch));
  rule(c, (struct sock_filter)IF(BPF_JEQ, ARCH, 1, 0));
  rule(c, (struct sock_filter)RET(SECCOMP_RET_KILL_PROCESS));
  rule(c, (struct sock_filter)LOAD(nr));
#ifdef __x86_64__
  rule(c, (struct sock_filter)IF(BPF_JGE, 0x40000000, 0, 1));   /* the x32 calls */
  rule(c, (struct sock_filter)RET(SECCOMP_RET_ERRNO | ENOSYS));
#endif
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) refuse(c, refused[i], EPERM);
  if (program) {
    refuse(c, 435 /* clone3 */, ENOSYS);
    for (size_t i = 0; i < sizeof refused_programs / sizeof *refused_programs; i++)
      refuse(c, refused_programs[i], EAGAIN);
  }
  if (alone) {   /* signals to itself only; the number is put in by confine_apply */
    static const unsigned kills[] = {SYS_kill, SYS_tgkill, SYS_tkill, SYS_rt_sigqueueinfo};
    for (size_t i = 0; program && i < sizeof kills / sizeof *kills; i++) {
      rule(c, (struct sock_filter)IF(BPF_JEQ, kills[i], 0, 4));
      rule(c, (struct sock_filter)LOAD(args[0]));
      rule(c, (struct sock_filter)IF(BPF_JEQ, 0 /* own number */, 0, 1));
      rule(c, (struct sock_filter)RET(SECCOMP_RET_ALLOW));
      rule(c, (struct sock_filter)RET(SECCOMP_RET_ERRNO | EPERM));
    }
    if (!program) refuse(c, SYS_rt_sigqueueinfo, EPERM);
  }
  rule(c, (struct sock_filter)RET(SECCOMP_RET_ALLOW));

  static const char *const system[] = {"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin",
                                       "/etc/alternatives", "/etc/ld.so.cache", "/etc/nvcc.profile"};
  for (size_t i = 0; i < sizeof system / sizeof *system; i++) folder(c, system[i]);
  size_t n = (size_t)snprintf(c->path, sizeof c->path, "PATH=");
  for (const char *const *f = job->readable; f && *f; f++) {
    if (!**f) continue;
    folder(c, *f);
    n += (size_t)snprintf(c->path + n, sizeof c->path - n, "%s/bin:", *f);
    if (n >= sizeof c->path) n = 5;      /* absurdly long: leave them out */
  }
  snprintf(c->path + n, sizeof c->path - n, "/usr/local/bin:/usr/bin:/bin");
  c->folder = work;
  c->writes = job->result_file != NULL;
}

int confine_filter_file(const struct confine *c)
{
  int fd = memfd_create("filter", MFD_CLOEXEC);
  ssize_t bytes = (ssize_t)(c->nfilter * sizeof *c->filter);
  if (fd < 0) return -1;
  if (write(fd, c->filter, (size_t)bytes) == bytes && lseek(fd, 0, SEEK_SET) == 0) return fd;
  close(fd);
  return -1;
}

static void limit(int what, uint64_t value)
{
  struct rlimit l, want = {value, value};
  if (getrlimit(what, &l) == 0 && l.rlim_max < value) want.rlim_cur = want.rlim_max = l.rlim_max;
  setrlimit(what, &want);
}

void confine_limits(const struct sandbox_job *job)
{
  bool program = job->processes <= 1;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, (uint64_t)job->cpu_seconds + 1);
  limit(RLIMIT_AS, job->memory_bytes);
  limit(RLIMIT_NOFILE, program ? 64 : 256);
  limit(RLIMIT_FSIZE, program ? job->output_bytes : 512u << 20);
  limit(RLIMIT_STACK, 8u << 20);
  limit(RLIMIT_MSGQUEUE, 0);
  limit(RLIMIT_MEMLOCK, 65536);
}

/* ---- Landlock, by system call: the wrapper functions are not in every libc ------------------------------ */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum {
  LL_EXECUTE = 1 << 0, LL_WRITE = 1 << 1, LL_READ = 1 << 2, LL_LIST = 1 << 3,
  LL_ALL = (1 << 13) - 1,      /* the rights of its first version, all about files */
  LL_FILE = LL_EXECUTE | LL_WRITE | LL_READ
};

struct ll_under { uint64_t allowed; int32_t parent; } __attribute__((packed));

bool confine_landlock(void) { return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 1; }

static void ll_allow(int rules, const char *path, uint64_t rights)
{
  int fd = open(path, O_PATH | O_CLOEXEC), dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct ll_under u = {dir >= 0 ? rights : rights & LL_FILE, fd};
  if (fd >= 0) syscall(SYS_landlock_add_rule, rules, 1, &u, 0);
  if (fd >= 0) close(fd);
  if (dir >= 0) close(dir);
}

static bool ll_apply(const struct confine *c)
{
  uint64_t handled = LL_ALL;
  int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (rules < 0) return true;  /* the kernel does not have it; sandbox_kind says so */
  for (unsigned i = 0; i < c->nreadable; i++)
    ll_allow(rules, c->readable[i], LL_EXECUTE | LL_READ | LL_LIST);
  ll_allow(rules, "/dev/null", LL_READ | LL_WRITE);
  ll_allow(rules, c->folder, c->writes ? LL_ALL : LL_EXECUTE | LL_READ | LL_LIST);
  bool ok = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(rules);
  return ok;
}

/* Without namespaces root would stay root: it becomes nobody. */
enum { NOBODY = 65534 };

bool confine_give(const char *path, bool alone)
{
  return !alone || geteuid() != 0 || chown(path, NOBODY, NOBODY) == 0;
}

static bool step_down(void)
{
  if (geteuid() != 0) return true;
  return setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0 &&
         prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;   /* forgotten with the change of user */
}

bool confine_apply(const struct confine *c)
{
  struct sock_filter filter[CONFINE_RULES];
  memcpy(filter, c->filter, sizeof filter);
  for (unsigned i = 0; i + 2 < c->nfilter; i++)   /* args[0] is compared with our number */
    if (filter[i].code == (BPF_LD | BPF_W | BPF_ABS) &&
        filter[i].k == offsetof(struct seccomp_data, args[0]))
      filter[i + 1].k = (unsigned)getpid();
  struct sock_fprog program = {(unsigned short)c->nfilter, filter};
  return step_down() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ll_apply(c) &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void confine_close(int first, int last)
{
  if (last >= 0 && last < first) return;
  if (syscall(436 /* close_range */, first, last < 0 ? ~0u : (unsigned)last, 0) == 0) return;
  struct rlimit l;
  int end = last >= 0 ? last : getrlimit(RLIMIT_NOFILE, &l) == 0 ? (int)l.rlim_cur : 1024;
  for (int fd = first; fd <= end; fd++) close(fd);
}

/* ---- killing all descendants of this process, which adopts orphans --------------------------------------- */

static pid_t parent_of(const char *pid)
{
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return -1;
  text[n] = 0;
  const char *close_bracket = strrchr(text, ')');   /* the name before it may hold anything */
  int parent;
  return close_bracket && sscanf(close_bracket + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

uint64_t confine_kill_children(pid_t apart)
{
  uint64_t peak = 0;
  for (int round = 0; round < 2000; round++) {
    DIR *d = opendir("/proc");
    struct dirent *e;
    while (d && (e = readdir(d)))
      if (*e->d_name >= '1' && *e->d_name <= '9' && parent_of(e->d_name) == getpid())
        kill(atoi(e->d_name), SIGKILL);
    if (d) closedir(d);
    pid_t pid;
    struct rusage usage;
    while ((pid = wait4(-1, NULL, WNOHANG, &usage)) > 0)
      if (pid != apart && (uint64_t)usage.ru_maxrss * 1024 > peak)
        peak = (uint64_t)usage.ru_maxrss * 1024;
    if (pid < 0 && errno == ECHILD) break;
    usleep(500);
  }
  return peak;
}
