// Decides when operations in flight happen, for all kinds. --async selects the policy.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/async/timing.hpp"

namespace inflight::async {

// Chooses among the legal times for the operations that one issuer has in flight.
class Order {
 public:
  // `number` gives issuers that share a seed different random streams.
  explicit Order(Timing timing = {}, std::uint64_t number = 0)
      : policy_(timing.policy), random_(timing.seed ^ (number * 0xd1342543de82ef95)) {}

  // Do operations complete at issue?
  bool early() const { return policy_ == Timing::Policy::early; }
  bool shuffled() const { return policy_ == Timing::Policy::shuffled; }
  // Called between steps while something is in flight: does some of it complete now?
  bool now() { return shuffled() && random_.below(4) == 0; }

  // Choose among those that may complete next: one of `count`, some of these threads, or an order
  // of all.
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

// If there are only two legal times: does the operation issued as `number` take the earlier one?
inline bool takes_earlier(const Timing& timing, std::uint64_t number) {
  if (timing.policy != Timing::Policy::shuffled) return timing.policy == Timing::Policy::early;
  return Random(timing.seed + number).next() & 1;
}

// If one issuer has more operations in flight, because it never waits, the oldest complete.
inline constexpr std::size_t most_in_flight = 4096;

}  // namespace inflight::async
