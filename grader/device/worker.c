/* The worker's side of a job: open a device, load, upload, launch, download, answer.
 *
 * This process is started for one job and ends with it, so module state is fresh in every test
 * and whatever a kernel does to its device is gone afterwards.  It never judges. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/job.h"

static const struct device_ops *const devices[] = {&device_sim, &device_cuda};

static void ours(struct outcome *o, const char *why)
{
  o->end = JOB_OURS;
  snprintf(o->why, sizeof o->why, "%s", why);
}

/* ---- parameters: values and addresses laid out as the kernel declares them ----------------- */

static void entries(const struct ptx_module *m, char *out, size_t size)
{
  size_t n = 0, told = 0;
  *out = 0;
  for (size_t i = 0; i < m->nfunctions && n < size; i++)
    if (m->functions[i]->is_entry && told++ < 6)
      n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", m->functions[i]->name);
}

/* A launch that cannot be made is a fault of the kernel's signature, told as such. */
static void launch_fault(struct sim_result *r, const char *text)
{
  memset(r, 0, sizeof *r);
  r->faults = calloc(1, sizeof *r->faults);
  if (!r->faults) return;                 /* not completed, which is no pass either */
  r->nfaults = 1;
  r->faults[0].kind = SIM_FAULT_LAUNCH;
  r->faults[0].fatal = true;
  r->faults[0].count = 1;
  snprintf(r->faults[0].text, sizeof r->faults[0].text, "%s", text);
}

bool job_lay_out(const struct ptx_module *module, const struct job_launch *l,
                 const uint64_t *addresses, unsigned char *params, size_t room, size_t *bytes,
                 char *text, size_t size)
{
  struct ptx_function *f = ptx_find_entry(module, l->kernel);
  char names[256];
  if (!f) {
    entries(module, names, sizeof names);
    if (*names)
      snprintf(text, size, "there is no single kernel called %s in this file; it has: %s. Keep "
               "the name and the parameters of the starter.", l->kernel, names);
    else
      snprintf(text, size, "there is no kernel called %s in this file. Keep the name and the "
               "parameters of the starter, and __global__ before it.", l->kernel);
    return false;
  }
  if (f->nparams != l->nargs) {
    snprintf(text, size, "%s takes %zu parameters, and the exercise passes %u. Keep the "
             "parameters of the starter.", l->kernel, f->nparams, l->nargs);
    return false;
  }
  *bytes = 0;
  for (uint32_t i = 0; i < l->nargs; i++) {
    const struct job_arg *a = &l->args[i];
    const struct ptx_symbol *p = f->params[i];
    if (p->bytes != a->bytes || p->offset > room - a->bytes) {
      snprintf(text, size, "parameter %u of %s has %llu bytes, and the exercise passes %u. Keep "
               "the parameters of the starter.", i + 1, l->kernel, (unsigned long long)p->bytes,
               a->bytes);
      return false;
    }
    memcpy(params + p->offset, a->buffer == JOB_VALUE ? (const void *)a->value
                                                      : (const void *)&addresses[a->buffer],
           a->bytes);
    for (uint32_t k = 0; k < a->ninside; k++)
      memcpy(params + p->offset + a->inside[k].at, &addresses[a->inside[k].buffer], 8);
    if (p->offset + p->bytes > *bytes) *bytes = p->offset + p->bytes;
  }
  return true;
}

/* ---- running ------------------------------------------------------------------------------- */

static bool clean(const struct sim_result *r) { return r->nfaults == 0 && r->completed; }

static void run_launches(struct job *job, struct outcome *o, const struct device_ops *ops,
                         struct device *d, const struct ptx_module *module,
                         const uint64_t *addresses)
{
  unsigned char params[2 * JOB_ARGS * JOB_ARG_BYTES];
  for (size_t i = 0; i < job->nlaunches; i++) {
    const struct job_launch *l = &job->launches[i];
    struct sim_result *r = &o->launches[o->nlaunches];
    char text[512];
    size_t bytes = 0;
    memset(params, 0, sizeof params);
    if (!job_lay_out(module, l, addresses, params, sizeof params, &bytes, text, sizeof text)) {
      launch_fault(r, text);
    } else {
      struct sim_launch launch = {.kernel = l->kernel, .shared_bytes = l->shared_bytes,
                                  .params = params, .param_bytes = bytes};
      memcpy(launch.grid, l->grid, sizeof launch.grid);
      memcpy(launch.block, l->block, sizeof launch.block);
      ops->launch(d, &launch, r, &o->milliseconds[o->nlaunches]);
    }
    o->nlaunches++;
    if (!clean(r)) break;
  }
}

static void with_device(struct job *job, struct outcome *o, const struct device_ops *ops,
                        struct device *d, struct ptx_module *module)
{
  struct device_info info = {0};
  struct ptx_error error = {0};
  uint64_t addresses[JOB_BUFFERS] = {0};
  ops->info(d, &info);
  if (info.driver[0])
    snprintf(o->device, sizeof o->device, "%s (%.80s, driver %.50s)", ops->name,
             info.name, info.driver);
  else
    snprintf(o->device, sizeof o->device, "%s", ops->name);
  if (!ops->load(d, (const char *)job->ptx, job->ptx_size, &error)) {
    o->end = JOB_REFUSED;
    o->why_line = error.source_line;
    snprintf(o->why, sizeof o->why, "%s", error.text);
    return;
  }
  for (size_t i = 0; i < job->nbuffers; i++) {
    const struct job_buffer *b = &job->buffers[i];
    addresses[i] = ops->alloc(d, b->bytes, b->name, b->read_only);
    if (!addresses[i] || !ops->upload(d, addresses[i], b->data, b->bytes)) {
      ours(o, "the device has no memory for the test's buffers");
      return;
    }
  }
  o->launches = calloc(job->nlaunches + 1, sizeof *o->launches);
  o->milliseconds = calloc(job->nlaunches + 1, sizeof *o->milliseconds);
  o->buffers = calloc(job->nbuffers + 1, sizeof *o->buffers);
  if (!o->launches || !o->milliseconds || !o->buffers) {
    ours(o, "the worker is out of memory");
    return;
  }
  run_launches(job, o, ops, d, module, addresses);
  const struct sim_result *last = o->nlaunches ? &o->launches[o->nlaunches - 1] : NULL;
  const char *broken = ops->broken ? ops->broken(d) : "";
  if (*broken && !(last && last->nfaults)) {
    ours(o, broken);
    return;
  }
  o->end = JOB_RAN;
  o->nbuffers = job->nbuffers;
  for (size_t i = 0; i < job->nbuffers; i++) {
    const struct job_buffer *b = &job->buffers[i];
    if (!b->returned) continue;
    o->buffers[i] = malloc(b->bytes + 1);
    if (!o->buffers[i] || !ops->download(d, addresses[i], o->buffers[i], b->bytes)) {
      ours(o, "a buffer could not be read back from the device");
      return;
    }
  }
}

void job_execute(struct job *job, struct outcome *o)
{
  const struct device_ops *ops = NULL;
  struct ptx_error error = {0};
  char why[400] = "";
  memset(o, 0, sizeof *o);
  ours(o, "the worker did not get to run the test");
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if (!strcmp(devices[i]->name, job->device)) ops = devices[i];
  if (!ops) {
    snprintf(o->why, sizeof o->why, "this program has no device called '%s'", job->device);
    return;
  }
  struct ptx_module *module = ptx_read((const char *)job->ptx, job->ptx_size, &error);
  if (!module) {
    o->end = JOB_REFUSED;
    o->why_line = error.source_line;
    snprintf(o->why, sizeof o->why, "%s", error.text);
    return;
  }
  o->files = calloc(module->nfiles + 1, sizeof *o->files);
  if (o->files) o->nfiles = module->nfiles;
  for (size_t i = 0; i < o->nfiles; i++)
    o->files[i] = strdup(module->files[i] ? module->files[i] : "");
  struct device *d = ops->open(&job->options, why, sizeof why);
  if (d) {
    with_device(job, o, ops, d, module);
    ops->close(d);
  } else {
    snprintf(o->why, sizeof o->why, "the device '%s' could not be opened: %s", ops->name, why);
  }
  if (o->end != JOB_RAN) o->nbuffers = 0;
  ptx_free(module);
}

/* ---- frames -------------------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t size)
{
  for (size_t n = 0; n < size;) {
    ssize_t got = read(fd, (char *)to + n, size - n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    n += (size_t)got;
  }
  return true;
}

static bool write_all(int fd, const void *from, size_t size)
{
  for (size_t n = 0; n < size;) {
    ssize_t put = write(fd, (const char *)from + n, size - n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    n += (size_t)put;
  }
  return true;
}

/* -1: no frame any more, or a broken one. */
static int serve_one(int in, int out, bool first)
{
  uint64_t head[2];
  if (!read_all(in, head, sizeof head) || head[0] != FRAME_MAGIC || head[1] > FRAME_LIMIT) {
    if (first)
      fprintf(stderr, "banks worker: expects a job on its standard input; the grader starts it\n");
    return -1;
  }
  struct codec c = {.size = head[1], .data = malloc(head[1] ? head[1] : 1)};
  struct job job = {0};
  if (!c.data || !read_all(in, c.data, c.size)) return 3;
  job_code(&c, &job);
  if (!codec_done(&c)) {
    fprintf(stderr, "banks worker: the job's frame is broken\n");
    return 3;
  }
  free(c.data);
  struct outcome o;
  job_execute(&job, &o);
  struct codec answer = {.writing = true};
  if (out >= 0) {
    outcome_code(&answer, &o, &job);
    head[1] = answer.size;
    if (answer.bad || !write_all(out, head, sizeof head) ||
        !write_all(out, answer.data, answer.size))
      return 3;
  } else if (o.end != JOB_RAN) {
    fprintf(stderr, "banks worker: %s\n", o.why);
    return 3;
  }
  free(answer.data);
  outcome_free(&o);
  job_free(&job);
  return 0;
}

int job_serve(int in, int out)
{
  int status, served = 0;
  while ((status = serve_one(in, out, served == 0)) == 0) served++;
  return status < 0 ? served ? 0 : 3 : status;
}

void job_probe(struct device_info *info, char *why, size_t size)
{
  struct sim_options options = {0};
  memset(info, 0, sizeof *info);
  struct device *d = device_cuda.open(&options, why, size);
  if (!d) return;
  device_cuda.info(d, info);
  device_cuda.close(d);
}
