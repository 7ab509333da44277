/* See codec.h. */
#include "device/codec.h"

#include <stdlib.h>
#include <string.h>

void codec_raw(struct codec *c, void *bytes, size_t size)
{
  if (c->writing) {
    if (c->bad) return;
    if (size > c->room - c->size) {
      size_t room = c->room ? c->room : 4096;
      while (room - c->size < size) room *= 2;
      unsigned char *data = realloc(c->data, room);
      if (!data) {
        c->bad = true;
        return;
      }
      c->data = data;
      c->room = room;
    }
    if (size) memcpy(c->data + c->size, bytes, size);
    c->size += size;
    return;
  }
  if (c->bad || size > c->size - c->at) {
    c->bad = true;
    if (size) memset(bytes, 0, size);
    return;
  }
  if (size) memcpy(bytes, c->data + c->at, size);
  c->at += size;
}

void codec_u32(struct codec *c, uint32_t *x) { codec_raw(c, x, sizeof *x); }
void codec_u64(struct codec *c, uint64_t *x) { codec_raw(c, x, sizeof *x); }
void codec_f64(struct codec *c, double *x) { codec_raw(c, x, sizeof *x); }

void codec_size(struct codec *c, size_t *x)
{
  uint64_t wide = *x;
  codec_u64(c, &wide);
  if (!c->writing) *x = (size_t)wide;
}

uint32_t codec_below(struct codec *c, uint32_t x, uint32_t limit)
{
  codec_u32(c, &x);
  if (x >= limit) {
    c->bad = true;
    x = 0;
  }
  return x;
}

void codec_bool(struct codec *c, bool *x) { *x = codec_below(c, c->writing ? *x : 0, 2); }

void codec_text(struct codec *c, char *text, size_t size)
{
  uint32_t length = c->writing ? (uint32_t)strnlen(text, size - 1) : 0;
  length = codec_below(c, length, (uint32_t)size);
  codec_raw(c, text, length);
  if (!c->writing) text[length] = 0;
}

void codec_block(struct codec *c, unsigned char **bytes, size_t *size)
{
  codec_size(c, size);
  if (c->writing) {
    codec_raw(c, *bytes, *size);
    return;
  }
  *bytes = NULL;
  if (c->bad || *size > c->size - c->at || !(*bytes = malloc(*size + 1))) {
    c->bad = true;
    *size = 0;
    return;
  }
  codec_raw(c, *bytes, *size);
  (*bytes)[*size] = 0;
}

void codec_array(struct codec *c, size_t *count, size_t each, void **array, size_t host)
{
  codec_size(c, count);
  if (c->writing) return;
  *array = NULL;
  bool fits = !c->bad && *count <= (c->size - c->at) / each;
  if (!fits || (*count && !(*array = calloc(*count, host)))) {
    c->bad = true;
    *count = 0;
  }
}

bool codec_done(const struct codec *c) { return !c->bad && c->at == c->size; }
