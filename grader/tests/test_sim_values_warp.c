/* What lanes do together, under full and partial member masks. */
#include "sim_values.h"

/* shfl, in the words of the PTX ISA; arg: 0 up, 1 down, 2 bfly, 3 idx. */
static void shfl(struct lane_values *v)
{
  unsigned lane = v->lane, bval = v->b & 31, cval = v->c & 31, segmask = v->c >> 8 & 31;
  int max_lane = (int)((lane & segmask) | (cval & ~segmask & 31)), min_lane = (int)(lane & segmask);
  int j = 0;
  bool p = false;
  switch (v->arg) {
  case 0: j = (int)lane - (int)bval; p = j >= max_lane; break;
  case 1: j = (int)lane + (int)bval; p = j <= max_lane; break;
  case 2: j = (int)(lane ^ bval); p = j <= max_lane; break;
  default: j = min_lane | (int)(bval & ~segmask & 31); p = j <= max_lane; break;
  }
  if (!p) j = (int)lane;
  v->q = p;
  if (!(v->active >> j & 1)) v->skip = true;   /* from a lane that does not take part */
  else v->d = v->wa[j];
}
/* What the CUDA intrinsics write: widths 32, 16 and 8. */
#define WIDTH(name, c_)                                                                        \
  static void name(struct lane_values *v)                                                      \
  {                                                                                            \
    v->c = (c_);                                                                                \
    shfl(v);                                                                                   \
  }
WIDTH(width_8, v->arg ? 0x181f : 0x1800)
WIDTH(width_16, v->arg ? 0x101f : 0x1000)
WIDTH(width_32, v->arg ? 0x1f : 0)

static uint32_t ballot(const struct lane_values *v)
{
  uint32_t r = 0;
  for (unsigned l = 0; l < 32; l++) r |= (uint32_t)(v->active >> l & 1 && v->wa[l]) << l;
  return r;
}
REF(vote_ballot, ballot(v))
REF(vote_ballot_not, v->active & ~ballot(v))
REF(vote_all, ballot(v) == v->active)
REF(vote_any, ballot(v) != 0)
REF(vote_uni, ballot(v) == 0 || ballot(v) == v->active)
REF(vote_all_not, ballot(v) == 0)
REF(active, v->active)

static uint32_t peers(const struct lane_values *v)
{
  uint32_t r = 0;
  for (unsigned l = 0; l < 32; l++) r |= (uint32_t)(v->active >> l & 1 && v->wa[l] == v->a) << l;
  return r;
}
REF(match_any, peers(v))
static void match_all(struct lane_values *v)
{
  v->q = peers(v) == v->active;
  v->d = v->q ? v->active : 0;
}

/* arg: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor; 8: signed. */
static void redux(struct lane_values *v)
{
  bool first = true;
  for (unsigned l = 0; l < 32; l++) {
    if (!(v->active >> l & 1)) continue;
    uint64_t x = v->arg & 8 ? (uint64_t)SX(v->wa[l], 32) : ZX(v->wa[l], 32);
    if (first) v->d = x;
    else switch (v->arg & 7) {
    case 0: v->d += x; break;
    case 1: v->d = (int64_t)x < (int64_t)v->d ? x : v->d; break;
    case 2: v->d = (int64_t)x > (int64_t)v->d ? x : v->d; break;
    case 3: v->d &= x; break;
    case 4: v->d |= x; break;
    default: v->d ^= x; break;
    }
    first = false;
  }
}

/* The elected lane may be any member; this simulator takes the lowest, as the hardware is seen to. */
static void elect(struct lane_values *v)
{
  v->d = (uint64_t)__builtin_ctz(v->active);
  v->q = v->lane == v->d;
}

REF(laneid, v->lane)
REF(lanemask_eq, 1u << v->lane)
REF(lanemask_lt, (1u << v->lane) - 1)
REF(lanemask_le, (2ull << v->lane) - 1)
REF(lanemask_gt, ~((2ull << v->lane) - 1))
REF(lanemask_ge, ~((1ull << v->lane) - 1))
REF(zero, 0)
REF(one, 1)
REF(thirty_two, 32)
REF(blocks, 24)

static const struct value_row rows[] = {
#define MODE(mode, n, c8, c16, c32)                                                            \
  {"wp=wss", "shfl.sync." mode ".b32 D|Q,A,B,C,%M", shfl, n},                                    \
  {"w=wss", "shfl.sync." mode ".b32 D,A,B,C,%M", shfl, n},                                       \
  {"wp=ws", "shfl.sync." mode ".b32 D|Q,A,B," c8 ",%M", width_8, n},                             \
  {"w=ws", "shfl.sync." mode ".b32 D,A,B," c16 ",%M", width_16, n},                              \
  {"w=ws", "shfl.sync." mode ".b32 D,A,B," c32 ",%M", width_32, n}
    MODE("up", 0, "0x1800", "0x1000", "0"), MODE("down", 1, "0x181f", "0x101f", "31"),
    MODE("bfly", 2, "0x181f", "0x101f", "31"), MODE("idx", 3, "0x181f", "0x101f", "31"),
    {"w=p", "vote.sync.ballot.b32 D,A,%M", vote_ballot},
    {"w=p", "vote.sync.ballot.b32 D,!A,%M", vote_ballot_not},
    {"p=p", "vote.sync.all.pred D,A,%M", vote_all}, {"p=p", "vote.sync.any.pred D,A,%M", vote_any},
    {"p=p", "vote.sync.uni.pred D,A,%M", vote_uni},
    {"p=p", "vote.sync.all.pred D,!A,%M", vote_all_not},
    {"w=w", "activemask.b32 D", active},
    {"w=m", "match.any.sync.b32 D,A,%M", match_any}, {"w=k", "match.any.sync.b32 D,A,%M", match_any},
    {"w=K", "match.any.sync.b64 D,A,%M", match_any},
    {"wp=k", "match.all.sync.b32 D|Q,A,%M", match_all},
    {"wp=K", "match.all.sync.b64 D|Q,A,%M", match_all},
    {"w=k", "match.all.sync.b32 D,A,%M", match_all},
    {"w=w", "redux.sync.add.u32 D,A,%M", redux, 0}, {"w=w", "redux.sync.min.u32 D,A,%M", redux, 1},
    {"w=w", "redux.sync.max.u32 D,A,%M", redux, 2}, {"w=w", "redux.sync.add.s32 D,A,%M", redux, 8},
    {"w=w", "redux.sync.min.s32 D,A,%M", redux, 9}, {"w=w", "redux.sync.max.s32 D,A,%M", redux, 10},
    {"w=w", "redux.sync.and.b32 D,A,%M", redux, 3}, {"w=w", "redux.sync.or.b32 D,A,%M", redux, 4},
    {"w=w", "redux.sync.xor.b32 D,A,%M", redux, 5},
    {"wp=w", "elect.sync D|Q,%M", elect},
    {"w=w", "mov.u32 D,%laneid", laneid}, {"w=w", "mov.u32 D,%lanemask_eq", lanemask_eq},
    {"w=w", "mov.u32 D,%lanemask_lt", lanemask_lt}, {"w=w", "mov.u32 D,%lanemask_le", lanemask_le},
    {"w=w", "mov.u32 D,%lanemask_gt", lanemask_gt}, {"w=w", "mov.u32 D,%lanemask_ge", lanemask_ge},
    {"w=w", "mov.u32 D,%tid.x", laneid}, {"w=w", "mov.u32 D,%tid.y", zero},
    {"w=w", "mov.u32 D,%ntid.x", thirty_two}, {"w=w", "mov.u32 D,%ntid.z", one},
    {"w=w", "mov.u32 D,%nctaid.x", blocks}, {"w=w", "mov.u32 D,%nctaid.y", one},
    {"w=w", "mov.u32 D,%ctaid.z", zero}, {"w=w", "mov.u32 D,%warpid", zero},
};
const struct value_table values_warp = {"warp", rows, sizeof rows / sizeof *rows};
