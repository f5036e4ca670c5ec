// Instructions that communicate among the lanes of a warp: PTX ISA, "Parallel Synchronization and
// Communication Instructions: vote, match, activemask, bar.warp.sync, elect", and "Data Movement:
// shfl".
//
// `mask` has a bit for each lane that takes part; all of them must execute the instruction with the
// same mask. Compiler intrinsics are used where they exist: the compiler then knows that lanes
// converge there.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::ptx {

// The calling thread's lane in its warp, 0 to 31.
INFLIGHT_DEVICE std::uint32_t lane_id() {
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// Mask of the lanes below the calling one.
INFLIGHT_DEVICE std::uint32_t lanes_below() {
  std::uint32_t lanes;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
  return lanes;
}

// Mask of the lanes that are converged now; it may change at the next instruction.
INFLIGHT_DEVICE std::uint32_t active_mask() { return __activemask(); }

// Waits for the lanes of `mask` and orders their memory accesses.
INFLIGHT_DEVICE void warp_sync(std::uint32_t mask) { __syncwarp(mask); }

// Returns true in one lane of `mask`, which the chip chooses. All of the warp's lanes in `mask`
// must be converged. sm_90.
INFLIGHT_DEVICE bool elect(std::uint32_t mask) {
  std::uint32_t elected;
  asm volatile(
      "{\t.reg .pred chosen;\n\telect.sync _|chosen, %1;\n\tselp.u32 %0, 1, 0, chosen;\n\t}"
      : "=r"(elected)
      : "r"(mask));
  return elected != 0;
}

// The value of another lane. Lanes form segments of `Width` (a power of two, at most 32). `shfl`
// takes a lane in the caller's segment, modulo Width. The others return the caller's own value if
// their source is outside the segment.
template <int Width = 32>
INFLIGHT_DEVICE std::uint32_t shfl(std::uint32_t mask, std::uint32_t value, std::uint32_t lane) {
  return __shfl_sync(mask, value, int(lane), Width);
}
template <int Width = 32>
INFLIGHT_DEVICE std::uint32_t shfl_up(std::uint32_t mask, std::uint32_t value,
                                      std::uint32_t delta) {
  return __shfl_up_sync(mask, value, delta, Width);
}
template <int Width = 32>
INFLIGHT_DEVICE std::uint32_t shfl_down(std::uint32_t mask, std::uint32_t value,
                                        std::uint32_t delta) {
  return __shfl_down_sync(mask, value, delta, Width);
}
template <int Width = 32>
INFLIGHT_DEVICE std::uint32_t shfl_xor(std::uint32_t mask, std::uint32_t value,
                                       std::uint32_t lanes) {
  return __shfl_xor_sync(mask, value, int(lanes), Width);
}

// Whether the predicate holds in any lane of `mask`, in all; and the mask of those in which it
// does.
INFLIGHT_DEVICE bool vote_any(std::uint32_t mask, bool predicate) {
  return __any_sync(mask, predicate);
}
INFLIGHT_DEVICE bool vote_all(std::uint32_t mask, bool predicate) {
  return __all_sync(mask, predicate);
}
INFLIGHT_DEVICE std::uint32_t ballot(std::uint32_t mask, bool predicate) {
  return __ballot_sync(mask, predicate);
}

// Mask of the lanes of `mask` that hold the caller's value.
INFLIGHT_DEVICE std::uint32_t match_any(std::uint32_t mask, std::uint32_t value) {
  return __match_any_sync(mask, value);
}
INFLIGHT_DEVICE std::uint32_t match_any(std::uint32_t mask, std::uint64_t value) {
  return __match_any_sync(mask, static_cast<unsigned long long>(value));
}

// Returns `mask` if all its lanes hold the same value, and sets `equal` to true; otherwise 0 and
// false.
INFLIGHT_DEVICE std::uint32_t match_all(std::uint32_t mask, std::uint32_t value, bool& equal) {
  int all;
  const std::uint32_t lanes = __match_all_sync(mask, value, &all);
  equal = all != 0;
  return lanes;
}
INFLIGHT_DEVICE std::uint32_t match_all(std::uint32_t mask, std::uint64_t value, bool& equal) {
  int all;
  const std::uint32_t lanes = __match_all_sync(mask, static_cast<unsigned long long>(value), &all);
  equal = all != 0;
  return lanes;
}

}  // namespace inflight::ptx
