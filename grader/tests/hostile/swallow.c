// verdict: TO
// says: on question 2
#include <signal.h>
/* A handler that makes nothing of a crash; the instruction repeats for ever. */
static void nothing(int s) { (void)s; }
unsigned bank_of(unsigned address)
{
  signal(SIGSEGV, nothing);
  if (address == 128) *(volatile int *)0 = 1;
  return address / 4 % 32;
}
