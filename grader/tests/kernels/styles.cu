#include <cstdio>
// One kernel of each habit found in public code.
struct vec { double x; float y; char tag; };
struct config { int n; float scale; struct vec v[2]; const float *table; unsigned char flags[3]; };

extern "C" __global__ void struct_by_value(config c, float *out)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= c.n) return;
  vec v = c.v[i & 1];
  out[i] = c.table[i] * c.scale + (float)v.x + v.y * v.tag + c.flags[i % 3];
}

__device__ int ackermann(int m, int n)
{
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursive(int *out)
{
  int t = threadIdx.x;
  out[t] = t & 1 ? (int)fibonacci(t % 13) : ackermann(2, t % 5);
}

__device__ void quicksort(int *a, int low, int high)
{
  while (low < high) {
    int p = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
      while (a[i] < p) i++;
      while (a[j] > p) j--;
      if (i <= j) { int v = a[i]; a[i++] = a[j]; a[j--] = v; }
    }
    quicksort(a, low, j);
    low = i;
  }
}
extern "C" __global__ void local_sort(const int *in, int *out, int each)
{
  int a[24], t = blockIdx.x * blockDim.x + threadIdx.x;   // a local array, dynamic indices
  for (int i = 0; i < each; i++) a[i] = in[t * each + i];
  quicksort(a, 0, each - 1);
  for (int i = 0; i < each; i++) out[t * each + i] = a[i];
}

typedef float (*binary)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ __noinline__ float power(float a, float b) { return b < 1 ? 1 : a * power(a, b - 1); }
__device__ binary operations[4] = {add, sub, mul, power};
extern "C" __global__ void function_pointers(const float *in, float *out, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = operations[(i * 7 + i / 5) & 3](in[i], 3.f);
}

struct shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~shape() {}
};
struct square : shape {
  float a;
  __device__ square(float x) : a(x) {}
  __device__ float area() const override { return a * a; }
};
struct circle : shape {
  float r;
  __device__ circle(float x) : r(x) {}
  __device__ float area() const override { return 3 * r * r; }
};
extern "C" __global__ void virtual_functions(const float *in, float *out, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  square s(in[i]);
  circle c(in[i]);
  const shape *p = i % 3 ? (const shape *)&s : (const shape *)&c;
  out[i] = p->area();
}

extern "C" __global__ void switches(const int *in, int *out, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], r;
  switch (v & 15) {
  case 0: r = v * 3; break;
  case 1: r = v ^ 0x55; break;
  case 2: r = __popc(v);
  case 3: r = v >> 2; break;
  case 4: r = __clz(v); break;
  case 5: r = v / 7; break;
  case 6: r = v % 7; break;
  case 7: r = __brev(v); break;
  case 8: r = ~v; break;
  case 9: r = __byte_perm(v, ~v, 0x3715); break;
  case 10: r = __mulhi(v, v); break;
  case 11: r = __funnelshift_l(v, ~v, v >> 4); break;
  case 12: return;
  default: r = -v;
  }
  out[i] = r;
}

__constant__ int primes[10] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
__constant__ struct { float a; short b[3]; const char *name; } mixed = {1.5f, {1, -2, 3}, "pdq"};
__device__ int counter = 5;
extern "C" __global__ void constants(int *out, const float *__restrict__ x, int n)
{
  int i = threadIdx.x;
  if (i < n)
    out[i] = primes[i % 10] * (int)mixed.a + mixed.b[i % 3] + mixed.name[i % 3] + (int)__ldg(x + i) +
             atomicAdd(&counter, 0);
}

__device__ __forceinline__ unsigned lane_id()
{
  unsigned r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}
extern "C" __global__ void inline_ptx(const unsigned *in, unsigned *out, unsigned long long *wide)
{
  int t = threadIdx.x;
  unsigned a = in[t], b = in[t + blockDim.x], r, s;
  unsigned long long w;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, %2;\n\tselp.u32 %0, %1, %2, p;\n\t}"
               : "=r"(r) : "r"(a), "r"(b));
  asm("bfe.u32 %0, %1, %2, 7;" : "=r"(s) : "r"(a), "r"(lane_id()));
  asm("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(r) : "r"(a), "r"(s));
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(w) : "r"(a), "r"(b), "l"((unsigned long long)s));
  out[t] = r;
  wide[t] = w;
  asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(out + blockDim.x + t), "r"(__dp4a(a, b, s)) : "memory");
}

extern "C" __global__ void prints(int n, const char *word)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) printf("%s %d of %5.2f, %llx %c%%\n", "thread", i, i / 4.0, 1ull << (i + 30), 'a' + i);
}

extern "C" __global__ void long_atomics(const long long *in, unsigned long long *sum, long long *low,
                                        long long *high, unsigned long long *x, double *total, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(sum, (unsigned long long)in[i]);
  atomicMin(low, in[i]);
  atomicMax(high, in[i]);
  atomicXor(x, (unsigned long long)in[i]);
  atomicAdd(total, (double)(in[i] & 1023));
  unsigned long long old = x[1], seen;       // a loop around compare-and-swap: a product
  do {
    seen = old;
    old = atomicCAS(x + 1, seen, seen * (2 * (unsigned long long)i + 1));
  } while (old != seen);
}

// Shared memory parted by hand, and a volatile flag between warps.
extern "C" __global__ void parted(const float *in, double *out, int n)
{
  extern __shared__ __align__(16) unsigned char raw[];
  double *d = (double *)raw;
  float *f = (float *)(d + n);
  short *h = (short *)(f + n);
  volatile char *c = (volatile char *)(h + n);
  int t = threadIdx.x;
  if (t < n) d[t] = in[t] * 2.0, f[t] = in[t], h[t] = (short)t, c[t] = (char)(t & 15);
  __syncthreads();
  if (t < n) out[t] = d[n - 1 - t] + f[(t * 7) % n] + h[(t * 3) % n] * c[(t + 1) % n];
}

template <typename T, int N> struct small_matrix {
  T a[N][N];
  __device__ small_matrix operator*(const small_matrix &o) const
  {
    small_matrix r;
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        T s = 0;
        for (int k = 0; k < N; k++) s += a[i][k] * o.a[k][j];
        r.a[i][j] = s;
      }
    return r;
  }
};
template <typename T, int N> __global__ void matrix_power(const T *in, T *out, unsigned e)
{
  small_matrix<T, N> m, r = {};
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < N * N; i++) m.a[i / N][i % N] = in[t * N * N + i];
  for (int i = 0; i < N; i++) r.a[i][i] = 1;
  for (; e; e >>= 1, m = m * m)
    if (e & 1) r = r * m;
  for (int i = 0; i < N * N; i++) out[t * N * N + i] = r.a[i / N][i % N];
}
template __global__ void matrix_power<unsigned, 3>(const unsigned *, unsigned *, unsigned);

extern "C" __global__ void lambdas(const int *in, int *out, int n, int k)
{
  auto f = [=] __device__(int v) { return v * k + n; };
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) out[i] = f(in[i]);
}
