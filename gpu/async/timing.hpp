// When the bytes of an asynchronous copy move: the choice behind --async.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace inflight::async {

// Every choice is legal for every program; a correct program cannot tell them apart.
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

// "early", "late" or "shuffled:SEED" (decimal). Nothing for any other text.
std::optional<Timing> parse_timing(std::string_view text);

// A small seeded generator (splitmix64): one stream per team, the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Uniform enough in [0, bound), bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

// Chooses among the legal moments for what one issuer has in flight.
class Order {
 public:
  // `number` distinguishes the streams of issuers that share a seed.
  explicit Order(Timing timing = {}, std::uint64_t number = 0)
      : policy_(timing.policy), random_(timing.seed ^ (number * 0xd1342543de82ef95)) {}

  // What is issued completes at once.
  bool early() const { return policy_ == Timing::Policy::early; }
  bool shuffled() const { return policy_ == Timing::Policy::shuffled; }
  // A moment passes while something is in flight: does some of it complete?
  bool now() { return shuffled() && random_.below(4) == 0; }

  // Among those that may complete next: one of so many, some of these threads, or all in any order.
  std::uint32_t one_of(std::size_t count) {
    return random_.below(static_cast<std::uint32_t>(count));
  }
  std::uint32_t some_of(std::uint32_t threads) {
    return threads & static_cast<std::uint32_t>(random_.next() >> 32);
  }
  template <class T>
  void shuffle(std::vector<T>& ready) {
    for (std::size_t i = ready.size(); i > 1; --i) std::swap(ready[i - 1], ready[one_of(i)]);
  }

 private:
  Timing::Policy policy_;
  Random random_;
};

// Of one issuer, when it never waits: beyond this many the oldest complete.
inline constexpr std::size_t most_in_flight = 4096;

}  // namespace inflight::async
