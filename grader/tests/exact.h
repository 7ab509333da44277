/* IEEE arithmetic from integers: an oracle that shares nothing with the host's floating point unit.
 *
 * A value is (-1)^neg * m * 2^e, plus less than one unit of m's last place where `sticky` is set.
 * Sums, products, quotients and roots are exact in that sense; exact_round then rounds once. */
#ifndef TEST_EXACT_H
#define TEST_EXACT_H

#include <stdbool.h>
#include <stdint.h>

struct exact {
  enum { EXACT_NUMBER, EXACT_INF, EXACT_NAN } kind;
  bool neg, sticky;
  unsigned __int128 m;         /* 0: zero */
  int e;
};

enum exact_mode { EXACT_RN, EXACT_RZ, EXACT_RM, EXACT_RP };

struct exact exact_f32(uint32_t bits, bool ftz);   /* ftz: a subnormal is a zero of its sign */
struct exact exact_f64(uint64_t bits);
struct exact exact_integer(__int128 v);

struct exact exact_neg(struct exact a);
struct exact exact_add(struct exact a, struct exact b, enum exact_mode mode);   /* mode: sign of 0 */
struct exact exact_mul(struct exact a, struct exact b);
struct exact exact_div(struct exact a, struct exact b);
struct exact exact_sqrt(struct exact a);
/* To an integer, by the mode; infinities and NaN stay. */
struct exact exact_integral(struct exact a, enum exact_mode mode);

/* Bits of the nearest value of 4 or 8 bytes; NaN is 0x7fffffff or 0x7ff8000000000000. */
uint64_t exact_round(struct exact a, unsigned bytes, enum exact_mode mode, bool ftz);
/* Clamped to [least, most]; infinities go to the ends.  a must be an integer. */
__int128 exact_clamp(struct exact a, __int128 least, __int128 most);

#endif
