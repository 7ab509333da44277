/* Judging by count: wavefronts per request over the shared accesses of a kernel, and telling a
 * reader which line costs them, why, and what the rule is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/picture.h"
#include "suites/suite.h"

enum { PICTURE_ROWS = 8 };     /* of one phase: enough to see a column, few enough to read on */

static unsigned class_of(enum model_op op)
{
  switch (op) {
  case MODEL_LOAD:
  case MODEL_LDMATRIX_X1:
  case MODEL_LDMATRIX_X2:
  case MODEL_LDMATRIX_X4: return COUNT_LOADS;
  case MODEL_STORE:
  case MODEL_STMATRIX_X1:
  case MODEL_STMATRIX_X2:
  case MODEL_STMATRIX_X4:
  case MODEL_CP_ASYNC: return COUNT_STORES;
  case MODEL_ATOM_NATIVE:
  case MODEL_ATOM_ONE:
  case MODEL_ATOM_CAS:
  case MODEL_ATOM_LOOP:
  case MODEL_ATOM_LOOP64: return COUNT_ATOMICS;
  case MODEL_GLOBAL_LOAD:
  case MODEL_GLOBAL_STORE:
  case MODEL_OPS: break;
  }
  return 0;
}

static const char *class_name(unsigned which)
{
  switch (which) {
  case COUNT_LOADS: return "load";
  case COUNT_STORES: return "store";
  case COUNT_ATOMICS: return "atomic";
  case COUNT_LOADS | COUNT_STORES: return "load or store";
  default: return "access";
  }
}

/* All sites of one line and operation, over all launches, as one. */
static void gather(struct sim_site *sum, const struct sim_site *s)
{
  sum->requests += s->requests;
  sum->wavefronts += s->wavefronts;
  sum->ideal += s->ideal;
  sum->exact &= s->exact;
  if (s->worst_wavefronts > sum->worst_wavefronts) {
    sum->worst_wavefronts = s->worst_wavefronts;
    sum->worst = s->worst;
  }
}

static double per_request(uint64_t wavefronts, uint64_t requests)
{
  return requests ? (double)wavefronts / (double)requests : 0;
}

void judge_describe_site(struct verdict *v, const struct evidence *e, const struct sim_site *s)
{
  bool own = s->line && judge_own_file(e, s->file);
  char where[320], source[200];
  if (own) snprintf(where, sizeof where, "%s:%u", e->file, s->line);
  else snprintf(where, sizeof where, "%s (code it calls)", e->file);
  verdict_add(v, "%s: %s%.1f wavefronts per request where %.3g is ideal", where,
              s->exact ? "" : "at least ", per_request(s->wavefronts, s->requests),
              per_request(s->ideal, s->requests));
  if (own && judge_source(e, s->line, source, sizeof source))
    verdict_add(v, "  %5u | %s", s->line, source);
  verdict_add(v, "  shared %s of %u bytes a lane: %" PRIu64 " requests, %" PRIu64
              " wavefronts, %" PRIu64 " ideal",
              class_name(class_of(s->op)), s->width, s->requests, s->wavefronts, s->ideal);
  int64_t stride;
  if (model_stride_find(&s->worst, &stride)) {
    if (stride % MODEL_WORD == 0)
      verdict_add(v, "  its worst request costs %u: neighbouring lanes are %" PRId64
                  " bytes (%" PRId64 " words) apart",
                  s->worst_wavefronts, stride, stride / MODEL_WORD);
    else
      verdict_add(v, "  its worst request costs %u: neighbouring lanes are %" PRId64
                  " bytes apart", s->worst_wavefronts, stride);
  } else {
    verdict_add(v, "  its worst request costs %u: its lanes have no constant stride",
                s->worst_wavefronts);
  }
  char picture[PICTURE_SIZE];
  picture_access(picture, sizeof picture, &s->worst, PICTURE_ROWS);
  for (char *row = picture, *end; (end = strchr(row, '\n')); row = end + 1)
    verdict_add(v, "  %.*s", (int)(end - row), row);
  struct model_cost cost = model_cost(&s->worst);
  verdict_add(v, "  rule: %s", model_rule_text(cost.rule));
}

/* The shared sites of the classes in `which`, those of one line and operation joined over all
 * launches; malloc'ed, *n of them. */
static struct sim_site *lines_of(const struct evidence *e, unsigned which, size_t *n)
{
  size_t most = 0;
  for (size_t i = 0; i < e->nlaunches; i++) most += e->launches[i].nsites;
  struct sim_site *lines = calloc(most ? most : 1, sizeof *lines);
  *n = 0;
  for (size_t i = 0; lines && i < e->nlaunches; i++)
    for (size_t k = 0; k < e->launches[i].nsites; k++) {
      const struct sim_site *s = &e->launches[i].sites[k];
      if (!(class_of(s->op) & which) || s->requests == 0) continue;
      size_t at = 0;
      while (at < *n && !(lines[at].file == s->file && lines[at].line == s->line &&
                          lines[at].op == s->op && lines[at].width == s->width))
        at++;
      if (at == *n) lines[(*n)++] = *s;
      else gather(&lines[at], s);
    }
  return lines;
}

/* The one that costs most above its ideal; of equals the one that costs most. */
static const struct sim_site *worst_of(const struct sim_site *lines, size_t n)
{
  const struct sim_site *worst = n ? &lines[0] : NULL;
  for (size_t i = 1; i < n; i++) {
    uint64_t more = lines[i].wavefronts - lines[i].ideal, most = worst->wavefronts - worst->ideal;
    if (more > most || (more == most && lines[i].wavefronts > worst->wavefronts))
      worst = &lines[i];
  }
  return worst;
}

bool judge_describe_worst(struct verdict *v, const struct evidence *e, unsigned which)
{
  size_t n;
  struct sim_site *lines = lines_of(e, which, &n);
  if (n) judge_describe_site(v, e, worst_of(lines, n));
  free(lines);
  return n > 0;
}

bool judge_wavefronts(struct verdict *v, const struct evidence *e, struct count_mark mark)
{
  size_t n;
  struct sim_site *lines = lines_of(e, mark.which, &n);
  if (!lines) return false;               /* no verdict: not graded */
  uint64_t requests = 0, wavefronts = 0;
  bool exact = true;
  for (size_t i = 0; i < n; i++) {
    requests += lines[i].requests;
    wavefronts += lines[i].wavefronts;
    exact &= lines[i].exact;
  }
  const struct sim_site *worst = worst_of(lines, n);

  const char *what = class_name(mark.which);
  double ratio = per_request(wavefronts, requests);
  bool good = false;
  if (requests < mark.least_requests || requests == 0) {
    verdict_fail(v, "%s: %" PRIu64 " shared %s requests; this exercise is done through shared "
                 "memory and needs at least %" PRIu64, e->file, requests, what,
                 mark.least_requests ? mark.least_requests : 1);
  } else if (ratio > mark.full) {
    double share = ratio < mark.none ? (mark.none - ratio) / (mark.none - mark.full) : 0;
    verdict_partial(v, share, "%s: %s%.1f wavefronts per shared %s request; %.3g or fewer give "
                    "full points, %.3g or more give none", e->file, exact ? "" : "at least ",
                    ratio, what, mark.full, mark.none);
    judge_describe_site(v, e, worst);
  } else if (mark.most_wavefronts && wavefronts > mark.most_wavefronts) {
    verdict_fail(v, "%s: %" PRIu64 " wavefronts in all, where %" PRIu64 " are enough: more "
                 "accesses that cost little do not make up for the ones that cost much", e->file,
                 wavefronts, mark.most_wavefronts);
    judge_describe_site(v, e, worst);
  } else {
    verdict_pass(v, "%.1f wavefronts per shared %s request (%" PRIu64 " requests)", ratio, what,
                 requests);
    judge_describe_site(v, e, worst);
    good = true;
  }
  free(lines);
  return good;
}
