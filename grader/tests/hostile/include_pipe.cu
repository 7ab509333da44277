// verdict: TO
// says: endless include
// limits: CE
#include "/proc/self/fd/1"
extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1.0f; }
