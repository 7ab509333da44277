/* See launch.h. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/launch.h"

const char *launch_variant = "";

struct launch launch_of(const char *file, const char *kernel)
{
  struct launch l = {.file = file, .kernel = kernel};
  struct ptx_error e;
  char path[200];
  snprintf(path, sizeof path, "grader/tests/kernels/%s%s.ptx", file, launch_variant);
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s is missing: run the tests from the repository's top", path);
  fseek(f, 0, SEEK_END);
  size_t size = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(size + 1);
  ck_assert(text && fread(text, 1, size, f) == size);
  fclose(f);
  l.module = ptx_read(text, size, &e);
  ck_assert_msg(l.module != NULL, "%s: line %u: %s", path, e.line, e.text);
  free(text);
  return l;
}

static unsigned push(struct launch *l, const void *data, size_t bytes, bool buffer, bool read_only)
{
  unsigned k = l->nargs++;
  ck_assert_uint_lt(k, LAUNCH_ARGS);
  l->arg[k].data = malloc(bytes + 1);
  l->arg[k].bytes = bytes;
  l->arg[k].buffer = buffer;
  l->arg[k].read_only = read_only;
  ck_assert(l->arg[k].data != NULL);
  if (data) memcpy(l->arg[k].data, data, bytes);
  else memset(l->arg[k].data, 0xcb, bytes);
  return k;
}

unsigned launch_in(struct launch *l, const void *data, size_t bytes)
{
  return push(l, data, bytes, true, true);
}

unsigned launch_out(struct launch *l, const void *data, size_t bytes)
{
  return push(l, data, bytes, true, false);
}

void launch_int(struct launch *l, int32_t v) { push(l, &v, sizeof v, false, false); }
void launch_float(struct launch *l, float v) { push(l, &v, sizeof v, false, false); }

void launch_bytes(struct launch *l, const void *v, size_t bytes)
{
  push(l, v, bytes, false, false);
}

/* The ways to run a launch: the first gives the result, the others must not differ. */
static const struct way { const char *name; unsigned threads; bool no_sharing; } ways[] = {
    {"one host thread", 1, false}, {"two host threads", 2, false}, {"four host threads", 4, false},
    {"a row for each register", 1, true}};

/* One run; the buffers' bytes afterwards to `after`. */
static void run(const struct launch *l, const struct way *way, const uint32_t grid[3],
                const uint32_t block[3], uint32_t shared, struct sim_result *result, void **after)
{
  struct sim_options o = {.threads = way->threads, .no_sharing = way->no_sharing,
                          .warp_budget = 5000000, .seed = 7};
  struct sim *sim = sim_open(&o);
  struct ptx_error e;
  uint8_t params[4096];
  size_t bytes = 0;
  uint64_t at[LAUNCH_ARGS];
  ck_assert(sim != NULL);
  ck_assert_msg(sim_load(sim, l->module, &e), "%s: line %u: %s", l->file, e.line, e.text);
  const struct ptx_function *kernel = ptx_find_entry(l->module, l->kernel);
  ck_assert_msg(kernel != NULL, "%s: no kernel %s", l->file, l->kernel);
  ck_assert_msg(kernel->nparams == l->nargs, "%s: %zu parameters", l->kernel, kernel->nparams);
  for (unsigned k = 0; k < l->nargs; k++) {
    const void *value = l->arg[k].data;
    size_t width = l->arg[k].bytes;
    if (l->arg[k].buffer) {
      char name[24];
      snprintf(name, sizeof name, "argument %u", k + 1);
      at[k] = sim_alloc(sim, width, name, l->arg[k].read_only);
      ck_assert(at[k] != 0);
      memcpy(sim_host(sim, at[k], width), value, width);
      value = &at[k];
      width = sizeof at[k];
    }
    bytes = kernel->params[k]->offset;
    ck_assert_msg(kernel->params[k]->bytes == width, "%s: parameter %u has %lu bytes, not %zu",
                  l->kernel, k, (unsigned long)kernel->params[k]->bytes, width);
    memcpy(params + bytes, value, width);
    bytes += width;
  }
  if (l->inside.bytes) {
    uint64_t to = sim_alloc(sim, l->inside.bytes, "table", true);
    ck_assert(to != 0);
    memcpy(sim_host(sim, to, l->inside.bytes), l->inside.data, l->inside.bytes);
    memcpy(params + kernel->params[l->inside.parameter]->offset + l->inside.offset, &to, sizeof to);
  }
  if (l->constant.symbol) {
    size_t room;
    uint64_t to = sim_symbol(sim, l->constant.symbol, &room);
    ck_assert(to && room == l->constant.bytes);
    memcpy(sim_host(sim, to, room), l->constant.data, room);
  }
  struct sim_launch launch = {.kernel = l->kernel, .shared_bytes = shared, .params = params,
                              .param_bytes = bytes};
  memcpy(launch.grid, grid, sizeof launch.grid);
  memcpy(launch.block, block, sizeof launch.block);
  bool ok = sim_launch(sim, &launch, result);
  ck_assert_msg(ok && result->completed, "%s %s: line %u, PTX line %u: %s", l->file, l->kernel,
                result->nfaults ? result->faults[0].line : 0,
                result->nfaults ? result->faults[0].ptx_line : 0,
                result->nfaults ? result->faults[0].text : "did not complete");
  for (unsigned k = 0; k < l->nargs; k++) {
    after[k] = NULL;
    if (!l->arg[k].buffer) continue;
    after[k] = malloc(l->arg[k].bytes + 1);
    memcpy(after[k], sim_host(sim, at[k], l->arg[k].bytes), l->arg[k].bytes);
  }
  sim_close(sim);
}

static bool same_sites(const struct sim_result *a, const struct sim_result *b)
{
  if (a->nsites != b->nsites) return false;
  for (size_t k = 0; k < a->nsites; k++)
    if (memcmp(&a->sites[k], &b->sites[k], sizeof *a->sites)) return false;
  return true;
}

/* What the sites of one class say must be what the totals say. */
static void check_totals(const struct launch *l)
{
  const struct sim_result *r = &l->result;
  uint64_t wavefronts = 0, sectors = 0;
  const struct sim_totals *t = &r->totals;
  for (size_t k = 0; k < r->nsites; k++) {
    wavefronts += r->sites[k].wavefronts;
    sectors += r->sites[k].sectors;
    ck_assert_msg(r->sites[k].ideal <= r->sites[k].wavefronts + r->sites[k].sectors,
                  "%s: ideal above what it cost", l->kernel);
  }
  ck_assert_uint_eq(wavefronts, t->shared_load.wavefronts + t->shared_store.wavefronts +
                                    t->shared_atomic.wavefronts);
  ck_assert_uint_eq(sectors,
                    t->global_load.sectors + t->global_store.sectors + t->global_atomic.sectors);
  ck_assert_uint_gt(t->warp_instructions, 0);
}

void launch_run(struct launch *l, const uint32_t grid[3], const uint32_t block[3], uint32_t shared)
{
  void *after[LAUNCH_ARGS];
  sim_result_free(&l->result);
  for (size_t n = 0; n < sizeof ways / sizeof *ways; n++) {
    struct sim_result more, *r = n == 0 ? &l->result : &more;
    run(l, &ways[n], grid, block, shared, r, after);
    for (unsigned k = 0; k < l->nargs; k++) {
      if (n == 0) {
        free(l->arg[k].result);
        l->arg[k].result = after[k];
        continue;
      }
      if (l->arg[k].buffer)
        ck_assert_msg(!memcmp(after[k], l->arg[k].result, l->arg[k].bytes),
                      "%s: argument %u differs with %s", l->kernel, k + 1, ways[n].name);
      free(after[k]);
    }
    if (n == 0) continue;
    ck_assert_msg(!memcmp(&more.totals, &l->result.totals, sizeof more.totals),
                  "%s: totals differ with %s", l->kernel, ways[n].name);
    ck_assert_msg(same_sites(&more, &l->result), "%s: sites differ with %s", l->kernel,
                  ways[n].name);
    ck_assert_str_eq(more.printed ? more.printed : "", l->result.printed ? l->result.printed : "");
    sim_result_free(&more);
  }
  check_totals(l);
}

void launch_run1(struct launch *l, uint32_t grid, uint32_t block, uint32_t shared)
{
  launch_run(l, (uint32_t[3]){grid, 1, 1}, (uint32_t[3]){block, 1, 1}, shared);
}

void launch_close(struct launch *l)
{
  for (unsigned k = 0; k < l->nargs; k++) {
    free(l->arg[k].data);
    free(l->arg[k].result);
  }
  sim_result_free(&l->result);
  ptx_free(l->module);
  memset(l, 0, sizeof *l);
}

void launch_close_to(const struct launch *l, size_t at, double got, double want, double bound)
{
  ck_assert_msg(fabs(got - want) <= bound, "%s %s [%zu]: %.9g, not %.9g (bound %.3g)", l->file,
                l->kernel, at, got, want, bound);
}

static uint64_t state = 0x243f6a8885a308d3u;

uint32_t launch_random(void)   /* Marsaglia's xorshift64, high half of a product */
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state * 0x9e3779b97f4a7c15u >> 32);
}

float launch_random_float(void)
{
  return (float)(int32_t)(launch_random() >> 8) / 8388608.0f - 1;
}
