/* Writing instructions down from their rows in ops.def: what the page of instructions asks the
 * simulator about, and what the tests run.
 *
 * A spelling is one form of a row with a type for each of its columns and at most one alternative of
 * each group of modifiers.  ptx_spell_each goes through all types a form allows, each with the least
 * modifiers and with each further alternative in turn. */
#ifndef PTX_SPELL_H
#define PTX_SPELL_H

#include "ptx/ptx.h"

enum { PTX_SPELL_GROUPS = 20 };

struct ptx_spelling {
  enum ptx_op op;
  unsigned form;
  enum ptx_type types[PTX_TYPES_MAX];    /* of each column; PTX_NOTYPE: left out */
  enum ptx_mod mods[PTX_SPELL_GROUPS];   /* of each group; PTX_MODS: none */
  enum ptx_mod extra;                    /* the alternative beyond the least; PTX_MODS: none */
};

typedef void ptx_spelling_user(void *user, const struct ptx_spelling *s);
void ptx_spell_each(enum ptx_op op, unsigned form, ptx_spelling_user *use, void *user);

/* What the operands name.  The addresses, values and predicates are for the user to set. */
#define PTX_SPELL_REGISTERS                                                                     \
  ".reg .b8 %b<40>; .reg .b16 %h<40>; .reg .b32 %w<40>; .reg .b64 %l<40>; .reg .b128 %q<12>; .reg .pred %p<12>;\n" \
  ".reg .b64 %shared, %generic, %global, %local, %map, %barrier;\n"

/* The text without its ';'.  The rows do not tell how wide every operand is, so there are several
 * ways to write them: number 0, 1, 2 ...; false when there are no more.  ptx_read says which are
 * right. */
bool ptx_spell(const struct ptx_spelling *s, unsigned way, char *out, size_t size);

/* The mnemonic alone: what was chosen. */
void ptx_spell_mnemonic(const struct ptx_spelling *s, char *out, size_t size);

#endif
