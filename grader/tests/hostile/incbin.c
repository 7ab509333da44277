// verdict: CE
// says: does not compile
__asm__(".incbin \"/etc/passwd\"");
unsigned bank_of(unsigned address) { return address / 4 % 32; }
