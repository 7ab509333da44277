/* Bytes in frames, one description for both directions: a codec either writes each field or reads
 * it, so a structure's fields are listed once.
 *
 * A reading codec trusts nothing: every length is checked against the bytes that are left before
 * anything is allocated, and after the first wrong one `bad` stays set and all further reads give
 * zeros.  Integers are little-endian as on every machine this runs on; both ends are the same
 * program. */
#ifndef CODEC_H
#define CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codec {
  bool writing, bad;
  unsigned char *data;         /* writing: grows, the caller frees; reading: the frame */
  size_t size, room, at;
};

void codec_raw(struct codec *c, void *bytes, size_t size);
void codec_u32(struct codec *c, uint32_t *x);
void codec_u64(struct codec *c, uint64_t *x);
void codec_size(struct codec *c, size_t *x);
void codec_bool(struct codec *c, bool *x);
void codec_f64(struct codec *c, double *x);

/* A number below `limit`: an enum or an index. */
uint32_t codec_below(struct codec *c, uint32_t x, uint32_t limit);

/* Text in an array of `size`; always terminated after a read. */
void codec_text(struct codec *c, char *text, size_t size);

/* A malloc'ed block with its size; one zero byte more is allocated so that text is terminated. */
void codec_block(struct codec *c, unsigned char **bytes, size_t *size);

/* A count of things of at least `each` bytes in the frame; reading also allocates count * `host`
 * zeroed bytes into *array (NULL when the count is 0). */
void codec_array(struct codec *c, size_t *count, size_t each, void **array, size_t host);

/* Reading: everything was consumed and nothing was wrong. */
bool codec_done(const struct codec *c);

#endif
