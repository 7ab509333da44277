/* Layer norm of rows, one pass for mean and variance.
 *
 *     out[r][c] = (in[r][c] - mean) / sqrt(variance + eps) * gamma[c] + beta[c]
 *
 * Rows may be too long for shared memory, so a block of 128 threads reads its row of `columns`
 * floats from global memory once for both sums, and once more to write the result.  block_sum() is
 * that of two_pass.cu.
 *
 * One pass it is, but mean of squares - square of mean loses its digits when the mean is large.
 * Keep one pass and make it accurate: add up differences from something near the mean, or merge
 * means and variances.  A third reading costs points.  Read: chapters/09-rows.md, section 7.
 */
static __device__ float block_sum(float x)
{
  __shared__ float part[4];
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffff, x, d);
  __syncthreads();                       /* the last call's part has been read by all */
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  return part[0] + part[1] + part[2] + part[3];
}

extern "C" __global__ void layer_norm(const float *in, const float *gamma, const float *beta,
                                      float *out, int columns, float eps)
{
  // >>> yours
  int t = threadIdx.x;
  const float *x = in + (size_t)blockIdx.x * columns;
  float *y = out + (size_t)blockIdx.x * columns;

  float sum = 0.0f, squares = 0.0f;
  for (int c = t; c < columns; c += 128) {
    float d = x[c];
    sum += d;
    squares += d * d;
  }
  float mean = block_sum(sum) / columns;
  float variance = block_sum(squares) / columns - mean * mean;

  float scale = 1.0f / sqrtf(variance + eps);
  for (int c = t; c < columns; c += 128) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
  // <<<
}
