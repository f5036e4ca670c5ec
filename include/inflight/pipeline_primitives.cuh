// C-style functions for one thread's pipeline: copy, commit, wait, arrive.
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/copy.cuh>
#include <inflight/impl/require.cuh>

namespace inflight {

// Copies Bytes (4, 8 or 16) from global to shared memory. The last `zfill` of them are not read but
// filled with zeros. Both addresses are multiples of Bytes; zfill <= Bytes.
template <int Bytes>
INFLIGHT_DEVICE void pipeline_memcpy_async(void* shared, const void* global) {
  cp_async<Bytes>(shared, global);
}
template <int Bytes>
INFLIGHT_DEVICE void pipeline_memcpy_async(void* shared, const void* global, std::size_t zfill) {
  INFLIGHT_REQUIRE(zfill <= Bytes, "a copy fills at most its own bytes with zeros");
  cp_async_zero_fill<Bytes>(shared, global, static_cast<std::uint32_t>(Bytes - zfill));
}

namespace impl {

INFLIGHT_DEVICE void require_copy_size(std::size_t bytes) {
  INFLIGHT_REQUIRE(bytes == 4 || bytes == 8 || bytes == 16,
                   "pipeline_memcpy_async copies 4, 8 or 16 bytes");
}

}  // namespace impl

// The same with the size as an ordinary argument: 4, 8 or 16. If it is not a constant, it is tested
// at run time.
INFLIGHT_DEVICE void pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes) {
  impl::require_copy_size(bytes);
  if (bytes == 16)
    pipeline_memcpy_async<16>(shared, global);
  else if (bytes == 8)
    pipeline_memcpy_async<8>(shared, global);
  else
    pipeline_memcpy_async<4>(shared, global);
}
INFLIGHT_DEVICE void pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes,
                                           std::size_t zfill) {
  impl::require_copy_size(bytes);
  if (bytes == 16)
    pipeline_memcpy_async<16>(shared, global, zfill);
  else if (bytes == 8)
    pipeline_memcpy_async<8>(shared, global, zfill);
  else
    pipeline_memcpy_async<4>(shared, global, zfill);
}

// Commits the batch of this thread's copies.
INFLIGHT_DEVICE void pipeline_commit() { ptx::cp_async_commit_group(); }

// Waits for all batches but the `Newer` newest.
template <int Newer>
INFLIGHT_DEVICE void pipeline_wait_prior() {
  ptx::cp_async_wait_group<Newer>();
}

namespace impl {

inline constexpr int most_newer_groups = 8;

template <int Newer = 0>
INFLIGHT_DEVICE void wait_prior_group(std::size_t newer) {
  if constexpr (Newer == most_newer_groups) {
    pipeline_wait_prior<Newer>();
  } else {
    if (newer == Newer)
      pipeline_wait_prior<Newer>();
    else
      wait_prior_group<Newer + 1>(newer);
  }
}

}  // namespace impl

// The same with the number as an ordinary argument. A constant of up to 8 is one instruction; a
// run-time number is compared with 0 to 7. A number larger than 8 waits for all but the 8 newest:
// for more than needed, never for less.
INFLIGHT_DEVICE void pipeline_wait_prior(std::size_t newer) { impl::wait_prior_group(newer); }

// The barrier's phase also waits for this thread's copies so far. The expected count of arrivals
// does not change. cp.async.mbarrier.arrive.
INFLIGHT_DEVICE void pipeline_arrive_on(barrier<>* which) {
  ptx::cp_async_mbarrier_arrive(which->address());
}
INFLIGHT_DEVICE void pipeline_arrive_on(std::uint64_t* mbarrier) {
  ptx::cp_async_mbarrier_arrive(ptx::shared_address(mbarrier));
}

}  // namespace inflight
