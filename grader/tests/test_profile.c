/* banks profile through the program itself: counts, values, faults, refusals; and that every cure
 * it names is one. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/arguments.h"
#include "profile/profile.h"
#include "run.h"

void test_profile_truth(Suite *s);   /* test_profile_truth.c */
void test_profile_names(Suite *s);   /* test_profile_names.c */

#define PTX "grader/tests/profile/profile.ptx"

enum { WORDS = 24 };

/* Splits at blanks ('%' stands for the folder) and runs. */
static int profile(char **out, const char *folder, const char *arguments)
{
  static char text[1024];
  const char *argv[WORDS] = {NULL, "profile"};
  size_t n = 2, used = 0;
  for (const char *p = arguments; *p;) {
    size_t length = strcspn(p, " ");
    argv[n++] = text + used;
    ck_assert(n < WORDS);
    for (size_t i = 0; i < length; i++) {
      if (p[i] == '%') used += (size_t)sprintf(text + used, "%s", folder);
      else text[used++] = p[i];
    }
    text[used++] = 0;
    p += length + (p[length] == ' ');
  }
  argv[n] = NULL;
  return run_banks(out, argv);
}

static const struct { const char *arguments; int status; const char *part; } answers[] = {
  {PTX " transpose --grid 2,2 --block 32,32 f32[64*64] f32[64*64] i32:64 i32:64", 0,
   "out[y * height + x] = tile[threadIdx.x][threadIdx.y];"},
  {PTX " transpose --grid 2,2 --block 32,32 f32[4096]=iota f32[4096] i32:64 i32:64", 0,
   "pad the rows from 128 to 132 bytes (32 to 33 elements of 4 bytes): 1 wavefront"},
  {PTX " transpose --grid 2,2 --block 32,32 f32[4096] f32[4096] i32:64 i32:64 --pictures 0", 0,
   "shared loads           128 requests       4096 wavefronts        128 ideal"},
  {PTX " past_the_end --grid 1 --block 32 i32[32]", 1, "fault: "},
  {"grader/tests/profile/waits.ptx once --grid 1 --block 32 i32[32] i32[32]", 0, "note: ptxas does this once a warp"},
  {"grader/tests/profile/waits.ptx handoff --grid 1 --block 64 i32[65]=9", 0, "  shared loads   ~"},
  {PTX " scaled --grid 1 --block 32 f32[32] {i32:32,f32:2}", 0, "global loads"},
  {PTX " scaled --grid 1 --block 32 f32[32] {i32:32}", 2, "a struct of 8 bytes"},
  {PTX " scaled --grid 1 --block 32 f32[32]", 2,
   "scaled takes 2 arguments: float *data, struct scale s; found 1: 'f32[32]'"},
  {PTX " scaled --grid 1 --block 32 f32:1 {i32:32,f32:2}", 2,
   "argument 1 (data) of scaled: a pointer or a 64-bit integer is expected: float *data; found 'f32:1'"},
  {PTX " transpose --grid 1 --block 32 f32[9] f32[9] f32:3 i32:3", 2,
   "argument 3 (width) of transpose: a 32-bit integer is expected: int width; found 'f32:3', a "
   "32-bit float"},
  {PTX " transpos --grid 1 --block 32", 2,
   "there is no kernel 'transpos'; 'transpose' is nearest; the file has 'transpose', 'scaled', "
   "'past_the_end' and 'copies'"},
  {PTX " scaled --grid 0 --block 32", 2, "--grid: expected X"},
  {PTX " scaled --grid 1", 2, "--grid and --block are needed"},
  {PTX " scaled --grid 1 --block 32 f32[]", 2, "only =@FILE can do without"},
  {PTX " scaled --grid 1 --block 32 f32[x]", 2, "a number of elements"},
  {PTX " scaled --grid 1 --block 32 f99[4]", 2, "with a type of"},
  {PTX " scaled --grid 1 --block 32 i8:128", 2, "i8 takes -128 to 127"},
  {PTX " scaled --grid 1 --block 32 u32:-1", 2, "u32 takes 0 to 4294967295"},
  {PTX " scaled --grid 1 --block 32 f32[4]=@%/none", 2, "cannot read"},
  {PTX " scaled --grid 1 --block 32 f32[4]=@%/three", 2,
   "three has 3 bytes, and 4 elements of 4 bytes are 16: 13 too few"},
  {PTX " scaled --grid 1 --block 32 f32[(1<<30)/(1<<30)-1+0]=@%/three", 2, "are 0: 3 too many"},
  {PTX " scaled --grid 1 --block 32 f32[]=@%/three", 2, "no whole number of elements of 4 bytes"},
  {PTX " scaled --grid 1 --block 32 f32[]=@%", 2, "is no regular file"},
  {PTX " scaled --grid 1 --block 32 f32[1<<33] {i32:1,f32:1}", 2, "more than 16 GiB"},
  {PTX " scaled --grid 1 --block 32 f32[4/0]", 2, "a number of elements"},
  {PTX " scaled --grid 1 --block 32 f32[8-9]", 2, "a number of elements"},
  {PTX " scaled --grid 1 --block 32 f32[2*(3+1]", 2, "a number of elements"},
  {PTX " scaled --grid 1 --block 32 f32[2*(3+13)] {i32:(1<<5),f32:2*3}", 0, "global loads"},
  {PTX " scaled --grid 1 --block 32 f32[32] {i32:32,i32:2}", 2,
   "argument 2 (s) of scaled: struct scale s is expected { int n; float by; }; found '{i32:32,i32:2}'"},
  {PTX " scaled --grid 1 --block 32 f32[32] {f32:32,i32:2}", 2, "struct scale s is expected"},
  {PTX " scaled --grid 1 --block 32 f64[32] {i32:32,f32:2}", 2,
   "argument 1 (data) of scaled: float *data is expected; found 'f64[32]': u8[BYTES]"},
  {PTX " scaled --grid 1 --block 32 i32[32] {i32:32,f32:2}", 2, "float *data is expected"},
  {PTX " scaled --grid 1 --block 32 u8[128] {i32:32,f32:2}", 0, "global loads"},
  {PTX " copies --grid 1 --block 32 f16[32] f32[32] f64[32] i64[32]", 2, "unsigned char *b is expected"},
  {PTX " scaled --grid 1 --block 32 f32[32] i32x2:32:2", 0, "global loads"},
  {PTX " scaled --grid 1 --block 32 f32[32] f32x3:1", 2,
   "argument 2 (s) of scaled: a struct of 8 bytes is expected: struct scale s; found 'f32x3:1', 3 "
   "values, 12 bytes"},
  {PTX " scaled --grid 1 --block 32 f32[32] f32x3:1:2", 2, "2 values for 3 elements"},
  {PTX " scaled --grid 1 --block 32 f32[32] f32v5:1", 2, "a vector has 2, 3 or 4 elements"},
  {PTX " scaled --grid 1 --block 32 f32[32] i64:1", 2, "a struct of 8 bytes aligned to 4 is expected"},
  {PTX " scaled --grid 1 --block 32 f32[32] {u8:1,i32:32,f32:2}", 2,
   "a struct of 12 bytes, laid out with u8 at 0, i32 at 4, f32 at 8"},
  {PTX " scaled --grid 1 --block 32 f32[32] {f32[4],i32:1", 2, "expected a struct as"},
  {PTX " scaled --grid 1 --block 32 f32[32] {i32:1,,f32:2}", 2, "'': expected TYPE:VALUE"},
  {PTX " scaled --grid 1 --block 32 f32[32] {i32:1}}", 2, "expected , or } at '}}'"},
  {PTX " scaled --grid 1 --block 32 f32[16] {i32:32,f32:2}", 1, "'argument 1 (data)'"},
  {PTX " scaled --grid 1 --block 32 f32[4]=sine", 2, "'sine' is no number; f32 takes one like 0.5"},
  {PTX " scaled --grid 1 --block 2048 f32[32] {i32:32,f32:2}", 2,
   "the launch cannot be: a block of 2048 x 1 x 1 threads: a block has 1 to 1024"},
  {PTX " scaled --grid 1,70000 --block 32 f32[32] {i32:32,f32:2}", 2, "a grid of 1 x 70000 x 1 blocks"},
  {PTX " scaled --grid 1 --block 32 --shared 300000 f32[32] {i32:32,f32:2}", 2, "300000 asked for at launch"},
  {PTX " scaled --grid 6 --block 32 --cluster 4 f32[32] {i32:32,f32:2}", 2,
   "'scaled' runs in clusters of 4 x 1 x 1 blocks, and the grid has 6"},
  {"grader/tests/kernels/layouts.ptx window<20> --grid 6 --block 32 --cluster 4 f32[400] f32[256]", 2,
   "'window<20>' runs in clusters of 4"},
  {PTX " scaled --json --grid 6 --block 32 --cluster 4 f32[32] {i32:32,f32:2}", 2, "\"status\": 2"},
  {PTX " scaled --grid 0 --block 32 --json", 2, "\"error\": \"--grid: expected X"},
  {"grader/tests/sim/faults.ptx misaligned --grid 1 --block 32 i32[64] i32[64] i32:1", 1,
   "reads 8 bytes at byte 4 of 'argument 2 (in)', which is no multiple of 8"},
  {PTX " scaled --grid 1 --block 32 f32[32]>%/x=iota {i32:32,f32:2}", 2,
   "'=iota' would be part of the file's name: what fills a buffer comes before >"},
  {PTX " transpose --grid 2,2 --block 32,32 f32[4096]>%/x f32[4096]>%/x i32:64 i32:64", 2,
   "argument 1 (in) and argument 2 (out) are both to be written to "},
  {"none.ptx scaled --grid 1 --block 32", 2, "cannot read none.ptx"},
  {"grader/tests/profile/profile.cu", 2, "name a .cu or .ptx file and a kernel"},
  {"--frob", 2, "unknown option '--frob'"},
};

START_TEST(answer)
{
  char folder[64], path[80], *out;
  run_folder(folder);
  snprintf(path, sizeof path, "%s/three", folder);
  run_write(path, "abc", 3);
  int status = profile(&out, folder, answers[_i].arguments);
  ck_assert_msg(status == answers[_i].status, "banks profile %s: exit status %d, not %d:\n%s",
                answers[_i].arguments, status, answers[_i].status, out);
  ck_assert_msg(strstr(out, answers[_i].part) != NULL, "banks profile %s: no '%s' in:\n%s",
                answers[_i].arguments, answers[_i].part, out);
  free(out);
  run_remove(folder);
}
END_TEST

static json_int_t at(const json_t *j, const char *a, const char *b)
{
  const json_t *n = json_object_get(json_object_get(json_object_get(j, "totals"), a), b);
  ck_assert_msg(json_is_integer(n), "no totals.%s.%s", a, b);
  return json_integer_value(n);
}

static bool exact(const json_t *j, const char *class)
{
  return json_is_true(json_object_get(json_object_get(json_object_get(j, "totals"), "exact"), class));
}

START_TEST(as_json)
{
  char *out;
  json_error_t error;
  int status = profile(&out, "", PTX " transpose --json --grid 2,2 --block 32,32 f32[4096]=uniform "
                       "f32[4096] i32:64 i32:64");
  ck_assert_int_eq(status, 0);
  json_t *j = json_loads(out, 0, &error);
  ck_assert_msg(j != NULL, "%s in\n%s", error.text, out);
  ck_assert_str_eq(json_string_value(json_object_get(j, "kernel")), "transpose");
  ck_assert_int_eq(at(j, "shared_load", "requests"), 4 * 32);
  ck_assert_int_eq(at(j, "shared_load", "wavefronts"), 4 * 32 * 32);
  ck_assert_int_eq(at(j, "shared_load", "ideal"), 4 * 32);
  ck_assert(exact(j, "shared_load") && exact(j, "global_store") && exact(j, "warp_instructions"));
  ck_assert_int_eq(at(j, "shared_store", "wavefronts"), 4 * 32);
  ck_assert_int_eq(at(j, "shared_atomic", "requests"), 0);
  ck_assert_int_eq(at(j, "global_load", "sectors"), 4 * 32 * 4);
  ck_assert_int_eq(at(j, "global_store", "sectors"), 4 * 32 * 4);
  const json_t *lines = json_object_get(j, "lines"), *worst = json_array_get(lines, 0);
  ck_assert_int_eq((int)json_array_size(lines), 4);
  ck_assert_int_eq(json_integer_value(json_object_get(worst, "line")), 12);
  ck_assert_int_eq(json_integer_value(json_object_get(worst, "stride")), 128);
  ck_assert_int_eq((int)json_array_size(json_object_get(j, "faults")), 0);
  json_decref(j);
  free(out);
}
END_TEST

/* How often a loop looks whether others have come is no cost of the kernel: it is marked, it is named,
 * it comes last, and it is not often: the others get their turn. */
static const struct { const char *arguments, *class; int line, most; } polls[] = {
  {"grader/tests/profile/waits.ptx handoff --json --grid 3 --block 64 i32[65]=100", "shared_load", 9, 300},
  {"grader/tests/profile/waits.ptx lock --json --grid 2 --block 32 i32[1] i32[1]", "global_atomic", 22, 1 << 20},
};

START_TEST(polled)
{
  static const char *const classes[] = {"shared_load", "shared_store", "shared_atomic", "global_load",
                                        "global_store", "global_atomic"};
  char *out;
  json_error_t error;
  ck_assert_int_eq(profile(&out, "", polls[_i].arguments), 0);
  json_t *j = json_loads(out, 0, &error);
  ck_assert_msg(j != NULL, "%s in\n%s", error.text, out);
  for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
    ck_assert_msg(exact(j, classes[k]) == (strcmp(classes[k], polls[_i].class) != 0), "%s", classes[k]);
  ck_assert(!exact(j, "warp_instructions"));
  const json_t *lines = json_object_get(j, "lines"), *line = NULL;
  const char *access = strcmp(polls[_i].class, "shared_load") ? "global atomic" : "shared load";
  bool ended = false;
  for (size_t k = 0; k < json_array_size(lines); k++) {
    const json_t *l = json_array_get(lines, k);
    if (strncmp(json_string_value(json_object_get(l, "access")), access, 6)) continue;
    ck_assert_msg(!ended, "%s", out);        /* none of its kind of memory comes after it */
    if (!json_is_true(json_object_get(l, "polled"))) continue;
    ended = true;
    line = l;
  }
  ck_assert_msg(line != NULL, "%s", out);
  ck_assert_int_eq(json_integer_value(json_object_get(line, "line")), polls[_i].line);
  ck_assert(json_is_false(json_object_get(line, "exact")));
  ck_assert(strstr(json_string_value(json_object_get(line, "note")), "when the others come") != NULL);
  ck_assert_int_le(json_integer_value(json_object_get(line, "requests")), polls[_i].most);
  json_decref(j);
  free(out);
}
END_TEST

/* A header's function that looks at one flag, then waits for another, is at one line of the author's:
 * the second and the look before its loop poll, the first does not. */
START_TEST(polled_in_a_header)
{
  static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n.reg .pred %p<4>;\n"
    ".shared .align 4 .b8 flag[8];\n.loc 1 10 5\nmov.u32 %r1, 1;\nst.shared.v2.u32 [flag], {%r1, %r1};\n"
    ".loc 2 5 3, function_name $f, inlined_at 1 10 5\nld.volatile.shared.u32 %r2, [flag];\n"
    ".loc 2 7 3, function_name $f, inlined_at 1 10 5\nld.volatile.shared.u32 %r3, [flag+4];\n"
    "setp.ne.s32 %p1, %r3, 0;\n@%p1 bra done;\nagain:\nld.volatile.shared.u32 %r3, [flag+4];\n"
    "setp.eq.s32 %p1, %r3, 0;\n@%p1 bra again;\ndone:\nret;\n}\n"
    ".file 1 \"own.cu\"\n.file 2 \"<sync.h>\"\n.section .debug_str\n{\n$f:\n.b8 102,0\n}\n";
  char folder[64], path[80], *out;
  json_error_t error;
  run_folder(folder);
  snprintf(path, sizeof path, "%s/k.ptx", folder);
  run_write(path, text, sizeof text - 1);
  ck_assert_int_eq(profile(&out, folder, "%/k.ptx k --json --grid 1 --block 1"), 0);
  json_t *j = json_loads(out, 0, &error);
  ck_assert_msg(j != NULL, "%s in\n%s", error.text, out);
  unsigned polls = 0, loads = 0;
  for (size_t k = 0; k < json_array_size(json_object_get(j, "lines")); k++) {
    const json_t *l = json_array_get(json_object_get(j, "lines"), k);
    ck_assert_int_eq(json_integer_value(json_object_get(l, "line")), 10);
    if (strcmp(json_string_value(json_object_get(l, "access")), "shared load")) continue;
    ck_assert_int_eq(json_integer_value(json_object_get(l, "requests")), 1);
    polls += json_is_true(json_object_get(l, "polled"));
    loads++;
  }
  ck_assert_msg(loads == 2 && polls == 1, "%s", out);
  json_decref(j);
  free(out);
  run_remove(folder);
}
END_TEST

/* What goes in by type and by file comes out again. */
START_TEST(values)
{
  char folder[64], path[80], *out;
  run_folder(folder);
  float in[32];
  for (int i = 0; i < 32; i++) in[i] = (float)i - 3.25f;
  snprintf(path, sizeof path, "%s/in", folder);
  run_write(path, in, sizeof in);
  ck_assert_int_eq(profile(&out, folder, PTX " scaled --grid 1 --block 32 f32[]=@%/in>%/out "
                           "{i32:31,f32:0.5}"), 0);
  free(out);
  snprintf(path, sizeof path, "%s/out", folder);
  size_t size;
  float *got = (float *)run_read(path, &size);
  ck_assert_uint_eq(size, sizeof in);
  for (int i = 0; i < 32; i++) ck_assert_float_eq(got[i], i < 31 ? in[i] * 0.5f : in[i]);
  free(got);
  ck_assert_int_eq(profile(&out, folder, PTX " copies --grid 1 --block 32 f16[32]=-1.5 "
                           "u8[32]=below:7:5>%/out f64[32]=iota>%/sum i64[32]=iota"), 0);
  free(out);
  uint8_t *bytes = (uint8_t *)run_read(path, &size);
  ck_assert_uint_eq(size, 32);
  unsigned sum = 0;
  for (int i = 0; i < 32; i++) {
    ck_assert_uint_lt(bytes[i], 7);
    sum += bytes[i];
  }
  ck_assert_uint_gt(sum, 0);
  free(bytes);
  snprintf(path, sizeof path, "%s/sum", folder);
  double *sums = (double *)run_read(path, &size);
  for (int i = 0; i < 32; i++) ck_assert_double_eq(sums[i], 2.0 * i);
  free(sums);
  run_remove(folder);
}
END_TEST

static const struct { const char *text; unsigned bits; } halves[] = {
  {"f16:1", 0x3c00}, {"f16:-2", 0xc000}, {"f16:65504", 0x7bff}, {"f16:65520", 0x7c00},
  {"f16:65519.99", 0x7bff}, {"f16:6e-8", 0x0001}, {"f16:2e-8", 0x0000}, {"f16:-0.0", 0x8000},
  {"f16:0.00006103515625", 0x0400}, {"f16:0.000060975552", 0x03ff}, {"f16:inf", 0x7c00},
  {"f16:1.00048828125", 0x3c00}, {"f16:1.00146484375", 0x3c02}, {"bf16:1", 0x3f80},
  {"bf16:3.14159265", 0x4049}, {"bf16:-1e39", 0xff80}, {"bf16:1.00390625", 0x3f80},
};

START_TEST(small_floats_round_to_even)
{
  struct argument a;
  char why[600];
  uint16_t got;
  ck_assert_msg(argument_parse(halves[_i].text, &a, why, sizeof why), "%s", why);
  memcpy(&got, a.data, 2);
  ck_assert_msg(got == halves[_i].bits, "%s: %04x, not %04x", halves[_i].text, got, halves[_i].bits);
  argument_free(&a);
}
END_TEST

/* An array of one dimension with this one access. */
static struct profile_array array_of(struct profile_use *use, struct sim_site *site,
                                     const struct access *a)
{
  *site = (struct sim_site){.op = a->op, .width = a->width, .requests = 1, .worst = *a};
  *use = (struct profile_use){site, a->width};
  return (struct profile_array){.bytes = 1 << 15, .rows = PROFILE_ROWS_NONE, .element = a->width,
                                .room = 1 << 24, .uses = use, .nuses = 1};
}

/* A conflict with a constant stride always has a cure, and no cure is offered where none is due. */
START_TEST(advice)
{
  char text[400];
  struct profile_use use;
  struct sim_site site;
  for (unsigned width = 4; width <= 16; width *= 2)
    for (unsigned stride = 0; stride <= 64; stride++)
      for (int store = 0; store < 2; store++) {
        struct access a = {.op = store ? MODEL_STORE : MODEL_LOAD, .width = width, .mask = ~0u};
        for (unsigned t = 0; t < MODEL_LANES; t++) a.addr[t] = t * stride * width;
        struct model_cost c = model_cost(&a);
        struct profile_array array = array_of(&use, &site, &a);
        enum profile_class class = store ? PROFILE_SHARED_STORE : PROFILE_SHARED_LOAD;
        profile_advise(&a, class, &array, text, sizeof text);
        ck_assert_msg((c.wavefronts > c.ideal) == (*text != 0), "width %u stride %u: '%s'", width,
                      stride, text);
        ck_assert_msg(!*text || strstr(text, "pad the rows"), "width %u stride %u: '%s'", width, stride, text);
        profile_advise(&a, class, NULL, text, sizeof text);
        ck_assert_msg(!strstr(text, "pad") && !strstr(text, "XOR"), "nothing is known, but '%s'", text);
      }
  /* Two rows of 16 lanes, 17 words apart: only longer rows are offered. */
  struct access tile = {.op = MODEL_STORE, .width = 4, .mask = ~0u};
  for (unsigned t = 0; t < MODEL_LANES; t++) tile.addr[t] = (t / 16 * 17 + t % 16) * 4;
  struct profile_array array = array_of(&use, &site, &tile);
  profile_advise(&tile, PROFILE_SHARED_STORE, &array, text, sizeof text);
  ck_assert_msg(strstr(text, "pad the rows from 68 to 192 bytes (17 to 48 elements of 4 bytes): 1 wavefront"),
                "%s", text);
  array.room = 64;
  profile_advise(&tile, PROFILE_SHARED_STORE, &array, text, sizeof text);
  ck_assert_msg(*text && !strstr(text, "pad"), "there is no room, but '%s'", text);
  struct access hot = {.op = MODEL_ATOM_NATIVE, .width = 4, .mask = ~0u};
  profile_advise(&hot, PROFILE_SHARED_ATOMIC, NULL, text, sizeof text);
  ck_assert_msg(strstr(text, "32 lanes update one address"), "%s", text);
}
END_TEST

Suite *suite_profile(void)
{
  Suite *s = suite_create("profile");
  TCase *t = tcase_create("profile");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, answer, 0, sizeof answers / sizeof *answers);
  tcase_add_test(t, as_json);
  tcase_add_test(t, polled_in_a_header);
  tcase_add_loop_test(t, polled, 0, sizeof polls / sizeof *polls);
  tcase_add_test(t, values);
  tcase_add_loop_test(t, small_floats_round_to_even, 0, sizeof halves / sizeof *halves);
  tcase_add_test(t, advice);
  suite_add_tcase(s, t);
  test_profile_truth(s);
  test_profile_names(s);
  return s;
}
