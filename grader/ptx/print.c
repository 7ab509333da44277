/* An instruction back to text: what the reader would read again as the same instruction. */
#include "ptx/ptx.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct out {
  char *at;
  size_t size, used;    /* used counts on past the size, as snprintf does */
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  size_t left = o->used < o->size ? o->size - o->used : 0;
  int n = vsnprintf(left ? o->at + o->used : NULL, left, format, args);
  va_end(args);
  if (n > 0) o->used += (size_t)n;
}

static const char *reg_name(const struct ptx_function *f, uint32_t reg)
{
  return reg < f->nregs ? f->regs[reg].name : "?";
}

static void put_offset(struct out *o, uint64_t imm)
{
  if (imm) put(o, "+%" PRId64, (int64_t)imm);
}

static void put_operand(struct out *o, const struct ptx_function *f, const struct ptx_operand *x,
                        unsigned depth)
{
  static const char *const parts[] = { "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1" };
  switch (x->kind) {
  case PTX_O_NONE: break;
  case PTX_O_REG:
    put(o, "%s%s%s", x->negated ? "!" : "", reg_name(f, x->reg), parts[x->part % 7]);
    if (x->reg2 != PTX_NOREG) put(o, "|%s", reg_name(f, x->reg2));
    break;
  case PTX_O_IMM:
    if (x->imm_float == 4) put(o, "0f%08" PRIX32, (uint32_t)x->imm);
    else if (x->imm_float == 8) put(o, "0d%016" PRIX64, x->imm);
    else put(o, "%" PRId64, (int64_t)x->imm);
    break;
  case PTX_O_SPECIAL: put(o, "%s", ptx_special_text((enum ptx_special)x->imm)); break;
  case PTX_O_SYMBOL:
    put(o, "%s", x->symbol->name);
    put_offset(o, x->imm);
    break;
  case PTX_O_FUNCTION: put(o, "%s", x->function->name); break;
  case PTX_O_ADDRESS:
    put(o, "[");
    if (x->has_reg || x->symbol) {
      put(o, "%s", x->has_reg ? reg_name(f, x->reg) : x->symbol->name);
      put_offset(o, x->imm);
    } else {
      put(o, "%" PRId64, (int64_t)x->imm);
    }
    if (x->count) {
      bool list = f->pool[x->first].kind == PTX_O_VECTOR ||
                  f->pool[x->first].kind == PTX_O_SYMBOL;
      put(o, list ? ", " : ", {");
      for (uint32_t i = 0; i < x->count && depth < 4; i++) {
        if (i) put(o, ", ");
        put_operand(o, f, &f->pool[x->first + i], depth + 1);
      }
      if (!list) put(o, "}");
    }
    put(o, "]");
    break;
  case PTX_O_VECTOR:
  case PTX_O_PARAMS:
    put(o, x->kind == PTX_O_VECTOR ? "{" : "(");
    for (uint32_t i = 0; i < x->count && depth < 4; i++) {
      if (i) put(o, ", ");
      put_operand(o, f, &f->pool[x->first + i], depth + 1);
    }
    put(o, x->kind == PTX_O_VECTOR ? "}" : ")");
    break;
  case PTX_O_LABEL: put(o, "%s", x->first < f->nlabels ? f->labels[x->first].name : "?"); break;
  case PTX_O_TABLE: put(o, "%s", x->imm < f->ntables ? f->tables[x->imm].name : "?"); break;
  case PTX_O_SINK:
    put(o, "_");
    if (x->reg2 != PTX_NOREG) put(o, "|%s", reg_name(f, x->reg2));
    break;
  }
}

int ptx_print_operand(const struct ptx_function *f, const struct ptx_operand *x, char *out,
                      size_t size)
{
  struct out o = { out, size, 0 };
  if (size) *out = 0;
  put_operand(&o, f, x, 0);
  return (int)o.used;
}

int ptx_print(const struct ptx_function *f, const struct ptx_inst *i, char *out, size_t size)
{
  struct out o = { out, size, 0 };
  if (size) *out = 0;
  if (i->guard != PTX_NOREG)
    put(&o, "@%s%s ", i->guard_negated ? "!" : "", reg_name(f, i->guard));
  put(&o, "%s", i->mnemonic);
  const char *before = " ";
  for (unsigned k = 0; k < i->noperands; k++) {
    const struct ptx_operand *x = &i->operands[k];
    bool left_out = i->op == PTX_CALL && x->kind == PTX_O_PARAMS && !x->count;
    if (left_out && (k == 0 || i->noperands < 4)) continue;
    put(&o, "%s", before);
    put_operand(&o, f, x, 0);
    before = ", ";
  }
  put(&o, ";");
  return (int)o.used;
}
