/* ptx_inst -> sim_inst, once, at load: every operand becomes a row reference, every form of an
 * instruction a handler.
 *
 * Which form: the tables of forms.def are searched for the op and its types; an instruction that
 * none of them takes is an error that names its line, so nothing runs that is not understood.
 * Constants are pooled; rows that hold shared addresses are filled in at launch, since each kernel
 * lays its shared variables out for itself. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SIM_FORMS(name) extern const struct sim_form sim_forms_##name[];
#include "forms.def"
#undef SIM_FORMS

static const struct sim_form *const tables[] = {
#define SIM_FORMS(name) sim_forms_##name,
#include "forms.def"
#undef SIM_FORMS
};

/* ---- errors ------------------------------------------------------------------------------------ */

void lower_refuse(struct lowering *l, const char *format, ...)
{
  if (l->failed) return;
  l->failed = true;
  struct ptx_error *e = l->error;
  e->line = l->in->line;
  const struct ptx_module *m = l->sim->module;
  uint32_t file = l->in->author_file;
  e->source_line = l->in->author_line;
  snprintf(e->source_file, sizeof e->source_file, "%s",
           e->source_line && file < m->nfiles ? m->files[file] : "");
  char text[200];
  ptx_print(l->func->ptx, l->in, text, sizeof text);
  va_list args;
  va_start(args, format);
  char why[280];
  vsnprintf(why, sizeof why, format, args);
  va_end(args);
  snprintf(e->text, sizeof e->text, "%s: %s", text, why);
}

/* ---- constants ---------------------------------------------------------------------------------- */

enum { LANE_ROWS = 6 };   /* laneid and five lane masks open the pool */

static uint32_t pool_room(struct sim *sim, size_t bytes)
{
  if (sim->nconsts + bytes > sim->consts_room) {
    size_t room = sim->consts_room ? 2 * sim->consts_room : 16384;
    uint8_t *more = aligned_alloc(64, room);
    if (!more) abort();
    if (sim->nconsts) memcpy(more, sim->consts, sim->nconsts);
    free(sim->consts);
    sim->consts = more;
    sim->consts_room = room;
  }
  uint32_t at = (uint32_t)sim->nconsts;
  sim->nconsts += bytes;
  return at;
}

static void fill_row(uint8_t *row, uint64_t value, unsigned bits)
{
  for (int l = 0; l < SIM_LANES; l++) {
    if (bits > 32) {
      ((u64_row *)row)[bits > 64 ? 2 * l : l] = value;
      if (bits > 64) ((u64_row *)row)[2 * l + 1] = 0;
    } else {
      ((u32_row *)row)[l] = (uint32_t)value;
    }
  }
}

static sim_ref new_const(struct sim *sim, uint64_t value, unsigned bits)
{
  uint32_t at = pool_room(sim, bits > 64 ? 512 : bits > 32 ? 256 : 128);
  fill_row(sim->consts + at, value, bits);
  return at | SIM_IN_CONST;
}

sim_ref lower_const(struct lowering *l, uint64_t value, unsigned bits)
{
  struct sim *sim = l->sim;
  if (bits < 32 && bits > 1) value &= (1ull << bits) - 1;
  if (bits <= 32) value = (uint32_t)value;
  if (bits == 1) value = value & 1 ? SIM_FULL : 0;   /* a predicate: a row serves as its mask */
  unsigned size = bits > 64 ? 512 : bits > 32 ? 256 : 128;
  for (size_t k = 0; k < 24; k++) {   /* a short look back: neighbours often share constants */
    size_t back = (k + 1) * size;
    if (back > sim->nconsts) break;
    uint8_t *row = sim->consts + sim->nconsts - back;
    bool same = true;
    for (int n = 0; same && n < SIM_LANES; n++)
      same = bits > 64   ? ((u64_row *)row)[2 * n] == value && ((u64_row *)row)[2 * n + 1] == 0
             : bits > 32 ? ((u64_row *)row)[n] == value
                         : ((u32_row *)row)[n] == (uint32_t)value;
    bool fixed = false;
    for (size_t f = 0; f < sim->nfixes; f++)
      fixed |= sim->fixes[f].at + 512 > sim->nconsts - back;
    if (fixed) break;
    if (same && back >= size && sim->nconsts - back >= LANE_ROWS * 128)
      return (sim_ref)(sim->nconsts - back) | SIM_IN_CONST;
  }
  return new_const(sim, value, bits);
}

/* ---- special registers ---------------------------------------------------------------------------- */

enum {
  W_TID_X, W_TID_Y, W_TID_Z, W_WARPID, W_ROWS,
  B_CTAID_X = 0, B_CTAID_Y, B_CTAID_Z, B_NTID_X, B_NTID_Y, B_NTID_Z, B_NCTAID_X, B_NCTAID_Y,
  B_NCTAID_Z, B_NWARPID, B_ZERO, B_ONE, B_NSMID, B_DYNAMIC, B_TOTAL, B_RESERVED, B_GROUPS,
  B_CLUSTERID_X, B_CLUSTERID_Y, B_CLUSTERID_Z, B_NCLUSTERID_X, B_NCLUSTERID_Y, B_NCLUSTERID_Z,
  B_CLUSTER_CTAID_X, B_CLUSTER_CTAID_Y, B_CLUSTER_CTAID_Z, B_CLUSTER_NCTAID_X, B_CLUSTER_NCTAID_Y,
  B_CLUSTER_NCTAID_Z, B_CLUSTER_CTARANK, B_CLUSTER_NCTARANK, B_ROWS
};
_Static_assert(W_ROWS <= (int)SPECIAL_WARP_ROWS && B_ROWS <= (int)SPECIAL_BLOCK_ROWS, "rows");

/* The block runs on multiprocessor 0 of the H200's 132. */
bool special_ref(enum ptx_special s, sim_ref *ref, unsigned *bits)
{
  static const struct { uint8_t s, base, row; } rows[] = {
      {PTX_S_TID_X, SIM_IN_WARP, W_TID_X}, {PTX_S_TID_Y, SIM_IN_WARP, W_TID_Y},
      {PTX_S_TID_Z, SIM_IN_WARP, W_TID_Z}, {PTX_S_WARPID, SIM_IN_WARP, W_WARPID},
      {PTX_S_CTAID_X, SIM_IN_BLOCK, B_CTAID_X}, {PTX_S_CTAID_Y, SIM_IN_BLOCK, B_CTAID_Y},
      {PTX_S_CTAID_Z, SIM_IN_BLOCK, B_CTAID_Z}, {PTX_S_NTID_X, SIM_IN_BLOCK, B_NTID_X},
      {PTX_S_NTID_Y, SIM_IN_BLOCK, B_NTID_Y}, {PTX_S_NTID_Z, SIM_IN_BLOCK, B_NTID_Z},
      {PTX_S_NCTAID_X, SIM_IN_BLOCK, B_NCTAID_X}, {PTX_S_NCTAID_Y, SIM_IN_BLOCK, B_NCTAID_Y},
      {PTX_S_NCTAID_Z, SIM_IN_BLOCK, B_NCTAID_Z}, {PTX_S_NWARPID, SIM_IN_BLOCK, B_NWARPID},
      {PTX_S_CLUSTERID_X, SIM_IN_BLOCK, B_CLUSTERID_X},
      {PTX_S_CLUSTERID_Y, SIM_IN_BLOCK, B_CLUSTERID_Y},
      {PTX_S_CLUSTERID_Z, SIM_IN_BLOCK, B_CLUSTERID_Z},
      {PTX_S_NCLUSTERID_X, SIM_IN_BLOCK, B_NCLUSTERID_X},
      {PTX_S_NCLUSTERID_Y, SIM_IN_BLOCK, B_NCLUSTERID_Y},
      {PTX_S_NCLUSTERID_Z, SIM_IN_BLOCK, B_NCLUSTERID_Z},
      {PTX_S_CLUSTER_CTAID_X, SIM_IN_BLOCK, B_CLUSTER_CTAID_X},
      {PTX_S_CLUSTER_CTAID_Y, SIM_IN_BLOCK, B_CLUSTER_CTAID_Y},
      {PTX_S_CLUSTER_CTAID_Z, SIM_IN_BLOCK, B_CLUSTER_CTAID_Z},
      {PTX_S_CLUSTER_NCTAID_X, SIM_IN_BLOCK, B_CLUSTER_NCTAID_X},
      {PTX_S_CLUSTER_NCTAID_Y, SIM_IN_BLOCK, B_CLUSTER_NCTAID_Y},
      {PTX_S_CLUSTER_NCTAID_Z, SIM_IN_BLOCK, B_CLUSTER_NCTAID_Z},
      {PTX_S_CLUSTER_CTARANK, SIM_IN_BLOCK, B_CLUSTER_CTARANK},
      {PTX_S_CLUSTER_NCTARANK, SIM_IN_BLOCK, B_CLUSTER_NCTARANK},
      {PTX_S_TID_W, SIM_IN_BLOCK, B_ZERO}, {PTX_S_NTID_W, SIM_IN_BLOCK, B_ZERO},
      {PTX_S_CTAID_W, SIM_IN_BLOCK, B_ZERO}, {PTX_S_NCTAID_W, SIM_IN_BLOCK, B_ZERO},
      {PTX_S_CLUSTERID_W, SIM_IN_BLOCK, B_ZERO}, {PTX_S_NCLUSTERID_W, SIM_IN_BLOCK, B_ZERO},
      {PTX_S_CLUSTER_CTAID_W, SIM_IN_BLOCK, B_ZERO},
      {PTX_S_CLUSTER_NCTAID_W, SIM_IN_BLOCK, B_ZERO},
      /* The system's kilobyte of shared memory.  ptxas knows all of these for compute capability 9.0
       * but the last, which it reads from what the driver sets. */
      {PTX_S_RESERVED_SMEM_OFFSET_BEGIN, SIM_IN_BLOCK, B_ZERO},
      {PTX_S_RESERVED_SMEM_OFFSET_0, SIM_IN_BLOCK, B_ZERO},
      {PTX_S_RESERVED_SMEM_OFFSET_END, SIM_IN_BLOCK, B_RESERVED},
      {PTX_S_RESERVED_SMEM_OFFSET_1, SIM_IN_BLOCK, B_GROUPS},
      {PTX_S_SMID, SIM_IN_BLOCK, B_ZERO}, {PTX_S_NSMID, SIM_IN_BLOCK, B_NSMID},
      {PTX_S_DYNAMIC_SMEM_SIZE, SIM_IN_BLOCK, B_DYNAMIC},
      {PTX_S_TOTAL_SMEM_SIZE, SIM_IN_BLOCK, B_TOTAL},
      {PTX_S_AGGR_SMEM_SIZE, SIM_IN_BLOCK, B_TOTAL},
      {PTX_S_LANEID, SIM_IN_CONST, 0}, {PTX_S_LANEMASK_EQ, SIM_IN_CONST, 1},
      {PTX_S_LANEMASK_LE, SIM_IN_CONST, 2}, {PTX_S_LANEMASK_LT, SIM_IN_CONST, 3},
      {PTX_S_LANEMASK_GE, SIM_IN_CONST, 4}, {PTX_S_LANEMASK_GT, SIM_IN_CONST, 5},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (rows[k].s != s) continue;
    *ref = (sim_ref)(rows[k].row * SIM_SPECIAL_ROW) | rows[k].base;
    *bits = 32;
    return true;
  }
  return false;
}

/* Why a special register cannot be read here. */
static const char *special_why(enum ptx_special s)
{
  unsigned bits;
  if (special_ref(s, &(sim_ref){0}, &bits)) return "it has 32 bits";
  if (s >= PTX_S_PM0 && s <= PTX_S_PM7_64) return "performance counters are not simulated";
  if (s >= PTX_S_ENVREG0 && s <= PTX_S_ENVREG31)
    return "registers the driver sets (%envreg) are not simulated, and the barrier of a whole grid "
           "(grid.sync() of cooperative groups) is made of them";
  if (s == PTX_S_RESERVED_SMEM_OFFSET_CAP)
    return "how much shared memory the system may keep at most is not told";
  return "it can be read by mov alone, into a register of its width";
}

void special_fill_warp(struct warp *w)
{
  const uint32_t *dim = w->runner->launch->block;
  for (uint32_t l = 0; l < SIM_LANES; l++) {
    uint32_t t = w->id * SIM_LANES + l;
    u32_row *row = (u32_row *)w->specials + l;
    row[W_TID_X * SIM_LANES] = t % dim[0];
    row[W_TID_Y * SIM_LANES] = t / dim[0] % dim[1];
    row[W_TID_Z * SIM_LANES] = t / dim[0] / dim[1];
    row[W_WARPID * SIM_LANES] = w->id;
  }
}

void special_fill_block(struct block *b)
{
  const struct sim_launch *l = b->warps[0].runner->launch;
  const struct cluster *c = b->cluster;
  uint32_t v[B_ROWS] = {0};
  for (int k = 0; k < 3; k++) {
    v[B_CTAID_X + k] = b->index[k];
    v[B_NTID_X + k] = l->block[k];
    v[B_NCTAID_X + k] = l->grid[k];
    v[B_CLUSTERID_X + k] = b->index[k] / c->dim[k];
    v[B_NCLUSTERID_X + k] = l->grid[k] / c->dim[k];
    v[B_CLUSTER_CTAID_X + k] = b->index[k] % c->dim[k];
    v[B_CLUSTER_NCTAID_X + k] = c->dim[k];
  }
  v[B_CLUSTER_CTARANK] = b->rank;
  v[B_CLUSTER_NCTARANK] = c->n;
  v[B_NWARPID] = b->nwarps;
  v[B_ONE] = 1;
  v[B_NSMID] = 132;
  v[B_DYNAMIC] = l->shared_bytes;
  v[B_TOTAL] = b->shared_bytes;
  v[B_RESERVED] = SIM_SHARED_BASE;
  v[B_GROUPS] = SIM_RESERVED_GROUPS;
  for (int k = 0; k < B_ROWS; k++) fill_row(b->specials + k * SIM_SPECIAL_ROW, v[k], 32);
}

/* ---- operands ----------------------------------------------------------------------------------------- */

static unsigned row_bytes(unsigned bits)
{
  return bits == 1 ? 4 : bits <= 32 ? 128 : bits <= 64 ? 256 : 512;
}

static unsigned reg_bits(const struct lowering *l, uint32_t reg)
{
  return ptx_type_bits(l->func->ptx->regs[reg].type);
}

unsigned lower_bits(struct lowering *l, const struct ptx_operand *o)
{
  return o->kind == PTX_O_REG ? reg_bits(l, o->reg) : 0;
}

unsigned lower_type_bits(const struct lowering *l, unsigned k)
{
  return k < l->in->ntypes ? ptx_type_bits(l->in->types[k]) : 0;
}

static sim_ref shared_const(struct lowering *l, const struct ptx_operand *o, unsigned bits,
                            uint64_t window)
{
  struct sim *sim = l->sim;
  sim_ref ref = new_const(sim, 0, bits);
  struct sim_fix *more = realloc(sim->fixes, (sim->nfixes + 1) * sizeof *more);
  if (!more) abort();
  sim->fixes = more;
  sim->fixes[sim->nfixes++] =
      (struct sim_fix){.at = ref & ~3u, .bits = bits, .symbol = o->symbol, .add = o->imm + window};
  return ref;
}

static uint64_t function_address(const struct sim *sim, const struct ptx_function *f)
{
  for (size_t k = 0; k < sim->module->nfunctions; k++)
    if (sim->module->functions[k] == f) return SIM_FUNCTION_WINDOW + 16 * k;
  return 0;
}

bool lower_entry_param(const struct lowering *l, const struct ptx_symbol *s)
{
  for (size_t k = 0; l->func->ptx->is_entry && k < l->func->ptx->nparams; k++)
    if (l->func->ptx->params[k] == s) return true;
  return false;
}

sim_ref lower_source(struct lowering *l, const struct ptx_operand *o, unsigned bits)
{
  sim_ref ref;
  unsigned special_bits;
  uint64_t value = o->imm;
  switch (o->kind) {
  case PTX_O_REG: {
    unsigned have = reg_bits(l, o->reg);
    if (bits && row_bytes(have) != row_bytes(bits) && !l->failed) {
      l->error->width = true;
      lower_refuse(l, "register %s has %u bits, the instruction takes %u",
                   l->func->ptx->regs[o->reg].name, have, bits);
    }
    return l->func->regs[o->reg];
  }
  case PTX_O_IMM:
    if (o->imm_float == 8 && bits == 32) {
      double d;
      memcpy(&d, &value, 8);
      float f = (float)d;
      value = 0;
      memcpy(&value, &f, 4);
    } else if (o->imm_float == 4 && bits == 64) {
      float f;
      memcpy(&f, &value, 4);
      double d = f;
      memcpy(&value, &d, 8);
    }
    return lower_const(l, value, bits ? bits : 32);
  case PTX_O_SPECIAL:
    if (special_ref((enum ptx_special)o->imm, &ref, &special_bits)) {
      if (bits && bits > 32) lower_refuse(l, "a special register of 32 bits where %u are taken", bits);
      return ref;
    }
    lower_refuse(l, "%s", special_why((enum ptx_special)o->imm));
    return 0;
  case PTX_O_SYMBOL:
    if (o->symbol->space == PTX_SHARED) return shared_const(l, o, bits ? bits : 64, 0);
    if (o->symbol->space == PTX_GLOBAL || o->symbol->space == PTX_CONST)
      return lower_const(l, o->symbol->offset + o->imm, bits ? bits : 64);
    if (o->symbol->space == PTX_PARAM && lower_entry_param(l, o->symbol))
      return lower_const(l, SIM_PARAM_WINDOW + o->symbol->offset + o->imm, bits ? bits : 64);
    lower_refuse(l, "the address of '%s' cannot be taken here", o->symbol->name);
    return 0;
  case PTX_O_FUNCTION:
    return lower_const(l, function_address(l->sim, o->function), bits ? bits : 64);
  default:
    lower_refuse(l, "an operand of a kind that cannot stand here");
    return 0;
  }
}

sim_ref lower_dest(struct lowering *l, const struct ptx_operand *o, unsigned bits)
{
  if (o->kind == PTX_O_SINK) return 0;
  if (o->kind != PTX_O_REG) {
    lower_refuse(l, "the destination must be a register");
    return 0;
  }
  return lower_source(l, o, bits);
}

sim_ref lower_pred(struct lowering *l, const struct ptx_operand *o, uint32_t *flip)
{
  *flip = o->negated ? SIM_FULL : 0;
  return lower_source(l, o, 1);
}

const struct ptx_operand *lower_element(const struct lowering *l, const struct ptx_operand *o,
                                        unsigned k)
{
  return o->kind == PTX_O_VECTOR ? &l->func->ptx->pool[o->first + k] : o;
}

/* [a]: the row in out->a, what is added in out->imm.  A shared symbol is a row of its own. */
void lower_address(struct lowering *l, const struct ptx_operand *o)
{
  struct sim_inst *s = l->out;
  if (o->symbol && !o->has_reg) {
    struct ptx_operand symbol = *o;
    symbol.kind = PTX_O_SYMBOL;
    s->imm = 0;
    s->flags |= SIM_MEM_WIDE_ADDRESS;
    s->a = lower_source(l, &symbol, 64);
    return;
  }
  if (o->has_reg) {
    struct ptx_operand reg = *o;
    reg.kind = PTX_O_REG;
    unsigned bits = reg_bits(l, o->reg);
    if (bits == 64) s->flags |= SIM_MEM_WIDE_ADDRESS;
    if (bits != 64 && bits != 32) lower_refuse(l, "an address must be in a register of 32 or 64 bits");
    s->a = lower_source(l, &reg, bits);
    s->imm = o->imm;
    if (o->symbol) {   /* [symbol + reg] is not PTX */
      lower_refuse(l, "an address of a variable and a register");
    }
    return;
  }
  s->flags |= SIM_MEM_WIDE_ADDRESS;
  s->a = lower_const(l, 0, 64);
  s->imm = o->imm;
}

uint32_t lower_site(struct lowering *l)
{
  struct sim *sim = l->sim;
  if ((sim->nsites & (sim->nsites + 1)) == 0 || !sim->sites) {
    size_t room = 2 * (size_t)sim->nsites + 2;
    struct sim_inst **more = realloc(sim->sites, room * sizeof *more);
    if (!more) abort();
    sim->sites = more;
  }
  sim->sites[sim->nsites] = l->out;
  return sim->nsites++;
}

/* ---- forms ---------------------------------------------------------------------------------------- */

/* Modifiers that change nothing here: hints, and what the types say already. */
static bool idle(unsigned m)
{
  return m == PTX_M_UNI || m == PTX_M_ALIGNED;
}

bool lower_only(struct lowering *l, const uint16_t *allowed)
{
  for (unsigned m = 0; m < PTX_MODS; m++) {
    if (!ptx_has(l->in, (enum ptx_mod)m) || idle(m)) continue;
    bool ok = false;
    for (const uint16_t *a = allowed; *a && !ok; a++) ok = *a == m + 1;
    if (!ok) {
      lower_refuse(l, "the simulator does not run this with .%s", ptx_mod_text((enum ptx_mod)m));
      return false;
    }
  }
  return true;
}

static bool mods_match(const struct ptx_inst *in, const struct sim_form *f)
{
  unsigned wanted = 0, have = 0;
  for (unsigned k = 0; k < 4 && f->mods[k]; k++) {
    if (!ptx_has(in, (enum ptx_mod)(f->mods[k] - 1))) return false;
    if (!idle(f->mods[k] - 1u)) wanted++;
  }
  for (unsigned k = 0; k < PTX_MOD_WORDS; k++) have += (unsigned)__builtin_popcountll(in->mods[k]);
  have -= ptx_has(in, PTX_M_UNI) + ptx_has(in, PTX_M_ALIGNED);
  return wanted == have;
}

static bool mods_present(const struct ptx_inst *in, const struct sim_form *f)
{
  for (unsigned k = 0; k < 4 && f->mods[k]; k++)
    if (!ptx_has(in, (enum ptx_mod)(f->mods[k] - 1))) return false;
  return true;
}

static const struct sim_form *find_form(const struct ptx_inst *in)
{
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const struct sim_form *f = tables[t]; f->op != PTX_OPS; f++) {
      if (f->op != in->op) continue;
      if (f->type && (in->ntypes < 1 || f->type != in->types[0])) continue;
      if (f->type2 && (in->ntypes < 2 || f->type2 != in->types[1])) continue;
      if (f->lower || f->why ? mods_present(in, f) : mods_match(in, f)) return f;
    }
  return NULL;
}

static void lower_plain(struct lowering *l, const struct sim_form *f)
{
  sim_ref *const to[] = {&l->out->d, &l->out->a, &l->out->b, &l->out->c, &l->out->e};
  unsigned type = lower_type_bits(l, 0);
  if (l->in->noperands > 5) lower_refuse(l, "too many operands");
  for (unsigned k = 0; k < l->in->noperands && !l->failed; k++) {
    unsigned bits = f->narrow >> k & 1 ? 32 : f->wide >> k & 1 ? 64 : type;
    const struct ptx_operand *o = &l->in->operands[k];
    *to[k] = k ? lower_source(l, o, bits) : lower_dest(l, o, bits);
  }
  l->out->run = f->run;
}

void lower_guard(struct lowering *l)
{
  if (l->in->guard == PTX_NOREG) return;
  l->out->guard = l->func->regs[l->in->guard];
  l->out->flip = l->in->guard_negated ? SIM_FULL : 0;
}

static void lower_inst(struct lowering *l)
{
  struct sim_inst *s = l->out;
  s->ptx = l->in;
  s->func = l->func;
  s->file = l->in->author_file;
  s->line = l->in->author_line;
  s->site = SIM_NO_SITE;
  s->width = s->elements = 1;
  lower_guard(l);
  const struct sim_form *f = find_form(l->in);
  if (!f) {
    bool known = false;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
      for (const struct sim_form *g = tables[t]; g->op != PTX_OPS; g++) known |= g->op == l->in->op;
    lower_refuse(l, known ? "the simulator does not run this form of %s"
                          : "the simulator does not run %s", ptx_op_text(l->in->op));
    return;
  }
  if (f->why) lower_refuse(l, "%s", f->why);
  else if (f->lower) f->lower(l);
  else lower_plain(l, f);
}

/* ---- functions --------------------------------------------------------------------------------------- */

static uint32_t place_local(struct ptx_symbol *s, uint32_t at)
{
  uint32_t align = s->align ? s->align : 1;
  if (align > 256) align = 256;
  at = (at + align - 1) / align * align;
  s->offset = at;
  uint64_t end = at + s->bytes;
  return end > 1u << 30 ? 1u << 30 : (uint32_t)end;
}

/* Where a lane's own memory has a function's parameters and variables. */
static void lay_out(struct sim_func *f)
{
  struct ptx_function *p = f->ptx;
  uint32_t at = 0;
  if (!p->is_entry)
    for (size_t k = 0; k < p->nparams; k++) at = place_local(p->params[k], at);
  for (size_t k = 0; k < p->nreturns; k++) at = place_local(p->returns[k], at);
  for (size_t k = 0; k < p->nsymbols; k++)
    if (p->symbols[k]->space == PTX_PARAM || p->symbols[k]->space == PTX_LOCAL)
      at = place_local(p->symbols[k], at);
  f->local_bytes = (at + 15) / 16 * 16;
}

static void add_note(struct sim_func *f, uint32_t inst, const char *note)
{
  if (!note || inst >= f->ninsts) return;
  if (!f->notes) f->notes = calloc(f->ninsts, sizeof *f->notes);
  if (!f->notes) abort();
  f->notes[inst] = note;
  f->insts[inst].flags |= SIM_MEM_UNSURE;
}

static void use_plan(struct sim *sim, struct sim_func *f)
{
  for (uint32_t k = 0; k < f->ninsts; k++)
    f->insts[k].issue = (struct sim_issue){.width = f->insts[k].width, .delta = 0};
  if (sim->options.no_fuse) return;
  struct sim_plan *plan = NULL;
  size_t n = sim_plan(sim->module, f->ptx, &plan);
  for (size_t k = 0; k < n; k++) {
    if (plan[k].inst >= f->ninsts) continue;
    struct sim_inst *s = &f->insts[plan[k].inst];
    if (plan[k].generic) {
      add_note(f, plan[k].inst, plan[k].reason);
      continue;
    }
    if (k && plan[k - 1].inst == plan[k].inst) {   /* a vector whose middle nobody needs */
      s->issue.second = plan[k].width;
      s->issue.second_delta = plan[k].delta;
      continue;
    }
    s->issue = (struct sim_issue){.width = plan[k].width, .delta = plan[k].delta,
                                   .lanes = plan[k].lanes};
    if (plan[k].width) s->op = (uint8_t)plan[k].op;
    if (f->unrolled && f->unrolled->notes) add_note(f, plan[k].inst, f->unrolled->notes[plan[k].inst]);
    add_note(f, plan[k].inst, plan[k].reason);
    add_note(f, plan[k].issuer, plan[k].reason);
  }
  free(plan);
}

static bool lower_function(struct sim *sim, struct sim_func *f, struct ptx_error *error)
{
  struct ptx_function *p = f->ptx;
  f->ninsts = (uint32_t)p->ninsts;
  f->insts = calloc(p->ninsts + 1, sizeof *f->insts);
  if (!f->insts) abort();
  for (size_t k = 0; k < p->ninsts; k++) {
    struct lowering l = {.sim = sim, .func = f, .in = &p->insts[k], .out = &f->insts[k],
                         .error = error};
    f->insts[k].from = f->unrolled ? f->unrolled->from[k] : (uint32_t)k;
    lower_inst(&l);
    if (l.failed) return false;
  }
  struct sim_inst *end = &f->insts[p->ninsts];
  end->run = exec_ret;
  end->from = f->ninsts;
  end->func = f;
  end->site = SIM_NO_SITE;
  static const struct ptx_inst nowhere;
  end->ptx = p->ninsts ? &p->insts[p->ninsts - 1] : &nowhere;
  end->file = end->ptx->author_file;
  end->line = end->ptx->author_line;
  lower_origins(f);
  lower_waits(f);
  lower_skipped(f);
  use_plan(sim, f);
  return true;
}

/* Lowers what `kernel` reaches, or everything when it is NULL. */
bool lower_module(struct sim *sim, const struct ptx_function *kernel, struct ptx_error *error)
{
  lower_free(sim);
  struct ptx_module *m = sim->module;
  pool_room(sim, LANE_ROWS * 128);
  u32_row *lanes = (u32_row *)sim->consts;
  for (uint32_t l = 0; l < SIM_LANES; l++) {
    uint32_t eq = 1u << l, lt = eq - 1;
    lanes[l] = l;
    lanes[32 + l] = eq;
    lanes[64 + l] = lt | eq;
    lanes[96 + l] = lt;
    lanes[128 + l] = ~lt;
    lanes[160 + l] = ~(lt | eq);
  }
  sim->nfuncs = m->nfunctions;
  sim->funcs = calloc(m->nfunctions + 1, sizeof *sim->funcs);
  if (!sim->funcs) abort();
  for (size_t k = 0; k < m->nfunctions; k++) {
    struct sim_func *f = &sim->funcs[k];
    f->ptx = f->source = m->functions[k];
    f->index = (uint32_t)k;
    if (f->ptx->has_body && !sim->options.no_fuse) f->unrolled = sim_unroll(m, f->ptx);
    if (f->unrolled) f->ptx = &f->unrolled->function;
    lay_out(f);
    lower_registers(f, !sim->options.no_sharing);
  }
  bool ok = true, *needed = reach_from(m, kernel);
  for (size_t k = 0; ok && k < m->nfunctions; k++) {
    if (!needed[k] || !m->functions[k]->has_body) continue;
    if (m->functions[k]->refused) *error = *m->functions[k]->refused;
    ok = !m->functions[k]->refused && lower_function(sim, &sim->funcs[k], error);
  }
  free(needed);
  return ok;
}

void lower_free(struct sim *sim)
{
  for (size_t k = 0; k < sim->nfuncs; k++) {
    for (uint32_t n = 0; sim->funcs[k].insts && n < sim->funcs[k].ninsts; n++)
      free((void *)(uintptr_t)sim->funcs[k].insts[n].extra);
    free(sim->funcs[k].insts);
    free(sim->funcs[k].notes);
    free(sim->funcs[k].regs);
    free(sim->funcs[k].skipped);
    sim_unrolled_free(sim->funcs[k].unrolled);
  }
  free(sim->funcs);
  free(sim->sites);
  free(sim->consts);
  free(sim->fixes);
  sim->funcs = NULL;
  sim->sites = NULL;
  sim->consts = NULL;
  sim->fixes = NULL;
  sim->nfuncs = sim->nconsts = sim->consts_room = sim->nfixes = 0;
  sim->nsites = 0;
}

void lower_launch(struct sim *sim, uint32_t shared_bytes)
{
  for (size_t k = 0; k < sim->nfixes; k++) {
    struct sim_fix *f = &sim->fixes[k];
    fill_row(sim->consts + f->at, f->symbol->offset + f->add, f->bits);
  }
  uint32_t end = SIM_SHARED_BASE + shared_bytes;
  for (uint32_t k = 0; k < sim->nsites; k++) {
    struct sim_inst *i = sim->sites[k];
    const struct ptx_symbol *s = i->origin;
    i->low = SIM_SHARED_BASE;
    i->high = end;
    if (!s || !s->offset) continue;
    i->low = (uint32_t)s->offset;
    if (s->bytes && s->offset + s->bytes < end) i->high = (uint32_t)(s->offset + s->bytes);
  }
}
