// The sixteen barriers of a block: PTX ISA, "bar, barrier".
//
// `threads` is the number of threads, in whole warps, that the barrier waits for, arrivals and
// waits together. Barrier 0 is __syncthreads(). bar orders the memory accesses of the threads that
// take part.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::ptx {

// All threads of the block, on barrier `id`.
INFLIGHT_DEVICE void bar_sync(std::uint32_t id) {
  asm volatile("bar.sync %0;" ::"r"(id) : "memory");
}

INFLIGHT_DEVICE void bar_sync(std::uint32_t id, std::uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Arrives without waiting: for a producer whose consumers use bar_sync.
INFLIGHT_DEVICE void bar_arrive(std::uint32_t id, std::uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// The same for warps whose lanes may be diverged.
INFLIGHT_DEVICE void barrier_sync(std::uint32_t id, std::uint32_t threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
INFLIGHT_DEVICE void barrier_arrive(std::uint32_t id, std::uint32_t threads) {
  asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Barriers of the whole block, on barrier 0, that also return in how many threads, in any, or in
// all the predicate holds.
INFLIGHT_DEVICE int bar_red_popc(bool predicate) { return __syncthreads_count(predicate); }
INFLIGHT_DEVICE bool bar_red_or(bool predicate) { return __syncthreads_or(predicate); }
INFLIGHT_DEVICE bool bar_red_and(bool predicate) { return __syncthreads_and(predicate); }

}  // namespace inflight::ptx
