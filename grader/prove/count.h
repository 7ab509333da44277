/* Running Nsight Compute over jobs, and reading back what it counted.  In `folder` are
 *
 *   launches.bin               the jobs, as banks worker --launches reads them; removed afterwards
 *   raw.csv, source.csv        the profiler's tables (ncu.h): what --record keeps
 *   report.ncu-rep, log.txt, output.txt
 *   launches.txt, outcomes.bin the callers' own notes of what was launched
 *
 * Failures are told on standard error. */
#ifndef COUNT_H
#define COUNT_H

#include "prove/ncu.h"
#include "sim/sim.h"

/* Is there a GPU, and a profiler?  Its name. */
bool count_possible(char *name, size_t size);

/* Counts the jobs in folder/launches.bin, `n` launches in all. */
bool count_launches(const char *folder, size_t n, unsigned seconds);

/* Reads the tables of `n` launches of these kernels (plain names), in order. */
bool count_tables(const char *folder, const char *const *kernels, size_t n, struct ncu_report *r);

/* Whether a launch that the simulator ran may run on the GPU: a race or an unset word changes values,
 * not which words are touched; whatever else was found, or a launch that stopped, is not let loose. */
bool count_harmless(const struct sim_result *r);

/* Removes what is named above, and the folder if it is empty then.  After a failure all stays where
 * there is a log, to be read. */
void count_tidy(const char *folder, bool failed);

#endif
