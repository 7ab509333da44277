/* banks doctor: what this machine has, and for each thing missing, what to do.
 *
 * The GPU is looked for in files only (/proc, and the loader's search for libcuda in the linker's
 * cache): this process must never load libcuda. */
#define _GNU_SOURCE
#include "cli.h"

#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolchain/toolchain.h"

static void row(bool good, const char *what, const char *is, const char *remedy)
{
  printf("  %s %-13s %s\n", good ? "ok     " : "missing", what, is);
  if (!good && *remedy) printf("          %-13s -> %s\n", "", remedy);
}

/* First line of a small file of the system, without its newline. */
static bool first_line(const char *path, char *to, size_t size)
{
  FILE *f = fopen(path, "re");
  bool ok = f && fgets(to, (int)size, f);
  if (f) fclose(f);
  if (ok) to[strcspn(to, "\n")] = 0;
  return ok;
}

/* "Model:   NVIDIA H200" of the first card; how many there are. */
static int count_cards(char *name, size_t size)
{
  static const char cards[] = "/proc/driver/nvidia/gpus";
  DIR *d = opendir(cards);
  struct dirent *e;
  int n = 0;
  *name = 0;
  while (d && (e = readdir(d))) {
    if (*e->d_name == '.') continue;
    char path[512], line[256];
    snprintf(path, sizeof path, "%s/%.200s/information", cards, e->d_name);
    FILE *f = fopen(path, "re");
    while (f && !*name && fgets(line, sizeof line, f))
      if (!strncmp(line, "Model:", 6))
        snprintf(name, size, "%.100s", line + 6 + strspn(line + 6, " \t"));
    if (f) fclose(f);
    name[strcspn(name, "\n")] = 0;
    n++;
  }
  if (d) closedir(d);
  return n;
}

static bool have_libcuda(void)
{
  static const char *const places[] = {
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1", "/usr/lib/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/local/cuda/compat/libcuda.so.1"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (access(places[i], R_OK) == 0) return true;
  return false;
}

static void gpu(void)
{
  char card[128], line[256], text[512], driver[64] = "?";
  int n = count_cards(card, sizeof card);
  if (n == 0) {
    row(access("/dev/nvidiactl", F_OK) == 0, "GPU", "none: kernels run on the simulator, times are "
        "predicted", "nothing to do for grading; times need an NVIDIA card and its driver");
    return;
  }
  if (first_line("/proc/driver/nvidia/version", line, sizeof line)) {
    const char *at = strstr(line, "Module");
    if (at) sscanf(at, "Module%*[^0-9]%63[0-9.]", driver);
  }
  snprintf(text, sizeof text, "%d x %s, driver %s", n, card, driver);
  row(true, "GPU", text, "");
  row(have_libcuda(), "libcuda", have_libcuda() ? "found" : "not found in the usual places",
      "the driver's user library is not there; in a container start it with --gpus all");
}

int command_doctor(int argc, char **argv)
{
  if (argc > 1) {
    bool help = !strcmp(argv[1], "--help");
    fprintf(help ? stdout : stderr, "usage: banks doctor\n\nSays which compilers, libraries, sandbox "
            "and GPU there are, and what to do about those missing.\n");
    return help ? CLI_OK : CLI_USAGE;
  }
  const struct toolchain_found *found = toolchain_find();
  char text[1024], path[512];
  bool kernels = *found->nvcc || *found->clang, boxed = !strcmp(sandbox_kind(), "bubblewrap");
  printf("compilers\n");
  snprintf(text, sizeof text, "%s, %.500s", found->nvcc_version, found->nvcc);
  row(*found->nvcc, "nvcc", *found->nvcc ? text : "not in PATH, CUDA_HOME or /usr/local/cuda",
      *found->clang ? "clang compiles kernels here; for nvcc's own PTX install the CUDA Toolkit"
                    : "install the CUDA Toolkit 12 or newer, or clang");
  snprintf(text, sizeof text, "%s, %.500s", found->clang_version, found->clang);
  row(*found->clang, "clang", *found->clang ? text
      : *found->why_not_clang ? found->why_not_clang : "not in PATH",
      *found->nvcc ? "not needed: there is nvcc" : "apt-get install clang");
  row(*found->cc, "C compiler", *found->cc ? found->cc_version : "none in PATH",
      "apt-get install gcc libc6-dev");
  printf("libraries and programs\n");
  snprintf(text, sizeof text, "%d.%d.%d", check_major_version, check_minor_version,
           check_micro_version);
  row(true, "Check", text, "");
  row(true, "jansson", JANSSON_VERSION, "");
  bool gnuplot = toolchain_which("gnuplot", path, sizeof path);
  row(gnuplot, "gnuplot", gnuplot ? path : "not in PATH; only `make plots` needs it",
      "apt-get install gnuplot-nox");
  row(boxed, "sandbox", sandbox_kind(),
      "without it grade only work you trust; apt-get install bubblewrap, and allow user "
      "namespaces (sysctl kernel.unprivileged_userns_clone=1, or kernel."
      "apparmor_restrict_unprivileged_userns=0; Docker: --security-opt seccomp=unconfined)");
  printf("device\n");
  gpu();
  if (kernels && *found->cc) return CLI_OK;
  printf("\nNot all exercises can be graded here until %s.\n",
         kernels ? "there is a C compiler" : "there is nvcc or clang");
  return CLI_FAILED;
}
