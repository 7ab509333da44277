/* Faults: what happened, where in the source, to whom.  Once an instruction and kind, then counted. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const char *const names[] = {
    [SIM_FAULT_NONE] = "none",
    [SIM_FAULT_BOUNDS] = "out of bounds",
    [SIM_FAULT_ALIGNMENT] = "misaligned",
    [SIM_FAULT_READ_ONLY] = "write to read-only memory",
    [SIM_FAULT_UNINITIALISED] = "uninitialised read",
    [SIM_FAULT_RACE] = "race",
    [SIM_FAULT_BARRIER] = "bad synchronisation",
    [SIM_FAULT_BUDGET] = "endless loop",
    [SIM_FAULT_TRAP] = "trap",
    [SIM_FAULT_STACK] = "stack overflow",
    [SIM_FAULT_UNSUPPORTED] = "unsupported",
    [SIM_FAULT_LAUNCH] = "bad launch",
    [SIM_FAULT_HEAP] = "bad free",
    [SIM_FAULT_MEMORY] = "out of memory",
};

const char *sim_fault_name(enum sim_fault_kind kind)
{
  return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

void fault_thread(const struct block *b, uint32_t thread, uint32_t out[3])
{
  const uint32_t *dim = b->warps[0].runner->launch->block;
  out[0] = thread % dim[0];
  out[1] = thread / dim[0] % dim[1];
  out[2] = thread / dim[0] / dim[1];
}

void fault_began(struct runner *t, size_t at)
{
  if (!t->nfaults || at >= t->nfaults - 1) return;
  struct fault_note last = t->faults[t->nfaults - 1];
  memmove(&t->faults[at + 1], &t->faults[at], (t->nfaults - 1 - at) * sizeof last);
  t->faults[at] = last;
}

/* What a fault of one lane is charged for: looking for its like, and for whom it met. */
enum { NOTE_COST = 5 << 10 };
/* For each fault of the limit, so many are kept until they are joined. */
enum { UNJOINED = 4 };

bool fault_same_place(const struct sim_inst *a, const struct sim_inst *b)
{
  return a == b || (a->func == b->func && a->from == b->from && a->space == b->space && a->func);
}

struct sim_fault *fault_note(struct warp *w, const struct sim_inst *i, unsigned lane,
                             enum sim_fault_kind kind, bool fatal, const char *format, ...)
{
  struct runner *t = w->runner;
  warp_charge(w, NOTE_COST);
  if (fatal) {
    t->stop = true;
    warp_reschedule(w);
  }
  for (size_t k = 0; k < t->nfaults; k++) {
    struct fault_note *n = &t->faults[k];
    if (fault_same_place(n->inst, i) && n->fault.kind == kind) {
      n->fault.count++;
      if (!fatal) return NULL;
      if (n->fault.fatal) return NULL;
    }
  }
  /* A fatal one always finds room: it says why the launch stopped. */
  if (t->nfaults >= UNJOINED * t->sim->options.fault_limit && !fatal) {
    t->faults_dropped++;
    return NULL;
  }
  if (t->nfaults == t->faults_room) {
    size_t room = t->faults_room ? 2 * t->faults_room : 8;
    struct fault_note *more = realloc(t->faults, room * sizeof *more);
    if (!more) return NULL;
    t->faults = more;
    t->faults_room = room;
  }
  struct fault_note *n = &t->faults[t->nfaults++];
  *n = (struct fault_note){.inst = i, .block = w->block->linear, .tick = w->block->shadow.tick};
  struct sim_fault *f = &n->fault;
  f->kind = kind;
  f->fatal = fatal;
  f->count = 1;
  if (i->ptx) {
    f->file = i->file;
    f->line = i->line;
    f->near = i->ptx->near;
    f->ptx_line = i->ptx->line;
  }
  memcpy(f->block, w->block->index, sizeof f->block);
  fault_thread(w->block, w->id * SIM_LANES + lane, f->thread);
  va_list args;
  va_start(args, format);
  vsnprintf(f->text, sizeof f->text, format, args);
  va_end(args);
  return f;
}

struct sim_fault *fault_ranked(struct warp *w, const struct sim_inst *i, unsigned lane,
                               enum sim_fault_kind kind, unsigned rank)
{
  struct runner *t = w->runner;
  struct sim_fault *f = fault_note(w, i, lane, kind, false, "race");
  for (size_t k = 0; k < t->nfaults; k++) {
    struct fault_note *n = &t->faults[k];
    if (!fault_same_place(n->inst, i) || n->fault.kind != kind || (!f && n->rank >= rank)) continue;
    n->rank = rank;
    n->tick = w->block->shadow.tick;
    n->block = w->block->linear;
    memcpy(n->fault.block, w->block->index, sizeof n->fault.block);
    fault_thread(w->block, w->id * SIM_LANES + lane, n->fault.thread);
    return &n->fault;
  }
  return NULL;
}

static bool same_cause(const struct sim_fault *a, const struct sim_fault *b)
{
  bool lines = (a->line == b->line && a->other_line == b->other_line) ||
               (a->line == b->other_line && a->other_line == b->line);
  bool joins = a->kind == SIM_FAULT_RACE || a->kind == SIM_FAULT_UNINITIALISED;
  return joins && a->kind == b->kind && a->line && a->file == b->file && lines &&
         !strcmp(a->object, b->object);
}

void fault_join(struct runner *t)
{
  size_t n = 0, most = t->sim->options.fault_limit;
  for (size_t k = 0; k < t->nfaults; k++) {
    struct fault_note now = t->faults[k];
    size_t same = 0;
    while (same < n && !same_cause(&t->faults[same].fault, &now.fault)) same++;
    if (same < n) {
      struct fault_note *first = &t->faults[same];
      uint64_t count = first->fault.count + now.fault.count;
      if (now.rank > first->rank) *first = now;
      first->fault.count = count;
    } else if (n < most || now.fault.fatal) {
      t->faults[n++] = now;
    } else {
      t->faults_dropped += now.fault.count;
    }
  }
  t->nfaults = n;
}
