// verdict: CE
#include "/dev/zero"
extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1.0f; }
