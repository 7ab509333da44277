/* Random numbers and plans.
 *
 * Numbers come from xoshiro256** (Blackman and Vigna), seeded through splitmix64 from the seed
 * and a label, so that each test of each exercise has its own stream and one seed reproduces
 * all. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/plan.h"

/* ---- rng ---------------------------------------------------------------------------------- */

static uint64_t splitmix(uint64_t *x)
{
  uint64_t z = (*x += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void rng_seed(struct rng *r, uint64_t seed, const char *label)
{
  uint64_t hash = 0xcbf29ce484222325u;    /* FNV-1a of the label */
  for (; *label; label++) hash = (hash ^ (unsigned char)*label) * 0x100000001b3u;
  uint64_t x = seed ^ splitmix(&hash);
  for (int i = 0; i < 4; i++) r->s[i] = splitmix(&x);
}

static uint64_t rotl(uint64_t x, int k) { return x << k | x >> (64 - k); }

uint64_t rng_next(struct rng *r)
{
  uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotl(s[3], 45);
  return result;
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
  if (n < 2) return 0;
  uint32_t skip = -n % n, x;              /* 2^32 mod n values would be one too likely */
  do x = (uint32_t)(rng_next(r) >> 32);
  while (x < skip);
  return x % n;
}

int32_t rng_between(struct rng *r, int32_t lo, int32_t hi)
{
  uint32_t span = (uint32_t)hi - (uint32_t)lo + 1;
  uint32_t x = span ? rng_below(r, span) : (uint32_t)(rng_next(r) >> 32);
  return (int32_t)((uint32_t)lo + x);
}

double rng_uniform(struct rng *r, double lo, double hi)
{
  return lo + (hi - lo) * ((double)(rng_next(r) >> 11) * 0x1p-53);
}

void rng_floats(struct rng *r, float *out, size_t count, double lo, double hi)
{
  for (size_t i = 0; i < count; i++) out[i] = (float)rng_uniform(r, lo, hi);
}

/* ---- plans -------------------------------------------------------------------------------- */

static void *need(void *p)
{
  if (!p) {
    fprintf(stderr, "banks: out of memory while preparing a test\n");
    exit(3);
  }
  return p;
}

__attribute__((format(printf, 2, 3))) static void wrong(struct plan *p, const char *format, ...)
{
  if (*p->error) return;                  /* the first one is the cause */
  va_list ap;
  va_start(ap, format);
  vsnprintf(p->error, sizeof p->error, format, ap);
  va_end(ap);
}

struct plan *plan_new(uint64_t seed, const char *label)
{
  struct plan *p = need(calloc(1, sizeof *p));
  char text[256];
  snprintf(text, sizeof text, "poison %s", label);
  rng_seed(&p->poison, seed, text);
  p->job.options.step_budget = PLAN_STEPS;
  return p;
}

void plan_free(struct plan *p)
{
  if (!p) return;
  job_free(&p->job);
  for (size_t i = 0; i < p->nquestions; i++) free(p->questions[i]);
  free(p->questions);
  free(p);
}

/* Words that cannot pass for a result: half are NaNs as floats (quiet ones, all bits that may
 * differ differ), half are anything.  As doubles, half are NaNs too: the pattern is by 8
 * bytes. */
static void poison(struct rng *r, unsigned char *data, size_t bytes)
{
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t x = rng_next(r);
    if (rng_next(r) & 1) x |= 0x7ff800007fc00000u;
    memcpy(data + i, &x, bytes - i < 8 ? bytes - i : 8);
  }
}

int plan_buffer(struct plan *p, const char *name, enum buffer_role role, const void *data,
                size_t bytes)
{
  struct job *job = &p->job;
  if (job->nbuffers == JOB_BUFFERS || bytes > PLAN_BUFFER_BYTES - p->bytes) {
    wrong(p, "buffer '%s': too many buffers or bytes for one test", name);
    return 0;
  }
  job->buffers = need(realloc(job->buffers, (job->nbuffers + 1) * sizeof *job->buffers));
  struct job_buffer *b = &job->buffers[job->nbuffers];
  memset(b, 0, sizeof *b);
  snprintf(b->name, sizeof b->name, "%s", name);
  b->read_only = role == BUFFER_IN;
  b->returned = role != BUFFER_IN;
  b->bytes = bytes;
  b->data = need(malloc(bytes ? bytes : 1));
  if (data) memcpy(b->data, data, bytes);
  else poison(&p->poison, b->data, bytes);
  p->bytes += bytes;
  return (int)job->nbuffers++;
}

void plan_launch(struct plan *p, const char *kernel, const uint32_t grid[3],
                 const uint32_t block[3], uint32_t shared_bytes)
{
  struct job *job = &p->job;
  if (job->nlaunches == JOB_LAUNCHES || strlen(kernel) >= sizeof job->launches->kernel) {
    wrong(p, "launch of '%s': too many launches or too long a name", kernel);
    return;
  }
  job->launches = need(realloc(job->launches, (job->nlaunches + 1) * sizeof *job->launches));
  struct job_launch *l = &job->launches[job->nlaunches++];
  memset(l, 0, sizeof *l);
  snprintf(l->kernel, sizeof l->kernel, "%s", kernel);
  memcpy(l->grid, grid, sizeof l->grid);
  memcpy(l->block, block, sizeof l->block);
  l->shared_bytes = shared_bytes;
}

static struct job_arg *next_arg(struct plan *p, size_t bytes)
{
  struct job *job = &p->job;
  if (job->nlaunches == 0 || job->launches[job->nlaunches - 1].nargs == JOB_ARGS ||
      bytes > JOB_ARG_BYTES) {
    wrong(p, "an argument before any launch, too large, or one too many");
    return NULL;
  }
  struct job_launch *l = &job->launches[job->nlaunches - 1];
  struct job_arg *a = &l->args[l->nargs++];
  a->bytes = (uint32_t)bytes;
  a->buffer = JOB_VALUE;
  return a;
}

void plan_arg_buffer(struct plan *p, int buffer)
{
  if (buffer < 0 || (size_t)buffer >= p->job.nbuffers) {
    wrong(p, "no buffer %d", buffer);
    return;
  }
  struct job_arg *a = next_arg(p, 8);
  if (a) a->buffer = (uint32_t)buffer;
}

void plan_arg(struct plan *p, const void *value, size_t bytes)
{
  struct job_arg *a = next_arg(p, bytes);
  if (a) memcpy(a->value, value, bytes);
}

void plan_budget(struct plan *p, uint64_t warp_instructions)
{
  p->job.options.step_budget = warp_instructions;
}

void plan_ask(struct plan *p, const char *format, ...)
{
  char *line = NULL;
  va_list ap;
  va_start(ap, format);
  int length = vasprintf(&line, format, ap);
  va_end(ap);
  need(length < 0 ? NULL : line);
  if (strchr(line, '\n') || length > 16000) wrong(p, "a question must be one line");
  p->questions = need(realloc(p->questions, (p->nquestions + 1) * sizeof *p->questions));
  p->questions[p->nquestions++] = line;
}
