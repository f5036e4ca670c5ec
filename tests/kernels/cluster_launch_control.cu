// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// software-only
// async: late early shuffled:1
// Blocks take the places of clusters that have not been launched, until none is left. A cluster
// that is cancelled never runs by itself.
#include "tests/kernels/kernel_test.cuh"

namespace {

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void wait(unsigned bar, unsigned parity) {
  asm volatile(
      "{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra "
      "again; }" ::"r"(bar),
      "r"(parity)
      : "memory");
}
struct Answer {
  unsigned canceled, x, y, z;
};
__device__ Answer read(unsigned response) {
  Answer a;
  asm volatile(
      "{ .reg .b128 r; .reg .pred p; ld.shared.b128 r, [%4];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; selp.u32 %0, 1, 0, p;\n"
      "mov.u32 %1, 0; mov.u32 %2, 0; mov.u32 %3, 0;\n"
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, %3, _}, r; }"
      : "=r"(a.canceled), "=r"(a.x), "=r"(a.y), "=r"(a.z)
      : "r"(response)
      : "memory");
  return a;
}

// Each block counts its own index, then those of the blocks that it replaces.
__global__ void steal(unsigned* done, unsigned* launched) {
  __shared__ alignas(16) unsigned response[4];
  __shared__ alignas(8) unsigned long long bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar)));
    atomicAdd(launched, 1);
  }
  __syncthreads();
  unsigned x = blockIdx.x, y = blockIdx.y;
  for (unsigned phase = 0;; phase ^= 1) {
    if (threadIdx.x == 0) {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile(
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(shared_address(&bar))
          : "memory");
      asm volatile(
          "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
          "[%0], [%1];" ::"r"(shared_address(response)),
          "r"(shared_address(&bar))
          : "memory");
    }
    if (threadIdx.x < 4) atomicAdd(&done[y * gridDim.x + x], threadIdx.x + 1);
    wait(shared_address(&bar), phase);
    const Answer a = read(shared_address(response));
    __syncthreads();
    if (!a.canceled) break;
    x = a.x, y = a.y;
  }
}

// One block of a cluster of two asks for both.
__global__ void __cluster_dims__(2, 1, 1) steal_pairs(unsigned* done, unsigned* launched) {
  __shared__ alignas(16) unsigned response[4];
  __shared__ alignas(8) unsigned long long bar;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    atomicAdd(launched, 1);
  }
  const auto meet = [] {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  };
  unsigned x = blockIdx.x;
  for (unsigned phase = 0;; phase ^= 1) {
    if (threadIdx.x == 0)
      asm volatile(
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(shared_address(&bar))
          : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    meet();
    if (threadIdx.x == 0 && rank == 0)
      asm volatile(
          "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
          "multicast::cluster::all.b128 [%0], [%1];" ::"r"(shared_address(response)),
          "r"(shared_address(&bar))
          : "memory");
    if (threadIdx.x == 0) atomicAdd(&done[x], 1);
    wait(shared_address(&bar), phase);
    const Answer a = read(shared_address(response));
    if (!a.canceled) break;
    x = a.x + rank;
  }
  meet();
}

}  // namespace

int main() {
  Buffer<unsigned> done(40 * 25), launched(1);
  steal<<<dim3(40, 25), 32>>>(done, launched);
  int wrong = 0;
  for (unsigned n : done.read()) wrong += n != 10;
  std::printf("%d of 1000 places were not done once, %s blocks were launched\n", wrong,
              launched.read()[0] < 1000 ? "fewer" : "all");
  Buffer<unsigned> pairs(600), begun(1);
  steal_pairs<<<600, 32>>>(pairs, begun);
  wrong = 0;
  for (unsigned n : pairs.read()) wrong += n != 1;
  std::printf("%d of 600 places were not done once, %s blocks were launched\n", wrong,
              begun.read()[0] < 600 ? "fewer" : "all");
}
