#include <curand_kernel.h>
extern "C" __global__ void philox(unsigned *out, float *uniform, float *normal, unsigned long long seed, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  curandStatePhilox4_32_10_t s;
  curand_init(seed, i, 0, &s);
  for (int k = 0; k < 6; k++) out[6 * i + k] = curand(&s);
  uniform[i] = curand_uniform(&s);
  float2 z = curand_normal2(&s);
  normal[2 * i] = z.x, normal[2 * i + 1] = z.y;
}
