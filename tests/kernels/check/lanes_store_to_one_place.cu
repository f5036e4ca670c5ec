// Lanes of a warp store different values to one address in one instruction. It is undefined which
// stays. That is a mistake, unless all of them read there which one won.
#include "tests/kernels/check/check_test.cuh"

constexpr int threads = 128, warp_count = threads / 32;

// After shuffles down only lane 0 has the sum. After butterfly shuffles all lanes have it.
template <bool across>
__device__ int sum_of_warp(int value) {
  for (int step = 16; step > 0; step /= 2)
    value += across ? __shfl_xor_sync(~0u, value, step) : __shfl_down_sync(~0u, value, step);
  return value;
}

template <bool across, bool first_lane>
__global__ void to_global(int* out) {
  const int sum = sum_of_warp<across>(threadIdx.x);
  if (!first_lane || threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;  // [sum]
}

template <bool first_lane>
__global__ void to_shared(int* out) {
  __shared__ int sums[warp_count];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int sum = sum_of_warp<false>(threadIdx.x);
  if (!first_lane || lane == 0) sums[warp] = sum;  // [part]
  __syncthreads();
  if (warp != 0) return;
  const int all = sum_of_warp<false>(lane < warp_count ? sums[lane] : 0);
  if (lane == 0) *out = all;
}

// Vectors in which one element is equal for all.
__global__ void vectors(int4* out) {
  out[threadIdx.x / 32] = make_int4(1, 2, 3, threadIdx.x);  // [vector]
}

// Lanes claim slots of a table. Those that did not write theirs last try the next round.
template <bool shared>
__global__ void claim(int* table, int* out, int slots) {
  __shared__ int own[64];
  int* const owners = shared ? own : table;
  const int lane = threadIdx.x;
  bool placed = false;
  for (int round = 0; round < 32 && !__all_sync(~0u, placed); ++round) {
    const int slot = (lane + round) % slots;
    if (!placed) owners[slot] = lane;
    __syncwarp();
    placed |= owners[slot] == lane;
    __syncwarp();
  }
  out[lane] = placed;
}

// A store decides which lane leads. The lanes differ in their earlier work.
__global__ void leader(int* out) {
  __shared__ int first;
  if (threadIdx.x < 16) __syncwarp(0xffff);
  first = threadIdx.x;
  __syncwarp();
  if (first == threadIdx.x) *out = 7;
}

template <class T>
void run(void (*kernel)(T*), int block) {
  Buffer<T> out(threads);
  kernel<<<1, block>>>(out);
  out.read();
}

template <bool shared>
void run_claim(int slots) {
  Buffer<int> table(64), out(32);
  claim<shared><<<1, 32>>>(table, out, slots);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { run(to_global<false, false>, threads); }},
                   {"twin", [] { run(to_global<false, true>, threads); }},
                   {"same_twin", [] { run(to_global<true, false>, threads); }},
                   {"shared", [] { run(to_shared<false>, threads); }},
                   {"shared_twin", [] { run(to_shared<true>, threads); }},
                   {"vectors", [] { run(vectors, threads); }},
                   {"claim_twin", [] { run_claim<false>(17); }},
                   {"claim_one_twin", [] { run_claim<false>(1); }},
                   {"claim_shared_twin", [] { run_claim<true>(17); }},
                   {"leader_twin", [] { run(leader, 32); }}});
}
