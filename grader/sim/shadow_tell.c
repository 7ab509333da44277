/* The words of the faults that the race check finds: both threads and both lines, and what to do. */
#include <string.h>

#include "shadow.h"

/* The variable a byte lies in, for messages; *byte becomes its offset there. */
static void name_of(const struct warp *w, uint32_t *byte, char name[64])
{
  if (w->block->reserved_at && *byte >= w->block->reserved_at) {
    snprintf(name, 64, "the shared memory the system reserves");
    *byte -= w->block->reserved_at;
    return;
  }
  const struct ptx_symbol *s =
      memory_shared_symbol(w->runner->sim, (uint64_t)*byte + SIM_SHARED_BASE);
  snprintf(name, 64, "shared memory");
  if (!s) return;
  memory_plain_name(s->name, name, 64);
  *byte -= (uint32_t)s->offset - SIM_SHARED_BASE;
}

static const char *does(enum access_kind kind)
{
  return kind == ACCESS_LOAD ? "reads" : kind == ACCESS_STORE ? "writes" : "updates";
}

/* Notes where the other access of a fault stands, and says it: " at line 12". */
static void name_line(struct sim_fault *f, const struct sim_inst *other, char out[32])
{
  *out = 0;
  if (!other || !other->line || other->file != f->file) return;
  f->other_line = other->line;
  if (f->other_line != f->line) snprintf(out, 32, " at line %u", f->other_line);
}

void tell_race(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
               struct earlier other, bool other_writes, uint32_t byte)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_RACE, false, "race");
  if (!f) return;
  uint32_t *t = f->thread, *o = f->other_thread;
  char line[32];
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  name_line(f, other.inst, line);
  if (other.thread / SIM_LANES == SHADOW_ENGINE) {
    snprintf(f->text, sizeof f->text,
             "thread (%u,%u,%u) %s byte %u of %s, which a bulk copy filled, and this thread has not "
             "waited for it: each thread waits for the phase of the copy's mbarrier "
             "(mbarrier.try_wait) before it touches the data", t[0], t[1], t[2], does(kind), byte,
             f->object);
    return;
  }
  fault_thread(w->block, other.thread, o);
  bool same_warp = other.thread / SIM_LANES == w->id;
  snprintf(f->text, sizeof f->text,
           "thread (%u,%u,%u) %s byte %u of %s, which thread (%u,%u,%u) %s%s, and nothing orders the "
           "two: put %s between them", t[0], t[1], t[2], does(kind), byte, f->object, o[0], o[1],
           o[2], other_writes ? "wrote" : "read", line,
           same_warp ? "__syncwarp() or __syncthreads()" : "__syncthreads()");
}

void tell_pending(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
                  struct earlier copy, uint32_t byte)
{
  bool engine = copy.thread / SIM_LANES == SHADOW_ENGINE;
  bool own = copy.thread == w->id * SIM_LANES + lane || engine;
  struct sim_fault *f =
      fault_note(w, i, lane, own && kind == ACCESS_LOAD ? SIM_FAULT_UNINITIALISED : SIM_FAULT_RACE,
                 false, "pending");
  if (!f) return;
  char line[32];
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  name_line(f, copy.inst, line);
  uint32_t *o = f->other_thread;
  if (!engine) fault_thread(w->block, copy.thread, o);
  if (engine)
    snprintf(f->text, sizeof f->text,
             "%s byte %u of %s, which a bulk copy%s has still to fill: wait for the phase of its "
             "mbarrier first (mbarrier.try_wait)", does(kind), byte, f->object, line);
  else if (own)
    snprintf(f->text, sizeof f->text,
             "%s byte %u of %s, which this thread's own cp.async%s has still to fill: wait for the "
             "copy first (__pipeline_wait_prior, cp.async.wait_group or wait_all)", does(kind), byte,
             f->object, line);
  else
    snprintf(f->text, sizeof f->text,
             "%s byte %u of %s, which a cp.async of thread (%u,%u,%u)%s has still to fill: that "
             "thread must wait for its copy (__pipeline_wait_prior, cp.async.wait_group or "
             "wait_all), and after the wait __syncthreads() must stand before this access",
             does(kind), byte, f->object, o[0], o[1], o[2], line);
}

void tell_never_written(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t byte,
                        const struct block *b)
{
  char name[64];
  name_of(w, &byte, name);
  w->runner->unwritten++;
  struct sim_fault *f =
      fault_note(w, i, lane, SIM_FAULT_UNINITIALISED, false,
                 "reads byte %u of %s%s, which no thread has written yet: initialise it and put "
                 "%s before the read", byte, name,
                 b == w->block ? "" : " in another block of the cluster",
                 b == w->block ? "__syncthreads()" : "cluster.sync()");
  if (!f) return;
  snprintf(f->object, sizeof f->object, "%s", name);
  f->address = byte;
  f->width = i->width;
}

void tell_remote(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
                 const struct block *b, struct earlier by, bool written, uint32_t byte)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_RACE, false, "race");
  if (!f) return;
  uint32_t *t = f->thread, *o = f->other_thread;
  char line[32];
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  name_line(f, by.inst, line);
  if (by.inst) fault_thread(b, by.thread, o);
  snprintf(f->text, sizeof f->text,
           "thread (%u,%u,%u) %s byte %u of %s in block %u of the cluster, which a thread of that block "
           "%s%s, and no barrier of the cluster orders the two: put cluster.sync() between them", t[0],
           t[1], t[2], does(kind), byte, f->object, b->rank, written ? "wrote" : "read", line);
}

void tell_same_instruction(struct warp *w, const struct sim_inst *i, unsigned lane, uint32_t thread,
                           uint32_t byte)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_RACE, false, "race");
  if (!f) return;
  uint32_t *t = f->thread, *o = f->other_thread;
  fault_thread(w->block, thread, o);
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  f->other_line = f->line;
  snprintf(f->text, sizeof f->text,
           "threads (%u,%u,%u) and (%u,%u,%u) store different values to byte %u of %s in one "
           "instruction: which one wins is undefined",
           o[0], o[1], o[2], t[0], t[1], t[2], byte, f->object);
}
