// CUB's block primitives as they come.
#include <cub/cub.cuh>
#define K extern "C" __global__ void
K cub_reduce(const int *in, int *out)
{
  typedef cub::BlockReduce<int, 128> R;
  __shared__ typename R::TempStorage temp;
  int sum = R(temp).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
K cub_reduce_raking(const float *in, float *out)
{
  typedef cub::BlockReduce<float, 128, cub::BLOCK_REDUCE_RAKING> R;
  __shared__ typename R::TempStorage temp;
  float sum = R(temp).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
K cub_scan(const int *in, int *out)
{
  typedef cub::BlockScan<int, 128> S;
  __shared__ typename S::TempStorage temp;
  int v[4];
  for (int i = 0; i < 4; i++) v[i] = in[threadIdx.x * 4 + i];
  S(temp).ExclusiveSum(v, v);
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = v[i];
}
K cub_load(const int *in, int *out)
{
  typedef cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> L;
  typedef cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE> S;
  __shared__ union { typename L::TempStorage l; typename S::TempStorage s; } temp;
  int v[4];
  L(temp.l).Load(in + blockIdx.x * 512, v);
  __syncthreads();
  for (int i = 0; i < 4; i++) v[i] = v[i] * v[i ^ 1];
  S(temp.s).Store(out + blockIdx.x * 512, v);
}
K cub_radix(const unsigned *in, unsigned *out)
{
  typedef cub::BlockRadixSort<unsigned, 128, 4> R;
  __shared__ typename R::TempStorage temp;
  unsigned v[4];
  for (int i = 0; i < 4; i++) v[i] = in[threadIdx.x * 4 + i];
  R(temp).Sort(v, 0, 8);
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = v[i];
}
K cub_histogram(const unsigned char *in, unsigned *out)
{
  typedef cub::BlockHistogram<unsigned char, 128, 4, 256> H;
  __shared__ typename H::TempStorage temp;
  __shared__ unsigned bins[256];
  unsigned char v[4];
  for (int i = 0; i < 4; i++) v[i] = in[threadIdx.x * 4 + i];
  H(temp).Histogram(v, bins);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128) out[i] = bins[i];
}
K cub_exchange(const float *in, float *out)
{
  typedef cub::BlockExchange<float, 64, 8> E;
  __shared__ typename E::TempStorage temp;
  float v[8];
  for (int i = 0; i < 8; i++) v[i] = in[threadIdx.x + 64 * i];
  E(temp).StripedToBlocked(v, v);
  for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = v[i];
}
