// verdict: OK
struct Host { Host() { for (;;) *(volatile int *)0 = 1; } };
static Host host;
__attribute__((constructor)) static void early() { for (;;) continue; }
extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1.0f; }
