/* The kernels `banks measure` times.  Device code only; the program launches them.
 *
 * Clocked kernels: one block of 128 threads repeats one access; its lanes use the byte offsets
 * they are given.  All others are whole kernels, timed with events beside a copy.  */

#pragma nv_diag_suppress 550    /* lane and warp are used by some of the histograms only */

/* ---- one access, clocked ------------------------------------------------------------------- */

enum { WORDS = 10240, AGAIN = 16 };   /* 40 KiB of shared memory */

/* cycles[0]: from the first access to the end of the last, seen by the block. */
#define CLOCKED(name, declare, access, use)                                                       \
  extern "C" __global__ void name(const unsigned *offsets, long long *cycles, unsigned *sink,     \
                                  int rounds)                                                     \
  {                                                                                               \
    extern __shared__ __align__(1024) unsigned char shared[];                                     \
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) ((unsigned *)shared)[i] = 0;       \
    unsigned a = (unsigned)__cvta_generic_to_shared(shared) + offsets[threadIdx.x % 32];          \
    unsigned sum = 0;                                                                             \
    declare;                                                                                      \
    __syncthreads();                                                                              \
    long long begin = clock64();                                                                  \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                                        \
      _Pragma("unroll") for (int k = 0; k < AGAIN; k++) { access; }                               \
      _Pragma("unroll") for (int k = 0; k < AGAIN; k++) { use; }                                  \
    }                                                                                             \
    __syncthreads();                                                                              \
    long long end = clock64();                                                                    \
    if (threadIdx.x == 0) cycles[0] = end - begin;                                                \
    sink[threadIdx.x] = sum;                                                                      \
  }

CLOCKED(clock_load_4, unsigned x[AGAIN],
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x[k]) : "r"(a)), sum ^= x[k])
CLOCKED(clock_load_8, unsigned x[AGAIN]; unsigned y[AGAIN],
        asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x[k]), "=r"(y[k])
                     : "r"(a)), sum ^= x[k] + y[k])
CLOCKED(clock_load_16, unsigned x[AGAIN]; unsigned y[AGAIN]; unsigned z[AGAIN]; unsigned w[AGAIN],
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[k]), "=r"(y[k]), "=r"(z[k]), "=r"(w[k]) : "r"(a)),
        sum ^= x[k] + y[k] + z[k] + w[k])
CLOCKED(clock_store_4, , asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(a), "r"(sum)), )
CLOCKED(clock_store_8, ,
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" :: "r"(a), "r"(sum)), )
CLOCKED(clock_store_16, ,
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" :: "r"(a), "r"(sum)), )
CLOCKED(clock_ldmatrix, unsigned x[AGAIN]; unsigned y[AGAIN]; unsigned z[AGAIN]; unsigned w[AGAIN],
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[k]), "=r"(y[k]), "=r"(z[k]), "=r"(w[k])
                     : "r"(a + k * 1024 + r % 2 * 16384)),   /* or ptxas would do all at once */
        sum ^= x[k] + y[k] + z[k] + w[k])
CLOCKED(clock_add_one, , asm volatile("red.shared.add.u32 [%0], 1;" :: "r"(a)), )
CLOCKED(clock_add_int, unsigned v = offsets[32],
        asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(a), "r"(v)), )
CLOCKED(clock_add_float, float v = __uint_as_float(offsets[32]),
        asm volatile("red.shared.add.f32 [%0], %1;" :: "r"(a), "f"(v)), )
CLOCKED(clock_cas, unsigned v = offsets[32]; unsigned x[AGAIN],
        asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(x[k]) : "r"(a), "r"(v),
                     "r"(v)), sum ^= x[k])

/* ---- transposes of n x n floats, n a multiple of 32; blocks of 32 x 8 ------------------------ */

extern "C" __global__ void copy_tiles(const float *in, float *out, int n)
{
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(size_t)(y + j) * n + x] = in[(size_t)(y + j) * n + x];
}

extern "C" __global__ void transpose_naive(const float *in, float *out, int n)
{
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(size_t)x * n + y + j] = in[(size_t)(y + j) * n + x];
}

#define TRANSPOSE(name, PITCH, AT)                                                                \
  extern "C" __global__ void name(const float *in, float *out, int n)                             \
  {                                                                                               \
    __shared__ float tile[32][PITCH];                                                             \
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;                     \
    for (int j = 0; j < 32; j += 8) {                                                             \
      int row = threadIdx.y + j, column = threadIdx.x;                                            \
      tile[row][AT] = in[(size_t)(y + j) * n + x];                                                \
    }                                                                                             \
    __syncthreads();                                                                              \
    x = blockIdx.y * 32 + threadIdx.x;                                                            \
    y = blockIdx.x * 32 + threadIdx.y;                                                            \
    for (int j = 0; j < 32; j += 8) {                                                             \
      int row = threadIdx.x, column = threadIdx.y + j;                                            \
      out[(size_t)(y + j) * n + x] = tile[row][AT];                                               \
    }                                                                                             \
  }
#define PITCHED(p) TRANSPOSE(transpose_##p, p, column)
PITCHED(32) PITCHED(33) PITCHED(34) PITCHED(35) PITCHED(36) PITCHED(37) PITCHED(38) PITCHED(39)
PITCHED(40) PITCHED(41) PITCHED(42) PITCHED(43) PITCHED(44) PITCHED(45) PITCHED(46) PITCHED(47)
PITCHED(48)
TRANSPOSE(transpose_xor, 32, column ^ row)

/* ---- sums: six versions of one reduction; out[b] is the sum of a block's part --------------- */

#define BLOCK 256

extern "C" __global__ void reduce_modulo(const float *in, float *out, int n)
{
  __shared__ float s[BLOCK];
  unsigned t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < BLOCK; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_strided(const float *in, float *out, int n)
{
  __shared__ float s[BLOCK];
  unsigned t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < BLOCK; d *= 2) {
    unsigned k = 2 * d * t;
    if (k < BLOCK) s[k] += s[k + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_halves(const float *in, float *out, int n)
{
  __shared__ float s[BLOCK];
  unsigned t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = BLOCK / 2; d; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_two(const float *in, float *out, int n)
{
  __shared__ float s[BLOCK];
  unsigned t = threadIdx.x, i = blockIdx.x * BLOCK * 2 + t;
  s[t] = (i < n ? in[i] : 0) + (i + BLOCK < n ? in[i + BLOCK] : 0);
  __syncthreads();
  for (unsigned d = BLOCK / 2; d; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__device__ void finish(float sum, float *out)
{
  __shared__ float s[BLOCK / 32];
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < BLOCK / 32 ? s[threadIdx.x] : 0;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

extern "C" __global__ void reduce_shuffle(const float *in, float *out, int n)
{
  unsigned i = blockIdx.x * BLOCK * 2 + threadIdx.x;
  finish((i < n ? in[i] : 0) + (i + BLOCK < n ? in[i + BLOCK] : 0), out);
}

extern "C" __global__ void reduce_wide(const float *in, float *out, int n)
{
  float sum = 0;
  for (unsigned i = blockIdx.x * BLOCK + threadIdx.x; i < n / 4; i += gridDim.x * BLOCK) {
    float4 v = ((const float4 *)in)[i];
    sum += v.x + v.y + v.z + v.w;
  }
  finish(sum, out);
}

/* ---- histograms of bytes, 256 bins, n a multiple of 16 --------------------------------------- */

#define HISTOGRAM(name, type, copies, SLOT, add)                                                  \
  extern "C" __global__ void name(const unsigned char *in, type *out, int n, int weight)          \
  {                                                                                               \
    __shared__ type bins[256 * (copies)];                                                         \
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;                                    \
    (void)lane, (void)warp;                                                                       \
    for (int i = threadIdx.x; i < 256 * (copies); i += blockDim.x) bins[i] = 0;                   \
    __syncthreads();                                                                              \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += gridDim.x * blockDim.x) { \
      uint4 v = ((const uint4 *)in)[i];                                                           \
      unsigned words[4] = {v.x, v.y, v.z, v.w};                                                   \
      _Pragma("unroll") for (int k = 0; k < 16; k++) {                                            \
        unsigned bin = words[k / 4] >> k % 4 * 8 & 255;                                           \
        atomicAdd(&bins[SLOT], add);                                                              \
      }                                                                                           \
    }                                                                                             \
    __syncthreads();                                                                              \
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {                              \
      type sum = 0;                                                                               \
      for (unsigned c = 0; c < (copies); c++) {                                                   \
        unsigned lane = (c + threadIdx.x) % 32, warp = c;                                         \
        (void)lane, (void)warp;                                                                   \
        sum += bins[SLOT];                                                                        \
      }                                                                                           \
      atomicAdd(&out[bin], sum);                                                                  \
    }                                                                                             \
  }
HISTOGRAM(histogram_one, unsigned, 1, bin, 1u)
HISTOGRAM(histogram_weight, unsigned, 1, bin, (unsigned)weight)
HISTOGRAM(histogram_float, float, 1, bin, (float)weight)
HISTOGRAM(histogram_warp, unsigned, 8, warp * 256 + bin, (unsigned)weight)
HISTOGRAM(histogram_lane, unsigned, 32, bin * 32 + lane, (unsigned)weight)

/* ---- a table of 256 rows of 8 floats, read by random codes ----------------------------------- */

#define GATHER(name, SIZE, AT)                                                                    \
  extern "C" __global__ void name(const unsigned char *codes, const float *book, float *out,      \
                                  int n)                                                          \
  {                                                                                               \
    __shared__ float table[SIZE];                                                                 \
    for (int i = threadIdx.x; i < 256 * 8; i += blockDim.x) {                                     \
      int entry = i / 8, k = i % 8;                                                               \
      table[AT] = book[i];                                                                        \
    }                                                                                             \
    __syncthreads();                                                                              \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {     \
      int entry = codes[i];                                                                       \
      float sum = 0;                                                                              \
      _Pragma("unroll") for (int k = 0; k < 8; k++) sum += table[AT];                             \
      out[i] = sum;                                                                               \
    }                                                                                             \
  }
#define GATHER_PITCH(p) GATHER(gather_##p, 256 * p, entry * p + k)
GATHER_PITCH(8) GATHER_PITCH(9) GATHER_PITCH(10) GATHER_PITCH(11) GATHER_PITCH(12)
GATHER_PITCH(13) GATHER_PITCH(14) GATHER_PITCH(15) GATHER_PITCH(16) GATHER_PITCH(17)
GATHER(gather_columns, 256 * 8, k * 256 + entry)
