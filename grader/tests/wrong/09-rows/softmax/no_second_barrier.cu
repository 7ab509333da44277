// expect: *: race
/* Softmax of rows: out[r][c] = exp(in[r][c]) / (sum of exp(in[r][k]) over k).
 *
 * A block of 128 threads takes one row of `columns` floats, 1 or more.  Two things are wrong below.
 * exp() overflows above 88, so large logits yield NaN; and the tree costs more than it has to.
 *
 * What has to hold: finite logits of any size give finite results.  A row with a NaN, with a
 * +infinity, or with nothing but -infinity is NaN throughout.  A -infinity beside a finite number
 * gives 0.  72 wavefronts a row give full points.  Read: chapters/09-rows.md, sections 3 to 5.
 */
extern "C" __global__ void softmax(const float *in, float *out, int columns)
{
  // >>> yours
  __shared__ float s[128];
  int t = threadIdx.x;
  const float *x = in + (size_t)blockIdx.x * columns;
  float *y = out + (size_t)blockIdx.x * columns;

  float most = -INFINITY;
  for (int c = t; c < columns; c += 128) most = fmaxf(most, x[c]);
  s[t] = most;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) s[t] = fmaxf(s[t], s[t + step]);
    __syncthreads();
  }
  most = s[0];

  float sum = 0.0f;                      /* a NaN that fmaxf let through comes back here */
  for (int c = t; c < columns; c += 128) sum += expf(x[c] - most);
  s[t] = sum;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  sum = s[0];

  for (int c = t; c < columns; c += 128) y[c] = expf(x[c] - most) / sum;
  // <<<
}
