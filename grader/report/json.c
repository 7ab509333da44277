/* The record as JSON.  Instructors' scripts read this; its keys are documented in
 * grader/README.md. */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report.h"

static const char *status_name(enum test_status s)
{
  return s == TEST_PASSED ? "passed" : s == TEST_FAILED ? "failed" : "not_graded";
}

static json_t *exercise_json(const struct exercise_record *x)
{
  json_t *tests = json_array();
  for (size_t i = 0; i < x->ntests; i++) {
    const struct test_record *t = &x->tests[i];
    json_array_append_new(tests, json_pack("{s:s, s:s, s:f, s:f, s:s, s:s}", "name", t->name, "status",
                                           status_name(t->status), "score", t->score, "max_score",
                                           t->max_score, "message", t->message, "printed",
                                           t->printed ? t->printed : ""));
  }
  return json_pack("{s:s, s:f, s:f, s:b, s:s, s:o}", "id", x->id, "score", x->score, "max_score",
                   x->max_score, "same_as_starter", (int)x->same_as_starter, "note", x->note, "tests", tests);
}

static char *record_json(const struct grade_record *r)
{
  char seed[32];
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
  json_t *exercises = json_array();
  for (size_t i = 0; i < r->nexercises; i++)
    json_array_append_new(exercises, exercise_json(&r->exercises[i]));
  /* the seed is text: 64 bits do not fit the numbers of many JSON readers */
  json_t *top = json_pack("{s:s, s:s, s:s, s:f, s:f, s:o}", "device", r->device, "toolchain",
                          r->toolchain, "seed", seed, "score", r->score, "max_score", r->max_score,
                          "exercises", exercises);
  if (!top) return NULL;
  char *text = json_dumps(top, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  json_decref(top);
  return text;
}

static bool write_file(const char *path, const char *text, char *why, size_t size)
{
  char temporary[PATH_MAX];
  int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  int fd = n > 0 && (size_t)n < sizeof temporary ? mkstemp(temporary) : -1;
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  bool ok = f && fputs(text, f) >= 0 && fputc('\n', f) >= 0 && fflush(f) == 0 && fsync(fd) == 0;
  if (ok) {
    mode_t mask = umask(0);
    umask(mask);
    ok = fchmod(fd, 0666 & ~mask) == 0;   /* mkstemp gives 0600 */
  }
  int error = errno;
  if (f && fclose(f) && ok) ok = false, error = errno;
  if (ok && rename(temporary, path)) ok = false, error = errno;
  if (ok) return true;
  if (fd >= 0) unlink(temporary);
  snprintf(why, size, "%.300s: the result cannot be written: %s", path, strerror(error));
  return false;
}

bool report_json_ready(const char *path, char *why, size_t size)
{
  char temporary[PATH_MAX];
  struct stat s;
  if (!strcmp(path, "-")) return true;
  int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path), error = ENAMETOOLONG;
  if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
    error = EISDIR;
  } else if (n > 0 && (size_t)n < sizeof temporary) {
    int fd = mkstemp(temporary);
    error = errno;
    if (fd >= 0) {
      close(fd);
      unlink(temporary);
      return true;
    }
  }
  snprintf(why, size, "--json %.300s: the result cannot be written: %s", path, strerror(error));
  return false;
}

bool report_json(const struct grade_record *r, const char *path, char *why, size_t size)
{
  char *text = record_json(r);
  if (!text) {
    snprintf(why, size, "the result cannot be put into JSON");
    return false;
  }
  bool ok;
  if (!strcmp(path, "-")) {
    ok = puts(text) >= 0 && fflush(stdout) == 0;
    if (!ok) snprintf(why, size, "standard output: %s", strerror(errno));
  } else {
    ok = write_file(path, text, why, size);
  }
  free(text);
  return ok;
}
