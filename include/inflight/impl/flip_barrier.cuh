// A barrier in one 32-bit word that sets itself back: what grids wait on.
//
// Each party adds its share to the word. The shares of all sum up to 2^31: one party, the first,
// adds 2^31 - (parties - 1), every other adds 1. So each round flips the top bit, leaves the others
// as they were, and needs no one to reset anything. A round is over when the top bit differs from
// what it was before one's own arrival: it cannot change before that.
#pragma once
#include <inflight/ptx/memory.cuh>

namespace inflight::impl {

inline constexpr std::uint32_t flip_bit = 0x80000000u;

INFLIGHT_DEVICE std::uint32_t flip_share(bool first, std::uint32_t parties) {
  return first ? flip_bit - (parties - 1) : 1u;
}

// Waits until the word's top bit is not that of `before`, which was read before arriving. What the
// parties did before they arrived is seen after.
template <ptx::scope Scope>
INFLIGHT_DEVICE void flip_wait(const std::uint32_t* word, std::uint32_t before) {
  while (static_cast<int>(ptx::ld_acquire<Scope>(word) ^ before) >= 0) {
  }
}

// Arrives and waits at once. The difference's top bit is its sign.
template <ptx::scope Scope>
INFLIGHT_DEVICE void flip_sync(std::uint32_t* word, std::uint32_t share) {
  const std::uint32_t before = ptx::atom_add_acq_rel<Scope>(word, share);
  if (static_cast<int>(before ^ (before + share)) >= 0) flip_wait<Scope>(word, before);
}

}  // namespace inflight::impl
