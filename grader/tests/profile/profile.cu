// Kernels for the tests of `banks profile`; profile.ptx is nvcc 13.0's text of this file.
struct scale { int n; float by; };

extern "C" __global__ void transpose(const float *in, float *out, int width, int height)
{
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void scaled(float *data, struct scale s)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) data[i] *= s.by;
}

extern "C" __global__ void past_the_end(int *data) { data[threadIdx.x + 1] = 1; }

extern "C" __global__ void copies(unsigned short *h, unsigned char *b, double *d, long long *l)
{
  int i = threadIdx.x;
  h[i] = h[i];
  b[i] = b[i];
  d[i] = d[i] + l[i];
}
