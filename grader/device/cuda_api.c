/* Finds libcuda.so.1 and its functions at run time. */
#include "device/cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const struct cuda_api *cuda_api_instead;

/* By the loader's own search first; then where drivers lie that it was not told of. */
static const char *const places[] = {
  "libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
  "/usr/lib64/libcuda.so.1", "/usr/local/cuda/compat/libcuda.so.1"
};

static void *find(void)
{
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    void *library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return NULL;
}

const struct cuda_api *cuda_api_load(char *why, size_t size)
{
  static struct cuda_api api;
  static void *library;
  if (cuda_api_instead) return cuda_api_instead;
  if (!library) library = find();
  if (!library) {
    snprintf(why, size, "there is no NVIDIA driver here (libcuda.so.1 was not found)");
    return NULL;
  }
  const char *missing = NULL;
#define CUDA_FUNCTION(symbol, name, ...)                                                          \
  *(void **)&api.name = dlsym(library, #symbol);                                                  \
  if (!api.name && !missing) missing = #symbol;
#include "cuda_api.def"
#undef CUDA_FUNCTION
  if (!missing) return &api;
  snprintf(why, size, "the NVIDIA driver here is too old: its libcuda has no %s", missing);
  return NULL;
}

void cuda_api_error(const struct cuda_api *cu, cu_result error, char *to, size_t size)
{
  const char *name = NULL, *text = NULL;
  if (cu->error_name(error, &name) != CU_OK || !name) name = "an unknown CUDA error";
  if (cu->error_text(error, &text) != CU_OK || !text) text = "";
  snprintf(to, size, "%s (%d)%s%s", name, error, *text ? ": " : "", text);
}
