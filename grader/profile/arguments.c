/* See arguments.h. */
#include "profile/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profile/declaration.h"
#include "profile/kernels.h"

static const uint64_t MOST_BYTES = UINT64_C(1) << 34;
enum { MOST_STRUCT = 4096, MOST_FIELDS = 256, DEEPEST = 8 };

static bool wrong(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool wrong(char *why, size_t size, const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  vsnprintf(why, size, format, ap);
  va_end(ap);
  return false;
}

/* ---- buffers -------------------------------------------------------------------------------- */

static bool read_file(const char *path, struct argument *a, bool any_count, char *why, size_t size)
{
  struct stat st;
  FILE *f = fopen(path, "rb");
  unsigned width = a->type->width;
  if (!f || fstat(fileno(f), &st) != 0) {
    if (f) fclose(f);
    return wrong(why, size, "'%s': cannot read %s: %s", a->text, path, strerror(errno));
  }
  bool regular = S_ISREG(st.st_mode);
  uint64_t bytes = regular ? (uint64_t)st.st_size : 0;
  if (any_count) a->count = bytes / width;
  uint64_t want = a->count * width;
  bool fits = regular && bytes == want && bytes <= MOST_BYTES;
  if (!fits) {
    fclose(f);
    if (!regular) return wrong(why, size, "'%s': %s is no regular file", a->text, path);
    if (bytes > MOST_BYTES) return wrong(why, size, "'%s': more than 16 GiB", a->text);
    if (any_count)
      return wrong(why, size, "'%s': %s has %" PRIu64 " bytes, which is no whole number of "
                   "elements of %u bytes", a->text, path, bytes, width);
    return wrong(why, size, "'%s': %s has %" PRIu64 " bytes, and %" PRIu64 " elements of %u bytes "
                 "are %" PRIu64 ": %" PRIu64 " too %s. %s[] takes the whole file, whatever its "
                 "length", a->text, path, bytes, a->count, width, want,
                 bytes < want ? want - bytes : bytes - want, bytes < want ? "few" : "many",
                 a->type->name);
  }
  a->bytes = (size_t)bytes;
  a->data = malloc(a->bytes ? a->bytes : 1);
  bool ok = a->data && fread(a->data, 1, a->bytes, f) == a->bytes;
  fclose(f);
  return ok || wrong(why, size, "'%s': %s could not be read whole", a->text, path);
}

/* From behind the bracket on: "64*64]=uniform>out". */
static bool parse_buffer(const char *count, struct argument *a, char *why, size_t size)
{
  const char *close = strchr(count, ']'), *rest = close ? close + 1 : NULL;
  bool empty = close == count;
  if (!close || (!empty && !value_whole(count, (size_t)(close - count), &a->count)))
    return wrong(why, size, "'%s': expected a number of elements between [ and ], like f32[65536] "
                 "or f32[256*256+32]", a->text);
  a->is_buffer = true;
  a->size = a->align = 8;
  char *how = NULL, problem[300];
  const char *save = strchr(rest, '>');
  if (*rest == '=') {
    how = strndup(rest + 1, save ? (size_t)(save - rest - 1) : strlen(rest + 1));
  } else if (*rest && *rest != '>') {
    return wrong(why, size, "'%s': expected = or > after ], found '%s'", a->text, rest);
  }
  if (save) a->save = strdup(save + 1);
  bool ok = true;
  const char *equal = save ? strrchr(save, '=') : NULL;
  if (equal && !strchr(equal, '/')) {
    ok = wrong(why, size, "'%s': '%s' would be part of the file's name: what fills a buffer comes before "
               ">, like f32[32]=iota>out", a->text, equal);
  } else if (save && !save[1]) {
    ok = wrong(why, size, "'%s': expected the name of a file after >", a->text);
  } else if (how && how[0] == '@') {
    ok = read_file(how + 1, a, empty, why, size);
  } else if (empty) {
    ok = wrong(why, size, "'%s': only =@FILE can do without a number of elements", a->text);
  } else if (a->count > MOST_BYTES / a->type->width) {
    ok = wrong(why, size, "'%s': more than 16 GiB", a->text);
  } else {
    a->bytes = (size_t)(a->count * a->type->width);
    a->data = calloc(a->bytes ? a->bytes : 1, 1);
    ok = a->data || wrong(why, size, "'%s': there is no memory for it", a->text);
    if (ok && how && !value_fill(a->type, how, a->data, a->count, problem, sizeof problem))
      ok = wrong(why, size, "'%s': %s", a->text, problem);
  }
  free(how);
  return ok;
}

/* ---- values --------------------------------------------------------------------------------- */

/* From behind the type's name on: ":7", "x3:1:2:3", "v4:0.5". */
static bool parse_value(const char *rest, struct argument *a, char *why, size_t size)
{
  const struct value_type *t = a->type;
  bool vector = *rest == 'v';
  char problem[200], one[64];
  a->count = 1;
  if (*rest == 'x' || vector) {
    size_t length = strcspn(++rest, ":");
    if (!value_whole(rest, length, &a->count) || a->count == 0 || a->count > MOST_STRUCT)
      return wrong(why, size, "'%s': expected a number of elements after %c, like f32%c4:0.5",
                   a->text, vector ? 'v' : 'x', vector ? 'v' : 'x');
    if (vector && (a->count < 2 || a->count > 4))
      return wrong(why, size, "'%s': a vector has 2, 3 or 4 elements", a->text);
    rest += length;
  }
  if (*rest != ':')
    return wrong(why, size, "'%s': expected TYPE:VALUE or TYPE[COUNT], like %s:4 or %s[1024]",
                 a->text, t->name, t->name);
  uint64_t given = 0;
  for (const char *p = rest; *p; p += *p == ':') p += strcspn(p, ":") , given += *p == ':';
  if (given != 1 && given != a->count)
    return wrong(why, size, "'%s': %" PRIu64 " values for %" PRIu64 " element%s", a->text, given,
                 a->count, a->count == 1 ? "" : "s");
  a->bytes = a->size = (size_t)a->count * t->width;
  a->align = vector && a->count != 3 ? a->size : t->width;
  if (a->align > 16) a->align = 16;
  a->data = calloc(1, a->bytes + 8);
  if (!a->data) return wrong(why, size, "there is no memory left");
  const char *p = rest + 1;
  for (uint64_t i = 0; i < a->count; i++) {
    size_t length = strcspn(p, ":");
    if (length >= sizeof one) return wrong(why, size, "'%s': a value is too long", a->text);
    memcpy(one, p, length);
    one[length] = 0;
    uint8_t bytes[8];
    if (!value_read(t, one, bytes, problem, sizeof problem))
      return wrong(why, size, "'%s': %s", a->text, problem);
    memcpy(a->data + i * t->width, bytes, t->width);
    if (given > 1) p += length + 1;
  }
  return true;
}

static bool parse(const char *text, struct argument *a, unsigned depth, char *why, size_t size);

static size_t rounded(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* The end of a field: a comma, or the brace that closes the struct, outside of brackets. */
static size_t field_length(const char *p)
{
  int depth = 0;
  size_t n = 0;
  for (; p[n]; n++) {
    if (strchr("{[(", p[n])) depth++;
    if (strchr("}])", p[n]) && depth-- == 0) break;
    if (p[n] == ',' && depth == 0) break;
  }
  return n;
}

static bool parse_struct(struct argument *a, unsigned depth, char *why, size_t size)
{
  const char *p = a->text + 1;
  size_t length = strlen(a->text);
  if (length < 3 || a->text[length - 1] != '}' || depth > DEEPEST)
    return wrong(why, size, "'%s': expected a struct as {i32:4,f32:0.5,f32[64]=uniform}", a->text);
  a->align = 1;
  for (;; p++) {
    size_t n = field_length(p);
    char *field = strndup(p, n);
    struct argument *more = realloc(a->fields, (a->nfields + 1) * sizeof *more);
    if (more) a->fields = more;
    if (!more || !field) {
      free(field);
      return wrong(why, size, "there is no memory left");
    }
    struct argument *f = &more[a->nfields++];
    bool ok = parse(field, f, depth + 1, why, size);
    free(field);
    if (!ok) return false;
    f->at = rounded(a->size, f->align);
    a->size = f->at + f->size;
    if (f->align > a->align) a->align = f->align;
    if (a->size > MOST_STRUCT || a->nfields > MOST_FIELDS)
      return wrong(why, size, "'%.60s...': a struct by value has at most %d bytes", a->text,
                   MOST_STRUCT);
    p += n;
    if (*p != ',') break;
  }
  if (p[0] != '}' || p[1])
    return wrong(why, size, "'%s': expected , or } at '%s'", a->text, p);
  a->bytes = a->size = rounded(a->size, a->align);
  return true;
}

/* ---- tensor maps ---------------------------------------------------------------------------- */

/* "64,128" -> {128, 64}: innermost first, as a tensor map has them.  0: not such a list. */
static unsigned list(const char *text, size_t length, uint64_t out[SIM_TENSOR_RANK])
{
  uint64_t n[SIM_TENSOR_RANK];
  unsigned rank = 0;
  for (const char *end = text + length; text < end && rank < SIM_TENSOR_RANK;) {
    const char *comma = memchr(text, ',', (size_t)(end - text)), *stop = comma ? comma : end;
    if (!value_whole(text, (size_t)(stop - text), &n[rank++])) return 0;
    if (stop == end) {
      for (unsigned k = 0; k < rank; k++) out[k] = n[rank - 1 - k];
      return rank;
    }
    text = stop + 1;
  }
  return 0;
}

static int tensor_type(const char *name)
{
  static const struct { const char *name; enum sim_tensor_type type; } known[] = {
    {"u8", SIM_TENSOR_U8},   {"u16", SIM_TENSOR_U16},   {"u32", SIM_TENSOR_U32},
    {"i32", SIM_TENSOR_S32}, {"u64", SIM_TENSOR_U64},   {"i64", SIM_TENSOR_S64},
    {"f16", SIM_TENSOR_F16}, {"bf16", SIM_TENSOR_BF16}, {"f32", SIM_TENSOR_F32},
    {"f64", SIM_TENSOR_F64},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (!strcmp(known[k].name, name)) return (int)known[k].type;
  return -1;
}

/* tma:TYPE[DIMS]=.../box=DIMS/swizzle=S: the middle is a buffer whose count is a product. */
static bool parse_tensor(struct argument *a, char *why, size_t size)
{
  static const char *const swizzles[] = {"none", "32B", "64B", "128B"};
  char text[1024], buffer[1100];
  uint64_t dims[SIM_TENSOR_RANK], sides[SIM_TENSOR_RANK];
  uint32_t box[SIM_TENSOR_RANK];
  if ((size_t)snprintf(text, sizeof text, "%s", a->text + 4) >= sizeof text)
    return wrong(why, size, "'%s' is too long", a->text);
  char *swizzle = strstr(text, "/swizzle="), *sized = strstr(text, "/box=");
  if (swizzle) *swizzle = 0;
  if (sized) *sized = 0;
  char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
  a->type = open ? value_type(text, (size_t)(open - text)) : NULL;
  int type = a->type ? tensor_type(a->type->name) : -1, mode = swizzle ? -1 : 0;
  unsigned rank = close ? list(open + 1, (size_t)(close - open - 1), dims) : 0;
  if (type < 0 || !rank || !sized || list(sized + 5, strlen(sized + 5), sides) != rank)
    return wrong(why, size, "'%s': expected a tensor and a box of as many sides, like "
                 "tma:f16[64,128]=uniform/box=64,64/swizzle=128B", a->text);
  for (int k = 0; swizzle && k < 4; k++)
    if (!strcmp(swizzle + 9, swizzles[k])) mode = k;
  if (mode < 0)
    return wrong(why, size, "'%s': a swizzle is none, 32B, 64B or 128B, and comes last", a->text);
  char problem[160];
  for (unsigned k = 0; k < rank; k++) box[k] = sides[k] > 256 ? 257 : (uint32_t)sides[k];
  if (!sim_tensor_map(&a->tensor, (enum sim_tensor_type)type, rank, 0, dims, NULL, box,
                      (enum model_tma)mode, false, problem, sizeof problem))
    return wrong(why, size, "'%s': %s", a->text, problem);
  size_t n = 0;
  for (unsigned k = 0; k < rank; k++)
    n += (size_t)snprintf(buffer + n, sizeof buffer - n, "%s%" PRIu64, k ? "*" : "", dims[k]);
  snprintf(buffer + n, sizeof buffer - n, "%s", close);
  if (!parse_buffer(buffer, a, why, size)) return false;
  a->size = SIM_TENSOR_BYTES;
  a->align = 64;
  return true;
}

/* ---- one argument --------------------------------------------------------------------------- */

static bool parse(const char *text, struct argument *a, unsigned depth, char *why, size_t size)
{
  memset(a, 0, sizeof *a);
  a->text = strdup(text);
  if (!a->text) return wrong(why, size, "there is no memory left");
  if (text[0] == '{') return parse_struct(a, depth, why, size);
  if (!strncmp(text, "tma:", 4) && depth == 0) return parse_tensor(a, why, size);
  size_t name = strcspn(text, ":[xv");
  a->type = value_type(text, name);
  if (!a->type)
    return wrong(why, size, "'%s': expected TYPE:VALUE or TYPE[COUNT] with a type of " VALUE_TYPES,
                 text);
  if (text[name] == '[') return parse_buffer(text + name + 1, a, why, size);
  return parse_value(text + name, a, why, size);
}

bool argument_parse(const char *text, struct argument *a, char *why, size_t size)
{
  return parse(text, a, 0, why, size);
}

void argument_free(struct argument *a)
{
  for (size_t i = 0; i < a->nfields; i++) argument_free(&a->fields[i]);
  free(a->fields);
  free(a->data);
  free(a->save);
  free(a->text);
  memset(a, 0, sizeof *a);
}

size_t arguments_buffers(struct argument *a, size_t n, struct argument **out, size_t most)
{
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    if (a[i].is_buffer) {
      if (found < most) out[found] = &a[i];
      found++;
    }
    size_t left = found < most ? most - found : 0;
    found += arguments_buffers(a[i].fields, a[i].nfields, left ? out + found : NULL, left);
  }
  return found;
}

/* ---- against the kernel --------------------------------------------------------------------- */

static bool is_struct(const struct ptx_symbol *p) { return p->bytes * 8 != ptx_type_bits(p->type); }

static const char *article(unsigned bits) { return bits == 8 ? "an" : "a"; }

/* What a parameter takes, as a reader would say it. */
static void describe(const struct ptx_symbol *p, char *out, size_t size)
{
  unsigned bits = ptx_type_bits(p->type);
  enum ptx_kind kind = ptx_type_kind(p->type);
  if (p->bytes == SIM_TENSOR_BYTES && p->align == 64)
    snprintf(out, size, "a tensor map");
  else if (is_struct(p))
    snprintf(out, size, "a struct of %" PRIu64 " bytes", p->bytes);
  else if (kind == PTX_FLOAT)
    snprintf(out, size, "a %u-bit float", bits);
  else if (bits == 64)
    snprintf(out, size, "a pointer or a 64-bit integer");
  else
    snprintf(out, size, "%s %u-bit %s", article(bits), bits, kind == PTX_BITS ? "value" : "integer");
}

static void describe_given(const struct argument *a, char *out, size_t size)
{
  if (a->tensor.rank) snprintf(out, size, "a tensor map");
  else if (a->is_buffer) snprintf(out, size, "a buffer");
  else if (!a->type) snprintf(out, size, "a struct of %zu bytes", a->size);
  else if (a->count > 1) snprintf(out, size, "%" PRIu64 " values, %zu bytes", a->count, a->size);
  else snprintf(out, size, "%s %u-bit %s", article(8 * a->type->width), 8 * a->type->width,
                a->type->kind == VALUE_FLOAT ? "float" : "integer");
}

static bool fits(const struct ptx_symbol *p, const struct argument *a)
{
  enum ptx_kind kind = ptx_type_kind(p->type);
  if (a->tensor.rank) return p->bytes == SIM_TENSOR_BYTES;
  if (is_struct(p)) return rounded(a->size, p->align) == p->bytes && a->align <= p->align;
  if (a->is_buffer) return p->bytes == 8 && kind != PTX_FLOAT;
  if (a->size != p->bytes) return false;
  if (!a->type || kind == PTX_BITS || p->bytes == 2) return true;
  return (kind == PTX_FLOAT) == (a->type->kind == VALUE_FLOAT);
}

/* Does a value or a buffer's element fit a type's name?  Bytes may be anything, an integer of its width
 * any bits, and types that are not built in are not known. */
static bool type_fits(const char *type, size_t length, const struct argument *a, bool pointer)
{
  struct declared_type t;
  const struct value_type *v = a->type;
  if (!declaration_type(type, length, &t) || !v) return true;
  bool is_float = v->kind == VALUE_FLOAT;
  if (pointer && v->width == 1) return true;
  if (pointer && v->width == t.bytes && t.bytes > t.scalar && !is_float) return true;
  if (!pointer && a->size != t.bytes) return false;
  return v->width == t.scalar && (t.scalar < 4 || is_float == t.is_float);
}

/* The argument of a pointer "const float *in", as far as its source tells. */
static bool pointee_fits(const char *text, const struct argument *a)
{
  const char *star = strchr(text, '*');
  return !star || strchr(star + 1, '*') || !a->is_buffer || a->tensor.rank ||
         type_fits(text, (size_t)(star - text), a, true);
}

/* The fields of a struct, "int n; float k; const float *p;", as far as they can be read. */
static bool fields_fit(const char *text, const struct argument *a)
{
  size_t n = 0;
  if (!*text || !a->nfields || strpbrk(text, "(){}[]<>:=&")) return true;
  for (const char *p = text + strspn(text, " "); *p; p += *p == ';', p += strspn(p, " ")) {
    const char *end = p + strcspn(p, ";"), *type_end = p + strcspn(p, "*,;");
    if (type_end == end || *type_end == ',') {               /* behind the type is a name */
      while (type_end > p && type_end[-1] == ' ') type_end--;
      while (type_end > p && type_end[-1] != ' ') type_end--;
    }
    for (const char *q = p; q < end; n++) {
      const char *next = q + strcspn(q, ",;"), *star = memchr(q, '*', (size_t)(next - q));
      const struct argument *f = n < a->nfields ? &a->fields[n] : NULL;
      if (!f) return false;
      if (star ? !(f->is_buffer ? pointee_fits(p, f) : f->size == 8)
               : f->is_buffer || !type_fits(p, (size_t)(type_end - p), f, false))
        return false;
      q = next + (*next == ',');
    }
    p = end;
  }
  return n == a->nfields;
}

/* Where a struct's fields were laid out: ": i32 at 0, f32 at 4". */
static void layout(const struct argument *a, char *out, size_t size)
{
  size_t used = 0;
  *out = 0;
  for (size_t i = 0; i < a->nfields && used < size; i++) {
    const struct argument *f = &a->fields[i];
    used += (size_t)snprintf(out + used, size - used, "%s %s at %zu", i ? "," : ", laid out with",
                             f->is_buffer ? "a pointer" : f->type ? f->type->name : "a struct",
                             f->at);
  }
}

static void label(struct argument *a, const char *of)
{
  for (size_t i = 0; i < a->nfields; i++) {
    struct argument *f = &a->fields[i];
    snprintf(f->label, sizeof f->label, "field %zu of %.60s", i + 1, of);
    label(f, f->label);
  }
}

/* The kernel's name as its author has it, without the parameters. */
static void short_name(const struct ptx_function *kernel, char *to, size_t size)
{
  kernels_name(kernel, to, size);
  char *open = strchr(to, '(');
  if (open && open > to && strncmp(open, "(anonymous", 10)) *open = 0;
}

static bool wrong_number(const struct ptx_function *kernel, const struct argument *a, size_t n,
                         const struct signature *names, char *why, size_t size)
{
  char wanted[80], called[200];
  short_name(kernel, called, sizeof called);
  size_t used = (size_t)snprintf(why, size, "%s takes %zu argument%s", called, kernel->nparams, kernel->nparams == 1 ? "" : "s");
  for (size_t i = 0; i < kernel->nparams && used < size; i++) {
    describe(kernel->params[i], wanted, sizeof wanted);
    used += (size_t)snprintf(why + used, size - used, "%s %s", i ? "," : ":",
                             names ? names->params[i].text : wanted);
  }
  if (used < size) used += (size_t)snprintf(why + used, size - used, "; found %zu", n);
  for (size_t i = 0; i < n && used < size; i++)
    used += (size_t)snprintf(why + used, size - used, "%s '%s'", i ? "," : ":", a[i].text);
  return false;
}

bool arguments_check(const struct ptx_function *kernel, struct argument *a, size_t n,
                     const struct signature *names, char *why, size_t size)
{
  char wanted[80], given[80], laid[400], called[200];
  short_name(kernel, called, sizeof called);
  if (n != kernel->nparams) return wrong_number(kernel, a, n, names, why, size);
  for (size_t i = 0; i < n; i++) {
    const struct ptx_symbol *p = kernel->params[i];
    const char *name = names ? names->params[i].name : "";
    if (*name) snprintf(a[i].label, sizeof a[i].label, "argument %zu (%s)", i + 1, name);
    else snprintf(a[i].label, sizeof a[i].label, "argument %zu", i + 1);
    label(&a[i], a[i].label);
    bool sized = fits(p, &a[i]);
    if (sized && (!names || pointee_fits(names->params[i].text, &a[i])) &&
        (!names || fields_fit(names->params[i].fields, &a[i])))
      continue;
    if (sized)
      return wrong(why, size, "%s of %s: %s is expected%s%s%s; found '%s'%s", a[i].label, called,
                   names->params[i].text, a[i].nfields ? " {" : "",
                   a[i].nfields ? names->params[i].fields : "", a[i].nfields ? "}" : "", a[i].text,
                   a[i].nfields ? "" : ": u8[BYTES] fills any type with bytes");
    describe(p, wanted, sizeof wanted);
    describe_given(&a[i], given, sizeof given);
    layout(&a[i], laid, sizeof laid);
    if (is_struct(p) && a[i].align > p->align && rounded(a[i].size, p->align) == p->bytes)
      return wrong(why, size, "%s of %s: %s aligned to %u is expected%s%s; '%s' would be aligned to "
                   "%zu", a[i].label, called, wanted, p->align, *name ? ": " : "",
                   *name ? names->params[i].text : "", a[i].text, a[i].align);
    return wrong(why, size, "%s of %s: %s is expected%s%s; found '%s', %s%s", a[i].label,
                 called, wanted, *name ? ": " : "", *name ? names->params[i].text : "",
                 a[i].text, given, laid);
  }
  return true;
}

void argument_put(const struct argument *a, uint8_t *to)
{
  if (a->tensor.rank) {
    struct sim_tensor map = a->tensor;
    map.address = a->address;
    memcpy(to, &map, sizeof map);
  } else if (a->is_buffer) {
    memcpy(to, &a->address, 8);
  } else if (a->data) {
    memcpy(to, a->data, a->bytes);
  } else {
    memset(to, 0, a->size);                  /* padding */
    for (size_t i = 0; i < a->nfields; i++) argument_put(&a->fields[i], to + a->fields[i].at);
  }
}

bool arguments_pack(const struct ptx_function *kernel, const struct argument *a, size_t n,
                    uint8_t **params, size_t *bytes)
{
  *bytes = 0;
  for (size_t i = 0; i < n; i++) {
    size_t end = kernel->params[i]->offset + kernel->params[i]->bytes;
    if (end > *bytes) *bytes = end;
  }
  *params = calloc(*bytes ? *bytes : 1, 1);
  if (!*params) return false;
  for (size_t i = 0; i < n; i++) argument_put(&a[i], *params + kernel->params[i]->offset);
  return true;
}
