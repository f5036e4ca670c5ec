// The pipeline of one thread in C's style: copies, commit, wait, arrive.
// CUDA C++ Programming Guide, "Pipeline Primitives Interface".
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/copy.cuh>

namespace inflight {

// Copies Bytes (4, 8 or 16) from global to shared memory, of which the last `zfill` are not read
// but filled with zeros. Both addresses are multiples of Bytes; zfill <= Bytes.
template <int Bytes>
INFLIGHT_DEVICE void pipeline_memcpy_async(void* shared, const void* global) {
  cp_async<Bytes>(shared, global);
}
template <int Bytes>
INFLIGHT_DEVICE void pipeline_memcpy_async(void* shared, const void* global, std::size_t zfill) {
  cp_async_zero_fill<Bytes>(shared, global, static_cast<std::uint32_t>(Bytes - zfill));
}

// The same with a size that is an ordinary argument: 4, 8 or 16, and a constant, or else it is
// chosen at run time.
INFLIGHT_DEVICE void pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes,
                                           std::size_t zfill = 0) {
  if (bytes == 16)
    pipeline_memcpy_async<16>(shared, global, zfill);
  else if (bytes == 8)
    pipeline_memcpy_async<8>(shared, global, zfill);
  else
    pipeline_memcpy_async<4>(shared, global, zfill);
}

// Closes the batch of this thread's copies.
INFLIGHT_DEVICE void pipeline_commit() { ptx::cp_async_commit_group(); }

// Waits for all batches but the `Newer` newest.
template <int Newer>
INFLIGHT_DEVICE void pipeline_wait_prior() {
  ptx::cp_async_wait_group<Newer>();
}

// The barrier's phase also waits for this thread's copies so far; its expected count is the same as
// before in the end. cp.async.mbarrier.arrive.
INFLIGHT_DEVICE void pipeline_arrive_on(barrier<>* which) {
  ptx::cp_async_mbarrier_arrive(which->address());
}

}  // namespace inflight
