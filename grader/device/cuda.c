/* The GPU, through the CUDA Driver API.
 *
 * PTX is compiled by the driver for the card that is there.  Every buffer lies alone in its
 * allocation between two guard bands of a pattern; after each launch the bands must be whole and
 * read-only buffers must hold what was uploaded.  That sees less than the simulator (a stray read,
 * a race, or a far write stays unseen), so the GPU's word on correctness is only ever the second
 * one; what it has alone is time.
 *
 * After a fault the driver's context is dead: the launch says which fault, and the process ends
 * with the job. */
#include "device/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 4096, ALIGN = 256, LOG = 2048 };

static uint64_t hash(const unsigned char *bytes, size_t size)
{
  uint64_t h = 0xcbf29ce484222325u, word;
  for (; size >= 8; bytes += 8, size -= 8) {
    memcpy(&word, bytes, 8);
    h = (h ^ word) * 0x100000001b3u;
    h ^= h >> 29;
  }
  for (; size; size--) h = (h ^ *bytes++) * 0x100000001b3u;
  return h;
}

static bool ok(struct device *d, cu_result r, const char *doing)
{
  if (r == CU_OK) return true;
  char text[160];
  cuda_api_error(d->cu, r, text, sizeof text);
  if (!*d->broken) snprintf(d->broken, sizeof d->broken, "%s: %s", doing, text);
  return false;
}

/* ---- opening ------------------------------------------------------------------------------- */

static int attribute(struct device *d, int what)
{
  int value = 0;
  if (d->cu->attribute(&value, what, d->ordinal) != CU_OK) return 0;
  return value;
}

/* "580.159.04, CUDA 13.0": the kernel module's version where the system tells it. */
static void driver_text(struct device *d)
{
  char line[256] = "", module[24] = "";
  int version = 0;
  FILE *f = fopen("/proc/driver/nvidia/version", "re");
  if (f && fgets(line, sizeof line, f)) {
    /* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release ..." */
    for (const char *word = strtok(line, " "); word; word = strtok(NULL, " "))
      if (!*module && strspn(word, "0123456789.") == strlen(word) && strchr(word, '.'))
        snprintf(module, sizeof module, "%.23s", word);
  }
  if (f) fclose(f);
  d->cu->driver_version(&version);
  snprintf(d->info.driver, sizeof d->info.driver, "%.14s%sCUDA %d.%d", module,
           *module ? ", " : "", version / 1000, version % 1000 / 10);
}

static bool begin(struct device *d)
{
  const struct cuda_api *cu = d->cu;
  int count = 0;
  cu_result r = cu->init(0);
  if (r == CU_NO_DEVICE) {
    snprintf(d->broken, sizeof d->broken, "there is a driver, but no GPU it can use");
    return false;
  }
  if (!ok(d, r, "the driver did not start") ||
      !ok(d, cu->device_count(&count), "GPUs could not be counted"))
    return false;
  if (count == 0) {
    snprintf(d->broken, sizeof d->broken, "there is a driver, but no GPU it can use");
    return false;
  }
  if (!ok(d, cu->device_get(&d->ordinal, 0), "no first GPU") ||
      !ok(d, cu->retain(&d->context, d->ordinal), "the GPU gave no context") ||
      !ok(d, cu->set_current(d->context), "the GPU's context could not be used"))
    return false;
  static bool kept;                       /* one context a process, however many jobs it runs */
  cu_context again;
  if (!kept && cu->retain(&again, d->ordinal) == CU_OK) kept = true;
  driver_text(d);
  cu->device_name(d->info.name, sizeof d->info.name, d->ordinal);
  d->info.name[sizeof d->info.name - 1] = 0;
  d->info.capability = (unsigned)(attribute(d, CU_ATTRIBUTE_MAJOR) * 10 +
                                  attribute(d, CU_ATTRIBUTE_MINOR));
  d->info.sms = (unsigned)attribute(d, CU_ATTRIBUTE_SMS);
  d->info.clock_khz = (uint64_t)attribute(d, CU_ATTRIBUTE_CLOCK_KHZ);
  d->info.times = true;
  d->l2_bytes = (size_t)attribute(d, CU_ATTRIBUTE_L2_BYTES);
  return true;
}

static void cuda_close(struct device *d)
{
  if (d->context) {
    for (size_t i = 0; i < d->nbuffers; i++) d->cu->free(d->buffers[i].base);
    if (d->flush) d->cu->free(d->flush);
    if (d->copy_from) d->cu->free(d->copy_from);
    if (d->copy_to) d->cu->free(d->copy_to);
    if (d->module) d->cu->module_unload(d->module);
    d->cu->release(d->ordinal);
  }
  if (d->ptx) ptx_free(d->ptx);
  free(d->guard);
  free(d);
}

static struct device *cuda_open(const struct sim_options *options, char *why, size_t size)
{
  const struct cuda_api *cu = cuda_api_load(why, size);
  if (!cu) return NULL;
  struct device *d = calloc(1, sizeof *d);
  if (d) d->guard = malloc(GUARD);
  if (!d || !d->guard) {
    snprintf(why, size, "out of memory");
    free(d);
    return NULL;
  }
  d->cu = cu;
  uint64_t x = options->seed * 2 + 1;     /* no kernel can know what to write back */
  for (size_t i = 0; i < GUARD; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    d->guard[i] = (unsigned char)(x >> 56);
  }
  if (begin(d)) return d;
  snprintf(why, size, "%s", d->broken);
  cuda_close(d);
  return NULL;
}

static void cuda_info(struct device *d, struct device_info *info) { *info = d->info; }

/* ---- code ---------------------------------------------------------------------------------- */

/* ptxas writes "ptxas application ptx input, line 32; error : ...". */
static uint32_t line_of(const char *log)
{
  const char *at = strstr(log, "line ");
  return at ? (uint32_t)strtoul(at + 5, NULL, 10) : 0;
}

static bool cuda_load(struct device *d, const char *ptx, size_t length, struct ptx_error *error)
{
  char info[LOG] = "", log[LOG] = "";
  int names[] = {CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_BYTES, CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES,
                 CU_JIT_LINE_INFO};
  void *values[] = {info, (void *)(uintptr_t)LOG, log, (void *)(uintptr_t)LOG,
                    (void *)(uintptr_t)1};
  memset(error, 0, sizeof *error);
  if (d->ptx) ptx_free(d->ptx);
  d->ptx = ptx_read(ptx, length, error);
  if (!d->ptx) return false;
  char *text = malloc(length + 1);        /* the driver wants it terminated */
  if (!text) {
    snprintf(error->text, sizeof error->text, "out of memory");
    return false;
  }
  memcpy(text, ptx, length);
  text[length] = 0;
  if (d->module) d->cu->module_unload(d->module);
  d->module = NULL;
  cu_result r = d->cu->module_load(&d->module, text, 5, names, values);
  free(text);
  if (r == CU_OK) return true;
  log[LOG - 1] = 0;
  char name[160];
  cuda_api_error(d->cu, r, name, sizeof name);
  error->line = line_of(log);
  for (char *c = log; *c; c++)
    if (*c == '\n') *c = ' ';
  if (r == CU_UNSUPPORTED_PTX)
    snprintf(error->text, sizeof error->text, "the driver (%s) is older than the compiler that "
             "wrote this PTX; update the driver, or use an older toolkit", d->info.driver);
  else
    snprintf(error->text, sizeof error->text, "the driver does not take this code: %.100s %.350s",
             name, log);
  return false;
}

/* ---- memory -------------------------------------------------------------------------------- */

static size_t rounded(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

static uint64_t cuda_alloc(struct device *d, size_t bytes, const char *name, bool read_only)
{
  if (d->nbuffers == CUDA_BUFFERS) return 0;
  struct cuda_buffer *b = &d->buffers[d->nbuffers];
  memset(b, 0, sizeof *b);
  if (d->cu->alloc(&b->base, GUARD + rounded(bytes) + GUARD) != CU_OK) return 0;
  snprintf(b->name, sizeof b->name, "%s", name);
  b->bytes = bytes;
  b->read_only = read_only;
  d->nbuffers++;
  /* The band behind begins at the very next byte, so that one element too far is seen. */
  size_t slack = rounded(bytes) - bytes;
  if (!ok(d, d->cu->upload(b->base, d->guard, GUARD), "a guard band") ||
      !ok(d, d->cu->upload(b->base + GUARD + bytes, d->guard, GUARD), "a guard band") ||
      (slack && !ok(d, d->cu->upload(b->base + 2 * GUARD + bytes, d->guard, slack), "a guard band")))
    return 0;
  return b->base + GUARD;
}

static struct cuda_buffer *buffer_at(struct device *d, uint64_t address, size_t bytes)
{
  for (size_t i = 0; i < d->nbuffers; i++) {
    struct cuda_buffer *b = &d->buffers[i];
    if (address >= b->base + GUARD && address - b->base - GUARD + bytes <= b->bytes) return b;
  }
  return NULL;
}

static bool cuda_upload(struct device *d, uint64_t address, const void *from, size_t bytes)
{
  struct cuda_buffer *b = buffer_at(d, address, bytes);
  if (!b) return false;
  if (b->read_only && bytes == b->bytes) b->hash = hash(from, bytes);
  return !bytes || ok(d, d->cu->upload(address, from, bytes), "upload");
}

static bool cuda_download(struct device *d, uint64_t address, void *to, size_t bytes)
{
  if (!buffer_at(d, address, bytes)) return false;
  if (*d->broken) {                       /* after a fault there is nothing to read: no value passes */
    memset(to, 0xff, bytes);
    return true;
  }
  return !bytes || ok(d, d->cu->download(to, address, bytes), "download");
}

/* ---- launching ----------------------------------------------------------------------------- */

static void fault(struct sim_result *r, enum sim_fault_kind kind, const char *object,
                  const char *text)
{
  r->faults = realloc(r->faults, (r->nfaults + 1) * sizeof *r->faults);
  if (!r->faults) exit(3);                /* the grader sees a worker that ended: our fault */
  struct sim_fault *f = &r->faults[r->nfaults++];
  memset(f, 0, sizeof *f);
  f->kind = kind;
  f->fatal = true;
  f->count = 1;
  snprintf(f->object, sizeof f->object, "%s", object);
  snprintf(f->text, sizeof f->text, "%s", text);
}

cu_function cuda_function(struct device *d, const struct sim_launch *l, char *why, size_t size)
{
  struct ptx_function *entry = d->ptx ? ptx_find_entry(d->ptx, l->kernel) : NULL;
  cu_function f = NULL;
  if (!entry || d->cu->module_function(&f, d->module, entry->name) != CU_OK) {
    snprintf(why, size, "there is no kernel called %s", l->kernel);
    return NULL;
  }
  if (l->shared_bytes <= 48 * 1024 ||
      d->cu->function_set(f, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)l->shared_bytes) == CU_OK)
    return f;
  int fixed = 0;
  d->cu->function_attribute(&fixed, CU_FUNCTION_SHARED_BYTES, f);
  snprintf(why, size, "the block asks for %u bytes of dynamic shared memory beside its %d static "
           "ones; this card gives a block at most %d", l->shared_bytes, fixed,
           attribute(d, CU_ATTRIBUTE_SHARED_OPTIN));
  return NULL;
}

cu_result cuda_start(struct device *d, cu_function f, const struct sim_launch *l)
{
  size_t bytes = l->param_bytes;
  void *extra[] = {(void *)(uintptr_t)CU_PARAM_POINTER, (void *)l->params,
                   (void *)(uintptr_t)CU_PARAM_SIZE, &bytes, (void *)(uintptr_t)CU_PARAM_END};
  return d->cu->launch(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                       l->block[2], l->shared_bytes, NULL, NULL, extra);
}

/* What the driver's errors mean for a kernel; any other one is our fault or the machine's. */
static const struct { cu_result error; enum sim_fault_kind kind; const char *text; } meanings[] = {
  {CU_INVALID_VALUE, SIM_FAULT_LAUNCH, "the GPU refused the launch: block, grid or parameters are "
   "outside its limits"},
  {CU_OUT_OF_RESOURCES, SIM_FAULT_LAUNCH, "the GPU has too few registers or too little shared "
   "memory for one block of this kernel"},
  {CU_ILLEGAL_ADDRESS, SIM_FAULT_BOUNDS, "on the GPU the kernel touched memory that belongs to no "
   "buffer. The simulator names the line: --device sim"},
  {CU_ADDRESS_SPACE, SIM_FAULT_BOUNDS, "on the GPU the kernel used an address of the wrong memory "
   "space"},
  {CU_INVALID_PC, SIM_FAULT_BOUNDS, "on the GPU the kernel jumped outside its code"},
  {CU_MISALIGNED, SIM_FAULT_ALIGNMENT, "on the GPU an address was not a multiple of its access's "
   "width. The simulator names the line: --device sim"},
  {CU_TIMEOUT, SIM_FAULT_BUDGET, "the GPU's own time limit stopped the kernel"},
  {CU_ASSERT, SIM_FAULT_TRAP, "an assert of the kernel failed on the GPU"},
  {CU_STACK_ERROR, SIM_FAULT_STACK, "the kernel's stack overflowed on the GPU"},
  {CU_ILLEGAL_INSTRUCTION, SIM_FAULT_TRAP, "the GPU met an illegal instruction"},
  {CU_LAUNCH_FAILED, SIM_FAULT_TRAP, "the kernel failed on the GPU: a trap, or an access outside "
   "shared or local memory. The simulator names the line: --device sim"},
};

static void failed(struct device *d, struct sim_result *r, cu_result error)
{
  char name[160], text[512];
  cuda_api_error(d->cu, error, name, sizeof name);
  snprintf(d->broken, sizeof d->broken, "the launch failed: %s", name);
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
    if (meanings[i].error == error) {
      snprintf(text, sizeof text, "%s (%.100s)", meanings[i].text, name);
      fault(r, meanings[i].kind, "", text);
      return;
    }
}

/* The guard bands and the read-only buffers after a launch. */
static void inspect(struct device *d, struct sim_result *r)
{
  unsigned char band[GUARD];
  char text[512];
  for (size_t i = 0; i < d->nbuffers; i++) {
    struct cuda_buffer *b = &d->buffers[i];
    for (int behind = 0; behind < 2; behind++) {
      cu_address at = behind ? b->base + GUARD + b->bytes : b->base;
      size_t k;
      if (!ok(d, d->cu->download(band, at, GUARD), "reading a guard band")) return;
      if (behind)
        for (k = 0; k < GUARD && band[k] == d->guard[k]; k++) {}
      else                                /* the damage nearest to the buffer */
        for (k = 0; k < GUARD && band[GUARD - 1 - k] == d->guard[GUARD - 1 - k]; k++) {}
      if (k == GUARD) continue;
      snprintf(text, sizeof text, "on the GPU the kernel wrote %zu bytes %s the %s of '%s' (%zu "
               "bytes). Check the index against the size", behind ? k : k + 1,
               behind ? "behind" : "before", behind ? "end" : "begin", b->name, b->bytes);
      fault(r, SIM_FAULT_BOUNDS, b->name, text);
      d->cu->upload(at, d->guard, GUARD);   /* the next launch answers for itself only */
    }
    if (!b->read_only || !b->bytes) continue;
    unsigned char *now = malloc(b->bytes);
    if (!now || !ok(d, d->cu->download(now, b->base + GUARD, b->bytes), "reading an input")) {
      free(now);
      return;
    }
    if (hash(now, b->bytes) != b->hash) {
      snprintf(text, sizeof text, "on the GPU the kernel wrote to '%s', which is input only",
               b->name);
      fault(r, SIM_FAULT_READ_ONLY, b->name, text);
      b->hash = hash(now, b->bytes);
    }
    free(now);
  }
}

static bool cuda_launch(struct device *d, const struct sim_launch *l, struct sim_result *r,
                        double *milliseconds)
{
  char why[512];
  float elapsed = 0;
  cu_event from = NULL, to = NULL;
  memset(r, 0, sizeof *r);
  cu_function f = cuda_function(d, l, why, sizeof why);
  if (!f) {
    fault(r, SIM_FAULT_LAUNCH, "", why);
    return false;
  }
  int fixed = 0;
  d->cu->function_attribute(&fixed, CU_FUNCTION_SHARED_BYTES, f);
  r->static_shared = (uint32_t)fixed;
  r->dynamic_shared = l->shared_bytes;
  r->totals.blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  r->totals.warps = r->totals.blocks *
                    (((uint64_t)l->block[0] * l->block[1] * l->block[2] + 31) / 32);
  bool ready = ok(d, d->cu->event_create(&from, 0), "an event") &&
               ok(d, d->cu->event_create(&to, 0), "an event");
  cu_result error = CU_OK;
  if (ready) {
    d->cu->event_record(from, NULL);
    error = cuda_start(d, f, l);
    d->cu->event_record(to, NULL);
    if (error == CU_OK) error = d->cu->synchronize();
    if (error == CU_OK && milliseconds && d->cu->event_elapsed(&elapsed, from, to) == CU_OK)
      *milliseconds = elapsed;
  }
  if (from) d->cu->event_destroy(from);
  if (to) d->cu->event_destroy(to);
  if (error != CU_OK) failed(d, r, error);
  if (!ready || error != CU_OK) return false;
  r->completed = true;
  inspect(d, r);
  return r->nfaults == 0 && !*d->broken;
}

static const char *cuda_broken(struct device *d) { return d->broken; }

const struct device_ops device_cuda = {
  .name = "cuda", .open = cuda_open, .info = cuda_info, .load = cuda_load, .alloc = cuda_alloc,
  .upload = cuda_upload, .launch = cuda_launch, .download = cuda_download, .close = cuda_close,
  .broken = cuda_broken,
};
