/* The main() of a C exercise's driver; see toolchain.h for an example.
 *
 * It runs in the same process as the student's code, so it trusts nothing of it: the questions are
 * read before the first call, every answer is written at once with the number of its question,
 * on a descriptor of its own, between two line ends.  What the student's code could forge here is an answer, and
 * answers are compared with computed ones elsewhere. */
#ifndef ASK_H
#define ASK_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ask(const char *question);   /* the driver defines it */

enum { ASK_ROOM = 65536, ASK_FD = 3 };
static char ask_line[ASK_ROOM];
static size_t ask_used;

/* Adds to the answer of the current question. */
__attribute__((format(printf, 1, 2))) static void answer(const char *format, ...)
{
  va_list list;
  va_start(list, format);
  int n = vsnprintf(ask_line + ask_used, ASK_ROOM - 1 - ask_used, format, list);
  va_end(list);
  if (n > 0) ask_used += (size_t)n;
  if (ask_used > ASK_ROOM - 2) ask_used = ASK_ROOM - 2;
}

static void ask_write(void)
{
  for (size_t i = 1; i < ask_used; i++)
    if (ask_line[i] == '\n' || ask_line[i] == 0) ask_line[i] = ' ';
  ask_line[ask_used++] = '\n';
  for (size_t at = 0; at < ask_used;) {
    ssize_t n = write(ASK_FD, ask_line + at, ask_used - at);
    if (n <= 0) _exit(3);
    at += (size_t)n;
  }
}

int main(void)
{
  size_t size = 0, room = 65536;
  char *text = malloc(room);
  ssize_t n;
  while (text && (n = read(0, text + size, room - size - 1)) > 0)
    if ((size += (size_t)n) + 1 >= room) text = realloc(text, room *= 2);
  if (!text) return 3;
  text[size] = 0;
  int none = open("/dev/null", O_RDONLY);   /* the student's code may read from stdin: nothing */
  if (none >= 0) dup2(none, 0);
  size_t number = 0;
  for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, number++) {
    *end = 0;
    ask_used = (size_t)sprintf(ask_line, "\n%zu ", number);
    ask(line);
    ask_write();
  }
  fflush(stdout);
  return 0;
}

#endif
