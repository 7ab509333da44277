/* What the fuzzers found (`make fuzz`), again: each text of fuzz/finds was once read outside,
 * hung, leaked or grew without bound.  Run with SANITIZE=1 this says most; plain it still shows
 * crashes, hangs and budgets not kept. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "run.h"

#define FINDS "grader/tests/fuzz/finds"

enum { MAX_FINDS = 256 };

static char *finds[MAX_FINDS];
static int nfinds;

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_finds(void)
{
  DIR *d = opendir(FINDS);
  for (struct dirent *e; d && (e = readdir(d)) && nfinds < MAX_FINDS;) {
    size_t n = strlen(e->d_name);
    if (n > 4 && !strcmp(e->d_name + n - 4, ".ptx")) finds[nfinds++] = strdup(e->d_name);
  }
  if (d) closedir(d);
  qsort(finds, (size_t)nfinds, sizeof *finds, by_name);
}

START_TEST(find_is_survived)
{
  ck_assert_msg(nfinds > 0, "nothing in " FINDS " (tests run from the repository's root)");
  char path[512];
  size_t length;
  snprintf(path, sizeof path, FINDS "/%s", finds[_i]);
  char *text = run_read(path, &length);
  ck_assert_msg(text != NULL, "%s cannot be read", path);
  feed_ptx(text, length);
  feed_sim(text, length);
  free(text);
}
END_TEST

Suite *suite_fuzz(void)
{
  Suite *s = suite_create("fuzz");
  TCase *t = tcase_create("finds");
  list_finds();
  tcase_add_loop_test(t, find_is_survived, 0, nfinds ? nfinds : 1);
  suite_add_tcase(s, t);
  return s;
}
