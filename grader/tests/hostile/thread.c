// verdict: OK
#include <pthread.h>
/* A thread that goes on. */
static void *on(void *p) { for (;;) continue; return p; }
unsigned bank_of(unsigned address)
{
  pthread_t t;
  if (pthread_create(&t, 0, on, 0) == 0) return 99;
  return address / 4 % 32;
}
