/* Random kernels, run the quick way and the plain ways: nothing may differ.
 *
 * The simulator is quick because registers share rows (sim/registers.c), because reads of shared
 * memory whose lanes lie as before are kept in a list until a write asks (sim/shadow_words.c), and
 * because such an access is neither priced nor its lanes' places looked at again (sim/count.c,
 * sim/access.c).  Each has a switch that turns it off.  A kernel here has loops, branches, branch
 * tables, tangles of jumps, calls, partly written registers, and accesses of all widths whose lanes
 * lie in many ways, in shared memory, in global memory and in both; barriers are forgotten, words
 * read that nobody wrote.  Buffers, counts and faults must be the same each way, and on two host
 * threads.
 *
 * DIFFER=N runs N kernels, from number DIFFER_FIRST on; one alone is printed. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { TEXT = 1 << 17, KINDS = 4, MOST = 12, KERNELS = 600, OWN = 128, IN = 4096,
       THREADS = 256, BLOCKS = 3, PART = 32 * 16 };

/* ---- text ----------------------------------------------------------------------------------- */

static const char letters[KINDS + 1] = "phrd";

struct writer {
  char module[TEXT], body[TEXT];   /* what is done; the function that is being written */
  size_t done, n;
  uint64_t random;
  unsigned next[KINDS];        /* registers named so far */
  unsigned have[KINDS][MOST], count[KINDS];   /* those that statements choose from */
  unsigned labels, left;       /* left: statements */
  unsigned counter;            /* the innermost loop's, a b32; 0: none */
  unsigned functions, divergent;   /* divergent: depth of branches that threads take differently */
  unsigned threads, blocks, bytes;
  bool reads, writes, own;     /* what these statements may do in shared memory; own: there alone */
  bool tidy, apart;            /* without races; each warp in a part of the array */
  bool narrow, generic, atomics, partial, forgets;
};

static unsigned below(struct writer *k, unsigned n)
{
  k->random = k->random * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(k->random >> 33) % n;
}

/* Once in n times. */
static bool one_in(struct writer *k, unsigned n) { return below(k, n) == 0; }

__attribute__((format(printf, 2, 3))) static void put(struct writer *k, const char *format, ...)
{
  va_list a;
  va_start(a, format);
  int n = vsnprintf(k->body + k->n, TEXT - k->n, format, a);
  va_end(a);
  ck_assert(n >= 0 && (size_t)n < TEXT - k->n);
  k->n += (size_t)n;
}

/* A line in which $0, $1 ... stand for the values. */
static void put_row(struct writer *k, const char *row, char values[][16])
{
  for (; *row; row++) {
    if (*row == '$') put(k, "%s", values[*++row - '0']);
    else put(k, "%c", *row);
  }
  put(k, "\n");
}

/* The module grows by a function: its head, its registers, the body. */
static void end_function(struct writer *k, const char *head)
{
  char *to = k->module + k->done;
  int n = snprintf(to, TEXT - k->done,
                   "%s\n{\n  .reg .pred %%p<%u>;\n  .reg .b16 %%h<%u>;\n  .reg .b32 %%r<%u>;\n"
                   "  .reg .b64 %%d<%u>;\n  .reg .b32 %%tid, %%lane, %%warp, %%block, %%base;\n"
                   "  .reg .b32 %%sum;\n  .reg .b64 %%in, %%own, %%window;\n%s}\n",
                   head, k->next[0] + 1, k->next[1] + 1, k->next[2] + 1, k->next[3] + 1, k->body);
  ck_assert(n > 0 && (size_t)n < TEXT - k->done);
  k->done += (size_t)n;
  k->n = 0;
  memset(k->next, 0, sizeof k->next);
  memset(k->count, 0, sizeof k->count);
}

/* ---- registers ------------------------------------------------------------------------------ */

static unsigned kind_of(char letter) { return (unsigned)(strchr(letters, letter) - letters); }
static unsigned fresh(struct writer *k, char kind) { return ++k->next[kind_of(kind)]; }

/* From now on statements may choose it, perhaps in place of another one. */
static void keep(struct writer *k, char kind, unsigned reg)
{
  unsigned c = kind_of(kind);
  if (k->count[c] < MOST) k->have[c][k->count[c]++] = reg;
  else k->have[c][below(k, MOST)] = reg;
}

static unsigned some(struct writer *k, char kind)
{
  unsigned c = kind_of(kind);
  return k->have[c][below(k, k->count[c])];
}

static void guard(struct writer *k, unsigned once_in)
{
  put(k, "  ");
  if (one_in(k, once_in)) put(k, "@%s%%p%u ", one_in(k, 2) ? "!" : "", some(k, 'p'));
}

/* Operands by letter: capitals are written, # is a number below 32. */
static const struct row { const char *operands, *text; } plain[] = {
    {"Rrr", "add.u32 $0, $1, $2;"}, {"Rrr", "xor.b32 $0, $1, $2;"},
    {"Rrr", "mul.lo.u32 $0, $1, $2;"}, {"Rrrr", "mad.lo.u32 $0, $1, $2, $3;"},
    {"Rrrr", "lop3.b32 $0, $1, $2, $3, 0x96;"},
    {"Rrrp", "selp.b32 $0, $1, $2, $3;"}, {"Rr#", "shr.u32 $0, $1, $2;"},
    {"Rd", "cvt.u32.u64 $0, $1;"},
    {"Rh", "cvt.s32.s16 $0, $1;"}, {"Rh", "cvt.u32.u16 $0, $1;"}, {"Rhh", "mov.b32 $0, {$1, $2};"},
    {"HHr", "mov.b32 {$0, $1}, $2;"}, {"Hhh", "add.u16 $0, $1, $2;"},
    {"Hr", "cvt.u16.u32 $0, $1;"},
    {"Hhhp", "selp.b16 $0, $1, $2, $3;"}, {"Ddd", "add.u64 $0, $1, $2;"},
    {"Ddd", "xor.b64 $0, $1, $2;"}, {"Drr", "mov.b64 $0, {$1, $2};"},
    {"RRd", "mov.b64 {$0, $1}, $2;"},
    {"Drrd", "mad.wide.u32 $0, $1, $2, $3;"}, {"Dr", "cvt.s64.s32 $0, $1;"},
    {"Dd#", "shl.b64 $0, $1, $2;"}, {"Dddp", "selp.b64 $0, $1, $2, $3;"},
    {"Prr", "setp.lt.s32 $0, $1, $2;"}, {"Pr#", "setp.ne.u32 $0, $1, $2;"},
    {"Pdd", "setp.gt.u64 $0, $1, $2;"}, {"PPrrp", "setp.lt.and.u32 $0|$1, $2, $3, $4;"},
    {"Ppp", "xor.pred $0, $1, $2;"}, {"Phh", "setp.eq.u16 $0, $1, $2;"},
};

static void plain_statement(struct writer *k)
{
  const struct row *row = &plain[below(k, sizeof plain / sizeof *plain)];
  char value[5][16];
  unsigned wrote[2] = {0, 0};
  for (unsigned n = 0; row->operands[n]; n++) {
    char o = row->operands[n], kind = (char)(o | 32);
    unsigned reg = 0;
    if (o >= 'A' && o <= 'Z') {
      do reg = one_in(k, 3) ? some(k, kind) : fresh(k, kind);
      while (n == 1 && reg == wrote[0]);
      wrote[n] = reg;
    } else if (o != '#') {
      reg = some(k, kind);
    }
    if (o == '#') snprintf(value[n], sizeof value[n], "%u", below(k, 32));
    else snprintf(value[n], sizeof value[n], "%%%c%u", kind, reg);
  }
  guard(k, 8);
  put_row(k, row->text, value);
  for (unsigned n = 0; n < 2 && wrote[n]; n++) keep(k, (char)(row->operands[n] | 32), wrote[n]);
}

/* What was computed shows in the result. */
static void use(struct writer *k)
{
  unsigned t = fresh(k, 'r'), u = fresh(k, 'd');
  switch (below(k, 4)) {
  case 0: put(k, "  selp.u32 %%r%u, 3, 11, %%p%u;\n", t, some(k, 'p')); break;
  case 1: put(k, "  cvt.u32.u16 %%r%u, %%h%u;\n", t, some(k, 'h')); break;
  case 2: put(k, "  mov.u32 %%r%u, %%r%u;\n", t, some(k, 'r')); break;
  default:
    put(k, "  shr.u64 %%d%u, %%d%u, 17;\n  cvt.u32.u64 %%r%u, %%d%u;\n", u, some(k, 'd'), t, u);
  }
  put(k, "  mad.lo.u32 %%sum, %%sum, 33, %%r%u;\n", t);
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* How lanes lie: $0 the register, $1 the bytes of a lane, $2 a number below 32. */
static const char *const lies[] = {
    "mul.lo.u32 $0, %tid, $1;",
    "mul.lo.u32 $0, %lane, $1; mul.lo.u32 $0, $0, $2;",
    "mov.u32 $0, $1; mul.lo.u32 $0, $0, $2;",
    "mov.u32 $0, $2; and.b32 $0, $0, 3; shr.u32 $0, %lane, $0; mul.lo.u32 $0, $0, $1;",
    "xor.b32 $0, %lane, $2; mul.lo.u32 $0, $0, $1;",
    "mad.lo.u32 $0, %lane, 5, $2; and.b32 $0, $0, 31; mul.lo.u32 $0, $0, $1;",
    "mad.lo.u32 $0, %tid, 0x9e3779b1, $2; shr.u32 $0, $0, 15; mul.lo.u32 $0, $0, $1;",
    "and.b32 $0, %lane, 7; mad.lo.u32 $0, %warp, 32, $0; mul.lo.u32 $0, $0, $1;",
};

/* A b32 with a byte of the array for each lane, a multiple of `width`. */
static unsigned place(struct writer *k, unsigned width, bool mixed)
{
  unsigned r = fresh(k, 'r'), x = below(k, 32);
  if (!mixed && one_in(k, 5)) {   /* some lanes lie otherwise */
    unsigned a = place(k, width, true), b = place(k, width, true), p = fresh(k, 'p');
    if (one_in(k, 2)) put(k, "  setp.lt.u32 %%p%u, %%lane, %u;\n", p, x & ~7u);
    else put(k, "  setp.eq.u32 %%p%u, %%lane, %u;\n", p, x);
    put(k, "  selp.b32 %%r%u, %%r%u, %%r%u, %%p%u;\n", r, a, b, p);
    return r;
  }
  char value[3][16];
  snprintf(value[0], sizeof value[0], "%%r%u", r);
  snprintf(value[1], sizeof value[1], "%u", width);
  snprintf(value[2], sizeof value[2], "%u", x);
  put(k, "  ");
  put_row(k, lies[below(k, sizeof lies / sizeof *lies)], value);
  if (k->counter && !one_in(k, 3))
    put(k, "  mad.lo.u32 %%r%u, %%r%u, %u, %%r%u;\n", r, k->counter, width << below(k, 6), r);
  unsigned room = k->apart ? PART : k->bytes;
  put(k, "  and.b32 %%r%u, %%r%u, %u;\n", r, r, (room - 1) & ~(width - 1));
  if (k->apart) put(k, "  mad.lo.u32 %%r%u, %%warp, %u, %%r%u;\n", r, PART, r);
  return r;
}

/* A part of the thread's own 16 bytes. */
static unsigned own_place(struct writer *k, unsigned width)
{
  unsigned r = fresh(k, 'r');
  put(k, "  mad.lo.u32 %%r%u, %%tid, 16, %u;\n", r, width * below(k, 16 / width));
  return r;
}

/* The address of byte %r`at` of the array, generic or not; or, in some lanes, of global memory. */
static void put_address(struct writer *k, bool store, unsigned at, const char **space, char *out)
{
  unsigned a = fresh(k, 'r'), x = fresh(k, 'd'), y = fresh(k, 'd'), z = fresh(k, 'd');
  *space = ".shared";
  if (!k->generic || one_in(k, 2)) {
    put(k, "  add.u32 %%r%u, %%r%u, %%base;\n", a, at);
    sprintf(out, "%%r%u", a);
    return;
  }
  *space = "";
  put(k, "  cvt.u64.u32 %%d%u, %%r%u;\n  add.u64 %%d%u, %%d%u, %%window;\n", x, at, x, x);
  if (store) {
    put(k, "  add.u64 %%d%u, %%own, %u;\n", y, 16 * below(k, OWN / 16 - 1));
  } else {
    put(k, "  cvt.u64.u32 %%d%u, %%r%u;\n  and.b64 %%d%u, %%d%u, %u;\n", y, at, y, y, IN - 16);
    put(k, "  add.u64 %%d%u, %%d%u, %%in;\n", y, y);
  }
  put(k, "  selp.b64 %%d%u, %%d%u, %%d%u, %%p%u;\n", z, x, y, some(k, 'p'));
  sprintf(out, "%%d%u", z);
}

static const struct shape { const char *type, *vector; char kind; unsigned width, n; } shapes[] = {
    {"u32", "", 'r', 4, 1}, {"u32", "", 'r', 4, 1}, {"u32", "", 'r', 4, 1}, {"b64", "", 'd', 8, 1},
    {"u32", ".v2", 'r', 4, 2}, {"u32", ".v4", 'r', 4, 4}, {"b64", ".v2", 'd', 8, 2},
    {"u32", "", 'd', 4, 1}, {"u16", "", 'h', 2, 1}, {"u8", "", 'r', 1, 1}, {"u16", "", 'd', 2, 1},
    {"u8", ".v4", 'h', 1, 4}, {"u16", ".v4", 'h', 2, 4}, {"u8", "", 'd', 1, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, WIDE_SHAPES = 8 };

static void access_statement(struct writer *k, bool store)
{
  const struct shape *s = &shapes[below(k, k->narrow ? SHAPES : WIDE_SHAPES)];
  unsigned bytes = s->width * s->n, regs[4];
  unsigned at = k->own ? own_place(k, bytes) : place(k, bytes, false);
  char where[16], values[64] = "";
  const char *space;
  put_address(k, store, at, &space, where);
  for (unsigned e = 0; e < s->n; e++) {
    regs[e] = store || (s->n == 1 && one_in(k, 4)) ? some(k, s->kind) : fresh(k, s->kind);
    size_t used = strlen(values);
    snprintf(values + used, sizeof values - used, "%s%%%c%u", e ? ", " : "", s->kind, regs[e]);
  }
  const char *open = s->n > 1 ? "{" : "", *close = s->n > 1 ? "}" : "";
  guard(k, 6);
  if (store && k->atomics && !strcmp(s->type, "u32") && s->n == 1 && s->kind == 'r')
    put(k, "red%s.add.u32 [%s], %s;\n", space, where, values);
  else if (store)
    put(k, "st%s%s.%s [%s], %s%s%s;\n", space, s->vector, s->type, where, open, values, close);
  else
    put(k, "ld%s%s.%s %s%s%s, [%s];\n", space, s->vector, s->type, open, values, close, where);
  for (unsigned e = 0; !store && e < s->n; e++) keep(k, s->kind, regs[e]);
}

/* ---- the way through the code --------------------------------------------------------------- */

static void statements(struct writer *k, unsigned depth, unsigned most);

/* What is defined inside is not chosen outside, but for registers that took another's place. */
static void inside(struct writer *k, unsigned depth, bool divergent)
{
  unsigned count[KINDS];
  memcpy(count, k->count, sizeof count);
  k->divergent += divergent;
  statements(k, depth + 1, 1 + below(k, 8));
  k->divergent -= divergent;
  memcpy(k->count, count, sizeof count);
}

static void branch(struct writer *k, unsigned depth)
{
  unsigned other = ++k->labels, end = ++k->labels;
  put(k, "  @%s%%p%u bra L%u;\n", one_in(k, 2) ? "!" : "", some(k, 'p'), other);
  inside(k, depth, true);
  if (one_in(k, 2)) {
    put(k, "  bra L%u;\nL%u:\n", end, other);
    inside(k, depth, true);
    put(k, "L%u:\n", end);
  } else {
    put(k, "L%u:\n", other);
  }
}

static void table(struct writer *k, unsigned depth)
{
  unsigned n = 2 + below(k, 3), first = k->labels + 1, r = fresh(k, 'r');
  k->labels += n + 2;
  put(k, "  rem.u32 %%r%u, %%r%u, %u;\nL%u: .branchtargets ", r, some(k, 'r'), n, first + n);
  for (unsigned t = 0; t < n; t++) put(k, "%sL%u", t ? ", " : "", first + t);
  put(k, ";\n  brx.idx %%r%u, L%u;\n", r, first + n);
  for (unsigned t = n; t-- > 0;) {
    put(k, "L%u:\n", first + t);
    inside(k, depth, true);
    if (!one_in(k, 4)) put(k, "  bra L%u;\n", first + n + 1);
  }
  put(k, "L%u:\n", first + n + 1);
}

/* Round as often for every thread, or not. */
static void loop(struct writer *k, unsigned depth)
{
  bool divergent = one_in(k, 3);
  unsigned again = ++k->labels, end = ++k->labels;
  unsigned i = fresh(k, 'r'), n = fresh(k, 'r'), p = fresh(k, 'p');
  unsigned outer = k->counter;
  if (divergent) put(k, "  and.b32 %%r%u, %%r%u, 3;\n", n, one_in(k, 2) ? i : some(k, 'r'));
  else put(k, "  mov.u32 %%r%u, %u;\n", n, 2 + below(k, depth ? 3 : 10));
  put(k, "  mov.u32 %%r%u, 0;\nL%u:\n", i, again);
  bool early = divergent || one_in(k, 2);
  if (early)
    put(k, "  setp.ge.u32 %%p%u, %%r%u, %%r%u;\n  @%%p%u bra L%u;\n", p, i, n, p, end);
  k->counter = i;
  inside(k, depth, divergent);
  k->counter = outer;
  put(k, "  add.u32 %%r%u, %%r%u, 1;\n", i, i);
  if (early) put(k, "  bra L%u;\n", again);
  else put(k, "  setp.lt.u32 %%p%u, %%r%u, %%r%u;\n  @%%p%u bra L%u;\n", p, i, n, p, again);
  put(k, "L%u:\n", end);
}

/* Blocks of which each ends with a jump to any of them, also into loops; a thread leaves when
 * its fuel is spent. */
static void tangle(struct writer *k)
{
  unsigned n = 2 + below(k, 8), first = k->labels + 1, end = first + n, count[KINDS];
  unsigned fuel = fresh(k, 'r'), p = fresh(k, 'p');
  k->labels += n + 1;
  memcpy(count, k->count, sizeof count);
  k->divergent++;
  put(k, "  mov.u32 %%r%u, %u;\n  bra L%u;\n", fuel, 5 + below(k, 30), first + below(k, n));
  for (unsigned b = 0; b < n; b++) {
    put(k, "L%u:\n  sub.u32 %%r%u, %%r%u, 1;\n  setp.le.s32 %%p%u, %%r%u, 0;\n  @%%p%u bra L%u;\n",
        first + b, fuel, fuel, p, fuel, p, end);
    statements(k, 3, below(k, 6));
    put(k, "  @%s%%p%u bra L%u;\n", one_in(k, 2) ? "!" : "", some(k, 'p'), first + below(k, n));
  }
  put(k, "L%u:\n", end);
  k->divergent--;
  memcpy(k->count, count, sizeof count);
}

static void call(struct writer *k)
{
  unsigned r = fresh(k, 'r'), h = fresh(k, 'h');
  put(k, "  call (%%r%u, %%h%u), f%u, (%%r%u, %%d%u);\n", r, h, below(k, k->functions),
      some(k, 'r'), some(k, 'd'));
  keep(k, 'r', r);
  keep(k, 'h', h);
}

static void meet(struct writer *k)
{
  if (k->divergent) return;
  if (k->threads % 32 || one_in(k, 2)) put(k, "  bar.sync 0;\n");
  else if (k->partial && one_in(k, 2)) put(k, "  bar.warp.sync %%half;\n");
  else put(k, "  bar.warp.sync 0xffffffff;\n");
}

static void statements(struct writer *k, unsigned depth, unsigned most)
{
  for (; most && k->left; most--) {
    k->left--;
    unsigned what = below(k, 30);
    if (what < 6) { if (k->reads) access_statement(k, false); }
    else if (what < 11) { if (k->writes) access_statement(k, true); }
    else if (what < 15) use(k);
    else if (what < 17 && depth < 3) branch(k, depth);
    else if (what < 19 && depth < 3) loop(k, depth);
    else if (what == 19 && depth < 2) table(k, depth);
    else if (what == 20 && k->functions) call(k);
    else if (what == 21 && !k->tidy) meet(k);
    else if (what == 22 && depth < 2) tangle(k);
    else plain_statement(k);
  }
}

static void begin(struct writer *k, const char *more)
{
  put(k, "  mov.u32 %%tid, %%tid.x;\n  and.b32 %%lane, %%tid, 31;\n  shr.u32 %%warp, %%tid, 5;\n"
         "  mov.u32 %%block, %%ctaid.x;\n  mov.u32 %%base, s;\n  mov.u32 %%sum, 1;\n"
         "  cvt.u64.u32 %%window, %%base;\n  cvta.shared.u64 %%window, %%window;\n%s"
         "  setp.lt.u32 %%p1, %%lane, 16;\n  cvt.u16.u32 %%h1, %%tid;\n"
         "  mad.lo.u32 %%r1, %%tid, 40503, 7;\n  mad.wide.u32 %%d1, %%tid, 65537, 77;\n", more);
  for (unsigned c = 0; c < KINDS; c++) {
    k->next[c] = 2;
    keep(k, letters[c], 1);
  }
}

static void write_function(struct writer *k, unsigned number)
{
  char head[120];
  begin(k, "");
  put(k, "  ld.param.b32 %%r2, [a];\n  ld.param.b64 %%d2, [b];\n");
  keep(k, 'r', 2);
  keep(k, 'd', 2);
  k->reads = k->writes = false;
  k->left = 4 + below(k, 12);
  k->divergent = 1;
  statements(k, 1, k->left);
  k->divergent = 0;
  use(k);
  put(k, "  st.param.b32 [x], %%sum;\n  st.param.b16 [y], %%h%u;\n  ret;\n", some(k, 'h'));
  snprintf(head, sizeof head,
           ".func (.param .b32 x, .param .b16 y) f%u (.param .b32 a, .param .b64 b)", number);
  end_function(k, head);
}

static void write_kernel(struct writer *k, unsigned number)
{
  static const unsigned threads[] = {32, 64, 64, 96, 128, THREADS, 40};
  memset(k, 0, sizeof *k);
  k->random = number * 0x9e3779b97f4a7c15u + 1;
  for (unsigned n = 0; n < 4; n++) below(k, 2);
  k->threads = threads[below(k, sizeof threads / sizeof *threads)];
  k->blocks = 1 + below(k, BLOCKS);
  k->bytes = 4096u << below(k, 2);
  k->tidy = one_in(k, 2);
  k->apart = k->threads % 32 == 0 && one_in(k, 4);
  k->forgets = one_in(k, 4);
  k->narrow = one_in(k, 3);
  k->generic = one_in(k, 2);
  k->atomics = !k->tidy && one_in(k, 4);
  k->partial = one_in(k, 4);
  k->done = (size_t)snprintf(k->module, TEXT, ".version 7.8\n.target sm_90\n.address_size 64\n"
                             ".shared .align 16 .b8 s[%u];\n", k->bytes);
  unsigned functions = one_in(k, 2) ? 1 + below(k, 2) : 0;
  for (unsigned f = 0; f < functions; f++) write_function(k, f);
  k->functions = functions;
  begin(k, "  .reg .b32 %half;\n  and.b32 %half, %lane, 16;\n  mov.u32 %sum, 0xffff;\n"
           "  shl.b32 %half, %sum, %half;\n"
           "  ld.param.u64 %own, [out];\n  ld.param.u64 %in, [from];\n"
           "  mov.u32 %r2, %ntid.x;\n  mad.lo.u32 %r2, %block, %r2, %tid;\n"
           "  mul.wide.u32 %d2, %r2, 128;\n  add.u64 %own, %own, %d2;\n");
  if (!one_in(k, 6)) {   /* the array is filled, but for its end at times */
    put(k, "  shl.b32 %%r2, %%tid, 2;\nFILL:\n  setp.ge.u32 %%p2, %%r2, %u;\n",
        k->bytes - (one_in(k, 6) ? 64 : 0));
    put(k, "  @%%p2 bra FILLED;\n  add.u32 %%r2, %%r2, %%base;\n  st.shared.u32 [%%r2], %%tid;\n"
           "  sub.u32 %%r2, %%r2, %%base;\n  add.u32 %%r2, %%r2, %u;\n  bra FILL;\nFILLED:\n",
        4 * k->threads);
    if (!one_in(k, 8)) put(k, "  bar.sync 0;\n");
  }
  for (unsigned parts = 1 + below(k, 5), part = 0; part < parts; part++) {
    k->own = k->tidy && one_in(k, 2);
    k->writes = k->own || !k->tidy;
    k->reads = !k->own || one_in(k, 2);
    k->left = 10 + below(k, 30);
    statements(k, 0, k->left);
    if (k->forgets && one_in(k, 2)) continue;
    put(k, k->apart ? "  bar.warp.sync 0xffffffff;\n" : "  bar.sync 0;\n");
  }
  use(k);
  put(k, "  st.global.u32 [%%own+%u], %%sum;\n  ret;\n", OWN - 4);
  end_function(k, ".visible .entry k(.param .u64 out, .param .u64 from)");
}

/* ---- running it ----------------------------------------------------------------------------- */

/* others: which of the threads that meet somebody is told depends on the order in which the lanes
 * of an access are looked at, word by word or lane by lane. */
static const struct way { const char *name; struct sim_options options; bool others; } ways[] = {
    {"the quick way", {.threads = 1}, false},
    {"a row for each register", {.threads = 1, .no_sharing = true}, false},
    {"each access as if it were the first", {.threads = 1, .no_patterns = true}, true},
    {"two host threads", {.threads = 2}, false},
};
enum { WAYS = sizeof ways / sizeof *ways, OUT = BLOCKS * THREADS * OWN };

struct outcome {
  struct sim_result result;
  uint8_t out[OUT];
};

static void run(const struct writer *k, unsigned number, const struct way *way, struct outcome *o)
{
  struct ptx_error e;
  struct ptx_module *m = ptx_read(k->module, k->done, &e);
  ck_assert_msg(m != NULL, "kernel %u, line %u: %s", number, e.line, e.text);
  struct sim_options options = way->options;
  options.no_fuse = number % 2;
  struct sim *sim = sim_open(&options);
  ck_assert(sim != NULL);
  ck_assert_msg(sim_load(sim, m, &e), "kernel %u, line %u: %s", number, e.line, e.text);
  struct { uint64_t out, from; } params;
  params.out = sim_alloc(sim, OUT, "out", false);
  params.from = sim_alloc(sim, IN, "from", true);
  ck_assert(params.out && params.from);
  uint8_t *from = sim_host(sim, params.from, IN), *out = sim_host(sim, params.out, OUT);
  for (unsigned n = 0; n < IN; n++) from[n] = (uint8_t)(n * 2654435761u >> 11);
  memset(out, 0xcb, OUT);
  struct sim_launch l = {.kernel = "k", .grid = {k->blocks, 1, 1}, .block = {k->threads, 1, 1},
                         .params = &params, .param_bytes = sizeof params};
  sim_launch(sim, &l, &o->result);
  memcpy(o->out, out, OUT);
  sim_close(sim);
  ptx_free(m);
}

static bool same_sites(const struct sim_result *a, const struct sim_result *b)
{
  bool same = a->nsites == b->nsites;
  for (size_t n = 0; same && n < a->nsites; n++)
    same = !memcmp(&a->sites[n], &b->sites[n], sizeof *a->sites);
  return same;
}

static bool same_fault(const struct sim_fault *a, const struct sim_fault *b, bool others)
{
  if (!others) return !memcmp(a, b, sizeof *a);
  return a->kind == b->kind && a->fatal == b->fatal && a->ptx_line == b->ptx_line &&
         a->count == b->count && a->width == b->width &&
         !memcmp(a->block, b->block, sizeof a->block);
}

static void compare(unsigned number, const struct way *way, const struct outcome *a,
                    const struct outcome *b)
{
  const struct sim_result *x = &a->result, *y = &b->result;
  ck_assert_msg(!memcmp(a->out, b->out, OUT), "kernel %u: values differ with %s", number,
                way->name);
  ck_assert_msg(!memcmp(&x->totals, &y->totals, sizeof x->totals),
                "kernel %u: totals differ with %s", number, way->name);
  ck_assert_msg(same_sites(x, y), "kernel %u: counts differ with %s", number, way->name);
  ck_assert_msg(x->completed == y->completed && x->nfaults == y->nfaults,
                "kernel %u: %zu faults, %zu with %s", number, x->nfaults, y->nfaults, way->name);
  for (size_t f = 0; f < x->nfaults; f++)
    ck_assert_msg(same_fault(&x->faults[f], &y->faults[f], way->others),
                  "kernel %u: PTX line %u, %lu times: %s\nwith %s: PTX line %u, %lu times: %s",
                  number, x->faults[f].ptx_line, (unsigned long)x->faults[f].count,
                  x->faults[f].text, way->name, y->faults[f].ptx_line,
                  (unsigned long)y->faults[f].count, y->faults[f].text);
}

static unsigned setting(const char *name, unsigned otherwise)
{
  const char *v = getenv(name);
  return v ? (unsigned)strtoul(v, NULL, 10) : otherwise;
}

START_TEST(every_way)
{
  static struct writer k;
  static struct outcome plain_way, other;
  unsigned n = setting("DIFFER", KERNELS), first = setting("DIFFER_FIRST", 0);
  unsigned clean = 0, race = 0, unwritten = 0;
  for (unsigned number = first; number < first + n; number++) {
    write_kernel(&k, number);
    if (n == 1) printf("%s// %u blocks of %u threads\n", k.module, k.blocks, k.threads);
    run(&k, number, &ways[0], &plain_way);
    for (unsigned w = 1; w < WAYS; w++) {
      run(&k, number, &ways[w], &other);
      compare(number, &ways[w], &plain_way, &other);
      sim_result_free(&other.result);
    }
    const struct sim_result *r = &plain_way.result;
    bool races = false;
    for (size_t f = 0; f < r->nfaults; f++) races |= r->faults[f].kind == SIM_FAULT_RACE;
    clean += !r->nfaults;
    race += races;
    unwritten += r->unwritten > 0;
    sim_result_free(&plain_way.result);
  }
  /* Kernels of every sort are among them. */
  ck_assert_msg(n < 100 || (clean > n / 5 && race > n / 5 && unwritten > n / 20),
                "of %u kernels %u without a fault, %u with a race, %u with an unwritten read", n,
                clean, race, unwritten);
}
END_TEST

Suite *suite_differ(void)
{
  Suite *s = suite_create("differ");
  TCase *t = tcase_create("random kernels");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, every_way);
  suite_add_tcase(s, t);
  return s;
}
