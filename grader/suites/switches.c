/* The rule of chapter 02 with switches: see switches.h. */
#include "suites/switches.h"

static bool active(const struct access *a, uint32_t lane, struct switches s)
{
  return s.all_active || (a->mask >> lane & 1);
}

static struct phase serve(const struct access *a, uint32_t first, uint32_t lanes,
                          struct switches s)
{
  uint64_t seen[MODEL_LANES * 4];
  uint32_t nseen = 0, in_bank[MODEL_BANKS] = {0};
  uint32_t words = a->width < 8 || s.elements || s.first_word ? 1 : a->width / 4;
  struct phase p = {.first = first, .lanes = lanes};
  for (uint32_t t = first; t < first + lanes; t++) {
    if (!active(a, t, s) && !s.all_counted) continue;
    for (uint32_t k = 0; k < words; k++) {
      uint64_t word = a->addr[t] / (s.elements ? a->width : 4) + k;
      bool known = false;
      for (uint32_t i = 0; i < nseen && !s.lanes; i++) known |= seen[i] == word;
      if (known) continue;
      seen[nseen++] = word;
      p.total++;
      if (++in_bank[word % 32] > p.most) {
        p.most = in_bank[word % 32];
        p.bank = word % 32;
      }
    }
  }
  return p;
}

static bool agree(const struct access *a, uint32_t first, uint32_t lanes, uint32_t distance,
                  struct switches s)
{
  for (uint32_t t = first; t < first + lanes; t++) {
    if (!active(a, t, s)) continue;
    if (!active(a, t ^ distance, s)) {
      if (s.awake_partners) return false;
    } else if (a->addr[t] != a->addr[t ^ distance]) {
      return false;
    }
  }
  return true;
}

bool switches_merge(const struct access *a, uint32_t first, uint32_t lanes, struct switches s)
{
  if (a->width < 8 || s.merge_never || (a->op == MODEL_STORE && !s.merge_stores)) return false;
  return (!s.merge_two_only && agree(a, first, lanes, 1, s)) ||
         (!s.merge_one_only && agree(a, first, lanes, 2, s));
}

uint32_t switches_cost(const struct access *a, struct switches s, struct phase *phases,
                       int *nphases)
{
  uint32_t lanes = a->width < 8 || s.one_phase ? 32 : 128 / a->width, sum = 0, most = 0;
  if (lanes < 32 && !s.merge_by_phase && switches_merge(a, 0, 32, s)) lanes *= 2;
  if (nphases) *nphases = 0;
  for (uint32_t first = 0; first < 32;) {
    uint32_t n = lanes;
    if (s.merge_by_phase && lanes < 32 && first % (2 * lanes) == 0 &&
        switches_merge(a, first, 2 * lanes, s))
      n = 2 * lanes;
    struct phase p = serve(a, first, n, s);
    if (nphases) phases[(*nphases)++] = p;
    uint32_t passes = s.all_banks ? p.total : p.most;
    sum += passes;
    if (passes > most) most = passes;
    first += n;
  }
  return s.most_phase ? most : sum;
}
