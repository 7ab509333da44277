/* Numbers of 16 and 8 bits, and tf32: to float and back, exactly and with one rounding.
 *
 * Sums and products of such numbers are computed in float or double.  Where a result could fall
 * between two narrow numbers only after a first rounding, the first one is to odd: it truncates and
 * sets the last bit when anything was lost, so that the second sees on which side of a tie it is. */
#ifndef SIM_NARROW_H
#define SIM_NARROW_H

#include <math.h>
#include <string.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "internal.h"

static inline float narrow_float(uint32_t u)
{
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static inline uint32_t narrow_bits(float f)
{
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

/* ---- f16 and bf16 ------------------------------------------------------------------------------ */

static inline float f16_float(uint16_t h)
{
#ifdef __F16C__
  return _cvtsh_ss(h);
#else
  uint32_t e = h & 0x7c00u, u = (h & 0x7fffu) << 13, sign = (h & 0x8000u) << 16;
  if (e == 0x7c00u) u += (255u - 31) << 23;
  else if (e) u += (127u - 15) << 23;
  else u = narrow_bits((float)(h & 0x3ffu) * 0x1p-24f);
  return narrow_float(u | sign);
#endif
}

/* To nearest, ties to even; NaN to 0x7fff. */
static inline uint16_t float_f16(float f)
{
  if (f != f) return 0x7fff;
#ifdef __F16C__
  return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT);
#else
  uint32_t u = narrow_bits(f), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
  if (u < 0x38800000u)   /* below the normal ones: let an addition round */
    return (uint16_t)(sign | (narrow_bits(narrow_float(u) + 0.5f) - 0x3f000000u));
  return (uint16_t)(sign | ((u + 0xfffu + (u >> 13 & 1) - 0x38000000u) >> 13));
#endif
}

static inline float bf16_float(uint16_t h) { return narrow_float((uint32_t)h << 16); }
static inline uint16_t float_bf16(float f)
{
  uint32_t u = narrow_bits(f);
  return f != f ? 0x7fff : (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

/* The nearest float towards zero, made odd when it is not exact. */
static inline float round_odd(double d)
{
  float f = (float)d;
  if (d != d || (double)f == d) return f;
  uint32_t u = narrow_bits(f);
  if (fabs((double)f) > fabs(d)) u--;
  return narrow_float(u | 1);
}
static inline uint16_t double_f16(double d) { return float_f16(round_odd(d)); }
static inline uint16_t double_bf16(double d) { return float_bf16(round_odd(d)); }

/* n halves; n is a multiple of 8. */
static inline void f16_row(const uint16_t *h, float *f, unsigned n)
{
#ifdef __F16C__
  for (unsigned k = 0; k < n; k += 8)
    _mm256_storeu_ps(f + k, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(h + k))));
#else
  for (unsigned k = 0; k < n; k++) f[k] = f16_float(h[k]);
#endif
}
static inline void bf16_row(const uint16_t *h, float *f, unsigned n)
{
  for (unsigned k = 0; k < n; k++) f[k] = bf16_float(h[k]);
}
static inline void row_f16(const float *f, uint16_t *h, unsigned n)
{
#ifdef __F16C__
  for (unsigned k = 0; k < n; k += 8)
    _mm_storeu_si128((__m128i *)(h + k),
                     _mm256_cvtps_ph(_mm256_loadu_ps(f + k), _MM_FROUND_TO_NEAREST_INT));
  for (unsigned k = 0; k < n; k++) h[k] = (h[k] & 0x7fff) > 0x7c00 ? 0x7fff : h[k];
#else
  for (unsigned k = 0; k < n; k++) h[k] = float_f16(f[k]);
#endif
}

/* ---- eight bits -------------------------------------------------------------------------------- */

/* e4m3 has no infinity: 0x7f is NaN, 0x7e is 448.  e5m2 is the high byte of an f16. */
static inline float e4m3_float(uint8_t v)
{
  unsigned e = v >> 3 & 15, m = v & 7;
  float f = e ? ldexpf((float)(8 + m), (int)e - 10) : (float)m * 0x1p-9f;
  if ((v & 0x7f) == 0x7f) f = narrow_float(0x7fffffffu);
  return v & 0x80 ? -f : f;
}
static inline float e5m2_float(uint8_t v) { return f16_float((uint16_t)(v << 8)); }

#endif
