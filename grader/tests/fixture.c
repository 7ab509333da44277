#include "fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *slurp(const char *path, size_t *size)
{
  FILE *f = fopen(path, "r");
  ck_assert_msg(f != NULL, "%s is missing: run the tests from the repository's top", path);
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(*size + 1);
  ck_assert(text && fread(text, 1, *size, f) == *size);
  text[*size] = 0;
  fclose(f);
  return text;
}

void fixture_open(struct fixture *x, const char *name)
{
  char path[200];
  size_t size;
  memset(x, 0, sizeof *x);
  snprintf(path, sizeof path, "grader/tests/sim/%s.cu", name);
  x->source = slurp(path, &size);
  snprintf(path, sizeof path, "grader/tests/sim/%s.ptx", name);
  x->ptx = slurp(path, &x->ptx_bytes);
  for (char *at = x->source; at && x->lines < LINES - 1;) {
    x->line[++x->lines] = at;
    at = strchr(at, '\n');
    if (at) *at++ = 0;
  }
}

void fixture_close(struct fixture *x)
{
  free(x->source);
  free(x->ptx);
}

/* First line of the kernel or 0; its last line is before the next one. */
unsigned fixture_start(const struct fixture *x, const char *kernel)
{
  char head[100];
  snprintf(head, sizeof head, "void %s(", kernel);
  for (unsigned k = 1; k <= x->lines; k++)
    if (strstr(x->line[k], "__global__") && strstr(x->line[k], head)) return k;
  ck_abort_msg("no kernel %s", kernel);
  return 0;
}

unsigned fixture_end(const struct fixture *x, unsigned start)
{
  while (++start <= x->lines && !strstr(x->line[start], "__global__")) continue;
  return start;
}

void fixture_run(struct ran *r, const struct fixture *x, const char *kernel, unsigned grid,
                 unsigned threads, unsigned shared, unsigned host_threads)
{
  struct sim_options o = {.threads = host_threads, .warp_budget = 3000000, .no_fuse = true};
  struct ptx_error e;
  memset(r, 0, sizeof *r);
  r->sim = sim_open(&o);
  r->module = ptx_read(x->ptx, x->ptx_bytes, &e);
  ck_assert_msg(r->module != NULL, "line %u: %s", e.line, e.text);
  ck_assert_msg(sim_load(r->sim, r->module, &e), "line %u: %s", e.line, e.text);
  uint64_t out = sim_alloc(r->sim, sizeof r->out, "out", false);
  uint64_t in = sim_alloc(r->sim, 1024 * sizeof(int), "in", true);
  ck_assert(out && in);
  int *host = sim_host(r->sim, in, 1024 * sizeof(int));
  for (int k = 0; k < 1024; k++) host[k] = k + 1;
  r->out_at = out;
  struct { uint64_t out, in; int n; } __attribute__((packed)) params = {out, in, 1024};
  struct sim_launch l = {.kernel = kernel, .grid = {grid, 1, 1}, .block = {threads, 1, 1},
                         .shared_bytes = shared, .params = &params, .param_bytes = 20};
  bool ok = sim_launch(r->sim, &l, &r->result);
  ck_assert_int_eq(ok, r->result.nfaults == 0);
  memcpy(r->out, sim_host(r->sim, out, sizeof r->out), sizeof r->out);
}

void fixture_done(struct ran *r)
{
  sim_result_free(&r->result);
  sim_close(r->sim);
  ptx_free(r->module);
}

/* ---- faults ------------------------------------------------------------------------------------- */

static const struct { const char *word; enum sim_fault_kind kind; bool fatal; } kinds[] = {
    {"bounds", SIM_FAULT_BOUNDS, true},       {"alignment", SIM_FAULT_ALIGNMENT, true},
    {"read-only", SIM_FAULT_READ_ONLY, true}, {"uninitialised", SIM_FAULT_UNINITIALISED, false},
    {"race", SIM_FAULT_RACE, false},          {"barrier", SIM_FAULT_BARRIER, true},
    {"budget", SIM_FAULT_BUDGET, true},       {"trap", SIM_FAULT_TRAP, true},
    {"stack", SIM_FAULT_STACK, true},         {"divergent", SIM_FAULT_BARRIER, false},
    {"invalid", SIM_FAULT_UNINITIALISED, true},   /* what is used as an mbarrier is none */
};

static bool promised(const char *line, const char *word)
{
  const char *mark = strstr(line, "//! ");
  return mark && strstr(mark, word);
}

/* `race -2`: the other access stands two lines above.  0: this line does not say. */
static unsigned other_line(const struct fixture *x, unsigned line)
{
  const char *mark = strstr(x->line[line], "//! "), *race = mark ? strstr(mark, "race ") : NULL;
  return race ? (unsigned)((int)line + atoi(race + 5)) : 0;
}

void fixture_faults(const struct fixture *x, const char *kernel, const struct ran *r)
{
  unsigned start = fixture_start(x, kernel), end = fixture_end(x, start);
  bool fatal = false;
  for (size_t f = 0; f < r->result.nfaults; f++) {
    const struct sim_fault *g = &r->result.faults[f];
    const char *word = "nothing known";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      if (kinds[k].kind == g->kind && kinds[k].fatal == g->fatal) {
        word = kinds[k].word;
      }
    fatal |= g->fatal;
    ck_assert_msg(g->line > 0 && g->line <= x->lines && promised(x->line[g->line], word),
                  "%s: not expected: line %u: %s: %s", kernel, g->line, word, g->text);
    ck_assert(g->count >= 1 && *g->text);
    unsigned other = g->kind == SIM_FAULT_RACE ? other_line(x, g->line) : 0;
    if (g->kind == SIM_FAULT_RACE)
      ck_assert_msg(other == g->other_line, "%s: line %u races with line %u, not with %u: %s",
                    kernel, g->line, other, g->other_line, g->text);
  }
  for (unsigned line = start - 1; line < end; line++) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      if (!promised(x->line[line], kinds[k].word)) continue;
      /* The helper of `recursion` stands above it. */
      if (line < start && strcmp(kernel, "recursion")) continue;
      if (line >= end - 3 && strstr(x->line[line], "deeper") && strcmp(kernel, "recursion")) continue;
      bool found = false;
      for (size_t f = 0; f < r->result.nfaults; f++) {
        const struct sim_fault *g = &r->result.faults[f];
        bool other = g->kind == SIM_FAULT_RACE && g->other_line == line;   /* told once for both */
        found |= g->kind == kinds[k].kind && (g->line == line || other);
      }
      ck_assert_msg(found, "%s: line %u was to give: %s", kernel, line, kinds[k].word);
    }
  }
  ck_assert_msg(r->result.completed == !fatal, "%s: completed %d", kernel, r->result.completed);
}

void fixture_same(const char *kernel, unsigned n, const struct ran *one, const struct ran *more)
{
  const struct sim_result *a = &one->result, *b = &more->result;
  ck_assert_msg(a->nfaults == b->nfaults && a->nsites == b->nsites && a->completed == b->completed,
                "%s: %u threads", kernel, n);
  ck_assert_msg(!memcmp(&a->totals, &b->totals, sizeof a->totals), "%s: totals", kernel);
  for (size_t k = 0; k < a->nfaults; k++)
    ck_assert_msg(!memcmp(&a->faults[k], &b->faults[k], sizeof *a->faults), "%s: %s\n%s", kernel,
                  a->faults[k].text, b->faults[k].text);
  for (size_t k = 0; k < a->nsites; k++)
    ck_assert_msg(!memcmp(&a->sites[k], &b->sites[k], sizeof *a->sites), "%s: site %zu", kernel, k);
  ck_assert_msg(!memcmp(one->out, more->out, sizeof one->out), "%s: values", kernel);
}
