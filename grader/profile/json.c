/* The profile for programs. */
#include <jansson.h>
#include <stdlib.h>

#include "profile/profile.h"
#include "report/report.h"

static json_t *text(const char *s)
{
  char *clean = record_text(s);
  json_t *j = json_string(clean);
  free(clean);
  return j;
}

static json_t *number(uint64_t n) { return json_integer((json_int_t)n); }

static json_t *shared(uint64_t requests, uint64_t wavefronts, uint64_t ideal)
{
  return json_pack("{s:o, s:o, s:o}", "requests", number(requests), "wavefronts",
                   number(wavefronts), "ideal", number(ideal));
}

static json_t *global(uint64_t requests, uint64_t sectors)
{
  return json_pack("{s:o, s:o}", "requests", number(requests), "sectors", number(sectors));
}

/* By class of access, whether its totals are exact; the number of instructions is unless somebody polled. */
static json_t *exact(const struct profile *p)
{
  static const char *const names[PROFILE_CLASSES] = {
    [PROFILE_SHARED_LOAD] = "shared_load", [PROFILE_SHARED_STORE] = "shared_store",
    [PROFILE_SHARED_ATOMIC] = "shared_atomic", [PROFILE_GLOBAL_LOAD] = "global_load",
    [PROFILE_GLOBAL_STORE] = "global_store", [PROFILE_GLOBAL_ATOMIC] = "global_atomic",
  };
  json_t *j = json_pack("{s:b}", "warp_instructions", (int)!p->polled);
  for (int c = 0; j && c < PROFILE_CLASSES; c++)
    json_object_set_new(j, names[c], json_boolean(!p->unsure[c]));
  return j;
}

static json_t *totals(const struct profile *p)
{
  const struct sim_totals *t = &p->result->totals;
#define SHARED(n) #n, shared(t->n.requests, t->n.wavefronts, t->n.ideal)
#define GLOBAL(n) #n, global(t->n.requests, t->n.sectors)
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                   "exact", exact(p), "warp_instructions", number(t->warp_instructions),
                   "thread_instructions", number(t->thread_instructions),
                   "barriers", number(t->barriers), "blocks", number(t->blocks),
                   "warps", number(t->warps), SHARED(shared_load), SHARED(shared_store),
                   SHARED(shared_atomic), GLOBAL(global_load), GLOBAL(global_store),
                   GLOBAL(global_atomic));
#undef SHARED
#undef GLOBAL
}

static json_t *line(const struct profile_line *l)
{
  const struct sim_site *s = &l->sum;
  bool is_global = s->op == MODEL_GLOBAL_LOAD || s->op == MODEL_GLOBAL_STORE;
  json_t *j = json_pack("{s:o, s:i, s:b, s:i, s:o, s:s, s:i, s:o, s:o, s:b, s:b, s:i, s:o, s:o}",
                        "file", text(l->file), "line", (int)s->line, "near", (int)s->near,
                        "ptx_line", (int)s->ptx_line,
                        "source", text(l->source), "access", l->operation, "width", (int)s->width,
                        "requests", number(s->requests), "excess", number(l->excess), "exact",
                        (int)s->exact, "polled", (int)s->polled, "worst", (int)s->worst_wavefronts, "advice",
                        text(l->advice), "note", text(l->note));
  if (!j) return NULL;
  if (is_global) {
    json_object_set_new(j, "sectors", number(s->sectors));
    json_object_set_new(j, "ideal", number(s->ideal));
  } else {
    json_object_set_new(j, "wavefronts", number(s->wavefronts));
    json_object_set_new(j, "ideal", number(s->ideal));
  }
  json_object_set_new(j, "stride", l->has_stride ? json_integer(l->stride) : json_null());
  return j;
}

static json_t *fault(const struct profile *p, const struct sim_fault *f)
{
  bool known = f->line && f->file < p->module->nfiles && p->module->files[f->file];
  bool two = f->kind == SIM_FAULT_RACE || f->kind == SIM_FAULT_BARRIER;
  json_t *j = json_pack("{s:s, s:b, s:o, s:i, s:b, s:i, s:[iii], s:[iii], s:o, s:o, s:o}", "kind",
                        sim_fault_name(f->kind), "fatal", (int)f->fatal, "file",
                        known ? text(p->module->files[f->file]) : json_null(), "line",
                        (int)f->line, "near", (int)f->near, "ptx_line",
                        (int)f->ptx_line, "block", (int)f->block[0],
                        (int)f->block[1], (int)f->block[2], "thread", (int)f->thread[0],
                        (int)f->thread[1], (int)f->thread[2], "count", number(f->count), "object",
                        text(f->object), "text", text(f->text));
  if (j && two)       /* line 0: not known */
    json_object_update_new(j, json_pack("{s:o, s:[iii]}", "other_line",
                                        f->other_line ? json_integer(f->other_line) : json_null(),
                                        "other_thread", (int)f->other_thread[0],
                                        (int)f->other_thread[1], (int)f->other_thread[2]));
  return j;
}

bool profile_json_error(FILE *to, const char *error, int status)
{
  json_t *all = json_pack("{s:o, s:i}", "error", text(error), "status", status);
  bool ok = all && json_dumpf(all, to, JSON_INDENT(2)) == 0 && fputc('\n', to) != EOF &&
            fflush(to) == 0;
  json_decref(all);
  return ok;
}

bool profile_json(FILE *to, const struct profile *p)
{
  json_t *lines = json_array(), *faults = json_array(), *notes = json_array();
  for (size_t i = 0; i < p->nlines; i++) json_array_append_new(lines, line(&p->lines[i]));
  for (size_t i = 0; i < p->result->nfaults; i++)
    json_array_append_new(faults, fault(p, &p->result->faults[i]));
  for (size_t i = 0; i < p->nnotes; i++) json_array_append_new(notes, fault(p, &p->notes[i]));
  json_t *all = json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "kernel", p->kernel, "totals",
                          totals(p), "lines", lines, "faults", faults,
                          "notes", notes,
                          "completed", (int)p->result->completed, "shared_bytes",
                          number((uint64_t)p->result->static_shared + p->result->dynamic_shared), "printed",
                          text(p->result->printed ? p->result->printed : ""));
  bool ok = all && json_dumpf(all, to, JSON_INDENT(2)) == 0 && fputc('\n', to) != EOF &&
            fflush(to) == 0;
  json_decref(all);
  return ok;
}
