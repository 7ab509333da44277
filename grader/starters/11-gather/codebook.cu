/* Decoding with a codebook: every code stands for 8 floats.
 *
 * out[i][k] = book[code[i]][k] for k = 0 .. 7; the book has 64 entries.  A code that is not from
 * 0 to 63 decodes to zeros.  A block of 256 threads decodes 256 codes; the lanes of a warp take
 * the 8 floats of 4 codes, so that they write 32 neighbouring floats.
 *
 * The kernel below is right.  But its 4 codes are any codes, and their entries often begin in the
 * same bank.  Lay the book out so that no four codes can conflict: one wavefront a request,
 * whatever the codes are.
 * Read: chapters/11-gather.md, "Free for any data".
 */
extern "C" __global__ void codebook(const float *book, const int *code, float *out, int count)
{
  // >>> yours
  __shared__ float table[64][8];
  for (int i = threadIdx.x; i < 64 * 8; i += 256)
    table[i / 8][i % 8] = book[i];
  // <<<

  __syncthreads();

  int k = threadIdx.x % 8;
  for (int j = threadIdx.x / 8; j < 256; j += 32) {
    int i = blockIdx.x * 256 + j;
    if (i >= count) break;
    int c = code[i];
    float x = 0;
    // >>> yours
    if (c >= 0 && c < 64) x = table[c][k];
    // <<<
    out[(size_t)i * 8 + k] = x;
  }
}
