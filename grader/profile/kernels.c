/* See kernels.h.
 *
 * The names are unmangled by the C++ library's own function, looked for at run time: where a CUDA
 * compiler is there is one.  Without it only plain names and mangled ones are known. */
#include "profile/kernels.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 1000, SHOWN = 8 };

typedef char *unmangler(const char *mangled, char *buffer, size_t *length, int *status);

static unmangler *unmangle(void)
{
  static unmangler *f;
  static bool looked;
  if (looked) return f;
  looked = true;
  void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
  if (library) *(void **)&f = dlsym(library, "__cxa_demangle");
  return f;
}

/* "void geo::copy<float>(float*)" -> without the type that it returns: a blank outside of brackets
 * and before the name ends it.  "(anonymous namespace)::" is part of a name. */
static const char *behind_type(const char *s)
{
  const char *from = s;
  int depth = 0;
  for (const char *p = s; *p; p++) {
    if (*p == '(' && depth == 0 && strncmp(p, "(anonymous", 10)) break;
    if (strchr("(<[", *p)) depth++;
    if (strchr(")>]", *p)) depth--;
    if (*p == ' ' && depth == 0) from = p + 1;
  }
  return from;
}

void kernels_name(const struct ptx_function *f, char *to, size_t size)
{
  int status = 1;
  char *full = unmangle() && !strncmp(f->name, "_Z", 2) ? unmangle()(f->name, NULL, NULL, &status)
                                                        : NULL;
  const char *name;
  size_t length;
  if (full && status == 0) snprintf(to, size, "%s", behind_type(full));
  else if (ptx_plain_name(f->name, &name, &length)) snprintf(to, size, "%.*s", (int)length, name);
  else snprintf(to, size, "%s", f->name);
  free(full);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Without blanks, the u of 32u, and const: it may stand before a type or behind it. */
static void normal(const char *from, char *to, size_t size)
{
  size_t n = 0;
  for (const char *p = from; *p && n + 1 < size; p++) {
    if (*p == ' ') continue;
    if (!strncmp(p, "const", 5) && !is_word(p[5]) && (p == from || !is_word(p[-1]))) {
      p += 4;
      continue;
    }
    if (strchr("uUlL", *p) && p > from && isdigit((unsigned char)p[-1])) {
      size_t back = 1;
      while (p - back >= from && isalnum((unsigned char)p[-back])) back++;
      bool digits = true;                 /* the u of 32u, not that of a8u */
      for (const char *q = p - back + 1; q < p; q++) digits &= isdigit((unsigned char)*q) != 0;
      if (digits) continue;
    }
    to[n++] = *p;
  }
  to[n] = 0;
}

/* copy<float> is copy<float,32>, too: the last arguments may have been defaults. */
static bool same(const char *name, const char *wanted)
{
  size_t n = strlen(wanted);
  if (!strcmp(name, wanted)) return true;
  return n > 1 && wanted[n - 1] == '>' && !strncmp(name, wanted, n - 1) && name[n - 1] == ',';
}

/* What a person may leave out: the parameters, then the template's arguments, then the namespaces.
 * `full` is cut up. */
static bool matches(char *full, const char *wanted)
{
  int depth = 0;
  char *open = NULL, *last = full, *angle = NULL;
  for (char *p = full; *p; p++) {
    if (*p == '(' && depth == 0 && strncmp(p, "(anonymous", 10)) {
      open = p;
      break;
    }
    if (*p == '<' && depth == 0) angle = p;
    if (strchr("(<[", *p)) depth++;
    if (strchr(")>]", *p)) depth--;
    if (*p == ':' && depth == 0) {
      last = p + 1;
      angle = NULL;
    }
  }
  if (!strcmp(full, wanted) || !strcmp(last, wanted)) return true;
  if (open) *open = 0;
  if (same(full, wanted) || same(last, wanted)) return true;
  if (angle && angle > last) *angle = 0;
  return !strcmp(full, wanted) || !strcmp(last, wanted);
}

/* Letters to change, add or leave out to make one of the other. */
static unsigned distance(const char *a, const char *b)
{
  unsigned row[64];
  size_t n = strlen(a), m = strlen(b);
  if (n > 60 || m > 60) return 1000;
  for (unsigned j = 0; j <= m; j++) row[j] = j;
  for (size_t i = 1; i <= n; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      unsigned change = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
      unsigned other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = change < other ? change : other;
    }
  }
  return row[m];
}

/* "a, b or c", at most SHOWN of them. */
static size_t list(struct ptx_function *const *f, size_t n, char *to, size_t size)
{
  size_t used = 0;
  char name[NAME];
  for (size_t i = 0; i < n && i < SHOWN && used < size; i++) {
    kernels_name(f[i], name, sizeof name);
    used += (size_t)snprintf(to + used, size - used, "%s'%.300s'", !i ? "" : i + 1 == n ? " and " : ", ",
                             name);
  }
  if (n > SHOWN && used < size)
    used += (size_t)snprintf(to + used, size - used, " and %zu more", n - SHOWN);
  return used;
}

struct ptx_function *kernels_find(const struct ptx_module *m, const char *name, char *why, size_t size)
{
  struct ptx_function **entries = calloc(m->nfunctions + 1, sizeof *entries);
  struct ptx_function **fit = calloc(m->nfunctions + 1, sizeof *fit), *found = NULL;
  size_t n = 0, nfit = 0;
  char full[NAME], text[NAME], wanted[NAME];
  normal(name, wanted, sizeof wanted);
  for (size_t i = 0; entries && fit && i < m->nfunctions; i++) {
    struct ptx_function *f = m->functions[i];
    if (!f->is_entry || !f->has_body) continue;
    entries[n++] = f;
    if (!strcmp(f->name, name)) found = f;
    kernels_name(f, full, sizeof full);
    normal(full, text, sizeof text);
    if (matches(text, wanted)) fit[nfit++] = f;
  }
  for (size_t i = 0; nfit > 1 && i < nfit; i++) {   /* as written, const and all */
    kernels_name(fit[i], full, sizeof full);
    if (!strcmp(full, name)) found = fit[i];
  }
  if (!found && nfit == 1) found = fit[0];
  size_t used;
  if (found) {
    *why = 0;
  } else if (n == 0) {
    snprintf(why, size, "there is no kernel in the file: a __global__ function, and if it is a template, "
             "one that is launched or instantiated");
  } else if (nfit > 1) {
    used = (size_t)snprintf(why, size, "'%s' may be ", name);
    used += list(fit, nfit, why + used, size - used);
    if (used < size) snprintf(why + used, size - used, ": type the one you mean, in quotes");
  } else {
    unsigned best = 1000;
    struct ptx_function *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
      char plain[NAME];
      const char *at = entries[i]->name;
      size_t length = strlen(at);
      ptx_plain_name(entries[i]->name, &at, &length);
      snprintf(plain, sizeof plain, "%.*s", (int)length, at);
      unsigned d = distance(plain, wanted);
      if (d < best) {
        best = d;
        nearest = entries[i];
      }
    }
    used = (size_t)snprintf(why, size, "there is no kernel '%s'", name);
    if (nearest && best <= 1 + strlen(wanted) / 3 && used < size) {
      kernels_name(nearest, full, sizeof full);
      used += (size_t)snprintf(why + used, size - used, "; '%.300s' is nearest", full);
    }
    if (used < size) used += (size_t)snprintf(why + used, size - used, "; the file has ");
    if (used < size) used += list(entries, n, why + used, size - used);
    if (used < size)
      snprintf(why + used, size - used, ". A template is there only if it is launched or instantiated");
  }
  free(entries);
  free(fit);
  return found;
}
