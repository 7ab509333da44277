/* __half and __half2 for clang: bits in, one PTX instruction, bits out.  Part of cuda_for_clang.h. */
#ifndef HALF_FOR_CLANG_H
#define HALF_FOR_CLANG_H

struct __align__(2) __half_raw { unsigned short x; };
struct __align__(4) __half2_raw { unsigned short x, y; };

#define CFC_ALWAYS __attribute__((always_inline, nodebug))

struct __align__(2) __half {
  unsigned short cfc;
  __half() = default;
  __device__ CFC_ALWAYS __half(float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(cfc) : "f"(f)); }
  __device__ CFC_ALWAYS __half(double f) : __half((float)f) {}
  __device__ CFC_ALWAYS __half(int i) : __half((float)i) {}
  __device__ CFC_ALWAYS __half(__half_raw r) : cfc(r.x) {}
  __device__ CFC_ALWAYS operator float() const
  {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(cfc));
    return f;
  }
};
typedef __half half;

struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __device__ CFC_ALWAYS __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2;

CFC_FN unsigned cfc_word(__half2 h) { return cfc_bits<unsigned>(h); }
CFC_FN __half2 cfc_half2(unsigned w) { return cfc_bits<__half2>(w); }
CFC_FN __half cfc_half(unsigned short b) { return __half(__half_raw{b}); }

CFC_FN __half __float2half(float f) { return __half(f); }
CFC_FN __half __float2half_rn(float f) { return __half(f); }
CFC_FN float __half2float(__half h) { return (float)h; }
CFC_FN __half __int2half_rn(int i)
{
  unsigned short b;
  asm("cvt.rn.f16.s32 %0, %1;" : "=h"(b) : "r"(i));
  return cfc_half(b);
}
CFC_FN int __half2int_rn(__half h)
{
  int i;
  asm("cvt.rni.s32.f16 %0, %1;" : "=r"(i) : "h"(h.cfc));
  return i;
}
CFC_FN __half __ushort_as_half(unsigned short b) { return cfc_half(b); }
CFC_FN unsigned short __half_as_ushort(__half h) { return h.cfc; }
CFC_FN __half2 make_half2(__half a, __half b) { return __half2(a, b); }
CFC_FN __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
CFC_FN __half2 __half2half2(__half a) { return __half2(a, a); }
CFC_FN __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
CFC_FN __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
CFC_FN __half2 __float22half2_rn(float2 f) { return __floats2half2_rn(f.x, f.y); }
CFC_FN float2 __half22float2(__half2 h) { return float2{(float)h.x, (float)h.y}; }
CFC_FN __half __low2half(__half2 h) { return h.x; }
CFC_FN __half __high2half(__half2 h) { return h.y; }
CFC_FN float __low2float(__half2 h) { return (float)h.x; }
CFC_FN float __high2float(__half2 h) { return (float)h.y; }

#define CFC_HALF_BINARY(name, name2, op)                                                         \
  CFC_FN __half name(__half a, __half b)                                                         \
  {                                                                                              \
    unsigned short r;                                                                            \
    asm(op ".f16 %0, %1, %2;" : "=h"(r) : "h"(a.cfc), "h"(b.cfc));                                \
    return cfc_half(r);                                                                          \
  }                                                                                              \
  CFC_FN __half2 name2(__half2 a, __half2 b)                                                     \
  {                                                                                              \
    unsigned r;                                                                                  \
    asm(op ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(cfc_word(a)), "r"(cfc_word(b)));                  \
    return cfc_half2(r);                                                                         \
  }
CFC_HALF_BINARY(__hadd, __hadd2, "add")
CFC_HALF_BINARY(__hsub, __hsub2, "sub")
CFC_HALF_BINARY(__hmul, __hmul2, "mul")
CFC_HALF_BINARY(__hmin, __hmin2, "min")
CFC_HALF_BINARY(__hmax, __hmax2, "max")
#undef CFC_HALF_BINARY

CFC_FN __half __hfma(__half a, __half b, __half c)
{
  unsigned short r;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.cfc), "h"(b.cfc), "h"(c.cfc));
  return cfc_half(r);
}
CFC_FN __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
  unsigned r;
  asm("fma.rn.f16x2 %0, %1, %2, %3;"
      : "=r"(r) : "r"(cfc_word(a)), "r"(cfc_word(b)), "r"(cfc_word(c)));
  return cfc_half2(r);
}
CFC_FN __half __hneg(__half a) { return cfc_half(a.cfc ^ 0x8000); }
CFC_FN __half __habs(__half a) { return cfc_half(a.cfc & 0x7fff); }
CFC_FN __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
CFC_FN bool __hgt(__half a, __half b) { return (float)a > (float)b; }
CFC_FN bool __hlt(__half a, __half b) { return (float)a < (float)b; }
CFC_FN bool __hge(__half a, __half b) { return (float)a >= (float)b; }
CFC_FN bool __hle(__half a, __half b) { return (float)a <= (float)b; }
CFC_FN bool __heq(__half a, __half b) { return (float)a == (float)b; }
CFC_FN bool __hisnan(__half a) { return (a.cfc & 0x7fff) > 0x7c00; }

CFC_FN __half operator+(__half a, __half b) { return __hadd(a, b); }
CFC_FN __half operator-(__half a, __half b) { return __hsub(a, b); }
CFC_FN __half operator*(__half a, __half b) { return __hmul(a, b); }
CFC_FN __half operator/(__half a, __half b) { return __hdiv(a, b); }
CFC_FN __half operator-(__half a) { return __hneg(a); }
CFC_FN __half &operator+=(__half &a, __half b) { return a = a + b; }
CFC_FN __half &operator-=(__half &a, __half b) { return a = a - b; }
CFC_FN __half &operator*=(__half &a, __half b) { return a = a * b; }
CFC_FN __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
CFC_FN __half2 operator-(__half2 a, __half2 b) { return __hsub2(a, b); }
CFC_FN __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }
CFC_FN __half2 &operator+=(__half2 &a, __half2 b) { return a = a + b; }
CFC_FN bool operator<(__half a, __half b) { return __hlt(a, b); }
CFC_FN bool operator>(__half a, __half b) { return __hgt(a, b); }
CFC_FN bool operator==(__half a, __half b) { return __heq(a, b); }

CFC_FN __half2 atomicAdd(__half2 *at, __half2 v)
{
  unsigned r;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(at), "r"(cfc_word(v)) : "memory");
  return cfc_half2(r);
}

#endif
