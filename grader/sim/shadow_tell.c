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

/* Ranks of remedies: one warp's, the block's, the cluster's. */
enum { RANK_WARP, RANK_BLOCK, RANK_CLUSTER };

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

/* ---- what to do about a race -------------------------------------------------------------------- */

static const struct ptx_operand *address_of(const struct ptx_inst *in)
{
  for (unsigned k = 0; k < in->noperands; k++)
    if (in->operands[k].kind == PTX_O_ADDRESS) return &in->operands[k];
  return NULL;
}

/* Whether an access is half of an update: its line loads from that address, then stores there. */
static bool updates_place(const struct sim_inst *i)
{
  const struct sim_func *f = i->func;
  const struct ptx_operand *a = address_of(i->ptx);
  if (!a || (i->ptx->op != PTX_LD && i->ptx->op != PTX_ST)) return false;
  for (uint32_t k = 0; k < f->ninsts; k++) {
    const struct sim_inst *j = &f->insts[k];
    if (j->line != i->line || j->file != i->file || j->ptx->op == i->ptx->op) continue;
    if (j->ptx->op != PTX_LD && j->ptx->op != PTX_ST) continue;
    const struct ptx_operand *b = address_of(j->ptx);
    if (b && a->has_reg && b->has_reg && a->reg == b->reg && a->imm == b->imm) return true;
  }
  return false;
}

static bool in_a_loop(const struct sim_inst *i)
{
  const struct ptx_function *p = i->func->source;
  for (size_t k = i->from; k < p->ninsts; k++)
    if (p->insts[k].op == PTX_BRA && p->insts[k].operands[0].imm <= i->from) return true;
  return false;
}

static const char *remedy(const struct warp *w, const struct sim_inst *i, unsigned lane,
                          enum access_kind kind, struct earlier other, bool other_writes)
{
  const struct shadow *s = &w->block->shadow;
  uint32_t me = w->id * SIM_LANES + lane, v = other.thread / SIM_LANES;
  bool stores = kind == ACCESS_STORE && other_writes, one = other.inst && i->ptx->op != PTX_CP_ASYNC;
  if (w->polled >= s->epoch || w->block->warps[v].polled >= s->epoch) {
    if (s->fence[me] >= s->epoch && s->fence[other.thread] >= s->epoch)
      return ". Both have fenced, but no flag or lock leads from one to the other: the thread "
             "that wrote, or one that it has met since (__syncwarp(), __syncthreads()), must fence "
             "and then set what the other sees";
    return ". The lock or flag that they go by orders no other memory: put __threadfence_block() "
           "before it is set or given back, and after it is seen or taken";
  }
  if (one && other.inst->line == i->line && other.inst->file == i->file && i->line &&
      updates_place(i) && updates_place(other.inst))
    return ". Each reads it, changes it and writes it back: use an atomic, as atomicAdd(), or give "
           "each thread a place of its own";
  if (one && stores && fault_same_place(i, other.inst))
    return in_a_loop(i) ? ". Put __syncthreads() between the rounds of the loop; if it is one "
                          "round, let one thread store, or use an atomic"
                        : ". Both store in one statement: let one thread do it, or use an atomic, or "
                          "__syncthreads_or() for a flag";
  return v == w->id ? ": put __syncwarp() or __syncthreads() between them"
                    : ": put __syncthreads() between them";
}

/* A write comes after a read of what nobody had written, in the same interval: the read missed it. */
static void complete_unwritten(const struct warp *w, const struct sim_inst *i, unsigned lane,
                               const struct block *b, struct earlier reader, const char *object,
                               uint32_t byte)
{
  struct runner *t = w->runner;
  for (size_t k = 0; k < t->nfaults && reader.inst; k++) {
    struct fault_note *n = &t->faults[k];
    struct sim_fault *f = &n->fault;
    if (f->kind != SIM_FAULT_UNINITIALISED || f->other_line || n->block != b->linear ||
        n->tick < b->shadow.epoch || f->line != reader.inst->line || f->file != reader.inst->file ||
        strcmp(f->object, object))
      continue;
    uint32_t *o = f->other_thread;
    char line[32];
    bool store = i->ptx->op == PTX_ST, async = i->ptx->op == PTX_CP_ASYNC;
    fault_thread(b, reader.thread, f->thread);
    fault_thread(w->block, w->id * SIM_LANES + lane, o);
    f->address = byte;
    name_line(f, i, line);
    if (!f->other_line) f->other_line = i->line;   /* in another file, too: it is complete */
    snprintf(f->text, sizeof f->text, "reads byte %u of %s before %sthread (%u,%u,%u) %s it%s: %s",
             byte, object, store ? "" : "a copy of ", o[0], o[1], o[2], store ? "writes" : "fills",
             line,
             store   ? "put __syncthreads() between them"
             : async ? "let that thread wait for its copy (__pipeline_wait_prior, "
                       "cp.async.wait_group or wait_all), and put __syncthreads() after the wait"
                     : "wait for the phase of the copy's mbarrier first (mbarrier.try_wait)");
    return;
  }
}

void tell_race(struct warp *w, const struct sim_inst *i, unsigned lane, enum access_kind kind,
               struct earlier other, bool other_writes, uint32_t byte)
{
  bool engine = other.thread / SIM_LANES == SHADOW_ENGINE;
  bool across = engine || other.thread / SIM_LANES != w->id;
  char object[64] = "", line[32];
  name_of(w, &byte, object);
  if (kind == ACCESS_STORE && !engine) complete_unwritten(w, i, lane, w->block, other, object, byte);
  struct sim_fault *f = fault_ranked(w, i, lane, SIM_FAULT_RACE, across ? RANK_BLOCK : RANK_WARP);
  if (!f) return;
  uint32_t *t = f->thread, *o = f->other_thread;
  memcpy(f->object, object, sizeof object);
  f->address = byte;
  f->width = i->width;
  f->other_line = 0;
  name_line(f, other.inst, line);
  if (engine) {
    snprintf(f->text, sizeof f->text,
             "thread (%u,%u,%u) %s byte %u of %s, which a bulk copy filled, and this thread has not "
             "waited for it: each thread waits for the phase of the copy's mbarrier "
             "(mbarrier.try_wait) before it touches the data", t[0], t[1], t[2], does(kind), byte,
             f->object);
    return;
  }
  fault_thread(w->block, other.thread, o);
  snprintf(f->text, sizeof f->text,
           "thread (%u,%u,%u) %s byte %u of %s, which thread (%u,%u,%u) %s%s, and nothing orders the "
           "two%s", t[0], t[1], t[2], does(kind), byte, f->object, o[0], o[1], o[2],
           other_writes ? "wrote" : "read", line,
           remedy(w, i, lane, kind, other, other_writes));
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
  struct sim_fault *f = fault_ranked(w, i, lane, SIM_FAULT_RACE, RANK_CLUSTER);
  if (!f) return;
  uint32_t *t = f->thread, *o = f->other_thread;
  char line[32];
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  f->other_line = 0;
  name_line(f, by.inst, line);
  if (by.inst) fault_thread(b, by.thread, o);
  snprintf(f->text, sizeof f->text,
           "thread (%u,%u,%u) %s byte %u of %s in block %u of the cluster, which a thread of that block "
           "%s%s, and no barrier of the cluster orders the two: put cluster.sync() between them", t[0],
           t[1], t[2], does(kind), byte, f->object, b->rank, written ? "wrote" : "read", line);
}

void tell_unfenced(struct warp *w, const struct sim_inst *i, unsigned lane, struct earlier by,
                   uint32_t byte)
{
  struct sim_fault *f = fault_note(w, i, lane, SIM_FAULT_RACE, false, "fence");
  if (!f) return;
  uint32_t *o = f->other_thread;
  char line[32];
  name_of(w, &byte, f->object);
  f->address = byte;
  f->width = i->width;
  name_line(f, by.inst, line);
  fault_thread(w->block, by.thread, o);
  snprintf(f->text, sizeof f->text,
           "a bulk copy takes byte %u of %s, which thread (%u,%u,%u) wrote%s, out of shared memory, and "
           "no fence makes such writes visible to copies: put fence.proxy.async after the writes, "
           "before the barrier", byte, f->object, o[0], o[1], o[2], line);
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
           "instruction: which one wins is undefined. Let one thread do it, or use an atomic",
           o[0], o[1], o[2], t[0], t[1], t[2], byte, f->object);
}
