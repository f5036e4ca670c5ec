// Fans events out to several listeners.
#include "gpu/check/listener.hpp"

#include <algorithm>
#include <bit>

namespace inflight::check {
namespace {

constexpr std::size_t index_of(Topic topic) {
  return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint32_t>(topic)));
}

}  // namespace

void Listeners::add(Listener& listener) {
  const Topic topics = listener.topics() | Topic::kernels;
  for (std::uint32_t i = 0; i < topic_count; ++i)
    if (has(topics, static_cast<Topic>(1u << i))) listeners_[i].push_back(&listener);
  topics_ = topics_ | topics;
}

#define X(Event, hook, topic)                                                             \
  void Listeners::hook(const Event& event) {                                              \
    for (Listener * listener : listeners_[index_of(Topic::topic)]) listener->hook(event); \
  }
INFLIGHT_CHECK_EVENTS(X)
#undef X

bool Listeners::is_livelocked(const Stuck& event) {
  const auto& asked = listeners_[index_of(Topic::hangs)];
  return std::any_of(asked.begin(), asked.end(),
                     [&](Listener* listener) { return listener->is_livelocked(event); });
}

}  // namespace inflight::check
