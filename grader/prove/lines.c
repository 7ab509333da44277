/* See lines.h. */
#define _GNU_SOURCE
#include "prove/lines.h"

#include <stdlib.h>
#include <string.h>

#include "toolchain/toolchain.h"

static void *grow(void *array, size_t n, size_t each)
{
  if (n & (n - 1)) return array;
  void *more = realloc(array, (n ? 2 * n : 1) * each);
  if (more) return more;
  fprintf(stderr, "banks: out of memory\n");
  exit(3);
}

/* `//## File "/x/a.cu", line 4 ...`: 4, and "a.cu" in `file`. */
static uint32_t line_in(const char *text, size_t length, char file[64])
{
  char copy[512];
  snprintf(copy, sizeof copy, "%.*s", (int)length, text);
  char *at = strstr(copy, "\", line ");
  *file = 0;
  if (!at) return 0;
  *at = 0;
  char *slash = strrchr(copy, '/'), *quote = strchr(copy, '"');
  if (quote) snprintf(file, 64, "%.63s", slash && slash > quote ? slash + 1 : quote + 1);
  return (uint32_t)strtoul(at + 8, NULL, 10);
}

void lines_parse(const char *text, struct lines *out)
{
  struct lines_kernel *k = NULL;
  uint32_t line = 0;
  char file[64] = "";
  memset(out, 0, sizeof *out);
  for (const char *p = text, *next; *p; p = next) {
    size_t length = strcspn(p, "\n");
    next = p + length + (p[length] == '\n');
    const char *word = p + strspn(p, " \t");
    if (!strncmp(p, ".text.", 6) && p[length - 1] == ':') {
      out->kernels = grow(out->kernels, out->nkernels, sizeof *out->kernels);
      k = &out->kernels[out->nkernels++];
      memset(k, 0, sizeof *k);
      snprintf(k->name, sizeof k->name, "%.*s", (int)(length - 7), p + 6);
      line = 0;
      *file = 0;
    } else if (!strncmp(word, ".section", 8)) {
      k = NULL;
    } else if (!strncmp(word, "//## File", 9)) {
      line = line_in(word, length - (size_t)(word - p), file);
    } else if (k && !strncmp(word, "/*", 2)) {
      const char *end = strstr(word, "*/");
      if (!end || end > p + length) continue;
      const char *op = end + 2 + strspn(end + 2, " \t");
      if (*op == '@') {
        op += strcspn(op, " \t\n");
        op += strspn(op, " \t");
      }
      size_t n = strcspn(op, " \t;,\n");
      if (n == 0 || op + n > p + length) continue;   /* a row of encoding only */
      k->insts = grow(k->insts, k->ninsts, sizeof *k->insts);
      struct lines_inst *i = &k->insts[k->ninsts++];
      i->line = line;
      memcpy(i->file, file, sizeof file);
      snprintf(i->opcode, sizeof i->opcode, "%.*s", (int)n, op);
    }
  }
}

void lines_free(struct lines *l)
{
  for (size_t i = 0; i < l->nkernels; i++) free(l->kernels[i].insts);
  free(l->kernels);
  l->kernels = NULL;
  l->nkernels = 0;
}

bool lines_give(const struct lines *l, const char *kernel, struct ncu_launch *launch)
{
  const struct lines_kernel *k = NULL;
  for (size_t i = 0; i < l->nkernels; i++)
    if (!strcmp(l->kernels[i].name, kernel)) k = &l->kernels[i];
  if (!k || k->ninsts != launch->instructions) return false;
  for (size_t i = 0; i < launch->ninsts; i++)
    if (strcmp(k->insts[launch->insts[i].index].opcode, launch->insts[i].opcode)) return false;
  for (size_t i = 0; i < launch->ninsts; i++) {
    const struct lines_inst *at = &k->insts[launch->insts[i].index];
    launch->insts[i].line = at->line;
    memcpy(launch->insts[i].file, at->file, sizeof at->file);
  }
  return true;
}

/* ---- the tools ----------------------------------------------------------------------------- */

/* One tool over one file, in the sandbox as the compilers are. */
static bool tool(const char *const *argv, const char *inside, const void *data, size_t size,
                 const char *result_file, struct sandbox_result *r)
{
  struct sandbox_file file = {inside, NULL, data, size};
  char folder[512];
  const char *root = toolchain_find()->nvcc_root, *slash = strrchr(argv[0], '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - argv[0]) : 0, argv[0]);
  const char *readable[] = {folder, *root ? root : NULL, NULL};
  struct sandbox_job job = {.argv = argv, .files = &file, .nfiles = 1,
                            .readable = readable, .result_file = result_file,
                            .wall_seconds = 30, .cpu_seconds = 30, .memory_bytes = UINT64_C(4) << 30,
                            .output_bytes = 64u << 20, .processes = 64};
  sandbox_run(&job, r);
  return r->end == SANDBOX_EXITED && r->status == 0;
}

static bool find_tool(const char *name, char *path, size_t size)
{
  const char *root = toolchain_find()->nvcc_root;
  if (*root) {
    snprintf(path, size, "%.400s/bin/%s", root, name);
    FILE *f = fopen(path, "re");
    if (f) {
      fclose(f);
      return true;
    }
  }
  return toolchain_which(name, path, size);
}

void lines_of(const char *ptx, size_t length, unsigned capability, struct lines *out)
{
  char assembler[512], lister[512], arch[32];
  struct sandbox_result made = {0}, listed = {0};
  memset(out, 0, sizeof *out);
  bool first = find_tool("ptxas", assembler, sizeof assembler);
  if (!first || !find_tool("nvdisasm", lister, sizeof lister)) {
    snprintf(out->why, sizeof out->why, "no source lines: %s is not here (it comes with the CUDA "
             "Toolkit)", first ? "nvdisasm" : "ptxas");
    return;
  }
  snprintf(arch, sizeof arch, "-arch=sm_%u", capability);
  const char *const assemble[] = {assembler, arch, "-lineinfo", "-o", "out.cubin", "in.ptx", NULL};
  const char *const list[] = {lister, "-g", "-c", "in.cubin", NULL};
  if (!tool(assemble, "in.ptx", ptx, length, "out.cubin", &made))
    snprintf(out->why, sizeof out->why, "no source lines: ptxas failed: %.150s%.50s", made.err,
             made.why);
  else if (!tool(list, "in.cubin", made.result, made.result_size, NULL, &listed))
    snprintf(out->why, sizeof out->why, "no source lines: nvdisasm failed: %.150s%.50s",
             listed.err, listed.why);
  else
    lines_parse(listed.out, out);
  sandbox_result_free(&made);
  sandbox_result_free(&listed);
}
