/* See arguments.h. */
#include "profile/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum kind { INTEGER, UNSIGNED, FLOATING };

static const struct type {
  const char *name;
  unsigned width;
  enum kind kind;
  unsigned exponent, mantissa;   /* of a float, in bits */
} types[] = {
  {"i8", 1, INTEGER, 0, 0},   {"u8", 1, UNSIGNED, 0, 0},    {"i16", 2, INTEGER, 0, 0},
  {"u16", 2, UNSIGNED, 0, 0}, {"f16", 2, FLOATING, 5, 10},  {"bf16", 2, FLOATING, 8, 7},
  {"i32", 4, INTEGER, 0, 0},  {"u32", 4, UNSIGNED, 0, 0},   {"f32", 4, FLOATING, 8, 23},
  {"i64", 8, INTEGER, 0, 0},  {"u64", 8, UNSIGNED, 0, 0},   {"f64", 8, FLOATING, 11, 52},
};

#define ALL_TYPES "i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64"

static const uint64_t MOST_BYTES = UINT64_C(1) << 34;

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

/* The type whose name ends where `stop` says one of its characters stands. */
static const struct type *find_type(const char *text, size_t length)
{
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strlen(types[i].name) == length && !strncmp(types[i].name, text, length))
      return &types[i];
  return NULL;
}

/* A double rounded to nearest even into a small float of the given shape. */
static uint16_t small_float(double v, unsigned exponent, unsigned mantissa)
{
  int bias = (1 << (exponent - 1)) - 1, most = (1 << exponent) - 1;
  uint16_t sign = (uint16_t)(signbit(v) ? 1u << (exponent + mantissa) : 0);
  if (isnan(v)) return (uint16_t)(sign | most << mantissa | 1 << (mantissa - 1));
  v = fabs(v);
  int e;
  frexp(v, &e);                              /* v = f * 2^e, 0.5 <= f < 1 */
  int scale = v == 0 || e - 1 < 1 - bias ? 1 - bias : e - 1;
  double units = isinf(v) ? INFINITY : nearbyint(ldexp(v, (int)mantissa - scale));
  if (isinf(units) || scale > bias) return (uint16_t)(sign | most << mantissa);
  uint32_t bits = (uint32_t)units;           /* with the hidden bit, when normal */
  bits += (uint32_t)(scale + bias - 1) << mantissa;
  if (bits >> mantissa >= (uint32_t)most) return (uint16_t)(sign | most << mantissa);
  return (uint16_t)(sign | bits);
}

static void store(const struct type *t, uint8_t *to, double v, int64_t n)
{
  float f = (float)v;
  uint16_t h;
  if (t->kind != FLOATING) memcpy(to, &n, t->width);
  else if (t->width == 8) memcpy(to, &v, 8);
  else if (t->width == 4) memcpy(to, &f, 4);
  else {
    h = small_float(v, t->exponent, t->mantissa);
    memcpy(to, &h, 2);
  }
}

/* Reads a value of the type from the whole of `text`. */
static bool value(const struct type *t, const char *text, uint8_t *to)
{
  char *end;
  errno = 0;
  if (t->kind == FLOATING) {
    double v = strtod(text, &end);
    if (end == text || *end) return false;
    store(t, to, v, 0);
    return true;
  }
  unsigned bits = 8 * t->width;
  if (t->kind == UNSIGNED && strchr(text, '-')) return false;
  if (t->kind == UNSIGNED || !strncmp(text, "0x", 2)) {
    unsigned long long v = strtoull(text, &end, 0);
    if (end == text || *end || errno || (bits < 64 && v >> bits)) return false;
    store(t, to, 0, (int64_t)v);
    return true;
  }
  long long v = strtoll(text, &end, 0);
  if (end == text || *end || errno) return false;
  if (bits < 64 && (v < -(1LL << (bits - 1)) || v > (1LL << (bits - 1)) - 1)) return false;
  store(t, to, 0, v);
  return true;
}

static uint64_t next(uint64_t *s)            /* splitmix64 */
{
  uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static bool whole(const char *text, uint64_t *n)
{
  char *end;
  errno = 0;
  unsigned long long v = strtoull(text, &end, 0);
  *n = v;
  return end != text && !*end && !errno && !strchr(text, '-');
}

static bool read_file(const char *path, struct argument *a, bool any_count, char *why, size_t size)
{
  struct stat st;
  FILE *f = fopen(path, "rb");
  if (!f || fstat(fileno(f), &st) != 0) {
    if (f) fclose(f);
    return wrong(why, size, "'%s': cannot read %s: %s", a->text, path, strerror(errno));
  }
  uint64_t bytes = (uint64_t)st.st_size;
  if (any_count) a->count = bytes / a->width;
  bool fits = S_ISREG(st.st_mode) && bytes == a->count * a->width && bytes <= MOST_BYTES;
  if (!fits) {
    fclose(f);
    return wrong(why, size, "'%s': %s has %" PRIu64 " bytes, which is not %s %" PRIu64
                 " elements of %u bytes", a->text, path, bytes, any_count ? "any number of" : "the",
                 a->count, a->width);
  }
  a->bytes = (size_t)bytes;
  a->data = malloc(a->bytes ? a->bytes : 1);
  bool ok = a->data && fread(a->data, 1, a->bytes, f) == a->bytes;
  fclose(f);
  return ok || wrong(why, size, "'%s': %s could not be read whole", a->text, path);
}

/* "uniform", "uniform:7", "below:256", "iota", "0.5" into the buffer. */
static bool fill(const struct type *t, const char *how, struct argument *a, char *why, size_t size)
{
  uint64_t seed = 1, limit = 0;
  enum { UNIFORM, BELOW, IOTA, SAME } what = SAME;
  char text[64];
  snprintf(text, sizeof text, "%s", how);
  char *colon = strchr(text, ':');
  if (!strcmp(text, "iota")) {
    what = IOTA;
  } else if (!strncmp(text, "uniform", 7) && (!text[7] || text[7] == ':')) {
    what = UNIFORM;
    if (colon && !whole(colon + 1, &seed))
      return wrong(why, size, "'%s': expected =uniform or =uniform:SEED with a whole number",
                   a->text);
  } else if (!strncmp(text, "below:", 6)) {
    what = BELOW;
    char *second = strchr(colon + 1, ':');
    if (second) *second++ = 0;
    if (!whole(colon + 1, &limit) || limit == 0 || (second && !whole(second, &seed)))
      return wrong(why, size, "'%s': expected =below:LIMIT or =below:LIMIT:SEED with whole numbers",
                   a->text);
  } else {
    uint8_t v[8];
    if (!value(t, how, v))
      return wrong(why, size, "'%s': '%s' is neither a value of %s nor uniform, uniform:SEED, "
                   "below:LIMIT, iota or @file", a->text, how, t->name);
    for (uint64_t i = 0; i < a->count; i++) memcpy(a->data + i * t->width, v, t->width);
    return true;
  }
  uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + 1;
  for (uint64_t i = 0; i < a->count; i++) {
    uint64_t n = what == IOTA ? i : next(&state);
    double v = (double)n;
    if (what == UNIFORM) v = (double)(n >> 11) * 0x1p-52 - 1;
    if (what == BELOW) {
      n = (uint64_t)(((unsigned __int128)n * limit) >> 64);
      v = (double)n;
    }
    store(t, a->data + i * t->width, v, (int64_t)n);
  }
  return true;
}

/* "65536", "1024*1024"; false when it is not such a product. */
static bool product(const char *text, size_t length, uint64_t *out)
{
  uint64_t n = 1;
  char part[32];
  while (true) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits >= sizeof part || digits > length) return false;
    memcpy(part, text, digits);
    part[digits] = 0;
    uint64_t factor = strtoull(part, NULL, 10);
    if (__builtin_mul_overflow(n, factor, &n)) return false;
    text += digits;
    length -= digits;
    if (length == 0) break;
    if (*text != '*') return false;
    text++;
    length--;
  }
  *out = n;
  return true;
}

static bool parse_buffer(const struct type *t, const char *count, struct argument *a, char *why,
                         size_t size)
{
  const char *close = strchr(count, ']'), *rest = close ? close + 1 : NULL;
  bool empty = close == count;
  if (!close || (!empty && !product(count, (size_t)(close - count), &a->count)))
    return wrong(why, size, "'%s': expected a number of elements between [ and ], like f32[65536] "
                 "or f32[256*256]", a->text);
  a->is_buffer = true;
  a->align = 8;
  char *how = NULL;
  const char *save = strchr(rest, '>');
  if (*rest == '=') {
    how = strndup(rest + 1, save ? (size_t)(save - rest - 1) : strlen(rest + 1));
  } else if (*rest && *rest != '>') {
    return wrong(why, size, "'%s': expected = or > after ], found '%s'", a->text, rest);
  }
  if (save) a->save = strdup(save + 1);
  bool ok = true;
  if (save && !save[1]) {
    ok = wrong(why, size, "'%s': expected the name of a file after >", a->text);
  } else if (how && how[0] == '@') {
    ok = read_file(how + 1, a, empty, why, size);
  } else if (empty) {
    ok = wrong(why, size, "'%s': only =@FILE can do without a number of elements", a->text);
  } else if (a->count > MOST_BYTES / t->width) {
    ok = wrong(why, size, "'%s': more than 16 GiB", a->text);
  } else {
    a->bytes = (size_t)(a->count * t->width);
    a->data = calloc(a->bytes ? a->bytes : 1, 1);
    ok = a->data ? !how || fill(t, how, a, why, size)
                 : wrong(why, size, "'%s': there is no memory for it", a->text);
  }
  free(how);
  return ok;
}

static bool parse_struct(struct argument *a, char *why, size_t size)
{
  size_t length = strlen(a->text);
  char copy[1024], *rest = copy, *field;
  if (length < 3 || length >= sizeof copy || a->text[length - 1] != '}')
    return wrong(why, size, "'%s': expected a struct as {i32:4,f32:0.5}", a->text);
  memcpy(copy, a->text + 1, length - 2);
  copy[length - 2] = 0;
  a->data = calloc(1, sizeof copy * 8);
  a->align = 1;
  if (!a->data) return wrong(why, size, "there is no memory left");
  while ((field = strsep(&rest, ","))) {
    size_t name = strcspn(field, ":");
    const struct type *t = find_type(field, name);
    if (!t || field[name] != ':')
      return wrong(why, size, "'%s': field '%s': expected TYPE:VALUE with a type of " ALL_TYPES,
                   a->text, field);
    a->bytes = (a->bytes + t->width - 1) / t->width * t->width;
    if (!value(t, field + name + 1, a->data + a->bytes))
      return wrong(why, size, "'%s': field '%s' is not a value of %s", a->text, field, t->name);
    a->bytes += t->width;
    if (t->width > a->align) a->align = t->width;
  }
  a->bytes = (a->bytes + a->align - 1) / a->align * a->align;
  return true;
}

/* "64,128" -> {128, 64}: innermost first, as a tensor map has them.  0: not such a list. */
static unsigned list(const char *text, size_t length, uint64_t out[SIM_TENSOR_RANK])
{
  uint64_t n[SIM_TENSOR_RANK];
  unsigned rank = 0;
  for (const char *end = text + length; text < end && rank < SIM_TENSOR_RANK;) {
    char *after;
    if (*text < '0' || *text > '9') return 0;
    n[rank++] = strtoull(text, &after, 10);
    if (after == end) {
      for (unsigned k = 0; k < rank; k++) out[k] = n[rank - 1 - k];
      return rank;
    }
    if (*after != ',') return 0;
    text = after + 1;
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
  char text[1024], buffer[1024];
  uint64_t dims[SIM_TENSOR_RANK], sides[SIM_TENSOR_RANK];
  uint32_t box[SIM_TENSOR_RANK];
  if ((size_t)snprintf(text, sizeof text, "%s", a->text + 4) >= sizeof text)
    return wrong(why, size, "'%s' is too long", a->text);
  char *swizzle = strstr(text, "/swizzle="), *sized = strstr(text, "/box=");
  if (swizzle) *swizzle = 0;
  if (sized) *sized = 0;
  char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
  const struct type *t = open ? find_type(text, (size_t)(open - text)) : NULL;
  int type = t ? tensor_type(t->name) : -1, mode = swizzle ? -1 : 0;
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
  for (char *c = open; c < close; c++)
    if (*c == ',') *c = '*';
  snprintf(buffer, sizeof buffer, "%s", open + 1);
  a->type = t->name;
  a->width = t->width;
  return parse_buffer(t, buffer, a, why, size);
}

bool argument_parse(const char *text, struct argument *a, char *why, size_t size)
{
  memset(a, 0, sizeof *a);
  a->text = text;
  if (text[0] == '{') {
    a->type = "struct";
    return parse_struct(a, why, size);
  }
  if (!strncmp(text, "tma:", 4)) return parse_tensor(a, why, size);
  size_t name = strcspn(text, ":[");
  const struct type *t = find_type(text, name);
  if (!t)
    return wrong(why, size, "'%s': expected TYPE:VALUE or TYPE[COUNT] with a type of " ALL_TYPES,
                 text);
  a->type = t->name;
  a->width = t->width;
  if (text[name] == '[') return parse_buffer(t, text + name + 1, a, why, size);
  a->align = a->bytes = t->width;
  a->count = 1;
  a->data = calloc(1, 8);
  if (text[name] != ':' || !a->data || !value(t, text + name + 1, a->data))
    return wrong(why, size, "'%s': expected a value of %s after the colon", text, t->name);
  return true;
}

void argument_free(struct argument *a)
{
  free(a->data);
  free(a->save);
  memset(a, 0, sizeof *a);
}

/* What a parameter takes, as a reader would say it. */
static void describe(const struct ptx_symbol *p, char *out, size_t size)
{
  unsigned bits = ptx_type_bits(p->type);
  if (p->bytes * 8 != bits)
    snprintf(out, size, "a struct of %" PRIu64 " bytes", p->bytes);
  else if (bits == 64)
    snprintf(out, size, "a pointer or a 64-bit value");
  else
    snprintf(out, size, "a %u-bit %s", bits,
             ptx_type_kind(p->type) == PTX_FLOAT ? "float" : "value");
}

static bool fits(const struct ptx_symbol *p, const struct argument *a)
{
  enum ptx_kind kind = ptx_type_kind(p->type);
  if (a->tensor.rank) return p->bytes == SIM_TENSOR_BYTES;
  if (a->is_buffer) return p->bytes == 8 && kind != PTX_FLOAT;
  if (a->bytes != p->bytes) return false;
  if (p->bytes * 8 != ptx_type_bits(p->type)) return true;   /* a struct: bytes are bytes */
  const struct type *t = find_type(a->type, strlen(a->type));
  if (!t || kind == PTX_BITS) return true;
  return (kind == PTX_FLOAT) == (t->kind == FLOATING) || p->bytes == 2;
}

bool arguments_check(const struct ptx_function *kernel, const struct argument *a, size_t n,
                     char *why, size_t size)
{
  char wanted[80];
  size_t used = 0;
  if (n != kernel->nparams) {
    used += (size_t)snprintf(why, size, "%s takes %zu argument%s", kernel->name, kernel->nparams,
                             kernel->nparams == 1 ? "" : "s");
    for (size_t i = 0; i < kernel->nparams && used < size; i++) {
      describe(kernel->params[i], wanted, sizeof wanted);
      used += (size_t)snprintf(why + used, size - used, "%s %s", i ? "," : ":", wanted);
    }
    if (used < size) snprintf(why + used, size - used, "; found %zu", n);
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    if (fits(kernel->params[i], &a[i])) continue;
    describe(kernel->params[i], wanted, sizeof wanted);
    return wrong(why, size, "argument %zu of %s is %s (.%s %s); found '%s', %s of %zu bytes", i + 1,
                 kernel->name, wanted, ptx_type_text(kernel->params[i]->type),
                 kernel->params[i]->name, a[i].text, a[i].is_buffer ? "a buffer" : "a value",
                 a[i].bytes);
  }
  return true;
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
  for (size_t i = 0; i < n; i++) {
    if (a[i].tensor.rank) {
      struct sim_tensor map = a[i].tensor;
      map.address = a[i].address;
      memcpy(*params + kernel->params[i]->offset, &map, sizeof map);
      continue;
    }
    memcpy(*params + kernel->params[i]->offset,
           a[i].is_buffer ? (const void *)&a[i].address : a[i].data,
           a[i].is_buffer ? 8 : a[i].bytes);
  }
  return true;
}
