/* Runs the program of a C exercise and sorts its answers under the questions. */
#define _GNU_SOURCE
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain.h"

static size_t count_lines(const char *text)
{
  size_t n = 0;
  for (; *text; n++) {
    text += strcspn(text, "\n");
    if (*text) text++;
  }
  return n;
}

/* "12 text" lines -> one line a question; the first answer to a question counts, numbers out of range
 * or not at a line's start are not answers.  `first` is the first question without one. */
static char *sort_answers(const char *text, size_t questions, size_t *size, size_t *first)
{
  const char **at = calloc(questions + 1, sizeof *at);
  char *sorted = malloc(strlen(text) + questions + 2), *to = sorted;
  *first = 0;
  if (at && sorted) {
    for (const char *line = text; *line;) {
      const char *end = line + strcspn(line, "\n");
      char *behind;
      unsigned long n = isdigit((unsigned char)*line) ? strtoul(line, &behind, 10) : questions;
      if (n < questions && *behind == ' ' && *end && !at[n]) at[n] = behind + 1;
      line = *end ? end + 1 : end;
    }
    for (size_t i = 0; i < questions; i++) {
      size_t n = at[i] ? strcspn(at[i], "\n") : 0;
      if (n) memcpy(to, at[i], n);
      to += n;
      *to++ = '\n';
      if (at[i] && *first == i) *first = i + 1;
    }
    *to = 0;
    *size = (size_t)(to - sorted);
  }
  free(at);
  return sorted;
}

static const char *signal_text(int number, char room[64])
{
  static const struct { int number; const char *text; } known[] = {
    {SIGSEGV, "SIGSEGV: it read or wrote memory that is not its own"},
    {SIGBUS, "SIGBUS: bus error"}, {SIGFPE, "SIGFPE: division by zero"},
    {SIGABRT, "SIGABRT: abort, or a failed assert"}, {SIGILL, "SIGILL: illegal instruction"},
    {SIGTRAP, "SIGTRAP: trap"}, {SIGSYS, "SIGSYS: a forbidden system call"},
    {SIGXFSZ, "SIGXFSZ: it wrote too large a file"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].number == number) return known[i].text;
  snprintf(room, 64, "signal %d", number);
  return room;
}

static void describe_end(const char *questions, size_t first, double seconds,
                         struct sandbox_result *r)
{
  char what[160], name[64], question[256];
  switch (r->end) {
  case SANDBOX_TIMED_OUT:
    snprintf(what, sizeof what, "took more than %g seconds and was stopped", seconds);
    break;
  case SANDBOX_MEMORY:
    snprintf(what, sizeof what, "ran out of memory (512 MiB)");
    break;
  case SANDBOX_OUTPUT:
    snprintf(what, sizeof what, "wrote too much");
    break;
  case SANDBOX_SIGNALLED:
    snprintf(what, sizeof what, "crashed (%s)", signal_text(r->status, name));
    break;
  default:
    snprintf(what, sizeof what, "called exit (status %d)", r->status);
  }
  const char *line = questions;
  for (size_t i = 0; i < first; i++) line += strcspn(line, "\n") + 1;
  diagnose_printable(question, sizeof question, line, strcspn(line, "\n"));
  snprintf(r->why, sizeof r->why, "your program %s on question %zu: `%s`", what, first + 1,
           question);
}

void toolchain_ask(const struct compiled *program, const char *questions, double seconds,
                   struct sandbox_result *r)
{
  static const char *const argv[] = {"./program", NULL};
  const struct sandbox_file file = {"program", NULL, program->code, program->code_size};
  size_t length = strlen(questions), count = count_lines(questions), first;
  char *lines = malloc(length + 2);
  if (!lines) {
    memset(r, 0, sizeof *r);
    r->end = SANDBOX_FAILED;
    r->out = calloc(1, 1), r->err = calloc(1, 1), r->result = calloc(1, 1);
    snprintf(r->why, sizeof r->why, "out of memory");
    return;
  }
  memcpy(lines, questions, length + 1);   /* the driver wants the last line ended, too */
  if (length > 0 && lines[length - 1] != '\n') memcpy(lines + length, "\n", 2);
  struct sandbox_job job = {.argv = argv, .files = &file, .nfiles = 1, .input = lines,
                            .input_size = strlen(lines), .answers = true,
                            .wall_seconds = seconds, .cpu_seconds = seconds,
                            .memory_bytes = 512u << 20, .output_bytes = 4u << 20,
                            .processes = 1};
  sandbox_run(&job, r);
  size_t size = 0;
  for (size_t i = 0; i < r->result_size; i++)   /* a zero byte must not hide what follows */
    if (r->result[i] == 0) r->result[i] = ' ';
  char *sorted = sort_answers(r->result, count, &size, &first);
  if (sorted) {
    free(r->result);
    r->result = sorted;
    r->result_size = size;
    if (r->end != SANDBOX_FAILED && first < count) describe_end(lines, first, seconds, r);
  }
  free(lines);
}

char *toolchain_answer(const struct sandbox_result *answers, size_t i)
{
  const char *line = answers->result;
  for (; i > 0 && line && *line; i--) {
    line += strcspn(line, "\n");
    if (*line) line++;
  }
  size_t n = line ? strcspn(line, "\n") : 0;
  return n ? strndup(line, n) : NULL;
}
