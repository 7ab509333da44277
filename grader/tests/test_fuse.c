/* sim_plan() against ptxas: the shared accesses of the plan and those of the machine code, counted by
 * kind and width.
 *
 * Fixtures: tests/fuse/NAME.ptx, whole kernels as nvcc wrote them, and NAME.expect, what ptxas made of
 * them, one line a kernel: its name, kind.width=count ..., and where the plan is known to differ,
 * "differs:" and why.  A second set are random probes (fuse_probe.c) by seed.  With ptxas and nvdisasm
 * at hand (nvdisasm on PATH or in $NVDISASM) everything is assembled again and must still be as
 * recorded; without them that part is not run, and said to be so.  FUSE_RECORD=1 writes the records anew.
 *
 * Loops: ptxas unrolls some, and so does sim_unroll().  The kernels of tests/fuse/unrolled/ and the random
 * loops of fuse_loops.c are compared so, as ptxas does them by itself.  All others are taken with unrolling
 * switched off, by a pragma after every label.  There an
 * instruction that ptxas writes twice (a loop's first turn, the way apart of a __syncwarp with a mask)
 * counts once: every PTX line is given a .loc of its own, and what stems from one line, is of one kind
 * and has one offset is one instruction.
 *
 * Loads behind a branch: tests/fuse/sunk/ also counts the loads that come after the first conditional
 * branch, or run under a predicate; sim_unroll() moves some there, as ptxas does.
 *
 * A kernel, probe or loop whose counts are known to differ says so in its record, and why; a difference
 * without that line, and such a line without a difference, fail.  The plan, and with it the profile,
 * must give the same reason, unless the record says that it doesn't: "(not seen)".
 */
#include "fuse_probe.h"
#include "sim/sim.h"
#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "grader/tests/fuse/"
enum { KINDS = 25, PROBES = 400, LOOPS = 300, MOST_DOUBTS = 8 };

static const char *const kinds[KINDS] = {
  "load.1", "load.2", "load.4", "load.8", "load.16", "store.1", "store.2", "store.4", "store.8",
  "store.16", "ldmatrix.1", "ldmatrix.2", "ldmatrix.4", "stmatrix.1", "stmatrix.2", "stmatrix.4",
  "atom", "atom.one", "atom.cas", "atom.loop", "async.4", "async.8", "async.16", "generic",
  "behind",
};

/* What ptxas is to do, and sim_unroll() with it: no loop is unrolled; as it does by itself; and so, but
 * what is behind a branch is counted too. */
enum mode { AS_LOOPS, UNROLLED, MOVED };

#define UNSEEN "(not seen)"

struct counts {
  char name[128];
  unsigned n[KINDS];
  char differs[160];
  unsigned issued, doubted;     /* of the plan: accesses, and those with a reason */
  const char *doubts[MOST_DOUBTS];   /* the reasons */
};

static bool is_among(const char *const *doubts, const char *reason)
{
  for (int k = 0; k < MOST_DOUBTS && doubts[k]; k++)
    if (!strcmp(doubts[k], reason)) return true;
  return false;
}

static void add_doubt(struct counts *c, const char *reason)
{
  int k = 0;
  if (!reason || is_among(c->doubts, reason)) return;
  while (k < MOST_DOUBTS && c->doubts[k]) k++;
  ck_assert_int_lt(k, MOST_DOUBTS);
  c->doubts[k] = reason;
}

static void add(struct counts *c, const char *kind, unsigned width)
{
  char text[32];
  if (width) snprintf(text, sizeof text, "%s.%u", kind, width);
  else snprintf(text, sizeof text, "%s", kind);
  for (int k = 0; k < KINDS; k++)
    if (!strcmp(kinds[k], text)) {
      c->n[k]++;
      return;
    }
  ck_abort_msg("no kind %s in %s", text, c->name);
}

static void print(const struct counts *c, char *out, size_t size)
{
  size_t at = (size_t)snprintf(out, size, "%s", c->name);
  for (int k = 0; k < KINDS && at < size; k++)
    if (c->n[k]) at += (size_t)snprintf(out + at, size - at, " %s=%u", kinds[k], c->n[k]);
}

/* ---- the plan's counts ----------------------------------------------------------------------------- */

static struct counts of_plan(const struct ptx_module *m, const struct ptx_function *kernel, enum mode mode)
{
  struct sim_unrolled *u = mode != AS_LOOPS ? sim_unroll(m, kernel) : NULL;
  const struct ptx_function *f = u ? &u->function : kernel;
  struct counts c = {.n = {0}};
  snprintf(c.name, sizeof c.name, "%s", f->name);
  struct sim_plan *plan;
  size_t n = sim_plan(m, f, &plan), branch = 0;
  while (branch < f->ninsts && f->insts[branch].op != PTX_BRA && f->insts[branch].op != PTX_RET) branch++;
  for (size_t i = 0; i < n; i++) {
    if (plan[i].width == 0) continue;
    c.issued++;
    if (plan[i].generic) {
      add(&c, "generic", 0);
      c.doubted += plan[i].reason != NULL;
      add_doubt(&c, plan[i].reason);
      continue;
    }
    const char *reason = u && u->notes && u->notes[plan[i].inst] ? u->notes[plan[i].inst] : plan[i].reason;
    c.doubted += reason != NULL;
    add_doubt(&c, reason);
    switch (plan[i].op) {
    case MODEL_LOAD:
      add(&c, "load", plan[i].width);
      if (mode == MOVED && (plan[i].inst > branch || f->insts[plan[i].inst].guard != PTX_NOREG))
        add(&c, "behind", 0);
      break;
    case MODEL_STORE: add(&c, "store", plan[i].width); break;
    case MODEL_LDMATRIX_X1: add(&c, "ldmatrix", 1); break;
    case MODEL_LDMATRIX_X2: add(&c, "ldmatrix", 2); break;
    case MODEL_LDMATRIX_X4: add(&c, "ldmatrix", 4); break;
    case MODEL_STMATRIX_X1: add(&c, "stmatrix", 1); break;
    case MODEL_STMATRIX_X2: add(&c, "stmatrix", 2); break;
    case MODEL_STMATRIX_X4: add(&c, "stmatrix", 4); break;
    case MODEL_ATOM_ONE: add(&c, "atom.one", 0); break;
    case MODEL_ATOM_CAS: add(&c, "atom.cas", 0); break;
    case MODEL_ATOM_LOOP: case MODEL_ATOM_LOOP64: add(&c, "atom.loop", 0); break;
    case MODEL_CP_ASYNC: add(&c, "async", plan[i].width); break;
    default:
      add(&c, "atom", 0);       /* two ways are written where it depends on the lanes that are active */
      if (plan[i].lanes == SIM_LANES_ONE_IF_ALL) add(&c, "atom", 0);
    }
  }
  free(plan);
  for (size_t k = 0; k < f->ninsts; k++)
    for (unsigned o = 0; f->insts[k].op == PTX_CALL && o < 2 && o < f->insts[k].noperands; o++) {
      const struct ptx_function *g = f->insts[k].operands[o].function;
      if (!g || !g->has_body) continue;
      n = sim_plan(m, g, &plan);
      for (size_t i = 0; i < n; i++) add_doubt(&c, plan[i].reason);
      free(plan);
    }
  sim_unrolled_free(u);
  return c;
}

/* ---- the machine code's counts --------------------------------------------------------------------- */

static char *read_all(const char *path)
{
  FILE *f = fopen(path, "r");
  ck_assert_msg(f != NULL, "cannot read %s", path);
  size_t size = 0, cap = 1 << 16;
  char *text = malloc(cap);
  for (size_t got; (got = fread(text + size, 1, cap - size - 1, f)) > 0;) {
    size += got;
    if (cap - size < 2) text = realloc(text, cap *= 2);
  }
  fclose(f);
  text[size] = 0;
  return text;
}

static bool runs(const char *program)
{
  char command[512];
  snprintf(command, sizeof command, "'%s' --version >/dev/null 2>&1", program);
  return system(command) == 0;
}

static const char *ptxas(void)
{
  static const char *const places[] = {"ptxas", "/usr/local/cuda/bin/ptxas"};
  for (int i = 0; i < 2; i++)
    if (runs(places[i])) return places[i];
  return NULL;
}

static const char *nvdisasm(void)
{
  const char *set = getenv("NVDISASM");
  if (set && runs(set)) return set;
  return runs("nvdisasm") ? "nvdisasm" : NULL;
}

static unsigned width_of(const char *op)
{
  if (strstr(op, ".128")) return 16;
  if (strstr(op, ".64")) return 8;
  if (strstr(op, ".U16") || strstr(op, ".S16")) return 2;
  if (strstr(op, ".U8") || strstr(op, ".S8")) return 1;
  return 4;
}

/* What was counted already: PTX line, kind, offset. */
struct seen {
  struct { unsigned line, offset; char kind[16]; } *list;
  size_t n;
};

static bool again(struct seen *s, unsigned line, const char *op, const char *rest)
{
  const char *offset = strchr(rest, '['), *end = offset ? strchr(offset, ']') : NULL;
  unsigned at = 0;
  for (const char *p = offset; p && p < end; p++)
    if (!strncmp(p, "0x", 2)) at = (unsigned)strtoul(p, NULL, 16) * (p[-1] == '-' ? ~0u : 1u);
  for (size_t i = 0; i < s->n; i++)
    if (s->list[i].line == line && s->list[i].offset == at && !strncmp(s->list[i].kind, op, 15)) return true;
  s->list = realloc(s->list, (s->n + 1) * sizeof *s->list);
  s->list[s->n].line = line;
  s->list[s->n].offset = at;
  snprintf(s->list[s->n++].kind, sizeof s->list->kind, "%s", op);
  return false;
}

static void count_instruction(struct counts *c, struct seen *s, unsigned line, const char *op,
                              const char *rest)
{
  static const char *const counted[] = {"LDS", "STS", "STSM", "LDGSTS", "ATOMS.CAS", "LD.E", "ST.E"};
  unsigned rows = strstr(op, ".4") ? 4 : strstr(op, "88.2") ? 2 : 1;
  for (size_t k = 0; line && k < sizeof counted / sizeof *counted; k++)
    if (!strncmp(op, counted[k], strlen(counted[k]))) {
      if (again(s, line, op, rest)) return;
      break;
    }
  if (!strncmp(op, "LDSM", 4)) add(c, "ldmatrix", rows);
  else if (!strncmp(op, "STSM", 4)) add(c, "stmatrix", rows);
  else if (!strncmp(op, "LDS", 3)) add(c, "load", width_of(op));
  else if (!strncmp(op, "STS", 3)) add(c, "store", width_of(op));
  else if (!strncmp(op, "LDGSTS", 6)) add(c, "async", width_of(op));
  else if (!strncmp(op, "ATOMS.POPC", 10)) add(c, "atom.one", 0);
  else if (!strncmp(op, "ATOMS.CAST.SPIN", 15)) {
    add(c, "atom.loop", 0);
    c->n[strstr(op, ".64") ? 3 : 2]--;          /* the loop's own load */
  } else if (!strncmp(op, "ATOMS.CAS", 9)) add(c, "atom.cas", 0);
  else if (!strncmp(op, "ATOMS", 5)) add(c, "atom", 0);
  else if (!strncmp(op, "LD.E", 4) || !strncmp(op, "ST.E", 4)) add(c, "generic", 0);
}

/* The text with unrolling off and a .loc before each instruction. */
static void write_prepared(FILE *f, const char *text)
{
  unsigned line = 0;
  bool body = false;
  for (const char *p = text; *p;) {
    size_t n = strcspn(p, "\n"), from = strspn(p, " \t");
    line++;
    if (n == 1 && p[0] == '{') body = true;
    if (strstr(p, ".entry") && strstr(p, ".entry") < p + n) body = false;
    if (strstr(p, ".func") && strstr(p, ".func") < p + n) body = false;
    if (body && from < n && p[n - 1] == ';' && !strchr("./{}$()", p[from])) fprintf(f, ".loc 1 %u 0\n", line);
    fprintf(f, "%.*s\n", (int)n, p);
    /* After a label, so that the pragma belongs to the loop that may begin there. */
    if (p[0] == '$' && n && p[n - 1] == ':') fprintf(f, ".pragma \"nounroll\";\n");
    p += n + (p[n] != 0);
  }
  fprintf(f, ".file 1 \"x.ptx\"\n");
}

/* Assembles and takes apart; returns the kernels' counts, or NULL where the tools are missing. */
static struct counts *of_machine_code(const char *text, enum mode mode, size_t *count)
{
  const char *assembler = ptxas(), *disassembler = nvdisasm();
  *count = 0;
  if (!assembler || !disassembler) return NULL;
  char folder[] = "/tmp/fuse-XXXXXX", command[2048], path[256];
  ck_assert(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/x.ptx", folder);
  FILE *f = fopen(path, "w");
  ck_assert(f != NULL);
  if (mode != AS_LOOPS) fputs(text, f);
  else write_prepared(f, text);
  fclose(f);
  snprintf(command, sizeof command,
           "cd %s && '%s' -arch=sm_90 -O3 -lineinfo x.ptx -o x.cubin && '%s' -g -c x.cubin > x.sass", folder,
           assembler, disassembler);
  ck_assert_msg(system(command) == 0, "%s failed", command);
  snprintf(path, sizeof path, "%s/x.sass", folder);
  char *sass = read_all(path);
  snprintf(command, sizeof command, "rm -r %s", folder);
  if (system(command) != 0) fprintf(stderr, "test_fuse: %s is left over\n", folder);
  struct counts *all = NULL, *c = NULL;
  struct seen seen = {0};
  unsigned from = 0;
  bool behind = false;
  for (char *line = strtok(sass, "\n"); line; line = strtok(NULL, "\n")) {
    char name[128], op[64];
    if (sscanf(line, " .section .text.%127[^,\" \t]", name) == 1) {
      all = realloc(all, (*count + 1) * sizeof *all);
      c = &all[(*count)++];
      memset(c, 0, sizeof *c);
      snprintf(c->name, sizeof c->name, "%s", name);
      seen.n = from = behind = 0;
      continue;
    }
    char *at = strstr(line, "//## File ");
    if (at && (at = strstr(at, ", line "))) from = (unsigned)strtoul(at + 7, NULL, 10);
    char *p = strstr(line, "*/");
    if (!c || !p || strncmp(line + strspn(line, " \t"), "/*", 2)) continue;
    p += 2 + strspn(p + 2, " \t");
    if (!strncmp(p, "@!PT", 4)) continue;       /* never executed: padding around asynchronous copies */
    bool guarded = *p == '@';
    if (guarded) p += strcspn(p, " \t"), p += strspn(p, " \t");
    if (sscanf(p, "%63[A-Z0-9_.]", op) != 1) continue;
    count_instruction(c, &seen, from, op, p + strlen(op));
    if (guarded && (!strcmp(op, "BRA") || !strcmp(op, "EXIT"))) behind = true;
    if (mode == MOVED && !strncmp(op, "LDS", 3) && (behind || guarded)) add(c, "behind", 0);
  }
  free(sass);
  free(seen.list);
  return all;
}

/* ---- records --------------------------------------------------------------------------------------- */

static struct counts *read_record(const char *path, size_t *count)
{
  char *text = read_all(path);
  struct counts *all = NULL;
  *count = 0;
  for (char *line = text, *next; line && *line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    if (*line == '#' || !*line) continue;
    all = realloc(all, (*count + 1) * sizeof *all);
    struct counts *c = &all[(*count)++];
    memset(c, 0, sizeof *c);
    char *why = strstr(line, " differs: ");
    if (why) {
      *why = 0;
      snprintf(c->differs, sizeof c->differs, "%s", why + 10);
    }
    char *save;
    for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
      char *is = strchr(word, '=');
      if (!is) {
        snprintf(c->name, sizeof c->name, "%s", word);
        continue;
      }
      *is = 0;
      int k = 0;
      while (k < KINDS && strcmp(kinds[k], word)) k++;
      ck_assert_msg(k < KINDS, "%s: no kind %s", path, word);
      c->n[k] = (unsigned)atoi(is + 1);
    }
  }
  free(text);
  return all;
}

static struct counts *find(struct counts *all, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (!strcmp(all[i].name, name)) return &all[i];
  return NULL;
}

static void write_record(const char *path, const struct counts *machine, size_t n,
                         struct counts *old, size_t nold, enum mode mode)
{
  FILE *f = fopen(path, "w");
  ck_assert(f != NULL);
  fprintf(f, "# Made by ptxas 13.0.88 -O3 sm_90%s; see test_fuse.c.\n",
          mode != AS_LOOPS ? "" : ", without unrolling");
  for (size_t i = 0; i < n; i++) {
    char text[1024];
    print(&machine[i], text, sizeof text);
    const struct counts *o = find(old, nold, machine[i].name);
    fprintf(f, "%s%s%s\n", text, o && o->differs[0] ? " differs: " : "", o ? o->differs : "");
  }
  fclose(f);
}

static bool equal(const struct counts *a, const struct counts *b)
{
  return !memcmp(a->n, b->n, sizeof a->n);
}

struct tally {
  unsigned kernels, agree, told;
  unsigned issued, doubted;     /* accesses where the plan was right, and those of them with a reason */
  bool disassembled;
};

/* One PTX text against its record: every kernel must agree, or differ as the record says it does. */
static void compare(const char *text, const char *record, struct tally *t, bool strict, enum mode mode)
{
  struct ptx_error error;
  struct ptx_module *m = ptx_read(text, strlen(text), &error);
  ck_assert_msg(m != NULL, "%s: line %u: %s", record, error.line, error.text);
  size_t nrecord = 0, nmachine;
  struct counts *old = access(record, R_OK) == 0 ? read_record(record, &nrecord) : NULL;
  struct counts *machine = of_machine_code(text, mode, &nmachine);
  if (machine && getenv("FUSE_RECORD")) {
    write_record(record, machine, nmachine, old, nrecord, mode);
    free(old);
    old = read_record(record, &nrecord);
  }
  t->disassembled = machine != NULL;
  ck_assert_msg(old != NULL, "%s is missing: FUSE_RECORD=1 with ptxas and nvdisasm writes it", record);
  for (size_t i = 0; i < nmachine; i++) {
    struct counts *o = find(old, nrecord, machine[i].name);
    char text[1024];
    print(&machine[i], text, sizeof text);
    ck_assert_msg(o && equal(o, &machine[i]), "%s: this ptxas makes something else: %s", record, text);
  }
  for (size_t i = 0; i < m->nfunctions; i++) {
    const struct ptx_function *f = m->functions[i];
    if (!f->is_entry || !f->has_body) continue;
    struct counts mine = of_plan(m, f, mode), *theirs = find(old, nrecord, f->name);
    ck_assert_msg(theirs != NULL, "%s has no line for %s", record, f->name);
    t->kernels++;
    if (equal(&mine, theirs)) {
      t->agree++;
      t->issued += mine.issued;
      t->doubted += mine.doubted;
      ck_assert_msg(!strict || !theirs->differs[0], "%s: %s agrees now; its \"differs:\" is to go", record, f->name);
      continue;
    }
    char a[1024], b[1024];
    print(&mine, a, sizeof a);
    print(theirs, b, sizeof b);
    t->told += is_among(mine.doubts, theirs->differs);
    if (getenv("FUSE_SHOW")) fprintf(stderr, "plan   %s\nptxas  %s\nreason %s\n", a, b, mine.doubts[0] ? mine.doubts[0] : "none");
    if (!strict) continue;
    ck_assert_msg(theirs->differs[0], "%s:\n  plan  %s\n  ptxas %s", record, a, b);
    const char *unseen = strstr(theirs->differs, UNSEEN);
    ck_assert_msg(unseen || is_among(mine.doubts, theirs->differs), "%s: %s: the plan does not say: %s",
                  record, f->name, theirs->differs);
  }
  free(machine);
  free(old);
  ptx_free(m);
}

static void report(const char *what, const struct tally *t)
{
  printf("fuse: %s: %u of %u as ptxas makes them, the plan says why for %u of the others; a reason where the plan"
         " is right: %u of %u accesses; disassembly %s\n", what, t->agree, t->kernels, t->told, t->doubted,
         t->issued,
         t->disassembled ? "compared" : "not run (ptxas or nvdisasm not found), records compared");
}

/* Whether differences fail: not while looking at them, or recording. */
static bool is_strict(void) { return !getenv("FUSE_SHOW") && !getenv("FUSE_RECORD"); }

static struct tally compare_folder(const char *folder, enum mode mode)
{
  struct dirent **names;
  int n = scandir(folder, &names, NULL, alphasort);
  struct tally t = {0};
  ck_assert_int_ge(n, 0);
  for (int i = 0; i < n; i++) {
    size_t length = strlen(names[i]->d_name);
    if (length > 4 && !strcmp(names[i]->d_name + length - 4, ".ptx")) {
      char path[512];
      snprintf(path, sizeof path, "%s%s", folder, names[i]->d_name);
      char *text = read_all(path);
      strcpy(path + strlen(path) - 4, ".expect");
      compare(text, path, &t, is_strict(), mode);
      free(text);
    }
    free(names[i]);
  }
  free(names);
  return t;
}

START_TEST(kernels)
{
  struct tally t = compare_folder(FOLDER, AS_LOOPS);
  ck_assert_uint_ge(t.kernels, 140);
  report("kernels", &t);
}
END_TEST

START_TEST(loops)
{
  struct tally t = compare_folder(FOLDER "unrolled/", UNROLLED);
  ck_assert_uint_ge(t.kernels, 25);
  report("loops", &t);
}
END_TEST

START_TEST(loads_behind_branches)
{
  struct tally t = compare_folder(FOLDER "sunk/", MOVED);
  ck_assert_uint_ge(t.kernels, 80);
  report("loads behind branches", &t);
}
END_TEST

typedef void probe_writer(FILE *out, uint32_t seed);

static struct tally compare_probes(probe_writer *write, unsigned count, const char *record,
                                   enum mode mode)
{
  char *text;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  const char *range = getenv("FUSE_SEEDS");     /* development: other seeds, FROM-TO */
  unsigned from = 1, to = count;
  if (range) ck_assert_int_eq(sscanf(range, "%u-%u", &from, &to), 2);
  fuse_probe_head(f);
  for (unsigned seed = from; seed <= to; seed++) write(f, seed);
  fclose(f);
  struct tally t = {0};
  compare(text, range ? "/tmp/fuse-probes.expect" : record, &t, !range && is_strict(), mode);
  free(text);
  return t;
}

START_TEST(probes)
{
  struct tally t = compare_probes(fuse_probe, PROBES, FOLDER "probes.expect", AS_LOOPS);
  report("probes", &t);
}
END_TEST

START_TEST(loop_probes)
{
  struct tally t = compare_probes(fuse_loop_probe, LOOPS, FOLDER "unrolled/probes.expect", UNROLLED);
  report("random loops", &t);
}
END_TEST

Suite *suite_fuse(void)
{
  Suite *s = suite_create("fuse");
  TCase *c = tcase_create("ptxas");
  tcase_set_timeout(c, 120);
  tcase_add_test(c, kernels);
  tcase_add_test(c, loops);
  tcase_add_test(c, loads_behind_branches);
  tcase_add_test(c, probes);
  tcase_add_test(c, loop_probes);
  suite_add_tcase(s, c);
  return s;
}
