/* One pass over the text, no copies: a cell is a pointer and a length.  The answer is collected in
 * memory first, so that a bad row late in the file leaves no half an answer behind. */
#include "rows.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { ID, OP, WIDTH, MASK, LANE0, COLUMNS = LANE0 + MODEL_LANES };

struct slice { const char *text; size_t length; };

static void column_name(unsigned column, char name[16])
{
  static const char *const names[] = {"id", "op", "width", "mask"};
  if (column < LANE0) snprintf(name, 16, "%s", names[column]);
  else snprintf(name, 16, "lane%u", (column - LANE0) & (MODEL_LANES - 1));
}

static bool number(const char *text, size_t length, unsigned base, uint64_t most, uint64_t *value)
{
  uint64_t v = 0;
  if (length == 0) return false;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    unsigned digit = c >= '0' && c <= '9' ? c - 48u
                     : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10u : 99;
    if (digit >= base || v > (most - digit) / base) return false;
    v = v * base + digit;
  }
  *value = v;
  return true;
}

static bool is_hex(const char *text, size_t length)
{
  return length > 2 && text[0] == '0' && (text[1] | 32) == 'x';
}

bool rows_address(const char *text, size_t length, uint64_t *value)
{
  if (is_hex(text, length)) return number(text + 2, length - 2, 16, UINT64_MAX, value);
  return number(text, length, 10, UINT64_MAX, value);
}

bool rows_mask(const char *text, size_t length, uint32_t *value)
{
  uint64_t v;
  bool hex = is_hex(text, length);
  if (!number(text + 2 * hex, length - 2 * (size_t)hex, 16, UINT32_MAX, &v)) return false;
  *value = (uint32_t)v;
  return true;
}

bool rows_misaligned(const struct access *a, unsigned *lane, char *why, size_t size)
{
  for (uint32_t left = model_lanes(a); left; left &= left - 1) {
    *lane = (unsigned)__builtin_ctz(left);
    if (a->addr[*lane] % a->width == 0) continue;
    snprintf(why, size, "expected a multiple of the width, %" PRIu32
             " bytes (the hardware faults on others), found %" PRIu64, a->width, a->addr[*lane]);
    return true;
  }
  return false;
}

struct table {
  size_t at[COLUMNS];         /* place in a row of each column; SIZE_MAX: the header lacks it */
  size_t columns;
  size_t line;                /* of the row being read, from 1 */
  char *why;
  size_t size;
};

/* "line 7, column lane3: expected a byte address, found 'x12'" */
static bool bad(const struct table *t, unsigned column, const char *expected, struct slice found)
{
  char name[16], shown[48];
  size_t n = 0;
  column_name(column, name);
  for (; n < found.length && n < 40; n++)
    shown[n] = isprint((unsigned char)found.text[n]) ? found.text[n] : '?';
  snprintf(shown + n, sizeof shown - n, "%s", n < found.length ? "..." : "");
  if (found.length)
    snprintf(t->why, t->size, "line %zu, column %s: expected %s, found '%s'", t->line, name,
             expected, shown);
  else
    snprintf(t->why, t->size, "line %zu, column %s: expected %s, found nothing", t->line, name,
             expected);
  return false;
}

static struct slice trim(struct slice s)
{
  while (s.length && s.text[0] == ' ') s.text++, s.length--;
  while (s.length && s.text[s.length - 1] == ' ') s.length--;
  return s;
}

static bool equal(struct slice s, const char *text)
{
  return s.length == strlen(text) && !memcmp(s.text, text, s.length);
}

/* Takes the next cell off the row; false after the last one. */
static bool next_cell(struct slice *row, struct slice *cell)
{
  if (!row->text) return false;
  const char *tab = memchr(row->text, '\t', row->length);
  size_t n = tab ? (size_t)(tab - row->text) : row->length;
  *cell = trim((struct slice){row->text, n});
  row->text = tab ? tab + 1 : NULL;
  row->length -= tab ? n + 1 : n;
  return true;
}

static bool read_header(struct table *t, struct slice row)
{
  struct slice cell;
  for (unsigned c = 0; c < COLUMNS; c++) t->at[c] = SIZE_MAX;
  for (t->columns = 0; next_cell(&row, &cell); t->columns++)
    for (unsigned c = 0; c < COLUMNS; c++) {
      char name[16];
      column_name(c, name);
      if (!equal(cell, name)) continue;
      if (t->at[c] != SIZE_MAX) {
        snprintf(t->why, t->size, "line %zu, column %s: expected one column of that name, found "
                 "a second", t->line, name);
        return false;
      }
      t->at[c] = t->columns;
    }
  for (unsigned c = 0; c < LANE0; c++) {
    char name[16];
    if (t->at[c] != SIZE_MAX) continue;
    column_name(c, name);
    snprintf(t->why, t->size, "line %zu, column %s: expected a header with tab-separated columns "
             "id, op, width, mask, lane0 .. lane31, found none named %s", t->line, name, name);
    return false;
  }
  return true;
}

/* The last operation's name and what it means: rows mostly come in runs of one. */
struct last_op { struct slice name; enum model_op op; uint32_t width; };

static bool read_access(const struct table *t, const struct slice *cells, struct last_op *last,
                        struct access *a)
{
  struct slice op = cells[OP];
  uint64_t v;
  if (cells[ID].length == 0) return bad(t, ID, "a name for the row", cells[ID]);
  if (op.length != last->name.length || memcmp(op.text, last->name.text, op.length) ||
      !op.length) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", op.length < sizeof name ? (int)op.length : 0, op.text);
    if (memchr(op.text, 0, op.length) || !model_op_parse(name, &last->op, &last->width))
      return bad(t, OP, "an operation such as load, store, ldmatrix.x4, atom.add.u32, "
                 "red.add.u32.one, cp.async.16, global.load", op);
    last->name = op;
  }
  a->op = last->op;
  if (!number(cells[WIDTH].text, cells[WIDTH].length, 10, 1024, &v))
    return bad(t, WIDTH, "the bytes a lane moves: 1, 2, 4, 8 or 16", cells[WIDTH]);
  a->width = (uint32_t)v;
  if (last->width && last->width != v) {
    char expected[96];
    snprintf(expected, sizeof expected, "%" PRIu32 ", the width of %.*s", last->width,
             op.length < 60 ? (int)op.length : 60, op.text);
    return bad(t, WIDTH, expected, cells[WIDTH]);
  }
  if (!rows_mask(cells[MASK].text, cells[MASK].length, &a->mask))
    return bad(t, MASK, "the active lanes as at most 32 bits in hexadecimal", cells[MASK]);
  uint32_t lanes = model_lanes(a);
  for (unsigned lane = 0; lane < MODEL_LANES; lane++) {
    struct slice cell = cells[LANE0 + lane];
    bool used = lanes >> lane & 1;
    a->addr[lane] = 0;
    if (!used && (cell.length == 0 || equal(cell, "-"))) continue;
    if (!rows_address(cell.text, cell.length, &a->addr[lane])) {
      char expected[64];
      snprintf(expected, sizeof expected, "a byte address%s", used ? " (the lane is active)"
                                                                   : " or an empty cell");
      return bad(t, LANE0 + lane, expected, cell);
    }
  }
  return true;
}

static bool check(const struct table *t, const struct slice *cells, const struct access *a)
{
  struct access none = *a;
  char expected[160];
  unsigned lane;
  memset(none.addr, 0, sizeof none.addr);
  const char *wrong = model_access_check(&none);   /* all but the addresses */
  if (wrong) return bad(t, WIDTH, wrong, cells[WIDTH]);
  if (!model_access_check(a)) return true;
  snprintf(expected, sizeof expected, "a multiple of the width, %" PRIu32
           " bytes (the hardware faults on others)", a->width);
  if (!rows_misaligned(a, &lane, t->why, t->size)) return true;
  return bad(t, LANE0 + lane, expected, cells[LANE0 + lane]);
}

static bool price_line(struct table *t, struct slice row, struct last_op *last, FILE *out)
{
  struct slice cells[COLUMNS], all[1024], cell;
  struct access a = {0};
  size_t n = 0;
  for (; next_cell(&row, &cell); n++)
    if (n < 1024) all[n] = cell;
  if (n > t->columns) {
    snprintf(t->why, t->size, "line %zu, column %zu: expected the end of the row, for the header "
             "has %zu columns, found %zu", t->line, t->columns + 1, t->columns, n);
    return false;
  }
  for (unsigned c = 0; c < COLUMNS; c++)
    cells[c] = t->at[c] < n ? all[t->at[c]] : (struct slice){"", 0};
  if (!read_access(t, cells, last, &a) || !check(t, cells, &a)) return false;
  struct model_cost cost = model_cost(&a);
  bool global = a.op == MODEL_GLOBAL_LOAD || a.op == MODEL_GLOBAL_STORE;
  char digits[16];
  int length = snprintf(digits, sizeof digits, "\t%" PRIu32 "\n",
                        global ? cost.sectors : cost.wavefronts);
  fwrite(cells[ID].text, 1, cells[ID].length, out);
  fwrite(digits, 1, (size_t)length, out);
  return true;
}

bool rows_price(char *text, size_t length, FILE *out, char *why, size_t size)
{
  struct table t = {.why = why, .size = size};
  struct last_op last = {.name = {"", 0}};
  char *answer = NULL;
  size_t answer_size = 0;
  bool header = false, ok = true;
  const char *p = text, *end = text + length;
  FILE *collect = open_memstream(&answer, &answer_size);
  if (!collect) {
    snprintf(why, size, "out of memory");
    return false;
  }
  if (length >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) p += 3;   /* a byte order mark */
  while (ok && p < end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    struct slice row = {p, (size_t)((newline ? newline : end) - p)};
    p = newline ? newline + 1 : end;
    t.line++;
    if (row.length && row.text[row.length - 1] == '\r') row.length--;
    if (row.length == 0) continue;                            /* blank lines hold nothing */
    if (header) ok = price_line(&t, row, &last, collect);
    else ok = header = read_header(&t, row);
    if (header && t.columns > 1024) {
      snprintf(why, size, "line %zu: expected at most 1024 columns, found %zu", t.line, t.columns);
      ok = false;
    }
  }
  if (ok && !header) {
    snprintf(why, size, "line 1: expected a header with columns id, op, width, mask, "
             "lane0 .. lane31, found nothing");
    ok = false;
  }
  fclose(collect);
  if (ok) fwrite(answer, 1, answer_size, out);
  free(answer);
  return ok;
}
