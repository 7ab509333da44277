// verdict: CE
// says: line 3: 
#include "/etc/passwd"
extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1.0f; }
