/* Reads a student's file, refuses what no compiler should see, and takes out #line directives, with
 * which a file could make its errors look like another file's. */
#define _GNU_SOURCE
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST = 1 << 20 };

static void refuse(struct compiled *out, const char *name, const char *what)
{
  char text[512];
  snprintf(text, sizeof text, "%.200s %s", name, what);
  diagnose_printable(out->summary, sizeof out->summary, text, strlen(text));
}

/* Skips what the compiler drops between two tokens' characters: backslash-newline. */
static char *spliced(char *p)
{
  while (p[0] == '\\' && p[1] == '\n') p += 2;
  return p;
}

/* Blanks and comments inside a directive. */
static char *space(char *p)
{
  for (;;) {
    p = spliced(p);
    if (*p == ' ' || *p == '\t' || *p == '\v' || *p == '\f') {
      p++;
    } else if (p[0] == '/' && *spliced(p + 1) == '*') {
      char *end = strstr(spliced(p + 1) + 1, "*/");
      if (!end) return p + strlen(p);
      p = end + 2;
    } else {
      return p;
    }
  }
}

/* p is behind a # at the start of a line: is it a #line directive or a line marker? */
static bool is_line(char *p)
{
  p = space(p);
  if (isdigit((unsigned char)*p)) return true;
  for (const char *w = "line"; *w; w++) {
    p = spliced(p);
    if (*p++ != *w) return false;
  }
  p = spliced(p);
  return !isalnum((unsigned char)*p) && *p != '_';
}

static char *end_of_line(char *p)
{
  while (*p && *p != '\n') p += p[0] == '\\' && p[1] == '\n' ? 2 : 1;
  return p;
}

static char *skip_literal(char *p)
{
  char quote = *p++;
  while (*p && *p != quote && *p != '\n') p += p[0] == '\\' && p[1] ? 2 : 1;
  return *p == quote ? p + 1 : p;
}

static char *skip_raw(char *p)   /* at the quote of R"delimiter( */
{
  char close[24] = ")";
  size_t n = strcspn(p + 1, "(\n");
  if (n > 16 || p[1 + n] != '(') return skip_literal(p);
  memcpy(close + 1, p + 1, n);
  memcpy(close + 1 + n, "\"", 2);
  char *end = strstr(p, close);
  return end ? end + strlen(close) : p + strlen(p);
}

void source_blank_lines(char *text)
{
  bool fresh = true;           /* nothing but blanks and comments on this line so far */
  for (char *p = text; *p;) {
    if (p[0] == '\\' && p[1] == '\n') {
      p += 2;
    } else if (*p == '\n') {
      fresh = true;
      p++;
    } else if (isspace((unsigned char)*p)) {
      p++;
    } else if (p[0] == '/' && *spliced(p + 1) == '/') {
      p = end_of_line(p);
    } else if (p[0] == '/' && *spliced(p + 1) == '*') {
      char *end = strstr(spliced(p + 1) + 1, "*/");
      p = end ? end + 2 : p + strlen(p);
    } else if (fresh && (*p == '#' || (p[0] == '%' && p[1] == ':'))) {
      char *end = end_of_line(p);
      if (is_line(p + (*p == '#' ? 1 : 2)))
        for (char *c = p; c < end; c++)
          if (*c != '\n' && !(c[0] == '\\' && c[1] == '\n')) *c = ' ';
      /* Other directives are left, but a comment that opens in one goes on behind it. */
      p++;
      fresh = false;
    } else if (*p == '"' || *p == '\'') {
      bool digit = *p == '\'' && p > text && isalnum((unsigned char)p[-1]);   /* 1'000 */
      bool raw = *p == '"' && p > text && p[-1] == 'R';
      p = digit ? p + 1 : raw ? skip_raw(p) : skip_literal(p);
      fresh = false;
    } else {
      fresh = false;
      p++;
    }
  }
}

static void plain_text(struct source *s)
{
  size_t to = 0, from = s->size >= 3 && !memcmp(s->text, "\xef\xbb\xbf", 3) ? 3 : 0;
  for (; from < s->size; from++)
    if (!(s->text[from] == '\r' && s->text[from + 1] == '\n')) s->text[to++] = s->text[from];
  s->text[s->size = to] = 0;
  source_blank_lines(s->text);
}

bool source_read(struct source *s, const char *path, const char *name, struct compiled *out)
{
  struct stat st;
  memset(s, 0, sizeof *s);
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ELOOP) refuse(out, name, "is a symbolic link; put the file itself there");
    else if (errno == ENOENT) refuse(out, name, "is missing");
    else {
      char what[128];
      snprintf(what, sizeof what, "cannot be read: %s", strerror(errno));
      refuse(out, name, what);
    }
    return false;
  }
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    refuse(out, name, "is not a plain file");
  } else if (st.st_size > LARGEST) {
    char what[128];
    snprintf(what, sizeof what, "is %lld MiB long; the most is 1 MiB",
             (long long)((st.st_size + (1 << 20) - 1) >> 20));
    out->too_large = true;
    refuse(out, name, what);
  } else if ((s->text = malloc(LARGEST + 1)) != NULL) {
    ssize_t n;
    while (s->size < LARGEST && (n = read(fd, s->text + s->size, LARGEST - s->size)) > 0)
      s->size += (size_t)n;
    s->text[s->size] = 0;
    const char *nul = memchr(s->text, 0, s->size);
    size_t blank = 0;
    while (blank < s->size && isspace((unsigned char)s->text[blank])) blank++;
    if (nul) {
      unsigned line = 1;
      for (const char *c = s->text; c < nul; c++) line += *c == '\n';
      char what[128];
      snprintf(what, sizeof what, "has a zero byte in line %u; save it as plain UTF-8 text", line);
      refuse(out, name, what);
    } else if (blank == s->size) {
      refuse(out, name, "is empty");
    } else {
      close(fd);
      plain_text(s);
      return true;
    }
  } else {
    out->our_fault = true;
    refuse(out, name, "was not read: out of memory");
  }
  close(fd);
  return false;
}

void source_free(struct source *s)
{
  free(s->text);
  memset(s, 0, sizeof *s);
}
