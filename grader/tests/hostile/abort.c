// verdict: RE
// says: abort, or a failed assert) on question 1
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

unsigned bank_of(unsigned address)
{
  if (address == 4) abort();
  return address / 4 % 32;
}
