// Sorts of one block each.

// One pass of a radix sort over 4 bits: stable, by ballots in a warp and a scan of the counts.
extern "C" __global__ void radix_pass(const unsigned *in, unsigned *out, int n, int shift)
{
  __shared__ unsigned count[16][8], start[16][8];
  int t = threadIdx.x, w = t / 32, lane = t % 32, base = blockIdx.x * 256;
  bool have = base + t < n;
  unsigned key = have ? in[base + t] : 0, digit = have ? key >> shift & 15 : 15;
  unsigned rank = 0;
  for (unsigned d = 0; d < 16; d++) {
    unsigned same = __ballot_sync(0xffffffffu, digit == d);
    if (digit == d) rank = __popc(same & ((1u << lane) - 1));
    if (lane == 0) count[d][w] = __popc(same);
  }
  __syncthreads();
  if (t < 128) {
    unsigned sum = 0;
    for (int j = 0; j < t; j++) sum += count[j / 8][j % 8];
    start[t / 8][t % 8] = sum;
  }
  __syncthreads();
  if (have) out[base + start[digit][w] + rank] = key;
}

template <int N> __global__ void bitonic(int *data, int n)
{
  __shared__ int s[N];
  int base = blockIdx.x * N;
  for (int i = threadIdx.x; i < N; i += blockDim.x) s[i] = base + i < n ? data[base + i] : 0x7fffffff;
  for (int k = 2; k <= N; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < N; i += blockDim.x) {
        int other = i ^ j;
        if (other > i && (s[i] > s[other]) == ((i & k) == 0)) {
          int v = s[i];
          s[i] = s[other];
          s[other] = v;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += blockDim.x)
    if (base + i < n) data[base + i] = s[i];
}
template __global__ void bitonic<512>(int *, int);

// Odd-even merge of rows by one warp, keys and values exchanged by shuffles.
extern "C" __global__ void warp_sort(float *keys, unsigned short *values, int rows)
{
  int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float key = keys[row * 32 + lane];
  unsigned short value = values[row * 32 + lane];
  for (int k = 2; k <= 32; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      float k2 = __shfl_xor_sync(~0u, key, j);
      unsigned short v2 = (unsigned short)__shfl_xor_sync(~0u, (int)value, j);
      bool up = (lane & k) == 0, low = (lane & j) == 0;
      bool less = key < k2 || (key == k2 && value < v2);
      if (less != (up == low)) key = k2, value = v2;
    }
  keys[row * 32 + lane] = key;
  values[row * 32 + lane] = value;
}
