/* The author's line an instruction stands for, from the .loc before it (ptx/loc.c). */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"

enum { OWN = 1, OWN_HEADER, GROUPS, HELPERS, CLANGS };

/* What stands before the last instruction of the kernel; \a marks an instruction between. */
static const struct { const char *name, *text; uint32_t file, line; bool near; } cases[] = {
  {"plain", ".loc 1 7 3\n", OWN, 7, false},
  {"no line", ".loc 1 7 3\n\a.loc 1 0 3\n", 0, 0, false},
  {"a call of a header", ".loc 1 7 3\n.loc 3 90 5, function_name $f, inlined_at 1 7 3\n", OWN, 7, false},
  {"calls within headers",
   ".loc 1 10 5\n.loc 3 69 9, function_name $f, inlined_at 1 10 5\n"
   ".loc 4 292 5, function_name $f, inlined_at 3 69 9\n"
   ".loc 4 219 9, function_name $f, inlined_at 4 292 5\n"
   ".loc 4 203 23, function_name $f, inlined_at 4 219 9\n", OWN, 10, false},
  {"later, the innermost alone",
   ".loc 1 10 5\n.loc 3 69 9, function_name $f, inlined_at 1 10 5\n"
   ".loc 4 203 23, function_name $f, inlined_at 3 69 9\n\a.loc 1 20 5\n\a"
   ".loc 4 203 23, function_name $f, inlined_at 3 69 9\n", OWN, 10, false},
  {"a second inlining, with its chain",
   ".loc 3 69 9, function_name $f, inlined_at 1 10 5\n.loc 4 203 23, function_name $f, inlined_at 3 69 9\n\a"
   ".loc 3 69 9, function_name $f, inlined_at 1 12 5\n.loc 4 203 23, function_name $f, inlined_at 3 69 9\n",
   OWN, 12, false},
  {"then without: the latest of two",
   ".loc 3 69 9, function_name $f, inlined_at 1 10 5\n.loc 4 203 23, function_name $f, inlined_at 3 69 9\n\a"
   ".loc 3 69 9, function_name $f, inlined_at 1 12 5\n.loc 4 203 23, function_name $f, inlined_at 3 69 9\n\a"
   ".loc 1 9 1\n\a.loc 4 203 23, function_name $f, inlined_at 3 69 9\n", OWN, 12, true},
  {"two inlinings at one line",
   ".loc 3 69 9, function_name $f, inlined_at 1 10 5\n.loc 4 203 23, function_name $f, inlined_at 3 69 9\n\a"
   ".loc 3 69 9, function_name $f, inlined_at 1 10 25\n.loc 4 203 23, function_name $f, inlined_at 3 69 9\n\a"
   ".loc 1 9 1\n\a.loc 4 203 23, function_name $f, inlined_at 3 69 9\n", OWN, 10, false},
  {"a header in a function of the author's, inlined",
   ".loc 1 12 9, function_name $f, inlined_at 1 18 5\n.loc 4 69 9, function_name $f, inlined_at 1 12 9\n",
   OWN, 12, false},
  {"a function of the author's file", ".loc 1 12 9, function_name $f, inlined_at 1 18 5\n", OWN, 12, false},
  {"of another file of the author's", ".loc 2 5 9, function_name $f, inlined_at 1 18 5\n", OWN, 18, false},
  {"a header in that", ".loc 2 5 9, function_name $f, inlined_at 1 18 5\n"
   ".loc 4 69 9, function_name $f, inlined_at 2 5 9\n", OWN_HEADER, 5, false},
  {"the author's lambda, called by a header",
   ".loc 3 69 9, function_name $f, inlined_at 1 18 5\n.loc 1 16 9, function_name $f, inlined_at 3 69 9\n",
   OWN, 16, false},
  {"no chain", ".loc 1 12 9\n\a.loc 5 77 3\n", OWN, 12, true},
  {"a chain that leads nowhere", ".loc 1 12 9\n\a.loc 4 69 9, function_name $f, inlined_at 3 1 1\n", OWN, 12, true},
  {"nothing of the author's", ".loc 4 69 9\n", HELPERS, 69, false},
};

static const char files[] =
  ".file 1 \"own.cu\"\n.file 2 \"own.cuh\"\n.file 3 \"<cooperative_groups.h>\"\n"
  ".file 4 \"/usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_pipeline_helpers.h\"\n"
  ".file 5 \"/usr/lib/llvm-14/lib/clang/14.0.6/include/__clang_cuda_intrinsics.h\"\n";

START_TEST(author)
{
  char text[4000], body[2000] = "";
  for (const char *c = cases[_i].text; *c; c++) {
    const char one[] = {*c, 0};
    strcat(body, *c == '\a' ? "bar.sync 0;\n" : one);
  }
  for (int first = 0; first < 2; first++) {      /* nvcc names its files last, clang first */
    struct ptx_error e;
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n%s.loc 1 98 1\n.visible .entry before()\n{\n"
             ".loc 1 99 1\n.loc 3 1 1, function_name $f, inlined_at 1 99 1\nbar.sync 0;\nret;\n}\n"
             ".visible .entry k()\n{\n%sret;\n}\n%s.section .debug_str\n{\n$f:\n.b8 102,0\n}\n",
             first ? files : "", body, first ? "" : files);
    struct ptx_module *m = ptx_read(text, strlen(text), &e);
    ck_assert_msg(m != NULL, "%s: PTX line %u: %s", cases[_i].name, e.line, e.text);
    const struct ptx_function *f = ptx_find_function(m, "k");
    const struct ptx_inst *i = &f->insts[f->ninsts - 1];
    ck_assert_msg(i->author_file == cases[_i].file && i->author_line == cases[_i].line &&
                    i->near == cases[_i].near,
                  "%s: file %u line %u%s", cases[_i].name, i->author_file, i->author_line,
                  i->near ? ", near" : "");
    ptx_free(m);
  }
}
END_TEST

static const struct { const char *name; bool system; } names[] = {
  {"<helpers.h>", true}, {"kernel.cu", false}, {"include/mine.cuh", false}, {"../usr/include/mine.h", false},
  {"/home/me/include/mine.cuh", false}, {"/home/me/cutlass/include/cutlass/gemm.h", false},
  {"/usr/local/cuda-13.0/include/cccl/cuda/std/__functional/operations.h", true},
  {"/usr/local/cuda-12.4/targets/sbsa-linux/include/cuda_fp16.hpp", true},
  {"/usr/local/cuda-samples/mine.cu", false},
  {"/usr/include/x86_64-linux-gnu/bits/math.h", true}, {"/usr/include/c++/13/cmath", true},
  {"/usr/lib/gcc/x86_64-linux-gnu/13/include/stddef.h", true},
  {"/opt/conda/targets/x86_64-linux/include/cuda_fp16.hpp", true},
  {"/home/me/env/lib/python3.12/site-packages/nvidia/cuda_runtime/include/cuda_fp16.hpp", true},
};

START_TEST(system_headers)
{
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    ck_assert_msg(ptx_system_file(names[k].name) == names[k].system, "%s", names[k].name);
}
END_TEST

Suite *suite_loc(void)
{
  Suite *s = suite_create("loc");
  TCase *t = tcase_create("lines");
  tcase_add_loop_test(t, author, 0, sizeof cases / sizeof *cases);
  tcase_add_test(t, system_headers);
  suite_add_tcase(s, t);
  return s;
}
