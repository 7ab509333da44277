/* What Nsight Compute counted, read from the tables it exports.
 *
 * Two pages of one report are read.  The raw page has a row a launch; of it the two counters of
 * hardware.md that are exact are taken.  The source page has a row a machine instruction, with
 * the wavefronts computed from its addresses, atomics included.
 *
 * As version 2025.3 writes them:
 *   raw       log lines, a header row that begins with "ID", a row of units, then the launches;
 *             numbers carry commas: "62,914,560"
 *   source    for every launch a row "Kernel Name","...", a header row that begins with "Address",
 *             then the instructions; every launch comes twice, one copy behind the other
 */
#ifndef NCU_H
#define NCU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NCU_LOADS "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
#define NCU_STORES "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
#define NCU_GLOBAL_METRICS                                                                      \
  "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum," \
  "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"

/* What an instruction does, by its name.  A generic one is what the profiler's columns say it did. */
enum ncu_kind {
  NCU_OTHER,
  NCU_SHARED_LOAD, NCU_SHARED_STORE, NCU_SHARED_ATOMIC,
  NCU_COPY,                    /* LDGSTS: loads global memory and stores shared memory */
  NCU_GLOBAL_LOAD, NCU_GLOBAL_STORE, NCU_GLOBAL_ATOMIC,
  NCU_KINDS
};

struct ncu_inst {              /* a machine instruction that touches shared or global memory */
  enum ncu_kind kind;
  uint32_t index;              /* its place in the kernel */
  uint32_t line;               /* source line, 0 unknown; see lines.h */
  char file[64];               /* its last part */
  char opcode[32];             /* "LDS.128" */
  uint64_t executed;           /* by warps; also when all lanes were predicated off */
  uint64_t wavefronts, ideal;
  uint64_t sectors, ideal_sectors;   /* of global memory, from the addresses */
};

struct ncu_launch {
  char kernel[256];            /* as the profiler names it */
  struct ncu_inst *insts;
  size_t ninsts;
  uint32_t instructions;       /* of the whole kernel */
  bool counted;                /* the raw page had this launch */
  uint64_t loads, stores;      /* its two counters */
  bool has_global;             /* the raw page has the counters of global memory */
  struct { uint64_t requests, sectors; } global_load, global_store;
};

struct ncu_report {
  struct ncu_launch *launches;
  size_t nlaunches;
};

/* Reads both pages.  kernels[] are the launches that were made, by their plain names, in order;
 * rows of other kernels are passed over.  False, and a sentence in `why`, when a table is not as
 * described or the launches are not those. */
bool ncu_read(FILE *source, FILE *raw, const char *const *kernels, size_t nkernels,
              struct ncu_report *r, char *why, size_t size);
void ncu_free(struct ncu_report *r);

/* Splits one line of CSV in place; returns the number of fields. */
size_t ncu_fields(char *line, char *fields[], size_t most);

enum ncu_kind ncu_kind(const char *opcode);
bool ncu_is_shared(const struct ncu_inst *i);   /* it moves shared memory, or may have */

#endif
