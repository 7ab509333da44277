/* Draws the wavefronts of an access.  A bank serves one word a wavefront, so within a phase the
 * k-th distinct word of each bank (the k-th lane, for atomics and cp.async) goes into row k. */
#include "picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text { char *out; size_t size, length; };

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  size_t room = t->length < t->size ? t->size - t->length : 0;
  int n = vsnprintf(room ? t->out + t->length : NULL, room, format, args);
  va_end(args);
  if (n > 0) t->length += (size_t)n;
}

char *picture_lanes(char *out, size_t size, uint32_t mask)
{
  struct text t = {out, size, 0};
  if (size) *out = 0;
  if (!mask) add(&t, "none");
  for (unsigned lane = 0; lane < MODEL_LANES; lane++) {
    unsigned last = lane;
    if (!(mask >> lane & 1)) continue;
    while (last + 1 < MODEL_LANES && (mask >> (last + 1) & 1)) last++;
    add(&t, "%s%u", t.length ? ", " : "", lane);
    if (last > lane) add(&t, "%s%u", last == lane + 1 ? ", " : "-", last);
    lane = last;
  }
  return out;
}

struct cell { uint8_t lane, count; uint64_t word; };   /* count lanes on one word of a bank */

struct table {
  struct cell cells[MODEL_BANKS][MODEL_LANES];
  unsigned used[MODEL_BANKS], rows, fullest;
};

static bool lanes_share(enum model_op op)
{
  switch (op) {
  case MODEL_ATOM_NATIVE: case MODEL_ATOM_CAS: case MODEL_ATOM_LOOP: case MODEL_ATOM_LOOP64:
  case MODEL_CP_ASYNC:
    return false;
  default:
    return true;
  }
}

static void fill(struct table *table, const struct access *a, uint32_t lanes)
{
  bool share = lanes_share(a->op);
  memset(table, 0, sizeof *table);
  for (uint32_t left = lanes; left; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint64_t first = a->addr[lane] / MODEL_WORD;
    unsigned words = a->width > MODEL_WORD ? a->width / MODEL_WORD : 1;
    for (unsigned w = 0; w < words && w < MODEL_BANKS; w++) {
      unsigned bank = (unsigned)((first + w) % MODEL_BANKS), n = table->used[bank], i = n;
      if (share)
        for (i = 0; i < n && table->cells[bank][i].word != first + w;) i++;
      if (i < n) {
        table->cells[bank][i].count++;
        continue;
      }
      table->cells[bank][n] = (struct cell){(uint8_t)lane, 1, first + w};
      table->used[bank] = ++n;
      if (n <= table->rows) continue;
      table->rows = n;
      table->fullest = bank;
    }
  }
}

static uint32_t column(const struct table *table, unsigned bank)
{
  uint32_t mask = 0;
  for (unsigned i = 0; i < table->used[bank]; i++) mask |= 1u << table->cells[bank][i].lane;
  return mask;
}

/* The header row, then the wavefronts.  4 + 32 * 3 columns. */
static void draw(struct text *t, const struct table *table, bool share, unsigned max_rows)
{
  unsigned rows = max_rows && table->rows > max_rows ? max_rows : table->rows;
  char lanes[128];
  add(t, "bank");
  for (unsigned b = 0; b < MODEL_BANKS; b++) add(t, "%2u%s", b, b + 1 < MODEL_BANKS ? " " : "\n");
  for (unsigned r = 0; r < rows; r++) {
    unsigned last = MODEL_BANKS;
    add(t, "%3u ", r + 1);
    while (last > 1 && table->used[last - 1] <= r && r > 0) last--;
    for (unsigned b = 0; b < last; b++) {
      const struct cell *c = &table->cells[b][r];
      const char *gap = c->count > 1 ? "+" : b + 1 < last ? " " : "";
      if (table->used[b] > r) add(t, "%2u%s", c->lane, gap);
      else add(t, "%s%s", r == 0 ? " ." : "  ", gap);
    }
    add(t, "\n");
  }
  if (rows < table->rows) add(t, "  : and %u more wavefronts\n", table->rows - rows);
  if (table->rows > 1)
    add(t, "bank %u is the fullest: lanes %s want %u %s there\n", table->fullest,
        picture_lanes(lanes, sizeof lanes, column(table, table->fullest)), table->rows,
        share ? "different words" : "turns");
}

static uint32_t phase_lanes(const struct access *a, unsigned phase)
{
  unsigned lanes = model_phase_lanes(a);
  uint32_t mask = lanes >= MODEL_LANES ? UINT32_MAX : (1u << lanes) - 1;
  return (uint64_t)phase * lanes < MODEL_LANES ? model_lanes(a) & (mask << (phase * lanes)) : 0;
}

static void draw_phase(struct text *t, const struct access *a, unsigned phase, unsigned max_rows)
{
  struct table table;
  char names[128];
  unsigned lanes = model_phase_lanes(a);
  uint32_t mask = phase_lanes(a, phase);
  if (lanes < MODEL_LANES)
    add(t, "phase %u of %u, lanes %s:%s\n", phase + 1, MODEL_LANES / lanes,
        picture_lanes(names, sizeof names, mask), mask ? "" : " nothing to do");
  if (!mask) return;
  fill(&table, a, mask);
  draw(t, &table, lanes_share(a->op), max_rows);
}

/* Lines in order of address; which of their sectors are touched, by which lanes. */
static void draw_sectors(struct text *t, const struct access *a, unsigned max_rows)
{
  uint64_t at = 0;
  unsigned drawn = 0, skipped = 0;
  for (bool first = true;; first = false) {
    uint64_t line = UINT64_MAX;
    uint32_t lanes[4] = {0};
    char names[128];
    unsigned width = a->width ? a->width : 1;
    for (uint32_t left = a->mask; left; left &= left - 1) {
      uint64_t from = a->addr[__builtin_ctz(left)] / 128, to = from;
      to += (a->addr[__builtin_ctz(left)] % 128 + width - 1) / 128;
      if ((first || from > at) && from < line) line = from;
      else if ((first || to > at) && to < line) line = to;
    }
    if (line == UINT64_MAX) break;
    at = line;
    if (max_rows && drawn >= max_rows) {
      skipped++;
      continue;
    }
    drawn++;
    for (unsigned s = 0; s < 4; s++)
      for (uint32_t left = a->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t sector = line * 4 + s, from = a->addr[lane] / MODEL_SECTOR;
        uint64_t more = (a->addr[lane] % MODEL_SECTOR + width - 1) / MODEL_SECTOR;
        if (sector >= from && sector - from <= more) lanes[s] |= 1u << lane;
      }
    add(t, "line at byte %llu: sectors ", (unsigned long long)line * 128);
    for (unsigned s = 0; s < 4; s++) add(t, "%c", lanes[s] ? '#' : '.');
    uint32_t all = lanes[0] | lanes[1] | lanes[2] | lanes[3];
    if (strlen(picture_lanes(names, sizeof names, all)) <= 40) add(t, ", lanes %s\n", names);
    else add(t, ", %d lanes\n", __builtin_popcount(all));
  }
  if (skipped) add(t, "  : and %u more lines of 128 bytes\n", skipped);
}

size_t picture_access(char *out, size_t size, const struct access *a, unsigned max_rows)
{
  struct text t = {out, size, 0};
  if (size) *out = 0;
  if (a->op == MODEL_GLOBAL_LOAD || a->op == MODEL_GLOBAL_STORE) {
    draw_sectors(&t, a, max_rows);
  } else {
    unsigned phases = MODEL_LANES / model_phase_lanes(a);
    for (unsigned p = 0; p < phases; p++)
      if (phase_lanes(a, p)) draw_phase(&t, a, p, max_rows);
  }
  return t.length;
}

size_t picture_phase(char *out, size_t size, const struct access *a, unsigned phase,
                     unsigned max_rows)
{
  struct text t = {out, size, 0};
  if (size) *out = 0;
  draw_phase(&t, a, phase, max_rows);
  return t.length;
}
