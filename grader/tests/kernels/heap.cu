// malloc, free, new and delete in a kernel.
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void

struct node { int value; node *next; };

// Each thread sorts its numbers into a list of its own.
KERNEL heap_list(const int *in, int *out, int n)
{
  node *head = nullptr;
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * n;
  for (int k = 0; k < n; k++) {
    node **at = &head;
    while (*at && (*at)->value < in[first + k]) at = &(*at)->next;
    *at = new node{in[first + k], *at};
  }
  for (int k = 0; k < n; k++) {
    node *old = head;
    out[first + k] = old->value;
    head = old->next;
    delete old;
  }
}

struct shape { virtual __device__ int area() const = 0; virtual __device__ ~shape() {} };
struct square : shape { int a; __device__ square(int a) : a(a) {} __device__ int area() const { return a * a; } };
struct strip : shape { int a; __device__ strip(int a) : a(a) {} __device__ int area() const { return 3 * a; } };

KERNEL heap_shapes(const int *in, int *out, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  shape *s = i & 1 ? (shape *)new square(in[i]) : new strip(in[i]);
  out[i] = s->area();
  delete s;
}

// One block of memory of a thread block.
KERNEL heap_shared(const int *in, int *out, int n)
{
  __shared__ int *row;
  if (threadIdx.x == 0) row = (int *)malloc(blockDim.x * sizeof *row);
  __syncthreads();
  row[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(row);
}

KERNEL heap_aligned(const int *in, int *out, int n)
{
  void *p = __nv_aligned_device_malloc(100, 4096);
  out[threadIdx.x] = (int)((size_t)p & 4095) + (p == nullptr);
  free(p);
}

// Far more blocks than are remembered, few at a time.
KERNEL heap_churn(const int *in, int *out, int n)
{
  int *keep = (int *)malloc(4), sum = 0;
  *keep = threadIdx.x;
  for (int k = 0; k < n; k++) {
    int *p = (int *)malloc(8);
    p[1] = k;
    sum += p[1];
    free(p);
  }
  out[threadIdx.x] = sum + *keep;
  free(keep);
}

// Until there is none: the number of blocks.
KERNEL heap_all(const int *in, int *out, int n)
{
  int k = 0;
  while (malloc(1 << 20)) k++;
  out[0] = k;
}

KERNEL heap_keep(int **kept, int n)
{
  kept[threadIdx.x] = (int *)malloc(4 * n);
  kept[threadIdx.x][n - 1] = threadIdx.x;
}
KERNEL heap_take(int **kept, int n)
{
  int *p = kept[blockIdx.x];
  p[0] = p[n - 1] + 1;
  kept[blockIdx.x] = 0;
}

#define WRONG(name, ...) KERNEL name(const int *in, int *out, int n) \
  { int *p = (int *)malloc(64); p[n] = n; __VA_ARGS__; out[0] = p[n]; }
WRONG(wrong_after, free(p))
WRONG(wrong_twice, free(p); free(p))
WRONG(wrong_inside, free(p + 1))
WRONG(wrong_buffer, free(out))
WRONG(wrong_local, int here[2]; here[n] = n; free(here + in[0]))
WRONG(wrong_past, n += 15)
WRONG(wrong_before, n -= 2)
