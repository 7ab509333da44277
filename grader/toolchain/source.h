/* A student's file as text fit for a compiler. */
#ifndef SOURCE_H
#define SOURCE_H

#include "toolchain.h"

struct source {
  char *text;                  /* NUL-terminated; lines end in \n; no BOM; #line blanked */
  size_t size;
};

/* False with out->summary set (and the verdict's flags) when the file is refused. */
bool source_read(struct source *s, const char *path, const char *name, struct compiled *out);
void source_free(struct source *s);

/* Blanks #line directives and "# 12 "file"" markers, outside comments and literals. */
void source_blank_lines(char *text);

#endif
