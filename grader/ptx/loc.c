/* .file and .loc: where in the source an instruction stands, and which line of the author's own files
 * it stands for.
 *
 * nvcc writes the chain of calls of inlined code from the outside in, a .loc a call, each naming only
 * the call it is inlined at:
 *
 *     .loc 1 10 5
 *     .loc 4 69 9, function_name $f3, inlined_at 1 10 5
 *     .loc 5 203 23, function_name $f6, inlined_at 4 69 9
 *
 * and each chain once a function: code that comes back to it later has the innermost .loc alone.  So
 * the .loc of a call is the latest one at that place.  Where a header's function was inlined at
 * several of the author's lines, a .loc that stands alone may mean any of them: the latest is taken,
 * and the instruction is marked `near`.
 *
 *   - Code of an author's file is at its own line; inlined from another file of the author's, at
 *     the line of the call.
 *   - Code of a system header is at the innermost call that stands in an author's file.
 *   - Where no chain leads there (clang writes none), at the author's line met last, `near`.
 *
 * A file is a system header when its name is in <angle brackets> - PTX that is kept holds no folders -
 * or its folder is one of a toolkit or a compiler. */
#define _GNU_SOURCE
#include "ptx/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------- */

bool ptx_system_file(const char *name)
{
  /* Parts of a path: nvcc's own headers, the C++ library it brings, the host compiler's; clang's. */
  static const char *const folders[] = {
    "/targets/x86_64-linux/include/", "/targets/sbsa-linux/include/", "/cuda/include/",
    "/include/cccl/", "/nvidia/cuda_runtime/include/", "/lib/clang/", "/lib/gcc/", "/include/c++/",
  };
  static const char *const tops[] = {"/usr/include/", "/usr/local/cuda", "/usr/lib/", "/opt/cuda"};
  if (*name == '<') return true;
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
    if (strstr(name, folders[k])) return true;
  for (size_t k = 0; k < sizeof tops / sizeof *tops; k++)
    if (!strncmp(name, tops[k], strlen(tops[k])) && strstr(name, "/include/")) return true;
  return false;
}

static void file_set(struct reader *r, uint64_t index, struct span quoted)
{
  while (r->files.n <= index) *vec_push(r, r->files) = (struct source_file){0};
  char *name = ptx_alloc(r, quoted.n + 1, 1);
  for (size_t i = 0, n = 0; i < quoted.n; i++) {
    if (quoted.s[i] == '\\' && i + 1 < quoted.n) i++;
    name[n++] = quoted.s[i];
  }
  r->files.at[index] = (struct source_file){name, ptx_system_file(name)};
}

/* nvcc names its files at the end of the text; which of them are system headers is asked before. */
void ptx_files_ahead(struct reader *r)
{
  static const char mark[] = ".file";
  for (const char *p = r->at; (p = memmem(p, (size_t)(r->end - p), mark, 5)) != NULL;) {
    const char *before = p;
    p += 5;
    while (before > r->at && (before[-1] == ' ' || before[-1] == '\t')) before--;
    if (before > r->at && before[-1] != '\n') continue;
    uint64_t index = 0;
    while (p < r->end && (*p == ' ' || *p == '\t')) p++;
    for (; p < r->end && *p >= '0' && *p <= '9' && index < PTX_MAX_FILES; p++)
      index = index * 10 + (uint64_t)(*p - '0');
    while (p < r->end && (*p == ' ' || *p == '\t')) p++;
    if (p == r->end || *p != '"' || index >= PTX_MAX_FILES) continue;
    const char *line = memchr(p, '\n', (size_t)(r->end - p));
    const char *close = memchr(p + 1, '"', (size_t)((line ? line : r->end) - p - 1));
    if (!close) continue;
    file_set(r, index, (struct span){p + 1, (size_t)(close - p - 1)});
    p = close;
  }
}

/* .file 1 "kernel.cu", 1690000000, 1234 */
void ptx_read_file(struct reader *r)
{
  char shown[64];
  uint32_t line = r->token.line;
  uint64_t index = ptx_int(r, "the number of a file", PTX_MAX_FILES - 1);
  if (r->token.kind != T_STRING)
    ptx_fail(r, line, "expected the name of a file, found %s", ptx_shown(&r->token, shown));
  file_set(r, index, r->token.text);
  ptx_next(r);
  while (ptx_accept(r, ',')) ptx_int(r, "a time stamp or size", UINT64_MAX);
}

static bool is_system(const struct reader *r, uint32_t file)
{
  return file < r->files.n && r->files.at[file].system;
}

/* ---- places ------------------------------------------------------------------------------------- */

/* Where a .loc of this function stood, and the author's line it stood for: the latest. */
struct loc_place {
  uint32_t function;             /* which of the module, from 1; another: the slot is free */
  struct ptx_place at;
  struct author author;
  bool several;                  /* it stood for different ones */
};

static size_t place_hash(struct ptx_place p)
{
  uint64_t h = (uint64_t)p.file * 0x9e3779b97f4a7c15u ^ (uint64_t)p.line * 0xc2b2ae3d27d4eb4fu ^
               (uint64_t)p.column * 0x165667b19e3779f9u;
  return (size_t)(h ^ h >> 29 ^ h >> 47);
}

static bool same_place(struct ptx_place a, struct ptx_place b)
{
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

/* The slot of p, or the free one where it would go. */
static struct loc_place *place_find(const struct reader *r, struct ptx_place p)
{
  for (size_t k = place_hash(p);; k++) {
    struct loc_place *slot = &r->places[k & (r->places_room - 1)];
    if (slot->function != r->loc_function || same_place(slot->at, p)) return slot;
  }
}

static void place_add(struct reader *r, struct ptx_place p, struct author a)
{
  if (2 * (r->nplaces + 1) > r->places_room) {
    size_t room = r->places_room;
    struct loc_place *old = r->places;
    r->places_room = room ? 2 * room : 256;
    r->places = calloc(r->places_room, sizeof *r->places);
    if (!r->places) {
      r->places = old;
      r->places_room = room;
      ptx_fail(r, r->token.line, "out of memory");
    }
    for (size_t k = 0; k < room; k++)
      if (old[k].function == r->loc_function) *place_find(r, old[k].at) = old[k];
    free(old);
  }
  struct loc_place *slot = place_find(r, p);
  bool known = slot->function == r->loc_function;
  bool several = known && (slot->several || slot->author.file != a.file || slot->author.line != a.line);
  r->nplaces += !known;
  *slot = (struct loc_place){r->loc_function, p, a, several};
}

void ptx_loc_start(struct reader *r)
{
  r->loc_function++;
  r->nplaces = 0;
  r->loc = (struct ptx_place){0};
  r->author = r->last_author = (struct author){0};
}

/* Where code of a system header was called; `fresh`: no instruction came since the .loc before. */
static struct author author_of_call(const struct reader *r, struct ptx_place call, bool fresh,
                                    struct author before)
{
  if (!call.line || !r->places_room) return (struct author){0};
  if (!is_system(r, call.file)) return (struct author){call.file, call.line, false};
  if (fresh && same_place(call, r->loc)) return before;
  const struct loc_place *slot = place_find(r, call);
  if (slot->function != r->loc_function) return (struct author){0};
  struct author a = slot->author;
  a.near |= slot->several;
  return a;
}

static struct ptx_place read_place(struct reader *r)
{
  struct ptx_place p;
  p.file = (uint32_t)ptx_int(r, "the number of a file", PTX_MAX_FILES - 1);
  p.line = (uint32_t)ptx_int(r, "a source line", UINT32_MAX);
  p.column = (uint32_t)ptx_int(r, "a source column", UINT32_MAX);
  return p;
}

/* .loc 1 12 5, function_name $L__info_string0, inlined_at 1 30 9 */
void ptx_read_loc(struct reader *r)
{
  uint32_t line = r->token.line;
  struct ptx_place here = read_place(r), call = {0};
  while (ptx_accept(r, ',')) {
    struct span what = ptx_word(r, "function_name or inlined_at");
    if (ptx_equal(what, "function_name")) {
      ptx_word(r, "a label in the debug strings");
      uint64_t offset;
      if (ptx_accept(r, '+')) ptx_term(r, &offset);
    } else if (ptx_equal(what, "inlined_at")) {
      call = read_place(r);
    } else {
      ptx_fail(r, line, "expected function_name or inlined_at in .loc, found '%.*s'",
               what.n > 40 ? 40 : (int)what.n, what.s);
    }
  }
  uint32_t highest = call.file > here.file ? call.file : here.file;
  if (highest > r->max_loc_file) {
    r->max_loc_file = highest;
    r->max_loc_line = line;
  }

  struct author innermost = {here.file, here.line, false}, outer = innermost;
  if (is_system(r, here.file)) {
    innermost = author_of_call(r, call, r->loc_insts == r->insts.n, r->innermost);
    if (!innermost.line) innermost = (struct author){r->last_author.file, r->last_author.line, true};
    if (!innermost.line) innermost = (struct author){here.file, here.line, false};
    outer = innermost;
  } else if (here.line) {
    if (call.line && call.file != here.file && !is_system(r, call.file))
      outer = (struct author){call.file, call.line, false};
    r->last_author = outer;
  }
  r->loc = here;
  r->loc_insts = r->insts.n;
  r->innermost = innermost;
  r->author = here.line ? outer : (struct author){0};
  if (here.line) place_add(r, here, innermost);
}
