// verdict: CE
// says: must define `unsigned bank_of(unsigned address);`
unsigned bank_off(unsigned address) { return address / 4 % 32; }
