// Stores that an `if` repeats.
extern __shared__ float s[];

// The third step of the reduction ladder: two elements a thread, the second where there is one.
extern "C" __global__ void two_each(const float *in, float *out, int n)
{
  int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  s[t] = i < n ? in[i] : 0;
  if (i + blockDim.x < n) s[t] += in[i + blockDim.x];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void clamp_ends(const float *in, float *out, int n)
{
  int t = threadIdx.x;
  float a = in[t], b = in[t + 256];
  s[t] = a;
  s[t + 256] = b;
  if (t >= n) {
    s[t] = 0;
    s[t + 256] = 0;
  }
  __syncthreads();
  if (t < n) out[t] = s[t ^ 5] + s[256 + (t ^ 7)];
}

// The kernel ends in a straight line: ptxas leaves both stores.
extern "C" __global__ void clamp_last(const float *in, float *out, int n)
{
  int t = threadIdx.x;
  s[t] = in[t];
  if (t >= n) s[t] = 0;
  __syncthreads();
  out[t] = s[t ^ 5];
}

// Only one of the two is repeated.
extern "C" __global__ void clamp_one(const float *in, float *out, int n)
{
  int t = threadIdx.x;
  float a = in[t], b = in[t + 256];
  s[t] = a;
  s[t + 256] = b;
  if (t >= n) s[t + 256] = 0;
  __syncthreads();
  if (t < n) out[t] = s[t ^ 5] + s[256 + (t ^ 7)];
}

// A load stands between.
extern "C" __global__ void clamp_with(const float *in, float *out, int n)
{
  int t = threadIdx.x;
  float a = in[t];
  s[t + 256] = a;
  __syncthreads();
  s[t] = a;
  if (t < n) s[t] = a + s[256 + (t ^ 3)];
  __syncthreads();
  if (t < n) out[t] = s[t ^ 5];
}

// In a loop, and with an integer array.
extern "C" __global__ void count_down(const int *in, int *out, int n)
{
  int *c = (int *)s, t = threadIdx.x;
  for (int k = 0; k < n; k++) {
    int x = in[k * 256 + t];
    c[t] = x;
    if (x > 7) c[t] = x - 7;
    __syncthreads();
    out[k * 256 + t] = c[t ^ 1];
    __syncthreads();
  }
}

struct pair { float x, y; };
extern "C" __global__ void pairs(const pair *in, pair *out, int n)
{
  pair *p = (pair *)s;
  int t = threadIdx.x;
  p[t] = in[t];
  if (in[t].x > in[t].y) p[t] = {in[t].y, in[t].x};
  __syncthreads();
  if (t < n) out[t] = p[t ^ 1];
}

// Behind a loop that not everyone enters.
extern "C" __global__ void after_a_loop(const float *in, float *out, int n)
{
  int t = threadIdx.x;
  float sum = 0;
  for (int i = t; i < n; i += 256) sum += in[i];
  s[t] = sum;
  if (t + 32 < n) s[t] = sum + in[t + 32];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[0] = s[0];
}
