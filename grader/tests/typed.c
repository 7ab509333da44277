/* See typed.h. */
#include "tests/typed.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/run.h"

struct request *typed(const char *row)
{
  static char text[1000];
  static struct request q;
  char *argv[40];
  ck_assert_uint_lt(strlen(row), sizeof text);
  strcpy(text, row);
  int n = request_words(text, argv, 40);
  ck_assert_msg(request_parse(n, argv, "profile", &q) == 0, "%s", row);
  ck_assert_msg(request_load(&q) == 0, "%s", row);
  return &q;
}

struct request *typed_profile(const char *row, struct profile *p)
{
  struct request *q = typed(row);
  ck_assert_msg(request_run(q) == 0, "%s", row);
  *p = (struct profile){.kernel = q->kernel, .module = q->module, .entry = q->entry,
                      .flags = q->flags, .nflags = q->nflags, .result = &q->result};
  ck_assert(profile_lines(p, q->file, q->ptx));
  return q;
}

void typed_end(struct request *q, struct profile *p)
{
  profile_free(p);
  request_free(q);
}

char **typed_rows(const char *path, size_t *n)
{
  char *text = run_read(path, NULL), *rest = NULL, **rows = NULL;
  ck_assert_msg(text != NULL, "%s", path);
  *n = 0;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    if (*line == '#') continue;
    rows = realloc(rows, (*n + 1) * sizeof *rows);
    rows[(*n)++] = strdup(line);
  }
  free(text);
  return rows;
}
