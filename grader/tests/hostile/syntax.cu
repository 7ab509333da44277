// verdict: CE
// says: line 5: 
extern "C" __global__ void k(float *out)
{
  out[0] = undeclared;
}
