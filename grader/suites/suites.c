/* The table of chapters, from suites.def, and finding an exercise in it. */
#include <string.h>

#include "suites/suite.h"

#define SUITE(name) extern const struct suite suite_##name;
#include "suites/suites.def"
#undef SUITE

const struct suite *const suites[] = {
#define SUITE(name) &suite_##name,
#include "suites/suites.def"
#undef SUITE
  NULL
};

const struct exercise *suite_find(const char *id)
{
  for (size_t i = 0; suites[i]; i++)
    for (const struct exercise *x = suites[i]->exercises; x->id; x++)
      if (!strcmp(x->id, id)) return x;
  return NULL;
}
