// verdict: CE
// says: line 5: expected
unsigned bank_of(unsigned address)
{
  return address / 4 % 32
}
