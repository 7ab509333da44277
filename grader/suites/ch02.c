/* Chapter 02: the wavefronts of one warp access. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "suites/quiz.h"
#include "suites/recorded.h"
#include "suites/switches.h"

enum { MOST = 96, RECORDED = 64, ALL = -1 };

struct ask {
  struct access access;
  char id[16];       /* of the recorded row, else empty */
  uint32_t recorded; /* its wavefronts */
};

/* ---- the quiz -------------------------------------------------------------------------- */

static int64_t want(const void *q)
{
  const struct ask *k = q;
  return *k->id ? k->recorded : model_cost(&k->access).wavefronts;
}

#define IDEA(name, ...)                                                                        \
  static int64_t name(const void *q)                                                           \
  {                                                                                            \
    return switches_cost(&((const struct ask *)q)->access, (struct switches){__VA_ARGS__},     \
                         NULL, NULL);                                                          \
  }
IDEA(by_lanes, .lanes = true)
IDEA(no_mask, .all_active = true)
IDEA(mask_in_merge, .all_counted = true)
IDEA(summed_banks, .all_banks = true)
IDEA(by_elements, .elements = true, .merge_never = true)
IDEA(by_elements_joined, .elements = true)
IDEA(first_words, .first_word = true, .merge_never = true)
IDEA(first_words_at_once, .first_word = true, .one_phase = true)
IDEA(at_once, .one_phase = true)
IDEA(largest_phase, .most_phase = true, .merge_never = true)
IDEA(largest_joined_phase, .most_phase = true)
IDEA(stores_join, .merge_stores = true)
IDEA(never_joined, .merge_never = true)
IDEA(never_joined_no_mask, .merge_never = true, .all_active = true)
IDEA(joined_apart, .merge_by_phase = true)
IDEA(only_one, .merge_one_only = true)
IDEA(only_two, .merge_two_only = true)
IDEA(partners_awake, .awake_partners = true)
#undef IDEA

/* Where two ideas yield the same wrong answers, the one further up is named. */
static const struct idea ideas[] = {
    {never_joined,
     "leave out the pair merge: the advanced section tells when phases of loads join"},
    {stores_join, "let the phases of stores join: only loads merge"},
    {joined_apart,
     "decide on the merge phase by phase: the test runs over all active lanes of the warp"},
    {only_one, "try only the partner lane ^ 1: lane ^ 2 will do as well"},
    {only_two, "try only the partner lane ^ 2: lane ^ 1 will do as well"},
    {partners_awake, "demand that every partner is active: an inactive partner is no obstacle"},
    {no_mask, "ignore the mask: inactive lanes ask for nothing"},
    {mask_in_merge, "ignore the mask: inactive lanes ask for nothing"},
    {never_joined_no_mask, "ignore the mask: inactive lanes ask for nothing"},
    {by_lanes, "count lanes: lanes on one word are served together, so count different words"},
    {summed_banks, "add the banks up: they work side by side, so the fullest one decides"},
    {by_elements,
     "take the bank from the element's index: divide the byte address by 4, whatever the type"},
    {by_elements_joined,
     "take the bank from the element's index: divide the byte address by 4, whatever the type"},
    {at_once, "serve all 32 lanes at once: 8 bytes a lane go in 2 phases, 16 in 4"},
    {largest_phase, "take the largest phase: phases follow one another, so add them up"},
    {largest_joined_phase, "take the largest phase: phases follow one another, so add them up"},
    {first_words, "count one word a lane: 8 bytes are 2 words and 16 are 4, in as many banks"},
    {first_words_at_once,
     "treat every width as 4 bytes: a wide lane has 2 or 4 words, in phases"},
    {0}};

static void call(const void *q, char *text, size_t size)
{
  const struct ask *k = q;
  snprintf(text, size, "wavefronts(%s, %" PRIu32 ", 0x%08" PRIx32 ", address)%s%s",
           k->access.op == MODEL_STORE ? "STORE" : "LOAD", k->access.width, k->access.mask,
           *k->id ? " of hardware row " : "", k->id);
}

static uint32_t lowest(uint32_t mask)
{
  return mask ? (uint32_t)__builtin_ctz(mask) : 0;
}

/* The addresses as a formula where they have one, else in full. */
static void show_addresses(struct prose *p, const struct access *a)
{
  uint32_t t0 = lowest(a->mask), t1 = lowest(a->mask & (a->mask - 1));
  if (a->mask & (a->mask - 1)) {
    int64_t step = ((int64_t)a->addr[t1] - (int64_t)a->addr[t0]) / (int64_t)(t1 - t0);
    int64_t base = (int64_t)a->addr[t0] - step * t0;
    bool straight = true;
    for (uint32_t t = 0; t < 32; t++)
      if (a->mask >> t & 1) straight &= (int64_t)a->addr[t] == base + step * t;
    if (straight) {
      prose_add(p, "  %s%slane%s at byte", step ? "" : "every ",
                a->mask == UINT32_MAX ? "" : "active ", step ? " t is" : " is");
      if (step) prose_add(p, " %" PRId64 " * t", step);
      if (step && base) prose_add(p, " %c", base < 0 ? '-' : '+');
      if (base || !step) prose_add(p, " %" PRId64, base < 0 ? -base : base);
      return;
    }
  }
  prose_add(p, "  addresses in bytes, - where inactive:");
  for (uint32_t t = 0; t < 32; t++) {
    if (t % 8 == 0) prose_add(p, "\n    lanes %2" PRIu32 "-%-2" PRIu32 ":", t, t + 7);
    if (a->mask >> t & 1)
      prose_add(p, " %6" PRIu64, a->addr[t]);
    else
      prose_add(p, "      -");
  }
}

/* Which words the fullest bank of a phase is asked for, and by which lane first. */
static void show_phase(struct prose *p, const struct access *a, struct phase f)
{
  uint32_t words = a->width < 8 ? 1 : a->width / 4, shown = 0;
  uint64_t seen[MODEL_LANES];
  prose_add(p, "\n    lanes %2" PRIu32 "-%-2" PRIu32 ": ", f.first, f.first + f.lanes - 1);
  if (!f.most) {
    prose_add(p, "none active, 0");
    return;
  }
  prose_add(p, "bank %" PRIu32 " is asked for %" PRIu32 " word%s:", f.bank, f.most,
            f.most == 1 ? "" : "s");
  for (uint32_t t = f.first; t < f.first + f.lanes; t++)
    for (uint32_t k = 0; k < words && (a->mask >> t & 1); k++) {
      uint64_t word = a->addr[t] / 4 + k;
      bool known = word % 32 != f.bank;
      for (uint32_t i = 0; i < shown && !known; i++) known = seen[i] == word;
      if (known) continue;
      seen[shown++] = word;
      if (shown <= 8) prose_add(p, " %" PRIu64 " (lane %" PRIu32 ")", word, t);
      if (shown == 9) prose_add(p, " ...");
    }
}

/* The first active lane that disagrees with its partner, 32 when there is none. */
static uint32_t disagrees(const struct access *a, uint32_t distance)
{
  uint32_t t = 0;
  while (t < 32 && (!(a->mask >> t & 1) || !(a->mask >> (t ^ distance) & 1) ||
                    a->addr[t] == a->addr[t ^ distance]))
    t++;
  return t;
}

static void show_command(struct prose *p, const struct access *a)
{
  prose_add(p, "\n  see it: build/banks wavefronts --op %s --width %" PRIu32,
            a->op == MODEL_STORE ? "store" : "load", a->width);
  if (a->mask != UINT32_MAX) prose_add(p, " --mask %08" PRIx32, a->mask);
  for (uint32_t t = 0; t < 32; t++)
    prose_add(p, " %" PRIu64, a->mask >> t & 1 ? a->addr[t] : 0);
}

/* Why the phases of a wide access join, or why not. */
static void show_merge(struct prose *p, const struct access *a)
{
  if (a->width < 8) return;
  uint32_t one = disagrees(a, 1), two = disagrees(a, 2);
  if (a->op == MODEL_STORE)
    prose_add(p, "\n  phases not joined: it is a store");
  else if (one < 32 && two < 32)
    prose_add(p,
              "\n  phases not joined: lanes %" PRIu32 " and %" PRIu32
              " differ, and so do %" PRIu32 " and %" PRIu32,
              one, one ^ 1, two, two ^ 2);
  else
    prose_add(p, "\n  phases joined: no active lane t differs from an active lane t ^ %d",
              one == 32 ? 1 : 2);
}

static void show(struct prose *p, const void *q)
{
  const struct access *a = &((const struct ask *)q)->access;
  if (!a->mask) {
    prose_add(p, "  no lane is active, so nothing is served");
    return;
  }
  show_addresses(p, a);
  struct phase phases[4];
  int n;
  switches_cost(a, (struct switches){0}, phases, &n);
  show_merge(p, a);
  prose_add(p, n == 1 ? "\n  the fullest bank:"
                      : "\n  the fullest bank of each phase, to be added up:");
  for (int i = 0; i < n; i++) show_phase(p, a, phases[i]);
  show_command(p, a);
}

/* ---- inputs ---------------------------------------------------------------------------- */

enum { SHARED_BYTES = 232448 }; /* 227 KiB, the most one block of an H200 may have */

/* Lane t at base + step * t bytes. */
static void straight(struct ask *k, enum model_op op, uint32_t width, uint32_t mask,
                     uint64_t base, uint64_t step)
{
  k->access = (struct access){.op = op, .width = width, .mask = mask};
  for (uint32_t t = 0; t < 32; t++) k->access.addr[t] = base + step * t;
}

/* Each lane on one of `rows` rows of 32 words; the first `kinds` lanes choose, the others
 * repeat one of them.  An inactive lane gets an address far away, which would cost a pass. */
static void scatter(struct rng *r, struct ask *k, enum model_op op, uint32_t width,
                    uint32_t mask, uint32_t rows, uint32_t kinds)
{
  k->access = (struct access){.op = op, .width = width, .mask = mask};
  uint64_t *addr = k->access.addr;
  for (uint32_t t = 0; t < 32; t++)
    addr[t] = (uint64_t)width * rng_below(r, 128 * rows / width);
  for (uint32_t t = kinds; t < 32; t++) addr[t] = addr[rng_below(r, kinds)];
  for (uint32_t t = 0; t < 32; t++)
    if (!(mask >> t & 1)) addr[t] = SHARED_BYTES - 128 * (t + 1);
}

/* No pair merge in it, so that only phases matter; loads by luck may, then draw again. */
static void scatter_apart(struct rng *r, struct ask *k, enum model_op op, uint32_t width,
                          uint32_t mask, uint32_t rows, uint32_t kinds)
{
  do scatter(r, k, op, width, mask, rows, kinds);
  while (op == MODEL_LOAD && switches_merge(&k->access, 0, 32, (struct switches){0}));
}

static enum model_op either(struct rng *r)
{
  return rng_below(r, 2) ? MODEL_LOAD : MODEL_STORE;
}

/* All lanes, one, some, half a warp. */
static uint32_t some_mask(struct rng *r)
{
  switch (rng_below(r, 5)) {
  case 0:
    return 1u << rng_below(r, 32);
  case 1:
    return rng_below(r, 2) ? 0xffff : 0xffff0000;
  case 2:
    return UINT32_MAX >> rng_below(r, 31);
  default:
    return (uint32_t)rng_next(r);
  }
}

/* One bank, and one lane, decide: every bank and every lane in its turn. */
static size_t make_turns(struct rng *r, struct ask *k, size_t n)
{
  uint32_t from = rng_below(r, 32), turn = rng_below(r, 32);
  for (uint32_t b = 0; b < 32; b++) {
    uint32_t lane = (b + from) % 32;
    straight(&k[n], b % 2 ? MODEL_LOAD : MODEL_STORE, 4, UINT32_MAX, 0, 4);
    uint64_t *addr = k[n++].access.addr;
    for (uint32_t t = 0; t < 32; t++) addr[t] = 4 * ((t + turn) % 32);
    if (addr[lane] == 4 * b) lane = (lane + 1) % 32;
    addr[lane] = 128 + 4 * b;
  }
  return n;
}

static size_t make_four(struct rng *r, struct ask *k)
{
  size_t n = 0;
  straight(&k[n++], MODEL_LOAD, 4, UINT32_MAX, 0, 4);
  straight(&k[n++], MODEL_LOAD, 4, UINT32_MAX, 0, 8);
  straight(&k[n++], MODEL_STORE, 4, UINT32_MAX, 0, 128);
  straight(&k[n++], MODEL_LOAD, 4, UINT32_MAX, 64, 0);
  straight(&k[n++], MODEL_STORE, 4, UINT32_MAX, SHARED_BYTES - 128, 0);
  straight(&k[n++], MODEL_LOAD, 4, UINT32_MAX, 12, 132);
  while (n < 40) {
    enum model_op op = either(r);
    uint32_t rows = 1 + rng_below(r, 12), kinds = n % 2 ? 32 : 1 + rng_below(r, 12);
    scatter(r, &k[n++], op, 4, UINT32_MAX, rows, kinds);
  }
  return make_turns(r, k, n);
}

static size_t make_masks(struct rng *r, struct ask *k)
{
  size_t n = 0;
  straight(&k[n++], MODEL_LOAD, 4, 0x0000ffff, 0, 8);
  straight(&k[n++], MODEL_LOAD, 4, 0x00000001, 0, 4);
  straight(&k[n++], MODEL_STORE, 4, 0x80000000, 0, 128);
  straight(&k[n++], MODEL_LOAD, 4, 0, 0, 128);
  straight(&k[n++], MODEL_STORE, 4, 0, 0, 4);
  straight(&k[n++], MODEL_LOAD, 4, 0x55555555, 0, 128);
  while (n < 40) {
    uint32_t mask = some_mask(r);
    scatter(r, &k[n++], either(r), 4, mask, 1 + rng_below(r, 12), 32);
  }
  return n;
}

static size_t make_small(struct rng *r, struct ask *k)
{
  size_t n = 0;
  straight(&k[n++], MODEL_LOAD, 1, UINT32_MAX, 0, 1);
  straight(&k[n++], MODEL_STORE, 1, UINT32_MAX, 3, 1);
  straight(&k[n++], MODEL_LOAD, 2, UINT32_MAX, 0, 2);
  straight(&k[n++], MODEL_LOAD, 2, UINT32_MAX, 0, 4);
  straight(&k[n++], MODEL_LOAD, 1, UINT32_MAX, 0, 32);
  straight(&k[n++], MODEL_STORE, 2, UINT32_MAX, 0, 66);
  while (n < 40) {
    uint32_t mask = n % 3 ? UINT32_MAX : some_mask(r), width = 1 + rng_below(r, 2);
    scatter(r, &k[n++], either(r), width, mask, 1 + rng_below(r, 6), 32);
  }
  return n;
}

static size_t make_wide(struct rng *r, struct ask *k, uint32_t width)
{
  size_t n = 0;
  straight(&k[n++], MODEL_LOAD, width, UINT32_MAX, 0, width);
  straight(&k[n++], MODEL_LOAD, width, UINT32_MAX, 0, 2 * width);
  straight(&k[n++], MODEL_STORE, width, UINT32_MAX, 0, 128);
  straight(&k[n++], MODEL_LOAD, width, 0x0000ffff, 0, 128);
  straight(&k[n++], MODEL_STORE, width, 0xff000000, 0, width);
  straight(&k[n++], MODEL_STORE, width, 0, 0, width);
  while (n < 40) {
    uint32_t mask = n % 3 ? UINT32_MAX : 0x00ffff03u | (uint32_t)rng_next(r);
    scatter_apart(r, &k[n], either(r), width, mask, 1 + rng_below(r, 12), n % 2 ? 32 : 20);
    n++;
  }
  return n;
}
static size_t make_eight(struct rng *r, struct ask *k)
{
  return make_wide(r, k, 8);
}
static size_t make_sixteen(struct rng *r, struct ask *k)
{
  return make_wide(r, k, 16);
}

/* Lanes paired so that loads would merge: partner lane ^ distance at the same address. */
static void pair_up(struct ask *k, uint32_t distance, uint32_t first, uint32_t end)
{
  for (uint32_t t = first; t < end; t++)
    if (t & distance) k->access.addr[t] = k->access.addr[t ^ distance];
}

static size_t make_stores(struct rng *r, struct ask *k)
{
  size_t n = 0;
  straight(&k[n++], MODEL_STORE, 16, UINT32_MAX, 0, 0);
  straight(&k[n++], MODEL_STORE, 8, UINT32_MAX, 0, 0);
  straight(&k[n++], MODEL_STORE, 8, 0x55555555, 0, 8);
  straight(&k[n++], MODEL_STORE, 16, 0x00000101, 0, 16);
  while (n < 24) {
    scatter(r, &k[n], MODEL_STORE, n % 2 ? 8 : 16, UINT32_MAX, 1 + rng_below(r, 8), 32);
    pair_up(&k[n], 1 + rng_below(r, 2), 0, 32);
    n++;
  }
  return n;
}

static size_t make_merge(struct rng *r, struct ask *k)
{
  size_t n = 0;
  straight(&k[n++], MODEL_LOAD, 16, UINT32_MAX, 0, 0); /* uniform: 2, not 4, not 1 */
  straight(&k[n++], MODEL_LOAD, 8, UINT32_MAX, 0, 0);
  straight(&k[n++], MODEL_LOAD, 16, 0x55555555, 0, 16); /* partners asleep */
  straight(&k[n++], MODEL_LOAD, 8, 0x33333333, 0, 8);
  straight(&k[n++], MODEL_LOAD, 16, 0x00000101, 0, 16);
  for (uint32_t distance = 1; distance <= 4; distance++) /* 3 and 4 do not count */
    for (uint32_t width = 8; width <= 16; width *= 2) {
      straight(&k[n], MODEL_LOAD, width, UINT32_MAX, 0, width);
      pair_up(&k[n++], distance, 0, 32);
    }
  for (uint32_t width = 8; width <= 16; width *= 2) { /* half by 1, half by 2: no */
    straight(&k[n], MODEL_LOAD, width, UINT32_MAX, 0, width);
    pair_up(&k[n], 1, 0, 16);
    pair_up(&k[n++], 2, 16, 32);
    straight(&k[n], MODEL_LOAD, width, UINT32_MAX, 0, width); /* one pair in sixteen differs */
    pair_up(&k[n++], 1, 2, 32);
  }
  for (uint32_t width = 8; width <= 16; width *= 2) { /* equal to t ^ 4, t ^ 8, t ^ 16: no */
    for (uint32_t of = 4; of <= 128 / width; of *= 2) {
      straight(&k[n], MODEL_LOAD, width, UINT32_MAX, 0, 0);
      for (uint32_t t = 0; t < 32; t++) k[n].access.addr[t] = t % of * width;
      n++;
    }
    straight(&k[n], MODEL_LOAD, width, UINT32_MAX, 0, 0); /* equal to t ^ 3 and to none nearer */
    for (uint32_t t = 0; t < 32; t++) k[n].access.addr[t] = ((t ^ t >> 1) & 1) * width;
    n++;
  }
  for (uint32_t pair = 0; pair < 32; pair += 2) { /* one pair of sixteen differs, each in turn */
    straight(&k[n], MODEL_LOAD, 16, UINT32_MAX, 0, 0);
    for (uint32_t t = 0; t < 32; t++) k[n].access.addr[t] = (t / 2 + (t == pair ? 4 : 0)) % 8 * 16;
    n++;
  }
  while (n < 72) {
    uint32_t mask = n % 3 ? UINT32_MAX : (uint32_t)rng_next(r), distance = 1 + rng_below(r, 2);
    scatter(r, &k[n], MODEL_LOAD, n % 2 ? 8 : 16, UINT32_MAX, 1 + rng_below(r, 8), 32);
    pair_up(&k[n], distance, 0, n % 4 == 3 ? 16 : 32);
    k[n++].access.mask = mask;
  }
  return n;
}

/* The rows are chosen so that each rule is met.  By turns of eight: */
static bool fits(const struct access *a, size_t turn)
{
  bool one =
      switches_merge(a, 0, 32, (struct switches){.merge_stores = true, .merge_one_only = true});
  bool two =
      switches_merge(a, 0, 32, (struct switches){.merge_stores = true, .merge_two_only = true});
  bool load = a->op == MODEL_LOAD;
  bool matters = switches_cost(a, (struct switches){.merge_stores = true}, NULL, NULL) !=
                 switches_cost(a, (struct switches){.merge_never = true}, NULL, NULL);
  switch (turn % 8) {
  case 0:
    return a->mask != UINT32_MAX;
  case 1:
    return load && one && !two && matters;
  case 2:
  case 6:
    return !load && matters; /* would merge if it were a load */
  case 3:
  case 7:
    return load && a->width >= 8 && !one && !two;
  case 5:
    return load && two && !one && matters;
  default:
    return true;
  }
}

static size_t make_recorded(struct rng *r, struct ask *k)
{
  size_t count, n = 0;
  const struct recorded *rows = recorded_rows(&count);
  while (count && n < RECORDED) {
    const struct recorded *row = &rows[rng_below(r, (uint32_t)count)];
    if (!fits(&row->access, n)) continue;
    k[n].access = row->access;
    k[n].recorded = row->wavefronts;
    memcpy(k[n++].id, row->id, sizeof row->id);
  }
  return n;
}

static void put(struct plan *p, const struct access *a)
{
  char text[1024];
  int at = 0;
  for (int t = 0; t < 32; t++)
    at += snprintf(text + at, sizeof text - (size_t)at, " %" PRIu64, a->addr[t]);
  plan_ask(p, "%c %" PRIu32 " %" PRIx32 "%s", a->op == MODEL_STORE ? 's' : 'l', a->width,
           a->mask, text);
}

#define LIST_TEST(name)                                                                        \
  static void plan_##name(struct plan *p, struct rng *r)                                       \
  {                                                                                            \
    struct ask k[MOST] = {0};                                                                  \
    size_t n = make_##name(r, k);                                                              \
    for (size_t i = 0; i < n; i++) put(p, &k[i].access);                                       \
  }                                                                                            \
  static void judge_##name(struct verdict *v, const struct evidence *e, struct rng *r)         \
  {                                                                                            \
    struct ask k[MOST] = {0};                                                                  \
    size_t n = make_##name(r, k);                                                              \
    judge_quiz(v, e, &(struct quiz){k, sizeof *k, n, want, call, show, ideas});                \
  }
LIST_TEST(four)
LIST_TEST(masks)
LIST_TEST(small)
LIST_TEST(eight)
LIST_TEST(sixteen)
LIST_TEST(stores)
LIST_TEST(merge)
LIST_TEST(recorded)

/* ---- predictions ----------------------------------------------------------------------- */

static double passes(enum model_op op, uint32_t width, uint32_t mask,
                     uint64_t (*byte)(uint64_t t))
{
  struct access a = {.op = op, .width = width, .mask = mask};
  for (uint32_t t = 0; t < 32; t++) a.addr[t] = byte(t);
  return model_cost(&a).wavefronts;
}
#define BYTES(name, of_t)                                                                      \
  static uint64_t name(uint64_t t)                                                             \
  {                                                                                            \
    return of_t;                                                                               \
  }
BYTES(one_busy_bank, (t < 4 ? 32 * t : t) * 4)
BYTES(two_busy_banks, (t % 16 * 32 + t / 16) * 4)
BYTES(column, t * 128)
BYTES(every_second, t * 8)
BYTES(chars, t)
BYTES(chars_32, t * 32)
BYTES(shorts_66, t * 66 * 2)
BYTES(eights, t * 8)
BYTES(eights_2, t * 16)
BYTES(backwards, (31 - t) * 16)
BYTES(zero, 0 * t)
BYTES(halves_8, t / 2 * 8)
BYTES(mod_2, t % 2 * 16)
BYTES(mod_4, t % 4 * 16)

#define TRY(arguments) "first on paper, then: build/banks wavefronts " arguments
static void judge_banks(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  const struct prediction rows[] = {
      {"one_busy_bank", passes(MODEL_LOAD, 4, ALL, one_busy_bank),
       TRY("--op load --width 4 --expr '(t < 4 ? 32*t : t)*4'")},
      {"two_busy_banks", passes(MODEL_LOAD, 4, ALL, two_busy_banks),
       TRY("--op load --width 4 --expr '(t%16*32+t/16)*4'")},
      {"eight_lanes", passes(MODEL_LOAD, 4, 0xff, column),
       TRY("--op load --width 4 --expr 't*128' --mask 000000ff")},
      {"half_a_warp", passes(MODEL_LOAD, 4, 0xffff, every_second),
       TRY("--op load --width 4 --expr 't*8' --mask 0000ffff")},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}
static void judge_types(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  const struct prediction rows[] = {
      {"chars", passes(MODEL_LOAD, 1, ALL, chars), TRY("--op load --width 1 --expr 't'")},
      {"chars_32", passes(MODEL_LOAD, 1, ALL, chars_32),
       TRY("--op load --width 1 --expr '32*t'")},
      {"shorts_66", passes(MODEL_STORE, 2, ALL, shorts_66),
       TRY("--op store --width 2 --expr '2*66*t'")},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}
static void judge_phases(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  const struct prediction rows[] = {
      {"half_doubles", passes(MODEL_LOAD, 8, 0xffff, eights),
       TRY("--op load --width 8 --expr '8*t' --mask 0000ffff")},
      {"doubles_2", passes(MODEL_STORE, 8, ALL, eights_2),
       TRY("--op store --width 8 --expr '8*2*t'")},
      {"backwards", passes(MODEL_LOAD, 16, ALL, backwards),
       TRY("--op load --width 16 --expr '16*(31-t)'")},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}
static void judge_pairs(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  const struct prediction rows[] = {
      {"uniform_load", passes(MODEL_LOAD, 16, 0xffff, zero),
       TRY("--op load --width 16 --expr '0' --mask 0000ffff")},
      {"uniform_store", passes(MODEL_STORE, 16, 0xffff, zero),
       TRY("--op store --width 16 --expr '0' --mask 0000ffff")},
      {"double_pairs", passes(MODEL_LOAD, 8, ALL, halves_8),
       TRY("--op load --width 8 --expr '(t/2)*8'")},
      {"alternating", passes(MODEL_LOAD, 16, ALL, mod_2),
       TRY("--op load --width 16 --expr '(t%2)*16'")},
      {"by_four", passes(MODEL_LOAD, 16, ALL, mod_4),
       TRY("--op load --width 16 --expr '(t%4)*16'")},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

/* ---- the table ------------------------------------------------------------------------- */

static const struct test wavefronts_tests[] = {
    {"4 bytes", 2, plan_four, judge_four},
    {"masks", 1, plan_masks, judge_masks},
    {"1 and 2 bytes", 1, plan_small, judge_small},
    {"8 bytes", 1.5, plan_eight, judge_eight},
    {"16 bytes", 1.5, plan_sixteen, judge_sixteen},
    {"stores never merge", 0.5, plan_stores, judge_stores},
    {"pair merge", 1.5, plan_merge, judge_merge},
    {"recorded hardware rows", 1, plan_recorded, judge_recorded},
    {0}};

static const struct test predictions_tests[] = {{"banks and masks", 2, NULL, judge_banks},
                                                {"small types", 1, NULL, judge_types},
                                                {"phases", 1.5, NULL, judge_phases},
                                                {"pair merge", 1.5, NULL, judge_pairs},
                                                {0}};

static const struct exercise exercises[] = {
    {.id = "02-wavefronts/wavefronts",
     .title = "Count the wavefronts of any load or store",
     .kind = EXERCISE_NATIVE,
     .file = "wavefronts.c",
     .read = "chapters/02-wavefronts.md",
     .hints =
         (const char *const[]){
             "Start with 4 bytes and all lanes: it is `passes` of chapter 01. Then skip the "
             "lanes whose mask bit "
             "is 0. Each test is one section of the chapter; take them in order.",
             "Write a helper that counts the different words of the fullest bank over lanes "
             "first to "
             "first + n - 1. A lane of 8 bytes brings 2 words, one of 16 brings 4. Call it "
             "once for up to 4 "
             "bytes, for two halves at 8, for four quarters at 16, and add.",
             "Merge: for a LOAD of 8 or 16 bytes, first test whether every active lane t has "
             "its partner t ^ 1 "
             "inactive or at the same address; if not, the same with t ^ 2. If one of the two "
             "holds for the "
             "whole warp, make n twice as large: 32 lanes at 8 bytes, 16 at 16.",
             NULL},
     .tests = wavefronts_tests,
     .header = "#include <stdbool.h>\n#include <stdint.h>\n"
               "enum kind { LOAD, STORE };\n"
               "uint32_t wavefronts(enum kind kind, uint32_t width, uint32_t mask,\n"
               "                    const uint32_t address[32]);\n",
     .driver = SUITE_DRIVER(
         "static void answer(const char *question, FILE *out)\n{\n"
         "  char kind;\n  int at = 0;\n  uint32_t width, mask, address[32];\n"
         "  if (sscanf(question, \"%c %\" SCNu32 \" %\" SCNx32 \"%n\", &kind, &width, &mask, "
         "&at) != 3) return;\n"
         "  char *next = (char *)question + at;\n"
         "  for (int t = 0; t < 32; t++) address[t] = (uint32_t)strtoul(next, &next, 10);\n"
         "  fprintf(out, \"%\" PRIu32, wavefronts(kind == 's' ? STORE : LOAD, width, mask, "
         "address));\n}\n")},
    {.id = "02-wavefronts/predictions",
     .title = "Predict wavefronts",
     .kind = EXERCISE_PREDICT,
     .file = "predictions.txt",
     .read = "chapters/02-wavefronts.md",
     .hints =
         (const char *const[]){
             "For each question write three things: bytes a lane, active lanes, lanes a phase. "
             "Then draw one "
             "phase over the 32 banks.",
             "Wide accesses: work out one phase (16 lanes at 8 bytes, 8 lanes at 16), then add "
             "the phases. Small "
             "types: turn bytes into words first, and let equal words fall together.",
             "For a wide load, ask last: does each lane agree with t ^ 1, everywhere? or with "
             "t ^ 2, everywhere? "
             "Then the number of phases is halved. The failure of a wrong answer says which "
             "command shows it.",
             NULL},
     .tests = predictions_tests,
     .names =
         (const char *const[]){"one_busy_bank", "two_busy_banks", "eight_lanes", "half_a_warp",
                               "chars", "chars_32", "shorts_66", "half_doubles", "doubles_2",
                               "backwards", "uniform_load", "uniform_store", "double_pairs",
                               "alternating", "by_four", NULL}},
    {0}};

const struct suite suite_ch02 = {"02-wavefronts", exercises};
