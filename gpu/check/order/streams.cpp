// What stream order lets each launch know.
#include "gpu/check/order/streams.hpp"

namespace inflight::order {
namespace {

// A launch's end publishes all that it did, to every proxy.
void ended(Knowledge& k, std::uint32_t number) {
  const Row first = block_row(number, 0);
  k.raise_range(first, launch_shift, always);
  for (Clock& fenced : k.fenced) fenced.raise_range(first, launch_shift, always);
}

}  // namespace

std::uint32_t Streams::number() { return next_ + 1 < launch_limit ? next_++ : next_; }

Streams::Launch Streams::launch(Id stream) {
  Knowledge& in_stream = streams_[stream];
  in_stream.join(host_);
  Launch l{number(), in_stream};
  ended(in_stream, l.number);
  return l;
}

Streams::Launch Streams::on_host() {
  Launch l{number(), host_};
  ended(host_, l.number);
  return l;
}

void Streams::record(Id stream, Id event) {
  Knowledge& e = events_[event] = streams_[stream];
  e.join(host_);
}
void Streams::wait(Id stream, Id event) {
  if (const auto e = events_.find(event); e != events_.end()) streams_[stream].join(e->second);
}
void Streams::order(Id before, Id after) {
  const Knowledge known = streams_[before];
  streams_[after].join(known);
}
void Streams::synchronise(Id stream) { host_.join(streams_[stream]); }
void Streams::synchronise_event(Id event) {
  if (const auto e = events_.find(event); e != events_.end()) host_.join(e->second);
}
void Streams::synchronise_all() {
  for (auto& [id, known] : streams_) host_.join(known);
}

}  // namespace inflight::order
