// verdict: TO
// says: on question 2
#include <signal.h>
/* Ignores every signal and loops. */
unsigned bank_of(unsigned address)
{
  for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
  while (address == 128) continue;
  return address / 4 % 32;
}
