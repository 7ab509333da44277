/* The fields of job and outcome frames, each listed once for both directions. */
#include "device/job.h"

#include <stdlib.h>
#include <string.h>


static void dim3(struct codec *c, uint32_t d[3])
{
  for (int i = 0; i < 3; i++) codec_u32(c, &d[i]);
}

static void options(struct codec *c, struct sim_options *o)
{
  codec_u32(c, &o->threads);
  codec_u64(c, &o->step_budget);
  codec_u64(c, &o->warp_budget);
  codec_u64(c, &o->memory_limit);
  codec_size(c, &o->printf_limit);
  codec_size(c, &o->fault_limit);
  codec_u64(c, &o->seed);
  codec_u32(c, &o->shared_limit);
  codec_bool(c, &o->no_checks);
  codec_bool(c, &o->no_fuse);
}

void job_code(struct codec *c, struct job *job)
{
  codec_text(c, job->device, sizeof job->device);
  options(c, &job->options);
  codec_block(c, &job->ptx, &job->ptx_size);
  codec_array(c, &job->nbuffers, 20, (void **)&job->buffers, sizeof *job->buffers);
  if (job->nbuffers > JOB_BUFFERS) c->bad = true;
  for (size_t i = 0; i < job->nbuffers; i++) {
    struct job_buffer *b = &job->buffers[i];
    codec_text(c, b->name, sizeof b->name);
    codec_bool(c, &b->read_only);
    codec_bool(c, &b->returned);
    codec_block(c, &b->data, &b->bytes);
  }
  codec_array(c, &job->nlaunches, 36, (void **)&job->launches, sizeof *job->launches);
  for (size_t i = 0; i < job->nlaunches; i++) {
    struct job_launch *l = &job->launches[i];
    codec_text(c, l->kernel, sizeof l->kernel);
    dim3(c, l->grid);
    dim3(c, l->block);
    codec_u32(c, &l->shared_bytes);
    l->nargs = codec_below(c, l->nargs, JOB_ARGS + 1);
    for (uint32_t k = 0; k < l->nargs; k++) {
      struct job_arg *a = &l->args[k];
      a->buffer = codec_below(c, a->buffer, JOB_BUFFERS + 1);
      a->bytes = codec_below(c, a->bytes, JOB_ARG_BYTES + 1);
      codec_raw(c, a->value, a->bytes);
      if (a->buffer != JOB_VALUE && (a->buffer >= job->nbuffers || a->bytes != 8)) c->bad = true;
      a->ninside = codec_below(c, a->ninside, JOB_INSIDE + 1);
      for (uint32_t p = 0; p < a->ninside; p++) {
        codec_u32(c, &a->inside[p].at);
        codec_u32(c, &a->inside[p].buffer);
        if (a->inside[p].buffer >= job->nbuffers || a->bytes < 8 ||
            a->inside[p].at > a->bytes - 8)
          c->bad = true;
      }
    }
  }
}

static void access(struct codec *c, struct access *a)
{
  a->op = (enum model_op)codec_below(c, (uint32_t)a->op, MODEL_OPS);
  codec_u32(c, &a->width);
  codec_u32(c, &a->mask);
  codec_u32(c, &a->line);
  codec_raw(c, a->addr, sizeof a->addr);
}

static void site(struct codec *c, struct sim_site *s, size_t nfiles)
{
  codec_u32(c, &s->function);
  codec_u32(c, &s->inst);
  s->file = codec_below(c, s->file, (uint32_t)nfiles + 1);
  codec_u32(c, &s->line);
  codec_bool(c, &s->near);
  codec_u32(c, &s->ptx_line);
  s->op = (enum model_op)codec_below(c, (uint32_t)s->op, MODEL_OPS);
  codec_u32(c, &s->width);
  codec_u64(c, &s->requests);
  codec_u64(c, &s->wavefronts);
  codec_u64(c, &s->ideal);
  codec_u64(c, &s->sectors);
  codec_u64(c, &s->bytes);
  codec_bool(c, &s->exact);
  codec_u32(c, &s->worst_wavefronts);
  access(c, &s->worst);
  dim3(c, s->worst_block);
  codec_u32(c, &s->worst_warp);
}

static void fault(struct codec *c, struct sim_fault *f, size_t nfiles)
{
  f->kind = (enum sim_fault_kind)codec_below(c, (uint32_t)f->kind, SIM_FAULT_MEMORY + 1);
  codec_bool(c, &f->fatal);
  f->file = codec_below(c, f->file, (uint32_t)nfiles + 1);
  codec_u32(c, &f->line);
  codec_bool(c, &f->near);
  codec_u32(c, &f->ptx_line);
  dim3(c, f->block);
  dim3(c, f->thread);
  dim3(c, f->other_thread);
  codec_u32(c, &f->other_line);
  codec_u64(c, &f->address);
  codec_u32(c, &f->width);
  codec_u64(c, &f->count);
  codec_text(c, f->object, sizeof f->object);
  codec_text(c, f->text, sizeof f->text);
}

static void result(struct codec *c, struct sim_result *r, size_t nfiles)
{
  struct sim_totals *t = &r->totals;
  uint64_t *sums[] = {
    &t->warp_instructions, &t->thread_instructions,
    &t->shared_load.requests, &t->shared_load.wavefronts, &t->shared_load.ideal,
    &t->shared_store.requests, &t->shared_store.wavefronts, &t->shared_store.ideal,
    &t->shared_atomic.requests, &t->shared_atomic.wavefronts, &t->shared_atomic.ideal,
    &t->global_load.requests, &t->global_load.sectors,
    &t->global_store.requests, &t->global_store.sectors,
    &t->global_atomic.requests, &t->global_atomic.sectors,
    &t->barriers, &t->blocks, &t->warps,
  };
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) codec_u64(c, sums[i]);
  codec_array(c, &r->nsites, 300, (void **)&r->sites, sizeof *r->sites);
  for (size_t i = 0; i < r->nsites; i++) site(c, &r->sites[i], nfiles);
  codec_array(c, &r->nfaults, 80, (void **)&r->faults, sizeof *r->faults);
  for (size_t i = 0; i < r->nfaults; i++) fault(c, &r->faults[i], nfiles);
  codec_u64(c, &r->faults_dropped);
  unsigned char *printed = (unsigned char *)r->printed;
  size_t length = c->writing && printed ? strlen(r->printed) : 0;
  codec_block(c, &printed, &length);
  r->printed = (char *)printed;
  codec_bool(c, &r->printed_cut);
  codec_bool(c, &r->completed);
  codec_u32(c, &r->static_shared);
  codec_u32(c, &r->dynamic_shared);
}

void outcome_code(struct codec *c, struct outcome *o, const struct job *job)
{
  o->end = (enum job_end)codec_below(c, (uint32_t)o->end, JOB_OURS + 1);
  codec_text(c, o->why, sizeof o->why);
  codec_u32(c, &o->why_line);
  codec_text(c, o->device, sizeof o->device);
  codec_array(c, &o->nfiles, 8, (void **)&o->files, sizeof *o->files);
  for (size_t i = 0; i < o->nfiles; i++) {
    unsigned char *name = (unsigned char *)o->files[i];
    size_t length = c->writing && name ? strlen(o->files[i]) : 0;
    codec_block(c, &name, &length);
    o->files[i] = (char *)name;
  }
  codec_array(c, &o->nlaunches, 8, (void **)&o->launches, sizeof *o->launches);
  if (o->nlaunches > job->nlaunches) c->bad = true;
  if (!c->writing) o->milliseconds = calloc(o->nlaunches + 1, sizeof *o->milliseconds);
  for (size_t i = 0; i < o->nlaunches && !c->bad; i++) {
    result(c, &o->launches[i], o->nfiles);
    codec_f64(c, &o->milliseconds[i]);
  }
  codec_array(c, &o->nbuffers, 8, (void **)&o->buffers, sizeof *o->buffers);
  if (o->nbuffers != (o->end == JOB_RAN ? job->nbuffers : 0)) c->bad = true;
  for (size_t i = 0; i < o->nbuffers && !c->bad; i++) {
    const struct job_buffer *b = &job->buffers[i];
    size_t want = b->returned ? b->bytes : 0, bytes = want;
    codec_block(c, &o->buffers[i], &bytes);      /* 8 bytes each also where nothing returns */
    if (bytes != want) c->bad = true;
    if (!c->writing && !b->returned) {
      free(o->buffers[i]);
      o->buffers[i] = NULL;
    }
  }
}

void job_free(struct job *job)
{
  for (size_t i = 0; i < job->nbuffers && job->buffers; i++) free(job->buffers[i].data);
  free(job->buffers);
  free(job->launches);
  free(job->ptx);
  memset(job, 0, sizeof *job);
}

/* Not sim_result_free: these blocks were allocated here, when the frame was read. */
static void result_free(struct sim_result *r)
{
  free(r->sites);
  free(r->faults);
  free(r->printed);
}

void outcome_free(struct outcome *o)
{
  for (size_t i = 0; i < o->nfiles && o->files; i++) free(o->files[i]);
  for (size_t i = 0; i < o->nlaunches && o->launches; i++) result_free(&o->launches[i]);
  for (size_t i = 0; i < o->nbuffers && o->buffers; i++) free(o->buffers[i]);
  free(o->files);
  free(o->launches);
  free(o->milliseconds);
  free(o->buffers);
  memset(o, 0, sizeof *o);
}
