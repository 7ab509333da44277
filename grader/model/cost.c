/* Wavefronts, ideal and sectors of one warp access.
 *
 * The cost of any shared access is a sum over phases, and the cost of a phase is the fullest
 * bank's.  What differs from one operation to the next is one row of a small table: how many
 * lanes a phase holds, and what is counted in a bank (distinct words, or lanes).  Two kinds do
 * not fit a row: wide loads, whose phases may join (rule 3), and atomics without a native form,
 * which loop (rules 8 and 9).
 *
 * Aligned accesses never straddle, so an access of `width` bytes fills `width / 4` neighbouring
 * banks together; counting chunks of max(width, 4) bytes in groups of banks gives the same
 * maximum as counting words in banks, with less work.
 */
#include "model.h"

#include <string.h>

enum { LINE = MODEL_BANKS * MODEL_WORD };   /* bytes of one wavefront */
enum counting { DISTINCT, LANES };

static unsigned min_u(unsigned a, unsigned b) { return a < b ? a : b; }

/* A width the hardware has: the next power of two, at most 16. */
static unsigned chunk_of(uint32_t width)
{
  unsigned chunk = MODEL_WORD;
  while (chunk < width && chunk < 16) chunk *= 2;
  return chunk;
}

/* The fullest group of banks for the lanes of `mask`. */
static unsigned fullest(const struct access *a, uint32_t mask, unsigned chunk, enum counting how)
{
  uint8_t count[MODEL_BANKS] = {0};
  uint64_t seen[MODEL_BANKS][MODEL_LANES];
  unsigned most = 0, groups = LINE / chunk;
  unsigned shift = (unsigned)__builtin_ctz(chunk);
  for (; mask; mask &= mask - 1) {
    uint64_t id = a->addr[__builtin_ctz(mask)] >> shift;
    unsigned group = (unsigned)id & (groups - 1), n = count[group], i = n;
    if (how == DISTINCT)
      for (i = 0; i < n && seen[group][i] != id;) i++;
    if (i < n) continue;
    seen[group][n] = id;
    count[group] = (uint8_t)++n;
    if (n > most) most = n;
  }
  return most;
}

/* Rule 3's test for one distance: every active lane's partner lane ^ distance is inactive or
 * reads the same address. */
static bool pairs(const struct access *a, uint32_t mask, unsigned distance)
{
  for (uint32_t left = mask; left; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left), partner = lane ^ distance;
    if ((mask >> partner & 1) && a->addr[lane] != a->addr[partner]) return false;
  }
  return true;
}

static bool merges(const struct access *a, uint32_t mask)
{
  return pairs(a, mask, 1) || pairs(a, mask, 2);
}

struct sum { unsigned wavefronts, phases; };

static struct sum sum_phases(const struct access *a, uint32_t mask, unsigned chunk, unsigned lanes,
                             enum counting how)
{
  struct sum s = {0, 0};
  uint32_t phase = lanes >= MODEL_LANES ? UINT32_MAX : (1u << lanes) - 1;
  for (unsigned at = 0; at < MODEL_LANES; at += lanes) {
    uint32_t here = mask & (phase << at);
    if (!here) continue;
    s.wavefronts += fullest(a, here, chunk, how);
    s.phases++;
  }
  return s;
}

/* Wavefronts that the bytes of `mask` fill at least: what the hardware calls ideal, where the
 * access does not cost less by merging. */
static unsigned lines_of(uint32_t mask, unsigned chunk)
{
  return ((unsigned)__builtin_popcount(mask) * chunk + LINE - 1) / LINE;
}

/* A load of `chunk` bytes by the lanes of `mask`, with rule 3. */
static struct sum load(const struct access *a, uint32_t mask, unsigned chunk, bool *merged)
{
  unsigned lanes = LINE / chunk;
  *merged = chunk > MODEL_WORD && merges(a, mask);
  return sum_phases(a, mask, chunk, *merged ? 2 * lanes : lanes, DISTINCT);
}

/* The load of one round.  Where rule 3 would join phases and leave more than one wavefront, these
 * loops were recorded without the joining (plots/data/h200/atomics64.tsv, all 258 rows). */
static struct sum round_load(const struct access *a, uint32_t waiting, unsigned chunk)
{
  bool merged;
  struct sum s = load(a, waiting, chunk, &merged);
  if (merged && s.wavefronts > 1) s = sum_phases(a, waiting, chunk, LINE / chunk, DISTINCT);
  return s;
}

/* Rules 8 and 9: a round loads what the waiting lanes need, then compares and swaps (two
 * wavefronts a phase).  In each phase every bank retires its lowest waiting lane - unless an
 * earlier phase of the same round has just changed that address: then the swap fails and the
 * lane waits.  That last part was found from the recorded 64-bit rows, 15 of 16 of which it gives. */
static void rounds(const struct access *a, unsigned chunk, struct model_cost *c)
{
  unsigned lanes = LINE / chunk, groups = LINE / chunk;
  unsigned shift = (unsigned)__builtin_ctz(chunk);
  for (uint32_t waiting = a->mask; waiting;) {
    struct sum s = round_load(a, waiting, chunk);
    unsigned lines = lines_of(waiting, chunk), phases = 0;
    uint64_t changed[MODEL_LANES];
    unsigned nchanged = 0;
    uint32_t done = 0;
    for (unsigned at = 0; at < MODEL_LANES; at += lanes) {
      uint32_t tried = 0, here = waiting & ((lanes == 32 ? UINT32_MAX : (1u << lanes) - 1) << at);
      unsigned before = nchanged;
      phases += here != 0;
      for (; here; here &= here - 1) {
        unsigned lane = (unsigned)__builtin_ctz(here), i = 0;
        uint64_t id = a->addr[lane] >> shift;
        uint32_t bank = 1u << (id & (groups - 1));
        if (tried & bank) continue;
        tried |= bank;
        while (i < before && changed[i] != id) i++;
        if (i < before) continue;
        changed[nchanged++] = id;
        done |= 1u << lane;
      }
    }
    c->wavefronts += s.wavefronts + 2 * phases;
    c->ideal += min_u(lines, s.wavefronts) + 2 * lines;
    if (waiting == a->mask) c->phases = phases;
    waiting &= ~done;
  }
}

/* Rule 11.  The spans of an access are counted as they lie, aligned or not.  Sectors are
 * kept in a list with the last one found first: neighbouring lanes mostly share it. */
static unsigned sectors(const struct access *a)
{
  uint64_t seen[MODEL_LANES * 2];
  unsigned n = 0;
  for (uint32_t left = a->mask; left; left &= left - 1) {
    uint64_t addr = a->addr[__builtin_ctz(left)];
    unsigned more = (unsigned)(addr % MODEL_SECTOR + (a->width ? a->width : 1) - 1) / MODEL_SECTOR;
    for (unsigned k = 0; k <= more && k < 2; k++) {
      uint64_t sector = addr / MODEL_SECTOR + k;
      unsigned i = n;
      while (i > 0 && seen[i - 1] != sector) i--;
      if (i == 0) seen[n++] = sector;
    }
  }
  return n;
}

static void global(const struct access *a, struct model_cost *c)
{
  unsigned bytes = (unsigned)__builtin_popcount(a->mask) * a->width;
  c->sectors = sectors(a);
  c->ideal = min_u((bytes + MODEL_SECTOR - 1) / MODEL_SECTOR, c->sectors);
  c->phases = 1;
  c->rule = MODEL_RULE_SECTORS;
}

/* The rows of matrix instructions are the addresses of the first 8, 16 or 32 lanes, whatever the
 * mask: the other lanes only receive. */
static uint32_t row_lanes(enum model_op op)
{
  switch (op) {
  case MODEL_LDMATRIX_X1: case MODEL_STMATRIX_X1: return 0xff;
  case MODEL_LDMATRIX_X2: case MODEL_STMATRIX_X2: return 0xffff;
  case MODEL_LDMATRIX_X4: case MODEL_STMATRIX_X4: return 0xffffffff;
  default: return 0;
  }
}

uint32_t model_lanes(const struct access *a)
{
  uint32_t rows = row_lanes(a->op);
  return a->mask && rows ? rows : a->mask;
}

uint32_t model_phase_lanes(const struct access *a)
{
  unsigned chunk = row_lanes(a->op) ? 16 : chunk_of(a->width), lanes = LINE / chunk;
  if (a->op == MODEL_GLOBAL_LOAD || a->op == MODEL_GLOBAL_STORE) return MODEL_LANES;
  if (a->op == MODEL_CP_ASYNC) return 8;
  if (a->op == MODEL_LOAD && chunk > MODEL_WORD && merges(a, a->mask)) return 2 * lanes;
  return lanes;
}

struct model_cost model_cost(const struct access *a)
{
  struct model_cost c = {.exact = true, .rule = MODEL_RULE_NOTHING};
  uint32_t mask = model_lanes(a);
  unsigned chunk = chunk_of(a->width), lanes = LINE / chunk;
  struct sum s = {0, 0};
  unsigned times = 1;
  bool merged;
  if (!mask) return c;
  switch (a->op) {
  case MODEL_GLOBAL_LOAD: case MODEL_GLOBAL_STORE:
    global(a, &c);
    return c;
  case MODEL_ATOM_LOOP: case MODEL_ATOM_LOOP64:
    c.rule = MODEL_RULE_ATOM_ROUNDS;
    rounds(a, chunk, &c);
    return c;
  case MODEL_LOAD:
    s = load(a, mask, chunk, &merged);
    c.rule = merged ? MODEL_RULE_MERGED : chunk > 4 ? MODEL_RULE_PHASES : MODEL_RULE_WORDS;
    break;
  case MODEL_STORE:
    s = sum_phases(a, mask, chunk, lanes, DISTINCT);
    c.rule = chunk > 4 ? MODEL_RULE_PHASES : MODEL_RULE_WORDS;
    break;
  case MODEL_LDMATRIX_X1: case MODEL_LDMATRIX_X2: case MODEL_LDMATRIX_X4:
  case MODEL_STMATRIX_X1: case MODEL_STMATRIX_X2: case MODEL_STMATRIX_X4:
    chunk = 16;
    s = sum_phases(a, mask, chunk, 8, DISTINCT);
    c.rule = MODEL_RULE_ROWS;
    break;
  case MODEL_ATOM_NATIVE:
    s = sum_phases(a, mask, chunk, lanes, LANES);
    c.rule = MODEL_RULE_ATOM_LANES;
    c.exact = chunk <= 8;            /* recorded on 32 bits, and exch on 64 */
    break;
  case MODEL_ATOM_ONE:
    s = sum_phases(a, mask, chunk, lanes, DISTINCT);
    c.rule = MODEL_RULE_ATOM_WORDS;
    break;
  case MODEL_ATOM_CAS:
    s = sum_phases(a, mask, chunk, lanes, LANES);
    times = 2;
    c.rule = MODEL_RULE_ATOM_CAS;
    c.exact = chunk <= 8;            /* recorded on 32 and 64 bits */
    break;
  case MODEL_CP_ASYNC:
    /* Settled for 16 bytes.  For 4 and 8 the same phases of 8 lanes give every recorded stride
     * and the floor of 4, but only 1 of the 8 random rows: those depend on the global side. */
    s = sum_phases(a, mask, chunk, 8, LANES);
    c.rule = MODEL_RULE_ASYNC;
    c.exact = chunk == 16;
    if (!c.exact && s.wavefronts < 4) s.wavefronts = 4;
    break;
  case MODEL_OPS:
    return c;
  }
  c.wavefronts = times * s.wavefronts;
  c.ideal = times * min_u(lines_of(mask, chunk), s.wavefronts);
  c.phases = s.phases;
  return c;
}

/* Banks that `chunk` bytes at `addr` fill, as a set. */
static uint32_t banks_of(uint64_t addr, unsigned chunk)
{
  uint32_t words = (1u << chunk / MODEL_WORD) - 1;
  return words << (addr / MODEL_WORD % MODEL_BANKS);
}

struct model_cost model_cost_async(const struct access *a, const uint64_t from[MODEL_LANES])
{
  struct model_cost c = model_cost(a);
  unsigned chunk = chunk_of(a->width), lanes = LINE / chunk;
  if (a->op != MODEL_CP_ASYNC || !a->mask || chunk == 16) return c;
  uint32_t phase = lanes >= MODEL_LANES ? UINT32_MAX : (1u << lanes) - 1;
  bool settled = true;   /* the global side has no column twice, or one column only */
  c.wavefronts = c.phases = 0;
  for (unsigned at = 0; at < MODEL_LANES; at += lanes) {
    uint32_t waiting = a->mask & (phase << at), all = 0, twice = 0, common = UINT32_MAX;
    c.phases += waiting != 0;
    for (uint32_t left = waiting; left; left &= left - 1) {
      uint32_t of = banks_of(from[__builtin_ctz(left)], chunk);
      twice |= all & of;
      all |= of;
      common &= of;
    }
    settled &= !twice || common == all;
    while (waiting) {
      uint32_t taken = 0, read = 0, done = 0;
      for (uint32_t left = waiting; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t to = banks_of(a->addr[lane], chunk), of = banks_of(from[lane], chunk);
        if (!(taken & to) && !(read & of)) done |= 1u << lane;
        taken |= to;
        read |= of;
      }
      waiting &= ~done;
      c.wavefronts++;
    }
  }
  c.ideal = min_u(lines_of(a->mask, chunk), c.wavefronts);
  c.exact = settled;
  return c;
}

static bool is_power_to_16(uint32_t w)
{
  return w >= 1 && w <= 16 && (w & (w - 1)) == 0;
}

const char *model_access_check(const struct access *a)
{
  uint32_t mask = model_lanes(a);
  if ((unsigned)a->op >= MODEL_OPS) return "there is no such operation";
  switch (a->op) {
  case MODEL_LDMATRIX_X1: case MODEL_LDMATRIX_X2: case MODEL_LDMATRIX_X4:
  case MODEL_STMATRIX_X1: case MODEL_STMATRIX_X2: case MODEL_STMATRIX_X4:
    if (a->width != 16) return "a row of ldmatrix or stmatrix has 16 bytes: width must be 16";
    break;
  case MODEL_CP_ASYNC:
    if (a->width != 4 && a->width != 8 && a->width != 16)
      return "cp.async copies 4, 8 or 16 bytes a lane";
    break;
  case MODEL_ATOM_ONE:
    if (a->width != 4) return "this atomic works on 4 bytes: width must be 4";
    break;
  case MODEL_ATOM_LOOP:
    if (a->width != 2 && a->width != 4) return "this atomic works on 2 or 4 bytes";
    break;
  case MODEL_ATOM_LOOP64:
    if (a->width != 8) return "this atomic works on 8 bytes: width must be 8";
    break;
  case MODEL_ATOM_NATIVE:
    if (a->width != 4 && a->width != 8 && a->width != 16)
      return "a native atomic works on 4 bytes (exch on 8 and 16 too)";
    break;
  case MODEL_ATOM_CAS:
    if (a->width < 2 || !is_power_to_16(a->width))
      return "compare-and-swap works on 2, 4, 8 or 16 bytes";
    break;
  case MODEL_GLOBAL_LOAD: case MODEL_GLOBAL_STORE:
    if (!is_power_to_16(a->width) && a->width != 32)
      return "width must be 1, 2, 4, 8, 16 or (compute capability 10.0) 32 bytes a lane";
    break;
  default:
    if (!is_power_to_16(a->width)) return "width must be 1, 2, 4, 8 or 16 bytes a lane";
  }
  for (uint32_t left = mask; left; left &= left - 1)
    if (a->addr[__builtin_ctz(left)] % a->width)
      return "an address is not a multiple of the width: the hardware faults on it";
  return NULL;
}
