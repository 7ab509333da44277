// verdict: CE
// says: line 3
#define int banana
#define return
unsigned bank_of(unsigned address) { return address / 4 % 32; }
int x;
