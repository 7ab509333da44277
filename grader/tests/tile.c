/* See tile.h. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tile.h"

static const char head[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 128 .b8 sm[];\n"
    ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u64 pdata, .param .u32 pfill)\n{\n"
    "  .reg .pred %p<32>;\n  .reg .pred %q<8>;\n  .reg .b16 %rs<64>;\n  .reg .b32 %r<128>;\n"
    "  .reg .b64 %rd<64>;\n  .reg .f32 %f<64>;\n  .reg .f64 %fd<64>;\n"
    "  mov.u32 %r0, %tid.x;\n  mov.u32 %r1, sm;\n"
    "  ld.param.u64 %rd1, [pin];\n  ld.param.u64 %rd2, [pout];\n  ld.param.u64 %rd3, [pdata];\n"
    "  ld.param.u32 %r2, [pfill];\n"
    "  mul.wide.u32 %rd4, %r0, 64;\n  add.s64 %rd1, %rd1, %rd4;\n  add.s64 %rd2, %rd2, %rd4;\n"
    "  mov.u32 %r4, %ntid.x;\n  shl.b32 %r4, %r4, 2;\n  shl.b32 %r3, %r0, 2;\n"
    "FILL:\n  setp.ge.u32 %p31, %r3, %r2;\n  @%p31 bra FILLED;\n"
    "  cvt.u64.u32 %rd5, %r3;\n  add.s64 %rd5, %rd5, %rd3;\n  ld.global.u32 %r5, [%rd5];\n"
    "  add.u32 %r6, %r1, %r3;\n  st.shared.u32 [%r6], %r5;\n  add.u32 %r3, %r3, %r4;\n"
    "  bra FILL;\nFILLED:\n  bar.sync 0;\n";

bool tile_open(struct tile *t, const char *body, uint32_t threads, uint32_t fill, bool checks)
{
  memset(t, 0, sizeof *t);
  size_t room = sizeof head + strlen(body) + 6000, n = 0;
  char *text = malloc(room);
  ck_assert(text != NULL);
  n += (size_t)snprintf(text + n, room - n, "%s", head);
  for (int k = 0; k < TILE_WORDS; k++)
    n += (size_t)snprintf(text + n, room - n, "  ld.global.u32 %%r%d, [%%rd1+%d];\n", 10 + k, 4 * k);
  for (int k = 0; k < TILE_WORDS; k++)
    n += (size_t)snprintf(text + n, room - n, "  mov.u32 %%r%d, 0;\n", 30 + k);
  n += (size_t)snprintf(text + n, room - n, "%s\n", body);
  for (int k = 0; k < TILE_WORDS; k++)
    n += (size_t)snprintf(text + n, room - n, "  st.global.u32 [%%rd2+%d], %%r%d;\n", 4 * k, 30 + k);
  n += (size_t)snprintf(text + n, room - n, "  ret;\n}\n");
  t->threads = threads;
  t->fill = fill;
  struct sim_options o = {.threads = 1, .no_fuse = true, .no_checks = !checks};
  t->sim = sim_open(&o);
  t->module = ptx_read(text, n, &t->error);
  free(text);
  if (!t->module || !sim_load(t->sim, t->module, &t->error)) return false;
  size_t lanes = threads * sizeof *t->in;
  t->at[0] = sim_alloc(t->sim, lanes, "in", true);
  t->at[1] = sim_alloc(t->sim, lanes, "out", false);
  t->at[2] = sim_alloc(t->sim, TILE_DATA, "data", true);
  ck_assert(t->at[0] && t->at[1] && t->at[2]);
  t->in = sim_host(t->sim, t->at[0], lanes);
  t->out = sim_host(t->sim, t->at[1], lanes);
  t->data = sim_host(t->sim, t->at[2], TILE_DATA);
  return true;
}

bool tile_run(struct tile *t)
{
  sim_result_free(&t->result);
  struct { uint64_t at[3]; uint32_t fill; } __attribute__((packed)) params;
  memcpy(params.at, t->at, sizeof params.at);
  params.fill = t->fill;
  struct sim_launch l = {.kernel = "k", .grid = {1, 1, 1}, .block = {t->threads, 1, 1},
                         .shared_bytes = TILE_DATA, .params = &params, .param_bytes = 28};
  return sim_launch(t->sim, &l, &t->result);
}

void tile_close(struct tile *t)
{
  sim_result_free(&t->result);
  sim_close(t->sim);
  ptx_free(t->module);
  memset(t, 0, sizeof *t);
}

const struct sim_fault *tile_fault(const struct tile *t)
{
  return t->result.nfaults ? t->result.faults : NULL;
}

const struct sim_site *tile_site(const struct tile *t, enum model_op op)
{
  const struct sim_site *found = NULL;
  for (size_t k = 0; k < t->result.nsites; k++)
    if (t->result.sites[k].op == op) {
      ck_assert_msg(!found, "two sites of %s", model_op_name(op));
      found = &t->result.sites[k];
    }
  ck_assert_msg(found != NULL, "no site of %s", model_op_name(op));
  return found;
}

uint32_t tile_random(uint64_t *s)   /* Marsaglia's xorshift64, high half of a product */
{
  *s ^= *s << 13;
  *s ^= *s >> 7;
  *s ^= *s << 17;
  return (uint32_t)(*s * 0x9e3779b97f4a7c15ull >> 32);
}
