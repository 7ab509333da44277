// Kernels whose blocks do, or do not, depend on each other: tests/test_parallel.c.
//   nvcc -ptx -arch=sm_90 -lineinfo grader/tests/kernels/parallel.cu -o grader/tests/kernels/parallel.ptx
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned long long u64;
extern "C" {

// independent
__global__ void copy(unsigned *x) { x[AT] = AT * 3 + 1; }
__global__ void in_place(unsigned *x) { x[AT] = x[AT] * 5 + 7; }
__global__ void interleaved(unsigned *x) { x[threadIdx.x * gridDim.x + blockIdx.x] = AT + 1; }
__global__ void pairs(unsigned *x)   // a word that a block writes twice, and one it only reads
{
  x[2 * AT] = x[2 * AT + 1] + 1;
  x[2 * AT] += AT;
}
__global__ void sums(unsigned *x) { atomicAdd(&x[threadIdx.x], AT); }
__global__ void least(int *x) { atomicMin(&x[threadIdx.x], (int)(AT * 2654435761u)); }
__global__ void most(int *x) { atomicMax(&x[threadIdx.x], (int)(AT * 2654435761u)); }
__global__ void least_u(unsigned *x) { atomicMin(&x[threadIdx.x], AT * 2654435761u); }
__global__ void most_u(unsigned *x) { atomicMax(&x[threadIdx.x], AT * 2654435761u); }
__global__ void bits_and(unsigned *x) { atomicAnd(&x[threadIdx.x], ~(1u << blockIdx.x % 32)); }
__global__ void bits_or(unsigned *x) { atomicOr(&x[threadIdx.x], 1u << blockIdx.x % 32); }
__global__ void bits_xor(unsigned *x) { atomicXor(&x[threadIdx.x], AT * 2654435761u); }
__global__ void sums_wide(u64 *x) { atomicAdd(&x[threadIdx.x], (u64)AT << 30); }
__global__ void least_wide(long long *x)
{
  atomicMin(&x[threadIdx.x], (long long)(AT * 0x9e3779b97f4a7c15ull));
}

// dependent
__global__ void same_word(unsigned *x) { x[threadIdx.x] = AT; }
__global__ void neighbour(unsigned *x)
{
  unsigned n = gridDim.x * blockDim.x;
  x[AT] = x[(AT + n - blockDim.x) % n] + 1;
}
__global__ void late(unsigned *x)   // only the last block shows that they depend
{
  x[AT] = blockIdx.x + 1 == gridDim.x ? x[threadIdx.x] + 5 : AT;
}
__global__ void halves(unsigned short *x) { x[2 * threadIdx.x + blockIdx.x % 2] = AT; }
__global__ void odd_end(unsigned char *x)   // the buffer ends within a word
{
  if (threadIdx.x == 0) x[8 * gridDim.x * blockDim.x + 2] += blockIdx.x + 1;
}
__global__ void ticket(unsigned *x) { x[AT + 1] = atomicAdd(&x[0], 1); }
__global__ void mixed(unsigned *x)
{
  if (blockIdx.x % 2) atomicMax(&x[threadIdx.x], AT);
  else atomicAdd(&x[threadIdx.x], AT);
}
__global__ void sum_and_read(unsigned *x) { atomicAdd(&x[threadIdx.x], x[threadIdx.x + 32] + 1); }
__global__ void sum_and_write(unsigned *x)
{
  if (blockIdx.x == 0) x[threadIdx.x] = 3;
  else atomicAdd(&x[threadIdx.x], 1);
}
__global__ void sum_float(float *x) { atomicAdd(&x[threadIdx.x], 1.0f / (AT + 1)); }
__global__ void exchange(unsigned *x) { atomicExch(&x[threadIdx.x], AT); }
__global__ void outside(unsigned *x)   // the last block writes past the end
{
  x[AT + (blockIdx.x + 1 == gridDim.x ? 1 << 20 : 0)] = AT;
}
}
