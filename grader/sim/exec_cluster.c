/* Clusters: addresses of another block's shared memory, stores that tell a barrier there, and the
 * cluster's barrier.
 *
 * The barrier counts threads of all blocks of the cluster, phase by phase: each arrives, and then waits
 * for the phase in which it arrived.  A thread that ends counts as arrived. */
#include <stdlib.h>

#include "async.h"
#include "rows.h"

HANDLER(nothing)
{
  (void)w;
  (void)i;
  (void)exec;
}

/* small[1]: generic addresses. */
HANDLER(mapa)
{
  const u32_row *rank = SIM_ROW(u32_row, i->b);
  const uint32_t n = w->block->cluster->n;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint64_t at = i->small[0] == 64 ? SIM_ROW(u64_row, i->a)[l] : SIM_ROW(u32_row, i->a)[l];
    uint64_t window = i->small[1] ? SIM_SHARED_WINDOW : 0;
    if (rank[l] >= n) {
      fault_note(w, i, l, SIM_FAULT_BOUNDS, true,
                 "asks for memory of block %u of the cluster, which has %u%s", rank[l], n,
                 n > 1 ? "" : ". Launch it with a cluster: --cluster X, or __cluster_dims__ in "
                              "the kernel");
      return;
    }
    if (n > 1 && at - window < SIM_WINDOW_BYTES) {   /* of anything else the result means nothing */
      at -= window;
      cluster_block(w, &at);
      at += window + ((uint64_t)(rank[l] + 1) << SIM_CLUSTER_SHIFT);
    }
    if (i->small[0] == 64) SIM_ROW(u64_row, i->d)[l] = at;
    else SIM_ROW(u32_row, i->d)[l] = (uint32_t)at;
  }
}

HANDLER(getctarank)
{
  u32_row *d = SIM_ROW(u32_row, i->d);
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    uint64_t at = i->small[0] == 64 ? SIM_ROW(u64_row, i->a)[l] : SIM_ROW(u32_row, i->a)[l];
    if (i->small[1]) at -= SIM_SHARED_WINDOW;
    d[l] = cluster_block(w, &at)->rank;
  }
}

/* ---- the barrier ------------------------------------------------------------------------------- */

void cluster_check(struct cluster *c)
{
  if (!c->arrivals) return;
  for (uint32_t k = 0; k < c->n; k++)
    for (uint32_t n = 0; n < c->blocks[k].nwarps; n++)
      if (c->blocks[k].warps[n].live & ~c->blocks[k].warps[n].arrived) return;
  c->arrivals = false;
  for (uint32_t k = 0; k < c->n; k++) {
    struct block *b = &c->blocks[k];
    shadow_meet(&b->shadow);
    b->shadow.cluster_start = b->shadow.epoch;
    for (uint32_t n = 0; n < b->nwarps; n++) {
      struct warp *w = &b->warps[n];
      w->arrived = 0;
      for (unsigned g = 0; g < w->ngroups; g++)
        if (w->groups[g].state == GROUP_CLUSTER) w->groups[g].state = GROUP_RUN;
      warp_reschedule(w);
    }
  }
}

/* small[2]: aligned: the warp comes as a whole. */
static bool apart(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  if (!i->small[2] || !(w->live & ~exec)) return false;
  warp_park(w, exec, GROUP_WARP_SYNC, w->pc - 1, i);
  return true;
}

HANDLER(cluster_arrive)
{
  if (apart(w, i, exec)) return;
  if (exec & w->due) {
    fault_note(w, i, first_lane(exec & w->due), SIM_FAULT_BARRIER, true,
               "arrives at the cluster's barrier again, without having waited since: "
               "barrier.cluster.wait (cluster.barrier_wait()) must come between");
    return;
  }
  w->due |= exec;
  w->arrived |= exec;
  w->block->cluster->arrivals = true;
  w->runner->totals.barriers++;
  cluster_check(w->block->cluster);
}

HANDLER(cluster_wait)
{
  if (apart(w, i, exec)) return;
  uint32_t early = exec & ~w->due;
  if (early) {
    fault_note(w, i, first_lane(early), SIM_FAULT_BARRIER, true,
               "waits at the cluster's barrier without having arrived: barrier.cluster.arrive "
               "(cluster.barrier_arrive()) must come before");
    return;
  }
  w->due &= ~exec;
  if (exec & w->arrived) warp_park(w, exec & w->arrived, GROUP_CLUSTER, w->pc, i);
}

/* ---- st.async ------------------------------------------------------------------------------------ */

struct async_store {
  sim_handler *store;
  sim_ref bar;
  bool wide;
  uint64_t add;
};

/* A store of which an mbarrier beside it is told.  It happens at once: the block it goes to can't tell,
 * as it has to wait for the barrier's phase. */
HANDLER(st_async)
{
  const struct async_store *a = i->extra;
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned lane = first_lane(m);
    struct block *b;
    if (!mbarrier_find(w, i, lane, bulk_address(w, a->bar, a->wide, a->add, lane), &b)) return;
  }
  a->store(w, i, exec);
  count_side(w, i, true)->exact = false;
  for (uint32_t m = exec; m && !w->runner->stop; m &= m - 1) {
    unsigned lane = first_lane(m);
    struct block *b;
    struct mbarrier *bar =
        mbarrier_find(w, i, lane, bulk_address(w, a->bar, a->wide, a->add, lane), &b);
    mbarrier_stored(w, b, bar, i->width);
  }
}

static void lower_st_async(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  if (in->space == PTX_GLOBAL || in->noperands < 3) {
    lower_refuse(l, "st.async to global memory is not simulated");
    return;
  }
  struct sim_inst *s = l->out, bar = {0};
  lower_st(l);
  if (s->width > 16) lower_refuse(l, "a store of more than 16 bytes a lane");
  if (l->failed) return;
  struct async_store *a = calloc(1, sizeof *a);
  if (!a) abort();
  s->extra = a;
  l->out = &bar;
  lower_address(l, &in->operands[2]);
  l->out = s;
  *a = (struct async_store){.store = s->run, .bar = bar.a, .add = bar.imm,
                            .wide = bar.flags & SIM_MEM_WIDE_ADDRESS};
  s->run = st_async;
}

/* ---- lowering -------------------------------------------------------------------------------------- */

static void lower_address_of(struct lowering *l, sim_handler *run, unsigned result)
{
  const struct ptx_operand *o = l->in->operands;
  unsigned bits = lower_type_bits(l, 0);
  l->out->small[0] = (uint8_t)bits;
  l->out->small[1] = !ptx_has(l->in, PTX_M_SHARED_CLUSTER);
  l->out->d = lower_dest(l, &o[0], result ? result : bits);
  l->out->a = lower_source(l, &o[1], bits);
  l->out->run = run;
}
static void lower_mapa(struct lowering *l)
{
  lower_address_of(l, mapa, 0);
  l->out->b = lower_source(l, &l->in->operands[2], 32);
}
static void lower_getctarank(struct lowering *l) { lower_address_of(l, getctarank, 32); }
static void lower_barrier(struct lowering *l)
{
  l->out->small[2] = ptx_has(l->in, PTX_M_ALIGNED);
  l->out->run = ptx_has(l->in, PTX_M_WAIT) ? cluster_wait : cluster_arrive;
}
static void lower_nothing(struct lowering *l) { l->out->run = nothing; }

const struct sim_form sim_forms_cluster[] = {
    FORM_ANY(MAPA, lower_mapa),
    FORM_ANY(GETCTARANK, lower_getctarank),
    FORM_ANY(BARRIER_CLUSTER, lower_barrier),
    FORM_ANY(ST_ASYNC, lower_st_async),
    FORM_ANY(FENCE_MBARRIER_INIT, lower_nothing),
    FORM_ANY(CP_ASYNC_BULK_PREFETCH, lower_nothing),
    {.op = PTX_OPS},
};
