/* banks prove FILE KERNEL ... and banks prove --list FILE: an author's own launches.  cli/prove.c calls
 * this for them. */
#ifndef PROVE_OWN_H
#define PROVE_OWN_H

#include <stdbool.h>

/* Do these words (without the command's own) speak of an own kernel? */
bool prove_own_meant(int argc, char **argv);
int prove_own(int argc, char **argv);

#endif
