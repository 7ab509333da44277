/* Does it matter what a launch read before anybody wrote it?
 *
 * To read an uninitialised word of shared memory is no fault of its own: hardware gives whatever lies
 * there.  To use it is one.  Good code does the first without the second: a merge loads the key after
 * the end of a run, then selects the other one.  So where such reads are all that a launch did wrong, it
 * is run again with that memory filled otherwise.  A launch is a function of its arguments and of those
 * words alone, as everything else in the simulator is the same on each run: where memory, counts and
 * what was printed come out the same, the words were read for nothing, and the faults become notes.
 *
 * The fills are numbers that win a comparison or spoil a sum: all bits unlike each other, zero, the
 * least and the largest of every type.  That is no proof, and the note says what was tried; but nothing
 * that depends on such a word in the usual ways - a sum, an extreme, an index, a branch - outlives them
 * all.  Following each value through each instruction instead would make all kernels slower, and still
 * take masks and products by zero for a use.
 *
 * Exercises are not judged so: there the read itself is the mistake that the student is to see. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/request.h"

static bool only_unwritten(const struct sim_result *r)
{
  uint64_t reads = 0;
  for (size_t k = 0; k < r->nfaults; k++) {
    if (r->faults[k].kind != SIM_FAULT_UNINITIALISED) return false;
    reads += r->faults[k].count;
  }
  /* Copies waited for too late are of that kind as well. */
  return r->nfaults && !r->faults_dropped && r->completed && reads == r->unwritten;
}

static bool same_site(const struct sim_site *a, const struct sim_site *b)
{
  return a->function == b->function && a->inst == b->inst && a->op == b->op &&
         a->width == b->width && a->requests == b->requests && a->wavefronts == b->wavefronts &&
         a->ideal == b->ideal && a->sectors == b->sectors && a->bytes == b->bytes &&
         a->worst_wavefronts == b->worst_wavefronts;
}

static bool same_result(const struct sim_result *a, const struct sim_result *b)
{
  bool same = only_unwritten(b) && a->nfaults == b->nfaults && a->unwritten == b->unwritten &&
              a->nsites == b->nsites && !memcmp(&a->totals, &b->totals, sizeof a->totals) &&
              !strcmp(a->printed, b->printed) && a->printed_cut == b->printed_cut;
  for (size_t k = 0; same && k < a->nsites; k++) same = same_site(&a->sites[k], &b->sites[k]);
  return same;
}

static void add_note(struct sim_fault *f)
{
  const char *advice = strstr(f->text, ": initialise it");
  size_t n = advice ? (size_t)(advice - f->text) : strlen(f->text);
  snprintf(f->text + n, sizeof f->text - n,
           ". With %d other contents of that memory the launch gave the same results and counts: the "
           "value is not used", SIM_FILLS);
}

int request_settle(struct request *q)
{
  if (!only_unwritten(&q->result)) return 0;
  for (unsigned fill = 1; fill <= SIM_FILLS; fill++) {
    struct sim *sim = NULL;
    struct sim_result again = {0};
    int status = request_launch(q, fill, &sim, &again);
    bool same = !status && same_result(&q->result, &again) && sim_same_memory(q->sim, sim);
    sim_result_free(&again);
    if (sim) sim_close(sim);
    if (status || !same) return status;
  }
  for (size_t k = 0; k < q->result.nfaults; k++) add_note(&q->result.faults[k]);
  q->notes = q->result.faults;
  q->nnotes = q->result.nfaults;
  q->result.faults = NULL;
  q->result.nfaults = 0;
  return 0;
}
