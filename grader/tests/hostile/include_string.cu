// verdict: CE
__device__ const char text[] =
#include "/etc/hostname"
;
extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1.0f; }
