/* The price of an access, by instruction.
 *
 * model/ says what an access costs; here only the asking is made cheap.  A site whose lanes lie as
 * they did last time, moved by a constant, pays the same: banks and phases look at differences
 * only, and at the first address mod 4; sectors at the first address mod 32.  For a new pattern the
 * two common answers are found without the model: all lanes on 32 neighbouring words, or each lane
 * in a bank of its own. */
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

struct site_side *count_side(struct warp *w, const struct sim_inst *i, bool shared)
{
  struct site *s = &w->runner->sites[i->site];
  if (!s->sides[!shared]) s->sides[!shared] = new_side(i, shared);
  return s->sides[!shared];
}

void count_add(struct warp *w, const struct sim_inst *i, struct site_side *side, uint32_t mask,
               uint64_t first, const int32_t *rel, const struct model_cost *c, bool shared)
{
  side->requests++;
  side->wavefronts += c->wavefronts;
  side->ideal += c->ideal;
  side->sectors += c->sectors;
  side->bytes += (uint64_t)__builtin_popcount(mask) * side->width;
  uint32_t cost = shared ? c->wavefronts : c->sectors;
  if (cost > side->worst_cost) keep_worst(w, i, side, cost, mask, first, rel);
}

void count_access(struct warp *w, const struct sim_inst *i, struct site *s, struct pattern *p,
                  uint64_t first, bool shared)
{
  uint32_t mask = p->mask;
  uint64_t written = first;
  if (shared) {
    if (!i->issue.width) return;
    first += (uint64_t)(int64_t)i->issue.delta;
    /* An atomic at an address that all lanes share is carried out by one of them. */
    if (i->issue.lanes == SIM_LANES_ONE || (i->issue.lanes == SIM_LANES_ONE_IF_ALL && mask == ~0u))
      mask &= -mask;
  }
  struct site_side *side = s->sides[!shared];
  if (!side) side = s->sides[!shared] = new_side(i, shared);
  uint32_t low = (uint32_t)first & (shared ? 3 : 31);   /* of its word, of its sector */
  if (!p->priced || p->low != low) {
    p->cost = count_price(side->op, side->width, mask, (uint32_t)first, p->rel);
    p->low = low;
    p->priced = true;
    side->exact &= p->cost.exact && !(i->flags & SIM_MEM_UNSURE);
  }
  count_add(w, i, side, mask, first, p->rel, &p->cost, shared);
  if (shared && i->issue.second) {
    first = written + (uint64_t)(int64_t)i->issue.second_delta;
    struct model_cost c = count_price(side->op, i->issue.second, mask, (uint32_t)first, p->rel);
    count_add(w, i, side, mask, first, p->rel, &c, shared);
  }
}
