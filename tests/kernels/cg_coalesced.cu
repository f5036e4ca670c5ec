// Cooperative groups of the active threads: coalesced, labelled and binary partitions.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void coalesced(int* out, const int* in) {
  int t = threadIdx.x, r = -1;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  warp.sync();
  if (in[t] > 5) {
    auto g = cg::coalesced_threads();
    r = g.thread_rank() + 100 * g.size() + 10000 * g.shfl(t, 0);
    r += g.any(in[t] == 9) ? 1000000 : 0;
    r += g.shfl_up(1, 1) + g.shfl_down(t, 1);
  }
  out[t] = r;
}

// Adds to a counter once for all participating lanes.
__global__ void aggregated(int* counter, int* slots, const int* in) {
  int t = threadIdx.x;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  warp.sync();
  if (in[t] & 1) {
    auto g = cg::coalesced_threads();
    int base = 0;
    if (g.thread_rank() == 0) base = atomicAdd(counter, g.size());
    base = g.shfl(base, 0) + g.thread_rank();
    atomicAdd(&slots[base], 1);
  }
}

__global__ void labelled(int* out, const int* in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int v = in[threadIdx.x];
  auto g = cg::labeled_partition(warp, v % 4);
  int sum = cg::reduce(g, v, cg::plus<int>());
  out[threadIdx.x] = sum + 1000 * g.size() + 100000 * g.thread_rank();
}

__global__ void binary(int* out, const int* in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int v = in[threadIdx.x];
  auto g = cg::binary_partition(warp, v >= 6);
  int most = cg::reduce(g, v, cg::greater<int>());
  out[threadIdx.x] = most + 100 * g.size() + 10000 * g.thread_rank();
}

int main() {
  std::vector<int> in(64);
  Random random(6);
  for (int& v : in) v = random.next32() % 12;
  Buffer<int> source(in), a(64), b(64), c(64), counter(1), slots(64);
  coalesced<<<1, 64>>>(a, source);
  aggregated<<<1, 64>>>(counter, slots, source);
  labelled<<<1, 64>>>(b, source);
  binary<<<1, 64>>>(c, source);
  print("in", in);
  print("coalesced", a.read());
  print("counter", counter.read());
  print("slots", slots.read());
  print("labelled", b.read());
  print("binary", c.read());
}
