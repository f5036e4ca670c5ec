// The policies of --async: when the bytes of an asynchronous copy move.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace inflight::async {

// Every policy is legal for every program. A correct program behaves the same under all of them.
struct Timing {
  enum class Policy : std::uint8_t {
    early,     // at issue
    late,      // at the wait that needs them
    shuffled,  // at seeded random moments in between, operations of one group in random order
  };
  Policy policy = Policy::late;
  std::uint64_t seed = 0;  // of `shuffled`
  bool operator==(const Timing&) const = default;
};
inline constexpr Timing early{Timing::Policy::early}, late{Timing::Policy::late};
constexpr Timing shuffled(std::uint64_t seed) { return {Timing::Policy::shuffled, seed}; }

// Parses "early", "late" or "shuffled:SEED" (decimal). Returns nothing for any other text.
std::optional<Timing> parse_timing(std::string_view text);

// A small seeded random generator (splitmix64). Gives the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Returns a nearly uniform number in [0, bound), bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace inflight::async
