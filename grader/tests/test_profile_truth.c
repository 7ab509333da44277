/* Is what `banks profile` prints so?  Over every launch of tests/kernels/launches.tsv the lines add up
 * to the totals and the table and the JSON say the same.  And what it advises is done: the launch
 * with the advised layout pays what was promised (tests/profile/advice.cu has the layout as arguments). */
#define _GNU_SOURCE
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/run.h"
#include "tests/typed.h"

void test_profile_truth(Suite *s);

/* ---- sums, the table, the JSON -------------------------------------------------------------- */

struct sums { uint64_t requests, cost, ideal; };

/* Of a global class the totals have no ideal. */
static struct sums total(const struct sim_totals *t, enum profile_class c)
{
  switch (c) {
  case PROFILE_SHARED_LOAD:
    return (struct sums){t->shared_load.requests, t->shared_load.wavefronts, t->shared_load.ideal};
  case PROFILE_SHARED_STORE:
    return (struct sums){t->shared_store.requests, t->shared_store.wavefronts, t->shared_store.ideal};
  case PROFILE_SHARED_ATOMIC:
    return (struct sums){t->shared_atomic.requests, t->shared_atomic.wavefronts,
                         t->shared_atomic.ideal};
  case PROFILE_GLOBAL_LOAD: return (struct sums){t->global_load.requests, t->global_load.sectors, 0};
  case PROFILE_GLOBAL_STORE: return (struct sums){t->global_store.requests, t->global_store.sectors, 0};
  default: return (struct sums){t->global_atomic.requests, t->global_atomic.sectors, 0};
  }
}

static void check_sums(const char *row, const struct profile *p)
{
  struct sums sum[PROFILE_CLASSES] = {{0, 0, 0}};
  for (size_t i = 0; i < p->nlines; i++) {
    const struct sim_site *s = &p->lines[i].sum;
    struct sums *to = &sum[p->lines[i].class];
    bool global = p->lines[i].class >= PROFILE_GLOBAL_LOAD;
    uint64_t cost = global ? s->sectors : s->wavefronts;
    ck_assert_msg((global ? s->wavefronts : s->sectors) == 0, "%s: line %u", row, s->line);
    ck_assert_msg(s->ideal <= cost && p->lines[i].excess == cost - s->ideal, "%s: line %u", row,
                  s->line);
    to->requests += s->requests;
    to->cost += cost;
    if (!global) to->ideal += s->ideal;
  }
  for (int c = 0; c < PROFILE_CLASSES; c++) {
    struct sums want = total(&p->result->totals, (enum profile_class)c);
    ck_assert_msg(!memcmp(&want, &sum[c], sizeof want), "%s: class %d: lines %" PRIu64 " %" PRIu64
                  " %" PRIu64 ", totals %" PRIu64 " %" PRIu64 " %" PRIu64, row, c, sum[c].requests,
                  sum[c].cost, sum[c].ideal, want.requests, want.cost, want.ideal);
  }
}

static char *printed(const struct profile *p, bool json)
{
  char *out = NULL;
  size_t size;
  FILE *f = open_memstream(&out, &size);
  if (json) ck_assert(profile_json(f, p));
  else profile_print(f, p, 0);
  fclose(f);
  return out;
}

static uint64_t number(const json_t *j, const char *key)
{
  const json_t *n = json_object_get(j, key);
  ck_assert_msg(json_is_integer(n), "no '%s'", key);
  return (uint64_t)json_integer_value(n);
}

static const char *string(const json_t *j, const char *key)
{
  const char *s = json_string_value(json_object_get(j, key));
  ck_assert_msg(s != NULL, "no '%s'", key);
  return s;
}

/* The keys that programs rely on, exactly. */
static void check_keys(const char *row, const json_t *j, const struct profile *p)
{
  static const char *const classes[PROFILE_CLASSES] = {
    "shared_load", "shared_store", "shared_atomic", "global_load", "global_store", "global_atomic"};
  const json_t *totals = json_object_get(j, "totals");
  ck_assert_str_eq(string(j, "kernel"), p->kernel);
  ck_assert(json_is_object(totals) && json_is_array(json_object_get(j, "lines")) &&
            json_is_array(json_object_get(j, "faults")));
  ck_assert_uint_eq(number(totals, "warp_instructions"), p->result->totals.warp_instructions);
  for (int c = 0; c < PROFILE_CLASSES; c++) {
    const json_t *k = json_object_get(totals, classes[c]);
    struct sums want = total(&p->result->totals, (enum profile_class)c);
    bool global = c >= PROFILE_GLOBAL_LOAD;
    ck_assert_msg(json_object_size(k) == (global ? 2 : 3), "%s: %s", row, classes[c]);
    ck_assert_uint_eq(number(k, "requests"), want.requests);
    ck_assert_uint_eq(number(k, global ? "sectors" : "wavefronts"), want.cost);
    if (!global) ck_assert_uint_eq(number(k, "ideal"), want.ideal);
  }
  ck_assert_uint_eq(json_array_size(json_object_get(j, "faults")), p->result->nfaults);
}

/* The i-th row of the table that is neither heading, note nor blank; its words. */
static void check_table(const char *row, const json_t *j, const char *table)
{
  const json_t *lines = json_object_get(j, "lines");
  size_t i, found = 0;
  json_t *l;
  json_array_foreach(lines, i, l) {
    char want[400], stride[32] = "-";
    bool global = json_object_get(l, "sectors") != NULL;
    uint64_t requests = number(l, "requests"), cost = number(l, global ? "sectors" : "wavefronts");
    const char *file = strrchr(string(l, "file"), '/');
    file = file ? file + 1 : string(l, "file");
    if (json_is_integer(json_object_get(l, "stride")))
      snprintf(stride, sizeof stride, "%" PRIu64, number(l, "stride"));
    if (stride[0] != '-' && json_integer_value(json_object_get(l, "stride")) < 0)
      snprintf(stride, sizeof stride, "%" JSON_INTEGER_FORMAT,
               json_integer_value(json_object_get(l, "stride")));
    uint64_t at = number(l, "line") ? number(l, "line") : number(l, "ptx_line");
    char where[280];
    snprintf(where, sizeof where, "%s:%" PRIu64, file, at);
    snprintf(want, sizeof want, "%-20s %-18s %3" PRIu64 " B %10" PRIu64 " %s%8.2f %8.2f %11" PRIu64
             " %7s  ", where, string(l, "access"), number(l, "width"), requests,
             json_is_true(json_object_get(l, "exact")) ? " " : "~", (double)cost / (double)requests,
             (double)number(l, "ideal") / (double)requests, number(l, "excess"), stride);
    ck_assert_msg(strstr(table, want) != NULL, "%s: no row '%s' in\n%s", row, want, table);
    ck_assert_msg(strstr(table, string(l, "source")) != NULL, "%s: %s", row, string(l, "source"));
    found++;
  }
  for (const char *at = table; (at = strstr(at, " B ")); at += 3) found -= found > 0;
  ck_assert_msg(found == 0, "%s: the table has fewer rows than the JSON", row);
}

static unsigned times(const char *text, const char *part)
{
  unsigned n = 0;
  for (; (text = strstr(text, part)); text++) n++;
  return n;
}

/* What the joining is unsure of is said at the line, once. */
static void check_notes(const char *row, const struct profile *p, const struct ptx_function *f)
{
  struct sim_unrolled *u = sim_unroll(p->module, f);
  struct sim_plan *plan = NULL;
  size_t n = sim_plan(p->module, u ? &u->function : f, &plan);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; plan[i].reason && k < p->result->nsites; k++) {
      const struct sim_site *s = &p->result->sites[k];
      if (p->module->functions[s->function] != f || s->inst != (u ? u->from[plan[i].inst] : plan[i].inst)) continue;
      unsigned told = 0;
      for (size_t l = 0; l < p->nlines; l++)
        if (p->lines[l].sum.line == s->line && p->lines[l].sum.op == s->op)
          told |= times(p->lines[l].note, plan[i].reason) == 1;
      ck_assert_msg(told, "%s: line %u does not say '%s' once", row, s->line, plan[i].reason);
    }
  free(plan);
  sim_unrolled_free(u);
}

enum { PARTS = 4 };                        /* a part a test: they run side by side */

START_TEST(lines_add_up)
{
  size_t n;
  char **rows = typed_rows("grader/tests/kernels/launches.tsv", &n);
  ck_assert_uint_gt(n, 50);
  for (size_t i = 0; i < n; i++) {
    if (i % PARTS == (size_t)_i) {
      struct profile p;
      struct request *q = typed_profile(rows[i], &p);
      ck_assert_msg(q->result.completed && !q->result.nfaults, "%s", rows[i]);
      check_sums(rows[i], &p);
      check_notes(rows[i], &p, q->entry);
      char *text = printed(&p, true), *table = printed(&p, false);
      json_t *j = json_loads(text, 0, NULL);
      ck_assert_ptr_nonnull(j);
      check_keys(rows[i], j, &p);
      check_table(rows[i], j, table);
      json_decref(j);
      free(text), free(table);
      typed_end(q, &p);
    }
    free(rows[i]);
  }
  free(rows);
}
END_TEST

START_TEST(a_note_is_shown_once)
{
  struct profile p;
  struct request *q = typed_profile("grader/tests/kernels/reduce.ptx reduce3 --grid 4 --block 128 "
                                    "--shared 512 f32[1000] f32[4] i32:1000", &p);
  ck_assert_uint_gt(p.nlines, 1);
  strcpy(p.lines[1].note, "the compiler may know better");
  char *json = printed(&p, true), *table = printed(&p, false);
  ck_assert_uint_eq(times(table, "note: the compiler may know better\n"), 1);
  ck_assert_uint_eq(times(json, "\"note\": \"the compiler may know better\""), 1);
  ck_assert_uint_eq(times(json, "\"note\": "), (unsigned)p.nlines);
  free(json), free(table);
  typed_end(q, &p);
}
END_TEST

START_TEST(ldmatrix_is_a_shared_load)
{
  struct profile p;
  struct request *q = typed_profile("grader/tests/kernels/mma.ptx gemm_mma --grid 1 --block 128 "
                                    "f16[1024] f16[1024] f32[1024] i32:32 i32:32 i32:32", &p);
  uint64_t matrix = 0, others = 0;
  for (size_t i = 0; i < p.nlines; i++)
    if (!strncmp(p.lines[i].operation, "ldmatrix", 8)) matrix += p.lines[i].sum.wavefronts;
    else if (p.lines[i].class == PROFILE_SHARED_LOAD) others += p.lines[i].sum.wavefronts;
  ck_assert_uint_gt(matrix, 0);
  ck_assert_uint_eq(q->result.totals.shared_load.wavefronts, matrix + others);
  typed_end(q, &p);
}
END_TEST

/* ---- advice, done --------------------------------------------------------------------------- */

/* The worst request of the first line of this class, and what it was told. */
static unsigned worst(const char *row, enum profile_class class, char advice[400])
{
  struct profile p;
  struct request *q = typed_profile(row, &p);
  const struct profile_line *l = NULL;
  for (size_t i = 0; i < p.nlines && !l; i++)
    if (p.lines[i].class == class && strstr(p.lines[i].source, "clear(") == NULL &&
        strstr(p.lines[i].source, "tile<int>()[i]") == NULL)
      l = &p.lines[i];
  ck_assert_msg(l != NULL, "%s: no such access", row);
  unsigned cost = l->sum.worst_wavefronts;
  ck_assert_msg((l->spare > 0) == (*l->advice != 0) || class == PROFILE_GLOBAL_ATOMIC, "%s: excess %" PRIu64 ", told '%s'", row,
                l->excess, l->advice);
  strcpy(advice, l->advice);
  typed_end(q, &p);
  return cost;
}

static unsigned column(unsigned width, bool store, unsigned pitch, unsigned chunks, bool swap,
                       unsigned lanes, char advice[400])
{
  char row[300];
  snprintf(row, sizeof row, "grader/tests/profile/advice.ptx %s%u --grid 1 --block 32 --shared 48000 "
           "u8[%u] i32:%u i32:%u i32:%d i32:%u", store ? "store" : "load", width, 32 * width, pitch,
           chunks, swap, lanes);
  return worst(row, store ? PROFILE_SHARED_STORE : PROFILE_SHARED_LOAD, advice);
}

/* Does each thing that was advised; returns how many there were. */
static unsigned follow(unsigned width, bool store, unsigned pitch, unsigned lanes, const char *advice,
                       unsigned kinds[4])
{
  unsigned a, b, c, d, promised, unit, done = 0, got;
  char next[400];
  const char *at;
  if ((at = strstr(advice, "pad the rows"))) {
    ck_assert_msg(sscanf(at, "pad the rows from %u to %u bytes (%u to %u elements of %u byte%*[s]): %u", &a, &b,
                         &c, &d, &unit, &promised) == 6 ||
                  sscanf(at, "pad the rows from %u to %u bytes (%u to %u elements of %u byte): %u", &a, &b,
                         &c, &d, &unit, &promised) == 6, "'%s'", advice);
    ck_assert_msg(a == pitch * width && b == d * unit && a == c * unit && d > c && b % width == 0, "'%s'", advice);
    got = column(width, store, b / width, 1, false, lanes, next);
    ck_assert_msg(got == promised, "%u bytes, pitch %u: '%s' gives %u", width, pitch, advice, got);
    kinds[lanes > 1 ? 3 : 0]++, done++;
  }
  if ((at = strstr(advice, "XOR the column"))) {
    bool whole = sscanf(at, "XOR the column by the row (column ^ row %% %u, in units of %u bytes): %u",
                        &a, &unit, &promised) == 3;
    ck_assert_msg(whole || sscanf(at, "XOR the column by the row (column ^ row / %u %% %u, in units of %u "
                                  "bytes): %u", &b, &a, &unit, &promised) == 4, "'%s'", advice);
    if (whole && unit == width) {
      got = column(width, store, pitch, a, false, lanes, next);
      ck_assert_msg(got == promised, "%u bytes, pitch %u: '%s' gives %u", width, pitch, advice, got);
    }
    kinds[1]++, done++;
  }
  if ((at = strstr(advice, "(swap the loops): "))) {
    promised = (unsigned)atoi(at + strlen("(swap the loops): "));
    got = column(width, store, pitch, 1, true, lanes, next);
    ck_assert_msg(got == promised, "%u bytes, pitch %u: '%s' gives %u", width, pitch, advice, got);
    ck_assert_msg(!*next, "'%s' after '%s'", next, advice);
    kinds[2]++, done++;
  }
  return done;
}

START_TEST(advice_keeps_its_promise)
{
  static const unsigned widths[] = {1, 4, 8, 16}, pitches[] = {2, 3, 8, 12, 16, 20, 32, 34, 40, 48, 64};
  unsigned width = widths[_i], kinds[4] = {0};
  char advice[400];
  for (int store = 0; store < 2; store++)
    for (size_t k = 0; k < sizeof pitches / sizeof *pitches; k++) {
      unsigned pitch = pitches[k], unit = width < 4 ? 4 / width : 1;
      column(width, store, pitch * unit, 1, false, 1, advice);
      if (*advice)
        ck_assert_msg(follow(width, store, pitch * unit, 1, advice, kinds), "'%s' was not tried",
                      advice);
      for (unsigned lanes = 2; lanes <= 16 && width >= 4; lanes *= 2) {
        if (pitch < lanes) continue;
        column(width, store, pitch, 1, false, lanes, advice);
        if (*advice)
          ck_assert_msg(follow(width, store, pitch, lanes, advice, kinds), "'%s' was not tried",
                        advice);
      }
    }
  ck_assert_uint_gt(kinds[0], 0);
  ck_assert_uint_gt(kinds[1], 0);
  ck_assert_uint_gt(kinds[2], 0);
  ck_assert(width < 4 || kinds[3] > 0);
}
END_TEST

START_TEST(advice_on_global_memory)
{
  char row[300], advice[400], next[400];
  for (int store = 0; store < 2; store++) {
    enum profile_class class = store ? PROFILE_GLOBAL_STORE : PROFILE_GLOBAL_LOAD;
    static const char format[] = "grader/tests/profile/advice.ptx global_%s --grid 1 --block 32 "
                                 "f32[%u] f32[%u] i32:%u i32:%u";
    unsigned promised;
    for (unsigned stride = 1; stride <= 32; stride++)
      for (unsigned first = 0; first < 8; first += 3) {
        unsigned many = 32 * stride + first;
        snprintf(row, sizeof row, format, store ? "store" : "load", store ? 32 : many, store ? many : 32,
                 stride, first);
        unsigned cost = worst(row, class, advice);
        ck_assert_msg((stride == 1 && first == 0) == !*advice, "%u %u: %u sectors, '%s'", stride, first,
                      cost, advice);
        if (!*advice) continue;
        if (stride == 1) {
          const char *at = strstr(advice, " give ");
          ck_assert_msg(at && strstr(advice, "neighbouring elements already"), "'%s'", advice);
          promised = (unsigned)atoi(at + 6);
        } else {
          const char *at = strrchr(advice, ':');
          char told[40];
          snprintf(told, sizeof told, "lanes are %u bytes apart", 4 * stride);
          ck_assert_msg(at && strstr(advice, told), "'%s'", advice);
          promised = (unsigned)atoi(at + 1);
        }
        snprintf(row, sizeof row, format, store ? "store" : "load", 32u, 32u, 1u, 0u);
        ck_assert_msg(worst(row, class, next) == promised && promised < cost, "'%s'", advice);
      }
  }
}
END_TEST

/* A launch of layouts.cu: grid 1; what follows its kernel's name. */
static void layouts(const char *launch, char row[300])
{
  snprintf(row, 300, "grader/tests/kernels/layouts.ptx %s", launch);
}

/* Advice, and the same kernel with that done: it costs what was promised; what gets worse was told. */
static const struct { const char *launch, *advice; enum profile_class class;
                      const char *applied; unsigned before, promised; } cures[] = {
  {"'window<20>' --grid 1 --block 16,16 f32[400] f32[256]",
   "pad the rows from 80 to 192 bytes (20 to 48 elements of 4 bytes): 1 wavefront (line 11 then costs 2, not 1)",
   PROFILE_SHARED_LOAD, "'window<48>' --grid 1 --block 16,16 f32[400] f32[256]", 2, 1},
  {"'window<20>' --grid 1 --block 16,16 f32[400] f32[256]", "", PROFILE_SHARED_STORE,
   "'window<48>' --grid 1 --block 16,16 f32[400] f32[256]", 1, 2},
  {"'every_other<32,0>' --grid 1 --block 32,8 f16[4096] f16[4096]",
   "pad the rows from 128 to 132 bytes (32 to 33 elements of 4 bytes): 2 wavefronts", PROFILE_SHARED_LOAD,
   "'every_other<33,0>' --grid 1 --block 32,8 f16[4096] f16[4096]", 32, 2},
  {"'every_other<32,0>' --grid 1 --block 32,8 f16[4096] f16[4096]",
   "XOR the column by the row (column ^ row / 2 % 32, in units of 4 bytes): 1;", PROFILE_SHARED_LOAD,
   "'every_other<32,2>' --grid 1 --block 32,8 f16[4096] f16[4096]", 32, 1},
  {"'by_fours<0,0>' --grid 1 --block 16,16 f32[4096] f32[1024]",
   "pad the rows from 256 to 260 bytes (64 to 65 elements of 4 bytes): 2 wavefronts (line ", PROFILE_SHARED_LOAD,
   "'by_fours<1,0>' --grid 1 --block 16,16 f32[4096] f32[1024]", 16, 2},
  {"'by_fours<0,0>' --grid 1 --block 16,16 f32[4096] f32[1024]",
   "XOR the column by the row (column ^ row / 4 % 16, in units of 16 bytes): 2;", PROFILE_SHARED_LOAD,
   "'by_fours<0,4>' --grid 1 --block 16,16 f32[4096] f32[1024]", 16, 2},
  {"records_plain --grid 1 --block 128 f32[128] f32[128]", "pad each struct from 16 to 20 bytes: 1 wavefront",
   PROFILE_SHARED_LOAD, "records_padded --grid 1 --block 128 f32[128] f32[128]", 4, 1},
};

START_TEST(advice_on_declared_rows)
{
  char row[300], advice[400], next[400];
  layouts(cures[_i].launch, row);
  ck_assert_uint_eq(worst(row, cures[_i].class, advice), cures[_i].before);
  ck_assert_msg(strstr(advice, cures[_i].advice) != NULL, "%s: '%s'", row, advice);
  layouts(cures[_i].applied, row);
  ck_assert_msg(worst(row, cures[_i].class, next) == cures[_i].promised, "'%s' done: %s", advice, row);
}
END_TEST

/* wmma takes longer rows, but none that are XORed. */
START_TEST(advice_on_fragments)
{
  char row[300], advice[400];
  layouts("fragments --grid 1 --block 32 f16[256] f32[256]", row);
  ck_assert_uint_gt(worst(row, PROFILE_SHARED_LOAD, advice), 4);
  ck_assert_msg(strstr(advice, "pad the rows from 32 to 48 bytes (16 to 24 elements of 2 bytes): 4 wavefronts") &&
                !strstr(advice, "XOR"), "'%s'", advice);
}
END_TEST

/* What has rows that cannot be made longer is told so, or what else there is to say. */
static const struct { const char *launch, *says; enum profile_class class; } no_cures[] = {
  {"copied --grid 1 --block 32 f32[1024] f32[32]", "the rows stay as they are: a bulk copy", PROFILE_SHARED_LOAD},
  {"two_of_three --grid 1 --block 64 i32[64] i32[64]", "each phase takes one wavefront already; the 16 active "
   "lanes would need 2", PROFILE_SHARED_LOAD},
  {"one_sum --grid 1 --block 32 f32[32]=1 f32[32]", "32 lanes update one address; add up in registers",
   PROFILE_SHARED_ATOMIC},
};

START_TEST(advice_without_a_layout)
{
  char row[300], advice[400];
  layouts(no_cures[_i].launch, row);
  ck_assert_uint_gt(worst(row, no_cures[_i].class, advice), 1);
  ck_assert_msg(strstr(advice, no_cures[_i].says) && !strstr(advice, "pad the") && !strstr(advice, "XOR"),
                "%s: '%s'", row, advice);
}
END_TEST

/* Of equals the first warp's request is shown, whose lanes lie as one would draw them. */
START_TEST(the_first_warp_is_shown)
{
  struct profile p;
  char row[300];
  layouts("records_plain --grid 2 --block 128 f32[128] f32[128]", row);
  struct request *q = typed_profile(row, &p);
  ck_assert_uint_gt(p.nlines, 0);
  ck_assert_uint_eq(p.lines[0].sum.worst_wavefronts, 4);
  ck_assert_uint_eq(p.lines[0].sum.worst_warp, 0);
  ck_assert_uint_eq(p.lines[0].sum.worst_block[0], 0);
  ck_assert_msg(p.lines[0].has_stride && p.lines[0].stride == 16, "stride %" PRId64, p.lines[0].stride);
  typed_end(q, &p);
}
END_TEST

/* How far apart blocks of malloc lie is the simulator's affair, and is not told. */
START_TEST(advice_on_malloc)
{
  char advice[400];
  struct profile p;
  static const char row[] = "grader/tests/kernels/heap.ptx heap_list --grid 1 --block 32 i32[128]=iota i32[128] i32:4";
  struct request *q = typed_profile(row, &p);
  unsigned apart = 0;
  for (size_t i = 0; i < p.nlines; i++) {
    const struct profile_line *l = &p.lines[i];
    if (!profile_own_blocks(&l->sum.worst) || l->class < PROFILE_GLOBAL_LOAD) continue;
    snprintf(advice, sizeof advice, "%s", l->advice);
    ck_assert_msg(strstr(advice, "a block of malloc of its own") && !strstr(advice, "bytes apart"), "'%s'", advice);
    ck_assert_msg(!l->has_stride, "stride %" PRId64, l->stride);
    apart++;
  }
  ck_assert_uint_gt(apart, 0);
  typed_end(q, &p);
}
END_TEST

/* Where no layout helps, none is offered; where it is contention, that is said. */
START_TEST(advice_where_no_layout_helps)
{
  char advice[400], next[400];
  unsigned cost = worst("grader/tests/profile/advice.ptx looked_up --grid 1 --block 32 --shared 16384 "
                        "i32[32]=below:4096 f32[32]", PROFILE_SHARED_LOAD, advice);
  ck_assert_msg(cost > 1 && strstr(advice, "no padding cures it") && !strstr(advice, "swap"), "'%s'",
                advice);
  ck_assert_uint_eq(worst("grader/tests/profile/advice.ptx looked_up --grid 1 --block 32 --shared 16384 "
                          "i32[32]=iota f32[32]", PROFILE_SHARED_LOAD, next), 1);
  ck_assert_str_eq(next, "");
  static const char *const hot = "grader/tests/profile/advice.ptx counted --grid 1 --block 32 "
                                 "--shared 8192 i32[32]=3 i32[64] i32:%u";
  char row[300];
  snprintf(row, sizeof row, hot, 1u);
  cost = worst(row, PROFILE_SHARED_ATOMIC, advice);
  ck_assert_uint_eq(cost, 32);
  ck_assert_msg(strstr(advice, "32 lanes update one address") && strstr(advice, "its own copy"), "'%s'",
                advice);
  worst(row, PROFILE_GLOBAL_ATOMIC, next);
  ck_assert_msg(!strstr(next, "neighbouring"), "'%s'", next);
  snprintf(row, sizeof row, hot, 32u);     /* its own copy for each lane */
  ck_assert_uint_eq(worst(row, PROFILE_SHARED_ATOMIC, next), 1);
  ck_assert_str_eq(next, "");
}
END_TEST

void test_profile_truth(Suite *s)
{
  TCase *t = tcase_create("truth");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, lines_add_up, 0, PARTS);
  tcase_add_test(t, a_note_is_shown_once);
  tcase_add_test(t, ldmatrix_is_a_shared_load);
  tcase_add_loop_test(t, advice_keeps_its_promise, 0, 4);
  tcase_add_test(t, advice_on_global_memory);
  tcase_add_test(t, advice_where_no_layout_helps);
  tcase_add_test(t, advice_on_fragments);
  tcase_add_test(t, advice_on_malloc);
  tcase_add_test(t, the_first_warp_is_shown);
  tcase_add_loop_test(t, advice_on_declared_rows, 0, sizeof cures / sizeof *cures);
  tcase_add_loop_test(t, advice_without_a_layout, 0, sizeof no_cures / sizeof *no_cures);
  suite_add_tcase(s, t);
}
