// arch: sm_90a
// An mbarrier that expects too few bytes: the count is told first, and what may follow from it
// refers to it.
#include <cooperative_groups.h>

#include "tests/kernels/check/waiting_test.cuh"

namespace cg = cooperative_groups;

constexpr unsigned elements = 64;

INLINED void load_multicast(void* to, const void* from, unsigned bytes, Word* bar, unsigned mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1], %2, [%3], %4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(bar)), "h"(static_cast<unsigned short>(mask))
      : "memory");
}

// Each block copies for itself; with the mistake, for both.
template <bool both>
__global__ void __cluster_dims__(2) multicast(int* out, const int* in) {
  __shared__ alignas(128) int tile[elements];
  __shared__ Word full;
  const unsigned t = threadIdx.x, rank = cg::this_cluster().block_rank();
  if (t == 0) init(&full, 1);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  cg::this_cluster().sync();
  if (t == 0) {
    arrive_expect(&full, sizeof tile);  // [expect]
    // [copy]
    load_multicast(tile, in + rank * elements, sizeof tile, &full, both ? 3 : 1 << rank);
  }
  wait_parity(&full, 0);
  out[rank * elements + t] = tile[t];  // [read]
  cg::this_cluster().sync();
}

template <bool both>
void run() {
  multicast<both>
      <<<2, elements>>>(Buffer<int>(2 * elements), Buffer<int>(std::vector<int>(2 * elements, 1)));
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {{"mistake", run<true>}, {"twin", run<false>}});
}
