/* What chapters 01 and 02 say of recorded rows, against the rows themselves.
 *
 * Tables of rows in the text: a line `| a0064 | ... | 32 | 30.7 |` gives a row's wavefronts and
 * cycles, a line `| a0138, a0139 | ... | 2 | 4 |` the wavefronts of two. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites/recorded.h"
#include "suites/switches.h"

static const struct recorded *row_of(const char *id, size_t length)
{
  size_t n;
  const struct recorded *rows = recorded_rows(&n);
  for (size_t i = 0; i < n; i++)
    if (strlen(rows[i].id) == length && !strncmp(rows[i].id, id, length)) return &rows[i];
  ck_abort_msg("the text names row %.*s, which is no recorded load or store", (int)length, id);
  return NULL;
}

static char *text_of(const char *path)
{
  static char text[1 << 16];
  FILE *f = fopen(path, "r");
  ck_assert_msg(f, "%s: cannot be read", path);
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  text[n] = 0;
  return text;
}

/* Checks each table line of rows; returns their number. */
static int check_tables(const char *path)
{
  int lines = 0;
  for (char *line = strtok(text_of(path), "\n"); line; line = strtok(NULL, "\n")) {
    if (strncmp(line, "| a", 3)) continue;
    char *end = strrchr(line, '|');
    ck_assert_ptr_nonnull(end);
    *end = 0;
    char *last = strrchr(line, '|');
    ck_assert_ptr_nonnull(last);
    *last++ = 0;
    char *before = strrchr(line, '|');
    ck_assert_ptr_nonnull(before);
    const struct recorded *first = row_of(line + 2, 5);
    ck_assert_msg((uint32_t)atoi(before + 1) == first->wavefronts, "%s: row %s: %u wavefronts",
                  path, first->id, first->wavefronts);
    if (line[7] == ',') {
      const struct recorded *second = row_of(line + 9, 5);
      ck_assert_msg((uint32_t)atoi(last) == second->wavefronts, "%s: row %s: %u wavefronts",
                    path, second->id, second->wavefronts);
    } else {
      const char *dot = strchr(last, '.');
      int digits = dot ? (int)strspn(dot + 1, "0123456789") : 0;
      char want[32], got[32];
      snprintf(want, sizeof want, "%.*f", digits, first->cycles);
      snprintf(got, sizeof got, "%.*f", digits, atof(last));
      ck_assert_msg(!strcmp(want, got), "%s: row %s: %s cycles, not %s", path, first->id, want,
                    got);
    }
    lines++;
  }
  return lines;
}

START_TEST(tables)
{
  ck_assert_int_ge(check_tables("chapters/01-banks.md"), 5);
  ck_assert_int_ge(check_tables("chapters/02-wavefronts.md"), 5);
}
END_TEST

static void says(const char *path, const char *phrase)
{
  ck_assert_msg(strstr(text_of(path), phrase) != NULL, "%s does not say '%s'", path, phrase);
}

/* Chapter 02: how many rows there are, and how many wide loads the rule without the merge gets
 * wrong. Stores never merge, so a load's cost without the merge is its cost as a store. */
START_TEST(merge_counts)
{
  size_t n, accesses = 0, wide = 0, missed = 0, later = 0, later_missed = 0;
  const struct recorded *rows = recorded_rows(&n);
  for (size_t i = 0; i < n; i++) {
    struct access a = rows[i].access;
    bool first = rows[i].id[0] == 'a';
    accesses += first;
    later += !first;
    ck_assert_uint_eq(model_cost(&a).wavefronts, rows[i].wavefronts);
    ck_assert_uint_eq(switches_cost(&a, (struct switches){0}, NULL, NULL), rows[i].wavefronts);
    if (a.op != MODEL_LOAD || a.width < 8) continue;
    a.op = MODEL_STORE;
    bool miss = model_cost(&a).wavefronts != rows[i].wavefronts;
    wide += first;
    missed += first && miss;
    later_missed += !first && miss;
  }
  char text[80];
  const char *chapter = "chapters/02-wavefronts.md";
  snprintf(text, sizeof text, "all %zu,%03zu recorded loads and stores", accesses / 1000,
           accesses % 1000);
  says(chapter, text);
  snprintf(text, sizeof text, "%zu of those %zu wide loads", missed, wide);
  says(chapter, text);
  snprintf(text, sizeof text, "%zu more", later);
  says(chapter, text);
  snprintf(text, sizeof text, "wrong for %zu of them", later_missed);
  says(chapter, text);
}
END_TEST

Suite *suite_recorded(void)
{
  Suite *s = suite_create("recorded");
  TCase *t = tcase_create("recorded");
  tcase_add_test(t, tables);
  tcase_add_test(t, merge_counts);
  suite_add_tcase(s, t);
  return s;
}
