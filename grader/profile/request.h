/* A launch of an author's own kernel as it is typed, and its run on the simulator:
 *
 *   FILE KERNEL --grid X[,Y[,Z]] --block X[,Y[,Z]] [OPTIONS] ARGUMENT...
 *
 * Shared by `banks profile` and `banks prove`.  The file is the author's, so it is compiled where it
 * lies, with its own includes.  Every function tells on standard error what is wrong, and returns
 * the exit status to end with, 0 when all is well; with --json a program is told, too: {"error": ...}. */
#ifndef REQUEST_H
#define REQUEST_H

#include "profile/arguments.h"

enum { REQUEST_ARGUMENTS = SIGNATURE_MOST, REQUEST_FLAGS = 32, REQUEST_BUFFERS = 256 };
enum { REQUEST_USAGE = 2, REQUEST_OURS = 3 };

struct request {
  const char *command;         /* "profile": begins messages */
  const char *file, *kernel;
  uint32_t grid[3], block[3], shared;
  uint32_t cluster[3];         /* 0: as the kernel says */
  bool has_grid, has_block;
  bool json, no_fuse;
  unsigned threads, pictures;
  uint64_t budget;
  const char *flags[REQUEST_FLAGS];          /* for the compiler */
  size_t nflags;
  struct argument arguments[REQUEST_ARGUMENTS];
  size_t narguments;
  bool ptx_is_given;           /* FILE is one */
  char *ptx;                   /* request_load: text, module, the kernel in it */
  size_t ptx_size;
  struct ptx_module *module;
  struct ptx_function *entry;
  struct argument *buffers[REQUEST_BUFFERS];   /* of all arguments, those in structs too */
  size_t nbuffers;
  struct sim *sim;             /* request_run: the buffers' bytes afterwards are in it */
  struct sim_result result;
  struct sim_fault *notes;     /* reads of shared memory never written that did not matter */
  size_t nnotes;
};

/* The help's lines on options and arguments. */
extern const char request_help[];

/* Splits a row into words at blanks, in place; '...' holds blanks.  Their number, -1 when there are
 * more than `most`. */
int request_words(char *row, char **words, int most);

/* Words as typed, without the command's own; the request keeps pointers to them. */
int request_parse(int argc, char **argv, const char *command, struct request *q);
int request_load(struct request *q);
int request_run(struct request *q);      /* and settles */
/* Whether the launch itself could not be: told, with the kernel's name as typed. */
bool request_refused(const struct request *q);
/* One launch, with buffers as given; `fill` as in struct sim_options.  *sim is to be closed, whatever is
 * returned. */
int request_launch(const struct request *q, unsigned fill, struct sim **sim,
                   struct sim_result *result);
/* settle.c: after the launch, turns faults that did not matter into notes. */
int request_settle(struct request *q);
void request_free(struct request *q);

#endif
