/* banks profile: run any kernel on the simulator and say where its wavefronts go.
 *
 * The file is the author's own, so it is compiled where it lies, with its own includes; only a
 * compiled kernel runs on the simulator, which can harm nothing. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "profile/arguments.h"
#include "profile/profile.h"
#include "toolchain/toolchain.h"

enum { MOST_ARGUMENTS = 64, MOST_FLAGS = 32 };

struct request {
  const char *file, *kernel, *output;
  uint32_t grid[3], block[3], shared;
  bool json, has_grid, has_block;
  unsigned threads, pictures;
  uint64_t budget;
  bool no_fuse;
  char *flags[MOST_FLAGS];
  size_t nflags;
  struct argument arguments[MOST_ARGUMENTS];
  size_t narguments;
};

static int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int usage_error(const char *format, ...)
{
  va_list ap;
  fprintf(stderr, "banks profile: ");
  va_start(ap, format);
  vfprintf(stderr, format, ap);
  va_end(ap);
  fprintf(stderr, "\n");
  return CLI_USAGE;
}

static void help(void)
{
  printf(
    "usage: banks profile FILE KERNEL --grid X[,Y[,Z]] --block X[,Y[,Z]] [OPTIONS] ARGUMENT...\n"
    "  FILE            a .cu file, or a .ptx file (nvcc -arch=sm_90 -ptx -lineinfo)\n"
    "  KERNEL          its name, as in the source\n"
    "  --shared BYTES  dynamic shared memory\n"
    "  --json          the profile as JSON on standard output\n"
    "  --pictures N    draw the worst request of N lines (3)\n"
    "  --nvcc=FLAG     passed to the compiler, like --nvcc=-DTILE=33; may be repeated\n"
    "  --threads N     host threads; the result is the same with any number\n"
    "  --budget N      warp instructions the kernel may execute\n"
    "  --as-written    count PTX as written, without joining accesses as ptxas does\n"
    "ARGUMENT, in the kernel's order:\n"
    "  i32:256 f32:0.5 u64:7        scalars: i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64\n"
    "  {i32:4,f32:0.5}              a struct by value\n"
    "  f32[65536] f32[256*256]      a buffer of zeros; after it:\n"
    "    =uniform =uniform:SEED     floats in [-1, 1), integers over their range\n"
    "    =below:N =below:N:SEED     whole numbers from 0 to N - 1\n"
    "    =iota =VALUE =@FILE        0 1 2 ..., one value, raw little-endian bytes\n"
    "    >FILE                      write the buffer there afterwards\n"
    "  tma:f16[64,128]=uniform/box=64,64/swizzle=128B\n"
    "                               a tensor map of such a buffer (CUtensorMap by value)\n"
    "exit status: 0 clean, 1 a fault in the kernel, 2 bad input, 3 our fault\n");
}

/* "16", "16,8", "16,8,2": at least 1 each. */
static bool dimensions(const char *text, uint32_t out[3])
{
  out[0] = out[1] = out[2] = 1;
  for (int i = 0; i < 3; i++) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (end == text || errno || n == 0 || n > UINT32_MAX || *text == '-') return false;
    out[i] = (uint32_t)n;
    if (!*end) return true;
    if (*end != ',' && *end != 'x') return false;
    text = end + 1;
  }
  return false;
}

static bool natural(const char *text, uint64_t most, uint64_t *out)
{
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  *out = n;
  return end != text && !*end && !errno && n <= most && *text != '-';
}

static int option(struct request *q, const char *name, const char *value)
{
  uint64_t n = 0;
  if (!strcmp(name, "--grid") || !strcmp(name, "--block")) {
    bool grid = name[2] == 'g';
    if (!dimensions(value, grid ? q->grid : q->block))
      return usage_error("%s: expected X, X,Y or X,Y,Z of whole numbers from 1, found '%s'", name,
                         value);
    *(grid ? &q->has_grid : &q->has_block) = true;
    return 0;
  }
  if (!strcmp(name, "--nvcc")) {
    if (q->nflags == MOST_FLAGS) return usage_error("more than %d --nvcc flags", MOST_FLAGS);
    q->flags[q->nflags++] = (char *)value;
    return 0;
  }
  uint64_t most = !strcmp(name, "--budget") ? UINT64_MAX / 2 : UINT32_MAX;
  if (!natural(value, most, &n))
    return usage_error("%s: expected a whole number, found '%s'", name, value);
  if (!strcmp(name, "--shared")) q->shared = (uint32_t)n;
  else if (!strcmp(name, "--threads")) q->threads = n > 1024 ? 1024 : (unsigned)n;
  else if (!strcmp(name, "--pictures")) q->pictures = (unsigned)n;
  else q->budget = n;
  return 0;
}

static int parse(int argc, char **argv, struct request *q)
{
  static const char *const valued[] = {"--grid", "--block", "--shared", "--threads", "--pictures",
                                       "--budget", "--nvcc"};
  char why[600];
  for (int i = 1; i < argc; i++) {
    char *arg = argv[i];
    if (!strcmp(arg, "--json")) q->json = true;
    else if (!strcmp(arg, "--as-written")) q->no_fuse = true;
    else if (arg[0] == '-') {
      size_t length = strcspn(arg, "="), k = 0, n = sizeof valued / sizeof *valued;
      while (k < n && !(strlen(valued[k]) == length && !strncmp(valued[k], arg, length))) k++;
      if (k == n) return usage_error("unknown option '%s'; banks profile --help lists them", arg);
      if (!arg[length] && i + 1 == argc) return usage_error("%s: its value is missing", arg);
      int status = option(q, valued[k], arg[length] ? arg + length + 1 : argv[++i]);
      if (status) return status;
    } else if (!q->file) q->file = arg;
    else if (!q->kernel) q->kernel = arg;
    else {
      if (q->narguments == MOST_ARGUMENTS)
        return usage_error("more than %d arguments", MOST_ARGUMENTS);
      struct argument *a = &q->arguments[q->narguments++];
      if (!argument_parse(arg, a, why, sizeof why)) return usage_error("argument %s", why);
    }
  }
  if (!q->file || !q->kernel)
    return usage_error("name a .cu or .ptx file and a kernel; banks profile --help explains");
  if (!q->has_grid || !q->has_block)
    return usage_error("--grid and --block are needed, like --grid 32,32 --block 32,8");
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

/* nvcc on the author's own file, its messages to standard error. */
static char *compile_nvcc(const struct request *q, size_t *size)
{
  char folder[] = "/tmp/banks-profile-XXXXXX", out[64];
  const char *argv[MOST_FLAGS + 16];
  size_t n = 0;
  if (!toolchain_temp(folder)) return NULL;
  snprintf(out, sizeof out, "%s/k.ptx", folder);
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
    dup2(2, 1);                       /* --json: standard output is ours */
    execv(argv[0], (char *const *)argv);
    _exit(127);
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  char *ptx = status == 0 ? read_all(out, size) : NULL;
  unlink(out);
  rmdir(folder);
  toolchain_temp_done(folder);
  return ptx;
}

/* The PTX text of the file, malloc'ed; NULL after telling why, with the exit status to return. */
static char *load_ptx(const struct request *q, size_t *size, int *status)
{
  size_t length = strlen(q->file);
  bool is_ptx = length > 4 && !strcmp(q->file + length - 4, ".ptx");
  *status = CLI_USAGE;
  if (access(q->file, R_OK) != 0) {
    usage_error("cannot read %s: %s", q->file, strerror(errno));
    return NULL;
  }
  if (is_ptx) {
    char *text = read_all(q->file, size);
    if (!text) usage_error("cannot read %s: %s", q->file, strerror(errno));
    return text;
  }
  if (*toolchain_find()->nvcc) {
    char *ptx = compile_nvcc(q, size);
    if (!ptx) usage_error("%s does not compile; the compiler's messages are above", q->file);
    return ptx;
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
    usage_error("%s", c.summary);
    if (c.our_fault) *status = CLI_OURS;
  }
  compiled_free(&c);
  return ptx;
}

static struct ptx_function *find_kernel(const struct ptx_module *m, const char *name)
{
  struct ptx_function *f = ptx_find_entry(m, name);
  if (f) return f;
  fprintf(stderr, "banks profile: no single kernel '%s'; the file has:", name);
  for (size_t i = 0; i < m->nfunctions; i++)
    if (m->functions[i]->is_entry) fprintf(stderr, " %s", m->functions[i]->name);
  fprintf(stderr, "\n");
  return NULL;
}

/* ---- the run ------------------------------------------------------------------------------- */

static bool save(struct sim *sim, const struct argument *a)
{
  const void *data = a->bytes ? sim_host(sim, a->address, a->bytes) : "";
  FILE *f = data ? fopen(a->save, "wb") : NULL;
  bool ok = f && fwrite(data, 1, a->bytes, f) == a->bytes;
  if (f && fclose(f) != 0) ok = false;
  if (!ok) fprintf(stderr, "banks profile: cannot write %s: %s\n", a->save, strerror(errno));
  return ok;
}

static int run(struct request *q, const char *ptx, struct ptx_module *module,
               struct ptx_function *kernel)
{
  uint64_t memory = UINT64_C(1) << 31;
  for (size_t i = 0; i < q->narguments; i++) memory += q->arguments[i].bytes + 4096;
  struct sim_options options = {.threads = q->threads, .step_budget = q->budget,
                                .warp_budget = q->budget, .memory_limit = memory,
                                .no_fuse = q->no_fuse, .seed = 1};
  struct ptx_error error;
  struct sim *sim = sim_open(&options);
  if (!sim) {
    fprintf(stderr, "banks profile: the host has no memory for the simulator\n");
    return CLI_OURS;
  }
  int status = CLI_OURS;
  uint8_t *params = NULL;
  size_t param_bytes;
  if (!sim_load(sim, module, &error)) {
    status = usage_error("%s: PTX line %u%s%s: %s", q->file, error.line,
                         error.source_line ? ", from " : "",
                         error.source_line ? error.source_file : "", error.text);
    goto out;
  }
  for (size_t i = 0; i < q->narguments; i++) {
    struct argument *a = &q->arguments[i];
    char name[32];
    if (!a->is_buffer) continue;
    snprintf(name, sizeof name, "argument %zu", i + 1);
    a->address = sim_alloc(sim, a->bytes, name, false);
    void *to = a->address && a->bytes ? sim_host(sim, a->address, a->bytes) : NULL;
    if (!a->address || (a->bytes && !to)) {
      fprintf(stderr, "banks profile: argument %zu: no memory for %zu bytes\n", i + 1, a->bytes);
      goto out;
    }
    if (to) memcpy(to, a->data, a->bytes);
  }
  if (!arguments_pack(kernel, q->arguments, q->narguments, &params, &param_bytes)) goto out;
  struct sim_launch launch = {.kernel = kernel->name, .shared_bytes = q->shared, .params = params,
                              .param_bytes = param_bytes};
  memcpy(launch.grid, q->grid, sizeof launch.grid);
  memcpy(launch.block, q->block, sizeof launch.block);
  struct sim_result result;
  bool clean = sim_launch(sim, &launch, &result);
  struct profile p = {.kernel = q->kernel, .module = module, .result = &result};
  status = clean ? CLI_OK : CLI_FAILED;
  if (!profile_lines(&p, q->file, ptx)) status = CLI_OURS;
  else if (!q->json) profile_print(stdout, &p, q->pictures);
  else if (!profile_json(stdout, &p)) status = CLI_OURS;
  for (size_t i = 0; i < q->narguments; i++)
    if (q->arguments[i].save && !save(sim, &q->arguments[i])) status = CLI_USAGE;
  profile_free(&p);
  sim_result_free(&result);
out:
  free(params);
  sim_close(sim);
  return status;
}

int command_profile(int argc, char **argv)
{
  if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
    help();
    return argc < 2 ? CLI_USAGE : CLI_OK;
  }
  struct request q = {.pictures = 3};
  struct ptx_error error;
  size_t size = 0;
  char *ptx = NULL, why[700];
  struct ptx_module *module = NULL;
  struct ptx_function *kernel;
  int status = parse(argc, argv, &q);
  if (status == 0) ptx = load_ptx(&q, &size, &status);
  if (ptx) {
    status = CLI_USAGE;
    module = ptx_read(ptx, size, &error);
    if (!module) usage_error("%s: PTX line %u: %s", q.file, error.line, error.text);
    else if ((kernel = find_kernel(module, q.kernel))) {
      if (!arguments_check(kernel, q.arguments, q.narguments, why, sizeof why))
        usage_error("%s", why);
      else
        status = run(&q, ptx, module, kernel);
    }
  }
  if (module) ptx_free(module);
  free(ptx);
  for (size_t i = 0; i < q.narguments; i++) argument_free(&q.arguments[i]);
  return status;
}
