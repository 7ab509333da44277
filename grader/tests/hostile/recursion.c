// verdict: RE
// says: SIGSEGV
/* Endless recursion. */
static unsigned deep(volatile unsigned *p)
{
  volatile unsigned q[1000] = {*p};
  return deep(q) + q[0];
}
unsigned bank_of(unsigned address)
{
  if (address == 128) return deep(&address);
  return address / 4 % 32;
}
