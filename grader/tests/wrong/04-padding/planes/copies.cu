// expect: full blocks: The result is the input
// expect: any number: are wrong
// expect: coalesced: are wrong
// expect: conflict free: are wrong
/* Interleaved pixels into separate planes.
 *
 * A pixel has 8 channels, side by side: in[pixel * 8 + channel].  The result has one plane a
 * channel: out[channel * pixels + pixel].  A block has 256 threads and moves 32 pixels, which are
 * 256 floats; the last block may have fewer.
 *
 * Both sides of global memory are coalesced.  The reads of shared memory are free of conflicts
 * too.  The conflict is on the write: eight wavefronts a request.  Make it take one.
 * Read: chapters/04-padding.md, "The write can be the bad side".
 */
extern "C" __global__ void planes(const float *in, float *out, int pixels)
{
  // >>> yours
  __shared__ float plane[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < pixels * 8) plane[threadIdx.x] = in[i];
  __syncthreads();
  if (i < pixels * 8) out[i] = plane[threadIdx.x];
  // <<<
}
