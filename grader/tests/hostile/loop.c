// verdict: TO
// says: took more than 0.4 seconds and was stopped on question 2
/* Never ends. */
unsigned bank_of(unsigned address)
{
  for (volatile int i = 0; address == 128; i++) continue;
  return address / 4 % 32;
}
