/* The GPU back end without a GPU: its driver is a table of functions here, whose memory is the
 * host's and whose kernels do what each test wants: right, past the end, before the begin, into an
 * input, or an error.  What only a real driver can show (that the symbols are there and the values
 * mean what they do) is compared with cuda.h where there is a toolkit. */
#define _GNU_SOURCE
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda.h"
#include "suites/item.h"

/* ---- a driver ------------------------------------------------------------------------------ */

static struct {
  void (*kernel)(unsigned char *in, unsigned char *out, int n);
  cu_result launch, load, sticky;
  unsigned set_shared, launches, frees, allocs;
  unsigned events, no_event;    /* that live; the one that cannot be made, from 1 */
  double clock;
} fake;

#define SUCCEED(name, ...) static cu_result name(__VA_ARGS__) { return fake.sticky; }
SUCCEED(f_init, unsigned u __attribute__((unused)))
SUCCEED(f_set_current, cu_context c __attribute__((unused)))
SUCCEED(f_unload, cu_module m __attribute__((unused)))
SUCCEED(f_release, cu_device d __attribute__((unused)))
static cu_result f_version(int *v) { return *v = 13000, CU_OK; }
static cu_result f_count(int *n) { return *n = 1, CU_OK; }
static cu_result f_get(cu_device *d, int i) { return *d = i, CU_OK; }
static cu_result f_name(char *s, int n, cu_device d)
{
  (void)d;
  snprintf(s, (size_t)n, "Paper GPU");
  return CU_OK;
}
static cu_result f_attribute(int *v, int what, cu_device d)
{
  (void)d;
  *v = what == CU_ATTRIBUTE_SMS ? 132 : what == CU_ATTRIBUTE_MAJOR ? 9
       : what == CU_ATTRIBUTE_L2_BYTES ? 4096 : what == CU_ATTRIBUTE_SHARED_OPTIN ? 232448 : 0;
  return CU_OK;
}
static cu_result f_retain(cu_context *c, cu_device d) { return (void)d, *c = (cu_context)1, CU_OK; }
static cu_result f_sync(void)
{
  if (fake.launch >= 700) fake.sticky = fake.launch;
  return fake.sticky;
}
static cu_result f_load(cu_module *m, const void *image, unsigned n, int *names, void **values)
{
  ck_assert_uint_eq(strlen(image) > 0, 1);
  for (unsigned i = 0; i < n; i++)
    if (names[i] == CU_JIT_ERROR_LOG && fake.load)
      snprintf(values[i], 100, "ptxas application ptx input, line 12; error: no\nmore");
  *m = (cu_module)1;
  return fake.load;
}
static cu_result f_function(cu_function *f, cu_module m, const char *name)
{
  (void)m;
  ck_assert_str_eq(name, "_Z4copyPKhPhi");   /* the PTX's name, not the person's */
  *f = (cu_function)1;
  return CU_OK;
}
static cu_result f_function_get(int *v, int what, cu_function f) { return (void)what, (void)f, *v = 16, CU_OK; }
static cu_result f_function_set(cu_function f, int what, int value)
{
  (void)f;
  ck_assert_int_eq(what, CU_FUNCTION_MAX_DYNAMIC_SHARED);
  fake.set_shared = (unsigned)value;
  return value <= 232448 ? CU_OK : CU_INVALID_VALUE;
}
static cu_result f_occupancy(int *b, cu_function f, int t, size_t s) { return (void)f, (void)t, (void)s, *b = 8, CU_OK; }
static cu_result f_alloc(cu_address *a, size_t n)
{
  fake.allocs++;
  *a = (cu_address)(uintptr_t)malloc(n);
  return *a ? CU_OK : CU_OUT_OF_MEMORY;
}
static cu_result f_free(cu_address a)
{
  fake.frees++;
  free((void *)(uintptr_t)a);
  return CU_OK;
}
static cu_result f_up(cu_address to, const void *from, size_t n)
{
  if (!fake.sticky) memcpy((void *)(uintptr_t)to, from, n);
  return fake.sticky;
}
static cu_result f_down(void *to, cu_address from, size_t n)
{
  if (!fake.sticky) memcpy(to, (void *)(uintptr_t)from, n);
  return fake.sticky;
}
static cu_result f_copy(cu_address to, cu_address from, size_t n, cu_stream s)
{
  (void)s;
  fake.clock += 1;
  memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
  return CU_OK;
}
static cu_result f_set(cu_address to, unsigned char v, size_t n, cu_stream s)
{
  (void)s;
  fake.clock += 100;                      /* between the events it would be seen */
  memset((void *)(uintptr_t)to, v, n);
  return CU_OK;
}
static cu_result f_launch(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, cu_stream s, void **params,
                          void **extra)
{
  unsigned char *in, *out;
  int n;
  (void)f, (void)shared, (void)s;
  ck_assert(gx == 2 && gy == 1 && gz == 1 && bx == 32 && by == 1 && bz == 1 && !params);
  ck_assert(extra[0] == (void *)1 && extra[2] == (void *)2 && extra[4] == NULL);
  ck_assert_uint_eq(*(size_t *)extra[3], 20);
  memcpy(&in, extra[1], 8);
  memcpy(&out, (char *)extra[1] + 8, 8);
  memcpy(&n, (char *)extra[1] + 16, 4);
  fake.launches++;
  fake.clock += 2 + fake.launches % 3;    /* 2, 3 or 4 milliseconds */
  if (fake.launch == CU_OK && fake.kernel) fake.kernel(in, out, n);
  return fake.launch >= 700 ? CU_OK : fake.launch;   /* those come at the next wait */
}
static cu_result f_event(cu_event *e, unsigned flags)
{
  (void)flags;
  if (fake.no_event && fake.events + 1 == fake.no_event) return CU_OUT_OF_MEMORY;
  fake.events++;
  *e = calloc(1, sizeof(double));
  return CU_OK;
}
static cu_result f_record(cu_event e, cu_stream s) { return (void)s, *(double *)e = fake.clock, CU_OK; }
static cu_result f_elapsed(float *ms, cu_event a, cu_event b)
{
  *ms = (float)(*(double *)b - *(double *)a);
  return CU_OK;
}
static cu_result f_destroy(cu_event e) { return fake.events--, free(e), CU_OK; }
static cu_result f_error_name(cu_result r, const char **s) { return (void)r, *s = "CUDA_ERROR_PAPER", CU_OK; }
static cu_result f_error_text(cu_result r, const char **s) { return (void)r, *s = "torn", CU_OK; }

static const struct cuda_api paper = {
  .init = f_init, .driver_version = f_version, .device_count = f_count, .device_get = f_get,
  .device_name = f_name, .attribute = f_attribute, .retain = f_retain, .release = f_release,
  .set_current = f_set_current, .synchronize = f_sync, .module_load = f_load,
  .module_unload = f_unload, .module_function = f_function, .function_attribute = f_function_get,
  .function_set = f_function_set, .occupancy = f_occupancy, .alloc = f_alloc, .free = f_free,
  .upload = f_up, .download = f_down, .copy = f_copy, .set = f_set, .launch = f_launch,
  .event_create = f_event, .event_record = f_record, .event_elapsed = f_elapsed,
  .event_destroy = f_destroy, .error_name = f_error_name, .error_text = f_error_text,
};

/* ---- a job --------------------------------------------------------------------------------- */

static const char ptx[] =
  ".version 8.0\n.target sm_80\n.address_size 64\n"
  ".visible .entry _Z4copyPKhPhi(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n  ret;\n}\n";

enum { BYTES = 61 };                      /* odd: the band behind begins at the very next byte */
static unsigned char input[BYTES], poison[BYTES];
static struct job_buffer buffers[2];
static struct job_launch launch;
static struct job job;
static struct outcome o;

static void right(unsigned char *in, unsigned char *out, int n) { memcpy(out, in, (size_t)n); }
static void past(unsigned char *in, unsigned char *out, int n) { right(in, out, n), out[n + 2] ^= 1; }
static void before(unsigned char *in, unsigned char *out, int n) { right(in, out, n), out[-4] ^= 1; }
static void inward(unsigned char *in, unsigned char *out, int n) { right(in, out, n), in[7]++; }

static void setup(void)
{
  memset(&fake, 0, sizeof fake);
  cuda_api_instead = &paper;
  for (int i = 0; i < BYTES; i++) input[i] = (unsigned char)(i * 7 + 1), poison[i] = 0xee;
  buffers[0] = (struct job_buffer){"in", true, true, input, BYTES};
  buffers[1] = (struct job_buffer){"out", false, true, poison, BYTES};
  launch = (struct job_launch){.kernel = "copy", .grid = {2, 1, 1}, .block = {32, 1, 1}, .nargs = 3,
                               .args = {{.buffer = 0, .bytes = 8}, {.buffer = 1, .bytes = 8},
                                        {.buffer = JOB_VALUE, .bytes = 4, .value = {BYTES}}}};
  job = (struct job){.device = "cuda", .ptx = (unsigned char *)ptx, .ptx_size = strlen(ptx),
                     .buffers = buffers, .nbuffers = 2, .launches = &launch, .nlaunches = 1};
}

static void teardown(void)
{
  ck_assert_uint_eq(fake.events, 0);      /* whatever failed */
  outcome_free(&o);
  cuda_api_instead = NULL;
}

static void run(void (*kernel)(unsigned char *, unsigned char *, int))
{
  fake.kernel = kernel;
  job_execute(&job, &o);
}

START_TEST(a_right_kernel_comes_back_whole)
{
  run(right);
  ck_assert_int_eq(o.end, JOB_RAN);
  ck_assert_uint_eq(o.launches[0].nfaults, 0);
  ck_assert(o.launches[0].completed && o.milliseconds[0] > 1.9 && o.milliseconds[0] < 4.1);
  ck_assert_mem_eq(o.buffers[1], input, BYTES);
  ck_assert_msg(strstr(o.device, "cuda (Paper GPU, driver ") && strstr(o.device, "CUDA 13.0"), "%s", o.device);
  ck_assert_uint_eq(fake.allocs, 2);
  ck_assert_uint_eq(fake.frees, 2);
}
END_TEST

static const struct { void (*kernel)(unsigned char *, unsigned char *, int); enum sim_fault_kind kind;
  const char *object, *text; } strays[] = {
  {past, SIM_FAULT_BOUNDS, "out", "2 bytes behind the end of 'out' (61 bytes)"},
  {before, SIM_FAULT_BOUNDS, "out", "4 bytes before the begin of 'out'"},
  {inward, SIM_FAULT_READ_ONLY, "in", "'in', which is input only"},
};

START_TEST(stray_writes_are_seen)
{
  run(strays[_i].kernel);
  ck_assert_int_eq(o.end, JOB_RAN);
  ck_assert_uint_eq(o.launches[0].nfaults, 1);
  const struct sim_fault *f = &o.launches[0].faults[0];
  ck_assert_int_eq(f->kind, strays[_i].kind);
  ck_assert_str_eq(f->object, strays[_i].object);
  ck_assert_msg(strstr(f->text, strays[_i].text) != NULL, "%s", f->text);
}
END_TEST

static const struct { cu_result error; enum sim_fault_kind kind; } errors[] = {
  {CU_ILLEGAL_ADDRESS, SIM_FAULT_BOUNDS}, {CU_MISALIGNED, SIM_FAULT_ALIGNMENT},
  {CU_LAUNCH_FAILED, SIM_FAULT_TRAP}, {CU_ASSERT, SIM_FAULT_TRAP}, {CU_TIMEOUT, SIM_FAULT_BUDGET},
  {CU_STACK_ERROR, SIM_FAULT_STACK}, {CU_OUT_OF_RESOURCES, SIM_FAULT_LAUNCH},
  {CU_INVALID_VALUE, SIM_FAULT_LAUNCH},
};

START_TEST(errors_become_faults)
{
  fake.launch = errors[_i].error;
  run(right);
  ck_assert_int_eq(o.end, JOB_RAN);       /* it ran and failed: the kernel's doing, not ours */
  ck_assert_uint_eq(o.launches[0].nfaults, 1);
  ck_assert_int_eq(o.launches[0].faults[0].kind, errors[_i].kind);
  ck_assert(!o.launches[0].completed);
  ck_assert(memcmp(o.buffers[1], input, BYTES) != 0);
}
END_TEST

START_TEST(no_event_is_ours)
{
  fake.no_event = (unsigned)_i;           /* the first, or the second */
  run(right);
  ck_assert_int_eq(o.end, JOB_OURS);
  ck_assert_msg(strstr(o.why, "an event: CUDA_ERROR_PAPER") != NULL, "%s", o.why);
}
END_TEST

START_TEST(errors_of_the_machine_are_ours)
{
  fake.launch = 214;                      /* an uncorrectable memory error */
  run(right);
  ck_assert_int_eq(o.end, JOB_OURS);
  ck_assert_msg(strstr(o.why, "CUDA_ERROR_PAPER (214)") != NULL, "%s", o.why);
}
END_TEST

START_TEST(code_the_driver_refuses_names_its_line)
{
  fake.load = CU_INVALID_PTX;
  run(right);
  ck_assert_int_eq(o.end, JOB_REFUSED);
  ck_assert_msg(strstr(o.why, "does not take this code") && strstr(o.why, "line 12"), "%s", o.why);
  ck_assert(!strchr(o.why, '\n'));
}
END_TEST

START_TEST(much_dynamic_shared_memory_is_asked_for)
{
  launch.shared_bytes = 48 * 1024;
  run(right);
  ck_assert_uint_eq(fake.set_shared, 0);
  outcome_free(&o);
  launch.shared_bytes = 100000;
  run(right);
  ck_assert_uint_eq(fake.set_shared, 100000);
  ck_assert_uint_eq(o.launches[0].dynamic_shared, 100000);
  outcome_free(&o);
  launch.shared_bytes = 300000;
  run(right);
  ck_assert_int_eq(o.launches[0].faults[0].kind, SIM_FAULT_LAUNCH);
  ck_assert_msg(strstr(o.launches[0].faults[0].text, "at most 232448"), "%s",
                o.launches[0].faults[0].text);
}
END_TEST

START_TEST(time_is_a_median_of_flushed_samples)
{
  struct sim_options options = {.seed = 3};
  char why[256];
  unsigned char params[20] = {0};
  struct ptx_error error;
  struct cuda_time t;
  struct device *d = device_cuda.open(&options, why, sizeof why);
  ck_assert_msg(d != NULL, "%s", why);
  ck_assert(device_cuda.load(d, ptx, strlen(ptx), &error));
  struct sim_launch l = {.kernel = "copy", .grid = {2, 1, 1}, .block = {32, 1, 1}, .params = params,
                         .param_bytes = 20};
  ck_assert_msg(cuda_time(d, &l, 1000, 15, &t, why, sizeof why), "%s", why);
  ck_assert_uint_eq(fake.launches, CUDA_WARM_UPS + 15);
  ck_assert_double_eq(t.median, 3);       /* of 2, 3 and 4; the flush is not in it */
  ck_assert_double_eq(t.low, 2);
  ck_assert_double_eq(t.high, 4);
  ck_assert_double_eq(t.copy_median, 1);
  ck_assert_uint_eq(t.resident, 8);
  fake.launch = CU_ILLEGAL_ADDRESS;
  ck_assert(!cuda_time(d, &l, 0, 3, &t, why, sizeof why));
  ck_assert(strstr(why, "CUDA_ERROR_PAPER (700)") && *device_cuda.broken(d));
  device_cuda.close(d);
}
END_TEST

/* ---- the second word ----------------------------------------------------------------------- */

static void judge(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  if (memcmp(e->buffers[1], input, BYTES)) verdict_fail(v, "it is no copy");
  else verdict_pass(v, "a copy");
}

static void second(struct verdict *v, void (*kernel)(unsigned char *, unsigned char *, int),
                   const unsigned char *simulated)
{
  static const struct test test = {"copy", 1, NULL, judge};
  const void *seen[] = {input, simulated};
  struct plan plan = {.job = job};
  struct work w = {.seed = 1};
  struct item it = {.test = &test, .plan = &plan, .on_gpu = true,
                    .evidence = {.buffers = seen, .nbuffers = 2}};
  it.outcome.nlaunches = 1;
  memset(v, 0, sizeof *v);
  judge(v, &it.evidence, NULL);
  run(kernel);
  it.gpu = o;
  work_second_judge(&w, &it, v);
}

START_TEST(a_second_word_that_differs_is_our_fault)
{
  struct verdict v;
  second(&v, right, input);
  ck_assert(v.share == 1 && !v.not_graded && strstr(v.message, "the GPU agrees (1 launches"));
  outcome_free(&o);
  second(&v, NULL, input);                /* the simulator says right, the GPU leaves the poison */
  ck_assert(v.not_graded && strstr(v.message, "disagree") && strstr(v.message, "GPU: it is no copy"));
  outcome_free(&o);
  second(&v, right, poison);
  ck_assert(v.not_graded && strstr(v.message, "simulator: it is no copy"));
  outcome_free(&o);
  second(&v, past, input);
  ck_assert(v.not_graded && strstr(v.message, "behind the end"));
  outcome_free(&o);
  second(&v, NULL, poison);               /* both wrong: a plain failure */
  ck_assert(!v.not_graded && v.share == 0);
}
END_TEST

/* ---- the values ---------------------------------------------------------------------------- */

START_TEST(values_are_those_of_cuda_h)
{
#define ROW(name, value) {#name, value}
  static const struct { const char *name; long value; } rows[] = {
    ROW(CUDA_ERROR_INVALID_VALUE, CU_INVALID_VALUE), ROW(CUDA_ERROR_OUT_OF_MEMORY, CU_OUT_OF_MEMORY),
    ROW(CUDA_ERROR_NO_DEVICE, CU_NO_DEVICE), ROW(CUDA_ERROR_INVALID_PTX, CU_INVALID_PTX),
    ROW(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CU_UNSUPPORTED_PTX),
    ROW(CUDA_ERROR_ILLEGAL_ADDRESS, CU_ILLEGAL_ADDRESS),
    ROW(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CU_OUT_OF_RESOURCES),
    ROW(CUDA_ERROR_LAUNCH_TIMEOUT, CU_TIMEOUT), ROW(CUDA_ERROR_ASSERT, CU_ASSERT),
    ROW(CUDA_ERROR_HARDWARE_STACK_ERROR, CU_STACK_ERROR),
    ROW(CUDA_ERROR_ILLEGAL_INSTRUCTION, CU_ILLEGAL_INSTRUCTION),
    ROW(CUDA_ERROR_MISALIGNED_ADDRESS, CU_MISALIGNED),
    ROW(CUDA_ERROR_INVALID_ADDRESS_SPACE, CU_ADDRESS_SPACE), ROW(CUDA_ERROR_INVALID_PC, CU_INVALID_PC),
    ROW(CUDA_ERROR_LAUNCH_FAILED, CU_LAUNCH_FAILED),
    ROW(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, CU_ATTRIBUTE_CLOCK_KHZ),
    ROW(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_ATTRIBUTE_SMS),
    ROW(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, CU_ATTRIBUTE_L2_BYTES),
    ROW(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_ATTRIBUTE_MAJOR),
    ROW(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CU_ATTRIBUTE_MINOR),
    ROW(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, CU_ATTRIBUTE_SHARED_OPTIN),
    ROW(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNCTION_SHARED_BYTES),
    ROW(CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNCTION_REGISTERS),
    ROW(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNCTION_MAX_DYNAMIC_SHARED),
    ROW(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG), ROW(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG),
    ROW(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BYTES),
    ROW(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BYTES),
    ROW(CU_JIT_GENERATE_LINE_INFO, CU_JIT_LINE_INFO),
  };
  char path[600], line[512], name[200];
  size_t found = 0;
  long value;
  snprintf(path, sizeof path, "%s/include/cuda.h", toolchain_find()->nvcc_root);
  FILE *f = fopen(path, "r");
  if (!f) return;                         /* no toolkit: nothing to compare with */
  while (fgets(line, sizeof line, f))
    if (sscanf(line, " %199[A-Z0-9_] = %ld", name, &value) == 2)
      for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(name, rows[i].name)) {
          ck_assert_msg(value == rows[i].value, "%s is %ld", name, value);
          found++;
        }
  fclose(f);
  ck_assert_uint_eq(found, sizeof rows / sizeof *rows);
}
END_TEST

Suite *suite_cuda(void)
{
  Suite *s = suite_create("cuda");
  TCase *t = tcase_create("paper driver");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, a_right_kernel_comes_back_whole);
  tcase_add_loop_test(t, stray_writes_are_seen, 0, sizeof strays / sizeof *strays);
  tcase_add_loop_test(t, errors_become_faults, 0, sizeof errors / sizeof *errors);
  tcase_add_loop_test(t, no_event_is_ours, 1, 3);
  tcase_add_test(t, errors_of_the_machine_are_ours);
  tcase_add_test(t, code_the_driver_refuses_names_its_line);
  tcase_add_test(t, much_dynamic_shared_memory_is_asked_for);
  tcase_add_test(t, time_is_a_median_of_flushed_samples);
  tcase_add_test(t, a_second_word_that_differs_is_our_fault);
  tcase_add_test(t, values_are_those_of_cuda_h);
  suite_add_tcase(s, t);
  return s;
}
