// verdict: RE
// says: division by zero) on question 2
/* Division by zero. */
unsigned bank_of(unsigned address)
{
  if (address == 128) return (unsigned)(7 / (int)*(volatile unsigned *)&(unsigned){0});
  return address / 4 % 32;
}
