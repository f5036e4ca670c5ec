// One warp loads stages with bulk copies, and the others use them. mbarriers signal when a stage is
// full and when it is empty.
#include "tests/kernels/check/ptx_macros.cuh"

constexpr int stages = 2, tiles = 6, count = 64, consumers = 64;
constexpr unsigned bytes = count * sizeof(int);
enum class Mistake { none, released_early, refill_behind_relaxed };

template <Mistake mistake>
__global__ void pipeline(const int* in, int* out) {
  __shared__ alignas(16) int tile[stages][count];
  __shared__ alignas(8) std::uint64_t full[stages], empty[stages];
  const unsigned t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < stages; ++s) {
      MBARRIER_INIT(&full[s], 1);
      MBARRIER_INIT(&empty[s], consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t >= consumers) {
    if (t != consumers) return;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % stages;
      if (i >= stages)
        MBARRIER_WAIT(&empty[s], (i / stages + 1) & 1);
      MBARRIER_EXPECT(&full[s], bytes);
      BULK_LOAD(tile[s], in + i * count, bytes, &full[s]);  // [load]
    }
    return;
  }
  for (int i = 0; i < tiles; ++i) {
    const int s = i % stages;
    MBARRIER_WAIT(&full[s], i / stages & 1);
    if (mistake == Mistake::released_early) MBARRIER_ARRIVE(&empty[s]);
    const int v = *(volatile int*)&tile[s][t];  // [read]
    if (mistake == Mistake::refill_behind_relaxed)
      asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(
                       shared_address(&empty[s]))
                   : "memory");
    else if (mistake != Mistake::released_early)
      MBARRIER_ARRIVE(&empty[s]);
    out[i * count + t] = v;
  }
}

template <Mistake mistake>
void run() {
  Buffer<int> in(tiles * count), out(tiles * count);
  pipeline<mistake><<<1, consumers + 32>>>(in, out);
  out.read();
}

int main(int argc, char** argv) {
  using M = Mistake;
  return run_case(argc, argv,
                  {{"released_early", run<M::released_early>},
                   {"relaxed", run<M::refill_behind_relaxed>},
                   {"twin", run<M::none>}});
}
