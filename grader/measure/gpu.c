/* The card, opened once, and launches on it.  See measure.h. */
#include "measure/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "toolchain/toolchain.h"

bool gpu_open(struct gpu *g)
{
  struct sim_options options = {.seed = 1};
  time_t now = time(NULL);
  g->device = device_cuda.open(&options, g->why, sizeof g->why);
  if (!g->device) return false;
  device_cuda.info(g->device, &g->info);
  snprintf(g->toolkit, sizeof g->toolkit, "nvcc %s", toolchain_find()->nvcc_version);
  strftime(g->date, sizeof g->date, "%Y-%m-%d", gmtime(&now));
  if (!g->samples) g->samples = CUDA_SAMPLES;
  return true;
}

bool gpu_load(struct gpu *g, const char *ptx, size_t length)
{
  struct ptx_error error;
  if (device_cuda.load(g->device, ptx, length, &error)) return true;
  snprintf(g->why, sizeof g->why, "line %u of the PTX: %.400s", error.line, error.text);
  return false;
}

void gpu_close(struct gpu *g)
{
  if (g->device) device_cuda.close(g->device);
  g->device = NULL;
}

static FILE *open_table(struct gpu *g, const char *name, const char *how)
{
  char path[600];
  snprintf(path, sizeof path, "%.400s/%s", g->folder, name);
  FILE *f = fopen(path, how);
  if (!f) snprintf(g->why, sizeof g->why, "%.300s: %s", path, strerror(errno));
  return f;
}

FILE *gpu_table_again(struct gpu *g, const char *name) { return open_table(g, name, "ae"); }

FILE *gpu_table(struct gpu *g, const char *name, const char *what, const char *columns)
{
  FILE *f = open_table(g, name, "we");
  if (!f) return NULL;
  fprintf(f, "# %s\n# %s (compute capability %u.%u, %u SMs, %.0f MHz), driver %s; %s; %s.\n%s\n",
          what, g->info.name, g->info.capability / 10, g->info.capability % 10, g->info.sms,
          (double)g->info.clock_khz / 1000, g->info.driver, g->toolkit, g->date, columns);
  return f;
}

bool gpu_table_end(struct gpu *g, FILE *f)
{
  if (fclose(f) == 0) return true;
  snprintf(g->why, sizeof g->why, "a table could not be written: %s", strerror(errno));
  return false;
}

uint64_t gpu_buffer(struct gpu *g, size_t bytes, const void *from)
{
  uint64_t address = device_cuda.alloc(g->device, bytes, "measure", false);
  if (address && from && !device_cuda.upload(g->device, address, from, bytes)) address = 0;
  if (!address && !*g->why)
    snprintf(g->why, sizeof g->why, "the card has no room for %zu MiB", bytes >> 20);
  return address;
}

void gpu_free_buffers(struct gpu *g)
{
  struct device *d = g->device;
  for (size_t i = 0; i < d->nbuffers; i++) d->cu->free(d->buffers[i].base);
  d->nbuffers = 0;
}

static size_t pack(const struct gpu_call *c, unsigned char params[64], struct sim_launch *l)
{
  size_t n = 0;
  memcpy(params, c->addresses, 8 * c->naddresses);
  n += 8 * c->naddresses;
  memcpy(params + n, c->values, 4 * c->nvalues);
  n += 4 * c->nvalues;
  *l = (struct sim_launch){.kernel = c->kernel, .shared_bytes = c->shared, .params = params,
                           .param_bytes = n};
  memcpy(l->grid, c->grid, sizeof l->grid);
  memcpy(l->block, c->block, sizeof l->block);
  return n;
}

bool gpu_run(struct gpu *g, const struct gpu_call *c)
{
  unsigned char params[64];
  struct sim_launch l;
  char why[300];
  pack(c, params, &l);
  cu_function f = cuda_function(g->device, &l, why, sizeof why);
  cu_result r = CU_OK;
  if (f && (r = cuda_start(g->device, f, &l)) == CU_OK) r = g->device->cu->synchronize();
  if (f && r == CU_OK) return true;
  if (f) cuda_api_error(g->device->cu, r, why, sizeof why);
  snprintf(g->why, sizeof g->why, "%s: %s", c->kernel, why);
  return false;
}

bool gpu_time(struct gpu *g, const struct gpu_call *c, uint64_t copy_bytes, struct cuda_time *t)
{
  unsigned char params[64];
  struct sim_launch l;
  char why[300] = "";
  pack(c, params, &l);
  if (cuda_time(g->device, &l, copy_bytes, g->samples, t, why, sizeof why)) return true;
  snprintf(g->why, sizeof g->why, "%s: %s", c->kernel, why);
  return false;
}
