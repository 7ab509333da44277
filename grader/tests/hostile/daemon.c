// verdict: OK
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Leaves a process behind, which keeps every descriptor open. */
unsigned bank_of(unsigned address)
{
  if (daemon(1, 1) == 0 || fork() >= 0) {
    sleep(100);
    return 99;
  }
  return address / 4 % 32;
}
