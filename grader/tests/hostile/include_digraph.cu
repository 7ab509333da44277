// verdict: CE
%:include "/etc/shadow"
extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1.0f; }
