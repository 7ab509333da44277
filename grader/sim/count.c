/* The price of an access, by instruction.
 *
 * model/ says what an access costs; here only the asking is made cheap.  A site whose lanes lie as
 * they did last time, moved by a constant, pays the same: banks and phases look at differences
 * only, and at the first address mod 4; sectors at the first address mod 32.  For a new pattern the
 * two common answers are found without the model: all lanes on 32 neighbouring words, or each lane
 * in a bank of its own.  A pattern met again is a number that grows; what that comes to is added to
 * the instruction's counts when the pattern changes, or at the end. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"

struct model_cost count_price(enum model_op op, uint32_t width, uint32_t mask, uint32_t first,
                              const int32_t *rel)
{
  if ((op == MODEL_LOAD || op == MODEL_STORE) && width <= 4) {
    uint32_t banks = 0, least = UINT32_MAX, most = 0;
    uint32_t word[SIM_LANES], bank[SIM_LANES];
    LANE_LOOP {
      uint32_t on = mask >> l & 1;
      word[l] = ((first + (uint32_t)rel[l]) >> 2) ;
      bank[l] = on << (word[l] & 31);
    }
    for (int l = 0; l < SIM_LANES; l++) {
      uint32_t on = -(mask >> l & 1), high = word[l] | ~on, low = word[l] & on;
      banks |= bank[l];
      least = high < least ? high : least;
      most = low > most ? low : most;
    }
    if (most - least < 32 || __builtin_popcount(banks) == __builtin_popcount(mask))
      return (struct model_cost){.wavefronts = 1, .ideal = 1, .phases = 1, .exact = true,
                                 .rule = MODEL_RULE_WORDS};
  }
  if ((op == MODEL_GLOBAL_LOAD || op == MODEL_GLOBAL_STORE) && (mask & (mask + 1)) == 0) {
    /* Lanes from 0 on, side by side. */
    uint32_t differ = 0;
    LANE_LOOP differ |= ((uint32_t)rel[l] ^ (uint32_t)l * width) & -(mask >> l & 1);
    if (!differ) {
      uint32_t bytes = (uint32_t)__builtin_popcount(mask) * width;
      uint32_t sectors = (first % 32 + bytes + 31) / 32, least = (bytes + 31) / 32;
      return (struct model_cost){.sectors = sectors, .ideal = least, .phases = 1, .exact = true,
                                 .rule = MODEL_RULE_SECTORS};
    }
  }
  struct access a = {.op = op, .width = width, .mask = mask};
  for (int l = 0; l < SIM_LANES; l++)
    a.addr[l] = mask >> l & 1 ? (uint64_t)first + 0x100000000ull + (uint64_t)(int64_t)rel[l] : 0;
  return model_cost(&a);
}

static void keep_worst(struct warp *w, const struct sim_inst *i, struct site_side *side,
                       uint32_t cost, uint32_t mask, uint64_t first, const int32_t *rel)
{
  side->worst_cost = cost;
  side->worst_block = w->block->linear;
  side->worst_warp = w->id;
  side->worst.op = side->op;
  side->worst.width = side->width;
  side->worst.mask = mask;
  side->worst.line = i->line;
  for (int l = 0; l < SIM_LANES; l++)
    side->worst.addr[l] = mask >> l & 1 ? first + (uint64_t)(int64_t)rel[l] : 0;
}

/* Of requests that cost the same the first warp's is kept, where it is the same block: warps take turns
 * in an order that tells a reader nothing. */
static bool is_worse(const struct warp *w, const struct site_side *side, uint32_t cost)
{
  return cost > side->worst_cost || (cost == side->worst_cost && cost && w->id < side->worst_warp &&
                                     w->block->linear == side->worst_block);
}

static struct site_side *new_side(const struct sim_inst *i, bool shared)
{
  struct site_side *side = calloc(1, sizeof *side);
  if (!side) abort();
  side->exact = true;
  side->op = shared ? (enum model_op)i->op
                    : i->op == MODEL_LOAD ? MODEL_GLOBAL_LOAD : MODEL_GLOBAL_STORE;
  side->width = shared ? i->issue.width : i->width;
  return side;
}

static struct site_side *side_of(struct site *s, const struct sim_inst *i, bool shared)
{
  if (!s->sides[!shared]) s->sides[!shared] = new_side(i, shared);
  return s->sides[!shared];
}

struct site_side *count_side(struct warp *w, const struct sim_inst *i, bool shared)
{
  return side_of(&w->runner->sites[i->site], i, shared);
}

static void add_times(struct site_side *side, uint64_t times, uint32_t mask,
                      const struct model_cost *c)
{
  side->requests += times;
  side->wavefronts += times * c->wavefronts;
  side->ideal += times * c->ideal;
  side->sectors += times * c->sectors;
  side->bytes += times * (unsigned)__builtin_popcount(mask) * side->width;
}

void count_add(struct warp *w, const struct sim_inst *i, struct site_side *side, uint32_t mask,
               uint64_t first, const int32_t *rel, const struct model_cost *c, bool shared)
{
  add_times(side, 1, mask, c);
  uint32_t cost = shared ? c->wavefronts : c->sectors;
  if (is_worse(w, side, cost)) keep_worst(w, i, side, cost, mask, first, rel);
}

/* An atomic at an address that all lanes share is carried out by one of them. */
static uint32_t lanes_counted(const struct sim_inst *i, uint32_t mask, bool shared)
{
  bool one = i->issue.lanes == SIM_LANES_ONE ||
             (i->issue.lanes == SIM_LANES_ONE_IF_ALL && mask == SIM_FULL);
  return shared && one ? mask & -mask : mask;
}

void count_fold(const struct sim_inst *i, struct site *s, struct pattern *p)
{
  if (!p->times) return;
  bool shared = p->priced == PRICED_SHARED;
  uint32_t mask = lanes_counted(i, p->mask, shared);
  struct site_side *side = s->sides[!shared];
  if (side && !p->silent) add_times(side, p->times, mask, &p->cost);
  if (side && !p->silent && shared && i->issue.second) add_times(side, p->times, mask, &p->second);
  p->times = 0;
}

void count_settle(struct runner *t)
{
  for (uint32_t k = 0; k < t->sim->nsites; k++)
    for (int way = 0; way < SITE_WAYS; way++)
      if (t->sites[k].patterns[way])
        count_fold(t->sim->sites[k], &t->sites[k], t->sites[k].patterns[way]);
}

void count_new(struct warp *w, const struct sim_inst *i, struct site *s, struct pattern *p,
               uint64_t first, bool shared)
{
  count_fold(i, s, p);
  uint64_t at = first + (shared ? (uint64_t)(int64_t)i->issue.delta : 0);
  p->low = (uint32_t)at & (shared ? 3 : 31);
  p->priced = shared ? PRICED_SHARED : PRICED_GLOBAL;
  p->silent = shared && !i->issue.width;
  p->times = 1;
  if (p->silent) return;
  uint32_t mask = lanes_counted(i, p->mask, shared);
  struct site_side *side = side_of(s, i, shared);
  p->cost = count_price(side->op, side->width, mask, (uint32_t)at, p->rel);
  side->exact &= p->cost.exact && !(i->flags & (SIM_MEM_UNSURE | SIM_MEM_POLL));
  uint32_t cost = shared ? p->cost.wavefronts : p->cost.sectors;
  if (is_worse(w, side, cost)) keep_worst(w, i, side, cost, mask, at, p->rel);
  if (!shared || !i->issue.second) return;
  at = first + (uint64_t)(int64_t)i->issue.second_delta;
  p->second = count_price(side->op, i->issue.second, mask, (uint32_t)at, p->rel);
  cost = p->second.wavefronts;
  if (is_worse(w, side, cost)) keep_worst(w, i, side, cost, mask, at, p->rel);
}
