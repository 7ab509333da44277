/* A student's file -> PTX or a program, in the sandbox.
 *
 * The student's text is read once, checked (a plain file, not huge, no NUL) and copied into the
 * sandbox under a plain name; #line directives are blanked in the copy, so that line numbers and
 * file names are always the student's own.  The compiler's exit status is the verdict; its words
 * only explain it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source.h"
#include "toolchain.h"

double toolchain_seconds = 30;
uint64_t toolchain_memory = 4ull << 30;

/* Texts that travel inside the program, so that it works from any folder. */
#define EMBED(symbol, path)                                                                      \
  __asm__(".pushsection .rodata\n.global " #symbol "\n" #symbol ":\n.incbin \"" path               \
          "\"\n.byte 0\n.popsection\n");                                                         \
  extern const char symbol[] __attribute__((visibility("hidden")))

EMBED(toolchain_text_ask, "grader/toolchain/ask.h");
EMBED(toolchain_text_cuda, "grader/toolchain/cuda_for_clang.h");
EMBED(toolchain_text_half, "grader/toolchain/half_for_clang.h");

__attribute__((format(printf, 2, 3))) static void say(struct compiled *out, const char *format, ...)
{
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  diagnose_printable(out->summary, sizeof out->summary, text, strlen(text));
}

void compiled_free(struct compiled *c)
{
  free(c->code);
  free(c->diagnostics);
  memset(c, 0, sizeof *c);
}

/* A name that no command line or file system takes for anything else. */
static void plain_name(const char *name, const char *otherwise, char to[128])
{
  const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
  bool plain = *base && *base != '-' && *base != '.' && strlen(base) < 100 &&
               strcmp(strrchr(otherwise, '.'), strrchr(base, '.') ? strrchr(base, '.') : "") == 0;
  for (const char *c = base; *c; c++)
    plain &= isalnum((unsigned char)*c) || strchr("_-+.", *c) != NULL;
  snprintf(to, 128, "%s", plain ? base : otherwise);
}

/* The end of a run that is not a plain exit, said for the student.  True when it was one. */
static bool ended_early(const struct sandbox_result *r, const char *name, struct compiled *out)
{
  switch (r->end) {
  case SANDBOX_EXITED:
    return false;
  case SANDBOX_FAILED:
    out->our_fault = true;
    say(out, "%s was not compiled: %s", name, r->why);
    return true;
  case SANDBOX_TIMED_OUT:
    out->timed_out = true;
    say(out, "compiling %s took more than %.0f seconds; look for an endless include, template, "
        "macro or unrolled loop", name, toolchain_seconds);
    return true;
  case SANDBOX_MEMORY:
    out->too_large = true;
    say(out, "compiling %s took more than %llu MiB of memory; look for a template, macro or "
        "unrolled loop that grows, or a huge array", name,
        (unsigned long long)(toolchain_memory >> 20));
    return true;
  case SANDBOX_OUTPUT:
    out->too_large = true;
    say(out, "compiling %s gave more than 64 MiB of code; look for a huge array or an unrolled "
        "loop", name);
    return true;
  case SANDBOX_SIGNALLED:
    out->too_large = true;
    say(out, "the compiler crashed on %s (%s); write it more simply", name,
        strsignal(r->status));
    return true;
  }
  return true;
}

/* Inline assembly is checked by ptxas, which knows no lines of ours:
 * "ptxas out.ptx, line 20; error   : Not a name of any known instruction". */
static const char *ptxas_error(const char *said, size_t *length)
{
  const char *p = strncmp(said, "ptxas ", 6) == 0 ? said : strstr(said, "\nptxas ");
  const char *end = p ? p + 1 + strcspn(p + 1, "\n") : NULL;
  if (!p || !(p = strstr(p, "; error")) || p > end || !(p = strstr(p, ": ")) || p > end) return NULL;
  *length = (size_t)(end - p - 2);
  return p + 2;
}

static void summarise(struct compiled *out, const char *name, const char *said)
{
  for (size_t i = 0; i < out->ndiagnostics; i++)
    if (out->diagnostics[i].error) {
      say(out, "%s does not compile; line %u: %s", name, out->diagnostics[i].line,
          out->diagnostics[i].text);
      return;
    }
  size_t length;
  const char *ptxas = ptxas_error(said, &length);
  if (ptxas)
    say(out, "%s does not compile; its inline assembly: %.*s", name, (int)length, ptxas);
  else
    say(out, "%s does not compile", name);
}

/* ---- CUDA ------------------------------------------------------------------------------------------- */

/* Makes every .file directive name a file by its base name: the student's by what they call it,
 * headers, which all are the compiler's, as <name> without the machine's folders (ptx/loc.c). */
static bool name_files(struct compiled *out, const char *inside, const char *name)
{
  char *text = malloc(out->code_size * 2 + 4096), *to = text;
  if (!text) return false;
  for (const char *line = out->code, *next; *line; line = next) {
    size_t length = strcspn(line, "\n");
    next = line + length + (line[length] == '\n');
    const char *p = line + strspn(line, " \t");
    const char *open = strncmp(p, ".file", 5) == 0 ? memchr(p, '"', length - (size_t)(p - line))
                                                    : NULL;
    const char *close = open ? strchr(open + 1, '"') : NULL;
    if (!close || close > line + length) {
      memcpy(to, line, (size_t)(next - line));
      to += next - line;
      continue;
    }
    /* clang writes two strings, folder and file; the last one tells. */
    const char *second = close + 1 + strspn(close + 1, " ");
    const char *end = close;
    if (*second == '"' && (end = strchr(second + 1, '"')) && end <= line + length) open = second;
    else end = close;
    const char *base = open + 1;
    for (const char *c = base; c < end; c++)
      if (*c == '/') base = c + 1;
    size_t n = (size_t)(end - base);
    const char *first = memchr(p, '"', length);
    memcpy(to, line, (size_t)(first - line) + 1);
    to += first - line + 1;
    if (n == strlen(inside) && !memcmp(base, inside, n)) {
      size_t room = strlen(name) < 200 ? strlen(name) : 200;
      for (size_t i = 0; i < room; i++)
        *to++ = name[i] == '"' || name[i] == '\\' || (unsigned char)name[i] < 32 ? '_' : name[i];
    } else {
      *to++ = '<';
      memcpy(to, base, n);
      to += n;
      *to++ = '>';
    }
    const char *rest = end;
    memcpy(to, rest, (size_t)(next - rest));
    to += next - rest;
  }
  *to = 0;
  free(out->code);
  out->code = text;
  out->code_size = (size_t)(to - text);
  return true;
}

/* The headers a student may include with clang; what they would declare is in cuda_for_clang.h. */
static const char *const shims[] = {
  "cuda_runtime.h", "cuda.h", "cuda_fp16.h", "cuda_fp16.hpp", "device_launch_parameters.h",
  "math.h", "cmath", "stdio.h", "cstdio", "stdlib.h", "cstdlib", "assert.h", "cassert", "string.h",
  "cstring", "cstdint", "cstddef", "math_constants.h", "cuda_runtime_api.h", "vector_types.h",
  "device_functions.h", "sm_80_rt.h", "cuda_pipeline.h",
};
enum { SHIMS = sizeof shims / sizeof *shims };

static void compile_cuda(const struct source *src, const char *inside, const char *name,
                         bool nvcc, struct compiled *out)
{
  const struct toolchain_found *found = toolchain_find();
  struct sandbox_file files[SHIMS + 3] = {{inside, NULL, src->text, src->size}};
  char paths[SHIMS][64];
  const char *readable[] = {nvcc ? found->nvcc_root : found->clang_root, NULL};
  const char *const by_nvcc[] = {found->nvcc, "-arch=sm_90", "-ptx", "-lineinfo", "-O3", "-o",
                                 "out.ptx", inside, NULL};
  const char *const by_clang[] = {
    found->clang, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdlibinc",
    "-nostdinc++", "-std=c++17", "-S", "-O3", "--cuda-gpu-arch=sm_80", "-gline-tables-only",
    "-Xclang", "-target-feature", "-Xclang", "+ptx70", "-fno-exceptions",
    "-fno-caret-diagnostics", "-fno-color-diagnostics", "-Wno-unknown-cuda-version", "-isystem",
    "cuda", "-include", "cuda/cuda_for_clang.h", "-o", "out.ptx", inside, NULL};
  size_t nfiles = 1;
  if (!nvcc) {
    files[nfiles++] = (struct sandbox_file){"cuda/cuda_for_clang.h", NULL, toolchain_text_cuda,
                                            strlen(toolchain_text_cuda)};
    files[nfiles++] = (struct sandbox_file){"cuda/half_for_clang.h", NULL, toolchain_text_half,
                                            strlen(toolchain_text_half)};
    for (size_t i = 0; i < SHIMS; i++) {
      snprintf(paths[i], sizeof paths[i], "cuda/%s", shims[i]);
      files[nfiles++] = (struct sandbox_file){paths[i], NULL, "\n", 1};
    }
  }
  struct sandbox_job job = {.argv = nvcc ? by_nvcc : by_clang, .files = files, .nfiles = nfiles,
                            .readable = readable, .result_file = "out.ptx",
                            .wall_seconds = toolchain_seconds, .cpu_seconds = toolchain_seconds,
                            .memory_bytes = toolchain_memory, .output_bytes = 64u << 20,
                            .processes = 64};
  snprintf(out->compiler, sizeof out->compiler, "%s %s", nvcc ? "nvcc" : "clang",
           nvcc ? found->nvcc_version : found->clang_version);
  struct sandbox_result r;
  sandbox_run(&job, &r);
  diagnose(r.err, inside, name, src->text, out);
  diagnose(r.out, inside, name, src->text, out);
  if (ended_early(&r, name, out)) {
  } else if (r.status != 0) {
    summarise(out, name, r.err);
  } else if (r.result_size == 0 || memchr(r.result, 0, r.result_size)) {
    out->our_fault = true;
    say(out, "%s was not compiled: %s ended well but wrote no PTX", name, out->compiler);
  } else {
    out->code = r.result;
    out->code_size = r.result_size;
    r.result = NULL;
    out->ok = name_files(out, inside, name);
    out->our_fault = !out->ok;
    if (!out->ok) say(out, "%s was not compiled: out of memory", name);
  }
  sandbox_result_free(&r);
}

void toolchain_cuda(const char *path, const char *name, enum toolchain_kind kind,
                    struct compiled *out)
{
  const struct toolchain_found *found = toolchain_find();
  bool nvcc = kind == TOOLCHAIN_NVCC || (kind == TOOLCHAIN_AUTO && *found->nvcc);
  char inside[128];
  struct source src;
  memset(out, 0, sizeof *out);
  if (nvcc ? !*found->nvcc : !*found->clang) {
    out->our_fault = true;
    say(out, "%s was not compiled: there is no %s here; install %s (`banks doctor` says more)",
        name, nvcc ? "nvcc" : "nvcc or clang",
        nvcc ? "the CUDA Toolkit" : "the CUDA Toolkit, or clang 13 or newer");
    return;
  }
  plain_name(name, "student.cu", inside);
  if (source_read(&src, path, name, out)) compile_cuda(&src, inside, name, nvcc, out);
  source_free(&src);
}

/* ---- C -------------------------------------------------------------------------------------------------- */

/* The prototype of `function` in the exercise's header: the line, or lines, up to its semicolon. */
static void prototype_of(const char *header, const char *function, char *to, size_t size)
{
  size_t n = strlen(function);
  snprintf(to, size, "%s(...)", function);
  for (const char *p = header; p && (p = strstr(p, function)); p += n) {
    if ((p > header && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) ||
        p[n + strspn(p + n, " ")] != '(')
      continue;
    const char *start = p, *end = strchr(p, ';');
    while (start > header && start[-1] != '\n') start--;
    if (!end) continue;
    char line[400];
    size_t w = 0;
    for (const char *c = start; c <= end && w + 1 < sizeof line; c++)
      if (!(isspace((unsigned char)*c) && w > 0 && line[w - 1] == ' '))
        line[w++] = isspace((unsigned char)*c) ? ' ' : *c;
    line[w] = 0;
    snprintf(to, size, "%s", line);
    return;
  }
}

static bool quoted_after(const char *text, const char *phrase, char *to, size_t size)
{
  const char *p = strstr(text, phrase);
  if (!p) return false;
  p += strlen(phrase);
  p += strspn(p, " `'\"");
  size_t n = strcspn(p, "`'\";\n(");
  diagnose_printable(to, size, p, n);
  return n > 0;
}

static void explain_link(const char *said, const char *name, const char *header,
                         struct compiled *out)
{
  char symbol[128], prototype[400];
  if (quoted_after(said, "multiple definition of", symbol, sizeof symbol) ||
      quoted_after(said, "duplicate symbol:", symbol, sizeof symbol)) {
    if (!strcmp(symbol, "main"))
      say(out, "%s must not define main(): the grader calls your functions from its own", name);
    else
      say(out, "%s defines `%s`, which the grader or the C library defines too; rename yours",
          name, symbol);
  } else if (quoted_after(said, "undefined reference to", symbol, sizeof symbol) ||
             quoted_after(said, "undefined symbol:", symbol, sizeof symbol)) {
    prototype_of(header, symbol, prototype, sizeof prototype);
    bool wanted = header && strstr(header, symbol);
    say(out, wanted ? "%s must define `%s`" : "%s uses `%s`, which nothing defines", name,
        prototype);
  }
}

void toolchain_c(const char *path, const char *name, const char *driver, const char *header,
                 struct compiled *out)
{
  const struct toolchain_found *found = toolchain_find();
  char inside[128];
  struct source src;
  memset(out, 0, sizeof *out);
  if (!*found->cc) {
    out->our_fault = true;
    say(out, "%s was not compiled: there is no C compiler here; apt-get install gcc", name);
    return;
  }
  plain_name(name, "student.c", inside);
  if (!source_read(&src, path, name, out)) {
    source_free(&src);
    return;
  }
  const struct sandbox_file files[] = {
    {inside, NULL, src.text, src.size},
    {"grader/driver.c", NULL, driver, strlen(driver)},
    {"grader/ask.h", NULL, toolchain_text_ask, strlen(toolchain_text_ask)},
    {"exercise.h", NULL, header ? header : "", header ? strlen(header) : 0}};
  const char *const argv[] = {
    found->cc, "-std=gnu11", "-O1", "-Wall", "-fno-strict-aliasing", "-fwrapv",
    "-fdiagnostics-color=never", "-I.", "-o", "program", inside, "grader/driver.c", "-lm", NULL};
  const char *const readable[] = {found->cc_root, NULL};
  struct sandbox_job job = {.argv = argv, .files = files, .nfiles = 4, .readable = readable,
                            .result_file = "program", .wall_seconds = toolchain_seconds,
                            .cpu_seconds = toolchain_seconds, .memory_bytes = toolchain_memory,
                            .output_bytes = 64u << 20, .processes = 64};
  snprintf(out->compiler, sizeof out->compiler, "%.63s", found->cc_version);
  struct sandbox_result r;
  sandbox_run(&job, &r);
  diagnose(r.err, inside, name, src.text, out);
  if (ended_early(&r, name, out)) {
  } else if (r.status != 0) {
    summarise(out, name, "");
    bool told = false;
    for (size_t i = 0; i < out->ndiagnostics; i++) told |= out->diagnostics[i].error;
    if (!told) explain_link(r.err, name, header, out);
  } else if (r.result_size == 0) {
    out->our_fault = true;
    say(out, "%s was not compiled: %s ended well but wrote no program", name, out->compiler);
  } else {
    out->ok = true;
    out->code = r.result;
    out->code_size = r.result_size;
    r.result = NULL;
  }
  sandbox_result_free(&r);
  source_free(&src);
}
