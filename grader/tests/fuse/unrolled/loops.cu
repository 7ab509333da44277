// Loops that nvcc leaves rolled, or unrolls by four, and that ptxas unrolls (further) or leaves alone.
extern "C" __global__ void row_layer_norm(const float *in, float *out, int columns)
{
  __shared__ float row[1024];
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += 128) { row[c] = in[blockIdx.x * columns + c]; sum += row[c]; }
  for (int c = threadIdx.x; c < columns; c += 128) out[blockIdx.x * columns + c] = row[c] * sum;
}
extern "C" __global__ void dot_tiles(const float *a, const float *b, float *out, int n)
{
  __shared__ float s[256], w[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 256) {
    s[t] = a[k + t];
    w[t] = b[k + t];
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < 256; i++) sum += s[i] * w[(i + t) & 255];
    __syncthreads();
  }
  out[t] = sum;
}
extern "C" __global__ void dot_rows(const float *a, float *out, int n)
{
  __shared__ __align__(16) float s[64 * 64];
  int t = threadIdx.x;
  for (int i = t; i < 64 * n; i += 64) s[i] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; k++) sum += s[k] * s[t + k * 64];
  out[t] = sum;
}
extern "C" __global__ void prefix_serial(const int *in, int *out, int n)
{
  __shared__ int s[1024];
  int t = threadIdx.x;
  for (int i = t; i < n; i += 32) s[i] = in[i];
  __syncwarp();
  if (t == 0)
    for (int i = 1; i < n; i++) s[i] += s[i - 1];
  __syncwarp();
  for (int i = t; i < n; i += 32) out[i] = s[i];
}
extern "C" __global__ void window_sum(const float *in, float *out, int taps)
{
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[t];
  s[t + 256] = in[t + 256];
  __syncthreads();
  float best = -1e30f;
  for (int k = 0; k < taps; k++) best = fmaxf(best, s[t + k] + s[t + k + 1]);
  out[t] = best;
}
extern "C" __global__ void rows_walk(const float *in, float *out, int n)
{
  __shared__ __align__(16) float s[32][36];
  int t = threadIdx.x;
  for (int r = 0; r < 32; r++) s[r][t] = in[r * 32 + t];
  __syncwarp();
  float sum = 0;
  for (int c = 0; c < n; c++) sum = sum * 0.5f + s[t][c];
  out[t] = sum;
}
extern "C" __global__ void histogram_merge(const unsigned *in, unsigned *out, int copies)
{
  extern __shared__ unsigned h[];
  int t = threadIdx.x;
  for (int i = t; i < 256 * copies; i += 256) h[i] = 0;
  __syncthreads();
  atomicAdd(&h[in[blockIdx.x * 256 + t] & 255], 1);
  __syncthreads();
  unsigned sum = 0;
  for (int k = 0; k < copies; k++) sum += h[k * 256 + t];
  out[blockIdx.x * 256 + t] = sum;
}
extern "C" __global__ void stencil_time(const float *in, float *out, int steps)
{
  __shared__ float s[2][258];
  int t = threadIdx.x;
  s[0][t + 1] = in[t];
  if (t == 0) s[0][0] = s[0][257] = s[1][0] = s[1][257] = 0;
  __syncthreads();
  int at = 0;
  for (int k = 0; k < steps; k++) {
    s[at ^ 1][t + 1] = 0.25f * s[at][t] + 0.5f * s[at][t + 1] + 0.25f * s[at][t + 2];
    at ^= 1;
    __syncthreads();
  }
  out[t] = s[at][t + 1];
}
extern "C" __global__ void reduce_by_block(const float *in, float *out)
{
  extern __shared__ float d[];
  int t = threadIdx.x;
  d[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = d[0];
}
extern "C" __global__ void reduce_halving(const float *in, float *out)
{
  extern __shared__ float d[];
  int t = threadIdx.x;
  d[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = d[0];
}
extern "C" __global__ void scan_doubling(const int *in, int *out, int n)
{
  extern __shared__ int s2[];
  int t = threadIdx.x;
  s2[t] = in[t];
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    int v = t >= d ? s2[t - d] : 0;
    __syncthreads();
    s2[t] += v;
    __syncthreads();
  }
  out[t] = s2[t];
}
extern "C" __global__ void softmax_shared(const float *in, float *out, int n)
{
  extern __shared__ float row2[];
  __shared__ float part[8];
  int t = threadIdx.x;
  float top = -1e30f, sum = 0;
  for (int i = t; i < n; i += 256) { row2[i] = in[blockIdx.x * n + i]; top = fmaxf(top, row2[i]); }
  for (int k = 16; k; k /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, k));
  if (t % 32 == 0) part[t / 32] = top;
  __syncthreads();
  for (int i = 0; i < 8; i++) top = fmaxf(top, part[i]);
  for (int i = t; i < n; i += 256) { float e = __expf(row2[i] - top); row2[i] = e; sum += e; }
  for (int i = t; i < n; i += 256) out[blockIdx.x * n + i] = row2[i] * sum;
}
extern "C" __global__ void polynomial(const float *c, const float *x, float *out, int n)
{
  __shared__ __align__(16) float s[64];
  int t = threadIdx.x;
  if (t < 64) s[t] = c[t];
  __syncthreads();
  float v = x[t], y = 0;
  for (int k = 0; k < n; k++) y = y * v + s[k];
  out[t] = y;
}
extern "C" __global__ void polynomial_down(const float *c, const float *x, float *out, int n)
{
  __shared__ __align__(16) float s[64];
  int t = threadIdx.x;
  if (t < 64) s[t] = c[t];
  __syncthreads();
  float v = x[t], y = 0;
  for (int k = n - 1; k >= 0; k--) y = y * v + s[k];
  out[t] = y;
}
extern "C" __global__ void bytes_row(const unsigned char *in, int *out, int n)
{
  __shared__ unsigned char s[4096];
  int t = threadIdx.x;
  for (int i = t; i < n; i += 128) s[i] = in[i];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; i++) sum += s[(i + t) % 64];
  out[t] = sum;
}
extern "C" __global__ void gemm_runtime(const float *a, const float *b, float *c, int n)
{
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = a[row * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + col];
    __syncthreads();
    int m = min(16, n - k);
    for (int i = 0; i < m; i++) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
extern "C" __global__ void find_first(const int *in, int *out, int n, int key)
{
  __shared__ int s[1024];
  int t = threadIdx.x;
  for (int i = t; i < n; i += 256) s[i] = in[i];
  __syncthreads();
  int at = -1;
  for (int i = 0; i < n; i++)
    if (s[i] == key + t) { at = i; break; }
  out[t] = at;
}
extern "C" __global__ void rank_sort(const int *in, int *out, int n)
{
  __shared__ int s[1024];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  int rank = 0, v = s[t];
  for (int i = 0; i < n; i++) rank += s[i] < v || (s[i] == v && i < t);
  out[rank] = v;
}
extern "C" __global__ void pairs_until(const float *in, float *out, int n)
{
  __shared__ __align__(16) float s[2048];
  int t = threadIdx.x;
  for (int i = t; i < n; i += 128) s[i] = in[i];
  __syncthreads();
  float x = 0, y = 0;
  for (int i = 0; i != n; i += 2) { x += s[i]; y += s[i + 1]; }
  out[t] = x - y;
}
extern "C" __global__ void reduce_fixed(const float *in, float *out)
{
  __shared__ float d[256];
  int t = threadIdx.x;
  d[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    if (t % (2 * s) == 0) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = d[0];
}
extern "C" __global__ void jacobi_rounds(const float *in, float *out, int rounds)
{
  __shared__ __align__(16) float s[18 * 20];
  int x = threadIdx.x, y = threadIdx.y, at = (y + 1) * 20 + x + 1;
  for (int i = y * 16 + x; i < 18 * 20; i += 256) s[i] = 0;
  __syncthreads();
  s[at] = in[y * 16 + x];
  __syncthreads();
  for (int k = 0; k < rounds; k++) {
    float v = 0.25f * (s[at - 1] + s[at + 1] + s[at - 20] + s[at + 20]);
    __syncthreads();
    s[at] = v;
    __syncthreads();
  }
  out[y * 16 + x] = s[at];
}
extern "C" __global__ void taps_inside(const float *in, const float *w, float *out, int n)
{
  __shared__ __align__(16) float s[1024 + 8], c[8];
  int t = threadIdx.x;
  for (int i = t; i < n + 8; i += 128) s[i] = in[i];
  if (t < 8) c[t] = w[t];
  __syncthreads();
  for (int i = t; i < n; i += 128) {
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += s[i + k] * c[k];
    out[i] = sum;
  }
}
extern "C" __global__ void column_walk(const float *in, float *out, int rows)
{
  __shared__ float s[64 * 33];
  int t = threadIdx.x;
  for (int r = 0; r < rows; r++) s[r * 33 + t] = in[r * 32 + t];
  __syncwarp();
  float sum = 0;
  for (int r = rows - 1; r >= 0; r -= 2) sum += s[r * 33 + t];
  out[t] = sum;
}
extern "C" __global__ void vote_rounds(const unsigned *in, unsigned *out, unsigned n)
{
  __shared__ unsigned s[256];
  unsigned t = threadIdx.x;
  for (unsigned i = t; i < n; i += 256) s[i] = in[i];
  __syncthreads();
  unsigned all = 0;
  for (unsigned i = t; i < n; i += 32) all += __popc(__ballot_sync(__activemask(), s[i] & 1));
  out[t] = all;
}
extern "C" __global__ void matrix_vector(const float *m, const float *x, float *y, int n)
{
  extern __shared__ float4 v[];
  int t = threadIdx.x;
  for (int i = t; i < n / 4; i += 128) v[i] = ((const float4 *)x)[i];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < n / 4; i++) {
    float4 a = ((const float4 *)m)[t * (n / 4) + i], b = v[i];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  y[t] = sum;
}
extern "C" __global__ void half_row(const unsigned short *in, unsigned short *out, int n)
{
  __shared__ __align__(16) unsigned short s[2048];
  int t = threadIdx.x;
  for (int i = t; i < n; i += 128) s[i] = in[i];
  __syncthreads();
  unsigned short x = 0;
  for (int i = 0; i < n; i++) x ^= s[i];
  out[t] = x;
}
extern "C" __global__ void ring(const int *in, int *out, int n)
{
  __shared__ int s[128];
  int t = threadIdx.x, sum = 0;
  s[t] = in[t];
  __syncthreads();
  for (int k = 1; k <= n; k++) sum += s[(t + k) & 127] ^ k;
  out[t] = sum;
}
