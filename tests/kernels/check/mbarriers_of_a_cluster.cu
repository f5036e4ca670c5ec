// arch: sm_90a
// mbarriers at which both blocks of a cluster arrive: more arrivals than a phase expects, the wrong
// parity, full and empty mbarriers of buffers that one block fills for both, and a copy for both
// before the other block's mbarrier is ready.
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
__device__ void arrive_in(unsigned bar) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar)
               : "memory");
}
__device__ void wait_cluster(Word* bar, unsigned parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra again; }" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}
__device__ void bulk_load_both(void* tile, const int* in, unsigned bytes, Word* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(tile)),
      "l"(in), "r"(bytes), "r"(shared_address(bar)), "h"(static_cast<short>(3))
      : "memory");
}

// Both blocks arrive at the first one's mbarrier, which expects `count` arrivals.
template <unsigned count>
__global__ void __cluster_dims__(2, 1, 1) meet() {
  __shared__ Word bar;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) init(&bar, count);  // [count]
  publish_init();
  cluster.sync();
  arrive_in(in_block(&bar, 0));  // [one too many]
  if (cluster.block_rank() == 0) wait_cluster(&bar, 0);
  cluster.sync();
}

// Each block signals its writes to the other.
template <bool flips>
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out, int rounds) {
  __shared__ Word bar;
  __shared__ int box[32];
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, other = cluster.block_rank() ^ 1;
  if (t == 0) init(&bar, 32);
  publish_init();
  cluster.sync();
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    cluster.map_shared_rank(box, other)[t] = i;  // [put]
    arrive_in(in_block(&bar, other));            // [told]
    wait_cluster(&bar, flips ? i & 1 : 0);       // [parity]
    sum += box[31 - t];                          // [got]
    cluster.sync();
  }
  out[blockIdx.x * 32 + t] = sum;
}

// The first block fills buffers of both after both have released them: the second block's first, so
// that the first one's mbarrier covers both.
enum class Handed { to_own, to_first, to_both, to_both_counting_own };
template <Handed handed>
__global__ void __cluster_dims__(2, 1, 1) fill(const int* in, int* out, int rounds) {
  __shared__ alignas(128) int tile[2][256];
  __shared__ Word full[2], empty[2];
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0)
    for (int s = 0; s < 2; ++s) {
      init(&full[s], 1);
      // [expects both]
      init(&empty[s],
           handed == Handed::to_own || handed == Handed::to_both_counting_own ? 64 : 128);
    }
  publish_init();
  cluster.sync();
  if (t >= 64) {
    for (int i = 0; t == 64 && i < rounds; ++i) {
      const int s = i % 2;
      wait_cluster(&empty[s], (i / 2 & 1) ^ 1);
      arrive_expect(&full[s], 1024);  // [expected]
      if (rank == 0) {
        // [filled]
        bulk_load_both(tile[s], in, 1024, &full[s]);
      }
    }
  } else {
    int sum = 0;
    for (int i = 0; i < rounds; ++i) {
      const int s = i % 2;
      wait_cluster(&full[s], i / 2 & 1);
      sum += tile[s][255 - t];  // [used]
      if (handed == Handed::to_own) {
        arrive_in(in_block(&empty[s], rank));
      } else {
        const unsigned first = handed == Handed::to_first ? 0 : 1;
        arrive_in(in_block(&empty[s], first));      // [handed back]
        arrive_in(in_block(&empty[s], first ^ 1));  // [then to the other]
      }
    }
    out[rank * 64 + t] = sum;
  }
  cluster.sync();
}

template <bool right>
__global__ void __cluster_dims__(2, 1, 1) fill_at_once(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ Word full;
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) init(&full, 1);  // [init of both]
  publish_init();
  if (t == 0) arrive_expect(&full, 256);
  if (right) cluster.sync();
  else __syncthreads();
  // [filled at once]
  if (rank == 0 && t == 0) bulk_load_both(tile, in, 256, &full);
  wait_cluster(&full, 0);
  out[rank * 64 + t] = tile[t];
  cluster.sync();
}

// Each block fills half of a buffer of both. Its readers give it back to the first `owners` blocks.
__global__ void __cluster_dims__(2, 1, 1) fill_by_halves(int* out, const int* in, unsigned owners) {
  __shared__ alignas(128) int tile[64];
  __shared__ Word full, empty;
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) init(&full, 1), init(&empty, 2);
  publish_init();
  cluster.sync();
  int sum = 0;
  for (unsigned i = 0; i < 3; ++i) {
    if (t == 0) {
      arrive_expect(&full, sizeof tile);
      if (i != 0) wait_cluster(&empty, (i - 1) & 1);  // [waits for room]
      bulk_load_both(tile + rank * 32, in, 128, &full);
    }
    wait_cluster(&full, i & 1);  // [waits for halves]
    sum += tile[t];
    __syncthreads();
    if (t < owners) arrive_in(in_block(&empty, t));
  }
  out[blockIdx.x * 64 + t] = sum;
  cluster.sync();
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"too_many", [] { meet<32><<<2, 32>>>(); }},
       {"too_many_twin", [] { meet<64><<<2, 32>>>(); }},
       {"same_parity", [] { exchange<false><<<2, 32>>>(Buffer<int>(64), 3); }},
       {"same_parity_twin", [] { exchange<true><<<2, 32>>>(Buffer<int>(64), 3); }},
       {"own_alone",
        [] { fill<Handed::to_own><<<2, 96>>>(Buffer<int>(256), Buffer<int>(128), 6); }},
       {"first_too_soon",
        [] { fill<Handed::to_first><<<2, 96>>>(Buffer<int>(256), Buffer<int>(128), 6); }},
       {"count_of_own",
        [] {
          fill<Handed::to_both_counting_own><<<2, 96>>>(Buffer<int>(256), Buffer<int>(128), 6);
        }},
       {"both", [] { fill<Handed::to_both><<<2, 96>>>(Buffer<int>(256), Buffer<int>(128), 6); }},
       {"at_once", [] { fill_at_once<false><<<2, 64>>>(Buffer<int>(64), Buffer<int>(128)); }},
       {"at_once_twin", [] { fill_at_once<true><<<2, 64>>>(Buffer<int>(64), Buffer<int>(128)); }},
       {"owner_forgotten", [] { fill_by_halves<<<2, 64>>>(Buffer<int>(128), Buffer<int>(32), 1); }},
       {"owner_forgotten_twin",
        [] { fill_by_halves<<<2, 64>>>(Buffer<int>(128), Buffer<int>(32), 2); }}});
}
