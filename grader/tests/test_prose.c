/* Numbers in the chapters, against the program: a comment
 *
 *     <!-- check: wavefronts --op load --width 4 --stride 34 = wavefronts 2 -->
 *
 * in or right after a paragraph runs `banks wavefronts ...` and demands that the words after its
 * last ` = ` stand in the output one after another (punctuation and case ignored), and that the
 * last of them, a number, stands in the paragraph: as digits or as an English word. */
#define _GNU_SOURCE
#include <check.h>
#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* The next word or number of a text, lower case; NULL at the end.  "32-way" is two, "1,024"
 * one. */
static const char *token(const char *s, char *out, size_t size)
{
  size_t n = 0;
  while (*s && !isalnum((unsigned char)*s)) s++;
  if (!*s) return NULL;
  bool number = isdigit((unsigned char)*s);
  for (; *s; s++) {
    bool digit = isdigit((unsigned char)*s), next_digit = isdigit((unsigned char)s[1]);
    if (number && *s == ',' && next_digit) continue;
    if (number ? !digit && !(*s == '.' && next_digit) : !isalpha((unsigned char)*s)) break;
    if (n < size - 1) out[n++] = (char)tolower((unsigned char)*s);
  }
  out[n] = 0;
  return s;
}

/* All tokens of `part` in a row somewhere in `whole`. */
static bool in_a_row(const char *whole, const char *part)
{
  char a[64], b[64];
  for (const char *start = whole; start; start = token(start, a, sizeof a)) {
    const char *w = start, *p = part, *next;
    bool equal = true;
    while ((next = token(p, b, sizeof b)) && equal) {
      p = next;
      w = token(w, a, sizeof a);
      equal = w && !strcmp(a, b);
    }
    if (equal) return true;
  }
  return false;
}

static bool said(const char *paragraph, const char *number)
{
  static const char *const words[] = {
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty", [24] = "twenty four", [28] = "twenty eight", [30] = "thirty", [31] = "thirty one",
    [32] = "thirty two"};
  if (in_a_row(paragraph, number)) return true;
  size_t n = strspn(number, "0123456789") == strlen(number) ? strtoul(number, NULL, 10) : 99;
  return n < sizeof words / sizeof *words && words[n] && in_a_row(paragraph, words[n]);
}

/* The text around `at` up to blank lines, without comments; when only comments stand there, the
 * paragraph before. */
static char *paragraph(const char *text, const char *at)
{
  char *out = malloc(strlen(text) + 1);
  for (;;) {
    const char *start = at, *end = at;
    while (start > text && !(start[-1] == '\n' && start - text >= 2 && start[-2] == '\n')) start--;
    end = strstr(at, "\n\n");
    if (!end) end = at + strlen(at);
    char *o = out;
    for (const char *s = start; s < end;) {
      if (!strncmp(s, "<!--", 4)) {
        const char *close = strstr(s, "-->");
        s = close ? close + 3 : end;
      } else {
        *o++ = *s++;
      }
    }
    *o = 0;
    char word[64];
    if (token(out, word, sizeof word) || start == text) return out;
    at = start - 2;                       /* the last character of the paragraph before */
    while (at > text && *at == '\n') at--;
  }
}

/* Splits at blanks; '...' holds blanks. */
static size_t split(char *text, const char **argv, size_t most)
{
  size_t n = 0;
  for (char *s = text; n < most;) {
    while (isspace((unsigned char)*s)) s++;
    if (!*s) break;
    char end = *s == '\'' ? '\'' : 0;
    argv[n++] = end ? ++s : s;
    while (*s && (end ? *s != end : !isspace((unsigned char)*s))) s++;
    if (*s) *s++ = 0;
  }
  argv[n] = NULL;
  return n;
}

/* Checks one comment; a sentence when it does not hold, else "". */
static void check_one(const char *text, const char *at, char *why, size_t size)
{
  char command[512], shown[512];
  const char *close = strstr(at, "-->"), *argv[32] = {NULL}, *equal = NULL;
  *why = 0;
  for (const char *s = at; close && s < close; s++)
    if (!strncmp(s, " = ", 3)) equal = s;
  if (!close || !equal) {
    snprintf(why, size, "not `<!-- check: COMMAND = WORDS NUMBER -->`: %.60s", at);
    return;
  }
  at += strlen("<!-- check:");
  snprintf(command, sizeof command, "%.*s", (int)(equal - at), at);
  snprintf(shown, sizeof shown, "%.*s", (int)(close - equal - 3), equal + 3);
  char number[64] = "", word[64];
  for (const char *s = shown; (s = token(s, word, sizeof word));) strcpy(number, word);
  if (!isdigit((unsigned char)*number)) {
    snprintf(why, size, "`%s` does not end with a number", shown);
    return;
  }
  char *output, *prose = paragraph(text, at), copy[512];
  strcpy(copy, command);
  if (split(copy, argv + 1, 30) == 0) {
    snprintf(why, size, "no command before ` = `");
  } else {
    int status = run_banks(&output, argv);
    if (status != 0)
      snprintf(why, size, "`banks%.200s` ends with %d: %.200s", command, status, output);
    else if (!in_a_row(output, shown))
      snprintf(why, size, "`banks%.200s` does not say '%.100s' but: %.400s", command, shown,
               output);
    else if (!said(prose, number))
      snprintf(why, size, "the paragraph does not say %s: %.200s", number, prose);
    free(output);
  }
  free(prose);
}

START_TEST(chapters_numbers)
{
  glob_t files;
  char complaints[3800] = "", why[1000];
  size_t n = 0;
  if (glob("chapters/*.md", 0, NULL, &files)) return;
  for (size_t i = 0; i < files.gl_pathc; i++) {
    if (strstr(files.gl_pathv[i], "/instructions.md")) continue;   /* printed: test_sim_coverage.c */
    char *text = run_read(files.gl_pathv[i], NULL);
    size_t here = 0;
    for (const char *s = text; (s = strstr(s, "<!-- check:")); s += 5, here++) {
      size_t line = 1;
      for (const char *c = text; c < s; c++) line += *c == '\n';
      check_one(text, s, why, sizeof why);
      if (*why && n < sizeof complaints)
        n += (size_t)snprintf(complaints + n, sizeof complaints - n, "%s:%zu: %s\n",
                              files.gl_pathv[i], line, why);
    }
    if (here == 0 && n < sizeof complaints)
      n += (size_t)snprintf(complaints + n, sizeof complaints - n,
                            "%s: no number of it is checked\n", files.gl_pathv[i]);
    free(text);
  }
  globfree(&files);
  ck_assert_msg(n == 0, "\n%s", complaints);
}
END_TEST

/* The check itself must be able to fail: wrong numbers, in the output or in the prose. */
START_TEST(the_check_can_fail)
{
  static const struct { const char *text, *why; } rows[] = {
    {"A stride of 34 costs 2.\n<!-- check: wavefronts --op load --width 4 --stride 34 = "
     "wavefronts 2 -->\n", ""},
    {"It costs two.\n\n<!-- check: wavefronts --op load --width 4 --stride 34 = wavefronts 2 -->",
     ""},
    {"It costs 3.\n<!-- check: wavefronts --op load --width 4 --stride 34 = wavefronts 3 -->",
     "does not say"},
    {"It costs 4.\n<!-- check: wavefronts --op load --width 4 --stride 34 = wavefronts 2 -->",
     "the paragraph does not say 2"},
    {"It costs 22.\n<!-- check: wavefronts --op load --width 4 --stride 34 = wavefronts 2 -->",
     "the paragraph does not say 2"},
    {"2\n<!-- check: wavefronts --op nonsense = wavefronts 2 -->", "ends with 2"},
    {"2\n<!-- check: wavefronts --op load -->", "not `<!-- check"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char why[1000];
    check_one(rows[i].text, strstr(rows[i].text, "<!--"), why, sizeof why);
    if (*rows[i].why) ck_assert_msg(strstr(why, rows[i].why) != NULL, "row %zu: '%s'", i, why);
    else ck_assert_msg(!*why, "row %zu: %s", i, why);
  }
}
END_TEST

Suite *suite_prose(void)
{
  Suite *s = suite_create("prose");
  TCase *tc = tcase_create("numbers");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, the_check_can_fail);
  tcase_add_test(tc, chapters_numbers);
  suite_add_tcase(s, tc);
  return s;
}
