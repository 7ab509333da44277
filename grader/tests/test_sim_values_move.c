/* mov: plain, packing and unpacking, immediates. */
#include "sim_values.h"

REF(same, a)
REF(minus_1, ~0ull)
REF(half_of_pi, 0x3ff921fb54442d18)
REF(one, 0x3f800000)
REF(pack_hh, ZX(a, 16) | ZX(b, 16) << 16)
REF(pack_ww, ZX(a, 32) | ZX(b, 32) << 32)
REF(pack_hhhh, ZX(a, 16) | ZX(b, 16) << 16 | ZX(c, 16) << 32 | ZX(e, 16) << 48)
static void unpack_w(struct lane_values *v)
{
  v->d = v->a;
  v->q = v->a >> 16;
}
static void unpack_l(struct lane_values *v)
{
  v->d = v->a;
  v->q = v->a >> 32;
}
static void unpack_4(struct lane_values *v)
{
  v->d = v->a >> 16;
  v->q = v->a >> 48;
}
REF(upper, a >> 32)
REF(swapped, a >> 32 | a << 32)
REF(bytes_back, (a >> 24 & 0xff) | (a >> 8 & 0xff00) | (a << 8 & 0xff0000) | a << 24)
static void through_128(struct lane_values *v)
{
  v->d = v->b;
  v->q = v->a;
}
REF(pack_imm, ZX(a, 16) | 0xfffe0000)
REF(not_a, !a)

static const struct value_row rows[] = {
    {"h=h", "mov.b16 D,A", same}, {"h=h", "mov.u16 D,A", same}, {"h=h", "mov.s16 D,A", same},
    {"w=w", "mov.b32 D,A", same}, {"w=w", "mov.u32 D,A", same}, {"w=w", "mov.s32 D,A", same},
    {"l=l", "mov.b64 D,A", same}, {"l=l", "mov.u64 D,A", same}, {"l=l", "mov.s64 D,A", same},
    {"f=f", "mov.f32 D,A", same}, {"d=d", "mov.f64 D,A", same}, {"p=p", "mov.pred D,A", same},
    {"w=f", "mov.b32 D,A", same}, {"f=w", "mov.b32 D,A", same}, {"d=l", "mov.b64 D,A", same},
    {"p=p", "not.pred D,A", not_a},
    {"w=w", "mov.u32 D,-1", minus_1}, {"h=h", "mov.u16 D,-1", minus_1}, {"l=l", "mov.u64 D,-1", minus_1},
    {"p=p", "mov.pred D,-1", minus_1},
    {"d=d", "mov.f64 D,0d3FF921FB54442D18", half_of_pi}, {"f=f", "mov.f32 D,0f3F800000", one},
    {"f=f", "mov.f32 D,1.0", one}, {"w=f", "mov.b32 D,0f3F800000", one},
    {"w=hh", "mov.b32 D,{A,B}", pack_hh}, {"l=ww", "mov.b64 D,{A,B}", pack_ww},
    {"l=hhhh", "mov.b64 D,{A,B,C,E}", pack_hhhh}, {"d=ww", "mov.b64 D,{A,B}", pack_ww},
    {"d=ff", "mov.b64 D,{A,B}", pack_ww}, {"w=h", "mov.b32 D,{A,-2}", pack_imm},
    {"hh=w", "mov.b32 {D,Q},A", unpack_w}, {"ww=l", "mov.b64 {D,Q},A", unpack_l},
    {"ff=d", "mov.b64 {D,Q},A", unpack_l}, {"hh=l", "mov.b64 {_,D,_,Q},A", unpack_4},
    {"w=l", "mov.b64 {_,D},A", upper},
    {"l=l", ".reg .b32 lo,hi; mov.b64 {lo,hi},A; mov.b64 D,{hi,lo}", swapped},
    {"w=w", ".reg .b8 x0,x1,x2,x3; mov.b32 {x0,x1,x2,x3},A; mov.b32 D,{x3,x2,x1,x0}", bytes_back},
    {"ll=ll", ".reg .b128 all,copy; mov.b128 all,{A,B}; mov.b128 copy,all; mov.b128 {Q,D},copy",
     through_128},
};
const struct value_table values_move = {"move", rows, sizeof rows / sizeof *rows};
