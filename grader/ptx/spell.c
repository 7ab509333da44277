/* Instructions from their rows: see spell.h.
 *
 * A row says which operands an instruction has, and mostly not how wide they are or how many
 * registers a vector takes.  Vectors are counted here, from the shapes of matrices and from .v2 and
 * its like; of widths the one of the instruction's type is written first, then all others. */
#include "ptx/spell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/internal.h"

enum { PLACES = 10, PIECE = 24, ALTERNATIVES = 24 };

/* The next piece of a row's text, up to one of `stops`; false at the end. */
static bool piece(const char **at, const char *stops, char out[PIECE])
{
  *at += strspn(*at, stops);
  size_t n = strcspn(*at, stops);
  if (!n || n >= PIECE) return false;
  memcpy(out, *at, n);
  out[n] = 0;
  *at += n;
  return true;
}

/* ---- every spelling -------------------------------------------------------------------------- */

struct group {
  enum ptx_mod mods[ALTERNATIVES];
  unsigned n;
  bool required;
};
struct column {
  enum ptx_type types[PTX_TYPES + 1];
  unsigned n;
};

static unsigned read_groups(const char *text, struct group *g)
{
  unsigned n = 0;
  if (!strcmp(text, "*")) return 0;
  while (*text && n < PTX_SPELL_GROUPS) {
    text += strspn(text, " ");
    size_t length = strcspn(text, " ");
    if (!length) break;
    g[n] = (struct group){.required = text[length - 1] == '!'};
    for (size_t k = 0; k < length && g[n].n < ALTERNATIVES;) {
      size_t part = strcspn(text + k, "|! ");
      enum ptx_mod m = ptx_mod_of((struct span){text + k, part});
      if (part && m != PTX_MODS) g[n].mods[g[n].n++] = m;
      k += part + 1;
    }
    text += length;
    n++;
  }
  return n;
}

/* The types of a column, in the order of mods.def; first of all none, when it may be left out. */
static unsigned read_columns(enum ptx_op op, unsigned form, struct column *c)
{
  for (unsigned k = 0;; k++) {
    bool optional;
    uint64_t set = k < PTX_TYPES_MAX ? ptx_form_types(op, form, k, &optional) : 0;
    if (!set) return k;
    c[k].n = 0;
    if (optional) c[k].types[c[k].n++] = PTX_NOTYPE;
    for (unsigned t = 1; t < PTX_TYPES; t++)
      if (set >> t & 1) c[k].types[c[k].n++] = (enum ptx_type)t;
  }
}

void ptx_spell_each(enum ptx_op op, unsigned form, ptx_spelling_user *use, void *user)
{
  struct group groups[PTX_SPELL_GROUPS];
  struct column columns[PTX_TYPES_MAX];
  struct ptx_form f = ptx_form(op, form);
  unsigned ngroups = read_groups(f.mods, groups), ncolumns = read_columns(op, form, columns);
  unsigned chosen[PTX_TYPES_MAX] = {0};
  for (bool more = true; more;) {
    struct ptx_spelling s = {.op = op, .form = form, .extra = PTX_MODS};
    for (unsigned k = 0; k < ncolumns; k++) s.types[k] = columns[k].types[chosen[k]];
    for (unsigned k = 0; k < PTX_SPELL_GROUPS; k++)
      s.mods[k] = k < ngroups && groups[k].required ? groups[k].mods[0] : PTX_MODS;
    use(user, &s);
    for (unsigned g = 0; g < ngroups; g++)
      for (unsigned k = groups[g].required; k < groups[g].n; k++) {
        struct ptx_spelling with = s;
        with.mods[g] = with.extra = groups[g].mods[k];
        use(user, &with);
      }
    unsigned k = 0;   /* the next list of types */
    while (k < ncolumns && ++chosen[k] == columns[k].n) chosen[k++] = 0;
    more = k < ncolumns;
  }
}

/* ---- how many registers a vector has -------------------------------------------------------- */

static bool has(const struct ptx_spelling *s, enum ptx_mod m)
{
  for (unsigned k = 0; k < PTX_SPELL_GROUPS; k++)
    if (s->mods[k] == m) return true;
  return false;
}

static unsigned written_types(const struct ptx_spelling *s)
{
  unsigned n = 0;
  for (unsigned k = 0; k < PTX_TYPES_MAX; k++) n += s->types[k] != PTX_NOTYPE;
  return n;
}

/* Of operand `place` of mma and wmma: D, A, B, C. */
static enum ptx_type matrix_type(const struct ptx_spelling *s, unsigned place)
{
  bool two = s->op == PTX_WMMA_MMA && written_types(s) == 2;
  if (s->op == PTX_WMMA_LOAD || s->op == PTX_WMMA_STORE) return s->types[0];
  if (two) return place == 0 ? s->types[0] : place == 3 ? s->types[1] : PTX_T_F16;
  return place < 4 ? s->types[place] : PTX_T_B32;
}

static unsigned matrix_registers(const struct ptx_spelling *s, unsigned place)
{
  unsigned m = 0, n = 0, k = 0, part = place;
  for (unsigned g = 0; g < PTX_SPELL_GROUPS; g++)
    if (s->mods[g] != PTX_MODS)
      if (sscanf(ptx_mod_text(s->mods[g]), "m%un%uk%u", &m, &n, &k) == 3) break;
  enum ptx_type type = matrix_type(s, place);
  if (s->op == PTX_WMMA_LOAD) part = has(s, PTX_M_A) ? 1 : has(s, PTX_M_B) ? 2 : 3;
  if (s->op == PTX_WMMA_STORE) part = 0;
  bool wmma = s->op == PTX_WMMA_LOAD || s->op == PTX_WMMA_MMA;
  unsigned elements = part == 1 ? m * k : part == 2 ? k * n : m * n;
  if (wmma && (part == 1 || part == 2) && type == PTX_T_F16) return 8;
  if (s->op == PTX_MMA && has(s, PTX_M_M8N8K4) && type != PTX_T_F64)
    return part == 1 || part == 2 ? 2 : type == PTX_T_F16 ? 4 : 8;
  if (part == 1 && (s->op == PTX_MMA_SP || s->op == PTX_MMA_SP_ORDERED)) elements /= 2;
  unsigned bits = ptx_type_bits(type);
  if (type == PTX_T_F64) bits = 32;                      /* one of 64 bits a register */
  if (bits == 6 || has(s, PTX_M_KIND_F8F6F4) || has(s, PTX_M_KIND_MXF8F6F4))
    bits = bits <= 8 ? 8 : bits;                         /* in containers of eight bits */
  return elements * bits / 1024 ? elements * bits / 1024 : 1;
}

static unsigned registers(const struct ptx_spelling *s, unsigned place)
{
  if (has(s, PTX_M_V2)) return 2;
  if (has(s, PTX_M_V4)) return 4;
  if (has(s, PTX_M_V8)) return 8;
  unsigned x = has(s, PTX_M_X4) ? 4 : has(s, PTX_M_X2) ? 2 : 1;
  switch (s->op) {
  case PTX_LDMATRIX: return has(s, PTX_M_M16N16) ? 2 * x : x;
  case PTX_STMATRIX: return x;
  case PTX_MMA: case PTX_MMA_SP: case PTX_MMA_SP_ORDERED: case PTX_WMMA_MMA:
    return place < 4 ? matrix_registers(s, place) : 2;
  case PTX_WMMA_LOAD: case PTX_WMMA_STORE: return matrix_registers(s, place);
  case PTX_CVT: return 4;
  default: return 1;
  }
}

/* ---- operands ----------------------------------------------------------------------------------- */

struct text {
  char *at;
  size_t left;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->at, t->left, format, args);
  va_end(args);
  size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
  t->at += used;
  t->left -= used;
}

static char class_of(enum ptx_type type)
{
  unsigned bits = ptx_type_bits(type);
  return type == PTX_T_PRED ? 'p' : bits > 64 ? 'q' : bits > 32 ? 'l' : bits > 16 || !bits ? 'w'
         : bits > 8 ? 'h' : type == PTX_T_E2M1X2 ? 'b' : 'w';
}

static char own_class(const struct ptx_spelling *s, unsigned place)
{
  switch (s->op) {
  case PTX_CVT: return class_of(s->types[place ? 1 : 0]);
  case PTX_SET: return class_of(s->types[place == 0 ? 0 : 1]);
  case PTX_ADD: case PTX_SUB: case PTX_FMA:   /* the first source (fma: two) of another type */
    return class_of(s->types[s->types[1] && (place == 1 || (s->op == PTX_FMA && place == 2))]);
  case PTX_LD: case PTX_ST: case PTX_LDU:
    return ptx_type_bits(s->types[0]) <= 16 ? 'h' : class_of(s->types[0]);
  case PTX_MMA: case PTX_MMA_SP: case PTX_MMA_SP_ORDERED: case PTX_WMMA_MMA: case PTX_WMMA_LOAD:
  case PTX_WMMA_STORE:
    return place < 4 && matrix_type(s, place) == PTX_T_F64 ? 'l' : 'w';
  default: return class_of(s->types[0]);
  }
}

/* Number n of the state spaces written. */
static enum ptx_mod space(const struct ptx_spelling *s, unsigned n)
{
  for (unsigned k = 0; k < PTX_SPELL_GROUPS; k++)
    switch (s->mods[k]) {
    case PTX_M_SHARED: case PTX_M_SHARED_CTA: case PTX_M_SHARED_CLUSTER: case PTX_M_GLOBAL:
    case PTX_M_LOCAL: case PTX_M_CONST: case PTX_M_PARAM: case PTX_M_PARAM_ENTRY:
    case PTX_M_PARAM_FUNC:
      if (!n--) return s->mods[k];
      break;
    default: break;
    }
  return PTX_MODS;
}

static const char *address(const struct ptx_spelling *s, const char *shape)
{
  bool barrier = strstr(ptx_op_text(s->op), "mbarrier") != NULL;
  if (barrier || !strcmp(shape, "[c]")) return "%barrier";
  switch (space(s, !strcmp(shape, "[b]"))) {
  case PTX_M_SHARED: case PTX_M_SHARED_CTA: case PTX_M_SHARED_CLUSTER: return "%shared";
  case PTX_M_LOCAL: return "%local";
  case PTX_M_CONST: return "constant";
  case PTX_M_PARAM: case PTX_M_PARAM_ENTRY: return s->op == PTX_ST ? "out" : "in";
  case PTX_M_PARAM_FUNC: return "out";
  default: break;
  }
  switch (s->op) {
  case PTX_ST_ASYNC: case PTX_RED_ASYNC: return has(s, PTX_M_RELEASE) ? "%global" : "%generic";
  case PTX_LDMATRIX: case PTX_STMATRIX: case PTX_ST_BULK:
  case PTX_CLUSTERLAUNCHCONTROL_TRY_CANCEL:
    return "%generic";             /* where tile lies among all addresses */
  case PTX_FENCE_PROXY: return "%map";
  default: return has(s, PTX_M_TENSORMAP) ? "%map" : "%global";
  }
}

static unsigned number(const struct ptx_spelling *s)
{
  switch (s->op) {
  case PTX_SETMAXNREG: return 24;
  case PTX_APPLYPRIORITY: case PTX_DISCARD: case PTX_FENCE_PROXY: case PTX_TENSORMAP_CP_FENCEPROXY:
    return 128;
  case PTX_MMA_SP: case PTX_MMA_SP_ORDERED: return 0;
  case PTX_PMEVENT: case PTX_WGMMA_WAIT_GROUP: return 1;
  default: return 16;
  }
}

static unsigned rank(const struct ptx_spelling *s)
{
  return has(s, PTX_M_5D) ? 5 : has(s, PTX_M_4D) ? 4 : has(s, PTX_M_3D) ? 3 : has(s, PTX_M_2D) ? 2 : 1;
}

static void put_list(struct text *t, char class, unsigned from, unsigned n)
{
  put(t, "{");
  for (unsigned k = 0; k < n; k++) put(t, "%s%%%c%u", k ? ", " : "", class, (from + k) % 40);
  put(t, "}");
}

static void put_operand(struct text *t, const struct ptx_spelling *s, const char *shape,
                        unsigned place, char class)
{
  unsigned first = 8 * place % 40;
  unsigned n = registers(s, place);
  bool vector = !strcmp(shape, "dv") || !strcmp(shape, "av");
  if (class == 'q') first = place;
  if (!strcmp(shape, "p") || !strcmp(shape, "s")) put(t, "%%p%u", place + 1);
  else if (!strcmp(shape, "p|q")) put(t, "%%p1|%%p2");
  else if (!strcmp(shape, "d|p")) put(t, "%%%c0|%%p1", class);
  else if (!strcmp(shape, "#")) put(t, "%u", number(s));
  else if (!strcmp(shape, "L")) put(t, "lab");
  else if (!strcmp(shape, "T")) put(t, "table");
  else if (!strcmp(shape, "F")) put(t, "fn");
  else if (!strcmp(shape, "[t]")) {
    bool rows = has(s, PTX_M_TILE_GATHER4) || has(s, PTX_M_TILE_SCATTER4);
    put(t, "[%%map, ");
    put_list(t, 'w', first, rows ? 5 : rank(s));
    put(t, "]");
  } else if (shape[0] == '[') put(t, "[%s]", address(s, shape));
  else if (!strcmp(shape, "{o}")) put_list(t, 'h', first, rank(s) > 2 ? rank(s) - 2 : 1);
  else if (shape[0] == '{') put_list(t, class, first, n > 1 ? n : 2);
  else if (vector && n > 1) put_list(t, class, class == 'q' ? place * 4 : first, n);
  else if (class == 'p') put(t, "%%p%u", place + 1);
  else put(t, "%%%c%u", class, first);
}

/* Operands that some modifiers ask for. */
static bool wants_optional(const struct ptx_spelling *s)
{
  return has(s, PTX_M_L2_CACHE_HINT) || has(s, PTX_M_CP_MASK) || has(s, PTX_M_MULTICAST_CLUSTER) ||
         (s->op == PTX_FENCE_PROXY && has(s, PTX_M_ACQUIRE)) || has(s, PTX_M_BLOCK_SCALE);
}

void ptx_spell_mnemonic(const struct ptx_spelling *s, char *out, size_t size)
{
  struct text t = {out, size};
  put(&t, "%s", ptx_op_text(s->op));
  for (unsigned k = 0; k < PTX_SPELL_GROUPS; k++)
    if (s->mods[k] != PTX_MODS) put(&t, ".%s", ptx_mod_text(s->mods[k]));
  for (unsigned k = 0; k < PTX_TYPES_MAX; k++)
    if (s->types[k]) put(&t, ".%s", ptx_type_text(s->types[k]));
}

bool ptx_spell(const struct ptx_spelling *s, unsigned way, char *out, size_t size)
{
  static const char classes[] = "wlhqp";   /* after the type's own */
  struct text t = {out, size};
  struct ptx_form f = ptx_form(s->op, s->form);
  char shapes[PLACES][PIECE];
  bool optional[PLACES], some = false;
  unsigned n = 0;
  for (const char *at = f.shape; n < PLACES && piece(&at, " ", shapes[n]);) {
    size_t length = strlen(shapes[n]);
    if (!strcmp(shapes[n], "...")) continue;
    optional[n] = shapes[n][length - 1] == '?';
    if (optional[n]) shapes[n][length - 1] = 0;
    some |= optional[n];
    n++;
  }
  bool with = wants_optional(s);
  if (some) {
    with ^= way & 1;
    way /= 2;
  }
  ptx_spell_mnemonic(s, out, size);
  t.at += strlen(out);
  t.left -= strlen(out);
  for (unsigned k = 0, said = 0; k < n; k++) {
    if ((optional[k] && !with) || shapes[k][0] == '(') continue;
    bool open = strspn(shapes[k], "davbcex{}") == strlen(shapes[k]) || !strcmp(shapes[k], "d|p");
    char class = own_class(s, k);
    if (open) {
      unsigned digit = way % 6;
      way /= 6;
      if (digit) class = classes[digit - 1];
    }
    put(&t, said++ ? ", " : " ");
    put_operand(&t, s, shapes[k], k, class);
  }
  return way == 0;
}
