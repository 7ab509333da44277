/* Bulk reductions out of shared memory, of a run and of a box, against C: three blocks reduce the
 * same 256 bytes into one buffer, so each is applied three times. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "sim/tensormap.h"
#include "sim_values.h"

enum { BYTES = 256, BLOCKS = 3 };

static const char frame[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 128 .b8 tile[256];\n"
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 map)\n{\n"
    ".reg .b64 %%o, %%i, %%m, %%a, %%v; .reg .b32 %%t, %%s, %%x; .reg .pred %%p;\n"
    "ld.param.u64 %%o,[out]; ld.param.u64 %%i,[in]; ld.param.u64 %%m,[map]; mov.u32 %%t,%%tid.x;\n"
    "mul.wide.u32 %%a,%%t,8; add.u64 %%i,%%i,%%a; ld.global.u64 %%v,[%%i]; mov.u32 %%s,tile;\n"
    "mad.lo.u32 %%x,%%t,8,%%s; st.shared.u64 [%%x],%%v; fence.proxy.async.shared::cta; bar.sync 0;\n"
    "setp.ne.u32 %%p,%%t,0; @%%p bra done; mov.b32 %%x,-2;\n%s;\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\ndone: ret;\n}\n";

/* Runs it; `out` is changed.  The reductions and what they counted. */
static struct sim_totals run(const char *instruction, const struct sim_tensor *map, void *out,
                             const void *in)
{
  char text[2000];
  snprintf(text, sizeof text, frame, instruction);
  struct loaded l = sim_values_load(text);
  uint64_t params[3] = {sim_alloc(l.sim, BYTES, "out", false), sim_alloc(l.sim, BYTES, "in", true),
                        sim_alloc(l.sim, sizeof *map, "map", true)};
  memcpy(sim_host(l.sim, params[0], BYTES), out, BYTES);
  memcpy(sim_host(l.sim, params[1], BYTES), in, BYTES);
  if (map) {
    struct sim_tensor there = *map;
    there.address = params[0];
    memcpy(sim_host(l.sim, params[2], sizeof there), &there, sizeof there);
  }
  struct sim_launch launch = {.kernel = "k", .grid = {BLOCKS, 1, 1}, .block = {32, 1, 1},
                              .params = params, .param_bytes = sizeof params};
  struct sim_result r;
  bool ok = sim_launch(l.sim, &launch, &r);
  ck_assert_msg(ok && r.completed, "%s: %s", instruction, r.nfaults ? r.faults[0].text : "cut off");
  memcpy(out, sim_host(l.sim, params[0], BYTES), BYTES);
  struct sim_totals totals = r.totals;
  sim_result_free(&r);
  sim_values_close(&l);
  return totals;
}

enum kind { UNSIGNED, SIGNED, REAL };
static const struct type { const char *name; unsigned bytes; enum kind kind; unsigned mantissa; } types[] = {
    {"u32", 4, UNSIGNED, 0}, {"s32", 4, SIGNED, 0}, {"u64", 8, UNSIGNED, 0}, {"s64", 8, SIGNED, 0},
    {"b32", 4, UNSIGNED, 0}, {"b64", 8, UNSIGNED, 0}, {"f32", 4, REAL, 23}, {"f64", 8, REAL, 52},
    {"noftz.f16", 2, REAL, 10}, {"noftz.bf16", 2, REAL, 7}, {"f16", 2, REAL, 10}, {"bf16", 2, REAL, 7}};

/* Small whole numbers as bits of a float type, and back: no rounding anywhere. */
static uint64_t real_bits(int v, const struct type *t)
{
  unsigned total = 8 * t->bytes, ebits = total - 1 - t->mantissa, m = (unsigned)(v < 0 ? -v : v), e = 0;
  if (!v) return 0;
  while (m >> (e + 1)) e++;
  uint64_t bits = ((uint64_t)m << t->mantissa >> e) & ((1ull << t->mantissa) - 1);
  bits |= (uint64_t)(e + (1u << (ebits - 1)) - 1) << t->mantissa;
  return bits | (uint64_t)(v < 0) << (total - 1);
}
static int real_value(uint64_t bits, const struct type *t)
{
  for (int v = -200; v <= 200; v++)
    if (real_bits(v, t) == bits) return v;
  ck_abort_msg("%llx is no small number of %s", (unsigned long long)bits, t->name);
  return 0;
}

static uint64_t once(const char *op, const struct type *t, uint64_t a, uint64_t b)
{
  unsigned n = 8 * t->bytes;
  if (t->kind == REAL) {
    int x = real_value(a, t), y = real_value(b, t);
    return real_bits(*op == 'a' ? x + y : (x < y) == !strcmp(op, "min") ? x : y, t);
  }
  bool less = t->kind == SIGNED ? SX(a, n) < SX(b, n) : ZX(a, n) < ZX(b, n);
  if (!strcmp(op, "add")) return a + b;
  if (!strcmp(op, "and")) return a & b;
  if (!strcmp(op, "or")) return a | b;
  if (!strcmp(op, "xor")) return a ^ b;
  if (!strcmp(op, "inc")) return ZX(a, n) >= ZX(b, n) ? 0 : a + 1;
  if (!strcmp(op, "dec")) return ZX(a, n) == 0 || ZX(a, n) > ZX(b, n) ? b : a - 1;
  return less == !strcmp(op, "min") ? a : b;
}

static const struct { const char *op, *types; } table[] = {
    {"add", " u32 s32 u64 f32 f64 noftz.f16 noftz.bf16 "}, {"min", " u32 s32 u64 s64 f16 bf16 "},
    {"max", " u32 s32 u64 s64 f16 bf16 "}, {"inc", " u32 "}, {"dec", " u32 "}, {"and", " b32 b64 "},
    {"or", " b32 b64 "}, {"xor", " b32 b64 "}};

START_TEST(runs)
{
  unsigned done = 0;
  for (size_t o = 0; o < sizeof table / sizeof *table; o++)
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
      const struct type *t = &types[k];
      char name[20], text[200];
      snprintf(name, sizeof name, " %s ", t->name);
      if (!strstr(table[o].types, name)) continue;
      uint8_t out[BYTES], in[BYTES], want[BYTES];
      for (unsigned at = 0; at < BYTES; at += t->bytes) {
        uint64_t a = sim_values_random(), b = sim_values_random();
        if (t->kind == REAL) a = real_bits((int)(a % 41) - 20, t), b = real_bits((int)(b % 41) - 20, t);
        if (*table[o].op == 'i' || *table[o].op == 'd') a %= 5, b %= 5;
        memcpy(out + at, &a, t->bytes);
        memcpy(in + at, &b, t->bytes);
        for (unsigned n = 0; n < BLOCKS; n++) {
          a = ZX(once(table[o].op, t, ZX(a, 8 * t->bytes), ZX(b, 8 * t->bytes)), 8 * t->bytes);
        }
        memcpy(want + at, &a, t->bytes);
      }
      snprintf(text, sizeof text,
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%%o], [%%s], 256",
               table[o].op, t->name);
      struct sim_totals totals = run(text, NULL, out, in);
      ck_assert_msg(!memcmp(out, want, BYTES), "%s: other values", text);
      ck_assert_uint_ge(totals.global_store.requests + totals.global_atomic.requests, BLOCKS);
      done++;
    }
  ck_assert_uint_eq(done, 7 + 6 + 6 + 2 + 6);
}
END_TEST

/* A box of 8 x 8 u32, prefetched, which changes nothing, that begins two columns before the tensor: those are left out. */
START_TEST(box)
{
  uint64_t dims[2] = {8, 8};
  uint32_t size[2] = {8, 8}, out[64], in[64], want[64];
  char why[160];
  struct sim_tensor map;
  ck_assert_msg(sim_tensor_map(&map, SIM_TENSOR_U32, 2, 256, dims, NULL, size, MODEL_TMA_NONE, false,
                               why, sizeof why), "%s", why);
  for (unsigned k = 0; k < 64; k++) {
    out[k] = want[k] = (uint32_t)sim_values_random();
    in[k] = (uint32_t)sim_values_random();
  }
  for (unsigned y = 0; y < 8; y++)
    for (unsigned x = 2; x < 8; x++) want[8 * y + x - 2] += BLOCKS * in[8 * y + x];
  run("mov.b32 %t,0; cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%m, {%x, %t}]; "
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
      "[%m, {%x, %t}], [%s]", &map, out, in);
  for (unsigned k = 0; k < 64; k++)
    ck_assert_msg(out[k] == want[k], "element %u: %x, not %x", k, out[k], want[k]);
  /* and: the integers as bits */
  for (unsigned k = 0; k < 64; k++) want[k] = k % 8 < 6 ? out[k] & in[k + 2] : out[k];
  run("mov.b32 %t,0; cp.reduce.async.bulk.tensor.2d.global.shared::cta.and.bulk_group "
      "[%m, {%x, %t}], [%s]", &map, out, in);
  ck_assert(!memcmp(out, want, sizeof want));
}
END_TEST

Suite *suite_sim_reduce(void)
{
  Suite *s = suite_create("sim_reduce");
  TCase *t = tcase_create("reduce");
  tcase_add_test(t, runs);
  tcase_add_test(t, box);
  suite_add_tcase(s, t);
  return s;
}
