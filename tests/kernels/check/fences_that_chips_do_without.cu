// arch: sm_90a
// options: --strict
// Fences and scopes that PTX asks for and programs do without: between reads of a stage and the
// copy that refills it, after mbarrier.init, and of mbarrier operations between blocks.
#include <cooperative_groups.h>

#include "tests/kernels/check/waiting_test.cuh"

namespace cg = cooperative_groups;

constexpr unsigned elements = 64, rounds = 3;

INLINED void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

enum class Fence { none, readers, issuer, some };
enum class Back { barrier, mbarrier };

// A tile is refilled after all threads have read it.
template <Fence fence, Back back>
__global__ void refill(int* out, const int* in) {
  __shared__ alignas(128) int tile[elements];
  __shared__ Word full, empty;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    init(&full, 1);
    init(&empty, elements);
  }
  publish_init();
  int sum = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    if (t == 0) {
      if (back == Back::mbarrier) wait_parity(&empty, i + 1 & 1);
      if (fence == Fence::issuer) fence_async();
      arrive_expect(&full, sizeof tile);
      // [refill]
      bulk_load(tile, in + i * elements, sizeof tile, &full);
    }
    wait_parity(&full, i & 1);
    sum += tile[t];  // [read]
    if (fence == Fence::readers || (fence == Fence::some && t % 32 == 0)) fence_async();
    if (back == Back::mbarrier) arrive(&empty);
    if (back == Back::barrier) __syncthreads();
  }
  out[t] = sum;
}

// The async proxy stores what it then overwrites: the generic proxy does not read.
__global__ void pass_on(int* out, const int* in) {
  __shared__ alignas(128) int tile[elements];
  __shared__ Word full;
  if (threadIdx.x == 0) init(&full, 1);
  publish_init();
  if (threadIdx.x != 0) return;
  for (unsigned i = 0; i < rounds; ++i) {
    arrive_expect(&full, sizeof tile);
    bulk_load(tile, in + i * elements, sizeof tile, &full);
    wait_parity(&full, i & 1);
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + i * elements),
        "r"(shared_address(tile)), "r"(int(sizeof tile))
        : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

enum class After { nothing, fence_init, fence_proxy, fence_early };

template <After after>
__global__ void load(int* out, const int* in) {
  __shared__ alignas(128) int tile[elements];
  __shared__ Word full;
  if (threadIdx.x == 0) {
    if (after == After::fence_early) fence_async();
    init(&full, 1);  // [init]
    if (after == After::fence_init)
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    if (after == After::fence_proxy) fence_async();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_expect(&full, sizeof tile);
    // [load]
    bulk_load(tile, in, sizeof tile, &full);
  }
  wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// No copy of the async proxy uses the mbarrier.
__global__ void meet(int* out) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  const std::uint64_t token = arrive(&bar);
  wait_token(&bar, token);
  out[threadIdx.x] = 1;
}

INLINED unsigned of_block(const void* p, unsigned rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(p)), "r"(rank));
  return address;
}

// Each block writes to the other one and arrives at its mbarrier.
template <bool scopes>
__global__ void __cluster_dims__(2) exchange(int* out) {
  __shared__ int box;
  __shared__ Word bar;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) init(&bar, 1);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  cluster.sync();
  if (threadIdx.x == 0) {
    *cluster.map_shared_rank(&box, rank ^ 1) = rank;
    const unsigned theirs = of_block(&bar, rank ^ 1);
    if (scopes)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(theirs)
                   : "memory");
    else
      // [arrive]
      asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(theirs) : "memory");
  }
  unsigned done = 0;
  while (!done)
    if (scopes)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
          "selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(shared_address(&bar))
          : "memory");
    else done = try_parity(&bar, 0);  // [wait]
  out[blockIdx.x * blockDim.x + threadIdx.x] = box;
  cluster.sync();
}

template <void (*kernel)(int*, const int*)>
void with_input() {
  kernel<<<1, elements>>>(Buffer<int>(rounds * elements),
                          Buffer<int>(std::vector<int>(rounds * elements, 1)));
}
template <void (*kernel)(int*), unsigned blocks = 1>
void without() {
  kernel<<<blocks, 32>>>(Buffer<int>(64));
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", with_input<refill<Fence::none, Back::mbarrier>>},
                   {"twin", with_input<refill<Fence::readers, Back::mbarrier>>},
                   {"barrier", with_input<refill<Fence::none, Back::barrier>>},
                   {"barrier_twin", with_input<refill<Fence::readers, Back::barrier>>},
                   {"some_fence", with_input<refill<Fence::some, Back::barrier>>},
                   {"issuer_twin", with_input<refill<Fence::issuer, Back::mbarrier>>},
                   {"passes_on_twin", with_input<pass_on>},
                   {"init", with_input<load<After::nothing>>},
                   {"init_twin", with_input<load<After::fence_init>>},
                   {"init_fence_twin", with_input<load<After::fence_proxy>>},
                   {"fence_early", with_input<load<After::fence_early>>},
                   {"meets_twin", without<meet>},
                   {"scope", without<exchange<false>, 2>},
                   {"scope_twin", without<exchange<true>, 2>}});
}
