// Order between the host, its streams, and the kernels and copies in them.
//
// Each kernel and each copy is a launch with a number of its own. When it has ended, all that it
// did is known to whatever comes after it: one range in a clock, and ranges of neighbours become
// one.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "gpu/check/order/knowledge.hpp"

namespace inflight::order {

// One caller at a time.
class Streams {
 public:
  using Id = std::uint64_t;
  struct Launch {
    std::uint32_t number = 0;
    Knowledge knows;  // what its threads know when they begin
  };

  // A kernel or copy enters the stream: it comes after all that is in it, and after what the host
  // knew. Past launch_limit, numbers repeat the last one, which hides conflicts among those.
  Launch launch(Id stream);
  // Of a copy that the host performs itself, or waits for: it is done when this returns.
  Launch on_host();

  void record(Id stream, Id event);
  void wait(Id stream, Id event);  // the stream's next waits for the event
  void order(Id before,
             Id after);  // all in `before` so far comes before what `after` gets: a null stream
  void synchronise(Id stream);  // the host waits
  void synchronise_event(Id event);
  void synchronise_all();
  const Knowledge& host() const { return host_; }

 private:
  std::uint32_t number();
  std::unordered_map<Id, Knowledge> streams_, events_;
  Knowledge host_;
  std::uint32_t next_ = 1;
};

}  // namespace inflight::order
