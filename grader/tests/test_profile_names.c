/* Kernels by the names their authors have for them, parameters by the names the source has, and the
 * compiler started where the author is. */
#define _GNU_SOURCE
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/kernels.h"
#include "tests/run.h"
#include "tests/typed.h"
#include "toolchain/toolchain.h"

void test_profile_names(Suite *s);

/* ---- kernels -------------------------------------------------------------------------------- */

static const char *const mangled[] = {
  "plain",
  "_Z4copyPKfPfi",                                       /* copy(float const*, float*, int) */
  "_Z4copyPK6float4PS_i",                                /* copy(float4 const*, float4*, int) */
  "_ZN6linear6detail9transposeIfLi32ELi8ELi0EEEvPKT_PS2_ii",
  "_ZN6linear6detail9transposeIfLi32ELi8ELi1EEEvPKT_PS2_ii",
  "_ZN6linear6detail9transposeIdLi32ELi8ELi0EEEvPKT_PS2_ii",
  "_Z5tilesILj32ELb1EEvPf",                              /* tiles<32u, true>(float*) */
  "_ZN12_GLOBAL__N_16hiddenEPi",                         /* (anonymous namespace)::hidden(int*) */
};
enum { KERNELS = sizeof mangled / sizeof *mangled };

/* `want` is a kernel's index, or -1 and `part` of what is told. */
static const struct { const char *name; int want; const char *part; } names[] = {
  {"plain", 0, ""},
  {"_Z4copyPKfPfi", 1, ""},
  {"copy", -1, "'copy' may be 'copy(float const*, float*, int)' and 'copy(float4 const*, float4*, int)': "
               "type the one you mean, in quotes"},
  {"copy(float const*, float*, int)", 1, ""},
  {"copy(const float4 *, float4 *, int)", 2, ""},
  {"copy(float4*,float4*,int)", 2, ""},
  {"transpose", -1, "'linear::detail::transpose<float, 32, 8, 0>(float const*, float*, int, int)'"},
  {"transpose<float>", -1, "may be"},
  {"transpose<double>", 5, ""},
  {"transpose<float,32,8,1>", 4, ""},
  {"linear::detail::transpose<float, 32, 8, 0>", 3, ""},
  {"linear::detail::transpose<double>", 5, ""},
  {"detail::transpose<double>", -1, "there is no kernel 'detail::transpose<double>'"},
  {"tiles", 6, ""},
  {"tiles<32>", 6, ""},
  {"tiles<32u, true>", 6, ""},
  {"tiles<33>", -1, "there is no kernel 'tiles<33>'; 'tiles<32u, true>(float*)' is nearest"},
  {"hidden", 7, ""},
  {"plane", -1, "'plain' is nearest; the file has 'plain'"},
  {"Plain", -1, "'plain' is nearest"},
  {"something_else", -1, "there is no kernel 'something_else'; the file has 'plain'"},
  {"transpos", -1, "is nearest"},
};

static struct ptx_module *module_of(const char *const *list, size_t n)
{
  char text[4000];
  struct ptx_error e;
  size_t used = (size_t)snprintf(text, sizeof text, ".version 8.0\n.target sm_90\n.address_size 64\n");
  for (size_t i = 0; i < n; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, ".visible .entry %s()\n{\nret;\n}\n", list[i]);
  struct ptx_module *m = ptx_read(text, used, &e);
  ck_assert_msg(m != NULL, "line %u: %s", e.line, e.text);
  return m;
}

START_TEST(kernels_by_name)
{
  struct ptx_module *m = module_of(mangled, KERNELS);
  char why[2000];
  struct ptx_function *f = kernels_find(m, names[_i].name, why, sizeof why);
  if (names[_i].want >= 0)
    ck_assert_msg(f && !strcmp(f->name, mangled[names[_i].want]), "'%s' is %s: %s", names[_i].name,
                  f ? f->name : "none", why);
  else
    ck_assert_msg(!f && strstr(why, names[_i].part), "'%s': no '%s' in '%s'", names[_i].name,
                  names[_i].part, why);
  ptx_free(m);
}
END_TEST

START_TEST(a_file_without_kernels)
{
  struct ptx_module *m = module_of(NULL, 0);
  char why[2000];
  ck_assert(!kernels_find(m, "k", why, sizeof why));
  ck_assert_msg(strstr(why, "there is no kernel in the file"), "%s", why);
  ptx_free(m);
}
END_TEST

/* ---- parameters ----------------------------------------------------------------------------- */

static const char source[] =
  "// __global__ void commented(int wrong);\n"
  "#define N 4\n"
  "extern \"C\" __global__ void __launch_bounds__(256, (N)) first(const float *__restrict__ in, /* , */\n"
  "    int (&grid)[3], Pair<int, float> pair = {1, 2}, float w[9], unsigned char\nflag)\n{ first(0); }\n"
  "template <typename T, int M = 3> __global__ static void second(T *a, int n);\n"
  "template <typename T, int M> __global__ static void second(T *a, int n) { }\n"
  "__global__ void overloaded(float *x) {}  __global__ void overloaded(float4 *y) {}\n"
  "__global__ void overloaded(float *x, int n) {}\n"
  "__global__ void nothing(void) { const char *s = \"__global__ void k(int in_string)\"; }\n";

static const struct { const char *kernel; size_t n; const char *names; } signatures[] = {
  {"first", 5, "in grid pair w flag "}, {"first", 4, NULL}, {"second", 2, "a n "},
  {"overloaded", 1, NULL}, {"overloaded", 2, "x n "}, {"nothing", 0, ""}, {"commented", 1, NULL},
  {"k", 1, NULL}, {"firs", 5, NULL},
};

START_TEST(parameters_by_name)
{
  struct signature s;
  bool found = signature_find(source, signatures[_i].kernel, signatures[_i].n, &s);
  char got[200] = "";
  ck_assert_msg(found == (signatures[_i].names != NULL), "%s/%zu", signatures[_i].kernel,
                signatures[_i].n);
  for (size_t i = 0; found && i < s.n; i++)
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", s.params[i].name);
  if (found) ck_assert_str_eq(got, signatures[_i].names);
}
END_TEST

/* ---- PTX without lines, sources elsewhere --------------------------------------------------- */

START_TEST(ptx_without_lines)
{
  char folder[64], path[100], *out;
  size_t size;
  char *text = run_read("grader/tests/profile/profile.ptx", &size), *to = text;
  for (char *line = text; *line;) {        /* as compiled without -lineinfo */
    size_t n = strcspn(line, "\n") + 1;
    if (!strstr(line, ".loc") || strstr(line, ".loc") > line + n) memmove(to, line, n), to += n;
    line += n;
  }
  run_folder(folder);
  snprintf(path, sizeof path, "%s/moved.ptx", folder);
  run_write(path, text, (size_t)(to - text));
  free(text);
  const char *const argv[] = {NULL, "profile", path, "transpose", "--grid", "2,2", "--block", "32,32",
                              "f32[4096]", "f32[4096]", "i32:64", "i32:64", NULL};
  int status = run_banks(&out, argv);
  ck_assert_msg(status == 0, "%d: %s", status, out);
  ck_assert_msg(strstr(out, "moved.ptx:") && strstr(out, "ld.shared"), "%s", out);
  free(out);
  run_remove(folder);
}
END_TEST

static const char author[] =
  "#include \"near.cuh\"\n#include <far.cuh>\n"
  "namespace mine {\n"
  "template <typename T> __global__ void kernel(T *data, Size s)\n"
  "{\n"
  "  __shared__ T tile[SIDE][SIDE];\n"
  "  TILE(threadIdx.y, threadIdx.x) = data[threadIdx.y * s.n + threadIdx.x];\n"
  "  __syncthreads();\n"
  "  data[threadIdx.y * s.n + threadIdx.x] = TILE(threadIdx.x, threadIdx.y);\n"
  "}\n"
  "}\n"
  "int main() { mine::kernel<float><<<1, 1>>>(nullptr, Size{1}); }\n";

/* The compiler finds what the author's finds, from another folder; one compilation. */
START_TEST(an_author_elsewhere)
{
  char folder[64], name[300], *out, cwd[1000], absolute[1200];
  if (!*toolchain_find()->nvcc) return;
  run_folder(folder);
  snprintf(name, sizeof name, "mkdir -p %s/src %s/include %s/build", folder, folder, folder);
  ck_assert_int_eq(system(name), 0);
  snprintf(name, sizeof name, "%s/src/author.cu", folder);
  run_write(name, author, sizeof author - 1);
  snprintf(name, sizeof name, "%s/src/near.cuh", folder);
  run_write(name, "struct Size { int n; };\n", 24);
  snprintf(name, sizeof name, "%s/include/far.cuh", folder);
  run_write(name, "#define TILE(y, x) tile[y][x]\n", 30);
  ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
  const char *banks = getenv("BANKS") ? getenv("BANKS") : "build/banks";
  snprintf(absolute, sizeof absolute, "%s%s%s", *banks == '/' ? "" : cwd, *banks == '/' ? "" : "/", banks);
  snprintf(name, sizeof name, "%s/build", folder);
  ck_assert_int_eq(chdir(name), 0);
  const char *const argv[] = {absolute, "profile", "../src/author.cu", "kernel", "-I../include", "-DSIDE=32",
                              "--grid", "1", "--block", "32,32", "f32[32*32]=iota", "{i32:32}", NULL};
  int status = run_banks(&out, argv);
  ck_assert_int_eq(chdir(cwd), 0);
  ck_assert_msg(status == 0, "%d: %s", status, out);
  ck_assert_msg(strstr(out, "TILE(threadIdx.x, threadIdx.y);") && strstr(out, "author.cu:9"), "%s", out);
  ck_assert_msg(strstr(out, "from 128 to 132 bytes"), "%s", out);
  free(out);
  run_remove(folder);
}
END_TEST

/* What ptxas says of a file nobody can look at is said of the author's. */
static const struct { const char *flag, *word, *said; } assembled[] = {
  {"-arch=sm_90", "wgmma.fence.sync.aligned", "is in the kernel second, %s/asm.cu:4; add -arch=sm_90a"},
  {"-arch=sm_90", "frob", "is in the kernel second, %s/asm.cu:4\n"},
  {"-arch=sm_90a", "tcgen05.wait::ld.sync.aligned", "is in the kernel second, %s/asm.cu:4\n"},
};

START_TEST(ptxas_says)
{
  char folder[64], name[100], text[300], said[200], *out;
  if (!*toolchain_find()->nvcc) return;
  run_folder(folder);
  snprintf(name, sizeof name, "%s/asm.cu", folder);
  int n = snprintf(text, sizeof text, "__global__ void first(int *p) { p[0] = 1; }\n"
                   "__global__ void second(int *p)\n{\n  asm volatile(\"%s;\");\n}\n", assembled[_i].word);
  run_write(name, text, (size_t)n);
  const char *const argv[] = {NULL, "profile", name, "first", assembled[_i].flag, "--grid", "1", "--block", "32",
                              "i32[1]", NULL};
  int status = run_banks(&out, argv);
  ck_assert_msg(status == 2, "%d: %s", status, out);
  snprintf(said, sizeof said, assembled[_i].said, folder);
  ck_assert_msg(strstr(out, "ptxas fatal") && strstr(out, said), "no '%s' in: %s", said, out);
  free(out);
  run_remove(folder);
}
END_TEST

/* The lines of a toolkit's headers are nobody's: whatever its functions call, the author's line is told. */
START_TEST(headers_lines)
{
  static const char source[] =
    "#include <cuda_pipeline.h>\n"
    "__global__ void copy(const float4 *in, float4 *out)\n{\n"
    "  __shared__ float4 tile[32];\n"
    "  __pipeline_memcpy_async(&tile[threadIdx.x + 1], &in[threadIdx.x], 16);\n"
    "  __pipeline_commit();\n  __pipeline_wait_prior(0);\n  __syncthreads();\n"
    "  out[threadIdx.x] = tile[threadIdx.x];\n}\n";
  char folder[64], name[100], *out;
  if (!*toolchain_find()->nvcc) return;
  run_folder(folder);
  snprintf(name, sizeof name, "%s/copy.cu", folder);
  run_write(name, source, sizeof source - 1);
  const char *const argv[] = {NULL, "profile", name, "copy", "--grid", "1", "--block", "32", "f32[128]",
                              "f32[128]", NULL};
  int status = run_banks(&out, argv);
  ck_assert_msg(status == 1 && strstr(out, "fault: out of bounds at copy.cu:5,") &&
                  strstr(out, "\ncopy.cu:5 ") && !strstr(out, "helpers.h"), "%d: %s", status, out);
  free(out);
  run_remove(folder);
}
END_TEST

void test_profile_names(Suite *s)
{
  TCase *t = tcase_create("names");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, kernels_by_name, 0, sizeof names / sizeof *names);
  tcase_add_test(t, a_file_without_kernels);
  tcase_add_loop_test(t, parameters_by_name, 0, sizeof signatures / sizeof *signatures);
  tcase_add_test(t, ptx_without_lines);
  tcase_add_test(t, an_author_elsewhere);
  tcase_add_loop_test(t, ptxas_says, 0, sizeof assembled / sizeof *assembled);
  tcase_add_test(t, headers_lines);
  suite_add_tcase(s, t);
}
