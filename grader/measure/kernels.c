/* Times of the exercises' kernels at their bench sizes: exercises.tsv.  See measure.h. */
#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"
#include "toolchain/toolchain.h"

enum { SIZES = 3 };

static uint64_t traffic(const struct plan *p)
{
  uint64_t bytes = 0;
  for (size_t i = 0; i < p->job.nbuffers; i++)
    bytes += p->job.buffers[i].bytes * (p->roles[i] == BUFFER_INOUT ? 2 : 1);
  return bytes;
}

/* Times every launch of a plan; the sums in *sum. */
static bool time_plan(struct gpu *g, const struct plan *p, const struct ptx_module *m,
                      struct cuda_time *sum)
{
  const struct job *job = &p->job;
  uint64_t addresses[JOB_BUFFERS];
  unsigned char params[2 * JOB_ARGS * JOB_ARG_BYTES];
  bool good = true;
  memset(sum, 0, sizeof *sum);
  for (size_t i = 0; good && i < job->nbuffers; i++)
    good = (addresses[i] = gpu_buffer(g, job->buffers[i].bytes, job->buffers[i].data)) != 0;
  for (size_t i = 0; good && i < job->nlaunches; i++) {
    const struct job_launch *l = &job->launches[i];
    struct cuda_time t;
    size_t bytes = 0;
    memset(params, 0, sizeof params);
    if (!job_lay_out(m, l, addresses, params, sizeof params, &bytes, g->why, sizeof g->why))
      return false;
    struct sim_launch launch = {.kernel = l->kernel, .shared_bytes = l->shared_bytes,
                                .params = params, .param_bytes = bytes};
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    char why[300] = "";
    good = cuda_time(g->device, &launch, i ? 0 : traffic(p), g->samples, &t, why, sizeof why);
    if (!good) snprintf(g->why, sizeof g->why, "%s: %s", l->kernel, why);
    sum->median += t.median;
    sum->low += t.low;
    sum->high += t.high;
    sum->copy_median += t.copy_median;
    sum->resident = t.resident;
    sum->registers = t.registers;
  }
  gpu_free_buffers(g);
  return good;
}

/* Nothing that reads its inputs and writes its outputs is much faster than copying as many bytes.
 * The fastest of the recorded kernels takes 0.8 of a copy: its inputs are partly in the cache. */
static bool impossible(const struct cuda_time *t)
{
  return t->copy_median > 0 && t->median < 0.5 * t->copy_median;
}

static bool one(struct gpu *g, FILE *f, const char *folder, const char *from,
                const struct exercise *x)
{
  char path[800];
  struct compiled c;
  struct ptx_error error;
  snprintf(path, sizeof path, "%.500s/%.*s/%.100s", folder, (int)strcspn(x->id, "/"), x->id,
           x->file);
  toolchain_cuda(path, x->file, TOOLCHAIN_AUTO, &c);
  struct ptx_module *m = c.ok ? ptx_read(c.code, c.code_size, &error) : NULL;
  bool good = m && gpu_load(g, c.code, c.code_size);
  if (!good) {                            /* a submission may lack it: go on with the next */
    fprintf(stderr, "banks: %s/%s is left out: %s\n", from, x->id, c.ok ? g->why : c.summary);
    good = true;
  } else {
    for (int size = 0; good && size < SIZES; size++) {
      struct rng r;
      struct cuda_time t;
      struct plan *p = plan_new(1, x->id);
      rng_seed(&r, 1, x->id);
      x->bench(p, &r, size);
      if (*p->error) {
        snprintf(g->why, sizeof g->why, "%s: %s", x->id, p->error);
        good = false;
      } else if ((good = time_plan(g, p, m, &t)) && impossible(&t)) {
        fprintf(stderr, "banks: %s/%s, size %d: refused: %.5f ms is less than the card's memory needs "
                "for its %llu bytes (a copy of them took %.5f ms); the kernel did not do its work, or "
                "the clock is wrong\n", from, x->id, size, t.median,
                (unsigned long long)traffic(p), t.copy_median);
      } else if (good) {
        fprintf(f, "%s\t%s\t%d\t%llu\t%.5f\t%.5f\t%.5f\t%.5f\t%u\t%u\n", from, x->id, size,
                (unsigned long long)traffic(p), t.median, t.low, t.high, t.copy_median, t.resident,
                t.registers);
      }
      plan_free(p);
    }
  }
  if (m) ptx_free(m);
  compiled_free(&c);
  return good;
}

bool measure_exercises(struct gpu *g, const char *root, const char *const *froms, const char *id,
                       volatile int *at)
{
  char folder[512];
  int n = 0, first = *at;
  FILE *f = first ? gpu_table_again(g, "exercises.tsv")
                  : gpu_table(g, "exercises.tsv", "Times of the exercises' kernels at three sizes; "
                              "`bytes` are those of the buffers, `copy_ms` a copy of as many.",
                              "from\texercise\tsize\tbytes\tms\tlow\thigh\tcopy_ms\tresident"
                              "\tregisters");
  bool good = f != NULL;
  for (; good && *froms; froms++) {
    if (!suite_folder(root, *froms, folder, sizeof folder)) {
      snprintf(g->why, sizeof g->why, "--from %.200s: there is no such folder", *froms);
      good = false;
    }
    for (size_t i = 0; good && suites[i]; i++)
      for (const struct exercise *x = suites[i]->exercises; good && x->id; x++) {
        if (x->kind != EXERCISE_KERNEL || !x->bench || (id && strcmp(id, x->id)) || n++ < first)
          continue;
        *at = n;
        good = one(g, f, folder, *froms, x);
        fflush(f);
        if (!good) fprintf(stderr, "banks: %s/%s: %s\n", *froms, x->id, g->why);
      }
  }
  return f && gpu_table_end(g, f) && good;
}
