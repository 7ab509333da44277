// Neighbours: a stencil with a halo, Game of Life, n-body.
enum { R = 3, TX = 32, TY = 8 };
__constant__ float weight[2 * R + 1];

extern "C" __global__ void stencil(const float *__restrict__ in, float *__restrict__ out, int w, int h)
{
  __shared__ float tile[TY + 2 * R][TX + 2 * R];
  int x0 = blockIdx.x * TX - R, y0 = blockIdx.y * TY - R;
  for (int y = threadIdx.y; y < TY + 2 * R; y += TY)
    for (int x = threadIdx.x; x < TX + 2 * R; x += TX) {
      int gx = min(max(x0 + x, 0), w - 1), gy = min(max(y0 + y, 0), h - 1);
      tile[y][x] = __ldg(&in[gy * w + gx]);
    }
  __syncthreads();
  int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
#pragma unroll
  for (int d = -R; d <= R; d++) {
    sum += weight[d + R] * tile[threadIdx.y + R][threadIdx.x + R + d];
    if (d) sum += weight[d + R] * tile[threadIdx.y + R + d][threadIdx.x + R];
  }
  out[y * w + x] = sum;
}

extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int w, int h)
{
  __shared__ unsigned char s[18][18];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  for (int i = ty * 16 + tx; i < 18 * 18; i += 256) {
    int cx = (blockIdx.x * 16 + i % 18 - 1 + w) % w, cy = (blockIdx.y * 16 + i / 18 - 1 + h) % h;
    s[i / 18][i % 18] = in[cy * w + cx];
  }
  __syncthreads();
  int around = -s[ty + 1][tx + 1];
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) around += s[ty + a][tx + b];
  if (x < w && y < h) out[y * w + x] = around == 3 || (around == 2 && s[ty + 1][tx + 1]);
}

extern "C" __global__ void nbody(const float4 *body, float3 *force, int n, float soft)
{
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float3 f = {0, 0, 0};
  for (int t = 0; t < n; t += blockDim.x) {
    tile[threadIdx.x] = t + threadIdx.x < n ? body[t + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < blockDim.x; j++) {
      float4 o = tile[j];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + soft), s = o.w * r * r * r;
      f.x += s * dx, f.y += s * dy, f.z += s * dz;
    }
    __syncthreads();
  }
  if (i < n) force[i] = f;
}

// Mandelbrot: loops that diverge in each lane; double precision.
extern "C" __global__ void mandelbrot(int *out, int w, int h, double x0, double y0, double step, int most)
{
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= w || py >= h) return;
  double cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
  int k = 0;
  while (k < most && x * x + y * y < 4) {
    double t = __dadd_rn(__dmul_rn(x, x), -__dmul_rn(y, y)) + cx;
    y = __dadd_rn(__dmul_rn(2 * x, y), cy);
    x = t;
    k++;
  }
  out[py * w + px] = k;
}
