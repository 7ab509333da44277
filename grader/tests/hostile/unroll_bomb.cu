// verdict: TO
// clang: OK
extern "C" __global__ void k(float *out)
{
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 400; i++)
#pragma unroll
    for (int j = 0; j < 400; j++) sum += out[i * j] * out[i + j];
  out[0] = sum;
}
