// verdict: CE
#define float banana
extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1.0f; }
