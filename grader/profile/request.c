/* See request.h. */
#define _GNU_SOURCE
#include "profile/request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/kernels.h"
#include "profile/profile.h"
#include "toolchain/toolchain.h"

const char request_help[] =
  "  FILE            a .cu file, or a .ptx file (nvcc -arch=sm_90 -ptx -lineinfo)\n"
  "  KERNEL          its name, as in the source\n"
  "  --shared BYTES  dynamic shared memory\n"
  "  --cluster X[,Y[,Z]]  blocks of a cluster, where the launch says so and not the kernel\n"
  "  --json          the profile as JSON on standard output\n"
  "  --pictures N    draw the worst request of N lines (3)\n"
  "  -I... -D...     passed to nvcc, as -std= and -arch= are; --nvcc=FLAG for any other\n"
  "  --threads N     host threads; the result is the same with any number\n"
  "  --budget N      warp instructions the kernel may execute\n"
  "  --as-written    count PTX as written, without joining accesses as ptxas does\n"
  "ARGUMENT, in the kernel's order:\n"
  "  i32:256 f32:0.5 u64:1<<20    scalars: i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64\n"
  "  f32v4:0.5 u8x3:1:2:3         a vector (float4), an array: one value for all, or each\n"
  "  {i32:4,f32[64]=uniform}      a struct by value; a buffer in it is a pointer\n"
  "  f32[65536] f32[256*256+32]   a buffer of zeros; after it:\n"
  "    =uniform =uniform:SEED     floats in [-1, 1), integers over their range\n"
  "    =below:N =below:N:SEED     whole numbers from 0 to N - 1\n"
  "    =iota =iota:STEP:FIRST     0 1 2 ..., or from FIRST in steps\n"
  "    =VALUE =@FILE              one value; the raw little-endian bytes of a file\n"
  "    >FILE                      write the buffer there afterwards\n"
  "  tma:f16[64,128]=uniform/box=64,64/swizzle=128B\n"
  "                               a tensor map of such a buffer (CUtensorMap by value): sizes and box\n"
  "                               outermost first, as in C: 64 rows of 128, a box of 64 rows of 64\n";

/* Tells on standard error, and returns `status`. */
static int tell(const struct request *q, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int tell(const struct request *q, int status, const char *format, ...)
{
  char text[4096];
  va_list ap;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  fprintf(stderr, "banks %s: %s\n", q->command, text);
  if (q->json && !strcmp(q->command, "profile") && !profile_json_error(stdout, text, status))
    return REQUEST_OURS;
  return status;
}

#define usage_error(q, ...) tell(q, REQUEST_USAGE, __VA_ARGS__)
#define ours(q, ...) tell(q, REQUEST_OURS, __VA_ARGS__)

int request_words(char *row, char **words, int most)
{
  int n = 0;
  for (char *p = row; *(p += strspn(p, " \t\r\n"));) {
    char *to = p;
    bool quoted = false;
    if (n == most) return -1;
    words[n++] = p;
    for (; *p && (quoted || !strchr(" \t\r\n", *p)); p++) {
      if (*p == '\'') quoted = !quoted;
      else *to++ = *p;
    }
    if (*p) p++;
    *to = 0;
  }
  return n;
}

/* "16", "16,8", "1024/16,8,2": at least 1 each. */
static bool dimensions(const char *text, uint32_t out[3])
{
  out[0] = out[1] = out[2] = 1;
  for (int i = 0; i < 3; i++) {
    uint64_t n;
    size_t length = strcspn(text, *text == '0' ? "," : ",x");   /* 32x8, too, but 0x20 */
    if (!value_whole(text, length, &n) || n == 0 || n > UINT32_MAX) return false;
    out[i] = (uint32_t)n;
    if (!text[length]) return true;
    text += length + 1;
  }
  return false;
}

/* A flag that every compiler knows, as authors have it on their command lines. */
static bool is_flag(const char *word)
{
  static const char *const begins[] = {"-I", "-D", "-U", "-std=", "-arch=", "--std=", "-O"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (!strncmp(word, begins[i], strlen(begins[i])) && strlen(word) > strlen(begins[i])) return true;
  return false;
}

static int option(struct request *q, const char *name, const char *value)
{
  uint64_t n = 0;
  if (!strcmp(name, "--grid") || !strcmp(name, "--block")) {
    bool grid = name[2] == 'g';
    if (!dimensions(value, grid ? q->grid : q->block))
      return usage_error(q, "%s: expected X, X,Y or X,Y,Z of whole numbers from 1, found '%s'", name,
                         value);
    *(grid ? &q->has_grid : &q->has_block) = true;
    return 0;
  }
  if (!strcmp(name, "--cluster")) {
    if (strcmp(q->command, "profile"))
      return usage_error(q, "--cluster: the GPU is launched without; declare __cluster_dims__ in the kernel");
    if (!dimensions(value, q->cluster))
      return usage_error(q, "%s: expected X, X,Y or X,Y,Z of whole numbers from 1, found '%s'", name,
                         value);
    return 0;
  }
  if (!strcmp(name, "--nvcc")) {
    if (q->nflags == REQUEST_FLAGS) return usage_error(q, "more than %d --nvcc flags", REQUEST_FLAGS);
    q->flags[q->nflags++] = (char *)value;
    return 0;
  }
  uint64_t most = !strcmp(name, "--budget") ? UINT64_MAX / 2 : UINT32_MAX;
  if (!value_whole(value, strlen(value), &n) || n > most)
    return usage_error(q, "%s: expected a whole number, found '%s'", name, value);
  if (!strcmp(name, "--shared")) q->shared = (uint32_t)n;
  else if (!strcmp(name, "--threads")) q->threads = n > 1024 ? 1024 : (unsigned)n;
  else if (!strcmp(name, "--pictures")) q->pictures = (unsigned)n;
  else q->budget = n;
  return 0;
}

int request_parse(int argc, char **argv, const char *command, struct request *q)
{
  static const char *const valued[] = {"--grid", "--block", "--cluster", "--shared", "--threads",
                                       "--pictures", "--budget", "--nvcc"};
  char why[600];
  memset(q, 0, sizeof *q);
  q->command = command;
  q->pictures = 3;
  for (int i = 0; i < argc; i++) q->json |= !strcmp(argv[i], "--json");   /* for errors before it, too */
  for (int i = 0; i < argc; i++) {
    char *arg = argv[i];
    if (!strcmp(arg, "--json")) continue;
    if (!strcmp(arg, "--as-written")) q->no_fuse = true;
    else if (is_flag(arg)) {
      int status = option(q, "--nvcc", arg);
      if (status) return status;
    }
    else if (arg[0] == '-') {
      size_t length = strcspn(arg, "="), k = 0, n = sizeof valued / sizeof *valued;
      while (k < n && !(strlen(valued[k]) == length && !strncmp(valued[k], arg, length))) k++;
      if (k == n) return usage_error(q, "unknown option '%s'; banks %s --help lists them", arg,
                                      q->command);
      if (!arg[length] && i + 1 == argc) return usage_error(q, "%s: its value is missing", arg);
      int status = option(q, valued[k], arg[length] ? arg + length + 1 : argv[++i]);
      if (status) return status;
    } else if (!q->file) q->file = arg;
    else if (!q->kernel) q->kernel = arg;
    else {
      if (q->narguments == REQUEST_ARGUMENTS)
        return usage_error(q, "more than %d arguments", REQUEST_ARGUMENTS);
      struct argument *a = &q->arguments[q->narguments++];
      if (!argument_parse(arg, a, why, sizeof why)) return usage_error(q, "argument %s", why);
    }
  }
  if (!q->file || !q->kernel)
    return usage_error(q, "name a .cu or .ptx file and a kernel; banks %s --help explains",
                       q->command);
  if (!q->has_grid || !q->has_block)
    return usage_error(q, "--grid and --block are needed, like --grid 32,32 --block 32,8");
  return 0;
}

/* ---- PTX ----------------------------------------------------------------------------------- */

static char *read_all(const char *path, size_t *size)
{
  enum { MOST = 64 << 20 };
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  *size = 0;
  if (!f) return NULL;
  for (size_t room = 0;;) {
    if (*size + 1 >= room) {
      room = room ? 2 * room : 1 << 16;
      char *more = room <= MOST ? realloc(text, room) : NULL;
      if (!more) {
        free(text);
        fclose(f);
        errno = EFBIG;
        return NULL;
      }
      text = more;
    }
    size_t n = fread(text + *size, 1, room - *size - 1, f);
    *size += n;
    if (n == 0) break;
  }
  bool bad = ferror(f);
  fclose(f);
  if (bad) {
    free(text);
    return NULL;
  }
  text[*size] = 0;
  return text;
}

/* ptxas, which nvcc asks about the PTX it made, names a line of a file that nobody can look at: one
 * more line tells the kernel, the author's line and, where there is one, the remedy. */
static void explain_ptxas(const struct request *q, const char *said, const char *ptx, size_t size)
{
  const char *at = NULL, *line_word = NULL, *error = NULL;
  for (at = said; (at = strstr(at, "ptxas ")) != NULL; at++) {
    const char *end = at + strcspn(at, "\n");
    line_word = strstr(at, ", line ");
    error = strstr(at, "; error");
    if (line_word && line_word < end && error && error < end) break;
  }
  struct ptx_error e;
  struct ptx_module *m = at ? ptx_read_some(ptx, size, &e) : NULL;
  if (!m) return;
  uint32_t line = (uint32_t)strtoul(line_word + 7, NULL, 10), source = 0;
  const struct ptx_function *found = NULL;
  for (size_t k = 0; k < m->nfunctions; k++) {
    const struct ptx_function *f = m->functions[k];
    if (f->has_body && f->line <= line && (!found || f->line > found->line)) found = f;
  }
  if (found && found->refused && found->refused->line == line) source = found->refused->source_line;
  for (size_t i = 0; found && i < found->ninsts; i++)
    if (found->insts[i].line == line && !source) source = found->insts[i].author_line;
  const char *name = found ? found->name : "";
  size_t length = strlen(name), end = strcspn(error, "\n");
  ptx_plain_name(name, &name, &length);
  char where[40] = "";
  if (source) snprintf(where, sizeof where, ":%u", source);
  bool target = memmem(error, end, "not supported on .target", 24) && !memmem(error, end, "'sm_90a'", 8);
  if (found)
    fprintf(stderr, "banks %s: ptxas' line %u is in the %s %.*s, %s%s%s\n", q->command, line,
            found->is_entry ? "kernel" : "function", (int)length, name, q->file, where,
            target ? "; add -arch=sm_90a, the target that has it" : "");
  ptx_free(m);
}

/* nvcc on the author's own file, its messages to standard error. */
static char *compile_nvcc(const struct request *q, size_t *size)
{
  char folder[] = "/tmp/banks-profile-XXXXXX", out[64], messages[64];
  const char *argv[REQUEST_FLAGS + 16];
  size_t n = 0;
  if (!toolchain_temp(folder)) return NULL;
  snprintf(out, sizeof out, "%s/k.ptx", folder);
  snprintf(messages, sizeof messages, "%s/said", folder);
  argv[n++] = toolchain_find()->nvcc;
  argv[n++] = "-ptx";
  argv[n++] = "-lineinfo";
  argv[n++] = "--extended-lambda";   /* harmless where no lambda is marked __device__ */
  bool arch = false;
  for (size_t i = 0; i < q->nflags; i++) {
    argv[n++] = q->flags[i];
    arch |= strstr(q->flags[i], "-arch") || strstr(q->flags[i], "-gencode");
  }
  if (!arch) argv[n++] = "-arch=sm_90";
  argv[n++] = "-o";
  argv[n++] = out;
  argv[n++] = q->file;
  argv[n] = NULL;
  pid_t child = fork();
  if (child == 0) {
    int said = open(messages, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (said >= 0) dup2(said, 2);
    dup2(2, 1);                       /* --json: standard output is ours */
    execv(argv[0], (char *const *)argv);
    _exit(127);
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  size_t length = 0;
  char *ptx = read_all(out, size), *said = read_all(messages, &length);
  if (said) fwrite(said, 1, length, stderr);
  if (status != 0 && said && ptx) explain_ptxas(q, said, ptx, *size);
  if (status != 0) {
    free(ptx);
    ptx = NULL;
  }
  free(said);
  unlink(out);
  unlink(messages);
  rmdir(folder);
  toolchain_temp_done(folder);
  return ptx;
}

/* The PTX text of the file, malloc'ed; NULL after telling why, with the exit status to return. */
static char *load_ptx(struct request *q, size_t *size, int *status)
{
  size_t length = strlen(q->file);
  bool is_ptx = length > 4 && !strcmp(q->file + length - 4, ".ptx");
  *status = REQUEST_USAGE;
  if (access(q->file, R_OK) != 0) {
    usage_error(q, "cannot read %s: %s", q->file, strerror(errno));
    return NULL;
  }
  q->ptx_is_given = is_ptx;
  if (is_ptx) {
    char *text = read_all(q->file, size);
    if (!text) usage_error(q, "cannot read %s: %s", q->file, strerror(errno));
    return text;
  }
  if (*toolchain_find()->nvcc) {
    char *ptx = compile_nvcc(q, size);
    if (!ptx) usage_error(q, "%s does not compile; the compiler's messages are above", q->file);
    return ptx;
  }
  if (q->nflags) {
    usage_error(q, "the compiler's flags are nvcc's, and there is no nvcc here; make the .ptx with "
                "clang and give that");
    return NULL;
  }
  struct compiled c;
  const char *slash = strrchr(q->file, '/');
  toolchain_cuda(q->file, slash ? slash + 1 : q->file, TOOLCHAIN_CLANG, &c);
  char *ptx = NULL;
  if (c.ok) {
    ptx = c.code;
    *size = c.code_size;
    c.code = NULL;
  } else {
    for (size_t i = 0; i < c.ndiagnostics; i++)
      fprintf(stderr, "%s:%u: %s: %s\n", c.diagnostics[i].file, c.diagnostics[i].line,
              c.diagnostics[i].error ? "error" : "warning", c.diagnostics[i].text);
    usage_error(q, "%s", c.summary);
    if (c.our_fault) *status = REQUEST_OURS;
  }
  compiled_free(&c);
  return ptx;
}

/* The parameters' names, from the .cu, or from the file that most of the kernel was written in. */
static bool names_of(const struct request *q, struct signature *names)
{
  const struct ptx_function *f = q->entry;
  const char *name = q->kernel;
  char plain[256];
  size_t length = strlen(q->file), text_size;
  ptx_plain_name(f->name, &name, &length);
  if (name != q->kernel) snprintf(plain, sizeof plain, "%.*s", (int)length, name);
  else snprintf(plain, sizeof plain, "%s", f->name);
  char *text = NULL;
  if (q->ptx_is_given) {
    for (size_t i = 0; i < f->ninsts && !text; i++)
      if (f->insts[i].author_line && f->insts[i].author_file < q->module->nfiles &&
          q->module->files[f->insts[i].author_file])
        text = profile_source(q->module->files[f->insts[i].author_file], q->file);
  } else {
    text = read_all(q->file, &text_size);
  }
  bool found = text && signature_find(text, plain, f->nparams, names);
  free(text);
  return found;
}

int request_load(struct request *q)
{
  struct ptx_error error;
  struct signature names;
  char why[3000];
  int status = 0;
  q->ptx = load_ptx(q, &q->ptx_size, &status);
  if (!q->ptx) return status;
  q->module = ptx_read_some(q->ptx, q->ptx_size, &error);
  if (!q->module) return usage_error(q, "%s: PTX line %u: %s", q->file, error.line, error.text);
  q->entry = kernels_find(q->module, q->kernel, why, sizeof why);
  if (!q->entry) return usage_error(q, "%s: %s", q->file, why);
  bool named = names_of(q, &names);
  if (!arguments_check(q->entry, q->arguments, q->narguments, named ? &names : NULL, why,
                       sizeof why))
    return usage_error(q, "%s", why);
  q->nbuffers = arguments_buffers(q->arguments, q->narguments, q->buffers, REQUEST_BUFFERS);
  if (q->nbuffers > REQUEST_BUFFERS)
    return usage_error(q, "more than %d buffers", REQUEST_BUFFERS);
  for (size_t i = 0; i < q->nbuffers; i++)
    for (size_t k = 0; k < i; k++)
      if (q->buffers[i]->save && q->buffers[k]->save && !strcmp(q->buffers[i]->save, q->buffers[k]->save))
        return usage_error(q, "%s and %s are both to be written to %s: the second would replace the first",
                           q->buffers[k]->label, q->buffers[i]->label, q->buffers[i]->save);
  return 0;
}

/* ---- the run ------------------------------------------------------------------------------- */

int request_launch(const struct request *q, unsigned fill, struct sim **sim,
                   struct sim_result *result)
{
  uint64_t memory = UINT64_C(1) << 31;
  for (size_t i = 0; i < q->nbuffers; i++) memory += q->buffers[i]->bytes + 4096;
  struct sim_options options = {.threads = q->threads, .step_budget = q->budget,
                                .warp_budget = q->budget, .memory_limit = memory,
                                .no_fuse = q->no_fuse, .seed = 1, .shared_fill = fill};
  struct ptx_error error;
  uint8_t *params = NULL;
  size_t param_bytes;
  *sim = sim_open(&options);
  if (!*sim) return ours(q, "the host has no memory for the simulator");
  if (!sim_load_for(*sim, q->module, q->entry, &error)) {
    char from[300] = "";
    if (error.source_line)
      snprintf(from, sizeof from, ", from %s:%u", error.source_file, error.source_line);
    return usage_error(q, "%s: PTX line %u%s: %s", q->file, error.line, from, error.text);
  }
  for (size_t i = 0; i < q->nbuffers; i++) {
    struct argument *a = q->buffers[i];
    a->address = sim_alloc(*sim, a->bytes, a->label, false);
    void *to = a->address && a->bytes ? sim_host(*sim, a->address, a->bytes) : NULL;
    if (!a->address || (a->bytes && !to))
      return ours(q, "%s: no memory for %zu bytes", a->label, a->bytes);
    if (to) memcpy(to, a->data, a->bytes);
  }
  if (!arguments_pack(q->entry, q->arguments, q->narguments, &params, &param_bytes))
    return ours(q, "out of memory");
  struct sim_launch launch = {.kernel = q->entry->name, .shared_bytes = q->shared,
                              .params = params, .param_bytes = param_bytes};
  memcpy(launch.grid, q->grid, sizeof launch.grid);
  memcpy(launch.block, q->block, sizeof launch.block);
  memcpy(launch.cluster, q->cluster, sizeof launch.cluster);
  sim_launch(*sim, &launch, result);
  free(params);
  return 0;
}

int request_run(struct request *q)
{
  int status = request_launch(q, 0, &q->sim, &q->result);
  return status ? status : request_settle(q);
}

bool request_refused(const struct request *q)
{
  const struct sim_fault *f = q->result.faults;
  if (q->result.nfaults != 1 || f->kind != SIM_FAULT_LAUNCH || f->ptx_line) return false;
  const char *at = strstr(f->text, q->entry->name);
  if (at)
    usage_error(q, "the launch cannot be: %.*s%s%s", (int)(at - f->text), f->text, q->kernel,
                at + strlen(q->entry->name));
  else usage_error(q, "the launch cannot be: %s", f->text);
  return true;
}

void request_free(struct request *q)
{
  sim_result_free(&q->result);
  free(q->notes);
  if (q->sim) sim_close(q->sim);
  if (q->module) ptx_free(q->module);
  free(q->ptx);
  for (size_t i = 0; i < q->narguments; i++) argument_free(&q->arguments[i]);
  memset(q, 0, sizeof *q);
}
