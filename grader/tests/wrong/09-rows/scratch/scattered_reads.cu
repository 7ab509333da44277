// expect: coalesced: are not coalesced
/* A row scratch, indexed the wrong way.
 *
 * `in` has `rows` rows of 64 floats.  out[r][c] = in[r][c] - mean of row r.  A block has 32 x 4
 * threads and takes 32 rows; the last block may have fewer.
 *
 * The rows are read into shared memory, and 32 threads add up one row each.  Each of their reads
 * hits one bank only.  About 700 wavefronts a block; with 300 you get full points.  There are two
 * cures of different kinds: another layout of the scratch, or another owner of the row.
 * Read: chapters/09-rows.md, section 2.
 */
extern "C" __global__ void center(const float *in, float *out, int rows)
{
  // >>> yours
  int lane = threadIdx.x, row = blockIdx.x * 32 + lane;

  if (threadIdx.y == 0 && row < rows) {      /* no scratch, and no neighbours either */
    float sum = 0.0f;
    for (int c = 0; c < 64; c++) sum += in[row * 64 + c];
    for (int c = 0; c < 64; c++) out[row * 64 + c] = in[row * 64 + c] - sum / 64.0f;
  }
  // <<<
}
