/* What the CUDA of a course needs when clang compiles it without the CUDA Toolkit.
 *
 * Device code only.  Qualifiers, vector types, special registers, collectives, atomics and the math
 * that kernels use, each written with clang's builtins or with one PTX instruction, so that
 * the PTX is what the toolkit's own headers would give for the same call.  There is no libdevice: exp,
 * log, pow and the like are made of ex2 and lg2 with a correction, within a few units in the
 * last place of a float; in double there are only the exact ones (sqrt, fma, fabs ...). */
#ifndef CUDA_FOR_CLANG_H
#define CUDA_FOR_CLANG_H

#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* ---- qualifiers --------------------------------------------------------------------------------- */

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __grid_constant__
#define __CUDACC__ 1
#define CUDART_VERSION 12000
#define warpSize 32

#define CFC_FN static __attribute__((device, always_inline, nodebug, unused)) inline
/* Calls that the host side of a file may mention too (constructors of vectors). */
#define CFC_BOTH static __attribute__((host, device, always_inline, nodebug, unused)) inline

/* ---- vector types --------------------------------------------------------------------------------- */

/* Two and four elements are assigned in one access, as nvcc does: all are read before the first is
 * written, or clang copies them one by one. */
#define CFC_ASSIGN __attribute__((host, device, always_inline, nodebug))
#define CFC_VECTOR(type, base, a2, a4)                                                           \
  struct base##1 { type x; };                                                                    \
  struct __align__(a2) base##2 {                                                                 \
    type x, y;                                                                                   \
    CFC_ASSIGN base##2 &operator=(const base##2 &o)                                              \
    {                                                                                            \
      type a = o.x, b = o.y;                                                                     \
      x = a, y = b;                                                                              \
      return *this;                                                                              \
    }                                                                                            \
  };                                                                                             \
  struct base##3 { type x, y, z; };                                                              \
  struct __align__(a4) base##4 {                                                                 \
    type x, y, z, w;                                                                             \
    CFC_ASSIGN base##4 &operator=(const base##4 &o)                                              \
    {                                                                                            \
      type a = o.x, b = o.y, c = o.z, d = o.w;                                                   \
      x = a, y = b, z = c, w = d;                                                                \
      return *this;                                                                              \
    }                                                                                            \
  };                                                                                             \
  CFC_BOTH base##1 make_##base##1(type x) { return base##1{x}; }                                 \
  CFC_BOTH base##2 make_##base##2(type x, type y) { return base##2{x, y}; }                      \
  CFC_BOTH base##3 make_##base##3(type x, type y, type z) { return base##3{x, y, z}; }           \
  CFC_BOTH base##4 make_##base##4(type x, type y, type z, type w) { return base##4{x, y, z, w}; }
CFC_VECTOR(signed char, char, 2, 4)
CFC_VECTOR(unsigned char, uchar, 2, 4)
CFC_VECTOR(short, short, 4, 8)
CFC_VECTOR(unsigned short, ushort, 4, 8)
CFC_VECTOR(int, int, 8, 16)
CFC_VECTOR(unsigned int, uint, 8, 16)
CFC_VECTOR(long, long, 16, 16)
CFC_VECTOR(unsigned long, ulong, 16, 16)
CFC_VECTOR(long long, longlong, 16, 16)
CFC_VECTOR(unsigned long long, ulonglong, 16, 16)
CFC_VECTOR(float, float, 8, 16)
CFC_VECTOR(double, double, 16, 16)

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

/* ---- special registers ------------------------------------------------------------------------------ */

#define CFC_AXIS(axis, reg)                                                                      \
  __declspec(property(get = get_##axis)) unsigned axis;                                          \
  __device__ __attribute__((always_inline, nodebug)) unsigned get_##axis() const                          \
  {                                                                                              \
    return (unsigned)__nvvm_read_ptx_sreg_##reg##_##axis();                                      \
  }
#define CFC_SPECIAL(name, reg, type)                                                             \
  struct cfc_##name {                                                                            \
    CFC_AXIS(x, reg)                                                                             \
    CFC_AXIS(y, reg)                                                                             \
    CFC_AXIS(z, reg)                                                                             \
    __device__ __attribute__((always_inline, nodebug)) operator type() const { return type{x, y, z}; }    \
  };                                                                                             \
  extern const __attribute__((device, weak)) cfc_##name name;
CFC_SPECIAL(threadIdx, tid, uint3)
CFC_SPECIAL(blockIdx, ctaid, uint3)
CFC_SPECIAL(blockDim, ntid, dim3)
CFC_SPECIAL(gridDim, nctaid, dim3)
#undef CFC_SPECIAL
#undef CFC_AXIS

/* ---- barriers, fences, votes -------------------------------------------------------------------------- */

/* Assembly that may touch memory, not clang's builtins alone: to LLVM a builtin barrier cannot write
 * an array that is local to a function, and it would keep what was read from it before. */
#define CFC_MEMORY() asm volatile("" : : : "memory")
CFC_FN void cfc_syncthreads() { asm volatile("bar.sync 0;" : : : "memory"); }
#define __syncthreads() cfc_syncthreads()
#define CFC_FENCE(type, name, parameters, call)                                                  \
  CFC_FN type name parameters                                                                    \
  {                                                                                              \
    CFC_MEMORY();                                                                                \
    type r = call;                                                                               \
    CFC_MEMORY();                                                                                \
    return r;                                                                                    \
  }
CFC_FENCE(int, __syncthreads_count, (int p), __nvvm_bar0_popc(p))
CFC_FENCE(int, __syncthreads_and, (int p), __nvvm_bar0_and(p))
CFC_FENCE(int, __syncthreads_or, (int p), __nvvm_bar0_or(p))
CFC_FN void __syncwarp(unsigned mask = 0xffffffffu)
{
  asm volatile("bar.warp.sync %0;" : : "r"(mask) : "memory");
}
CFC_FN void __threadfence_block() { asm volatile("membar.cta;" : : : "memory"); }
CFC_FN void __threadfence() { asm volatile("membar.gl;" : : : "memory"); }
CFC_FN void __threadfence_system() { asm volatile("membar.sys;" : : : "memory"); }
CFC_FN int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
CFC_FN int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
CFC_FN unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }

CFC_FN unsigned __activemask()
{
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

CFC_FN unsigned __match_any_sync(unsigned mask, unsigned value)
{
  return __nvvm_match_any_sync_i32(mask, value);
}

CFC_FN unsigned __lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
CFC_FN void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" : : "r"(ns)); }
CFC_FN void __trap() { asm volatile("trap;"); }
CFC_FN void __brkpt() { asm volatile("brkpt;"); }

/* ---- bits ------------------------------------------------------------------------------------------------ */

template <class To, class From> CFC_FN To cfc_bits(From from)
{
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

CFC_FN int __float_as_int(float x) { return cfc_bits<int>(x); }
CFC_FN unsigned __float_as_uint(float x) { return cfc_bits<unsigned>(x); }
CFC_FN float __int_as_float(int x) { return cfc_bits<float>(x); }
CFC_FN float __uint_as_float(unsigned x) { return cfc_bits<float>(x); }
CFC_FN long long __double_as_longlong(double x) { return cfc_bits<long long>(x); }
CFC_FN double __longlong_as_double(long long x) { return cfc_bits<double>(x); }
CFC_FN int __popc(unsigned x) { return __builtin_popcount(x); }
CFC_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CFC_FN int __clz(int x) { return x ? __builtin_clz(x) : 32; }
CFC_FN int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
CFC_FN int __ffs(int x) { return __builtin_ffs(x); }
CFC_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
CFC_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
CFC_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
CFC_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
  unsigned r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s));
  return r;
}
CFC_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s)
{
  unsigned r;
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(s));
  return r;
}
CFC_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s)
{
  unsigned r;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(s));
  return r;
}
CFC_FN int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
CFC_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
CFC_FN int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }

/* ---- shuffles: by 32-bit words ------------------------------------------------------------------------------ */

#define CFC_SHUFFLE(name, builtin, what, last)                                                   \
  template <class T> CFC_FN T name(unsigned mask, T value, what by, int width = 32)              \
  {                                                                                              \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");                \
    int words[sizeof(T) / 4];                                                                    \
    __builtin_memcpy(words, &value, sizeof value);                                               \
    for (unsigned i = 0; i < sizeof(T) / 4; i++)                                                 \
      words[i] = builtin(mask, words[i], by, ((32 - width) << 8) | (last));                      \
    __builtin_memcpy(&value, words, sizeof value);                                               \
    return value;                                                                                \
  }
CFC_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 0x1f)
CFC_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
CFC_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 0x1f)
CFC_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 0x1f)
#undef CFC_SHUFFLE

#define CFC_REDUX(name, op, type, c)                                                             \
  CFC_FN type name(unsigned mask, type value)                                                    \
  {                                                                                              \
    type r;                                                                                      \
    asm volatile("redux.sync." op " %0, %1, %2;" : "=" c(r) : c(value), "r"(mask));               \
    return r;                                                                                    \
  }
CFC_REDUX(__reduce_add_sync, "add.u32", unsigned, "r")
CFC_REDUX(__reduce_min_sync, "min.u32", unsigned, "r")
CFC_REDUX(__reduce_max_sync, "max.u32", unsigned, "r")
CFC_REDUX(__reduce_and_sync, "and.b32", unsigned, "r")
CFC_REDUX(__reduce_or_sync, "or.b32", unsigned, "r")
CFC_REDUX(__reduce_xor_sync, "xor.b32", unsigned, "r")
#undef CFC_REDUX

/* ---- atomics ----------------------------------------------------------------------------------------------------- */

#define CFC_ATOMIC(name, builtin, type)                                                          \
  CFC_FN type name(type *at, type value) { return builtin(at, value, __ATOMIC_RELAXED); }
#define CFC_ATOMIC_ALL(type)                                                                     \
  CFC_ATOMIC(atomicExch, __atomic_exchange_n, type)                                              \
  CFC_ATOMIC(atomicAnd, __atomic_fetch_and, type)                                                \
  CFC_ATOMIC(atomicOr, __atomic_fetch_or, type)                                                  \
  CFC_ATOMIC(atomicXor, __atomic_fetch_xor, type)                                                \
  CFC_ATOMIC(atomicMin, __atomic_fetch_min, type)                                                \
  CFC_ATOMIC(atomicMax, __atomic_fetch_max, type)                                                \
  CFC_FN type atomicCAS(type *at, type expected, type value)                                     \
  {                                                                                              \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);  \
    return expected;                                                                             \
  }
CFC_ATOMIC_ALL(int)
CFC_ATOMIC_ALL(unsigned)
CFC_ATOMIC_ALL(long long)
CFC_ATOMIC_ALL(unsigned long long)
CFC_ATOMIC(atomicAdd, __atomic_fetch_add, int)
CFC_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned)
CFC_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned long long)
CFC_ATOMIC(atomicSub, __atomic_fetch_sub, int)
CFC_ATOMIC(atomicSub, __atomic_fetch_sub, unsigned)
CFC_FN float atomicAdd(float *at, float v) { return __nvvm_atom_add_gen_f(at, v); }
CFC_FN double atomicAdd(double *at, double v) { return __nvvm_atom_add_gen_d(at, v); }
CFC_FN float atomicExch(float *at, float v)
{
  return __int_as_float(atomicExch((int *)at, __float_as_int(v)));
}
CFC_FN unsigned atomicInc(unsigned *at, unsigned top) { return __nvvm_atom_inc_gen_ui(at, top); }
CFC_FN unsigned atomicDec(unsigned *at, unsigned top) { return __nvvm_atom_dec_gen_ui(at, top); }
#undef CFC_ATOMIC
#undef CFC_ATOMIC_ALL
#define atomicAdd_block atomicAdd
#define atomicAdd_system atomicAdd

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

template <class T> CFC_FN T __ldg(const T *p) { return *p; }
template <class T> CFC_FN T __ldcg(const T *p) { return *p; }
template <class T> CFC_FN T __ldcs(const T *p) { return *p; }
template <class T> CFC_FN void __stcg(T *p, T v) { *p = v; }
template <class T> CFC_FN void __stcs(T *p, T v) { *p = v; }
CFC_FN size_t __cvta_generic_to_shared(const void *p)
{
  return (size_t)(__attribute__((address_space(3))) const void *)p;
}
CFC_FN size_t __cvta_generic_to_global(const void *p)
{
  return (size_t)(__attribute__((address_space(1))) const void *)p;
}
CFC_FN void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
CFC_FN void *memset(void *to, int c, size_t n) { return __builtin_memset(to, c, n); }

CFC_FN long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
CFC_FN int clock() { return __nvvm_read_ptx_sreg_clock(); }

/* Asynchronous copies, as cuda_pipeline.h names them. */
CFC_FN void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t = 0)
{
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(at), "l"(from) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(at), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(at), "l"(from) : "memory");
}
CFC_FN void __pipeline_commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }
template <unsigned N = 0> CFC_FN void cfc_wait_prior()
{
  asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
}
#define __pipeline_wait_prior(n) cfc_wait_prior<(n)>()

/* ---- integers ------------------------------------------------------------------------------------------------------------ */

#define CFC_MINMAX(type)                                                                         \
  CFC_BOTH type min(type a, type b) { return b < a ? b : a; }                                    \
  CFC_BOTH type max(type a, type b) { return a < b ? b : a; }
CFC_MINMAX(int)
CFC_MINMAX(unsigned)
CFC_MINMAX(long)
CFC_MINMAX(unsigned long)
CFC_MINMAX(long long)
CFC_MINMAX(unsigned long long)
#undef CFC_MINMAX
CFC_FN unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
CFC_FN unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
CFC_FN unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
CFC_FN unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
CFC_FN int abs(int a) { return a < 0 ? -a : a; }
CFC_FN long labs(long a) { return a < 0 ? -a : a; }
CFC_FN long long llabs(long long a) { return a < 0 ? -a : a; }

/* ---- float -------------------------------------------------------------------------------------------------------------------- */

#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif
#define HUGE_VALF __builtin_inff()
#define M_PI 3.14159265358979323846
#define CUDART_PI_F 3.141592654f
#define CUDART_INF_F __builtin_inff()

CFC_FN float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
CFC_FN float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }
CFC_FN float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
CFC_FN float __frsqrt_rn(float x) { return 1.0f / __nvvm_sqrt_rn_f(x); }
CFC_FN float fabsf(float x) { return __builtin_fabsf(x); }
CFC_FN float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
CFC_FN float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
CFC_FN float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
CFC_FN float floorf(float x) { return __nvvm_floor_f(x); }
CFC_FN float ceilf(float x) { return __nvvm_ceil_f(x); }
CFC_FN float truncf(float x) { return __nvvm_trunc_f(x); }
CFC_FN float rintf(float x)
{
  float r;
  asm("cvt.rni.f32.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
CFC_FN float nearbyintf(float x) { return rintf(x); }
CFC_FN float copysignf(float x, float s) { return __builtin_copysignf(x, s); }
CFC_FN float roundf(float x)
{
  float t = truncf(x);
  return fabsf(x - t) >= 0.5f ? t + copysignf(1.0f, x) : t;
}
CFC_FN int __float2int_rn(float x) { return __nvvm_f2i_rn(x); }
CFC_FN int __float2int_rz(float x) { return __nvvm_f2i_rz(x); }
CFC_FN int __float2int_rd(float x) { return __nvvm_f2i_rm(x); }
CFC_FN int __float2int_ru(float x) { return __nvvm_f2i_rp(x); }
CFC_FN unsigned __float2uint_rn(float x) { return __nvvm_f2ui_rn(x); }
CFC_FN unsigned __float2uint_rz(float x) { return __nvvm_f2ui_rz(x); }
CFC_FN float __int2float_rn(int x) { return (float)x; }
CFC_FN float __uint2float_rn(unsigned x) { return (float)x; }
CFC_FN int lrintf(float x) { return __float2int_rn(x); }
CFC_FN float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
CFC_FN float __fsub_rn(float a, float b) { return __nvvm_add_rn_f(a, -b); }
CFC_FN float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
CFC_FN float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
CFC_FN float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
CFC_FN float __frcp_rn(float x) { return __nvvm_rcp_rn_f(x); }
CFC_FN float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
CFC_FN float fdividef(float a, float b) { return __nvvm_div_rn_f(a, b); }
CFC_FN float __saturatef(float x) { return __nvvm_saturate_f(x); }
CFC_FN bool isnan(float x) { return x != x; }
CFC_FN bool isinf(float x) { return fabsf(x) == INFINITY; }
CFC_FN bool isfinite(float x) { return fabsf(x) < INFINITY; }
CFC_FN bool signbit(float x) { return __float_as_int(x) < 0; }

/* 2^x: the fraction goes to ex2.approx, whose error grows with its argument.  Scaled in two
 * steps, so that results below the normal range keep their bits. */
CFC_FN float cfc_ex2(float x)
{
  float r;
  asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
CFC_FN float cfc_lg2(float x)
{
  float r;
  asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
CFC_FN float cfc_scale(float x, int n)   /* x * 2^n, n from -300 to 300 */
{
  int half = n / 2, rest = n - half;
  return x * __int_as_float((half + 127) << 23) * __int_as_float((rest + 127) << 23);
}
CFC_FN float exp2f(float x)
{
  if (!(x > -151.0f)) return x != x ? x : 0.0f;
  if (x >= 128.0f) return INFINITY;
  float n = rintf(x);
  return cfc_scale(cfc_ex2(x - n), (int)n);
}
/* e^x = 2^n e^r with r = x - n ln 2, ln 2 in two parts so that r is good to the last bit. */
CFC_FN float expf(float x)
{
  if (!(x > -104.0f)) return x != x ? x : 0.0f;
  if (x > 88.7228394f) return INFINITY;
  float n = rintf(x * 1.44269504f);
  float r = fmaf(n, -0.693145752f, x);
  r = fmaf(n, -1.42860677e-6f, r);
  float p = fmaf(r, 1.98412698e-4f, 1.38888889e-3f);
  p = fmaf(p, r, 8.33333333e-3f);
  p = fmaf(p, r, 4.16666667e-2f);
  p = fmaf(p, r, 1.66666667e-1f);
  p = fmaf(p, r, 0.5f);
  p = fmaf(p, r * r, r);
  return cfc_scale(p + 1.0f, (int)n);
}
CFC_FN float expm1f(float x)
{
  if (fabsf(x) > 0.35f) return expf(x) - 1.0f;
  float p = fmaf(x, 1.98412698e-4f, 1.38888889e-3f);
  p = fmaf(p, x, 8.33333333e-3f);
  p = fmaf(p, x, 4.16666667e-2f);
  p = fmaf(p, x, 1.66666667e-1f);
  p = fmaf(p, x, 0.5f);
  return fmaf(p, x * x, x);
}
CFC_FN float __expf(float x) { return cfc_ex2(x * 1.44269504f); }
CFC_FN float __exp10f(float x) { return cfc_ex2(x * 3.32192809f); }

/* ln x = e ln 2 + 2 atanh(s), s = (m - 1) / (m + 1), m from 1/sqrt 2 to sqrt 2. */
CFC_FN float logf(float x)
{
  if (!(x > 0.0f) || x == INFINITY) return x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x;
  int e = 0;
  if (x < FLT_MIN) x *= 8388608.0f, e = -23;
  int bits = __float_as_int(x), shift = (bits - 0x3f3504f3) >> 23;
  float m = __int_as_float(bits - (shift << 23));
  e += shift;
  float f = m - 1.0f, s = __fdiv_rn(f, 2.0f + f), z = s * s;
  float p = fmaf(z, 0.222222222f, 0.285714286f);
  p = fmaf(p, z, 0.4f);
  p = fmaf(p, z, 0.666666667f);
  float half = 0.5f * f * f;
  float tail = fmaf((float)e, 1.42860677e-6f, s * fmaf(z, p, half));
  return fmaf((float)e, 0.693145752f, f - (half - tail));
}
CFC_FN float log2f(float x)
{
  if (!(x > 0.0f) || x == INFINITY) return logf(x);
  if (x > 0.5f && x < 2.0f) return logf(x) * 1.44269504f;   /* lg2's error is absolute here */
  return cfc_lg2(x);
}
CFC_FN float log10f(float x) { return logf(x) * 0.434294482f; }
CFC_FN float log1pf(float x)
{
  float u = 1.0f + x;
  if (u == 1.0f) return x;
  return u == INFINITY || !(u > 0.0f) ? logf(u) : logf(u) * __fdiv_rn(x, u - 1.0f);
}
CFC_FN float __logf(float x) { return cfc_lg2(x) * 0.693147181f; }
CFC_FN float __log2f(float x) { return cfc_lg2(x); }
CFC_FN float __log10f(float x) { return cfc_lg2(x) * 0.301029996f; }
CFC_FN float __powf(float x, float y) { return cfc_ex2(y * cfc_lg2(x)); }

/* The exponent of a power must be known far better than to a float: done in double. */
CFC_FN double cfc_log2(double x)
{
  unsigned long long bits = cfc_bits<unsigned long long>(x);
  int e = (int)(bits >> 52) - 1023;
  double m = cfc_bits<double>((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 1.4142135623730951) m *= 0.5, e++;
  double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return e + 2.0 * 1.4426950408889634 * (s + s * z * p);
}
CFC_FN float powf(float x, float y)
{
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x != x || y != y) return NAN;
  float ay = fabsf(y);
  bool whole = ay >= 8388608.0f || truncf(ay) == ay;
  bool odd = whole && ay < 16777216.0f && ((int)ay & 1);
  float ax = fabsf(x), sign = signbit(x) && odd ? -1.0f : 1.0f;
  if (ay == INFINITY) return ax == 1.0f ? 1.0f : (ax > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
  if (ax == 0.0f || ax == INFINITY) return (ax == 0.0f) == (y > 0.0f) ? sign * 0.0f : sign * INFINITY;
  if (x < 0.0f && !whole) return NAN;
  double t = (double)y * cfc_log2((double)ax);
  if (t > 129.0) return sign * INFINITY;
  if (t < -160.0) return sign * 0.0f;
  int n = (int)rintf((float)t);
  double r = (t - n) * 0.6931471805599453, p = 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = (p * r + 1.0) * r + 1.0;
  return sign * cfc_scale((float)p, n);
}

CFC_FN float exp10f(float x) { return powf(10.0f, x); }

/* Sine and cosine: the quarter turn is taken off in double, good for arguments up to about 10^8. */
CFC_FN void cfc_quarter(float x, int *quarter, float *r)
{
  double turns = (double)x * 0.6366197723675814;
  double n;
  asm("cvt.rni.f64.f64 %0, %1;" : "=d"(n) : "d"(turns));
  *r = (float)__nvvm_fma_rn_d(n, -6.123233995736766e-17,
                              __nvvm_fma_rn_d(n, -1.5707963267948966, (double)x));
  *quarter = (int)(long long)n;
}
CFC_FN float cfc_sin(float r)
{
  float z = r * r, p = fmaf(z, 2.75573192e-6f, -1.98412698e-4f);
  p = fmaf(p, z, 8.33333333e-3f);
  p = fmaf(p, z, -1.66666667e-1f);
  return fmaf(p * z, r, r);
}
CFC_FN float cfc_cos(float r)
{
  float z = r * r, p = fmaf(z, 2.48015873e-5f, -1.38888889e-3f);
  p = fmaf(p, z, 4.16666667e-2f);
  p = fmaf(p, z, -0.5f);
  return fmaf(p, z, 1.0f);
}
CFC_FN float sinf(float x)
{
  int q;
  float r;
  cfc_quarter(x, &q, &r);
  float s = q & 1 ? cfc_cos(r) : cfc_sin(r);
  return q & 2 ? -s : s;
}
CFC_FN float cosf(float x)
{
  int q;
  float r;
  cfc_quarter(x, &q, &r);
  float c = q & 1 ? cfc_sin(r) : cfc_cos(r);
  return (q + 1) & 2 ? -c : c;
}
CFC_FN void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
CFC_FN float tanf(float x) { return __fdiv_rn(sinf(x), cosf(x)); }
CFC_FN float __sinf(float x) { return __nvvm_sin_approx_f(x); }
CFC_FN float __cosf(float x) { return __nvvm_cos_approx_f(x); }
CFC_FN float tanhf(float x)
{
  float a = fabsf(x);
  if (a > 10.0f) return copysignf(1.0f, x);
  float e = expm1f(2.0f * a);
  return copysignf(__fdiv_rn(e, e + 2.0f), x);
}
CFC_FN float fmodf(float x, float y)   /* exact for quotients below 2^53 */
{
  double q;
  asm("cvt.rzi.f64.f64 %0, %1;" : "=d"(q) : "d"((double)x / (double)y));
  float r = (float)((double)x - q * (double)y);
  return copysignf(r, x);
}
CFC_FN float hypotf(float x, float y)
{
  return (float)__nvvm_sqrt_rn_d((double)x * x + (double)y * y);
}

/* ---- double: the exact ones ---------------------------------------------------------------------------------------------------- */

CFC_FN double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
CFC_FN double fabs(double x) { return __builtin_fabs(x); }
CFC_FN double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
CFC_FN double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
CFC_FN double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
CFC_FN double floor(double x) { return __nvvm_floor_d(x); }
CFC_FN double ceil(double x) { return __nvvm_ceil_d(x); }
CFC_FN double trunc(double x) { return __nvvm_trunc_d(x); }
CFC_FN bool isnan(double x) { return x != x; }
CFC_FN bool isinf(double x) { return fabs(x) == (double)INFINITY; }
CFC_FN bool isfinite(double x) { return fabs(x) < (double)INFINITY; }
CFC_FN double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
CFC_FN double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }

/* The names of C++'s <cmath>, for float arguments. */
CFC_FN float sqrt(float x) { return sqrtf(x); }
CFC_FN float fabs(float x) { return fabsf(x); }
CFC_FN float abs(float x) { return fabsf(x); }
CFC_FN double abs(double x) { return fabs(x); }
CFC_FN float exp(float x) { return expf(x); }
CFC_FN float log(float x) { return logf(x); }
CFC_FN float pow(float x, float y) { return powf(x, y); }
CFC_FN float sin(float x) { return sinf(x); }
CFC_FN float cos(float x) { return cosf(x); }
CFC_FN float tanh(float x) { return tanhf(x); }
CFC_FN float floor(float x) { return floorf(x); }
CFC_FN float ceil(float x) { return ceilf(x); }
CFC_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
CFC_FN float fmin(float a, float b) { return fminf(a, b); }
CFC_FN float fmax(float a, float b) { return fmaxf(a, b); }
CFC_FN float min(float a, float b) { return fminf(a, b); }
CFC_FN float max(float a, float b) { return fmaxf(a, b); }
CFC_FN double min(double a, double b) { return fmin(a, b); }
CFC_FN double max(double a, double b) { return fmax(a, b); }
CFC_FN float rsqrt(float x) { return rsqrtf(x); }

/* ---- half ------------------------------------------------------------------------------------------------------------------------- */

#include "half_for_clang.h"

/* ---- printf and assert -------------------------------------------------------------------------------------------------------------- */

/* clang makes a call of vprintf of it, if it may know printf: no -ffreestanding. */
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void __assertfail(const char *what, const char *file, unsigned line,
                                        const char *function, size_t char_size);

#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, 1))
#endif

/* ---- the host's names, so that kernels' files may have a launch or a call of it compiled away ----------------------------------------- */

typedef int cudaError_t;
typedef struct cfc_stream *cudaStream_t;
enum { cudaSuccess = 0 };

#endif
