/* PTX text -> a decoded module.
 *
 * The reader knows the grammar of PTX and the shape of each instruction (one row of ops.def),
 * nothing of memory or of execution.  What it returns is plain data: functions with a flat array
 * of instructions, registers by index, symbols by pointer, branch targets by instruction index,
 * and for every instruction its PTX line and, where .loc gave one, the source line.
 *
 *   ops.def    one row an instruction: X-macro; enum, names, operand shape, docs derive from it
 *   mods.def   one row a modifier (.rn .ftz .volatile .bfly ...) and one a type
 *   specials.def   one row a special register
 *   lex.c      characters -> tokens; constant expressions in expr.c
 *   names.c    the arena, and what each name means in which scope
 *   read.c     the module: directives, parameters, functions; decl.c: registers and variables
 *   loc.c      .file and .loc: the author's line an instruction stands for
 *   rows.c     the table made ready: mnemonic text -> row, modifiers, types, forms that allow them
 *   inst.c     one instruction: guard, mnemonic, operands, checked against its row
 *   print.c    back to text, for messages and tests
 *   spell.c    every instruction a row allows, written down (spell.h)
 *   find.c     a function or variable by name
 *
 * Limits, so that a short hostile text stays cheap: PTX_MAX_*.
 */
#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PTX_MAX_REGISTERS = 1 << 20,   /* declared in one function */
  PTX_MAX_INSTS = 1 << 19,       /* in a module */
  PTX_MAX_FILES = 1 << 16,
  PTX_MAX_DEPTH = 64             /* of { }, of parentheses, of initialiser braces */
};

enum ptx_op {
#define PTX_OP(name, text, shape, mods, types, meaning) PTX_##name,
#include "ops.def"
#undef PTX_OP
  PTX_OPS
};

enum ptx_mod {
#define PTX_MOD(name, text) PTX_M_##name,
#define PTX_TYPE(name, text, bits, kind)
#include "mods.def"
#undef PTX_MOD
#undef PTX_TYPE
  PTX_MODS
};

enum ptx_kind { PTX_BITS, PTX_UNSIGNED, PTX_SIGNED, PTX_FLOAT, PTX_PRED, PTX_OPAQUE };

enum ptx_type {
  PTX_NOTYPE,
#define PTX_MOD(name, text)
#define PTX_TYPE(name, text, bits, kind) PTX_T_##name,
#include "mods.def"
#undef PTX_MOD
#undef PTX_TYPE
  PTX_TYPES
};

enum ptx_special {
#define PTX_SPECIAL(name, text, type) PTX_S_##name,
#include "specials.def"
#undef PTX_SPECIAL
  PTX_SPECIALS
};

enum ptx_space {
  PTX_GENERIC, PTX_REG, PTX_SREG, PTX_CONST, PTX_GLOBAL, PTX_LOCAL, PTX_PARAM, PTX_SHARED
};

/* A variable: module scope (.global, .const, .shared), function scope (.shared, .local), a
 * parameter of a function, or a .param declared inside a call sequence. */
struct ptx_symbol {
  char *name;
  enum ptx_space space;
  enum ptx_type type;       /* of an element */
  uint32_t align;           /* bytes */
  uint64_t bytes;           /* 0 for an extern array: dynamic shared memory */
  bool is_extern;
  uint64_t offset;          /* the parameter's place in its list, in bytes; else for the user */
  uint8_t *init;            /* init_bytes long, the rest is zeros; or NULL: all zeros.  Addresses
                               inside: see relocs */
  uint64_t init_bytes;      /* `bytes` unless the variable is huge and only begun */
  struct ptx_reloc *relocs;
  size_t nrelocs;
  struct ptx_function *function;   /* whose symbol it is; NULL at module scope */
  uint32_t line;            /* PTX line of the declaration */
};

/* Eight bytes of an initialiser that hold the address of a symbol or of a function. */
struct ptx_reloc {
  uint64_t at;              /* byte offset in the initialised variable */
  struct ptx_symbol *symbol;
  struct ptx_function *function;
  uint64_t addend;
  bool generic;             /* generic(symbol) */
};

struct ptx_reg {
  char *name;
  enum ptx_type type;
};

enum ptx_operand_kind {
  PTX_O_NONE,
  PTX_O_REG,        /* reg; negated for !%p */
  PTX_O_IMM,        /* imm: an integer's 64-bit value (the instruction takes the low bits of its
                       type); a float's bits, 32 or 64 of them: see imm_float.  Where the
                       instruction's type is f32 or f64 the literal has that width */
  PTX_O_SPECIAL,    /* special register, imm is enum ptx_special */
  PTX_O_SYMBOL,     /* address of symbol, plus imm */
  PTX_O_FUNCTION,   /* address of function */
  PTX_O_ADDRESS,    /* [reg + imm], [symbol + imm], [imm]; reg or symbol as present.  A tensor's
                       coordinates, [map, {x, y}], are first..first+count-1 of the pool */
  PTX_O_VECTOR,     /* {a, b, ...}: elements first..first+count-1 of the function's operand pool */
  PTX_O_LABEL,      /* imm: index of the target instruction, always below ninsts;
                       first: which of function->labels it was */
  PTX_O_TABLE,      /* brx.idx targets / call prototype targets: index into function->tables */
  PTX_O_PARAMS,     /* (p0, p1, ...) of a call: elements as in VECTOR */
  PTX_O_SINK        /* _; reg2 may still be a predicate: elect.sync _|%p */
};

#define PTX_NOREG UINT32_MAX

struct ptx_operand {
  enum ptx_operand_kind kind;
  bool negated;             /* !%p */
  uint8_t part;             /* .b0 .b1 .b2 .b3 .h0 .h1 of a video instruction: 1..6, else 0 */
  bool has_reg;             /* ADDRESS with a base register */
  uint8_t imm_float;        /* IMM written as a float: 4 (0f), 8 (0d or decimal) else 0 */
  uint32_t reg;             /* index into function->regs */
  uint32_t reg2;            /* the second of a pair %p|%q (setp, shfl); PTX_NOREG when absent */
  uint64_t imm;             /* literal, or byte offset of an address (two's complement) */
  struct ptx_symbol *symbol;
  struct ptx_function *function;
  uint32_t first, count;    /* VECTOR, PARAMS: a range of function->pool */
};

enum { PTX_OPERANDS = 8, PTX_TYPES_MAX = 4, PTX_MOD_WORDS = 6 };

/* A call has three or four operands, whatever was left out in the text: PARAMS results, FUNCTION
 * or REG, PARAMS arguments, and for a call through a register TABLE.  A function whose text ends
 * without ret gets one, so execution cannot run past the last instruction. */
struct ptx_inst {
  uint16_t op;                          /* enum ptx_op */
  uint8_t space;                        /* enum ptx_space, GENERIC when none was written */
  uint8_t vector;                       /* 1, 2, 4 or 8 elements (.v2 ...) */
  uint8_t ntypes, noperands;
  uint8_t types[PTX_TYPES_MAX];         /* enum ptx_type, in the order written */
  uint64_t mods[PTX_MOD_WORDS];         /* set of enum ptx_mod */
  uint32_t guard;                       /* @%p: register index, PTX_NOREG when none */
  bool guard_negated;                   /* @!%p */
  bool masked;                          /* after .pragma "used_bytes_mask ..." */
  bool nounroll;                        /* .pragma "nounroll" stands before it, or governs all */
  bool unfolded;                        /* made by sim_unroll(): a step of a pointer, see fuse_value.c */
  bool silent;                          /* made by sim_unroll(): checked, but counted further on */
  struct ptx_operand operands[PTX_OPERANDS];
  const char *mnemonic;                 /* as written, with all modifiers */
  uint32_t line;                        /* line in the PTX text */
  uint32_t file, source_line;           /* from .loc: index into module->files; line 0: none */
  uint32_t source_column;
  uint32_t author_file, author_line;    /* the author's line it stands for (loc.c); 0: none */
  bool near;                            /* ... or one near it: .loc does not say which */
};

static inline bool ptx_has(const struct ptx_inst *i, enum ptx_mod m)
{
  return i->mods[m / 64] >> (m % 64) & 1;
}

struct ptx_table {                      /* .branchtargets, .calltargets, .callprototype */
  char *name;
  uint32_t *targets;                    /* instruction indices of .branchtargets */
  struct ptx_function **functions;      /* .calltargets */
  size_t count;
  struct ptx_function *prototype;       /* .callprototype: parameters only */
};

struct ptx_label {
  char *name;
  uint32_t at;                          /* instruction index */
};

struct ptx_function {
  char *name;                           /* as in PTX (mangled for C++) */
  bool is_entry, has_body, noreturn;
  struct ptx_symbol **params, **returns;
  size_t nparams, nreturns;
  struct ptx_reg *regs;
  size_t nregs;
  struct ptx_symbol **symbols;          /* .local, .shared and .param declared inside */
  size_t nsymbols;
  struct ptx_inst *insts;
  size_t ninsts;
  struct ptx_operand *pool;             /* elements of vector and parameter-list operands */
  size_t npool;
  struct ptx_label *labels;
  size_t nlabels;
  struct ptx_table *tables;
  size_t ntables;
  uint32_t maxntid[3], reqntid[3];      /* 0: not given */
  uint32_t cluster[3];                  /* .reqnctapercluster; 0: not given */
  struct ptx_error *refused;            /* ptx_read_some: why its body could not be read */
  uint32_t line;
};

struct ptx_module {
  unsigned version_major, version_minor;
  unsigned target;                      /* 90 for sm_90 and sm_90a */
  unsigned address_size;                /* 64 */
  char **files;                         /* index as in .file; files[0] unused */
  size_t nfiles;
  struct ptx_symbol **symbols;          /* module scope, in order of declaration */
  size_t nsymbols;
  struct ptx_function **functions;
  size_t nfunctions;
  struct ptx_arena *arena;              /* owns everything above */
};

struct ptx_error {
  uint32_t line;                        /* line in the PTX text, 1-based */
  uint32_t source_line;                 /* of the last .loc before it, 0 when none */
  char source_file[256];
  char text[512];                       /* what is wrong, what was expected; one line */
  bool width;                           /* a register of another width is needed, no more */
};

/* Decodes `length` bytes of PTX.  NULL on error, with `error` filled in.  Accepts what nvcc 12 and
 * 13 and clang 14 and later write.  Memory is proportional to the text (a declared array of any
 * size costs nothing here).  Free with ptx_free. */
struct ptx_module *ptx_read(const char *text, size_t length, struct ptx_error *error);
/* The same, but a function whose body cannot be read is kept without instructions, `refused`. */
struct ptx_module *ptx_read_some(const char *text, size_t length, struct ptx_error *error);
void ptx_free(struct ptx_module *module);

struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name);
struct ptx_symbol *ptx_find_symbol(const struct ptx_module *module, const char *name);

/* Entry by the name a person would use: exact, or the mangled name of a C++ function of that
 * name (_Z4copyPf for copy, also when templated) if just one matches.  NULL when none
 * or several. */
struct ptx_function *ptx_find_entry(const struct ptx_module *module, const char *name);
/* That name: it begins at *name in the mangled one.  False when it is not mangled. */
bool ptx_plain_name(const char *mangled, const char **name, size_t *length);

/* Whether a file of .file belongs to a toolkit or a compiler: see loc.c. */
bool ptx_system_file(const char *name);

const char *ptx_op_text(enum ptx_op op);
const char *ptx_mod_text(enum ptx_mod mod);
const char *ptx_type_text(enum ptx_type type);
unsigned ptx_type_bits(enum ptx_type type);   /* 1 for pred */
enum ptx_kind ptx_type_kind(enum ptx_type type);

/* Writes one instruction as text, without its line end.  Returns what snprintf would. */
int ptx_print(const struct ptx_function *f, const struct ptx_inst *i, char *out, size_t size);
int ptx_print_operand(const struct ptx_function *f, const struct ptx_operand *o, char *out,
                      size_t size);
const char *ptx_special_text(enum ptx_special special);

/* The rows of ops.def, for a page of documentation: the forms of an instruction, its meaning. */
struct ptx_form {
  const char *shape, *mods, *types;     /* in the language of ops.def */
};
unsigned ptx_form_count(enum ptx_op op);
struct ptx_form ptx_form(enum ptx_op op, unsigned index);
const char *ptx_op_meaning(enum ptx_op op);


#endif
