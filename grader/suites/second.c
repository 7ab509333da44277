/* A second word, from the GPU.
 *
 * Marks come from the simulator: it counts, and it sees races and stray reads.  When there is a
 * GPU the same job runs there too, and the same judge looks at the GPU's bytes with the
 * simulator's counts.  Both must come to the same share.  When they do not, one of our two
 * devices is wrong about the kernel, and nobody may lose or gain points by it: the test is not
 * graded, and says what each device said.
 *
 * Where the simulator found a fault there is nothing to compare: a race may well come out right on
 * a GPU today. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/item.h"

static bool clean(const struct outcome *o)
{
  for (size_t i = 0; i < o->nlaunches; i++)
    if (o->launches[i].nfaults || !o->launches[i].completed) return false;
  return o->end == JOB_RAN && o->nlaunches > 0;
}

void work_second_run(struct work *w, struct item *it, double seconds)
{
  struct job *job = &it->plan->job;
  if (!clean(&it->outcome)) return;       /* a faulty kernel is not let loose on the GPU */
  if (!w->gpu) w->gpu = job_session_new();
  snprintf(job->device, sizeof job->device, "cuda");
  job_session_run(w->gpu, job, seconds, &it->gpu);
  snprintf(job->device, sizeof job->device, "sim");
  it->on_gpu = true;
  if (*it->gpu.device) snprintf(w->device, sizeof w->device, "sim and %.150s", it->gpu.device);
}

static void first_line(const char *text, char *to, size_t size)
{
  text += strspn(text, "\n ");
  snprintf(to, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static void disagree(struct verdict *v, const char *gpu)
{
  char line[300];
  struct verdict simulator = *v;
  first_line(simulator.message, line, sizeof line);
  memset(v, 0, sizeof *v);
  v->not_graded = true;
  verdict_fail(v, "the simulator and the GPU disagree about this kernel.\n  simulator: %s\n  GPU: "
               "%.300s", line, gpu);
}

void work_second_judge(const struct work *w, const struct item *it, struct verdict *v)
{
  if (!it->on_gpu) return;
  const struct outcome *o = &it->gpu;
  char line[300];
  if (o->end == JOB_SLOW) {
    disagree(v, "it did not finish within the time limit");
  } else if (o->end != JOB_RAN) {
    disagree(v, *o->why ? o->why : "it could not be run");
  } else if (!clean(o)) {
    const struct sim_result *last = &o->launches[o->nlaunches - 1];
    disagree(v, o->nlaunches && last->nfaults ? last->faults[0].text : "the launch did not complete");
  } else if (o->nlaunches != it->outcome.nlaunches) {
    disagree(v, "it made another number of launches");
  } else {
    const struct job *job = &it->plan->job;
    const void **buffers = calloc(job->nbuffers + 1, sizeof *buffers);
    struct verdict *second = calloc(1, sizeof *second);
    struct evidence e = it->evidence;
    struct rng r;
    if (!buffers || !second) exit(3);     /* Check sees it, and the test is not graded */
    for (size_t i = 0; i < job->nbuffers; i++)
      buffers[i] = job->buffers[i].returned ? o->buffers[i] : job->buffers[i].data;
    e.buffers = buffers;
    rng_seed(&r, w->seed, it->label);
    it->test->judge(second, &e, &r);
    first_line(second->message, line, sizeof line);
    if (!second->set || second->not_graded || second->share != v->share) {
      disagree(v, *line ? line : "its result came to no verdict");
    } else {
      double milliseconds = 0;
      for (size_t i = 0; i < o->nlaunches; i++) milliseconds += o->milliseconds[i];
      verdict_add(v, "  the GPU agrees (%zu launches, %.3f ms).", o->nlaunches, milliseconds);
    }
    free(buffers);
    free(second);
  }
}
