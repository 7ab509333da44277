// Sparse rows, and a mixture of experts: routing and permutation of tokens.
extern "C" __global__ void csr_thread(int rows, const int *__restrict__ start, const int *__restrict__ col,
                                      const float *__restrict__ value, const float *__restrict__ x,
                                      float *__restrict__ y)
{
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int j = start[r]; j < start[r + 1]; j++) sum += value[j] * __ldg(x + col[j]);
  y[r] = sum;
}

extern "C" __global__ void csr_warp(int rows, const int *start, const int *col, const double *value,
                                    const double *x, double *y)
{
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  double sum = 0;
  for (int j = start[r] + lane; j < start[r + 1]; j += 32) sum += value[j] * x[col[j]];
  for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) y[r] = sum;
}

// The two best of `experts` (at most 32) logits of a token, one warp a token; ties to the lower.
extern "C" __global__ void route(const float *logits, int *choice, float *weight, int *load, int tokens,
                                 int experts)
{
  int token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (token >= tokens) return;
  float v = lane < experts ? logits[token * experts + lane] : -INFINITY, best[2];
  int pick[2];
  for (int k = 0; k < 2; k++) {
    float b = v;
    int p = lane;
    for (int d = 16; d; d /= 2) {
      float b2 = __shfl_xor_sync(~0u, b, d);
      int p2 = __shfl_xor_sync(~0u, p, d);
      if (b2 > b || (b2 == b && p2 < p)) b = b2, p = p2;
    }
    best[k] = b, pick[k] = p;
    if (lane == p) v = -INFINITY;
  }
  if (lane < 2) {
    float e = expf(best[1] - best[0]);
    choice[2 * token + lane] = lane ? pick[1] : pick[0];
    weight[2 * token + lane] = (lane ? e : 1) / (1 + e);
    atomicAdd(&load[lane ? pick[1] : pick[0]], 1);
  }
}

// Rows copied to their expert's stretch; `cursor` starts as the exclusive scan of the loads.
extern "C" __global__ void permute(const float4 *in, const int *choice, int *cursor, float4 *out, int *from,
                                   int pairs, int quads)
{
  __shared__ int slot;
  int pair = blockIdx.x;
  if (pair >= pairs) return;
  if (threadIdx.x == 0) {
    slot = atomicAdd(&cursor[choice[pair]], 1);
    from[slot] = pair / 2;
  }
  __syncthreads();
  for (int q = threadIdx.x; q < quads; q += blockDim.x)
    out[slot * quads + q] = in[pair / 2 * quads + q];
}
