/* Chapter 01: from an address to a bank, and what a bank is asked for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "suites/quiz.h"

enum { MOST = 64 };

/* One question: an address, or 32 of them and a bank. */
struct ask {
  uint32_t address[32];
  uint32_t bank;
};

/* ---- word_of, bank_of ------------------------------------------------------------------ */

static uint32_t first_of(const void *q)
{
  return ((const struct ask *)q)->address[0];
}

static int64_t want_word(const void *q)
{
  return model_word_of(first_of(q));
}
static int64_t want_bank(const void *q)
{
  return model_bank_of(first_of(q));
}
static void call_word(const void *q, char *text, size_t size)
{
  snprintf(text, size, "word_of(%" PRIu32 ")", first_of(q));
}
static void call_bank(const void *q, char *text, size_t size)
{
  snprintf(text, size, "bank_of(%" PRIu32 ")", first_of(q));
}

static int64_t bytes_kept(const void *q)
{
  return first_of(q);
}
static int64_t rounded_up(const void *q)
{
  return ((int64_t)first_of(q) + 3) / 4;
}
static int64_t one_more(const void *q)
{
  return (int64_t)first_of(q) / 4 + 1;
}
static int64_t eight_bytes(const void *q)
{
  return first_of(q) / 8;
}
static int64_t byte_mod_32(const void *q)
{
  return first_of(q) % 32;
}
static int64_t byte_mod_128(const void *q)
{
  return first_of(q) % 128;
}
static int64_t row_of(const void *q)
{
  return first_of(q) / 128;
}
static int64_t sixteen(const void *q)
{
  return first_of(q) / 4 % 16;
}

static const struct idea word_ideas[] = {
    {one_more, "add 1 to the word: words are counted from 0, and bytes 0 to 3 are word 0"},
    {bytes_kept, "return the address itself: it counts bytes, and a word has 4 of them"},
    {rounded_up,
     "round up: byte 5 lies in word 1, which is bytes 4 to 7; C's / rounds down already"},
    {eight_bytes, "divide by 8: a word of shared memory is 4 bytes, not 8"},
    {row_of, "divide by 128: that counts rows of 32 words, not words"},
    {0}};
static const struct idea bank_ideas[] = {
    {byte_mod_32, "take the address mod 32: banks are counted in words, so divide by 4 first"},
    {byte_mod_128, "take the address mod 128: that is the byte within a row; divide it by 4"},
    {want_word, "return the word: the bank is the word mod 32"},
    {row_of, "return the row: word / 32 is the row of a word, word mod 32 is its bank"},
    {sixteen, "count 16 banks, as the first CUDA cards had; there are 32"},
    {0}};

static size_t make_addresses(struct rng *r, struct ask *out)
{
  static const uint32_t edges[] = {
      0,   4,   3,   5,    8,      11,         124,        127,        128,
      131, 132, 136, 4096, 232447, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
  size_t n = sizeof edges / sizeof *edges;
  for (size_t i = 0; i < n; i++) out[i].address[0] = edges[i];
  while (n < 48) out[n++].address[0] = rng_below(r, 232448);
  return n;
}

static void plan_word(struct plan *p, struct rng *r)
{
  struct ask q[MOST];
  size_t n = make_addresses(r, q);
  for (size_t i = 0; i < n; i++) plan_ask(p, "word %" PRIu32, q[i].address[0]);
}
static void judge_word(struct verdict *v, const struct evidence *e, struct rng *r)
{
  struct ask q[MOST];
  size_t n = make_addresses(r, q);
  judge_quiz(v, e, &(struct quiz){q, sizeof *q, n, want_word, call_word, NULL, word_ideas});
}
static void plan_bank(struct plan *p, struct rng *r)
{
  struct ask q[MOST];
  size_t n = make_addresses(r, q);
  for (size_t i = 0; i < n; i++) plan_ask(p, "bank %" PRIu32, q[i].address[0]);
}
static void judge_bank(struct verdict *v, const struct evidence *e, struct rng *r)
{
  struct ask q[MOST];
  size_t n = make_addresses(r, q);
  judge_quiz(v, e, &(struct quiz){q, sizeof *q, n, want_bank, call_bank, NULL, bank_ideas});
}

/* ---- distinct_words, passes ------------------------------------------------------------ */

/* Different words among the lanes whose word lies in `bank`; any bank when `bank` is 32. */
static int64_t words_in(const struct ask *q, uint32_t bank)
{
  int64_t count = 0;
  for (int lane = 0; lane < 32; lane++) {
    uint32_t word = model_word_of(q->address[lane]);
    if (bank < 32 && model_bank_of(q->address[lane]) != bank) continue;
    bool seen = false;
    for (int i = 0; i < lane; i++) seen |= model_word_of(q->address[i]) == word;
    count += !seen;
  }
  return count;
}

static int64_t want_distinct(const void *q)
{
  const struct ask *a = q;
  return words_in(a, a->bank);
}
/* The model's own count, by the model's own way: the cost of a 4-byte load. */
static int64_t want_passes(const void *q)
{
  const struct ask *ask = q;
  struct access a = {.op = MODEL_LOAD, .width = 4, .mask = UINT32_MAX};
  for (int lane = 0; lane < 32; lane++) a.addr[lane] = ask->address[lane];
  return model_cost(&a).wavefronts;
}
static void call_distinct(const void *q, char *text, size_t size)
{
  snprintf(text, size, "distinct_words(address, %" PRIu32 ")", ((const struct ask *)q)->bank);
}
static void call_passes(const void *q, char *text, size_t size)
{
  (void)q;
  snprintf(text, size, "passes(address)");
}

static int64_t lanes_in(const struct ask *q, uint32_t bank)
{
  int64_t count = 0;
  for (int lane = 0; lane < 32; lane++) count += model_bank_of(q->address[lane]) == bank;
  return count;
}
static int64_t lanes_in_bank(const void *q)
{
  return lanes_in(q, ((const struct ask *)q)->bank);
}
static int64_t words_anywhere(const void *q)
{
  return words_in(q, 32);
}
/* Forgets only the word it has just seen in the bank: a b a counts three. */
static int64_t repeats_only_next(const void *q)
{
  const struct ask *a = q;
  int64_t count = 0;
  uint32_t last = UINT32_MAX;
  for (int lane = 0; lane < 32; lane++) {
    if (model_bank_of(a->address[lane]) != a->bank) continue;
    count += model_word_of(a->address[lane]) != last;
    last = model_word_of(a->address[lane]);
  }
  return count;
}
static int64_t banks_used(const void *q)
{
  int64_t used = 0;
  for (uint32_t b = 0; b < 32; b++) used += lanes_in(q, b) > 0;
  return used;
}
/* The largest count of one way to count, over the banks. */
static int64_t fullest(const void *q, int64_t (*count)(const void *))
{
  struct ask a = *(const struct ask *)q;
  int64_t most = 0;
  for (a.bank = 0; a.bank < 32; a.bank++)
    if (count(&a) > most) most = count(&a);
  return most;
}
static int64_t most_repeats(const void *q)
{
  return fullest(q, repeats_only_next);
}
static int64_t most_lanes(const void *q)
{
  return fullest(q, lanes_in_bank);
}
/* Right but for a bank_of that takes the address mod 32. */
static int64_t distinct_by_bytes(const void *q)
{
  const struct ask *a = q;
  int64_t count = 0;
  for (int lane = 0; lane < 32; lane++) {
    if (a->address[lane] % 32 != a->bank) continue;
    bool seen = false;
    for (int i = 0; i < lane; i++) seen |= a->address[i] == a->address[lane];
    count += !seen;
  }
  return count;
}
static int64_t most_by_bytes(const void *q)
{
  return fullest(q, distinct_by_bytes);
}
static int64_t excess_only(const void *q)
{
  return want_passes(q) - 1;
}
static int64_t bank_zero(const void *q)
{
  return words_in(q, 0);
}

static const struct idea distinct_ideas[] = {
    {lanes_in_bank,
     "count lanes: lanes that read one word are served together, so count words"},
    {repeats_only_next, "look only at the lane before: a word may come back after others"},
    {distinct_by_bytes, "take the address mod 32 for the bank: put bank_of right first"},
    {words_anywhere, "count the words of all banks: skip the lanes whose word lies elsewhere"},
    {0}};
static const struct idea passes_ideas[] = {
    {most_lanes,
     "count lanes in the fullest bank: lanes that read one word are served together"},
    {most_repeats,
     "use a distinct_words that looks only at the lane before: put that right first"},
    {most_by_bytes, "take the address mod 32 for the bank: put bank_of right first"},
    {words_anywhere, "add the banks up: they work side by side, so the fullest one decides"},
    {banks_used,
     "count the banks that are used: many banks are good; many words in one are not"},
    {excess_only, "count only the extra passes: the first pass counts too"},
    {bank_zero, "look at bank 0 alone: any of the 32 may be the fullest"},
    {0}};

/* The words a bank is asked for, each with its lanes. */
static void show_bank(struct prose *p, const struct ask *q, uint32_t bank)
{
  prose_add(p, "  bank %" PRIu32 " is asked for", bank);
  bool any = false;
  for (int lane = 0; lane < 32; lane++) {
    uint32_t word = model_word_of(q->address[lane]), lanes = 0;
    for (int i = 31; i >= 0; i--) lanes = lanes << 1 | (model_word_of(q->address[i]) == word);
    if (model_bank_of(q->address[lane]) != bank || (lanes & ((1u << lane) - 1))) continue;
    prose_add(p, "%s word %" PRIu32 " (byte %" PRIu32 ") by lane",
              any ? "\n                " : "", word, 4 * word);
    prose_lanes(p, lanes);
    any = true;
  }
  if (!any) prose_add(p, " nothing");
}
static void show_command(struct prose *p, const struct ask *q)
{
  prose_add(p, "\n  see it: build/banks wavefronts");
  for (int t = 0; t < 32; t++) prose_add(p, " %" PRIu32, q->address[t]);
}
static void show_distinct(struct prose *p, const void *q)
{
  show_bank(p, q, ((const struct ask *)q)->bank);
  show_command(p, q);
}
static void show_passes(struct prose *p, const void *q)
{
  uint32_t fullest = 0;
  for (uint32_t b = 1; b < 32; b++)
    if (words_in(q, b) > words_in(q, fullest)) fullest = b;
  prose_add(p, "  different words a bank, for banks 0 to 31:\n   ");
  for (uint32_t b = 0; b < 32; b++) prose_add(p, " %" PRId64, words_in(q, b));
  prose_add(p, "\n");
  show_bank(p, q, fullest);
  show_command(p, q);
}

/* Lane t at word base + step * t: step 0 is a broadcast, step 32 one bank. */
static void stride(struct ask *q, uint32_t base, uint32_t step)
{
  for (uint32_t t = 0; t < 32; t++) q->address[t] = 4 * (base + step * t);
}
/* Words over `rows` rows of 32, each lane where it falls. */
static void scatter(struct rng *r, struct ask *q, uint32_t rows)
{
  for (int t = 0; t < 32; t++) q->address[t] = 4 * rng_below(r, 32 * rows);
}
/* 32 different words. */
static void apart(struct rng *r, struct ask *q, uint32_t rows)
{
  for (int t = 0; t < 32; t++) {
    bool again;
    do {
      q->address[t] = 4 * rng_below(r, 32 * rows);
      again = false;
      for (int i = 0; i < t; i++) again |= q->address[i] == q->address[t];
    } while (again);
  }
}
/* A bank that some lane uses, three times out of four. */
static void choose_bank(struct rng *r, struct ask *q)
{
  uint32_t lane = rng_below(r, 32), any = rng_below(r, 32);
  q->bank = rng_below(r, 4) ? model_bank_of(q->address[lane]) : any;
}

/* Lane t alone in a bank: whoever passes over a bank, or over a lane, misses it. */
static void lone(struct rng *r, struct ask *q, uint32_t t)
{
  stride(q, rng_below(r, 500), 1);
  q->bank = model_bank_of(q->address[t]);
}
/* All banks are asked for one word, but `bank` for two, the other one by a lane that is another
 * one for each bank: one pass becomes two only because of this bank and this lane. */
static void meet_in(struct ask *q, uint32_t bank, uint32_t lane, uint32_t turn)
{
  stride(q, 0, 1);
  for (uint32_t t = 0; t < 32; t++) q->address[t] = 4 * ((t + turn) % 32);
  if (q->address[lane] == 4 * bank) lane = (lane + 1) % 32;
  q->address[lane] = 128 + 4 * bank;
}

/* No two lanes on one word: counting lanes and counting words agree. */
static size_t make_apart(struct rng *r, struct ask *q)
{
  size_t n = 0;
  stride(&q[n++], 0, 1);
  stride(&q[n++], 0, 32);
  stride(&q[n++], 5, 2);
  stride(&q[n++], 31, 33);
  stride(&q[n++], 58000, 8);
  while (n < 24) apart(r, &q[n++], 2 + rng_below(r, 30));
  for (size_t i = 0; i < n; i++) choose_bank(r, &q[i]);
  q[1].bank = 0;
  for (uint32_t t = 0; t < 32; t++) lone(r, &q[n++], t);
  return n;
}
/* Words shared by lanes that are neighbours and by lanes that are not. */
static size_t make_shared(struct rng *r, struct ask *q)
{
  size_t n = 0;
  stride(&q[n], 7, 0);
  q[n++].bank = 7;
  for (uint32_t t = 0; t < 32; t++) q[n].address[t] = 128 * (t % 4); /* a b c d a b c d ... */
  q[n++].bank = 0;
  for (uint32_t t = 0; t < 32; t++) q[n].address[t] = 128 * (t / 4) + 8;
  q[n++].bank = 2;
  while (n < 24) {
    scatter(r, &q[n], 1 + rng_below(r, 4));
    uint32_t keep = 1 + rng_below(r, 8); /* few words, many lanes */
    for (uint32_t t = keep; t < 32; t++) q[n].address[t] = q[n].address[rng_below(r, keep)];
    choose_bank(r, &q[n++]);
  }
  return n;
}
static size_t make_passes(struct rng *r, struct ask *q)
{
  size_t n = 0;
  stride(&q[n++], 0, 1);
  stride(&q[n++], 0, 32);
  stride(&q[n++], 9, 0);
  stride(&q[n++], 3, 32);
  stride(&q[n++], 1, 2);
  for (uint32_t t = 0; t < 32; t++) q[n].address[t] = 128 * (t % 4) + 12;
  n++;
  for (uint32_t t = 0; t < 32; t++) /* two full banks, side by side */
    q[n].address[t] = 4 * (t < 16 ? 32 * t : 32 * (t - 16) + 1);
  n++;
  while (n < 24) {
    scatter(r, &q[n], 1 + rng_below(r, 12));
    if (n % 2)
      for (uint32_t t = 6; t < 32; t++) q[n].address[t] = q[n].address[rng_below(r, 6)];
    n++;
  }
  uint32_t from = rng_below(r, 32), turn = rng_below(r, 32);
  for (uint32_t b = 0; b < 32; b++) meet_in(&q[n++], b, (b + from) % 32, turn);
  return n;
}

static void put(struct plan *p, const char *what, const struct ask *q)
{
  char text[640];
  int at = 0;
  for (int t = 0; t < 32; t++)
    at += snprintf(text + at, sizeof text - (size_t)at, " %" PRIu32, q->address[t]);
  plan_ask(p, "%s %" PRIu32 "%s", what, q->bank, text);
}

#define LIST_TEST(name, what, want, call, show, ideas)                                         \
  static void plan_##name(struct plan *p, struct rng *r)                                       \
  {                                                                                            \
    struct ask q[MOST] = {0};                                                                  \
    size_t n = make_##name(r, q);                                                              \
    for (size_t i = 0; i < n; i++) put(p, what, &q[i]);                                        \
  }                                                                                            \
  static void judge_##name(struct verdict *v, const struct evidence *e, struct rng *r)         \
  {                                                                                            \
    struct ask q[MOST] = {0};                                                                  \
    size_t n = make_##name(r, q);                                                              \
    judge_quiz(v, e, &(struct quiz){q, sizeof *q, n, want, call, show, ideas});                \
  }
LIST_TEST(apart, "distinct", want_distinct, call_distinct, show_distinct, distinct_ideas)
LIST_TEST(shared, "distinct", want_distinct, call_distinct, show_distinct, distinct_ideas)
LIST_TEST(passes, "passes", want_passes, call_passes, show_passes, passes_ideas)

/* ---- predictions ----------------------------------------------------------------------- */

/* Passes of a 4-byte load whose lane t reads word f(t). */
static double load_words(uint32_t (*word)(uint32_t t))
{
  struct access a = {.op = MODEL_LOAD, .width = 4, .mask = UINT32_MAX};
  for (uint32_t t = 0; t < 32; t++) a.addr[t] = 4 * (uint64_t)word(t);
  return model_cost(&a).wavefronts;
}
#define WORDS(name, of_t)                                                                      \
  static uint32_t name(uint32_t t)                                                             \
  {                                                                                            \
    return of_t;                                                                               \
  }
WORDS(shifted, t + 5)
WORDS(row, 2 * 64 + t + 9)
WORDS(column, t * 16)
WORDS(two_neighbours, t % 2 ? 8 : 7)
WORDS(halves, t / 2)
WORDS(four_rows, t % 4 * 32)
WORDS(two_words, t < 31 ? 0 : 32)

/* The smallest byte address above `from` in the same bank but in another word. */
static double next_in_bank(uint64_t from)
{
  uint64_t a = from + 1;
  while (model_bank_of(a) != model_bank_of(from) || model_word_of(a) == model_word_of(from))
    a++;
  return (double)a;
}

#define TRY(arguments) "first on paper, then: build/banks wavefronts " arguments
static void judge_places(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  const struct prediction rows[] = {
      {"word_of_byte_77", model_word_of(77),
       "a word is 4 bytes: word 0 is bytes 0 to 3, word 1 bytes 4 to 7; count on"},
      {"bank_of_byte_200", model_bank_of(200),
       TRY("--width 4 200") ", and look under which bank lane 0 is"},
      {"bank_of_double_20", model_bank_of(20 * 8),
       TRY("--width 8 --mask 1 --expr '20*8'") ", and take the first bank of lane 0"},
      {"next_in_bank_5", next_in_bank(20),
       "one row further down the same column of the figure"},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}
static void judge_rows(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  const struct prediction rows[] = {
      {"row", load_words(row), TRY("--expr '(2*64+t+9)*4'")},
      {"column", load_words(column), TRY("--expr '(t*16)*4'")},
      {"shifted", load_words(shifted), TRY("--expr '(t+5)*4'")},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}
static void judge_sharing(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  const struct prediction rows[] = {
      {"two_neighbours", load_words(two_neighbours), TRY("--expr '(7+t%2)*4'")},
      {"halves", load_words(halves), TRY("--expr '(t/2)*4'")},
      {"two_words", load_words(two_words), TRY("--expr '(t/31*32)*4'")},
      {"four_rows", load_words(four_rows), TRY("--expr '(t%4*32)*4'")},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

/* ---- the table ------------------------------------------------------------------------- */

static const struct test banks_tests[] = {
    {"word of a byte", 1, plan_word, judge_word},
    {"bank of a byte", 1, plan_bank, judge_bank},
    {"words in a bank", 1, plan_apart, judge_apart},
    {"shared words count once", 1, plan_shared, judge_shared},
    {"passes", 1, plan_passes, judge_passes},
    {0}};

static const struct test predictions_tests[] = {{"places", 2, NULL, judge_places},
                                                {"rows and columns", 1.5, NULL, judge_rows},
                                                {"shared words", 1.5, NULL, judge_sharing},
                                                {0}};

static const struct exercise exercises[] = {
    {.id = "01-banks/banks",
     .title = "From an address to a bank",
     .kind = EXERCISE_NATIVE,
     .file = "banks.c",
     .read = "chapters/01-banks.md",
     .hints = (const char *const[]){"Addresses count bytes. Find the word first, then the "
                                    "bank, then count: each function may call "
                                    "the one above it.",
                                    "word_of is one division and bank_of one remainder of what "
                                    "word_of gives. For distinct_words, "
                                    "walk over the lanes, skip those of other banks, and keep "
                                    "a list of the words you have met.",
                                    "word = address / 4 and bank = word % 32. In "
                                    "distinct_words, before you count lane t, compare its "
                                    "word with those of lanes 0 to t-1; count it only when "
                                    "none is equal. passes is the largest "
                                    "distinct_words(address, bank) over bank = 0 to 31.",
                                    NULL},
     .tests = banks_tests,
     .header = "#include <stdbool.h>\n#include <stdint.h>\n"
               "uint32_t word_of(uint32_t address);\n"
               "uint32_t bank_of(uint32_t address);\n"
               "uint32_t distinct_words(const uint32_t address[32], uint32_t bank);\n"
               "uint32_t passes(const uint32_t address[32]);\n",
     .driver = SUITE_DRIVER(
         "static void answer(const char *question, FILE *out)\n{\n"
         "  char what[16];\n  int at = 0;\n  uint32_t first, address[32];\n"
         "  if (sscanf(question, \"%15s %\" SCNu32 \"%n\", what, &first, &at) != 2) return;\n"
         "  if (!strcmp(what, \"word\")) { fprintf(out, \"%\" PRIu32, word_of(first)); return; "
         "}\n"
         "  if (!strcmp(what, \"bank\")) { fprintf(out, \"%\" PRIu32, bank_of(first)); return; "
         "}\n"
         "  char *next = (char *)question + at;\n"
         "  for (int t = 0; t < 32; t++) address[t] = (uint32_t)strtoul(next, &next, 10);\n"
         "  fprintf(out, \"%\" PRIu32, strcmp(what, \"passes\") ? distinct_words(address, "
         "first)\n"
         "                                                  : passes(address));\n}\n")},
    {.id = "01-banks/predictions",
     .title = "Predict words, banks and passes",
     .kind = EXERCISE_PREDICT,
     .file = "predictions.txt",
     .read = "chapters/01-banks.md",
     .hints =
         (const char *const[]){
             "Write the word of each lane first, as a formula in t. Only then ask for banks.",
             "Put t = 0, 1, 2 and 31 into the formula and place the words in the figure of the "
             "chapter: same "
             "column and different rows is a conflict, the same cell is not.",
             "For each question: bytes / 4 is the word, word mod 32 the bank. Count the "
             "different words of the "
             "fullest bank. Then let `build/banks wavefronts` check you; the failure says with "
             "what arguments.",
             NULL},
     .tests = predictions_tests,
     .names =
         (const char *const[]){"word_of_byte_77", "bank_of_byte_200", "bank_of_double_20",
                               "next_in_bank_5", "row", "column", "shifted", "two_neighbours",
                               "halves", "two_words", "four_rows", NULL}},
    {0}};

const struct suite suite_ch01 = {"01-banks", exercises};
