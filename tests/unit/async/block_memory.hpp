// The memory of a small block, for tests of copies.
#pragma once
#include <cstdint>
#include <cstring>

#include "gpu/async/thread_copies.hpp"

namespace inflight::async {

inline constexpr std::uint32_t all = 0xffffffff;  // threads
inline constexpr std::uint32_t bar = 0x8000;      // where tests put mbarriers

// Global and shared memory of a small block, and copies in which threads use consecutive places.
struct Memory {
  static constexpr std::uint32_t shared_size = 1 << 16;
  alignas(16) std::byte shared[shared_size];
  alignas(16) std::byte global[shared_size];
  std::uint32_t dst[warp_size];
  std::uint64_t src[warp_size];

  Memory() {
    std::memset(shared, 0xee, sizeof shared);
    for (std::size_t i = 0; i < sizeof global; ++i) global[i] = std::byte(i * 7 % 251 + 1);
  }
  Issue issue(std::uint32_t mask, std::uint32_t bytes, std::uint32_t place) {
    for (std::uint32_t t = 0; t < warp_size; ++t) {
      dst[t] = place + t * bytes;
      src[t] = reinterpret_cast<std::uintptr_t>(global) + place + t * bytes;
    }
    return {.mask = mask, .bytes = bytes, .dst = dst, .src = src, .dst_base = shared};
  }
  bool moved(std::uint32_t place, std::uint32_t bytes) const {
    return std::memcmp(shared + place, global + place, bytes) == 0;
  }
  bool untouched(std::uint32_t place, std::uint32_t bytes) const {
    for (std::uint32_t i = 0; i < bytes; ++i)
      if (shared[place + i] != std::byte{0xee}) return false;
    return true;
  }
  bool zero(std::uint32_t place, std::uint32_t bytes) const {
    for (std::uint32_t i = 0; i < bytes; ++i)
      if (shared[place + i] != std::byte{0}) return false;
    return true;
  }
  mbarrier::Word& word(std::uint32_t address) {
    return *reinterpret_cast<mbarrier::Word*>(shared + address);
  }
};

}  // namespace inflight::async
