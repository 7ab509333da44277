/* Chapter 13: measuring.  Reports of Nsight Compute as they were recorded, read and judged line by
 * line; the time a cure will save, held against recorded times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "suites/suite.h"

#define READ "chapters/13-measuring.md"

/* The recordings, inside the program (see recorded.c). */
__asm__(".pushsection .rodata\n"
        "ch13_source: .incbin \"plots/data/h200/ncu-source.csv\"\n"
        "  .byte 0\n"
        "ch13_transpose: .incbin \"plots/data/h200/transpose.tsv\"\n"
        "  .byte 0\n"
        ".popsection\n");
extern const char ch13_source[], ch13_transpose[];

/* ---- the report: its own reader, so that the student's is held against another -------------- */

enum { REPORTS = 5, ROWS = 16, CELLS = 32, CELL = 96, ROW = 1024 };
struct report { char header[ROW], row[ROWS][ROW]; int rows; };
struct counts { long requests, wavefronts, ideal; };

/* The cells of a row, quotes kept; returns how many. */
static int split(const char *row, char cells[CELLS][CELL])
{
  int n = 0, at = 0;
  for (bool quoted = false; n < CELLS; row++) {
    if (*row == '"') quoted = !quoted;
    if (*row && (quoted || *row != ',')) {
      if (at < CELL - 1) cells[n][at++] = *row;
      continue;
    }
    cells[n++][at] = 0;
    at = 0;
    if (!*row) break;
  }
  return n;
}

static void join(char *row, char cells[CELLS][CELL], int count)
{
  for (int i = 0; i < count; i++) row += sprintf(row, "%s%s", i ? "," : "", cells[i]);
}

static int column(const char *header, const char *name)
{
  char cells[CELLS][CELL], quoted[CELL];
  int count = split(header, cells);
  snprintf(quoted, sizeof quoted, "\"%s\"", name);
  for (int i = 0; i < count; i++)
    if (!strcmp(cells[i], quoted)) return i;
  return -1;
}

static long value(const char *header, const char *row, const char *name)
{
  char cells[CELLS][CELL], digits[CELL];
  int at = column(header, name), n = 0;
  if (at < 0 || split(row, cells) <= at) return 0;
  for (const char *s = cells[at]; *s; s++)
    if (*s != ',' && *s != '"') digits[n++] = *s;
  digits[n] = 0;
  return strtol(digits, NULL, 10);
}

static struct counts counts_of(const char *header, const char *row)
{
  return (struct counts){value(header, row, "Instructions Executed"),
                         value(header, row, "L1 Wavefronts Shared"),
                         value(header, row, "L1 Wavefronts Shared Ideal")};
}

static const char *const verdicts[] = {"NO_SHARED", "FREE", "WIDE", "CONFLICT"};

static int verdict_of(struct counts c)
{
  return !c.wavefronts ? 0 : c.wavefronts > c.ideal ? 3 : c.wavefronts > c.requests ? 2 : 1;
}

/* Kernel `number` of the recording. */
static void read_report(int number, struct report *out)
{
  const char *s = ch13_source;
  for (int kernel = -1, line = 0; *s; line++) {
    size_t length = strcspn(s, "\n");
    if (!strncmp(s, "\"Kernel Name\"", 13)) {
      kernel++;
      line = 0;
      out->rows = kernel <= number ? 0 : out->rows;
    } else if (kernel == number) {
      char *to = line == 1 ? out->header : out->row[out->rows];
      snprintf(to, ROW, "%.*s", (int)length, s);
      if (line > 1 && out->rows < ROWS - 1) out->rows++;
    }
    s += length + (s[length] == '\n');
  }
}

/* "4096" -> "\"4,096\"" as Nsight Compute prints it. */
static void with_commas(long n, char *cell)
{
  if (n >= 1000000)
    sprintf(cell, "\"%ld,%03ld,%03ld\"", n / 1000000, n / 1000 % 1000, n % 1000);
  else if (n >= 1000) sprintf(cell, "\"%ld,%03ld\"", n / 1000, n % 1000);
  else sprintf(cell, "\"%ld\"", n);
}

static void set(const char *header, char *row, const char *name, long n)
{
  char cells[CELLS][CELL];
  int count = split(row, cells);
  with_commas(n, cells[column(header, name)]);
  join(row, cells, count);
}

/* A report that was not recorded: another order of columns, larger counts.  The counts of each
 * row grow by one factor, so that its verdict stays; one row in a few gets a two-way conflict
 * that wastes more in all than any row with a higher ratio. */
static void disguise(struct rng *r, struct report *report)
{
  int count = 0, order[CELLS];
  char from[CELLS][CELL], to[CELLS][CELL];
  int often = (int)rng_below(r, (uint32_t)report->rows);
  for (int i = 0; i < report->rows; i++) {
    struct counts c = counts_of(report->header, report->row[i]);
    long factor = (long)rng_below(r, 300) + 20;
    if (i == often) c = (struct counts){1500, 3000, 1500};
    if (i == often) factor = 1000 + (long)rng_below(r, 1000);
    set(report->header, report->row[i], "Instructions Executed", c.requests * factor);
    set(report->header, report->row[i], "L1 Wavefronts Shared", c.wavefronts * factor);
    set(report->header, report->row[i], "L1 Wavefronts Shared Ideal", c.ideal * factor);
  }
  count = split(report->header, from);
  for (int i = 0; i < count; i++) order[i] = i;
  for (int i = count - 1; i > 0; i--) {
    int k = (int)rng_below(r, (uint32_t)i + 1), swap = order[i];
    order[i] = order[k];
    order[k] = swap;
  }
  for (int row = -1; row < report->rows; row++) {
    char *text = row < 0 ? report->header : report->row[row];
    split(text, from);
    for (int i = 0; i < count; i++) memcpy(to[i], from[order[i]], CELL);
    join(text, to, count);
  }
}

static struct report *reports(struct rng *r, bool disguised)
{
  struct report *all = calloc(REPORTS, sizeof *all);
  for (int i = 0; i < REPORTS; i++) {
    read_report(i, &all[i]);
    if (disguised) disguise(r, &all[i]);
  }
  return all;
}

/* ---- source.c --------------------------------------------------------------------------- */

static const struct { const char *text; long value; } numbers[] = {
  {"0", 0}, {"7", 7}, {"528", 528}, {"1,056", 1056}, {"12,004", 12004}, {"1,638,400", 1638400},
  {"-", 0}, {"", 0}, {"2,147,483,647", 2147483647}
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void plan_numbers(struct plan *p, struct rng *r)
{
  (void)r;
  for (int i = 0; i < NUMBERS; i++) plan_ask(p, "number `%s", numbers[i].text);
}

static void judge_numbers(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  for (int i = 0; i < NUMBERS; i++)
    if (!judge_answer_int(v, e, i, numbers[i].value, "number(\"%s\")", numbers[i].text)) return;
  verdict_pass(v, "%d numbers", NUMBERS);
}

static void plan_lines(struct plan *p, struct rng *r, bool disguised)
{
  struct report *all = reports(r, disguised);
  for (int i = 0; i < REPORTS; i++)
    for (int k = 0; k < all[i].rows; k++) {
      plan_ask(p, "ratio `%s`%s", all[i].header, all[i].row[k]);
      plan_ask(p, "verdict `%s`%s", all[i].header, all[i].row[k]);
    }
  free(all);
}

/* What the instruction of a row is, for a message. */
static void tell_row(struct verdict *v, const char *header, const char *row, struct counts c)
{
  char cells[CELLS][CELL];
  split(row, cells);
  verdict_add(v, "  the row of %s: %ld requests, %ld wavefronts, %ld ideal",
              cells[column(header, "Source")], c.requests, c.wavefronts, c.ideal);
}

static bool judge_line(struct verdict *v, const struct evidence *e, const char *header,
                       const char *row, size_t question)
{
  struct counts c = counts_of(header, row);
  double ratio = c.requests ? (double)c.wavefronts / (double)c.requests : 0;
  int want = verdict_of(c);
  bool good = judge_answer_near(v, e, question, ratio, 1e-6 * (1 + ratio), "ratio()");
  if (good)
    good = judge_answer_int(v, e, question + 1, want, "verdict() (%s is %d)", verdicts[want],
                            want);
  if (good) return true;
  tell_row(v, header, row, c);
  if (want == 2)
    verdict_add(v, "  A wide access needs more than one wavefront: that is no conflict.");
  return false;
}

static void judge_lines(struct verdict *v, const struct evidence *e, struct rng *r, bool disguised)
{
  struct report *all = reports(r, disguised);
  size_t question = 0;
  bool good = true;
  for (int i = 0; i < REPORTS && good; i++)
    for (int k = 0; k < all[i].rows && good; k++, question += 2)
      good = judge_line(v, e, all[i].header, all[i].row[k], question);
  if (good) verdict_pass(v, "%zu lines of %d kernels", question / 2, REPORTS);
  free(all);
}

static void plan_recorded_lines(struct plan *p, struct rng *r) { plan_lines(p, r, false); }
static void plan_other_lines(struct plan *p, struct rng *r) { plan_lines(p, r, true); }

static void judge_recorded_lines(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_lines(v, e, r, false);
}

static void judge_other_lines(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_lines(v, e, r, true);
}

/* Twice through the reports: as recorded, then disguised; and one of rows that waste nothing. */
static void plan_worst(struct plan *p, struct rng *r)
{
  for (int round = 0; round < 2; round++) {
    struct report *all = reports(r, round == 1);
    for (int i = 0; i < REPORTS; i++) {
      char text[(ROWS + 1) * ROW], *end = text + sprintf(text, "%s", all[i].header);
      int rows = round == 0 && i == 0 ? 4 : all[i].rows;       /* the first four waste nothing */
      for (int k = 0; k < rows; k++) end += sprintf(end, "`%s", all[i].row[k]);
      plan_ask(p, "worst `%s", text);
    }
    free(all);
  }
}

static void judge_worst(struct verdict *v, const struct evidence *e, struct rng *r)
{
  bool good = true;
  size_t question = 0;
  for (int round = 0; round < 2 && good; round++) {
    struct report *all = reports(r, round == 1);
    for (int i = 0; i < REPORTS && good; i++, question++) {
      int rows = round == 0 && i == 0 ? 4 : all[i].rows, want = -1;
      long most = 0;
      for (int k = 0; k < rows; k++) {
        struct counts c = counts_of(all[i].header, all[i].row[k]);
        if (c.wavefronts - c.ideal > most) most = c.wavefronts - c.ideal, want = k;
      }
      good = judge_answer_int(v, e, question, want, "worst() of %d rows", rows);
      if (good) continue;
      if (want < 0) {
        verdict_add(v, "  no row of this report wastes a wavefront");
        continue;
      }
      const char *row = all[i].row[want];
      tell_row(v, all[i].header, row, counts_of(all[i].header, row));
      verdict_add(v, "  it wastes %ld wavefronts in all, more than any other", most);
    }
    free(all);
  }
  if (good) verdict_pass(v, "%zu reports", question);
}

static const struct test source_tests[] = {
  {"numbers", 1, plan_numbers, judge_numbers},
  {"ratio and verdict", 3, plan_recorded_lines, judge_recorded_lines},
  {"columns by name", 2, plan_other_lines, judge_other_lines},
  {"worst line", 3, plan_worst, judge_worst},
  {0}
};

/* ---- speedup.c -------------------------------------------------------------------------- */

struct gpu { double gbs; int sms; double ghz; };
struct kernel { double bytes, wavefronts, ideal; };

static double most(double a, double b) { return a > b ? a : b; }

static double time_of(struct gpu g, struct kernel k, double wavefronts)
{
  return most(k.bytes / g.gbs, wavefronts / (g.sms * g.ghz)) / 1e6;
}

static double gain_of(struct gpu g, struct kernel k)
{
  return time_of(g, k, k.wavefronts) / time_of(g, k, k.ideal);
}

static struct gpu draw_gpu(struct rng *r)
{
  return (struct gpu){(double)rng_between(r, 200, 8000), rng_between(r, 10, 160),
                      rng_uniform(r, 1, 2.5)};
}

static struct kernel draw_kernel(struct rng *r, struct gpu g)
{
  double ms = rng_uniform(r, 0.1, 10), ideal = ms * g.sms * g.ghz * 1e6;
  static const double ways[] = {1, 1.2, 2, 4, 8, 32};
  double way = ways[rng_below(r, 6)], bytes = ms * g.gbs * 1e6 * rng_uniform(r, 0.02, 8);
  if (way > 1) way *= rng_uniform(r, 1, 1.1);              /* no two gains are equal but for 1 */
  return (struct kernel){bytes, ideal * way, ideal};
}

enum { KERNELS = 30 };

static void ask_kernels(struct plan *p, const char *what, struct gpu g, const struct kernel *k,
                        int count)
{
  char text[512], *end = text;
  for (int i = 0; i < count; i++)
    end += sprintf(end, " %.17g %.17g %.17g", k[i].bytes, k[i].wavefronts, k[i].ideal);
  plan_ask(p, "%s %.17g %d %.17g%s", what, g.gbs, g.sms, g.ghz, text);
}

static void plan_kernels(struct plan *p, struct rng *r, const char *what)
{
  for (int i = 0; i < KERNELS; i++) {
    struct gpu g = draw_gpu(r);
    struct kernel k = draw_kernel(r, g);
    ask_kernels(p, what, g, &k, 1);
  }
}

static void tell_kernel(struct verdict *v, struct gpu g, struct kernel k)
{
  verdict_add(v, "  bytes / bandwidth is %.4g ms; wavefronts take %.4g ms, and would take %.4g",
              k.bytes / g.gbs / 1e6, k.wavefronts / (g.sms * g.ghz * 1e6),
              k.ideal / (g.sms * g.ghz * 1e6));
}

static void judge_kernels(struct verdict *v, const struct evidence *e, struct rng *r, bool gain)
{
  for (int i = 0; i < KERNELS; i++) {
    struct gpu g = draw_gpu(r);
    struct kernel k = draw_kernel(r, g);
    double want = gain ? gain_of(g, k) : time_of(g, k, k.wavefronts);
    if (judge_answer_near(v, e, i, want, 1e-9 * want, gain ? "speedup()" : "milliseconds()"))
      continue;
    tell_kernel(v, g, k);
    return;
  }
  verdict_pass(v, "%d kernels on as many cards", KERNELS);
}

static void plan_times(struct plan *p, struct rng *r) { plan_kernels(p, r, "time"); }
static void plan_gains(struct plan *p, struct rng *r) { plan_kernels(p, r, "gain"); }

static void judge_times(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_kernels(v, e, r, false);
}

static void judge_gains(struct verdict *v, const struct evidence *e, struct rng *r)
{
  judge_kernels(v, e, r, true);
}

/* Three kernels; in every third set all wait for memory, so that nothing gains. */
static void draw_three(struct rng *r, struct gpu *g, struct kernel k[3], int i)
{
  *g = draw_gpu(r);
  for (int n = 0; n < 3; n++) {
    k[n] = draw_kernel(r, *g);
    if (i % 3 == 0) k[n].bytes = 1.01 * g->gbs * k[n].wavefronts / (g->sms * g->ghz);
  }
}

static void plan_three(struct plan *p, struct rng *r)
{
  for (int i = 0; i < KERNELS; i++) {
    struct gpu g;
    struct kernel k[3];
    draw_three(r, &g, k, i);
    ask_kernels(p, "which", g, k, 3);
  }
}

/* Of three gains the largest from 1.05 on; -1 when there is none. */
static int largest(const double gain[3])
{
  int best = -1;
  for (int n = 0; n < 3; n++)
    if (gain[n] >= 1.05 && (best < 0 || gain[n] > gain[best])) best = n;
  return best;
}

static void judge_three(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0; i < KERNELS; i++) {
    struct gpu g;
    struct kernel k[3];
    draw_three(r, &g, k, i);
    double gain[3] = {gain_of(g, k[0]), gain_of(g, k[1]), gain_of(g, k[2])};
    if (judge_answer_int(v, e, i, largest(gain), "which()")) continue;
    verdict_add(v, "  the three would get %.3g, %.3g and %.3g times as fast", gain[0], gain[1],
                gain[2]);
    return;
  }
  verdict_pass(v, "%d sets of three", KERNELS);
}

/* ---- ... held against the recorded transposes ------------------------------------------- */

static const char *const recorded[] = {"pitch_32", "pitch_33", "pitch_34", "pitch_36", "naive"};
static const int pitches[] = {32, 33, 34, 36, 0};
enum { RECORDED = 5, SIZES = 2, TRIPLES = 20 };
static const double sides[SIZES] = {4096, 16384};

/* GB/s that was recorded for a kernel at a size. */
static double recorded_gbs(const char *name, int size)
{
  for (const char *s = ch13_transpose; *s; s += strcspn(s, "\n"), s += *s == '\n') {
    double gbs[SIZES];
    size_t n = strlen(name);
    if (!strncmp(s, name, n) && s[n] == '\t' &&
        sscanf(s + n, "%lf %lf", &gbs[0], &gbs[1]) == SIZES)
      return gbs[size];
  }
  return 0;
}

/* An n x n transpose: for 32 elements a write of one wavefront and a read of gcd(pitch, 32). */
static struct kernel transpose(int which, int size)
{
  double elements = sides[size] * sides[size], rows = elements / 32;
  double read = model_stride_degree((uint32_t)pitches[which]);
  bool tile = pitches[which] > 0;
  return (struct kernel){8 * elements, tile ? rows * (1 + read) : 0, tile ? 2 * rows : 0};
}

/* What removing the conflicts brought when it was measured: the tile of pitch 33 has none. */
static double recorded_gain(int which, int size)
{
  if (pitches[which] == 0) return 1;              /* no shared memory, so no conflicts */
  return recorded_gbs("pitch_33", size) / recorded_gbs(recorded[which], size);
}

static struct gpu h200(int size)
{
  return (struct gpu){recorded_gbs("copy", size), 132, 1.98};
}

static int draw_triple(struct rng *r, int three[3])
{
  for (int n = 0; n < 3; n++) {
    three[n] = (int)rng_below(r, RECORDED);
    for (int m = 0; m < n; m++)
      if (three[m] == three[n]) n = -1, m = 3;             /* again: all different */
  }
  return (int)rng_below(r, SIZES);
}

static void plan_h200(struct plan *p, struct rng *r)
{
  for (int i = 0, three[3]; i < TRIPLES; i++) {
    int size = draw_triple(r, three);
    struct kernel k[3];
    for (int n = 0; n < 3; n++) k[n] = transpose(three[n], size);
    ask_kernels(p, "which", h200(size), k, 3);
  }
}

static void judge_h200(struct verdict *v, const struct evidence *e, struct rng *r)
{
  for (int i = 0, three[3]; i < TRIPLES; i++) {
    int size = draw_triple(r, three);
    double gain[3];
    for (int n = 0; n < 3; n++) gain[n] = recorded_gain(three[n], size);
    if (judge_answer_int(v, e, i, largest(gain), "which() of the transposes %s, %s, %s of %g x %g",
                         recorded[three[0]], recorded[three[1]], recorded[three[2]], sides[size],
                         sides[size]))
      continue;
    verdict_add(v, "  measured on an H200, removing the conflicts made them %.2f, %.2f and %.2f "
                "times as fast", gain[0], gain[1], gain[2]);
    return;
  }
  verdict_pass(v, "%d sets of three, as they were measured", TRIPLES);
}

static const struct test speedup_tests[] = {
  {"time", 2, plan_times, judge_times},
  {"speed-up", 2, plan_gains, judge_gains},
  {"which of three", 2, plan_three, judge_three},
  {"as measured", 3, plan_h200, judge_h200},
  {0}
};

/* ---- predictions.txt -------------------------------------------------------------------- */

static uint32_t neighbours(uint32_t width)
{
  struct access a = {.op = MODEL_LOAD, .width = width, .mask = UINT32_MAX};
  for (uint32_t t = 0; t < MODEL_LANES; t++) a.addr[t] = t * width;
  return model_cost(&a).wavefronts;
}

static const char *const prediction_names[] = {
  "per_request", "wasted", "wide_wavefronts", "wide_ideal", "fused_loads", "fused_wavefronts",
  "switched_off", "blocks_before", "blocks_after", NULL
};

static void judge_predict(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  struct prediction rows[] = {
    {"per_request", 2048 / 64, "wavefronts over instructions"},
    {"wasted", 2048 - 64, "what is there above the ideal?"},
    {"wide_wavefronts", 100 * neighbours(16),
     "try: build/banks wavefronts --op load --width 16 --stride 1"},
    {"wide_ideal", 100 * neighbours(16), "has a float4 of neighbours a conflict?  (chapter 05)"},
    {"fused_loads", 1, "the two floats of a lane are neighbours, 8 bytes, on a multiple of 8"},
    {"fused_wavefronts", neighbours(8),
     "try: build/banks wavefronts --op load --width 8 --stride 1"},
    {"switched_off", 75 / (100 - 25), "an instruction without lanes takes no wavefront"},
    {"blocks_before", model_resident_blocks(37888, 233472, 1024),
     "each block takes 1,024 bytes more"},
    {"blocks_after", model_resident_blocks(38912, 233472, 1024), "only whole blocks run"},
  };
  judge_predictions(v, e, rows, sizeof rows / sizeof *rows);
}

static const struct test predict_tests[] = {
  {"predictions", 4, NULL, judge_predict},
  {0}
};

/* ---- the table -------------------------------------------------------------------------- */

static const char *const source_hints[] = {
  "Find columns by their names, never by their place: another version of the profiler has another "
  "order.  cell() does that for you.",
  "A conflict is wavefronts above the ideal.  A ratio above 1 alone is none: 16 bytes a lane need "
  "four wavefronts.  And what has to be mended first is what wastes most in all, not what has the "
  "highest ratio.",
  "number: run through the text, take digits, skip the rest.  read_line: three times cell() and "
  "number().  worst: keep the row with the largest wavefronts - ideal above 0, from -1.",
  NULL
};

static const char *const speedup_hints[] = {
  "GB/s and ms: bytes / (gbs * 1e6) is milliseconds.  Wavefronts: sms * ghz * 1e6 of them are "
  "served in a millisecond.",
  "Both go on at the same time, so the slower one decides.  A cure changes only the wavefronts; "
  "if "
  "the bytes take longer, it changes nothing.",
  "speedup: copy the kernel, set wavefronts to ideal, divide the two times.  which: begin with "
  "-1, "
  "and take a kernel when its speed-up is at least 1.05 and larger than the best so far.",
  NULL
};

static const char *const predict_hints[] = {
  "The ratio is wavefronts over instructions; the waste is wavefronts minus ideal.",
  "A load of 16 bytes a lane takes four phases, one of 8 takes two.  Two neighbouring floats of "
  "one "
  "lane become one load.",
  "blocks: 233472 / (bytes + 1024), rounded down.",
  NULL
};

static const char source_header[] =
  "struct line { long requests, wavefronts, ideal; };\n"
  "enum verdict { NO_SHARED, FREE, WIDE, CONFLICT };\n"
  "int cell(const char *header, const char *row, const char *name, char *text, int size);\n"
  "long number(const char *text);\n"
  "struct line read_line(const char *header, const char *row);\n"
  "double ratio(struct line line);\n"
  "enum verdict verdict(struct line line);\n"
  "int worst(const char *header, const char *const rows[], int count);\n";

static const char source_driver[] = SUITE_DRIVER(
  "#include <string.h>\n"
  "static const char *next_cell(const char *s, char *text, int size)\n{\n"
  "  int n = 0, quoted = 0;\n"
  "  for (; *s && (quoted || *s != ','); s++) {\n"
  "    if (*s == '\"') quoted = !quoted;\n"
  "    else if (n < size - 1) text[n++] = *s;\n  }\n"
  "  if (size > 0) text[n] = 0;\n"
  "  return *s ? s + 1 : NULL;\n}\n"
  "int cell(const char *header, const char *row, const char *name, char *text, int size)\n{\n"
  "  char title[256];\n"
  "  if (size > 0) text[0] = 0;\n"
  "  while (header && row) {\n"
  "    header = next_cell(header, title, sizeof title);\n"
  "    row = next_cell(row, text, size);\n"
  "    if (!strcmp(title, name)) return 1;\n  }\n"
  "  if (size > 0) text[0] = 0;\n"
  "  return 0;\n}\n"
  "static void answer(const char *q, FILE *out)\n{\n"
  "  static char copy[32768];\n"
  "  const char *part[32];\n"
  "  int parts = 0;\n"
  "  snprintf(copy, sizeof copy, \"%s\", q);\n"
  "  for (char *s = strchr(copy, '`'); s && parts < 32; s = strchr(s, '`')) {\n"
  "    *s++ = 0;\n    part[parts++] = s;\n  }\n"
  "  if (parts == 0) return;\n"
  "  if (!strncmp(copy, \"number\", 6)) fprintf(out, \"%ld\", number(part[0]));\n"
  "  else if (!strncmp(copy, \"ratio\", 5))\n"
  "    fprintf(out, \"%.12g\", ratio(read_line(part[0], part[1])));\n"
  "  else if (!strncmp(copy, \"verdict\", 7))\n"
  "    fprintf(out, \"%d\", (int)verdict(read_line(part[0], part[1])));\n"
  "  else fprintf(out, \"%d\", worst(part[0], part + 1, parts - 1));\n}\n");

static const char speedup_header[] =
  "struct gpu { double gbs; int sms; double ghz; };\n"
  "struct kernel { double bytes, wavefronts, ideal; };\n"
  "double milliseconds(struct gpu gpu, struct kernel kernel);\n"
  "double speedup(struct gpu gpu, struct kernel kernel);\n"
  "int which(struct gpu gpu, const struct kernel kernel[3]);\n";

static const char speedup_driver[] = SUITE_DRIVER(
  "#include <string.h>\n"
  "static void answer(const char *q, FILE *out)\n{\n"
  "  struct gpu g;\n  struct kernel k[3];\n  char what[16];\n  int skip, n = 0;\n"
  "  if (sscanf(q, \"%15s %lf %d %lf%n\", what, &g.gbs, &g.sms, &g.ghz, &skip) != 4) return;\n"
  "  for (q += skip; n < 3 && sscanf(q, \"%lf %lf %lf%n\", &k[n].bytes, &k[n].wavefronts,\n"
  "                                  &k[n].ideal, &skip) == 3; n++) q += skip;\n"
  "  if (what[0] == 't') fprintf(out, \"%.17g\", milliseconds(g, k[0]));\n"
  "  else if (what[0] == 'g') fprintf(out, \"%.17g\", speedup(g, k[0]));\n"
  "  else fprintf(out, \"%d\", which(g, k));\n}\n");

static const struct exercise exercises[] = {
  {.id = "13-measuring/predictions", .title = "Predict: what the counters will say",
   .kind = EXERCISE_PREDICT, .file = "predictions.txt", .read = READ, .hints = predict_hints,
   .tests = predict_tests, .names = prediction_names},
  {.id = "13-measuring/source", .title = "A recorded profile, judged line by line",
   .kind = EXERCISE_NATIVE, .file = "source.c", .read = READ, .hints = source_hints,
   .tests = source_tests, .driver = source_driver, .header = source_header},
  {.id = "13-measuring/speedup", .title = "What a cure will bring, before you write it",
   .kind = EXERCISE_NATIVE, .file = "speedup.c", .read = READ, .hints = speedup_hints,
   .tests = speedup_tests, .driver = speedup_driver, .header = speedup_header},
  {0}
};

const struct suite suite_ch13 = {"13-measuring", exercises};
