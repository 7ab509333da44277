/* One kernel a function of control.h.  control.ptx is made of it by
 *   nvcc -ptx -arch=sm_90 -fmad=false -o control.ptx control.cu
 * Its last warp is not full, and threads past the end leave early. */
#include "control.h"

#define CONTROL(name)                                                                          \
  extern "C" __global__ void run_##name(const unsigned *in, unsigned *out, unsigned n)          \
  {                                                                                            \
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                         \
    if (i >= n) return;                                                                         \
    out[i] = name(in[i], i);                                                                    \
  }
CONTROLS
