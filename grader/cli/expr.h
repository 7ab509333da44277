/* A C integer expression over t, evaluated for one lane: banks wavefronts --expr '(t*33+5)*4'. */
#ifndef EXPR_H
#define EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Evaluates text with t as given, in 64-bit signed arithmetic.  Knows numbers (decimal, 0x hex,
 * 0 octal), t, parentheses, and C's operators with C's precedence: ?: || && | ^ & == != < <= >
 * >= << >> + - * / % and unary - + ~ !.  The part that ?:, && or || leaves out is checked for
 * grammar only.  False on any error; `why` then names the column (from 1) and what is
 * wrong there. */
bool expr_eval(const char *text, int64_t t, int64_t *value, char *why, size_t size);

#endif
