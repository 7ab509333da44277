/* The result record's memory, and text that is safe to print anywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

void record_free(struct grade_record *r)
{
  for (size_t i = 0; i < r->nexercises; i++) {
    for (size_t k = 0; k < r->exercises[i].ntests; k++) {
      free(r->exercises[i].tests[k].message);
      free(r->exercises[i].tests[k].printed);
    }
    free(r->exercises[i].tests);
  }
  free(r->exercises);
  memset(r, 0, sizeof *r);
}

/* Length of the UTF-8 sequence at s, 0 when it is broken: no overlong forms, surrogates, values
 * past U+10FFFF, nor C1 controls. */
static size_t sequence(const unsigned char *s)
{
  unsigned long code;
  size_t n;
  if (s[0] < 0x80) return 1;
  if (s[0] >= 0xc2 && s[0] <= 0xdf) n = 2, code = s[0] & 0x1f;
  else if (s[0] >= 0xe0 && s[0] <= 0xef) n = 3, code = s[0] & 0x0f;
  else if (s[0] >= 0xf0 && s[0] <= 0xf4) n = 4, code = s[0] & 0x07;
  else return 0;
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (s[i] & 0x3f);
  }
  bool good = (n == 2 && code >= 0xa0) || (n == 3 && code >= 0x800 && code - 0xd800 >= 0x800) ||
              (n == 4 && code >= 0x10000 && code <= 0x10ffff);
  bool bidi = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return good && !bidi ? n : 0;           /* bidi controls reorder the lines of a report */
}

char *record_text(const char *text)
{
  size_t length = strlen(text), n = 0;
  char *out = malloc(length + 1);
  if (!out) {
    fprintf(stderr, "banks: out of memory\n");
    exit(3);
  }
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    size_t bytes = sequence(s);
    if (bytes == 0 || (bytes == 1 && (*s < 32 || *s == 127) && *s != '\n')) {
      out[n++] = *s++ == '\t' ? ' ' : '?';
      continue;
    }
    memcpy(out + n, s, bytes);
    n += bytes;
    s += bytes;
  }
  out[n] = 0;
  return out;
}
