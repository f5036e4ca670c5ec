// What a thread knows of others at a moment, by the order of events that the detector of races
// keeps.
#pragma once
#include <functional>
#include <optional>

#include "gpu/check/events.hpp"
#include "gpu/check/order/knowledge.hpp"

namespace inflight::check {

struct Moment {
  order::Row row = 0;
  unsigned lane = 0;
  order::Epoch epoch = 0;
  // What comes before, whatever the scopes of the operations and with every fence present.
  order::Clock known;
  order::Snapshot::Together together;

  // Whether it comes after something that the other thread did at or after `other`.
  bool knows(const Moment& other) const {
    return together.covers(other.row, order::Mask{1} << other.lane, other.epoch) ||
           known.at(other.row, other.lane) >= other.epoch;
  }
};

class Moments {
 public:
  using Of = std::function<std::optional<Moment>(const Who&)>;
  void set(Of of) { of_ = std::move(of); }
  // For the first lane of `who`, whose block runs on this host thread. None: not known.
  std::optional<Moment> of(const Who& who) const { return of_ ? of_(who) : std::nullopt; }

 private:
  Of of_;
};

}  // namespace inflight::check
