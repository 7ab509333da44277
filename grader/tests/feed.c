/* See feed.h.  A parameter of eight bytes is given a buffer, as most of them are pointers; any
 * other is filled with ones, small numbers being what keeps a kernel going longest. */
#include "feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "sim/sim.h"

enum { LAUNCHES = 4, BUFFER = 4096, PARAMS = 64, PARAM_BYTES = 1 << 16, STEPS = 20000,
       FAULTS = 8 };

static void must(bool kept, const char *what)
{
  if (kept) return;
  fprintf(stderr, "feed: %s\n", what);
  abort();
}

static void print_function(const struct ptx_module *m, const struct ptx_function *f)
{
  char small[24], text[2048];
  for (size_t i = 0; i < f->ninsts; i++) {
    const struct ptx_inst *inst = &f->insts[i];
    int whole = ptx_print(f, inst, text, sizeof text);
    must(whole >= 0 && strlen(text) < sizeof text, "ptx_print failed");
    must(ptx_print(f, inst, small, sizeof small) == whole, "ptx_print needs another size");
    must(strlen(small) < sizeof small, "ptx_print went past its buffer");
    for (unsigned o = 0; o < inst->noperands; o++)
      ptx_print_operand(f, &inst->operands[o], small, sizeof small);
    must(inst->file < m->nfiles || inst->file == 0, "a .loc without its .file");
    must(inst->guard == PTX_NOREG || inst->guard < f->nregs, "a guard outside the registers");
  }
  for (size_t i = 0; i < f->nlabels; i++)
    must(f->labels[i].at < f->ninsts, "a label outside its function");
}

bool feed_ptx(const char *text, size_t length)
{
  struct ptx_error error;
  struct ptx_module *m = ptx_read(text, length, &error);
  if (!m) {
    must(error.text[0] && strlen(error.text) < sizeof error.text, "an error without a text");
    return false;
  }
  for (size_t i = 0; i < m->nfunctions; i++)
    if (m->functions[i]->has_body) print_function(m, m->functions[i]);
  for (size_t i = 0; i < m->nsymbols; i++) ptx_find_symbol(m, m->symbols[i]->name);
  for (size_t i = 0; i < m->nfunctions; i++) ptx_find_entry(m, m->functions[i]->name);
  ptx_free(m);
  return true;
}

static void launch(struct sim *sim, const struct ptx_function *f)
{
  static uint8_t params[PARAM_BYTES];
  size_t bytes = 0;
  memset(params, 0, sizeof params);
  if (f->nparams > PARAMS) return;
  for (size_t i = 0; i < f->nparams; i++) {
    const struct ptx_symbol *p = f->params[i];
    if (p->offset > PARAM_BYTES || p->bytes > PARAM_BYTES - p->offset) return;
    bytes = p->offset + p->bytes > bytes ? p->offset + p->bytes : bytes;
    uint64_t value = 1;
    if (p->bytes == 8) {
      value = sim_alloc(sim, BUFFER, p->name, false);
      if (!value) return;
    }
    for (uint64_t at = 0; at < p->bytes; at += 8)
      memcpy(params + p->offset + at, &value, p->bytes - at < 8 ? p->bytes - at : 8);
  }
  struct sim_launch l = { .kernel = f->name, .grid = { 2, 1, 1 }, .block = { 48, 1, 1 },
                          .shared_bytes = 1024, .params = params, .param_bytes = bytes };
  struct sim_result result;
  bool clean = sim_launch(sim, &l, &result);
  must(clean == (result.nfaults == 0), "a launch whose answer and faults differ");
  must(result.totals.warp_instructions <= STEPS + 64, "more steps than the budget");
  /* A fatal one is kept beyond the limit: it says why the launch stopped. */
  size_t limited = 0;
  for (size_t i = 0; i < result.nfaults; i++) limited += !result.faults[i].fatal;
  must(limited <= FAULTS && result.nfaults <= 2 * FAULTS, "more faults than fault_limit");
  must(!result.printed || strlen(result.printed) <= 4096 + 64, "more text than printf_limit");
  sim_result_free(&result);
  sim_free_all(sim);
}

bool feed_sim(const char *text, size_t length)
{
  struct ptx_error error;
  struct ptx_module *m = ptx_read(text, length, &error);
  const bool whole = m != NULL;
  if (!m) m = ptx_read_some(text, length, &error);
  if (!m) return false;
  struct sim_options options = { .threads = 1, .step_budget = STEPS, .warp_budget = STEPS / 2,
                                 .memory_limit = 64 << 20, .fault_limit = FAULTS,
                                 .printf_limit = 4096, .seed = 1 };
  struct sim *sim = sim_open(&options);
  must(sim != NULL, "sim_open failed");
  const bool loaded = whole && sim_load(sim, m, &error);
  unsigned launched = 0;
  for (size_t i = 0; i < m->nfunctions && launched < LAUNCHES; i++) {
    const struct ptx_function *f = m->functions[i];
    if (!f->is_entry || !f->has_body) continue;
    if (!loaded && !sim_load_for(sim, m, f, &error)) continue;   /* one kernel of many */
    launch(sim, f);
    launched++;
  }
  sim_close(sim);
  ptx_free(m);
  return loaded;
}
