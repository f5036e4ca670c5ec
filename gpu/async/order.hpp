// When operations in flight happen: each choice that --async leaves open is made here, for all
// kinds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/async/timing.hpp"

namespace inflight::async {

// Chooses among the legal moments for what one issuer has in flight.
class Order {
 public:
  // `number` tells apart the streams of issuers that share a seed.
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

// Where there are but two legal moments: does what is issued as `number` take the earlier one?
inline bool takes_earlier(const Timing& timing, std::uint64_t number) {
  if (timing.policy != Timing::Policy::shuffled) return timing.policy == Timing::Policy::early;
  return Random(timing.seed + number).next() & 1;
}

// Of one issuer, when it never waits: beyond this many the oldest complete.
inline constexpr std::size_t most_in_flight = 4096;

}  // namespace inflight::async
