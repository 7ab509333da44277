/* banks wavefronts: what one warp access costs, from the command line; or a file of them. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "expr.h"
#include "report/picture.h"
#include "rows.h"

static const char usage[] =
  "usage: banks wavefronts [--op OP] [--width BYTES] [--mask HEX] WHERE [--json]\n"
  "       banks wavefronts --tsv FILE\n"
  "\n"
  "What one warp access to shared memory costs in wavefronts, and why.\n"
  "\n"
  "WHERE is one of\n"
  "  --stride N     lane t reads or writes element t*N, elements being --width bytes\n"
  "  --expr E       byte address of lane t, a C integer expression: --expr '(t*33+5)*4'\n"
  "  ADDR ...       up to 32 byte addresses (decimal or 0x...), lane 0 first\n"
  "\n"
  "  --op OP        load (default), store, ldmatrix.x4, atom.add.u32, red.add.u32.one,\n"
  "                 atom.cas.b32, atom.add.f32, cp.async.16, global.load, ...: PTX's spellings\n"
  "  --width BYTES  bytes a lane: 1, 2, 4, 8, 16 (default 4, or what OP says)\n"
  "  --mask HEX     active lanes, bit t is lane t (default: all lanes that have an address)\n"
  "  --json         one JSON object instead of text\n"
  "  --tsv FILE     rows of tab-separated text with a header (- reads standard input); columns\n"
  "                 by name: id, op, width, mask, lane0 .. lane31.  Prints id, a tab, and the\n"
  "                 wavefronts of each row (sectors for global.load and global.store)\n";

struct request {
  struct access access;
  const char *op, *stride, *expr, *mask, *tsv;
  uint32_t width;               /* 0: not given */
  bool json, help;
  unsigned addresses;
  uint64_t address[MODEL_LANES];
};

__attribute__((format(printf, 1, 2)))
static int complain(const char *format, ...)
{
  va_list args;
  fprintf(stderr, "banks wavefronts: ");
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\n");
  return CLI_USAGE;
}

static int read_arguments(int argc, char **argv, struct request *r)
{
  const struct { const char *name; const char **to; } options[] = {
    {"--op", &r->op}, {"--stride", &r->stride}, {"--expr", &r->expr}, {"--mask", &r->mask},
    {"--tsv", &r->tsv}, {"--width", NULL},
  };
  const char *width = NULL;
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    size_t o = 0, count = sizeof options / sizeof *options, n = 0;
    if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      r->help = true;
      return CLI_OK;
    }
    if (!strcmp(arg, "--json")) {
      r->json = true;
      continue;
    }
    for (; o < count; o++) {
      n = strlen(options[o].name);
      if (!strncmp(arg, options[o].name, n) && (!arg[n] || arg[n] == '=')) break;
    }
    if (o < count) {
      const char **to = options[o].to ? options[o].to : &width;
      if (*to) return complain("%s is given twice; once is enough", options[o].name);
      if (arg[n] == '=') *to = arg + n + 1;
      else if (i + 1 < argc) *to = argv[++i];
      else return complain("%s needs a value; see --help", options[o].name);
    } else if (arg[0] == '-') {
      return complain("unknown option '%s'; see --help", arg);
    } else {
      if (r->addresses == MODEL_LANES)
        return complain("more than 32 addresses: '%s' is number 33; a warp has 32 lanes", arg);
      if (!rows_address(arg, strlen(arg), &r->address[r->addresses]))
        return complain("address %u (lane %u): expected a byte address, decimal or 0x..., found "
                        "'%s'", r->addresses + 1, r->addresses, arg);
      r->addresses++;
    }
  }
  if (width) {
    uint64_t w;
    if (!rows_address(width, strlen(width), &w) || w == 0 || w > 16)
      return complain("--width: expected 1, 2, 4, 8 or 16 bytes, found '%s'", width);
    r->width = (uint32_t)w;
  }
  return CLI_OK;
}

static int by_stride(struct request *r)
{
  uint64_t stride;
  if (!rows_address(r->stride, strlen(r->stride), &stride) || stride > UINT32_MAX)
    return complain("--stride: expected a whole number of elements from 0 to 4294967295, found "
                    "'%s'", r->stride);
  for (unsigned t = 0; t < MODEL_LANES; t++) r->access.addr[t] = t * stride * r->access.width;
  return CLI_OK;
}

static int by_expr(struct request *r)
{
  char why[160];
  uint32_t lanes = model_lanes(&r->access);
  for (unsigned t = 0; t < MODEL_LANES; t++) {
    int64_t v;
    if (lanes ? !(lanes >> t & 1) : t > 0) continue;   /* idle lanes compute nothing */
    if (!expr_eval(r->expr, t, &v, why, sizeof why))
      return complain("--expr '%s', %s", r->expr, why);
    if (v < 0)
      return complain("--expr '%s': expected a byte address, but t = %u gives %" PRId64, r->expr,
                      t, v);
    r->access.addr[t] = (uint64_t)v;
  }
  return CLI_OK;
}

static int build_access(struct request *r)
{
  struct access *a = &r->access;
  uint32_t width, given = UINT32_MAX;
  int ways = (r->stride != NULL) + (r->expr != NULL) + (r->addresses > 0);
  char why[160];
  unsigned lane;
  if (ways == 0) return complain("no addresses: give --stride, --expr, or up to 32 of them");
  if (ways > 1) return complain("give one of --stride, --expr and addresses, not several");
  if (!model_op_parse(r->op ? r->op : "load", &a->op, &width))
    return complain("--op: expected an operation such as load, store, ldmatrix.x4, atom.add.u32, "
                    "red.add.u32.one, cp.async.16, global.load, found '%s'", r->op);
  if (width && r->width && width != r->width)
    return complain("--width: expected %" PRIu32 ", the width of %s, found %" PRIu32, width, r->op,
                    r->width);
  a->width = width ? width : r->width ? r->width : MODEL_WORD;
  if (r->addresses) given = r->addresses == 32 ? UINT32_MAX : (1u << r->addresses) - 1;
  a->mask = given;
  if (r->mask && !rows_mask(r->mask, strlen(r->mask), &a->mask))
    return complain("--mask: expected at most 32 bits in hexadecimal, found '%s'", r->mask);
  uint32_t without = model_lanes(a) & ~given;
  if (without)
    return complain("lane %d takes part but has no address: %u are given", __builtin_ctz(without),
                    r->addresses);
  memcpy(a->addr, r->address, sizeof a->addr);
  const char *wrong = NULL;
  struct access unplaced = *a;
  memset(unplaced.addr, 0, sizeof unplaced.addr);
  if ((wrong = model_access_check(&unplaced)) != NULL)
    return complain("--width %" PRIu32 ": %s", a->width, wrong);
  int status = r->stride ? by_stride(r) : r->expr ? by_expr(r) : CLI_OK;
  if (status) return status;
  if (rows_misaligned(a, &lane, why, sizeof why)) return complain("lane %u: %s", lane, why);
  if ((wrong = model_access_check(a)) != NULL) return complain("%s", wrong);
  return CLI_OK;
}

static bool is_global(const struct access *a)
{
  return a->op == MODEL_GLOBAL_LOAD || a->op == MODEL_GLOBAL_STORE;
}

/* Text in lines of at most 88 columns, the later ones indented like the first. */
static void wrapped(const char *label, const char *text)
{
  int column = printf("%-12s", label);
  for (const char *p = text; *p;) {
    int n = (int)strcspn(p, " ");
    if (column + n + 1 > 88) column = printf("\n%-11s", "") - 1;
    column += printf("%s%.*s", column > 12 || p != text ? " " : "", n, p);
    p += n;
    while (*p == ' ') p++;
  }
  printf("\n");
}

static void print_stride(const struct access *a)
{
  int64_t bytes;
  if (!(model_lanes(a) & (model_lanes(a) - 1))) return;   /* one lane has none */
  if (!model_stride_find(a, &bytes)) {
    printf("%-12snone: the distance from lane to lane changes\n", "stride");
    return;
  }
  printf("%-12s%" PRId64 " bytes from lane to lane", "stride", bytes);
  if (bytes == 0) printf(": one address for all");
  else if (bytes % MODEL_WORD) printf(", not a whole number of words");
  else if (a->width <= MODEL_WORD && !is_global(a)) {   /* the gcd rule is for whole words */
    uint64_t words = (uint64_t)(bytes < 0 ? -bytes : bytes) / MODEL_WORD;
    printf(" = %s%" PRIu64 " words; gcd(%" PRIu64 ", 32) = %" PRIu32, bytes < 0 ? "-" : "", words,
           words, model_gcd((uint32_t)(words % MODEL_BANKS), MODEL_BANKS));
  }
  printf("\n");
}

static void print_text(const struct request *r)
{
  const struct access *a = &r->access;
  struct model_cost c = model_cost(a);
  char lanes[128], picture[PICTURE_SIZE];
  printf("%s, %" PRIu32 " bytes a lane, lanes %s\n\n", r->op ? r->op : "load", a->width,
         picture_lanes(lanes, sizeof lanes, a->mask));
  if (is_global(a)) {
    printf("%-12s%" PRIu32 "\n%-12s%" PRIu32 "\n", "sectors", c.sectors, "ideal", c.ideal);
  } else {
    printf("%-12s%s%" PRIu32 "\n", "wavefronts", c.exact ? "" : "about ", c.wavefronts);
    printf("%-12s%" PRIu32 "\n%-12s%" PRIu32 "\n", "ideal", c.ideal, "excess",
           c.wavefronts - c.ideal);
  }
  print_stride(a);
  wrapped("rule", model_rule_text(c.rule));
  if (!c.exact) wrapped("", "(This rule is a fit that not every recorded row obeys.)");
  if (!a->mask) return;
  picture_access(picture, sizeof picture, a, 0);
  printf("\n%s", picture);
  if (!is_global(a))
    printf("A row is a wavefront, a cell the lane served; lanes below each other collide;\n"
           "+ says that more lanes share the word for free.\n");
}

static int print_json(const struct request *r)
{
  const struct access *a = &r->access;
  struct model_cost c = model_cost(a);
  uint32_t lanes[MODEL_BANKS];
  int64_t stride;
  char mask[16];
  snprintf(mask, sizeof mask, "%08" PRIx32, a->mask);
  json_t *root = json_object(), *banks = json_array(), *addresses = json_array();
  json_object_set_new(root, "op", json_string(r->op ? r->op : "load"));
  json_object_set_new(root, "width", json_integer(a->width));
  json_object_set_new(root, "mask", json_string(mask));
  if (is_global(a)) {
    json_object_set_new(root, "sectors", json_integer(c.sectors));
    json_object_set_new(root, "ideal", json_integer(c.ideal));
  } else {
    json_object_set_new(root, "wavefronts", json_integer(c.wavefronts));
    json_object_set_new(root, "ideal", json_integer(c.ideal));
    json_object_set_new(root, "excess", json_integer(c.wavefronts - c.ideal));
    json_object_set_new(root, "phases", json_integer(c.phases));
  }
  json_object_set_new(root, "exact", json_boolean(c.exact));
  json_object_set_new(root, "stride_bytes",
                      model_stride_find(a, &stride) ? json_integer(stride) : json_null());
  json_object_set_new(root, "rule", json_string(model_rule_text(c.rule)));
  for (unsigned t = 0; t < MODEL_LANES; t++)
    json_array_append_new(addresses, model_lanes(a) >> t & 1
                                       ? json_integer((json_int_t)a->addr[t]) : json_null());
  json_object_set_new(root, "addresses", addresses);
  if (!is_global(a)) {   /* banks: the lanes that touch each */
    model_bank_lanes(a, lanes);
    for (unsigned b = 0; b < MODEL_BANKS; b++) {
      json_t *list = json_array();
      for (unsigned t = 0; t < MODEL_LANES; t++)
        if (lanes[b] >> t & 1) json_array_append_new(list, json_integer(t));
      json_array_append_new(banks, list);
    }
    json_object_set(root, "banks", banks);
  }
  json_decref(banks);
  int failed = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
  json_decref(root);
  printf("\n");
  return failed ? CLI_OURS : CLI_OK;
}

/* All of a file; NULL with errno set. */
static char *read_all(FILE *f, size_t *length)
{
  size_t room = 1 << 16;
  char *text = malloc(room);
  for (*length = 0; text;) {
    *length += fread(text + *length, 1, room - *length, f);
    if (*length < room) break;
    char *more = realloc(text, room *= 2);
    if (!more) free(text);
    text = more;
  }
  if (text && ferror(f)) {
    free(text);
    text = NULL;
  }
  return text;
}

static int price_file(const char *path)
{
  char why[512];
  size_t length;
  bool standard = !strcmp(path, "-");
  FILE *f = standard ? stdin : fopen(path, "r");
  if (!f) return complain("--tsv %s: %s", path, strerror(errno));
  char *text = read_all(f, &length);
  int problem = errno;
  if (!standard) fclose(f);
  if (!text) return complain("--tsv %s: %s", path, strerror(problem));
  bool ok = rows_price(text, length, stdout, why, sizeof why);
  free(text);
  return ok ? CLI_OK : complain("%s, %s", standard ? "standard input" : path, why);
}

int command_wavefronts(int argc, char **argv)
{
  struct request r = {0};
  int status = read_arguments(argc, argv, &r);
  if (status) return status;
  if (r.help) {
    fputs(usage, stdout);
  } else if (r.tsv) {
    if (r.op || r.stride || r.expr || r.mask || r.width || r.addresses || r.json)
      return complain("--tsv takes everything from the file; leave the other options out");
    status = price_file(r.tsv);
  } else {
    status = build_access(&r);
    if (status) return status;
    if (r.json) status = print_json(&r);
    else print_text(&r);
  }
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(stderr, "banks wavefronts: standard output cannot be written\n");
    return CLI_OURS;
  }
  return status;
}
