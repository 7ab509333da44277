/* See ncu.h. */
#define _GNU_SOURCE
#include "prove/ncu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4096 };

size_t ncu_fields(char *line, char *fields[], size_t most)
{
  size_t n = 0;
  char *from = line;
  while (*from && *from != '\n' && *from != '\r' && n < most) {
    char *to = from;
    fields[n++] = to;
    if (*from == '"') {
      from++;
      while (*from && !(from[0] == '"' && from[1] != '"')) {
        if (*from == '"') from++;          /* "" inside quotes is one quote */
        *to++ = *from++;
      }
      if (*from) from++;
    } else {
      while (*from && *from != ',' && *from != '\n' && *from != '\r') *to++ = *from++;
    }
    bool more = *from == ',';
    char *next = *from ? from + 1 : from;
    *to = 0;
    if (!more) break;
    from = next;
  }
  return n;
}

/* "62,914,560" and "12" and "-": digits only; a fraction is cut. */
static uint64_t number(const char *text)
{
  uint64_t n = 0;
  for (; *text && *text != '.'; text++)
    if (isdigit((unsigned char)*text)) n = n * 10 + (uint64_t)(*text - '0');
  return n;
}

static size_t column(char *const *fields, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (!strcmp(fields[i], name)) return i;
  return n;
}

static bool starts(const char *opcode, const char *with)
{
  size_t n = strlen(with);
  return !strncmp(opcode, with, n) && !isalnum((unsigned char)opcode[n]);
}

static const struct { const char *name; enum ncu_kind kind; bool generic; } opcodes[] = {
  {"LDS", NCU_SHARED_LOAD, false},    {"LDSM", NCU_SHARED_LOAD, false},
  {"STS", NCU_SHARED_STORE, false},   {"STSM", NCU_SHARED_STORE, false},
  {"ATOMS", NCU_SHARED_ATOMIC, false}, {"REDS", NCU_SHARED_ATOMIC, false},
  {"LDGSTS", NCU_COPY, false},
  {"LDG", NCU_GLOBAL_LOAD, false},    {"STG", NCU_GLOBAL_STORE, false},
  {"ATOMG", NCU_GLOBAL_ATOMIC, false}, {"REDG", NCU_GLOBAL_ATOMIC, false},
  {"RED", NCU_GLOBAL_ATOMIC, false},
  {"LD", NCU_GLOBAL_LOAD, true},      {"ST", NCU_GLOBAL_STORE, true},
  {"ATOM", NCU_GLOBAL_ATOMIC, true},
};

enum ncu_kind ncu_kind(const char *o)
{
  for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
    if (starts(o, opcodes[i].name)) return opcodes[i].kind;
  return NCU_OTHER;
}

/* A generic access that made wavefronts in shared memory was one of that memory. */
static enum ncu_kind kind_of(const char *o, uint64_t wavefronts)
{
  enum ncu_kind kind = ncu_kind(o);
  for (size_t i = 0; wavefronts && i < sizeof opcodes / sizeof *opcodes; i++)
    if (opcodes[i].generic && starts(o, opcodes[i].name))
      return (enum ncu_kind)(kind - NCU_GLOBAL_LOAD + NCU_SHARED_LOAD);
  return kind;
}

bool ncu_is_shared(const struct ncu_inst *i)
{
  return i->kind >= NCU_SHARED_LOAD && i->kind <= NCU_COPY;
}

/* "@!P0  LDS.64 R2, [R4]" -> "LDS.64". */
static void opcode_of(const char *text, char *to, size_t size)
{
  text += strspn(text, " \t");
  if (*text == '@') {
    text += strcspn(text, " \t");
    text += strspn(text, " \t");
  }
  snprintf(to, size, "%.*s", (int)strcspn(text, " \t;,"), text);
}

/* Does the profiler's name, "void transpose<32>(const float *, ...)", hold this identifier? */
static bool names(const char *full, const char *kernel)
{
  size_t n = strlen(kernel);
  for (const char *p = full; (p = strstr(p, kernel)); p++) {
    bool left = p == full || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
    bool right = !(isalnum((unsigned char)p[n]) || p[n] == '_');
    if (left && right) return true;
  }
  return false;
}

static bool wanted(const char *full, const char *const *kernels, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (names(full, kernels[i])) return true;
  return false;
}

static void *grow(void *array, size_t n, size_t each)
{
  if (n & (n - 1)) return array;          /* full at powers of two */
  void *more = realloc(array, (n ? 2 * n : 1) * each);
  if (more) return more;
  fprintf(stderr, "banks: out of memory\n");
  exit(3);
}

/* ---- the source page ----------------------------------------------------------------------- */

struct columns { size_t source, executed, wavefronts, ideal, sectors, ideal_sectors, n; };

static bool header(char *const *f, size_t n, struct columns *c)
{
  *c = (struct columns){column(f, n, "Source"), column(f, n, "Instructions Executed"),
                        column(f, n, "L1 Wavefronts Shared"),
                        column(f, n, "L1 Wavefronts Shared Ideal"),
                        column(f, n, "L2 Theoretical Sectors Global"),
                        column(f, n, "L2 Theoretical Sectors Global Ideal"), n};
  /* A kernel that made no shared access has neither column, only the one of its neighbours. */
  bool none = c->wavefronts >= n && c->ideal >= n &&
              (column(f, n, "L1 Conflicts Shared N-Way") < n || c->sectors < n);
  if (none) c->wavefronts = c->ideal = SIZE_MAX;
  if (c->sectors >= n) c->sectors = SIZE_MAX;              /* so for one without global ones */
  if (c->ideal_sectors >= n) c->ideal_sectors = SIZE_MAX;
  return c->source < n && c->executed < n && (none || (c->wavefronts < n && c->ideal < n));
}

static uint64_t number_at(char *const *f, size_t at) { return at == SIZE_MAX ? 0 : number(f[at]); }

static bool read_source(FILE *in, const char *const *kernels, size_t nkernels,
                        struct ncu_report *r, char *why, size_t size)
{
  char *line = NULL, *f[256];
  size_t room = 0;
  struct columns c = {0};
  bool inside = false;
  while (getline(&line, &room, in) > 0) {
    size_t n = ncu_fields(line, f, 256);
    if (n >= 2 && !strcmp(f[0], "Kernel Name")) {
      c.n = 0;
      inside = wanted(f[1], kernels, nkernels);
      if (!inside) continue;
      r->launches = grow(r->launches, r->nlaunches, sizeof *r->launches);
      struct ncu_launch *l = &r->launches[r->nlaunches++];
      memset(l, 0, sizeof *l);
      snprintf(l->kernel, sizeof l->kernel, "%s", f[1]);
    } else if (inside && n >= 2 && !strcmp(f[0], "Address")) {
      if (header(f, n, &c)) continue;
      snprintf(why, size, "the source page has no column 'L1 Wavefronts Shared'; was the report "
               "made with --section SourceCounters?");
      free(line);
      return false;
    } else if (inside && c.n && n >= c.n && !strncmp(f[0], "0x", 2)) {
      struct ncu_launch *l = &r->launches[r->nlaunches - 1];
      char opcode[32];
      opcode_of(f[c.source], opcode, sizeof opcode);
      if (ncu_kind(opcode) != NCU_OTHER) {
        l->insts = grow(l->insts, l->ninsts, sizeof *l->insts);
        struct ncu_inst *i = &l->insts[l->ninsts++];
        *i = (struct ncu_inst){.index = l->instructions, .executed = number(f[c.executed]),
                               .wavefronts = number_at(f, c.wavefronts),
                               .ideal = number_at(f, c.ideal),
                               .sectors = number_at(f, c.sectors),
                               .ideal_sectors = number_at(f, c.ideal_sectors)};
        i->kind = kind_of(opcode, i->wavefronts);
        memcpy(i->opcode, opcode, sizeof opcode);
      }
      l->instructions++;
    }
  }
  free(line);
  return true;
}

static bool same(const struct ncu_launch *a, const struct ncu_launch *b)
{
  if (a->instructions != b->instructions || a->ninsts != b->ninsts) return false;
  for (size_t i = 0; i < a->ninsts; i++)
    if (a->insts[i].index != b->insts[i].index ||
        a->insts[i].wavefronts != b->insts[i].wavefronts ||
        a->insts[i].executed != b->insts[i].executed)
      return false;
  return true;
}

/* Every launch twice -> once.  Only when the number says so: two launches may well be equal. */
static bool halve(struct ncu_report *r, char *why, size_t size)
{
  for (size_t i = 0; i + 1 < r->nlaunches; i += 2) {
    if (!same(&r->launches[i], &r->launches[i + 1])) {
      snprintf(why, size, "the source page has every launch twice, but the copies of launch %zu "
               "differ", i / 2 + 1);
      return false;
    }
    free(r->launches[i + 1].insts);
    r->launches[i / 2] = r->launches[i];
    if (i) memset(&r->launches[i], 0, sizeof *r->launches);
    r->launches[i + 1].insts = NULL;
  }
  r->nlaunches /= 2;
  return true;
}

/* ---- the raw page -------------------------------------------------------------------------- */

static bool read_raw(FILE *in, const char *const *kernels, size_t nkernels, struct ncu_report *r,
                     char *why, size_t size)
{
  char *line = NULL, **f = malloc(FIELDS * sizeof *f);
  size_t room = 0, at = 0, kernel = 0, loads = 0, stores = 0, width = 0, global[4] = {0};
  bool good = f != NULL, units = false, has_global = false;
  while (good && getline(&line, &room, in) > 0) {
    size_t n = ncu_fields(line, f, FIELDS);
    if (n && !strcmp(f[0], "ID")) {
      kernel = column(f, n, "Kernel Name");
      loads = column(f, n, NCU_LOADS);
      stores = column(f, n, NCU_STORES);
      width = n;
      units = has_global = true;
      for (int i = 0; i < 4; i++) {
        char name[80];
        snprintf(name, sizeof name, "l1tex__t_%s_pipe_lsu_mem_global_op_%s.sum",
                 i & 1 ? "sectors" : "requests", i & 2 ? "st" : "ld");
        global[i] = column(f, n, name);
        has_global &= global[i] < n;
      }
      if (kernel == n || loads == n || stores == n) {
        snprintf(why, size, "the raw page has no column '%s'", kernel == n ? "Kernel Name"
                 : loads == n ? NCU_LOADS : NCU_STORES);
        good = false;
      }
    } else if (units) {
      units = false;
    } else if (width && n == width && wanted(f[kernel], kernels, nkernels)) {
      if (at < r->nlaunches) {
        struct ncu_launch *l = &r->launches[at];
        l->counted = true;
        l->loads = number(f[loads]);
        l->stores = number(f[stores]);
        l->has_global = has_global;
        if (has_global) {
          l->global_load.requests = number(f[global[0]]);
          l->global_load.sectors = number(f[global[1]]);
          l->global_store.requests = number(f[global[2]]);
          l->global_store.sectors = number(f[global[3]]);
        }
      }
      at++;
    }
  }
  free(line);
  free(f);
  if (good && at != r->nlaunches) {
    snprintf(why, size, "the raw page has %zu launches, the source page %zu", at, r->nlaunches);
    return false;
  }
  return good;
}

bool ncu_read(FILE *source, FILE *raw, const char *const *kernels, size_t nkernels,
              struct ncu_report *r, char *why, size_t size)
{
  memset(r, 0, sizeof *r);
  bool good = read_source(source, kernels, nkernels, r, why, size);
  if (good && r->nlaunches == 2 * nkernels) good = halve(r, why, size);
  if (good && r->nlaunches != nkernels) {
    snprintf(why, size, "the profiler saw %zu launches, %zu were made", r->nlaunches, nkernels);
    good = false;
  }
  for (size_t i = 0; good && i < nkernels; i++)
    if (!names(r->launches[i].kernel, kernels[i])) {
      snprintf(why, size, "launch %zu was %.60s, the profiler saw %.100s", i + 1, kernels[i],
               r->launches[i].kernel);
      good = false;
    }
  if (good) good = read_raw(raw, kernels, nkernels, r, why, size);
  if (!good) ncu_free(r);
  return good;
}

void ncu_free(struct ncu_report *r)
{
  for (size_t i = 0; i < r->nlaunches; i++) free(r->launches[i].insts);
  free(r->launches);
  memset(r, 0, sizeof *r);
}
