/* Feeding any text at all to the reader and to the simulator: what the fuzzers run, and what
 * test_fuzz.c runs again on every find that was kept. */
#ifndef TEST_FEED_H
#define TEST_FEED_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the text, prints every instruction and operand of it, frees it.  False: not PTX. */
bool feed_ptx(const char *text, size_t length);

/* Reads it, loads it, launches its first entries, 2 blocks of 48 threads each, with a buffer for
 * each parameter the size of a pointer, and small budgets.  False: it was not PTX, or no module
 * that the simulator takes.  Aborts when a budget was not kept. */
bool feed_sim(const char *text, size_t length);

#endif
