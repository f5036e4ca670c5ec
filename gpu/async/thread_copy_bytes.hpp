// Moves the bytes of some threads of a warp's copy, and fingerprints their sources.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gpu/async/fingerprint.hpp"
#include "gpu/async/thread_copies.hpp"

namespace inflight::async {

inline constexpr std::uint32_t everyone = 0xffffffff;

template <class F>
void for_each_thread(std::uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

// Uses integer arithmetic: with a null base, addresses are host addresses.
inline std::byte* destination(const Copy& c, std::uint32_t t) { return c.dst_base + c.dst[t]; }
inline const std::byte* source(const Copy& c, std::uint32_t t) {
  return reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(c.src_base) +
                                            c.src[t]);
}

template <std::size_t bytes>
void move_whole(const Copy& c, std::uint32_t mask) {
  if (mask == everyone) {
    for (std::uint32_t t = 0; t < warp_size; ++t)
      std::memcpy(destination(c, t), source(c, t), bytes);
    return;
  }
  for_each_thread(mask,
                  [&](std::uint32_t t) { std::memcpy(destination(c, t), source(c, t), bytes); });
}

inline void move_filled(const Copy& c, std::uint32_t mask) {
  for_each_thread(mask, [&](std::uint32_t t) {
    const std::size_t from_source = c.src_bytes[t];
    if (from_source != 0) std::memcpy(destination(c, t), source(c, t), from_source);
    std::memset(destination(c, t) + from_source, 0, c.bytes - from_source);
  });
}

inline void move_bytes(const Copy& c, std::uint32_t mask, bool whole) {
  if (!whole) return move_filled(c, mask);
  if (c.bytes == 16) return move_whole<16>(c, mask);
  if (c.bytes == 8) return move_whole<8>(c, mask);
  move_whole<4>(c, mask);
}

inline std::uint64_t source_fingerprint(const Copy& c, std::uint32_t t) {
  return c.src_bytes[t] == 0 ? 0 : fingerprint(source(c, t), c.src_bytes[t]);
}

}  // namespace inflight::async
