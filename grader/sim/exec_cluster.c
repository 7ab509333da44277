/* Clusters.  A block is its own cluster: addresses map to themselves, ranks are 0, and a barrier of the
 * cluster is one of the block.  What needs more than that is refused by name. */
#include "async.h"
#include "rows.h"

HANDLER(nothing)
{
  (void)w;
  (void)i;
  (void)exec;
}
HANDLER(mapa)
{
  const u32_row *rank = SIM_ROW(u32_row, i->b);
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned l = first_lane(m);
    if (rank[l]) {
      fault_note(w, i, l, SIM_FAULT_BOUNDS, true,
                 "asks for memory of block %u of the cluster; the simulator runs clusters of one block",
                 rank[l]);
      return;
    }
    if (i->small[0] == 64) SIM_ROW(u64_row, i->d)[l] = SIM_ROW(u64_row, i->a)[l];
    else SIM_ROW(u32_row, i->d)[l] = SIM_ROW(u32_row, i->a)[l];
  }
}
HANDLER(getctarank)
{
  u32_row *d = SIM_ROW(u32_row, i->d);
  for (uint32_t m = exec; m; m &= m - 1) d[first_lane(m)] = 0;
}

static void lower_mapa(struct lowering *l)
{
  const struct ptx_operand *o = l->in->operands;
  unsigned bits = lower_type_bits(l, 0);
  l->out->small[0] = (uint8_t)bits;
  l->out->d = lower_dest(l, &o[0], bits);
  l->out->a = lower_source(l, &o[1], bits);
  l->out->b = lower_source(l, &o[2], 32);
  l->out->run = mapa;
}
static void lower_getctarank(struct lowering *l)
{
  l->out->d = lower_dest(l, &l->in->operands[0], 32);
  l->out->run = getctarank;
}
/* Arriving and waiting are one here: the block meets where it waits. */
static void lower_barrier(struct lowering *l)
{
  struct sim_inst *s = l->out;
  s->a = s->b = lower_const(l, SIM_CLUSTER_BARRIER, 32);
  s->small[2] = ptx_has(l->in, PTX_M_ALIGNED);
  s->run = ptx_has(l->in, PTX_M_WAIT) ? exec_bar_sync : nothing;
}
static void lower_nothing(struct lowering *l) { l->out->run = nothing; }

const struct sim_form sim_forms_cluster[] = {
    FORM_ANY(MAPA, lower_mapa),
    FORM_ANY(GETCTARANK, lower_getctarank),
    FORM_ANY(BARRIER_CLUSTER, lower_barrier),
    FORM_ANY(FENCE_MBARRIER_INIT, lower_nothing),
    FORM_ANY(CP_ASYNC_BULK_PREFETCH, lower_nothing),
    {.op = PTX_OPS},
};
