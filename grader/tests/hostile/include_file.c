// verdict: CE
// says: does not compile; line
unsigned secret =
#include "/etc/passwd"
;
unsigned bank_of(unsigned address) { return address / 4 % 32; }
