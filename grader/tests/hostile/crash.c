// verdict: RE
// says: SIGSEGV: it read or wrote memory that is not its own) on question 3
/* Null pointer. */
unsigned bank_of(unsigned address)
{
  if (address == 132) *(volatile int *)0 = 1;
  return address / 4 % 32;
}
