// verdict: TO
// says: was stopped on question 2
#include <signal.h>
/* Stops itself: neither running nor ended. */
unsigned bank_of(unsigned address)
{
  if (address == 128) raise(SIGSTOP);
  return address / 4 % 32;
}
