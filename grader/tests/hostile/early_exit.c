// verdict: RE
// says: on question 1
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Ends before main. */
__attribute__((constructor)) static void early(void) { exit(0); }
unsigned bank_of(unsigned address)
{
  return address / 4 % 32;
}
