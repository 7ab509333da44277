/* The commands and pictures in the chapters, against the program.
 *
 * Every indented line `build/banks ...`, with or without a `$` before it, is run by the shell,
 * as a reader would type it, and must end well.  The lines that follow a `$` line are the
 * program's output, shown in part: `...` (or its one character) alone stands for left-out
 * lines, at a line's end for the rest of it.  They must stand in the output in that order. */
#define _GNU_SOURCE
#include <check.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "run.h"

/* A chapter is a list of lines; blank ones stay. */
struct lines {
  char **line;
  size_t count;
};

static struct lines split(char *text)
{
  struct lines l = {0};
  for (char *s; (s = strsep(&text, "\n"));) {
    l.line = realloc(l.line, (l.count + 1) * sizeof *l.line);
    l.line[l.count++] = s;
  }
  return l;
}

/* Runs a command line with `build/banks` standing for the program under test. */
static int shell(const char *command, char **output)
{
  const char *program = getenv("BANKS");
  char *script = NULL;
  if (asprintf(&script, "PROGRAM='%s'\n", program ? program : "build/banks") < 0) abort();
  for (const char *s = command; *s;) {
    bool here = !strncmp(s, "build/banks", 11) && s[11] == ' ';
    char *longer = NULL;
    if (asprintf(&longer, "%s%.*s", script, here ? 10 : 1, here ? "\"$PROGRAM\"" : s) < 0)
      abort();
    free(script);
    script = longer;
    s += here ? 11 : 1;
  }
  struct run r = run_start((const char *const[]){"/bin/sh", "-c", script, NULL});
  free(script);
  return run_finish(&r, output);
}

/* Does a line of the output look as shown?  Blanks at the end of either do not count. */
static bool looks_like(const char *line, const char *shown)
{
  size_t n = strlen(shown), m = strlen(line);
  bool cut = n >= 4 && !strcmp(shown + n - 4, " ...");
  if (cut) n -= 4;
  while (n && shown[n - 1] == ' ') n--;
  while (m && line[m - 1] == ' ') m--;
  return cut ? m >= n && !strncmp(line, shown, n) : m == n && !strncmp(line, shown, n);
}

/* The first shown line that the output lacks; NULL when all are there. */
static const char *lacking(char *output, const struct lines *l, size_t from)
{
  struct lines out = split(output);
  const char *missing = NULL;
  size_t at = 0;
  for (size_t i = from; i < l->count && !strncmp(l->line[i], "    ", 4) && !missing; i++) {
    const char *shown = l->line[i] + 4;
    if (*shown == '$') break;
    if (!strcmp(shown, "...") || !strcmp(shown, "\u2026")) continue;
    while (at < out.count && !looks_like(out.line[at], shown)) at++;
    if (at++ >= out.count) missing = shown;
  }
  free(out.line);
  return missing;
}

/* Checks a chapter; returns the number of commands.  Complaints are added to `why`. */
static size_t check_text(const char *name, char *text, char *why, size_t size)
{
  struct lines l = split(text);
  size_t commands = 0;
  for (size_t i = 0; i < l.count; i++) {
    const char *s = l.line[i];
    if (strncmp(s, "    ", 4)) continue;
    bool shows = !strncmp(s + 4, "$ ", 2);
    s += shows ? 6 : 4;
    if (strncmp(s, "build/banks wavefronts ", 23)) continue;
    char *output;
    int status = shell(s, &output);
    commands++;
    size_t used = strlen(why);
    if (status != 0) {
      snprintf(why + used, size - used, "%s:%zu: `%s` ends with %d: %.200s\n", name, i + 1, s,
               status, output);
    } else if (shows) {
      const char *missing = lacking(output, &l, i + 1);
      if (missing)
        snprintf(why + used, size - used, "%s:%zu: `%s` does not print '%s' there\n", name,
                 i + 1, s, missing);
    }
    free(output);
  }
  free(l.line);
  return commands;
}

START_TEST(chapters)
{
  glob_t files;
  char why[3800] = "";
  size_t commands = 0;
  ck_assert_int_eq(glob("chapters/*.md", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    char *text = run_read(files.gl_pathv[i], NULL);
    commands += check_text(files.gl_pathv[i], text, why, sizeof why);
    free(text);
  }
  globfree(&files);
  ck_assert_msg(!*why, "\n%s", why);
  ck_assert_uint_ge(commands, 10);
}
END_TEST

/* The check must be able to fail. */
START_TEST(the_check_can_fail)
{
  static const struct {
    const char *text, *why;
  } rows[] = {
      {"    $ build/banks wavefronts --stride 2\n    ...\n    wavefronts  2\n", ""},
      {"    $ build/banks wavefronts --stride 2 | grep wave\n    wavefr ...\n", ""},
      {"    $ build/banks wavefronts --stride 2\n    ...\n    wavefronts  3\n",
       "does not print"},
      {"    $ build/banks wavefronts --stride 2\n    ideal       1\n    wavefronts  2\n",
       "does not print"},
      {"    build/banks wavefronts --strid 2\n", "ends with 2"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char why[1000] = "", *text = strdup(rows[i].text);
    ck_assert_uint_eq(check_text("row", text, why, sizeof why), 1);
    if (*rows[i].why)
      ck_assert_msg(strstr(why, rows[i].why) != NULL, "row %zu: '%s'", i, why);
    else
      ck_assert_msg(!*why, "row %zu: %s", i, why);
    free(text);
  }
}
END_TEST

Suite *suite_pictures(void)
{
  Suite *s = suite_create("pictures");
  TCase *t = tcase_create("pictures");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, chapters);
  tcase_add_test(t, the_check_can_fail);
  suite_add_tcase(s, t);
  return s;
}
