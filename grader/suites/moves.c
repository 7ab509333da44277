/* Bits, wavefronts and sectors of kernels that move data: see moves.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suites/moves.h"

enum { SHOWN = 3 };            /* mismatches told in full */

void moves_fill(struct rng *r, uint32_t *bits, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    uint32_t random = (uint32_t)rng_next(r), sign = random & 0x80000000;
    uint32_t payload = random >> 9 & 0x3fffff;
    float ordinary = (float)rng_uniform(r, -1000, 1000);
    memcpy(&bits[i], &ordinary, sizeof ordinary);
    if (random % 8) continue;
    switch (random / 8 % 4) {
    case 0: bits[i] = sign; break;
    case 1: bits[i] = sign | 1 | payload; break;              /* subnormal */
    case 2: bits[i] = sign | 0x7f800000; break;               /* infinity */
    case 3: bits[i] = sign | 0x7fc00000 | payload; break;     /* NaN */
    }
  }
}

static float as_float(uint32_t bits)
{
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* What the wrong result looks like as a whole, which says more than single elements do. */
static const char *looks_like(const uint32_t *got, const uint32_t *in, size_t count)
{
  bool copy = in != NULL, same = true, nan = true;
  for (size_t i = 0; i < count; i++) {
    copy &= in && got[i] == in[i];
    same &= got[i] == got[0];
    nan &= isnan(as_float(got[i]));
  }
  if (count < 2) return NULL;
  if (copy) return "The result is the input, element for element: nothing was moved.";
  if (nan) return "Every element of the result is NaN.";
  if (same) return "Every element of the result is the same.";
  return NULL;
}

bool moves_values(struct verdict *v, const struct evidence *e, int out, const uint32_t *want,
                  const uint32_t *in, size_t count, size_t columns)
{
  const uint32_t *got = e->buffers[out], *before = e->before[out];
  size_t wrong = 0, unwritten = 0;
  for (size_t i = 0; i < count; i++) {
    wrong += got[i] != want[i];
    unwritten += got[i] != want[i] && got[i] == before[i];
  }
  if (wrong == 0) return true;
  verdict_fail(v, "%s: %zu of %zu elements of %s (%zu rows of %zu) are wrong", e->file, wrong,
               count, e->buffer_names[out], count / columns, columns);
  if (unwritten) verdict_add(v, "  %zu of them were never written", unwritten);
  const char *look = unwritten ? NULL : looks_like(got, in, count);
  if (look) verdict_add(v, "  %s", look);
  for (size_t i = 0, shown = 0; i < count && shown < SHOWN; i++) {
    if (got[i] == want[i]) continue;
    shown++;
    verdict_add(v, "  row %zu, column %zu: expected %g (0x%08x), got %g (0x%08x)", i / columns,
                i % columns, as_float(want[i]), want[i], as_float(got[i]), got[i]);
  }
  return false;
}

static double linear(double value, double full, double none)
{
  double share = (none - value) / (none - full);
  return share >= 1 ? 1 : share > 0 ? share : 0;
}

/* Whether a site moves data between registers and shared memory this way.  Atomics are writes. */
static bool is_shared(const struct sim_site *s, int way)
{
  switch (s->op) {
  case MODEL_LOAD: case MODEL_LDMATRIX_X1: case MODEL_LDMATRIX_X2: case MODEL_LDMATRIX_X4:
    return way == MOVES_READS;
  case MODEL_GLOBAL_LOAD: case MODEL_GLOBAL_STORE:
    return false;
  default:
    return way == MOVES_WRITES;
  }
}

static bool is_global(const struct sim_site *s, int way)
{
  return s->op == (way == MOVES_READS ? MODEL_GLOBAL_LOAD : MODEL_GLOBAL_STORE);
}

/* A loop the compiler unrolled has several sites on one line: `sum` is all of them as one. */
static void gather(const struct sim_result *l, size_t first, struct sim_site *sum)
{
  *sum = l->sites[first];
  for (size_t i = 0; i < l->nsites; i++) {
    const struct sim_site *s = &l->sites[i];
    if (i == first || s->line != sum->line || s->file != sum->file ||
        s->op != sum->op || s->width != sum->width)
      continue;
    sum->requests += s->requests;
    sum->wavefronts += s->wavefronts;
    sum->ideal += s->ideal;
    sum->sectors += s->sectors;
    sum->bytes += s->bytes;
    if (s->worst_wavefronts > sum->worst_wavefronts) {
      sum->worst_wavefronts = s->worst_wavefronts;
      sum->worst = s->worst;
    }
  }
}

double moves_cost(struct verdict *v, const struct evidence *e, enum moves_way way, uint64_t least,
                  uint64_t words, double full, double none)
{
  const char *name = way == MOVES_READS ? "reads" : "writes";
  const struct sim_result *l = &e->launches[0];
  struct sim_site worst = {0};
  uint64_t bytes = 0, requests = 0, wavefronts = 0;
  for (size_t i = 0; i < l->nsites; i++) {
    const struct sim_site *s = &l->sites[i];
    if (!is_shared(s, way)) continue;
    bytes += s->bytes;
    requests += s->requests;
    wavefronts += s->wavefronts;
    struct sim_site line;
    gather(l, i, &line);
    if (line.wavefronts - line.ideal > worst.wavefronts - worst.ideal) worst = line;
  }
  if (bytes < 4 * least) {
    verdict_fail(v,
                 "%s: every element has to go through shared memory: %" PRIu64 " words should be "
                 "%s, and %" PRIu64 " were", e->file, least,
                 way == MOVES_READS ? "read from it" : "written to it", bytes / 4);
    return 0;
  }
  double cost = 32.0 * (double)wavefronts / (double)words, share = linear(cost, full, none);
  if (share >= 1) return 1;
  verdict_partial(v, share,
                  "%s: %s of shared memory cost %.2f wavefronts for every 32 words; 1 is "
                  "possible, %.3g or more earn nothing", e->file, name, cost, none);
  int64_t stride;
  if (worst.requests) {
    judge_describe_site(v, e, &worst);
    if (worst.width == 4 && model_stride_find(&worst.worst, &stride) && stride % 4 == 0)
      verdict_add(v, "  gcd(%d, 32) = %u: chapters/03-strides.md", (int)(stride / 4),
                  model_stride_degree((uint32_t)llabs(stride) / 4));
  } else {
    verdict_add(v, "  none has a conflict, but there are %" PRIu64 " requests where %" PRIu64
                " would do: accesses added for show cost wavefronts too", requests,
                (words + 31) / 32);
  }
  return share;
}

double moves_wavefronts(struct verdict *v, const struct evidence *e, enum moves_way way,
                        uint64_t words, double none)
{
  return moves_cost(v, e, way, words, words, 1, none);
}

double moves_sectors(struct verdict *v, const struct evidence *e, enum moves_way way,
                     uint64_t words)
{
  const struct sim_result *l = &e->launches[0];
  const char *name = way == MOVES_READS ? "read" : "write";
  struct sim_site worst = {0};
  uint64_t sectors = 0;
  double most = 0;
  for (size_t i = 0; i < l->nsites; i++) {
    if (!is_global(&l->sites[i], way)) continue;
    sectors += l->sites[i].sectors;
    struct sim_site line;
    gather(l, i, &line);
    double waste = (double)line.sectors - (double)line.bytes / MODEL_SECTOR;
    if (waste > most) {
      most = waste;
      worst = line;
    }
  }
  double share = linear(8.0 * (double)sectors / (double)words, 1, 2);
  if (share >= 1) return 1;
  verdict_partial(v, share,
                  "%s: %ss of global memory are not coalesced: %" PRIu64 " sectors of 32 bytes "
                  "are touched, and %" PRIu64 " would do",
                  e->file, name, sectors, (words + 7) / 8);
  char source[200];
  if (worst.requests && judge_own_file(e, worst.file) &&
      judge_source(e, worst.line, source, sizeof source)) {
    verdict_add(v, "%s:%u: %.1f sectors per request", e->file, worst.line,
                (double)worst.sectors / (double)worst.requests);
    verdict_add(v, "  %5u | %s", worst.line, source);
  }
  verdict_add(v, "  neighbouring lanes should %s neighbouring addresses; no pad of shared memory "
              "mends this", name);
  return share;
}
