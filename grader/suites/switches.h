/* The cost of a load or store with switches: the right rule, and every wrong one worth a name.
 *
 * With all switches off it is the rule of chapter 02, written a second time, apart from model/.
 * Each switch turns it into what somebody with one misconception would count, so that a wrong
 * answer can be traced to the idea behind it. */
#ifndef SWITCHES_H
#define SWITCHES_H

#include "model/model.h"

struct switches {
  bool lanes;       /* counts lanes, not different words */
  bool all_active;  /* ignores the mask */
  bool all_counted; /* the same, but for the test of the merge */
  bool all_banks;   /* adds the banks up */
  bool elements;    /* bank = (address / width) mod 32, one an element */
  bool first_word;  /* sees only the first word of a wide lane */
  bool one_phase;   /* all 32 lanes at once, whatever the width */
  bool most_phase;  /* the largest phase, not the sum of the phases */
  bool merge_stores, merge_never, merge_by_phase, merge_one_only, merge_two_only;
  bool awake_partners; /* a sleeping partner counts as one that disagrees */
};

struct phase {
  uint32_t most, bank; /* different words in the fullest bank, and which that is */
  uint32_t total;      /* over all banks */
  uint32_t first, lanes;
};

/* Wavefronts of a load or store of 1 to 16 bytes under the switches.  phases, when given, gets
 * up to four phases, *nphases of them. */
uint32_t switches_cost(const struct access *a, struct switches s, struct phase *phases,
                       int *nphases);

/* Would the phases of lanes first .. first + lanes - 1 join in pairs? */
bool switches_merge(const struct access *a, uint32_t first, uint32_t lanes, struct switches s);

#endif
