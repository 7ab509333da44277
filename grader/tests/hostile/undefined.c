// verdict: CE
// says: uses `helper(...)`, which nothing defines
unsigned helper(unsigned);
unsigned bank_of(unsigned address) { return helper(address); }
