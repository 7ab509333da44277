// verdict: RE
// says: on question 1
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Replaces functions that the driver uses. */
ssize_t write(int d, const void *p, size_t n) { (void)d, (void)p; return (ssize_t)n; }
unsigned bank_of(unsigned address)
{
  return address / 4 % 32;
}
