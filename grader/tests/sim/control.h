/* Functions with tangled control flow, the same text for the simulator (control.cu -> control.ptx) and
 * for the host (test_sim_control.c).  CONTROL(name) wants `static unsigned name(unsigned x, unsigned i)`:
 * x is data, i the thread. */
#ifdef __CUDACC__
#define FN static __device__ __noinline__
#define INLINE static __device__ __forceinline__
#else
#define FN __attribute__((noinline)) static
#define INLINE static inline
#endif

/* Trip counts that differ from lane to lane. */
INLINE unsigned collatz(unsigned x, unsigned i)
{
  unsigned n = x % 10000 + 1, steps = 0;
  while (n != 1 && steps < 300) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    steps++;
  }
  return steps << 16 ^ n ^ i;
}

INLINE unsigned gcd(unsigned x, unsigned i)
{
  unsigned a = x & 0xffff, b = i * 77 + 1;
  while (b) {
    unsigned r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* Returns from every depth. */
INLINE unsigned nested(unsigned x, unsigned i)
{
  unsigned r = 1;
  if (x & 1) {
    r = r * 3 + i;
    if (x & 2) {
      r ^= x >> 3;
      if (x & 4) {
        if (i & 8) return r + 1;
        r += 5;
      } else if (x & 16) {
        for (unsigned k = 0; k < (x >> 5 & 7); k++) r = r * 31 + k;
      } else {
        return r * 2;
      }
      r += 7;
    } else {
      r -= x & 0xff;
    }
  } else if (i % 3 == 0) {
    r = x / (i + 1);
    if (r > 100) return r % 100;
  } else {
    do r = r * 5 + 1;
    while (r < (x & 0xfff));
  }
  return r ^ 0x55;
}

/* A small machine: a dense switch in a loop. */
INLINE unsigned machine(unsigned x, unsigned i)
{
  unsigned acc = i, pc = 0, code = x, fuel = 60;
  while (fuel--) {
    unsigned op = code >> (pc & 31) & 15;
    pc += 3;
    switch (op) {
    case 0: acc += 1; break;
    case 1: acc ^= x; break;
    case 2: acc = acc << 3 | acc >> 29; break;
    case 3: if (acc & 1) pc += 5; break;
    case 4: acc *= 2654435761u; break;
    case 5: if (pc > 40) return acc; acc -= pc; break;
    case 6: code = code * 1664525u + 1013904223u; break;
    case 7: acc = ~acc; /* fall through */
    case 8: acc += 9; break;
    case 9: pc ^= 2; break;
    case 10: acc = acc / 3; break;
    case 11: return acc ^ pc;
    case 12: acc = acc % 1000003u; continue;
    default: acc += op * op; break;
    }
    acc ^= acc >> 5;
  }
  return acc;
}

/* A jump into the middle of a loop. */
INLINE unsigned duff(unsigned x, unsigned i)
{
  unsigned n = x % 29 + 1, sum = i, rounds = (n + 7) / 8;
  switch (n & 7) {
  case 0: do { sum = sum * 3 + 1; /* fall through */
  case 7: sum += 7;               /* fall through */
  case 6: sum ^= 6;               /* fall through */
  case 5: sum += x;               /* fall through */
  case 4: sum = sum * 5;          /* fall through */
  case 3: sum -= 3;               /* fall through */
  case 2: sum ^= sum >> 7;        /* fall through */
  case 1: sum += 1;
    } while (--rounds > 0);
  }
  return sum;
}

INLINE unsigned out_of_two(unsigned x, unsigned i)
{
  unsigned r = 0;
  for (unsigned a = 1; a < 20; a++)
    for (unsigned b = a; b < 20; b++) {
      if ((a * b + x) % 97 == i % 97) goto found;
      if ((a ^ b) == (x & 15)) continue;
      if (r > 200) break;
      r++;
    }
  return r;
found:
  return r + 1000;
}

/* Calls: recursion, two functions that call each other, results and arguments in memory. */
FN unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
INLINE unsigned recursion(unsigned x, unsigned i) { return fibonacci(x % 11) * 1000 + fibonacci(i % 5); }

FN unsigned ping(unsigned n, unsigned acc);
FN unsigned pong(unsigned n, unsigned acc)
{
  if (n == 0) return acc;
  return n % 5 == 0 ? ping(n - 1, acc * 2) + 1 : ping(n - 1, acc + n);
}
FN unsigned ping(unsigned n, unsigned acc)
{
  if (n == 0) return acc ^ 0xabc;
  if (n & 4) return pong(n - 1, acc + 3);
  return pong(n / 2, acc ^ n);
}
INLINE unsigned two(unsigned x, unsigned i) { return ping(x & 63, i); }

struct bundle { unsigned char tag; unsigned long long big; unsigned part[5]; short small; };
FN struct bundle stir(struct bundle b, unsigned by)
{
  for (unsigned k = 0; k < 5; k++) b.part[k] = b.part[(k + by) % 5] * 3 + by;
  b.big += b.part[0];
  b.tag ^= (unsigned char)by;
  b.small = (short)(b.small - (short)by);
  return b;
}
INLINE unsigned bundles(unsigned x, unsigned i)
{
  struct bundle b = {(unsigned char)x, (unsigned long long)x << 20 | i, {x, i, x ^ i, x + i, 7}, (short)x};
  for (unsigned k = 0; k <= (x & 3); k++) b = stir(b, i + k);
  unsigned r = b.tag + (unsigned)(b.big >> 7) + (unsigned)(int)b.small;
  for (unsigned k = 0; k < 5; k++) r = r * 17 + b.part[k];
  return r;
}

FN unsigned twice(unsigned v) { return v * 2; }
FN unsigned flip(unsigned v) { return ~v; }
FN unsigned fold(unsigned v) { return v ^ v >> 16; }
INLINE unsigned by_pointer(unsigned x, unsigned i)
{
  unsigned (*which[3])(unsigned) = {twice, flip, fold};
  unsigned r = x;
  for (unsigned k = 0; k < 4; k++) r = which[(x >> (2 * k)) % 3](r) + i;
  return r;
}

/* An array of its own, indexed by data. */
INLINE unsigned sorted(unsigned x, unsigned i)
{
  unsigned char a[12];
  for (unsigned k = 0; k < 12; k++) a[k] = (unsigned char)((x + k * (i | 1)) * 2654435761u >> 24);
  for (int k = 1; k < 12; k++) {
    unsigned char v = a[k];
    int at = k;
    while (at > 0 && a[at - 1] > v) {
      a[at] = a[at - 1];
      at--;
    }
    a[at] = v;
  }
  unsigned r = 0;
  for (unsigned k = 0; k < 12; k++) r = r * 33 + a[k];
  return r + a[x % 12];
}

/* Conditions with effects, evaluated only as far as needed. */
FN int bump(unsigned *n, unsigned by)
{
  *n += by;
  return (*n & by) != 0;
}
INLINE unsigned circuits(unsigned x, unsigned i)
{
  unsigned n = x;
  for (unsigned k = 1; k < 6; k++) {
    if ((bump(&n, k) && bump(&n, i)) || (bump(&n, 3 * k) && !bump(&n, 7))) n ^= k << 4;
    else if (!(bump(&n, 5) || bump(&n, x & 15))) break;
  }
  return n;
}

/* Narrow types: signs, wrap-around, and the integer promotions. */
INLINE unsigned narrow(unsigned x, unsigned i)
{
  signed char c = (signed char)x;
  short s = (short)(x >> 8);
  unsigned short u = (unsigned short)(x >> 3);
  long long sum = 0;
  for (int k = 0; k < 9; k++) {
    c = (signed char)(c * 3 + k);
    s = (short)(s + c);
    u = (unsigned short)(u - (unsigned short)s);
    if (c < 0) sum -= s;
    else sum += u / (k + 1);
    if (s > 20000) break;
  }
  return (unsigned)(sum >> 2) ^ (unsigned)sum ^ i;
}

INLINE unsigned wide(unsigned x, unsigned i)
{
  unsigned long long a = (unsigned long long)x * 0x9e3779b97f4a7c15ull + i, b = (a >> 40) | 1;
  unsigned n = 0;
  while (a > 1000 && n < 50) {
    if (a % b > (b >> 1)) a /= 3;
    else a -= a >> 3;
    b = b * 5 + 3;
    if (b > 1ull << 50) b >>= 33;
    n++;
  }
  return (unsigned)a ^ n << 20;
}

/* Floats without a fused multiply-add (compiled so); an iteration that stops early. */
INLINE unsigned floats(unsigned x, unsigned i)
{
  float want = (float)(x & 0xffff) + 1, guess = want;
  unsigned n = 0;
  for (; n < 40; n++) {
    float next = (guess + want / guess) * 0.5f;
    if (next == guess) break;
    guess = next;
  }
  double d = guess, e = (double)i + 0.25;
  while (d > 1.0) d = d > e ? d / (e + 2.0) : d * 0.37 - 0.01;
  union { float f; unsigned u; } bits = {guess};
  return bits.u ^ n ^ (unsigned)(int)(d * 1e6);
}

#define CONTROLS                                                                               \
  CONTROL(collatz) CONTROL(gcd) CONTROL(nested) CONTROL(machine) CONTROL(duff)                  \
  CONTROL(out_of_two) CONTROL(recursion) CONTROL(two) CONTROL(bundles) CONTROL(by_pointer)      \
  CONTROL(sorted) CONTROL(circuits) CONTROL(narrow) CONTROL(wide) CONTROL(floats)
