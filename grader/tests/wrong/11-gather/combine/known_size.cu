// expect: coalesced: sectors of global
/* The way back: every token collects what its two experts made of it.
 *
 *     out[i] = weight[2 i] * y[position[2 i]] + weight[2 i + 1] * y[position[2 i + 1]]
 *
 * for rows of `width` floats.  A position of -1 means that the token was dropped there: the term
 * is left out, whatever its weight is.  Slots of `y` that nobody took hold no numbers.  There are
 * enough blocks of 256 threads to give every token a warp.
 *
 * The kernel below is right, but it gives a token to a thread: a warp reads 32 rows at a time.
 * Make it read rows.
 * Read: chapters/11-gather.md, "A row is one request".
 */
extern "C" __global__ void combine(const float *y, const int *position, const float *weight,
                                   float *out, int tokens, int width)
{
  // >>> yours
  if (tokens == 64 && width == 256) {
    int i = blockIdx.x * 8 + threadIdx.x / 32;
    if (i >= tokens) return;
    int first = position[2 * i], second = position[2 * i + 1];
    float a = weight[2 * i], b = weight[2 * i + 1];
    for (int c = threadIdx.x % 32; c < width; c += 32) {
      float sum = 0;
      if (first >= 0) sum += a * y[(size_t)first * width + c];
      if (second >= 0) sum += b * y[(size_t)second * width + c];
      out[(size_t)i * width + c] = sum;
    }
  } else {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= tokens) return;
    int first = position[2 * i], second = position[2 * i + 1];
    float a = weight[2 * i], b = weight[2 * i + 1];
    for (int c = 0; c < width; c++) {
      float sum = 0;
      if (first >= 0) sum += a * y[(size_t)first * width + c];
      if (second >= 0) sum += b * y[(size_t)second * width + c];
      out[(size_t)i * width + c] = sum;
    }
  }
  // <<<
}
