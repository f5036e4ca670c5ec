// Warps that meet by an mbarrier, at which another thread arrives than the one that wrote, or the
// right one at the wrong time.
#include "tests/kernels/check/ptx_macros.cuh"

enum class Mistake { none, other_lane, other_thread, arrives_first, one_way };

template <Mistake mistake>
__global__ void hand_over(int* out) {
  using M = Mistake;
  __shared__ int data[64];
  __shared__ alignas(8) std::uint64_t full, empty;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    MBARRIER_INIT(&full, mistake == M::other_lane || mistake == M::other_thread ? 1 : 64);
    MBARRIER_INIT(&empty, 32);
  }
  __syncthreads();
  if (t < 64) {
    for (int round = 0; round < 2; ++round) {
      if (round == 1 && mistake != M::one_way) MBARRIER_WAIT(&empty, 0);
      if (round == 1 && mistake == M::one_way) MBARRIER_WAIT(&full, 0);
      if (mistake == M::arrives_first) MBARRIER_ARRIVE(&full);
      data[t] = round;  // [write]
      if (mistake == M::other_thread) asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
      if (mistake == M::other_lane || mistake == M::other_thread) {
        if (t == 0) MBARRIER_ARRIVE(&full);
      } else if (mistake != M::arrives_first) {
        MBARRIER_ARRIVE(&full);
      }
    }
    return;
  }
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    MBARRIER_WAIT(&full, round);
    const int from = mistake == M::other_lane ? 0 : 32;
    sum += data[(t & 31) + from];  // [read]
    if (mistake != M::one_way) MBARRIER_ARRIVE(&empty);
  }
  out[t & 31] = sum;
}

template <Mistake mistake>
void run() {
  Buffer<int> out(32);
  hand_over<mistake><<<1, 96>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  using M = Mistake;
  return run_case(argc, argv,
                  {{"other_lane", run<M::other_lane>},
                   {"other_thread", run<M::other_thread>},
                   {"arrives_first", run<M::arrives_first>},
                   {"one_way", run<M::one_way>},
                   {"twin", run<M::none>}});
}
