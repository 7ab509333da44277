/* Chapter 06: the exercises in C and the predictions. */
#include <stdio.h>

#include "suites/ch06.h"

enum { QUESTIONS = 60 };

/* ---- swizzle.c ----------------------------------------------------------------------------- */

struct functor { uint32_t index; int bits, base, shift; };

static struct functor functor_question(struct rng *r, int i, bool negative)
{
  static const struct functor fixed[] = {
    {1000, 3, 4, 3}, {0, 3, 4, 3}, {127, 3, 4, 3}, {128, 3, 4, 3}, {896, 3, 4, 3},
    {1023, 2, 4, 3}, {1023, 1, 4, 3}, {0x3ff, 5, 0, 5}, {77, 0, 2, 3}, {4095, 3, 2, 3}
  };
  struct functor f;
  if (i < 10) {
    f = fixed[i];
  } else {
    f.bits = (int)rng_below(r, 5) + 1;
    f.base = (int)rng_below(r, 6);
    f.shift = f.bits + (int)rng_below(r, 5);
    f.index = rng_below(r, 1u << 20);
  }
  if (negative) f.shift = -f.shift;
  return f;
}

static void plan_functor(struct plan *p, struct rng *r, bool negative)
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct functor f = functor_question(r, i, negative);
    plan_ask(p, "swizzle %u %d %d %d", f.index, f.bits, f.base, f.shift);
  }
}

static void judge_functor(struct verdict *v, const struct evidence *e, struct rng *r,
                          bool negative)
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct functor f = functor_question(r, i, negative);
    int64_t want = (int64_t)model_swizzle(f.index, (unsigned)f.bits, (unsigned)f.base, f.shift);
    if (judge_answer_int(v, e, i, want, "swizzle(%u, %d, %d, %d)", f.index, f.bits, f.base,
                         f.shift))
      continue;
    int from = f.shift > 0 ? f.base + f.shift : f.base,
        to = f.shift > 0 ? f.base : f.base - f.shift;
    uint32_t bits = f.index >> from & ((1u << f.bits) - 1);
    verdict_add(v, "  the %d bits from bit %d up are %u; they are XORed into those from bit %d up",
                f.bits, from, bits, to);
    return;
  }
  verdict_pass(v, "%d indices", QUESTIONS);
}

static void plan_positive(struct plan *p, struct rng *r) { plan_functor(p, r, false); }
static void plan_negative(struct plan *p, struct rng *r) { plan_functor(p, r, true); }

static void judge_positive(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_functor(v, e, r, false);
}

static void judge_negative(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_functor(v, e, r, true);
}

enum { MAP = 32 };
struct map { int n, to[MAP]; };

/* Every third is a permutation.  The others have one number twice, or one that is too large or
 * below zero; in some of them the sum is that of a permutation. */
static struct map map_question(struct rng *r, int i)
{
  struct map m = {.n = i < 3 ? i + 1 : (int)rng_below(r, MAP - 4) + 5};
  for (int k = 0; k < m.n; k++) m.to[k] = k;
  for (int k = m.n - 1; k > 0; k--) {
    int other = (int)rng_below(r, (uint32_t)k + 1), held = m.to[k];
    m.to[k] = m.to[other];
    m.to[other] = held;
  }
  if (i < 3 || i % 3 == 0) return m;
  int k = (int)rng_below(r, (uint32_t)m.n);
  if (i % 4 == 1) k = 0;                  /* at either end, too */
  if (i % 4 == 2) k = m.n - 1;
  if (i % 9 == 1) m.to[k] = m.n + (int)rng_below(r, 3);
  else if (i % 9 == 2) m.to[k] = -1 - (int)rng_below(r, 3);
  else if (i % 9 < 6) m.to[k] = m.to[(k + 1) % m.n];
  else {                                  /* one up and another down: the sum stays */
    int up = 0, down = 0;
    while (m.to[up] != 1) up++;
    while (m.to[down] != 3) down++;
    m.to[up]++;
    m.to[down]--;
  }
  return m;
}

static bool is_map(const struct map *m)
{
  bool seen[MAP] = {0};
  for (int k = 0; k < m->n; k++) {
    if (m->to[k] < 0 || m->to[k] >= m->n || seen[m->to[k]]) return false;
    seen[m->to[k]] = true;
  }
  return true;
}

static void map_text(const struct map *m, char *out, size_t size)
{
  size_t used = 0;
  for (int k = 0; k < m->n && used < size; k++)
    used += (size_t)snprintf(out + used, size - used, " %d", m->to[k]);
}

static void plan_maps(struct plan *p, struct rng *r)
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct map m = map_question(r, i);
    char text[256];
    map_text(&m, text, sizeof text);
    plan_ask(p, "map %d%s", m.n, text);
  }
}

static void judge_maps(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct map m = map_question(r, i);
    char text[256];
    map_text(&m, text, sizeof text);
    if (!judge_answer_int(v, e, i, is_map(&m), "is_permutation({%s }, %d)", text, m.n)) return;
  }
  verdict_pass(v, "%d maps", QUESTIONS);
}

struct spot { int row, byte, mode; };

static struct spot spot_question(struct rng *r, int i)
{
  static const struct spot fixed[] = {
    {0, 0, 128}, {5, 32, 128}, {5, 32, 64}, {5, 16, 32}, {7, 127, 128}, {8, 16, 128}, {3, 63, 64}
  };
  if (i < 7) return fixed[i];
  int mode = 32 << rng_below(r, 3);
  int row = (int)rng_below(r, 64);
  return (struct spot){row, (int)rng_below(r, (uint32_t)mode), mode};
}

static uint32_t tma_of(struct spot s)
{
  enum model_tma mode = s.mode == 32 ? MODEL_TMA_32B : s.mode == 64 ? MODEL_TMA_64B
                                                                   : MODEL_TMA_128B;
  return (uint32_t)model_tma_swizzle((uint64_t)s.row * s.mode + s.byte, mode);
}

static void plan_spots(struct plan *p, struct rng *r)
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct spot s = spot_question(r, i);
    plan_ask(p, "tma %d %d %d", s.row, s.byte, s.mode);
  }
}

static void judge_spots(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0; i < QUESTIONS; i++) {
    struct spot s = spot_question(r, i);
    if (judge_answer_int(v, e, i, tma_of(s), "tma_offset(%d, %d, %d)", s.row, s.byte, s.mode))
      continue;
    verdict_add(v, "  the dense offset is %d: that is line %d of 128 bytes, and piece %d of the "
                "line", s.row * s.mode + s.byte, (s.row * s.mode + s.byte) / 128,
                (s.row * s.mode + s.byte) / 16 % 8);
    return;
  }
  verdict_pass(v, "%d bytes of tiles", QUESTIONS);
}

const struct test ch06_swizzle[] = {
  {"functor", 1.5, plan_positive, judge_positive},
  {"negative shifts", 0.5, plan_negative, judge_negative},
  {"permutation", 1, plan_maps, judge_maps},
  {"tma", 1.5, plan_spots, judge_spots},
  {0}
};

/* ---- smallest.c ---------------------------------------------------------------------------- */

struct shape { int row_bytes, width; };

static int log2_of(int n)
{
  int bits = 0;
  while (1 << bits < n) bits++;
  return bits;
}

/* All shapes: widths 4, 8 and 16, rows of two elements up to 1024 bytes. */
static size_t all_shapes(struct shape *out)
{
  size_t n = 0;
  for (int width = 4; width <= 16; width *= 2)
    for (int row = 2 * width; row <= 1024; row *= 2) out[n++] = (struct shape){row, width};
  return n;
}

/* Whether Swizzle<bits, log2(width), shift> makes all columns of the tile free. */
static bool frees(struct shape s, int bits, int shift)
{
  for (int column = 0; column < s.row_bytes; column += s.width) {
    struct access a = {.op = MODEL_LOAD, .width = (uint32_t)s.width, .mask = UINT32_MAX};
    for (uint32_t t = 0; t < MODEL_LANES; t++)
      a.addr[t] = model_swizzle((uint64_t)t * s.row_bytes + column, (unsigned)bits,
                                (unsigned)log2_of(s.width), shift);
    struct model_cost cost = model_cost(&a);
    if (cost.wavefronts != cost.ideal) return false;
  }
  return true;
}

/* By trying: the fewest bits, and with them the smallest shift that leaves rows in their
 * places. */
static void smallest(struct shape s, int *bits, int *shift)
{
  for (*bits = 1; *bits <= 5; ++*bits)
    for (*shift = log2_of(s.row_bytes / s.width); *shift <= 12; ++*shift)
      if (*shift >= *bits && frees(s, *bits, *shift)) return;
}

static void plan_smallest(struct plan *p, struct rng *r)
{
  (void)r;
  struct shape s[32];
  size_t n = all_shapes(s);
  for (size_t i = 0; i < n; i++) plan_ask(p, "smallest %d %d", s[i].row_bytes, s[i].width);
}

static void judge_smallest(struct verdict *v, const struct evidence *e, bool which)
{
  struct shape s[32];
  size_t n = all_shapes(s);
  for (size_t i = 0; i < n; i++) {
    int bits, shift, got[2];
    smallest(s[i], &bits, &shift);
    if (!e->answers[i] || sscanf(e->answers[i], "%d %d", &got[0], &got[1]) != 2) {
      judge_answer_int(v, e, i, bits, "swizzle_bits(%d, %d)", s[i].row_bytes, s[i].width);
      return;
    }
    if (got[which] == (which ? shift : bits)) continue;
    verdict_fail(v, "%s: swizzle_%s(%d, %d): expected %d, got %d", e->file,
                 which ? "shift" : "bits", s[i].row_bytes, s[i].width, which ? shift : bits,
                 got[which]);
    if (which)
      verdict_add(v, "  with %d bits, rows that collide must differ in the bits that are XORed in",
                  bits);
    else
      verdict_add(v, "  a phase has %d lanes; without a swizzle they meet %d different places",
                  128 / s[i].width, s[i].row_bytes < 128 ? 128 / s[i].row_bytes : 1);
    return;
  }
  verdict_pass(v, "%zu tiles", n);
}

static void judge_bits(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  judge_smallest(v, e, false);
}

static void judge_shift(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  judge_smallest(v, e, true);
}

const struct test ch06_smallest[] = {
  {"bits", 2, plan_smallest, judge_bits},
  {"shift", 1.5, plan_smallest, judge_shift},
  {0}
};

/* ---- predictions.txt ----------------------------------------------------------------------- */

enum way { XOR_ROW, XOR_COLUMN, XOR_8, ROTATED, PLAIN_48, HALVED_48, PIECE_PLAIN, PIECE_XOR };

static uint32_t cost_of(enum way way)
{
  struct access a = {.op = MODEL_LOAD, .width = way >= PIECE_PLAIN ? 16 : 4, .mask = UINT32_MAX};
  for (uint32_t t = 0; t < MODEL_LANES; t++) {
    const uint32_t element[] = {
      [XOR_ROW] = 32 * 5 + (t ^ 5), [XOR_COLUMN] = 32 * t + (7 ^ t),
      [XOR_8] = 32 * t + (7 ^ t % 8), [ROTATED] = 32 * t + (7 + t) % 32,
      [PLAIN_48] = 48 * t + 5, [HALVED_48] = 48 * t + (5 ^ t / 2),
      [PIECE_PLAIN] = 8 * t + 3, [PIECE_XOR] = 8 * t + (3 ^ t % 8),
    };
    a.addr[t] = (uint64_t)a.width * element[way];
  }
  return model_cost(&a).wavefronts;
}

const char *const ch06_names[] = {
    "xor_row",     "xor_column", "xor_8",       "rotated",   "outside_48",
    "plain_48",    "halved_48",  "piece_plain", "piece_xor", "swizzled_1000",
    "base_floats", "tma_128",    "tma_64",      NULL};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  int outside = 0, base = 0;
  for (int column = 0; column < 48; column++) outside += (column ^ 31) >= 48;
  while (model_swizzle(250, 3, (unsigned)base, 3) * 4 != model_swizzle(1000, 3, 4, 3)) base++;
#define TRY(width, expr) \
  "try: build/banks wavefronts --op load --width " #width " --expr '" expr "'"
  struct prediction rows[] = {
    {"xor_row", cost_of(XOR_ROW), TRY(4, "(32*5+(t^5))*4")},
    {"xor_column", cost_of(XOR_COLUMN), TRY(4, "(32*t+(7^t))*4")},
    {"xor_8", cost_of(XOR_8), TRY(4, "(32*t+(7^t%8))*4")},
    {"rotated", cost_of(ROTATED), TRY(4, "(32*t+(7+t)%32)*4")},
    {"outside_48", outside, "which columns have bit 5 set?  What does ^ 31 make of 32?"},
    {"plain_48", cost_of(PLAIN_48), TRY(4, "(48*t+5)*4")},
    {"halved_48", cost_of(HALVED_48), TRY(4, "(48*t+(5^t/2))*4")},
    {"piece_plain", cost_of(PIECE_PLAIN), TRY(16, "(8*t+3)*16")},
    {"piece_xor", cost_of(PIECE_XOR), TRY(16, "(8*t+(3^t%8))*16")},
    {"swizzled_1000", (double)model_swizzle(1000, 3, 4, 3),
     "write 1000 in binary; bits 7 to 9 are XORed into bits 4 to 6"},
    {"base_floats", base, "4 bytes are one float: how many of the low bits does an index lose?"},
    {"tma_128", tma_of((struct spot){5, 32, 128}), "which line of 128 bytes is it, which piece?"},
    {"tma_64", tma_of((struct spot){5, 32, 64}),
     "5 * 64 + 32 is in which line of 128 bytes?  Two bits of that number count"},
  };
#undef TRY
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

const struct test ch06_predictions[] = {
  {"predictions", 3, NULL, judge_predict},
  {0}
};

/* ---- what drives the C files --------------------------------------------------------------- */

const char ch06_swizzle_header[] =
  "unsigned swizzle(unsigned index, int bits, int base, int shift);\n"
  "int is_permutation(const int *map, int n);\n"
  "int tma_offset(int row, int byte, int mode);\n";

const char ch06_swizzle_driver[] = SUITE_DRIVER(
  "static void answer(const char *q, FILE *out)\n{\n"
  "  int a, b, c, n, skip, map[64];\n  unsigned index;\n"
  "  if (sscanf(q, \"swizzle %u %d %d %d\", &index, &a, &b, &c) == 4)\n"
  "    fprintf(out, \"%u\", swizzle(index, a, b, c));\n"
  "  if (sscanf(q, \"tma %d %d %d\", &a, &b, &c) == 3)\n"
  "    fprintf(out, \"%d\", tma_offset(a, b, c));\n"
  "  if (sscanf(q, \"map %d%n\", &n, &skip) != 1 || n > 64) return;\n"
  "  q += skip;\n"
  "  for (int i = 0; i < n && sscanf(q, \"%d%n\", &map[i], &skip) == 1; i++) q += skip;\n"
  "  fprintf(out, \"%d\", is_permutation(map, n));\n}\n");

const char ch06_smallest_header[] =
  "int swizzle_bits(int row_bytes, int width);\n"
  "int swizzle_shift(int row_bytes, int width);\n";

const char ch06_smallest_driver[] = SUITE_DRIVER(
  "static void answer(const char *q, FILE *out)\n{\n  int row, width;\n"
  "  if (sscanf(q, \"smallest %d %d\", &row, &width) == 2)\n"
  "    fprintf(out, \"%d %d\", swizzle_bits(row, width), swizzle_shift(row, width));\n}\n");
