/* cp.async: copies from global to shared memory that complete at a wait.
 *
 * The source is read when the instruction runs; the bytes stay with the warp and reach shared memory
 * when their thread waits for them (wait_group, wait_all, or an arrival on an mbarrier), in order of
 * issue.  That is the latest moment the hardware allows, so a missing wait always shows: memory
 * still has its old contents, and an access meanwhile is a fault that says whose copy it met.  For
 * the race check a copy writes from its issue on: whoever still reads the old contents then, with
 * no barrier between, races with it.  A copy that is never waited for ends with the block.
 *
 * An instruction is two accesses: a shared one (this sim_inst) and a global load (another
 * sim_inst in `extra`, with a site of its own). */
#include <stdlib.h>
#include <string.h>

#include "rows.h"

enum { ROW = 16, MAX_PENDING = 1 << 16 };
enum length { LENGTH_WHOLE, LENGTH_SOURCE, LENGTH_IGNORE };   /* small[1]: what row b is */

/* Of 4, 8 or 16 bytes. */
static inline void copy(uint8_t *to, const uint8_t *from, uint32_t width)
{
  if (width == 16) memcpy(to, from, 16);
  else if (width == 8) memcpy(to, from, 8);
  else memcpy(to, from, 4);
}

static bool checks(const struct warp *w) { return !w->runner->sim->options.no_checks; }

/* ---- what is pending ------------------------------------------------------------------------ */

static struct async_copy *push(struct warp *w)
{
  struct async *q = &w->async;
  if (q->n == q->room) {
    size_t room = q->room ? 2 * q->room : 128;
    struct async_copy *more = realloc(q->copies, room * sizeof *more);
    if (!more) abort();
    q->copies = more;
    q->room = room;
  }
  return &q->copies[q->n++];
}

static void land(struct warp *w, const struct async_copy *c)
{
  copy(w->block->shared + c->at, c->data, c->bytes);
  if (checks(w)) shadow_landed(w->block, c->at, c->bytes, w->id * SIM_LANES + c->lane);
}

void async_land(struct warp *w, uint32_t lanes, uint32_t keep, bool open)
{
  struct async *q = &w->async;
  size_t kept = 0;
  warp_charge(w, q->n * sizeof *q->copies);
  for (size_t k = 0; k < q->n; k++) {
    const struct async_copy *c = &q->copies[k];
    bool due = (lanes >> c->lane & 1) && (open || (uint64_t)c->group + keep < q->group[c->lane]);
    if (!due) {
      q->copies[kept++] = *c;
      continue;
    }
    land(w, c);
  }
  q->n = kept;
}

void async_land_before(struct warp *w, unsigned lane, uint32_t before)
{
  struct async *q = &w->async;
  size_t kept = 0;
  warp_charge(w, q->n * sizeof *q->copies);
  for (size_t k = 0; k < q->n; k++) {
    const struct async_copy *c = &q->copies[k];
    if (c->lane == lane && c->serial < before) land(w, c);
    else q->copies[kept++] = *c;
  }
  q->n = kept;
}

void async_start(struct warp *w)
{
  struct async *q = &w->async;
  if (checks(w))
    for (size_t k = 0; k < q->n; k++) shadow_forget(w->block, q->copies[k].at, q->copies[k].bytes);
  q->n = 0;
  q->serial = 0;
  memset(q->group, 0, sizeof q->group);
}

/* ---- the source ------------------------------------------------------------------------------- */

/* Bytes each lane reads.  False after a fault. */
static bool lengths(struct warp *w, const struct sim_inst *i, uint32_t exec, uint32_t bytes[])
{
  uint32_t ignored = 0;
  if (i->small[1] == LENGTH_IGNORE) ignored = *SIM_ROW(u32_row, i->b) ^ -(uint32_t)i->small[2];
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    bytes[l] = i->small[1] == LENGTH_SOURCE ? SIM_ROW(u32_row, i->b)[l]
               : ignored >> l & 1           ? 0
                                            : i->width;
    if (bytes[l] > i->width) {
      fault_note(w, i, l, SIM_FAULT_BOUNDS, true,
                 "a cp.async of %u bytes is told to read %u of them", i->width, bytes[l]);
      return false;
    }
  }
  return true;
}

static void source_addresses(struct warp *w, const struct sim_inst *src, uint64_t from[])
{
  const u64_row *a = SIM_ROW(u64_row, src->a);
  for (int l = 0; l < SIM_LANES; l++) from[l] = a[l] + src->imm;
}

/* Lanes that all read `width` bytes. */
static bool read_whole(struct warp *w, const struct sim_inst *src, uint32_t lanes, bool fresh,
                       uint8_t *data)
{
  struct span s;
  while (lanes) {
    uint32_t now = access_span(w, src, lanes, fresh, ACCESS_LOAD, &s);
    if (!now) return false;
    lanes &= ~now;
    fresh = false;
    for (; now; now &= now - 1) {
      unsigned l = first_lane(now);
      copy(data + l * ROW, s.base + s.rel[l], src->width);
    }
  }
  return true;
}

static bool read_part(struct warp *w, const struct sim_inst *src, unsigned l, uint64_t at,
                      uint32_t bytes, uint8_t *data)
{
  const struct sim_object *o = memory_find(w->runner->sim, at);
  if (at % src->width || !o || bytes > o->size - (at - o->base)) {
    struct span s;   /* the whole width does not fit either: this says what is wrong */
    access_span(w, src, 1u << l, false, ACCESS_LOAD, &s);
    return false;
  }
  const struct pattern here = {.mask = 1u << l};
  if (w->runner->parallel && !parallel_access(w, src, o, at, &here, bytes, ACCESS_LOAD))
    return false;
  memcpy(data + l * ROW, o->host + (at - o->base), bytes);
  return true;
}

/* One request of lanes that read different numbers of bytes.  An aligned copy lies in one sector. */
static void count_source(struct warp *w, const struct sim_inst *src, uint32_t lanes,
                         const uint64_t from[])
{
  struct access a = {.op = MODEL_GLOBAL_LOAD, .width = src->width, .mask = lanes};
  int32_t rel[SIM_LANES] = {0};
  uint64_t first = from[first_lane(lanes)];
  for (uint32_t m = lanes; m; m &= m - 1) {
    unsigned l = first_lane(m);
    a.addr[l] = from[l];
    rel[l] = (int32_t)(from[l] - first);
  }
  struct model_cost cost = model_cost(&a);
  count_add(w, src, count_side(w, src, false), lanes, first, rel, &cost, false);
}

/* ---- the copy ---------------------------------------------------------------------------------- */

static void count_shared(struct warp *w, const struct sim_inst *i, uint32_t exec,
                         const uint32_t at[], const uint64_t from[], bool settled)
{
  struct access a = {.op = MODEL_CP_ASYNC, .width = i->width, .mask = exec};
  int32_t rel[SIM_LANES] = {0};
  uint32_t first = at[first_lane(exec)] + SIM_SHARED_BASE;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    a.addr[l] = at[l] + SIM_SHARED_BASE;
    rel[l] = (int32_t)((uint32_t)a.addr[l] - first);
  }
  struct model_cost cost = model_cost_async(&a, from);
  struct site_side *side = count_side(w, i, true);
  side->exact &= cost.exact && (settled || i->width == 16);
  count_add(w, i, side, exec, first, rel, &cost, true);
}

/* The data are put into the row `_` receives: shadow_access compares lanes' values there. */
HANDLER(cp_async)
{
  const struct sim_inst *src = i->extra;
  uint8_t *data = SIM_ROW(uint8_t, i->more[0]);
  uint32_t bytes[SIM_LANES], at[SIM_LANES], whole = 0, part = 0;
  uint64_t from[SIM_LANES];
  if (!lengths(w, i, exec, bytes)) return;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    if (bytes[l] == i->width) whole |= 1u << l;
    else if (bytes[l]) part |= 1u << l;
  }
  source_addresses(w, src, from);
  memset(data, 0, SIM_LANES * ROW);
  if (!read_whole(w, src, whole, !part, data)) return;
  for (uint32_t m = part; m; m &= m - 1) {
    unsigned l = first_lane(m);
    if (!read_part(w, src, l, from[l], bytes[l], data)) return;
  }
  if (part) count_source(w, src, whole | part, from);

  struct span s;
  for (uint32_t left = exec; left;) {
    uint32_t now = access_span(w, i, left, false, ACCESS_STORE, &s);
    if (!now) return;
    left &= ~now;
    if (s.base != w->block->shared + (s.offset - SIM_SHARED_BASE)) {
      fault_note(w, i, first_lane(now), SIM_FAULT_BOUNDS, true,
                 "cp.async copies into shared memory of another block of the cluster: it can fill its own "
                 "block's only");
      return;
    }
    for (; now; now &= now - 1) {
      unsigned l = first_lane(now);
      at[l] = s.offset - SIM_SHARED_BASE + (uint32_t)s.rel[l];
    }
  }
  count_shared(w, i, exec, at, from, whole == exec);
  struct async *q = &w->async;
  if (q->n + SIM_LANES > MAX_PENDING) {
    fault_note(w, i, first_lane(exec), SIM_FAULT_MEMORY, true,
               "more copies are pending than shared memory has words: wait for them in the loop "
               "(cp.async.wait_group)");
    return;
  }
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    struct async_copy *c = push(w);
    c->at = at[l];
    c->group = q->group[l];
    c->serial = q->serial++;
    c->lane = (uint8_t)l;
    c->bytes = i->width;
    copy(c->data, data + l * ROW, i->width);
    if (checks(w)) shadow_pending(w->block, at[l], i->width, w->id * SIM_LANES + l, i);
  }
}

HANDLER(commit_group)
{
  (void)i;
  for (uint32_t m = exec; m; m &= m - 1) w->async.group[first_lane(m)]++;
}
HANDLER(wait_group) { async_land(w, exec, (uint32_t)i->imm, false); }
HANDLER(wait_all)
{
  (void)i;
  async_land(w, exec, 0, true);
}

/* ---- lowering ------------------------------------------------------------------------------- */

/* After the size: a source size or an ignore predicate, then a cache policy, each optional. */
static void lower_tail(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  unsigned n = in->noperands;
  if (ptx_has(in, PTX_M_L2_CACHE_HINT) && n > 3) n--;
  if (n <= 3) return;
  const struct ptx_operand *o = &in->operands[3];
  if (n > 4) {
    lower_refuse(l, "a source size and an ignore predicate together");
  } else if (o->kind == PTX_O_REG && lower_bits(l, o) == 1) {
    uint32_t flip;
    s->b = lower_pred(l, o, &flip);
    s->small[1] = LENGTH_IGNORE;
    s->small[2] = flip != 0;
  } else {
    s->b = lower_source(l, o, 32);
    s->small[1] = LENGTH_SOURCE;
  }
}

static void lower_source_half(struct lowering *l, uint32_t bytes)
{
  struct sim_inst *s = l->out, *src = calloc(1, sizeof *src);
  if (!src) abort();
  s->extra = src;
  *src = (struct sim_inst){.ptx = l->in, .func = l->func, .file = s->file,
                           .line = s->line, .space = PTX_GLOBAL, .elements = 1,
                           .width = (uint8_t)bytes, .op = MODEL_LOAD,
                           .issue = {.width = bytes}};
  l->out = src;
  lower_address(l, &l->in->operands[1]);
  src->site = lower_site(l);
  l->out = s;
  if (!(src->flags & SIM_MEM_WIDE_ADDRESS))
    lower_refuse(l, "a global address must be in a register of 64 bits");
}

static void lower_cp_async(struct lowering *l)
{
  static const uint16_t allowed[] = {M(CA), M(CG), M(SHARED), M(SHARED_CTA), M(GLOBAL),
                                     M(L2_CACHE_HINT), M(L2_64B), M(L2_128B), M(L2_256B), 0};
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  uint64_t bytes = in->operands[2].imm;
  if (!lower_only(l, allowed)) return;
  if (in->operands[2].kind != PTX_O_IMM || (bytes != 4 && bytes != 8 && bytes != 16)) {
    lower_refuse(l, "a copy is of 4, 8 or 16 bytes");
    return;
  }
  if (ptx_has(in, PTX_M_CG) && bytes != 16) {
    lower_refuse(l, "with .cg a copy is of 16 bytes; .ca takes 4 and 8 as well");
    return;
  }
  s->space = PTX_SHARED;
  s->width = (uint8_t)bytes;
  s->op = MODEL_CP_ASYNC;
  s->small[0] = ROW;   /* bytes of a lane in the row of data */
  lower_address(l, &in->operands[0]);
  s->site = lower_site(l);
  lower_tail(l);
  if (l->failed) return;
  lower_source_half(l, (uint32_t)bytes);
  s->run = cp_async;
}

static void lower_commit(struct lowering *l) { l->out->run = commit_group; }
static void lower_wait_all(struct lowering *l) { l->out->run = wait_all; }
static void lower_wait_group(struct lowering *l)
{
  const struct ptx_operand *n = &l->in->operands[0];
  if (n->kind != PTX_O_IMM) lower_refuse(l, "the number of groups must be a constant");
  l->out->imm = n->imm > 0x7fffffff ? 0x7fffffff : n->imm;
  l->out->run = wait_group;
}

const struct sim_form sim_forms_async[] = {
    FORM_ANY(CP_ASYNC, lower_cp_async),
    FORM_ANY(CP_ASYNC_COMMIT_GROUP, lower_commit),
    FORM_ANY(CP_ASYNC_WAIT_GROUP, lower_wait_group),
    FORM_ANY(CP_ASYNC_WAIT_ALL, lower_wait_all),
    {.op = PTX_OPS},
};
