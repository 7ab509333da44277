/* Recorded rows: the files are made part of the program when it is built, so that grading needs
 * neither the files nor their place, and a student cannot change them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/recorded.h"

__asm__(".pushsection .rodata\n"
        "recorded_accesses: .incbin \"plots/data/h200/accesses.tsv\"\n"
        "  .byte 0\n"
        "recorded_merge: .incbin \"plots/data/h200/merge.tsv\"\n"
        "  .byte 0\n"
        ".popsection\n");
extern const char recorded_accesses[], recorded_merge[];

enum { COLUMNS = 48 };

struct cells {
  char cell[COLUMNS][24];
  int count;
};

/* One line; returns the next. */
static const char *read_cells(const char *s, struct cells *c)
{
  for (c->count = 0; c->count < COLUMNS; s++) {
    size_t length = strcspn(s, "\t\n"), most = sizeof c->cell[0] - 1;
    snprintf(c->cell[c->count++], most + 1, "%.*s", (int)(length < most ? length : most), s);
    s += length;
    if (*s != '\t') break;
  }
  s += strcspn(s, "\n");
  return *s ? s + 1 : s;
}

/* The cell in the column of that name, "" when there is none. */
static const char *cell(const struct cells *c, const struct cells *header, const char *name)
{
  for (int i = 0; i < header->count && i < c->count; i++)
    if (!strcmp(header->cell[i], name)) return c->cell[i];
  return "";
}

static bool read_row(const struct cells *c, const struct cells *header, struct recorded *row)
{
  *row = (struct recorded){0};
  const char *op = cell(c, header, "op");
  if (!strcmp(op, "load"))
    row->access.op = MODEL_LOAD;
  else if (!strcmp(op, "store"))
    row->access.op = MODEL_STORE;
  else
    return false;
  snprintf(row->id, sizeof row->id, "%.15s", cell(c, header, "id"));
  row->access.width = (uint32_t)strtoul(cell(c, header, "width"), NULL, 10);
  row->access.mask = (uint32_t)strtoul(cell(c, header, "mask"), NULL, 16);
  row->wavefronts = (uint32_t)strtoul(cell(c, header, "wavefronts"), NULL, 10);
  row->cycles = strtod(cell(c, header, "cycles"), NULL);
  for (int t = 0; t < MODEL_LANES; t++) {
    char lane[16];
    snprintf(lane, sizeof lane, "lane%d", t);
    row->access.addr[t] = strtoull(cell(c, header, lane), NULL, 10);
  }
  return true;
}

const struct recorded *recorded_rows(size_t *count)
{
  static struct recorded *rows;
  static size_t n;
  const char *const files[] = {recorded_accesses, recorded_merge};
  size_t lines = 0;
  for (int f = 0; f < 2 && !rows; f++)
    for (const char *s = files[f]; *s; s++) lines += *s == '\n';
  if (!rows) rows = malloc((lines + 2) * sizeof *rows);
  for (int f = 0; f < 2 && lines && rows; f++) {
    struct cells header, c;
    for (const char *s = read_cells(files[f], &header); *s;) {
      s = read_cells(s, &c);
      if (read_row(&c, &header, &rows[n])) n++;
    }
  }
  *count = rows ? n : 0;
  return rows;
}
