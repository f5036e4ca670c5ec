// Finds the lanes of a store that do not change memory.
#include "gpu/machine/run/observe/silent_lanes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"

#ifdef __SSE2__
#  include <immintrin.h>
#endif

namespace inflight::machine {
namespace {

using ptx::Space;

// The lanes whose register value equals the one at `at`. The values there are contiguous.
template <class T>
std::uint32_t equal_lanes(const std::byte* at, const std::byte* values) {
#ifdef __SSE2__
  if constexpr (sizeof(T) == 4) {
    std::uint32_t equal = 0;
    for (unsigned l = 0; l < lanes; l += 4) {
      const auto four = [l](const std::byte* of) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(of + l * sizeof(T)));
      };
      const __m128 same = _mm_castsi128_ps(_mm_cmpeq_epi32(four(at), four(values)));
      equal |= static_cast<std::uint32_t>(_mm_movemask_ps(same)) << l;
    }
    return equal;
  }
#endif
  std::uint32_t equal = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    T there, value;
    std::memcpy(&there, at + l * sizeof(T), sizeof(T));
    std::memcpy(&value, values + l * sizeof(T), sizeof(T));
    equal |= static_cast<std::uint32_t>(there == value) << l;
  }
  return equal;
}

// The registers that a store writes: one an element.
struct Stored {
  Stored(const Warp& w, const Op* op)
      : places(machine::values_of(*w.frame->code, op)),
        refs(w.frame->code->extra.data() + places.wrote) {}
  const std::byte* of(const Warp& w, unsigned element) const {
    return w.at<std::byte>(refs[element]);
  }
  const AccessValues& places;
  const Ref* refs;
};

// The host address of a store of one element by all lanes in a row, or null.
const std::byte* place_of_row(Warp& w, const Op* op, const MemoryOperand& info,
                              const AccessValues& places, const std::uint64_t* addresses) {
  const std::uint32_t bytes = info.bytes;
  if (places.count != 1 || places.bytes != bytes || addresses[0] % bytes != 0) return nullptr;
  if (info.space == Space::global) return resolve_global(w, op, addresses[0], lanes * bytes, false);
  return check_space(info.space) == check::Space::shared
             ? resolve_shared(w, addresses[0], lanes * bytes, true)
             : nullptr;
}

// Copies a register of 4 or 8 bytes, for all lanes.
void widen(const std::byte* values, StoreData& data) {
  if (data.bytes == sizeof data.values[0][0]) {
    std::memcpy(data.values[0], values, sizeof data.values[0]);
    return;
  }
  std::uint32_t narrow[lanes];
  std::memcpy(narrow, values, sizeof narrow);
  std::copy(std::begin(narrow), std::end(narrow), data.values[0]);
}

// Lanes that store to the same address as a lower lane, and the lowest such lane (the leader).
class Leaders {
 public:
  Leaders(std::uint32_t mask, const std::uint64_t* addresses) {
    if (rise(mask, addresses)) return;
    std::array<std::uint8_t, slots> taken{};  // 1 + the lowest lane at an address; 0: free
    each_lane(mask, [&](int l) {
      const std::uint64_t at = addresses[l];
      for (std::size_t slot = (at * 0x9e3779b97f4a7c15u) >> 58;; slot = (slot + 1) % slots) {
        if (taken[slot] == 0) {
          taken[slot] = static_cast<std::uint8_t>(l + 1);
          return;
        }
        if (addresses[taken[slot] - 1] != at) continue;
        follow_ |= 1u << l;
        leader_[static_cast<std::size_t>(l)] = static_cast<std::uint8_t>(taken[slot] - 1);
        return;
      }
    });
  }
  bool any_follows() const { return follow_ != 0; }
  template <class F>
  void each_follower(F f) const {
    each_lane(follow_, [&](int l) { f(int{leader_[static_cast<std::size_t>(l)]}, l); });
  }

 private:
  static constexpr std::size_t slots = 64;

  // The usual case: each lane's address is above that of the lane before it.
  static bool rise(std::uint32_t mask, const std::uint64_t* addresses) {
    bool rises = true;
    std::uint64_t last = 0;
    each_lane(mask, [&](int l) {
      rises &= addresses[l] > last || l == std::countr_zero(mask);
      last = addresses[l];
    });
    return rises;
  }

  std::uint32_t follow_ = 0;
  std::array<std::uint8_t, lanes> leader_{};
};

}  // namespace

std::uint32_t silent_lanes(Warp& w, const Op* op, const MemoryOperand& info, std::uint32_t mask,
                           const std::uint64_t* addresses, bool in_row) {
  const Stored stored(w, op);
  if (const std::byte* const row =
          in_row ? place_of_row(w, op, info, stored.places, addresses) : nullptr) {
    if (info.bytes == 4) return equal_lanes<std::uint32_t>(row, stored.of(w, 0));
    if (info.bytes == 8) return equal_lanes<std::uint64_t>(row, stored.of(w, 0));
  }
  LanePlaces places;
  if (resolve_lanes(w, op, mask, info.space, addresses, info.bytes, false, places).lanes) return 0;
  const unsigned count = stored.places.count, bytes = info.bytes / count,
                 stride = stored.places.bytes;
  const auto differ = [bytes](const std::byte* one, const std::byte* other) {
    if (bytes != 4) return std::memcmp(one, other, bytes) != 0;
    std::uint32_t a, b;
    std::memcpy(&a, one, 4), std::memcpy(&b, other, 4);
    return a != b;
  };
  std::uint32_t silent = mask;
  for (unsigned i = 0; i < count && silent; ++i) {
    const auto* const values = stored.of(w, i);
    each_lane(silent, [&](int l) {
      if (differ(places.at[l] + i * bytes, values + static_cast<unsigned>(l) * stride))
        silent &= ~(1u << l);
    });
  }
  if (const Leaders leaders(mask, addresses); leaders.any_follows()) {
    std::uint32_t differing = 0;  // leaders with a follower that writes another value
    leaders.each_follower([&](int leader, int l) {
      bool alike = true;
      for (unsigned i = 0; i < count && alike; ++i) {
        const auto* const values = stored.of(w, i);
        alike = !differ(values + static_cast<unsigned>(leader) * stride,
                        values + static_cast<unsigned>(l) * stride);
      }
      if (!alike) differing |= 1u << leader;
    });
    leaders.each_follower([&](int leader, int l) {
      if (differing >> leader & 1)
        silent &= ~(1u << l | 1u << leader);
      else
        silent |= 1u << l;
    });
  }
  return silent;
}

void find_store(Warp& w, const Op* op, const MemoryOperand& info, std::uint32_t mask,
                const std::uint64_t* addresses, StoreData& data) {
  data.mask = mask, data.bytes = info.bytes, data.addresses = addresses;
  const Stored stored(w, op);
  const unsigned count = stored.places.count, bytes = info.bytes / count,
                 stride = stored.places.bytes;
  if (count == 1 && bytes == stride && bytes >= 4) return widen(stored.of(w, 0), data);
  std::memset(data.values, 0, data.words() * sizeof data.values[0]);
  constexpr unsigned word = sizeof data.values[0][0];
  for (unsigned at = 0; at < data.bytes;) {
    const unsigned i = at / bytes, offset = at % bytes;
    const unsigned length = std::min(word, bytes - offset);
    const auto* const values = stored.of(w, i) + offset;
    each_lane(mask, [&](int l) {
      std::memcpy(reinterpret_cast<std::byte*>(&data.values[at / word][l]) + at % word,
                  values + static_cast<unsigned>(l) * stride, length);
    });
    at += length;
  }
}

}  // namespace inflight::machine
