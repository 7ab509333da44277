/* The simulator as a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

struct device {
  struct sim *sim;
  struct ptx_module *module;
};

static struct device *sim_device_open(const struct sim_options *options, char *why, size_t size)
{
  struct device *d = calloc(1, sizeof *d);
  if (d) d->sim = sim_open(options);
  if (d && d->sim) return d;
  free(d);
  snprintf(why, size, "the host has no memory for the simulator");
  return NULL;
}

static void sim_device_info(struct device *d, struct device_info *info)
{
  (void)d;
  memset(info, 0, sizeof *info);
  snprintf(info->name, sizeof info->name, "simulator");
  info->capability = 90;
  info->sms = 132;
  info->clock_khz = 1980000;
  info->counts = true;
}

static bool sim_device_load(struct device *d, const char *ptx, size_t length,
                            struct ptx_error *error)
{
  struct ptx_module *module = ptx_read(ptx, length, error);
  if (!module) return false;
  bool ok = sim_load(d->sim, module, error);
  /* sim_load has let go of the module before, in either case. */
  ptx_free(d->module);
  d->module = ok ? module : NULL;
  if (!ok) ptx_free(module);
  return ok;
}

static uint64_t sim_device_alloc(struct device *d, size_t bytes, const char *name, bool read_only)
{
  return sim_alloc(d->sim, bytes, name, read_only);
}

static bool sim_device_upload(struct device *d, uint64_t address, const void *from, size_t bytes)
{
  void *to = sim_host(d->sim, address, bytes);
  if (!to) return false;
  if (bytes) memcpy(to, from, bytes);
  return true;
}

static bool sim_device_launch(struct device *d, const struct sim_launch *launch,
                              struct sim_result *result, double *milliseconds)
{
  if (milliseconds) *milliseconds = 0;
  return sim_launch(d->sim, launch, result);
}

static bool sim_device_download(struct device *d, uint64_t address, void *to, size_t bytes)
{
  const void *from = sim_host(d->sim, address, bytes);
  if (!from) return false;
  if (bytes) memcpy(to, from, bytes);
  return true;
}

static void sim_device_close(struct device *d)
{
  if (!d) return;
  sim_close(d->sim);
  ptx_free(d->module);
  free(d);
}

const struct device_ops device_sim = {
    .name = "sim",
    .open = sim_device_open,
    .info = sim_device_info,
    .load = sim_device_load,
    .alloc = sim_device_alloc,
    .upload = sim_device_upload,
    .launch = sim_device_launch,
    .download = sim_device_download,
    .close = sim_device_close,
};
