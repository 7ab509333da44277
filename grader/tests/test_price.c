/* The simulator's quick prices against the model: a site keeps the price of a pattern of lanes and
 * pays it again where the pattern is met again, elsewhere.  Random patterns, each at random places. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/internal.h"

static uint64_t state = 7;
static uint32_t draw(uint32_t n)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

static const struct { enum model_op op; uint32_t least, most; bool shared; } kinds[] = {
    {MODEL_LOAD, 0, 4, true},        {MODEL_STORE, 0, 4, true},       {MODEL_ATOM_NATIVE, 2, 2, true},
    {MODEL_ATOM_ONE, 2, 2, true},    {MODEL_ATOM_CAS, 2, 3, true},    {MODEL_ATOM_LOOP, 2, 2, true},
    {MODEL_ATOM_LOOP64, 3, 3, true}, {MODEL_CP_ASYNC, 2, 4, true},
    {MODEL_GLOBAL_LOAD, 0, 4, false}, {MODEL_GLOBAL_STORE, 0, 4, false},
};

/* Distances in units of the width: all over the place, strides, few places, two rows. */
static void draw_pattern(struct pattern *p, uint32_t width)
{
  uint32_t how = draw(6), stride = draw(40), few = 1 + draw(5);
  *p = (struct pattern){.mask = draw(2) ? ~0u : draw(3) ? draw(1u << 16) << draw(17) | 1u << draw(32) : 1};
  for (uint32_t l = 0; l < SIM_LANES; l++) {
    uint32_t at = how == 0   ? draw(2048)
                  : how == 1 ? l * stride
                  : how == 2 ? draw(few)
                  : how == 3 ? (l ^ draw(2)) * stride
                  : how == 4 ? l % 16 + l / 16 * 64
                             : l + (draw(8) == 0);
    p->rel[l] = (int32_t)(at * width);
  }
  int32_t first = p->rel[__builtin_ctz(p->mask)];
  for (uint32_t l = 0; l < SIM_LANES; l++) p->rel[l] -= first;
}

START_TEST(prices)
{
  static struct block block;
  static struct warp w = {.block = &block};
  for (int n = 0; n < 30000; n++) {
    uint32_t k = draw(sizeof kinds / sizeof *kinds);
    uint32_t width = 1u << (kinds[k].least + draw(kinds[k].most - kinds[k].least + 1));
    bool store = kinds[k].op == MODEL_GLOBAL_STORE;
    struct sim_inst i = {.op = (uint8_t)(kinds[k].shared ? kinds[k].op : store ? MODEL_STORE : MODEL_LOAD),
                         .width = (uint8_t)width, .issue = {.width = width}};
    struct site site = {0};
    struct pattern p;
    draw_pattern(&p, width);
    for (int again = 0; again < 5; again++) {
      /* A generic load may find the same pattern in the other kind of memory. */
      bool other = again == 2 && i.op == MODEL_LOAD, shared = kinds[k].shared != other;
      enum model_op op = !other ? kinds[k].op : shared ? MODEL_LOAD : MODEL_GLOBAL_LOAD;
      uint64_t first = (uint64_t)(1u << 20) + draw(256) * width;
      struct site_side before = site.sides[!shared] ? *site.sides[!shared] : (struct site_side){0};
      count_access(&w, &i, &site, &p, first, shared);
      count_fold(&i, &site, &p);
      const struct site_side *now = site.sides[!shared];
      struct access a = {.op = op, .width = width, .mask = p.mask};
      for (int l = 0; l < SIM_LANES; l++)
        a.addr[l] = p.mask >> l & 1 ? first + (uint64_t)(int64_t)p.rel[l] : 0;
      struct model_cost c = model_cost(&a);
      ck_assert_msg(now->wavefronts - before.wavefronts == c.wavefronts &&
                        now->ideal - before.ideal == c.ideal &&
                        now->sectors - before.sectors == c.sectors,
                    "op %d of %u bytes, lanes %08x, time %d: %d %d %d, not %u %u %u", (int)op,
                    width, p.mask, again, (int)(now->wavefronts - before.wavefronts),
                    (int)(now->ideal - before.ideal), (int)(now->sectors - before.sectors),
                    c.wavefronts, c.ideal, c.sectors);
    }
    free(site.sides[0]);
    free(site.sides[1]);
  }
}
END_TEST

Suite *suite_price(void)
{
  Suite *s = suite_create("price");
  TCase *t = tcase_create("price");
  tcase_add_test(t, prices);
  suite_add_tcase(s, t);
  return s;
}
