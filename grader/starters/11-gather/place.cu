/* Where every token goes: count, sum up, place.
 *
 * Token i wants expert[i], one of `experts` (at most 32); any other number means none.  The slots
 * of expert 0 come first, then those of expert 1, and so on.  start[e] is the first slot of
 * expert e, and start[experts] is the number of slots in use.  An expert takes its tokens in
 * their order, and at most `capacity` of them.  position[i] is the slot of token i, or -1 when
 * it has none.
 *
 * One block of 256 threads does it.  Warp w has `chunk` tokens, from w * chunk on.
 * Read: chapters/11-gather.md, "Count, sum up, place".
 */
extern "C" __global__ void place(const int *expert, int *position, int *start, int tokens,
                                 int experts, int capacity)
{
  __shared__ int count[8][32];     /* tokens of each warp for each expert */
  __shared__ int base[32];         /* first slot of each expert */
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int chunk = (tokens + 255) / 256 * 32;
  int first = warp * chunk;
  int last = min(first + chunk, tokens);

  /* 1. Count.  Adding 1 without using the result costs what a store costs. */
  count[warp][lane] = 0;
  __syncwarp();
  for (int i = first + lane; i < last; i += 32) {
    int e = expert[i];
    if (0 <= e && e < experts) atomicAdd(&count[warp][e], 1);
  }
  __syncthreads();

  /* 2. Sum up.  Lane e of warp 0 turns count[w][e] into the number of tokens that the warps
   * before w have for expert e; then base[e] and start[e] follow from the capacity. */
  if (warp == 0) {
    // >>> yours
    base[lane] = 0;  /* not yet; start[], too */
    // <<<
  }
  __syncthreads();

  /* 3. Place.  The rank of a token among its expert's: the tokens of earlier warps, of earlier
   * rounds, and of lower lanes. */
  for (int round = first; round < last; round += 32) {
    int i = round + lane;
    int e = i < last ? expert[i] : -1;
    if (e < 0 || e >= experts) e = -1;
    // >>> yours
    if (i < last) position[i] = e < 0 ? -1 : base[e];  /* not yet */
    // <<<
  }
}
