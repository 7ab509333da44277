// verdict: CE
// clang: OK
extern "C" __global__ void k(float *out) { asm volatile("nonsense.f32 %0;" :: "f"(out[0])); }
