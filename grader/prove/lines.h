/* Source lines of machine instructions: PTX -> ptxas -> nvdisasm, whose listing names them.
 *
 * The profiler's table has no lines.  ptxas of the toolkit writes the same code as the driver's
 * when both are of one version; whether it did is checked instruction by instruction, and where
 * it did not the instructions stay without lines. */
#ifndef LINES_H
#define LINES_H

#include "prove/ncu.h"

struct lines_inst {
  uint32_t line;
  char file[64];               /* its last part */
  char opcode[32];
};

struct lines_kernel {
  char name[128];              /* as in the PTX */
  struct lines_inst *insts;
  size_t ninsts;
};

struct lines {
  struct lines_kernel *kernels;
  size_t nkernels;
  char why[256];               /* "" or why there are none */
};

/* Never fails: without the tools there are no kernels, and `why` says what is missing. */
void lines_of(const char *ptx, size_t length, unsigned capability, struct lines *out);
/* From the text of nvdisasm -g -c. */
void lines_parse(const char *text, struct lines *out);
void lines_free(struct lines *l);

/* Gives the launch's instructions their lines; false when the code is not the same. */
bool lines_give(const struct lines *l, const char *kernel, struct ncu_launch *launch);

#endif
