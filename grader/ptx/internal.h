/* What the parts of the reader share.  Nothing here is for users of ptx.h. */
#ifndef PTX_INTERNAL_H
#define PTX_INTERNAL_H

#include "ptx/ptx.h"
#include <setjmp.h>

/* A piece of the PTX text; not terminated. */
struct span {
  const char *s;
  size_t n;
};

enum token_kind {
  T_END,
  T_WORD,      /* add.rn.f32  %r1  $L__BB0_1  %tid.x */
  T_DOT,       /* .reg  .b32  .shared::cta */
  T_INT,
  T_FLOAT,
  T_STRING,    /* text without the quotes */
  T_CHAR       /* one character of punctuation, or << >> <= >= == != && || as two in `punct` */
};

struct token {
  enum token_kind kind;
  struct span text;
  uint32_t line;
  int punct;             /* T_CHAR: 'c', or two characters as 'c' << 8 | 'd' */
  uint64_t value;        /* T_INT, T_FLOAT: bits */
  uint8_t float_bytes;   /* T_FLOAT: 4 or 8 */
  bool is_unsigned;      /* T_INT with U, or too large for signed */
};

#define PAIR(a, b) ((a) << 8 | (b))

/* Names of three kinds do not meet: .reg .b32 %r1<9> takes %r10 to %r18, not %r1. */
enum name_kind { N_NAME, N_LABEL, N_RANGE };

/* What a name stands for. */
enum entity_kind { E_NONE, E_REG, E_REGS, E_RANGE, E_SYMBOL, E_FUNCTION, E_TABLE, E_LABEL };

struct entity {
  enum entity_kind kind;
  uint32_t index;        /* REG, REGS: register; TABLE; LABEL: instruction */
  uint32_t count;        /* REGS: 2 or 4; RANGE: how many; LABEL: its place in labels */
  enum ptx_type type;    /* RANGE */
  uint32_t vector;       /* RANGE of vectors: 2 or 4, else 1 */
  union {
    struct ptx_symbol *symbol;
    struct ptx_function *function;
  };
};

struct scope {
  uint32_t id;
  bool has_ranges;
  size_t first_branch;   /* unresolved uses of labels made in it: from here in reader->branches */
};

struct branch {          /* a label used before all of its scope has been read */
  struct span name;
  uint32_t line;
  bool in_table;         /* target of a table, else imm of an instruction's operand */
  uint32_t index, slot;  /* instruction or table; operand or target */
};

/* A growable array.  Freed by the reader, or copied into the arena by vec_take. */
#define VEC(T)   \
  struct {       \
    T *at;       \
    size_t n, cap; \
  }

struct form;             /* rows.c */

/* A mnemonic once decoded; every instruction that spells it the same way shares it. */
struct mnemonic {
  const char *text;
  enum ptx_op op;
  uint8_t space, vector, ntypes;
  uint8_t types[PTX_TYPES_MAX];
  uint64_t mods[PTX_MOD_WORDS];
  uint32_t forms;        /* which forms of the row allow these modifiers and types */
  struct mnemonic *next;
};

struct names;

struct source_file { char *name; bool system; };
struct ptx_place { uint32_t file, line, column; };
struct author { uint32_t file, line; bool near; };   /* line 0: none */

struct reader {
  const char *text, *end, *at;
  uint32_t line;
  struct token token;                    /* the next one, not yet taken */
  struct ptx_module *module;
  struct ptx_error *error;
  jmp_buf failed;
  bool some;                             /* a body that cannot be read is skipped */

  struct names *names;
  struct scope scopes[PTX_MAX_DEPTH + 2];   /* [0] the module */
  unsigned depth;
  uint32_t next_scope;
  struct mnemonic *mnemonics[256];

  struct ptx_function *function;         /* being read */
  uint64_t declared_registers;
  size_t total_insts;
  uint64_t init_budget;
  bool in_body;
  bool nounroll_module, nounroll_function, nounroll_next;   /* .pragma "nounroll": of what */
  struct ptx_place loc;                  /* the last .loc of the function; line 0: none */
  struct author author;                  /* the author's line it stands for */
  struct author innermost, last_author;  /* the innermost of its chain; that of the last own .loc */
  size_t loc_insts;                      /* instructions before the last .loc */
  uint32_t loc_function;
  struct loc_place *places;              /* loc.c: hashed, a power of two */
  size_t nplaces, places_room;
  bool masked;                           /* the next instruction has a "used_bytes_mask" */
  uint32_t max_loc_file, max_loc_line;   /* largest index a .loc named, and where */

  VEC(struct ptx_reg) regs;
  VEC(struct ptx_inst) insts;
  VEC(struct ptx_operand) pool;
  VEC(struct ptx_label) labels;
  VEC(struct ptx_table) tables;
  VEC(struct ptx_symbol *) symbols;
  VEC(struct branch) branches;
  VEC(struct ptx_symbol *) params;
  VEC(struct ptx_reloc) relocs;
  VEC(uint8_t) bytes;
  VEC(struct ptx_function *) callees;
  VEC(struct ptx_symbol *) module_symbols;
  VEC(struct ptx_function *) functions;
  VEC(struct source_file) files;
  VEC(struct ptx_function *) aliases;    /* pairs: alias, aliasee */
};

_Noreturn void ptx_fail(struct reader *r, uint32_t line, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* loc.c */
void ptx_files_ahead(struct reader *r);
void ptx_read_file(struct reader *r);
void ptx_read_loc(struct reader *r);
void ptx_loc_start(struct reader *r);    /* the text or a function begins: no .loc yet */

/* names.c */
void *ptx_alloc(struct reader *r, size_t count, size_t size);      /* zeroed, in the arena */
char *ptx_text(struct reader *r, struct span s);                   /* a copy in the arena */
void *ptx_vec_grow(struct reader *r, void *at, size_t n, size_t *cap, size_t size);
void *ptx_vec_copy(struct reader *r, const void *at, size_t n, size_t size);
struct names *ptx_names_new(void);
void ptx_names_free(struct names *names);
/* The entity of that name declared in that very scope, or NULL. */
struct entity *ptx_name_in(struct reader *r, uint32_t scope, enum name_kind kind, struct span name);
/* Declares it there; NULL when the scope has one already. */
struct entity *ptx_name_add(struct reader *r, uint32_t scope, enum name_kind kind,
                            struct span name);
/* What the name means here, innermost scope first; registers of a range come to life by this. */
struct entity *ptx_name_find(struct reader *r, struct span name);
uint64_t ptx_hash(struct span s, uint64_t seed);
void ptx_arena_free(struct ptx_arena *arena);

#define vec_push(r, v)                                                                         \
  ((v).n == (v).cap ? (void)((v).at = ptx_vec_grow(r, (v).at, (v).n, &(v).cap, sizeof *(v).at)) \
                    : (void)0,                                                                  \
   (v).at + (v).n++)

/* lex.c */
void ptx_next(struct reader *r);                         /* to the next token */
bool ptx_is(const struct reader *r, int punct);
bool ptx_accept(struct reader *r, int punct);
void ptx_expect(struct reader *r, int punct, const char *where);
bool ptx_is_dot(const struct reader *r, const char *directive);
bool ptx_accept_dot(struct reader *r, const char *directive);
struct span ptx_word(struct reader *r, const char *what);
uint64_t ptx_int(struct reader *r, const char *what, uint64_t most);
bool ptx_equal(struct span s, const char *text);
const char *ptx_shown(const struct token *t, char buffer[64]);   /* for messages */
void ptx_skip_section(struct reader *r);
bool ptx_word_is_register(struct span s);

/* expr.c: a constant expression.  0: an integer in *value; 4 or 8: a float of that many bytes. */
uint8_t ptx_expression(struct reader *r, uint64_t *value);
uint8_t ptx_term(struct reader *r, uint64_t *value);     /* without binary operators */

/* decl.c */
void ptx_read_registers(struct reader *r);
/* .global .const .shared .local .param; the directive itself has been taken. */
void ptx_read_variables(struct reader *r, enum ptx_space space, bool is_extern);
struct ptx_symbol *ptx_read_parameter(struct reader *r, bool prototype);
uint32_t ptx_new_register(struct reader *r, struct span name, const char *suffix,
                          enum ptx_type type);

/* inst.c */
void ptx_read_instruction(struct reader *r);
void ptx_read_table(struct reader *r, struct span name, uint32_t line);
void ptx_resolve_labels(struct reader *r);   /* of the scope about to be closed */

/* read.c: (results) _ (parameters) .noreturn of a .callprototype */
void ptx_read_prototype(struct reader *r, struct ptx_function *f);

/* rows.c */
void ptx_rows_ready(void);
enum ptx_mod ptx_mod_of(struct span s);      /* PTX_MODS when there is none */
enum ptx_type ptx_type_of(struct span s);    /* PTX_NOTYPE when there is none */
int ptx_special_of(struct span s);           /* -1 when there is none */
struct mnemonic *ptx_mnemonic(struct reader *r, struct span text, uint32_t line);
/* Checks operands against the forms the mnemonic allows; fails with what was expected. */
void ptx_check_operands(struct reader *r, const struct mnemonic *m, const struct ptx_inst *i);

/* The types a form allows in a column, as a set of enum ptx_type; 0: it has no such column, or any. */
uint64_t ptx_form_types(enum ptx_op op, unsigned form, unsigned column, bool *optional);

#endif
