/* The part of the CUDA Driver API this program calls, declared here so that it builds without the
 * CUDA Toolkit, and found at run time so that it runs without a driver.
 *
 * cuda_api.def has one row a function: the exported symbol, our name, its parameters.  Only
 * cuda.c, cuda_time.c and tests include this file; tests fill the table with functions of their
 * own.
 */
#ifndef CUDA_API_H
#define CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;                 /* 0 is success */
typedef int cu_device;
typedef uint64_t cu_address;
typedef struct cu_context_st *cu_context;
typedef struct cu_module_st *cu_module;
typedef struct cu_function_st *cu_function;
typedef struct cu_stream_st *cu_stream;
typedef struct cu_event_st *cu_event;

/* The values of cuda.h that are needed; test_cuda.c compares them with a toolkit's where one is. */
enum {
  CU_OK = 0,
  CU_INVALID_VALUE = 1,
  CU_OUT_OF_MEMORY = 2,
  CU_NO_DEVICE = 100,
  CU_INVALID_IMAGE = 200,
  CU_NO_BINARY = 209,
  CU_INVALID_PTX = 218,
  CU_JIT_NOT_FOUND = 221,
  CU_UNSUPPORTED_PTX = 222,
  CU_NOT_FOUND = 500,
  CU_ILLEGAL_ADDRESS = 700,
  CU_OUT_OF_RESOURCES = 701,
  CU_TIMEOUT = 702,
  CU_ASSERT = 710,
  CU_STACK_ERROR = 714,
  CU_ILLEGAL_INSTRUCTION = 715,
  CU_MISALIGNED = 716,
  CU_ADDRESS_SPACE = 717,
  CU_INVALID_PC = 718,
  CU_LAUNCH_FAILED = 719,
  CU_ATTRIBUTE_CLOCK_KHZ = 13,
  CU_ATTRIBUTE_SMS = 16,
  CU_ATTRIBUTE_MEMORY_KHZ = 36,
  CU_ATTRIBUTE_BUS_BITS = 37,
  CU_ATTRIBUTE_L2_BYTES = 38,
  CU_ATTRIBUTE_MAJOR = 75,
  CU_ATTRIBUTE_MINOR = 76,
  CU_ATTRIBUTE_SHARED_OPTIN = 97,
  CU_FUNCTION_SHARED_BYTES = 1,
  CU_FUNCTION_REGISTERS = 4,
  CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
  CU_JIT_INFO_LOG = 3,
  CU_JIT_INFO_LOG_BYTES = 4,
  CU_JIT_ERROR_LOG = 5,
  CU_JIT_ERROR_LOG_BYTES = 6,
  CU_JIT_LINE_INFO = 13,
  CU_PARAM_END = 0,                    /* markers of cuLaunchKernel's `extra`, as pointers */
  CU_PARAM_POINTER = 1,
  CU_PARAM_SIZE = 2
};

struct cuda_api {
#define CUDA_FUNCTION(symbol, name, ...) cu_result (*name)(__VA_ARGS__);
#include "cuda_api.def"
#undef CUDA_FUNCTION
};

/* The driver's table, loaded once a process.  NULL where there is no driver; `why` says so in a
 * sentence.  Loading runs the driver's initialisers: never in the grader itself, only in a
 * worker, or in `measure`, which judges nothing. */
const struct cuda_api *cuda_api_load(char *why, size_t size);

/* What the device uses instead of the driver: tests set it. */
extern const struct cuda_api *cuda_api_instead;

/* "CUDA_ERROR_ILLEGAL_ADDRESS (700)", with the driver's own words where it has some. */
void cuda_api_error(const struct cuda_api *cu, cu_result error, char *to, size_t size);

#endif
