// Histograms of bytes in 256 bins, five ways.
extern "C" __global__ void histogram_global(const unsigned char *in, unsigned *bins, int n)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1);
}

extern "C" __global__ void histogram_shared(const unsigned char *in, unsigned *bins, int n)
{
  __shared__ unsigned s[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) s[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&s[in[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    if (s[b]) atomicAdd(&bins[b], s[b]);
}

extern "C" __global__ void histogram_warps(const unsigned char *in, unsigned *bins, int n)
{
  extern __shared__ unsigned copies[];   // a copy each warp
  unsigned warps = blockDim.x / 32, *mine = copies + threadIdx.x / 32 * 257;
  for (unsigned b = threadIdx.x; b < warps * 257; b += blockDim.x) copies[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) {
    unsigned sum = 0;
    for (unsigned w = 0; w < warps; w++) sum += copies[w * 257 + b];
    atomicAdd(&bins[b], sum);
  }
}

extern "C" __global__ void histogram_match(const unsigned char *in, unsigned *bins, int n)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned bin = in[i], peers = __match_any_sync(__activemask(), bin);
    if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&bins[bin], __popc(peers));
  }
}

// A byte a thread and bin of 64 bins (the top six bits), no atomics inside; blocks of 64 threads.
extern "C" __global__ void histogram_bytes(const unsigned char *in, unsigned *bins, int n)
{
  __shared__ unsigned char s[64][64];
  int t = threadIdx.x, per = 200, base = (blockIdx.x * 64 + t) * per;
  for (int b = 0; b < 64; b++) s[b][t] = 0;
  __syncthreads();
  for (int i = base; i < base + per && i < n; i++) s[in[i] >> 2][t]++;
  __syncthreads();
  unsigned sum = 0;
  for (int i = 0; i < 64; i++) sum += s[t][(i + t) & 63];
  atomicAdd(&bins[t], sum);
}
