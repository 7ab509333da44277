// verdict: CE
// clang: OK
// says: inline assembly: Not a name of any known instruction
extern "C" __global__ void k(float *out) { asm volatile("nonsense.f32 %0;" :: "f"(out[0])); }
