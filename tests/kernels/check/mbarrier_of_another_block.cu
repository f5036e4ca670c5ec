// arch: sm_90a
// Stores and copies into another block of the cluster that name an mbarrier in another block than
// the one that they write to, as when mapa is applied to one of the two only.
#include <cooperative_groups.h>

#include "tests/kernels/check/waiting_test.cuh"

namespace cg = cooperative_groups;

__device__ unsigned in_block(const void* shared, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(shared_address(shared)), "r"(rank));
  return there;
}

enum class By { store, reduction, copy };

// Each block sends 256 bytes to the other.
template <By by, bool right>
__global__ void __cluster_dims__(2, 1, 1) send(int* out) {
  __shared__ alignas(128) int from[64], to[64];
  __shared__ Word full;
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank(), other = rank ^ 1;
  from[t] = t, to[t] = 0;
  if (t == 0) {
    init(&full, 1);
    arrive_expect(&full, 256);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  publish_init();
  cluster.sync();
  const unsigned bar = right ? in_block(&full, other) : shared_address(&full);
  if (by == By::store) {
    // clang-format off
    // [stores]
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(in_block(&to[t], other)), "r"(t), "r"(bar) : "memory");
    // clang-format on
  } else if (by == By::reduction) {
    // clang-format off
    // [reduces]
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(in_block(&to[t], other)), "r"(t), "r"(bar) : "memory");
    // clang-format on
  } else if (t == 0) {
    // clang-format off
    // [copies]
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(in_block(to, other)), "r"(shared_address(from)), "r"(bar) : "memory");
    // clang-format on
  }
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
      "@!p bra again; }" ::"r"(shared_address(&full))
      : "memory");
  out[rank * 64 + t] = to[t];
  cluster.sync();
}

// Own addresses carry the block's rank, and a copy to several blocks names its own mbarrier.
__global__ void __cluster_dims__(2, 1, 1) load_for_both(const int* in, int* out) {
  __shared__ alignas(128) int tile[2][64];
  __shared__ Word full;
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) {
    init(&full, 1);
    arrive_expect(&full, 512);
  }
  publish_init();
  cluster.sync();
  if (t == 0 && rank == 1)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 256, [%2], %3;" ::"r"(shared_address(tile[0])),
        "l"(in), "r"(shared_address(&full)), "h"(static_cast<short>(3))
        : "memory");
  if (t == 0) bulk_load(tile[1], in, 256, &full);
  wait_parity(&full, 0);
  out[rank * 64 + t] = tile[0][t] + tile[1][t];
  cluster.sync();
}

template <By by, bool right>
void run() {
  send<by, right><<<2, 64>>>(Buffer<int>(128));
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"stored", run<By::store, false>},
                   {"reduced", run<By::reduction, false>},
                   {"copied", run<By::copy, false>},
                   {"twin", [] {
                      run<By::store, true>();
                      run<By::reduction, true>();
                      run<By::copy, true>();
                      load_for_both<<<2, 64>>>(Buffer<int>(64), Buffer<int>(128));
                    }}});
}
