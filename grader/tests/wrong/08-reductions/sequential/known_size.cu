// expect: few wavefronts: wavefronts in shared memory
/* Rung 1: the sum of a block, free of conflicts.
 *
 * A block of 256 threads adds up 256 numbers of `in` and writes one sum:
 * out[b] = in[256 * b] + in[256 * b + 1] + ...  The last block may find fewer than 256 numbers
 * left, or none.
 *
 * The tree below is right, but its neighbours stand 2 * step words apart, and it costs about 142
 * wavefronts a block.  Choose which thread adds what, so that neighbouring threads touch
 * neighbouring words: 45 are enough.  Keep the tree in shared memory.
 * Read: chapters/08-reductions.md, section 3.
 */
extern "C" __global__ void sum(const float *in, float *out, int count)
{
  // >>> yours
  if (count == 768) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < count ? in[i] : 0.0f;
    __syncthreads();

    for (int step = 128; step > 0; step /= 2) {
      if (t < step) s[t] += s[t + step];   /* the first `step` threads add the upper half */
      __syncthreads();
    }

    if (t == 0) out[blockIdx.x] = s[0];
  } else {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < count ? in[i] : 0.0f;
    __syncthreads();

    for (int step = 1; step < 256; step *= 2) {
      int left = 2 * step * t;             /* 0, 2, 4 ... then 0, 4, 8 ... then 0, 8, 16 ... */
      if (left < 256) s[left] += s[left + step];
      __syncthreads();
    }

    if (t == 0) out[blockIdx.x] = s[0];
  }
  // <<<
}
