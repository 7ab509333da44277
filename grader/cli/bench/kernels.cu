// What `banks bench` runs.  kernels.ptx is this file compiled:
//   nvcc -ptx -arch=sm_90 grader/cli/bench/kernels.cu -o grader/cli/bench/kernels.ptx
extern "C" {

__global__ void alu(unsigned *out, int rounds)
{
  unsigned a = threadIdx.x, b = blockIdx.x + 1, c = 7;
  float f = a, g = b;
  for (int k = 0; k < rounds; k++) {
    a = a * 1664525u + b;
    b = b ^ (a >> 7);
    c = c + (b & a);
    f = f * 0.5f + g;
    g = g - f * 0.25f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + (unsigned)(f + g);
}

__global__ void transpose(const float *in, float *out, int n)
{
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void gemm(const float *a, const float *b, float *c, int n)
{
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int t = 0; t < n / 16; t++) {
    as[ty][tx] = a[row * n + t * 16 + tx];
    bs[ty][tx] = b[(t * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

__global__ void histogram(const unsigned char *in, unsigned *out, int n)
{
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
}
