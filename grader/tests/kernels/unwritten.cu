// Reads of shared memory that nobody wrote: for nothing (note_...), and not (fault_...).
#include <cub/block/block_merge_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cuda_pipeline.h>

#define KERNEL extern "C" __global__ void

struct less { template <class T> __device__ bool operator()(T a, T b) const { return a < b; } };

KERNEL note_block_sort(const int *in, int *out, int n)
{
  typedef cub::BlockMergeSort<int, 128, 3> Sort;
  __shared__ typename Sort::TempStorage temp;
  int k[3], first = 3 * threadIdx.x;
  for (int j = 0; j < 3; j++) k[j] = first + j < n ? in[first + j] : 0x7fffffff;
  Sort(temp).Sort(k, less());
  for (int j = 0; j < 3; j++) if (first + j < n) out[first + j] = k[j];
}

KERNEL note_warp_sort(const int *in, int *out, int n)
{
  typedef cub::WarpMergeSort<int, 4> Sort;
  __shared__ typename Sort::TempStorage temp[4];
  int k[4], first = 4 * threadIdx.x;
  for (int j = 0; j < 4; j++) k[j] = first + j < n ? in[first + j] : 0x7fffffff;
  Sort(temp[threadIdx.x / 32]).Sort(k, less());
  for (int j = 0; j < 4; j++) if (first + j < n) out[first + j] = k[j];
}

// The last of the row has no neighbour.
KERNEL note_selected(const int *in, int *out, int n)
{
  __shared__ volatile int row[129];
  row[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int next = row[threadIdx.x + 1];
  out[threadIdx.x] = threadIdx.x == 127 ? 0 : next;
}

KERNEL fault_selected(const int *in, int *out, int n)
{
  __shared__ volatile int row[129];
  row[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int next = row[threadIdx.x + 1];
  out[threadIdx.x] = threadIdx.x == 126 ? 0 : next;
}

template <class T, class F> __device__ void into(const T *in, T *out, F f)
{
  __shared__ volatile T best[32];   // nobody gives it a first value
  T v = best[threadIdx.x % 32];
  for (int k = threadIdx.x % 32; k < 128; k += 32) v = f(v, in[k]);
  out[threadIdx.x] = v;
}

KERNEL fault_sum(const int *in, int *out, int n) { into(in, out, [](int a, int b) { return a + b; }); }
KERNEL fault_most(const int *in, int *out, int n) { into(in, out, [](int a, int b) { return max(a, b); }); }
KERNEL fault_least(const int *in, int *out, int n) { into(in, out, [](int a, int b) { return min(a, b); }); }
KERNEL fault_least_unsigned(const unsigned *in, unsigned *out, int n)
{
  into(in, out, [](unsigned a, unsigned b) { return min(a, b); });
}
KERNEL fault_most_float(const float *in, float *out, int n)
{
  into(in, out, [](float a, float b) { return fmaxf(a, b); });
}
KERNEL fault_least_float(const float *in, float *out, int n)
{
  into(in, out, [](float a, float b) { return fminf(a, b); });
}

// The results are the same, the work is not.
KERNEL fault_work(const int *in, int *out, int n)
{
  __shared__ volatile int flag[128], sink[128];
  sink[threadIdx.x] = 0;
  if (flag[threadIdx.x] > 0)
    for (int k = 0; k < n; k++) sink[threadIdx.x];
  out[threadIdx.x] = 1;
}

// The word was written, by a copy that came before; of the second one nobody waited for.
KERNEL fault_pending(const int *in, int *out, int n)
{
  __shared__ int row[128];
  for (int k = 0; k < 2; k++) {
    __pipeline_memcpy_async(&row[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    if (k == 0) __pipeline_wait_prior(0);
  }
  out[threadIdx.x] = *(volatile int *)&row[threadIdx.x] * 0;
  __pipeline_wait_prior(0);
}

// A read for nothing does not excuse another fault.
KERNEL fault_race(const int *in, int *out, int n)
{
  __shared__ volatile int row[129];
  row[threadIdx.x] = in[threadIdx.x];
  int next = row[threadIdx.x + 1];
  out[threadIdx.x] = threadIdx.x == 127 ? 0 : next;
}
