// A barrier in one 32-bit word that resets itself: grids wait on it.
//
// Each party adds its share to the word. All shares sum up to 2^31: the first party adds 2^31 -
// (parties - 1), every other adds 1. So each round flips the top bit and leaves the others as they
// were, and nothing needs a reset. A round is over when the top bit differs from its value before
// the own arrival; it cannot change before that.
#pragma once
#include <inflight/ptx/memory.cuh>

namespace inflight::impl {

inline constexpr std::uint32_t flip_bit = 0x80000000u;

INFLIGHT_DEVICE std::uint32_t flip_share(bool first, std::uint32_t parties) {
  return first ? flip_bit - (parties - 1) : 1u;
}

// Waits until the word's top bit differs from that of `before`, which was read before arriving. The
// parties' writes before their arrivals are visible after it.
template <ptx::scope Scope>
INFLIGHT_DEVICE void flip_wait(const std::uint32_t* word, std::uint32_t before) {
  while (static_cast<int>(ptx::ld_acquire<Scope>(word) ^ before) >= 0) {
  }
}

// Arrives and waits. The top bit of the difference is its sign.
template <ptx::scope Scope>
INFLIGHT_DEVICE void flip_sync(std::uint32_t* word, std::uint32_t share) {
  const std::uint32_t before = ptx::atom_add_acq_rel<Scope>(word, share);
  if (static_cast<int>(before ^ (before + share)) >= 0) flip_wait<Scope>(word, before);
}

}  // namespace inflight::impl
