/* Loops unrolled as ptxas does: the values are those of the loop as written, for every comparison,
 * width, step and bound, lanes with their own; and what parts the lanes parts them as on hardware.
 * Which loops are unrolled is compared with ptxas in test_fuse.c. */
#include "sim/sim.h"
#include "tests/typed.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, LAUNCHES = 6, OUT_WORDS = 8192 };

struct order {
  const char *name, *swapped, *inverse;
  bool up;                      /* goes on while below */
};
static const struct order orders[] = {
  {"lt", "gt", "ge", true}, {"le", "ge", "gt", true}, {"gt", "lt", "le", false},
  {"ge", "le", "lt", false}, {"ne", "ne", "eq", true}, {"ne", "ne", "eq", false},
};
static const struct { const char *name; bool is_signed; unsigned bits; } types[] = {
  {"s32", true, 32}, {"u32", false, 32}, {"s64", true, 64}, {"u64", false, 64},
};
static const int steps[] = {1, 2, 3, 128, 1000003};
enum { ORDERS = sizeof orders / sizeof *orders, TYPES = sizeof types / sizeof *types,
       STEPS = sizeof steps / sizeof *steps };

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((state >> 33) * below >> 31);
}

/* What a lane leaves behind: a hash of the counter's values, how many there were, the last. */
struct left {
  uint32_t hash, passes;
  uint64_t counter;
};

static struct left walk(unsigned o, unsigned t, int64_t step, uint64_t i, uint64_t n)
{
  struct left l = {0, 0, 0};
  bool on;
  do {
    l.hash = l.hash * 31 + (uint32_t)i;
    if (i & 2) l.hash ^= (uint32_t)i >> 1;
    l.passes++;
    i += (uint64_t)step;
    if (types[t].bits == 32) i = (uint32_t)i;
    int64_t a = types[t].bits == 32 ? (int64_t)(int32_t)i : (int64_t)i;
    int64_t b = types[t].bits == 32 ? (int64_t)(int32_t)n : (int64_t)n;
    int less = types[t].is_signed ? (a > b) - (a < b) : (i > n) - (i < n);
    on = o == 0 ? less < 0 : o == 1 ? less <= 0 : o == 2 ? less > 0 : o == 3 ? less >= 0 : less != 0;
    ck_assert_uint_lt(l.passes, 5000);
  } while (on);
  l.counter = i;
  return l;
}

static void write_kernel(FILE *f, const char *name, unsigned o, unsigned t, int64_t step,
                         const char *from, const char *to, unsigned way)
{
  const char *type = types[t].name, *i = types[t].bits == 32 ? "%i" : "%di";
  const char *n = to ? to : types[t].bits == 32 ? "%n" : "%dn";
  bool swap = way & 1 && !to, invert = way & 2, branches = way & 4;
  const char *order = swap ? orders[o].swapped : orders[o].name;
  for (unsigned k = 0; invert && k < ORDERS; k++)
    if (!strcmp(orders[k].name, order)) {
      order = orders[k].inverse;
      break;
    }
  fprintf(f, ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n"
             "  .reg .pred %%p<4>; .reg .b32 %%i, %%n, %%h, %%c, %%x<4>; .reg .b64 %%di, %%dn, %%rd<8>;\n"
             "  mov.u32 %%x0, %%tid.x; mul.wide.u32 %%rd0, %%x0, 16; ld.param.u64 %%rd1, [in];\n"
             "  ld.param.u64 %%rd2, [out]; add.s64 %%rd1, %%rd1, %%rd0; add.s64 %%rd2, %%rd2, %%rd0;\n"
             "  ld.global.u64 %%di, [%%rd1]; ld.global.u64 %%dn, [%%rd1+8];\n"
             "  cvt.u32.u64 %%i, %%di; cvt.u32.u64 %%n, %%dn; mov.u32 %%h, 0; mov.u32 %%c, 0;\n", name);
  if (from) fprintf(f, "  mov.u%u %s, %s;\n", types[t].bits, i, from);
  fprintf(f, "$L_%s:\n", name);
  if (types[t].bits == 64) fprintf(f, "  cvt.u32.u64 %%i, %%di;\n");
  fprintf(f, "  mad.lo.s32 %%h, %%h, 31, %%i;\n  and.b32 %%x1, %%i, 2; setp.eq.s32 %%p1, %%x1, 0;\n"
             "  shr.u32 %%x2, %%i, 1;\n");
  if (branches) fprintf(f, "  @%%p1 bra $S_%s;\n  xor.b32 %%h, %%h, %%x2;\n$S_%s:\n", name, name);
  else fprintf(f, "  @!%%p1 xor.b32 %%h, %%h, %%x2;\n");
  fprintf(f, "  add.s32 %%c, %%c, 1;\n  add.s%u %s, %s, %ld;\n", types[t].bits, i, i, (long)step);
  fprintf(f, "  setp.%s.%s %%p0, %s, %s;\n  @%s%%p0 bra $L_%s;\n", order, type, swap ? n : i,
          swap ? i : n, invert ? "!" : "", name);
  if (types[t].bits == 32) fprintf(f, "  cvt.u64.u32 %%di, %%i;\n");
  fprintf(f, "  st.global.u32 [%%rd2], %%h; st.global.u32 [%%rd2+4], %%c;\n"
             "  st.global.u64 [%%rd2+8], %%di;\n  ret;\n}\n");
}

struct run {
  struct sim *sim;
  struct ptx_module *module;
  uint64_t in, out;
};

static struct run load(const char *text)
{
  struct run r = {0};
  struct ptx_error e;
  struct sim_options o = {.threads = 1};
  r.module = ptx_read(text, strlen(text), &e);
  ck_assert_msg(r.module != NULL, "line %u: %s", e.line, e.text);
  r.sim = sim_open(&o);
  ck_assert_msg(sim_load(r.sim, r.module, &e), "line %u: %s", e.line, e.text);
  r.in = sim_alloc(r.sim, (size_t)LANES * 16, "in", true);
  r.out = sim_alloc(r.sim, (size_t)LANES * 16, "out", false);
  return r;
}

static void close_run(struct run *r)
{
  sim_close(r->sim);
  ptx_free(r->module);
}

static void launch(struct run *r, const char *kernel)
{
  uint64_t params[2] = {r->in, r->out};
  struct sim_launch l = {.kernel = kernel, .grid = {1, 1, 1}, .block = {LANES, 1, 1},
                         .params = params, .param_bytes = sizeof params};
  struct sim_result result;
  bool ok = sim_launch(r->sim, &l, &result);
  ck_assert_msg(ok, "%s: %s", kernel, result.nfaults ? result.faults[0].text : "no fault");
  sim_result_free(&result);
}

static bool is_unrolled(const struct ptx_module *m, const char *kernel)
{
  struct sim_unrolled *u = sim_unroll(m, ptx_find_entry(m, kernel));
  sim_unrolled_free(u);
  return u != NULL;
}

static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n";

/* A start and a bound that are `passes` apart, somewhere in the type, also across its middle. */
static void choose(unsigned o, unsigned t, int64_t step, uint64_t *i, uint64_t *n)
{
  uint64_t size = types[t].bits == 32 ? 1ull << 32 : 0, half = 1ull << (types[t].bits - 1);
  uint64_t room = 60 * (uint64_t)(step < 0 ? -step : step) + 100;
  const uint64_t edges[] = {0, half, room, half - room, half + room, size - room, 12345};
  uint64_t at = edges[draw(7)] + draw(9);
  bool equal = o >= 4;
  int64_t passes = equal ? 1 + draw(40) : (int64_t)draw(40) - 2;
  uint64_t to = at + (uint64_t)(passes * step) + (equal ? 0 : draw(2));
  if (!equal) {                         /* a loop that passes the end of its type goes on for long */
    uint64_t first = types[t].is_signed ? half : 0;
    uint64_t a = at - first, b = to - first;    /* from the least number up */
    if (size) a &= size - 1, b &= size - 1;
    uint64_t most = size ? size - 1 : UINT64_MAX;
    if (a < room || a > most - room || b < room || b > most - room) at = 5 * room, to = at + passes;
  }
  *i = size ? (uint32_t)at : at;
  *n = size ? (uint32_t)to : to;
}

START_TEST(values_of_any_loop)
{
  char *text, name[64];
  size_t size;
  FILE *f = open_memstream(&text, &size);
  fputs(head, f);
  for (unsigned o = 0; o < ORDERS; o++)
    for (unsigned s = 0; s < STEPS; s++) {
      snprintf(name, sizeof name, "k_%u_%u", o, s);
      write_kernel(f, name, o, (unsigned)_i, orders[o].up ? steps[s] : -steps[s], NULL, NULL, o + s);
    }
  fclose(f);
  struct run r = load(text);
  for (unsigned o = 0; o < ORDERS; o++)
    for (unsigned s = 0; s < STEPS; s++) {
      int64_t step = orders[o].up ? steps[s] : -steps[s];
      snprintf(name, sizeof name, "k_%u_%u", o, s);
      ck_assert_msg(is_unrolled(r.module, name), "%s %s is not unrolled", name, types[_i].name);
      for (int k = 0; k < LAUNCHES; k++) {
        uint64_t *in = sim_host(r.sim, r.in, (size_t)LANES * 16);
        for (int l = 0; l < LANES; l++) choose(o, (unsigned)_i, step, &in[2 * l], &in[2 * l + 1]);
        launch(&r, name);
        const struct left *out = sim_host(r.sim, r.out, (size_t)LANES * 16);
        for (int l = 0; l < LANES; l++) {
          struct left want = walk(o, (unsigned)_i, step, in[2 * l], in[2 * l + 1]);
          ck_assert_msg(!memcmp(&want, &out[l], sizeof want),
                        "%s %s, step %ld from %lx to %lx: %u passes to %lx, not %u to %lx",
                        orders[o].name, types[_i].name, (long)step, (unsigned long)in[2 * l],
                        (unsigned long)in[2 * l + 1], out[l].passes, (unsigned long)out[l].counter,
                        want.passes, (unsigned long)want.counter);
        }
      }
    }
  close_run(&r);
  free(text);
}
END_TEST

/* Passes that are known: all of them, some at a time with some before, and one. */
START_TEST(values_of_known_loops)
{
  static const struct { const char *from, *to; } spans[] = {
    {"0", "1"}, {"0", "2"}, {"0", "16"}, {"0", "100"}, {"0", "301"}, {"3", "1000"}, {"5", "4099"},
    {"7", "3"},
  };
  for (unsigned o = 0; o < 2; o++)      /* lt, le */
    for (size_t k = 0; k < sizeof spans / sizeof *spans; k++) {
      char *text;
      size_t size;
      FILE *f = open_memstream(&text, &size);
      unsigned t = (unsigned)(k + o) % TYPES;
      fputs(head, f);
      write_kernel(f, "known", o, t, 1, spans[k].from, spans[k].to, (unsigned)(k < 4 ? k * 2 : k % 2 * 2));
      fclose(f);
      struct run r = load(text);
      launch(&r, "known");
      const struct left *out = sim_host(r.sim, r.out, (size_t)LANES * 16);
      struct left want = walk(o, t, 1, strtoull(spans[k].from, NULL, 10), strtoull(spans[k].to, NULL, 10));
      ck_assert_msg(!memcmp(&want, &out[7], sizeof want), "%s from %s to %s: %u passes, not %u",
                    orders[o].name, spans[k].from, spans[k].to, out[7].passes, want.passes);
      ck_assert_msg(is_unrolled(r.module, "known"), "from %s to %s is not unrolled", spans[k].from,
                    spans[k].to);
      close_run(&r);
      free(text);
    }
}
END_TEST

/* What ptxas leaves as it is. */
START_TEST(left_alone)
{
  static const struct { const char *name, *top, *body, *end; } loops[] = {
    {"pragma", ".pragma \"nounroll\";", "", "setp.lt.s32 %p0, %i, %n;\n  @%p0 bra $L;"},
    {"form", "", "", "setp.ge.s32 %p0, %i, %n;\n  @%p0 bra $E;\n  bra $L;\n$E:"},
    {"doubling", "", "shl.b32 %i, %i, 1;", "setp.lt.s32 %p0, %i, %n;\n  @%p0 bra $L;"},
    {"away", "", "", "setp.gt.s32 %p0, %i, %n;\n  @%p0 bra $L;"},
    {"leaves", "", "setp.eq.s32 %p1, %h, 7;\n  @%p1 bra $E;\n", "setp.lt.s32 %p0, %i, %n;\n"
     "  @%p0 bra $L;\n$E:"},
    {"barrier", "", "setp.eq.s32 %p1, %h, 7;\n  @%p1 bra $S;\n  add.s32 %h, %h, 1;\n$S: bar.sync 0;\n",
     "setp.lt.s32 %p0, %i, %n;\n  @%p0 bra $L;"},
    {"fence", "", "membar.cta;", "setp.lt.s32 %p0, %i, %n;\n  @%p0 bra $L;"},
    {"division", "", "div.rn.f32 %f, %f, %f;", "setp.lt.s32 %p0, %i, %n;\n  @%p0 bra $L;"},
    {"bound", "", "xor.b32 %n, %n, %h;", "setp.lt.s32 %p0, %i, %n;\n  @%p0 bra $L;"},
  };
  for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
    char text[2000];
    struct ptx_error e;
    snprintf(text, sizeof text, "%s.visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
             ".reg .pred %%p<3>; .reg .b32 %%i, %%n, %%h; .reg .b64 %%o; .reg .f32 %%f;\n"
             "ld.param.u64 %%o, [out]; ld.param.u32 %%n, [n]; mov.u32 %%i, %%tid.x; mov.u32 %%h, 0;\n"
             "mov.f32 %%f, 0f3f800000;\n$L:\n%s\nadd.s32 %%h, %%h, %%i; %s\nadd.s32 %%i, %%i, 1;\n%s\n"
             "st.global.u32 [%%o], %%h; st.global.f32 [%%o+4], %%f; ret;\n}\n", head, loops[k].top,
             loops[k].body, loops[k].end);
    struct ptx_module *m = ptx_read(text, strlen(text), &e);
    ck_assert_msg(m != NULL, "%s: line %u: %s", loops[k].name, e.line, e.text);
    ck_assert_msg(!is_unrolled(m, "k"), "%s is unrolled", loops[k].name);
    ptx_free(m);
  }
}
END_TEST

/* Lanes with n passes and lanes with one more: four at a time they part more often than one at a
 * time.  A row of 7 passes for some lanes and 8 for others: those with 8 take two fours, those with 7
 * one, then a two, then a one. */
START_TEST(lanes_part)
{
  static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry row(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<8>; .shared .align 4 .b8 s[4096];\n"
    "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 4; add.s32 %r1, %r1, 7; mov.u32 %r2, 0;\n"
    "mov.u32 %r3, s; shl.b32 %r4, %r0, 2; add.s32 %r3, %r3, %r4;\n"
    "$L:\n st.shared.u32 [%r3], %r2; add.s32 %r3, %r3, 128; add.s32 %r2, %r2, 1;\n"
    " setp.lt.s32 %p0, %r2, %r1;\n @%p0 bra $L;\n ret;\n}\n";
  struct run r = load(text);
  uint64_t params[2] = {r.in, r.out};
  struct sim_launch l = {.kernel = "row", .grid = {1, 1, 1}, .block = {LANES, 1, 1},
                         .params = params, .param_bytes = sizeof params};
  struct sim_result result;
  ck_assert(sim_launch(r.sim, &l, &result));
  ck_assert_uint_eq(result.totals.shared_store.requests, 4 + 4 + 2 + 1);
  ck_assert_uint_eq(result.nsites, 1);          /* the copies count as one */
  ck_assert_uint_eq(result.sites[0].requests, 11);
  sim_result_free(&result);
  close_run(&r);
}
END_TEST

/* Requests and wavefronts of whole kernels are the hardware's, launch by launch. */
START_TEST(the_hardwares_counts)
{
  size_t n, launches = 0;
  char **rows = typed_rows("grader/tests/fuse/unrolled/h200.tsv", &n);
  for (size_t k = 0; k < n; k++) {
    uint64_t want[4];
    char *at = rows[k];
    for (int c = 0; c < 4; c++) want[c] = strtoull(at, &at, 10);
    ck_assert_int_eq(*at, '\t');
    struct profile p;
    struct request *q = typed_profile(at + 1, &p);
    const struct sim_totals *t = &p.result->totals;
    const uint64_t got[4] = {t->shared_load.requests, t->shared_load.wavefronts,
                             t->shared_store.requests, t->shared_store.wavefronts};
    static const char *const names[4] = {"loads", "load wavefronts", "stores", "store wavefronts"};
    for (int c = 0; c < 4; c++)
      ck_assert_msg(got[c] == want[c], "%lu %s, and %lu on the GPU: %s", (unsigned long)got[c],
                    names[c], (unsigned long)want[c], at + 1);
    typed_end(q, &p);
    launches++;
    free(rows[k]);
  }
  ck_assert_uint_ge(launches, 18);
  free(rows);
}
END_TEST

/* Loads that go behind a branch, loops that are turned round or unrolled: the kernels that are compared
 * with ptxas give the same, and the same faults, as they do as written.  Some have faults: races, addresses that are nonsense. */
static struct sim_result launch_moved(const struct ptx_module *m, const char *kernel, bool as_written,
                                      uint32_t round, uint32_t out[OUT_WORDS])
{
  struct sim_options o = {.threads = 1, .no_fuse = as_written};
  struct ptx_error e;
  struct sim *sim = sim_open(&o);
  ck_assert_msg(sim_load(sim, (struct ptx_module *)(uintptr_t)m, &e), "line %u: %s", e.line, e.text);
  uint64_t in = sim_alloc(sim, OUT_WORDS * 4, "in", true), to = sim_alloc(sim, OUT_WORDS * 4, "out", false);
  uint32_t *words = sim_host(sim, in, OUT_WORDS * 4);
  for (uint32_t k = 0; k < OUT_WORDS; k++) words[k] = (k * 2654435761u + round) >> 20;
  uint64_t params[3] = {in, to, (uint64_t)(4 * ((round * 5 + 3) % 9)) << 32 | 4 * (round * 7 % 10)};
  struct sim_launch l = {.kernel = kernel, .grid = {1, 1, 1}, .block = {LANES, 1, 1},
                         .params = params, .param_bytes = sizeof params};
  struct sim_result result;
  sim_launch(sim, &l, &result);
  memcpy(out, sim_host(sim, to, OUT_WORDS * 4), OUT_WORDS * 4);
  sim_close(sim);
  return result;
}

static bool is_told(const struct sim_result *r, const struct sim_fault *f)
{
  for (size_t k = 0; k < r->nfaults; k++)
    if (r->faults[k].kind == f->kind && r->faults[k].ptx_line == f->ptx_line) return true;
  return false;
}

static const char *const rewritten[] = {
  "grader/tests/fuse/sunk/sunk.ptx", "grader/tests/fuse/unrolled/while.ptx",
  "grader/tests/fuse/unrolled/steps.ptx",
};

START_TEST(rewritten_kernels)
{
  static uint32_t a[OUT_WORDS], b[OUT_WORDS];
  struct ptx_error e;
  FILE *f = fopen(rewritten[_i], "r");
  ck_assert_ptr_nonnull(f);
  char *text = malloc(1 << 20);
  text[fread(text, 1, (1 << 20) - 1, f)] = 0;
  fclose(f);
  struct ptx_module *m = ptx_read(text, strlen(text), &e);
  ck_assert_msg(m != NULL, "line %u: %s", e.line, e.text);
  unsigned fewer = 0, faults = 0, notes = 0;
  for (size_t k = 0; k < m->nfunctions; k++)
    for (uint32_t round = 0; round < 10; round++) {
      const char *name = m->functions[k]->name;
      struct sim_result x = launch_moved(m, name, true, round, a);
      struct sim_result y = launch_moved(m, name, false, round, b);
      ck_assert_msg(!memcmp(a, b, sizeof a), "%s, round %u: other values", name, round);
      ck_assert_int_eq(x.completed, y.completed);
      for (size_t n = 0; n < x.nfaults; n++)
        ck_assert_msg(is_told(&y, &x.faults[n]), "%s is quiet about: %s", name, x.faults[n].text);
      for (size_t n = 0; n < y.nfaults; n++)
        ck_assert_msg(is_told(&x, &y.faults[n]), "%s makes up: %s", name, y.faults[n].text);
      fewer += y.totals.shared_load.requests < x.totals.shared_load.requests;
      faults += x.nfaults > 0;
      for (size_t n = 0; n < x.nsites; n++) ck_assert_ptr_null(x.sites[n].note);
      for (size_t n = 0; n < y.nsites; n++) {
        notes += y.sites[n].note != NULL;
        ck_assert(y.sites[n].note == NULL || !y.sites[n].exact);
      }
      sim_result_free(&x);
      sim_result_free(&y);
    }
  ck_assert_uint_gt(fewer, 50);         /* joined, or all lanes were past the branch */
  ck_assert(_i > 0 || (faults > 10 && notes > 10));
  ptx_free(m);
  free(text);
}
END_TEST

/* A fault in an unrolled loop is told once. */
START_TEST(one_fault)
{
  static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry past(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<8>; .shared .align 4 .b8 s[4096];\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, s; shl.b32 %r4, %r0, 2;\n"
    "add.s32 %r3, %r3, %r4; add.s32 %r6, %r0, 20;\n"
    "$L:\n ld.shared.u32 %r5, [%r3];\n st.shared.u32 [%r3+128], %r5;\n add.s32 %r3, %r3, 4;\n"
    " add.s32 %r2, %r2, 1; setp.lt.s32 %p0, %r2, %r6;\n @%p0 bra $L;\n ret;\n}\n";
  struct run r = load(text);
  uint64_t params[2] = {r.in, r.out};
  struct sim_launch l = {.kernel = "past", .grid = {1, 1, 1}, .block = {LANES, 1, 1},
                         .params = params, .param_bytes = sizeof params};
  struct sim_result result;
  ck_assert(!sim_launch(r.sim, &l, &result));
  for (size_t a = 0; a < result.nfaults; a++)
    for (size_t b = 0; b < a; b++)
      ck_assert_msg(result.faults[a].kind != result.faults[b].kind ||
                    result.faults[a].ptx_line != result.faults[b].ptx_line, "told twice: %s",
                    result.faults[a].text);
  sim_result_free(&result);
  close_run(&r);
}
END_TEST

Suite *suite_unroll(void)
{
  Suite *s = suite_create("unroll");
  TCase *c = tcase_create("loops");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, values_of_any_loop, 0, TYPES);
  tcase_add_test(c, values_of_known_loops);
  tcase_add_test(c, left_alone);
  tcase_add_test(c, lanes_part);
  tcase_add_test(c, the_hardwares_counts);
  tcase_add_loop_test(c, rewritten_kernels, 0, sizeof rewritten / sizeof *rewritten);
  tcase_add_test(c, one_fault);
  suite_add_tcase(s, c);
  return s;
}
