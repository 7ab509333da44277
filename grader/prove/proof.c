/* See proof.h.
 *
 * What is compared are wavefronts.  Instructions executed are shown beside the simulator's
 * requests, but an instruction whose lanes are all predicated off is executed and requests
 * nothing, so they may be more.
 */
#define _GNU_SOURCE
#include "prove/proof.h"

#include <stdlib.h>
#include <string.h>

static struct proof_row *row_of(struct proof *p, const struct proof_launch *l, const char *file,
                                uint32_t line)
{
  const char *id = l->work->exercise->id, *from = l->work->options->from;
  for (size_t i = 0; i < p->nrows; i++) {
    struct proof_row *r = &p->rows[i];
    if (r->line == line && !strcmp(r->id, id) && !strcmp(r->from, from) &&
        !strcmp(r->kernel, l->kernel) && !strcmp(r->file, file))
      return r;
  }
  p->rows = realloc(p->rows, (p->nrows + 1) * sizeof *p->rows);
  if (!p->rows) {
    fprintf(stderr, "banks: out of memory\n");
    exit(3);
  }
  struct proof_row *r = &p->rows[p->nrows++];
  *r = (struct proof_row){.from = from, .id = id, .kernel = l->kernel, .line = line,
                          .exact = true, .lined = true};
  snprintf(r->file, sizeof r->file, "%s", file);
  return r;
}

static bool is_shared(enum model_op op) { return op < MODEL_GLOBAL_LOAD; }
static bool is_load(enum model_op op)
{
  return op == MODEL_LOAD || (op >= MODEL_LDMATRIX_X1 && op <= MODEL_LDMATRIX_X4);
}
static bool is_store(enum model_op op)
{
  return op == MODEL_STORE || (op >= MODEL_STMATRIX_X1 && op <= MODEL_STMATRIX_X4);
}

static void add_simulated(struct proof *p, const struct proof_launch *l, bool lines)
{
  const struct outcome *o = &l->item->outcome;
  const struct sim_result *r = &o->launches[l->index];
  for (size_t i = 0; i < r->nsites; i++) {
    const struct sim_site *s = &r->sites[i];
    if (!is_shared(s->op)) continue;
    const char *file = s->file < o->nfiles && o->files[s->file] ? o->files[s->file] : "";
    const char *slash = strrchr(file, '/');
    for (int whole = 0; whole < 2; whole++) {
      if (!whole && !lines) continue;
      struct proof_row *row = whole ? row_of(p, l, "", 0)
                                    : row_of(p, l, slash ? slash + 1 : file, s->line);
      row->requests += s->requests;
      row->wavefronts += s->wavefronts;
      row->exact &= s->exact;
      row->loops |= s->op == MODEL_ATOM_LOOP || s->op == MODEL_ATOM_LOOP64;
      if (is_load(s->op)) row->loads += s->wavefronts;
      if (is_store(s->op)) row->stores += s->wavefronts;
    }
  }
}

static void add_counted(struct proof *p, const struct proof_launch *l, const struct ncu_launch *n,
                        bool lines)
{
  const char *own = l->work->exercise->file;
  struct proof_row *all = row_of(p, l, "", 0);
  all->launches++;
  all->lined &= lines;
  all->raw_loads += n->loads;
  all->raw_stores += n->stores;
  for (size_t i = 0; i < n->ninsts; i++) {
    const struct ncu_inst *k = &n->insts[i];
    if (!ncu_is_shared(k)) continue;
    if (lines && (k->executed || k->wavefronts)) {
      struct proof_row *row = row_of(p, l, own, k->line);
      row->executed += k->executed;
      row->counted += k->wavefronts;
    }
    all = row_of(p, l, "", 0);
    all->executed += k->executed;
    all->counted += k->wavefronts;
  }
}

void proof_make(const struct proof_launch *launches, size_t n, struct ncu_report *r,
                unsigned capability, struct proof *out)
{
  struct lines lines = {0};
  const struct work *of = NULL;
  struct ptx_module *module = NULL;
  struct ptx_error error;
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < n; i++) {
    const struct proof_launch *l = &launches[i];
    const struct compiled *c = &l->work->compiled;
    if (l->work != of) {
      lines_free(&lines);
      if (module) ptx_free(module);
      of = l->work;
      lines_of(c->code, c->code_size, capability, &lines);
      module = ptx_read(c->code, c->code_size, &error);
      if (*lines.why && i == 0) fprintf(stderr, "banks: %s\n", lines.why);
    }
    struct ptx_function *f = module ? ptx_find_entry(module, l->kernel) : NULL;
    bool lined = f && lines_give(&lines, f->name, &r->launches[i]);
    add_simulated(out, l, lined);
    add_counted(out, l, &r->launches[i], lined);
  }
  lines_free(&lines);
  if (module) ptx_free(module);
}

static const struct proof_row *whole_of(const struct proof *p, const struct proof_row *row)
{
  for (size_t i = 0; i < p->nrows; i++)
    if (p->rows[i].line == 0 && !*p->rows[i].file && !strcmp(p->rows[i].id, row->id) &&
        !strcmp(p->rows[i].from, row->from) && !strcmp(p->rows[i].kernel, row->kernel))
      return &p->rows[i];
  return NULL;
}

static bool is_whole(const struct proof_row *row) { return !*row->file && row->line == 0; }

const char *proof_verdict(const struct proof *p, const struct proof_row *row)
{
  if (row->wavefronts == row->counted) return "equal";
  const struct proof_row *whole = whole_of(p, row);
  if (!is_whole(row) && whole && whole->wavefronts == whole->counted)
    return "another line";       /* the compiler gave a joined or moved access to a neighbour */
  if (row->loops && row->counted > row->wavefronts)
    return "at least";           /* warps that retry against each other: a lower bound is told */
  return row->exact ? "differs" : "fit";
}

bool proof_equal(const struct proof *p)
{
  bool all = p->nrows > 0;
  for (size_t i = 0; i < p->nrows; i++)
    if (is_whole(&p->rows[i])) all &= !strcmp(proof_verdict(p, &p->rows[i]), "equal");
  return all;
}

static void print_row(const struct proof *p, const struct proof_row *r, FILE *to)
{
  const char *verdict = proof_verdict(p, r);
  char where[160];
  if (is_whole(r)) snprintf(where, sizeof where, "whole kernel");
  else snprintf(where, sizeof where, "%.100s:%u", r->file, r->line);
  fprintf(to, "    %-24s %10llu %12llu   %10llu %12llu   %s%s\n", where,
          (unsigned long long)r->requests, (unsigned long long)r->wavefronts,
          (unsigned long long)r->executed, (unsigned long long)r->counted,
          strcmp(verdict, "equal") ? "<- " : "", verdict);
}

void proof_print(const struct proof *p, FILE *to)
{
  size_t kernels = 0, equal = 0;
  for (size_t i = 0; i < p->nrows; i++) {
    const struct proof_row *w = &p->rows[i];
    if (!is_whole(w)) continue;
    kernels++;
    equal += !strcmp(proof_verdict(p, w), "equal");
    fprintf(to, "%s/%s  %s, %zu launches%s\n", w->from, w->id, w->kernel, w->launches,
            w->lined ? "" : " (no lines: the driver's code is not ptxas')");
    fprintf(to, "    %-24s %10s %12s   %10s %12s\n", "", "requests", "wavefronts", "executed",
            "counted");
    for (size_t k = 0; k < p->nrows; k++)
      if (!is_whole(&p->rows[k]) && whole_of(p, &p->rows[k]) == w) print_row(p, &p->rows[k], to);
    print_row(p, w, to);
    if (!w->loops && (w->loads != w->raw_loads || w->stores != w->raw_stores))
      fprintf(to, "    by class: loads %llu (counter %llu), stores %llu (counter %llu)\n",
              (unsigned long long)w->loads, (unsigned long long)w->raw_loads,
              (unsigned long long)w->stores, (unsigned long long)w->raw_stores);
  }
  fprintf(to, "%zu of %zu kernels equal; requests and wavefronts are the simulator's, executed and "
          "counted the profiler's\n", equal, kernels);
}

void proof_save(const struct proof *p, FILE *to)
{
  fprintf(to, "from\texercise\tkernel\tline\tlaunches\trequests\twavefronts\texecuted\tcounted\t"
          "loads\tcounter_loads\tstores\tcounter_stores\tverdict\n");
  for (size_t i = 0; i < p->nrows; i++) {
    const struct proof_row *r = &p->rows[i];
    char line[32] = "all";
    if (!is_whole(r)) snprintf(line, sizeof line, "%u", r->line);
    fprintf(to, "%s\t%s\t%s\t%s\t%zu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%s\n", r->from,
            r->id, r->kernel, line, r->launches, (unsigned long long)r->requests,
            (unsigned long long)r->wavefronts, (unsigned long long)r->executed,
            (unsigned long long)r->counted, (unsigned long long)r->loads,
            (unsigned long long)r->raw_loads, (unsigned long long)r->stores,
            (unsigned long long)r->raw_stores, proof_verdict(p, r));
  }
}

void proof_free(struct proof *p)
{
  free(p->rows);
  memset(p, 0, sizeof *p);
}
