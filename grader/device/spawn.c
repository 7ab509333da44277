/* The grader's side of a job: start a worker, send the job, read the outcome, believe nothing.
 *
 * The worker is this program again, executed anew with an empty environment, so it holds no
 * state, no descriptors and no secrets of the grader's.  The grader itself never opens a
 * device. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/job.h"

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct worker {
  pid_t pid;
  int to, from;                /* pipes; -1 when closed */
  bool keep;                   /* more jobs follow: its input stays open */
};

static void shut(int *fd)
{
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* What the driver needs of the environment, beside the loader's own search. */
static void gpu_environment(char *env[], char text[3][1024])
{
  static const char *const names[] = {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "TMPDIR"};
  int n = 0, k = 0;
  env[n++] = "PATH=/usr/bin:/bin";
  env[n++] = "LC_ALL=C";
  env[n++] = "CUDA_CACHE_DISABLE=1";      /* no file of ours, or of an earlier run, plays a part */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (!value || strlen(value) > 900) continue;
    snprintf(text[k], 1024, "%s=%s", names[i], value);
    env[n++] = text[k++];
  }
  env[n] = NULL;
}

/* `what` is the worker's argument: NULL, "--gpu" or "--probe". */
static bool start(struct worker *w, char *what, char *why, size_t size)
{
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  char *argv[] = {"banks", "worker", what, NULL};
  char *env[8] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL}, text[3][1024];
  if (what) gpu_environment(env, text);
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
    snprintf(why, size, "no pipe for a worker: %s", strerror(errno));
    shut(&in[0]), shut(&in[1]);
    return false;
  }
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int error = posix_spawn(&w->pid, "/proc/self/exe", &actions, &attributes, argv, env);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(in[0]);
  close(out[1]);
  w->to = in[1];
  w->from = out[0];
  if (error == 0) {
    fcntl(w->to, F_SETFL, O_NONBLOCK);
    fcntl(w->from, F_SETFL, O_NONBLOCK);
    return true;
  }
  snprintf(why, size, "a worker could not be started: %s", strerror(error));
  shut(&w->to);
  shut(&w->from);
  return false;
}

/* Sends `frame` and gathers what comes back, both at once, so that neither pipe can fill up and
 * block the other.  0: the frame is complete or the worker closed its output; 1: time is up; 2:
 * too much came back.  The frame's own length ends the reading: another thread's child may hold a
 * copy of the pipe for a moment, so that its end may come late. */
static int exchange(struct worker *w, const unsigned char *frame, size_t size, double deadline,
                    struct codec *back)
{
  size_t sent = 0;
  bool all = size == 0;
  char chunk[65536];
  for (;;) {
    double left = deadline - now();
    if (left <= 0) return 1;
    struct pollfd fds[2] = {{w->from, POLLIN, 0}, {w->to, POLLOUT, 0}};
    int n = poll(fds, w->to >= 0 && !all ? 2 : 1, left > 1 ? 1000 : (int)(left * 1000) + 1);
    if (n <= 0) continue;
    if (w->to >= 0 && !all && fds[1].revents) {
      ssize_t put = write(w->to, frame + sent, size - sent);
      if (put > 0) sent += (size_t)put;
      bool gone = put < 0 && errno != EAGAIN && errno != EINTR;   /* it died: its status tells */
      if (gone || (sent == size && !w->keep)) shut(&w->to);
      if (sent == size) all = true;
    }
    if (fds[0].revents) {
      ssize_t got = read(w->from, chunk, sizeof chunk);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0) return 0;
      if (back->size + (size_t)got > FRAME_LIMIT) return 2;
      codec_raw(back, chunk, (size_t)got);
      uint64_t head[2];
      if (back->bad || back->size < sizeof head) continue;
      memcpy(head, back->data, sizeof head);
      if (head[0] != FRAME_MAGIC || back->size - sizeof head >= head[1]) return 0;
    }
  }
}

/* Waits to the deadline, then kills.  The exit status, as waitpid gives it. */
static int finish(struct worker *w, double deadline)
{
  int status = 0;
  shut(&w->to);
  shut(&w->from);
  for (long pause = 200000;; pause = pause < 10000000 ? pause * 2 : pause) {
    pid_t p = waitpid(w->pid, &status, WNOHANG);
    if (p == w->pid || (p < 0 && errno != EINTR)) return status;
    if (now() > deadline) {
      kill(w->pid, SIGKILL);
      while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) {}
      return status;
    }
    nanosleep(&(struct timespec){0, pause}, NULL);
  }
}

static void fail(struct outcome *o, enum job_end end, const char *why)
{
  outcome_free(o);
  o->end = end;
  snprintf(o->why, sizeof o->why, "%s", why);
}

/* Takes the outcome of a job from the worker's answer. */
static void take(const struct job *job, const struct codec *back, struct outcome *o)
{
  uint64_t head[2] = {0, 0};
  if (back->size >= sizeof head) memcpy(head, back->data, sizeof head);
  if (back->bad || head[0] != FRAME_MAGIC || head[1] != back->size - sizeof head) {
    fail(o, JOB_OURS, "the worker's answer is broken");
    return;
  }
  struct codec c = {.data = back->data + sizeof head, .size = back->size - sizeof head};
  outcome_code(&c, o, job);
  if (!codec_done(&c)) fail(o, JOB_OURS, "the worker's answer is broken");
}

/* How a worker that is gone ended, `state` being what exchange said. */
static bool ended_badly(int state, int status, struct outcome *o)
{
  char why[400];
  if (state == 1 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
    fail(o, JOB_SLOW, "");
  } else if (WIFSIGNALED(status)) {
    snprintf(why, sizeof why, "the worker crashed (%s)", strsignal(WTERMSIG(status)));
    fail(o, JOB_OURS, why);
  } else if (WEXITSTATUS(status) != 0) {
    snprintf(why, sizeof why, "the worker ended with status %d", WEXITSTATUS(status));
    fail(o, JOB_OURS, why);
  } else {
    return false;
  }
  return true;
}

static void attempt(const struct job *job, const struct codec *frame, double seconds,
                    struct outcome *o)
{
  struct worker w = {0};
  struct codec back = {.writing = true};
  char why[400];
  if (!start(&w, NULL, why, sizeof why)) {
    fail(o, JOB_OURS, why);
    return;
  }
  double deadline = now() + seconds;
  int state = exchange(&w, frame->data, frame->size, deadline, &back);
  int status = finish(&w, state == 0 ? deadline : 0);
  if (!ended_badly(state, status, o)) take(job, &back, o);
  free(back.data);
}

/* The job as a whole frame; false when memory ends. */
static bool frame_of(const struct job *job, struct codec *frame)
{
  uint64_t head[2] = {FRAME_MAGIC, 0};
  *frame = (struct codec){.writing = true};
  codec_raw(frame, head, sizeof head);
  job_code(frame, (struct job *)job);     /* only reads it: the codec is writing */
  if (frame->bad) return false;
  head[1] = frame->size - sizeof head;
  memcpy(frame->data, head, sizeof head);
  return true;
}

void job_run(const struct job *job, double seconds, struct outcome *o)
{
  struct codec frame;
  memset(o, 0, sizeof *o);
  if (!frame_of(job, &frame)) {
    fail(o, JOB_OURS, "out of memory");
  } else {
    for (int tries = 0; tries < 2; tries++) {
      outcome_free(o);
      attempt(job, &frame, seconds, o);
      if (o->end != JOB_OURS) break;
      nanosleep(&(struct timespec){0, 300000000}, NULL);   /* it may be short of processes */
    }
  }
  free(frame.data);
}

bool job_write(const struct job *job, FILE *to)
{
  struct codec frame;
  bool good = frame_of(job, &frame) && fwrite(frame.data, 1, frame.size, to) == frame.size;
  free(frame.data);
  return good;
}

bool outcome_write(const struct outcome *o, const struct job *job, FILE *to)
{
  uint64_t head[2] = {FRAME_MAGIC, 0};
  struct codec frame = {.writing = true};
  codec_raw(&frame, head, sizeof head);
  outcome_code(&frame, (struct outcome *)o, job);   /* only reads it: the codec is writing */
  head[1] = frame.size - sizeof head;
  if (!frame.bad) memcpy(frame.data, head, sizeof head);
  bool good = !frame.bad && fwrite(frame.data, 1, frame.size, to) == frame.size;
  free(frame.data);
  return good;
}

bool outcome_read(struct outcome *o, const struct job *job, FILE *from)
{
  uint64_t head[2];
  memset(o, 0, sizeof *o);
  if (fread(head, sizeof head, 1, from) != 1 || head[0] != FRAME_MAGIC || head[1] > FRAME_LIMIT)
    return false;
  struct codec c = {.size = head[1], .data = malloc(head[1] ? head[1] : 1)};
  bool good = c.data && fread(c.data, 1, c.size, from) == c.size;
  if (good) {
    outcome_code(&c, o, job);
    good = codec_done(&c);
  }
  if (!good) outcome_free(o);
  free(c.data);
  return good;
}

/* ---- sessions ------------------------------------------------------------------------------ */

struct job_session {
  struct worker worker;
  bool running;
};

struct job_session *job_session_new(void) { return calloc(1, sizeof(struct job_session)); }

static bool clean_run(const struct outcome *o)
{
  for (size_t i = 0; i < o->nlaunches; i++)
    if (o->launches[i].nfaults || !o->launches[i].completed) return false;
  return o->end == JOB_RAN;
}

void job_session_run(struct job_session *s, const struct job *job, double seconds,
                     struct outcome *o)
{
  struct codec frame, back = {.writing = true};
  char why[400] = "out of memory";
  memset(o, 0, sizeof *o);
  if (!s || !frame_of(job, &frame)) {
    fail(o, JOB_OURS, why);
    return;
  }
  if (!s->running && !(s->running = start(&s->worker, "--gpu", why, sizeof why))) {
    fail(o, JOB_OURS, why);
    free(frame.data);
    return;
  }
  s->worker.keep = true;
  int state = exchange(&s->worker, frame.data, frame.size, now() + seconds, &back);
  uint64_t head[2] = {0, 0};
  if (back.size >= sizeof head) memcpy(head, back.data, sizeof head);
  if (state == 0 && head[0] == FRAME_MAGIC && head[1] == back.size - sizeof head) {
    take(job, &back, o);
  } else {
    int status = finish(&s->worker, state == 0 ? now() + 1 : 0);
    s->running = false;
    if (!ended_badly(state, status, o)) fail(o, JOB_OURS, "the worker's answer is broken");
  }
  if (s->running && !clean_run(o)) {
    finish(&s->worker, now() + 2);
    s->running = false;
  }
  free(frame.data);
  free(back.data);
}

void job_session_end(struct job_session *s)
{
  if (s && s->running) finish(&s->worker, now() + 5);
  free(s);
}

/* ---- which GPU ----------------------------------------------------------------------------- */

enum { PROBE_SECONDS = 30 };

static struct { pthread_once_t once; bool found; char name[128], why[400]; } gpu = {
  .once = PTHREAD_ONCE_INIT};

/* The worker prints "ok NAME" or "no SENTENCE". */
static void probe(void)
{
  struct worker w = {0};
  if (!start(&w, "--probe", gpu.why, sizeof gpu.why)) return;
  shut(&w.to);
  double deadline = now() + PROBE_SECONDS;
  int state = 0;
  char text[512];
  size_t n = 0;
  for (;;) {
    struct pollfd fd = {w.from, POLLIN, 0};
    if (now() > deadline && (state = 1)) break;
    if (poll(&fd, 1, 200) <= 0) continue;
    ssize_t got = read(w.from, text + n, sizeof text - 1 - n);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) break;
    n += (size_t)got;
  }
  text[n] = 0;
  text[strcspn(text, "\n")] = 0;
  int status = finish(&w, state ? 0 : deadline);
  gpu.found = !state && WIFEXITED(status) && !strncmp(text, "ok ", 3);
  if (gpu.found) snprintf(gpu.name, sizeof gpu.name, "%.120s", text + 3);
  else if (!strncmp(text, "no ", 3)) snprintf(gpu.why, sizeof gpu.why, "%.390s", text + 3);
  else snprintf(gpu.why, sizeof gpu.why, state ? "the NVIDIA driver did not answer in %d seconds"
                : "the worker that looked for a GPU crashed", PROBE_SECONDS);
}

bool job_gpu(char *name, size_t name_size, char *why, size_t size)
{
  pthread_once(&gpu.once, probe);
  snprintf(name, name_size, "%s", gpu.name);
  snprintf(why, size, "%s", gpu.why);
  return gpu.found;
}
