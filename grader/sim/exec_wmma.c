/* wmma.load, wmma.store, wmma.mma: what nvcuda::wmma compiles to.
 *
 * Fragments are laid out as in exec_mma.c, which is how the machine code of compute capability 9.0
 * has them; where a fragment has more registers than elements (f16 A and B), they repeat.  Accesses
 * are counted as ptxas makes them (seen in its code for sm_90):
 *
 *   A or B of 16 bits, .shared                       ldmatrix, with .trans where needed, up to x4
 *   A or B of 8 bits, .shared, k side by side        ldmatrix
 *   other A and B                                    a register, or where its elements do not lie
 *                                                    side by side an element, at a time
 *   accumulators, by rows                            two elements at a time
 *   accumulators, by columns                         32 bits at a time (f16: turned by movmatrix)
 *
 * A generic pointer is not a shared one here either: say so with a __shared__ array in sight. */
#include <stdlib.h>
#include <string.h>

#include "mma.h"
#include "rows.h"

enum { MAX_LINE = 32, MAX_LINES = 32, ADDRESS_ROW = 0, DATA_ROW = 256 };

/* Lines of the tile in memory: rows, or columns. */
struct tile {
  struct mma m;                /* shape and types */
  enum mma_part part;
  bool by_columns, rows_of_16; /* rows_of_16: ldmatrix */
  bool turned;                 /* f16 accumulators by columns */
  uint8_t bytes;               /* of an element */
  uint8_t run;                 /* elements an access moves */
  uint8_t unique, regs;        /* registers that differ; registers of the fragment */
  uint8_t lines, length;       /* of the tile; elements of a line */
  uint8_t in_word;             /* 1; of elements below a byte: how many one word, then taken for an
                                  element, holds */
  sim_ref base, stride, reg[8];
  bool wide;                   /* a 64-bit base */
  uint64_t offset;
};

struct place { unsigned line, at; };

/* Element e of lane l's register r. */
static struct place element(const struct tile *t, unsigned r, unsigned l, unsigned e)
{
  const struct mma *m = &t->m;
  unsigned g = l / 4, q = l % 4, each = t->bytes >= 4 ? 1 : 4 / t->bytes, row, col;
  if (t->part == MMA_A) {
    unsigned blocks = m->m / 8u;
    row = g + 8 * (r % blocks);
    col = r / blocks * 4 * each + q * each + e;
  } else if (t->part == MMA_B) {
    unsigned blocks = m->k / (4 * each);
    row = r % blocks * 4 * each + q * each + e;
    col = g + 8 * (r / blocks);
  } else {
    unsigned s = each == 2 ? r : r / 2, blocks = m->m / 8u;
    row = g + 8 * (s % blocks);
    col = 8 * (s / blocks) + 2 * q + (each == 2 ? e : r % 2);
  }
  return t->by_columns ? (struct place){col, row} : (struct place){row, col};
}

/* ---- one access after another ------------------------------------------------------------------- */

/* Where lane l's part of access n begins; which lanes take part. */
static uint32_t access_place(const struct tile *t, unsigned n, unsigned l, struct place *p)
{
  if (t->rows_of_16) {
    unsigned across = t->length * t->bytes / 16u, total = t->lines / 8u * across;
    unsigned j = n * 4 + l / 8;
    *p = (struct place){0, 0};
    if (j < total)
      *p = (struct place){j / across * 8 + l % 8, j % across * 16 / t->bytes};
    return total - n * 4 >= 4 ? SIM_FULL : (1u << (total - n * 4) * 8) - 1;
  }
  if (t->turned) {             /* as if rows and columns were exchanged */
    unsigned blocks = t->m.m / 8u;
    *p = (struct place){8 * (n / blocks) + l / 4, 8 * (n % blocks) + 2 * (l % 4)};
    return SIM_FULL;
  }
  unsigned each = t->bytes >= 4 ? 1 : 4u / t->bytes;
  if (t->run > each) *p = element(t, 2 * n, l, 0);   /* two registers side by side */
  else *p = element(t, n * t->run / each, l, n * t->run % each);
  return SIM_FULL;
}

static unsigned accesses(const struct tile *t)
{
  unsigned elements = t->lines * t->length / SIM_LANES;
  if (t->rows_of_16) return (t->lines / 8u * (t->length * t->bytes / 16u) + 3) / 4;
  return elements / t->run;
}

/* The base and the stride, the same in all lanes. */
static bool start(struct warp *w, const struct sim_inst *i, const struct tile *t, uint64_t *base,
                  uint32_t *stride)
{
  uint32_t differ = 0;
  const u32_row *ld = SIM_ROW(u32_row, t->stride);
  for (int l = 1; l < SIM_LANES; l++) {
    differ |= ld[l] ^ ld[0];
    if (t->wide) differ |= SIM_ROW(u64_row, t->base)[l] != SIM_ROW(u64_row, t->base)[0];
    else differ |= SIM_ROW(u32_row, t->base)[l] ^ SIM_ROW(u32_row, t->base)[0];
  }
  *stride = ld[0] / t->in_word;
  *base = t->wide ? SIM_ROW(u64_row, t->base)[0] + t->offset
                  : (uint32_t)(SIM_ROW(u32_row, t->base)[0] + t->offset);
  if (differ)
    fault_note(w, i, 0, SIM_FAULT_BOUNDS, true,
               "the lanes give different addresses or strides: %s moves one tile for the whole warp, "
               "so both must be the same in all 32 lanes", ptx_op_text((enum ptx_op)i->ptx->op));
  return !differ;
}

typedef uint8_t image[MAX_LINES][MAX_LINE * 8];

/* All accesses; memory to the image, or the image to memory. */
static bool move_tile(struct warp *w, const struct sim_inst *i, const struct tile *t, image img,
                      enum access_kind kind)
{
  uint64_t base;
  uint32_t stride;
  if (!start(w, i, t, &base, &stride)) return false;
  u64_row *address = SIM_ROW(u64_row, ADDRESS_ROW | SIM_IN_FRAME);
  uint8_t *data = SIM_ROW(uint8_t, DATA_ROW | SIM_IN_FRAME);
  for (unsigned n = 0; n < accesses(t); n++) {
    struct place p[SIM_LANES];
    uint32_t left = 0;
    for (unsigned l = 0; l < SIM_LANES; l++) {
      left = access_place(t, n, l, &p[l]);
      address[l] = base + ((uint64_t)p[l].line * stride + p[l].at) * t->bytes;
      if (kind == ACCESS_STORE)
        memcpy(data + 8 * l, &img[p[l].line][p[l].at * t->bytes], i->width);
    }
    struct span s;
    for (bool fresh = true; left; fresh = false) {
      uint32_t now = access_span(w, i, left, fresh, kind, &s);
      if (!now) return false;
      left &= ~now;
      for (; now; now &= now - 1) {
        unsigned l = first_lane(now);
        uint8_t *here = &img[p[l].line][p[l].at * t->bytes];
        if (kind == ACCESS_STORE) memcpy(s.base + s.rel[l], here, i->width);
        else memcpy(here, s.base + s.rel[l], i->width);
      }
    }
  }
  return true;
}

/* Registers to the image or back. */
static void move_registers(struct warp *w, const struct tile *t, image img, bool load)
{
  unsigned each = t->bytes >= 4 ? 1 : 4u / t->bytes, row = t->bytes == 8 ? 8 : 4;
  for (unsigned r = 0; r < (load ? t->regs : t->unique); r++) {
    uint8_t *reg = SIM_ROW(uint8_t, t->reg[r]);
    for (unsigned l = 0; l < SIM_LANES; l++)
      for (unsigned e = 0; e < each; e++) {
        struct place p = element(t, r % t->unique, l, e);
        uint8_t *in = &img[p.line][p.at * t->bytes], *out = reg + l * row + e * t->bytes;
        memcpy(load ? out : in, load ? in : out, t->bytes);
      }
  }
}

HANDLER(wmma_load)
{
  if (!warp_whole(w, i, exec)) return;
  image img;
  if (move_tile(w, i, i->extra, img, ACCESS_LOAD)) move_registers(w, i->extra, img, true);
}

HANDLER(wmma_store)
{
  if (!warp_whole(w, i, exec)) return;
  image img;
  move_registers(w, i->extra, img, false);
  move_tile(w, i, i->extra, img, ACCESS_STORE);
}

HANDLER(wmma_mma)
{
  if (warp_whole(w, i, exec)) mma_run(w, i->extra);
}

/* ---- lowering ------------------------------------------------------------------------------- */

static const struct shape { uint16_t mod; uint8_t m, n, k; const char *types; } shapes[] = {
    {PTX_M_M16N16K16, 16, 16, 16, "hbi"}, {PTX_M_M32N8K16, 32, 8, 16, "hbi"},
    {PTX_M_M8N32K16, 8, 32, 16, "hbi"},   {PTX_M_M16N16K8, 16, 16, 8, "t"},
    {PTX_M_M8N8K4, 8, 8, 4, "d"},          {PTX_M_M8N8K32, 8, 8, 32, "4"},
    {PTX_M_M8N8K128, 8, 8, 128, "1"},
};

static const struct shape *find_shape(struct lowering *l)
{
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    if (ptx_has(l->in, (enum ptx_mod)shapes[k].mod)) return &shapes[k];
  lower_refuse(l, "the simulator does not run wmma of this shape");
  return NULL;
}

static const uint16_t allowed[] = {
    M(A), M(B), M(C), M(D), M(SYNC), M(ROW), M(COL), M(M16N16K16), M(M32N8K16), M(M8N32K16),
    M(M16N16K8), M(M8N8K4), M(M8N8K32), M(M8N8K128), M(XOR), M(AND), M(POPC), M(GLOBAL), M(SHARED), M(SHARED_CTA), M(SATFINITE), M(RN), 0};

/* How many registers PTX gives a fragment. */
static unsigned registers(const struct mma *m, enum mma_part part)
{
  if ((part == MMA_A || part == MMA_B) && m->atype == PTX_T_F16) return 8;
  return mma_regs(m, part);
}

static struct tile *new_tile(struct lowering *l, const struct shape *sh, enum mma_part part)
{
  const struct ptx_inst *in = l->in;
  struct tile *t = calloc(1, sizeof *t);
  if (!t) abort();
  l->out->extra = t;
  unsigned type = in->types[0];
  t->part = part;
  t->m = (struct mma){.m = sh->m, .n = sh->n, .k = sh->k, .atype = (uint8_t)type,
                      .btype = (uint8_t)type, .ctype = (uint8_t)type, .dtype = (uint8_t)type};
  bool of_ab = part == MMA_A || part == MMA_B;
  unsigned bits = ptx_type_bits((enum ptx_type)type);
  t->in_word = bits < 8 ? (uint8_t)(32 / bits) : 1;
  t->bytes = type == PTX_T_TF32 || bits < 8 ? 4 : (uint8_t)(bits / 8);
  t->by_columns = ptx_has(in, PTX_M_COL);
  unsigned rows = part == MMA_B ? sh->k : sh->m, cols = part == MMA_A ? sh->k : sh->n;
  t->lines = (uint8_t)(t->by_columns ? cols : rows);
  t->length = (uint8_t)((t->by_columns ? rows : cols) / t->in_word);
  bool k_together = (part == MMA_A) != t->by_columns;
  bool shared = ptx_has(in, PTX_M_SHARED) || ptx_has(in, PTX_M_SHARED_CTA);
  t->rows_of_16 = of_ab && shared && (t->bytes == 2 || (t->bytes == 1 && k_together));
  if (of_ab) t->run = t->bytes < 4 && k_together ? 4 / t->bytes : 1;
  else if (t->bytes == 2) t->turned = t->by_columns, t->run = 2;
  else t->run = t->bytes == 4 && !t->by_columns ? 2 : 1;
  t->unique = (uint8_t)mma_regs(&t->m, part);
  t->regs = (uint8_t)registers(&t->m, part);
  return t;
}

static void lower_tile(struct lowering *l, bool load)
{
  const struct ptx_inst *in = l->in;
  struct sim_inst *s = l->out;
  const struct shape *sh = find_shape(l);
  if (!sh || !lower_only(l, allowed)) return;
  enum mma_part part = !load                   ? MMA_D
                       : ptx_has(in, PTX_M_A) ? MMA_A
                       : ptx_has(in, PTX_M_B) ? MMA_B : MMA_C;
  unsigned type = in->types[0];
  bool sum = part == MMA_C || part == MMA_D;
  char family = mma_family(type);
  bool fits = sum ? type == PTX_T_F32 || type == PTX_T_F16 || type == PTX_T_S32 || type == PTX_T_F64
                  : family && strchr(sh->types, family);
  if (in->ntypes != 1 || !fits) {
    lower_refuse(l, "the simulator does not run it with these types");
    return;
  }
  struct tile *t = new_tile(l, sh, part);
  if (!mma_operand(l, &t->m, load ? MMA_D : part, t->regs, &in->operands[load ? 0 : 1], t->reg)) return;
  lower_memory(l, &in->operands[load ? 1 : 0], t->in_word);
  if (l->failed) return;
  t->base = s->a;
  t->wide = s->flags & SIM_MEM_WIDE_ADDRESS;
  t->offset = s->imm;
  t->stride = in->noperands > 2 ? lower_source(l, &in->operands[2], 32)
                                : lower_const(l, t->length * t->in_word, 32);
  s->a = ADDRESS_ROW | SIM_IN_FRAME;
  s->more[0] = DATA_ROW | SIM_IN_FRAME;
  s->imm = 0;
  s->flags |= SIM_MEM_WIDE_ADDRESS;
  s->elements = 1;
  s->small[0] = 8;   /* bytes of a lane in the row of data */
  s->width = t->rows_of_16 ? 16 : (uint8_t)(t->run * t->bytes);
  s->op = !load ? MODEL_STORE : MODEL_LOAD;
  if (t->rows_of_16) {
    unsigned total = t->lines / 8u * (t->length * t->bytes / 16u);
    s->op = total >= 4 ? MODEL_LDMATRIX_X4 : total == 2 ? MODEL_LDMATRIX_X2 : MODEL_LDMATRIX_X1;
  }
  s->run = load ? wmma_load : wmma_store;
}

static void lower_load(struct lowering *l) { lower_tile(l, true); }
static void lower_store(struct lowering *l) { lower_tile(l, false); }

/* .f32.f32 alone: A and B are f16. */
static void lower_wmma_mma(struct lowering *l)
{
  const struct ptx_inst *in = l->in;
  const struct shape *sh = find_shape(l);
  if (!sh || !lower_only(l, allowed)) return;
  struct mma *m = calloc(1, sizeof *m);
  if (!m) abort();
  l->out->extra = m;
  *m = (struct mma){.m = sh->m, .n = sh->n, .k = sh->k, .saturate = ptx_has(in, PTX_M_SATFINITE),
                    .exclusive = ptx_has(in, PTX_M_XOR), .dtype = in->types[0], .atype = PTX_T_F16, .btype = PTX_T_F16,
                    .ctype = in->types[in->ntypes - 1]};
  if (in->ntypes == 4) {
    m->atype = in->types[1];
    m->btype = in->types[2];
  }
  char family = mma_family(m->atype);
  if ((in->ntypes != 2 && in->ntypes != 4) || in->noperands != 4 || !family ||
      !strchr(sh->types, family) || !mma_types_fit(m)) {
    lower_refuse(l, "the simulator does not run wmma of this shape and these types");
    return;
  }
  static const enum mma_part order[] = {MMA_D, MMA_A, MMA_B, MMA_C};
  sim_ref *const regs[] = {m->d, m->a, m->b, m->c};
  for (unsigned k = 0; k < 4; k++)
    if (!mma_operand(l, m, order[k], registers(m, order[k]), &in->operands[k], regs[k])) return;
  l->out->run = wmma_mma;
}

const struct sim_form sim_forms_wmma[] = {
    FORM_ANY(WMMA_LOAD, lower_load),
    FORM_ANY(WMMA_STORE, lower_store),
    FORM_ANY(WMMA_MMA, lower_wmma_mma),
    {.op = PTX_OPS},
};
