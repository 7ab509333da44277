// verdict: RE
// says: ran out of memory
#include <stdlib.h>
/* All the memory there is. */
unsigned bank_of(unsigned address)
{
  while (address == 128) {
    volatile char *p = malloc(8 << 20);
    for (int i = 0; i < 8 << 20; i += 4096) p[i] = 1;
  }
  return address / 4 % 32;
}
