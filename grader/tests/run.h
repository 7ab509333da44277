/* Running the program under test ($BANKS) and reading what it says. */
#ifndef TEST_RUN_H
#define TEST_RUN_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

/* A program that was started; its standard output and error come through one pipe. */
struct run {
  pid_t pid;
  int fd;
};

/* Starts argv (argv[0] NULL: $BANKS).  Aborts the test when it cannot. */
struct run run_start(const char *const *argv);
/* Waits; the exit status, or 1000 + signal.  *out is malloc'ed text. */
int run_finish(struct run *r, char **out);
int run_banks(char **out, const char *const *argv);   /* both */

/* A fresh folder in /tmp; `run_remove` removes it with what is in it. */
void run_folder(char path[64]);
void run_remove(const char *path);
char *run_read(const char *path, size_t *size);       /* NULL when it cannot be read */
void run_write(const char *path, const void *data, size_t size);

#endif
