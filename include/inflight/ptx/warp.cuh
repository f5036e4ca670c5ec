// Instructions among the lanes of a warp: PTX ISA, "Parallel Synchronization and Communication
// Instructions: vote, match, activemask, bar.warp.sync, elect", and "Data Movement: shfl".
//
// `mask` names the lanes that take part, a bit each; each lane in it must execute the instruction
// with the same mask. Where the compiler has a name of its own for one, it is used: it knows then
// that the lanes meet there.
#pragma once
#include <inflight/impl/config.cuh>

namespace inflight::ptx {

// 0 to 31: where the calling thread stands in its warp.
INFLIGHT_DEVICE std::uint32_t lane_id() {
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// The lanes below the calling one.
INFLIGHT_DEVICE std::uint32_t lanes_below() {
  std::uint32_t lanes;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
  return lanes;
}

// The lanes that run together at this moment; nothing is promised about the next.
INFLIGHT_DEVICE std::uint32_t active_mask() { return __activemask(); }

// Waits for the lanes of `mask`, and orders their accesses to memory.
INFLIGHT_DEVICE void warp_sync(std::uint32_t mask) { __syncwarp(mask); }

// One lane of `mask` gets true; which one is the chip's choice. All of the warp's lanes that are
// in `mask` must be converged. sm_90.
INFLIGHT_DEVICE bool elect(std::uint32_t mask) {
  std::uint32_t elected;
  asm volatile("{\n.reg .pred chosen;\nelect.sync _|chosen, %1;\nselp.u32 %0, 1, 0, chosen;\n}"
               : "=r"(elected)
               : "r"(mask));
  return elected != 0;
}

// The value of another lane. Lanes are taken in segments of `Width` (a power of two, at most 32):
// `shfl` counts from its segment's start, modulo Width; the others give the caller's own value
// where their source would lie outside the segment.
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

// Whether the predicate holds in any, in all lanes of `mask`; and in which.
INFLIGHT_DEVICE bool vote_any(std::uint32_t mask, bool predicate) {
  return __any_sync(mask, predicate);
}
INFLIGHT_DEVICE bool vote_all(std::uint32_t mask, bool predicate) {
  return __all_sync(mask, predicate);
}
INFLIGHT_DEVICE std::uint32_t ballot(std::uint32_t mask, bool predicate) {
  return __ballot_sync(mask, predicate);
}

// The lanes of `mask` that hold the caller's value.
INFLIGHT_DEVICE std::uint32_t match_any(std::uint32_t mask, std::uint32_t value) {
  return __match_any_sync(mask, value);
}
INFLIGHT_DEVICE std::uint32_t match_any(std::uint32_t mask, std::uint64_t value) {
  return __match_any_sync(mask, static_cast<unsigned long long>(value));
}

// `mask` where all its lanes hold one value, and `equal` is true; else 0 and false.
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
