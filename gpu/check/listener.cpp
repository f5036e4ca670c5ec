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

}  // namespace inflight::check
