/* See own.h. */
#include "prove/own.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const own_kind_names[PROFILE_CLASSES] = {"shared_load", "shared_store", "shared_atomic",
                                               "global_load", "global_store", "global_atomic"};

static bool is_global(enum profile_class k) { return k >= PROFILE_GLOBAL_LOAD; }

/* ---- the job -------------------------------------------------------------------------------- */

static uint32_t buffer_index(const struct request *q, const struct argument *a)
{
  uint32_t i = 0;
  while (q->buffers[i] != a) i++;
  return i;
}

/* The pointers of a struct's fields; false when there are too many. */
static bool pointers(const struct request *q, const struct argument *a, size_t at,
                     struct job_arg *to)
{
  for (size_t i = 0; i < a->nfields; i++) {
    const struct argument *f = &a->fields[i];
    if (!pointers(q, f, at + f->at, to)) return false;
    if (!f->is_buffer) continue;
    if (to->ninside == JOB_INSIDE) return false;
    to->inside[to->ninside].at = (uint32_t)(at + f->at);
    to->inside[to->ninside++].buffer = buffer_index(q, f);
  }
  return true;
}

static const char *refused(const struct request *q)
{
  for (size_t i = 0; i < q->narguments; i++) {
    const struct argument *a = &q->arguments[i];
    if (a->tensor.rank)
      return "a tensor map is made by the driver, which this program does not ask yet";
    if (q->entry->params[i]->bytes > JOB_ARG_BYTES) return "a struct has too many bytes";
  }
  if (q->narguments > JOB_ARGS || q->nbuffers > JOB_BUFFERS) return "it has too many arguments";
  return strlen(q->entry->name) >= JOB_KERNEL ? "its mangled name is too long" : NULL;
}

bool own_job(const struct request *q, const char *device, struct job *job, char *why, size_t size)
{
  const char *problem = refused(q);
  memset(job, 0, sizeof *job);
  if (problem) {
    snprintf(why, size, "%s", problem);
    return false;
  }
  snprintf(job->device, sizeof job->device, "%s", device);
  job->options = (struct sim_options){.threads = 1, .seed = 1};
  job->ptx = (unsigned char *)q->ptx;
  job->ptx_size = q->ptx_size;
  job->buffers = calloc(q->nbuffers + 1, sizeof *job->buffers);
  job->launches = calloc(1, sizeof *job->launches);
  if (!job->buffers || !job->launches) {
    snprintf(why, size, "out of memory");
    return false;
  }
  struct job_launch *l = job->launches;
  job->nlaunches = 1;
  snprintf(l->kernel, sizeof l->kernel, "%s", q->entry->name);
  memcpy(l->grid, q->grid, sizeof l->grid);
  memcpy(l->block, q->block, sizeof l->block);
  l->shared_bytes = q->shared;
  for (size_t i = 0; i < q->narguments; i++) {
    const struct argument *a = &q->arguments[i];
    struct job_arg *to = &l->args[l->nargs++];
    uint8_t bytes[JOB_ARG_BYTES] = {0};
    if (a->is_buffer) {
      *to = (struct job_arg){.buffer = buffer_index(q, a), .bytes = 8};
      continue;
    }
    *to = (struct job_arg){.buffer = JOB_VALUE, .bytes = (uint32_t)q->entry->params[i]->bytes};
    argument_put(a, bytes);
    memcpy(to->value, bytes, to->bytes);
    if (!pointers(q, a, 0, to)) {
      snprintf(why, size, "a struct has more than %d pointers", JOB_INSIDE);
      return false;
    }
  }
  for (size_t i = 0; i < q->nbuffers; i++) {
    const struct argument *a = q->buffers[i];
    struct job_buffer *b = &job->buffers[job->nbuffers++];
    snprintf(b->name, sizeof b->name, "%.31s", a->label);
    b->data = a->data;
    b->bytes = a->bytes;
    b->returned = true;
  }
  return true;
}

/* ---- counts --------------------------------------------------------------------------------- */

static void simulated(const struct ptx_module *m, const struct sim_result *r, struct own *o)
{
  for (size_t i = 0; i < r->nsites; i++) {
    const struct sim_site *s = &r->sites[i];
    enum profile_class kind = profile_class(m, s);
    struct own_count *c = &o->kinds[kind];
    c->requests += s->requests;
    c->cost += is_global(kind) ? s->sectors : s->wavefronts;
    c->ideal += s->ideal;
    c->fit |= !s->exact;
    c->loops |= s->op == MODEL_ATOM_LOOP || s->op == MODEL_ATOM_LOOP64;
  }
}

static void add(struct own_count *c, uint64_t executed, uint64_t cost, uint64_t ideal)
{
  c->executed += executed;
  c->computed += cost;
  c->computed_ideal += ideal;
}

static void profiled(const struct ncu_launch *n, struct own *o)
{
  static const enum profile_class kinds[NCU_KINDS] = {
    [NCU_SHARED_LOAD] = PROFILE_SHARED_LOAD, [NCU_SHARED_STORE] = PROFILE_SHARED_STORE,
    [NCU_SHARED_ATOMIC] = PROFILE_SHARED_ATOMIC, [NCU_COPY] = PROFILE_SHARED_STORE,
    [NCU_GLOBAL_LOAD] = PROFILE_GLOBAL_LOAD, [NCU_GLOBAL_STORE] = PROFILE_GLOBAL_STORE,
    [NCU_GLOBAL_ATOMIC] = PROFILE_GLOBAL_ATOMIC};
  for (size_t i = 0; i < n->ninsts; i++) {
    const struct ncu_inst *k = &n->insts[i];
    enum profile_class kind = kinds[k->kind];
    if (is_global(kind)) add(&o->kinds[kind], k->executed, k->sectors, k->ideal_sectors);
    else add(&o->kinds[kind], k->executed, k->wavefronts, k->ideal);
    if (k->kind == NCU_COPY)
      add(&o->kinds[PROFILE_GLOBAL_LOAD], k->executed, k->sectors, k->ideal_sectors);
  }
  if (!n->counted) return;
  o->kinds[PROFILE_SHARED_LOAD].counter = n->loads;
  o->kinds[PROFILE_SHARED_STORE].counter = n->stores;
  o->kinds[PROFILE_SHARED_LOAD].has_counter = o->kinds[PROFILE_SHARED_STORE].has_counter = true;
  if (!n->has_global) return;
  o->kinds[PROFILE_GLOBAL_LOAD].counter = n->global_load.sectors;
  o->kinds[PROFILE_GLOBAL_STORE].counter = n->global_store.sectors;
  o->kinds[PROFILE_GLOBAL_LOAD].has_counter = o->kinds[PROFILE_GLOBAL_STORE].has_counter = true;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static struct own_line *line_of(struct own *o, const char *file, uint32_t line, bool global)
{
  const char *slash = strrchr(file, '/');
  if (slash) file = slash + 1;
  for (size_t i = 0; i < o->nlines; i++) {
    struct own_line *l = &o->lines[i];
    if (l->line == line && l->global == global && !strncmp(l->file, file, sizeof l->file - 1))
      return l;
  }
  struct own_line *more = realloc(o->lines, (o->nlines + 1) * sizeof *more);
  if (!more) {
    fprintf(stderr, "banks: out of memory\n");
    exit(3);
  }
  o->lines = more;
  struct own_line *l = &more[o->nlines++];
  *l = (struct own_line){.line = line, .global = global};
  snprintf(l->file, sizeof l->file, "%.63s", file);
  return l;
}

static void by_line(const struct request *q, const struct ncu_launch *n, struct own *o)
{
  const struct ptx_module *m = q->module;
  for (size_t i = 0; i < q->result.nsites; i++) {
    const struct sim_site *s = &q->result.sites[i];
    bool global = s->op == MODEL_GLOBAL_LOAD || s->op == MODEL_GLOBAL_STORE;
    const char *file = s->line && s->file < m->nfiles && m->files[s->file] ? m->files[s->file] : "";
    struct own_line *l = line_of(o, file, s->line, global);
    l->requests += s->requests;
    l->cost += global ? s->sectors : s->wavefronts;
  }
  for (size_t i = 0; i < n->ninsts; i++) {
    const struct ncu_inst *k = &n->insts[i];
    bool both = k->kind == NCU_COPY, shared = ncu_is_shared(k);
    for (int global = 0; global < 2; global++) {
      if (k->executed == 0 || !(both || shared != global)) continue;
      struct own_line *l = line_of(o, k->file, k->line, global);
      l->executed += k->executed;
      l->computed += global ? k->sectors : k->wavefronts;
    }
  }
}

static int in_order(const void *pa, const void *pb)
{
  const struct own_line *a = pa, *b = pb;
  if (a->global != b->global) return a->global - b->global;
  int name = strcmp(a->file, b->file);
  if (name) return name;
  return (a->line > b->line) - (a->line < b->line);
}

/* ---- outputs -------------------------------------------------------------------------------- */

static void compare_output(const struct argument *a, const unsigned char *mine,
                           const unsigned char *gpu, struct own_output *out)
{
  unsigned width = a->type->width;
  *out = (struct own_output){.argument = a, .elements = a->count};
  for (uint64_t i = 0; i < a->count; i++) {
    const unsigned char *x = mine + i * width, *y = gpu + i * width;
    if (!memcmp(x, y, width)) continue;
    if (out->differing++ == 0) {
      out->first = i;
      value_show(a->type, y, out->on_gpu, sizeof out->on_gpu);
      value_show(a->type, x, out->on_simulator, sizeof out->on_simulator);
    }
    double p, q;
    if (!value_float(a->type, x, &p) || !value_float(a->type, y, &q) || (isnan(p) && isnan(q))) continue;
    double most = fmax(fabs(p), fabs(q)), by = most > 0 ? fabs(p - q) / most : 0;
    if (!(by <= out->relative)) out->relative = isnan(by) ? INFINITY : by;
  }
}

void own_compare(const struct request *q, unsigned char *const *after, const struct outcome *gpu,
                 struct ncu_launch *counted, const struct lines *lines, struct own *out)
{
  memset(out, 0, sizeof *out);
  out->lined = lines && lines_give(lines, q->entry->name, counted);
  simulated(q->module, &q->result, out);
  profiled(counted, out);
  if (out->lined) by_line(q, counted, out);
  if (out->nlines) qsort(out->lines, out->nlines, sizeof *out->lines, in_order);
  for (size_t k = 0; k < q->nbuffers && k < gpu->nbuffers; k++)
    if (gpu->buffers[k])
      compare_output(q->buffers[k], after[k], gpu->buffers[k], &out->outputs[out->noutputs++]);
}

void own_free(struct own *o)
{
  free(o->lines);
  memset(o, 0, sizeof *o);
}

/* ---- verdicts ------------------------------------------------------------------------------- */

const char *own_verdict(const struct own *o, enum profile_class k)
{
  const struct own_count *c = &o->kinds[k];
  uint64_t cost = c->cost, computed = c->computed;
  bool counter = c->has_counter && c->counter != cost, loops = c->loops;
  if (!c->requests && !c->executed && !c->cost && !c->computed) return "";
  if (k == PROFILE_SHARED_LOAD || k == PROFILE_SHARED_ATOMIC) {
    /* The loads of an atomic's loop are loads to the profiler, so the two are judged together. */
    const struct own_count *a = &o->kinds[PROFILE_SHARED_ATOMIC], *l = &o->kinds[PROFILE_SHARED_LOAD];
    if (a->loops) {
      cost = a->cost + l->cost;
      computed = a->computed + l->computed;
      counter = false;
      loops = true;
    }
  }
  /* Atomics that are tried again while others change the word: how often, no rule tells. */
  if (k == PROFILE_GLOBAL_ATOMIC) loops = c->executed > c->requests;
  if (cost != computed) {
    if (loops && computed > cost) return "at least";
    return c->fit ? "fit" : "differs";
  }
  if (counter) return "counter";
  if (k != PROFILE_GLOBAL_ATOMIC && !loops && c->ideal != c->computed_ideal) return "ideal";
  return "equal";
}

static const char *line_verdict(const struct own *o, const struct own_line *l)
{
  if (l->cost == l->computed) return "equal";
  uint64_t mine = 0, theirs = 0;
  for (size_t i = 0; i < o->nlines; i++)
    if (o->lines[i].global == l->global) {
      mine += o->lines[i].cost;
      theirs += o->lines[i].computed;
    }
  return mine == theirs ? "another line" : "differs";
}

bool own_outputs_equal(const struct own *o)
{
  for (size_t i = 0; i < o->noutputs; i++)
    if (o->outputs[i].differing) return false;
  return true;
}

bool own_equal(const struct own *o)
{
  for (enum profile_class k = 0; k < PROFILE_CLASSES; k++) {
    const char *v = own_verdict(o, k);
    if (*v && strcmp(v, "equal")) return false;
  }
  return own_outputs_equal(o);
}

/* ---- telling -------------------------------------------------------------------------------- */

static void number(char *to, size_t size, bool known, uint64_t n)
{
  if (known) snprintf(to, size, "%" PRIu64, n);
  else snprintf(to, size, "-");
}

static void print_kind(const struct own *o, enum profile_class k, FILE *to)
{
  const struct own_count *c = &o->kinds[k];
  const char *verdict = own_verdict(o, k);
  char ideal[24], computed_ideal[24], counter[24], name[24];
  if (!*verdict) return;
  snprintf(name, sizeof name, "%s", own_kind_names[k]);
  *strchr(name, '_') = ' ';
  number(ideal, sizeof ideal, k != PROFILE_GLOBAL_ATOMIC, c->ideal);
  number(computed_ideal, sizeof computed_ideal, true, c->computed_ideal);
  number(counter, sizeof counter, c->has_counter, c->counter);
  fprintf(to, "  %-18s %9" PRIu64 " %10" PRIu64 " %9s   %9" PRIu64 " %10" PRIu64 " %10s %9s   %s%s\n",
          name, c->requests, c->cost, ideal, c->executed, c->computed, counter, computed_ideal,
          strcmp(verdict, "equal") ? "<- " : "", verdict);
}

void own_print(const struct own *o, FILE *to)
{
  fprintf(to, "  %-18s %30s   %41s\n", "", "simulator: requests cost ideal",
          "profiler: executed cost counter ideal");
  for (enum profile_class k = 0; k < PROFILE_CLASSES; k++) print_kind(o, k, to);
  for (size_t i = 0; i < o->nlines; i++) {
    const struct own_line *l = &o->lines[i];
    char where[100];
    snprintf(where, sizeof where, "%s:%u %s", *l->file ? l->file : "?", l->line,
             l->global ? "global" : "shared");
    const char *verdict = line_verdict(o, l);
    fprintf(to, "    %-24s %1s %10" PRIu64 " %10" PRIu64 "   %9" PRIu64 " %10" PRIu64 "   %s%s\n",
            where, "", l->requests, l->cost, l->executed, l->computed,
            strcmp(verdict, "equal") ? "<- " : "", verdict);
  }
  if (!o->lined) fprintf(to, "  no lines: the driver's code is not that of ptxas here\n");
  uint64_t bytes = 0;
  for (size_t i = 0; i < o->noutputs; i++) {
    const struct own_output *b = &o->outputs[i];
    bytes += b->elements * b->argument->type->width;
    if (!b->differing) continue;
    fprintf(to, "  %s ('%s') differs in %" PRIu64 " of %" PRIu64 " elements; the first is %" PRIu64
            ": %s on the GPU, %s on the simulator", b->argument->label, b->argument->text, b->differing,
            b->elements, b->first, b->on_gpu, b->on_simulator);
    if (b->relative > 0) fprintf(to, "; at most %.2g apart, relative", b->relative);
    fprintf(to, "\n");
  }
  if (own_outputs_equal(o))
    fprintf(to, "  buffers afterwards: equal on both (%zu, %" PRIu64 " bytes)\n",
            o->noutputs, bytes);
}

void own_save_header(FILE *to)
{
  fprintf(to, "kind\trequests\texecuted\tcost\tcomputed\tcounter\tideal\tcomputed_ideal\tverdict\t"
          "launch\n");
}

void own_save(const struct own *o, const char *launch, FILE *to)
{
  char ideal[24], counter[24];
  for (enum profile_class k = 0; k < PROFILE_CLASSES; k++) {
    const struct own_count *c = &o->kinds[k];
    const char *verdict = own_verdict(o, k);
    if (!*verdict) continue;
    number(ideal, sizeof ideal, k != PROFILE_GLOBAL_ATOMIC, c->ideal);
    number(counter, sizeof counter, c->has_counter, c->counter);
    fprintf(to, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%" PRIu64
            "\t%s\t%s\n", own_kind_names[k], c->requests, c->executed, c->cost, c->computed,
            counter, ideal, c->computed_ideal, verdict, launch);
  }
  uint64_t elements = 0, differing = 0;
  double relative = 0;
  for (size_t i = 0; i < o->noutputs; i++) {
    elements += o->outputs[i].elements;
    differing += o->outputs[i].differing;
    if (o->outputs[i].relative > relative) relative = o->outputs[i].relative;
  }
  char by[40] = "differ";
  if (!differing) snprintf(by, sizeof by, "equal");
  else if (relative > 0) snprintf(by, sizeof by, "differ by %.2g", relative);
  fprintf(to, "buffers\t%" PRIu64 "\t%" PRIu64 "\t-\t-\t-\t-\t-\t%s\t%s\n", elements, differing, by,
          launch);
}
