/* Sites -> source lines.  Sites of one line, operation and width are one row: an unrolled loop
 * is still one line to its author. */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

static const char *operation(enum model_op op, enum profile_class class)
{
  static const char *const names[MODEL_OPS] = {
    [MODEL_LOAD] = "shared load", [MODEL_STORE] = "shared store",
    [MODEL_LDMATRIX_X1] = "ldmatrix.x1", [MODEL_LDMATRIX_X2] = "ldmatrix.x2",
    [MODEL_LDMATRIX_X4] = "ldmatrix.x4", [MODEL_STMATRIX_X1] = "stmatrix.x1",
    [MODEL_STMATRIX_X2] = "stmatrix.x2", [MODEL_STMATRIX_X4] = "stmatrix.x4",
    [MODEL_ATOM_NATIVE] = "shared atomic", [MODEL_ATOM_ONE] = "shared atomic +1",
    [MODEL_ATOM_CAS] = "shared cas", [MODEL_ATOM_LOOP] = "shared atomic loop",
    [MODEL_ATOM_LOOP64] = "shared atomic loop", [MODEL_CP_ASYNC] = "cp.async",
    [MODEL_GLOBAL_LOAD] = "global load", [MODEL_GLOBAL_STORE] = "global store",
  };
  if (class == PROFILE_GLOBAL_ATOMIC) return "global atomic";
  return (unsigned)op < MODEL_OPS && names[op] ? names[op] : "access";
}

static bool is_global(enum model_op op)
{
  return op == MODEL_GLOBAL_LOAD || op == MODEL_GLOBAL_STORE;
}

enum profile_class profile_class(const struct ptx_module *m, const struct sim_site *s)
{
  const char *name = m->functions[s->function]->insts[s->inst].mnemonic;
  if (is_global(s->op))
    return !strncmp(name, "atom", 4) || !strncmp(name, "red", 3) ? PROFILE_GLOBAL_ATOMIC
           : s->op == MODEL_GLOBAL_LOAD ? PROFILE_GLOBAL_LOAD : PROFILE_GLOBAL_STORE;
  if (s->op >= MODEL_ATOM_NATIVE && s->op <= MODEL_ATOM_LOOP64) return PROFILE_SHARED_ATOMIC;
  return s->op == MODEL_LOAD || (s->op >= MODEL_LDMATRIX_X1 && s->op <= MODEL_LDMATRIX_X4)
           ? PROFILE_SHARED_LOAD : PROFILE_SHARED_STORE;
}

/* Line `number` of `text`, without its indentation. */
static bool pick_line(const char *text, uint32_t number, char *out, size_t size)
{
  for (uint32_t i = 1; text && i < number; i++) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  if (!text) return false;
  text += strspn(text, " \t");
  size_t length = strcspn(text, "\r\n");
  if (length >= size) length = size - 1;
  for (size_t i = 0; i < length; i++)
    out[i] = (unsigned char)text[i] < 32 || text[i] == 127 ? ' ' : text[i];
  out[length] = 0;
  return true;
}

static char *read_text(const char *path)
{
  enum { MOST = 1 << 22 };                     /* a source file, not a device */
  FILE *f = fopen(path, "rb");
  char *text = f ? malloc(MOST + 1) : NULL;
  if (text) text[fread(text, 1, MOST, f)] = 0;
  if (f) fclose(f);
  return text;
}

char *profile_source(const char *name, const char *ptx_name)
{
  char path[1024];
  char *text = read_text(name);
  const char *end = strrchr(ptx_name, '/'), *slash = strrchr(name, '/');
  if (text || !end) return text;
  const char *const tries[] = {name, slash ? slash + 1 : name};
  for (int k = *name == '/'; k < 2 && !text; k++) {
    int n = snprintf(path, sizeof path, "%.*s/%s", (int)(end - ptx_name), ptx_name, tries[k]);
    if (n > 0 && (size_t)n < sizeof path) text = read_text(path);
  }
  return text;
}

static void add(struct profile_line *l, const struct sim_site *s)
{
  l->sum.requests += s->requests;
  l->sum.wavefronts += s->wavefronts;
  l->sum.ideal += s->ideal;
  l->sum.sectors += s->sectors;
  l->sum.bytes += s->bytes;
  l->sum.exact &= s->exact;
  l->sum.near |= s->near;
  if (s->worst_wavefronts > l->sum.worst_wavefronts) {
    l->sum.worst_wavefronts = s->worst_wavefronts;
    l->sum.worst = s->worst;
    memcpy(l->sum.worst_block, s->worst_block, sizeof s->worst_block);
    l->sum.worst_warp = s->worst_warp;
  }
}

/* Once a line, however many of its instructions have it. */
static void add_note(struct profile_line *l, const char *note)
{
  if (!note || strstr(l->note, note)) return;
  size_t used = strlen(l->note);
  snprintf(l->note + used, sizeof l->note - used, "%s%s", used ? "; " : "", note);
}

static void add_notes(struct profile_line *l, const struct sim_site *s)
{
  if (s->polled) add_note(l, "polled: how often depends on when the others come");
  add_note(l, s->note);
}

/* A loop of compare-and-swap goes round once more for each lane on the same word, and a round is its
 * ideal: what copies of their own for the lanes would save is no excess. */
static uint64_t spare(const struct profile_line *l)
{
  const struct sim_site *s = &l->sum;
  if (s->op != MODEL_ATOM_LOOP && s->op != MODEL_ATOM_LOOP64) return l->excess;
  struct access apart = s->worst;
  for (unsigned t = 0; t < MODEL_LANES; t++) apart.addr[t] = t * (uint64_t)apart.width;
  uint64_t least = s->requests * model_cost(&apart).wavefronts;
  uint64_t more = s->wavefronts > least ? s->wavefronts - least : 0;
  return more > l->excess ? more : l->excess;
}

static int worst_first(const void *pa, const void *pb)
{
  const struct profile_line *a = pa, *b = pb;
  bool ga = is_global(a->sum.op), gb = is_global(b->sum.op);
  if (ga != gb) return ga ? 1 : -1;            /* wavefronts and sectors do not compare */
  if (a->sum.polled != b->sum.polled) return a->sum.polled ? 1 : -1;   /* it waits, and costs no one */
  if (a->spare != b->spare) return a->spare < b->spare ? 1 : -1;
  uint64_t ca = a->sum.wavefronts + a->sum.sectors, cb = b->sum.wavefronts + b->sum.sectors;
  if (ca != cb) return ca < cb ? 1 : -1;
  if (a->sum.file != b->sum.file) return a->sum.file < b->sum.file ? -1 : 1;
  if (a->sum.line != b->sum.line) return a->sum.line < b->sum.line ? -1 : 1;
  return a->sum.ptx_line < b->sum.ptx_line ? -1 : a->sum.ptx_line > b->sum.ptx_line;
}

/* The files' texts, each read when it is first asked for. */
struct texts {
  const struct ptx_module *module;
  const char *ptx_name;
  char **text;
  bool *asked;
};

static const char *text_of(void *user, uint32_t file)
{
  struct texts *t = user;
  if (file >= t->module->nfiles || !t->module->files[file]) return NULL;
  if (!t->asked[file]) t->text[file] = profile_source(t->module->files[file], t->ptx_name);
  t->asked[file] = true;
  return t->text[file];
}

static void free_texts(struct texts *t)
{
  for (size_t i = 0; t->text && i < t->module->nfiles; i++) free(t->text[i]);
  free(t->text);
  free(t->asked);
}

/* What the counts come to: excess, stride, advice. */
static bool conclude(struct profile *p, struct texts *texts)
{
  size_t narrays;
  struct profile_array *arrays = profile_arrays(p, text_of, texts, &narrays);
  if (!arrays) return false;
  for (size_t i = 0; i < p->nlines; i++) {
    struct profile_line *l = &p->lines[i];
    struct sim_site *s = &l->sum;
    uint64_t spent = is_global(s->op) ? s->sectors : s->wavefronts;
    l->excess = spent > s->ideal ? spent - s->ideal : 0;
    l->spare = spare(l);
    p->unsure[l->class] |= !s->exact;
    p->polled |= s->polled;
    l->has_stride = model_stride_find(&s->worst, &l->stride) &&
                    !(is_global(s->op) && profile_own_blocks(&s->worst));
    const struct profile_array *array =
        is_global(s->op) ? NULL : profile_array_of(arrays, narrays, &s->worst);
    profile_advise(&s->worst, l->class, array, l->advice, sizeof l->advice);
  }
  profile_arrays_free(arrays, narrays);
  return true;
}

bool profile_lines(struct profile *p, const char *ptx_name, const char *ptx)
{
  const struct sim_result *r = p->result;
  const struct ptx_module *m = p->module;
  struct texts texts = {m, ptx_name, calloc(m->nfiles + 1, sizeof *texts.text),
                        calloc(m->nfiles + 1, sizeof *texts.asked)};
  p->lines = calloc(r->nsites ? r->nsites : 1, sizeof *p->lines);
  p->nlines = 0;
  if (!texts.text || !texts.asked || !p->lines) {
    free_texts(&texts);
    return false;
  }
  for (size_t i = 0; i < r->nsites; i++) {
    const struct sim_site *s = &r->sites[i];
    size_t at = 0;
    if (s->requests == 0) continue;
    enum profile_class class = profile_class(m, s);
    while (at < p->nlines &&
           !(p->lines[at].sum.file == s->file && p->lines[at].sum.line == s->line &&
             (s->line || p->lines[at].sum.ptx_line == s->ptx_line) &&
             p->lines[at].class == class && p->lines[at].sum.op == s->op &&
             p->lines[at].sum.polled == s->polled &&
             p->lines[at].sum.width == s->width))
      at++;
    if (at < p->nlines) {
      add(&p->lines[at], s);
      add_notes(&p->lines[at], s);
      continue;
    }
    struct profile_line *l = &p->lines[p->nlines++];
    l->sum = *s;
    l->class = class;
    l->operation = operation(s->op, class);
    add_notes(l, s);
    if (s->line && s->file < m->nfiles && m->files[s->file]) {
      snprintf(l->file, sizeof l->file, "%s", m->files[s->file]);
      pick_line(text_of(&texts, s->file), s->line, l->source, sizeof l->source);
    } else {
      snprintf(l->file, sizeof l->file, "%s", ptx_name);
      l->sum.line = 0;
      pick_line(ptx, s->ptx_line, l->source, sizeof l->source);
    }
  }
  bool ok = conclude(p, &texts);
  free_texts(&texts);
  qsort(p->lines, p->nlines, sizeof *p->lines, worst_first);
  return ok;
}

void profile_free(struct profile *p) { free(p->lines); }
