/* Launches on several host threads: that they are used where blocks do not depend on each other, and
 * that nothing shows it, whether they do or not. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { BLOCKS = 300, THREADS = 64, WORDS = 2 * BLOCKS * THREADS, BYTES = 4 * WORDS + 3 };

static const struct { const char *kernel; bool together; } cases[] = {
    {"copy", true}, {"in_place", true}, {"interleaved", true}, {"pairs", true},
    {"sums", true}, {"least", true}, {"most", true}, {"least_u", true}, {"most_u", true},
    {"bits_and", true}, {"bits_or", true}, {"bits_xor", true}, {"sums_wide", true},
    {"least_wide", true}, {"same_word", false}, {"neighbour", false}, {"late", false},
    {"halves", false}, {"odd_end", false}, {"ticket", false}, {"mixed", false},
    {"sum_and_read", false},
    {"sum_and_write", false}, {"sum_float", false}, {"exchange", false}, {"outside", false}};

struct outcome {
  struct sim_result result;
  uint8_t bytes[BYTES];
};

static void run(struct outcome *o, const char *text, size_t length, const char *kernel,
                unsigned threads)
{
  struct ptx_error e;
  struct ptx_module *m = ptx_read(text, length, &e);
  ck_assert_msg(m != NULL, "line %u: %s", e.line, e.text);
  struct sim *sim = sim_open(&(struct sim_options){.threads = threads, .seed = 3});
  ck_assert(sim && sim_load(sim, m, &e));
  uint64_t at = sim_alloc(sim, BYTES, "x", false);
  uint8_t *host = sim_host(sim, at, BYTES);
  for (size_t k = 0; k < BYTES; k++) host[k] = (uint8_t)(k * 2654435761u >> 13);
  struct sim_launch l = {.kernel = kernel, .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1},
                         .params = &at, .param_bytes = sizeof at};
  sim_launch(sim, &l, &o->result);
  memcpy(o->bytes, host, BYTES);
  sim_close(sim);
  ptx_free(m);
}

START_TEST(together)
{
  static char text[1 << 18];
  static struct outcome one, more;
  FILE *f = fopen("grader/tests/kernels/parallel.ptx", "rb");
  ck_assert(f != NULL);
  size_t length = fread(text, 1, sizeof text, f);
  fclose(f);
  const char *kernel = cases[_i].kernel;
  run(&one, text, length, kernel, 1);
  ck_assert_uint_eq(one.result.host_threads, 1);
  ck_assert_uint_eq(one.result.nfaults, !strcmp(kernel, "outside"));
  for (unsigned n = 2; n <= 5; n++) {
    run(&more, text, length, kernel, n);
    const struct sim_result *a = &one.result, *b = &more.result;
    ck_assert_msg(b->host_threads == (cases[_i].together ? n : 1), "%s ran on %u threads of %u",
                  kernel, b->host_threads, n);
    for (size_t k = 0; k < BYTES; k++)
      ck_assert_msg(one.bytes[k] == more.bytes[k], "%s, %u threads: byte %zu is %u, not %u", kernel,
                    n, k, more.bytes[k], one.bytes[k]);
    ck_assert_msg(!memcmp(&a->totals, &b->totals, sizeof a->totals), "%s: totals", kernel);
    ck_assert_uint_eq(a->nsites, b->nsites);
    for (size_t k = 0; k < a->nsites; k++)
      ck_assert_msg(!memcmp(&a->sites[k], &b->sites[k], sizeof *a->sites), "%s: site %zu", kernel, k);
    ck_assert_uint_eq(a->nfaults, b->nfaults);
    if (a->nfaults) ck_assert_str_eq(a->faults[0].text, b->faults[0].text);
    sim_result_free(&more.result);
  }
  sim_result_free(&one.result);
}
END_TEST

Suite *suite_parallel(void)
{
  Suite *s = suite_create("parallel");
  TCase *t = tcase_create("launches");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, together, 0, sizeof cases / sizeof *cases);
  suite_add_tcase(s, t);
  return s;
}
