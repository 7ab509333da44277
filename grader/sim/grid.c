/* A device and its launches: blocks in order, and what they found put together.  Several host
 * threads take part only where that changes nothing: see parallel.c. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "async.h"

enum { MAX_THREADS = 64, PARAM_ROOM = 32768 };

struct sim *sim_open(const struct sim_options *options)
{
  struct sim *sim = calloc(1, sizeof *sim);
  if (!sim) return NULL;
  if (options) sim->options = *options;
  struct sim_options *o = &sim->options;
  if (!o->threads) o->threads = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
  if (o->threads < 1) o->threads = 1;
  if (o->threads > MAX_THREADS) o->threads = MAX_THREADS;
  if (!o->step_budget) o->step_budget = 4000000000u;
  if (!o->warp_budget) o->warp_budget = 200000000u;
  if (!o->memory_limit) o->memory_limit = 2ull << 30;
  if (!o->printf_limit) o->printf_limit = 64 << 10;
  if (!o->fault_limit) o->fault_limit = 32;
  if (!o->shared_limit) o->shared_limit = 232448;
  /* The first object holds the kernel's parameters; its size is set at launch. */
  sim->next_base = SIM_PARAM_WINDOW;
  struct sim_object *params = memory_add(sim, PARAM_ROOM, "kernel parameters");
  if (!params) {
    sim_close(sim);
    return NULL;
  }
  params->read_only = true;
  params->size = 0;
  sim->used = 0;
  sim->params = params->host;
  sim->next_base = SIM_GLOBAL_WINDOW;
  return sim;
}

void sim_close(struct sim *sim)
{
  if (!sim) return;
  lower_free(sim);
  heap_close(sim);
  for (size_t k = 0; k < sim->nobjects; k++) free(sim->objects[k].host);
  free(sim->objects);
  free(sim);
}

bool sim_load(struct sim *sim, struct ptx_module *module, struct ptx_error *error)
{
  return sim_load_for(sim, module, NULL, error);
}

bool sim_load_for(struct sim *sim, struct ptx_module *module, const struct ptx_function *kernel,
                  struct ptx_error *error)
{
  memset(error, 0, sizeof *error);
  lower_free(sim);
  memory_drop_module(sim);
  sim->module = module;
  if (memory_load_module(sim, error) && lower_module(sim, kernel, error)) return true;
  lower_free(sim);
  memory_drop_module(sim);
  sim->module = NULL;
  return false;
}

/* ---- one host thread ---------------------------------------------------------------------------- */

static void block_close(struct block *b)
{
  for (uint32_t k = 0; b->warps && k < b->nwarps; k++) {
    struct warp *w = &b->warps[k];
    /* Frames of a launch that stopped early. */
    for (unsigned g = 0; g < w->ngroups; g++) warp_drop_frames(w, w->groups[g].frame);
    if (w->active) warp_drop_frames(w, w->frame);
    free(w->local);
    free(w->specials);
    free(w->lane_seen);
    free(w->async.copies);
  }
  bulk_close(b);
  free(b->warps);
  free(b->shared);
  free(b->specials);
  shadow_close(&b->shadow);
}

void runner_close(struct runner *t)
{
  for (uint32_t k = 0; t->cluster.blocks && k < t->cluster.n; k++) block_close(&t->cluster.blocks[k]);
  for (size_t f = 0; t->spare && f < t->sim->nfuncs; f++) {
    for (uint32_t k = 0; k < t->nspare[f]; k++) free(t->spare[f][k]);
    free(t->spare[f]);
  }
  for (uint32_t k = 0; t->sites && k < t->sim->nsites; k++) {
    for (int p = 0; p < SITE_WAYS; p++) {
      if (t->sites[k].patterns[p]) free(t->sites[k].patterns[p]->words);
      free(t->sites[k].patterns[p]);
    }
    free(t->sites[k].sides[0]);
    free(t->sites[k].sides[1]);
  }
  free(t->cluster.blocks);
  t->cluster.blocks = NULL;
  free(t->sites);
  free(t->faults);
  free(t->printed);
  free(t->spare);
  free(t->nspare);
  free(t->spare_room);
  *t = (struct runner){.sim = t->sim, .launch = t->launch, .entry = t->entry,
                       .reached = t->reached, .shared_bytes = t->shared_bytes, .shift = t->shift,
                       .exact = t->exact, .reserved = t->reserved, .cluster = t->cluster};
}

static void *aligned(size_t bytes)
{
  void *p = aligned_alloc(128, (bytes + 127) / 128 * 128);
  if (p) memset(p, 0, (bytes + 127) / 128 * 128);
  return p;
}

static bool block_open(struct runner *t, struct block *b)
{
  const struct sim_launch *launch = t->launch;
  uint32_t shared = t->shared_bytes;
  b->cluster = &t->cluster;
  b->rank = (uint32_t)(b - t->cluster.blocks);
  b->nthreads = launch->block[0] * launch->block[1] * launch->block[2];
  b->nwarps = (b->nthreads + SIM_LANES - 1) / SIM_LANES;
  b->shared_bytes = shared;
  if (t->reserved) {
    b->reserved_at = (uint32_t)round_up(shared + 1, 128);
    shared = b->reserved_at + SIM_SHARED_BASE;
  }
  b->warps = aligned(b->nwarps * sizeof *b->warps);
  b->shared = aligned(shared + 64u);
  b->specials = aligned(SPECIAL_BLOCK_ROWS * SIM_SPECIAL_ROW);
  bool ok = b->warps && b->shared && b->specials && shadow_open(&b->shadow, shared, t->shift);
  /* Blocks of a cluster share their sites' patterns: what was read can't be recalled by them. */
  b->shadow.exact = t->exact || t->cluster.n > 1;
  for (uint32_t k = 0; ok && k < b->nwarps; k++) {
    struct warp *w = &b->warps[k];
    w->block = b;
    w->runner = t;
    w->id = k;
    w->specials = aligned(SPECIAL_WARP_ROWS * SIM_SPECIAL_ROW);
    if (!w->specials) ok = false;
    else special_fill_warp(w);
    w->base[SIM_IN_CONST] = t->sim->consts;
    w->base[SIM_IN_WARP] = w->specials;
    w->base[SIM_IN_BLOCK] = b->specials;
  }
  return ok;
}

bool runner_open(struct runner *t)
{
  struct sim *sim = t->sim;
  t->fuel = sim->options.step_budget;
  t->sites = aligned((sim->nsites + 1) * sizeof *t->sites);
  t->spare = calloc(sim->nfuncs + 1, sizeof *t->spare);
  t->nspare = calloc(sim->nfuncs + 1, sizeof *t->nspare);
  t->spare_room = calloc(sim->nfuncs + 1, sizeof *t->spare_room);
  t->cluster.blocks = aligned(t->cluster.n * sizeof *t->cluster.blocks);
  bool ok = t->sites && t->spare && t->nspare && t->spare_room && t->cluster.blocks;
  for (uint32_t k = 0; ok && k < t->cluster.n; k++) ok = block_open(t, &t->cluster.blocks[k]);
  return ok;
}

void runner_cluster(struct runner *t, uint64_t linear)
{
  const uint32_t *grid = t->launch->grid, *dim = t->cluster.dim;
  uint64_t x = grid[0] / dim[0], y = grid[1] / dim[1];
  uint64_t at[3] = {linear % x, linear / x % y, linear / x / y};
  for (uint32_t k = 0; k < t->cluster.n; k++) {
    struct block *b = &t->cluster.blocks[k];
    uint32_t in[3] = {k % dim[0], k / dim[0] % dim[1], k / dim[0] / dim[1]};
    for (int d = 0; d < 3; d++) b->index[d] = (uint32_t)at[d] * dim[d] + in[d];
    b->linear = b->index[0] + (uint64_t)grid[0] * (b->index[1] + (uint64_t)grid[1] * b->index[2]);
  }
  cluster_run(t);
}

/* ---- results --------------------------------------------------------------------------------------- */

static void add_totals(struct sim_totals *to, const struct sim_totals *t)
{
  to->warp_instructions += t->warp_instructions;
  to->thread_instructions += t->thread_instructions;
  to->barriers += t->barriers;
  to->blocks += t->blocks;
  to->warps += t->warps;
}

static bool is_atomic(enum model_op op)
{
  return op >= MODEL_ATOM_NATIVE && op <= MODEL_ATOM_LOOP64;
}

static bool add_site(struct sim_result *r, struct runner *threads, unsigned n, uint32_t site,
                     int which)
{
  struct sim *sim = threads[0].sim;
  const struct sim_inst *i = sim->sites[site];
  struct sim_site s = {.exact = true};
  uint64_t worst_block = UINT64_MAX;
  for (unsigned k = 0; k < n; k++) {
    const struct site_side *side = threads[k].sites[site].sides[which];
    if (!side) continue;
    s.op = side->op;
    s.width = side->width;
    s.requests += side->requests;
    s.wavefronts += side->wavefronts;
    s.ideal += side->ideal;
    s.sectors += side->sectors;
    s.bytes += side->bytes;
    s.exact &= side->exact;
    if (side->worst_cost > s.worst_wavefronts ||
        (side->worst_cost == s.worst_wavefronts && side->worst_block < worst_block)) {
      s.worst_wavefronts = side->worst_cost;
      s.worst = side->worst;
      s.worst_warp = side->worst_warp;
      worst_block = side->worst_block;
    }
  }
  if (!s.requests) return true;
  s.function = i->func->index;
  s.inst = i->from;
  s.file = i->file;
  s.line = i->line;
  s.near = i->ptx->near;
  s.ptx_line = i->ptx->line;
  s.polled = i->flags & SIM_MEM_POLL;
  if (which == 0 && i->func->notes) s.note = i->func->notes[i - i->func->insts];
  if (which == 0 && !s.note && i->issue.lanes == SIM_LANES_ONE)
    s.note = "ptxas does this once a warp, for all its lanes: they share the address";
  if (which == 0 && !s.note && i->issue.lanes == SIM_LANES_ONE_IF_ALL)
    s.note = "ptxas does this once a warp where all 32 lanes are active: they share the address";
  const uint32_t *grid = threads[0].launch->grid;
  s.worst_block[0] = (uint32_t)(worst_block % grid[0]);
  s.worst_block[1] = (uint32_t)(worst_block / grid[0] % grid[1]);
  s.worst_block[2] = (uint32_t)(worst_block / grid[0] / grid[1]);
  r->sites[r->nsites++] = s;
  struct sim_totals *t = &r->totals;
#define ADD_SHARED(to)                                                                         \
  (t->to.requests += s.requests, t->to.wavefronts += s.wavefronts, t->to.ideal += s.ideal)
#define ADD_GLOBAL(to) (t->to.requests += s.requests, t->to.sectors += s.sectors)
  if (which == 1) {
    if (is_atomic((enum model_op)i->op)) ADD_GLOBAL(global_atomic);
    else if (s.op == MODEL_GLOBAL_LOAD) ADD_GLOBAL(global_load);
    else ADD_GLOBAL(global_store);
  } else if (is_atomic(s.op)) {
    ADD_SHARED(shared_atomic);
  } else if (s.op == MODEL_LOAD || (s.op >= MODEL_LDMATRIX_X1 && s.op <= MODEL_LDMATRIX_X4)) {
    ADD_SHARED(shared_load);
  } else {
    ADD_SHARED(shared_store);
  }
  return true;
}

static int by_site(const void *a, const void *b)
{
  const struct sim_site *x = a, *y = b;
  if (x->function != y->function) return x->function < y->function ? -1 : 1;
  if (x->inst != y->inst) return x->inst < y->inst ? -1 : 1;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  return x->width < y->width ? -1 : x->width > y->width;
}

/* The copies of an instruction of an unrolled loop count as one where they do the same. */
static void merge_sites(struct sim_result *r)
{
  size_t n = 0;
  qsort(r->sites, r->nsites, sizeof *r->sites, by_site);
  for (size_t k = 0; k < r->nsites; k++) {
    struct sim_site *s = &r->sites[k], *t = n ? &r->sites[n - 1] : NULL;
    if (!t || by_site(s, t)) {
      r->sites[n++] = *s;
      continue;
    }
    if (s->worst_wavefronts > t->worst_wavefronts) {
      struct sim_site sum = *t;
      *t = *s;
      t->requests = sum.requests;
      t->wavefronts = sum.wavefronts;
      t->ideal = sum.ideal;
      t->sectors = sum.sectors;
      t->bytes = sum.bytes;
      t->exact = sum.exact;
      t->note = sum.note;
    }
    t->requests += s->requests;
    t->wavefronts += s->wavefronts;
    t->ideal += s->ideal;
    t->sectors += s->sectors;
    t->bytes += s->bytes;
    t->exact &= s->exact;
    if (!t->note) t->note = s->note;
  }
  r->nsites = n;
}

/* Faults are only ever found by a launch that runs in order: they are in order already. */
static void take_faults(struct sim_result *r, const struct runner *t)
{
  r->faults = calloc(t->nfaults + 1, sizeof *r->faults);
  if (!r->faults) abort();
  for (size_t k = 0; k < t->nfaults; k++) r->faults[k] = t->faults[k].fault;
  r->nfaults = t->nfaults;
  r->faults_dropped = t->faults_dropped;
  r->unwritten = t->unwritten;
}

static void collect(struct sim_result *r, struct runner *threads, unsigned n, bool stopped)
{
  struct sim *sim = threads[0].sim;
  size_t printed = 0;
  for (unsigned k = 0; k < n; k++) {
    add_totals(&r->totals, &threads[k].totals);
    printed += threads[k].nprinted;
    r->printed_cut |= threads[k].printed_cut;
  }
  r->printed = calloc(1, printed + 1);
  r->sites = calloc(2 * (size_t)sim->nsites + 1, sizeof *r->sites);
  if (!r->printed || !r->sites) abort();
  printed = 0;
  for (unsigned k = 0; k < n; k++) {
    if (threads[k].nprinted) memcpy(r->printed + printed, threads[k].printed, threads[k].nprinted);
    printed += threads[k].nprinted;
  }
  for (unsigned k = 0; k < n; k++) count_settle(&threads[k]);
  for (uint32_t s = 0; s < sim->nsites; s++)
    for (int which = 0; which < 2; which++) add_site(r, threads, n, s, which);
  merge_sites(r);
  fault_join(&threads[0]);
  take_faults(r, &threads[0]);
  r->completed = !stopped;
}

/* ---- launching ------------------------------------------------------------------------------------ */

static void refuse(struct sim_result *r, const struct sim_launch *launch, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void refuse(struct sim_result *r, const struct sim_launch *launch, const char *format, ...)
{
  (void)launch;
  r->faults = calloc(1, sizeof *r->faults);
  if (!r->faults) abort();
  r->nfaults = 1;
  r->faults->kind = SIM_FAULT_LAUNCH;
  r->faults->fatal = true;
  r->faults->count = 1;
  va_list args;
  va_start(args, format);
  vsnprintf(r->faults->text, sizeof r->faults->text, format, args);
  va_end(args);
}

/* The clusters of a launch, without their blocks; n is 0 when they are too large. */
static struct cluster cluster_of(const struct ptx_function *f, const struct sim_launch *l)
{
  struct cluster c = {.n = 1};
  const uint32_t *dim = l->cluster[0] ? l->cluster : f->cluster;
  uint64_t n = 1;
  for (int k = 0; k < 3; k++) {
    c.dim[k] = dim[k] ? dim[k] : 1;
    n = n > SIM_MAX_CLUSTER ? n : n * c.dim[k];
  }
  c.n = n > SIM_MAX_CLUSTER ? 0 : (uint32_t)n;
  return c;
}

/* The entry and everything about the launch that can be wrong before it starts. */
static struct sim_func *prepare(struct sim *sim, const struct sim_launch *l, struct sim_result *r,
                                uint32_t *dynamic_at)
{
  struct ptx_function *f = sim->module ? ptx_find_entry(sim->module, l->kernel) : NULL;
  if (!f) {
    refuse(r, l, "there is no kernel '%s' in the module: is it declared "
                 "`__global__ void %s(...)`, once?", l->kernel, l->kernel);
    return NULL;
  }
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  if (!threads || l->block[0] > 1024 || l->block[1] > 1024 || l->block[2] > 64 || threads > 1024) {
    refuse(r, l, "a block of %u x %u x %u threads: a block has 1 to 1024", l->block[0], l->block[1],
           l->block[2]);
    return NULL;
  }
  if (!blocks || l->grid[0] > 0x7fffffff || l->grid[1] > 65535 || l->grid[2] > 65535) {
    refuse(r, l, "a grid of %u x %u x %u blocks: at least one, at most 2147483647 x 65535 x 65535",
           l->grid[0], l->grid[1], l->grid[2]);
    return NULL;
  }
  if (f->maxntid[0]) {
    uint64_t most = (uint64_t)f->maxntid[0] * (f->maxntid[1] ? f->maxntid[1] : 1) *
                    (f->maxntid[2] ? f->maxntid[2] : 1);
    if (threads > most) {
      refuse(r, l, "'%s' is declared for at most %llu threads a block (__launch_bounds__), not %llu",
             l->kernel, (unsigned long long)most, (unsigned long long)threads);
      return NULL;
    }
  }
  const struct cluster c = cluster_of(f, l);
  const uint32_t *of = c.dim;
  if (!c.n || l->grid[0] % of[0] || l->grid[1] % of[1] || l->grid[2] % of[2]) {
    refuse(r, l, "'%s' runs in clusters of %u x %u x %u blocks, and the grid has %u x %u x %u: a cluster "
                 "has at most %d blocks, and the grid must be made of whole clusters", l->kernel, of[0],
           of[1], of[2], l->grid[0], l->grid[1], l->grid[2], SIM_MAX_CLUSTER);
    return NULL;
  }
  if (f->cluster[0] && l->cluster[0] && memcmp(of, cluster_of(f, &(struct sim_launch){0}).dim, 12)) {
    refuse(r, l, "'%s' is declared for clusters of another size (__cluster_dims__) than %u x %u x %u",
           l->kernel, of[0], of[1], of[2]);
    return NULL;
  }
  size_t wanted = 0;
  for (size_t k = 0; k < f->nparams; k++)
    if (f->params[k]->offset + f->params[k]->bytes > wanted)
      wanted = f->params[k]->offset + f->params[k]->bytes;
  if (l->param_bytes != wanted || wanted > PARAM_ROOM) {
    refuse(r, l, "'%s' takes %zu bytes of parameters (%zu of them) and was given %zu: are the "
                 "parameters as the exercise says?", l->kernel, wanted, f->nparams, l->param_bytes);
    return NULL;
  }
  uint32_t fixed = sim_shared_layout(sim->module, f, dynamic_at);
  r->static_shared = fixed;
  r->dynamic_shared = l->shared_bytes;
  if (fixed > 48 * 1024) {
    refuse(r, l, "'%s' declares %u bytes of shared memory; at most 49152 can be declared, more must "
                 "be dynamic", l->kernel, fixed);
    return NULL;
  }
  if ((uint64_t)*dynamic_at - SIM_SHARED_BASE + l->shared_bytes > sim->options.shared_limit) {
    refuse(r, l, "%u bytes of shared memory declared and %u asked for at launch; a block has at most "
                 "%u", fixed, l->shared_bytes, sim->options.shared_limit);
    return NULL;
  }
  for (size_t k = 0; k < sim->nfuncs; k++)
    if (sim->funcs[k].source == f) return &sim->funcs[k];
  return NULL;
}

/* log2 of the narrowest shared access of the kernel: what a granule of the shadow must be. */
static unsigned narrowest(const struct sim *sim, const bool *reached)
{
  unsigned shift = 2;
  for (uint32_t k = 0; k < sim->nsites; k++) {
    const struct sim_inst *i = sim->sites[k];
    uint32_t each = i->width;
    if (!reached[i->func->index] || (i->space != PTX_SHARED && i->space != PTX_GENERIC)) continue;
    if (each == 1) shift = 0;
    else if (each == 2 && shift > 1) shift = 1;
  }
  return shift;
}

/* Whether the kernel asks where the system's kilobyte of shared memory lies. */
static bool uses_reserved(const struct sim *sim, const bool *reached)
{
  for (size_t f = 0; f < sim->nfuncs; f++) {
    const struct ptx_function *p = sim->funcs[f].source;
    for (size_t k = 0; reached[f] && k < p->ninsts; k++)
      for (unsigned o = 0; o < p->insts[k].noperands; o++) {
        const struct ptx_operand *operand = &p->insts[k].operands[o];
        if (operand->kind == PTX_O_SPECIAL && operand->imm >= PTX_S_RESERVED_SMEM_OFFSET_BEGIN &&
            operand->imm <= PTX_S_RESERVED_SMEM_OFFSET_1)
          return true;
      }
  }
  return false;
}

bool sim_launch(struct sim *sim, const struct sim_launch *launch, struct sim_result *result)
{
  memset(result, 0, sizeof *result);
  uint32_t dynamic_at = 0;
  struct sim_func *entry = prepare(sim, launch, result, &dynamic_at);
  if (!entry) return false;
  uint32_t shared = dynamic_at - SIM_SHARED_BASE + launch->shared_bytes;
  if (!launch->shared_bytes) shared = result->static_shared;
  lower_launch(sim, shared);
  if (launch->param_bytes) memcpy(sim->params, launch->params, launch->param_bytes);
  sim->objects[0].size = launch->param_bytes;

  const struct cluster cluster = cluster_of(entry->source, launch);
  /* From here on a block is a cluster of them. */
  uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] / cluster.n;
  unsigned n = sim->options.threads, shift = 0;
  if (n > blocks) n = (unsigned)blocks;
  struct runner *threads = aligned(n * sizeof *threads);
  bool *reached = reach_from(sim->module, entry->source);
  bool ok = threads && reached;
  if (ok) shift = narrowest(sim, reached);
  bool exact = ok && lower_orders_apart(sim, reached);
  bool reserved = ok && uses_reserved(sim, reached);
  for (unsigned k = 0; ok && k < n; k++)
    threads[k] = (struct runner){.sim = sim, .launch = launch, .entry = entry,
                                 .reached = reached, .shared_bytes = shared, .shift = shift,
                                 .exact = exact, .reserved = reserved, .cluster = cluster};
  unsigned together = ok ? parallel_run(sim, threads, n, blocks, reached) : 0;
  if (ok && !together) ok = runner_open(&threads[0]);
  if (ok) {
    for (uint64_t at = 0; !together && at < blocks && !threads[0].stop; at++)
      runner_cluster(&threads[0], at);
    result->host_threads = together ? together : 1;
    collect(result, threads, result->host_threads, threads[0].stop);
  } else {
    refuse(result, launch, "the host has no memory for the launch");
    result->faults->kind = SIM_FAULT_MEMORY;
  }
  for (unsigned k = 0; threads && k < n; k++) runner_close(&threads[k]);
  free(threads);
  free(reached);
  return result->nfaults == 0;
}

void sim_result_free(struct sim_result *r)
{
  free(r->sites);
  free(r->faults);
  free(r->printed);
  memset(r, 0, sizeof *r);
}
