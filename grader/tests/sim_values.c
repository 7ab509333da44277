/* Makes a kernel of a table of instructions, runs it and compares: see sim_values.h. */
#include "sim_values.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARPS = 24, LANES = 32, N = WARPS * LANES, INPUTS = 4, VARIANTS = 3 };

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t state = 1;
void sim_values_seed(uint64_t seed) { state = seed; }
uint64_t sim_values_random(void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static uint64_t below(uint64_t n) { return sim_values_random() % n; }

static uint64_t integer(unsigned bits)
{
  static const uint64_t edges[] = {0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000,
                                   0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x7fffffff,
                                   0x80000000, 0xffffffff, 0x100000000, 0xaaaaaaaaaaaaaaaa,
                                   0x5555555555555555, 0x8000000000000000, 0x7fffffffffffffff};
  uint64_t v;
  switch (below(8)) {
  case 0: case 1: case 2: v = edges[below(sizeof edges / sizeof *edges)]; break;
  case 3: v = below(64); break;
  case 4: v = 1ull << below(bits); break;
  case 5: v = (sim_values_random() >> below(64)) << below(64); break;
  default: v = sim_values_random(); break;
  }
  if (below(4) == 0) v = 0 - v;
  return bits == 64 ? v : v & ((1ull << bits) - 1);
}

static uint64_t single(void)
{
  static const uint32_t edges[] = {
      0, 0x3f800000, 0x7f800000, 0x7fc00000, 0x7f800001, 0x7fffffff, 1, 2, 0x007fffff, 0x00800000,
      0x00800001, 0x7f7fffff, 0x3f7fffff, 0x3f800001, 0x3f000000, 0x3effffff, 0x3fc00000, 0x40200000,
      0x4b000000, 0x4b7fffff, 0x4effffff, 0x4f000000, 0x4f800000, 0x5f000000, 0x5f800000, 0x7e800000,
      0x7e800001, 0x7f000000, 0x40000000, 0x00400000, 0x1f800000, 0x5e800000};
  uint32_t sign = (uint32_t)(sim_values_random() & 0x80000000u), r = (uint32_t)sim_values_random();
  switch (below(8)) {
  case 0: case 1: case 2: return edges[below(sizeof edges / sizeof *edges)] | sign;
  case 3: return (r & 0x7fffff) >> below(23) | sign;
  case 4: case 5: case 6: return (r & 0x7fffff) | (uint32_t)(123 + below(9)) << 23 | sign;
  default: return r;
  }
}

static uint64_t twice(void)
{
  static const uint64_t edges[] = {
      0, 0x3ff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 1, 2,
      0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001, 0x7fefffffffffffff,
      0x3fefffffffffffff, 0x3ff0000000000001, 0x3fe0000000000000, 0x3ff8000000000000,
      0x4330000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0x43e0000000000000,
      0x43f0000000000000, 0x4340000000000000, 0x36a0000000000000, 0x369fffffffffffff,
      0x380fffffffffffff, 0x3810000000000000, 0x47efffffe0000000, 0x47effffff0000000,
      0x47f0000000000000};
  uint64_t sign = sim_values_random() & 1ull << 63, r = sim_values_random();
  switch (below(8)) {
  case 0: case 1: case 2: return edges[below(sizeof edges / sizeof *edges)] | sign;
  case 3: return (r & 0xfffffffffffff) >> below(52) | sign;
  case 4: return (r & 0xfffffffffffff) | (867 + below(40)) << 52 | sign;   /* subnormal as f32 */
  case 5: case 6: return (r & 0xfffffffffffff) | (1019 + below(9)) << 52 | sign;
  default: return r;
  }
}

/* Where conversions to integers turn. */
static double near_integer(void)
{
  static const int ends[] = {7, 8, 15, 16, 31, 32, 63, 64};
  double base = below(3) ? __builtin_ldexp(1, ends[below(8)]) : (double)below(10);
  double off[] = {0, 0.5, -0.5, 0.25, -0.25, 1, -1, 1.5, -1.5, 0.75};
  double v = base + off[below(10)];
  return below(2) ? -v : v;
}

uint64_t sim_values_input(char letter)
{
  uint64_t u = 0;
  switch (letter) {
  case 'h': return integer(16);
  case 'm': return below(4);
  case 'k': return below(60) ? 7 : below(3);
  case 'K': return below(60) ? 7ull << 40 | 9 : 9ull | below(3) << 40;
  case 'w': return integer(32);
  case 'l': return integer(64);
  case 's': return below(4) ? below(80) : integer(32);
  case 'z': return (uint32_t)(below(81) - 40);
  case 'p': return below(2);
  case 'f': return single();
  case 'F': return single() | single() << 32;
  case 'd': return twice();
  case 'i':
    if (below(3)) {
      float f = (float)near_integer();
      memcpy(&u, &f, 4);
      return below(4) ? u : (uint32_t)(u + below(3) - 1);
    }
    return single();
  case 'j':
    if (below(3)) {
      double d = near_integer();
      memcpy(&u, &d, 8);
      return below(4) ? u : u + below(3) - 1;
    }
    return twice();
  case 'u': {
    float f = (float)((double)(int64_t)sim_values_random() / 9.3e16);
    memcpy(&u, &f, 4);
    return u;
  }
  default: ck_abort_msg("no values for letter '%c'", letter);
  }
  return 0;
}

/* ---- the module ------------------------------------------------------------------------------ */

struct text {
  char *at;
  size_t n, room;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
  if (t->room - t->n < 4096) t->at = realloc(t->at, t->room = 2 * t->room + 8192);
  va_list args;
  va_start(args, format);
  t->n += (size_t)vsnprintf(t->at + t->n, t->room - t->n, format, args);
  va_end(args);
}

struct letter { const char *reg, *load; unsigned bits; };
static struct letter letter_of(char c)
{
  switch (c) {
  case 'h': return (struct letter){".b16", "u16", 16};
  case 'l': case 'K': case 'F': return (struct letter){".b64", "b64", 64};
  case 'f': case 'i': case 'u': return (struct letter){".f32", "f32", 32};
  case 'd': case 'j': return (struct letter){".f64", "f64", 64};
  case 'p': return (struct letter){".pred", "u32", 1};
  default: return (struct letter){".b32", "b32", 32};
  }
}

static const char names[] = "ABCEDQ";   /* inputs, then results */

struct shape { char in[INPUTS + 1], out[3]; };
static struct shape shape_of(const struct value_row *r)
{
  struct shape s = {{0}, {0}};
  const char *eq = strchr(r->sig, '=');
  ck_assert_msg(eq && eq - r->sig <= 2 && strlen(eq + 1) <= INPUTS, "signature %s", r->sig);
  memcpy(s.out, r->sig, (size_t)(eq - r->sig));
  strcpy(s.in, eq + 1);
  return s;
}

static void put_load(struct text *t, char name, char letter, const char *base, size_t offset)
{
  struct letter l = letter_of(letter);
  if (l.bits == 1)
    put(t, "ld.global.u32 %%r7,[%s+%zu]; setp.ne.u32 %c,%%r7,0;\n", base, offset, name);
  else put(t, "ld.global.%s %c,[%s+%zu];\n", l.load, name, base, offset);
}
static void put_store(struct text *t, char name, char letter, size_t offset)
{
  struct letter l = letter_of(letter);
  if (l.bits == 1)
    put(t, "selp.u32 %%r7,1,0,%c; st.global.u32 [%%out+%zu],%%r7;\n", name, offset);
  else put(t, "st.global.%s [%%out+%zu],%c;\n", l.load, offset, name);
}

static bool in_name(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '%';
}
static bool is_register(const char *text, size_t k)
{
  return !in_name(text[k + 1]) && (k == 0 || !in_name(text[k - 1]));
}

/* The statements, each behind `guard`; D is written as `d`. */
static void put_text(struct text *t, const char *text, const char *guard, char d)
{
  bool start = true;
  for (size_t k = 0; text[k]; k++) {
    if (start && text[k] == ' ') continue;
    if (start && text[k] != '.' && text[k] != '!') put(t, "%s", guard);
    bool all = start && text[k] == '!';
    start = text[k] == ';';
    if (all) continue;
    put(t, "%c", text[k] == 'D' && is_register(text, k) ? d : text[k]);
  }
  put(t, ";\n");
}

static bool may_alias(const struct value_row *r, const struct shape *s)
{
  return !s->out[1] && letter_of(s->out[0]).bits == letter_of(s->in[0]).bits && s->in[0] &&
         letter_of(s->in[0]).bits > 1 && !strchr(r->text, ';') && !strstr(r->text, "D.") &&
         !strcmp(letter_of(s->out[0]).reg, letter_of(s->in[0]).reg);
}

static size_t out_at(size_t row, unsigned variant, unsigned k)
{
  return ((row * VARIANTS + variant) * 2 + k) * N * 8;
}

static char *module_text(const struct value_row *rows, size_t count)
{
  struct text t = {0};
  put(&t, ".version 8.0\n.target sm_90\n.address_size 64\n"
          ".shared .align 16 .b8 shared_bytes[512]; .global .align 32 .b8 global_bytes[%d];\n"
          ".visible .entry values(.param .u64 in, .param .u64 old, .param .u64 out, .param .u64 g)\n"
          "{\n.reg .b64 %%in,%%old,%%out,%%g,%%t,%%gm,%%lm,%%sg,%%lg; .reg .pred %%G;\n"
          ".reg .b32 %%r<10>,%%M,%%sm; .local .align 16 .b8 local_bytes[16];\n"
          "ld.param.u64 %%in,[in]; ld.param.u64 %%old,[old]; ld.param.u64 %%out,[out];\n"
          "ld.param.u64 %%g,[g]; mov.u32 %%r0,%%tid.x; mov.u32 %%r1,%%ctaid.x;\n"
          "mad.lo.u32 %%r2,%%r1,32,%%r0; mul.wide.u32 %%t,%%r2,8; add.u64 %%in,%%in,%%t;\n"
          "add.u64 %%old,%%old,%%t; add.u64 %%out,%%out,%%t; mul.wide.u32 %%t,%%r1,4;\n"
          "add.u64 %%g,%%g,%%t; ld.global.u32 %%r3,[%%g]; shr.u32 %%r3,%%r3,%%r0;\n"
          "and.b32 %%r3,%%r3,1; setp.ne.u32 %%G,%%r3,0; ld.global.u32 %%r8,[%%g];\n"
          "mov.u32 %%sm,shared_bytes; mad.lo.u32 %%sm,%%r0,16,%%sm; mov.u64 %%gm,global_bytes;\n"
          "mad.wide.u32 %%gm,%%r2,16,%%gm; mov.u64 %%lm,local_bytes; cvta.local.u64 %%lg,%%lm;\n"
          "cvt.u64.u32 %%t,%%sm; cvta.shared.u64 %%sg,%%t;\n", N * 16);
  for (size_t r = 0; r < count; r++) {
    struct shape s = shape_of(&rows[r]);
    put(&t, "{ // %s\n", rows[r].text);
    for (unsigned k = 0; k < INPUTS && s.in[k]; k++)
      put(&t, ".reg %s %c;\n", letter_of(s.in[k]).reg, names[k]);
    for (unsigned k = 0; k < 2 && s.out[k]; k++)
      put(&t, ".reg %s %c;\n", letter_of(s.out[k]).reg, names[INPUTS + k]);
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
      bool alias = variant == 2;
      if (alias && !may_alias(&rows[r], &s)) continue;
      for (unsigned k = 0; k < INPUTS && s.in[k]; k++)
        put_load(&t, names[k], s.in[k], "%in", (r * INPUTS + k) * N * 8);
      for (unsigned k = 0; k < 2 && s.out[k]; k++)
        put_load(&t, names[INPUTS + k], s.out[k], "%old", (r * 2 + k) * N * 8);
      put(&t, "{ mov.u32 %%M,%s;\n", variant == 1 ? "%r8" : "-1");
      put_text(&t, rows[r].text, variant == 1 ? "@%G " : "", alias ? 'A' : 'D');
      put(&t, "}\n");
      for (unsigned k = 0; k < 2 && s.out[k]; k++)
        put_store(&t, alias ? 'A' : names[INPUTS + k], s.out[k], out_at(r, variant, k));
    }
    put(&t, "}\n");
  }
  put(&t, "ret;\n}\n");
  return t.at;
}

/* ---- running --------------------------------------------------------------------------------- */

struct loaded sim_values_load(const char *text)
{
  struct ptx_error error;
  struct loaded l;
  l.module = ptx_read(text, strlen(text), &error);
  ck_assert_msg(l.module != NULL, "line %u: %s", error.line, error.text);
  struct sim_options options = {.threads = 1, .seed = 5};
  l.sim = sim_open(&options);
  ck_assert_msg(sim_load(l.sim, l.module, &error), "line %u: %s", error.line, error.text);
  return l;
}

void sim_values_close(struct loaded *l)
{
  sim_close(l->sim);
  ptx_free(l->module);
}

void sim_values_run(struct loaded *l, const char *kernel, unsigned blocks, unsigned threads,
                    const uint64_t *params, size_t nparams)
{
  struct sim_launch launch = {.kernel = kernel, .grid = {blocks, 1, 1}, .block = {threads, 1, 1},
                              .params = params, .param_bytes = 8 * nparams};
  struct sim_result result;
  bool ok = sim_launch(l->sim, &launch, &result);
  ck_assert_msg(ok && result.completed, "%s: line %u: %s", kernel,
                result.nfaults ? result.faults[0].ptx_line : 0,
                result.nfaults ? result.faults[0].text : "not completed");
  sim_result_free(&result);
}

static uint64_t masked(uint64_t v, char letter)
{
  unsigned bits = letter_of(letter).bits;
  return bits == 64 ? v : v & ((1ull << bits) - 1);
}

static double as_double(uint64_t v, char letter)
{
  if (letter_of(letter).bits == 64) {
    double d;
    memcpy(&d, &v, 8);
    return d;
  }
  float f;
  uint32_t u = (uint32_t)v;
  memcpy(&f, &u, 4);
  return f;
}

/* Whether D = got is right. */
static bool agrees(const struct lane_values *v, char letter, uint64_t got)
{
  if (v->ranged) return as_double(got, letter) >= v->low && as_double(got, letter) <= v->high;
  if (v->any_nan && as_double(got, letter) != as_double(got, letter)) return true;
  return got == masked(v->d, letter);
}

static size_t check_row(const struct value_row *r, const struct shape *s, size_t row,
                        const uint64_t *in, const uint64_t *old, const uint8_t *out,
                        const uint32_t *guards, char *said, size_t room)
{
  size_t tried = 0;
  for (unsigned t = 0; t < N; t++) {
    unsigned first = t / LANES * LANES;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
      if (variant == 2 && !may_alias(r, s)) continue;
      struct lane_values v = {
          .a = in[t], .b = in[N + t], .c = in[2 * N + t], .e = in[3 * N + t], .was_d = old[t],
          .was_q = old[N + t], .lane = t - first, .wa = in + first, .wb = in + N + first,
          .wc = in + 2 * N + first, .active = variant == 1 ? guards[t / LANES] : UINT32_MAX,
          .arg = r->arg};
      if (v.active >> v.lane & 1) r->ref(&v);
      if (v.skip) continue;
      bool off = variant == 1 && !(guards[t / LANES] >> (t % LANES) & 1);
      for (unsigned k = 0; k < 2 && s->out[k]; k++) {
        uint64_t got;
        memcpy(&got, out + out_at(row, variant, k) + 8 * t, 8);
        got = masked(got, s->out[k]);
        uint64_t want = masked(off ? old[k * N + t] : k ? v.q : v.d, s->out[k]);
        tried++;
        if (off || k ? got == want : agrees(&v, s->out[0], got)) continue;
        char range[80] = "";
        if (v.ranged) snprintf(range, sizeof range, " (%.17g to %.17g)", v.low, v.high);
        snprintf(said, room,
                 "\n%s  A=%llx B=%llx C=%llx E=%llx: %c is %llx, not %llx%s (%s, thread %u)", r->text,
                 (unsigned long long)v.a, (unsigned long long)v.b, (unsigned long long)v.c,
                 (unsigned long long)v.e, k ? 'Q' : 'D', (unsigned long long)got,
                 (unsigned long long)want, range,
                 off ? "guarded off" : variant == 2 ? "in place" : variant ? "guarded" : "full mask",
                 t);
        return SIZE_MAX;
      }
    }
  }
  return tried;
}

bool sim_values_has(const struct value_row *rows, size_t count, const char *op)
{
  size_t n = strlen(op);
  for (size_t r = 0; r < count; r++)
    for (const char *at = rows[r].text; (at = strstr(at, op)) != NULL; at++)
      if ((at == rows[r].text || strchr("! ;", at[-1])) && (at[n] == '.' || at[n] == ' ' || !at[n]))
        return true;
  return false;
}

void sim_values_check(const struct value_row *rows, size_t count)
{
  char *text = module_text(rows, count);
  const char *keep = getenv("SIM_VALUES_PTX");   /* to look at what is run */
  if (keep) {
    FILE *f = fopen(keep, "w");
    if (f) fputs(text, f), fclose(f);
  }
  struct loaded l = sim_values_load(text);
  size_t in_bytes = count * INPUTS * N * 8, old_bytes = count * 2 * N * 8;
  size_t out_bytes = count * VARIANTS * 2 * N * 8;
  uint64_t params[4] = {sim_alloc(l.sim, in_bytes, "in", true),
                        sim_alloc(l.sim, old_bytes, "old", true),
                        sim_alloc(l.sim, out_bytes, "out", false),
                        sim_alloc(l.sim, WARPS * 4, "guards", true)};
  uint64_t *in = sim_host(l.sim, params[0], in_bytes), *old = sim_host(l.sim, params[1], old_bytes);
  uint8_t *out = sim_host(l.sim, params[2], out_bytes);
  uint32_t *guards = sim_host(l.sim, params[3], WARPS * 4);
  ck_assert(in && old && out && guards);
  sim_values_seed(count);
  for (unsigned w = 0; w < WARPS; w++)
    guards[w] = w == 0 ? 0 : w == 1 ? 0x80000000u : w == 2 ? 0xffff : (uint32_t)sim_values_random();
  for (size_t r = 0; r < count; r++) {
    struct shape s = shape_of(&rows[r]);
    for (unsigned k = 0; s.in[k]; k++)
      for (unsigned t = 0; t < N; t++) {
        uint64_t *at = &in[(r * INPUTS + k) * N + t];
        bool same = k && letter_of(s.in[k]).bits == letter_of(s.in[k - 1]).bits && below(8) == 0;
        *at = same ? at[-N] : sim_values_input(s.in[k]);
      }
    for (unsigned k = 0; s.out[k]; k++)
      for (unsigned t = 0; t < N; t++)
        old[(r * 2 + k) * N + t] = masked(sim_values_input(s.out[k]), s.out[k]);
  }
  sim_values_run(&l, "values", WARPS, LANES, params, 4);
  char said[4000] = "";
  size_t used = 0, wrong = 0;
  for (size_t r = 0; r < count; r++) {
    struct shape s = shape_of(&rows[r]);
    char one[500];
    size_t tried = check_row(&rows[r], &s, r, in + r * INPUTS * N, old + r * 2 * N, out, guards, one,
                             sizeof one);
    if (tried != SIZE_MAX) {
      ck_assert_msg(tried > N / 4, "%s: hardly any lane was compared", rows[r].text);
      continue;
    }
    wrong++;
    if (used + strlen(one) < sizeof said) used += (size_t)sprintf(said + used, "%s", one);
  }
  sim_values_close(&l);
  free(text);
  ck_assert_msg(!wrong, "%zu of %zu instructions are wrong:%s", wrong, count, said);
}
