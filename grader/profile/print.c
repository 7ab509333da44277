/* The profile for a person: a table by source line, the worst requests drawn, totals, faults. */
#include "profile/profile.h"

#include <inttypes.h>
#include <string.h>

#include "report/picture.h"

static const char *base(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_global(const struct profile_line *l)
{
  return l->sum.op == MODEL_GLOBAL_LOAD || l->sum.op == MODEL_GLOBAL_STORE;
}

static void place(const struct profile_line *l, char *out, size_t size)
{
  snprintf(out, size, "%s:%u%s", base(l->file), l->sum.line ? l->sum.line : l->sum.ptx_line,
           l->sum.near ? "?" : "");
}

static double per(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

static void print_line(FILE *to, const struct profile_line *l)
{
  char where[280], stride[32] = "-";
  place(l, where, sizeof where);
  if (l->has_stride) snprintf(stride, sizeof stride, "%" PRId64, l->stride);
  uint64_t spent = is_global(l) ? l->sum.sectors : l->sum.wavefronts;
  fprintf(to, "%-20s %-18s %3u B %10" PRIu64 " %s%8.2f %8.2f %11" PRIu64 " %7s  %s\n", where,
          l->operation, l->sum.width, l->sum.requests, l->sum.exact ? " " : "~",
          per(spent, l->sum.requests), per(l->sum.ideal, l->sum.requests), l->excess, stride, l->source);
  if (*l->note) fprintf(to, "%-20s   note: %s\n", "", l->note);
}

static void heading(FILE *to, const char *unit)
{
  fprintf(to, "%-20s %-18s %5s %10s %9s %8s %11s %7s  %s\n", "line", "access", "width", "requests",
          unit, "ideal", "excess", "stride", "source");
}

static void table(FILE *to, const struct profile *p)
{
  bool any[2] = {false, false};
  for (int global = 0; global < 2; global++)
    for (size_t i = 0; i < p->nlines; i++) {
      if (is_global(&p->lines[i]) != global) continue;
      if (!any[global]) {
        if (global && any[0]) fprintf(to, "\n");
        heading(to, global ? "sect/req" : "wave/req");
      }
      any[global] = true;
      print_line(to, &p->lines[i]);
    }
  if (!any[0] && !any[1]) fprintf(to, "no memory access was made\n");
}

/* Addresses of global memory tell a person nothing: count them from the first 128-byte line. */
static void from_first_line(struct access *a)
{
  uint64_t low = UINT64_MAX;
  for (unsigned t = 0; t < MODEL_LANES; t++)
    if ((a->mask >> t & 1) && a->addr[t] < low) low = a->addr[t];
  for (unsigned t = 0; t < MODEL_LANES; t++) a->addr[t] -= low / 128 * 128;
}

static void pictures(FILE *to, const struct profile *p, unsigned most)
{
  char where[280], picture[PICTURE_SIZE];
  for (size_t i = 0; i < p->nlines && most; i++) {
    const struct profile_line *l = &p->lines[i];
    if ((l->excess == 0 && !*l->advice) || l->sum.polled) continue;
    place(l, where, sizeof where);
    struct model_cost c = model_cost(&l->sum.worst);
    fprintf(to, "\n%s: the worst request of this %s, block (%u,%u,%u), warp %u", where,
            l->operation, l->sum.worst_block[0], l->sum.worst_block[1], l->sum.worst_block[2],
            l->sum.worst_warp);
    if (is_global(l)) fprintf(to, ": %u sector%s\n", c.sectors, c.sectors == 1 ? "" : "s");
    else
      fprintf(to, ": %s%u wavefronts where %u %s ideal\n", c.exact ? "" : "about ", c.wavefronts,
              c.ideal, c.ideal == 1 ? "is" : "are");
    if (*l->source) fprintf(to, "  %s\n", l->source);
    struct access shown = l->sum.worst;
    if (is_global(l)) from_first_line(&shown);
    picture_access(picture, sizeof picture, &shown, 8);
    for (char *row = picture, *end; (end = strchr(row, '\n')); row = end + 1)
      fprintf(to, "  %.*s\n", (int)(end - row), row);
    fprintf(to, "  rule: %s\n", model_rule_text(c.rule));
    if (*l->advice) fprintf(to, "  try: %s\n", l->advice);
    most--;
  }
}

static void totals(FILE *to, const struct profile *p)
{
  const struct sim_totals *t = &p->result->totals;
  fprintf(to, "\n%s: %" PRIu64 " block%s, %" PRIu64 " warp%s, %s%" PRIu64 " warp instructions, %u + %u "
          "bytes of shared memory a block (static + dynamic)\n", p->kernel, t->blocks,
          t->blocks == 1 ? "" : "s", t->warps, t->warps == 1 ? "" : "s", p->polled ? "~" : "",
          t->warp_instructions, p->result->static_shared, p->result->dynamic_shared);
#define SHARED(name, text, class)                                                             \
  if (t->name.requests)                                                                       \
    fprintf(to, "  %-15s%s%10" PRIu64 " %-8s %10" PRIu64 " %-10s %10" PRIu64                  \
            " ideal  (%.2f a request)\n", text, p->unsure[class] ? "~" : " ",                 \
            t->name.requests, t->name.requests == 1 ? "request" : "requests",                 \
            t->name.wavefronts, t->name.wavefronts == 1 ? "wavefront" : "wavefronts",         \
            t->name.ideal, per(t->name.wavefronts, t->name.requests));
#define GLOBAL(name, text, class)                                                             \
  if (t->name.requests)                                                                       \
    fprintf(to, "  %-15s%s%10" PRIu64 " %-8s %10" PRIu64 " %-7s  (%.2f a request)\n", text,   \
            p->unsure[class] ? "~" : " ", t->name.requests,                                   \
            t->name.requests == 1 ? "request" : "requests", t->name.sectors,                  \
            t->name.sectors == 1 ? "sector" : "sectors",                                      \
            per(t->name.sectors, t->name.requests));
  SHARED(shared_load, "shared loads", PROFILE_SHARED_LOAD)
  SHARED(shared_store, "shared stores", PROFILE_SHARED_STORE)
  SHARED(shared_atomic, "shared atomics", PROFILE_SHARED_ATOMIC)
  GLOBAL(global_load, "global loads", PROFILE_GLOBAL_LOAD)
  GLOBAL(global_store, "global stores", PROFILE_GLOBAL_STORE)
  GLOBAL(global_atomic, "global atomics", PROFILE_GLOBAL_ATOMIC)
#undef SHARED
#undef GLOBAL
  for (size_t i = 0; i < p->nlines; i++)
    if (!p->lines[i].sum.exact) {
      fprintf(to, "  ~ marks counts whose rule is a fit or depends on other warps: see "
              "chapters/card.md\n");
      break;
    }
  for (size_t i = 0; i < p->nlines; i++)
    if (p->lines[i].sum.near) {
      fprintf(to, "  ? marks a line near the access: a header's code was inlined at several, and the "
              "compiler does not say at which\n");
      break;
    }
}

static void fault(FILE *to, const struct profile *p, const char *what, const struct sim_fault *f)
{
  const struct ptx_module *m = p->module;
  fprintf(to, "\n%s: %s", what, sim_fault_name(f->kind));
  if (f->line && f->file < m->nfiles && m->files[f->file])
    fprintf(to, "%s %s:%u", f->near ? " near" : " at", base(m->files[f->file]), f->line);
  else if (f->ptx_line)
    fprintf(to, " at PTX line %u", f->ptx_line);
  if (f->kind != SIM_FAULT_LAUNCH && f->kind != SIM_FAULT_MEMORY)
    fprintf(to, ", block (%u,%u,%u), thread (%u,%u,%u)", f->block[0], f->block[1], f->block[2],
            f->thread[0], f->thread[1], f->thread[2]);
  if (f->count > 1) fprintf(to, ", %" PRIu64 " times", f->count);
  fprintf(to, "\n  %s\n", f->text);
}

static void faults(FILE *to, const struct profile *p)
{
  const struct sim_result *r = p->result;
  for (size_t i = 0; i < p->nnotes; i++) fault(to, p, "note", &p->notes[i]);
  for (size_t i = 0; i < r->nfaults; i++) fault(to, p, "fault", &r->faults[i]);
  if (r->faults_dropped) fprintf(to, "\nand %" PRIu64 " more faults\n", r->faults_dropped);
  if (!r->completed) fprintf(to, "\nThe kernel did not run to its end: counts are up to there.\n");
}

void profile_print(FILE *to, const struct profile *p, unsigned most)
{
  table(to, p);
  pictures(to, p, most);
  totals(to, p);
  if (p->result->printed && *p->result->printed)
    fprintf(to, "\nprinted by the kernel%s:\n%s\n", p->result->printed_cut ? " (cut)" : "",
            p->result->printed);
  faults(to, p);
}
