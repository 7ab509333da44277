/* What is a race and what is none.
 *
 * tests/sim/order.cu: whatever orders threads besides barriers, each correct kernel with a broken
 * twin.  tests/sim/remedy.cu: what the faults say is to be done.  And chapter 07, races.txt: the
 * simulator finds a race in just the pieces of code that the answers call one.  The answers
 * themselves are derived in suites/ch07_races.c, without the simulator. */
#define _GNU_SOURCE
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "run.h"
#include "sim/sim.h"
#include "toolchain/toolchain.h"

enum { PIECES = 64, THREADS = 64 };

static struct piece { char name[32]; int race; char code[96]; } pieces[PIECES];
static int count;

static void read_pieces(void)
{
  size_t size;
  char *text = run_read("solutions/07-order/races.txt", &size), *line, *rest = text;
  ck_assert_msg(text != NULL, "no solutions/07-order/races.txt");
  while ((line = strsep(&rest, "\n")) && count < PIECES) {
    struct piece *p = &pieces[count];
    if (sscanf(line, "%31[a-z0-9_] = %d # %95[^\n]", p->name, &p->race, p->code) == 3) count++;
  }
  free(text);
}

/* `volatile` makes the compiler write each access; a piece of code has plain ones. */
static void plain(char *text)
{
  static const char word[] = ".volatile";
  for (char *at = text; (at = strstr(at, word));) {
    memmove(at, at + sizeof word - 1, strlen(at + sizeof word - 1));
    memset(at + strlen(at) - (sizeof word - 1), ' ', sizeof word - 1);
  }
}

/* Each piece as a kernel: all arrays written, a barrier, the piece. */
static void write_kernels(const char *path)
{
  FILE *out = fopen(path, "w");
  ck_assert(out != NULL);
  fputs("__shared__ int s_[64], wide_[64 * 32], a_[64], b_[64];\n"
        "__shared__ unsigned char byte_[64];\n"
        "static __device__ int atomicAdd(volatile int *p, int v)\n"
        "{ return atomicAdd((int *)p, v); }\n", out);
  for (int i = 0; i < count; i++)
    fprintf(out, "extern \"C\" __global__ void %s(int *out)\n{\n"
            "  volatile int *s = s_, *wide = wide_, *a = a_, *b = b_;\n"
            "  volatile unsigned char *byte = byte_;\n"
            "  int t = threadIdx.x, r = 0;\n"
            "  s[t] = a[t] = b[t] = 0;\n  byte[t] = 0;\n"
            "  for (int i = t; i < 64 * 32; i += 64) wide[i] = 0;\n"
            "  __syncthreads();\n  %s\n  out[t] = r;\n}\n", pieces[i].name, pieces[i].code);
  fclose(out);
}

START_TEST(pieces_of_code)
{
  char folder[64], path[96];
  struct compiled code = {0};
  struct ptx_error e;
  count = 0;
  read_pieces();
  ck_assert_int_ge(count, 10);
  run_folder(folder);
  snprintf(path, sizeof path, "%s/races.cu", folder);
  write_kernels(path);
  toolchain_cuda(path, "races.cu", TOOLCHAIN_AUTO, &code);
  ck_assert_msg(code.ok, "%s: %s", code.summary,
                code.ndiagnostics ? code.diagnostics[0].text : "");
  plain(code.code);
  struct ptx_module *module = ptx_read(code.code, code.code_size, &e);
  ck_assert_msg(module != NULL, "line %u: %s", e.line, e.text);
  for (int i = 0; i < count; i++) {
    struct sim_options options = {.threads = 1};
    struct sim *sim = sim_open(&options);
    ck_assert_msg(sim_load(sim, module, &e), "line %u: %s", e.line, e.text);
    uint64_t out = sim_alloc(sim, THREADS * 4, "out", false);
    struct sim_launch l = {.kernel = pieces[i].name, .grid = {1, 1, 1}, .block = {THREADS, 1, 1},
                           .params = &out, .param_bytes = sizeof out};
    struct sim_result result;
    sim_launch(sim, &l, &result);
    ck_assert_msg(result.completed, "%s did not run", pieces[i].name);
    int races = 0;
    for (size_t k = 0; k < result.nfaults; k++) races += result.faults[k].kind == SIM_FAULT_RACE;
    ck_assert_msg(races == (int)result.nfaults, "%s: %s", pieces[i].name,
                  result.nfaults ? result.faults[0].text : "");
    ck_assert_msg((races > 0) == pieces[i].race, "%s: `%s` is answered %d, the simulator sees %d",
                  pieces[i].name, pieces[i].code, pieces[i].race, races);
    sim_result_free(&result);
    sim_close(sim);
  }
  ptx_free(module);
  compiled_free(&code);
  run_remove(folder);
}
END_TEST

/* ---- tests/sim/order.cu ------------------------------------------------------------------------- */

enum { ORDER_THREADS = 128, KERNELS = 60 };

START_TEST(what_orders)
{
  struct fixture x;
  fixture_open(&x, "order");
  int found = 0;
  for (unsigned line = 1; line <= x.lines; line++) {
    char kernel[64];
    struct ran one, more;
    if (sscanf(x.line[line], "__global__ void %63[a-z_](", kernel) != 1 || found++ != _i) continue;
    fixture_run(&one, &x, kernel, 3, ORDER_THREADS, 0, 1);
    fixture_faults(&x, kernel, &one);
    fixture_run(&more, &x, kernel, 3, ORDER_THREADS, 0, 3);
    fixture_same(kernel, 3, &one, &more);
    fixture_done(&more);
    fixture_done(&one);
  }
  if (_i == 0) ck_assert_msg(found > 30 && found <= KERNELS, "%d kernels", found);
  fixture_close(&x);
}
END_TEST

/* ---- tests/sim/remedy.cu ------------------------------------------------------------------------ */

START_TEST(what_to_do)
{
  struct fixture x;
  struct ran r = {0};
  char kernel[64] = "";
  int promises = 0;
  fixture_open(&x, "remedy");
  for (unsigned line = 1; line <= x.lines; line++) {
    const char *words = x.line[line];
    size_t faults;
    if (sscanf(words, "__global__ void %63[a-z_](", kernel) == 1) {
      if (r.sim) fixture_done(&r);
      fixture_run(&r, &x, kernel, 1, ORDER_THREADS, 0, 1);
    }
    if (strncmp(words, "//* ", 4)) continue;
    words += 4;
    promises++;
    ck_assert_msg(r.result.nfaults > 0, "%s is clean", kernel);
    if (sscanf(words, "%zu faults", &faults) == 1)
      ck_assert_msg(r.result.nfaults == faults, "%s: %zu faults", kernel, r.result.nfaults);
    else
      ck_assert_msg(strstr(r.result.faults[0].text, words), "%s: %s", kernel,
                    r.result.faults[0].text);
  }
  ck_assert_int_eq(promises, 12);
  fixture_done(&r);
  fixture_close(&x);
}
END_TEST

Suite *suite_races(void)
{
  Suite *s = suite_create("races");
  TCase *c = tcase_create("pieces");
  tcase_set_timeout(c, 120);
  tcase_add_test(c, pieces_of_code);
  tcase_add_loop_test(c, what_orders, 0, KERNELS);
  tcase_add_test(c, what_to_do);
  suite_add_tcase(s, c);
  return s;
}
