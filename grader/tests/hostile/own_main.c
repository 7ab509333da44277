// verdict: CE
// says: must not define main()
unsigned bank_of(unsigned address) { return address / 4 % 32; }
int main(void) { return 0; }
