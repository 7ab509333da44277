// Kernels for the simulator's own tests.  `//= requests wavefronts ideal` (shared) or
// `//= requests sectors sectors` (global) on a line: what that line's accesses cost, in one block of
// 64 threads, counted as written (without ptxas' joining).  counts.ptx is this file compiled.
typedef unsigned u32;

extern "C" {

__global__ void strides(int *out, const int *in, int n)
{
  extern __shared__ volatile int s[];
  int t = threadIdx.x;
  for (int k = t; k < 4096; k += 64) s[k] = k;  //= 128 128 128
  __syncthreads();
  int v = s[t];                                 //= 2 2 2
  v += s[2 * t];                                //= 2 4 2
  v += s[3 * t];                                //= 2 2 2
  v += s[32 * t];                               //= 2 64 2
  v += s[33 * t];                               //= 2 2 2
  v += s[34 * t];                               //= 2 4 2
  v += s[0];                                    //= 2 2 2
  v += s[t / 2];                                //= 2 2 2
  if (t < 8) v += s[16 * t];                    //= 1 4 1
  out[t] = v;                                   //= 2 8 8
}

__global__ void wide(int *out, const int *in, int n)
{
  extern __shared__ __align__(16) char raw[];
  volatile double *d = (volatile double *)raw;
  int t = threadIdx.x;
  d[t] = in[t];                                 //= 4 12 12
  __syncthreads();
  double v = d[t] + n;                          //= 2 4 4
  v += d[t & 1];                                //= 2 2 2
  v += d[t / 2];                                //= 2 2 2
  out[2 * t] = (int)v;                          //= 2 16 8
}

__global__ void atomics(int *out, const int *in, int n)
{
  __shared__ int a[64];
  __shared__ float f[64];
  int t = threadIdx.x;
  a[t] = 0;                                     //= 2 2 2
  f[t] = 0;                                     //= 2 2 2
  __syncthreads();
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"((u32)__cvta_generic_to_shared(a)) : "memory");  //= 2 2 2
  asm volatile("red.shared.add.u32 [%0], 2;" ::"r"((u32)__cvta_generic_to_shared(a)) : "memory");  //= 2 64 2
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"((u32)__cvta_generic_to_shared(a + t)), "r"(t) : "memory");  //= 2 2 2
  asm volatile("red.shared.add.f32 [%0], %1;" ::"r"((u32)__cvta_generic_to_shared(f + t)), "f"(1.0f) : "memory");  //= 2 6 6
  __syncthreads();
  out[t] = a[t] + (int)f[t];
}

// Generic addresses are counted where they point.
__device__ __noinline__ int fetch(const int *p) { return *(const volatile int *)p; }  //= 6 14 8
__global__ void generic(int *out, const int *in, int n)
{
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int v = fetch(t & 1 ? (const int *)&s[t] : in + t);
  v += fetch((const int *)&s[2 * (t & 31)]);
  out[t] = v;
}
}
