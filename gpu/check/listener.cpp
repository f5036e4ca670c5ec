// Fans events out to several listeners.
#include "gpu/check/listener.hpp"

namespace inflight::check {

void Listeners::add(Listener& listener) {
  listeners_.push_back(&listener);
  topics_ = topics_ | listener.topics() | Topic::kernels;
}

#define X(Event, hook, topic)                                                            \
  void Listeners::hook(const Event& event) {                                             \
    for (Listener * listener : listeners_)                                               \
      if (has(listener->topics() | Topic::kernels, Topic::topic)) listener->hook(event); \
  }
INFLIGHT_CHECK_EVENTS(X)
#undef X

void Listener::executed_run(const Who& who, std::span<const std::uint32_t> families) {
  Executed event{who, 0};
  for (const std::uint32_t family : families) {
    event.family = family;
    executed(event);
    if (event.who.instruction != nothing) ++event.who.instruction;
  }
}

void Listeners::executed_run(const Who& who, std::span<const std::uint32_t> families) {
  for (Listener* listener : listeners_)
    if (has(listener->topics(), Topic::instructions)) listener->executed_run(who, families);
}

}  // namespace inflight::check
