/* Functions and variables by name.  For an entry the name a person would type is enough:
 * `transpose` for _Z9transposePKfPfi, geometry::transpose<32> being reached by its last part. */
#include "ptx/ptx.h"

#include <string.h>

struct ptx_function *ptx_find_function(const struct ptx_module *m, const char *name)
{
  for (size_t i = 0; i < m->nfunctions; i++)
    if (!strcmp(m->functions[i]->name, name)) return m->functions[i];
  return NULL;
}

struct ptx_symbol *ptx_find_symbol(const struct ptx_module *m, const char *name)
{
  for (size_t i = 0; i < m->nsymbols; i++)
    if (!strcmp(m->symbols[i]->name, name)) return m->symbols[i];
  return NULL;
}

/* <length><identifier>; NULL when there is none. */
static const char *source_name(const char *p, const char **name, size_t *length)
{
  size_t n = 0;
  if (*p < '1' || *p > '9') return NULL;
  while (*p >= '0' && *p <= '9' && n < 100000) n = n * 10 + (size_t)(*p++ - '0');
  if (strnlen(p, n) < n) return NULL;
  *name = p;
  *length = n;
  return p + n;
}

/* The last plain name of an Itanium-mangled function name:
 * _Z 4copy Pf | _Z 4copy I f E vPT_ | _Z N 3geo 4copy [I .. E] E Pf | _ZL4copy */
bool ptx_plain_name(const char *mangled, const char **name, size_t *length)
{
  const char *p = mangled;
  if (strncmp(p, "_Z", 2) != 0) return false;
  p += 2;
  if (*p == 'L') p++;
  if (*p != 'N') return source_name(p, name, length) != NULL;
  for (p++; *p == 'K' || *p == 'V' || *p == 'r'; p++) {}
  bool found = false;
  while (*p && *p != 'E') {
    const char *next = source_name(p, name, length);
    if (next) {
      found = true;
      p = next;
    } else if (*p == 'L') {
      p++;
    } else if (*p == 'S' && p[1] == 't') {
      p += 2;
    } else {
      break;          /* template arguments and operators: the name before them is the answer */
    }
  }
  return found;
}

struct ptx_function *ptx_find_entry(const struct ptx_module *m, const char *name)
{
  struct ptx_function *found = NULL;
  for (size_t i = 0; i < m->nfunctions; i++)
    if (m->functions[i]->is_entry && !strcmp(m->functions[i]->name, name)) return m->functions[i];
  for (size_t i = 0; i < m->nfunctions; i++) {
    const char *plain;
    size_t length;
    struct ptx_function *f = m->functions[i];
    if (!f->is_entry || !f->has_body || !ptx_plain_name(f->name, &plain, &length)) continue;
    if (strlen(name) != length || memcmp(plain, name, length) != 0) continue;
    if (found) return NULL;
    found = f;
  }
  return found;
}
