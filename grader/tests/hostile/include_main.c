// verdict: CE
// says: must not define main()
#include "grader/driver.c"
unsigned bank_of(unsigned address) { return address / 4 % 32; }
