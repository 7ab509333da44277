/* Device printf: every conversion of C, one lane after the other, into a capped text.  And the
 * message of a failed assert. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { CONVERSION_COST = 8 << 10 };   /* in bytes that a step moves: most conversions are of C */

static void put(struct runner *t, const char *text, size_t n)
{
  size_t limit = t->sim->options.printf_limit;
  if (t->nprinted + n > limit) {
    n = limit > t->nprinted ? limit - t->nprinted : 0;
    t->printed_cut = true;
  }
  if (!n) return;
  if (t->nprinted + n + 1 > t->printed_room) {
    size_t room = 2 * (t->nprinted + n) + 256;
    char *more = realloc(t->printed, room);
    if (!more) {
      t->printed_cut = true;
      return;
    }
    t->printed = more;
    t->printed_room = room;
  }
  memcpy(t->printed + t->nprinted, text, n);
  t->nprinted += n;
}

/* A string of the kernel's, at most `size - 1` characters of it. */
static const char *text_at(struct warp *w, unsigned lane, uint64_t address, char *out, size_t size)
{
  uint64_t room = 0;
  const uint8_t *at = address ? access_host(w, lane, address, &room) : NULL;
  if (!at) return "(null)";
  size_t n = 0;
  while (n < room && n < size - 1 && at[n]) {
    out[n] = (char)at[n];
    n++;
  }
  out[n] = 0;
  return out;
}

/* One conversion starting after '%'.  Returns the characters used, 0 when it is none. */
static size_t convert(struct warp *w, const struct sim_inst *i, unsigned lane, const char *f,
                      uint64_t *args, bool *bad)
{
  char spec[40] = "%", out[1200], string[1024];
  size_t n = 0, s = 1;
  int value[2], nvalues = 0;
  uint64_t room;
  struct runner *t = w->runner;
  (void)i;
#define NEXT(type, size, name)                                                                 \
  type name = 0;                                                                               \
  do {                                                                                         \
    *args = (*args + (size) - 1) / (size) * (size);                                              \
    uint8_t *at_ = access_host(w, lane, *args, &room);                                           \
    if (!at_ || room < (size)) *bad = true;                                                     \
    else memcpy(&name, at_, (size));                                                            \
    *args += (size);                                                                           \
  } while (0)
  while (f[n] && strchr("-+ #0", f[n]) && s < 8) spec[s++] = f[n++];
  for (int part = 0; part < 2; part++) {
    if (part && f[n] != '.') break;
    if (part) spec[s++] = f[n++];
    if (f[n] == '*') {
      NEXT(int, 4, star);
      value[nvalues] = star > 1000 ? 1000 : star < -1000 ? -1000 : star;
      s += (size_t)snprintf(spec + s, 8, "%d", value[nvalues++]);
      n++;
    } else {
      int number = 0, digits = 0;
      while (f[n] >= '0' && f[n] <= '9' && digits < 4) {
        number = number * 10 + (f[n++] - '0');
        digits++;
      }
      if (number > 1000) number = 1000;
      if (digits) s += (size_t)snprintf(spec + s, 8, "%d", number);
    }
  }
  size_t length = n;
  while (f[n] && strchr("hljztL", f[n])) n++;
  bool wide = n > length && (f[length] == 'l' || f[length] == 'j' || f[length] == 'z' ||
                             f[length] == 't');
  unsigned half = n > length && f[length] == 'h' ? (n - length == 2 ? 2 : 1) : 0;
  char c = f[n];
  int len;
  switch (c) {
  case '%':
    put(t, "%", 1);
    return n + 1;
  case 'd': case 'i': {
    int64_t v;
    if (wide) {
      NEXT(int64_t, 8, v64);
      v = v64;
    } else {
      NEXT(int32_t, 4, v32);
      v = half == 2 ? (int8_t)v32 : half ? (int16_t)v32 : v32;
    }
    snprintf(spec + s, 5, "ll%c", c);
    len = snprintf(out, sizeof out, spec, (long long)v);
    break;
  }
  case 'u': case 'x': case 'X': case 'o': {
    uint64_t v;
    if (wide) {
      NEXT(uint64_t, 8, v64);
      v = v64;
    } else {
      NEXT(uint32_t, 4, v32);
      v = half == 2 ? (uint8_t)v32 : half ? (uint16_t)v32 : v32;
    }
    snprintf(spec + s, 5, "ll%c", c);
    len = snprintf(out, sizeof out, spec, (unsigned long long)v);
    break;
  }
  case 'c': {
    NEXT(int32_t, 4, v);
    snprintf(spec + s, 3, "c");
    len = snprintf(out, sizeof out, spec, v);
    break;
  }
  case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A': {
    NEXT(double, 8, v);
    snprintf(spec + s, 3, "%c", c);
    len = snprintf(out, sizeof out, spec, v);
    break;
  }
  case 'p': {
    NEXT(uint64_t, 8, v);
    len = snprintf(out, sizeof out, "0x%llx", (unsigned long long)v);
    break;
  }
  case 's': {
    NEXT(uint64_t, 8, v);
    snprintf(spec + s, 3, "s");
    len = snprintf(out, sizeof out, spec, text_at(w, lane, v, string, sizeof string));
    break;
  }
  default: return 0;
  }
#undef NEXT
  warp_charge(w, CONVERSION_COST);
  if (len > 0) put(t, out, (size_t)len < sizeof out ? (size_t)len : sizeof out - 1);
  return n + 1;
}

static bool print_lane(struct warp *w, const struct sim_inst *i, unsigned lane)
{
  char format[2048];
  uint64_t args = call_argument(w, i, lane, 1);
  text_at(w, lane, call_argument(w, i, lane, 0), format, sizeof format);
  bool bad = false;
  warp_charge(w, CONVERSION_COST);
  for (const char *f = format; *f && !bad;) {
    const char *percent = strchr(f, '%');
    size_t plain = percent ? (size_t)(percent - f) : strlen(f);
    put(w->runner, f, plain);
    f += plain;
    if (!*f) break;
    size_t used = convert(w, i, lane, f + 1, &args, &bad);
    if (!used) put(w->runner, "%", 1);
    f += 1 + used;
  }
  return !bad;
}

void exec_vprintf(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  for (uint32_t m = exec; m; m &= m - 1) {
    unsigned lane = first_lane(m);
    /* Nothing more is kept: a flood need not be written to be thrown away. */
    bool full = w->runner->nprinted >= w->runner->sim->options.printf_limit;
    bool ok = full || print_lane(w, i, lane);
    w->runner->printed_cut |= full;
    call_result(w, i, lane, ok ? 0 : (uint64_t)-1);
  }
}

void exec_assertfail(struct warp *w, const struct sim_inst *i, uint32_t exec)
{
  unsigned lane = first_lane(exec);
  char message[128], file[128], function[128];
  const char *m = text_at(w, lane, call_argument(w, i, lane, 0), message, sizeof message);
  const char *f = text_at(w, lane, call_argument(w, i, lane, 1), file, sizeof file);
  unsigned line = (unsigned)call_argument(w, i, lane, 2);
  const char *g = text_at(w, lane, call_argument(w, i, lane, 3), function, sizeof function);
  fault_note(w, i, lane, SIM_FAULT_TRAP, true, "the assertion `%s` failed in %s (%s:%u)", m, g, f,
             line);
}
