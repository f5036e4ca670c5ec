// Bulk copies: the destination is used, the source changed, or the block ends too early; and
// threads' writes are passed to copies without a proxy fence.
#include "tests/kernels/check/ptx_macros.cuh"

constexpr int threads = 64, count = 256;
constexpr unsigned bytes = count * sizeof(int);

enum class Load { right, no_wait, wrong_thread, refilled_early, overwritten };

template <Load what>
__global__ void load(const int* in, int* out) {
  __shared__ alignas(16) int tile[count];
  __shared__ alignas(8) std::uint64_t bar;
  const unsigned t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(&bar, 1);
  __syncthreads();
  for (unsigned round = 0; round < (what == Load::right || what == Load::refilled_early ? 2 : 1); ++round) {
    if (t == 0) {
      MBARRIER_EXPECT(&bar, bytes);  // [expects]
      BULK_LOAD(tile, in + round * count, bytes, &bar);  // [load]
      if (what == Load::overwritten) tile[5] = 1;        // [overwrites]
    }
    if (what != Load::no_wait && (what != Load::wrong_thread || t < 32))
      MBARRIER_WAIT(&bar, round);  // [waits]
    if (what == Load::overwritten && t) return;
    for (unsigned i = t; i < count; i += threads) out[round * count + i] = tile[i];  // [uses]
    if (what == Load::no_wait || what == Load::wrong_thread) MBARRIER_WAIT(&bar, round);
    if (what != Load::refilled_early) __syncthreads();
  }
}

enum class Store { right, no_fence, fence_behind_barrier, reused, only_read, exits, not_committed };

template <Store what>
__global__ void store(int* out) {
  __shared__ alignas(16) int tile[count];
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < count; i += threads) tile[i] = i;  // [writes]
  if (what != Store::no_fence && what != Store::fence_behind_barrier) FENCE_PROXY_ASYNC();
  __syncthreads();
  if (t == 0) {
    if (what == Store::fence_behind_barrier) {
      // A fence of the thread that issues the copy covers the writes that it has seen.
      FENCE_PROXY_ASYNC();
    }
    BULK_STORE(out, tile, bytes);  // [store]
    if (what != Store::not_committed) BULK_COMMIT();
    if (what == Store::not_committed) BULK_WAIT_READ(0);
    if (what == Store::right || what == Store::no_fence || what == Store::fence_behind_barrier)
      BULK_WAIT_READ(0);
    if (what == Store::reused) tile[3] = 7;  // [reuses]
    if (what == Store::reused) BULK_WAIT_READ(0);
    if (what == Store::only_read) {
      BULK_WAIT_READ(0);
      out[9] = 7;  // [writes what the store writes]
      BULK_WAIT(0);
    }
  }
}

// A stage that a bulk store reads is refilled: the thread's wait allows one group too many.
template <int allowed>
__global__ void stages(int* out) {
  __shared__ alignas(16) int tile[2][count];
  for (int i = 0; i < 6; ++i) {
    if (i >= 2) BULK_WAIT_READ(allowed);
    for (int k = 0; k < count; ++k) tile[i % 2][k] = i;  // [fills]
    FENCE_PROXY_ASYNC();
    BULK_STORE(out + i * count, tile[i % 2], bytes);  // [staged store]
    BULK_COMMIT();
  }
  BULK_WAIT_READ(0);
}

// Lanes of a warp store in two rounds. In the second, each writes the other's elements of the
// first. In each round both also write equal values to the same place.
template <bool right>
__global__ void lanes_store(int* out) {
  __shared__ alignas(16) int tile[count];
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < count; i += 2) tile[i] = i;
  FENCE_PROXY_ASYNC();
  __syncwarp(3);
#pragma unroll 1
  for (unsigned round = 0; round < 2; ++round) {
    BULK_STORE(out + (round ^ t) * count, tile, bytes);  // [lanes' store]
    BULK_STORE(out + (2 + round) * count, tile, bytes);
    BULK_COMMIT();
    if (right) BULK_WAIT(0);
    if (right) __syncwarp(3);
  }
  BULK_WAIT(0);
}

// The global source of a load is written while the load is in flight.
template <bool right>
__global__ void source(int* in, int* out) {
  __shared__ alignas(16) int tile[count];
  __shared__ alignas(8) std::uint64_t bar;
  MBARRIER_INIT(&bar, 1);
  MBARRIER_EXPECT(&bar, bytes);
  BULK_LOAD(tile, in, bytes, &bar);  // [source's load]
  if (!right) in[7] = 1;             // [source's write]
  MBARRIER_WAIT(&bar, 0);
  if (right) in[7] = 1;
  out[0] = tile[7];
}

// A load that no thread waits for.
template <bool right>
__global__ void leaves(const int* in, int* out) {
  __shared__ alignas(16) int tile[count];
  __shared__ alignas(8) std::uint64_t bar;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    MBARRIER_EXPECT(&bar, bytes);
    BULK_LOAD(tile, in, bytes, &bar);  // [left load]
    if (right) MBARRIER_WAIT(&bar, 0);
  }
  out[threadIdx.x] = 1;
}

template <auto kernel, int n = threads>
void load_it() {
  Buffer<int> in(2 * count), out(2 * count);
  kernel<<<1, n>>>(in, out);
  out.read();
}
template <auto kernel, int n = threads>
void store_it() {
  Buffer<int> out(6 * count);
  kernel<<<1, n>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"no_wait", load_it<load<Load::no_wait>>},
                   {"waits_elsewhere", load_it<load<Load::wrong_thread>>},
                   {"refilled_early", load_it<load<Load::refilled_early>>},
                   {"overwritten", load_it<load<Load::overwritten>>},
                   {"load_twin", load_it<load<Load::right>>},
                   {"no_fence", store_it<store<Store::no_fence>>},
                   {"fence_of_issuer", store_it<store<Store::fence_behind_barrier>>},
                   {"reused", store_it<store<Store::reused>>},
                   {"only_read", store_it<store<Store::only_read>>},
                   {"exits", store_it<store<Store::exits>>},
                   {"not_committed", store_it<store<Store::not_committed>>},
                   {"store_twin", store_it<store<Store::right>>},
                   {"stages", store_it<stages<2>, 1>},
                   {"stages_twin", store_it<stages<1>, 1>},
                   {"lanes_store", store_it<lanes_store<false>, 2>},
                   {"lanes_store_twin", store_it<lanes_store<true>, 2>},
                   {"source", load_it<source<false>, 1>},
                   {"source_twin", load_it<source<true>, 1>},
                   {"leaves", load_it<leaves<false>>},
                   {"leaves_twin", load_it<leaves<true>>}});
}
