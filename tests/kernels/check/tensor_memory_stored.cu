// Four warps store the left operand in tensor memory, or rescale an accumulator there, as the
// softmax of FlashAttention-4 does, and a thread of a fifth warp multiplies.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
#include "tests/kernels/check/tcgen05_test.cuh"

enum class What {
  right,
  not_waited,         // NVIDIA/cutlass#3653, #2687: arrives before wait::st
  waited_after,       // the wait comes after the arrival
  one_warp_arrives,   // only one of the four warps that store arrives
  stored_in_flight,   // A is overwritten while it is multiplied
  rescaled_early,     // Dao-AILab/flash-attention#2033: D is rescaled while it is accumulated
  rescaled_unwaited,  // D is rescaled, and the store is not waited for
  other_operand,      // A's address is that of columns that nobody stores
  by_the_same_warp,   // a warp stores, and multiplies without wait::st
  by_one_warp,        // stores and multiplies in one warp, with its waits
  read_by_other,      // another warp of the same lanes loads a store that is not waited for
  read_by_same,       // the warp itself loads what it has stored
  freed_unwaited,     // the columns are freed with a store in flight
};

constexpr int steps = 3, a_columns = 8, at_a = 32, at_other = 48;

template <What what>
__global__ void softmax(float* out) {
  __shared__ TileB b;
  __shared__ alignas(8) std::uint64_t stored, multiplied;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  clear(&b, sizeof b);
  FENCE_PROXY_ASYNC();
  if (t == 0) {
    MBARRIER_INIT(&stored, what == What::one_warp_arrives ? 1 : 4);
    MBARRIER_INIT(&multiplied, 1);
  }
  if (warp == 4) ALLOC(&address, 64);
  __syncthreads();
  const unsigned d = address;
  if (warp == 4 && t % 32 == 0) {
    for (int i = 0; i < steps; ++i) {
      MBARRIER_WAIT(&stored, i & 1);
      MULTIPLY_TENSOR(d, d + (what == What::other_operand ? at_other : at_a), &b, i != 0);  // [multiplies]
      COMMIT_TENSOR(&multiplied);
    }
  }
  __syncwarp();
  if (warp < 4) {
    for (int i = 0; i < steps; ++i) {
      if (i != 0 && what != What::stored_in_flight) MBARRIER_WAIT(&multiplied, (i - 1) & 1);
      for (int c = 0; c < a_columns; ++c) STORE(own_lanes(d + at_a + c), i);  // [stores]
      if (what != What::not_waited && what != What::waited_after) WAIT_STORES();
      if (i != 0 && what == What::stored_in_flight) MBARRIER_WAIT(&multiplied, (i - 1) & 1);
      if (t % 32 == 0 && (what != What::one_warp_arrives || warp == 0)) MBARRIER_ARRIVE(&stored);
      if (what == What::waited_after) WAIT_STORES();
    }
    MBARRIER_WAIT(&multiplied, (steps - 1) & 1);
    unsigned word;
    LOAD(word, own_lanes(d));
    WAIT_LOADS();
    out[t] = __uint_as_float(word);
  }
  __syncthreads();
  if (warp == 4) DEALLOC(d, 64);  // [frees after softmax]
}

// D is multiplied, rescaled by the warps, and accumulated onto.
template <What what>
__global__ void rescale(float* out) {
  __shared__ TileA a;
  __shared__ TileB b;
  __shared__ alignas(8) std::uint64_t rescaled, multiplied;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  clear(&a, sizeof a);
  clear(&b, sizeof b);
  FENCE_PROXY_ASYNC();
  if (t == 0) {
    MBARRIER_INIT(&rescaled, 4);
    MBARRIER_INIT(&multiplied, 1);
  }
  if (warp == 4) ALLOC(&address, 32);
  __syncthreads();
  const unsigned d = address;
  if (warp == 4 && t % 32 == 0)
    for (int i = 0; i < steps; ++i) {
      if (i != 0) MBARRIER_WAIT(&rescaled, (i - 1) & 1);
      MULTIPLY_SHARED(d, &a, &b, i != 0);  // [accumulates]
      COMMIT_TENSOR(&multiplied);
    }
  __syncwarp();
  if (warp < 4) {
    for (int i = 0; i + 1 < steps; ++i) {
      if (what != What::rescaled_early) MBARRIER_WAIT(&multiplied, i & 1);
      for (int c = 0; c < d_columns; ++c) {
        unsigned word;
        LOAD(word, own_lanes(d + c));  // [loads]
        WAIT_LOADS();
        STORE(own_lanes(d + c), __float_as_uint(__uint_as_float(word) * 0.5f));  // [rescales]
      }
      if (what != What::rescaled_unwaited) WAIT_STORES();
      if (what == What::rescaled_early) MBARRIER_WAIT(&multiplied, i & 1);
      if (t % 32 == 0) MBARRIER_ARRIVE(&rescaled);
    }
    MBARRIER_WAIT(&multiplied, (steps - 1) & 1);
    unsigned word;
    LOAD(word, own_lanes(d));
    WAIT_LOADS();
    out[t] = __uint_as_float(word);
  }
  __syncthreads();
  if (warp == 4) DEALLOC(d, 32);
}

// A single group of four warps does everything, or eight warps share the lanes.
template <What what>
__global__ void alone(float* out) {
  __shared__ TileB b;
  __shared__ alignas(8) std::uint64_t multiplied;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  clear(&b, sizeof b);
  FENCE_PROXY_ASYNC();
  if (t == 0) MBARRIER_INIT(&multiplied, 1);
  if (warp == 0) ALLOC(&address, 64);
  __syncthreads();
  const unsigned d = address;
  const bool multiplies = what == What::by_the_same_warp || what == What::by_one_warp;
  if (warp < 4)
    for (int c = 0; c < a_columns; ++c) STORE(own_lanes(d + at_a + c), 1);  // [stores alone]
  if (multiplies && warp != 0) WAIT_STORES();
  __syncthreads();
  if (multiplies && warp == 0) {
    if (what == What::by_one_warp) WAIT_STORES();
    if (t == 0) {
      MULTIPLY_TENSOR(d, d + at_a, &b, false);  // [multiplies alone]
      MULTIPLY_TENSOR(d, d + at_a, &b, true);   // [multiplies again]
      COMMIT_TENSOR(&multiplied);
    }
    __syncwarp();
    MBARRIER_WAIT(&multiplied, 0);
  }
  if (what == What::read_by_same) WAIT_STORES();
  __syncthreads();
  unsigned word = 0;
  if (what == What::read_by_other && warp >= 4) LOAD(word, own_lanes(d + at_a));  // [loads other's]
  if (what == What::read_by_same && warp < 4) {
    STORE(own_lanes(d + at_a), 2);
    LOAD(word, own_lanes(d + at_a));
  }
  WAIT_LOADS();
  if (what != What::freed_unwaited) WAIT_STORES();
  __syncthreads();
  out[t] = __uint_as_float(word);
  if (warp == 0) DEALLOC(d, 64);  // [frees]
}

template <What what>
void run_softmax() {
  Buffer<float> out(128);
  softmax<what><<<1, 160>>>(out);
}
template <What what>
void run_rescale() {
  Buffer<float> out(128);
  rescale<what><<<1, 160>>>(out);
}
template <What what>
void run_alone() {
  Buffer<float> out(256);
  alone<what><<<1, 256>>>(out);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin", run_softmax<What::right>},
                   {"not_waited", run_softmax<What::not_waited>},
                   {"waited_after", run_softmax<What::waited_after>},
                   {"one_warp_arrives", run_softmax<What::one_warp_arrives>},
                   {"stored_in_flight", run_softmax<What::stored_in_flight>},
                   {"other_operand", run_softmax<What::other_operand>},
                   {"rescaled_twin", run_rescale<What::right>},
                   {"rescaled_early", run_rescale<What::rescaled_early>},
                   {"rescaled_unwaited", run_rescale<What::rescaled_unwaited>},
                   {"by_one_warp", run_alone<What::by_one_warp>},
                   {"by_the_same_warp", run_alone<What::by_the_same_warp>},
                   {"read_by_same", run_alone<What::read_by_same>},
                   {"read_by_other", run_alone<What::read_by_other>},
                   {"freed_unwaited", run_alone<What::freed_unwaited>}});
}
