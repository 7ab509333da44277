/* Rows of accesses as tab-separated text with a header: banks wavefronts --tsv. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/model.h"

/* Prices every row of text and writes "id<TAB>wavefronts" lines to out; for global.load and
 * global.store the number is sectors.  Columns are found by the header's names: id, op, width,
 * mask, lane0..lane31; others are ignored.  Cells of lanes that do not take part may be empty.
 * text may be changed.  False at the first bad row, with one line in `why` that names line and
 * column, what was expected and what was found; nothing has been written to out then. */
bool rows_price(char *text, size_t length, FILE *out, char *why, size_t size);

/* Numbers as people write them: all of text[0..length) or false.  Addresses are decimal or 0x
 * hexadecimal, masks hexadecimal with or without 0x and at most 32 bits. */
bool rows_address(const char *text, size_t length, uint64_t *value);
bool rows_mask(const char *text, size_t length, uint32_t *value);

/* What is wrong with one address of an access, worded for a user; false when all is well. */
bool rows_misaligned(const struct access *a, unsigned *lane, char *why, size_t size);

#endif
