// Accesses whose layout is an argument, so that what `banks profile` advises can be done and profiled
// again: rows `pitch` elements long, the column XORed by the row modulo `chunks` (1: not at all), `swap`
// for lanes along a row, `lanes` of them in a row.  advice.ptx is nvcc 13.0's text of this file.
template <typename T> __device__ T *tile()
{
  extern __shared__ __align__(16) char room[];
  return reinterpret_cast<T *>(room);
}

__device__ void clear(int words)
{
  for (int i = threadIdx.x; i < words; i += 32) tile<int>()[i] = i;
  __syncthreads();
}

__device__ int column(int pitch, int chunks, int swap, int lanes)
{
  int lane = threadIdx.x, row = swap ? 0 : lane / lanes, x = swap ? lane : lane % lanes;
  return row * pitch + (x ^ row % chunks);
}

#define PAIR(width, T)                                                                             \
  extern "C" __global__ void load##width(T *out, int pitch, int chunks, int swap, int lanes)       \
  {                                                                                                \
    tile<T>()[column(pitch, chunks, swap, lanes)] = out[threadIdx.x];                              \
    __syncthreads();                                                                               \
    out[threadIdx.x] = tile<T>()[column(pitch, chunks, swap, lanes)];                              \
  }                                                                                                \
  extern "C" __global__ void store##width(T *out, int pitch, int chunks, int swap, int lanes)      \
  {                                                                                                \
    tile<T>()[column(pitch, chunks, swap, lanes)] = out[threadIdx.x];                              \
  }
PAIR(1, char)
PAIR(4, float)
PAIR(8, float2)
PAIR(16, float4)

extern "C" __global__ void global_load(const float *in, float *out, int stride, int first)
{
  out[threadIdx.x] = in[threadIdx.x * stride + first];
}

extern "C" __global__ void global_store(const float *in, float *out, int stride, int first)
{
  out[threadIdx.x * stride + first] = in[threadIdx.x];
}

extern "C" __global__ void looked_up(const int *index, float *out)
{
  clear(4096);
  out[threadIdx.x] = tile<float>()[index[threadIdx.x]];
}

extern "C" __global__ void counted(const int *index, int *out, int copies)   // a histogram
{
  clear(64 * copies);
  atomicAdd(&tile<int>()[index[threadIdx.x] * copies + threadIdx.x % copies], index[threadIdx.x]);
  atomicAdd(&out[index[threadIdx.x]], 1);
}
