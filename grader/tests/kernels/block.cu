// The toolkit's own building blocks of a block.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

extern "C" __global__ void block_reduce(const float *in, float *out, int n)
{
  typedef cub::BlockReduce<float, 128> Reduce;
  __shared__ typename Reduce::TempStorage temp;
  int i = blockIdx.x * 128 + threadIdx.x;
  float s = Reduce(temp).Sum(i < n ? in[i] : 0);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

extern "C" __global__ void block_scan(const int *in, int *out, int n)
{
  typedef cub::BlockScan<int, 128> Scan;
  __shared__ typename Scan::TempStorage temp;
  int i = (blockIdx.x * 128 + threadIdx.x) * 4, v[4];
  for (int k = 0; k < 4; k++) v[k] = i + k < n ? in[i + k] : 0;
  Scan(temp).ExclusiveSum(v, v);
  for (int k = 0; k < 4; k++)
    if (i + k < n) out[i + k] = v[k];
}

extern "C" __global__ void block_sort(unsigned *keys, int *values)
{
  typedef cub::BlockRadixSort<unsigned, 128, 4, int> Sort;
  __shared__ typename Sort::TempStorage temp;
  unsigned k[4];
  int v[4], i = (blockIdx.x * 128 + threadIdx.x) * 4;
  for (int j = 0; j < 4; j++) k[j] = keys[i + j], v[j] = values[i + j];
  Sort(temp).Sort(k, v);
  for (int j = 0; j < 4; j++) keys[i + j] = k[j], values[i + j] = v[j];
}
