// Lanes of one warp are threads of their own: what one writes, another may read only behind a
// __syncwarp().
#include "tests/kernels/check/check_test.cuh"

enum class Sync { none, warp, block, vote, volatile_ };

template <Sync sync>
__global__ void exchange(int* out) {
  __shared__ int values[32];
  const unsigned t = threadIdx.x;
  if (sync == Sync::volatile_) {
    *reinterpret_cast<volatile int*>(&values[t]) = t;
    out[t] = *reinterpret_cast<volatile int*>(&values[t ^ 1]);
    return;
  }
  values[t] = t;  // [write]
  if (sync == Sync::warp) __syncwarp();
  if (sync == Sync::block) __syncthreads();
  if (sync == Sync::vote) __ballot_sync(~0u, t & 1);
  asm volatile("" ::: "memory");
  out[t] = values[t ^ 1];  // [read]
}

// A reduction in which every step reads what another lane's step wrote.
template <bool right>
__global__ void reduce(int* out) {
  __shared__ int sums[64];
  const unsigned t = threadIdx.x;
  sums[t] = t;
  sums[t + 32] = 1;
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];  // [step]
    if (right) __syncwarp();
    asm volatile("" ::: "memory");
  }
  if (t == 0) *out = sums[0];
}

// Lanes store to one place at one instruction: the same value or, by `mixed`, each its own.
enum class Lanes { alike, in_shared, of_different_past, mixed };

template <Lanes lanes>
__global__ void mark(int* out) {
  __shared__ int marks[32];
  const unsigned t = threadIdx.x, at = t * 5 % 17;
  if (lanes == Lanes::of_different_past) {
    if (t < 16) __syncwarp(0xffff);
    *out = 7;
    return;
  }
  int* const to = lanes == Lanes::in_shared ? marks : out;
  to[t] = 0;
  __syncwarp();
  to[at] = lanes == Lanes::mixed ? t + 1 : 7;  // [mark]
  __syncwarp();
  if (lanes == Lanes::in_shared) out[t] = marks[t];
}

template <auto kernel>
void run() {
  Buffer<int> out(32);
  kernel<<<1, 32>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<exchange<Sync::none>>},
                   {"vote", run<exchange<Sync::vote>>},
                   {"twin", run<exchange<Sync::warp>>},
                   {"block_twin", run<exchange<Sync::block>>},
                   {"volatile_twin", run<exchange<Sync::volatile_>>},
                   {"reduce", run<reduce<false>>},
                   {"reduce_twin", run<reduce<true>>},
                   {"mark_mixed", run<mark<Lanes::mixed>>},
                   {"mark_twin", run<mark<Lanes::alike>>},
                   {"mark_in_shared", run<mark<Lanes::in_shared>>},
                   {"mark_of_different_past", run<mark<Lanes::of_different_past>>}});
}
