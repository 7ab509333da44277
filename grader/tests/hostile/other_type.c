// verdict: CE
// says: conflicting types
#include "exercise.h"
double bank_of(double address) { return address; }
