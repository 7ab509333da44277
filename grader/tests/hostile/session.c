// verdict: TO
// says: on question 2
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Leaves its process group and session; then it loops. */
unsigned bank_of(unsigned address)
{
  setpgid(0, 0);
  setsid();
  while (address == 128) continue;
  return address / 4 % 32;
}
